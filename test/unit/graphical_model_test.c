/*
 * graphical_model_test.c
 *		The graphical model against sums over all rows: probabilities, events, samples, and the fit.
 */
#include "answers/graphical_model.h"
#include "hash/contingency.h"
#include "helpers.h"
#include "tap.h"

#define COLUMNS 6
#define MOST_CELLS 5
#define MOST_ROWS 20000
#define CHUNK_HEADER 16 /* as malloc aligns */
#define MOST_TABLES (COLUMNS + COLUMNS * COLUMNS)
#define MOST_OF_TABLE (MOST_CELLS * MOST_CELLS * MOST_CELLS)

/* The shares of the cells of a column */
static void
column_table(RaceGraph *graph, uint32_t column, double *table)
{
	static const double *const no_weights[RACE_GRAPH_COLUMNS];

	race_graph_event(graph, no_weights, column, table);
}

static void *
allocate(void *arg, size_t size)
{
	/* reachable until the end, for those that look for leaks */
	static void *last = NULL;
	void **space = malloc(size + CHUNK_HEADER);

	(void) arg;
	if (space == NULL)
		abort();
	/* whoever does not initialize memory gets no zeros */
	memset(space, 0xA5, size + CHUNK_HEADER);
	*space = last;
	last = space;
	return (char *) space + CHUNK_HEADER;
}

static double
uniform(void *arg)
{
	uint64_t *counter = arg;

	return (double) (mix((*counter)++) >> 11) * 0x1p-53;
}

/* A small model, and the probability of each row of it */
typedef struct Model
{
	RaceGraphColumns columns;
	uint32_t cells[COLUMNS];
	uint32_t groups[COLUMNS];
	uint32_t maps[COLUMNS][MOST_CELLS];
	const uint32_t *group_of[COLUMNS];
	uint32_t tables;
	RaceMarginal table[MOST_TABLES];
	RaceGraph *graph;
	double *theta;
	size_t parameters;
	uint32_t rows;
	double probability[MOST_ROWS];
} Model;

static void
row_of(const Model *model, uint32_t k, uint32_t *row)
{
	for (uint32_t i = 0; i < model->columns.columns; i++)
	{
		row[i] = k % model->cells[i];
		k /= model->cells[i];
	}
}

/* The place of a row in a measured table */
static size_t
place_of(const Model *model, const RaceMarginal *table, const uint32_t *row)
{
	uint32_t a = table->first;
	uint32_t b = table->second;

	uint32_t c = table->third;
	size_t place;

	if (a == b)
		return row[a];
	place = (size_t) model->maps[a][row[a]] * model->groups[b] + model->maps[b][row[b]];
	return c == b ? place : place * model->groups[c] + model->maps[c][row[c]];
}

static size_t
size_of(const Model *model, const RaceMarginal *table)
{
	return table->first == table->second ?
		model->cells[table->first] :
		(size_t) model->groups[table->first] * model->groups[table->second] *
			(table->third != table->second ? model->groups[table->third] : 1);
}

static void
enumerate(Model *model)
{
	double sum = 0;

	for (uint32_t k = 0; k < model->rows; k++)
	{
		uint32_t row[COLUMNS];
		const double *theta = model->theta;
		double log_p = 0;

		row_of(model, k, row);
		for (uint32_t t = 0; t < model->tables; t++)
		{
			log_p += theta[place_of(model, &model->table[t], row)];
			theta += size_of(model, &model->table[t]);
		}
		model->probability[k] = exp(log_p);
		sum += model->probability[k];
	}
	for (uint32_t k = 0; k < model->rows; k++)
		model->probability[k] /= sum;
}

