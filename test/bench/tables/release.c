/*
 * release.c
 *		A private release of a table of categories, its model, and samples of it: plain C, without a server
 *
 *		release ROWS SAMPLE EPSILON DELTA SEED ["independent" | GROUPS] [ask=I,J[,K]] ... [look=I,J[,K]] ...
 *
 * Files are 32-bit numbers.  ROWS: how many columns and records, how many cells each column has, how many of these are
 * in an order, and the records, one after the other.  SAMPLE gets as many records.  Noise is of a generator with a seed,
 * so that runs can be repeated: this is for measurements, not for private data.  "independent" measures no pairs.  Cells
 * in an order are joined to at most about so many GROUPS in tables of pairs, as race_release() does with numbers.  Tables
 * of two or three columns are asked for, those of three first, or looked at: columns are numbers from 0 on, in
 * ascending order.  Prints the mean total variation distance between the records and the sample over all pairs of
 * columns, the number of tables measured besides those of columns, processor time, of the release with its fits and of
 * the sample, and the distance of each table that is asked for or looked at.
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
#define MOST_ASKED		64
#define ASKED_WEIGHT	4

void		(*race_interrupt_hook) (void);

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
	RaceMarginal marginals[RACE_GRAPH_COLUMNS + RACE_SELECT_TABLES];
	RaceSelectTable looked_at[MOST_ASKED];
	uint32_t	n_looked_at;
	uint32_t	number_groups;
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
		for (uint32_t c = 0; c < n; c++)
			release->group_of[i][c] = c;
	}
}

/* The cells of a table, by the sizes of its columns */
static size_t
table_size(const RaceSelectTable *table, const uint32_t *sizes)
{
	return (size_t) sizes[table->first] * sizes[table->second] * (table->third != table->second ? sizes[table->third] : 1);
}

/* The table of two or three columns of rows, in groups if a map is given; sizes of the columns */
static double *
count_table(const Release *release, const uint32_t *rows, const RaceSelectTable *table, uint32_t *const *map,
			const uint32_t *sizes)
{
	const uint32_t columns[] = {table->first, table->second, table->third};
	double	   *counts = allocate(NULL, table_size(table, sizes) * sizeof(double));

	for (uint32_t k = 0; k < release->n; k++)
	{
		size_t		cell = 0;

		for (int i = 0; i < (table->third != table->second ? 3 : 2); i++)
		{
			uint32_t	value = rows[(size_t) k * release->columns + columns[i]];

			cell = cell * sizes[columns[i]] + (map == NULL ? value : map[columns[i]][value]);
		}
		counts[cell]++;
	}
	return counts;
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
	*marginal = (RaceMarginal) {column, column, column, variance, counts};
}

