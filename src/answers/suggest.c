/*
 * suggest.c
 *		Parameters suggested by public rows
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "../core/core.h"
#include "classify.h"
#include "maps.h"

/*
 * race_suggest: parameters that suit public rows.
 *
 * Public rows stand for the private records.  Some linear maps are learned from them; for each of
 * them, and for each of some bandwidths, each tenth of the rows is asked about by the other nine,
 * with the exact kernel and with the error that a release is expected to have.  The map is learned
 * from the nine as well.  What predicts the labels that were left out best is suggested; without
 * labels, what gives the rows that were left out the highest density.
 *
 * Images by a map are white within classes, in all directions or in those in which the means of classes
 * differ.  Images in up to 3 dimensions are counted in a grid, others in rows.
 */

PG_FUNCTION_INFO_V1(race_suggest_step);
PG_FUNCTION_INFO_V1(race_suggest_final);

#define MOST_DIMS		64
#define MOST_CLASSES	32
#define MOST_EXAMPLES	2000
#define LEAST_EXAMPLES	20
#define MOST_NUMBER		1e50	/* squares of it can be added up */

#define FOLDS			10
#define POWER			4		/* of the kernel: it falls about as a normal density */
#define BANDWIDTHS		9		/* from a quarter of the typical distance to four of them */
#define LEAST_ROWS		8
#define MOST_ROWS		1024
#define BEYOND			0.1		/* of a range, by which a box is wider */

/*
 * The variance of a density f from R independent rows is at most f (1 - f) / R, if each class
 * were in one bucket.  A tenth of it is what was measured.
 */
#define SAMPLING		0.1

typedef struct State
{
	bool		labelled;
	double		epsilon;
	double		delta;
	int64		records;
	int			n;
	int			dims;
	int			classes;		/* 1 without labels */
	uint64		keys[MOST_CLASSES];
	double	   *x;				/* [n][dims] */
	int		   *label;			/* [n] */
} State;

/* The error of kernel sums and counts of a release */
typedef struct Errors
{
	double		noise;			/* the variance of a kernel sum */
	double		sampling;		/* of rows */
	double		bias;			/* of a grid */
	double		count;			/* the variance of a count */
} Errors;

typedef struct Suggestion
{
	RaceWhitening map;
	double		bandwidth;
	int			rows;			/* 0 = a grid */
	double		loss;			/* minus the mean logarithm of a posterior or density */
	double		score;
	double		without_noise;	/* the score of the exact kernel */
} Suggestion;

/* Features are columns, of mean 0 and variance 1. */
typedef struct Scoring
{
	const State *state;
	MemoryContext context;		/* of what stays */
	int			n;
	int			dims;
	int			classes;
	double	   *x;				/* [n][dims] */
	double	   *center;			/* of features, */
	double	   *scale;			/* and their deviations; infinite = constant */
	int		   *fold;			/* [n], alike in all classes: 0 to FOLDS - 1 */
	double		shares[MOST_CLASSES];
	RaceRadial	radial;			/* the kernel with power 1, in bandwidths */
	RaceWhitening map;			/* which is tried, learned from all folds */
	double	   *images;			/* by it */
	double		log_volume;		/* log |det| of what whitens all columns */
	float	   *densities;		/* [BANDWIDTHS][classes][n], by the other folds */
	Suggestion	best;
} Scoring;

/* ------------------------------------------------------------- transition */

/* Read epsilon, delta and records; those of the last row count. */
static void
read_request(State *state, FunctionCallInfo fcinfo)
{
	if (PG_ARGISNULL(1) || PG_ARGISNULL(2) || PG_ARGISNULL(3))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("epsilon, delta and records must not be NULL")));
	state->epsilon = PG_GETARG_FLOAT8(1);
	state->delta = PG_GETARG_FLOAT8(2);
	state->records = PG_GETARG_INT64(3);
	if (state->records < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("records must be at least 1")));
}

/* The number of a label, which may be a new one */
static int
class_of(State *state, uint64 key)
{
	int			c;

	for (c = 0; c < state->classes; c++)
		if (key == state->keys[c])
			return c;
	if (c == MOST_CLASSES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("race_suggest takes up to %d labels", MOST_CLASSES)));
	state->keys[c] = key;
	state->classes++;
	return c;
}

