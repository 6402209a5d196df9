/*
 * loss_rows.c
 *		Surrogate losses by asymmetric LSH.
 */
#include <math.h>
#include <stdio.h>

#include "hash/loss_rows.h"

#define PROBLEM(...) (snprintf(message, length, __VA_ARGS__), message)

const char *
race_surrogate_problem(const RaceParams *params, char *message, size_t length)
{
	const char *name = race_kernel_name(params->kernel);
	uint32_t least = race_kernel_type(params->kernel)->queries;

	if (params->dims < 2 || params->dims > RACE_MAX_SURROGATE_DIMS)
		return PROBLEM("kernel %s needs dims between 2 and %d: all of x, and one more", name,
					   RACE_MAX_SURROGATE_DIMS);
	if (params->power < least || params->power > RACE_MAX_SURROGATE_POWER)
		return PROBLEM("kernel %s needs a power between %u and %d", name, least,
					   RACE_MAX_SURROGATE_POWER);
	if (!(params->loss.radius >= RACE_MIN_BANDWIDTH && params->loss.radius <= RACE_MAX_BANDWIDTH))
		return PROBLEM("kernel %s needs a radius, a number between %g and %g", name,
					   RACE_MIN_BANDWIDTH, RACE_MAX_BANDWIDTH);
	/* of least squares, a query has a coordinate that is -1 */
	if (!(params->loss.query_radius > (least > 1 ? 1 : RACE_MIN_BANDWIDTH) &&
		  params->loss.query_radius <= RACE_MAX_BANDWIDTH))
		return PROBLEM("kernel %s needs a query_radius above %g, up to %g", name,
					   least > 1 ? 1 : RACE_MIN_BANDWIDTH, RACE_MAX_BANDWIDTH);
	if (params->rehash != RACE_REHASH_FOLD)
		return PROBLEM("kernel %s needs rehash \"fold\"", name);
	return NULL;
}

/* So far from 0, numbers keep their signs, and their squares are finite when divided. */
#define FARTHEST 1e300

static double
clamp_to_farthest(double x)
{
	return x > FARTHEST ? FARTHEST : x < -FARTHEST ? -FARTHEST : x;
}

/* Set z / B, before it is clipped.  Return its largest coordinate. */
static double
scale_record(const RaceParams *params, const double *x, double *z)
{
	uint32_t last = params->dims - 1;
	bool has_label = race_kernel_type(params->kernel)->queries == 1;
	double radius = has_label && !(x[last] > 0) ? -params->loss.radius : params->loss.radius;
	double largest = 0;

	for (uint32_t i = 0; i < params->dims; i++)
	{
		z[i] = i == last && has_label ? 0 : clamp_to_farthest(x[i] / radius);
		largest = fabs(z[i]) > largest ? fabs(z[i]) : largest;
	}
	return largest;
}

static double
sum_of_squares(const double *x, uint32_t n)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += x[i] * x[i];
	return sum;
}

void
race_surrogate_lift(const RaceParams *params, const double *x, double *lifted)
{
	uint32_t n = params->dims;
	double largest = scale_record(params, x, lifted);
	double square;

	for (uint32_t i = 0; i < n && largest > 1; i++)
		lifted[i] /= largest;
	square = sum_of_squares(lifted, n);
	lifted[n] = 0;
	lifted[n + 1] = 0;
	if (largest <= 1 && square <= 1)
	{
		lifted[n] = sqrt(1 - square);
		return;
	}
	square = sqrt(square);
	for (uint32_t i = 0; i < n; i++)
		lifted[i] /= square;
}

/* A query may be as long as its radius, whatever rounding says. */
#define ROUNDING 1e-9

bool
race_surrogate_query(const RaceParams *params, const double *theta, uint32_t i, double *lifted)
{
	uint32_t queries = race_kernel_type(params->kernel)->queries;
	double radius = i + 1 < queries ? params->loss.query_radius : -params->loss.query_radius;
	uint32_t n = params->dims;
	double square;

	for (uint32_t k = 0; k + 1 < n; k++)
		lifted[k] = theta[k] / radius;
	lifted[n - 1] = queries > 1 ? -1 / radius : 0;
	square = sum_of_squares(lifted, n);
	if (!(square <= 1 + ROUNDING))
		return false;
	lifted[n] = 0;
	lifted[n + 1] = square < 1 ? sqrt(1 - square) : 0;
	return true;
}

/* Return what is lifted: the vector itself, if it is already, else in `space`. */
static const double *
lifted_of(const RaceParams *part, const RaceColumn *x, double *space)
{
	if (x->width == race_hashed_width(part))
		return x->numbers;
	race_surrogate_lift(part, x->numbers, space);
	return space;
}

/*
 * Return 1 - angle / pi, by the half angle of unit vectors u and v, 2 atan(|u - v| / |u + v|),
 * which keeps all digits of small and of large ones.
 */
double
race_surrogate_kernel(const RaceParams *part, const RaceColumn *x, const RaceColumn *y)
{
	double x_space[RACE_MAX_SURROGATE_DIMS + RACE_LIFT];
	double y_space[RACE_MAX_SURROGATE_DIMS + RACE_LIFT];
	const double *u = lifted_of(part, x, x_space);
	const double *v = lifted_of(part, y, y_space);
	double minus = 0;
	double plus = 0;

	for (uint32_t i = 0; i < race_hashed_width(part); i++)
	{
		minus += (u[i] - v[i]) * (u[i] - v[i]);
		plus += (u[i] + v[i]) * (u[i] + v[i]);
	}
	return 1 - 2 * atan2(sqrt(minus), sqrt(plus)) / RACE_PI;
}
