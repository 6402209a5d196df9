/*
 * judge.c
 *		How much a model misses.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "answers.h"
#include "fit.h"
#include "work.h"

#define MOST_TOGETHER	((Size) 4 * 1024 * 1024)	/* buckets that are in memory at once */

/*
 * Points at random miss more where records are than where they were tested, which is around
 * other points of theirs: about twice the square.
 */
#define UNSEEN			2

/* Means over some records */
typedef struct Residuals
{
	double		square;			/* of what the rows of a half say beyond the model, */
	double		noise;			/* and of what noise alone has in it */
	double		variance;		/* of the residual of all rows, */
	double		answer;			/* square of what the model answers, */
	double		disagreement;	/* and of how its halves differ in that */
} Residuals;

static void
add_residuals(const RaceView *view, RaceReady  *ready, const RaceColumn *record,
			  const uint32 *buckets, Residuals *sum)
{
	uint32		rows = view->params->rows;
	uint32		half = race_model_first_rows(view->params);
	double		noise = view->header->noise.counter_variance;
	double		mean = race_answers_mean(view, ready, buckets, 0, rows);
	double		first = race_answers_mean(view, ready, buckets, 0, half);
	double		second = half == rows ? first :
		race_answers_mean(view, ready, buckets, half, rows);

	sum->square += (first * first + second * second) / 2;
	sum->noise += (noise / half + noise / Max(rows - half, 1)) / 2;
	sum->variance += race_answers_variance(view, ready, buckets, 0, rows, mean, noise / rows);
	sum->answer += pow(race_ready_sum(ready, record), 2);
	sum->disagreement += pow(race_ready_disagreement(ready, record), 2);
}

static Residuals
measure_residuals(const RaceFitWork *fit, const RaceModel *model, Size size,
				  const RaceRecords *tests)
{
	uint32		rows = fit->view->params->rows;
	Size		line = race_gram_line(rows);
	uint32		together = Max(Min(MOST_TOGETHER / line, RACE_RECORDS_TOGETHER), 1);
	uint32	   *buckets = palloc_extended(together * line * sizeof(uint32),
										  MCXT_ALLOC_HUGE);
	RaceView	view = *fit->view;
	Residuals	sum = {0, 0, 0, 0, 0};
	RaceColumn	record[RACE_MAX_PARTS];
	RaceReady  *ready;
	uint32		from;
	uint32		i;

	view.model = model;
	view.model_size = size;
	ready = race_ready_create(&view, CurrentMemoryContext);
	for (from = 0; from < tests->n; from += together)
	{
		uint32		n = Min(tests->n - from, together);

		race_work_hash(fit, tests, from, n, rows, buckets);
		for (i = 0; i < n; i++)
		{
			CHECK_FOR_INTERRUPTS();
			race_records_columns(tests, from + i, record);
			add_residuals(&view, ready, record, buckets + i * line, &sum);
		}
	}
	pfree(buckets);
	sum.square /= tests->n;
	sum.noise /= tests->n;
	sum.variance /= tests->n;
	sum.answer /= tests->n;
	sum.disagreement /= tests->n;
	return sum;
}

/*
 * May the model not be asked?  Points that were given, or a grid, were not moved.  Without a second
 * half nothing tests it.
 */
static bool
is_untested(const RaceFitWork *fit)
{
	return race_model_first_rows(fit->view->params) >= fit->rows ||
		fit->rows < (fit->complete ? 2 : race_model_least_rows(fit->view->params));
}

/*
 * What share of an answer the model misses.  A half misses what points cannot say, and what
 * noise and sampling have moved.  The latter is independent in both halves: half of the
 * square by which they differ; their mean has half of it.  Where the model answers nothing,
 * it may miss all.
 *
 * What sampling leaves in the residuals counts as missed.  To take it off, as the variance of
 * blocks says it, made some errors a tenth less, but a release of pulsar in six held 64 % of sums:
 * that variance is not known well where all answers vary together.
 */
static double
misfit_of(const RaceFitWork *fit, const Residuals *residuals)
{
	double		moved = residuals->disagreement / 2;
	double		unsaid = Max(residuals->square - residuals->noise - moved, 0);
	double		missed = (fit->complete ? 1 : UNSEEN) * unsaid + moved / 2;

	if (!fit->complete && race_rows_hide_errors(fit->view->params))
		missed += RACE_HIDDEN_VARIANCE * residuals->variance;
	return missed == 0 ? 0 : Min(sqrt(missed / residuals->answer), RACE_UNTESTED / 2);
}

/* The middle of many squares of normal variables is this part of their variance. */
#define MIDDLE_OF_SQUARES	0.4549

/* What noise leaves of a kernel sum, on average over the box */
static double
noise_of_grid(const RaceFitWork *fit)
{
	const RaceParams *params = fit->view->params;
	RaceGridChoice as_it_is = {0, race_grid_levels(params)};

	return race_grid_noise_variance(params, as_it_is, RACE_GRID_ANYWHERE,
									fit->view->header->noise.counter_variance);
}

/*
 * A grid has no second half to test a model with.  But its noise is known.  The middle square of what it
 * says beyond the model, at all points, is what noise leaves where the model is right, if it is less.
 * What the squares have on average beyond the noise is missed.
 *
 * In more than one dimension the points are too coarse for what a grid says of records on a
 * line, and the grid by itself is good: its model is not asked.
 */
void
race_judge_by_noise(const RaceFitWork *fit, RaceModel *model)
{
	uint32		n = fit->points->n;
	double	   *squares = fit->space;
	double		noise = noise_of_grid(fit);
	double		square = 0;
	double		answer = 0;
	uint32		i;

	race_gram_multiply(&fit->gram, fit->weights, squares);
	for (i = 0; i < n; i++)
	{
		answer += squares[i] * squares[i] / n;
		squares[i] = pow(fit->answers[i] - squares[i], 2);
		square += squares[i] / n;
	}
	race_sort_descending(squares, n);
	model->residual_variance = Min(squares[n / 2] / MIDDLE_OF_SQUARES, noise);
	model->misfit = !fit->complete || fit->view->params->dims > 1 ? RACE_UNTESTED :
		square <= noise ? 0 : Min(sqrt((square - noise) / answer), RACE_UNTESTED / 2);
}

/* What rows say that the model has not seen */
void
race_judge_by_rows(const RaceFitWork *fit, const RaceRecords *tests, RaceModel *model, Size size)
{
	Residuals	residuals = measure_residuals(fit, model, size, tests);

	/* a single row shows no variance */
	model->residual_variance = isfinite(residuals.variance) ? residuals.variance :
		residuals.square;
	model->misfit = is_untested(fit) ? RACE_UNTESTED : misfit_of(fit, &residuals);
}
