/*
 * greybox_test.c
 *		An audit of all releases from within, after "Re:cord-play" (Cebere et al. 2026).
 *
 * Two tables that differ in the records of one person go through the code of a release (src/choice
 * and src/privacy), each exact number up to the one function that adds noise.  In place of that
 * function tape.h has another: of the first table it notes each number, and what it answered; of
 * the second it gives the same answers.  So both choose the same rows and cells, unless something
 * else than noisy numbers decides.  Then
 *
 * - there are as many numbers, with noise of the same kind and scale, and the same plan;
 * - they differ, in L1 or in L2, by at most what the plan takes them to differ by;
 * - and this costs, under the noise of the plan, at most the epsilon or rho that the plan says.
 *
 * Tables and persons are made up to be extreme: crowds in one place, records as far apart as can
 * be, bounds, nodes and ties, infinities, denormals, NaN, NULLs.  A person may have several
 * records, in several labels.  All is of fixed seeds.  As a control, a declaration that is a little
 * smaller must be seen to be too small.  Contingency tables have a test of their own,
 * greybox_tables_test.c.
 */
#include <float.h>

#include "privacy/counters.h"
#include "privacy/exact_fields.h"
#include "privacy/release_request.h"
#include "privacy/wishart.h"
#include "hash/elements.h"
#include "hash/fields.h"
#include "hash/kind.h"
#include "hash/loss_rows.h"
#include "hash/moment_sums.h"
#include "hash/table.h"
#include "choice/plan.h"
#include "choice/release_kind.h"
#include "privacy/count.h"
#include "privacy/exact.h"
#include "privacy/look.h"
#include "privacy/products.h"
#include "kernels.h"
#include "tap.h"
#include "tape.h"

/* ---------------------------------------------------------------- kinds */

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

#define PLACES 512 /* records that tables are made of */
#define MOST_LABELS 3
#define MOST_ITEMS 12 /* different ones in a label */

/* A kind of sketch, and what its records are: buckets of rows, or numbers */
typedef struct Kind
{
	RaceParams *params;
	RaceRows *rows;    /* or the features of moments, or NULL */
	uint32_t *buckets; /* [PLACES][line] */
	size_t line;
	double *numbers;        /* [PLACES][dims] */
	bool is_record[PLACES]; /* else it is left out: not all numbers are finite */
	void *workspace;
	void *moments_workspace;
	RaceShape shape;
	size_t *ends;         /* of the shape */
	int64_t *counters[2]; /* of two tables */
	int64_t *out;
} Kind;

/* How it is released */
typedef struct Setting
{
	double delta;
	bool chooses; /* what to keep */
	bool fit;
	RaceNeighbors neighbors;
	uint32_t records; /* of a person */
	int labels;
	bool share;
	uint32_t weight_max; /* 0: without weights */
} Setting;

/* Some records at one place */
typedef struct Item
{
	uint32_t place;
	int64_t weight;
} Item;

typedef struct Items
{
	int n;
	Item items[MOST_ITEMS];
} Items;

/* What both tables have in a label, and what one of them has besides */
typedef struct Pair
{
	Items base[MOST_LABELS];
	Items own[2][MOST_LABELS];
} Pair;

static double
hostile_number(uint64_t bits, double lower, double upper, double cells)
{
	static const double numbers[] = {5e-324, -5e-324, -0.0, 0, DBL_MAX, -DBL_MAX, 1e300, DBL_MIN};

	switch (bits % 16)
	{
		case 0:
			return lower;
		case 1:
			return upper;
		case 2:
			return bits % 32 == 2 ? INFINITY : -INFINITY;
		case 3:
			return bits % 128 == 3 ? NAN : upper - (upper - lower) * DBL_EPSILON;
		case 4:
			return numbers[bits / 16 % 8];
		case 5:
			return lower + (upper - lower) * (bits / 16 % 64 + 0.5) / cells;
		case 6:
		case 7:
		case 8:
		case 9:
		case 10:
		case 11:
			return lower + (upper - lower) * (double) (bits / 16 % ((uint64_t) cells + 1)) / cells;
		default:
			return lower + (upper - lower) * (signed_unit(mix(bits)) + 1) / 2;
	}
}

/* All are at first; a vector is not if a number is not finite after it was clipped. */
static void
take_vector(Kind *kind, int place, const RaceParams *part, double *x)
{
	race_vector_clip(part, x, part->dims);
	for (uint32_t i = 0; i < part->dims; i++)
		kind->is_record[place] &= isfinite(x[i]) != 0;
}

