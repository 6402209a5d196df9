/*
 * particles_fit.c
 *		Weights of particles by which their tables and signs are those that were measured
 *
 * The fit minimizes
 *
 *		N log sum of base exp(step) - sum of step y + sum of r (theta + step)^2 / 2
 *
 * over steps of parameters, where y is what was measured of N records, and r the variance of its
 * noise times the softness of its table.  This is the dual of relative entropy with quadratic
 * penalties (y - w)^2 / (2 r).
 */
#include <math.h>
#include <string.h>

#include "privacy/interrupt.h"
#include "answers/lbfgs.h"
#include "answers/particles_state.h"

#define SWEEPS 2 /* steps of each column of a particle, in each round */
/*
 * Particles are moved until weights are equal but for a tenth, so that they are drawn from what is
 * fitted: of pulsars at epsilon = 1, delta = 1e-6, distances of pairs are .081 after 3 rounds, .045
 * after 5, .042 after 8 and after 12.
 */
#define ROUNDS 20
#define CONVERGED 0.9
#define GROWING 1.01 /* or until they become no more so: as many cells as particles want that */
#define STEPS 30     /* steps of a fit before particles are moved; of the last one LAST times */
#define LAST 4
#define CHANGE 2e-3   /* a fit ends when weights change by less, in L1 */
#define EFFECTIVE 0.2 /* and when the effective number of particles is below this part of all */
#define NEARER 0.97   /* of its distance, for a base with less dependence */
#define NOTHING 3     /* standard deviations below which a cell without particles stays so */

typedef struct Fit
{
	RaceParticles *particles;
	size_t n;
	uint32_t **place; /* [features][particles]: place of each particle */
	int8_t **sign;    /* [columns][particles]: sign of each, or NULL */
	double *measured;
	double *ridge;
	double *scale;
	double *here;   /* what particles have, without a step */
	double *weight; /* [particles]: of a step */
	double *noise;  /* what a cell without particles may have by noise */
	double *kept;   /* the step that is kept, with */
	double *kept_weight;
	double least;   /* least effective number of particles */
	uint32_t taken; /* steps that were taken */
	bool cut;       /* whether too few particles were left */
	bool done;      /* whether weights stayed */
} Fit;

/* ---------------------------------------------------------------- sums */

/* Particles are added up in blocks, which stay in a cache. */
#define BLOCK 1024

/* Add up the weights of particles from `from` on in cells of features. */
static void
sum_features(const Fit *fit, const double *weight, uint32_t from, uint32_t to, double *sums)
{
	const RaceParticles *particles = fit->particles;

	for (uint32_t t = 0; t < particles->features; t++)
	{
		const uint32_t *place = fit->place[t];
		double *of_feature = sums + particles->feature[t].at;

		for (uint32_t i = from; i < to; i++)
			of_feature[place[i]] += weight[i];
	}
}

/* Add up the same in products of signs. */
static void
sum_products(const Fit *fit, const double *weight, uint32_t from, uint32_t to, double *sums)
{
	const RaceParticles *particles = fit->particles;

	for (uint32_t k = 0; k < particles->pairs; k++)
	{
		const int8_t *first = fit->sign[particles->pair[k].first];
		const int8_t *second = fit->sign[particles->pair[k].second];
		double sum[4] = {0, 0, 0, 0};
		uint32_t i;

		for (i = from; i + 4 <= to; i += 4)
			for (uint32_t j = 0; j < 4; j++)
				sum[j] += weight[i + j] * (first[i + j] * second[i + j]);
		for (; i < to; i++)
			sum[0] += weight[i] * (first[i] * second[i]);
		sums[k] += (sum[0] + sum[1]) + (sum[2] + sum[3]);
	}
}

/* Add up weights in cells of features, and in products of signs. */
static void
sum_weights(const Fit *fit, const double *weight, double *sums)
{
	const RaceParticles *particles = fit->particles;

	memset(sums, 0, fit->n * sizeof(double));
	for (uint32_t from = 0; from < particles->n; from += BLOCK)
	{
		uint32_t to = particles->n - from < BLOCK ? particles->n : from + BLOCK;

		sum_features(fit, weight, from, to, sums);
		sum_products(fit, weight, from, to, sums + fit->n - particles->pairs);
	}
}

/* Add up the parameters of particles from `from` on. */
static void
sum_block(const Fit *fit, const double *theta, uint32_t from, uint32_t to, double *sums)
{
	const RaceParticles *particles = fit->particles;
	const double *of_pair = theta + fit->n - particles->pairs;

	for (uint32_t t = 0; t < particles->features; t++)
	{
		const uint32_t *place = fit->place[t];
		const double *of_feature = theta + particles->feature[t].at;

		for (uint32_t i = from; i < to; i++)
			sums[i] += of_feature[place[i]];
	}
	for (uint32_t k = 0; k < particles->pairs; k++)
	{
		const int8_t *first = fit->sign[particles->pair[k].first];
		const int8_t *second = fit->sign[particles->pair[k].second];

		for (uint32_t i = from; i < to; i++)
			sums[i] += of_pair[k] * (first[i] * second[i]);
	}
}

