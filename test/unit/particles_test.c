/*
 * particles_test.c
 *		Particles near what was measured: margins, correlations, tables of two and three columns; and
 *		what is asked of them
 *
 * Particles are the same on every run, and so is the noise here.
 */
#include "answers/copula.h"
#include "answers/particles.h"
#include "hash/contingency.h"
#include "hash/quantiles.h"
#include "hash/sobol.h"
#include "helpers.h"
#include "memory.h"
#include "tap.h"

#define MOST_COLUMNS 30
#define MOST_TABLES (MOST_COLUMNS + 40)
#define PARTICLES (1 << 14)

/* Columns, what was measured of them, and the particles */
static struct
{
	RaceGraphColumns columns;
	uint32_t cells[MOST_COLUMNS];
	uint32_t groups[MOST_COLUMNS];
	uint32_t ordered[MOST_COLUMNS];
	const uint32_t *group_of[MOST_COLUMNS];
	RaceMarginal table[MOST_TABLES];
	uint32_t tables;
	const int8_t *sign[MOST_COLUMNS];
	double sums[MOST_COLUMNS * (MOST_COLUMNS - 1) / 2];
	RaceSignSums signs;
	double total;
	RaceParticles *particles;
} made;

static void
begin(double total)
{
	free_memory();
	memset(&made, 0, sizeof(made));
	made.total = total;
	made.columns = (RaceGraphColumns){.cells = made.cells,
									  .groups = made.groups,
									  .group_of = made.group_of,
									  .ordered = made.ordered};
	made.signs = (RaceSignSums){made.sign, made.sums, 1};
}

static double *
numbers(size_t n)
{
	return from_memory(NULL, n * sizeof(double));
}

/* Add a column with so many cells, the first of which are in order, in groups of a width. */
static uint32_t
add_column(uint32_t cells, uint32_t ordered, uint32_t width, const double *share)
{
	uint32_t j = made.columns.columns++;
	uint32_t *group_of = from_memory(NULL, cells * sizeof(uint32_t));
	double *counts = numbers(cells);

	made.cells[j] = cells;
	made.ordered[j] = ordered;
	for (uint32_t i = 0; i < cells; i++)
	{
		group_of[i] = i < ordered ? i / width : (ordered + width - 1) / width + i - ordered;
		counts[i] = made.total * (share != NULL ? share[i] : 1.0 / cells);
	}
	made.groups[j] = group_of[cells - 1] + 1;
	made.group_of[j] = group_of;
	made.table[made.tables++] =
		(RaceMarginal){.first = j, .second = j, .third = j, .variance = 1, .counts = counts};
	return j;
}

/* Add a table of two columns, or three; counts come later. */
static double *
add_table(uint32_t first, uint32_t second, uint32_t third, double variance)
{
	size_t n = (size_t) made.groups[first] * made.groups[second] *
		(third != second ? made.groups[third] : 1);
	double *counts = numbers(n);

	memset(counts, 0, n * sizeof(double));
	made.table[made.tables++] =
		(RaceMarginal){first, second, third, .variance = variance, .counts = counts};
	return counts;
}

/* Columns have signs about their middles. */
static void
add_signs(void)
{
	for (uint32_t j = 0; j < made.columns.columns; j++)
	{
		int8_t *sign = from_memory(NULL, made.cells[j]);

		for (uint32_t i = 0; i < made.cells[j]; i++)
			sign[i] = (int8_t) (i >= made.ordered[j] ? 0 : i < made.ordered[j] / 2 ? -1 : 1);
		made.sign[j] = made.ordered[j] > 1 ? sign : NULL;
	}
}

static void
create(uint32_t n)
{
	made.particles = race_particles_create(&made.columns, made.tables, made.table,
										   made.signs.sign[0] != NULL ? &made.signs : NULL,
										   made.total, n, from_memory, NULL);
}

static void
fit(uint32_t n)
{
	create(n);
	race_particles_fit(made.particles);
}

