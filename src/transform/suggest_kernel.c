/*
 * suggest_kernel.c
 *		race_suggest_kernel: bandwidth, power and rows, for a kernel that the caller names or for
 *		the best one that fits the records.
 *
 * Records may be of any kind: sets, rows of categories, vectors, products of them.  Each
 * example is classified by all others, with the exact kernel and the noise of a release.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "utils/builtins.h"

#include "../learn/scores.h"
#include "../lsh/grid.h"
#include "../lsh/kernels.h"
#include "../params/draft.h"
#include "../record/record.h"
#include "../record/sort.h"
#include "../server/argument.h"
#include "suggest_fitting.h"
#include "suggest_state.h"

PG_FUNCTION_INFO_V1(race_suggest_kernel_step);
PG_FUNCTION_INFO_V1(race_suggest_kernel_final);

#define EXAMPLES	500			/* each pair of which is compared */

/* A kernel, and the examples as its records */
typedef struct Kernel
{
	const RaceParams *params;
	RaceRecordReader reader;
	RaceRecords *records[EXAMPLES];
} Kernel;

typedef struct State
{
	RaceSuggestState asked;
	RaceExamples examples;		/* without vectors */
	bool		named;			/* did the caller name the kernel? */
	int			n;				/* kernels; 0 before the first record */
	Kernel	   *kernels[RACE_FITTING_KERNELS];
} State;

/* ------------------------------------------------------------- transition */

/* Arguments are params, if the kernel is named; the record, the label, and the request. */
static State *
start(FunctionCallInfo fcinfo, MemoryContext context)
{
	State	   *state = MemoryContextAllocZero(context, sizeof(State));

	state->named = PG_NARGS() == 7;
	race_suggest_prepare_labels(&state->asked, fcinfo, state->named ? 3 : 2, context);
	state->examples.label = MemoryContextAllocZero(context, EXAMPLES * sizeof(int));
	return state;
}

static void
add_kernel(State *state, const RaceParams *params, Oid type, MemoryContext context)
{
	Kernel	   *kernel = MemoryContextAllocZero(context, sizeof(Kernel));

	kernel->params = race_params_copy(params, context);
	race_record_prepare(&kernel->reader, type, context);
	state->kernels[state->n++] = kernel;
}

static void
use_params(State *state, const RaceParams *params, Oid type, MemoryContext context)
{
	if (state->n > 0 && !race_params_same(state->kernels[0]->params, params))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("params must be the same in all rows")));
	if (state->n > 0)
		return;
	race_params_check_kernel(params);
	race_params_check_complete(params);
	if (race_is_grid(params))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("race_suggest_kernel is for sketches of rows, and a grid has none")));
	add_kernel(state, params, type, context);
}

/* The kernels that fit the first record */
static void
use_fitting(State *state, Datum record, Oid type, MemoryContext context)
{
	RaceParams *fitting[RACE_FITTING_KERNELS];
	int			n = race_fitting_kernels(type, record, fitting);
	int			i;

	for (i = 0; i < n; i++)
		add_kernel(state, fitting[i], type, context);
}

/* A record in a place of its own, which keeps the memory of the one before it */
static bool
read_record(Kernel *kernel, int place, Datum value, MemoryContext context, bool soft)
{
	RaceRecords *records = kernel->records[place];
	int			i;

	if (records == NULL)
	{
		records = kernel->records[place] = race_records_create(kernel->params, context);
		race_records_reserve(records, 1);
	}
	if (!race_record_read(&kernel->reader, kernel->params, value, records, soft))
		return false;
	for (i = 0; i < records->n_parts; i++)
		if (records->parts[i].kind == RACE_RECORD_SET)
			race_normalize_set(records->parts[i].elements, &records->parts[i].starts[1]);
	return true;
}

/* Kernels that this is no record for are left out, but for the last one. */
static void
read_example(State *state, int place, Datum value, MemoryContext context)
{
	int			i = 0;

	while (i < state->n)
		if (read_record(state->kernels[i], place, value, context, state->n > 1))
			i++;
		else
		{
			state->n--;
			memmove(&state->kernels[i], &state->kernels[i + 1],
					(state->n - i) * sizeof(Kernel *));
		}
}

