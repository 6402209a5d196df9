/*
 * exact.h
 *		The exact counters of a summary, which nobody outside of src/privacy sees
 *
 * A summary is some blocks of counters.  A record adds non-negative integers to each block, a unit
 * together: a row of RACE has a unit of 1 and one counter gets it; a contingency table has one
 * cell that gets it, or parts of a cell; a grid is one block, and the nodes around a record share a
 * unit.  Moments are no blocks: a record adds the products of a vector of integers with itself.
 * What is added is bounded where it is added (count.h), whatever hash functions, domains or formats
 * return.
 *
 * The fields of RaceExact stand in exact_fields.h, which src/privacy alone includes.  Others hand
 * it on to the calls that pay: measure.h, look.h, score.h, select.h.  Plain C99.
 */
#ifndef RACE_EXACT_H
#define RACE_EXACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "privacy/nodes.h"

/* What a record adds, at most: public */
typedef struct RaceShape
{
	uint32_t blocks;    /* number of blocks; 0 of moments */
	uint64_t unit;      /* what a record adds to each block */
	uint32_t range;     /* counters of each block, where all have as many */
	const size_t *ends; /* ends of the blocks, if they differ in size; else NULL */
	uint32_t paired;    /* columns with a block each, then one of each pair (count.h); or 0 */
	RaceNodes nodes;    /* nodes of a grid; dims is 0 of others */
	uint32_t halvings;  /* halvings of the number of its cells that are exact */
	uint32_t columns;   /* integers in a vector of moments; else 0 */
	uint64_t squared;   /* largest squared norm of a vector of moments */
	bool absolute;      /* whether that norm counts absolute values, too (products.h) */
} RaceShape;

typedef struct RaceExact RaceExact;

/* Memory for one */
typedef struct RaceExactMemory
{
	uint64_t words[12];
} RaceExactMemory;

/*
 * Begin exact counters of a shape in such memory.  Without counters nothing is drawn: it serves to
 * plan a release.
 */
extern RaceExact *race_exact_begin(RaceExactMemory *memory, const RaceShape *shape);

/*
 * Add the counters, of so many bytes each, the number of records, and the largest weight of one, 1
 * without weights.  Others are not added to them.
 *
 * The first account that draws of exact counters is the only one: others draw nothing.  Nor does
 * an account of a request whose records have smaller weights.
 */
extern void race_exact_add(RaceExact *exact, const void *counters, int width, int64_t count,
						   uint64_t weight);

/*
 * Memory of the caller's in which a call works with exact numbers: as many of 8 bytes as the call
 * says, apart from the counters.  There are zeros in it afterwards, unless the user interrupts the
 * call.  Nobody outside of src/privacy looks into it.
 */
typedef struct RaceSpace RaceSpace;

#endif