/* Add up the parameters of each particle. */
static void
sum_parameters(const Fit *fit, const double *theta, double *sums)
{
	uint32_t n = fit->particles->n;

	memset(sums, 0, n * sizeof(double));
	for (uint32_t from = 0; from < n; from += BLOCK)
		sum_block(fit, theta, from, n - from < BLOCK ? n : from + BLOCK, sums);
}

/* ------------------------------------------------------------------ search */

/* Return whether a parameter has particles: products of signs always do. */
static bool
has_particles(const Fit *fit, size_t i)
{
	return i >= fit->n - fit->particles->pairs || fit->here[i] > 0;
}

/* Return the objective at a step, and set its gradient; fit->weight gets the weights. */
static double
evaluate_step(void *state, const double *step, double *gradient)
{
	Fit *fit = state;
	const RaceParticles *particles = fit->particles;
	double total = particles->total;
	double top = -INFINITY;
	double sum = 0;
	double value;

	race_look_for_interrupts();
	sum_parameters(fit, step, fit->weight);
	for (uint32_t i = 0; i < particles->n; i++)
		top = fmax(top, fit->weight[i]);
	for (uint32_t i = 0; i < particles->n; i++)
		sum += fit->weight[i] = exp(fit->weight[i] - top);
	for (uint32_t i = 0; i < particles->n; i++)
		fit->weight[i] *= total / sum;
	sum_weights(fit, fit->weight, gradient);
	value = total * (log(sum) + top);
	for (size_t i = 0; i < fit->n; i++)
	{
		double theta = particles->theta[i] + step[i];

		value += fit->ridge[i] * theta * theta / 2 - step[i] * fit->measured[i];
		gradient[i] =
			has_particles(fit, i) ? gradient[i] - fit->measured[i] + fit->ridge[i] * theta : 0;
	}
	return value;
}

/* Keep a step, unless too few particles are left; go on while weights change. */
static bool
keep_step(void *state, const double *step, const double *gradient)
{
	Fit *fit = state;
	uint32_t n = fit->particles->n;
	double squares = race_dot_product(fit->weight, fit->weight, n);
	double total = fit->particles->total;
	double change = 0;

	(void) gradient;
	fit->cut = fit->taken > 1 && total * total / squares < fit->least;
	if (fit->cut)
		return false;
	for (uint32_t i = 0; i < n; i++)
		change += fabs(fit->weight[i] - fit->kept_weight[i]);
	memcpy(fit->kept, step, fit->n * sizeof(double));
	memcpy(fit->kept_weight, fit->weight, n * sizeof(double));
	fit->done = fit->taken > 0 && change < CHANGE * total;
	fit->taken++;
	return !fit->done;
}

/* Set what was measured, and the penalties. */
static void
set_targets(Fit *fit)
{
	const RaceParticles *particles = fit->particles;
	size_t at = 0;

	for (uint32_t t = 0; t < particles->features; t++)
	{
		const Feature *feature = &particles->feature[t];

		memcpy(fit->measured + at, feature->counts, feature->cells * sizeof(double));
		for (size_t i = 0; i < feature->cells; i++, at++)
		{
			fit->ridge[at] = feature->variance * feature->softness;
			fit->noise[at] = NOTHING * sqrt(feature->variance);
		}
	}
	for (uint32_t k = 0; k < particles->pairs; k++, at++)
	{
		fit->measured[at] = particles->signs->sums[k];
		fit->ridge[at] = particles->signs->variance * particles->pair[k].softness;
	}
}

/* Set where particles are, and the scale of parameters by it. */
static void
set_places(Fit *fit)
{
	RaceParticles *particles = fit->particles;
	double least = particles->total / particles->n;

	for (uint32_t t = 0; t < particles->features; t++)
		for (uint32_t i = 0; i < particles->n; i++)
			fit->place[t][i] = (uint32_t) race_particle_place(particles, &particles->feature[t], i);
	for (uint32_t j = 0; j < particles->columns->columns; j++)
		for (uint32_t i = 0; fit->sign[j] != NULL && i < particles->n; i++)
			fit->sign[j][i] = particles->signs->sign[j][particles->cell[j][i]];
	for (uint32_t i = 0; i < particles->n; i++)
		fit->weight[i] = particles->total / particles->n;
	sum_weights(fit, fit->weight, fit->here);
	for (size_t i = 0; i < fit->n; i++)
	{
		double curvature =
			i < fit->n - particles->pairs ? fmax(fit->here[i], least) : particles->total;

		fit->scale[i] = 1 / sqrt(curvature + fit->ridge[i]);
	}
}

