/*
 * params_check.h
 *		Checks of parameters against their limits
 */
#ifndef RACE_PARAMS_CHECK_H
#define RACE_PARAMS_CHECK_H

#include "hash/params.h"

/*
 * Check parameters from outside, of `size` bytes. Returns NULL if they are valid.
 * Otherwise returns what is wrong, written into `message` (of `length` bytes).
 */
extern const char *race_params_problem(const RaceParams *params, size_t size, char *message,
									   size_t length);

#endif
