/*
 * lbfgs.h
 *		Minimizing a smooth function by the limited-memory BFGS method (Liu & Nocedal 1989)
 *
 * Plain C99 without PostgreSQL headers.
 */
#ifndef RACE_LBFGS_H
#define RACE_LBFGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory that is freed with all that belongs to it; never NULL */
typedef void *(*RaceAllocate)(void *arg, size_t size);

/* What is minimized, over n numbers */
typedef struct RaceLbfgs
{
	size_t n;
	const double *scale; /* [n]: scale of each number: 1 / root of the curvature */
	uint32_t most;       /* most steps */
	/* Return the value at x, and set the gradient there. */
	double (*evaluate)(void *state, const double *x, double *gradient);
	/*
	 * Return whether to go on from x, at the beginning and after each step.  The caller keeps the
	 * x that it wants.
	 */
	bool (*go_on)(void *state, const double *x, const double *gradient);
	void *state;
} RaceLbfgs;

/* Minimize from x, which becomes the last one.  Return the number of steps. */
extern uint32_t race_lbfgs(const RaceLbfgs *search, double *x, RaceAllocate allocate, void *arg);

extern double race_dot_product(const double *x, const double *y, size_t n);

#endif
