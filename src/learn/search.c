/*
 * search.c
 *		Places where an answer of a sketch is highest.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "../fit/candidates.h"
#include "../lsh/grid.h"
#include "peaks.h"
#include "search.h"

#define POPULATION		1500	/* places of both kinds, where there is no model */
#define FIRST_STEP		0.5		/* of a climb, in widths, */
#define LAST_STEP		(1.0 / 128)
#define MOST_SWEEPS		1000
#define SAME			0.25	/* widths apart, maxima are the same */
#define LOOKS			4		/* at a line, in a width; at most so many: */
#define MOST_LOOKS		32

/*
 * A width is a bandwidth, in which the kernel falls to e^-1.  Where columns have none, it is a
 * small part of the box.
 */
#define PART_OF_BOX		16

static double
width_of(const RaceParams *params, uint32 i, double span)
{
	const double *factors = race_array(params, RACE_ARRAY_BANDWIDTHS);
	double		width = span / PART_OF_BOX;

	if (race_array(params, RACE_ARRAY_MATRIX) == NULL &&
		race_kernel_type(params->kernel)->of_distance != NULL)
		width = params->bandwidth * (factors == NULL ? 1 : factors[i]) / params->power;
	return width > 0 ? width : 1;
}

static void
find_cells(RaceSearch *search, const RaceParams *params)
{
	RaceGrid	grid;
	uint32		i;

	race_grid_of(params, &grid);
	search->beside = palloc(grid.dims * sizeof(double));
	search->half_cells = palloc(grid.dims * sizeof(double));
	for (i = 0; i < grid.dims; i++)
		search->half_cells[i] = grid.width[i] / 2;
}

static double
density_at_place(RaceSearch *search, const double *x)
{
	CHECK_FOR_INTERRUPTS();
	race_ask_about_vector(&search->question, x);
	return race_estimate_mean(&search->question);
}

void
race_search_start(RaceSearch *search, Datum sketch, const double *lower, const double *upper)
{
	const RaceParams *params;
	uint32		i;

	race_ask_sketch(race_call_site_create(InvalidOid, CurrentMemoryContext), sketch,
					&search->question);
	params = search->question.view.params;
	search->look = density_at_place;
	search->population = POPULATION;
	search->floor = 0;
	search->first_step = FIRST_STEP;
	search->last_step = LAST_STEP;
	search->dims = params->dims;
	search->half_cells = NULL;
	search->lower = lower;
	search->upper = upper;
	search->widths = palloc(params->dims * sizeof(double));
	for (i = 0; i < params->dims; i++)
		search->widths[i] = width_of(params, i, upper[i] - lower[i]);
	if (race_is_grid(params))
		find_cells(search, params);
}

/*
 * Answers of a grid peak a little at its nodes.  Their mean over places half a cell away along
 * each axis does not.
 */
static double
density_beside(RaceSearch *search, const double *x)
{
	double	   *at = search->beside;
	double		sum = 0;
	uint32		i;

	memcpy(at, x, search->dims * sizeof(double));
	for (i = 0; i < search->dims; i++)
	{
		at[i] = x[i] - search->half_cells[i];
		sum += density_at_place(search, at);
		at[i] = x[i] + search->half_cells[i];
		sum += density_at_place(search, at);
		at[i] = x[i];
	}
	return sum / (2 * search->dims);
}

/* The distance of two places in widths */
static double
apart(const RaceSearch *search, const double *a, const double *b)
{
	double		sum = 0;
	uint32		i;

	for (i = 0; i < search->dims; i++)
	{
		double		d = (a[i] - b[i]) / search->widths[i];

		sum += d * d;
	}
	return sqrt(sum);
}

/* --------------------------------------------------------------- populations */

static void
look_at(RaceSearch *search, RacePlaces *places, uint32 from)
{
	uint32		i;

	for (i = from; i < places->n; i++)
		places->density[i] = search->look(search, places->x + (Size) i * search->dims);
}

static void
make_places(const RaceSearch *search, RacePlaces *places, uint32 n)
{
	places->n = n;
	places->x = palloc_extended((Size) n * search->dims * sizeof(double), MCXT_ALLOC_HUGE);
	places->density = palloc(n * sizeof(double));
}