/* Random columns, groups, pairs and parameters of a size of `spread` */
static Model *
make_model(uint64_t seed, uint32_t columns, double density, double spread)
{
	Model *model = allocate(NULL, sizeof(Model));

	model->columns =
		(RaceGraphColumns){columns, model->cells, model->groups, model->group_of, NULL};
	model->rows = 1;
	model->tables = 0;
	for (uint32_t i = 0; i < columns; i++)
	{
		uint32_t cells = 1 + (uint32_t) (mix(seed++) % MOST_CELLS);
		uint32_t groups = 1 + (uint32_t) (mix(seed++) % cells);

		model->cells[i] = cells;
		model->groups[i] = groups;
		model->group_of[i] = groups == cells ? NULL : model->maps[i];
		/* not always neighbors */
		for (uint32_t c = 0; c < cells; c++)
			model->maps[i][c] = groups == cells ? c : c % groups;
		model->rows *= cells;
		model->table[model->tables++] = (RaceMarginal){i, i, i, 1, NULL, 0, 0, 0};
	}
	for (uint32_t i = 0; i < columns; i++)
		for (uint32_t j = i + 1; j < columns; j++)
			if (uniform(&seed) < density)
				model->table[model->tables++] = mix(seed++) % 2 ?
					(RaceMarginal){i, j, j, 1, NULL, 0, 0, 0} :
					(RaceMarginal){j, i, i, 1, NULL, 0, 0, 0};
	for (uint32_t i = 0; i + 2 < columns; i++)
		if (uniform(&seed) < density / 2)
			model->table[model->tables++] = mix(seed++) % 2 ?
				(RaceMarginal){i, i + 1, i + 2, 1, NULL, 0, 0, 0} :
				(RaceMarginal){i + 2, i, i + 1, 1, NULL, 0, 0, 0};
	model->graph = race_graph_create(&model->columns, model->tables, model->table, allocate, NULL);
	model->theta = race_graph_theta(model->graph, &model->parameters);
	for (size_t i = 0; i < model->parameters; i++)
		model->theta[i] = spread * signed_unit(mix(seed++));
	race_graph_calibrate(model->graph);
	enumerate(model);
	return model;
}

/* The largest error of any column's and any pair's table */
static double
error_of_tables(Model *model)
{
	double worst = 0;
	uint32_t d = model->columns.columns;

	for (uint32_t i = 0; i < d; i++)
		for (uint32_t j = 0; j < d; j++)
			for (int by_cell = 0; by_cell < 2; by_cell++)
			{
				double exact[MOST_CELLS * MOST_CELLS] = {0};
				double table[MOST_CELLS * MOST_CELLS];
				uint32_t m = i == j ? 1 : by_cell ? model->cells[j] : model->groups[j];
				uint32_t n = i == j || by_cell ? model->cells[i] : model->groups[i];

				for (uint32_t k = 0; k < model->rows; k++)
				{
					uint32_t row[COLUMNS];
					uint32_t a;
					uint32_t b;

					row_of(model, k, row);
					a = i == j || by_cell ? row[i] : model->maps[i][row[i]];
					b = i == j ? 0 : by_cell ? row[j] : model->maps[j][row[j]];
					exact[a * m + b] += model->probability[k];
				}
				if (i == j)
					column_table(model->graph, i, table);
				else
					race_graph_pair(model->graph, i, j, by_cell, table);
				worst = fmax(worst, most_apart(exact, table, n * m));
			}
	return worst;
}

/* By how much tables of three columns have other tables of pairs than the model */
static double
error_of_triples(Model *model)
{
	static const uint32_t others[3][2] = {{1, 2}, {0, 2}, {0, 1}};
	double worst = 0;

	for (uint32_t first = 0; first + 2 < model->columns.columns; first++)
	{
		const uint32_t columns[] = {first + 2, first, first + 1};
		const uint32_t size[] = {model->groups[first + 2], model->groups[first],
								 model->groups[first + 1]};
		double triple[MOST_OF_TABLE];

		race_graph_triple(model->graph, columns, triple);
		for (int p = 0; p < 3; p++)
		{
			double pair[MOST_CELLS * MOST_CELLS];
			double sums[MOST_CELLS * MOST_CELLS] = {0};

			race_graph_pair(model->graph, columns[others[p][0]], columns[others[p][1]], false,
							pair);
			for (uint32_t cell = 0; cell < size[0] * size[1] * size[2]; cell++)
			{
				const uint32_t place[] = {cell / size[2] / size[1], cell / size[2] % size[1],
										  cell % size[2]};

				sums[place[others[p][0]] * size[others[p][1]] + place[others[p][1]]] +=
					triple[cell];
			}
			worst = fmax(worst, most_apart(pair, sums, size[others[p][0]] * size[others[p][1]]));
		}
	}
	return worst;
}

