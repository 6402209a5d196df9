/*
 * greybox_tables_test.c
 *		An audit of releases of contingency tables from within, as greybox_test.c does it.
 *
 * Two tables that differ in the records of one person go through the code of a release, and get the
 * same noisy numbers (tape.h).  So both must measure the same tables, with the same noise.  Each
 * label has a release of its own.  Of a person with a records of the first table and b of the
 * second in a label:
 *
 * - the number of records, each score, and each table in L1 differ by at most a + b;
 * - each quality of a selection by that times its weight, which is 1 of sets of three columns;
 * - each table differs by at most a^2 + b^2 in L2, squared;
 * - each sum of signs of a pair of columns differs by at most a + b, and all P of C columns together
 *   by at most P (a^2 + b^2) + C a b in L2, squared;
 * - both ends of a column of n cells by (n - 1) (a + b), and in L2 squared by (n - 1)^2 (a^2 + b^2);
 * - the score of blocks of c cells differs by at most 2 (c - 1) (a + b);
 * - and all together cost at most (a + b) / 2m of epsilon or (a^2 + b^2) / 2m^2 of rho where
 * neighbors
 *   substitute m records, twice that where they add or remove them.  Of signs with Wishart noise,
 *   what they cost follows from its scale and from the trace of what a + b records add.
 *
 * A record that has a value without a cell is left out (race_cells), so that of m records fewer may
 * be counted, or none: where records are substituted, their number differs, too.
 *
 * The reference of scores is any function of released numbers, so here it is made up: shares and
 * errors that are random, or infinite, or no numbers.  All pairs of small tables are tried, and
 * random ones with hostile counts.
 */
#include <float.h>

#include "privacy/budget.h"
#include "privacy/cost.h"
#include "privacy/counters.h"
#include "privacy/ends.h"
#include "privacy/exact.h"
#include "privacy/exact_fields.h"
#include "privacy/noise.h"
#include "privacy/release_request.h"
#include "privacy/sampler.h"
#include "privacy/signs.h"
#include "privacy/wishart.h"
#include "hash/contingency.h"
#include "hash/params.h"
#include "choice/choose_tables.h"
#include "choice/plan.h"
#include "tap.h"
#include "tape.h"

#define ROUNDING 1e-9 /* of the sums of this test */
#define MOST_LABELS 3
#define MOST_COLUMNS 6
#define MOST_RECORDS 8
#define MOST_ROUNDS 8
#define MOST_WEIGHT (16 * 3 * 3 * 3 * 4) /* of columns and of what is asked, in units of a weight */
#define DELTA 1e-6
#define GUARD 4096 /* bytes behind a workspace, which are not touched */

/* ------------------------------------------------------------- the reference */

static struct
{
	uint64_t seed;
	const RaceMeasuring *measuring;
	int rounds;
	size_t starts[MOST_ROUNDS]; /* in the tape */
	size_t signs_end;           /* in the tape: of signs, which the first round follows; or 0 */
	uint32_t sign_columns;
	double signs_variance;
	bool looked; /* whether it was asked for tables while it had signs: they decide */
} reference;

static void *
begin_reference(const RaceMeasuring *measuring)
{
	const RaceContingency *tables = &measuring->tables;
	uint32_t columns[RACE_CONTINGENCY_COLUMNS];

	reference.measuring = measuring;
	if (tape.table == 0 && tables->signs != NULL)
	{
		reference.signs_end = tape.n;
		reference.sign_columns = race_contingency_signs(tables, columns);
		reference.signs_variance = tables->signs[0];
	}
	if (tape.table == 0 && reference.rounds < MOST_ROUNDS)
		reference.starts[reference.rounds++] = tape.n;
	return &reference;
}

static void
table_of_reference(void *state, const RaceTable *table, double *shares)
{
	static const double hostile[] = {INFINITY, -INFINITY, NAN, -1, DBL_MAX, 5e-324, 0, 1e18};
	const RaceContingency *tables = &reference.measuring->tables;
	size_t n = (size_t) race_contingency_groups(tables, table->first) *
		race_contingency_groups(tables, table->second) *
		(table->third != table->second ? race_contingency_groups(tables, table->third) : 1);

	(void) state;
	reference.looked |= tables->signs != NULL;
	for (size_t i = 0; i < n; i++)
	{
		uint64_t bits = mix(reference.seed + table->first * 1000003 + table->second * 10007 +
							table->third * 101 + i);

		shares[i] = reference.seed % 4 == 0 && bits % 3 == 0 ? hostile[bits / 3 % 8] :
															   (signed_unit(bits) + 1) / (double) n;
	}
}

static void
end_reference(void *state)
{
	(void) state;
}

/* Errors that show dependence, or none; or nothing that makes sense */
static void
errors_of_reference(void *state, double second, RaceReferenceErrors *errors)
{
	static const double hostile[] = {INFINITY, -INFINITY, NAN, -1, DBL_MAX, 5e-324, 0, 1e18};
	double *numbers[] = {&errors->explained, &errors->blur, &errors->first, &errors->second};

	(void) state;
	for (uint64_t i = 0; i < 4; i++)
	{
		uint64_t bits = mix(reference.seed * 7 + i);

		*numbers[i] = reference.seed % 4 == 0 && bits % 3 == 0 ?
			hostile[bits / 3 % 8] :
			(signed_unit(bits) + 1) / (i == 0 ? 2 : 20) * (i == 3 ? second : 1);
	}
}

static uint32_t
particles_of_reference(uint32_t columns, uint64_t cells)
{
	return 1000 + columns + (uint32_t) (cells % 1000);
}

static const RaceReference made_up = {.begin = begin_reference,
									  .table = table_of_reference,
									  .errors = errors_of_reference,
									  .end = end_reference,
									  .particles = particles_of_reference};

/* -------------------------------------------------------------------- tables */

typedef struct Kind
{
	RaceParams *params;
	RaceContingency tables;
	size_t one_ways; /* counters of tables of one column */
	uint32_t pairs;
	void *workspace;
	void *counting;
	RaceShape shape;
	size_t *ends; /* of the shape */
	int64_t *exact;
	size_t bytes;
	int64_t *out[2]; /* counters, then numbers of parameters, in so many bytes */
} Kind;

typedef struct Setting
{
	double delta;
	RaceNeighbors neighbors;
	uint32_t records; /* of a person, m */
	int labels;
	bool share;
	uint32_t weight_max; /* 0: without weights */
} Setting;

typedef struct Records
{
	int n;
	double x[MOST_RECORDS][MOST_COLUMNS];
	int64_t weight[MOST_RECORDS];
} Records;

/* What both tables have in a label, and what one of them has besides */
typedef struct Pair
{
	Records base[MOST_LABELS];
	Records own[2][MOST_LABELS];
	uint64_t forged; /* 0, or which counters of both are as large as they may be */
} Pair;

