/*
 * suggest.c
 *		Parameters suggested by public rows
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/memutils.h"

#include "../core/core.h"
#include "maps.h"
#include "suggest.h"

/*
 * race_suggest: parameters that suit public rows.
 *
 * The state holds a sample of the rows; the final function chooses (suggest_score.c).
 * Numbers are rounded to what the statement shows, so that it gives the same parameters, or shown in
 * full.
 */

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

/* Norm clipping, or NULL if there are none */
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

/*
 * The log odds of classes, by several logistic regressions together.
 *
 * Which columns matter, and whether they are better taken as they are, warped or pulled, a few hundred
 * examples do not say for sure: to choose is to choose by luck, now and then.  So the best regressions
 * of all versions are averaged, those more that predict examples better which they have not seen.
 */

/* With L2 penalties; and, times the root of examples, with one that leaves columns out */
#define METHODS		3
static const struct
{
	double		penalty;
	double		sparsity;
}			methods[METHODS] = {{1, 0}, {10, 0}, {0, 0.2}};

/*
 * Weights fall with the logarithm of the likelihood, but less: that of 500 examples differs by luck by
 * several units.  What has less than LEAST of the weight is left out.
 */
#define TRUST		0.2
#define LEAST		0.01

/* A column is constant if its variance is less, in squares of its mean. */
#define CONSTANT	1e-18

/* Log odds are multiplied by what makes them likeliest: penalties make them too small. */
#define AVERAGE_FACTORS		9

/* Far records have long scores, which are shortened to FAR times this quantile of their lengths. */
#define QUANTILE	0.98
#define FAR			1.5

/* ------------------------------------------------------------- one regression */

/* Weights of columns [classes][dims + 1], of which the last is the constant, by a method */
static double *
regress(const RaceExamples *e, int method)
{
	int			d = e->dims;
	double	   *z = palloc((Size) e->n * d * sizeof(double));
	double	   *deviation = palloc0(d * sizeof(double));
	double	   *mean = palloc0(d * sizeof(double));
	double	   *weights;
	int			i;
	int			j;

	for (i = 0; i < e->n * d; i++)
		mean[i % d] += e->x[i] / e->n;
	for (i = 0; i < e->n * d; i++)
		deviation[i % d] += pow(e->x[i] - mean[i % d], 2) / e->n;
	for (j = 0; j < d; j++)
		/* what varies less is rounding */
		deviation[j] = deviation[j] > CONSTANT * mean[j] * mean[j] ? sqrt(deviation[j]) : INFINITY;
	for (i = 0; i < e->n * d; i++)
		z[i] = (e->x[i] - mean[i % d]) / deviation[i % d];
	weights = race_suggest_regress(e, z, methods[method].penalty,
								   methods[method].sparsity * sqrt(e->n));
	for (i = 0; i < e->classes; i++)
		for (j = 0; j < d; j++)
		{
			weights[i * (d + 1) + j] /= deviation[j];
			weights[i * (d + 1) + d] -= weights[i * (d + 1) + j] * mean[j];
		}
	pfree(z);
	pfree(deviation);
	pfree(mean);
	return weights;
}

/* What a regression says of examples */
typedef struct Regression
{
	int			method;
	double	   *scores;			/* [n][classes], each tenth by the others; without the constant, */
	double		constants[RACE_SUGGEST_FOLDS][RACE_SUGGEST_CLASSES];	/* which is this */
	double		likelihood;		/* its logarithm, at best */
	double		factor;			/* of scores, with which it is that */
	double		weight;
} Regression;

static void
average_others(const RaceExamples *e, const int *fold, Regression *r)
{
	int			which;
	int			i;
	int			j;
	int			c;

	r->scores = palloc0((Size) e->n * e->classes * sizeof(double));
	for (which = 0; which < RACE_SUGGEST_FOLDS; which++)
	{
		RaceExamples others = race_suggest_others(e, fold, which);
		double	   *weights = regress(&others, r->method);

		for (c = 0; c < e->classes; c++)
		{
			const double *w = weights + c * (e->dims + 1);

			r->constants[which][c] = w[e->dims];
			for (i = 0; i < e->n; i++)
				for (j = 0; fold[i] == which && j < e->dims; j++)
					r->scores[i * e->classes + c] += w[j] * e->x[i * e->dims + j];
		}
		pfree(others.x);
		pfree(others.label);
		pfree(weights);
	}
}

