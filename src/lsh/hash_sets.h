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

/* Sequence "grouped": the codes of each set in all rows of a block */
INLINE void
sum_groups(const RaceHashBlock *block, const RaceColumn *x, size_t n, uint32_t j, uint64_t *sums)
{
	const uint64_t *order = (const uint64_t *) block->coefficients + (size_t) j * 2 * RACE_LANES;
	const uint64_t *keys = block->keys + (size_t) j * 2 * RACE_LANES;
	uint64_t	by_row[RACE_LANES];
	uint64_t	codes[RACE_LANES];
	size_t		lane;
	size_t		i;

	for (i = 0; i < n; i++, sums += RACE_LANES)
	{
		for (lane = 0; lane < RACE_LANES / RACE_GROUP; lane += VECTOR_LANES)
			group_set(block, x->elements + x->starts[i], x->elements + x->starts[i + 1],
					  order + lane, by_row + lane);
		/* rows of a group lie beside each other */
		for (lane = 0; lane < RACE_LANES; lane++)
			codes[lane] = by_row[lane % RACE_GROUP * RACE_GROUP + lane / RACE_GROUP];
		for (lane = 0; lane < RACE_LANES; lane += VECTOR_LANES)
			words_store(sums + lane, plus_code(words_load(sums + lane), keys + lane,
											   words_load(codes + lane)));
	}
}

TARGET static void
sum_sets(const RaceHashBlock *block, const RaceColumn *x, size_t n, uint64_t *sums)
{
	size_t		lane;
	uint32_t	j;

	for (j = 0; j < block->power; j++)
	{
		if (block->interruptible)
			race_look_for_interrupts();
		if (block->sequence == RACE_SEQUENCE_GROUPED)
			sum_groups(block, x, n, j, sums);
		else
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