static void
measure_table(Release *release, const RaceSelectTable *table)
{
	const uint32_t *groups = release->select.groups;
	double	   *counts = count_table(release, release->rows, table, release->group_of, groups);

	for (size_t i = 0; i < table_size(table, groups); i++)
		counts[i] += (double) draw(release, table->noise);
	release->marginals[release->tables++] = (RaceMarginal) {
		table->first, table->second, table->third, race_select_variance(&release->select, table->noise), counts
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

/* Noisy distance of a table from the model */
static int64_t
score(Release *release, const RaceSelectTable *table, uint64_t noise)
{
	const uint32_t columns[] = {table->first, table->second, table->third};
	size_t		size = table_size(table, release->select.groups);
	double	   *exact = count_table(release, release->rows, table, release->group_of, release->select.groups);
	double	   *reference = allocate(NULL, size * sizeof(double));
	int64_t		sum = draw(release, noise);

	if (table->third == table->second)
		race_graph_pair(release->graph, table->first, table->second, false, reference);
	else
		race_graph_triple(release->graph, columns, reference);
	for (size_t k = 0; k < size; k++)
		sum += (int64_t) fabs(exact[k] - floor(reference[k] * release->select.total + 0.5));
	free(exact);
	free(reference);
	return sum;
}

static int64_t *
draw_scores(Release *release, uint64_t noise)
{
	int64_t    *scores = allocate(NULL, sizeof(int64_t) * RACE_SELECT_SCORES);
	uint32_t	n = 0;

	for (uint32_t i = 0; i < release->columns; i++)
		for (uint32_t j = i + 1; j < release->columns; j++)
			scores[n++] = score(release, &(RaceSelectTable) {i, j, j, 1, 0}, noise);
	for (uint32_t k = 0; n < race_select_candidates(&release->select); k++)
		scores[n++] = score(release, &release->select.asked[k], noise);
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
			measure_table(release, &select->table[k]);
	fit(release);
	while ((noise = race_select_scores(select)) != 0)
	{
		uint32_t	from = select->measured;

		race_select_choose(select, draw_scores(release, noise));
		for (uint32_t k = from; k < select->measured; k++)
			measure_table(release, &select->table[k]);
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
distance(const Release *release, const uint32_t *sample, const RaceSelectTable *table)
{
	double	   *exact = count_table(release, release->rows, table, NULL, release->cells);
	double	   *found = count_table(release, sample, table, NULL, release->cells);
	double		sum = 0;

	for (size_t k = 0; k < table_size(table, release->cells); k++)
		sum += fabs(exact[k] - found[k]) / (2.0 * release->n);
	free(exact);
	free(found);
	return sum;
}

static double
mean_distance(const Release *release, const uint32_t *sample)
{
	double		sum = 0;

	for (uint32_t i = 0; i < release->columns; i++)
		for (uint32_t j = i + 1; j < release->columns; j++)
			sum += distance(release, sample, &(RaceSelectTable) {i, j, j, 1, 0});
	return 2 * sum / release->columns / fmax(release->columns - 1, 1);
}

/* Read options; returns whether columns are to be independent. */
static bool
read_options(Release *release, int n, char **options)
{
	bool		independent = false;

	release->number_groups = NUMBER_GROUPS;
	for (int i = 0; i < n; i++)
	{
		RaceSelectTable *table = &release->looked_at[release->n_looked_at];
		int			columns = sscanf(options[i], "%*[a-z]=%u,%u,%u", &table->first, &table->second, &table->third);

		independent |= strcmp(options[i], "independent") == 0;
		if (atoi(options[i]) > 0)
			release->number_groups = (uint32_t) atoi(options[i]);
		if (columns < 2)
			continue;
		if (columns == 2)
			table->third = table->second;
		table->weight = ASKED_WEIGHT;
		if (options[i][0] == 'a')
			release->select.n_asked = ++release->n_looked_at;
		else
			release->n_looked_at++;
	}
	release->select.asked = release->looked_at;
	return independent;
}

int
main(int argc, char **argv)
{
	static Release release;
	RaceSelect *select = &release.select;
	double		delta;
	bool		independent;
	uint32_t   *sample;
	clock_t		times[3];
	FILE	   *file;

	if (argc < 6)
	{
		fprintf(stderr, "usage: release ROWS SAMPLE EPSILON DELTA SEED [independent | GROUPS] [ask=I,J,K] [look=I,J,K]\n");
		return 2;
	}
	read_rows(&release, argv[1]);
	independent = read_options(&release, argc - 6, argv + 6);
	group_cells(&release, release.number_groups);
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
	printf("%.5f %u %.3f %.3f", mean_distance(&release, sample), select->measured,
		   (double) (times[1] - times[0]) / CLOCKS_PER_SEC, (double) (times[2] - times[1]) / CLOCKS_PER_SEC);
	for (uint32_t k = 0; k < release.n_looked_at; k++)
		printf(" %.5f", distance(&release, sample, &release.looked_at[k]));
	printf("\n");
	file = fopen(argv[2], "wb");
	if (file == NULL || fwrite(sample, sizeof(uint32_t), (size_t) release.n * release.columns, file) !=
		(size_t) release.n * release.columns || fclose(file) != 0)
	{
		perror(argv[2]);
		return 1;
	}
	return 0;
}
