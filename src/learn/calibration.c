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
#include "curves.h"

/* What race_score_params() has at most */
#define MOST_CLASSES	100
#define MOST_CELLS		20

/* Shares that are expected are at most so near to 1, since nothing is certain. */
#define NEARLY_ALL		0.999

/* Nobody needs to know a number of records better than to one, which rounding would not bear. */
#define LEAST_VARIANCE	1.0

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
			fmod(grid.cells[0], length) == 0 && classes <= MOST_CLASSES &&
			grid.cells[0] <= MOST_CELLS * length)
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

/* ------------------------------------------------------------------- shares */

static size_t
places_of(const RaceCalibration *calibration)
{
	return (size_t) calibration->classes * (calibration->cells + 1);
}

/* What there is of a class with a best class: at each node of the lead */
static double *
lead_of(const RaceCalibration *calibration, int class, int best)
{
	return calibration->records +
		((size_t) class * calibration->classes + best) * (calibration->cells + 1);
}

/*
 * The share of all records whose best class is right.  None of the numbers of records of a class
 * with each best class is negative, and they add up to its records: the nearest such ones count.
 */
static double
accuracy_of(const RaceCalibration *calibration)
{
	int			classes = calibration->classes;
	double	   *sums = palloc(2 * classes * sizeof(double));
	double		right = 0;
	double		all = 0;
	int			i;
	int			best;
	uint32		j;

	for (i = 0; i < classes; i++)
	{
		if (calibration->totals[i] == 0)
			continue;
		for (best = 0; best < classes; best++)
			for (sums[best] = 0, j = 0; j <= calibration->cells; j++)
				sums[best] += lead_of(calibration, i, best)[j];
		race_simplex_project(sums, classes, calibration->totals[i], sums + classes);
		right += sums[i];
		all += calibration->totals[i];
	}
	pfree(sums);
	return all > 0 ? right / all : 0;
}

/* A share of right ones that is neither certain nor worse than luck */
static double
within(double share, int classes)
{
	return Min(Max(share, 0.5 / classes), NEARLY_ALL);
}

/* How often the best class is right with each lead, whatever class that is */
static double *
rightness_of(const RaceCalibration *calibration, const double *places, double variance)
{
	int			classes = calibration->classes;
	uint32		cells = calibration->cells;
	RaceCurves *curve = race_curves_create(1, cells, classes * variance);
	double		accuracy = within(accuracy_of(calibration), classes);
	int			best;
	uint32		j;

	for (j = 0; j <= cells; j++)
	{
		curve->records[j] = curve->having[j] = 0;
		for (best = 0; best < classes; best++)
		{
			curve->records[j] += places[best * (cells + 1) + j];
			curve->having[j] += lead_of(calibration, best, best)[j];
		}
		curve->shares[j] = accuracy;
	}
	race_curves_fit(curve);
	for (j = 0; j <= cells; j++)
		curve->shares[j] = within(curve->shares[j], classes);
	return curve->shares;
}

/* Which part of the records that are not of the best class is expected of another class */
static double
part_of_others(const RaceCalibration *calibration, int class, int best)
{
	double		others = 0;
	int			i;

	for (i = 0; i < calibration->classes; i++)
		others += i == best ? 0 : calibration->totals[i];
	return others > 0 ? calibration->totals[class] / others : 1.0 / (calibration->classes - 1);
}

/*
 * Shares of classes where they are best, or of all others there: expected is that all classes are
 * right as often, and otherwise as frequent as anywhere.
 */
static RaceCurves *
fit_shares(const RaceCalibration *calibration, const double *places, const double *rightness,
		   double variance, bool best_ones)
{
	int			classes = calibration->classes;
	uint32		nodes = calibration->cells + 1;
	RaceCurves *curves = race_curves_create(best_ones ? classes : classes * (classes - 1),
											calibration->cells, variance);
	size_t		at = 0;
	int			i;
	int			best;
	uint32		j;

	for (best = 0; best < classes; best++)
		for (i = 0; i < classes; i++)
		{
			double		part = i == best ? 1 : part_of_others(calibration, i, best);

			if ((i == best) != best_ones)
				continue;
			memcpy(curves->records + at, places + best * nodes, nodes * sizeof(double));
			memcpy(curves->having + at, lead_of(calibration, i, best), nodes * sizeof(double));
			for (j = 0; j < nodes; j++)
				curves->shares[at++] = best_ones ? rightness[j] : part * (1 - rightness[j]);
		}
	race_curves_fit(curves);
	return curves;
}

/* Replace what sketches say of a place by the records there, in shares that add up to 1. */
static void
share_place(RaceCalibration *calibration, int best, uint32 node, double records,
			const RaceCurves *right, const RaceCurves *wrong)
{
	int			classes = calibration->classes;
	uint32		nodes = calibration->cells + 1;
	const double *others = wrong->shares + (size_t) best * (classes - 1) * nodes + node;
	double		share = Min(Max(right->shares[best * nodes + node], 0), 1);
	double		sum = 0;
	int			i;

	for (i = 0; i < classes - 1; i++)
		sum += Max(others[i * nodes], 0);
	for (i = 0; i < classes; i++)
		lead_of(calibration, i, best)[node] = records *
			(i == best ? share :
			 sum > 0 ? (1 - share) * Max(others[(i - (i > best)) * nodes], 0) / sum :
			 (1 - share) * part_of_others(calibration, i, best));
}

/* Replace what sketches say by likely numbers of records, where noise has this variance. */
static void
share_out(RaceCalibration *calibration, double variance)
{
	int			classes = calibration->classes;
	size_t		n = places_of(calibration);
	double	   *places = palloc0(n * sizeof(double));	/* records of all classes */
	double	   *rightness;
	RaceCurves *right;
	RaceCurves *wrong;
	size_t		place;
	int			i;

	for (i = 0; i < classes; i++)
		for (place = 0; place < n; place++)
			places[place] += calibration->records[i * n + place];
	rightness = rightness_of(calibration, places, variance);
	right = fit_shares(calibration, places, rightness, variance, true);
	wrong = fit_shares(calibration, places, rightness, variance, false);
	for (place = 0; place < n; place++)
		share_place(calibration, place / (calibration->cells + 1), place % (calibration->cells + 1),
					Max(places[place], 1), right, wrong);
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
	variance = Max(variance / pow((double) race_record_unit(scores[0].params), 2), LEAST_VARIANCE);
	calibration->margin = sqrt(2 * variance);
	share_out(calibration, variance);
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
	double		sum[2] = {0, 0};
	int			i;

	for (i = 0; i < calibration->classes; i++)
	{
		sum[0] += lead_of(calibration, i, best)[node];
		sum[1] += lead_of(calibration, i, best)[node + 1];
	}
	for (i = 0; i < calibration->classes; i++)
	{
		const double *lead = lead_of(calibration, i, best) + node;

		/* shares are linear between nodes */
		records[i] = ((1 - share) * sum[0] + share * sum[1]) *
			((1 - share) * lead[0] / sum[0] + share * lead[1] / sum[1]);
	}
}
