/*
 * model_rows.h
 *		How many rows of a sketch a fitted model needs
 */
#ifndef RACE_MODEL_ROWS_H
#define RACE_MODEL_ROWS_H

#include "hash/params.h"

#define RACE_MAX_FITTED_ROWS 16384 /* rows that weights are found from: the first */

/* Return whether the kernel compares vectors by themselves, so that points need no texts. */
extern bool race_model_is_of_vectors(const RaceParams *params);

/* Return how many rows are the first half.  Of one row both halves are the same. */
extern uint32_t race_model_first_rows(const RaceParams *params);

/* Are points of vectors moved to suit rows?  In more dimensions than a grid of points covers. */
#define RACE_MODEL_GRID_DIMS 2

extern bool race_model_moves(const RaceParams *params);

/*
 * Return how many rows can test a model that race_fit() makes.  A row function of vectors has one
 * number more than there are dimensions: points that were moved to suit fewer than four times as
 * many rows suit them by chance.  In 8 dimensions models of 32 rows were up to twice as far off as
 * the rows, and of 64 nearer.  Of others, products too, each half of the rows should have seen all
 * columns: else samples know nothing of some of them together.
 */
extern uint32_t race_model_least_rows(const RaceParams *params);

/* Return whether each half of the rows has enough for points of its own, where points are moved. */
extern bool race_model_halves_move(const RaceParams *params);

#endif
