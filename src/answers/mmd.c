/*
 * mmd.c
 *		Sums of products of sketches: race_distance (maximum mean discrepancy), race_typicality
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "miscadmin.h"

#include "privacy/counters.h"
#include "privacy/noise.h"
#include "hash/column.h"
#include "hash/kernel.h"
#include "hash/kind.h"
#include "hash/params.h"
#include "hash/rows.h"
#include "hash/table.h"
#include "sketch/call_site.h"
#include "sketch/params_type.h"
#include "sketch/result.h"
#include "sketch/sketch.h"
#include "sketch/sketch_format.h"
#include "answers/distributions.h"
#include "answers/estimate.h"
#include "answers/evaluator.h"
#include "answers/mmd.h"
#include "answers/radial.h"
#include "answers/solver.h"

/*
 * Products of sketches.
 *
 * The mean over rows of the sum over buckets of A[r, b] B[r, b] estimates the sum of the kernel
 * over all pairs of a record of a and one of b, without bias.  Noise adds its known variance to
 * the product of a sketch with itself, which is subtracted.  Of grids it is the sum over nodes
 * i and j of A[i] B[j] k(i, j).
 *
 * All is in parts of the whole: the counters of each sketch are divided by a number of records.
 */

/*
 * Two sketches; or one, and then view[1] is NULL.  Of rows, the first ones that both have are
 * compared; of grids, the finest cells that both have.
 */
typedef struct Pair
{
	const RaceView *view[2];
	double records[2];     /* divisors of the counters */
	double share;          /* records of the first one as a share of the records of both */
	double samples;        /* sum of the inverse numbers of records */
	double count_variance; /* variance of the relative error of one count over the other */
	double noise[2];       /* variance of a counter, in parts of the whole; 0 without a sketch */
	double pooled_noise;   /* variance of the counters of both, in parts of all */
} Pair;

/*
 * D is the difference a - b, or a alone; G is the noise of D; P is the pooled sample.  Products
 * contain pairs of a record with itself, moments do not.  Both contain collisions of rehashed
 * codes.
 */
typedef struct Products
{
	double aa; /* products, without the share of noise */
	double ab;
	double bb;
	double rows_variance;   /* variance of D's product with itself, by differences of rows; or 0 */
	double noise_mean;      /* mean of G's product with itself */
	double noise_variance;  /* variance of G's product with itself */
	double with_record;     /* variance of G's product with a record of P */
	double with_both;       /* variance of G's product with P */
	double with_difference; /* variance of G's product with D */
	/* moments over independent records x and y of P: */
	double kernel;            /* mean of k(x, y) */
	double kernel_square;     /* upper bound of the mean of its square */
	double difference_square; /* mean square of x's product with D, or an upper bound */
} Products;

/*
 * race_distance: how alike the records of two sketches are.
 *
 * The squared distance is the maximum mean discrepancy (Gretton et al. 2012): the squared
 * length of the difference of both mean functions.  It is estimated as a U-statistic: pairs of
 * a record with itself are left out, and so is the share of noise.  So its mean is 0 where both
 * are drawn from one population.
 *
 * Then it is a quadratic form in three things that do not depend on each other: which records were
 * drawn, the noise of counters, and the noise of both counts, by which each mean function is too
 * large or too small.  The variance of the first two is known; the noise of counts adds its own.
 * The form is taken for a shifted gamma variable, as Gretton et al. take a gamma variable where
 * there is no noise.
 */

PG_FUNCTION_INFO_V1(race_distance);

/* Set what follows from both views and their numbers of records. */
static void
complete_pair(Pair *pair)
{
	pair->share = pair->records[0] / (pair->records[0] + pair->records[1]);
	for (int side = 0; side < 2 && pair->view[side] != NULL; side++)
	{
		const RaceNoise *noise = &pair->view[side]->header->noise;
		double unit = (double) race_record_unit(pair->view[side]->params);

		pair->samples += 1 / pair->records[side];
		pair->count_variance += noise->count_variance / (pair->records[side] * pair->records[side]);
		pair->noise[side] =
			noise->counter_variance / (unit * unit * pair->records[side] * pair->records[side]);
	}
	pair->pooled_noise = pair->noise[0] * pair->share * pair->share +
		pair->noise[1] * (1 - pair->share) * (1 - pair->share);
}

