/*
 * predict.c
 *		race_predict: what a regression says of a record.
 *
 * A call site keeps the fit that it used last, and what it is of, so that one fit serves all
 * rows of a statement.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/memutils.h"

#include "../cache/stored.h"
#include "regression.h"

PG_FUNCTION_INFO_V1(race_predict);

typedef struct PredictSite
{
	RaceStoredEntry *stored;	/* or NULL */
	MemoryContext space;		/* of all below; NULL before the first fit */
	struct varlena *moments;	/* a copy */
	int			target;
	ArrayType  *predictors;		/* a copy, or NULL */
	RaceRegression regression;
	RaceRowsEntry *rows;		/* or NULL */
	double	   *record;			/* [dims] */
	double	   *u;				/* [columns] */
	MemoryContext context;
	MemoryContextCallback release;
} PredictSite;

static void
forget_fit(PredictSite *site)
{
	MemoryContext space = site->space;

	if (site->rows != NULL)
		race_moments_release(site->rows);
	site->rows = NULL;
	site->space = NULL;
	if (space != NULL)
		MemoryContextDelete(space);
}

static void
release_site(void *arg)
{
	PredictSite *site = (PredictSite *) arg;

	race_stored_release(&site->stored);
	if (site->rows != NULL)
		race_moments_release(site->rows);
	site->rows = NULL;
}

static PredictSite *
predict_site(FmgrInfo *flinfo)
{
	if (flinfo->fn_extra == NULL)
	{
		PredictSite *site = MemoryContextAllocZero(flinfo->fn_mcxt, sizeof(PredictSite));

		site->context = flinfo->fn_mcxt;
		site->release.func = release_site;
		site->release.arg = site;
		MemoryContextRegisterResetCallback(flinfo->fn_mcxt, &site->release);
		flinfo->fn_extra = site;
	}
	return (PredictSite *) flinfo->fn_extra;
}

static bool
same_bytes(const struct varlena *a, const struct varlena *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	return VARSIZE_ANY(a) == VARSIZE_ANY(b) && memcmp(a, b, VARSIZE_ANY(a)) == 0;
}

static struct varlena *
copy_bytes(const struct varlena *value)
{
	struct varlena *copy;

	if (value == NULL)
		return NULL;
	copy = palloc(VARSIZE_ANY(value));
	memcpy(copy, value, VARSIZE_ANY(value));
	return copy;
}

static void
fit(PredictSite *site, struct varlena *moments, int target, ArrayType *predictors)
{
	MemoryContext space;
	MemoryContext old;
	RaceMoments *asked = &site->regression.likely.moments;

	forget_fit(site);
	space = AllocSetContextCreate(site->context, "race_predict", ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(space);
	site->moments = copy_bytes(moments);
	site->target = target;
	site->predictors = (ArrayType *) copy_bytes((struct varlena *) predictors);
	race_regression_fit(PointerGetDatum(site->moments), target, site->predictors,
						&site->regression);
	site->record = palloc(asked->dims * sizeof(double));
	site->u = palloc(asked->columns * sizeof(double));
	MemoryContextSwitchTo(old);
	site->space = space;		/* an error before leaves no fit */
	site->rows = race_moments_hold(asked);
}

/* The record of which x leaves out the target, which has the middle of its bounds */
static void
read_record(PredictSite *site, Datum x)
{
	const RaceMoments *moments = &site->regression.likely.moments;
	const double *numbers = race_likely_vector(x, moments->dims - 1, "x");
	uint32		target = site->target - 1;

	memcpy(site->record, numbers, target * sizeof(double));
	site->record[target] = race_moments_middle(moments, target);
	memcpy(site->record + target + 1, numbers + target,
		   (moments->dims - 1 - target) * sizeof(double));
}

/* race_predict(moments, target, x, predictors) */
Datum
race_predict(PG_FUNCTION_ARGS)
{
	PredictSite *site = predict_site(fcinfo->flinfo);
	Datum		value = PG_GETARG_DATUM(0);
	struct varlena *moments;
	ArrayType  *predictors;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2))
		PG_RETURN_NULL();
	if (race_is_stored(value))
	{
		race_stored_hold(&site->stored, value, 0);
		value = race_stored_datum(site->stored);
	}
	moments = PG_DETOAST_DATUM(value);
	predictors = PG_ARGISNULL(3) ? NULL : PG_GETARG_ARRAYTYPE_P(3);
	if (site->space == NULL || site->target != PG_GETARG_INT32(1) ||
		!same_bytes(site->moments, moments) ||
		!same_bytes((struct varlena *) site->predictors, (struct varlena *) predictors))
		fit(site, moments, PG_GETARG_INT32(1), predictors);
	read_record(site, PG_GETARG_DATUM(2));
	race_moments_map(&site->regression.likely.moments, site->rows, site->record, site->u);
	PG_RETURN_FLOAT8(race_regression_value(&site->regression, site->u));
}
