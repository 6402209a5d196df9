/*
 * share.c
 *		race_typicality_share: how many records are less typical than this one?
 */
#include "postgres.h"

#include "fmgr.h"

#include "../fit/answers.h"
#include "../server/argument.h"
#include "ranks.h"

PG_FUNCTION_INFO_V1(race_typicality_share);

typedef struct Share
{
	RaceCallSite *site;
	RaceRanksHold hold;
} Share;

static Share *
share_of_call(FmgrInfo *flinfo)
{
	if (flinfo->fn_extra == NULL)
	{
		Share	   *share = MemoryContextAllocZero(flinfo->fn_mcxt, sizeof(Share));

		share->site = race_call_site_create(race_argument_type(flinfo, 1),
											flinfo->fn_mcxt);
		race_ranks_hold(&share->hold, flinfo->fn_mcxt);
		flinfo->fn_extra = share;
	}
	return (Share *) flinfo->fn_extra;
}

/* race_typicality_share(sketch, q) */
Datum
race_typicality_share(PG_FUNCTION_ARGS)
{
	Share	   *share = share_of_call(fcinfo->flinfo);
	const RaceRanks *ranks;
	RaceQuestion question;

	race_ask_sketch(share->site, PG_GETARG_DATUM(0), &question);
	race_check_fitted(&question.view);
	ranks = race_ranks_at(&share->hold, &question);
	race_ask_about(&question, PG_GETARG_DATUM(1));
	PG_RETURN_FLOAT8(race_ranks_share(ranks, race_estimate_sum(&question)));
}
