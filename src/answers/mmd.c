/*
 * mmd.c
 *		Distance of two releases: maximum mean discrepancy
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "miscadmin.h"

#include "../core/core.h"
#include "mmd.h"
#include "question.h"
#include "row_estimator.h"
#include "solver.h"
#include "tail.h"

/*
 * race_similarity and race_distance: how alike the records of two sketches are.
 *
 * The squared distance is the maximum mean discrepancy (Gretton et al. 2012): the squared
 * length of the difference of both mean functions.  It is estimated as a U-statistic: pairs of
 * a record with itself are left out, and so is the share of noise.  So its mean is 0 where both
 * are drawn from one population.
 *
 * Then it is a quadratic form in three things that do not depend on each other: which
 * records were drawn, the noise of counters, and the noise of both counts, by which each mean
 * function is too large or too small.  The variance and the third moment of the first two are
 * known (mmd.h).  Given the noise of counts, the form is taken for a shifted gamma variable
 * with these moments, as Gretton et al. take a gamma variable where there is no noise.  The
 * p-value is the mean of its tails over the noise of counts.
 */

PG_FUNCTION_INFO_V1(race_similarity);
PG_FUNCTION_INFO_V1(race_distance_sql);

/* ------------------------------------------------------------------ sketches */

/* Return both sketches with their numbers of records, each at least `least`. */
static RacePair
pair_of(const RaceQuestion questions[2], double least)
{
	RacePair	pair;
	int			side;

	race_check_comparable(&questions[0].view, &questions[1].view);
	for (side = 0; side < 2; side++)
	{
		pair.view[side] = &questions[side].view;
		pair.records[side] = Max(race_answers_divisor(race_answers_count(pair.view[side], NULL)), least);
	}
	return pair;
}

/* race_similarity(a, b) */
Datum
race_similarity(PG_FUNCTION_ARGS)
{
	RaceQuestion questions[2];
	RacePair	pair;
	RaceProducts products;
	double		p;
	double		shares;

	race_ask_pair(fcinfo, InvalidOid, &questions[0], &questions[1]);
	pair = pair_of(questions, 1);
	race_products(&pair, &products);
	p = race_collision_probability(questions[0].view.params);
	/* 1 unless a count is below 1, or within its noise */
	shares = questions[0].view.header->count / pair.records[0] *
		questions[1].view.header->count / pair.records[1];
	PG_RETURN_FLOAT8((products.ab - p * shares) / (1 - p));
}

/* ---------------------------------------------------------------- distances */

typedef struct Distance
{
	double		squared;
	double		standard_error;
	double		p_value;
} Distance;

/* The null hypothesis: moments of the squared distance of two samples of one population */
typedef struct Null
{
	double		variance;		/* of sampling and of the noise of counters */
	double		third;			/* their third central moment */
	double		kernel;			/* the mean kernel: the product of P with itself */
	double		with_shift;		/* the variance of the product of P with sampling and noise */
} Null;

/* Return the variance of the relative error of one count over the other. */
static double
count_variance(const RacePair *pair)
{
	double		sum = 0;
	int			side;

	for (side = 0; side < 2; side++)
		sum += pair->view[side]->header->noise.count_variance /
			(pair->records[side] * pair->records[side]);
	return sum;
}

/*
 * The parts by which the noise of a count may be off: cells of the same width, in standard
 * deviations, to both sides.  Cells of the same probability would leave out the tails.
 */
#define PARTS	40
#define CELL	0.3

typedef struct CountNoise
{
	double		part;
	double		probability;
} CountNoise;

/* The probability that noise is beyond so many standard deviations, to one side */
static double
beyond(const RaceNoise *noise, double deviations)
{
	return noise->mechanism == RACE_MECHANISM_GAUSSIAN ? race_normal_tail(deviations) :
		exp(-sqrt(2) * deviations) / 2;
}

static void
find_parts(const RacePair *pair, int side, CountNoise parts[PARTS])
{
	const RaceNoise *noise = &pair->view[side]->header->noise;
	double		deviation = sqrt(noise->count_variance) / pair->records[side];
	int			i;

	for (i = 0; i < PARTS / 2; i++)
	{
		double		from = i * CELL;
		double		outside = i + 1 == PARTS / 2 ? 0 : beyond(noise, from + CELL);

		parts[2 * i].part = deviation * (from + CELL / 2);
		parts[2 * i].probability = beyond(noise, from) - outside;
		parts[2 * i + 1].part = -parts[2 * i].part;
		parts[2 * i + 1].probability = parts[2 * i].probability;
	}
}

/* The tail, if the counts are off by so many parts more in one sketch than in the other */
static double
tail_given(const Null *null, double squared, double off, double off_variance)
{
	double		variance = null->variance + 4 * off * off * null->with_shift;

	if (!(variance > 0))
		return squared > 0 ? 0 : 1;
	return race_skew_tail(squared - null->kernel * (off * off - off_variance), variance,
						  null->third / pow(variance, 1.5));
}

