/*
 * question.c
 *		The entry for all questions to a sketch, and race_info
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "lib/stringinfo.h"

#include "question.h"
#include "evaluator.h"

void
race_ask_sketch(RaceCallSite *site, Datum sketch, RaceQuestion *question)
{
	question->site = site;
	question->buckets = NULL;
	question->partial = false;
	question->lifted = NULL;
	race_sketch_view_at(site, sketch, &question->view);
	race_check_askable(&question->view.header->noise);
}

void
race_ask_about(RaceQuestion *question, Datum query)
{
	question->buckets = race_call_site_buckets(question->site, question->view.params,
											   query);
	question->partial = question->buckets == NULL;
	if (question->partial && question->view.model == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("only a fitted sketch can be asked about a part of a product"),
				 errdetail("The query has a NULL, but the rows of a sketch hash all parts together. The parameters are %s.",
						   race_params_brief(question->view.params)),
				 errhint("Fit a model to public or made-up records: SELECT race_fit(sketch, record) FROM …. Or add up the answers for each category of a list.")));
}

void
race_ask_about_vector(RaceQuestion *question, const double *x)
{
	question->buckets = race_call_site_hash(question->site, question->view.params, x);
}

void
race_ask_about_columns(RaceQuestion *question, const RaceColumn *columns)
{
	question->buckets = race_call_site_hash_columns(question->site, question->view.params,
													columns);
}

void
race_ask_about_lifted(RaceQuestion *question, const RaceColumn *query)
{
	question->buckets = race_call_site_hash_lifted(question->site, question->view.params,
												   query);
	question->lifted = query;
}

void
race_question_record(const RaceQuestion *question, RaceColumn *columns)
{
	if (question->lifted != NULL)
		columns[0] = *question->lifted;
	else
		race_call_site_record(question->site, columns);
}

void
race_ask(FunctionCallInfo fcinfo, int sketch, RaceQuestion *question)
{
	race_ask_sketch(race_call_site(fcinfo, sketch + 1), PG_GETARG_DATUM(sketch),
					question);
	race_ask_about(question, PG_GETARG_DATUM(sketch + 1));
}

void
race_ask_pair(FunctionCallInfo fcinfo, Oid query, RaceQuestion *a, RaceQuestion *b)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;
	RaceCallSite **sites = (RaceCallSite **) flinfo->fn_extra;

	if (sites == NULL)
	{
		sites = MemoryContextAlloc(flinfo->fn_mcxt, 2 * sizeof(RaceCallSite *));
		for (int i = 0; i < 2; i++)
			sites[i] = race_call_site_create(query, flinfo->fn_mcxt);
		flinfo->fn_extra = sites;
	}
	race_ask_sketch(sites[0], PG_GETARG_DATUM(0), a);
	race_ask_sketch(sites[1], PG_GETARG_DATUM(1), b);
	if ((a->view.header->noise.status == RACE_STATUS_EXACT) != (b->view.header->noise.status == RACE_STATUS_EXACT))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("an exact and a private sketch cannot be compared"),
				 errhint("What comes out would not be private. Compare two private sketches, or two exact ones.")));
}

/*
 * race_info: what a sketch is, in one row.
 */

PG_FUNCTION_INFO_V1(race_info);

static void
add_params(RaceResultRow *row, const RaceParams *params)
{
	const RaceKernelType *type = race_kernel_type(params->kernel);
	bool		product = race_params_parts(params) > 1;
	bool		functions = (type->takes & RACE_TAKES_FUNCTIONS) != 0;
	StringInfoData name;

	initStringInfo(&name);
	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
		appendStringInfo(&name, "%s%s", part == params ? "" : " * ", race_kernel_name(part->kernel));
	race_row_add_text(row, name.data);
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
		race_row_add_text(row, race_choice_name(RACE_KEY_SEQUENCE, params->sequence));
	race_row_add_text(row, race_choice_name(RACE_KEY_REHASH, params->rehash));
}

static void
add_noise(RaceResultRow *row, const RaceNoise *noise, double unit)
{
	if (noise->status == RACE_STATUS_EXACT)
	{
		race_row_add_text(row, "exact");
		for (int i = 0; i < 9; i++)
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
	add_noise(&row, &view.header->noise, (double) race_record_unit(view.params));
	if (view.model_size > 0 && race_summary_kind(view.params)->model == RACE_MODEL_POINTS)
	{
		/* a model comes last in a sketch, so that all of it is read */
		race_sketch_view(PG_GETARG_DATUM(0), &view);
		race_row_add(&row, Int32GetDatum((int32) view.model->points));
		race_row_add(&row, Float8GetDatum(view.model->misfit));
	}
	else
	{
		race_row_add_null(&row);
		race_row_add_null(&row);
	}
	PG_RETURN_DATUM(race_row_datum(&row));
}
