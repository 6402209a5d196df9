/*
 * count.h
 *		How records change counters of grids, and of halves.
 *
 * Plain C99 without PostgreSQL headers.  No counter may come near the limit of its width: nothing
 * is checked here.
 */
#ifndef RACE_COUNT_H
#define RACE_COUNT_H

#include "../lsh/grid.h"

typedef struct RaceCounterArray
{
	void	   *counters;
	int			width;			/* bytes of each */
} RaceCounterArray;

/* Split n records over the nodes of a grid, `weight` times. */
extern void race_count_in_grid(const RaceParams *params, const double *x, size_t n,
							   int64_t weight, RaceCounterArray counters);

/* The same once, where each record has a portion that goes up */
extern void race_count_halves_in_grid(const RaceParams *params, const double *x, size_t n,
									  const RacePortion *portions, RaceCounterArray lower,
									  RaceCounterArray upper);

/* Count a record in some rows, which begin with number `row`, at most RACE_LANES, of two halves. */
extern void race_count_halves_in_rows(const uint32_t *buckets, size_t row, uint32_t rows,
									  uint32_t range, const RacePortion *portion,
									  RaceCounterArray lower, RaceCounterArray upper);

#endif							/* RACE_COUNT_H */
