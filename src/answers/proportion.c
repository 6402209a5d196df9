/*
 * proportion.c
 *		Conditional means: the mean of a bounded value near a query
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "../core/core.h"
#include "cosine_basis.h"
#include "estimate.h"
#include "evaluator.h"
#include "proportion.h"
#include "solver.h"

/*
 * Gaussian-process regression of proportions.
 *
 * The share of the upper sketch of a pair in both is a function of the place.  Where there are few records,
 * a share is predicted from those around.  A priori the function is a Gaussian process, whose scale and
 * smoothness the sketches determine.
 */

/* ------------------------------------------------------------- observations */

/*
 * Observations of a pair at places.  Of a grid the places are nodes, which have noise of their own
 * each.  Of rows they are the points of the models, and the observations are kernel sums, whose
 * noise is correlated as the kernel is.
 */
typedef struct Observations
{
	uint32		n;				/* places; 0 if there is nothing to observe */
	double	   *x;				/* [n][dims] of the parameters */
	double	   *places;			/* the same in bandwidths, [radial->dims][n] */
	double	   *records;		/* [n]: how many there are, about; not negative */
	double	   *sums[RACE_HALVES];	/* [n]: of each sketch */
	double		noise;			/* variance of a sum of one sketch */
	float	   *gram;			/* [n][n], of rows; NULL of grids */
	RaceRadial *radial;
} Observations;

#define MAX_NODES		4096
#define MAX_POINTS		2048	/* there is a matrix of them */

/* Number of standard deviations above 0 from which a number of records is used */
#define SIGNIFICANT		3.0

static void
allocate_places(Observations *observations, const RaceParams *params, uint32 n)
{
	observations->n = n;
	observations->x = palloc((Size) n * params->dims * sizeof(double));
	observations->places = palloc((Size) n * observations->radial->dims * sizeof(double));
	observations->records = palloc0(n * sizeof(double));
	for (int half = 0; half < RACE_HALVES; half++)
		observations->sums[half] = palloc0(n * sizeof(double));
}

static void
measure_places(Observations *observations, const RaceParams *params)
{
	for (uint32 i = 0; i < observations->n; i++)
		race_radial_place(observations->radial, params, observations->x + (Size) i * params->dims,
						  observations->places + i, observations->n);
}

/*
 * Return the nodes of the coarsest level that a sketch has, coarser still if they are too many, in
 * records; NULL if they stay too many.  Set the variance of their noise.
 */
static double *
coarse_nodes(const RaceView *view, RaceGrid *grid, double *noise)
{
	double		unit = (double) race_record_unit(view->params);
	Size		from = 0;
	double	   *nodes;

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
		*noise *= pow(1.5, grid->dims);	/* weights 1/2, 1, 1/2 along each axis */
	}
	return nodes;
}

/* Average over neighbors with the weights 1/4, 1/2, 1/4 along each axis; at the bounds 3/4, 1/4. */
static void
average_neighbors(const RaceGrid *grid, double *v)
{
	Size		stride = grid->nodes;

	CHECK_FOR_INTERRUPTS();
	for (uint32 axis = 0; axis < grid->dims; axis++)
	{
		uint32		n = grid->cells[axis] + 1;

		stride /= n;
		for (Size i = 0; i < grid->nodes; i++)
		{
			double		before = v[i];

			for (uint32 k = 0; k < n && i / stride % n == 0; k++)
			{
				double		here = v[i + k * stride];
				double		after = k + 1 < n ? v[i + (k + 1) * stride] : here;

				v[i + k * stride] = (before + 2 * here + after) / 4;
				before = here;
			}
		}
	}
}

/*
 * Estimate how many records nodes have: of ever smoother local means the first one that is significant.
 * Where none is, the number stays 0.
 */
static void
estimate_records(Observations *observations, const RaceGrid *grid)
{
	static const int smoothings[] = {0, 1, 4, 16, 64};
	double	   *mean = palloc(observations->n * sizeof(double));
	double		left = 1;		/* of a variance, along an axis */
	int			done = 0;

	for (uint32 k = 0; k < observations->n; k++)
		mean[k] = observations->sums[RACE_LOWER][k] + observations->sums[RACE_UPPER][k];
	for (int i = 0; i < (int) lengthof(smoothings); i++)
	{
		double		variance;

		for (; done < smoothings[i]; done++)
		{
			average_neighbors(grid, mean);
			/* squares of binomial coefficients: C(4 s, 2 s) / 2^(4 s) after s smoothings */
			left *= (4.0 * done + 1) / (4.0 * done + 2) * (4.0 * done + 3) / (4.0 * done + 4);
		}
		variance = 2 * observations->noise * pow(left, grid->dims);
		for (uint32 k = 0; k < observations->n; k++)
			if (observations->records[k] == 0 && mean[k] > SIGNIFICANT * sqrt(variance))
				/* less what noise adds to its square, on average */
				observations->records[k] = mean[k] - variance / mean[k];
	}
	pfree(mean);
}

