/*
 * greybox_series_test.c
 *		An audit of series from within, as greybox_test.c does it: all values of two neighboring streams together.
 *
 * Both streams go through the code of a release, value by value, and get the same noisy numbers (tape.h).  So all values must
 * have the same plan; and the differences of all exact numbers of all values together cost no more than the epsilon or rho
 * that each value says the series costs.  A person has at most m records in each stream, in any intervals.
 */
#include "../../src/core/contingency.h"
#include "../../src/core/measure.h"
#include "../../src/core/series.h"
#include "tap.h"
#include "tape.h"

#define MOST_INTERVALS	520		/* four lengths */
#define MOST_RECORDS	5
#define CELLS			12
#define ROWS			4
#define ROUNDING		1e-9

typedef struct Kind
{
	RaceParams *params;
	void	   *workspace;
	int64_t    *exact;
	int64_t    *out;
	bool		tables;
} Kind;

/* Where the records of a person are, and what they are */
typedef struct Own
{
	uint32_t	n;
	uint32_t	interval[MOST_RECORDS];
	uint64_t	place[MOST_RECORDS];
} Own;

typedef struct Case
{
	uint32_t	intervals;
	uint32_t	levels;
	uint32_t	m;
	double		delta;
	RaceNeighbors neighbors;
	Own			own[2];
} Case;

static struct
{
	double		cost[2][2];		/* the most, in parts of what is stated, by delta and neighbors */
	bool		near;
	bool		same;
} met = {{{0}}, true, true};

/* Rows of counters, or tables of two columns of 3 and 4 cells */
static Kind
make_kind(bool is_tables)
{
	static const double numbers[] = {3, 4, 1, 1, 0, 0, 1, 1};	/* cells, and groups */
	Kind		kind = {.tables = is_tables};
	RaceParams *params = allocate(sizeof(RaceParams) + sizeof(numbers));
	RaceContingency tables;

	params->kernel = is_tables ? RACE_KERNEL_TABLES : RACE_KERNEL_L2;
	params->sequence = RACE_SEQUENCE_INDEPENDENT;
	params->rehash = RACE_REHASH_FOLD;
	params->dims = 2;
	params->bandwidth = 1;
	params->power = 1;
	params->rows = is_tables ? 1 : ROWS;
	params->range = CELLS;
	if (is_tables)
	{
		params->arrays = RACE_ARRAY_CELLS | RACE_ARRAY_GROUPS;
		params->more = sizeof(numbers);
		memcpy(params + 1, numbers, sizeof(numbers));
		race_contingency_of(params, &tables);
		params->range = race_contingency_counters(&tables);
	}
	kind.params = params;
	kind.workspace = allocate(race_draw_workspace(params) + race_contingency_workspace(params, 1));
	kind.exact = allocate((size_t) params->rows * params->range * sizeof(int64_t));
	kind.out = allocate((size_t) 2 * params->rows * params->range * sizeof(int64_t));
	return kind;
}

static void
free_kind(Kind *kind)
{
	free(kind->params);
	free(kind->workspace);
	free(kind->exact);
	free(kind->out);
}

static void
add(const Kind *kind, uint64_t place, int64_t weight, RaceExact *exact)
{
	double		x[] = {(double) (mix(place) % 3), (double) (mix(place) / 3 % 4)};
	RaceCounterArray counters = {kind->exact, 8};

	exact->count += weight;
	if (kind->tables)
		race_contingency_count(kind->params, x, 1, weight, counters, kind->workspace);
	for (uint32_t r = 0; !kind->tables && r < ROWS; r++)
		kind->exact[r * kind->params->range + mix(place * ROWS + r) % kind->params->range] += weight;
}

/* The exact value of some intervals of a stream: what others have there, and the person */
static RaceExact
value_of(const Kind *kind, const Own *own, uint32_t first, uint32_t length)
{
	RaceExact	exact = {kind->params, kind->exact, 8, false, 0};

	memset(kind->exact, 0, (size_t) kind->params->rows * kind->params->range * sizeof(int64_t));
	for (uint32_t i = first; i < first + length; i++)
		add(kind, i * 7, (int64_t) (mix(i) % 50), &exact);
	for (uint32_t i = 0; i < own->n; i++)
		if (own->interval[i] >= first && own->interval[i] < first + length)
			add(kind, own->place[i], 1, &exact);
	return exact;
}

