/*
 * params_test.c
 *		Parameters, with arrays and further parts: which are accepted, how others are
 *		refused, and what they stand for.  (hostile_test.c has bytes of any kind.)
 */
#include <stddef.h>

#include "hash/column.h"
#include "hash/defaults.h"
#include "hash/fields.h"
#include "hash/kernel.h"
#include "hash/params.h"
#include "hash/params_check.h"
#include "hash/rows.h"
#include "hash/sobol.h"
#include "kernels.h"
#include "tap.h"

/* What is wrong with parameters; kept until the next call */
static const char *
problem_of(const RaceParams *params)
{
	static char message[200];

	return race_params_problem(params, race_params_size(params), message, sizeof(message));
}

/* Are these accepted, where `what` is NULL, or else refused with that in the message? */
static void
verdict(const RaceParams *params, const char *what)
{
	const char *problem = problem_of(params);

	if (problem != NULL)
		ok(what != NULL && strstr(problem, what) != NULL, "refused: %s", problem);
	else
		ok(what == NULL, "accepted: %s", describe(params));
}

static void
recipe_verdict(Recipe recipe, uint32_t rows, const char *what)
{
	RaceParams *params = make_params(&recipe, rows, 0);

	verdict(params, what);
	free(params);
}

/* One part by itself */
static void
part_verdict(uint8_t kernel, uint8_t sequence, uint32_t dims, uint16_t arrays, uint32_t outputs,
			 const char *what)
{
	recipe_verdict((Recipe){MULTI, 64, {{kernel, sequence, dims, 1, arrays, outputs}}}, 8, what);
}

static void
test_kernels(void)
{
	part_verdict(L1, SOBOL, 20, 0, 0, NULL);
	part_verdict(L1, IND, 0, 0, 0, NULL);
	part_verdict(ANGULAR, SOBOL, 21, 0, 0, NULL);
	part_verdict(ANGULAR, SOBOL, 22, 0, 0, "\"sobol\" needs");
	part_verdict(ANGULAR, IND, RACE_MAX_DIMS, 0, 0, NULL);
	part_verdict(ANGULAR, IND, RACE_MAX_DIMS + 1, 0, 0, "dims");
	part_verdict(JACCARD, IND, 0, 0, 0, NULL);
	part_verdict(JACCARD, IND, 1, 0, 0, "kernel jaccard has no dims");
	part_verdict(JACCARD, SOBOL, 0, 0, 0, "\"sobol\" needs");
	part_verdict(JACCARD, STRUCTURED, 0, 0, 0, "\"structured\" is for kernels l2 and angular");
	part_verdict(ANGULAR, STRUCTURED, RACE_MAX_DIMS, RACE_ARRAY_OFFSET | BOUNDS, 0, NULL);
	part_verdict(ANGULAR, STRUCTURED, 3, TRANSFORM, 1, "\"structured\" cannot have a matrix");
	part_verdict(JACCARD, GROUPED, 0, 0, 0, NULL);
	part_verdict(MATCH, GROUPED, 2, 0, 0, "\"grouped\" is for kernel jaccard");
	part_verdict(MATCH, SOBOL, RACE_MAX_DIMS, 0, 0, NULL);
	part_verdict(MATCH, IND, 0, 0, 0, NULL);
	part_verdict(MATCH, SOBOL, 0, 0, 0, "\"sobol\" needs");
}

/* Parameters of one part, number i of which is changed in an array */
static void
number_verdict(uint8_t kernel, uint16_t arrays, int array, uint32_t i, double number,
			   const char *what)
{
	Recipe recipe = {MULTI,
					 64,
					 {{kernel, IND, 3, 1, arrays, (arrays & RACE_ARRAY_MATRIX) != 0 ? 2 : 0}}};
	RaceParams *params = make_params(&recipe, 8, 0);

	((double *) race_array(params, array))[i] = number;
	verdict(params, what);
	free(params);
}