/* The table of columns, by cells or by groups */
static void
table_of(uint32_t n, const uint32_t *columns, bool cells, double *table)
{
	RaceAxis axes[3];

	for (uint32_t k = 0; k < n; k++)
		axes[k] = race_particles_axis(made.particles, columns[k], cells);
	race_particles_table(made.particles, n, axes, table);
}

/* Half of the distance in L1 of a table from counts */
static double
distance_of(const RaceMarginal *table)
{
	const uint32_t columns[] = {table->first, table->second, table->third};
	uint32_t n = table->first == table->second ? 1 : table->second == table->third ? 2 : 3;
	size_t cells = 1;
	double *shares;
	double sum = 0;

	for (uint32_t k = 0; k < n; k++)
		cells *= n == 1 ? made.cells[columns[k]] : made.groups[columns[k]];
	shares = numbers(cells);
	table_of(n, columns, n == 1, shares);
	for (size_t i = 0; i < cells; i++)
		sum += fabs(shares[i] - table->counts[i] / made.total) / 2;
	return sum;
}

static double
most_distant(uint32_t from, uint32_t to)
{
	double most = 0;

	for (uint32_t t = from; t < to; t++)
		most = fmax(most, distance_of(&made.table[t]));
	return most;
}

/* What is stored, by which everything else follows */
static uint64_t *
stored(const RaceParticles *particles, size_t *words)
{
	size_t n;
	uint64_t *to;

	*words = race_particles_size(particles, &n);
	to = from_memory(NULL, *words * sizeof(uint64_t));
	race_particles_store(particles, to);
	return to;
}

/* Are weights shares, and cells those of columns? */
static bool
are_sound(void)
{
	size_t words;
	size_t n;
	uint64_t *all = stored(made.particles, &words);
	const double *weight = (const double *) all;
	double sum = 0;
	bool sound = true;

	race_particles_size(made.particles, &n);
	sound &= words == race_records_words(made.columns.columns, n);
	for (size_t i = 0; i < n; i++)
	{
		sound &= weight[i] >= 0 && weight[i] <= 1;
		sum += weight[i];
	}
	for (size_t j = 0; j < made.columns.columns; j++)
		for (size_t i = 0; i < n; i++)
			sound &= race_records_cell(all + n, j * n + i) < made.cells[j];
	return sound && fabs(sum - 1) < 1e-9;
}

/* ------------------------------------------------------------------ the base */

static void
set_shares(double *share, uint32_t cells, uint32_t singles, uint64_t seed)
{
	double sum = 0;

	for (uint32_t i = 0; i < cells; i++)
		sum += share[i] = i < cells - singles ?
			exp(-pow((i - cells * 0.4) / (0.2 * cells), 2)) + 0.05 :
			1 + signed_unit(mix(seed + i));
	for (uint32_t i = 0; i < cells; i++)
		share[i] /= sum;
}

static void
test_margins(void)
{
	static double share[MOST_COLUMNS][1000];

	begin(1e6);
	set_shares(share[0], 42, 2, 1);
	add_column(42, 40, 5, share[0]);
	set_shares(share[1], 5, 5, 2);
	add_column(5, 0, 1, share[1]);
	set_shares(share[2], 1000, 1, 3);
	add_column(1000, 999, 50, share[2]);
	add_column(1, 0, 1, NULL);
	add_column(1, 1, 1, NULL);
	create(PARTICLES);
	ok(most_distant(0, 5) < 0.02 && are_sound(), "particles have the shares of columns (%.4f off)",
	   most_distant(0, 5));
	fit(PARTICLES);
	ok(most_distant(0, 5) < 0.01 && are_sound(), "and keep them in a fit (%.4f off)",
	   most_distant(0, 5));
	begin(1e6);
	set_shares(share[0], 300, 1, 4);
	add_column(300, 299, 20, share[0]);
	made.table[0].block = 13;
	fit(PARTICLES);
	ok(distance_of(&made.table[0]) < 0.06 && are_sound(),
	   "one column, counted in blocks (%.4f off)", distance_of(&made.table[0]));
}

/* The sums of signs of a Gaussian copula about medians */
static void
set_sums(const double *r)
{
	uint32_t d = made.columns.columns;
	uint32_t at = 0;

	for (uint32_t i = 0; i < d; i++)
		for (uint32_t j = i + 1; j < d; j++)
			made.sums[at++] = made.total * 2 / M_PI * asin(r[i * d + j]);
}

