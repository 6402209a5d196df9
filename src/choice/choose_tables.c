/*
 * choose_tables.c
 *		Contingency tables of a release: of columns, then of those several columns that are chosen
 *
 * It holds noisy and public numbers alone.  Exact tables are measured and scored by src/privacy: a
 * score is how far a table is from a reference, which is any function of released numbers, and
 * tells which tables are measured next (select_tables.c); another one tells whether neighboring
 * cells of a column are counted together.
 */
#include <math.h>
#include <string.h>

#include "privacy/counters.h"
#include "choice/choose_tables.h"
#include "choice/release_kind.h"
#include "choice/select_search.h"
#include "choice/select_tables.h"
#include "choice/tables_work.h"
#include "privacy/interrupt.h"
#include "privacy/score.h"
#include "privacy/signs.h"
#include "privacy/sampler.h"

#define WORK_ALIGNMENT 16            /* bytes that sets of columns are aligned to */
#define ROUNDING_VARIANCE (1.0 / 12) /* variance of a mean that is rounded to an integer */

const RaceReference *race_reference = NULL;

/* ------------------------------------------------------------------ sizes */

/* Return the number of groups of all columns before any are joined. */
static uint32_t
number_of_groups(const RaceContingency *tables)
{
	uint32_t n = 0;

	for (uint32_t j = 0; j < tables->columns; j++)
		n += race_contingency_finest(tables, j);
	return n;
}

static uint32_t
most_groups(const RaceContingency *tables)
{
	uint32_t most = 0;

	for (uint32_t j = 0; j < tables->columns; j++)
		most =
			race_contingency_finest(tables, j) > most ? race_contingency_finest(tables, j) : most;
	return most;
}

static size_t
largest_table(const RaceContingency *tables)
{
	RaceTable table;
	size_t largest = 0;

	race_contingency_first(tables, &table);
	/* bound: the tables, of RACE_CONTINGENCY_COLUMNS columns at most */
	do
		largest = table.cells > largest ? table.cells : largest;
	while (race_contingency_next(tables, &table));
	return largest;
}

static uint32_t
most_cells(const RaceContingency *tables)
{
	uint32_t most = 0;

	for (uint32_t j = 0; j < tables->columns; j++)
		most = tables->cells[j] > most ? (uint32_t) tables->cells[j] : most;
	return most;
}

/* Return the bytes of the scores and candidates of selections, a multiple of the alignment. */
static size_t
picks_size(const RaceContingency *tables)
{
	uint32_t n = race_contingency_tables(tables);

	return (race_scores_size(n) + WORK_ALIGNMENT - 1) / WORK_ALIGNMENT * WORK_ALIGNMENT +
		((size_t) n + 1) * sizeof(RaceCandidate);
}

/* Return the bytes of the workspace of a release, which is aligned to 8 and holds the result. */
static size_t
tables_workspace(const RaceParams *params)
{
	RaceContingency tables;
	size_t words;

	race_contingency_of(params, &tables);
	words = 3 * (size_t) number_of_groups(&tables) + (size_t) most_groups(&tables) +
		most_cells(&tables) + RACE_TABLE_NUMBERS * ((size_t) tables.columns + RACE_SELECT_TABLES) +
		race_contingency_tables(&tables) + (2 * tables.parts + 2) * largest_table(&tables) +
		params->range + race_signs_pairs(tables.columns);
	return 2 * WORK_ALIGNMENT + sizeof(RaceTablesWork) + picks_size(&tables) +
		words * sizeof(int64_t) + race_ends_work_size(&tables) + race_signs_work_size(&tables);
}

/* Set the tables of parameters, whose units have the digits of weights. */
static void
set_tables(const RaceRequest *request, const RaceParams *params, RaceContingency *tables)
{
	race_contingency_of(params, tables);
	tables->unit <<= request->weight_bits;
}

