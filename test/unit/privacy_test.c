/*
 * privacy_test.c
 *		An audit of the calls of src/privacy, whatever is passed to them: accounts, counting,
 *		measuring, looks, scores
 *
 * - An account pays no more than its budget, and nothing after that.
 * - What a record adds is bounded, whatever buckets, cells, parts, shares and vectors it comes
 * with.
 * - Exact numbers of neighbors that get noise (tape.h) differ by no more than what was paid for.
 * - What was paid is taken off.
 * - A call leaves no exact number in memory of the caller's: not if it draws nothing, and not if an
 * interrupt does not return.  Nor does it draw a number twice if its memory is that of counters.
 *
 * All is of fixed seeds.  As controls, an account that forgets what it paid, and counting without
 * bounds, must be found out, and neighbors must differ by nearly as much as they may.
 */
#include <float.h>
#include <setjmp.h>

#include "privacy/budget.h"
#include "privacy/count.h"
#include "privacy/ends.h"
#include "privacy/exact.h"
#include "privacy/interrupt.h"
#include "privacy/look.h"
#include "privacy/payment.h"
#include "privacy/products.h"
#include "privacy/score.h"
#include "privacy/select.h"
#include "privacy/signs.h"
#include "tap.h"
#include "tape.h"

#define MOST 1024 /* counters of a shape */
#define BEYOND 64 /* counters after these, which nothing may change */
#define UNTOUCHED INT64_C(-7777)

static uint64_t state;

static uint64_t
draw(void)
{
	return mix(++state);
}

/* ------------------------------------------------------------------ shapes */

typedef enum Form
{
	ROWS,
	TABLES,
	PAIRS,
	LINE,
	PLANE,
	SPACE,
	PRODUCTS,
	ABSOLUTE_PRODUCTS,
	FORMS
} Form;

#define COLUMNS 5
#define PARTS 2 /* of a cell of the first table, of 5 x 3 x 2 cells */

static const size_t ends[] = {60, 84, 114};

/* Tables of columns, of all pairs, and of three columns; cells have PARTS */
#define PAIRED 4
#define MOST_PLACES 4 /* of a column */
static const uint32_t lengths[PAIRED] = {3, 2, 4, 2};
static const size_t paired_ends[] = {6, 10, 18, 22, 34, 58, 70, 86, 94, 110, 158};

static const RaceShape shapes[FORMS] = {
	{.blocks = 20, .unit = 1, .range = 9},
	{.blocks = 3, .unit = 640, .ends = ends},
	{.blocks = 11, .unit = 640, .ends = paired_ends, .paired = PAIRED},
	{.blocks = 1, .unit = 4096, .range = 33, .nodes = {1, {32}}, .halvings = 3},
	{.blocks = 1, .unit = 4096, .range = 17 * 9, .nodes = {2, {16, 8}}, .halvings = 2},
	{.blocks = 1, .unit = 4096, .range = 9 * 9 * 9, .nodes = {3, {8, 8, 8}}, .halvings = 1},
	{.unit = 1, .columns = COLUMNS, .squared = UINT64_C(3) << 26},
	{.unit = 1, .columns = COLUMNS, .squared = UINT64_C(3) << 26, .absolute = true}};

static size_t
counters_of(Form form)
{
	const RaceShape *shape = &shapes[form];

	return form >= PRODUCTS ? race_products_counters(COLUMNS) :
		shape->ends != NULL ? shape->ends[shape->blocks - 1] :
							  (size_t) shape->blocks * shape->range;
}

static bool
is_grid(Form form)
{
	return form >= LINE && form <= SPACE;
}

/* ---------------------------------------------------------------- counting */

/* A number that no caller should pass */
static uint32_t
hostile_index(uint64_t bits, size_t n)
{
	static const uint32_t beyond[] = {UINT32_MAX, 1U << 31, INT32_MAX, UINT32_MAX - 1};

	return bits % 4 > 0 ? (uint32_t) (bits / 4 % n) :
		bits % 8 > 0    ? (uint32_t) n :
						  beyond[bits / 8 % 4];
}

static int64_t
hostile_part(uint64_t bits, int64_t unit)
{
	const int64_t parts[] = {0,         unit,      -unit, unit < INT64_MAX ? unit + 1 : 0,
							 INT64_MAX, INT64_MIN, 1,     unit / 2};

	return parts[bits % 8];
}

/* Parts that add up to a unit in half of all cases, in such steps; else any */
static void
make_parts(int64_t *part, int n, int64_t unit, int64_t step)
{
	int64_t left = unit;
	bool adds_up = draw() % 2 == 0;

	for (int i = 0; i < n; i++)
	{
		part[i] = !adds_up  ? hostile_part(draw(), unit) :
			i == n - 1      ? left :
			draw() % 4 == 0 ? left :
							  (int64_t) (draw() % (uint64_t) (left / step + 1)) * step;
		left -= adds_up ? part[i] : 0;
	}
}

typedef struct Counters
{
	int64_t counter[MOST + BEYOND];
	int64_t count;
} Counters;

static void
count_in_rows(Counters *to, int64_t weight)
{
	uint32_t buckets[RACE_LANES];
	const RaceShape *shape = &shapes[ROWS];

	for (int i = 0; i < RACE_LANES; i++)
		buckets[i] = hostile_index(draw(), shape->range);
	race_count_rows((RaceCounterArray){to->counter, 8}, buckets, 1, shape->blocks, shape->range,
					weight);
}

static void
count_in_tables(Counters *to, int64_t weight)
{
	RaceCounterArray array = {to->counter, 8};

	for (uint32_t block = 0; block < shapes[TABLES].blocks; block++)
	{
		uint32_t parts = block == 0 ? PARTS : 1;
		uint32_t cell =
			hostile_index(draw(), (ends[block] - (block > 0 ? ends[block - 1] : 0)) / parts);
		int64_t part[PARTS];

		make_parts(part, (int) parts, (int64_t) shapes[TABLES].unit, 1);
		race_count_cells(&shapes[TABLES], array, block, &cell, part, parts, 1, weight);
	}
}

/* Count in a block of a shape whose cells have parts, in any cell. */
static void
count_in_any_cell(const RaceShape *shape, RaceCounterArray array, uint32_t block,
				  const int64_t *part, int64_t weight)
{
	size_t begin = block > 0 ? shape->ends[block - 1] : 0;
	uint32_t cell = hostile_index(draw(), (shape->ends[block] - begin) / PARTS);

	race_count_cells(shape, array, block, &cell, part, PARTS, 1, weight);
}

/* A record is anywhere in each column, and in the table of three. */
static void
count_in_pairs(Counters *to, int64_t weight)
{
	const RaceShape *shape = &shapes[PAIRS];
	RaceCounterArray array = {to->counter, 8};
	RaceCounterArray of_pairs = {to->counter + paired_ends[PAIRED - 1], 8};
	uint32_t place[PAIRED];
	int64_t part[PARTS];

	make_parts(part, PARTS, (int64_t) shape->unit, 1);
	for (uint32_t j = 0; j < PAIRED; j++)
	{
		place[j] = hostile_index(draw(), lengths[j]);
		race_count_cells(shape, array, j, &place[j], part, PARTS, 1, weight);
	}
	race_count_pairs(shape->unit, of_pairs, PAIRED, lengths, place, part, PARTS, 1, weight);
	count_in_any_cell(shape, array, shape->blocks - 1, part, weight);
}

/* Nodes are in the middle, or anywhere. */
static void
count_in_grid(Form form, Counters *to, int64_t weight)
{
	const RaceShape *shape = &shapes[form];
	int64_t step = INT64_C(1) << shape->halvings * shape->nodes.dims;
	int n = draw() % 2 == 0 ? 1 : 1 << shape->nodes.dims;
	uint32_t node[8];
	int64_t share[8];

	make_parts(share, n, (int64_t) shape->unit, draw() % 4 == 0 ? 1 : step);
	for (int i = 0; i < n; i++)
		node[i] = draw() % 2 == 0 ? shape->range / 2 + (uint32_t) (draw() % 3) - 1 :
									hostile_index(draw(), shape->range);
	race_count_split(shape, node, share, n, weight, (RaceCounterArray){to->counter, 8});
}

