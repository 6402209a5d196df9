/*
 * suggest.c
 *		race_suggest: parameters that suit public rows.
 *
 * The state holds a sample of the rows; the final function chooses (suggest_score.c).
 * Numbers are rounded to what the statement shows, so that it gives the same parameters, or shown in
 * full.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/float.h"

#include "../lsh/kernels.h"
#include "../params/draft.h"
#include "../record/vector.h"
#include "../server/argument.h"
#include "pull.h"
#include "suggest_average.h"
#include "suggest_state.h"
#include "warp.h"

PG_FUNCTION_INFO_V1(race_suggest_step);
PG_FUNCTION_INFO_V1(race_suggest_final);

typedef struct State
{
	RaceArrayReader reader;
	bool		labelled;
	RaceSuggestState asked;
	RaceExamples examples;
} State;

/* ------------------------------------------------------------- transition */

static State *
start(FunctionCallInfo fcinfo, MemoryContext context)
{
	State	   *state = MemoryContextAllocZero(context, sizeof(State));
	RaceExamples *e = &state->examples;

	state->labelled = PG_NARGS() == 6;
	race_vector_prepare(&state->reader, race_argument_type(fcinfo->flinfo, 1), context);
	if (state->labelled)
		race_suggest_prepare_labels(&state->asked, fcinfo, 2, context);
	e->classes = 1;
	e->label = MemoryContextAllocZero(context, RACE_SUGGEST_EXAMPLES * sizeof(int));
	return state;
}

static void
read_example(State *state, Datum x, double *to, MemoryContext context)
{
	RaceExamples *e = &state->examples;
	RaceElements elements;
	int			i;

	race_array_open(&state->reader, x, &elements, false, false);
	race_check_length(elements.n, e->dims, false);
	if (elements.n > RACE_SUGGEST_DIMS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("race_suggest takes vectors of up to %d dimensions",
						RACE_SUGGEST_DIMS)));
	race_vector_convert(&state->reader, &elements, NULL, to, false);
	for (i = 0; i < (int) elements.n; i++)
		race_suggest_check_number(to[i]);
	if (e->x == NULL)
	{
		e->dims = elements.n;
		e->x = MemoryContextAlloc(context, RACE_SUGGEST_EXAMPLES * e->dims * sizeof(double));
	}
}

/* Transition of race_suggest(x, [label,] epsilon, delta, records) */
Datum
race_suggest_step(PG_FUNCTION_ARGS)
{
	State	   *state = PG_ARGISNULL(0) ? NULL : (State *) PG_GETARG_POINTER(0);
	double		x[RACE_SUGGEST_DIMS];
	MemoryContext context = race_aggregate_context(fcinfo, "race_suggest");
	int			class = 0;
	int			place;

	if (state == NULL)
		state = start(fcinfo, context);
	if (PG_ARGISNULL(1) || (state->labelled && PG_ARGISNULL(2)))
		PG_RETURN_POINTER(state);
	race_suggest_read_request(&state->asked, fcinfo);
	read_example(state, PG_GETARG_DATUM(1), x, context);
	if (state->labelled)
	{
		class = race_suggest_class(&state->asked, PG_GETARG_DATUM(2), context);
		state->examples.classes = state->asked.classes;
	}
	place = race_suggest_place(&state->asked, &state->examples.n, RACE_SUGGEST_EXAMPLES);
	if (place >= 0)
	{
		memcpy(state->examples.x + place * state->examples.dims, x,
			   state->examples.dims * sizeof(double));
		state->examples.label[place] = class;
	}
	PG_RETURN_POINTER(state);
}

/* ------------------------------------------------------------- the result */

/* Six digits, or all of a number that was not rounded to them */
static void
append_numbers(StringInfo text, const double *x, int n)
{
	int			i;

	appendStringInfoChar(text, '{');
	for (i = 0; i < n; i++)
	{
		appendStringInfoString(text, i == 0 ? "" : ",");
		if (race_suggest_rounded(x[i]) == x[i])
			appendStringInfo(text, "%.6g", x[i]);
		else
			appendStringInfoString(text, float8out_internal(x[i]));
	}
	appendStringInfoChar(text, '}');
}

static void
append_vector(StringInfo text, const char *name, const double *x, int n)
{
	appendStringInfo(text, ", %s => '", name);
	append_numbers(text, x, n);
	appendStringInfoChar(text, '\'');
}