static void
test_numbers(void)
{
	static const double never[] = {NAN, INFINITY, -INFINITY, 1.1e100, -1.1e100};

	number_verdict(L2, WIDTHS, WIDTHS, 0, 1e-100 / 2.6, "bandwidths must be");
	number_verdict(L2, WIDTHS, WIDTHS, 0, 1e-100 / 2.4, NULL);
	number_verdict(L1, WIDTHS, WIDTHS, 2, 1e100 / 2.6, NULL);
	number_verdict(L1, WIDTHS, WIDTHS, 2, 1e100 / 2.4, "bandwidths must be");
	number_verdict(L2, WIDTHS, WIDTHS, 1, 0, "bandwidths must be");
	number_verdict(L2, WIDTHS, WIDTHS, 1, -1, "bandwidths must be");
	for (int i = 0; i < 5; i++)
	{
		number_verdict(L2, WIDTHS | BOUNDS, WIDTHS, 2, never[i], "bandwidths must be");
		number_verdict(L2, TRANSFORM | BOUNDS, RACE_ARRAY_MATRIX, 5, never[i],
					   "matrix must be numbers");
		number_verdict(ANGULAR, TRANSFORM, RACE_ARRAY_OFFSET, 2, never[i],
					   "offset must be numbers");
	}
	number_verdict(ANGULAR, TRANSFORM, RACE_ARRAY_MATRIX, 0, RACE_MAX_TRANSFORM, NULL);
	number_verdict(ANGULAR, TRANSFORM, RACE_ARRAY_OFFSET, 0, -RACE_MAX_TRANSFORM, NULL);
}

static void
test_bounds(void)
{
	const uint8_t lower = RACE_ARRAY_LOWER;
	const uint8_t upper = RACE_ARRAY_UPPER;

	number_verdict(L2, lower, lower, 2, -INFINITY, NULL);
	number_verdict(L2, lower, lower, 2, RACE_MAX_BOUND, NULL);
	number_verdict(L2, lower, lower, 2, nextafter(RACE_MAX_BOUND, INFINITY),
				   "lower must be numbers");
	number_verdict(L2, lower, lower, 2, INFINITY, "lower must be numbers");
	number_verdict(L2, lower, lower, 0, NAN, "lower must be numbers");
	number_verdict(L1, upper, upper, 2, INFINITY, NULL);
	number_verdict(L1, upper, upper, 2, -RACE_MAX_BOUND, NULL);
	number_verdict(L1, upper, upper, 2, nextafter(-RACE_MAX_BOUND, -INFINITY),
				   "upper must be numbers");
	number_verdict(L1, upper, upper, 2, -INFINITY, "upper must be numbers");
	number_verdict(L1, BOUNDS, upper, 2, NAN, "upper must be numbers");
	number_verdict(ANGULAR, BOUNDS, lower, 1, array_number(upper, 1), NULL);
	number_verdict(ANGULAR, BOUNDS, lower, 1, nextafter(array_number(upper, 1), 9),
				   "a lower bound is above the upper one");
}

/* Which arrays go with what */
static void
test_arrays(void)
{
	part_verdict(L2, SOBOL, 3, WIDTHS | BOUNDS, 0, NULL);
	part_verdict(L2, SOBOL, 30, TRANSFORM | BOUNDS, 20, NULL);
	part_verdict(L2, SOBOL, 3, TRANSFORM, 21, "\"sobol\" needs");
	part_verdict(ANGULAR, IND, 3, TRANSFORM | BOUNDS, 1, NULL);
	part_verdict(L2, IND, 3, RACE_ARRAY_OFFSET, 0, NULL);
	part_verdict(L2, IND, 3, WIDTHS | RACE_ARRAY_OFFSET, 0,
				 "bandwidths do not go with a transform");
	part_verdict(L2, IND, 3, WIDTHS | RACE_ARRAY_MATRIX, 2,
				 "bandwidths do not go with a transform");
	part_verdict(ANGULAR, IND, 3, WIDTHS, 0, "kernel angular has no bandwidths");
	part_verdict(L1, IND, 3, TRANSFORM, 2, "kernel l1 has no matrix");
	part_verdict(L1, IND, 3, RACE_ARRAY_OFFSET, 0, "kernel l1 has no offset");
	part_verdict(MATCH, IND, 3, WIDTHS, 0, "kernel match has no");
	part_verdict(MATCH, IND, 3, RACE_ARRAY_LOWER, 0, "kernel match has no");
	part_verdict(JACCARD, IND, 0, RACE_ARRAY_UPPER, 0, "need dims");
	part_verdict(L2, IND, 0, RACE_ARRAY_LOWER, 0, "need dims");
	part_verdict(L2, IND, 0, RACE_ARRAY_MATRIX, 3, "need dims");
	part_verdict(L2, IND, 3, RACE_ARRAY_MATRIX, 0, "a matrix must have between 1 and 16000 rows");
	part_verdict(L2, IND, 3, 0, 2, "a matrix must have");
	part_verdict(L2, IND, 1, RACE_ARRAY_MATRIX, RACE_MAX_DIMS, NULL);
	part_verdict(L2, IND, 1, RACE_ARRAY_MATRIX, RACE_MAX_DIMS + 1, "a matrix must have");
	part_verdict(L2, IND, 362, RACE_ARRAY_MATRIX | RACE_ARRAY_OFFSET, 361, NULL);
}