/* The correlation of two columns of particles, as normal numbers of their cells' middles */
static double
correlation_of(uint32_t first, uint32_t second)
{
	const uint32_t columns[] = {first, second};
	uint32_t n = made.cells[first];
	uint32_t m = made.cells[second];
	double *table = numbers((size_t) n * m);
	double product = 0;
	double square = 0;
	double other = 0;

	table_of(2, columns, true, table);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < m; j++)
		{
			double x = race_inverse_normal((i + 0.5) / n);
			double y = race_inverse_normal((j + 0.5) / m);

			product += table[i * m + j] * x * y;
			square += table[i * m + j] * x * x;
			other += table[i * m + j] * y * y;
		}
	return product / sqrt(square * other);
}

static void
test_correlations(void)
{
	static const double r[] = {1,    0.7,  -0.4, 0,   0.7, 1,   -0.2, 0.3,
							   -0.4, -0.2, 1,    0.5, 0,   0.3, 0.5,  1};
	double most = 0;
	double mean = 0;

	begin(1e6);
	for (int j = 0; j < 4; j++)
		add_column(64, 64, 8, NULL);
	add_signs();
	set_sums(r);
	create(PARTICLES);
	for (uint32_t i = 0; i < 4; i++)
		for (uint32_t j = i + 1; j < 4; j++)
		{
			most = fmax(most, fabs(correlation_of(i, j) - r[i * 4 + j]));
			mean += fabs(r[i * 4 + j]) / 6;
		}
	ok(most < 0.02, "particles have the correlations of exact sums of signs (%.4f off)", most);
	ok(fabs(race_particles_explained(made.particles) / RACE_DISTANCE_OF_CORRELATION - mean) < 0.005,
	   "their mean size is stated (%.4f)",
	   race_particles_explained(made.particles) / RACE_DISTANCE_OF_CORRELATION);
	most = 0;
	race_particles_fit(made.particles);
	for (uint32_t i = 0; i < 4; i++)
		for (uint32_t j = i + 1; j < 4; j++)
			most = fmax(most, fabs(correlation_of(i, j) - r[i * 4 + j]));
	ok(most < 0.02 && are_sound(), "and keep them in a fit (%.4f off)", most);
	made.signs.variance = 1e14;
	create(PARTICLES);
	ok(race_particles_explained(made.particles) / RACE_DISTANCE_OF_CORRELATION < 0.01 &&
		   fabs(correlation_of(0, 1)) < 0.03,
	   "control: if signs are noise, there are none");
}

/* With values of NULL, products are of those that have a sign in both columns. */
static void
test_nulls(void)
{
	static double share[65];
	double most;

	begin(1e6);
	for (uint32_t i = 0; i < 65; i++)
		share[i] = i < 64 ? 0.7 / 64 : 0.3;
	add_column(65, 64, 8, share);
	add_column(64, 64, 8, NULL);
	add_signs();
	made.sums[0] = made.total * 0.7 * 2 / M_PI * asin(0.6);
	create(PARTICLES);
	most = race_particles_explained(made.particles) / RACE_DISTANCE_OF_CORRELATION;
	ok(fabs(most - 0.7 * 0.6) < 0.005, "NULL has no sign (%.4f)", most);
}

/* The mean product of signs of two columns of particles, about these cells */
static double
product_of_signs(uint32_t first, uint32_t cut, uint32_t second, uint32_t other)
{
	const uint32_t columns[] = {first, second};
	uint32_t m = made.cells[second];
	double *table = numbers((size_t) made.cells[first] * m);
	double product = 0;

	table_of(2, columns, true, table);
	for (uint32_t i = 0; i < made.cells[first]; i++)
		for (uint32_t j = 0; j < m; j++)
			product += (i < cut) == (j < other) ? table[i * m + j] : -table[i * m + j];
	return product;
}

/*
 * Signs about a place far from the median tell less of a correlation: the same noise leaves less of
 * it.  The last column has 95 % in its first cell, and sums a deviation from what is independent.
 */