/* The largest error of the tables of columns under random events */
static double
error_of_events(Model *model, uint64_t seed)
{
	double worst = 0;
	uint32_t d = model->columns.columns;

	for (int event = 0; event < 10; event++)
	{
		double weights[COLUMNS][MOST_CELLS];
		const double *given[COLUMNS];
		uint32_t of = (uint32_t) (mix(seed++) % d);
		double exact[MOST_CELLS] = {0};
		double table[MOST_CELLS];
		double sum = 0;
		double p;

		for (uint32_t i = 0; i < d; i++)
		{
			given[i] = mix(seed++) % 2 ? weights[i] : NULL;
			for (uint32_t c = 0; c < model->cells[i]; c++)
				weights[i][c] = mix(seed++) % 3 == 0 ? 0 : uniform(&seed);
		}
		for (uint32_t k = 0; k < model->rows; k++)
		{
			uint32_t row[COLUMNS];
			double weight = model->probability[k];

			row_of(model, k, row);
			for (uint32_t i = 0; i < d; i++)
				weight *= given[i] == NULL ? 1 : given[i][row[i]];
			exact[row[of]] += weight;
			sum += weight;
		}
		p = race_graph_event(model->graph, given, of, table);
		worst = fmax(worst, most_apart(exact, table, model->cells[of]));
		worst = fmax(worst, fabs(p - sum));
		worst = fmax(worst, fabs(race_graph_event(model->graph, given, of, NULL) - sum));
	}
	return worst;
}

static void
test_answers(void)
{
	double tables = 0;
	double events = 0;
	double triples = 0;
	double control;
	Model *model;

	for (uint64_t seed = 0; seed < CASES(300, 60); seed++)
	{
		model = make_model(seed * 1000, 1 + (uint32_t) (seed % COLUMNS), (double) (seed % 7) / 6,
						   seed % 5 != 0      ? 2 :
							   seed % 10 == 0 ? 300 :
												30);
		tables = fmax(tables, error_of_tables(model));
		events = fmax(events, error_of_events(model, seed));
		triples = fmax(triples, seed % 5 == 0 ? 0 : error_of_triples(model));
	}
	printf("# largest errors: tables %g, events %g, triples %g\n", tables, events, triples);
	ok(tables < 1e-10, "tables of columns and pairs are sums over all rows");
	ok(events < 1e-10, "so are events");
	ok(triples < 5e-3, "tables of three columns have the tables of their pairs");
	model = make_model(4000, 5, 0.5, 2);
	model->theta[model->parameters - 1] += 0.01;
	enumerate(model);
	control = error_of_tables(model);
	ok(control > 1e-6, "control: another parameter is seen");
}

/*
 * Move large numbers from tables of pairs to those of their columns.  They cancel in the
 * probability of each row, but not where tables are in different cliques.
 */
static void
move_parameters(Model *model, uint64_t seed)
{
	double *of_column[COLUMNS];
	double *theta = model->theta;

	for (uint32_t t = 0; t < model->tables; t++)
	{
		const RaceMarginal *table = &model->table[t];
		size_t size = size_of(model, table);

		if (t < model->columns.columns)
			of_column[t] = theta;
		else if (table->third == table->second)
			for (uint32_t g = 0; g < model->groups[table->second]; g++)
			{
				double shift = 1000 * signed_unit(mix(seed++));

				for (size_t i = g; i < size; i += model->groups[table->second])
					theta[i] += shift;
				for (uint32_t c = 0; c < model->cells[table->second]; c++)
					if (model->maps[table->second][c] == g)
						of_column[table->second][c] -= shift;
			}
		theta += size;
	}
	race_graph_calibrate(model->graph);
}

