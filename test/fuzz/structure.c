/*
 * structure.c
 *		Sends well-formed values with hostile fields to a server, and pairs of them.
 *
 *	structure SEED COUNT
 *
 * connects as libpq's environment says, and COUNT times makes two values of
 * race_sketch or race_params, field by field from the wire format: with a valid
 * checksum, sizes that fit, and in every other case one field that is extreme.  Where
 * an operation does not drop them, sketches may have fitted models, likewise.  The
 * second value has mostly the parameters of the first.  What must hold:
 *
 * - the server refuses a value with an error of class 22, data exceptions;
 * - what is accepted comes back as exactly the bytes that were sent, but for the
 *   signs of zeros in arrays, and so it does after a way through the text form;
 * - an operation on two accepted values answers, or is refused with an error of class
 *   22 or with 55000, which is about exact sketches, shares and private ones;
 * - what an operation claims is true, and the value that it gives comes back too;
 * - one and the same backend serves to the end.
 *
 * Output: a line of counts for each kind of value and each operation; the reasons for
 * which values were refused, up to the first number; and every violation, with the
 * values that led to it.  The exit status is 1 when there was one.
 */
#include "fuzz.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ARRAYS 64    /* numbers that a part gets, whatever it says */
#define MAX_SHARES 16    /* ids of shares, likewise */
#define MAX_COUNTERS 512 /* and counters */
#define MAX_MODEL 2048   /* bytes of a model, else there is none */
#define ROWS_AT 12       /* of params: rows and range, */
#define SEED_AT 24       /* and the seed, which factors share */
#define MAX_COUNT (INT64_C(1) << 62)
#define BITS(x) \
	(((union { \
		 double number; \
		 uint64_t bits; \
	 }){x}) \
		 .bits)

/* A field by its number, and the bytes that it takes (format.c) */
enum
{
	VERSION,
	KERNEL,
	SEQUENCE,
	REHASH,
	DIMS,
	POWER,
	ROWS,
	RANGE,
	OUTPUTS,
	SEED,
	BANDWIDTH,
	MORE,
	ARRAYS,
	NULLS,
	KIND,
	NORM,
	FEATURES,
	TARGETS,
	COARSER,
	CLIP,
	RESERVED_TOO,
	PART_FIELDS
};
static const int part_sizes[PART_FIELDS] = {1, 1, 1, 1, 4, 4, 4, 4, 4, 8, 8,
											4, 2, 1, 1, 8, 2, 2, 1, 1, 2};

enum
{
	SKETCH_VERSION,
	WIDTH,
	STATUS,
	MECHANISM,
	NEIGHBORS,
	SKETCH_RESERVED_BEFORE,
	SKETCH_RESERVED,
	CONTRIBUTIONS,
	RELEASES,
	COUNT,
	EPSILON,
	DELTA,
	RHO,
	COUNTER_VARIANCE,
	COUNT_VARIANCE,
	PARTIES,
	COLLUDERS,
	DROPOUTS,
	MODEL_SIZE,
	HEADER_FIELDS
};
static const int header_sizes[HEADER_FIELDS] = {1, 1, 1, 1, 1, 1, 2, 4, 4, 8,
												8, 8, 8, 8, 8, 4, 4, 4, 4};

enum
{
	OF_ROWS,
	OF_A_GRID,
	TABLES,
	MOMENTS
};
enum
{
	L2 = 1,
	L1,
	ANGULAR,
	JACCARD,
	MATCH
};
enum
{
	INDEPENDENT = 1,
	SOBOL,
	GRID = 4,
	STRUCTURED,
	GROUPED = 7
};
enum
{
	FOLD = 1,
	MULTILINEAR
};
enum
{
	BANDWIDTHS = 1,
	LOWER = 2,
	UPPER = 4,
	MATRIX = 8,
	OFFSET = 16,
	WORKLOAD = 32,
	JOINED = 64,
	CELLS = 128,
	GROUPS = 256,
	MEASURED = 512,
	SIGNS = 1024
};
enum
{
	EXACT,
	SHARE,
	PRIVATE
};
enum
{
	LAPLACE = 1,
	GAUSSIAN,
	SEVERAL,
	WISHART
};

/* The end of a value grows by a number of so many bytes. */
static void
put(Value *value, uint64_t number, size_t size)
{
	if (value->size + size > MAX_SIZE)
		die("a value is too long");
	memset(value->bytes + value->size, 0, size);
	value->size += size;
	set_number(value, value->size - size, size > 8 ? 8 : size, number);
}

static void
put_fields(Value *value, const uint64_t *fields, const int *sizes, int n)
{
	for (int i = 0; i < n; i++)
		put(value, fields[i], sizes[i]);
}

static uint64_t
at_most(uint64_t n, uint64_t limit)
{
	return n < limit ? n : limit;
}

/* ----------------------------------------------------------------- params */

static uint64_t
choose_arrays(uint64_t kernel)
{
	static const uint8_t of_l2[] = {0,
									0,
									BANDWIDTHS,
									LOWER,
									UPPER,
									LOWER | UPPER,
									BANDWIDTHS | LOWER | UPPER,
									MATRIX,
									OFFSET,
									MATRIX | OFFSET,
									LOWER | UPPER | MATRIX | OFFSET};
	static const uint8_t of_l1[] = {0, BANDWIDTHS, LOWER, BANDWIDTHS | LOWER | UPPER};
	static const uint8_t of_angular[] = {0, LOWER | UPPER, MATRIX, UPPER | OFFSET};

	return kernel == L2   ? one_of(of_l2) :
		kernel == L1      ? one_of(of_l1) :
		kernel == ANGULAR ? one_of(of_angular) :
							0;
}

/* Numbers a row that Sobol's sequence would have to draw for a part */
static uint64_t
sobol_dimensions(const uint64_t *part)
{
	uint64_t projected = part[OUTPUTS] > 0 ? part[OUTPUTS] : part[DIMS];

	return part[POWER] *
		(part[KERNEL] <= L1          ? projected + 1 :
			 part[KERNEL] == ANGULAR ? projected :
									   1);
}

