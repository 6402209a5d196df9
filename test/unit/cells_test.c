/*
 * cells_test.c
 *		Cells of numbers: edges are decimals or months, each number is in the cell that its edges say,
 *		and steps are round.
 */
#include <math.h>
#include <stdlib.h>

#include "hash/round_steps.h"
#include "helpers.h"
#include "tap.h"

/*
 * Is each decimal that is an edge the first number of its cell, and the one before in the cell
 * before?
 */
static bool
edges_hold(double start, const char *format, int first, int step, int n, double width, double upper)
{
	RaceNumberCells cells;
	char text[64];

	race_number_cells_set(&cells, start, upper, start, &(RaceStep){.width = width}, n);
	for (int i = 0; i < n; i++)
	{
		double edge;

		snprintf(text, sizeof(text), format, first + i * step);
		edge = strtod(text, NULL);
		if (race_cell_edge(&cells, i) != edge ||
			race_cell_of_number(&cells, edge) != (uint32_t) i ||
			(i > 0 && race_cell_of_number(&cells, nextafter(edge, -INFINITY)) != (uint32_t) i - 1))
			return false;
	}
	return true;
}

/* The cell that a search through all edges finds */
static uint32_t
searched(const RaceNumberCells *cells, double x)
{
	uint32_t i = 0;

	x = fmin(fmax(x, cells->lower), cells->upper);
	while (i + 1 < cells->cells && race_cell_edge(cells, i + 1) <= x)
		i++;
	return i;
}

static void
test_search(void)
{
	int wrong = 0;

	for (int trial = 0; trial < 2000; trial++)
	{
		double lower = ldexp((double) (int64_t) mix(3 * trial), -70 + (int) (mix(trial) % 60));
		double width = ldexp((double) (mix(3 * trial + 1) >> 11), -60 + (int) (mix(trial) % 50));
		uint32_t n = 1 + (uint32_t) (mix(3 * trial + 2) % 300);
		RaceNumberCells cells;

		race_number_cells_set(&cells, lower, lower + n * width, lower, &(RaceStep){.width = width},
							  n);
		for (int i = 0; i < 100; i++)
		{
			double x =
				lower + width * ((double) (mix(100 * trial + i) % 1000) / 1000 * (n + 2) - 1);

			wrong += race_cell_of_number(&cells, x) != searched(&cells, x);
		}
	}
	ok(wrong == 0, "2000 sets of cells: the cell is that of a search through the edges");
}

/* Months follow one after the other, as long as they are in the Gregorian calendar. */
static void
test_months(void)
{
	static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	double day = race_first_day(-12 * 6713); /* from 4714 BC */
	int wrong = 0;
	int wrong_days = 0;

	for (int year = 2000 - 6713; year < 6000; year++)
		for (int month = 0; month < 12; month++)
		{
			bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
			double number = 12.0 * (year - 2000) + month;

			wrong += race_first_day(number) != day;
			wrong_days += race_month_of_day(day) != number;
			day += lengths[month] + (month == 1 && leap);
			wrong_days += race_month_of_day(day - 1) != number;
		}
	ok(wrong == 0, "months of 10,000 years begin where the calendar says");
	ok(wrong_days == 0, "... and first and last days are in their months");
	ok(race_first_day(0) == 0 && race_first_day(26 * 12 + 10) == 9801 &&
		   race_first_day(-30 * 12) == -10957,
	   "2000-01-01, 2026-11-01 and 1970-01-01 are days 0, 9801 and -10957");
	ok(race_month_of_day(INFINITY) == RACE_MOST_MONTHS &&
		   race_month_of_day(-INFINITY) == -RACE_MOST_MONTHS &&
		   isfinite(race_first_day(RACE_MOST_MONTHS)),
	   "there is a first and a last month");
}

/* Cells of months: each number is in the cell that a search through the edges finds. */
static void
test_cells_of_months(void)
{
	int wrong = 0;

	for (int trial = 0; trial < 200; trial++)
	{
		double day = trial % 2 == 0 ? 1 : RACE_SECONDS_OF_DAY;
		RaceUnit unit = trial % 2 == 0 ? RACE_UNIT_DAY : RACE_UNIT_INSTANT;
		RaceStep step = {.months = 1 + (uint32_t) (mix(trial) % 30), .day = day};
		double lower = day * ((double) (mix(trial + 1000) % 2000000) - 1000000);
		double upper = lower + day * (double) (mix(trial + 2000) % 20000);
		double start = race_step_start(unit, &step, lower);
		uint32_t n = race_number_cells_count(upper, start, &step, trial % 4 < 2);
		RaceNumberCells cells;

		race_number_cells_set(&cells, lower, upper, start, &step, n);
		wrong += race_cell_edge(&cells, 0) != start || start > lower ||
			race_cell_edge(&cells, 1) <= lower || race_cell_edge(&cells, n) < upper ||
			race_cell_edge(&cells, n - 1) > upper;
		for (int i = 0; i < 100; i++)
		{
			double x = lower + (upper - lower + 2 * day) * (mix(100 * trial + i) % 1000) / 1000;

			wrong += race_cell_of_number(&cells, x) != searched(&cells, x);
		}
	}
	ok(wrong == 0, "200 sets of cells of months: they reach from bound to bound");
}

static bool
is_step(RaceUnit unit, double at_least, double width, uint32_t months)
{
	RaceStep step = race_round_step(unit, at_least, false);

	return step.width == width && step.months == months;
}

