/*
 * row_estimator.c
 *		Means over the rows of a sketch, and their variance
 */
#include "postgres.h"

#include <math.h>

#include "row_estimator.h"

double
race_estimator_mean(const RaceView *view, const RaceEvaluator *fitted,
				  const uint32 *buckets, uint32 from, uint32 to)
{
	double		sum = fitted != NULL ? race_evaluator_residuals(fitted, buckets, from, to) :
		race_counters_sum(view->counters, view->width, buckets, from, to,
						  view->params->range);

	return sum / (to - from);
}

/*
 * Blocks are consecutive rows.  Independent rows are a block each.  Rows of a Sobol'
 * sequence balance each other, so the variance between them would be far too large; the
 * variance between 16 blocks is only a little too large.  With few rows, blocks are
 * pairs at least.
 */
uint32
race_estimator_blocks(const RaceParams *params, uint32 rows)
{
	if (race_params_sequence(params) == RACE_SEQUENCE_INDEPENDENT)
		return rows;
	return Min(rows, rows < 32 ? 8 : 16);
}

double
race_estimator_variance(const RaceView *view, const RaceEvaluator *fitted,
					  const uint32 *buckets, uint32 from, uint32 to, double mean,
					  double least)
{
	uint64		rows = to - from;
	uint32		blocks = race_estimator_blocks(view->params, rows);
	double		sum = 0;

	if (blocks < 2)
		return INFINITY;
	for (uint32 i = 0; i < blocks; i++)
	{
		double		d = race_estimator_mean(view, fitted, buckets,
										  from + i * rows / blocks,
										  from + (i + 1) * rows / blocks) - mean;

		sum += d * d;
	}
	return Max(sum / (blocks - 1) / blocks, least);
}

double
race_correct_collisions(const RaceParams *params, double mean, double n)
{
	double		p = race_collision_probability(params);

	return (mean - p * n) / (1 - p);
}

bool
race_rows_hide_errors(const RaceParams *params)
{
	return race_model_moves(params) && !race_model_halves_move(params);
}

RaceRecordCount
race_record_count(const RaceView *view, const RaceGridded *gridded)
{
	RaceRecordCount count = {view->header->count, view->header->noise.count_variance};

	return gridded != NULL ? race_gridded_count(gridded) : count;
}

double
race_count_divisor(RaceRecordCount count)
{
	double		noise = Min(2 * sqrt(count.variance), (double) RACE_MAX_COUNT);

	return Max(Max(count.n, 1), noise);
}

void
race_check_fitted(const RaceView *view)
{
	if (view->model == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the sketch has no fitted model"),
				 errhint("race_fit makes one. Merging or changing a sketch drops it.")));
}
