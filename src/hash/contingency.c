/*
 * contingency.c
 *		Contingency tables: counts of the cells of columns, of pairs of columns, and of some sets
 *		of three: plain C
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "privacy/count.h"
#include "privacy/counters.h"
#include "privacy/ends.h"
#include "privacy/interrupt.h"
#include "hash/contingency.h"

void
race_contingency_of(const RaceParams *params, RaceContingency *tables)
{
	tables->dims = params->dims;
	tables->cells = race_array(params, RACE_ARRAY_CELLS);
	tables->groups = race_array(params, RACE_ARRAY_GROUPS);
	tables->workload = race_array(params, RACE_ARRAY_WORKLOAD);
	tables->n_workload = params->tables.workload;
	tables->joined = race_array(params, RACE_ARRAY_JOINED);
	tables->n_joined = params->tables.joined;
	tables->measured = race_array(params, RACE_ARRAY_MEASURED);
	tables->n_measured = params->tables.measured;
	tables->signs = race_array(params, RACE_ARRAY_SIGNS);
	tables->n_signs = params->tables.signs;
	tables->searched = race_array(params, RACE_ARRAY_SEARCHED);
	tables->ends = race_array(params, RACE_ARRAY_ENDS);
	race_contingency_set(tables);
}

void
race_contingency_set(RaceContingency *tables)
{
	uint32_t last = tables->dims - 1;
	bool measure = tables->dims > 1 && tables->groups != NULL && tables->cells != NULL &&
		tables->groups[last] == 0;

	tables->columns = tables->dims - measure;
	tables->parts = measure ? (uint32_t) fmin(fmax(tables->cells[last], 1), RACE_MEASURE_PARTS) : 1;
	tables->unit = measure ? RACE_MEASURE_UNIT : 1;
	tables->triples = 0;
	/* bound: the sets of the workload */
	while (tables->workload != NULL && tables->triples < tables->n_workload &&
		   tables->workload[RACE_TABLE_NUMBERS * tables->triples + 1] >= RACE_CONTINGENCY_COLUMNS)
		tables->triples++;
	tables->sets = 0;
	if (tables->searched != NULL)
	{
		uint32_t n = race_contingency_searched(tables, NULL);

		tables->sets = n < 3 ? 0 : n * (n - 1) * (n - 2) / 6;
	}
}

uint32_t
race_contingency_searched(const RaceContingency *tables, uint32_t *columns)
{
	uint32_t n = 0;

	for (uint32_t j = 0; tables->searched != NULL && j < tables->columns; j++)
		if (tables->searched[j] != 0)
		{
			if (columns != NULL)
				columns[n] = j;
			n++;
		}
	return n;
}

double
race_contingency_variance(const RaceContingency *tables, double of_counter)
{
	return of_counter * tables->parts / ((double) tables->unit * (double) tables->unit);
}

void
race_contingency_part(const RaceContingency *tables, const RaceTable *table,
					  RaceCounterArray counters, uint32_t part, size_t from, size_t n,
					  double *records)
{
	for (size_t i = 0; i < n; i++)
	{
		int64_t counter;

		race_counters_load(counters.counters, counters.width,
						   table->at + (from + i) * tables->parts + part, 1, &counter);
		records[i] = (double) counter / (double) tables->unit;
	}
}

void
race_contingency_records(const RaceContingency *tables, const RaceTable *table,
						 RaceCounterArray counters, size_t from, size_t n, double *records)
{
	double of_part;

	race_contingency_part(tables, table, counters, 0, from, n, records);
	for (uint32_t part = 1; part < tables->parts; part++)
		for (size_t i = 0; i < n; i++)
		{
			race_contingency_part(tables, table, counters, part, from + i, 1, &of_part);
			records[i] += of_part;
		}
}

/* ------------------------------------------------------------------ groups */

/* Return the number of ordinary cells of a column; and of the groups that they are in. */
static uint32_t
ordinary_cells(const RaceContingency *tables, uint32_t column)
{
	return (uint32_t) (tables->cells[column] - tables->groups[tables->dims + column]);
}

static uint32_t
ordinary_groups(const RaceContingency *tables, uint32_t column)
{
	uint32_t size = (uint32_t) tables->groups[column];

	return (ordinary_cells(tables, column) + size - 1) / size;
}

uint32_t
race_contingency_finest(const RaceContingency *tables, uint32_t column)
{
	return ordinary_groups(tables, column) + (uint32_t) tables->groups[tables->dims + column];
}

bool
race_contingency_is_ordered(const RaceContingency *tables, uint32_t column)
{
	return tables->groups[3 * (size_t) tables->dims + column] == 1;
}

