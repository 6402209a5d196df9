/*
 * particles_move.c
 *		Drawing particles by their weights, and moving them by Metropolis steps
 */
#include <math.h>
#include <string.h>

#include "privacy/interrupt.h"
#include "hash/quantiles.h"
#include "answers/factor.h"
#include "answers/particles_state.h"

/* ------------------------------------------------------------------ draws */

/* Set which particle each one becomes: each as often as its weight says, rounded up or down. */
static void
draw_numbers(RaceParticles *particles, uint32_t *numbers)
{
	double start = race_particle_uniform(&particles->seed);
	double reached = 0;
	uint32_t drawn = 0;

	for (uint32_t i = 0; i < particles->n; i++)
	{
		reached += particles->weight[i] * particles->n;
		while (drawn < particles->n && (drawn + start < reached || i + 1 == particles->n))
			numbers[drawn++] = i;
	}
}

static void
draw_by_weights(RaceParticles *particles)
{
	uint32_t n = particles->n;
	uint32_t *numbers = particles->allocate(particles->arg, n * sizeof(uint32_t));
	double *numeric = particles->allocate(particles->arg, n * sizeof(double));
	uint32_t *cells = (uint32_t *) numeric;

	draw_numbers(particles, numbers);
	for (uint32_t j = 0; j < particles->columns->columns; j++)
	{
		memcpy(cells, particles->cell[j], n * sizeof(uint32_t));
		for (uint32_t i = 0; i < n; i++)
			particles->cell[j][i] = cells[numbers[i]];
		if (particles->latent[j] == NULL)
			continue;
		memcpy(numeric, particles->latent[j], n * sizeof(double));
		for (uint32_t i = 0; i < n; i++)
			particles->latent[j][i] = numeric[numbers[i]];
	}
	for (uint32_t i = 0; i < n; i++)
		particles->weight[i] = 1.0 / n;
}

/* ------------------------------------------------------------------- moves */

/* A particle, while it moves, and what concerns its columns */
typedef struct Mover
{
	const RaceParticles *particles;
	uint32_t d;
	uint32_t *cell;     /* [columns] */
	double *latent;     /* [columns]; 0 without */
	uint32_t *touched;  /* [columns + 1]: where the features of each column begin in `feature` */
	uint32_t *feature;  /* numbers of features of several columns, then those of one */
	double *sign_theta; /* [columns][columns]: parameters of pairs of signs; NULL without signs */
} Mover;

static void
list_features(Mover *mover)
{
	const RaceParticles *particles = mover->particles;
	uint32_t at = 0;

	for (uint32_t j = 0; j < mover->d; j++)
	{
		mover->touched[j] = at;
		for (uint32_t t = 0; t < particles->features; t++)
			for (uint32_t k = 0; k < particles->feature[t].columns; k++)
				if (particles->feature[t].column[k] == j)
					mover->feature[at++] = t;
	}
	mover->touched[mover->d] = at;
}

static void
begin_moves(Mover *mover, RaceParticles *particles)
{
	uint32_t d = particles->columns->columns;
	const double *theta = particles->theta + particles->parameters - particles->pairs;

	mover->particles = particles;
	mover->d = d;
	mover->cell = particles->allocate(particles->arg, d * sizeof(uint32_t));
	mover->latent = particles->allocate(particles->arg, d * sizeof(double));
	mover->touched = particles->allocate(particles->arg, (d + 1) * sizeof(uint32_t));
	mover->feature = particles->allocate(
		particles->arg, RACE_FEATURE_COLUMNS * (size_t) particles->features * sizeof(uint32_t));
	list_features(mover);
	mover->sign_theta = NULL;
	if (particles->pairs == 0)
		return;
	mover->sign_theta = particles->allocate(particles->arg, (size_t) d * d * sizeof(double));
	memset(mover->sign_theta, 0, (size_t) d * d * sizeof(double));
	for (uint32_t k = 0; k < particles->pairs; k++)
	{
		const SignPair *pair = &particles->pair[k];

		mover->sign_theta[(size_t) pair->first * d + pair->second] =
			mover->sign_theta[(size_t) pair->second * d + pair->first] = theta[k];
	}
}

