/*
 * lsh.h
 *		Row functions and kernels: parameters, values, buckets
 */
#ifndef RACE_LSH_H
#define RACE_LSH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "privacy/counters.h"
#include "privacy/interrupt.h"

/*
 * The table of kernels: everything that tells one kernel from another.
 *
 * A kernel is a similarity of two records between 0 and 1.  Each comes with a family
 * of hash functions h for which P[h(x) = h(y)] is that similarity.  All other code
 * asks the table, and never whether a kernel is this or that one.  doc/extending.md says how to add one.
 */

struct RaceParams;
struct RaceColumn;

/* The numbers below are stored in sketches: never reuse one. */

typedef enum RaceKernel
{
	RACE_KERNEL_L2 = 1,			/* Datar et al. 2004, p-stable with p = 2 */
	RACE_KERNEL_L1 = 2,			/* the same with p = 1 */
	RACE_KERNEL_ANGULAR = 3,	/* signed random projections, Charikar 2002 */
	RACE_KERNEL_JACCARD = 4,	/* minimum of a set's hash values, Broder 1997 */
	RACE_KERNEL_MATCH = 5,		/* one of a row's categories */
	RACE_KERNEL_MOMENTS = 6,		/* no kernel: sums and products of columns, moments.h */
	RACE_KERNEL_LEAST_SQUARES = 7,	/* surrogate losses, loss_rows.h */
	RACE_KERNEL_MARGIN = 8,
	RACE_KERNEL_TABLES = 9		/* no kernel: counts of cells, contingency.h */
} RaceKernel;

/* What a record of the kernel is.  This decides how it is read and hashed. */
typedef enum RaceRecordKind
{
	RACE_RECORD_VECTOR,			/* numbers; a function is a projection */
	RACE_RECORD_SET,			/* elements in any number; a function is an order */
	RACE_RECORD_ROW				/* categories; a function is a place in the row */
} RaceRecordKind;

/* Which parameters a kernel has, besides those that all kernels have */
typedef enum RaceTakes
{
	RACE_TAKES_DIMS = 1,		/* all its records have the same length */
	RACE_TAKES_BANDWIDTH = 2,	/* it measures distances: bandwidth, bandwidths */
	RACE_TAKES_BOUNDS = 4,		/* lower and upper bounds of vectors */
	RACE_TAKES_TRANSFORM = 8,	/* matrix and offset */
	RACE_TAKES_NULLS = 32,		/* nulls: what a NULL among categories is */
	RACE_TAKES_FUNCTIONS = 64,	/* power, rows, range and rehash: all but moments */
	RACE_TAKES_COLUMNS = 128,	/* norm, features and targets: moments */
	RACE_TAKES_RADIUS = 256,	/* radius and query_radius: losses */
	RACE_TAKES_STRUCTURED = 512,	/* projections by fast transforms (sequences.h) */
	RACE_TAKES_CELLS = 1024		/* cells, groups and others: contingency tables */
} RaceTakes;

#define RACE_SQUARE_LAGS	4

typedef struct RaceKernelType
{
	const char *name;
	RaceRecordKind record;
	uint32_t	takes;			/* RaceTakes, added up */

	/* Is the code of a projection its sign?  Else it is a number, rounded down. */
	bool		signs;

	/* The distribution of a projection's coefficients: from (0, 1) to a number */
	double		(*quantile) (double p);

	/*
	 * May the bucket be the code modulo the range, for these parameters of one kernel?
	 * NULL: never.
	 */
	bool		(*can_fold) (uint32_t power, uint32_t range);

	/*
	 * Of a kernel that is a function of the distance in bandwidths: this function, with
	 * power 1, and whether the distance is Euclidean, or else the sum along axes.
	 */
	double		(*of_distance) (double c);
	bool		euclidean;

	/* Of other kernels: the exact value of two records, with power 1 */
	double		(*value) (const struct RaceParams *part,
						  const struct RaceColumn *x, const struct RaceColumn *y);

	/*
	 * Of a kernel that folds numbers: its square, about, as a sum of the probabilities that
	 * two codes are i apart, i = 0 ... RACE_SQUARE_LAGS, times these; or NULL
	 */
	const double *square;

	/* Of a surrogate loss: how many queries it is the sum of; else 0 */
	uint32_t	queries;
} RaceKernelType;

/* The line of a kernel; NULL if there is none with this number */
extern const RaceKernelType *race_kernel_type(int kernel);

