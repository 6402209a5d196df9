/*
 * select.c
 *		The best of many candidates, which is paid once, however many there are
 */
#include <string.h>

#include "privacy/counters.h"
#include "privacy/exact_fields.h"
#include "privacy/integers.h"
#include "privacy/noisy.h"
#include "privacy/payment.h"
#include "privacy/select.h"

struct RaceScores
{
	const RaceExact *exact;
	__int128 *quality; /* [n + 1] */
	int64_t *score;    /* [n] */
	uint32_t *order;   /* [n + 1] */
	uint32_t n;
};

#define ALIGNMENT sizeof(__int128)

/* Return the bytes of the structure, up to where qualities can begin. */
static size_t
head_size(void)
{
	return (sizeof(RaceScores) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

size_t
race_scores_size(uint32_t n)
{
	return head_size() + ((size_t) n + 1) * (sizeof(__int128) + sizeof(int64_t) + sizeof(uint32_t));
}

RaceScores *
race_scores_begin(RaceSpace *space, const RaceExact *exact, uint32_t n)
{
	size_t size = race_scores_size(n);
	RaceScores *scores =
		(RaceScores *) race_space_numbers(exact, space, (size + 7) / sizeof(int64_t));

	if (scores == NULL)
		return NULL;
	memset(scores, 0, size);
	scores->exact = exact;
	scores->n = n;
	scores->quality = (__int128 *) ((char *) scores + head_size());
	scores->score = (int64_t *) (scores->quality + n + 1);
	scores->order = (uint32_t *) (scores->score + n + 1);
	return scores;
}

void
race_scores_set(RaceScores *scores, uint32_t number, const RaceGrouping *grouping,
				const int64_t *expected, RaceSpace *space)
{
	int64_t apart;

	if (scores != NULL && number < scores->n &&
		race_exact_distance(scores->exact, grouping, expected, space, &apart))
		scores->score[number] = apart;
}

/*
 * Return by how much a contrast exceeds what is explained, rounded down.  A record changes the sum by
 * a unit times the largest weight, so the excess by a unit.
 */
static int64_t
excess_of_contrast(const int64_t *sums, uint32_t parts, size_t cells, const RaceContrast *contrast)
{
	__int128 total = -(__int128) contrast->expected * RACE_CONTRAST;

	for (size_t i = 0; i < cells; i++)
	{
		int64_t weight = contrast->weight[i];

		weight = weight > RACE_CONTRAST ? RACE_CONTRAST : weight;
		weight = weight < -RACE_CONTRAST ? -RACE_CONTRAST : weight;
		for (uint32_t part = 0; part < parts; part++)
			total += (__int128) weight * sums[i * parts + part];
	}
	total = (total < 0 ? -total : total) / RACE_CONTRAST - contrast->explained;
	return total < RACE_MAX_COUNT ? (total > 0 ? (int64_t) total : 0) : RACE_MAX_COUNT;
}

void
race_scores_raise(RaceScores *scores, uint32_t number, const RaceGrouping *grouping,
				  const RaceContrast *contrast, RaceSpace *space)
{
	size_t n = race_grouping_sums(grouping);
	int64_t *sums;
	int64_t excess;

	if (scores == NULL || number >= scores->n)
		return;
	sums = race_load_sums(scores->exact, grouping, space);
	if (sums == NULL)
		return;
	excess = excess_of_contrast(sums, grouping->parts, n / grouping->parts, contrast);
	scores->score[number] = excess > scores->score[number] ? excess : scores->score[number];
	memset(sums, 0, n * sizeof(int64_t));
}

/*
 * Return what a record changes of a quality, at most: the largest weight of a score, times a unit.
 */
static uint64_t
quality_change(const RaceShape *shape, const RaceCandidate *candidates, uint32_t n)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < n; i++)
		if (candidates[i].score != RACE_NO_SCORE && candidates[i].weight > most)
			most = candidates[i].weight;
	return race_most_product(shape->unit, most);
}

static void
set_qualities(RaceScores *scores, const RaceCandidate *candidates, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
	{
		const RaceCandidate *candidate = &candidates[i];
		int64_t score = candidate->score < scores->n ? scores->score[candidate->score] : 0;

		scores->quality[i] = (__int128) score * candidate->weight - candidate->penalty;
	}
}

uint64_t
race_select(RaceAccount *account, const RaceExact *exact, RaceScores *scores,
			const RaceCandidate *candidates, uint32_t n, double price, uint32_t *selected)
{
	uint64_t change = quality_change(exact->shape, candidates, n);
	uint64_t scale;

	if (change == 0 ||
		(race_draws(account, exact) &&
		 (scores == NULL || n > scores->n + 1 || scores->exact != exact)))
		return 0;
	scale = race_pay_selection(account, price,
							   race_change_of_score(account, race_most_product(change, 2)));
	if (scale > 0 && race_draws(account, exact))
	{
		set_qualities(scores, candidates, n);
		*selected = race_noisy_best(account->random, scores->quality, n, scale, scores->order);
	}
	return scale;
}

void
race_scores_end(RaceScores *scores)
{
	if (scores != NULL)
		memset(scores, 0, race_scores_size(scores->n));
}
