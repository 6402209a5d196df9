/*
 * random.h
 *		The source of all noise
 */
#ifndef RACE_RANDOM_H
#define RACE_RANDOM_H

#include "postgres.h"

#include "privacy/sampler.h"

/*
 * Return the source: bytes from pg_strong_random, buffered in this process.  Nothing in SQL can
 * seed it.  Raise an error when the operating system has none.
 */
extern RaceRandom *race_strong_random(void);

/* Return a random number above 0 that no other value has. */
extern uint64_t race_random_id(void);

#endif