static void
test_rare_signs(void)
{
	static double share[64];
	static int8_t rare[64];
	double kept[2];
	double product[2];

	for (uint32_t i = 0; i < 64; i++)
	{
		share[i] = i == 0 ? 0.95 : 0.05 / 63;
		rare[i] = i == 0 ? -1 : 1;
	}
	for (int noisy = 0; noisy < 2; noisy++)
	{
		begin(1e6);
		add_column(64, 64, 8, NULL);
		add_column(64, 64, 8, NULL);
		add_column(64, 64, 8, share);
		add_signs();
		made.sign[2] = rare;
		made.sums[0] = made.total * 2 / M_PI * asin(0.5);
		made.sums[1] = 3e4;
		made.sums[2] = 0;
		made.signs.variance = noisy ? 9e8 : 1;
		create(PARTICLES);
		product[noisy] = product_of_signs(0, 32, 1, 32) / (2 / M_PI * asin(0.5));
		kept[noisy] = product_of_signs(0, 32, 2, 1) / 0.03;
	}
	ok(product[1] > 0.9 && kept[1] < 0.9 * product[1],
	   "noise takes more where signs are rare (%.3f of the product; %.3f)", kept[1], product[1]);
	ok(fabs(kept[0] - 1) < 0.15 && fabs(product[0] - 1) < 0.05,
	   "control: without noise (%.3f, %.3f)", kept[0], product[0]);
}

/* -------------------------------------------------------------------- fits */

/* Counts of a ring, which no correlation has */
static void
set_ring(double *counts, uint32_t n)
{
	double sum = 0;

	for (uint32_t i = 0; i < n * n; i++)
	{
		double x = (i / n + 0.5) / n - 0.5;
		double y = (i % n + 0.5) / n - 0.5;

		sum += counts[i] = exp(-pow((hypot(x, y) - 0.35) / 0.06, 2)) + 1e-3;
	}
	for (uint32_t i = 0; i < n * n; i++)
		counts[i] *= made.total / sum;
}

/* Set the shares of the cells of columns by a table of both. */
static void
set_columns_by(const double *counts, uint32_t n, uint32_t width)
{
	for (int side = 0; side < 2; side++)
	{
		double *of_column = (double *) made.table[side].counts;

		for (uint32_t i = 0; i < n * width; i++)
		{
			of_column[i] = 0;
			for (uint32_t k = 0; k < n; k++)
				of_column[i] += counts[side == 0 ? i / width * n + k : k * n + i / width] / width;
		}
	}
}

static void
test_pairs(void)
{
	double *counts;
	double before;
	double after;

	begin(1e6);
	for (int j = 0; j < 3; j++)
		add_column(96, 96, 8, NULL);
	counts = add_table(0, 1, 1, 100);
	set_ring(counts, 12);
	set_columns_by(counts, 12, 8);
	add_signs();
	create(PARTICLES);
	before = distance_of(&made.table[3]);
	race_particles_fit(made.particles);
	after = distance_of(&made.table[3]);
	ok(after < 0.01 && are_sound(), "a table of two columns is met (%.4f off)", after);
	ok(before > 0.2, "control: the base is far off (%.4f)", before);
	ok(most_distant(0, 3) < 0.03, "and those of one column still are (%.4f off)",
	   most_distant(0, 3));
	made.table[3].variance = 1e12;
	fit(PARTICLES);
	ok(distance_of(&made.table[3]) > 0.2 && are_sound(),
	   "control: a table of nothing but noise moves none (%.4f)", distance_of(&made.table[3]));
}

