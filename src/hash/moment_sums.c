/*
 * moment_sums.c
 *		Exact sums of products of columns
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hash/hash_path.h"
#include "hash/kernel.h"
#include "hash/moment_sums.h"
#include "hash/params.h"
#include "hash/rows.h"

/*
 * Moments: from records to fixed point, and the limits that it obeys.
 */

#define TOGETHER	RACE_MOMENTS_TOGETHER
#define ONE			((double) RACE_MOMENTS_ONE)

/* ------------------------------------------------------------------ shapes */

uint32_t
race_moments_columns(const RaceParams *params)
{
	return 1 + params->features + params->dims;
}

uint32_t
race_moments_inputs(const RaceParams *params)
{
	return params->dims - params->targets;
}

uint64_t
race_moments_counters(uint64_t columns)
{
	return columns * (columns + 1) / 2;
}

double
race_moments_amplitude(const RaceParams *params)
{
	return fmin(1, sqrt(2 * RACE_FEATURES_SQUARED / sqrt(params->features)));
}

void
race_moments_functions(const RaceParams *params, RaceParams *functions)
{
	memset(functions, 0, sizeof(RaceParams));
	functions->kind = RACE_KIND_ROWS;
	functions->kernel = RACE_KERNEL_L2;
	functions->sequence = params->sequence;
	functions->rehash = RACE_REHASH_FOLD;
	functions->dims = params->features > 0 ? race_moments_inputs(params) : 1;
	functions->seed = params->seed;
	/* a row function has floor(a.x / w + b): a whole turn of the cosine is 2 pi bandwidths */
	functions->bandwidth = 2 * RACE_PI * params->bandwidth;
	functions->power = 1;
	functions->rows = params->features > 0 ? params->features : 1;
	functions->range = 2;
}

/* ------------------------------------------------------------------ limits */

#define PROBLEM(...) (snprintf(message, length, __VA_ARGS__), message)

static const char *
bounds_problem(const RaceParams *params, char *message, size_t length)
{
	const double *lower = race_array(params, RACE_ARRAY_LOWER);
	const double *upper = race_array(params, RACE_ARRAY_UPPER);

	if (lower == NULL || upper == NULL)
		return PROBLEM("moments need lower and upper bounds of each column");
	for (uint32_t i = 0; i < params->dims; i++)
		if (!(lower[i] >= -RACE_MAX_BANDWIDTH && upper[i] <= RACE_MAX_BANDWIDTH &&
			  upper[i] - lower[i] >= RACE_MIN_BANDWIDTH))
			return PROBLEM("bounds of moments must lie between %g and %g, and each lower one %g or more below the upper one",
						   -RACE_MAX_BANDWIDTH, RACE_MAX_BANDWIDTH, RACE_MIN_BANDWIDTH);
	return NULL;
}

static const char *
features_problem(const RaceParams *params, char *message, size_t length)
{
	RaceParams	functions;

	if (params->features == 0)
	{
		if (params->bandwidth != 1 || params->sequence != RACE_SEQUENCE_INDEPENDENT)
			return PROBLEM("bandwidth and sequence are for moments with features");
		return params->targets <= params->dims ? NULL :
			PROBLEM("targets must be at most dims");
	}
	if (params->targets >= params->dims)
		return PROBLEM("targets must be fewer than dims");
	race_moments_functions(params, &functions);
	if (!(functions.bandwidth <= RACE_MAX_BANDWIDTH) ||
		race_rows_size(&functions) > RACE_MAX_ROWS_BYTES)
		return PROBLEM("features times dims, or the bandwidth, is too large");
	return NULL;
}