static int16_t
hostile_coordinate(uint64_t bits)
{
	static const int16_t edges[] = {INT16_MIN,          INT16_MAX, 0,  RACE_PRODUCTS_ONE,
									-RACE_PRODUCTS_ONE, 1,         -1, RACE_PRODUCTS_ONE + 1};

	return bits % 4 == 0 ? edges[bits / 4 % 8] : bits % 4 == 1 ? 0 : (int16_t) (bits >> 8);
}

static void
make_vector(int16_t *v, int16_t *vector)
{
	bool corner = draw() % 4 == 0;

	for (uint32_t i = 0; i < COLUMNS; i++)
		v[i * RACE_PRODUCTS_TOGETHER] = vector[i] =
			corner ? (draw() % 2 == 0 ? INT16_MAX : INT16_MIN) : hostile_coordinate(draw());
}

static void
count_products(Form form, Counters *to, int64_t weight)
{
	static int16_t v[COLUMNS * RACE_PRODUCTS_TOGETHER];
	int16_t vector[COLUMNS];

	make_vector(v, vector);
	race_count_products(&shapes[form], v, 1, weight,
						draw() % 2 == 0 && __builtin_cpu_supports("avx2"), to->counter);
}

/* Count a record that is as hostile as can be. */
static void
count_record(Form form, Counters *to, int64_t weight)
{
	if (form == ROWS)
		count_in_rows(to, weight);
	else if (form == TABLES)
		count_in_tables(to, weight);
	else if (form == PAIRS)
		count_in_pairs(to, weight);
	else if (is_grid(form))
		count_in_grid(form, to, weight);
	else
		count_products(form, to, weight);
	to->count += weight;
}

/* The same with the old addition, which trusted what it was given; only within memory. */
static void
count_unchecked(Form form, Counters *to, int64_t weight)
{
	int64_t part[8];
	int16_t v[COLUMNS * RACE_PRODUCTS_TOGETHER];
	int16_t vector[COLUMNS];
	size_t at = 0;

	make_parts(part, 8, (int64_t) shapes[form].unit, 1);
	make_vector(v, vector);
	if (form == ROWS)
		for (uint32_t row = 0; row < shapes[ROWS].blocks; row++)
			to->counter[(row * shapes[ROWS].range + hostile_index(draw(), shapes[ROWS].range)) %
						counters_of(ROWS)] += weight;
	else if (form == PAIRS)
		for (uint32_t block = 0; block < shapes[PAIRS].blocks; block++)
			count_in_any_cell(&shapes[PAIRS], (RaceCounterArray){to->counter, 8}, block, part,
							  weight);
	else if (form < PRODUCTS)
		for (int i = 0; i < 8; i++)
			to->counter[draw() % counters_of(form)] +=
				(int64_t) ((uint64_t) weight * (uint64_t) part[i] % (UINT64_C(1) << 60));
	else
		for (int i = 0; i < COLUMNS; i++)
			for (int j = i; j < COLUMNS; j++)
				to->counter[at++] += weight * vector[i] * vector[j];
}

/* ------------------------------------------------------------------- signs */

/* What no caller should pass counts as one of three signs. */
static int8_t
hostile_sign(uint64_t bits)
{
	static const int8_t signs[] = {-1, 0, 1, 1, -1, INT8_MIN, INT8_MAX, 2};

	return signs[bits % 8];
}

static int
sign_of(int8_t sign)
{
	return sign > 0 ? 1 : sign < 0 ? -1 : 0;
}

/* The sum of the table of one column, or of a pair, times signs, as it is defined */
static __int128
sum_of_signs(const int64_t *counters, int8_t (*sign)[MOST_PLACES], uint32_t i, uint32_t j)
{
	uint32_t block = PAIRED;
	__int128 sum = 0;

	for (uint32_t k = 0; k < i; k++)
		block += PAIRED - 1 - k;
	block = i == j ? i : block + j - i - 1;
	counters += block > 0 ? paired_ends[block - 1] : 0;
	for (uint32_t k = 0; k < lengths[i]; k++)
		for (uint32_t l = 0; l < (i == j ? 1 : lengths[j]); l++)
			for (int part = 0; part < PARTS; part++)
				sum += (__int128) *counters++ * sign_of(sign[i][k]) *
					sign_of(i == j ? sign[i][k] : sign[j][l]);
	return sum;
}

/*
 * Is what was added a unit times s s', whatever the signs of places are?  Sums of single columns are
 * its diagonal.
 */
static bool
is_of_rank_one(const Counters *a, const Counters *b)
{
	int8_t sign[PAIRED][MOST_PLACES];
	long double sum[PAIRED][PAIRED];
	bool is = true;

	for (uint32_t i = 0; i < PAIRED; i++)
		for (uint32_t k = 0; k < MOST_PLACES; k++)
			sign[i][k] = hostile_sign(draw());
	for (uint32_t i = 0; i < PAIRED; i++)
		for (uint32_t j = i; j < PAIRED; j++)
			sum[i][j] = sum[j][i] = (long double) (sum_of_signs(b->counter, sign, i, j) -
												   sum_of_signs(a->counter, sign, i, j));
	for (uint32_t i = 0; i < PAIRED; i++)
		for (uint32_t j = 0; j < PAIRED; j++)
		{
			is &= sum[i][j] * sum[i][j] == sum[i][i] * sum[j][j];
			for (uint32_t k = 0; k < PAIRED; k++)
				is &= sum[i][j] * sum[j][k] * sum[k][i] >= 0;
		}
	return is;
}

/* Is what was added within what a record may change: of each block, or of all products? */
static bool
is_bounded(Form form, const Counters *a, const Counters *b, int64_t weight)
{
	const RaceShape *shape = &shapes[form];
	uint32_t blocks = form >= PRODUCTS ? 1 : shape->blocks;
	long double l1_of_all = 0;
	long double squared_of_all = 0;
	long double trace = 0;
	bool bounded = true;

	for (uint32_t block = 0; block < blocks; block++)
	{
		size_t first = shape->ends != NULL && block > 0 ? shape->ends[block - 1] :
														  block * (size_t) shape->range;
		size_t last = form >= PRODUCTS ? counters_of(form) :
			shape->ends != NULL        ? shape->ends[block] :
										 first + shape->range;
		long double l1 = 0;

		for (size_t i = first; i < last; i++)
		{
			long double off = (long double) b->counter[i] - a->counter[i];

			l1 += fabsl(off);
			squared_of_all += off * off;
			bounded &= form >= PRODUCTS || off >= 0;
		}
		l1_of_all += l1;
		bounded &= form >= PRODUCTS || l1 <= (long double) shape->unit * weight;
	}
	for (size_t i = counters_of(form); i < MOST + BEYOND; i++)
		bounded &= a->counter[i] == b->counter[i];
	bounded &= form != PAIRS || is_of_rank_one(a, b);
	if (form < PRODUCTS)
		return bounded && l1_of_all <= (long double) race_blocks_l1(shape, blocks) * weight &&
			squared_of_all <= (long double) race_blocks_squared(shape, blocks) * weight * weight;
	for (uint32_t i = 0; i < COLUMNS; i++)
	{
		size_t at = race_product_counter(COLUMNS, i, i);
		long double off = (long double) b->counter[at] - a->counter[at];

		trace += off;
		squared_of_all -= off * off / 2;
	}
	return bounded && l1_of_all <= (long double) race_products_l1(shape, 0) * weight &&
		squared_of_all <= (long double) race_products_squared(shape, 0) * weight * weight &&
		trace <= (long double) race_products_trace(shape, 0) * weight;
}

static void
make_counters(Form form, Counters *counters)
{
	bool empty = draw() % 4 == 0;

	memset(counters, 0, sizeof(Counters));
	for (size_t i = 0; i < counters_of(form) && !empty; i++)
		counters->counter[i] =
			draw() % 4 == 0 ? 0 : (int64_t) (draw() >> (form < PRODUCTS ? 20 + draw() % 44 : 24));
}

