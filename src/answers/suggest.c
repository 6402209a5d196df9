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
 * A map is one of the columns, or the log odds of a logistic regression of columns and of their
 * places among quantiles: so what the public rows say by themselves is among what is suggested.
 * Its images are white within classes; or only directions are kept in which the means of classes
 * differ.  Images in up to 3 dimensions are counted in a grid, others in rows.
 */

PG_FUNCTION_INFO_V1(race_suggest_step);
PG_FUNCTION_INFO_V1(race_suggest_final);

#define MOST_DIMS		64
#define MOST_CLASSES	32
#define MOST_EXAMPLES	2000
#define LEAST_EXAMPLES	20
#define MOST_NUMBER		1e50	/* squares of it can be added up */

#define KNOTS			10		/* of a column: quantiles at normal scores from -2.25 to 2.25 */
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

/*
 * Logistic regressions by their penalties: of squares of weights, and of weights of a feature
 * together, times the root of n
 */
static const struct
{
	double		ridge;
	double		sparsity;
}			penalties[] = {{1, 0}, {10, 0}, {0, 0.2}};

#define SOURCES		(1 + (int) lengthof(penalties))	/* source 0: the columns */

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

/* Features are columns, then their places, all of mean 0 and variance 1. */
typedef struct Scoring
{
	const State *state;
	MemoryContext context;		/* of what stays */
	int			n;
	int			features;
	int			classes;
	double	   *x;				/* [n][features] */
	double	   *knots;			/* [dims][KNOTS] */
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

/* Read epsilon, delta and records, the last arguments; those of the last row count. */
static void
read_request(State *state, FunctionCallInfo fcinfo)
{
	int			first = PG_NARGS() - 3;

	if (PG_ARGISNULL(first) || PG_ARGISNULL(first + 1) || PG_ARGISNULL(first + 2))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("epsilon, delta and records must not be NULL")));
	state->epsilon = PG_GETARG_FLOAT8(first);
	state->delta = PG_GETARG_FLOAT8(first + 1);
	state->records = PG_GETARG_INT64(first + 2);
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
	uint32		i;

	if (dims > MOST_DIMS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("race_suggest takes vectors of up to %d dimensions", MOST_DIMS)));
	for (i = 0; i < dims; i++)
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

