/*
 * distance.c
 *		race_similarity and race_distance: how alike the records of two sketches are.
 *
 * The squared distance is the maximum mean discrepancy (Gretton et al. 2012): the squared
 * length of the difference of both mean functions.  It is estimated as a U-statistic: pairs of
 * a record with itself are left out, and so is the share of noise.  So its mean is 0 where both
 * are drawn from one population.
 *
 * Then it is a quadratic form in three things that do not depend on each other: which
 * records were drawn, the noise of counters, and the noise of both counts, by which each mean
 * function is too large or too small.  The variance and the third moment of the first two are
 * known (products.h).  Given the noise of counts, the form is taken for a shifted gamma variable
 * with these moments, as Gretton et al. take a gamma variable where there is no noise.  The
 * p-value is the mean of its tails over the noise of counts.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "miscadmin.h"

#include "../fit/answers.h"
#include "../query/question.h"
#include "../server/result.h"
#include "products.h"
#include "tail.h"

PG_FUNCTION_INFO_V1(race_similarity);
PG_FUNCTION_INFO_V1(race_distance_sql);

/* ------------------------------------------------------------------ sketches */

/* Return both sketches with their numbers of records, each at least `least`. */
static RacePair
pair_of(const RaceQuestion questions[2], double least)
{
	RacePair	pair;
	int			side;

	race_check_comparable(&questions[0].view, &questions[1].view);
	for (side = 0; side < 2; side++)
	{
		pair.view[side] = &questions[side].view;
		pair.records[side] = Max(race_answers_divisor(race_answers_count(pair.view[side], NULL)), least);
	}
	return pair;
}

/* race_similarity(a, b) */
Datum
race_similarity(PG_FUNCTION_ARGS)
{
	RaceQuestion questions[2];
	RacePair	pair;
	RaceProducts products;
	double		p;
	double		shares;

	race_ask_pair(fcinfo, InvalidOid, &questions[0], &questions[1]);
	pair = pair_of(questions, 1);
	race_products(&pair, &products);
	p = race_collision_probability(questions[0].view.params);
	/* 1 unless a count is below 1, or within its noise */
	shares = questions[0].view.header->count / pair.records[0] *
		questions[1].view.header->count / pair.records[1];
	PG_RETURN_FLOAT8((products.ab - p * shares) / (1 - p));
}

/* ---------------------------------------------------------------- distances */

typedef struct Distance
{
	double		squared;
	double		standard_error;
	double		p_value;
} Distance;

/* The null hypothesis: moments of the squared distance of two samples of one population */
typedef struct Null
{
	double		variance;		/* of sampling and of the noise of counters */
	double		third;			/* their third central moment */
	double		kernel;			/* the mean kernel: the product of P with itself */
	double		with_shift;		/* the variance of the product of P with sampling and noise */
} Null;

/* Return the variance of the relative error of one count over the other. */
static double
count_variance(const RacePair *pair)
{
	double		sum = 0;
	int			side;

	for (side = 0; side < 2; side++)
		sum += pair->view[side]->header->noise.count_variance /
			(pair->records[side] * pair->records[side]);
	return sum;
}

/*
 * The parts by which the noise of a count may be off: cells of the same width, in standard
 * deviations, to both sides.  Cells of the same probability would leave out the tails.
 */
#define PARTS	40
#define CELL	0.3

typedef struct CountNoise
{
	double		part;
	double		probability;
} CountNoise;

/* The probability that noise is beyond so many standard deviations, to one side */
static double
beyond(const RaceNoise *noise, double deviations)
{
	return noise->mechanism == RACE_MECHANISM_GAUSSIAN ? race_normal_tail(deviations) :
		exp(-sqrt(2) * deviations) / 2;
}

static void
find_parts(const RacePair *pair, int side, CountNoise parts[PARTS])
{
	const RaceNoise *noise = &pair->view[side]->header->noise;
	double		deviation = sqrt(noise->count_variance) / pair->records[side];
	int			i;

	for (i = 0; i < PARTS / 2; i++)
	{
		double		from = i * CELL;
		double		outside = i + 1 == PARTS / 2 ? 0 : beyond(noise, from + CELL);

		parts[2 * i].part = deviation * (from + CELL / 2);
		parts[2 * i].probability = beyond(noise, from) - outside;
		parts[2 * i + 1].part = -parts[2 * i].part;
		parts[2 * i + 1].probability = parts[2 * i].probability;
	}
}

/* The tail, if the counts are off by so many parts more in one sketch than in the other */
static double
tail_given(const Null *null, double squared, double off, double off_variance)
{
	double		variance = null->variance + 4 * off * off * null->with_shift;

	if (!(variance > 0))
		return squared > 0 ? 0 : 1;
	return race_skew_tail(squared - null->kernel * (off * off - off_variance), variance,
						  null->third / pow(variance, 1.5));
}

