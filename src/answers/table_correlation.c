/*
 * table_correlation.c
 *		Correlations of columns from private contingency tables
 */
#include "postgres.h"

#include <math.h>

#include "funcapi.h"
#include "miscadmin.h"

#include "hash/contingency.h"
#include "sketch/domain.h"
#include "sketch/result.h"
#include "answers/table_answers.h"

PG_FUNCTION_INFO_V1(race_correlation);

/* A column with numbers, by the groups that tables of two columns have */
typedef struct Column
{
	int number;
	uint32 groups;
	double *part;   /* [groups]: share of its records that have a number */
	double *offset; /* [groups]: mean of a group, less that of all */
	double between; /* standard deviation of the means of groups */
	double all;     /* standard deviation of records */
	double error;   /* relative standard error of `all`, by its table's noise */
	double mean;    /* mean of records */
	int exponent;   /* power of 2 that divides offset, between, all and mean */
} Column;

typedef struct Correlations
{
	RaceOpenTables open;
	int *columns; /* [n]: those that have numbers */
	int n;
	int place[2]; /* columns of the next pair */
	double z;
	RaceResultRow row;
} Correlations;

/* Describe a column among records that have a number of `other`.  Return false if it has none. */
static bool
describe_column(const RaceOpenTables *open, int number, int other, Column *column)
{
	const RaceDomain *domain = &open->domains[number];
	const RaceContingency *tables = &open->model->tables;
	const double **weights = palloc0(open->columns * sizeof(double *));
	double *ordinary = palloc0(RaceDomainCells(&open->domains[other]) * sizeof(double));
	double *value = palloc0(RaceDomainCells(domain) * sizeof(double));
	double *share = palloc(RaceDomainCells(domain) * sizeof(double));
	double *total;
	double count = 0;
	double mean = 0;
	double fourth = 0;
	double half;

	if (!race_tables_values(domain, value, &half, &column->exponent))
		return false;
	for (uint32 i = 0; i < open->domains[other].n; i++)
		ordinary[i] = 1;
	weights[other] = number == other ? NULL : ordinary;
	race_model_event(open->model, weights, number, share);
	for (uint32 i = 0; i < domain->n; i++)
	{
		count += share[i];
		mean += share[i] * value[i];
	}
	mean /= Max(count, 1e-300);
	column->mean = mean;
	column->number = number;
	column->groups = race_contingency_groups(tables, number);
	column->part = palloc0(column->groups * sizeof(double));
	column->offset = palloc0(column->groups * sizeof(double));
	column->between = column->all = 0;
	total = palloc0(column->groups * sizeof(double));
	for (uint32 i = 0; i < RaceDomainCells(domain); i++)
	{
		uint32 group = race_contingency_group(tables, number, i);

		total[group] += share[i];
		if (i >= domain->n)
			continue;
		column->part[group] += share[i];
		column->offset[group] += share[i] * (value[i] - mean);
		column->all += share[i] * (value[i] - mean) * (value[i] - mean) / Max(count, 1e-300);
		fourth += pow(value[i] - mean, 4);
	}
	for (uint32 i = 0; i < column->groups; i++)
	{
		column->offset[i] /= Max(column->part[i], 1e-300);
		column->between +=
			column->part[i] * column->offset[i] * column->offset[i] / Max(count, 1e-300);
		column->part[i] /= Max(total[i], 1e-300);
	}
	column->error = sqrt(fourth * open->model->table[number].variance) /
		Max(2 * open->model->total * count * column->all, 1e-300);
	column->between = sqrt(column->between);
	column->all = sqrt(column->all);
	return true;
}

bool
race_tables_has_numbers(const RaceOpenTables *open, int column)
{
	Column described;

	return describe_column(open, column, column, &described);
}

static void
start_correlations(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	Correlations *state = palloc0(sizeof(Correlations));
	double confidence;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		return;
	confidence = race_confidence_arg(fcinfo, 1);
	race_row_start(&state->row, fcinfo);
	race_tables_open(PG_GETARG_DATUM(0), &state->open);
	state->z = race_tables_z(&state->open, confidence);
	state->columns = palloc(state->open.columns * sizeof(int));
	for (int i = 0; i < state->open.columns; i++)
		if (race_tables_has_numbers(&state->open, i))
			state->columns[state->n++] = i;
	call->max_calls = (uint64) state->n * (state->n - 1) / 2;
	call->user_fctx = state;
}

