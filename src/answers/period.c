/*
 * period.c
 *		What the values of a series say of a period: weighted sums of private sketches
 *
 * This is post-processing.  Values have the same parameters and the same noise, which public facts alone decide, so a
 * weighted sum of their counters is a sketch of the same kind, whose noise has a known variance.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#include "../core/core.h"
#include "period.h"

#define ROUNDING_VARIANCE	(1.0 / 12)	/* of a sum that is rounded to an integer */

static int64
rounded(double sum)
{
	return (int64) rint(Min(Max(sum, -(double) RACE_MAX_COUNT), (double) RACE_MAX_COUNT));
}

/* Add the counters of a sketch, and its count after them. */
static void
add_counters(const RaceView *view, double weight, double *sums)
{
	Size		n = RaceCounters(view->params);

	for (Size i = 0; i < n; i++)
	{
		int64		counter;

		race_counters_load(view->counters, view->width, i, 1, &counter);
		sums[i] += weight * (double) counter;
	}
	sums[n] += weight * (double) view->header->count;
}

/* Noise is that of one value, times the sum of squared weights. */
static void
scale_noise(RaceSketch *sketch, double squares)
{
	double	   *measured = (double *) race_array(sketch->params, RACE_ARRAY_MEASURED);
	RaceNoise  *noise = &sketch->header.noise;

	noise->counter_variance = noise->counter_variance * squares + ROUNDING_VARIANCE;
	noise->count_variance = noise->count_variance * squares + ROUNDING_VARIANCE;
	for (uint32 i = 0; measured != NULL && i < sketch->params->outputs; i++)
		measured[RACE_TABLE_NUMBERS * i + 2] = measured[RACE_TABLE_NUMBERS * i + 2] * squares + ROUNDING_VARIANCE;
}

Datum
race_weighted_sum(int n, const Datum *sketches, const double *weights)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "weighted sum", ALLOCSET_DEFAULT_SIZES);
	MemoryContext each = AllocSetContextCreate(CurrentMemoryContext, "value of a series", ALLOCSET_DEFAULT_SIZES);
	RaceSketch *sum = NULL;
	double	   *sums = NULL;
	double		squares = 0;

	for (int i = 0; i < n; i++)
	{
		MemoryContext old = MemoryContextSwitchTo(each);
		RaceView	view;

		CHECK_FOR_INTERRUPTS();
		race_sketch_view_any(sketches[i], &view);
		if (sum == NULL)
		{
			sum = race_sketch_create(view.params, view.params->rows, sizeof(int64), context);
			sum->header.noise = view.header->noise;
			sums = MemoryContextAllocExtended(old, (RaceCounters(view.params) + 1) * sizeof(double),
											  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
		}
		else
		{
			if (!race_params_same(sum->params, view.params) ||
				sum->header.noise.counter_variance != view.header->noise.counter_variance ||
				sum->header.noise.half != view.header->noise.half)
				ereport(ERROR,
						(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						 errmsg("the values of the series were not made in the same way"),
						 errhint("Another version of racepriv made some of them: ask periods from before and after apart.")));
			sum->header.noise.pair_id += view.header->noise.pair_id;
		}
		add_counters(&view, weights[i], sums);
		squares += weights[i] * weights[i];
		MemoryContextSwitchTo(old);
		MemoryContextReset(each);
	}
	for (Size i = 0; i < RaceCounters(sum->params); i++)
		((int64 *) sum->counters)[i] = rounded(sums[i]);
	sum->header.count = rounded(sums[RaceCounters(sum->params)]);
	sum->header.noise.releases = n;
	scale_noise(sum, squares);
	race_sketch_touch(sum);
	pfree(sums);
	MemoryContextDelete(each);
	return datumCopy(RaceSketchGetDatum(sum), false, -1);
}
