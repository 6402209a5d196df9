/*
 * choose.c
 *		Models of records that are given: choosing points among them, or making them of their values.
 *
 * A model has some thousand points at most, and there may be many more kinds of records.  So
 * candidates come in rounds.  Points that got most weight stay, and of the next candidates those
 * come in of which the sketch says most beyond the model so far: there a weight lessens the misfit
 * fastest.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "../lsh/balanced.h"
#include "../server/progress.h"
#include "answers.h"
#include "fit.h"
#include "work.h"

#define CHOSEN_POINTS	2000	/* fewer than RACE_MAX_DENSE_POINTS */
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
	uint32	   *points;			/* [CHOSEN_POINTS] */
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

	copy_candidates(choice->candidates, choice->points, CHOSEN_POINTS,
					choice->fit->points);
	for (i = 0; choice->texts != NULL && i < CHOSEN_POINTS; i++)
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
	Scored	   *scored = palloc(CHOSEN_POINTS * sizeof(Scored));
	uint32		i;

	for (i = 0; i < CHOSEN_POINTS; i++)
	{
		scored[i].candidate = choice->points[i];
		scored[i].score = choice->fit->weights[i];
	}
	qsort(scored, CHOSEN_POINTS, sizeof(Scored), compare_scores);
	for (i = 0; i < CHOSEN_POINTS; i++)
	{
		choice->points[i] = scored[i].candidate;
		choice->fit->weights[i] = i < CHOSEN_POINTS / 2 ? scored[i].score : 0;
	}
	pfree(scored);
}

static void
do_round(Choice *choice, uint32 from, uint32 n)
{
	uint32		places = CHOSEN_POINTS - CHOSEN_POINTS / 2;
	Scored	   *scored;
	uint32		i;

	race_work_round(choice->fit);
	memcpy(choice->fit->second, choice->fit->weights, CHOSEN_POINTS * sizeof(double));
	scored = score(choice, from, n);
	keep_heavy(choice);
	for (i = 0; i < Min(n, places); i++)
		choice->points[CHOSEN_POINTS - 1 - i] = scored[i].candidate;
	pfree(scored);
	place_points(choice);
}

static char *const *
choose_points(RaceFitWork *fit, const RaceRecords *candidates, char *const *texts)
{
	Choice		choice = {fit, candidates, texts, NULL, NULL, NULL};
	uint32		from = CHOSEN_POINTS;
	uint32		others = candidates->n - from;
	uint32		round;

	choice.order = shuffle(candidates->n);
	choice.points = palloc(CHOSEN_POINTS * sizeof(uint32));
	memcpy(choice.points, choice.order, CHOSEN_POINTS * sizeof(uint32));
	if (texts != NULL)
		choice.point_texts = palloc(CHOSEN_POINTS * sizeof(char *));
	place_points(&choice);
	race_work_spread(fit, fit->weights);
	for (round = 1; round <= ROUNDS; round++)
	{
		uint32		end = CHOSEN_POINTS + (uint32) ((uint64) others * round / ROUNDS);

		do_round(&choice, from, end - from);
		race_tell("race_fit: round %d of %d", (int) round, ROUNDS);
		from = end;
	}
	return choice.point_texts;
}

static RaceRecords *
choose_tests(const RaceRecords *candidates, const RaceParams *params)
{
	RaceRecords *tests = race_records_create(params, CurrentMemoryContext);
	uint32	   *order = shuffle(candidates->n);

	race_records_reserve(tests, CHOSEN_POINTS);
	copy_candidates(candidates, order + candidates->n - CHOSEN_POINTS,
					CHOSEN_POINTS, tests);
	pfree(order);
	return tests;
}

/* --------------------------------------------------------- texts of rows */

/* Where an element of the text of an array ends: at a comma or bracket that is not quoted */
static const char *
end_of_element(const char *text)
{
	bool		quoted = false;

	for (; *text != '\0' && (quoted || (*text != ',' && *text != '}')); text++)
		if (*text == '"')
			quoted = !quoted;
		else if (*text == '\\' && text[1] != '\0')
			text++;
	return text;
}