static void
observe_nodes(const RaceQuestion *questions, Observations *observations)
{
	const RaceParams *params = questions[0].view.params;
	double	   *nodes[RACE_HALVES];
	RaceGrid	grid;

	for (int half = 0; half < RACE_HALVES; half++)
	{
		double		noise;

		nodes[half] = coarse_nodes(&questions[half].view, &grid, &noise);
		if (nodes[half] == NULL)
			return;
		observations->noise += noise / RACE_HALVES;
	}
	allocate_places(observations, params, grid.nodes);
	for (int half = 0; half < RACE_HALVES; half++)
		observations->sums[half] = nodes[half];
	for (uint32 i = 0; i < observations->n; i++)
	{
		uint32		rest = i;

		for (int axis = grid.dims - 1; axis >= 0; axis--)
		{
			uint32		side = grid.cells[axis] + 1;

			observations->x[(Size) i * grid.dims + axis] = grid.lower[axis] +
				rest % side * grid.width[axis];
			rest /= side;
		}
	}
	measure_places(observations, params);
	estimate_records(observations, &grid);
}

typedef struct Point
{
	const double *x;
	double		records;
} Point;

static int
compare_points(const void *a, const void *b)
{
	double		x = ((const Point *) a)->records;
	double		y = ((const Point *) b)->records;

	return (x < y) - (x > y);
}

/* Collect the points of both models that have a weight, the heaviest first. */
static uint32
collect_points(const RaceQuestion *questions, Point *points)
{
	uint32		n = 0;

	for (int half = 0; half < RACE_HALVES; half++)
	{
		const RaceView *view = &questions[half].view;
		RaceColumn	columns[RACE_MAX_PARTS];

		race_check_model(view);
		race_model_columns(view->model, view->params, columns);
		for (uint64 i = 0; i < view->model->points; i++)
		{
			points[n].x = columns[0].numbers + i * view->params->dims;
			points[n].records = race_model_weight(view->model, i);
			n += points[n].records > 0;
		}
	}
	qsort(points, n, sizeof(Point), compare_points);
	return n;
}

/* Sum the answer of a model and all residuals of the rows, and set the variance of noise. */
static double
sum_of_rows(RaceQuestion *question, const double *x, double *variance)
{
	const RaceView *view = &question->view;
	RaceEvaluator *evaluator = race_evaluator_at(question->site, view);
	double		p = race_collision_probability(view->params);
	RaceColumn	record[RACE_MAX_PARTS];

	*variance = Max(view->header->noise.counter_variance / view->params->rows,
					view->model->residual_variance) / ((1 - p) * (1 - p));
	race_ask_about_vector(question, x);
	race_question_record(question, record);
	return race_evaluator_sum(evaluator, record) +
		race_correct_collisions(view->params, race_estimator_mean(view, evaluator, question->buckets, 0,
															 view->params->rows), 0);
}

static void
observe_points(RaceQuestion *questions, Observations *observations)
{
	const RaceParams *params = questions[0].view.params;
	Point	   *points = palloc((questions[0].view.model->points +
								 questions[1].view.model->points + 1) * sizeof(Point));
	uint32		n = collect_points(questions, points);
	double		variance = 0;

	if (n == 0)
		return;
	allocate_places(observations, params, Min(n, MAX_POINTS));
	for (uint32 i = 0; i < observations->n; i++)
	{
		memcpy(observations->x + (Size) i * params->dims, points[i].x,
			   params->dims * sizeof(double));
		observations->records[i] = points[i].records;
	}
	measure_places(observations, params);
	for (int half = 0; half < RACE_HALVES; half++)
	{
		for (uint32 i = 0; i < observations->n; i++)
		{
			CHECK_FOR_INTERRUPTS();
			observations->sums[half][i] = sum_of_rows(&questions[half], points[i].x, &variance);
		}
		observations->noise += variance / RACE_HALVES;
	}
	observations->gram = palloc_extended((Size) observations->n * observations->n * sizeof(float),
										 MCXT_ALLOC_HUGE);
	race_gram_of_places(observations->radial, observations->places, observations->n,
						observations->gram);
	pfree(points);
}

static bool
has_tested_model(const RaceView *view)
{
	return view->model != NULL && view->model->misfit < RACE_UNTESTED;
}

/* Noise below this part of all records is not told from rounding. */
#define LEAST_NOISE		1e-6

/*
 * Observe a pair.  Return false if there is nothing that a function can be fitted to.  The sites of the
 * questions ask about other queries afterwards.
 */