/* One field of good parameters changed; those of l2 are folded */
#define WITH(kernel, field, value, what) \
	do \
	{ \
		RaceParams *changed = make_params( \
			&(Recipe){(kernel) == L2 ? FOLD : MULTI, 64, {PART(kernel, IND, 3, 1)}}, 8, 0); \
		changed->field = (value); \
		verdict(changed, what); \
		free(changed); \
	} while (0)

static void
test_fields(void)
{
	WITH(ANGULAR, bandwidth, 2, "kernel angular has no bandwidth");
	WITH(MATCH, bandwidth, 0, "kernel match has no bandwidth");
	WITH(MATCH, bandwidth, NAN, "kernel match has no bandwidth");
	WITH(ANGULAR, power, RACE_MAX_POWER, NULL);
	WITH(MATCH, power, RACE_MAX_POWER + 1, "power must be");
	WITH(MATCH, reserved8, 1, "reserved");
	WITH(MATCH, nulls, RACE_NULLS_CATEGORY, NULL);
	WITH(MATCH, nulls, RACE_NULLS_CATEGORY + 1, "unknown meaning of nulls");
	WITH(L2, nulls, RACE_NULLS_DIFFERENT, "kernel l2 has no nulls");
	WITH(L2, arrays, WIDTHS, "arrays are cut off");
	WITH(L2, more, 8, "a product can have up to 4 kernels");
	WITH(L2, more, RACE_MAX_MORE + 8, "must be at most 131072 numbers");
	WITH(L2, more, UINT32_MAX, "must be at most 131072 numbers");
}

static void
test_l2_fields(void)
{
	WITH(L2, kernel, 0, "kernel number 0");
	WITH(L2, kernel, 6, "kernel number 6");
	WITH(L2, kernel, 9, "kernel number 9");
	WITH(L2, kernel, 200, "kernel number 200");
	WITH(L2, sequence, 0, "sequence number 0");
	WITH(L2, sequence, RACE_SEQUENCE_GRID, "sequence \"grid\" is for kernels");
	WITH(L2, kind, RACE_KIND_GRID, "a grid has the sequence");
	WITH(L2, kind, RACE_KIND_TABLES, "kernel number 1");
	WITH(L2, kind, RACE_KIND_MOMENTS, "kernel number 1");
	WITH(L2, kind, RACE_KIND_MOMENTS + 1, "kind number 4");
	WITH(L2, sequence, RACE_SEQUENCE_STRUCTURED, NULL);
	WITH(L2, sequence, 3, "sequence number 3");
	WITH(L2, sequence, 6, "sequence number 6");
	WITH(L2, sequence, RACE_SEQUENCE_GROUPED, "is for kernel jaccard");
	WITH(L2, sequence, 8, "sequence number 8");
	WITH(L2, sequence, 9, "sequence number 9");
	WITH(L2, rehash, 0, "rehash number 0");
	WITH(L2, rehash, 3, "rehash number 3");
	WITH(L2, arrays, RACE_ARRAY_CELLS, "arrays are cut off");
	WITH(L2, arrays, RACE_ARRAY_GROUPS, "arrays are cut off");
	WITH(L2, arrays, RACE_ARRAY_WORKLOAD, "kernel l2 has no workload");
	WITH(L2, arrays, RACE_ARRAY_JOINED, "kernel l2 has no joined");
	WITH(L2, arrays, RACE_ARRAY_MEASURED, "kernel l2 has no measured");
	WITH(L2, arrays, RACE_ARRAY_SIGNS, "kernel l2 has no signs");
	WITH(L2, arrays, RACE_ARRAY_ENDS, "arrays are cut off");
	WITH(L2, arrays, 4096, "arrays are cut off");
	WITH(L2, reserved8, 1, "reserved");
	WITH(L2, loss.radius, 1, "reserved bytes are not zero");
	WITH(L2, loss.query_radius, 1, "reserved bytes are not zero");
	WITH(L2, loss.query_radius, NAN, "reserved bytes are not zero");
	WITH(L2, loss.query_radius, -0.0, "reserved bytes are not zero");
	WITH(L2, moments.reserved16[0], 1, "reserved bytes are not zero");
	WITH(L2, moments.features, 1, "reserved bytes are not zero");
	WITH(L2, moments.norm, -0.0, "reserved bytes are not zero");
	WITH(L2, moments.clip, 1, "reserved bytes are not zero");
	WITH(L2, dims, 0, NULL);
	WITH(L2, dims, 1, NULL);
	WITH(L2, dims, RACE_MAX_DIMS, NULL);
	WITH(L2, dims, RACE_MAX_DIMS + 1, "dims must be between 1 and 16000");
	WITH(L2, dims, UINT32_MAX, "dims");
	WITH(L2, power, 0, "power must be between 1 and 1024");
	WITH(L2, power, RACE_MAX_POWER + 1, "power must be between 1 and 1024");
	WITH(L2, power, 2, "fold");
	WITH(L2, seed, INT64_MIN, NULL);
	WITH(L2, seed, INT64_MAX, NULL);
	WITH(L2, bandwidth, RACE_MIN_BANDWIDTH, NULL);
	WITH(L2, bandwidth, RACE_MAX_BANDWIDTH, NULL);
	WITH(L2, bandwidth, nextafter(RACE_MIN_BANDWIDTH, 0), "bandwidth");
	WITH(L2, bandwidth, nextafter(RACE_MAX_BANDWIDTH, INFINITY), "bandwidth");
	WITH(L2, bandwidth, 0, "bandwidth");
	WITH(L2, bandwidth, -1, "bandwidth");
	WITH(L2, bandwidth, NAN, "bandwidth");
	WITH(L2, bandwidth, INFINITY, "bandwidth");
	WITH(L2, rows, 0, "rows must be at least 1");
	WITH(L2, rows, 1, NULL);
	WITH(L2, range, 0, "range must be at least 2");
	WITH(L2, range, 1, "range must be at least 2");
	WITH(L2, range, 2, NULL);
}

