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
 *					words_xor(a, b), words_plus(a, b), words_multiply(a, b): the
 *					product of the low 32 bits, words_high(a) = a >> 32,
 *					words_raise(a) = a << 32, words_least(a, b),
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

/*
 * The place of an element in the random order of each row. The order is a
 * permutation of 64 bits: Philox2x32, with fewer rounds because elements are
 * already well mixed.
 */
INLINE Words
place_in_order(Words low, Words high, Words key0, Words key1)
{
	int			round;

	low = words_xor(low, key0);
	high = words_xor(high, key1);
	UNROLL for (round = 0; round < RACE_ORDER_ROUNDS; round++)
	{
		Words		product = words_multiply(words_set(RACE_ORDER_M), high);

		/* only the low halves count */
		high = words_xor(words_xor(words_high(product), low),
						 words_set(RACE_ORDER_KEY * (round + 1)));
		low = product;
	}
	return words_xor(words_raise(high), words_high(words_raise(low)));
}

/* Set least[] to the minimum of itself and the places of the elements. */
INLINE void
least_place(const uint64_t *next, const uint64_t *end, const Words key0[],
			const Words key1[], Words least[])
{
	for (; next < end; next++)
	{
		Words		low = words_set(*next);
		Words		high = words_high(low);

		UNROLL for (int v = 0; v < SET_VECTORS; v++)
			least[v] = words_least(least[v],
								   place_in_order(low, high, key0[v], key1[v]));
	}
}

/*
 * The least element of each set in the order of each row. For an empty set, all
 * bits are set.
 */
INLINE void
sum_sets_tile(const RaceHashBlock *block, size_t lane, const RaceColumn *x,
			  size_t n, uint32_t j, uint64_t *sums)
{
	const uint64_t *order = (const uint64_t *) block->coefficients +
		(size_t) j * 2 * RACE_LANES + lane;
	const uint64_t *keys = block->keys + (size_t) j * 2 * RACE_LANES + lane;
	Words		key0[SET_VECTORS];
	Words		key1[SET_VECTORS];
	size_t		i;

	UNROLL for (int v = 0; v < SET_VECTORS; v++)
	{
		key0[v] = words_load(order + v * VECTOR_LANES);
		key1[v] = words_load(order + RACE_LANES + v * VECTOR_LANES);
	}
	for (i = 0; i < n; i++)
	{
		Words		least[SET_VECTORS];
		const uint64_t *next = x->elements + x->starts[i];
		const uint64_t *end = x->elements + x->starts[i + 1];

		UNROLL for (int v = 0; v < SET_VECTORS; v++)
			least[v] = words_set(UINT64_MAX);
		for (; block->interruptible && (size_t) (end - next) > RACE_STEP;
			 next += RACE_STEP)
		{
			least_place(next, next + RACE_STEP, key0, key1, least);
			race_look_for_interrupts();
		}
		least_place(next, end, key0, key1, least);
		UNROLL for (int v = 0; v < SET_VECTORS; v++)
		{
			uint64_t   *sum = sums + i * RACE_LANES + lane + v * VECTOR_LANES;

			words_store(sum, plus_code(words_load(sum), keys + v * VECTOR_LANES,
									   least[v]));
		}
	}
}

/*
 * In place of the number of its row a code has that of the round, so that codes of earlier
 * rounds are less.
 */
INLINE void
keep_least(uint64_t place, uint64_t round, uint64_t codes[])
{
	uint64_t   *row = &codes[place >> RACE_PARTITION_SHIFT];
	uint64_t	code = (place & RACE_PARTITION_MASK) | round;
	uint64_t	least = *row;

	*row = code < least ? code : least;
}

/* Where elements fall in a round: the least code in each row */
INLINE void
throw_elements(const uint64_t *elements, size_t n, const uint64_t *order, uint64_t round,
			   uint64_t codes[])
{
	Words		key0 = words_set(order[0]);
	Words		key1 = words_set(order[RACE_LANES]);
	uint64_t	places[VECTOR_LANES] = {0};
	Words		low;
	size_t		i;
	size_t		k;

	round <<= RACE_PARTITION_SHIFT;
	for (i = 0; i + VECTOR_LANES <= n; i += VECTOR_LANES)
	{
		low = words_load(elements + i);
		words_store(places, place_in_order(low, words_high(low), key0, key1));
		UNROLL for (k = 0; k < VECTOR_LANES; k++)
			keep_least(places[k], round, codes);
	}
	if (i == n)
		return;
	memcpy(places, elements + i, (n - i) * sizeof(uint64_t));
	low = words_load(places);
	words_store(places, place_in_order(low, words_high(low), key0, key1));
	for (k = 0; k < n - i; k++)
		keep_least(places[k], round, codes);
}