/* Return what the groups of a column were joined to; NULL if none were. */
static const double *
joined_of(const RaceContingency *tables, uint32_t column)
{
	const double *joined = tables->joined;

	for (uint32_t j = 0; joined != NULL && j < column; j++)
		joined += race_contingency_finest(tables, j);
	return joined;
}

uint32_t
race_contingency_groups(const RaceContingency *tables, uint32_t column)
{
	uint32_t finest = race_contingency_finest(tables, column);
	const double *joined = joined_of(tables, column);
	double last = 0;

	if (joined == NULL)
		return finest;
	for (uint32_t i = 0; i < finest; i++)
		last = joined[i] > last ? joined[i] : last;
	return (uint32_t) last + 1;
}

/* Return the group of a cell before groups are joined. */
static uint32_t
finest_group(const RaceContingency *tables, uint32_t column, uint32_t cell)
{
	uint32_t ordinary = ordinary_cells(tables, column);

	return cell < ordinary ? cell / (uint32_t) tables->groups[column] :
							 ordinary_groups(tables, column) + (cell - ordinary);
}

uint32_t
race_contingency_group(const RaceContingency *tables, uint32_t column, uint32_t cell)
{
	uint32_t group = finest_group(tables, column, cell);
	const double *joined = joined_of(tables, column);

	return joined != NULL ? (uint32_t) joined[group] : group;
}

/* ------------------------------------------------------------------ tables */

uint32_t
race_contingency_tables(const RaceContingency *tables)
{
	return tables->measured != NULL ? tables->n_measured :
									  tables->columns +
			tables->columns * (tables->columns - 1) / 2 + tables->triples + tables->sets;
}

void
race_contingency_columns(const double *row, RaceTable *table)
{
	uint32_t others = (uint32_t) row[1];

	table->first = (uint32_t) row[0];
	table->second = others % RACE_CONTINGENCY_COLUMNS;
	table->third =
		others < RACE_CONTINGENCY_COLUMNS ? table->second : others / RACE_CONTINGENCY_COLUMNS;
}

static void
set_size(const RaceContingency *tables, RaceTable *table)
{
	bool several = table->second != table->first;

	table->ordinary = several ? 0 : ordinary_cells(tables, table->first);
	table->width = several ? race_contingency_groups(tables, table->second) : 1;
	table->depth =
		table->third != table->second ? race_contingency_groups(tables, table->third) : 1;
	table->cells = (size_t) table->width * table->depth *
		(several ? race_contingency_groups(tables, table->first) :
				   (size_t) tables->cells[table->first]);
}

/* Set what is measured of a table. */
static void
set_measured(const RaceContingency *tables, RaceTable *table)
{
	const double *row = tables->measured + table->number * RACE_TABLE_NUMBERS;

	table->variance = race_contingency_variance(tables, row[2]);
	if (table->number >= tables->columns)
		race_contingency_columns(row, table);
	else
	{
		table->block = 1 + (uint32_t) row[1] / RACE_CONTINGENCY_COLUMNS;
		table->single = 1 + floor(row[0] / RACE_CONTINGENCY_COLUMNS) / RACE_SINGLE_STEPS;
		table->ends = tables->ends == NULL ? 0 : tables->ends[table->number];
	}
}

void
race_contingency_first(const RaceContingency *tables, RaceTable *table)
{
	table->number = table->first = table->second = table->third = 0;
	table->at = 0;
	table->variance = 0;
	table->block = 1;
	table->single = 1;
	table->ends = 0;
	if (tables->measured != NULL)
		set_measured(tables, table);
	set_size(tables, table);
}

/* Return the next column after one whose sets of three are counted, or the number of columns. */
static uint32_t
next_searched(const RaceContingency *tables, uint32_t column)
{
	/* bound: the columns */
	do
		column++;
	while (column < tables->columns && tables->searched[column] == 0);
	return column < tables->columns ? column : tables->columns;
}

/* Set the columns of the next set of three, or of the first one. */
static void
set_next_set(const RaceContingency *tables, RaceTable *table, bool first)
{
	if (first)
	{
		table->first = next_searched(tables, UINT32_MAX);
		table->second = next_searched(tables, table->first);
		table->third = table->second;
	}
	table->third = next_searched(tables, table->third);
	if (table->third == tables->columns)
	{
		table->second = next_searched(tables, table->second);
		table->third = next_searched(tables, table->second);
	}
	if (table->third == tables->columns)
	{
		table->first = next_searched(tables, table->first);
		table->second = next_searched(tables, table->first);
		table->third = next_searched(tables, table->second);
	}
}

