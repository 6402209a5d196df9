/*
 * noise.h
 *		The record of the noise in a sketch, and the rules by which it changes
 *
 * Every sketch carries a RaceNoise.  Plain C99: where something is not allowed, functions say so by
 * their result.
 */
#ifndef RACE_NOISE_H
#define RACE_NOISE_H

#include <stdbool.h>
#include <stdint.h>

#include "privacy/cost.h"

/* The numbers below are stored in sketches: never reuse one. */

typedef enum RaceStatus
{
	RACE_STATUS_EXACT = 0, /* no noise: not to be shown */
	RACE_STATUS_SHARE = 1, /* shares of noise: private when there are enough */
	RACE_STATUS_PRIVATE = 2
} RaceStatus;

typedef enum RaceMechanism
{
	RACE_MECHANISM_NONE = 0,
	RACE_MECHANISM_LAPLACE = 1,  /* discrete Laplace: pure privacy */
	RACE_MECHANISM_GAUSSIAN = 2, /* discrete Gaussian: delta > 0 */
	RACE_MECHANISM_SEVERAL = 3,  /* a sum of different ones */
	/* a difference of Wishart matrices, of moments: pure privacy */
	RACE_MECHANISM_WISHART = 4
} RaceMechanism;

typedef enum RaceNeighbors
{
	RACE_NEIGHBORS_NONE = 0,
	RACE_NEIGHBORS_ADD_REMOVE = 1,
	RACE_NEIGHBORS_SUBSTITUTE = 2
} RaceNeighbors;

/*
 * The noise in a sketch and what it cost.  All zero in an exact one, but for what is said of
 * weights.  In a sum of noise shares: what it costs with as many shares as there are, or as there
 * must be.
 */
typedef struct RaceNoise
{
	uint8_t status;     /* RaceStatus */
	uint8_t mechanism;  /* RaceMechanism */
	uint16_t neighbors; /* RaceNeighbors */
	uint32_t dropouts;  /* parties that may fail to take part */
	/* records a person may have; of an exact sketch: race_largest_weight() */
	uint32_t max_contributions;
	uint32_t releases; /* private sketches, or shares, merged into this one */
	double epsilon;    /* true cost, rounded up */
	double delta;
	double rho;              /* true cost in zCDP, rounded up */
	double counter_variance; /* variance of the noise in each counter */
	double count_variance;   /* variance of the noise in the record count */
	uint32_t parties;        /* parties that have a share each; else 0 */
	uint32_t colluders;      /* parties that may know each other's noise */
} RaceNoise;

#define RACE_MAX_PARTIES 10000

/* Return a name, or NULL for a number that has none. */
extern const char *race_neighbors_name(int neighbors);
extern const char *race_mechanism_name(int mechanism);

/* Return what is wrong with a RaceNoise that comes from outside, or NULL. */
extern const char *race_noise_problem(const RaceNoise *noise);

/* Return whether both mean the same by one person.  If not, their sum protects neither unit. */
extern bool race_noise_same_unit(const RaceNoise *a, const RaceNoise *b);

/*
 * Return whether both may be merged as disjoint, when no person is in both.  A substituted record
 * may leave one part for another, which costs half of each.  Together that is no more than the
 * larger whole where halves of both are counted alike, in epsilon for Laplace and in rho for
 * Gaussian noise; but not of one and the other.
 */
extern bool race_noise_may_be_disjoint(const RaceNoise *a, const RaceNoise *b);

/*
 * Change the noise of a private sum to what it is after the other sketch was added: costs add up;
 * if the data are disjoint, the larger cost remains.  Return false if the result cannot be stored.
 */
extern bool race_noise_compose(RaceNoise *noise, const RaceNoise *other, bool disjoint);

#endif
