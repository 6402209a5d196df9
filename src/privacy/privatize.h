/*
 * privatize.h
 *		From an exact sketch to a private one.
 */
#ifndef RACE_PRIVATIZE_H
#define RACE_PRIVATIZE_H

#include "postgres.h"

#include "../sketch/sketch.h"
#include "checked_plan.h"

/*
 * A private sketch of an exact one, as race_privatize makes it, in a memory context of its
 * own within `context`.  Every call draws new noise.  Raises 22023 for noise that is too
 * large, whatever the exact sketch holds.
 */
extern RaceSketch *race_private_sketch(const RaceView *exact, const RaceRequest *request,
									   MemoryContext context);

/*
 * The same of exact sketches with the same parameters, at most RACE_PRIVATE_TOGETHER.  If
 * the request leaves open what is kept, it is the same of all: the mean of their noisy
 * counts chooses it.
 */
#define RACE_PRIVATE_TOGETHER	2

extern void race_private_sketches(const RaceView *views, int n, const RaceRequest *request,
								  MemoryContext context, RaceSketch **sketches);

#endif							/* RACE_PRIVATIZE_H */