/* A transform must have an inverse, and the answers have the columns back. */
static const char *
transform_problem(const RaceParams *params, char *message, size_t length)
{
	const double *matrix = race_array(params, RACE_ARRAY_MATRIX);
	uint32_t	dims = params->dims;

	if ((params->arrays & (RACE_ARRAY_MATRIX | RACE_ARRAY_OFFSET)) == 0)
		return NULL;
	if (params->features > 0 || params->targets > 0)
		return PROBLEM("moments with a transform have neither features nor targets");
	if (matrix == NULL || params->outputs != dims)
		return PROBLEM("the matrix of a transform of moments must have as many rows as columns");
	for (uint32_t i = 0; i < dims; i++)
		for (uint32_t j = i; j < dims; j++)
			if ((matrix[(size_t) i * dims + j] != 0) != (i == j))
				return PROBLEM("the matrix of a transform of moments must be a lower triangle, as race_transform makes it");
	return NULL;
}

const char *
race_moments_problem(const RaceParams *params, char *message, size_t length)
{
	uint64_t	columns = 1 + (uint64_t) params->features + params->dims;

	if (race_params_next(params, params) != NULL)
		return PROBLEM("moments cannot be a part of a product");
	if (params->dims < 1)
		return PROBLEM("moments need dims");
	if (params->power != 1 || params->rehash != RACE_REHASH_FOLD)
		return PROBLEM("moments have neither power nor rehash");
	if (features_problem(params, message, length) != NULL ||
		transform_problem(params, message, length) != NULL ||
		bounds_problem(params, message, length) != NULL)
		return message;
	if (columns > RACE_MOMENTS_COLUMNS)
		return PROBLEM("moments can have at most %d columns", RACE_MOMENTS_COLUMNS - 1);
	if (params->rows != 1 || params->range != race_moments_counters(columns))
		return PROBLEM("rows and range do not fit the columns of moments");
	if (params->coarser > RACE_MOMENTS_COARSEST)
		return PROBLEM("coarser must be at most %d", RACE_MOMENTS_COARSEST);
	if (!(params->norm >= 1e-3 && params->norm <= 1e3))
		return PROBLEM("norm must be a number between 0.001 and 1000");
	return NULL;
}

/* 1 in fixed point, so that no number is above ONE */
static double
one_of(const RaceParams *params)
{
	return params->targets > 0 ? RACE_MOMENTS_SMALL_ONE : ONE;
}

/* The square of the norm of v, by the sum of squares and that of absolute values */
static double
square_of_norm(const RaceParams *params, double squares, double absolute)
{
	return params->clip == RACE_CLIP_ABSOLUTE ? (squares + absolute * absolute) / 2 : squares;
}

/*
 * Rounding adds at most half a unit to each column, and so the norm of so many halves.  No
 * number is above ONE.
 */
uint64_t
race_moments_squared(const RaceParams *params)
{
	double		columns = race_moments_columns(params);
	double		norm = params->norm * one_of(params) +
		sqrt(square_of_norm(params, columns, columns)) / 2;

	return (uint64_t) fmin(norm * norm,
						   square_of_norm(params, ONE * ONE * columns, ONE * columns)) + 1;
}

/*
 * The sum of the absolute values of v at most, by Cauchy & Schwarz: the largest integer whose
 * square is at most columns times squared
 */
static uint64_t
most_absolute(const RaceParams *params)
{
	uint64_t	square = race_moments_squared(params) * race_moments_columns(params);
	uint64_t	root = (uint64_t) sqrt((double) square);

	/* bound: the error of sqrt(), some units; squares are below 2^60 */
	while (root * root > square)
		root--;
	/* bound: the error of sqrt(), some units; squares are below 2^60 */
	while ((root + 1) * (root + 1) <= square)
		root++;
	return root;
}

static uint64_t
shift_up(uint64_t x, int bits)
{
	return (x >> bits) + ((x & ((UINT64_C(1) << bits) - 1)) != 0);
}

/*
 * The entries of v v' on and above the diagonal add up to half of (the sum of |v|)^2 + the sum of
 * v^2, which is what the norm of absolute values bounds.  To round a sum to coarser integers changes a
 * difference of two of them by less than 1, in each counter.
 */
