/*
 * sampling_variance.h
 *		The expected error of the mean over rows
 */
#ifndef RACE_SAMPLING_VARIANCE_H
#define RACE_SAMPLING_VARIANCE_H

#include "hash/params.h"

/*
 * Return the share of records that the kernel sums to, in a typical table of so many records
 * (sampling_variance.c); and the expected variance of a kernel sum over so many rows, that comes
 * from the rows themselves, where the kernel sums to so many records.
 */
extern double race_kernel_mass(double records);
extern double race_sampling_variance(const RaceParams *params, uint32_t rows, double mass);

#endif
