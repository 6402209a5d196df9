/*
 * normal.c
 *		The normal distribution that explains the counters of a surrogate loss best.
 *
 * With h a standard normal vector, points are mean + factor h, and the polynomial is
 * 1 + sum of b_i h_i + sum of a_ij (h_i h_j - [i = j]), i <= j.  The mean of h is then b, and
 * that of h_i h_j is [i = j] + a_ij (1 + [i = j]).
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "../linear/factor.h"
#include "../lsh/normal.h"
#include "../lsh/surrogate.h"
#include "normal.h"
#include "polynomial.h"

#define ROUNDS			12
#define FIRST_ROUNDS	5		/* by moments alone */
#define DRAWN			4096	/* points, in pairs around the mean; and in the last ones: */
#define LAST_ROUNDS		3
#define LAST_DRAWN		16384
#define FIRST_PART		0.6		/* of the radius: the length of a point at first */
#define LEAST_PART		1e-4	/* of the radius: what a point moves along an axis at least */

typedef struct Normal
{
	RacePolynomial polynomial;	/* of its points, the coordinates that vary; a label does not */
	const RaceBox *box;
	double		radius;			/* of a ball that points are clipped to */
	double	   *mean;			/* [used] */
	double	   *factor;			/* [used][used], lower triangular */
} Normal;

/* Points are at most n in the end. */
static void
start(Normal *normal, const RaceFitWork *fit, const RaceBox *box, uint32 n)
{
	const RaceParams *params = fit->view->params;
	uint32		used = params->dims - (race_kernel_type(params->kernel)->queries == 1);
	uint32		i;

	normal->box = box;
	normal->radius = params->radius;
	normal->mean = race_fit_zeros(used);
	normal->factor = race_fit_zeros((Size) used * used);
	if (race_polynomial_start(&normal->polynomial, fit, used, RACE_POLYNOMIAL_FOURTH))
		n = Max(n, LAST_DRAWN);
	normal->polynomial.h = race_fit_zeros((Size) n * used);
	normal->polynomial.x = race_fit_zeros((Size) n * params->dims);
	for (i = 0; i < used; i++)
	{
		normal->mean[i] = (box->lower[i] + box->upper[i]) / 2;
		normal->factor[(Size) i * used + i] = FIRST_PART * normal->radius / sqrt(used);
	}
}

/* ------------------------------------------------------------------ points */

/* mean + factor h, moved into the ball and the box; a label is positive */
static void
place_point(const Normal *normal, const double *h, double *x)
{
	const RaceBox *box = normal->box;
	double		square = 0;
	double		shrink;
	uint32		i;
	uint32		j;

	for (i = 0; i < normal->polynomial.used; i++)
	{
		x[i] = normal->mean[i];
		for (j = 0; j <= i; j++)
			x[i] += normal->factor[(Size) i * normal->polynomial.used + j] * h[j];
		square += x[i] * x[i];
	}
	shrink = square > 0 ? fmin(1, normal->radius / sqrt(square)) : 1;
	for (i = 0; i < box->dims; i++)
		x[i] = i >= normal->polynomial.used ? 1 :
			fmin(fmax(x[i] * shrink, box->lower[i]), box->upper[i]);
}

static void
place_points(Normal *normal)
{
	uint32		p;

	for (p = 0; p < normal->polynomial.n; p++)
	{
		CHECK_FOR_INTERRUPTS();
		place_point(normal, normal->polynomial.h + (Size) p * normal->polynomial.used,
					normal->polynomial.x + (Size) p * normal->box->dims);
	}
}

/* Draw n vectors h, in pairs that are opposite to each other. */
static void
draw(Normal *normal, int64 seed, uint32 stream, uint32 n)
{
	uint32		p;
	uint32		i;

	normal->polynomial.n = n;
	for (p = 0; p < n; p++)
	{
		CHECK_FOR_INTERRUPTS();
		for (i = 0; i < normal->polynomial.used; i++)
			normal->polynomial.h[(Size) p * normal->polynomial.used + i] = (p % 2 == 0 ? 1 : -1) *
				race_inverse_normal(race_candidates_random(seed, stream, p / 2, i));
	}
}