uint64_t
race_moments_weight(const RaceParams *params, int coarser)
{
	uint64_t	weight = race_moments_squared(params);
	uint64_t	absolute = most_absolute(params);

	if (params->clip != RACE_CLIP_ABSOLUTE)
		weight = (absolute * absolute + weight) / 2;
	return shift_up(weight, coarser) + (coarser > 0 ? params->range : 0);
}

/*
 * The squared norm of v, which is the Frobenius norm of v v'.  The norm of absolute values is not below
 * it, because the sum of absolute values is not below the root of that of squares.
 */
static uint64_t
frobenius(const RaceParams *params, int coarser)
{
	return shift_up(race_moments_squared(params), coarser) +
		(coarser > 0 ? race_moments_columns(params) : 0);
}

uint64_t
race_moments_squares(const RaceParams *params, int coarser)
{
	uint64_t	norm = frobenius(params, coarser);

	return (norm * norm + 1) / 2;
}

uint64_t
race_moments_trace(const RaceParams *params, int coarser)
{
	/* the norm of absolute values is not below that of squares */
	return shift_up(race_moments_squared(params), coarser);
}

int
race_moments_least_coarse(const RaceParams *params)
{
	int			coarser = 0;

	/* bound: the bits of a norm, half of it is left each time */
	while (frobenius(params, coarser) > UINT32_MAX / 2)
		coarser++;
	return coarser;
}

uint64_t
race_moments_unit(const RaceParams *params)
{
	return (uint64_t) (one_of(params) * one_of(params)) >> params->coarser;
}

/* ----------------------------------------------------------------- scaling */

typedef struct Scale
{
	double		middle;
	double		factor;
} Scale;

static Scale
scale_of(const RaceParams *params, uint32_t i)
{
	double		lower = race_array(params, RACE_ARRAY_LOWER)[i];
	double		upper = race_array(params, RACE_ARRAY_UPPER)[i];
	Scale		scale;

	scale.middle = lower / 2 + upper / 2;
	scale.factor = 2 / (upper - lower);
	if (i >= race_moments_inputs(params))
		scale.factor *= RACE_TARGET_WEIGHT;
	return scale;
}

double
race_moments_scaled(const RaceParams *params, uint32_t i, double x)
{
	Scale		scale = scale_of(params, i);

	return (x - scale.middle) * scale.factor;
}

double
race_moments_transformed(const RaceParams *params, uint32_t i, const double *record)
{
	double		x = RACE_TRANSFORMED * race_transformed(params, record, i);

	return fmin(fmax(x, -RACE_TRANSFORMED_MOST), RACE_TRANSFORMED_MOST);
}

/* ---------------------------------------------------------------- features */

/* Larger numbers have no fraction. */
#define MAX_TURNS	0x1p50

/* Adding this and subtracting it again rounds a number to the nearest integer. */
#define ROUNDER		0x1.8p52

/*
 * cos(2 pi t) = sin(2 pi (1/4 - |t|)) for t in [-1/2, 1/2], by Taylor's polynomial of degree
 * 15: libm's cosine is not the same on all machines.  Its error is below 1e-10.
 */
static inline double
cosine_of_turns(double t)
{
	double		x;
	double		y;

	t = fmin(fmax(t, -MAX_TURNS), MAX_TURNS);
	x = 2 * RACE_PI * (0.25 - fabs(t - ((t + ROUNDER) - ROUNDER)));
	y = x * x;
	return x * (1 - y * (1.0 / 6) * (1 - y * (1.0 / 20) * (1 - y * (1.0 / 42) *
			(1 - y * (1.0 / 72) * (1 - y * (1.0 / 110) * (1 - y * (1.0 / 156) *
			(1 - y * (1.0 / 210))))))));
}

