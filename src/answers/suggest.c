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
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "../core/core.h"
#include "classify.h"
#include "maps.h"

/*
 * race_suggest: parameters that suit public rows.
 *
 * Public rows stand for the private records.  Some linear maps are learned from them; for each,
 * and for each of some bandwidths and powers, each tenth of the rows is asked about by the other
 * nine, with the exact kernel and with the error that a release is expected to have.  The map is
 * learned from the nine as well.  What predicts the left out labels best is suggested; without
 * labels, what gives the left out rows the highest density.
 *
 * With labels the features of a map are the columns, or their places among quantiles, or the log
 * odds of a logistic regression of both; they are whitened within classes, and all of them are
 * kept, or up to three directions in which the means of classes differ.  So what public rows
 * alone say, without any private record, is among what is suggested.  What a map gives in up to
 * three dimensions is counted in a grid, else in rows.
 */

PG_FUNCTION_INFO_V1(race_suggest_step);
PG_FUNCTION_INFO_V1(race_suggest_final);

#define MOST_DIMS		64
#define MOST_FEATURES	(2 * MOST_DIMS)
#define MOST_CLASSES	32
#define MOST_EXAMPLES	2000
#define LEAST_EXAMPLES	20
#define MOST_NUMBER		1e50	/* squares of it can be added up */

#define KNOTS			10		/* of a column: quantiles at normal scores from -2.25 to 2.25 */
#define FOLDS			10
#define FACTORS			11		/* bandwidths: from an eighth of the median distance on */
#define POWERS			3		/* 1, 4, 16 */
#define CHOICES			(FACTORS * POWERS)
#define LEAST_ROWS		8
#define MOST_ROWS		1024
#define BEYOND			0.1		/* of a range, by which a box is wider */

/*
 * The variance of a density f from R independent rows is at most f (1 - f) / R, if each class
 * were in one bucket.  A tenth of it is what was measured.
 */
#define SAMPLING		0.1

/* Rows with their labels; without labels there is one class. */
typedef struct Examples
{
	int			n;
	int			dims;
	int			classes;
	double	   *x;				/* [n][dims] */
	int		   *label;			/* [n] */
} Examples;

typedef struct State
{
	RaceArrayReader reader;
	bool		labelled;
	FmgrInfo	label_output;
	char	   *names[MOST_CLASSES];
	double		epsilon;
	double		delta;
	int64		records;
	uint64		seen;			/* rows, of which the examples are a sample */
	uint64		random;
	Examples	examples;
} State;

/* What features are made of, and what is kept of them */
typedef enum Source
{
	SOURCE_COLUMNS,
	SOURCE_PLACES,
	SOURCE_ODDS					/* and later ones: by each penalty */
} Source;

static const struct
{
	double		ridge;			/* penalty of the squares of weights */
	double		sparsity;		/* of the weights of a column together, times the root of n */
}			penalties[] = {{1, 0}, {10, 0}, {0, 0.2}};

#define SOURCES		(SOURCE_ODDS + (int) lengthof(penalties))

#define KEEP_ALL	0			/* otherwise the number of directions */
#define KEEP_SCALED	(-1)		/* all features, with a bandwidth each */

typedef struct Map
{
	Source		source;
	int			keep;
	int			outputs;
	double		m[MOST_DIMS * MOST_FEATURES];	/* [outputs][features] */
	double		log_volume;		/* log |det m|, without labels */
} Map;

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
	Map			map;
	double		bandwidth;
	int			power;
	int			rows;			/* 0 = a grid */
	double		loss;			/* what is minimized: minus the mean logarithm of a posterior or density */
	double		score;
	double		without_noise;	/* the score of the exact kernel */
} Suggestion;

typedef struct Scoring
{
	const State *state;
	Examples	features;		/* columns, then their places, all of mean 0 and variance 1 */
	double	   *knots;			/* [columns][KNOTS] */
	double	   *center;			/* of features, */
	double	   *scale;			/* and their deviations; infinite = constant */
	int		   *fold;			/* [n]: 0 to FOLDS - 1, alike in all classes */
	double		shares[MOST_CLASSES];
	RaceRadial *radial;			/* of the kernel with power 1, in bandwidths */
	Map		   *map;			/* which is tried, learned from all examples */
	double		unit;			/* the median distance of images */
	double		farthest;
	float	   *densities;		/* [CHOICES][classes][n], by the other folds */
	Suggestion *best;
} Scoring;

/* ------------------------------------------------------------- transition */

static State *
start(FunctionCallInfo fcinfo, MemoryContext context)
{
	State	   *state = MemoryContextAllocZero(context, sizeof(State));

	state->labelled = PG_NARGS() == 6;
	race_vector_prepare(&state->reader, race_argument_type(fcinfo->flinfo, 1), context);
	if (state->labelled)
	{
		Oid			function;
		bool		varlena;

		getTypeOutputInfo(race_argument_type(fcinfo->flinfo, 2), &function, &varlena);
		fmgr_info_cxt(function, &state->label_output, context);
	}
	state->examples.classes = state->labelled ? 0 : 1;
	state->examples.label = MemoryContextAllocZero(context, MOST_EXAMPLES * sizeof(int));
	return state;
}