static double
p_value(const RacePair *pair, const Null *null, double squared)
{
	CountNoise	parts[2][PARTS];
	double		variance = count_variance(pair);
	double		sum = 0;
	int			side;
	int			i;
	int			j;

	if (variance == 0)
		return tail_given(null, squared, 0, 0);
	for (side = 0; side < 2; side++)
		find_parts(pair, side, parts[side]);
	for (i = 0; i < PARTS; i++)
		for (j = 0; j < PARTS; j++)
			sum += parts[0][i].probability * parts[1][j].probability *
				tail_given(null, squared, parts[0][i].part - parts[1][j].part, variance);
	return Min(sum, 1);
}

/* Return the mean of the kernel over pairs of two records, from that over all pairs. */
static double
of_two_records(double mean, double records)
{
	return (mean * records - 1) / (records - 1);
}

static Null
find_null(const RacePair *pair, const RaceProducts *products)
{
	double		samples = 1 / pair->records[0] + 1 / pair->records[1];
	double		kernel = products->kernel;
	double		of_densities = Max(products->density_square - kernel * kernel, 0);
	double		with_density = Max(products->with_record - products->with_both, 0);
	/* the centered kernel: the sum of its eigenvalues, and that of their squares */
	double		first = 1 - kernel;
	double		second = Max(products->kernel_square - kernel * kernel - 2 * of_densities, 0);
	Null		null;

	null.kernel = kernel;
	null.variance = products->noise_variance + 2 * samples * samples * second +
		4 * samples * with_density;
	null.third = products->noise_third +
		24 * samples * products->with_record * (samples * second + with_density);
	/* the sum of third powers lies between second^2 / first and second^1.5 */
	if (first > 0 && second > 0)
		null.third += 8 * pow(samples, 3) * sqrt(pow(second, 3.5) / first);
	null.with_shift = products->with_both + samples * of_densities;
	return null;
}

/*
 * Return the variance of the estimate, whether or not both are of one population: by noise and
 * by sampling, and at least by how the rows differ.
 */
static double
variance_of(const RacePair *pair, const RaceProducts *products, const Null *null)
{
	double		samples = 1 / pair->records[0] + 1 / pair->records[1];
	/* the product of D and P */
	double		share = pair->records[0] / (pair->records[0] + pair->records[1]);
	double		along = share * products->aa + (1 - 2 * share) * products->ab -
		(1 - share) * products->bb;
	double		counts = count_variance(pair);

	return Max(null->variance + 4 * products->with_difference, products->rows_variance) +
		4 * samples * products->difference_square +
		4 * counts * along * along + 5 * pow(counts * products->kernel, 2);
}

static Distance
measure(const RacePair *pair, const RaceProducts *products)
{
	double		p = race_collision_probability(pair->view[0]->params);
	double		squared = of_two_records(products->aa, pair->records[0]) - 2 * products->ab +
		of_two_records(products->bb, pair->records[1]) -
		count_variance(pair) * products->kernel;
	Distance	distance = {0, 0, 1};
	Null		null = find_null(pair, products);

	if (products->same)
		return distance;
	distance.standard_error = INFINITY;
	/* noise with a variance beyond what a double holds hides everything */
	if (!isfinite(squared) || !isfinite(null.variance) || !isfinite(null.third))
		return distance;
	distance.squared = squared / (1 - p);
	/* a count within its noise, or below 2, says nothing */
	if (pair->view[0]->header->count < pair->records[0] ||
		pair->view[1]->header->count < pair->records[1])
		return distance;
	distance.standard_error = sqrt(variance_of(pair, products, &null)) / (1 - p);
	distance.p_value = p_value(pair, &null, squared);
	return distance;
}

/* race_distance(a, b) */
Datum
race_distance_sql(PG_FUNCTION_ARGS)
{
	RaceQuestion questions[2];
	RacePair	pair;
	RaceProducts products;
	RaceResultRow row;
	Distance	distance;

	race_row_start(&row, fcinfo);
	race_ask_pair(fcinfo, InvalidOid, &questions[0], &questions[1]);
	pair = pair_of(questions, 2);
	race_products(&pair, &products);
	distance = measure(&pair, &products);
	race_row_add(&row, Float8GetDatum(sqrt(Max(distance.squared, 0))));
	race_row_add(&row, Float8GetDatum(distance.squared));
	race_row_add(&row, Float8GetDatum(distance.standard_error));
	race_row_add(&row, Float8GetDatum(distance.p_value));
	PG_RETURN_DATUM(race_row_datum(&row));
}

/*
 * Sums of products of the counters of rows.
 */

