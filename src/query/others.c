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

static void *
create_squares(const RaceView *view, void *question, MemoryContext context, Size *size)
{
	Squares    *squares = MemoryContextAllocZero(context, sizeof(Squares));

	(void) question;
	race_known_init(&squares->known, view, context);
	squares->mean = mean_square(view);
	*size = sizeof(Squares) + race_params_size(view->params);
	return squares;
}

static const RaceDerivedKind squares_of_counters = {"squares of counters", create_squares, NULL};

static double
all_squares(RaceCallSite *site, const RaceView *view)
{
	return ((Squares *) race_derived_at(site, &squares_of_counters, view, NULL))->mean;
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
