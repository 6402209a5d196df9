/*
 * suggest_grid.c
 *		Grids of what a map makes of vectors, as race_suggest proposes them.
 *
 * In few directions a grid has far less error than rows.  Its box must be public: it holds the
 * images of the examples, and a little more.  What lies beyond is clipped to it.
 */
#include "postgres.h"

#include <math.h>

#include "../params/draft.h"
#include "../privacy/checked_plan.h"
#include "suggest.h"

#define BEYOND		0.1			/* of a range, by which the box is wider */

/* Six digits are enough, and the statement shows all of them. */
double
race_suggest_rounded(double x)
{
	char		digits[32];

	snprintf(digits, sizeof(digits), "%.6g", x);
	return strtod(digits, NULL);
}

void
race_suggest_box(const double *x, int n, int dims, double *lower, double *upper)
{
	int			i;
	int			j;

	for (j = 0; j < dims; j++)
	{
		double		beyond;

		lower[j] = upper[j] = x[j];
		for (i = 0; i < n; i++)
		{
			lower[j] = Min(lower[j], x[i * dims + j]);
			upper[j] = Max(upper[j], x[i * dims + j]);
		}
		beyond = BEYOND * (upper[j] - lower[j]);
		lower[j] = race_suggest_rounded(lower[j] - beyond);
		upper[j] = race_suggest_rounded(upper[j] + beyond);
	}
}

void
race_suggest_draft_grid(RaceDraft *draft, int dims, double bandwidth, int power,
						const double *lower, const double *upper)
{
	race_draft_default(draft);
	draft->part.kernel = RACE_KERNEL_L2;
	draft->part.sequence = RACE_SEQUENCE_GRID;
	draft->part.dims = dims;
	draft->part.power = power;
	draft->part.bandwidth = bandwidth;
	draft->arrays[RACE_KEY_LOWER] = lower;
	draft->arrays[RACE_KEY_UPPER] = upper;
}

bool
race_suggest_can_be_grid(int dims, const double *lower, const double *upper)
{
	int			i;

	if (dims > RACE_GRID_DIMS)
		return false;
	for (i = 0; i < dims; i++)
		if (!(lower[i] < upper[i]))
			return false;
	return true;
}

void
race_suggest_grid_error(RaceDraft *draft, const RaceExpected *expected, double records,
						double *noise, double *bias)
{
	RaceParams *params = race_params_assemble(draft, 1, NULL);
	RaceRequest request = race_make_request(params, expected->epsilon, expected->delta, NULL, 1,
											"add_remove", false);
	RacePlan	plan;

	race_check_usual_plan(&request, params, race_usual_mass(Max(records, 1)), &plan);
	*noise = race_expected_noise(params, &plan);
	*bias = race_grid_bias(params, plan.kept.grid);
	pfree(params);
}