bool
race_contingency_next(const RaceContingency *tables, RaceTable *table)
{
	uint32_t workload = race_contingency_tables(tables) - tables->triples - tables->sets;

	table->at += table->cells * tables->parts;
	if (++table->number == race_contingency_tables(tables))
		return false;
	table->block = 1;
	table->single = 1;
	table->ends = 0;
	if (table->number < tables->columns)
		table->first = table->second = table->third = table->number;
	if (tables->measured != NULL)
		set_measured(tables, table);
	else if (table->number >= workload + tables->triples)
		set_next_set(tables, table, table->number == workload + tables->triples);
	else if (table->number >= workload)
		race_contingency_columns(tables->workload + RACE_TABLE_NUMBERS * (table->number - workload),
								 table);
	else if (table->number >= tables->columns)
	{
		if (table->number == tables->columns)
			table->first = table->second = 0;
		if (++table->second == tables->columns)
			table->second = ++table->first + 1;
		table->third = table->second;
	}
	set_size(tables, table);
	return true;
}

/* ------------------------------------------------------------------- signs */

uint32_t
race_contingency_signs(const RaceContingency *tables, uint32_t *columns)
{
	uint32_t n = 0;

	for (uint32_t j = 0; tables->signs != NULL && j < tables->columns; j++)
		if (tables->signs[1 + j] > 0)
			columns[n++] = j;
	return n;
}

int
race_contingency_sign(const RaceContingency *tables, uint32_t column, uint32_t cell)
{
	if (tables->signs == NULL || tables->signs[1 + column] == 0 ||
		cell >= ordinary_cells(tables, column))
		return 0;
	return finest_group(tables, column, cell) < tables->signs[1 + column] ? -1 : 1;
}

size_t
race_contingency_signs_at(const RaceContingency *tables)
{
	RaceTable table;

	race_contingency_first(tables, &table);
	/* bound: the tables, of RACE_CONTINGENCY_COLUMNS columns at most */
	while (race_contingency_next(tables, &table))
		;
	return table.at;
}

/* -------------------------------------------------------------------- ends */

/* Return the sum of squared places of the ordinary cells of a column. */
static double
squared_places(const RaceTable *table)
{
	double n = table->ordinary;

	return n * (n * n - 1) / 3;
}

double
race_contingency_known_records(const RaceTable *table)
{
	double n = table->ordinary;
	double own = table->variance * n;

	/* both ends add up to n - 1 for each record */
	return table->ends == 0 ? 0 : own / (own + RACE_ENDS * table->ends / ((n - 1) * (n - 1)));
}

/*
 * Where cells were counted together, places of records in a block are not known from the table: the
 * ends alone tell them, if their noise is less than the table's.
 */
double
race_contingency_known_places(const RaceTable *table)
{
	double own = table->variance * squared_places(table);
	double of_ends = RACE_ENDS * table->ends;

	if (table->ends == 0)
		return 0;
	return table->block > 1 ? fmax(1 - of_ends / own, 0) : own / (own + of_ends);
}

double
race_contingency_table_variance(const RaceTable *table)
{
	double ordinary = table->ordinary < table->cells ? table->ordinary : (double) table->cells;

	return table->variance *
		(ordinary * (1 - race_contingency_known_records(table)) +
		 ((double) table->cells - ordinary) * table->block * table->single);
}

double
race_contingency_noise(const RaceTable *table, const RaceSumsNoise *noise, double total_variance)
{
	double all = race_contingency_table_variance(table);
	double with_all = noise->all[0] * noise->all[1] / all;
	double known = 0;

	if (table->ends > 0)
		known = table->variance *
			(race_contingency_known_records(table) * noise->flat[0] * noise->flat[1] /
				 table->ordinary +
			 race_contingency_known_places(table) * noise->places[0] * noise->places[1] /
				 squared_places(table));
	return noise->products - known - with_all + with_all / all * total_variance;
}

void
race_contingency_adjust(const RaceTable *table, const int64_t *ends, int64_t *cells)
{
	double n = table->ordinary;
	double lower = (double) ends[0];
	double upper = (double) ends[1];
	double records = (lower + upper) / (n - 1);
	double places = upper - lower;
	double known = race_contingency_known_places(table);
	double beyond = 0; /* what rounding left */

	for (uint32_t i = 0; i < table->ordinary; i++)
	{
		records -= (double) cells[i];
		places -= race_contingency_place_of(table, i) * (double) cells[i];
	}
	records *= race_contingency_known_records(table) / n;
	places *= (table->block > 1 ? known > 0 : known) / squared_places(table);
	/* rounded so that neither the number of records nor their places are moved by more than 1 */
	for (uint32_t i = 0; i < table->ordinary; i++)
	{
		double by = beyond + records + places * race_contingency_place_of(table, i);
		double rounded = floor(by + 0.5);

		cells[i] = race_clamped_sum(
			cells[i],
			(int64_t) fmin(fmax(rounded, -(double) RACE_MAX_COUNT), (double) RACE_MAX_COUNT));
		beyond = by - rounded;
	}
}