static bool
observe(RaceQuestion questions[RACE_HALVES], Observations *observations)
{
	const RaceParams *params = questions[0].view.params;
	double		records = 0;

	memset(observations, 0, sizeof(Observations));
	if (!race_radial_can(params))
		return false;
	observations->radial = palloc(sizeof(RaceRadial));
	race_radial_init(observations->radial, params);
	if (observations->radial->dims > RACE_COSINE_DIMS)
		return false;
	if (!race_summary_kind(params)->hashed)
		observe_nodes(questions, observations);
	else if (has_tested_model(&questions[0].view) && has_tested_model(&questions[1].view))
		observe_points(questions, observations);
	for (uint32 i = 0; i < observations->n; i++)
		records += observations->records[i];
	observations->noise = Max(observations->noise, pow(LEAST_NOISE * records, 2));
	return records > 0 && isfinite(records * records) && isfinite(observations->noise);
}

/* Set the sums that v records at the places would have. */
static void
multiply_kernel(const Observations *observations, const double *v, double *out)
{
	RaceGram	gram = {.m = observations->n, .dense = observations->gram};

	if (observations->gram == NULL)
		memcpy(out, v, observations->n * sizeof(double));
	else
		race_gram_multiply(&gram, v, out);
}

/* ---------------------------------------------------------------- posterior */

/*
 * Linear equations for the coefficients of a function: gram a = right, where the noise of `right` has the
 * covariance gram.  Coefficients are normal a priori, and so they are a posteriori.
 */
typedef struct Equations
{
	uint32		n;
	double	   *gram;			/* [n][n] */
	double	   *right;			/* [n] */
	double	   *factor;			/* [n][n]: space, for a Cholesky factor, */
	double	   *inverse;		/* [n][n]: and for the inverse of what it is of */
} Equations;

static Equations
create_equations(uint32 n)
{
	Size		square = (Size) n * n * sizeof(double);
	Equations	equations = {n, palloc0(square), palloc0(n * sizeof(double)), palloc(square), palloc(square)};

	return equations;
}

/*
 * Set the prior standard deviations of coefficients: those of a Matern process of this smoothness
 * (Solin & Sarkka 2020).  The constant is as uncertain again as all that varies.
 */
static void
set_prior(const RaceCosines *basis, double smoothness, double deviation, double length, double *prior)
{
	double		sum = 0;

	for (uint32 i = 0; i < basis->n; i++)
	{
		prior[i] = pow(1 + basis->square[i] * length * length / (2 * smoothness),
					   -smoothness - basis->dims / 2.0);
		sum += prior[i];
	}
	for (uint32 i = 0; i < basis->n; i++)
		prior[i] = deviation * sqrt(prior[i] / sum + (i == 0));
}

/* Factorize 1 + prior gram prior. */
static void
factorize(const Equations *equations, const double *prior)
{
	uint32		n = equations->n;

	for (uint32 i = 0; i < n; i++)
		for (uint32 j = 0; j <= i; j++)
			equations->factor[i * n + j] = (i == j) + prior[i] * prior[j] * equations->gram[i * n + j];
	race_factorize(equations->factor, n, 1);
}

/* Set the posterior mean.  Return the logarithm of the marginal likelihood. */
static double
find_posterior(const Equations *equations, const double *prior, double *mean)
{
	uint32		n = equations->n;
	double		likelihood = 0;

	CHECK_FOR_INTERRUPTS();
	factorize(equations, prior);
	for (uint32 i = 0; i < n; i++)
		mean[i] = prior[i] * equations->right[i];
	race_solve_lower(equations->factor, n, mean);
	for (uint32 i = 0; i < n; i++)
		likelihood += mean[i] * mean[i] / 2 - log(equations->factor[i * n + i]);
	race_solve_upper(equations->factor, n, mean);
	for (uint32 i = 0; i < n; i++)
		mean[i] *= prior[i];
	return likelihood;
}

/* Turn logarithms of likelihoods into probabilities. */
static void
normalize_likelihoods(double *p, int n)
{
	double		most = -INFINITY;
	double		sum = 0;

	for (int i = 0; i < n; i++)
		most = Max(most, p[i]);
	for (int i = 0; i < n; i++)
		sum += p[i] = exp(p[i] - most);
	for (int i = 0; i < n; i++)
		p[i] /= sum;
}

/*
 * Standard deviations and lengths of the process, the latter in bandwidths.  Posteriors are averaged over
 * all, by their marginal likelihoods.
 */
static const double deviations[] = {0.02, 0.05, 0.1, 0.2, 0.4};
static const double lengths[] = {0.5, 1, 2, 4, 8, 16, 32};

#define SMOOTHNESS		1.5
#define LENGTHS			((int) lengthof(lengths))
#define CHOICES			(LENGTHS * (int) lengthof(deviations))

