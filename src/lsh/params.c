/*
 * params.c
 *		Parameters of a hash family: names, limits, what they stand for.
 */
#include "lsh.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "l2.h"
#include "sobol.h"

typedef struct NamedValue
{
	const char *name;
	int			value;
} NamedValue;

static const NamedValue kernels[] = {
	{"l2", RACE_KERNEL_L2},
	{NULL, 0}
};

static const NamedValue sequences[] = {
	{"independent", RACE_SEQUENCE_INDEPENDENT},
	{"sobol", RACE_SEQUENCE_SOBOL},
	{"orthogonal", RACE_SEQUENCE_ORTHOGONAL},
	{NULL, 0}
};

static const NamedValue rehashes[] = {
	{"fold", RACE_REHASH_FOLD},
	{"multilinear", RACE_REHASH_MULTILINEAR},
	{NULL, 0}
};

static const char *
name_of(const NamedValue *list, int value)
{
	for (; list->name != NULL; list++)
		if (list->value == value)
			return list->name;
	return NULL;
}

static int
value_of(const NamedValue *list, const char *name)
{
	for (; list->name != NULL; list++)
		if (strcmp(list->name, name) == 0)
			return list->value;
	return 0;
}

const char *
race_kernel_name(int kernel)
{
	return name_of(kernels, kernel);
}

const char *
race_sequence_name(int sequence)
{
	return name_of(sequences, sequence);
}

const char *
race_rehash_name(int rehash)
{
	return name_of(rehashes, rehash);
}

int
race_kernel_by_name(const char *name)
{
	return value_of(kernels, name);
}

int
race_sequence_by_name(const char *name)
{
	return value_of(sequences, name);
}

int
race_rehash_by_name(const char *name)
{
	return value_of(rehashes, name);
}

/* Can a Sobol' sequence draw the offsets and projections of a row? */
static bool
fits_sobol(const RaceParams *params)
{
	return params->dims > 0 &&
		(uint64_t) params->power * (params->dims + 1) <= RACE_SOBOL_DIMENSIONS;
}

int
race_default_sequence(const RaceParams *params)
{
	return fits_sobol(params) ? RACE_SEQUENCE_SOBOL :
		params->dims > 0 ? RACE_SEQUENCE_ORTHOGONAL : RACE_SEQUENCE_INDEPENDENT;
}

int
race_default_rehash(const RaceParams *params)
{
	return params->power == 1 ? RACE_REHASH_FOLD : RACE_REHASH_MULTILINEAR;
}

const char *
race_params_problem(const RaceParams *params, char *message, size_t size)
{
#define PROBLEM(...) (snprintf(message, size, __VA_ARGS__), message)

	if (race_kernel_name(params->kernel) == NULL)
		return PROBLEM("unknown kernel number %d", params->kernel);
	if (race_sequence_name(params->sequence) == NULL)
		return PROBLEM("unknown row sequence number %d", params->sequence);
	if (race_rehash_name(params->rehash) == NULL)
		return PROBLEM("unknown rehash number %d", params->rehash);
	if (params->reserved8 != 0 || params->reserved32 != 0 ||
		params->reserved64[0] != 0 || params->reserved64[1] != 0 ||
		params->reserved64[2] != 0)
		return PROBLEM("reserved bytes are not zero");
	if (params->dims > RACE_MAX_DIMS)
		return PROBLEM("dims must be between 1 and %d", RACE_MAX_DIMS);
	if (params->power < 1 || params->power > RACE_MAX_POWER)
		return PROBLEM("power must be between 1 and %d", RACE_MAX_POWER);
	if (!(params->bandwidth >= RACE_MIN_BANDWIDTH &&
		  params->bandwidth <= RACE_MAX_BANDWIDTH))
		return PROBLEM("bandwidth must be a number between %g and %g",
					   RACE_MIN_BANDWIDTH, RACE_MAX_BANDWIDTH);
	if (params->rows < 1)
		return PROBLEM("rows must be at least 1");
	if (params->range < 2)
		return PROBLEM("range must be at least 2");
	if ((uint64_t) params->rows * params->range >
		(RACE_MAX_SKETCH_BYTES - RACE_MAX_HEADER_BYTES) / 8)
		return PROBLEM("rows times range must be at most %llu",
					   (unsigned long long)
					   (RACE_MAX_SKETCH_BYTES - RACE_MAX_HEADER_BYTES) / 8);
	if (race_rows_size(params) > RACE_MAX_ROWS_BYTES)
		return PROBLEM("rows times power times (dims + 1) is too large: row functions would take %llu MB, at most %llu are allowed",
					   (unsigned long long) race_rows_size(params) >> 20,
					   (unsigned long long) RACE_MAX_ROWS_BYTES >> 20);
	if (params->sequence == RACE_SEQUENCE_SOBOL && !fits_sobol(params))
		return PROBLEM("sequence \"sobol\" needs dims, and power times (dims + 1) of at most %d",
					   RACE_SOBOL_DIMENSIONS);
	if (params->rehash == RACE_REHASH_FOLD && params->power != 1)
		return PROBLEM("rehash \"fold\" needs power 1");
	return NULL;
#undef PROBLEM
}

double
race_kernel_value(const RaceParams *params,
				  const double *x, const double *y, size_t n)
{
	double		sum = 0;
	size_t		i;

	for (i = 0; i < n; i++)
	{
		double		d = (x[i] - y[i]) / params->bandwidth;

		sum += d * d;
	}
	/* x and y finite, so sum is a number or infinite, where the kernel is 0 */
	return pow(race_l2_kernel(sqrt(sum)), params->power);
}

double
race_collision_probability(const RaceParams *params)
{
	return params->rehash == RACE_REHASH_MULTILINEAR ? 1.0 / params->range : 0;
}
