/*
 * multivariate_test.c
 *		Answers from noisy sums of products: projected sums, regression and its standard errors,
 *		discriminants, covariances and components.
 *
 * Records and noise are pseudo-random and always the same, so that nothing here is left to luck.
 */
#include "../../src/answers/moments_psd.h"
#include "../../src/answers/factor.h"
#include "helpers.h"
#include "tap.h"
#include "answers/factor.h"
#include "answers/moments_psd.h"

#define N 5 /* columns, with the constant */
#define RECORDS 2000

typedef struct Sums
{
	RaceSecondMoments noisy;
	double m[N * N];
	double projected[N * N];
} Sums;

static double
normal(uint64_t *seed)
{
	double u = (double) ((mix((*seed)++) >> 11) + 1) / 9007199254740993.0;
	double v = (double) (mix((*seed)++) >> 11) / 9007199254740992.0;

	return sqrt(-2 * log(u)) * cos(2 * 3.141592653589793 * v);
}

static void
start(Sums *sums, double count, double diagonal, double other)
{
	memset(sums, 0, sizeof(Sums));
	sums->noisy.n = N;
	sums->noisy.count = count;
	sums->noisy.diagonal = diagonal;
	sums->noisy.other = other;
	sums->noisy.m = sums->m;
	sums->noisy.projected = sums->projected;
}

static void
add(Sums *sums, const double *v)
{
	for (int i = 0; i < N * N; i++)
		sums->m[i] += v[i / N] * v[i % N];
}

static void
add_noise(Sums *sums, uint64_t *seed)
{
	for (int i = 0; i < N; i++)
		for (int j = 0; j <= i; j++)
		{
			double e = normal(seed) * (i == j ? sums->noisy.diagonal : sums->noisy.other);

			sums->m[i * N + j] += e;
			if (i != j)
				sums->m[j * N + i] += e;
		}
}

static void
project(Sums *sums)
{
	double work[RACE_PSD_WORK(N)];

	race_project_psd(&sums->noisy, work);
}

/* v = (1, x, x', x'', y): y = 0.2 + 0.5 x - 0.3 x' + 0.1 normal; x'' is 0.8 x and more */
static void
draw_record(uint64_t *seed, double *v)
{
	v[0] = 1;
	for (int i = 1; i < 4; i++)
		v[i] = 0.3 * normal(seed);
	v[3] = 0.8 * v[1] + 0.6 * v[3];
	v[4] = 0.2 + 0.5 * v[1] - 0.3 * v[2] + 0.1 * normal(seed);
}

static void
draw(Sums *sums, uint64_t seed, double diagonal, double other)
{
	double v[N];

	start(sums, RECORDS, diagonal, other);
	for (int r = 0; r < RECORDS; r++)
	{
		draw_record(&seed, v);
		add(sums, v);
	}
	if (other > 0)
		add_noise(sums, &seed);
	project(sums);
}

/* ---------------------------------------------------------------- projected sums */

static double
smallest_eigenvalue(const double *m)
{
	double c[N * N];
	double low = -1e6;
	double high = 1e6;

	/* the largest shift after which the matrix still has a Cholesky factor */
	for (int steps = 0; steps < 100; steps++)
	{
		double middle = (low + high) / 2;

		memcpy(c, m, sizeof(c));
		for (int i = 0; i < N; i++)
			c[i * N + i] -= middle;
		if (race_inverse_root(c, N))
			low = middle;
		else
			high = middle;
	}
	return low;
}

static void
test_likely(void)
{
	Sums sums;
	/* moved by a standard deviation of 0.85 * sqrt(5) * 10; by numerical integration */
	const double diagonal[N] = {-1000, -20, 0, 20, 1000};
	const double mean[N] = {0.360989, 9.786237, 15.165055, 25.106090, 1000};
	bool good = true;

	draw(&sums, 1, 0, 0);
	ok(most_apart(sums.m, sums.projected, N * N) < 1e-8 * RECORDS, "exact sums stay as they are");
	draw(&sums, 2, 400, 283);
	ok(smallest_eigenvalue(sums.m) < 0, "noise gives a negative eigenvalue");
	ok(smallest_eigenvalue(sums.projected) > 0, "... which the projected sums have not");

	start(&sums, 10, 14.142, 10);
	for (int i = 0; i < N; i++)
		sums.m[i * N + i] = diagonal[i];
	project(&sums);
	for (int i = 0; i < N; i++)
		good = good && fabs(sums.projected[i * N + i] - mean[i]) < 1e-5;
	ok(good, "eigenvalues are the means of what is positive");
}

