/*
 * random.h
 *		The source of all noise: PostgreSQL's strong random numbers.
 */
#ifndef RACE_PRIVACY_RANDOM_H
#define RACE_PRIVACY_RANDOM_H

#include "../noise/noise.h"

/*
 * Bytes from pg_strong_random, buffered in this process.  Nothing in SQL can
 * seed it.  Raises an error when the operating system has none.
 */
extern RaceRandom *race_strong_random(void);

/* A random number above 0 that no other value has */
extern uint64_t race_random_id(void);

#endif							/* RACE_PRIVACY_RANDOM_H */
