/*
 * balanced.c
 *		Rows of categories whose places are balanced.
 */
#include "balanced.h"

#include <stdio.h>

#include "philox.h"

bool
race_is_balanced(const RaceParams *part)
{
	return part->sequence == RACE_SEQUENCE_BALANCED;
}

uint64_t
race_balanced_rows(const RaceParams *part)
{
	uint64_t	n = part->dims;

	return part->power == 1 ? n : n * (n - 1) / 2;
}

#define PROBLEM(...) (snprintf(message, length, __VA_ARGS__), message)

const char *
race_balanced_problem(const RaceParams *params, char *message, size_t length)
{
	if (race_params_next(params, params) != NULL)
		return PROBLEM("kernel match with sequence \"balanced\" cannot be a part of a product");
	if (params->rows > race_balanced_rows(params))
		return PROBLEM("sequence \"balanced\" has at most %llu rows with %u dims and power %u, one for each %s",
					   (unsigned long long) race_balanced_rows(params), params->dims,
					   params->power, params->power == 1 ? "column" : "pair of columns");
	return NULL;
}

uint32_t
race_balanced_least_rows(const RaceParams *part)
{
	if (part->power == 1)
		return part->dims;
	return part->dims % 2 == 1 ? part->dims - 1 : part->dims / 2;
}

/* A number below n that the seed fixes */
static uint32_t
choose(int64_t seed, uint32_t element, uint32_t n)
{
	return (race_philox_bits(seed, RACE_STREAM_FUNCTION, 0, 0, element) >> 32) * n >> 32;
}

/*
 * Pairs as of a tournament.  The places 0 ... n - 1, n odd, stand in a circle: in round t, t + k
 * meets t - k.  Of an even number the last one stands in the middle, and meets t itself.
 */
static uint32_t
place_of_pair(uint32_t dims, int64_t seed, uint32_t row, uint32_t j)
{
	uint32_t	circle = dims % 2 == 1 ? dims : dims - 1;
	uint32_t	pairs = dims / 2;	/* in a round */
	uint32_t	t = ((uint64_t) row / pairs + choose(seed, 0, circle)) % circle;
	uint32_t	k = ((uint64_t) row % pairs + choose(seed, 1, pairs)) % pairs;

	if (dims % 2 == 1)
		k++;
	else if (k == 0 && j == 1)
		return dims - 1;
	return (j == 0 ? t + k : t + circle - k) % circle;
}

uint32_t
race_balanced_place(const RaceParams *part, int64_t seed, uint32_t row, uint32_t j)
{
	return part->power == 1 ?
		((uint64_t) row + choose(seed, 0, part->dims)) % part->dims :
		place_of_pair(part->dims, seed, row, j);
}

double
race_balanced_value(const RaceParams *part, const RaceColumn *x, const RaceColumn *y)
{
	double		n = x->width;
	double		same = 0;
	uint32_t	i;

	for (i = 0; i < x->width; i++)
		same += x->elements[i] == y->elements[i];
	return part->power == 1 ? same / n : same * (same - 1) / (n * (n - 1));
}
