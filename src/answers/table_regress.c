/*
 * table_regress.c
 *		Linear regression of a column on others, from correlations by contingency tables
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "sketch/domain.h"
#include "sketch/result.h"
#include "answers/table_answers.h"

PG_FUNCTION_INFO_V1(race_regress_columns);

/* A column that is a linear function of others comes out with a pivot so small, or less */
#define LEAST_PIVOT 1e-6

/*
 * A regression of columns with standard deviation 1.  The target is column 0, and coefficient 0 is
 * that of the intercept.  Square matrices are [k][k].
 */
typedef struct Regression
{
	RaceOpenTables open;
	double confidence;
	double z;
	int k;
	int *columns; /* [k] */
	double *mean;
	double *deviation;
	double *r;        /* correlations; NaN: not known */
	double *error;    /* how far off those may be */
	double *inverse;  /* inverse of the correlations of predictors */
	double *ratio;    /* [k]: means in standard deviations */
	double *beta;     /* [k]: coefficients; -1 of the target */
	double *slope;    /* what the right sides of the equations add to each coefficient */
	double *standard; /* [k]: coefficients with that of the intercept */
	double *radius;   /* [k]: of the interval of each coefficient */
	bool known;
	bool solvable; /* errors of correlations leave the matrix an inverse */
	RaceResultRow row;
} Regression;

#define At(matrix, i, j) ((matrix)[(i) *regression->k + (j)])

/* Return x / y; NaN if it is no double. */
static double
quotient(double x, double y)
{
	double result = x / y;

	return isfinite(result) ? result : NAN;
}

static void
refuse_columns(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("a regression needs two or more different columns of numbers"),
			 errhint("race_correlation shows which columns have numbers.")));
}

/* Order columns by name. */
static int
compare_names(const void *a, const void *b, void *open)
{
	const RaceDomain *domains = ((const RaceOpenTables *) open)->domains;

	return strcmp(domains[*(const int *) a].name, domains[*(const int *) b].name);
}

/* Set the columns: the target and those of an array of names, or all others that have numbers. */
static void
choose_columns(Regression *regression, const char *target, ArrayType *names)
{
	const RaceOpenTables *open = &regression->open;
	Datum *elements;
	bool *nulls;
	int n = open->columns;

	if (names != NULL)
		deconstruct_array(names, TEXTOID, -1, false, TYPALIGN_INT, &elements, &nulls, &n);
	regression->columns = palloc((n + 1) * sizeof(int));
	regression->columns[0] = race_tables_column(open, target);
	regression->k = 1;
	for (int i = 0; i < n; i++)
	{
		int column = i;

		if (names != NULL && nulls[i])
			refuse_columns();
		if (names != NULL)
			column = race_tables_column(open, TextDatumGetCString(elements[i]));
		if (names != NULL ||
			(column != regression->columns[0] && race_tables_has_numbers(open, column)))
			regression->columns[regression->k++] = column;
	}
	if (names == NULL)
		qsort_arg(regression->columns + 1, regression->k - 1, sizeof(int), compare_names,
				  unconstify(RaceOpenTables *, open));
	for (int i = 0; i < regression->k; i++)
	{
		if (!race_tables_has_numbers(open, regression->columns[i]))
			refuse_columns();
		for (int j = 0; j < i; j++)
			if (regression->columns[i] == regression->columns[j])
				refuse_columns();
	}
	if (regression->k < 2)
		refuse_columns();
}

/* Compute the correlations of all pairs. */
static void
correlate(Regression *regression)
{
	int k = regression->k;

	for (int i = 0; i < k; i++)
	{
		At(regression->r, i, i) = 1;
		for (int j = i + 1; j < k; j++)
		{
			RaceCorrelation c;

			CHECK_FOR_INTERRUPTS();
			race_tables_correlate(&regression->open, regression->columns[i], regression->columns[j],
								  regression->z, &c);
			At(regression->r, i, j) = At(regression->r, j, i) = c.known ? c.r : NAN;
			At(regression->error, i, j) = At(regression->error, j, i) =
				Max(c.upper - c.r, c.r - c.lower);
			regression->mean[i] = c.mean[0];
			regression->mean[j] = c.mean[1];
			regression->deviation[i] = c.deviation[0];
			regression->deviation[j] = c.deviation[1];
		}
	}
}

/* Invert the correlations of predictors.  Return false where noise, or they, leave no inverse. */
static bool
invert(Regression *regression)
{
	int k = regression->k;
	double *left = palloc(k * k * sizeof(double));
	double *right = regression->inverse;

	memcpy(left, regression->r, k * k * sizeof(double));
	for (int i = 1; i < k; i++)
		At(right, i, i) = 1;
	for (int p = 1; p < k; p++)
	{
		double pivot = At(left, p, p);

		if (isnan(At(regression->r, 0, p)) || !(pivot > LEAST_PIVOT))
			return false;
		for (int j = 1; j < k; j++)
		{
			At(left, p, j) /= pivot;
			At(right, p, j) /= pivot;
		}
		for (int i = 1; i < k; i++)
		{
			double factor = At(left, i, p);

			for (int j = 1; j < k && i != p; j++)
			{
				At(left, i, j) -= factor * At(left, p, j);
				At(right, i, j) -= factor * At(right, p, j);
			}
		}
	}
	return true;
}

