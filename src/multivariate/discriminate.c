/*
 * discriminate.c
 *		race_lda and race_lda_posterior: which class is a record from, by moments of classes?
 *
 * The score of a class is its density at x, normal in Fisher's directions with a covariance of its
 * own there, times its count.  A call site keeps the model of the classes that it saw last.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "utils/memutils.h"

#include "lda.h"

PG_FUNCTION_INFO_V1(race_lda_step);
PG_FUNCTION_INFO_V1(race_lda_final);
PG_FUNCTION_INFO_V1(race_lda_posterior_final);

typedef struct LdaSite
{
	MemoryContext space;		/* of all below; NULL without a model */
	RaceClassMoments state;		/* what the model is of: copies of moments */
	RaceClassModel model;
	RaceRowsEntry *rows;		/* or NULL */
	double	   *u;				/* of the record, [columns] */
	double	   *z;				/* [classes] */
	double	   *score;			/* [classes] */
	MemoryContext context;
	MemoryContextCallback release;
} LdaSite;

/* Transition of race_lda and race_lda_posterior (label, moments, x [, prior]) */
Datum
race_lda_step(PG_FUNCTION_ARGS)
{
	return race_class_moments_step(fcinfo);
}

static void
release_rows(void *arg)
{
	LdaSite    *site = (LdaSite *) arg;

	if (site->rows != NULL)
		race_moments_release(site->rows);
	site->rows = NULL;
}

static LdaSite *
lda_site(FmgrInfo *flinfo)
{
	if (flinfo->fn_extra == NULL)
	{
		LdaSite    *site = MemoryContextAllocZero(flinfo->fn_mcxt, sizeof(LdaSite));

		site->context = flinfo->fn_mcxt;
		site->release.func = release_rows;
		site->release.arg = site;
		MemoryContextRegisterResetCallback(flinfo->fn_mcxt, &site->release);
		flinfo->fn_extra = site;
	}
	return (LdaSite *) flinfo->fn_extra;
}

static bool
is_model_of(const LdaSite *site, const RaceClassMoments *state)
{
	int			n = state->scores->n;
	int			i;

	if (site->space == NULL || site->state.scores->n != n || site->state.bytes != state->bytes)
		return false;
	for (i = 0; i < n; i++)
		if (VARSIZE(site->state.moments[i]) != VARSIZE(state->moments[i]) ||
			memcmp(site->state.moments[i], state->moments[i], VARSIZE(state->moments[i])) != 0)
			return false;
	return true;
}

/* Copies of labels are not needed: scores are those of the state that is asked. */
static void
copy_state(const RaceClassMoments *state, RaceClassMoments *copy)
{
	int			n = state->scores->n;
	int			i;

	*copy = *state;
	copy->x = NULL;
	copy->scores = palloc0(sizeof(RaceScores));
	copy->scores->n = n;
	copy->moments = palloc(n * sizeof(struct varlena *));
	for (i = 0; i < n; i++)
	{
		copy->moments[i] = palloc_extended(VARSIZE(state->moments[i]), MCXT_ALLOC_HUGE);
		memcpy(copy->moments[i], state->moments[i], VARSIZE(state->moments[i]));
	}
}

static void
make_model(LdaSite *site, const RaceClassMoments *state)
{
	MemoryContext space = site->space;
	MemoryContext old;
	const RaceMoments *moments;

	release_rows(site);
	site->space = NULL;
	if (space != NULL)
		MemoryContextDelete(space);
	space = AllocSetContextCreate(site->context, "race_lda", ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(space);
	copy_state(state, &site->state);
	race_class_model(&site->state, false, &site->model);
	moments = &site->model.likely[0].moments;
	site->u = palloc(moments->columns * sizeof(double));
	site->z = palloc(state->scores->n * sizeof(double));
	site->score = palloc(state->scores->n * sizeof(double));
	MemoryContextSwitchTo(old);
	site->space = space;		/* an error before leaves no model */
	site->rows = race_moments_hold(moments);
}

/* Fill the scores: densities relative to the highest, times counts if that is the prior. */
static RaceScores *
score_classes(FunctionCallInfo fcinfo)
{
	RaceClassMoments *state = PG_ARGISNULL(0) ? NULL : (RaceClassMoments *) PG_GETARG_POINTER(0);
	LdaSite    *site = lda_site(fcinfo->flinfo);
	double		highest = -INFINITY;
	RaceScores *scores;
	int			i;

	if (state == NULL || state->scores->n == 0)
		return NULL;
	scores = state->scores;
	if (!is_model_of(site, state))
		make_model(site, state);
	race_moments_map(&site->model.likely[0].moments, site->rows,
					 race_likely_vector(PointerGetDatum(state->x),
										site->model.likely[0].moments.dims, "x"), site->u);
	race_classes_densities(&site->model.classes, site->u, site->z, site->score);
	for (i = 0; i < scores->n; i++)
	{
		scores->list[i].count = site->model.classes.count[i];
		if (scores->prior == RACE_PRIOR_COUNTS)
			site->score[i] += log(Max(scores->list[i].count, 1));
		highest = Max(highest, site->score[i]);
	}
	for (i = 0; i < scores->n; i++)
		scores->list[i].score = exp(site->score[i] - highest);
	return scores;
}

Datum
race_lda_final(PG_FUNCTION_ARGS)
{
	RaceScores *scores = score_classes(fcinfo);

	if (scores == NULL)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(race_scores_best(scores, race_scores_comparison(scores),
									 PG_GET_COLLATION())->label);
}

Datum
race_lda_posterior_final(PG_FUNCTION_ARGS)
{
	RaceScores *scores = score_classes(fcinfo);

	if (scores == NULL)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(race_scores_posterior(scores));
}