void
race_check_comparable(const RaceView *a, const RaceView *b)
{
	int			halvings[2];

	if (!race_params_same_rows(a->params, b->params) &&
		!race_params_common_cells(a->params, b->params, halvings))
		race_params_check_same(a->params, b->params);
}

/* -------------------------------------------------------------------- noise */

double
race_noise_of(const RacePair *pair, int side)
{
	const RaceView *view = pair->view[side];
	double		unit;

	if (view == NULL)
		return 0;
	unit = (double) race_record_unit(view->params) * pair->records[side];
	return view->header->noise.counter_variance / (unit * unit);
}

double
race_noise_of_pooled(const RacePair *pair)
{
	double		n = pair->records[0] + pair->records[1];

	return race_noise_of(pair, 0) * pow(pair->records[0] / n, 2) +
		race_noise_of(pair, 1) * pow(pair->records[1] / n, 2);
}

/*
 * Laplace noise has an excess kurtosis of 3.  A merge of several releases has less, which is
 * not known, so this is an upper bound for it.
 */
RaceCumulants
race_noise_cumulants(const RacePair *pair, double first, double second)
{
	double		variance[2] = {first, second};
	RaceCumulants noise = {0, 0, 0};
	int			side;

	for (side = 0; side < 2; side++)
	{
		noise.second += variance[side];
		if (pair->view[side] == NULL ||
			pair->view[side]->header->noise.mechanism == RACE_MECHANISM_GAUSSIAN)
			continue;
		noise.fourth += 3 * pow(variance[side], 2);
		noise.sixth += 30 * pow(variance[side], 3);
	}
	return noise;
}

RaceCumulants
race_noise_of_difference(const RacePair *pair)
{
	return race_noise_cumulants(pair, race_noise_of(pair, 0), race_noise_of(pair, 1));
}

double
race_noise_third(RaceCumulants noise)
{
	return noise.sixth + 12 * noise.fourth * noise.second + 8 * pow(noise.second, 3);
}

/* --------------------------------------------------------------------- rows */

/* Sums over rows */
typedef struct Sums
{
	double		aa;
	double		ab;
	double		bb;
	double		witness;		/* of P times the square of D */
	double		lags[RACE_SQUARE_LAGS + 1]; /* of products of P with itself, shifted */
} Sums;

/* Load the counters of a row of one sketch, divided by its records. */
static void
load_row(const RacePair *pair, int side, uint32 number, double *x)
{
	const RaceView *view = pair->view[side];
	uint32		range = view->params->range;
	int64		counters[RACE_COUNTER_BLOCK];
	uint32		from;
	uint32		i;

	for (from = 0; from < range; from += RACE_COUNTER_BLOCK)
	{
		uint32		n = Min(range - from, RACE_COUNTER_BLOCK);

		CHECK_FOR_INTERRUPTS();
		race_counters_load(view->counters, view->width, (Size) number * range + from, n, counters);
		for (i = 0; i < n; i++)
			x[from + i] = (double) counters[i] / pair->records[side];
	}
}

/* Add a row; p has space for RACE_SQUARE_LAGS buckets more, which repeat the first ones. */
static void
add_row(Sums *sums, const RacePair *pair, uint32 number, double *a, double *b, double *p)
{
	double		share = pair->records[0] / (pair->records[0] + pair->records[1]);
	uint32		range = pair->view[0]->params->range;
	uint32		i;
	int			lag;

	load_row(pair, 0, number, a);
	if (pair->view[1] != NULL)
		load_row(pair, 1, number, b);
	for (i = 0; i < range + RACE_SQUARE_LAGS; i++)
		p[i] = share * a[i % range] + (1 - share) * b[i % range];
	for (i = 0; i < range; i++)
	{
		sums->aa += a[i] * a[i];
		sums->ab += a[i] * b[i];
		sums->bb += b[i] * b[i];
		sums->witness += p[i] * (a[i] - b[i]) * (a[i] - b[i]);
	}
	for (lag = 0; lag <= RACE_SQUARE_LAGS; lag++)
		for (i = 0; i < range; i++)
			sums->lags[lag] += p[i] * p[i + lag];
}