/* Append a set of columns to a workload: the first, two or three. */
static void
ask_for(RaceParams *params, uint32_t first, uint32_t second, uint32_t third)
{
	double *row = (double *) (params + 1) + RACE_TABLE_NUMBERS * params->tables.workload++;

	row[0] = first;
	row[1] = second + RACE_CONTINGENCY_COLUMNS * third;
	row[2] = 1 + params->tables.workload % 4;
	params->arrays |= RACE_ARRAY_WORKLOAD;
}

/* Some sets of three columns, or all of few columns, and one of two */
static void
make_workload(RaceParams *params, uint32_t columns)
{
	for (uint32_t i = 0; i < columns; i++)
		for (uint32_t j = i + 1; j < columns; j++)
			for (uint32_t k = j + 1; k < columns; k++)
				if (columns < 5 || mix(i * 100 + j * 10 + k) % 4 == 0)
					ask_for(params, i, j, k);
	if (columns > 2)
		ask_for(params, 0, columns - 1, 0);
}

static void
make_kind(Kind *kind, uint32_t dims, const double *cells, const double *size, const double *single,
		  bool asked, bool alike, bool searched, bool sums)
{
	RaceParams *params = allocate(
		sizeof(RaceParams) +
		((3 + RACE_GROUP_NUMBERS) * dims + RACE_TABLE_NUMBERS * RACE_WORKLOAD) * sizeof(double));
	double *numbers;
	char message[300];

	memset(kind, 0, sizeof(Kind));
	params->kind = RACE_KIND_TABLES;
	params->sequence = RACE_SEQUENCE_INDEPENDENT;
	params->rehash = RACE_REHASH_FOLD;
	params->arrays = RACE_ARRAY_CELLS | RACE_ARRAY_GROUPS | (sums ? RACE_ARRAY_ENDS : 0);
	params->dims = dims;
	params->bandwidth = 1;
	params->power = 1;
	params->rows = 1;
	if (asked)
		make_workload(params, size[dims - 1] > 0 ? dims : dims - 1);
	numbers = (double *) (params + 1) + RACE_TABLE_NUMBERS * params->tables.workload;
	params->more =
		(uint32_t) ((char *) (numbers + (1 + RACE_GROUP_NUMBERS + searched + sums) * dims) -
					(char *) (params + 1));
	params->arrays |= searched ? RACE_ARRAY_SEARCHED : 0;
	for (uint32_t j = 0; j < dims; j++)
	{
		numbers[j] = cells[j];
		numbers[dims + j] = size[j];
		numbers[2 * dims + j] = single[j];
		numbers[3 * dims + j] = size[j] > 0 && !alike ? 1 + j % 3 : 1;
		numbers[4 * dims + j] = size[j] > 1;
		if (searched)
			numbers[5 * dims + j] = size[j] > 0 &&
				ceil((cells[j] - single[j]) / size[j]) + single[j] <= RACE_SEARCHED_GROUPS;
		/* sums that are asked for, or not */
		if (sums)
			numbers[(5 + searched) * dims + j] = cells[j] < single[j] + 2 || j % 3 == 1 ? 0 : 2 + j;
	}
	kind->params = params;
	race_contingency_of(params, &kind->tables);
	for (uint32_t j = 0; j < kind->tables.columns; j++)
		kind->one_ways += (size_t) cells[j] * kind->tables.parts;
	params->range = race_contingency_counters(&kind->tables);
	if (race_contingency_problem(params, message, sizeof(message)) != NULL)
		abort();
	kind->pairs = kind->tables.columns * (kind->tables.columns - 1) / 2;
	kind->workspace = allocate(race_draw_workspace(params) + GUARD);
	memset((char *) kind->workspace + race_draw_workspace(params), 0x5a, GUARD);
	kind->counting = allocate(race_contingency_workspace(params, 1));
	kind->ends = allocate(race_shape_ends(params) * sizeof(size_t));
	race_shape_of(params, kind->ends, &kind->shape);
	kind->exact = allocate(params->range * sizeof(int64_t));
	kind->bytes =
		(params->range + kind->pairs +
		 RACE_TABLE_NUMBERS * (dims + kind->pairs + kind->tables.triples + kind->tables.sets) +
		 kind->one_ways + 1 + 2 * dims) *
		sizeof(int64_t);
	for (uint32_t j = 0; j < 2; j++)
		kind->out[j] = allocate(kind->bytes);
}

/* Was anything written behind the workspace? */
static bool
is_beyond(const Kind *kind)
{
	const char *guard = (const char *) kind->workspace + race_draw_workspace(kind->params);
	bool beyond = false;

	for (int i = 0; i < GUARD; i++)
		beyond |= guard[i] != 0x5a;
	return beyond;
}

static void
free_kind(Kind *kind)
{
	free(kind->params);
	free(kind->workspace);
	free(kind->counting);
	free(kind->ends);
	free(kind->exact);
	free(kind->out[0]);
	free(kind->out[1]);
}

/* Count records; returns how many there are. */
static int64_t
count_records(const Kind *kind, const Records *records)
{
	int64_t count = 0;
	RaceCounterArray counters = {kind->exact, 8};

	for (int i = 0; i < records->n; i++)
	{
		race_contingency_count(kind->params, records->x[i], 1, records->weight[i], counters,
							   kind->counting);
		count += records->weight[i];
	}
	return count;
}

/* Counters that no records have, but a value from outside: half of them are near their limits. */
static void
forge_counters(const Kind *kind, uint64_t number)
{
	for (uint32_t i = 0; i < kind->params->range; i++)
	{
		uint64_t bits = mix(number + i);

		if (bits % 4 < 2)
			kind->exact[i] = bits % 4 == 0 ? -RACE_MAX_COUNT : RACE_MAX_COUNT - MOST_RECORDS;
	}
}

/* ------------------------------------------------------------------ releases */

static bool
plays(const Kind *kind, const Setting *setting, const RaceRequest *request, const RaceExact *exact,
	  RacePlan *plan)
{
	static const RaceFederation federation = {5, 1, 1};
	uint64_t position = 0;
	RaceRandom random = {fill_from_pattern, &position, 0, {0}};
	RaceRelease release = {.exact = exact,
						   .params = kind->params,
						   .request = request,
						   .workspace = kind->workspace};
	int64_t count;
	bool paid = (setting->share ? race_share_begin(&release, &random, &federation, &count) :
								  race_release_begin(&release, &random, &count)) &&
		race_release_counters(&release, kind->out[tape.table]);

	*plan = release.plan;
	return paid;
}

