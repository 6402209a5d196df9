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
 * known (products.h), and so are those of the third.  Their sum is taken for a shifted gamma
 * variable with these moments, as Gretton et al. take a gamma variable where there is no noise.
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

/* Return the cumulants of the relative error of both counts. */
static RaceCumulants
count_noise(const RacePair *pair)
{
	double		variance[2];
	int			side;

	for (side = 0; side < 2; side++)
		variance[side] = pair->view[side]->header->noise.count_variance /
			(pair->records[side] * pair->records[side]);
	return race_noise_cumulants(pair, variance[0], variance[1]);
}

/* Return the mean of the kernel over pairs of two records, from that over all pairs. */
static double
of_two_records(double mean, double records)
{
	return (mean * records - 1) / (records - 1);
}

/*
 * Find the variance and the third central moment of the squared distance of two samples of one
 * population: of sampling, of the noise of counters, and of the noise of counts, whose square
 * times the mean kernel is part of the estimate.
 */
static void
find_null(const RacePair *pair, const RaceProducts *products, double *variance, double *third)
{
	RaceCumulants counts = count_noise(pair);
	double		samples = 1 / pair->records[0] + 1 / pair->records[1];
	double		kernel = products->kernel;
	double		of_densities = Max(products->density_square - kernel * kernel, 0);
	double		with_density = Max(products->with_record - products->with_both, 0);
	/* the centered kernel: the sum of its eigenvalues, and that of their squares */
	double		first = 1 - kernel;
	double		second = Max(products->kernel_square - kernel * kernel - 2 * of_densities, 0);
	/* the variance of the product of P with sampling and noise: a common factor of counts' noise */
	double		with_shift = products->with_both + samples * of_densities;

	*variance = products->noise_variance + 2 * samples * samples * second +
		4 * samples * with_density + 4 * counts.second * with_shift +
		kernel * kernel * (counts.fourth + 2 * counts.second * counts.second);
	*third = products->noise_third +
		24 * samples * products->with_record * (samples * second + with_density) +
		24 * kernel * (counts.fourth + 2 * counts.second * counts.second) * with_shift +
		pow(kernel, 3) * race_noise_third(counts);
	/* the sum of third powers lies between second^2 / first and second^1.5 */
	if (first > 0 && second > 0)
		*third += 8 * pow(samples, 3) * sqrt(pow(second, 3.5) / first);
}

/*
 * Return the variance of the estimate, whether or not both are of one population: by noise and
 * by sampling, and at least by how the rows differ.
 */
static double
variance_of(const RacePair *pair, const RaceProducts *products, double null_variance)
{
	double		samples = 1 / pair->records[0] + 1 / pair->records[1];
	/* the product of D and P */
	double		share = pair->records[0] / (pair->records[0] + pair->records[1]);
	double		along = share * products->aa + (1 - 2 * share) * products->ab -
		(1 - share) * products->bb;

	return Max(null_variance + 4 * products->with_difference, products->rows_variance) +
		4 * samples * products->difference_square +
		4 * count_noise(pair).second * along * along;
}

static Distance
measure(const RacePair *pair, const RaceProducts *products)
{
	double		p = race_collision_probability(pair->view[0]->params);
	double		squared = of_two_records(products->aa, pair->records[0]) - 2 * products->ab +
		of_two_records(products->bb, pair->records[1]) -
		count_noise(pair).second * products->kernel;
	Distance	distance = {0, 0, 1};
	double		variance;
	double		third;

	if (products->same)
		return distance;
	find_null(pair, products, &variance, &third);
	distance.standard_error = INFINITY;
	/* noise with a variance beyond what a double holds hides everything */
	if (!isfinite(squared) || !isfinite(variance) || !isfinite(third))
		return distance;
	distance.squared = squared / (1 - p);
	/* a count within its noise, or below 2, says nothing */
	if (pair->view[0]->header->count < pair->records[0] ||
		pair->view[1]->header->count < pair->records[1])
		return distance;
	distance.standard_error = sqrt(variance_of(pair, products, variance)) / (1 - p);
	distance.p_value = variance > 0 ?
		race_skew_tail(squared, variance, third / pow(variance, 1.5)) : squared <= 0;
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
