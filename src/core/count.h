/*
 * count.h
 *		Counting of records in sketches of all kinds
 */
#ifndef RACE_COUNT_H
#define RACE_COUNT_H

#include "lsh.h"
#include "table.h"

/*
 * How records change counters of grids, and of halves.
 *
 * Plain C99 without PostgreSQL headers.  No counter may come near the limit of its width: nothing
 * is checked here.
 */

typedef struct RaceCounterArray
{
	void	   *counters;
	int			width;			/* bytes of each */
} RaceCounterArray;

/*
 * Split n records over the nodes of a grid, `weight` times.  If each has a portion that goes up, it
 * goes into the upper half; portions may be NULL.
 */
extern void race_count_in_grid(const RaceParams *params, const double *x, size_t n,
							   int64_t weight, const RacePortion *portions,
							   RaceCounterArray counters, RaceCounterArray upper);

/* Count a record in some rows, which begin with number `row`, at most RACE_LANES, of two halves. */
extern void race_count_halves_in_rows(const uint32_t *buckets, size_t row, uint32_t rows,
									  uint32_t range, const RacePortion *portion,
									  RaceCounterArray lower, RaceCounterArray upper);

/*
 * How many rows of a sketch a fitted model needs.
 *
 * Plain C99 without PostgreSQL headers.
 */

#define RACE_MAX_FITTED_ROWS	16384	/* rows that weights are found from: the first */

/* Does the kernel compare vectors by themselves, so that points need no texts? */
extern bool race_model_is_of_vectors(const RaceParams *params);

/* How many rows are the first half.  Of one row both halves are the same. */
extern uint32_t race_model_first_rows(const RaceParams *params);

/* Are points of vectors moved to suit rows?  In more dimensions than a grid of points covers. */
#define RACE_MODEL_GRID_DIMS	2

extern bool race_model_moves(const RaceParams *params);

/*
 * How many rows can test a model that race_fit() makes.  A row function of vectors has one
 * number more than there are dimensions: points that were moved to suit fewer than four times as
 * many rows suit them by chance.  In 8 dimensions models of 32 rows were up to twice as far off as
 * the rows, and of 64 nearer.  Of others, products too, each half of the rows should have seen all
 * columns: else samples know nothing of some of them together.
 */
extern uint32_t race_model_least_rows(const RaceParams *params);

/* Has each half of the rows enough for points of its own, where points are moved? */
extern bool race_model_halves_move(const RaceParams *params);

#endif
