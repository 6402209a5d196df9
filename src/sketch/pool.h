/*
 * pool.h
 *		One memory context for the sketches of all groups of an aggregate.
 */
#ifndef RACE_POOL_H
#define RACE_POOL_H

#include "postgres.h"

#include "fmgr.h"

#include "sketch.h"

/*
 * The sketch that a function may change, made from argument 0: argument 0 itself if
 * it is writable, else a copy. In an aggregate the copy is in the pool, and all
 * later calls get it again. `view` is the view of argument 0, or NULL.
 */
extern RaceSketch *race_writable_arg(FunctionCallInfo fcinfo,
									 const RaceView *view);

/* The memory context for a new sketch: the pool, or one of its own */
extern MemoryContext race_result_context(FunctionCallInfo fcinfo);

#endif							/* RACE_POOL_H */
