/*
 * number_cells.c
 *		Cells of a number: intervals [edge, next edge) between two bounds, all as wide or calendar
 *		months
 */
#include <math.h>

#include "hash/number_cells.h"

/*
 * Months, in the Gregorian calendar
 *
 * Years begin in March here, so that the day that leap years add is the last one.  400 years have
 * 146,097 days.  Months are at most 2 * RACE_MOST_MONTHS, so that no product is beyond 64 bits.
 */

#define MONTHS_OF_400_YEARS 4800
#define DAYS_OF_400_YEARS 146097
#define MARCH 2          /* months from January */
#define DAYS_TO_MARCH 60 /* days from 1 January 2000 to 1 March */

/* Return the day that `months` begins, from March on, within 400 years. */
static int64_t
day_of_months(int64_t months)
{
	int64_t years = months / 12;

	return years * 365 + years / 4 - years / 100 + years / 400 + (153 * (months % 12) + 2) / 5;
}

double
race_first_day(double month)
{
	int64_t from_march = (int64_t) month - MARCH;
	int64_t whole = from_march / MONTHS_OF_400_YEARS - (from_march % MONTHS_OF_400_YEARS < 0);

	return (double) (whole * DAYS_OF_400_YEARS +
					 day_of_months(from_march - whole * MONTHS_OF_400_YEARS) + DAYS_TO_MARCH);
}

double
race_month_of_day(double day)
{
	double mean = (double) DAYS_OF_400_YEARS / MONTHS_OF_400_YEARS;
	double month = floor(fmin(fmax(day / mean, -RACE_MOST_MONTHS), RACE_MOST_MONTHS));

	/* bound: two months, by which a mean month is off; days beyond the last month do not move it */
	while (race_first_day(month) > day && month > -RACE_MOST_MONTHS)
		month--;
	/* bound: as above */
	while (race_first_day(month + 1) <= day && month < RACE_MOST_MONTHS)
		month++;
	return month;
}

/*
 * Cells
 */

#define DECIMALS 15 /* decimal digits of a double */

/* Return whether x is an integer divided by a power of ten, and the double nearest to it. */
static bool
is_decimal(double x, double scale)
{
	return fabs(x * scale) < 0x1p53 && rint(x * scale) / scale == x;
}

/* Set the edges of cells that are equally wide. */
static void
set_widths(RaceNumberCells *cells, double start, double width)
{
	double scale = 1;

	for (int i = 0; i < DECIMALS && !(is_decimal(start, scale) && is_decimal(width, scale)); i++)
		scale *= 10;
	if (is_decimal(start, scale) && is_decimal(width, scale))
	{
		cells->scale = scale;
		cells->first = rint(start * scale);
		cells->step = rint(width * scale);
	}
	else
	{
		cells->scale = 1;
		cells->first = start;
		cells->step = width;
	}
}

void
race_number_cells_set(RaceNumberCells *cells, double lower, double upper, double start,
					  const RaceStep *step, uint32_t n)
{
	cells->lower = lower;
	cells->upper = upper;
	cells->cells = n;
	cells->day = step->months > 0 ? step->day : 0;
	if (step->months == 0)
	{
		set_widths(cells, start, step->width);
		return;
	}
	cells->scale = 1;
	cells->first = race_month_of_day(floor(start / step->day));
	cells->step = step->months;
}

double
race_cell_edge(const RaceNumberCells *cells, uint32_t i)
{
	double edge = (cells->first + (double) i * cells->step) / cells->scale;

	return cells->day == 0 ? edge : race_first_day(fmin(edge, RACE_MOST_MONTHS)) * cells->day;
}

/* Find the cell of a number.  A division finds it but for rounding; the edges decide. */
uint32_t
race_cell_of_number(const RaceNumberCells *cells, double x)
{
	double place;
	uint32_t i;

	if (x < cells->lower)
		x = cells->lower;
	else if (x > cells->upper)
		x = cells->upper;
	place = cells->day == 0 ? x * cells->scale : race_month_of_day(floor(x / cells->day));
	place = (place - cells->first) / cells->step;
	i = !(place > 0) ? 0 : place < cells->cells ? (uint32_t) place : cells->cells - 1;
	/* bound: the cells, of which rounding passes one or two */
	while (i > 0 && x < race_cell_edge(cells, i))
		i--;
	/* bound: the cells, of which rounding passes one or two */
	while (i + 1 < cells->cells && x >= race_cell_edge(cells, i + 1))
		i++;
	return i;
}

uint32_t
race_number_cells_count(double upper, double start, const RaceStep *step, bool upper_in_cell)
{
	RaceNumberCells cells;
	uint32_t n;

	race_number_cells_set(&cells, start, upper, start, step, RACE_COLUMN_CELLS + 1);
	n = race_cell_of_number(&cells, upper);
	/* the upper bound is the end of the last cell, or in it */
	return n > 0 && !upper_in_cell && race_cell_edge(&cells, n) >= upper ? n : n + 1;
}
