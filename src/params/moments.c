/*
 * moments.c
 *		race_moment_params: the parameters of moments (lsh/moments.h).
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "draft.h"

PG_FUNCTION_INFO_V1(race_moment_params);

/* An array of bounds, of as many numbers as the draft has dims */
static void
set_bounds(RaceDraft *draft, int key, Datum value)
{
	ArrayType  *array = DatumGetArrayTypeP(value);

	if (ARR_NDIM(array) != 1 || ARR_HASNULL(array) ||
		(key == RACE_KEY_UPPER && ARR_DIMS(array)[0] != (int) draft->part.dims))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid race_params: lower and upper must be arrays of as many numbers, one for each column")));
	race_draft_set_integer(draft, &race_fields[RACE_KEY_DIMS], ARR_DIMS(array)[0], NULL);
	draft->arrays[key] = (const double *) ARR_DATA_PTR(array);
}

/* race_moment_params(lower, upper, norm, features, targets, bandwidth, seed, sequence, clip) */
Datum
race_moment_params(PG_FUNCTION_ARGS)
{
	RaceDraft	draft;

	race_draft_default(&draft);
	race_draft_set_name(&draft, &race_fields[RACE_KEY_KERNEL], "moments", NULL);
	set_bounds(&draft, RACE_KEY_LOWER, PG_GETARG_DATUM(0));
	set_bounds(&draft, RACE_KEY_UPPER, PG_GETARG_DATUM(1));
	race_draft_set_real(&draft, &race_fields[RACE_KEY_NORM], PG_GETARG_FLOAT8(2));
	race_draft_set_integer(&draft, &race_fields[RACE_KEY_FEATURES], PG_GETARG_INT32(3), NULL);
	if (PG_GETARG_INT32(3) != 0)
		race_draft_set_integer(&draft, &race_fields[RACE_KEY_TARGETS], PG_GETARG_INT32(4), NULL);
	race_draft_set_real(&draft, &race_fields[RACE_KEY_BANDWIDTH], PG_GETARG_FLOAT8(5));
	race_draft_set_integer(&draft, &race_fields[RACE_KEY_SEED], PG_GETARG_INT64(6), NULL);
	race_draft_set_name(&draft, &race_fields[RACE_KEY_SEQUENCE],
						text_to_cstring(PG_GETARG_TEXT_PP(7)), NULL);
	if (strcmp(text_to_cstring(PG_GETARG_TEXT_PP(8)), "auto") != 0)
		race_draft_set_name(&draft, &race_fields[RACE_KEY_CLIP],
							text_to_cstring(PG_GETARG_TEXT_PP(8)), NULL);
	PG_RETURN_POINTER(race_params_datum(race_params_assemble(&draft, 1, NULL)));
}