static void
hash_places(Kind *kind)
{
	const RaceParams *params = kind->params;
	RaceColumn columns[RACE_MAX_PARTS];

	kind->rows = make_rows(params);
	kind->line = kind->rows->blocks * RACE_LANES;
	kind->buckets = calloc(PLACES * kind->line, sizeof(uint32_t));
	for (int place = 0; place < PLACES; place++)
	{
		RaceColumn *column = columns;

		random_records(params, (uint64_t) place * 64, 1, columns);
		for (const RaceParams *part = params; part != NULL;
			 part = race_params_next(part, params), column++)
		{
			double *x = (double *) column->numbers;
			uint64_t *elements = (uint64_t *) column->elements;

			for (uint32_t i = 0; i < part->dims; i++)
			{
				uint64_t bits = mix((uint64_t) place * 999 + i);

				if (x != NULL && place % 4 == 0)
					x[i] = hostile_number(bits, -3, 3, 6);
				if (x == NULL && part->nulls != 0 && bits % 3 == 0)
					elements[i] = race_element_of_null(params->seed, false);
			}
			if (x != NULL)
				take_vector(kind, place, part, x);
		}
		if (kind->is_record[place])
			race_rows_hash_one(kind->rows, params->rows, columns,
							   kind->buckets + place * kind->line);
		free_records(params, columns);
	}
}

/* The middle, or a node beside it */
static double
middle(double lower, double upper, double cells, int number)
{
	static const int nodes[] = {0, 1, 2, 4};

	return (lower + upper) / 2 + (upper - lower) * nodes[number % 4] / cells;
}

/* Corners are the largest vectors, and a record in the middle of a grid changes most of a look. */
static void
number_places(Kind *kind)
{
	const RaceParams *params = kind->params;
	const double *lower = race_array(params, RACE_ARRAY_LOWER);
	const double *upper = race_array(params, RACE_ARRAY_UPPER);
	const double *cells = race_array(params, RACE_ARRAY_CELLS);

	kind->numbers = calloc((size_t) PLACES * params->dims, sizeof(double));
	for (int place = 0; place < PLACES; place++)
	{
		double *x = kind->numbers + (size_t) place * params->dims;

		for (uint32_t i = 0; i < params->dims; i++)
		{
			uint64_t bits = mix((uint64_t) place * 1024 + i);

			x[i] = place % 8 == 0 ?
				(bits % 2 == 0 ? lower[i] : upper[i]) :
				place % 8 == 1 ?
				middle(lower[i], upper[i], cells == NULL || params->dims > 1 ? INFINITY : cells[i],
					   place / 8) :
				hostile_number(bits, lower[i], upper[i], cells == NULL ? 4 : cells[i]);
		}
		take_vector(kind, place, params, x);
	}
}

/* Takes over the parameters. */
static void
make_kind(Kind *kind, RaceParams *params)
{
	RaceParams functions;
	size_t size = (size_t) params->rows * params->range * sizeof(int64_t);

	memset(kind, 0, sizeof(Kind));
	kind->params = params;
	for (int i = 0; i < PLACES; i++)
		kind->is_record[i] = true;
	if (!race_summary_kind(params)->hashed)
		number_places(kind);
	else
		hash_places(kind);
	if (race_summary_kind(params)->matrix)
	{
		race_moments_functions(params, &functions);
		kind->rows = make_rows(&functions);
		kind->moments_workspace = allocate(race_moments_workspace(params));
	}
	kind->workspace = allocate(race_draw_workspace(params));
	kind->ends = allocate(race_shape_ends(params) * sizeof(size_t));
	race_shape_of(params, kind->ends, &kind->shape);
	for (int i = 0; i < 2; i++)
		kind->counters[i] = allocate(size);
	/* two levels are less than twice as many as the finest */
	kind->out = allocate(2 * size);
}

static void
free_kind(Kind *kind)
{
	for (int i = 0; i < 2; i++)
		free(kind->counters[i]);
	free(kind->out);
	free(kind->ends);
	free(kind->workspace);
	free(kind->moments_workspace);
	free(kind->numbers);
	free(kind->buckets);
	free(kind->rows);
	free(kind->params);
}

/* ---------------------------------------------------------------- tables */

static void
count_in_rows(const Kind *kind, const Item *item, int64_t *counters)
{
	const RaceParams *params = kind->params;
	const uint32_t *buckets = kind->buckets + item->place * kind->line;

	for (uint32_t row = 0; row < params->rows; row += RACE_LANES)
	{
		uint32_t rows = params->rows - row < RACE_LANES ? params->rows - row : RACE_LANES;

		race_count_rows((RaceCounterArray){counters + (size_t) row * params->range, 8},
						buckets + row, 1, rows, params->range, item->weight);
	}
}

static void
count_item(const Kind *kind, const Item *item, int64_t *counters)
{
	const double *x = kind->numbers + item->place * kind->params->dims;

	if (kind->buckets != NULL)
		count_in_rows(kind, item, counters);
	else if (race_summary_kind(kind->params)->coarsen != NULL)
		race_count_in_grid(kind->params, x, 1, item->weight, (RaceCounterArray){counters, 8});
	else
		race_moments_count(kind->params, kind->rows, x, 1, (int) item->weight, counters,
						   kind->moments_workspace);
}

/* The exact counters of a table */
typedef struct Sums
{
	int64_t *counters;
	int64_t count;
	RaceExactMemory memory;
	const RaceExact *exact;
} Sums;

/* Add records to a sketch. */
static void
count_items(const Kind *kind, const Items *items, Sums *sums)
{
	for (int i = 0; i < items->n; i++)
	{
		const Item *item = &items->items[i];

		if (!kind->is_record[item->place])
			continue;
		count_item(kind, item, sums->counters);
		sums->count += item->weight;
	}
}

