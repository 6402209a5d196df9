/*
 * normal_test.c
 *		Quantiles: the inverse normal, Student's t and the inverse Cauchy.
 */
#include "hash/quantiles.h"
#include "answers/distributions.h"
#include "helpers.h"
#include "tap.h"

/*
 * The relative error of z for Phi(z) = 1/2 + q, by one step of Newton's method
 * with the other distribution function; q is exact where p = 1/2 + q is not.
 */
static double
relative_error(double z, long double p, long double q)
{
	long double density = expl(-0.5L * z * z) / sqrtl(2 * M_PI);
	long double excess;

	if (fabsl(q) < 0.25L)
		excess = erfl(z * sqrtl(0.5L)) / 2 - q;
	else if (q < 0)
		excess = erfcl(-z * sqrtl(0.5L)) / 2 - p;
	else
		excess = (1 - p) - erfcl(z * sqrtl(0.5L)) / 2;
	return (double) fabsl(excess / density / z);
}

/* What row functions ask for: odd multiples of 2^-53; many are small */
static double
lattice_point(uint64_t i)
{
	return ((double) (mix(i) >> 12 >> (i % 50)) + 0.5) * 0x1p-52;
}

static void
test_inverse_normal(void)
{
	double worst_lattice = 0;
	double worst_small = 0;
	double worst_tail = 0;
	int asymmetric = 0;

	for (int i = 0; i < 1000000; i++)
	{
		double p = lattice_point(i);
		double z = race_inverse_normal(p);

		worst_lattice = fmax(worst_lattice, relative_error(z, p, p - 0.5L));
		asymmetric += race_inverse_normal(1 - p) != -z;
	}
	for (int i = 1; i <= 1000; i++)
	{
		double p = pow(10, -0.3 * i);
		double q = 0.5 * pow(2, -i / 20.0);

		worst_tail = fmax(worst_tail, relative_error(race_inverse_normal(p), p, p - 0.5L));
		worst_small = fmax(
			worst_small,
			relative_error(race_inverse_normal(0.5 + q), 0.5L + (0.5 + q - 0.5), 0.5 + q - 0.5));
	}
	printf("# relative errors: %.3g, %.3g near 1/2, %.3g down to 1e-300\n", worst_lattice,
		   worst_small, worst_tail);
	ok(worst_lattice < 1e-15, "the inverse normal where row functions use it");
	ok(worst_small < 1e-15, "the inverse normal near 1/2");
	ok(worst_tail < 1e-15, "the inverse normal down to 1e-300");
	ok(asymmetric == 0, "it is odd, bit by bit");
	ok(race_inverse_normal(0.5) == 0, "it is 0 at 1/2");
}

/* Known answers, bit by bit, from a second implementation (in Python) */
static void
test_known_bits(void)
{
	static const double known[][2] = {{0x1p-53, -0x1.06b48528cea51p+3},
									  {0x1.8p-52, -0x1.02734508d1f1cp+3},
									  {1e-300, -0x1.286074064c26ep+5},
									  {1e-10, -0x1.97203597a2154p+2},
									  {0x1p-10, -0x1.8c73502ae34eep+1},
									  {0.074999999999999997, -0x1.7085226d3e523p+0},
									  {0.1, -0x1.4813c36e26d34p+0},
									  {0.25, -0x1.5956b87528a49p-1},
									  {0.3, -0x1.0c7e39582c5fap-1},
									  {0.49999, -0x1.a48add58fc7a3p-16},
									  {0x1.0000000000001p-1, 0x1.40d931ff62707p-52},
									  {0.9, 0x1.4813c36e26d34p+0},
									  {0.975, 0x1.f5c0331eeff82p+0},
									  {0.999999, 0x1.30381a97985f1p+2}};
	uint64_t digest = 0;
	int different = 0;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (race_inverse_normal(known[i][0]) != known[i][1])
		{
			different++;
			printf("# %a: %a, not %a\n", known[i][0], race_inverse_normal(known[i][0]),
				   known[i][1]);
		}
	ok(different == 0, "known answers, bit by bit");

	for (size_t i = 0; i < 100000; i++)
	{
		double z = race_inverse_normal(lattice_point(i));
		uint64_t bits;

		memcpy(&bits, &z, sizeof(bits));
		digest = mix(digest ^ bits);
	}
	ok(digest == UINT64_C(0x805ab34fd02337a1), "a hundred thousand of them");
}

