/*
 * orthogonal.c
 *		Projections at right angles, by Gram and Schmidt.
 *
 * All lanes go through the same operations in the same order (IEEE additions,
 * products, divisions and square roots), so the bits are the same everywhere.
 */
#include "orthogonal.h"

#include <math.h>

#include "lsh.h"

/*
 * dots[lane] = the dot product of lane `lane` and one of them, for lanes from
 * `from` on
 */
static void
products(const double *c, uint32_t dims, int with, double *dots)
{
	uint32_t	i;
	int			lane;

	for (lane = 0; lane < RACE_LANES; lane++)
		dots[lane] = 0;
	for (i = 0; i < dims; i++, c += RACE_LANES)
		for (lane = 0; lane < RACE_LANES; lane++)
			dots[lane] += c[with] * c[lane];
}

/* Make lanes from ... to - 1 orthogonal to lane `with`. */
static void
project_out(double *c, uint32_t dims, int with, int from, int to)
{
	double		dots[RACE_LANES];
	double		square;
	uint32_t	i;
	int			lane;

	products(c, dims, with, dots);
	square = dots[with];
	for (lane = 0; lane < RACE_LANES; lane++)
		dots[lane] = lane >= from && lane < to ? dots[lane] / square : 0;
	for (i = 0; i < dims; i++, c += RACE_LANES)
	{
		double		x = c[with];

		for (lane = 0; lane < RACE_LANES; lane++)
			c[lane] -= dots[lane] * x;
	}
}

static void
lengths_of(const double *c, uint32_t dims, double *lengths)
{
	uint32_t	i;
	int			lane;

	for (lane = 0; lane < RACE_LANES; lane++)
		lengths[lane] = 0;
	for (i = 0; i < dims; i++, c += RACE_LANES)
		for (lane = 0; lane < RACE_LANES; lane++)
			lengths[lane] += c[lane] * c[lane];
	for (lane = 0; lane < RACE_LANES; lane++)
		lengths[lane] = sqrt(lengths[lane]);
}

void
race_orthogonalize(double *c, uint32_t dims)
{
	int			group = dims < RACE_LANES ? (int) dims : RACE_LANES;
	double		before[RACE_LANES];
	double		after[RACE_LANES];
	uint32_t	i;
	int			lane;
	int			pass;

	lengths_of(c, dims, before);
	/*
	 * the second pass corrects rounding errors; twice is enough (Giraud et al. 2005)
	 */
	for (pass = 0; pass < 2; pass++)
		for (lane = 0; lane < RACE_LANES; lane++)
		{
			int			end = (lane / group + 1) * group;

			project_out(c, dims, lane, lane + 1, end < RACE_LANES ? end : RACE_LANES);
		}
	lengths_of(c, dims, after);
	for (lane = 0; lane < RACE_LANES; lane++)
		before[lane] /= after[lane];
	for (i = 0; i < dims; i++, c += RACE_LANES)
		for (lane = 0; lane < RACE_LANES; lane++)
			c[lane] *= before[lane];
}
