/*
 * hash_template.h
 *		Hashing of vectors, for any width of vectors of numbers
 * (hash_vectors.h).  Each hash_*.c includes this once.
 *
 * It defines before:
 *
 * TARGET			attribute of functions that use the instruction set
 * VECTOR_LANES	doubles in a Vector, and 64-bit integers in a Words
 * TILE_RECORDS	records by TILE_VECTORS vectors of rows: sums that are kept in registers,
 * the coefficients read once for all records
 * TRANSFORM_VECTORS	vectors that are added to and subtracted from each other at a time
 *
 * Vector			vector_fma(a, b, c) = ab + c, vector_floor(v),
 * vector_clamp(v, limit): between +-limit, also where v is NaN (from
 * infinities that met),
 * vector_swap(v, h): lane i of v in lane i ^ h
 * Words			words_multiply(a, b): the product of the low 32 bits,
 * words_least(a, b), store_words(a, buckets): the low 32 bits
 */
#define TILE_VECTORS (VECTOR_LANES > 2 ? 2 : 4)
#define SINGLE_VECTORS 8 /* vectors of one record, enough to hide the latency of a sum */
#define SET_VECTORS 4    /* vectors of rows that a set is hashed in at a time */

/* Return the bits of code + RACE_INTEGER_SHIFT, whose low 32 are those of the code. */
INLINE Words
words_of(Vector code)
{
	return (Words) (code + vector_set(RACE_INTEGER_SHIFT));
}

/* Return key * word mod 2^64; only the low 32 bits of the word count. */
INLINE Words
key_times_word(Words key, Words word)
{
	return words_multiply(key, word) + (words_multiply(key >> 32, word) << 32);
}

/* Return sum + both words of a code times their keys. */
INLINE Words
plus_code(Words sum, const uint64_t *key, Words code)
{
	sum += key_times_word(words_load(key), code);
	return sum + key_times_word(words_load(key + RACE_LANES), code >> 32);
}

/*
 * Return code mod range.  For a multiple of range the quotient may be one too small, which is
 * corrected.  It is never too large, because codes are below 2^52.
 */
INLINE Words
fold(Vector code, uint32_t width)
{
	Vector range = vector_set(width);
	Vector quotient = vector_floor(code * vector_set(1.0 / width));
	Vector rest = vector_fma(quotient, vector_set(-(double) width), code);

	return words_of(rest) - ((Words) (rest >= range) & words_set(width));
}

/* Return the sign of a projection, 1 where it is at least 0, or its floor. */
INLINE Vector
code_of(RaceHashMode mode, Vector projection)
{
	if (mode == RACE_HASH_SIGNS || mode == RACE_HASH_SUM_SIGNS)
		return (Vector) ((Words) (projection >= 0) & (Words) vector_set(1));
	return vector_clamp(vector_floor(projection), RACE_MAX_CODE);
}

/*
 * Take the code of another function in: the bucket of a row that is folded; the signs so far, of
 * which the first is the highest bit; or the sum so far.
 */
INLINE Words
take_in(const RaceHashBlock *block, RaceHashMode mode, Words sum, Vector code, const uint64_t *keys)
{
	switch (mode)
	{
		case RACE_HASH_FOLD:
			return fold(code, block->range);
		case RACE_HASH_MASK:
			return words_of(code) & words_set(block->range - 1);
		case RACE_HASH_SIGNS:
			return sum + sum + words_of(code); /* its high bits never move down */
		default:
			return plus_code(sum, keys, words_of(code));
	}
}

/* --------------------------------------------------------------- vectors */

/* Add the products of all columns to sums of some records in some vectors of rows. */
INLINE void
add_products(const double *c, const double *x, uint32_t width, int vectors, int records,
			 Vector sums[])
{
	Vector row[16];

	for (uint32_t i = 0; i < width; i++, c += RACE_LANES)
	{
		UNROLL for (int v = 0; v < vectors; v++) row[v] = vector_load(c + v * VECTOR_LANES);
		UNROLL for (int k = 0; k < records; k++)
		{
			Vector xi = vector_set(x[(size_t) k * width + i]);

			UNROLL for (int v = 0; v < vectors; v++) sums[v * records + k] =
				vector_fma(row[v], xi, sums[v * records + k]);
		}
	}
}

#define IS_SUM(mode) ((mode) >= RACE_HASH_SUM_FLOORS)

/* Where vector s of a tile is in an array [records][RACE_LANES] */
#define PLACE(s) ((s) % records * RACE_LANES + (s) / records * VECTOR_LANES)

