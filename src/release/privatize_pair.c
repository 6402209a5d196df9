/*
 * privatize_pair.c
 *		race_privatize of both sketches that race_build_value returns
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "release/privatize.h"
#include "sketch/sketch.h"
#include "hash/table.h"
#include "privacy/noise.h"
#include "privacy/release_request.h"
#include "sketch/argument.h"
#include "sketch/params_type.h"
#include "sketch/result.h"
#include "sketch/sketch_format.h"

/* Return whether this is a row type of two sketches. */
static bool
is_pair_type(Oid type)
{
	TupleDesc row;
	bool found;

	if (!type_is_rowtype(type) || type == RECORDOID)
		return false;
	row = lookup_rowtype_tupdesc_domain(type, -1, false);
	found = row->natts == RACE_HALVES && race_is_sketch_type(TupleDescAttr(row, 0)->atttypid) &&
		race_is_sketch_type(TupleDescAttr(row, 1)->atttypid);
	ReleaseTupleDesc(row);
	return found;
}

/*
 * View both halves of argument 0, exact and of the same parameters.  Return false if there are
 * none.
 */
static bool
view_pair(FunctionCallInfo fcinfo, RaceView *views)
{
	HeapTupleHeader pair = PG_GETARG_HEAPTUPLEHEADER(0);

	for (int i = 0; i < RACE_HALVES; i++)
	{
		bool isnull;
		Datum half = GetAttributeByNum(pair, i + 1, &isnull);

		if (isnull)
			return false;
		race_sketch_view(half, &views[i]);
		race_check_exact(views[i].header, "made private again");
		if (views[i].header->noise.half != RACE_LOWER_HALF + i)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("both halves of race_build_value are needed, the lower one first")));
	}
	race_params_check_same(views[RACE_LOWER].params, views[RACE_UPPER].params);
	return true;
}

/* Make both halves of a pair private: race_privatize(pair, ...). */
Datum
race_privatize_pair(PG_FUNCTION_ARGS)
{
	RaceView exact[RACE_HALVES];
	RaceSketch *sketches[RACE_HALVES];
	RaceRequest request;
	RaceResultRow row;

	if (!is_pair_type(race_argument_type(fcinfo->flinfo, 0)))
		ereport(
			ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg(
				 "race_privatize takes a race_sketch, or race_value_sketches of race_build_value")));
	if (PG_ARGISNULL(0) || !view_pair(fcinfo, exact) ||
		!race_read_request(fcinfo, exact[0].params, 3, 6, &request))
		PG_RETURN_NULL();
	race_row_start(&row, fcinfo);
	race_private_sketches(exact, RACE_HALVES, &request, CurrentMemoryContext, sketches);
	for (int i = 0; i < RACE_HALVES; i++)
		race_row_add(&row, RaceSketchGetDatum(sketches[i]));
	PG_RETURN_DATUM(race_row_datum(&row));
}