static void
test_large_parameters(void)
{
	double worst = 0;

	for (uint64_t seed = 0; seed < CASES(100, 20); seed++)
	{
		Model *model = make_model(seed * 1000, COLUMNS, (double) (seed % 7) / 6, 2);

		move_parameters(model, seed * 1000);
		worst = fmax(worst, error_of_tables(model));
	}
	printf("# largest error: %g\n", worst);
	ok(worst < 1e-9, "parameters may be large where they cancel in the probability of a row");
}

#define BINS 33

/* A model with so many rows that each bin has some */
static Model *
make_large_model(uint64_t seed, double density)
{
	Model *model;

	do
		model = make_model(seed += 1000, 5, density, 1);
	while (model->rows < 20 * BINS);
	return model;
}

/* A chi-square test of one row of each of many samples, since rows of a sample are stratified */
static double
tail_of_sample(Model *model, const double *probability, uint32_t samples, uint32_t n, uint64_t seed)
{
	double expected[BINS] = {0};
	uint64_t observed[BINS] = {0};

	for (uint32_t k = 0; k < model->rows; k++)
		expected[mix(k) % BINS] += probability[k] * samples;
	for (uint32_t s = 0; s < samples; s++)
	{
		uint32_t rows[COLUMNS * 64];
		uint32_t space[(COLUMNS + RACE_GRAPH_SAMPLE) * 64];
		uint32_t k = 0;
		uint32_t take = (uint32_t) (mix(seed++) % n);

		race_graph_sample(model->graph, uniform, &seed, n, rows, space);
		for (uint32_t i = model->columns.columns; i-- > 0;)
			k = k * model->cells[i] + rows[take * model->columns.columns + i];
		observed[mix(k) % BINS]++;
	}
	return chi_square_tail(chi_square(observed, expected, BINS), BINS - 1);
}

static void
test_samples(void)
{
	double least = 1;
	Model *model = NULL;
	double *other;

	for (uint64_t seed = 0; seed < 8; seed++)
	{
		model = make_large_model(77 + seed * 1000000, 0.2 + 0.1 * (double) seed);
		least = fmin(
			least, tail_of_sample(model, model->probability, 20000, 1 + (uint32_t) seed * 9, seed));
	}
	printf("# least tail of a chi-square test: %g\n", least);
	ok(least > 1e-6, "rows of samples have the distribution of the model (fixed seeds)");
	other = allocate(NULL, model->rows * sizeof(double));
	for (uint32_t k = 0; k < model->rows; k++)
		other[k] = 1.0 / model->rows;
	ok(tail_of_sample(model, model->probability, 20000, 10, 5) > 1e-6 &&
		   tail_of_sample(model, other, 20000, 10, 5) < 1e-9,
	   "control: they have no other one");
}

/* Frequencies of cells and pairs of one large sample, against those of independent rows */
static void
test_stratified(void)
{
	Model *model = make_model(31000, 6, 0.4, 1);
	uint32_t n = 20000;
	uint32_t *rows = allocate(NULL, n * COLUMNS * sizeof(uint32_t));
	uint64_t seed = 3;
	double worst = 0;

	race_graph_sample(model->graph, uniform, &seed, n, rows,
					  allocate(NULL, n * (COLUMNS + RACE_GRAPH_SAMPLE) * sizeof(uint32_t)));
	for (uint32_t t = 0; t < model->tables; t++)
	{
		const RaceMarginal *table = &model->table[t];
		size_t size = size_of(model, table);
		double expected[MOST_OF_TABLE] = {0};
		double observed[MOST_OF_TABLE] = {0};

		for (uint32_t k = 0; k < model->rows; k++)
		{
			uint32_t row[COLUMNS];

			row_of(model, k, row);
			expected[place_of(model, table, row)] += n * model->probability[k];
		}
		for (uint32_t k = 0; k < n; k++)
			observed[place_of(model, table, rows + k * COLUMNS)]++;
		for (size_t i = 0; i < size; i++)
			worst = fmax(worst, fabs(observed[i] - expected[i]) / sqrt(expected[i] + 1));
	}
	printf("# frequencies are at most %.2f standard deviations of independent rows off\n", worst);
	ok(worst < 2, "frequencies of a sample are near those of the model");
}