/* ----------------------------------------------------------------- algebra */

/* Make the second moments of all h exactly those of a standard normal vector. */
static void
standardize(Normal *normal)
{
	uint32		used = normal->polynomial.used;
	double	   *moments = race_fit_zeros((Size) used * used);
	uint32		p;
	uint32		i;
	uint32		j;

	for (p = 0; p < normal->polynomial.n; p++)
	{
		const double *h = normal->polynomial.h + (Size) p * used;

		CHECK_FOR_INTERRUPTS();
		for (i = 0; i < used; i++)
			for (j = 0; j <= i; j++)
				moments[(Size) i * used + j] += h[i] * h[j] / normal->polynomial.n;
	}
	race_factorize(moments, used, 1e-6);
	for (p = 0; p < normal->polynomial.n; p++)
		race_solve_lower(moments, used, normal->polynomial.h + (Size) p * used);
	pfree(moments);
}

/* --------------------------------------------------------------- one round */

/* The moments that the polynomial gives, or a part of it */
static void
step(Normal *normal)
{
	uint32		used = normal->polynomial.used;
	double	   *spread = race_fit_zeros((Size) used * used);
	double	   *factor = race_fit_zeros((Size) used * used);
	double	   *squares = race_fit_zeros((Size) used * used);
	const double *square = normal->polynomial.right + used;
	double		part;
	uint32		i;
	uint32		j;
	uint32		k;

	for (i = 0; i < used; i++)
		for (j = 0; j <= i; j++)
			squares[(Size) i * used + j] = (1 + (i == j)) * *square++;
	part = race_step_part(used, normal->polynomial.right, squares, spread);
	for (i = 0; i < used && part > 0; i++)
		for (j = 0; j <= i; j++)
		{
			normal->mean[i] += part * normal->factor[(Size) i * used + j] * normal->polynomial.right[j];
			for (k = j; k <= i; k++)
				factor[(Size) i * used + j] += normal->factor[(Size) i * used + k] *
					spread[(Size) k * used + j];
		}
	for (i = 0; i < used && part > 0; i++)
		factor[(Size) i * used + i] = Max(factor[(Size) i * used + i],
										  LEAST_PART * normal->radius);
	if (part > 0)
		memcpy(normal->factor, factor, (Size) used * used * sizeof(double));
	pfree(spread);
	pfree(factor);
	pfree(squares);
}

bool
race_normal_place(RaceFitWork *fit, const RaceBox *box, int64 seed, uint32 n)
{
	Normal		normal;
	int			round;

	memset(&normal, 0, sizeof(Normal));
	start(&normal, fit, box, n);
	for (round = 0; normal.polynomial.gram != NULL && round < ROUNDS; round++)
	{
		bool		last = round >= ROUNDS - LAST_ROUNDS;

		normal.polynomial.terms = round < FIRST_ROUNDS ? normal.polynomial.moments : normal.polynomial.most;
		draw(&normal, seed, round, last ? LAST_DRAWN : DRAWN);
		standardize(&normal);
		place_points(&normal);
		race_polynomial_find(&normal.polynomial);
		step(&normal);
	}
	draw(&normal, seed, ROUNDS, n > 1 ? n / 2 * 2 : n);
	if (n > 2 * normal.polynomial.used)
		standardize(&normal);
	place_points(&normal);
	memcpy(fit->points->parts[0].numbers, normal.polynomial.x,
		   (Size) normal.polynomial.n * box->dims * sizeof(double));
	fit->points->n = normal.polynomial.n;
	race_work_spread(fit, fit->weights);
	race_work_spread(fit, fit->second);
	return normal.polynomial.gram != NULL;
}