static void
test_noise_variance(void)
{
	Sums sums;
	double weight[N * N] = {0};

	start(&sums, 0, 3, 2);
	weight[0] = 2;
	ok(race_noise_variance(&sums.noisy, weight) == 36, "variance of an entry on the diagonal");
	weight[0] = 0;
	weight[1] = 1;
	weight[N] = 4;
	ok(race_noise_variance(&sums.noisy, weight) == 100, "... and of one that is there twice");
}

/* ----------------------------------------------------------------- regression */

static const uint32_t predictors[N - 1] = {0, 1, 2, 3};
static const double truth[N - 1] = {0.2, 0.5, -0.3, 0};

static bool
regress(Sums *sums, double *coefficients, double *covariance)
{
	double work[RACE_RIDGE_WORK(N, N)];
	RaceRidge ridge = {N - 1, N - 1, predictors, coefficients, covariance, 0};

	return race_ridge_fit(&sums->noisy, &ridge, work);
}

/*
 * Columns are a map of v: 2 x + 0.5, x' + x, x'' and y + 0.3 x; so y + 0.3 x = -0.075 + 0.55 c -
 * 0.3 c'
 */
static const double map[N * N] = {1, 0, 0, 0, 0, 0.5, 2, 0, 0,   0, 0, 1, 1,
								  0, 0, 0, 0, 0, 1,   0, 0, 0.3, 0, 0, 1};
static const double mapped_truth[N - 1] = {-0.075, 0.55, -0.3, 0};

/*
 * The share of coefficients of which intervals of 95 % hold the truth, over many draws: by columns
 * with a prior or NULL, if they are mapped.  The noise is said to be `doubt` times what it is.
 */
static double
coverage(double other, double doubt, bool mapped, const double *prior, double *error)
{
	const double *right = mapped ? mapped_truth : truth;
	double coefficients[N - 1];
	double covariance[(N - 1) * (N - 1)];
	int held = 0;
	int draws = 400;
	Sums sums;

	*error = 0;
	for (int d = 0; d < draws; d++)
	{
		draw(&sums, 1000000 * (uint64_t) (d + 1), other * sqrt(2), other);
		sums.noisy.other *= doubt;
		sums.noisy.diagonal *= doubt;
		if (mapped)
		{
			sums.noisy.map = map;
			sums.noisy.prior = prior;
			project(&sums);
		}
		regress(&sums, coefficients, covariance);
		for (int i = 0; i < N - 1; i++)
		{
			held += fabs(coefficients[i] - right[i]) < 1.96 * sqrt(covariance[i * N]);
			*error += fabs(coefficients[i] - right[i]) / (N - 1) / draws;
		}
	}
	return (double) held / draws / (N - 1);
}

static void
test_regression(void)
{
	Sums sums;
	double coefficients[N - 1];
	double covariance[(N - 1) * (N - 1)];
	double v[N];
	double gradient[N - 1] = {0};
	uint64_t seed = 3;
	double error;
	double less;
	int i;

	draw(&sums, 3, 0, 0);
	ok(regress(&sums, coefficients, covariance), "a regression");
	for (int r = 0; r < RECORDS; r++)
	{
		double left;

		draw_record(&seed, v);
		left = v[4];
		for (i = 0; i < N - 1; i++)
			left -= coefficients[i] * v[i];
		for (i = 0; i < N - 1; i++)
			gradient[i] += left * v[i];
	}
	for (error = 0, i = 0; i < N - 1; i++)
		error = fmax(error, fabs(gradient[i]));
	ok(error < 1e-6, "... of exact sums is least squares: what is left is at right angles");
	/* variance 0.01 of the errors, 0.09 of x': 2,000 records */
	ok(fabs(sqrt(covariance[2 * N]) / (0.1 / 0.3 / sqrt(RECORDS)) - 1) < 0.1,
	   "... with the usual standard error");

	ok(coverage(0, 1, false, NULL, &error) > 0.93, "intervals hold the truth: without noise");
	ok(coverage(5, 1, false, NULL, &error) > 0.93, "... with noise");
	ok(coverage(50, 1, false, NULL, &less) > 0.93 && less > error, "... and with much");
	ok(coverage(50, 0.2, false, NULL, &less) < 0.9,
	   "... but not if noise is said to be a fifth of what it is");
}

#define WIDE CASES(64, 32)

/*
 * How much worse than the mean a regression predicts, in parts of the variance, on average over
 * draws of sums of `records` rows of independent columns of variance .1, of which the last is half
 * a sum of all others, half noise
 */
