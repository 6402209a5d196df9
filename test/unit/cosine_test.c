/*
 * cosine_test.c
 *		Cosines over a box, against their definition.
 */
#include <math.h>

#include "../../src/answers/cosine_basis.h"
#include "tap.h"

#define PI	3.14159265358979323846

static RaceCosines basis;

static void
check_terms(uint32_t dims, const double *place)
{
	double		terms[RACE_COSINE_TERMS];
	double		worst = 0;
	int			in_order = 1;

	race_cosines_at(&basis, place, 1, terms);
	for (uint32_t i = 0; i < basis.n; i++)
	{
		double		term = 1;
		double		square = 0;

		for (uint32_t axis = 0; axis < dims; axis++)
		{
			double		frequency = PI * basis.frequency[i][axis] / basis.range[axis];

			term *= cos(frequency * (place[axis] - basis.lower[axis]));
			square += basis.frequency[i][axis] == 0 ? 0 : frequency * frequency;
		}
		worst = fmax(worst, fabs(terms[i] - term));
		in_order &= fabs(square - basis.square[i]) < 1e-9 * (1 + square);
	}
	ok(worst < 1e-9, "%u dimensions: %u terms are cosines, up to %.1e", dims, basis.n, worst);
	ok(in_order, "of these frequencies");
}

/* Is each pair of numbers of half waves there, if one with a higher frequency is? */
static void
check_complete(void)
{
	double		highest = 0;
	uint32_t	expected = 0;

	for (uint32_t i = 0; i < basis.n; i++)
		highest = fmax(highest, basis.square[i]);
	for (int j = 0; j < RACE_COSINE_FREQUENCIES; j++)
		for (int k = 0; k < RACE_COSINE_FREQUENCIES; k++)
			expected += pow(PI * j / basis.range[0], 2) + pow(PI * k / basis.range[1], 2) <= highest * (1 + 1e-12);
	ok(basis.n == expected && basis.n <= RACE_COSINE_TERMS, "all low frequencies: %u of %u", basis.n, expected);
}

int
main(void)
{
	double		line[] = {0, 10, 4};
	double		plane[] = {0, 30, 7, 5, 5, 55};	/* three places */
	double		point[] = {3, 3, 2, 2};	/* two equal ones */
	double		at[] = {3.3, 41};
	double		outside[] = {3.3, 62};

	race_cosines_init(&basis, 1, line, 3);
	ok(basis.lower[0] == -1 && basis.range[0] == 12, "the box is a tenth larger at each end");
	ok(basis.square[0] == 0 && basis.n == 48 + 1, "half waves down to a quarter of a bandwidth: %u", basis.n);
	check_terms(1, at);
	race_cosines_init(&basis, 2, plane, 3);
	ok(race_cosines_cover(&basis, at) && !race_cosines_cover(&basis, outside), "a place is in the box or not");
	check_terms(2, at);
	check_complete();
	race_cosines_init(&basis, 2, point, 2);
	ok(basis.n == 1, "nothing varies where all places are one");
	race_cosines_at(&basis, point, 2, at);
	ok(at[0] == 1, "and the constant is 1");
	return done_testing();
}
