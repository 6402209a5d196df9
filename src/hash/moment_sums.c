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

#define TOGETHER RACE_PRODUCTS_TOGETHER
#define ONE ((double) RACE_MOMENTS_ONE)

/* ------------------------------------------------------------------ shapes */

uint32_t
race_moments_columns(const RaceParams *params)
{
	return 1 + params->moments.features + params->dims;
}

uint32_t
race_moments_inputs(const RaceParams *params)
{
	return params->dims - params->moments.targets;
}

double
race_moments_amplitude(const RaceParams *params)
{
	return fmin(1, sqrt(2 * RACE_FEATURES_SQUARED / sqrt(params->moments.features)));
}

void
race_moments_functions(const RaceParams *params, RaceParams *functions)
{
	memset(functions, 0, sizeof(RaceParams));
	functions->kind = RACE_KIND_ROWS;
	functions->kernel = RACE_KERNEL_L2;
	functions->sequence = params->sequence;
	functions->rehash = RACE_REHASH_FOLD;
	functions->dims = params->moments.features > 0 ? race_moments_inputs(params) : 1;
	functions->seed = params->seed;
	/* a row function has floor(a.x / w + b): a whole turn of the cosine is 2 pi bandwidths */
	functions->bandwidth = 2 * RACE_PI * params->bandwidth;
	functions->power = 1;
	functions->rows = params->moments.features > 0 ? params->moments.features : 1;
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
			return PROBLEM("bounds of moments must be from %g to %g, and %g or more apart",
						   -RACE_MAX_BANDWIDTH, RACE_MAX_BANDWIDTH, RACE_MIN_BANDWIDTH);
	return NULL;
}

static const char *
features_problem(const RaceParams *params, char *message, size_t length)
{
	RaceParams functions;

	if (params->moments.features == 0)
	{
		if (params->bandwidth != 1 || params->sequence != RACE_SEQUENCE_INDEPENDENT)
			return PROBLEM("bandwidth and sequence are for moments with features");
		return params->moments.targets <= params->dims ? NULL :
														 PROBLEM("targets must be at most dims");
	}
	if (params->moments.targets >= params->dims)
		return PROBLEM("targets must be fewer than dims");
	race_moments_functions(params, &functions);
	if (!(functions.bandwidth <= RACE_MAX_BANDWIDTH) ||
		race_rows_size(&functions) > RACE_MAX_ROWS_BYTES)
		return PROBLEM("features times dims, or the bandwidth, is too large");
	return NULL;
}

/*
 * Return what is wrong with the transform, or NULL.  It must have an inverse, and the answers have
 * the columns back.
 */
static const char *
transform_problem(const RaceParams *params, char *message, size_t length)
{
	const double *matrix = race_array(params, RACE_ARRAY_MATRIX);
	uint32_t dims = params->dims;

	if ((params->arrays & (RACE_ARRAY_MATRIX | RACE_ARRAY_OFFSET)) == 0)
		return NULL;
	if (params->moments.features > 0 || params->moments.targets > 0)
		return PROBLEM("moments with a transform have neither features nor targets");
	if (matrix == NULL || params->outputs != dims)
		return PROBLEM("the matrix of a transform of moments must have as many rows as columns");
	for (uint32_t i = 0; i < dims; i++)
		for (uint32_t j = i; j < dims; j++)
			if ((matrix[(size_t) i * dims + j] != 0) != (i == j))
				return PROBLEM(
					"the matrix of a transform of moments must be a lower triangle, as race_transform makes it");
	return NULL;
}

const char *
race_moments_problem(const RaceParams *params, char *message, size_t length)
{
	uint64_t columns = 1 + (uint64_t) params->moments.features + params->dims;

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
	if (params->rows != 1 || params->range != race_products_counters(columns))
		return PROBLEM("rows and range do not fit the columns of moments");
	if (params->moments.coarser > RACE_PRODUCTS_COARSEST)
		return PROBLEM("coarser must be at most %d", RACE_PRODUCTS_COARSEST);
	if (!(params->moments.norm >= 1e-3 && params->moments.norm <= 1e3))
		return PROBLEM("norm must be a number between 0.001 and 1000");
	return NULL;
}

