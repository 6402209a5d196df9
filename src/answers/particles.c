/*
 * particles.c
 *		Weighted records: what they are drawn from, and what is asked of them
 */
#include <math.h>
#include <string.h>

#include "privacy/interrupt.h"
#include "hash/contingency.h"
#include "hash/quantiles.h"
#include "hash/rows.h"
#include "hash/sobol.h"
#include "answers/copula.h"
#include "answers/factor.h"
#include "answers/margins.h"
#include "answers/particles_state.h"

#define SEED UINT64_C(0x5bd1e995)
#define REDRAWN 8 /* times that noise is drawn anew, to see what is left of it in shares */
#define LEAST_VARIANCE 1e-3 /* of the records of a cell, so that a fit converges */

/* ---------------------------------------------------------------- the base */

/* Set the shares of a column, and where its cells end. */
static void
set_margin(RaceParticles *particles, uint32_t column, const double *shares)
{
	uint32_t cells = particles->columns->cells[column];
	uint32_t ordered = race_particle_ordered(particles->columns, column);
	double in_order = 0;
	double sum = 0;

	memcpy(particles->share[column], shares, cells * sizeof(double));
	for (uint32_t i = 0; i < ordered; i++)
		in_order += shares[i];
	for (uint32_t i = 0; i < ordered; i++)
	{
		sum += shares[i] / in_order;
		particles->edge[column][i] =
			i + 1 < ordered ? race_inverse_normal(fmin(fmax(sum, 1e-12), 1 - 1e-12)) : INFINITY;
	}
	sum = 0;
	for (uint32_t i = ordered; i < cells; i++)
		particles->single[column][i - ordered] = sum += shares[i];
	particles->single[column][cells - ordered] = 1;
}

