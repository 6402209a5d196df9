/*
 * release.c
 *		A private release of a table of categories, its model, and samples of it: plain C, without a server
 *
 *		release ROWS SAMPLE EPSILON DELTA SEED ["independent" | GROUPS]
 *
 * Files are 32-bit numbers.  ROWS: how many columns and records, how many cells each column has, how many of these are
 * in an order, and the records, one after the other.  SAMPLE gets as many records.  Noise is of a generator with a seed,
 * so that runs can be repeated: this is for measurements, not for private data.  "independent" measures no pairs.
 * Cells in an order are joined to at most about so many GROUPS in tables of pairs, as race_release() does with numbers.
 * Prints the mean total variation distance between the records and the sample over all pairs of columns, the number of
 * pairs measured, and processor time: of the release with its fits, and of the sample.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../../src/answers/graphical_model.h"
#include "../../../src/core/cells.h"
#include "../../../src/core/contingency_select.h"
#include "../../../src/core/noise.h"

#define ITERATIONS		300
#define NUMBER_GROUPS	32		/* as in src/release/columns.c */

typedef struct Release
{
	uint32_t	columns;
	uint32_t	n;
	uint32_t   *cells;
	uint32_t   *width;			/* cells of a group before groups are joined, */
	uint32_t   *finest;			/* these groups, */
	uint32_t   *ordered;		/* and how many of them are in an order */
	uint32_t   *group_of[RACE_GRAPH_COLUMNS];	/* [cells]: the joined group of each cell */
	uint32_t   *rows;			/* [n][columns] */
	uint64_t	counter;		/* of the generator */
	RaceRandom	random;
	RaceSelect	select;
	RaceGraphColumns model_columns;
	RaceMarginal marginals[RACE_GRAPH_COLUMNS + RACE_SELECT_PAIRS];
	uint32_t	tables;
	RaceGraph  *graph;
} Release;

static void *
allocate(void *arg, size_t size)
{
	void	   *space = calloc(1, size + 1);

	(void) arg;
	if (space == NULL)
		abort();
	return space;
}

/* splitmix64 */
static uint64_t
next_bits(uint64_t *counter)
{
	uint64_t	x = ++*counter * UINT64_C(0x9E3779B97F4A7C15);

	x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
	return x ^ x >> 31;
}

static double
uniform(void *counter)
{
	return (double) (next_bits(counter) >> 11) * 0x1p-53;
}

static void
fill(void *counter, uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t) (next_bits(counter) >> 17);
}

static int64_t
draw(Release *release, uint64_t noise)
{
	return release->select.pure ? race_discrete_laplace(&release->random, noise) :
		race_discrete_gaussian(&release->random, noise);
}

static void
read_numbers(FILE *file, uint32_t *numbers, size_t n)
{
	if (fread(numbers, sizeof(uint32_t), n, file) != n)
	{
		fprintf(stderr, "the file of rows ends too early\n");
		exit(1);
	}
}

static void
read_rows(Release *release, const char *name)
{
	FILE	   *file = fopen(name, "rb");

	if (file == NULL)
	{
		perror(name);
		exit(1);
	}
	read_numbers(file, &release->columns, 1);
	read_numbers(file, &release->n, 1);
	release->cells = allocate(NULL, release->columns * sizeof(uint32_t));
	release->width = allocate(NULL, release->columns * sizeof(uint32_t));
	release->finest = allocate(NULL, release->columns * sizeof(uint32_t));
	release->ordered = allocate(NULL, release->columns * sizeof(uint32_t));
	release->rows = allocate(NULL, (size_t) release->n * release->columns * sizeof(uint32_t));
	read_numbers(file, release->cells, release->columns);
	read_numbers(file, release->ordered, release->columns);
	read_numbers(file, release->rows, (size_t) release->n * release->columns);
	fclose(file);
}

/* Join cells in an order to groups, and give room for what they are joined to later. */
static void
group_cells(Release *release, uint32_t groups)
{
	for (uint32_t i = 0; i < release->columns; i++)
	{
		uint32_t	n = release->cells[i];

		release->width[i] = release->ordered[i] > 0 ? (uint32_t) fmin(race_round_width(ceil((double) n / groups)), n) : 1;
		release->finest[i] = (n + release->width[i] - 1) / release->width[i];
		release->ordered[i] = release->width[i] > 1 ? release->finest[i] : 0;
		release->select.group_of[i] = allocate(NULL, release->finest[i] * sizeof(uint32_t));
		release->group_of[i] = allocate(NULL, n * sizeof(uint32_t));
	}
}

