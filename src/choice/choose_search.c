/*
 * choose_search.c
 *		The search of a release of tables for sets of three columns that depend on each other
 *
 * It holds noisy and public numbers alone.
 */
#include <string.h>

#include "privacy/interrupt.h"
#include "choice/select_search.h"
#include "choice/tables_work.h"

/* Sets whose contrasts are computed between two looks at interrupts */
#define SETS_A_STEP 64

#define MOST_CELLS (RACE_SEARCHED_GROUPS * RACE_SEARCHED_GROUPS * RACE_SEARCHED_GROUPS)

/* Return all cells of a set by themselves, with its finest groups. */
static RaceGrouping
cells_of_set(const RaceTablesWork *work, const RaceTable *set)
{
	const uint32_t *finest = work->arrays.finest;
	const uint32_t n[] = {finest[set->first], finest[set->second], finest[set->third]};

	return (RaceGrouping){.block = set->number,
						  .parts = work->exact_tables.parts,
						  .length = {n[0], n[1], n[2]},
						  .groups = {n[0], n[1], n[2]}};
}

/* Go to the first set of three searched columns. */
static void
go_to_sets(const RaceContingency *tables, RaceTable *set)
{
	race_contingency_first(tables, set);
	/* bound: the tables */
	while (set->number < race_contingency_tables(tables) - tables->sets)
		race_contingency_next(tables, set);
}

/* Set the exact scores of all sets: what their contrasts tell. */
static void
set_scores(RaceTablesWork *work, const RaceSearch *search, RaceTable set)
{
	int32_t weight[MOST_CELLS];
	RaceContrast contrast;

	work->exact_scores = race_scores_begin(work->scores_space, work->release->exact, search->sets);
	for (uint32_t k = 0; k < search->sets; k++)
	{
		RaceGrouping grouping = cells_of_set(work, &set);

		if (k % SETS_A_STEP == 0)
			race_look_for_interrupts();
		for (uint32_t i = 0; i < race_select_contrasts(search, &set); i++)
		{
			race_select_contrast(&work->select, search, &set, i, weight, &contrast);
			race_scores_raise(work->exact_scores, k, &grouping, &contrast, work->exact);
		}
		race_contingency_next(&work->exact_tables, &set);
	}
}

/* List the sets that were not found, and none, as candidates.  Return how many there are. */
static uint32_t
list_candidates(RaceTablesWork *work, const RaceSearch *search, RaceTable set)
{
	uint32_t n = 0;

	race_look_for_interrupts();
	for (uint32_t k = 0; k < search->sets; k++)
	{
		if (!race_select_is_found(&work->select, &set))
			work->candidates[n++] = race_select_candidate(&work->select, search, &set, k);
		race_contingency_next(&work->exact_tables, &set);
	}
	work->candidates[n] = (RaceCandidate){.score = RACE_NO_SCORE};
	return n + 1;
}

/* Look for the best set.  Return false if it is none, or cannot be paid. */
static bool
look_for_set(RaceTablesWork *work, const RaceSearch *search, RaceTable first, RaceTable *found)
{
	uint32_t n = list_candidates(work, search, first);
	uint32_t best;

	if (race_select(&work->release->account, work->release->exact, work->exact_scores,
					work->candidates, n, search->price, &best) == 0 ||
		work->candidates[best].score == RACE_NO_SCORE)
		return false;
	*found = first;
	for (uint32_t k = 0; k < work->candidates[best].score; k++)
		race_contingency_next(&work->exact_tables, found);
	return true;
}

void
race_tables_search(RaceTablesWork *work)
{
	RaceSearch search;
	RaceTable first;
	RaceTable found;
	bool more = true;

	if (race_select_search(&work->select, work->sums, &search) == 0)
		return;
	go_to_sets(&work->exact_tables, &first);
	set_scores(work, &search, first);
	/* bound: RACE_FOUND, of race_select_search_on() */
	while (more && look_for_set(work, &search, first, &found))
	{
		race_select_find(&work->select, &found);
		more = race_select_search_on(&work->select, &search);
	}
	race_scores_end(work->exact_scores);
	race_select_hold(&work->select);
}
