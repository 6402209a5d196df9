/*
 * round_steps.c
 *		Round steps of numbers, dates and times, and where cells of such steps begin
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "hash/round_steps.h"

#define WEEK (7 * RACE_SECONDS_OF_DAY)
#define FIRST_MONDAY 2 /* days from 1 January 2000 on */
#define MEAN_MONTH (146097 * RACE_SECONDS_OF_DAY / 4800)
#define YEAR_MONTHS 12

/* Steps of times that are shorter than a day, in seconds; before them are decimals of a second */
static const double times[] = {
	1, 5, 15, 30, 60, 300, 900, 1800, 3600, 10800, 21600, 43200, RACE_SECONDS_OF_DAY};
static const uint32_t n_times = sizeof(times) / sizeof(times[0]);

/* Steps of calendar months, up to a year */
static const uint32_t months[] = {1, 3, YEAR_MONTHS};
static const uint32_t n_months = sizeof(months) / sizeof(months[0]);

#define FINEST_TIME 1e-6 /* PostgreSQL's times are whole microseconds */

/* A little less than a number that was divided or multiplied: rounding takes no step away. */
#define NEARLY (1 - 1e-12)

/* Return the number that is nearest to a decimal. */
static double
decimal(int digits, int exponent)
{
	char text[32];

	snprintf(text, sizeof(text), "%de%d", digits, exponent);
	return strtod(text, NULL);
}

/* Powers of ten beyond these would leave the doubles. */
#define LEAST_EXPONENT (-306)
#define MOST_EXPONENT 303

/* Return the smallest round number that is at least x, a positive number. */
static double
round_number(double x, bool whole)
{
	static const int digits[] = {10, 20, 25, 50};
	int exponent = (int) floor(log10(x)) - 2;

	if (whole)
		exponent = exponent < -1 ? -1 : exponent;
	if (exponent < LEAST_EXPONENT || exponent > MOST_EXPONENT)
		return x;
	/* bound: four powers of ten, since the first is at most a thousandth of x, or 1 */
	for (;; exponent++)
		for (uint32_t i = 0; i < sizeof(digits) / sizeof(digits[0]); i++)
		{
			double number = decimal(digits[i], exponent);

			if (number >= x * NEARLY && (!whole || number == rint(number)))
				return number;
		}
}

/* Return the smallest step of dates or times that is at least so many seconds long, in seconds. */
static RaceStep
round_time(RaceUnit unit, double seconds, bool weeks)
{
	uint32_t i = 0;

	if (unit == RACE_UNIT_DAY)
		seconds = fmax(seconds, RACE_SECONDS_OF_DAY);
	if (seconds * NEARLY <= times[0] / 2)
		return (RaceStep){.width = round_number(fmax(seconds, FINEST_TIME), false)};
	/* bound: n_times */
	while (i < n_times && times[i] < seconds * NEARLY)
		i++;
	if (i < n_times)
		return (RaceStep){.width = times[i]};
	if (weeks && WEEK >= seconds * NEARLY)
		return (RaceStep){.width = WEEK};
	if (unit == RACE_UNIT_DURATION)
		return (RaceStep){.width = RACE_SECONDS_OF_DAY *
							  round_number(seconds / RACE_SECONDS_OF_DAY, true)};
	for (i = 0; i < n_months; i++)
		if (months[i] * MEAN_MONTH >= seconds * NEARLY)
			return (RaceStep){.months = months[i]};
	return (RaceStep){.months = YEAR_MONTHS *
						  (uint32_t) round_number(fmin(seconds / (YEAR_MONTHS * MEAN_MONTH),
													   RACE_MOST_MONTHS / YEAR_MONTHS / 10),
												  true)};
}

double
race_step_length(const RaceStep *step)
{
	return step->months == 0 ? step->width :
							   step->months * step->day * (MEAN_MONTH / RACE_SECONDS_OF_DAY);
}

RaceStep
race_round_step(RaceUnit unit, double at_least, bool weeks)
{
	double second = unit == RACE_UNIT_DAY ? 1 / RACE_SECONDS_OF_DAY : 1;
	RaceStep step;

	if (unit == RACE_UNIT_NUMBER || unit == RACE_UNIT_WHOLE)
		return (RaceStep){.width = round_number(at_least, unit == RACE_UNIT_WHOLE)};
	step = round_time(unit, at_least / second, weeks);
	step.day = RACE_SECONDS_OF_DAY * second;
	if (unit == RACE_UNIT_DAY)
		step.width = rint(step.width * second);
	return step;
}

