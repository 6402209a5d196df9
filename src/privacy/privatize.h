/*
 * privatize.h
 *		From an exact sketch to a private one.
 */
#ifndef RACE_PRIVATIZE_H
#define RACE_PRIVATIZE_H

#include "postgres.h"

#include "../sketch/sketch.h"
#include "checked_plan.h"
#include "values.h"

/*
 * A private sketch of an exact one, as race_privatize makes it, in a memory context of its
 * own within `context`.  Every call draws new noise.  Raises 22023 for noise that is too
 * large, whatever the exact sketch holds.
 */
extern RaceSketch *race_private_sketch(const RaceView *exact, const RaceRequest *request,
									   MemoryContext context);

/*
 * The same of one exact sketch (n = 1), or of both halves of a pair (RACE_HALVES), which give
 * a new pair.  If the request leaves open what is kept, it is the same of both: the mean of
 * their noisy counts chooses it.  Raises 55000 for a half by itself, and 22023 for halves that
 * do not belong together.
 */
extern void race_private_sketches(const RaceView *views, int n, const RaceRequest *request,
								  MemoryContext context, RaceSketch **sketches);

#endif							/* RACE_PRIVATIZE_H */
