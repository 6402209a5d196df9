/*
 * radial_cache.h
 *		Tables of kernels over the distance, made once a backend for each parameter value in use
 */
#ifndef RACE_RADIAL_CACHE_H
#define RACE_RADIAL_CACHE_H

#include "postgres.h"

#include "hash/params.h"
#include "answers/radial.h"

/* Return the table of a kernel that can have one, valid until the memory context is reset. */
extern const RaceRadial *race_radial_of(const RaceParams *params, MemoryContext context);

#endif
