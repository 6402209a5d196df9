/*
 * maps.c
 *		Maps of records that public rows suggest
 */
#include "postgres.h"

#include <float.h>
#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "utils/array.h"
#include "utils/lsyscache.h"

#include "../core/core.h"
#include "classify.h"
#include "maps.h"
#include "moments_psd.h"

/*
 * What transforms are learned from.
 *
 * Means and products are updated vector by vector (Welford 1962): nothing large is subtracted.  Products are pooled, because every
 * transform here takes the classes to be spread alike; the scatter of all vectors is that
 * within classes and that of their means.
 *
 * A label is known by 64 bits of its text, so the state has a fixed size for each class.
 */

/* What a transition keeps between calls */
typedef struct StepSite
{
	RaceArrayReader reader;
	FmgrInfo	label;			/* output of its type */
	double		x[RACE_SCATTER_DIMS];	/* the vector that was read last */
} StepSite;

/* ------------------------------------------------------------------ states */

RaceScatter *
race_scatter_create(uint32 dims, MemoryContext context)
{
	RaceScatter *scatter = MemoryContextAllocZero(context, sizeof(RaceScatter));

	scatter->dims = dims;
	scatter->capacity = 2;
	scatter->classes = MemoryContextAlloc(context, scatter->capacity * sizeof(RaceScatterClass));
	scatter->means = MemoryContextAlloc(context, scatter->capacity * dims * sizeof(double));
	scatter->products = MemoryContextAllocZero(context, RaceScatterProducts(dims) * sizeof(double));
	return scatter;
}

/* The number of the class with this key; a new one has no vectors, and mean 0. */
static uint32
find_class(RaceScatter *scatter, uint64 key)
{
	uint32		i;

	for (i = 0; i < scatter->n_classes; i++)
		if (scatter->classes[i].key == key)
			return i;
	if (i == RACE_SCATTER_CLASSES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a transform is learned from vectors of up to %d labels",
						RACE_SCATTER_CLASSES)));
	if (i == scatter->capacity)
	{
		scatter->capacity *= 2;
		scatter->classes = repalloc(scatter->classes,
									scatter->capacity * sizeof(RaceScatterClass));
		scatter->means = repalloc(scatter->means, (Size) scatter->capacity *
								  scatter->dims * sizeof(double));
	}
	scatter->n_classes++;
	scatter->classes[i].key = key;
	scatter->classes[i].n = 0;
	memset(scatter->means + (Size) i * scatter->dims, 0, scatter->dims * sizeof(double));
	return i;
}

void
race_scatter_add(RaceScatter *scatter, uint64 key, double n, const double *mean)
{
	uint32		c = find_class(scatter, key);
	double		before = scatter->classes[c].n;
	double		all = before + n;
	double		weight = before * (n / all);
	double	   *to = scatter->means + (Size) c * scatter->dims;
	double	   *sum = scatter->products;
	double		deviation[RACE_SCATTER_DIMS];

	scatter->classes[c].n = all;
	for (uint32 i = 0; i < scatter->dims; i++)
	{
		deviation[i] = mean[i] - to[i];
		to[i] += deviation[i] * (n / all);
	}
	if (before == 0)
		return;
	for (uint32 i = 0; i < scatter->dims; i++)
		for (uint32 j = 0; j <= i; j++)
			*sum++ += weight * deviation[i] * deviation[j];
}

/* -------------------------------------------------------------- transitions */

static StepSite *
step_site(FunctionCallInfo fcinfo, int x, int label)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;

	if (flinfo->fn_extra == NULL)
	{
		StepSite   *site = MemoryContextAllocZero(flinfo->fn_mcxt, sizeof(StepSite));
		Oid			output;
		bool		is_varlena;

		race_vector_prepare(&site->reader, race_argument_type(flinfo, x), flinfo->fn_mcxt);
		if (label != 0)
		{
			getTypeOutputInfo(race_argument_type(flinfo, label), &output, &is_varlena);
			fmgr_info_cxt(output, &site->label, flinfo->fn_mcxt);
		}
		flinfo->fn_extra = site;
	}
	return (StepSite *) flinfo->fn_extra;
}

/*
 * Read a vector.  It must have `dims` dimensions, or any number if that is 0.  Returns how
 * many it has.
 */
static uint32
read_vector(StepSite *site, Datum value, uint32 dims)
{
	RaceElements elements;

	race_array_open(&site->reader, value, &elements, false, false);
	race_check_length(RACE_RECORD_VECTOR, elements.n, dims, false);
	if (elements.n > RACE_SCATTER_DIMS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a transform is learned from vectors of up to %d dimensions",
						RACE_SCATTER_DIMS)));
	race_vector_convert(&site->reader, &elements, NULL, site->x, false);
	return elements.n;
}

