/*
 * madeup.c
 *		Vectors that are made up, to try out what a release would do.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "miscadmin.h"

#include "../lsh/normal.h"
#include "../lsh/philox.h"
#include "../record/vector.h"
#include "madeup.h"

#define LARGEST			1e50	/* of a number: squares and sums stay finite */

/* Three normals of different widths, in terms of the distance of the bounds */
static const double usual[][3] = {{0.5, 0.3, 0.08}, {0.3, 0.6, 0.12}, {0.2, 0.85, 0.04}};

/* The numbers of an array of rows; `columns` are expected */
static void
read_rows(ArrayType *array, uint32 columns, const char *name, RaceShape *shape)
{
	int			n;
	int			i;

	if (ARR_NDIM(array) != 2 || ARR_DIMS(array)[1] != (int) columns || ARR_HASNULL(array))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be an array of rows with %u numbers each", name, columns)));
	n = ArrayGetNItems(2, ARR_DIMS(array));
	shape->numbers = (const double *) ARR_DATA_PTR(array);
	shape->rows = n / columns;
	shape->per_row = columns;
	for (i = 0; i < n; i++)
		if (!(fabs(shape->numbers[i]) <= LARGEST))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("%s must have finite numbers, up to %g", name, LARGEST)));
}

static void
check_mixture(const RaceShape *shape)
{
	uint32		dims = shape->params->dims;
	double		sum = 0;
	uint32		i;
	uint32		j;

	for (i = 0; i < shape->rows; i++)
	{
		const double *row = shape->numbers + i * shape->per_row;
		bool		good = row[0] >= 0;

		for (j = 0; j < dims; j++)
			good = good && row[1 + dims + j] >= 0;
		if (!good)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("weights and standard deviations of a mixture must not be negative")));
		sum += row[0];
	}
	if (!(sum > 0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the weights of a mixture must have a sum above 0")));
}

/* Three normals between the bounds.  Every other column runs backwards. */
static void
use_bounds(RaceShape *shape)
{
	const double *lower = race_array(shape->params, RACE_ARRAY_LOWER);
	const double *upper = race_array(shape->params, RACE_ARRAY_UPPER);
	uint32		dims = shape->params->dims;
	double	   *row;
	uint32		i;
	uint32		j;

	shape->rows = lengthof(usual);
	shape->per_row = 1 + 2 * dims;
	row = palloc(shape->rows * shape->per_row * sizeof(double));
	shape->numbers = row;
	for (i = 0; i < shape->rows; i++, row += shape->per_row)
	{
		row[0] = usual[i][0];
		for (j = 0; j < dims; j++)
		{
			double		length = lower == NULL || upper == NULL ? INFINITY : upper[j] - lower[j];

			if (!(length <= LARGEST))
				ereport(ERROR,
						(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						 errmsg("without finite bounds in the parameters, data cannot be made up"),
						 errhint("Give race_params lower and upper, or give a mixture or public rows.")));
			row[1 + j] = lower[j] + length * (j % 2 == 0 ? usual[i][1] : 1 - usual[i][1]);
			row[1 + dims + j] = length * usual[i][2];
		}
	}
}

void
race_shape_read(const RaceParams *params, ArrayType *mixture, ArrayType *rows,
				RaceShape *shape)
{
	shape->params = params;
	shape->normal = rows == NULL;
	if (mixture != NULL && rows != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("data are made up by a mixture or by public rows, not by both")));
	if (rows != NULL)
		read_rows(rows, params->dims, "public_rows", shape);
	else if (mixture == NULL)
		use_bounds(shape);
	else
	{
		read_rows(mixture, 1 + 2 * params->dims, "mixture", shape);
		check_mixture(shape);
	}
}

/* -------------------------------------------------------------------- drawing */

/* Two numbers in (0, 1): number k of record i */
static void
uniforms(int64 seed, uint32 stream, uint32 i, uint32 k, double u[2])
{
	uint32		counter[4] = {k, i, 1 + stream, RACE_STREAM_SAMPLE};
	uint64		bits[2];
	int			j;

	race_philox((uint64) seed, counter, bits);
	for (j = 0; j < 2; j++)
		u[j] = ((double) (bits[j] >> 11) + 0.5) / 9007199254740992.0;	/* 2^53 */
}

/* A row, by weight if they have one */
static const double *
choose_row(const RaceShape *shape, double u)
{
	double		sum = 0;
	uint32		i;

	if (!shape->normal)
		return shape->numbers + Min((uint32) (u * shape->rows), shape->rows - 1) * (Size) shape->per_row;
	for (i = 0; i < shape->rows; i++)
		sum += shape->numbers[i * shape->per_row];
	u *= sum;
	for (i = 0; i < shape->rows - 1; i++)
	{
		u -= shape->numbers[i * shape->per_row];
		if (u < 0)
			break;
	}
	return shape->numbers + i * shape->per_row;
}

RaceRecords *
race_shape_draw(const RaceShape *shape, uint32 n, int64 seed, uint32 stream)
{
	RaceRecords *records = race_records_create(shape->params, CurrentMemoryContext);
	uint32		dims = shape->params->dims;
	uint32		i;
	uint32		j;

	race_records_reserve(records, n);
	for (i = 0; i < n; i++, records->n++)
	{
		double	   *x = race_records_vector(records, 0);
		double		u[2];
		const double *row;

		CHECK_FOR_INTERRUPTS();
		uniforms(seed, stream, i, 0, u);
		row = choose_row(shape, u[0]);
		for (j = 0; j < dims; j++)
		{
			if (shape->normal && j % 2 == 0)
				uniforms(seed, stream, i, 1 + j / 2, u);
			x[j] = !shape->normal ? row[j] :
				row[1 + j] + row[1 + dims + j] * race_inverse_normal(u[j % 2]);
		}
		race_vector_clip(shape->params, x, dims);
	}
	return records;
}
