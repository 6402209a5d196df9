/*
 * quantile.c
 *		race_quantile: quantiles of a column of the records, from the model of a sketch.
 *
 * Of a grid in one dimension the standard error is known, whatever the model is.  Records up to a
 * node are in it and in the nodes before it, and these have none beyond the next node.  Each node
 * has noise of its own, so the number of records in the first k of K nodes has k times its variance; as
 * the number of all records is known apart, k (K - k) / K times.  So where sums of nodes are clearly less,
 * or more, than the share that is asked about, the quantile is beyond, or before.  A model may be as wrong
 * as the nodes between: where records share a value, errors are not normal.
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

/* Two-sided, 95 %: so many standard errors on each side */
#define MARGIN	1.96

/*
 * Between which nodes the quantile is: *last has clearly fewer records up to it than the share p, and
 * all up to it have; *first has clearly more up to the node before it, and all from it on have
 */
static void
enclose(const Quantiles *quantiles, const RaceGrid *grid, double p, double *last, double *first)
{
	const RaceView *view = &quantiles->fitted.view;
	RaceRecordCount count = race_answers_count(view, NULL);
	double		unit = (double) race_record_unit(view->params);
	double		of_node = view->header->noise.counter_variance / (unit * unit);
	double		nodes = (double) grid->nodes;
	double		all = 0;
	double		sum = 0;
	bool		fewer = true;
	uint64		i;

	for (i = 0; i < grid->nodes; i++)
		all += race_counters_get(view->counters, view->width, i) / unit;
	*last = 0;
	*first = 1;
	for (i = 0; i < grid->nodes; i++)
	{
		double		part = (double) (i + 1) / nodes;
		double		beyond;
		double		deviation = sqrt(nodes * part * (1 - part) * of_node +
									 (part - p) * (part - p) * count.variance);

		sum += race_counters_get(view->counters, view->width, i) / unit;
		beyond = sum - part * (all - count.n) - p * count.n;
		fewer = fewer && beyond < -MARGIN * deviation;
		if (fewer)
			*last = (double) i;
		if (beyond <= MARGIN * deviation)
			*first = (double) i + 2;
	}
	*first = Min(*first, nodes - 1);
}

static double
standard_error(const Quantiles *quantiles, double p, double value)
{
	RaceGrid	grid;
	double		last;
	double		first;

	race_grid_of(quantiles->fitted.view.params, &grid);
	enclose(quantiles, &grid, p, &last, &first);
	value = (value - grid.lower[0]) / grid.width[0];
	return Max(value - last, first - value) * grid.width[0] / MARGIN;
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