/*
 * As it would be stored, in counters that are as narrow as they can be; returns how wide they are.
 */
static int
make_narrow(const RaceParams *params, int64_t *counters)
{
	size_t n = (size_t) params->rows * params->range;
	int64_t min;
	int64_t max;
	int width;

	race_counters_bounds(counters, 8, n, &min, &max);
	width = race_counters_width_for(min, max);
	if (width < 8)
	{
		void *narrow = allocate(n * width);

		race_counters_store(narrow, width, 0, n, counters);
		memcpy(counters, narrow, n * width);
		free(narrow);
	}
	return width;
}

/* The sketch of a label in one of both tables */
static void
make_exact(const Kind *kind, const Pair *pair, int label, int table, Sums *sums)
{
	const RaceParams *params = kind->params;
	RaceExact *exact;

	memset(sums, 0, sizeof(Sums));
	sums->counters = kind->counters[table];
	memset(sums->counters, 0, (size_t) params->rows * params->range * 8);
	count_items(kind, &pair->base[label], sums);
	count_items(kind, &pair->own[table][label], sums);
	sums->exact = exact = race_exact_begin(&sums->memory, &kind->shape);
	race_exact_add(exact, sums->counters, make_narrow(params, sums->counters), sums->count, 1);
}

static void
add_item(Items *items, uint32_t place, int64_t weight)
{
	items->items[items->n++] = (Item){place % PLACES, weight};
}

/*
 * How many records of a table are at one place: a few; or so many that one person's make counters
 * wider, or that norms clamp counters.
 */
static int64_t
base_weight(const Kind *kind, uint64_t bits)
{
	static const int64_t edges[] = {INT8_MAX, INT16_MAX, INT32_MAX, INT64_C(1) << 38};

	if (race_summary_kind(kind->params)->matrix)
		return 1 + bits % 20;
	if (bits % 8 == 0)
		return edges[bits / 8 % LENGTH(edges)] - (int64_t) (bits / 64 % 4);
	return bits % 2 == 0 ? 1 + bits / 16 % 40 : INT64_C(1000000);
}

/* Half of all crowds are in corners, or in the middle. */
static uint32_t
crowded_place(uint64_t bits)
{
	return (uint32_t) (bits % 4 < 2 ? bits >> 8 : (bits >> 8) / 8 * 8 + bits % 4 - 2) % PLACES;
}

/* Most records of a person have the largest weight. */
static int64_t
own_weight(const RaceRequest *request, uint64_t bits)
{
	return request->weight_max == 0 ?
		1 :
		(int64_t) (bits % 8 > 0 ? race_largest_weight(request) :
								  bits / 8 % (race_largest_weight(request) + 1));
}

/*
 * A pair of tables.  Of each side of the person all records are at one place, often that of a
 * crowd, or at any; in one label, or in any.
 */
static void
make_pair(const Kind *kind, const Setting *setting, const RaceRequest *request, uint64_t number,
		  Pair *pair)
{
	uint64_t state = number * 1000;
	uint64_t style = mix(++state);
	bool together = style % 4 != 0;
	bool one_label = style / 4 % 4 != 0;
	uint32_t crowd = crowded_place(mix(++state));
	int first = setting->neighbors == RACE_NEIGHBORS_SUBSTITUTE ? 0 : (int) (style / 32 % 2);
	int last = setting->neighbors == RACE_NEIGHBORS_SUBSTITUTE ? 1 : first;
	int label;

	memset(pair, 0, sizeof(Pair));
	for (label = 0; label < setting->labels; label++)
	{
		if (style / 64 % 4 != 0)
			add_item(&pair->base[label], crowd, base_weight(kind, mix(++state)));
		for (uint32_t i = 0; i < style / 256 % 4; i++)
		{
			uint64_t bits = mix(++state);

			add_item(&pair->base[label], (uint32_t) (bits >> 32), base_weight(kind, bits));
		}
	}
	for (int table = first; table <= last; table++)
	{
		uint32_t place = table == 0 ? crowd : (uint32_t) mix(++state);

		for (uint32_t i = 0; i < setting->records; i++)
		{
			uint64_t bits = mix(++state);

			label =
				(int) ((one_label ? style / 1024 + (uint64_t) (table * (style / 4096 % 2)) : bits) %
					   (uint64_t) setting->labels);
			if (first != last || style / 8192 % 4 != 0)
				add_item(&pair->own[table][label],
						 together ? (first == last ? crowd : place) : (uint32_t) (bits >> 32),
						 own_weight(request, mix(++state)));
			else if (i == 0) /* the person has fewer records than she might */
				add_item(&pair->own[table][label], (uint32_t) (bits >> 32), 1);
		}
	}
}

/* -------------------------------------------------------------- releases */

#define PARTIES 5

/* Where looks begin: after the number of records */
#define LOOKS 1

/* A release of an exact sketch up to its noise; where its counters begin */
typedef struct Played
{
	bool refused; /* the noise would be too large */
	bool paid;    /* could all be paid? */
	RacePlan plan;
	size_t counters;
} Played;

