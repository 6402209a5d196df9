/*
 * products.c
 *		Sums of products of the counters of rows.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "../fit/answers.h"
#include "../lsh/grid.h"
#include "products.h"

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
