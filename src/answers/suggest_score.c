/*
 * suggest_score.c
 *		Scores of suggested parameters: leave-one-out, logistic regressions
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"

#include "../core/core.h"
#include "classify.h"
#include "suggest.h"

/*
 * What all aggregates of race_suggest read: labels, and the release that is planned.
 */

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

/*
 * Multinomial logistic regression of public examples.
 */

#define STEPS	200				/* at most; */
#define STILL	1e-5			/* fewer, if weights change by less in a step, as a part of their length */

/* Weights of classes at a row, after a step of the regression: the softmax */
static void
softmax(const double *weights, const double *z, int classes, int d, double *p)
{
	double		most = -INFINITY;
	double		sum = 0;
	int			c;

	for (c = 0; c < classes; c++)
	{
		const double *w = weights + c * (d + 1);

		p[c] = w[d] + race_dot(w, z, d);
		most = Max(most, p[c]);
	}
	for (c = 0; c < classes; c++)
		sum += p[c] = exp(p[c] - most);
	for (c = 0; c < classes; c++)
		p[c] /= sum;
}

/* A bound of the curvature of the loss, from the largest eigenvalue of z' z */
static double
curvature(const double *z, int n, int d)
{
	double		v[RACE_SUGGEST_DIMS + 1];
	double		product[RACE_SUGGEST_DIMS + 1];
	double		length = 1;
	int			step;
	int			i;
	int			j;

	for (j = 0; j <= d; j++)
		v[j] = 1 / sqrt(d + 1);
	for (step = 0; step < 20; step++)
	{
		memset(product, 0, sizeof(product));
		for (i = 0; i < n; i++)
		{
			double		along = v[d];

			for (j = 0; j < d; j++)
				along += z[i * d + j] * v[j];
			for (j = 0; j < d; j++)
				product[j] += along * z[i * d + j];
			product[d] += along;
		}
		length = 0;
		for (j = 0; j <= d; j++)
			length += product[j] * product[j];
		length = sqrt(length);
		for (j = 0; j <= d; j++)
			v[j] = product[j] / length;
	}
	return 0.5 * 1.1 * length;
}

/* The gradient of the loss of a multinomial logistic regression at `weights`, with an L2 penalty */
static void
loss_gradient(const RaceExamples *e, const double *z, const double *weights, double penalty,
			  double *gradient)
{
	int			d = e->dims;
	double		p[RACE_SUGGEST_CLASSES];
	int			c;
	int			i;
	int			j;

	for (j = 0; j < e->classes * (d + 1); j++)
		gradient[j] = j % (d + 1) == d ? 0 : penalty * weights[j];
	for (i = 0; i < e->n; i++)
	{
		softmax(weights, z + i * d, e->classes, d, p);
		p[e->label[i]]--;
		for (c = 0; c < e->classes; c++)
		{
			double	   *g = gradient + c * (d + 1);

			for (j = 0; j < d; j++)
				g[j] += p[c] * z[i * d + j];
			g[d] += p[c];
		}
	}
}

/* Shorten the weights of each column, of all classes together, by so much (group lasso). */
static void
shrink_columns(double *weights, int classes, int d, double by)
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