/* A good part; the first one, if it is alone or not, states what all share. */
static void
choose_part(uint64_t *part, bool is_first, bool is_alone, uint64_t *sobol)
{
	static const uint32_t rows[] = {1, 2, 3, 4, 8, 16};
	static const uint32_t ranges[] = {2, 3, 8, 16, 32};
	static const double bandwidths[] = {1, 1, 0.5, 1e-100, 1e100, 3.7};

	memset(part, 0, PART_FIELDS * sizeof(part[0]));
	part[VERSION] = 3;
	part[KERNEL] = L2 + below(5);
	part[DIMS] = part[KERNEL] == JACCARD || below(32) == 0 ? 0 : 1 + below(below(4) ? 3 : 20);
	part[POWER] = 1 + below(below(2) ? 1 : 4);
	part[ARRAYS] = part[DIMS] > 0 && part[DIMS] < 5 ? choose_arrays(part[KERNEL]) : 0;
	part[OUTPUTS] = part[ARRAYS] & MATRIX ? 1 + below(3) : 0;
	part[BANDWIDTH] = BITS(part[KERNEL] <= L1 ? one_of(bandwidths) : 1.0);
	part[SEQUENCE] = INDEPENDENT;
	if (part[DIMS] > 0 && *sobol + sobol_dimensions(part) <= 21 && below(2))
	{
		part[SEQUENCE] = SOBOL;
		*sobol += sobol_dimensions(part);
	}
	else if ((part[KERNEL] == L2 || part[KERNEL] == ANGULAR) && below(2))
		part[SEQUENCE] = part[OUTPUTS] == 0 && below(2) ? STRUCTURED : INDEPENDENT;
	else if (part[KERNEL] == JACCARD && below(2))
		part[SEQUENCE] = GROUPED;
	if (!is_first)
		return;
	part[ROWS] = one_of(rows);
	part[RANGE] = one_of(ranges);
	part[SEED] = below(2) ? 0 : extreme_number();
	part[REHASH] = is_alone && below(2) &&
			((part[KERNEL] == L2 && part[POWER] == 1) ||
			 (part[KERNEL] == ANGULAR && UINT64_C(1) << part[POWER] <= part[RANGE])) ?
		FOLD :
		MULTILINEAR;
}

/* Good parameters of moments */
static void
choose_moments(uint64_t *part)
{
	static const double norms[] = {1, 1, 0.5, 2, 1e-3, 1e3};
	static const double bandwidths[] = {1, 0.5, 1e-100, 1e99};
	uint64_t columns;

	memset(part, 0, PART_FIELDS * sizeof(part[0]));
	part[VERSION] = 3;
	part[KIND] = MOMENTS;
	part[DIMS] = 1 + below(4);
	part[POWER] = 1;
	part[ROWS] = 1;
	part[REHASH] = FOLD;
	part[SEED] = below(2) ? 0 : extreme_number();
	part[ARRAYS] = LOWER | UPPER;
	part[SEQUENCE] = INDEPENDENT;
	part[BANDWIDTH] = BITS(1.0);
	part[NORM] = BITS(one_of(norms));
	part[CLIP] = below(3);
	part[COARSER] = below(4) ? 0 : below(21);
	part[TARGETS] = below(part[DIMS]);
	if (below(2))
	{
		part[FEATURES] = 1 + below(6);
		part[SEQUENCE] = INDEPENDENT + below(3);
		part[BANDWIDTH] = BITS(one_of(bandwidths));
	}
	columns = 1 + part[FEATURES] + part[DIMS];
	part[RANGE] = columns * (columns + 1) / 2;
}

/* A bound of a column of moments; sometimes one that may be too much */
static uint64_t
choose_bound(int array)
{
	static const double lower[] = {-1, -0.5, 0, -1e100};
	static const double upper[] = {1, 5, 1e-100, 1e100};

	return below(64) == 0 ? extreme_number() : BITS(array == LOWER ? one_of(lower) : one_of(upper));
}

/* A number of an array; sometimes one that may be too much */
static uint64_t
choose_number(int array)
{
	static const double factors[] = {1, 0.5, 2, 1};
	static const double lower[] = {-1, -0.5, 0, -1};
	static const double upper[] = {0, 1, 5e-324, 1e100};

	if (below(64) == 0)
		return extreme_number();
	if (array == LOWER)
		return BITS(below(4) ? one_of(lower) : -1 / 0.0);
	if (array == UPPER)
		return BITS(below(4) ? one_of(upper) : 1 / 0.0);
	return BITS(one_of(factors));
}

static void
put_arrays(Value *params, const uint64_t *part)
{
	for (int array = BANDWIDTHS; array <= OFFSET; array *= 2)
	{
		uint64_t n = (part[ARRAYS] & array) == 0 ? 0 :
			array == MATRIX                      ? part[OUTPUTS] * part[DIMS] :
												   part[DIMS];

		for (uint64_t i = 0; i < at_most(n, MAX_ARRAYS); i++)
			put(params, part[KIND] == MOMENTS ? choose_bound(array) : choose_number(array), 8);
	}
}

/*
 * Are parameters made of moments, or of contingency tables?  Are the tables those of private
 * values?
 */
static bool of_moments = false;
static bool of_tables = false;
static bool measured = false;
static uint64_t parts = 1; /* of a cell */

/* Some joined groups of a column, which has n; returns how many there are then */
static uint64_t
join_groups(double *joined, uint64_t n)
{
	uint64_t groups = 0;

	for (uint64_t i = 0; i < n; i++)
	{
		uint64_t group = below(groups + 1);

		joined[i] = (double) group;
		groups += group == groups;
	}
	return groups;
}

/* Signs of columns with so many ordinary groups; returns how many pairs have them */
static uint64_t
choose_signs(double *signs, const uint64_t *ordinary, uint64_t columns)
{
	uint64_t n = 0;

	signs[0] = 1 + below(9);
	for (uint64_t i = 0; i < columns; i++)
	{
		signs[1 + i] = ordinary[i] > 1 ? below(ordinary[i]) : 0;
		n += signs[1 + i] > 0;
	}
	return n < 2 ? 0 : n * (n - 1) / 2;
}