/* Read epsilon, delta and records, the last arguments. */
static void
read_request(State *state, FunctionCallInfo fcinfo)
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

static void
read_example(State *state, Datum x, double *to, MemoryContext context)
{
	Examples   *e = &state->examples;
	RaceElements elements;
	int			i;

	race_array_open(&state->reader, x, &elements, false, false);
	race_check_length(elements.n, e->dims, false);
	if (elements.n > MOST_DIMS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("race_suggest takes vectors of up to %d dimensions", MOST_DIMS)));
	race_vector_convert(&state->reader, &elements, NULL, to, false);
	for (i = 0; i < (int) elements.n; i++)
		if (fabs(to[i]) > MOST_NUMBER)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("race_suggest takes numbers between %g and %g",
							-MOST_NUMBER, MOST_NUMBER)));
	if (e->x == NULL)
	{
		e->dims = elements.n;
		e->x = MemoryContextAlloc(context, MOST_EXAMPLES * e->dims * sizeof(double));
	}
}

/* The number of a label, which may be a new one */
static int
class_of(State *state, Datum label, MemoryContext context)
{
	char	   *name = OutputFunctionCall(&state->label_output, label);
	int			c;

	for (c = 0; c < state->examples.classes; c++)
		if (strcmp(name, state->names[c]) == 0)
			return c;
	if (c == MOST_CLASSES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("race_suggest takes up to %d labels", MOST_CLASSES)));
	state->names[c] = MemoryContextStrdup(context, name);
	state->examples.classes++;
	return c;
}

/*
 * Where to put the next row, or -1: a sample of all rows so far (Vitter 1985, algorithm R).  The
 * numbers are always the same (splitmix64).
 */
