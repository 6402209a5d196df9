/*
 * likely.c
 *		Moments as answers ask them.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/array.h"

#include "likely.h"

static double *
new_matrix(uint32 n, uint32 more)
{
	return palloc_extended(((Size) n + more) * n * sizeof(double), MCXT_ALLOC_HUGE);
}

void
race_noisy_open(Datum value, RaceLikely *likely)
{
	RaceNoisy  *noisy = &likely->noisy;

	race_moments_ask(value, &likely->moments);
	noisy->n = likely->moments.columns;
	noisy->count = likely->moments.count;
	noisy->diagonal = likely->moments.diagonal_sd;
	noisy->other = likely->moments.other_sd;
	noisy->m = likely->moments.matrix;
	noisy->likely = NULL;
}

void
race_likely_open(Datum value, RaceLikely *likely)
{
	RaceNoisy  *noisy = &likely->noisy;
	double	   *work;

	race_noisy_open(value, likely);
	noisy->likely = new_matrix(noisy->n, 0);
	work = new_matrix(noisy->n, 1);
	race_likely_moments(noisy, work);
	pfree(work);
}

void
race_likely_open_columns(Datum value, RaceLikely *likely)
{
	race_likely_open(value, likely);
	if (likely->moments.features > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("this is a question to moments without features"),
				 errdetail("These moments hold %u features beside their columns.",
						   likely->moments.features),
				 errhint("Make moments with features => 0 as well.")));
}

uint32
race_likely_place(const RaceLikely *likely, int column)
{
	if (column < 1 || (uint32) column > likely->moments.dims)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there is no column %d", column),
				 errdetail("The records of these moments have %u columns.", likely->moments.dims)));
	return race_moments_place(&likely->moments, column - 1);
}

int
race_likely_column(const RaceLikely *likely, uint32 place)
{
	const RaceMoments *moments = &likely->moments;

	return place > moments->features ? place - moments->features : 0;
}

double
race_likely_slope(const RaceLikely *likely, uint32 place)
{
	int			column = race_likely_column(likely, place);

	return column > 0 ? 1 / race_moments_half(&likely->moments, column - 1) : 1;
}

double
race_likely_shift(const RaceLikely *likely, uint32 place)
{
	int			column = race_likely_column(likely, place);

	return column > 0 ? -race_moments_middle(&likely->moments, column - 1) /
		race_moments_half(&likely->moments, column - 1) : 0;
}

const double *
race_likely_vector(Datum value, uint32 n, const char *what)
{
	ArrayType  *array = DatumGetArrayTypeP(value);
	const double *x = (const double *) ARR_DATA_PTR(array);
	uint32		i;

	if (ARR_NDIM(array) != 1 || ARR_HASNULL(array) || (uint32) ARR_DIMS(array)[0] != n)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be an array of %u numbers, without NULLs", what, n)));
	for (i = 0; i < n; i++)
		if (!isfinite(x[i]))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("%s must have finite numbers only", what)));
	return x;
}