static void
l2_verdict(RaceParams params, const char *what)
{
	verdict(&params, what);
}

/* Limits that several fields share */
static void
test_l2_sizes(void)
{
	const uint32_t most = (RACE_MAX_SKETCH_BYTES - RACE_MAX_HEADER_BYTES) / 8;

	l2_verdict(l2_params(IND, FOLD, 0, 1, 1, most), NULL);
	l2_verdict(l2_params(IND, FOLD, 0, 1, most / 2, 2), NULL);
	l2_verdict(l2_params(IND, FOLD, 0, 1, 1, most + 1),
			   "rows times range must be at most 33553920");
	l2_verdict(l2_params(IND, FOLD, 0, 1, most / 2 + 1, 2), "rows times range");
	l2_verdict(l2_params(IND, FOLD, 0, 1, UINT32_MAX, UINT32_MAX), "rows times range");
	l2_verdict(l2_params(IND, FOLD, 0, 1, UINT32_C(1) << 31, 2), "rows times range");

	/* 8 bytes * (1024 * 16 + 2049) a row, and 56 or 57 blocks of 64 rows */
	l2_verdict(l2_params(IND, MULTI, 15, 1024, 56 * 64, 2), NULL);
	l2_verdict(l2_params(IND, MULTI, 15, 1024, 56 * 64 + 1, 2),
			   "rows times power times (dims + 1) is too large");
	l2_verdict(l2_params(IND, MULTI, 0, 1024, 21825, 2), "rows times power times (dims + 1)");
	l2_verdict(l2_params(IND, MULTI, RACE_MAX_DIMS, 1024, 16000000, 2),
			   "rows times power times (dims + 1)");

	l2_verdict(l2_params(SOBOL, FOLD, 20, 1, 8, 2), NULL);
	l2_verdict(l2_params(SOBOL, MULTI, 2, 7, 8, 2), NULL);
	l2_verdict(l2_params(SOBOL, FOLD, 21, 1, 8, 2), "sobol");
	l2_verdict(l2_params(SOBOL, MULTI, 2, 8, 8, 2), "sobol");
	l2_verdict(l2_params(SOBOL, FOLD, 0, 1, 8, 2), "sobol");
}