static double
worse_than_mean(double records, double other)
{
	static double m[WIDE * WIDE];
	static double projected[WIDE * WIDE];
	static double covariance[WIDE * WIDE];
	static double work[RACE_RIDGE_WORK(WIDE, WIDE)];
	uint32_t columns[WIDE];
	double coefficients[WIDE];
	double worse = 0;
	const double variance = 0.1;
	const double slope = sqrt(0.5 / (WIDE - 2));
	const int draws = 20;

	for (int d = 0; d < draws; d++)
	{
		RaceSecondMoments sums = {.n = WIDE,
								  .count = records,
								  .diagonal = other * sqrt(2),
								  .other = other,
								  .m = m,
								  .projected = projected};
		RaceRidge ridge = {WIDE - 1, WIDE - 1, columns, coefficients, covariance, 0};
		uint64_t seed = 1000003 * (uint64_t) (d + 1);
		double explained = 0;

		for (int i = 0; i < WIDE; i++)
			for (int j = 0; j <= i; j++)
			{
				double exact = i == j      ? (i == 0 ? 1 : variance) :
					i == WIDE - 1 && j > 0 ? slope * variance :
											 0;

				m[i * WIDE + j] = m[j * WIDE + i] =
					records * exact + (i == j ? sums.diagonal : other) * normal(&seed);
			}
		for (uint32_t i = 0; i < WIDE - 1; i++)
			columns[i] = i;
		race_project_psd(&sums, work);
		race_ridge_fit(&sums, &ridge, work);
		worse += coefficients[0] * coefficients[0] / variance / draws;
		for (int i = 1; i < WIDE - 1; i++)
			explained += coefficients[i] * (coefficients[i] - 2 * slope);
		worse += explained / draws;
	}
	return worse;
}

static void
test_wide_regression(void)
{
	double most = 0;
	double least = worse_than_mean(1e6, 100);

	for (double other = 100; other < 1e7; other *= 2)
		most = fmax(most, worse_than_mean(1e5, other));
	ok(least < -0.45, "a regression on many columns explains what there is to be explained: %.3f",
	   -least);
	ok(most < 0.02, "... and is never worse than the mean: %.4f at most", most);
}

static void
test_map(void)
{
	double prior[N * N];
	double wrong[N * N];
	double error;
	double with_prior;
	double with_wrong;
	Sums sums;

	/* the mean products of other records, by columns; and of a target that is 0.3 larger for x'' */
	draw(&sums, 77, 0, 0);
	sums.noisy.map = map;
	project(&sums);
	for (int i = 0; i < N * N; i++)
		prior[i] = wrong[i] = sums.projected[i] / RECORDS;
	for (int i = 0; i < N; i++)
		wrong[4 * N + i] = wrong[i * N + 4] = prior[4 * N + i] + 0.3 * prior[3 * N + i];
	wrong[4 * N + 4] = prior[4 * N + 4] + 0.6 * prior[4 * N + 3] + 0.09 * prior[3 * N + 3];

	ok(coverage(0, 1, true, NULL, &error) > 0.93 && error < 0.01,
	   "columns are a map of what was summed: without noise");
	ok(coverage(5, 1, true, NULL, &error) > 0.93, "... with noise");
	ok(coverage(50, 1, true, NULL, &error) > 0.93, "... and with much");
	ok(coverage(50, 1, true, prior, &with_prior) > 0.93, "public rows keep the intervals");
	ok(with_prior < error / 2, "... and make the error less: %.4f, %.4f", with_prior, error);
	ok(coverage(0, 1, true, wrong, &with_wrong) > 0.93 && with_wrong < 0.01,
	   "wrong ones are left out without noise");
	(void) coverage(5, 1, true, NULL, &error);
	(void) coverage(5, 1, true, wrong, &with_wrong);
	ok(with_wrong < 1.1 * error, "... and with little: %.4f, %.4f", with_wrong, error);
}

/* -------------------------------------------------------------------- classes */

