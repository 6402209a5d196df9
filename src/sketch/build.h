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

/*
 * Read the record in argument `arg`, which is not NULL, as the next of a sketch, to be
 * added at once.  All errors that the record can cause come before the first change.
 */
extern void race_build_read(FunctionCallInfo fcinfo, int arg, RaceSketch *sketch);

#endif							/* RACE_BUILD_H */
