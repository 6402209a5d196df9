/*
 * pull.h
 *		Far records pulled to a sphere.
 *
 * In columns with heavy tails a few far records make most of covariances and of the range that
 * a grid has to cover.  Their directions tell as much as those of other records.  So images that
 * are longer than a radius are shortened to it.
 */
#ifndef RACE_PULL_H
#define RACE_PULL_H

#include "suggest.h"

typedef struct RacePull
{
	RaceMap		map;			/* white, without regard to labels */
	double		radius;
} RacePull;

/* Shorten a vector to the radius. */
extern void race_pull(double *z, int n, double radius);

/*
 * Learn a map from examples, whose center is 0, and the median length of their images for a radius.
 * False if their tails are no heavier than those of a normal distribution.
 */
extern bool race_pull_learn(const RaceExamples *examples, RacePull *pull);

/* The images of examples, pulled */
extern RaceExamples race_pull_examples(const RaceExamples *examples, const RacePull *pull);

#endif							/* RACE_PULL_H */