uint64_t
race_tables_begin(const RaceRequest *request, const RaceContingency *tables, uint64_t unit,
				  RaceSelectArrays *arrays, RaceSelect *select)
{
	RaceShape shape = {.blocks = race_contingency_tables(tables), .unit = unit};

	for (uint32_t j = 0; j < tables->columns; j++)
	{
		arrays->cells[j] = (uint32_t) tables->cells[j];
		arrays->finest[j] = race_contingency_finest(tables, j);
		arrays->span[j] = (uint32_t) (tables->cells[j] - tables->groups[tables->dims + j]);
		arrays->width[j] = (uint32_t) tables->groups[j];
		arrays->ordered[j] = race_contingency_is_ordered(tables, j) ?
			arrays->finest[j] - (uint32_t) tables->groups[tables->dims + j] :
			0;
	}
	for (uint32_t j = 0; j < tables->n_workload; j++)
	{
		RaceTable table;

		race_contingency_columns(tables->workload + RACE_TABLE_NUMBERS * j, &table);
		arrays->asked[j] =
			(RaceSelectTable){.first = table.first,
							  .second = table.second,
							  .third = table.third,
							  .weight = tables->workload[RACE_TABLE_NUMBERS * j + 2]};
	}
	select->asked = arrays->asked;
	select->n_asked = tables->n_workload;
	select->columns = tables->columns;
	select->n_searched = race_contingency_searched(tables, select->searched);
	select->parts = tables->parts;
	select->cells = arrays->cells;
	select->finest = arrays->finest;
	select->ordered = arrays->ordered;
	select->span = arrays->span;
	select->width = arrays->width;
	select->weights = tables->groups + 2 * (size_t) tables->dims;
	select->sums = tables->ends;
	select->with_signs = race_reference != NULL;
	race_select_begin(select, request, &shape);
	return race_select_count(select);
}

/* ------------------------------------------------------------------ tables */

/* Return the number of counters of an exact table, with groups as they are joined by now. */
static size_t
table_counters(const RaceTablesWork *work, const RaceTable *table)
{
	const uint32_t *groups = work->select.groups;

	return work->exact_tables.parts *
		(table->first == table->second ? table->cells :
										 (size_t) groups[table->first] * groups[table->second] *
				 (table->third != table->second ? groups[table->third] : 1));
}

/*
 * Return which counters of a table are added up: of one column none, of several in groups as they
 * are joined by now.
 */
RaceGrouping
race_tables_grouping(const RaceTablesWork *work, const RaceTable *table)
{
	const RaceContingency *tables = &work->exact_tables;
	const uint32_t columns[RACE_GROUPING_AXES] = {table->first, table->second, table->third};
	RaceGrouping grouping = {.block = table->number,
							 .parts = tables->parts,
							 .length = {1, 1, 1},
							 .groups = {1, 1, 1}};

	if (table->first == table->second)
	{
		grouping.length[0] = grouping.groups[0] = (uint32_t) table->cells;
		return grouping;
	}
	for (int axis = 0; axis < (table->third != table->second ? 3 : 2); axis++)
	{
		grouping.length[axis] = work->arrays.finest[columns[axis]];
		grouping.group[axis] = work->select.group_of[columns[axis]];
		grouping.groups[axis] = work->select.groups[columns[axis]];
	}
	return grouping;
}

/* ------------------------------------------------------------------ blocks */

/* Return the number of cells of a block, which begins with a cell. */
static uint32_t
block_size(const RaceTable *table, uint32_t cell)
{
	if (cell + table->block <= table->ordinary)
		return table->block;
	return cell < table->ordinary ? table->ordinary - cell : 1;
}

/* Return the records of a cell of the block that begins with a cell, by its counter. */
static double
cell_density(const RaceTable *table, const int64_t *counters, uint32_t cell)
{
	return (double) counters[cell] / block_size(table, cell);
}

/*
 * Return by how much cells of a block differ from the next, by the blocks around it: the mean of
 * both differences, but no more than twice either, and so that no cell is below 0.
 */
