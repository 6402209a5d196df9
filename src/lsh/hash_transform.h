/*
 * hash_transform.h
 *		The part of hash_template.h for structured projections (structured.h): signs and
 *		Hadamard transforms.
 */

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
