/*
 * gridproducts.c
 *		Sums of products of grids.
 *
 * A record is split linearly over the nodes around it.  Two records that lie at places of
 * their own in cells are so many cells apart, blurred by both splits: by a cubic B-spline.
 * So the kernel between nodes is taken to be the coefficients of the cubic spline that goes
 * through the kernel at whole numbers of cells (Unser 1999); then products have the kernel
 * itself, on average over places in a cell, and a record has 1 with itself.
 *
 * Sums over all pairs of nodes are convolutions, by Fourier transforms.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "../lsh/grid.h"
#include "../lsh/radial.h"
#include "../fit/fourier.h"
#include "products.h"

/* Larger transforms are of coarser nodes. */
#define MAX_TRANSFORM	((Size) 1 << 22)

/* Lags beyond the reach of a kernel where the coefficients of its spline fade out */
#define FADING			12

typedef struct Level
{
	RaceGrid	grid;
	bool		smooth;			/* the kernel is that of a coarse level */
	double		coarser;		/* mean step of the level that has the smooth rest, or 0 */
	int			halved[2];		/* how often cells were halved after noise was added */
	double	   *parts[2];		/* of both sketches, [nodes]; NULL for none */
} Level;

/* -------------------------------------------------------------- common cells */

/* How often the cells of `fine` are halved to be those of `coarse`; -1 if they never are */
static int
halvings_between(const RaceParams *fine, const RaceParams *coarse)
{
	double		ratio = race_array(fine, RACE_ARRAY_CELLS)[0] / race_array(coarse, RACE_ARRAY_CELLS)[0];
	int			halvings = 0;

	for (; ratio > 1; ratio /= 2)
		halvings++;
	return ratio == 1 ? halvings : -1;
}

/* A copy with cells after so many halvings, in one level */
static RaceParams *
coarsened(const RaceParams *params, int halvings)
{
	RaceParams *copy = race_params_copy(params, CurrentMemoryContext);
	RaceGridChoice choice = {halvings, 1};

	race_grid_apply(copy, choice);
	return copy;
}

/* How often the cells of both must be halved to be the same; false if they never are */
static bool
common_halvings(const RaceParams *a, const RaceParams *b, int halvings[2])
{
	halvings[0] = Max(halvings_between(a, b), 0);
	halvings[1] = Max(halvings_between(b, a), 0);
	return race_params_same(coarsened(a, halvings[0]), coarsened(b, halvings[1]));
}

bool
race_grids_comparable(const RaceParams *a, const RaceParams *b)
{
	int			halvings[2];

	return a->dims == b->dims && common_halvings(a, b, halvings);
}

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
		(void) common_halvings(pair->view[0]->params, pair->view[1]->params, halvings);
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

/* ------------------------------------------------------------------ kernels */

/*
 * A kernel between nodes so many cells apart, up to lags[axis] - 1 along each axis; beyond, it
 * is 0, or there are no nodes.  Arrays have RACE_FOURIER_DIMS axes, the first ones of size 1 if
 * there are fewer.
 */
typedef struct Stencil
{
	size_t		lags[RACE_FOURIER_DIMS];
	size_t		nodes[RACE_FOURIER_DIMS];	/* of the grid */
	size_t		sizes[RACE_FOURIER_DIMS];	/* of a transform */
	double		step[RACE_FOURIER_DIMS];
} Stencil;

static Size
volume(const size_t *sizes)
{
	return sizes[0] * sizes[1] * sizes[2];
}

static Stencil
make_stencil(const Level *level)
{
	Stencil		stencil = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}};
	int			first = RACE_FOURIER_DIMS - level->grid.dims;
	uint32		i;

	for (i = 0; i < level->grid.dims; i++)
	{
		int			axis = first + i;
		size_t		nodes = level->grid.cells[i] + 1;
		double		reach = level->coarser == 0 ? INFINITY :
			ceil(RACE_GRID_REACH * level->coarser / level->grid.step[i]) + FADING;

		stencil.step[axis] = level->grid.step[i];
		stencil.nodes[axis] = nodes;
		stencil.lags[axis] = reach < nodes ? (size_t) reach : nodes;
		stencil.sizes[axis] = race_fourier_size(nodes + stencil.lags[axis] - 1);
	}
	return stencil;
}

/*
 * Replace n values along a line by coefficients of the cubic spline through them, which is
 * even at the first and level after the last: (c[i - 1] + 4 c[i] + c[i + 1]) / 6 is value i.
 */