static bool
texts_are_arrays(char *const *texts, uint32 n, uint32 dims)
{
	uint32		i;
	uint32		j;

	for (i = 0; i < n; i++)
	{
		const char *text = strchr(texts[i], '{');

		CHECK_FOR_INTERRUPTS();
		for (j = 0; text != NULL && j < dims; j++)
			text = *text == '\0' || *text == '}' ? NULL : end_of_element(text + 1);
		if (text == NULL || strcmp(text, "}") != 0)
			return false;
	}
	return true;
}

/* Append element j of the text of an array.  Bounds, as in [0:1]={a,b}, stand before. */
static void
append_element(StringInfo out, const char *text, uint32 j)
{
	const char *start = strchr(text, '{') + 1;
	const char *end = end_of_element(start);

	while (j-- > 0)
	{
		start = end + 1;
		end = end_of_element(start);
	}
	appendBinaryStringInfo(out, start, end - start);
}

static char *const *
make_row_texts(char *const *texts, const uint32 *source, uint32 n, uint32 dims)
{
	char	  **made = palloc(n * sizeof(char *));
	Size		size = 0;		/* a long text may be in many rows */
	StringInfoData text;
	uint32		i;
	uint32		j;

	initStringInfo(&text);
	for (i = 0; i < n; i++)
	{
		resetStringInfo(&text);
		for (j = 0; j < dims; j++)
		{
			CHECK_FOR_INTERRUPTS();
			appendStringInfoChar(&text, j == 0 ? '{' : ',');
			append_element(&text, texts[source[(Size) i * dims + j]], j);
		}
		appendStringInfoChar(&text, '}');
		size += text.len;
		race_fit_check_size(size);
		made[i] = pstrdup(text.data);
	}
	pfree(text.data);
	return made;
}

/* --------------------------------------------------------- balanced rows */

/*
 * How many squares of the noise of a counter a divergence of 1 from equal weights is worth.  On
 * three made-up tables of 4 to 8 columns 100 to 300 was best, at epsilon .1 and 1.
 */
#define STRICTNESS	200
#define LOOSE			30		/* strictness with which columns are learned */
#define MOST_CODES		((Size) 64 * 1024 * 1024)	/* of all points in all rows */
#define STREAM_FIRST	201
#define STREAM_COLUMN	202

static uint32
marginals_points(const RaceParams *params)
{
	Size		in_bytes = RACE_MAX_MODEL_BYTES / 4 / (sizeof(double) * (params->dims + 2));
	Size		in_codes = Max(MOST_CODES / params->rows, RACE_MAX_DENSE_POINTS);

	return Min(RACE_MAX_POINTS, Min(in_bytes, in_codes));
}

/* A candidate and its category in the column that is looked at */
typedef struct Holder
{
	uint64		element;
	uint32		candidate;
	double		weight;
} Holder;

static int
compare_holders(const void *a, const void *b)
{
	const Holder *x = (const Holder *) a;
	const Holder *y = (const Holder *) b;

	if (x->element != y->element)
		return x->element < y->element ? -1 : 1;
	return (x->candidate > y->candidate) - (x->candidate < y->candidate);
}

/* Points at random from the candidates */
static void
place_first(RaceFitWork *fit, const RaceRecords *candidates, uint32 *chosen, uint32 n)
{
	RaceColumn	column;
	uint32		i;

	for (i = 0; i < n; i++)
	{
		chosen[i] = (uint32) (candidates->n * race_candidates_random(0, STREAM_FIRST, i, 0));
		race_records_columns(candidates, chosen[i], &column);
		race_records_copy(fit->points, &column);
		fit->points->n++;
	}
}

/*
 * Of n points, which candidate each has its category in a column from: each category as often as
 * weights say, at random places.
 */
