/*
 * point_masses.h
 *		Heaps in the nodes of a grid: places that many records share, as round numbers.
 *
 * A projection (table_error.h) supposes that records lie evenly between nodes.  Where the nodes around two
 * neighbours hold no more than those farther away, records lie in the cell between the two, or at one of
 * them, and the nodes say where on average.  Most often they are at one place, which is there.
 * That they lie so is known from released nodes alone.
 *
 * Plain C99 without PostgreSQL headers.
 */
#ifndef RACE_POINT_MASSES_H
#define RACE_POINT_MASSES_H

#include <stddef.h>

typedef struct RaceHeap
{
	double		place;			/* in cells from the first node on */
	double		records;
} RaceHeap;

/*
 * Take heaps out of n >= 2 nodes in one dimension, whose noise has this variance, in records.  Returns how
 * many they are: at most n / 3 + 1, for which heaps has space.  space is [n].
 */
extern size_t race_heaps_take(double *nodes, size_t n, double noise, RaceHeap *heaps,
							  double *space);

#endif