static bool
same_releases(const Played *a, const Played *b)
{
	return a->refused == b->refused && a->paid == b->paid && same_plans(&a->plan, &b->plan) &&
		a->counters == b->counters;
}

static RaceRequest
make_request(const Kind *kind, const Setting *setting, double epsilon)
{
	RaceRequest request = {.epsilon = epsilon};

	request.delta = setting->delta;
	request.rows = setting->chooses ? 0 : kind->params->rows;
	request.fit = setting->fit;
	request.max_contributions = setting->records;
	request.neighbors = setting->neighbors;
	/* with too little epsilon, the release is refused */
	if (setting->weight_max > 0)
		race_request_weights(&request, kind->params, setting->weight_max);
	return request;
}

static Played
play(const Kind *kind, const Setting *setting, const RaceRequest *request, const RaceExact *exact,
	 int table)
{
	static const RaceFederation federation = {PARTIES, 1, 1};
	uint64_t position = 0;
	RaceRandom random = {fill_from_pattern, &position, 0, {0}};
	RaceRelease release = {.exact = exact,
						   .params = kind->params,
						   .request = request,
						   .workspace = kind->workspace};
	int64_t count;
	Played played;

	memset(&played, 0, sizeof(played));
	start_table(table);
	if (setting->share ? !race_share_begin(&release, &random, &federation, &count) :
						 !race_release_begin(&release, &random, &count))
	{
		played.refused = true;
		return played;
	}
	played.counters = table == 0 ? tape.n : tape.next;
	played.paid = race_release_counters(&release, kind->out);
	played.plan = release.plan;
	return played;
}

/* How far apart both tables are, in parts of what the plan declares; and what this costs */
typedef struct Apart
{
	double count;
	double look;
	double counters;
	double cost; /* in parts of epsilon or rho */
	double epsilon;
	bool same;   /* but for the numbers */
	bool rounds; /* Wishart: counters differ by what was added, but for less than 1 */
} Apart;

static double
difference(const Draw *draw)
{
	return fabs((double) ((__int128) draw->value[0] - draw->value[1]));
}

/* Laplace noise: the distance in L1; the cost is added. */
static double
distance(size_t from, size_t to, double *cost)
{
	double sum = 0;

	for (size_t i = from; i < to; i++)
	{
		sum += difference(&tape.draws[i]);
		*cost += difference(&tape.draws[i]) * RACE_SCALE_DENOMINATOR / (double) tape.draws[i].noise;
	}
	return sum;
}

/* Gaussian noise: squared, in L2, in units of this variance */
static double
squared_distance(size_t from, size_t to, double variance, double *cost)
{
	double sum = 0;

	for (size_t i = from; i < to; i++)
		sum += difference(&tape.draws[i]) * difference(&tape.draws[i]) * variance /
			(double) tape.draws[i].noise;
	*cost += sum / (2 * variance);
	return sum;
}

static double
factor_of(const Setting *setting)
{
	return setting->neighbors == RACE_NEIGHBORS_SUBSTITUTE ? 2 : 1;
}

/* The records of a person, by their weights */
static double
records_of(const Setting *setting, const RaceRequest *request)
{
	return (double) setting->records * (setting->weight_max > 0 ? race_largest_weight(request) : 1);
}

/* Rows, or levels of a grid */
static uint32_t
blocks_of(const Kind *kind, const RacePlan *plan)
{
	return race_summary_kind(kind->params)->hashed ? plan->selection.rows :
													 (uint32_t) plan->selection.grid.levels;
}

/* What a record changes of a look, in L1; 0 if there is none */
static uint64_t
look_change(const Kind *kind, const RaceRequest *request)
{
	if (request->rows > 0 || request->delta > 0)
		return 0;
	return race_summary_kind(kind->params)->hashed ? race_norms_change(&kind->shape) :
													 race_details_change(&kind->shape);
}

/* What a record adds to what a plan keeps, at most, in L1 */
static double
l1_of_record(const Kind *kind, const RacePlan *plan)
{
	return (double) (race_summary_kind(kind->params)->matrix ?
						 race_products_l1(&kind->shape, plan->products.coarser) :
						 race_blocks_l1(&kind->shape, blocks_of(kind, plan)));
}

/* The same in L2, squared */
static double
squared_of_record(const Kind *kind, const RacePlan *plan)
{
	return (double) (race_summary_kind(kind->params)->matrix ?
						 race_products_squared(&kind->shape, plan->products.coarser) :
						 race_blocks_squared(&kind->shape, blocks_of(kind, plan)));
}

/* The noise of a counter, off the diagonal of moments */
static uint64_t
noise_of_counters(const Kind *kind, const RacePlan *plan)
{
	return !race_summary_kind(kind->params)->matrix        ? plan->counter_noise :
		plan->products.mechanism == RACE_MECHANISM_WISHART ? plan->products.entry_noise :
															 plan->products.noise;
}