/* ----------------------------------------------------------- combined draws */

#define ROUNDING_VARIANCE (1.0 / 12) /* variance of a mean that is rounded to an integer */

void
race_contingency_combine(RaceParams *params, int64_t *counters, const RaceColumnNumbers *numbers)
{
	double *measured =
		(double *) race_array(params, RACE_ARRAY_MEASURED) + RACE_TABLE_NUMBERS * numbers->column;
	double variance = numbers->variance;
	double weight = measured[2] / (measured[2] + variance);
	double combined = measured[2] * (1 - weight) + ROUNDING_VARIANCE;
	RaceContingency tables;
	RaceTable table;

	race_contingency_of(params, &tables);
	race_contingency_first(&tables, &table);
	/* bound: the columns */
	while (table.number < numbers->column)
		race_contingency_next(&tables, &table);
	if (combined >= measured[2] || table.ordinary != numbers->n)
		return;
	for (uint32_t i = 0; i < table.ordinary; i++)
	{
		double counter = (double) counters[table.at + i];
		double mean = floor(counter + ((double) numbers->numbers[i] - counter) * weight + 0.5);

		counters[table.at + i] =
			(int64_t) fmin(fmax(mean, -(double) RACE_MAX_COUNT), (double) RACE_MAX_COUNT);
	}
	/* single cells have their variance still, but for steps, rounded up */
	measured[0] = numbers->column +
		RACE_CONTINGENCY_COLUMNS *
			fmin(ceil((measured[2] / combined - 1) * RACE_SINGLE_STEPS), RACE_SINGLE_MOST);
	measured[2] = fmax(combined, measured[2] / (1 + RACE_SINGLE_MOST / RACE_SINGLE_STEPS));
}

/* ------------------------------------------------------------------ limits */

static bool
is_integer(double x, double low, double high)
{
	return x >= low && x <= high && x == floor(x);
}

static bool
are_valid_columns(const RaceContingency *tables)
{
	uint32_t d = tables->dims;

	if (d < 1 || d > RACE_CONTINGENCY_COLUMNS || tables->cells == NULL || tables->groups == NULL)
		return false;
	for (uint32_t i = 0; i < d; i++)
		if (!(tables->groups[2 * d + i] >= 1 && tables->groups[2 * d + i] <= RACE_COLUMN_WEIGHT) ||
			(i >= tables->columns ? !is_integer(tables->cells[i], 2, RACE_MEASURE_PARTS) ||
					 tables->groups[d + i] != 0 || tables->groups[3 * d + i] != 0 :
									!is_integer(tables->cells[i], 1, RACE_CONTINGENCY_CELLS) ||
					 !is_integer(tables->groups[i], 1, RACE_CONTINGENCY_CELLS) ||
					 !is_integer(tables->groups[d + i], 0, tables->cells[i]) ||
					 !is_integer(tables->groups[3 * d + i], 0, 1)))
			return false;
	return true;
}

/* Return whether joined groups are numbered in the order in which they begin, so none is empty. */
static bool
is_valid_joined(const RaceContingency *tables)
{
	const double *joined = tables->joined;
	uint32_t n = 0;

	if (joined == NULL)
		return true;
	for (uint32_t j = 0; j < tables->columns; j++)
		n += race_contingency_finest(tables, j);
	if (n != tables->n_joined)
		return false;
	for (uint32_t j = 0; j < tables->columns; j++)
	{
		uint32_t finest = race_contingency_finest(tables, j);
		double next = 0;

		for (uint32_t i = 0; i < finest; i++, joined++)
		{
			if (!is_integer(*joined, 0, next))
				return false;
			next += *joined == next;
		}
	}
	return true;
}

/* Return whether row i has several columns that ascend, and no row before it has the same. */
static bool
is_other_table(const RaceContingency *tables, const double *rows, uint32_t i)
{
	const double *row = rows + RACE_TABLE_NUMBERS * i;
	RaceTable table;

	if (!is_integer(row[0], 0, RACE_CONTINGENCY_COLUMNS) ||
		!is_integer(row[1], 0, RACE_CONTINGENCY_COLUMNS * RACE_CONTINGENCY_COLUMNS))
		return false;
	for (uint32_t j = 0; j < i; j++)
		if (rows[RACE_TABLE_NUMBERS * j] == row[0] && rows[RACE_TABLE_NUMBERS * j + 1] == row[1])
			return false;
	race_contingency_columns(row, &table);
	return table.first < table.second && table.third < tables->columns &&
		(table.second < table.third || row[1] < RACE_CONTINGENCY_COLUMNS);
}