/* The rows of a matrix, as an array of arrays in quotes */
static void
append_matrix(StringInfo text, const double *matrix, uint32 rows, uint32 columns)
{
	uint32		i;

	appendStringInfoString(text, "'{");
	for (i = 0; i < rows; i++)
	{
		appendStringInfoString(text, i == 0 ? "" : ",");
		append_numbers(text, matrix + (Size) i * columns, columns);
	}
	appendStringInfoString(text, "}'");
}

static char *
statement_of(const RaceDraft *draft)
{
	const RaceParams *part = &draft->part;
	const double *matrix = draft->arrays[RACE_KEY_MATRIX];
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, "race_params('%s', %u", race_kernel_name(part->kernel), part->dims);
	if (part->kernel != RACE_KERNEL_ANGULAR)
		appendStringInfo(&text, ", bandwidth => %.6g", part->bandwidth);
	appendStringInfo(&text, ", power => %u", part->power);
	if (part->sequence == RACE_SEQUENCE_GRID)
		appendStringInfoString(&text, ", sequence => 'grid'");
	else
		appendStringInfo(&text, ", rows => %u", part->rows);
	if (draft->arrays[RACE_KEY_BANDWIDTHS] != NULL)
		append_vector(&text, "bandwidths", draft->arrays[RACE_KEY_BANDWIDTHS], part->dims);
	append_vector(&text, "lower", draft->arrays[RACE_KEY_LOWER], part->dims);
	append_vector(&text, "upper", draft->arrays[RACE_KEY_UPPER], part->dims);
	if (matrix != NULL)
	{
		appendStringInfoString(&text, ", transform => race_transform(");
		append_matrix(&text, matrix, part->outputs, part->dims);
		appendStringInfoString(&text, ", '");
		append_numbers(&text, draft->arrays[RACE_KEY_OFFSET], part->dims);
		appendStringInfoString(&text, "')");
	}
	appendStringInfoChar(&text, ')');
	return text.data;
}

static void
find_center(const RaceExamples *e, double *center)
{
	int			i;
	int			j;

	for (j = 0; j < e->dims; j++)
	{
		center[j] = 0;
		for (i = 0; i < e->n; i++)
			center[j] += e->x[i * e->dims + j] / e->n;
		center[j] = race_suggest_rounded(center[j]);
	}
}

/* The examples, moved so that their center is 0: sums of squares are then exact enough. */
static RaceExamples
centered(const RaceExamples *e, const double *center)
{
	RaceExamples copy = *e;
	int			i;

	copy.x = palloc(e->n * e->dims * sizeof(double));
	for (i = 0; i < e->n * e->dims; i++)
		copy.x[i] = e->x[i] - center[i % e->dims];
	return copy;
}

/* A matrix, or a bandwidth for each column */
static void
use_map(const RaceWhitening *map, RaceTransformKind kind, const double *center, RaceDraft *draft)
{
	double	   *numbers;
	uint32		i;

	if (kind != RACE_TRANSFORM_SCALE)
	{
		draft->part.outputs = map->outputs;
		draft->arrays[RACE_KEY_MATRIX] = map->matrix;
		draft->arrays[RACE_KEY_OFFSET] = center;
		return;
	}
	numbers = palloc(map->dims * sizeof(double));
	for (i = 0; i < map->dims; i++)
		numbers[i] = race_suggest_rounded(1 / map->matrix[i * map->dims + i]);
	draft->arrays[RACE_KEY_BANDWIDTHS] = numbers;
}

/* Examples as they are, with places among knots, pulled, or log odds; and what suits them best */
typedef struct Candidate
{
	RaceExamples examples;		/* centered */
	const double *knots;		/* or NULL */
	const RacePull *pull;		/* or NULL; it is of examples with another center, */
	const double *origin;		/* which is this */
	const RaceAverage *average; /* or NULL; it is of versions, */
	struct Candidate **versions;	/* which are these */
	double		lower[RACE_SUGGEST_DIMS];
	double		upper[RACE_SUGGEST_DIMS];
	double		center[RACE_SUGGEST_DIMS];
	RaceSuggestion best;
} Candidate;

static Candidate *
make_candidate(const RaceExamples *examples, const RaceExpected *expected, bool are_odds)
{
	Candidate  *candidate = palloc0(sizeof(Candidate));

	race_suggest_box(examples->x, examples->n, examples->dims, candidate->lower, candidate->upper);
	find_center(examples, candidate->center);
	candidate->examples = centered(examples, candidate->center);
	race_suggest_choose(&candidate->examples, expected, are_odds, &candidate->best);
	return candidate;
}

