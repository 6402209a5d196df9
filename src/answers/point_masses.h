/*
 * point_masses.h
 *		Point masses of a grid: places that many records share, as round numbers
 *
 * A projection (evaluator.c) supposes that records lie evenly between nodes.  Where the nodes
 * around two neighbors hold no more than those farther away, records lie in the cell between the
 * two, or at one of them, and the nodes determine their mean place.  Most often they are at one
 * place, which is there.  All this follows from released nodes alone.
 *
 * Plain C99 without PostgreSQL headers.
 */
#ifndef RACE_POINT_MASSES_H
#define RACE_POINT_MASSES_H

#include <stddef.h>

typedef struct RacePointMass
{
	double place; /* place, in cells from the first node on */
	double records;
} RacePointMass;

/*
 * Take point masses out of n >= 2 nodes in one dimension, whose noise has this variance, in
 * records.  Return how many they are: at most n / 3 + 1, for which `masses` has space.  space is
 * [n].
 */
extern size_t race_point_masses_take(double *nodes, size_t n, double noise, RacePointMass *masses,
									 double *space);

#endif
