/*
 * hash_neon.c
 *		Records to buckets, with NEON (every 64-bit ARM).
 */
#include "hash.h"

#ifdef RACE_HAVE_NEON

#include <arm_neon.h>
#include <string.h>

#define TARGET
#define OPERATION		static inline __attribute__((always_inline))
#define VECTOR_LANES	2
#define TILE_VECTORS	4
#define TILE_RECORDS	4
#define SINGLE_VECTORS	8
#define SET_VECTORS		4
#define TRANSFORM_VECTORS	16

typedef float64x2_t Vector;
typedef uint64x2_t Words;

OPERATION Vector
vector_load(const double *p)
{
	return vld1q_f64(p);
}

OPERATION Vector
vector_set(double x)
{
	return vdupq_n_f64(x);
}

OPERATION Vector
vector_fma(Vector a, Vector b, Vector c)
{
	return vfmaq_f64(c, a, b);
}

/* comparisons with NaN are false, and choose the limit */
OPERATION Vector
vector_code(Vector v)
{
	Vector		low = vdupq_n_f64(-RACE_MAX_CODE);
	Vector		high = vdupq_n_f64(RACE_MAX_CODE);

	v = vrndmq_f64(v);
	v = vbslq_f64(vcgtq_f64(v, low), v, low);
	return vbslq_f64(vcltq_f64(v, high), v, high);
}

OPERATION Vector
vector_sign(Vector v)
{
	return vbslq_f64(vcgeq_f64(v, vdupq_n_f64(0)), vdupq_n_f64(1), vdupq_n_f64(0));
}

OPERATION void
vector_store(double *p, Vector v)
{
	vst1q_f64(p, v);
}

OPERATION Vector
vector_plus(Vector a, Vector b)
{
	return vaddq_f64(a, b);
}

OPERATION Vector
vector_minus(Vector a, Vector b)
{
	return vsubq_f64(a, b);
}

OPERATION Vector
vector_flip(Vector v, uint64_t bits)
{
	const int64x2_t places = {63, 62};
	uint64x2_t	shifted = vshlq_u64(vdupq_n_u64(bits), places);

	shifted = vandq_u64(shifted, vdupq_n_u64(UINT64_C(1) << 63));
	return vreinterpretq_f64_u64(veorq_u64(vreinterpretq_u64_f64(v), shifted));
}

OPERATION Vector
vector_swap(Vector v, int h)
{
	(void) h;					/* there is only one */
	return vextq_f64(v, v, 1);
}

OPERATION void
store_fold(Vector code, Vector range, Vector inverse, uint32_t *buckets)
{
	Vector		quotient = vrndmq_f64(vmulq_f64(code, inverse));
	Vector		rest = vfmsq_f64(code, quotient, range);

	rest = vbslq_f64(vcgeq_f64(rest, range), vsubq_f64(rest, range), rest);
	vst1_u32(buckets, vmovn_u64(vcvtq_u64_f64(rest)));
}

OPERATION Words
words_load(const uint64_t *p)
{
	return vld1q_u64(p);
}

OPERATION void
words_store(uint64_t *p, Words words)
{
	vst1q_u64(p, words);
}

OPERATION Words
words_set(uint64_t x)
{
	return vdupq_n_u64(x);
}

OPERATION Words
words_xor(Words a, Words b)
{
	return veorq_u64(a, b);
}

OPERATION Words
words_xor3(Words a, Words b, Words c)
{
	return words_xor(words_xor(a, b), c);
}

OPERATION Words
words_plus(Words a, Words b)
{
	return vaddq_u64(a, b);
}

OPERATION Words
words_multiply(Words a, Words b)
{
	return vmull_u32(vmovn_u64(a), vmovn_u64(b));
}

OPERATION Words
words_high(Words a)
{
	return vshrq_n_u64(a, 32);
}

OPERATION Words
words_raise(Words a)
{
	return vshlq_n_u64(a, 32);
}

OPERATION Words
words_least(Words a, Words b)
{
	return vbslq_u64(vcgtq_u64(a, b), b, a);
}

OPERATION Words
words_gather(const uint64_t *p, Words index)
{
	return vcombine_u64(vld1_u64(p + vgetq_lane_u64(index, 0)),
						vld1_u64(p + vgetq_lane_u64(index, 1)));
}

OPERATION Words
words_of(Vector code)
{
	return vreinterpretq_u64_f64(vaddq_f64(code, vdupq_n_f64(RACE_INTEGER_SHIFT)));
}

OPERATION void
store_mask(Vector code, uint32_t range, uint32_t *buckets)
{
	vst1_u32(buckets, vand_u32(vmovn_u64(words_of(code)), vdup_n_u32(range - 1)));
}

OPERATION void
store_words(Words words, uint32_t *buckets)
{
	vst1_u32(buckets, vmovn_u64(words));
}

#include "hash_template.h"

static bool
available(void)
{
	return true;
}

const RaceHashPath race_hash_neon = {"neon", available, RACE_HASH_FUNCTIONS};

#endif							/* RACE_HAVE_NEON */