/* Return 1 in fixed point, so that no number is above ONE. */
static double
fixed_point_one(const RaceParams *params)
{
	return params->moments.targets > 0 ? RACE_MOMENTS_SMALL_ONE : ONE;
}

/* Return the square of the norm of v, by the sum of squares and that of absolute values. */
static double
square_of_norm(const RaceParams *params, double squares, double absolute)
{
	return params->moments.clip == RACE_CLIP_ABSOLUTE ? (squares + absolute * absolute) / 2 :
														squares;
}

/*
 * Return the square of the norm of v in fixed point.  Rounding adds at most half a unit to each
 * column, and so the norm of so many halves.  No number is above ONE.
 */
uint64_t
race_moments_squared(const RaceParams *params)
{
	double columns = race_moments_columns(params);
	double norm = params->moments.norm * fixed_point_one(params) +
		sqrt(square_of_norm(params, columns, columns)) / 2;

	return (uint64_t) fmin(norm * norm,
						   square_of_norm(params, ONE * ONE * columns, ONE * columns)) +
		1;
}

void
race_moments_shape(const RaceParams *params, RaceShape *shape)
{
	*shape = (RaceShape){.columns = race_moments_columns(params),
						 .squared = race_moments_squared(params),
						 .absolute = params->moments.clip == RACE_CLIP_ABSOLUTE};
}

uint64_t
race_moments_unit(const RaceParams *params)
{
	return (uint64_t) (fixed_point_one(params) * fixed_point_one(params)) >>
		params->moments.coarser;
}

/* ----------------------------------------------------------------- scaling */

typedef struct Scale
{
	double middle;
	double factor;
} Scale;

static Scale
scale_of(const RaceParams *params, uint32_t i)
{
	double lower = race_array(params, RACE_ARRAY_LOWER)[i];
	double upper = race_array(params, RACE_ARRAY_UPPER)[i];
	Scale scale;

	scale.middle = lower / 2 + upper / 2;
	scale.factor = 2 / (upper - lower);
	if (i >= race_moments_inputs(params))
		scale.factor *= RACE_TARGET_WEIGHT;
	return scale;
}

double
race_moments_scaled(const RaceParams *params, uint32_t i, double x)
{
	Scale scale = scale_of(params, i);

	return (x - scale.middle) * scale.factor;
}

double
race_moments_transformed(const RaceParams *params, uint32_t i, const double *record)
{
	double x = RACE_TRANSFORMED * race_transformed(params, record, i);

	return fmin(fmax(x, -RACE_TRANSFORMED_MOST), RACE_TRANSFORMED_MOST);
}

/* ---------------------------------------------------------------- features */

/* Larger numbers have no fraction. */
#define MAX_TURNS 0x1p50

/* Adding this and subtracting it again rounds a number to the nearest integer. */
#define ROUNDER 0x1.8p52

/*
 * Return cos(2 pi t) = sin(2 pi (1/4 - |t|)) for t in [-1/2, 1/2], by Taylor's polynomial of degree
 * 15: libm's cosine is not the same on all machines.  Its error is below 1e-10.
 */
static inline double
cosine_of_turns(double t)
{
	double x;
	double y;

	t = fmin(fmax(t, -MAX_TURNS), MAX_TURNS);
	x = 2 * RACE_PI * (0.25 - fabs(t - ((t + ROUNDER) - ROUNDER)));
	y = x * x;
	return x *
		(1 -
		 y * (1.0 / 6) *
			 (1 -
			  y * (1.0 / 20) *
				  (1 -
				   y * (1.0 / 42) *
					   (1 -
						y * (1.0 / 72) *
							(1 -
							 y * (1.0 / 110) * (1 - y * (1.0 / 156) * (1 - y * (1.0 / 210))))))));
}

