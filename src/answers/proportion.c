/*
 * proportion.c
 *		Conditional means: the mean of a bounded value near a query
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "privacy/counters.h"
#include "privacy/noise.h"
#include "hash/column.h"
#include "hash/kind.h"
#include "hash/params.h"
#include "hash/rows.h"
#include "hash/table.h"
#include "sketch/argument.h"
#include "sketch/call_site.h"
#include "sketch/params_type.h"
#include "sketch/result.h"
#include "sketch/sketch.h"
#include "sketch/sketch_format.h"
#include "answers/cosine_basis.h"
#include "answers/estimate.h"
#include "answers/evaluator.h"
#include "answers/factor.h"
#include "answers/radial.h"
#include "answers/solver.h"

/*
 * The values lie between L and U, and the share (value - L) / (U - L) of each record is in
 * the upper of two sketches, the rest in the lower one.  So with f the kernel sum of a
 * sketch, the share s = f_U / (f_L + f_U) estimates that for which L + (U - L) s is the mean
 * of the values, weighted by the kernel (Nadaraya 1964, Watson 1964).
 *
 * Where there are few records, a share is predicted from those around, by Gaussian-process
 * regression: a priori the share is a smooth function of the place, whose scale and smoothness the
 * sketches determine.  With m records in a place and a share s there, the upper sketch has K (s m)
 * + noise, and the lower one K ((1 - s) m) + noise.  K is the kernel; of nodes of grids it is 1.
 * The noise of rows has a covariance in proportion to K.  So with s near a known s0, (1 - s0) upper
 * - s0 lower + s0 K m = K (s m) + noise, which is linear in s, and an error of m matters little:
 * where s is s0, not at all.  s is the mean share of all records plus a sum of cosines.
 */

/*
 * The benchmark of all constants is `gate.py "means" "pulsar means" "skin means"`, at epsilon .1
 * and 1.
 */
#define MAX_NODES 4096   /* nodes of a grid that are observed; coarser cells if there are more */
#define MAX_POINTS 2048  /* points of models that are observed: there is a matrix of them */
#define SIGNIFICANT 3.0  /* standard deviations of noise above which a number of records is used */
#define LEAST_NOISE 1e-6 /* noise in parts of all records below which rounding hides it */
#define SMOOTHNESS 1.5   /* smoothness of the Matern process */
#define ROUNDS 3         /* rounds that find s0 */
#define MAX_TESTS 512    /* places at which kernel sums are compared with predictions */
#define LEAST_SUM 2.0    /* standard deviations of noise from which a sum has information */
#define OUTLIER 16.0     /* variances of noise: a larger squared residual adds to the nugget */

/* Standard deviations of the process, and its lengths in bandwidths, that are tried */
static const double deviations[] = {0.02, 0.05, 0.1, 0.2, 0.4};
static const double lengths[] = {0.5, 1, 2, 4, 8, 16, 32};

#define LENGTHS ((int) lengthof(lengths))
#define CHOICES (LENGTHS * (int) lengthof(deviations))

/* The variance of a sum of records whose shares are rounded to steps in a grid: at most */
#define GRID_SPLIT (0.25 / (RACE_GRID_STEPS * RACE_GRID_STEPS))

PG_FUNCTION_INFO_V1(race_conditional_mean);

/* The regression of a pair of sketches */
typedef struct RaceProportion
{
	RaceDerived derived; /* must be first: the lower sketch */
	RaceDerived upper;   /* the upper sketch */
	bool none;           /* true if no function was fitted; the fields below are unset */
	RaceRadial radial;
	RaceCosines basis;
	uint32 n;              /* number of places */
	double *places;        /* [radial.dims][n]: places, in bandwidths */
	double *records;       /* [n]: estimated records, not negative */
	double *upper_records; /* [n]: records times the share */
	double *place;         /* memory for one place */
	double mean;           /* share of all records */
	double coefficients[RACE_COSINE_TERMS];
	double *covariance; /* [basis.n][basis.n]: covariance of the coefficients */
	double nugget;      /* variance of shares around the smooth function */
} RaceProportion;

/* ------------------------------------------------------------- observations */

/*
 * Observations of a pair at places.  Of a grid the places are nodes, which have noise of their own
 * each.  Of rows they are the points of the models, and the observations are kernel sums, whose
 * noise is correlated as the kernel is.
 */