static void
spline_line(double *line, size_t n, size_t stride, double *ratio)
{
	size_t		i;

	if (n == 1)
		return;
	ratio[0] = 0.5;
	line[0] *= 6.0 / 4;
	for (i = 1; i < n; i++)
	{
		double		diagonal = (i == n - 1 ? 5 : 4) - ratio[i - 1];

		ratio[i] = 1 / diagonal;
		line[i * stride] = (6 * line[i * stride] - line[(i - 1) * stride]) / diagonal;
	}
	for (i = n - 1; i-- > 0;)
		line[i * stride] -= ratio[i] * line[(i + 1) * stride];
}

static void
spline(double *values, const size_t *sizes)
{
	double	   *ratio = palloc(Max(Max(sizes[0], sizes[1]), sizes[2]) * sizeof(double));
	size_t		inner = 1;
	int			axis;

	for (axis = RACE_FOURIER_DIMS; axis-- > 0; inner *= sizes[axis])
	{
		size_t		lines = volume(sizes) / sizes[axis];
		size_t		i;

		for (i = 0; i < lines; i++)
			spline_line(values + i / inner * inner * sizes[axis] + i % inner, sizes[axis],
						inner, ratio);
	}
	pfree(ratio);
}

/* The kernel between nodes, [lags], to the power `squared` ? 2 : 1 */
static double *
make_kernel(const RaceParams *params, const Level *level, const Stencil *stencil, bool squared)
{
	RaceParams *copy = race_params_copy(params, CurrentMemoryContext);
	RaceRadial *radial = palloc(sizeof(RaceRadial));
	double	   *kernel = palloc_extended(volume(stencil->lags) * sizeof(double), MCXT_ALLOC_HUGE);
	size_t		at[RACE_FOURIER_DIMS];
	Size		i = 0;

	copy->power *= squared ? 2 : 1;
	race_radial_init_shape(radial, copy, level->smooth ? level->grid.mean_step : 0, level->coarser);
	for (at[0] = 0; at[0] < stencil->lags[0]; at[0]++)
		for (at[1] = 0; at[1] < stencil->lags[1]; at[1]++)
		{
			CHECK_FOR_INTERRUPTS();
			for (at[2] = 0; at[2] < stencil->lags[2]; at[2]++)
			{
				double		sum = 0;
				int			axis;

				for (axis = 0; axis < RACE_FOURIER_DIMS; axis++)
				{
					double		x = at[axis] * stencil->step[axis];

					sum += radial->euclidean ? x * x : x;
				}
				kernel[i++] = race_radial_value(radial, radial->euclidean ? sqrt(sum) : sum);
			}
		}
	spline(kernel, stencil->lags);
	pfree(radial);
	pfree(copy);
	return kernel;
}

/* ---------------------------------------------------------------- transforms */

