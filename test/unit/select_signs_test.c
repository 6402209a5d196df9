/*
 * select_signs_test.c
 *		What signs, looks and tables after them cost, for a grid of requests; and what is chosen
 *
 * All scores are pseudo-random, and always the same.
 */
#include "privacy/measure.h"
#include "privacy/noise.h"
#include "privacy/sampler.h"
#include "privacy/score.h"
#include "privacy/signs.h"
#include "hash/contingency.h"
#include "choice/select_signs.h"
#include "helpers.h"
#include "tap.h"

#define MOST_COLUMNS RACE_GRAPH_COLUMNS
#define FINEST 33 /* groups of a column: 32 in order, and one by itself */
#define CELLS 257
#define NEARLY_TOO_LARGE (RACE_MAX_VARIANCE / 1024)

static uint32_t cells[MOST_COLUMNS];
static uint32_t finest[MOST_COLUMNS];
static uint32_t ordered[MOST_COLUMNS];
static uint32_t width[MOST_COLUMNS];
static double weights[MOST_COLUMNS];
static uint32_t maps[MOST_COLUMNS][FINEST];
static int64_t counts[MOST_COLUMNS * FINEST];
static int64_t scores[RACE_SELECT_SCORES];
static RacePairErrors pairs[RACE_SELECT_SCORES];
static RaceSelectTable asked;
static RaceRequest request;
static RaceShape shape;
static RaceSelect selected; /* it is large */

typedef struct Case
{
	double epsilon;
	double delta;
	uint32_t columns;
	double records;
	uint32_t contributions;
	RaceNeighbors neighbors;
	uint32_t parts;
} Case;

/* Columns of numbers, but each third one */
static void
begin(const Case *of)
{
	RaceSelect *select = &selected;

	memset(select, 0, sizeof(*select));
	request = (RaceRequest){.epsilon = of->epsilon,
							.delta = of->delta,
							.max_contributions = of->contributions,
							.neighbors = of->neighbors};
	shape = (RaceShape){.blocks = 1, .unit = of->parts > 1 ? RACE_MEASURE_UNIT : 1, .range = 1};
	select->columns = of->columns;
	select->weights = weights;
	select->parts = of->parts;
	select->cells = cells;
	select->finest = finest;
	select->ordered = ordered;
	select->width = width;
	select->with_signs = true;
	for (uint32_t i = 0; i < of->columns; i++)
	{
		bool number = i % 3 < 2;

		cells[i] = number ? CELLS : 5;
		finest[i] = number ? FINEST : 5;
		ordered[i] = number ? FINEST - 1 : 0;
		width[i] = number ? 8 : 1;
		weights[i] = 1;
		select->group_of[i] = maps[i];
	}
	race_select_begin(select, &request, &shape);
}

/*
 * What is drawn, as a release draws it: paid by the same prices from an account of its own, without
 * counters
 */
typedef struct Paid
{
	RaceAccount account;
	RaceExactMemory memory;
	RaceExact *exact;
	long double cost; /* the sum of costs of all draws, by their noise */
	long double told; /* and in zCDP with all of the noise */
	uint64_t least;   /* noise, */
	uint64_t most;
	bool differs; /* from what was planned */
} Paid;

static void
begin_paying(Paid *paid)
{
	*paid = (Paid){.least = UINT64_MAX};
	paid->exact = race_exact_begin(&paid->memory, &shape);
	race_select_open(&paid->account, NULL, &request, selected.columns, shape.unit);
}

/* Add the cost of noise for what m records change: a unit in so many numbers each. */
static void
add_cost(Paid *paid, bool score, uint64_t unit, uint64_t noise)
{
	long double m = (long double) request.max_contributions * unit;
	long double l1 = m * (request.neighbors == RACE_NEIGHBORS_SUBSTITUTE ? 2 : 1);
	long double squared = score ? l1 * l1 : l1 * m;

	paid->differs |= noise == 0;
	paid->least = noise < paid->least ? noise : paid->least;
	paid->most = noise > paid->most ? noise : paid->most;
	paid->cost += request.delta == 0 ? l1 * RACE_SCALE_DENOMINATOR / (long double) noise :
									   squared / (2 * (long double) (noise - paid->account.added));
	paid->told += request.delta == 0 ? l1 * RACE_SCALE_DENOMINATOR / (long double) noise :
									   squared / (2 * (long double) noise);
}