/* Pairs of many columns at once, which contradict no other */
static void
test_many_pairs(void)
{
	uint32_t d = 6;
	double most;

	begin(1e6);
	for (uint32_t j = 0; j < d; j++)
		add_column(j % 2 == 0 ? 32 : 6, j % 2 == 0 ? 32 : 0, j % 2 == 0 ? 4 : 1, NULL);
	for (uint32_t i = 0; i < d; i++)
		for (uint32_t j = i + 1; j < d; j++)
		{
			double *counts = add_table(i, j, j, 1000);
			uint32_t n = made.groups[i];
			uint32_t m = made.groups[j];

			/* what is measured is a mixture of two products */
			for (uint32_t a = 0; a < n; a++)
				for (uint32_t b = 0; b < m; b++)
				{
					double x = (a + 0.5) / n - 0.5;
					double y = (b + 0.5) / m - 0.5;

					counts[a * m + b] = made.total / n / m * (1 + 2.5 * x * y);
				}
		}
	fit(PARTICLES);
	most = most_distant(d, made.tables);
	ok(most < 0.02 && most_distant(0, d) < 0.02 && are_sound(),
	   "all pairs of numbers and categories are met (%.4f off)", most);
}

/* A table of three, of which no pair depends on the other */
static void
test_parity(void)
{
	double *counts;
	double right = 0;
	double table[8];
	const uint32_t columns[] = {1, 2, 4};

	begin(2e4);
	for (int j = 0; j < 6; j++)
		add_column(2, 0, 1, NULL);
	counts = add_table(1, 2, 4, 50);
	for (uint32_t i = 0; i < 8; i++)
		counts[i] = (i / 4 + i / 2 + i) % 2 == 0 ? made.total / 4 : 0;
	fit(PARTICLES);
	table_of(3, columns, false, table);
	for (uint32_t i = 0; i < 8; i++)
		right += (i / 4 + i / 2 + i) % 2 == 0 ? table[i] : 0;
	ok(right > 0.99 && are_sound(), "the parity of three booleans is met (%.4f)", right);
	ok(most_distant(0, 6) < 0.02, "and each of them is even (%.4f off)", most_distant(0, 6));
}

static void
test_opposites(void)
{
	double table[4];
	const uint32_t columns[] = {0, 1};
	double *counts;

	begin(2e4);
	add_column(2, 0, 1, NULL);
	add_column(2, 0, 1, NULL);
	counts = add_table(0, 1, 1, 50);
	counts[1] = counts[2] = made.total / 2;
	fit(PARTICLES);
	table_of(2, columns, false, table);
	ok(table[1] + table[2] > 0.99 && fabs(table[1] - 0.5) < 0.02 && are_sound(),
	   "two booleans that exclude each other do (%.4f)", table[1] + table[2]);
}

/* Records without a value in one column have none in the other. */
static void
test_common_nulls(void)
{
	static double share[41];
	double *counts;

	begin(1e5);
	for (uint32_t i = 0; i < 41; i++)
		share[i] = i < 40 ? 0.8 / 40 : 0.2;
	add_column(41, 40, 10, share);
	add_column(41, 40, 10, share);
	add_column(3, 0, 1, NULL);
	counts = add_table(0, 1, 1, 20);
	for (uint32_t i = 0; i < 25; i++)
		counts[i] = i == 24          ? 0.2 * made.total :
			i / 5 == 4 || i % 5 == 4 ? 0 :
									   0.8 / 16 * made.total;
	fit(PARTICLES);
	ok(distance_of(&made.table[3]) < 0.01 && most_distant(0, 3) < 0.02 && are_sound(),
	   "NULL in both columns at once is met (%.4f off)", distance_of(&made.table[3]));
}

/* ----------------------------------------------------------------- answers */

/* Columns of all kinds, with tables, signs and noise */
static void
make_mixed(void)
{
	static double share[60];
	double *counts;

	begin(5e4);
	set_shares(share, 60, 2, 9);
	add_column(60, 58, 6, share);
	set_shares(share, 40, 0, 10);
	add_column(40, 40, 5, share);
	set_shares(share, 4, 4, 11);
	add_column(4, 0, 1, share);
	add_signs();
	made.sums[0] = 0.3 * made.total;
	counts = add_table(0, 2, 2, 400);
	for (uint32_t i = 0; i < made.groups[0] * made.groups[2]; i++)
		counts[i] = made.total / made.groups[0] / made.groups[2] * (1 + signed_unit(mix(i)));
	for (uint32_t t = 0; t < 4; t++)
		for (uint32_t i = 0; i < (t == 3 ? made.groups[0] * made.groups[2] : made.cells[t]); i++)
			((double *) made.table[t].counts)[i] += 20 * signed_unit(mix(i + 1000 * t));
	made.table[0].variance = made.table[1].variance = made.table[2].variance = 133;
}

