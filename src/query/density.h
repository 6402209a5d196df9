/*
 * density.h
 *		Densities in the sense of probability: how wide a point of a model is.
 */
#ifndef RACE_DENSITY_H
#define RACE_DENSITY_H

#include "../lsh/lsh.h"

/* Raise 22023 unless smoothing is a number above 0, up to 100. */
extern void race_check_smoothing(double smoothing);

/* Does a part of the kernel have a bandwidth along each axis of its records? */
extern bool race_has_widths(const RaceParams *part);

/* The standard deviation, along an axis, of the normal distribution around a point */
extern double race_density_width(const RaceParams *part, uint32 axis, double smoothing);

#endif							/* RACE_DENSITY_H */