static void
add_example(State *state, const double *x, uint32 dims, uint64 key, MemoryContext context)
{
	if (dims > MOST_DIMS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("race_suggest takes vectors of up to %d dimensions", MOST_DIMS)));
	for (uint32 i = 0; i < dims; i++)
		if (fabs(x[i]) > MOST_NUMBER)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("race_suggest takes numbers between %g and %g",
							-MOST_NUMBER, MOST_NUMBER)));
	if (state->n == 0)
	{
		state->dims = dims;
		state->x = MemoryContextAlloc(context, MOST_EXAMPLES * dims * sizeof(double));
		state->label = MemoryContextAlloc(context, MOST_EXAMPLES * sizeof(int));
	}
	memcpy(state->x + state->n * dims, x, dims * sizeof(double));
	state->label[state->n++] = class_of(state, key);
}

/* Transition of race_suggest(epsilon, delta, records, x [, label]).  Rows after so many do not count. */
Datum
race_suggest_step(PG_FUNCTION_ARGS)
{
	State	   *state = PG_ARGISNULL(0) ? NULL : (State *) PG_GETARG_POINTER(0);
	MemoryContext context = race_aggregate_context(fcinfo, "race_suggest");
	const double *x;
	uint32		dims;
	uint64		key;
	int			label;

	if (state == NULL)
		state = MemoryContextAllocZero(context, sizeof(State));
	label = race_scatter_label(fcinfo, 4);
	state->labelled = label > 0;
	x = race_scatter_read(fcinfo, 4, label, state->dims, &dims, &key);
	if (x != NULL)
		read_request(state, fcinfo);
	if (x != NULL && state->n < MOST_EXAMPLES)
		add_example(state, x, dims, key, context);
	PG_RETURN_POINTER(state);
}

/* --------------------------------------------------------------- features */

/* Six digits are enough, and all of them are shown. */
static double
rounded(double x)
{
	char		digits[32];

	snprintf(digits, sizeof(digits), "%.6g", x);
	return strtod(digits, NULL);
}

/* What varies less is rounding. */
static void
find_features(Scoring *s)
{
	const double *x = s->state->x;

	s->x = palloc((Size) s->n * s->dims * sizeof(double));
	s->center = palloc(2 * s->dims * sizeof(double));
	s->scale = s->center + s->dims;
	for (int j = 0; j < s->dims; j++)
	{
		double		mean = 0;
		double		square = 0;

		for (int i = 0; i < s->n; i++)
			mean += x[i * s->dims + j] / s->n;
		for (int i = 0; i < s->n; i++)
			square += pow(x[i * s->dims + j] - mean, 2) / s->n;
		s->center[j] = rounded(mean);
		s->scale[j] = square > 1e-18 * mean * mean ? sqrt(square) : INFINITY;
		for (int i = 0; i < s->n; i++)
			s->x[i * s->dims + j] = (x[i * s->dims + j] - s->center[j]) / s->scale[j];
	}
}

/* ------------------------------------------------------------------- maps */

static double *
images_of(const Scoring *s, const RaceWhitening *map)
{
	double	   *z = palloc((Size) s->n * map->outputs * sizeof(double));

	for (int i = 0; i < s->n; i++)
		race_whitening_apply(map, s->x + i * s->dims, z + (Size) i * map->outputs);
	return z;
}

/*
 * Whiten features within classes, and keep so many directions, or all with 0.  False if there
 * is no such map.
 */
static bool
learn_map(Scoring *s, int without, uint32 directions, RaceWhitening *map)
{
	uint32		n = s->dims;
	RaceScatter *scatter = race_scatter_create(n, CurrentMemoryContext);
	RaceColumns columns = {.n = n};
	uint32		i;

	for (i = 0; i < (uint32) s->n; i++)
		if (s->fold[i] != without)
			race_scatter_add(scatter, s->state->label[i], 1, s->x + (Size) i * s->dims);
	for (i = 0; i < n; i++)
	{
		double		deviation = race_scatter_deviation(scatter, i);

		columns.deviation[i] = deviation > 1e-9 ? deviation : 1;	/* a constant column stays */
		columns.kept[i] = i;
	}
	/* a ridge: columns that are sums of others do no harm */
	if (race_scatter_freedom(scatter) < 1 || !race_whiten_columns(scatter, &columns, 1e-6, map))
		return false;
	for (s->log_volume = 0, i = 0; i < n; i++)
		s->log_volume += log(map->matrix[i * n + i]);
	if (directions == 0)
		return true;
	if (race_discriminant_map(scatter, map) < directions)
		return false;
	map->outputs = directions;
	return true;
}