static void
test_storing(void)
{
	size_t words;
	size_t again;
	size_t n;
	uint64_t *first;
	uint64_t *second;
	RaceParticles *loaded;

	make_mixed();
	fit(PARTICLES);
	first = stored(made.particles, &words);
	race_particles_size(made.particles, &n);
	loaded = race_particles_load(&made.columns, (uint32_t) n, first, from_memory, NULL);
	second = stored(loaded, &again);
	ok(are_sound() && words == again && memcmp(first, second, words * sizeof(uint64_t)) == 0,
	   "what is loaded is what was stored");
	create(PARTICLES);
	race_particles_fit(made.particles);
	second = stored(made.particles, &again);
	ok(memcmp(first, second, words * sizeof(uint64_t)) == 0, "a second fit is the same");
	((double *) made.table[0].counts)[7] += 50;
	fit(PARTICLES);
	second = stored(made.particles, &again);
	ok(memcmp(first, second, words * sizeof(uint64_t)) != 0, "control: of other counts it is not");
	/* an odd number of cells */
	begin(10);
	add_column(5, 0, 1, NULL);
	create(1);
	first = stored(made.particles, &words);
	loaded = race_particles_load(&made.columns, 1, first, from_memory, NULL);
	second = stored(loaded, &again);
	ok(words == 2 && memcmp(first, second, words * sizeof(uint64_t)) == 0, "one particle");
}

static void
test_events(void)
{
	double *table;
	double *of;
	double most = 0;
	double sum = 0;
	double all = 0;
	static double chosen[60];
	static double parts[40];
	const uint32_t columns[] = {0, 1};
	const double *weights[3] = {chosen, parts, NULL};

	make_mixed();
	fit(PARTICLES);
	table = numbers(60 * 40);
	of = numbers(40);
	table_of(2, columns, true, table);
	for (uint32_t i = 0; i < 60; i++)
		chosen[i] = i % 3 == 0;
	for (uint32_t j = 0; j < 40; j++)
		parts[j] = j / 40.0;
	all = race_particles_event(made.particles, weights, 1, of);
	for (uint32_t j = 0; j < 40; j++)
	{
		double own = 0;

		for (uint32_t i = 0; i < 60; i++)
			own += table[i * 40 + j] * chosen[i] * parts[j];
		most = fmax(most, fabs(own - of[j]));
		sum += own;
	}
	ok(most < 1e-12 && fabs(sum - all) < 1e-12, "events are sums of tables");
	weights[0] = weights[1] = NULL;
	ok(fabs(race_particles_event(made.particles, weights, 0, NULL) - 1) < 1e-9,
	   "what is always so has a probability of 1");
}

static double
next_uniform(void *arg)
{
	return (signed_unit(mix(++*(uint64_t *) arg)) + 1) / 2 * (1 - 0x1p-53);
}

/* The distance of a table of rows from that of particles */
static double
distance_of_rows(const uint32_t *rows, uint32_t n, uint32_t first, uint32_t second)
{
	const uint32_t columns[] = {first, second};
	uint32_t cells = made.groups[first] * made.groups[second];
	double *table = numbers(cells);
	double sum = 0;

	table_of(2, columns, false, table);
	for (uint32_t i = 0; i < n; i++)
		table[made.group_of[first][rows[3 * i + first]] * made.groups[second] +
			  made.group_of[second][rows[3 * i + second]]] -= 1.0 / n;
	for (uint32_t i = 0; i < cells; i++)
		sum += fabs(table[i]) / 2;
	return sum;
}

/* Draw rows by weights, each by itself. */
static void
draw_independent(const uint64_t *words, size_t particles, uint32_t n, uint32_t *rows)
{
	const double *weight = (const double *) words;
	uint64_t seed = 77;

	for (uint32_t i = 0; i < n; i++)
	{
		double left = next_uniform(&seed);
		size_t k = 0;

		while (k + 1 < particles && (left -= weight[k]) > 0)
			k++;
		for (uint32_t j = 0; j < 3; j++)
			rows[3 * i + j] = race_records_cell(words + particles, j * particles + k);
	}
}

