/*
 * functions.c
 *		race_moments_matrix: the contents of moments.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"

#include "../server/result.h"
#include "moments.h"

PG_FUNCTION_INFO_V1(race_moments_matrix);

static Datum
array_of(const double *x, int rows, int columns)
{
	Datum	   *elements = palloc((Size) rows * columns * sizeof(Datum));
	int			lengths[2] = {rows, columns};
	int			bounds[2] = {1, 1};
	int			i;

	for (i = 0; i < rows * columns; i++)
		elements[i] = Float8GetDatum(x[i]);
	return PointerGetDatum(construct_md_array(elements, NULL, rows == 1 ? 1 : 2,
											  rows == 1 ? &lengths[1] : lengths, bounds,
											  FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL,
											  TYPALIGN_DOUBLE));
}

/* By what a column of u is multiplied, and what is added, in the units of the table */
static double
half_of(const RaceMoments *moments, uint32 column)
{
	if (column < moments->features)
		return 1;
	return race_moments_half(moments, column - moments->features);
}

static double
middle_of(const RaceMoments *moments, uint32 column)
{
	if (column < moments->features)
		return 0;
	return race_moments_middle(moments, column - moments->features);
}

/* race_moments_matrix(moments): count, means and covariances of the columns of u */
Datum
race_moments_matrix(PG_FUNCTION_ARGS)
{
	RaceMoments moments;
	RaceResultRow row;
	double	   *means;
	double	   *covariances;
	double		n;
	uint32		d;
	uint32		i;
	uint32		j;

	race_row_start(&row, fcinfo);
	race_moments_ask(PG_GETARG_DATUM(0), &moments);
	d = moments.columns - 1;
	n = moments.matrix[0] > 0 ? moments.matrix[0] : 1;
	means = palloc(d * sizeof(double));
	covariances = palloc((Size) d * d * sizeof(double));
	for (i = 0; i < d; i++)
		for (j = 0; j < d; j++)
		{
			const double *sums = moments.matrix;
			double		product = sums[(Size) (i + 1) * moments.columns + j + 1];

			covariances[(Size) i * d + j] = half_of(&moments, i) * half_of(&moments, j) *
				(product / n - sums[i + 1] / n * (sums[j + 1] / n));
		}
	for (i = 0; i < d; i++)
		means[i] = middle_of(&moments, i) + half_of(&moments, i) * (moments.matrix[i + 1] / n);
	race_row_add(&row, Float8GetDatum(moments.count));
	race_row_add(&row, array_of(means, 1, d));
	race_row_add(&row, array_of(covariances, d, d));
	race_row_add(&row, array_of(moments.matrix, moments.columns, moments.columns));
	race_row_add(&row, Float8GetDatum(moments.count_sd));
	race_row_add(&row, Float8GetDatum(moments.other_sd));
	race_row_add(&row, Float8GetDatum(moments.diagonal_sd));
	PG_RETURN_DATUM(race_row_datum(&row));
}
