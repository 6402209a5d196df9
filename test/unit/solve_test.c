/*
 * solve_test.c
 *		Fitting a model: projections on the simplex, weights, Gram matrices, candidates.
 */
#include "../../src/answers/solver.h"
#include "helpers.h"
#include "kernels.h"
#include "tap.h"
#include "answers/solver.h"

#include "hash/kernel.h"
#include "hash/params.h"

/* A Gram matrix of m points */
#define DENSE(points, n) (&(RaceGram){.m = (n), .dense = (points)})

static void *
allocate(size_t n, size_t size)
{
	void *space = calloc(n + 1, size);

	if (space == NULL)
		abort();
	return space;
}

static double
sum_of(const double *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return sum;
}

/* -------------------------------------------------------------- projections */

#define FEW 8

/*
 * The nearest point of the simplex, by its faces: on each the coordinates that are not 0 are
 * moved by the same amount.  The right one is that where they do not fall below 0 by that,
 * and the others would.
 */
static void
plain_projection(const double *v, int n, double total, double *nearest)
{
	double best = INFINITY;

	for (int face = 1; face < 1 << n; face++)
	{
		double excess = -total;
		double wrong = 0;
		int on = 0;

		for (int i = 0; i < n; i++)
			if (face >> i & 1)
			{
				excess += v[i];
				on++;
			}
		excess /= on;
		for (int i = 0; i < n; i++)
			wrong = fmax(wrong, face >> i & 1 ? excess - v[i] : v[i] - excess);
		for (int i = 0; i < n && wrong < best; i++)
			nearest[i] = face >> i & 1 ? v[i] - excess : 0;
		best = fmin(best, wrong);
	}
}

/* Numbers of many sizes, some of them equal */
static void
make_numbers(uint64_t number, int n, double *v)
{
	double scale = log_uniform(mix(number), 1e-6, 1e6);

	for (int i = 0; i < n; i++)
		v[i] = mix(number + i) % 5 == 0 ? v[0] : scale * signed_unit(mix(number * 16 + i));
}

static void
test_projection(void)
{
	double worst = 0;
	double worst_sum = 0;
	double worst_again = 0;
	double control = 0;
	int below = 0;

	for (uint64_t number = 0; number < 4000; number++)
	{
		int n = 1 + (int) (number % FEW);
		double total = log_uniform(mix(number * 3), 1e-3, 1e3);
		double v[FEW];
		double w[FEW];
		double nearest[FEW];
		double space[FEW];
		double size = total;

		make_numbers(number, n, v);
		plain_projection(v, n, total, nearest);
		memcpy(w, v, sizeof(w));
		race_simplex_project(w, n, total, space);
		for (int i = 0; i < n; i++)
			size = fmax(size, fabs(v[i]));
		for (int i = 0; i < n; i++)
		{
			below += !(w[i] >= 0);
			worst = fmax(worst, fabs(w[i] - nearest[i]) / size);
			control = fmax(control, fabs(fmax(v[i], 0) - nearest[i]) / size);
		}
		worst_sum = fmax(worst_sum, fabs(sum_of(w, n) - total) / size);
		memcpy(v, w, sizeof(v));
		race_simplex_project(v, n, total, space);
		for (int i = 0; i < n; i++)
			worst_again = fmax(worst_again, fabs(v[i] - w[i]) / size);
	}
	ok(worst < 1e-14, "a projection is the nearest point of all faces (%.2g)", worst);
	ok(below == 0 && worst_sum < 1e-14, "it has the sum, and no number below 0");
	ok(worst_again < 1e-14, "its own projection is itself");
	ok(control > 0.1, "control: to cut off what is below 0 is something else");
}

/* Numbers that are far larger than their sum is to be */
static void
test_large_numbers(void)
{
	static const double sizes[] = {1e6, 1e15, 1e17, 1e18, 1e30, 1e100, 1e300};

	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
	{
		double high[3] = {sizes[s], 0, -sizes[s]};
		double low[3] = {-sizes[s], -sizes[s], -2 * sizes[s]};
		double equal[3] = {sizes[s], sizes[s], sizes[s]};
		double space[3];

		race_simplex_project(high, 3, 1, space);
		race_simplex_project(low, 3, 1, space);
		race_simplex_project(equal, 3, 1, space);
		ok(high[0] == 1 && high[1] == 0 && high[2] == 0, "the largest takes all of it: %g",
		   sizes[s]);
		ok(low[0] == 0.5 && low[1] == 0.5 && low[2] == 0, "below 0, too: %g", -sizes[s]);
		ok(fabs(sum_of(equal, 3) - 1) < 1e-9 && equal[0] == equal[1] && equal[1] == equal[2],
		   "equal ones share it: %g", sizes[s]);
	}
}

