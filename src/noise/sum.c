/*
 * sum.c
 *		Sums of noise shares: what they cost, and when they are private.
 *
 * Of n parties, t may collude, and d more may drop out.  Each adds so much noise
 * that the noise of n - t - d parties is enough.  A sum may be asked when it has
 * n - d shares.  Up to t of them may come from colluders, who can subtract their own
 * noise; the noise of n - t - d others remains.  So the cost is that of all shares
 * but t.
 */
#include "state.h"

#include <math.h>

uint64_t
race_share_variance(double sum, uint32_t n)
{
	double		variance = sum / n;

	if (!(n > 0 && variance >= 1 && variance <= RACE_MAX_VARIANCE) ||
		variance != floor(variance))
		return 0;
	return (uint64_t) variance;
}

/* A float8 holds all integers up to this one */
#define MAX_EXACT_SUM	((uint64_t) 1 << 53)

bool
race_is_share_variance(uint64_t variance, uint32_t parties)
{
	return variance >= RACE_MIN_SHARE_VARIANCE && variance <= MAX_EXACT_SUM / parties;
}

uint32_t
race_shares_needed(const RaceNoise *noise)
{
	return noise->parties - noise->dropouts;
}

bool
race_has_enough_noise(const RaceNoise *noise)
{
	return noise->status != RACE_STATUS_SHARE ||
		noise->releases >= race_shares_needed(noise);
}

bool
race_shares_match(const RaceNoise *a, const RaceNoise *b)
{
	return a->parties == b->parties && a->colluders == b->colluders &&
		a->dropouts == b->dropouts && a->delta == b->delta &&
		race_share_variance(a->counter_variance, a->releases) ==
		race_share_variance(b->counter_variance, b->releases) &&
		race_share_variance(a->count_variance, a->releases) ==
		race_share_variance(b->count_variance, b->releases);
}

bool
race_merge_share_ids(const RaceNoise *a, const uint64_t *a_ids,
					 const RaceNoise *b, const uint64_t *b_ids, uint64_t *ids)
{
	uint32_t	i = 0;
	uint32_t	j = 0;

	while (i < a->releases || j < b->releases)
	{
		if (i < a->releases && j < b->releases && a_ids[i] == b_ids[j])
			return false;
		if (j == b->releases || (i < a->releases && a_ids[i] < b_ids[j]))
			*ids++ = a_ids[i++];
		else
			*ids++ = b_ids[j++];
	}
	return true;
}

void
race_add_shares(RaceNoise *noise, const RaceNoise *other, uint64_t squared,
				uint64_t counters)
{
	RaceSensitivity sensitivity = race_sensitivity(noise->max_contributions,
												   noise->neighbors, squared, counters);
	RaceGaussianBudget share;

	share.counter_variance = race_share_variance(noise->counter_variance, noise->releases);
	share.count_variance = race_share_variance(noise->count_variance, noise->releases);
	noise->counter_variance += other->counter_variance;
	noise->count_variance += other->count_variance;
	noise->releases += other->releases;
	if (race_has_enough_noise(noise))
	{
		noise->rho = race_share_rho(&sensitivity, &share,
									race_honest_shares(noise->releases,
													   noise->colluders, 0));
		noise->epsilon = fmin(fmin(noise->epsilon, other->epsilon),
							  race_epsilon_of_rho(noise->rho, noise->delta));
	}
	else
	{
		/*
		 * shares of one sum claim the same cost; if a forged share claims another,
		 * take the larger
		 */
		noise->rho = fmax(noise->rho, other->rho);
		noise->epsilon = fmax(noise->epsilon, other->epsilon);
	}
}