/* P[|T| < t] for an integer df, the finite sums of Abramowitz & Stegun 26.7.3-4 */
static long double
student_within(long double t, int df)
{
	long double theta = atanl(t / sqrtl(df));
	long double c2 = 1 / (1 + t * t / df);
	long double term = df % 2 == 0 ? 1 : sqrtl(c2);
	long double terms = 0;

	/* c + 2/3 c^3 + ..., or 1 + 1/2 c^2 + ..., up to c^(df - 2) */
	for (int i = df % 2 == 0 ? 2 : 3; i <= df; i += 2)
	{
		terms += term;
		term *= c2 * (i - 1) / i;
	}
	if (df % 2 == 0)
		return sinl(theta) * terms;
	return (theta + sinl(theta) * terms) * 2 / acosl(-1);
}

/* The t that |T| exceeds with probability p, by bisection */
static double
student_quantile(double p, int df)
{
	long double low = 0;
	long double high = 1e6;

	while (high - low > 1e-15L * high)
	{
		long double t = (low + high) / 2;

		if (student_within(t, df) < 1 - (long double) p)
			low = t;
		else
			high = t;
	}
	return (double) low;
}

static void
test_student(void)
{
	static const double ps[] = {0.9, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 1e-3, 1e-4};
	double worst = 0;
	double worst_many = 0;
	int disordered = 0;
	double p;

	for (int df = 1; df <= 1023; df += df < 40 ? 1 : 983)
		for (size_t i = 0; i < sizeof(ps) / sizeof(ps[0]); i++)
		{
			double error =
				fabs(race_student_two_sided(ps[i], df) / student_quantile(ps[i], df) - 1);

			worst = fmax(worst, error);
			worst_many = df >= 15 ? fmax(worst_many, error) : 0;
		}
	printf("# relative errors: %.3g, %.3g from 15 degrees of freedom on\n", worst, worst_many);
	ok(worst < 1e-5, "Student's t from 1 to 1023 degrees of freedom");
	ok(worst_many < 1e-6, "Student's t from 15 degrees of freedom on: six digits");

	for (int df = 1; df <= 40; df++)
		for (p = 0x1p-53; p < 0.99; p *= 1.01)
			disordered += !(race_student_two_sided(p, df) <= race_student_two_sided(p / 1.01, df));
	ok(disordered == 0, "less probability lies farther out, down to 2^-53");
}

/* tan(pi (p - 1/2)) in more digits, where the argument is not near a pole */
static long double
inverse_cauchy(double p)
{
	long double v = p - 0.5L;
	long double w = fabsl(v);
	long double tangent = w <= 0.25L ? tanl(acosl(-1) * w) : 1 / tanl(acosl(-1) * (0.5L - w));

	return v < 0 ? -tangent : tangent;
}

static void
test_inverse_cauchy(void)
{
	static const double places[] = {0x1p-53, 3 * 0x1p-53, 1e-10,      0.01,          0.24999,
									0.25,    0.25001,     0.4,        0.5 - 0x1p-53, 0.5 + 0x1p-53,
									0.75,    0.9,         1 - 0x1p-53};
	double worst = 0;
	double asymmetry = 0;
	int falling = 0;

	for (int i = 0; i < 1000000; i++)
	{
		/* of every second, all exponents alike */
		double p = ldexp((double) (mix(i) >> 11), i % 2 == 0 ? -53 : -54 - i / 2 % 40);

		p = floor(p * 0x1p53 + 1) * 0x1p-53;
		if (i < (int) (sizeof(places) / sizeof(places[0])))
			p = floor(places[i] * 0x1p53) * 0x1p-53;
		if (p >= 1 || p == 0.5)
			continue;
		worst = fmax(worst, fabs((double) (race_inverse_cauchy(p) / inverse_cauchy(p) - 1)));
		asymmetry = fmax(asymmetry, fabs(race_inverse_cauchy(p) + race_inverse_cauchy(1 - p)));
		falling += race_inverse_cauchy(p) < race_inverse_cauchy(p - 0x1p-53 > 0 ? p - 0x1p-53 : p);
	}
	printf("# largest relative error %.3g\n", worst);
	ok(worst < 1e-15, "the inverse Cauchy is the tangent");
	ok(race_inverse_cauchy(0.5) == 0 && asymmetry == 0, "antisymmetric around 1/2");
	ok(falling == 0, "and never falls");
	ok(race_inverse_cauchy(1 - 0x1p-53) > 2e15 && race_inverse_cauchy(1 - 0x1p-53) < 3e15,
	   "its largest is 2^53 / pi");
}

int
main(void)
{
	test_inverse_normal();
	test_known_bits();
	test_student();
	test_inverse_cauchy();
	return done_testing();
}
