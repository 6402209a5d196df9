/*
 * select_ends.c
 *		Which columns of a release have ends, and what they get
 */
#include <math.h>

#include "privacy/ends.h"
#include "privacy/measure.h"
#include "choice/select_ends.h"
#include "choice/select_state.h"

/*
 * Parts of what the table of a column gets.  With Laplace noise, a fifth is the least for which the
 * mean of 256 cells is at most 1.5 times off what a noisy sum and count are, in the middle of the
 * range; cells have 1.25 times the noise.  With Gaussian noise, a sixth leaves cells within 1.1
 * times their noise.  Where sums matter more than other answers, they get what makes a sum of
 * numbers from 0 on at most 1.5 times off what a noisy sum is.
 */
#define LAPLACE_PART 0.2
#define GAUSSIAN_PART (1.0 / 6)
#define ASKED_PART 0.75

/* Return the variance of a counter of tables that get an amount; INFINITY if it would be too large. */
static double
variance_of_table(const RaceSelect *select, double amount)
{
	RaceAccount trial = select->planned;
	uint64_t noise = race_measure_sums(&trial, race_select_exact(select), NULL, amount, NULL, NULL);

	return noise == 0 ? INFINITY : race_account_variance(&trial, noise);
}

/* Return the same of an end. */
static double
variance_of_ends(const RaceSelect *select, uint32_t column, double amount)
{
	RaceEnds ends = {.length = select->span[column]};
	RaceAccount trial = select->planned;
	uint64_t noise = race_measure_ends(&trial, race_select_exact(select), &ends, amount, NULL);

	return noise == 0 ? INFINITY : race_account_variance(&trial, noise);
}

/*
 * Return whether ends are worth a part of an amount: the variance of the mean falls by more than that
 * of cells grows or, where the sum is asked for, it falls.
 */
static bool
are_worth(const RaceSelect *select, uint32_t column, double amount, double part, bool asked)
{
	double all = variance_of_table(select, amount);
	double rest = variance_of_table(select, amount * (1 - part));
	double n = select->span[column];
	/* a mean of cells, times their squared places, and that of ends, of which there are two */
	double gain = all / rest +
		all / select->block[column] * (n * (n * n - 1) / 3) /
			(RACE_ENDS * variance_of_ends(select, column, amount * part));

	return gain > (asked ? 1 : rest / all);
}

/* Return the part of an amount that ends get. */
static double
part_of_ends(const RaceSelect *select, uint32_t column, double amount)
{
	bool asked;
	double part;

	if (select->sums == NULL || select->sums[column] == 0)
		return 0;
	if (select->fixed || select->parts > 1 || select->span[column] < 2)
		return 0;
	asked = select->sums[column] > 1;
	part = asked ? ASKED_PART : select->pure ? LAPLACE_PART : GAUSSIAN_PART;
	return are_worth(select, column, amount, part, asked) ? part : 0;
}

double
race_select_ends(RaceSelect *select, uint32_t column, double amount, bool first)
{
	RacePrice *price = &select->ends[column];
	RaceEnds ends = {0};

	if (first)
		select->ends_part[column] = part_of_ends(select, column, amount);
	*price = (RacePrice){.amount = amount * select->ends_part[column]};
	if (price->amount == 0)
		return amount;
	ends.length = select->span[column];
	price->noise =
		race_measure_ends(&select->planned, race_select_exact(select), &ends, price->amount, NULL);
	return price->noise == 0 ? amount : amount - price->amount;
}
