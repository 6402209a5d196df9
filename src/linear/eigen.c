/*
 * eigen.c
 *		Singular vectors, and shrunken correlations.
 */
#include "eigen.h"

#include <math.h>
#include <string.h>

#include "../lsh/lsh.h"

/* ------------------------------------------------------------ eigenvectors */

/* Two rows are at right angles if the cosine between them is below this */
#define LEAST_COSINE	1e-14
#define MAX_SWEEPS		60

/* Turn two rows, whose squared lengths are a and b, in their plane. */
static void
turn(double *x, double *y, uint32_t n, double a, double b, double product)
{
	double		zeta = (b - a) / (2 * product);
	double		tangent = copysign(1, zeta) / (fabs(zeta) + sqrt(1 + zeta * zeta));
	double		cosine = 1 / sqrt(1 + tangent * tangent);
	double		sine = cosine * tangent;
	uint32_t	i;

	for (i = 0; i < n; i++)
	{
		double		xi = x[i];

		x[i] = cosine * xi - sine * y[i];
		y[i] = sine * xi + cosine * y[i];
	}
}

/* Turn each two rows. Returns whether any two were not at right angles. */
static bool
sweep(double *w, uint32_t rows, uint32_t columns, double least)
{
	bool		turned = false;
	uint32_t	i;
	uint32_t	j;

	for (i = 0; i < rows; i++)
	{
		race_look_for_interrupts();
		for (j = i + 1; j < rows; j++)
		{
			double	   *x = w + (size_t) i * columns;
			double	   *y = w + (size_t) j * columns;
			double		a = race_dot(x, x, columns);
			double		b = race_dot(y, y, columns);
			double		product = race_dot(x, y, columns);

			/* a row of rounding errors alone has no direction */
			if (a <= least || b <= least || fabs(product) <= LEAST_COSINE * sqrt(a) * sqrt(b))
				continue;
			turn(x, y, columns, a, b, product);
			turned = true;
		}
	}
	return turned;
}

/* Sort rows by length, the longest first. */
static void
sort_rows(double *w, uint32_t rows, uint32_t columns, double *lengths)
{
	uint32_t	i;
	uint32_t	j;

	for (i = 0; i < rows; i++)
	{
		uint32_t	longest = i;
		double		length;

		for (j = i + 1; j < rows; j++)
			if (lengths[j] > lengths[longest])
				longest = j;
		length = lengths[i];
		lengths[i] = lengths[longest];
		lengths[longest] = length;
		for (j = 0; j < columns && longest != i; j++)
		{
			double		number = w[(size_t) i * columns + j];

			w[(size_t) i * columns + j] = w[(size_t) longest * columns + j];
			w[(size_t) longest * columns + j] = number;
		}
	}
}

void
race_jacobi(double *w, uint32_t rows, uint32_t columns, double *lengths)
{
	double		all = 0;
	int			sweeps = 0;
	uint32_t	i;

	for (i = 0; i < rows; i++)
		all += race_dot(w + (size_t) i * columns, w + (size_t) i * columns, columns);
	while (sweeps < MAX_SWEEPS && sweep(w, rows, columns, all * 1e-30))
		sweeps++;
	for (i = 0; i < rows; i++)
		lengths[i] = sqrt(race_dot(w + (size_t) i * columns, w + (size_t) i * columns, columns));
	sort_rows(w, rows, columns, lengths);
}

/* --------------------------------------------------------------- shrinkage */

/*
 * From m eigenvalues, those that are not 0, to shrunken ones.  In the paper's terms c is p / n;
 * theta is the Hilbert transform of the density of inverse eigenvalues, smoothed with
 * bandwidth h, and `density` is that density.
 */
static void
shrink_eigenvalues(const double *values, uint32_t m, double c, double h, double *shrunken)
{
	uint32_t	i;
	uint32_t	j;

	for (i = 0; i < m; i++)
	{
		double		inverse = 1 / values[i];
		double		theta = 0;
		double		density = 0;
		double		amplitude;

		race_look_for_interrupts();
		for (j = 0; j < m; j++)
		{
			double		other = 1 / values[j];
			double		apart = other - inverse;
			double		square = apart * apart + h * h * other * other;

			theta += other * apart / square / m;
			density += other * other * h / square / m;
		}
		amplitude = theta * theta + density * density;
		if (c <= 1)
			amplitude = (1 - c) * (1 - c) + 2 * c * (1 - c) * theta + c * c * amplitude;
		shrunken[i] = 1 / (inverse * amplitude);
	}
}

void
race_shrink(double *r, uint32_t n, double freedom, double *work)
{
	double	   *vectors = work;
	double	   *values = work + (size_t) n * n;
	double	   *shrunken = values + n;
	uint32_t	m = n <= freedom ? n : (uint32_t) freedom;
	double		c = n / freedom;
	double		h = pow(c < 1 ? c * c : 1 / (c * c), 0.35) / pow(n, 0.35);
	double		null = 0;		/* what an eigenvalue of 0 becomes */
	double		trace = 0;
	double		sum = 0;
	uint32_t	i;
	uint32_t	j;
	uint32_t	k;

	memcpy(vectors, r, (size_t) n * n * sizeof(double));
	race_jacobi(vectors, n, n, values);
	for (i = 0; i < m; i++)
	{
		values[i] = fmax(values[i], RACE_LEAST_SHARE);
		null += (c - 1) / values[i] / m;
		trace += values[i];
	}
	shrink_eigenvalues(values, m, c, h, shrunken);
	null = m < n ? 1 / null : 0;
	for (i = 0; i < m; i++)
		sum += shrunken[i];
	sum += (n - m) * null;

	/* the sum of eigenvalues stays */
	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++)
			r[(size_t) i * n + j] = i == j ? null * trace / sum : 0;
	for (k = 0; k < m; k++)
	{
		const double *v = vectors + (size_t) k * n;
		double		weight = (shrunken[k] - null) * trace / sum / race_dot(v, v, n);

		race_look_for_interrupts();
		for (i = 0; i < n; i++)
			for (j = 0; j < n; j++)
				r[(size_t) i * n + j] += weight * v[i] * v[j];
	}
}
