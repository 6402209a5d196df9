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
	double		difference;		/* of squares of D, */
	double		scores;			/* and of its scores */
	double		witness;		/* of P times squares of D */
	double		records;		/* of P, */
	double		pairs;			/* and of P squared; */
	double		squared_records;	/* both with squared weights; */
	double		squared_pairs;
	double		weights[4];		/* of powers of weights, which are in all but the lags */
	double		lags[RACE_SQUARE_LAGS + 1]; /* of products of P with itself, so far apart */
} Sums;

/* A row of both sketches, and space for weights */
typedef struct Row
{
	double		scale;			/* of the noise of each */
	uint32		range;
	double	   *x[2];			/* [range] */
	double	   *p;				/* [range + RACE_SQUARE_LAGS]: the first follow the last again */
	double	   *weights;		/* [range] */
} Row;

static Row
allocate_row(uint32 range)
{
	Row			row;
	int			side;

	row.range = range;
	row.scale = 0;
	for (side = 0; side < 2; side++)
		row.x[side] = palloc0(range * sizeof(double));
	row.p = palloc((range + RACE_SQUARE_LAGS) * sizeof(double));
	row.weights = palloc(range * sizeof(double));
	return row;
}

static void
free_row(Row *row)
{
	int			side;

	for (side = 0; side < 2; side++)
		pfree(row->x[side]);
	pfree(row->p);
	pfree(row->weights);
}

static void
load_row(const RacePair *pair, uint32 number, Row *row)
{
	double		share[2] = {pair->records[0] / (pair->records[0] + pair->records[1]), 0};
	int64		counters[RACE_COUNTER_BLOCK];
	uint32		from;
	uint32		i;
	int			side;

	share[1] = 1 - share[0];
	for (side = 0; side < 2 && pair->view[side] != NULL; side++)
		for (from = 0; from < row->range; from += RACE_COUNTER_BLOCK)
		{
			uint32		n = Min(row->range - from, RACE_COUNTER_BLOCK);

			CHECK_FOR_INTERRUPTS();
			race_counters_load(pair->view[side]->counters, pair->view[side]->width,
							   (Size) number * row->range + from, n, counters);
			for (i = 0; i < n; i++)
				row->x[side][from + i] = (double) counters[i] / pair->records[side];
		}
	for (i = 0; i < row->range + RACE_SQUARE_LAGS; i++)
		row->p[i] = share[0] * row->x[0][i % row->range] + share[1] * row->x[1][i % row->range];
}

#define BESIDE		4			/* buckets on each side whose mean tells a weight */
#define SEEN		100.0		/* the squared signal over noise at which it is a half */

/*
 * The weight of a bucket is m^2 / (m^2 + v), where m is the mean of buckets beside it, and v the
 * variance of noise SEEN times: it is large where a difference of a tenth stands out.
 */
static void
find_weights(const Row *row, double noise)
{
	double		v = SEEN * noise;
	double		sum = 0;
	uint32		range = row->range;
	uint32		i;

	for (i = 0; i < 2 * BESIDE + 1; i++)
		sum += row->p[(range - BESIDE + i) % range];
	for (i = 0; i < range; i++)
	{
		double		m = Max((sum - row->p[i]) / (2 * BESIDE), 0);

		row->weights[i] = m > 0 ? m * m / (m * m + v) : 0;
		sum += row->p[(i + BESIDE + 1) % range] - row->p[(range + i - BESIDE) % range];
	}
}

/*
 * The difference of two Laplace variables of scale 1 has the density f(x) = (1 + |x|) e^-|x| / 4.
 * What is small beside it, s, is told best by f''(x) / f(x), whose mean is s^2 SCORE_INFORMATION / 2:
 * divided by that, it is in place of x^2 - 4.  Its variance and third moment are in parts of
 * powers of the variance of noise, that of its product with s in parts of that of 2 x s.
 */
#define SCORE_INFORMATION	0.19269472
#define SCORE_VARIANCE		1.2973890
#define SCORE_THIRD			(-0.6381270)
#define SCORE_WITH_OTHERS	4.0151305

/* Chance may make such a part of the variance of noise */
#define MOST_CHANCE			0.02

