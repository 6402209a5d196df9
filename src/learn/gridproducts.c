/*
 * gridproducts.c
 *		Sums of products of grids: convolutions with the kernel, by Fourier transforms.
 *
 * A record is split linearly over the nodes around it.  Two records at random places of their
 * cells are some cells apart, blurred by both splits: by a cubic B-spline.  So the kernel between
 * nodes is divided by the transform of that spline (Unser 1999).  Then products estimate the
 * kernel itself, on average over places in a cell, and a record has 1 with itself.
 *
 * Transforms are on a torus that is longer than the nodes by the reach of the kernel, so that
 * pairs of nodes do not wrap around.  Products of a grid of two levels are sums over both levels, each with its
 * part of the kernel; its moments are of the fine nodes alone.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "../fit/fourier.h"
#include "../lsh/grid.h"
#include "../lsh/radial.h"
#include "products.h"

/* Elements of a transform (16 bytes each), above which cells are halved */
#define MAX_TRANSFORM	((Size) 1 << 22)

/* Cells beyond the reach of a kernel in which its spline's coefficients fade out: 0.27^12 < 1e-6 */
#define FADING			12

typedef struct Nodes
{
	RaceGrid	grid;			/* the cells that both sketches have */
	int			halved[2];		/* halvings since noise was added */
	double	   *parts[2];		/* counters of both in parts of the whole; or NULL */
	size_t		nodes[RACE_FOURIER_DIMS];	/* 1 for axes that the grid does not have */
	size_t		sizes[RACE_FOURIER_DIMS];	/* of a transform */
	double		smooth;			/* mean step of a second level, else 0 */
	double		coarser;		/* mean step of the level that has the smooth rest, or 0 */
	double		step[RACE_FOURIER_DIMS];
} Nodes;

static Size
volume(const size_t *sizes)
{
	return sizes[0] * sizes[1] * sizes[2];
}

/* Set at[] to the coordinates of element i of an array of these sizes. */
static void
coordinates(const size_t *sizes, Size i, size_t *at)
{
	at[2] = i % sizes[2];
	at[1] = i / sizes[2] % sizes[1];
	at[0] = i / sizes[2] / sizes[1];
}

static Size
index_of(const size_t *sizes, const size_t *at)
{
	return (at[0] * sizes[1] + at[1]) * sizes[2] + at[2];
}

/* Set the sizes of arrays for a grid. */
static void
set_sizes(Nodes *nodes)
{
	int			first = RACE_FOURIER_DIMS - nodes->grid.dims;
	int			axis;

	for (axis = 0; axis < RACE_FOURIER_DIMS; axis++)
	{
		bool		used = axis >= first;
		size_t		n = used ? nodes->grid.cells[axis - first] + 1 : 1;
		double		step = used ? nodes->grid.step[axis - first] : 0;
		double		reach = nodes->coarser == 0 ? n :
			ceil(RACE_GRID_REACH * nodes->coarser / step) + FADING;

		nodes->nodes[axis] = n;
		nodes->step[axis] = step;
		nodes->sizes[axis] = used ? race_fourier_size(n + (size_t) Min(reach, n)) : 1;
	}
}

/* Halve the cells until a transform is small enough. */
static void
coarsen(Nodes *nodes)
{
	int			side;

	for (set_sizes(nodes); volume(nodes->sizes) > MAX_TRANSFORM && nodes->grid.halvings > 0;
		 set_sizes(nodes))
	{
		for (side = 0; side < 2 && nodes->parts[side] != NULL; side++)
		{
			race_grid_coarsen_real(&nodes->grid, nodes->parts[side], nodes->parts[side]);
			nodes->halved[side]++;
		}
		race_grid_halve(&nodes->grid);
	}
}

/*
 * Load the nodes of both sketches, with the finest cells that both have; or those of the second
 * level, which follow the first.
 */
