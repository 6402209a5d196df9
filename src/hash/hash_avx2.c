/*
 * hash_avx2.c
 *		Records to buckets, with AVX2 and FMA.
 */
#include "hash/hash_path.h"

#ifdef RACE_HAVE_X86

#include <immintrin.h>

#define TARGET __attribute__((target("avx2,fma")))
#define VECTOR_LANES 4
#define TILE_RECORDS 6
#define TRANSFORM_VECTORS 8

#include "hash/hash_vectors.h"

INLINE Vector
vector_fma(Vector a, Vector b, Vector c)
{
	return _mm256_fmadd_pd(a, b, c);
}

INLINE Vector
vector_floor(Vector v)
{
	return _mm256_floor_pd(v);
}

/* Clamp a vector.  max and min return their second operand when the first is NaN. */
INLINE Vector
vector_clamp(Vector v, double limit)
{
	return _mm256_min_pd(_mm256_max_pd(v, vector_set(-limit)), vector_set(limit));
}

INLINE Vector
vector_swap(Vector v, int h)
{
	return h == 1 ? _mm256_permute_pd(v, 5) : _mm256_permute2f128_pd(v, v, 1);
}

INLINE Words
words_multiply(Words a, Words b)
{
	return (Words) _mm256_mul_epu32((__m256i) a, (__m256i) b);
}

/* Return the smaller words.  AVX2 has only a signed comparison. */
INLINE Words
words_least(Words a, Words b)
{
	Words top = words_set(UINT64_C(1) << 63);
	__m256i greater = _mm256_cmpgt_epi64((__m256i) (a ^ top), (__m256i) (b ^ top));

	return (Words) _mm256_blendv_epi8((__m256i) a, (__m256i) b, greater);
}

INLINE void
store_words(Words words, uint32_t *buckets)
{
	__m256i order = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
	__m256i low = _mm256_permutevar8x32_epi32((__m256i) words, order);

	_mm_storeu_si128((__m128i *) buckets, _mm256_castsi256_si128(low));
}

#include "hash/hash_template.h"

static bool
available(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

const RaceHashPath race_hash_avx2 = {"avx2", available, RACE_HASH_FUNCTIONS};

#endif /* RACE_HAVE_X86 */