/* Parameters of contingency tables; if hostile, with an extreme field or number */
static void
make_tables(Value *params, bool hostile)
{
	static const double few[] = {0, 1, 2, 3, 5, -1, 0.5, 1e6, 1e300};
	uint64_t part[PART_FIELDS] = {[VERSION] = 3,
								  [KIND] = TABLES,
								  [POWER] = 1,
								  [ROWS] = 1,
								  [REHASH] = FOLD,
								  [SEQUENCE] = INDEPENDENT,
								  [ARRAYS] = CELLS | GROUPS,
								  [DIMS] = 1 + below(3),
								  [BANDWIDTH] = BITS(1.0)};
	double numbers[MAX_ARRAYS] = {0}; /* workload, joined, cells, groups, measured, signs */
	double cells[3];
	double groups[4][3] = {{0}};
	uint64_t width[3];
	uint64_t ordinary[3];
	uint64_t pairs;   /* that have signs */
	uint64_t columns; /* all but the measure, whose cells are parts of those of others */
	bool are_joined = measured && below(2);
	bool has_triple;
	int joined_from;
	int n = 0;
	int rows = 0;

	parts = 1;
	columns = part[DIMS] - (part[DIMS] > 1 && below(3) == 0);
	if (columns < part[DIMS])
	{
		cells[columns] = (double) (parts = 2 + below(2));
		groups[2][columns] = 1;
	}
	has_triple = columns == 3 && below(2);
	if (has_triple)
	{
		/* of columns 0, 1 and 2, then of two */
		memcpy(numbers, (double[]){0, 1 + 128 * 2, 1 + below(4), below(2), 2, 4},
			   6 * sizeof(double));
		n = 3 * (1 + (int) below(2));
		part[ARRAYS] |= WORKLOAD;
	}
	joined_from = n;
	for (uint64_t i = 0; i < columns; i++)
	{
		cells[i] = 1 + below(5);
		groups[0][i] = 1 + below(3);
		groups[1][i] = below(cells[i] + 1);
		groups[2][i] = 1 + below(4);
		groups[3][i] = below(2);
		ordinary[i] = (uint64_t) ceil((cells[i] - groups[1][i]) / groups[0][i]);
		width[i] = ordinary[i] + (uint64_t) groups[1][i];
		part[RANGE] += (uint64_t) cells[i];
		if (are_joined)
		{
			uint64_t joined = join_groups(numbers + n, width[i]);

			n += (int) width[i];
			width[i] = joined;
		}
	}
	part[NORM] = (uint64_t) (n - joined_from) |
		(uint64_t) joined_from / 3 << 32; /* lengths, in the same place */
	memcpy(numbers + n, cells, part[DIMS] * sizeof(double));
	n += (int) part[DIMS];
	for (uint64_t i = 0; i < 4; i++, n += (int) part[DIMS])
		memcpy(numbers + n, groups[i], part[DIMS] * sizeof(double));
	for (uint64_t i = 0; i < columns; i++)
		for (uint64_t j = i; j < columns; j++)
		{
			if (i != j && (!measured || below(2)))
				part[RANGE] += width[i] * width[j];
			else if (i != j)
				continue;
			if (!measured)
				continue;
			/* those of columns come first */
			numbers[n + 3 * (i == j ? i : columns + rows)] = (double) i;
			numbers[n + 3 * (i == j ? i : columns + rows) + 1] = (double) j;
			numbers[n + 3 * (i == j ? i : columns + rows) + 2] = 1 + below(9);
			rows += i != j;
		}
	if (has_triple && (!measured || below(2)))
	{
		part[RANGE] += width[0] * width[1] * width[2];
		memcpy(numbers + n + 3 * (columns + rows), (double[]){0, 1 + 128 * 2, 2},
			   3 * sizeof(double));
		rows++;
	}
	part[RANGE] *= parts;
	if (measured)
	{
		part[FEATURES] = columns + rows; /* how many, in the same place */
		n += 3 * (int) part[FEATURES];
		part[ARRAYS] |= MEASURED | (are_joined ? JOINED : 0);
		pairs = below(2) ? choose_signs(numbers + n, ordinary, columns) : 0;
		if (pairs > 0)
		{
			part[COARSER] = 1 + columns; /* how many, in the same place */
			n += 1 + (int) columns;
			part[ARRAYS] |= SIGNS;
			part[RANGE] += pairs;
		}
	}
	if (hostile && below(2))
		numbers[below(n)] = one_of(few);
	else if (hostile)
		part[below(PART_FIELDS)] = below(2) ? below(9) : extreme_number();
	params->size = 0;
	put_fields(params, part, part_sizes, PART_FIELDS);
	for (uint64_t i = 0; i < (uint64_t) n; i++)
		put(params, BITS(numbers[i]), 8);
	set_number(params, 40, 4, params->size - PART_SIZE);
}

/* Parameters of one to four parts; if hostile, with an extreme field */
static void
make_params(Value *params, bool hostile)
{
	int n = of_moments || below(3) ? 1 : 1 + below(hostile ? 5 : 4);
	int spoiled = hostile ? (int) below(n) : n;
	uint64_t sobol = 0;

	if (of_tables)
	{
		make_tables(params, hostile);
		return;
	}
	params->size = 0;
	for (int i = 0; i < n; i++)
	{
		uint64_t part[PART_FIELDS];

		if (of_moments)
			choose_moments(part);
		else
			choose_part(part, i == 0, n == 1, &sobol);
		if (i == spoiled)
			part[below(PART_FIELDS)] = below(2) ? below(9) : extreme_number();
		put_fields(params, part, part_sizes, PART_FIELDS);
		put_arrays(params, part);
	}
	if (!hostile || below(16) > 0)
		set_number(params, 40, 4, params->size - PART_SIZE);
}

/* Parameters that may be multiplied, mostly, or are equal */
static void
make_factors(Value *pair)
{
	make_params(&pair[0], below(4) == 0);
	pair[1] = pair[0];
	if (below(8) == 0)
		return;
	make_params(&pair[1], below(4) == 0);
	if (below(8) > 0)
	{
		memcpy(pair[1].bytes + ROWS_AT, pair[0].bytes + ROWS_AT, 8);
		memcpy(pair[1].bytes + SEED_AT, pair[0].bytes + SEED_AT, 8);
	}
}

/* ----------------------------------------------------------------- sketch */

