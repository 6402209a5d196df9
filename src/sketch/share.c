/*
 * share.c
 *		Sums of noise shares: what they cost, and when they are private.
 *
 * Of n parties, t may collude, and d more may drop out.  Each adds noise so that
 * that of n - t - d is enough.  A sum may be asked when it has n - d shares: even if t
 * of them come from colluders, who can take their own noise out again, those of
 * n - t - d remain.  What it costs is then reckoned for all shares but t.
 */
#include "postgres.h"

#include <math.h>

#include "share.h"

RaceSensitivity
race_sensitivity(uint32 max_contributions, RaceNeighbours neighbours,
				 uint32 rows, uint32 range)
{
	RaceSensitivity result;

	/* at most 2^62 * 2 * 2^25 */
	result.count = (unsigned __int128) max_contributions * max_contributions *
		(neighbours == RACE_NEIGHBOURS_SUBSTITUTE ? 2 : 1);
	result.counters = result.count * rows;
	result.cells = (uint64) rows * range;
	return result;
}

uint64
race_share_variance(double sum, uint32 n)
{
	double		variance = sum / n;

	if (!(n > 0 && variance >= 1 && variance <= RACE_MAX_VARIANCE) ||
		variance != floor(variance))
		return 0;
	return (uint64) variance;
}

/* Integers up to here, and no further, are all float8 */
#define MAX_EXACT_SUM	((uint64) 1 << 53)

bool
race_is_share_variance(uint64 variance, uint32 parties)
{
	return variance >= RACE_MIN_SHARE_VARIANCE && variance <= MAX_EXACT_SUM / parties;
}

/* Shares that a sum must have to be asked */
static uint32
shares_needed(const RaceNoise *noise)
{
	return noise->parties - noise->dropouts;
}

bool
race_has_enough_noise(const RaceNoise *noise)
{
	return noise->status != RACE_STATUS_SHARE ||
		noise->releases >= shares_needed(noise);
}

void
race_check_askable(const RaceHeader *header)
{
	const RaceNoise *noise = &header->noise;

	if (!race_has_enough_noise(noise))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("noise shares cannot be asked before there are enough of them"),
				 errdetail("The sketch has %u of %u shares, and needs %u.",
						   noise->releases, noise->parties, shares_needed(noise)),
				 errhint("Merge the shares of other parties with race_merge.")));
}

void
race_check_shares(const RaceNoise *a, const RaceNoise *b)
{
	if (a->parties != b->parties || a->colluders != b->colluders ||
		a->dropouts != b->dropouts || a->delta != b->delta ||
		race_share_variance(a->counter_variance, a->releases) !=
		race_share_variance(b->counter_variance, b->releases) ||
		race_share_variance(a->count_variance, a->releases) !=
		race_share_variance(b->count_variance, b->releases))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("noise shares that were made for different sums cannot be combined"),
				 errdetail("One side is for %u parties, %u colluders, %u dropouts, with noise of standard deviation %g; the other for %u, %u, %u, with %g.",
						   a->parties, a->colluders, a->dropouts,
						   sqrt(a->counter_variance / a->releases),
						   b->parties, b->colluders, b->dropouts,
						   sqrt(b->counter_variance / b->releases)),
				 errhint("All parties must give race_share the same arguments.")));
}

uint64 *
race_merge_share_ids(const RaceNoise *a, const uint64 *a_ids,
					 const RaceNoise *b, const uint64 *b_ids,
					 MemoryContext context)
{
	uint64		n = (uint64) a->releases + b->releases;
	uint64	   *ids;
	uint32		i = 0;
	uint32		j = 0;

	if (n > a->parties)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there are more noise shares than parties"),
				 errdetail("One side has %u shares, the other %u, of %u.",
						   a->releases, b->releases, a->parties)));
	ids = MemoryContextAlloc(context, n * sizeof(uint64));
	while (i + j < n)
	{
		if (i < a->releases && j < b->releases && a_ids[i] == b_ids[j])
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("a noise share cannot be counted twice")));
		if (j == b->releases || (i < a->releases && a_ids[i] < b_ids[j]))
		{
			ids[i + j] = a_ids[i];
			i++;
		}
		else
		{
			ids[i + j] = b_ids[j];
			j++;
		}
	}
	return ids;
}

void
race_add_share_noise(RaceNoise *noise, const RaceNoise *other,
					 const RaceParams *params)
{
	RaceSensitivity sensitivity = race_sensitivity(noise->max_contributions,
												   noise->neighbours,
												   params->rows, params->range);
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
		noise->epsilon = Min(Min(noise->epsilon, other->epsilon),
							 race_epsilon_of_rho(noise->rho, noise->delta));
	}
	else
	{
		/* shares of one sum claim the same; if a forged one does not, the worse */
		noise->rho = Max(noise->rho, other->rho);
		noise->epsilon = Max(noise->epsilon, other->epsilon);
	}
}