/* Parts whose sum is the unit modulo 2^64 */
static bool
counts_a_unit_of_parts_that_wrap(void)
{
	const RaceShape shape = {.blocks = 1, .unit = UINT64_C(1) << 62, .range = 5};
	const int64_t unit = (int64_t) shape.unit;
	const int64_t part[] = {unit, unit, unit, unit, unit};
	const uint32_t cell = 0;
	int64_t counters[5] = {0};

	race_count_cells(&shape, (RaceCounterArray){counters, 8}, 0, &cell, part, 5, 1, 1);
	return counters[0] == unit && counters[1] == 0 && counters[2] == 0 && counters[3] == 0 &&
		counters[4] == 0;
}

/*
 * Records with numbers that are too large add up: as many times what one adds, where sums of
 * products that nobody cut would not fit.
 */
static bool
adds_up_products(bool vectors)
{
	static const RaceShape shape = {.unit = 1,
									.columns = COLUMNS,
									.squared = (uint64_t) COLUMNS << 26};
	static int16_t v[COLUMNS * RACE_PRODUCTS_TOGETHER];
	int64_t one[COLUMNS * (COLUMNS + 1) / 2] = {0};
	int64_t all[COLUMNS * (COLUMNS + 1) / 2] = {0};
	bool adds_up = true;

	memset(v, 0, sizeof(v));
	v[0] = INT16_MAX;
	race_count_products(&shape, v, 1, 1, vectors, one);
	for (int i = 0; i < RACE_PRODUCTS_TOGETHER; i++)
		v[i] = INT16_MAX;
	race_count_products(&shape, v, RACE_PRODUCTS_TOGETHER, 1, vectors, all);
	for (int i = 0; i < COLUMNS * (COLUMNS + 1) / 2; i++)
		adds_up &= all[i] == one[i] * RACE_PRODUCTS_TOGETHER;
	return adds_up && one[0] == (int64_t) RACE_PRODUCTS_ONE * RACE_PRODUCTS_ONE;
}

static void
test_counting(int n)
{
	for (Form form = 0; form < FORMS; form++)
	{
		bool bounded = true;
		long beyond = 0;

		for (int i = 0; i < n; i++)
		{
			static Counters before;
			static Counters after;
			int64_t weight = (int64_t) (1 + draw() % 1000);

			make_counters(form, &before);
			after = before;
			count_record(form, &after, weight);
			bounded &= is_bounded(form, &before, &after, weight);
			after = before;
			count_unchecked(form, &after, weight);
			beyond += !is_bounded(form, &before, &after, weight);
		}
		ok(bounded && beyond > n / 4,
		   "form %d: a record adds no more than is declared, whatever is passed in; unchecked it would (%ld of %d)",
		   (int) form, beyond, n);
	}
	ok(adds_up_products(false) && adds_up_products(__builtin_cpu_supports("avx2")),
	   "... nor do sums of products, of as many records as are added up at a time");
	ok(counts_a_unit_of_parts_that_wrap(), "... not of parts whose sum wraps around either");
}

/* ---------------------------------------------------------------- accounts */

static uint64_t position;
static RaceRandom some_random = {fill_from_pattern, &position, 0, {0}};

static double opened_for;

/* Laplace, zCDP or exact accounts, with weights, of neighbors that add or replace records */
static RaceRequest
open_account(RaceAccount *account)
{
	RaceRequest request = {.epsilon = log_uniform(draw(), 0.01, 20),
						   .delta = draw() % 3 == 0 ? 0 : 1e-6,
						   .max_contributions = 1 + (uint32_t) (draw() % 5),
						   .weight_bits = draw() % 3 == 0 ? (uint32_t) (draw() % 6) : 0,
						   .neighbors = draw() % 2 == 0 ? RACE_NEIGHBORS_ADD_REMOVE :
														  RACE_NEIGHBORS_SUBSTITUTE,
						   .zcdp = draw() % 2 == 0};

	opened_for = draw() % 4 == 0 ? 1 : 1e20;
	race_account_open(account, &some_random, &request, opened_for);
	return request;
}

/* A price that may be anything */
static double
any_price(const RaceAccount *account)
{
	const double hostile[] = {INFINITY, NAN,    -1,        0,
							  DBL_MAX,  5e-324, -INFINITY, 2 * race_account_allowed(account)};

	return draw() % 4 == 0 ? hostile[draw() % 8] :
							 race_account_allowed(account) *
			pow((signed_unit(draw()) + 1) / 2, 1 + (double) (draw() % 4));
}

/* What one payment truly costs, as the account counts it */
static long double
true_cost(const RaceAccount *account, RaceChange change, uint64_t noise)
{
	return noise == 0 ? 0 :
		account->mechanism == RACE_MECHANISM_LAPLACE ?
						(long double) change.l1 * RACE_SCALE_DENOMINATOR / noise :
						(long double) change.squared / 2 / (long double) (noise - account->added);
}

/*
 * Pay often, and then what is left; returns the true cost in parts of the budget, or more than 2
 * for another fault.
 */
static long double
spend(bool forgets)
{
	RaceAccount account;
	long double cost = 0;
	uint64_t noise;
	RaceChange change;

	open_account(&account);
	for (int i = 0; i < 40; i++)
	{
		uint64_t l1 = 1 + draw() % (UINT64_C(1) << draw() % 30);
		double price = i < 38 ? any_price(&account) : INFINITY;
		double left = race_account_left(&account);

		change = draw() % 2 == 0 ? race_change_of_score(&account, l1) :
								   race_change_of_counters(&account, l1, l1 * (1 + draw() % l1));
		noise = race_pay(&account, price, change);
		if (!forgets && noise > 0 &&
			(!(left > 0) ||
			 true_cost(&account, change, noise) > fminl(price, left) * (1 + LDBL_EPSILON * 4)))
			return 3;
		cost += true_cost(&account, change, noise);
		if (forgets)
			account.allotted = 0;
	}
	if (!forgets &&
		(race_pay(&account, INFINITY, change) != 0 ||
		 race_account_cost(&account) > race_account_allowed(&account)))
		return 4;
	return cost / race_account_allowed(&account);
}

static bool
pays_shares(void)
{
	RaceRequest request = {.epsilon = 1,
						   .delta = 1e-6,
						   .max_contributions = 1 + (uint32_t) (draw() % 9)};
	RaceAccount account;
	RaceChange counters;
	RaceChange count;

	race_account_open_share(&account, &some_random, &request, 100, 200, 12);
	count = race_change_of_counters(&account, 1, 1);
	counters = race_change_of_counters(&account, 12, 12);
	return race_pay(&account, INFINITY, counters) == 0 && race_pay(&account, 1, count) == 100 &&
		race_pay(&account, 1, race_change_of_counters(&account, 13, 13)) == 0 &&
		race_pay(&account, 1, counters) == 200 && race_pay(&account, 1, counters) == 0 &&
		race_pay(&account, INFINITY, count) == 0;
}

/* A share has Gaussian noise, and a plan beyond all numbers pays for no change beyond them. */
static bool
refuses_shares(void)
{
	RaceRequest request = {.epsilon = 1, .delta = 0, .max_contributions = 1};
	RaceAccount account;

	race_account_open_share(&account, &some_random, &request, 100, 200, UINT64_MAX);
	return account.mechanism == RACE_MECHANISM_GAUSSIAN &&
		race_pay(&account, 1, race_change_of_counters(&account, 1, 1)) == 100 &&
		race_pay(&account, 1, race_change_of_counters(&account, UINT64_MAX, UINT64_MAX)) == 0;
}

