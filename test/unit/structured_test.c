/*
 * structured_test.c
 *		Structured projections: right angles, known answers, and how far from the kernel
 *		records meet.
 *
 * Row functions are fixed by seeds, so there are no false alarms: these tests pass always or
 * never.
 */
#include "hash/kernel.h"
#include "hash/params.h"
#include "hash/quantiles.h"
#include "hash/rows.h"
#include "hash/structured.h"
#include "kernels.h"
#include "tap.h"

#define MOST_DIMS 2048
#define SOME 100 /* rows of a transform */

static RaceParams
structured_params(RaceKernel kernel, uint32_t dims, uint32_t rows)
{
	RaceParams params = l2_params(STRUCTURED, FOLD, dims, 1, rows, 256);

	params.kernel = (uint8_t) kernel;
	return params;
}

/* ------------------------------------------------------------------ angles */

/* Rows of a transform, one by one: the projections of unit vectors are its columns. */
static void
test_angles(uint32_t dims)
{
	RaceParams params = structured_params(L2, dims, 64);
	uint32_t length = race_structured_length(&params);
	RaceRows *rows = make_rows(&params);
	double *matrix = calloc((size_t) length * length, sizeof(double));
	double x[MOST_DIMS] = {0};
	double worst = 0;

	params.dims = length;
	for (uint32_t i = 0; i < length; i++)
	{
		x[i] = 1;
		race_structured_project(&params, race_rows_signs(rows, 0, 0), x, matrix + i * length);
		x[i] = 0;
	}
	for (uint32_t a = 0; a < SOME; a++)
		for (uint32_t b = 0; b <= a; b++)
		{
			double sum = 0;

			for (uint32_t i = 0; i < length; i++)
				sum += matrix[i * length + a] * matrix[i * length + b];
			worst = fmax(worst, fabs(sum / pow(length, 3) - (a == b)));
		}
	ok(worst == 0, "dims %u: rows of a transform are at right angles, of length 1", dims);
	free(matrix);
	free(rows);
}

/* The lengths of rows against the moments of those of normal vectors */
static void
test_lengths(uint32_t dims)
{
	const int n = CASES(1000000, 200000);
	RaceParams params = structured_params(L2, dims, 64);
	double d = race_structured_length(&params);
	double square = 0;
	double fourth = 0;

	for (int i = 0; i < n; i++)
	{
		double u = (i + 0.5) / n;
		double length = race_structured_scale(&params, race_inverse_normal(u)) * d;

		square += length * length / n;
		fourth += pow(length, 4) / n;
	}
	printf("# squares %.3g, fourth powers %.3g from those of chi\n", square - 1,
		   fourth - (1 + 2 / d));
	ok(fabs(square - 1) < 1e-5 && fabs(fourth - (1 + 2 / d)) < 1e-5,
	   "dims %u: rows are as long as normal vectors", dims);
}

/* -------------------------------------------------------------- deviations */

#define ROWS 16384
#define LIMIT 6.7 /* standard errors of independent rows */

#define SEEDS CASES(400, 10)

/* In what share of rows x and y meet, over many seeds */
static double
share_over_seeds(RaceParams *params, const double *x, const double *y)
{
	double sum = 0;

	for (params->seed = 0; params->seed < SEEDS; params->seed++)
	{
		RaceRows *rows = make_rows(params);

		sum += share_of_vectors(rows, x, y) / SEEDS;
		free(rows);
	}
	return sum;
}

/* Vectors of few numbers, or of the same few over and over */
typedef struct Shape
{
	const char *name;
	double x[4]; /* the first numbers */
	double y[4];
	bool repeated; /* else all others are 0 */
} Shape;