static void
test_classes(double other)
{
	Sums sums[2];
	RaceSecondMoments noisy[2];
	RaceDiscriminants classes;
	double space[RACE_CLASSES_SPACE(2, N - 1)];
	double work[RACE_CLASSES_WORK(2, N - 1)];
	double v[N];
	double z[2];
	double density[2];
	uint64_t seed = 7;
	int right = 0;
	double square = 0;

	for (int c = 0; c < 2; c++)
	{
		start(&sums[c], RECORDS, other * sqrt(2), other);
		for (int r = 0; r < RECORDS; r++)
		{
			draw_record(&seed, v);
			v[4] += 0.4 * c;
			add(&sums[c], v);
		}
		add_noise(&sums[c], &seed);
		project(&sums[c]);
		noisy[c] = sums[c].noisy;
	}
	ok(race_classes_fit(noisy, 2, space, work, &classes) && classes.kept == 1,
	   "two classes lie apart in one direction, noise %g", other);
	for (int r = 0; r < 2000; r++)
	{
		draw_record(&seed, v);
		v[4] += 0.4 * (r % 2);
		race_classes_densities(&classes, v + 1, z, density);
		right += (density[1] > density[0]) == r % 2;
		square += pow(z[0] - classes.center[r % 2], 2) * classes.precision[r % 2];
	}
	/* 4 standard deviations of the errors apart: 97.7 % are on the right side of the middle */
	ok(right > (other < 10 ? 1930 : 1700), "... and %d of 2000 are found", right);
	/* by the projected sums alone .87 with noise 5, and .20 with 60 */
	ok(square > 2000 * (other < 10 ? 0.89 : 0.23) && square < 2200,
	   "... classes are %.2f times as wide as the model says", square / 2000);
}

static void
test_far(void)
{
	Sums sums[2];
	RaceSecondMoments noisy[2];
	RaceDiscriminants classes;
	double space[RACE_CLASSES_SPACE(2, N - 1)];
	double work[RACE_CLASSES_WORK(2, N - 1)];
	double v[N];
	double x[N - 1] = {0};
	double z[2];
	double density[2];
	double before = -INFINITY;
	bool rises = true;
	uint64_t seed = 9;

	for (int c = 0; c < 2; c++)
	{
		start(&sums[c], RECORDS, 0, 0);
		for (int r = 0; r < RECORDS; r++)
		{
			draw_record(&seed, v);
			v[4] = 0.4 * c + (0.1 + 0.2 * c) * normal(&seed);
			add(&sums[c], v);
		}
		project(&sums[c]);
		noisy[c] = sums[c].noisy;
	}
	race_classes_fit(noisy, 2, space, work, &classes);
	for (int r = -50; r <= 50; r++)
	{
		x[3] = r * 0.1;
		race_classes_densities(&classes, x, z, density);
		rises = rises && density[1] - density[0] >= before - 1e-9;
		before = density[1] - density[0];
	}
	ok(rises, "the wider one of two classes does not win again on the far side");
}

/* ------------------------------------------------- covariances and components */

static void
test_spread(void)
{
	Sums sums;
	double scale[N - 1] = {1, 1, 1, 1};
	double work[RACE_COMPONENTS_WORK(N)];
	double vector[(N - 1) * (N - 1)];
	RaceMomentEstimate variance[N - 1];
	RaceMomentEstimate measured;
	double trace = 0;
	double sum = 0;
	double product = 0;

	draw(&sums, 11, 0, 0);
	measured = race_estimate_covariance(&sums.noisy, 1, 3);
	ok(measured.known && fabs(measured.value - 0.8 * 0.09) < 4 * measured.error &&
		   measured.error < 0.005,
	   "a covariance within its error");
	measured = race_estimate_correlation(&sums.noisy, 1, 3);
	ok(measured.known && fabs(measured.value - 0.8) < 4 * measured.error && measured.error < 0.02,
	   "a correlation within its error");
	race_components(&sums.noisy, scale, work, vector, variance);
	for (int i = 0; i < N - 1; i++)
	{
		trace += race_estimate_covariance(&sums.noisy, i + 1, i + 1).value;
		sum += variance[i].value;
		product += vector[i] * vector[N - 1 + i];
	}
	ok(fabs(trace - sum) < 1e-9 && fabs(product) < 1e-9 && variance[0].value > variance[1].value,
	   "components have the variance of columns, and are at right angles");

	draw(&sums, 12, 2000, 1414);
	ok(!race_estimate_correlation(&sums.noisy, 1, 2).known ||
		   race_estimate_correlation(&sums.noisy, 1, 2).error > 1,
	   "noise hides a correlation");
	ok(race_estimate_covariance(&sums.noisy, 1, 2).error > 0.3, "... and a covariance");
}

int
main(void)
{
	test_likely();
	test_noise_variance();
	test_regression();
	test_wide_regression();
	test_map();
	test_classes(0);
	test_classes(5);
	test_classes(60);
	test_far();
	test_spread();
	return done_testing();
}