static uint64
label_key(FunctionCallInfo fcinfo, StepSite *site, int label)
{
	char	   *text;

	if (label == 0)
		return 0;
	text = OutputFunctionCall(&site->label, PG_GETARG_DATUM(label));
	return race_element_of_bytes(0, text, strlen(text));
}

int
race_scatter_label(FunctionCallInfo fcinfo, int x)
{
	if (PG_NARGS() > x + 2)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("a vector can be followed by its label alone")));
	return PG_NARGS() > x + 1 ? x + 1 : 0;
}

const double *
race_scatter_read(FunctionCallInfo fcinfo, int x, int label, uint32 dims, uint32 *found,
				  uint64 *key)
{
	StepSite   *site = step_site(fcinfo, x, label);

	if (PG_ARGISNULL(x) || (label != 0 && PG_ARGISNULL(label)))
		return NULL;
	*found = read_vector(site, PG_GETARG_DATUM(x), dims);
	*key = label_key(fcinfo, site, label);
	return site->x;
}

/*
 * A transition: add argument `x`, a vector, to the state in argument 0, to the class of
 * argument `label` (0: there are no labels).  NULLs are left out.
 */
static Datum
add_vector(FunctionCallInfo fcinfo, int x, int label)
{
	RaceScatter *scatter = PG_ARGISNULL(0) ? NULL : (RaceScatter *) PG_GETARG_POINTER(0);
	MemoryContext context = race_aggregate_context(fcinfo, "race_whiten or race_discriminant");
	uint32		dims;
	uint64		key;
	const double *vector = race_scatter_read(fcinfo, x, label, scatter == NULL ? 0 : scatter->dims,
											 &dims, &key);

	if (vector != NULL && scatter == NULL)
		scatter = race_scatter_create(dims, context);
	if (vector != NULL)
		race_scatter_add(scatter, key, 1, vector);
	if (scatter == NULL)
		PG_RETURN_NULL();
	PG_RETURN_POINTER(scatter);
}

/* ----------------------------------------------------------------- answers */

static const RaceScatter *
state_arg(FunctionCallInfo fcinfo)
{
	return PG_ARGISNULL(0) ? NULL : (const RaceScatter *) PG_GETARG_POINTER(0);
}

static double
all_vectors(const RaceScatter *scatter)
{
	double		n = 0;

	for (uint32 i = 0; i < scatter->n_classes; i++)
		n += scatter->classes[i].n;
	return n;
}

static const double *
mean_of_class(const RaceScatter *scatter, uint32 i)
{
	return scatter->means + (Size) i * scatter->dims;
}

static void
mean_of_all(const RaceScatter *scatter, double *mean)
{
	double		n = all_vectors(scatter);

	memset(mean, 0, scatter->dims * sizeof(double));
	for (uint32 c = 0; c < scatter->n_classes; c++)
		for (uint32 i = 0; i < scatter->dims; i++)
			mean[i] += mean_of_class(scatter, c)[i] * (scatter->classes[c].n / n);
}

double
race_scatter_freedom(const RaceScatter *scatter)
{
	return all_vectors(scatter) - scatter->n_classes;
}

static double
product_of(const RaceScatter *scatter, uint32 i, uint32 j)
{
	return scatter->products[(Size) Max(i, j) * (Max(i, j) + 1) / 2 + Min(i, j)];
}

double
race_scatter_deviation(const RaceScatter *scatter, uint32 i)
{
	return sqrt(product_of(scatter, i, i) / race_scatter_freedom(scatter));
}

/*
 * race_whiten: a transform that makes the columns of a table alike.
 *
 * Let o be the mean of the vectors, and C = L L' their covariance.  With M = L^-1,
 * M (x - o) has mean 0 and covariance 1.  So distances are in standard deviations, and
 * what columns share counts once (Mahalanobis distance).  With labels, C is the covariance
 * within classes.
 *
 * C is estimated from standard deviations and a shrunken correlation matrix (factor.h).  A
 * column that is constant, or a linear combination of columns before it, is left out: M has
 * no row for it, and its column of M is 0.  Vectors that obey the same relations keep their
 * Mahalanobis distances, and others are not told apart by what the public rows do not show.
 */

PG_FUNCTION_INFO_V1(race_whiten_step);
PG_FUNCTION_INFO_V1(race_whiten_final);

