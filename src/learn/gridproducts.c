/*
 * gridproducts.c
 *		Sums of products of grids.
 *
 * They are sums over all pairs of nodes: convolutions, by Fourier transforms (stencil.h).
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "../lsh/grid.h"
#include "products.h"
#include "stencil.h"

/* Larger transforms are of coarser nodes. */
#define MAX_TRANSFORM	((Size) 1 << 22)

typedef struct Level
{
	RaceGrid	grid;
	bool		smooth;			/* the kernel is that of a coarse level */
	double		coarser;		/* mean step of the level that has the smooth rest, or 0 */
	int			halved[2];		/* how often cells were halved after noise was added */
	double	   *parts[2];		/* of both sketches, [nodes]; NULL for none */
} Level;

/* ------------------------------------------------------------------- levels */

/* Halve the cells of a level once more. */
static void
halve_level(Level *level)
{
	int			side;

	for (side = 0; side < 2; side++)
		if (level->parts[side] != NULL)
		{
			race_grid_coarsen_real(&level->grid, level->parts[side], level->parts[side]);
			level->halved[side]++;
		}
	race_grid_halve(&level->grid);
}

/* Nodes of a sketch from number `from` on, after halvings, in parts of its records */
static double *
load_nodes(const RacePair *pair, int side, Size from, RaceGrid grid, int halvings)
{
	const RaceView *view = pair->view[side];
	double		unit = (double) race_record_unit(view->params) * pair->records[side];
	double	   *nodes = palloc_extended(grid.nodes * sizeof(double), MCXT_ALLOC_HUGE);
	Size		i;

	for (i = 0; i < grid.nodes; i++)
		nodes[i] = (double) race_counters_get(view->counters, view->width, from + i) / unit;
	for (; halvings > 0; halvings--)
	{
		race_grid_coarsen_real(&grid, nodes, nodes);
		race_grid_halve(&grid);
	}
	return nodes;
}

/* Of both the finest level, with the cells that both have */
static void
load_finest(const RacePair *pair, Level *level)
{
	int			halvings[2] = {0, 0};
	int			side;
	int			i;

	memset(level, 0, sizeof(Level));
	if (pair->view[1] != NULL)
		(void) race_params_common_cells(pair->view[0]->params, pair->view[1]->params, halvings);
	for (side = 0; side < 2; side++)
	{
		RaceGrid	grid;

		if (pair->view[side] == NULL)
			continue;
		race_grid_of(pair->view[side]->params, &grid);
		level->parts[side] = load_nodes(pair, side, 0, grid, halvings[side]);
		level->halved[side] = halvings[side];
		for (i = 0; i < halvings[side]; i++)
			race_grid_halve(&grid);
		level->grid = grid;
	}
}

/* The second level, which both sketches have */
static void
load_second(const RacePair *pair, const Level *first, Level *second)
{
	int			side;
	int			i;

	memset(second, 0, sizeof(Level));
	second->smooth = true;
	second->grid = first->grid;
	for (i = RACE_GRID_FACTOR; i > 1; i /= 2)
		race_grid_halve(&second->grid);
	for (side = 0; side < 2; side++)
		if (pair->view[side] != NULL)
			second->parts[side] = load_nodes(pair, side, first->grid.nodes, second->grid, 0);
}

static void
free_level(Level *level)
{
	int			side;

	for (side = 0; side < 2; side++)
		if (level->parts[side] != NULL)
			pfree(level->parts[side]);
}

/* ----------------------------------------------------------------- products */

/* A sum of noise's eigenvalues to the third power, between its bounds by the others */
static double
third_power(double first, double second)
{
	return first > 0 && second > 0 ? sqrt(second * second / first * pow(second, 1.5)) : 0;
}

/*
 * Add what noise does in a level.  If the cells of only one side were halved, its covariance is
 * taken for that of both.
 */
