/*
 * series.h
 *		Series: releases of intervals of time for one charge
 */
#ifndef RACE_RELEASE_SERIES_H
#define RACE_RELEASE_SERIES_H

#include "postgres.h"

#include "release/dataset.h"
#include "release/ledger.h"

/* The interval of time of a value of a series */
typedef struct RaceSeriesInterval
{
	uint32 levels;   /* lengths of values, each of which has every row; 0 without a series */
	uint32 length;   /* length of the value, in intervals of the series */
	Datum during;    /* tsrange: time of its rows; 0 without a series */
	char *condition; /* condition of its rows */
	char *by;        /* column with the time of a row */
	Datum unit_key;  /* uuid that units are hashed with, once the series is charged; else 0 */
} RaceSeriesInterval;

/*
 * Return the epsilon of each value of a series, or that of a release of no levels.  Raise 22023
 * where no value can be private at so little.
 */
extern double race_part_of_series(double epsilon, double delta, uint32 levels);

/*
 * Return the description of a series (jsonb) with all that follows from it, its lengths and what
 * its bound depends on included.  Raise what is wrong with it.
 */
extern Datum race_series_complete(const RaceLedger *ledger, const RaceDataset *dataset,
								  Datum series, double delta);

/* Raise 55000 if what a series counts by has changed since it was charged. */
extern void race_series_check_again(const RaceLedger *ledger, const RaceDataset *dataset,
									const char *name, Datum series);

/*
 * Set which rows a value of a series has, whose number is its version.  Return whether it is over.
 * If not, *closes is when it will be, NULL if there is no such value.
 */
extern bool race_series_use(const RaceLedger *ledger, Datum series, int version,
							RaceSeriesInterval *interval, char **closes);

#endif
