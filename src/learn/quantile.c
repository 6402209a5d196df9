/*
 * quantile.c
 *		race_quantile: quantiles of a column of the records, from the model of a sketch.
 *
 * Of a grid in one dimension the standard error is known.  Each node has noise of its own, so
 * the number of records in the first k of K nodes has k times its variance; as the number of
 * all records is known apart, k (K - k) / K times.  A fit takes some of it away, so this is an
 * upper bound.  Over the density it is an error of the quantile: half the distance between the
 * quantiles at one standard deviation below and above.  And a record of a node may be anywhere in
 * the two cells beside it: like linear splitting, that has the variance of a sixth of a squared cell.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"

#include "../fit/answers.h"
#include "../lsh/grid.h"
#include "../server/result.h"
#include "marginal.h"

PG_FUNCTION_INFO_V1(race_quantile);

typedef struct Quantiles
{
	RaceFitted	fitted;
	RaceMarginal *marginal;
	RaceResultRow row;
	Datum	   *shares;			/* p */
	bool	   *nulls;
	int			n;
} Quantiles;

static void
read_shares(ArrayType *array, Quantiles *quantiles)
{
	int			i;

	deconstruct_array(array, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE,
					  &quantiles->shares, &quantiles->nulls, &quantiles->n);
	for (i = 0; i < quantiles->n; i++)
	{
		double		p = DatumGetFloat8(quantiles->shares[i]);

		if (!quantiles->nulls[i] && !(p >= 0 && p <= 1))
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("percentile value %g is not between 0 and 1", p)));
	}
}

static bool
error_is_known(const RaceView *view)
{
	return race_is_grid(view->params) && view->params->dims == 1;
}

static double
standard_error(const Quantiles *quantiles, double p, double value)
{
	const RaceView *view = &quantiles->fitted.view;
	double		unit = (double) race_record_unit(view->params);
	RaceGrid	grid;
	double		below;			/* nodes, as k and K above */
	double		deviation;
	double		half;

	race_grid_of(view->params, &grid);
	below = (value - grid.lower[0]) / grid.width[0] + 0.5;
	deviation = sqrt(Max(below * (1 - below / grid.nodes), 0) *
					 view->header->noise.counter_variance) / unit /
		race_answers_divisor(race_answers_count(view, NULL));
	half = (race_marginal_quantile(quantiles->marginal, Min(p + deviation, 1)) -
			race_marginal_quantile(quantiles->marginal, Max(p - deviation, 0))) / 2;
	return sqrt(half * half + grid.width[0] * grid.width[0] / 6);
}

static void
start_quantiles(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	Quantiles  *quantiles = palloc0(sizeof(Quantiles));
	RaceColumnPlace place;

	race_row_start(&quantiles->row, fcinfo);
	read_shares(PG_GETARG_ARRAYTYPE_P_COPY(1), quantiles);
	race_fitted_open(PointerGetDatum(PG_GETARG_VARLENA_P(0)), &quantiles->fitted);
	place = race_find_column(quantiles->fitted.view.params, PG_GETARG_INT32(2));
	quantiles->marginal = race_marginal_create(&quantiles->fitted, &place);
	call->max_calls = quantiles->n;
	call->user_fctx = quantiles;
}

static Datum
quantile_datum(void *state, uint64 i)
{
	Quantiles  *quantiles = (Quantiles *) state;
	bool		known = !quantiles->nulls[i];
	double		p = known ? DatumGetFloat8(quantiles->shares[i]) : 0;
	double		value = race_marginal_quantile(quantiles->marginal, p);

	race_row_add_if(&quantiles->row, known, Float8GetDatum(p));
	race_row_add_if(&quantiles->row, known, Float8GetDatum(value));
	known = known && error_is_known(&quantiles->fitted.view);
	race_row_add_if(&quantiles->row, known,
					Float8GetDatum(known ? standard_error(quantiles, p, value) : 0));
	return race_row_datum(&quantiles->row);
}

/* race_quantile(sketch, p, column) */
Datum
race_quantile(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_quantiles, quantile_datum);
}