/* What was met, and the most that neighbors are apart, in parts of what they may be */
static struct
{
	long pairs;      /* of tables, */
	long measured;   /* of columns that were measured, */
	long triples;    /* and of three columns, */
	long unmeasured; /* and releases without any */
	long joined;
	long rounds;
	long again;
	long selections;
	long searches;
	double contrast;   /* of what a contrast may differ by */
	double quality;    /* of what a quality may differ by, with the largest weight */
	double cost[2][2]; /* by delta and neighbors */
	double count;
	double table[2][2];
	double scores[2][2];
	double unevenness[2]; /* by delta: scores of blocks, */
	long blocks;          /* which were told by so many, */
	long cells;           /* and which by so many were not */
	double ends[2][2];    /* by delta and neighbors */
	double signs[2][2];   /* by delta and neighbors, */
	long sign_sums;       /* of so many releases with signs, */
	long wishart;         /* so many of which had Wishart noise, */
	long dependent;       /* and so many of which went on by signs; */
	long outdone;         /* of which left them out after that; */
	long looks;           /* of these, so many looked at pairs, */
	long sign_tables;     /* and measured so many tables */
	double both;          /* scores where as many records come as go */
	long exact;           /* plans of the exact account */
	long left_out; /* pairs that substitute records, all of which are left out in one table */
	bool same;
	bool near;
	bool right;   /* what is stated is what was drawn */
	bool outside; /* something was written behind a workspace */
} met;

/* The records that a person has in a label, and what the numbers of a release may differ by */
typedef struct Sides
{
	bool gaussian;
	int substitute;
	double unit;    /* of counters */
	uint32_t bits;  /* digits of weights */
	double sum;     /* a + b */
	double squares; /* a^2 + b^2 */
	double product; /* a b */
	bool both;
	bool forged;
} Sides;

static double
difference(const Draw *draw)
{
	return fabs((double) ((__int128) draw->value[0] - draw->value[1]));
}

/* The distance of n numbers from `from` on, in L1 or squared in L2, in parts of a limit */
static double
part_of(const Sides *sides, size_t from, size_t n, double limit)
{
	double sum = 0;

	if (from + n > tape.n)
	{
		met.near = false; /* something got no noise */
		return 0;
	}
	for (size_t i = from; i < from + n; i++)
		sum += sides->gaussian ? pow(difference(&tape.draws[i]), 2) : difference(&tape.draws[i]);
	if (sum > limit * (1 + ROUNDING))
		met.near = false;
	return limit > 0 ? sum / limit : 0;
}

static void
look_at_table(const Sides *sides, size_t from, size_t n)
{
	double *most = &met.table[sides->gaussian][sides->substitute];

	*most = fmax(*most,
				 part_of(sides, from, n,
						 sides->gaussian ? sides->squares * sides->unit * sides->unit :
										   sides->sum * sides->unit));
}

static void
look_at_scores(const Sides *sides, size_t from, uint32_t pairs)
{
	double *most = &met.scores[sides->gaussian][sides->substitute];
	double l1 = sides->sum * sides->unit;
	double limit = sides->gaussian ? l1 * l1 : l1;
	double part = part_of(sides, from, pairs, pairs * limit);

	for (uint32_t i = 0; i < pairs; i++)
		part_of(sides, from + i, 1, limit);
	*most = fmax(*most, part);
	met.both = fmax(met.both, sides->both ? part : 0);
}

/*
 * The score of blocks, which comes before a column's table: it has another noise.  Without blocks
 * their size is not told.
 */
static bool
look_at_blocks(const Sides *sides, const RaceTable *table, size_t from)
{
	double l1 = 2 * (table->block - 1) * sides->sum;

	if (table->cells == 1 || from + 1 >= tape.n ||
		tape.draws[from].noise == tape.draws[from + 1].noise)
		return false;
	met.cells += table->block == 1;
	met.blocks += table->block > 1;
	if (table->block > 1)
		met.unevenness[sides->gaussian] =
			fmax(met.unevenness[sides->gaussian],
				 part_of(sides, from, 1, sides->gaussian ? l1 * l1 : l1));
	return true;
}

/* The numbers of the table of a column, whose blocks are one each */
static size_t
numbers_of(const Kind *kind, const RaceTable *table)
{
	size_t n = 0;

	for (uint32_t i = 0; i < table->cells; i++)
		n += race_contingency_block(table, i) == i ? kind->tables.parts : 0;
	return n;
}

/* The numbers of the tables of all columns, without scores */
static size_t
numbers_of_columns(const Kind *kind, const RaceContingency *result)
{
	RaceTable table;
	size_t n = 0;

	race_contingency_first(result, &table);
	do
		n += numbers_of(kind, &table) + (table.ends > 0 ? RACE_ENDS : 0);
	while (race_contingency_next(result, &table) && table.first == table.second);
	return n;
}

/* The ends of a column, which come after its table; returns how many numbers they are. */
static size_t
look_at_ends(const Sides *sides, const RaceTable *table, size_t from)
{
	double *most = &met.ends[sides->gaussian][sides->substitute];
	double unit = (table->ordinary - 1) * sides->unit;

	if (table->ends == 0)
		return 0;
	*most = fmax(*most,
				 part_of(sides, from, RACE_ENDS,
						 sides->gaussian ? sides->squares * unit * unit : sides->sum * unit));
	return RACE_ENDS;
}

/* The tables of all columns of a release from a place on; returns where they end. */
static size_t
look_at_columns(const Kind *kind, const Sides *sides, const RaceContingency *result, size_t from)
{
	RaceTable table;

	race_contingency_first(result, &table);
	do
	{
		size_t n = numbers_of(kind, &table);

		from += look_at_blocks(sides, &table, from);
		look_at_table(sides, from, n);
		from += n;
		from += look_at_ends(sides, &table, from);
	} while (race_contingency_next(result, &table) && table.first == table.second);
	return from;
}

/* Do signs have Wishart noise?  Else their variance is that of what a sum got. */
static bool
is_wishart(void)
{
	double variance;

	if (reference.signs_end == 0 ||
		tape.draws[reference.signs_end - 1].mechanism != RACE_MECHANISM_LAPLACE)
		return false;
	variance = race_discrete_laplace_variance(tape.draws[reference.signs_end - 1].noise);
	return reference.signs_variance != variance;
}

/* The bits that sums of signs have besides with Wishart noise, so that a unit has 2^18 or more */
static int
finer_bits(double unit)
{
	int bits = 0;

	while (is_wishart() && ldexp(unit, bits) < 0x1p18)
		bits++;
	return bits;
}

/*
 * Do signs decide which tables are measured?  They may be left out after that, where tables are known
 * better.
 */
static bool
do_signs_decide(const RaceContingency *result)
{
	return reference.signs_end > 0 && (result->signs != NULL || reference.looked);
}

/*
 * The sums of signs, which come before the reference begins.  Its first round is none where they do
 * not decide.  Returns where they end.
 */