/* A choice with less probability is left out of the covariance. */
#define LEAST_PROBABILITY		1e-3

/* Set the mean of the coefficients.  Add their covariance [n][n] unless that is NULL. */
static void
average_posteriors(const RaceCosines *basis, const Equations *equations, double *mean, double *covariance)
{
	uint32		n = basis->n;
	double	   *means = palloc((Size) CHOICES * n * sizeof(double));
	double	   *prior = palloc(n * sizeof(double));
	double		probabilities[CHOICES];

	for (int c = 0; c < CHOICES; c++)
	{
		set_prior(basis, SMOOTHNESS, deviations[c / LENGTHS], lengths[c % LENGTHS], prior);
		probabilities[c] = find_posterior(equations, prior, means + c * n);
	}
	normalize_likelihoods(probabilities, CHOICES);
	memset(mean, 0, n * sizeof(double));
	for (int c = 0; c < CHOICES; c++)
		for (uint32 i = 0; i < n; i++)
			mean[i] += probabilities[c] * means[c * n + i];
	for (int c = 0; c < CHOICES && covariance != NULL; c++)
	{
		const double *of_choice = means + c * n;

		if (probabilities[c] < LEAST_PROBABILITY)
			continue;
		set_prior(basis, SMOOTHNESS, deviations[c / LENGTHS], lengths[c % LENGTHS], prior);
		factorize(equations, prior);
		race_invert_lower(equations->factor, n);
		race_root_product(equations->factor, n, equations->inverse);
		for (uint32 i = 0; i < n; i++)
			for (uint32 j = 0; j < n; j++)
				covariance[i * n + j] += probabilities[c] *
					(prior[i] * prior[j] * equations->inverse[i * n + j] +
					 (of_choice[i] - mean[i]) * (of_choice[j] - mean[j]));
	}
	pfree(means);
	pfree(prior);
}

/* --------------------------------------------------------------- regression */

/* Prediction of a kernel-weighted mean of shares */
typedef struct RacePrediction
{
	double		share;
	double		variance;		/* of the regression */
	double		nugget;			/* variance of shares around the smooth function */
} RacePrediction;

typedef struct RaceProportion
{
	RaceDerived	derived;			/* must be first: the lower sketch, */
	RaceDerived	upper;			/* and the other one */
	bool		none;			/* there is no function, and nothing below */
	RaceRadial	radial;
	RaceCosines basis;
	uint32		n;				/* places */
	double	   *places;			/* [radial.dims][n] */
	double	   *records;		/* [n] */
	double	   *upper_records;	/* [n]: times the share */
	double	   *place;			/* space for one */
	double		mean;
	double		coefficients[RACE_COSINE_TERMS];
	double	   *covariance;		/* of them, [basis.n][basis.n] */
	double		nugget;
} RaceProportion;

/*
 * With n records and a share s at each of many places, the upper sketch has K (s n) + noise,
 * and the lower one K ((1 - s) n) + noise.  K is the kernel; of nodes of grids it is 1.  The noise of
 * rows has a covariance in proportion to K.  So with s near a known s0,
 * (1 - s0) upper - s0 lower + s0 K n = K (s n) + noise,
 * which is linear in s, and an error of n matters little: where s is s0, not at all.  s is the
 * mean share of all records plus a sum of cosines.
 */
#define ROUNDS		3			/* of finding s0 */

static double
share_of_terms(const RaceProportion *proportion, const double *terms)
{
	double		share = proportion->mean +
		race_dot(proportion->coefficients, terms, proportion->basis.n);

	return Max(Min(share, 1), 0);
}

/* Set the share at each place, and the records of the upper sketch. */
static void
set_shares(RaceProportion *proportion, double *shares)
{
	double		terms[RACE_COSINE_TERMS];

	for (uint32 j = 0; j < proportion->n; j++)
	{
		race_cosines_at(&proportion->basis, proportion->places + j, proportion->n, terms);
		shares[j] = share_of_terms(proportion, terms);
		proportion->upper_records[j] = proportion->records[j] * shares[j];
	}
}

/* Set the Gram matrix of the basis times the records, [terms][places], without the variance of noise. */
static double *
weigh_basis(const RaceProportion *proportion, const Observations *observations, double *gram)
{
	uint32		n = proportion->basis.n;
	Size		places = proportion->n;
	double	   *weighted = palloc_extended(n * places * sizeof(double), MCXT_ALLOC_HUGE);
	double	   *product = palloc(places * sizeof(double));
	double		terms[RACE_COSINE_TERMS];

	for (uint32 j = 0; j < places; j++)
	{
		race_cosines_at(&proportion->basis, proportion->places + j, places, terms);
		for (uint32 i = 0; i < n; i++)
			weighted[i * places + j] = terms[i] * proportion->records[j];
	}
	for (uint32 i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		multiply_kernel(observations, weighted + i * places, product);
		for (uint32 j = 0; j <= i; j++)
			gram[i * n + j] = gram[j * n + i] = race_dot(product, weighted + j * places, places);
	}
	pfree(product);
	return weighted;
}