/* Was all drawn with the noise of the plan? */
static bool
drew_as_planned(const Kind *kind, const Played *played)
{
	const RacePlan *plan = &played->plan;
	bool same = played->paid;

	for (size_t i = 0; i < tape.n && i < played->counters; i++)
		same &= tape.draws[i].noise == (i < LOOKS ? plan->count_noise : plan->look_noise);
	for (size_t i = played->counters; i < tape.n; i++)
		same &= tape.draws[i].noise == noise_of_counters(kind, plan) ||
			(race_summary_kind(kind->params)->matrix &&
			 plan->products.mechanism == RACE_MECHANISM_GAUSSIAN &&
			 tape.draws[i].noise == 2 * plan->products.noise);
	return same && played->counters < tape.n;
}

static void
compare_laplace(const Kind *kind, const Setting *setting, const RaceRequest *request,
				const Played *played, Apart *apart)
{
	double records = records_of(setting, request) * factor_of(setting);
	double cost = 0;

	apart->count += distance(0, LOOKS, &cost) / records;
	apart->look += played->counters == LOOKS ?
		0 :
		distance(LOOKS, played->counters, &cost) / (records * (double) look_change(kind, request));
	apart->counters +=
		distance(played->counters, tape.n, &cost) / (records * l1_of_record(kind, &played->plan));
	apart->cost += cost / played->plan.noise.epsilon;
}

static void
compare_gaussian(const Kind *kind, const Setting *setting, const RaceRequest *request,
				 const Played *played, Apart *apart)
{
	double records = pow(records_of(setting, request), 2) * factor_of(setting);
	double cost = 0;

	apart->count += squared_distance(0, LOOKS, (double) played->plan.count_noise, &cost) / records;
	apart->counters += squared_distance(played->counters, tape.n,
										(double) noise_of_counters(kind, &played->plan), &cost) /
		(records * squared_of_record(kind, &played->plan));
	/* of a sum of shares, without one colluder and one dropout */
	apart->cost += cost / (setting->share ? PARTIES - 2 : 1) / played->plan.noise.rho;
}

/*
 * A Wishart matrix hides what each table has besides, by its trace.  Laplace noise on entries hides
 * what rounding makes of it, wherever there is something.
 */
static void
compare_wishart(const Kind *kind, const Setting *setting, const RaceRequest *request,
				const Pair *pair, int label, const Played *played, Apart *apart)
{
	const RaceParams *params = kind->params;
	uint32_t columns = race_moments_columns(params);
	const RacePlan *plan = &played->plan;
	double coarse = ldexp(1, plan->products.coarser);
	double records = records_of(setting, request) * factor_of(setting);
	double trace = 0;
	double cost = 0;

	for (int table = 0; table < 2; table++)
	{
		Sums own = {.counters = kind->counters[table]};

		memset(kind->counters[table], 0, params->range * 8);
		count_items(kind, &pair->own[table][label], &own);
		for (uint32_t i = 0; i < columns; i++)
			trace += (double) kind->counters[table][race_product_counter(columns, i, i)];
		if (own.count > 0)
			cost += (double) race_wishart_rounding(columns, plan->products.noise) * params->range *
					RACE_SCALE_DENOMINATOR / (double) plan->products.entry_noise +
				race_wishart_steps(columns);
	}
	for (uint32_t i = 0; i < params->range; i++)
	{
		const Draw *draw = &tape.draws[played->counters + i];

		apart->rounds &= fabs((double) (draw->value[0] - draw->value[1]) -
							  (double) (kind->counters[0][i] - kind->counters[1][i]) / coarse) < 1;
	}
	apart->count += distance(0, LOOKS, &cost) / records;
	apart->counters += trace / coarse /
		(records * (double) race_products_trace(&kind->shape, plan->products.coarser));
	cost += trace / coarse / 2 / (double) plan->products.noise;
	apart->cost += cost / plan->noise.epsilon;
}

/* What was met */
static struct
{
	long pairs;
	long mechanisms[RACE_MECHANISM_WISHART + 1];
	long fewer_rows;
	long fewer_cells;
	long levels;  /* two of them */
	long coarser; /* integers of moments */
	long refused;
} met;

static void
note_plan(const Kind *kind, const Played *played)
{
	const RacePlan *plan = &played->plan;

	met.refused += played->refused;
	if (played->refused)
		return;
	met.mechanisms[plan->noise.mechanism]++;
	met.fewer_rows += plan->selection.rows < kind->params->rows;
	met.fewer_cells += plan->selection.grid.halvings > 0;
	met.levels += plan->selection.grid.levels > 1;
	met.coarser += plan->products.coarser > 0;
}

