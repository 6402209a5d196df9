/*
 * gram.c
 *		The Gram matrix of points.
 */
#include "gram.h"

#include <math.h>
#include <string.h>

#include "../lsh/lsh.h"

/* Points that are compared with each other while their codes are in a near cache */
#define TILE	32

size_t
race_gram_line(uint32_t rows)
{
	return ((size_t) rows + RACE_GRAM_LINE - 1) / RACE_GRAM_LINE * RACE_GRAM_LINE;
}

void
race_gram_pack(const uint32_t *buckets, uint32_t rows, size_t point, uint16_t *line)
{
	size_t		n = race_gram_line(rows);
	size_t		r;

	for (r = 0; r < rows; r++)
		line[r] = (uint16_t) (buckets[r] ^ buckets[r] >> 16);
	/* points have different numbers: at most RACE_MAX_POINTS, which is below 2^16 */
	for (; r < n; r++)
		line[r] = (uint16_t) point;
}

/* In how many places of a line are both equal?  Sums stay below 2^16: a line of them. */
static uint32_t
count_equal(const uint16_t *a, const uint16_t *b, size_t n)
{
	uint32_t	total = 0;
	size_t		from;

	for (from = 0; from < n; from += RACE_GRAM_LINE)
	{
		uint16_t	sum = 0;
		int			r;

		for (r = 0; r < RACE_GRAM_LINE; r++)
			sum += a[from + r] == b[from + r];
		total += sum;
	}
	return total;
}

void
race_gram_of_codes(const uint16_t *codes, size_t m, uint32_t rows, float *gram)
{
	size_t		line = race_gram_line(rows);
	size_t		i;
	size_t		j;
	size_t		tile_i;
	size_t		tile_j;

	for (tile_i = 0; tile_i < m; tile_i += TILE)
		for (tile_j = tile_i; tile_j < m; tile_j += TILE)
		{
			race_look_for_interrupts();
			for (i = tile_i; i < m && i < tile_i + TILE; i++)
				for (j = i > tile_j ? i : tile_j; j < m && j < tile_j + TILE; j++)
				{
					uint32_t	equal = i == j ? rows :
						count_equal(codes + i * line, codes + j * line, line);

					gram[i * m + j] = gram[j * m + i] = (float) equal / (float) rows;
				}
		}
}

void
race_gram_of_places(const RaceRadial *radial, const double *places, size_t m, float *gram)
{
	size_t		i;
	size_t		j;

	for (i = 0; i < m; i++)
	{
		race_look_for_interrupts();
		for (j = i; j < m; j++)
			gram[i * m + j] = gram[j * m + i] =
				(float) race_radial_value(radial, race_radial_apart(radial, places, m, i, j));
	}
}

/*
 * out = gram v, column by column, so that it is the same sum whatever the width of
 * vectors.  Many weights are 0.
 */
static void
multiply(const float *gram, size_t m, const double *v, double *out)
{
	size_t		i;
	size_t		j;

	memset(out, 0, m * sizeof(double));
	for (j = 0; j < m; j++)
	{
		const float *column = gram + j * m;
		double		x = v[j];

		if (x == 0)
			continue;
		for (i = 0; i < m; i++)
			out[i] += x * column[i];
	}
}

/* The same by the rows themselves: what points in the same bucket have all together */
static void
multiply_by_rows(const RaceGram *gram, const double *v, double *out)
{
	uint32_t	r;
	size_t		i;

	memset(out, 0, gram->m * sizeof(double));
	for (r = 0; r < gram->rows; r++)
	{
		const uint16_t *code = gram->codes + r * gram->m;

		for (i = 0; i < gram->m; i++)
			gram->sums[code[i]] = 0;
		for (i = 0; i < gram->m; i++)
			gram->sums[code[i]] += v[i] / gram->rows;
		for (i = 0; i < gram->m; i++)
			out[i] += gram->sums[code[i]];
	}
}

/* ------------------------------------------------------------ points of a grid */

/* Offsets from -(side - 1) to side - 1 fit in without wrapping around. */
static void
find_sizes(const size_t *sides, size_t *sizes)
{
	sizes[0] = 1;
	sizes[1] = race_fourier_size(2 * sides[0] - 1);
	sizes[2] = race_fourier_size(2 * sides[1] - 1);
}

static size_t
elements(const size_t *sizes)
{
	return sizes[1] * sizes[2];
}

size_t
race_lattice_space(const size_t *sides)
{
	size_t		sizes[RACE_FOURIER_DIMS];

	find_sizes(sides, sizes);
	return 2 * elements(sizes) + race_fourier_space(sizes);
}

/* The kernel at an offset, which wraps around */
static double
kernel_at(const RaceLattice *lattice, const RaceRadial *radial, const double *steps,
		  size_t i, size_t j)
{
	size_t		offsets[] = {i, j};
	double		apart = 0;
	int			axis;

	for (axis = 0; axis < RACE_LATTICE_DIMS; axis++)
	{
		size_t		size = lattice->sizes[axis + 1];
		double		x = (double) (offsets[axis] > size / 2 ? size - offsets[axis] :
								  offsets[axis]) * steps[axis];

		apart += radial->euclidean ? x * x : x;
	}
	return race_radial_value(radial, radial->euclidean ? sqrt(apart) : apart);
}

void
race_lattice_init(RaceLattice *lattice, const RaceRadial *radial, const size_t *sides,
				  const double *steps, RaceComplex *space)
{
	size_t		n;
	size_t		i;

	memcpy(lattice->sides, sides, sizeof(lattice->sides));
	find_sizes(sides, lattice->sizes);
	n = elements(lattice->sizes);
	lattice->numbers = space;
	lattice->spectrum = space + n;
	lattice->space = space + 2 * n;
	for (i = 0; i < n; i++)
	{
		lattice->spectrum[i].re = kernel_at(lattice, radial, steps, i / lattice->sizes[2],
											i % lattice->sizes[2]) / (double) n;
		lattice->spectrum[i].im = 0;
	}
	race_fourier(lattice->spectrum, lattice->sizes, 0, lattice->space);
}

static void
multiply_lattice(const RaceLattice *lattice, const double *v, double *out)
{
	size_t		n = elements(lattice->sizes);
	size_t		i;
	size_t		j;

	memset(lattice->numbers, 0, n * sizeof(RaceComplex));
	for (i = 0; i < lattice->sides[0]; i++)
		for (j = 0; j < lattice->sides[1]; j++)
			lattice->numbers[i * lattice->sizes[2] + j].re = *v++;
	race_fourier(lattice->numbers, lattice->sizes, 0, lattice->space);
	for (i = 0; i < n; i++)
	{
		/* the kernel is even, so its spectrum is real */
		lattice->numbers[i].re *= lattice->spectrum[i].re;
		lattice->numbers[i].im *= lattice->spectrum[i].re;
	}
	race_fourier(lattice->numbers, lattice->sizes, 1, lattice->space);
	for (i = 0; i < lattice->sides[0]; i++)
		for (j = 0; j < lattice->sides[1]; j++)
			*out++ = lattice->numbers[i * lattice->sizes[2] + j].re;
}

/* ------------------------------------------------------------ products */

void
race_gram_multiply(const RaceGram *gram, const double *v, double *out)
{
	if (gram->codes != NULL)
		multiply_by_rows(gram, v, out);
	else if (gram->lattice != NULL)
		multiply_lattice(gram->lattice, v, out);
	else
		multiply(gram->dense, gram->m, v, out);
}