/* Columns warped, or NULL if that changes little */
static Candidate *
warped_candidate(const RaceExamples *e, const RaceExpected *expected)
{
	double	   *knots = palloc(e->dims * RACE_WARP_KNOTS * sizeof(double));
	RaceExamples places;
	Candidate  *candidate;

	/* knots are not rounded: equal numbers must stay equal to them */
	if (!race_warp_learn(e, knots))
		return NULL;
	places = race_warp_examples(e, knots);
	candidate = make_candidate(&places, expected, false);
	candidate->knots = knots;
	return candidate;
}

/* Far records pulled to a sphere, or NULL if there are none */
static Candidate *
pulled_candidate(const Candidate *plain, const RaceExpected *expected)
{
	RacePull   *pull = palloc(sizeof(RacePull));
	RaceExamples pulled;
	Candidate  *candidate;

	if (!race_pull_learn(&plain->examples, pull))
		return NULL;
	pulled = race_pull_examples(&plain->examples, pull);
	candidate = make_candidate(&pulled, expected, false);
	candidate->pull = pull;
	candidate->origin = plain->center;
	return candidate;
}

/*
 * The advantage of an average over what was chosen by luck from many.  A difference of surprise among
 * 500 examples has a standard error of about so much.
 */
#define CREDIT	0.01

/* Log odds by regressions of all versions; NULL if all records have the same */
static Candidate *
averaged_candidate(Candidate **versions, int n, const RaceExpected *expected)
{
	RaceAverage *average = palloc(sizeof(RaceAverage));
	RaceExamples examples[RACE_AVERAGE_VERSIONS];
	RaceExamples odds;
	Candidate  *candidate;
	int			i;

	for (i = 0; i < n; i++)
		examples[i] = versions[i]->examples;
	odds = race_average_learn(examples, n, average);
	if (average->n == 0)
		return NULL;
	candidate = make_candidate(&odds, expected, true);
	candidate->best.surprise -= CREDIT;
	candidate->average = average;
	candidate->versions = versions;
	return candidate;
}

/* With labels there are other candidates. */
static Candidate *
choose_candidate(const State *state, const RaceExpected *expected)
{
	Candidate **list = palloc((RACE_AVERAGE_VERSIONS + 1) * sizeof(Candidate *));
	RaceSuggestion best[RACE_AVERAGE_VERSIONS + 1];
	int			n = 1;
	int			i;

	list[0] = make_candidate(&state->examples, expected, false);
	if (state->labelled)
	{
		list[n] = warped_candidate(&state->examples, expected);
		n += list[n] != NULL;
		list[n] = pulled_candidate(list[0], expected);
		n += list[n] != NULL;
		list[n] = averaged_candidate(list, n, expected);
		n += list[n] != NULL;
	}
	for (i = 0; i < n; i++)
		best[i] = list[i]->best;
	return list[race_suggest_pick(&state->examples, best, n)];
}

/* The best transform, with numbers as they are shown */
static RaceMap *
map_of(const Candidate *candidate)
{
	RaceMap    *map = palloc(sizeof(RaceMap));
	uint32		i;

	race_map_learn(candidate->best.kind, &candidate->examples, map);
	for (i = 0; i < map->m.outputs * map->m.dims; i++)
		map->numbers[i] = race_suggest_rounded(map->numbers[i]);
	return map;
}

/* The rest of a call of race_project */
static void
append_map(StringInfo text, const RaceWhitening *map, const double *offset)
{
	appendStringInfoString(text, ", ");
	append_matrix(text, map->matrix, map->outputs, map->dims);
	appendStringInfoString(text, ", '");
	append_numbers(text, offset, map->dims);
	appendStringInfoChar(text, '\'');
}

/* Of records with more than one version, the sum of what each adds to the log odds: blocks of 1 */
static void
append_sum(StringInfo text, int parts, int outputs)
{
	double	   *ones = palloc0((Size) parts * outputs * outputs * sizeof(double));
	int			i;

	for (i = 0; i < parts * outputs; i++)
		ones[i % outputs * parts * outputs + i] = 1;
	appendStringInfoString(text, ", ");
	append_matrix(text, ones, outputs, parts * outputs);
	appendStringInfoString(text, ", '");
	memset(ones, 0, parts * outputs * sizeof(double));
	append_numbers(text, ones, parts * outputs);
	appendStringInfoString(text, "')");
	pfree(ones);
}

