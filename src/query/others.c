/*
 * others.c
 *		What the counters of balanced rows have in them besides the records that are asked about.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "../fit/answers.h"
#include "../sketch/known.h"
#include "others.h"

/* What was computed for a sketch */
typedef struct Squares
{
	RaceKnown	known;			/* must be first */
	double		mean;			/* over rows, of the sum of all squares of a row */
} Squares;

static RaceCache cache = RACE_CACHE_INIT(cache);

static double
mean_square(const RaceView *view)
{
	Size		n = RaceCounters(view->params);
	int64		counters[RACE_COUNTER_BLOCK];
	double		sum = 0;
	Size		from;
	Size		i;

	for (from = 0; from < n; from += RACE_COUNTER_BLOCK)
	{
		Size		block = Min(n - from, RACE_COUNTER_BLOCK);

		CHECK_FOR_INTERRUPTS();
		race_counters_load(view->counters, view->width, from, block, counters);
		for (i = 0; i < block; i++)
			sum += (double) counters[i] * (double) counters[i];
	}
	return sum / view->params->rows;
}

static Squares *
create(const RaceView *view)
{
	double		mean = mean_square(view);
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "race sketch, squares of counters",
												  ALLOCSET_SMALL_SIZES);
	Squares    *squares = MemoryContextAllocZero(context, sizeof(Squares));

	race_known_init(&squares->known, view, context);
	squares->mean = mean;
	squares->known.base.context = context;
	race_cache_add(&cache, &squares->known.base, sizeof(Squares) + race_params_size(view->params));
	return squares;
}

static void
release(void *entry)
{
	race_cache_release(&cache, (RaceCacheEntry *) entry);
}

static double
all_squares(RaceCallSite *site, const RaceView *view)
{
	Squares    *squares = (Squares *) site->companions[RACE_COMPANION_SQUARES].entry;

	if (squares != NULL && race_known_is_of(&squares->known, view))
		return squares->mean;
	squares = race_known_find(&cache, view);
	if (squares == NULL)
		squares = create(view);
	race_call_site_keep(site, RACE_COMPANION_SQUARES, squares, release);
	return squares->mean;
}

/* The same of the counters that are asked about alone */
static double
own_squares(const RaceView *view, const uint32 *buckets)
{
	uint32		rows = view->params->rows;
	Size		range = view->params->range;
	double		sum = 0;
	uint32		r;

	for (r = 0; r < rows; r++)
		sum += pow((double) race_counters_get(view->counters, view->width,
											  r * range + buckets[r]), 2);
	return sum / rows;
}

/* Each of the other categories is in any bucket with the same probability. */
double
race_others_variance(const RaceQuestion *question, double mean)
{
	const RaceView *view = &question->view;
	double		range = view->params->range;
	double		count = view->header->count;
	double		others = (count - race_answers_correct(view->params, mean, count)) / range;
	double		square = (all_squares(question->site, view) -
						  own_squares(view, question->buckets)) / (range - 1);

	return Max(square - others * others, view->header->noise.counter_variance);
}