/* Return whether the workload is tables of three columns, then of two. */
static bool
is_valid_workload(const RaceContingency *tables)
{
	const double *row = tables->workload;

	if (row == NULL)
		return true;
	for (uint32_t i = 0; i < tables->n_workload; i++, row += RACE_TABLE_NUMBERS)
		if (!(row[2] >= 1 && row[2] <= RACE_COLUMN_WEIGHT) ||
			!is_other_table(tables, tables->workload, i) ||
			(i >= tables->triples) != (row[1] < RACE_CONTINGENCY_COLUMNS))
			return false;
	return tables->n_workload <= RACE_WORKLOAD;
}

/*
 * Return whether a row is the table of column i, in blocks that it has cells for, with a variance
 * of single cells that can be told.
 */
static bool
is_column_table(const RaceContingency *tables, const double *row, uint32_t i)
{
	double blocks = (row[1] - i) / RACE_CONTINGENCY_COLUMNS;

	return is_integer((row[0] - i) / RACE_CONTINGENCY_COLUMNS, 0, RACE_SINGLE_MOST) &&
		is_integer(blocks, 0, fmax(ordinary_cells(tables, i), 1) - 1);
}

/*
 * Return whether what was measured is one table of each column, then different ones of several; all
 * with noise.
 */
static bool
is_valid_measured(const RaceContingency *tables)
{
	const double *row = tables->measured;

	if (row == NULL)
		return true;
	if (tables->n_measured < tables->columns ||
		tables->n_measured > tables->columns + RACE_CONTINGENCY_MEASURED)
		return false;
	for (uint32_t i = 0; i < tables->n_measured; i++, row += RACE_TABLE_NUMBERS)
		if (!(row[2] > 0 && row[2] <= RACE_MAX_BOUND) ||
			!(i < tables->columns ? is_column_table(tables, row, i) :
									is_other_table(tables, tables->measured, i)))
			return false;
	return true;
}

/* Return what is wrong with signs, or NULL. */
static const char *
signs_problem(const RaceContingency *tables)
{
	uint32_t columns[RACE_CONTINGENCY_COLUMNS];

	if (tables->signs == NULL)
		return NULL;
	if (tables->n_signs != 1 + tables->columns)
		return "signs must be a variance, then a number for each column but a measure";
	if (!(tables->signs[0] > 0 && tables->signs[0] <= RACE_MAX_BOUND))
		return "the variance of signs must be above 0";
	for (uint32_t j = 0; j < tables->columns; j++)
		if (!is_integer(tables->signs[1 + j], 0, fmax(ordinary_groups(tables, j), 1) - 1))
			return "signs must be 0 or the number of a group of ordinary cells after the first";
	return race_contingency_signs(tables, columns) < 2 ? "signs must be of two columns or more" :
														 NULL;
}

/*
 * Return whether the columns whose sets of three are counted are no measure, and have few groups, so
 * that sets have few counters.
 */
static bool
are_valid_searched(const RaceContingency *tables)
{
	for (uint32_t j = 0; tables->searched != NULL && j < tables->dims; j++)
		if (!is_integer(tables->searched[j], 0, j < tables->columns) ||
			(tables->searched[j] != 0 && race_contingency_finest(tables, j) > RACE_SEARCHED_GROUPS))
			return false;
	return tables->sets <= RACE_SEARCHED_SETS;
}

/* Return what is wrong with ends, or NULL. */
static const char *
ends_problem(const RaceContingency *tables)
{
	bool measured = tables->measured != NULL;

	if (tables->ends == NULL)
		return NULL;
	if (tables->parts > 1)
		return "tables with a measure have no ends";
	for (uint32_t j = 0; j < tables->columns; j++)
	{
		double x = tables->ends[j];

		if (x != 0 && ordinary_cells(tables, j) < 2)
			return "ends must be of columns with two ordinary cells or more";
		if (measured ? !(x >= 0 && x <= RACE_MAX_BOUND) :
					   x != 0 && !(x >= 1 && x <= RACE_COLUMN_WEIGHT))
			return measured ? "ends must have variances, or 0" :
							  "ends must be weighted 1 to 100, or be 0";
	}
	return NULL;
}

/* Return the number of counters of signs. */
static double
count_signs(const RaceContingency *tables)
{
	uint32_t columns[RACE_CONTINGENCY_COLUMNS];
	double n = race_contingency_signs(tables, columns);

	return n * (n - 1) / 2;
}

