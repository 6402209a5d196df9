/*
 * hash_template.h
 *		Vectors to buckets, in terms of the vector operations of one
 *		instruction set.  Each hash_*.c includes this once.
 *
 * It defines before:
 *
 *	TARGET			attribute of functions that use the instruction set
 *	VECTOR_LANES	doubles in a Vector, and 64-bit integers in a Words
 *	TILE_VECTORS	vectors of rows by
 *	TILE_RECORDS	records: sums that are kept in registers, the coefficients
 *					read once for all records (for one record alone:
 *	SINGLE_VECTORS	vectors, enough of them to hide the latency of a sum)
 *
 *	Vector			vector_load(p), vector_set(x), vector_fma(a, b, c) = ab + c
 *					vector_code(v): floor, saturated at +-RACE_MAX_CODE, also
 *					where v is NaN (from infinities that met)
 *					store_fold(code, range, 1 / range, buckets): code mod range
 *					store_mask(code, range, buckets): for a power of two
 *	Words			words_load(p), words_store(p, a), words_set(x),
 *					words_xor(a, b), words_plus(a, b), words_multiply(a, b): the
 *					product of the low 32 bits, words_high(a) = a >> 32,
 *					words_raise(a) = a << 32,
 *					words_of(code): the bits of code + RACE_INTEGER_SHIFT
 *					store_words(a, buckets): the low 32 bits
 */

#define INLINE	TARGET static inline __attribute__((always_inline))

/* Copies of a loop body whose indices are constants, so sums are registers */
#define UNROLL	_Pragma("GCC unroll 16")

/* Codes of some records in some vectors of rows, one function each */
INLINE void
project(const double *c, const double *x, uint32_t dims,
		int vectors, int records, Vector codes[])
{
	Vector		sums[16];
	Vector		row[16];
	uint32_t	i;

	UNROLL for (int v = 0; v < vectors; v++)
	{
		Vector		offset = vector_load(c + v * VECTOR_LANES);

		UNROLL for (int k = 0; k < records; k++)
			sums[v * records + k] = offset;
	}
	for (i = 0; i < dims; i++)
	{
		c += RACE_LANES;
		UNROLL for (int v = 0; v < vectors; v++)
			row[v] = vector_load(c + v * VECTOR_LANES);
		UNROLL for (int k = 0; k < records; k++)
		{
			Vector		xi = vector_set(x[(size_t) k * dims + i]);

			UNROLL for (int v = 0; v < vectors; v++)
				sums[v * records + k] = vector_fma(row[v], xi, sums[v * records + k]);
		}
	}
	UNROLL for (int s = 0; s < vectors * records; s++)
		codes[s] = vector_code(sums[s]);
}

INLINE void
fold_tile(const RaceHashBlock *block, size_t lane, const double *x,
		  int vectors, int records, bool mask, uint32_t *buckets)
{
	Vector		range = vector_set(block->range);
	Vector		inverse = vector_set(1.0 / block->range);
	Vector		codes[16];

	project(block->coefficients + lane, x, block->dims, vectors, records, codes);
	UNROLL for (int s = 0; s < vectors * records; s++)
	{
		uint32_t   *out = buckets + s % records * RACE_LANES +
			s / records * VECTOR_LANES;

		if (mask)
			store_mask(codes[s], block->range, out);
		else
			store_fold(codes[s], range, inverse, out);
	}
}

/* key * word mod 2^64; of the word, the low 32 bits count */
INLINE Words
key_times_word(Words key, Words word)
{
	return words_plus(words_multiply(key, word),
					  words_raise(words_multiply(words_high(key), word)));
}