/* Requests that no caller should make buy nothing. */
static bool
refuses_requests(void)
{
	const RaceRequest requests[] = {
		{.epsilon = NAN, .max_contributions = 1},
		{.epsilon = -1, .max_contributions = 1},
		{.epsilon = 0, .max_contributions = 1},
		{.epsilon = INFINITY, .max_contributions = 1},
		{.epsilon = NAN, .delta = 1e-6, .max_contributions = 1},
		{.epsilon = INFINITY, .delta = 1e-6, .max_contributions = 1},
		{.epsilon = 1, .delta = NAN, .max_contributions = 1},
		{.epsilon = 1, .delta = -1e-6, .max_contributions = 1},
		{.epsilon = 1, .delta = 1, .max_contributions = 1},
		{.epsilon = 1, .max_contributions = 0},
		{.epsilon = 1, .delta = 1e-6, .max_contributions = 0},
		{.epsilon = 1, .max_contributions = 1, .weight_bits = 32},
		{.epsilon = 1, .max_contributions = 3, .weight_bits = 31},
		{.epsilon = 1, .max_contributions = (1U << 31) + 1},
		{.epsilon = 1, .max_contributions = (1U << 20) + 1, .weight_bits = 12}};
	bool refuses = true;

	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		for (int all = 0; all < 2; all++)
		{
			RaceAccount account;

			race_account_open(&account, &some_random, &requests[i], 1);
			refuses &= race_pay(&account, all ? INFINITY : 0.5,
								race_change_of_counters(&account, 1, 1)) == 0 &&
				race_pay(&account, all ? INFINITY : 0.5, race_change_of_score(&account, 1)) == 0;
		}
	return refuses;
}

/* Nothing is given back. */
static bool
refuses_negative_costs(void)
{
	RaceRequest request = {.epsilon = 1, .max_contributions = 1};
	RaceAccount account;

	race_account_open(&account, &some_random, &request, 1);
	return race_pay_epsilon(&account, 0.5, 0.5) && !race_pay_epsilon(&account, -0.5, -0.5) &&
		!race_pay_epsilon(&account, -0.5, NAN) && account.allotted >= 0.5;
}

/* Changes beyond all numbers are not paid for. */
static bool
refuses_the_largest(void)
{
	static const RaceShape large = {.blocks = 4000, .unit = UINT64_C(1) << 40, .range = 2};
	static const RaceShape wrapping = {.blocks = 2, .unit = (UINT64_C(1) << 32) + 1, .range = 2};
	RaceRequest request = {.epsilon = 1e9, .delta = 1e-6, .max_contributions = 1};
	RaceAccount account;
	bool refuses = true;

	race_account_open(&account, &some_random, &request, 1);
	refuses &= race_pay(&account, INFINITY,
						race_change_of_counters(&account, race_blocks_l1(&wrapping, 2),
												race_blocks_squared(&wrapping, 2))) == 0 &&
		race_pay(&account, 1, race_change_of_counters(&account, 1, 1)) > 0;

	for (int i = 0; i < 100; i++)
	{
		open_account(&account);
		refuses &= race_pay(&account, INFINITY,
							race_change_of_counters(&account, race_blocks_l1(&large, 4000),
													race_blocks_squared(&large, 4000))) == 0 &&
			race_pay(&account, INFINITY, race_change_of_score(&account, UINT64_C(1) << 60)) == 0 &&
			race_pay(&account, INFINITY, race_change_of_score(&account, UINT64_MAX)) == 0;
	}
	return refuses;
}

static void
test_accounts(int n)
{
	long double most = 0;
	long double forgetting = 0;
	bool shares = true;

	for (int i = 0; i < n; i++)
	{
		most = fmaxl(most, spend(false));
		forgetting = fmaxl(forgetting, spend(true));
		shares &= pays_shares();
	}
	ok(most <= 1 && most > 0.99,
	   "an account pays no more than its budget, nor more than a price (%.6Lf)", most);
	ok(forgetting > 1.5, "control: one that forgets what it paid does (%.1Lf)", forgetting);
	ok(shares,
	   "that of a share pays for a count, then once for counters, and for no more than was planned");
	ok(refuses_requests(), "requests beyond all limits buy nothing");
	ok(refuses_shares(), "a share is Gaussian, and pays for no change beyond all numbers");
	ok(refuses_negative_costs(), "nothing is given back");
	ok(refuses_the_largest(), "changes that are too large for integers are not paid for");
}

/* ------------------------------------------------------------------- calls */

/* Numbers that a call is given, the same for both tables */
static struct
{
	RaceGrouping grouping;
	uint32_t group[3][MOST];
	int64_t expected[MOST];
	int32_t weight[MOST + 1];
	uint32_t blocks;
	int halvings[RACE_LEVELS];
	int levels;
	uint32_t block;
	uint32_t ordinary;
	uint32_t together;
	bool share;
	RaceProductsNoise products;
	RaceEnds ends;
	RaceSigns signs;
	uint32_t column[PAIRED + 1];
	uint32_t places[PAIRED + 1];
	int8_t sign[PAIRED][MOST_PLACES]; /* of all columns */
	const int8_t *of_column[PAIRED + 1];
	double signs_variance;
	int64_t space[2 * MOST];
	int64_t noisy[2 * MOST];
} given;

/* What calls are given to write to: this memory, but where a test is about another */
static int64_t *noisy = given.noisy;
static RaceSpace *space = (RaceSpace *) given.space;

/* Places in any groups, some of them beyond */
static void
make_grouping(void)
{
	static const uint32_t lengths[][3] = {{5, 3, 2}, {24, 1, 1}, {6, 5, 1}};
	uint32_t block = (uint32_t) (draw() % 3);

	given.grouping = (RaceGrouping){.block = block, .parts = block == 0 ? PARTS : 1};
	for (int axis = 0; axis < 3; axis++)
	{
		uint32_t length = lengths[block][axis];

		given.grouping.length[axis] = length;
		given.grouping.groups[axis] = draw() % 2 == 0 ? length : 1 + (uint32_t) (draw() % length);
		for (uint32_t i = 0; i < length; i++)
			given.group[axis][i] = hostile_index(draw(), given.grouping.groups[axis]);
		given.grouping.group[axis] = draw() % 2 == 0 ? NULL : given.group[axis];
	}
}

/* Two columns or more that have signs */
static void
make_signs(void)
{
	uint64_t left_out = 1 + draw() % 11; /* 1 to 11: at least two of four bits are not set */
	uint32_t n = 0;

	left_out = draw() % 2 == 0 ? 0 : left_out == 7 || left_out == 11 ? 5 : left_out;
	for (uint32_t j = 0; j < PAIRED; j++)
	{
		for (uint32_t k = 0; k < MOST_PLACES; k++)
			given.sign[j][k] = hostile_sign(draw());
		if (left_out >> j & 1)
			continue;
		given.column[n] = j;
		given.places[n] = lengths[j];
		given.of_column[n++] = given.sign[j];
	}
	given.signs = (RaceSigns){n, given.column, given.places, given.of_column, PARTS};
}

static void
make_given(Form form)
{
	make_grouping();
	make_signs();
	for (int i = 0; i < MOST; i++)
		given.weight[i] = draw() % 3 == 0 ? (int32_t) draw() :
			draw() % 2 == 0               ? RACE_CONTRAST :
											-RACE_CONTRAST;
	for (int i = 0; i < MOST; i++)
		given.expected[i] = draw() % 2 == 0 ? 0 : (int64_t) draw() >> (draw() % 60);
	given.blocks = 1 + (uint32_t) (draw() % (shapes[form].blocks + (form >= PRODUCTS)));
	given.levels = 1 + (int) (draw() % RACE_LEVELS);
	given.halvings[0] = (int) (draw() % (shapes[form].halvings + 1));
	given.halvings[1] = given.halvings[0] + (int) (draw() % 2);
	given.block = (uint32_t) (draw() % 3);
	given.ordinary = 1 + (uint32_t) (draw() % 24);
	given.together = 2 + (uint32_t) (draw() % 6);
	given.ends = (RaceEnds){given.block, 1 + (uint32_t) (draw() % 26)};
	for (int i = 0; i < 2 * MOST; i++)
		given.space[i] = given.noisy[i] = UNTOUCHED;
}

static uint64_t
call_count(RaceAccount *account, const RaceExact *exact, double price)
{
	return race_measure_count(account, exact, price, noisy);
}

static uint64_t
call_blocks(RaceAccount *account, const RaceExact *exact, double price)
{
	return race_measure_blocks(account, exact, given.blocks, price, noisy);
}

static uint64_t
call_levels(RaceAccount *account, const RaceExact *exact, double price)
{
	return race_measure_levels(account, exact, given.halvings, given.levels, price, space, noisy);
}

