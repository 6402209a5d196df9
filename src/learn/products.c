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
	if (!race_params_same_rows(a->params, b->params) &&
		!(race_is_grid(a->params) && race_is_grid(b->params) &&
		  race_grids_comparable(a->params, b->params)))
		race_params_check_same(a->params, b->params);
}

/*
 * Laplace noise has an excess kurtosis of 3; a sum of several releases has less, which is not
 * known.
 */
RaceCumulants
race_noise_of(const RacePair *pair, int side)
{
	RaceCumulants none = {0, 0, 0};
	RaceCumulants noise;
	const RaceView *view = pair->view[side];
	double		unit;
	bool		gaussian;

	if (view == NULL)
		return none;
	unit = (double) race_record_unit(view->params) * pair->records[side];
	gaussian = view->header->noise.mechanism == RACE_MECHANISM_GAUSSIAN;
	noise.second = view->header->noise.counter_variance / (unit * unit);
	noise.fourth = gaussian ? 0 : 3 * pow(noise.second, 2);
	noise.sixth = gaussian ? 0 : 30 * pow(noise.second, 3);
	return noise;
}

RaceCumulants
race_cumulants_add(RaceCumulants a, RaceCumulants b)
{
	a.second += b.second;
	a.fourth += b.fourth;
	a.sixth += b.sixth;
	return a;
}

double
race_noise_of_both(const RacePair *pair)
{
	double		n = pair->records[0] + pair->records[1];

	return race_noise_of(pair, 0).second * pow(pair->records[0] / n, 2) +
		race_noise_of(pair, 1).second * pow(pair->records[1] / n, 2);
}

/* -------------------------------------------------------------------- rows */

/* Sums over the rows of a block */
typedef struct Sums
{
	double		aa;
	double		ab;
	double		bb;
	double		difference;		/* of squares of D */
	double		witness;		/* of P times squares of D */
	double		lags[RACE_SQUARE_LAGS + 1]; /* of products of P with itself, so far apart */
} Sums;

/* Counters from ... from + n - 1 of a row, as if the first followed the last */
static void
load_around(const RaceView *view, uint32 row, uint32 from, uint32 n, double scale, double *out)
{
	int64		counters[RACE_COUNTER_BLOCK + RACE_SQUARE_LAGS];
	uint32		range = view->params->range;
	Size		first = (Size) row * range;
	uint32		i = 0;

	while (i < n)
	{
		uint32		at = (from + i) % range;
		uint32		straight = Min(n - i, range - at);

		race_counters_load(view->counters, view->width, first + at, straight, counters + i);
		i += straight;
	}
	for (i = 0; i < n; i++)
		out[i] = (double) counters[i] * scale;
}

#define BLOCK	(RACE_COUNTER_BLOCK + RACE_SQUARE_LAGS)

/* Add n counters of a and b to the sums; P is followed by RACE_SQUARE_LAGS more. */
static void
add_counters(Sums *sums, const double *a, const double *b, const double *p, uint32 n)
{
	uint32		i;
	int			lag;

	for (i = 0; i < n; i++)
	{
		double		d = a[i] - b[i];

		sums->aa += a[i] * a[i];
		sums->ab += a[i] * b[i];
		sums->bb += b[i] * b[i];
		sums->difference += d * d;
		sums->witness += p[i] * d * d;
	}
	for (lag = 0; lag <= RACE_SQUARE_LAGS; lag++)
	{
		double		sum = 0;

		for (i = 0; i < n; i++)
			sum += p[i] * p[i + lag];
		sums->lags[lag] += sum;
	}
}

