/*
 * mmd.c
 *		Distance of two releases: maximum mean discrepancy
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "miscadmin.h"

#include "../core/core.h"
#include "distributions.h"
#include "mmd.h"
#include "question.h"
#include "row_estimator.h"
#include "solver.h"

/*
 * race_distance: how alike the records of two sketches are.
 *
 * The squared distance is the maximum mean discrepancy (Gretton et al. 2012): the squared
 * length of the difference of both mean functions.  It is estimated as a U-statistic: pairs of
 * a record with itself are left out, and so is the share of noise.  So its mean is 0 where both
 * are drawn from one population.
 *
 * Then it is a quadratic form in three things that do not depend on each other: which
 * records were drawn, the noise of counters, and the noise of both counts, by which each mean
 * function is too large or too small.  The variance and the third moment of the first two are
 * known (mmd.h); the noise of counts adds its own.  The form is taken for a shifted gamma variable
 * with these moments, as Gretton et al. take a gamma variable where there is no noise.
 */

PG_FUNCTION_INFO_V1(race_distance_sql);

/* ------------------------------------------------------------------ sketches */

/* Raise 22023 unless the sketches have the same parameters, but for rows and cells. */
static void
check_comparable(const RaceParams *a, const RaceParams *b)
{
	int			halvings[2];

	if (!race_params_same_rows(a, b) && !race_params_common_cells(a, b, halvings))
		race_params_check_same(a, b);
}

/* Return both sketches with their numbers of records, each at least 2. */
static RacePair
pair_of(const RaceQuestion questions[2])
{
	RacePair	pair;

	check_comparable(questions[0].view.params, questions[1].view.params);
	for (int side = 0; side < 2; side++)
	{
		pair.view[side] = &questions[side].view;
		pair.records[side] = Max(race_count_divisor(race_record_count(pair.view[side], NULL)), 2);
	}
	return pair;
}

/* ---------------------------------------------------------------- distances */

typedef struct Distance
{
	double		squared;
	double		standard_error;
	double		p_value;
} Distance;

/* Null hypothesis: moments of the squared distance of two samples of one population */
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

	for (int side = 0; side < 2; side++)
		sum += pair->view[side]->header->noise.count_variance /
			(pair->records[side] * pair->records[side]);
	return sum;
}

