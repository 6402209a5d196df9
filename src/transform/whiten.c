/*
 * whiten.c
 *		race_whiten: a transform that makes the columns of a table alike.
 *
 * Let o be the mean of the vectors, and C = L L' their covariance.  With M = L^-1,
 * M (x - o) has mean 0 and covariance 1.  So distances are in standard deviations, and
 * what columns share counts once (Mahalanobis distance).  With labels, C is the covariance
 * within classes.
 *
 * C is estimated from standard deviations and a shrunken correlation matrix (eigen.h).  A
 * column that is constant, or a linear combination of columns before it, is left out: M has
 * no row for it, and its column of M is 0.  Vectors that obey the same relations keep their
 * Mahalanobis distances, and others are not told apart by what the public rows do not show.
 */
#include "postgres.h"

#include <float.h>
#include <math.h>

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"

#include "../linear/eigen.h"
#include "../server/result.h"
#include "whiten.h"

PG_FUNCTION_INFO_V1(race_whiten_step);
PG_FUNCTION_INFO_V1(race_whiten_final);

/*
 * A standard deviation below this share of the mean is that of rounding errors: the column
 * is constant.
 */
#define LEAST_DEVIATION		(16 * DBL_EPSILON)

/* ----------------------------------------------------------------- columns */

static void
list_kept(RaceColumns *columns, uint32 dims)
{
	uint32		i;

	columns->n = 0;
	for (i = 0; i < dims; i++)
		if (columns->keep[i])
			columns->kept[columns->n++] = i;
}

/* The standard deviations within classes; constant columns are not kept. */
static void
find_deviations(const RaceScatter *scatter, RaceColumns *columns)
{
	uint32		i;
	uint32		c;

	for (i = 0; i < scatter->dims; i++)
	{
		double		deviation = race_scatter_deviation(scatter, i);
		double		largest = 0;

		for (c = 0; c < scatter->n_classes; c++)
			largest = fmax(largest, fabs(race_scatter_class_mean(scatter, c)[i]));
		if (!isfinite(deviation) || !isfinite(largest))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("the numbers of column %u are too large for a transform", i + 1),
					 errdetail("Their variance overflows.")));
		columns->keep[i] = deviation > LEAST_DEVIATION * largest;
		columns->deviation[i] = columns->keep[i] ? deviation : 0;
	}
	list_kept(columns, scatter->dims);
}

/* The correlations of columns that are kept, [n][n], palloc'd */
static double *
correlations(const RaceScatter *scatter, const RaceColumns *columns)
{
	double		freedom = race_scatter_freedom(scatter);
	uint32		n = columns->n;
	double	   *r = palloc((Size) n * n * sizeof(double));
	uint32		i;
	uint32		j;

	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++)
		{
			uint32		a = columns->kept[i];
			uint32		b = columns->kept[j];

			/* one after the other: their product may overflow, or be 0 */
			r[(Size) i * n + j] = i == j ? 1 :
				race_scatter_product(scatter, a, b) / freedom /
				columns->deviation[a] / columns->deviation[b];
		}
	return r;
}

/* Do not keep columns that are linear combinations of others. */
static void
drop_combinations(const RaceScatter *scatter, RaceColumns *columns)
{
	double	   *r = correlations(scatter, columns);
	double	   *work = palloc(RACE_LINEAR_WORK(columns->n) * sizeof(double));
	bool		independent[RACE_SCATTER_DIMS];
	uint32		i;

	race_independent(r, columns->n, race_scatter_freedom(scatter), work, independent);
	for (i = 0; i < columns->n; i++)
		columns->keep[columns->kept[i]] = independent[i];
	list_kept(columns, scatter->dims);
	pfree(work);
	pfree(r);
}

/* ----------------------------------------------------------------- messages */

/* Append the numbers of columns that are left out, constant or other ones, if there are any. */
static void
append_left_out(StringInfo text, const char *what, const RaceColumns *columns, uint32 dims,
				bool constant)
{
	const char *separator = what;
	uint32		i;

	for (i = 0; i < dims; i++)
		if (!columns->keep[i] && (columns->deviation[i] == 0) == constant)
		{
			appendStringInfo(text, "%s%u", separator, i + 1);
			separator = ", ";
		}
	if (separator != what)
		appendStringInfoString(text, ". ");
}

static void
tell_left_out(const RaceColumns *columns, const RaceScatter *scatter, const char *aggregate)
{
	const char *constant = scatter->n_classes == 1 ? "Constant: " : "Constant within each label: ";
	StringInfoData detail;

	if (columns->n == scatter->dims)
		return;
	if (columns->n == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s finds no column that is not constant%s", aggregate,
						scatter->n_classes == 1 ? "" : " within each label")));
	initStringInfo(&detail);
	append_left_out(&detail, constant, columns, scatter->dims, true);
	append_left_out(&detail, "Linear combinations of columns before them: ", columns,
					scatter->dims, false);
	detail.data[detail.len - 1] = '\0';
	ereport(NOTICE,
			(errmsg("%s leaves columns out", aggregate),
			 errdetail_internal("%s", detail.data)));
}

/* -------------------------------------------------------------- the transform */

