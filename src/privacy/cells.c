/*
 * cells.c
 *		Which cells of a grid a release keeps.
 *
 * All of this is computed from noisy numbers and public ones: post-processing.
 */
#include "cells.h"

#include <math.h>

void
race_cells_list(const RaceRequest *request, const RaceParams *params, double mass,
				RaceCells *cells)
{
	RaceKept	kept = {1, {0, 1}, 0};
	RaceKept	of_one_level = kept;
	double		least = INFINITY;

	cells->n = 0;
	cells->usual = kept;
	for (kept.grid.levels = 1; kept.grid.levels <= RACE_GRID_LEVELS; kept.grid.levels++)
	{
		for (kept.grid.halvings = 0; race_grid_allows(params, kept.grid) &&
			 cells->n < RACE_MOST_CELLS; kept.grid.halvings++)
		{
			double		noise = race_noise_if_kept(request, params, kept);
			double		variance = noise + race_expected_sampling(request, params, kept, mass);

			cells->kept[cells->n] = kept;
			cells->noise[cells->n++] = noise;
			if (variance < least)
			{
				least = variance;
				cells->usual = kept;
			}
		}
		if (kept.grid.levels == 1)
			of_one_level = cells->usual;
	}
	cells->halvings = of_one_level.grid.halvings;
	cells->loss = sqrt(race_expected_sampling(request, params, of_one_level, mass));
}

/*
 * In two and three dimensions what is seen is large beside its noise from the next coarser cells
 * on.  In one dimension, where numbers are often round, it is better to see what the usual cells lose.
 */
int
race_cells_look_at(const RaceParams *params, const RaceCells *cells)
{
	int			halvings = cells->halvings + (params->dims > 1 ? 1 : 0);

	if (halvings < 1)
		halvings = 1;
	while (halvings > 0 && !race_grid_looks_at(params, halvings))
		halvings--;
	return halvings;
}

/* ------------------------------------------------------- what cells may lose */

/*
 * Losses are A 2^(p h) after h halvings: A is lognormal around what is usual, and p is any of these.
 * A smooth table loses with the fourth power of cells, few places with the first.
 */
#define FACTORS			73		/* of A, from 2^-9 to 2^9 */
#define STEPS			4		/* to the next power of 2 */
#define DEVIATION		2.0		/* of its logarithm to base 2 */

static const double powers[] = {1, 1.5, 2, 2.5, 3, 4};

#define POWERS			((int) (sizeof(powers) / sizeof(powers[0])))

/* What is seen is the true loss but for such a part, beside its noise. */
#define OFF				0.2

typedef struct Losses
{
	double		usual;			/* on average over the box, after `from` halvings */
	int			from;
	double		concentration;	/* of records, at least */
	double		weight[FACTORS][POWERS];	/* a posteriori; they add up to 1 */
} Losses;

static double
factor_of(int factor)
{
	return exp2((double) (factor - FACTORS / 2) / STEPS);
}

static double
loss(const Losses *losses, int factor, int power, int halvings)
{
	return losses->usual * factor_of(factor) *
		exp2(powers[power] * (halvings - losses->from));
}

#define USUAL_CONCENTRATION		(RACE_GRID_CONCENTRATION * RACE_GRID_CONCENTRATION)

/*
 * The square of the root mean square of nodes over their mean, if it is seen.  In two and three dimensions
 * records are often near a line, which may lose little.
 */
static double
concentration(const RaceParams *params, const RaceCellsSeen *seen, double records)
{
	double		norm = race_grid_spread_of(params, seen->spread - seen->scale);
	RaceGrid	grid;
	int			i;

	race_grid_of(params, &grid);
	for (i = 0; i < seen->halvings; i++)
		race_grid_halve(&grid);
	return fmax(pow(fmax(norm, 0) / records, 2) * grid.nodes,
				params->dims > 1 ? USUAL_CONCENTRATION : 1);
}

