/*
 * solver.c
 *		Weights on the simplex by accelerated projected gradient, and products with the Gram
 *		matrix of candidates
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "privacy/interrupt.h"
#include "hash/kernel.h"
#include "hash/philox.h"
#include "hash/quantiles.h"
#include "answers/factor.h"
#include "answers/solver.h"

/* ------------------- discrete Fourier transforms (Cooley & Tukey 1965), axis by axis */

size_t
race_fourier_size(size_t n)
{
	size_t size = 1;

	while (size < n)
		size *= 2;
	return size;
}

static size_t
longest_axis(const size_t *sizes)
{
	size_t n = sizes[0] > sizes[1] ? sizes[0] : sizes[1];

	return n > sizes[2] ? n : sizes[2];
}

size_t
race_fourier_space(const size_t *sizes)
{
	return 2 * longest_axis(sizes);
}

void
race_fourier_prepare(const size_t *sizes, RaceComplex *space)
{
	size_t n = longest_axis(sizes);

	for (size_t i = 0; i < n; i++)
	{
		double angle = -2 * RACE_PI * (double) i / (double) n;

		space[i] = (RaceComplex){cos(angle), sin(angle)};
	}
}

/*
 * Transform n numbers in their place; roots[i] is e^(-2 pi i / n), to the power i / stride.  The
 * sign is that of the imaginary parts: -1 for the inverse.
 */
static void
transform_in_place(RaceComplex *x, size_t n, const RaceComplex *roots, size_t stride, double sign)
{
	size_t reversed = 0;

	for (size_t i = 1; i < n; i++)
	{
		size_t bit = n / 2;

		for (; reversed & bit; bit /= 2)
			reversed ^= bit;
		reversed |= bit;
		if (i < reversed)
		{
			RaceComplex swap = x[i];

			x[i] = x[reversed];
			x[reversed] = swap;
		}
	}
	for (size_t half = 1; half < n; half *= 2)
		for (size_t i = 0; i < n; i += 2 * half)
			for (size_t j = 0; j < half; j++)
			{
				RaceComplex root = roots[j * (n / half / 2) * stride];
				RaceComplex *a = &x[i + j];
				RaceComplex *b = &x[i + j + half];
				double root_im = sign * root.im;
				double re = b->re * root.re - b->im * root_im;
				double im = b->re * root_im + b->im * root.re;

				b->re = a->re - re;
				b->im = a->im - im;
				a->re += re;
				a->im += im;
			}
}

void
race_fourier(RaceComplex *x, const size_t *sizes, int inverse, RaceComplex *space)
{
	size_t all = sizes[0] * sizes[1] * sizes[2];
	size_t inner = 1; /* elements of a line are so far apart */
	size_t longest = longest_axis(sizes);
	RaceComplex *line = space + longest;

	for (int axis = RACE_FOURIER_DIMS; axis-- > 0; inner *= sizes[axis])
	{
		size_t n = sizes[axis];

		for (size_t from = 0; from < all && n > 1; from++)
		{
			if (from / inner % n != 0)
				continue;
			if (from % 64 == 0)
				race_look_for_interrupts();
			for (size_t i = 0; i < n; i++)
				line[i] = x[from + i * inner];
			transform_in_place(line, n, space, longest / n, inverse ? -1 : 1);
			for (size_t i = 0; i < n; i++)
				x[from + i * inner] = line[i];
		}
	}
}

/* -------------------------------------------- the Gram matrix of a grid of points */

/* Set the sizes of transforms: offsets from -(side - 1) to side - 1 must not wrap around. */
static void
set_lattice_sizes(const size_t *sides, size_t *sizes)
{
	for (int axis = 0; axis < RACE_FOURIER_DIMS; axis++)
		sizes[axis] = sides[axis] == 1 ? 1 : race_fourier_size(2 * sides[axis] - 1);
}

size_t
race_lattice_volume(const size_t *sides)
{
	size_t sizes[RACE_FOURIER_DIMS];

	set_lattice_sizes(sides, sizes);
	return sizes[0] * sizes[1] * sizes[2];
}

