/*
 * sort.h
 *		Sorting that a user can interrupt.
 */
#ifndef RACE_SORT_H
#define RACE_SORT_H

#include "postgres.h"

/*
 * Sort elements of a set, hashed to 64 bits. After an interrupt they are in any
 * order.
 */
extern void race_sort_elements(uint64 *elements, size_t n);

/* Sort the elements of a set and remove duplicates; *n becomes how many are left. */
extern void race_normalize_set(uint64 *elements, size_t *n);

#endif							/* RACE_SORT_H */