static double
p_value(const RacePair *pair, const Null *null, double squared)
{
	/* a relative error e of counts, about normal, adds kernel (e^2 - its variance), and 2 e times the shift */
	double		counts = count_variance(pair);
	double		of_counts = null->kernel * counts;
	double		variance = null->variance + 4 * counts * null->with_shift + 2 * of_counts * of_counts;
	double		third = null->third + 8 * pow(of_counts, 3);

	if (!(variance > 0))
		return squared > 0 ? 0 : 1;
	return race_skew_tail(squared, variance, third / pow(variance, 1.5));
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
	double		with_density = Max(products->with_record - products->with_both, 0);
	/* the centered kernel: the sum of its eigenvalues, and that of their squares */
	double		first = 1 - kernel;
	double		second = Max(products->kernel_square - kernel * kernel, 0);
	Null		null;

	null.kernel = kernel;
	null.variance = products->noise_variance + 2 * samples * samples * second +
		4 * samples * with_density;
	null.third = products->noise_third +
		24 * samples * products->with_record * (samples * second + with_density);
	/* the sum of third powers lies between second^2 / first and second^1.5 */
	if (first > 0 && second > 0)
		null.third += 8 * pow(samples, 3) * sqrt(pow(second, 3.5) / first);
	null.with_shift = products->with_both;
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

/* The mean kernel of all pairs, from products that were taken for at least two records on each side */
static double
similarity_of(const RacePair *pair, const RaceProducts *products)
{
	double		p = race_collision_probability(pair->view[0]->params);
	double		shares = 1;		/* unless a count is below 1, or within its noise */
	double		ab = products->ab;

	for (int side = 0; side < 2; side++)
	{
		double		records = race_count_divisor(race_record_count(pair->view[side], NULL));

		ab *= pair->records[side] / records;
		shares *= pair->view[side]->header->count / records;
	}
	return (ab - p * shares) / (1 - p);
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
	double		similarity;

	race_row_start(&row, fcinfo);
	race_ask_pair(fcinfo, InvalidOid, &questions[0], &questions[1]);
	pair = pair_of(questions);
	race_products(&pair, &products);
	distance = measure(&pair, &products);
	similarity = similarity_of(&pair, &products);
	race_row_add(&row, Float8GetDatum(sqrt(Max(distance.squared, 0))));
	race_row_add(&row, Float8GetDatum(distance.squared));
	race_row_add(&row, Float8GetDatum(distance.standard_error));
	race_row_add(&row, Float8GetDatum(distance.p_value));
	if (row.desc->natts > 4)	/* not in catalogs before 0.3.0 */
		race_row_add(&row, Float8GetDatum(similarity));
	PG_RETURN_DATUM(race_row_datum(&row));
}
/* -------------------------------------------------------------------- noise */

/* Even cumulants of the noise in a counter of D, in parts of a whole */
typedef struct Cumulants
{
	double		second;
	double		fourth;
	double		sixth;
} Cumulants;

/* Return the noise variance of a counter of a sketch, in parts of the whole; 0 without the sketch. */
static double
noise_of(const RacePair *pair, int side)
{
	const RaceView *view = pair->view[side];
	double		unit;

	if (view == NULL)
		return 0;
	unit = (double) race_record_unit(view->params) * pair->records[side];
	return view->header->noise.counter_variance / (unit * unit);
}

/* Return the noise variance of a counter of P. */
static double
noise_of_pooled(const RacePair *pair)
{
	double		n = pair->records[0] + pair->records[1];

	return noise_of(pair, 0) * pow(pair->records[0] / n, 2) +
		noise_of(pair, 1) * pow(pair->records[1] / n, 2);
}

/*
 * Laplace noise has an excess kurtosis of 3.  A merge of several releases has less, which is
 * not known, so this is an upper bound for it.
 */
static Cumulants
noise_of_difference(const RacePair *pair)
{
	Cumulants	noise = {0, 0, 0};

	for (int side = 0; side < 2; side++)
	{
		double		variance = noise_of(pair, side);

		noise.second += variance;
		if (pair->view[side] == NULL ||
			pair->view[side]->header->noise.mechanism == RACE_MECHANISM_GAUSSIAN)
			continue;
		noise.fourth += 3 * pow(variance, 2);
		noise.sixth += 30 * pow(variance, 3);
	}
	return noise;
}

/* --------------------------------------------------------------------- rows */

/* Sums over rows */
typedef struct Sums
{
	double		aa;
	double		ab;
	double		bb;
	double		witness;		/* of P times the square of D */
	double		lags[RACE_SQUARE_LAGS + 1]; /* of products of P with itself, shifted by buckets */
} Sums;

/* Load the counters of a row of one sketch, divided by its records. */
static void
load_row(const RacePair *pair, int side, uint32 number, double *x)
{
	const RaceView *view = pair->view[side];
	uint32		range = view->params->range;

	for (uint32 i = 0; i < range; i++)
		x[i] = (double) race_counters_get(view->counters, view->width, (Size) number * range + i) /
			pair->records[side];
}

/* Add a row; p has space for RACE_SQUARE_LAGS buckets more, which repeat the first ones. */
static void
add_row(Sums *sums, const RacePair *pair, uint32 number, double *a, double *b, double *p)
{
	double		share = pair->records[0] / (pair->records[0] + pair->records[1]);
	uint32		range = pair->view[0]->params->range;

	CHECK_FOR_INTERRUPTS();
	load_row(pair, 0, number, a);
	if (pair->view[1] != NULL)
		load_row(pair, 1, number, b);
	for (uint32 i = 0; i < range + RACE_SQUARE_LAGS; i++)
		p[i] = share * a[i % range] + (1 - share) * b[i % range];
	for (uint32 i = 0; i < range; i++)
	{
		sums->aa += a[i] * a[i];
		sums->ab += a[i] * b[i];
		sums->bb += b[i] * b[i];
		sums->witness += p[i] * (a[i] - b[i]) * (a[i] - b[i]);
		for (int lag = 0; lag <= RACE_SQUARE_LAGS; lag++)
			sums->lags[lag] += p[i] * p[i + lag];
	}
}

/* Return means over all rows, and the variance of D's product by how blocks of rows differ. */
static Sums
sum_rows(const RacePair *pair, uint32 rows, double *variance)
{
	uint32		blocks = race_estimator_blocks(pair->view[0]->params, rows);
	uint32		range = pair->view[0]->params->range;
	double	   *a = palloc0(range * sizeof(double));
	double	   *b = palloc0(range * sizeof(double));
	double	   *p = palloc(((Size) range + RACE_SQUARE_LAGS) * sizeof(double));
	Sums		sums;
	double		before = 0;
	double		squares = 0;
	uint64		row = 0;

	memset(&sums, 0, sizeof(Sums));
	for (uint32 i = 0; i < blocks; i++)
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
	for (int lag = 0; lag <= RACE_SQUARE_LAGS; lag++)
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

	if (square == NULL || params->rehash != RACE_REHASH_FOLD ||
		params->range <= 2 * RACE_SQUARE_LAGS)
		return kernel;
	sum = square[0] * kernel;
	for (int lag = 1; lag <= RACE_SQUARE_LAGS; lag++)
		sum += square[lag] * 2 * sums->lags[lag];
	sum = Max(Min(sum, kernel), kernel * kernel);
	return sum + (kernel - sum) / rows;
}

static void
row_products(const RacePair *pair, RaceProducts *products)
{
	const RaceView *b = pair->view[1];
	uint32		rows = Min(pair->view[0]->params->rows,
						   b == NULL ? PG_UINT32_MAX : b->params->rows);
	double		range = pair->view[0]->params->range;
	double		n = pair->records[0] + pair->records[1];
	Cumulants noise = noise_of_difference(pair);
	Sums		sums = sum_rows(pair, rows, &products->rows_variance);
	double		kernel = (sums.lags[0] - range * noise_of_pooled(pair) - 1 / n) / (1 - 1 / n);

	products->aa = sums.aa - range * noise_of(pair, 0);
	products->bb = sums.bb - range * noise_of(pair, 1);
	products->ab = sums.ab;
	products->noise_variance = range / rows * (noise.fourth + 2 * pow(noise.second, 2));
	products->noise_third = range / rows / rows *
		(noise.sixth + 12 * noise.fourth * noise.second + 8 * pow(noise.second, 3));
	products->with_difference = noise.second / rows *
		Max(sums.aa - 2 * sums.ab + sums.bb - range * noise.second, 0);
	products->kernel = Max(Min(kernel, 1), 0);
	products->kernel_square = kernel_square(pair, &sums, products->kernel, rows);
	products->with_record = noise.second / rows;
	products->with_both = products->with_record * products->kernel;
	products->difference_square = Max(sums.witness - noise.second, 0);
}

/* -------------------------------------------------------------------- grids */

/*
 * Products of grids are sums over pairs of nodes, A' K B.  K B is a convolution, by Fourier
 * transforms (solver.h).  On average over places in a cell products estimate the kernel itself.
 * Of a grid of two levels the fine nodes are compared.
 */

/* Elements of a transform (16 bytes each), above which cells are halved */
#define MAX_TRANSFORM	((Size) 1 << 22)

typedef struct Nodes
{
	RaceGrid	grid;			/* the cells that both sketches have */
	int			halved[2];		/* halvings since noise was added */
	double	   *values[2];		/* counters of both in parts of the whole; 0 without a sketch */
	double	   *sums[2];		/* the kernel times these */
	RaceLattice lattice;
} Nodes;

/* Load the nodes of a sketch. */
static void
load_nodes(const RacePair *pair, int side, Nodes *nodes)
{
	const RaceView *view = pair->view[side];
	double		unit = (double) race_record_unit(view->params) * pair->records[side];
	RaceGrid   *grid = &nodes->grid;

	race_grid_of(view->params, grid);
	nodes->values[side] = palloc_extended(grid->nodes * sizeof(double), MCXT_ALLOC_HUGE);
	for (Size i = 0; i < grid->nodes; i++)
		nodes->values[side][i] = race_counters_get(view->counters, view->width, i) / unit;
	for (int k = 0; k < nodes->halved[side]; k++)
	{
		race_grid_coarsen_real(grid, nodes->values[side], nodes->values[side]);
		race_grid_halve(grid);
	}
}

/* Set the numbers of nodes along the axes, 1 for axes that the grid does not have; and their steps. */
static void
set_sides(const RaceGrid *grid, size_t *sides, double *steps)
{
	for (int axis = 0; axis < RACE_FOURIER_DIMS; axis++)
	{
		int			of_grid = axis - RACE_FOURIER_DIMS + (int) grid->dims;

		sides[axis] = of_grid < 0 ? 1 : grid->cells[of_grid] + 1;
		steps[axis] = of_grid < 0 ? 0 : grid->step[of_grid];
	}
}

/* Load the finest cells that both sketches have, halved until a transform is small enough. */
static void
load_both(const RacePair *pair, Nodes *nodes)
{
	size_t		sides[RACE_FOURIER_DIMS];
	double		steps[RACE_FOURIER_DIMS];

	memset(nodes, 0, sizeof(Nodes));
	if (pair->view[1] != NULL)
		(void) race_params_common_cells(pair->view[0]->params, pair->view[1]->params,
										nodes->halved);
	for (int side = 0; side < 2 && pair->view[side] != NULL; side++)
		load_nodes(pair, side, nodes);
	if (pair->view[1] == NULL)
		nodes->values[1] = palloc_extended(nodes->grid.nodes * sizeof(double),
										   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (set_sides(&nodes->grid, sides, steps);
		 race_lattice_volume(sides) > MAX_TRANSFORM && nodes->grid.halvings > 0;
		 set_sides(&nodes->grid, sides, steps))
	{
		for (int side = 0; side < 2; side++)
		{
			race_grid_coarsen_real(&nodes->grid, nodes->values[side], nodes->values[side]);
			nodes->halved[side]++;
		}
		race_grid_halve(&nodes->grid);
	}
	for (int side = 0; side < 2; side++)
		nodes->sums[side] = palloc_extended(nodes->grid.nodes * sizeof(double), MCXT_ALLOC_HUGE);
}

/* Set the sums: the kernel, or its square, times the values of both sketches. */
static void
convolve(Nodes *nodes, const RaceParams *params, bool square)
{
	RaceRadial *radial = palloc(sizeof(RaceRadial));
	size_t		sides[RACE_FOURIER_DIMS];
	double		steps[RACE_FOURIER_DIMS];

	race_radial_init(radial, params);
	for (int i = 0; i < race_radial_nodes() && square; i++)
		*race_radial_node(radial, i) *= *race_radial_node(radial, i);
	set_sides(&nodes->grid, sides, steps);
	if (nodes->lattice.numbers == NULL)
		nodes->lattice.numbers = palloc_extended(race_lattice_space(sides) * sizeof(RaceComplex),
												 MCXT_ALLOC_HUGE);
	race_lattice_init(&nodes->lattice, radial, sides, steps, true, nodes->lattice.numbers);
	race_lattice_multiply(&nodes->lattice, nodes->values[0], nodes->values[1], nodes->sums[0],
						  nodes->sums[1]);
	pfree(radial);
}

/*
 * Set the trace of K C, which is the mean of noise's product with itself, and the sum of the
 * squares of its elements.  K is the kernel that was last convolved.  C is the covariance matrix of noise
 * that had variance 1 before cells were halved: along each axis, of a node with itself and
 * with its neighbors.
 */
static void
find_noise_moments(const Nodes *nodes, int halvings, double *trace, double *squares)
{
	const RaceLattice *lattice = &nodes->lattice;
	Size		n = race_lattice_volume(lattice->sides);
	double		h = ldexp(1, halvings);
	double		covariance[2] = {(2 * h * h + 1) / (3 * h), (h * h - 1) / (6 * h)};
	size_t		at[RACE_FOURIER_DIMS];

	for (Size i = 0; i < n; i++)
	{
		RaceComplex element = {lattice->spectrum[i].re / n, 0};

		race_lattice_at(lattice->sizes, i, at);
		for (int axis = 0; axis < RACE_FOURIER_DIMS; axis++)
			if (lattice->sides[axis] > 1)
				element.re *= covariance[0] +
					2 * covariance[1] * cos(2 * RACE_PI * at[axis] / lattice->sizes[axis]);
		lattice->numbers[i] = element;
	}
	race_fourier(lattice->numbers, lattice->sizes, 1, lattice->space);
	*trace = lattice->numbers[0].re * nodes->grid.nodes;
	*squares = 0;
	for (Size i = 0; i < n; i++)
	{
		double		pairs = 1;

		race_lattice_at(lattice->sizes, i, at);
		for (int axis = 0; axis < RACE_FOURIER_DIMS; axis++)
			pairs *= Max((double) lattice->sides[axis] -
						 Min(at[axis], lattice->sizes[axis] - at[axis]), 0);
		*squares += pairs * pow(lattice->numbers[i].re, 2);
	}
}

/* Set the products, and the moments of noise. */
static void
set_products(const RacePair *pair, const Nodes *nodes, RaceProducts *products)
{
	double		share = pair->records[0] / (pair->records[0] + pair->records[1]);
	Cumulants	noise = noise_of_difference(pair);
	int			most = nodes->halved[1] > nodes->halved[0];
	double		trace[2];
	double		squares[2];
	/* nodes that noise was added to, and what each adds to the trace */
	double		n = nodes->grid.nodes * ldexp(1, (int) nodes->grid.dims * nodes->halved[most]);
	double		self;
	double		difference_squares = 0;
	double		pooled_squares = 0;

	for (int side = 0; side < 2; side++)
		if (side == 0 || nodes->halved[1] != nodes->halved[0])
			find_noise_moments(nodes, nodes->halved[side], &trace[side], &squares[side]);
	if (nodes->halved[1] == nodes->halved[0])
		trace[1] = trace[0];
	for (Size i = 0; i < nodes->grid.nodes; i++)
	{
		double		a = nodes->sums[0][i];
		double		b = nodes->sums[1][i];

		products->aa += nodes->values[0][i] * a;
		products->ab += nodes->values[0][i] * b;
		products->bb += nodes->values[1][i] * b;
		difference_squares += (a - b) * (a - b);
		pooled_squares += pow(share * a + (1 - share) * b, 2);
	}
	products->aa -= noise_of(pair, 0) * trace[0];
	products->bb -= noise_of(pair, 1) * trace[1];
	products->with_difference += noise.second * (difference_squares - noise.second * squares[most]);
	products->with_both += noise.second * (pooled_squares - noise_of_pooled(pair) * squares[most]);
	products->with_record += noise.second * squares[most] / nodes->grid.nodes;
	self = trace[most] / n;
	products->noise_variance += n * self * self * noise.fourth +
		2 * squares[most] * pow(noise.second, 2);
	products->noise_third += n * pow(self, 3) * (noise.sixth + 12 * noise.fourth * noise.second);
	/* the sum of cubed eigenvalues lies between its bounds by their sum and their squares */
	if (trace[most] > 0)
		products->noise_third += 8 * pow(noise.second, 3) * sqrt(pow(squares[most], 3.5) / trace[most]);
}

/*
 * Set the moments of P from the sums of fine nodes with the whole kernel.  Pairs of a record with
 * itself are subtracted, and the shares of noise; of difference_square as if no cells were halved,
 * which is too little, so it is an upper bound.
 */
static void
set_moments(const RacePair *pair, Nodes *nodes, RaceProducts *products)
{
	double		n = pair->records[0] + pair->records[1];
	double		share = pair->records[0] / n;
	double		least = products->kernel * products->kernel;
	double		differences = 0;
	double		kernels = 0;
	double		trace;
	double		squares;

	find_noise_moments(nodes, 0, &trace, &squares);
	for (Size i = 0; i < nodes->grid.nodes; i++)
		differences += (share * nodes->values[0][i] + (1 - share) * nodes->values[1][i]) *
			pow(nodes->sums[0][i] - nodes->sums[1][i], 2);
	products->difference_square =
		Max(differences - noise_of_difference(pair).second * squares / nodes->grid.nodes, 0);

	convolve(nodes, pair->view[0]->params, true);
	find_noise_moments(nodes, Max(nodes->halved[0], nodes->halved[1]), &trace, &squares);
	for (Size i = 0; i < nodes->grid.nodes; i++)
		kernels += (share * nodes->values[0][i] + (1 - share) * nodes->values[1][i]) *
			(share * nodes->sums[0][i] + (1 - share) * nodes->sums[1][i]);
	kernels = (kernels - noise_of_pooled(pair) * trace - 1 / n) / (1 - 1 / n);
	products->kernel_square = Max(Min(kernels, products->kernel), least);
}

static void
table_products(const RacePair *pair, RaceProducts *products)
{
	double		n = pair->records[0] + pair->records[1];
	double		share = pair->records[0] / n;
	Nodes		nodes;

	load_both(pair, &nodes);
	convolve(&nodes, pair->view[0]->params, false);
	set_products(pair, &nodes, products);
	products->with_difference = Max(products->with_difference, 0);
	products->with_both = Max(products->with_both, 0);
	products->kernel = (share * share * products->aa + 2 * share * (1 - share) * products->ab +
						(1 - share) * (1 - share) * products->bb - 1 / n) / (1 - 1 / n);
	products->kernel = Max(Min(products->kernel, 1), 0);
	if (pair->view[1] != NULL)
		set_moments(pair, &nodes, products);
	for (int side = 0; side < 2; side++)
	{
		pfree(nodes.values[side]);
		pfree(nodes.sums[side]);
	}
	pfree(nodes.lattice.numbers);
}

/* ------------------------------------------------------------------ products */

void
race_products(const RacePair *pair, RaceProducts *products)
{
	memset(products, 0, sizeof(RaceProducts));
	if (race_summary_kind(pair->view[0]->params)->hashed)
		row_products(pair, products);
	else
		table_products(pair, products);
}