/* The name of a number; NULL if there is none */
extern const char *race_kernel_name(int kernel);

/* Write the names of all kernels that take one of these parameters into `list`, as in "l2, l1 and angular". */
extern const char *race_kernel_list(uint32_t takes, char *list, size_t length);

/*
 * The kernels of p-stable hashing, P[h(x) = h(y)] for h(x) = floor(a.x / w + b), with normal and
 * with Cauchy a, at a distance of c >= 0 in bandwidths w (Datar, Immorlica, Indyk & Mirrokni 2004,
 * section 3.2; k(0) = 1):
 *
 *		l2(c) = 1 - 2 Phi(-1/c) - 2c / sqrt(2 pi) (1 - exp(-1 / 2c^2))
 *		l1(c) = 2/pi atan(1/c) - c/pi ln(1 + 1/c^2)
 */
extern double race_l2_kernel(double c);
extern double race_l1_kernel(double c);

/*
 * Phi^-1(p) for 1e-300 < p < 1, bit-identical on every IEEE machine: rational
 * approximations (Wichura 1988, algorithm AS 241, PPND16), a logarithm of our
 * own, and the exact sqrt.  Relative error measured: below 1e-15.
 */
extern double race_inverse_normal(double p);

/* The same of Cauchy's, tan(pi (p - 1/2)) for 0 < p < 1, a multiple of 2^-53 */
extern double race_inverse_cauchy(double p);

/* Coordinate i of M (x - o), which is x - o, or x, where there is no transform */
extern double race_transformed(const struct RaceParams *part, const double *x, uint32_t i);

/* A kernel that is a function of the distance in bandwidths, taken to its power, there */
extern double race_kernel_at(const struct RaceParams *part, double distance);

/*
 * The exact kernel of two records, which have a column for each part: the product
 * of all parts, each taken to its power. Estimates are compared with it. It uses
 * libm, and can be interrupted. Elements of sets must be sorted and distinct.  Parts of y
 * may be left out (race_column_is_any).
 */
extern double race_kernel_value(const struct RaceParams *params,
								const struct RaceColumn *x,
								const struct RaceColumn *y);

/*
 * From a value to its buckets: row functions.  Plain C99 without PostgreSQL headers, so that unit tests,
 * fuzzers and benchmarks can link against it alone.
 *
 * A sketch has `rows` hash functions of the kernel's family, each fixed by the parameters and its row number
 * alone: never by data, never by how many rows there are, so that the first R' rows of a sketch are the
 * sketch that R' rows would have made.
 *
 * The same bits must come out on every machine.  Arithmetic is IEEE double in
 * a fixed order, multiply-add is always the fused fma(), no libm function
 * other than the exact fma, floor and sqrt is called on the way from a value
 * to its bucket, and compilers are told not to contract (-ffp-contract=off).
 */

#define RACE_PI		3.14159265358979323846

/* The numbers below are stored in sketches: never reuse one. */

/* How the randomness of the row functions is drawn across rows.  3, 6 and 8 are no longer in use. */
typedef enum RaceSequence
{
	RACE_SEQUENCE_INDEPENDENT = 1,	/* rows independent of each other */
	RACE_SEQUENCE_SOBOL = 2,	/* scrambled Sobol': smaller error, sequences.h */
	RACE_SEQUENCE_GRID = 4,		/* no row functions: the nodes of a grid, table.h */
	RACE_SEQUENCE_STRUCTURED = 5,	/* at right angles, by fast transforms: sequences.h */
	RACE_SEQUENCE_GROUPED = 7	/* of sets: groups of 8 rows share an order of elements, hash.h */
} RaceSequence;

/* How a row's code becomes one of `range` buckets */
typedef enum RaceRehash
{
	RACE_REHASH_FOLD = 1,		/* code mod range; of signs, all of them */
	RACE_REHASH_MULTILINEAR = 2 /* strongly universal, keyed per row */
} RaceRehash;

/*
 * What a NULL in a row of categories is; 0: it is refused.  A sketch takes the NULLs of all
 * its records for one category.  The two differ in the NULL of a query: under "different" it
 * is another category, which no record has.  So a NULL in a record and one in a query are two
 * different categories, and estimates are as exact as for any others.  Both are in codes that
 * depend on the value alone: a record changes one counter in each row as ever.  Where records
 * are compared with each other (sums of squares of counters), NULLs are equal.
 */
