/*
 * grid_test.c
 *		Grids: the weights of a record add up to one unit in every level, whatever the
 *		record, and coarse nodes follow exactly from fine ones.  The noise of a release
 *		rests on both.
 */
#include "privacy/integers.h"
#include "hash/kernel.h"
#include "hash/kind.h"
#include "hash/params.h"
#include "hash/table.h"
#include "helpers.h"
#include "privacy/look.h"
#include "tap.h"

#define MOST_NODES 70000

static double
random_number(uint64_t *state)
{
	return (double) (mix(++*state) >> 11) / 9007199254740992.0;
}

static int64_t
sum_of(const int64_t *counters, uint64_t n)
{
	int64_t sum = 0;

	for (uint64_t i = 0; i < n; i++)
		sum += counters[i];
	return sum;
}

static bool
all_positive(const int64_t *counters, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		if (counters[i] < 0)
			return false;
	return true;
}

/* Where the records of a level are on average, along the first axis */
static double
first_moment(const RaceGrid *grid, const int64_t *counters)
{
	uint64_t inner = grid->nodes / (grid->cells[0] + 1);
	double sum = 0;
	double total = 0;

	for (uint64_t i = 0; i < grid->nodes; i++)
	{
		sum += (double) counters[i] * (grid->lower[0] + (double) (i / inner) * grid->width[0]);
		total += (double) counters[i];
	}
	return sum / total;
}

static void
test_split(uint32_t dims, double cells)
{
	static int64_t counters[MOST_NODES];
	RaceParams *params = grid_params(RACE_KERNEL_L2, dims, cells, 1);
	uint64_t unit = race_record_unit(params);
	uint64_t state = dims;
	bool right = true;
	bool stays = true;
	double moment = 0;
	double off = 0;
	int records = 500;
	int levels = 1;
	RaceGrid grid;

	race_grid_of(params, &grid);
	memset(counters, 0, sizeof(counters));
	for (int i = 0; i < records; i++)
	{
		double x[RACE_GRID_DIMS];
		uint32_t nodes[RACE_GRID_CORNERS];
		int64_t weights[RACE_GRID_CORNERS];
		int64_t sum = 0;
		int corners;

		/* bounds, nodes, and anything between */
		for (uint32_t axis = 0; axis < dims; axis++)
			x[axis] = i == 0 ? -1 : i == 1 ? 2 : i == 2 ? 0.5 : -1 + 3 * random_number(&state);
		moment += x[0] / records;
		corners = race_grid_split(&grid, x, nodes, weights);
		right &= corners == 1 << dims;
		while (corners-- > 0)
		{
			right &= nodes[corners] < grid.nodes && weights[corners] >= 0;
			counters[nodes[corners]] += weights[corners];
			sum += weights[corners];
		}
		right &= (uint64_t) sum == unit;
	}
	ok(right, "%u dims, %g cells: weights of each record add up to %llu", dims, cells,
	   (unsigned long long) unit);
	while (grid.halvings > 0)
	{
		race_grid_coarsen(&grid, counters, counters);
		race_grid_halve(&grid);
		stays &= (uint64_t) sum_of(counters, grid.nodes) == unit * (uint64_t) records &&
			all_positive(counters, grid.nodes);
		off = fmax(off, fabs(first_moment(&grid, counters) - moment));
		levels++;
	}
	ok(levels > 1 && stays, "and in each of %d levels", levels);
	ok(off < grid.width[0] / 100, "which are where the records are (%.2g of a cell)",
	   off / grid.width[0]);
	free(params);
}

/* A coarse grid has the same weights as a fine one that was coarsened. */
static void
test_nested(void)
{
	static int64_t counters[MOST_NODES];
	RaceParams *fine = grid_params(RACE_KERNEL_L2, 2, 64, 1);
	RaceParams *coarse = grid_params(RACE_KERNEL_L2, 2, 32, 1);
	double x[2] = {-1 + 3 * 13.25 / 64, -1 + 3 * 40.5 / 64};
	uint32_t nodes[RACE_GRID_CORNERS];
	int64_t weights[RACE_GRID_CORNERS];
	bool same = true;
	RaceGrid grid;
	int corners;

	race_grid_of(fine, &grid);
	memset(counters, 0, sizeof(counters));
	corners = race_grid_split(&grid, x, nodes, weights);
	while (corners-- > 0)
		counters[nodes[corners]] += weights[corners];
	race_grid_coarsen(&grid, counters, counters);
	race_grid_of(coarse, &grid);
	corners = race_grid_split(&grid, x, nodes, weights);
	while (corners-- > 0)
		same &= counters[nodes[corners]] == weights[corners];
	ok(same, "a coarsened record is a record of the coarse grid");
	free(fine);
	free(coarse);
}