/*
 * Return the step of a parameter without particles: 1 at most towards what was measured, if that is
 * more than noise.  Else it would run away, and particles that come there would stay.
 */
static double
blind_step(const Fit *fit, size_t i)
{
	double ridge = fit->ridge[i];

	if (fit->measured[i] < fit->noise[i])
		return 0;
	return fmin(fmax((fit->measured[i] - ridge * fit->particles->theta[i]) / (ridge + 1), -1), 1);
}

static void
add_step(Fit *fit)
{
	RaceParticles *particles = fit->particles;

	for (size_t i = 0; i < fit->n; i++)
		particles->theta[i] += has_particles(fit, i) ? fit->kept[i] : blind_step(fit, i);
	for (uint32_t i = 0; i < particles->n; i++)
		particles->weight[i] = fit->kept_weight[i] / particles->total;
}

/* Fit weights of particles where they are.  Return the effective number of particles. */
static double
fit_weights(Fit *fit, bool last)
{
	RaceLbfgs search = {.n = fit->n,
						.scale = fit->scale,
						.most = last ? LAST * STEPS : STEPS,
						.evaluate = evaluate_step,
						.go_on = keep_step,
						.state = fit};
	RaceParticles *particles = fit->particles;
	double *step = particles->allocate(particles->arg, fit->n * sizeof(double));

	set_places(fit);
	memset(step, 0, fit->n * sizeof(double));
	fit->taken = 0;
	fit->least = last ? 0 : EFFECTIVE * particles->n;
	race_lbfgs(&search, step, particles->allocate, particles->arg);
	add_step(fit);
	return 1 / race_dot_product(particles->weight, particles->weight, particles->n);
}

/* ---------------------------------------------------------------- softness */

/* Set how far the base is from what was measured. */
static void
set_signals(const Fit *fit)
{
	RaceParticles *particles = fit->particles;
	const double *here = fit->here;

	for (uint32_t t = 0; t < particles->features; t++)
	{
		Feature *feature = &particles->feature[t];

		feature->signal = -feature->variance * (double) feature->cells;
		for (size_t i = 0; i < feature->cells; i++)
			feature->signal += pow(feature->counts[i] - here[feature->at + i], 2);
	}
	for (uint32_t k = 0; k < particles->pairs; k++)
		particles->pair[k].signal =
			(pow(particles->signs->sums[k] - here[fit->n - particles->pairs + k], 2) -
			 particles->signs->variance) /
			2;
}

/* Return whether a feature is of several columns. */
static bool
is_several(const Feature *feature)
{
	return feature->columns > 1;
}

/* Return the variance of the estimate of a signal, each divided by the number of records. */
static double
signal_variance(const RaceParticles *particles, const Feature *feature)
{
	return (2 * (double) feature->cells * feature->variance * feature->variance +
			4 * feature->variance * fmax(feature->signal, 0)) /
		(particles->total * particles->total);
}

/*
 * Set the softness of tables of several columns: 1 over the signal per record, if that is above 1,
 * drawn to the mean of all tables as much as their own noise asks (empirical Bayes).
 */
static void
soften_tables(RaceParticles *particles)
{
	double precision = 0;
	double mean = 0;
	double spread = 0;
	uint32_t n = 0;

	for (uint32_t t = 0; t < particles->features; t++)
	{
		const Feature *feature = &particles->feature[t];
		double weight = 1 / signal_variance(particles, feature);

		if (!is_several(feature))
			continue;
		mean += feature->signal / particles->total * weight;
		precision += weight;
		n++;
	}
	mean /= precision > 0 ? precision : 1;
	for (uint32_t t = 0; t < particles->features; t++)
		if (is_several(&particles->feature[t]))
			spread += (pow(particles->feature[t].signal / particles->total - mean, 2) -
					   signal_variance(particles, &particles->feature[t])) /
				n;
	spread = fmax(spread, 0);
	for (uint32_t t = 0; t < particles->features; t++)
	{
		Feature *feature = &particles->feature[t];
		double own = spread / (spread + signal_variance(particles, feature));

		if (is_several(feature))
			feature->softness =
				1 / fmax(mean + own * (feature->signal / particles->total - mean), 1);
	}
}

/* Return the least softness of tables of several columns that have all of some columns. */
static double
softest_around(const RaceParticles *particles, const uint32_t *columns, uint32_t n)
{
	double least = 1;

	for (uint32_t t = 0; t < particles->features; t++)
	{
		const Feature *feature = &particles->feature[t];
		uint32_t found = 0;

		for (uint32_t k = 0; k < feature->columns; k++)
			for (uint32_t i = 0; i < n; i++)
				found += feature->column[k] == columns[i];
		if (is_several(feature) && found == n)
			least = fmin(least, feature->softness);
	}
	return least;
}