void
race_moments_features(const RaceParams *params, const RaceRows *functions,
					  const double *scaled, double *out)
{
	uint32_t	inputs = race_moments_inputs(params);
	double		amplitude = race_moments_amplitude(params);
	double		turns[RACE_LANES];

	for (uint32_t row = 0; row < params->features; row += RACE_LANES)
	{
		int			lanes = params->features - row < RACE_LANES ?
			(int) (params->features - row) : RACE_LANES;
		const double *a = race_rows_coefficient(functions, row, 0, 0);

		memcpy(turns, a, sizeof(turns));
		for (uint32_t i = 0; i < inputs; i++)
		{
			a += RACE_LANES;
			for (int lane = 0; lane < RACE_LANES; lane++)
				turns[lane] += a[lane] * scaled[i];
		}
		for (int lane = 0; lane < lanes; lane++)
			out[row + lane] = amplitude * cosine_of_turns(turns[lane]);
	}
}

/* ------------------------------------------------------------- fixed point */

/* A batch on its way to fixed point, a column after the other */
typedef struct Batch
{
	uint32_t	columns;		/* of u */
	double		squares[TOGETHER];	/* of each record: the sum of squares of v, */
	double		absolute[TOGETHER]; /* that of absolute values, */
	double		factors[TOGETHER];	/* and what it is multiplied by */
	double	   *u;				/* [columns][TOGETHER] */
	int16_t    *v;				/* [1 + columns][TOGETHER] */
} Batch;

size_t
race_moments_workspace(const RaceParams *params)
{
	size_t		columns = race_moments_columns(params);

	/* of features, also the scaled inputs and the features of a record */
	return sizeof(Batch) + columns * TOGETHER * (sizeof(double) + sizeof(int16_t)) +
		(params->dims + columns) * sizeof(double);
}

/*
 * Loops over records go in steps of a constant length, so that compilers make vector code of
 * them: over whole steps, and records beyond the last one are 0.
 */
#define STEP	8

#define FOR_RECORDS(action) \
	for (from = 0; from < n; from += STEP) \
		for (r = from; r < from + STEP; r++) \
			action

static size_t
whole_steps(size_t n)
{
	return (n + STEP - 1) / STEP * STEP;
}

/* Column i of u of each record of a batch */
static void
scale_column(const RaceParams *params, uint32_t i, const double *records, size_t n, double *u)
{
	Scale		scale = scale_of(params, i);
	size_t		r;

	if (race_array(params, RACE_ARRAY_MATRIX) != NULL)
		for (r = 0; r < n; r++)
			u[r] = race_moments_transformed(params, i, records + r * params->dims);
	else
		for (r = 0; r < n; r++)
			u[r] = (records[r * params->dims + i] - scale.middle) * scale.factor;
	for (; r < whole_steps(n); r++)
		u[r] = 0;
}

/* The features of each record of a batch */
static void
make_features(const RaceParams *params, const RaceRows *functions, const double *records,
			  size_t n, double *u, double *scratch)
{
	uint32_t	inputs = race_moments_inputs(params);
	double	   *features = scratch + inputs;
	size_t		r;

	for (r = 0; r < n; r++)
	{
		for (uint32_t i = 0; i < inputs; i++)
			scratch[i] = race_moments_scaled(params, i, records[r * params->dims + i]);
		race_moments_features(params, functions, scratch, features);
		for (uint32_t i = 0; i < params->features; i++)
			u[(size_t) i * TOGETHER + r] = features[i];
	}
	for (; r < whole_steps(n); r++)
		for (uint32_t i = 0; i < params->features; i++)
			u[(size_t) i * TOGETHER + r] = 0;
}

/* What follows is compiled for each instruction set: each number comes from the same operations. */
#define INLINE	static inline __attribute__((always_inline))

