/*
 * table_heatmap.c
 *		The density of two columns from private contingency tables
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "hash/quantiles.h"
#include "sketch/domain.h"
#include "sketch/result.h"
#include "answers/table_answers.h"

PG_FUNCTION_INFO_V1(race_heatmap_column1);

#define MOST_STEPS 500
#define CONFIDENCE 0.95

/* Lines of a column, `width` of them together in each of n steps */
typedef struct Axis
{
	const RaceDomain *domain;
	const RaceTableLine *lines;
	uint32 n_lines; /* number of lines with numbers, which come first */
	uint32 width;
	uint32 first; /* first step that is shown */
	uint32 n;     /* number of steps that are shown */
} Axis;

typedef struct Heatmap
{
	RaceCrosstab *crosstab;
	Axis axis[2];
	double records; /* as a divisor; NaN where too little is known */
	RaceResultRow row;
} Heatmap;

static void
check_columns(const RaceOpenTables *open, const int *columns, int steps)
{
	race_tables_check_numbers(&open->domains[columns[1]]);
	race_tables_check_numbers(&open->domains[columns[0]]);
	if (steps < 2 || steps > MOST_STEPS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("steps must be between 2 and %d", MOST_STEPS)));
	if (columns[0] == columns[1])
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("both columns are \"%s\"", open->domains[columns[0]].name),
				 errhint("race_curve and race_histogram are of one column.")));
}

/* Return the number of records that have numbers of both columns; NaN where too little is known. */
static double
count_records(const RaceOpenTables *open, const int *columns)
{
	const double **weights = palloc0(open->columns * sizeof(double *));
	RaceTableAnswer answer;

	for (int side = 0; side < 2; side++)
	{
		const RaceDomain *domain = &open->domains[columns[side]];
		double *numbers = palloc0(RaceDomainCells(domain) * sizeof(double));

		for (uint32 i = 0; i < domain->n; i++)
			numbers[i] = 1;
		weights[columns[side]] = numbers;
	}
	race_tables_ask(open, weights, CONFIDENCE, &answer);
	return (answer.lower > 0 || !answer.measured) && !answer.independent && answer.count > 0 ?
		answer.count :
		NAN;
}

/* Return a bound of the map from an array of two, or another value if there is none. */
static double
read_bound(FunctionCallInfo fcinfo, int arg, int side, double otherwise)
{
	Datum *bounds;
	bool *nulls;
	int n;

	if (PG_ARGISNULL(arg))
		return otherwise;
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(arg), FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL,
					  TYPALIGN_DOUBLE, &bounds, &nulls, &n);
	return side >= n || nulls[side] ? otherwise : DatumGetFloat8(bounds[side]);
}

/* Return the lower edge of the first line of a step, or the upper one of its last. */
static double
edge_of_step(const Axis *axis, uint32 step, bool upper)
{
	uint32 line = Min((step + upper) * axis->width, axis->n_lines) - upper;

	return upper ? race_tables_edge(axis->domain, axis->lines[line].last + 1) :
				   race_tables_edge(axis->domain, axis->lines[line].first);
}

static double
middle_of_step(const Axis *axis, uint32 step)
{
	return race_tables_middle(edge_of_step(axis, step, false), edge_of_step(axis, step, true));
}

/* Join lines so that there are at most `steps`, and choose those whose middle is within bounds. */
static void
divide_axis(Axis *axis, int steps, double lower, double upper)
{
	uint32 all;

	while (axis->n_lines > 0 && axis->lines[axis->n_lines - 1].first >= axis->domain->n)
		axis->n_lines--;
	axis->width = (axis->n_lines - 1) / (uint32) steps + 1;
	all = (axis->n_lines - 1) / axis->width + 1;
	for (axis->first = 0; axis->first < all && middle_of_step(axis, axis->first) < lower;)
		axis->first++;
	while (axis->first + axis->n < all && middle_of_step(axis, axis->first + axis->n) <= upper)
		axis->n++;
}

