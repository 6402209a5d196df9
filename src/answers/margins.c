/*
 * margins.c
 *		Shares of the cells of one column, by noisy counts
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "privacy/interrupt.h"
#include "answers/margins.h"

/* The least share of a cell: none is impossible, whatever noise says. */
#define LEAST_SHARE 1e-9

static int
compare_numbers(const void *x, const void *y)
{
	double a = *(const double *) x;
	double b = *(const double *) y;

	return (a > b) - (a < b);
}

/*
 * Return the threshold of n coefficients, by "SureShrink" (Donoho & Johnstone 1995): that of the
 * least risk, by Stein's unbiased estimate, but the universal one where few coefficients are large.
 * `independent` of them are of one shift.  `sorted` is space for n numbers.
 */
static double
wavelet_threshold(const double *coefficients, uint32_t n, uint32_t independent, double deviation,
				  double *sorted)
{
	double universal = sqrt(2 * log(n));
	double squares = 0;
	double sum = 0;
	double least = n;
	double best = 0;

	for (uint32_t i = 0; i < n; i++)
	{
		sorted[i] = fabs(coefficients[i]) / deviation;
		squares += sorted[i] * sorted[i];
	}
	if (squares / n - 1 <= pow(log2(independent + 1.0), 1.5) / sqrt(independent))
		return deviation * universal;
	qsort(sorted, n, sizeof(double), compare_numbers);
	for (uint32_t i = 0; i < n; i++)
	{
		double square = sorted[i] * sorted[i];
		double risk = n - 2 * (i + 1.0) + (sum += square) + (n - i - 1.0) * square;

		if (risk < least)
		{
			least = risk;
			best = fmin(sorted[i], universal);
		}
	}
	return deviation * best;
}

/* Turn the sums of all pieces of 2^k cells to those of 2^(k + 1), and differences of both halves. */
static void
split_level(double *sums, uint32_t m, uint32_t half, double *details, double *work)
{
	for (uint32_t i = 0; i < m; i++)
	{
		double other = sums[(i + half) & (m - 1)];

		details[i] = (sums[i] - other) * M_SQRT1_2;
		work[i] = (sums[i] + other) * M_SQRT1_2;
	}
	memcpy(sums, work, m * sizeof(double));
}

/* Turn sums back to those of halves: each is a first half, and a second half. */
static void
join_level(double *sums, uint32_t m, uint32_t half, const double *details, double *work)
{
	for (uint32_t i = 0; i < m; i++)
	{
		uint32_t before = (i - half) & (m - 1);

		work[i] = (sums[i] + details[i] + sums[before] - details[before]) * (M_SQRT1_2 / 2);
	}
	memcpy(sums, work, m * sizeof(double));
}

/* Take noise off n counts of cells in order. */
static void
smooth_counts(double *counts, uint32_t n, double deviation, RaceAllocate allocate, void *arg)
{
	uint32_t levels = 0;
	uint32_t m;
	double *sums;
	double *work;
	double *details;

	/* bound: the bits of n */
	while (((uint32_t) 1 << levels) < n)
		levels++;
	m = (uint32_t) 1 << levels;
	sums = allocate(arg, ((size_t) levels + 2) * m * sizeof(double));
	work = sums + m;
	details = work + m;
	memset(sums, 0, m * sizeof(double));
	memcpy(sums, counts, n * sizeof(double));
	for (uint32_t k = 0; k < levels; k++)
	{
		double *own = details + (size_t) k * m;
		double threshold;

		race_look_for_interrupts();
		split_level(sums, m, (uint32_t) 1 << k, own, work);
		threshold = wavelet_threshold(own, m, m >> (k + 1), deviation, work);
		for (uint32_t i = 0; i < m; i++)
			own[i] = copysign(fmax(fabs(own[i]) - threshold, 0), own[i]);
	}
	for (uint32_t k = levels; k-- > 0;)
		join_level(sums, m, (uint32_t) 1 << k, details + (size_t) k * m, work);
	memcpy(counts, sums, n * sizeof(double));
}

/* Move n numbers to the nearest ones that are not negative and have this sum. */
static void
project_to_simplex(double *x, uint32_t n, double total, double *sorted)
{
	double sum = 0;
	double shift = 0;

	memcpy(sorted, x, n * sizeof(double));
	qsort(sorted, n, sizeof(double), compare_numbers);
	for (uint32_t i = n; i-- > 0;)
	{
		double mean;

		sum += sorted[i];
		mean = (sum - total) / (n - i);
		if (!(sorted[i] > mean))
			break;
		shift = mean;
	}
	for (uint32_t i = 0; i < n; i++)
		x[i] = fmax(x[i] - shift, 0);
}

/* Take noise off cells in order, which were counted in blocks: those of one are alike. */
static void
smooth_blocks(const RaceNoisyColumn *column, double *counts, RaceAllocate allocate, void *arg)
{
	uint32_t blocks = (column->ordered + column->block - 1) / column->block;
	double *sums = allocate(arg, blocks * sizeof(double));

	memset(sums, 0, blocks * sizeof(double));
	for (uint32_t i = 0; i < column->ordered; i++)
		sums[i / column->block] += counts[i];
	smooth_counts(sums, blocks, sqrt(column->variance), allocate, arg);
	for (uint32_t i = 0; i < column->ordered; i++)
	{
		uint32_t begin = i - i % column->block;
		uint32_t size =
			column->ordered - begin < column->block ? column->ordered - begin : column->block;

		counts[i] = sums[i / column->block] / size;
	}
}

void
race_margin(const RaceNoisyColumn *column, const double *counts, double *shares,
			RaceAllocate allocate, void *arg)
{
	uint32_t n = column->n;
	double sum = 0;

	memcpy(shares, counts, n * sizeof(double));
	if (column->ordered > 1 && column->variance > 0)
		smooth_blocks(column, shares, allocate, arg);
	project_to_simplex(shares, n, column->total, allocate(arg, n * sizeof(double)));
	for (uint32_t i = 0; i < n; i++)
		sum += shares[i] = fmax(shares[i] / column->total, LEAST_SHARE);
	for (uint32_t i = 0; i < n; i++)
		shares[i] /= sum;
}