/*
 * Set the observations less those of the mean share, linearized at shares found before.  Return the variance
 * of noise, the mean over records.
 */
static double
linearize(const RaceProportion *proportion, const Observations *observations, const double *shares,
		  double *residuals)
{
	double		records = 0;
	double		sum = 0;

	multiply_kernel(observations, proportion->records, residuals);
	for (uint32 j = 0; j < proportion->n; j++)
	{
		double		s = shares[j];

		residuals[j] = (1 - s) * observations->sums[RACE_UPPER][j] -
			s * observations->sums[RACE_LOWER][j] + (s - proportion->mean) * residuals[j];
		sum += ((1 - s) * (1 - s) + s * s) * proportion->records[j];
		records += proportion->records[j];
	}
	return observations->noise * sum / records;
}

static void
fit_coefficients(RaceProportion *proportion, const Observations *observations)
{
	uint32		n = proportion->basis.n;
	Equations	equations = create_equations(n);
	double	   *weighted = weigh_basis(proportion, observations, equations.gram);
	double	   *shares = palloc(proportion->n * sizeof(double));
	double	   *residuals = palloc(proportion->n * sizeof(double));
	double		noise = 1;

	for (int round = 0; round < ROUNDS; round++)
	{
		double		before = noise;

		set_shares(proportion, shares);
		noise = linearize(proportion, observations, shares, residuals);
		for (uint32 i = 0; i < n * n; i++)
			equations.gram[i] *= before / noise;
		for (uint32 i = 0; i < n; i++)
			equations.right[i] = race_dot(weighted + (Size) i * proportion->n, residuals,
										  proportion->n) / noise;
		average_posteriors(&proportion->basis, &equations, proportion->coefficients,
						   round == ROUNDS - 1 ? proportion->covariance : NULL);
	}
	set_shares(proportion, shares);
}

/* Predict at a vector.  Return false if it lies outside of the box of the regression. */
static bool
predict_share(const RaceProportion *proportion, const double *x, RacePrediction *prediction)
{
	uint32		n = proportion->basis.n;
	double		terms[RACE_COSINE_TERMS];
	double		records;

	race_radial_place(&proportion->radial, proportion->derived.params, x, proportion->place, 1);
	if (!race_cosines_cover(&proportion->basis, proportion->place))
		return false;
	race_cosines_at(&proportion->basis, proportion->place, 1, terms);
	records = race_radial_sum(&proportion->radial, proportion->place, proportion->places,
							  proportion->records, proportion->n);
	prediction->share = records <= 0 ? share_of_terms(proportion, terms) :
		race_radial_sum(&proportion->radial, proportion->place, proportion->places,
						proportion->upper_records, proportion->n) / records;
	prediction->share = Max(Min(prediction->share, 1), 0);
	prediction->variance = 0;
	for (uint32 i = 0; i < n; i++)
		prediction->variance += terms[i] * race_dot(proportion->covariance + i * n, terms, n);
	prediction->variance = Max(prediction->variance, 0);
	prediction->nugget = proportion->nugget;
	return true;
}

/* ------------------------------------------------------------------- nugget */

#define MAX_TESTS		512		/* places at which kernel sums are compared with predictions, spread over all */

/* Set the difference of a share by kernel sums from its prediction, and the variance of noise. */
static void
test_prediction(const RaceProportion *proportion, const RaceQuestion *questions,
				const Observations *observations, uint32 i, double *difference, double *variance)
{
	const double *x = observations->x + (Size) i * questions[0].view.params->dims;
	double		sums[RACE_HALVES];
	double		variances[RACE_HALVES];
	RacePrediction prediction;
	double		s;
	double		whole;

	for (int half = 0; half < RACE_HALVES; half++)
	{
		sums[half] = observations->sums[half][i];
		variances[half] = observations->noise;
		if (!race_summary_kind(questions[half].view.params)->hashed)
		{
			const RaceGridded *gridded =
				race_evaluator_grid(race_evaluator_at(questions[half].site, &questions[half].view));

			sums[half] = race_gridded_sum(gridded, x);
			variances[half] = race_gridded_noise(gridded);
		}
	}
	(void) predict_share(proportion, x, &prediction);
	s = prediction.share;
	whole = Max(sums[RACE_LOWER] + sums[RACE_UPPER],
				2 * sqrt(variances[RACE_LOWER] + variances[RACE_UPPER]));
	*difference = ((1 - s) * sums[RACE_UPPER] - s * sums[RACE_LOWER]) / whole;
	*variance = ((1 - s) * (1 - s) * variances[RACE_UPPER] + s * s * variances[RACE_LOWER]) /
		(whole * whole);
}