static size_t
look_at_signs(const Sides *sides, const RaceContingency *result, size_t from)
{
	uint64_t pairs = race_signs_pairs(reference.sign_columns);
	double one = ldexp(sides->unit, finer_bits(sides->unit));
	double limit = sides->gaussian ?
		((double) pairs * sides->squares + reference.sign_columns * sides->product) * one * one :
		(double) pairs * sides->sum * one;
	double each = sides->gaussian ? pow(sides->sum * one, 2) : sides->sum * one;
	double *most = &met.signs[sides->gaussian][sides->substitute];

	if (reference.signs_end == 0)
	{
		met.near &= result->signs == NULL;
		return from;
	}
	met.near &= from + pairs == reference.signs_end;
	for (uint32_t i = 0; i < pairs; i++)
		part_of(sides, from + i, 1, each);
	*most = fmax(*most, part_of(sides, from, pairs, limit));
	met.sign_sums++;
	met.wishart += is_wishart();
	met.dependent += do_signs_decide(result);
	for (int k = 1; !do_signs_decide(result) && k < reference.rounds; k++)
		reference.starts[k - 1] = reference.starts[k];
	reference.rounds -= !do_signs_decide(result);
	return from + pairs;
}

/* Return how many draws of the tape, from one on, are selections. */
static size_t
selections_from(size_t from)
{
	size_t n = 0;

	while (from + n < tape.n && tape.draws[from + n].n > 0)
		n++;
	return n;
}

/*
 * A quality is a score times a weight, of which the largest is paid for: neighbors change it by that
 * multiple of what they change a score, at most, and some by all of it.
 */
static void
look_at_qualities(const Sides *sides, size_t from, size_t n)
{
	double change = 2 * sides->sum * sides->unit;

	for (size_t i = from; i < from + n && change > 0; i++)
	{
		double part = difference(&tape.draws[i]) / change / MOST_WEIGHT;

		met.selections++;
		met.near &= part <= 1;
		met.quality = fmax(met.quality, part);
	}
}

/*
 * The selections of a search, whose weights are 1: those before signs, or before scores.  Of a pure
 * release those of tables may follow, whose weights are larger.
 */
static size_t
look_at_search(const Sides *sides, const RaceContingency *result, size_t from)
{
	size_t n = selections_from(from);
	double change = 2 * sides->sum * sides->unit;

	if (result->sets == 0 || (!sides->gaussian && reference.signs_end == 0))
		return from;
	for (size_t i = from; i < from + n && change > 0; i++)
	{
		double part = difference(&tape.draws[i]) / change;

		met.searches++;
		met.near &= part <= 1;
		met.contrast = fmax(met.contrast, part);
	}
	return from + n;
}

/* Return whether columns were drawn again, if so many draws are neither of the first round. */
static bool
are_drawn_again(const Kind *kind, const Sides *sides, const RaceContingency *result, size_t left)
{
	RaceTable table;
	uint64_t noise;

	race_contingency_first(result, &table);
	/* a score of blocks may come first, and has other noise than the next two numbers */
	noise = tape.draws[table.cells > 1 && tape.n > 2 ? 2 : 1].noise;
	/* what was drawn twice has less variance than its first noise */
	return left >= numbers_of_columns(kind, result) &&
		result->measured[2] !=
		race_weighted_variance(
			(sides->gaussian ? (double) noise : race_discrete_laplace_variance(noise)) /
				table.block,
			sides->bits);
}

/* The number of counters of tables of several columns */
static size_t
counters_of_several(const Kind *kind, const RaceContingency *result)
{
	return race_contingency_signs_at(result) - kind->one_ways;
}

/* The sum over the exact table of a pair of the second table, times the signs of its groups */
static int64_t
exact_sum(const Kind *kind, const RaceContingency *result, const RaceTable *pair)
{
	const int64_t *counter = kind->exact + pair->at;
	int64_t sum = 0;

	for (size_t i = 0; i < pair->cells; i++)
		for (uint32_t part = 0; part < kind->tables.parts; part++)
		{
			const uint32_t columns[] = {pair->first, pair->second};
			int64_t product = *counter++;

			for (int k = 0; k < 2; k++)
			{
				uint32_t j = columns[k];
				size_t group = race_contingency_place(pair, j, i);

				product *= group >= race_contingency_finest(result, j) -
							(size_t) kind->tables.groups[kind->tables.dims + j] ?
					0 :
					group < result->signs[1 + j] ? -1 :
												   1;
			}
			sum = race_clamped_sum(sum, product);
		}
	return sum;
}

/* Are the sums of signs of the columns that have any, and nothing else, what got noise and was kept? */
static bool
are_sums(const Kind *kind, const Sides *sides, const RaceContingency *result)
{
	const Draw *draw = &tape.draws[reference.signs_end - race_signs_pairs(reference.sign_columns)];
	const int64_t *kept = kind->out[0] + race_contingency_signs_at(result);
	RaceTable pair;
	bool are = result->signs[0] == race_weighted_variance(reference.signs_variance, sides->bits);

	race_contingency_first(&kind->tables, &pair);
	/* bound: the tables */
	while (race_contingency_next(&kind->tables, &pair))
		if (pair.first != pair.second && pair.second == pair.third &&
			result->signs[1 + pair.first] > 0 && result->signs[1 + pair.second] > 0)
		{
			int64_t sum = exact_sum(kind, result, &pair);

			/* where counters are near their limits, sums are clamped in another order */
			if (!is_wishart() && llabs(sum) < RACE_MAX_COUNT / 64 && !sides->forged)
				are &= draw->value[1] == sum &&
					*kept ==
						race_shift_rounded(race_clamped_sum(draw->answer, 0), (int) sides->bits);
			draw++;
			kept++;
		}
	return are && draw == &tape.draws[reference.signs_end];
}

/* Has the first column the variance of the mean of both draws, the second of which begins here? */
static bool
is_variance_of_both(const Sides *sides, const RaceContingency *result, size_t at)
{
	RaceTable table;
	double variance[2];

	race_contingency_first(result, &table);
	for (int k = 0; k < 2; k++)
	{
		uint64_t noise = tape.draws[k == 1 ? at : table.cells > 1 && tape.n > 2 ? 2 : 1].noise;

		variance[k] = sides->gaussian ? (double) noise : race_discrete_laplace_variance(noise);
	}
	variance[0] =
		(variance[0] * variance[1] / (variance[0] + variance[1]) + 1.0 / 12) / table.block;
	return fabs(result->measured[2] / race_weighted_variance(variance[0], sides->bits) - 1) < 1e-9;
}

/*
 * Tell the numbers of a tape apart where signs decide: looks at all pairs, and the tables of some.
 * Then tables of columns may come again.
 */
static void
look_by_signs(const Kind *kind, const Sides *sides, const RaceContingency *result, size_t at)
{
	size_t left = tape.n - at - counters_of_several(kind, result);
	bool again = are_drawn_again(kind, sides, result, left);
	RaceTable table;
	bool more = true;

	left -= again ? numbers_of_columns(kind, result) : 0;
	met.again += again;
	met.near &= left == 0 || left == kind->pairs;
	if (left > 0)
	{
		look_at_scores(sides, at, kind->pairs);
		at += kind->pairs;
		met.looks++;
	}
	race_contingency_first(result, &table);
	/* bound: the tables */
	while ((more = race_contingency_next(result, &table)))
	{
		if (table.first == table.second)
			continue;
		look_at_table(sides, at, table.cells * kind->tables.parts);
		at += table.cells * kind->tables.parts;
		met.sign_tables++;
	}
	met.outdone += result->signs == NULL;
	met.right &= (result->signs == NULL || are_sums(kind, sides, result)) &&
		(!again || is_variance_of_both(sides, result, at));
	if (again)
		at = look_at_columns(kind, sides, result, at);
	met.near &= at == tape.n;
}