void
race_moments_features(const RaceParams *params, const RaceRows *functions, const double *scaled,
					  double *out)
{
	uint32_t inputs = race_moments_inputs(params);
	double amplitude = race_moments_amplitude(params);
	double turns[RACE_LANES];

	for (uint32_t row = 0; row < params->moments.features; row += RACE_LANES)
	{
		int lanes = params->moments.features - row < RACE_LANES ?
			(int) (params->moments.features - row) :
			RACE_LANES;
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
	uint32_t columns;          /* columns of u */
	double squares[TOGETHER];  /* sum of squares of v of each record */
	double absolute[TOGETHER]; /* sum of absolute values of v of each record */
	double factors[TOGETHER];  /* factor of each record */
	double *u;                 /* [columns][TOGETHER] */
	int16_t *v;                /* [1 + columns][TOGETHER] */
} Batch;

size_t
race_moments_workspace(const RaceParams *params)
{
	size_t columns = race_moments_columns(params);

	/* of features, also the scaled inputs and the features of a record */
	return sizeof(Batch) + columns * TOGETHER * (sizeof(double) + sizeof(int16_t)) +
		(params->dims + columns) * sizeof(double);
}

/*
 * Loops over records go in steps of a constant length, so that compilers make vector code of
 * them: over whole steps, and records beyond the last one are 0.
 */
#define STEP 8

#define FOR_RECORDS(action) \
	for (from = 0; from < n; from += STEP) \
		for (r = from; r < from + STEP; r++) \
	action

static size_t
whole_steps(size_t n)
{
	return (n + STEP - 1) / STEP * STEP;
}

/* Set column i of u of each record of a batch. */
static void
scale_column(const RaceParams *params, uint32_t i, const double *records, size_t n, double *u)
{
	Scale scale = scale_of(params, i);
	size_t r;

	if (race_array(params, RACE_ARRAY_MATRIX) != NULL)
		for (r = 0; r < n; r++)
			u[r] = race_moments_transformed(params, i, records + r * params->dims);
	else
		for (r = 0; r < n; r++)
			u[r] = (records[r * params->dims + i] - scale.middle) * scale.factor;
	for (; r < whole_steps(n); r++)
		u[r] = 0;
}

/* Set the features of each record of a batch. */
static void
make_features(const RaceParams *params, const RaceRows *functions, const double *records, size_t n,
			  double *u, double *scratch)
{
	uint32_t inputs = race_moments_inputs(params);
	double *features = scratch + inputs;
	size_t r;

	for (r = 0; r < n; r++)
	{
		for (uint32_t i = 0; i < inputs; i++)
			scratch[i] = race_moments_scaled(params, i, records[r * params->dims + i]);
		race_moments_features(params, functions, scratch, features);
		for (uint32_t i = 0; i < params->moments.features; i++)
			u[(size_t) i * TOGETHER + r] = features[i];
	}
	for (; r < whole_steps(n); r++)
		for (uint32_t i = 0; i < params->moments.features; i++)
			u[(size_t) i * TOGETHER + r] = 0;
}

/* What follows is compiled for each instruction set: each number comes from the same operations. */
#define INLINE static inline __attribute__((always_inline))

/* Add squares of a column, or of `least`, and absolute values if they are wanted. */
INLINE void
add_column(const double *restrict u, double least, size_t n, bool absolute, Batch *restrict batch)
{
	double size[TOGETHER];
	size_t from;
	size_t r;

	FOR_RECORDS(size[r] = fabs(u[r]) > least ? fabs(u[r]) : least);
	FOR_RECORDS(batch->squares[r] += size[r] * size[r]);
	if (absolute)
		FOR_RECORDS(batch->absolute[r] += size[r]);
}

/* Choose the factors by which records are clipped and become fixed point. */
INLINE void
choose_factors(const RaceParams *params, Batch *batch, size_t n)
{
	bool absolute = params->moments.clip == RACE_CLIP_ABSOLUTE;
	double one = fixed_point_one(params);
	double most = params->moments.norm;
	uint32_t others = batch->columns - params->moments.targets;
	size_t from;
	size_t r;

	FOR_RECORDS(batch->squares[r] = batch->absolute[r] = 1);
	for (uint32_t i = 0; i < batch->columns; i++)
		add_column(batch->u + (size_t) i * TOGETHER,
				   i < others ? 0 : RACE_TARGET_LEAST * RACE_TARGET_WEIGHT, n, absolute, batch);
	if (absolute)
		FOR_RECORDS(batch->squares[r] =
						(batch->squares[r] + batch->absolute[r] * batch->absolute[r]) / 2);
	FOR_RECORDS({
		double norm = sqrt(batch->squares[r]);

		batch->factors[r] = one * (most / (norm > most ? norm : most));
	});
}

/* Round a column; no number is above ONE. */
INLINE void
round_column(const double *restrict u, size_t n, const Batch *restrict batch, int16_t *restrict v)
{
	double rounded[TOGETHER];
	size_t from;
	size_t r;

	FOR_RECORDS({
		double x = (u[r] * batch->factors[r] + ROUNDER) - ROUNDER;

		x = x > ONE ? ONE : x;
		rounded[r] = x < -ONE ? -ONE : x;
	});
	FOR_RECORDS(v[r] = (int16_t) (int32_t) rounded[r]);
}

INLINE void
round_batch(Batch *batch, size_t n)
{
	double ones[TOGETHER];
	size_t from;
	size_t r;

	FOR_RECORDS(ones[r] = 1);
	round_column(ones, n, batch, batch->v);
	for (uint32_t i = 0; i < batch->columns; i++)
		round_column(batch->u + (size_t) i * TOGETHER, n, batch,
					 batch->v + (size_t) (i + 1) * TOGETHER);
}

typedef void (*FixedPoint)(const RaceParams *params, Batch *batch, size_t n);

static void
fixed_point_portable(const RaceParams *params, Batch *batch, size_t n)
{
	choose_factors(params, batch, n);
	round_batch(batch, n);
}

#ifdef RACE_HAVE_X86
__attribute__((target("avx2"))) static void
fixed_point_avx2(const RaceParams *params, Batch *batch, size_t n)
{
	choose_factors(params, batch, n);
	round_batch(batch, n);
}
#else
#define fixed_point_avx2 fixed_point_portable
#endif

/* Count up to TOGETHER records. */
static void
count_batch(const RaceParams *params, const RaceRows *functions, const double *records, size_t n,
			int sign, int64_t *counters, Batch *batch)
{
	FixedPoint to_fixed_point =
		race_hash_path() == &race_hash_portable ? fixed_point_portable : fixed_point_avx2;
	double *u = batch->u;
	uint32_t i = 0;
	RaceShape shape;

	race_moments_shape(params, &shape);
	if (params->moments.features > 0)
	{
		make_features(params, functions, records, n, u,
					  (double *) (batch->v + (size_t) (batch->columns + 1) * TOGETHER));
		u += (size_t) params->moments.features * TOGETHER;
	}
	for (; i < params->dims; i++, u += TOGETHER)
		scale_column(params, i, records, n, u);
	to_fixed_point(params, batch, n);
	race_count_products(&shape, batch->v, n, sign, to_fixed_point != fixed_point_portable,
						counters);
}

void
race_moments_count(const RaceParams *params, const RaceRows *functions, const double *records,
				   size_t n, int sign, int64_t *counters, void *workspace)
{
	Batch *batch = (Batch *) workspace;

	batch->columns = race_moments_columns(params) - 1;
	batch->u = (double *) (batch + 1);
	batch->v = (int16_t *) (batch->u + (size_t) batch->columns * TOGETHER);
	for (size_t from = 0; from < n; from += TOGETHER)
		count_batch(params, functions, records + from * params->dims,
					n - from < TOGETHER ? n - from : TOGETHER, sign, counters, batch);
}
