/*
 * info.c
 *		race_info: what a sketch is, in one row.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "lib/stringinfo.h"

#include "../lsh/grid.h"
#include "../sketch/sketch.h"
#include "info.h"

PG_FUNCTION_INFO_V1(race_info);

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
add_params(RaceResultRow *row, const RaceParams *params)
{
	const RaceKernelType *type = race_kernel_type(params->kernel);
	bool		product = race_params_parts(params) > 1;
	bool		functions = (type->takes & RACE_TAKES_FUNCTIONS) != 0;

	race_row_add_text(row, product_name(params));
	race_row_add_if(row, !product && params->dims > 0, Int32GetDatum(params->dims));
	race_row_add_if(row, !product && (type->takes & RACE_TAKES_BANDWIDTH) != 0,
		   Float8GetDatum(params->bandwidth));
	race_row_add_if(row, functions && !product, Int32GetDatum(params->power));
	race_row_add(row, Int32GetDatum(params->rows));
	race_row_add(row, Int32GetDatum(params->range));
	race_row_add(row, Int64GetDatum(params->seed));
	if (product)
		race_row_add_null(row);
	else
		race_row_add_text(row, race_sequence_name(params->sequence));
	race_row_add_text(row, race_rehash_name(params->rehash));
}

void
race_info_add_noise(RaceResultRow *row, const RaceNoise *noise, double unit)
{
	int			i;

	if (noise->status == RACE_STATUS_EXACT)
	{
		race_row_add_text(row, "exact");
		for (i = 0; i < 9; i++)
			race_row_add_null(row);
		return;
	}
	race_row_add_text(row, race_has_enough_noise(noise) ? "private" : "share");
	race_row_add_text(row, race_mechanism_name(noise->mechanism));
	race_row_add(row, Float8GetDatum(noise->epsilon));
	race_row_add(row, Float8GetDatum(noise->delta));
	race_row_add(row, Float8GetDatum(noise->rho));
	race_row_add(row, Int32GetDatum(noise->max_contributions));
	race_row_add_text(row, race_neighbors_name(noise->neighbors));
	race_row_add(row, Int32GetDatum(noise->releases));
	race_row_add(row, Float8GetDatum(sqrt(noise->counter_variance) / unit));
	race_row_add(row, Float8GetDatum(sqrt(noise->count_variance)));
}

/* A model comes last in a sketch, so that all of it is read. */
static void
add_model(RaceResultRow *row, Datum sketch, bool has_model)
{
	RaceView	view;

	if (!has_model)
	{
		race_row_add_null(row);
		race_row_add_null(row);
		return;
	}
	race_sketch_view(sketch, &view);
	race_row_add(row, Int32GetDatum((int32) view.model->points));
	race_row_add(row, Float8GetDatum(view.model->misfit));
}

Datum
race_info(PG_FUNCTION_ARGS)
{
	RaceView	view;
	RaceResultRow row;
	int			width;
	Size		size;

	race_row_start(&row, fcinfo);
	race_sketch_stored_size(PG_GETARG_DATUM(0), &width, &size);
	race_sketch_view_header_any(PG_GETARG_DATUM(0), &view);

	add_params(&row, view.params);
	race_row_add_if(&row, race_has_enough_noise(&view.header->noise),
					Int64GetDatum(view.header->count));
	race_row_add(&row, Int32GetDatum(width));
	race_row_add(&row, Int64GetDatum((int64) size));
	race_info_add_noise(&row, &view.header->noise, (double) race_record_unit(view.params));
	add_model(&row, PG_GETARG_DATUM(0), view.model_size > 0);
	PG_RETURN_DATUM(race_row_datum(&row));
}