/*
 * A standard deviation below this share of the mean is that of rounding errors: the column
 * is constant.
 */
#define LEAST_DEVIATION		(16 * DBL_EPSILON)

/* ----------------------------------------------------------------- columns */

static void
list_kept(RaceColumns *columns, uint32 dims)
{
	columns->n = 0;
	for (uint32 i = 0; i < dims; i++)
		if (columns->keep[i])
			columns->kept[columns->n++] = i;
}

/* The standard deviations within classes; constant columns are not kept. */
static void
find_deviations(const RaceScatter *scatter, RaceColumns *columns)
{
	for (uint32 i = 0; i < scatter->dims; i++)
	{
		double		deviation = race_scatter_deviation(scatter, i);
		double		largest = 0;

		for (uint32 c = 0; c < scatter->n_classes; c++)
			largest = fmax(largest, fabs(mean_of_class(scatter, c)[i]));
		if (!isfinite(deviation) || !isfinite(largest))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("the numbers of column %u are too large for a transform", i + 1),
					 errdetail("Their variance overflows.")));
		columns->keep[i] = deviation > LEAST_DEVIATION * largest;
		columns->deviation[i] = columns->keep[i] ? deviation : 0;
	}
	list_kept(columns, scatter->dims);
}

/* The correlations of columns that are kept, [n][n], palloc'd */
static double *
correlations(const RaceScatter *scatter, const RaceColumns *columns)
{
	double		freedom = race_scatter_freedom(scatter);
	uint32		n = columns->n;
	double	   *r = palloc((Size) n * n * sizeof(double));

	for (uint32 i = 0; i < n; i++)
		for (uint32 j = 0; j < n; j++)
		{
			uint32		a = columns->kept[i];
			uint32		b = columns->kept[j];

			/* one after the other: their product may overflow, or be 0 */
			r[(Size) i * n + j] = i == j ? 1 :
				product_of(scatter, a, b) / freedom /
				columns->deviation[a] / columns->deviation[b];
		}
	return r;
}

/* Do not keep columns that are linear combinations of others. */
static void
drop_combinations(const RaceScatter *scatter, RaceColumns *columns)
{
	double	   *r = correlations(scatter, columns);
	double	   *work = palloc(RACE_LINEAR_WORK(columns->n) * sizeof(double));
	bool		independent[RACE_SCATTER_DIMS];

	race_independent(r, columns->n, race_scatter_freedom(scatter), work, independent);
	for (uint32 i = 0; i < columns->n; i++)
		columns->keep[columns->kept[i]] = independent[i];
	list_kept(columns, scatter->dims);
	pfree(work);
	pfree(r);
}

/* ----------------------------------------------------------------- messages */

/* Append the numbers of columns that are left out, constant or other ones, if there are any. */
static void
append_left_out(StringInfo text, const char *what, const RaceColumns *columns, uint32 dims,
				bool constant)
{
	const char *separator = what;

	for (uint32 i = 0; i < dims; i++)
		if (!columns->keep[i] && (columns->deviation[i] == 0) == constant)
		{
			appendStringInfo(text, "%s%u", separator, i + 1);
			separator = ", ";
		}
	if (separator != what)
		appendStringInfoString(text, ". ");
}

static void
tell_left_out(const RaceColumns *columns, const RaceScatter *scatter, const char *aggregate)
{
	const char *constant = scatter->n_classes == 1 ? "Constant: " : "Constant within each label: ";
	StringInfoData detail;

	if (columns->n == scatter->dims)
		return;
	if (columns->n == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s finds no column that is not constant%s", aggregate,
						scatter->n_classes == 1 ? "" : " within each label")));
	initStringInfo(&detail);
	append_left_out(&detail, constant, columns, scatter->dims, true);
	append_left_out(&detail, "Linear combinations of columns before them: ", columns,
					scatter->dims, false);
	detail.data[detail.len - 1] = '\0';
	ereport(NOTICE,
			(errmsg("%s leaves columns out", aggregate),
			 errdetail_internal("%s", detail.data)));
}

/* -------------------------------------------------------------- the transform */