typedef struct Observations
{
	RaceQuestion *questions;   /* [RACE_HALVES] */
	double *x;                 /* [n][dims]: places as vectors */
	double *sums[RACE_HALVES]; /* [n]: sums of each sketch */
	double noise;              /* variance of a sum of one sketch */
	float *gram;               /* [n][n]: K; NULL of grids */
} Observations;

/* Keep the places in `context`, with no records yet. */
static void
set_places(RaceProportion *proportion, const Observations *observations, MemoryContext context)
{
	const RaceParams *params = observations->questions[0].view.params;
	Size n = proportion->n;

	proportion->places =
		MemoryContextAllocHuge(context, n * proportion->radial.dims * sizeof(double));
	proportion->records = MemoryContextAllocZero(context, 2 * n * sizeof(double));
	proportion->upper_records = proportion->records + n;
	for (Size i = 0; i < n; i++)
		race_radial_place(&proportion->radial, params, observations->x + i * params->dims,
						  proportion->places + i, n);
}

/*
 * Return the nodes of the coarsest level that a sketch has, coarser still if they are too many, in
 * records; NULL if they stay too many.  Set the variance of their noise.
 */
static double *
coarse_nodes(const RaceView *view, RaceGrid *grid, double *noise)
{
	double unit = (double) race_record_unit(view->params);
	Size from = 0;
	double *nodes;

	race_grid_of(view->params, grid);
	for (int level = 1; level < race_grid_levels(view->params); level++)
	{
		from += grid->nodes;
		race_grid_halve(grid);
		race_grid_halve(grid);
	}
	nodes = palloc_extended(grid->nodes * sizeof(double), MCXT_ALLOC_HUGE);
	for (uint64 k = 0; k < grid->nodes; k++)
		nodes[k] = race_counters_get(view->counters, view->width, from + k) / unit;
	*noise = view->header->noise.counter_variance / (unit * unit);
	for (; grid->nodes > MAX_NODES; race_grid_halve(grid))
	{
		if (grid->halvings == 0)
			return NULL;
		race_grid_coarsen_real(grid, nodes, nodes);
		*noise *= pow(1.5, grid->dims); /* weights 1/2, 1, 1/2 along each axis */
	}
	return nodes;
}

/* Average over neighbors with the weights 1/4, 1/2, 1/4 along each axis; at the bounds 3/4, 1/4. */
static void
average_neighbors(const RaceGrid *grid, double *v)
{
	Size stride = grid->nodes;

	CHECK_FOR_INTERRUPTS();
	for (uint32 axis = 0; axis < grid->dims; axis++)
	{
		uint32 n = grid->cells[axis] + 1;

		stride /= n;
		for (Size i = 0; i < grid->nodes; i++)
		{
			double before = v[i];

			for (uint32 k = 0; k < n && i / stride % n == 0; k++)
			{
				double here = v[i + k * stride];
				double after = k + 1 < n ? v[i + (k + 1) * stride] : here;

				v[i + k * stride] = (before + 2 * here + after) / 4;
				before = here;
			}
		}
	}
}

/*
 * Estimate how many records nodes have: of ever smoother local means the first one that is
 * significant.  Where none is, the number stays 0.
 */
static void
estimate_records(RaceProportion *proportion, const Observations *observations, const RaceGrid *grid)
{
	double *mean = palloc(proportion->n * sizeof(double));
	double left = 1; /* factor of the variance that an axis leaves */

	for (uint32 k = 0; k < proportion->n; k++)
		mean[k] = observations->sums[RACE_LOWER][k] + observations->sums[RACE_UPPER][k];
	for (int done = 0, smoothings = 0; smoothings <= 64; smoothings = Max(4 * smoothings, 1))
	{
		double variance;

		for (; done < smoothings; done++)
		{
			average_neighbors(grid, mean);
			/* squares of binomial coefficients: C(4 s, 2 s) / 2^(4 s) after s smoothings */
			left *= (4.0 * done + 1) / (4.0 * done + 2) * (4.0 * done + 3) / (4.0 * done + 4);
		}
		variance = 2 * observations->noise * pow(left, grid->dims);
		for (uint32 k = 0; k < proportion->n; k++)
			if (proportion->records[k] == 0 && mean[k] > SIGNIFICANT * sqrt(variance))
				proportion->records[k] = mean[k];
	}
	pfree(mean);
}