/* Codes that are folded: of l2 with power 1, or signs that have a bucket each */
static void
test_fold(void)
{
	recipe_verdict((Recipe){FOLD, 2, {PART(ANGULAR, IND, 3, 1)}}, 8, NULL);
	recipe_verdict((Recipe){FOLD, 1023, {PART(ANGULAR, IND, 3, 10)}}, 8, "at least 2^power");
	recipe_verdict((Recipe){FOLD, 1024, {PART(ANGULAR, IND, 3, 10)}}, 8, NULL);
	recipe_verdict((Recipe){FOLD, 33554431, {PART(ANGULAR, IND, 3, 25)}}, 1, "rows times range");
	recipe_verdict((Recipe){FOLD, 2, {PART(ANGULAR, IND, 3, 32)}}, 8, "at least 2^power");
	recipe_verdict((Recipe){FOLD, 2, {PART(ANGULAR, IND, 3, 64)}}, 8, "at least 2^power");
	recipe_verdict((Recipe){FOLD, 64, {PART(L1, IND, 3, 1)}}, 8, "needs power 1");
	recipe_verdict((Recipe){FOLD, 64, {PART(JACCARD, IND, 0, 1)}}, 8, "needs power 1");
	recipe_verdict((Recipe){FOLD, 64, {PART(MATCH, IND, 3, 1)}}, 8, "needs power 1");
	recipe_verdict((Recipe){FOLD, 64, {PART(L2, IND, 3, 1), PART(L2, IND, 3, 1)}}, 8, "by itself");
	recipe_verdict((Recipe){FOLD, 64, {{L2, IND, 3, 1, TRANSFORM, 2}}}, 8, NULL);
	recipe_verdict((Recipe){0, 64, {PART(MATCH, IND, 3, 1)}}, 8, "unknown rehash number 0");
}

static void
test_products(void)
{
	const PartRecipe match = PART(MATCH, SOBOL, 3, 5);
	const PartRecipe stable = {L2, SOBOL, 4, 2, WIDTHS, 0}; /* 10 of Sobol's dimensions */
	const PartRecipe set = PART(JACCARD, IND, 0, 1);

	recipe_verdict((Recipe){MULTI, 64, {match, stable, set, set}}, 8, NULL);
	recipe_verdict((Recipe){MULTI, 64, {stable, stable}}, 8, NULL);
	recipe_verdict((Recipe){MULTI, 64, {stable, set, stable, PART(MATCH, SOBOL, 9, 1)}}, 8, NULL);
	recipe_verdict((Recipe){MULTI, 64, {stable, stable, PART(MATCH, SOBOL, 9, 2)}}, 8,
				   "\"sobol\" needs");
	recipe_verdict((Recipe){MULTI, 64, {set, PART(6, IND, 0, 1)}}, 8, "unknown kernel number 6");
	recipe_verdict((Recipe){MULTI, 64, {set, PART(99, IND, 0, 1)}}, 8, "unknown kernel number 99");
	recipe_verdict((Recipe){MULTI, 64, {set, {MATCH, IND, 3, 1, WIDTHS, 0}}}, 8,
				   "kernel match has no");
	recipe_verdict((Recipe){MULTI, 64, {set, {L2, IND, 3, 1, WIDTHS | TRANSFORM, 2}}}, 8,
				   "bandwidths do not go with a transform");
}

/* The second of two parts with one field changed, and a chain of five */
#define SECOND_WITH(field, value, what) \
	do \
	{ \
		Recipe two = {MULTI, 64, {PART(MATCH, IND, 3, 1), PART(MATCH, IND, 3, 1)}}; \
		RaceParams *changed = make_params(&two, 8, 0); \
		changed[1].field = (value); \
		verdict(changed, what); \
		free(changed); \
	} while (0)

static void
test_chains(void)
{
	const PartRecipe set = PART(JACCARD, IND, 0, 1);
	Recipe four = {MULTI, 64, {set, set, set, set}};
	RaceParams *params = make_params(&four, 8, 0);

	ok(race_params_parts(params) == 4 && problem_of(params) == NULL, "four parts");
	write_part(&set, params + 4);
	params->more += sizeof(RaceParams);
	verdict(params, "a product can have up to 4 kernels");
	free(params);

	SECOND_WITH(seed, 1, "only the first kernel of a product states what all share");
	SECOND_WITH(rehash, MULTI, "only the first kernel");
	SECOND_WITH(rows, 8, "only the first kernel");
	SECOND_WITH(range, 64, "only the first kernel");
	SECOND_WITH(more, 8, "only the first kernel");
	SECOND_WITH(loss.radius, 1, "reserved bytes are not zero");
	SECOND_WITH(sequence, 0, "unknown row sequence number 0");
	SECOND_WITH(arrays, RACE_ARRAY_LOWER, "arrays are cut off");
}