bool
race_whiten_columns(const RaceScatter *scatter, const RaceColumns *columns, double ridge,
					RaceWhitening *whitening)
{
	uint32		n = columns->n;
	double	   *r = correlations(scatter, columns);
	double	   *work = palloc(RACE_LINEAR_WORK(n) * sizeof(double));
	bool		found;

	for (uint32 i = 0; i < n; i++)
		r[(Size) i * n + i] += ridge;
	race_shrink(r, n, race_scatter_freedom(scatter), work);
	found = race_inverse_root(r, n);
	whitening->dims = scatter->dims;
	whitening->outputs = n;
	whitening->matrix = palloc0((Size) n * scatter->dims * sizeof(double));
	for (uint32 i = 0; i < n && found; i++)
		for (uint32 j = 0; j <= i; j++)
			whitening->matrix[(Size) i * scatter->dims + columns->kept[j]] =
				r[(Size) i * n + j] / columns->deviation[columns->kept[j]];
	pfree(work);
	pfree(r);
	return found;
}

void
race_whitening_of(const RaceScatter *scatter, const char *aggregate, RaceWhitening *whitening)
{
	RaceColumns columns;

	if (race_scatter_freedom(scatter) < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg(scatter->n_classes == 1 ? "%s needs two vectors or more" :
						"%s needs a label with two vectors or more", aggregate)));
	find_deviations(scatter, &columns);
	drop_combinations(scatter, &columns);
	tell_left_out(&columns, scatter, aggregate);
	if (!race_whiten_columns(scatter, &columns, 0, whitening))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s finds no transform: the covariance cannot be inverted", aggregate)));
}

void
race_whitening_apply(const RaceWhitening *whitening, const double *x, double *z)
{
	for (uint32 i = 0; i < whitening->outputs; i++)
	{
		const double *row = whitening->matrix + (Size) i * whitening->dims;
		double		sum = 0;

		for (uint32 j = 0; j < whitening->dims; j++)
			sum += row[j] * x[j];
		z[i] = sum;
	}
}

/* An array of numbers, in rows unless they are 0 */
static Datum
array_of(const double *x, int rows, int columns)
{
	int			n = Max(rows, 1) * columns;
	int			dims[2] = {rows, columns};
	int			lower[2] = {1, 1};
	Datum	   *numbers = palloc(n * sizeof(Datum));

	for (int i = 0; i < n; i++)
		numbers[i] = Float8GetDatum(x[i]);
	return PointerGetDatum(construct_md_array(numbers, NULL, rows == 0 ? 1 : 2, rows == 0 ? dims + 1 : dims, lower,
											  FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

Datum
race_transform_of(FunctionCallInfo fcinfo, const RaceWhitening *whitening, const double *offset)
{
	RaceResultRow row;

	race_row_start(&row, fcinfo);
	race_row_add(&row, array_of(whitening->matrix, whitening->outputs, whitening->dims));
	race_row_add(&row, array_of(offset, 0, whitening->dims));
	return race_row_datum(&row);
}

static Datum
transform_datum(FunctionCallInfo fcinfo, const RaceScatter *scatter,
					 const RaceWhitening *whitening)
{
	double		mean[RACE_SCATTER_DIMS];

	mean_of_all(scatter, mean);
	return race_transform_of(fcinfo, whitening, mean);
}

/* -------------------------------------------------------------- race_whiten */

/* Transition of race_whiten(x [, label]) */
Datum
race_whiten_step(PG_FUNCTION_ARGS)
{
	return add_vector(fcinfo, 1, race_scatter_label(fcinfo, 1));
}

/* The transform; NULL of no vectors */
Datum
race_whiten_final(PG_FUNCTION_ARGS)
{
	const RaceScatter *scatter = state_arg(fcinfo);
	RaceWhitening whitening;

	if (scatter == NULL)
		PG_RETURN_NULL();
	race_whitening_of(scatter, "race_whiten", &whitening);
	PG_RETURN_DATUM(transform_datum(fcinfo, scatter, &whitening));
}

/*
 * race_discriminant: the directions in which the means of classes lie apart.
 *
 * Vectors are whitened within classes first (maps.c).  There the means of k classes span up
 * to k - 1 directions, and the singular value decomposition of the means, each weighted by its
 * number of vectors, finds them, those that tell most first (Fisher 1936; Rao 1948).  For
 * classes that are normal and spread alike, all other directions say nothing of the class,
 * and a kernel density in so few dimensions needs far fewer records.
 */

PG_FUNCTION_INFO_V1(race_discriminant_step);
PG_FUNCTION_INFO_V1(race_discriminant_final);

uint32
race_discriminant_map(const RaceScatter *scatter, RaceWhitening *map)
{
	uint32		n = scatter->n_classes;
	uint32		dims = map->dims;
	double	   *weight = palloc(n * sizeof(double));
	double	   *mean = palloc(dims * sizeof(double));
	double	   *work = palloc(((Size) n * (map->outputs + 1) + dims) * sizeof(double));
	double	   *directions = palloc((Size) n * dims * sizeof(double));

	for (uint32 c = 0; c < n; c++)
		weight[c] = scatter->classes[c].n;
	mean_of_all(scatter, mean);
	map->outputs = race_directions_apart(scatter->means, mean, weight, n, map->matrix, map->outputs, dims, work,
										 directions);
	map->matrix = directions;
	return map->outputs;
}

/* Transition of race_discriminant(label, x), of vectors or moments */
Datum
race_discriminant_step(PG_FUNCTION_ARGS)
{
	RaceScatter *scatter = PG_ARGISNULL(0) ? NULL : (RaceScatter *) PG_GETARG_POINTER(0);
	MemoryContext context = race_aggregate_context(fcinfo, "race_discriminant");

	if (race_is_sketch_type(race_argument_type(fcinfo->flinfo, 2)))
	{
		if (scatter == NULL)
			scatter = MemoryContextAllocZero(context, sizeof(RaceScatter));
		if (!PG_ARGISNULL(1) && !PG_ARGISNULL(2))
			race_class_moments_append(&scatter->moments, PG_GETARG_DATUM(2), context);
		PG_RETURN_POINTER(scatter);
	}
	return add_vector(fcinfo, 2, 1);
}

/* The transform; NULL of no vectors */
Datum
race_discriminant_final(PG_FUNCTION_ARGS)
{
	const RaceScatter *scatter = state_arg(fcinfo);
	RaceWhitening whitening;

	if (scatter != NULL && scatter->moments != NULL)
		return race_class_moments_discriminant(fcinfo, scatter->moments);
	if (scatter == NULL || scatter->n_classes == 0)
		PG_RETURN_NULL();
	if (scatter->n_classes < 2)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("race_discriminant needs two labels or more, found one")));
	race_whitening_of(scatter, "race_discriminant", &whitening);
	if (race_discriminant_map(scatter, &whitening) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("race_discriminant finds no direction: all labels have the same mean")));
	PG_RETURN_DATUM(transform_datum(fcinfo, scatter, &whitening));
}