/* Hash some records in some vectors of rows, by functions j ... end - 1. */
INLINE void
hash_tile(const RaceHashBlock *block, size_t lane, uint32_t j, uint32_t end, const double *x,
		  int vectors, int records, RaceHashMode mode, void *out)
{
	const double *c = block->coefficients + lane + (size_t) j * RACE_LANES * (block->width + 1);
	const uint64_t *keys = block->keys + lane + (size_t) j * 2 * RACE_LANES;
	uint32_t *buckets = (uint32_t *) out + lane;
	uint64_t *results = (uint64_t *) out + lane;
	Vector projections[16];
	Words sums[16];

	UNROLL for (int s = 0; s < vectors * records; s++) sums[s] = IS_SUM(mode) ?
		words_load(results + PLACE(s)) :
		mode == RACE_HASH_SIGNS && j > 0 ? words_widen(buckets + PLACE(s)) :
										   words_set(0);
	for (; j < end; j++)
	{
		UNROLL for (int s = 0; s < vectors * records; s++) projections[s] =
			vector_load(c + s / records * VECTOR_LANES);
		add_products(c + RACE_LANES, x, block->width, vectors, records, projections);
		c += (size_t) RACE_LANES * (block->width + 1);
		UNROLL for (int s = 0; s < vectors * records; s++) projections[s] =
			code_of(mode, projections[s]);
		UNROLL for (int s = 0; s < vectors * records; s++) sums[s] =
			take_in(block, mode, sums[s], projections[s], keys + s / records * VECTOR_LANES);
		keys += 2 * RACE_LANES;
	}
	UNROLL for (int s = 0; s < vectors * records; s++) if (IS_SUM(mode))
		words_store(results + PLACE(s), sums[s]);
	else store_words(sums[s], buckets + PLACE(s));
}

/*
 * Take one projection in, of RACE_LANES rows.  `out` has buckets, or sums; of RACE_HASH_SIGNS the
 * signs so far, as sums have them.
 */
INLINE void
hash_scaled(const RaceHashBlock *block, const double *z, void *out, RaceHashMode mode)
{
	for (int lane = 0; lane < RACE_LANES; lane += VECTOR_LANES)
	{
		const double *c = block->coefficients + lane;
		uint64_t *sum = (uint64_t *) out + lane;
		Vector v = vector_load(z + lane);

		if (mode != RACE_HASH_SIGNS && mode != RACE_HASH_SUM_SIGNS)
			v = vector_fma(v, vector_load(c + RACE_LANES), vector_load(c));
		if (mode <= RACE_HASH_MASK)
			store_words(take_in(block, mode, words_set(0), code_of(mode, v), NULL),
						(uint32_t *) out + lane);
		else
			words_store(
				sum, take_in(block, mode, words_load(sum), code_of(mode, v), block->keys + lane));
	}
}

/* Call f, which is compiled for each mode, with a last argument that is the mode of the block. */
#define FOR_EACH_MODE(f, ...) \
	do \
	{ \
		switch (block->mode) \
		{ \
			case RACE_HASH_FOLD: \
				f(__VA_ARGS__, RACE_HASH_FOLD); \
				break; \
			case RACE_HASH_MASK: \
				f(__VA_ARGS__, RACE_HASH_MASK); \
				break; \
			case RACE_HASH_SIGNS: \
				f(__VA_ARGS__, RACE_HASH_SIGNS); \
				break; \
			case RACE_HASH_SUM_FLOORS: \
				f(__VA_ARGS__, RACE_HASH_SUM_FLOORS); \
				break; \
			case RACE_HASH_SUM_SIGNS: \
				f(__VA_ARGS__, RACE_HASH_SUM_SIGNS); \
				break; \
		} \
	} while (0)

/*
 * Hash n records.  The rows of a tile stay in the nearest cache while all records are hashed with
 * them: those of one function at a time, if they are wide.
 */
INLINE void
hash_in_mode(const RaceHashBlock *block, const double *x, size_t n, void *out, RaceHashMode mode)
{
	size_t whole = n - n % TILE_RECORDS;
	size_t record = RACE_LANES * (IS_SUM(mode) ? sizeof(uint64_t) : sizeof(uint32_t));
	uint32_t together = mode <= RACE_HASH_MASK || block->width > RACE_WIDE ? 1 : block->power;

	for (uint32_t j = 0; j < (mode <= RACE_HASH_MASK ? 1 : block->power); j += together)
	{
		for (size_t lane = 0; lane < RACE_LANES; lane += TILE_VECTORS * VECTOR_LANES)
			for (size_t i = 0; i < whole; i += TILE_RECORDS)
				hash_tile(block, lane, j, j + together, x + i * block->width, TILE_VECTORS,
						  TILE_RECORDS, mode, (char *) out + i * record);
		for (size_t lane = 0; lane < RACE_LANES; lane += SINGLE_VECTORS * VECTOR_LANES)
			for (size_t i = whole; i < n; i++)
				hash_tile(block, lane, j, j + together, x + i * block->width, SINGLE_VECTORS, 1,
						  mode, (char *) out + i * record);
	}
}

