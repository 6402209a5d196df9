/*
 * whiten.c
 *		race_whiten: a transform that makes the columns of a table alike.
 *
 * Let o be the mean of the vectors, and C = L L' their covariance.  With M = L^-1,
 * M (x - o) has mean 0 and covariance 1.  So distances are in standard deviations, and
 * what columns share counts once (Mahalanobis distance).
 *
 * The state is a float8[], which parallel workers can pass: the number of vectors, their mean, and the sums of products of deviations from it, row by row
 * up to the diagonal (Welford 1962; combined as in Chan, Golub & LeVeque 1983).
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"

#include "../lsh/lsh.h"
#include "../record/vector.h"
#include "../server/result.h"

PG_FUNCTION_INFO_V1(race_whiten_step);
PG_FUNCTION_INFO_V1(race_whiten_combine);
PG_FUNCTION_INFO_V1(race_whiten_final);

/* Matrix and offset must fit into race_params. */
#define MAX_DIMS		361

StaticAssertDecl((MAX_DIMS + 1) * MAX_DIMS * sizeof(double) <= RACE_MAX_MORE,
				 "a transform of so many dimensions fits into race_params");

/*
 * If the variance that is left of a column, after the columns before it, is below
 * this share of it, the column is taken for a sum of those.
 */
#define LEAST_SHARE		1e-10

#define StateLength(d)	(1 + (d) + (d) * ((d) + 1) / 2)

typedef struct State
{
	int			dims;
	double	   *n;
	double	   *mean;			/* [dims] */
	double	   *products;		/* [dims * (dims + 1) / 2] */
} State;

/* What a transition keeps between calls */
typedef struct StepSite
{
	RaceArrayReader reader;
	double		x[MAX_DIMS];	/* the vector that was read last */
} StepSite;

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

/*
 * Check the state: a user may call these functions from another aggregate, with any
 * array.
 */
static State
state_of(ArrayType *array)
{
	State		state;
	int			length = ARR_NDIM(array) == 1 ? ARR_DIMS(array)[0] : 0;

	state.dims = (int) ((sqrt(8.0 * length + 1) - 3) / 2 + 0.5);
	if (ARR_HASNULL(array) || state.dims < 1 || state.dims > MAX_DIMS ||
		StateLength(state.dims) != length)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the array is no state of race_whiten")));
	state.n = (double *) ARR_DATA_PTR(array);
	state.mean = state.n + 1;
	state.products = state.mean + state.dims;
	return state;
}

/* Add `weight` times the products of deviations. */
static void
add_products(State *state, const double *deviation, double weight)
{
	double	   *sum = state->products;
	int			i;
	int			j;

	for (i = 0; i < state->dims; i++)
		for (j = 0; j <= i; j++)
			*sum++ += weight * deviation[i] * deviation[j];
}

static StepSite *
step_site(FunctionCallInfo fcinfo)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;

	if (flinfo->fn_extra == NULL)
	{
		StepSite   *site = MemoryContextAllocZero(flinfo->fn_mcxt, sizeof(StepSite));

		race_vector_prepare(&site->reader, get_fn_expr_argtype(flinfo, 1),
							flinfo->fn_mcxt);
		flinfo->fn_extra = site;
	}
	return (StepSite *) flinfo->fn_extra;
}

/*
 * Read argument 1. It must have `dims` dimensions, or any number if that is 0.
 * Returns how many it has.
 */
static int
read_vector(FunctionCallInfo fcinfo, StepSite *site, int dims)
{
	RaceElements elements;

	race_array_open(&site->reader, PG_GETARG_DATUM(1), &elements, false, false);
	race_check_length(elements.n, dims, false);
	if (elements.n > MAX_DIMS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("race_whiten takes vectors of up to %d dimensions", MAX_DIMS)));
	race_vector_convert(&site->reader, &elements, NULL, site->x, false);
	return (int) elements.n;
}

/* Transition of race_whiten(x); the state changes where it is. */
Datum
race_whiten_step(PG_FUNCTION_ARGS)
{
	StepSite   *site = step_site(fcinfo);
	ArrayType  *array;
	State		state;
	double		deviation[MAX_DIMS];
	int			i;

	if (!AggCheckCallContext(fcinfo, NULL))
		elog(ERROR, "race_whiten_step called in non-aggregate context");
	if (PG_ARGISNULL(1))
	{
		if (PG_ARGISNULL(0))
			PG_RETURN_NULL();
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	}

	/* a group starts with a vector of any length */
	if (PG_ARGISNULL(0))
		array = new_array(1, StateLength(read_vector(fcinfo, site, 0)), 1);
	else
	{
		array = PG_GETARG_ARRAYTYPE_P(0);
		read_vector(fcinfo, site, state_of(array).dims);
	}
	state = state_of(array);
	++*state.n;
	for (i = 0; i < state.dims; i++)
	{
		deviation[i] = site->x[i] - state.mean[i];
		state.mean[i] += deviation[i] / *state.n;
	}
	add_products(&state, deviation, (*state.n - 1) / *state.n);
	PG_RETURN_ARRAYTYPE_P(array);
}