/*
 * Return the variance of shares around the smooth function, by which differences exceed noise, and a standard
 * error of it.
 */
static double
estimate_nugget(const RaceProportion *proportion, const RaceQuestion *questions,
				const Observations *observations)
{
	uint32		step = (observations->n + MAX_TESTS - 1) / MAX_TESTS;
	double		sum = 0;
	double		weights = 0;

	for (uint32 i = 0; i < observations->n; i += step)
	{
		double		difference;
		double		noise;
		double		weight;

		CHECK_FOR_INTERRUPTS();
		if (observations->records[i] == 0)
			continue;
		test_prediction(proportion, questions, observations, i, &difference, &noise);
		weight = 1 / (noise * noise);
		sum += weight * (difference * difference - noise);
		weights += weight;
	}
	return isfinite(weights) && weights > 0 ? Max(sum / weights, 0) + sqrt(2 / weights) : 0;
}

/* -------------------------------------------------------------------- cache */

static double *
copy_of(const double *v, Size n, MemoryContext context)
{
	double	   *copy = MemoryContextAllocHuge(context, n * sizeof(double));

	memcpy(copy, v, n * sizeof(double));
	return copy;
}

/* Fit in the current context; the result is in its own. */
static void
fit(RaceProportion *proportion, RaceQuestion *questions, MemoryContext context)
{
	double		lower = Max(questions[RACE_LOWER].view.header->count, 0);
	double		upper = Max(questions[RACE_UPPER].view.header->count, 0);
	Observations observations;
	uint32		n;

	proportion->none = !observe(questions, &observations);
	if (proportion->none)
		return;
	n = proportion->n = observations.n;
	proportion->radial = *observations.radial;
	race_cosines_init(&proportion->basis, proportion->radial.dims, observations.places, n);
	proportion->places = copy_of(observations.places, (Size) n * proportion->radial.dims, context);
	proportion->records = copy_of(observations.records, n, context);
	proportion->upper_records = copy_of(observations.records, n, context);
	proportion->place = MemoryContextAlloc(context, proportion->radial.dims * sizeof(double));
	proportion->covariance = MemoryContextAllocZero(context, sizeof(double) *
													proportion->basis.n * proportion->basis.n);
	proportion->mean = lower + upper > 0 ? upper / (lower + upper) : 0.5;
	fit_coefficients(proportion, &observations);
	proportion->nugget = estimate_nugget(proportion, questions, &observations);
}

static void *
create_proportion(const RaceView *view, void *question, MemoryContext context, Size *size)
{
	RaceQuestion *questions = (RaceQuestion *) question;
	MemoryContext space = AllocSetContextCreate(CurrentMemoryContext, "fit of a proportion",
												ALLOCSET_DEFAULT_SIZES);
	RaceProportion *proportion = MemoryContextAllocZero(context, sizeof(RaceProportion));
	MemoryContext old = MemoryContextSwitchTo(space);

	race_derived_init(&proportion->derived, view, context);
	race_derived_init(&proportion->upper, &questions[RACE_UPPER].view, context);
	fit(proportion, questions, context);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(space);
	*size = sizeof(RaceProportion) + 2 * race_params_size(proportion->derived.params) +
		((Size) proportion->n * (proportion->radial.dims + 2) +
		 (Size) proportion->basis.n * proportion->basis.n) * sizeof(double);
	return proportion;
}

static bool
is_of_pair(const void *object, const void *question)
{
	return race_derived_is_of(&((const RaceProportion *) object)->upper,
							&((const RaceQuestion *) question)[RACE_UPPER].view);
}

static const RaceDerivedKind proportion_of_pair = {"proportion", create_proportion, is_of_pair};

/*
 * Return the function of two sketches, which were asked at these call sites; or NULL if there is none:
 * grids and fitted sketches of vectors have one, if there is noise.  It stays as long as the
 * first site asks the same sketches.  Later queries come after this call.
 */
static const RaceProportion *
proportion_at(RaceQuestion questions[RACE_HALVES])
{
	const RaceProportion *proportion;

	if (questions[0].view.header->noise.counter_variance == 0)
		return NULL;
	proportion = race_derived_at(questions[RACE_LOWER].site, &proportion_of_pair,
								 &questions[RACE_LOWER].view, questions);
	return proportion->none ? NULL : proportion;
}