static void
pay_table(Paid *paid, const RacePrice *price)
{
	paid->differs |= race_measure_sums(&paid->account, paid->exact, NULL, price->amount, NULL,
									   NULL) != price->noise;
	add_cost(paid, false, shape.unit, price->noise);
}

/* Pay for signs by their price; what they cost is what the account has less. */
static void
pay_signs(Paid *paid, double price)
{
	RaceSigns signs = {.columns = selected.n_signs};
	double left = race_account_left(&paid->account);
	double cost = race_account_cost(&paid->account);
	double variance = 0;

	paid->differs |=
		!race_measure_signs(&paid->account, paid->exact, &signs, price, NULL, NULL, &variance) ||
		!(variance > 0);
	paid->cost += left - race_account_left(&paid->account);
	paid->told += race_account_cost(&paid->account) - cost;
}

typedef struct Findings
{
	int released;
	int refused;
	int signs;
	int depend;
	int looks;
	int tables;
	int differs;
	int over_budget;
	/* a part is not spent, though noise is neither the least nor the most possible */
	int wasted;
	int bad_tables;
	int bad_groups;
	int bad_cuts;
} Findings;

static bool
groups_are_right(void)
{
	for (uint32_t i = 0; i < selected.columns; i++)
	{
		bool used[FINEST] = {false};

		for (uint32_t g = 0; g < finest[i]; g++)
		{
			if (maps[i][g] >= selected.groups[i])
				return false;
			used[maps[i][g]] = true;
		}
		for (uint32_t g = 0; g < selected.groups[i]; g++)
			if (!used[g])
				return false;
	}
	return selected.total >= 1;
}

static bool
tables_are_right(void)
{
	bool right = selected.measured <= RACE_SELECT_TABLES;

	for (uint32_t k = 0; right && k < selected.measured; k++)
	{
		const RaceSelectTable *table = &selected.table[k];

		right &= table->first < table->second && table->second == table->third &&
			table->third < selected.columns && table->price.noise > 0;
		for (uint32_t i = 0; i < k; i++)
			right &= selected.table[i].first != table->first ||
				selected.table[i].second != table->second;
	}
	return right;
}

/* Is each cut among the groups in order, after the first? */
static bool
cuts_are_right(void)
{
	uint32_t cut[MOST_COLUMNS];
	bool right = true;

	race_select_cut(&selected, counts, cut);
	for (uint32_t k = 0; k < selected.n_signs; k++)
		right &= cut[k] >= 1 && cut[k] < ordered[selected.sign_column[k]];
	return right;
}

/* The tables after signs, where these show dependence, by random scores */
static void
go_on_by_signs(Paid *paid, const RaceReferenceErrors *errors, double records, uint64_t seed,
			   Findings *findings)
{
	uint32_t n = selected.columns * (selected.columns - 1) / 2;
	double price = race_select_look(&selected);

	findings->depend++;
	if (price == 0)
		return;
	findings->looks++;
	for (uint32_t k = 0; k < n; k++)
	{
		add_cost(paid, true, shape.unit,
				 race_score_distance(&paid->account, paid->exact, NULL, NULL, price, NULL, NULL));
		scores[k] = (int64_t) ((double) selected.unit * records * 2 * signed_unit(mix(seed++)));
		pairs[k] = (RacePairErrors){sqrt(records) * 5, sqrt(records)};
	}
	race_select_gain(&selected, counts, scores, pairs, errors);
	for (uint32_t k = 0; k < selected.measured; k++)
		pay_table(paid, &selected.table[k].price);
}

/* Counts are noise, or uneven, or all in one group. */
static void
make_counts(double records, uint64_t seed)
{
	size_t n = 0;
	uint64_t way = seed % 3;

	for (uint32_t i = 0; i < selected.columns; i++)
		for (uint32_t g = 0; g < finest[i]; g++)
		{
			double share = way == 0 ? 3 * signed_unit(mix(seed + n)) / finest[i] :
				way == 1            ? 1.0 / finest[i] :
				g % 7 == 3          ? 1 :
									  0;

			counts[n++] = (int64_t) ((double) selected.unit * records * share);
		}
}