/* Return the mean of the kernel over pairs of two records, from that over all pairs. */
static double
of_two_records(double mean, double records)
{
	return (mean * records - 1) / (records - 1);
}

/* ----------------------------------------------------------------- products */

/*
 * Counters that are compared: a row, whose kernel is 1 for the same bucket, or the nodes of a grid
 */
typedef struct Nodes
{
	Size n;
	double *values[2]; /* values of both, in parts of the whole; 0 without a sketch */
	double *sums[2];   /* sums of the kernel times the values */
	/* the kernel times the covariance of each one's noise, if it had variance 1 */
	double trace[2];
	double squares[2]; /* sums of squares of the elements */
	/* grids: */
	RaceGrid grid; /* grid of the cells that both sketches have */
	int halved[2]; /* halvings since noise was added */
	RaceLattice lattice;
} Nodes;

/* Sums over nodes of squares of D times the kernel, weighted by P too, and of P times the kernel */
typedef struct Squares
{
	double difference;
	double weighted;
	double pooled;
} Squares;

/* Add nodes, which are one of several parts. */
static void
add_products(const Pair *pair, const Nodes *nodes, uint32 parts, Products *products,
			 Squares *squares)
{
	double share = pair->share;

	CHECK_FOR_INTERRUPTS();
	for (Size i = 0; i < nodes->n; i++)
	{
		double a = nodes->values[0][i];
		double b = nodes->values[1][i];
		double sum_a = nodes->sums[0][i];
		double sum_b = nodes->sums[1][i];
		double difference = (sum_a - sum_b) * (sum_a - sum_b) / parts;

		products->aa += a * sum_a / parts;
		products->ab += a * sum_b / parts;
		products->bb += b * sum_b / parts;
		squares->difference += difference;
		squares->weighted += (share * a + (1 - share) * b) * difference;
		squares->pooled += pow(share * sum_a + (1 - share) * sum_b, 2) / parts;
	}
}

/* Return P's product with itself. */
static double
pooled_product(const Pair *pair, const Products *products)
{
	double share = pair->share;

	return share * share * products->aa + 2 * share * (1 - share) * products->ab +
		(1 - share) * (1 - share) * products->bb;
}

/* Set the moments from sums over the parts of these nodes, less the expectation of noise. */
static void
find_moments(const Pair *pair, const Nodes *nodes, uint32 parts, const Squares *squares,
			 Products *products)
{
	double n = pair->records[0] + pair->records[1];
	double noise = pair->noise[0] + pair->noise[1];
	double most = Max(nodes->squares[0], nodes->squares[1]);
	double self = Max(nodes->trace[0], nodes->trace[1]) / nodes->n;
	double norm =
		pair->noise[0] * sqrt(nodes->squares[0]) + pair->noise[1] * sqrt(nodes->squares[1]);
	/* cumulant of the noise of D: larger for Laplace noise, smaller after a merge */
	double fourth = 0;

	for (int side = 0; side < 2; side++)
		if (pair->view[side] != NULL &&
			pair->view[side]->header->noise.mechanism != RACE_MECHANISM_GAUSSIAN)
			fourth += 3 * pow(pair->noise[side], 2);

	products->noise_mean = pair->noise[0] * nodes->trace[0] + pair->noise[1] * nodes->trace[1];
	products->aa -= pair->noise[0] * nodes->trace[0];
	products->bb -= pair->noise[1] * nodes->trace[1];
	products->noise_variance = (nodes->n * self * self * fourth + 2 * norm * norm) / parts;
	products->with_difference = noise / parts * Max(squares->difference - noise * most, 0);
	products->with_both = noise / parts * Max(squares->pooled - pair->pooled_noise * most, 0);
	products->with_record = noise / parts * most / nodes->n;
	products->difference_square = Max(squares->weighted - noise * most / nodes->n, 0);
	products->kernel = of_two_records(pooled_product(pair, products), n);
	products->kernel = Max(Min(products->kernel, 1), 0);
	products->kernel_square = products->kernel;
}

