/*
 * select_tables_test.c
 *		What a release of tables of columns costs, for many requests and scores; and what it chooses
 */
#include "privacy/noise.h"
#include "privacy/sampler.h"
#include "hash/contingency.h"
#include "choice/select_tables.h"
#include "helpers.h"
#include "privacy/measure.h"
#include "privacy/score.h"
#include "tap.h"

#define MOST_COLUMNS RACE_GRAPH_COLUMNS
#define MOST_FINEST 60

static uint32_t cells[MOST_COLUMNS];
static uint32_t ordered[MOST_COLUMNS];
static uint32_t width[MOST_COLUMNS];
static double weights[MOST_COLUMNS];
#define NEARLY_TOO_LARGE (RACE_MAX_VARIANCE / 64)

static uint32_t maps[MOST_COLUMNS][MOST_FINEST];
static int64_t counts[MOST_COLUMNS * MOST_FINEST];
static int64_t scores[RACE_SELECT_SCORES];
static RaceCandidate candidates[RACE_SELECT_SCORES + 1];
static RaceSelectTable asked[RACE_SELECT_ASKED];
static RaceRequest request;
static RaceShape shape;

#define DELTA 1e-9

/* A request for columns with at most so many cells; a budget is epsilon, or rho of zCDP */
static void
make_request(RaceSelect *select, uint64_t seed, uint32_t columns, uint32_t most_cells, bool pure,
			 double budget)
{
	memset(select, 0, sizeof(*select));
	request = (RaceRequest){
		.epsilon = pure ? budget : fmax(race_epsilon_of_rho(budget, DELTA), RACE_MIN_EPSILON),
		.delta = pure ? 0 : DELTA,
		.max_contributions = 1,
		.neighbors = RACE_NEIGHBORS_ADD_REMOVE,
		.zcdp = true};
	shape = (RaceShape){.blocks = 1, .unit = 1, .range = 1};
	select->columns = columns;
	select->weights = weights;
	select->parts = 1;
	select->cells = select->finest = cells;
	select->ordered = ordered;
	select->width = width;
	for (uint32_t i = 0; i < columns; i++)
	{
		cells[i] = 1 + (uint32_t) (mix(seed++) % most_cells);
		ordered[i] = (uint32_t) (mix(seed++) % (cells[i] + 1));
		width[i] = 1 + (uint32_t) (mix(seed++) % 4);
		weights[i] = 1;
		select->group_of[i] = maps[i];
	}
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
	long double cost; /* the sum of exact costs, in the account */
	long double told; /* and in zCDP, with all of the noise */
	uint64_t least;
	bool differs; /* from what was planned */
} Paid;

static void
begin_paying(Paid *paid, const RaceSelect *select)
{
	*paid = (Paid){.least = UINT64_MAX};
	paid->exact = race_exact_begin(&paid->memory, &shape);
	race_account_open(&paid->account, NULL, &request,
					  select->columns * pow((double) shape.unit, 2));
}

/*
 * Add the exact cost of noise for a squared change, or one in L1, with roundings of long double
 * alone.
 */
static void
add_cost(Paid *paid, bool score, uint64_t unit, uint64_t noise)
{
	long double m = (long double) request.max_contributions * unit;
	long double l1 = m * (request.neighbors == RACE_NEIGHBORS_SUBSTITUTE ? 2 : 1);
	long double squared = score ? l1 * l1 : l1 * m;

	paid->differs |= noise == 0;
	paid->cost += request.delta == 0 ? l1 * RACE_SCALE_DENOMINATOR / (long double) noise :
									   squared / (2 * (long double) (noise - paid->account.added));
	paid->told += request.delta == 0 ? l1 * RACE_SCALE_DENOMINATOR / (long double) noise :
									   squared / (2 * (long double) noise);
}