/* A whole release */
static void
release(const Case *of, uint64_t seed, Findings *findings)
{
	RaceReferenceErrors errors = {.explained = seed % 4 == 0 ? 0 : 0.3,
								  .blur = 0.05,
								  .first = 0.02,
								  .second = 0.01};
	RacePrice again[MOST_COLUMNS];
	Paid paid;
	double price;
	bool by_signs = false;
	double allowed;

	begin(of);
	begin_paying(&paid);
	if (race_select_count(&selected) == 0 ||
		!race_select_one_ways(&selected, (int64_t) of->records))
	{
		findings->refused++;
		return;
	}
	findings->released++;
	paid.differs |= race_measure_count(&paid.account, paid.exact, selected.count.amount, NULL) !=
		selected.count.noise;
	add_cost(&paid, false, 1, selected.count.noise);
	for (uint32_t i = 0; i < selected.columns; i++)
	{
		if (selected.block[i] > 1)
			add_cost(&paid, true, 2 * (selected.block[i] - 1) * shape.unit,
					 race_score_unevenness(&paid.account, paid.exact, 0, 0, selected.block[i],
										   selected.unevenness[i], NULL, NULL));
		pay_table(&paid, &selected.one_way[i]);
	}
	make_counts(of->records, seed);
	price = race_select_signs(&selected);
	if (price > 0)
	{
		findings->signs++;
		findings->bad_cuts += !cuts_are_right();
		pay_signs(&paid, price);
		race_select_look_groups(&selected, counts);
		findings->bad_groups += !groups_are_right();
		by_signs = race_select_depend(&selected, &errors);
	}
	if (by_signs)
		go_on_by_signs(&paid, &errors, of->records, seed, findings);
	else
	{
		race_select_join(&selected, counts);
		race_select_all(&selected);
		for (uint32_t k = 0; k < selected.measured; k++)
			pay_table(&paid, &selected.table[k].price);
	}
	findings->tables += (int) selected.measured;
	findings->bad_groups += !groups_are_right();
	findings->bad_tables += !tables_are_right();
	if (race_select_rest(&selected, again))
		for (uint32_t i = 0; i < selected.columns; i++)
			pay_table(&paid, &again[i]);
	allowed = race_account_allowed(&paid.account);
	findings->differs += paid.differs ||
		(paid.most < NEARLY_TOO_LARGE &&
		 race_account_left(&paid.account) != race_account_left(&selected.planned));
	findings->over_budget += paid.cost > (long double) allowed * (1 + 1e-12L) ||
		race_account_cost(&paid.account) > allowed ||
		paid.told > (long double) race_account_cost(&paid.account) * (1 + 1e-12L);
	findings->wasted += paid.least > 1000 && paid.most < NEARLY_TOO_LARGE &&
		paid.cost < 0.95L * (long double) allowed;
}

static void
test_grid(double delta)
{
	static const double epsilons[] = {0.01, 0.1, 1, 10, 100};
	static const uint32_t columns[] = {2, 3, 8, 32, 128};
	static const double records[] = {1, 1000, 1e5, 1e9};
	Findings found = {0};
	uint64_t seed = 0;

	for (int e = 0; e < 5; e++)
		for (int c = 0; c < 5; c++)
			for (int r = 0; r < 4; r++)
				for (int way = 0; way < 8; way++)
				{
					Case of = {epsilons[e],
							   delta,
							   columns[c],
							   records[r],
							   way & 1 ? 7 : 1,
							   way & 2 ? RACE_NEIGHBORS_SUBSTITUTE : RACE_NEIGHBORS_ADD_REMOVE,
							   way & 4 ? 2 : 1};

					if ((SANITIZED && (e + c + r + way) % 4 > 0) ||
						(columns[c] == 128 && way % 3 > 0))
						continue;
					release(&of, ++seed * 1000 + (uint64_t) way, &found);
				}
	printf("# delta %g: %d released, %d refused, %d with signs, %d by them, %d look; %d tables\n",
		   delta, found.released, found.refused, found.signs, found.depend, found.looks,
		   found.tables);
	ok(found.over_budget == 0 && found.released > CASES(500, 100) && found.signs > CASES(400, 80) &&
		   found.depend > CASES(200, 50) && found.signs > found.depend &&
		   found.looks > CASES(100, 25) && found.depend > found.looks &&
		   found.tables > CASES(300, 60),
	   "the sum of costs is at most what is stated, and that is at most the budget");
	ok(found.differs == 0, "another account has the same noise for the same prices");
	ok(found.wasted == 0, "nearly all of the budget is spent (%d times not)", found.wasted);
	ok(found.bad_tables == 0 && found.bad_groups == 0,
	   "groups are numbered, and tables of different pairs");
	ok(found.bad_cuts == 0, "signs change between groups in order");
}