/* -------------------------------------------------------------- densities */

static double
distance(const double *a, const double *b, uint32 n)
{
	double		sum = 0;

	for (uint32 i = 0; i < n; i++)
		sum += (a[i] - b[i]) * (a[i] - b[i]);
	return sqrt(sum);
}

/* White vectors of one class are typically sqrt(2 outputs) apart. */
static double
bandwidth_of(const Scoring *s, int choice)
{
	return sqrt(2.0 * s->map.outputs) / 4 * pow(2, choice / 2.0);
}

/* The densities of all classes at the examples of a fold, by images of the others */
static void
ask_others(Scoring *s, int fold, const double *images)
{
	uint32		outputs = s->map.outputs;
	double		sums[MOST_CLASSES][BANDWIDTHS];
	int			count[MOST_CLASSES];
	double		bandwidth[BANDWIDTHS];

	for (int a = 0; a < BANDWIDTHS; a++)
		bandwidth[a] = bandwidth_of(s, a);
	for (int i = 0; i < s->n; i++)
	{
		if (s->fold[i] != fold)
			continue;
		CHECK_FOR_INTERRUPTS();
		memset(sums, 0, sizeof(sums));
		memset(count, 0, sizeof(count));
		for (int j = 0; j < s->n; j++)
		{
			double	   *sum = sums[s->state->label[j]];
			double		apart = distance(images + i * outputs, images + j * outputs, outputs);

			if (s->fold[j] == fold)
				continue;
			count[s->state->label[j]]++;
			for (int a = 0; a < BANDWIDTHS; a++)
				sum[a] += pow(race_radial_value(&s->radial, apart / bandwidth[a]), POWER);
		}
		for (int a = 0; a < BANDWIDTHS; a++)
			for (int j = 0; j < s->classes; j++)
				s->densities[(a * s->classes + j) * s->n + i] = sums[j][a] / Max(count[j], 1);
	}
}

/* Learn a map from all folds, and densities without each.  False if there is no such map. */
static bool
find_densities(Scoring *s, uint32 directions)
{
	RaceWhitening map;

	for (int fold = 0; fold <= FOLDS; fold++)
	{
		if (!learn_map(s, fold, directions, &map))
			return false;
		s->map = map;
		s->images = images_of(s, &map);
		ask_others(s, fold, s->images);
	}
	return true;
}

/* ----------------------------------------------------------------- scores */

/* The variance of a density of a class; of classes that are compared, also that of their counts */
static double
variance_of(const Scoring *s, double density, int c, const Errors *errors)
{
	double		records = Max(s->state->records * s->shares[c], 1);

	return errors->noise / (records * records) + Max(density * (1 - density), 0) * errors->sampling +
		density * density * (errors->bias * errors->bias + errors->count / (records * records));
}

/* The power that race_scores_sharpen() will take densities to */
static double
sharpness(const Scoring *s, const float *densities)
{
	double		typical[MOST_CLASSES] = {0};
	double		flatness = 0;

	for (int i = 0; i < s->n; i++)
		typical[s->state->label[i]] += densities[s->state->label[i] * s->n + i] / (s->shares[s->state->label[i]] * s->n);
	for (int i = 0; i < s->classes; i++)
		flatness += s->shares[i] * race_flatness(typical[i], s->map.outputs);
	return 1 / Max(1 - flatness, 1e-3);
}

/*
 * Minus the mean logarithm of the posterior of the right class, and the share of examples that
 * are classified rightly.  A density is not known better than its deviation; and where the
 * logarithms of scores have variances v, the loss has p (1 - p) v / 2 more.
 */