static uint64_t
call_sums(RaceAccount *account, const RaceExact *exact, double price)
{
	return race_measure_sums(account, exact, &given.grouping, price, space, noisy);
}

static uint64_t
call_products(RaceAccount *account, const RaceExact *exact, double price)
{
	return race_plan_products(account, &shapes[given.blocks % 2 ? PRODUCTS : ABSOLUTE_PRODUCTS],
							  price, &given.products) &&
			race_measure_products(account, exact, price, &given.products, given.share, space,
								  noisy) ?
		given.products.noise :
		0;
}

static uint64_t
call_signs(RaceAccount *account, const RaceExact *exact, double price)
{
	return race_measure_signs(account, exact, &given.signs, price, space, noisy,
							  &given.signs_variance) ?
		1 + (uint64_t) given.signs_variance :
		0;
}

static uint64_t
call_ends(RaceAccount *account, const RaceExact *exact, double price)
{
	return race_measure_ends(account, exact, &given.ends, price, noisy);
}

static uint64_t
call_norms(RaceAccount *account, const RaceExact *exact, double price)
{
	return race_look_norms(account, exact, price, noisy);
}

static uint64_t
call_details(RaceAccount *account, const RaceExact *exact, double price)
{
	RaceDetails details = {UNTOUCHED, UNTOUCHED};
	uint64_t noise = race_look_details(account, exact, given.halvings[1], price, space, &details);

	noisy[0] = details.detail;
	noisy[1] = details.spread;
	return noise;
}

static uint64_t
call_distance(RaceAccount *account, const RaceExact *exact, double price)
{
	return race_score_distance(account, exact, &given.grouping, given.expected, price, space,
							   noisy);
}

static uint64_t
call_unevenness(RaceAccount *account, const RaceExact *exact, double price)
{
	return race_score_unevenness(account, exact, given.block, given.ordinary, given.together, price,
								 space, noisy);
}

/*
 * Select among scores of the same sums, whose qualities are alike in all that a person changes.  What
 * is paid for is the largest weight: it is that of a score.
 */
static uint64_t
call_select(RaceAccount *account, const RaceExact *exact, double price)
{
	static __int128 memory[16];
	RaceCandidate candidates[] = {{0, 1 + given.together % 3, 7},
								  {1, 1, -given.expected[0] % 1000},
								  {RACE_NO_SCORE, UINT32_MAX, given.together}};
	RaceScores *scores = race_scores_begin((RaceSpace *) memory, exact, 2);
	uint32_t selected = 0;
	uint64_t scale;

	for (uint32_t k = 0; k < 3; k++)
		race_scores_set(scores, k, &given.grouping, given.expected, space);
	scale = race_select(account, exact, scores, candidates, 3, price, &selected);
	race_scores_end(scores);
	noisy[0] = scale > 0 ? selected : noisy[0];
	for (int i = 0; i < 16; i++)
		scale = memory[i] != 0 || selected > 2 ? 1 : scale; /* noise of 1 would cost too much */
	return scale;
}

/* The same of contrasts, with weights of which many are as large as they may be, or larger */
static uint64_t
call_contrast(RaceAccount *account, const RaceExact *exact, double price)
{
	static __int128 memory[16];
	RaceCandidate candidates[] = {{0, 1 + given.together % 3, 7}, {RACE_NO_SCORE, 0, 5}};
	RaceContrast contrast[] = {
		{given.weight, given.expected[0], given.expected[1] % 4},
		{given.weight + 1, given.expected[2] % 1000, -given.expected[3] % 9}};
	RaceScores *scores = race_scores_begin((RaceSpace *) memory, exact, 1);
	uint32_t selected = 0;
	uint64_t scale;

	race_scores_raise(scores, 1, &given.grouping, &contrast[0], space);
	for (int i = 0; i < 2; i++)
		race_scores_raise(scores, 0, &given.grouping, &contrast[i], space);
	scale = race_select(account, exact, scores, candidates, 2, price, &selected);
	race_scores_end(scores);
	noisy[0] = scale > 0 ? selected : noisy[0];
	for (int i = 0; i < 16; i++)
		scale = memory[i] != 0 || selected > 1 ? 1 : scale; /* noise of 1 would cost too much */
	return scale;
}

static const struct
{
	const char *name;
	uint64_t (*call)(RaceAccount *account, const RaceExact *exact, double price);
	Form first;
	Form last;
	double reached; /* at least, of what is paid for */
} calls[] = {{"race_measure_count", call_count, ROWS, ABSOLUTE_PRODUCTS, 0.99},
			 {"race_measure_blocks", call_blocks, ROWS, SPACE, 0.99},
			 {"race_measure_levels", call_levels, LINE, SPACE, 0.99},
			 {"race_measure_sums", call_sums, TABLES, TABLES, 0.99},
			 {"race_measure_products", call_products, PRODUCTS, ABSOLUTE_PRODUCTS, 0.75},
			 {"race_look_norms", call_norms, ROWS, ROWS, 0.99},
			 {"race_look_details", call_details, LINE, SPACE, 0.5},
			 {"race_score_distance", call_distance, TABLES, TABLES, 0.99},
			 {"race_score_unevenness", call_unevenness, TABLES, TABLES, 0.99},
			 {"race_select", call_select, TABLES, TABLES, 0.99},
			 {"race_select, contrasts", call_contrast, TABLES, TABLES, 0.99},
			 {"race_measure_signs", call_signs, PAIRS, PAIRS, 0.99},
			 {"race_measure_ends", call_ends, TABLES, TABLES, 0.99}};

#define CALLS ((int) (sizeof(calls) / sizeof(calls[0])))
#define CALL_PRODUCTS 4
#define CALL_SIGNS 11
#define CALL_ENDS 12

static const RaceExact *
exact_of(RaceExactMemory *memory, Form form, const Counters *counters)
{
	RaceExact *exact = race_exact_begin(memory, &shapes[form]);

	race_exact_add(exact, counters->counter, 8, counters->count, 1);
	return exact;
}

/* What both tables cost, by what they were drawn with */
static long double
cost_of_draws(const RaceAccount *account)
{
	long double cost = 0;

	for (size_t i = 0; i < tape.n; i++)
	{
		const Draw *one = &tape.draws[i];
		long double off = fabsl((long double) ((__int128) one->value[0] - one->value[1]));

		long double epsilon = off * RACE_SCALE_DENOMINATOR / one->noise;

		/* a selection of epsilon is as private as Gaussian noise that costs pi / 4 of its square */
		cost += one->mechanism == RACE_MECHANISM_GAUSSIAN ?
			off * off / 2 / (long double) (one->noise - account->added) :
			one->n > 0 && account->mechanism == RACE_MECHANISM_GAUSSIAN ?
			acosl(-1) / 4 * epsilon * epsilon :
			epsilon;
	}
	return cost;
}

/*
 * What a Wishart matrix hides, in place of what entries differ by: traces of what each table has
 * besides, and what rounding makes of them (greybox_test.c has all of its cost).
 */
static long double
cost_of_traces(const Counters *own)
{
	long double trace = 0;

	for (int table = 0; table < 2; table++)
		for (uint32_t i = 0; i < COLUMNS; i++)
			trace += own[table].counter[race_product_counter(COLUMNS, i, i)];
	return ldexpl(trace, -given.products.coarser) / 2 / given.products.noise;
}

/* Bits that sums of signs have besides with Wishart noise, so that a unit has 2^18 */
#define FINER 9

/*
 * The variance of Wishart noise of signs alone, less that of entries in finer integers and of their
 * rounding; 0 if there is none
 */
static double
wishart_variance(const RaceAccount *account)
{
	double other = race_account_variance(account, tape.draws[0].noise);

	return given.signs_variance == other ?
		0 :
		given.signs_variance - ldexp(other, -2 * FINER) - 1.0 / 12;
}

/*
 * The same of signs: counters of single columns are the squares of signs.  And what hides how each
 * sum is rounded, of all records.
 */