static double
score(double d, double scale)
{
	double		x = fabs(d) / scale;

	return scale * scale * (x - 1) / (x + 1) * 2 / SCORE_INFORMATION;
}

static void
add_counters(Sums *sums, const Row *row)
{
	uint32		i;
	int			lag;

	for (i = 0; i < row->range; i++)
	{
		double		w = row->weights[i];
		double		a = row->x[0][i];
		double		b = row->x[1][i];
		double		d = a - b;

		sums->aa += w * a * a;
		sums->ab += w * a * b;
		sums->bb += w * b * b;
		sums->difference += w * d * d;
		if (row->scale > 0)
			sums->scores += w * score(d, row->scale);
		sums->witness += w * row->p[i] * d * d;
		sums->records += w * row->p[i];
		sums->weights[1] += w;
		sums->weights[2] += w * w;
		sums->weights[3] += w * w * w;
		sums->pairs += w * row->p[i] * row->p[i];
		sums->squared_records += w * w * row->p[i];
		sums->squared_pairs += w * w * row->p[i] * row->p[i];
	}
	for (lag = 0; lag <= RACE_SQUARE_LAGS; lag++)
	{
		double		sum = 0;

		for (i = 0; i < row->range; i++)
			sum += row->p[i] * row->p[i + lag];
		sums->lags[lag] += sum;
	}
}

static void
add_row(Sums *sums, const RacePair *pair, uint32 number, Row *row)
{
	uint32		i;

	load_row(pair, number, row);
	for (i = 0; i < row->range; i++)
		row->weights[i] = 1;
	if (pair->visible)
		find_weights(row, race_noise_of_both(pair));
	add_counters(sums, row);
}

static void
add_sums(Sums *total, const Sums *more)
{
	int			lag;
	int			power;

	total->aa += more->aa;
	total->ab += more->ab;
	total->bb += more->bb;
	total->difference += more->difference;
	total->scores += more->scores;
	total->witness += more->witness;
	total->records += more->records;
	total->pairs += more->pairs;
	total->squared_records += more->squared_records;
	total->squared_pairs += more->squared_pairs;
	for (power = 1; power < 4; power++)
		total->weights[power] += more->weights[power];
	for (lag = 0; lag <= RACE_SQUARE_LAGS; lag++)
		total->lags[lag] += more->lags[lag];
}

/* The scale of Laplace noise in each sketch, if it is about the same; else 0 */
static double
scale_of_both(const RacePair *pair)
{
	double		scale[2];
	int			side;

	for (side = 0; side < 2; side++)
	{
		const RaceView *view = pair->view[side];

		if (!pair->visible || view == NULL || view->header->noise.releases != 1 ||
			view->header->noise.mechanism != RACE_MECHANISM_LAPLACE)
			return 0;
		scale[side] = sqrt(race_noise_of(pair, side).second / 2);
	}
	return fabs(scale[0] / scale[1] - 1) > 0.05 ? 0 : (scale[0] + scale[1]) / 2;
}

