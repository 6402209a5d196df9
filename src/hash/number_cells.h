/*
 * number_cells.h
 *		Cells of a number: intervals [edge, next edge) between two bounds, all as wide or calendar
 *		months
 *
 * Plain C99 without PostgreSQL headers.
 */
#ifndef RACE_NUMBER_CELLS_H
#define RACE_NUMBER_CELLS_H

#include <stdbool.h>
#include <stdint.h>

/* Cells of a column, those of NULL and of other values included */
#define RACE_COLUMN_CELLS 1000000

/* Months are counted from January 2000, and days from its first one. */
#define RACE_MOST_MONTHS 100000000 /* months before or after it: beyond PostgreSQL's dates */

/* The step from each edge of cells to the next one */
typedef struct RaceStep
{
	double width;    /* of cells that are equally wide; else 0 */
	uint32_t months; /* number of calendar months of a cell; 0 where cells are equally wide */
	double day;      /* with months: what a day adds to a number */
} RaceStep;

/*
 * Where start and width are decimals, edges are (first + i * step) / scale: integers divided by a
 * power of ten, so that each edge is the number that its decimal stands for.  Of months, first and
 * step count months.
 */
typedef struct RaceNumberCells
{
	double lower; /* what is below or above is clipped to the bounds */
	double upper;
	uint32_t cells;
	double first;
	double step;
	double scale;
	double day; /* of months; else 0 */
} RaceNumberCells;

/*
 * Set cells that begin at start <= lower and reach beyond upper.  Those of months begin with the
 * month of start, which is at most RACE_MOST_MONTHS from 2000.
 */
extern void race_number_cells_set(RaceNumberCells *cells, double lower, double upper, double start,
								  const RaceStep *step, uint32_t n);

/* Return the lower edge of cell i. */
extern double race_cell_edge(const RaceNumberCells *cells, uint32_t i);

/* Return the cell of a number, which is no NaN. */
extern uint32_t race_cell_of_number(const RaceNumberCells *cells, double x);

/*
 * Return the number of cells from start on that reach beyond upper; or up to it, unless upper is to
 * be in its own cell.  RACE_COLUMN_CELLS + 1 if they are more.
 */
extern uint32_t race_number_cells_count(double upper, double start, const RaceStep *step,
										bool upper_in_cell);

/* Return the first day of a month, from 1 January 2000 on; and the month of a day. */
extern double race_first_day(double month);
extern double race_month_of_day(double day);

#endif