static double
cell_slope(const RaceTable *table, const int64_t *counters, uint32_t cell)
{
	double own = cell_density(table, counters, cell);
	double down;
	double up;
	double most;

	if (cell == 0 || cell + table->block >= table->ordinary || !(own > 0))
		return 0;
	down = own - cell_density(table, counters, cell - table->block);
	up = cell_density(table, counters, cell + table->block) - own;
	if (!(down * up > 0))
		return 0;
	most = fmin(2 * fmin(fabs(down), fabs(up)), 2 * own);
	return copysign(fmin(fabs(down + up) / 2, most), up) / table->block;
}

/*
 * Divide noisy counters of blocks, which are those of their first cells, among their cells, to
 * `cells`.
 */
static void
divide_blocks(const RaceTable *table, const int64_t *counters, int64_t *cells)
{
	for (uint32_t i = 0, size; i < table->cells; i += size)
	{
		double step = i < table->ordinary ? cell_slope(table, counters, i) : 0;
		int64_t before = 0;

		size = block_size(table, i);
		for (uint32_t k = 1; k <= size; k++)
		{
			double up_to = k * (cell_density(table, counters, i) + step * ((double) k - size) / 2);
			int64_t rounded = k == size ? counters[i] : (int64_t) floor(up_to + 0.5);

			cells[i + k - 1] = rounded - before;
			before = rounded;
		}
	}
}

/* ------------------------------------------------------------------ drawing */

/* Add a row of a table to those that were measured, with its variance. */
static void
add_measured(RaceTablesWork *work, double first, double second, double variance, size_t counters)
{
	double *row = work->measured + RACE_TABLE_NUMBERS * work->result.tables.n_measured++;

	row[0] = first;
	row[1] = second;
	row[2] = variance;
	work->counters += counters;
}

/* Measure a table.  False if it cannot be paid. */
static bool
measure_table(RaceTablesWork *work, const RaceTable *table, const RacePrice *price)
{
	RaceGrouping grouping = race_tables_grouping(work, table);
	int64_t *counters = work->result.counters + work->counters;
	uint64_t noise = race_measure_sums(&work->release->account, work->release->exact, &grouping,
									   price->amount, work->exact, counters);

	if (noise == 0)
		return false;
	add_measured(
		work, table->first,
		table->second +
			(table->third != table->second ? (double) RACE_CONTINGENCY_COLUMNS * table->third : 0),
		race_select_variance(&work->select, noise), table_counters(work, table));
	return true;
}

/* Count cells of a column together, if records lie evenly within blocks. */
static void
choose_block(RaceTablesWork *work, RaceTable *table)
{
	RaceSelect *select = &work->select;
	int64_t score;

	table->block = select->block[table->first];
	if (table->block == 1)
		return;
	if (race_score_unevenness(&work->release->account, work->release->exact, table->number,
							  table->ordinary, table->block, select->unevenness[table->first],
							  work->exact, &score) > 0)
		race_select_block(select, table->first, score);
	else
		select->block[table->first] = 1;
	table->block = select->block[table->first];
}

/* Number the blocks of cells of a column.  Return how many there are. */
static uint32_t
number_blocks(const RaceTable *table, uint32_t *block_of)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < table->cells; i++)
	{
		n += race_contingency_block(table, i) == i;
		block_of[i] = n - 1;
	}
	return n;
}

/*
 * Draw the blocks of a column, each in the place of its first cell, to `work->space`; return the
 * noise, or 0.
 */
static uint64_t
draw_blocks(RaceTablesWork *work, const RaceTable *table, double price)
{
	RaceGrouping grouping = race_tables_grouping(work, table);
	int64_t *blocks = work->space;
	uint64_t noise;

	grouping.group[0] = work->block_of;
	grouping.groups[0] = number_blocks(table, work->block_of);
	noise = race_measure_sums(&work->release->account, work->release->exact, &grouping, price,
							  work->exact, blocks);
	for (uint32_t i = (uint32_t) table->cells; noise > 0 && i-- > 0;)
		blocks[i] = race_contingency_block(table, i) == i ? blocks[work->block_of[i]] : 0;
	return noise;
}