typedef enum RaceNulls
{
	RACE_NULLS_DIFFERENT = 1,	/* equal to nothing, not to a NULL either */
	RACE_NULLS_CATEGORY = 2		/* a category of its own */
} RaceNulls;

/*
 * The norm that records of moments are scaled down to (moments.h): that of L2, or one that fits
 * pure noise.  0: not stated; L2.
 */
typedef enum RaceClip
{
	RACE_CLIP_NORM = 1,
	RACE_CLIP_ABSOLUTE = 2		/* of absolute values */
} RaceClip;

/*
 * Numbers that follow the parameters, in this order; d is dims, m outputs.
 * Bandwidths are factors of `bandwidth`; bounds may be infinite.
 */
typedef enum RaceArray
{
	RACE_ARRAY_BANDWIDTHS = 1,	/* [d]: one a column, l2 and l1 */
	RACE_ARRAY_LOWER = 2,		/* [d]: vectors are clipped to these bounds, */
	RACE_ARRAY_UPPER = 4,		/* [d]: before anything else */
	RACE_ARRAY_MATRIX = 8,		/* [m][d]: M, hashing M (x - o), l2 and angular */
	RACE_ARRAY_OFFSET = 16,		/* [d]: o */
	RACE_ARRAY_CELLS = 32,		/* [d]: of a grid or of contingency tables, one number an axis */
	RACE_ARRAY_GROUPS = 64,		/* [2][d]: of contingency tables, */
	RACE_ARRAY_MEASURED = 128,	/* [m][3], and, as they have neither bandwidths nor an offset, */
	RACE_ARRAY_WORKLOAD = 1,	/* [workload][3], */
	RACE_ARRAY_JOINED = 16		/* [joined]: contingency.h */
} RaceArray;

/*
 * Everything that fixes the row functions and the shape of a sketch.  The kernel
 * may be a product: then parts follow each other, each with its arrays, and each
 * compares a part of a record.  Only the first states what all share: seed,
 * rehash, rows and range.  Equal parameters are equal bytes: there is no padding
 * and `reserved` is zero.  Moments (moments.h) have no row functions; but they, too, are
 * counters, of one row, and what follows fixes them.
 */
typedef struct RaceParams
{
	uint8_t		kernel;			/* RaceKernel */
	uint8_t		sequence;		/* RaceSequence */
	uint8_t		rehash;			/* RaceRehash, of all parts */
	uint8_t		arrays;			/* which RaceArrays follow */
	uint32_t	dims;			/* length of a vector or row; 0 = not stated */
	int64_t		seed;			/* of all parts */
	double		bandwidth;		/* w: distances are measured in it */
	uint32_t	power;			/* concatenated functions a row; k^power */
	uint32_t	rows;			/* R */
	uint32_t	range;			/* W, counters a row */
	uint32_t	outputs;		/* m, rows of the matrix or of measured; 0 without */
	uint32_t	more;			/* bytes that follow: arrays, and other parts */
	uint8_t		nulls;			/* RaceNulls, of categories; 0: none are taken */
	uint8_t		reserved8[3];
	/* what only some kernels have; zero for others */
	union
	{
		struct
		{
			double		radius; /* of records and of queries of a surrogate loss, */
			double		query_radius;	/* loss_rows.h */
		};
		struct
		{
			double		norm;	/* what records of moments are clipped to */
			uint16_t	features;	/* random Fourier features, or 0 */
			uint16_t	targets;	/* the last columns, which weigh more */
			uint8_t		coarser;	/* of noise shares: bits that counters lack */
			uint8_t		clip;	/* RaceClip */
			uint8_t		reserved16[2];
		};
		struct
		{
			uint32_t	joined; /* of contingency tables: the length of that array, */
			uint32_t	workload;	/* and the rows of that one */
		};
		struct
		{
			uint64_t	bits[2];
		}			own;
	};
} RaceParams;

