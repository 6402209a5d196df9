/*
 * discriminant.c
 *		race_discriminant: the directions in which the means of classes lie apart.
 *
 * Vectors are whitened within classes first (whiten.c).  There the means of k classes span up
 * to k - 1 directions, and the singular value decomposition of the means, each weighted by its
 * number of vectors, finds them, those that tell most first (Fisher 1936; Rao 1948).  For
 * classes that are normal and spread alike, all other directions say nothing of the class,
 * and a kernel density in so few dimensions needs far fewer records.
 */
#include "postgres.h"

#include <math.h>

#include "../linear/eigen.h"
#include "discriminant.h"

PG_FUNCTION_INFO_V1(race_discriminant_step);
PG_FUNCTION_INFO_V1(race_discriminant_final);

/*
 * A direction in which the means lie apart by less than this share of the first one, or of a
 * standard deviation, is that of rounding errors.
 */
#define LEAST_APART		1e-9

/* The whitened means, less the mean of all, times the root of how many vectors they are of */
static void
whitened_means(const RaceScatter *scatter, const RaceWhitening *whitening, double *w)
{
	double	   *all = palloc(scatter->dims * sizeof(double));
	double	   *apart = palloc(scatter->dims * sizeof(double));
	uint32		c;
	uint32		i;

	race_scatter_mean(scatter, all);
	for (c = 0; c < scatter->n_classes; c++, w += whitening->outputs)
	{
		const double *mean = race_scatter_class_mean(scatter, c);

		for (i = 0; i < scatter->dims; i++)
			apart[i] = (mean[i] - all[i]) * sqrt(scatter->classes[c].n);
		race_whitening_apply(whitening, apart, w);
	}
	pfree(all);
	pfree(apart);
}

/* How many directions there are, of those sorted by length */
static uint32
count_directions(const RaceScatter *scatter, uint32 dims, const double *lengths)
{
	uint32		most = Min(scatter->n_classes - 1, dims);
	double		least = LEAST_APART * fmax(lengths[0], sqrt(race_scatter_n(scatter)));
	uint32		n = 0;

	while (n < most && lengths[n] > least)
		n++;
	return n;
}

/* Divide a direction by its length.  Its sign is such that the largest number is positive. */
static void
normalize(double *v, uint32 n, double length)
{
	uint32		largest = 0;
	uint32		i;

	for (i = 1; i < n; i++)
		if (fabs(v[i]) > fabs(v[largest]))
			largest = i;
	length = copysign(length, v[largest]);
	for (i = 0; i < n; i++)
		v[i] /= length;
}

uint32
race_discriminant_directions(const RaceScatter *scatter, const RaceWhitening *whitening,
							 double *directions)
{
	double		lengths[RACE_SCATTER_CLASSES];
	uint32		n;
	uint32		i;

	whitened_means(scatter, whitening, directions);
	race_jacobi(directions, scatter->n_classes, whitening->outputs, lengths);
	n = count_directions(scatter, whitening->outputs, lengths);
	for (i = 0; i < n; i++)
		normalize(directions + (Size) i * whitening->outputs, whitening->outputs, lengths[i]);
	return n;
}

/* Transition of race_discriminant(label, x) */
Datum
race_discriminant_step(PG_FUNCTION_ARGS)
{
	return race_scatter_step(fcinfo, 2, 1);
}

/* The transform; NULL of no vectors */
Datum
race_discriminant_final(PG_FUNCTION_ARGS)
{
	const RaceScatter *scatter = race_scatter_arg(fcinfo);
	RaceWhitening whitening;
	double	   *directions;
	uint32		n;

	if (scatter == NULL)
		PG_RETURN_NULL();
	if (scatter->n_classes < 2)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("race_discriminant needs two labels or more, found one")));
	race_whitening_of(scatter, "race_discriminant", &whitening);
	directions = palloc((Size) scatter->n_classes * whitening.outputs * sizeof(double));
	n = race_discriminant_directions(scatter, &whitening, directions);
	if (n == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("race_discriminant finds no direction: all labels have the same mean")));
	race_whitening_keep(&whitening, directions, n);
	PG_RETURN_DATUM(race_transform_datum(fcinfo, scatter, &whitening));
}