static void
observe_nodes(RaceProportion *proportion, Observations *observations, MemoryContext context)
{
	RaceGrid grid;

	for (int half = 0; half < RACE_HALVES; half++)
	{
		double noise;

		observations->sums[half] = coarse_nodes(&observations->questions[half].view, &grid, &noise);
		if (observations->sums[half] == NULL)
			return;
		observations->noise += noise / RACE_HALVES;
	}
	proportion->n = grid.nodes;
	observations->x = palloc(grid.nodes * grid.dims * sizeof(double));
	for (uint32 i = 0; i < proportion->n; i++)
	{
		uint32 rest = i;

		for (int axis = grid.dims - 1; axis >= 0; axis--)
		{
			uint32 side = grid.cells[axis] + 1;

			observations->x[(Size) i * grid.dims + axis] =
				grid.lower[axis] + rest % side * grid.width[axis];
			rest /= side;
		}
	}
	set_places(proportion, observations, context);
	estimate_records(proportion, observations, &grid);
}

typedef struct Point
{
	const double *x;
	double records;
} Point;

static int
compare_points(const void *a, const void *b)
{
	double x = ((const Point *) a)->records;
	double y = ((const Point *) b)->records;

	return (x < y) - (x > y);
}

/* Collect the points of both models that have a weight, the heaviest first. */
static Point *
collect_points(const RaceQuestion *questions, uint32 *n)
{
	Point *points = palloc((questions[0].view.model->points + questions[1].view.model->points + 1) *
						   sizeof(Point));

	*n = 0;
	for (int half = 0; half < RACE_HALVES; half++)
	{
		const RaceView *view = &questions[half].view;
		RaceColumn columns[RACE_MAX_PARTS];

		race_check_model(view);
		race_model_columns(view->model, view->params, columns);
		for (uint64 i = 0; i < view->model->points; i++)
		{
			points[*n].x = columns[0].numbers + i * view->params->dims;
			points[*n].records = race_model_weight(view->model, i);
			*n += points[*n].records > 0;
		}
	}
	qsort(points, *n, sizeof(Point), compare_points);
	return points;
}

/* Observe the heaviest points: the answers of models, and all residuals of the rows. */
static void
observe_points(RaceProportion *proportion, Observations *observations, MemoryContext context)
{
	const RaceParams *params = observations->questions[0].view.params;
	double p = race_collision_probability(params);
	uint32 n;
	Point *points = collect_points(observations->questions, &n);

	if (n == 0)
		return;
	n = proportion->n = Min(n, MAX_POINTS);
	observations->x = palloc((Size) n * params->dims * sizeof(double));
	for (uint32 i = 0; i < n; i++)
		memcpy(observations->x + (Size) i * params->dims, points[i].x,
			   params->dims * sizeof(double));
	set_places(proportion, observations, context);
	for (uint32 i = 0; i < n; i++)
		proportion->records[i] = points[i].records;
	for (int half = 0; half < RACE_HALVES; half++)
	{
		RaceQuestion *question = &observations->questions[half];
		const RaceView *view = &question->view;
		RaceEvaluator *evaluator = race_evaluator_at(question->site, view);
		RaceColumn record[RACE_MAX_PARTS];

		observations->sums[half] = palloc(n * sizeof(double));
		for (uint32 i = 0; i < n; i++)
		{
			CHECK_FOR_INTERRUPTS();
			race_ask_about_vector(question, points[i].x);
			race_question_record(question, record);
			observations->sums[half][i] = race_evaluator_sum(evaluator, record) +
				race_correct_collisions(params,
										race_estimator_mean(view, evaluator, question->buckets, 0,
															view->params->rows),
										0);
		}
		observations->noise += Max(view->header->noise.counter_variance / view->params->rows,
								   view->model->residual_variance) /
			((1 - p) * (1 - p)) / RACE_HALVES;
	}
	observations->gram = palloc_extended((Size) n * n * sizeof(float), MCXT_ALLOC_HUGE);
	race_gram_of_places(&proportion->radial, proportion->places, n, observations->gram);
	pfree(points);
}