TARGET static void
hash_vectors(const RaceHashBlock *block, const RaceColumn *x, size_t n, void *out)
{
	FOR_EACH_MODE(hash_in_mode, block, x->numbers, n, out);
}

TARGET static void
hash_projection(const RaceHashBlock *block, const double *z, void *out)
{
	FOR_EACH_MODE(hash_scaled, block, z, out);
}

/* --------------------------------------------------- sets and categories */

/*
 * Return the place of an element in the random order of each row.  The order is a permutation of 64
 * bits: Philox2x32, with fewer rounds because elements are already well mixed.
 *
 * In a round, with the words (low, high) and the product p of `high` and a constant, `low` becomes
 * the low word of p, and `high` its high word ^ low ^ the key of the round.  The words lie in lanes
 * of 64 bits, of which only the low halves count.  The last round puts both into one lane: p has
 * them in their places, but for what `high` is xored with.
 */
INLINE Words
place_in_order(Words low, Words high, Words key0, Words key1)
{
	Words factor = words_set(RACE_ORDER_M);
	Words key = key0 ^ words_set(RACE_ORDER_KEY); /* once for all elements */
	Words product;

	high ^= key1;
	UNROLL for (int round = 1; round < RACE_ORDER_ROUNDS; round++)
	{
		product = words_multiply(factor, high);
		high = product >> 32 ^ low ^ key;
		low = product;
		key = words_set(RACE_ORDER_KEY * (round + 1));
	}
	product = words_multiply(factor, high);
	return product ^ low << 32 ^ key << 32;
}

/* Set least[] to the minimum of itself and the places of the elements. */
INLINE void
least_place(const uint64_t *next, const uint64_t *end, const Words key0[], const Words key1[],
			Words least[])
{
	for (; next < end; next++)
	{
		Words low = words_set(*next);
		Words high = low >> 32;

		UNROLL for (int v = 0; v < SET_VECTORS; v++) least[v] =
			words_least(least[v], place_in_order(low, high, key0[v], key1[v]));
	}
}

/*
 * Find the least element of each set in the order of each row.  For an empty set, all bits are set.
 */
INLINE void
sum_sets_tile(const RaceHashBlock *block, size_t lane, const RaceColumn *x, size_t n, uint32_t j,
			  uint64_t *sums)
{
	const uint64_t *order =
		(const uint64_t *) block->coefficients + (size_t) j * 2 * RACE_LANES + lane;
	const uint64_t *keys = block->keys + (size_t) j * 2 * RACE_LANES + lane;
	Words key0[SET_VECTORS];
	Words key1[SET_VECTORS];

	UNROLL for (int v = 0; v < SET_VECTORS; v++)
	{
		key0[v] = words_load(order + v * VECTOR_LANES);
		key1[v] = words_load(order + RACE_LANES + v * VECTOR_LANES);
	}
	for (size_t i = 0; i < n; i++)
	{
		Words least[SET_VECTORS];
		const uint64_t *next = x->elements + x->starts[i];
		const uint64_t *end = x->elements + x->starts[i + 1];

		UNROLL for (int v = 0; v < SET_VECTORS; v++) least[v] = words_set(UINT64_MAX);
		for (; block->interruptible && (size_t) (end - next) > RACE_STEP; next += RACE_STEP)
		{
			least_place(next, next + RACE_STEP, key0, key1, least);
			race_look_for_interrupts();
		}
		least_place(next, end, key0, key1, least);
		UNROLL for (int v = 0; v < SET_VECTORS; v++)
		{
			uint64_t *sum = sums + i * RACE_LANES + lane + v * VECTOR_LANES;

			words_store(sum, plus_code(words_load(sum), keys + v * VECTOR_LANES, least[v]));
		}
	}
}

