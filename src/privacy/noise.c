/*
 * noise.c
 *		The record of the noise in a sketch, and the rules by which it changes
 */
#include <math.h>
#include <string.h>

#include "privacy/noise.h"
#include "privacy/shares.h"

/*
 * Checks of the noise that a value from outside claims to have.
 */

/* Return whether x is finite and not negative.  -0 is: fmax(0, -0) depends on their order. */
static bool
is_cost(double x)
{
	return isfinite(x) && !signbit(x);
}

/* Return whether noise is pure.  A sum of several mechanisms has a delta, or is of pure ones. */
static bool
is_pure(const RaceNoise *noise)
{
	return noise->mechanism == RACE_MECHANISM_LAPLACE ||
		noise->mechanism == RACE_MECHANISM_WISHART ||
		(noise->mechanism == RACE_MECHANISM_SEVERAL && noise->delta == 0);
}

/* Return whether a sketch can have these shares.  They are Gaussian, of integer variance. */
static bool
are_shares(const RaceNoise *noise)
{
	return noise->parties >= 1 && noise->parties <= RACE_MAX_PARTIES &&
		(uint64_t) noise->colluders + noise->dropouts < noise->parties &&
		noise->releases <= noise->parties && noise->mechanism == RACE_MECHANISM_GAUSSIAN &&
		race_is_share_variance(race_share_variance(noise->counter_variance, noise->releases),
							   noise->parties) &&
		race_is_share_variance(race_share_variance(noise->count_variance, noise->releases),
							   noise->parties);
}

const char *
race_noise_problem(const RaceNoise *noise)
{
	RaceNoise none = {0};

	none.max_contributions = noise->max_contributions;
	if (noise->status == RACE_STATUS_EXACT)
		return memcmp(noise, &none, sizeof(none)) == 0 ? NULL :
														 "An exact sketch claims to carry noise.";
	if (noise->status == RACE_STATUS_SHARE ?
			!are_shares(noise) :
			noise->parties != 0 || noise->colluders != 0 || noise->dropouts != 0)
		return "Numbers of parties are out of range.";
	if (noise->status != RACE_STATUS_SHARE && noise->status != RACE_STATUS_PRIVATE)
		return "Unknown status.";
	if (race_mechanism_name(noise->mechanism) == NULL)
		return "Unknown mechanism.";
	if (noise->neighbors != RACE_NEIGHBORS_ADD_REMOVE &&
		noise->neighbors != RACE_NEIGHBORS_SUBSTITUTE)
		return "Unknown kind of neighbors.";
	if (noise->max_contributions < 1 || noise->max_contributions > INT32_MAX ||
		noise->releases < 1 || noise->releases > INT32_MAX)
		return "A count of contributions or releases is out of range.";
	/* epsilon may be 0 where a large delta pays for all of the noise */
	if (!is_cost(noise->epsilon) || !is_cost(noise->delta) ||
		(noise->epsilon == 0 && noise->delta == 0) || (noise->delta == 0) != is_pure(noise) ||
		!is_cost(noise->rho) || !is_cost(noise->counter_variance) ||
		!is_cost(noise->count_variance))
		return "A privacy cost or variance is out of range.";
	return NULL;
}

bool
race_noise_same_unit(const RaceNoise *a, const RaceNoise *b)
{
	return a->max_contributions == b->max_contributions && a->neighbors == b->neighbors;
}

bool
race_noise_may_be_disjoint(const RaceNoise *a, const RaceNoise *b)
{
	return a->neighbors != RACE_NEIGHBORS_SUBSTITUTE ||
		(a->mechanism == b->mechanism && a->mechanism != RACE_MECHANISM_SEVERAL);
}

/* Keep the larger cost of both, for data that are disjoint. */
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
		noise->epsilon = fmax(noise->epsilon, race_epsilon_of_rho(noise->rho, noise->delta));
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
	return noise->releases <= INT32_MAX && isfinite(noise->epsilon) && isfinite(noise->delta) &&
		isfinite(noise->rho) && isfinite(noise->counter_variance) &&
		isfinite(noise->count_variance);
}

/*
 * Names.
 */

const char *
race_neighbors_name(int neighbors)
{
	return neighbors == RACE_NEIGHBORS_ADD_REMOVE ? "add_remove" :
		neighbors == RACE_NEIGHBORS_SUBSTITUTE    ? "substitute" :
													NULL;
}

const char *
race_mechanism_name(int mechanism)
{
	return mechanism == RACE_MECHANISM_LAPLACE ? "discrete Laplace" :
		mechanism == RACE_MECHANISM_GAUSSIAN   ? "discrete Gaussian" :
		mechanism == RACE_MECHANISM_SEVERAL    ? "several" :
		mechanism == RACE_MECHANISM_WISHART    ? "Wishart" :
												 NULL;
}
