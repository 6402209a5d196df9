/*
 * state.c
 *		Names of mechanisms, and the sensitivity of a sketch.
 */
#include "state.h"

#include <stddef.h>

const char *
race_neighbors_name(int neighbors)
{
	return neighbors == RACE_NEIGHBORS_ADD_REMOVE ? "add_remove" :
		neighbors == RACE_NEIGHBORS_SUBSTITUTE ? "substitute" : NULL;
}

const char *
race_mechanism_name(int mechanism)
{
	return mechanism == RACE_MECHANISM_LAPLACE ? "discrete Laplace" :
		mechanism == RACE_MECHANISM_GAUSSIAN ? "discrete Gaussian" :
		mechanism == RACE_MECHANISM_SEVERAL ? "several" :
		mechanism == RACE_MECHANISM_WISHART ? "Wishart" : NULL;
}

RaceSensitivity
race_sensitivity(uint32_t max_contributions, RaceNeighbors neighbors,
				 uint64_t squared, uint64_t counters)
{
	RaceSensitivity result;

	/* at most 2^62 * 2 * 2^37 */
	result.count = (unsigned __int128) max_contributions * max_contributions *
		(neighbors == RACE_NEIGHBORS_SUBSTITUTE ? 2 : 1);
	result.counters = result.count * squared;
	result.cells = counters;
	return result;
}