/* The fields in the order of the text form and of the constructor's arguments */
typedef enum RaceFieldNumber
{
	RACE_KEY_KERNEL,
	RACE_KEY_DIMS,
	RACE_KEY_BANDWIDTH,
	RACE_KEY_POWER,
	RACE_KEY_ROWS,
	RACE_KEY_RANGE,
	RACE_KEY_SEED,
	RACE_KEY_SEQUENCE,
	RACE_KEY_REHASH,
	RACE_KEY_BANDWIDTHS,
	RACE_KEY_LOWER,
	RACE_KEY_UPPER,
	RACE_KEY_MATRIX,			/* this and the next come in a race_transform */
	RACE_KEY_OFFSET,
	RACE_KEY_CELLS,
	RACE_KEY_NULLS,
	RACE_KEY_RADIUS,
	RACE_KEY_QUERY_RADIUS,		/* the last of the constructor of kernels */
	RACE_KEY_NORM,
	RACE_KEY_FEATURES,
	RACE_KEY_TARGETS,
	RACE_KEY_CLIP,
	RACE_KEY_COARSER,
	RACE_KEY_GROUPS,
	RACE_KEY_WORKLOAD,
	RACE_KEY_JOINED,
	RACE_KEY_MEASURED,
	RACE_KEYS,					/* fields from here on are derived */
	RACE_FIELD_OUTPUTS = RACE_KEYS,
	RACE_FIELD_MORE,
	RACE_FIELD_ARRAYS,
	RACE_FIELD_JOINED,
	RACE_FIELD_WORKLOAD,
	RACE_FIELDS
} RaceFieldNumber;

typedef enum RaceFieldType
{
	RACE_FIELD_CHOICE,			/* uint8: one of some names; 0 is "auto", or not stated */
	RACE_FIELD_COUNT,			/* uint32 or less, from an integer */
	RACE_FIELD_INTEGER,			/* int64 */
	RACE_FIELD_REAL,			/* double */
	RACE_FIELD_VECTOR,			/* an array of numbers, after the fields */
	RACE_FIELD_MATRIX,			/* an array of rows of numbers, after the fields */
	RACE_FIELD_DERIVED			/* follows from the arrays; only on the wire */
} RaceFieldType;

#define RACE_CHOICES	8		/* numbers of a choice that are in use, and one more */

/*
 * A field of RaceParams, or an array that follows it
 *
 * The table of fields drives the text form, the constructor, the wire format, the limits of
 * each field, and the order of race_params.  To add a parameter: add the field to RaceParams
 * (in place of reserved bytes, or in the union of what only some kernels have), a line to the
 * table (kernels.c), and an argument to the constructor (params.sql).
 */
typedef struct RaceField
{
	const char *name;			/* in the text form and in messages */
	RaceFieldType type;
	bool		optional;		/* NULL in the constructor means: not stated, 0 */
	bool		shared;			/* only the first kernel of a product states it */
	bool		own;			/* other kernels may keep something else in its place */
	uint32_t	takes;			/* the RaceTakes of kernels that it applies to, or 0 for all */
	uint8_t		offset;			/* in RaceParams, and */
	uint8_t		size;			/* how many bytes; 0 for an array */
	uint8_t		wire;			/* position in the wire format of a part */
	RaceArray	array;			/* which array it is, or 0 */
	double		least;			/* limits of a number, or of the numbers of an array, */
	double		most;			/* or 0: there are none here */
	const char *what;			/* of a choice: what messages call it, */
	const char *names[RACE_CHOICES];	/* its names, but those of kernels, */
	const char *hint;			/* and a hint that lists them, or NULL */
} RaceField;

extern const RaceField race_fields[RACE_FIELDS];

/* The defaults, with which those of the constructor in SQL agree */
extern const RaceParams race_params_default;

/* Does a kernel take this field? */
extern bool race_field_applies(const RaceField *field, int kernel);

/* Does a part with this kernel keep the field in its place? */
extern bool race_field_is_stored(const RaceField *field, int kernel);

/* The bytes of a field that is no array, as an integer, and back; those of a double */
extern uint64_t race_field_bits(const RaceField *field, const RaceParams *part);
extern void race_field_set_bits(const RaceField *field, RaceParams *part, uint64_t bits);
extern double race_double_of_bits(uint64_t bits);

/* The name of a number of a choice; NULL if there is none */
extern const char *race_choice_name(RaceFieldNumber key, int number);

#define RACE_MAX_DIMS		16000
#define RACE_LONG_DIMS		256		/* vectors from here on are long */
#define RACE_MAX_POWER		1024
#define RACE_MAX_PARTS		4
#define RACE_MAX_MORE		((uint32_t) 1024 * 1024)

/* rows * range counters of 8 bytes, and what precedes them, stay within 256 MB */
#define RACE_MAX_SKETCH_BYTES	((uint64_t) 256 * 1024 * 1024)
#define RACE_MAX_HEADER_BYTES	4096	/* without arrays and parts */