/* Add squares of a column, or of `least`, and absolute values if they are wanted. */
INLINE void
add_column(const double *restrict u, double least, size_t n, bool absolute,
		   Batch *restrict batch)
{
	double		size[TOGETHER];
	size_t		from;
	size_t		r;

	FOR_RECORDS(size[r] = fabs(u[r]) > least ? fabs(u[r]) : least);
	FOR_RECORDS(batch->squares[r] += size[r] * size[r]);
	if (absolute)
		FOR_RECORDS(batch->absolute[r] += size[r]);
}

/* The factors by which records are clipped and become fixed point */
INLINE void
choose_factors(const RaceParams *params, Batch *batch, size_t n)
{
	bool		absolute = params->clip == RACE_CLIP_ABSOLUTE;
	double		one = one_of(params);
	double		most = params->norm;
	uint32_t	others = batch->columns - params->targets;
	size_t		from;
	size_t		r;

	FOR_RECORDS(batch->squares[r] = batch->absolute[r] = 1);
	for (uint32_t i = 0; i < batch->columns; i++)
		add_column(batch->u + (size_t) i * TOGETHER,
				   i < others ? 0 : RACE_TARGET_LEAST * RACE_TARGET_WEIGHT, n, absolute, batch);
	if (absolute)
		FOR_RECORDS(batch->squares[r] = (batch->squares[r] + batch->absolute[r] * batch->absolute[r]) / 2);
	FOR_RECORDS(
	{
		double		norm = sqrt(batch->squares[r]);

		batch->factors[r] = one * (most / (norm > most ? norm : most));
	});
}

/* Round a column, and sum up what was rounded; no number is above ONE. */
INLINE void
round_column(const double *restrict u, size_t n, bool absolute, Batch *restrict batch,
			 int16_t *restrict v)
{
	double		rounded[TOGETHER];
	size_t		from;
	size_t		r;

	FOR_RECORDS(
	{
		double		x = (u[r] * batch->factors[r] + ROUNDER) - ROUNDER;

		x = x > ONE ? ONE : x;
		rounded[r] = x < -ONE ? -ONE : x;
	});
	FOR_RECORDS(v[r] = (int16_t) (int32_t) rounded[r]);
	add_column(rounded, 0, n, absolute, batch);
}

INLINE void
round_batch(const RaceParams *params, Batch *batch, size_t n)
{
	bool		absolute = params->clip == RACE_CLIP_ABSOLUTE;
	double		ones[TOGETHER];
	size_t		from;
	size_t		r;

	FOR_RECORDS(ones[r] = 1);
	memset(batch->squares, 0, sizeof(batch->squares));
	memset(batch->absolute, 0, sizeof(batch->absolute));
	round_column(ones, n, absolute, batch, batch->v);
	for (uint32_t i = 0; i < batch->columns; i++)
		round_column(batch->u + (size_t) i * TOGETHER, n, absolute, batch,
					 batch->v + (size_t) (i + 1) * TOGETHER);
}

typedef void (*FixedPoint) (const RaceParams *params, Batch *batch, size_t n);

static void
fixed_point_portable(const RaceParams *params, Batch *batch, size_t n)
{
	choose_factors(params, batch, n);
	round_batch(params, batch, n);
}

#ifdef RACE_HAVE_X86
__attribute__((target("avx2")))
static void
fixed_point_avx2(const RaceParams *params, Batch *batch, size_t n)
{
	choose_factors(params, batch, n);
	round_batch(params, batch, n);
}
#else
#define fixed_point_avx2	fixed_point_portable
#endif

/*
 * The limit holds whatever errors floating point has made: a record beyond it loses a unit
 * in each column, until it is not.  Sums are exact: they are below 2^47.
 */
static void
enforce_limit(const RaceParams *params, Batch *batch, size_t n)
{
	double		limit = (double) race_moments_squared(params);

	for (size_t r = 0; r < n; r++)
		/* bound: RACE_MOMENTS_ONE, since each number that is not 0 loses 1 each time */
		while (square_of_norm(params, batch->squares[r], batch->absolute[r]) > limit)
		{
			double		squares = 0;
			double		absolute = 0;

			for (uint32_t i = 0; i <= batch->columns; i++)
			{
				int16_t    *v = &batch->v[(size_t) i * TOGETHER + r];

				*v -= (*v > 0) - (*v < 0);
				squares += (double) *v * *v;
				absolute += abs(*v);
			}
			batch->squares[r] = squares;
			batch->absolute[r] = absolute;
		}
}