/* Observe a pair.  Return false if there is nothing that a function can be fitted to. */
static bool
observe_pair(RaceProportion *proportion, Observations *observations, MemoryContext context)
{
	const RaceView *lower = &observations->questions[RACE_LOWER].view;
	const RaceView *upper = &observations->questions[RACE_UPPER].view;
	double records = 0;

	if (!race_radial_can(lower->params))
		return false;
	race_radial_init(&proportion->radial, lower->params);
	if (proportion->radial.dims > RACE_COSINE_DIMS)
		return false;
	if (!race_summary_kind(lower->params)->hashed)
		observe_nodes(proportion, observations, context);
	else if (lower->model != NULL && lower->model->misfit < RACE_UNTESTED && upper->model != NULL &&
			 upper->model->misfit < RACE_UNTESTED)
		observe_points(proportion, observations, context);
	for (uint32 i = 0; i < proportion->n; i++)
		records += proportion->records[i];
	observations->noise = Max(observations->noise, pow(LEAST_NOISE * records, 2));
	return records > 0 && isfinite(records * records) && isfinite(observations->noise);
}

/* Set the sums that v records at the places would have. */
static void
multiply_kernel(const Observations *observations, uint32 n, const double *v, double *out)
{
	RaceGram gram = {.m = n, .dense = observations->gram};

	if (observations->gram == NULL)
		memcpy(out, v, n * sizeof(double));
	else
		race_gram_multiply(&gram, v, out);
}

/* --------------------------------------------------------------- regression */

/*
 * Linear equations for the coefficients of the cosines: gram a = right, where the noise of `right`
 * has the covariance gram.  Coefficients are normal a priori, and so they are a posteriori.
 */
typedef struct Equations
{
	const RaceCosines *basis;
	double *gram;   /* [n][n] */
	double *right;  /* [n] */
	double *prior;  /* standard deviations, [n] */
	double *factor; /* Cholesky factor of 1 + prior gram prior, [n][n] */
} Equations;

/*
 * Set the prior standard deviations of coefficients to those of a Matern process (Solin & Sarkka
 * 2020); the constant is as uncertain again as all that varies.  Factorize, set the posterior mean,
 * and return the logarithm of the marginal likelihood.
 */
static double
find_posterior(Equations *equations, double deviation, double length, double *mean)
{
	uint32 n = equations->basis->n;
	double *prior = equations->prior;
	double *factor = equations->factor;
	double likelihood = 0;
	double sum = 0;

	CHECK_FOR_INTERRUPTS();
	for (uint32 i = 0; i < n; i++)
		sum += prior[i] = pow(1 + equations->basis->square[i] * length * length / (2 * SMOOTHNESS),
							  -SMOOTHNESS - equations->basis->dims / 2.0);
	for (uint32 i = 0; i < n; i++)
		prior[i] = deviation * sqrt(prior[i] / sum + (i == 0));
	for (uint32 i = 0; i < n; i++)
		for (uint32 j = 0; j <= i; j++)
			factor[i * n + j] = (i == j) + prior[i] * prior[j] * equations->gram[i * n + j];
	race_factorize(factor, n, 1);
	for (uint32 i = 0; i < n; i++)
		mean[i] = prior[i] * equations->right[i];
	race_solve_lower(factor, n, mean);
	for (uint32 i = 0; i < n; i++)
		likelihood += mean[i] * mean[i] / 2 - log(factor[i * n + i]);
	race_solve_upper(factor, n, mean);
	for (uint32 i = 0; i < n; i++)
		mean[i] *= prior[i];
	return likelihood;
}

/*
 * Find the posterior mean of the likeliest scale and length, of which the equations keep the prior
 * and the factor.
 */
static void
find_likeliest(Equations *equations, double *mean)
{
	double most = -INFINITY;
	int best = 0;

	for (int c = 0; c < CHOICES; c++)
	{
		double likelihood =
			find_posterior(equations, deviations[c / LENGTHS], lengths[c % LENGTHS], mean);

		if (likelihood > most)
		{
			most = likelihood;
			best = c;
		}
	}
	(void) find_posterior(equations, deviations[best / LENGTHS], lengths[best % LENGTHS], mean);
}

static double
share_of_terms(const RaceProportion *proportion, const double *terms)
{
	double share =
		proportion->mean + race_dot(proportion->coefficients, terms, proportion->basis.n);

	return Max(Min(share, 1), 0);
}

/* Set the share at each place, and the records of the upper sketch. */
static void
set_shares(RaceProportion *proportion, double *shares)
{
	double terms[RACE_COSINE_TERMS];

	for (uint32 j = 0; j < proportion->n; j++)
	{
		race_cosines_at(&proportion->basis, proportion->places + j, proportion->n, terms);
		shares[j] = share_of_terms(proportion, terms);
		proportion->upper_records[j] = proportion->records[j] * shares[j];
	}
}