/* What a private sketch or a share claims to cost; shares have a variance each. */
static void
choose_noise(uint64_t *header)
{
	static const uint32_t contributions[] = {1, 1, 2, INT32_MAX};
	static const double epsilons[] = {1, 1, 1e-9, 5e-324, 1e15, 1.7e308};
	static const double deltas[] = {1e-6, 1e-6, 1e-300, 5e-324, 0.5, 0.999999999, 1, 1e300};
	static const double costs[] = {1, 0, 0.125, 5e-324, 1e15, 1.7e308};
	static const double variances[] = {4, 5, 1e10, 4503599627370496.0 / 8};

	header[CONTRIBUTIONS] = one_of(contributions);
	header[NEIGHBORS] = 1 + below(2);
	header[MECHANISM] = header[STATUS] == SHARE ? GAUSSIAN : LAPLACE + below(of_moments ? 4 : 3);
	header[EPSILON] = BITS(one_of(epsilons));
	header[DELTA] =
		header[MECHANISM] == LAPLACE || header[MECHANISM] == WISHART ? 0 : BITS(one_of(deltas));
	header[RHO] = BITS(one_of(costs));
	if (header[STATUS] == SHARE)
	{
		header[PARTIES] = 2 + below(below(4) ? 3 : 7);
		header[COLLUDERS] = below(header[PARTIES]);
		header[DROPOUTS] = below(header[PARTIES] - header[COLLUDERS]);
		header[COUNTER_VARIANCE] = BITS(one_of(variances));
		header[COUNT_VARIANCE] = BITS(one_of(variances));
		return;
	}
	header[RELEASES] = below(4) ? 1 + below(3) : INT32_MAX - below(2);
	header[COUNTER_VARIANCE] = BITS(one_of(costs));
	header[COUNT_VARIANCE] = BITS(one_of(costs));
}

static int64_t
choose_count(void)
{
	static const int64_t counts[] = {0, 1, -1, 100, MAX_COUNT, -MAX_COUNT, INT32_MAX};

	return below(2) ? (int64_t) below(1000) : one_of(counts);
}

/* A sum of so many shares, of a variance each as the header says */
static void
set_shares(uint64_t *header, uint64_t n)
{
	header[RELEASES] = n;
	for (int field = COUNTER_VARIANCE; field <= COUNT_VARIANCE; field++)
	{
		double variance;

		memcpy(&variance, &header[field], sizeof(variance));
		header[field] = BITS(variance * n);
	}
}

/*
 * Ids of shares, in ascending order.  Those of a pair, `side` 0 and 1, differ; a
 * hostile one may have what the other has, or have one twice.
 */
static void
put_shares(Value *sketch, uint64_t n, int side, bool hostile)
{
	uint64_t id = UINT64_C(1) << (below(2) ? 60 : 0);

	for (uint64_t i = 0; i < n; i++)
	{
		id += hostile && below(8) == 0 ? 0 : 1 + below(3);
		put(sketch, 2 * id + side, 8);
	}
}

/* A counter of so many bits and no more, often at the end of what they hold */
static int64_t
choose_counter(int bits)
{
	int64_t largest = INT64_MAX >> (64 - bits);

	switch (below(6))
	{
		case 0:
			return largest;
		case 1:
			return -largest - (bits < 63);
		case 2:
			return (int64_t) random64() >> (64 - bits);
		default:
			return (int64_t) below(100) - 50;
	}
}

/* Counters of so many bytes; unless hostile, at least one needs them. Often most are 0. */
static void
put_counters(Value *sketch, uint64_t n, int width, bool hostile)
{
	bool narrow = hostile && below(8) == 0;
	bool sparse = below(2);

	for (uint64_t i = 0; i < n; i++)
	{
		/* those of 8 bytes stay within 2^62, but for a few */
		int bits = narrow ? 8 : width == 8 && below(256) ? 63 : 8 * width;
		int64_t counter = i == 0 && !narrow ? INT64_C(1) << (bits - 2) :
			sparse && below(4)              ? 0 :
											  choose_counter(bits);

		put(sketch, (uint64_t) counter, width);
	}
}

/* ------------------------------------------------------------------ model */

/* What a word of a model is, or a byte of its texts; and where there are some */
enum
{
	SIZES,
	NUMBERS,
	STARTS,
	ELEMENTS,
	COORDINATES,
	TEXTS,
	ROLES
};
static struct
{
	size_t at[MAX_MODEL];
	size_t n;
} places[ROLES];

static void
put_word(Value *sketch, int role, uint64_t word)
{
	places[role].at[places[role].n++] = sketch->size;
	put(sketch, word, 8);
}

/* The sets of n points: where each begins, and elements in order */
static void
put_sets(Value *sketch, uint64_t n)
{
	uint64_t sizes[3];
	uint64_t start = 0;

	put_word(sketch, STARTS, 0);
	for (uint64_t i = 0; i < n; i++)
		put_word(sketch, STARTS, start += sizes[i] = below(4));
	for (uint64_t i = 0; i < n; i++)
	{
		uint64_t element = below(2) ? below(3) : UINT64_C(1) << 63;

		while (sizes[i]-- > 0)
			put_word(sketch, ELEMENTS, element += 1 + below(3));
	}
}

/* Vectors, or rows of categories */
static void
put_rows(Value *sketch, int kernel, uint64_t n)
{
	static const double coordinates[] = {0, 1, -1, 0.5, 1e100, -0.0, 5e-324};

	while (n-- > 0)
		if (kernel == MATCH)
			put_word(sketch, ELEMENTS, below(2) ? below(5) : random64());
		else
			put_word(sketch, COORDINATES, BITS(one_of(coordinates)));
}

/* The texts of n points, and before them where each begins */
static void
put_texts(Value *sketch, size_t text_size_at, uint64_t n)
{
	static const char *const texts[] = {"",         "a",           "{1,2}", "({1,2},\"{a,b}\")",
										"\xc3\xbc", "\xe2\x82\xac"};
	const char *chosen[3];
	uint64_t size = 0;

	put_word(sketch, STARTS, 0);
	for (uint64_t i = 0; i < n; i++)
	{
		chosen[i] = one_of(texts);
		put_word(sketch, STARTS, size += strlen(chosen[i]));
	}
	set_number(sketch, text_size_at, 8, size);
	for (uint64_t i = 0; i < n; i++)
	{
		for (const char *byte = chosen[i]; *byte != '\0'; byte++)
		{
			places[TEXTS].at[places[TEXTS].n++] = sketch->size;
			put(sketch, (unsigned char) *byte, 1);
		}
	}
	while (size++ % 8 != 0)
		put(sketch, 0, 1);
}

