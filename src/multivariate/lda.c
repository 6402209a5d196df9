/*
 * lda.c
 *		Linear discriminant analysis of classes, each with its moments.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/array.h"

#include "../params/params.h"
#include "../server/argument.h"
#include "lda.h"

/* A model takes space in proportion to the cube of classes. */
#define MAX_CLASSES		100

/* --------------------------------------------------------------- transition */

static RaceClassMoments *
start_state(FunctionCallInfo fcinfo, MemoryContext context)
{
	RaceClassMoments *state = MemoryContextAllocZero(context, sizeof(RaceClassMoments));

	state->scores = race_scores_start(fcinfo, context);
	state->capacity = 4;
	state->moments = MemoryContextAlloc(context, state->capacity * sizeof(struct varlena *));
	return state;
}

/* All classes are asked about one record. */
static void
set_record(RaceClassMoments *state, Datum value, MemoryContext context)
{
	ArrayType  *x = DatumGetArrayTypeP(value);

	if (state->x == NULL)
	{
		state->x = MemoryContextAlloc(context, VARSIZE(x));
		memcpy(state->x, x, VARSIZE(x));
	}
	else if (VARSIZE(state->x) != VARSIZE(x) || memcmp(state->x, x, VARSIZE(x)) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("all classes must be asked about the same x"),
				 errhint("To ask about several records, ask in a subquery for each, or GROUP BY the record.")));
}

static void
add_class(RaceClassMoments *state, Datum label, Datum value, MemoryContext context)
{
	struct varlena *moments = PG_DETOAST_DATUM(value);
	RaceScore	score = {0};
	uint32		n = state->scores->n;

	if (n == MAX_CLASSES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("there can be at most %d classes with moments", MAX_CLASSES)));
	if (n == state->capacity)
	{
		state->capacity *= 2;
		state->moments = repalloc(state->moments, state->capacity * sizeof(struct varlena *));
	}
	state->moments[n] = MemoryContextAllocHuge(context, VARSIZE(moments));
	memcpy(state->moments[n], moments, VARSIZE(moments));
	state->bytes += VARSIZE(moments);
	race_scores_append(state->scores, score, label, context);
}

Datum
race_class_moments_step(FunctionCallInfo fcinfo)
{
	RaceClassMoments *state = PG_ARGISNULL(0) ? NULL : (RaceClassMoments *) PG_GETARG_POINTER(0);
	MemoryContext context = race_aggregate_context(fcinfo, "race_lda, race_lda_posterior or race_discriminant_moments");
	int			i;

	if (state == NULL)
		state = start_state(fcinfo, context);
	for (i = 1; i < PG_NARGS(); i++)
		if (PG_ARGISNULL(i))
			PG_RETURN_POINTER(state);
	race_scores_set_prior(state->scores, PG_NARGS() > 4 ?
						  race_read_prior(PG_GETARG_TEXT_PP(4)) : RACE_PRIOR_COUNTS);
	if (PG_NARGS() > 3)
		set_record(state, PG_GETARG_DATUM(3), context);
	add_class(state, PG_GETARG_DATUM(1), PG_GETARG_DATUM(2), context);
	PG_RETURN_POINTER(state);
}

/* -------------------------------------------------------------------- model */

void
race_class_model(const RaceClassMoments *state, bool columns_alone, RaceClassModel *model)
{
	uint32		n = state->scores->n;
	RaceNoisy  *noisy = palloc(n * sizeof(RaceNoisy));
	double	   *space;
	double	   *work;
	uint32		dims;
	uint32		i;

	model->likely = palloc(n * sizeof(RaceLikely));
	for (i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (columns_alone)
			race_likely_open_columns(PointerGetDatum(state->moments[i]), &model->likely[i]);
		else
			race_likely_open(PointerGetDatum(state->moments[i]), &model->likely[i]);
		race_params_check_same(model->likely[0].moments.params, model->likely[i].moments.params);
		noisy[i] = model->likely[i].noisy;
	}
	dims = noisy[0].n - 1;
	space = palloc_extended(RACE_CLASSES_SPACE(n, dims) * sizeof(double), MCXT_ALLOC_HUGE);
	work = palloc_extended(RACE_CLASSES_WORK(n, dims) * sizeof(double), MCXT_ALLOC_HUGE);
	if (!race_classes_fit(noisy, n, space, work, &model->classes))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the columns do not vary within classes"),
				 errdetail("The covariance within classes has no inverse.")));
	pfree(work);
	pfree(noisy);
}
