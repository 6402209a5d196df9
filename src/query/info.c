/*
 * info.c
 *		race_info: what a sketch is, in one row.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "fmgr.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"

#include "../sketch/share.h"
#include "../sketch/sketch.h"

PG_FUNCTION_INFO_V1(race_info);

#define INFO_COLUMNS	22

typedef struct Row
{
	Datum		values[INFO_COLUMNS];
	bool		nulls[INFO_COLUMNS];
	int			n;
} Row;

static void
add(Row *row, Datum value)
{
	Assert(row->n < INFO_COLUMNS);
	row->values[row->n] = value;
	row->nulls[row->n++] = false;
}

static void
add_text(Row *row, const char *text)
{
	add(row, CStringGetTextDatum(text));
}

static void
add_nulls(Row *row, int n)
{
	while (n-- > 0)
	{
		Assert(row->n < INFO_COLUMNS);
		row->nulls[row->n++] = true;
	}
}

/* A value where there is one, else NULL */
static void
add_if(Row *row, bool is, Datum value)
{
	if (is)
		add(row, value);
	else
		add_nulls(row, 1);
}

/* The kernels of a product, with * between */
static const char *
product_name(const RaceParams *params)
{
	const RaceParams *part;
	StringInfoData name;

	initStringInfo(&name);
	for (part = params; part != NULL; part = race_params_next(part, params))
		appendStringInfo(&name, "%s%s", part == params ? "" : " * ",
						 race_kernel_name(part->kernel));
	return name.data;
}

static void
add_params(Row *row, const RaceParams *params)
{
	bool		product = race_params_parts(params) > 1;

	add_text(row, product_name(params));
	add_if(row, !product && params->dims > 0, Int32GetDatum(params->dims));
	add_if(row, !product && race_has_bandwidth(params),
		   Float8GetDatum(params->bandwidth));
	add_if(row, !product, Int32GetDatum(params->power));
	add(row, Int32GetDatum(params->rows));
	add(row, Int32GetDatum(params->range));
	add(row, Int64GetDatum(params->seed));
	if (product)
		add_nulls(row, 1);
	else
		add_text(row, race_sequence_name(params->sequence));
	add_text(row, race_rehash_name(params->rehash));
}

static void
add_noise(Row *row, const RaceNoise *noise)
{
	if (noise->status == RACE_STATUS_EXACT)
	{
		add_text(row, "exact");
		add_nulls(row, 9);
		return;
	}
	add_text(row, race_has_enough_noise(noise) ? "private" : "share");
	add_text(row, race_mechanism_name(noise->mechanism));
	add(row, Float8GetDatum(noise->epsilon));
	add(row, Float8GetDatum(noise->delta));
	add(row, Float8GetDatum(noise->rho));
	add(row, Int32GetDatum(noise->max_contributions));
	add_text(row, race_neighbours_name(noise->neighbours));
	add(row, Int32GetDatum(noise->releases));
	add(row, Float8GetDatum(sqrt(noise->counter_variance)));
	add(row, Float8GetDatum(sqrt(noise->count_variance)));
}

Datum
race_info(PG_FUNCTION_ARGS)
{
	RaceView	view;
	Row			row = {.n = 0};
	TupleDesc	tupdesc;
	int			width;

	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");

	width = race_sketch_stored_width(PG_GETARG_DATUM(0));
	race_sketch_view_header(PG_GETARG_DATUM(0), &view);

	add_params(&row, view.params);
	add_if(&row, race_has_enough_noise(&view.header->noise),
		   Int64GetDatum(view.header->count));
	add(&row, Int32GetDatum(width));
	add(&row, Int64GetDatum(RaceFlatSize(view.header, view.params, width)));
	add_noise(&row, &view.header->noise);
	Assert(row.n == tupdesc->natts);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(tupdesc),
													  row.values, row.nulls)));
}
