/*
 * stencil.c
 *		A kernel between the nodes of a grid, and sums over all pairs of them.
 *
 * A record is split linearly over the nodes around it.  Two records that lie at places of
 * their own in cells are so many cells apart, blurred by both splits: by a cubic B-spline.
 * So the kernel between nodes is taken to be the coefficients of the cubic spline that goes
 * through the kernel at whole numbers of cells (Unser 1999); then products have the kernel
 * itself, on average over places in a cell, and a record has 1 with itself.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "../lsh/radial.h"
#include "../params/params.h"
#include "stencil.h"

/* Lags beyond the reach of a kernel where the coefficients of its spline fade out */
#define FADING			12

/* ------------------------------------------------------------------ kernels */

Size
race_volume(const size_t *sizes)
{
	return sizes[0] * sizes[1] * sizes[2];
}

RaceStencil
race_stencil_of(const RaceGrid *grid, bool smooth, double coarser)
{
	RaceStencil stencil = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, 0, coarser};
	int			first = RACE_FOURIER_DIMS - grid->dims;
	uint32		i;

	stencil.smooth = smooth ? grid->mean_step : 0;
	for (i = 0; i < grid->dims; i++)
	{
		int			axis = first + i;
		size_t		nodes = grid->cells[i] + 1;
		double		reach = coarser == 0 ? INFINITY :
			ceil(RACE_GRID_REACH * coarser / grid->step[i]) + FADING;

		stencil.step[axis] = grid->step[i];
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
		size_t		lines = race_volume(sizes) / sizes[axis];
		size_t		i;

		for (i = 0; i < lines; i++)
			spline_line(values + i / inner * inner * sizes[axis] + i % inner, sizes[axis],
						inner, ratio);
	}
	pfree(ratio);
}

double *
race_stencil_kernel(const RaceStencil *stencil, const RaceParams *params, bool squared)
{
	RaceParams *copy = race_params_copy(params, CurrentMemoryContext);
	RaceRadial *radial = palloc(sizeof(RaceRadial));
	double	   *kernel = palloc_extended(race_volume(stencil->lags) * sizeof(double), MCXT_ALLOC_HUGE);
	size_t		at[RACE_FOURIER_DIMS];
	Size		i = 0;

	copy->power *= squared ? 2 : 1;
	race_radial_init_shape(radial, copy, stencil->smooth, stencil->coarser);
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
allocate(const RaceStencil *stencil)
{
	return palloc_extended(race_volume(stencil->sizes) * sizeof(RaceComplex),
						   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

void
race_stencil_fourier(RaceComplex *x, const RaceStencil *stencil, bool inverse)
{
	RaceComplex *space = palloc(race_fourier_space(stencil->sizes) * sizeof(RaceComplex));

	race_fourier(x, stencil->sizes, inverse, space);
	pfree(space);
}

Size
race_place_of(const RaceStencil *stencil, Size node)
{
	Size		last = node % stencil->nodes[2];
	Size		middle = node / stencil->nodes[2] % stencil->nodes[1];
	Size		first = node / stencil->nodes[2] / stencil->nodes[1];

	return (first * stencil->sizes[1] + middle) * stencil->sizes[2] + last;
}

RaceComplex *
race_transform_nodes(const RaceStencil *stencil, const double *re, const double *im)
{
	RaceComplex *x = allocate(stencil);
	Size		i;

	for (i = 0; i < race_volume(stencil->nodes); i++)
	{
		RaceComplex *at = &x[race_place_of(stencil, i)];

		at->re = re[i];
		at->im = im == NULL ? 0 : im[i];
	}
	race_stencil_fourier(x, stencil, false);
	return x;
}

/* The lag that element i of an axis of a transform stands for */
static size_t
lag_of(size_t i, size_t size)
{
	return i <= size / 2 ? i : size - i;
}

RaceComplex *
race_transform_kernels(const RaceStencil *stencil, const double *re, const double *im)
{
	RaceComplex *x = allocate(stencil);
	const size_t *sizes = stencil->sizes;
	const size_t *lags = stencil->lags;
	Size		i;

	for (i = 0; i < race_volume(sizes); i++)
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
	race_stencil_fourier(x, stencil, false);
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

void
race_powers_at(const RaceComplex *transformed, const size_t *sizes, Size i, double *xx,
			   double *yy, double *xy)
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

double
race_noise_trace(const RaceStencil *stencil, const double *kernel, int halvings)
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

double
race_sum_of_squares(const RaceStencil *stencil, const double *kernel)
{
	double		sum = 0;
	Size		i;

	for (i = 0; i < race_volume(stencil->lags); i++)
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

double *
race_blurred(const RaceStencil *stencil, const double *kernel, int halvings)
{
	Size		n = race_volume(stencil->lags);
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
