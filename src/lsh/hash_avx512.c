/*
 * hash_avx512.c
 *		Records to buckets, with AVX-512.
 */
#include "hash.h"

#ifdef RACE_HAVE_X86

#include <immintrin.h>
#include <string.h>

#define TARGET			__attribute__((target("avx2,fma,avx512f,avx512vl")))
#define OPERATION		TARGET static inline __attribute__((always_inline))
#define VECTOR_LANES	8
#define TILE_VECTORS	2
#define TILE_RECORDS	8
#define SINGLE_VECTORS	8
#define SET_VECTORS		4
#define TRANSFORM_VECTORS	16

#define FLOOR			(_MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)

typedef __m512d Vector;
typedef __m512i Words;

OPERATION Vector
vector_load(const double *p)
{
	return _mm512_loadu_pd(p);
}

OPERATION Vector
vector_set(double x)
{
	return _mm512_set1_pd(x);
}

OPERATION Vector
vector_fma(Vector a, Vector b, Vector c)
{
	return _mm512_fmadd_pd(a, b, c);
}

/* max and min return their second operand when the first is NaN */
OPERATION Vector
vector_code(Vector v)
{
	v = _mm512_roundscale_pd(v, FLOOR);
	v = _mm512_max_pd(v, _mm512_set1_pd(-RACE_MAX_CODE));
	return _mm512_min_pd(v, _mm512_set1_pd(RACE_MAX_CODE));
}

OPERATION Vector
vector_sign(Vector v)
{
	return _mm512_maskz_mov_pd(_mm512_cmp_pd_mask(v, _mm512_setzero_pd(), _CMP_GE_OQ),
							   _mm512_set1_pd(1));
}

OPERATION void
vector_store(double *p, Vector v)
{
	_mm512_storeu_pd(p, v);
}

OPERATION Vector
vector_plus(Vector a, Vector b)
{
	return _mm512_add_pd(a, b);
}

OPERATION Vector
vector_minus(Vector a, Vector b)
{
	return _mm512_sub_pd(a, b);
}

OPERATION Vector
vector_flip(Vector v, uint64_t bits)
{
	__m512i		words = _mm512_castpd_si512(v);

	return _mm512_castsi512_pd(_mm512_mask_xor_epi64(words, (__mmask8) bits, words,
													 _mm512_set1_epi64(INT64_MIN)));
}

OPERATION Vector
vector_swap(Vector v, int h)
{
	return h == 1 ? _mm512_permute_pd(v, 0x55) :
		h == 2 ? _mm512_permutex_pd(v, 0x4E) : _mm512_shuffle_f64x2(v, v, 0x4E);
}

OPERATION void
store_fold(Vector code, Vector range, Vector inverse, uint32_t *buckets)
{
	Vector		quotient = _mm512_roundscale_pd(_mm512_mul_pd(code, inverse),
												FLOOR);
	Vector		rest = _mm512_fnmadd_pd(quotient, range, code);

	rest = _mm512_mask_sub_pd(rest, _mm512_cmp_pd_mask(rest, range, _CMP_GE_OQ),
							  rest, range);
	_mm256_storeu_si256((__m256i *) buckets, _mm512_cvttpd_epi32(rest));
}

OPERATION Words
words_load(const uint64_t *p)
{
	return _mm512_loadu_si512(p);
}

OPERATION void
words_store(uint64_t *p, Words words)
{
	_mm512_storeu_si512(p, words);
}

OPERATION Words
words_set(uint64_t x)
{
	return _mm512_set1_epi64((int64_t) x);
}

OPERATION Words
words_xor(Words a, Words b)
{
	return _mm512_xor_si512(a, b);
}

OPERATION Words
words_xor3(Words a, Words b, Words c)
{
	return _mm512_ternarylogic_epi64(a, b, c, 0x96);
}

OPERATION Words
words_plus(Words a, Words b)
{
	return _mm512_add_epi64(a, b);
}

OPERATION Words
words_multiply(Words a, Words b)
{
	return _mm512_mul_epu32(a, b);
}

OPERATION Words
words_high(Words a)
{
	return _mm512_srli_epi64(a, 32);
}

OPERATION Words
words_raise(Words a)
{
	return _mm512_slli_epi64(a, 32);
}

OPERATION Words
words_least(Words a, Words b)
{
	return _mm512_min_epu64(a, b);
}

OPERATION Words
words_gather(const uint64_t *p, Words index)
{
	return _mm512_i64gather_epi64(index, p, 8);
}

OPERATION Words
words_of(Vector code)
{
	return _mm512_castpd_si512(_mm512_add_pd(code, _mm512_set1_pd(RACE_INTEGER_SHIFT)));
}

OPERATION void
store_mask(Vector code, uint32_t range, uint32_t *buckets)
{
	__m256i		words = _mm512_cvtepi64_epi32(words_of(code));

	_mm256_storeu_si256((__m256i *) buckets,
						_mm256_and_si256(words, _mm256_set1_epi32((int) (range - 1))));
}

OPERATION void
store_words(Words words, uint32_t *buckets)
{
	_mm256_storeu_si256((__m256i *) buckets, _mm512_cvtepi64_epi32(words));
}

#include "hash_template.h"

static bool
available(void)
{
	return __builtin_cpu_supports("avx512f") &&
		__builtin_cpu_supports("avx512vl") &&
		__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

const RaceHashPath race_hash_avx512 = {"avx512", available, RACE_HASH_FUNCTIONS};

#endif							/* RACE_HAVE_X86 */
