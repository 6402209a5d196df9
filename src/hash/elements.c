/*
 * elements.c
 *		Elements of sets and categories, as 64 bits that are hashed further
 */
#include "privacy/interrupt.h"
#include "hash/elements.h"
#include "hash/philox.h"

/*
 * Philox serves as the keyed function: the seed is the key, and a text is chained
 * through it in blocks of 8 bytes.  An integer is one block of another stream, so it
 * never equals a text.
 */

/* Hash one step of a chain: from a state and a block of 8 bytes to the next state. */
static void
hash_step(int64_t seed, uint64_t state[2], uint64_t block)
{
	uint32_t counter[4];

	block ^= state[0];
	counter[0] = (uint32_t) block;
	counter[1] = (uint32_t) (block >> 32);
	counter[2] = (uint32_t) state[1];
	counter[3] = (uint32_t) (state[1] >> 32);
	race_philox((uint64_t) seed, counter, state);
}

uint64_t
race_element_of_integer(int64_t seed, int64_t value)
{
	uint64_t state[2] = {0, RACE_STREAM_INTEGER};

	hash_step(seed, state, (uint64_t) value);
	return state[0];
}

uint64_t
race_element_of_null(int64_t seed, bool equals_nothing)
{
	uint64_t state[2] = {0, RACE_STREAM_NULL};

	hash_step(seed, state, equals_nothing);
	return state[0];
}

/* Hash the length first, so that no text is the beginning of another. */
uint64_t
race_element_of_bytes(int64_t seed, const void *bytes, size_t size)
{
	const unsigned char *next = bytes;
	const unsigned char *end = next + size;
	uint64_t state[2] = {0, RACE_STREAM_BYTES};
	size_t blocks = 0;

	hash_step(seed, state, size);
	/* bound: the bytes */
	while (next < end)
	{
		uint64_t block = 0;

		for (int i = 0; i < 8 && next < end; i++)
			block |= (uint64_t) *next++ << 8 * i;
		hash_step(seed, state, block);
		if (++blocks % (RACE_STEP / 8) == 0)
			race_look_for_interrupts();
	}
	return state[0];
}
