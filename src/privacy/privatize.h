/*
 * privatize.h
 *		From an exact sketch to a private one.
 */
#ifndef RACE_PRIVATIZE_H
#define RACE_PRIVATIZE_H

#include "postgres.h"

#include "../sketch/sketch.h"
#include "plan.h"

/*
 * A private sketch of an exact one, as race_privatize makes it.  It becomes the owner
 * of `context`.  Every call draws new noise.  Raises 22023 for noise that is too
 * large, whatever the exact sketch holds.
 */
extern RaceSketch *race_private_sketch(const RaceView *exact, const RaceRequest *request,
									   MemoryContext context);

#endif							/* RACE_PRIVATIZE_H */