static RaceComplex *
allocate(const Stencil *stencil)
{
	return palloc_extended(volume(stencil->sizes) * sizeof(RaceComplex),
						   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

static void
fourier(RaceComplex *x, const Stencil *stencil, bool inverse)
{
	RaceComplex *space = palloc(race_fourier_space(stencil->sizes) * sizeof(RaceComplex));

	race_fourier(x, stencil->sizes, inverse, space);
	pfree(space);
}

/* Where the node of this number is in an array that is transformed */
static Size
place_of(const Stencil *stencil, Size node)
{
	Size		last = node % stencil->nodes[2];
	Size		middle = node / stencil->nodes[2] % stencil->nodes[1];
	Size		first = node / stencil->nodes[2] / stencil->nodes[1];

	return (first * stencil->sizes[1] + middle) * stencil->sizes[2] + last;
}

/* The transform of two arrays of nodes, one in the real and one in the imaginary part */
static RaceComplex *
transform_nodes(const Stencil *stencil, const double *re, const double *im)
{
	RaceComplex *x = allocate(stencil);
	Size		i;

	for (i = 0; i < volume(stencil->nodes); i++)
	{
		RaceComplex *at = &x[place_of(stencil, i)];

		at->re = re[i];
		at->im = im == NULL ? 0 : im[i];
	}
	fourier(x, stencil, false);
	return x;
}

/* The lag that element i of an axis of a transform stands for */
static size_t
lag_of(size_t i, size_t size)
{
	return i <= size / 2 ? i : size - i;
}

/* The transform of a kernel, and of another or NULL in the imaginary part: both are even */
static RaceComplex *
transform_kernels(const Stencil *stencil, const double *re, const double *im)
{
	RaceComplex *x = allocate(stencil);
	const size_t *sizes = stencil->sizes;
	const size_t *lags = stencil->lags;
	Size		i;

	for (i = 0; i < volume(sizes); i++)
	{
		size_t		last = lag_of(i % sizes[2], sizes[2]);
		size_t		middle = lag_of(i / sizes[2] % sizes[1], sizes[1]);
		size_t		first = lag_of(i / sizes[2] / sizes[1], sizes[0]);
		Size		at = (first * lags[1] + middle) * lags[2] + last;

		if (last >= lags[2] || middle >= lags[1] || first >= lags[0])
			continue;
		x[i].re = re[at];
		x[i].im = im == NULL ? 0 : im[at];
	}
	fourier(x, stencil, false);
	return x;
}

/* Where the opposite frequency is */
static Size
opposite(const size_t *sizes, Size i)
{
	Size		last = i % sizes[2];
	Size		middle = i / sizes[2] % sizes[1];
	Size		first = i / sizes[2] / sizes[1];

	last = last == 0 ? 0 : sizes[2] - last;
	middle = middle == 0 ? 0 : sizes[1] - middle;
	first = first == 0 ? 0 : sizes[0] - first;
	return (first * sizes[1] + middle) * sizes[2] + last;
}

/* |X|^2, |Y|^2 and the real part of X* Y, at a frequency of the transform of x + iy */
static void
powers_at(const RaceComplex *transformed, const size_t *sizes, Size i, double *xx, double *yy,
		  double *xy)
{
	RaceComplex c = transformed[i];
	RaceComplex d = transformed[opposite(sizes, i)];
	double		sum = c.re * c.re + c.im * c.im + d.re * d.re + d.im * d.im;
	double		re = c.re * d.re - c.im * d.im;

	*xx = (sum + 2 * re) / 4;
	*yy = (sum - 2 * re) / 4;
	*xy = (c.re * d.im + c.im * d.re) / 2;
}

/* -------------------------------------------------------------------- noise */

/*
 * The covariance of noise, of variance 1 before, along an axis after halvings: of a node in
 * the middle, at lag 0 and at lag 1
 */
static void
covariance_of(int halvings, double covariance[2])
{
	double		h = ldexp(1, halvings);

	covariance[0] = (2 * h * h + 1) / (3 * h);
	covariance[1] = (h * h - 1) / (6 * h);
}

/* The sum over all pairs of nodes of noise of variance 1 times the kernel */
static double
noise_trace(const Stencil *stencil, const double *kernel, int halvings)
{
	double		covariance[2];
	double		sum = 0;
	int			offset;

	covariance_of(halvings, covariance);
	for (offset = 0; offset < 1 << RACE_FOURIER_DIMS; offset++)
	{
		double		pairs = 1;
		Size		at = 0;
		int			axis;

		for (axis = 0; axis < RACE_FOURIER_DIMS; axis++)
		{
			size_t		lag = offset >> axis & 1;
			double		n = (double) stencil->nodes[axis];

			if (lag >= stencil->lags[axis])
				break;
			/* nodes at the bounds have half of the fine ones */
			if (stencil->nodes[axis] > 1)
				pairs *= lag == 0 ? n * covariance[0] - (covariance[0] - 1) :
					2 * (n - 1) * covariance[1];
			at = at * stencil->lags[axis] + lag;
		}
		if (axis == RACE_FOURIER_DIMS)
			sum += pairs * kernel[at];
	}
	return sum;
}

/* The sum of the squares of the kernel over all pairs of nodes */
static double
sum_of_squares(const Stencil *stencil, const double *kernel)
{
	double		sum = 0;
	Size		i;

	for (i = 0; i < volume(stencil->lags); i++)
	{
		Size		rest = i;
		double		pairs = 1;
		int			axis;

		for (axis = RACE_FOURIER_DIMS; axis-- > 0; rest /= stencil->lags[axis])
		{
			size_t		lag = rest % stencil->lags[axis];

			pairs *= (lag == 0 ? 1 : 2) * (double) (stencil->nodes[axis] - lag);
		}
		sum += pairs * kernel[i] * kernel[i];
	}
	return sum;
}

/*
 * The kernel times the covariance of noise along each axis: where cells were halved, noise is
 * larger, and alike at neighbors.
 */
static double *
blurred(const Stencil *stencil, const double *kernel, int halvings)
{
	Size		n = volume(stencil->lags);
	double	   *out = palloc_extended(n * sizeof(double), MCXT_ALLOC_HUGE);
	double	   *in = palloc_extended(n * sizeof(double), MCXT_ALLOC_HUGE);
	double		covariance[2];
	Size		inner = 1;
	int			axis;

	covariance_of(halvings, covariance);
	memcpy(out, kernel, n * sizeof(double));
	for (axis = RACE_FOURIER_DIMS; halvings > 0 && axis-- > 0; inner *= stencil->lags[axis])
	{
		Size		i;

		if (stencil->nodes[axis] == 1)
			continue;
		memcpy(in, out, n * sizeof(double));
		for (i = 0; i < n; i++)
		{
			size_t		lag = i / inner % stencil->lags[axis];
			double		before = lag > 0 ? in[i - inner] :
				stencil->lags[axis] > 1 ? in[i + inner] : 0;
			double		after = lag + 1 < stencil->lags[axis] ? in[i + inner] : in[i];

			out[i] = covariance[0] * in[i] + covariance[1] * (before + after);
		}
	}
	pfree(in);
	return out;
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
add_noise(const RacePair *pair, const Level *level, const Stencil *stencil,
		  const double *kernel, RaceProducts *products)
{
	RaceCumulants noise = race_cumulants_add(race_noise_of(pair, 0), race_noise_of(pair, 1));
	int			halved = Max(level->halved[0], level->halved[1]);
	double	   *correlated = blurred(stencil, kernel, halved);
	double		nodes = (double) level->grid.nodes;
	double		squares = sum_of_squares(stencil, correlated);
	double		trace = noise_trace(stencil, kernel, halved);

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
add_powers(const RacePair *pair, const Level *level, const Stencil *stencil,
		   const double *kernel, RaceProducts *products)
{
	RaceComplex *both = transform_nodes(stencil, level->parts[0], level->parts[1]);
	RaceComplex *k = transform_kernels(stencil, kernel, NULL);
	double		noise = race_noise_of(pair, 0).second + race_noise_of(pair, 1).second;
	double		share = pair->records[0] / (pair->records[0] + pair->records[1]);
	Size		n = volume(stencil->sizes);
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
		powers_at(both, stencil->sizes, i, &aa, &bb, &ab);
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
	Stencil		stencil = make_stencil(level);
	double	   *kernel = make_kernel(pair->view[0]->params, level, &stencil, false);
	double		mine = race_noise_of(pair, 0).second *
		noise_trace(&stencil, kernel, level->halved[0]);

	add_powers(pair, level, &stencil, kernel, products);
	products->aa -= mine;
	products->ab -= products->same ? mine : 0;
	products->bb -= race_noise_of(pair, 1).second *
		noise_trace(&stencil, kernel, level->halved[1]);
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
transform_both(const RacePair *pair, const Level *level, const Stencil *stencil, double *p)
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
	both = transform_nodes(stencil, p, d);
	pfree(d);
	return both;
}

/* What P answers at the nodes, and what D does, come from one transform. */
static Moments
sum_moments(const RacePair *pair, const Level *level, const Stencil *stencil,
			const double *kernel, const double *square)
{
	double	   *p = palloc_extended(level->grid.nodes * sizeof(double), MCXT_ALLOC_HUGE);
	RaceComplex *both = transform_both(pair, level, stencil, p);
	RaceComplex *kernels = transform_kernels(stencil, kernel, square);
	Size		n = volume(stencil->sizes);
	Moments		sums = {0, 0, 0, 0};
	Size		i;

	for (i = 0; i < n; i++)
	{
		double		pp;
		double		dd;
		double		pd;

		powers_at(both, stencil->sizes, i, &pp, &dd, &pd);
		sums.squares += kernels[i].im * pp / n;
	}
	for (i = 0; i < n; i++)
	{
		both[i].re *= kernels[i].re / n;
		both[i].im *= kernels[i].re / n;
	}
	fourier(both, stencil, true);
	for (i = 0; i < level->grid.nodes; i++)
	{
		RaceComplex at = both[place_of(stencil, i)];

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
	Stencil		stencil = make_stencil(level);
	double	   *kernel = make_kernel(pair->view[0]->params, level, &stencil, false);
	double	   *square = make_kernel(pair->view[0]->params, level, &stencil, true);
	Moments		sums = sum_moments(pair, level, &stencil, kernel, square);
	double		n = pair->records[0] + pair->records[1];
	double		noise = race_noise_of_both(pair);
	double		noise_apart = race_noise_of(pair, 0).second + race_noise_of(pair, 1).second;
	double		row = sum_of_squares(&stencil, kernel) / level->grid.nodes;
	double		least = products->kernel * products->kernel;
	double		trace = noise_trace(&stencil, square, Max(level->halved[0], level->halved[1]));
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
		Stencil		stencil = make_stencil(level);

		if (volume(stencil.sizes) <= MAX_TRANSFORM || level->grid.halvings == 0)
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