/* Sums over all rows, and the variance of D's product with itself by how blocks of rows differ */
static Sums
sum_rows(const RacePair *pair, uint32 rows, double *variance)
{
	uint32		blocks = race_answers_blocks(pair->view[0]->params, rows);
	Row			space = allocate_row(pair->view[0]->params->range);
	Sums		total;
	double		squares = 0;
	uint64		row = 0;
	uint32		i;

	memset(&total, 0, sizeof(Sums));
	space.scale = scale_of_both(pair);
	for (i = 0; i < blocks; i++)
	{
		uint64		end = (uint64) (i + 1) * rows / blocks;
		uint64		first = row;
		Sums		sums;

		memset(&sums, 0, sizeof(Sums));
		for (; row < end; row++)
			add_row(&sums, pair, row, &space);
		squares += pow(sums.difference / (end - first), 2);
		add_sums(&total, &sums);
	}
	free_row(&space);
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

/* The mean kernel of two records, from a product that noise had its share in */
static double
mean_kernel(double product, double noise, double self, double n)
{
	double		kernel = (product - noise - self / n) / (1 - 1 / n);

	return Max(Min(kernel, 1), 0);
}

/*
 * Moments of P: n independent records, with noise of this variance in each counter.  What weights
 * leave of the variance of the kernel is taken for what they leave of pairs in a bucket, squared.
 */
static void
find_moments(const RacePair *pair, const Sums *sums, uint32 rows, double noise,
			 RaceProducts *products)
{
	double		n = pair->records[0] + pair->records[1];
	double		range = pair->view[0]->params->range;
	double		kernel = mean_kernel(sums->lags[0] / rows, range * noise, 1, n);
	double		variance = kernel_square(pair, sums, kernel, rows) - kernel * kernel;

	products->kernel = mean_kernel(sums->pairs / rows, sums->weights[1] / rows * noise,
								   products->self, n);
	if (pair->visible)
	{
		double		pairs = sums->lags[0] - range * rows * noise;
		double		left = pairs > 0 ?
			(sums->squared_pairs - sums->weights[2] * noise) / pairs : 1;

		variance *= Max(Min(left, 1), products->self * products->self);
	}
	products->kernel_square = products->kernel * products->kernel + variance;
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

/* The mean weight at a record of P, from a sum over P; 1 without weights */
static double
mean_weight(const RacePair *pair, double sum)
{
	return pair->visible ? Max(Min(sum, 1), 0) : 1;
}

static void
use_scores(RaceProducts *products, const Sums *sums, uint32 rows, double noise)
{
	products->scored = true;
	products->difference = sums->scores / rows;
	products->noise_variance = SCORE_VARIANCE * sums->weights[2] / rows / rows * pow(noise, 2);
	products->noise_third = SCORE_THIRD * sums->weights[3] / rows / rows / rows * pow(noise, 3);
	products->with_record *= SCORE_WITH_OTHERS;
	products->with_both *= SCORE_WITH_OTHERS;
}

static void
row_products(const RacePair *pair, RaceProducts *products)
{
	const RaceView *b = pair->view[1];
	uint32		rows = Min(pair->view[0]->params->rows,
						   b == NULL ? PG_UINT32_MAX : b->params->rows);
	RaceCumulants mine = race_noise_of(pair, 0);
	RaceCumulants theirs = race_noise_of(pair, 1);
	RaceCumulants noise = race_cumulants_add(mine, theirs);
	Sums		sums = sum_rows(pair, rows, &products->rows_variance);
	/* the buckets of a row, or sums of powers of their weights */
	double		range = sums.weights[1] / rows;
	double		squares = sums.weights[2] / rows;
	double		cubes = sums.weights[3] / rows;

	double		squared_self = mean_weight(pair, sums.squared_records / rows);

	products->self = mean_weight(pair, sums.records / rows);
	products->aa = sums.aa / rows - range * mine.second;
	products->bb = sums.bb / rows - range * theirs.second;
	products->ab = sums.ab / rows - (products->same ? range * mine.second : 0);
	products->noise_variance = squares / rows * (noise.fourth + 2 * pow(noise.second, 2));
	products->noise_third = cubes / rows / rows *
		(noise.sixth + 12 * noise.fourth * noise.second + 8 * pow(noise.second, 3));
	products->with_difference = noise.second / rows *
		Max(sums.difference / rows - range * noise.second, 0);
	find_moments(pair, &sums, rows, race_noise_of_both(pair), products);
	products->with_record = noise.second / rows * squared_self;
	products->with_both = noise.second / rows *
		mean_kernel(sums.squared_pairs / rows, squares * race_noise_of_both(pair), squared_self,
					pair->records[0] + pair->records[1]);
	products->difference_square = Max(sums.witness / rows - noise.second, 0);
	products->difference = sums.difference / rows - range * noise.second;
	if (scale_of_both(pair) > 0 &&
		(1 / pair->records[0] + 1 / pair->records[1]) * products->self <
		MOST_CHANCE * range * noise.second)
		use_scores(products, &sums, rows, noise.second);
}

bool
race_products_can_weigh(const RacePair *pair)
{
	const RaceParams *params = pair->view[0]->params;

	return !race_is_grid(params) && params->rehash == RACE_REHASH_FOLD &&
		params->range > 4 * BESIDE && race_noise_of_both(pair) > 0;
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
