/*
 * factor.c
 *		Cholesky factors of small matrices, row by row.
 */
#include "factor.h"

#include <math.h>
#include <string.h>

#include "../lsh/lsh.h"

/* In four sums, since each addition would wait for the one before */
double
race_dot(const double *x, const double *y, uint32_t n)
{
	double		sums[4] = {0, 0, 0, 0};
	uint32_t	i;

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
 * Row i of L, where L L' has `c` as its row i and the rows before are known.  Returns what is
 * left for the square of its last number.
 */
static double
factor_row(const double *l, uint32_t stride, const double *c, uint32_t i, double *row)
{
	uint32_t	j;

	for (j = 0; j < i; j++)
		row[j] = (c[j] - race_dot(l + (size_t) j * stride, row, j)) / l[(size_t) j * stride + j];
	return c[i] - race_dot(row, row, i);
}

uint32_t
race_independent(const double *r, uint32_t n, double freedom, double *work, bool *keep)
{
	double	   *c = work + (size_t) n * n;	/* of the column with those kept */
	uint32_t	kept = 0;
	uint32_t	i;
	uint32_t	j;

	for (i = 0; i < n; i++)
	{
		double	   *row = work + (size_t) kept * n;
		uint32_t	k = 0;
		double		left;

		race_look_for_interrupts();
		keep[i] = true;
		if (kept >= freedom)
			continue;
		for (j = 0; j <= i; j++)
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
	bool		good = true;
	uint32_t	i;

	for (i = 0; i < n; i++)
	{
		double	   *row = c + (size_t) i * n;
		double		left = factor_row(c, n, row, i, row);

		race_look_for_interrupts();
		good &= left >= least;
		row[i] = sqrt(fmax(left, least));
	}
	return good;
}

void
race_solve_lower(const double *factor, uint32_t n, double *v)
{
	uint32_t	i;

	for (i = 0; i < n; i++)
		v[i] = (v[i] - race_dot(factor + (size_t) i * n, v, i)) / factor[(size_t) i * n + i];
}

void
race_solve_upper(const double *factor, uint32_t n, double *v)
{
	uint32_t	i;
	uint32_t	j;

	for (i = n; i-- > 0;)
	{
		for (j = i + 1; j < n; j++)
			v[i] -= factor[(size_t) j * n + i] * v[j];
		v[i] /= factor[(size_t) i * n + i];
	}
}

void
race_invert_lower(double *factor, uint32_t n)
{
	uint32_t	i;
	uint32_t	j;
	uint32_t	k;

	/* row i of the inverse, from the rows above, which are inverted already */
	for (i = 0; i < n; i++)
	{
		double	   *row = factor + (size_t) i * n;
		double		diagonal = row[i];

		race_look_for_interrupts();
		for (j = 0; j < i; j++)
		{
			double		sum = 0;

			for (k = j; k < i; k++)
				sum -= row[k] * factor[(size_t) k * n + j];
			row[j] = sum / diagonal;
		}
		row[i] = 1 / diagonal;
	}
}

bool
race_inverse_root(double *c, uint32_t n)
{
	uint32_t	i;

	for (i = 0; i < n; i++)
	{
		double	   *row = c + (size_t) i * n;
		double		left = factor_row(c, n, row, i, row);

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
	uint32_t	i;
	uint32_t	j;
	uint32_t	k;

	memset(product, 0, (size_t) n * n * sizeof(double));
	for (k = 0; k < n; k++)
	{
		const double *row = root + (size_t) k * n;

		race_look_for_interrupts();
		for (i = 0; i <= k; i++)
			for (j = 0; j <= k; j++)
				product[(size_t) i * n + j] += row[i] * row[j];
	}
}
