/*
 * charts.h
 *		Charts of sketches
 *
 * Each point of the model stands for a normal distribution around it; what would lie beyond the bounds of a column is mirrored at them.
 * Other columns are left out, so these are marginals.
 */
#ifndef RACE_CHARTS_H
#define RACE_CHARTS_H

#include "postgres.h"

#include "classify.h"
#include "gaussian_smoothing.h"
#include "sample.h"

#define RACE_CHART_AXES		2

/* Smoothing that nobody asked for: the least that makes the error a small part of the peak */
#define RACE_LEAST_SMOOTHING	0.25

typedef struct RaceChartAxis
{
	RaceColumnPlace place;
	RaceSpread	spread;
	double	   *values;			/* [n], of one point or node; else 0 */
} RaceChartAxis;

typedef struct RaceChart
{
	RaceFitted	fitted;
	int			n_axes;
	RaceChartAxis axes[RACE_CHART_AXES];
	uint32		lines;			/* of the first axis, */
	uint32		length;			/* and places of the second in each; 1 without one */
	double	   *share;			/* [lines][length]: of all records, or a density */
	double	   *variance;		/* the same, or NULL where nothing is known of it */
	double		records;
} RaceChart;

/* Start a chart of n columns of a sketch with a model; errors as race_chart_axis(). */
extern void race_chart_open(RaceChart *chart, Datum sketch, const int32 *columns, int n);

/* Its next axis; raises 22023 for a column whose density is not known */
extern RaceChartAxis *race_chart_axis(RaceChart *chart, int32 column, double smoothing);

/* n places of an axis: between these bounds, those of the column (NULL), or those of the points */
extern void race_chart_places(RaceChart *chart, RaceChartAxis *axis, const double *lower,
							  const double *upper, uint32 n, bool middles);

/* Find shares and variances. Smoothly: with the least smoothing whose errors are small. */
extern void race_chart_fill(RaceChart *chart);
extern void race_chart_fill_smoothly(RaceChart *chart);

#endif