/*
 * Uniform columns of four cells in one clique: each repeats at regular distances in rows that are
 * sorted by others.
 */
static void
test_regular(void)
{
	static const uint32_t cells[] = {4, 4, 4, 4};
	static const uint32_t *const group_of[4];
	const RaceGraphColumns columns = {4, cells, cells, group_of, NULL};
	RaceMarginal tables[10];
	uint32_t n = 0;
	RaceGraph *graph;
	double worst = 0;

	for (uint32_t i = 0; i < 4; i++)
		tables[n++] = (RaceMarginal){i, i, i, 1, NULL, 0, 0, 0};
	for (uint32_t i = 0; i < 4; i++)
		for (uint32_t j = i + 1; j < 4; j++)
			tables[n++] = (RaceMarginal){i, j, j, 1, NULL, 0, 0, 0};
	graph = race_graph_create(&columns, n, tables, allocate, NULL);
	for (uint64_t seed = 1; seed <= 20; seed++)
	{
		uint32_t rows[64 * 4];
		uint32_t space[64 * (4 + RACE_GRAPH_SAMPLE)];
		double counts[16] = {0};
		uint64_t counter = seed << 32;

		race_graph_sample(graph, uniform, &counter, 64, rows, space);
		for (int k = 0; k < 64; k++)
			counts[rows[4 * k + 2] * 4 + rows[4 * k + 3]]++;
		for (int i = 0; i < 16; i++)
			worst = fmax(worst, fabs(counts[i] - 4));
	}
	printf("# of 64 rows, at most %g more or less than 4 are in a cell of 16\n", worst);
	ok(worst < 9, "columns that repeat at regular distances are independent (fixed seeds)");
}

/* Fit the exact tables of a distribution over rows, with little noise */
static uint32_t
fit_exactly(Model *model, const double *probability, double total)
{
	for (uint32_t t = 0; t < model->tables; t++)
	{
		RaceMarginal *table = &model->table[t];
		size_t size = size_of(model, table);
		double *counts = allocate(NULL, size * sizeof(double));

		memset(counts, 0, size * sizeof(double));
		for (uint32_t k = 0; k < model->rows; k++)
		{
			uint32_t row[COLUMNS];

			row_of(model, k, row);
			counts[place_of(model, table, row)] += total * probability[k];
		}
		table->counts = counts;
		table->variance = 1;
	}
	memset(model->theta, 0, model->parameters * sizeof(double));
	return race_graph_fit(model->graph, total, 2000);
}

/*
 * Of all distributions with given tables, that of maximum entropy is the one of the form of the
 * model: so a model with parameters is found again from its tables.
 */
static void
test_fit(void)
{
	double worst = 0;
	uint32_t most = 0;

	for (uint64_t seed = 0; seed < 60; seed++)
	{
		Model *model = make_model(seed * 1000 + 7, 1 + (uint32_t) (seed % COLUMNS),
								  (double) (seed % 7) / 6, 1);
		double *probability = allocate(NULL, model->rows * sizeof(double));
		uint32_t iterations;

		memcpy(probability, model->probability, model->rows * sizeof(double));
		iterations = fit_exactly(model, probability, 1e9);
		most = iterations > most ? iterations : most;
		enumerate(model);
		worst = fmax(worst, error_of_tables(model));
		worst = fmax(worst, most_apart(probability, model->probability, model->rows));
	}
	printf("# largest error of a probability: %g, at most %u iterations\n", worst, most);
	ok(worst < 1e-3 && most < 500, "models are found again from their tables");
}

