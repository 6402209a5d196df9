/*
 * check.c
 *		Checks of the noise that a value from outside claims to have.
 */
#include "state.h"

#include <math.h>
#include <string.h>

/* Is x a finite number that is not negative? */
static bool
is_cost(double x)
{
	return isfinite(x) && x >= 0;
}

/* A sum of several mechanisms has one with a delta, or is one of pure ones. */
static bool
is_pure(const RaceNoise *noise)
{
	return noise->mechanism == RACE_MECHANISM_LAPLACE ||
		noise->mechanism == RACE_MECHANISM_WISHART ||
		(noise->mechanism == RACE_MECHANISM_SEVERAL && noise->delta == 0);
}

/* Can a sketch have these shares?  They are Gaussian, of integer variance. */
static bool
are_shares(const RaceNoise *noise)
{
	return noise->parties >= 1 && noise->parties <= RACE_MAX_PARTIES &&
		(uint64_t) noise->colluders + noise->dropouts < noise->parties &&
		noise->releases <= noise->parties &&
		noise->mechanism == RACE_MECHANISM_GAUSSIAN &&
		race_is_share_variance(race_share_variance(noise->counter_variance,
												   noise->releases),
							   noise->parties) &&
		race_is_share_variance(race_share_variance(noise->count_variance,
												   noise->releases),
							   noise->parties);
}

const char *
race_noise_problem(const RaceNoise *noise)
{
	RaceNoise	none = {0};

	if (noise->half > RACE_UPPER_HALF)
		return "Unknown half.";
	none.half = noise->half;
	if (noise->status == RACE_STATUS_EXACT)
		return memcmp(noise, &none, sizeof(none)) == 0 ? NULL :
			"An exact sketch claims to carry noise.";
	if (noise->status == RACE_STATUS_SHARE ?
		!are_shares(noise) : noise->parties != 0 || noise->colluders != 0 ||
		noise->dropouts != 0)
		return "Numbers of parties are out of range.";
	if (noise->status == RACE_STATUS_SHARE && noise->half != RACE_WHOLE)
		return "A noise share is a half.";
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
	if (!is_cost(noise->epsilon) || signbit(noise->epsilon) ||
		(noise->epsilon == 0 && noise->delta == 0) ||
		!is_cost(noise->delta) || signbit(noise->delta) ||
		(noise->delta == 0) != is_pure(noise) ||
		!is_cost(noise->rho) ||
		!is_cost(noise->counter_variance) || !is_cost(noise->count_variance))
		return "A privacy cost or variance is out of range.";
	return NULL;
}