/* Limits that all parts share, and bytes that follow */
static void
test_sizes(void)
{
	const uint32_t most = (RACE_MAX_SKETCH_BYTES - RACE_MAX_HEADER_BYTES) / 8;
	const PartRecipe set = PART(JACCARD, IND, 0, 1);
	const PartRecipe widths = {L1, IND, 3, 1, WIDTHS, 0};
	const PartRecipe large = PART(ANGULAR, IND, 15, 1024);
	RaceParams *params;

	recipe_verdict((Recipe){MULTI, most, {set}}, 1, NULL);
	recipe_verdict((Recipe){MULTI, most, {set, set}}, 1, "rows times range");
	recipe_verdict((Recipe){MULTI, most - 8, {set, set}}, 1, NULL);
	recipe_verdict((Recipe){MULTI, most - 2, {widths}}, 1, "rows times range");
	recipe_verdict((Recipe){MULTI, most - 3, {widths}}, 1, NULL);
	recipe_verdict((Recipe){MULTI, 2, {large}}, 56 * 64, NULL);
	recipe_verdict((Recipe){MULTI, 2, {large}}, 56 * 64 + 1, "rows times power times (dims + 1)");
	recipe_verdict((Recipe){MULTI, 2, {large, PART(ANGULAR, IND, 15, 64)}}, 56 * 64,
				   "rows times power times (dims + 1)");

	/* a square matrix of 362 is 131044 numbers, of 131072 */
	recipe_verdict((Recipe){FOLD, 2, {{L2, IND, 362, 1, RACE_ARRAY_MATRIX, 362}}}, 1, NULL);
	params = make_params(&(Recipe){MULTI, 64, {set}}, 1, 0);
	params->kernel = L2;
	params->dims = 362;
	params->outputs = 363;
	params->arrays = RACE_ARRAY_MATRIX;
	params->more = 362 * 363 * 8;
	verdict(params, "must be at most 131072 numbers");
	params->dims = params->outputs = RACE_MAX_DIMS;
	params->more = 8;
	verdict(params, "arrays are cut off");
	free(params);
}

/* ------------------------------------------------------ what they stand for */

static uint32_t
sobol_dimensions(uint8_t kernel, uint32_t dims, uint32_t power, uint16_t arrays, uint32_t outputs)
{
	RaceParams part;

	memset(&part, 0, sizeof(part));
	part.kernel = kernel;
	part.dims = dims;
	part.power = power;
	part.arrays = arrays;
	part.outputs = outputs;
	return race_sobol_dimensions(&part);
}

static void
test_sobol_dimensions(void)
{
	ok(sobol_dimensions(L2, 3, 2, 0, 0) == 8 && sobol_dimensions(L1, 3, 1, 0, 0) == 4,
	   "Sobol's dimensions of l2 and l1: numbers and an offset each");
	ok(sobol_dimensions(ANGULAR, 3, 2, 0, 0) == 6, "of angular: numbers alone");
	ok(sobol_dimensions(L2, 30, 1, RACE_ARRAY_MATRIX, 2) == 3 &&
		   sobol_dimensions(ANGULAR, 3, 1, RACE_ARRAY_MATRIX, 9) == 9,
	   "after a transform");
	ok(sobol_dimensions(MATCH, 100, 3, 0, 0) == 3, "of match: one a function");
	ok(sobol_dimensions(JACCARD, 0, 1, 0, 0) == UINT32_MAX &&
		   sobol_dimensions(MATCH, 0, 1, 0, 0) == UINT32_MAX,
	   "more than there are, if not known");
	ok(sobol_dimensions(L2, UINT32_MAX, UINT32_MAX, 0, 0) == UINT32_MAX, "or too many to count");
}

/* What "auto" is for a part, when so many dimensions are taken */
static int
sequence_of(uint8_t kernel, uint32_t dims, uint32_t power, uint32_t taken)
{
	Recipe recipe = {MULTI, 64, {PART(kernel, IND, dims, power)}};
	RaceParams *params = make_params(&recipe, 8, 0);
	int sequence = race_default_sequence(params, taken);

	params->sequence = (uint8_t) sequence;
	if (taken == 0 && problem_of(params) != NULL)
		sequence = 0;
	free(params);
	return sequence;
}