/* Neighbouring round steps differ by more than this factor. */
#define ABOVE 1.01

RaceStep
race_next_step(RaceUnit unit, const RaceStep *step, bool weeks)
{
	return race_round_step(unit, race_step_length(step) * ABOVE, weeks);
}

/* Return the last multiple of a width, from an origin on, that is not above x; or one after it. */
static double
find_multiple(double width, double origin, double x, bool above)
{
	RaceStep step = {.width = width};
	RaceNumberCells cells;
	double number = floor((x - origin) / width);

	race_number_cells_set(&cells, origin, origin, origin, &step, 1);
	/* the edges decide, as a division is rounded */
	if ((cells.first + number * cells.step) / cells.scale > x)
		number--;
	else if ((cells.first + (number + 1) * cells.step) / cells.scale <= x)
		number++;
	return (cells.first + (number + above) * cells.step) / cells.scale;
}

double
race_multiple_below(double step, double x)
{
	return fmin(find_multiple(step, 0, x, false), x);
}

double
race_multiple_above(double step, double x)
{
	return find_multiple(step, 0, x, true);
}

double
race_step_start(RaceUnit unit, const RaceStep *step, double lower)
{
	double day = unit == RACE_UNIT_DAY ? 1 : RACE_SECONDS_OF_DAY;
	double month;

	if (step->months > 0)
	{
		month = race_month_of_day(floor(lower / step->day));
		return race_first_day(floor(month / step->months) * step->months) * step->day;
	}
	if (unit != RACE_UNIT_DAY && unit != RACE_UNIT_INSTANT)
		return race_multiple_below(step->width, lower);
	if (fmod(day, step->width) == 0)
		return race_multiple_below(step->width, lower);
	if (fmod(step->width, 7 * day) == 0)
		return fmin(find_multiple(step->width, FIRST_MONDAY * day, lower, false), lower);
	return lower;
}

/* Return how many steps make a larger one; 0 if no number of them does. */
static uint32_t
steps_of(const RaceStep *larger, const RaceStep *step)
{
	double times_longer = step->months > 0 ? (double) larger->months / step->months :
											 rint(larger->width / step->width);

	if (step->months > 0)
		return larger->months % step->months == 0 ? (uint32_t) times_longer : 0;
	return larger->months == 0 && times_longer >= 1 && times_longer < RACE_COLUMN_CELLS &&
			fabs(times_longer * step->width - larger->width) <= 1e-12 * larger->width ?
		(uint32_t) times_longer :
		0;
}

/* Groups may be so much larger than wanted if they are round then: up to so many steps further. */
#define MOST_LARGER 5
#define STEPS_TRIED 6

/*
 * Return how many steps make a group of a round step, or of weeks, from `larger` on; 0 if no such
 * group is found.
 */
static uint32_t
find_group(RaceUnit unit, const RaceStep *step, RaceStep larger, uint32_t wanted, bool doubled)
{
	double most = MOST_LARGER * wanted * race_step_length(step);

	for (int i = 0; i < STEPS_TRIED && race_step_length(&larger) <= most; i++)
	{
		uint32_t steps = steps_of(&larger, step);

		if (steps >= wanted)
			return steps;
		if (doubled)
			larger.width *= 2;
		else
			larger = race_next_step(unit, &larger, true);
	}
	return 0;
}

uint32_t
race_round_group(RaceUnit unit, const RaceStep *step, uint32_t n, uint32_t most)
{
	uint32_t wanted = (n + most - 1) / most;
	RaceStep week = {.width = unit == RACE_UNIT_DAY ? 7 : WEEK};
	bool dated = unit == RACE_UNIT_DAY || unit == RACE_UNIT_INSTANT;
	RaceStep first;
	uint32_t steps;

	if (wanted <= 1)
		return 1;
	first = race_round_step(unit, wanted * race_step_length(step), true);
	steps = find_group(unit, step, first, wanted, false);
	/* months are no groups of days, weeks are */
	if (steps == 0 && dated && step->months == 0)
		steps = find_group(unit, step, week, wanted, true);
	return steps > 0 ? steps : (uint32_t) round_number(wanted, true);
}
