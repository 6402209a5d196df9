/*
 * greybox_series_test.c
 *		An audit of series from within, as greybox_test.c does it: all values of two neighboring
 *		streams together.
 *
 * Both streams go through the code of a release, value by value, and get the same noisy numbers
 * (tape.h).  So all values must have the same plan; and the differences of all exact numbers of all
 * values together cost no more than the epsilon or rho that each value says the series costs.  A
 * person has at most m records in each stream, in any intervals.
 */
#include "privacy/counters.h"
#include "privacy/exact.h"
#include "privacy/exact_fields.h"
#include "privacy/noise.h"
#include "privacy/release_request.h"
#include "privacy/sampler.h"
#include "privacy/series.h"
#include "privacy/wishart.h"
#include "hash/contingency.h"
#include "hash/kernel.h"
#include "hash/moment_sums.h"
#include "hash/params.h"
#include "choice/plan.h"
#include "privacy/products.h"
#include "tap.h"
#include "tape.h"

#define MOST_INTERVALS 520 /* four lengths */
#define MOST_RECORDS 5
#define CELLS 12
#define ROWS 4
#define ROUNDING 1e-9
#define KINDS 3

typedef struct Kind
{
	RaceParams *params;
	RaceShape shape;
	size_t *ends; /* of the shape */
	void *workspace;
	int64_t *exact;
	int64_t *out;
	int64_t *own; /* of the person alone */
} Kind;

/* Where the records of a person are, and what they are */
typedef struct Own
{
	uint32_t n;
	uint32_t interval[MOST_RECORDS];
	uint64_t place[MOST_RECORDS];
} Own;

typedef struct Case
{
	uint32_t intervals;
	uint32_t levels;
	uint32_t m;
	double delta;
	RaceNeighbors neighbors;
	Own own[2];
} Case;

static struct
{
	double cost[2][2]; /* the most, in parts of what is stated, by delta and neighbors */
	bool near;
	bool same;
	long mechanisms[RACE_MECHANISM_WISHART + 1];
} met = {{{0}}, true, true, {0}};

static bool
is_tables(const Kind *kind)
{
	return kind->params->kind == RACE_KIND_TABLES;
}

static Kind
make_kind(RaceParams *params)
{
	Kind kind = {.params = params};
	size_t bytes = (size_t) params->rows * params->range * sizeof(int64_t);

	kind.workspace =
		allocate(race_draw_workspace(params) +
				 (is_tables(&kind)                      ? race_contingency_workspace(params, 1) :
					  params->kind == RACE_KIND_MOMENTS ? race_moments_workspace(params) :
														  0));
	kind.ends = allocate(race_shape_ends(params) * sizeof(size_t));
	race_shape_of(params, kind.ends, &kind.shape);
	kind.exact = allocate(bytes);
	kind.own = allocate(bytes);
	kind.out = allocate(2 * bytes);
	return kind;
}

/* Rows of counters, or tables of two columns of 3 and 4 cells */
static RaceParams *
params_of(RaceKind kind)
{
	static const double numbers[] = {3, 4, 1, 1, 0, 0, 1, 1, 0, 0}; /* cells, and groups */
	RaceParams *params = allocate(sizeof(RaceParams) + sizeof(numbers));
	RaceContingency tables;

	params->kind = kind;
	params->kernel = kind == RACE_KIND_ROWS ? RACE_KERNEL_L2 : 0;
	params->sequence = RACE_SEQUENCE_INDEPENDENT;
	params->rehash = RACE_REHASH_FOLD;
	params->dims = 2;
	params->bandwidth = 1;
	params->power = 1;
	params->rows = kind == RACE_KIND_TABLES ? 1 : ROWS;
	params->range = CELLS;
	if (kind == RACE_KIND_TABLES)
	{
		params->arrays = RACE_ARRAY_CELLS | RACE_ARRAY_GROUPS;
		params->more = sizeof(numbers);
		memcpy(params + 1, numbers, sizeof(numbers));
		race_contingency_of(params, &tables);
		params->range = race_contingency_counters(&tables);
	}
	return params;
}

static void
free_kind(Kind *kind)
{
	free(kind->params);
	free(kind->workspace);
	free(kind->ends);
	free(kind->exact);
	free(kind->own);
	free(kind->out);
}