static void
test_sensitivity(void)
{
	RaceParams *one = grid_params(RACE_KERNEL_L2, 2, 64, 1);
	RaceParams *two = grid_params(RACE_KERNEL_L2, 2, 64, 2);
	RaceParams rows = {.kernel = RACE_KERNEL_L2, .sequence = RACE_SEQUENCE_SOBOL, .rows = 7};
	uint64_t unit = race_record_unit(one);

	ok(race_grid_levels(one) == 1 && race_grid_levels(two) == 2, "levels");
	ok(race_record_squared(one) == unit * unit, "one level: one unit");
	ok(race_record_squared(two) == 2 * unit * unit, "two levels: two units");
	ok(race_record_unit(&rows) == 1 && race_record_squared(&rows) == 7, "rows: one record in each");
	free(one);
	free(two);
}

static void
test_choices(void)
{
	RaceParams *params = grid_params(RACE_KERNEL_L2, 2, 64, 1);
	RaceParams *l1 = grid_params(RACE_KERNEL_L1, 2, 64, 1);
	RaceGridChoice fine = {0, 1};
	RaceGridChoice coarse = {2, 1};
	RaceGridChoice both = {2, 2};
	RaceGridChoice wide = {5, 1};
	RaceGridChoice all = {0, 2};
	RaceGridChoice half = {1, 2};
	RaceParams *large = grid_params(RACE_KERNEL_L2, 2, 1424, 1);
	RaceGridChoice never = {7, 1};
	const double *cells = race_array(params, RACE_ARRAY_CELLS);

	ok(race_grid_allows(params, both) && race_grid_allows(l1, coarse) &&
		   !race_grid_allows(l1, both) && !race_grid_allows(params, never),
	   "what a grid allows");
	ok(race_grid_allows(large, fine) && race_grid_allows(large, half) &&
		   !race_grid_allows(large, all),
	   "two levels must not have too many nodes");
	ok(race_grid_noise_variance(params, fine, RACE_GRID_ANYWHERE, 1, INFINITY) >
			   race_grid_noise_variance(params, coarse, RACE_GRID_ANYWHERE, 1, INFINITY) &&
		   race_grid_bias(params, fine) < race_grid_bias(params, coarse),
	   "finer cells have more noise, and change less");
	ok(race_grid_noise_variance(params, fine, RACE_GRID_MIDDLE, 1, INFINITY) >
		   race_grid_noise_variance(params, fine, RACE_GRID_ANYWHERE, 1, INFINITY),
	   "in the middle is most noise");
	/* a sum takes a part of a node where cells are wider than the kernel */
	ok(race_grid_noise_variance(params, wide, RACE_GRID_MIDDLE,
								pow((double) race_record_unit(params), 2), INFINITY) < 1,
	   "of wide cells a sum has less noise than a node");
	race_grid_apply(params, both);
	ok(cells[0] == 16 && params->range == 17 * 17 + 5 * 5 && race_grid_levels(params) == 2,
	   "a choice is applied");
	free(params);
	free(l1);
	free(large);
}

/* With this epsilon noise is 0, but for a probability of 2 e^-256 */
#define NO_NOISE 1e10

/* What a look sees of so many halvings, both norms together */
static uint64_t
seen(const RaceParams *params, int halvings, const int64_t *counters)
{
	static int64_t space[2 * MOST_NODES];
	RaceRandom random = {.fill = fill_from_system};
	RaceRequest request = {.epsilon = RACE_MAX_EPSILON,
						   .max_contributions = 1,
						   .neighbors = RACE_NEIGHBORS_ADD_REMOVE};
	RaceDetails look;
	RaceAccount account;
	RaceExactMemory memory;
	RaceExact *exact;
	RaceShape shape;

	race_grid_shape(params, &shape);
	exact = race_exact_begin(&memory, &shape);
	race_exact_add(exact, counters, sizeof(int64_t), 0, 1);
	race_account_open(&account, &random, &request, 1);
	if (race_look_details(&account, exact, halvings, NO_NOISE, (RaceSpace *) space, &look) != 1)
		abort();
	return (uint64_t) (look.detail + look.spread);
}

static uint64_t
change_of_look(const RaceParams *params)
{
	RaceShape shape;

	race_grid_shape(params, &shape);
	return race_details_change(&shape);
}

/*
 * Norms change by at most what they are of the change, which is at most what they are of a record
 * at a node.  There are few enough nodes to try all, as if there were 1000 of a record in each.
 */
