/*
 * partial.c
 *		Questions that leave out parts of a product.
 *
 * The query (x, any) is completed by points c of the model, which are chosen by what they add
 * to its answer.  The ratio of what there is to what the model says is taken to be that of
 * (x, any), as by a ratio estimator (Cochran 1977, chapter 6).  It is if the model misses
 * the same share for each c, or if c has a single column of categories, all alike.
 */
#include "postgres.h"

#include "answers.h"
#include "partial.h"

#define PROBES		8			/* whole records that are looked at */

/* The parts that the query says, and those that it leaves out, of point i, or of none */
static void
complete(const RaceParams *params, const RaceColumn *record, const RaceColumn *points,
		 uint64 i, RaceColumn *whole, RaceColumn *rest)
{
	const RaceColumn any = {NULL, NULL, NULL, 0};
	int			k;

	for (k = 0; k < race_params_parts(params); k++)
	{
		bool		left_out = race_column_is_any(&record[k]);
		RaceColumn	point = race_column_from(&points[k], i);

		whole[k] = left_out ? point : record[k];
		rest[k] = left_out ? point : any;
	}
}

/* The point up to which the numbers add up to `sum` */
static uint64
find_point(const double *each, uint64 n, double sum)
{
	uint64		i = 0;

	for (; i + 1 < n && sum >= each[i]; i++)
		sum -= each[i];
	return i;
}

static bool
asks_nothing(const RaceParams *params, const RaceColumn *record)
{
	int			k;

	for (k = 0; k < race_params_parts(params); k++)
		if (!race_column_is_any(&record[k]))
			return false;
	return true;
}

/* Look at whole records, which are chosen by numbers that add up to `sum`. */
static void
probe(const RaceCallSite *site, const RaceView *view, RaceReady *ready, const RaceColumn *record,
	  const double *each, double sum, RacePartial *result)
{
	const RaceParams *params = view->params;
	uint32	   *buckets = palloc_extended(TYPEALIGN(RACE_LANES, params->rows) * sizeof(uint32),
										  MCXT_ALLOC_HUGE);
	RaceColumn	points[RACE_MAX_PARTS];
	int			i;

	race_model_columns(view->model, params, points);
	for (i = 0; i < PROBES; i++)
	{
		RaceColumn	whole[RACE_MAX_PARTS];
		RaceColumn	rest[RACE_MAX_PARTS];

		complete(params, record, points,
				 find_point(each, view->model->points, sum * (i + 0.5) / PROBES), whole, rest);
		race_rows_hash_one(race_rows_of(site->rows), params->rows, whole, buckets);
		result->whole += race_ready_sum(ready, whole) / PROBES;
		result->rest += race_ready_sum(ready, rest) / PROBES;
		result->residual += race_answers_mean(view, ready, buckets, 0, params->rows) / PROBES;
	}
	pfree(buckets);
}

void
race_partial_ask(const RaceCallSite *site, const RaceView *view, RaceReady *ready,
				 const RaceColumn *record, RacePartial *result)
{
	uint64		n = view->model->points;
	double	   *each = palloc(n * sizeof(double));
	double		all = 0;
	uint64		i;

	memset(result, 0, sizeof(RacePartial));
	result->model = race_ready_sum_each(ready, record, each);
	if (asks_nothing(view->params, record))
		return;
	for (i = 0; i < n; i++)
		all += race_model_weight(view->model, i);
	/* where the model has nothing, all points are alike */
	for (i = 0; result->model <= 0 && i < n; i++)
		each[i] = race_model_weight(view->model, i);
	probe(site, view, ready, record, each, result->model > 0 ? result->model : all, result);
	result->scale = result->whole > 0 ? result->model / result->whole : all / result->rest;
	pfree(each);
}