/* Measure the table of a column, with cells counted together.  False if it cannot be paid. */
static bool
measure_blocks(RaceTablesWork *work, const RaceTable *table, const RacePrice *price)
{
	uint64_t noise = draw_blocks(work, table, price->amount);

	if (noise == 0)
		return false;
	divide_blocks(table, work->space, work->result.counters + work->counters);
	add_measured(work, table->first,
				 table->first + (double) RACE_CONTINGENCY_COLUMNS * (table->block - 1),
				 race_select_variance(&work->select, noise) / table->block, table->cells);
	return true;
}

/* Measure the tables of all columns; returns the table of the first pair, if there is one. */
static bool
measure_columns(RaceTablesWork *work, RaceTable *table, bool *paid)
{
	bool more;

	race_contingency_first(&work->exact_tables, table);
	/* bound: the columns */
	do
	{
		choose_block(work, table);
		*paid &= (table->block > 1 ? measure_blocks : measure_table)(
			work, table, &work->select.one_way[table->first]);
		race_tables_measure_ends(work, table->first);
		more = race_contingency_next(&work->exact_tables, table);
	} while (more && table->first == table->second);
	return more;
}

/* Return the records of a cell, in units. */
static int64_t
sum_of_parts(const RaceContingency *tables, const int64_t *counters)
{
	int64_t sum = 0;

	for (uint32_t part = 0; part < tables->parts; part++)
		sum = race_clamped_sum(sum, counters[part]);
	return sum;
}

/* Sum the noisy tables of columns over their groups. */
static void
sum_groups(RaceTablesWork *work)
{
	RaceContingency finest = work->result.tables;
	const int64_t *counter = work->result.counters;
	int64_t *sums = work->sums;

	finest.joined = NULL;
	memset(sums, 0, number_of_groups(&finest) * sizeof(int64_t));
	/* bound: the columns */
	for (uint32_t j = 0; j < finest.columns; sums += work->arrays.finest[j++])
		for (uint32_t i = 0; i < work->arrays.cells[j]; i++, counter += finest.parts)
		{
			uint32_t group = race_contingency_group(&finest, j, i);

			sums[group] = race_clamped_sum(sums[group], sum_of_parts(&finest, counter));
		}
}