/* Has every row a code?  All bits of a row without one are set. */
INLINE bool
are_filled(const uint64_t codes[])
{
	bool		filled = true;
	int			lane;

	for (lane = 0; lane < RACE_LANES; lane++)
		filled &= codes[lane] != UINT64_MAX;
	return filled;
}

/* Give codes to some rows, each by its own order. */
INLINE void
order_rows(const uint64_t *elements, size_t n, const uint64_t *order, const uint32_t rows[],
		   uint64_t codes[])
{
	uint64_t	keys[2][VECTOR_LANES];
	uint64_t	least[VECTOR_LANES];
	Words		key0;
	Words		key1;
	Words		found = words_set(UINT64_MAX);
	size_t		i;
	int			k;

	for (k = 0; k < VECTOR_LANES; k++)
	{
		keys[0][k] = order[rows[k]];
		keys[1][k] = order[RACE_LANES + rows[k]];
	}
	key0 = words_load(keys[0]);
	key1 = words_load(keys[1]);
	for (i = 0; i < n; i++)
	{
		Words		low = words_set(elements[i]);

		found = words_least(found, place_in_order(low, words_high(low), key0, key1));
	}
	words_store(least, found);
	for (k = 0; k < VECTOR_LANES; k++)
		codes[rows[k]] = least[k];
}

/* Give codes to the rows that have none. */
INLINE void
fill_rows(const uint64_t *elements, size_t n, const uint64_t *order, uint64_t codes[])
{
	uint32_t	rows[RACE_LANES + VECTOR_LANES];
	int			empty = 0;
	int			lane;

	for (lane = 0; lane < RACE_LANES; lane++)
	{
		rows[empty] = lane;
		empty += codes[lane] == UINT64_MAX;
	}
	/* the last vector is filled up with a row that it has */
	for (lane = 0; lane < VECTOR_LANES; lane++)
		rows[empty + lane] = empty > 0 ? rows[empty - 1] : 0;
	for (lane = 0; lane < empty; lane += VECTOR_LANES)
		order_rows(elements, n, order, rows + lane, codes);
}

/* The codes of a set in all rows of a block */
INLINE void
partition_set(const RaceHashBlock *block, const uint64_t *elements, size_t n,
			  const uint64_t *order, uint64_t codes[])
{
	uint64_t	round;
	int			lane;

	for (lane = 0; lane < RACE_LANES; lane += VECTOR_LANES)
		words_store(codes + lane, words_set(UINT64_MAX));
	if (n == 0)
		return;
	for (round = 0; round < RACE_PARTITION_ROUNDS; round++)
	{
		if (block->interruptible)
			race_look_for_interrupts();
		throw_elements(elements, n, order + round, round, codes);
		if (n > RACE_LANES && are_filled(codes))
			return;
	}
	fill_rows(elements, n, order, codes);
}

TARGET static void
sum_partitioned(const RaceHashBlock *block, const RaceColumn *x, size_t n, uint64_t *sums)
{
	uint64_t	codes[RACE_LANES];
	uint32_t	j;
	size_t		lane;
	size_t		i;

	for (j = 0; j < block->power; j++)
	{
		const uint64_t *order = (const uint64_t *) block->coefficients + (size_t) j * 2 * RACE_LANES;
		const uint64_t *keys = block->keys + (size_t) j * 2 * RACE_LANES;

		for (i = 0; i < n; i++)
		{
			partition_set(block, x->elements + x->starts[i], x->starts[i + 1] - x->starts[i],
						  order, codes);
			for (lane = 0; lane < RACE_LANES; lane += VECTOR_LANES)
			{
				uint64_t   *sum = sums + i * RACE_LANES + lane;

				words_store(sum, plus_code(words_load(sum), keys + lane, words_load(codes + lane)));
			}
		}
	}
}

TARGET static void
sum_sets(const RaceHashBlock *block, const RaceColumn *x, size_t n, uint64_t *sums)
{
	size_t		lane;
	uint32_t	j;

	if (block->partition)
	{
		sum_partitioned(block, x, n, sums);
		return;
	}
	for (j = 0; j < block->power; j++)
	{
		if (block->interruptible)
			race_look_for_interrupts();
		for (lane = 0; lane < RACE_LANES; lane += SET_VECTORS * VECTOR_LANES)
			sum_sets_tile(block, lane, x, n, j, sums);
	}
}

