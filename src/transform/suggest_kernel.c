/*
 * suggest_kernel.c
 *		race_suggest_kernel: bandwidth, power and rows for a kernel that the caller names.
 *
 * Records may be of any kind: sets, rows of categories, vectors, products of them.  Each
 * example is classified by all others, with the exact kernel and the noise of a release.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "utils/builtins.h"

#include "../lsh/grid.h"
#include "../lsh/kernels.h"
#include "../params/draft.h"
#include "../record/record.h"
#include "../record/sort.h"
#include "../server/argument.h"
#include "suggest_state.h"

PG_FUNCTION_INFO_V1(race_suggest_kernel_step);
PG_FUNCTION_INFO_V1(race_suggest_kernel_final);

#define EXAMPLES	500			/* each pair of which is compared */

typedef struct State
{
	RaceSuggestState asked;
	RaceRecordReader reader;
	RaceParams *params;
	RaceExamples examples;		/* without vectors */
	RaceRecords *records[EXAMPLES];
} State;

/* ------------------------------------------------------------- transition */

static State *
start(FunctionCallInfo fcinfo, MemoryContext context)
{
	State	   *state = MemoryContextAllocZero(context, sizeof(State));

	race_record_prepare(&state->reader, race_argument_type(fcinfo->flinfo, 2), context);
	race_suggest_prepare_labels(&state->asked, fcinfo, 3, context);
	state->examples.label = MemoryContextAllocZero(context, EXAMPLES * sizeof(int));
	return state;
}

static void
read_params(State *state, Datum value, MemoryContext context)
{
	const RaceParams *params = race_params_arg(value);

	if (state->params != NULL && !race_params_same(state->params, params))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("params must be the same in all rows")));
	if (state->params != NULL)
		return;
	race_params_check_kernel(params);
	race_params_check_complete(params);
	if (race_is_grid(params))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("race_suggest_kernel is for sketches of rows, and a grid has none")));
	state->params = race_params_copy(params, context);
}

/* A record in a place of its own, which keeps the memory of the one before it */
static void
read_record(State *state, int place, Datum value, MemoryContext context)
{
	RaceRecords *records = state->records[place];
	int			i;

	if (records == NULL)
	{
		records = state->records[place] = race_records_create(state->params, context);
		race_records_reserve(records, 1);
	}
	race_record_read(&state->reader, state->params, value, records, false);
	for (i = 0; i < records->n_parts; i++)
		if (records->parts[i].kind == RACE_RECORD_SET)
			race_normalize_set(records->parts[i].elements, &records->parts[i].starts[1]);
}

/* Transition of race_suggest_kernel(params, x, label, epsilon, delta, records) */
Datum
race_suggest_kernel_step(PG_FUNCTION_ARGS)
{
	State	   *state = PG_ARGISNULL(0) ? NULL : (State *) PG_GETARG_POINTER(0);
	MemoryContext context;
	int			class;
	int			place;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "race_suggest_kernel_step called in non-aggregate context");
	if (PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("params must not be NULL")));
	if (state == NULL)
		state = start(fcinfo, context);
	if (PG_ARGISNULL(2) || PG_ARGISNULL(3))
		PG_RETURN_POINTER(state);
	race_suggest_read_request(&state->asked, fcinfo);
	read_params(state, PG_GETARG_DATUM(1), context);
	class = race_suggest_class(&state->asked, PG_GETARG_DATUM(3), context);
	place = race_suggest_place(&state->asked, &state->examples.n, EXAMPLES);
	if (place >= 0)
	{
		read_record(state, place, PG_GETARG_DATUM(2), context);
		state->examples.label[place] = class;
	}
	PG_RETURN_POINTER(state);
}

/* ------------------------------------------------------------- the result */

/* Does the kernel of a part have a bandwidth? */
static bool
takes_bandwidth(const RaceParams *part)
{
	return (race_kernel_type(part->kernel)->takes & RACE_TAKES_BANDWIDTH) != 0;
}

/*
 * The parameters with bandwidths that are wider by a factor, powers of them, and rows; other
 * rows and powers may need another sequence.
 */
static RaceParams *
changed(const RaceParams *params, double factor, int power, int rows)
{
	RaceDraft	drafts[RACE_MAX_PARTS];
	const RaceParams *part;
	int			n = 0;

	for (part = params; part != NULL; part = race_params_next(part, params))
	{
		RaceDraft  *draft = &drafts[n];

		race_draft_of(draft, part);
		if (takes_bandwidth(part))
			draft->part.bandwidth *= factor;
		draft->part.power *= power;
		draft->part.rows = rows;
		draft->part.sequence = draft->part.rehash = 0;	/* "auto" */
		if (n++ > 0)
			race_draft_next(draft);
	}
	return race_params_assemble(drafts, n, NULL);
}

static bool
has_bandwidth(const RaceParams *params)
{
	const RaceParams *part;

	for (part = params; part != NULL; part = race_params_next(part, params))
		if (takes_bandwidth(part))
			return true;
	return false;
}

typedef struct Kernels
{
	int			n;				/* 1 without a bandwidth: all are alike */
	const RaceParams *params[RACE_SUGGEST_FACTORS];
	const RaceColumn *columns;	/* [examples][RACE_MAX_PARTS] */
} Kernels;

static void
values_of(void *context, int i, int j, float *values)
{
	const Kernels *kernels = (const Kernels *) context;
	int			a;

	for (a = 0; a < RACE_SUGGEST_FACTORS; a++)
		values[a] = a < kernels->n ?
			race_kernel_value(kernels->params[a], kernels->columns + i * RACE_MAX_PARTS,
							  kernels->columns + j * RACE_MAX_PARTS) : values[0];
}

static void
make_kernels(const State *state, Kernels *kernels)
{
	RaceColumn *columns = palloc(state->examples.n * RACE_MAX_PARTS * sizeof(RaceColumn));
	int			i;

	kernels->n = has_bandwidth(state->params) ? RACE_SUGGEST_FACTORS : 1;
	kernels->columns = columns;
	for (i = 0; i < kernels->n; i++)
		kernels->params[i] = changed(state->params, race_suggest_factor(i), 1, state->params->rows);
	for (i = 0; i < state->examples.n; i++)
		race_records_columns(state->records[i], 0, columns + i * RACE_MAX_PARTS);
}

static Datum
suggest(State *state, FunctionCallInfo fcinfo)
{
	RaceExpected expected;
	RaceSuggestion best;
	Kernels		kernels;
	RaceParams *params;

	state->examples.classes = state->asked.classes;
	race_suggest_expect(&state->asked, &expected);
	make_kernels(state, &kernels);
	race_suggest_choose_kernel(&state->examples, &expected, values_of, &kernels, &best);
	params = changed(state->params, kernels.n > 1 ? best.bandwidth : 1, best.power, best.rows);

	return race_suggest_row(fcinfo, params, &best, true,
							psprintf("'%s'::race_params", race_params_text(params)), "x");
}

Datum
race_suggest_kernel_final(PG_FUNCTION_ARGS)
{
	State	   *state = PG_ARGISNULL(0) ? NULL : (State *) PG_GETARG_POINTER(0);

	if (state == NULL || state->examples.n == 0)
		PG_RETURN_NULL();
	race_suggest_check_examples(state->examples.n, state->asked.classes);
	PG_RETURN_DATUM(suggest(state, fcinfo));
}
