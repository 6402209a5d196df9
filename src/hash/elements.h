/*
 * elements.h
 *		Elements of sets and categories, as 64 bits that are hashed further
 */
#ifndef RACE_ELEMENTS_H
#define RACE_ELEMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Return the 64 bits that stand for an element: an integer, or the bytes of a text.  Two different
 * elements have different bits, except with a probability of 2^-64 over seeds.  To hash bytes can
 * be interrupted.  A NULL in a row of categories stands for one of two elements (RaceNulls): of a
 * query that asks for what equals nothing, for the other.
 */
extern uint64_t race_element_of_integer(int64_t seed, int64_t value);
extern uint64_t race_element_of_bytes(int64_t seed, const void *bytes, size_t size);
extern uint64_t race_element_of_null(int64_t seed, bool equals_nothing);

#endif