/*
 * Set the Gram matrix of the basis times the records, [terms][places], without the variance of
 * noise.
 */
static double *
weigh_basis(const RaceProportion *proportion, const Observations *observations, double *gram)
{
	uint32 n = proportion->basis.n;
	Size places = proportion->n;
	double *weighted = palloc_extended(n * places * sizeof(double), MCXT_ALLOC_HUGE);
	double *product = palloc(places * sizeof(double));
	double terms[RACE_COSINE_TERMS];

	for (uint32 j = 0; j < places; j++)
	{
		race_cosines_at(&proportion->basis, proportion->places + j, places, terms);
		for (uint32 i = 0; i < n; i++)
			weighted[i * places + j] = terms[i] * proportion->records[j];
	}
	for (uint32 i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		multiply_kernel(observations, places, weighted + i * places, product);
		for (uint32 j = 0; j <= i; j++)
			gram[i * n + j] = gram[j * n + i] = race_dot(product, weighted + j * places, places);
	}
	pfree(product);
	return weighted;
}

/*
 * Set the observations less those of the mean share, linearized at shares found before.  Return the
 * variance of noise, the mean over records.
 */
static double
linearize_observations(const RaceProportion *proportion, const Observations *observations,
					   const double *shares, double *residuals)
{
	double records = 0;
	double sum = 0;

	multiply_kernel(observations, proportion->n, proportion->records, residuals);
	for (uint32 j = 0; j < proportion->n; j++)
	{
		double s = shares[j];

		residuals[j] = (1 - s) * observations->sums[RACE_UPPER][j] -
			s * observations->sums[RACE_LOWER][j] + (s - proportion->mean) * residuals[j];
		sum += ((1 - s) * (1 - s) + s * s) * proportion->records[j];
		records += proportion->records[j];
	}
	return observations->noise * sum / records;
}

/* Fit the coefficients, with their covariance. */
static void
fit_coefficients(RaceProportion *proportion, const Observations *observations)
{
	uint32 n = proportion->basis.n;
	Size square = (Size) n * n * sizeof(double);
	Equations equations = {&proportion->basis, palloc(square), palloc(n * sizeof(double)),
						   palloc(n * sizeof(double)), palloc(square)};
	double *weighted = weigh_basis(proportion, observations, equations.gram);
	double *shares = palloc(proportion->n * sizeof(double));
	double *residuals = palloc(proportion->n * sizeof(double));
	double noise = 1;

	for (int round = 0; round < ROUNDS; round++)
	{
		double before = noise;

		set_shares(proportion, shares);
		noise = linearize_observations(proportion, observations, shares, residuals);
		for (uint32 i = 0; i < n * n; i++)
			equations.gram[i] *= before / noise;
		for (uint32 i = 0; i < n; i++)
			equations.right[i] =
				race_dot(weighted + (Size) i * proportion->n, residuals, proportion->n) / noise;
		find_likeliest(&equations, proportion->coefficients);
	}
	set_shares(proportion, shares);
	race_invert_lower(equations.factor, n);
	race_root_product(equations.factor, n, proportion->covariance);
	for (uint32 i = 0; i < n; i++)
		for (uint32 j = 0; j < n; j++)
			proportion->covariance[i * n + j] *= equations.prior[i] * equations.prior[j];
}

/*
 * Predict the kernel-weighted mean of shares at a vector, with the variance of the regression.
 * Return false if the vector lies outside of the box of the regression.
 */
static bool
predict_share(const RaceProportion *proportion, const double *x, double *share, double *variance)
{
	uint32 n = proportion->basis.n;
	double terms[RACE_COSINE_TERMS];
	double records;

	race_radial_place(&proportion->radial, proportion->derived.params, x, proportion->place, 1);
	if (!race_cosines_cover(&proportion->basis, proportion->place))
		return false;
	race_cosines_at(&proportion->basis, proportion->place, 1, terms);
	records = race_radial_sum(&proportion->radial, proportion->place, proportion->places,
							  proportion->records, proportion->n);
	*share = records <= 0 ?
		share_of_terms(proportion, terms) :
		race_radial_sum(&proportion->radial, proportion->place, proportion->places,
						proportion->upper_records, proportion->n) /
			records;
	*share = Max(Min(*share, 1), 0);
	*variance = 0;
	for (uint32 i = 0; i < n; i++)
		*variance += terms[i] * race_dot(proportion->covariance + i * n, terms, n);
	*variance = Max(*variance, 0);
	return true;
}

