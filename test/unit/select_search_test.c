/*
 * select_search_test.c
 *		Searches for sets of three columns: what a look costs, what contrasts tell, and what pairs make
 *		of them
 *
 * All tables are pseudo-random, and always the same.
 */
#include "privacy/noise.h"
#include "privacy/sampler.h"
#include "hash/contingency.h"
#include "choice/select_search.h"
#include "choice/select_state.h"
#include "helpers.h"
#include "tap.h"

#define MOST_COLUMNS 40
#define RECORDS 20000.0

static uint32_t cells[MOST_COLUMNS];
static uint32_t none_ordered[MOST_COLUMNS];
static uint32_t width[MOST_COLUMNS];
static double weights[MOST_COLUMNS];
static uint32_t maps[MOST_COLUMNS][RACE_SEARCHED_GROUPS];
static int64_t counts[MOST_COLUMNS * RACE_SEARCHED_GROUPS];
static RaceRequest request;
static RaceShape shape;
static RaceSelect selected; /* it is large */
static RaceSearch search;
static uint64_t state;

/* A number from 0 to 1 */
static double
some_share(void)
{
	return (signed_unit(mix(++state)) + 1) / 2;
}

/* Columns of so many groups, of which the first has this share, and the others the rest alike */
static void
begin(double epsilon, double delta, uint32_t columns, uint32_t groups, double first, double records)
{
	RaceSelect *select = &selected;

	memset(select, 0, sizeof(*select));
	request = (RaceRequest){.epsilon = epsilon,
							.delta = delta,
							.max_contributions = 1,
							.neighbors = RACE_NEIGHBORS_ADD_REMOVE};
	shape = (RaceShape){.blocks = 1, .unit = 1, .range = 1};
	select->columns = columns;
	select->weights = weights;
	select->parts = 1;
	select->cells = select->finest = cells;
	select->ordered = none_ordered;
	select->width = width;
	select->n_searched = columns;
	for (uint32_t i = 0; i < columns; i++)
	{
		select->searched[i] = i;
		select->group_of[i] = maps[i];
		cells[i] = groups;
		width[i] = 1;
		weights[i] = 1;
		for (uint32_t g = 0; g < groups; g++)
			counts[i * groups + g] =
				(int64_t) (records * (g == 0 ? first : (1 - first) / (groups - 1)));
	}
	race_select_begin(select, &request, &shape);
	race_select_count(select);
	race_select_one_ways(select, (int64_t) records);
}

/* The table of three columns, as shares of its cells */
typedef struct Shares
{
	uint32_t groups;
	double cell[64];
} Shares;

/* What contrasts tell of a table, at most, in parts of the records; and without what is explained */
static double
told(const Shares *shares, double *all)
{
	RaceTable set = {.first = 0, .second = 1, .third = 2};
	int32_t weight[64];
	RaceContrast contrast;
	double most = -INFINITY;

	*all = 0;
	for (uint32_t i = 0; i < race_select_contrasts(&search, &set); i++)
	{
		double sum = 0;

		race_select_contrast(&selected, &search, &set, i, weight, &contrast);
		for (uint32_t k = 0; k < shares->groups * shares->groups * shares->groups; k++)
			sum += shares->cell[k] * weight[k] / RACE_CONTRAST;
		*all = fmax(*all, fabs(sum));
		sum = fabs(sum - (double) contrast.expected / selected.total) -
			(double) contrast.explained / selected.total;
		most = fmax(most, sum);
	}
	return most;
}

/* Begin a search whose columns have the margins of a table. */
static void
search_margins(const Shares *shares)
{
	uint32_t n = shares->groups;

	begin(1, 0, 3, n, 0.5, RECORDS);
	memset(counts, 0, sizeof(counts));
	for (uint32_t k = 0; k < n * n * n; k++)
	{
		const uint32_t group[] = {k / n / n, k / n % n, k % n};

		for (int j = 0; j < 3; j++)
			counts[(uint32_t) j * n + group[j]] += (int64_t) (shares->cell[k] * 1e9);
	}
	if (race_select_search(&selected, counts, &search) == 0)
		abort();
}

/* Three columns of which pairs tell all: exp of random numbers of each pair of groups */
static void
make_of_pairs(Shares *shares, uint32_t groups, double strength)
{
	double pair[3][RACE_SEARCHED_GROUPS][RACE_SEARCHED_GROUPS];
	double sum = 0;

	for (int p = 0; p < 3; p++)
		for (uint32_t g = 0; g < groups; g++)
			for (uint32_t h = 0; h < groups; h++)
				pair[p][g][h] = strength * (some_share() * 2 - 1);
	shares->groups = groups;
	for (uint32_t k = 0; k < groups * groups * groups; k++)
	{
		uint32_t a = k / groups / groups;
		uint32_t b = k / groups % groups;
		uint32_t c = k % groups;

		sum += shares->cell[k] = exp(pair[0][a][b] + pair[1][a][c] + pair[2][b][c]);
	}
	for (uint32_t k = 0; k < groups * groups * groups; k++)
		shares->cell[k] /= sum;
}

