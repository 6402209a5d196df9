/*
 * moments.c
 *		Sketches of moments as answers see them
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"

#include "hash/kernel.h"
#include "hash/params.h"
#include "sketch/moments.h"
#include "hash/kind.h"
#include "sketch/result.h"
#include "sketch/rows_cache.h"

/*
 * What answers from moments need: the matrix of sums and products, and its noise.
 */

/* Return the sums and products as double, in units of scaled columns. */
static double *
full_matrix(const RaceView *view, uint32 columns)
{
	double *matrix = palloc_extended((Size) columns * columns * sizeof(double), MCXT_ALLOC_HUGE);
	double unit = (double) race_record_unit(view->params);
	int64 *row = palloc(columns * sizeof(int64));

	for (uint32 i = 0; i < columns; i++)
	{
		race_counters_load(view->counters, view->width, race_product_counter(columns, i, i),
						   columns - i, row);
		for (uint32 j = i; j < columns; j++)
			matrix[(Size) i * columns + j] = matrix[(Size) j * columns + i] =
				(double) row[j - i] / unit;
	}
	pfree(row);
	return matrix;
}

void
race_moments_ask(Datum value, RaceMoments *moments)
{
	RaceView view;
	const RaceNoise *noise;

	race_sketch_view_kind(value, RACE_KIND_MOMENTS,
						  "Build it with parameters of race_moment_params.", &view);
	noise = &view.header->noise;
	race_check_askable(noise);
	memset(moments, 0, sizeof(RaceMoments));
	moments->header = view.header;
	moments->params = view.params;
	moments->exact = noise->status == RACE_STATUS_EXACT;
	moments->columns = race_moments_columns(view.params);
	moments->matrix = full_matrix(&view, moments->columns);
	moments->other_sd = sqrt(noise->counter_variance) / (double) race_record_unit(view.params);
	moments->diagonal_sd =
		moments->other_sd * (noise->mechanism == RACE_MECHANISM_LAPLACE ? 1 : sqrt(2));
	moments->count = (double) view.header->count;
	moments->count_sd = sqrt(noise->count_variance);
	moments->dims = view.params->dims;
	moments->lower = race_array(view.params, RACE_ARRAY_LOWER);
	moments->upper = race_array(view.params, RACE_ARRAY_UPPER);
	moments->norm = view.params->moments.norm;
	moments->features = view.params->moments.features;
	moments->inputs = race_moments_inputs(view.params);
	moments->targets = view.params->moments.targets;
	moments->transform = race_array(view.params, RACE_ARRAY_MATRIX);
	moments->offset = race_array(view.params, RACE_ARRAY_OFFSET);
}

RaceRowsEntry *
race_moments_hold(const RaceMoments *moments)
{
	return race_rows_acquire(moments->params);
}

void
race_moments_release(RaceRowsEntry *entry)
{
	race_rows_release(entry);
}

static double
scale_number(const RaceMoments *moments, uint32 i, double x)
{
	x = Min(Max(x, moments->lower[i]), moments->upper[i]);
	return race_moments_scaled(moments->params, i, x);
}

void
race_moments_map(const RaceMoments *moments, const RaceRowsEntry *entry, const double *record,
				 double *out)
{
	double *inputs;

	if (moments->features > 0)
	{
		inputs = palloc(moments->inputs * sizeof(double));
		for (uint32 i = 0; i < moments->inputs; i++)
			inputs[i] = scale_number(moments, i, record[i]);
		race_moments_features(moments->params, race_rows_of(entry), inputs, out);
		out += moments->features;
		pfree(inputs);
	}
	if (moments->transform != NULL)
	{
		inputs = palloc(moments->dims * sizeof(double));
		for (uint32 i = 0; i < moments->dims; i++)
			inputs[i] = Min(Max(record[i], moments->lower[i]), moments->upper[i]);
		for (uint32 i = 0; i < moments->dims; i++)
			out[i] = race_moments_transformed(moments->params, i, inputs);
		pfree(inputs);
		return;
	}
	for (uint32 i = 0; i < moments->dims; i++)
		*out++ = scale_number(moments, i, record[i]);
}

uint32
race_moments_place(const RaceMoments *moments, uint32 i)
{
	return 1 + moments->features + i;
}

double
race_moments_half(const RaceMoments *moments, uint32 i)
{
	double half = moments->upper[i] / 2 - moments->lower[i] / 2;

	return i < moments->inputs ? half : half / RACE_TARGET_WEIGHT;
}

double
race_moments_middle(const RaceMoments *moments, uint32 i)
{
	return moments->lower[i] / 2 + moments->upper[i] / 2;
}

/*
 * race_moments_matrix: the contents of moments.
 */

PG_FUNCTION_INFO_V1(race_moments_matrix);

static Datum
array_of(const double *x, int rows, int columns)
{
	Datum *elements = palloc((Size) rows * columns * sizeof(Datum));
	int lengths[2] = {rows, columns};
	int bounds[2] = {1, 1};

	for (int i = 0; i < rows * columns; i++)
		elements[i] = Float8GetDatum(x[i]);
	return PointerGetDatum(construct_md_array(elements, NULL, rows == 1 ? 1 : 2,
											  rows == 1 ? &lengths[1] : lengths, bounds, FLOAT8OID,
											  sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

/* Return by what a column of u is multiplied; and what is added, in the units of the table. */
static double
half_of(const RaceMoments *moments, uint32 column)
{
	if (column < moments->features)
		return 1;
	if (moments->transform != NULL)
		return 1 / RACE_TRANSFORMED;
	return race_moments_half(moments, column - moments->features);
}

static double
middle_of(const RaceMoments *moments, uint32 column)
{
	if (column < moments->features || moments->transform != NULL)
		return 0;
	return race_moments_middle(moments, column - moments->features);
}

/* Return count, means and covariances of the columns of u: race_moments_matrix(moments). */
Datum
race_moments_matrix(PG_FUNCTION_ARGS)
{
	RaceMoments moments;
	RaceResultRow row;
	double *means;
	double *covariances;
	double n;
	uint32 d;

	race_row_start(&row, fcinfo);
	race_moments_ask(PG_GETARG_DATUM(0), &moments);
	d = moments.columns - 1;
	n = moments.matrix[0] > 0 ? moments.matrix[0] : 1;
	means = palloc(d * sizeof(double));
	covariances = palloc((Size) d * d * sizeof(double));
	for (uint32 i = 0; i < d; i++)
		for (uint32 j = 0; j < d; j++)
		{
			const double *sums = moments.matrix;
			double product = sums[(Size) (i + 1) * moments.columns + j + 1];

			covariances[(Size) i * d + j] = half_of(&moments, i) * half_of(&moments, j) *
				(product / n - sums[i + 1] / n * (sums[j + 1] / n));
		}
	for (uint32 i = 0; i < d; i++)
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
