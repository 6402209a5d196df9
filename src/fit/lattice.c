/*
 * lattice.c
 *		Products with the Gram matrix of a grid by Fourier transforms.
 *
 * A transform of a transform is the original backwards, times its length.  The spectrum of
 * a kernel is the same backwards.  So two transforms, with the spectrum between them, are
 * the convolution backwards, and no inverse is needed.
 */
#include "lattice.h"

#include <math.h>
#include <string.h>

#include "../lsh/lsh.h"

/* Without wrapping around, offsets from -(side - 1) to side - 1 need so much. */
static size_t
length_for(size_t side)
{
	size_t		length = 1;

	while (length < 2 * side - 1)
		length *= 2;
	return length;
}

static size_t
longest(const size_t *lengths)
{
	return lengths[0] > lengths[1] ? lengths[0] : lengths[1];
}

size_t
race_lattice_space(const size_t *sides)
{
	size_t		lengths[] = {length_for(sides[0]), length_for(sides[1])};

	return 3 * lengths[0] * lengths[1] + longest(lengths);
}

/* Put n numbers in the order in which their bits are reversed. */
static void
reverse_bits(double *x, size_t n, size_t step)
{
	size_t		i;
	size_t		j = 0;

	for (i = 1; i < n; i++)
	{
		size_t		bit = n / 2;
		int			k;

		for (; j & bit; bit /= 2)
			j ^= bit;
		j ^= bit;
		for (k = 0; i < j && k < 2; k++)
		{
			double		swapped = x[2 * i * step + k];

			x[2 * i * step + k] = x[2 * j * step + k];
			x[2 * j * step + k] = swapped;
		}
	}
}

/* The Fourier transform of n complex numbers (Cooley & Tukey 1965), `step` apart */
static void
transform(const RaceLattice *lattice, double *x, size_t n, size_t step)
{
	size_t		most = longest(lattice->lengths);
	size_t		half;
	size_t		from;
	size_t		i;

	reverse_bits(x, n, step);
	for (half = 1; half < n; half *= 2)
		for (from = 0; from < n; from += 2 * half)
			for (i = 0; i < half; i++)
			{
				const double *root = lattice->roots + 2 * i * (most / (2 * half));
				double	   *a = x + 2 * (from + i) * step;
				double	   *b = a + 2 * half * step;
				double		re = b[0] * root[0] - b[1] * root[1];
				double		im = b[0] * root[1] + b[1] * root[0];

				b[0] = a[0] - re;
				b[1] = a[1] - im;
				a[0] += re;
				a[1] += im;
			}
}

static void
transform_all(const RaceLattice *lattice)
{
	size_t		rows = lattice->lengths[0];
	size_t		columns = lattice->lengths[1];
	size_t		i;

	for (i = 0; i < rows; i++)
		transform(lattice, lattice->numbers + 2 * i * columns, columns, 1);
	race_look_for_interrupts();
	for (i = 0; i < columns && rows > 1; i++)
		transform(lattice, lattice->numbers + 2 * i, rows, columns);
}

static size_t
all_numbers(const RaceLattice *lattice)
{
	return lattice->lengths[0] * lattice->lengths[1];
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
		size_t		length = lattice->lengths[axis];
		double		x = (double) (offsets[axis] > length / 2 ? length - offsets[axis] :
								  offsets[axis]) * steps[axis];

		apart += radial->euclidean ? x * x : x;
	}
	return race_radial_value(radial, radial->euclidean ? sqrt(apart) : apart);
}

static void
find_spectrum(RaceLattice *lattice, const RaceRadial *radial, const double *steps)
{
	size_t		n = all_numbers(lattice);
	size_t		i;

	for (i = 0; i < n; i++)
	{
		lattice->numbers[2 * i] = kernel_at(lattice, radial, steps, i / lattice->lengths[1],
											i % lattice->lengths[1]);
		lattice->numbers[2 * i + 1] = 0;
	}
	transform_all(lattice);
	for (i = 0; i < n; i++)
		lattice->spectrum[i] = lattice->numbers[2 * i] / (double) n;
}

void
race_lattice_init(RaceLattice *lattice, const RaceRadial *radial, const size_t *sides,
				  const double *steps, double *space)
{
	size_t		most;
	size_t		i;
	int			axis;

	for (axis = 0; axis < RACE_LATTICE_DIMS; axis++)
	{
		lattice->sides[axis] = sides[axis];
		lattice->lengths[axis] = length_for(sides[axis]);
	}
	lattice->numbers = space;
	lattice->spectrum = space + 2 * all_numbers(lattice);
	lattice->roots = lattice->spectrum + all_numbers(lattice);
	most = longest(lattice->lengths);
	for (i = 0; i < most / 2; i++)
	{
		lattice->roots[2 * i] = cos(2 * RACE_PI * (double) i / (double) most);
		lattice->roots[2 * i + 1] = -sin(2 * RACE_PI * (double) i / (double) most);
	}
	find_spectrum(lattice, radial, steps);
}

/* Real numbers are complex ones whose second part is 0. */
static void
spread(const RaceLattice *lattice, const double *v)
{
	size_t		i;
	size_t		j;

	memset(lattice->numbers, 0, 2 * all_numbers(lattice) * sizeof(double));
	for (i = 0; i < lattice->sides[0]; i++)
		for (j = 0; j < lattice->sides[1]; j++)
			lattice->numbers[2 * (i * lattice->lengths[1] + j)] = *v++;
}

void
race_lattice_multiply(const RaceLattice *lattice, const double *v, double *out)
{
	size_t		n = all_numbers(lattice);
	size_t		i;
	size_t		j;

	spread(lattice, v);
	transform_all(lattice);
	for (i = 0; i < n; i++)
	{
		lattice->numbers[2 * i] *= lattice->spectrum[i];
		lattice->numbers[2 * i + 1] *= lattice->spectrum[i];
	}
	transform_all(lattice);
	for (i = 0; i < lattice->sides[0]; i++)
		for (j = 0; j < lattice->sides[1]; j++)
		{
			size_t		row = (lattice->lengths[0] - i) % lattice->lengths[0];
			size_t		column = (lattice->lengths[1] - j) % lattice->lengths[1];

			*out++ = lattice->numbers[2 * (row * lattice->lengths[1] + column)];
		}
}