static void
start_heatmap(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	Heatmap *heatmap = palloc0(sizeof(Heatmap));
	RaceOpenTables open;
	int columns[2];

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2) || PG_ARGISNULL(3))
		return;
	race_row_start(&heatmap->row, fcinfo);
	race_tables_open(PG_GETARG_DATUM(0), &open);
	for (int side = 0; side < 2; side++)
		columns[side] = race_tables_column(&open, text_to_cstring(PG_GETARG_TEXT_PP(1 + side)));
	check_columns(&open, columns, PG_GETARG_INT32(3));
	heatmap->records = count_records(&open, columns);
	heatmap->crosstab = race_crosstab_open(&open, columns[0], columns[1], CONFIDENCE);
	for (int side = 0; side < 2; side++)
	{
		Axis *axis = &heatmap->axis[side];

		axis->domain = &open.domains[columns[side]];
		axis->lines = race_crosstab_lines(heatmap->crosstab, side == 1, &axis->n_lines);
		divide_axis(axis, PG_GETARG_INT32(3), read_bound(fcinfo, 4, side, -INFINITY),
					read_bound(fcinfo, 5, side, INFINITY));
	}
	call->user_fctx = heatmap;
	call->max_calls = (uint64) heatmap->axis[0].n * heatmap->axis[1].n;
}

/* Add up the cells of a step of each axis; their noise is independent where it is known. */
static void
add_up_cells(const Heatmap *heatmap, const uint32 *step, RaceTableAnswer *sum)
{
	const Axis *axis = heatmap->axis;
	uint32 cells = 0;

	*sum = (RaceTableAnswer){.measured = true};
	for (uint32 i = step[0] * axis[0].width;
		 i < Min((step[0] + 1) * axis[0].width, axis[0].n_lines); i++)
		for (uint32 j = step[1] * axis[1].width;
			 j < Min((step[1] + 1) * axis[1].width, axis[1].n_lines); j++)
		{
			RaceTableAnswer answer = {0};

			race_crosstab_ask(heatmap->crosstab, i, j, &answer);
			sum->count += answer.independent ? 0 : answer.count;
			sum->estimate += answer.estimate;
			sum->variance += answer.variance;
			sum->lower += answer.lower;
			sum->upper += answer.upper;
			sum->measured &= answer.measured;
			sum->independent |= answer.independent;
			cells++;
		}
	if (cells > 1 && sum->measured)
	{
		double off = race_inverse_normal((1 + CONFIDENCE) / 2) * sqrt(sum->variance);

		sum->lower = Max(sum->estimate - off, 0);
		sum->upper = Max(sum->estimate + off, 0);
	}
}

/* Add the density of a cell; NULL where it is not known, or no double is so large or so small. */
static void
add_density(Heatmap *heatmap, bool known, double count, const double *width)
{
	/* one after the other, since the area of a cell need not be a double */
	double density = count / heatmap->records / width[0] / width[1];

	race_row_add_if(&heatmap->row, known && isfinite(density) && (density != 0 || count == 0),
					Float8GetDatum(density));
}

static Datum
next_of_heatmap(void *state, uint64 number)
{
	Heatmap *heatmap = state;
	const Axis *axis = heatmap->axis;
	uint32 step[2] = {axis[0].first + (uint32) (number / axis[1].n),
					  axis[1].first + (uint32) (number % axis[1].n)};
	double width[2];
	RaceTableAnswer sum;

	CHECK_FOR_INTERRUPTS();
	add_up_cells(heatmap, step, &sum);
	for (int side = 0; side < 2; side++)
	{
		width[side] = edge_of_step(&axis[side], step[side], true) -
			edge_of_step(&axis[side], step[side], false);
		race_row_add(&heatmap->row, Float8GetDatum(middle_of_step(&axis[side], step[side])));
	}
	add_density(heatmap, !sum.independent, sum.count, width);
	add_density(heatmap, true, sum.lower, width);
	add_density(heatmap, true, sum.upper, width);
	for (int side = 0; side < 2; side++)
		race_row_add_text(
			&heatmap->row,
			race_domain_number_text(axis[side].domain, middle_of_step(&axis[side], step[side])));
	return race_row_datum(&heatmap->row);
}

/* Implement race_heatmap(value, column1, column2, steps, lower, upper). */
Datum
race_heatmap_column1(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_heatmap, next_of_heatmap);
}