/*
 * race_conditional_mean: the mean of a bounded value near a query.
 *
 * The values lie between L and U, and the share (value - L) / (U - L) of each record is in
 * the upper of two sketches, the rest in the lower one.  So with f the kernel sum of a
 * sketch, the share s = f_U / (f_L + f_U) estimates that for which L + (U - L) s is the mean
 * of the values, weighted by the kernel (Nadaraya 1964, Watson 1964).
 *
 * The interval is Fieller's: all shares s for which (1 - s) f_U - s f_L is within its noise
 * of zero.  Noise and rows, and which of them a record is in, give it the variance
 * (1 - s)^2 v_U + s^2 v_L - 2 s (1 - s) c.
 *
 * Where there is a Gaussian-process prediction m (above), the residual of the sums is
 * e = (f_U - m (f_L + f_U)) / (f_L + f_U).  It has a variance v of noise and the nugget b, the
 * variance of shares around the prediction.  So m + b / (b + v) e has the least error.
 */

PG_FUNCTION_INFO_V1(race_conditional_mean);

/* Standard deviations of its noise above which a sum has information */
#define LEAST_SUM		2.0

/* The variance of a sum of records whose shares are rounded to steps in a grid: at most */
#define GRID_SPLIT	(0.25 / (RACE_GRID_STEPS * RACE_GRID_STEPS))

RaceCallSite **
race_half_sites_create(Oid type, MemoryContext context)
{
	RaceCallSite **sites = MemoryContextAlloc(context, RACE_HALVES * sizeof(RaceCallSite *));

	for (int i = 0; i < RACE_HALVES; i++)
		sites[i] = race_call_site_create(type, context);
	return sites;
}

/*
 * Both must have the same rows: those that one of them lacks have the rest of its records.
 * Sketches of whole records are halves, too, if each record is in one of them.
 */
static void
check_pair(const RaceView *lower, const RaceView *upper)
{
	race_params_check_same(lower->params, upper->params);
	if (lower->header->noise.half == RACE_UPPER_HALF ||
		upper->header->noise.half == RACE_LOWER_HALF)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the lower half must come first, and then the upper half")));
	race_check_belong(lower->header, upper->header);
}

/* The regression asks about places of its own, before the query is asked about. */
static const RaceProportion *
ask(RaceCallSite **sites, const RaceValuePair *pair, Datum query,
	RaceQuestion questions[RACE_HALVES])
{
	const RaceProportion *proportion;

	for (int i = 0; i < RACE_HALVES; i++)
		race_ask_sketch(sites[i], pair->sketches[i], &questions[i]);
	check_pair(&questions[RACE_LOWER].view, &questions[RACE_UPPER].view);
	proportion = proportion_at(questions);
	for (int i = 0; i < RACE_HALVES; i++)
		race_ask_about(&questions[i], query);
	return proportion;
}

/*
 * The share of the upper sketch in the sum of both.  True sums are not negative, so to cut
 * off what is brings estimates nearer to them.
 */
static RaceRatio
share_of_upper(const RaceDensity densities[RACE_HALVES], bool hashed, double covariance)
{
	double		lower = Max(densities[RACE_LOWER].kernel_sum, 0);
	double		upper = Max(densities[RACE_UPPER].kernel_sum, 0);
	RaceRatio	share;

	share.a = upper;
	share.b = lower + upper;
	share.a_variance = densities[RACE_UPPER].sum_variance +
		(hashed ? 0 : GRID_SPLIT * (lower + upper));
	share.b_variance = densities[RACE_LOWER].sum_variance +
		densities[RACE_UPPER].sum_variance + 2 * covariance;
	share.covariance = densities[RACE_UPPER].sum_variance + covariance;
	return share;
}

static double
within(const RaceValuePair *pair, double share)
{
	double		lower = pair->bounds[RACE_LOWER];
	double		upper = pair->bounds[RACE_UPPER];

	return share >= 1 ? upper : share <= 0 ? lower : lower + (upper - lower) * share;
}

typedef struct Estimate
{
	bool		known;			/* else there is only an interval */
	double		share;
	double		deviation;
	double		lower;
	double		upper;
} Estimate;

static Estimate
estimate_by_ratio(const RaceRatio *share, double t)
{
	/* the variance of the sum, at least that of one sketch */
	double		variance = Max(share->b_variance, share->a_variance);
	double		s = share->a / share->b;
	Estimate	estimate = {share->b > LEAST_SUM * sqrt(variance), 0, 0, 0, 1};

	if (estimate.known)
	{
		estimate.share = s;
		estimate.deviation = sqrt(Max(share->a_variance - 2 * s * share->covariance +
									  s * s * share->b_variance, 0)) / share->b;
	}
	if (!race_ratio_bounds(share, t, &estimate.lower, &estimate.upper))
	{
		estimate.lower = 0;
		estimate.upper = 1;
	}
	return estimate;
}