/* Is each row one of the particles with weight? */
static bool
are_particles(const uint64_t *words, size_t particles, const uint32_t *rows, uint32_t n)
{
	const double *weight = (const double *) words;
	bool *met = from_memory(NULL, 60 * 40 * 4);
	bool are = true;

	memset(met, 0, 60 * 40 * 4);
	for (size_t k = 0; k < particles; k++)
		if (weight[k] > 0)
			met[(race_records_cell(words + particles, k) * 40 +
				 race_records_cell(words + particles, particles + k)) *
					4 +
				race_records_cell(words + particles, 2 * particles + k)] = true;
	for (uint32_t i = 0; i < n; i++)
		are &= met[(rows[3 * i] * 40 + rows[3 * i + 1]) * 4 + rows[3 * i + 2]];
	return are;
}

static void
test_samples(void)
{
	static const uint32_t sizes[] = {1, 100, 3000, 100000};
	size_t size;
	size_t n;
	uint64_t *words;
	bool are = true;
	bool nearer = true;
	uint64_t seed = 5;

	make_mixed();
	fit(1 << 12);
	words = stored(made.particles, &size);
	/* some have no weight, and must not come */
	for (size_t i = 0; i < 1 << 12; i += 2)
	{
		((double *) words)[i + 1] += ((double *) words)[i];
		((double *) words)[i] = 0;
	}
	made.particles = race_particles_load(&made.columns, 1 << 12, words, from_memory, NULL);
	race_particles_size(made.particles, &n);
	for (int k = 0; k < 4; k++)
	{
		uint32_t *rows = from_memory(NULL, 3 * sizes[k] * sizeof(uint32_t));
		double distance[2] = {0, 0};

		for (int independent = 0; independent < 2; independent++)
		{
			if (independent)
				draw_independent(words, n, sizes[k], rows);
			else
				race_particles_sample(made.particles, next_uniform, &seed, sizes[k], rows,
									  from_memory, NULL);
			are &= are_particles(words, n, rows, sizes[k]);
			for (uint32_t i = 0; i < 3; i++)
				for (uint32_t j = i + 1; j < 3; j++)
					distance[independent] += distance_of_rows(rows, sizes[k], i, j) / 3;
		}
		printf("# %u rows: %.4f off, independent ones %.4f\n", sizes[k], distance[0], distance[1]);
		nearer &= sizes[k] < 100 || distance[0] < (sizes[k] > 2 << 12 ? 0.9 : 0.6) * distance[1];
	}
	ok(are, "rows are particles that have a weight");
	ok(nearer, "tables of rows are nearer to their expectation than those of independent rows");
}

/* ------------------------------------------------------------------- errors */

static void
test_errors(void)
{
	double noise;
	double more;

	make_mixed();
	create(PARTICLES);
	noise = race_particles_noise(made.particles, 1);
	more = race_particles_noise(made.particles, 100);
	ok(noise > 0 && more > 2 * noise && more < 100 * noise && isfinite(more) &&
		   race_particles_noise(made.particles, 1) == noise,
	   "noise of shares is stated (%.5f, with more %.5f)", noise, more);
	ok(race_particles_blur(made.particles) > 0 && race_particles_blur(made.particles) < 0.1,
	   "so is what particles blur (%.5f)", race_particles_blur(made.particles));
}

/* -------------------------------------------------------------------- ends */