/* All labels, whose losses add up */
static Apart
compare(const Kind *kind, const Setting *setting, const RaceRequest *request, const Pair *pair)
{
	Apart apart = {.same = true, .rounds = true};

	for (int label = 0; label < setting->labels; label++)
	{
		Played played[2];

		for (int table = 0; table < 2; table++)
		{
			Sums sums;

			make_exact(kind, pair, label, table, &sums);
			played[table] = play(kind, setting, request, sums.exact, table);
		}
		note_plan(kind, &played[0]);
		apart.same &= played[0].refused ? tape.n == 0 : drew_as_planned(kind, &played[0]);
		apart.same &= tape.same && tape.next == tape.n && same_releases(&played[0], &played[1]);
		switch (played[0].plan.noise.mechanism)
		{
			case RACE_MECHANISM_NONE:
				break;
			case RACE_MECHANISM_LAPLACE:
				compare_laplace(kind, setting, request, &played[0], &apart);
				break;
			case RACE_MECHANISM_GAUSSIAN:
				compare_gaussian(kind, setting, request, &played[0], &apart);
				break;
			default:
				compare_wishart(kind, setting, request, pair, label, &played[0], &apart);
		}
	}
	return apart;
}

/* ------------------------------------------------------------------ tests */

#define ROUNDING 1e-9 /* of the sums of this test */

static void
keep_most(Apart *most, const Apart *apart)
{
	most->count = fmax(most->count, apart->count);
	most->look = fmax(most->look, apart->look);
	most->counters = fmax(most->counters, apart->counters);
	most->cost = fmax(most->cost, apart->cost);
	most->same &= apart->same;
	most->rounds &= apart->rounds;
}

/* The most that n pairs of a setting are apart */
static Apart
most_of_pairs(const Kind *kind, const Setting *setting, int n)
{
	Apart most = {.same = true, .rounds = true};

	for (int i = 0; i < n; i++)
	{
		/* less makes integers of moments coarser */
		double least = race_summary_kind(kind->params)->matrix ? RACE_MIN_EPSILON : 0.05;
		RaceRequest request = make_request(kind, setting, log_uniform(mix(i), least, 20));
		Pair pair;
		Apart apart;

		make_pair(kind, setting, &request, (uint64_t) (met.pairs + i), &pair);
		apart = compare(kind, setting, &request, &pair);
		keep_most(&most, &apart);
	}
	met.pairs += n;
	return most;
}

static void
print_setting(const Setting *setting, const Apart *most)
{
	printf(
		"# delta %g, %s, %u records of weight %u, %d labels%s%s%s: count %.4f, look %.4f, counters %.4f, cost %.4f\n",
		setting->delta, race_neighbors_name(setting->neighbors), setting->records,
		setting->weight_max, setting->labels, setting->chooses ? ", chosen" : "",
		setting->fit ? ", fitted" : "", setting->share ? ", share" : "", most->count, most->look,
		most->counters, most->cost);
}

/*
 * What neighbors of a kind must be apart at least, so that declarations that are one too small
 * would be found out: of counters, all.  Of moments one of millions cannot be.  There it is a
 * hundredth, for one person's records under pure noise; less where both sides would have to be as
 * large and at right angles, where a norm is few integers, and where noise is Gaussian for the norm
 * of absolute values, which bounds the L1 norm.
 */
static double
least_apart(const RaceParams *params, bool pure, bool substitute)
{
	if (!race_summary_kind(params)->matrix)
		return 1 - ROUNDING;
	if (pure)
		return substitute ? 0.49 : 0.99;
	return params->moments.clip == RACE_CLIP_ABSOLUTE ? 0.1 : substitute ? 0.7 : 0.875;
}

/* Looks have wavelets within from 8 cells on. */
static bool
reaches_look(const RaceParams *params)
{
	const double *cells = race_array(params, RACE_ARRAY_CELLS);

	for (uint32_t i = 0; race_summary_kind(params)->coarsen != NULL && i < params->dims; i++)
		if (cells[i] < 8)
			return false;
	return true;
}

static void
test_kind(RaceParams *params, const char *name, const Setting *settings, size_t n, int pairs)
{
	static Kind kind;
	Apart groups[8] = {{.same = true}}; /* by delta, neighbors and weights */
	Apart all = {.same = true, .rounds = true};
	double weight = 0;
	bool tight = true;

	make_kind(&kind, params);
	for (size_t i = 0; i < n; i++)
	{
		RaceRequest request = make_request(&kind, &settings[i], 1);
		Apart most = most_of_pairs(&kind, &settings[i], pairs);

		print_setting(&settings[i], &most);
		keep_most(&groups[4 * (settings[i].weight_max > 0) + 2 * (settings[i].delta > 0) +
						  (settings[i].neighbors == RACE_NEIGHBORS_SUBSTITUTE)],
				  &most);
		keep_most(&all, &most);
		if (!race_summary_kind(params)->matrix)
			weight = fmax(weight, (double) look_change(&kind, &request));
	}
	ok(all.same, "%s: nothing but noisy numbers decides what is drawn", name);
	ok(all.rounds && all.count <= 1 + ROUNDING && all.look <= 1 + ROUNDING &&
		   all.counters <= 1 + ROUNDING && all.cost <= 1 + ROUNDING,
	   "neighbors are as near as is declared (%.6f, %.6f, %.6f), and cost no more (%.6f)",
	   all.count, all.look, all.counters, all.cost);
	for (size_t i = 0; i < LENGTH(groups); i++)
		tight &= groups[i].count > 1 - ROUNDING &&
			groups[i].counters > least_apart(params, i / 2 % 2 == 0, i % 2 == 1);
	ok(SANITIZED || (tight && all.cost > 0.99), "and would be too far apart for a little less");
	if (weight > 0 && reaches_look(params))
		ok(SANITIZED || all.look > 1 - 1 / weight,
		   "a look that declares %g of a record and not %g would be found out", weight - 1, weight);
	free_kind(&kind);
}

