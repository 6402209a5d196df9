/*
 * kernels.c
 *		The table of kernels.
 */
#include "kernels.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "balanced.h"
#include "l1.h"
#include "l2.h"
#include "lsh.h"
#include "normal.h"
#include "surrogate.h"
#include "values.h"

/* The codes of one projection: neighboring codes get different buckets. */
static bool
one_function(uint32_t power, uint32_t range)
{
	(void) range;
	return power == 1;
}

/* The signs of all functions of a row: each combination has a bucket of its own. */
static bool
all_signs(uint32_t power, uint32_t range)
{
	return power < 32 && (UINT64_C(1) << power) <= range;
}

/* pow() takes as long for 1 as for others, and most powers are 1. */
static double
to_power(double k, uint32_t power)
{
	return power == 1 ? k : pow(k, power);
}

double
race_kernel_at(const RaceParams *part, double distance)
{
	return to_power(race_kernel_type(part->kernel)->of_distance(distance), part->power);
}

#define DISTANCES	(RACE_TAKES_FUNCTIONS | RACE_TAKES_DIMS | RACE_TAKES_BANDWIDTH | RACE_TAKES_BOUNDS)
#define ISOTROPIC	(RACE_TAKES_TRANSFORM | RACE_TAKES_STRUCTURED)
#define SURROGATES \
	(RACE_TAKES_FUNCTIONS | RACE_TAKES_DIMS | RACE_TAKES_BOUNDS | RACE_TAKES_RADIUS)

/* Codes of l1 are not folded: the tails of Cauchy's distribution are too long. */
static const RaceKernelType kernels[] = {
	[RACE_KERNEL_L2] = {
		"l2", RACE_RECORD_VECTOR, DISTANCES | ISOTROPIC, false,
		race_inverse_normal, one_function, race_l2_kernel, true, NULL,
		race_l2_square, 0
	},
	[RACE_KERNEL_L1] = {
		"l1", RACE_RECORD_VECTOR, DISTANCES, false,
		race_inverse_cauchy, NULL, race_l1_kernel, false, NULL, NULL, 0
	},
	[RACE_KERNEL_ANGULAR] = {
		"angular", RACE_RECORD_VECTOR,
		RACE_TAKES_FUNCTIONS | RACE_TAKES_DIMS | RACE_TAKES_BOUNDS | ISOTROPIC, true,
		race_inverse_normal, all_signs, NULL, false, race_angular_value, NULL, 0
	},
	[RACE_KERNEL_JACCARD] = {
		"jaccard", RACE_RECORD_SET, RACE_TAKES_FUNCTIONS, false, NULL, NULL, NULL, false,
		race_jaccard_value, NULL, 0
	},
	[RACE_KERNEL_MATCH] = {
		"match", RACE_RECORD_ROW, RACE_TAKES_FUNCTIONS | RACE_TAKES_DIMS | RACE_TAKES_NULLS,
		false, NULL, NULL, NULL, false, race_match_value, NULL, 0
	},
	[RACE_KERNEL_MOMENTS] = {
		"moments", RACE_RECORD_VECTOR,
		RACE_TAKES_DIMS | RACE_TAKES_BOUNDS | RACE_TAKES_COLUMNS, false,
		NULL, NULL, NULL, false, NULL, NULL, 0
	},
	[RACE_KERNEL_LEAST_SQUARES] = {
		"least_squares", RACE_RECORD_VECTOR, SURROGATES, true, race_inverse_normal,
		all_signs, NULL, false, race_surrogate_kernel, NULL, 2
	},
	[RACE_KERNEL_MARGIN] = {
		"margin", RACE_RECORD_VECTOR, SURROGATES, true, race_inverse_normal,
		all_signs, NULL, false, race_surrogate_kernel, NULL, 1
	},
};

#define KERNELS		((int) (sizeof(kernels) / sizeof(kernels[0])))

const RaceKernelType *
race_kernel_type(int kernel)
{
	if (kernel <= 0 || kernel >= KERNELS || kernels[kernel].name == NULL)
		return NULL;
	return &kernels[kernel];
}

int
race_kernel_by_name(const char *name)
{
	int			kernel;

	for (kernel = 1; kernel < KERNELS; kernel++)
		if (kernels[kernel].name != NULL && strcmp(kernels[kernel].name, name) == 0)
			return kernel;
	return 0;
}

const char *
race_kernel_name(int kernel)
{
	const RaceKernelType *type = race_kernel_type(kernel);

	return type != NULL ? type->name : NULL;
}

const char *
race_kernel_list(bool (*is) (const RaceKernelType *type), const char *word,
				 char *list, size_t length)
{
	size_t		used = 0;
	int			left = 0;
	int			pass;
	int			kernel;

	/* the first pass counts, the second writes */
	list[0] = '\0';
	for (pass = 0; pass < 2; pass++)
		for (kernel = 1; kernel < KERNELS; kernel++)
		{
			const RaceKernelType *type = race_kernel_type(kernel);

			if (type == NULL || (is != NULL ? !is(type) :
								 (type->takes & RACE_TAKES_FUNCTIONS) == 0))
				continue;
			left += pass == 0 ? 1 : -1;
			if (pass == 1 && used < length)
				used += snprintf(list + used, length - used, "%s%s%s%s", type->name,
								 left == 0 ? "" : left == 1 ? " " : ", ",
								 left == 1 ? word : "", left == 1 ? " " : "");
		}
	return list;
}

static double
value_of_part(const RaceParams *part, const RaceColumn *x, const RaceColumn *y)
{
	const RaceKernelType *type = race_kernel_type(part->kernel);

	if (type->of_distance != NULL)
		return race_kernel_at(part, race_distance(part, x, y, type->euclidean));
	if (race_is_balanced(part))
		return race_balanced_value(part, x, y);
	return to_power(type->value(part, x, y), part->power);
}

double
race_kernel_value(const RaceParams *params, const RaceColumn *x, const RaceColumn *y)
{
	const RaceParams *part;
	double		k = 1;

	for (part = params; part != NULL; part = race_params_next(part, params), x++, y++)
		if (!race_column_is_any(y))
			k *= value_of_part(part, x, y);
	return k;
}