size_t
race_lattice_space(const size_t *sides)
{
	size_t sizes[RACE_FOURIER_DIMS];

	set_lattice_sizes(sides, sizes);
	return 2 * race_lattice_volume(sides) + race_fourier_space(sizes);
}

void
race_lattice_at(const size_t *sizes, size_t i, size_t *at)
{
	at[2] = i % sizes[2];
	at[1] = i / sizes[2] % sizes[1];
	at[0] = i / sizes[2] / sizes[1];
}

void
race_lattice_init(RaceLattice *lattice, const RaceRadial *radial, const size_t *sides,
				  const double *steps, bool split, RaceComplex *space)
{
	size_t n = race_lattice_volume(sides);
	size_t at[RACE_FOURIER_DIMS];

	memcpy(lattice->sides, sides, sizeof(lattice->sides));
	set_lattice_sizes(sides, lattice->sizes);
	lattice->numbers = space;
	lattice->spectrum = space + n;
	lattice->space = space + 2 * n;
	for (size_t i = 0; i < n; i++)
	{
		double apart = 0;

		race_lattice_at(lattice->sizes, i, at);
		for (int axis = 0; axis < RACE_FOURIER_DIMS; axis++)
		{
			/* offsets wrap around */
			size_t offset =
				at[axis] > lattice->sizes[axis] / 2 ? lattice->sizes[axis] - at[axis] : at[axis];
			double x = (double) offset * steps[axis];

			apart += radial->euclidean ? x * x : x;
		}
		lattice->spectrum[i].re =
			race_radial_value(radial, radial->euclidean ? sqrt(apart) : apart);
		lattice->spectrum[i].im = 0;
	}
	race_fourier_prepare(lattice->sizes, lattice->space);
	race_fourier(lattice->spectrum, lattice->sizes, 0, lattice->space);
	for (size_t i = 0; i < n && split; i++)
	{
		race_lattice_at(lattice->sizes, i, at);
		for (int axis = 0; axis < RACE_FOURIER_DIMS; axis++)
			if (lattice->sides[axis] > 1) /* the transform of a cubic B-spline */
				lattice->spectrum[i].re /=
					(2 + cos(2 * RACE_PI * (double) at[axis] / (double) lattice->sizes[axis])) / 3;
	}
}

/* Copy the points of the lattice to or from the numbers that are transformed. */
static void
copy_points(const RaceLattice *lattice, double *a, double *b, bool back)
{
	const size_t *sides = lattice->sides;
	size_t n = sides[0] * sides[1] * sides[2];
	size_t at[RACE_FOURIER_DIMS];

	for (size_t i = 0; i < n; i++)
	{
		RaceComplex *number;

		race_lattice_at(sides, i, at);
		number = &lattice->numbers[(at[0] * lattice->sizes[1] + at[1]) * lattice->sizes[2] + at[2]];
		if (!back)
		{
			number->re = a[i];
			number->im = b == NULL ? 0 : b[i];
			continue;
		}
		a[i] = number->re;
		if (b != NULL)
			b[i] = number->im;
	}
}

void
race_lattice_multiply(const RaceLattice *lattice, const double *a, const double *b, double *out_a,
					  double *out_b)
{
	size_t n = lattice->sizes[0] * lattice->sizes[1] * lattice->sizes[2];

	memset(lattice->numbers, 0, n * sizeof(RaceComplex));
	copy_points(lattice, (double *) a, (double *) b, false);
	race_fourier(lattice->numbers, lattice->sizes, 0, lattice->space);
	for (size_t i = 0; i < n; i++)
	{
		/* the kernel is even, so its spectrum is real */
		double factor = lattice->spectrum[i].re / (double) n;

		lattice->numbers[i].re *= factor;
		lattice->numbers[i].im *= factor;
	}
	race_fourier(lattice->numbers, lattice->sizes, 1, lattice->space);
	copy_points(lattice, out_a, out_b, true);
}

/* ----------------------------------------------------- the Gram matrix of points */

/* Points that are compared with each other while their codes are in a near cache */
#define TILE 32

size_t
race_gram_line(uint32_t rows)
{
	return ((size_t) rows + RACE_GRAM_LINE - 1) / RACE_GRAM_LINE * RACE_GRAM_LINE;
}

