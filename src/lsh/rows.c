/*
 * rows.c
 *		Row functions: drawn from the seed, applied to a vector.
 *
 * A row's code is floor(a.x / w + b): a is standard normal, b uniform in
 * [0, 1).  The code goes to one of `range` buckets, by one of two ways.
 *
 * fold: code mod range.  Neighbouring codes stay apart, so nothing needs
 * correction as long as vectors within reach of the kernel span fewer than
 * `range` codes: from range 16 on the bias is below 7.5e-4 of k for distances up
 * to range / 4 bandwidths (range 8: 9e-4, 4: 2e-3), and grows beyond, where k
 * itself is near 0.
 *
 * multilinear: the words w1 ... wm of the codes of all `power` functions go to
 * (k0 + sum of ki wi mod 2^64) / 2^32, which is strongly universal (Lemire &
 * Kaser 2014), and from there to bucket floor(that * range / 2^32).  Two
 * different codes meet with probability 1 / range: exactly for a power of
 * two, else within (range / 2^33)^2 of it, relatively.  Estimates correct
 * for that.
 *
 * Vector code runs across rows (a lane is a row), so the width of a vector
 * never changes the order of a sum.
 */
#include "lsh.h"

#include <math.h>
#include <string.h>

#include "normal.h"
#include "philox.h"
#include "sobol.h"

static size_t
stride_of(const RaceParams *params)
{
	return ((size_t) params->rows + RACE_LANES - 1) / RACE_LANES * RACE_LANES;
}

/* words of 32 bits that the codes of a row's functions have, and one key more */
static size_t
keys_of(const RaceParams *params)
{
	if (params->rehash != RACE_REHASH_MULTILINEAR)
		return 0;
	return 1 + 2 * (size_t) params->power;
}

static size_t
coefficients_of(const RaceParams *params)
{
	return (size_t) params->power * (params->dims + 1);
}

size_t
race_rows_size(const RaceParams *params)
{
	/* far below 2^63 for any rows, within the limits of dims and power */
	return sizeof(RaceRows) + 8 * stride_of(params) *
		(coefficients_of(params) + keys_of(params));
}

void
race_rows_init(RaceRows *rows, const RaceParams *params)
{
	memset(rows, 0, sizeof(RaceRows));
	rows->params = *params;
	rows->stride = stride_of(params);
	rows->coefficients = (double *) (rows + 1);
	rows->keys = (uint64_t *) (rows->coefficients +
							   coefficients_of(params) * rows->stride);
}

/* 2^-52 (bits + 1/2): in (0, 1), symmetric, never rounded */
static double
open_uniform(uint64_t bits)
{
	return ((double) (bits >> 12) + 0.5) * 0x1p-52;
}

/* 2^-53 bits: in [0, 1) */
static double
half_open_uniform(uint64_t bits)
{
	return (double) (bits >> 11) * 0x1p-53;
}

/*
 * 64 random bits for function j of row r: element 0 is its offset, 1 to dims
 * its projection
 */
static uint64_t
element_bits(const RaceParams *params, uint32_t r, uint32_t j, uint32_t element)
{
	if (params->sequence == RACE_SEQUENCE_SOBOL)
		return race_sobol_bits(params->seed, j * (params->dims + 1) + element, r);
	return race_philox_bits(params->seed, RACE_STREAM_FUNCTION, r, j, element);
}

/* Function j of row r: its offset and projection */
static void
generate_function(RaceRows *rows, uint32_t r, uint32_t j)
{
	const RaceParams *params = &rows->params;
	double	   *c = rows->coefficients + r +
		(size_t) j * (params->dims + 1) * rows->stride;
	uint32_t	i;

	*c = half_open_uniform(element_bits(params, r, j, 0));
	for (i = 1; i <= params->dims; i++)
	{
		double		u = open_uniform(element_bits(params, r, j, i));

		c += rows->stride;
		*c = race_inverse_normal(u) / params->bandwidth;
	}
}

static void
generate_keys(RaceRows *rows, uint32_t r)
{
	uint32_t	i;

	for (i = 0; i < keys_of(&rows->params); i++)
		rows->keys[i * rows->stride + r] =
			race_philox_bits(rows->params.seed, RACE_STREAM_REHASH, r, 0, i);
}

void
race_rows_generate(RaceRows *rows, uint64_t from, uint64_t to)
{
	uint32_t	power = rows->params.power;
	uint64_t	f;

	for (f = from; f < to; f++)
	{
		generate_function(rows, f / power, f % power);
		if (f % power == 0)
			generate_keys(rows, f / power);
	}
}

/* codes[] = saturated floor(offset + sum of coefficient * x), RACE_LANES rows */
static inline __attribute__((always_inline)) void
project(const double *c, size_t stride, const double *x, uint32_t dims,
		double *codes)
{
	double		sum[RACE_LANES];
	uint32_t	i;
	int			lane;

	memcpy(sum, c, sizeof(sum));
	for (i = 0; i < dims; i++)
	{
		double		xi = x[i];

		c += stride;
		for (lane = 0; lane < RACE_LANES; lane++)
			sum[lane] = __builtin_fma(c[lane], xi, sum[lane]);
	}
	for (lane = 0; lane < RACE_LANES; lane++)
	{
		double		code = __builtin_floor(sum[lane]);

		/* in this order NaN, from infinities that met, saturates too */
		code = code > -RACE_MAX_CODE ? code : -RACE_MAX_CODE;
		codes[lane] = code < RACE_MAX_CODE ? code : RACE_MAX_CODE;
	}
}

