/*
 * mixture_test.c
 *		Mixtures of bandwidths: which rows have which, and what kernel that makes.
 *
 * Seeds are fixed, so nothing here fails by chance.
 */
#include "helpers.h"
#include "tap.h"

#define DIMS	3

static const double quarters[] = {0.5, 1, 1, 2, 2, 1};
static const double thirds[] = {0.5, 1, 4, 2};
static const double plain[] = {1, 7};

/* Parameters with a mixture of so many components; the caller frees them */
static RaceParams *
mixed(RaceKernel kernel, RaceSequence sequence, uint32_t power, uint32_t rows,
	  const double *mixture, uint32_t components)
{
	size_t		size = 2 * components * sizeof(double);
	RaceParams *params = malloc(sizeof(RaceParams) + size);

	if (params == NULL)
		abort();
	*params = l2_params(sequence, RACE_REHASH_MULTILINEAR, DIMS, power, rows, 1024);
	params->kernel = (uint8_t) kernel;
	params->bandwidth = 2.5;
	params->components = components;
	params->more = (uint32_t) size;
	params->arrays = components == 0 ? 0 : RACE_ARRAY_MIXTURE;
	if (components > 0)
		memcpy(params + 1, mixture, size);
	return params;
}

/* The factor of a row: by how much its coefficients are less.  0 if they do not agree. */
static double
factor_of(const RaceRows *without, const RaceRows *with, uint32_t row)
{
	double		factor = 0;
	uint32_t	j;
	uint32_t	i;

	for (j = 0; j < with->params->power; j++)
		for (i = 0; i <= DIMS; i++)
		{
			double		ratio = *race_rows_coefficient(without, row, j, i) /
				*race_rows_coefficient(with, row, j, i);

			if (i == 0 ? ratio != 1 : factor != 0 && fabs(ratio / factor - 1) > 1e-12)
				return 0;		/* offsets stay as they are */
			factor = i == 0 ? factor : ratio;
		}
	return factor;
}

/* Largest distance between the number of rows that have a component and its share of them */
static double
worst_share(const RaceRows *without, const RaceRows *with, uint32_t rows)
{
	const double *mixture = race_array(with->params, RACE_ARRAY_MIXTURE);
	double		weights = 0;
	double		worst = 0;
	uint32_t	i;
	uint32_t	r;

	for (i = 0; i < with->params->components; i++)
		weights += mixture[2 * i + 1];
	for (i = 0; i < with->params->components; i++)
	{
		double		n = 0;

		for (r = 0; r < rows; r++)
			n += fabs(factor_of(without, with, r) / mixture[2 * i] - 1) < 1e-12;
		worst = fmax(worst, fabs(n - rows * mixture[2 * i + 1] / weights));
	}
	return worst;
}

static void
test_shares(RaceKernel kernel, RaceSequence sequence, uint32_t power)
{
	static const uint32_t powers[] = {4, 64, 256, 1024};
	RaceParams *params = mixed(kernel, sequence, power, 1024, quarters, 0);
	RaceParams *even = mixed(kernel, sequence, power, 1024, quarters, 3);
	RaceParams *uneven = mixed(kernel, sequence, power, 1024, thirds, 2);
	RaceRows   *without = make_rows(params);
	RaceRows   *with = make_rows(even);
	RaceRows   *other = make_rows(uneven);
	double		exact = 0;
	double		worst = 0;
	uint32_t	n;
	int			i;

	for (i = 0; i < 4; i++)
		exact = fmax(exact, worst_share(without, with, powers[i]));
	for (n = 1; n <= 1024; n += n < 64 ? 1 : 37)
		worst = fmax(worst, fmax(worst_share(without, with, n), worst_share(without, other, n)));
	ok(exact == 0, "%s^%u %s: 2^k rows have exactly their shares of components",
	   race_kernel_name((int) kernel), power, race_sequence_name((int) sequence));
	printf("# any number of rows: off by %g at most\n", worst);
	ok(worst < 6, "and any number of rows nearly");
	free(without);
	free(with);
	free(other);
	free(params);
	free(even);
	free(uneven);
}

