/*
 * calibration.c
 *		How many records of each class have a score, by private sketches of the scores.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "../fit/solve.h"
#include "../lsh/grid.h"
#include "../params/params.h"
#include "../sketch/counters.h"
#include "calibration.h"

/*
 * Cells are joined while the records of a place are fewer than so many standard deviations of
 * its noise, but for the last few: on seven tables more cells lost accuracy, and fewer ones
 * were calibrated less well.
 */
#define LEAST_SIGNAL	2.5
#define LEAST_CELLS		5

/* ------------------------------------------------------------------ loading */

/* race_score_params() gives these for some number of classes. */
bool
race_is_of_scores(const RaceParams *params)
{
	RaceGrid	grid;

	if (!race_is_grid(params) || params->dims != 1 || params->bandwidth != 0.2 || params->power != 4)
		return false;
	race_grid_of(params, &grid);
	return grid.lower[0] == 0 && fabs(fmod(grid.cells[0] * grid.width[0], 2) - 1) < 1e-6;
}

/* How many cells a lead has in a sketch of scores */
static uint32
cells_of(int classes, const RaceView *view)
{
	double		length = 2 * classes - 1;
	RaceGrid	grid;

	if (race_is_grid(view->params) && view->params->dims == 1)
	{
		race_grid_of(view->params, &grid);
		if (grid.lower[0] == 0 && fabs(grid.cells[0] * grid.width[0] - length) < 1e-6 &&
			fmod(grid.cells[0], length) == 0)
			return grid.cells[0] / (uint32) length;
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("this is no sketch of scores of %d classes", classes),
			 errdetail("The parameters are %s.", race_params_brief(view->params)),
			 errhint("race_score_params gives the parameters.")));
	return 0;					/* not reached */
}

/* What a sketch says of places: a best class and a node of its lead each */
static void
load(const RaceView *view, int classes, uint32 cells, double *records)
{
	double		unit = (double) race_record_unit(view->params);
	int			best;
	uint32		j;

	for (best = 0; best < classes; best++)
		for (j = 0; j <= cells; j++)
			*records++ = race_counters_get(view->counters, view->width,
										   (size_t) 2 * best * cells + j) / unit;
}

/* A number with noise, made better by another measurement of it */
typedef struct Measured
{
	double		value;
	double		variance;
} Measured;

static Measured
combine(Measured a, Measured b)
{
	double		sum = a.variance + b.variance;
	double		of_b = sum > 0 ? a.variance / sum : 0;

	return (Measured)
	{
		a.value + of_b * (b.value - a.value), of_b * b.variance
	};
}

/* How many records a class has: by its sketch, by that of its scores, and by all places */
static double
total_of(const RaceView *sketch, const RaceView *scores, const double *records, size_t places)
{
	Measured	total = {sketch->header->count, sketch->header->noise.count_variance};
	Measured	count = {scores->header->count, scores->header->noise.count_variance};
	Measured	sum = {0, scores->header->noise.counter_variance /
		pow((double) race_record_unit(scores->params), 2) * places};
	size_t		i;

	for (i = 0; i < places; i++)
		sum.value += records[i];
	return Max(combine(combine(total, count), sum).value, 0);
}

/* -------------------------------------------------------------------- cells */

static size_t
places_of(const RaceCalibration *calibration)
{
	return (size_t) calibration->classes * (calibration->cells + 1);
}

/* Half as many cells of all leads: linear weights of a node are 1/2, 1, 1/2 of the finer ones. */
static void
join_cells(RaceCalibration *calibration)
{
	size_t		leads = (size_t) calibration->classes * calibration->classes;
	uint32		cells = calibration->cells / 2;
	size_t		i;
	uint32		j;

	for (i = 0; i < leads; i++)
	{
		const double *fine = calibration->records + i * (calibration->cells + 1);
		double	   *coarse = calibration->records + i * (cells + 1);

		/* ahead of what is still to be read */
		for (j = 0; j <= cells; j++)
			coarse[j] = fine[2 * j] + (j > 0 ? fine[2 * j - 1] / 2 : 0) +
				(j < cells ? fine[2 * j + 1] / 2 : 0);
	}
	calibration->cells = cells;
}

/* Join cells while there are few records in each, where noise has this variance. */
static void
choose_cells(RaceCalibration *calibration, double variance)
{
	double		all = 0;
	int			i;

	for (i = 0; i < calibration->classes; i++)
		all += calibration->totals[i];
	while (calibration->cells % 2 == 0 && calibration->cells / 2 >= LEAST_CELLS &&
		   all / places_of(calibration) < LEAST_SIGNAL * sqrt(variance * calibration->classes))
	{
		join_cells(calibration);
		variance *= 1.5;
	}
	calibration->margin = sqrt(2 * variance);
}

/* Replace what sketches say by the nearest numbers that there can be. */
static void
project(RaceCalibration *calibration)
{
	size_t		places = places_of(calibration);
	double	   *sorted = palloc(places * sizeof(double));
	int			i;

	for (i = 0; i < calibration->classes; i++)
	{
		double	   *records = calibration->records + i * places;

		CHECK_FOR_INTERRUPTS();
		if (calibration->totals[i] > 0)
			race_simplex_project(records, places, calibration->totals[i], sorted);
		else
			memset(records, 0, places * sizeof(double));
	}
	pfree(sorted);
}

RaceCalibration *
race_calibration_create(int classes, const RaceView *sketches, const RaceView *scores,
						MemoryContext context)
{
	RaceCalibration *calibration = MemoryContextAlloc(context, sizeof(RaceCalibration));
	size_t		places;
	double		variance = 0;
	int			i;

	calibration->classes = classes;
	calibration->cells = cells_of(classes, &scores[0]);
	places = places_of(calibration);
	calibration->totals = MemoryContextAlloc(context, classes * sizeof(double));
	calibration->records = MemoryContextAllocHuge(context, classes * places * sizeof(double));
	for (i = 0; i < classes; i++)
	{
		double	   *records = calibration->records + i * places;

		CHECK_FOR_INTERRUPTS();
		race_params_check_same(scores[0].params, scores[i].params);
		load(&scores[i], classes, calibration->cells, records);
		calibration->totals[i] = total_of(&sketches[i], &scores[i], records, places);
		variance = Max(variance, scores[i].header->noise.counter_variance);
	}
	choose_cells(calibration, variance / pow((double) race_record_unit(scores[0].params), 2));
	project(calibration);
	return calibration;
}

/* ----------------------------------------------------------------- questions */

void
race_calibration_ask(const RaceCalibration *calibration, double score, double *records)
{
	uint32		cells = calibration->cells;
	int			best = (int) Min(Max(score / 2, 0), calibration->classes - 1);
	double		place = Min(Max(score - 2 * best, 0), 1) * cells;
	uint32		node = Min((uint32) place, cells - 1);
	double		share = place - node;
	double		all = 0;
	int			i;
	uint32		j;

	for (i = 0; i < calibration->classes; i++)
	{
		const double *lead = calibration->records +
			((size_t) i * calibration->classes + best) * (cells + 1);

		records[i] = (1 - share) * lead[node] + share * lead[node + 1];
		all += records[i];
	}
	for (i = 0; all == 0 && i < calibration->classes; i++)
	{
		const double *lead = calibration->records +
			((size_t) i * calibration->classes + best) * (cells + 1);

		for (j = 0; j <= cells; j++)
			records[i] += lead[j];
	}
}
