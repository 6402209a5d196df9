/*
 * lbfgs_test.c
 *		Minimizing functions whose minimum is known
 */
#include "answers/lbfgs.h"
#include "helpers.h"
#include "memory.h"
#include "tap.h"

#define MOST 100

typedef struct Problem
{
	size_t n;
	double target[MOST];
	double curvature[MOST];
	double least; /* of the gradient, in squares */
	uint32_t evaluations;
	double *kept;
	bool broken; /* from some step on there are no numbers */
} Problem;

static double
quadratic(void *state, const double *x, double *gradient)
{
	Problem *problem = state;
	double value = 0;

	problem->evaluations++;
	for (size_t i = 0; i < problem->n; i++)
	{
		double off = x[i] - problem->target[i];

		gradient[i] = problem->curvature[i] * off;
		value += problem->curvature[i] * off * off / 2;
	}
	return problem->broken && problem->evaluations > 3 ? NAN : value;
}

static double
rosenbrock(void *state, const double *x, double *gradient)
{
	Problem *problem = state;
	double off = x[1] - x[0] * x[0];

	problem->evaluations++;
	gradient[0] = -400 * x[0] * off - 2 * (1 - x[0]);
	gradient[1] = 200 * off;
	return 100 * off * off + (1 - x[0]) * (1 - x[0]);
}

static bool
is_far(void *state, const double *x, const double *gradient)
{
	Problem *problem = state;

	memcpy(problem->kept, x, problem->n * sizeof(double));
	return race_dot_product(gradient, gradient, problem->n) > problem->least;
}

static void
test_quadratic(void)
{
	Problem problem = {.n = MOST, .least = 1e-16};
	double x[MOST];
	double kept[MOST];
	double scale[MOST];
	uint32_t steps[2];
	double most[2];

	for (int scaled = 0; scaled < 2; scaled++)
	{
		problem.kept = kept;
		for (uint32_t i = 0; i < MOST; i++)
		{
			x[i] = 0;
			problem.target[i] = 5 * signed_unit(mix(i));
			problem.curvature[i] = log_uniform(mix(i + 1000), 0.1, 10);
			scale[i] = scaled ? 1 / sqrt(problem.curvature[i]) : 1;
		}
		steps[scaled] = race_lbfgs(&(RaceLbfgs){MOST, scale, 1000, quadratic, is_far, &problem}, x,
								   from_memory, NULL);
		free_memory();
		most[scaled] = most_apart(kept, problem.target, MOST);
	}
	ok(most[0] < 1e-5 && steps[0] < 150, "a quadratic function (%u steps, %.1g off)", steps[0],
	   most[0]);
	ok(most[1] < 1e-6 && steps[1] < 10, "with scales it takes few steps (%u)", steps[1]);
}

static void
test_rosenbrock(void)
{
	static const double starts[][2] = {{-1.2, 1}, {0, 0}, {3, -4}, {-5, 20}};
	static const double ones[] = {1, 1};
	uint32_t most = 0;
	double off = 0;

	for (int i = 0; i < 4; i++)
	{
		double kept[2];
		double x[] = {starts[i][0], starts[i][1]};
		Problem problem = {.n = 2, .least = 1e-18, .kept = kept};
		uint32_t steps = race_lbfgs(&(RaceLbfgs){2, ones, 1000, rosenbrock, is_far, &problem}, x,
									from_memory, NULL);

		free_memory();
		most = steps > most ? steps : most;
		off = fmax(off, most_apart(kept, ones, 2));
	}
	ok(off < 1e-6 && most < 200, "Rosenbrock's function (%u steps, %.1g off)", most, off);
}

static void
test_ends(void)
{
	Problem problem = {.n = 3, .target = {9, 9, 9}, .curvature = {1, 1, 1}, .least = 1e9};
	static const double scale[] = {1, 1, 1};
	double kept[3];
	double x[3] = {0, 0, 0};
	RaceLbfgs search = {3, scale, 100, quadratic, is_far, &problem};

	problem.kept = kept;
	ok(race_lbfgs(&search, x, from_memory, NULL) == 0 && x[0] == 0 && problem.evaluations == 1,
	   "it stops where it begins, if that will do");
	problem.least = 0;
	search.most = 1;
	ok(race_lbfgs(&search, x, from_memory, NULL) == 1 && x[0] > 0 && x[0] <= 3 * (1 + 1e-12),
	   "it takes no more steps than it may, and none that is longer than 3");
	search.most = 100;
	problem.broken = true;
	problem.evaluations = 0;
	ok(race_lbfgs(&search, x, from_memory, NULL) < 100 && problem.evaluations < 100 &&
		   isfinite(kept[0]),
	   "it ends where there are no numbers");
	free_memory();
}

int
main(void)
{
	test_quadratic();
	test_rosenbrock();
	test_ends();
	return done_testing();
}