static void
test_contrasts(void)
{
	Shares parity = {2, {0.25, 0, 0, 0.25, 0, 0.25, 0.25, 0}};
	Shares independent = {2, {0}};
	Shares sums = {4, {0}};
	double all;
	double found;

	search_margins(&parity);
	found = told(&parity, &all);
	ok(fabs(found - 1) < 1e-3, "a parity of fair coins tells of all records (%.4f)", found);
	for (int k = 0; k < 8; k++)
		independent.cell[k] = (k / 4 ? 0.3 : 0.7) * (k / 2 % 2 ? 0.5 : 0.5) * (k % 2 ? 0.1 : 0.9);
	search_margins(&independent);
	found = told(&independent, &all);
	ok(found <= 1e-3 && all < 1e-3, "independent columns tell nothing (%.4f)", all);
	for (int k = 0; k < 64; k++)
		sums.cell[k] = (k / 16 + k / 4 % 4) % 4 == k % 4 ? 1.0 / 16 : 0;
	search_margins(&sums);
	found = told(&sums, &all);
	ok(found > 0.45, "one of the contrasts sees a sum modulo 4 (%.4f)", found);
}

/* Of columns that pairs alone make depend on each other, contrasts tell less than a search asks for. */
static void
test_pairs(void)
{
	int n = CASES(6000, 600);
	double most = -1;   /* of two groups, */
	double without = 0; /* without what is explained, */
	int of_splits = 0;  /* and of three and four groups: how often it is above what is asked for */

	for (int i = 0; i < n; i++)
	{
		Shares shares;
		double all;
		double tells;

		make_of_pairs(&shares, 2 + (uint32_t) i % 3, exp(some_share() * 3 - 0.5));
		search_margins(&shares);
		tells = told(&shares, &all);
		of_splits += shares.groups > 2 && tells > 0.3;
		if (shares.groups == 2)
		{
			most = fmax(most, tells);
			without = fmax(without, all);
		}
	}
	printf("# pairs make contrasts of up to %.3f, which tell %.3f at most; of splits %d of %d\n",
		   without, most, of_splits, n);
	ok(most < 0.13 && of_splits < n / 50, "pairs tell less than a search asks for");
	ok(without > 0.15, "control: without what they explain it would be more");
}

/* A look costs what makes its noise a tenth of the records, or 3 %. */
static void
test_prices(void)
{
	double parts[2][4];
	bool falls = true;

	for (int gaussian = 0; gaussian < 2; gaussian++)
		for (int i = 0; i < 4; i++)
		{
			double left;

			begin(1, gaussian ? 1e-6 : 0, 20, 2, 0.5, 1000 * pow(10, i));
			left = race_select_left(&selected);
			parts[gaussian][i] = race_select_search(&selected, counts, &search) / left;
			falls &= parts[gaussian][i] <= 0.03 * (1 + 1e-9) &&
				fabs(race_select_left(&selected) - left * (1 - parts[gaussian][i])) <= 1e-9 * left;
		}
	for (int gaussian = 0; gaussian < 2; gaussian++)
		printf("# looks cost %.4f, %.4f, %.4f, %.6f of what is left\n", parts[gaussian][0],
			   parts[gaussian][1], parts[gaussian][2], parts[gaussian][3]);
	ok(falls && parts[0][0] == 0 && parts[0][2] > 0 && parts[0][3] > 0 &&
		   parts[0][3] < parts[0][2] / 5 && parts[1][3] < parts[1][2] / 5 && parts[1][2] > 0,
	   "looks cost less with more records, and nothing where noise would hide all");
	begin(1, 0, 2, 2, 0.5, RECORDS);
	ok(race_select_search(&selected, counts, &search) == 0, "two columns are no set of three");
	begin(1, 0, 20, 2, 0.5, RECORDS);
	selected.fixed = true;
	ok(race_select_search(&selected, counts, &search) == 0, "fixed tables are not searched");
}

/* What is found is held back, and paid. */
static void
test_found(void)
{
	RaceTable set = {.first = 3, .second = 5, .third = 19};
	double left;
	double held;
	int looks = 0;

	begin(1, 0, 20, 2, 0.5, RECORDS);
	race_select_search(&selected, counts, &search);
	race_select_hold(&selected);
	ok(selected.held == 0, "nothing is held back for nothing");
	while (looks++ < 100)
	{
		race_select_find(&selected, &set);
		set.third--;
		if (!race_select_search_on(&selected, &search))
			break;
	}
	ok(selected.n_found == RACE_FOUND && looks == RACE_FOUND, "no more sets are found than may be");
	left = race_select_left(&selected);
	race_select_hold(&selected);
	held = selected.held;
	ok(fabs(left - held - race_select_left(&selected)) < 1e-12 && held > 0.45 * left &&
		   held < 0.55 * left,
	   "a part is held back");
	race_select_group(&selected, counts, 2, 0);
	race_select_connect_found(&selected);
	race_select_take_found(&selected);
	ok(selected.measured == RACE_FOUND && selected.n_found == 0 && selected.held == 0 &&
		   selected.table[0].third == 19 && selected.table[1].third == 18,
	   "tables of what was found are planned");
	ok(fabs(race_select_left(&selected) - (left - held) / 2) < 0.01 * left,
	   "and cost what was held back, and half of the rest");
}

int
main(void)
{
	test_contrasts();
	test_pairs();
	test_prices();
	test_found();
	return done_testing();
}