/* The square of losses where questions are asked, over that on average over the box */
static double
where_asked(double concentration)
{
	return (1 + concentration) / 2;
}

/*
 * A table that loses less than usual has its records less close together: the square of what is lost
 * grows with their concentration.
 */
static double
where_asked_after(const Losses *losses, int factor)
{
	double		less = fmin(pow(factor_of(factor), 2), 1);

	return where_asked(fmax(losses->concentration, 1 + (USUAL_CONCENTRATION - 1) * less));
}

static void
weigh(Losses *losses, const RaceParams *params, const RaceCellsSeen *seen, double part)
{
	double		seen_loss = race_grid_loss(params, seen->halvings) * part;
	double		scale = hypot(seen->scale, OFF * seen->detail);
	double		most = -INFINITY;
	double		sum = 0;
	int			i;
	int			j;

	for (i = 0; i < FACTORS; i++)
		for (j = 0; j < POWERS; j++)
		{
			double		off = (double) (i - FACTORS / 2) / STEPS / DEVIATION;
			double		detail = loss(losses, i, j, seen->halvings) / seen_loss;

			losses->weight[i][j] = -off * off / 2 - fabs(seen->detail - detail) / scale;
			most = fmax(most, losses->weight[i][j]);
		}
	for (i = 0; i < FACTORS; i++)
		for (j = 0; j < POWERS; j++)
			sum += losses->weight[i][j] = exp(losses->weight[i][j] - most);
	for (i = 0; i < FACTORS; i++)
		for (j = 0; j < POWERS; j++)
			losses->weight[i][j] /= sum;
}

/*
 * The coarser one of two levels sums a kernel without its peak.  It then loses such a part of what
 * it would lose otherwise: between .02 and .4 on 21 made tables.
 */
#define WITHOUT_PEAK	0.15

/* The square of what is lost near bounds, if all records lie evenly */
static double
lost_at_bounds(const RaceParams *params, RaceGridChoice choice, double records)
{
	double		lost = pow(race_grid_loss_at_bounds(params, choice.halvings) * records, 2);

	if (choice.levels > 1)
		lost += pow(WITHOUT_PEAK * records *
					race_grid_loss_at_bounds(params, choice.halvings + RACE_GRID_LEVEL_HALVINGS), 2);
	return lost;
}

/* The expected error: a root, so that great losses that are unlikely do not decide. */
static double
expected_error(const Losses *losses, RaceGridChoice choice, double variance)
{
	double		sum = 0;
	int			i;
	int			j;

	for (i = 0; i < FACTORS; i++)
	{
		double		where = where_asked_after(losses, i);

		for (j = 0; j < POWERS; j++)
		{
			double		lost = loss(losses, i, j, choice.halvings);
			double		coarse = choice.levels == 1 ? 0 : WITHOUT_PEAK *
				loss(losses, i, j, choice.halvings + RACE_GRID_LEVEL_HALVINGS);

			sum += losses->weight[i][j] *
				sqrt(variance + where * (lost * lost + coarse * coarse));
		}
	}
	return sum;
}

RaceKept
race_cells_choose(const RaceParams *params, const RaceCells *cells, const RaceCellsSeen *seen,
				  double records, double part)
{
	RaceKept	best = cells->usual;
	double		least = INFINITY;
	Losses		losses;
	int			i;

	losses.usual = cells->loss / sqrt(where_asked(USUAL_CONCENTRATION));
	losses.from = cells->halvings;
	losses.concentration = concentration(params, seen, records);
	weigh(&losses, params, seen, part);
	for (i = 0; i < cells->n; i++)
	{
		RaceGridChoice choice = cells->kept[i].grid;
		double		error = expected_error(&losses, choice, cells->noise[i] +
										   lost_at_bounds(params, choice, records * part));

		if (error < least)
		{
			least = error;
			best = cells->kept[i];
		}
	}
	return best;
}