/* Make one thing of a model wrong, or extreme; `start` is where it begins. */
static void
spoil_model(Value *sketch, size_t start)
{
	static const double numbers[] = {NAN,     INFINITY, -INFINITY, -1,     -5e-324, 1e300,
									 1.7e308, 0,        1,         1e-300, 5e-324};
	static const uint8_t bytes[] = {0, 0x80, 0xC0, 0xE2, 0xF5, 0xFF, 'x'};
	int role = below(ROLES);
	size_t at;

	if (below(6) == 0 || places[role].n == 0)
	{
		/* words more or less at the end */
		if (below(2))
			put(sketch, random64(), 8);
		else if (sketch->size - start > 8)
			sketch->size -= below(2) ? 8 : 1 + below(sketch->size - start - 1);
		return;
	}
	at = places[role].at[below(places[role].n)];
	if (role == TEXTS)
		set_number(sketch, at, 1, one_of(bytes));
	else if (role == NUMBERS || role == COORDINATES)
		set_number(sketch, at, 8, BITS(one_of(numbers)));
	else
		set_number(sketch, at, 8, below(2) ? below(9) : extreme_number());
}

/* The log-linear model of tables: a number for each cell; as it is good, or hostile */
static void
put_log_linear(Value *sketch, uint64_t range, bool hostile)
{
	static const double numbers[] = {0, -1, 1, -20, 1e6, -1e6};
	size_t before = sketch->size;

	put(sketch, range, 8);
	for (uint64_t i = 0; i < 3 + at_most(range, MAX_COUNTERS); i++)
		put(sketch, i < 3 ? 0 : BITS(one_of(numbers)), 8);
	if (hostile && below(4) == 0)
		sketch->size = before + 8 * (1 + below(5));
	else if (hostile)
		set_number(sketch, before + 8 * below((sketch->size - before) / 8), 8, extreme_number());
	set_number(sketch, 76, 4, sketch->size - before);
}

/* A model after the counters, if it is not too long; as it is good, or hostile */
static void
put_model(Value *sketch, const Value *params, bool hostile)
{
	static const double weights[] = {0, 0.5, 1, 100, 1e15};
	static const double misfits[] = {0, 0.01, 0.5, 1, 2};
	size_t before = sketch->size;
	size_t parts[MAX_PARTS];
	int n_parts = find_parts(params, 0, parts);
	uint64_t n = 1 + below(3);
	uint64_t width = 0;

	for (int p = 0; p < n_parts; p++)
		width += number_at(params, parts[p] + 4);
	if (n_parts == 0 || 8 * (8 + 2 * n + n * width + 32 * n_parts) > MAX_MODEL ||
		sketch->size + MAX_MODEL > MAX_SIZE - 64)
		return;
	for (int p = 0; p < ROLES; p++)
		places[p].n = 0;
	put_word(sketch, SIZES, n);
	put_word(sketch, SIZES, 0);
	put_word(sketch, NUMBERS, BITS(one_of(misfits)));
	put_word(sketch, NUMBERS, BITS(one_of(weights)));
	for (uint64_t i = 0; i < 2 * n; i++)
		put_word(sketch, NUMBERS, BITS(one_of(weights)));
	for (int p = 0; p < n_parts; p++)
		if (params->bytes[parts[p] + 1] == JACCARD)
			put_sets(sketch, n);
		else
			put_rows(sketch, params->bytes[parts[p] + 1], n * number_at(params, parts[p] + 4));
	if (n_parts > 1 || params->bytes[parts[0] + 1] >= JACCARD)
		put_texts(sketch, before + 8, n);
	if (hostile)
		spoil_model(sketch, before);
	set_number(sketch, 76, 4, hostile && below(16) == 0 ? extreme_number() : sketch->size - before);
}

/*
 * A sketch with these parameters.  The header is kept but for what a pair does not
 * share: the count, and how many shares there are.
 */
static void
make_sketch(Value *sketch, const Value *params, const uint64_t *base, int side, bool with_model,
			bool hostile)
{
	uint64_t header[HEADER_FIELDS];
	uint64_t rows = number_at(params, ROWS_AT);
	uint64_t range = number_at(params, ROWS_AT + 4);
	int width = 1 << below(4);

	memcpy(header, base, sizeof(header));
	header[COUNT] = (uint64_t) choose_count();
	if (header[STATUS] == SHARE)
		set_shares(header, 1 + below(header[PARTIES] - 1));
	header[WIDTH] = width;
	if (hostile && !with_model)
		header[below(HEADER_FIELDS)] = below(2) ? below(9) : extreme_number();

	sketch->size = 0;
	put_fields(sketch, header, header_sizes, HEADER_FIELDS);
	memcpy(sketch->bytes + sketch->size, params->bytes, params->size);
	sketch->size += params->size;
	if (header[STATUS] == SHARE)
		put_shares(sketch, at_most(header[RELEASES], MAX_SHARES), side, hostile);
	put_counters(sketch, at_most(rows * range, MAX_COUNTERS), width, hostile && !with_model);
	if (with_model && of_tables)
		put_log_linear(sketch, range / parts, hostile);
	else if (with_model)
		put_model(sketch, params, hostile);
	put(sketch, 0, 4);
	set_checksum(sketch);
}

/* Other parameters: fewer rows, which private sketches may have, or another number */
static void
change_params(Value *params)
{
	if (below(2))
		set_number(params, ROWS_AT, 4, (number_at(params, ROWS_AT) + 1) / 2);
	else
		set_number(params, 4 * below(PART_SIZE / 4), 4, extreme_number());
}

/* Two sketches that may be combined, mostly; every other has a model, if it may */
static void
make_sketches(Value *pair, bool may_have_models)
{
	static const uint8_t statuses[] = {EXACT, EXACT, SHARE, PRIVATE};
	uint64_t header[HEADER_FIELDS] = {[SKETCH_VERSION] = 3, [STATUS] = one_of(statuses)};
	int spoiled = below(4);
	Value params;

	if (header[STATUS] != EXACT)
		choose_noise(header);
	measured = header[STATUS] == PRIVATE ? below(4) > 0 : below(32) == 0;
	make_params(&params, below(8) == 0);
	make_sketch(&pair[0], &params, header, 0, may_have_models && below(2), spoiled == 0);
	if (below(6) == 0)
		change_params(&params);
	if (header[STATUS] == PRIVATE && below(3))
	{
		uint64_t contributions = header[CONTRIBUTIONS];
		uint64_t neighbors = header[NEIGHBORS];

		choose_noise(header);
		header[CONTRIBUTIONS] = contributions;
		header[NEIGHBORS] = neighbors;
	}
	make_sketch(&pair[1], &params, header, 1, may_have_models && below(2), spoiled == 1);
}

