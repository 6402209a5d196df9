/*
 * moment_sums.h
 *		Moments: sums and products of bounded columns, in exact integers.
 *
 * A record of d numbers becomes v = [1, u]: each column is scaled from its public bounds to
 * [-1, 1], and the last ones, the targets, to RACE_TARGET_WEIGHT times that.  v is multiplied by a
 * factor of at most 1 so that its norm is at most that of the parameters, and rounded to fixed
 * point.  So a record beyond the norm keeps its direction, and weighs less: regressions of v have
 * no bias from clipping x.  The counters are the upper triangle of the sum of v v', row by row.
 * The number of records is the count of the sketch.
 *
 * The norm is that of L2; or of absolute values (RACE_CLIP_ABSOLUTE), for Laplace noise, the root
 * of half of the sum of squares and the square of the sum of absolute values: its square is what a
 * record adds to all counters in L1.
 *
 * With a transform, which is public, u is that of the record within its bounds, g(x) = M (x - o),
 * times RACE_TRANSFORMED.  M is a lower triangle, so that the columns can be had back from u.
 * There are neither targets nor features then.
 *
 * With features, u is [features of all columns but the targets, all columns].  Features are
 * random Fourier features (Rahimi & Recht 2007), g cos(2 pi (b + a.x)), for the kernel
 * exp(-|x - y|^2 / (2 bandwidth^2)) of scaled columns.  Their coefficients are those of row
 * functions (rows.c), so that their seed and sequence mean what they mean for l2.
 *
 * Rounding is to the nearest integer, by IEEE operations alone: the same bits everywhere.
 */
#ifndef RACE_MOMENT_SUMS_H
#define RACE_MOMENT_SUMS_H

#include "privacy/products.h"
#include "hash/params.h"
#include "hash/rows.h"

#define RACE_MOMENTS_ONE RACE_PRODUCTS_ONE
#define RACE_MOMENTS_SMALL_ONE 3072 /* 1 where there are targets; ONE is the largest of these */
#define RACE_TARGET_WEIGHT ((double) RACE_MOMENTS_ONE / RACE_MOMENTS_SMALL_ONE)
#define RACE_MOMENTS_COLUMNS 1024 /* columns of v, the 1 among them */
/* classes of a model, which takes space in proportion to their cube */
#define RACE_MOMENTS_CLASSES 100

/*
 * To find a factor, a target in [-1, 1] is taken to be so large at least.  So most factors do not
 * depend on the target, and regressions have less bias.
 */
#define RACE_TARGET_LEAST 0.35

/*
 * The squared norm that all features together are made to have, by the root of their number.  Like
 * what is above, it was chosen on made-up tables.
 */
#define RACE_FEATURES_SQUARED 0.9

/*
 * A deviation of a transformed column, beside the constant 1: from 1/3 to 1.7 the errors that
 * test/bench/public_rows.py prints are the same.  Larger numbers than MOST are cut: they are beyond
 * any norm.
 */
#define RACE_TRANSFORMED 0.5
#define RACE_TRANSFORMED_MOST 0x1p100

/* Return the length of v; and how many columns are no targets: inputs of features, if any. */
extern uint32_t race_moments_columns(const RaceParams *params);
extern uint32_t race_moments_inputs(const RaceParams *params);

/*
 * The norm that "auto" stands for.  No record is shorter than the constant 1 in it, so this brings
 * all to the same norm.  On made-up tables it had the least errors of norms between it and the root
 * of the number of columns.
 */
#define RACE_MOMENTS_NORM 1.0

/* Return what is wrong with the parameters of moments, or NULL. */
extern const char *race_moments_problem(const RaceParams *params, char *message, size_t length);

/* Set the parameters of row functions whose coefficients are those of the features. */
extern void race_moments_functions(const RaceParams *params, RaceParams *functions);

/* Return column i of a record, scaled: in [-1, 1] for what is within the bounds. */
extern double race_moments_scaled(const RaceParams *params, uint32_t i, double x);

/*
 * Return column i of u of a record within its bounds, of parameters with a transform; and the
 * amplitude g of a feature.
 */
extern double race_moments_transformed(const RaceParams *params, uint32_t i, const double *record);
extern double race_moments_amplitude(const RaceParams *params);

/* Set the features of scaled inputs: out[features]. */
extern void race_moments_features(const RaceParams *params, const RaceRows *functions,
								  const double *scaled, double *out);

/*
 * Return the square of the norm of v in fixed point, at most: race_moments_count() obeys it
 * exactly, whatever the record.
 */
extern uint64_t race_moments_squared(const RaceParams *params);

/* Return the unit, the square of 1 in fixed point; and set what a record adds at most. */
extern uint64_t race_moments_unit(const RaceParams *params);
extern void race_moments_shape(const RaceParams *params, RaceShape *shape);

/*
 * Count n records of dims numbers each, within the bounds, `sign` (1 or -1) times: add their
 * products to the counters.  The workspace has race_moments_workspace() bytes, aligned to 8.
 */
extern size_t race_moments_workspace(const RaceParams *params);
extern void race_moments_count(const RaceParams *params, const RaceRows *functions,
							   const double *records, size_t n, int sign, int64_t *counters,
							   void *workspace);

#endif