static long double
cost_of_signs(const RaceAccount *account, const Counters *own)
{
	double scale = sqrt(wishart_variance(account) / 2 / (given.signs.columns + 1));
	long double rounding =
		(long double) race_wishart_rounding(given.signs.columns, (uint64_t) scale) * tape.n *
		race_records_apart(account);
	long double trace = 0;

	for (int table = 0; table < 2; table++)
		for (uint32_t i = 0; i < given.signs.columns; i++)
			trace += sum_of_signs(own[table].counter, given.sign, given.column[i], given.column[i]);
	return trace / 2 / scale + rounding * RACE_SCALE_DENOMINATOR / tape.draws[0].noise;
}

static long double
cost_of_call(int number, const RaceAccount *account, const Counters *own)
{
	if (number == CALL_PRODUCTS && given.products.mechanism == RACE_MECHANISM_WISHART)
		return cost_of_traces(own);
	if (number == CALL_SIGNS && wishart_variance(account) > 0)
		return cost_of_signs(account, own);
	return cost_of_draws(account);
}

/* The number modulo 2^62 that is nearest to 0 */
static __int128
modulo(__int128 x)
{
	__int128 most = (__int128) 1 << 61;

	return ((x + most) % (2 * most) + 2 * most) % (2 * most) - most;
}

/* Are these the sums of signs that got noise? */
static bool
are_sums_of_signs(const RaceAccount *account, const Counters *table)
{
	int one = wishart_variance(account) > 0 ? 1 << FINER : 1;
	size_t at = 0;
	bool are = true;

	for (uint32_t i = 0; i < given.signs.columns; i++)
		for (uint32_t j = i + 1; j < given.signs.columns; j++, at++)
		{
			__int128 sum =
				sum_of_signs(table->counter, given.sign, given.column[i], given.column[j]);

			are &= at < tape.n &&
				tape.draws[at].value[0] ==
					(one > 1 ? modulo(one * sum) : race_clamped(sum, RACE_MAX_COUNT));
		}
	return are && at == tape.n;
}

/* Are these the shares of both ends that got noise: none of what lies beyond the places? */
static bool
are_shares_of_ends(const Counters *table)
{
	static const uint32_t begins[] = {0, 30 * PARTS, 30 * PARTS + 24};
	const int64_t *counter = table->counter + begins[given.ends.block];
	__int128 lower = 0;
	__int128 upper = 0;

	for (uint32_t i = 0; i < given.ends.length; i++)
	{
		lower += (__int128) (given.ends.length - 1 - i) * counter[i];
		upper += (__int128) i * counter[i];
	}
	return tape.n == RACE_ENDS && tape.draws[0].value[0] == race_clamped(lower, RACE_MAX_COUNT) &&
		tape.draws[1].value[0] == race_clamped(upper, RACE_MAX_COUNT);
}

/* Is there a number in memory that no call may leave there? */
static bool
is_left(const int64_t *memory, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (memory[i] != UNTOUCHED && memory[i] != 0)
			return true;
	return false;
}

static size_t
numbers_written(void)
{
	size_t n = 0;

	for (int i = 0; i < 2 * MOST; i++)
		n += given.noisy[i] != UNTOUCHED;
	return n;
}

typedef struct Found
{
	long double most; /* cost, in parts of the price and of what is taken off */
	long drawn;
	bool same;
	bool left;  /* exact numbers in memory of the caller's, or others without noise */
	bool spent; /* more than the price */
} Found;

/* Count the records of a person in a table, all alike or any; also apart, in `own`. */
static void
count_person(Form form, Counters *table, Counters *own, uint32_t records, int64_t weight,
			 bool alike)
{
	uint64_t from = state;

	for (uint32_t i = 0; i < records; i++)
	{
		state = alike ? from : state;
		count_record(form, table, weight);
	}
	state = from;
	memset(own, 0, sizeof(Counters));
	for (uint32_t i = 0; i < records; i++)
	{
		state = alike ? from : state;
		count_record(form, own, weight);
	}
}

/* Call with two neighboring tables. */
static void
compare(int number, Form form, Found *found)
{
	static Counters tables[2];
	static Counters own[2];
	RaceAccount account;
	RaceRequest request = open_account(&account);
	double price = account.allowed * (signed_unit(draw()) + 1.0001) / 2;
	double taken = 0;
	bool alike = draw() % 4 > 0;
	uint64_t noise[2];

	make_given(form);
	given.share = false;
	given.blocks = number == CALL_PRODUCTS ? form == PRODUCTS : given.blocks;
	make_counters(form, &tables[0]);
	tables[1] = tables[0];
	for (int table = 0; table < 2; table++)
		if (table == 0 || request.neighbors == RACE_NEIGHBORS_SUBSTITUTE)
			count_person(form, &tables[table], &own[table], request.max_contributions,
						 INT64_C(1) << request.weight_bits, alike);
		else
			memset(&own[table], 0, sizeof(Counters));
	for (int table = 0; table < 2; table++)
	{
		RaceExactMemory memory;
		RaceAccount paying;
		const RaceExact *exact = exact_of(&memory, form, &tables[table]);

		race_account_open(&paying, &some_random, &request, opened_for);
		start_table(table);
		noise[table] = calls[number].call(&paying, exact, price);
		found->spent |= paying.allotted > price * (1 + 1e-15) + 1e-300;
		found->left |= is_left(given.space, 2 * MOST) || numbers_written() > tape.n;
		taken = paying.allotted;
	}
	found->same &=
		noise[0] == noise[1] && tape.same && tape.next == tape.n && (noise[0] > 0) == (tape.n > 0);
	if (noise[0] == 0)
		return;
	found->drawn++;
	found->same &= number != CALL_SIGNS || are_sums_of_signs(&account, &tables[0]);
	found->same &= number != CALL_ENDS || are_shares_of_ends(&tables[0]);
	found->most = fmaxl(found->most, cost_of_call(number, &account, own) / fmin(price, taken));
}

static void
test_calls(int n)
{
	for (int number = 0; number < CALLS; number++)
	{
		Found found = {.same = true};
		int pairs = number == CALL_PRODUCTS ? n / 8 : n; /* Wishart matrices take long */

		for (int i = 0; i < pairs; i++)
			compare(number,
					calls[number].first +
						(Form) (i % (calls[number].last - calls[number].first + 1)),
					&found);
		ok(found.same && !found.spent && found.most <= 1 + 1e-12L,
		   "%s: neighbors differ by no more than was paid for (%.6Lf)", calls[number].name,
		   found.most);
		ok(SANITIZED || (found.most > calls[number].reached && found.drawn > pairs / 4),
		   "... and by nearly as much, in %ld draws", found.drawn);
		ok(!found.left, "... and nothing is left in its space, and nothing without noise written");
	}
}

/* ---------------------------------------------------------------- refusals */

/* Without a budget, all calls draw nothing, and leave nothing; nor with a copy of an account. */
static void
test_unpaid(int n)
{
	for (int number = 0; number < CALLS; number++)
	{
		bool refuses = true;
		bool plans = true;

		for (int i = 0; i < n; i++)
		{
			static Counters table;
			Form form = calls[number].first;
			RaceExactMemory memory;
			RaceAccount account;
			RaceAccount copy;

			open_account(&account);
			copy = account;
			/* bound: 10 */
			for (int k = 0; k < 10; k++)
				(void) race_pay(&account, INFINITY, race_change_of_counters(&account, 1, 1));
			make_given(form);
			given.share = false;
			make_counters(form, &table);
			start_table(0);
			refuses &=
				calls[number].call(&account, exact_of(&memory, form, &table), INFINITY) == 0 &&
				tape.n == 0 && !is_left(given.space, 2 * MOST) && !is_left(given.noisy, 2 * MOST);
			(void) calls[number].call(&copy, exact_of(&memory, form, &table), copy.allowed);
			plans &=
				tape.n == 0 && !is_left(given.space, 2 * MOST) && !is_left(given.noisy, 2 * MOST);
		}
		ok(refuses, "%s draws nothing, and leaves nothing, if it cannot be paid",
		   calls[number].name);
		ok(plans, "... and not with a copy of an account either");
	}
}