/*
 * Tell the numbers of a tape of a pure release apart.  After the count and the tables of columns,
 * rounds of selections are followed by the tables that they picked; tables without selections come
 * first.  Then tables of columns may come again.
 */
static void
look_at_selections(const Kind *kind, const Sides *sides, const RaceContingency *result)
{
	size_t at = look_at_signs(
		sides, result, look_at_search(sides, result, look_at_columns(kind, sides, result, 1)));
	size_t left = tape.n - at;
	bool again;
	RaceTable table;
	bool more = true;

	if (do_signs_decide(result))
	{
		look_by_signs(kind, sides, result, at);
		return;
	}
	race_contingency_first(result, &table);
	while (table.first == table.second && more)
		more = race_contingency_next(result, &table);
	for (size_t i = at; i < tape.n; i++)
		left -= tape.draws[i].n > 0;
	left -= counters_of_several(kind, result);
	again = are_drawn_again(kind, sides, result, left);
	while (more || selections_from(at) > 0)
	{
		size_t n = selections_from(at);

		met.rounds += n > 0;
		look_at_qualities(sides, at, n);
		at += n;
		if (n > 0)
			continue;
		met.triples += table.third != table.second;
		look_at_table(sides, at, table.cells * kind->tables.parts);
		at += table.cells * kind->tables.parts;
		more = race_contingency_next(result, &table);
	}
	if (again)
		at = look_at_columns(kind, sides, result, at);
	met.again += again;
	met.near &= at == tape.n;
}

/*
 * Tell the numbers of a tape apart.  After the count and the tables of columns, rounds of scores
 * are followed by the tables of the pairs that they chose; the reference noted where rounds begin,
 * but for those before any pair was measured.  The pairs of a label take the place of the first
 * round.  Then tables of columns may come again.
 */
static void
look_at_draws(const Kind *kind, const Sides *sides, const RaceContingency *result)
{
	size_t at = look_at_signs(
		sides, result, look_at_search(sides, result, look_at_columns(kind, sides, result, 1)));
	size_t left = tape.n - at;
	bool again;
	const uint32_t scores[] = {kind->pairs, kind->pairs + kind->tables.triples};
	int rounds;
	int round;
	int noted = 0;
	RaceTable table;
	bool more = true;

	met.count = fmax(met.count,
					 part_of(sides, 0, 1, sides->gaussian ? sides->sum * sides->sum : sides->sum));
	if (do_signs_decide(result))
	{
		look_by_signs(kind, sides, result, at);
		return;
	}
	race_contingency_first(result, &table);
	while (table.first == table.second && more)
		more = race_contingency_next(result, &table);
	left -= counters_of_several(kind, result);
	again = are_drawn_again(kind, sides, result, left);
	left -= again ? numbers_of_columns(kind, result) : 0;
	rounds = left == 0 ? 0 : left == scores[0] || left == scores[1] ? 1 : 2;
	round = rounds == 1 && left == scores[1];
	if (tape.n < at || (rounds == 2 && left != scores[0] + scores[1]))
	{
		met.near = false;
		return;
	}
	met.measured += result->n_measured - result->columns;
	met.unmeasured += result->n_measured == result->columns;
	met.joined += result->joined != NULL && race_contingency_counters(result) < kind->params->range;
	met.rounds += rounds;
	met.again += again;
	for (; rounds > reference.rounds; rounds--, at += scores[round++])
		look_at_scores(sides, at, scores[round]);
	while (more || noted < rounds)
	{
		if (noted < rounds && reference.starts[noted] == at)
		{
			look_at_scores(sides, at, scores[round]);
			at += scores[round++];
			noted++;
			continue;
		}
		if (!more)
		{
			met.near = false;
			return;
		}
		met.triples += table.third != table.second;
		look_at_table(sides, at, table.cells * kind->tables.parts);
		at += table.cells * kind->tables.parts;
		more = race_contingency_next(result, &table);
	}
	if (again)
		at = look_at_columns(kind, sides, result, at);
	met.near &= at == tape.n;
}

/*
 * The cost of signs with Wishart noise: of the trace of what records add, of what hides how each
 * entry is rounded, and of the steps of normal numbers.
 */
static double
cost_of_wishart(const Kind *kind, const Sides *sides)
{
	uint32_t columns = reference.sign_columns;
	int finer = finer_bits(sides->unit);
	const Draw *entry = &tape.draws[reference.signs_end - 1];
	double variance = ldexp(reference.signs_variance - 1.0 / 12, 2 * finer) -
		race_discrete_laplace_variance(entry->noise);
	double scale = floor(sqrt(variance / 2 / (columns + 1)) + 0.5);
	double one = ldexp((double) kind->tables.unit, finer);

	return sides->sum *
		(columns * one / (2 * scale) +
		 (double) (race_wishart_rounding(columns, (uint64_t) scale) *
				   race_products_counters(columns)) *
			 RACE_SCALE_DENOMINATOR / (double) entry->noise +
		 race_wishart_steps(columns));
}

/* The cost of a selection in an account of Gaussian noise */
static double
cost_of_search(const Draw *draw)
{
	return acos(-1) / 4 * pow(difference(draw) * RACE_SCALE_DENOMINATOR / (double) draw->noise, 2);
}

/* The cost of all numbers, in parts of what the release says that m records cost */
static double
cost_of(const Kind *kind, const Setting *setting, const Sides *sides, const RacePlan *plan)
{
	double cost = is_wishart() ? cost_of_wishart(kind, sides) : 0;
	size_t end = is_wishart() ? reference.signs_end : 0;
	size_t begin = end - (end > 0 ? race_signs_pairs(reference.sign_columns) : 0);

	for (size_t i = 0; i < tape.n; i++)
	{
		double noise = (double) tape.draws[i].noise;

		if (i >= begin && i < end)
			continue;
		cost += plan->noise.mechanism != RACE_MECHANISM_GAUSSIAN ?
			difference(&tape.draws[i]) * RACE_SCALE_DENOMINATOR / noise :
			tape.draws[i].n > 0 ? cost_of_search(&tape.draws[i]) :
								  pow(difference(&tape.draws[i]), 2) / (2 * noise);
	}
	/* of a sum of five shares, one colludes and one is missing */
	return cost / (setting->share ? 3 : 1) /
		(plan->noise.mechanism == RACE_MECHANISM_GAUSSIAN ? plan->noise.rho : plan->noise.epsilon);
}

/*
 * Does the plan cost no more than the epsilon that was asked, in zCDP or, with the noise of a
 * person's `part` of the cost, by the exact account?
 */
