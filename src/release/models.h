/*
 * models.h
 *		What a release needs of models, scores and reports, which answers compute from private
 *		values
 */
#ifndef RACE_RELEASE_MODELS_H
#define RACE_RELEASE_MODELS_H

#include "postgres.h"

#include "fmgr.h"

#include "hash/params.h"

/* Answers are above releases, which do not refer to them: _PG_init() sets these functions. */
typedef struct RaceModels
{
	bool (*can_fit)(
		const RaceParams *params);           /* can sketches with these parameters have a model? */
	Datum (*fit)(Datum sketch);              /* a private sketch with a model */
	Datum (*score)(FunctionCallInfo fcinfo); /* _race_score_of(sketches, q) */
	char *(*summarize)(Datum sketch); /* what is wrong with domains of columns, as lines, or NULL */
} RaceModels;

extern const RaceModels *race_models;

#endif
