/*
 * suggest_fitting.c
 *		Which kernels fit records, by their type and by the first of them.
 *
 * Parameters are put together as texts, since products of any kernels have one.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "lib/stringinfo.h"
#include "parser/parse_coerce.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "../lsh/kernels.h"
#include "../params/params.h"
#include "../record/record.h"
#include "suggest_fitting.h"
#include "suggest_state.h"

/* ------------------------------------------------------------- kernels */

#define CHOICES		3

static const int vector_kernels[CHOICES] = {RACE_KERNEL_L2, RACE_KERNEL_L1, RACE_KERNEL_ANGULAR};

/* sets may have elements in any number, and then they are no rows */
static const int array_kernels[CHOICES] = {RACE_KERNEL_MATCH, RACE_KERNEL_JACCARD, 0};

/* Arrays of what is no number are sets or rows; all else is taken for a vector. */
static const int *
kernels_of_type(Oid type)
{
	Oid			element = get_element_type(getBaseType(type));

	return OidIsValid(element) && TypeCategory(element) != TYPCATEGORY_NUMERIC ?
		array_kernels : vector_kernels;
}

/* What fits each column of a row, or a value by itself; returns how many there are. */
static int
kernels_of_parts(Oid type, Datum record, const int **kernels)
{
	HeapTupleHeader row;
	TupleDesc	columns;
	int			n = 0;
	int			i;

	kernels[0] = kernels_of_type(type);
	if (!type_is_rowtype(type))
		return 1;
	row = DatumGetHeapTupleHeader(record);
	columns = lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(row), HeapTupleHeaderGetTypMod(row));
	for (i = 0; i < columns->natts && n < RACE_MAX_PARTS; i++)
		if (!TupleDescAttr(columns, i)->attisdropped)
			kernels[n++] = kernels_of_type(TupleDescAttr(columns, i)->atttypid);
	ReleaseTupleDesc(columns);
	return Max(n, 1);
}

/* The product of a choice for each part, without dims; NULL if a part has no such choice */
static RaceParams *
product_of(const int **kernels, int parts, int which)
{
	StringInfoData text;
	int			i;

	initStringInfo(&text);
	for (i = 0; i < parts; i++, which /= CHOICES)
	{
		if (kernels[i][which % CHOICES] == 0)
			return NULL;
		appendStringInfo(&text, "%s%s", i > 0 ? " * " : "",
						 race_kernel_name(kernels[i][which % CHOICES]));
	}
	return race_params_parse(text.data, NULL);
}

/* The parameters with the dims of a record; NULL if it is none, where that is no error */
static RaceParams *
with_dims(const RaceParams *params, Oid type, Datum record, bool soft)
{
	RaceRecordReader reader;
	RaceRecords *records = race_records_create(params, CurrentMemoryContext);
	const RaceParams *part;
	StringInfoData text;
	int			i = 0;

	race_record_prepare(&reader, type, CurrentMemoryContext);
	race_records_reserve(records, 1);
	if (!race_record_read(&reader, params, record, records, soft))
		return NULL;
	initStringInfo(&text);
	for (part = params; part != NULL; part = race_params_next(part, params), i++)
	{
		appendStringInfo(&text, "%s%s", i > 0 ? " * " : "", race_kernel_name(part->kernel));
		if (records->parts[i].width > 0)
			appendStringInfo(&text, "(dims=%u)", records->parts[i].width);
	}
	return race_params_parse(text.data, NULL);
}

int
race_fitting_kernels(Oid type, Datum record, RaceParams **fitting)
{
	const int  *kernels[RACE_MAX_PARTS];
	int			parts = kernels_of_parts(type, record, kernels);
	int			products = (int) pow(CHOICES, parts);
	int			n = 0;
	int			i;

	for (i = 0; i < products && n < RACE_FITTING_KERNELS; i++)
	{
		RaceParams *params = product_of(kernels, parts, i);

		if (params != NULL)
			params = with_dims(params, type, record, true);
		if (params != NULL)
			fitting[n++] = params;
	}
	if (n == 0)
		fitting[n++] = with_dims(product_of(kernels, parts, 0), type, record, false);
	return n;
}

/* ------------------------------------------------------------- scales */

static void
append_numbers(StringInfo text, const char *name, const double *x, int n)
{
	int			i;

	appendStringInfo(text, ", %s={", name);
	for (i = 0; i < n; i++)
		appendStringInfo(text, i == 0 ? "%.6g" : ",%.6g", x[i]);
	appendStringInfoChar(text, '}');
}

/* The standard deviation of each column of vectors [n][dims], or 1 if it is constant */
static void
find_deviations(const double *x, int n, int dims, double *deviation)
{
	int			i;
	int			j;

	for (j = 0; j < dims; j++)
	{
		double		mean = 0;
		double		squares = 0;

		for (i = 0; i < n; i++)
			mean += x[(Size) i * dims + j] / n;
		for (i = 0; i < n; i++)
			squares += pow(x[(Size) i * dims + j] - mean, 2) / n;
		deviation[j] = squares > 0 && isfinite(squares) ? sqrt(squares) : 1;
	}
}

/*
 * The scales and bounds of a part.  Two normal vectors in d columns of variance 1 have a distance of
 * about the root of 2 d, and one of 2 d / root pi along axes.
 */
static void
append_scales(StringInfo text, const RaceParams *part, const RaceColumn *columns, int n)
{
	int			dims = part->dims;
	double	   *x = palloc((Size) (n + 3) * dims * sizeof(double));
	double	   *deviation = x + (Size) n * dims;
	double	   *lower = deviation + dims;
	double	   *upper = lower + dims;
	int			i;

	for (i = 0; i < n; i++)
		memcpy(x + (Size) i * dims, columns[i * RACE_MAX_PARTS].numbers, dims * sizeof(double));
	for (i = 0; i < n * dims; i++)	/* 500 times 16000 at most */
		race_suggest_check_number(x[i]);
	if ((race_kernel_type(part->kernel)->takes & RACE_TAKES_BANDWIDTH) != 0)
	{
		find_deviations(x, n, dims, deviation);
		appendStringInfo(text, ", bandwidth=%.6g", part->kernel == RACE_KERNEL_L1 ?
						 2 * dims / sqrt(RACE_PI) : sqrt(2 * dims));
		append_numbers(text, "bandwidths", deviation, dims);
	}
	race_suggest_box(x, n, dims, lower, upper);
	append_numbers(text, "lower", lower, dims);
	append_numbers(text, "upper", upper, dims);
	pfree(x);
}

RaceParams *
race_fitting_scaled(const RaceParams *params, const RaceColumn *columns, int n)
{
	const RaceParams *part;
	StringInfoData text;
	int			i = 0;

	initStringInfo(&text);
	for (part = params; part != NULL; part = race_params_next(part, params), i++)
	{
		appendStringInfo(&text, "%s%s", i > 0 ? " * " : "", race_kernel_name(part->kernel));
		if (part->dims == 0)
			continue;
		appendStringInfo(&text, "(dims=%u", part->dims);
		if (race_record_kind(part) == RACE_RECORD_VECTOR)
			append_scales(&text, part, columns + i, n);
		appendStringInfoChar(&text, ')');
	}
	return race_params_parse(text.data, NULL);
}