static inline __attribute__((always_inline)) void
fold(const double *codes, double range, uint32_t *buckets)
{
	double		inverse = 1 / range;
	int			lane;

	for (lane = 0; lane < RACE_LANES; lane++)
	{
		/*
		 * For a multiple of range the quotient may come out one too small, and
		 * is mended; never too large, as codes are below 2^52.
		 */
		double		quotient = __builtin_floor(codes[lane] * inverse);
		double		rest = __builtin_fma(-quotient, range, codes[lane]);

		rest = rest >= range ? rest - range : rest;
		buckets[lane] = (uint32_t) (int32_t) rest;
	}
}

/* add the two words of each code, times their keys, to sums */
static inline __attribute__((always_inline)) void
multilinear_add(const double *codes, const uint64_t *keys, size_t stride,
				uint64_t *sums)
{
	int			lane;

	for (lane = 0; lane < RACE_LANES; lane++)
	{
		/* adding 1.5 * 2^52 shifts the integer into the low bits, exactly */
		double		shifted = codes[lane] + 6755399441055744.0;
		uint64_t	bits;

		memcpy(&bits, &shifted, sizeof(bits));
		sums[lane] += keys[lane] * (uint32_t) bits +
			keys[stride + lane] * (bits >> 32);
	}
}

static inline __attribute__((always_inline)) void
hash_block(const RaceRows *rows, size_t base, const double *x,
		   uint32_t *buckets)
{
	const RaceParams *params = &rows->params;
	size_t		stride = rows->stride;
	const double *c = rows->coefficients + base;
	double		codes[RACE_LANES];
	uint64_t	sums[RACE_LANES];
	uint32_t	j;
	int			lane;

	if (params->rehash == RACE_REHASH_FOLD)
	{
		project(c, stride, x, params->dims, codes);
		fold(codes, params->range, buckets);
		return;
	}

	memcpy(sums, rows->keys + base, sizeof(sums));
	for (j = 0; j < params->power; j++)
	{
		project(c + j * stride * (params->dims + 1), stride, x, params->dims,
				codes);
		multilinear_add(codes, rows->keys + base + (1 + 2 * (size_t) j) * stride,
						stride, sums);
	}
	for (lane = 0; lane < RACE_LANES; lane++)
		buckets[lane] = (uint32_t) ((sums[lane] >> 32) * params->range >> 32);
}

static inline __attribute__((always_inline)) void
hash_blocks(const RaceRows *rows, const double *x, uint32_t *buckets)
{
	size_t		base;

	for (base = 0; base < rows->stride; base += RACE_LANES)
		hash_block(rows, base, x, buckets + base);
}

/*
 * The same code for several instruction sets, all with the same bits; the
 * best that this machine has is chosen when it is first needed.
 */
static void
hash_portable(const RaceRows *rows, const double *x, uint32_t *buckets)
{
	hash_blocks(rows, x, buckets);
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2,fma")))
static void
hash_avx2(const RaceRows *rows, const double *x, uint32_t *buckets)
{
	hash_blocks(rows, x, buckets);
}

__attribute__((target("avx512f,avx512dq,avx512vl,avx2,fma")))
static void
hash_avx512(const RaceRows *rows, const double *x, uint32_t *buckets)
{
	hash_blocks(rows, x, buckets);
}
#endif

typedef void (*HashFunction) (const RaceRows *, const double *, uint32_t *);

const char *const race_hash_paths[] = {
	"portable",
#if defined(__x86_64__) && defined(__GNUC__)
	"avx2",
	"avx512",
#endif
	NULL
};

static HashFunction hash_function = NULL;

bool
race_hash_force(const char *path)
{
#if defined(__x86_64__) && defined(__GNUC__)
	if (strcmp(path, "avx512") == 0)
	{
		if (!__builtin_cpu_supports("avx512f") ||
			!__builtin_cpu_supports("avx512dq") ||
			!__builtin_cpu_supports("avx512vl"))
			return false;
		hash_function = hash_avx512;
		return true;
	}
	if (strcmp(path, "avx2") == 0)
	{
		if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
			return false;
		hash_function = hash_avx2;
		return true;
	}
#endif
	if (strcmp(path, "portable") != 0)
		return false;
	hash_function = hash_portable;
	return true;
}

static void
choose_hash_function(void)
{
	int			i;

	for (i = 0; race_hash_paths[i] != NULL; i++)
		race_hash_force(race_hash_paths[i]);
}

void
race_rows_hash(const RaceRows *rows, const double *x, uint32_t *buckets)
{
	if (hash_function == NULL)
		choose_hash_function();
	hash_function(rows, x, buckets);
}
