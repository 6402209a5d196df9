/*
 * particles.h
 *		A distribution over whole records as weighted records (particles), which is near all that
 *		was measured of a table at once
 *
 * p(x) is proportional to c(x) exp(sum over measured tables t of theta_t[cell of x in t] + sum over
 * pairs (i, j) of theta_ij s_i(x) s_j(x)).  c has the measured shares of each column, and the
 * dependence of a Gaussian copula between columns with signs.  Signs s_i are -1, 0 or 1.  theta
 * maximizes the entropy relative to c, with quadratic penalties: each measured number is weighed by
 * the variance of its noise, and by how far c is off.  Particles are drawn from c; then weights are
 * fitted, particles are drawn by weights, and moved by Metropolis steps, in turns (sequential Monte
 * Carlo, Del Moral, Doucet & Jasra 2006).
 *
 * Results are the same on every run: no random number is drawn from outside.
 *
 * Plain C99 without PostgreSQL headers.
 */
#ifndef RACE_PARTICLES_H
#define RACE_PARTICLES_H

#include <stdbool.h>
#include <stdint.h>

#include "answers/graphical_model.h"

/* Products of signs that were measured */
typedef struct RaceSignSums
{
	const int8_t *const *sign; /* [columns][cells]: of each cell; NULL: the column has none */
	/* sums over all records of s_i s_j, of pairs i < j of columns with signs, in this order */
	const double *sums;
	double variance;
} RaceSignSums;

typedef struct RaceParticles RaceParticles;

/*
 * Create `n` particles, a power of 2, near tables and signs, which may be NULL.  Every column has
 * one table of its own, which come first.  `total` is the number of records, at least 1.  All that
 * is given is used as long as the particles are.
 */
extern RaceParticles *race_particles_create(const RaceGraphColumns *columns, uint32_t tables,
											const RaceMarginal *table, const RaceSignSums *signs,
											double total, uint32_t n, RaceAllocate allocate,
											void *arg);

/* Fit the particles to what was measured: weigh and move them until they stay. */
extern void race_particles_fit(RaceParticles *particles);

/*
 * Return the number of words in which particles are stored (race_records_words()), and their
 * number; store them; and make particles of what was stored.
 */
extern size_t race_particles_size(const RaceParticles *particles, size_t *n);
extern void race_particles_store(const RaceParticles *particles, uint64_t *words);
extern RaceParticles *race_particles_load(const RaceGraphColumns *columns, uint32_t n,
										  const uint64_t *words, RaceAllocate allocate, void *arg);

/*
 * Return the total variation distance between the copula and independence, in the mean over pairs of
 * columns with signs.
 */
extern double race_particles_explained(const RaceParticles *particles);

/*
 * Return the total variation distance between the table of a pair and that of so many records of
 * it, in the mean over all pairs, in groups.
 */
extern double race_particles_blur(const RaceParticles *particles);

/*
 * Return the total variation distance of a pair by noise in the shares of its columns, in the mean,
 * in groups, if noise had `factor` times its variance.
 */
extern double race_particles_noise(const RaceParticles *particles, double factor);

/* An axis of a table: the places that cells of a column have along it */
typedef struct RaceAxis
{
	uint32_t column;
	uint32_t places;
	const uint32_t *place; /* [cells]; NULL: each is one by itself */
} RaceAxis;

/* Return the axis of a column, by cells or by groups. */
extern RaceAxis race_particles_axis(const RaceParticles *particles, uint32_t column, bool cells);

/* Compute the table [places][places]... of n columns: shares. */
extern void race_particles_table(const RaceParticles *particles, uint32_t n, const RaceAxis *axes,
								 double *table);

/* Return the expectation of a product of weights, as race_graph_event() does. */
extern double race_particles_event(const RaceParticles *particles, const double *const *weights,
								   uint32_t of, double *table);

/*
 * Draw n rows, rows[n][columns], in random order.  Each is a particle.  Frequencies in tables of
 * one and two columns are nearer to their expectation than those of independent rows.  `memory` may
 * be freed then.
 */
extern void race_particles_sample(const RaceParticles *particles, double (*uniform)(void *),
								  void *arg, uint32_t n, uint32_t *rows, RaceAllocate allocate,
								  void *memory);

#endif