/* Pay for a table as it was planned. */
static void
pay_table(Paid *paid, const RacePrice *price)
{
	paid->differs |= race_measure_sums(&paid->account, paid->exact, NULL, price->amount, NULL,
									   NULL) != price->noise;
	add_cost(paid, false, shape.unit, price->noise);
	paid->least = price->noise < paid->least ? price->noise : paid->least;
}

/* Pay for so many scores. */
static void
pay_scores(Paid *paid, uint32_t n, double price)
{
	for (uint32_t k = 0; k < n; k++)
		add_cost(paid, true, shape.unit,
				 race_score_distance(&paid->account, paid->exact, NULL, NULL, price, NULL, NULL));
}

/* Pick tables by scores, and pay for each selection. */
static void
pick_tables(Paid *paid, RaceSelect *select, double price)
{
	for (uint32_t i = 0; i < race_select_picks(select); i++)
	{
		uint32_t n = race_select_qualities(select, price, candidates);
		uint32_t most = 0;
		double best = -INFINITY;
		uint64_t weight = 0;

		for (uint32_t k = 0; k < n; k++)
		{
			bool none = candidates[k].score == RACE_NO_SCORE;
			double quality =
				(none ? 0 : (double) candidates[k].weight * (double) scores[candidates[k].score]) -
				(double) candidates[k].penalty;

			most = quality > best ? k : most;
			best = fmax(quality, best);
			weight = none || candidates[k].weight < weight ? weight : candidates[k].weight;
		}
		if (n == 0)
			break;
		add_cost(paid, true, 2 * weight * shape.unit,
				 race_select(&paid->account, paid->exact, NULL, candidates, n, price, NULL));
		if (!race_select_pick(select, &candidates[most]))
			break;
	}
	race_select_take(select);
}

/* Pay for the score of blocks of so many cells. */
static void
pay_unevenness(Paid *paid, uint32_t block, double price)
{
	add_cost(paid, true, 2 * (block - 1) * shape.unit,
			 race_score_unevenness(&paid->account, paid->exact, 0, 0, block, price, NULL, NULL));
}

typedef struct Findings
{
	int released;
	int refused;
	int pairs;
	int triples;
	int blocks;       /* scores of blocks, */
	int kept;         /* and those that were kept */
	int all;          /* measured all pairs without scores */
	int exact;        /* paid from the exact account of Gaussian noise */
	int differs;      /* what was paid is not what was planned */
	int over_budget;  /* the sum of exact costs is above the budget */
	int cost_too_low; /* or above the cost that is stated */
	/* more than 3 % is not spent, though noise is neither the least nor the most possible */
	int wasted;
	int bad_groups;
	int bad_tables;
} Findings;

static bool
groups_are_right(const RaceSelect *select)
{
	for (uint32_t i = 0; i < select->columns; i++)
	{
		bool used[MOST_FINEST] = {false};

		for (uint32_t c = 0; c < cells[i]; c++)
		{
			if (maps[i][c] >= select->groups[i])
				return false;
			used[maps[i][c]] = true;
		}
		for (uint32_t g = 0; g < select->groups[i]; g++)
			if (!used[g])
				return false;
	}
	return true;
}

static bool
tables_are_right(const RaceSelect *select)
{
	RaceColumnSet neighbors[MOST_COLUMNS] = {0};

	for (uint32_t k = 0; k < select->measured; k++)
	{
		const RaceSelectTable *table = &select->table[k];
		RaceColumnSet set =
			RACE_COLUMN(table->first) | RACE_COLUMN(table->second) | RACE_COLUMN(table->third);

		if (table->first >= table->second || table->second > table->third ||
			table->third >= select->columns || table->price.noise == 0)
			return false;
		for (uint32_t i = 0; i < k; i++)
			if (select->table[i].first == table->first &&
				select->table[i].second == table->second && select->table[i].third == table->third)
				return false;
		neighbors[table->first] |= set & ~RACE_COLUMN(table->first);
		neighbors[table->second] |= set & ~RACE_COLUMN(table->second);
		neighbors[table->third] |= set & ~RACE_COLUMN(table->third);
	}
	return race_junction_tree(select->columns, select->groups, neighbors, NULL) <= 1e6;
}