/*
 * Return the variance of shares around the smooth function, by which the shares of kernel sums
 * differ from predictions more than noise explains, and a standard error of it.
 */
static double
estimate_nugget(const RaceProportion *proportion, const Observations *observations)
{
	const RaceQuestion *questions = observations->questions;
	uint32 step = (proportion->n + MAX_TESTS - 1) / MAX_TESTS;
	double sum = 0;
	double weights = 0;

	for (uint32 i = 0; i < proportion->n; i += step)
	{
		const double *x = observations->x + (Size) i * questions[0].view.params->dims;
		double sums[RACE_HALVES];
		double noise[RACE_HALVES];
		double s;
		double whole;
		double difference;
		double variance;

		CHECK_FOR_INTERRUPTS();
		if (proportion->records[i] == 0)
			continue;
		for (int half = 0; half < RACE_HALVES; half++)
		{
			const RaceView *view = &questions[half].view;
			const RaceGridded *gridded = race_summary_kind(view->params)->hashed ?
				NULL :
				race_evaluator_grid(race_evaluator_at(questions[half].site, view));

			sums[half] =
				gridded == NULL ? observations->sums[half][i] : race_gridded_sum(gridded, x);
			noise[half] = gridded == NULL ? observations->noise : gridded->noise_variance;
		}
		(void) predict_share(proportion, x, &s, &variance);
		whole = Max(sums[RACE_LOWER] + sums[RACE_UPPER],
					2 * sqrt(noise[RACE_LOWER] + noise[RACE_UPPER]));
		difference = ((1 - s) * sums[RACE_UPPER] - s * sums[RACE_LOWER]) / whole;
		variance =
			((1 - s) * (1 - s) * noise[RACE_UPPER] + s * s * noise[RACE_LOWER]) / (whole * whole);
		sum += (difference * difference - variance) / (variance * variance);
		weights += 1 / (variance * variance);
	}
	return isfinite(weights) && weights > 0 ? Max(sum / weights, 0) + sqrt(2 / weights) : 0;
}