static void
add_noise(const RacePair *pair, const Level *level, const RaceStencil *stencil,
		  const double *kernel, RaceProducts *products)
{
	RaceCumulants noise = race_cumulants_add(race_noise_of(pair, 0), race_noise_of(pair, 1));
	int			halved = Max(level->halved[0], level->halved[1]);
	double	   *correlated = race_blurred(stencil, kernel, halved);
	double		nodes = (double) level->grid.nodes;
	double		squares = race_sum_of_squares(stencil, correlated);
	double		trace = race_noise_trace(stencil, kernel, halved);

	products->noise_variance += nodes * kernel[0] * kernel[0] * noise.fourth +
		2 * squares * pow(noise.second, 2);
	products->noise_third += nodes * pow(kernel[0], 3) *
		(noise.sixth + 12 * noise.fourth * noise.second) +
		8 * third_power(trace, squares) * pow(noise.second, 3);
	products->with_record += noise.second * squares / nodes;
	/* what noise has in D and in P is taken off their products with noise */
	products->with_difference -= pow(noise.second, 2) * squares;
	products->with_both -= noise.second * race_noise_of_both(pair) * squares;
	pfree(correlated);
}

/* Sums over all frequencies: products, and with_difference and with_both before noise */
static void
add_powers(const RacePair *pair, const Level *level, const RaceStencil *stencil,
		   const double *kernel, RaceProducts *products)
{
	RaceComplex *both = race_transform_nodes(stencil, level->parts[0], level->parts[1]);
	RaceComplex *k = race_transform_kernels(stencil, kernel, NULL);
	double		noise = race_noise_of(pair, 0).second + race_noise_of(pair, 1).second;
	double		share = pair->records[0] / (pair->records[0] + pair->records[1]);
	Size		n = race_volume(stencil->sizes);
	Size		i;

	for (i = 0; i < n; i++)
	{
		double		aa;
		double		bb;
		double		ab;
		double		weight = k[i].re / n;
		double		of_noise = noise * k[i].re * weight;

		if (i % 65536 == 0)
			CHECK_FOR_INTERRUPTS();
		race_powers_at(both, stencil->sizes, i, &aa, &bb, &ab);
		products->aa += weight * aa;
		products->ab += weight * ab;
		products->bb += weight * bb;
		products->with_difference += of_noise * (aa - 2 * ab + bb);
		products->with_both += of_noise *
			(share * share * aa + 2 * share * (1 - share) * ab + (1 - share) * (1 - share) * bb);
	}
	pfree(both);
	pfree(k);
}

static void
add_level(const RacePair *pair, const Level *level, RaceProducts *products)
{
	RaceStencil stencil = race_stencil_of(&level->grid, level->smooth, level->coarser);
	double	   *kernel = race_stencil_kernel(&stencil, pair->view[0]->params, false);
	double		mine = race_noise_of(pair, 0).second *
		race_noise_trace(&stencil, kernel, level->halved[0]);

	add_powers(pair, level, &stencil, kernel, products);
	products->aa -= mine;
	products->ab -= products->same ? mine : 0;
	products->bb -= race_noise_of(pair, 1).second *
		race_noise_trace(&stencil, kernel, level->halved[1]);
	add_noise(pair, level, &stencil, kernel, products);
	pfree(kernel);
}

/* ------------------------------------------------------------------ moments */

/* Sums with noise in them: with P at both ends, and with what P and D answer at the nodes */
typedef struct Moments
{
	double		squares;		/* of P with the squared kernel */
	double		densities;		/* of P times the squares of what P answers, */
	double		differences;	/* and of what D answers */
	double		answers;		/* of what P answers */
} Moments;

/* P + iD, transformed */
static RaceComplex *
transform_both(const RacePair *pair, const Level *level, const RaceStencil *stencil, double *p)
{
	double		share = pair->records[0] / (pair->records[0] + pair->records[1]);
	double	   *d = palloc_extended(level->grid.nodes * sizeof(double), MCXT_ALLOC_HUGE);
	RaceComplex *both;
	Size		i;

	for (i = 0; i < level->grid.nodes; i++)
	{
		p[i] = share * level->parts[0][i] + (1 - share) * level->parts[1][i];
		d[i] = level->parts[0][i] - level->parts[1][i];
	}
	both = race_transform_nodes(stencil, p, d);
	pfree(d);
	return both;
}