/* What the numbers of a value cost between both streams */
static double
cost_of_value(const RacePlan *plan)
{
	double		cost = 0;

	for (size_t i = 0; i < tape.n; i++)
	{
		double		difference = fabs((double) (tape.draws[i].value[0] - tape.draws[i].value[1]));

		cost += plan->noise.mechanism == RACE_MECHANISM_GAUSSIAN ?
			difference * difference / (2 * (double) tape.draws[i].noise) :
			difference * RACE_SCALE_DENOMINATOR / (double) tape.draws[i].noise;
	}
	return cost;
}

static void
compare(const Kind *kind, const Case *c, double epsilon)
{
	uint32_t	levels = c->levels;
	RaceRequest request = {
		.epsilon = race_series_epsilon(epsilon, c->delta, levels), .delta = c->delta, .rows = kind->tables ? 0 : ROWS,
		.max_contributions = c->m, .neighbors = c->neighbors, .levels = levels
	};
	double		sum = 0;
	double		stated = 0;
	double	   *most = &met.cost[c->delta > 0][c->neighbors == RACE_NEIGHBORS_SUBSTITUTE];
	RacePlan	first_plan = {.counter_noise = 0};

	for (uint32_t number = 1; number <= race_series_closed(c->intervals, levels); number++)
	{
		RacePlan	plan;
		uint32_t	first;
		uint32_t	length;
		size_t		bytes = (size_t) kind->params->rows * kind->params->range * sizeof(int64_t);

		race_series_value(number, levels, &first, &length);
		for (int stream = 0; stream < 2; stream++)
		{
			RaceExact	exact = value_of(kind, &c->own[stream], first, length);
			uint64_t	position = 0;
			RaceRandom	random = {fill_from_pattern, &position, 0, {0}};
			int64_t		count;

			start_table(stream);
			if (!race_draw_plan(&random, &exact, 1, &request, kind->workspace, &count, &plan))
				abort();
			race_draw_counters(&random, &exact, &plan, kind->workspace, kind->out + stream * bytes / sizeof(int64_t));
		}
		met.same &= tape.same && tape.next == tape.n && memcmp(kind->out, (char *) kind->out + bytes, bytes) == 0;
		if (number == 1)
			first_plan = plan;
		met.same &= first_plan.noise.epsilon == plan.noise.epsilon && first_plan.counter_noise == plan.counter_noise &&
			first_plan.noise.counter_variance == plan.noise.counter_variance;
		sum += cost_of_value(&plan);
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
	Case		c = {
		.intervals = number % 20 == 0 ? MOST_INTERVALS : 1 + mix(number) % 90, .m = 1 + mix(number + 1) % MOST_RECORDS,
		.delta = number % 2 == 0 ? 0 : 1e-6,
		.neighbors = number / 2 % 2 == 0 ? RACE_NEIGHBORS_ADD_REMOVE : RACE_NEIGHBORS_SUBSTITUTE
	};

	c.levels = race_series_levels(c.intervals, 1) - (number % 7 == 1 && c.intervals >= RACE_SERIES_BASE);
	for (int stream = 0; stream < (c.neighbors == RACE_NEIGHBORS_SUBSTITUTE ? 2 : 1); stream++)
	{
		c.own[stream].n = c.m;
		for (uint32_t i = 0; i < c.m; i++)
		{
			uint64_t	bits = mix(number * 1000 + stream * 10 + (number % 3 == 0 ? 0 : i));

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
	Kind		kinds[] = {make_kind(false), make_kind(true)};

	for (uint64_t number = 0; number < CASES(600, 60); number++)
	{
		Case		c = make_case(number);

		compare(&kinds[number / 4 % 2], &c, log_uniform(mix(number + 5), 0.01, 20));
	}
	ok(met.same, "values of a series have the same plan, and neighbors draw alike");
	ok(met.near, "all values of neighboring streams together cost no more than each of them says");
	ok(met.cost[0][0] > 0.95 && met.cost[1][0] > 0.95, "control: as much as that is reached (%.3f of epsilon, %.3f of rho)",
	   met.cost[0][0], met.cost[1][0]);
	ok(met.cost[0][1] > 0.9 && met.cost[1][1] > 0.45, "and with substitution (%.3f of epsilon, %.3f of rho)", met.cost[0][1], met.cost[1][1]);
	free_kind(&kinds[0]);
	free_kind(&kinds[1]);
	free(tape.draws);
	return done_testing();
}
