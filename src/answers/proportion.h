/*
 * proportion.h
 *		Conditional means: the mean of a bounded value near a query
 */
#ifndef RACE_PROPORTION_H
#define RACE_PROPORTION_H

#include "postgres.h"

#include "fmgr.h"

#include "../core/core.h"
#include "question.h"

/*
 * The mean of a value near a query, from a pair of sketches.
 */

/* Call sites of both sketches in a memory context, for queries of this type */
extern RaceCallSite **race_half_sites_create(Oid type, MemoryContext context);

/* The pair, and the bounds that its sketches stand for */
typedef struct RaceValuePair
{
	Datum		sketches[RACE_HALVES];
	double		bounds[RACE_HALVES];
} RaceValuePair;

/* The row that race_conditional_mean returns */
extern Datum race_conditional_mean_row(FunctionCallInfo fcinfo, RaceCallSite **sites,
									   const RaceValuePair *pair, Datum query,
									   double confidence);

#endif