static void
add(const Kind *kind, uint64_t place, int64_t weight, int64_t *to)
{
	double x[] = {(double) (mix(place) % 3), (double) (mix(place) / 3 % 4)};
	RaceCounterArray counters = {to, 8};

	if (is_tables(kind))
		race_contingency_count(kind->params, x, 1, weight, counters, kind->workspace);
	else if (kind->params->kind == RACE_KIND_MOMENTS)
	{
		double bounded[] = {x[0] - 1, x[1] - 1};

		race_moments_count(kind->params, NULL, bounded, 1, (int) weight, to, kind->workspace);
	}
	else
		for (uint32_t r = 0; r < ROWS; r++)
			to[r * kind->params->range + mix(place * ROWS + r) % kind->params->range] += weight;
}

static int64_t
add_own(const Kind *kind, const Own *own, uint32_t first, uint32_t length, int64_t *to)
{
	int64_t n = 0;

	for (uint32_t i = 0; i < own->n; i++)
		if (own->interval[i] >= first && own->interval[i] < first + length)
		{
			add(kind, own->place[i], 1, to);
			n++;
		}
	return n;
}

/* The exact value of some intervals of a stream: what others have there, and the person */
static const RaceExact *
value_of(const Kind *kind, const Own *own, uint32_t first, uint32_t length, RaceExactMemory *memory)
{
	RaceExact *exact = race_exact_begin(memory, &kind->shape);
	int64_t count = 0;

	memset(kind->exact, 0, (size_t) kind->params->rows * kind->params->range * sizeof(int64_t));
	for (uint32_t i = first; i < first + length; i++)
	{
		int64_t n = (int64_t) (mix(i) % 50);

		add(kind, i * 7, n, kind->exact);
		count += n;
	}
	count += add_own(kind, own, first, length, kind->exact);
	race_exact_add(exact, kind->exact, 8, count, 1);
	return exact;
}

/*
 * What the numbers of a value cost between both streams.  A Wishart matrix, which both streams
 * share, hides the sums of products by the trace of what the person has in each, and the noise of
 * entries what rounding makes of it (greybox_test.c).
 */
static double
cost_of_value(const Kind *kind, const Case *c, const RacePlan *plan, uint32_t first,
			  uint32_t length)
{
	bool wishart = plan->noise.mechanism == RACE_MECHANISM_WISHART;
	uint32_t columns = wishart ? race_moments_columns(kind->params) : 0;
	size_t draws = tape.n - (wishart ? kind->params->range : 0);
	double cost = 0;

	for (size_t i = 0; i < draws; i++)
	{
		double difference = fabs((double) (tape.draws[i].value[0] - tape.draws[i].value[1]));

		cost += plan->noise.mechanism == RACE_MECHANISM_GAUSSIAN ?
			difference * difference / (2 * (double) tape.draws[i].noise) :
			difference * RACE_SCALE_DENOMINATOR / (double) tape.draws[i].noise;
	}
	for (int stream = 0; wishart && stream < 2; stream++)
	{
		double trace = 0;

		memset(kind->own, 0, kind->params->range * sizeof(int64_t));
		if (add_own(kind, &c->own[stream], first, length, kind->own) == 0)
			continue;
		for (uint32_t i = 0; i < columns; i++)
			trace += (double) kind->own[race_product_counter(columns, i, i)];
		cost += ldexp(trace, -(int) plan->products.coarser) / 2 / (double) plan->products.noise +
			race_wishart_steps(columns) +
			(double) race_wishart_rounding(columns, plan->products.noise) * kind->params->range *
				RACE_SCALE_DENOMINATOR / (double) plan->products.entry_noise;
	}
	return cost;
}