static double
posterior_loss(const Scoring *s, const float *densities, const Errors *errors, double *right)
{
	double		power = sharpness(s, densities);
	double		loss = 0;

	CHECK_FOR_INTERRUPTS();
	*right = 0;
	for (int i = 0; i < s->n; i++)
	{
		int			own = s->state->label[i];
		int			rival = own == 0 ? 1 : 0;
		double		score[MOST_CLASSES];
		double		deviation[MOST_CLASSES];
		double		sum = 0;

		for (int c = 0; c < s->classes; c++)
		{
			double		f = densities[c * s->n + i];
			double		error = sqrt(variance_of(s, f, c, errors)) + 1e-12;

			score[c] = power * log(f + error) + log(s->shares[c]);
			deviation[c] = power * error / (f + error);
			if (c != own && score[c] > score[rival])
				rival = c;
		}
		*right += 0.5 * erfc((score[rival] - score[own]) * M_SQRT1_2 /
							 hypot(deviation[own], deviation[rival])) / s->n;
		for (int c = 0; c < s->classes; c++)
			sum += exp(Min(score[c] - score[own], 500));
		loss += log(sum) / s->n;
		for (int c = 0; c < s->classes; c++)
		{
			double		p = exp(Min(score[c] - score[own], 500)) / sum;

			loss += p * (1 - p) * deviation[c] * deviation[c] / 2 / s->n;
		}
	}
	return loss;
}

/*
 * The logarithm of the integral of the kernel over a ball as large as the images: in many
 * dimensions it has none over all space.  With r = farthest e^-t it is the surface of the unit
 * ball times the integral of k r^outputs dt.
 */
static double
log_volume(const Scoring *s, double bandwidth)
{
	uint32		outputs = s->map.outputs;
	double		farthest = 0;
	double		sum = 0;

	for (int i = 0; i < s->n; i++)
		farthest = Max(farthest, distance(s->images, s->images + i * outputs, outputs));
	for (double t = 0.0025; t < 30; t += 0.005)
		sum += 0.005 * pow(race_radial_value(&s->radial, farthest * exp(-t) / bandwidth), POWER) *
			exp(-t * outputs);
	return log(2) + outputs / 2.0 * log(RACE_PI) - lgamma(outputs / 2.0) +
		outputs * log(farthest) + log(Max(sum, 1e-300));
}

/*
 * Minus the mean logarithm of the density, of which noise of variance v takes v / 2 f^2 where it
 * is small; where it is large, f is known no better than its deviation.
 */
static double
density_loss(const Scoring *s, const float *densities, double bandwidth, const Errors *errors)
{
	double		loss = log_volume(s, bandwidth) - s->log_volume;

	for (int i = 0; i < s->n; i++)
	{
		double		f = Max(densities[i], 1e-30);

		loss -= (log(f) - 0.5 * log1p(variance_of(s, f, 0, errors) / (f * f))) / s->n;
	}
	for (int i = 0; i < s->state->dims; i++)
		loss += isfinite(s->scale[i]) ? log(s->scale[i]) : 0;
	return loss;
}

static double
loss_of(const Scoring *s, int choice, const Errors *errors, double *score)
{
	const float *densities = s->densities + (Size) choice * s->classes * s->n;
	double		loss;

	if (s->state->labelled)
		return posterior_loss(s, densities, errors, score);
	loss = density_loss(s, densities, bandwidth_of(s, choice), errors);
	*score = -loss;
	return loss;
}

/* --------------------------------------------------------------- choosing */

/* A box a little beyond vectors [n][dims]; false if they do not vary in some dimension */
static bool
find_box(const double *x, int n, int dims, double *lower, double *upper)
{
	bool		varies = true;

	for (int j = 0; j < dims; j++)
	{
		double		least = INFINITY;
		double		most = -INFINITY;

		for (int i = 0; i < n; i++)
		{
			least = Min(least, x[(Size) i * dims + j]);
			most = Max(most, x[(Size) i * dims + j]);
		}
		lower[j] = rounded(least - BEYOND * (most - least));
		upper[j] = rounded(most + BEYOND * (most - least));
		varies &= lower[j] < upper[j];
	}
	return varies;
}