uint32_t
race_contingency_counters(const RaceContingency *tables)
{
	const double limit = RACE_MAX_SKETCH_BYTES / 8;
	double sum;
	RaceTable table;

	if (!are_valid_columns(tables) || !is_valid_workload(tables) || !is_valid_joined(tables) ||
		!is_valid_measured(tables) || signs_problem(tables) != NULL ||
		!are_valid_searched(tables) || ends_problem(tables) != NULL)
		return 0;
	sum = count_signs(tables);
	race_contingency_first(tables, &table);
	/* bound: the tables, of RACE_CONTINGENCY_COLUMNS columns at most */
	do
		sum += (double) table.cells * tables->parts;
	while (sum <= limit && race_contingency_next(tables, &table));
	return sum <= limit ? (uint32_t) sum : 0;
}

/*
 * Return how many groups several columns may have, so that parameters of what is measured have room
 * for all arrays.
 */
static uint32_t
most_groups(const RaceContingency *tables)
{
	uint32_t more = tables->columns * (tables->columns - 1) / 2 + tables->triples + tables->sets;

	if (more > RACE_CONTINGENCY_MEASURED)
		more = RACE_CONTINGENCY_MEASURED;
	return RACE_MAX_MORE / sizeof(double) - (2 + RACE_GROUP_NUMBERS) * tables->dims -
		RACE_TABLE_NUMBERS * (tables->n_workload + tables->columns + more) - (1 + tables->columns);
}

/*
 * Return whether parameters of what is measured will have room.  A release must not fail after it
 * drew numbers, so this is looked at before.
 */
static bool
measured_has_room(const RaceContingency *tables)
{
	double groups = 0;

	for (uint32_t j = 0; j < tables->columns; j++)
		groups += race_contingency_finest(tables, j);
	return tables->columns == 1 || groups <= most_groups(tables);
}

#define PROBLEM(...) (snprintf(message, length, __VA_ARGS__), message)

const char *
race_contingency_problem(const RaceParams *params, char *message, size_t length)
{
	RaceContingency tables;

	if (params->dims < 1 || params->dims > RACE_CONTINGENCY_COLUMNS)
		return PROBLEM("tables need dims, the number of columns, between 1 and %d",
					   RACE_CONTINGENCY_COLUMNS);
	if (params->more != race_arrays_size(params))
		return PROBLEM("tables cannot be a part of a product");
	if (params->sequence != RACE_SEQUENCE_INDEPENDENT || params->rehash != RACE_REHASH_FOLD ||
		params->seed != 0 || params->power != 1)
		return PROBLEM("tables have no row functions");
	race_contingency_of(params, &tables);
	if (!are_valid_columns(&tables))
		return PROBLEM(
			"tables need cells and groups up to %d, weights from 1 to %g, and a measure last",
			RACE_CONTINGENCY_CELLS, RACE_COLUMN_WEIGHT);
	if ((tables.workload != NULL) != (params->tables.workload != 0) || !is_valid_workload(&tables))
		return PROBLEM(
			"workload must be at most %d different tables of 3 columns, then of 2, weighted 1 to %g",
			RACE_WORKLOAD, RACE_COLUMN_WEIGHT);
	if ((tables.joined != NULL) != (params->tables.joined != 0) ||
		(tables.measured != NULL) != (params->tables.measured != 0) ||
		(tables.joined != NULL && tables.measured == NULL))
		return PROBLEM("joined groups are of private tables, which have measured");
	if ((tables.signs != NULL) != (params->tables.signs != 0) ||
		(tables.signs != NULL && tables.measured == NULL))
		return PROBLEM("signs are of private tables, which have measured");
	if (!measured_has_room(&tables))
		return PROBLEM("tables of several columns must have at most %u groups together",
					   most_groups(&tables));
	if (!is_valid_joined(&tables))
		return PROBLEM(
			"joined groups must be numbered in the order in which they begin, a number for each group");
	if (!is_valid_measured(&tables))
		return PROBLEM(
			"measured must be one table a column, then at most %d of 2 or 3, with variances above 0",
			RACE_CONTINGENCY_MEASURED);
	if (signs_problem(&tables) != NULL)
		return PROBLEM("%s", signs_problem(&tables));
	if ((tables.searched != NULL) != ((params->arrays & RACE_ARRAY_SEARCHED) != 0) ||
		!are_valid_searched(&tables))
		return PROBLEM(
			"searched must be 0, or 1 of columns of at most %d groups, with at most %d sets",
			RACE_SEARCHED_GROUPS, RACE_SEARCHED_SETS);
	if (ends_problem(&tables) != NULL)
		return PROBLEM("%s", ends_problem(&tables));
	if (params->rows != 1 || params->range == 0 ||
		params->range != race_contingency_counters(&tables))
		return PROBLEM("tables of so many columns and cells would have more than %llu counters",
					   (unsigned long long) (RACE_MAX_SKETCH_BYTES / 8));
	return NULL;
}

