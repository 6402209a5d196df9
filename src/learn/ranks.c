/*
 * ranks.c
 *		The densities of the records of a fitted sketch, in order.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "../fit/ready.h"
#include "../sketch/known.h"
#include "ranks.h"

typedef struct Rank
{
	double		sum;			/* of kernels at a point */
	double		weight;			/* and later of all points up to this one */
} Rank;

struct RaceRanks
{
	RaceKnown	known;			/* must be first */
	uint64		n;
	Rank		ranks[FLEXIBLE_ARRAY_MEMBER];
};

static int
compare_ranks(const void *a, const void *b)
{
	double		x = ((const Rank *) a)->sum;
	double		y = ((const Rank *) b)->sum;

	return (x > y) - (x < y);
}

static void
ask_at_points(RaceQuestion *question, RaceRanks *ranks)
{
	const RaceView *view = &question->view;
	int			parts = race_params_parts(view->params);
	RaceColumn	points[RACE_MAX_PARTS];
	RaceColumn	point[RACE_MAX_PARTS];
	double		total = 0;
	uint64		i;
	int			k;

	race_model_columns(view->model, view->params, points);
	for (i = 0; i < ranks->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		for (k = 0; k < parts; k++)
			point[k] = race_column_from(&points[k], i);
		race_ask_about_columns(question, point);
		ranks->ranks[i].sum = race_estimate_sum(question);
		ranks->ranks[i].weight = race_model_weight(view->model, i);
	}
	qsort(ranks->ranks, ranks->n, sizeof(Rank), compare_ranks);
	for (i = 0; i < ranks->n; i++)
		ranks->ranks[i].weight = total += ranks->ranks[i].weight;
}

static void *
create_ranks(const RaceView *view, void *question, MemoryContext context, Size *size)
{
	RaceRanks  *ranks;

	race_check_model(view);
	*size = offsetof(RaceRanks, ranks) + view->model->points * sizeof(Rank);
	ranks = MemoryContextAllocZero(context, *size);
	race_known_init(&ranks->known, view, context);
	ranks->n = view->model->points;
	ask_at_points((RaceQuestion *) question, ranks);
	return ranks;
}

static const RaceDerivedKind ranks_of_points = {"density ranks", create_ranks, NULL};

/* ------------------------------------------------------------------- cache */

static void
release(void *arg)
{
	RaceRanksHold *hold = (RaceRanksHold *) arg;
	RaceRanks  *ranks = hold->ranks;

	hold->ranks = NULL;
	if (ranks != NULL)
		race_derived_release(ranks);
}

void
race_ranks_hold(RaceRanksHold *hold, MemoryContext context)
{
	hold->ranks = NULL;
	hold->release.func = release;
	hold->release.arg = hold;
	MemoryContextRegisterResetCallback(context, &hold->release);
}

const RaceRanks *
race_ranks_at(RaceRanksHold *hold, RaceQuestion *question)
{
	if (hold->ranks != NULL && race_known_is_of(&hold->ranks->known, &question->view))
		return hold->ranks;
	release(hold);
	hold->ranks = race_derived_acquire(&ranks_of_points, &question->view, question);
	return hold->ranks;
}

/* --------------------------------------------------------------- questions */

double
race_ranks_share(const RaceRanks *ranks, double sum)
{
	double		total = ranks->ranks[ranks->n - 1].weight;
	uint64		from = 0;
	uint64		to = ranks->n;

	/* the first that is not below */
	while (from < to)
	{
		uint64		middle = (from + to) / 2;

		if (ranks->ranks[middle].sum < sum)
			from = middle + 1;
		else
			to = middle;
	}
	return from == 0 || total == 0 ? 0 : ranks->ranks[from - 1].weight / total;
}