/* The logarithm of the likelihood, if scores are larger by a factor */
static double
likelihood_of(const RaceExamples *e, const int *fold, const Regression *r, double factor)
{
	double		sum = 0;
	int			i;
	int			c;

	for (i = 0; i < e->n; i++)
	{
		const double *constants = r->constants[fold[i]];
		const double *scores = r->scores + i * e->classes;
		double		right = factor * (scores[e->label[i]] + constants[e->label[i]]);
		double		all = 0;

		for (c = 0; c < e->classes; c++)
			all += exp(Min(factor * (scores[c] + constants[c]) - right, 500));
		sum -= log(all);
	}
	return sum;
}

static void
judge(const RaceExamples *e, const int *fold, Regression *r)
{
	int			i;

	r->likelihood = -INFINITY;
	for (i = 0; i < AVERAGE_FACTORS; i++)
	{
		double		factor = pow(2, (i - AVERAGE_FACTORS / 2) / 2.0);
		double		likelihood = likelihood_of(e, fold, r, factor);

		if (likelihood > r->likelihood)
		{
			r->likelihood = likelihood;
			r->factor = factor;
		}
	}
}

/* The regression of a version that predicts best */
static Regression
find_best(const RaceExamples *e, const int *fold)
{
	Regression	best = {0};
	int			i;

	for (i = 0; i < METHODS; i++)
	{
		Regression	r;

		r.method = i;
		average_others(e, fold, &r);
		judge(e, fold, &r);
		if (i == 0 || r.likelihood > best.likelihood)
		{
			if (i > 0)
				pfree(best.scores);
			best = r;
		}
		else
			pfree(r.scores);
	}
	return best;
}

/* ------------------------------------------------------------- the average */

static void
find_weights(Regression *list, int n)
{
	double		most = -INFINITY;
	double		sum = 0;
	int			i;

	for (i = 0; i < n; i++)
		most = Max(most, list[i].likelihood);
	for (i = 0; i < n; i++)
		sum += list[i].weight = exp(TRUST * (list[i].likelihood - most));
	for (i = 0; i < n; i++)
		list[i].weight = list[i].weight < LEAST * sum ? 0 : list[i].weight / sum * list[i].factor;
}

/* Shorten the longest of vectors [n][d], and return the radius. */
static double
shorten(double *z, int n, int d)
{
	double	   *length = palloc0(n * sizeof(double));
	double		radius;
	int			i;
	int			j;

	for (i = 0; i < n; i++)
	{
		for (j = 0; j < d; j++)
			length[i] += z[i * d + j] * z[i * d + j];
		length[i] = sqrt(length[i]);
	}
	race_suggest_sort(length, n);
	radius = race_suggest_rounded(FAR * length[(int) (QUANTILE * (n - 1))]);
	for (i = 0; i < n && radius > 0; i++)
		race_pull(z + i * d, d, radius);
	pfree(length);
	return radius;
}

/* Add a regression of a version: a map, and its part of the log odds [n][classes - 1] of examples. */
static void
add_version(const RaceExamples *e, int version, const Regression *r, RaceAverage *average,
			double *odds)
{
	int			outputs = e->classes - 1;
	int			d = e->dims;
	double	   *weights = regress(e, r->method);
	double	   *z = palloc((Size) e->n * outputs * sizeof(double));
	RaceMap    *map = &average->map[average->n];
	double		radius;
	int			i;
	int			j;

	map->m.dims = d;
	map->m.outputs = outputs;
	map->m.matrix = map->numbers;
	for (i = 0; i < outputs; i++)
		for (j = 0; j < d; j++)
			map->numbers[i * d + j] = race_suggest_rounded(r->weight * (weights[(i + 1) * (d + 1) + j] -
																		weights[j]));
	for (i = 0; i < e->n; i++)
		for (j = 0; j < outputs; j++)
			z[i * outputs + j] = r->weight * (r->scores[i * e->classes + j + 1] -
											  r->scores[i * e->classes]);
	radius = shorten(z, e->n, outputs);
	if (radius > 0)
	{
		for (i = 0; i < e->n * outputs; i++)
			odds[i] += z[i];
		average->version[average->n] = version;
		average->radius[average->n++] = radius;
	}
	pfree(weights);
	pfree(z);
}