static void
add_row(Sums *sums, const RacePair *pair, uint32 row)
{
	uint32		range = pair->view[0]->params->range;
	double		share[2] = {pair->records[0] / (pair->records[0] + pair->records[1]), 0};
	uint32		from;

	share[1] = 1 - share[0];
	for (from = 0; from < range; from += RACE_COUNTER_BLOCK)
	{
		uint32		n = Min(range - from, RACE_COUNTER_BLOCK);
		double		x[2][BLOCK] = {{0}};
		double		p[BLOCK];
		uint32		i;
		int			side;

		CHECK_FOR_INTERRUPTS();
		for (side = 0; side < 2; side++)
			if (pair->view[side] != NULL)
				load_around(pair->view[side], row, from, n + RACE_SQUARE_LAGS,
							1 / pair->records[side], x[side]);
		for (i = 0; i < n + RACE_SQUARE_LAGS; i++)
			p[i] = share[0] * x[0][i] + share[1] * x[1][i];
		add_counters(sums, x[0], x[1], p, n);
	}
}

static void
add_sums(Sums *total, const Sums *more)
{
	int			lag;

	total->aa += more->aa;
	total->ab += more->ab;
	total->bb += more->bb;
	total->difference += more->difference;
	total->witness += more->witness;
	for (lag = 0; lag <= RACE_SQUARE_LAGS; lag++)
		total->lags[lag] += more->lags[lag];
}

/* Sums over all rows, and the variance of D's product with itself by how blocks of rows differ */
static Sums
sum_rows(const RacePair *pair, uint32 rows, double *variance)
{
	uint32		blocks = race_answers_blocks(pair->view[0]->params, rows);
	Sums		total;
	double		squares = 0;
	uint64		row = 0;
	uint32		i;

	memset(&total, 0, sizeof(Sums));
	for (i = 0; i < blocks; i++)
	{
		uint64		end = (uint64) (i + 1) * rows / blocks;
		uint64		first = row;
		Sums		sums;

		memset(&sums, 0, sizeof(Sums));
		for (; row < end; row++)
			add_row(&sums, pair, row);
		squares += pow(sums.difference / (end - first), 2);
		add_sums(&total, &sums);
	}
	*variance = blocks < 2 ? 0 :
		Max(squares / blocks - pow(total.difference / rows, 2), 0) / (blocks - 1);
	return total;
}

/*
 * The mean of the squared kernel of different records.  As the rows have the kernel, its
 * square is larger by the variance of their mean.
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
		sum += square[lag] * 2 * sums->lags[lag] / rows;
	sum = Max(Min(sum, kernel), kernel * kernel);
	return sum + (kernel - sum) / rows;
}

/* Moments of P: n independent records, with noise of this variance in each counter */
static void
find_moments(const RacePair *pair, const Sums *sums, uint32 rows, double noise,
			 RaceProducts *products)
{
	double		n = pair->records[0] + pair->records[1];
	double		range = pair->view[0]->params->range;
	double		kernel = (sums->lags[0] / rows - range * noise - 1 / n) / (1 - 1 / n);

	products->kernel = Max(Min(kernel, 1), 0);
	products->kernel_square = kernel_square(pair, sums, products->kernel, rows);
	products->density_square = products->kernel * products->kernel;
}

/* Do both have the same content? */
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
	double		range = pair->view[0]->params->range;
	uint32		rows = Min(pair->view[0]->params->rows,
						   b == NULL ? PG_UINT32_MAX : b->params->rows);
	RaceCumulants mine = race_noise_of(pair, 0);
	RaceCumulants theirs = race_noise_of(pair, 1);
	RaceCumulants noise = race_cumulants_add(mine, theirs);
	Sums		sums = sum_rows(pair, rows, &products->rows_variance);

	products->aa = sums.aa / rows - range * mine.second;
	products->bb = sums.bb / rows - range * theirs.second;
	products->ab = sums.ab / rows - (products->same ? range * mine.second : 0);
	products->noise_variance = range / rows * (noise.fourth + 2 * pow(noise.second, 2));
	products->noise_third = range / rows / rows *
		(noise.sixth + 12 * noise.fourth * noise.second + 8 * pow(noise.second, 3));
	products->with_difference = noise.second / rows *
		Max(sums.difference / rows - range * noise.second, 0);
	find_moments(pair, &sums, rows, race_noise_of_both(pair), products);
	products->with_record = noise.second / rows;
	products->with_both = noise.second / rows * products->kernel;
	products->difference_square = Max(sums.witness / rows - noise.second, 0);
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
