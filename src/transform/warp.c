/*
 * warp.c
 *		Columns replaced by their places among quantiles.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"

#include "warp.h"

PG_FUNCTION_INFO_V1(race_warp);

double
race_warp_number(const double *knots, int n, double x)
{
	int			below = 0;
	int			upto;

	if (!isfinite(x))
		return x;
	while (below < n && knots[below] < x)
		below++;
	for (upto = below; upto < n && knots[upto] == x;)
		upto++;
	if (upto > below)
		return (below + upto - 1) / 2.0;
	if (below == 0 || below == n)
		return below == 0 ? 0 : n - 1;
	/* halves, so that no difference is infinite */
	return below - 1 + (x / 2 - knots[below - 1] / 2) / (knots[below] / 2 - knots[below - 1] / 2);
}

/* ------------------------------------------------------------- race_suggest */

/*
 * Are the knots of a column far from a line?  A few hundred normally distributed numbers leave
 * less than 1 % of the variance of their knots unexplained.
 */
#define STRAIGHT	0.03

static bool
bends(const double *knots)
{
	const int	n = RACE_WARP_KNOTS;
	double		mean = 0;
	double		along = 0;
	double		squares = 0;
	double		length = 0;
	int			i;

	for (i = 0; i < n; i++)
		mean += knots[i] / n;
	for (i = 0; i < n; i++)
	{
		double		place = i - (n - 1) / 2.0;

		along += place * (knots[i] - mean);
		squares += (knots[i] - mean) * (knots[i] - mean);
		length += place * place;
	}
	return squares - along * along / length > STRAIGHT * squares;
}

bool
race_warp_learn(const RaceExamples *examples, double *knots)
{
	int			n = examples->n;
	double	   *column = palloc(n * sizeof(double));
	bool		bent = false;
	int			i;
	int			j;

	for (j = 0; j < examples->dims; j++)
	{
		for (i = 0; i < n; i++)
			column[i] = examples->x[i * examples->dims + j];
		race_suggest_sort(column, n);
		for (i = 0; i < RACE_WARP_KNOTS; i++)
		{
			/* normal scores from -2.25 to 2.25 */
			double		score = (i - (RACE_WARP_KNOTS - 1) / 2.0) / 2;
			double		share = 0.5 * erfc(-score * M_SQRT1_2);

			knots[j * RACE_WARP_KNOTS + i] = column[(int) (share * (n - 1) + 0.5)];
		}
		bent |= bends(knots + j * RACE_WARP_KNOTS);
	}
	pfree(column);
	return bent;
}

RaceExamples
race_warp_examples(const RaceExamples *examples, const double *knots)
{
	RaceExamples warped = *examples;
	int			i;

	warped.x = palloc((Size) warped.n * warped.dims * sizeof(double));
	for (i = 0; i < warped.n * warped.dims; i++)
		warped.x[i] = race_warp_number(knots + i % warped.dims * RACE_WARP_KNOTS,
									   RACE_WARP_KNOTS, examples->x[i]);
	return warped;
}

/* ------------------------------------------------------------------- in SQL */

static void
check_knots(ArrayType *array, int *columns, int *n)
{
	bool		good = ARR_NDIM(array) == 2 && !ARR_HASNULL(array) &&
		ARR_DIMS(array)[1] >= 2 && ARR_DIMS(array)[1] <= RACE_WARP_MOST;
	const double *knots = (const double *) ARR_DATA_PTR(array);
	int			i;

	for (i = 0; good && i < ARR_DIMS(array)[0] * ARR_DIMS(array)[1]; i++)
		good = isfinite(knots[i]) && (i % ARR_DIMS(array)[1] == 0 || knots[i] >= knots[i - 1]);
	if (!good)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("knots must be a row of 2 to %d finite numbers for each column, in ascending order",
						RACE_WARP_MOST)));
	*columns = ARR_DIMS(array)[0];
	*n = ARR_DIMS(array)[1];
}

/*
 * race_warp(x, knots).  A vector of another length or with a NULL, which is a matter of data,
 * gives NULL, so that a release leaves it out.
 */
Datum
race_warp(PG_FUNCTION_ARGS)
{
	ArrayType  *x = PG_GETARG_ARRAYTYPE_P(0);
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(1);
	const double *knots = (const double *) ARR_DATA_PTR(array);
	const double *from = (const double *) ARR_DATA_PTR(x);
	Datum	   *to;
	int			columns;
	int			n;
	int			i;

	check_knots(array, &columns, &n);
	if (ARR_NDIM(x) != 1 || ARR_HASNULL(x) || ARR_DIMS(x)[0] != columns)
		PG_RETURN_NULL();
	to = palloc(columns * sizeof(Datum));
	for (i = 0; i < columns; i++)
		to[i] = Float8GetDatum(race_warp_number(knots + (Size) i * n, n, from[i]));
	PG_RETURN_ARRAYTYPE_P(construct_array(to, columns, FLOAT8OID, sizeof(float8),
										  FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}
