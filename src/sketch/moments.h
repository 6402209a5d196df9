/*
 * moments.h
 *		What answers from moments need: the matrix of sums and products, and its noise.
 *
 * The columns of the matrix are those of v = [1, u] (moment_sums.h), in scaled units: a column
 * of the record is (x - (lower + upper) / 2) / ((upper - lower) / 2), and for a target
 * RACE_TARGET_WEIGHT times that; a feature is a feature.  Records were clipped to the bounds, and v
 * was multiplied by a factor so that it is within the norm.
 */
#ifndef RACE_MOMENTS_H
#define RACE_MOMENTS_H

#include "postgres.h"

#include "hash/moment_sums.h"
#include "hash/params.h"
#include "sketch/rows_cache.h"
#include "sketch/sketch.h"

typedef struct RaceMoments
{
	const RaceHeader *header;
	const RaceParams *params;
	bool exact; /* is it without noise? */

	uint32 columns; /* number of columns of v, p: the 1, then u */
	/*
	 * [p][p], symmetric: the sum of v v' over the records, as far as it is known; [0][0] is how
	 * much they weigh, their count if no record was beyond the norm.  Noise of entries i <= j is
	 * independent; that of (j, i) is that of (i, j).
	 */
	double *matrix;
	double diagonal_sd; /* standard deviation of the noise of an entry (i, i); 0 if exact */
	/* standard deviation of the noise of an entry (i, j), i < j: of sums (0, j) and products */
	double other_sd;
	double count; /* number of records; noisy */
	double count_sd;

	uint32 dims;         /* columns of a record */
	const double *lower; /* [dims]: lower bounds, public */
	const double *upper;
	double norm;     /* norm of v */
	uint32 features; /* number of features; they precede the scaled record in u */
	uint32 inputs;   /* columns that are no targets, or that features are made of */
	uint32 targets;  /* columns that are targets, the last ones */
	const double
		*transform; /* a lower triangle, [dims][dims], public; or NULL: then u is of the record */
	const double *offset; /* offset of the transform, or NULL */
} RaceMoments;

/*
 * Set *moments to those in a datum, as they are asked; the matrix is palloc'd.  Raise 55000 for
 * sums of noise shares of which there are too few.
 */
extern void race_moments_ask(Datum value, RaceMoments *moments);

/*
 * Set out[columns - 1] to u of a record of `dims` finite numbers, which is clipped to its bounds,
 * but not to the norm.  Of an answer's input, columns that do not matter can have any number.  It
 * needs the coefficients of the features: see race_moments_hold() and race_moments_release().
 */
extern RaceRowsEntry *race_moments_hold(const RaceMoments *moments);
extern void race_moments_release(RaceRowsEntry *entry);
extern void race_moments_map(const RaceMoments *moments, const RaceRowsEntry *entry,
							 const double *record, double *out);

/* Return the place in v of column i of a record (from 0), after the features. */
extern uint32 race_moments_place(const RaceMoments *moments, uint32 i);

/*
 * Return half the width of the bounds of column i, for a target divided by its weight; and their
 * middle: x = middle + half * u.
 */
extern double race_moments_half(const RaceMoments *moments, uint32 i);
extern double race_moments_middle(const RaceMoments *moments, uint32 i);

#endif