/* The table of two columns of rows, in groups if a map is given */
static void
count_pair(const Release *release, const uint32_t *rows, uint32_t i, uint32_t j, uint32_t *const *map, uint32_t width,
		   double *table)
{
	for (uint32_t k = 0; k < release->n; k++)
	{
		uint32_t	a = rows[(size_t) k * release->columns + i];
		uint32_t	b = rows[(size_t) k * release->columns + j];

		table[map == NULL ? (size_t) a * width + b : (size_t) map[i][a] * width + map[j][b]]++;
	}
}

/* Measure a column, or once more: the mean in proportion to precision. */
static void
measure_column(Release *release, uint32_t column, uint64_t noise, int64_t *noisy)
{
	RaceMarginal *marginal = &release->marginals[column];
	double	   *counts = allocate(NULL, release->cells[column] * sizeof(double));
	double		variance = race_select_variance(&release->select, noise);

	for (uint32_t k = 0; k < release->n; k++)
		counts[release->rows[(size_t) k * release->columns + column]]++;
	for (uint32_t c = 0; c < release->cells[column]; c++)
	{
		counts[c] += (double) draw(release, noise);
		if (noisy != NULL)
			noisy[c / release->width[column]] += (int64_t) counts[c];
		else
			counts[c] = (counts[c] / variance + marginal->counts[c] / marginal->variance) /
				(1 / variance + 1 / marginal->variance);
	}
	if (noisy == NULL)
		variance = 1 / (1 / variance + 1 / marginal->variance);
	*marginal = (RaceMarginal) {column, column, variance, counts};
}

static void
measure_pair(Release *release, const RaceSelectPair *pair)
{
	const uint32_t *groups = release->select.groups;
	size_t		size = (size_t) groups[pair->first] * groups[pair->second];
	double	   *counts = allocate(NULL, size * sizeof(double));

	count_pair(release, release->rows, pair->first, pair->second, release->group_of, groups[pair->second], counts);
	for (size_t i = 0; i < size; i++)
		counts[i] += (double) draw(release, pair->noise);
	release->marginals[release->tables++] = (RaceMarginal) {
		pair->first, pair->second, race_select_variance(&release->select, pair->noise), counts
	};
}

/* Fit all tables, beginning with the parameters of the last fit. */
static void
fit(Release *release)
{
	RaceGraph  *last = release->graph;
	size_t		n;

	release->graph = race_graph_create(&release->model_columns, release->tables, release->marginals, allocate, NULL);
	if (last != NULL)
	{
		double	   *theta = race_graph_theta(last, &n);
		size_t		all;

		memcpy(race_graph_theta(release->graph, &all), theta, n * sizeof(double));
	}
	race_graph_fit(release->graph, release->select.total, ITERATIONS);
}

/* Noisy distances of all pairs from the model */
static int64_t *
score(Release *release, uint64_t noise)
{
	const uint32_t *groups = release->select.groups;
	int64_t    *scores = allocate(NULL, sizeof(int64_t) * release->columns * release->columns);
	int64_t    *next = scores;

	for (uint32_t i = 0; i < release->columns; i++)
		for (uint32_t j = i + 1; j < release->columns; j++, next++)
		{
			size_t		size = (size_t) groups[i] * groups[j];
			double	   *exact = allocate(NULL, size * sizeof(double));
			double	   *reference = allocate(NULL, size * sizeof(double));

			count_pair(release, release->rows, i, j, release->group_of, groups[j], exact);
			race_graph_pair(release->graph, i, j, false, reference);
			for (size_t k = 0; k < size; k++)
				*next += (int64_t) fabs(exact[k] - floor(reference[k] * release->select.total + 0.5));
			*next += draw(release, noise);
			free(exact);
			free(reference);
		}
	return scores;
}

static void
make_release(Release *release)
{
	RaceSelect *select = &release->select;
	int64_t    *noisy;
	uint64_t	again[RACE_GRAPH_COLUMNS];
	uint64_t	noise;
	size_t		groups = 0;

	for (uint32_t i = 0; i < release->columns; i++)
		groups += release->finest[i];
	noisy = allocate(NULL, groups * sizeof(int64_t));
	noise = race_select_count(select);
	if (noise == 0 || !race_select_one_ways(select, (int64_t) release->n + draw(release, noise)))
	{
		fprintf(stderr, "the noise would be too large\n");
		exit(1);
	}
	groups = 0;
	for (uint32_t i = 0; i < release->columns; groups += release->finest[i++])
		measure_column(release, i, select->one_way[i], noisy + groups);
	release->tables = release->columns;
	race_select_join(select, noisy);
	for (uint32_t i = 0; i < release->columns; i++)
		for (uint32_t c = 0; c < release->cells[i]; c++)
			release->group_of[i][c] = select->group_of[i][c / release->width[i]];
	release->model_columns = (RaceGraphColumns) {
		release->columns, release->cells, select->groups, (const uint32_t *const *) release->group_of
	};
	if (race_select_all(select))
		for (uint32_t k = 0; k < select->measured; k++)
			measure_pair(release, &select->pairs[k]);
	fit(release);
	while ((noise = race_select_scores(select)) != 0)
	{
		uint32_t	from = select->measured;

		race_select_choose(select, score(release, noise));
		for (uint32_t k = from; k < select->measured; k++)
			measure_pair(release, &select->pairs[k]);
		fit(release);
	}
	if (!race_select_rest(select, again))
		return;
	for (uint32_t i = 0; i < release->columns; i++)
		measure_column(release, i, again[i], NULL);
	fit(release);
}

