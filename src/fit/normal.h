/*
 * normal.h
 *		The normal distribution that explains the counters of a surrogate loss best.
 *
 * A surrogate loss is nearly a function of the second moments of the records.  Points that
 * are drawn from a normal distribution, each weighed by a polynomial of degree two, can have
 * any moments near its own.  The polynomial is found from all counters, by least squares; the
 * moments that it gives are those of the next distribution (a Gauss-Newton step).
 */
#ifndef RACE_FIT_NORMAL_H
#define RACE_FIT_NORMAL_H

#include "postgres.h"

#include "fit.h"
#include "work.h"

/*
 * Place the points of a surrogate loss, at most n: those of this distribution, with exactly
 * its moments, and all of the same weight.  False if there are too many columns to find it.
 */
extern bool race_normal_place(RaceFitWork *fit, const RaceBox *box, int64 seed, uint32 n);

#endif							/* RACE_FIT_NORMAL_H */