/* ------------------------------------------------------------- operations */

/*
 * A question to a and b.  The answer is one row: a value that must come back or NULL,
 * and claims, named by their columns, that must be true or NULL.
 */
typedef struct Operation
{
	const char *name;
	int kind;             /* of its two values */
	bool may_have_models; /* it does not claim to give back what it drops */
	const char *query;    /* %s: record i, and the one before */
	int asked;
	int answered;
} Operation;

enum
{
	OF_PARAMS,
	OF_SKETCH,
	OF_MOMENTS,
	OF_TABLES,
	PARAMS_OF_MOMENTS,
	PARAMS_OF_TABLES
};

#define PAIR(type) "(SELECT $1::" type " AS a, $2::" type " AS b OFFSET 0) pair"
#define SKETCHES PAIR("race_sketch")
#define PARAMS PAIR("race_params")
#define SEND(s) "_race_sketch_send(" s ")"
#define RECORDS \
	"(VALUES (1)) n (i), " SKETCHES ", LATERAL (SELECT %s AS q, %s AS before OFFSET 0) r"

/* What several kinds can do */
#define SUM \
	"SELECT " SEND("s") ", " SEND("b + a") " = " SEND( \
		"s") " AS \"+ commutes\", " \
			 "(SELECT " SEND("race_merge(x)") " FROM (VALUES (a), (b)) v (x)) = " SEND( \
				 "s") " AS \"race_merge is +\" FROM " SKETCHES \
					  ", LATERAL (SELECT a + b AS s OFFSET 0) w"
#define DIFFERENCE \
	"SELECT " SEND("a - b") ", " SEND("(a + b) - b") " = " SEND("a") " AS \"- undoes +\", " SEND( \
		"(a - b) + b") " = " SEND("a") " AS \"+ undoes -\" FROM " SKETCHES
#define MERGE_DISJOINT \
	"SELECT " SEND("race_merge_disjoint(x ORDER BY i)") ", " SEND("race_merge_disjoint(x ORDER BY i)") " = " SEND( \
		"race_merge_disjoint(x ORDER BY -i)") " AS \"race_merge_disjoint commutes\" FROM " SKETCHES \
											  ", LATERAL (VALUES (1, a), (2, b)) v (i, x)"
#define ADD \
	"SELECT " SEND("s") ", " SEND("race_remove(s, q)") " = " SEND("a") " AS \"race_remove undoes race_add\", " SEND( \
		"a + race_add(race_sketch(race_params(a)), q)") " = " SEND("s") " AS \"race_add is +\" FROM " RECORDS \
																		", LATERAL (SELECT race_add(a, q) AS s OFFSET 0) w"
#define SHARES(parties, claim) \
	"SELECT " SEND( \
		"race_merge(s)") ", " claim " FROM " SKETCHES ", LATERAL (VALUES " parties ") v (x), " \
						 "LATERAL (SELECT race_share(x, 1, 1e-6, 4, 1, 1) AS s OFFSET 0) w"
#define EMPTY \
	"SELECT " SEND( \
		"race_sketch(a)") ", race_params(race_sketch(b)) = b AS \"a sketch has its params\" FROM " PARAMS