/*
 * Add the second state to the first one. The first one is changed in place, or a
 * copy of it if it has a short header because it came from a tuple.
 */
Datum
race_whiten_combine(PG_FUNCTION_ARGS)
{
	ArrayType  *array;
	State		a;
	State		b;
	double		n;
	double		deviation[MAX_DIMS];
	int			i;

	if (!AggCheckCallContext(fcinfo, NULL))
		elog(ERROR, "race_whiten_combine called in non-aggregate context");
	if (PG_ARGISNULL(1))
	{
		if (PG_ARGISNULL(0))
			PG_RETURN_NULL();
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	}
	if (PG_ARGISNULL(0))
		PG_RETURN_DATUM(PG_GETARG_DATUM(1));

	array = PG_GETARG_ARRAYTYPE_P(0);
	a = state_of(array);
	b = state_of(PG_GETARG_ARRAYTYPE_P(1));
	race_check_length(b.dims, a.dims, false);
	n = *a.n + *b.n;
	for (i = 0; i < a.dims; i++)
	{
		deviation[i] = b.mean[i] - a.mean[i];
		a.mean[i] += deviation[i] * (*b.n / n);
	}
	for (i = 0; i < a.dims * (a.dims + 1) / 2; i++)
		a.products[i] += b.products[i];
	add_products(&a, deviation, *a.n * (*b.n / n));
	*a.n = n;
	PG_RETURN_ARRAYTYPE_P(array);
}

/*
 * Compute L of C = L L' in the place of C, row by row up to the diagonal
 * (Cholesky).
 */
static void
factorize(double *c, int dims)
{
#define L(i, j)		c[(i) * ((i) + 1) / 2 + (j)]
	int			i;
	int			j;
	int			k;

	for (i = 0; i < dims; i++)
	{
		double		variance = L(i, i);

		CHECK_FOR_INTERRUPTS();
		for (j = 0; j <= i; j++)
		{
			for (k = 0; k < j; k++)
				L(i, j) -= L(i, k) * L(j, k);
			if (j < i)
				L(i, j) /= L(j, j);
		}
		if (!(L(i, i) > LEAST_SHARE * variance && isfinite(L(i, i))))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("the vectors have no whitening transform"),
					 errdetail("Column %d is constant or a sum of the columns before it, or there are too few vectors.", i + 1),
					 errhint("Leave the column out, or pass more vectors.")));
		L(i, i) = sqrt(L(i, i));
	}
}

/* Compute m = L^-1, the whole matrix, row by row. */
static void
invert(const double *c, int dims, double *m)
{
	int			i;
	int			j;
	int			k;

	for (i = 0; i < dims; i++)
	{
		CHECK_FOR_INTERRUPTS();
		for (j = 0; j <= i; j++)
		{
			double		sum = i == j;

			for (k = j; k < i; k++)
				sum -= L(i, k) * m[k * dims + j];
			m[i * dims + j] = sum / L(i, i);
		}
	}
#undef L
}

/* The transform; NULL of no vectors */
Datum
race_whiten_final(PG_FUNCTION_ARGS)
{
	State		state;
	ArrayType  *matrix;
	ArrayType  *offset;
	double	   *covariance;
	RaceResultRow row;
	int			i;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	race_row_start(&row, fcinfo);

	/* do not change the state: a window may go on with it */
	state = state_of(PG_GETARG_ARRAYTYPE_P(0));
	covariance = palloc(state.dims * (state.dims + 1) / 2 * sizeof(double));
	for (i = 0; i < state.dims * (state.dims + 1) / 2; i++)
		covariance[i] = state.products[i] / (*state.n - 1);
	factorize(covariance, state.dims);

	matrix = new_array(2, state.dims, state.dims);
	invert(covariance, state.dims, (double *) ARR_DATA_PTR(matrix));
	offset = new_array(1, state.dims, 1);
	memcpy(ARR_DATA_PTR(offset), state.mean, state.dims * sizeof(double));
	race_row_add(&row, PointerGetDatum(matrix));
	race_row_add(&row, PointerGetDatum(offset));
	PG_RETURN_DATUM(race_row_datum(&row));
}
