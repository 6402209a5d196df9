/*
 * params_test.c
 *		What parameters are accepted, and how others are refused.
 */
#include <stddef.h>

#include "../../src/core/sequences.h"
#include "helpers.h"
#include "tap.h"

#define IND		RACE_SEQUENCE_INDEPENDENT
#define SOBOL	RACE_SEQUENCE_SOBOL
#define STRUCTURED	RACE_SEQUENCE_STRUCTURED
#define FOLD	RACE_REHASH_FOLD
#define MULTI	RACE_REHASH_MULTILINEAR

static RaceParams
good_params(void)
{
	return l2_params(IND, FOLD, 3, 1, 1024, 1024);
}

/* Are these refused, with a message that has this in it? */
static void
refused(RaceParams params, const char *what)
{
	char		message[200] = "";
	const char *problem = race_params_problem(&params, sizeof(params), message,
											  sizeof(message));

	if (problem == NULL)
		ok(false, "refused: %s", what);
	else
		ok(problem == message && strstr(message, what) != NULL, "refused: %s", message);
}

static void
accepted(RaceParams params, const char *what)
{
	char		message[200] = "";

	if (race_params_problem(&params, sizeof(params), message, sizeof(message)) != NULL)
		printf("# %s\n", message);
	ok(race_params_problem(&params, sizeof(params), message, sizeof(message)) == NULL,
	   "accepted: %s", what);
}

/* Good parameters with one field changed */
#define WITH(field, value, verdict, what) \
	do { \
		RaceParams	changed = good_params(); \
		changed.field = (value); \
		verdict(changed, what); \
	} while (0)

static void
test_fields(void)
{
	accepted(good_params(), "good parameters");
	WITH(kernel, 0, refused, "kernel number 0");
	WITH(kernel, 200, refused, "kernel number 200");
	WITH(sequence, 0, refused, "sequence number 0");
	WITH(sequence, RACE_SEQUENCE_GRID, refused, "needs lower and upper bounds");
	WITH(sequence, RACE_SEQUENCE_STRUCTURED, accepted, "structured");
	WITH(sequence, 3, refused, "sequence number 3");
	WITH(sequence, 6, refused, "sequence number 6");
	WITH(sequence, RACE_SEQUENCE_GROUPED, refused, "is for kernel jaccard");
	WITH(sequence, 8, refused, "sequence number 8");
	WITH(sequence, 9, refused, "sequence number 9");
	WITH(rehash, 0, refused, "rehash number 0");
	WITH(rehash, 3, refused, "rehash number 3");
	WITH(arrays, RACE_ARRAY_CELLS, refused, "arrays are cut off");
	WITH(arrays, 64, refused, "arrays are cut off");
	WITH(arrays, 128, refused, "must have between 1 and");
	WITH(reserved8[1], 1, refused, "reserved");
	WITH(reserved8[2], 1, refused, "reserved");
	WITH(radius, 1, refused, "are for kernels");
	WITH(query_radius, 1, refused, "are for kernels");
	WITH(query_radius, NAN, refused, "are for kernels");
	WITH(query_radius, -0.0, refused, "are for kernels");
	WITH(reserved16[0], 1, refused, "are for kernels");
	WITH(features, 1, refused, "are for kernels");
	WITH(norm, -0.0, refused, "are for kernels");
	WITH(clip, 1, refused, "are for kernels");
	WITH(dims, 0, accepted, "dims not stated");
	WITH(dims, 1, accepted, "one dimension");
	WITH(dims, RACE_MAX_DIMS, accepted, "the most dims");
	WITH(dims, RACE_MAX_DIMS + 1, refused, "dims must be between 1 and 16000");
	WITH(dims, UINT32_MAX, refused, "dims");
	WITH(power, 0, refused, "power must be between 1 and 1024");
	WITH(power, RACE_MAX_POWER + 1, refused, "power must be between 1 and 1024");
	WITH(power, 2, refused, "fold");
	WITH(seed, INT64_MIN, accepted, "the lowest seed");
	WITH(seed, INT64_MAX, accepted, "the highest seed");
	WITH(bandwidth, RACE_MIN_BANDWIDTH, accepted, "the smallest bandwidth");
	WITH(bandwidth, RACE_MAX_BANDWIDTH, accepted, "the largest bandwidth");
	WITH(bandwidth, nextafter(RACE_MIN_BANDWIDTH, 0), refused, "bandwidth");
	WITH(bandwidth, nextafter(RACE_MAX_BANDWIDTH, INFINITY), refused, "bandwidth");
	WITH(bandwidth, 0, refused, "bandwidth");
	WITH(bandwidth, -1, refused, "bandwidth");
	WITH(bandwidth, NAN, refused, "bandwidth");
	WITH(bandwidth, INFINITY, refused, "bandwidth");
	WITH(rows, 0, refused, "rows must be at least 1");
	WITH(rows, 1, accepted, "one row");
	WITH(range, 0, refused, "range must be at least 2");
	WITH(range, 1, refused, "range must be at least 2");
	WITH(range, 2, accepted, "a range of two");
}

