/*
 * measure.c
 *		Measuring contingency tables: noisy tables of columns, then of several columns: plain C
 *
 * What depends on data here: the noisy tables, and the noisy scores, by which tables are chosen
 * (contingency_select.c).  A record adds 1 to one counter of each table.  A score is the sum of the
 * distances of a table's counters from a reference that is a function of private numbers, so a
 * record changes it by at most 1, too.  Other scores tell whether neighbouring cells of a column are counted together:
 * a record changes such a one by at most 2 (c - 1), where blocks have c cells.
 */
#include <math.h>
#include <string.h>

#include "counters.h"
#include "measure.h"

/* Numbers that are drawn between two looks at interrupts */
#define DRAWS_A_STEP	4096

#define WORK_ALIGNMENT	16		/* of sets of columns */
#define ROUNDING_VARIANCE	(1.0 / 12)	/* of a mean that is rounded to an integer */

const RaceReference *race_reference = NULL;

/* Everything that the workspace holds; arrays follow */
typedef struct Work
{
	RaceMeasuring result;
	RaceSelect	select;
	const RaceExact *exact;
	RaceContingency exact_tables;
	RaceMechanism mechanism;
	RaceRandom *random;
	RaceSelectArrays arrays;
	double	   *joined;			/* [finest of all columns] */
	int64_t    *sums;			/* as many: noisy counts of groups before any are joined */
	double	   *measured;		/* [columns + RACE_SELECT_TABLES][RACE_TABLE_NUMBERS] */
	int64_t    *scores;			/* [tables] */
	int64_t    *table;			/* [counters of the largest table] exact ones, */
	double	   *shares;			/* and what the reference says */
	double	   *marginal;		/* [finest of the largest column] */
	size_t		counters;		/* that were measured */
	uint64_t	score_noise;
} Work;

/* ------------------------------------------------------------------ sizes */

/* All groups of all columns before any are joined */
static uint32_t
all_groups(const RaceContingency *tables)
{
	uint32_t	n = 0;

	for (uint32_t j = 0; j < tables->columns; j++)
		n += race_contingency_finest(tables, j);
	return n;
}

static uint32_t
most_groups(const RaceContingency *tables)
{
	uint32_t	most = 0;

	for (uint32_t j = 0; j < tables->columns; j++)
		most = race_contingency_finest(tables, j) > most ? race_contingency_finest(tables, j) : most;
	return most;
}

static size_t
largest_table(const RaceContingency *tables)
{
	RaceTable	table;
	size_t		largest = 0;

	race_contingency_first(tables, &table);
	/* bound: the tables, of RACE_CONTINGENCY_COLUMNS columns at most */
	do
		largest = table.cells > largest ? table.cells : largest;
	while (race_contingency_next(tables, &table));
	return largest;
}

size_t
race_measure_workspace(const RaceParams *params)
{
	RaceContingency tables;
	size_t		words;

	race_contingency_of(params, &tables);
	words = 3 * (size_t) all_groups(&tables) + (size_t) most_groups(&tables) +
		RACE_TABLE_NUMBERS * ((size_t) tables.columns + RACE_SELECT_TABLES) +
		race_contingency_tables(&tables) + (tables.parts + 1) * largest_table(&tables) + params->range;
	return WORK_ALIGNMENT + sizeof(Work) + words * sizeof(int64_t);
}

/* The tables of parameters, whose units have the digits of weights */
static void
tables_of(const RaceRequest *request, const RaceParams *params, RaceContingency *tables)
{
	race_contingency_of(params, tables);
	tables->unit <<= request->weight_bits;
}

/* Return what choices took of an account that adds so much to each variance; infinite if they had less. */
static double
cost_of_choices(const RaceRequest *request, uint64_t added)
{
	return request->chosen_variance <= added ? INFINITY : race_rho_of_sum(request->chosen_squared, 1, request->chosen_variance - added, 1);
}

