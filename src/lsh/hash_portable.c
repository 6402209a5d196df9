/*
 * hash_portable.c
 *		Records to buckets, in plain C.
 */
#include "hash.h"

#include <math.h>
#include <string.h>

#define TARGET
#define VECTOR_LANES	1
#define TILE_VECTORS	4
#define TILE_RECORDS	2
#define SINGLE_VECTORS	8
#define SET_VECTORS		4
#define TRANSFORM_VECTORS	8

typedef double Vector;
typedef uint64_t Words;

static inline Vector
vector_load(const double *p)
{
	return *p;
}

static inline Vector
vector_set(double x)
{
	return x;
}

static inline Vector
vector_fma(Vector a, Vector b, Vector c)
{
	return fma(a, b, c);
}

static inline Vector
vector_code(Vector v)
{
	v = floor(v);
	v = v > -RACE_MAX_CODE ? v : -RACE_MAX_CODE;
	return v < RACE_MAX_CODE ? v : RACE_MAX_CODE;
}

static inline Vector
vector_sign(Vector v)
{
	return v >= 0 ? 1 : 0;
}

static inline void
vector_store(double *p, Vector v)
{
	*p = v;
}

static inline Vector
vector_plus(Vector a, Vector b)
{
	return a + b;
}

static inline Vector
vector_minus(Vector a, Vector b)
{
	return a - b;
}

static inline Vector
vector_flip(Vector v, uint64_t bits)
{
	return (bits & 1) != 0 ? -v : v;
}

/* A vector of one lane has none to swap. */
static inline Vector
vector_swap(Vector v, int h)
{
	(void) h;
	return v;
}

/*
 * For a multiple of range the quotient may be one too small, which is corrected
 * here. It is never too large, because codes are below 2^52.
 */
static inline void
store_fold(Vector code, Vector range, Vector inverse, uint32_t *bucket)
{
	double		rest = fma(-floor(code * inverse), range, code);

	*bucket = (uint32_t) (rest >= range ? rest - range : rest);
}

static inline Words
words_load(const uint64_t *p)
{
	return *p;
}

static inline void
words_store(uint64_t *p, Words words)
{
	*p = words;
}

static inline Words
words_set(uint64_t x)
{
	return x;
}

static inline Words
words_xor(Words a, Words b)
{
	return a ^ b;
}

static inline Words
words_xor3(Words a, Words b, Words c)
{
	return a ^ b ^ c;
}

static inline Words
words_plus(Words a, Words b)
{
	return a + b;
}

static inline Words
words_multiply(Words a, Words b)
{
	return (a & 0xFFFFFFFF) * (b & 0xFFFFFFFF);
}

static inline Words
words_high(Words a)
{
	return a >> 32;
}

static inline Words
words_raise(Words a)
{
	return a << 32;
}

static inline Words
words_least(Words a, Words b)
{
	return a < b ? a : b;
}

static inline Words
words_gather(const uint64_t *p, Words index)
{
	return p[index];
}

static inline Words
words_of(Vector code)
{
	Words		words;

	code += RACE_INTEGER_SHIFT;
	memcpy(&words, &code, sizeof(words));
	return words;
}

static inline void
store_mask(Vector code, uint32_t range, uint32_t *bucket)
{
	*bucket = (uint32_t) words_of(code) & (range - 1);
}

static inline void
store_words(Words words, uint32_t *bucket)
{
	*bucket = (uint32_t) words;
}

#include "hash_template.h"

static bool
available(void)
{
	return true;
}

const RaceHashPath race_hash_portable = {"portable", available, RACE_HASH_FUNCTIONS};