/* Set the mean squared kernel of different records: at most the mean, at least its square. */
static void
set_kernel_square(Products *products, double square)
{
	products->kernel_square =
		Max(Min(square, products->kernel), products->kernel * products->kernel);
}

/* --------------------------------------------------------------------- rows */

/*
 * Return what buckets that are not the same add to the mean square of the kernel, where codes of
 * neighboring buckets are neighbors too: products of P with itself, shifted by buckets.
 */
static double
square_of_neighbors(const Pair *pair, const Nodes *nodes, const double *square)
{
	double share = pair->share;
	double *p = palloc((nodes->n + RACE_SQUARE_LAGS) * sizeof(double));
	double sum = 0;

	for (Size i = 0; i < nodes->n + RACE_SQUARE_LAGS; i++)
		p[i] =
			share * nodes->values[0][i % nodes->n] + (1 - share) * nodes->values[1][i % nodes->n];
	for (Size i = 0; i < nodes->n; i++)
		for (int lag = 1; lag <= RACE_SQUARE_LAGS; lag++)
			sum += 2 * square[lag] * p[i] * p[i + lag];
	pfree(p);
	return sum;
}

/*
 * Compute products as means over rows, and the variance of D's product by how blocks of rows
 * differ.
 */
static void
row_products(const Pair *pair, Products *products)
{
	const RaceView *b = pair->view[1];
	const RaceParams *params = pair->view[0]->params;
	uint32 rows = Min(params->rows, b == NULL ? PG_UINT32_MAX : b->params->rows);
	uint32 blocks = race_estimator_blocks(params, rows);
	Nodes nodes = {.n = params->range};
	Squares squares = {0, 0, 0};
	double sum = 0;
	double sum_squares = 0;
	double before = 0;
	double neighbors = 0;
	uint64 row = 0;
	/* the kernel's square by those of rows, or NULL: then the kernel is a bound of it */
	const double *square =
		params->rehash != RACE_REHASH_FOLD || nodes.n <= 2 * RACE_SQUARE_LAGS || b == NULL ?
		NULL :
		race_kernel_type(params->kernel)->square;

	for (int side = 0; side < 2; side++)
	{
		nodes.values[side] = nodes.sums[side] = palloc0(nodes.n * sizeof(double));
		nodes.trace[side] = nodes.squares[side] = nodes.n;
	}
	for (uint32 i = 0; i < blocks; i++)
	{
		uint64 first = row;

		for (; row < (uint64) (i + 1) * rows / blocks; row++)
		{
			for (int side = 0; side < 2 && pair->view[side] != NULL; side++)
				for (Size k = 0; k < nodes.n; k++)
					nodes.values[side][k] =
						race_counters_get(pair->view[side]->counters, pair->view[side]->width,
										  row * nodes.n + k) /
						pair->records[side];
			add_products(pair, &nodes, rows, products, &squares);
			if (square != NULL)
				neighbors += square_of_neighbors(pair, &nodes, square) / rows;
		}
		sum = products->aa - 2 * products->ab + products->bb;
		sum_squares += pow((sum - before) * rows / (row - first), 2);
		before = sum;
	}
	products->rows_variance =
		blocks < 2 ? 0 : Max(sum_squares / blocks - sum * sum, 0) / (blocks - 1);
	find_moments(pair, &nodes, rows, &squares, products);
	/* as the rows stand for the kernel, its square is larger by the variance of their mean */
	if (square != NULL)
		set_kernel_square(products,
						  (square[0] * products->kernel + neighbors) * (1 - 1.0 / rows) +
							  products->kernel / rows);
	for (int side = 0; side < 2; side++)
		pfree(nodes.values[side]);
}

/* -------------------------------------------------------------------- grids */

/*
 * Products of grids are sums over pairs of nodes, A' K B.  K B is a convolution, by Fourier
 * transforms (solver.h).  On average over places in a cell products estimate the kernel itself.
 * Of a grid of two levels the fine nodes are compared.
 */

