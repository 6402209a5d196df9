/*
 * build.h
 *		What functions that build sketches have in common.
 */
#ifndef RACE_BUILD_H
#define RACE_BUILD_H

#include "sketch.h"

/*
 * A new exact sketch, in the pool of an aggregate or in a context of its own.  Raises 22023
 * for parameters that nothing can be built with.
 */
extern RaceSketch *race_build_create(FunctionCallInfo fcinfo, const RaceParams *params);

/* Add the record in argument `arg`, which counts `weight` times; not NULL. */
extern void race_build_record(FunctionCallInfo fcinfo, int arg, RaceSketch *sketch,
							  int weight);

#endif							/* RACE_BUILD_H */
