/*
 * conditional_mean.h
 *		The mean of a value near a query, from a pair of sketches.
 */
#ifndef RACE_CONDITIONAL_MEAN_H
#define RACE_CONDITIONAL_MEAN_H

#include "postgres.h"

#include "fmgr.h"

#include "../cache/call_site.h"
#include "../privacy/values.h"

/* Both sketches are asked at call sites of their own. */
typedef struct RaceHalfSites
{
	RaceCallSite *sites[RACE_HALVES];
} RaceHalfSites;

/* Call sites in a memory context, for queries of this type */
extern void race_half_sites_create(RaceHalfSites *sites, Oid type, MemoryContext context);

/* The pair, and the bounds that its sketches stand for */
typedef struct RaceValuePair
{
	Datum		sketches[RACE_HALVES];
	double		bounds[RACE_HALVES];
} RaceValuePair;

/* The row that race_conditional_mean returns */
extern Datum race_conditional_mean_row(FunctionCallInfo fcinfo, RaceHalfSites *sites,
									   const RaceValuePair *pair, Datum query,
									   double confidence);

#endif							/* RACE_CONDITIONAL_MEAN_H */