uint64_t
race_measure_begin(const RaceRequest *request, const RaceContingency *tables, RaceSelectArrays *arrays,
				   RaceSelect *select)
{
	RaceGaussianAccount account = {request->epsilon, 0};
	double		change = (double) request->max_contributions * (double) tables->unit;

	if (request->delta > 0)
		account = race_gaussian_account(request->epsilon, request->delta, race_request_exact(request),
										tables->columns * change * change);
	if (request->chosen_variance > 0)
		account.allowed = race_down(account.allowed - cost_of_choices(request, account.added));
	for (uint32_t j = 0; j < tables->columns; j++)
	{
		arrays->cells[j] = (uint32_t) tables->cells[j];
		arrays->finest[j] = race_contingency_finest(tables, j);
		arrays->width[j] = (uint32_t) tables->groups[j];
		/* cells that are grouped are in order; cells by themselves may be categories */
		arrays->ordered[j] = tables->groups[j] > 1 ?
			arrays->finest[j] - (uint32_t) tables->groups[tables->dims + j] : 0;
	}
	for (uint32_t j = 0; j < tables->n_workload; j++)
	{
		RaceTable	table;

		race_contingency_columns(tables->workload + RACE_TABLE_NUMBERS * j, &table);
		arrays->asked[j] = (RaceSelectTable) {
			table.first, table.second, table.third, tables->workload[RACE_TABLE_NUMBERS * j + 2], 0
		};
	}
	select->asked = arrays->asked;
	select->n_asked = tables->n_workload;
	select->columns = tables->columns;
	select->parts = tables->parts;
	select->unit = tables->unit;
	select->weight_bits = request->weight_bits;
	select->cells = arrays->cells;
	select->finest = arrays->finest;
	select->ordered = arrays->ordered;
	select->width = arrays->width;
	select->weights = tables->groups + 2 * (size_t) tables->dims;
	select->pure = request->delta == 0;
	select->budget = account.allowed;
	select->added = account.added;
	select->max_contributions = request->max_contributions;
	select->substitute = request->neighbors == RACE_NEIGHBORS_SUBSTITUTE;
	select->fixed = request->levels > 0;
	select->cost = select->allotted = 0;
	select->round = select->measured = 0;
	memset(select->neighbors, 0, sizeof(select->neighbors));
	return race_select_count(select);
}

uint64_t
race_measure_count(const RaceRequest *request, const RaceParams *params, double *variance, double *budget)
{
	RaceContingency tables;
	Work		work;
	uint64_t	noise;

	memset(&work, 0, sizeof(work));
	tables_of(request, params, &tables);
	noise = race_measure_begin(request, &tables, &work.arrays, &work.select);
	if (noise == 0 || !race_select_one_ways(&work.select, 1))
		return 0;
	*variance = race_weighted_variance(race_select_variance(&work.select, work.select.one_way[0]), request->weight_bits);
	*budget = work.select.budget;
	return noise;
}

double
race_measure_noise(const RaceRequest *request, const RaceParams *params)
{
	RaceContingency tables;
	Work		work;

	memset(&work, 0, sizeof(work));
	tables_of(request, params, &tables);
	race_measure_begin(request, &tables, &work.arrays, &work.select);
	return race_select_noise(&work.select);
}

/* ------------------------------------------------------------------ tables */

/* Counters of an exact table, with groups as they are joined by now */
static size_t
table_counters(const Work *work, const RaceTable *table)
{
	const uint32_t *groups = work->select.groups;

	return work->exact_tables.parts * (table->first == table->second ? table->cells :
									   (size_t) groups[table->first] * groups[table->second] *
									   (table->third != table->second ? groups[table->third] : 1));
}

/*
 * The exact counters of a table, with groups as they are joined by now.  A sum that is clamped changes
 * by no more than its numbers do together.
 */
static void
load_table(const Work *work, const RaceTable *from, int64_t *counters)
{
	const RaceExact *exact = work->exact;
	const RaceContingency *joined = &work->result.tables;
	const uint32_t alone[] = {0};
	bool		third = from->third != from->second;
	uint32_t	rows = race_contingency_finest(joined, from->first);
	uint32_t	columns = race_contingency_finest(joined, from->second);
	uint32_t	layers = third ? race_contingency_finest(joined, from->third) : 1;
	const uint32_t *row = work->select.group_of[from->first];
	const uint32_t *column = work->select.group_of[from->second];
	const uint32_t *layer = third ? work->select.group_of[from->third] : alone;
	size_t		width = work->select.groups[from->second];
	size_t		depth = third ? work->select.groups[from->third] : 1;
	uint32_t	parts = joined->parts;
	int64_t		counter[RACE_MEASURE_PARTS];
	size_t		at = from->at;

	if (from->first == from->second)
	{
		race_counters_load(exact->counters, exact->width, from->at, from->cells * parts, counters);
		return;
	}
	memset(counters, 0, table_counters(work, from) * sizeof(int64_t));
	for (uint32_t i = 0; i < rows; i++)
		for (uint32_t j = 0; j < columns; j++)
			for (uint32_t l = 0; l < layers; l++, at += parts)
			{
				int64_t    *cell = counters + ((row[i] * width + column[j]) * depth + layer[l]) * parts;

				race_counters_load(exact->counters, exact->width, at, parts, counter);
				for (uint32_t k = 0; k < parts; k++)
					cell[k] = race_clamped_sum(cell[k], counter[k]);
			}
}