static void
test_round_steps(void)
{
	RaceStep week = race_round_step(RACE_UNIT_DAY, 2, true);
	RaceStep month = race_round_step(RACE_UNIT_DAY, 2, false);
	RaceStep two = {.width = 2};
	RaceStep day = {.width = 1};

	ok(is_step(RACE_UNIT_NUMBER, 500.0 / 256, 2, 0) && is_step(RACE_UNIT_NUMBER, 2.1, 2.5, 0) &&
		   is_step(RACE_UNIT_NUMBER, 0.0026, 0.005, 0) && is_step(RACE_UNIT_NUMBER, 0.3, 0.5, 0) &&
		   is_step(RACE_UNIT_NUMBER, 6e22, 1e23, 0) && is_step(RACE_UNIT_NUMBER, 0.1, 0.1, 0),
	   "steps of numbers are 1, 2, 2.5 and 5 times powers of ten");
	ok(is_step(RACE_UNIT_WHOLE, 0.2, 1, 0) && is_step(RACE_UNIT_WHOLE, 2.1, 5, 0) &&
		   is_step(RACE_UNIT_WHOLE, 21, 25, 0),
	   "those of whole numbers are whole");
	ok(is_step(RACE_UNIT_INSTANT, 0.3, 0.5, 0) && is_step(RACE_UNIT_INSTANT, 0.7, 1, 0) &&
		   is_step(RACE_UNIT_INSTANT, 7, 15, 0) && is_step(RACE_UNIT_INSTANT, 4000, 10800, 0) &&
		   is_step(RACE_UNIT_INSTANT, 43201, 86400, 0) && is_step(RACE_UNIT_INSTANT, 1e5, 0, 1) &&
		   is_step(RACE_UNIT_INSTANT, 3e6, 0, 3) && is_step(RACE_UNIT_INSTANT, 8e6, 0, 12) &&
		   is_step(RACE_UNIT_INSTANT, 9e7, 0, 60),
	   "those of times are of the calendar");
	ok(is_step(RACE_UNIT_DAY, 0.2, 1, 0) && month.months == 1 && week.width == 7 &&
		   is_step(RACE_UNIT_DURATION, 86401, 2 * 86400, 0),
	   "days, weeks, months; durations have no months");
	ok(is_step(RACE_UNIT_NUMBER, 1e-308, 1e-308, 0) && is_step(RACE_UNIT_NUMBER, 3e306, 3e306, 0) &&
		   race_round_step(RACE_UNIT_DAY, 1e300, false).months > 0,
	   "there is a step of any length");
	ok(race_step_start(RACE_UNIT_NUMBER, &(RaceStep){.width = 0.1}, 0.3) == 0.3 &&
		   race_step_start(RACE_UNIT_NUMBER, &two, -3) == -4 &&
		   race_step_start(RACE_UNIT_DAY, &week, 9497) == 9494 &&
		   race_step_start(RACE_UNIT_DAY, &(RaceStep){.width = 10}, 9497) == 9497,
	   "cells begin at multiples, weeks on Mondays, ten days where they may");
	ok(race_round_group(RACE_UNIT_NUMBER, &two, 250, 64) == 5 &&
		   race_round_group(RACE_UNIT_DAY, &day, 365, 64) == 7 &&
		   race_round_group(RACE_UNIT_DAY, &day, 1024, 64) == 28 &&
		   race_round_group(RACE_UNIT_DAY, &month, 1024, 64) == 24 &&
		   race_round_group(RACE_UNIT_NUMBER, &(RaceStep){.width = 3}, 250, 64) == 5 &&
		   race_round_group(RACE_UNIT_NUMBER, &two, 64, 64) == 1,
	   "groups are round");
}

int
main(void)
{
	RaceNumberCells ages;
	RaceNumberCells one;
	double above[] = {INFINITY, 1e308, 121};
	double below[] = {-INFINITY, -1e308, -1};

	ok(edges_hold(0, "%de-1", 0, 1, 1000, 0.1, 100), "tenths");
	ok(edges_hold(0, "%de-2", 0, 5, 1000, 0.05, 50), "twentieths");
	ok(edges_hold(-1.7, "%de-1", -17, 3, 400, 0.3, 118.3), "tenths that begin at -1.7");
	ok(edges_hold(5e5, "%de5", 5, 2, 400, 2e5, 8.05e7), "large numbers");
	ok(edges_hold(1e-5, "%de-7", 100, 7, 1000, 7e-7, 7.1e-4), "small numbers");
	race_number_cells_set(&ages, 0, 120, 0, &(RaceStep){.width = 5}, 25);
	ok(race_cell_of_number(&ages, 4) == 0 && race_cell_of_number(&ages, 5) == 1 &&
		   race_cell_of_number(&ages, 119) == 23 && race_cell_of_number(&ages, 120) == 24,
	   "ages by fives");
	for (int i = 0; i < 3; i++)
		ok(race_cell_of_number(&ages, above[i]) == 24, "%g is in the last cell", above[i]);
	for (int i = 0; i < 3; i++)
		ok(race_cell_of_number(&ages, below[i]) == 0, "%g is in the first cell", below[i]);
	race_number_cells_set(&one, 7, 7, 7, &(RaceStep){.width = 1}, 1);
	ok(race_cell_of_number(&one, 7) == 0 && race_cell_of_number(&one, 9) == 0, "one cell");
	test_search();
	test_months();
	test_cells_of_months();
	test_round_steps();
	return done_testing();
}