static void
load_nodes(const RacePair *pair, Nodes *nodes, bool second)
{
	int			side;

	memset(nodes, 0, sizeof(Nodes));
	if (pair->view[1] != NULL && !second)
		(void) race_params_common_cells(pair->view[0]->params, pair->view[1]->params,
										nodes->halved);
	for (side = 0; side < 2 && pair->view[side] != NULL; side++)
	{
		const RaceView *view = pair->view[side];
		RaceGrid   *grid = &nodes->grid;
		double		unit = (double) race_record_unit(view->params) * pair->records[side];
		Size		from = 0;
		double	   *parts;
		Size		i;
		int			k;

		race_grid_of(view->params, grid);
		from = second ? grid->nodes : 0;
		for (k = RACE_GRID_FACTOR; second && k > 1; k /= 2)
			race_grid_halve(grid);
		parts = palloc_extended(grid->nodes * sizeof(double), MCXT_ALLOC_HUGE);
		for (i = 0; i < grid->nodes; i++)
			parts[i] = (double) race_counters_get(view->counters, view->width, from + i) / unit;
		for (k = 0; k < nodes->halved[side]; k++)
		{
			race_grid_coarsen_real(grid, parts, parts);
			race_grid_halve(grid);
		}
		nodes->parts[side] = parts;
	}
	nodes->smooth = second ? nodes->grid.mean_step : 0;
}

/* --------------------------------------------------------------- transforms */

