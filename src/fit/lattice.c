/*
 * lattice.c
 *		Products with the Gram matrix of a grid by Fourier transforms.
 */
#include "lattice.h"

#include <math.h>
#include <string.h>

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

void
race_lattice_multiply(const RaceLattice *lattice, const double *v, double *out)
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
