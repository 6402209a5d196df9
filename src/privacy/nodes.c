/*
 * nodes.c
 *		The nodes of a grid, and of those with half as many cells
 */
#include "privacy/interrupt.h"
#include "privacy/nodes.h"

uint64_t
race_nodes_count(const RaceNodes *grid)
{
	uint64_t n = 1;

	for (uint32_t i = 0; i < grid->dims; i++)
		n *= grid->cells[i] + 1;
	return n;
}

void
race_nodes_halve(RaceNodes *grid)
{
	for (uint32_t i = 0; i < grid->dims; i++)
		grid->cells[i] /= 2;
}

/*
 * Coarsen along one axis: lines of n + 1 nodes become lines of n / 2 + 1.  What comes
 * before the axis is `outer` lines, what comes after it is `inner` nodes side by side.
 */
#define DEFINE_COARSEN_AXIS(coarsen_axis, type, half) \
	coarsen_axis(const type *in, type *out, uint64_t outer, uint64_t n, uint64_t inner) \
	{ \
		uint64_t o, k, j; \
		for (o = 0; o < outer; o++) \
			for (k = 0; k <= n / 2; k++) \
				for (j = 0; j < inner; j++) \
				{ \
					const type *middle = in + (o * (n + 1) + 2 * k) * inner + j; \
					type sides = 0; \
					if (k > 0) \
						sides += middle[-(int64_t) inner]; \
					if (k < n / 2) \
						sides += middle[inner]; \
					out[(o * (n / 2 + 1) + k) * inner + j] = *middle + half(sides); \
				} \
	}

#define DEFINE_COARSEN(coarsen, coarsen_axis, type) \
	void coarsen(const RaceNodes *fine, const type *in, type *out) \
	{ \
		uint64_t outer = 1; \
		uint64_t inner = race_nodes_count(fine); \
		uint32_t axis; \
		for (axis = 0; axis < fine->dims; axis++) \
		{ \
			race_look_for_interrupts(); \
			inner /= fine->cells[axis] + 1; \
			coarsen_axis(axis == 0 ? in : out, out, outer, fine->cells[axis], inner); \
			outer *= fine->cells[axis] / 2 + 1; \
		} \
	}

#define HALF_OF_INTEGER(x) ((x) / 2)
#define HALF_OF_REAL(x) ((x) *0.5)
void
DEFINE_COARSEN_AXIS(race_nodes_coarsen_axis, int64_t,
					HALF_OF_INTEGER) static void DEFINE_COARSEN_AXIS(coarsen_axis_real, double,
																	 HALF_OF_REAL)
	DEFINE_COARSEN(race_nodes_coarsen, race_nodes_coarsen_axis, int64_t)
		DEFINE_COARSEN(race_nodes_coarsen_real, coarsen_axis_real, double)