/* ------------------------------------------------------------------ weights */

/* The share of rows in which points are in the same bucket: a Gram matrix as there are */
static float *
make_gram(uint64_t number, size_t m, uint32_t rows, uint32_t range, uint16_t *codes)
{
	size_t line = race_gram_line(rows);
	float *gram = allocate(m * m, sizeof(float));
	uint32_t *buckets = allocate(rows, sizeof(uint32_t));

	for (size_t i = 0; i < m; i++)
	{
		/* neighbors agree more often than others */
		for (uint32_t r = 0; r < rows; r++)
			buckets[r] = (uint32_t) ((i + mix(number * 7919 + r) % range) / range);
		race_gram_pack(buckets, rows, i, codes + i * line);
	}
	race_gram_of_codes(codes, m, rows, gram);
	free(buckets);
	return gram;
}

/* The gradient of a misfit: gram w - b, and gram times that */
static void
plain_gradient(const float *gram, size_t m, const double *answers, RaceMisfit misfit,
			   const double *w, double *gradient)
{
	double *excess = allocate(m, sizeof(double));

	for (size_t i = 0; i < m; i++)
	{
		excess[i] = -answers[i];
		for (size_t j = 0; j < m; j++)
			excess[i] += (double) gram[i * m + j] * w[j];
	}
	for (size_t i = 0; i < m; i++)
	{
		gradient[i] = misfit == RACE_MISFIT_COUNTERS ? excess[i] : 0;
		for (size_t j = 0; j < m && misfit == RACE_MISFIT_ANSWERS; j++)
			gradient[i] += (double) gram[i * m + j] * excess[j];
	}
	free(excess);
}

/*
 * How far weights are from an optimum (Karush, Kuhn & Tucker): where there is weight, the
 * gradient is the least of all.  By convexity, the gap bounds the excess of the misfit:
 * gradient'(w - v) is at most this for all v of the simplex.
 */
static double
optimality_gap(const float *gram, size_t m, const double *answers, RaceMisfit misfit,
			   const double *w, double total)
{
	double *gradient = allocate(m, sizeof(double));
	double least = INFINITY;
	double here = 0;

	plain_gradient(gram, m, answers, misfit, w, gradient);
	for (size_t i = 0; i < m; i++)
	{
		least = fmin(least, gradient[i]);
		here += gradient[i] * w[i];
	}
	free(gradient);
	return here - least * total;
}

/* Answers of some points, with noise that makes some of them negative */
static void
make_answers(const float *gram, uint64_t number, size_t m, double total, double noise,
			 double *answers)
{
	for (size_t i = 0; i < m; i++)
		answers[i] = total * (0.7 * gram[i * m + m / 3] + 0.3 * gram[i * m + 2 * m / 3]) +
			noise * total * signed_unit(mix(number * 104729 + i));
}