/* row functions of one parameter value stay within 512 MB (race_rows_size) */
#define RACE_MAX_ROWS_BYTES		((uint64_t) 512 * 1024 * 1024)

/* Beyond these limits, coefficients or distances in bandwidths lose their meaning. */
#define RACE_MIN_BANDWIDTH	1e-100
#define RACE_MAX_BANDWIDTH	1e100
#define RACE_MAX_TRANSFORM	1e100
#define RACE_MAX_BOUND		1e300

/* Codes stay within +- this number.  A double holds integers up to four times as large. */
#define RACE_MAX_CODE		2251799813685248.0	/* 2^51 */

/* The size in bytes; the next part, or NULL after the last one; the number of parts */
extern size_t race_params_size(const RaceParams *params);
extern const RaceParams *race_params_next(const RaceParams *part,
										  const RaceParams *params);
extern int	race_params_parts(const RaceParams *params);

/*
 * The size in bytes of the arrays that a part says it has; the number of elements
 * of one of them, if it has it, its rows, and the numbers in each; its place, or NULL if the
 * part does not have it
 */
extern uint64_t race_arrays_size(const RaceParams *part);
extern uint32_t race_array_rows(const RaceParams *part, RaceArray array);
extern uint32_t race_array_columns(const RaceParams *part, RaceArray array);
extern uint64_t race_array_length(const RaceParams *part, RaceArray array);
extern const double *race_array(const RaceParams *part, RaceArray array);

/* Clip n numbers to the bounds of a part, which may have both, one or none. */
extern void race_vector_clip(const RaceParams *part, double *x, uint32_t n);

/* What kind of record a part has */
extern RaceRecordKind race_record_kind(const RaceParams *part);

/* How many columns a part has, a set being one; and all parts together */
extern uint32_t race_part_elements(const RaceParams *part);
extern uint32_t race_params_columns(const RaceParams *params);

/* Do all parts state their dims, if their kernel has dims? */
extern bool race_params_complete(const RaceParams *params);

/* The number of functions in a row, of all parts */
extern uint32_t race_params_functions(const RaceParams *params);

/*
 * The weakest sequence of all parts: RACE_SEQUENCE_INDEPENDENT if one part has it.  A grid
 * has no other parts.
 */
extern int	race_params_sequence(const RaceParams *params);

/*
 * What "auto" chooses.  A part has Sobol's sequence if there are enough dimensions: it needs
 * race_sobol_dimensions() of them, and other parts have taken so many already.  Else it is structured, if
 * it can be, or independent.  Codes are folded where they can be, because estimates then need no
 * correction.
 */
extern uint32_t race_sobol_dimensions(const RaceParams *part);
extern int	race_default_sequence(const RaceParams *part, uint32_t taken);
extern int	race_default_rehash(const RaceParams *params);

/*
 * Check parameters from outside, of `size` bytes. Returns NULL if they are valid.
 * Otherwise returns what is wrong, written into `message` (of `length` bytes).
 */
extern const char *race_params_problem(const RaceParams *params, size_t size,
									   char *message, size_t length);

/*
 * Records as they are hashed, of one part of the kernel.  Vectors: numbers, finite
 * and clipped.  Rows of categories: elements.  Sets: record i has the elements
 * starts[i] ... starts[i + 1] - 1.
 */
typedef struct RaceColumn
{
	const double *numbers;		/* [n][width] */
	const uint64_t *elements;	/* [n][width], or those of all sets */
	const size_t *starts;		/* [n + 1] */
	uint32_t	width;			/* length of a vector or row */
} RaceColumn;

/* The same column without its first i records */
extern RaceColumn race_column_from(const RaceColumn *column, size_t i);

/*
 * A question about a product may leave out parts of its record: what they are does not
 * matter, and their kernel is 1.  Such a part is a column without anything.
 */
static inline bool
race_column_is_any(const RaceColumn *column)
{
	return column->numbers == NULL && column->elements == NULL && column->starts == NULL;
}

/*
 * The 64 bits that stand for an element: an integer, or the bytes of a text. Two
 * different elements have different bits, except with a probability of 2^-64 over
 * seeds. To hash bytes can be interrupted.  A NULL in a row of categories stands for one of
 * two elements (RaceNulls): of a query that asks for what equals nothing, for the other.
 */
extern uint64_t race_element_of_integer(int64_t seed, int64_t value);
extern uint64_t race_element_of_bytes(int64_t seed, const void *bytes, size_t size);
extern uint64_t race_element_of_null(int64_t seed, bool equals_nothing);