/* ---------------------------------------------------------------- counting */

/* Return the cell of a number, which may be anything but a NaN. */
static uint32_t
cell_of(double x, double cells)
{
	return x >= cells ? (uint32_t) cells - 1 : x >= 1 ? (uint32_t) x : 0;
}

/* Set what a record adds to the parts of its cells. */
static void
divide_record(const RaceContingency *tables, const double *record, int64_t *parts)
{
	double units = tables->parts > 1 ? record[tables->columns] : 1;
	double limit = (double) tables->unit;

	memset(parts, 0, tables->parts * sizeof(int64_t));
	if (tables->parts == RACE_MEASURE_PARTS && units > limit)
		parts[RACE_MEASURE_PARTS - 1] = (int64_t) tables->unit;
	else if (tables->parts == 1)
		parts[0] = 1;
	else
	{
		parts[1] = units >= limit ? (int64_t) limit : units >= 0 ? (int64_t) units : 0;
		parts[0] = (int64_t) tables->unit - parts[1];
	}
}

/* Count n records in their cells of a table. */
static void
count_in_table(const RaceContingency *tables, const RaceTable *table, RaceCounterArray counters,
			   const uint32_t *cells, const int64_t *parts, size_t n, int64_t weight)
{
	RaceShape shape = {.blocks = 1,
					   .unit = tables->unit,
					   .range = (uint32_t) (table->cells * tables->parts)};
	RaceCounterArray of_table = {(char *) counters.counters + table->at * counters.width,
								 counters.width};

	race_count_cells(&shape, of_table, 0, cells, parts, tables->parts, n, weight);
}

/* Count n records in the tables of all pairs of columns, of which this is the first. */
static void
count_in_pairs(const RaceContingency *tables, const RaceTable *table, RaceCounterArray counters,
			   uint32_t *groups, const int64_t *parts, size_t n, int64_t weight)
{
	RaceCounterArray of_pairs = {(char *) counters.counters + table->at * counters.width,
								 counters.width};
	uint32_t length[RACE_CONTINGENCY_COLUMNS];

	for (uint32_t j = 0; j < tables->columns; j++)
		length[j] = race_contingency_groups(tables, j);
	race_count_pairs(tables->unit, of_pairs, tables->columns, length, groups, parts, tables->parts,
					 n, weight);
}

size_t
race_contingency_workspace(const RaceParams *params, size_t n)
{
	return n * (RACE_MEASURE_PARTS * sizeof(int64_t) + (params->dims + 1) * sizeof(uint32_t));
}

void
race_contingency_count(const RaceParams *params, const double *records, size_t n, int64_t weight,
					   RaceCounterArray counters, void *workspace)
{
	int64_t *parts = workspace;                                       /* [n][parts] */
	uint32_t *groups = (uint32_t *) (parts + RACE_MEASURE_PARTS * n); /* [columns][n] */
	uint32_t *cells = groups + params->dims * n;                      /* [n] */
	RaceContingency tables;
	RaceTable table;

	race_contingency_of(params, &tables);
	for (size_t i = 0; i < n; i++)
		divide_record(&tables, records + i * tables.dims, parts + i * tables.parts);
	race_contingency_first(&tables, &table);
	/* bound: the tables, of RACE_CONTINGENCY_COLUMNS columns at most */
	do
	{
		uint32_t *first = groups + table.first * n;
		const uint32_t *second = groups + table.second * n;
		const uint32_t *third = groups + table.third * n;

		if (table.number == tables.columns)
			count_in_pairs(&tables, &table, counters, groups, parts, n, weight);
		if (table.first != table.second && table.second == table.third)
			continue;
		for (size_t i = 0; i < n; i++)
			if (table.first == table.second)
			{
				cells[i] =
					cell_of(records[i * tables.dims + table.first], tables.cells[table.first]);
				first[i] = finest_group(&tables, table.first, cells[i]);
			}
			else
				cells[i] = (first[i] * table.width + second[i]) * table.depth + third[i];
		count_in_table(&tables, &table, counters, cells, parts, n, weight);
	} while (race_contingency_next(&tables, &table));
}

/*
 * Junction trees of graphs of columns
 */

static uint32_t
columns_of(RaceColumnSet set)
{
	return (uint32_t) (__builtin_popcountll((uint64_t) set) +
					   __builtin_popcountll((uint64_t) (set >> 64)));
}

