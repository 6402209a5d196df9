/*
 * eigen.h
 *		Singular vectors, and shrunken correlations, of small matrices, row by row.
 *
 * Plain C99 without PostgreSQL headers.  What takes long is interruptible
 * (race_interrupt_hook).
 */
#ifndef RACE_EIGEN_H
#define RACE_EIGEN_H

#include <stdint.h>

#include "factor.h"

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

#endif							/* RACE_EIGEN_H */