RaceExamples
race_average_learn(const RaceExamples *versions, int n, RaceAverage *average)
{
	RaceExamples result = versions[0];
	int		   *fold = race_suggest_folds(&versions[0]);
	Regression	list[RACE_AVERAGE_VERSIONS];
	int			i;

	for (i = 0; i < n; i++)
		list[i] = find_best(&versions[i], fold);
	find_weights(list, n);

	result.dims = result.classes - 1;
	result.x = palloc0((Size) result.n * result.dims * sizeof(double));
	average->n = 0;
	for (i = 0; i < n; i++)
	{
		if (list[i].weight > 0)
			add_version(&versions[i], i, &list[i], average, result.x);
		pfree(list[i].scores);
	}
	pfree(fold);
	return result;
}

/*
 * Grids of what a map makes of vectors, as race_suggest proposes them.
 *
 * In few directions a grid has far less error than rows.  Its box must be public: it holds the
 * images of the examples, and a little more.  What lies beyond is clipped to it.
 */

#define BEYOND		0.1			/* of a range, by which the box is wider */

/* Six digits are enough, and the statement shows all of them. */
double
race_suggest_rounded(double x)
{
	char		digits[32];

	snprintf(digits, sizeof(digits), "%.6g", x);
	return strtod(digits, NULL);
}

void
race_suggest_box(const double *x, int n, int dims, double *lower, double *upper)
{
	int			i;
	int			j;

	for (j = 0; j < dims; j++)
	{
		double		beyond;

		lower[j] = upper[j] = x[j];
		for (i = 0; i < n; i++)
		{
			lower[j] = Min(lower[j], x[i * dims + j]);
			upper[j] = Max(upper[j], x[i * dims + j]);
		}
		beyond = BEYOND * (upper[j] - lower[j]);
		lower[j] = race_suggest_rounded(lower[j] - beyond);
		upper[j] = race_suggest_rounded(upper[j] + beyond);
	}
}

void
race_suggest_draft_grid(RaceDraft *draft, int dims, double bandwidth, int power,
						const double *lower, const double *upper)
{
	race_draft_default(draft);
	draft->part.kernel = RACE_KERNEL_L2;
	draft->part.sequence = RACE_SEQUENCE_GRID;
	draft->part.dims = dims;
	draft->part.power = power;
	draft->part.bandwidth = bandwidth;
	draft->arrays[RACE_KEY_LOWER] = lower;
	draft->arrays[RACE_KEY_UPPER] = upper;
}

bool
race_suggest_can_be_grid(int dims, const double *lower, const double *upper)
{
	int			i;

	if (dims > RACE_GRID_DIMS)
		return false;
	for (i = 0; i < dims; i++)
		if (!(lower[i] < upper[i]))
			return false;
	return true;
}

void
race_suggest_grid_error(RaceDraft *draft, const RaceExpected *expected, double records,
						double *noise, double *bias)
{
	RaceParams *params = race_params_assemble(draft, 1, NULL);
	RaceRequest request = race_make_request(params, expected->epsilon, expected->delta, NULL, 1,
											"add_remove", false);
	RacePlan	plan;

	race_check_usual_plan(&request, params, race_usual_mass(Max(records, 1)), &plan);
	*noise = race_expected_noise(params, &plan);
	*bias = race_grid_bias(params, plan.kept.grid);
	pfree(params);
}

/*
 * Transforms that race_suggest tries, learned from examples.
 *
 * All begin by giving vectors covariance 1 within classes (maps.h).  Some go on to keep only
 * the directions in which classes differ.
 */

/* A column that varies less than this is constant.  It is divided by so much. */
#define LEAST_DEVIATION		1e-50
#define MAP_CONSTANT			1e50

/* A direction of which less is left, after those before it, is one of them. */
#define LEAST_LENGTH		1e-6

/* Added to the diagonal of correlations: columns that are sums of others do no harm. */
#define RIDGE				1e-6

