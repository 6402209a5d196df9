/*
 * hash_portable.c
 *		Records to buckets, for any machine: with NEON on 64-bit ARM, else in plain C.
 */
#include <math.h>

#include "hash/hash_path.h"

#ifdef __aarch64__
#include <arm_neon.h>
#endif
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define TARGET
#define VECTOR_LANES 2
#define TILE_RECORDS 4
#define TRANSFORM_VECTORS 8

#include "hash/hash_vectors.h"

INLINE Vector
vector_fma(Vector a, Vector b, Vector c)
{
#ifdef __aarch64__
	return (Vector) vfmaq_f64((float64x2_t) c, (float64x2_t) a, (float64x2_t) b);
#else
	return (Vector){fma(a[0], b[0], c[0]), fma(a[1], b[1], c[1])};
#endif
}

INLINE Vector
vector_floor(Vector v)
{
#ifdef __aarch64__
	return (Vector) vrndmq_f64((float64x2_t) v);
#else
	return (Vector){floor(v[0]), floor(v[1])};
#endif
}

/* Clamp a vector.  Comparisons with NaN are false, and choose the limit. */
INLINE Vector
vector_clamp(Vector v, double limit)
{
	UNROLL for (int i = 0; i < VECTOR_LANES; i++)
	{
		v[i] = v[i] > -limit ? v[i] : -limit;
		v[i] = v[i] < limit ? v[i] : limit;
	}
	return v;
}

INLINE Vector
vector_swap(Vector v, int h)
{
	(void) h; /* there is only one */
	return (Vector){v[1], v[0]};
}

INLINE Words
words_multiply(Words a, Words b)
{
#ifdef __SSE2__
	return (Words) _mm_mul_epu32((__m128i) a, (__m128i) b);
#elif defined(__aarch64__)
	return (Words) vmull_u32(vmovn_u64((uint64x2_t) a), vmovn_u64((uint64x2_t) b));
#else
	return (a & words_set(UINT32_MAX)) * (b & words_set(UINT32_MAX));
#endif
}

INLINE Words
words_least(Words a, Words b)
{
	return (Words){a[0] < b[0] ? a[0] : b[0], a[1] < b[1] ? a[1] : b[1]};
}

INLINE void
store_words(Words words, uint32_t *buckets)
{
	buckets[0] = (uint32_t) words[0];
	buckets[1] = (uint32_t) words[1];
}

#include "hash/hash_template.h"

static bool
available(void)
{
	return true;
}

const RaceHashPath race_hash_portable = {"portable", available, RACE_HASH_FUNCTIONS};
