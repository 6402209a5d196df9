/*
 * pull.c
 *		Far records pulled to a sphere, learned from examples.
 */
#include "postgres.h"

#include <math.h>

#include "pull.h"

void
race_pull(double *z, int n, double radius)
{
	double		most = 0;
	double		sum = 0;
	double		length;
	int			i;

	for (i = 0; i < n; i++)
		most = Max(most, fabs(z[i]));
	if (!isfinite(most) || most == 0)
		return;
	/* no square overflows */
	for (i = 0; i < n; i++)
		sum += (z[i] / most) * (z[i] / most);
	length = sqrt(sum);
	if (most > radius / length)
		for (i = 0; i < n; i++)
			z[i] = z[i] / most * (radius / length);
}

/*
 * Mardia's kurtosis (1970) of a normal distribution is d (d + 2).  It is about 1.01 times as much
 * of a few hundred of its vectors at most.
 */
#define HEAVY	1.2

/* The radius; false if tails are not heavy */
static bool
learn_radius(const RaceExamples *examples, RacePull *pull)
{
	int			d = examples->dims;
	double	   *squares = palloc0(examples->n * sizeof(double));
	double		kurtosis = 0;
	double		z[RACE_SUGGEST_DIMS];
	int			i;
	int			j;

	for (i = 0; i < examples->n; i++)
	{
		race_whitening_apply(&pull->map.m, examples->x + i * d, z);
		for (j = 0; j < d; j++)
			squares[i] += z[j] * z[j];
		kurtosis += squares[i] * squares[i] / examples->n;
	}
	race_suggest_sort(squares, examples->n);
	pull->radius = race_suggest_rounded(sqrt(squares[examples->n / 2]));
	pfree(squares);
	return kurtosis > HEAVY * d * (d + 2) && pull->radius > 0;
}

bool
race_pull_learn(const RaceExamples *examples, RacePull *pull)
{
	RaceExamples together = *examples;
	int			d = examples->dims;
	bool		good = d > 1;
	int			i;

	together.classes = 1;
	together.label = palloc0(examples->n * sizeof(int));
	if (good)
	{
		race_map_learn(RACE_TRANSFORM_WHITE, &together, &pull->map);
		good = pull->map.m.outputs > 0;
	}
	pfree(together.label);
	if (!good)
		return false;
	for (i = 0; i < d * d; i++)
		pull->map.numbers[i] = race_suggest_rounded(pull->map.numbers[i]);
	return learn_radius(examples, pull);
}

RaceExamples
race_pull_examples(const RaceExamples *examples, const RacePull *pull)
{
	RaceExamples pulled = *examples;
	int			d = pulled.dims;
	int			i;

	pulled.x = palloc((Size) pulled.n * d * sizeof(double));
	for (i = 0; i < pulled.n; i++)
	{
		race_whitening_apply(&pull->map.m, examples->x + i * d, pulled.x + i * d);
		race_pull(pulled.x + i * d, d, pull->radius);
	}
	return pulled;
}