/* Solve the equations of predictors with standard deviation 1. */
static void
solve(Regression *regression)
{
	int k = regression->k;

	regression->beta[0] = -1;
	for (int i = 0; i < k; i++)
	{
		double ratio = quotient(regression->mean[i], regression->deviation[i]);

		regression->ratio[i] = isnan(ratio) ? 0 : ratio;
	}
	regression->standard[0] = regression->ratio[0];
	for (int i = 1; i < k; i++)
	{
		for (int j = 1; j < k; j++)
		{
			double slope = At(regression->inverse, i, j);

			At(regression->slope, i, j) = slope;
			At(regression->slope, 0, j) -= regression->ratio[i] * slope;
			regression->beta[i] += slope * At(regression->r, 0, j);
		}
		regression->standard[i] = regression->beta[i];
		regression->standard[0] -= regression->beta[i] * regression->ratio[i];
	}
}

/*
 * Set the radii of intervals: the first derivatives of coefficients, times how far off each
 * correlation may be, and for the intercept each mean.  Correlations between columns so far off may
 * be a matrix that has no inverse: then there is no interval.
 */
static void
bound(Regression *regression)
{
	int k = regression->k;
	const double *slope = regression->slope;
	const double *beta = regression->beta;

	regression->solvable = true;
	for (int i = 0; i < k; i++)
	{
		double square = 0;
		double sum = 0;

		for (int p = 0; p < k; p++)
			for (int q = 0; q < k; q++)
			{
				double error = At(regression->error, p, q);

				if (p < q)
					square +=
						pow((At(slope, i, p) * beta[q] + At(slope, i, q) * beta[p]) * error, 2);
				if (i > 0 && p > 0 && q > 0)
					sum += fabs(At(regression->inverse, i, p)) * error;
			}
		regression->radius[i] = sqrt(square);
		regression->solvable &= sum < 1;
	}
	for (int i = 0; i < k; i++)
	{
		double width = race_tables_mean_width(&regression->open, regression->columns[i],
											  regression->confidence);
		double off = beta[i] * quotient(width, regression->deviation[i]) / 2;

		regression->radius[0] = hypot(regression->radius[0], isnan(off) ? 0 : off);
	}
}

static double *
numbers(int n)
{
	return palloc0(n * sizeof(double));
}

static void
start_regression(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	Regression *regression = palloc0(sizeof(Regression));
	int k;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(3))
		return;
	race_row_start(&regression->row, fcinfo);
	regression->confidence = race_confidence_arg(fcinfo, 3);
	race_tables_open(PG_GETARG_DATUM(0), &regression->open);
	regression->z = race_tables_z(&regression->open, regression->confidence);
	choose_columns(regression, text_to_cstring(PG_GETARG_TEXT_PP(1)),
				   PG_ARGISNULL(2) ? NULL : PG_GETARG_ARRAYTYPE_P(2));
	k = regression->k;
	regression->mean = numbers(k);
	regression->deviation = numbers(k);
	regression->ratio = numbers(k);
	regression->beta = numbers(k);
	regression->standard = numbers(k);
	regression->radius = numbers(k);
	regression->r = numbers(k * k);
	regression->error = numbers(k * k);
	regression->inverse = numbers(k * k);
	regression->slope = numbers(k * k);
	correlate(regression);
	regression->known = invert(regression); /* noise decides it, so it is no error */
	if (regression->known)
	{
		solve(regression);
		bound(regression);
	}
	call->user_fctx = regression;
	call->max_calls = k;
}

/* Add a number in units of the target and the column, or NULL. */
static void
add_scaled(Regression *regression, double scale, bool known, double standard)
{
	double number = scale * standard;

	race_row_add_if(&regression->row, known && isfinite(number), Float8GetDatum(number));
}

static Datum
next_of_regression(void *state, uint64 i)
{
	Regression *regression = state;
	double standard = regression->standard[i];
	double radius = regression->radius[i];
	double scale = i == 0 ? regression->deviation[0] :
							quotient(regression->deviation[0], regression->deviation[i]);
	bool bounded = regression->known && regression->solvable;

	race_row_add_text(&regression->row,
					  i == 0 ? "intercept" : regression->open.domains[regression->columns[i]].name);
	add_scaled(regression, scale, regression->known, standard);
	add_scaled(regression, scale, bounded, standard - radius);
	add_scaled(regression, scale, bounded, standard + radius);
	return race_row_datum(&regression->row);
}

/* Implement race_regress(value, target, columns, confidence). */
Datum
race_regress_columns(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_regression, next_of_regression);
}