static bool
account_holds(const Setting *setting, const RaceRequest *request, const RacePlan *plan, double part)
{
	double cost = 0;

	if (setting->delta == 0 ||
		race_epsilon_of_rho(plan->noise.rho, setting->delta) <= request->epsilon * (1 + ROUNDING))
		return true;
	for (size_t i = 0; i < tape.n; i++)
		cost += tape.draws[i].n > 0 ? cost_of_search(&tape.draws[i]) :
									  pow(difference(&tape.draws[i]), 2) /
				(2 * ((double) tape.draws[i].noise - RACE_GAUSSIAN_ROUNDING));
	met.exact++;
	return setting->neighbors == RACE_NEIGHBORS_ADD_REMOVE && !setting->share &&
		cost <= part * race_gaussian_allowed(request->epsilon, setting->delta) * (1 + ROUNDING);
}

/* Write what was measured behind the counters, to compare it. */
static void
note_measured(const Kind *kind, const RacePlan *plan)
{
	double *to = (double *) (kind->out[tape.table] + kind->params->range + kind->pairs);
	const RaceContingency *result;

	if (plan->selection.tables == NULL)
		return;
	result = &plan->selection.tables->tables;
	memcpy(to, result->measured, result->n_measured * RACE_TABLE_NUMBERS * sizeof(double));
	to += result->n_measured * RACE_TABLE_NUMBERS;
	if (result->joined != NULL)
		memcpy(to, result->joined, result->n_joined * sizeof(double));
	to += result->n_joined;
	if (result->signs != NULL)
		memcpy(to, result->signs, result->n_signs * sizeof(double));
	to += result->n_signs;
	if (result->ends != NULL)
		memcpy(to, result->ends, result->columns * sizeof(double));
}

/* The records of a person in a label, by their weights */
static double
sum_of_weights(const Records *records)
{
	double sum = 0;

	for (int i = 0; i < records->n; i++)
		sum += (double) records->weight[i];
	return sum;
}

static void
compare_label(const Kind *kind, const Setting *setting, const RaceRequest *request,
			  const Pair *pair, int label)
{
	double a = sum_of_weights(&pair->own[0][label]);
	double b = sum_of_weights(&pair->own[1][label]);
	double m =
		(double) setting->records * (setting->weight_max > 0 ? race_largest_weight(request) : 1);
	Sides sides = {setting->delta > 0,
				   setting->neighbors == RACE_NEIGHBORS_SUBSTITUTE,
				   (double) kind->tables.unit,
				   request->weight_bits,
				   a + b,
				   a * a + b * b,
				   a * b,
				   a == b,
				   pair->forged > 0};
	double part =
		(setting->delta > 0 ? sides.squares / (m * m) : sides.sum / m) / (sides.substitute ? 2 : 1);
	double *most = &met.cost[sides.gaussian][sides.substitute];
	RacePlan plan[2];
	double cost;

	reference.rounds = 0;
	reference.signs_end = 0;
	reference.looked = false;
	for (int table = 0; table < 2; table++)
	{
		RaceExactMemory memory;
		RaceExact *exact = race_exact_begin(&memory, &kind->shape);
		int64_t count;

		memset(kind->exact, 0, kind->params->range * sizeof(int64_t));
		memset(kind->out[table], 0, kind->bytes);
		count = count_records(kind, &pair->base[label]);
		if (pair->forged > 0)
			forge_counters(kind, pair->forged);
		count += count_records(kind, &pair->own[table][label]);
		race_exact_add(exact, kind->exact, 8, count, 1);
		start_table(table);
		if (!plays(kind, setting, request, exact, &plan[table]))
			abort();
		note_measured(kind, &plan[table]);
	}
	met.same &= tape.same && tape.next == tape.n && same_plans(&plan[0], &plan[1]) &&
		memcmp(kind->out[0], kind->out[1], kind->bytes) == 0;
	if (!setting->share)
		(sides.gaussian ? look_at_draws : look_at_selections)(kind, &sides,
															  &plan[1].selection.tables->tables);
	cost = cost_of(kind, setting, &sides, &plan[0]);
	met.near &= cost <= part * (1 + ROUNDING) && plan[0].noise.epsilon <= request->epsilon &&
		account_holds(setting, request, &plan[0], part);
	*most = fmax(*most, part > 0 ? cost / part : 0);
}

static void
compare(const Kind *kind, const Setting *setting, const RaceRequest *request, const Pair *pair)
{
	reference.seed = (uint64_t) met.pairs++;
	for (int label = 0; label < setting->labels; label++)
		compare_label(kind, setting, request, pair, label);
	met.left_out += setting->neighbors == RACE_NEIGHBORS_SUBSTITUTE && setting->labels == 1 &&
		(pair->own[0][0].n == 0) != (pair->own[1][0].n == 0);
}

static RaceRequest
make_request(const Kind *kind, const Setting *setting, double epsilon)
{
	RaceRequest request = {0};

	request.epsilon = epsilon;
	request.delta = setting->delta;
	request.max_contributions = setting->records;
	request.neighbors = setting->neighbors;
	if (setting->weight_max > 0 &&
		!race_request_weights(&request, kind->params, setting->weight_max))
		abort();
	return request;
}

/* --------------------------------------------------------------------- pairs */

static void
add_record(const Kind *kind, Records *records, uint64_t place, int64_t weight)
{
	uint32_t j;

	static const double measures[] = {
		0, 1, RACE_MEASURE_UNIT / 2 - 0.5, RACE_MEASURE_UNIT, 2 * RACE_MEASURE_UNIT, -1};

	for (j = 0; j < kind->tables.columns; j++)
		records->x[records->n][j] =
			(double) (mix(place * 100 + j) % (uint64_t) kind->tables.cells[j]);
	if (kind->tables.parts > 1)
		records->x[records->n][j] = measures[mix(place * 100 + j) % 6];
	records->weight[records->n++] = weight;
}

/* A few records, a crowd, or as many as a counter can hold, or less than none */
static int64_t
base_weight(uint64_t bits, int64_t unit)
{
	static const int64_t weights[] = {1,
									  7,
									  40,
									  5000,
									  1000000,
									  INT64_C(1) << 38,
									  INT64_C(1) << 60,
									  -(INT64_C(1) << 60),
									  RACE_MAX_COUNT / 4,
									  -RACE_MAX_COUNT / 4,
									  -3};
	int64_t weight = weights[bits % 3 == 0 ? bits / 3 % 11 : bits / 3 % 5];

	return weight / unit == 0 ? weight : weight / unit;
}