static void
test_default_sequence(void)
{
	RaceParams *params =
		make_params(&(Recipe){MULTI, 64, {{L2, IND, 21, 1, RACE_ARRAY_MATRIX, 30}}}, 8, 0);

	ok(race_default_sequence(params, 0) == IND,
	   "auto: independent after a matrix that is no small one");
	free(params);
	ok(sequence_of(L2, 3, 1, 17) == SOBOL && sequence_of(L2, 3, 1, 18) == STRUCTURED &&
		   sequence_of(L2, 3, 1, UINT32_MAX) == STRUCTURED,
	   "auto: sobol as far as it goes");
	ok(sequence_of(L1, 20, 1, 0) == SOBOL && sequence_of(L1, 21, 1, 0) == IND, "of l1");
	ok(sequence_of(ANGULAR, 21, 1, 0) == SOBOL && sequence_of(ANGULAR, 11, 2, 0) == STRUCTURED &&
		   sequence_of(ANGULAR, 0, 1, 0) == IND,
	   "of angular");
	ok(sequence_of(JACCARD, 0, 1, 0) == IND, "of jaccard");
	ok(sequence_of(MATCH, 1000, 21, 0) == SOBOL && sequence_of(MATCH, 1000, 22, 0) == IND &&
		   sequence_of(MATCH, 0, 1, 0) == IND,
	   "of match");
}

static int
rehash_of(Recipe recipe)
{
	RaceParams *params = make_params(&recipe, 8, 0);
	int rehash = race_default_rehash(params);

	params->rehash = (uint8_t) rehash;
	if (problem_of(params) != NULL)
		rehash = 0;
	free(params);
	return rehash;
}

static void
test_default_rehash(void)
{
	const PartRecipe set = PART(JACCARD, IND, 0, 1);

	ok(rehash_of((Recipe){0, 8, {PART(ANGULAR, IND, 3, 3)}}) == FOLD &&
		   rehash_of((Recipe){0, 7, {PART(ANGULAR, IND, 3, 3)}}) == MULTI &&
		   rehash_of((Recipe){0, 64, {PART(ANGULAR, IND, 3, 1000)}}) == MULTI,
	   "auto: signs are folded where they fit");
	ok(rehash_of((Recipe){0, 8, {PART(L1, IND, 3, 1)}}) == MULTI &&
		   rehash_of((Recipe){0, 8, {set}}) == MULTI &&
		   rehash_of((Recipe){0, 8, {PART(MATCH, IND, 3, 1)}}) == MULTI &&
		   rehash_of((Recipe){0, 8, {PART(L2, IND, 3, 1), set}}) == MULTI,
	   "nothing else is but l2");
	ok(rehash_of((Recipe){0, 8, {PART(L2, IND, 3, 1)}}) == FOLD &&
		   rehash_of((Recipe){0, 8, {PART(L2, IND, 3, 2)}}) == MULTI,
	   "of power 1");
}

/* Of several parts: how many, how many functions, which sequence, are they complete? */
static void
test_whole(void)
{
	Recipe recipe = {MULTI,
					 64,
					 {{L2, SOBOL, 3, 2, WIDTHS | BOUNDS, 0},
					  PART(MATCH, SOBOL, 5, 3),
					  {ANGULAR, IND, 2, 4, TRANSFORM, 5}}};
	RaceParams *params = make_params(&recipe, 8, 0);
	const RaceParams *angular = race_params_next(race_params_next(params, params), params);

	ok(problem_of(params) == NULL && race_params_parts(params) == 3 &&
		   race_params_functions(params) == 9 && race_params_complete(params),
	   "a product of three");
	ok(race_params_size(params) == 3 * 64 + 9 * 8 + 12 * 8, "and its size");
	ok(race_array(params, RACE_ARRAY_UPPER)[1] == array_number(RACE_ARRAY_UPPER, 1) &&
		   race_array(angular, RACE_ARRAY_OFFSET)[1] == array_number(RACE_ARRAY_OFFSET, 1) &&
		   race_array(angular, RACE_ARRAY_MATRIX)[9] == array_number(RACE_ARRAY_MATRIX, 9) &&
		   race_array(params, RACE_ARRAY_MATRIX) == NULL &&
		   race_array(angular, RACE_ARRAY_LOWER) == NULL,
	   "arrays are found where they are");
	ok(race_params_next(angular, params) == NULL, "and no part after the last");
	ok(race_params_sequence(params) == IND, "independent, if any part is");
	params->dims = 0;
	ok(!race_params_complete(params), "not complete without the dims of a part");
	free(params);

	params = make_params(&(Recipe){MULTI, 64, {PART(MATCH, SOBOL, 3, 1)}}, 8, 0);
	ok(race_params_sequence(params) == SOBOL, "sobol, if all are");
	free(params);
	params = make_params(&(Recipe){MULTI, 64, {PART(JACCARD, IND, 0, 1)}}, 8, 0);
	ok(race_params_complete(params), "sets are complete without dims");
	free(params);
}