/* Limits that several fields share */
static void
test_sizes(void)
{
	const uint32_t most = (RACE_MAX_SKETCH_BYTES - RACE_MAX_HEADER_BYTES) / 8;

	accepted(l2_params(IND, FOLD, 0, 1, 1, most), "the most counters in one row");
	accepted(l2_params(IND, FOLD, 0, 1, most / 2, 2), "the most rows");
	refused(l2_params(IND, FOLD, 0, 1, 1, most + 1), "rows times range must be at most 33553920");
	refused(l2_params(IND, FOLD, 0, 1, most / 2 + 1, 2), "rows times range");
	refused(l2_params(IND, FOLD, 0, 1, UINT32_MAX, UINT32_MAX), "rows times range");
	refused(l2_params(IND, FOLD, 0, 1, UINT32_C(1) << 31, 2), "rows times range");

	/* 8 bytes * (1024 * 16 + 2049) a row, and 56 or 57 blocks of 64 rows */
	accepted(l2_params(IND, MULTI, 15, 1024, 56 * 64, 2), "the most coefficients");
	refused(l2_params(IND, MULTI, 15, 1024, 56 * 64 + 1, 2),
			"rows times power times (dims + 1) is too large");
	refused(l2_params(IND, MULTI, 0, 1024, 21825, 2), "rows times power times (dims + 1)");
	refused(l2_params(IND, MULTI, RACE_MAX_DIMS, 1024, 16000000, 2),
			"rows times power times (dims + 1)");

	accepted(l2_params(SOBOL, FOLD, 20, 1, 8, 2), "the most dims of sobol");
	accepted(l2_params(SOBOL, MULTI, 2, 7, 8, 2), "the most power of sobol");
	refused(l2_params(SOBOL, FOLD, 21, 1, 8, 2), "sobol");
	refused(l2_params(SOBOL, MULTI, 2, 8, 8, 2), "sobol");
	refused(l2_params(SOBOL, FOLD, 0, 1, 8, 2), "sobol");
}

/* Row functions that are accepted must be of a size one can have */
static void
test_memory(void)
{
	static const struct
	{
		uint32_t	dims;
		uint32_t	power;
		uint32_t	rows;
	}			shapes[] = {
		{1, 1, 1}, {3, 1, 1024}, {15, 1024, 3584}, {1, 1, 16000000},
		{RACE_MAX_DIMS, 1, 4000}, {RACE_MAX_DIMS, RACE_MAX_POWER, 1}
	};
	char		message[200];

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
	{
		RaceParams	params = l2_params(IND, FOLD, shapes[i].dims, shapes[i].power,
									   shapes[i].rows, 2);
		size_t		size;

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
	RaceParams	params = good_params();
	char		message[8] = "xxxxxxx";

	params.power = 0;
	ok(race_params_problem(&params, sizeof(params), message, 6) == message &&
	   strcmp(message, "power") == 0 && message[6] == 'x',
	   "a message is cut to the size there is");
}

static void
test_names(void)
{
	int			wrong = 0;

	for (int i = -1; i <= 255; i++)
	{
		const char *kernel = race_kernel_name(i);
		const char *sequence = race_sequence_name(i);
		const char *rehash = race_rehash_name(i);

		wrong += (kernel != NULL) != (i >= RACE_KERNEL_L2 && i <= RACE_KERNEL_TABLES) ||
			(kernel != NULL && race_kernel_by_name(kernel) != i);
		wrong += (sequence != NULL) != (i == IND || i == SOBOL || i == RACE_SEQUENCE_GRID || i == STRUCTURED ||
			i == RACE_SEQUENCE_GROUPED) ||
			(sequence != NULL && race_sequence_by_name(sequence) != i);
		wrong += (rehash != NULL) != (i == FOLD || i == MULTI) ||
			(rehash != NULL && race_rehash_by_name(rehash) != i);
	}
	ok(wrong == 0, "names and numbers go with each other");
	ok(race_kernel_by_name("l2") == 1 && race_kernel_by_name("l1") == 2 &&
	   race_kernel_by_name("angular") == 3 && race_kernel_by_name("jaccard") == 4 &&
	   race_kernel_by_name("match") == 5 && race_sequence_by_name("independent") == 1 &&
	   race_sequence_by_name("sobol") == 2 &&
	   race_sequence_by_name("structured") == 5 && race_sequence_by_name("grouped") == 7 &&
	   race_rehash_by_name("fold") == 1 &&
	   race_rehash_by_name("multilinear") == 2, "numbers are those that sketches store");
	ok(race_kernel_by_name("L2") == 0 && race_sequence_by_name("") == 0 &&
	   race_rehash_by_name("fol") == 0, "other names have no number");
}

static void
test_collisions(void)
{
	RaceParams	params = l2_params(IND, FOLD, 3, 1, 8, 1000);

	ok(race_collision_probability(&params) == 0, "folded codes are not corrected for");
	params.rehash = MULTI;
	ok(race_collision_probability(&params) == 0.001, "rehashed codes meet at 1 / range");
}

int
main(void)
{
	ok(sizeof(RaceParams) == 64 && offsetof(RaceParams, seed) == 8 &&
	   offsetof(RaceParams, more) == 40 &&
	   offsetof(RaceParams, radius) == 48, "parameters have no padding");
	test_fields();
	test_sizes();
	test_memory();
	test_message();
	test_names();
	test_collisions();
	return done_testing();
}