/* A grouping that does not fit its block, in one way */
static void
spoil_grouping(int way)
{
	static const uint32_t wrapping[] = {463715309, 5607601,
										7094}; /* their product is 30, modulo 2^64 */
	static const uint32_t groups[] = {1U << 31, 1U << 31, 24}; /* and of these 0 */
	uint32_t *number[] = {&given.grouping.length[0], &given.grouping.length[1],
						  &given.grouping.length[2], &given.grouping.groups[0],
						  &given.grouping.groups[1], &given.grouping.groups[2],
						  &given.grouping.parts};

	if (way < 7)
		*number[way] = 0;
	else if (way == 7)
		given.grouping.block = 3;
	else if (way == 8)
		given.grouping.block = UINT32_MAX;
	else if (way == 9)
		given.grouping.length[0]++;
	else if (way == 10)
		given.grouping.parts = 3 + (uint32_t) (draw() % 1000);
	else if (way == 11)
		given.grouping.groups[draw() % 3] = 25;
	else if (way == 12)
	{
		given.grouping = (RaceGrouping){.block = 1, .parts = 1, .length = {1, 1, 24}};
		memcpy(given.grouping.groups, groups, sizeof(groups));
	}
	else
	{
		given.grouping = (RaceGrouping){.block = 2, .parts = 1, .groups = {1, 1, 1}};
		memcpy(given.grouping.length, wrapping, sizeof(wrapping));
	}
}

static void
test_groupings(int n)
{
	bool refuses = true;
	bool takes = true;

	for (int i = 0; i < n; i++)
	{
		static Counters table;
		RaceExactMemory memory;
		RaceAccount account;
		const RaceExact *exact;
		double allotted;

		open_account(&account);
		make_given(TABLES);
		given.share = false;
		make_counters(TABLES, &table);
		exact = exact_of(&memory, TABLES, &table);
		spoil_grouping(i % 14);
		start_table(0);
		allotted = account.allotted;
		refuses &= call_sums(&account, exact, account.allowed) == 0 &&
			call_distance(&account, exact, account.allowed) == 0 && tape.n == 0 &&
			account.allotted == allotted && !is_left(given.noisy, 2 * MOST) &&
			!is_left(given.space, 2 * MOST);
		make_given(TABLES);
		takes &= call_sums(&account, exact, account.allowed) > 0 &&
			tape.n == race_grouping_sums(&given.grouping);
	}
	ok(refuses,
	   "sums and scores of groupings that do not fit draw nothing, pay nothing and leave nothing");
	ok(takes, "control: those that fit are drawn");
}

/* Signs that do not fit the tables, in one way */
static void
spoil_signs(int way, RaceShape *shape)
{
	static const uint32_t swapped[] = {2, 3, 4, 2};
	static const uint32_t wrapping[] = {UINT32_MAX - 1, UINT32_MAX, UINT32_MAX, UINT32_MAX};
	uint32_t n = given.signs.columns;

	if (way == 0)
		given.signs.columns = (uint32_t) (draw() % 2);
	else if (way == 1)
		given.column[n - 1] = PAIRED + (uint32_t) (draw() % 3);
	else if (way == 2)
		given.column[n - 1] = UINT32_MAX - (uint32_t) (draw() % 8);
	else if (way == 3)
		given.column[1] = given.column[0];
	else if (way == 4)
	{
		given.column[0] = given.column[1];
		given.column[1]--;
	}
	else if (way == 5)
		given.places[draw() % n]++;
	else if (way == 6)
		given.places[draw() % n] = 0;
	else if (way == 7)
		given.signs.parts = draw() % 2 == 0 ? 0 : 1 + (uint32_t) (draw() % 3) * 3;
	else if (way == 8)
	{
		make_signs();
		given.signs.columns = PAIRED;
		for (uint32_t j = 0; j < PAIRED; j++)
		{
			given.column[j] = j;
			given.places[j] = draw() % 2 == 0 ? swapped[j] : wrapping[j];
			given.of_column[j] = given.sign[j];
		}
	}
	else if (way == 9)
		shape->paired = 0;
	else
		shape->blocks = PAIRED + (uint32_t) (draw() % 6);
}

#define WAYS_OF_SIGNS 11

static void
test_signs(int n)
{
	bool refuses = true;
	bool takes = true;

	for (int i = 0; i < n; i++)
	{
		static Counters table;
		RaceExactMemory memory;
		RaceAccount account;
		RaceShape shape = shapes[PAIRS];
		RaceExact *exact = race_exact_begin(&memory, &shape);

		open_account(&account);
		make_given(PAIRS);
		make_counters(PAIRS, &table);
		race_exact_add(exact, table.counter, 8, 0, 1);
		spoil_signs(i % WAYS_OF_SIGNS, &shape);
		start_table(0);
		refuses &= call_signs(&account, exact, account.allowed) == 0 && tape.n == 0 &&
			account.allotted == 0 && !is_left(given.noisy, 2 * MOST) &&
			!is_left(given.space, 2 * MOST);
		shape = shapes[PAIRS];
		make_given(PAIRS);
		takes &=
			call_signs(&account, exact, account.allowed) > 0 && are_sums_of_signs(&account, &table);
		open_account(&account);
		for (size_t k = i % 3 == 0 ? MOST : 0; k < paired_ends[shape.blocks - 1]; k++)
			table.counter[k] = signed_unit(draw()) > 0 ? RACE_MAX_COUNT - 1000 : -(int64_t) k;
		exact = race_exact_begin(&memory, &shape);
		race_exact_add(exact, table.counter, 8, i % 2 == 0 ? -1 : RACE_MAX_COUNT, 1);
		start_table(0);
		takes &=
			call_signs(&account, exact, account.allowed) > 0 && are_sums_of_signs(&account, &table);
	}
	ok(refuses, "signs that do not fit the tables draw nothing and pay nothing");
	ok(takes, "control: those that fit are drawn, whatever counters and the number of records are");
}

/* A plan, of the number of columns alone, pays what a draw does, and has its variance. */
static void
test_planned_signs(int n)
{
	bool same = true;
	bool refuses = true;
	long wishart = 0;

	for (int i = 0; i < n; i++)
	{
		static Counters table;
		static const uint32_t many[] = {300, UINT16_MAX, UINT32_MAX};
		RaceExactMemory memory;
		RaceExactMemory planned_memory;
		RaceAccount account;
		RaceAccount planned;
		RaceShape shape = {.blocks = 1, .unit = shapes[PAIRS].unit};
		double variance = -1;

		open_account(&account);
		planned = account;
		planned.self = &planned;
		planned.random = NULL;
		make_given(PAIRS);
		start_table(0);
		same &= call_signs(&account, exact_of(&memory, PAIRS, &table), account.allowed / 2) > 0 &&
			race_measure_signs(&planned, race_exact_begin(&planned_memory, &shape),
							   &(RaceSigns){.columns = given.signs.columns}, account.allowed / 2,
							   NULL, NULL, &variance) &&
			variance == given.signs_variance && planned.allotted == account.allotted &&
			planned.cost == account.cost;
		wishart += wishart_variance(&account) > 0;
		shape.unit = i % 2 == 0 ? 0 : shape.unit;
		planned.allotted = i % 2 == 0 ? planned.allotted : planned.allowed;
		refuses &=
			!race_measure_signs(&planned, race_exact_begin(&planned_memory, &shape),
								&(RaceSigns){.columns = many[i % 3]}, 1, NULL, NULL, &variance);
	}
	ok(same && (SANITIZED || wishart > n / 20),
	   "a plan of signs costs what drawing them does, with the same variance (%ld of Wishart)",
	   wishart);
	ok(refuses, "... nor is more planned than can be paid, nor of no unit");
}