/* Counts that nothing can have, or that tell nothing */
static void
test_ends(void)
{
	static const double variances[] = {1e-3, 1, 1e6, 1e18};
	static const double totals[] = {1, 1e3, 1e12};
	bool sound = true;

	for (int v = 0; v < 4; v++)
		for (int t = 0; t < 3; t++)
			for (int way = 0; way < 4; way++)
			{
				double *counts;

				begin(totals[t]);
				add_column(12, 11, 2, NULL);
				add_column(5, 4, 2, NULL);
				add_column(3, 0, 1, NULL);
				add_signs();
				made.signs.variance = variances[v];
				made.sums[0] = way == 2 ? -1e18 : way == 3 ? 1e18 : 0;
				for (int k = 0; k < 3; k++)
				{
					made.table[k].variance = variances[v];
					for (uint32_t i = 0; i < made.cells[k]; i++)
						((double *) made.table[k].counts)[i] = way == 0 ?
							0 :
							way == 1 ?
							(i == 1 ? made.total : 0) :
							sqrt(variances[v]) * signed_unit(mix(i)) * (way == 3 ? 30 : 1);
				}
				counts = add_table(0, 2, 2, variances[v]);
				for (uint32_t i = 0; i < made.groups[0] * made.groups[2]; i++)
					counts[i] = way == 0 ?
						0 :
						way == 1 ?
						(i == 1 ? made.total : 0) :
						sqrt(variances[v]) * signed_unit(mix(i + 99)) * (way == 3 ? 30 : 1);
				counts = add_table(0, 1, 2, variances[v]);
				counts[0] = way == 1 ? made.total : 0;
				fit(1 << 10);
				sound &= are_sound() && isfinite(race_particles_noise(made.particles, 0.5)) &&
					isfinite(race_particles_blur(made.particles));
			}
	ok(sound, "whatever was measured, they are particles");
	begin(1e5);
	for (int j = 0; j < 2; j++)
	{
		add_column(10, 10, 1, NULL);
		for (uint32_t i = 0; i < 10; i++)
			((double *) made.table[j].counts)[i] = i == 4 ? made.total : 0;
	}
	add_table(0, 1, 1, 10)[44] = made.total;
	fit(1 << 12);
	ok(are_sound() && most_distant(0, 3) < 1e-3, "all records in one cell (%.5f off)",
	   most_distant(0, 3));
}

/* More columns than Sobol's sequence has dimensions */
static void
test_dimensions(void)
{
	static double r[MOST_COLUMNS * MOST_COLUMNS];
	uint32_t d = MOST_COLUMNS;
	double most = 0;

	begin(1e6);
	for (uint32_t j = 0; j < d; j++)
		add_column(33, 32, 4, NULL);
	add_signs();
	for (uint32_t i = 0; i < d * d; i++)
		r[i] = i % (d + 1) == 0 ? 1 : 0.4;
	set_sums(r);
	/* of both, 32 of 33 have a sign */
	for (uint32_t k = 0; k < d * (d - 1) / 2; k++)
		made.sums[k] *= 32 * 32 / (33.0 * 33);
	create(1 << 12);
	for (uint32_t i = 0; i < d; i++)
		most = fmax(most, distance_of(&made.table[i]));
	ok(d > RACE_SOBOL_DIMENSIONS && most < 0.06 && are_sound(),
	   "%u columns have their shares (%.4f off)", d, most);
	ok(fabs(race_particles_explained(made.particles) / RACE_DISTANCE_OF_CORRELATION -
			0.4 * 32 * 32 / (33.0 * 33)) < 0.01,
	   "and correlations (%.4f)",
	   race_particles_explained(made.particles) / RACE_DISTANCE_OF_CORRELATION);
	made.sign[0] = NULL;
	add_table(28, 29, 29, 100);
	for (uint32_t i = 0; i < 81; i++)
		((double *) made.table[d].counts)[i] =
			made.total * (i / 9 < 8 ? 4 : 1) * (i % 9 < 8 ? 4 : 1) / (33.0 * 33);
	fit(1 << 12);
	ok(distance_of(&made.table[d]) < 0.03 && are_sound(),
	   "a table of the last two is met (%.4f off)", distance_of(&made.table[d]));
}

int
main(void)
{
	test_margins();
	test_correlations();
	test_nulls();
	test_rare_signs();
	test_pairs();
	test_many_pairs();
	test_parity();
	test_opposites();
	test_common_nulls();
	test_storing();
	test_events();
	test_samples();
	test_errors();
	test_ends();
	test_dimensions();
	free_memory();
	return done_testing();
}
