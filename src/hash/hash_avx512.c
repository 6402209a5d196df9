/*
 * hash_avx512.c
 *		Records to buckets, with AVX-512.
 */
#include "hash/hash_path.h"

#ifdef RACE_HAVE_X86

#include <immintrin.h>

#define TARGET __attribute__((target("avx2,fma,avx512f,avx512vl")))
#define VECTOR_LANES 8
#define TILE_RECORDS 8
#define TRANSFORM_VECTORS 16

#include "hash/hash_vectors.h"

INLINE Vector
vector_fma(Vector a, Vector b, Vector c)
{
	return _mm512_fmadd_pd(a, b, c);
}

INLINE Vector
vector_floor(Vector v)
{
	return _mm512_roundscale_pd(v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}

/* Clamp a vector.  max and min return their second operand when the first is NaN. */
INLINE Vector
vector_clamp(Vector v, double limit)
{
	return _mm512_min_pd(_mm512_max_pd(v, vector_set(-limit)), vector_set(limit));
}

INLINE Vector
vector_swap(Vector v, int h)
{
	return h == 1 ? _mm512_permute_pd(v, 0x55) :
		h == 2    ? _mm512_permutex_pd(v, 0x4E) :
					_mm512_shuffle_f64x2(v, v, 0x4E);
}

INLINE Words
words_multiply(Words a, Words b)
{
	return (Words) _mm512_mul_epu32((__m512i) a, (__m512i) b);
}

INLINE Words
words_least(Words a, Words b)
{
	return (Words) _mm512_min_epu64((__m512i) a, (__m512i) b);
}

INLINE void
store_words(Words words, uint32_t *buckets)
{
	_mm256_storeu_si256((__m256i *) buckets, _mm512_cvtepi64_epi32((__m512i) words));
}

#include "hash/hash_template.h"

static bool
available(void)
{
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
		__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

const RaceHashPath race_hash_avx512 = {"avx512", available, RACE_HASH_FUNCTIONS};

#endif /* RACE_HAVE_X86 */