static Operation operations[] = {
	{.name = "+", .kind = OF_SKETCH, .may_have_models = true, .query = SUM},
	{.name = "+ of moments", .kind = OF_MOMENTS, .query = SUM},
	{.name = "+ of tables",
	 .kind = OF_TABLES,
	 .query = "SELECT " SEND("a + b") ", " SEND("a + b") " = " SEND(
		 "b + a") " AS \"+ commutes\" FROM " SKETCHES},
	{.name = "-", .kind = OF_SKETCH, .query = DIFFERENCE},
	{.name = "- of moments", .kind = OF_MOMENTS, .query = DIFFERENCE},
	{.name = "race_merge_disjoint",
	 .kind = OF_SKETCH,
	 .may_have_models = true,
	 .query = MERGE_DISJOINT},
	{.name = "race_merge_disjoint of moments", .kind = OF_MOMENTS, .query = MERGE_DISJOINT},
	{.name = "race_merge in a window",
	 .kind = OF_SKETCH,
	 .query = "SELECT NULL, bool_and(" SEND("w") " = " SEND(
		 "COALESCE(before + x, x)") ") AS \"a window is a sum\" FROM "
									"(SELECT x, lag(x) OVER o AS before, race_merge(x) OVER (o ROWS 1 PRECEDING) AS w "
									"FROM " SKETCHES
									", LATERAL (VALUES (1, a), (2, b), (3, a), (4, b), (5, b)) v (i, x) "
									"WINDOW o AS (ORDER BY i) OFFSET 0) u"},
	{.name = "race_build in a window",
	 .kind = OF_SKETCH,
	 .query = "SELECT NULL, bool_and(" SEND("w") " = " SEND(
		 "CASE i WHEN 1 THEN race_add(e, q) ELSE race_add(race_add(e, before), q) END") ") AS \"a window is a sum\" FROM (SELECT *, race_build(race_params(e), q) "
																						"OVER (ORDER BY i ROWS 1 PRECEDING) AS w FROM " SKETCHES
																						", "
																						"LATERAL (SELECT race_sketch(race_params(a)) AS e OFFSET 0) v, "
																						"generate_series(1, 4) i, LATERAL (SELECT %s AS q, %s AS before) r OFFSET 0) u"},
	{.name = "race_add", .kind = OF_SKETCH, .query = ADD},
	{.name = "race_add to moments", .kind = OF_MOMENTS, .query = ADD},
	{.name = "race_add to tables", .kind = OF_TABLES, .query = ADD},
	{.name = "race_share",
	 .kind = OF_SKETCH,
	 .may_have_models = true,
	 .query = SHARES("(a), (b), (b)",
					 "race_count(race_merge(s)) IS NOT NULL AS \"enough shares can be asked\"")},
	{.name = "race_share of moments",
	 .kind = OF_MOMENTS,
	 .query = SHARES(
		 "(a), (b), (b)",
		 "race_moments_matrix(race_merge(s)) IS NOT NULL AS \"enough shares can be asked\"")},
	{.name = "race_share of tables",
	 .kind = OF_TABLES,
	 .query =
		 SHARES("(a), (b), (b), (b)",
				"(race_info(race_merge(s))).status = 'private' AS \"enough shares are private\"")},
	{.name = "race_privatize",
	 .kind = OF_SKETCH,
	 .may_have_models = true,
	 .query = "SELECT " SEND(
		 "s") ", race_count(s) IS NOT NULL AS \"private sketches can be asked\" "
			  "FROM " SKETCHES
			  ", race_info(a) i, LATERAL (SELECT race_privatize(a, 1, rows => i.rows) + "
			  "race_privatize(b, 1, 1e-6, i.rows) AS s OFFSET 0) w"},
	{.name = "race_privatize of moments",
	 .kind = OF_MOMENTS,
	 .query = "SELECT " SEND(
		 "s") ", race_moments_matrix(s) IS NOT NULL AS \"private moments can be asked\" "
			  "FROM " SKETCHES
			  ", LATERAL (SELECT race_privatize(a, 1) + race_privatize(b, 1, 1e-6) AS s OFFSET 0) w"},
	{.name = "race_privatize of tables",
	 .kind = OF_TABLES,
	 .query = "SELECT " SEND(
		 "s") ", (race_info(s)).epsilon <= 1 AND (race_info(r)).epsilon <= 1 AS \"it costs no more\" "
			  "FROM " SKETCHES
			  ", LATERAL (SELECT race_privatize(a, 1) AS s, race_privatize(b, 1, 1e-6) AS r OFFSET 0) w"},
	{.name = "questions",
	 .kind = OF_SKETCH,
	 .may_have_models = true,
	 .query =
		 "SELECT NULL, (race_kernel_sum(a, q), race_kernel_sum(b, q, 24), race_kde(a, before), "
		 "race_estimate(b, q), race_info(a))::text !~ 'NaN' AS \"answers are numbers\", "
		 "(SELECT race_classify(j, x, q) IN (1, 2) FROM (VALUES (1, a), (2, b), (3, NULL)) v (j, x)) "
		 "AS \"one of the classes\", "
		 "(SELECT sum(value::float8) BETWEEN 0.999 AND 1.001 FROM jsonb_each_text("
		 "(SELECT race_posterior(j, x, q) FROM (VALUES (1, a), (2, b)) v (j, x)))) AS \"probabilities\" "
		 "FROM " RECORDS},
	{.name = "questions to moments",
	 .kind = OF_MOMENTS,
	 .query =
		 "SELECT NULL, (race_moments_matrix(a), race_info(b))::text !~ 'NaN' AS \"answers are numbers\" FROM " SKETCHES},
	{.name = "questions to tables",
	 .kind = OF_TABLES,
	 .may_have_models = true,
	 .query = "SELECT " SEND(
		 "a") ", (race_info(a), race_count(b), race_params(a)::text::race_params)::text !~ 'NaN' "
			  "AS \"answers are numbers\" FROM " SKETCHES},
	{.name = "comparisons",
	 .kind = OF_SKETCH,
	 .may_have_models = true,
	 .query =
		 "SELECT NULL, (race_distance(a, b), race_difference(a, b, q), "
		 "race_typicality(a, before))::text !~ 'NaN' AS \"answers are numbers\", "
		 "(race_distance(a, b)).p_value BETWEEN 0 AND 1 AS \"a probability\", "
		 "(race_typicality(b, q)).typicality > '-Infinity' AS \"typicality is finite\" FROM " RECORDS},
	{.name = "models",
	 .kind = OF_SKETCH,
	 .may_have_models = true,
	 .query =
		 "SELECT NULL, (SELECT count(*) = 20 AND bool_and((x IS NULL) <> (record IS NULL)) AND "
		 "min(v::text) !~ 'NaN' FROM race_sample(f, 20, 1) v) AS \"samples are records\", "
		 "(race_typicality(f, q)).share BETWEEN 0 AND 1 AS \"a share\", "
		 "(SELECT prominence > 0 FROM race_modes(f, 1)) IS NOT false AS \"modes stand out\" FROM " RECORDS
		 ", "
		 "LATERAL (SELECT race_fit(s, x) AS f FROM (VALUES (a, q), (a, before)) v (s, x) OFFSET 0) w"},
	{.name = "race_points",
	 .kind = OF_SKETCH,
	 .may_have_models = true,
	 .query = "SELECT NULL, count(*) = min((race_info(a)).points) AS \"all points\", "
			  "bool_and(weight >= 0 AND weight < 'Infinity') AS \"weights are numbers\", "
			  "bool_and((x IS NULL) <> (record IS NULL)) AS \"a vector or a text\", "
			  "sum(length(record) + octet_length(record)) IS NULL OR true AS \"texts are texts\" "
			  "FROM " SKETCHES ", race_points(a)"},
	{.name = "race_fit",
	 .kind = OF_SKETCH,
	 .may_have_models = true,
	 .query = "SELECT " SEND(
		 "f") ", (race_kernel_sum(f, q), race_kde(f, before), race_estimate(f, q))::text !~ 'NaN' "
			  "AS \"answers are numbers\", (SELECT abs(sum(weight) / greatest(race_count(a), 1) - 1) < 1e-6 OR "
			  "(race_info(a)).count_noise_stddev > 0 FROM race_points(f)) AS \"weights add up\" FROM " RECORDS
			  ", "
			  "LATERAL (SELECT race_fit(s, x) AS f FROM (VALUES (a, q), (a, before), (NULL, q)) v (s, x) OFFSET 0) w"},
	{.name = "race_sketch", .kind = OF_PARAMS, .query = EMPTY},
	{.name = "race_moments", .kind = PARAMS_OF_MOMENTS, .query = EMPTY},
	{.name = "parameters of tables", .kind = PARAMS_OF_TABLES, .query = EMPTY},
	{.name = "*",
	 .kind = OF_PARAMS,
	 .query = "SELECT _race_params_send(p), p::text::race_params = p AS \"a product round-trips\" "
			  "FROM " PARAMS ", LATERAL (SELECT a * b AS p OFFSET 0) w"},
	{.name = "equality",
	 .kind = OF_PARAMS,
	 .query =
		 "SELECT _race_params_send(CASE WHEN a = b THEN a ELSE b END), (a <> b) <> (a = b) AS \"<> is not =\", "
		 "(a = b) = (_race_params_send(a) = _race_params_send(b)) AS \"= are the same bytes\", "
		 "a <> b OR _race_params_hash(a) = _race_params_hash(b) AS \"= have one hash\" FROM " PARAMS}};