/* Parameters of vectors in a box; 0 rows are a grid */
static void
draft_kernel(RaceDraft *draft, int dims, double bandwidth, int rows, const double *lower,
			 const double *upper)
{
	race_draft_default(draft);
	draft->part.kernel = RACE_KERNEL_L2;
	draft->part.dims = dims;
	draft->part.power = POWER;
	draft->part.bandwidth = rounded(bandwidth);
	if (rows == 0)
		draft->part.sequence = RACE_SEQUENCE_GRID;
	else
		draft->part.rows = rows;
	draft->arrays[RACE_KEY_LOWER] = lower;
	draft->arrays[RACE_KEY_UPPER] = upper;
}

static Errors
expected_errors(const Scoring *s, RaceDraft *draft)
{
	RaceParams *params = race_params_assemble(draft, 1, NULL);
	bool		grid = !race_summary_kind(params)->hashed;
	int			rows = params->rows;
	RaceRequest request = race_make_request(params, s->state->epsilon, s->state->delta,
											grid ? NULL : &rows, 1, "add_remove", false);
	Errors		errors = {0};
	RacePlan	plan;

	if (grid)
	{
		race_check_usual_plan(&request, params,
							  race_usual_mass(Max(s->state->records / s->classes, 1)), &plan);
		errors.bias = race_grid_bias(params, plan.kept.grid);
	}
	else
	{
		race_check_plan(&request, params, race_most_kept(&request, params), &plan);
		errors.sampling = SAMPLING / rows;
	}
	errors.noise = race_expected_noise(params, &plan);
	errors.count = s->state->labelled ? plan.noise.count_variance : 0;
	return errors;
}

/* Keep a choice if it is the best. */
static void
consider(Scoring *s, int choice, RaceDraft *draft)
{
	const Errors exact = {0};
	Errors		errors = expected_errors(s, draft);
	Suggestion *best = &s->best;
	double		score;
	double		loss = loss_of(s, choice, &errors, &score);
	Size		size = s->map.outputs * s->map.dims * sizeof(double);

	if (!(loss < best->loss))
		return;
	best->map = s->map;
	best->map.matrix = memcpy(MemoryContextAlloc(s->context, size),
										  s->map.matrix, size);
	best->bandwidth = bandwidth_of(s, choice);
	best->rows = draft->part.sequence == RACE_SEQUENCE_GRID ? 0 : draft->part.rows;
	best->loss = loss;
	best->score = score;
	(void) loss_of(s, choice, &exact, &best->without_noise);
}

/* Try all bandwidths and rows of a map. */
static void
try_map(Scoring *s, uint32 directions)
{
	double		lower[MOST_DIMS];
	double		upper[MOST_DIMS];
	uint32		outputs;
	RaceDraft	draft;
	bool		varies;

	if (!find_densities(s, directions))
		return;
	outputs = s->map.outputs;
	varies = find_box(s->images, s->n, outputs, lower, upper);
	for (int choice = 0; choice < BANDWIDTHS; choice++)
		if (s->state->labelled && outputs <= RACE_GRID_DIMS && varies)
		{
			draft_kernel(&draft, outputs, bandwidth_of(s, choice), 0, lower, upper);
			consider(s, choice, &draft);
		}
		else
			for (int rows = LEAST_ROWS; rows <= MOST_ROWS; rows *= 2)
			{
				draft_kernel(&draft, outputs, bandwidth_of(s, choice), rows, NULL, NULL);
				consider(s, choice, &draft);
			}
}

static void
choose(Scoring *s)
{
	int			next[MOST_CLASSES] = {0};
	int			most = Min(s->state->classes - 1, RACE_GRID_DIMS);	/* directions */
	RaceDraft	draft;

	s->context = CurrentMemoryContext;
	s->n = s->state->n;
	s->dims = s->state->dims;
	s->classes = s->state->classes;
	find_features(s);
	s->fold = palloc(s->n * sizeof(int));
	for (int i = 0; i < s->n; i++)
	{
		s->fold[i] = next[s->state->label[i]]++ % FOLDS;
		s->shares[s->state->label[i]] += 1.0 / s->n;
	}
	draft_kernel(&draft, 1, 1, 1, NULL, NULL);
	draft.part.power = 1;
	race_radial_init(&s->radial, race_params_assemble(&draft, 1, NULL));
	s->densities = palloc_extended((Size) BANDWIDTHS * s->classes * s->n * sizeof(float),
								   MCXT_ALLOC_HUGE);
	s->best.loss = INFINITY;
	for (int i = 0; i <= (s->state->labelled ? most : 0); i++)
	{
		MemoryContext work = AllocSetContextCreate(s->context, "race_suggest", ALLOCSET_DEFAULT_SIZES);

		MemoryContextSwitchTo(work);
		try_map(s, i);
		MemoryContextSwitchTo(s->context);
		MemoryContextDelete(work);
	}
	if (!isfinite(s->best.loss))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the rows have nothing that parameters could follow"),
				 errdetail("All vectors are alike.")));
}