static uint32_t
first_column(RaceColumnSet set)
{
	return (uint32_t) ((uint64_t) set != 0 ? __builtin_ctzll((uint64_t) set) :
											 64 + __builtin_ctzll((uint64_t) (set >> 64)));
}

/* Return the number of cells of a table of these columns. */
static double
cells_of(RaceColumnSet set, const uint32_t *sizes)
{
	double cells = 1;

	for (; set != 0; set &= set - 1)
		cells *= sizes[first_column(set)];
	return cells;
}

/* Return the number of cells of the tables of all pairs that elimination of a column would add. */
static double
fill_of(RaceColumnSet neighbors, const RaceColumnSet *graph, const uint32_t *sizes)
{
	double fill = 0;

	for (RaceColumnSet rest = neighbors; rest != 0; rest &= rest - 1)
	{
		uint32_t i = first_column(rest);
		RaceColumnSet missing = rest & (rest - 1) & ~graph[i];

		for (; missing != 0; missing &= missing - 1)
			fill += (double) sizes[i] * sizes[first_column(missing)];
	}
	return fill;
}

/* Return the column to eliminate next: least fill, then smallest clique. */
static uint32_t
next_column(RaceColumnSet left, const RaceColumnSet *graph, const uint32_t *sizes,
			const double *fill)
{
	uint32_t best = first_column(left);
	double best_cells = INFINITY;

	for (RaceColumnSet rest = left; rest != 0; rest &= rest - 1)
	{
		uint32_t i = first_column(rest);
		double cells;

		if (fill[i] > fill[best])
			continue;
		cells = cells_of(graph[i] | RACE_COLUMN(i), sizes);
		if (fill[i] < fill[best] || cells < best_cells)
		{
			best = i;
			best_cells = cells;
		}
	}
	return best;
}

/*
 * Connect cliques by a spanning tree with the largest separators (Prim's algorithm), parents first.
 */
static void
connect_cliques(RaceJunctionTree *tree)
{
	for (uint32_t n = 0; n < tree->cliques; n++)
	{
		uint32_t best = n;
		uint32_t best_parent = 0;
		int most = -1;
		RaceColumnSet clique;

		for (uint32_t i = n; i < tree->cliques; i++)
			for (uint32_t j = 0; j < n; j++)
			{
				int common = (int) columns_of(tree->clique[i] & tree->clique[j]);

				if (common > most)
				{
					most = common;
					best = i;
					best_parent = j;
				}
			}
		clique = tree->clique[best];
		tree->clique[best] = tree->clique[n];
		tree->clique[n] = clique;
		tree->parent[n] = best_parent;
		tree->separator[n] = n == 0 ? 0 : clique & tree->clique[best_parent];
	}
}

double
race_junction_tree(uint32_t columns, const uint32_t *sizes, const RaceColumnSet *neighbors,
				   RaceJunctionTree *tree)
{
	RaceColumnSet graph[RACE_GRAPH_COLUMNS];
	RaceColumnSet cliques[RACE_GRAPH_COLUMNS];
	double fill[RACE_GRAPH_COLUMNS];
	RaceColumnSet left = 0;
	RaceColumnSet changed = 0;
	uint32_t n = 0;
	double cells = 0;

	memcpy(graph, neighbors, columns * sizeof(RaceColumnSet));
	for (uint32_t i = 0; i < columns; i++)
		left |= RACE_COLUMN(i);
	changed = left;
	race_look_for_interrupts();
	/* bound: one column less each time */
	while (left != 0)
	{
		uint32_t column;
		RaceColumnSet clique;
		bool maximal = true;

		for (RaceColumnSet rest = changed & left; rest != 0; rest &= rest - 1)
			fill[first_column(rest)] = fill_of(graph[first_column(rest)], graph, sizes);
		column = next_column(left, graph, sizes, fill);
		clique = graph[column] | RACE_COLUMN(column);
		changed = clique;
		left &= ~RACE_COLUMN(column);
		for (RaceColumnSet rest = graph[column]; rest != 0; rest &= rest - 1)
		{
			uint32_t i = first_column(rest);

			graph[i] = (graph[i] | clique) & ~(RACE_COLUMN(column) | RACE_COLUMN(i));
			changed |= graph[i];
		}
		for (uint32_t i = 0; i < n; i++)
			maximal &= (clique & ~cliques[i]) != 0;
		if (!maximal)
			continue;
		cliques[n++] = clique;
		cells += cells_of(clique, sizes);
	}
	if (tree != NULL)
	{
		tree->cliques = n;
		memcpy(tree->clique, cliques, n * sizeof(RaceColumnSet));
		connect_cliques(tree);
	}
	return cells;
}