/* Elements of a transform (16 bytes each), above which cells are halved */
#define MAX_TRANSFORM ((Size) 1 << 22)

/*
 * Set the numbers of nodes along the axes, 1 for axes that the grid does not have; and their steps.
 */
static void
set_sides(const RaceGrid *grid, size_t *sides, double *steps)
{
	for (int axis = 0; axis < RACE_FOURIER_DIMS; axis++)
	{
		int of_grid = axis - RACE_FOURIER_DIMS + (int) grid->dims;

		sides[axis] = of_grid < 0 ? 1 : grid->cells[of_grid] + 1;
		steps[axis] = of_grid < 0 ? 0 : grid->step[of_grid];
	}
}

/* Load the finest cells that both sketches have, halved until a transform is small enough. */
static void
load_both(const Pair *pair, Nodes *nodes)
{
	size_t sides[RACE_FOURIER_DIMS];
	double steps[RACE_FOURIER_DIMS];

	memset(nodes, 0, sizeof(Nodes));
	if (pair->view[1] != NULL)
		(void) race_params_common_cells(pair->view[0]->params, pair->view[1]->params,
										nodes->halved);
	for (int side = 0; side < 2 && pair->view[side] != NULL; side++)
	{
		const RaceView *view = pair->view[side];
		double unit = (double) race_record_unit(view->params) * pair->records[side];

		race_grid_of(view->params, &nodes->grid);
		nodes->values[side] = palloc_extended(nodes->grid.nodes * sizeof(double), MCXT_ALLOC_HUGE);
		for (Size i = 0; i < nodes->grid.nodes; i++)
			nodes->values[side][i] = race_counters_get(view->counters, view->width, i) / unit;
		for (int k = 0; k < nodes->halved[side]; k++)
		{
			race_grid_coarsen_real(&nodes->grid, nodes->values[side], nodes->values[side]);
			race_grid_halve(&nodes->grid);
		}
	}
	if (pair->view[1] == NULL)
		nodes->values[1] =
			palloc_extended(nodes->grid.nodes * sizeof(double), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
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
	nodes->n = nodes->grid.nodes;
	for (int side = 0; side < 2; side++)
		nodes->sums[side] = palloc_extended(nodes->grid.nodes * sizeof(double), MCXT_ALLOC_HUGE);
}

/* Set the sums: the kernel, or its square, times the values of both sketches. */
static void
convolve_values(Nodes *nodes, const RaceParams *params, bool square)
{
	RaceRadial *radial = palloc(sizeof(RaceRadial));
	size_t sides[RACE_FOURIER_DIMS];
	double steps[RACE_FOURIER_DIMS];

	race_radial_init(radial, params);
	for (int i = 0; i < race_radial_nodes() && square; i++)
	{
		double *node = race_radial_node(radial, i);

		*node *= *node;
	}
	set_sides(&nodes->grid, sides, steps);
	if (nodes->lattice.numbers == NULL)
		nodes->lattice.numbers =
			palloc_extended(race_lattice_space(sides) * sizeof(RaceComplex), MCXT_ALLOC_HUGE);
	race_lattice_init(&nodes->lattice, radial, sides, steps, true, nodes->lattice.numbers);
	race_lattice_multiply(&nodes->lattice, nodes->values[0], nodes->values[1], nodes->sums[0],
						  nodes->sums[1]);
	pfree(radial);
}

/*
 * Set the trace of K C, which is the mean of noise's product with itself, and the sum of the
 * squares of its elements.  C is the covariance matrix of noise that had variance 1 before cells
 * were halved: along each axis, of a node with itself and with its neighbors.
 */
static void
find_noise_moments(Nodes *nodes, int side)
{
	const RaceLattice *lattice = &nodes->lattice;
	Size n = race_lattice_volume(lattice->sides);
	double h = ldexp(1, nodes->halved[side]);
	double covariance[2] = {(2 * h * h + 1) / (3 * h), (h * h - 1) / (6 * h)};
	size_t at[RACE_FOURIER_DIMS];

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
	nodes->trace[side] = lattice->numbers[0].re * nodes->n;
	nodes->squares[side] = 0;
	for (Size i = 0; i < n; i++)
	{
		double pairs = 1;

		race_lattice_at(lattice->sizes, i, at);
		for (int axis = 0; axis < RACE_FOURIER_DIMS; axis++)
			pairs *= Max(
				(double) lattice->sides[axis] - Min(at[axis], lattice->sizes[axis] - at[axis]), 0);
		nodes->squares[side] += pairs * pow(lattice->numbers[i].re, 2);
	}
}

static void
table_products(const Pair *pair, Products *products)
{
	Squares squares = {0, 0, 0};
	Products of_square = {0};
	Nodes nodes;

	load_both(pair, &nodes);
	convolve_values(&nodes, pair->view[0]->params, false);
	add_products(pair, &nodes, 1, products, &squares);
	for (int side = 0; side < 2; side++)
		find_noise_moments(&nodes, side);
	find_moments(pair, &nodes, 1, &squares, products);
	if (pair->view[1] != NULL)
	{
		convolve_values(&nodes, pair->view[0]->params, true);
		find_noise_moments(&nodes, nodes.halved[1] > nodes.halved[0]);
		add_products(pair, &nodes, 1, &of_square, &squares);
		set_kernel_square(
			products,
			of_two_records(pooled_product(pair, &of_square) -
							   pair->pooled_noise * nodes.trace[nodes.halved[1] > nodes.halved[0]],
						   pair->records[0] + pair->records[1]));
	}
	for (int side = 0; side < 2; side++)
	{
		pfree(nodes.values[side]);
		pfree(nodes.sums[side]);
	}
	pfree(nodes.lattice.numbers);
}

static void
find_products(const Pair *pair, Products *products)
{
	memset(products, 0, sizeof(Products));
	if (race_summary_kind(pair->view[0]->params)->hashed)
		row_products(pair, products);
	else
		table_products(pair, products);
}

/* ---------------------------------------------------------------- distances */

/* Return the variance by sampling where both are of one population. */
static double
sampling_variance(const Pair *pair, const Products *products)
{
	return 2 * pow(pair->samples, 2) *
		Max(products->kernel_square - products->kernel * products->kernel, 0);
}

/*
 * Return the variance of the estimate where both are of one population, but for the noise of
 * counts.
 */
static double
null_variance(const Pair *pair, const Products *products)
{
	return products->noise_variance + sampling_variance(pair, products) +
		4 * pair->samples * Max(products->with_record - products->with_both, 0);
}

/*
 * Return the third central moment of a sum of squared normal variables with weights: 8 times the
 * sum of cubed weights.  That lies between bounds by the sum of weights, which is the mean, and
 * that of their squares, which is half of the variance; this is their mean, by factors.
 */
static double
third_moment(double mean, double variance)
{
	return mean > 0 ? 8 * sqrt(pow(variance / 2, 3.5) / mean) : 0;
}

/* Return the probability of such a squared distance or more if both are of one population. */
static double
p_value(const Pair *pair, const Products *products, double squared)
{
	double samples = pair->samples;
	/*
	 * a relative error e of counts, about normal, adds kernel (e^2 - its variance), and 2 e times
	 * the shift
	 */
	double counts = pair->count_variance;
	double of_counts = products->kernel * counts;
	double variance = null_variance(pair, products) + 4 * counts * products->with_both +
		2 * of_counts * of_counts;
	double third =
		third_moment(samples * (1 - products->kernel), sampling_variance(pair, products)) +
		third_moment(products->noise_mean, products->noise_variance) + 8 * pow(of_counts, 3);

	if (!(variance > 0))
		return squared > 0 ? 0 : 1;
	return race_skew_tail(squared, variance, third / pow(variance, 1.5));
}

/*
 * Return the variance of the estimate, whether or not both are of one population: by noise and
 * by sampling, and at least by how the rows differ.
 */
static double
variance_of(const Pair *pair, const Products *products)
{
	/* the product of D and P */
	double share = pair->share;
	double along =
		share * products->aa + (1 - 2 * share) * products->ab - (1 - share) * products->bb;
	double counts = pair->count_variance;

	return Max(null_variance(pair, products) + 4 * products->with_difference,
			   products->rows_variance) +
		4 * pair->samples * products->difference_square + 4 * counts * along * along +
		5 * pow(counts * products->kernel, 2);
}

/* Implement race_distance(a, b). */
Datum
race_distance(PG_FUNCTION_ARGS)
{
	RaceQuestion questions[2];
	const RaceParams *params[2];
	Pair pair = {0};
	Products products;
	RaceResultRow row;
	double free; /* kernel of all that differs, which collisions give */
	double squared;
	double similarity;
	double shares = 1; /* product of the counts over their divisors */
	double standard_error = INFINITY;
	double p = 1;
	bool counted = true; /* no count is within its noise, or below 2 */
	int halvings[2];

	race_row_start(&row, fcinfo);
	race_ask_pair(fcinfo, InvalidOid, &questions[0], &questions[1]);
	for (int side = 0; side < 2; side++)
	{
		pair.view[side] = &questions[side].view;
		params[side] = pair.view[side]->params;
		pair.records[side] = Max(race_count_divisor(race_record_count(pair.view[side], NULL)), 2);
		counted &= pair.view[side]->header->count >= pair.records[side];
	}
	if (!race_params_same_rows(params[0], params[1]) &&
		!race_params_common_cells(params[0], params[1], halvings))
		race_params_check_same(params[0], params[1]);
	complete_pair(&pair);
	find_products(&pair, &products);

	free = 1 - race_collision_probability(params[0]);
	squared = of_two_records(products.aa, pair.records[0]) - 2 * products.ab +
		of_two_records(products.bb, pair.records[1]) - pair.count_variance * products.kernel;
	/* noise with a variance beyond what a double holds hides everything */
	if (!isfinite(squared) || !isfinite(null_variance(&pair, &products)))
		squared = 0;
	else if (counted)
	{
		standard_error = sqrt(variance_of(&pair, &products)) / free;
		p = p_value(&pair, &products, squared);
	}
	squared /= free;
	similarity = products.ab;
	for (int side = 0; side < 2; side++)
	{
		double records = race_count_divisor(race_record_count(pair.view[side], NULL));

		similarity *= pair.records[side] / records;
		shares *= pair.view[side]->header->count / records;
	}
	race_row_add(&row, Float8GetDatum(sqrt(Max(squared, 0))));
	race_row_add(&row, Float8GetDatum(squared));
	race_row_add(&row, Float8GetDatum(standard_error));
	race_row_add(&row, Float8GetDatum(p));
	race_row_add(&row, Float8GetDatum((similarity - (1 - free) * shares) / free));
	PG_RETURN_DATUM(race_row_datum(&row));
}

/*
 * race_typicality: the density at a query over that at an average record.
 *
 * The sum of the kernel over all pairs of records is what a sketch knows of the densities at
 * the records themselves (ACE's threshold: Luo & Shrivastava 2018).
 */

PG_FUNCTION_INFO_V1(race_typicality);

/*
 * Compute the mean density at a record, without the kernel of the record with itself.  It is not
 * below what one record gives, 1 / n, and not below twice its own standard error, under which it
 * says nothing.  No density is above 1.
 */
static void *
create_typical(const RaceView *view, void *question, MemoryContext context, Size *size)
{
	RaceTypical *typical = MemoryContextAllocZero(context, sizeof(RaceTypical));
	double n = race_count_divisor(race_record_count(view, NULL));
	double p = race_collision_probability(view->params);
	Pair pair = {.view = {view, NULL}, .records = {n, 0}};
	Products products;
	double mean;
	double error;

	(void) question;
	race_derived_init(&typical->derived, view, context);
	complete_pair(&pair);
	find_products(&pair, &products);
	mean = n > 1 ? (of_two_records(products.aa, n) - p) / (1 - p) : -p / (1 - p);
	/* products go with the square of the count */
	error = sqrt((products.noise_variance + 4 * products.with_difference) / ((1 - p) * (1 - p)) +
				 4 * mean * mean * view->header->noise.count_variance / (n * n));
	typical->density = Min(Max(Max(mean, 2 * error), 1 / n), 1);
	typical->error = mean > 2 * error ? error : INFINITY;
	*size = sizeof(RaceTypical) + race_params_size(view->params);
	return typical;
}

static const RaceDerivedKind typical_density = {"typical density", create_typical, NULL};

const RaceTypical *
race_typical(RaceCallSite *site, const RaceView *view)
{
	return race_derived_at(site, &typical_density, view, NULL);
}

/*
 * How many records are less typical than this one?
 *
 * The distribution of the densities of a fitted sketch at its own records: that at each point of
 * the model, for as many records as it weighs.  To ask for all of them takes long, so a session
 * keeps them for the sketches that it asked last (racepriv.cache_size).
 */

typedef struct Rank
{
	double sum;    /* sum of kernels at a point */
	double weight; /* weight of the point, then of all points up to it */
} Rank;

typedef struct Ranks
{
	RaceDerived derived; /* must be first */
	uint64 n;
	Rank ranks[FLEXIBLE_ARRAY_MEMBER];
} Ranks;

static int
compare_ranks(const void *a, const void *b)
{
	double x = ((const Rank *) a)->sum;
	double y = ((const Rank *) b)->sum;

	return (x > y) - (x < y);
}

static void *
create_ranks(const RaceView *view, void *question, MemoryContext context, Size *size)
{
	int parts = race_params_parts(view->params);
	RaceColumn points[RACE_MAX_PARTS];
	RaceColumn point[RACE_MAX_PARTS];
	double total = 0;
	Ranks *ranks;

	race_check_model(view);
	*size = offsetof(Ranks, ranks) + view->model->points * sizeof(Rank);
	ranks = MemoryContextAllocZero(context, *size);
	race_derived_init(&ranks->derived, view, context);
	ranks->n = view->model->points;
	race_model_columns(view->model, view->params, points);
	for (uint64 i = 0; i < ranks->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		for (int k = 0; k < parts; k++)
			point[k] = race_column_from(&points[k], i);
		race_ask_about_columns((RaceQuestion *) question, point);
		ranks->ranks[i].sum = race_estimate_sum((RaceQuestion *) question);
		ranks->ranks[i].weight = race_model_weight(view->model, i);
	}
	qsort(ranks->ranks, ranks->n, sizeof(Rank), compare_ranks);
	for (uint64 i = 0; i < ranks->n; i++)
		ranks->ranks[i].weight = total += ranks->ranks[i].weight;
	return ranks;
}

static const RaceDerivedKind ranks_of_points = {"density ranks", create_ranks, NULL};

/* Return the share of the records whose density is less than this kernel sum. */
static double
share_below(const Ranks *ranks, double sum)
{
	double total = ranks->ranks[ranks->n - 1].weight;
	uint64 from = 0;

	/* find the first that is not below */
	for (uint64 to = ranks->n; from < to;)
	{
		uint64 middle = (from + to) / 2;

		if (ranks->ranks[middle].sum < sum)
			from = middle + 1;
		else
			to = middle;
	}
	return from == 0 || total == 0 ? 0 : ranks->ranks[from - 1].weight / total;
}

/* Implement race_typicality(sketch, q). */
Datum
race_typicality(PG_FUNCTION_ARGS)
{
	RaceCallSite *site;
	const Ranks *ranks = NULL;
	RaceQuestion question;
	RaceResultRow row;
	double density;

	site = race_call_site(fcinfo, 1);
	race_row_start(&row, fcinfo);
	race_ask_sketch(site, PG_GETARG_DATUM(0), &question);
	if (question.view.model != NULL)
		ranks = race_derived_at(site, &ranks_of_points, &question.view, &question);
	race_ask_about(&question, PG_GETARG_DATUM(1));
	density = race_estimate_mean(&question);
	race_row_add(&row, Float8GetDatum(density / race_typical(site, &question.view)->density));
	race_row_add_if(
		&row, ranks != NULL,
		Float8GetDatum(ranks == NULL ? 0 : share_below(ranks, race_estimate_sum(&question))));
	race_row_add(&row, Float8GetDatum(density));
	PG_RETURN_DATUM(race_row_datum(&row));
}