/* A squared residual that is so many times the variance of noise counts as a nugget. */
#define OUTLIER		16.0

/* The variance of a sum by noise alone */
static double
noise_of(const RaceQuestion *question, const RaceDensity *density)
{
	return race_summary_kind(question->view.params)->hashed ? density->sum_variance :
		race_gridded_noise(race_evaluator_grid(race_evaluator_at(question->site, &question->view)));
}

/*
 * Noise alone weighs the sums against the prediction.  The error of cells counts for the interval alone: it
 * is a bound for all places, and nearly cancels in shares.
 *
 * The error of the prediction and that of the sums are not independent; their covariance is at most
 * the variance of the prediction.
 */
static Estimate
estimate_by_prediction(const RaceQuestion questions[RACE_HALVES],
					   const RaceDensity densities[RACE_HALVES], const RaceRatio *share,
					   const RacePrediction *prediction, double t)
{
	double		m = prediction->share;
	double		whole = Max(share->b, LEAST_SUM * sqrt(share->b_variance));
	double		e = ((1 - m) * densities[RACE_UPPER].kernel_sum -
					 m * densities[RACE_LOWER].kernel_sum) / whole;
	double		v = Max(share->a_variance - 2 * m * share->covariance +
						m * m * share->b_variance, 0) / (whole * whole);
	double		noise = Min(((1 - m) * (1 - m) * noise_of(&questions[RACE_UPPER], &densities[RACE_UPPER]) +
							 m * m * noise_of(&questions[RACE_LOWER], &densities[RACE_LOWER])) /
							(whole * whole), v);
	double		nugget = Max(prediction->nugget, e * e - OUTLIER * v);
	double		part = isfinite(v) && nugget + noise > 0 ? nugget / (nugget + noise) : 0;
	Estimate	estimate;

	estimate.known = true;
	estimate.share = Max(Min(m + part * e, 1), 0);
	estimate.deviation = sqrt((part > 0 ? part * (noise + part * (v - noise)) : nugget) +
							  (1 - part * part) * prediction->variance);
	estimate.lower = estimate.share - t * estimate.deviation;
	estimate.upper = estimate.share + t * estimate.deviation;
	return estimate;
}

static Estimate
estimate_share(RaceQuestion questions[RACE_HALVES], const RaceProportion *proportion, double confidence)
{
	RaceDensity densities[RACE_HALVES];
	double		covariance = race_estimate_two(questions, densities);
	RaceRatio	share = share_of_upper(densities, race_summary_kind(questions[0].view.params)->hashed,
									   covariance);
	RaceColumn	record[RACE_MAX_PARTS];
	RacePrediction prediction;
	double		t = 0;

	for (int i = 0; i < RACE_HALVES; i++)
	{
		race_estimate_warn(&questions[i], &densities[i]);
		questions[RACE_UPPER].site->warned |= questions[RACE_LOWER].site->warned;
		t = Max(t, race_estimate_reach(&questions[i].view, confidence));
	}
	if (proportion == NULL)
		return estimate_by_ratio(&share, t);
	race_question_record(&questions[RACE_LOWER], record);
	return predict_share(proportion, record[0].numbers, &prediction) ?
		estimate_by_prediction(questions, densities, &share, &prediction, t) :
		estimate_by_ratio(&share, t);
}

static void
add_results(RaceResultRow *row, const RaceValuePair *pair, const Estimate *estimate)
{
	double		range = pair->bounds[RACE_UPPER] - pair->bounds[RACE_LOWER];

	race_row_add_if(row, estimate->known, Float8GetDatum(within(pair, estimate->share)));
	race_row_add_if(row, estimate->known, Float8GetDatum(range * estimate->deviation));
	race_row_add(row, Float8GetDatum(within(pair, estimate->lower)));
	race_row_add(row, Float8GetDatum(within(pair, estimate->upper)));
}

Datum
race_conditional_mean_row(FunctionCallInfo fcinfo, RaceCallSite **sites,
						  const RaceValuePair *pair, Datum query, double confidence)
{
	RaceQuestion questions[RACE_HALVES];
	RaceResultRow row;
	const RaceProportion *proportion;
	Estimate	estimate;

	race_check_confidence(confidence);
	race_check_value_bounds(pair->bounds[RACE_LOWER], pair->bounds[RACE_UPPER]);
	race_row_start(&row, fcinfo);
	proportion = ask(sites, pair, query, questions);
	estimate = estimate_share(questions, proportion, confidence);
	add_results(&row, pair, &estimate);
	return race_row_datum(&row);
}

/*
 * race_conditional_mean(lower_sketch, upper_sketch, q, value_lower, value_upper,
 * confidence)
 */
Datum
race_conditional_mean(PG_FUNCTION_ARGS)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;
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
