/*
 * marginals.c
 *		Points of a model of balanced rows, which are marginals.
 *
 * Of many columns there are far more records than a model can have points, and most of any
 * candidates are far from what the table has.  So candidates serve to find the distribution of
 * each column by itself.  The points are then made of their values: each column is drawn from its
 * distribution, and all columns independently of each other.  Equal weights of these points say
 * that columns are independent, and weights that diverge from that say what the pairs do.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "fit.h"
#include "marginals.h"
#include "rowtext.h"

#define LOOSE			30		/* strictness with which columns are learned */
#define MOST_CODES		((Size) 64 * 1024 * 1024)	/* of all points in all rows */
#define STREAM_FIRST	201
#define STREAM_COLUMN	202

uint32
race_marginals_points(const RaceParams *params)
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

char *const *
race_marginals_place(RaceFitWork *fit, const RaceRecords *candidates, char *const *texts)
{
	uint32		dims = fit->view->params->dims;
	uint32		n = race_marginals_points(fit->view->params);
	uint32	   *chosen = palloc(n * sizeof(uint32));
	Holder	   *holders = palloc(n * sizeof(Holder));
	uint32	   *source = palloc_extended((Size) n * dims * sizeof(uint32), MCXT_ALLOC_HUGE);
	uint64	   *elements;
	Size		i;

	place_first(fit, candidates, chosen, n);
	if (!race_row_texts_are_arrays(texts, candidates->n, dims))
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
	return race_row_texts(texts, source, n, dims);
}
