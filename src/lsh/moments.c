/*
 * moments.c
 *		Moments: from records to fixed point, and the limits that it obeys.
 */
#include "moments.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TOGETHER	RACE_MOMENTS_TOGETHER
#define ONE			((double) RACE_MOMENTS_ONE)

bool
race_is_moments(const RaceParams *params)
{
	return params->kernel == RACE_KERNEL_MOMENTS;
}

/* ------------------------------------------------------------------ shapes */

uint32_t
race_moments_columns(const RaceParams *params)
{
	return 1 + (params->features > 0 ? params->features + params->targets : params->dims);
}

uint32_t
race_moments_inputs(const RaceParams *params)
{
	return params->dims - params->targets;
}

uint64_t
race_moments_counters(uint64_t columns)
{
	return columns * (columns + 1) / 2 - 1;
}

double
race_moments_amplitude(const RaceParams *params)
{
	return fmin(1, sqrt(2 * RACE_FEATURES_SQUARED / params->features));
}

/*
 * A column that is spread evenly over its bounds has a mean square of 1/3, a feature of g^2 / 2.
 * On made tables with columns of several distributions, a bound of about that had the least
 * errors.
 */
double
race_moments_default_norm(const RaceParams *params)
{
	double		g;

	if (params->features == 0)
		return sqrt(params->dims / 3.0);
	g = race_moments_amplitude(params);
	return sqrt(params->features * g * g / 2 + params->targets / 3.0);
}

void
race_moments_functions(const RaceParams *params, RaceParams *functions)
{
	memset(functions, 0, sizeof(RaceParams));
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
	uint32_t	i;

	if (lower == NULL || upper == NULL)
		return PROBLEM("moments need lower and upper bounds of each column");
	for (i = 0; i < params->dims; i++)
		if (!isfinite(upper[i] - lower[i]) || !isfinite(2 / (upper[i] - lower[i])) ||
			!(lower[i] < upper[i]))
			return PROBLEM("bounds of moments must be finite, and each lower one below the upper one");
	return NULL;
}

static const char *
features_problem(const RaceParams *params, char *message, size_t length)
{
	RaceParams	functions;

	if (params->features == 0)
	{
		if (params->targets != 0 || params->bandwidth != 1 ||
			params->sequence != RACE_SEQUENCE_INDEPENDENT)
			return PROBLEM("targets, bandwidth and sequence are for moments with features");
		return NULL;
	}
	if (params->targets >= params->dims)
		return PROBLEM("targets must be fewer than dims");
	race_moments_functions(params, &functions);
	if (!(functions.bandwidth <= RACE_MAX_BANDWIDTH) ||
		race_rows_size(&functions) > RACE_MAX_ROWS_BYTES)
		return PROBLEM("features times dims, or the bandwidth, is too large");
	return NULL;
}

const char *
race_moments_problem(const RaceParams *params, char *message, size_t length)
{
	uint64_t	columns = 1 + (params->features > 0 ?
							   (uint64_t) params->features + params->targets : params->dims);

	if (race_params_next(params, params) != NULL)
		return PROBLEM("moments cannot be a part of a product");
	if (params->dims < 1)
		return PROBLEM("moments need dims");
	if (params->power != 1 || params->rehash != RACE_REHASH_FOLD)
		return PROBLEM("moments have neither power nor rehash");
	if (features_problem(params, message, length) != NULL ||
		bounds_problem(params, message, length) != NULL)
		return message;
	if (columns > RACE_MOMENTS_COLUMNS)
		return PROBLEM("moments can have at most %d columns", RACE_MOMENTS_COLUMNS - 1);
	if (params->rows != 1 || params->range != race_moments_counters(columns))
		return PROBLEM("rows and range do not fit the columns of moments");
	if (params->coarser > RACE_MOMENTS_COARSEST)
		return PROBLEM("coarser must be at most %d", RACE_MOMENTS_COARSEST);
	if (params->clip != 0 && race_clip_name(params->clip) == NULL)
		return PROBLEM("unknown clip number %d", params->clip);
	if (!(params->norm >= 1e-3 && params->norm <= 1e3))
		return PROBLEM("norm must be a number between 0.001 and 1000");
	return NULL;
}