/* Return the first of n ascending numbers that is above x, or the last one. */
static uint32_t
first_above(const double *numbers, uint32_t n, double x)
{
	uint32_t low = 0;
	uint32_t high = n - 1;

	while (low < high)
	{
		uint32_t middle = low + (high - low) / 2;

		if (numbers[middle] < x)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t
race_particle_cell(const RaceParticles *particles, uint32_t column, double latent, double uniform)
{
	uint32_t ordered = race_particle_ordered(particles->columns, column);
	uint32_t singles = particles->columns->cells[column] - ordered;
	uint32_t cell = singles == 0 ? 0 : first_above(particles->single[column], singles + 1, uniform);

	if (cell < singles || ordered == 0)
		return ordered + (cell < singles ? cell : singles - 1);
	return first_above(particles->edge[column], ordered, latent);
}

/* Set n numbers in (0, 1), one in each n-th part, in random order. */
static void
draw_in_parts(RaceParticles *particles, double *out)
{
	for (uint32_t i = 0; i < particles->n; i++)
	{
		uint32_t place = (uint32_t) (race_particle_uniform(&particles->seed) * (i + 1));

		out[i] = out[place];
		out[place] = (i + race_particle_uniform(&particles->seed)) / particles->n;
	}
}

/*
 * Set a coordinate of all particles: a number in (0, 1) each, evenly spread; together with others
 * as long as Sobol's sequence has dimensions.
 */
static void
draw_coordinate(RaceParticles *particles, uint32_t dimension, double *out)
{
	RaceSobol sequence;
	uint64_t bits[RACE_LANES];

	if (dimension >= RACE_SOBOL_DIMENSIONS)
	{
		draw_in_parts(particles, out);
		return;
	}
	race_sobol_start(&sequence, (int64_t) SEED, dimension);
	for (uint32_t i = 0; i < particles->n; i += RACE_LANES)
	{
		race_sobol_lanes(&sequence, i, bits);
		for (uint32_t k = 0; k < RACE_LANES && i + k < particles->n; k++)
			out[i + k] = ((double) (bits[k] >> 11) + 0.5) * 0x1p-53;
	}
}

/* Turn independent normal numbers of columns to correlated ones. */
static void
correlate(RaceParticles *particles, const double *factor)
{
	uint32_t d = particles->columns->columns;
	double row[RACE_GRAPH_COLUMNS];

	for (uint32_t i = 0; i < particles->n; i++)
	{
		for (uint32_t j = 0; j < d; j++)
			row[j] = particles->latent[j] != NULL ? particles->latent[j][i] : 0;
		for (uint32_t j = 0; j < d; j++)
			if (particles->latent[j] != NULL)
				particles->latent[j][i] = race_dot(factor + (size_t) j * d, row, j + 1);
	}
}

void
race_particles_draw(RaceParticles *particles)
{
	uint32_t d = particles->columns->columns;
	double *factor = particles->allocate(particles->arg, (size_t) d * d * sizeof(double));
	double *uniform = particles->allocate(particles->arg, particles->n * sizeof(double));
	uint32_t dimension = 0;

	memcpy(factor, particles->correlation, (size_t) d * d * sizeof(double));
	race_factorize(factor, d, 1e-6);
	memcpy(particles->precision, factor, (size_t) d * d * sizeof(double));
	race_invert_lower(particles->precision, d);
	race_root_product(particles->precision, d, factor);
	memcpy(particles->precision, factor, (size_t) d * d * sizeof(double));
	memcpy(factor, particles->correlation, (size_t) d * d * sizeof(double));
	race_factorize(factor, d, 1e-6);
	for (uint32_t j = 0; j < d; j++)
		if (particles->latent[j] != NULL)
		{
			draw_coordinate(particles, dimension++, particles->latent[j]);
			for (uint32_t i = 0; i < particles->n; i++)
				particles->latent[j][i] = race_inverse_normal(particles->latent[j][i]);
		}
	correlate(particles, factor);
	for (uint32_t j = 0; j < d; j++)
	{
		bool singles = race_particle_ordered(particles->columns, j) < particles->columns->cells[j];

		race_look_for_interrupts();
		if (singles)
			draw_coordinate(particles, dimension++, uniform);
		for (uint32_t i = 0; i < particles->n; i++)
			particles->cell[j][i] =
				race_particle_cell(particles, j, particles->latent[j] ? particles->latent[j][i] : 0,
								   singles ? uniform[i] : 0);
	}
	for (uint32_t i = 0; i < particles->n; i++)
		particles->weight[i] = 1.0 / particles->n;
}

/* ------------------------------------------------------------------ tables */

size_t
race_particle_place(const RaceParticles *particles, const Feature *feature, uint32_t i)
{
	size_t place = 0;

	if (feature->columns == 1)
		return race_particle_block(particles->columns, feature,
								   particles->cell[feature->column[0]][i]);
	for (uint32_t k = 0; k < feature->columns; k++)
		place += feature->step[k] *
			race_particle_group(particles, feature->column[k],
								particles->cell[feature->column[k]][i]);
	return place;
}

static void
set_feature(RaceParticles *particles, Feature *feature, const RaceMarginal *table)
{
	const uint32_t columns[] = {table->first, table->second, table->third};

	feature->columns = table->first == table->second ? 1 : table->second == table->third ? 2 : 3;
	feature->cells = 1;
	for (uint32_t k = feature->columns; k-- > 0;)
	{
		feature->column[k] = columns[k];
		feature->step[k] = feature->cells;
		feature->cells *= particles->columns->groups[columns[k]];
	}
	if (feature->columns == 1)
	{
		feature->block = table->block > 1 ? table->block : 1;
		feature->cells = race_particle_block(particles->columns, feature,
											 particles->columns->cells[columns[0]] - 1) +
			1;
	}
	feature->counts = table->counts;
	feature->variance = table->variance;
	feature->at = particles->parameters;
	particles->parameters += feature->cells;
}

/* Describe the noise of a column's table, with `factor` times its variance. */
static RaceNoisyColumn
noisy_column(const RaceParticles *particles, const RaceMarginal *table, double factor)
{
	uint32_t block = table->block > 1 ? table->block : 1;

	return (RaceNoisyColumn){.n = particles->columns->cells[table->first],
							 .ordered = race_particle_ordered(particles->columns, table->first),
							 .block = block,
							 .variance = factor * table->variance * block,
							 .total = particles->total};
}

/*
 * Draw noise of a column anew, with `factor` times its variance, about its shares; take it off
 * again, and set off[groups]: by how many records groups are off.  `work` is space for twice as
 * many numbers as there are cells.
 */
static void
redraw_noise(const RaceParticles *particles, const RaceMarginal *table, double factor,
			 uint64_t *seed, double *off, double *work)
{
	const double *share = particles->share[table->first];
	RaceNoisyColumn column = noisy_column(particles, table, factor);
	double deviation = sqrt(column.variance);
	double *counts = work;
	double *shares = work + column.n;

	for (uint32_t i = 0; i < column.n; i++)
	{
		counts[i] = share[i] * particles->total;
		/* the noise of a block is in its first cell */
		if (i >= column.ordered || i % column.block == 0)
			counts[i] += deviation * race_inverse_normal(race_particle_uniform(seed));
	}
	race_margin(&column, counts, shares, particles->allocate, particles->arg);
	memset(off, 0, particles->columns->groups[table->first] * sizeof(double));
	for (uint32_t i = 0; i < column.n; i++)
		off[race_particle_group(particles, table->first, i)] +=
			(shares[i] - share[i]) * particles->total;
}

/*
 * Return the noise that shares have: its variance in a place of the table of a column, in the mean
 * over groups of its cells.
 */
static double
noise_of_margin(const RaceParticles *particles, const Feature *feature, const RaceMarginal *table,
				double *work)
{
	uint32_t column = table->first;
	uint32_t cells = particles->columns->cells[column];
	uint32_t groups = particles->columns->groups[column];
	double *off = work + 2 * (size_t) cells;
	double *size = off + groups; /* places of the table in a group, or a part of one */
	double sum = 0;
	uint64_t seed = SEED;

	memset(size, 0, groups * sizeof(double));
	for (uint32_t i = 0; i < cells; i++)
		size[race_particle_group(particles, column, i)] +=
			i < race_particle_ordered(particles->columns, column) ? 1.0 / feature->block : 1;
	for (int k = 0; k < REDRAWN; k++)
	{
		redraw_noise(particles, table, 1, &seed, off, work);
		for (uint32_t g = 0; g < groups; g++)
			sum += off[g] * off[g] / size[g];
	}
	return fmax(fmin(sum / groups / REDRAWN, table->variance * feature->block), LEAST_VARIANCE);
}

/* Set the shares of columns, by their tables; tables become these shares, with what noise is left. */
static void
set_margins(RaceParticles *particles, const RaceMarginal *table)
{
	for (uint32_t j = 0; j < particles->columns->columns; j++)
	{
		uint32_t cells = particles->columns->cells[j];
		double *shares = particles->allocate(particles->arg, 5 * (size_t) cells * sizeof(double));
		Feature *feature = &particles->feature[j];
		double *counts = particles->allocate(particles->arg, feature->cells * sizeof(double));
		RaceNoisyColumn column = noisy_column(particles, &table[j], 1);

		race_look_for_interrupts();
		race_margin(&column, table[j].counts, shares, particles->allocate, particles->arg);
		set_margin(particles, j, shares);
		feature->variance = noise_of_margin(particles, feature, &table[j], shares + cells);
		memset(counts, 0, feature->cells * sizeof(double));
		for (uint32_t i = 0; i < cells; i++)
			counts[race_particle_block(particles->columns, feature, i)] +=
				particles->share[j][i] * particles->total;
		feature->counts = counts;
	}
}

/* ------------------------------------------------------------------- signs */

/* Return the share of records with a sign, and set the share of those among them whose sign is 1. */
static double
share_with_sign(const RaceParticles *particles, uint32_t column, double *upper)
{
	const int8_t *sign = particles->signs->sign[column];
	double all = 0;

	*upper = 0;
	for (uint32_t i = 0; i < particles->columns->cells[column]; i++)
	{
		all += sign[i] != 0 ? particles->share[column][i] : 0;
		*upper += sign[i] > 0 ? particles->share[column][i] : 0;
	}
	*upper /= fmax(all, 1e-9);
	return all;
}

/* Return the correlation of a pair, by the sum of its products of signs, and set its slope. */
static double
correlation_of_pair(const RaceParticles *particles, uint32_t number)
{
	SignPair *pair = &particles->pair[number];
	double upper;
	double other;
	double both = share_with_sign(particles, pair->first, &upper) *
		share_with_sign(particles, pair->second, &other) * particles->total;

	pair->slope = race_sign_slope(upper, other) * both;
	return race_sign_correlation(fmin(fmax(particles->signs->sums[number] / fmax(both, 1), -1), 1),
								 upper, other);
}

/* Return the variance of the noise of the correlation of a pair. */
static double
noise_of_correlation(const RaceParticles *particles, uint32_t number)
{
	return particles->signs->variance / pow(fmax(particles->pair[number].slope, 1e-9), 2);
}

#define VARIANCE_STEPS 20 /* more change no digit that matters */

/*
 * Return the variance of correlations without noise, by their squares less that of each: those with
 * less noise count more.
 */
static double
variance_of_correlations(const RaceParticles *particles, const double *r)
{
	uint32_t d = particles->columns->columns;
	double variance = 1;

	for (int step = 0; step < VARIANCE_STEPS; step++)
	{
		double sum = 0;
		double weights = 0;

		for (uint32_t k = 0; k < particles->pairs; k++)
		{
			const SignPair *pair = &particles->pair[k];
			double noise = noise_of_correlation(particles, k);
			double weight = 1 / pow(variance + noise, 2);

			sum += weight * (pow(r[(size_t) pair->first * d + pair->second], 2) - noise);
			weights += weight;
		}
		variance = fmax(sum / weights, 0);
	}
	return variance;
}

/*
 * Shrink correlations as their noise asks (James & Stein 1961): a pair whose signs are about places
 * far from medians has more of it.
 */
static void
shrink_correlations(const RaceParticles *particles, double *r)
{
	uint32_t d = particles->columns->columns;
	double variance = variance_of_correlations(particles, r);

	for (uint32_t k = 0; k < particles->pairs; k++)
	{
		const SignPair *pair = &particles->pair[k];
		double noise = noise_of_correlation(particles, k);
		double kept = variance > 0 ? variance / (variance + noise) : 0;

		r[(size_t) pair->first * d + pair->second] *= kept;
		r[(size_t) pair->second * d + pair->first] *= kept;
	}
}

/* Set the copula, by what signs say. */
static void
set_correlations(RaceParticles *particles)
{
	uint32_t d = particles->columns->columns;
	double *r = particles->correlation;

	memset(r, 0, (size_t) d * d * sizeof(double));
	for (uint32_t j = 0; j < d; j++)
		r[(size_t) j * d + j] = 1;
	if (particles->pairs == 0)
		return;
	for (uint32_t k = 0; k < particles->pairs; k++)
	{
		const SignPair *pair = &particles->pair[k];

		race_look_for_interrupts();
		r[(size_t) pair->first * d + pair->second] = r[(size_t) pair->second * d + pair->first] =
			correlation_of_pair(particles, k);
	}
	shrink_correlations(particles, r);
	race_nearest_correlation(r, d, particles->allocate, particles->arg);
}

/* List the pairs of columns with signs. */
static void
set_pairs(RaceParticles *particles)
{
	uint32_t d = particles->columns->columns;

	particles->pairs = 0;
	particles->pair = particles->allocate(particles->arg, (size_t) d * d * sizeof(SignPair));
	for (uint32_t i = 0; particles->signs != NULL && i < d; i++)
		for (uint32_t j = i + 1; j < d; j++)
			if (particles->signs->sign[i] != NULL && particles->signs->sign[j] != NULL)
				particles->pair[particles->pairs++] = (SignPair){.first = i, .second = j};
	particles->parameters += particles->pairs;
}

/* --------------------------------------------------------------- particles */

static RaceParticles *
allocate_particles(const RaceGraphColumns *columns, uint32_t n, RaceAllocate allocate, void *arg)
{
	RaceParticles *particles = allocate(arg, sizeof(RaceParticles));

	memset(particles, 0, sizeof(RaceParticles));
	particles->columns = columns;
	particles->n = n;
	particles->allocate = allocate;
	particles->arg = arg;
	particles->seed = SEED;
	particles->cell = allocate(arg, columns->columns * sizeof(uint32_t *));
	for (uint32_t j = 0; j < columns->columns; j++)
		particles->cell[j] = allocate(arg, n * sizeof(uint32_t));
	particles->weight = allocate(arg, n * sizeof(double));
	return particles;
}

/* Allocate what the base is made of. */
static void
allocate_base(RaceParticles *particles)
{
	const RaceGraphColumns *columns = particles->columns;
	uint32_t d = columns->columns;
	RaceAllocate allocate = particles->allocate;
	double ***arrays[] = {&particles->latent, &particles->share, &particles->edge,
						  &particles->single};

	for (int i = 0; i < 4; i++)
		*arrays[i] = allocate(particles->arg, d * sizeof(double *));
	for (uint32_t j = 0; j < d; j++)
	{
		uint32_t ordered = race_particle_ordered(columns, j);

		particles->latent[j] =
			ordered > 1 ? allocate(particles->arg, particles->n * sizeof(double)) : NULL;
		particles->share[j] = allocate(particles->arg, columns->cells[j] * sizeof(double));
		particles->edge[j] = allocate(particles->arg, (ordered + 1) * sizeof(double));
		particles->single[j] =
			allocate(particles->arg, (columns->cells[j] - ordered + 1) * sizeof(double));
	}
	particles->correlation = allocate(particles->arg, (size_t) d * d * sizeof(double));
	particles->precision = allocate(particles->arg, (size_t) d * d * sizeof(double));
}

RaceParticles *
race_particles_create(const RaceGraphColumns *columns, uint32_t tables, const RaceMarginal *table,
					  const RaceSignSums *signs, double total, uint32_t n, RaceAllocate allocate,
					  void *arg)
{
	RaceParticles *particles = allocate_particles(columns, n, allocate, arg);

	particles->total = total;
	particles->signs = signs;
	particles->features = tables;
	particles->table = table;
	particles->feature = allocate(arg, tables * sizeof(Feature));
	memset(particles->feature, 0, tables * sizeof(Feature));
	for (uint32_t t = 0; t < tables; t++)
		set_feature(particles, &particles->feature[t], &table[t]);
	set_pairs(particles);
	particles->theta = allocate(arg, particles->parameters * sizeof(double));
	memset(particles->theta, 0, particles->parameters * sizeof(double));
	allocate_base(particles);
	set_margins(particles, table);
	set_correlations(particles);
	race_particles_draw(particles);
	return particles;
}

/* ------------------------------------------------------------------ errors */

double
race_particles_explained(const RaceParticles *particles)
{
	uint32_t d = particles->columns->columns;
	double sum = 0;

	for (uint32_t k = 0; k < particles->pairs; k++)
	{
		const SignPair *pair = &particles->pair[k];

		sum += fabs(particles->correlation[(size_t) pair->first * d + pair->second]) *
			fmin(pair->slope / particles->total * M_PI / 2, 1);
	}
	return particles->pairs == 0 ? 0 : RACE_DISTANCE_OF_CORRELATION * sum / particles->pairs;
}

/* Return the sum of the roots of the shares of a column's groups. */
static double
sum_of_roots(const RaceParticles *particles, uint32_t column)
{
	uint32_t groups = particles->columns->groups[column];
	double *share = particles->allocate(particles->arg, groups * sizeof(double));
	double sum = 0;

	memset(share, 0, groups * sizeof(double));
	for (uint32_t i = 0; i < particles->columns->cells[column]; i++)
		share[race_particle_group(particles, column, i)] += particles->share[column][i];
	for (uint32_t g = 0; g < groups; g++)
		sum += sqrt(share[g]);
	return sum;
}

double
race_particles_blur(const RaceParticles *particles)
{
	uint32_t d = particles->columns->columns;
	double sum = 0;
	double squares = 0;

	/* as if columns were independent: the mean of the products of two sums */
	for (uint32_t j = 0; j < d; j++)
	{
		double roots = sum_of_roots(particles, j);

		sum += roots;
		squares += roots * roots;
	}
	return sqrt(1 / (2 * M_PI * particles->n)) * (sum * sum - squares) / fmax(d * (d - 1.0), 1);
}

double
race_particles_noise(const RaceParticles *particles, double factor)
{
	uint32_t d = particles->columns->columns;
	double distance = 0;
	double noise = particles->signs == NULL ?
		0 :
		M_PI / 2 * sqrt(2 / M_PI * particles->signs->variance) / particles->total;

	for (uint32_t j = 0; j < d; j++)
	{
		uint32_t cells = particles->columns->cells[j];
		uint32_t groups = particles->columns->groups[j];
		double *off =
			particles->allocate(particles->arg, (2 * (size_t) cells + groups) * sizeof(double));
		uint64_t seed = SEED;

		race_look_for_interrupts();
		redraw_noise(particles, &particles->table[j], factor, &seed, off, off + groups);
		for (uint32_t g = 0; g < groups; g++)
			distance += fabs(off[g]) / 2 / particles->total / d;
	}
	return hypot(M_SQRT2 * distance, RACE_DISTANCE_OF_CORRELATION * fmin(noise, 1));
}

/* ----------------------------------------------------------------- storing */

size_t
race_particles_size(const RaceParticles *particles, size_t *n)
{
	*n = particles->n;
	return race_records_words(particles->columns->columns, *n);
}

/* Weights are stored as doubles, and then the cells of each column, two in a word. */
void
race_particles_store(const RaceParticles *particles, uint64_t *words)
{
	uint64_t *cells = words + particles->n;
	size_t at = 0;

	memcpy(words, particles->weight, particles->n * sizeof(double));
	memset(cells, 0,
		   (race_records_words(particles->columns->columns, particles->n) - particles->n) *
			   sizeof(uint64_t));
	for (uint32_t j = 0; j < particles->columns->columns; j++)
		for (uint32_t i = 0; i < particles->n; i++, at++)
			cells[at / 2] |= (uint64_t) particles->cell[j][i] << (at % 2 * 32);
}

RaceParticles *
race_particles_load(const RaceGraphColumns *columns, uint32_t n, const uint64_t *words,
					RaceAllocate allocate, void *arg)
{
	RaceParticles *particles = allocate_particles(columns, n, allocate, arg);
	size_t at = 0;

	memcpy(particles->weight, words, n * sizeof(double));
	for (uint32_t j = 0; j < columns->columns; j++)
		for (uint32_t i = 0; i < n; i++, at++)
			particles->cell[j][i] = race_records_cell(words + n, at);
	return particles;
}

/* ----------------------------------------------------------------- answers */

RaceAxis
race_particles_axis(const RaceParticles *particles, uint32_t column, bool cells)
{
	const RaceGraphColumns *columns = particles->columns;

	return (RaceAxis){.column = column,
					  .places = cells ? columns->cells[column] : columns->groups[column],
					  .place = cells ? NULL : columns->group_of[column]};
}

void
race_particles_table(const RaceParticles *particles, uint32_t n, const RaceAxis *axes,
					 double *table)
{
	size_t all = 1;

	for (uint32_t k = 0; k < n; k++)
		all *= axes[k].places;
	memset(table, 0, all * sizeof(double));
	for (uint32_t i = 0; i < particles->n; i++)
	{
		size_t place = 0;

		for (uint32_t k = 0; k < n; k++)
		{
			uint32_t cell = particles->cell[axes[k].column][i];

			place = place * axes[k].places + (axes[k].place == NULL ? cell : axes[k].place[cell]);
		}
		table[place] += particles->weight[i];
	}
}

double
race_particles_event(const RaceParticles *particles, const double *const *weights, uint32_t of,
					 double *table)
{
	double sum = 0;

	if (table != NULL)
		memset(table, 0, particles->columns->cells[of] * sizeof(double));
	for (uint32_t i = 0; i < particles->n; i++)
	{
		double product = particles->weight[i];

		for (uint32_t j = 0; j < particles->columns->columns; j++)
			if (weights[j] != NULL)
				product *= weights[j][particles->cell[j][i]];
		sum += product;
		if (table != NULL)
			table[particles->cell[of][i]] += product;
	}
	return sum;
}