/* The points of the model, as far as they are in the box */
static void
take_points(RaceSearch *search, RacePlaces *places)
{
	const RaceView *view = &search->question.view;
	RaceColumn	column;
	uint64		i;
	uint32		j;

	make_places(search, places, view->model->points);
	race_model_columns(view->model, view->params, &column);
	for (i = 0; i < places->n; i++)
		for (j = 0; j < search->dims; j++)
			places->x[i * search->dims + j] =
				Min(Max(column.numbers[i * search->dims + j], search->lower[j]),
					search->upper[j]);
	look_at(search, places, 0);
}

/*
 * Keep the denser half of some places, and draw the others around them, by density.  False if
 * none has any.
 */
static bool
draw_around(RaceSearch *search, const RaceBox *box, int round, RacePlaces *places)
{
	double	   *weights = palloc(places->n * sizeof(double));
	double	   *space = palloc(places->n * sizeof(double));
	uint32		kept;
	uint32		i;

	for (i = 0; i < places->n; i++)
		weights[i] = Max(places->density[i] - search->floor, 0);
	kept = race_candidates_keep(search->dims, places->n / 2, places->x, weights, places->n,
								space);
	if (kept > 0)
	{
		for (i = 0; i < kept; i++)
			places->density[i] = weights[i] + search->floor;
		race_candidates_around(box, 0, round, race_candidates_jitter(box, places->n, round),
							   places->x, weights, kept, places->n - kept,
							   places->x + (Size) kept * search->dims);
		look_at(search, places, kept);
	}
	pfree(weights);
	pfree(space);
	return kept > 0;
}

/* The least of some places */
static double
least_of(const RacePlaces *places)
{
	double		least = INFINITY;
	uint32		i;

	for (i = 0; i < places->n; i++)
		least = Min(least, places->density[i]);
	return isfinite(least) ? least : 0;
}

/*
 * Places at random, which see all hills where dimensions are few; and as many again, which in
 * rounds are drawn ever more closely around the denser ones, and find a hill where they are
 * many
 */
static void
draw_places(RaceSearch *search, RacePlaces *places)
{
	RaceBox		box = {search->dims, search->lower, search->upper};
	RacePlaces	moved;
	int			round;

	make_places(search, places, 2 * search->population);
	race_candidates_uniform(&box, 0, 0, places->n, places->x);
	look_at(search, places, 0);
	if (isinf(search->floor))
		search->floor = least_of(places);
	moved.n = search->population;
	moved.x = places->x + (Size) moved.n * search->dims;
	moved.density = places->density + moved.n;
	for (round = 1; round < RACE_FIT_ROUNDS; round++)
		if (!draw_around(search, &box, round, &moved))
			return;
}

/* -------------------------------------------------------------------- climbs */

/* Try a step to both sides along each axis.  Returns the density reached. */
static double
try_axes(RaceSearch *search, double (*density_at) (RaceSearch *, const double *), double *x,
		 double density, double step)
{
	uint32		i;

	for (i = 0; i < 2 * search->dims; i++)
	{
		uint32		axis = i / 2;
		double		at = x[axis];
		double		found;

		x[axis] = at + (i % 2 == 0 ? step : -step) * search->widths[axis];
		x[axis] = Min(Max(x[axis], search->lower[axis]), search->upper[axis]);
		found = x[axis] == at ? density : density_at(search, x);
		if (found > density)
			density = found;
		else
			x[axis] = at;
	}
	return density;
}

/*
 * Climb from a place: try a step to both sides along each axis, and then the whole way of
 * such a round once more.  Where nothing is denser, halve the steps (Hooke & Jeeves 1961).
 * `space` is for 2 * dims numbers.
 */