#define SPREAD_OUTPUTS		2	/* directions of different covariance */
#define POWER_STEPS			60	/* to find one */

static RaceScatter *
scatter_of(const RaceExamples *e)
{
	RaceScatter *scatter = race_scatter_create(e->dims, CurrentMemoryContext);
	int			i;

	for (i = 0; i < e->n; i++)
		race_scatter_add(scatter, e->label[i], 1, e->x + i * e->dims);
	return scatter;
}

/* All columns are kept: volumes are those of all dimensions. */
static void
find_columns(const RaceScatter *scatter, RaceColumns *columns)
{
	uint32		i;

	columns->n = scatter->dims;
	for (i = 0; i < scatter->dims; i++)
	{
		double		deviation = race_scatter_deviation(scatter, i);

		columns->deviation[i] = deviation >= LEAST_DEVIATION ? deviation : MAP_CONSTANT;
		columns->keep[i] = true;
		columns->kept[i] = i;
	}
}

static void
scale_columns(const RaceColumns *columns, RaceWhitening *map)
{
	uint32		n = columns->n;
	uint32		i;

	map->dims = map->outputs = n;
	map->matrix = palloc0(n * n * sizeof(double));
	for (i = 0; i < n; i++)
		map->matrix[i * n + i] = 1 / columns->deviation[i];
}

/* log |det M|, of M that is lower triangular */
static double
log_volume_of(const RaceWhitening *map)
{
	double		sum = 0;
	uint32		i;

	for (i = 0; i < map->dims; i++)
		sum += log(map->matrix[i * map->dims + i]);
	return sum;
}

/* ------------------------------------------------- directions, of white vectors */

/*
 * Add a direction to an orthonormal basis, [n][d]: what is left of it, if that is not too
 * small.  Returns how many there are then.
 */
static int
add_direction(double *basis, int n, int d, const double *direction)
{
	double	   *next = basis + n * d;
	double		before = 0;
	double		after = 0;
	int			i;
	int			j;

	if (n == d)
		return n;
	memmove(next, direction, d * sizeof(double));
	for (j = 0; j < d; j++)
		before += next[j] * next[j];
	for (i = 0; i < n; i++)
	{
		double		along = 0;

		for (j = 0; j < d; j++)
			along += next[j] * basis[i * d + j];
		for (j = 0; j < d; j++)
			next[j] -= along * basis[i * d + j];
	}
	for (j = 0; j < d; j++)
		after += next[j] * next[j];
	if (!(after > LEAST_LENGTH * LEAST_LENGTH * before))
		return n;
	for (j = 0; j < d; j++)
		next[j] /= sqrt(after);
	return n + 1;
}

/* The scatter of white vectors in each class; NULL for a class without any */
static RaceScatter **
scatters_of_classes(const RaceExamples *e, const double *z)
{
	RaceScatter **scatters = palloc0(e->classes * sizeof(RaceScatter *));
	int			i;

	for (i = 0; i < e->n; i++)
	{
		RaceScatter **scatter = &scatters[e->label[i]];

		if (*scatter == NULL)
			*scatter = race_scatter_create(e->dims, CurrentMemoryContext);
		race_scatter_add(*scatter, 0, 1, z + i * e->dims);
	}
	return scatters;
}

/* The covariance, [d][d] */
static void
covariance_of(const RaceScatter *scatter, double *s)
{
	uint32		d = scatter->dims;
	uint32		j;
	uint32		k;

	for (j = 0; j < d; j++)
		for (k = 0; k < d; k++)
			s[j * d + k] = race_scatter_product(scatter, j, k) / race_scatter_n(scatter);
}

/* Add the square of a symmetric matrix [d][d]. */
static void
add_square(const double *s, int d, double *sum)
{
	int			i;
	int			j;
	int			k;

	CHECK_FOR_INTERRUPTS();
	for (j = 0; j < d; j++)
		for (i = 0; i < d; i++)
			for (k = 0; k < d; k++)
				sum[j * d + k] += s[j * d + i] * s[i * d + k];
}

/*
 * The sum over classes of (S_c - S)^2, where S_c is the covariance of a class and S their
 * mean: [d][d]
 */