/* ------------------------------------------------------------ all of them */

#define ADD RACE_NEIGHBORS_ADD_REMOVE
#define SUBSTITUTE RACE_NEIGHBORS_SUBSTITUTE
#define DELTA 1e-6

static const Setting of_sketches[] = {
	/* delta, chooses, fit, neighbors, records, labels, share, weight_max */
	{0, true, false, ADD, 7, 1, false, 0},     {0, true, true, SUBSTITUTE, 2, 1, false, 0},
	{0, true, false, ADD, 5, 3, false, 0},     {0, false, false, SUBSTITUTE, 4, 2, false, 0},
	{0, true, false, ADD, 2, 1, false, 0},     {0, true, false, SUBSTITUTE, 3, 2, false, 0},
	{DELTA, true, true, ADD, 3, 1, false, 0},  {DELTA, true, false, SUBSTITUTE, 3, 3, false, 0},
	{DELTA, true, false, ADD, 4, 2, false, 0}, {DELTA, true, false, SUBSTITUTE, 2, 1, true, 0},
	{0, true, false, ADD, 2, 1, false, 7},     {0, true, false, SUBSTITUTE, 1, 2, false, 20},
	{DELTA, true, false, ADD, 2, 3, false, 1}, {DELTA, true, false, SUBSTITUTE, 1, 3, false, 50}};

static const Setting of_moments[] = {{0, true, false, ADD, 1, 1, false, 0},
									 {0, true, false, SUBSTITUTE, 3, 2, false, 0},
									 {0, true, false, ADD, 5, 3, false, 0},
									 {DELTA, true, false, ADD, 2, 1, false, 0},
									 {DELTA, true, false, SUBSTITUTE, 3, 3, false, 0},
									 {DELTA, true, false, SUBSTITUTE, 2, 1, true, 0},
									 {0, true, false, ADD, 1, 1, false, 7},
									 {0, true, false, SUBSTITUTE, 2, 2, false, 20},
									 {DELTA, true, false, ADD, 2, 1, false, 1},
									 {DELTA, true, false, SUBSTITUTE, 1, 3, false, 500}};

/* Rows of all kernels and sequences */
static void
test_rows(int pairs)
{
	static const Recipe recipes[] = {
		{FOLD, 16, {PART(L2, IND, 3, 1)}},
		{FOLD, 100, {PART(L2, SOBOL, 3, 1)}},
		{FOLD, 64, {{L2, IND, 4, 1, TRANSFORM | BOUNDS, 2}}},
		{FOLD, 64, {{L2, STRUCTURED, 5, 1, WIDTHS | BOUNDS, 0}}},
		{MULTI, 50, {{L1, IND, 3, 2, WIDTHS | BOUNDS, 0}}},
		{FOLD, 64, {PART(ANGULAR, IND, 3, 6)}},
		{MULTI, 100, {{ANGULAR, STRUCTURED, 3, 2, RACE_ARRAY_OFFSET, 0}}},
		{MULTI, 100, {{ANGULAR, SOBOL, 5, 2, TRANSFORM, 3}}},
		{MULTI, 64, {PART(JACCARD, IND, 0, 2)}},
		{MULTI, 64, {PART(JACCARD, GROUPED, 0, 1)}},
		{MULTI, 64, {PART(JACCARD, GROUPED, 0, 1)}},
		{MULTI, 64, {PART(MATCH, SOBOL, 5, 2)}},
		{MULTI, 7, {PART(MATCH, SOBOL, 5, 2), {L2, SOBOL, 3, 1, WIDTHS, 0}}},
		{MULTI,
		 64,
		 {{ANGULAR, IND, 2, 2, TRANSFORM, 2},
		  PART(JACCARD, IND, 0, 1),
		  {L1, IND, 3, 1, BOUNDS, 0},
		  PART(MATCH, IND, 2, 1)}},
		{FOLD, 8, {PART(RACE_KERNEL_LEAST_SQUARES, IND, 4, 3)}},
		{FOLD, 16, {PART(RACE_KERNEL_MARGIN, IND, 4, 4)}}};

	for (size_t i = 0; i < LENGTH(recipes); i++)
	{
		RaceParams *params = make_params(&recipes[i], i % 4 == 1 ? 70 : 40, (int64_t) i);
		RaceParams *part;

		for (part = params; part != NULL; part = (RaceParams *) race_params_next(part, params))
			if (part->kernel == MATCH)
				part->nulls = RACE_NULLS_DIFFERENT;
		if (race_is_surrogate(params))
		{
			params->loss.radius = 2;
			params->loss.query_radius = 2.5;
		}
		test_kind(params, describe(params), of_sketches, LENGTH(of_sketches), pairs);
	}
}