/* Add noise to n exact counters. */
static void
add_noise(Work *work, int64_t *counters, size_t n, uint64_t noise)
{
	for (size_t i = 0; i < n; i++)
	{
		if (i % DRAWS_A_STEP == 0)
			race_look_for_interrupts();
		counters[i] = race_clamped_sum(race_noisy(work->random, counters[i], work->mechanism, noise), 0);
	}
}

/* ------------------------------------------------------------------ blocks */

/* The cells of a block, which begins with a cell */
static uint32_t
block_size(const RaceTable *table, uint32_t cell)
{
	return cell + table->block <= table->ordinary ? table->block : cell < table->ordinary ? table->ordinary - cell : 1;
}

/* Add up the counters of each block, into that of its first cell. */
static void
sum_blocks(const RaceTable *table, int64_t *counters)
{
	for (uint32_t i = 0; i < table->cells; i++)
	{
		uint32_t	first = race_contingency_block(table, i);

		if (first == i)
			continue;
		counters[first] = race_clamped_sum(counters[first], counters[i]);
		counters[i] = 0;
	}
}

/* How unevenly records lie within blocks: race_select_block() */
static int64_t
unevenness(const RaceTable *table, const int64_t *counters)
{
	int64_t		score = 0;

	for (uint32_t i = 0, size; i < table->ordinary; i += size)
	{
		__int128	sum = 0;

		size = block_size(table, i);
		for (uint32_t k = i; k < i + size; k++)
			sum += counters[k];
		for (uint32_t k = i; k < i + size; k++)
		{
			__int128	off = (__int128) size * counters[k] - sum;

			off = off < 0 ? -off : off;
			score = race_clamped_sum(score, off < RACE_MAX_COUNT ? (int64_t) off : RACE_MAX_COUNT);
		}
	}
	return score;
}

/* The records of a cell of the block that begins with a cell, by its counter */
static double
density(const RaceTable *table, const int64_t *counters, uint32_t cell)
{
	return (double) counters[cell] / block_size(table, cell);
}

/*
 * By how much cells of a block differ from the next, by the blocks around it: the mean of both differences, but no more than
 * twice either, and so that no cell is below 0
 */
static double
slope(const RaceTable *table, const int64_t *counters, uint32_t cell)
{
	double		own = density(table, counters, cell);
	double		down;
	double		up;
	double		most;

	if (cell == 0 || cell + table->block >= table->ordinary || !(own > 0))
		return 0;
	down = own - density(table, counters, cell - table->block);
	up = density(table, counters, cell + table->block) - own;
	if (!(down * up > 0))
		return 0;
	most = fmin(2 * fmin(fabs(down), fabs(up)), 2 * own);
	return copysign(fmin(fabs(down + up) / 2, most), up) / table->block;
}

/* Divide noisy counters of blocks, which are those of their first cells, among their cells, to `cells`. */
static void
divide_blocks(const RaceTable *table, const int64_t *counters, int64_t *cells)
{
	for (uint32_t i = 0, size; i < table->cells; i += size)
	{
		double		step = i < table->ordinary ? slope(table, counters, i) : 0;
		int64_t		before = 0;

		size = block_size(table, i);
		for (uint32_t k = 1; k <= size; k++)
		{
			double		up_to = k * (density(table, counters, i) + step * ((double) k - size) / 2);
			int64_t		rounded = k == size ? counters[i] : (int64_t) floor(up_to + 0.5);

			cells[i + k - 1] = rounded - before;
			before = rounded;
		}
	}
}

/* ------------------------------------------------------------------ drawing */