/* What P answers at the nodes, and what D does, come from one transform. */
static Moments
sum_moments(const RacePair *pair, const Level *level, const RaceStencil *stencil,
			const double *kernel, const double *square)
{
	double	   *p = palloc_extended(level->grid.nodes * sizeof(double), MCXT_ALLOC_HUGE);
	RaceComplex *both = transform_both(pair, level, stencil, p);
	RaceComplex *kernels = race_transform_kernels(stencil, kernel, square);
	Size		n = race_volume(stencil->sizes);
	Moments		sums = {0, 0, 0, 0};
	Size		i;

	for (i = 0; i < n; i++)
	{
		double		pp;
		double		dd;
		double		pd;

		race_powers_at(both, stencil->sizes, i, &pp, &dd, &pd);
		sums.squares += kernels[i].im * pp / n;
	}
	for (i = 0; i < n; i++)
	{
		both[i].re *= kernels[i].re / n;
		both[i].im *= kernels[i].re / n;
	}
	race_stencil_fourier(both, stencil, true);
	for (i = 0; i < level->grid.nodes; i++)
	{
		RaceComplex at = both[race_place_of(stencil, i)];

		sums.densities += p[i] * at.re * at.re;
		sums.differences += p[i] * at.im * at.im;
		sums.answers += at.re;
	}
	pfree(p);
	pfree(both);
	pfree(kernels);
	return sums;
}

/*
 * Moments of P by the finest level alone.  The shares of noise are taken off, and pairs of a
 * record with itself; bounds hold whatever noise is left.
 */
static void
find_moments(const RacePair *pair, const Level *level, RaceProducts *products)
{
	RaceStencil stencil = race_stencil_of(&level->grid, level->smooth, level->coarser);
	double	   *kernel = race_stencil_kernel(&stencil, pair->view[0]->params, false);
	double	   *square = race_stencil_kernel(&stencil, pair->view[0]->params, true);
	Moments		sums = sum_moments(pair, level, &stencil, kernel, square);
	double		n = pair->records[0] + pair->records[1];
	double		noise = race_noise_of_both(pair);
	double		noise_apart = race_noise_of(pair, 0).second + race_noise_of(pair, 1).second;
	double		row = race_sum_of_squares(&stencil, kernel) / level->grid.nodes;
	double		least = products->kernel * products->kernel;
	double		trace = race_noise_trace(&stencil, square, Max(level->halved[0], level->halved[1]));
	double		squares = (sums.squares - noise * trace - 1 / n) / (1 - 1 / n);
	double		densities = sums.densities - noise * (row + 2 * kernel[0] * sums.answers);

	products->kernel_square = Max(Min(squares, products->kernel), least);
	densities -= (products->kernel_square + 2 * products->kernel) / n;
	products->density_square = Max(Min(densities, (products->kernel_square + least) / 2), least);
	products->difference_square = Max(sums.differences - noise_apart * row, 0);
	pfree(kernel);
	pfree(square);
}

/* Halve cells as long as a transform would be too large. */
static void
fit_in(Level *level)
{
	for (;;)
	{
		RaceStencil stencil = race_stencil_of(&level->grid, level->smooth, level->coarser);

		if (race_volume(stencil.sizes) <= MAX_TRANSFORM || level->grid.halvings == 0)
			return;
		halve_level(level);
	}
}

void
race_grid_products(const RacePair *pair, RaceProducts *products)
{
	const RaceParams *params = pair->view[0]->params;
	bool		two = race_grid_levels(params) > 1 &&
		(pair->view[1] == NULL || race_params_same(params, pair->view[1]->params));
	double		n = pair->records[0] + pair->records[1];
	double		share = pair->records[0] / n;
	Level		level;

	products->self = 1;
	load_finest(pair, &level);
	if (two)
	{
		Level		second;

		load_second(pair, &level, &second);
		level.coarser = second.grid.mean_step;
		fit_in(&second);
		add_level(pair, &second, products);
		free_level(&second);
	}
	fit_in(&level);
	add_level(pair, &level, products);
	products->with_difference = Max(products->with_difference, 0);
	products->with_both = Max(products->with_both, 0);
	products->kernel = (share * share * products->aa + 2 * share * (1 - share) * products->ab +
						(1 - share) * (1 - share) * products->bb - 1 / n) / (1 - 1 / n);
	products->kernel = Max(Min(products->kernel, 1), 0);
	if (pair->moments)
	{
		level.coarser = 0;
		fit_in(&level);
		find_moments(pair, &level, products);
	}
	free_level(&level);
}