static void
test_grids(int pairs)
{
	static const struct
	{
		RaceKernel kernel;
		uint32_t dims;
		double bandwidth;
		double cells[RACE_GRID_DIMS];
	} grids[] = {/* the second is like those of scores */
				 {L2, 1, 0.5, {64}},      {L2, 1, 0.2, {36}},     {L1, 1, 0.1, {96}},
				 {L2, 1, 0.2, {15}},      {L2, 1, 1, {4}},        {L2, 2, 0.2, {16, 16}},
				 {L2, 2, 0.2, {8, 32}},   {L1, 2, 0.5, {16, 24}}, {L2, 2, 1, {32, 16}},
				 {L2, 3, 0.2, {8, 8, 8}}, {L2, 3, 1, {16, 8, 4}}};

	for (size_t i = 0; i < LENGTH(grids); i++)
	{
		RaceParams *params = grid_of_cells(grids[i].kernel, grids[i].dims, grids[i].cells, 1);
		char name[100];

		params->bandwidth = grids[i].bandwidth;
		snprintf(name, sizeof(name), "grid of %u dims, %g x %g x %g cells, %s", grids[i].dims,
				 grids[i].cells[0], grids[i].cells[1], grids[i].cells[2],
				 race_kernel_name(grids[i].kernel));
		test_kind(params, name, of_sketches, LENGTH(of_sketches), pairs);
	}
}

static void
test_moments(int pairs)
{
	static const struct
	{
		uint32_t dims;
		uint16_t features;
		uint16_t targets;
		double norm;
		RaceClip clip;
		bool transform;
	} moments[] = {
		{1, 0, 0, 1, RACE_CLIP_NORM, false},       {3, 0, 1, 1.2345, RACE_CLIP_NORM, false},
		{5, 0, 0, 100, RACE_CLIP_NORM, false},     {3, 4, 1, 1.5, RACE_CLIP_NORM, false},
		{4, 0, 0, 1, RACE_CLIP_ABSOLUTE, false},   {4, 0, 2, 2, RACE_CLIP_ABSOLUTE, false},
		{4, 0, 0, 100, RACE_CLIP_ABSOLUTE, false}, {4, 0, 4, 1e-3, RACE_CLIP_NORM, false},
		{4, 0, 0, 1, RACE_CLIP_NORM, true}};

	for (size_t i = 0; i < LENGTH(moments); i++)
	{
		uint32_t dims = moments[i].dims;
		RaceParams *params = moments_params(dims, moments[i].norm, moments[i].clip);
		char name[120];

		if (moments[i].transform)
			params = moments_with_transform(params);
		params->moments.features = moments[i].features;
		params->moments.targets = moments[i].targets;
		params->range = (uint32_t) race_products_counters(race_moments_columns(params));
		snprintf(name, sizeof(name),
				 "moments of %u columns, %u features, %u targets, norm %g, clip %s%s", dims,
				 params->moments.features, params->moments.targets, params->moments.norm,
				 race_choice_name(RACE_KEY_CLIP, params->moments.clip),
				 moments[i].transform ? ", a transform" : "");
		test_kind(params, name, of_moments, LENGTH(of_moments), pairs);
	}
}

/* A release that chose rows by the exact table would keep others of its neighbor. */
static void
test_peeking(void)
{
	static const Recipe recipe = {FOLD, 16, {PART(L2, IND, 3, 1)}};
	static Kind kind;
	const Setting *setting = &of_sketches[3];
	RaceRequest request;
	Pair pair;

	make_kind(&kind, make_params(&recipe, 40, 1));
	request = make_request(&kind, setting, 1);
	make_pair(&kind, setting, &request, 1, &pair);
	for (int table = 0; table < 2; table++)
	{
		Sums sums;

		make_exact(&kind, &pair, 0, table, &sums);
		request.rows = table == 0 ? 16 : 32;
		play(&kind, setting, &request, sums.exact, table);
	}
	ok(!tape.same, "a choice by the exact table would be found out");
	free_kind(&kind);
}

static void
test_met(void)
{
	printf(
		"# %ld pairs: %ld Laplace, %ld Gaussian, %ld Wishart; %ld of fewer rows, %ld of fewer cells, %ld of two levels, %ld of coarser integers, %ld refused\n",
		met.pairs, met.mechanisms[RACE_MECHANISM_LAPLACE], met.mechanisms[RACE_MECHANISM_GAUSSIAN],
		met.mechanisms[RACE_MECHANISM_WISHART], met.fewer_rows, met.fewer_cells, met.levels,
		met.coarser, met.refused);
	ok(SANITIZED ||
		   (met.mechanisms[RACE_MECHANISM_LAPLACE] > 100 &&
			met.mechanisms[RACE_MECHANISM_GAUSSIAN] > 100 &&
			met.mechanisms[RACE_MECHANISM_WISHART] > 100 && met.fewer_rows > 100 &&
			met.fewer_cells > 100 && met.levels > 100 && met.coarser > 100),
	   "all that a release may choose was met");
}

int
main(void)
{
	test_rows(CASES(30, 3));
	test_grids(CASES(50, 5));
	test_moments(CASES(60, 6));
	test_peeking();
	test_met();
	free(tape.draws);
	return done_testing();
}
