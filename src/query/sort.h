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

#endif							/* RACE_SORT_H */
