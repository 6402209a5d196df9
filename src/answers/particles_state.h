/*
 * particles_state.h
 *		Particles, the distribution that they are drawn from, and the parameters of their weights
 */
#ifndef RACE_PARTICLES_STATE_H
#define RACE_PARTICLES_STATE_H

#include "answers/particles.h"

#define RACE_FEATURE_COLUMNS 3

/* A measured table, whose cells have parameters */
typedef struct Feature
{
	uint32_t columns;
	uint32_t column[RACE_FEATURE_COLUMNS];
	size_t step[RACE_FEATURE_COLUMNS]; /* distance of groups of each column in the table */
	uint32_t block;                    /* cells in order of one column that were counted together */
	size_t cells;
	size_t at; /* number of parameters before its own */
	const double *counts;
	double variance;
	double softness; /* what the penalty is multiplied by: below 1 where the base is far off */
	double signal;   /* squared distance of the base from counts, less that of noise */
} Feature;

/* A pair of columns with signs, whose product has a parameter */
typedef struct SignPair
{
	uint32_t first;
	uint32_t second;
	double slope; /* of the sum of its products, in records, by its correlation (copula.h) */
	double softness;
	double signal;
} SignPair;

struct RaceParticles
{
	const RaceGraphColumns *columns;
	uint32_t n;
	uint32_t **cell; /* [columns][n]: records */
	double *weight;  /* [n], which add up to 1 */

	/* what they are fitted to; not of stored ones */
	double total;
	uint32_t features;
	Feature *feature;
	const RaceMarginal *table; /* [features]: what was measured, with its noise */
	const RaceSignSums *signs;
	uint32_t pairs;
	SignPair *pair;
	size_t parameters; /* of features, then of pairs */
	double *theta;     /* by which particles are distributed, beside the base */

	/* the base: the latent normal numbers of a copula, and the shares of cells */
	double **latent; /* [columns][n]: NULL of a column of categories */
	double **share;  /* [columns][cells] */
	double **edge;   /* [columns][ordered]: normal number where each ordinary cell ends */
	double **single; /* [columns][cells - ordered + 1]: cumulative shares of other cells, then 1 */
	double *correlation; /* [columns][columns] */
	double *precision;   /* its inverse */
	uint64_t seed;
	RaceAllocate allocate;
	void *arg;
};

/* Return the group of a cell. */
static inline uint32_t
race_particle_group(const RaceParticles *particles, uint32_t column, uint32_t cell)
{
	const uint32_t *map = particles->columns->group_of[column];

	return map == NULL ? cell : map[cell];
}

/* Return the number of first cells of a column that are in order; 0 of categories. */
static inline uint32_t
race_particle_ordered(const RaceGraphColumns *columns, uint32_t column)
{
	return columns->ordered == NULL ? 0 : columns->ordered[column];
}

/* Return the place of a cell in a table of one column: its block, or a cell by itself. */
static inline size_t
race_particle_block(const RaceGraphColumns *columns, const Feature *feature, uint32_t cell)
{
	uint32_t ordered = race_particle_ordered(columns, feature->column[0]);

	return cell < ordered ? cell / feature->block :
							cell - ordered + (ordered + feature->block - 1) / feature->block;
}

/* Return a random number in (0, 1), by SplitMix64 (Steele, Lea & Flood 2014). */
static inline double
race_particle_uniform(uint64_t *seed)
{
	uint64_t x = *seed += UINT64_C(0x9E3779B97F4A7C15);

	x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
	return ((double) ((x ^ (x >> 31)) >> 11) + 0.5) * 0x1p-53;
}

/* Return the cell of a column: by two numbers in (0, 1), the first as a normal number. */
extern uint32_t race_particle_cell(const RaceParticles *particles, uint32_t column, double latent,
								   double uniform);

/* Return the place of a particle in a feature. */
extern size_t race_particle_place(const RaceParticles *particles, const Feature *feature,
								  uint32_t i);

/* Draw particles by their weights, and move each so many times; weights become equal. */
extern void race_particles_move(RaceParticles *particles, uint32_t sweeps);

/* Draw particles from the base. */
extern void race_particles_draw(RaceParticles *particles);

#endif
