/*
 * hash_sets.h
 *		The part of hash_template.h for sets and rows of categories.
 */

/*
 * The place of an element in the random order of each row. The order is a
 * permutation of 64 bits: Philox2x32, with fewer rounds because elements are
 * already well mixed.
 *
 * In a round, with the words (low, high) and the product p of `high` and a constant, `low`
 * becomes the low word of p, and `high` its high word ^ low ^ the key of the round.  The words
 * lie in lanes of 64 bits, of which only the low halves count.  The last round puts both
 * into one lane: p has them in their places, but for what `high` is xored with.
 */
INLINE Words
place_in_order(Words low, Words high, Words key0, Words key1)
{
	Words		factor = words_set(RACE_ORDER_M);
	Words		key = words_xor(key0, words_set(RACE_ORDER_KEY));	/* once for all elements */
	Words		product;
	int			round;

	high = words_xor(high, key1);
	UNROLL for (round = 1; round < RACE_ORDER_ROUNDS; round++)
	{
		product = words_multiply(factor, high);
		high = words_xor3(words_high(product), low, key);
		low = product;
		key = words_set(RACE_ORDER_KEY * (round + 1));
	}
	product = words_multiply(factor, high);
	return words_xor3(product, words_raise(low), words_raise(key));
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
TARGET static void
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

/* The least places of elements in the orders of groups, as each row of a group has them */
INLINE void
least_in_groups(const uint64_t *next, const uint64_t *end, Words key0, Words key1, Words least[])
{
	for (; next < end; next++)
	{
		Words		low = words_set(*next);
		Words		place = place_in_order(low, words_high(low), key0, key1);

		UNROLL for (int k = 0; k < RACE_GROUP; k++)
			least[k] = words_least(least[k], words_xor(place, words_set(RACE_GROUP_TURN(k))));
	}
}

/* The codes of a set in some groups: row k of group g is codes[k * RACE_GROUP + g]. */
INLINE void
group_set(const RaceHashBlock *block, const uint64_t *next, const uint64_t *end,
		  const uint64_t *order, uint64_t codes[])
{
	Words		key0 = words_load(order);
	Words		key1 = words_load(order + RACE_LANES);
	Words		least[RACE_GROUP];

	UNROLL for (int k = 0; k < RACE_GROUP; k++)
		least[k] = words_set(UINT64_MAX);
	for (; block->interruptible && (size_t) (end - next) > RACE_STEP; next += RACE_STEP)
	{
		least_in_groups(next, next + RACE_STEP, key0, key1, least);
		race_look_for_interrupts();
	}
	least_in_groups(next, end, key0, key1, least);
	UNROLL for (int k = 0; k < RACE_GROUP; k++)
		words_store(codes + k * RACE_GROUP, least[k]);
}

/* The codes of a set in all rows of a block, where rows of a group lie beside each other */
TARGET static void
group_rows(const RaceHashBlock *block, const uint64_t *elements, size_t n,
		   const uint64_t *order, uint64_t codes[])
{
	uint64_t	by_row[RACE_LANES];
	size_t		lane;

	for (lane = 0; lane < RACE_LANES / RACE_GROUP; lane += VECTOR_LANES)
		group_set(block, elements, elements + n, order + lane, by_row + lane);
	for (lane = 0; lane < RACE_LANES; lane++)
		codes[lane] = by_row[lane % RACE_GROUP * RACE_GROUP + lane / RACE_GROUP];
}

/* Sequences that give the codes of a set in all rows of a block at once */
typedef void (*BlockCodes) (const RaceHashBlock *block, const uint64_t *elements, size_t n,
							const uint64_t *order, uint64_t codes[]);

TARGET static void
sum_blocks(const RaceHashBlock *block, const RaceColumn *x, size_t n, BlockCodes codes_of,
		   uint64_t *sums)
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
			codes_of(block, x->elements + x->starts[i], x->starts[i + 1] - x->starts[i], order, codes);
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

	if (block->sequence == RACE_SEQUENCE_PARTITION)
	{
		sum_blocks(block, x, n, partition_set, sums);
		return;
	}
	if (block->sequence == RACE_SEQUENCE_GROUPED)
	{
		sum_blocks(block, x, n, group_rows, sums);
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
