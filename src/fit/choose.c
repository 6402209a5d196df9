/*
 * choose.c
 *		Which of many candidates are the points of a model.
 *
 * A model has some thousand points at most, and there may be many more kinds of records.  So
 * candidates come in rounds.  Points that got most weight stay, and of the next candidates those
 * come in of which the sketch says most beyond the model so far: there a weight lessens the misfit
 * fastest.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "../server/progress.h"
#include "answers.h"
#include "choose.h"
#include "fit.h"

#define ROUNDS			6
#define STREAM_ORDER	200

/* A candidate, and how much speaks for it */
typedef struct Scored
{
	uint32		candidate;
	double		score;
} Scored;

/* Candidates by number: points, and those that are looked at in a round */
typedef struct Choice
{
	RaceFitWork *fit;
	const RaceRecords *candidates;
	char *const *texts;
	uint32	   *order;			/* [candidates->n]: at random, but always the same */
	uint32	   *points;			/* [RACE_CHOSEN_POINTS] */
	char	  **point_texts;	/* the same; NULL without texts */
} Choice;

static int
compare_scores(const void *a, const void *b)
{
	const Scored *x = (const Scored *) a;
	const Scored *y = (const Scored *) b;

	if (x->score != y->score)
		return x->score < y->score ? 1 : -1;
	return (x->candidate > y->candidate) - (x->candidate < y->candidate);
}

/* They may come sorted. */
static uint32 *
shuffle(uint32 n)
{
	uint32	   *order = palloc_extended(n * sizeof(uint32), MCXT_ALLOC_HUGE);
	uint32		i;

	for (i = 0; i < n; i++)
	{
		uint32		j = (uint32) ((i + 1) * race_candidates_random(0, STREAM_ORDER, i, 0));

		order[i] = order[j];
		order[j] = i;
	}
	return order;
}

/* Make some candidates records of their own. */
static void
copy_candidates(const RaceRecords *candidates, const uint32 *numbers, uint32 n,
				RaceRecords *records)
{
	RaceColumn	columns[RACE_MAX_PARTS];

	race_records_clear(records);
	while (records->n < n)
	{
		race_records_columns(candidates, numbers[records->n], columns);
		race_records_copy(records, columns);
		records->n++;
	}
}

static void
place_points(Choice *choice)
{
	uint32		i;

	copy_candidates(choice->candidates, choice->points, RACE_CHOSEN_POINTS,
					choice->fit->points);
	for (i = 0; choice->texts != NULL && i < RACE_CHOSEN_POINTS; i++)
		choice->point_texts[i] = choice->texts[choice->points[i]];
}

/* What a sketch says beyond the model at records */
static void
score_records(const RaceFitWork *fit, const RaceView *view, const RaceRecords *records,
			  Scored *scored)
{
	RaceReady  *ready = race_ready_create(view, CurrentMemoryContext);
	uint32		rows = view->params->rows;
	uint32	   *buckets = palloc_extended(race_gram_line(rows) * sizeof(uint32),
										  MCXT_ALLOC_HUGE);
	RaceColumn	columns[RACE_MAX_PARTS];
	uint32		i;

	for (i = 0; i < records->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		race_records_columns(records, i, columns);
		if (fit->gridded != NULL)
		{
			scored[i].score = race_gridded_sum(fit->gridded, columns[0].numbers) -
				race_ready_sum(ready, columns);
			continue;
		}
		race_work_hash(fit, records, i, 1, rows, buckets);
		scored[i].score = race_answers_mean(view, ready, buckets, 0, rows);
	}
}

/* Score the candidates in order[from ... from + n - 1], the best first. */
static Scored *
score(const Choice *choice, uint32 from, uint32 n)
{
	Scored	   *scored = palloc_extended(n * sizeof(Scored), MCXT_ALLOC_HUGE);
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "race_fit round",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	RaceRecords *records = race_records_create(choice->fit->view->params, context);
	RaceView	view = *choice->fit->view;
	Size		size;
	uint32		i;

	for (i = 0; i < n; i++)
		scored[i].candidate = choice->order[from + i];
	race_records_reserve(records, n);
	copy_candidates(choice->candidates, choice->order + from, n, records);
	view.model = race_fit_model(choice->fit, choice->point_texts, &size);
	view.model_size = size;
	score_records(choice->fit, &view, records, scored);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	qsort(scored, n, sizeof(Scored), compare_scores);
	return scored;
}

/* Put the heavier half of the points first, with their weights. */
static void
keep_heavy(Choice *choice)
{
	Scored	   *scored = palloc(RACE_CHOSEN_POINTS * sizeof(Scored));
	uint32		i;

	for (i = 0; i < RACE_CHOSEN_POINTS; i++)
	{
		scored[i].candidate = choice->points[i];
		scored[i].score = choice->fit->weights[i];
	}
	qsort(scored, RACE_CHOSEN_POINTS, sizeof(Scored), compare_scores);
	for (i = 0; i < RACE_CHOSEN_POINTS; i++)
	{
		choice->points[i] = scored[i].candidate;
		choice->fit->weights[i] = i < RACE_CHOSEN_POINTS / 2 ? scored[i].score : 0;
	}
	pfree(scored);
}

static void
do_round(Choice *choice, uint32 from, uint32 n)
{
	uint32		places = RACE_CHOSEN_POINTS - RACE_CHOSEN_POINTS / 2;
	Scored	   *scored;
	uint32		i;

	race_work_round(choice->fit);
	memcpy(choice->fit->second, choice->fit->weights, RACE_CHOSEN_POINTS * sizeof(double));
	scored = score(choice, from, n);
	keep_heavy(choice);
	for (i = 0; i < Min(n, places); i++)
		choice->points[RACE_CHOSEN_POINTS - 1 - i] = scored[i].candidate;
	pfree(scored);
	place_points(choice);
}

char *const *
race_choose_points(RaceFitWork *fit, const RaceRecords *candidates, char *const *texts)
{
	Choice		choice = {fit, candidates, texts, NULL, NULL, NULL};
	uint32		from = RACE_CHOSEN_POINTS;
	uint32		others = candidates->n - from;
	uint32		round;

	choice.order = shuffle(candidates->n);
	choice.points = palloc(RACE_CHOSEN_POINTS * sizeof(uint32));
	memcpy(choice.points, choice.order, RACE_CHOSEN_POINTS * sizeof(uint32));
	if (texts != NULL)
		choice.point_texts = palloc(RACE_CHOSEN_POINTS * sizeof(char *));
	place_points(&choice);
	race_work_spread(fit, fit->weights);
	for (round = 1; round <= ROUNDS; round++)
	{
		uint32		end = RACE_CHOSEN_POINTS + (uint32) ((uint64) others * round / ROUNDS);

		do_round(&choice, from, end - from);
		race_tell("race_fit: round %d of %d", (int) round, ROUNDS);
		from = end;
	}
	return choice.point_texts;
}

RaceRecords *
race_choose_tests(const RaceRecords *candidates, const RaceParams *params)
{
	RaceRecords *tests = race_records_create(params, CurrentMemoryContext);
	uint32	   *order = shuffle(candidates->n);

	race_records_reserve(tests, RACE_CHOSEN_POINTS);
	copy_candidates(candidates, order + candidates->n - RACE_CHOSEN_POINTS,
					RACE_CHOSEN_POINTS, tests);
	pfree(order);
	return tests;
}
