/*
 * hash_avx2.c
 *		Records to buckets, with AVX2 and FMA.
 */
#include "hash.h"

#ifdef RACE_HAVE_X86

#include <immintrin.h>
#include <string.h>

#define TARGET			__attribute__((target("avx2,fma")))
#define OPERATION		TARGET static inline __attribute__((always_inline))
#define VECTOR_LANES	4
#define TILE_VECTORS	2
#define TILE_RECORDS	6
#define SINGLE_VECTORS	8
#define SET_VECTORS		4
#define TRANSFORM_VECTORS	8

typedef __m256d Vector;
typedef __m256i Words;

OPERATION Vector
vector_load(const double *p)
{
	return _mm256_loadu_pd(p);
}

OPERATION Vector
vector_set(double x)
{
	return _mm256_set1_pd(x);
}

OPERATION Vector
vector_fma(Vector a, Vector b, Vector c)
{
	return _mm256_fmadd_pd(a, b, c);
}

/* max and min return their second operand when the first is NaN */
OPERATION Vector
vector_code(Vector v)
{
	v = _mm256_max_pd(_mm256_floor_pd(v), _mm256_set1_pd(-RACE_MAX_CODE));
	return _mm256_min_pd(v, _mm256_set1_pd(RACE_MAX_CODE));
}

OPERATION Vector
vector_sign(Vector v)
{
	return _mm256_and_pd(_mm256_cmp_pd(v, _mm256_setzero_pd(), _CMP_GE_OQ),
						 _mm256_set1_pd(1));
}

OPERATION void
vector_store(double *p, Vector v)
{
	_mm256_storeu_pd(p, v);
}

OPERATION Vector
vector_plus(Vector a, Vector b)
{
	return _mm256_add_pd(a, b);
}

OPERATION Vector
vector_minus(Vector a, Vector b)
{
	return _mm256_sub_pd(a, b);
}

OPERATION Vector
vector_flip(Vector v, uint64_t bits)
{
	__m256i		shifted = _mm256_sllv_epi64(_mm256_set1_epi64x((int64_t) bits),
											_mm256_setr_epi64x(63, 62, 61, 60));

	return _mm256_xor_pd(v, _mm256_and_pd(_mm256_castsi256_pd(shifted),
										  _mm256_set1_pd(-0.0)));
}

OPERATION Vector
vector_swap(Vector v, int h)
{
	return h == 1 ? _mm256_permute_pd(v, 5) : _mm256_permute2f128_pd(v, v, 1);
}

OPERATION void
store_fold(Vector code, Vector range, Vector inverse, uint32_t *buckets)
{
	Vector		quotient = _mm256_floor_pd(_mm256_mul_pd(code, inverse));
	Vector		rest = _mm256_fnmadd_pd(quotient, range, code);
	Vector		excess = _mm256_and_pd(_mm256_cmp_pd(rest, range, _CMP_GE_OQ), range);

	_mm_storeu_si128((__m128i *) buckets,
					 _mm256_cvttpd_epi32(_mm256_sub_pd(rest, excess)));
}

OPERATION Words
words_load(const uint64_t *p)
{
	return _mm256_loadu_si256((const __m256i *) p);
}

OPERATION void
words_store(uint64_t *p, Words words)
{
	_mm256_storeu_si256((__m256i *) p, words);
}

OPERATION Words
words_set(uint64_t x)
{
	return _mm256_set1_epi64x((int64_t) x);
}

OPERATION Words
words_xor(Words a, Words b)
{
	return _mm256_xor_si256(a, b);
}

OPERATION Words
words_xor3(Words a, Words b, Words c)
{
	return words_xor(words_xor(a, b), c);
}

OPERATION Words
words_plus(Words a, Words b)
{
	return _mm256_add_epi64(a, b);
}

OPERATION Words
words_multiply(Words a, Words b)
{
	return _mm256_mul_epu32(a, b);
}

OPERATION Words
words_high(Words a)
{
	return _mm256_srli_epi64(a, 32);
}

OPERATION Words
words_raise(Words a)
{
	return _mm256_slli_epi64(a, 32);
}

/* AVX2 has only a signed comparison */
OPERATION Words
words_least(Words a, Words b)
{
	Words		top = words_set(UINT64_C(1) << 63);
	Words		greater = _mm256_cmpgt_epi64(words_xor(a, top), words_xor(b, top));

	return _mm256_blendv_epi8(a, b, greater);
}

OPERATION Words
words_gather(const uint64_t *p, Words index)
{
	return _mm256_i64gather_epi64((const long long *) p, index, 8);
}

OPERATION Words
words_of(Vector code)
{
	return _mm256_castpd_si256(_mm256_add_pd(code, _mm256_set1_pd(RACE_INTEGER_SHIFT)));
}

/* the low 32 bits of each word */
OPERATION __m128i
low_words(Words words)
{
	Words		order = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);

	return _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(words, order));
}

OPERATION void
store_mask(Vector code, uint32_t range, uint32_t *buckets)
{
	_mm_storeu_si128((__m128i *) buckets,
					 _mm_and_si128(low_words(words_of(code)),
								   _mm_set1_epi32((int) (range - 1))));
}

OPERATION void
store_words(Words words, uint32_t *buckets)
{
	_mm_storeu_si128((__m128i *) buckets, low_words(words));
}

#include "hash_template.h"

static bool
available(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

const RaceHashPath race_hash_avx2 = {"avx2", available, RACE_HASH_FUNCTIONS};

#endif							/* RACE_HAVE_X86 */
