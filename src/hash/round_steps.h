/*
 * round_steps.h
 *		Round steps of numbers, dates and times, and where cells of such steps begin
 *
 * Numbers have 1, 2, 2.5 or 5 times a power of ten; times 1, 5, 15 and 30 seconds and minutes, 1, 3, 6
 * and 12 hours, days, weeks, calendar months, quarters and years, in UTC.  They follow from public
 * facts alone: what a column counts, and its bounds.
 *
 * Plain C99 without PostgreSQL headers.
 */
#ifndef RACE_ROUND_STEPS_H
#define RACE_ROUND_STEPS_H

#include "hash/number_cells.h"

/* What numbers of a column count */
typedef enum RaceUnit
{
	RACE_UNIT_NUMBER,
	RACE_UNIT_WHOLE,   /* numbers without fractions */
	RACE_UNIT_DAY,     /* days since 2000, of dates */
	RACE_UNIT_INSTANT, /* seconds since 2000, of timestamps */
	RACE_UNIT_DURATION /* seconds, of intervals */
} RaceUnit;

#define RACE_SECONDS_OF_DAY 86400.0

/* Return the length of a step; of months that of mean ones. */
extern double race_step_length(const RaceStep *step);

/*
 * Return the smallest round step that is at least so long.  Weeks are left out unless they are
 * wanted: months and years are no unions of weeks.
 */
extern RaceStep race_round_step(RaceUnit unit, double at_least, bool weeks);

/* Return the round step after another one. */
extern RaceStep race_next_step(RaceUnit unit, const RaceStep *step, bool weeks);

/* Return the last multiple of a step of values that is not above x; and the first that is. */
extern double race_multiple_below(double step, double x);
extern double race_multiple_above(double step, double x);

/*
 * Return where cells of a step begin: at the last multiple of it that is not above lower.  Weeks
 * begin on Mondays.  Steps of dates and times that divide no day and are no weeks begin at lower.
 */
extern double race_step_start(RaceUnit unit, const RaceStep *step, double lower);

/*
 * Return how many cells make a group of a round step, so that groups of n cells are at most `most`.
 */
extern uint32_t race_round_group(RaceUnit unit, const RaceStep *step, uint32_t n, uint32_t most);

#endif