static const Shape shapes[] = {{"unit vectors at a right angle", {1}, {0, 1}, false},
							   {"two numbers and one", {1, 1}, {1}, false},
							   {"sum and difference of two", {1, 1}, {1, -1}, false},
							   {"three and two", {1, 1, 1}, {1, 0, 0, 1}, false},
							   {"four and two of them", {1, 1, 1, 1}, {1, 1}, false},
							   {"two, weighed", {3, 1}, {1, 3}, false},
							   {"constant and alternating", {1, 1, 1, 1}, {1, -1, 1, -1}, true},
							   {"constant and half of it", {1, 1, 1, 1}, {1, 1, 0, 0}, true}};

/* The vectors of a shape, of one length for angles; for l2, about two bandwidths apart */
static void
make_vectors(const Shape *shape, const RaceParams *params, double *x, double *y)
{
	double unit = params->kernel == L2 && shape->repeated ? 1 / sqrt(params->dims) : 1;

	for (uint32_t i = 0; i < params->dims; i++)
	{
		x[i] = i < 4 || shape->repeated ? unit * shape->x[i % 4] : 0;
		y[i] = i < 4 || shape->repeated ? unit * shape->y[i % 4] : 0;
	}
}

/* How far rows are from the kernel, and from that of a vector that is moved by 2 % */
static void
test_shape(const Shape *shape, RaceKernel kernel, uint32_t dims)
{
	RaceParams params = structured_params(kernel, dims, ROWS);
	double x[MOST_DIMS];
	double y[MOST_DIMS];
	double k;
	double share;
	double other;

	make_vectors(shape, &params, x, y);
	k = kernel_of_vectors(&params, x, y);
	share = share_over_seeds(&params, x, y);
	for (uint32_t i = 0; i < dims; i++)
		y[i] += 0.02 * (y[i] - x[i]);
	other = kernel_of_vectors(&params, x, y);
	printf("# off by %.6f, standard error %.6f\n", share - k, sqrt(k * (1 - k) / ROWS / SEEDS));
	ok(fabs(standard_errors(share, k, ROWS * SEEDS)) < LIMIT, "%s(%u), %s: as the kernel says",
	   race_kernel_name(kernel), dims, shape->name);
	ok(SANITIZED || fabs(standard_errors(share, other, ROWS * SEEDS)) > LIMIT,
	   "control: not if one were a little farther");
}

/*
 * Of one number, a projection is 0 in a few rows.  Then opposite vectors meet, and others do
 * if a small number decides.
 */
static void
test_opposite(uint32_t dims)
{
	RaceParams params = structured_params(ANGULAR, dims, ROWS);
	double x[MOST_DIMS] = {1};
	double y[MOST_DIMS] = {-1};
	double share = share_over_seeds(&params, x, y) * race_structured_length(&params);
	double limit = 0.1 * sqrt(400.0 / SEEDS);

	printf("# %.3f / D\n", share);
	ok(fabs(share - 2.4) < limit, "dims %u: opposite unit vectors meet in 2.4 / D of the rows",
	   dims);
	x[1] = 1e-3;
	y[0] = 1;
	y[1] = 3;
	share = share_over_seeds(&params, x, y) - kernel_of_vectors(&params, x, y);
	printf("# off by %.6f\n", share);
	ok(fabs(share) < 2.4 / race_structured_length(&params), "others are off by less than that");
	for (params.seed = 0; params.seed < (int) params.dims; params.seed++)
	{
		x[params.seed] = signed_unit(mix(params.seed));
		y[params.seed] = -x[params.seed];
	}
	ok(share_over_seeds(&params, x, y) == 0, "but not opposite vectors of many numbers");
}

int
main(void)
{
	test_angles(3);
	test_angles(1100);
	test_lengths(3);
	test_lengths(1536);
	for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++)
	{
		test_shape(&shapes[s], ANGULAR, 4);
		test_shape(&shapes[s], ANGULAR, 1536);
		test_shape(&shapes[s], L2, 4);
		test_shape(&shapes[s], L2, 1536);
	}
	test_opposite(4);
	test_opposite(1536);
	return done_testing();
}