/* Find the least places of elements in the orders of groups, as each row of a group has them. */
INLINE void
least_in_groups(const uint64_t *next, const uint64_t *end, Words key0, Words key1, Words least[])
{
	for (; next < end; next++)
	{
		Words low = words_set(*next);
		Words place = place_in_order(low, low >> 32, key0, key1);

		UNROLL for (int k = 0; k < RACE_GROUP; k++) least[k] =
			words_least(least[k], place ^ words_set(RACE_GROUP_TURN(k)));
	}
}

/* Set the codes of a set in some groups: row k of group g is codes[k * RACE_GROUP + g]. */
INLINE void
group_set(const RaceHashBlock *block, const uint64_t *next, const uint64_t *end,
		  const uint64_t *order, uint64_t codes[])
{
	Words key0 = words_load(order);
	Words key1 = words_load(order + RACE_LANES);
	Words least[RACE_GROUP];

	UNROLL for (int k = 0; k < RACE_GROUP; k++) least[k] = words_set(UINT64_MAX);
	for (; block->interruptible && (size_t) (end - next) > RACE_STEP; next += RACE_STEP)
	{
		least_in_groups(next, next + RACE_STEP, key0, key1, least);
		race_look_for_interrupts();
	}
	least_in_groups(next, end, key0, key1, least);
	UNROLL for (int k = 0; k < RACE_GROUP; k++) words_store(codes + k * RACE_GROUP, least[k]);
}

/* Add the codes of one record in all rows of a block to its sums. */
INLINE void
add_codes(const uint64_t *keys, const uint64_t *codes, uint64_t *sums)
{
	for (int lane = 0; lane < RACE_LANES; lane += VECTOR_LANES)
		words_store(sums + lane,
					plus_code(words_load(sums + lane), keys + lane, words_load(codes + lane)));
}

/* Set the codes of each set in all rows of a block, for sequence "grouped". */
INLINE void
sum_groups(const RaceHashBlock *block, const RaceColumn *x, size_t n, uint32_t j, uint64_t *sums)
{
	const uint64_t *order = (const uint64_t *) block->coefficients + (size_t) j * 2 * RACE_LANES;
	const uint64_t *keys = block->keys + (size_t) j * 2 * RACE_LANES;
	uint64_t by_row[RACE_LANES];
	uint64_t codes[RACE_LANES];

	for (size_t i = 0; i < n; i++, sums += RACE_LANES)
	{
		for (size_t lane = 0; lane < RACE_LANES / RACE_GROUP; lane += VECTOR_LANES)
			group_set(block, x->elements + x->starts[i], x->elements + x->starts[i + 1],
					  order + lane, by_row + lane);
		/* rows of a group lie beside each other */
		for (size_t lane = 0; lane < RACE_LANES; lane++)
			codes[lane] = by_row[lane % RACE_GROUP * RACE_GROUP + lane / RACE_GROUP];
		add_codes(keys, codes, sums);
	}
}

TARGET static void
sum_sets(const RaceHashBlock *block, const RaceColumn *x, size_t n, uint64_t *sums)
{
	for (uint32_t j = 0; j < block->power; j++)
	{
		if (block->interruptible)
			race_look_for_interrupts();
		if (block->sequence == RACE_SEQUENCE_GROUPED)
			sum_groups(block, x, n, j, sums);
		else
			for (size_t lane = 0; lane < RACE_LANES; lane += SET_VECTORS * VECTOR_LANES)
				sum_sets_tile(block, lane, x, n, j, sums);
	}
}

TARGET static void
sum_categories(const RaceHashBlock *block, const RaceColumn *x, size_t n, uint64_t *sums)
{
	const uint64_t *places = (const uint64_t *) block->coefficients;
	const uint64_t *keys = block->keys;
	uint64_t codes[RACE_LANES];

	for (uint32_t j = 0; j < block->power; j++, places += RACE_LANES, keys += 2 * RACE_LANES)
		for (size_t i = 0; i < n; i++)
		{
			const uint64_t *row = x->elements + i * block->width;

			for (size_t lane = 0; lane < RACE_LANES; lane++)
				codes[lane] = row[places[lane]];
			add_codes(keys, codes, sums + i * RACE_LANES);
		}
}

/* Reduce 64 bits to one of `range` buckets; the high bits decide. */
TARGET static void
reduce_sums(uint32_t range, const uint64_t *sums, size_t n, uint32_t *buckets)
{
	for (size_t i = 0; i < n * RACE_LANES; i += VECTOR_LANES)
		store_words(words_multiply(words_load(sums + i) >> 32, words_set(range)) >> 32,
					buckets + i);
}

/* ------------------------------------------------ structured projections */