static void
test_look_at_nodes(const RaceParams *params, int halvings)
{
	static int64_t counters[MOST_NODES];
	int64_t unit = (int64_t) race_record_unit(params);
	uint64_t weight = change_of_look(params);
	uint64_t most = 0;
	uint64_t most_of_mutant = 0;

	memset(counters, 0, sizeof(counters));
	for (uint64_t i = 0; i < params->range; i++)
	{
		uint64_t of_node;

		counters[i] = 1000 * unit;
		of_node = seen(params, halvings, counters);
		most = of_node > most ? of_node : most;
		counters[i] = 1040 * unit;
		of_node = seen(params, halvings, counters);
		most_of_mutant = of_node > most_of_mutant ? of_node : most_of_mutant;
		counters[i] = 0;
	}
	ok(most <= 1000 * weight,
	   "%u dims, %d halvings: a look sees %.3f of a record at most, and allows for %u",
	   params->dims, halvings, (double) most / 1000, (unsigned) weight);
	/* fewer cells have no wavelet but those at bounds, which are smaller */
	if ((uint32_t) race_array(params, RACE_ARRAY_CELLS)[0] >> (halvings - 1) >= 8)
		ok(most_of_mutant > 1000 * weight, "a record of 1.04 units is too much");
}

/* Rounded down in records, with other records in the table */
static void
test_look_at_tables(const RaceParams *params, int halvings)
{
	static int64_t counters[MOST_NODES];
	uint64_t weight = change_of_look(params);
	uint64_t state = params->dims;
	uint64_t last = 0;
	uint64_t most = 0;
	RaceGrid grid;
	int i;

	race_grid_of(params, &grid);
	memset(counters, 0, sizeof(counters));
	for (i = 0; i < 1000; i++)
	{
		double x[RACE_GRID_DIMS];
		uint32_t nodes[RACE_GRID_CORNERS];
		int64_t weights[RACE_GRID_CORNERS];
		uint64_t now;
		int n;

		/* now and then in the same place, where norms change most */
		for (uint32_t axis = 0; axis < params->dims; axis++)
			x[axis] = i % 100 < 20 ? -1 + 3 * (i / 100) / 10.0 : -1 + 3 * random_number(&state);
		n = race_grid_split(&grid, x, nodes, weights);
		while (n-- > 0)
			counters[nodes[n]] += weights[n];
		now = seen(params, halvings, counters);
		most = llabs((int64_t) (now - last)) > (int64_t) most ?
			(uint64_t) llabs((int64_t) (now - last)) :
			most;
		last = now;
	}
	ok(most <= weight && most > weight / 4, "each of %d records changes it by %u at most", i,
	   (unsigned) most);
}

/* A density that is linear loses nothing, up to the bounds. */
static void
test_look_at_line(void)
{
	RaceParams *params = grid_params(RACE_KERNEL_L2, 1, 64, 1);
	int64_t unit = (int64_t) race_grid_unit(params);
	int64_t counters[65];

	for (int k = 0; k <= 64; k++)
		counters[k] = unit * 6 * (100 + 3 * k);
	counters[0] = unit * (300 + 3);
	counters[64] = unit * (3 * (100 + 3 * 64) - 3);
	for (int k = 1; k <= 4; k++)
		ok(seen(params, k, counters) == 0, "%d halvings lose nothing of a line", k);
	counters[10] += unit;
	ok(seen(params, 1, counters) >= 50, "but of what is not");
	free(params);
}

/* Nodes that are too large for any table change nothing in the bound, and overflow nothing. */
static void
test_look_at_most(void)
{
	static int64_t counters[MOST_NODES];
	RaceParams *params = grid_params(RACE_KERNEL_L2, 3, 32, 1);
	uint64_t all;

	for (uint64_t i = 0; i < params->range; i++)
		counters[i] = i % 2 == 0 ? INT64_MAX : -INT64_MAX;
	all = seen(params, 1, counters);
	ok(all > UINT64_C(1) << 30 && all < UINT64_C(1) << 62, "the largest nodes");
	counters[5]++;
	ok(seen(params, 1, counters) == all, "count as smaller ones");
	free(params);
}

static void
test_look(uint32_t dims, double cells)
{
	RaceParams *params = grid_params(RACE_KERNEL_L2, dims, cells, 1);
	int halvings;
	RaceShape shape;

	race_grid_shape(params, &shape);
	for (halvings = 1; race_can_look(&shape, halvings); halvings++)
	{
		test_look_at_nodes(params, halvings);
		test_look_at_tables(params, halvings);
	}
	ok(halvings > 2, "%d halvings were looked at", halvings - 1);
	free(params);
}

static void
test_no_look(void)
{
	RaceParams *odd = grid_params(RACE_KERNEL_L2, 2, 15, 1);
	RaceParams *few = grid_params(RACE_KERNEL_L2, 2, 2, 1);

	ok(change_of_look(odd) == 0 && change_of_look(few) == 0,
	   "there is nothing to see where cells cannot be halved, or are too few");
	free(odd);
	free(few);
}

int
main(void)
{
	test_look(1, 64);
	test_look(2, 16);
	test_look(3, 8);
	test_look_at_line();
	test_look_at_most();
	test_no_look();
	test_split(1, 832);
	test_split(1, 7 * 32);
	test_split(2, 64);
	test_split(2, 240);
	test_split(3, 32);
	test_split(3, 40);
	test_nested();
	test_sensitivity();
	test_choices();
	return done_testing();
}
