/*
 * columns.c
 *		Records as rows of columns.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"

#include "../server/result.h"
#include "columns.h"

PG_FUNCTION_INFO_V1(race_columns);

uint32
race_part_elements(const RaceParams *part)
{
	return race_record_kind(part) == RACE_RECORD_SET ? 1 : part->dims;
}

/* Where a column of any kind is; false if there is no such column */
static bool
place_of(const RaceParams *params, int32 column, RaceColumnPlace *place)
{
	int64		element = (int64) column - 1;

	place->part = 0;
	for (place->params = params; place->params != NULL && element >= 0; place->part++)
	{
		uint32		n = race_part_elements(place->params);

		place->element = (uint32) element;
		if (element < n)
			return true;
		element -= n;
		place->params = race_params_next(place->params, params);
	}
	return false;
}

RaceColumnPlace
race_find_column(const RaceParams *params, int32 column)
{
	RaceColumnPlace place;

	if (!place_of(params, column, &place) ||
		race_record_kind(place.params) != RACE_RECORD_VECTOR)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column %d of the records is not a number", column),
				 errdetail("The parameters are %s.", race_params_brief(params))));
	return place;
}

double
race_column_bound(const RaceColumnPlace *place, RaceArray bounds, double otherwise)
{
	const double *array = race_array(place->params, bounds);

	return array == NULL ? otherwise : array[place->element];
}

/* ---------------------------------------------------------------------- SQL */

typedef struct Columns
{
	const RaceParams *params;
	RaceResultRow row;
} Columns;

static void
start_columns(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	Columns    *columns = palloc(sizeof(Columns));
	const RaceParams *part;

	race_row_start(&columns->row, fcinfo);
	columns->params = race_params_arg(PointerGetDatum(PG_DETOAST_DATUM_COPY(PG_GETARG_DATUM(0))));
	for (part = columns->params; part != NULL; part = race_params_next(part, columns->params))
		call->max_calls += race_part_elements(part);
	call->user_fctx = columns;
}

static void
add_bound(RaceResultRow *row, const RaceColumnPlace *place, RaceArray bounds)
{
	double		bound = race_column_bound(place, bounds, INFINITY);

	race_row_add_if(row, isfinite(bound), Float8GetDatum(bound));
}

static Datum
column_datum(void *state, uint64 i)
{
	static const char *const kinds[] = {
		[RACE_RECORD_VECTOR] = "number", [RACE_RECORD_SET] = "set", [RACE_RECORD_ROW] = "category"
	};
	Columns    *columns = (Columns *) state;
	RaceColumnPlace place;

	if (!place_of(columns->params, (int32) i + 1, &place))
		elog(ERROR, "there is no column " UINT64_FORMAT, i);
	race_row_add(&columns->row, Int32GetDatum((int32) i + 1));
	race_row_add_text(&columns->row, kinds[race_record_kind(place.params)]);
	add_bound(&columns->row, &place, RACE_ARRAY_LOWER);
	add_bound(&columns->row, &place, RACE_ARRAY_UPPER);
	return race_row_datum(&columns->row);
}

/* _race_columns(params) */
Datum
race_columns(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_columns, column_datum);
}