/* The records of a candidate: x, and calls of race_warp and race_project where they are needed */
static void
append_records(StringInfo text, const Candidate *candidate)
{
	const RaceAverage *average = candidate->average;
	int			i;

	if (candidate->knots != NULL)
	{
		appendStringInfoString(text, "race_warp(x, ");
		append_matrix(text, candidate->knots, candidate->examples.dims, RACE_WARP_KNOTS);
		appendStringInfoChar(text, ')');
	}
	else if (candidate->pull != NULL)
	{
		appendStringInfoString(text, "race_project(x");
		append_map(text, &candidate->pull->map.m, candidate->origin);
		appendStringInfo(text, ", %.6g)", candidate->pull->radius);
	}
	else if (average == NULL)
		appendStringInfoChar(text, 'x');
	else
	{
		appendStringInfoString(text, average->n > 1 ? "race_project(" : "");
		for (i = 1; i < average->n; i++)
			appendStringInfoString(text, "array_cat(");
		for (i = 0; i < average->n; i++)
		{
			const Candidate *version = candidate->versions[average->version[i]];

			appendStringInfoString(text, i > 0 ? ", race_project(" : "race_project(");
			append_records(text, version);
			append_map(text, &average->map[i].m, version->center);
			appendStringInfo(text, i > 0 ? ", %.6g))" : ", %.6g)", average->radius[i]);
		}
		if (average->n > 1)
			append_sum(text, average->n, candidate->examples.dims);
	}
}

/* What records must be */
static char *
expression_of(const Candidate *candidate, const RaceMap *map)
{
	StringInfoData text;

	initStringInfo(&text);
	if (candidate->best.rows == 0)
		appendStringInfoString(&text, "race_project(");
	append_records(&text, candidate);
	if (candidate->best.rows == 0)
	{
		append_map(&text, &map->m, candidate->center);
		appendStringInfoChar(&text, ')');
	}
	return text.data;
}

/* A grid of the images of examples, which are centered */
static void
draft_grid(const Candidate *candidate, const RaceMap *map, RaceDraft *draft)
{
	const RaceExamples *e = &candidate->examples;
	int			outputs = map->m.outputs;
	double	   *z = palloc((Size) e->n * outputs * sizeof(double));
	double	   *lower = palloc(2 * outputs * sizeof(double));
	int			i;

	for (i = 0; i < e->n; i++)
		race_whitening_apply(&map->m, e->x + i * e->dims, z + i * outputs);
	race_suggest_box(z, e->n, outputs, lower, lower + outputs);
	race_suggest_draft_grid(draft, outputs, race_suggest_rounded(candidate->best.bandwidth),
							candidate->best.power, lower, lower + outputs);
	pfree(z);
}

static void
draft_of(Candidate *candidate, const RaceMap *map, RaceDraft *draft)
{
	const RaceSuggestion *best = &candidate->best;

	if (best->rows == 0)
	{
		draft_grid(candidate, map, draft);
		return;
	}
	race_draft_default(draft);
	draft->part.kernel = best->kernel;
	draft->part.dims = candidate->examples.dims;
	draft->part.power = best->power;
	draft->part.rows = best->rows;
	if (best->kernel != RACE_KERNEL_ANGULAR)
		draft->part.bandwidth = race_suggest_rounded(best->bandwidth);
	draft->arrays[RACE_KEY_LOWER] = candidate->lower;
	draft->arrays[RACE_KEY_UPPER] = candidate->upper;
	use_map(&map->m, best->kind, candidate->center, draft);
}

static Datum
suggest(const State *state, FunctionCallInfo fcinfo)
{
	RaceExpected expected;
	Candidate  *candidate;
	const RaceSuggestion *best;
	RaceMap    *map;
	RaceDraft	draft;
	RaceParams *params;

	race_suggest_expect(&state->asked, &expected);
	candidate = choose_candidate(state, &expected);
	best = &candidate->best;
	if (!isfinite(best->score))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the rows have nothing that parameters could follow"),
				 errdetail("All vectors are alike.")));
	map = map_of(candidate);
	draft_of(candidate, map, &draft);

	params = race_params_assemble(&draft, 1, NULL);
	return race_suggest_row(fcinfo, params, best, state->labelled, statement_of(&draft),
							expression_of(candidate, map));
}

Datum
race_suggest_final(PG_FUNCTION_ARGS)
{
	State	   *state = PG_ARGISNULL(0) ? NULL : (State *) PG_GETARG_POINTER(0);

	if (state == NULL || state->examples.n == 0)
		PG_RETURN_NULL();
	race_suggest_check_examples(state->examples.n, state->labelled ? state->examples.classes : 2);
	PG_RETURN_DATUM(suggest(state, fcinfo));
}