bool
race_whiten_columns(const RaceScatter *scatter, const RaceColumns *columns, double ridge,
					RaceWhitening *whitening)
{
	uint32		n = columns->n;
	double	   *r = correlations(scatter, columns);
	double	   *work = palloc(RACE_LINEAR_WORK(n) * sizeof(double));
	bool		found;
	uint32		i;
	uint32		j;

	for (i = 0; i < n; i++)
		r[(Size) i * n + i] += ridge;
	race_shrink(r, n, race_scatter_freedom(scatter), work);
	found = race_inverse_root(r, n);
	whitening->dims = scatter->dims;
	whitening->outputs = n;
	whitening->matrix = palloc0((Size) n * scatter->dims * sizeof(double));
	for (i = 0; i < n && found; i++)
		for (j = 0; j <= i; j++)
			whitening->matrix[(Size) i * scatter->dims + columns->kept[j]] =
				r[(Size) i * n + j] / columns->deviation[columns->kept[j]];
	pfree(work);
	pfree(r);
	return found;
}

void
race_whitening_of(const RaceScatter *scatter, const char *aggregate, RaceWhitening *whitening)
{
	RaceColumns columns;

	if (race_scatter_freedom(scatter) < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg(scatter->n_classes == 1 ? "%s needs two vectors or more" :
						"%s needs a label with two vectors or more", aggregate)));
	find_deviations(scatter, &columns);
	drop_combinations(scatter, &columns);
	tell_left_out(&columns, scatter, aggregate);
	if (!race_whiten_columns(scatter, &columns, 0, whitening))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s finds no transform: the covariance cannot be inverted", aggregate)));
}

void
race_whitening_apply(const RaceWhitening *whitening, const double *x, double *z)
{
	uint32		i;
	uint32		j;

	for (i = 0; i < whitening->outputs; i++)
	{
		const double *row = whitening->matrix + (Size) i * whitening->dims;
		double		sum = 0;

		for (j = 0; j < whitening->dims; j++)
			sum += row[j] * x[j];
		z[i] = sum;
	}
}

void
race_whitening_keep(RaceWhitening *whitening, const double *directions, uint32 n)
{
	uint32		dims = whitening->dims;
	double	   *kept = palloc0((Size) n * dims * sizeof(double));
	uint32		i;
	uint32		j;
	uint32		k;

	for (i = 0; i < n; i++)
		for (k = 0; k < whitening->outputs; k++)
			for (j = 0; j < dims; j++)
				kept[(Size) i * dims + j] += directions[(Size) i * whitening->outputs + k] *
					whitening->matrix[(Size) k * dims + j];
	pfree(whitening->matrix);
	whitening->matrix = kept;
	whitening->outputs = n;
}

static ArrayType *
new_array(int ndim, int rows, int columns)
{
	int			dims[2] = {rows, columns};
	int			n = ndim == 1 ? rows : rows * columns;
	Size		size = ARR_OVERHEAD_NONULLS(ndim) + n * sizeof(float8);
	ArrayType  *array = palloc0(size);

	SET_VARSIZE(array, size);
	array->ndim = ndim;
	array->elemtype = FLOAT8OID;
	memcpy(ARR_DIMS(array), dims, ndim * sizeof(int));
	ARR_LBOUND(array)[0] = 1;
	ARR_LBOUND(array)[ndim - 1] = 1;
	return array;
}

Datum
race_transform_of(FunctionCallInfo fcinfo, const RaceWhitening *whitening, const double *offset)
{
	ArrayType  *m = new_array(2, whitening->outputs, whitening->dims);
	ArrayType  *o = new_array(1, whitening->dims, 1);
	RaceResultRow row;

	memcpy(ARR_DATA_PTR(m), whitening->matrix,
		   (Size) whitening->outputs * whitening->dims * sizeof(double));
	memcpy(ARR_DATA_PTR(o), offset, whitening->dims * sizeof(double));
	race_row_start(&row, fcinfo);
	race_row_add(&row, PointerGetDatum(m));
	race_row_add(&row, PointerGetDatum(o));
	return race_row_datum(&row);
}

Datum
race_transform_datum(FunctionCallInfo fcinfo, const RaceScatter *scatter,
					 const RaceWhitening *whitening)
{
	double		mean[RACE_SCATTER_DIMS];

	race_scatter_mean(scatter, mean);
	return race_transform_of(fcinfo, whitening, mean);
}

/* -------------------------------------------------------------- race_whiten */

/* Transition of race_whiten(x) and race_whiten(x, label) */
Datum
race_whiten_step(PG_FUNCTION_ARGS)
{
	return race_scatter_step(fcinfo, 1, PG_NARGS() > 2 ? 2 : 0);
}

/* The transform; NULL of no vectors */
Datum
race_whiten_final(PG_FUNCTION_ARGS)
{
	const RaceScatter *scatter = race_scatter_arg(fcinfo);
	RaceWhitening whitening;

	if (scatter == NULL)
		PG_RETURN_NULL();
	race_whitening_of(scatter, "race_whiten", &whitening);
	PG_RETURN_DATUM(race_transform_datum(fcinfo, scatter, &whitening));
}
