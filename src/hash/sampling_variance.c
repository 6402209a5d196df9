/*
 * sampling_variance.c
 *		The expected error of the mean over rows
 */
#include <math.h>

#include "hash/params.h"
#include "hash/sampling_variance.h"

/*
 * This is a prior, from the paper and from measurements on several tables.  It
 * chooses the rows of a release, and serves where rows cannot tell their own variance.
 */

/*
 * With independent rows the variance is at most g^2 / R, where g is the sum of
 * the square roots of the kernel (Coleman & Shrivastava 2021, theorem 2.5).  What
 * share of the records g is depends on the table and the query; the prior is
 * KERNEL_MASS for tables of up to USUAL_RECORDS, and less for larger ones, as
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
 * work, the error falls faster.  Measured: the variance falls like R^-1.15 to R^-1.33 with Sobol'
 * rows in 1 to 15 dimensions.  At R = 1024, structured rows have 0.3 to 0.8 of the variance of
 * independent ones with power 1, and about the same with power 8.  `test/bench/run accuracy`
 * compares Sobol' rows with independent ones.
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