static void
draw_column(const RaceFitWork *fit, uint32 column, const uint32 *chosen, Holder *holders,
			uint32 *source)
{
	uint32		n = fit->points->n;
	uint32		dims = fit->view->params->dims;
	double		passed = 0;
	uint32		next = 0;
	uint32		i;

	for (i = 0; i < n; i++)
	{
		holders[i].element = fit->points->parts[0].elements[(Size) i * dims + column];
		holders[i].candidate = chosen[i];
		holders[i].weight = fit->weights[i];
	}
	qsort(holders, n, sizeof(Holder), compare_holders);
	for (i = 0; i < n; i++)
		for (passed += holders[i].weight; next < n && (next + 0.5) / n * fit->records < passed; next++)
		{
			uint32		j = (uint32) ((next + 1) * race_candidates_random(0, STREAM_COLUMN, next, column));

			source[(Size) next * dims + column] = source[(Size) j * dims + column];
			source[(Size) j * dims + column] = holders[i].candidate;
		}
	for (; next < n; next++)	/* rounding */
		source[(Size) next * dims + column] = holders[n - 1].candidate;
}

/* The texts of candidates that are points as they are */
static char *const *
texts_of(char *const *texts, const uint32 *chosen, uint32 n)
{
	char	  **of_chosen = palloc(n * sizeof(char *));
	uint32		i;

	for (i = 0; i < n; i++)
		of_chosen[i] = texts[chosen[i]];
	return of_chosen;
}

static char *const *
place_marginals(RaceFitWork *fit, const RaceRecords *candidates, char *const *texts)
{
	uint32		dims = fit->view->params->dims;
	uint32		n = marginals_points(fit->view->params);
	uint32	   *chosen = palloc(n * sizeof(uint32));
	Holder	   *holders = palloc(n * sizeof(Holder));
	uint32	   *source = palloc_extended((Size) n * dims * sizeof(uint32), MCXT_ALLOC_HUGE);
	uint64	   *elements;
	Size		i;

	place_first(fit, candidates, chosen, n);
	if (!texts_are_arrays(texts, candidates->n, dims))
		return texts_of(texts, chosen, n);
	race_work_explain(fit, LOOSE);
	for (i = 0; i < dims; i++)
	{
		CHECK_FOR_INTERRUPTS();
		draw_column(fit, i, chosen, holders, source);
	}
	elements = fit->points->parts[0].elements;
	for (i = 0; i < (Size) n * dims; i++)
		elements[i] = candidates->parts[0].elements[(Size) source[i] * dims + i % dims];
	pfree(holders);
	pfree(chosen);
	return make_row_texts(texts, source, n, dims);
}

/* ----------------------------------------------------------------- records */

/* Of balanced rows.  There are no second ones to test the model. */
static RaceSketchDatum *
fit_marginals(const RaceView *view, RaceRecords *records, char *const *texts)
{
	uint32		most = marginals_points(view->params);
	bool		recombined = records->n > Min(RACE_MAX_DENSE_POINTS, most);
	RaceRecords *points = records;
	Size		size;
	RaceModel  *model;
	RaceFitWork fit;

	if (recombined)
	{
		points = race_records_create(view->params, CurrentMemoryContext);
		race_records_reserve(points, most);
	}
	race_work_start(&fit, view, points, recombined ? most : records->n);
	fit.complete = !recombined;
	if (recombined)
		texts = place_marginals(&fit, records, texts);
	race_work_explain(&fit, STRICTNESS);
	model = race_fit_model(&fit, texts, &size);
	model->misfit = RACE_UNTESTED;
	model->residual_variance = view->header->noise.counter_variance / fit.rows +
		race_sampling_variance(view->params, fit.rows, race_kernel_mass(fit.records) * fit.records);
	return race_flat_create(view, model, size);
}

RaceSketchDatum *
race_fit_records(const RaceView *view, RaceRecords *records, char *const *texts)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "race_fit",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	RaceRecords *points = records;
	RaceRecords *tests = records;
	RaceSketchDatum *flat;
	RaceFitWork fit;

	if (race_is_balanced(view->params))
		return race_fit_leave(context, old, fit_marginals(view, records, texts));
	if (records->n > RACE_MAX_DENSE_POINTS)
	{
		points = race_records_create(view->params, context);
		race_records_reserve(points, CHOSEN_POINTS);
		tests = choose_tests(records, view->params);
	}
	race_work_start(&fit, view, points, points == records ? records->n : CHOSEN_POINTS);
	fit.complete = points == records;
	if (!fit.complete)
		texts = choose_points(&fit, records, texts);
	race_work_solve_halves(&fit);
	flat = race_fit_finish(&fit, tests, texts);
	return race_fit_leave(context, old, flat);
}