/*
 * Row functions, made once for parameters in memory of the caller's, of race_rows_size() bytes.
 * race_rows_init() prepares them; race_rows_generate_all() draws all of them, and is interruptible;
 * race_rows_generate() draws function j (of all parts) of all rows of a block.  Rows lie in blocks of
 * RACE_LANES (counters.h), which are hashed together: a lane is a row.
 */

/* A part of the kernel */
typedef struct RaceRowsPart
{
	const RaceParams *params;
	uint32_t	function;		/* the number of its first one, counted over all parts */
	uint32_t	dimension;		/* of Sobol's sequence, its first */
	size_t		words;			/* of a function in a row */
	size_t		position;		/* of them in a block, in vectors of RACE_LANES */
	size_t		signs;			/* of sequences.h: the position of the first */
} RaceRowsPart;

typedef struct RaceRows
{
	RaceParams *params;			/* a copy, after this struct */
	int			parts;
	RaceRowsPart part[RACE_MAX_PARTS];
	size_t		blocks;			/* blocks of rows; the last one may have unused rows */
	size_t		block_words;	/* vectors of RACE_LANES words a block */
	uint32_t	together;		/* rows of the longest transform of sequences.h, or 0 */
	double	   *workspace;		/* [outputs][lanes] or [2][together], for transforms */
	double	   *coefficients;	/* [blocks][block_words][lanes] */
	uint64_t   *keys;			/* [blocks][1 + 2 * functions][lanes], multilinear */
	uint64_t   *signs;			/* [functions][groups of rows][words], sequences.h */
} RaceRows;

extern size_t race_rows_size(const RaceParams *params);
extern void race_rows_init(RaceRows *rows, const RaceParams *params);
extern void race_rows_generate(RaceRows *rows, size_t block, uint32_t j);
extern void race_rows_generate_all(RaceRows *rows);

/*
 * Word i of function j (of all parts) of a row, and key i of a row.  From one to
 * the next it is RACE_LANES further.  The words are, of a projection: its offset,
 * and a / w for each number; of a set's function: two keys of 32 bits; of a row of
 * categories: which of them; of a structured projection: its offset and its scale, or
 * nothing where only signs count.
 */
extern double *race_rows_coefficient(const RaceRows *rows, uint32_t row,
									 uint32_t j, uint32_t i);
extern uint64_t *race_rows_key(const RaceRows *rows, uint32_t row, uint32_t i);

/*
 * Hash n records, a column a part, with the functions of a block of rows: buckets[i * RACE_LANES + lane]
 * gets the bucket of record i.  Lanes beyond the last row are written too.  The buckets of
 * RACE_RECORDS_TOGETHER records stay in the nearest cache.
 */
#define RACE_RECORDS_TOGETHER	64

extern void race_rows_hash(const RaceRows *rows, size_t block,
						   const RaceColumn *columns, size_t n,
						   uint32_t *buckets);

/*
 * Do rows share so much work that a record should be hashed with all of them, by
 * race_rows_hash_one(), and not with a block at a time?
 */
extern bool race_rows_together(const RaceParams *params);

/*
 * The same for one record and the first n rows: buckets[row], in whole blocks of
 * RACE_LANES.  A set may be large, so this is interruptible.
 */
extern void race_rows_hash_one(const RaceRows *rows, uint32_t n,
							   const RaceColumn *columns, uint32_t *buckets);

/*
 * The vector code that race_rows_hash() can use: the name of number i, from 0 on, or
 * NULL after the last.  It uses the last that the machine has.  All give the same
 * bits.  race_hash_force() sets one that the machine has, or with "auto" the best.
 */
extern const char *race_hash_path_name(int i);
extern bool race_hash_has(const char *name);
extern void race_hash_force(const char *name);

/*
 * Return the probability that two different codes share a bucket, for which estimates are corrected.  It
 * is 0 where codes are folded: there distant codes do meet, but rarely (rows.c).
 */
extern double race_collision_probability(const RaceParams *params);

/*
 * In a typical table of so many records (kernels.c): the share of them that the kernel sums
 * to.  The expected variance of a kernel sum over so many rows, that comes from the rows
 * themselves, where the kernel sums to so many records
 */
extern double race_kernel_mass(double records);
extern double race_sampling_variance(const RaceParams *params, uint32_t rows, double mass);

#endif
