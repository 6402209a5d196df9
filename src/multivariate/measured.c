/*
 * measured.c
 *		race_covariance, race_correlation and race_pca.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"

#include "../query/estimate.h"
#include "../query/student.h"
#include "../server/result.h"
#include "components.h"
#include "likely.h"
#include "spread.h"

PG_FUNCTION_INFO_V1(race_covariance);
PG_FUNCTION_INFO_V1(race_correlation);
PG_FUNCTION_INFO_V1(race_pca);

/* So many degrees of freedom make Student's distribution a normal one. */
#define NORMAL		1e9

/* --------------------------------------------------------------- two columns */

/* A row of what was measured, times `unit`, with an interval within -limit and limit */
static Datum
measured_datum(FunctionCallInfo fcinfo, RaceMeasured measured, double unit, double limit)
{
	double		confidence = PG_GETARG_FLOAT8(3);
	double		reach;
	RaceResultRow row;

	race_check_confidence(confidence);
	reach = measured.error * race_student_two_sided(1 - confidence, NORMAL);
	if (!measured.known)
		reach = INFINITY;
	race_row_start(&row, fcinfo);
	race_row_add_if(&row, measured.known, Float8GetDatum(measured.value * unit));
	race_row_add_if(&row, measured.known, Float8GetDatum(measured.error * unit));
	race_row_add(&row, Float8GetDatum(fmin(fmax((measured.value - reach) * unit, -limit), limit)));
	race_row_add(&row, Float8GetDatum(fmin(fmax((measured.value + reach) * unit, -limit), limit)));
	return race_row_datum(&row);
}

/* Moments, and the places of two columns */
static void
read_columns(FunctionCallInfo fcinfo, RaceLikely *likely, uint32 *i, uint32 *j)
{
	race_noisy_open(PointerGetDatum(PG_GETARG_VARLENA_P(0)), likely);
	*i = race_likely_place(likely, PG_GETARG_INT32(1));
	*j = race_likely_place(likely, PG_GETARG_INT32(2));
}

/* race_covariance(moments, column, other, confidence) */
Datum
race_covariance(PG_FUNCTION_ARGS)
{
	RaceLikely	likely;
	uint32		i;
	uint32		j;

	read_columns(fcinfo, &likely, &i, &j);
	PG_RETURN_DATUM(measured_datum(fcinfo, race_measure_covariance(&likely.noisy, i, j),
								   1 / race_likely_slope(&likely, i) / race_likely_slope(&likely, j),
								   INFINITY));
}

/* race_correlation(moments, column, other, confidence) */
Datum
race_correlation(PG_FUNCTION_ARGS)
{
	RaceLikely	likely;
	uint32		i;
	uint32		j;

	read_columns(fcinfo, &likely, &i, &j);
	PG_RETURN_DATUM(measured_datum(fcinfo, race_measure_correlation(&likely.noisy, i, j), 1, 1));
}

/* ---------------------------------------------------------------- components */

void
race_find_components(Datum moments, bool standardize, RaceFoundComponents *found)
{
	RaceNoisy  *noisy = &found->likely.noisy;
	double	   *work;
	uint32		dims;
	uint32		i;

	race_likely_open_columns(moments, &found->likely);
	dims = noisy->n - 1;
	found->scale = palloc(dims * sizeof(double));
	found->vectors = palloc_extended((Size) dims * dims * sizeof(double), MCXT_ALLOC_HUGE);
	found->variances = palloc(dims * sizeof(RaceMeasured));
	for (i = 0; i < dims; i++)
		found->scale[i] = standardize ? 1 / race_likely_deviation(noisy, i + 1) :
			1 / race_likely_slope(&found->likely, i + 1);
	work = palloc_extended(RACE_COMPONENTS_WORK(noisy->n) * sizeof(double), MCXT_ALLOC_HUGE);
	race_components(noisy, found->scale, work, found->vectors, found->variances);
	pfree(work);
}

typedef struct Components
{
	RaceFoundComponents found;
	double		sum;			/* of all variances */
	RaceResultRow row;
} Components;

static void
start_components(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	Components *components = palloc0(sizeof(Components));
	uint32		i;

	race_row_start(&components->row, fcinfo);
	race_find_components(PointerGetDatum(PG_GETARG_VARLENA_P(0)), PG_GETARG_BOOL(1),
						 &components->found);
	call->max_calls = components->found.likely.noisy.n - 1;
	for (i = 0; i < call->max_calls; i++)
		components->sum += components->found.variances[i].value;
	call->user_fctx = components;
}

static Datum
component_datum(void *state, uint64 i)
{
	Components *components = (Components *) state;
	RaceMeasured variance = components->found.variances[i];
	uint32		dims = components->found.likely.noisy.n - 1;

	race_row_add(&components->row, Int32GetDatum((int32) i + 1));
	race_row_add(&components->row, Float8GetDatum(variance.value));
	race_row_add(&components->row, Float8GetDatum(variance.error));
	race_row_add_if(&components->row, components->sum > 0,
					Float8GetDatum(variance.value / components->sum));
	race_row_add_numbers(&components->row, components->found.vectors + (Size) i * dims, dims);
	return race_row_datum(&components->row);
}

/* race_pca(moments, standardize) */
Datum
race_pca(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_components, component_datum);
}