/* Row functions that are accepted must be of a size one can have */
static void
test_memory(void)
{
	static const struct
	{
		uint32_t dims;
		uint32_t power;
		uint32_t rows;
	} shapes[] = {{1, 1, 1},
				  {3, 1, 1024},
				  {15, 1024, 3584},
				  {1, 1, 16000000},
				  {RACE_MAX_DIMS, 1, 4000},
				  {RACE_MAX_DIMS, RACE_MAX_POWER, 1}};
	char message[200];

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
	{
		RaceParams params =
			l2_params(IND, FOLD, shapes[i].dims, shapes[i].power, shapes[i].rows, 2);
		size_t size;

		params.rehash = (uint8_t) race_default_rehash(&params);
		size = race_rows_size(&params);
		ok(race_params_problem(&params, sizeof(params), message, sizeof(message)) != NULL ||
			   (size > 8 * (size_t) shapes[i].rows * shapes[i].power * (shapes[i].dims + 1) &&
				size <= RACE_MAX_ROWS_BYTES),
		   "dims %u, power %u, rows %u: refused, or of a size one can have (%zu MB)",
		   shapes[i].dims, shapes[i].power, shapes[i].rows, size >> 20);
	}
}

static void
test_message(void)
{
	RaceParams params = l2_params(IND, FOLD, 3, 1, 1024, 1024);
	char message[8] = "xxxxxxx";

	params.power = 0;
	ok(race_params_problem(&params, sizeof(params), message, 6) == message &&
		   strcmp(message, "power") == 0 && message[6] == 'x',
	   "a message is cut to the size there is");
}

static void
test_names(void)
{
	static const char *const kernels[] =
		{[1] = "l2", [2] = "l1", [3] = "angular", [4] = "jaccard", [5] = "match"};
	int wrong = 0;

	for (int i = -1; i <= 255; i++)
	{
		wrong += (race_kernel_name(i) != NULL) !=
				(i >= RACE_KERNEL_L2 && i <= RACE_KERNEL_MARGIN && i != 6) ||
			(i >= 1 && i <= 5 && strcmp(race_kernel_name(i), kernels[i]) != 0);
		wrong += (race_choice_name(RACE_KEY_SEQUENCE, i) != NULL) !=
			(i == IND || i == SOBOL || i == RACE_SEQUENCE_GRID || i == STRUCTURED ||
			 i == RACE_SEQUENCE_GROUPED);
		wrong += (race_choice_name(RACE_KEY_REHASH, i) != NULL) != (i == FOLD || i == MULTI);
	}
	ok(wrong == 0 && strcmp(race_choice_name(RACE_KEY_SEQUENCE, 1), "independent") == 0 &&
		   strcmp(race_choice_name(RACE_KEY_SEQUENCE, 2), "sobol") == 0 &&
		   strcmp(race_choice_name(RACE_KEY_SEQUENCE, 5), "structured") == 0 &&
		   strcmp(race_choice_name(RACE_KEY_SEQUENCE, 7), "grouped") == 0 &&
		   strcmp(race_choice_name(RACE_KEY_REHASH, 1), "fold") == 0 &&
		   strcmp(race_choice_name(RACE_KEY_REHASH, 2), "multilinear") == 0,
	   "names go with the numbers that sketches store, and no others");
}

static void
test_collisions(void)
{
	RaceParams params = l2_params(IND, FOLD, 3, 1, 8, 1000);

	ok(race_collision_probability(&params) == 0, "folded codes are not corrected for");
	params.rehash = MULTI;
	ok(race_collision_probability(&params) == 0.001, "rehashed codes meet at 1 / range");
}

int
main(void)
{
	ok(sizeof(RaceParams) == 64 && offsetof(RaceParams, seed) == 8 &&
		   offsetof(RaceParams, more) == 40 && offsetof(RaceParams, loss.radius) == 48,
	   "parameters have no padding");
	test_l2_fields();
	test_l2_sizes();
	test_memory();
	test_message();
	test_names();
	test_collisions();
	test_kernels();
	test_numbers();
	test_bounds();
	test_arrays();
	test_fields();
	test_fold();
	test_products();
	test_chains();
	test_sizes();
	test_sobol_dimensions();
	test_default_sequence();
	test_default_rehash();
	test_whole();
	return done_testing();
}