INLINE void
multilinear_tile(const RaceHashBlock *block, size_t lane, const double *x,
				 int vectors, int records, uint32_t *buckets)
{
	const double *c = block->coefficients + lane;
	const uint64_t *keys = block->keys + lane;
	Vector		codes[16];
	Words		sums[16];
	uint32_t	j;

	UNROLL for (int s = 0; s < vectors * records; s++)
		sums[s] = words_load(keys + s / records * VECTOR_LANES);
	for (j = 0; j < block->power; j++)
	{
		project(c, x, block->dims, vectors, records, codes);
		c += (size_t) RACE_LANES * (block->dims + 1);
		keys += RACE_LANES;
		UNROLL for (int s = 0; s < vectors * records; s++)
		{
			const uint64_t *key = keys + s / records * VECTOR_LANES;
			Words		words = words_of(codes[s]);

			sums[s] = words_plus(sums[s], key_times_word(words_load(key), words));
			sums[s] = words_plus(sums[s], key_times_word(words_load(key + RACE_LANES),
														 words_high(words)));
		}
		keys += RACE_LANES;
	}
	UNROLL for (int s = 0; s < vectors * records; s++)
	{
		Words		scaled = words_multiply(words_high(sums[s]),
											words_set(block->range));

		store_words(words_high(scaled), buckets + s % records * RACE_LANES +
					s / records * VECTOR_LANES);
	}
}

INLINE void
hash_tile(const RaceHashBlock *block, size_t lane, const double *x,
		  int vectors, int records, RaceHashMode mode, uint32_t *buckets)
{
	if (mode == RACE_HASH_MULTILINEAR)
		multilinear_tile(block, lane, x, vectors, records, buckets + lane);
	else
		fold_tile(block, lane, x, vectors, records, mode == RACE_HASH_MASK,
				  buckets + lane);
}

/* The rows of a tile stay in the nearest cache while records go by. */
INLINE void
hash_in_mode(const RaceHashBlock *block, const double *x, size_t n,
			 RaceHashMode mode, uint32_t *buckets)
{
	size_t		whole = n - n % TILE_RECORDS;
	size_t		lane;
	size_t		i;

	for (lane = 0; lane < RACE_LANES; lane += TILE_VECTORS * VECTOR_LANES)
		for (i = 0; i < whole; i += TILE_RECORDS)
			hash_tile(block, lane, x + i * block->dims, TILE_VECTORS,
					  TILE_RECORDS, mode, buckets + i * RACE_LANES);
	for (lane = 0; lane < RACE_LANES; lane += SINGLE_VECTORS * VECTOR_LANES)
		for (i = whole; i < n; i++)
			hash_tile(block, lane, x + i * block->dims, SINGLE_VECTORS, 1,
					  mode, buckets + i * RACE_LANES);
}

TARGET static void
hash_block(const RaceHashBlock *block, const double *x, size_t n,
		   uint32_t *buckets)
{
	switch (block->mode)
	{
		case RACE_HASH_FOLD:
			hash_in_mode(block, x, n, RACE_HASH_FOLD, buckets);
			break;
		case RACE_HASH_MASK:
			hash_in_mode(block, x, n, RACE_HASH_MASK, buckets);
			break;
		case RACE_HASH_MULTILINEAR:
			hash_in_mode(block, x, n, RACE_HASH_MULTILINEAR, buckets);
			break;
	}
}

/* race_philox_bits() for RACE_LANES rows; philox.h has the rounds one by one */
TARGET static void
philox_lanes(uint64_t seed, uint32_t stream, const uint64_t *rows,
			 uint32_t function, uint32_t element, uint64_t *bits)
{
	int			lane;

	for (lane = 0; lane < RACE_LANES; lane += VECTOR_LANES)
	{
		Words		c0 = words_set(element);
		Words		c1 = words_load(rows + lane);
		Words		c2 = words_set(function);
		Words		c3 = words_set(stream);
		uint32_t	round;

		UNROLL for (round = 0; round < RACE_PHILOX_ROUNDS; round++)
		{
			Words		p0 = words_multiply(words_set(RACE_PHILOX_M0), c0);
			Words		p1 = words_multiply(words_set(RACE_PHILOX_M1), c2);
			Words		k0 = words_set(race_philox_key(seed, 0, round));
			Words		k1 = words_set(race_philox_key(seed, 1, round));

			/* only the low halves count */
			c0 = words_xor(words_xor(words_high(p1), c1), k0);
			c2 = words_xor(words_xor(words_high(p0), c3), k1);
			c1 = p1;
			c3 = p0;
		}
		c0 = words_xor(c0, words_raise(words_high(c0)));
		words_store(bits + lane, words_plus(c0, words_raise(c1)));
	}
}
