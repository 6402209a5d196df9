/*
 * factor.h
 *		Factors, eigenvectors and singular vectors of small matrices
 */
#ifndef RACE_FACTOR_H
#define RACE_FACTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Matrices are stored row by row.
 *
 * Plain C99 without PostgreSQL headers.  What takes long is interruptible
 * (race_interrupt_hook).
 */

/* Space that race_independent() and race_shrink() (factor.h) work in */
#define RACE_LINEAR_WORK(n) (((size_t) (n) + 4) * (n))

extern double race_dot(const double *x, const double *y, uint32_t n);

/*
 * Replace the lower triangle of c[n][n] by L, where C = L L' and L is lower triangular.  Squares of
 * its diagonal are made at least `least`.  Return whether they are so by themselves.
 */
extern bool race_factorize(double *c, uint32_t n, double least);

/* Solve L v' = v, or L' v' = v, in place. */
extern void race_solve_lower(const double *factor, uint32_t n, double *v);
extern void race_solve_upper(const double *factor, uint32_t n, double *v);

/* Replace L by its inverse. */
extern void race_invert_lower(double *factor, uint32_t n);

/* Replace c[n][n] = L L' by the inverse of L.  Return false if there is none. */
extern bool race_inverse_root(double *c, uint32_t n);

/* Set product = R'R, where R is lower triangular: of an inverse root it is the inverse. */
extern void race_root_product(const double *root, uint32_t n, double *product);

/*
 * If this share of the variance of a column, or less, is left after what the columns before
 * it explain, it is taken for a linear combination of them.
 */
#define RACE_LEAST_SHARE 1e-10

/*
 * Choose columns of n whose correlation matrix, r[n][n], can be inverted: keep[i] is false if
 * column i is a linear combination of those kept before it.  The matrix was estimated with so many
 * degrees of freedom.  As many columns explain every further one, so that nothing can be said of
 * those: they are kept.  `work` is space for RACE_LINEAR_WORK(n) numbers.  Return how many are
 * kept.
 */
extern uint32_t race_independent(const double *r, uint32_t n, double freedom, double *work,
								 bool *keep);

/*
 * Turn rows of w[rows][columns] in the planes of each two of them until all are at right
 * angles, and sort them, the longest first.  So w becomes S V' of its singular value
 * decomposition U S V' (one-sided Jacobi method, Hestenes 1958).  Of a symmetric matrix
 * without negative eigenvalues the rows become the eigenvectors, as long as their values.
 * lengths is [rows].
 */
extern void race_jacobi(double *w, uint32_t rows, uint32_t columns, double *lengths);

/*
 * Replace a correlation matrix r[n][n], without linear combinations (race_independent), by
 * its quadratic-inverse shrinkage (Ledoit & Wolf 2022, "Quadratic shrinkage for large
 * covariance matrices", Bernoulli 28(3)).  Its eigenvectors are kept.  Small eigenvalues
 * grow, large ones fall, in proportion to themselves and by a share of the order
 * n / freedom: with many rows nothing changes.  With fewer degrees of freedom than columns
 * it can be inverted all the same.  `work` is space for RACE_LINEAR_WORK(n) numbers.
 */
extern void race_shrink(double *r, uint32_t n, double freedom, double *work);

#endif