static int
place_of(State *state)
{
	uint64		z = state->random += UINT64CONST(0x9E3779B97F4A7C15);
	uint64		place;

	if (state->seen++ < MOST_EXAMPLES)
		return state->examples.n++;
	z = (z ^ (z >> 30)) * UINT64CONST(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64CONST(0x94D049BB133111EB);
	place = (z ^ (z >> 31)) % state->seen;
	return place < MOST_EXAMPLES ? (int) place : -1;
}

/* Transition of race_suggest(x, [label,] epsilon, delta, records) */
Datum
race_suggest_step(PG_FUNCTION_ARGS)
{
	State	   *state = PG_ARGISNULL(0) ? NULL : (State *) PG_GETARG_POINTER(0);
	MemoryContext context = race_aggregate_context(fcinfo, "race_suggest");
	double		x[MOST_DIMS];
	int			class = 0;
	int			place;

	if (state == NULL)
		state = start(fcinfo, context);
	if (PG_ARGISNULL(1) || (state->labelled && PG_ARGISNULL(2)))
		PG_RETURN_POINTER(state);
	read_request(state, fcinfo);
	read_example(state, PG_GETARG_DATUM(1), x, context);
	if (state->labelled)
		class = class_of(state, PG_GETARG_DATUM(2), context);
	place = place_of(state);
	if (place >= 0)
	{
		memcpy(state->examples.x + place * state->examples.dims, x,
			   state->examples.dims * sizeof(double));
		state->examples.label[place] = class;
	}
	PG_RETURN_POINTER(state);
}

/* --------------------------------------------------------------- features */

static int
compare_doubles(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

/* Six digits are enough, and the statement shows all of them. */
static double
rounded(double x)
{
	char		digits[32];

	snprintf(digits, sizeof(digits), "%.6g", x);
	return strtod(digits, NULL);
}

/* Quantiles of a column [n], which is sorted by it */
static void
find_knots(double *column, int n, double *knots)
{
	int			i;

	qsort(column, n, sizeof(double), compare_doubles);
	for (i = 0; i < KNOTS; i++)
	{
		double		share = 0.5 * erfc(-(i - (KNOTS - 1) / 2.0) / 2 * M_SQRT1_2);

		knots[i] = rounded(column[(int) (share * (n - 1) + 0.5)]);
	}
}

/* Give feature j mean 0 and variance 1; a constant one becomes 0. */
static void
standardize(Scoring *s, int j)
{
	Examples   *f = &s->features;
	double		mean = 0;
	double		square = 0;
	int			i;

	for (i = 0; i < f->n; i++)
		mean += f->x[i * f->dims + j] / f->n;
	for (i = 0; i < f->n; i++)
		square += pow(f->x[i * f->dims + j] - mean, 2) / f->n;
	s->center[j] = rounded(mean);
	/* what varies less is rounding */
	s->scale[j] = square > 1e-18 * mean * mean ? sqrt(square) : INFINITY;
	for (i = 0; i < f->n; i++)
		f->x[i * f->dims + j] = (f->x[i * f->dims + j] - s->center[j]) / s->scale[j];
}

static void
find_features(Scoring *s)
{
	const Examples *e = &s->state->examples;
	Examples   *f = &s->features;
	double	   *column = palloc(e->n * sizeof(double));
	int			d = e->dims;
	int			i;
	int			j;

	*f = *e;
	f->dims = 2 * d;
	f->x = palloc((Size) f->n * f->dims * sizeof(double));
	s->knots = palloc(d * KNOTS * sizeof(double));
	s->center = palloc(f->dims * sizeof(double));
	s->scale = palloc(f->dims * sizeof(double));
	for (j = 0; j < d; j++)
	{
		double	   *knots = s->knots + j * KNOTS;

		for (i = 0; i < e->n; i++)
			column[i] = e->x[i * d + j];
		find_knots(column, e->n, knots);
		for (i = 0; i < e->n; i++)
		{
			f->x[i * f->dims + j] = e->x[i * d + j];
			f->x[i * f->dims + d + j] = race_warp_number(knots, KNOTS, e->x[i * d + j]);
		}
	}
	for (j = 0; j < f->dims; j++)
		standardize(s, j);
	pfree(column);
}

/* Those that are not in a fold */
static Examples
others_of(const Scoring *s, int fold)
{
	const Examples *e = &s->features;
	Examples	others = *e;
	int			i;

	others.n = 0;
	others.x = palloc((Size) e->n * e->dims * sizeof(double));
	others.label = palloc(e->n * sizeof(int));
	for (i = 0; i < e->n; i++)
		if (s->fold[i] != fold)
		{
			memcpy(others.x + (Size) others.n * e->dims, e->x + (Size) i * e->dims,
				   e->dims * sizeof(double));
			others.label[others.n++] = e->label[i];
		}
	return others;
}

/* ---------------------------------------------------- logistic regression */

#define STEPS	200				/* at most; */
#define STILL	1e-5			/* fewer, if weights change by less in a step, as a part of their length */

/* A bound of the curvature of the loss, from the largest eigenvalue of x' x */
static double
curvature(const Examples *e)
{
	int			d = e->dims;
	double		v[MOST_FEATURES + 1];
	double		product[MOST_FEATURES + 1];
	double		length = 0;
	int			step;
	int			i;
	int			j;

	for (j = 0; j <= d; j++)
		v[j] = 1 / sqrt(d + 1);
	for (step = 0; step < 20; step++)
	{
		memset(product, 0, sizeof(product));
		for (i = 0; i < e->n; i++)
		{
			const double *x = e->x + (Size) i * d;
			double		along = v[d] + race_dot(x, v, d);

			for (j = 0; j < d; j++)
				product[j] += along * x[j];
			product[d] += along;
		}
		length = sqrt(race_dot(product, product, d + 1));
		for (j = 0; j <= d; j++)
			v[j] = product[j] / length;
	}
	return 0.5 * 1.1 * length;
}

/* The gradient of the loss at weights, which are [classes][dims + 1] */
static void
loss_gradient(const Examples *e, const double *weights, double ridge, double *gradient)
{
	int			d = e->dims;
	double		p[MOST_CLASSES];
	int			c;
	int			i;
	int			j;

	for (j = 0; j < e->classes * (d + 1); j++)
		gradient[j] = j % (d + 1) == d ? 0 : ridge * weights[j];
	for (i = 0; i < e->n; i++)
	{
		const double *x = e->x + (Size) i * d;
		double		most = -INFINITY;
		double		sum = 0;

		for (c = 0; c < e->classes; c++)
		{
			p[c] = race_dot(weights + c * (d + 1), x, d) + weights[c * (d + 1) + d];
			most = Max(most, p[c]);
		}
		for (c = 0; c < e->classes; c++)
			sum += p[c] = exp(p[c] - most);
		for (c = 0; c < e->classes; c++)
		{
			double	   *g = gradient + c * (d + 1);
			double		error = p[c] / sum - (c == e->label[i]);

			for (j = 0; j < d; j++)
				g[j] += error * x[j];
			g[d] += error;
		}
	}
}

/* Shorten the weights of each feature, of all classes together, by so much (group lasso). */
static void
shrink_features(double *weights, int classes, int d, double by)
{
	int			c;
	int			j;

	for (j = 0; j < d; j++)
	{
		double		sum = 0;

		for (c = 0; c < classes; c++)
			sum += weights[c * (d + 1) + j] * weights[c * (d + 1) + j];
		for (c = 0; c < classes; c++)
			weights[c * (d + 1) + j] *= sum > by * by ? 1 - by / sqrt(sum) : 0;
	}
}

/*
 * Weights [classes][dims + 1] of a multinomial logistic regression, by accelerated proximal
 * gradient descent (Nesterov 1983; Beck & Teboulle 2009)
 */
static double *
regress(const Examples *e, double ridge, double sparsity)
{
	int			size = e->classes * (e->dims + 1);
	double	   *weights = palloc0(4 * size * sizeof(double));
	double	   *ahead = weights + size;
	double	   *gradient = ahead + size;
	double	   *next = gradient + size;
	double		steepest = curvature(e) + ridge;
	double		t = 1;
	int			step;
	int			j;

	for (step = 0; step < STEPS; step++)
	{
		double		faster = (1 + sqrt(1 + 4 * t * t)) / 2;
		double		change = 0;
		double		length = 0;

		CHECK_FOR_INTERRUPTS();
		loss_gradient(e, ahead, ridge, gradient);
		for (j = 0; j < size; j++)
			next[j] = ahead[j] - gradient[j] / steepest;
		shrink_features(next, e->classes, e->dims, sparsity / steepest);
		for (j = 0; j < size; j++)
		{
			change += (next[j] - weights[j]) * (next[j] - weights[j]);
			length += next[j] * next[j];
			ahead[j] = next[j] + (t - 1) / faster * (next[j] - weights[j]);
			weights[j] = next[j];
		}
		t = faster;
		if (change < STILL * STILL * length)
			break;
	}
	return weights;
}

/* ------------------------------------------------------------------- maps */

/* A map of a source from features, before it is whitened: columns, places, or log odds */
static void
learn_source(const Examples *e, Source source, Map *map)
{
	int			f = e->dims;
	double	   *weights;
	int			i;
	int			j;

	memset(map->m, 0, sizeof(map->m));
	map->source = source;
	map->outputs = source < SOURCE_ODDS ? f / 2 : e->classes - 1;
	if (source < SOURCE_ODDS)
	{
		for (i = 0; i < map->outputs; i++)
			map->m[i * f + i + (source == SOURCE_PLACES ? f / 2 : 0)] = 1;
		return;
	}
	weights = regress(e, penalties[source - SOURCE_ODDS].ridge,
					  penalties[source - SOURCE_ODDS].sparsity * sqrt(e->n));
	for (i = 0; i < map->outputs; i++)
		for (j = 0; j < f; j++)
			map->m[i * f + j] = weights[(i + 1) * (f + 1) + j] - weights[j];
	pfree(weights);
}

static void
apply(const Map *map, const double *x, int features, double *z)
{
	int			i;

	for (i = 0; i < map->outputs; i++)
		z[i] = race_dot(map->m + i * features, x, features);
}

static double *
apply_all(const Map *map, const Examples *e)
{
	double	   *z = palloc((Size) e->n * map->outputs * sizeof(double));
	int			i;

	for (i = 0; i < e->n; i++)
		apply(map, e->x + (Size) i * e->dims, e->dims, z + (Size) i * map->outputs);
	return z;
}

/* The scatter of images within classes */
static RaceScatter *
scatter_of(const Map *map, const Examples *e)
{
	RaceScatter *scatter = race_scatter_create(map->outputs, CurrentMemoryContext);
	double	   *z = apply_all(map, e);
	int			i;

	for (i = 0; i < e->n; i++)
		race_scatter_add(scatter, e->label[i], 1, z + (Size) i * map->outputs);
	pfree(z);
	return scatter;
}

/*
 * Whiten images within classes, and keep as many directions of them as said.  A constant one
 * stays.  False if there is no such map.
 */
static bool
whiten(const RaceScatter *scatter, int keep, RaceWhitening *white, double *log_volume)
{
	RaceColumns *columns = palloc(sizeof(RaceColumns));
	uint32		n = scatter->dims;
	uint32		i;

	columns->n = n;
	for (i = 0; i < n; i++)
	{
		double		deviation = race_scatter_deviation(scatter, i);

		columns->deviation[i] = deviation > 1e-9 ? deviation : 1;
		columns->keep[i] = true;
		columns->kept[i] = i;
	}
	/* a ridge: features that are sums of others do no harm */
	if (!race_whiten_columns(scatter, columns, 1e-6, white))
		return false;
	if (keep == KEEP_SCALED)
	{
		memset(white->matrix, 0, n * n * sizeof(double));
		for (i = 0; i < n; i++)
			white->matrix[i * n + i] = 1 / columns->deviation[i];
	}
	for (*log_volume = 0, i = 0; i < n; i++)
		*log_volume += log(white->matrix[i * n + i]);
	if (keep > 0)
	{
		double	   *directions = palloc((Size) MOST_CLASSES * n * sizeof(double));
		int			found = race_discriminant_directions(scatter, white, directions);

		if (found < keep)
			return false;
		race_whitening_keep(white, directions, keep);
	}
	return true;
}

/* Learn the rest of a map that has learned its source. */
static bool
learn_rest(const Examples *e, const Map *source, int keep, Map *map)
{
	RaceScatter *scatter;
	RaceWhitening white;
	int			i;
	int			j;
	int			k;

	scatter = scatter_of(source, e);
	if (race_scatter_freedom(scatter) < 1 || !whiten(scatter, keep, &white, &map->log_volume))
		return false;
	memset(map->m, 0, sizeof(map->m));
	map->source = source->source;
	map->keep = keep;
	map->outputs = white.outputs;
	for (i = 0; i < map->outputs; i++)
		for (k = 0; k < source->outputs; k++)
			for (j = 0; j < e->dims; j++)
				map->m[i * e->dims + j] += white.matrix[i * source->outputs + k] *
					source->m[k * e->dims + j];
	return true;
}

/* A box a little beyond images [n][dims].  False if they do not vary in some dimension. */
static bool
find_box(const double *z, int n, int dims, double *lower, double *upper)
{
	double	   *column = palloc(n * sizeof(double));
	bool		varies = true;
	int			i;
	int			j;

	for (j = 0; j < dims; j++)
	{
		double		beyond;

		for (i = 0; i < n; i++)
			column[i] = z[(Size) i * dims + j];
		qsort(column, n, sizeof(double), compare_doubles);
		beyond = BEYOND * (column[n - 1] - column[0]);
		lower[j] = rounded(column[0] - beyond);
		upper[j] = rounded(column[n - 1] + beyond);
		varies &= lower[j] < upper[j];
	}
	pfree(column);
	return varies;
}

/* -------------------------------------------------------------- densities */

static double
distance(const double *a, const double *b, int n)
{
	double		sum = 0;
	int			i;

	for (i = 0; i < n; i++)
		sum += (a[i] - b[i]) * (a[i] - b[i]);
	return sqrt(sum);
}

static double
bandwidth_of(const Scoring *s, int choice)
{
	return s->unit / 8 * pow(2, choice / POWERS / 2.0);
}

static int
power_of(int choice)
{
	return 1 << 2 * (choice % POWERS);
}

/* The median and the largest distance, of pairs that are far from each other in the list */
static void
measure_distances(Scoring *s, const double *z)
{
	int			n = s->features.n;
	int			outputs = s->map->outputs;
	double	   *apart = palloc((Size) n * 16 * sizeof(double));
	int			i;

	for (i = 0; i < 16 * n; i++)
		apart[i] = distance(z + (Size) (i / 16) * outputs,
							z + (Size) ((i / 16 + 1 + i % 16 * (n - 1) / 16) % n) * outputs, outputs);
	qsort(apart, 16 * n, sizeof(double), compare_doubles);
	s->farthest = apart[16 * n - 1];
	s->unit = apart[8 * n] > 0 ? apart[8 * n] : s->farthest;
	pfree(apart);
}

/* The densities of all classes at example i, whose image is z, by the images of others */
static void
ask_others(Scoring *s, const Examples *others, const double *images, const double *z,
		   int outputs, int i)
{
	const Examples *e = &s->features;
	float		sums[MOST_CLASSES][CHOICES] = {{0}};
	int			count[MOST_CLASSES] = {0};
	int			j;
	int			a;

	for (j = 0; j < others->n; j++)
	{
		double		apart = distance(images + (Size) j * outputs, z, outputs);
		float	   *sum = sums[others->label[j]];

		count[others->label[j]]++;
		for (a = 0; a < FACTORS; a++)
		{
			float		k = race_radial_value(s->radial, apart / bandwidth_of(s, a * POWERS));
			float		k4 = k * k * k * k;

			*sum++ += k;
			*sum++ += k4;
			*sum++ += k4 * k4 * k4 * k4;
		}
	}
	for (a = 0; a < CHOICES; a++)
		for (j = 0; j < e->classes; j++)
			s->densities[((Size) a * e->classes + j) * e->n + i] = sums[j][a] / Max(count[j], 1);
}

/* Leave out each fold in turn.  False if there is no such map. */
static bool
find_densities(Scoring *s, const Map *sources, int keep)
{
	const Examples *e = &s->features;
	Map		   *map = palloc(sizeof(Map));
	bool		found = true;
	int			which;
	int			i;

	for (which = 0; which < FOLDS && found; which++)
	{
		Examples	others = others_of(s, which);
		double		z[MOST_DIMS];
		double	   *images;

		found = learn_rest(&others, &sources[which], keep, map);
		images = found ? apply_all(map, &others) : NULL;
		for (i = 0; i < e->n && found; i++)
			if (s->fold[i] == which)
			{
				CHECK_FOR_INTERRUPTS();
				apply(map, e->x + (Size) i * e->dims, e->dims, z);
				ask_others(s, &others, images, z, map->outputs, i);
			}
	}
	return found;
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
	const Examples *e = &s->features;
	double		typical[MOST_CLASSES] = {0};
	double		flatness = 0;
	int			i;

	for (i = 0; i < e->n; i++)
		typical[e->label[i]] += densities[e->label[i] * e->n + i] / (s->shares[e->label[i]] * e->n);
	for (i = 0; i < e->classes; i++)
		flatness += s->shares[i] * race_flatness(typical[i], s->map->outputs);
	return 1 / Max(1 - flatness, 1e-3);
}

/*
 * Minus the mean logarithm of the posterior of the right class, and the share of examples that
 * are classified rightly.  A density is not known better than its deviation.
 */
static double
posterior_loss(const Scoring *s, const float *densities, const Errors *errors, double *right)
{
	const Examples *e = &s->features;
	double		power = sharpness(s, densities);
	double		sum = 0;
	int			i;
	int			c;

	CHECK_FOR_INTERRUPTS();
	*right = 0;
	for (i = 0; i < e->n; i++)
	{
		int			y = e->label[i];
		double		value[MOST_CLASSES];
		double		deviation[MOST_CLASSES];
		double		all = 0;
		double		noise = 0;
		double		own;
		int			rival = y == 0 ? 1 : 0;

		for (c = 0; c < e->classes; c++)
		{
			double		f = densities[c * e->n + i];
			double		error = sqrt(variance_of(s, f, c, errors)) + 1e-12;

			value[c] = power * log(f + error) + log(s->shares[c]);
			deviation[c] = power * error / (f + error);
			if (c != y && value[c] > value[rival])
				rival = c;
		}
		for (own = value[y], c = 0; c < e->classes; c++)
			all += value[c] = exp(Min(value[c] - own, 500));
		for (c = 0; c < e->classes; c++)
			noise += value[c] / all * (1 - value[c] / all) * deviation[c] * deviation[c];
		sum += log(all) + noise / 2;
		*right += 0.5 * erfc(log(value[rival]) / hypot(deviation[y], deviation[rival]) * M_SQRT1_2) / e->n;
	}
	return sum / e->n;
}

/*
 * The logarithm of the integral of the kernel over a ball as large as the examples: kernels of
 * small powers have none over all space.  With r = farthest e^-t it is the surface of the
 * unit ball times the integral of k r^outputs dt.
 */
static double
log_volume(const Scoring *s, double bandwidth, int power)
{
	int			outputs = s->map->outputs;
	double		step = 0.005;
	double		sum = 0;
	double		t;

	for (t = step / 2; t < 30; t += step)
		sum += step * pow(race_radial_value(s->radial, s->farthest * exp(-t) / bandwidth),
						  power) * exp(-t * outputs);
	return log(2) + outputs / 2.0 * log(RACE_PI) - lgamma(outputs / 2.0) +
		outputs * log(s->farthest) + log(Max(sum, 1e-300));
}

/*
 * Minus the mean logarithm of the density, of which noise of variance v takes v / 2 f^2 where it
 * is small; where it is large, f is known no better than its deviation.
 */
static double
density_loss(const Scoring *s, int choice, const Errors *errors)
{
	const float *densities = s->densities + (Size) choice * s->features.n;
	double		sum = 0;
	int			i;

	CHECK_FOR_INTERRUPTS();
	for (i = 0; i < s->features.n; i++)
	{
		double		f = Max(densities[i], 1e-30);

		sum += log(f) - 0.5 * log1p(variance_of(s, f, 0, errors) / (f * f));
	}
	for (i = 0; i < s->features.dims / 2; i++)
		sum -= isfinite(s->scale[i]) ? s->features.n * log(s->scale[i]) : 0;
	return log_volume(s, bandwidth_of(s, choice), power_of(choice)) - s->map->log_volume -
		sum / s->features.n;
}

static double
loss_of(const Scoring *s, int choice, const Errors *errors, double *score)
{
	double		loss;

	if (s->state->labelled)
		return posterior_loss(s, s->densities + (Size) choice * s->features.classes * s->features.n,
							  errors, score);
	loss = density_loss(s, choice, errors);
	*score = -loss;
	return loss;
}

/* --------------------------------------------------------------- choosing */

/* Keep a choice if it is the best.  0 rows are a grid. */
static void
consider(Scoring *s, int choice, int rows, const Errors *errors)
{
	const Errors exact = {0};
	double		score;
	double		loss = loss_of(s, choice, errors, &score);

	if (!(loss < s->best->loss))
		return;
	s->best->map = *s->map;
	s->best->bandwidth = rounded(bandwidth_of(s, choice));
	s->best->power = power_of(choice);
	s->best->rows = rows;
	s->best->loss = loss;
	s->best->score = score;
	(void) loss_of(s, choice, &exact, &s->best->without_noise);
}

static void
draft_kernel(RaceDraft *draft, int dims, double bandwidth, int power, const double *lower,
			 const double *upper)
{
	race_draft_default(draft);
	draft->part.kernel = RACE_KERNEL_L2;
	draft->part.dims = dims;
	draft->part.power = power;
	draft->part.bandwidth = bandwidth;
	draft->arrays[RACE_KEY_LOWER] = lower;
	draft->arrays[RACE_KEY_UPPER] = upper;
}

/* The errors of a release with a number of rows, 0 of a grid */
static Errors
expected_errors(const Scoring *s, RaceDraft *draft, int rows)
{
	RaceParams *params;
	RaceRequest request;
	RacePlan	plan;
	Errors		errors = {0};

	if (rows == 0)
		draft->part.sequence = RACE_SEQUENCE_GRID;
	if (rows > 0)
		draft->part.rows = rows;
	params = race_params_assemble(draft, 1, NULL);
	request = race_make_request(params, s->state->epsilon, s->state->delta, rows == 0 ? NULL : &rows, 1,
								"add_remove", false);
	if (rows == 0)
	{
		race_check_usual_plan(&request, params,
							  race_usual_mass(Max(s->state->records / s->features.classes, 1)), &plan);
		errors.bias = race_grid_bias(params, plan.kept.grid);
	}
	else
	{
		race_check_plan(&request, params, race_most_kept(&request, params), &plan);
		errors.sampling = SAMPLING / rows;
	}
	errors.noise = race_expected_noise(params, &plan);
	errors.count = s->state->labelled ? plan.noise.count_variance : 0;
	pfree(params);
	return errors;
}

/* Try all bandwidths, powers and rows of a map. */
static void
try_map(Scoring *s, const Map *sources, int keep)
{
	double		lower[MOST_DIMS];
	double		upper[MOST_DIMS];
	bool		varies;
	double	   *z;
	int			choice;
	int			rows;

	if (!learn_rest(&s->features, &sources[FOLDS], keep, s->map))
		return;
	z = apply_all(s->map, &s->features);
	measure_distances(s, z);
	varies = find_box(z, s->features.n, s->map->outputs, lower, upper);
	if (!(s->unit > 0) || !find_densities(s, sources, keep))
		return;
	for (choice = 0; choice < CHOICES; choice++)
	{
		RaceDraft	draft;
		Errors		errors;

		draft_kernel(&draft, s->map->outputs, bandwidth_of(s, choice), power_of(choice), lower, upper);
		if (s->state->labelled && varies && s->map->outputs <= RACE_GRID_DIMS)
		{
			errors = expected_errors(s, &draft, 0);
			consider(s, choice, 0, &errors);
			continue;
		}
		for (rows = LEAST_ROWS; rows <= MOST_ROWS; rows *= 2)
		{
			draft_kernel(&draft, 1, 1, 1, NULL, NULL);
			errors = expected_errors(s, &draft, rows);
			consider(s, choice, rows, &errors);
		}
	}
}

/* Try all that can be kept of a source. */
static void
try_source(Scoring *s, Source source)
{
	Map		   *sources = palloc((FOLDS + 1) * sizeof(Map));
	int			keep;
	int			i;

	for (i = 0; i <= FOLDS; i++)
	{
		/* no example has the last number, which leaves all of them */
		Examples	others = others_of(s, i);

		learn_source(&others, source, &sources[i]);
	}
	for (keep = s->state->labelled ? KEEP_ALL : KEEP_SCALED;
		 keep <= (s->state->labelled ? Min(s->features.classes - 1, RACE_GRID_DIMS) : KEEP_ALL); keep++)
	{
		MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "race_suggest, map",
												   ALLOCSET_DEFAULT_SIZES);
		MemoryContext old = MemoryContextSwitchTo(work);

		try_map(s, sources, keep);
		MemoryContextSwitchTo(old);
		MemoryContextDelete(work);
	}
	pfree(sources);
}

static void
start_scoring(Scoring *s, const State *state)
{
	const Examples *e = &state->examples;
	int			next[MOST_CLASSES] = {0};
	RaceDraft	draft;
	RaceParams *params;
	int			i;

	memset(s, 0, sizeof(Scoring));
	s->state = state;
	find_features(s);
	s->fold = palloc(e->n * sizeof(int));
	for (i = 0; i < e->n; i++)
	{
		s->fold[i] = next[e->label[i]]++ % FOLDS;
		s->shares[e->label[i]] += 1.0 / e->n;
	}
	draft_kernel(&draft, 1, 1, 1, NULL, NULL);
	params = race_params_assemble(&draft, 1, NULL);
	s->radial = palloc(sizeof(RaceRadial));
	race_radial_init(s->radial, params);
	s->map = palloc(sizeof(Map));
	s->densities = palloc_extended((Size) CHOICES * e->classes * e->n * sizeof(float),
								   MCXT_ALLOC_HUGE);
	s->best = palloc0(sizeof(Suggestion));
	s->best->loss = INFINITY;
}

/* ------------------------------------------------------------- the result */

static void
append_numbers(StringInfo text, const double *x, int n)
{
	int			i;

	for (i = 0; i < n; i++)
		appendStringInfo(text, "%s%.6g", i == 0 ? "{" : ",", x[i]);
	appendStringInfoChar(text, '}');
}

/* The rows of a matrix, as an array of arrays in quotes */
static void
append_matrix(StringInfo text, const double *matrix, int rows, int columns)
{
	int			i;

	for (i = 0; i < rows; i++)
	{
		appendStringInfoString(text, i == 0 ? "'{" : ",");
		append_numbers(text, matrix + (Size) i * columns, columns);
	}
	appendStringInfoString(text, "}'");
}

static char *
statement_of(const RaceDraft *draft)
{
	const RaceParams *part = &draft->part;
	static const struct
	{
		int			key;
		const char *name;
	}			vectors[] = {
		{RACE_KEY_BANDWIDTHS, "bandwidths"}, {RACE_KEY_LOWER, "lower"}, {RACE_KEY_UPPER, "upper"}
	};
	StringInfoData text;
	int			i;

	initStringInfo(&text);
	appendStringInfo(&text, "race_params('l2', %u, bandwidth => %.6g, power => %u", part->dims,
					 part->bandwidth, part->power);
	if (part->sequence == RACE_SEQUENCE_GRID)
		appendStringInfoString(&text, ", sequence => 'grid'");
	else
		appendStringInfo(&text, ", rows => %u", part->rows);
	for (i = 0; i < (int) lengthof(vectors); i++)
		if (draft->arrays[vectors[i].key] != NULL)
		{
			appendStringInfo(&text, ", %s => '", vectors[i].name);
			append_numbers(&text, draft->arrays[vectors[i].key], part->dims);
			appendStringInfoChar(&text, '\'');
		}
	if (draft->arrays[RACE_KEY_MATRIX] != NULL)
	{
		appendStringInfoString(&text, ", transform => race_transform(");
		append_matrix(&text, draft->arrays[RACE_KEY_MATRIX], part->outputs, part->dims);
		appendStringInfoString(&text, ", '");
		append_numbers(&text, draft->arrays[RACE_KEY_OFFSET], part->dims);
		appendStringInfoString(&text, "')");
	}
	appendStringInfoChar(&text, ')');
	return text.data;
}

/* The matrix of a map of records, whose numbers are rounded, of the first columns */
static double *
matrix_of(const Scoring *s, const Map *map, int columns)
{
	double	   *matrix = palloc((Size) map->outputs * columns * sizeof(double));
	int			i;
	int			j;

	for (i = 0; i < map->outputs; i++)
		for (j = 0; j < columns; j++)
			matrix[i * columns + j] = rounded(map->m[i * s->features.dims + j] / s->scale[j]);
	return matrix;
}

/* Without labels: the parameters map the records themselves */
static void
draft_with_map(const Scoring *s, RaceDraft *draft)
{
	const Suggestion *best = s->best;
	const Examples *e = &s->state->examples;
	double	   *lower = palloc(2 * e->dims * sizeof(double));
	double	   *matrix = matrix_of(s, &best->map, e->dims);
	int			i;

	(void) find_box(e->x, e->n, e->dims, lower, lower + e->dims);
	draft_kernel(draft, e->dims, best->bandwidth, best->power, lower, lower + e->dims);
	if (best->map.keep == KEEP_ALL)
	{
		draft->part.outputs = best->map.outputs;
		draft->arrays[RACE_KEY_MATRIX] = matrix;
		draft->arrays[RACE_KEY_OFFSET] = s->center;
		return;
	}
	for (i = 0; i < e->dims; i++)
		matrix[i] = matrix[i * e->dims + i] > 0 ? rounded(1 / matrix[i * e->dims + i]) : 1;
	draft->arrays[RACE_KEY_BANDWIDTHS] = matrix;
}

/* With labels: the records are images.  Returns the expression that makes them. */
static char *
draft_of_images(const Scoring *s, RaceDraft *draft)
{
	const Suggestion *best = s->best;
	const Examples *e = &s->state->examples;
	int			outputs = best->map.outputs;
	int			columns = best->map.source == SOURCE_COLUMNS ? e->dims : 2 * e->dims;
	double	   *matrix = matrix_of(s, &best->map, columns);
	double	   *z = apply_all(&best->map, &s->features);
	double	   *lower = palloc(2 * outputs * sizeof(double));
	StringInfoData text;

	(void) find_box(z, e->n, outputs, lower, lower + outputs);
	draft_kernel(draft, outputs, best->bandwidth, best->power, lower, lower + outputs);
	if (best->rows == 0)
		draft->part.sequence = RACE_SEQUENCE_GRID;
	initStringInfo(&text);
	if (columns == e->dims)
		appendStringInfoString(&text, "race_project(x");
	else
	{
		appendStringInfoString(&text, "race_project(array_cat(x, race_warp(x, ");
		append_matrix(&text, s->knots, e->dims, KNOTS);
		appendStringInfoString(&text, "))");
	}
	appendStringInfoString(&text, ", ");
	append_matrix(&text, matrix, outputs, columns);
	appendStringInfoString(&text, ", '");
	append_numbers(&text, s->center, columns);
	appendStringInfoString(&text, "')");
	return text.data;
}

static Datum
suggest(const State *state, FunctionCallInfo fcinfo)
{
	const char *expression = "x";
	Scoring		s;
	RaceDraft	draft;
	RaceResultRow row;
	int			source;

	start_scoring(&s, state);
	for (source = 0; source < (state->labelled ? SOURCES : 1); source++)
		try_source(&s, source);
	if (!isfinite(s.best->loss))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the rows have nothing that parameters could follow"),
				 errdetail("All vectors are alike.")));
	if (state->labelled)
		expression = draft_of_images(&s, &draft);
	else
		draft_with_map(&s, &draft);
	if (s.best->rows > 0)
		draft.part.rows = s.best->rows;

	race_row_start(&row, fcinfo);
	race_row_add(&row, PointerGetDatum(race_params_datum(race_params_assemble(&draft, 1, NULL))));
	race_row_add_if(&row, s.best->rows > 0, Int32GetDatum(s.best->rows));
	if (state->labelled)
		race_row_add_text(&row, "counts");
	else
		race_row_add_null(&row);
	race_row_add(&row, Float8GetDatum(s.best->score));
	race_row_add(&row, Float8GetDatum(s.best->without_noise));
	race_row_add_text(&row, statement_of(&draft));
	race_row_add_text(&row, expression);
	return race_row_datum(&row);
}

Datum
race_suggest_final(PG_FUNCTION_ARGS)
{
	State	   *state = PG_ARGISNULL(0) ? NULL : (State *) PG_GETARG_POINTER(0);

	if (state == NULL || state->examples.n == 0)
		PG_RETURN_NULL();
	if (state->examples.n < LEAST_EXAMPLES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("race_suggest needs at least %d rows", LEAST_EXAMPLES)));
	if (state->labelled && state->examples.classes < 2)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("race_suggest needs at least two labels")));
	PG_RETURN_DATUM(suggest(state, fcinfo));
}
