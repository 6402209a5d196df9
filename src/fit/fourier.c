/*
 * fourier.c
 *		Discrete Fourier transforms (Cooley & Tukey 1965), axis by axis.
 */
#include "fourier.h"

#include <math.h>
#include <string.h>

#include "../lsh/lsh.h"

#define MAX_FACTOR	5

/* Lines that lie side by side are read together. */
#define TOGETHER	8

static size_t
factor_of(size_t n)
{
	return n % 5 == 0 ? 5 : n % 3 == 0 ? 3 : n % 4 == 0 ? 4 : 2;
}

size_t
race_fourier_size(size_t n)
{
	for (n = n < 1 ? 1 : n;; n++)
	{
		size_t		rest = n;

		while (rest > 1 && rest % factor_of(rest) == 0)
			rest /= factor_of(rest);
		if (rest == 1)
			return n;
	}
}

static size_t
longest(const size_t *sizes)
{
	size_t		n = 1;
	int			axis;

	for (axis = 0; axis < RACE_FOURIER_DIMS; axis++)
		n = sizes[axis] > n ? sizes[axis] : n;
	return n;
}

size_t
race_fourier_space(const size_t *sizes)
{
	return (TOGETHER + 2) * longest(sizes);
}

static RaceComplex
times(RaceComplex a, RaceComplex b)
{
	RaceComplex c = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};

	return c;
}

static RaceComplex
plus(RaceComplex a, RaceComplex b)
{
	RaceComplex c = {a.re + b.re, a.im + b.im};

	return c;
}

static RaceComplex
minus(RaceComplex a, RaceComplex b)
{
	RaceComplex c = {a.re - b.re, a.im - b.im};

	return c;
}

/* Transform p numbers in their place; n is the number of roots. */
static void
butterfly(RaceComplex *x, size_t p, const RaceComplex *roots, size_t n)
{
	RaceComplex in[MAX_FACTOR];
	size_t		k;
	size_t		q;

	memcpy(in, x, p * sizeof(RaceComplex));
	if (p == 2)
	{
		x[0] = plus(in[0], in[1]);
		x[1] = minus(in[0], in[1]);
		return;
	}
	if (p == 4)
	{
		RaceComplex turned = times(minus(in[1], in[3]), roots[n / 4]);

		x[0] = plus(plus(in[0], in[2]), plus(in[1], in[3]));
		x[2] = minus(plus(in[0], in[2]), plus(in[1], in[3]));
		x[1] = plus(minus(in[0], in[2]), turned);
		x[3] = minus(minus(in[0], in[2]), turned);
		return;
	}
	for (k = 0; k < p; k++)
	{
		x[k] = in[0];
		for (q = 1; q < p; q++)
			x[k] = plus(x[k], times(in[q], roots[q * k % p * (n / p)]));
	}
}

/*
 * Transform n / step numbers, every stride-th of `in`.  roots[i], of n, is
 * e^(-2 pi i / n), to the power i.
 */
static void
transform(const RaceComplex *in, size_t stride, RaceComplex *out, size_t n,
		  const RaceComplex *roots, size_t step)
{
	size_t		p = factor_of(n / step);
	size_t		m = n / step / p;
	size_t		j;
	size_t		k;

	for (k = 0; k < p; k++)
		if (m == 1)
			out[k] = in[k * stride];
		else
			transform(in + k * stride, stride * p, out + k * m, n, roots, step * p);
	for (j = 0; j < m; j++)
	{
		RaceComplex part[MAX_FACTOR];

		for (k = 0; k < p; k++)
			part[k] = j == 0 ? out[k * m] : times(out[k * m + j], roots[k * j * step]);
		butterfly(part, p, roots, n);
		for (k = 0; k < p; k++)
			out[k * m + j] = part[k];
	}
}

static int
is_zero(const RaceComplex *line, size_t n)
{
	size_t		i;

	for (i = 0; i < n; i++)
		if (line[i].re != 0 || line[i].im != 0)
			return 0;
	return 1;
}

/* Transform all lines along an axis, whose elements are `inner` apart. */
static void
transform_axis(RaceComplex *x, size_t outer, size_t n, size_t inner, int inverse,
			   RaceComplex *space)
{
	RaceComplex *roots = space;
	RaceComplex *lines = space + n;
	RaceComplex *out = lines + TOGETHER * n;
	size_t		i;
	size_t		o;
	size_t		k;
	size_t		l;

	for (i = 0; i < n; i++)
	{
		double		angle = 2 * RACE_PI * (double) i / (double) n;

		roots[i].re = cos(angle);
		roots[i].im = inverse ? sin(angle) : -sin(angle);
	}
	for (o = 0; o < outer; o++)
		for (k = 0; k < inner; k += TOGETHER)
		{
			size_t		together = inner - k < TOGETHER ? inner - k : TOGETHER;
			RaceComplex *at = x + o * n * inner + k;

			race_look_for_interrupts();
			for (i = 0; i < n; i++)
				for (l = 0; l < together; l++)
					lines[l * n + i] = at[i * inner + l];
			for (l = 0; l < together; l++)
				if (!is_zero(lines + l * n, n)) /* much of an array is padding */
				{
					transform(lines + l * n, 1, out, n, roots, 1);
					memcpy(lines + l * n, out, n * sizeof(RaceComplex));
				}
			for (i = 0; i < n; i++)
				for (l = 0; l < together; l++)
					at[i * inner + l] = lines[l * n + i];
		}
}

void
race_fourier(RaceComplex *x, const size_t *sizes, int inverse, RaceComplex *space)
{
	size_t		outer = sizes[0] * sizes[1] * sizes[2];
	size_t		inner = 1;
	int			axis;

	for (axis = RACE_FOURIER_DIMS; axis-- > 0;)
	{
		outer /= sizes[axis];
		if (sizes[axis] > 1)
			transform_axis(x, outer, sizes[axis], inner, inverse, space);
		inner *= sizes[axis];
	}
}