/* Add a table to those that were measured, with noise. */
static void
measure_table(Work *work, const RaceTable *exact, uint64_t noise)
{
	RaceContingency *tables = &work->result.tables;
	double	   *row = work->measured + RACE_TABLE_NUMBERS * tables->n_measured++;
	int64_t    *counters = work->result.counters + work->counters;
	size_t		n = table_counters(work, exact);

	row[0] = exact->first;
	row[1] = exact->second + (exact->third != exact->second ? (double) RACE_CONTINGENCY_COLUMNS * exact->third : 0);
	row[2] = race_select_variance(&work->select, noise);
	load_table(work, exact, counters);
	add_noise(work, counters, n, noise);
	work->counters += n;
}

/* Count cells of a column together, if records lie evenly within blocks. */
static void
choose_block(Work *work, RaceTable *table)
{
	RaceSelect *select = &work->select;
	int64_t		score;

	if (select->block[table->first] > 1)
	{
		table->block = select->block[table->first];
		load_table(work, table, work->table);
		score = race_noisy(work->random, unevenness(table, work->table), work->mechanism, select->unevenness[table->first]);
		race_select_block(select, table->first, score);
	}
	table->block = select->block[table->first];
}

/* Measure the table of a column, with cells counted together. */
static void
measure_blocks(Work *work, const RaceTable *table, uint64_t noise)
{
	double	   *row = work->measured + RACE_TABLE_NUMBERS * work->result.tables.n_measured++;
	int64_t    *counters = work->result.counters + work->counters;

	row[0] = table->first;
	row[1] = table->first + (double) RACE_CONTINGENCY_COLUMNS * (table->block - 1);
	row[2] = race_select_variance(&work->select, noise) / table->block;
	load_table(work, table, work->table);
	sum_blocks(table, work->table);
	for (uint32_t i = 0; i < table->cells; i++)
		if (race_contingency_block(table, i) == i)
			add_noise(work, work->table + i, 1, noise);
	divide_blocks(table, work->table, counters);
	work->counters += table->cells;
}

/* Measure the tables of all columns; returns the exact table of the first pair, if there is one. */
static bool
measure_columns(Work *work, RaceTable *table)
{
	bool		more;

	race_contingency_first(&work->exact_tables, table);
	/* bound: the columns */
	do
	{
		choose_block(work, table);
		if (table->block > 1)
			measure_blocks(work, table, work->select.one_way[table->first]);
		else
			measure_table(work, table, work->select.one_way[table->first]);
		more = race_contingency_next(&work->exact_tables, table);
	} while (more && table->first == table->second);
	return more;
}

/* The records of a cell, in units */
static int64_t
sum_of_parts(const RaceContingency *tables, const int64_t *counters)
{
	int64_t		sum = 0;

	for (uint32_t part = 0; part < tables->parts; part++)
		sum = race_clamped_sum(sum, counters[part]);
	return sum;
}

/* Sum the noisy tables of columns over their groups. */
static void
sum_groups(Work *work)
{
	RaceContingency finest = work->result.tables;
	const int64_t *counter = work->result.counters;
	int64_t    *sums = work->sums;

	finest.joined = NULL;
	memset(sums, 0, all_groups(&finest) * sizeof(int64_t));
	/* bound: the columns */
	for (uint32_t j = 0; j < finest.columns; sums += work->arrays.finest[j++])
		for (uint32_t i = 0; i < work->arrays.cells[j]; i++, counter += finest.parts)
		{
			uint32_t	group = race_contingency_group(&finest, j, i);

			sums[group] = race_clamped_sum(sums[group], sum_of_parts(&finest, counter));
		}
}

/* Groups that were joined, numbered in the order in which they begin */
static void
join_groups(Work *work)
{
	RaceContingency *tables = &work->result.tables;
	double	   *joined = work->joined;

	sum_groups(work);
	race_select_join(&work->select, work->sums);
	for (uint32_t j = 0; j < tables->columns; j++)
	{
		uint32_t   *group_of = work->select.group_of[j];
		double	   *number = work->marginal;
		double		n = 0;

		memset(number, 0, work->arrays.finest[j] * sizeof(double));
		for (uint32_t i = 0; i < work->arrays.finest[j]; i++)
		{
			if (number[group_of[i]] == 0)
				number[group_of[i]] = ++n;
			*joined = number[group_of[i]] - 1;
			group_of[i] = (uint32_t) *joined++;
		}
	}
	tables->joined = work->joined;
	tables->n_joined = (uint32_t) (joined - work->joined);
}

