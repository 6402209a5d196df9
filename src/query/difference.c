/*
 * difference.c
 *		race_difference: by how much two sketches differ at a query.
 *
 * The rows of sketches with the same parameters have the same functions, so what sampling
 * adds to both is much alike, and goes when they are subtracted row by row.  Noise and what
 * models miss is each sketch's own.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "utils/memutils.h"

#include "../fit/answers.h"
#include "../lsh/grid.h"
#include "../server/argument.h"
#include "../server/result.h"
#include "estimate.h"
#include "student.h"

PG_FUNCTION_INFO_V1(race_difference);

/* One side: a sketch that was asked, and what it answers */
typedef struct Side
{
	RaceQuestion question;
	RaceDensity density;
} Side;

static void
check_same_kernel(const RaceParams *a, const RaceParams *b)
{
	if (!race_params_same_kernel(a, b))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("densities of different kernels cannot be compared"),
				 errdetail("One side has %s, the other has %s.",
						   race_params_brief(a), race_params_brief(b))));
}

/* Can rows be subtracted one by one? */
static bool
is_paired(const Side *a, const Side *b)
{
	const RaceParams *params = a->question.view.params;

	return race_params_same(params, b->question.view.params) && !race_is_grid(params) &&
		a->question.buckets != NULL;
}

/* What some rows of a side add to its density, but for the correction of collisions */
static double
rows_answer(const Side *side, uint32 from, uint32 to)
{
	const RaceDensity *density = &side->density;

	if (density->weight == 0)
		return 0;
	return density->weight / density->n *
		race_answers_mean(&side->question.view, density->fitted, side->question.buckets,
						  from, to);
}

static double
own_variance(const Side *side, double variance)
{
	const RaceDensity *density = &side->density;

	return density->weight == 0 ? 0 : pow(density->weight / density->n, 2) * variance;
}

/*
 * The variance of the difference of the means of rows, from that between blocks; never below
 * what is known of each side.  Blocks of all balanced rows say no more.
 */
static double
paired_variance(const Side *a, const Side *b)
{
	const RaceParams *params = a->question.view.params;
	uint64		rows = params->rows;
	uint32		blocks = race_answers_blocks(params, params->rows);
	double		mean = rows_answer(a, 0, rows) - rows_answer(b, 0, rows);
	double		least = own_variance(a, a->density.least_variance) +
		own_variance(b, b->density.least_variance);
	double		share = race_sampling_share(params, params->rows);
	double		sum = 0;
	uint32		i;

	if (share == 0)
		return least;
	for (i = 0; i < blocks; i++)
	{
		uint32		from = i * rows / blocks;
		uint32		to = (i + 1) * rows / blocks;

		sum += pow(rows_answer(a, from, to) - rows_answer(b, from, to) - mean, 2);
	}
	return least + share * Max(sum / (blocks - 1) / blocks - least, 0);
}

static double
standard_error(const Side *a, const Side *b)
{
	double		p = race_collision_probability(a->question.view.params);
	double		variance = pow(a->density.standard_error, 2) + pow(b->density.standard_error, 2);

	if (isfinite(variance) && is_paired(a, b))
		variance += (paired_variance(a, b) - own_variance(a, a->density.rows_variance) -
					 own_variance(b, b->density.rows_variance)) / pow(1 - p, 2);
	return sqrt(Max(variance, 0));
}

/* How many standard errors the interval has on each side */
static double
quantile(const Side *a, const Side *b, double confidence)
{
	uint32		blocks = Min(race_estimate_blocks(&a->question.view),
							 race_estimate_blocks(&b->question.view));

	return blocks < 2 ? INFINITY : race_student_two_sided(1 - confidence, blocks - 1);
}

/* Is the number of records within its noise of zero?  Then a density says nothing. */
static bool
has_no_count(const Side *side, double t)
{
	return !(side->density.n > t * sqrt(side->density.n_variance));
}

/* race_difference(a, b, q, confidence) */
Datum
race_difference(PG_FUNCTION_ARGS)
{
	double		confidence = PG_GETARG_FLOAT8(3);
	Side		side[2];
	RaceResultRow row;
	double		difference;
	double		error;
	double		t;
	double		reach;
	int			i;

	race_check_confidence(confidence);
	race_row_start(&row, fcinfo);
	race_ask_pair(fcinfo, race_argument_type(fcinfo->flinfo, 2), &side[0].question,
				  &side[1].question);
	check_same_kernel(side[0].question.view.params, side[1].question.view.params);
	for (i = 0; i < 2; i++)
	{
		race_ask_about(&side[i].question, PG_GETARG_DATUM(2));
		race_estimate_density(&side[i].question, &side[i].density);
	}
	difference = side[0].density.density - side[1].density.density;
	error = standard_error(&side[0], &side[1]);
	t = quantile(&side[0], &side[1], confidence);
	reach = has_no_count(&side[0], t) || has_no_count(&side[1], t) ? INFINITY : t * error;

	race_row_add(&row, Float8GetDatum(difference));
	race_row_add(&row, Float8GetDatum(error));
	race_row_add(&row, Float8GetDatum(difference - reach));
	race_row_add(&row, Float8GetDatum(difference + reach));
	PG_RETURN_DATUM(race_row_datum(&row));
}