/*
 * Tables of any distribution: its pairs are reproduced, and columns without a pair are independent.
 */
static void
test_entropy(void)
{
	Model *model = make_model(12000, 5, 0, 1);
	double *probability = allocate(NULL, model->rows * sizeof(double));
	double sum = 0;
	double difference = 0;

	for (uint32_t k = 0; k < model->rows; k++)
		sum += probability[k] = uniform(&(uint64_t){k});
	for (uint32_t k = 0; k < model->rows; k++)
		probability[k] /= sum;
	fit_exactly(model, probability, 1e9);
	for (uint32_t i = 0; i < 5; i++)
		for (uint32_t j = i + 1; j < 5; j++)
		{
			double table[MOST_CELLS * MOST_CELLS];
			double first[MOST_CELLS];
			double second[MOST_CELLS];

			column_table(model->graph, i, first);
			column_table(model->graph, j, second);
			race_graph_pair(model->graph, i, j, true, table);
			for (uint32_t a = 0; a < model->cells[i]; a++)
				for (uint32_t b = 0; b < model->cells[j]; b++)
					difference = fmax(difference,
									  fabs(table[a * model->cells[j] + b] - first[a] * second[b]));
		}
	ok(difference < 1e-12, "columns without tables of pairs are independent");
}

/*
 * Noisy tables contradict each other and have negative counts.  The fit still ends at the optimum:
 * theta is where (m - mu) / r, with r as graphical_fit.c says, so that tables with more noise are
 * farther off, and never farther than noise goes.
 */
static void
test_noise(void)
{
	double worst = 0;
	double closer = 0;
	uint32_t most = 0;

	for (uint64_t seed = 0; seed < 40; seed++)
	{
		Model *model = make_model(seed * 1000 + 3, 4, 0.6, 1);
		double *probability = allocate(NULL, model->rows * sizeof(double));
		double errors[2] = {0, 0};
		uint64_t counter = seed << 32;
		uint32_t iterations;

		memcpy(probability, model->probability, model->rows * sizeof(double));
		fit_exactly(model, probability, 1000);
		for (uint32_t t = 0; t < model->tables; t++)
		{
			double *counts = (double *) model->table[t].counts;

			model->table[t].variance = 900;
			for (size_t i = 0; i < size_of(model, &model->table[t]); i++)
			{
				/* uniform noise with a standard deviation of 30 */
				double noise = 30 * sqrt(3) * signed_unit(mix(counter++));

				counts[i] += noise;
				errors[0] += fabs(noise) / 1000;
			}
		}
		memset(model->theta, 0, model->parameters * sizeof(double));
		iterations = race_graph_fit(model->graph, 1000, 2000);
		most = iterations > most ? iterations : most;
		enumerate(model);
		worst = fmax(worst, error_of_tables(model));
		for (uint32_t t = 0; t < model->tables; t++)
		{
			double difference[MOST_OF_TABLE] = {0};

			for (uint32_t k = 0; k < model->rows; k++)
			{
				uint32_t row[COLUMNS];

				row_of(model, k, row);
				difference[place_of(model, &model->table[t], row)] +=
					model->probability[k] - probability[k];
			}
			for (size_t i = 0; i < size_of(model, &model->table[t]); i++)
				errors[1] += fabs(difference[i]);
		}
		closer += errors[1] < errors[0];
	}
	printf("# at most %u iterations, closer than the noisy tables: %g of 40\n", most, closer);
	ok(worst < 1e-10 && most < 500, "noisy tables that contradict each other are fitted");
	ok(closer == 40, "the model is closer to the truth than they are");
}

int
main(void)
{
	test_answers();
	test_large_parameters();
	test_samples();
	test_stratified();
	test_regular();
	test_fit();
	test_entropy();
	test_noise();
	return done_testing();
}