/* ------------------------------------------------------------- the result */

/* A matrix, or a vector with 0 rows, as an array in quotes */
static void
append_array(StringInfo text, const double *x, int rows, int columns)
{
	appendStringInfoString(text, rows == 0 ? ", '{" : ", '{{");
	for (int i = 0; i < Max(rows, 1) * columns; i++)
		appendStringInfo(text, "%s%.6g", i == 0 ? "" : i % columns == 0 ? "},{" : ",", x[i]);
	appendStringInfoString(text, rows == 0 ? "}'" : "}}'");
}

/* The best map of records, with numbers as they are shown: [outputs][dims] */
static double *
map_of_records(const Scoring *s)
{
	Size		n = (Size) s->best.map.outputs * s->dims;
	double	   *matrix = palloc(n * sizeof(double));

	for (Size i = 0; i < n; i++)
		matrix[i] = rounded(s->best.map.matrix[i] / s->scale[i % s->dims]);
	return matrix;
}

/* Without labels the parameters map the records themselves. */
static void
draft_with_map(const Scoring *s, RaceDraft *draft)
{
	int			dims = s->state->dims;
	double	   *lower = palloc(2 * dims * sizeof(double));

	(void) find_box(s->state->x, s->n, dims, lower, lower + dims);
	draft_kernel(draft, dims, s->best.bandwidth, s->best.rows, lower, lower + dims);
	draft->part.outputs = dims;
	draft->arrays[RACE_KEY_MATRIX] = map_of_records(s);
	draft->arrays[RACE_KEY_OFFSET] = s->center;
}

/* With labels records are images.  Returns the expression that makes them. */
static char *
draft_of_images(const Scoring *s, RaceDraft *draft)
{
	int			outputs = s->best.map.outputs;
	double	   *lower = palloc(2 * outputs * sizeof(double));
	StringInfoData text;

	(void) find_box(images_of(s, &s->best.map), s->n, outputs, lower, lower + outputs);
	draft_kernel(draft, outputs, s->best.bandwidth, s->best.rows, lower, lower + outputs);
	initStringInfo(&text);
	appendStringInfoString(&text, "race_project(x");
	append_array(&text, map_of_records(s), outputs, s->dims);
	append_array(&text, s->center, 0, s->dims);
	appendStringInfoChar(&text, ')');
	return text.data;
}

Datum
race_suggest_final(PG_FUNCTION_ARGS)
{
	State	   *state = PG_ARGISNULL(0) ? NULL : (State *) PG_GETARG_POINTER(0);
	Scoring    *s = palloc0(sizeof(Scoring));
	const char *expression = "x";
	RaceDraft	draft;
	RaceResultRow row;

	if (state == NULL || state->n == 0)
		PG_RETURN_NULL();
	if (state->n < LEAST_EXAMPLES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("race_suggest needs at least %d rows", LEAST_EXAMPLES)));
	if (state->labelled && state->classes < 2)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("race_suggest needs at least two labels")));
	s->state = state;
	choose(s);
	if (state->labelled)
		expression = draft_of_images(s, &draft);
	else
		draft_with_map(s, &draft);
	race_row_start(&row, fcinfo);
	race_row_add(&row, PointerGetDatum(race_params_datum(race_params_assemble(&draft, 1, NULL))));
	race_row_add_if(&row, s->best.rows > 0, Int32GetDatum(s->best.rows));
	if (state->labelled)
		race_row_add_text(&row, "counts");
	else
		race_row_add_null(&row);
	race_row_add(&row, Float8GetDatum(s->best.score));
	race_row_add(&row, Float8GetDatum(s->best.without_noise));
	race_row_add_text(&row, expression);
	return race_row_datum(&row);
}