static double
p_value(const RacePair *pair, const Null *null, double squared)
{
	CountNoise	parts[2][PARTS];
	double		variance = count_variance(pair);
	double		sum = 0;
	int			side;
	int			i;
	int			j;

	if (variance == 0)
		return tail_given(null, squared, 0, 0);
	for (side = 0; side < 2; side++)
		find_parts(pair, side, parts[side]);
	for (i = 0; i < PARTS; i++)
		for (j = 0; j < PARTS; j++)
			sum += parts[0][i].probability * parts[1][j].probability *
				tail_given(null, squared, parts[0][i].part - parts[1][j].part, variance);
	return Min(sum, 1);
}

/* Return the mean of the kernel over pairs of two records, from that over all pairs. */
static double
of_two_records(double mean, double records)
{
	return (mean * records - 1) / (records - 1);
}

static Null
find_null(const RacePair *pair, const RaceProducts *products)
{
	double		samples = 1 / pair->records[0] + 1 / pair->records[1];
	double		kernel = products->kernel;
	double		of_densities = Max(products->density_square - kernel * kernel, 0);
	double		with_density = Max(products->with_record - products->with_both, 0);
	/* the centered kernel: the sum of its eigenvalues, and that of their squares */
	double		first = 1 - kernel;
	double		second = Max(products->kernel_square - kernel * kernel - 2 * of_densities, 0);
	Null		null;

	null.kernel = kernel;
	null.variance = products->noise_variance + 2 * samples * samples * second +
		4 * samples * with_density;
	null.third = products->noise_third +
		24 * samples * products->with_record * (samples * second + with_density);
	/* the sum of third powers lies between second^2 / first and second^1.5 */
	if (first > 0 && second > 0)
		null.third += 8 * pow(samples, 3) * sqrt(pow(second, 3.5) / first);
	null.with_shift = products->with_both + samples * of_densities;
	return null;
}

/*
 * Return the variance of the estimate, whether or not both are of one population: by noise and
 * by sampling, and at least by how the rows differ.
 */
static double
variance_of(const RacePair *pair, const RaceProducts *products, const Null *null)
{
	double		samples = 1 / pair->records[0] + 1 / pair->records[1];
	/* the product of D and P */
	double		share = pair->records[0] / (pair->records[0] + pair->records[1]);
	double		along = share * products->aa + (1 - 2 * share) * products->ab -
		(1 - share) * products->bb;
	double		counts = count_variance(pair);

	return Max(null->variance + 4 * products->with_difference, products->rows_variance) +
		4 * samples * products->difference_square +
		4 * counts * along * along + 5 * pow(counts * products->kernel, 2);
}

static Distance
measure(const RacePair *pair, const RaceProducts *products)
{
	double		p = race_collision_probability(pair->view[0]->params);
	double		squared = of_two_records(products->aa, pair->records[0]) - 2 * products->ab +
		of_two_records(products->bb, pair->records[1]) -
		count_variance(pair) * products->kernel;
	Distance	distance = {0, 0, 1};
	Null		null = find_null(pair, products);

	if (products->same)
		return distance;
	distance.standard_error = INFINITY;
	/* noise with a variance beyond what a double holds hides everything */
	if (!isfinite(squared) || !isfinite(null.variance) || !isfinite(null.third))
		return distance;
	distance.squared = squared / (1 - p);
	/* a count within its noise, or below 2, says nothing */
	if (pair->view[0]->header->count < pair->records[0] ||
		pair->view[1]->header->count < pair->records[1])
		return distance;
	distance.standard_error = sqrt(variance_of(pair, products, &null)) / (1 - p);
	distance.p_value = p_value(pair, &null, squared);
	return distance;
}

/* race_distance(a, b) */
Datum
race_distance_sql(PG_FUNCTION_ARGS)
{
	RaceQuestion questions[2];
	RacePair	pair;
	RaceProducts products;
	RaceResultRow row;
	Distance	distance;

	race_row_start(&row, fcinfo);
	race_ask_pair(fcinfo, InvalidOid, &questions[0], &questions[1]);
	pair = pair_of(questions, 2);
	race_products(&pair, &products);
	distance = measure(&pair, &products);
	race_row_add(&row, Float8GetDatum(sqrt(Max(distance.squared, 0))));
	race_row_add(&row, Float8GetDatum(distance.squared));
	race_row_add(&row, Float8GetDatum(distance.standard_error));
	race_row_add(&row, Float8GetDatum(distance.p_value));
	PG_RETURN_DATUM(race_row_datum(&row));
}