/* A whole release with random counts and scores of a size */
static void
release(RaceSelect *select, uint64_t seed, double size, Findings *findings)
{
	RacePrice again[MOST_COLUMNS];
	Paid paid;
	double price;
	uint64_t most = 0;
	uint32_t from = 0;
	size_t n = 0;

	race_select_begin(select, &request, &shape);
	begin_paying(&paid, select);
	if (race_select_count(select) == 0 || !race_select_one_ways(select, (int64_t) size))
	{
		findings->refused++;
		return;
	}
	findings->released++;
	findings->exact += paid.account.added > 0;
	paid.differs |= race_measure_count(&paid.account, paid.exact, select->count.amount, NULL) !=
		select->count.noise;
	add_cost(&paid, false, 1, select->count.noise);
	paid.least = select->count.noise;
	for (uint32_t i = 0; i < select->columns; i++)
	{
		if (select->block[i] > 1)
		{
			pay_unevenness(&paid, select->block[i], select->unevenness[i]);
			race_select_block(select, i,
							  (int64_t) (select->block[i] * size * signed_unit(mix(seed++))));
			findings->blocks++;
			findings->kept += select->block[i] > 1;
		}
		pay_table(&paid, &select->one_way[i]);
		most = select->one_way[i].noise > most ? select->one_way[i].noise : most;
		for (uint32_t c = 0; c < cells[i]; c++)
			counts[n++] =
				(int64_t) ((double) select->unit * size / cells[i] * 3 * signed_unit(mix(seed++)));
	}
	race_select_join(select, counts);
	findings->all += race_select_all(select);
	for (; from < select->measured; from++)
		pay_table(&paid, &select->table[from].price);
	findings->bad_groups += !groups_are_right(select) || !(select->total >= 1);
	while ((price = race_select_round(select)) > 0)
	{
		uint32_t n = race_select_candidates(select);

		for (uint32_t k = 0; k < n; k++)
			scores[k] = (int64_t) ((double) select->unit * size * 2 * signed_unit(mix(seed++)));
		if (select->pure)
			pick_tables(&paid, select, price);
		else
		{
			pay_scores(&paid, n, price);
			race_select_choose(select, scores);
		}
		for (; from < select->measured; from++)
			pay_table(&paid, &select->table[from].price);
	}
	if (race_select_rest(select, again))
		for (uint32_t i = 0; i < select->columns; i++)
			pay_table(&paid, &again[i]);
	for (uint32_t k = 0; k < select->measured; k++)
		findings->triples += select->table[k].third != select->table[k].second;
	findings->pairs += (int) select->measured;
	findings->bad_tables += !tables_are_right(select);
	findings->differs +=
		paid.differs || race_account_cost(&paid.account) != race_account_cost(&select->planned);
	findings->over_budget +=
		paid.cost > (long double) race_account_allowed(&paid.account) * (1 + 1e-17L) ||
		race_account_cost(&paid.account) > race_account_allowed(&paid.account);
	findings->cost_too_low +=
		paid.told > (long double) race_account_cost(&paid.account) * (1 + 1e-17L);
	findings->wasted += paid.least > 1000 && most < NEARLY_TOO_LARGE &&
		paid.cost < 0.97L * (long double) race_account_allowed(&paid.account);
}

/* Some sets of three columns that matter more, and one of two */
static void
ask_for(RaceSelect *select, uint64_t seed)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i + 2 < select->columns && n + 1 < RACE_SELECT_ASKED; i++)
		asked[n++] =
			(RaceSelectTable){i,
							  i + 1,
							  i + 2 + (uint32_t) (mix(seed + i) % (select->columns - i - 2)),
							  1 + n % 5,
							  {0, 0}};
	if (n > 0)
		asked[n++] = (RaceSelectTable){0, 2, 2, 4, {0, 0}};
	select->asked = asked;
	select->n_asked = n;
}

