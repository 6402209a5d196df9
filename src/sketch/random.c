/*
 * random.c
 *		The source of all noise: PostgreSQL's strong random numbers
 */
#include "postgres.h"

#include "miscadmin.h"

#include "privacy/noise.h"
#include "sketch/random.h"

static void
fill_random(void *arg, uint8_t *bytes, size_t size)
{
	(void) arg;
	if (!pg_strong_random(bytes, size))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random numbers for noise")));
}

RaceRandom *
race_strong_random(void)
{
	static RaceRandom random = {fill_random, NULL, 0, {0}};
	static int owner = 0;

	/* a process must never use bytes that its parent may use as well */
	if (owner != MyProcPid)
	{
		random.left = 0;
		owner = MyProcPid;
	}
	return &random;
}

uint64_t
race_random_id(void)
{
	return 1 + race_random_below(race_strong_random(), PG_UINT64_MAX);
}