/* Return means over all rows, and the variance of D's product by how blocks of rows differ. */
static Sums
sum_rows(const RacePair *pair, uint32 rows, double *variance)
{
	uint32		blocks = race_answers_blocks(pair->view[0]->params, rows);
	uint32		range = pair->view[0]->params->range;
	double	   *a = palloc0(range * sizeof(double));
	double	   *b = palloc0(range * sizeof(double));
	double	   *p = palloc(((Size) range + RACE_SQUARE_LAGS) * sizeof(double));
	Sums		sums;
	double		before = 0;
	double		squares = 0;
	uint64		row = 0;
	uint32		i;
	int			lag;

	memset(&sums, 0, sizeof(Sums));
	for (i = 0; i < blocks; i++)
	{
		uint64		end = (uint64) (i + 1) * rows / blocks;
		uint64		first = row;
		double		difference;

		for (; row < end; row++)
			add_row(&sums, pair, row, a, b, p);
		difference = sums.aa - 2 * sums.ab + sums.bb;
		squares += pow((difference - before) / (end - first), 2);
		before = difference;
	}
	*variance = blocks < 2 ? 0 : Max(squares / blocks - pow(before / rows, 2), 0) / (blocks - 1);
	sums.aa /= rows;
	sums.ab /= rows;
	sums.bb /= rows;
	sums.witness /= rows;
	for (lag = 0; lag <= RACE_SQUARE_LAGS; lag++)
		sums.lags[lag] /= rows;
	pfree(a);
	pfree(b);
	pfree(p);
	return sums;
}

/*
 * Return the mean of the squared kernel of different records.  As the rows stand for the kernel,
 * its square is larger by the variance of their mean.
 */
static double
kernel_square(const RacePair *pair, const Sums *sums, double kernel, uint32 rows)
{
	const RaceParams *params = pair->view[0]->params;
	const double *square = race_kernel_type(params->kernel)->square;
	double		sum;
	int			lag;

	if (square == NULL || params->rehash != RACE_REHASH_FOLD ||
		params->range <= 2 * RACE_SQUARE_LAGS)
		return kernel;
	sum = square[0] * kernel;
	for (lag = 1; lag <= RACE_SQUARE_LAGS; lag++)
		sum += square[lag] * 2 * sums->lags[lag];
	sum = Max(Min(sum, kernel), kernel * kernel);
	return sum + (kernel - sum) / rows;
}

/* Check if both sketches have the same content. */
static bool
are_same(const RacePair *pair)
{
	const RaceView *a = pair->view[0];
	const RaceView *b = pair->view[1];
	int64		x[RACE_COUNTER_BLOCK];
	int64		y[RACE_COUNTER_BLOCK];
	Size		from;

	if (b == NULL || memcmp(a->header, b->header, sizeof(RaceHeader)) != 0 ||
		!race_params_same(a->params, b->params))
		return false;
	for (from = 0; from < RaceCounters(a->params); from += RACE_COUNTER_BLOCK)
	{
		Size		n = Min(RaceCounters(a->params) - from, RACE_COUNTER_BLOCK);

		race_counters_load(a->counters, a->width, from, n, x);
		race_counters_load(b->counters, b->width, from, n, y);
		if (memcmp(x, y, n * sizeof(int64)) != 0)
			return false;
	}
	return true;
}

static void
row_products(const RacePair *pair, RaceProducts *products)
{
	const RaceView *b = pair->view[1];
	uint32		rows = Min(pair->view[0]->params->rows,
						   b == NULL ? PG_UINT32_MAX : b->params->rows);
	double		range = pair->view[0]->params->range;
	double		n = pair->records[0] + pair->records[1];
	RaceCumulants noise = race_noise_of_difference(pair);
	Sums		sums = sum_rows(pair, rows, &products->rows_variance);
	double		kernel = (sums.lags[0] - range * race_noise_of_pooled(pair) - 1 / n) / (1 - 1 / n);

	products->aa = sums.aa - range * race_noise_of(pair, 0);
	products->bb = sums.bb - range * race_noise_of(pair, 1);
	products->ab = sums.ab - (products->same ? range * race_noise_of(pair, 0) : 0);
	products->noise_variance = range / rows * (noise.fourth + 2 * pow(noise.second, 2));
	products->noise_third = range / rows / rows * race_noise_third(noise);
	products->with_difference = noise.second / rows *
		Max(sums.aa - 2 * sums.ab + sums.bb - range * noise.second, 0);
	products->kernel = Max(Min(kernel, 1), 0);
	products->kernel_square = kernel_square(pair, &sums, products->kernel, rows);
	products->density_square = products->kernel * products->kernel;
	products->with_record = noise.second / rows;
	products->with_both = products->with_record * products->kernel;
	products->difference_square = Max(sums.witness - noise.second, 0);
}

void
race_products(const RacePair *pair, RaceProducts *products)
{
	memset(products, 0, sizeof(RaceProducts));
	products->same = are_same(pair);
	if (race_is_grid(pair->view[0]->params))
		race_grid_products(pair, products);
	else
		row_products(pair, products);
}

/*
 * Sums of products of grids: convolutions with the kernel, by Fourier transforms.
 *
 * A record is split linearly over the nodes around it.  Two records at random places of their
 * cells are some cells apart, blurred by both splits: by a cubic B-spline.  So the kernel between
 * nodes is divided by the transform of that spline (Unser 1999).  Then products estimate the
 * kernel itself, on average over places in a cell, and a record has 1 with itself.
 *
 * Transforms are on a torus that is longer than the nodes by the reach of the kernel, so that
 * pairs of nodes do not wrap around.  Products of a grid of two levels are sums over both levels, each with its
 * part of the kernel; its moments are of the fine nodes alone.
 */

