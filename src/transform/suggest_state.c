/*
 * suggest_state.c
 *		What all aggregates of race_suggest read: labels, and the release that is planned.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "utils/lsyscache.h"

#include "../params/draft.h"
#include "../privacy/checked_plan.h"
#include "../server/argument.h"
#include "../server/result.h"
#include "suggest_state.h"

void
race_suggest_prepare_labels(RaceSuggestState *state, FunctionCallInfo fcinfo, int arg,
							MemoryContext context)
{
	Oid			function;
	bool		varlena;

	getTypeOutputInfo(race_argument_type(fcinfo->flinfo, arg), &function, &varlena);
	fmgr_info_cxt(function, &state->label_output, context);
}

void
race_suggest_read_request(RaceSuggestState *state, FunctionCallInfo fcinfo)
{
	int			first = PG_NARGS() - 3;
	double		epsilon;
	double		delta;
	int64		records;

	if (PG_ARGISNULL(first) || PG_ARGISNULL(first + 1) || PG_ARGISNULL(first + 2))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("epsilon, delta and records must not be NULL")));
	epsilon = PG_GETARG_FLOAT8(first);
	delta = PG_GETARG_FLOAT8(first + 1);
	records = PG_GETARG_INT64(first + 2);
	if (state->seen > 0 && (epsilon != state->epsilon || delta != state->delta ||
							records != state->records))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("epsilon, delta and records must be the same in all rows")));
	if (records < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("records must be at least 1")));
	state->epsilon = epsilon;
	state->delta = delta;
	state->records = records;
}

int
race_suggest_class(RaceSuggestState *state, Datum label, MemoryContext context)
{
	char	   *name = OutputFunctionCall(&state->label_output, label);
	int			c;

	for (c = 0; c < state->classes; c++)
		if (strcmp(name, state->names[c]) == 0)
		{
			pfree(name);
			return c;
		}
	if (c == RACE_SUGGEST_CLASSES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("race_suggest takes up to %d labels", RACE_SUGGEST_CLASSES)));
	state->names[c] = MemoryContextStrdup(context, name);
	state->classes++;
	return c;
}

/*
 * A sample of all rows so far (Vitter 1985, algorithm R).  The numbers are always the same
 * (splitmix64).
 */
int
race_suggest_place(RaceSuggestState *state, int *n, int most)
{
	uint64		z = state->random += UINT64CONST(0x9E3779B97F4A7C15);
	uint64		place;

	if (state->seen++ < (uint64) most)
		return (*n)++;
	z = (z ^ (z >> 30)) * UINT64CONST(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64CONST(0x94D049BB133111EB);
	place = (z ^ (z >> 31)) % state->seen;
	return place < (uint64) most ? (int) place : -1;
}

void
race_suggest_expect(const RaceSuggestState *state, RaceExpected *expected)
{
	RaceDraft	draft;
	RaceParams *params;
	int			i;

	race_draft_default(&draft);
	draft.part.kernel = RACE_KERNEL_L2;
	draft.part.dims = 1;
	draft.part.rows = 1 << (RACE_SUGGEST_ROWS - 1);
	params = race_params_assemble(&draft, 1, NULL);
	expected->epsilon = state->epsilon;
	expected->delta = state->delta;
	expected->records = (double) state->records;
	for (i = 0; i < RACE_SUGGEST_ROWS; i++)
	{
		int			rows = 1 << i;
		RaceRequest request = race_make_request(params, state->epsilon, state->delta, &rows, 1,
												"add_remove", false);
		RacePlan	plan;

		race_check_plan(&request, params, race_most_kept(&request, params), &plan);
		expected->noise[i] = race_expected_noise(params, &plan);
		expected->count = plan.noise.count_variance;
	}
}

#define MOST			1e50	/* of a number: squares of it can be added up */

void
race_suggest_check_number(double x)
{
	if (fabs(x) > MOST)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("race_suggest takes numbers between %g and %g", -MOST, MOST)));
}

void
race_suggest_check_examples(int n, int classes)
{
	if (n < RACE_SUGGEST_LEAST)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("race_suggest needs at least %d rows", RACE_SUGGEST_LEAST)));
	if (classes < 2)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("race_suggest needs at least two labels")));
}

Datum
race_suggest_row(FunctionCallInfo fcinfo, const RaceParams *params, const RaceSuggestion *best,
				 bool labelled, const char *statement, const char *expression)
{
	RaceResultRow row;

	race_row_start(&row, fcinfo);
	race_row_add(&row, PointerGetDatum(race_params_datum(params)));
	race_row_add_if(&row, best->rows > 0, Int32GetDatum(best->rows));
	if (labelled)
		race_row_add_text(&row, best->by_counts ? "counts" : "uniform");
	else
		race_row_add_null(&row);
	race_row_add(&row, Float8GetDatum(best->score));
	race_row_add(&row, Float8GetDatum(best->without_noise));
	race_row_add_text(&row, statement);
	race_row_add_text(&row, expression);
	return race_row_datum(&row);
}
