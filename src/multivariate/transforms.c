/*
 * transforms.c
 *		Transforms for race_params from moments: private where these are, so that no public rows
 *		are needed.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"

#include "../linear/factor.h"
#include "../transform/whiten.h"
#include "components.h"
#include "lda.h"

PG_FUNCTION_INFO_V1(race_whiten_moments);
PG_FUNCTION_INFO_V1(race_pca_transform);
PG_FUNCTION_INFO_V1(race_discriminant_moments_step);
PG_FUNCTION_INFO_V1(race_discriminant_moments_final);

static void
start_map(uint32 dims, uint32 outputs, RaceWhitening *map)
{
	map->dims = dims;
	map->outputs = outputs;
	map->matrix = palloc0((Size) dims * outputs * sizeof(double));
}

/* Multiply columns of the matrix by the slopes of columns of a record. */
static void
apply_slopes(const RaceLikely *likely, RaceWhitening *map)
{
	uint32		i;
	uint32		j;

	for (i = 0; i < map->outputs; i++)
		for (j = 0; j < map->dims; j++)
			map->matrix[(Size) i * map->dims + j] *= race_likely_slope(likely, j + 1);
}

/* The mean of the records in their units, from that of scaled columns */
static double *
mean_of_records(const RaceLikely *likely, const double *scaled)
{
	uint32		dims = likely->noisy.n - 1;
	double	   *mean = palloc(dims * sizeof(double));
	uint32		i;

	for (i = 0; i < dims; i++)
		mean[i] = (scaled[i] - race_likely_shift(likely, i + 1)) / race_likely_slope(likely, i + 1);
	return mean;
}

/* The mean of scaled columns, and their covariance, [dims][dims]; both are palloc'd. */
static double *
spread_of(const RaceLikely *likely, double **mean)
{
	uint32		dims = likely->noisy.n - 1;
	double	   *covariance = palloc0((Size) dims * dims * sizeof(double));
	double		weight;
	Size		i;

	*mean = palloc(dims * sizeof(double));
	weight = race_likely_spread(&likely->noisy, *mean, covariance);
	for (i = 0; i < (Size) dims * dims; i++)
		covariance[i] /= weight;
	return covariance;
}

/* ---------------------------------------------------------------- whitening */

/*
 * The columns that are no linear combination of those before them, which is for exact moments:
 * noise leaves no such column.
 */
static uint32
keep_columns(const RaceNoisy *noisy, const double *covariance, uint32 *kept)
{
	uint32		dims = noisy->n - 1;
	double	   *r = palloc((Size) dims * dims * sizeof(double));
	double	   *work = palloc(RACE_LINEAR_WORK(dims) * sizeof(double));
	bool	   *keep = palloc(dims * sizeof(bool));
	uint32	   *vary = palloc(dims * sizeof(uint32));
	uint32		n = 0;
	uint32		found = 0;
	uint32		i;
	uint32		j;

	for (i = 0; i < dims; i++)
		if (covariance[(Size) i * dims + i] > RACE_LEAST_SHARE)
			vary[n++] = i;
	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++)
			r[(Size) i * n + j] = i == j ? 1 : covariance[(Size) vary[i] * dims + vary[j]] /
				sqrt(covariance[(Size) vary[i] * dims + vary[i]] *
					 covariance[(Size) vary[j] * dims + vary[j]]);
	race_independent(r, n, INFINITY, work, keep);
	for (i = 0; i < n; i++)
		if (keep[i])
			kept[found++] = vary[i];
	return found;
}

/* The inverse root of the covariance of columns that are kept, as rows of a map of all columns */
static void
whiten_columns(const double *covariance, uint32 dims, const uint32 *kept, uint32 n,
			   RaceWhitening *map)
{
	double	   *root = palloc((Size) dims * dims * sizeof(double));
	uint32		i;
	uint32		j;

	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++)
			root[(Size) i * n + j] = covariance[(Size) kept[i] * dims + kept[j]];
	if (n == 0 || !race_inverse_root(root, n))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("no column varies in these moments")));
	start_map(dims, n, map);
	for (i = 0; i < n; i++)
		for (j = 0; j <= i; j++)
			map->matrix[(Size) i * dims + kept[j]] = root[(Size) i * n + j];
	pfree(root);
}

/* race_whiten_moments(moments) */
Datum
race_whiten_moments(PG_FUNCTION_ARGS)
{
	RaceLikely	likely;
	RaceWhitening map;
	double	   *mean;
	double	   *covariance;
	uint32	   *kept;
	uint32		dims;
	uint32		n;

	race_likely_open_columns(PointerGetDatum(PG_GETARG_VARLENA_P(0)), &likely);
	dims = likely.noisy.n - 1;
	covariance = spread_of(&likely, &mean);
	kept = palloc(dims * sizeof(uint32));
	n = keep_columns(&likely.noisy, covariance, kept);
	whiten_columns(covariance, dims, kept, n, &map);
	if (n < dims)
		ereport(NOTICE,
				(errmsg("race_whiten_moments leaves %u of %u columns out", dims - n, dims),
				 errdetail("They are constant, or linear combinations of columns before them.")));
	apply_slopes(&likely, &map);
	PG_RETURN_DATUM(race_transform_of(fcinfo, &map, mean_of_records(&likely, mean)));
}

/* ------------------------------------------------------- principal components */

/* race_pca_transform(moments, components, standardize) */
Datum
race_pca_transform(PG_FUNCTION_ARGS)
{
	int			components = PG_GETARG_INT32(1);
	RaceFoundComponents found;
	RaceWhitening map;
	double	   *mean;
	uint32		dims;
	Size		i;

	race_find_components(PointerGetDatum(PG_GETARG_VARLENA_P(0)), PG_GETARG_BOOL(2), &found);
	dims = found.likely.noisy.n - 1;
	if (components < 1 || (uint32) components > dims)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("components must be between 1 and %u, the number of columns", dims)));
	start_map(dims, components, &map);
	for (i = 0; i < (Size) components * dims; i++)
		map.matrix[i] = found.vectors[i] * found.scale[i % dims];
	apply_slopes(&found.likely, &map);
	spread_of(&found.likely, &mean);
	PG_RETURN_DATUM(race_transform_of(fcinfo, &map, mean_of_records(&found.likely, mean)));
}

/* --------------------------------------------------------- Fisher's discriminant */

/* Transition of race_discriminant_moments(label, moments) */
Datum
race_discriminant_moments_step(PG_FUNCTION_ARGS)
{
	return race_class_moments_step(fcinfo);
}

Datum
race_discriminant_moments_final(PG_FUNCTION_ARGS)
{
	RaceClassMoments *state = PG_ARGISNULL(0) ? NULL : (RaceClassMoments *) PG_GETARG_POINTER(0);
	RaceClassModel model;
	RaceWhitening map;

	if (state == NULL || state->scores->n == 0)
		PG_RETURN_NULL();
	race_class_model(state, true, &model);
	if (model.classes.kept == 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("race_discriminant_moments finds no direction"),
				 errdetail("It needs two classes or more, with different means.")));
	start_map(model.classes.dims, model.classes.kept, &map);
	memcpy(map.matrix, model.classes.direction,
		   (Size) map.outputs * map.dims * sizeof(double));
	apply_slopes(&model.likely[0], &map);
	PG_RETURN_DATUM(race_transform_of(fcinfo, &map,
									  mean_of_records(&model.likely[0], model.classes.all)));
}
