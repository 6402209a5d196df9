/*
 * compose.c
 *		What several releases cost together.
 */
#include "state.h"

#include <math.h>

#include "outward.h"

double
race_cost_sum(double a, double b)
{
	if (a == 0 || b == 0)
		return a + b;
	return race_up(a + b);
}

bool
race_noise_same_unit(const RaceNoise *a, const RaceNoise *b)
{
	return a->max_contributions == b->max_contributions &&
		a->neighbors == b->neighbors;
}

bool
race_noise_may_be_disjoint(const RaceNoise *a, const RaceNoise *b)
{
	return a->neighbors != RACE_NEIGHBORS_SUBSTITUTE ||
		(a->mechanism == b->mechanism && a->mechanism != RACE_MECHANISM_SEVERAL);
}

/* The larger cost of both, for data that are disjoint */
static void
keep_larger_cost(RaceNoise *noise, const RaceNoise *other)
{
	noise->epsilon = fmax(noise->epsilon, other->epsilon);
	noise->delta = fmax(noise->delta, other->delta);
	noise->rho = fmax(noise->rho, other->rho);
	/*
	 * half of rho is not half of epsilon: take the epsilon that the larger rho
	 * implies
	 */
	if (noise->neighbors == RACE_NEIGHBORS_SUBSTITUTE &&
		noise->mechanism == RACE_MECHANISM_GAUSSIAN && noise->delta < 1)
		noise->epsilon = fmax(noise->epsilon,
							  race_epsilon_of_rho(noise->rho, noise->delta));
}

bool
race_noise_compose(RaceNoise *noise, const RaceNoise *other, bool disjoint)
{
	if (disjoint)
		keep_larger_cost(noise, other);
	else
	{
		noise->epsilon = race_cost_sum(noise->epsilon, other->epsilon);
		noise->delta = race_cost_sum(noise->delta, other->delta);
		noise->rho = race_cost_sum(noise->rho, other->rho);
	}
	if (noise->mechanism != other->mechanism)
		noise->mechanism = RACE_MECHANISM_SEVERAL;
	noise->counter_variance += other->counter_variance;
	noise->count_variance += other->count_variance;
	noise->releases += other->releases; /* both within int32 */

	/*
	 * repeated s + s reaches infinity; a sketch that cannot be stored must not be
	 * made
	 */
	return noise->releases <= INT32_MAX &&
		isfinite(noise->epsilon) && isfinite(noise->delta) && isfinite(noise->rho) &&
		isfinite(noise->counter_variance) && isfinite(noise->count_variance);
}

void
race_total_add(RaceTotal *total, double epsilon, double delta, double rho)
{
	total->releases++;
	total->epsilon = race_cost_sum(total->epsilon, epsilon);
	total->delta = race_cost_sum(total->delta, delta);
	total->rho = race_cost_sum(total->rho, rho);
}

double
race_total_basic(const RaceTotal *total, double delta)
{
	return total->delta <= delta ? total->epsilon : INFINITY;
}

double
race_total_zcdp(const RaceTotal *total, double delta)
{
	return delta >= RACE_MIN_DELTA && delta < 1 ?
		race_epsilon_of_rho(total->rho, delta) : INFINITY;
}