static double
climb(RaceSearch *search, double (*density_at) (RaceSearch *, const double *), double *x,
	  double *space)
{
	double		density = density_at(search, x);
	Size		size = search->dims * sizeof(double);
	double	   *before = space;
	double	   *next = space + search->dims;
	double		step = search->first_step;
	int			sweeps;

	for (sweeps = 0; step >= search->last_step && sweeps < MOST_SWEEPS; sweeps++)
	{
		double		least = density;
		double		found;
		uint32		i;

		memcpy(before, x, size);
		density = try_axes(search, density_at, x, density, step);
		if (density == least)
		{
			step /= 2;
			continue;
		}
		for (i = 0; i < search->dims; i++)
			next[i] = Min(Max(2 * x[i] - before[i], search->lower[i]), search->upper[i]);
		found = density_at(search, next);
		if (found > density)
		{
			density = found;
			memcpy(x, next, size);
		}
	}
	return density;
}

/* Is one of the first n places in this order within so many widths of x? */
static bool
is_beaten(const RaceSearch *search, const RacePlaces *places, const RaceRanked *order,
		  uint32 n, const double *x, double within)
{
	uint32		i;

	for (i = 0; i < n; i++)
		if (apart(search, places->x + (Size) order[i].i * search->dims, x) < within)
			return true;
	return false;
}

/*
 * Of places keep those that no denser one within so many widths beats, the densest first,
 * at most `most`.
 */
static void
keep_maxima(const RaceSearch *search, const RacePlaces *places, double within, uint32 most,
			RacePlaces *maxima)
{
	RaceRanked *order = palloc(places->n * sizeof(RaceRanked));
	uint32		n = 0;
	uint32		i;

	race_rank(places->density, places->n, order);
	make_places(search, maxima, Min(most, places->n));
	for (i = 0; i < places->n && n < most; i++)
	{
		const double *x = places->x + (Size) order[i].i * search->dims;

		CHECK_FOR_INTERRUPTS();
		if (is_beaten(search, places, order, i, x, within))
			continue;
		memcpy(maxima->x + (Size) n * search->dims, x, search->dims * sizeof(double));
		maxima->density[n++] = order[i].value;
	}
	maxima->n = n;
	pfree(order);
}

static void
climb_all(RaceSearch *search, double (*density_at) (RaceSearch *, const double *),
		  RacePlaces *places)
{
	double	   *space = palloc(2 * search->dims * sizeof(double));
	uint32		i;

	for (i = 0; i < places->n; i++)
		climb(search, density_at, places->x + (Size) i * search->dims, space);
	look_at(search, places, 0);
	pfree(space);
}

void
race_search_maxima(RaceSearch *search, uint32 most, RacePlaces *maxima)
{
	RacePlaces	population;
	RacePlaces	starts;

	if (search->question.view.model != NULL)
		take_points(search, &population);
	else
		draw_places(search, &population);
	keep_maxima(search, &population, 1, most, &starts);
	climb_all(search, search->look, &starts);
	keep_maxima(search, &starts, SAME, most, maxima);
	if (search->half_cells == NULL)
		return;
	starts = *maxima;
	climb_all(search, density_beside, &starts);
	keep_maxima(search, &starts, SAME, most, maxima);
}

double
race_search_highest(RaceSearch *search, uint32 climbs, double *x)
{
	Size		size = search->dims * sizeof(double);
	double	   *space = palloc(2 * size);
	double		highest = climb(search, search->look, x, space);
	RacePlaces	population;
	RacePlaces	starts;
	uint32		i;

	draw_places(search, &population);
	keep_maxima(search, &population, 1, climbs, &starts);
	for (i = 0; i < starts.n; i++)
	{
		double	   *start = starts.x + (Size) i * search->dims;
		double		found = climb(search, search->look, start, space);

		if (found > highest)
		{
			highest = found;
			memcpy(x, start, size);
		}
	}
	pfree(space);
	return highest;
}

double
race_search_saddle(RaceSearch *search, const double *a, const double *b)
{
	int			looks = (int) Min(Max(ceil(apart(search, a, b) * LOOKS), 3), MOST_LOOKS);
	double	   *x = palloc(search->dims * sizeof(double));
	double		least = INFINITY;
	int			k;
	uint32		i;

	for (k = 1; k <= looks; k++)
	{
		double		t = (double) k / (looks + 1);

		for (i = 0; i < search->dims; i++)
			x[i] = a[i] * (1 - t) + b[i] * t;
		least = Min(least, density_at_place(search, x));
	}
	pfree(x);
	return least;
}