double *
race_suggest_regress(const RaceExamples *e, const double *z, double penalty, double sparsity)
{
	int			size = e->classes * (e->dims + 1);
	double	   *weights = palloc0(4 * size * sizeof(double));
	double	   *ahead = weights + size;
	double	   *gradient = ahead + size;
	double	   *next = gradient + size;
	double		steepest = curvature(z, e->n, e->dims) + penalty;
	double		t = 1;
	int			step;
	int			j;

	for (step = 0; step < STEPS; step++)
	{
		double		faster = (1 + sqrt(1 + 4 * t * t)) / 2;
		double		change = 0;
		double		length = 0;

		CHECK_FOR_INTERRUPTS();
		loss_gradient(e, z, ahead, penalty, gradient);
		for (j = 0; j < size; j++)
			next[j] = ahead[j] - gradient[j] / steepest;
		shrink_columns(next, e->classes, e->dims, sparsity / steepest);
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

/*
 * How well parameters serve examples, under the noise of a release.
 *
 * The densities of all classes at all examples are found for every bandwidth and power at
 * once; then rows and priors are tried on them.  The error of a density f from R rows has
 * about the variance
 *
 * noise(R) / N^2 + f (1 - f) / (10 R),
 *
 * where N is how many records the class will have.  f (1 - f) / R is the most that
 * independent rows can vary by: then a class lies in one bucket.  A tenth is what was measured.
 * That of a grid is noise / N^2 + (bias f)^2.  To compare classes, f^2 / N^2 times the variance of the
 * count is added, by which sums are divided: flat kernels are lost by small errors of it.
 */

#define FOLDS			RACE_SUGGEST_FOLDS
#define FACTORS			13		/* bandwidths: from 1/8 of the median distance */
#define LEAST_FACTOR	0.125
#define POWERS			5		/* 1, 2, 4, 8, 16 */
#define SAMPLING		0.1
#define LEAST_ROWS		3		/* 2^3: fewer cannot be trusted */
#define FEW_ROWS		5		/* 32 and */
#define MANY_ROWS		8		/* 256, which all choices are tried with */
#define FINALISTS		8
#define LUCK			0.05

/* Choices of bandwidth and power */
#define CHOICES			(FACTORS * POWERS)

typedef struct Scoring
{
	const RaceExamples *examples;
	const RaceExpected *expected;
	int			kernel;
	RaceTransformKind kind;
	RaceMap    *map;			/* of all examples */
	RaceRadial *radial;			/* of the kernel with power 1, in bandwidths; not of angles */
	int			sharp_dims;		/* in which densities are sharpened; 0 = they are not */
	double		unit;			/* the median distance */
	double		scales[FACTORS];	/* one over bandwidth */
	double		farthest;
	double		shares[RACE_SUGGEST_CLASSES];
	float	   *densities;		/* [CHOICES][classes][n], of the one who is left out */
	RaceSuggestion *found;		/* all that may be best */
	int			n_found;
	int			capacity;
	double		best;			/* the highest score of them */
} Scoring;

static double
factor_of(int i)
{
	return LEAST_FACTOR * pow(2, i / 2.0);
}

/* The angle between vectors, in parts of half a turn; of a vector without a direction a quarter */
static double
angle(const double *a, const double *b, int n)
{
	double		product = 0;
	double		squares[2] = {0, 0};
	int			i;

	for (i = 0; i < n; i++)
	{
		product += a[i] * b[i];
		squares[0] += a[i] * a[i];
		squares[1] += b[i] * b[i];
	}
	if (!(squares[0] > 0 && squares[1] > 0))
		return 0.5;
	return acos(Min(Max(product / sqrt(squares[0]) / sqrt(squares[1]), -1), 1)) / RACE_PI;
}

/* The distance that a kernel is a function of */
static double
distance(const Scoring *s, const double *a, const double *b, int n)
{
	double		sum = 0;
	int			i;

	if (s->kernel == RACE_KERNEL_ANGULAR)
		return angle(a, b, n);
	for (i = 0; i < n; i++)
		sum += s->kernel == RACE_KERNEL_L1 ? fabs(a[i] - b[i]) : (a[i] - b[i]) * (a[i] - b[i]);
	return s->kernel == RACE_KERNEL_L1 ? sum : sqrt(sum);
}

static double *
map_all(const RaceMap *map, const RaceExamples *e)
{
	double	   *z = palloc(e->n * map->m.outputs * sizeof(double));
	int			i;

	for (i = 0; i < e->n; i++)
		race_whitening_apply(&map->m, e->x + i * e->dims, z + i * map->m.outputs);
	return z;
}

/* ------------------------------------------------------------- densities */

int *
race_suggest_folds(const RaceExamples *e)
{
	int			next[RACE_SUGGEST_CLASSES] = {0};
	int		   *fold = palloc(e->n * sizeof(int));
	int			i;

	for (i = 0; i < e->n; i++)
		fold[i] = next[e->label[i]]++ % FOLDS;
	return fold;
}

RaceExamples
race_suggest_others(const RaceExamples *e, const int *fold, int which)
{
	RaceExamples others = *e;
	int			i;

	others.n = 0;
	others.x = palloc(e->n * e->dims * sizeof(double));
	others.label = palloc(e->n * sizeof(int));
	for (i = 0; i < e->n; i++)
		if (fold[i] != which)
		{
			memcpy(others.x + others.n * e->dims, e->x + i * e->dims,
				   e->dims * sizeof(double));
			others.label[others.n++] = e->label[i];
		}
	return others;
}

/* Add the powers of a kernel to sums. */
static inline void
add_powers(float k, float *sums)
{
	int			b;

	for (b = 0; b < POWERS; b++)
	{
		*sums++ += k;
		k *= k;
	}
}

/* Add the kernel of a pair, for all choices, to sums. */
static inline void
add_pair(const Scoring *s, double apart, float *sums)
{
	int			a;

	for (a = 0; a < FACTORS; a++)
		add_powers(s->kernel == RACE_KERNEL_ANGULAR ? 1 - apart :
				   race_radial_value(s->radial, apart * s->scales[a]), sums + a * POWERS);
}

/* The densities of all classes at example i, whose image is z */
static void
ask_others(Scoring *s, const RaceExamples *others, const double *images, const double *z,
		   int outputs, int i)
{
	const RaceExamples *e = s->examples;
	float		sums[RACE_SUGGEST_CLASSES][CHOICES] = {{0}};
	int			count[RACE_SUGGEST_CLASSES] = {0};
	int			c;
	int			j;

	for (j = 0; j < others->n; j++)
	{
		c = others->label[j];
		count[c]++;
		add_pair(s, distance(s, images + j * outputs, z, outputs), sums[c]);
	}
	for (j = 0; j < CHOICES; j++)
		for (c = 0; c < e->classes; c++)
			s->densities[((Size) j * e->classes + c) * e->n + i] = sums[c][j] / Max(count[c], 1);
}

/* Leave out each tenth in turn.  False if there is no such transform. */
static bool
find_densities(Scoring *s, const int *fold)
{
	const RaceExamples *e = s->examples;
	RaceMap    *map = palloc(sizeof(RaceMap));
	bool		found = true;
	int			which;
	int			i;

	memset(s->densities, 0, (Size) CHOICES * e->classes * e->n * sizeof(float));
	for (which = 0; which < FOLDS && found; which++)
	{
		RaceExamples others = race_suggest_others(e, fold, which);
		double		z[RACE_SUGGEST_DIMS];
		double	   *images;

		race_map_learn(s->kind, &others, map);
		found = map->m.outputs > 0;
		images = map_all(map, &others);
		for (i = 0; i < e->n && found; i++)
			if (fold[i] == which)
			{
				CHECK_FOR_INTERRUPTS();
				race_whitening_apply(&map->m, e->x + i * e->dims, z);
				ask_others(s, &others, images, z, map->m.outputs, i);
			}
		pfree(others.x);
		pfree(others.label);
		pfree(images);
	}
	pfree(map);
	return found;
}

static int
compare_doubles(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

void
race_suggest_sort(double *x, int n)
{
	qsort(x, n, sizeof(double), compare_doubles);
}

/* The median and the largest distance, of pairs that are far from each other in the list */
static void
measure_distances(Scoring *s)
{
	int			n = s->examples->n;
	double	   *z = map_all(s->map, s->examples);
	double	   *apart = palloc((Size) n * 16 * sizeof(double));
	int			pairs = 0;
	int			i;
	int			j;

	for (i = 0; i < n; i++)
		for (j = 0; j < 16; j++)
			apart[pairs++] = distance(s, z + i * s->map->m.outputs,
									  z + (i + 1 + j * (n - 1) / 16) % n * s->map->m.outputs,
									  s->map->m.outputs);
	race_suggest_sort(apart, pairs);
	s->unit = apart[pairs / 2];
	s->farthest = apart[pairs - 1];
	if (!(s->unit > 0))
		s->unit = s->farthest;
	for (i = 0; i < FACTORS; i++)
		s->scales[i] = 1 / (s->unit * factor_of(i));
	pfree(z);
	pfree(apart);
}

/* ------------------------------------------------------------- classification */

/* What errors the densities of a release have */
typedef struct Errors
{
	double		noise;			/* the variance of a kernel sum */
	double		sampling;		/* of rows */
	double		bias;			/* of a grid */
	double		count;			/* the variance of a count */
	bool		sharpened;		/* are densities sharpened with prior "counts"? */
} Errors;

static Errors
errors_of_rows(const Scoring *s, int rows)
{
	return (Errors)
	{
		s->expected->noise[rows], SAMPLING / (1 << rows), 0,
			s->examples->classes > 1 ? s->expected->count : 0, s->sharp_dims > 0
	};
}

/* The variance of a density of a class; of classes that are compared, also that of their counts */
static double
variance_of(const Scoring *s, double density, int c, const Errors *errors)
{
	double		records = Max(s->expected->records * s->shares[c], 1);

	return errors->noise / (records * records) + Max(density * (1 - density), 0) * errors->sampling +
		density * density * (errors->bias * errors->bias + errors->count / (records * records));
}

/*
 * The power that race_scores_sharpen() will take densities to, with prior "counts".  Instead, the
 * shares of classes may be taken to one over it.
 */
static double
sharpness(const Scoring *s, const float *densities, const Errors *errors)
{
	const RaceExamples *e = s->examples;
	double		typical[RACE_SUGGEST_CLASSES] = {0};
	double		flatness = 0;
	int			i;

	if (!errors->sharpened)
		return 1;
	for (i = 0; i < e->n; i++)
		typical[e->label[i]] += densities[e->label[i] * e->n + i] / (s->shares[e->label[i]] * e->n);
	for (i = 0; i < e->classes; i++)
		flatness += s->shares[i] * race_flatness(typical[i], s->sharp_dims);
	return 1 / Max(1 - flatness, 1e-3);
}

static double
normal(double x)
{
	return 0.5 * erfc(-x * M_SQRT1_2);
}

/* Gauss-Hermite quadrature of a standard normal variable */
#define NODES	5
static const double node[NODES] = {
	-2.856970013872806, -1.355626179974266, 0, 1.355626179974266, 2.856970013872806
};
static const double node_weight[NODES] = {
	0.01125741132772069, 0.2220759220056126, 0.5333333333333333, 0.2220759220056126,
	0.01125741132772069
};

/* The probability that the score of class y is above all others; all are normal. */
static double
probability_of_class(int y, int classes, const double *mean, const double *deviation)
{
	double		sum = 0;
	int			i;
	int			c;

	if (classes == 2)
		return normal((mean[y] - mean[1 - y]) / hypot(deviation[0], deviation[1]));
	for (i = 0; i < NODES; i++)
	{
		double		score = mean[y] + node[i] * deviation[y];
		double		product = node_weight[i];

		for (c = 0; c < classes && product > 1e-6; c++)
			if (c != y && score - mean[c] < 6 * deviation[c])
				product *= normal((score - mean[c]) / deviation[c]);
		sum += product;
	}
	return sum;
}

/* The share of examples that are classified rightly */
static double
accuracy(const Scoring *s, const float *densities, const Errors *errors, bool by_counts)
{
	const RaceExamples *e = s->examples;
	double		mean[RACE_SUGGEST_CLASSES];
	double		deviation[RACE_SUGGEST_CLASSES];
	double		power = by_counts ? 1 / sharpness(s, densities, errors) : 0;
	double		sum = 0;
	int			i;
	int			c;

	CHECK_FOR_INTERRUPTS();
	for (i = 0; i < e->n; i++)
	{
		for (c = 0; c < e->classes; c++)
		{
			double		f = densities[c * e->n + i];
			double		prior = pow(s->shares[c], power);

			mean[c] = f * prior;
			deviation[c] = sqrt(variance_of(s, f, c, errors)) * prior + 1e-12;
		}
		sum += probability_of_class(e->label[i], e->classes, mean, deviation);
	}
	return sum / e->n;
}

/*
 * Minus the mean logarithm of the posterior of the right class.  A density is not known better
 * than its deviation.
 */
static double
surprise(const Scoring *s, const float *densities, const Errors *errors, bool by_counts)
{
	const RaceExamples *e = s->examples;
	double		power = by_counts ? sharpness(s, densities, errors) : 1;
	double		sum = 0;
	int			i;
	int			c;

	for (i = 0; i < e->n; i++)
	{
		double		score[RACE_SUGGEST_CLASSES];
		double		most = -INFINITY;
		double		all = 0;

		for (c = 0; c < e->classes; c++)
		{
			double		f = densities[c * e->n + i];

			score[c] = power * log(f + sqrt(variance_of(s, f, c, errors)) + 1e-12) +
				(by_counts ? log(s->shares[c]) : 0);
			most = Max(most, score[c]);
		}
		for (c = 0; c < e->classes; c++)
			all += exp(score[c] - most);
		sum += most + log(all) - score[e->label[i]];
	}
	return sum / e->n;
}

/* ------------------------------------------------------------- likelihood */

/*
 * The logarithm of the integral of the kernel over a ball as large as the examples: kernels of
 * small powers have none over all space.  With r = farthest e^-t it is the surface of the
 * unit ball times the integral of k r^outputs dt.
 */
static double
log_volume(const Scoring *s, double bandwidth, int power)
{
	int			outputs = s->map->m.outputs;
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
 * The mean logarithm of the densities.  What noise of variance v takes from it is v / 2 f^2
 * where it is small; where it is large, one does not know more than that f is about its
 * deviation, and loses as much again.
 */
static double
likelihood(const Scoring *s, const float *densities, double bandwidth, int power,
		   const Errors *errors)
{
	double		sum = 0;
	int			i;

	CHECK_FOR_INTERRUPTS();
	for (i = 0; i < s->examples->n; i++)
	{
		double		f = Max(densities[i], 1e-30);

		sum += log(f) - 0.5 * log1p(variance_of(s, f, 0, errors) / (f * f));
	}
	return sum / s->examples->n - log_volume(s, bandwidth, power) + s->map->log_volume;
}

/* ------------------------------------------------------------- choosing */

/* Of a choice: the bandwidth, and the power */
static double
bandwidth_of(const Scoring *s, int choice)
{
	return s->unit * factor_of(choice / POWERS);
}

static int
power_of(int choice)
{
	return 1 << choice % POWERS;
}

static const float *
densities_of(const Scoring *s, int choice)
{
	return s->densities + (Size) choice * s->examples->classes * s->examples->n;
}

static double
score(const Scoring *s, int choice, const Errors *errors, bool by_counts)
{
	const RaceExamples *e = s->examples;

	return e->classes > 1 ? accuracy(s, densities_of(s, choice), errors, by_counts) :
		likelihood(s, densities_of(s, choice), bandwidth_of(s, choice), power_of(choice), errors);
}

/* A standard error of the difference, where one of 20 examples is classified otherwise */
static double
luck(const RaceExamples *examples)
{
	return examples->classes > 1 ? sqrt(LUCK / examples->n) : 0;
}

int
race_suggest_pick(const RaceExamples *examples, const RaceSuggestion *list, int n)
{
	double		most = list[0].score;
	int			best = -1;
	int			i;

	for (i = 1; i < n; i++)
		most = Max(most, list[i].score);
	for (i = 0; i < n; i++)
		if (list[i].score >= most - luck(examples) &&
			(best < 0 || list[i].surprise < list[best].surprise))
			best = i;
	return best;
}

/* Keep a choice if it may be best.  0 rows are a grid. */
static void
try(Scoring *s, int choice, int rows, const Errors *errors, bool by_counts)
{
	double		found = score(s, choice, errors, by_counts);
	Errors		exact = {0, 0, 0, 0, errors->sharpened};
	RaceSuggestion *next;

	if (!(found >= s->best - luck(s->examples)))
		return;
	s->best = Max(s->best, found);
	if (s->n_found == s->capacity)
	{
		s->capacity = Max(2 * s->capacity, 64);
		s->found = s->found == NULL ? palloc(s->capacity * sizeof(RaceSuggestion)) :
			repalloc(s->found, s->capacity * sizeof(RaceSuggestion));
	}
	next = &s->found[s->n_found++];
	next->kernel = s->kernel;
	next->kind = s->kind;
	next->bandwidth = bandwidth_of(s, choice);
	next->power = power_of(choice);
	next->rows = rows;
	next->by_counts = by_counts;
	next->score = found;
	next->without_noise = score(s, choice, &exact, by_counts);
	next->surprise = s->examples->classes > 1 ?
		surprise(s, densities_of(s, choice), errors, by_counts) : 0;
}

/* The best of all that were kept; the score is minus infinity if there is none */
static void
choose(const Scoring *s, RaceSuggestion *best)
{
	best->score = -INFINITY;
	if (s->n_found > 0)
		*best = s->found[race_suggest_pick(s->examples, s->found, s->n_found)];
}

/*
 * Look for the best rows that a transform can be used with: with few and with many rows, and what
 * is best then with all numbers of them.
 */
static void
try_rows(Scoring *s)
{
	int			priors = s->examples->classes > 1 ? 2 : 1;
	int			choices = s->kernel == RACE_KERNEL_ANGULAR ? POWERS : CHOICES;	/* no bandwidth */
	double		scores[CHOICES];
	int			choice;
	int			rows;
	int			i;

	for (choice = 0; choice < choices; choice++)
	{
		scores[choice] = -INFINITY;
		for (rows = FEW_ROWS; rows <= MANY_ROWS; rows += MANY_ROWS - FEW_ROWS)
		{
			Errors		errors = errors_of_rows(s, rows);

			for (i = 0; i < priors; i++)
				scores[choice] = Max(scores[choice], score(s, choice, &errors, i == 1));
		}
	}
	for (i = 0; i < Min(FINALISTS, choices); i++)
	{
		int			first = 0;

		for (choice = 1; choice < choices; choice++)
			if (scores[choice] > scores[first])
				first = choice;
		scores[first] = -INFINITY;
		for (rows = LEAST_ROWS; rows < RACE_SUGGEST_ROWS; rows++)
		{
			Errors		errors = errors_of_rows(s, rows);

			try(s, first, 1 << rows, &errors, false);
			if (priors > 1)
				try(s, first, 1 << rows, &errors, true);
		}
	}
}

/* The same of grids of what the transform gives, with labels.  False if there is no such grid. */
static bool
try_grids(Scoring *s)
{
	int			dims = s->map->m.outputs;
	double	   *z = map_all(s->map, s->examples);
	double	   *lower = palloc(2 * dims * sizeof(double));
	double	   *upper = lower + dims;
	bool		can;
	int			choice;

	race_suggest_box(z, s->examples->n, dims, lower, upper);
	can = race_suggest_can_be_grid(dims, lower, upper);
	for (choice = 0; choice < CHOICES && can; choice++)
	{
		Errors		errors = {0, 0, 0, s->expected->count, true};
		RaceDraft	draft;

		race_suggest_draft_grid(&draft, dims, bandwidth_of(s, choice), power_of(choice), lower, upper);
		race_suggest_grid_error(&draft, s->expected, s->expected->records / s->examples->classes,
								&errors.noise, &errors.bias);
		try(s, choice, 0, &errors, false);
		try(s, choice, 0, &errors, true);
	}
	pfree(lower);
	pfree(z);
	return can;
}

static void
start_scoring(Scoring *s, const RaceExamples *examples, const RaceExpected *expected)
{
	int			i;

	memset(s, 0, sizeof(Scoring));
	s->examples = examples;
	s->expected = expected;
	s->best = -INFINITY;
	s->densities = palloc_extended((Size) CHOICES * examples->classes * examples->n *
								   sizeof(float), MCXT_ALLOC_HUGE);
	for (i = 0; i < examples->n; i++)
		s->shares[examples->label[i]] += 1.0 / examples->n;
}

/* A kernel of power 1, in bandwidths of 1 */
static RaceRadial *
make_radial(int kernel)
{
	RaceParams	params;
	RaceRadial *radial = palloc(sizeof(RaceRadial));

	memset(&params, 0, sizeof(RaceParams));
	params.kernel = kernel;
	params.dims = params.power = params.rows = 1;
	params.range = 2;
	params.bandwidth = 1;
	race_radial_init(radial, &params);
	return radial;
}

/*
 * What is tried; of log odds, and without labels, the first two, which keep volumes comparable.  A
 * race_transform is not for l1, and angles are those of vectors from their center.
 */
static const struct
{
	int			kernel;
	RaceTransformKind kind;
}			attempts[] = {
	{RACE_KERNEL_L2, RACE_TRANSFORM_SCALE},
	{RACE_KERNEL_L2, RACE_TRANSFORM_WHITE},
	{RACE_KERNEL_L2, RACE_TRANSFORM_FISHER},
	{RACE_KERNEL_L2, RACE_TRANSFORM_SPREAD},
	{RACE_KERNEL_L1, RACE_TRANSFORM_SCALE},
	{RACE_KERNEL_ANGULAR, RACE_TRANSFORM_WHITE}
};

/* Try a kernel with a transform, if there is such a transform. */
static void
attempt(Scoring *s, const int *fold)
{
	bool		l2 = s->kernel == RACE_KERNEL_L2;

	race_map_learn(s->kind, s->examples, s->map);
	if (s->map->m.outputs == 0)
		return;
	s->sharp_dims = l2 ? s->map->m.outputs : 0;
	measure_distances(s);
	if (!(s->unit > 0) || !find_densities(s, fold))
		return;
	/* a grid has less error than rows, which may seem better by luck */
	if (!l2 || s->examples->classes == 1 || !try_grids(s))
		try_rows(s);
}

void
race_suggest_choose(const RaceExamples *examples, const RaceExpected *expected,
					bool are_odds, RaceSuggestion *best)
{
	Scoring		s;
	int		   *fold = race_suggest_folds(examples);
	RaceRadial *l2 = make_radial(RACE_KERNEL_L2);
	RaceRadial *l1 = make_radial(RACE_KERNEL_L1);
	int			i;

	start_scoring(&s, examples, expected);
	s.map = palloc(sizeof(RaceMap));
	for (i = 0; i < (examples->classes > 1 && !are_odds ? (int) lengthof(attempts) : 2); i++)
	{
		s.kernel = attempts[i].kernel;
		s.kind = attempts[i].kind;
		s.radial = s.kernel == RACE_KERNEL_L1 ? l1 : l2;
		attempt(&s, fold);
	}
	choose(&s, best);
	pfree(s.map);
	pfree(l1);
	pfree(l2);
	pfree(s.densities);
	pfree(fold);
}