static void
compare(const Kind *kind, const Case *c, double epsilon)
{
	uint32_t levels = c->levels;
	RaceRequest request = {.epsilon = race_series_epsilon(epsilon, c->delta, levels),
						   .delta = c->delta,
						   .rows = kind->params->kind == RACE_KIND_ROWS ? ROWS : 0,
						   .max_contributions = c->m,
						   .neighbors = c->neighbors,
						   .levels = levels};
	double sum = 0;
	double stated = 0;
	double *most = &met.cost[c->delta > 0][c->neighbors == RACE_NEIGHBORS_SUBSTITUTE];
	RacePlan first_plan = {.counter_noise = 0};

	for (uint32_t number = 1; number <= race_series_closed(c->intervals, levels); number++)
	{
		RacePlan plan;
		uint32_t first;
		uint32_t length;
		size_t bytes = (size_t) kind->params->rows * kind->params->range * sizeof(int64_t);

		race_series_value(number, levels, &first, &length);
		for (int stream = 0; stream < 2; stream++)
		{
			RaceExactMemory memory;
			RaceRelease release = {.exact = value_of(kind, &c->own[stream], first, length, &memory),
								   .params = kind->params,
								   .request = &request,
								   .workspace = kind->workspace};
			int64_t *counters[] = {kind->out + stream * bytes / sizeof(int64_t)};
			uint64_t position = 0;
			RaceRandom random = {fill_from_pattern, &position, 0, {0}};
			int64_t count;

			start_table(stream);
			if (!race_release_begin(&release, &random, &count) ||
				!race_release_counters(&release, counters))
				abort();
			plan = release.plan;
		}
		met.same &= tape.same && tape.next == tape.n &&
			memcmp(kind->out, (char *) kind->out + bytes, bytes) == 0;
		if (number == 1)
			first_plan = plan;
		met.same &= first_plan.noise.epsilon == plan.noise.epsilon &&
			first_plan.counter_noise == plan.counter_noise &&
			first_plan.products.noise == plan.products.noise &&
			first_plan.products.coarser == plan.products.coarser &&
			first_plan.noise.counter_variance == plan.noise.counter_variance;
		sum += cost_of_value(kind, c, &plan, first, length);
		met.mechanisms[plan.noise.mechanism]++;
		stated = c->delta > 0 ? plan.noise.rho : plan.noise.epsilon;
		met.near &= plan.noise.epsilon <= epsilon;
	}
	met.near &= sum <= stated * (1 + ROUNDING);
	*most = fmax(*most, sum / stated);
}

/* The records of a person: anywhere, or all alike in one interval, of both streams or of one */
static Case
make_case(uint64_t number)
{
	Case c = {.intervals = number % 20 == 0 ? MOST_INTERVALS : 1 + mix(number) % 90,
			  .m = 1 + mix(number + 1) % MOST_RECORDS,
			  .delta = number % 2 == 0 ? 0 : 1e-6,
			  .neighbors =
				  number / 2 % 2 == 0 ? RACE_NEIGHBORS_ADD_REMOVE : RACE_NEIGHBORS_SUBSTITUTE};

	c.levels =
		race_series_levels(c.intervals, 1) - (number % 7 == 1 && c.intervals >= RACE_SERIES_BASE);
	for (int stream = 0; stream < (c.neighbors == RACE_NEIGHBORS_SUBSTITUTE ? 2 : 1); stream++)
	{
		c.own[stream].n = c.m;
		for (uint32_t i = 0; i < c.m; i++)
		{
			uint64_t bits = mix(number * 1000 + stream * 10 + (number % 3 == 0 ? 0 : i));

			/* the first intervals are in values of every length */
			c.own[stream].interval[i] = number % 3 == 0 ? 0 : (uint32_t) (bits % c.intervals);
			c.own[stream].place[i] = bits / 1000;
		}
	}
	return c;
}

int
main(void)
{
	Kind kinds[KINDS] = {make_kind(params_of(RACE_KIND_ROWS)),
						 make_kind(params_of(RACE_KIND_TABLES)),
						 make_kind(moments_params(2, 1, RACE_CLIP_NORM))};

	for (uint64_t number = 0; number < CASES(900, 90); number++)
	{
		Case c = make_case(number);

		compare(&kinds[number / 4 % KINDS], &c, log_uniform(mix(number + 5), 0.01, 20));
	}
	ok(met.same, "values of a series have the same plan, and neighbors draw alike");
	ok(met.near, "all values of neighboring streams together cost no more than each of them says");
	ok(met.cost[0][0] > 0.95 && met.cost[1][0] > 0.95,
	   "control: as much as that is reached (%.3f of epsilon, %.3f of rho)", met.cost[0][0],
	   met.cost[1][0]);
	ok(met.cost[0][1] > 0.9 && met.cost[1][1] > 0.45,
	   "and with substitution (%.3f of epsilon, %.3f of rho)", met.cost[0][1], met.cost[1][1]);
	ok(met.mechanisms[RACE_MECHANISM_LAPLACE] > 0 && met.mechanisms[RACE_MECHANISM_GAUSSIAN] > 0 &&
		   met.mechanisms[RACE_MECHANISM_WISHART] > 0,
	   "of each mechanism");
	for (int i = 0; i < KINDS; i++)
		free_kind(&kinds[i]);
	free(tape.draws);
	return done_testing();
}