static void
test_weights(size_t m, double noise, RaceMisfit misfit, int iterations)
{
	uint32_t rows = 100;
	uint16_t *codes = allocate(m * race_gram_line(rows), sizeof(uint16_t));
	double *answers = allocate(m, sizeof(double));
	double *w = allocate(m, sizeof(double));
	double *again = allocate(m, sizeof(double));
	double *space = allocate(RACE_SOLVE_SPACE(m), sizeof(double));
	const double total = 1000;
	double worst = 0;
	double worst_sum = 0;
	double at_start = INFINITY;
	int outside = 0;
	int other = 0;

	for (uint64_t number = 0; number < 10; number++)
	{
		float *gram = make_gram(number, m, rows, 6, codes);

		make_answers(gram, number, m, total, noise, answers);
		for (size_t i = 0; i < m; i++)
			w[i] = again[i] = total / (double) m;
		at_start = fmin(at_start, optimality_gap(gram, m, answers, misfit, w, total));
		for (int part = 0; part < 4; part++)
		{
			race_solve_weights(DENSE(gram, m), answers, total, misfit, part == 0 ? 1 : iterations,
							   w, space);
			for (size_t i = 0; i < m; i++)
				outside += !(w[i] >= 0) || w[i] > total * (1 + 1e-9);
			worst_sum = fmax(worst_sum, fabs(sum_of(w, m) / total - 1));
		}
		worst = fmax(worst, optimality_gap(gram, m, answers, misfit, w, total) / (total * total));
		for (int part = 0; part < 4; part++)
			race_solve_weights(DENSE(gram, m), answers, total, misfit, part == 0 ? 1 : iterations,
							   again, space);
		other += memcmp(w, again, m * sizeof(double)) != 0;
		free(gram);
	}
	ok(worst < 1e-9, "%zu points, noise %g, misfit %d: the optimum (%.2g)", m, noise, misfit,
	   worst);
	ok(m == 1 || at_start > 100 * worst * total * total, "control: it was not one at the start");
	ok(outside == 0 && worst_sum < 1e-9, "weights stay in the simplex");
	ok(other == 0, "the same bits again");
	free(space);
	free(again);
	free(w);
	free(answers);
	free(codes);
}