TARGET static void
sum_categories(const RaceHashBlock *block, const RaceColumn *x, size_t n,
			   uint64_t *sums)
{
	const uint64_t *places = (const uint64_t *) block->coefficients;
	const uint64_t *keys = block->keys;
	uint32_t	j;
	size_t		lane;
	size_t		i;

	for (j = 0; j < block->power; j++, places += RACE_LANES, keys += 2 * RACE_LANES)
		for (lane = 0; lane < RACE_LANES; lane += VECTOR_LANES)
		{
			Words		place = words_load(places + lane);

			for (i = 0; i < n; i++)
			{
				uint64_t   *sum = sums + i * RACE_LANES + lane;
				Words		code = words_gather(x->elements + i * block->width,
												place);

				words_store(sum, plus_code(words_load(sum), keys + lane, code));
			}
		}
}

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

/* -------------------------------------------------------- structured projections */

/* The butterflies of n vectors, at distance h: sums where bit h is 0, else differences */
INLINE void
butterflies(Vector v[], int n, int h)
{
	UNROLL for (int i = 0; i < n; i++)
		if ((i & h) == 0 && (i | h) < n)
		{
			Vector		a = v[i];
			Vector		b = v[i | h];

			v[i] = vector_plus(a, b);
			v[i | h] = vector_minus(a, b);
		}
}

INLINE void
butterflies_of_all(Vector v[], int n)
{
	butterflies(v, n, 1);
	butterflies(v, n, 2);
	butterflies(v, n, 4);
	butterflies(v, n, 8);
}

/* The butterflies within a vector.  To multiply by 1 or -1 is exact. */
INLINE Vector
butterflies_within(Vector v)
{
	static const double alternate[3][8] = {
		{1, -1, 1, -1, 1, -1, 1, -1}, {1, 1, -1, -1, 1, 1, -1, -1},
		{1, 1, 1, 1, -1, -1, -1, -1}
	};

	UNROLL for (int i = 0; 1 << i < VECTOR_LANES; i++)
		v = vector_fma(v, vector_load(alternate[i]), vector_swap(v, 1 << i));
	return v;
}

/* The butterflies of n vectors whose numbers are `distance` apart */
INLINE void
pass(double *z, size_t length, size_t distance, int n)
{
	size_t		start;
	size_t		i;

	for (start = 0; start < length; start += n * distance)
		for (i = start; i < start + distance; i += VECTOR_LANES)
		{
			Vector		v[TRANSFORM_VECTORS];

			UNROLL for (int k = 0; k < n; k++)
				v[k] = vector_load(z + i + k * distance);
			butterflies_of_all(v, n);
			UNROLL for (int k = 0; k < n; k++)
				vector_store(z + i + k * distance, v[k]);
		}
}

/*
 * Flip signs and apply the Hadamard matrix: butterflies at distances 1, 2, 4 ..., in place.
 * The first ones are those of numbers that lie together.
 */
TARGET static void
transform(double *z, size_t length, const uint64_t *signs)
{
	const size_t first = TRANSFORM_VECTORS * VECTOR_LANES;
	size_t		distance;
	size_t		i;

	for (i = 0; i < length; i += first)
	{
		Vector		v[TRANSFORM_VECTORS];

		UNROLL for (int k = 0; k < TRANSFORM_VECTORS; k++)
		{
			size_t		at = i + k * VECTOR_LANES;

			v[k] = butterflies_within(vector_flip(vector_load(z + at),
												  signs[at / 64] >> at % 64));
		}
		butterflies_of_all(v, TRANSFORM_VECTORS);
		UNROLL for (int k = 0; k < TRANSFORM_VECTORS; k++)
			vector_store(z + i + k * VECTOR_LANES, v[k]);
	}
	for (distance = first; distance * TRANSFORM_VECTORS <= length;
		 distance *= TRANSFORM_VECTORS)
		pass(z, length, distance, TRANSFORM_VECTORS);
	switch (length / distance)
	{
		case 8:
			pass(z, length, distance, 8);
			break;
		case 4:
			pass(z, length, distance, 4);
			break;
		case 2:
			pass(z, length, distance, 2);
			break;
	}
}

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