/*
 * race_project: what a linear map makes of a vector.
 */

PG_FUNCTION_INFO_V1(race_project);

#define MOST_OUTPUTS	1024
#define MOST_COLUMNS	1024

/* Raise 22023 unless an array of numbers has these dimensions and is finite. */
static const double *
check_array(ArrayType *array, const char *name, int ndim, int columns)
{
	const double *numbers = (const double *) ARR_DATA_PTR(array);
	bool		good = ARR_NDIM(array) == ndim && !ARR_HASNULL(array) &&
		ARR_DIMS(array)[0] <= MOST_OUTPUTS && ARR_DIMS(array)[ndim - 1] <= MOST_COLUMNS &&
		(ndim == 2 || ARR_DIMS(array)[0] == columns);

	for (int i = 0; good && i < ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)); i++)
		good = isfinite(numbers[i]);
	if (!good)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the %s must be an array of finite numbers", name),
				 errdetail(ndim == 2 ? "It needs up to %d rows, of up to %d numbers." :
						   "It needs a number for each column of the matrix.",
						   MOST_OUTPUTS, MOST_COLUMNS)));
	return numbers;
}

/*
 * race_project(x, matrix, offset).  A vector of another length or with a NULL, which is a
 * matter of data, gives NULL, so that a release leaves it out.
 */
Datum
race_project(PG_FUNCTION_ARGS)
{
	ArrayType  *x = PG_GETARG_ARRAYTYPE_P(0);
	ArrayType  *matrix = PG_GETARG_ARRAYTYPE_P(1);
	const double *row = check_array(matrix, "matrix", 2, 0);
	int			outputs = ARR_DIMS(matrix)[0];
	int			columns = ARR_DIMS(matrix)[1];
	const double *origin = check_array(PG_GETARG_ARRAYTYPE_P(2), "offset", 1, columns);
	double		features[MOST_COLUMNS];
	Datum		to[MOST_OUTPUTS];

	if (ARR_NDIM(x) != 1 || ARR_HASNULL(x) || ARR_DIMS(x)[0] != columns)
		PG_RETURN_NULL();
	for (int i = 0; i < columns; i++)
		features[i] = ((const double *) ARR_DATA_PTR(x))[i] - origin[i];
	for (int i = 0; i < outputs; i++, row += columns)
		to[i] = Float8GetDatum(race_dot(row, features, columns));
	PG_RETURN_ARRAYTYPE_P(construct_array(to, outputs, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL,
										  TYPALIGN_DOUBLE));
}
