/*
 * loss_rows.h
 *		Surrogate losses by asymmetric LSH (Coleman & Shrivastava 2021, section 4).
 *
 * A record is a vector z, and a model theta becomes a vector u; both are lifted to the unit
 * sphere, each by a coordinate that the other one does not have:
 *
 * P(z) = [z / B, sqrt(1 - |z / B|^2), 0]		B: radius
 * Q(u) = [u, 0, sqrt(1 - |u|^2)]
 *
 * So P(z).Q(u) = z.u / B, and `power` random signs of both agree with the probability
 * (1/2 + asin(z.u / B) / pi)^power.
 *
 * kernel			record			z				u				loss
 * least_squares	[x, y]			the record		[theta, -1] / C	at u and at -u
 * margin			[x, label]		[x, 0] or		[theta, 0] / C	at -u
 * [-x, 0]
 *
 * C is query_radius.  Both signs make the loss an even function of the residual
 * theta.x - y, with its least value at 0; one sign makes it a falling function of the margin.
 * A record outside the radius is clipped to it.
 */
#ifndef RACE_LOSS_ROWS_H
#define RACE_LOSS_ROWS_H

#include "hash/column.h"
#include "hash/kernel.h"
#include "hash/params.h"

#define RACE_MAX_SURROGATE_DIMS 1000
#define RACE_MAX_SURROGATE_POWER 16

/* Numbers of lifted records that are hashed together; a record has fewer */
#define RACE_LIFTED_TOGETHER 4096

static inline bool
race_is_surrogate(const RaceParams *part)
{
	return race_kernel_type(part->kernel)->queries > 0;
}

/* Coordinates that lifting adds */
#define RACE_LIFT 2

/* Return how many numbers of a vector a row function projects. */
static inline uint32_t
race_hashed_width(const RaceParams *part)
{
	return race_is_surrogate(part) ? part->dims + RACE_LIFT : part->dims;
}

/* Return what is wrong with the parameters of a surrogate loss, or NULL. */
extern const char *race_surrogate_problem(const RaceParams *params, char *message, size_t length);

/* Compute P of a record; the same bits on every machine. */
extern void race_surrogate_lift(const RaceParams *params, const double *x, double *lifted);

/*
 * Compute Q of theta, dims - 1 numbers, for query i of the loss.  Return false if it is not within
 * the radius of queries.
 */
extern bool race_surrogate_query(const RaceParams *params, const double *theta, uint32_t i,
								 double *lifted);

/*
 * Return the exact value of power 1: for a record and a query, which is lifted already and is
 * longer by that; or for two records, lifted both.
 */
extern double race_surrogate_kernel(const RaceParams *part, const RaceColumn *x,
									const RaceColumn *y);

#endif