/* Count up to TOGETHER records. */
static void
count_batch(const RaceParams *params, const RaceRows *functions, const double *records,
			size_t n, int sign, int64_t *counters, Batch *batch)
{
	FixedPoint	to_fixed_point = race_hash_path() == &race_hash_portable ?
		fixed_point_portable : fixed_point_avx2;
	double	   *u = batch->u;
	uint32_t	i = 0;

	if (params->features > 0)
	{
		make_features(params, functions, records, n, u,
					  (double *) (batch->v + (size_t) (batch->columns + 1) * TOGETHER));
		u += (size_t) params->features * TOGETHER;
	}
	for (; i < params->dims; i++, u += TOGETHER)
		scale_column(params, i, records, n, u);
	to_fixed_point(params, batch, n);
	enforce_limit(params, batch, n);
	for (uint32_t column = 0; column <= batch->columns && n < TOGETHER; column++)
		memset(batch->v + (size_t) column * TOGETHER + n, 0, (TOGETHER - n) * sizeof(int16_t));
	race_triangle_add(batch->v, batch->columns + 1, n, sign, counters);
}

void
race_moments_count(const RaceParams *params, const RaceRows *functions,
				   const double *records, size_t n, int sign, int64_t *counters,
				   void *workspace)
{
	Batch	   *batch = (Batch *) workspace;

	batch->columns = race_moments_columns(params) - 1;
	batch->u = (double *) (batch + 1);
	batch->v = (int16_t *) (batch->u + (size_t) batch->columns * TOGETHER);
	for (size_t from = 0; from < n; from += TOGETHER)
		count_batch(params, functions, records + from * params->dims,
					n - from < TOGETHER ? n - from : TOGETHER, sign, counters, batch);
}

/*
 * Sums of products of columns of 16-bit integers.
 *
 * A product has at most 26 bits, so that 31 of them fit into 32 bits: sums of pairs are
 * added up in 32 bits for a while, and then in 64.  Integers have no rounding: all code here
 * gives the same sums.
 */

#define ENTRIES_TOGETHER	RACE_MOMENTS_TOGETHER

/* Columns i ... i + TILE_ROWS - 1 times j ... j + TILE_COLUMNS - 1 at a time */
#define TILE_ROWS		2
#define TILE_COLUMNS	4

typedef void (*Tile) (const int16_t *const *a, const int16_t *const *b, size_t n,
					  int64_t sums[TILE_ROWS][TILE_COLUMNS]);

/* Records in a run, whose products are added up in 32 bits */
#define RUN		24

static void
tile_portable(const int16_t *const *a, const int16_t *const *b, size_t n,
			  int64_t sums[TILE_ROWS][TILE_COLUMNS])
{
	for (int i = 0; i < TILE_ROWS; i++)
		for (int j = 0; j < TILE_COLUMNS; j++)
		{
			int64_t		sum = 0;

			for (size_t from = 0; from < n; from += RUN)
			{
				int32_t		part = 0;

				for (int r = 0; r < RUN; r++)
					part += (int32_t) a[i][from + r] * b[j][from + r];
				sum += part;
			}
			sums[i][j] = sum;
		}
}

#ifdef RACE_HAVE_X86

#include <immintrin.h>

#define TARGET	__attribute__((target("avx2,fma")))
#define LANES	16				/* records in a vector */
#define STEPS	15				/* vectors whose products are added up in 32 bits */

