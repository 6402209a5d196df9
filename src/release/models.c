/*
 * models.c
 *		What a release needs of models, scores and reports, which answers compute from private
 *		values
 */
#include "postgres.h"

#include "fmgr.h"

#include "release/models.h"

const RaceModels *race_models = NULL;

PG_FUNCTION_INFO_V1(race_score_of);

/* Return the score of a record by the classes of a constant array: _race_score_of(sketches, q). */
Datum
race_score_of(PG_FUNCTION_ARGS)
{
	return race_models->score(fcinfo);
}