/*
 * Rounding adds at most half a unit to each column, so at most sqrt(columns) / 2 to the norm.
 */
uint64_t
race_moments_squared(const RaceParams *params)
{
	uint32_t	columns = race_moments_columns(params) - 1;
	double		norm = params->norm * ONE + sqrt((double) columns) / 2;

	return (uint64_t) fmin(norm * norm, ONE * ONE * columns) + 1;
}

/*
 * What sums of absolute values are clipped to.  At most, such a sum is sqrt(columns) times the
 * norm.  Of columns that are normal it is 0.8 of this in the mean, of those that are even, with
 * the usual norm, 0.87, and of those at their bounds, with a norm that clips nothing, 1.
 */
static double
clip_absolute(const RaceParams *params)
{
	double		columns = race_moments_columns(params) - 1;
	double		share = 0.8 + 0.2 * fmin(params->norm * params->norm / columns, 1);

	return params->norm * fmax(share * sqrt(columns), 1);
}

/*
 * The sum of the absolute values of u at most: by Cauchy & Schwarz the largest integer whose
 * square is at most columns times squared; or what they are clipped to, with half a unit for
 * rounding in each column
 */
static uint64_t
most_absolute(const RaceParams *params)
{
	uint64_t	square = race_moments_squared(params) * (race_moments_columns(params) - 1);
	uint64_t	root = (uint64_t) sqrt((double) square);

	while (root * root > square)
		root--;
	while ((root + 1) * (root + 1) <= square)
		root++;
	if (params->clip == RACE_CLIP_ABSOLUTE)
	{
		double		clipped = clip_absolute(params) * ONE +
			(race_moments_columns(params) - 1) / 2.0;

		return (uint64_t) fmin((double) root, clipped + 1);
	}
	return root;
}

static uint64_t
shift_up(uint64_t x, int bits)
{
	return (x >> bits) + ((x & ((UINT64_C(1) << bits) - 1)) != 0);
}

/*
 * The entries of v v' in the first row are u, in units of 1; those of u u' on and above the
 * diagonal add up to half of (the sum of |u|)^2 + the sum of u^2.  To round a sum to coarser
 * integers changes a difference of two of them by less than 1, in each counter.
 */
uint64_t
race_moments_weight(const RaceParams *params, int coarser)
{
	uint64_t	absolute = most_absolute(params);
	uint64_t	weight = RACE_MOMENTS_ONE * absolute +
		(absolute * absolute + race_moments_squared(params)) / 2;

	return shift_up(weight, coarser) + (coarser > 0 ? params->range : 0);
}

/* The squared norm of v, which is the Frobenius norm of v v' */
static uint64_t
frobenius(const RaceParams *params, int coarser)
{
	uint64_t	norm = (uint64_t) RACE_MOMENTS_ONE * RACE_MOMENTS_ONE +
		race_moments_squared(params);

	return shift_up(norm, coarser) + (coarser > 0 ? race_moments_columns(params) : 0);
}

uint64_t
race_moments_squares(const RaceParams *params, int coarser)
{
	uint64_t	norm = frobenius(params, coarser);

	return (norm * norm + 1) / 2;
}

int
race_moments_least_coarse(const RaceParams *params)
{
	int			coarser = 0;

	while (frobenius(params, coarser) > UINT32_MAX / 2)
		coarser++;
	return coarser;
}

uint64_t
race_moments_unit(const RaceParams *params)
{
	return (uint64_t) RACE_MOMENTS_ONE * RACE_MOMENTS_ONE >> params->coarser;
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
	return scale;
}