void
race_gram_pack(const uint32_t *buckets, uint32_t rows, size_t point, uint16_t *line)
{
	size_t n = race_gram_line(rows);
	size_t r;

	for (r = 0; r < rows; r++)
		line[r] = (uint16_t) (buckets[r] ^ buckets[r] >> 16);
	/* points have different numbers: at most RACE_MAX_POINTS, which is below 2^16 */
	for (; r < n; r++)
		line[r] = (uint16_t) point;
}

/* Count the places of a line in which both are equal.  Sums stay below 2^16: a line of them. */
static uint32_t
count_equal(const uint16_t *a, const uint16_t *b, size_t n)
{
	uint32_t total = 0;

	for (size_t from = 0; from < n; from += RACE_GRAM_LINE)
	{
		uint16_t sum = 0;

		for (int r = 0; r < RACE_GRAM_LINE; r++)
			sum += a[from + r] == b[from + r];
		total += sum;
	}
	return total;
}

void
race_gram_of_codes(const uint16_t *codes, size_t m, uint32_t rows, float *gram)
{
	size_t line = race_gram_line(rows);

	for (size_t tile_i = 0; tile_i < m; tile_i += TILE)
		for (size_t tile_j = tile_i; tile_j < m; tile_j += TILE)
		{
			race_look_for_interrupts();
			for (size_t i = tile_i; i < m && i < tile_i + TILE; i++)
				for (size_t j = i > tile_j ? i : tile_j; j < m && j < tile_j + TILE; j++)
				{
					uint32_t equal =
						i == j ? rows : count_equal(codes + i * line, codes + j * line, line);

					gram[i * m + j] = gram[j * m + i] = (float) equal / (float) rows;
				}
		}
}

void
race_gram_of_places(const RaceRadial *radial, const double *places, size_t m, float *gram)
{
	for (size_t i = 0; i < m; i++)
	{
		race_look_for_interrupts();
		for (size_t j = i; j < m; j++)
			gram[i * m + j] = gram[j * m + i] =
				(float) race_radial_value(radial, race_radial_apart(radial, places, m, i, j));
	}
}

/* Columns that are added at a time: sums are read and written once for them */
#define COLUMNS 4

/* Add columns times numbers, one after the other: the same sum, whatever the width of vectors. */
static void
add_columns(const float *const column[], const double x[], size_t m, double *out)
{
	const float *a = column[0];
	const float *b = column[1];
	const float *c = column[2];
	const float *d = column[3];
	double of_a = x[0];
	double of_b = x[1];
	double of_c = x[2];
	double of_d = x[3];

	for (size_t i = 0; i < m; i++)
		out[i] = out[i] + of_a * a[i] + of_b * b[i] + of_c * c[i] + of_d * d[i];
}

void
race_gram_multiply(const RaceGram *gram, const double *v, double *out)
{
	size_t m = gram->m;
	const float *column[COLUMNS];
	double x[COLUMNS];
	int n = 0;

	if (gram->lattice != NULL)
	{
		race_lattice_multiply(gram->lattice, v, NULL, out, NULL);
		return;
	}
	memset(out, 0, m * sizeof(double));
	for (size_t j = 0; j < m; j++)
	{
		if (v[j] == 0) /* many weights are */
			continue;
		column[n] = gram->dense + j * m;
		x[n++] = v[j];
		if (n == COLUMNS)
		{
			add_columns(column, x, m, out);
			n = 0;
		}
	}
	if (n == 0)
		return;
	/* bound: COLUMNS */
	for (; n < COLUMNS; n++)
	{
		column[n] = gram->dense;
		x[n] = 0;
	}
	add_columns(column, x, m, out);
}

/* ------------------------------------ accelerated projected gradient on the simplex */

static int
compare_descending(const void *a, const void *b)
{
	double x = *(const double *) a;
	double y = *(const double *) b;

	return (x < y) - (x > y);
}

void
race_sort_descending(double *v, size_t n)
{
	qsort(v, n, sizeof(double), compare_descending);
}

