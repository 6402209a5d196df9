/*
 * hash_template.h
 *		Records to buckets, in terms of the vector operations of one
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
 *	SET_VECTORS		vectors of rows that a set is hashed in at a time
 *	TRANSFORM_VECTORS	vectors that are added to and subtracted from each other at a time
 *
 *	Vector			vector_load(p), vector_set(x), vector_fma(a, b, c) = ab + c
 *					vector_code(v): floor, saturated at +-RACE_MAX_CODE, also
 *					where v is NaN (from infinities that met)
 *					vector_sign(v): 1 where v >= 0, else 0
 *					vector_store(p, v), vector_plus(a, b), vector_minus(a, b),
 *					vector_flip(v, bits): -v in lane i where bit i is set,
 *					vector_swap(v, h): lane i of v in lane i ^ h
 *					store_fold(code, range, 1 / range, buckets): code mod range
 *					store_mask(code, range, buckets): for a power of two
 *	Words			words_load(p), words_store(p, a), words_set(x),
 *					words_xor(a, b), words_xor3(a, b, c), words_plus(a, b),
 *					words_multiply(a, b): the product of the low 32 bits,
 *					words_high(a) = a >> 32, words_raise(a) = a << 32,
 *					words_least(a, b),
 *					words_gather(p, a): p[a], in each lane
 *					words_of(code): the bits of code + RACE_INTEGER_SHIFT
 *					store_words(a, buckets): the low 32 bits
 */

#define INLINE	TARGET static inline __attribute__((always_inline))

/* Copies of a loop body whose indices are constants, so sums are registers */
#define UNROLL	_Pragma("GCC unroll 16")

/* Add the products of some columns to sums of some records in some vectors of rows. */
INLINE void
add_products(const double *c, const double *x, uint32_t width, uint32_t columns,
			 int vectors, int records, Vector sums[])
{
	Vector		row[16];
	uint32_t	i;

	for (i = 0; i < columns; i++, c += RACE_LANES)
	{
		UNROLL for (int v = 0; v < vectors; v++)
			row[v] = vector_load(c + v * VECTOR_LANES);
		UNROLL for (int k = 0; k < records; k++)
		{
			Vector		xi = vector_set(x[(size_t) k * width + i]);

			UNROLL for (int v = 0; v < vectors; v++)
				sums[v * records + k] = vector_fma(row[v], xi, sums[v * records + k]);
		}
	}
}

/* Codes of some records in some vectors of rows, one function each */
INLINE void
project(const double *c, const double *x, uint32_t width,
		int vectors, int records, bool signs, Vector codes[])
{
	Vector		sums[16];

	UNROLL for (int v = 0; v < vectors; v++)
	{
		Vector		offset = vector_load(c + v * VECTOR_LANES);

		UNROLL for (int k = 0; k < records; k++)
			sums[v * records + k] = offset;
	}
	add_products(c + RACE_LANES, x, width, width, vectors, records, sums);
	UNROLL for (int s = 0; s < vectors * records; s++)
		codes[s] = signs ? vector_sign(sums[s]) : vector_code(sums[s]);
}