/* Where something else was asked there are no signs. */
static void
test_without(void)
{
	static const Case of = {1, 0, 4, 1e5, 1, RACE_NEIGHBORS_ADD_REMOVE, 1};
	static const char *const names[] = {"control: two columns of numbers or more have signs",
										"not without a reference",
										"not if a column matters more",
										"not if a set of columns matters more",
										"not if sets of three may be chosen",
										"not if tables are fixed",
										"not of one column of numbers",
										"not of groups that are not in order"};

	for (int way = 0; way < 8; way++)
	{
		double price;
		double left;

		begin(&of);
		selected.with_signs = way != 1;
		weights[2] = way == 2 ? 3 : 1;
		asked = (RaceSelectTable){.first = 0,
								  .second = 1,
								  .third = way == 4 ? 2 : 1,
								  .weight = way == 4 ? 1 : 2};
		selected.asked = &asked;
		selected.n_asked = way == 3 || way == 4;
		selected.fixed = way == 5;
		for (uint32_t i = way == 6 ? 1 : 0; way >= 6 && i < 4; i++)
			ordered[i] = way == 6 ? 1 : 0;
		race_select_count(&selected);
		race_select_one_ways(&selected, 100000);
		left = race_account_left(&selected.planned);
		price = race_select_signs(&selected);
		ok((price > 0) == (way == 0) &&
			   (race_account_left(&selected.planned) < left) == (way == 0) &&
			   (selected.n_signs > 0) == (way == 0),
		   "%s", names[way]);
	}
}

/* A copula that explains more than particles blur */
static const RaceReferenceErrors errors = {.explained = 0.3,
										   .blur = 0.01,
										   .first = 0.001,
										   .second = 0.0005};

/* Plan up to the groups of looks, where the groups of each column have as many records each. */
static void
begin_even(const Case *of)
{
	uint32_t n = 0;

	begin(of);
	race_select_count(&selected);
	race_select_one_ways(&selected, (int64_t) of->records);
	for (uint32_t i = 0; i < of->columns; i++)
		for (uint32_t g = 0; g < finest[i]; g++)
			counts[n++] = (int64_t) (of->records / finest[i]);
	race_select_signs(&selected);
	race_select_look_groups(&selected, counts);
}

/* The pairs that are far from the reference have tables, where there are records enough. */
static void
test_choice(void)
{
	for (int many = 0; many < 2; many++)
	{
		Case of = {1, 1e-9, 6, many ? 1e6 : 200, 1, RACE_NEIGHBORS_ADD_REMOVE, 1};
		bool right = true;

		begin_even(&of);
		if (race_select_depend(&selected, &errors) && race_select_look(&selected) > 0)
		{
			for (uint32_t k = 0; k < 15; k++)
			{
				/* (0, 5) and (2, 3) */
				scores[k] = k == 4 || k == 9 ? (int64_t) (of.records / 2) : 0;
				pairs[k] = (RacePairErrors){0, 0};
			}
			race_select_gain(&selected, counts, scores, pairs, &errors);
		}
		for (uint32_t k = 0; k < selected.measured; k++)
			right &= (selected.table[k].first == 0 && selected.table[k].second == 5) ||
				(selected.table[k].first == 2 && selected.table[k].second == 3);
		ok(right && selected.measured == (many ? 2 : 0),
		   many ? "two pairs are far from the reference (%u)" :
				  "control: not if noise is as large (%u)",
		   selected.measured);
	}
}