/* Tables of one column get the whole budget. */
static void
make_independent(Release *release)
{
	RaceSelect	one = release->select;
	double		cells = 0;

	for (uint32_t i = 0; i < release->columns; i++)
		cells += one.pure ? sqrt(release->cells[i]) : cbrt(pow(release->cells[i], 2));
	release->select.total = release->n;
	for (uint32_t i = 0; i < release->columns; i++)
	{
		double		part = (one.pure ? sqrt(release->cells[i]) : cbrt(pow(release->cells[i], 2))) / cells;
		int64_t    *noisy = allocate(NULL, release->cells[i] * sizeof(int64_t));

		measure_column(release, i, one.pure ? (uint64_t) ceil(RACE_SCALE_DENOMINATOR / (one.budget * part)) :
					   race_variance_for_rho(one.budget * part, 1), noisy);
	}
	release->tables = release->columns;
	release->model_columns = (RaceGraphColumns) {
		release->columns, release->cells, release->cells, (const uint32_t *const *) release->group_of
	};
	fit(release);
}

static double *
ones(uint32_t n)
{
	double	   *numbers = allocate(NULL, n * sizeof(double));

	for (uint32_t i = 0; i < n; i++)
		numbers[i] = 1;
	return numbers;
}

static double
mean_distance(const Release *release, const uint32_t *sample)
{
	double		sum = 0;

	for (uint32_t i = 0; i < release->columns; i++)
		for (uint32_t j = i + 1; j < release->columns; j++)
		{
			size_t		size = (size_t) release->cells[i] * release->cells[j];
			double	   *tables = allocate(NULL, 2 * size * sizeof(double));

			count_pair(release, release->rows, i, j, NULL, release->cells[j], tables);
			count_pair(release, sample, i, j, NULL, release->cells[j], tables + size);
			for (size_t k = 0; k < size; k++)
				sum += fabs(tables[k] - tables[size + k]) / (2.0 * release->n);
			free(tables);
		}
	return 2 * sum / release->columns / fmax(release->columns - 1, 1);
}

int
main(int argc, char **argv)
{
	static Release release;
	RaceSelect *select = &release.select;
	double		delta;
	bool		independent = argc > 6 && strcmp(argv[6], "independent") == 0;
	uint32_t   *sample;
	clock_t		times[3];
	FILE	   *file;

	if (argc < 6)
	{
		fprintf(stderr, "usage: release ROWS SAMPLE EPSILON DELTA SEED [independent | GROUPS]\n");
		return 2;
	}
	read_rows(&release, argv[1]);
	group_cells(&release, argc > 6 && !independent ? (uint32_t) atoi(argv[6]) : NUMBER_GROUPS);
	delta = atof(argv[4]);
	release.counter = strtoull(argv[5], NULL, 10) << 40;
	release.random.fill = fill;
	release.random.arg = &release.counter;
	select->columns = release.columns;
	select->cells = release.cells;
	select->finest = release.finest;
	select->ordered = release.ordered;
	select->weights = ones(release.columns);
	select->parts = 1;
	select->unit = 1;
	select->pure = delta == 0;
	select->budget = select->pure ? atof(argv[3]) : race_rho_allowed(atof(argv[3]), delta);
	select->max_contributions = 1;
	times[0] = clock();
	if (independent)
		make_independent(&release);
	else
		make_release(&release);
	times[1] = clock();
	sample = allocate(NULL, (size_t) release.n * release.columns * sizeof(uint32_t));
	race_graph_sample(release.graph, uniform, &release.counter, release.n, sample,
					  allocate(NULL, release.n * (release.columns + RACE_GRAPH_SAMPLE) * sizeof(uint32_t)));
	times[2] = clock();
	printf("%.5f %u %.3f %.3f\n", mean_distance(&release, sample), select->measured,
		   (double) (times[1] - times[0]) / CLOCKS_PER_SEC, (double) (times[2] - times[1]) / CLOCKS_PER_SEC);
	file = fopen(argv[2], "wb");
	if (file == NULL || fwrite(sample, sizeof(uint32_t), (size_t) release.n * release.columns, file) !=
		(size_t) release.n * release.columns || fclose(file) != 0)
	{
		perror(argv[2]);
		return 1;
	}
	return 0;
}