static void
make_pair(const Kind *kind, const Setting *setting, const RaceRequest *request, uint64_t number,
		  Pair *pair)
{
	uint64_t state = number * 1000;
	uint64_t style = mix(++state);
	uint64_t crowd = mix(++state) % 64;
	int first = setting->neighbors == RACE_NEIGHBORS_SUBSTITUTE ? 0 : (int) (style % 2);
	int last = setting->neighbors == RACE_NEIGHBORS_SUBSTITUTE ? 1 : first;
	int label;

	memset(pair, 0, sizeof(Pair));
	pair->forged = style / 64 % 8 == 0 ? style : 0;
	for (label = 0; label < setting->labels; label++)
		for (uint32_t i = 0; i < style / 2 % 4; i++)
		{
			uint64_t bits = mix(++state);

			add_record(kind, &pair->base[label], i == 0 ? crowd : bits >> 58,
					   base_weight(bits, (int64_t) kind->tables.unit));
		}
	for (int table = first; table <= last; table++)
	{
		uint64_t place = mix(++state) % 64;
		bool one_label = mix(++state) % 2 == 0;

		label = (int) (mix(++state) % (uint64_t) setting->labels);
		for (uint32_t i = 0; i < setting->records; i++)
		{
			uint64_t bits = mix(++state);
			/* mostly the largest one */
			uint32_t weight = setting->weight_max == 0 ? 1 :
				mix(bits) % 4 > 0                      ? race_largest_weight(request) :
									(uint32_t) (mix(bits) / 4 % (race_largest_weight(request) + 1));

			/* it is left out */
			if (mix(bits + 1) % 8 == 0)
				continue;
			add_record(
				kind,
				&pair->own[table][one_label ? label : (int) (bits % (uint64_t) setting->labels)],
				style / 8 % 4 == 0 ? bits >> 58 :
					table == 0     ? crowd :
									 place,
				weight);
		}
	}
}

static double
some_epsilon(uint64_t bits)
{
	return exp(log(0.05) + (signed_unit(bits) + 1) / 2 * log(400));
}

#define ADD RACE_NEIGHBORS_ADD_REMOVE
#define SUBSTITUTE RACE_NEIGHBORS_SUBSTITUTE

static const Setting settings[] = {
	/* delta, neighbors, records, labels, share, weight_max */
	{0, ADD, 1, 1, false, 0},
	{0, ADD, 5, 3, false, 0},
	{0, SUBSTITUTE, 1, 1, false, 0},
	{0, SUBSTITUTE, 4, 2, false, 0},
	{DELTA, ADD, 1, 1, false, 0},
	{DELTA, ADD, 4, 2, false, 0},
	{DELTA, SUBSTITUTE, 1, 1, false, 0},
	{DELTA, SUBSTITUTE, 3, 3, false, 0},
	{DELTA, SUBSTITUTE, 2, 1, true, 0},
	{0, ADD, 2, 1, false, 7},
	{0, SUBSTITUTE, 1, 2, false, 20},
	{DELTA, ADD, 1, 1, false, 40},
	{DELTA, SUBSTITUTE, 2, 2, false, 1}};

#define SETTINGS ((int) (sizeof(settings) / sizeof(settings[0])))

static void
test_random(int n)
{
	static const struct
	{
		uint32_t columns;
		double cells[MOST_COLUMNS];
		double size[MOST_COLUMNS];
		double single[MOST_COLUMNS];
		bool asked;
		bool alike; /* columns matter as much as each other, so that they may have signs */
		bool searched;
		bool sums; /* sums of some columns are asked for */
	} kinds[] = {
		{1, {7}, {1}, {0}, false, false, false, false},
		{2, {4, 3}, {1, 1}, {0, 1}, false, false, false, false},
		{3, {9, 1, 31}, {3, 1, 4}, {1, 0, 2}, false, false, false, false},
		{3, {9, 2, 31}, {3, 1, 4}, {1, 0, 2}, true, false, false, false},
		{4, {2, 2, 3, 3}, {1, 1, 1, 1}, {0, 0, 0, 0}, true, false, false, false},
		{6,
		 {2, 5, 17, 41, 3, 12},
		 {1, 1, 2, 5, 1, 3},
		 {0, 1, 1, 2, 0, 2},
		 false,
		 false,
		 false,
		 false},
		{6,
		 {2, 5, 17, 41, 3, 12},
		 {1, 1, 2, 5, 1, 3},
		 {0, 1, 1, 2, 0, 2},
		 true,
		 false,
		 false,
		 false},
		{3, {9, 1, 31}, {3, 1, 4}, {1, 0, 2}, false, true, false, false},
		{6,
		 {2, 5, 17, 41, 3, 12},
		 {1, 1, 2, 5, 1, 3},
		 {0, 1, 1, 2, 0, 2},
		 false,
		 true,
		 false,
		 false},
		/* numbers alone */
		{2, {17, 24}, {2, 3}, {1, 0}, false, true, false, false},
		{1, {31}, {4}, {2}, false, false, false, false},
		{2, {17, 24}, {2, 3}, {1, 0}, false, false, false, false},
		{3, {16, 9, 12}, {4, 3, 2}, {0, 0, 1}, true, false, false, false},
		{4, {4, 4, 5, 4}, {2, 2, 2, 2}, {0, 0, 1, 0}, false, true, false, false},
		{5, {24, 3, 16, 12, 40}, {4, 1, 2, 3, 5}, {0, 0, 2, 0, 1}, false, true, false, false},
		/* sets of three are searched, with signs and without */
		{5, {2, 3, 2, 4, 2}, {1, 1, 1, 2, 1}, {0, 1, 0, 0, 0}, false, true, true, false},
		{4, {2, 2, 3, 3}, {1, 1, 1, 1}, {0, 0, 0, 0}, true, false, true, true},
		{6, {2, 16, 2, 12, 3, 4}, {1, 4, 1, 4, 1, 2}, {0, 0, 0, 1, 1, 0}, false, true, true, false},
		{6, {24, 2, 2, 12, 3, 24}, {4, 1, 1, 3, 1, 8}, {0, 0, 0, 1, 1, 0}, false, true, true, true},
		/* with ends */
		{1, {31}, {4}, {2}, false, false, false, true},
		{2, {17, 24}, {2, 3}, {1, 0}, false, false, false, true},
		{3, {9, 2, 31}, {3, 1, 4}, {1, 0, 2}, true, false, false, true},
		{5, {24, 3, 16, 12, 40}, {4, 1, 2, 3, 5}, {0, 0, 2, 0, 1}, false, true, false, true},
		/* with a measure */
		{4, {9, 8, 12, 3}, {3, 2, 4, 0}, {0, 0, 0, 0}, false, true, false, false},
		{2, {7, 2}, {1, 0}, {0, 0}, false, false, false, false},
		{3, {5, 9, 3}, {1, 3, 0}, {1, 0, 0}, false, false, false, false},
		{5, {5, 17, 41, 12, 3}, {1, 2, 5, 3, 0}, {1, 1, 2, 2, 0}, true, false, false, false}};
	Kind kind;
	Pair pair;

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
	{
		make_kind(&kind, kinds[k].columns, kinds[k].cells, kinds[k].size, kinds[k].single,
				  kinds[k].asked, kinds[k].alike, kinds[k].searched, kinds[k].sums);
		for (int s = 0; s < SETTINGS; s++)
			for (int i = 0; i < n; i++)
			{
				RaceRequest request =
					make_request(&kind, &settings[s], some_epsilon(mix((uint64_t) met.pairs)));

				make_pair(&kind, &settings[s], &request, (uint64_t) met.pairs, &pair);
				compare(&kind, &settings[s], &request, &pair);
			}
		met.outside |= is_beyond(&kind);
		free_kind(&kind);
	}
}

