/*
 * hash_neon.c
 *		Vectors to buckets, with NEON (every 64-bit ARM).
 */
#include "hash.h"

#ifdef RACE_HAVE_NEON

#include <arm_neon.h>

#define TARGET
#define OPERATION		static inline __attribute__((always_inline))
#define VECTOR_LANES	2
#define TILE_VECTORS	4
#define TILE_RECORDS	4
#define SINGLE_VECTORS	8

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

/* key * word mod 2^64 */
OPERATION Words
product(Words key, uint32x2_t word)
{
	Words		high = vmull_u32(vshrn_n_u64(key, 32), word);

	return vaddq_u64(vmull_u32(vmovn_u64(key), word), vshlq_n_u64(high, 32));
}

OPERATION Words
words_add(Words sums, Words keys_low, Words keys_high, Words words)
{
	sums = vaddq_u64(sums, product(keys_low, vmovn_u64(words)));
	return vaddq_u64(sums, product(keys_high, vshrn_n_u64(words, 32)));
}

OPERATION void
store_scaled(Words sums, uint32_t range, uint32_t *buckets)
{
	vst1_u32(buckets, vshrn_n_u64(vmull_u32(vshrn_n_u64(sums, 32),
											vdup_n_u32(range)), 32));
}

#include "hash_template.h"

static bool
available(void)
{
	return true;
}

const RaceHashPath race_hash_neon = {available, hash_block};

#endif							/* RACE_HAVE_NEON */
