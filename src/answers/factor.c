/*
 * factor.c
 *		Factors, eigenvectors and singular vectors of small matrices
 */
#include <math.h>
#include <string.h>

#include "privacy/interrupt.h"
#include "answers/factor.h"

/* Return the dot product, in four sums, since each addition would wait for the one before */
double
race_dot(const double *x, const double *y, uint32_t n)
{
	double sums[4] = {0, 0, 0, 0};
	uint32_t i;

	for (i = 0; i + 4 <= n; i += 4)
	{
		sums[0] += x[i] * y[i];
		sums[1] += x[i + 1] * y[i + 1];
		sums[2] += x[i + 2] * y[i + 2];
		sums[3] += x[i + 3] * y[i + 3];
	}
	for (; i < n; i++)
		sums[0] += x[i] * y[i];
	return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/*
 * Compute row i of L, where L L' has `c` as its row i and the rows before are known.  Return what
 * is left for the square of its last number.
 */
static double
factor_row(const double *l, uint32_t stride, const double *c, uint32_t i, double *row)
{
	for (uint32_t j = 0; j < i; j++)
		row[j] = (c[j] - race_dot(l + (size_t) j * stride, row, j)) / l[(size_t) j * stride + j];
	return c[i] - race_dot(row, row, i);
}

uint32_t
race_independent(const double *r, uint32_t n, double freedom, double *work, bool *keep)
{
	double *c = work + (size_t) n * n; /* products of the column with those that are kept */
	uint32_t kept = 0;
	uint32_t i;

	for (i = 0; i < n; i++)
	{
		double *row = work + (size_t) kept * n;
		uint32_t k = 0;
		double left;

		race_look_for_interrupts();
		keep[i] = true;
		if (kept >= freedom)
			continue;
		for (uint32_t j = 0; j <= i; j++)
			if (keep[j])
				c[k++] = r[(size_t) i * n + j];
		left = factor_row(work, n, c, kept, row);
		keep[i] = left > RACE_LEAST_SHARE;
		if (keep[i])
			row[kept++] = sqrt(left);
	}
	for (kept = 0, i = 0; i < n; i++)
		kept += keep[i];
	return kept;
}

bool
race_factorize(double *c, uint32_t n, double least)
{
	bool good = true;

	for (uint32_t i = 0; i < n; i++)
	{
		double *row = c + (size_t) i * n;
		double left = factor_row(c, n, row, i, row);

		race_look_for_interrupts();
		good &= left >= least;
		row[i] = sqrt(fmax(left, least));
	}
	return good;
}

void
race_solve_lower(const double *factor, uint32_t n, double *v)
{
	for (uint32_t i = 0; i < n; i++)
		v[i] = (v[i] - race_dot(factor + (size_t) i * n, v, i)) / factor[(size_t) i * n + i];
}

void
race_solve_upper(const double *factor, uint32_t n, double *v)
{
	for (uint32_t i = n; i-- > 0;)
	{
		for (uint32_t j = i + 1; j < n; j++)
			v[i] -= factor[(size_t) j * n + i] * v[j];
		v[i] /= factor[(size_t) i * n + i];
	}
}

void
race_invert_lower(double *factor, uint32_t n)
{
	/* row i of the inverse, from the rows above, which are inverted already */
	for (uint32_t i = 0; i < n; i++)
	{
		double *row = factor + (size_t) i * n;
		double diagonal = row[i];

		race_look_for_interrupts();
		for (uint32_t j = 0; j < i; j++)
		{
			double sum = 0;

			for (uint32_t k = j; k < i; k++)
				sum -= row[k] * factor[(size_t) k * n + j];
			row[j] = sum / diagonal;
		}
		row[i] = 1 / diagonal;
	}
}

bool
race_inverse_root(double *c, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
	{
		double *row = c + (size_t) i * n;
		double left = factor_row(c, n, row, i, row);

		race_look_for_interrupts();
		if (!(left > 0 && isfinite(left)))
			return false;
		row[i] = sqrt(left);
		memset(row + i + 1, 0, (n - i - 1) * sizeof(double));
	}
	race_invert_lower(c, n);
	return true;
}

void
race_root_product(const double *root, uint32_t n, double *product)
{
	memset(product, 0, (size_t) n * n * sizeof(double));
	for (uint32_t k = 0; k < n; k++)
	{
		const double *row = root + (size_t) k * n;

		race_look_for_interrupts();
		for (uint32_t i = 0; i <= k; i++)
			for (uint32_t j = 0; j <= k; j++)
				product[(size_t) i * n + j] += row[i] * row[j];
	}
}

/* ------------------------------------------------------------ eigenvectors */

/* Two rows are at right angles if the cosine between them is below this */
#define LEAST_COSINE 1e-14
#define MAX_SWEEPS 60

/* Turn two rows, whose squared lengths are a and b, in their plane. */
static void
turn_rows(double *x, double *y, uint32_t n, double a, double b, double product)
{
	double zeta = (b - a) / (2 * product);
	double tangent = copysign(1, zeta) / (fabs(zeta) + sqrt(1 + zeta * zeta));
	double cosine = 1 / sqrt(1 + tangent * tangent);
	double sine = cosine * tangent;

	for (uint32_t i = 0; i < n; i++)
	{
		double xi = x[i];

		x[i] = cosine * xi - sine * y[i];
		y[i] = sine * xi + cosine * y[i];
	}
}

/* Turn each two rows.  Return whether any two were not at right angles. */
static bool
sweep_rows(double *w, uint32_t rows, uint32_t columns, double least)
{
	bool turned = false;

	for (uint32_t i = 0; i < rows; i++)
	{
		race_look_for_interrupts();
		for (uint32_t j = i + 1; j < rows; j++)
		{
			double *x = w + (size_t) i * columns;
			double *y = w + (size_t) j * columns;
			double a = race_dot(x, x, columns);
			double b = race_dot(y, y, columns);
			double product = race_dot(x, y, columns);

			/* a row of rounding errors alone has no direction */
			if (a <= least || b <= least || fabs(product) <= LEAST_COSINE * sqrt(a) * sqrt(b))
				continue;
			turn_rows(x, y, columns, a, b, product);
			turned = true;
		}
	}
	return turned;
}

/* Sort rows by length, the longest first. */
static void
sort_rows(double *w, uint32_t rows, uint32_t columns, double *lengths)
{
	for (uint32_t i = 0; i < rows; i++)
	{
		uint32_t longest = i;
		double length;

		for (uint32_t j = i + 1; j < rows; j++)
			if (lengths[j] > lengths[longest])
				longest = j;
		length = lengths[i];
		lengths[i] = lengths[longest];
		lengths[longest] = length;
		for (uint32_t j = 0; j < columns && longest != i; j++)
		{
			double number = w[(size_t) i * columns + j];

			w[(size_t) i * columns + j] = w[(size_t) longest * columns + j];
			w[(size_t) longest * columns + j] = number;
		}
	}
}

void
race_jacobi(double *w, uint32_t rows, uint32_t columns, double *lengths)
{
	double all = 0;
	int sweeps = 0;

	for (uint32_t i = 0; i < rows; i++)
		all += race_dot(w + (size_t) i * columns, w + (size_t) i * columns, columns);
	while (sweeps < MAX_SWEEPS && sweep_rows(w, rows, columns, all * 1e-30))
		sweeps++;
	for (uint32_t i = 0; i < rows; i++)
		lengths[i] = sqrt(race_dot(w + (size_t) i * columns, w + (size_t) i * columns, columns));
	sort_rows(w, rows, columns, lengths);
}

/* --------------------------------------------------------------- shrinkage */

/*
 * Shrink the m eigenvalues that are not 0.  In the paper's terms c is p / n; theta is the Hilbert
 * transform of the density of inverse eigenvalues, smoothed with bandwidth h, and `density` is that
 * density.
 */
static void
shrink_eigenvalues(const double *values, uint32_t m, double c, double h, double *shrunken)
{
	for (uint32_t i = 0; i < m; i++)
	{
		double inverse = 1 / values[i];
		double theta = 0;
		double density = 0;
		double amplitude;

		race_look_for_interrupts();
		for (uint32_t j = 0; j < m; j++)
		{
			double other = 1 / values[j];
			double apart = other - inverse;
			double square = apart * apart + h * h * other * other;

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
	double *vectors = work;
	double *values = work + (size_t) n * n;
	double *shrunken = values + n;
	uint32_t m = n <= freedom ? n : (uint32_t) freedom;
	double c = n / freedom;
	double h = pow(c < 1 ? c * c : 1 / (c * c), 0.35) / pow(n, 0.35);
	double null = 0; /* what an eigenvalue of 0 becomes */
	double trace = 0;
	double sum = 0;

	memcpy(vectors, r, (size_t) n * n * sizeof(double));
	race_jacobi(vectors, n, n, values);
	for (uint32_t i = 0; i < m; i++)
	{
		values[i] = fmax(values[i], RACE_LEAST_SHARE);
		null += (c - 1) / values[i] / m;
		trace += values[i];
	}
	shrink_eigenvalues(values, m, c, h, shrunken);
	null = m < n ? 1 / null : 0;
	for (uint32_t i = 0; i < m; i++)
		sum += shrunken[i];
	sum += (n - m) * null;

	/* the sum of eigenvalues stays */
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++)
			r[(size_t) i * n + j] = i == j ? null * trace / sum : 0;
	for (uint32_t k = 0; k < m; k++)
	{
		const double *v = vectors + (size_t) k * n;
		double weight = (shrunken[k] - null) * trace / sum / race_dot(v, v, n);

		race_look_for_interrupts();
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t j = 0; j < n; j++)
				r[(size_t) i * n + j] += weight * v[i] * v[j];
	}
}