/* Fit in a context that is deleted at the end; the result is in its own. */
static void *
create_proportion(const RaceView *view, void *question, MemoryContext context, Size *size)
{
	RaceProportion *proportion = MemoryContextAllocZero(context, sizeof(RaceProportion));
	Observations observations = {.questions = (RaceQuestion *) question};
	double lower = Max(observations.questions[RACE_LOWER].view.header->count, 0);
	double upper = Max(observations.questions[RACE_UPPER].view.header->count, 0);
	MemoryContext space =
		AllocSetContextCreate(CurrentMemoryContext, "fit of a proportion", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(space);

	race_derived_init(&proportion->derived, view, context);
	race_derived_init(&proportion->upper, &observations.questions[RACE_UPPER].view, context);
	proportion->mean = lower + upper > 0 ? upper / (lower + upper) : 0.5;
	proportion->none = !observe_pair(proportion, &observations, context);
	if (!proportion->none)
	{
		race_cosines_init(&proportion->basis, proportion->radial.dims, proportion->places,
						  proportion->n);
		proportion->place = MemoryContextAlloc(context, proportion->radial.dims * sizeof(double));
		proportion->covariance =
			MemoryContextAlloc(context, sizeof(double) * proportion->basis.n * proportion->basis.n);
		fit_coefficients(proportion, &observations);
		proportion->nugget = estimate_nugget(proportion, &observations);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(space);
	*size = sizeof(RaceProportion) + 2 * race_params_size(proportion->derived.params) +
		((Size) proportion->n * (proportion->radial.dims + 2) +
		 (Size) proportion->basis.n * proportion->basis.n) *
			sizeof(double);
	return proportion;
}

static bool
is_of_pair(const void *object, const void *question)
{
	return race_derived_is_of(&((const RaceProportion *) object)->upper,
							  &((const RaceQuestion *) question)[RACE_UPPER].view);
}

static const RaceDerivedKind proportion_of_pair = {"proportion", create_proportion, is_of_pair};

/* ---------------------------------------------------------------- estimates */

RaceCallSite **
race_half_sites_create(Oid type, MemoryContext context)
{
	RaceCallSite **sites = MemoryContextAlloc(context, RACE_HALVES * sizeof(RaceCallSite *));

	for (int i = 0; i < RACE_HALVES; i++)
		sites[i] = race_call_site_create(type, context);
	return sites;
}

/*
 * Ask both sketches about a query.  They must have the same rows: those that one of them lacks have
 * the rest of its records.  Sketches of whole records are halves, too, if each record is in one of
 * them.  Return the regression, or NULL: grids and fitted sketches of vectors have one, if there is
 * noise.  It asks about places of its own, before the query is asked about.
 */
static const RaceProportion *
ask_pair(RaceCallSite **sites, const RaceValuePair *pair, Datum query,
		 RaceQuestion questions[RACE_HALVES])
{
	const RaceView *lower = &questions[RACE_LOWER].view;
	const RaceView *upper = &questions[RACE_UPPER].view;
	const RaceProportion *proportion = NULL;

	for (int i = 0; i < RACE_HALVES; i++)
		race_ask_sketch(sites[i], pair->sketches[i], &questions[i]);
	race_params_check_same(lower->params, upper->params);
	if (lower->header->noise.half == RACE_UPPER_HALF ||
		upper->header->noise.half == RACE_LOWER_HALF)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the lower half must come first, and then the upper half")));
	race_check_belong(lower->header, upper->header);
	if (lower->header->noise.counter_variance > 0)
		proportion =
			race_derived_at(questions[RACE_LOWER].site, &proportion_of_pair, lower, questions);
	for (int i = 0; i < RACE_HALVES; i++)
		race_ask_about(&questions[i], query);
	return proportion == NULL || proportion->none ? NULL : proportion;
}

typedef struct Estimate
{
	bool has_mean; /* else there is only an interval */
	double share;
	double deviation;
	double lower;
	double upper;
} Estimate;

/*
 * Estimate the share by kernel sums alone, with Fieller's interval: all shares s for which (1 - s)
 * f_U - s f_L is within its noise of zero.
 */
static Estimate
estimate_by_ratio(const RaceRatio *share, double t)
{
	/* the variance of the sum, at least that of one sketch */
	double variance = Max(share->b_variance, share->a_variance);
	double s = share->a / share->b;
	Estimate estimate = {share->b > LEAST_SUM * sqrt(variance), 0, 0, 0, 1};

	if (estimate.has_mean)
	{
		estimate.share = s;
		estimate.deviation =
			sqrt(
				Max(share->a_variance - 2 * s * share->covariance + s * s * share->b_variance, 0)) /
			share->b;
	}
	if (!race_ratio_bounds(share, t, &estimate.lower, &estimate.upper))
	{
		estimate.lower = 0;
		estimate.upper = 1;
	}
	return estimate;
}

/*
 * Estimate the share by the prediction m and the residual of kernel sums, e = (f_U - m (f_L + f_U))
 * / (f_L + f_U).  e has a variance v of noise and the nugget b, so m + b / (b + v) e has the least
 * error.
 *
 * Noise alone weighs the sums against the prediction.  The error of cells counts for the interval
 * alone: it is a bound for all places, and nearly cancels in shares.  The error of the prediction
 * and that of the sums are not independent; their covariance is at most the variance of the
 * prediction.
 */
static Estimate
estimate_by_prediction(const RaceProportion *proportion, const RaceDensity densities[RACE_HALVES],
					   const double noise_of[RACE_HALVES], const RaceRatio *share, double m,
					   double variance, double t)
{
	double whole = Max(share->b, LEAST_SUM * sqrt(share->b_variance));
	double e =
		((1 - m) * densities[RACE_UPPER].kernel_sum - m * densities[RACE_LOWER].kernel_sum) / whole;
	double v = Max(share->a_variance - 2 * m * share->covariance + m * m * share->b_variance, 0) /
		(whole * whole);
	double noise = Min(((1 - m) * (1 - m) * noise_of[RACE_UPPER] + m * m * noise_of[RACE_LOWER]) /
						   (whole * whole),
					   v);
	double nugget = Max(proportion->nugget, e * e - OUTLIER * v);
	double part = isfinite(v) && nugget + noise > 0 ? nugget / (nugget + noise) : 0;
	Estimate estimate;

	estimate.has_mean = true;
	estimate.share = Max(Min(m + part * e, 1), 0);
	estimate.deviation = sqrt((part > 0 ? part * (noise + part * (v - noise)) : nugget) +
							  (1 - part * part) * variance);
	estimate.lower = estimate.share - t * estimate.deviation;
	estimate.upper = estimate.share + t * estimate.deviation;
	return estimate;
}

/* Estimate the share, with sums cut off at 0: true sums are not negative. */
static Estimate
estimate_share(RaceQuestion questions[RACE_HALVES], const RaceProportion *proportion,
			   double confidence)
{
	bool hashed = race_summary_kind(questions[0].view.params)->hashed;
	RaceDensity densities[RACE_HALVES];
	double covariance = race_estimate_two(questions, densities);
	double noise[RACE_HALVES];
	RaceColumn record[RACE_MAX_PARTS];
	RaceRatio share;
	double m;
	double variance;
	double t = 0;

	for (int i = 0; i < RACE_HALVES; i++)
	{
		race_estimate_warn(&questions[i], &densities[i]);
		questions[RACE_UPPER].site->warned |= questions[RACE_LOWER].site->warned;
		t = Max(t, race_estimate_reach(&questions[i].view, confidence, 0));
		noise[i] = hashed || proportion == NULL ?
			densities[i].sum_variance :
			race_evaluator_grid(race_evaluator_at(questions[i].site, &questions[i].view))
				->noise_variance;
	}
	share.a = Max(densities[RACE_UPPER].kernel_sum, 0);
	share.b = Max(densities[RACE_LOWER].kernel_sum, 0) + share.a;
	share.a_variance = densities[RACE_UPPER].sum_variance + (hashed ? 0 : GRID_SPLIT * share.b);
	share.b_variance =
		densities[RACE_LOWER].sum_variance + densities[RACE_UPPER].sum_variance + 2 * covariance;
	share.covariance = densities[RACE_UPPER].sum_variance + covariance;
	if (proportion != NULL)
	{
		race_question_record(&questions[RACE_LOWER], record);
		if (predict_share(proportion, record[0].numbers, &m, &variance))
			return estimate_by_prediction(proportion, densities, noise, &share, m, variance, t);
	}
	return estimate_by_ratio(&share, t);
}

/* Return the value between these bounds that a share stands for, which is clamped to 0 to 1. */
static double
value_of_share(double share, double lower, double upper)
{
	if (share >= 1)
		return upper;
	return share <= 0 ? lower : lower + (upper - lower) * share;
}

Datum
race_conditional_mean_row(FunctionCallInfo fcinfo, RaceCallSite **sites, const RaceValuePair *pair,
						  Datum query, double confidence)
{
	double lower = pair->bounds[RACE_LOWER];
	double upper = pair->bounds[RACE_UPPER];
	RaceQuestion questions[RACE_HALVES];
	RaceResultRow row;
	const RaceProportion *proportion;
	Estimate estimate;
	double values[3];

	race_check_confidence(confidence);
	race_check_value_bounds(lower, upper);
	race_row_start(&row, fcinfo);
	proportion = ask_pair(sites, pair, query, questions);
	estimate = estimate_share(questions, proportion, confidence);
	values[0] = estimate.share;
	values[1] = estimate.lower;
	values[2] = estimate.upper;
	for (int i = 0; i < 3; i++)
		values[i] = value_of_share(values[i], lower, upper);
	race_row_add_if(&row, estimate.has_mean, Float8GetDatum(values[0]));
	race_row_add_if(&row, estimate.has_mean, Float8GetDatum((upper - lower) * estimate.deviation));
	race_row_add(&row, Float8GetDatum(values[1]));
	race_row_add(&row, Float8GetDatum(values[2]));
	return race_row_datum(&row);
}

/*
 * Implement race_conditional_mean(lower_sketch, upper_sketch, q, value_lower, value_upper,
 * confidence).
 */
Datum
race_conditional_mean(PG_FUNCTION_ARGS)
{
	FmgrInfo *flinfo = fcinfo->flinfo;
	RaceValuePair pair;

	if (flinfo->fn_extra == NULL)
		flinfo->fn_extra = race_half_sites_create(race_argument_type(flinfo, 2), flinfo->fn_mcxt);
	for (int i = 0; i < RACE_HALVES; i++)
	{
		pair.sketches[i] = PG_GETARG_DATUM(i);
		pair.bounds[i] = PG_GETARG_FLOAT8(3 + i);
	}
	return race_conditional_mean_row(fcinfo, (RaceCallSite **) flinfo->fn_extra, &pair,
									 PG_GETARG_DATUM(2), PG_GETARG_FLOAT8(5));
}
