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
 *	Words			words_load(p), words_of(code): code + RACE_INTEGER_SHIFT
 *					words_add(sums, keys_low, keys_high, words):
 *					sums + low words * keys_low + high words * keys_high
 *					store_scaled(sums, range, buckets): (sums >> 32) * range >> 32
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
			sums[s] = words_add(sums[s],
								words_load(keys + s / records * VECTOR_LANES),
								words_load(keys + RACE_LANES +
										   s / records * VECTOR_LANES),
								words_of(codes[s]));
		keys += RACE_LANES;
	}
	UNROLL for (int s = 0; s < vectors * records; s++)
		store_scaled(sums[s], block->range, buckets + s % records * RACE_LANES +
					 s / records * VECTOR_LANES);
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
