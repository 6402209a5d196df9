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

#include "../fit/answers.h"
#include "../query/estimate.h"
#include "../sketch/known.h"
#include "products.h"
#include "typicality.h"

PG_FUNCTION_INFO_V1(race_typicality);

/* What was computed for a sketch */
typedef struct Typical
{
	RaceKnown	known;			/* must be first */
	RaceTypical typical;
} Typical;

/*
 * The mean density at a record, without the kernel of the record with itself.  It is not below
 * what one record gives, 1 / n, and not below twice its own standard error, under which it
 * says nothing.  No density is above 1.
 */
static RaceTypical
typical_of(const RaceView *view)
{
	double		n = race_answers_divisor(race_answers_count(view, NULL));
	double		p = race_collision_probability(view->params);
	RacePair	pair = {{view, NULL}, {n, 0}};
	RaceProducts products;
	double		mean;
	double		variance;

	race_products(&pair, &products);
	mean = n > 1 ? (products.aa - 1 / n) / (1 - 1 / n) : 0;
	mean = (mean - p) / (1 - p);
	/* products go with the square of the count */
	variance = (products.noise_variance + 4 * products.with_difference) / ((1 - p) * (1 - p)) +
		4 * mean * mean * view->header->noise.count_variance / (n * n);
	return (RaceTypical)
	{
		Min(Max(Max(mean, 2 * sqrt(variance)), 1 / n), 1),
			mean > 2 * sqrt(variance) ? sqrt(variance) : INFINITY
	};
}

static void *
create_typical(const RaceView *view, void *question, MemoryContext context, Size *size)
{
	Typical    *typical = MemoryContextAllocZero(context, sizeof(Typical));

	(void) question;
	race_known_init(&typical->known, view, context);
	typical->typical = typical_of(view);
	*size = sizeof(Typical) + race_params_size(view->params);
	return typical;
}

static const RaceDerivedKind typical_density = {"typical density", create_typical, NULL};

RaceTypical
race_typical(RaceCallSite *site, const RaceView *view)
{
	return ((Typical *) race_derived_at(site, &typical_density, view, NULL))->typical;
}

/* race_typicality(sketch, q) */
Datum
race_typicality(PG_FUNCTION_ARGS)
{
	RaceQuestion question;
	double		density;

	race_ask(fcinfo, 0, &question);
	density = race_estimate_mean(&question);
	PG_RETURN_FLOAT8(density / race_typical(question.site, &question.view).density);
}