/* Transition of race_suggest_kernel([params,] x, label, epsilon, delta, records) */
Datum
race_suggest_kernel_step(PG_FUNCTION_ARGS)
{
	State	   *state = PG_ARGISNULL(0) ? NULL : (State *) PG_GETARG_POINTER(0);
	MemoryContext context = race_aggregate_context(fcinfo, "race_suggest_kernel");
	int			class;
	int			place;
	int			x;				/* which argument it is */
	Oid			type;

	if (state == NULL)
		state = start(fcinfo, context);
	if (state->named && PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("params must not be NULL")));
	x = state->named ? 2 : 1;
	if (PG_ARGISNULL(x) || PG_ARGISNULL(x + 1))
		PG_RETURN_POINTER(state);
	race_suggest_read_request(&state->asked, fcinfo);
	type = race_argument_type(fcinfo->flinfo, x);
	if (state->named)
		use_params(state, race_params_arg(PG_GETARG_DATUM(1)), type, context);
	else if (state->n == 0)
		use_fitting(state, PG_GETARG_DATUM(x), type, context);
	class = race_suggest_class(&state->asked, PG_GETARG_DATUM(x + 1), context);
	place = race_suggest_place(&state->asked, &state->examples.n, EXAMPLES);
	if (place >= 0)
	{
		read_example(state, place, PG_GETARG_DATUM(x), context);
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

/* One kernel with bandwidths that are wider by each factor */
typedef struct Widths
{
	int			n;				/* 1 without a bandwidth: all are alike */
	const RaceParams *params[RACE_SUGGEST_FACTORS];
	RaceColumn *columns;		/* [examples][RACE_MAX_PARTS] */
} Widths;

static void
values_of(void *context, int i, int j, float *values)
{
	const Widths *widths = (const Widths *) context;
	int			a;

	for (a = 0; a < RACE_SUGGEST_FACTORS; a++)
		values[a] = a < widths->n ?
			race_kernel_value(widths->params[a], widths->columns + i * RACE_MAX_PARTS,
							  widths->columns + j * RACE_MAX_PARTS) : values[0];
}

/* Choose for one kernel, and return the parameters. */
static RaceParams *
choose(const State *state, Kernel *kernel, const RaceExpected *expected, RaceSuggestion *best)
{
	int			n = state->examples.n;
	const RaceParams *params = kernel->params;
	Widths		widths;
	int			i;

	widths.columns = palloc(n * RACE_MAX_PARTS * sizeof(RaceColumn));
	for (i = 0; i < n; i++)
		race_records_columns(kernel->records[i], 0, widths.columns + i * RACE_MAX_PARTS);
	if (!state->named)
		params = race_fitting_scaled(params, widths.columns, n);
	widths.n = has_bandwidth(params) ? RACE_SUGGEST_FACTORS : 1;
	for (i = 0; i < widths.n; i++)
		widths.params[i] = changed(params, race_suggest_factor(i), 1, params->rows);
	race_suggest_choose_kernel(&state->examples, expected, values_of, &widths,
							   race_scores_sharp_dims(params), best);
	pfree(widths.columns);
	return changed(params, widths.n > 1 ? best->bandwidth : 1, best->power, best->rows);
}

static Datum
suggest(State *state, FunctionCallInfo fcinfo)
{
	RaceExpected expected;
	RaceSuggestion best[RACE_FITTING_KERNELS];
	RaceParams *params[RACE_FITTING_KERNELS];
	int			i;

	state->examples.classes = state->asked.classes;
	race_suggest_expect(&state->asked, &expected);
	for (i = 0; i < state->n; i++)
		params[i] = choose(state, state->kernels[i], &expected, &best[i]);
	i = race_suggest_pick(&state->examples, best, state->n);

	return race_suggest_row(fcinfo, params[i], &best[i], true,
							psprintf("'%s'::race_params", race_params_text(params[i])), "x");
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
