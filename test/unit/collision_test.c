/*
 * collision_test.c
 *		How often two records share a bucket, over many rows.
 *
 * Row functions are fixed by seeds, so there are no false alarms: these tests
 * pass always or never.  Limits are 6.7 standard errors of independent rows;
 * Sobol' and orthogonal rows must be within them, too.
 */
#include "helpers.h"
#include "tap.h"

#define ROWS		100000
#define LIMIT		6.7
#define DISTANCES	10
#define DIMS		3

static const double distances[DISTANCES] = {
	0.01, 0.1, 0.25, 0.5, 0.8, 1.2, 2, 3, 5, 10
};

/*
 * Do the rows meet as often as the kernel says, at all distances?  `stretch`
 * is 1, or what a control makes the kernel's distances wrong by.
 */
static bool
follows_kernel(const RaceRows *rows, double stretch)
{
	const RaceParams *params = &rows->params;
	double		collision = race_collision_probability(params);
	double		worst = 0;
	int			i;
	int			j;

	for (i = 0; i < DISTANCES; i++)
	{
		static const double direction[DIMS] = {2 / 7.0, -3 / 7.0, 6 / 7.0};
		double		x[DIMS] = {1.5, -20, 3.25};
		double		y[DIMS];
		double		z[DIMS];
		double		k;

		for (j = 0; j < DIMS; j++)
		{
			y[j] = x[j] + params->bandwidth * distances[i] * direction[j];
			z[j] = x[j] + params->bandwidth * distances[i] * stretch * direction[j];
		}
		k = race_kernel_value(params, x, z, DIMS);
		worst = fmax(worst, fabs(standard_errors(share(rows, x, y),
												 k + (1 - k) * collision,
												 params->rows)));
	}
	printf("# stretched by %g: off by up to %.2f standard errors\n", stretch, worst);
	return worst < LIMIT;
}

static void
test_kernel(RaceSequence sequence, RaceRehash rehash, uint32_t power,
			uint32_t range)
{
	RaceParams	params = l2_params(sequence, rehash, DIMS, power, ROWS, range);
	RaceRows   *rows;

	params.bandwidth = 2.5;
	params.seed = 7;
	rows = make_rows(&params);
	ok(follows_kernel(rows, 1), "power %u, range %u, %s, %s: records meet as the kernel says",
	   power, range, race_sequence_name(sequence), race_rehash_name(rehash));
	ok(!follows_kernel(rows, 1.05), "control: not as for distances 5 %% longer");
	free(rows);
}

int
main(void)
{
	test_kernel(RACE_SEQUENCE_INDEPENDENT, RACE_REHASH_FOLD, 1, 256);
	test_kernel(RACE_SEQUENCE_SOBOL, RACE_REHASH_FOLD, 1, 256);
	test_kernel(RACE_SEQUENCE_ORTHOGONAL, RACE_REHASH_FOLD, 1, 256);
	test_kernel(RACE_SEQUENCE_INDEPENDENT, RACE_REHASH_MULTILINEAR, 2, 16);
	test_kernel(RACE_SEQUENCE_SOBOL, RACE_REHASH_MULTILINEAR, 2, 16);
	test_kernel(RACE_SEQUENCE_ORTHOGONAL, RACE_REHASH_MULTILINEAR, 2, 16);
	return done_testing();
}