/* Return by how much the exponent of a density grows in tables, if a column gets another cell. */
static double
gain_in_tables(const Mover *mover, uint32_t column, uint32_t cell)
{
	const RaceParticles *particles = mover->particles;
	double gain = 0;

	for (uint32_t q = mover->touched[column]; q < mover->touched[column + 1]; q++)
	{
		const Feature *feature = &particles->feature[mover->feature[q]];
		const double *theta = particles->theta + feature->at;
		size_t rest = 0;
		size_t step = 0;

		if (feature->columns == 1)
		{
			gain += theta[race_particle_block(particles->columns, feature, cell)] -
				theta[race_particle_block(particles->columns, feature, mover->cell[column])];
			continue;
		}
		for (uint32_t k = 0; k < feature->columns; k++)
		{
			uint32_t other = feature->column[k];

			if (other == column)
				step = feature->step[k];
			else
				rest +=
					feature->step[k] * race_particle_group(particles, other, mover->cell[other]);
		}
		gain += theta[rest + step * race_particle_group(particles, column, cell)] -
			theta[rest + step * race_particle_group(particles, column, mover->cell[column])];
	}
	return gain;
}

/* Return the same in products of signs. */
static double
gain_in_signs(const Mover *mover, uint32_t column, uint32_t cell)
{
	const int8_t *const *sign;
	const double *theta;
	double gain = 0;
	int change;

	if (mover->sign_theta == NULL)
		return 0;
	sign = mover->particles->signs->sign;
	theta = mover->sign_theta + (size_t) column * mover->d;
	if (sign[column] == NULL)
		return 0;
	change = sign[column][cell] - sign[column][mover->cell[column]];
	for (uint32_t j = 0; change != 0 && j < mover->d; j++)
		if (sign[j] != NULL && j != column)
			gain += theta[j] * sign[j][mover->cell[j]];
	return gain * change;
}

/* Draw the normal number of a column, given those of the others. */
static double
draw_latent(const Mover *mover, uint32_t column, uint64_t *seed)
{
	const double *precision = mover->particles->precision + (size_t) column * mover->d;
	double own = precision[column];
	double mean = mover->latent[column] - race_dot(precision, mover->latent, mover->d) / own;

	return mean + race_inverse_normal(race_particle_uniform(seed)) / sqrt(own);
}

/*
 * Move a column of the particle: another value is drawn from the base, given the other columns, and
 * taken with a probability that makes up for what the base lacks (Metropolis-Hastings).
 */
static void
move_column(Mover *mover, uint32_t column, uint64_t *seed)
{
	const RaceParticles *particles = mover->particles;
	bool ordered = particles->latent[column] != NULL;
	double latent = ordered ? draw_latent(mover, column, seed) : 0;
	uint32_t cell = race_particle_cell(particles, column, latent, race_particle_uniform(seed));
	double gain;

	if (cell != mover->cell[column])
	{
		gain = gain_in_tables(mover, column, cell) + gain_in_signs(mover, column, cell);
		if (gain < 0 && race_particle_uniform(seed) >= exp(gain))
			return;
	}
	mover->cell[column] = cell;
	mover->latent[column] = latent;
}

void
race_particles_move(RaceParticles *particles, uint32_t sweeps)
{
	Mover mover;

	draw_by_weights(particles);
	begin_moves(&mover, particles);
	for (uint32_t i = 0; i < particles->n; i++)
	{
		if (i % 256 == 0)
			race_look_for_interrupts();
		for (uint32_t j = 0; j < mover.d; j++)
		{
			mover.cell[j] = particles->cell[j][i];
			mover.latent[j] = particles->latent[j] != NULL ? particles->latent[j][i] : 0;
		}
		for (uint32_t k = 0; k < sweeps; k++)
			for (uint32_t j = 0; j < mover.d; j++)
				move_column(&mover, j, &particles->seed);
		for (uint32_t j = 0; j < mover.d; j++)
		{
			particles->cell[j][i] = mover.cell[j];
			if (particles->latent[j] != NULL)
				particles->latent[j][i] = mover.latent[j];
		}
	}
}