/*
 * Project v.  The same amount is taken off all, so that what is left above 0 has the right sum.
 * The largest comes off first, so that no digits are lost where all are large.
 */
void
race_simplex_project(double *v, size_t n, double total, double *sorted)
{
	double largest = v[0];
	double sum = 0;
	double excess = 0;

	for (size_t i = 1; i < n; i++)
		largest = fmax(largest, v[i]);
	for (size_t i = 0; i < n; i++)
		v[i] -= largest;
	memcpy(sorted, v, n * sizeof(double));
	race_sort_descending(sorted, n);
	for (size_t i = 0; i < n; i++)
	{
		sum += sorted[i];
		if (i > 0 && sorted[i] <= (sum - total) / (double) (i + 1))
			break;
		excess = (sum - total) / (double) (i + 1);
	}
	for (size_t i = 0; i < n; i++)
		v[i] = v[i] > excess ? v[i] - excess : 0;
}

/* The largest eigenvalue of the Gram matrix, or a little more: power iterations */
#define POWER_ITERATIONS 15
#define POWER_MARGIN 1.05

static double
largest_eigenvalue(const RaceGram *gram, double *v, double *next)
{
	size_t m = gram->m;
	double length = 1;

	for (size_t i = 0; i < m; i++)
		v[i] = 1 / sqrt((double) m);
	for (int k = 0; k < POWER_ITERATIONS; k++)
	{
		race_gram_multiply(gram, v, next);
		length = sqrt(race_dot(next, next, m));
		if (length == 0)
			return 1;
		for (size_t i = 0; i < m; i++)
			v[i] = next[i] / length;
	}
	return POWER_MARGIN * length;
}

void
race_solve_weights(const RaceGram *gram, const double *answers, double total, RaceMisfit misfit,
				   int iterations, double *weights, double *space)
{
	size_t m = gram->m;
	double *point = space; /* where the gradient is taken */
	double *gradient = point + m;
	double *next = gradient + m;
	double *sorted = next + m;
	double largest = largest_eigenvalue(gram, point, next);
	double step = 1 / (misfit == RACE_MISFIT_COUNTERS ? largest : largest * largest);
	double t = 1;

	memcpy(point, weights, m * sizeof(double));
	for (int k = 0; k < iterations; k++)
	{
		double t_next = (1 + sqrt(1 + 4 * t * t)) / 2;
		double uphill = 0;
		double *excess;

		race_look_for_interrupts();
		excess = misfit == RACE_MISFIT_COUNTERS ? gradient : sorted;
		race_gram_multiply(gram, point, excess);
		for (size_t i = 0; i < m; i++)
			excess[i] -= answers[i];
		if (misfit == RACE_MISFIT_ANSWERS)
			race_gram_multiply(gram, excess, gradient);
		for (size_t i = 0; i < m; i++)
			next[i] = point[i] - step * gradient[i];
		race_simplex_project(next, m, total, sorted);

		/* momentum that leads uphill is dropped */
		for (size_t i = 0; i < m; i++)
			uphill += (point[i] - next[i]) * (next[i] - weights[i]);
		if (uphill > 0)
			t = t_next = 1;
		for (size_t i = 0; i < m; i++)
		{
			point[i] = next[i] + (t - 1) / t_next * (next[i] - weights[i]);
			weights[i] = next[i];
		}
		t = t_next;
	}
}

/* -------------------------------- points in a box that a model of vectors may have */

double
race_candidates_random(int64_t seed, uint32_t stream, size_t point, uint32_t coordinate)
{
	uint32_t counter[4] = {RACE_STREAM_FIT, stream, (uint32_t) point, coordinate};
	uint64_t bits[2];

	race_philox((uint64_t) seed, counter, bits);
	return ((double) (bits[0] >> 11) + 0.5) / 9007199254740992.0; /* 2^53 */
}

static double
box_span(const RaceBox *box, uint32_t i)
{
	return box->upper[i] - box->lower[i];
}

/* Steps of a grid of points, in bandwidths */
#define FINEST_STEP 0.0625
#define COARSEST_STEP 0.5

