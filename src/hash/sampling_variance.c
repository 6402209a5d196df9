/*
 * sampling_variance.c
 *		The expected error of the mean over rows
 */
#include <math.h>

#include "hash/params.h"
#include "hash/sampling_variance.h"

/*
 * This is a prior.  It chooses the rows of a release, and serves where rows cannot tell their own
 * variance.  Its form is the paper's; its numbers follow from nothing that is known of a release,
 * and no script here prints them.
 */

/*
 * With independent rows the variance is at most g^2 / R, where g is the sum of
 * the square roots of the kernel (Coleman & Shrivastava 2021, theorem 2.5).  What
 * share of the records g is depends on the table and the query; the prior is
 * KERNEL_MASS, a part of the records, for tables of up to USUAL_RECORDS, and less for larger ones, as
 * larger tables are asked at finer bandwidths (Silverman 1986: N^(-1/(d+4))).
 */
#define KERNEL_MASS 0.135
#define USUAL_RECORDS 20000.0

double
race_kernel_mass(double records)
{
	return KERNEL_MASS * fmin(1, pow(USUAL_RECORDS / records, 0.25));
}

/*
 * Return the power of the number of rows by which the variance falls.  With rows that share the
 * work, the error falls faster; by how much depends on the table and the dimensions.  These powers
 * are assumed.  `test/bench/run accuracy` compares errors of Sobol' rows with those of independent
 * ones, at some numbers of rows.
 */
static double
variance_exponent(int sequence)
{
	return sequence == RACE_SEQUENCE_SOBOL ? 1.2 : sequence == RACE_SEQUENCE_INDEPENDENT ? 1 : 1.1;
}

double
race_sampling_variance(const RaceParams *params, uint32_t rows, double mass)
{
	return mass * mass / pow(rows, variance_exponent(race_params_sequence(params)));
}
