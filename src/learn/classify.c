/*
 * classify.c
 *		race_classify, race_posterior and race_score: which class is a query from?
 *
 * Each class has a sketch.  Its score is the likelihood of the query, the
 * density of the class at q; with the prior "counts" the score is density times
 * record count, the kernel sum.  Noise can push scores out of their range, so
 * they are clamped: a density to [0, 1], a kernel sum to at least 0.
 *
 * Flat kernels give flat densities, which counts of classes outweigh everywhere.  So with the
 * prior "counts" a fitted model is asked alone, with a kernel that falls faster: on four tables
 * that was up to 6 points better, and never worse.
 *
 * The highest score wins; among equals the class with more records, then the
 * smaller label.  Where no class has records near q, all scores are zero, and the
 * answer is the largest class.
 *
 * The state holds labels and scores, and no sketch.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "miscadmin.h"

#include "../query/estimate.h"
#include "scores.h"

PG_FUNCTION_INFO_V1(race_classify_step);
PG_FUNCTION_INFO_V1(race_classify_final);
PG_FUNCTION_INFO_V1(race_posterior_final);
PG_FUNCTION_INFO_V1(race_score_final);

static RaceScore
score_class(const RaceQuestion *question, RacePrior prior)
{
	const RaceHeader *header = question->view.header;
	double		sum;
	RaceScore	score;

	score.label = (Datum) 0;
	score.count = Max(header->count, 0);
	if (prior == RACE_PRIOR_COUNTS && race_estimate_sharp_sum(question, &sum))
		score.score = sum;
	else if (prior == RACE_PRIOR_COUNTS)
		score.score = Max(race_estimate_sum(question), 0);
	else
		score.score = Min(Max(race_estimate_mean(question), 0), 1);
	return score;
}

/* ----------------------------------------------------------- aggregates */

/*
 * Transition function of race_classify and race_posterior (label, sketch, q [,
 * prior]). A row with a NULL among them is left out.
 */
Datum
race_classify_step(PG_FUNCTION_ARGS)
{
	RaceScores *scores = PG_ARGISNULL(0) ? NULL : (RaceScores *) PG_GETARG_POINTER(0);
	RacePrior	prior = RACE_PRIOR_UNIFORM;
	MemoryContext context;
	RaceQuestion question;
	int			i;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "race_classify_step called in non-aggregate context");
	if (scores == NULL)
		scores = race_scores_start(fcinfo, context);
	for (i = 1; i < PG_NARGS(); i++)
		if (PG_ARGISNULL(i))
			PG_RETURN_POINTER(scores);

	if (PG_NARGS() > 4)
		prior = race_read_prior(PG_GETARG_TEXT_PP(4));
	race_scores_set_prior(scores, prior);

	race_ask(fcinfo, 2, &question);
	race_scores_append(scores, score_class(&question, prior), PG_GETARG_DATUM(1), context);
	PG_RETURN_POINTER(scores);
}

Datum
race_classify_final(PG_FUNCTION_ARGS)
{
	RaceScores *scores = PG_ARGISNULL(0) ? NULL : (RaceScores *) PG_GETARG_POINTER(0);

	if (scores == NULL || scores->n == 0)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(race_scores_best(scores, race_scores_comparison(scores),
									 PG_GET_COLLATION())->label);
}

/*
 * How far the best score is ahead of the second best, from 0 to 1.  With L the logarithm of
 * their ratio it is L / (L + 1/4): flat kernels, whose L are small, spread over it as well as
 * others.
 */
static double
lead_of(double best, double second)
{
	double		l = best > 0 ? log(best / second) : 0;

	return isfinite(l) ? l / (l + 0.25) : 1;
}

/*
 * The best class and its lead as one number: twice how many labels are smaller than its own,
 * and the lead.  So numbers of different classes are at least 1 apart.
 */
Datum
race_score_final(PG_FUNCTION_ARGS)
{
	RaceScores *scores = PG_ARGISNULL(0) ? NULL : (RaceScores *) PG_GETARG_POINTER(0);
	FmgrInfo   *compare;
	RaceScore  *best;
	double		second = 0;
	double		smaller = 0;
	int			i;

	if (scores == NULL || scores->n == 0)
		PG_RETURN_NULL();
	compare = race_scores_comparison(scores);
	best = race_scores_best(scores, compare, PG_GET_COLLATION());
	for (i = 0; i < scores->n; i++)
	{
		const RaceScore *other = &scores->list[i];

		CHECK_FOR_INTERRUPTS();
		if (other == best)
			continue;
		second = Max(second, other->score);
		smaller += race_compare_labels(compare, PG_GET_COLLATION(), other->label, best->label) < 0;
	}
	PG_RETURN_FLOAT8(2 * smaller + lead_of(best->score, second));
}

Datum
race_posterior_final(PG_FUNCTION_ARGS)
{
	RaceScores *scores = PG_ARGISNULL(0) ? NULL : (RaceScores *) PG_GETARG_POINTER(0);

	if (scores == NULL || scores->n == 0)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(race_scores_posterior(scores));
}
