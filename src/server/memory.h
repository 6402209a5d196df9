/*
 * memory.h
 *		Large memory that is filled at once.
 */
#ifndef RACE_MEMORY_H
#define RACE_MEMORY_H

#include "postgres.h"

/*
 * Memory for something large, not initialized, that will be written to as a whole.  Its pages
 * come from the system together: each on its own, when it is first written to, takes longer
 * than to read as many bytes of a table.
 */
extern void *race_alloc_large(MemoryContext context, Size size);

#endif							/* RACE_MEMORY_H */