double
race_moments_scaled(const RaceParams *params, uint32_t i, double x)
{
	Scale		scale = scale_of(params, i);

	return (x - scale.middle) * scale.factor;
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
	uint32_t	row;
	uint32_t	i;
	int			lane;

	for (row = 0; row < params->features; row += RACE_LANES)
	{
		int			lanes = params->features - row < RACE_LANES ?
			(int) (params->features - row) : RACE_LANES;
		const double *a = race_rows_coefficient(functions, row, 0, 0);

		memcpy(turns, a, sizeof(turns));
		for (i = 0; i < inputs; i++)
		{
			a += RACE_LANES;
			for (lane = 0; lane < RACE_LANES; lane++)
				turns[lane] += a[lane] * scaled[i];
		}
		for (lane = 0; lane < lanes; lane++)
			out[row + lane] = amplitude * cosine_of_turns(turns[lane]);
	}
}

/* ------------------------------------------------------------- fixed point */

/* A batch on its way to fixed point, a column after the other */
typedef struct Batch
{
	uint32_t	columns;		/* of u */
	bool		absolute;		/* are sums of absolute values clipped, too? */
	double		limit;			/* of the squared norm, in fixed point, */
	double		absolute_limit; /* and of sums of absolute values */
	double		squares[TOGETHER];	/* of each record: the squared norm of u, */
	double		sums[TOGETHER];	/* the sum of absolute values, */
	double		factors[TOGETHER];	/* what it is multiplied by, */
	double		rounded[TOGETHER];	/* its squared norm in fixed point, */
	double		rounded_sums[TOGETHER];	/* and its sum of absolute values */
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

static void
scale_column(const double *x, size_t stride, size_t n, Scale scale, double *u)
{
	size_t		r;

	for (r = 0; r < n; r++)
		u[r] = (x[r * stride] - scale.middle) * scale.factor;
}

/* The features of each record of a batch */
static void
make_features(const RaceParams *params, const RaceRows *functions, const double *records,
			  size_t n, double *u, double *scratch)
{
	uint32_t	inputs = race_moments_inputs(params);
	double	   *features = scratch + inputs;
	size_t		r;
	uint32_t	i;

	for (r = 0; r < n; r++)
	{
		for (i = 0; i < inputs; i++)
			scratch[i] = race_moments_scaled(params, i, records[r * params->dims + i]);
		race_moments_features(params, functions, scratch, features);
		for (i = 0; i < params->features; i++)
			u[(size_t) i * TOGETHER + r] = features[i];
	}
}

/* Sums of absolute values; out[TOGETHER] */
static void
add_absolute(const Batch *batch, size_t n, double *out)
{
	uint32_t	i;
	size_t		r;

	memset(out, 0, TOGETHER * sizeof(double));
	for (i = 0; i < batch->columns; i++)
		for (r = 0; r < n; r++)
			out[r] += fabs(batch->u[(size_t) i * TOGETHER + r]);
}

/* The factors by which records are clipped and become fixed point */
static void
choose_factors(Batch *batch, const RaceParams *params, size_t n)
{
	double		norm = params->norm;
	double		most = clip_absolute(params);
	size_t		r;
	uint32_t	i;

	memset(batch->squares, 0, sizeof(batch->squares));
	for (i = 0; i < batch->columns; i++)
	{
		const double *u = batch->u + (size_t) i * TOGETHER;

		for (r = 0; r < n; r++)
			batch->squares[r] += u[r] * u[r];
	}
	for (r = 0; r < n; r++)
		batch->factors[r] = batch->squares[r] > norm * norm ?
			ONE * (norm / sqrt(batch->squares[r])) : ONE;
	if (!batch->absolute)
		return;
	add_absolute(batch, n, batch->sums);
	for (r = 0; r < n; r++)
		batch->factors[r] = fmin(batch->factors[r], ONE * (most / fmax(batch->sums[r], most)));
}

/* Round a batch; no number is above ONE. */
static void
round_batch(Batch *batch, size_t n)
{
	uint32_t	i;
	size_t		r;

	for (r = 0; r < n; r++)
		batch->v[r] = RACE_MOMENTS_ONE;
	memset(batch->rounded, 0, sizeof(batch->rounded));
	for (i = 0; i < batch->columns; i++)
	{
		const double *u = batch->u + (size_t) i * TOGETHER;
		int16_t    *v = batch->v + (size_t) (i + 1) * TOGETHER;

		for (r = 0; r < n; r++)
		{
			double		x = (u[r] * batch->factors[r] + ROUNDER) - ROUNDER;

			x = x > ONE ? ONE : x;
			x = x < -ONE ? -ONE : x;
			batch->rounded[r] += x * x;
			v[r] = (int16_t) (int32_t) x;
		}
	}
}

/* Take a unit from each column of a record in fixed point, and add it up again. */
static void
shrink(Batch *batch, size_t r)
{
	uint32_t	i;

	batch->rounded[r] = 0;
	batch->rounded_sums[r] = 0;
	for (i = 1; i <= batch->columns; i++)
	{
		int16_t    *v = &batch->v[(size_t) i * TOGETHER + r];

		*v -= (*v > 0) - (*v < 0);
		batch->rounded[r] += (double) *v * *v;
		batch->rounded_sums[r] += fabs((double) *v);
	}
}

/*
 * Limits hold whatever errors floating point has made: a record beyond them is made smaller,
 * until it is not.  Sums of integers are exact: they are below 2^36.
 */
static void
enforce_limits(Batch *batch, size_t n)
{
	size_t		r;
	uint32_t	i;

	memset(batch->rounded_sums, 0, sizeof(batch->rounded_sums));
	for (i = 1; batch->absolute && i <= batch->columns; i++)
		for (r = 0; r < n; r++)
			batch->rounded_sums[r] += fabs((double) batch->v[(size_t) i * TOGETHER + r]);
	for (r = 0; r < n; r++)
		while (batch->rounded[r] > batch->limit ||
			   (batch->absolute && batch->rounded_sums[r] > batch->absolute_limit))
			shrink(batch, r);
}

/* Count up to TOGETHER records. */
static void
count_batch(const RaceParams *params, const RaceRows *functions, const double *records,
			size_t n, int sign, int64_t *counters, Batch *batch)
{
	double	   *u = batch->u;
	uint32_t	i = 0;
	uint32_t	column;

	if (params->features > 0)
	{
		make_features(params, functions, records, n, u,
					  (double *) (batch->v + (size_t) (batch->columns + 1) * TOGETHER));
		i = race_moments_inputs(params);
		u += (size_t) params->features * TOGETHER;
	}
	for (; i < params->dims; i++, u += TOGETHER)
		scale_column(records + i, params->dims, n, scale_of(params, i), u);
	choose_factors(batch, params, n);
	round_batch(batch, n);
	enforce_limits(batch, n);
	for (column = 0; column <= batch->columns && n < TOGETHER; column++)
		memset(batch->v + (size_t) column * TOGETHER + n, 0, (TOGETHER - n) * sizeof(int16_t));
	race_triangle_add(batch->v, batch->columns + 1, n, sign, counters);
}

void
race_moments_count(const RaceParams *params, const RaceRows *functions,
				   const double *records, size_t n, int sign, int64_t *counters,
				   void *workspace)
{
	Batch	   *batch = (Batch *) workspace;
	size_t		from;

	batch->columns = race_moments_columns(params) - 1;
	batch->limit = (double) race_moments_squared(params);
	batch->absolute = params->clip == RACE_CLIP_ABSOLUTE;
	batch->absolute_limit = (double) most_absolute(params);
	batch->u = (double *) (batch + 1);
	batch->v = (int16_t *) (batch->u + (size_t) batch->columns * TOGETHER);
	for (from = 0; from < n; from += TOGETHER)
		count_batch(params, functions, records + from * params->dims,
					n - from < TOGETHER ? n - from : TOGETHER, sign, counters, batch);
}
