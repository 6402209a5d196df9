/*
 * question.c
 *		The entry for all questions to a sketch.
 */
#include "postgres.h"

#include "question.h"
#include "row_estimator.h"

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

static void
check_same_status(const RaceHeader *a, const RaceHeader *b)
{
	if ((a->noise.status == RACE_STATUS_EXACT) != (b->noise.status == RACE_STATUS_EXACT))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("an exact and a private sketch cannot be compared"),
				 errhint("What comes out would not be private. Compare two private sketches, or two exact ones.")));
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
	check_same_status(a->view.header, b->view.header);
}

void
race_ask_header(Datum sketch, RaceQuestion *question)
{
	question->site = NULL;
	question->buckets = NULL;
	question->partial = false;
	question->lifted = NULL;
	race_sketch_view_header_any(sketch, &question->view);
	race_check_askable(&question->view.header->noise);
}
