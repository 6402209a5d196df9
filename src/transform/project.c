/*
 * project.c
 *		race_project: what a linear map makes of a vector.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"

#include "pull.h"

PG_FUNCTION_INFO_V1(race_project);

#define MOST_OUTPUTS	1024

static bool
all_finite(ArrayType *array, int n)
{
	const double *x = (const double *) ARR_DATA_PTR(array);
	int			i;

	for (i = 0; i < n; i++)
		if (!isfinite(x[i]))
			return false;
	return true;
}

static void
check_map(ArrayType *matrix, ArrayType *offset)
{
	int			columns;

	if (ARR_NDIM(matrix) != 2 || ARR_HASNULL(matrix) || ARR_DIMS(matrix)[0] > MOST_OUTPUTS ||
		!all_finite(matrix, ARR_DIMS(matrix)[0] * ARR_DIMS(matrix)[1]))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a matrix must have 1 to %d rows of finite numbers", MOST_OUTPUTS)));
	columns = ARR_DIMS(matrix)[1];
	if (ARR_NDIM(offset) != 1 || ARR_HASNULL(offset) || ARR_DIMS(offset)[0] != columns ||
		!all_finite(offset, columns))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("an offset must be as many finite numbers as the matrix has columns")));
}

static ArrayType *
array_of(const double *numbers, int n)
{
	Datum	   *datums = palloc(n * sizeof(Datum));
	int			i;

	for (i = 0; i < n; i++)
		datums[i] = Float8GetDatum(numbers[i]);
	return construct_array(datums, n, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL,
						   TYPALIGN_DOUBLE);
}

/*
 * race_project(x, matrix, offset, radius).  A vector of another length or with a NULL, which is a
 * matter of data, gives NULL, so that a release leaves it out.
 */
Datum
race_project(PG_FUNCTION_ARGS)
{
	ArrayType  *x = PG_GETARG_ARRAYTYPE_P(0);
	ArrayType  *matrix = PG_GETARG_ARRAYTYPE_P(1);
	ArrayType  *offset = PG_GETARG_ARRAYTYPE_P(2);
	double		radius = PG_GETARG_FLOAT8(3);
	const double *from = (const double *) ARR_DATA_PTR(x);
	const double *row = (const double *) ARR_DATA_PTR(matrix);
	const double *origin = (const double *) ARR_DATA_PTR(offset);
	double		to[MOST_OUTPUTS];
	int			outputs;
	int			columns;
	int			i;
	int			j;

	check_map(matrix, offset);
	if (!(radius > 0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a radius must be above 0")));
	outputs = ARR_DIMS(matrix)[0];
	columns = ARR_DIMS(matrix)[1];
	if (ARR_NDIM(x) != 1 || ARR_HASNULL(x) || ARR_DIMS(x)[0] != columns)
		PG_RETURN_NULL();
	for (i = 0; i < outputs; i++, row += columns)
		for (to[i] = j = 0; j < columns; j++)
			to[i] += row[j] * (from[j] - origin[j]);
	race_pull(to, outputs, radius);
	PG_RETURN_ARRAYTYPE_P(array_of(to, outputs));
}