static RaceComplex *
allocate(const Nodes *nodes)
{
	return palloc_extended(volume(nodes->sizes) * sizeof(RaceComplex),
						   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

/* Transform in place; the inverse is divided by the number of elements. */
static void
transform(const Nodes *nodes, RaceComplex *x, bool inverse)
{
	RaceComplex *space = palloc(race_fourier_space(nodes->sizes) * sizeof(RaceComplex));
	Size		n = volume(nodes->sizes);
	Size		i;

	race_fourier(x, nodes->sizes, inverse, space);
	for (i = 0; i < n && inverse; i++)
	{
		x[i].re /= n;
		x[i].im /= n;
	}
	pfree(space);
}

/* Return the transform of node values a + ib; b may be NULL. */
static RaceComplex *
transform_nodes(const Nodes *nodes, const double *a, const double *b)
{
	RaceComplex *x = allocate(nodes);
	size_t		at[RACE_FOURIER_DIMS];
	Size		i;

	for (i = 0; i < volume(nodes->nodes); i++)
	{
		RaceComplex *element;

		coordinates(nodes->nodes, i, at);
		element = &x[index_of(nodes->sizes, at)];
		element->re = a[i];
		element->im = b == NULL ? 0 : b[i];
	}
	transform(nodes, x, false);
	return x;
}

/* Return |A|^2, |B|^2 and the real part of A* B at frequency i of the transform of a + ib. */
static void
powers_at(const RaceComplex *x, const size_t *sizes, Size i, double *aa, double *bb, double *ab)
{
	RaceComplex c = x[i];
	RaceComplex d;
	size_t		at[RACE_FOURIER_DIMS];
	double		sum;
	double		re;
	int			axis;

	coordinates(sizes, i, at);
	for (axis = 0; axis < RACE_FOURIER_DIMS; axis++)
		at[axis] = at[axis] == 0 ? 0 : sizes[axis] - at[axis];
	d = x[index_of(sizes, at)];
	sum = c.re * c.re + c.im * c.im + d.re * d.re + d.im * d.im;
	re = c.re * d.re - c.im * d.im;
	*aa = (sum + 2 * re) / 4;
	*bb = (sum - 2 * re) / 4;
	*ab = (c.re * d.im + c.im * d.re) / 2;
}

/*
 * Return the transforms of the kernel between nodes (re) and of its square (im); both are even
 * functions, so both transforms are real.
 */
static RaceComplex *
transform_kernel(const Nodes *nodes, const RaceParams *params)
{
	RaceRadial *radial = palloc(sizeof(RaceRadial));
	RaceComplex *x = allocate(nodes);
	Size		n = volume(nodes->sizes);
	size_t		at[RACE_FOURIER_DIMS];
	Size		i;
	int			axis;

	race_radial_init_shape(radial, params, nodes->smooth, nodes->coarser);
	for (i = 0; i < n; i++)
	{
		double		sum = 0;

		if (i % 65536 == 0)
			CHECK_FOR_INTERRUPTS();
		coordinates(nodes->sizes, i, at);
		for (axis = 0; axis < RACE_FOURIER_DIMS; axis++)
		{
			double		apart = Min(at[axis], nodes->sizes[axis] - at[axis]) * nodes->step[axis];

			sum += radial->euclidean ? apart * apart : apart;
		}
		x[i].re = race_radial_value(radial, radial->euclidean ? sqrt(sum) : sum);
		x[i].im = x[i].re * x[i].re;
	}
	transform(nodes, x, false);
	for (i = 0; i < n; i++)
	{
		double		spline = 1;

		coordinates(nodes->sizes, i, at);
		for (axis = 0; axis < RACE_FOURIER_DIMS; axis++)
			if (nodes->nodes[axis] > 1)
				spline *= (2 + cos(2 * RACE_PI * at[axis] / nodes->sizes[axis])) / 3;
		x[i].re /= spline;
		x[i].im /= spline;
	}
	pfree(radial);
	return x;
}

/* -------------------------------------------------------------------- noise */

/*
 * Set the covariance along an axis, of nodes and of neighbors, of noise that had variance 1
 * before cells were halved.
 */
static void
covariance_of(int halvings, double covariance[2])
{
	double		h = ldexp(1, halvings);

	covariance[0] = (2 * h * h + 1) / (3 * h);
	covariance[1] = (h * h - 1) / (6 * h);
}

/* Return the mean of noise's product with itself: the trace of the kernel times its covariance. */
static void
noise_trace(const Nodes *nodes, const RaceComplex *kernel, int halvings, double *of_kernel,
			double *of_square)
{
	double		covariance[2];
	int			offset;

	covariance_of(halvings, covariance);
	*of_kernel = *of_square = 0;
	for (offset = 0; offset < 1 << RACE_FOURIER_DIMS; offset++)
	{
		size_t		at[RACE_FOURIER_DIMS];
		double		pairs = 1;
		int			axis;

		for (axis = 0; axis < RACE_FOURIER_DIMS; axis++)
		{
			double		n = (double) nodes->nodes[axis];

			at[axis] = offset >> axis & 1;
			/* nodes at the bounds have half of the fine ones */
			if (n > 1)
				pairs *= at[axis] == 0 ? n * covariance[0] - (covariance[0] - 1) :
					2 * (n - 1) * covariance[1];
			else if (at[axis] > 0)
				break;
		}
		if (axis < RACE_FOURIER_DIMS)
			continue;
		*of_kernel += pairs * kernel[index_of(nodes->sizes, at)].re;
		*of_square += pairs * kernel[index_of(nodes->sizes, at)].im;
	}
}

/*
 * Return the sum over pairs of nodes of the squares of the kernel times the covariance of noise,
 * from the transform of the kernel.
 */
static double
noise_squares(const Nodes *nodes, const RaceComplex *transformed, int halvings)
{
	RaceComplex *x = allocate(nodes);
	double		covariance[2];
	double		sum = 0;
	Size		n = volume(nodes->sizes);
	size_t		at[RACE_FOURIER_DIMS];
	Size		i;
	int			axis;

	covariance_of(halvings, covariance);
	for (i = 0; i < n; i++)
	{
		x[i].re = transformed[i].re;
		coordinates(nodes->sizes, i, at);
		for (axis = 0; axis < RACE_FOURIER_DIMS; axis++)
			if (nodes->nodes[axis] > 1)
				x[i].re *= covariance[0] +
					2 * covariance[1] * cos(2 * RACE_PI * at[axis] / nodes->sizes[axis]);
	}
	transform(nodes, x, true);
	for (i = 0; i < n; i++)
	{
		double		pairs = 1;

		coordinates(nodes->sizes, i, at);
		for (axis = 0; axis < RACE_FOURIER_DIMS; axis++)
			pairs *= Max((double) nodes->nodes[axis] -
						 Min(at[axis], nodes->sizes[axis] - at[axis]), 0);
		sum += pairs * x[i].re * x[i].re;
	}
	pfree(x);
	return sum;
}

/* ----------------------------------------------------------------- products */

/* Add the products, and with_difference and with_both with noise in them. */
static void
add_powers(const RacePair *pair, const Nodes *nodes, const RaceComplex *kernel,
		   RaceProducts *products)
{
	RaceComplex *both = transform_nodes(nodes, nodes->parts[0], nodes->parts[1]);
	double		noise = race_noise_of_difference(pair).second;
	double		share = pair->records[0] / (pair->records[0] + pair->records[1]);
	Size		n = volume(nodes->sizes);
	Size		i;

	for (i = 0; i < n; i++)
	{
		double		aa;
		double		bb;
		double		ab;
		double		weight = kernel[i].re / n;
		double		of_noise = noise * kernel[i].re * weight;

		if (i % 65536 == 0)
			CHECK_FOR_INTERRUPTS();
		powers_at(both, nodes->sizes, i, &aa, &bb, &ab);
		products->aa += weight * aa;
		products->ab += weight * ab;
		products->bb += weight * bb;
		products->with_difference += of_noise * (aa - 2 * ab + bb);
		products->with_both += of_noise *
			(share * share * aa + 2 * share * (1 - share) * ab + (1 - share) * (1 - share) * bb);
	}
	pfree(both);
}

/*
 * Find the moments of P.  The shares of noise are subtracted, and pairs of a record with itself;
 * bounds hold whatever noise is left.  The transform of P + iD times that of the kernel is what
 * both answer at the nodes.
 */
static void
find_moments(const RacePair *pair, const Nodes *nodes, RaceProducts *products)
{
	double		n = pair->records[0] + pair->records[1];
	double		share = pair->records[0] / n;
	double		noise = race_noise_of_pooled(pair);
	Size		count = nodes->grid.nodes;
	double	   *p = palloc_extended(count * sizeof(double), MCXT_ALLOC_HUGE);
	double	   *d = palloc_extended(count * sizeof(double), MCXT_ALLOC_HUGE);
	double		least = products->kernel * products->kernel;
	RaceComplex *kernel = transform_kernel(nodes, pair->view[0]->params);
	/* of noise as if no cells were halved: too little, so difference_square is an upper bound */
	double		squares = noise_squares(nodes, kernel, 0);
	double		trace;
	double		self;
	double		of_squares = 0;
	double		of_densities = 0;
	double		of_differences = 0;
	double		of_answers = 0;
	double		of_square;
	RaceComplex *both;
	size_t		at[RACE_FOURIER_DIMS];
	Size		i;

	for (i = 0; i < count; i++)
	{
		p[i] = share * nodes->parts[0][i] + (1 - share) * nodes->parts[1][i];
		d[i] = nodes->parts[0][i] - nodes->parts[1][i];
	}
	both = transform_nodes(nodes, p, d);
	for (i = 0; i < volume(nodes->sizes); i++)
	{
		double		pp;
		double		dd;
		double		pd;

		powers_at(both, nodes->sizes, i, &pp, &dd, &pd);
		of_squares += kernel[i].im * pp / volume(nodes->sizes);
	}
	for (i = 0; i < volume(nodes->sizes); i++)
	{
		both[i].re *= kernel[i].re;
		both[i].im *= kernel[i].re;
	}
	transform(nodes, both, true);
	for (i = 0; i < count; i++)
	{
		RaceComplex answer;

		coordinates(nodes->nodes, i, at);
		answer = both[index_of(nodes->sizes, at)];
		of_densities += p[i] * answer.re * answer.re;
		of_answers += answer.re;
		of_differences += p[i] * answer.im * answer.im;
	}
	transform(nodes, kernel, true);
	self = kernel[0].re;
	noise_trace(nodes, kernel, Max(nodes->halved[0], nodes->halved[1]), &of_square, &trace);
	products->kernel_square = (of_squares - noise * trace - 1 / n) / (1 - 1 / n);
	products->kernel_square = Max(Min(products->kernel_square, products->kernel), least);
	of_densities -= noise * (squares / count + 2 * self * of_answers) +
		(products->kernel_square + 2 * products->kernel) / n;
	products->density_square = Max(Min(of_densities, (products->kernel_square + least) / 2), least);
	products->difference_square =
		Max(of_differences - race_noise_of_difference(pair).second * squares / count, 0);
	pfree(kernel);
	pfree(p);
	pfree(d);
	pfree(both);
}

/* Add the products of a level, and what noise does to them. */
static void
add_level(const RacePair *pair, Nodes *nodes, RaceProducts *products)
{
	RaceCumulants noise = race_noise_of_difference(pair);
	RaceComplex *kernel;
	double		trace[2];
	double		of_square;
	double		count;
	double		self;
	double		squares;
	int			side;

	coarsen(nodes);
	count = nodes->grid.nodes;
	kernel = transform_kernel(nodes, pair->view[0]->params);
	add_powers(pair, nodes, kernel, products);
	squares = noise_squares(nodes, kernel, Max(nodes->halved[0], nodes->halved[1]));
	transform(nodes, kernel, true);
	self = kernel[0].re;
	for (side = 0; side < 2; side++)
		noise_trace(nodes, kernel, nodes->halved[side], &trace[side], &of_square);
	pfree(kernel);

	products->aa -= race_noise_of(pair, 0) * trace[0];
	products->bb -= race_noise_of(pair, 1) * trace[1];
	products->ab -= products->same ? race_noise_of(pair, 0) * trace[0] : 0;
	products->noise_variance += count * self * self * noise.fourth +
		2 * squares * pow(noise.second, 2);
	products->noise_third += count * pow(self, 3) *
		(noise.sixth + 12 * noise.fourth * noise.second);
	/* the sum of cubed eigenvalues lies between its bounds by their sum and their squares */
	if (Max(trace[0], trace[1]) > 0)
		products->noise_third += 8 * pow(noise.second, 3) *
			sqrt(pow(squares, 3.5) / Max(trace[0], trace[1]));
	products->with_record += noise.second * squares / count;
	products->with_difference -= pow(noise.second, 2) * squares;
	products->with_both -= noise.second * race_noise_of_pooled(pair) * squares;
}

void
race_grid_products(const RacePair *pair, RaceProducts *products)
{
	const RaceParams *params = pair->view[0]->params;
	bool		two = race_grid_levels(params) > 1 &&
		(pair->view[1] == NULL || race_params_same(params, pair->view[1]->params));
	double		n = pair->records[0] + pair->records[1];
	double		share = pair->records[0] / n;
	Nodes		nodes;
	Nodes		second;
	int			side;

	load_nodes(pair, &nodes, false);
	if (two)
	{
		load_nodes(pair, &second, true);
		nodes.coarser = second.smooth;
		add_level(pair, &second, products);
		for (side = 0; side < 2 && second.parts[side] != NULL; side++)
			pfree(second.parts[side]);
	}
	add_level(pair, &nodes, products);
	products->with_difference = Max(products->with_difference, 0);
	products->with_both = Max(products->with_both, 0);
	products->kernel = (share * share * products->aa + 2 * share * (1 - share) * products->ab +
						(1 - share) * (1 - share) * products->bb - 1 / n) / (1 - 1 / n);
	products->kernel = Max(Min(products->kernel, 1), 0);
	nodes.coarser = 0;
	coarsen(&nodes);
	if (pair->view[1] != NULL)
		find_moments(pair, &nodes, products);
	for (side = 0; side < 2 && nodes.parts[side] != NULL; side++)
		pfree(nodes.parts[side]);
}
