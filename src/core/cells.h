/*
 * cells.h
 *		Cells of a number: equal intervals [edge, next edge) between two bounds
 *
 * Plain C99 without PostgreSQL headers.
 */
#ifndef RACE_CELLS_H
#define RACE_CELLS_H

#include <stdint.h>

/* Cells of a column, those of NULL and of other values included */
#define RACE_COLUMN_CELLS	1000000

/*
 * Where start and width are decimals, edges are (first + i * step) / scale: integers divided by a power of
 * ten, so that each edge is the number that its decimal stands for.
 */
typedef struct RaceNumberCells
{
	double		lower;			/* what is below or above is clipped to the bounds */
	double		upper;
	uint32_t	cells;
	double		first;
	double		step;
	double		scale;
} RaceNumberCells;

/* Set cells that begin at start <= lower and reach beyond upper. */
extern void race_number_cells_set(RaceNumberCells *cells, double lower, double upper,
								  double start, double width, uint32_t n);

/* Return the lower edge of cell i. */
extern double race_cell_edge(const RaceNumberCells *cells, uint32_t i);

/* Return the cell of a number; NaN is above all others, as in PostgreSQL. */
extern uint32_t race_cell_of_number(const RaceNumberCells *cells, double x);

/* Return the smallest of 1, 2, 5, 10, 20, 50, ... that is at least x: a round width. */
extern double race_round_width(double x);

#endif
