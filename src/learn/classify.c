/*
 * classify.c
 *		race_classify, race_posterior and race_score: which class is a query from?
 *
 * The highest score wins; among equals the class with more records, then the
 * smaller label.  Where no class has records near q, all scores are zero, and the
 * answer is the largest class.
 *
 * The state holds labels and scores, and no sketch.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/builtins.h"

#include "../server/argument.h"
#include "classes.h"

PG_FUNCTION_INFO_V1(race_classify_step);
PG_FUNCTION_INFO_V1(race_classify_final);
PG_FUNCTION_INFO_V1(race_posterior_final);
PG_FUNCTION_INFO_V1(race_score_final);

/* Read the prior, which the declaration leaves open: of an aggregate no argument has a default. */
static RacePrior
prior_argument(FunctionCallInfo fcinfo)
{
	Oid			type = race_argument_type(fcinfo->flinfo, 4);

	if (PG_NARGS() > 5 || (type != TEXTOID && type != UNKNOWNOID))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("the arguments must be a label, a sketch, a query and, if any, a prior of type text")));
	return race_read_prior(type == TEXTOID ? PG_GETARG_TEXT_PP(4) :
						   cstring_to_text(PG_GETARG_CSTRING(4)));
}

/* ----------------------------------------------------------- aggregates */

/*
 * Transition function of race_classify and race_posterior (label, sketch, q [,
 * prior]). A row with a NULL among them is left out.
 */
Datum
race_classify_step(PG_FUNCTION_ARGS)
{
	RaceScores *scores = PG_ARGISNULL(0) ? NULL : (RaceScores *) PG_GETARG_POINTER(0);
	RacePrior	prior = RACE_PRIOR_UNIFORM;
	MemoryContext context = race_aggregate_context(fcinfo, "race_classify, race_posterior or race_score");
	RaceQuestion question;
	int			i;

	if (scores == NULL)
		scores = race_scores_start(fcinfo, context);
	for (i = 1; i < PG_NARGS(); i++)
		if (PG_ARGISNULL(i))
			PG_RETURN_POINTER(scores);

	if (PG_NARGS() > 4)
		prior = prior_argument(fcinfo);
	race_scores_set_prior(scores, prior);

	race_ask(fcinfo, 2, &question);
	race_scores_append(scores, race_class_score(&question, prior), PG_GETARG_DATUM(1), context);
	PG_RETURN_POINTER(scores);
}

Datum
race_classify_final(PG_FUNCTION_ARGS)
{
	RaceScores *scores = PG_ARGISNULL(0) ? NULL : (RaceScores *) PG_GETARG_POINTER(0);

	if (scores == NULL || scores->n == 0)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(race_scores_best(race_scores_sharpen(scores), race_scores_comparison(scores),
									 PG_GET_COLLATION())->label);
}

Datum
race_score_final(PG_FUNCTION_ARGS)
{
	RaceScores *scores = PG_ARGISNULL(0) ? NULL : (RaceScores *) PG_GETARG_POINTER(0);

	if (scores == NULL || scores->n == 0)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(race_scores_number(scores, race_scores_comparison(scores),
										PG_GET_COLLATION()));
}

Datum
race_posterior_final(PG_FUNCTION_ARGS)
{
	RaceScores *scores = PG_ARGISNULL(0) ? NULL : (RaceScores *) PG_GETARG_POINTER(0);

	if (scores == NULL || scores->n == 0)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(race_scores_posterior(race_scores_sharpen(scores)));
}