/*
 * Soften tables by how far the base is off; those of one column, and products of signs, as much as
 * any table around them, so that none pulls at another.
 */
static void
set_softness(const Fit *fit)
{
	RaceParticles *particles = fit->particles;

	set_signals(fit);
	soften_tables(particles);
	for (uint32_t t = 0; t < particles->features; t++)
		if (!is_several(&particles->feature[t]))
			particles->feature[t].softness =
				softest_around(particles, particles->feature[t].column, 1);
	for (uint32_t k = 0; k < particles->pairs; k++)
	{
		SignPair *pair = &particles->pair[k];
		const uint32_t columns[] = {pair->first, pair->second};

		pair->softness = fmin(1 / fmax(pair->signal / particles->total, 1),
							  softest_around(particles, columns, 2));
	}
}

/* -------------------------------------------------------------------- fits */

static void
begin_fit(Fit *fit, RaceParticles *particles)
{
	RaceAllocate allocate = particles->allocate;
	double **arrays[] = {&fit->measured, &fit->ridge, &fit->noise,
						 &fit->scale,    &fit->here,  &fit->kept};
	double **weights[] = {&fit->weight, &fit->kept_weight};

	fit->particles = particles;
	fit->n = particles->parameters;
	for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
	{
		*arrays[i] = allocate(particles->arg, fit->n * sizeof(double));
		memset(*arrays[i], 0, fit->n * sizeof(double));
	}
	for (size_t i = 0; i < sizeof(weights) / sizeof(weights[0]); i++)
		*weights[i] = allocate(particles->arg, particles->n * sizeof(double));
	fit->sign = allocate(particles->arg, particles->columns->columns * sizeof(int8_t *));
	for (uint32_t j = 0; j < particles->columns->columns; j++)
		fit->sign[j] = particles->signs != NULL && particles->signs->sign[j] != NULL ?
			allocate(particles->arg, particles->n) :
			NULL;
	fit->place = allocate(particles->arg, particles->features * sizeof(uint32_t *));
	for (uint32_t t = 0; t < particles->features; t++)
		fit->place[t] = allocate(particles->arg, particles->n * sizeof(uint32_t));
}

/* Return how far the base is from tables of several columns, weighed by their noise. */
static double
distance_of_base(const RaceParticles *particles)
{
	double distance = 0;

	for (uint32_t t = 0; t < particles->features; t++)
		if (is_several(&particles->feature[t]))
			distance += particles->feature[t].signal / particles->feature[t].variance +
				(double) particles->feature[t].cells;
	return distance;
}

/* Draw particles from the base, whose correlations are multiplied; set how far it is off. */
static double
try_base(Fit *fit, const double *correlation, double factor)
{
	RaceParticles *particles = fit->particles;
	uint32_t d = particles->columns->columns;

	for (size_t i = 0; i < (size_t) d * d; i++)
		particles->correlation[i] = correlation[i] * (i % (d + 1) == 0 ? 1 : factor);
	race_particles_draw(particles);
	set_places(fit);
	set_signals(fit);
	return distance_of_base(particles);
}

/*
 * Choose how much of the copula's dependence the base has: all, unless half or none of it is nearer
 * to the tables.  Dependence that is not linear may look like a correlation of signs.
 */
static void
choose_base(Fit *fit)
{
	static const double factors[] = {1, .5, 0};
	RaceParticles *particles = fit->particles;
	size_t cells = (size_t) particles->columns->columns * particles->columns->columns;
	double *correlation = particles->allocate(particles->arg, cells * sizeof(double));
	double least = INFINITY;
	double best = 1;

	memcpy(correlation, particles->correlation, cells * sizeof(double));
	for (size_t k = 0; particles->pairs > 0 && k < sizeof(factors) / sizeof(factors[0]); k++)
	{
		double distance = try_base(fit, correlation, factors[k]);

		if (distance < NEARER * least)
		{
			least = distance;
			best = factors[k];
		}
	}
	(void) try_base(fit, correlation, best);
}

void
race_particles_fit(RaceParticles *particles)
{
	Fit fit = {0};
	double effective = 0;
	bool last = false;
	bool converged = false;

	begin_fit(&fit, particles);
	choose_base(&fit);
	set_softness(&fit);
	set_targets(&fit);
	/* bound: ROUNDS */
	for (uint32_t round = 0; !last; round++)
	{
		double before = effective;

		last = converged || round + 1 == ROUNDS;
		effective = fit_weights(&fit, last);
		converged =
			!fit.cut && (effective < GROWING * before || effective >= CONVERGED * particles->n);
		if (!last)
			race_particles_move(particles, SWEEPS);
	}
}