/* Transition of race_suggest(x, [label,] epsilon, delta, records).  Rows after so many do not count. */
Datum
race_suggest_step(PG_FUNCTION_ARGS)
{
	State	   *state = PG_ARGISNULL(0) ? NULL : (State *) PG_GETARG_POINTER(0);
	MemoryContext context = race_aggregate_context(fcinfo, "race_suggest");
	const double *x;
	uint32		dims;
	uint64		key;

	if (state == NULL)
		state = MemoryContextAllocZero(context, sizeof(State));
	state->labelled = PG_NARGS() == 6;
	x = race_scatter_read(fcinfo, 1, state->labelled ? 2 : 0, state->dims, &dims, &key);
	if (x != NULL)
		read_request(state, fcinfo);
	if (x != NULL && state->n < MOST_EXAMPLES)
		add_example(state, x, dims, key, context);
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

/* Six digits are enough, and all of them are shown. */
static double
rounded(double x)
{
	char		digits[32];

	snprintf(digits, sizeof(digits), "%.6g", x);
	return strtod(digits, NULL);
}

/* Make a feature of a column [n]: what varies less is rounding. */
static void
add_feature(Scoring *s, int j, const double *column)
{
	double		mean = 0;
	double		square = 0;
	int			i;

	for (i = 0; i < s->n; i++)
		mean += column[i] / s->n;
	for (i = 0; i < s->n; i++)
		square += pow(column[i] - mean, 2) / s->n;
	s->center[j] = rounded(mean);
	s->scale[j] = square > 1e-18 * mean * mean ? sqrt(square) : INFINITY;
	for (i = 0; i < s->n; i++)
		s->x[i * s->features + j] = (column[i] - s->center[j]) / s->scale[j];
}

static void
find_features(Scoring *s)
{
	const State *state = s->state;
	double	   *column = palloc(2 * s->n * sizeof(double));
	double	   *sorted = column + s->n;
	int			i;
	int			j;

	s->x = palloc((Size) s->n * s->features * sizeof(double));
	s->knots = palloc(state->dims * KNOTS * sizeof(double));
	s->center = palloc(2 * s->features * sizeof(double));
	s->scale = s->center + s->features;
	for (j = 0; j < state->dims; j++)
	{
		double	   *knots = s->knots + j * KNOTS;

		for (i = 0; i < s->n; i++)
			column[i] = sorted[i] = state->x[i * state->dims + j];
		add_feature(s, j, column);
		qsort(sorted, s->n, sizeof(double), compare_doubles);
		for (i = 0; i < KNOTS; i++)
		{
			double		share = 0.5 * erfc(-(i - (KNOTS - 1) / 2.0) / 2 * M_SQRT1_2);

			knots[i] = rounded(sorted[(int) (share * (s->n - 1) + 0.5)]);
		}
		for (i = 0; i < s->n; i++)
			column[i] = race_place_among(knots, KNOTS, column[i]);
		add_feature(s, state->dims + j, column);
	}
	pfree(column);
}

/* ---------------------------------------------------- logistic regression */

#define STEPS	200				/* at most; */
#define STILL	1e-5			/* fewer, if weights change by less in a step, as a part of their length */

/* Half of the largest eigenvalue of x' x: no direction of the loss is more curved. */
static double
curvature(const Scoring *s)
{
	int			d = s->features;
	double		v[2 * MOST_DIMS];
	double		product[2 * MOST_DIMS];
	double		length = 1;
	int			step;
	int			i;
	int			j;

	for (j = 0; j < d; j++)
		v[j] = 1 + j % 3;		/* no special direction */
	for (step = 0; step < 20; step++)
	{
		memset(product, 0, sizeof(product));
		for (i = 0; i < s->n; i++)
		{
			double		along = race_dot(s->x + i * d, v, d);

			for (j = 0; j < d; j++)
				product[j] += along * s->x[i * d + j];
		}
		length = sqrt(race_dot(product, product, d));
		for (j = 0; j < d; j++)
			v[j] = length > 0 ? product[j] / length : 0;
	}
	return 0.5 * 1.1 * Max(length, s->n);
}

/* Subtract a step along the gradient from weights, [classes][features + 1], at `at`. */
static void
descend(const Scoring *s, int without, const double *at, double step, double *weights)
{
	int			d = s->features;
	double		p[MOST_CLASSES];
	int			c;
	int			i;
	int			j;

	for (i = 0; i < s->n; i++)
	{
		const double *x = s->x + i * d;
		double		most = -INFINITY;
		double		sum = 0;

		if (s->fold[i] == without)
			continue;
		for (c = 0; c < s->classes; c++)
		{
			p[c] = race_dot(at + c * (d + 1), x, d) + at[c * (d + 1) + d];
			most = Max(most, p[c]);
		}
		for (c = 0; c < s->classes; c++)
			sum += p[c] = exp(p[c] - most);
		for (c = 0; c < s->classes; c++)
		{
			double		by = step * (p[c] / sum - (c == s->state->label[i]));

			for (j = 0; j < d; j++)
				weights[c * (d + 1) + j] -= by * x[j];
			weights[c * (d + 1) + d] -= by;
		}
	}
}

/* Shorten the weights of each feature, of all classes together: by a factor, then by so much. */
static void
shrink(double *weights, int classes, int d, double factor, double by)
{
	int			c;
	int			j;

	for (j = 0; j < d; j++)
	{
		double		sum = 0;

		for (c = 0; c < classes; c++)
			sum += pow(weights[c * (d + 1) + j] *= factor, 2);
		for (c = 0; c < classes; c++)
			weights[c * (d + 1) + j] *= sum > by * by ? 1 - by / sqrt(sum) : 0;
	}
}

/*
 * Weights [classes][features + 1] of a multinomial logistic regression, by accelerated proximal
 * gradient descent (Nesterov 1983; Beck & Teboulle 2009)
 */
static double *
regress(const Scoring *s, int without, double ridge, double sparsity)
{
	int			size = s->classes * (s->features + 1);
	double	   *weights = palloc0(3 * size * sizeof(double));
	double	   *ahead = weights + size;
	double	   *next = ahead + size;
	double		steepest = curvature(s);
	double		t = 1;
	int			step;
	int			j;

	for (step = 0; step < STEPS; step++)
	{
		double		faster = (1 + sqrt(1 + 4 * t * t)) / 2;
		double		change = 0;

		CHECK_FOR_INTERRUPTS();
		memcpy(next, ahead, size * sizeof(double));
		descend(s, without, ahead, 1 / steepest, next);
		shrink(next, s->classes, s->features, steepest / (steepest + ridge), sparsity / steepest);
		for (j = 0; j < size; j++)
		{
			change += (next[j] - weights[j]) * (next[j] - weights[j]);
			ahead[j] = next[j] + (t - 1) / faster * (next[j] - weights[j]);
			weights[j] = next[j];
		}
		t = faster;
		if (change < STILL * STILL * race_dot(weights, weights, size))
			break;
	}
	return weights;
}

/* ------------------------------------------------------------------- maps */

/* What a source makes of features: the columns, or log odds of all classes but the first */
static RaceWhitening
learn_source(const Scoring *s, int without, int source)
{
	uint32		f = s->features;
	uint32		outputs = source == 0 ? f / 2 : (uint32) s->classes - 1;
	RaceWhitening map = {f, outputs, palloc0((Size) outputs * f * sizeof(double))};
	double	   *weights;
	uint32		i;
	uint32		j;

	for (i = 0; i < outputs && source == 0; i++)
		map.matrix[i * f + i] = 1;
	if (source == 0)
		return map;
	weights = regress(s, without, penalties[source - 1].ridge,
					  penalties[source - 1].sparsity * sqrt(s->n));
	for (i = 0; i < outputs; i++)
		for (j = 0; j < f; j++)
			map.matrix[i * f + j] = weights[(i + 1) * (f + 1) + j] - weights[j];
	return map;
}

static double *
images_of(const Scoring *s, const RaceWhitening *map)
{
	double	   *z = palloc((Size) s->n * map->outputs * sizeof(double));
	int			i;

	for (i = 0; i < s->n; i++)
		race_whitening_apply(map, s->x + i * s->features, z + (Size) i * map->outputs);
	return z;
}

/*
 * Whiten what a source gives within classes, and keep so many directions, or all with 0.  False if
 * there is no such map.
 */
static bool
learn_map(Scoring *s, int without, const RaceWhitening *source, uint32 directions,
		  RaceWhitening *map)
{
	uint32		n = source->outputs;
	Size		size = (Size) n * s->features * sizeof(double);
	RaceScatter *scatter = race_scatter_create(n, CurrentMemoryContext);
	double	   *z = images_of(s, source);
	double	   *found = palloc((Size) MOST_CLASSES * n * sizeof(double));
	RaceColumns columns = {.n = n};
	RaceWhitening white;
	uint32		i;

	for (i = 0; i < (uint32) s->n; i++)
		if (s->fold[i] != without)
			race_scatter_add(scatter, s->state->label[i], 1, z + (Size) i * n);
	for (i = 0; i < n; i++)
	{
		double		deviation = race_scatter_deviation(scatter, i);

		columns.deviation[i] = deviation > 1e-9 ? deviation : 1;	/* a constant column stays */
		columns.kept[i] = i;
	}
	/* a ridge: columns that are sums of others do no harm */
	if (race_scatter_freedom(scatter) < 1 || !race_whiten_columns(scatter, &columns, 1e-6, &white))
		return false;
	for (s->log_volume = 0, i = 0; i < n; i++)
		s->log_volume += log(white.matrix[i * n + i]);
	if (directions > 0)
	{
		if (race_discriminant_directions(scatter, &white, found) < directions)
			return false;
		race_whitening_keep(&white, found, directions);
	}
	*map = *source;
	map->matrix = memcpy(palloc(size), source->matrix, size);
	race_whitening_keep(map, white.matrix, white.outputs);
	return true;
}

/* -------------------------------------------------------------- densities */

static double
distance(const double *a, const double *b, uint32 n)
{
	double		sum = 0;
	uint32		i;

	for (i = 0; i < n; i++)
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
	int			i;
	int			j;
	int			a;

	for (a = 0; a < BANDWIDTHS; a++)
		bandwidth[a] = bandwidth_of(s, a);
	for (i = 0; i < s->n; i++)
	{
		if (s->fold[i] != fold)
			continue;
		CHECK_FOR_INTERRUPTS();
		memset(sums, 0, sizeof(sums));
		memset(count, 0, sizeof(count));
		for (j = 0; j < s->n; j++)
		{
			double	   *sum = sums[s->state->label[j]];
			double		apart = distance(images + i * outputs, images + j * outputs, outputs);

			if (s->fold[j] == fold)
				continue;
			count[s->state->label[j]]++;
			for (a = 0; a < BANDWIDTHS; a++)
				sum[a] += pow(race_radial_value(&s->radial, apart / bandwidth[a]), POWER);
		}
		for (a = 0; a < BANDWIDTHS; a++)
			for (j = 0; j < s->classes; j++)
				s->densities[(a * s->classes + j) * s->n + i] = sums[j][a] / Max(count[j], 1);
	}
}

/* Learn a map from all folds, and densities without each.  False if there is no such map. */
static bool
find_densities(Scoring *s, const RaceWhitening *sources, uint32 directions)
{
	RaceWhitening map;
	int			fold;

	for (fold = 0; fold <= FOLDS; fold++)
	{
		if (!learn_map(s, fold, &sources[fold], directions, &map))
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
	int			i;

	for (i = 0; i < s->n; i++)
		typical[s->state->label[i]] += densities[s->state->label[i] * s->n + i] / (s->shares[s->state->label[i]] * s->n);
	for (i = 0; i < s->classes; i++)
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
	int			i;
	int			c;

	CHECK_FOR_INTERRUPTS();
	*right = 0;
	for (i = 0; i < s->n; i++)
	{
		int			own = s->state->label[i];
		int			rival = own == 0 ? 1 : 0;
		double		score[MOST_CLASSES];
		double		deviation[MOST_CLASSES];
		double		sum = 0;

		for (c = 0; c < s->classes; c++)
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
		for (c = 0; c < s->classes; c++)
			sum += exp(Min(score[c] - score[own], 500));
		loss += log(sum) / s->n;
		for (c = 0; c < s->classes; c++)
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
	double		t;
	int			i;

	for (i = 0; i < s->n; i++)
		farthest = Max(farthest, distance(s->images, s->images + i * outputs, outputs));
	for (t = 0.0025; t < 30; t += 0.005)
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
	int			i;

	for (i = 0; i < s->n; i++)
	{
		double		f = Max(densities[i], 1e-30);

		loss -= (log(f) - 0.5 * log1p(variance_of(s, f, 0, errors) / (f * f))) / s->n;
	}
	for (i = 0; i < s->state->dims; i++)
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
	int			i;
	int			j;

	for (j = 0; j < dims; j++)
	{
		double		least = INFINITY;
		double		most = -INFINITY;

		for (i = 0; i < n; i++)
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
	bool		grid = race_is_grid(params);
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
try_map(Scoring *s, const RaceWhitening *sources, uint32 directions)
{
	double		lower[MOST_DIMS];
	double		upper[MOST_DIMS];
	uint32		outputs;
	RaceDraft	draft;
	bool		varies;
	int			choice;
	int			rows;

	if (!find_densities(s, sources, directions))
		return;
	outputs = s->map.outputs;
	varies = find_box(s->images, s->n, outputs, lower, upper);
	for (choice = 0; choice < BANDWIDTHS; choice++)
		if (s->state->labelled && outputs <= RACE_GRID_DIMS && varies)
		{
			draft_kernel(&draft, outputs, bandwidth_of(s, choice), 0, lower, upper);
			consider(s, choice, &draft);
		}
		else
			for (rows = LEAST_ROWS; rows <= MOST_ROWS; rows *= 2)
			{
				draft_kernel(&draft, outputs, bandwidth_of(s, choice), rows, NULL, NULL);
				consider(s, choice, &draft);
			}
}

/* Try a source with all and with few directions. */
static void
try_source(Scoring *s, int source)
{
	RaceWhitening sources[FOLDS + 1];
	int			most = s->state->labelled ? Min(s->classes - 1, RACE_GRID_DIMS) : 0;
	int			i;

	/* no example is in the last fold */
	for (i = 0; i <= FOLDS; i++)
		sources[i] = learn_source(s, i, source);
	for (i = 0; i <= most; i++)
		try_map(s, sources, i);
}

static void
choose(Scoring *s)
{
	int			next[MOST_CLASSES] = {0};
	RaceDraft	draft;
	int			i;

	s->context = CurrentMemoryContext;
	s->n = s->state->n;
	s->features = 2 * s->state->dims;
	s->classes = s->state->classes;
	find_features(s);
	s->fold = palloc(s->n * sizeof(int));
	for (i = 0; i < s->n; i++)
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
	for (i = 0; i < (s->state->labelled ? SOURCES : 1); i++)
	{
		MemoryContext work = AllocSetContextCreate(s->context, "race_suggest", ALLOCSET_DEFAULT_SIZES);

		MemoryContextSwitchTo(work);
		try_source(s, i);
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
	int			i;

	appendStringInfoString(text, rows == 0 ? ", '{" : ", '{{");
	for (i = 0; i < Max(rows, 1) * columns; i++)
		appendStringInfo(text, "%s%.6g", i == 0 ? "" : i % columns == 0 ? "},{" : ",", x[i]);
	appendStringInfoString(text, rows == 0 ? "}'" : "}}'");
}

/* The best map of records, with numbers as they are shown: [outputs][columns] */
static double *
map_of_records(const Scoring *s, int columns)
{
	const RaceWhitening *map = &s->best.map;
	double	   *matrix = palloc((Size) map->outputs * columns * sizeof(double));
	int			i;
	int			j;

	for (i = 0; i < (int) map->outputs; i++)
		for (j = 0; j < columns; j++)
			matrix[i * columns + j] = rounded(map->matrix[i * map->dims + j] / s->scale[j]);
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
	draft->arrays[RACE_KEY_MATRIX] = map_of_records(s, dims);
	draft->arrays[RACE_KEY_OFFSET] = s->center;
}

/* With labels records are images.  Returns the expression that makes them. */
static char *
draft_of_images(const Scoring *s, RaceDraft *draft)
{
	int			dims = s->state->dims;
	int			outputs = s->best.map.outputs;
	double	   *lower = palloc(2 * outputs * sizeof(double));
	StringInfoData text;

	(void) find_box(images_of(s, &s->best.map), s->n, outputs, lower, lower + outputs);
	draft_kernel(draft, outputs, s->best.bandwidth, s->best.rows, lower, lower + outputs);
	initStringInfo(&text);
	appendStringInfoString(&text, "race_project(x");
	append_array(&text, map_of_records(s, 2 * dims), outputs, 2 * dims);
	append_array(&text, s->center, 0, 2 * dims);
	append_array(&text, s->knots, dims, KNOTS);
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