/* Return whether the values of a column differ by more than rounding errors. */
static bool
column_varies(const Column *column)
{
	return column->between > 1e-9 * fabs(column->mean) && column->between > 0;
}

/*
 * Correct the correlation of means of groups.  Return how far off it may be: three times the
 * correction, since trends within groups may be others, and the most that values within the groups
 * of both columns add beyond a trend.  The covariance of means of groups is that of records times
 * the squares of `between / all` of both columns, if the trend within groups is that between them.
 */
static double
correct_correlation(const Column *first, const Column *second, double *r)
{
	double a = pow(first->between / first->all, 2);
	double b = pow(second->between / second->all, 2);
	double before = *r;

	*r = Min(Max(before / (a * b), -1), 1);
	return 3 * fabs(*r - before) + sqrt(Max(1 - a, 0) * Max(1 - b, 0));
}

void
race_tables_correlate(const RaceOpenTables *open, int column, int other, double z,
					  RaceCorrelation *correlation)
{
	const RaceTableModel *model = open->model;
	Column first;
	Column second;
	double *counts;
	double variance = 0; /* variance by the model */
	double product = 0;
	double records = 0;
	double squares = 0;
	double scale;
	double r = 0;
	double off = 2;
	bool counts_of_model = false;
	bool independent;
	bool known;

	describe_column(open, column, other, &first);
	describe_column(open, other, column, &second);
	counts = race_tables_pair(open, first.number, second.number, &variance);
	if (counts == NULL)
	{
		counts_of_model = true;
		counts =
			palloc_extended((Size) first.groups * second.groups * sizeof(double), MCXT_ALLOC_HUGE);
		race_model_pair(model, first.number, second.number, false, counts);
		for (Size i = 0; i < (Size) first.groups * second.groups; i++)
			counts[i] *= model->total;
	}
	for (uint32 i = 0; i < first.groups; i++)
		for (uint32 j = 0; j < second.groups; j++)
		{
			double part = first.part[i] * second.part[j];
			double weight = part * first.offset[i] * second.offset[j];

			records += part * counts[(Size) i * second.groups + j];
			product += weight * counts[(Size) i * second.groups + j];
			squares += weight * weight;
		}
	scale = records * first.all * second.all;
	independent =
		counts_of_model && model->component[first.number] != model->component[second.number];
	known = !independent && records > 0 && column_varies(&first) && column_varies(&second) &&
		model->total > z * sqrt(model->total_variance);
	if (known)
	{
		r = product / scale;
		off = correct_correlation(&first, &second, &r);
		off += z * fabs(r) * hypot(first.error, second.error);
		off = variance > 0 ? off + z * sqrt(variance * squares) / scale : 2;
	}
	*correlation = (RaceCorrelation){
		.known = known,
		.measured = variance > 0,
		.independent = independent,
		.r = r,
		.lower = Max(r - off, -1),
		.upper = Min(r + off, 1),
		.mean = {ldexp(first.mean, first.exponent), ldexp(second.mean, second.exponent)},
		.deviation = {ldexp(first.all, first.exponent), ldexp(second.all, second.exponent)}};
}

static Datum
next_correlation(void *context, uint64 call)
{
	Correlations *state = context;
	const RaceDomain *domains = state->open.domains;
	RaceCorrelation c;
	int pair[2];

	CHECK_FOR_INTERRUPTS();
	if (call == 0 || ++state->place[1] >= state->n)
		state->place[1] = (state->place[0] += call > 0) + 1;
	for (int i = 0; i < 2; i++)
		pair[i] = state->columns[state->place[i]];
	race_tables_correlate(&state->open, pair[0], pair[1], state->z, &c);
	race_row_add_text(&state->row, domains[pair[0]].name);
	race_row_add_text(&state->row, domains[pair[1]].name);
	race_row_add_if(&state->row, c.known, Float8GetDatum(c.r));
	race_row_add_if(&state->row, c.known, Float8GetDatum(c.lower));
	race_row_add_if(&state->row, c.known, Float8GetDatum(c.upper));
	race_row_add_text(&state->row, race_tables_source(c.measured, c.independent));
	return race_row_datum(&state->row);
}

/* Implement race_correlation(value, confidence). */
Datum
race_correlation(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_correlations, next_correlation);
}
