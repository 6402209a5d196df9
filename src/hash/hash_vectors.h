/*
 * hash_vectors.h
 *		Vectors of doubles and of 64-bit integers, for the code of one instruction set
 * (hash_template.h).  Each hash_*.c includes this once.
 */
#define INLINE TARGET static inline __attribute__((always_inline))

/* Copies of a loop body whose indices are constants, so sums are registers */
#define UNROLL _Pragma("GCC unroll 16")

typedef double Vector __attribute__((vector_size(8 * VECTOR_LANES)));
typedef uint64_t Words __attribute__((vector_size(8 * VECTOR_LANES)));

INLINE Vector
vector_load(const double *p)
{
	Vector v;

	memcpy(&v, p, sizeof(v));
	return v;
}

INLINE void
vector_store(double *p, Vector v)
{
	memcpy(p, &v, sizeof(v));
}

/* Return a vector of one number.  To subtract 0 changes nothing, -0 neither. */
INLINE Vector
vector_set(double x)
{
	return x - (Vector){0};
}

INLINE Words
words_load(const uint64_t *p)
{
	Words words;

	memcpy(&words, p, sizeof(words));
	return words;
}

/* Load the same of integers of 32 bits. */
INLINE Words
words_widen(const uint32_t *p)
{
	Words words = {0};

	UNROLL for (int i = 0; i < VECTOR_LANES; i++) words[i] = p[i];
	return words;
}

INLINE void
words_store(uint64_t *p, Words words)
{
	memcpy(p, &words, sizeof(words));
}

INLINE Words
words_set(uint64_t x)
{
	return x + (Words){0};
}
