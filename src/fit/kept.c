/*
 * kept.c
 *		_race_model: a sketch that has a model; one without is fitted first.
 *
 * A fit takes up to some seconds, and a page of charts asks many times.  So a session keeps
 * the models that it made of sketches without one (racepriv.cache_size).
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/memutils.h"

#include "../sketch/known.h"
#include "answers.h"
#include "fit.h"

PG_FUNCTION_INFO_V1(race_model);

typedef struct Kept
{
	RaceKnown	known;			/* must be first */
	RaceSketchDatum *fitted;
} Kept;

static RaceCache cache = RACE_CACHE_INIT(cache);

static Kept *
keep(const RaceView *view, const RaceFitRequest *request)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "race model",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	Kept	   *kept = palloc0(sizeof(Kept));

	kept->fitted = race_fit_box(view, request);
	race_known_init(&kept->known, view, context);
	kept->known.base.context = context;
	MemoryContextSwitchTo(old);
	race_cache_add(&cache, &kept->known.base, VARSIZE(kept->fitted));
	return kept;
}

/* _race_model(sketch) */
Datum
race_model(PG_FUNCTION_ARGS)
{
	Datum		sketch = PointerGetDatum(PG_GETARG_VARLENA_P(0));
	RaceView	view;
	RaceFitRequest request = {0};
	Kept	   *kept;
	struct varlena *result;

	race_sketch_view(sketch, &view);
	race_check_askable(&view.header->noise);
	if (view.model != NULL || !race_fit_bounds(view.params, NULL, NULL, &request))
		PG_RETURN_DATUM(sketch);
	kept = race_known_find(&cache, &view);
	if (kept == NULL)
		kept = keep(&view, &request);
	result = palloc(VARSIZE(kept->fitted));
	memcpy(result, kept->fitted, VARSIZE(kept->fitted));
	race_cache_release(&cache, &kept->known.base);
	PG_RETURN_POINTER(result);
}
