/*
 * waves_test.c
 *		Cosines over a box, against their definition.
 */
#include <math.h>

#include "../../src/answers/waves.h"
#include "tap.h"

#define PI	3.14159265358979323846

static RaceWaves waves;

static void
check_terms(uint32_t dims, const double *place)
{
	double		terms[RACE_WAVES_MOST];
	double		worst = 0;
	int			in_order = 1;
	uint32_t	i;
	uint32_t	axis;

	race_waves_at(&waves, place, 1, terms);
	for (i = 0; i < waves.n; i++)
	{
		double		term = 1;
		double		square = 0;

		for (axis = 0; axis < dims; axis++)
		{
			double		frequency = PI * waves.half_waves[i][axis] / waves.range[axis];

			term *= cos(frequency * (place[axis] - waves.lower[axis]));
			square += waves.half_waves[i][axis] == 0 ? 0 : frequency * frequency;
		}
		worst = fmax(worst, fabs(terms[i] - term));
		in_order &= fabs(square - waves.square[i]) < 1e-9 * (1 + square);
	}
	ok(worst < 1e-9, "%u dimensions: %u terms are cosines, up to %.1e", dims, waves.n, worst);
	ok(in_order, "of these frequencies");
}

/* Is each pair of numbers of half waves there, if one with a higher frequency is? */
static void
check_complete(void)
{
	double		highest = 0;
	uint32_t	expected = 0;
	uint32_t	i;
	int			j;
	int			k;

	for (i = 0; i < waves.n; i++)
		highest = fmax(highest, waves.square[i]);
	for (j = 0; j < RACE_WAVES_AXIS; j++)
		for (k = 0; k < RACE_WAVES_AXIS; k++)
			expected += pow(PI * j / waves.range[0], 2) + pow(PI * k / waves.range[1], 2) <= highest * (1 + 1e-12);
	ok(waves.n == expected && waves.n <= RACE_WAVES_MOST, "all low frequencies: %u of %u", waves.n, expected);
}

int
main(void)
{
	double		line[] = {0, 10, 4};
	double		plane[] = {0, 30, 7, 5, 5, 55};	/* three places */
	double		point[] = {3, 3, 2, 2};	/* two equal ones */
	double		at[] = {3.3, 41};
	double		outside[] = {3.3, 62};

	race_waves_init(&waves, 1, line, 3);
	ok(waves.lower[0] == -1 && waves.range[0] == 12, "the box is a tenth larger at each end");
	ok(waves.square[0] == 0 && waves.n == 48 + 1, "half waves down to a quarter of a bandwidth: %u", waves.n);
	check_terms(1, at);
	race_waves_init(&waves, 2, plane, 3);
	ok(race_waves_cover(&waves, at) && !race_waves_cover(&waves, outside), "a place is in the box or not");
	check_terms(2, at);
	check_complete();
	race_waves_init(&waves, 2, point, 2);
	ok(waves.n == 1, "nothing varies where all places are one");
	race_waves_at(&waves, point, 2, at);
	ok(at[0] == 1, "and the constant is 1");
	return done_testing();
}
