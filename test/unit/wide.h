/*
 * wide.h
 *		Integers of 512 bits, so that rational numbers can be compared exactly.
 */
#ifndef RACE_TEST_WIDE_H
#define RACE_TEST_WIDE_H

#include <stdint.h>
#include <stdlib.h>

#define WORDS 8

/* An integer of 512 bits, the lowest word first */
typedef struct Wide
{
	uint64_t word[WORDS];
} Wide;

static inline Wide
times(Wide a, uint64_t b)
{
	unsigned __int128 carry = 0;

	for (int i = 0; i < WORDS; i++)
	{
		carry += (unsigned __int128) a.word[i] * b;
		a.word[i] = (uint64_t) carry;
		carry >>= 64;
	}
	if (carry != 0)
		abort();
	return a;
}

static inline Wide
wide(uint64_t x)
{
	Wide a = {{x}};

	return a;
}

static inline Wide
wide_128(unsigned __int128 x)
{
	Wide a = {{(uint64_t) x, (uint64_t) (x >> 64)}};

	return a;
}

static inline Wide
product(uint64_t a, uint64_t b)
{
	return times(wide(a), b);
}

static inline Wide
sum(Wide a, Wide b)
{
	unsigned __int128 carry = 0;

	for (int i = 0; i < WORDS; i++)
	{
		carry += (unsigned __int128) a.word[i] + b.word[i];
		a.word[i] = (uint64_t) carry;
		carry >>= 64;
	}
	return a;
}

static inline Wide
times_power_of_2(Wide a, int power)
{
	for (; power > 0; power -= 32)
		a = times(a, (uint64_t) 1 << (power < 32 ? power : 32));
	return a;
}

/* Negative, 0 or positive as a is below, at or above b */
static inline int
order(Wide a, Wide b)
{
	for (int i = WORDS - 1; i >= 0; i--)
		if (a.word[i] != b.word[i])
			return a.word[i] > b.word[i] ? 1 : -1;
	return 0;
}

/* a - b, which is not negative */
static inline Wide
minus(Wide a, Wide b)
{
	uint64_t borrow = 0;

	for (int i = 0; i < WORDS; i++)
	{
		unsigned __int128 less = (unsigned __int128) b.word[i] + borrow;

		borrow = less > a.word[i];
		a.word[i] -= (uint64_t) less;
	}
	return a;
}

static inline double
approximate(Wide a)
{
	double x = 0;

	for (int i = WORDS - 1; i >= 0; i--)
		x = x * 0x1p64 + (double) a.word[i];
	return x;
}

#endif /* RACE_TEST_WIDE_H */
