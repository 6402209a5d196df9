/*
 * typicality.c
 *		race_typicality: the density at a query over that at an average record.
 *
 * The sum of the kernel over all pairs of records is what a sketch knows of the densities at
 * the records themselves (ACE's threshold: Luo & Shrivastava 2018).
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "utils/memutils.h"

#include "../cache/cache.h"
#include "../fit/answers.h"
#include "../query/estimate.h"
#include "products.h"

PG_FUNCTION_INFO_V1(race_typicality);

/* What was computed for a sketch */
typedef struct Typical
{
	RaceCacheEntry base;		/* must be first */
	uint64		identity;		/* these three identify the sketch */
	RaceHeader	header;
	RaceParams *params;
	double		density;
} Typical;

static RaceCache cache = RACE_CACHE_INIT(cache);

/*
 * The mean density at a record, without the kernel of the record with itself.  It is not below
 * what one record gives, 1 / n, and not below twice its own standard error, under which it
 * says nothing.  No density is above 1.
 */
static double
typical_density(const RaceView *view)
{
	double		n = race_answers_divisor(race_answers_count(view, NULL));
	double		p = race_collision_probability(view->params);
	RacePair	pair = {{view, NULL}, {n, 0}, false};
	RaceProducts products;
	double		mean;
	double		variance;

	race_products(&pair, &products);
	mean = n > 1 ? (products.aa - 1 / n) / (1 - 1 / n) : 0;
	mean = (mean - p) / (1 - p);
	/* products go with the square of the count */
	variance = (products.noise_variance + 4 * products.with_difference) / ((1 - p) * (1 - p)) +
		4 * mean * mean * view->header->noise.count_variance / (n * n);
	return Min(Max(Max(mean, 2 * sqrt(variance)), 1 / n), 1);
}

static bool
is_of(const Typical *typical, const RaceView *view)
{
	return typical->identity == view->identity &&
		memcmp(&typical->header, view->header, sizeof(RaceHeader)) == 0 &&
		race_params_same(typical->params, view->params);
}

static Typical *
find(const RaceView *view)
{
	dlist_iter	iter;

	dlist_foreach(iter, &cache.entries)
	{
		Typical    *typical = dlist_container(Typical, base.node, iter.cur);

		if (is_of(typical, view))
			return typical;
	}
	return NULL;
}

static Typical *
create(const RaceView *view)
{
	double		density = typical_density(view);
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "race sketch, typical density",
												  ALLOCSET_SMALL_SIZES);
	Typical    *typical = MemoryContextAllocZero(context, sizeof(Typical));

	typical->identity = view->identity;
	typical->header = *view->header;
	typical->params = race_params_copy(view->params, context);
	typical->density = density;
	typical->base.context = context;
	race_cache_add(&cache, &typical->base, sizeof(Typical) + race_params_size(view->params));
	return typical;
}

static void
release(void *entry)
{
	race_cache_release(&cache, (RaceCacheEntry *) entry);
}

/* The same, computed once for a sketch */
static double
typical_density_at(RaceCallSite *site, const RaceView *view)
{
	Typical    *typical = (Typical *) site->companions[RACE_COMPANION_TYPICAL].entry;

	if (typical != NULL && is_of(typical, view))
		return typical->density;
	typical = find(view);
	if (typical != NULL)
		race_cache_acquire(&cache, &typical->base);
	else
		typical = create(view);
	race_call_site_keep(site, RACE_COMPANION_TYPICAL, typical, release);
	return typical->density;
}

/* race_typicality(sketch, q) */
Datum
race_typicality(PG_FUNCTION_ARGS)
{
	RaceQuestion question;
	double		density;

	race_ask(fcinfo, 0, &question);
	density = race_estimate_mean(&question);
	PG_RETURN_FLOAT8(density / typical_density_at(question.site, &question.view));
}