/* Elements of a transform (16 bytes each), above which cells are halved */
#define MAX_TRANSFORM	((Size) 1 << 22)

/* Cells beyond the reach of a kernel in which its spline's coefficients fade out: 0.27^12 < 1e-6 */
#define FADING			12

typedef struct Nodes
{
	RaceGrid	grid;			/* the cells that both sketches have */
	int			halved[2];		/* halvings since noise was added */
	double	   *parts[2];		/* counters of both in parts of the whole; or NULL */
	size_t		nodes[RACE_FOURIER_DIMS];	/* 1 for axes that the grid does not have */
	size_t		sizes[RACE_FOURIER_DIMS];	/* of a transform */
	double		smooth;			/* mean step of a second level, else 0 */
	double		coarser;		/* mean step of the level that has the smooth rest, or 0 */
	double		step[RACE_FOURIER_DIMS];
} Nodes;

static Size
volume(const size_t *sizes)
{
	return sizes[0] * sizes[1] * sizes[2];
}

/* Set at[] to the coordinates of element i of an array of these sizes. */
static void
coordinates(const size_t *sizes, Size i, size_t *at)
{
	at[2] = i % sizes[2];
	at[1] = i / sizes[2] % sizes[1];
	at[0] = i / sizes[2] / sizes[1];
}

static Size
index_of(const size_t *sizes, const size_t *at)
{
	return (at[0] * sizes[1] + at[1]) * sizes[2] + at[2];
}

/* Set the sizes of arrays for a grid. */
static void
set_sizes(Nodes *nodes)
{
	int			first = RACE_FOURIER_DIMS - nodes->grid.dims;
	int			axis;

	for (axis = 0; axis < RACE_FOURIER_DIMS; axis++)
	{
		bool		used = axis >= first;
		size_t		n = used ? nodes->grid.cells[axis - first] + 1 : 1;
		double		step = used ? nodes->grid.step[axis - first] : 0;
		double		reach = nodes->coarser == 0 ? n :
			ceil(RACE_GRID_REACH * nodes->coarser / step) + FADING;

		nodes->nodes[axis] = n;
		nodes->step[axis] = step;
		nodes->sizes[axis] = used ? race_fourier_size(n + (size_t) Min(reach, n)) : 1;
	}
}

/* Halve the cells until a transform is small enough. */
static void
coarsen(Nodes *nodes)
{
	int			side;

	for (set_sizes(nodes); volume(nodes->sizes) > MAX_TRANSFORM && nodes->grid.halvings > 0;
		 set_sizes(nodes))
	{
		for (side = 0; side < 2 && nodes->parts[side] != NULL; side++)
		{
			race_grid_coarsen_real(&nodes->grid, nodes->parts[side], nodes->parts[side]);
			nodes->halved[side]++;
		}
		race_grid_halve(&nodes->grid);
	}
}

/*
 * Load the nodes of both sketches, with the finest cells that both have; or those of the second
 * level, which follow the first.
 */
static void
load_nodes(const RacePair *pair, Nodes *nodes, bool second)
{
	int			side;

	memset(nodes, 0, sizeof(Nodes));
	if (pair->view[1] != NULL && !second)
		(void) race_params_common_cells(pair->view[0]->params, pair->view[1]->params,
										nodes->halved);
	for (side = 0; side < 2 && pair->view[side] != NULL; side++)
	{
		const RaceView *view = pair->view[side];
		RaceGrid   *grid = &nodes->grid;
		double		unit = (double) race_record_unit(view->params) * pair->records[side];
		Size		from = 0;
		double	   *parts;
		Size		i;
		int			k;

		race_grid_of(view->params, grid);
		from = second ? grid->nodes : 0;
		for (k = RACE_GRID_FACTOR; second && k > 1; k /= 2)
			race_grid_halve(grid);
		parts = palloc_extended(grid->nodes * sizeof(double), MCXT_ALLOC_HUGE);
		for (i = 0; i < grid->nodes; i++)
			parts[i] = (double) race_counters_get(view->counters, view->width, from + i) / unit;
		for (k = 0; k < nodes->halved[side]; k++)
		{
			race_grid_coarsen_real(grid, parts, parts);
			race_grid_halve(grid);
		}
		nodes->parts[side] = parts;
	}
	nodes->smooth = second ? nodes->grid.mean_step : 0;
}

/* --------------------------------------------------------------- transforms */

