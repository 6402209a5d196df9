/*
 * texts.h
 *		Drawn records as text, and the values that are in them.
 *
 * A model keeps points that are not vectors by themselves as PostgreSQL wrote them.
 */
#ifndef RACE_TEXTS_H
#define RACE_TEXTS_H

#include "postgres.h"

#include "draw.h"

/* A number as text; `whole` rounds it, for types of integers. */
extern char *race_number_text(double x, bool whole);

/* A vector as the text of an array */
extern char *race_vector_text(const double *x, uint32 n, bool whole);

/*
 * The parts of a point as texts: an array of one for each part of the kernel.  XX001 if
 * the text of the point is no record.
 */
extern char **race_point_texts(const RaceFitted *fitted, uint64 point);

/* The elements of the text of an array, which must be `n`, else XX001; a NULL is NULL. */
extern char **race_array_texts(char *array, uint32 n);

/* A drawn record as the text of its point, with the vectors that were drawn */
extern char *race_drawn_text(const RaceFitted *fitted, const RaceDrawn *drawn);

#endif							/* RACE_TEXTS_H */