/* The types of values, on their way to the server and back */
static struct
{
	const char *name;
	int sent;
	int accepted;
} types[] = {{.name = "race_params"},
			 {.name = "race_sketch"},
			 {.name = "race_moments"},
			 {.name = "race_tables"}};

static const char *const round_trips[] = {
	"SELECT _race_params_send($1::race_params), "
	"_race_params_send($1::race_params::text::race_params)",
	"SELECT " SEND("$1::race_sketch") ", " SEND("$1::race_sketch::text::race_sketch")};

/* Does it have two sketches?  Else parameters. */
static bool
is_sketch(const Operation *operation)
{
	return operation->kind >= OF_SKETCH && operation->kind <= OF_TABLES;
}

/* Does the server take a value?  Then it must give it back. */
static bool
goes_in(const Value *value, int type)
{
	static const char *const data_exceptions[] = {"22"};
	const char *bytes = (const char *) value->bytes;
	int length = value->size;
	int format = 1;
	PGresult *result = send_query(round_trips[type != OF_PARAMS], 1, &bytes, &length, &format);
	bool accepted = PQresultStatus(result) == PGRES_TUPLES_OK;
	Value back;

	types[type].sent++;
	types[type].accepted += accepted;
	if (accepted)
	{
		decode_bytea(PQgetvalue(result, 0, 0), &back);
		if (!arrived_whole(value, &back, type != OF_PARAMS))
			violation("other bytes came back", PQgetvalue(result, 0, 0));
		if (strcmp(PQgetvalue(result, 0, 0), PQgetvalue(result, 0, 1)) != 0)
			violation("the text form is another value", PQgetvalue(result, 0, 1));
	}
	else if (refused_for(result, data_exceptions, lengthof(data_exceptions)))
		note_reason(result);
	else
		violation("refused with another class of error", PQresultErrorMessage(result));
	PQclear(result);
	return accepted;
}

/* Is it true what an answer claims, and does the value in it come back, a sketch or params? */
static void
check_answer(const PGresult *result)
{
	Value value;

	for (int i = 1; i < PQnfields(result); i++)
		if (strcmp(PQgetvalue(result, 0, i), "f") == 0)
			violation("this is not so", PQfname(result, i));
	if (PQgetisnull(result, 0, 0))
		return;
	decode_bytea(PQgetvalue(result, 0, 0), &value);
	if (!goes_in(&value,
				 strcmp(PQfname(result, 0), "_race_sketch_send") != 0 ? OF_PARAMS :
					 of_moments                                       ? OF_MOMENTS :
					 of_tables                                        ? OF_TABLES :
																		OF_SKETCH))
		violation("the result is not a value", PQgetvalue(result, 0, 0));
}

/* Put records for a in, if the query wants some; false if they would take long. */
static bool
write_query(const Operation *operation, const Value *a, char *query, size_t size)
{
	char record[RECORD_SIZE];
	char before[RECORD_SIZE];
	size_t parts[MAX_PARTS];
	int n = find_parts(a, is_sketch(operation) ? PARAMS_AT : 0, parts);

	if (is_large(a, parts, n))
		return false;
	write_record(a, parts, n, "i", record);
	write_record(a, parts, n, "(i - 1)", before);
	snprintf(query, size, operation->query, record, before);
	return true;
}

static void
operate(Operation *operation, const Value *pair)
{
	static const char *const refusals[] = {"22", "55000"};
	const char *values[2] = {(const char *) pair[0].bytes, (const char *) pair[1].bytes};
	int lengths[2] = {pair[0].size, pair[1].size};
	int formats[2] = {1, 1};
	char query[4096];
	PGresult *result;

	if (!write_query(operation, &pair[0], query, sizeof(query)))
		return;
	set_suspects(operation->name, &pair[0], &pair[1]);
	operation->asked++;
	result = send_query(query, 2, values, lengths, formats);
	if (PQresultStatus(result) == PGRES_TUPLES_OK)
	{
		operation->answered++;
		check_answer(result);
	}
	else if (!refused_for(result, refusals, lengthof(refusals)))
		violation("refused with another class of error", PQresultErrorMessage(result));
	PQclear(result);
}

/* ------------------------------------------------------------------ main */

static void
try_pair(Operation *operation)
{
	static Value pair[2];

	int type = is_sketch(operation) ? operation->kind : OF_PARAMS;

	of_moments = operation->kind == OF_MOMENTS || operation->kind == PARAMS_OF_MOMENTS;
	of_tables = operation->kind == OF_TABLES || operation->kind == PARAMS_OF_TABLES;
	measured = below(2);
	if (is_sketch(operation))
		make_sketches(pair, operation->may_have_models);
	else
		make_factors(pair);
	set_suspects("input", &pair[0], NULL);
	if (!goes_in(&pair[0], type))
		return;
	set_suspects("input", &pair[1], NULL);
	if (goes_in(&pair[1], type))
		operate(operation, pair);
}

int
main(int argc, char **argv)
{
	int count;

	if (argc != 3)
	{
		fprintf(stderr, "usage: structure SEED COUNT\n");
		return 2;
	}
	seed_random(argv[1]);
	count = atoi(argv[2]);

	connect_to_server();
	for (size_t i = 0; i < (size_t) count; i++)
		try_pair(&operations[i % lengthof(operations)]);
	for (size_t i = 0; i < lengthof(types); i++)
		printf("%s: sent %d accepted %d\n", types[i].name, types[i].sent, types[i].accepted);
	for (size_t i = 0; i < lengthof(operations); i++)
		printf("%s: asked %d answered %d\n", operations[i].name, operations[i].asked,
			   operations[i].answered);
	return finish();
}