static RaceComplex *
allocate(const Nodes *nodes)
{
	return palloc_extended(volume(nodes->sizes) * sizeof(RaceComplex),
						   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

/* Transform in place; the inverse is divided by the number of elements. */
static void
transform(const Nodes *nodes, RaceComplex *x, bool inverse)
{
	RaceComplex *space = palloc(race_fourier_space(nodes->sizes) * sizeof(RaceComplex));
	Size		n = volume(nodes->sizes);
	Size		i;

	race_fourier(x, nodes->sizes, inverse, space);
	for (i = 0; i < n && inverse; i++)
	{
		x[i].re /= n;
		x[i].im /= n;
	}
	pfree(space);
}

/* Return the transform of node values a + ib; b may be NULL. */
static RaceComplex *
transform_nodes(const Nodes *nodes, const double *a, const double *b)
{
	RaceComplex *x = allocate(nodes);
	size_t		at[RACE_FOURIER_DIMS];
	Size		i;

	for (i = 0; i < volume(nodes->nodes); i++)
	{
		RaceComplex *element;

		coordinates(nodes->nodes, i, at);
		element = &x[index_of(nodes->sizes, at)];
		element->re = a[i];
		element->im = b == NULL ? 0 : b[i];
	}
	transform(nodes, x, false);
	return x;
}

/* Return |A|^2, |B|^2 and the real part of A* B at frequency i of the transform of a + ib. */
static void
powers_at(const RaceComplex *x, const size_t *sizes, Size i, double *aa, double *bb, double *ab)
{
	RaceComplex c = x[i];
	RaceComplex d;
	size_t		at[RACE_FOURIER_DIMS];
	double		sum;
	double		re;
	int			axis;

	coordinates(sizes, i, at);
	for (axis = 0; axis < RACE_FOURIER_DIMS; axis++)
		at[axis] = at[axis] == 0 ? 0 : sizes[axis] - at[axis];
	d = x[index_of(sizes, at)];
	sum = c.re * c.re + c.im * c.im + d.re * d.re + d.im * d.im;
	re = c.re * d.re - c.im * d.im;
	*aa = (sum + 2 * re) / 4;
	*bb = (sum - 2 * re) / 4;
	*ab = (c.re * d.im + c.im * d.re) / 2;
}

/*
 * Return the transforms of the kernel between nodes (re) and of its square (im); both are even
 * functions, so both transforms are real.
 */
static RaceComplex *
transform_kernel(const Nodes *nodes, const RaceParams *params)
{
	RaceRadial *radial = palloc(sizeof(RaceRadial));
	RaceComplex *x = allocate(nodes);
	Size		n = volume(nodes->sizes);
	size_t		at[RACE_FOURIER_DIMS];
	Size		i;
	int			axis;

	race_radial_init_shape(radial, params, nodes->smooth, nodes->coarser);
	for (i = 0; i < n; i++)
	{
		double		sum = 0;

		if (i % 65536 == 0)
			CHECK_FOR_INTERRUPTS();
		coordinates(nodes->sizes, i, at);
		for (axis = 0; axis < RACE_FOURIER_DIMS; axis++)
		{
			double		apart = Min(at[axis], nodes->sizes[axis] - at[axis]) * nodes->step[axis];

			sum += radial->euclidean ? apart * apart : apart;
		}
		x[i].re = race_radial_value(radial, radial->euclidean ? sqrt(sum) : sum);
		x[i].im = x[i].re * x[i].re;
	}
	transform(nodes, x, false);
	for (i = 0; i < n; i++)
	{
		double		spline = 1;

		coordinates(nodes->sizes, i, at);
		for (axis = 0; axis < RACE_FOURIER_DIMS; axis++)
			if (nodes->nodes[axis] > 1)
				spline *= (2 + cos(2 * RACE_PI * at[axis] / nodes->sizes[axis])) / 3;
		x[i].re /= spline;
		x[i].im /= spline;
	}
	pfree(radial);
	return x;
}

/* -------------------------------------------------------------------- noise */

/*
 * Set the covariance along an axis, of nodes and of neighbors, of noise that had variance 1
 * before cells were halved.
 */
static void
covariance_of(int halvings, double covariance[2])
{
	double		h = ldexp(1, halvings);

	covariance[0] = (2 * h * h + 1) / (3 * h);
	covariance[1] = (h * h - 1) / (6 * h);
}

/* Return the mean of noise's product with itself: the trace of the kernel times its covariance. */
static void
noise_trace(const Nodes *nodes, const RaceComplex *kernel, int halvings, double *of_kernel,
			double *of_square)
{
	double		covariance[2];
	int			offset;

	covariance_of(halvings, covariance);
	*of_kernel = *of_square = 0;
	for (offset = 0; offset < 1 << RACE_FOURIER_DIMS; offset++)
	{
		size_t		at[RACE_FOURIER_DIMS];
		double		pairs = 1;
		int			axis;

		for (axis = 0; axis < RACE_FOURIER_DIMS; axis++)
		{
			double		n = (double) nodes->nodes[axis];

			at[axis] = offset >> axis & 1;
			/* nodes at the bounds have half of the fine ones */
			if (n > 1)
				pairs *= at[axis] == 0 ? n * covariance[0] - (covariance[0] - 1) :
					2 * (n - 1) * covariance[1];
			else if (at[axis] > 0)
				break;
		}
		if (axis < RACE_FOURIER_DIMS)
			continue;
		*of_kernel += pairs * kernel[index_of(nodes->sizes, at)].re;
		*of_square += pairs * kernel[index_of(nodes->sizes, at)].im;
	}
}

/*
 * Return the sum over pairs of nodes of the squares of the kernel times the covariance of noise,
 * from the transform of the kernel.
 */
static double
noise_squares(const Nodes *nodes, const RaceComplex *transformed, int halvings)
{
	RaceComplex *x = allocate(nodes);
	double		covariance[2];
	double		sum = 0;
	Size		n = volume(nodes->sizes);
	size_t		at[RACE_FOURIER_DIMS];
	Size		i;
	int			axis;

	covariance_of(halvings, covariance);
	for (i = 0; i < n; i++)
	{
		x[i].re = transformed[i].re;
		coordinates(nodes->sizes, i, at);
		for (axis = 0; axis < RACE_FOURIER_DIMS; axis++)
			if (nodes->nodes[axis] > 1)
				x[i].re *= covariance[0] +
					2 * covariance[1] * cos(2 * RACE_PI * at[axis] / nodes->sizes[axis]);
	}
	transform(nodes, x, true);
	for (i = 0; i < n; i++)
	{
		double		pairs = 1;

		coordinates(nodes->sizes, i, at);
		for (axis = 0; axis < RACE_FOURIER_DIMS; axis++)
			pairs *= Max((double) nodes->nodes[axis] -
						 Min(at[axis], nodes->sizes[axis] - at[axis]), 0);
		sum += pairs * x[i].re * x[i].re;
	}
	pfree(x);
	return sum;
}

/* ----------------------------------------------------------------- products */

/* Add the products, and with_difference and with_both with noise in them. */
static void
add_powers(const RacePair *pair, const Nodes *nodes, const RaceComplex *kernel,
		   RaceProducts *products)
{
	RaceComplex *both = transform_nodes(nodes, nodes->parts[0], nodes->parts[1]);
	double		noise = race_noise_of_difference(pair).second;
	double		share = pair->records[0] / (pair->records[0] + pair->records[1]);
	Size		n = volume(nodes->sizes);
	Size		i;

	for (i = 0; i < n; i++)
	{
		double		aa;
		double		bb;
		double		ab;
		double		weight = kernel[i].re / n;
		double		of_noise = noise * kernel[i].re * weight;

		if (i % 65536 == 0)
			CHECK_FOR_INTERRUPTS();
		powers_at(both, nodes->sizes, i, &aa, &bb, &ab);
		products->aa += weight * aa;
		products->ab += weight * ab;
		products->bb += weight * bb;
		products->with_difference += of_noise * (aa - 2 * ab + bb);
		products->with_both += of_noise *
			(share * share * aa + 2 * share * (1 - share) * ab + (1 - share) * (1 - share) * bb);
	}
	pfree(both);
}

/*
 * Find the moments of P.  The shares of noise are subtracted, and pairs of a record with itself;
 * bounds hold whatever noise is left.  The transform of P + iD times that of the kernel is what
 * both answer at the nodes.
 */
static void
find_table_moments(const RacePair *pair, const Nodes *nodes, RaceProducts *products)
{
	double		n = pair->records[0] + pair->records[1];
	double		share = pair->records[0] / n;
	double		noise = race_noise_of_pooled(pair);
	Size		count = nodes->grid.nodes;
	double	   *p = palloc_extended(count * sizeof(double), MCXT_ALLOC_HUGE);
	double	   *d = palloc_extended(count * sizeof(double), MCXT_ALLOC_HUGE);
	double		least = products->kernel * products->kernel;
	RaceComplex *kernel = transform_kernel(nodes, pair->view[0]->params);
	/* of noise as if no cells were halved: too little, so difference_square is an upper bound */
	double		squares = noise_squares(nodes, kernel, 0);
	double		trace;
	double		self;
	double		of_squares = 0;
	double		of_densities = 0;
	double		of_differences = 0;
	double		of_answers = 0;
	double		of_square;
	RaceComplex *both;
	size_t		at[RACE_FOURIER_DIMS];
	Size		i;

	for (i = 0; i < count; i++)
	{
		p[i] = share * nodes->parts[0][i] + (1 - share) * nodes->parts[1][i];
		d[i] = nodes->parts[0][i] - nodes->parts[1][i];
	}
	both = transform_nodes(nodes, p, d);
	for (i = 0; i < volume(nodes->sizes); i++)
	{
		double		pp;
		double		dd;
		double		pd;

		powers_at(both, nodes->sizes, i, &pp, &dd, &pd);
		of_squares += kernel[i].im * pp / volume(nodes->sizes);
	}
	for (i = 0; i < volume(nodes->sizes); i++)
	{
		both[i].re *= kernel[i].re;
		both[i].im *= kernel[i].re;
	}
	transform(nodes, both, true);
	for (i = 0; i < count; i++)
	{
		RaceComplex answer;

		coordinates(nodes->nodes, i, at);
		answer = both[index_of(nodes->sizes, at)];
		of_densities += p[i] * answer.re * answer.re;
		of_answers += answer.re;
		of_differences += p[i] * answer.im * answer.im;
	}
	transform(nodes, kernel, true);
	self = kernel[0].re;
	noise_trace(nodes, kernel, Max(nodes->halved[0], nodes->halved[1]), &of_square, &trace);
	products->kernel_square = (of_squares - noise * trace - 1 / n) / (1 - 1 / n);
	products->kernel_square = Max(Min(products->kernel_square, products->kernel), least);
	of_densities -= noise * (squares / count + 2 * self * of_answers) +
		(products->kernel_square + 2 * products->kernel) / n;
	products->density_square = Max(Min(of_densities, (products->kernel_square + least) / 2), least);
	products->difference_square =
		Max(of_differences - race_noise_of_difference(pair).second * squares / count, 0);
	pfree(kernel);
	pfree(p);
	pfree(d);
	pfree(both);
}

/* Add the products of a level, and what noise does to them. */
static void
add_level(const RacePair *pair, Nodes *nodes, RaceProducts *products)
{
	RaceCumulants noise = race_noise_of_difference(pair);
	RaceComplex *kernel;
	double		trace[2];
	double		of_square;
	double		count;
	double		self;
	double		squares;
	int			side;

	coarsen(nodes);
	count = nodes->grid.nodes;
	kernel = transform_kernel(nodes, pair->view[0]->params);
	add_powers(pair, nodes, kernel, products);
	squares = noise_squares(nodes, kernel, Max(nodes->halved[0], nodes->halved[1]));
	transform(nodes, kernel, true);
	self = kernel[0].re;
	for (side = 0; side < 2; side++)
		noise_trace(nodes, kernel, nodes->halved[side], &trace[side], &of_square);
	pfree(kernel);

	products->aa -= race_noise_of(pair, 0) * trace[0];
	products->bb -= race_noise_of(pair, 1) * trace[1];
	products->ab -= products->same ? race_noise_of(pair, 0) * trace[0] : 0;
	products->noise_variance += count * self * self * noise.fourth +
		2 * squares * pow(noise.second, 2);
	products->noise_third += count * pow(self, 3) *
		(noise.sixth + 12 * noise.fourth * noise.second);
	/* the sum of cubed eigenvalues lies between its bounds by their sum and their squares */
	if (Max(trace[0], trace[1]) > 0)
		products->noise_third += 8 * pow(noise.second, 3) *
			sqrt(pow(squares, 3.5) / Max(trace[0], trace[1]));
	products->with_record += noise.second * squares / count;
	products->with_difference -= pow(noise.second, 2) * squares;
	products->with_both -= noise.second * race_noise_of_pooled(pair) * squares;
}

void
race_grid_products(const RacePair *pair, RaceProducts *products)
{
	const RaceParams *params = pair->view[0]->params;
	bool		two = race_grid_levels(params) > 1 &&
		(pair->view[1] == NULL || race_params_same(params, pair->view[1]->params));
	double		n = pair->records[0] + pair->records[1];
	double		share = pair->records[0] / n;
	Nodes		nodes;
	Nodes		second;
	int			side;

	load_nodes(pair, &nodes, false);
	if (two)
	{
		load_nodes(pair, &second, true);
		nodes.coarser = second.smooth;
		add_level(pair, &second, products);
		for (side = 0; side < 2 && second.parts[side] != NULL; side++)
			pfree(second.parts[side]);
	}
	add_level(pair, &nodes, products);
	products->with_difference = Max(products->with_difference, 0);
	products->with_both = Max(products->with_both, 0);
	products->kernel = (share * share * products->aa + 2 * share * (1 - share) * products->ab +
						(1 - share) * (1 - share) * products->bb - 1 / n) / (1 - 1 / n);
	products->kernel = Max(Min(products->kernel, 1), 0);
	nodes.coarser = 0;
	coarsen(&nodes);
	if (pair->view[1] != NULL)
		find_table_moments(pair, &nodes, products);
	for (side = 0; side < 2 && nodes.parts[side] != NULL; side++)
		pfree(nodes.parts[side]);
}