/* As many columns as there may be: under sanitizers once, where that takes a second or so */
static bool
is_widest(bool pure, uint64_t seed)
{
	return SANITIZED ? pure && seed == 7 : seed % 500 == 0;
}

static void
test_costs(bool pure)
{
	Findings findings = {0};

	for (uint64_t seed = 1; seed <= CASES(1500, 500); seed++)
	{
		RaceSelect select;
		uint32_t columns = is_widest(pure, seed) ? MOST_COLUMNS : 1 + (uint32_t) (mix(seed) % 14);

		make_request(&select, seed << 20, columns, seed % 3 == 0 ? 2 : MOST_FINEST, pure,
					 log_uniform(mix(seed + 7), 1e-7, pure ? 1e3 : 1e5));
		request.neighbors = seed % 2 == 0 ? RACE_NEIGHBORS_SUBSTITUTE : RACE_NEIGHBORS_ADD_REMOVE;
		request.zcdp = seed % 3 > 0;
		request.max_contributions =
			seed % 5 == 0 ? (uint32_t) log_uniform(mix(seed + 9), 1, 2147483647) : 1;
		for (uint32_t i = 0; i < columns && seed % 7 == 0; i++)
			weights[i] = 1 + (double) (mix(seed + i) % 3);
		if (seed % 4 == 0)
		{
			select.parts = 2;
			shape.unit = RACE_MEASURE_UNIT;
		}
		if (seed % 3 == 1)
			ask_for(&select, seed);
		release(&select, seed << 30, log_uniform(mix(seed + 11), 1, 1e9), &findings);
	}
	printf(
		"# %s: %d releases of %d tables, %d of three columns, %d of all, %d refused; %d of %d columns in blocks; %d exact\n",
		pure ? "pure" : "Gaussian", findings.released, findings.pairs, findings.triples,
		findings.all, findings.refused, findings.kept, findings.blocks, findings.exact);
	ok(findings.over_budget == 0 && findings.cost_too_low == 0 &&
		   (SANITIZED ||
			(findings.released > 1000 && findings.pairs > 1000 && findings.all > 100 &&
			 findings.triples > 100 && findings.kept > 10 && findings.kept < findings.blocks)),
	   "the sum of costs is at most what is stated, and that is at most the budget");
	ok(findings.differs == 0 &&
		   (pure || SANITIZED ||
			(findings.exact > 100 && findings.exact < findings.released - 100)),
	   "another account has the same noise for the same prices, in both accounts of Gaussian noise");
	ok(findings.wasted == 0, "nearly all of the budget is spent");
	ok(findings.bad_groups == 0 && findings.bad_tables == 0,
	   "groups are numbered, tables are different and in a small tree");
}

/* One column, constant columns, and noise that would be too large */
static void
test_small(void)
{
	RaceSelect select;
	Findings findings = {0};

	make_request(&select, 1, 1, 30, false, 0.01);
	release(&select, 5, 1e4, &findings);
	ok(findings.released == 1 && select.measured == 0 && findings.wasted == 0,
	   "one column gets all");
	make_request(&select, 1, 14, 1, true, 1);
	release(&select, 5, 1e5, &findings);
	ok(findings.released == 2 &&
		   findings.bad_groups + findings.bad_tables + findings.over_budget == 0,
	   "columns of one cell");
	make_request(&select, 1, 14, 30, false, 1e-30);
	request.delta = RACE_MIN_DELTA;
	race_select_begin(&select, &request, &shape);
	ok(race_select_count(&select) == 0, "noise beyond all limits is refused");
	make_request(&select, 1, 40, 60, false, 2e-8);
	release(&select, 6, 2000, &findings);
	ok(select.measured == 0 &&
		   race_account_cost(&select.planned) > 0.97 * race_account_allowed(&select.planned),
	   "if scores would say nothing, tables of one column get all");
}

