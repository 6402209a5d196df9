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

#define USUAL_CONCENTRATION		(RACE_GRID_CONCENTRATION * RACE_GRID_CONCENTRATION)

/* The losses of a table, on average over the box, by what was seen and what is usual */
typedef struct Losses
{
	double		of_bias;		/* the loss over that of the usual table of the same cells */
	double		where_asked;	/* the square of losses where questions are asked, over that on average */
} Losses;

/* Return the square of losses where questions are asked, over that on average over the box. */
static double
where_asked(double concentration)
{
	return (1 + concentration) / 2;
}

/*
 * Return the mean square of nodes over the square of their mean.  In two and three dimensions it is seen, but
 * at least the usual one: records are often near a line, which may lose little.  In one, a table that loses
 * less than usual has its records less close together: the square of what is lost grows with their concentration.
 */
static double
concentration(const RaceParams *params, const RaceCellsSeen *seen, double records, double of_usual)
{
	double		norm = race_grid_spread_of(params, seen->spread - seen->scale);
	RaceGrid	grid;
	int			i;

	if (params->dims == 1)
		return 1 + (USUAL_CONCENTRATION - 1) * fmin(of_usual * of_usual, 1);
	race_grid_of(params, &grid);
	for (i = 0; i < seen->halvings; i++)
		race_grid_halve(&grid);
	return fmax(pow(fmax(norm, 0) / records, 2) * grid.nodes, USUAL_CONCENTRATION);
}

/*
 * In one dimension sums lose such a part of what wavelets show (grid_choice.c), since point masses are found in
 * the nodes (fit/heaps.c).  Of 1 and 1/2, this made errors less where numbers are rounded (held-out tables of
 * rounded lognormal numbers, n = 20,000, pure epsilon = 1: 2.24 for 3.00), and changed none of smooth ones.
 */
#define OF_SHARED_PLACES	0.5

/*
 * Estimate losses: the mean of the squares of what was seen and of what is usual.  What was seen weighs as many
 * times more as the square of the larger one is that of the noise; so the result is about the noise at least.
 * Losses grow with cells as they usually do.
 */
static Losses
estimate_losses(const RaceParams *params, const RaceCells *cells, const RaceCellsSeen *seen,
				double records, double part)
{
	RaceGridChoice there = {seen->halvings, 1};
	RaceGridChoice usual = {cells->halvings, 1};
	double		lost = cells->loss / sqrt(where_asked(USUAL_CONCENTRATION)) *
		race_grid_bias(params, there) / race_grid_bias(params, usual);
	double		unit = race_grid_loss(params, seen->halvings) * part *
		(params->dims == 1 ? OF_SHARED_PLACES : 1);
	double		expected = lost / unit;
	double		detail = fmax(seen->detail, 0);
	double		weight = pow(fmax(detail, expected) / seen->scale, 2);
	double		of_usual = sqrt((weight * detail * detail + expected * expected) / (weight + 1)) / expected;
	Losses		losses;

	losses.of_bias = of_usual * lost / race_grid_bias(params, there);
	losses.where_asked = where_asked(concentration(params, seen, records, of_usual));
	return losses;
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

/* Return the expected square of errors in a kernel sum, of noise and of what is lost. */
static double
expected_error(const Losses *losses, const RaceParams *params, RaceGridChoice choice, double variance)
{
	RaceGridChoice coarser = {choice.halvings + RACE_GRID_LEVEL_HALVINGS, 1};
	RaceGridChoice finer = {choice.halvings, 1};
	double		lost = pow(losses->of_bias * race_grid_bias(params, finer), 2);

	if (choice.levels > 1)
		lost += pow(WITHOUT_PEAK * losses->of_bias * race_grid_bias(params, coarser), 2);
	return variance + losses->where_asked * lost;
}

RaceKept
race_cells_choose(const RaceParams *params, const RaceCells *cells, const RaceCellsSeen *seen,
				  double records, double part)
{
	Losses		losses = estimate_losses(params, cells, seen, records, part);
	RaceKept	best = cells->usual;
	double		least = INFINITY;
	int			i;

	for (i = 0; i < cells->n; i++)
	{
		RaceGridChoice choice = cells->kept[i].grid;
		double		error = expected_error(&losses, params, choice, cells->noise[i] +
										   lost_at_bounds(params, choice, records * part));

		if (error < least)
		{
			least = error;
			best = cells->kept[i];
		}
	}
	return best;
}