/* Points that are the same, points that nothing is at, and answers of nothing */
static void
test_degenerate(void)
{
	float same[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
	float apart[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
	double low[3] = {-5, -5, -5};
	double huge[3] = {-1e18, -1e18, -1e18};
	double one[3] = {0, 0, 4e18};
	double w[3] = {1, 1, 1};
	double space[RACE_SOLVE_SPACE(3)];

	race_solve_weights(DENSE(same, 3), low, 3, RACE_MISFIT_ANSWERS, 50, w, space);
	ok(fabs(sum_of(w, 3) - 3) < 1e-9 && w[0] == w[1], "points that are the same stay equal");
	race_solve_weights(DENSE(apart, 3), low, 3, RACE_MISFIT_COUNTERS, 50, w, space);
	ok(fabs(sum_of(w, 3) - 3) < 1e-9, "answers below 0 everywhere");
	race_solve_weights(DENSE(apart, 3), huge, 3, RACE_MISFIT_COUNTERS, 50, w, space);
	ok(fabs(sum_of(w, 3) - 3) < 1e-9, "and far below");
	race_solve_weights(DENSE(same, 3), huge, 3, RACE_MISFIT_ANSWERS, 50, w, space);
	ok(fabs(sum_of(w, 3) - 3) < 1e-9, "and of points that are the same");
	race_solve_weights(DENSE(apart, 3), one, 3, RACE_MISFIT_ANSWERS, 50, w, space);
	ok(w[0] == 0 && w[1] == 0 && w[2] == 3, "one answer far above all others takes all weight");
	race_solve_weights(DENSE(apart, 3), low, 3, RACE_MISFIT_COUNTERS, 0, w, space);
	ok(w[2] == 3, "no iterations change nothing");
}

/* --------------------------------------------------------------------- gram */

/* A product by transforms is that with the matrix. */
static void
test_lattice(RaceKernel kernel, size_t n, size_t m)
{
	Recipe recipe = {MULTI, 2, {{(uint8_t) kernel, IND, n == 1 ? 1 : 2, 1, 0, 0}}};
	RaceParams *params = make_params(&recipe, 1, 0);
	static RaceRadial radial;
	size_t sides[RACE_FOURIER_DIMS] = {1, n, m};
	double steps[RACE_FOURIER_DIMS] = {0, 0.3, 0.07};
	double *places = allocate(2 * n * m, sizeof(double));
	float *matrix = allocate(n * m * n * m, sizeof(float));
	RaceComplex *space = allocate(race_lattice_space(sides), sizeof(RaceComplex));
	double *v = allocate(3 * n * m, sizeof(double));
	RaceLattice lattice;
	RaceGram by_lattice = {.m = n * m, .lattice = &lattice};
	double worst = 0;

	race_radial_init(&radial, params);
	for (size_t i = 0; i < n * m; i++)
	{
		places[i] = steps[2] * (double) (i % m);
		if (n > 1)
			places[n * m + i] = steps[1] * (double) (i / m);
		v[i] = signed_unit(mix(i));
	}
	race_gram_of_places(&radial, places, n * m, matrix);
	race_lattice_init(&lattice, &radial, sides, steps, false, space);
	race_gram_multiply(DENSE(matrix, n * m), v, v + n * m);
	race_gram_multiply(&by_lattice, v, v + 2 * n * m);
	for (size_t i = 0; i < n * m; i++)
		worst = fmax(worst, fabs(v[n * m + i] - v[2 * n * m + i]));
	ok(worst < 1e-6 * (double) (n * m), "%s: %zu times %zu points, by transforms (%.2g)",
	   race_kernel_name(kernel), n, m, worst);
	free(v);
	free(space);
	free(matrix);
	free(places);
	free(params);
}

static void
test_gram(uint32_t rows, size_t m)
{
	size_t line = race_gram_line(rows);
	uint16_t *codes = allocate(m * line, sizeof(uint16_t));
	uint32_t *buckets = allocate(m * rows, sizeof(uint32_t));
	float *gram = allocate(m * m, sizeof(float));
	int wrong = 0;
	int padding = 0;
	double mean = 0;

	for (size_t i = 0; i < m; i++)
	{
		for (uint32_t r = 0; r < rows; r++)
			buckets[i * rows + r] = (uint32_t) (mix(i * 65537 + r) % 3 * 30000);
		race_gram_pack(buckets + i * rows, rows, i, codes + i * line);
	}
	race_gram_of_codes(codes, m, rows, gram);
	for (size_t i = 0; i < m; i++)
		for (size_t j = 0; j < m; j++)
		{
			uint32_t equal = 0;

			for (uint32_t r = 0; r < rows; r++)
				equal += buckets[i * rows + r] == buckets[j * rows + r];
			wrong += gram[i * m + j] != (float) equal / (float) rows;
			for (uint32_t r = rows; r < line; r++)
				padding += i != j && codes[i * line + r] == codes[j * line + r];
			mean += gram[i * m + j] / (double) (m * m);
		}
	ok(line % RACE_GRAM_LINE == 0 && line >= rows && line < rows + RACE_GRAM_LINE && wrong == 0 &&
		   padding == 0,
	   "%u rows, %zu points: as counted one by one (mean %.2g)", rows, m, mean);
	free(gram);
	free(buckets);
	free(codes);
}

/* Buckets of more than 16 bits are folded */
static void
test_wide_buckets(void)
{
	uint32_t a[4] = {0, 65536, 70000, 0x7FFFFFFF};
	uint32_t b[4] = {0, 65537, 70000, 0x7FFFFFFE};
	uint16_t codes[2 * RACE_GRAM_LINE];
	float gram[4];

	race_gram_pack(a, 4, 0, codes);
	race_gram_pack(b, 4, 1, codes + RACE_GRAM_LINE);
	race_gram_of_codes(codes, 2, 4, gram);
	ok(gram[0] == 1 && gram[3] == 1 && gram[1] == 0.5f && gram[2] == 0.5f, "buckets above 2^16");
}

/* --------------------------------------------------------------- candidates */

#define MAX_POINTS 4096

static bool
all_inside(const RaceBox *box, const double *x, size_t n)
{
	for (size_t p = 0; p < n; p++)
		for (uint32_t i = 0; i < box->dims; i++)
			if (!(x[p * box->dims + i] >= box->lower[i] && x[p * box->dims + i] <= box->upper[i]))
				return false;
	return true;
}

/* Boxes whose ends are rounded, empty and huge ones */
static const double box_ends[][4] = {
	{0, 1, 0, 1},           {-0.1, 0.2, 0.1, 0.7},
	{-1e16, 3, 0, 1},       {5, 5, -3, -3},
	{0, 1e-300, 0, 1e300},  {-1e299, 1e299, 7, 7},
	{-1, 1e-17, 1e-310, 1}, {1, 1.0000000000000002, 0.1, 0.30000000000000004}};

static void
test_boxes(void)
{
	double *x = allocate(2 * MAX_POINTS, sizeof(double));
	double *y = allocate(2 * MAX_POINTS, sizeof(double));
	double *w = allocate(MAX_POINTS, sizeof(double));

	for (size_t p = 0; p < MAX_POINTS; p++)
		w[p] = mix(p) % 3;
	for (size_t b = 0; b < sizeof(box_ends) / sizeof(box_ends[0]); b++)
	{
		const double *ends = box_ends[b];
		double lower[2] = {ends[0], ends[2]};
		double upper[2] = {ends[1], ends[3]};
		double widths[2] = {1, 0.5};
		RaceBox box = {2, lower, upper};
		RaceBox line = {1, lower, upper};
		size_t sides[2];
		size_t n = race_candidates_grid(&box, widths, MAX_POINTS, x, sides);
		size_t m = race_candidates_grid(&line, widths, MAX_POINTS, y, sides);

		ok(n <= MAX_POINTS && m <= MAX_POINTS && all_inside(&box, x, n) && all_inside(&line, y, m),
		   "box %zu: grids lie inside (%zu and %zu points)", b, n, m);
		race_candidates_uniform(&box, -5, 100, MAX_POINTS, x);
		race_candidates_uniform(&box, -5, 100, MAX_POINTS, y);
		ok(all_inside(&box, x, MAX_POINTS), "so do points at random");
		ok(memcmp(x, y, 2 * MAX_POINTS * sizeof(double)) == 0, "which are the same again");
		race_candidates_uniform(&box, -5, 101, MAX_POINTS, y);
		ok((lower[0] == upper[0] && lower[1] == upper[1]) ||
			   memcmp(x, y, 2 * MAX_POINTS * sizeof(double)) != 0,
		   "and others for another stream");
		race_candidates_around(&box, 1, 3, 0.25, x, w, 1000, MAX_POINTS - 1000, x + 2000);
		race_candidates_around(&box, 1, 3, 0.25, x, w, 1000, MAX_POINTS - 1000, y + 2000);
		ok(all_inside(&box, x, MAX_POINTS) &&
			   memcmp(x + 2000, y + 2000, 2 * (MAX_POINTS - 1000) * sizeof(double)) == 0,
		   "and points around others, which are the same again");
	}
	free(w);
	free(y);
	free(x);
}

static void
test_grid_steps(void)
{
	double *x = allocate(MAX_POINTS, sizeof(double));
	static const double spans[] = {0, 1e-300, 0.01, 1, 10, 100, 339, 400, 1e6, 1e250};
	double lower = -1;
	double upper;
	size_t sides[2];
	double width = 0.5;
	RaceBox box = {1, &lower, &upper};

	for (size_t s = 0; s < sizeof(spans) / sizeof(spans[0]); s++)
	{
		size_t n;
		double widest = 0;
		bool can = spans[s] / width / 0.5 + 1 < 1000 * 0.95;

		upper = lower + spans[s];
		n = race_candidates_grid(&box, &width, 1000, x, sides);
		for (size_t p = 1; p < n; p++)
			widest = fmax(widest, x[p] - x[p - 1]);
		ok(n == 0 ? spans[s] / width / 0.5 > 1000 * 0.9 : n <= 1000 && widest <= 0.51 * width,
		   "a span of %g: %zu points, steps of %.3g bandwidths", spans[s], n, widest / width);
		ok(!can || (n > 0 && x[0] == lower && x[n - 1] == upper), "from end to end");
	}
	free(x);
}

/* Grids are for one or two dimensions; infinite numbers of points are too many */
static void
test_no_grid(void)
{
	double lower[3] = {0, 0, 0};
	double upper[3] = {1, 1, 1};
	double widths[3] = {1, 1, 1};
	double tiny[3] = {1e-204, 1e-204, 1};
	RaceBox box = {3, lower, upper};
	double x[3 * 64];
	size_t sides[2];

	ok(race_candidates_grid(&box, widths, 64, x, sides) == 0, "no grid in three dimensions");
	box.dims = 2;
	ok(race_candidates_grid(&box, widths, 3, x, sides) == 0, "nor of too few points");
	ok(race_candidates_grid(&box, widths, 64, x, sides) > 3, "but of enough");
	upper[0] = upper[1] = 1e300;
	ok(race_candidates_grid(&box, tiny, 64, x, sides) == 0, "nor of infinitely many");
	upper[1] = 0;
	ok(race_candidates_grid(&box, tiny, 64, x, sides) == 0, "of a flat box, too");
	upper[0] = 0;
	ok(race_candidates_grid(&box, tiny, 64, x, sides) == 1 && x[0] == 0 && x[1] == 0,
	   "a box that is a point has one");
	ok(race_candidates_grid(&box, tiny, 1, x, sides) == 1, "and needs space for no more");
}

/* Twice the weight has twice as many around it; what has none has none. */
static void
test_around(void)
{
	double lower = 0;
	double upper = 100;
	RaceBox box = {1, &lower, &upper};
	double around[4] = {10, 30, 50, 90};
	double weights[4] = {1, 0, 2, 5};
	double x[800];
	int near[4] = {0, 0, 0, 0};

	race_candidates_around(&box, 7, 1, 1e-3, around, weights, 4, 800, x);
	for (int i = 0; i < 800; i++)
		for (int j = 0; j < 4; j++)
			near[j] += fabs(x[i] - around[j]) < 2;
	ok(abs(near[0] - 100) <= 1 && near[1] == 0 && abs(near[2] - 200) <= 1 &&
		   abs(near[3] - 500) <= 1,
	   "points are drawn around others by weight: %d %d %d %d", near[0], near[1], near[2], near[3]);
	race_candidates_around(&box, 7, 1, 0, around, weights, 4, 800, x);
	ok(x[0] == 10 && x[799] == 90, "without jitter at them");
}

/* The heaviest, in their order, and no more than there may be */
static void
test_keep(void)
{
	int wrong = 0;

	for (uint64_t number = 0; number < 2000; number++)
	{
		size_t m = mix(number) % 13;
		size_t most = 1 + mix(number + 1) % 10;
		double w[13];
		double x[26];
		double before[13];
		double sorted[13];
		size_t kept;
		size_t heavy = 0;
		double least = INFINITY;
		size_t j = 0;

		for (size_t i = 0; i < m; i++)
		{
			w[i] = before[i] = (double) (mix(number * 32 + i) % 5);
			x[2 * i] = (double) i;
			x[2 * i + 1] = -(double) i;
			heavy += w[i] > 0;
		}
		kept = race_candidates_keep(2, most, x, w, m, sorted);
		wrong += kept != (heavy < most ? heavy : most);
		for (size_t i = 0; i < kept; i++)
		{
			size_t from = (size_t) x[2 * i];

			wrong += from >= m || x[2 * i + 1] != -x[2 * i] || w[i] != before[from] ||
				!(w[i] > 0) || (i > 0 && x[2 * i] <= x[2 * i - 2]);
			least = fmin(least, w[i]);
		}
		/* none that was left out is heavier than one that was kept */
		for (size_t i = 0; i < m; i++)
		{
			while (j < kept && x[2 * j] < (double) i)
				j++;
			if (!(j < kept && x[2 * j] == (double) i))
				wrong += before[i] > least;
		}
	}
	ok(wrong == 0, "the heaviest are kept, in their order");
}

int
main(void)
{
	static const RaceMisfit misfits[] = {RACE_MISFIT_COUNTERS, RACE_MISFIT_ANSWERS};
	static const uint32_t rows[] = {1, 2, 63, 64, 65, 100, 127, 128, 1000};

	test_projection();
	test_large_numbers();
	for (int i = 0; i < 2; i++)
	{
		int iterations = misfits[i] == RACE_MISFIT_COUNTERS ? 1000 : 4000;

		test_weights(1, 0.1, misfits[i], iterations);
		test_weights(2, 0.1, misfits[i], iterations);
		test_weights(13, 0, misfits[i], iterations);
		test_weights(13, 0.2, misfits[i], iterations);
		test_weights(40, 0.05, misfits[i], iterations);
	}
	test_degenerate();
	for (int i = 0; i < (int) (sizeof(rows) / sizeof(rows[0])); i++)
	{
		test_gram(rows[i], 1);
		test_gram(rows[i], 33);
		test_gram(rows[i], 70);
	}
	test_lattice(RACE_KERNEL_L2, 1, 1);
	test_lattice(RACE_KERNEL_L2, 1, 100);
	test_lattice(RACE_KERNEL_L1, 7, 1);
	test_lattice(RACE_KERNEL_L1, 5, 16);
	test_lattice(RACE_KERNEL_L2, 20, 17);
	test_wide_buckets();
	test_boxes();
	test_grid_steps();
	test_no_grid();
	test_around();
	test_keep();
	return done_testing();
}
