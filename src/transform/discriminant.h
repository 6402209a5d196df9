/*
 * discriminant.h
 *		The directions in which the means of classes lie apart.
 */
#ifndef RACE_DISCRIMINANT_H
#define RACE_DISCRIMINANT_H

#include "whiten.h"

/*
 * Directions of whitened vectors, orthonormal, those that tell most first: [n][outputs].
 * `directions` is space for [classes][outputs].  Returns n, which is 0 if all means are the
 * same.
 */
extern uint32 race_discriminant_directions(const RaceScatter *scatter,
										   const RaceWhitening *whitening,
										   double *directions);

#endif							/* RACE_DISCRIMINANT_H */
