/*
 * curves.c
 *		Curves of shares along a line of nodes, from noisy records of the nodes.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "../linear/factor.h"
#include "curves.h"

/*
 * Sizes of deviations that are tried, as shares of the standard deviation of one record: the
 * likelihood of all curves weighs them.
 */
static const double sizes[] = {0.02, 0.04, 0.08, 0.16, 0.32, 0.64};

#define SIZES	((int) lengthof(sizes))

RaceCurves *
race_curves_create(int n, uint32 cells, double variance)
{
	RaceCurves *curves = palloc(sizeof(RaceCurves));
	Size		values = (Size) n * (cells + 1);

	curves->n = n;
	curves->cells = cells;
	curves->variance = variance;
	curves->records = palloc_extended(values * sizeof(double), MCXT_ALLOC_HUGE);
	curves->having = palloc_extended(values * sizeof(double), MCXT_ALLOC_HUGE);
	curves->shares = palloc_extended(values * sizeof(double), MCXT_ALLOC_HUGE);
	return curves;
}

/* Space for one curve */
typedef struct Work
{
	uint32		nodes;
	double	   *process;		/* [nodes][nodes]: covariance of a deviation of size 1 */
	double	   *weights;		/* [nodes][nodes]: what a deviation adds to each node */
	double	   *seen;			/* [nodes][nodes]: covariance of what it adds, */
	double	   *product;		/* [nodes][nodes]: and with it, [value][node] */
	double	   *factor;			/* [nodes][nodes] */
	double	   *apart;			/* [nodes]: what is not as expected */
	double	   *solution;		/* [nodes] */
} Work;

static Work *
make_work(uint32 cells)
{
	Work	   *work = palloc(sizeof(Work));
	uint32		n = cells + 1;
	uint32		i;
	uint32		j;

	work->nodes = n;
	work->process = palloc(n * n * sizeof(double));
	work->weights = palloc(n * n * sizeof(double));
	work->seen = palloc(n * n * sizeof(double));
	work->product = palloc(n * n * sizeof(double));
	work->factor = palloc(n * n * sizeof(double));
	work->apart = palloc(n * sizeof(double));
	work->solution = palloc(n * sizeof(double));
	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++)
			/* a constant, and what changes along the line */
			work->process[i * n + j] = 1 + exp(-fabs((double) i - j) / cells);
	return work;
}

/* About how many records are between a node and the next */
static double
between(const double *records, uint32 cells, uint32 node)
{
	double		left = Max(records[node], 0) * (node > 0 ? 0.5 : 1);
	double		right = Max(records[node + 1], 0) * (node + 1 < cells ? 0.5 : 1);

	return left + right;
}

/*
 * The mean of the curve that a node sees: records are spread evenly between nodes, so that two
 * thirds are of the node itself, and the others of its neighbors.
 */
static void
mean_of_node(const double *records, uint32 cells, uint32 node, double *mean)
{
	double		before = node > 0 ? between(records, cells, node - 1) : 0;
	double		after = node < cells ? between(records, cells, node) : 0;
	double		part = before + after > 0 ? before / (before + after) :
		node == 0 ? 0 : node == cells ? 1 : 0.5;

	memset(mean, 0, (cells + 1) * sizeof(double));
	mean[node] = 2.0 / 3;
	if (node > 0)
		mean[node - 1] = part / 3;
	if (node < cells)
		mean[node + 1] = (1 - part) / 3;
}

/* What is to be known of a curve, whatever the size of deviations */
static void
look_at(const RaceCurves *curves, int curve, Work *work)
{
	uint32		n = work->nodes;
	const double *records = curves->records + (Size) curve * n;
	const double *having = curves->having + (Size) curve * n;
	const double *shares = curves->shares + (Size) curve * n;
	uint32		i;
	uint32		j;
	uint32		k;

	for (i = 0; i < n; i++)
	{
		double	   *row = work->weights + i * n;

		mean_of_node(records, curves->cells, i, row);
		work->apart[i] = having[i] - records[i] * race_dot(row, shares, n);
		for (j = 0; j < n; j++)
			row[j] *= Max(records[i], 0) * sqrt(shares[j] * (1 - shares[j]));
	}
	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++)
			work->product[i * n + j] = race_dot(work->process + i * n, work->weights + j * n, n);
	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++)
		{
			double		sum = 0;

			for (k = 0; k < n; k++)
				sum += work->weights[i * n + k] * work->product[k * n + j];
			work->seen[i * n + j] = sum;
		}
}

/* The mean deviation if deviations have this size; returns the logarithm of the likelihood. */
static double
try_size(const RaceCurves *curves, int curve, double size, Work *work, double *deviation)
{
	uint32		n = work->nodes;
	const double *shares = curves->shares + (Size) curve * n;
	double		likelihood = 0;
	uint32		i;

	for (i = 0; i < n * n; i++)
		work->factor[i] = size * size * work->seen[i] +
			(i % (n + 1) == 0 ? curves->variance : 0);
	race_factorize(work->factor, n, curves->variance);
	memcpy(work->solution, work->apart, n * sizeof(double));
	race_solve_lower(work->factor, n, work->solution);
	for (i = 0; i < n; i++)
		likelihood -= work->solution[i] * work->solution[i] / 2 + log(work->factor[i * n + i]);
	race_solve_upper(work->factor, n, work->solution);
	for (i = 0; i < n; i++)
		deviation[i] = size * size * sqrt(shares[i] * (1 - shares[i])) *
			race_dot(work->product + i * n, work->solution, n);
	return likelihood;
}

void
race_curves_fit(RaceCurves *curves)
{
	Size		values = (Size) curves->n * (curves->cells + 1);
	double	   *deviations = palloc_extended(SIZES * values * sizeof(double), MCXT_ALLOC_HUGE);
	Work	   *work = make_work(curves->cells);
	double		logs[SIZES] = {0};
	double		most = -INFINITY;
	double		sum = 0;
	Size		i;
	int			curve;
	int			s;

	for (curve = 0; curve < curves->n; curve++)
	{
		CHECK_FOR_INTERRUPTS();
		look_at(curves, curve, work);
		for (s = 0; s < SIZES; s++)
			logs[s] += try_size(curves, curve, sizes[s], work,
								deviations + s * values + (Size) curve * work->nodes);
	}
	for (s = 0; s < SIZES; s++)
		most = Max(most, logs[s]);
	for (s = 0; s < SIZES; s++)
		sum += logs[s] = exp(logs[s] - most);
	for (s = 0; s < SIZES; s++)
		for (i = 0; i < values; i++)
			curves->shares[i] += logs[s] / sum * deviations[s * values + i];
	pfree(deviations);
}