/* A pair that tables of others imply has none: (0, 5), by (0, 2) and (2, 5). */
static void
test_implied(void)
{
	static const Case of = {1, 1e-9, 6, 1e6, 1, RACE_NEIGHBORS_ADD_REMOVE, 1};

	for (int chain = 0; chain < 2; chain++)
	{
		bool measured = false;

		begin_even(&of);
		race_select_depend(&selected, &errors);
		race_select_look(&selected);
		memset(scores, 0, sizeof(scores));
		memset(pairs, 0, sizeof(pairs));
		scores[4] = (int64_t) (0.36 * 2 * of.records);
		scores[1] = (int64_t) ((chain ? 0.42 : 0.01) * 2 * of.records);
		scores[11] = (int64_t) (0.45 * 2 * of.records);
		race_select_gain(&selected, counts, scores, pairs, &errors);
		for (uint32_t k = 0; k < selected.measured; k++)
			measured |= selected.table[k].first == 0 && selected.table[k].second == 5;
		ok(selected.measured >= 2 && measured == !chain,
		   chain ? "what a path of tables implies is not measured (%u tables)" :
				   "control: without the path (%u tables)",
		   selected.measured);
	}
}

/* Where signs begin to be 1 is nearest to the median, whatever noise is. */
static void
test_cut(void)
{
	static const Case of = {1, 0, 2, 1e5, 1, RACE_NEIGHBORS_ADD_REMOVE, 1};
	uint32_t cut[MOST_COLUMNS] = {0};

	begin(&of);
	race_select_list_signs(&selected);
	memset(counts, 0, sizeof(counts));
	for (uint32_t g = 0; g < FINEST; g++)
	{
		counts[g] = g < 10 ? 100 : g < 20 ? 50 : g == 32 ? 1000000 : 0;
		counts[FINEST + g] = g == 31 ? 5000 : g == 32 ? 7 : g == 3 ? -4 : 0;
	}
	race_select_cut(&selected, counts, cut);
	ok(selected.n_signs == 2 && cut[0] == 7, "half of the records in order are below (%u)", cut[0]);
	ok(cut[1] >= 1 && cut[1] < 32, "also where all are in the last group (%u)", cut[1]);
	memset(counts, 0, sizeof(counts));
	race_select_cut(&selected, counts, cut);
	ok(cut[0] >= 1 && cut[0] < 32, "or there are none (%u)", cut[0]);
}

/* Errors that are no numbers decide something, and break nothing. */
static void
test_hostile(void)
{
	static const double hostile[] = {NAN, INFINITY, -INFINITY, -1, 1e300, 0};
	Findings found = {0};

	for (int i = 0; i < 216; i++)
	{
		Case of = {1, i % 2 == 0 ? 0 : 1e-6, 5, 1e5, 1, RACE_NEIGHBORS_ADD_REMOVE, 1};
		RaceReferenceErrors errors = {.explained = 1,
									  .blur = 0,
									  .first = hostile[i % 6],
									  .second = hostile[i / 6 % 6]};
		Paid paid;
		RacePrice again[MOST_COLUMNS];

		begin(&of);
		begin_paying(&paid);
		race_select_count(&selected);
		race_select_one_ways(&selected, (int64_t) of.records);
		make_counts(of.records, (uint64_t) i);
		if (race_select_signs(&selected) > 0)
			race_select_look_groups(&selected, counts);
		if (race_select_depend(&selected, &errors) && race_select_look(&selected) > 0)
		{
			for (uint32_t k = 0; k < 10; k++)
			{
				scores[k] = (int64_t) (mix((uint64_t) i * 10 + k) >> 2) - RACE_MAX_COUNT / 2;
				pairs[k] = (RacePairErrors){hostile[i / 36], hostile[k % 6]};
			}
			race_select_gain(&selected, counts, scores, pairs, &errors);
			found.looks++;
		}
		race_select_rest(&selected, again);
		found.bad_tables += !tables_are_right();
		found.bad_groups += !groups_are_right();
		found.over_budget +=
			race_account_cost(&selected.planned) > race_account_allowed(&selected.planned);
	}
	ok(found.looks > 100 && found.bad_tables + found.bad_groups + found.over_budget == 0,
	   "errors of a reference may be anything");
}

int
main(void)
{
	test_grid(0);
	test_grid(1e-9);
	test_grid(0.01);
	test_without();
	test_choice();
	test_implied();
	test_cut();
	test_hostile();
	return done_testing();
}