/* ------------------------------------------------------------------ scores */

/* The share of each group of a column, by its noisy table */
static void
group_shares(const Work *work, uint32_t column, double *shares)
{
	const RaceContingency *tables = &work->result.tables;
	const int64_t *counters = work->result.counters;
	double		sum = 0;

	memset(shares, 0, work->select.groups[column] * sizeof(double));
	for (uint32_t j = 0; j < column; j++)
		counters += (size_t) work->arrays.cells[j] * tables->parts;
	for (uint32_t i = 0; i < work->arrays.cells[column]; i++, counters += tables->parts)
	{
		double		counter = fmax((double) sum_of_parts(tables, counters), 0);

		shares[race_contingency_group(tables, column, i)] += counter;
		sum += counter;
	}
	for (uint32_t i = 0; i < work->select.groups[column]; i++)
		shares[i] = sum > 0 ? shares[i] / sum : 1.0 / work->select.groups[column];
}

/* The reference where columns are taken to be independent */
static void
independent_shares(const Work *work, const RaceTable *table, double *shares)
{
	uint32_t	columns[] = {table->first, table->second, table->third};
	size_t		n = 1;

	shares[0] = 1;
	for (int k = 0; k < (table->third != table->second ? 3 : 2); k++)
	{
		uint32_t	groups = work->select.groups[columns[k]];

		group_shares(work, columns[k], work->marginal);
		for (size_t i = n; i-- > 0;)
			for (uint32_t g = groups; g-- > 0;)
				shares[i * groups + g] = shares[i] * work->marginal[g];
		n *= groups;
	}
}

/*
 * The distance of an exact table from so many records by the reference, in units.  Each step moves two
 * tables no farther apart, clamping included: so the distance changes by at most what the table does in L1.
 */
static int64_t
distance(const Work *work, size_t n)
{
	const RaceContingency *tables = &work->exact_tables;
	double		units = work->result.total * (double) tables->unit;
	int64_t		sum = 0;

	for (size_t i = 0; i < n; i++)
	{
		double		expected = fmin(work->shares[i] * units, (double) RACE_MAX_COUNT);
		int64_t		difference = race_clamped_sum(sum_of_parts(tables, work->table + i * tables->parts),
												  -(int64_t) floor(fmax(expected, 0) + 0.5));

		sum = race_clamped_sum(sum, difference < 0 ? -difference : difference);
	}
	return sum;
}

/* Draw a noisy score of each table that may be chosen. */
static void
draw_scores(Work *work, RaceTable table)
{
	const RaceReference *reference = work->result.tables.n_measured > work->select.columns ?
		race_reference : NULL;
	uint32_t	n = race_select_candidates(&work->select);
	void	   *state;

	work->result.total = work->select.total;
	state = reference != NULL ? reference->begin(&work->result) : NULL;

	for (uint32_t k = 0; k < n; k++)
	{
		race_look_for_interrupts();
		if (reference != NULL)
			reference->table(state, &table, work->shares);
		else
			independent_shares(work, &table, work->shares);
		load_table(work, &table, work->table);
		work->scores[k] = race_clamped_sum(race_noisy(work->random,
													  distance(work, table_counters(work, &table) / work->exact_tables.parts),
													  work->mechanism, work->score_noise), 0);
		race_contingency_next(&work->exact_tables, &table);
	}
	if (reference != NULL)
		reference->end(state);
}

/* Measure the tables that were chosen after those that are measured. */
static void
measure_chosen(Work *work, RaceTable first, uint32_t from)
{
	for (uint32_t i = from; i < work->select.measured; i++)
	{
		const RaceSelectTable *chosen = &work->select.table[i];
		RaceTable	table = first;

		/* bound: the tables, one of which is chosen */
		while (table.first != chosen->first || table.second != chosen->second || table.third != chosen->third)
			race_contingency_next(&work->exact_tables, &table);
		measure_table(work, &table, chosen->noise);
	}
}

