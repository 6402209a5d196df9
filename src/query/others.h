/*
 * others.h
 *		What the counters of balanced rows have in them besides the records that are asked about.
 *
 * All rows together are all columns, or pairs of them, so that choosing them adds no error.  What
 * is left is noise, and other categories that share a bucket by chance.  The other counters of a
 * row show both.
 */
#ifndef RACE_OTHERS_H
#define RACE_OTHERS_H

#include "postgres.h"

#include "question.h"

/* The variance of one row's answer that comes from them; `mean` is that of all rows. */
extern double race_others_variance(const RaceQuestion *question, double mean);

#endif							/* RACE_OTHERS_H */