void
race_tables_number_groups(RaceTablesWork *work)
{
	RaceContingency *tables = &work->result.tables;
	double *joined = work->joined;

	for (uint32_t j = 0; j < tables->columns; j++)
	{
		uint32_t *group_of = work->select.group_of[j];
		double *number = work->marginal;
		double n = 0;

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

/* Set the share of each group of a column, by its noisy table. */
static void
group_shares(const RaceTablesWork *work, uint32_t column, double *shares)
{
	const RaceContingency *tables = &work->result.tables;
	const int64_t *counters = work->result.counters;
	double sum = 0;

	memset(shares, 0, work->select.groups[column] * sizeof(double));
	for (uint32_t j = 0; j < column; j++)
		counters += (size_t) work->arrays.cells[j] * tables->parts;
	for (uint32_t i = 0; i < work->arrays.cells[column]; i++, counters += tables->parts)
	{
		double counter = fmax((double) sum_of_parts(tables, counters), 0);

		shares[race_contingency_group(tables, column, i)] += counter;
		sum += counter;
	}
	for (uint32_t i = 0; i < work->select.groups[column]; i++)
		shares[i] = sum > 0 ? shares[i] / sum : 1.0 / work->select.groups[column];
}

/* Set the reference where columns are taken to be independent. */
static void
independent_shares(const RaceTablesWork *work, const RaceTable *table, double *shares)
{
	uint32_t columns[] = {table->first, table->second, table->third};
	size_t n = 1;

	shares[0] = 1;
	for (int k = 0; k < (table->third != table->second ? 3 : 2); k++)
	{
		uint32_t groups = work->select.groups[columns[k]];

		group_shares(work, columns[k], work->marginal);
		for (size_t i = n; i-- > 0;)
			for (uint32_t g = groups; g-- > 0;)
				shares[i * groups + g] = shares[i] * work->marginal[g];
		n *= groups;
	}
}

/* Set what the reference expects in each cell of a table, in units. */
void
race_tables_expect(const RaceTablesWork *work, size_t cells)
{
	double units = work->result.total * (double) work->exact_tables.unit;

	for (size_t i = 0; i < cells; i++)
		work->expected[i] =
			(int64_t) floor(fmax(fmin(work->shares[i] * units, (double) RACE_MAX_COUNT), 0) + 0.5);
}

/* Set the score of a table that may be chosen: a noisy one, or one for selections. */
static void
set_score(RaceTablesWork *work, uint32_t number, const RaceTable *table)
{
	RaceGrouping grouping = race_tables_grouping(work, table);

	race_tables_expect(work, race_grouping_sums(&grouping) / grouping.parts);
	work->scores[number] = 0;
	if (work->select.pure)
		race_scores_set(work->exact_scores, number, &grouping, work->expected, work->exact);
	else
		(void) race_score_distance(&work->release->account, work->release->exact, &grouping,
								   work->expected, work->price, work->exact, &work->scores[number]);
}

/* Set the scores of all tables that may be chosen, by how far each is from the reference. */
static void
set_scores(RaceTablesWork *work, RaceTable table)
{
	const RaceReference *reference =
		work->result.tables.n_measured > work->select.columns ? race_reference : NULL;
	uint32_t n = race_select_candidates(&work->select);
	void *state;

	work->result.total = work->select.total;
	state = reference != NULL ? reference->begin(&work->result) : NULL;
	if (work->select.pure)
		work->exact_scores = race_scores_begin(work->scores_space, work->release->exact, n);
	for (uint32_t k = 0; k < n; k++)
	{
		race_look_for_interrupts();
		if (reference != NULL)
			reference->table(state, &table, work->shares);
		else
			independent_shares(work, &table, work->shares);
		set_score(work, k, &table);
		race_contingency_next(&work->exact_tables, &table);
	}
	if (reference != NULL)
		reference->end(state);
}

/* Measure the tables that were chosen after those that are measured. */
void
race_tables_measure_chosen(RaceTablesWork *work, RaceTable first, uint32_t from)
{
	for (uint32_t i = from; i < work->select.measured; i++)
	{
		const RaceSelectTable *chosen = &work->select.table[i];
		RaceTable table = first;

		/* bound: the tables, one of which is chosen */
		while (table.first != chosen->first || table.second != chosen->second ||
			   table.third != chosen->third)
			race_contingency_next(&work->exact_tables, &table);
		(void) measure_table(work, &table, &chosen->price);
	}
}

/* Lay out the arrays behind the structure. */
static RaceTablesWork *
make_work(RaceRelease *release)
{
	uintptr_t begin =
		((uintptr_t) release->workspace + WORK_ALIGNMENT - 1) & ~(uintptr_t) (WORK_ALIGNMENT - 1);
	RaceTablesWork *work = (RaceTablesWork *) begin;
	RaceContingency *tables = &work->exact_tables;
	uint32_t *groups;
	char *next;
	uint32_t n;

	memset(work, 0, sizeof(RaceTablesWork));
	work->release = release;
	set_tables(release->request, release->params, tables);
	n = number_of_groups(tables);
	work->scores_space = (RaceSpace *) ((char *) work +
										(sizeof(RaceTablesWork) + WORK_ALIGNMENT - 1) /
											WORK_ALIGNMENT * WORK_ALIGNMENT);
	work->joined = (double *) ((char *) work->scores_space + picks_size(tables));
	work->candidates = (RaceCandidate *) work->joined - (race_contingency_tables(tables) + 1);
	work->sums = (int64_t *) work->joined + n;
	work->measured = (double *) (work->sums + n);
	work->scores =
		(int64_t *) (work->measured + RACE_TABLE_NUMBERS * (tables->columns + RACE_SELECT_TABLES));
	work->space = work->scores + race_contingency_tables(tables);
	work->exact = (RaceSpace *) (work->space + tables->parts * largest_table(tables));
	work->shares = (double *) (work->space + 2 * tables->parts * largest_table(tables));
	work->expected = (int64_t *) (work->shares + largest_table(tables));
	work->marginal = (double *) (work->expected + largest_table(tables));
	work->block_of = (uint32_t *) (work->marginal + most_groups(tables));
	groups = (uint32_t *) ((int64_t *) work->block_of + most_cells(tables));
	next = (char *) ((int64_t *) groups + n);
	race_ends_work(work, next);
	next += race_ends_work_size(tables);
	race_signs_work(work, next);
	work->result.counters = (int64_t *) (next + race_signs_work_size(tables));
	/* bound: the columns */
	for (uint32_t j = 0; j < tables->columns; groups += race_contingency_finest(tables, j++))
		work->select.group_of[j] = groups;
	work->result.tables = *tables;
	work->result.tables.measured = work->measured;
	work->result.tables.ends = NULL;
	return work;
}

/* Return the mean of a noisy number and a second draw, which has this weight, rounded. */
static int64_t
mean_of_draws(int64_t first, int64_t second, double weight)
{
	double mean = floor((double) first + ((double) second - (double) first) * weight + 0.5);

	return (int64_t) fmin(fmax(mean, -(double) RACE_MAX_COUNT), (double) RACE_MAX_COUNT);
}

/* Return the sum of the counters of a block, which begins with a cell. */
static int64_t
sum_of_block(const RaceTable *table, const int64_t *counters, uint32_t cell)
{
	int64_t sum = 0;

	for (uint32_t k = cell; k < cell + block_size(table, cell); k++)
		sum = race_clamped_sum(sum, counters[k]);
	return sum;
}

/* Draw a table of a column once more, and keep the mean, weighed by precision. */
static void
measure_column_again(RaceTablesWork *work, const RaceTable *table, double price, int64_t *counters)
{
	RaceGrouping grouping = race_tables_grouping(work, table);
	size_t n = race_grouping_sums(&grouping);
	double *variance = &work->measured[RACE_TABLE_NUMBERS * table->first + 2];
	double first = *variance * table->block;
	uint64_t noise = table->block > 1 ?
		draw_blocks(work, table, price) :
		race_measure_sums(&work->release->account, work->release->exact, &grouping, price,
						  work->exact, work->space);
	double second = race_select_variance(&work->select, noise);
	double weight = first / (first + second);

	if (noise == 0)
		return;
	for (uint32_t i = 0; i<n; i += table->block> 1 ? block_size(table, i) : 1)
		work->space[i] =
			mean_of_draws(table->block > 1 ? sum_of_block(table, counters, i) : counters[i],
						  work->space[i], weight);
	if (table->block > 1)
		divide_blocks(table, work->space, counters);
	else
		memcpy(counters, work->space, n * sizeof(int64_t));
	*variance = (first * second / (first + second) + ROUNDING_VARIANCE) / table->block;
}

static void
measure_again(RaceTablesWork *work, const RacePrice *prices)
{
	int64_t *counters = work->result.counters;
	RaceTable table;

	race_contingency_first(&work->exact_tables, &table);
	/* bound: the columns */
	do
	{
		table.block = work->select.block[table.first];
		measure_column_again(work, &table, prices[table.first].amount, counters);
		race_tables_measure_ends(work, table.first);
		counters += table.cells * work->exact_tables.parts;
	} while (race_contingency_next(&work->exact_tables, &table) && table.first == table.second);
}

/* Round off the digits of weights, of what was measured. */
static void
round_weights(RaceTablesWork *work, uint32_t bits)
{
	RaceContingency *tables = &work->result.tables;
	size_t counters =
		work->counters + (tables->signs != NULL ? race_signs_pairs(work->select.n_signs) : 0);

	for (size_t i = 0; bits > 0 && i < counters; i++)
		work->result.counters[i] = race_shift_rounded(work->result.counters[i], (int) bits);
	if (tables->signs != NULL)
		work->signs[0] = race_weighted_variance(work->signs[0], bits);
	for (uint32_t i = 0; i < tables->n_measured; i++)
		work->measured[RACE_TABLE_NUMBERS * i + 2] =
			race_weighted_variance(work->measured[RACE_TABLE_NUMBERS * i + 2], bits);
	tables->unit >>= bits;
}

/* Pick tables one after the other, each the best by what it gains. */
static void
pick_tables(RaceTablesWork *work)
{
	RaceSelect *select = &work->select;

	/* bound: race_select_picks(), which picks do not change */
	for (uint32_t i = 0; i < race_select_picks(select); i++)
	{
		uint32_t n = race_select_qualities(select, work->price, work->candidates);
		uint32_t picked = 0;

		if (n == 0 ||
			race_select(&work->release->account, work->release->exact, work->exact_scores,
						work->candidates, n, work->price, &picked) == 0 ||
			!race_select_pick(select, &work->candidates[picked]))
			break;
	}
	race_select_take(select);
	race_scores_end(work->exact_scores);
}

/* Measure the tables of what a search found. */
static void
measure_found(RaceTablesWork *work, RaceTable pair)
{
	uint32_t before = work->select.measured;

	race_select_take_found(&work->select);
	race_tables_measure_chosen(work, pair, before);
}

/* Score tables, and measure those that are chosen, in rounds. */
static void
measure_several(RaceTablesWork *work, RaceTable pair)
{
	sum_groups(work);
	race_tables_search(work);
	if (race_measure_by_signs(work, pair))
	{
		if (work->result.tables.signs == NULL)
			race_select_connect_found(&work->select);
		measure_found(work, pair);
		return;
	}
	race_select_join(&work->select, work->sums);
	race_tables_number_groups(work);
	if (race_select_all(&work->select))
		race_tables_measure_chosen(work, pair, 0);
	race_select_connect_found(&work->select);
	/* bound: ROUNDS of select_tables.c */
	while ((work->price = race_select_round(&work->select)) > 0)
	{
		uint32_t before = work->select.measured;

		set_scores(work, pair);
		if (work->select.pure)
			pick_tables(work);
		else
			race_select_choose(&work->select, work->scores);
		race_tables_measure_chosen(work, pair, before);
	}
	measure_found(work, pair);
}

/* Measure tables, of so many records, which is a noisy number. */
static RaceSelection
select_tables(RaceRelease *release, double records)
{
	RaceTablesWork *work = make_work(release);
	uint64_t unit = race_record_unit(release->params);
	RacePrice again[RACE_GRAPH_COLUMNS];
	bool paid = true;
	RaceTable pair;

	race_tables_begin(release->request, &work->exact_tables, unit, &work->arrays, &work->select);
	if (!race_select_one_ways(&work->select, (int64_t) fmin(records, (double) RACE_MAX_COUNT)))
	{
		/* the noise would be too large for that many records; plan_tables() looked at 1 */
		race_tables_begin(release->request, &work->exact_tables, unit, &work->arrays,
						  &work->select);
		race_select_one_ways(&work->select, 1);
	}
	if (measure_columns(work, &pair, &paid))
		measure_several(work, pair);
	if (race_select_rest(&work->select, again))
		measure_again(work, again);
	race_tables_place_signs(work);
	round_weights(work, release->request->weight_bits);
	race_tables_adjust_to_ends(work, release->request->weight_bits);
	release->plan.selection.tables = paid ? &work->result : NULL;
	race_plan_state(release->request, &release->account, race_account_cost(&release->account), 0,
					&release->plan);
	release->plan.noise.counter_variance = work->measured[2];
	return release->plan.selection;
}

/* ------------------------------------------------------------------ plans */

/* Begin to plan a selection, for a table of unknown size. */
static uint64_t
begin_plan(const RaceRequest *request, const RaceParams *params, RaceTablesWork *work)
{
	memset(work, 0, sizeof(RaceTablesWork));
	set_tables(request, params, &work->exact_tables);
	return race_tables_begin(request, &work->exact_tables, race_record_unit(params), &work->arrays,
							 &work->select);
}

static void
open_tables(const RaceReleaseKind *kind, const RaceRequest *request, const RaceParams *params,
			RaceRandom *random, RaceAccount *account, RacePlan *plan)
{
	RaceTablesWork work;

	(void) kind;
	begin_plan(request, params, &work);
	plan->count_price = work.select.count.amount;
	race_select_open(account, random, request, work.select.columns, race_record_unit(params));
}

/*
 * Plan a release of tables.  The budget is divided as tables are measured; none of it is spent
 * twice (account.h).
 */
static bool
plan_tables(const RaceReleaseKind *kind, const RaceRequest *request, const RaceParams *params,
			RacePlan *plan)
{
	RaceAccount account;
	RaceTablesWork work;

	(void) kind;
	plan->count_noise = begin_plan(request, params, &work);
	if (plan->count_noise == 0 || !race_select_one_ways(&work.select, 1))
		return false;
	plan->count_price = work.select.count.amount;
	/* it may take all that is allowed */
	race_select_open(&account, NULL, request, work.select.columns, race_record_unit(params));
	race_plan_state(request, &account, race_account_allowed(&account),
					race_select_variance(&work.select, work.select.one_way[0].noise), plan);
	return true;
}

/*
 * Scores cost pure releases more.  With this, of 36 tables of 2 to 9 columns of Adult and two
 * others at epsilon .1 to 10 those were off less, by up to a half, that have less noise without a
 * delta, but for two of 6 % more.
 */
#define PURE_SCORES 1.25

/*
 * Return the squared noise of all tables, not that of a kernel sum: with few tables, noise without
 * a delta is less.
 */
static double
tables_noise(const RaceParams *params, const RacePlan *plan)
{
	RaceRequest request = {.epsilon = plan->noise.epsilon,
						   .delta = plan->noise.delta,
						   .max_contributions = plan->noise.max_contributions,
						   .neighbors = plan->noise.neighbors};
	RaceTablesWork work;
	double noise;

	begin_plan(&request, params, &work);
	noise = race_select_noise(&work.select) * (request.delta == 0 ? PURE_SCORES : 1);
	return noise * noise;
}

/*
 * Copy the tables that were measured when they were selected; of a noise share measure all of them.
 */
static bool
draw_tables(RaceRelease *release, double price, int64_t *counters)
{
	const RaceMeasuring *tables = release->plan.selection.tables;
	uint32_t blocks = (uint32_t) race_shape_ends(release->params);

	if (release->plan.noise.status == RACE_STATUS_SHARE)
		return race_measure_blocks(&release->account, release->exact, blocks, price, counters) > 0;
	if (tables == NULL)
		return false;
	memcpy(counters, tables->counters,
		   race_contingency_counters(&tables->tables) * sizeof(int64_t));
	return true;
}

static uint64_t
tables_squared(const RaceParams *params, RaceSelection kept, int coarser)
{
	(void) kept;
	(void) coarser;
	return race_kept_squared(params, race_shape_ends(params));
}

const RaceReleaseKind race_release_tables = {.count_share = {RACE_COUNT_SHARE, RACE_COUNT_SHARE},
											 .squared = tables_squared,
											 .open = open_tables,
											 .plan = plan_tables,
											 .noise = tables_noise,
											 .workspace = tables_workspace,
											 .select = select_tables,
											 .draw = draw_tables};