/* Lay out the arrays behind the structure. */
static Work *
make_work(const RaceExact *exact, RaceRandom *random, const RaceRequest *request, void *workspace)
{
	Work	   *work = (Work *) (((uintptr_t) workspace + WORK_ALIGNMENT - 1) & ~(uintptr_t) (WORK_ALIGNMENT - 1));
	RaceContingency *tables = &work->exact_tables;
	uint32_t   *groups;
	uint32_t	n;

	memset(work, 0, sizeof(Work));
	work->exact = exact;
	work->random = random;
	work->mechanism = request->delta == 0 ? RACE_MECHANISM_LAPLACE : RACE_MECHANISM_GAUSSIAN;
	tables_of(request, exact->params, tables);
	n = all_groups(tables);
	work->joined = (double *) (work + 1);
	work->sums = (int64_t *) work->joined + n;
	work->measured = (double *) (work->sums + n);
	work->scores = (int64_t *) (work->measured +
								RACE_TABLE_NUMBERS * (tables->columns + RACE_SELECT_TABLES));
	work->table = work->scores + race_contingency_tables(tables);
	work->shares = (double *) (work->table + tables->parts * largest_table(tables));
	work->marginal = work->shares + largest_table(tables);
	work->result.counters = (int64_t *) (work->marginal + most_groups(tables)) + n;
	groups = (uint32_t *) (work->result.counters - n);
	/* bound: the columns */
	for (uint32_t j = 0; j < tables->columns; groups += race_contingency_finest(tables, j++))
		work->select.group_of[j] = groups;
	work->result.tables = *tables;
	work->result.tables.measured = work->measured;
	return work;
}

/* Draw each table of a column once more, and keep the mean, weighed by precision. */
static void
measure_again(Work *work, const uint64_t *noise)
{
	int64_t    *counters = work->result.counters;
	RaceTable	table;

	race_contingency_first(&work->exact_tables, &table);
	/* bound: the columns */
	do
	{
		double	   *variance = &work->measured[RACE_TABLE_NUMBERS * table.first + 2];
		double		second = race_select_variance(&work->select, noise[table.first]);
		double		weight = *variance / (*variance + second);

		load_table(work, &table, work->table);
		for (size_t i = 0; i < table.cells * work->exact_tables.parts; i++, counters++)
		{
			double		drawn = (double) race_noisy(work->random, work->table[i], work->mechanism,
													noise[table.first]);
			double		mean = floor(*counters + (drawn - *counters) * weight + 0.5);

			*counters = (int64_t) fmin(fmax(mean, -(double) RACE_MAX_COUNT), (double) RACE_MAX_COUNT);
		}
		*variance = *variance * second / (*variance + second) + ROUNDING_VARIANCE;
	} while (race_contingency_next(&work->exact_tables, &table) && table.first == table.second);
}

/* Round off the digits of weights, of what was measured. */
static void
round_weights(Work *work, uint32_t bits)
{
	RaceContingency *tables = &work->result.tables;

	for (size_t i = 0; bits > 0 && i < work->counters; i++)
		work->result.counters[i] = race_shift_rounded(work->result.counters[i], (int) bits);
	for (uint32_t i = 0; i < tables->n_measured; i++)
		work->measured[RACE_TABLE_NUMBERS * i + 2] =
			race_weighted_variance(work->measured[RACE_TABLE_NUMBERS * i + 2], bits);
	tables->unit >>= bits;
}

const RaceMeasuring *
race_measure(RaceRandom *random, const RaceExact *exact, const RaceRequest *request, double records,
			 void *workspace)
{
	Work	   *work = make_work(exact, random, request, workspace);
	uint64_t	again[RACE_GRAPH_COLUMNS];
	RaceTable	pair;

	race_measure_begin(request, &work->exact_tables, &work->arrays, &work->select);
	if (!race_select_one_ways(&work->select, (int64_t) fmin(records, (double) RACE_MAX_COUNT)))
	{
		/* the noise would be too large for that many records; race_measure_count() looked at 1 */
		race_measure_begin(request, &work->exact_tables, &work->arrays, &work->select);
		race_select_one_ways(&work->select, 1);
	}
	if (measure_columns(work, &pair))
	{
		join_groups(work);
		if (race_select_all(&work->select))
			measure_chosen(work, pair, 0);
		/* bound: ROUNDS of contingency_select.c */
		while ((work->score_noise = race_select_scores(&work->select)) > 0)
		{
			uint32_t	before = work->select.measured;

			draw_scores(work, pair);
			race_select_choose(&work->select, work->scores);
			measure_chosen(work, pair, before);
		}
	}
	if (race_select_rest(&work->select, again))
		measure_again(work, again);
	round_weights(work, request->weight_bits);
	work->result.cost = work->select.cost;
	return &work->result;
}
