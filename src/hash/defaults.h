/*
 * defaults.h
 *		What "auto" chooses for parameters
 */
#ifndef RACE_DEFAULTS_H
#define RACE_DEFAULTS_H

#include "hash/params.h"

/*
 * Return the sequence of a part, where other parts have taken so many of Sobol's dimensions
 * already: Sobol's if there are enough, else structured, if it can be, or independent.
 */
extern int race_default_sequence(const RaceParams *part, uint32_t taken);

/*
 * Return the rehash: codes are folded where they can be, because estimates then need no correction.
 */
extern int race_default_rehash(const RaceParams *params);

/* Return whether codes can be folded. */
extern bool race_can_fold(const RaceParams *params);

#endif