/* Compute the butterflies of n vectors, at distance h: sums where bit h is 0, else differences. */
INLINE void
butterflies(Vector v[], int n, int h)
{
	UNROLL for (int i = 0; i < n; i++) if ((i & h) == 0 && (i | h) < n)
	{
		Vector a = v[i];
		Vector b = v[i | h];

		v[i] = a + b;
		v[i | h] = a - b;
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

/*
 * Return the butterflies within a vector.  To multiply by 1 or -1 is exact, fused or not: the
 * portable code may have no fast fma().
 */
INLINE Vector
butterflies_within(Vector v)
{
	static const double alternate[3][8] = {{1, -1, 1, -1, 1, -1, 1, -1},
										   {1, 1, -1, -1, 1, 1, -1, -1},
										   {1, 1, 1, 1, -1, -1, -1, -1}};

	UNROLL for (int i = 0; 1 << i < VECTOR_LANES; i++)
	{
		Vector signs = vector_load(alternate[i]);
		Vector other = vector_swap(v, 1 << i);

		v = VECTOR_LANES > 2 ? vector_fma(v, signs, other) : v * signs + other;
	}
	return v;
}

/* Compute the butterflies of n vectors whose numbers are `distance` apart. */
INLINE void
pass(double *z, size_t length, size_t distance, int n)
{
	for (size_t start = 0; start < length; start += n * distance)
		for (size_t i = start; i < start + distance; i += VECTOR_LANES)
		{
			Vector v[TRANSFORM_VECTORS];

			UNROLL for (int k = 0; k < n; k++) v[k] = vector_load(z + i + k * distance);
			butterflies_of_all(v, n);
			UNROLL for (int k = 0; k < n; k++) vector_store(z + i + k * distance, v[k]);
		}
}

/* Return -v in lane i where bit i is set. */
INLINE Vector
flip(Vector v, uint64_t bits)
{
	static const uint64_t places[8] = {63, 62, 61, 60, 59, 58, 57, 56};
	Words shifted = words_set(bits) << words_load(places);

	return (Vector) ((Words) v ^ (shifted & words_set(UINT64_C(1) << 63)));
}

/*
 * Flip signs and apply the Hadamard matrix: butterflies at distances 1, 2, 4 ..., in place.
 * The first ones are those of numbers that lie together.
 */
TARGET static void
transform(double *z, size_t length, const uint64_t *signs)
{
	const size_t first = TRANSFORM_VECTORS * VECTOR_LANES;
	size_t distance;

	for (size_t i = 0; i < length; i += first)
	{
		Vector v[TRANSFORM_VECTORS];

		UNROLL for (int k = 0; k < TRANSFORM_VECTORS; k++)
		{
			size_t at = i + k * VECTOR_LANES;

			v[k] = butterflies_within(flip(vector_load(z + at), signs[at / 64] >> at % 64));
		}
		butterflies_of_all(v, TRANSFORM_VECTORS);
		UNROLL for (int k = 0; k < TRANSFORM_VECTORS; k++)
			vector_store(z + i + k * VECTOR_LANES, v[k]);
	}
	/* bound: longer each time, up to the length */
	for (distance = first; distance * TRANSFORM_VECTORS <= length; distance *= TRANSFORM_VECTORS)
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

/* ----------------------------------------------------------- random bits */

/* Compute race_philox_bits() for RACE_LANES rows; philox.h has the rounds one by one. */
TARGET static void
philox_lanes(uint64_t seed, uint32_t stream, const uint64_t *rows, uint32_t function,
			 uint32_t element, uint64_t *bits)
{
	for (int lane = 0; lane < RACE_LANES; lane += VECTOR_LANES)
	{
		Words c0 = words_set(element);
		Words c1 = words_load(rows + lane);
		Words c2 = words_set(function);
		Words c3 = words_set(stream);

		UNROLL for (uint32_t round = 0; round < RACE_PHILOX_ROUNDS; round++)
		{
			Words p0 = words_multiply(words_set(RACE_PHILOX_M0), c0);
			Words p1 = words_multiply(words_set(RACE_PHILOX_M1), c2);
			Words k0 = words_set(race_philox_key(seed, 0, round));
			Words k1 = words_set(race_philox_key(seed, 1, round));

			/* only the low halves count */
			c0 = p1 >> 32 ^ c1 ^ k0;
			c2 = p0 >> 32 ^ c3 ^ k1;
			c1 = p1;
			c3 = p0;
		}
		c0 ^= c0 >> 32 << 32;
		words_store(bits + lane, c0 + (c1 << 32));
	}
}
