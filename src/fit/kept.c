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

static void *
create_model(const RaceView *view, void *request, MemoryContext context, Size *size)
{
	MemoryContext old = MemoryContextSwitchTo(context);
	Kept	   *kept = palloc0(sizeof(Kept));

	race_known_init(&kept->known, view, context);
	kept->fitted = race_fit_box(view, (const RaceFitRequest *) request);
	MemoryContextSwitchTo(old);
	*size = VARSIZE(kept->fitted);
	return kept;
}

static const RaceDerivedKind model = {"fitted model", create_model, NULL};

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
	kept = race_derived_acquire(&model, &view, &request);
	result = palloc(VARSIZE(kept->fitted));
	memcpy(result, kept->fitted, VARSIZE(kept->fitted));
	race_derived_release(kept);
	PG_RETURN_POINTER(result);
}
