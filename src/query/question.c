/*
 * question.c
 *		The entry for all questions to a sketch.
 */
#include "postgres.h"

#include "../fit/answers.h"
#include "question.h"

void
race_ask_sketch(RaceCallSite *site, Datum sketch, RaceQuestion *question)
{
	question->site = site;
	question->buckets = NULL;
	race_sketch_view_at(site, sketch, &question->view);
	race_check_askable(&question->view.header->noise);
}

void
race_ask_about(RaceQuestion *question, Datum query)
{
	question->buckets = race_call_site_buckets(question->site, question->view.params,
											   query);
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
race_ask(FunctionCallInfo fcinfo, int sketch, RaceQuestion *question)
{
	race_ask_sketch(race_call_site(fcinfo, sketch + 1), PG_GETARG_DATUM(sketch),
					question);
	race_ask_about(question, PG_GETARG_DATUM(sketch + 1));
}

void
race_ask_header(Datum sketch, RaceQuestion *question)
{
	question->site = NULL;
	question->buckets = NULL;
	race_sketch_view_header(sketch, &question->view);
	race_check_askable(&question->view.header->noise);
}