/* Noise of moments that is not the account's, or not for these integers */
static void
test_noise_of_products(void)
{
	static Counters table;
	bool refuses = true;

	for (int i = 0; i < 300; i++)
	{
		RaceExactMemory memory;
		RaceAccount account;
		RaceProductsNoise noise;
		const RaceExact *exact = exact_of(&memory, PRODUCTS, &table);

		open_account(&account);
		make_given(PRODUCTS);
		if (!race_plan_products(&account, &shapes[PRODUCTS], account.allowed, &noise))
			continue;
		if (i % 3 == 0)
			noise.mechanism = noise.mechanism == RACE_MECHANISM_GAUSSIAN ? RACE_MECHANISM_LAPLACE :
																		   RACE_MECHANISM_GAUSSIAN;
		else if (i % 3 == 1)
			noise.coarser = i % 2 == 0 ? -1 : RACE_PRODUCTS_COARSEST + 1;
		else
			noise.noise--;
		start_table(0);
		refuses &=
			!race_measure_products(&account, exact, account.allowed, &noise, false, space, noisy) &&
			tape.n == 0;
	}
	ok(refuses, "moments with other noise than is paid for are not drawn");
}

/* Norms whose change wraps around, and more columns than there are */
static void
test_large_products(void)
{
	static const RaceShape large[] = {
		{.unit = 1, .columns = 1U << 16, .squared = UINT64_C(1) << 48},
		{.unit = 1, .columns = 2, .squared = UINT64_C(1) << 63},
		{.unit = 1, .columns = UINT32_MAX, .squared = 1},
		{.unit = 1, .columns = 0, .squared = 1}};
	bool refuses = true;

	for (size_t i = 0; i < 100 * sizeof(large) / sizeof(large[0]); i++)
	{
		RaceAccount account;
		RaceProductsNoise noise;

		open_account(&account);
		refuses &= !race_plan_products(&account, &large[i / 100], account.allowed, &noise);
	}
	ok(refuses, "moments whose change is beyond all numbers are not planned");
}

/* ------------------------------------------------------------------ memory */

static jmp_buf interrupted;
static long before_interrupt;

static void
interrupt(void)
{
	if (before_interrupt-- == 0)
		longjmp(interrupted, 1);
}

/* Call, with an interrupt that does not return.  Return whether it came. */
static bool
is_stopped(int number, Form form)
{
	static Counters table;
	static RaceExactMemory memory;
	static RaceAccount account;

	open_account(&account);
	make_given(form);
	given.share = false;
	make_counters(form, &table);
	start_table(0);
	before_interrupt = (long) (draw() % 6);
	race_interrupt_hook = interrupt;
	if (setjmp(interrupted) != 0)
		return true;
	(void) calls[number].call(&account, exact_of(&memory, form, &table), account.allowed);
	return false;
}

static void
test_interrupts(int n)
{
	for (int number = 0; number < CALLS; number++)
	{
		int forms = (int) (calls[number].last - calls[number].first) + 1;
		long stopped = 0;
		bool left = false;

		for (int i = 0; i < n; i++)
		{
			stopped += is_stopped(number, calls[number].first + (Form) (i % forms));
			race_interrupt_hook = NULL;
			left |= numbers_written() > tape.n;
		}
		ok(!left, "%s writes noisy numbers alone, if an interrupt does not return (%ld)",
		   calls[number].name, stopped);
	}
}

/* Return whether a counter of a table got noise more than once, by its number alone. */
static bool
drew_twice(const Counters *table, size_t counters)
{
	for (size_t k = 0; k < counters; k++)
	{
		int times = 0;

		for (size_t i = 0; i < tape.n; i++)
			times += tape.draws[i].value[0] == table->counter[k];
		if (times > 1)
			return true;
	}
	return false;
}

/* Memory of the caller's that is, in part, that of the counters */
static void
test_aliases(int n)
{
	static const int with_space[] = {2, 3, CALL_PRODUCTS, 6, 7, 8, CALL_SIGNS};
	bool refuses = true;
	bool twice = false;

	for (int i = 0; i < n; i++)
	{
		static Counters table;
		static Counters before;
		RaceExactMemory memory;
		RaceAccount account;
		int number = with_space[i % 7];
		Form form = calls[number].first;

		open_account(&account);
		make_given(form);
		given.share = false;
		given.halvings[0] = given.halvings[1] = 1;
		make_counters(form, &table);
		before = table;
		space = (RaceSpace *) (table.counter + draw() % counters_of(form));
		start_table(0);
		refuses &=
			calls[number].call(&account, exact_of(&memory, form, &table), account.allowed) == 0 &&
			tape.n == 0 && memcmp(&table, &before, sizeof(Counters)) == 0 && account.allotted == 0;
		space = (RaceSpace *) given.space;

		number = i % 2 == 0 ? 1 : 3;
		form = i % 2 == 0 ? ROWS : TABLES;
		make_given(form);
		memset(given.grouping.group, 0, sizeof(given.grouping.group));
		memcpy(given.grouping.groups, given.grouping.length, sizeof(given.grouping.groups));
		for (size_t k = 0; k < counters_of(form); k++)
			table.counter[k] = (int64_t) (draw() >> 4);
		before = table;
		noisy = table.counter + draw() % counters_of(form);
		start_table(0);
		(void) calls[number].call(&account, exact_of(&memory, form, &table), account.allowed);
		twice |= drew_twice(&before, counters_of(form));
		noisy = given.noisy;
	}
	ok(refuses, "a space that is among counters is refused");
	ok(!twice, "no counter gets noise twice where noisy numbers are written among counters");
}

/* Return how many numbers a call draws of exact counters, for all that an account has. */
static size_t
draws_of(int number, RaceAccount *account, const RaceExact *exact)
{
	start_table(0);
	(void) calls[number].call(account, exact, account->allowed);
	return tape.n;
}

/* Callers that open a second account on the same counters, or the same account again */
static void
test_second_accounts(int n)
{
	for (int number = 0; number < CALLS; number++)
	{
		size_t first = 0;
		size_t second = 0;

		for (int i = 0; i < n; i++)
		{
			static Counters table;
			Form form = calls[number].first;
			RaceExactMemory memory;
			const RaceExact *exact;
			RaceAccount account;
			RaceAccount other;
			RaceRequest request = open_account(&account);

			make_given(form);
			given.share = false;
			make_counters(form, &table);
			exact = exact_of(&memory, form, &table);
			first += draws_of(number, &account, exact);
			race_account_open(&other, &some_random, &request, opened_for);
			second += tape.n > 0 ? draws_of(number, &other, exact) : 0;
			race_account_open(&account, &some_random, &request, opened_for);
			second += tape.n > 0 ? draws_of(number, &account, exact) : 0;
		}
		ok(first > 0 && second == 0, "%s: no second account pays for the same counters",
		   calls[number].name);
	}
}

/* Callers that add heavier records than the account pays for, or counters twice */
static void
test_hostile_counters(int n)
{
	bool light = false;
	bool heavy = false;

	for (int i = 0; i < n; i++)
	{
		static Counters table;
		int number = i % CALLS;
		Form form = calls[number].first;
		RaceExactMemory memory;
		RaceExact *exact;
		RaceAccount account;
		RaceRequest request = open_account(&account);
		uint64_t most = UINT64_C(1) << request.weight_bits;
		bool heavier = draw() % 2 == 0;

		make_given(form);
		given.share = false;
		make_counters(form, &table);
		exact = race_exact_begin(&memory, &shapes[form]);
		race_exact_add(exact, table.counter, 8, table.count, most + heavier);
		/* others are not added, whatever they claim */
		race_exact_add(exact, table.counter, 8, table.count, 1);
		if (heavier)
			heavy |= draws_of(number, &account, exact) > 0;
		else
			light |= draws_of(number, &account, exact) > 0;
	}
	ok(!heavy, "of records that are heavier than those of the request nothing is drawn");
	ok(light, "control: of others it is");
}

int
main(void)
{
	test_accounts(CASES(3000, 300));
	test_counting(CASES(6000, 600));
	test_calls(CASES(3000, 300));
	test_unpaid(CASES(300, 30));
	test_groupings(CASES(1200, 120));
	test_signs(CASES(1100, 110));
	test_planned_signs(CASES(600, 60));
	test_noise_of_products();
	test_large_products();
	test_interrupts(CASES(600, 60));
	test_aliases(CASES(1200, 120));
	test_second_accounts(CASES(60, 12));
	test_hostile_counters(CASES(1200, 120));
	free(tape.draws);
	return done_testing();
}