/* Pairs that are far from the reference are chosen, if there are records enough */
static void
test_choice(void)
{
	for (int many = 0; many < 2; many++)
	{
		RaceSelect select;
		double price;
		double size = many ? 1e5 : 300;
		bool right = true;

		make_request(&select, 3, 6, 2, false, 0.01);
		for (uint32_t i = 0; i < 6; i++)
			cells[i] = 13;
		race_select_begin(&select, &request, &shape);
		race_select_count(&select);
		race_select_one_ways(&select, (int64_t) size);
		for (uint32_t i = 0; i < 6 * 13; i++)
			counts[i] = (int64_t) (size / 13);
		race_select_join(&select, counts);
		while ((price = race_select_round(&select)) != 0)
		{
			for (uint32_t k = 0; k < 15; k++)
				scores[k] = k == 4 || k == 9 ? (int64_t) size / 5 : 0;
			race_select_suppose(&select, price, scores, candidates);
		}
		/* (0, 5) and (2, 3) */
		for (uint32_t k = 0; k < select.measured; k++)
			right &= (select.table[k].first == 0 && select.table[k].second == 5) ||
				(select.table[k].first == 2 && select.table[k].second == 3);
		ok(right && select.measured == (many ? 2 : 0),
		   many ? "two pairs are far from the reference" : "control: not if noise is as large");
	}
}

/*
 * A table of a label and two columns is chosen if it is far from the reference, and none of its
 * pairs is as far
 */
static void
test_candidates(void)
{
	for (int own = 0; own < 2; own++)
	{
		RaceSelect select;
		double price;
		uint32_t triples = 0;

		make_request(&select, 3, 6, 2, false, 0.01);
		for (uint32_t i = 0; i < 6; i++)
			cells[i] = 13;
		weights[5] = 4;
		for (uint32_t i = 0; i < 4; i++)
			asked[i] = (RaceSelectTable){i, i + 1, 5, 1, {0, 0}};
		select.asked = asked;
		select.n_asked = 4;
		race_select_begin(&select, &request, &shape);
		race_select_count(&select);
		race_select_one_ways(&select, 13000000);
		for (uint32_t i = 0; i < 6 * 13; i++)
			counts[i] = 1000000;
		race_select_join(&select, counts);
		race_select_all(&select);
		while ((price = race_select_round(&select)) != 0)
		{
			for (uint32_t k = 0; k < race_select_candidates(&select); k++)
				scores[k] = k == 15 || (k == 0 && !own) ? 4000000 : 0;
			race_select_suppose(&select, price, scores, candidates);
		}
		for (uint32_t k = 0; k < select.measured; k++)
			triples += select.table[k].third != select.table[k].second;
		ok(triples == (own ? 1 : 0),
		   own ? "a table of a label and two columns is far from the reference" :
				 "control: not if a pair is as far");
	}
}

/*
 * The pairs of a column that matters more are measured, whatever scores say, if noise lets them
 * have groups
 */
static void
test_label(void)
{
	for (int many = 0; many < 2; many++)
	{
		RaceSelect select;
		Findings findings = {0};
		uint32_t of_label = 0;

		make_request(&select, 3, 14, 1, true, 0.1);
		for (uint32_t i = 0; i < 14; i++)
			cells[i] = 10;
		weights[5] = 4;
		release(&select, 7, many ? 3e4 : 300, &findings);
		for (uint32_t k = 0; k < select.measured; k++)
			of_label += select.table[k].first == 5 || select.table[k].second == 5;
		ok(findings.bad_tables + findings.over_budget + findings.wasted == 0 &&
			   of_label == (many ? 13 : 0) && (many || select.measured == 0),
		   many ? "all pairs of a label are measured, whatever is picked besides" :
				  "control: not if noise is as large");
	}
}

int
main(void)
{
	test_costs(true);
	test_costs(false);
	test_small();
	test_choice();
	test_candidates();
	test_label();
	return done_testing();
}