size_t
race_candidates_grid(const RaceBox *box, const double *bandwidths, size_t n, double *x,
					 size_t sides[2])
{
	double step = FINEST_STEP;
	double along[2] = {1, 1};       /* the numbers of points along both axes */
	uint32_t first = 2 - box->dims; /* the last axis is in sides[1] */

	if (box->dims > 2)
		return 0;
	for (; step <= COARSEST_STEP; step *= 1.05)
	{
		for (uint32_t i = 0; i < box->dims; i++)
			along[first + i] = ceil(box_span(box, i) / (bandwidths[i] * step)) + 1;
		if (along[0] * along[1] <= (double) n)
			break;
	}
	if (step > COARSEST_STEP)
		return 0;
	sides[0] = (size_t) along[0];
	sides[1] = (size_t) along[1];
	for (size_t p = 0; p < sides[0] * sides[1]; p++)
		for (uint32_t i = 0; i < box->dims; i++)
		{
			size_t last = sides[first + i] - 1;
			size_t k = first + i == 1 ? p % sides[1] : p / sides[1];

			/* the last is the bound itself, whatever rounding does */
			x[p * box->dims + i] = k == 0 ?
				box->lower[i] :
				k == last ?
				box->upper[i] :
				fmin(box->lower[i] + box_span(box, i) * (double) k / (double) last, box->upper[i]);
		}
	return sides[0] * sides[1];
}

void
race_candidates_uniform(const RaceBox *box, int64_t seed, uint32_t stream, size_t n, double *x)
{
	for (size_t p = 0; p < n; p++)
	{
		race_look_for_interrupts();
		for (uint32_t i = 0; i < box->dims; i++)
			x[p * box->dims + i] =
				fmin(box->lower[i] + box_span(box, i) * race_candidates_random(seed, stream, p, i),
					 box->upper[i]);
	}
}

/*
 * Return the jitter of a round.  The first jitter is about the distance between points at random,
 * the last a seventh of it.
 */
double
race_candidates_jitter(const RaceBox *box, size_t n, int round)
{
	double first = 0.5 * pow((double) n, -1.0 / box->dims);

	first = fmin(fmax(first, 0.1), 0.25);
	return first * pow(7, -(double) (round - 1) / (RACE_FIT_ROUNDS - 2));
}

void
race_candidates_around(const RaceBox *box, int64_t seed, uint32_t stream, double jitter,
					   const double *around, const double *weights, size_t m, size_t n, double *x)
{
	double total = 0;
	double passed = 0;
	size_t parent = 0;

	for (size_t p = 0; p < m; p++)
		total += weights[p];
	for (size_t p = 0; p < n; p++)
	{
		/* evenly spaced along the weights: a point of twice the weight has twice as many */
		double at =
			total * ((double) p + race_candidates_random(seed, stream, p, box->dims)) / (double) n;

		race_look_for_interrupts();
		while (parent + 1 < m && passed + weights[parent] <= at)
			passed += weights[parent++];
		for (uint32_t i = 0; i < box->dims; i++)
		{
			double move = jitter * box_span(box, i) *
				race_inverse_normal(race_candidates_random(seed, stream, p, i));

			x[p * box->dims + i] =
				fmin(fmax(around[parent * box->dims + i] + move, box->lower[i]), box->upper[i]);
		}
	}
}

size_t
race_candidates_keep(uint32_t dims, size_t most, double *x, double *weights, size_t m,
					 double *sorted)
{
	double least = 0;
	size_t equal = 0; /* number of values that equal the least one that is kept */
	size_t kept = 0;

	memcpy(sorted, weights, m * sizeof(double));
	race_sort_descending(sorted, m);
	if (m > most)
	{
		least = sorted[most - 1];
		while (equal < most && sorted[most - 1 - equal] == least)
			equal++;
	}
	for (size_t p = 0; p < m; p++)
		if (weights[p] > least || (weights[p] > 0 && weights[p] == least && equal > 0))
		{
			equal -= weights[p] == least && equal > 0;
			weights[kept] = weights[p];
			memmove(x + kept * dims, x + p * dims, dims * sizeof(double));
			kept++;
		}
	return kept;
}