static double *
covariance_differences(const RaceExamples *e, const double *z)
{
	int			d = e->dims;
	RaceScatter **scatters = scatters_of_classes(e, z);
	double	   *mean = palloc0(d * d * sizeof(double));
	double	   *s = palloc(d * d * sizeof(double));
	double	   *result = palloc0(d * d * sizeof(double));
	int			c;
	int			j;

	for (c = 0; c < e->classes; c++)
	{
		if (scatters[c] == NULL)
			continue;
		covariance_of(scatters[c], s);
		for (j = 0; j < d * d; j++)
			mean[j] += s[j] / e->classes;
	}
	for (c = 0; c < e->classes; c++)
	{
		if (scatters[c] == NULL)
			continue;
		covariance_of(scatters[c], s);
		for (j = 0; j < d * d; j++)
			s[j] -= mean[j];
		add_square(s, d, result);
	}
	return result;
}

/* Directions in which the covariances of classes differ most, by the power method */
static int
spread_directions(const RaceExamples *e, const double *z, double *basis, int n)
{
	int			d = e->dims;
	double	   *q = covariance_differences(e, z);
	double	   *v = palloc(2 * d * sizeof(double));
	double	   *product = v + d;
	int			to = Min(n + SPREAD_OUTPUTS, d);
	int			step;
	int			i;
	int			j;

	while (n < to)
	{
		for (j = 0; j < d; j++)
			v[j] = 1 + j % 3;	/* no special direction */
		for (step = 0; step < POWER_STEPS; step++)
		{
			if (add_direction(basis, n, d, v) == n)
				break;
			memcpy(v, basis + n * d, d * sizeof(double));
			memset(product, 0, d * sizeof(double));
			for (i = 0; i < d; i++)
				for (j = 0; j < d; j++)
					product[i] += q[i * d + j] * v[j];
			memcpy(v, product, d * sizeof(double));
		}
		if (add_direction(basis, n, d, v) == n)
			break;
		n++;
	}
	return n;
}

/* Of a map that makes vectors white keep only the directions in which classes differ. */
static void
keep_directions(RaceTransformKind kind, const RaceExamples *e, const RaceScatter *scatter,
				RaceWhitening *map)
{
	int			d = e->dims;
	double	   *basis = palloc((Max(d, RACE_SUGGEST_CLASSES) + 1) * d * sizeof(double));
	int			n = race_discriminant_directions(scatter, map, basis);

	if (kind == RACE_TRANSFORM_SPREAD)
	{
		double	   *z = palloc((Size) e->n * d * sizeof(double));
		int			means = n;
		int			i;

		for (i = 0; i < e->n; i++)
			race_whitening_apply(map, e->x + i * d, z + i * d);
		n = spread_directions(e, z, basis, n);
		if (n == means)
			n = 0;				/* the same as without */
	}
	/* all directions are no choice */
	race_whitening_keep(map, basis, n < d ? n : 0);
}

/* Returns the logarithm of the volume.  The map has no outputs if there is no such map. */
static double
learn(RaceTransformKind kind, const RaceExamples *e, RaceWhitening *map)
{
	RaceScatter *scatter = scatter_of(e);
	RaceColumns *columns = palloc(sizeof(RaceColumns));
	double		log_volume;

	find_columns(scatter, columns);
	if (kind == RACE_TRANSFORM_SCALE)
		scale_columns(columns, map);
	else if (e->dims == 1 ||	/* the same as scaled */
			 race_scatter_freedom(scatter) < 1 ||
			 !race_whiten_columns(scatter, columns, RIDGE, map))
	{
		map->outputs = 0;
		return 0;
	}
	log_volume = log_volume_of(map);
	if (kind >= RACE_TRANSFORM_FISHER)
		keep_directions(kind, e, scatter, map);
	return log_volume;
}

void
race_map_learn(RaceTransformKind kind, const RaceExamples *examples, RaceMap *map)
{
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "race suggest, map",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(work);

	map->log_volume = learn(kind, examples, &map->m);
	MemoryContextSwitchTo(old);
	map->m.dims = examples->dims;
	if (map->m.outputs > 0)
		memcpy(map->numbers, map->m.matrix,
			   map->m.outputs * map->m.dims * sizeof(double));
	map->m.matrix = map->numbers;
	MemoryContextDelete(work);
}
