/*
 * entropy.h
 *		The weights of points that explain marginals, and else are as near as possible to a prior.
 *
 * Plain C99 without PostgreSQL headers.
 *
 * Where noise is much, the weights that explain all counters best (solve.h) explain noise: few
 * points have all the weight.  Of weights that explain them about as well, those are taken that
 * have the least divergence from a prior: maximum entropy (Dudik, Phillips & Schapire 2007;
 * McKenna, Sheldon & Miklau 2019 for private marginals).  What the counters do not say is then as
 * the prior has it.
 */
#ifndef RACE_ENTROPY_H
#define RACE_ENTROPY_H

#include "gram.h"

/* Numbers of space that race_entropy_weights() needs for m points */
#define RACE_ENTROPY_SPACE(m)	(9 * (m))

/*
 * Find weights w > 0 with sum `total` that minimize w'Mw / 2 - b'w + `strictness` total KL(w | prior):
 * accelerated mirror descent (Tseng 2008).  The prior has any sum.  Interruptible.
 */
extern void race_entropy_weights(const RaceGram *gram, const double *answers, double total,
								 double strictness, const double *prior, double *weights,
								 double *space);

#endif							/* RACE_ENTROPY_H */