/* The record in a cell of the whole table */
static void
add_cell(const Kind *kind, Records *records, uint32_t cell)
{
	for (uint32_t j = 0; j < kind->params->dims; j++)
	{
		records->x[records->n][j] = cell % (uint32_t) kind->tables.cells[j] *
			(j < kind->tables.columns ? 1.0 : RACE_MEASURE_UNIT);
		cell /= (uint32_t) kind->tables.cells[j];
	}
	records->weight[records->n++] = 1;
}

/* All tables of at most two records, and all persons with one record, or with another */
static void
test_small(uint32_t columns, const double *cells, const double *ones, uint32_t places, bool sums)
{
	static const double zeros[] = {0, 0, 0};
	Kind kind;

	make_kind(&kind, columns, cells, ones, zeros, true, false, columns == 3, sums);
	for (uint32_t i = 0; i < 4 * (places + 1) * (places + 1) * places * places; i++)
	{
		uint32_t rest = i / 4;
		uint32_t some[4];
		Pair pair;

		for (int k = 0; k < 4; k++)
		{
			some[k] = rest % (k < 2 ? places + 1 : places);
			rest /= k < 2 ? places + 1 : places;
		}
		memset(&pair, 0, sizeof(pair));
		for (int k = 0; k < 2; k++)
			if (some[k] < places && some[0] >= some[k])
				add_cell(&kind, &pair.base[0], some[k]);
		add_cell(&kind, &pair.own[0][0], some[2]);
		if (settings[i % 4 * 2].neighbors == SUBSTITUTE)
			add_cell(&kind, &pair.own[1][0], some[3]);
		if (settings[i % 4 * 2].records == 1 &&
			(settings[i % 4 * 2].neighbors == SUBSTITUTE || some[3] == 0))
		{
			RaceRequest request = make_request(&kind, &settings[i % 4 * 2], i % 3 == 0 ? 0.5 : 20);

			compare(&kind, &settings[i % 4 * 2], &request, &pair);
		}
	}
	met.outside |= is_beyond(&kind);
	free_kind(&kind);
}

int
main(void)
{
	static const double cells[][3] = {{2, 3}, {2, 2, 2}, {6}};
	static const double ones[] = {1, 1, 1};
	static const double measure[] = {1, 1, 0};
	static const double blocks[] = {3};

	met.same = met.near = met.right = true;
	race_reference = &made_up;
	test_small(2, cells[0], ones, 6, false);
	test_small(2, cells[0], measure + 1, 6, false);
	test_small(3, cells[1], ones, 8, false);
	test_small(3, cells[1], measure, 8, false);
	test_small(1, cells[2], blocks, 6, false);
	test_small(1, cells[2], ones, 6, true);
	test_random(60);
	ok(met.same, "nothing but noisy numbers decides what is measured");
	ok(met.near, "neighbors are as near as is declared, and cost no more");
	for (int delta = 0; delta < 2; delta++)
		for (int substitute = 0; substitute < 2; substitute++)
		{
			printf("# delta %d, substitute %d: table %.6f, scores %.6f, cost %.6f\n", delta,
				   substitute, met.table[delta][substitute], met.scores[delta][substitute],
				   met.cost[delta][substitute]);
			ok(met.table[delta][substitute] > 1 - ROUNDING &&
				   (delta == 0 || met.scores[delta][substitute] > 1 - ROUNDING) &&
				   met.cost[delta][substitute] > (substitute ? 0.9 : 0.99),
			   "and would be too far apart for a little less");
		}
	printf(
		"# scores of blocks: %.6f and with delta %.6f, of %ld columns in blocks and %ld in cells\n",
		met.unevenness[0], met.unevenness[1], met.blocks, met.cells);
	ok(met.unevenness[0] > 1 - ROUNDING && met.unevenness[1] > 1 - ROUNDING && met.blocks > 100 &&
		   met.cells > 100,
	   "cells are counted together, and scores that tell it change by as much as is paid");
	for (int delta = 0; delta < 2; delta++)
		ok(met.signs[delta][0] > 1 - ROUNDING && met.signs[delta][1] > (delta ? 0.8 : 1 - ROUNDING),
		   "sums of signs change by as much as is paid (delta %d: %.6f, substituted %.6f)", delta,
		   met.signs[delta][0], met.signs[delta][1]);
	for (int delta = 0; delta < 2; delta++)
		ok(met.ends[delta][0] > 1 - ROUNDING && met.ends[delta][1] > 1 - ROUNDING,
		   "ends change by as much as is paid (delta %d: %.6f, substituted %.6f)", delta,
		   met.ends[delta][0], met.ends[delta][1]);
	ok(met.right, "sums of signs, and variances, are those that were drawn");
	ok(!met.outside, "nothing is written behind the workspace");
	printf("# %ld with signs, %ld of Wishart noise, %ld go on by them, %ld look, %ld tables, %ld "
		   "leave them out\n",
		   met.sign_sums, met.wishart, met.dependent, met.looks, met.sign_tables, met.outdone);
	ok(met.wishart > 100 && met.sign_sums - met.wishart > 100 && met.dependent > 100 &&
		   met.sign_sums - met.dependent > 100 && met.looks > 100 &&
		   met.dependent - met.looks > 10 && met.sign_tables > 100 && met.outdone > 10,
	   "signs are measured with each noise, and decide or do not");
	printf("# %ld selections, qualities %.6f\n", met.selections, met.quality);
	ok(met.selections > 100 && met.quality > 1.0 / MOST_WEIGHT,
	   "tables are picked, and qualities change by as much as is paid");
	printf("# %ld looks at sets of three, contrasts %.6f\n", met.searches, met.contrast);
	ok(met.searches > 100 && met.contrast > 0.99,
	   "sets of three are searched, and contrasts change by as much as is paid");
	printf(
		"# %ld pairs of tables, %ld rounds, %ld measured, %ld of three columns, %ld of none, %ld with joined groups, %ld again; count %g, both %g\n",
		met.pairs, met.rounds, met.measured, met.triples, met.unmeasured, met.joined, met.again,
		met.count, met.both);
	ok(met.count > 1 - ROUNDING && met.both > 1 - ROUNDING && met.rounds > 100 &&
		   met.measured > 100 && met.triples > 100 && met.unmeasured > 100 && met.joined > 100 &&
		   met.again > 100 && met.exact > 100 && met.left_out > 100,
	   "all that a release may choose was met");
	free(tape.draws);
	return done_testing();
}
