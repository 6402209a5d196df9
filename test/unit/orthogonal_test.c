/*
 * orthogonal_test.c
 *		Projections at right angles: which are, and that each is still normal.
 */
#include "helpers.h"
#include "tap.h"

#define ROWS	130				/* two whole blocks and a bit */

static double
product(const RaceRows *rows, uint32_t a, uint32_t b, uint32_t j)
{
	double		sum = 0;
	uint32_t	i;

	for (i = 1; i <= rows->params->dims; i++)
		sum += *race_rows_coefficient(rows, a, j, i) *
			*race_rows_coefficient(rows, b, j, i);
	return sum;
}

/* Are these two in the same group, by the definition in orthogonal.h? */
static bool
same_group(const RaceRows *rows, uint32_t a, uint32_t b)
{
	uint32_t	group = rows->params->dims < RACE_LANES ? rows->params->dims : RACE_LANES;

	return a / RACE_LANES == b / RACE_LANES &&
		a % RACE_LANES / group == b % RACE_LANES / group;
}

/* How far from a right angle the worst of a group is, and the mean of others */
static void
measure_angles(const RaceRows *rows, double *within, double *between)
{
	double		sum = 0;
	int			n = 0;
	uint32_t	a;
	uint32_t	b;
	uint32_t	j;

	*within = 0;
	for (j = 0; j < rows->params->power; j++)
		for (a = 0; a < ROWS; a++)
			for (b = 0; b < a; b++)
			{
				double		cosine = fabs(product(rows, a, b, j)) /
					sqrt(product(rows, a, a, j) * product(rows, b, b, j));

				if (same_group(rows, a, b))
					*within = fmax(*within, cosine);
				else
				{
					sum += cosine;
					n++;
				}
			}
	*between = sum / n;
}

/* The largest relative difference in length from the rows that are independent */
static double
length_difference(const RaceRows *rows)
{
	RaceParams	params = *rows->params;
	RaceRows   *independent;
	double		worst = 0;
	uint32_t	row;
	uint32_t	j;

	params.sequence = RACE_SEQUENCE_INDEPENDENT;
	independent = make_rows(&params);
	for (row = 0; row < ROWS; row++)
		for (j = 0; j < params.power; j++)
			worst = fmax(worst, fabs(product(rows, row, row, j) /
									 product(independent, row, row, j) - 1));
	free(independent);
	return worst;
}

static void
test_angles(uint32_t dims, uint32_t power)
{
	RaceParams	params = l2_params(RACE_SEQUENCE_ORTHOGONAL, RACE_REHASH_MULTILINEAR,
								   dims, power, ROWS, 64);
	RaceRows   *rows;
	double		within;
	double		between;

	params.seed = 5;
	rows = make_rows(&params);
	measure_angles(rows, &within, &between);
	ok(within < 1e-12, "dims %u, power %u: at right angles in each group", dims, power);
	ok(between > 0.3 / sqrt(dims), "control: not between groups");
	ok(length_difference(rows) < 1e-12, "and as long as independent rows");
	free(rows);
}

/* Known answers: every coefficient, from a second implementation in Python */
static void
test_known_answers(uint32_t dims, uint64_t known)
{
	RaceParams	params = l2_params(RACE_SEQUENCE_ORTHOGONAL, RACE_REHASH_FOLD, dims, 1,
								   ROWS, 64);
	RaceRows   *rows;
	uint64_t	digest = 0;
	uint32_t	row;
	uint32_t	i;

	params.seed = 42;
	params.bandwidth = 1.5;
	rows = make_rows(&params);
	for (row = 0; row < ROWS; row++)
		for (i = 0; i <= dims; i++)
		{
			uint64_t	bits;

			memcpy(&bits, race_rows_coefficient(rows, row, 0, i), sizeof(bits));
			digest = mix(digest ^ bits);
		}
	ok(digest == known, "known coefficients, dims %u", dims);
	free(rows);
}

int
main(void)
{
	test_angles(2, 1);
	test_angles(8, 3);
	test_angles(30, 1);
	test_angles(64, 1);
	test_angles(100, 2);
	test_known_answers(8, UINT64_C(0x5f5aa0f8f8280ccc));
	test_known_answers(30, UINT64_C(0xcc8a539beec07d06));
	test_known_answers(100, UINT64_C(0x2a5040d9291883c8));
	return done_testing();
}