/* The sums of pairs of 32-bit lanes, in 64 bits */
TARGET static inline __m256i
widen(__m256i sums)
{
	return _mm256_add_epi64(_mm256_cvtepi32_epi64(_mm256_castsi256_si128(sums)),
							_mm256_cvtepi32_epi64(_mm256_extracti128_si256(sums, 1)));
}

TARGET static inline int64_t
add_lanes(__m256i sums)
{
	__m128i		half = _mm_add_epi64(_mm256_castsi256_si128(sums),
									 _mm256_extracti128_si256(sums, 1));

	return _mm_cvtsi128_si64(half) + _mm_cvtsi128_si64(_mm_unpackhi_epi64(half, half));
}

TARGET static void
tile_avx2(const int16_t *const *a, const int16_t *const *b, size_t n,
		  int64_t sums[TILE_ROWS][TILE_COLUMNS])
{
	__m256i		totals[TILE_ROWS][TILE_COLUMNS];

	memset(totals, 0, sizeof(totals));
	for (size_t from = 0; from < n; from += STEPS * LANES)
	{
		__m256i		s[TILE_ROWS][TILE_COLUMNS];
		size_t		end = n < from + STEPS * LANES ? n : from + STEPS * LANES;

		memset(s, 0, sizeof(s));
		for (size_t r = from; r < end; r += LANES)
		{
			__m256i		x = _mm256_loadu_si256((const __m256i *) (a[0] + r));
			__m256i		y = _mm256_loadu_si256((const __m256i *) (a[1] + r));

#pragma GCC unroll 4
			for (int j = 0; j < TILE_COLUMNS; j++)
			{
				__m256i		z = _mm256_loadu_si256((const __m256i *) (b[j] + r));

				s[0][j] = _mm256_add_epi32(s[0][j], _mm256_madd_epi16(x, z));
				s[1][j] = _mm256_add_epi32(s[1][j], _mm256_madd_epi16(y, z));
			}
		}
#pragma GCC unroll 2
		for (int i = 0; i < TILE_ROWS; i++)
#pragma GCC unroll 4
			for (int j = 0; j < TILE_COLUMNS; j++)
				totals[i][j] = _mm256_add_epi64(totals[i][j], widen(s[i][j]));
	}
	for (int i = 0; i < TILE_ROWS; i++)
		for (int j = 0; j < TILE_COLUMNS; j++)
			sums[i][j] = add_lanes(totals[i][j]);
}

static Tile
best_tile(void)
{
	return race_hash_path() == &race_hash_portable ? tile_portable : tile_avx2;
}
#else
static Tile
best_tile(void)
{
	return tile_portable;
}
#endif

/* Columns from number `first` on; beyond the last one, the last again */
static void
take_columns(const int16_t *v, uint32_t columns, uint32_t first, int n, const int16_t **out)
{
	for (int i = 0; i < n; i++)
		out[i] = v + (size_t) (first + i < columns ? first + i : columns - 1) * ENTRIES_TOGETHER;
}

void
race_triangle_add(const int16_t *v, uint32_t columns, size_t n, int sign, int64_t *counters)
{
	Tile		tile = best_tile();
	size_t		rounded = (n + 47) / 48 * 48;	/* whole runs, and whole vectors */
	const int16_t *a[TILE_ROWS];
	const int16_t *b[TILE_COLUMNS];
	int64_t		sums[TILE_ROWS][TILE_COLUMNS];

	for (uint32_t i = 0; i < columns; i += TILE_ROWS)
		for (uint32_t j = i; j < columns; j += TILE_COLUMNS)
		{
			take_columns(v, columns, i, TILE_ROWS, a);
			take_columns(v, columns, j, TILE_COLUMNS, b);
			tile(a, b, rounded, sums);
			for (uint32_t k = i; k < columns && k < i + TILE_ROWS; k++)
				for (uint32_t l = j; l < columns && l < j + TILE_COLUMNS; l++)
					if (l >= k)
						counters[race_moments_counter(columns, k, l)] +=
							sign * sums[k - i][l - j];
		}
}
