/*
 * structured.h
 *		Projections at right angles, by fast transforms
 */
#ifndef RACE_STRUCTURED_H
#define RACE_STRUCTURED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hash/params.h"

/*
 * Projections at right angles that are never written down: signs and Hadamard
 * transforms.
 *
 * For a record x of d numbers, padded with zeros to a power of two D, the projections of D
 * rows are
 *
 * z = H S3 H S2 H S1 x / D^1.5
 *
 * where H is the Hadamard matrix of +-1 and S1 ... S3 are diagonal matrices of random signs:
 * 3 D log2(D) additions, in place of d D multiplications.  The D rows are at right angles to
 * each other and of length 1.  Where the length counts, each row is stretched by a number of
 * its own that is distributed as the length of a normal vector of D numbers.  (Andoni,
 * Indyk, Laarhoven, Razenshteyn & Schmidt 2015; Choromanski, Rowland & Weller 2017; for two
 * rounds Le, Sarlos & Smola 2013.)  A row is then normal but for terms of the order of
 * 1 / D^2 in its fourth moment; structured_test.c measures what that does to kernels.
 *
 * The functions of a row come from different transforms.  So they are independent of each
 * other, as powers and products need it.
 */

/*
 * Of a vector with one number, z is a multiple of some step.  So it is 0 with a probability
 * of 2.4 / D, and the signs of opposite vectors are the same as often.  Shorter transforms
 * would be too coarse.
 */
#define RACE_STRUCTURED_LEAST 1024
#define RACE_STRUCTURED_ROUNDS 3

static inline bool
race_is_structured(const RaceParams *part)
{
	return part->sequence == RACE_SEQUENCE_STRUCTURED;
}

/* Return D, also the number of rows of a group, which share a transform; 0 for other sequences. */
extern uint32_t race_structured_length(const RaceParams *part);

/* Return the number of words of signs of a transform; and of those of `rows` rows. */
static inline size_t
race_structured_words(const RaceParams *part)
{
	return (size_t) RACE_STRUCTURED_ROUNDS * race_structured_length(part) / 64;
}

extern size_t race_structured_all_words(const RaceParams *part, uint32_t rows);

/* Return how long a row is, over D^1.5, from a standard normal number. */
extern double race_structured_scale(const RaceParams *part, double normal);

/* Compute z D^1.5, of a record of the part. */
extern void race_structured_project(const RaceParams *part, const uint64_t *signs, const double *x,
									double *z);

#endif
