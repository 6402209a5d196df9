/*
 * cells.c
 *		Cells of a number: equal intervals [edge, next edge) between two bounds
 */
#include <math.h>
#include <stdbool.h>

#include "cells.h"

#define DECIMALS	15			/* a double has so many decimal digits */

/* Is x an integer divided by a power of ten, and the double nearest to it? */
static bool
is_decimal(double x, double scale)
{
	return fabs(x * scale) < 0x1p53 && rint(x * scale) / scale == x;
}

void
race_number_cells_set(RaceNumberCells *cells, double lower, double upper,
					  double start, double width, uint32_t n)
{
	double		scale = 1;

	cells->lower = lower;
	cells->upper = upper;
	cells->cells = n;
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

double
race_cell_edge(const RaceNumberCells *cells, uint32_t i)
{
	return (cells->first + (double) i * cells->step) / cells->scale;
}

/* A division finds the cell but for rounding; the edges decide. */
uint32_t
race_cell_of_number(const RaceNumberCells *cells, double x)
{
	double		place;
	uint32_t	i;

	if (x < cells->lower)
		x = cells->lower;
	else if (!(x <= cells->upper))
		x = cells->upper;
	place = (x * cells->scale - cells->first) / cells->step;
	i = !(place > 0) ? 0 : place < cells->cells ? (uint32_t) place : cells->cells - 1;
	while (i > 0 && x < race_cell_edge(cells, i))
		i--;
	while (i + 1 < cells->cells && x >= race_cell_edge(cells, i + 1))
		i++;
	return i;
}

double
race_round_width(double x)
{
	double		ten = 1;

	while (10 * ten <= x)
		ten *= 10;
	return x <= ten ? ten : x <= 2 * ten ? 2 * ten : x <= 5 * ten ? 5 * ten : 10 * ten;
}