/* A mixture of one is that bandwidth alone, to the bit. */
static void
test_one(RaceSequence sequence)
{
	RaceParams *params = mixed(RACE_KERNEL_L2, sequence, 2, 100, NULL, 0);
	RaceParams *one = mixed(RACE_KERNEL_L2, sequence, 2, 100, plain, 1);
	RaceRows   *without = make_rows(params);
	RaceRows   *with = make_rows(one);
	size_t		size = without->blocks * without->block_words * RACE_LANES * sizeof(double);

	ok(memcmp(without->coefficients, with->coefficients, size) == 0,
	   "%s: a mixture of one has the same functions", race_sequence_name((int) sequence));
	free(without);
	free(with);
	free(params);
	free(one);
}

#define SEEDS	200
#define ROWS	1024

/* How often two records meet, over many seeds, against the kernel */
static void
test_collisions(RaceKernel kernel, RaceSequence sequence, uint32_t power)
{
	RaceParams *params = mixed(kernel, sequence, power, ROWS, thirds, 2);
	RaceParams *alone = mixed(kernel, sequence, power, ROWS, NULL, 0);
	double		x[DIMS] = {1, 2, 3};
	double		y[DIMS] = {2, 1.5, 1};
	double		k = kernel_of_vectors(params, x, y);
	double		met = 0;
	double		p;
	double		error;

	for (params->seed = 1; params->seed <= SEEDS; params->seed++)
	{
		RaceRows   *rows = make_rows(params);

		met += share_of_vectors(rows, x, y) / SEEDS;
		free(rows);
	}
	p = race_collision_probability(params);
	met = (met - p) / (1 - p);
	error = sqrt(0.25 / SEEDS / ROWS);	/* of independent rows, at most */
	printf("# met %.5f, kernel %.5f, without the mixture %.5f, error %.5f\n", met, k,
		   kernel_of_vectors(alone, x, y), error);
	ok(fabs(met - k) < 6.2 * error, "%s^%u %s: records meet as often as the mixed kernel says",
	   race_kernel_name((int) kernel), power, race_sequence_name((int) sequence));
	ok(fabs(kernel_of_vectors(alone, x, y) - met) > 12 * error, "control: not as the kernel without");
	free(params);
	free(alone);
}

static void
test_values(void)
{
	RaceParams *params = mixed(RACE_KERNEL_L1, RACE_SEQUENCE_INDEPENDENT, 3, 1, thirds, 2);
	RaceParams *alone = mixed(RACE_KERNEL_L1, RACE_SEQUENCE_INDEPENDENT, 3, 1, NULL, 0);

	ok(fabs(race_kernel_at(params, 1.7) - (race_kernel_at(alone, 3.4) +
										  2 * race_kernel_at(alone, 0.425)) / 3) < 1e-15,
	   "the kernel is the weighted mean of its components");
	ok(race_kernel_at(params, 0) == 1 && race_kernel_at(params, INFINITY) == 0, "1 at no distance, 0 far away");
	ok(race_kernel_sharpness(params, thirds) == 6 && race_kernel_sharpness(alone, NULL) == 3,
	   "the smallest factor and the power make it sharp");
	free(params);
	free(alone);
}

int
main(void)
{
	test_values();
	test_shares(RACE_KERNEL_L2, RACE_SEQUENCE_SOBOL, 1);
	test_shares(RACE_KERNEL_L1, RACE_SEQUENCE_SOBOL, 3);
	test_shares(RACE_KERNEL_L2, RACE_SEQUENCE_ORTHOGONAL, 2);
	test_shares(RACE_KERNEL_L1, RACE_SEQUENCE_INDEPENDENT, 1);
	test_one(RACE_SEQUENCE_SOBOL);
	test_one(RACE_SEQUENCE_ORTHOGONAL);
	test_one(RACE_SEQUENCE_INDEPENDENT);
	test_collisions(RACE_KERNEL_L2, RACE_SEQUENCE_SOBOL, 1);
	test_collisions(RACE_KERNEL_L2, RACE_SEQUENCE_INDEPENDENT, 2);
	test_collisions(RACE_KERNEL_L2, RACE_SEQUENCE_ORTHOGONAL, 1);
	test_collisions(RACE_KERNEL_L2, RACE_SEQUENCE_STRUCTURED, 1);
	test_collisions(RACE_KERNEL_L1, RACE_SEQUENCE_SOBOL, 2);
	return done_testing();
}