INLINE void
fold_tile(const RaceHashBlock *block, size_t lane, const double *x,
		  int vectors, int records, bool mask, uint32_t *buckets)
{
	Vector		range = vector_set(block->range);
	Vector		inverse = vector_set(1.0 / block->range);
	Vector		codes[16];

	project(block->coefficients + lane, x, block->width, vectors, records, false,
			codes);
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

/* The sign of the first function is the highest bit. */
INLINE void
sign_tile(const RaceHashBlock *block, size_t lane, const double *x,
		  int vectors, int records, uint32_t *buckets)
{
	const double *c = block->coefficients + lane;
	Vector		codes[16];
	Words		bits[16];
	uint32_t	j;

	UNROLL for (int s = 0; s < vectors * records; s++)
		bits[s] = words_set(0);
	for (j = 0; j < block->power; j++)
	{
		project(c, x, block->width, vectors, records, true, codes);
		c += (size_t) RACE_LANES * (block->width + 1);
		/* the high bits of words_of() never move down */
		UNROLL for (int s = 0; s < vectors * records; s++)
			bits[s] = words_plus(words_plus(bits[s], bits[s]), words_of(codes[s]));
	}
	UNROLL for (int s = 0; s < vectors * records; s++)
		store_words(bits[s], buckets + s % records * RACE_LANES +
					s / records * VECTOR_LANES);
}

/* key * word mod 2^64; only the low 32 bits of the word count */
INLINE Words
key_times_word(Words key, Words word)
{
	return words_plus(words_multiply(key, word),
					  words_raise(words_multiply(words_high(key), word)));
}

/* sum + both words of a code times their keys */
INLINE Words
plus_code(Words sum, const uint64_t *key, Words code)
{
	sum = words_plus(sum, key_times_word(words_load(key), code));
	return words_plus(sum, key_times_word(words_load(key + RACE_LANES),
										  words_high(code)));
}

INLINE void
sum_tile(const RaceHashBlock *block, size_t lane, const double *x,
		 int vectors, int records, bool signs, uint64_t *out)
{
	const double *c = block->coefficients + lane;
	const uint64_t *keys = block->keys + lane;
	Vector		codes[16];
	Words		sums[16];
	uint32_t	j;

#define PLACE(s)	(out + (s) % records * RACE_LANES + (s) / records * VECTOR_LANES)
	UNROLL for (int s = 0; s < vectors * records; s++)
		sums[s] = words_load(PLACE(s));
	for (j = 0; j < block->power; j++)
	{
		project(c, x, block->width, vectors, records, signs, codes);
		c += (size_t) RACE_LANES * (block->width + 1);
		UNROLL for (int s = 0; s < vectors * records; s++)
			sums[s] = plus_code(sums[s], keys + s / records * VECTOR_LANES,
								words_of(codes[s]));
		keys += 2 * RACE_LANES;
	}
	UNROLL for (int s = 0; s < vectors * records; s++)
		words_store(PLACE(s), sums[s]);
#undef PLACE
}

INLINE void
hash_tile(const RaceHashBlock *block, size_t lane, const double *x,
		  int vectors, int records, RaceHashMode mode, void *out)
{
	uint32_t   *buckets = (uint32_t *) out + lane;
	uint64_t   *sums = (uint64_t *) out + lane;

	if (mode == RACE_HASH_SUM_FLOORS || mode == RACE_HASH_SUM_SIGNS)
		sum_tile(block, lane, x, vectors, records, mode == RACE_HASH_SUM_SIGNS,
				 sums);
	else if (mode == RACE_HASH_SIGNS)
		sign_tile(block, lane, x, vectors, records, buckets);
	else
		fold_tile(block, lane, x, vectors, records, mode == RACE_HASH_MASK,
				  buckets);
}

/*
 * The codes of one projection in RACE_LANES rows.  `out` has buckets, or sums; of
 * RACE_HASH_SIGNS the bits of the functions before, as sums have them.
 */
INLINE void
hash_sums(const RaceHashBlock *block, const double *z, const uint64_t *keys, bool scaled,
		  RaceHashMode mode, void *out)
{
	Vector		range = vector_set(block->range);
	Vector		inverse = vector_set(1.0 / block->range);
	bool		signs = mode == RACE_HASH_SIGNS || mode == RACE_HASH_SUM_SIGNS;
	int			lane;

	for (lane = 0; lane < RACE_LANES; lane += VECTOR_LANES)
	{
		const double *c = block->coefficients + lane;
		uint32_t   *bucket = (uint32_t *) out + lane;
		uint64_t   *sum = (uint64_t *) out + lane;
		Vector		v = vector_load(z + lane);
		Vector		code;

		if (scaled && !signs)
			v = vector_fma(v, vector_load(c + RACE_LANES), vector_load(c));
		code = signs ? vector_sign(v) : vector_code(v);
		if (mode == RACE_HASH_MASK)
			store_mask(code, block->range, bucket);
		else if (mode == RACE_HASH_FOLD)
			store_fold(code, range, inverse, bucket);
		else if (mode == RACE_HASH_SIGNS)
			words_store(sum, words_plus(words_plus(words_load(sum), words_load(sum)),
										words_of(code)));
		else
			words_store(sum, plus_code(words_load(sum), keys + lane, words_of(code)));
	}
}

/* Add some columns of some records to sums[record][RACE_LANES]. */
INLINE void
add_tile(const double *c, const double *x, uint32_t width, uint32_t columns,
		 int vectors, int records, double *out)
{
	Vector		sums[16];

#define PLACE(s)	(out + (s) % records * RACE_LANES + (s) / records * VECTOR_LANES)
	UNROLL for (int s = 0; s < vectors * records; s++)
		sums[s] = vector_load(PLACE(s));
	add_products(c, x, width, columns, vectors, records, sums);
	UNROLL for (int s = 0; s < vectors * records; s++)
		vector_store(PLACE(s), sums[s]);
#undef PLACE
}

/*
 * One projection of up to RACE_RECORDS_TOGETHER wide records: the coefficients of some
 * columns stay in the nearest cache while all records are multiplied with them, as do the
 * sums, and each column is read but once.  The order in which a sum grows stays the same.
 */
INLINE void
project_wide(const double *c, const double *x, uint32_t width, size_t n, double *sums)
{
	size_t		whole = n - n % TILE_RECORDS;
	uint32_t	from;
	size_t		lane;
	size_t		i;

	for (i = 0; i < n; i++)
		memcpy(sums + i * RACE_LANES, c, RACE_LANES * sizeof(double));
	c += RACE_LANES;
	for (from = 0; from < width; from += RACE_COLUMNS_TOGETHER, x += RACE_COLUMNS_TOGETHER)
	{
		uint32_t	columns = width - from < RACE_COLUMNS_TOGETHER ?
			width - from : RACE_COLUMNS_TOGETHER;

		for (lane = 0; lane < RACE_LANES; lane += TILE_VECTORS * VECTOR_LANES)
			for (i = 0; i < whole; i += TILE_RECORDS)
				add_tile(c + lane, x + i * width, width, columns, TILE_VECTORS,
						 TILE_RECORDS, sums + i * RACE_LANES + lane);
		for (lane = 0; lane < RACE_LANES; lane += SINGLE_VECTORS * VECTOR_LANES)
			for (i = whole; i < n; i++)
				add_tile(c + lane, x + i * width, width, columns, SINGLE_VECTORS, 1,
						 sums + i * RACE_LANES + lane);
		c += (size_t) columns * RACE_LANES;
	}
}

/* Up to RACE_RECORDS_TOGETHER wide records */
INLINE void
hash_wide(const RaceHashBlock *block, const double *x, size_t n, RaceHashMode mode,
		  void *out)
{
	const double *c = block->coefficients;
	const uint64_t *keys = block->keys;
	double		sums[RACE_RECORDS_TOGETHER * RACE_LANES];
	uint64_t	bits[RACE_RECORDS_TOGETHER * RACE_LANES];
	uint32_t	j;
	size_t		i;

	if (mode == RACE_HASH_SIGNS)
		memset(bits, 0, n * RACE_LANES * sizeof(uint64_t));
	for (j = 0; j < block->power; j++)
	{
		project_wide(c, x, block->width, n, sums);
		for (i = 0; i < n; i++)
			hash_sums(block, sums + i * RACE_LANES, keys, false, mode,
					  mode == RACE_HASH_SIGNS ? (void *) (bits + i * RACE_LANES) :
					  mode >= RACE_HASH_SUM_FLOORS ?
					  (void *) ((uint64_t *) out + i * RACE_LANES) :
					  (void *) ((uint32_t *) out + i * RACE_LANES));
		c += (size_t) RACE_LANES * (block->width + 1);
		if (keys != NULL)
			keys += 2 * RACE_LANES;
	}
	for (i = 0; mode == RACE_HASH_SIGNS && i < n * RACE_LANES; i += VECTOR_LANES)
		store_words(words_load(bits + i), (uint32_t *) out + i);
}

/*
 * The rows of a tile stay in the nearest cache while all records are hashed with
 * them.
 */
INLINE void
hash_in_mode(const RaceHashBlock *block, const double *x, size_t n,
			 RaceHashMode mode, void *out)
{
	size_t		whole = n - n % TILE_RECORDS;
	size_t		record = RACE_LANES *
		(mode >= RACE_HASH_SUM_FLOORS ? sizeof(uint64_t) : sizeof(uint32_t));
	size_t		lane;
	size_t		i;

	for (lane = 0; lane < RACE_LANES; lane += TILE_VECTORS * VECTOR_LANES)
		for (i = 0; i < whole; i += TILE_RECORDS)
			hash_tile(block, lane, x + i * block->width, TILE_VECTORS,
					  TILE_RECORDS, mode, (char *) out + i * record);
	for (lane = 0; lane < RACE_LANES; lane += SINGLE_VECTORS * VECTOR_LANES)
		for (i = whole; i < n; i++)
			hash_tile(block, lane, x + i * block->width, SINGLE_VECTORS, 1,
					  mode, (char *) out + i * record);
}

/* All of them; apart from hash_vectors(), which needs no such space */
TARGET __attribute__((noinline)) static void
hash_all_wide(const RaceHashBlock *block, const double *x, size_t n, void *out)
{
	size_t		record = RACE_LANES *
		(block->mode >= RACE_HASH_SUM_FLOORS ? sizeof(uint64_t) : sizeof(uint32_t));
	size_t		i;

	for (i = 0; i < n; i += RACE_RECORDS_TOGETHER)
	{
		const double *some = x + i * block->width;
		size_t		m = n - i < RACE_RECORDS_TOGETHER ? n - i : RACE_RECORDS_TOGETHER;
		char	   *place = (char *) out + i * record;

		switch (block->mode)
		{
			case RACE_HASH_FOLD:
				hash_wide(block, some, m, RACE_HASH_FOLD, place);
				break;
			case RACE_HASH_MASK:
				hash_wide(block, some, m, RACE_HASH_MASK, place);
				break;
			case RACE_HASH_SIGNS:
				hash_wide(block, some, m, RACE_HASH_SIGNS, place);
				break;
			case RACE_HASH_SUM_FLOORS:
				hash_wide(block, some, m, RACE_HASH_SUM_FLOORS, place);
				break;
			case RACE_HASH_SUM_SIGNS:
				hash_wide(block, some, m, RACE_HASH_SUM_SIGNS, place);
				break;
		}
	}
}

TARGET static void
hash_vectors(const RaceHashBlock *block, const RaceColumn *x, size_t n, void *out)
{
	if (block->width > RACE_COLUMNS_TOGETHER && n > 1)
	{
		hash_all_wide(block, x->numbers, n, out);
		return;
	}
	switch (block->mode)
	{
		case RACE_HASH_FOLD:
			hash_in_mode(block, x->numbers, n, RACE_HASH_FOLD, out);
			break;
		case RACE_HASH_MASK:
			hash_in_mode(block, x->numbers, n, RACE_HASH_MASK, out);
			break;
		case RACE_HASH_SIGNS:
			hash_in_mode(block, x->numbers, n, RACE_HASH_SIGNS, out);
			break;
		case RACE_HASH_SUM_FLOORS:
			hash_in_mode(block, x->numbers, n, RACE_HASH_SUM_FLOORS, out);
			break;
		case RACE_HASH_SUM_SIGNS:
			hash_in_mode(block, x->numbers, n, RACE_HASH_SUM_SIGNS, out);
			break;
	}
}

#include "hash_sets.h"

/* From 64 bits to one of `range` buckets; the high bits decide */
TARGET static void
reduce_sums(uint32_t range, const uint64_t *sums, size_t n, uint32_t *buckets)
{
	size_t		i;

	for (i = 0; i < n * RACE_LANES; i += VECTOR_LANES)
		store_words(words_high(words_multiply(words_high(words_load(sums + i)),
											  words_set(range))),
					buckets + i);
}

#include "hash_transform.h"

TARGET static void
hash_projection(const RaceHashBlock *block, const double *z, void *out)
{
	switch (block->mode)
	{
		case RACE_HASH_FOLD:
			hash_sums(block, z, block->keys, true, RACE_HASH_FOLD, out);
			break;
		case RACE_HASH_MASK:
			hash_sums(block, z, block->keys, true, RACE_HASH_MASK, out);
			break;
		case RACE_HASH_SIGNS:
			hash_sums(block, z, block->keys, true, RACE_HASH_SIGNS, out);
			break;
		case RACE_HASH_SUM_FLOORS:
			hash_sums(block, z, block->keys, true, RACE_HASH_SUM_FLOORS, out);
			break;
		case RACE_HASH_SUM_SIGNS:
			hash_sums(block, z, block->keys, true, RACE_HASH_SUM_SIGNS, out);
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
