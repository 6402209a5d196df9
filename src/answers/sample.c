/*
 * sample.c
 *		Records drawn from the model of a sketch, and quantiles of one number: race_sample,
 *		race_quantile
 */
#include "postgres.h"

#include <ctype.h>
#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "privacy/counters.h"
#include "hash/column.h"
#include "hash/kernel.h"
#include "hash/kind.h"
#include "hash/model_rows.h"
#include "hash/params.h"
#include "hash/philox.h"
#include "hash/quantiles.h"
#include "hash/table.h"
#include "sketch/result.h"
#include "sketch/settings.h"
#include "sketch/sketch.h"
#include "sketch/sketch_format.h"
#include "answers/classify.h"
#include "answers/evaluator.h"
#include "answers/fit.h"
#include "answers/radial.h"
#include "answers/sample.h"

/* --------------------------------------------- the model of a sketch, as a distribution */

void
race_fitted_open(Datum sketch, RaceFitted *fitted)
{
	RaceView *view = &fitted->view;
	RaceFitRequest request = {0};
	uint64 n;

	race_sketch_view(sketch, view);
	race_check_askable(&view->header->noise);
	if (view->model == NULL && !race_summary_kind(view->params)->hashed &&
		race_fit_bounds(view->params, NULL, NULL, &request))
		race_sketch_view(PointerGetDatum(race_fit_box(view, &request)), view);
	race_check_fitted(view);
	race_check_model(view);
	race_model_columns(view->model, view->params, fitted->columns);
	n = view->model->points;
	fitted->passed = palloc(n * sizeof(double));
	fitted->total = 0;
	for (uint64 i = 0; i < n; i++)
		fitted->passed[i] = fitted->total += race_model_weight(view->model, i);
	if (fitted->total <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED), errmsg("the points of a model weigh nothing")));
}

const double *
race_fitted_vector(const RaceFitted *fitted, int part, uint64 point)
{
	return fitted->columns[part].numbers + point * fitted->columns[part].width;
}

/* --------------------------------------- the distribution of one number of the records */

/*
 * The distribution of one number of the records, from the model of a sketch.
 *
 * The points have values of this number.  Half of the weight of a value is spread evenly up
 * to the middle between it and the next value above, the other half to the next below; but
 * not farther than half a bandwidth, and at both ends as far as on the other side, within the
 * bounds.  So the distribution function is continuous.
 */

/* The distribution function is linear between knots. */
typedef struct Knot
{
	double x;
	double share; /* share of all records below x */
} Knot;

typedef struct Marginal
{
	uint64 n;
	Knot knots[FLEXIBLE_ARRAY_MEMBER];
} Marginal;

typedef struct SampleValue
{
	double x;
	double weight;
} SampleValue;

static int
compare_values(const void *a, const void *b)
{
	double x = ((const SampleValue *) a)->x;
	double y = ((const SampleValue *) b)->x;

	return (x > y) - (x < y);
}

static Marginal *
create_marginal(const RaceFitted *fitted, const RaceColumnPlace *place)
{
	const RaceParams *part = place->params;
	const double *factors = race_array(part, RACE_ARRAY_BANDWIDTHS);
	uint64 points = fitted->view.model->points;
	double lower = race_column_bound(place, RACE_ARRAY_LOWER, -INFINITY);
	double upper = race_column_bound(place, RACE_ARRAY_UPPER, INFINITY);
	/* farthest that a value is spread: half a bandwidth, where there is one */
	double reach = INFINITY;
	SampleValue *values = palloc(points * sizeof(SampleValue));
	uint64 n = 1;
	Marginal *marginal;
	Knot *knot;
	double passed = 0;

	if (race_array(part, RACE_ARRAY_MATRIX) == NULL &&
		race_kernel_type(part->kernel)->of_distance != NULL)
		reach = part->bandwidth * (factors == NULL ? 1 : factors[place->element]) / part->power / 2;
	for (uint64 i = 0; i < points; i++)
		values[i] = (SampleValue){race_fitted_vector(fitted, place->part, i)[place->element],
								  race_model_weight(fitted->view.model, i)};
	qsort(values, points, sizeof(SampleValue), compare_values);
	for (uint64 i = 1; i < points; i++)
		if (values[i].x == values[n - 1].x)
			values[n - 1].weight += values[i].weight;
		else
			values[n++] = values[i];
	marginal = palloc(offsetof(Marginal, knots) + 3 * n * sizeof(Knot));
	knot = marginal->knots;

	for (uint64 i = 0; i < n; i++)
	{
		double x = values[i].x;
		/* halves before they are subtracted do not overflow */
		double below = i == 0 ? 0 : x / 2 - values[i - 1].x / 2;
		double above = i == n - 1 ? below : values[i + 1].x / 2 - x / 2;

		if (i == 0)
			below = above;
		knot->x = Min(Max(x - Min(below, reach), lower), x);
		(knot++)->share = passed / fitted->total;
		knot->x = x;
		(knot++)->share = (passed + values[i].weight / 2) / fitted->total;
		passed += values[i].weight;
		knot->x = Max(Min(x + Min(above, reach), upper), x);
		(knot++)->share = passed / fitted->total;
	}
	marginal->n = 3 * n;
	pfree(values);
	return marginal;
}

/* Return the value below which a share p of all records lies, 0 <= p <= 1. */
static double
quantile_of(const Marginal *marginal, double p)
{
	const Knot *knots = marginal->knots;
	uint64 from = 1;
	uint64 to = marginal->n - 1;
	const Knot *below;
	const Knot *above;
	double t;

	/* the first that at least a share p lies below */
	while (from < to)
	{
		uint64 middle = (from + to) / 2;

		if (knots[middle].share >= p)
			to = middle;
		else
			from = middle + 1;
	}
	below = &knots[from - 1];
	above = &knots[from];
	t = above->share > below->share ? (p - below->share) / (above->share - below->share) : 1;
	t = Min(Max(t, 0), 1);
	/* not beyond them by rounding */
	return Min(Max(below->x * (1 - t) + above->x * t, below->x), above->x);
}

/* ------------------------------------------- records drawn from the model of a sketch */

/*
 * A point is drawn by weight, evenly: by multiples of the golden ratio, shuffled.  Then its
 * vectors are moved, because points are a discretization: on average by half the distance to
 * its nearest points, but not by more than half a bandwidth.  A move is a random mix of the
 * differences to these points, so that it goes along the data, whatever the scales of columns,
 * and keeps correlations.  A vector of one number is drawn from the distribution that
 * race_quantile has.  Bounds of the parameters reflect.  Sets and categories stay.
 *
 * The same seed and number give the same record.
 */

typedef struct Drawn
{
	uint64 point;                          /* point that the record comes from */
	const double *vectors[RACE_MAX_PARTS]; /* vectors of parts; NULL for other parts */
} Drawn;

#define NEAREST 4
#define SHARE 0.5 /* part of the distance to them by which a point is moved */

/* The nearest points of a point, found when it is first drawn */
typedef struct Near
{
	bool known;
	uint32 n;
	uint32 point[NEAREST];
	double apart[NEAREST]; /* ascending; -ln k */
} Near;

typedef struct Draws
{
	const RaceFitted *fitted;
	int64 seed;
	Marginal *line;     /* quantiles of a vector of one number by itself, or NULL */
	Near *near;         /* [points]: NULL if there are no vectors */
	RaceRadial *radial; /* table of a kernel that is a function of a distance, or NULL */
	double *places;     /* [radial->dims][points] */
	double *vectors[RACE_MAX_PARTS]; /* drawn vectors */
} Draws;

static Draws *
create_draws(const RaceFitted *fitted, int64 seed)
{
	Draws *draws = palloc0(sizeof(Draws));
	const RaceParams *params = fitted->view.params;
	bool vectors = false;
	int k = 0;

	draws->fitted = fitted;
	draws->seed = seed;
	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params), k++)
		if (race_record_kind(part) == RACE_RECORD_VECTOR)
		{
			draws->vectors[k] = palloc(part->dims * sizeof(double));
			vectors = true;
		}
	if (race_model_is_of_vectors(params) && params->dims == 1)
	{
		RaceColumnPlace place = race_find_column(params, 1);

		draws->line = create_marginal(fitted, &place);
	}
	else if (vectors)
		draws->near = palloc0(fitted->view.model->points * sizeof(Near));
	if (draws->near != NULL && race_radial_can(params))
	{
		uint64 n = fitted->view.model->points;

		draws->radial = palloc(sizeof(RaceRadial));
		race_radial_init(draws->radial, params);
		draws->places = palloc_extended(n * draws->radial->dims * sizeof(double), MCXT_ALLOC_HUGE);
		for (uint64 i = 0; i < n; i++)
			race_radial_place(draws->radial, params, race_fitted_vector(fitted, 0, i),
							  draws->places + i, n);
	}
	return draws;
}

/* Return -ln k of two points: about 1 at a bandwidth's distance. */
static double
log_kernel(const RaceFitted *fitted, uint64 a, uint64 b)
{
	RaceColumn x[RACE_MAX_PARTS];
	RaceColumn y[RACE_MAX_PARTS];
	int parts = race_params_parts(fitted->view.params);

	for (int i = 0; i < parts; i++)
	{
		x[i] = race_column_from(&fitted->columns[i], a);
		y[i] = race_column_from(&fitted->columns[i], b);
	}
	return -log(race_kernel_value(fitted->view.params, x, y));
}

/* Return whether both points have the same vectors. */
static bool
same_vectors(const Draws *draws, uint64 a, uint64 b)
{
	for (int k = 0; k < RACE_MAX_PARTS; k++)
		if (draws->vectors[k] != NULL &&
			memcmp(race_fitted_vector(draws->fitted, k, a), race_fitted_vector(draws->fitted, k, b),
				   draws->fitted->columns[k].width * sizeof(double)) != 0)
			return false;
	return true;
}

/* Find near points.  Those with the same vectors lead nowhere, those without similarity too far. */
static const Near *
find_near(Draws *draws, uint64 point)
{
	Near *near = &draws->near[point];
	uint64 n = draws->fitted->view.model->points;
	uint32 k;

	if (near->known)
		return near;
	near->n = 0; /* an interrupted search may have found some */
	for (uint64 i = 0; i < n; i++)
	{
		double apart;

		if (i % 256 == 0)
			CHECK_FOR_INTERRUPTS();
		apart = draws->radial != NULL ?
			race_radial_apart(draws->radial, draws->places, n, point, i) :
			log_kernel(draws->fitted, point, i);
		if (!isfinite(apart) || (near->n == NEAREST && apart >= near->apart[NEAREST - 1]) ||
			same_vectors(draws, point, i))
			continue;
		for (k = near->n < NEAREST ? near->n++ : NEAREST - 1; k > 0 && near->apart[k - 1] > apart;
			 k--)
		{
			near->point[k] = near->point[k - 1];
			near->apart[k] = near->apart[k - 1];
		}
		near->point[k] = (uint32) i;
		near->apart[k] = apart;
	}
	for (uint64 i = 0; draws->radial != NULL && i < near->n; i++)
		near->apart[i] = -log(race_radial_value(draws->radial, near->apart[i]));
	near->known = true;
	return near;
}

/* Draw two numbers in (0, 1): number k of record i. */
static void
draw_uniforms(const Draws *draws, uint32 i, uint32 k, double u[2])
{
	uint32 counter[4] = {k, i, 0, RACE_STREAM_SAMPLE};
	uint64 bits[2];

	race_philox((uint64) draws->seed, counter, bits);
	for (int j = 0; j < 2; j++)
		u[j] = ((double) (bits[j] >> 11) + 0.5) / 9007199254740992.0; /* 2^53 */
}

#define SHUFFLED_BITS 8 /* records that are shuffled together: 2^this */
#define GOLDEN_RATIO UINT64CONST(0x9E3779B97F4A7C15) /* fraction of the golden ratio, times 2^64 */

/* Return random bits for record i that are independent of draw_uniforms(). */
static uint64
bits_of(const Draws *draws, uint32 i, uint32 purpose)
{
	uint32 counter[4] = {i, 0, purpose, RACE_STREAM_SAMPLE};
	uint64 bits[2];

	race_philox((uint64) draws->seed, counter, bits);
	return bits[0];
}

/* Return the number of record i in a random order. */
static uint32
shuffled_number(const Draws *draws, uint32 i)
{
	const uint32 mask = (1 << SHUFFLED_BITS) - 1;
	uint64 keys = bits_of(draws, i >> SHUFFLED_BITS, 1);
	uint32 x = i & mask;

	/* each round has an inverse: an odd factor, a term, and a shift */
	for (; keys != 0; keys >>= 2 * SHUFFLED_BITS)
	{
		x = (x * ((uint32) keys | 1) + (uint32) (keys >> SHUFFLED_BITS)) & mask;
		x ^= x >> SHUFFLED_BITS / 2;
	}
	return (i & ~mask) | x;
}

/* Reflect numbers at bounds, which may be missing or infinite. */
static void
reflect_at_bounds(const RaceParams *part, double *x)
{
	const double *lower = race_array(part, RACE_ARRAY_LOWER);
	const double *upper = race_array(part, RACE_ARRAY_UPPER);

	for (uint32 i = 0; i < part->dims; i++)
		if (lower != NULL && x[i] < lower[i])
			x[i] = 2 * lower[i] - x[i];
		else if (upper != NULL && x[i] > upper[i])
			x[i] = 2 * upper[i] - x[i];
	race_vector_clip(part, x, part->dims);
}

/*
 * Draw record i.  Its point is chosen by a number in (0, 1): multiples of the golden ratio, modulo
 * 1, are spread evenly however many there are, so that points are drawn as often as their weight
 * says, but for far less than draws at random miss it by.  They are shuffled, so that those of two
 * sketches can be put side by side.
 */
static void
draw_record(Draws *draws, uint32 i, Drawn *drawn)
{
	const RaceFitted *fitted = draws->fitted;
	const RaceParams *params = fitted->view.params;
	uint64 bits = bits_of(draws, 0, 2) + shuffled_number(draws, i) * GOLDEN_RATIO;
	double place = ((double) (bits >> 11) + 0.5) / 9007199254740992.0; /* 2^53 */
	uint64 to = fitted->view.model->points - 1;
	/* shares of the difference to the nearest points by which the record is moved */
	double shares[NEAREST];
	double u[2];
	const Near *near;
	int k = 0;

	/* the first point up to which weights together are above */
	drawn->point = 0;
	while (drawn->point < to)
	{
		uint64 middle = (drawn->point + to) / 2;

		if (fitted->passed[middle] > place * fitted->total)
			to = middle;
		else
			drawn->point = middle + 1;
	}
	memcpy(drawn->vectors, draws->vectors, sizeof(drawn->vectors));
	if (draws->line != NULL)
		draws->vectors[0][0] = quantile_of(draws->line, place);
	if (draws->near == NULL)
		return;
	near = find_near(draws, drawn->point);
	for (uint32 j = 0; j < near->n; j++)
	{
		if (j % 2 == 0)
			draw_uniforms(draws, i, j / 2 + 1, u);
		shares[j] = race_inverse_normal(u[j % 2]) * SHARE / sqrt(near->n) / Max(near->apart[j], 1);
	}
	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params), k++)
	{
		double *x = draws->vectors[k];
		const double *from;

		if (x == NULL)
			continue;
		from = race_fitted_vector(fitted, k, drawn->point);
		memcpy(x, from, part->dims * sizeof(double));
		for (uint32 j = 0; j < near->n; j++)
		{
			const double *other = race_fitted_vector(fitted, k, near->point[j]);

			for (uint32 e = 0; e < part->dims; e++)
				x[e] += shares[j] * (other[e] - from[e]);
		}
		reflect_at_bounds(part, x);
	}
}

/* ----------------------------------------------------------- drawn records as text */

/*
 * Drawn records as text, and the values that are in them.  A model keeps points that are not
 * vectors by themselves as PostgreSQL wrote them.
 */

static char *
number_text(double x, bool whole)
{
	return whole ? psprintf("%.0f", rint(x)) : float8out_internal(x);
}

static char *
vector_text(const double *x, uint32 n, bool whole)
{
	StringInfoData text;

	initStringInfo(&text);
	for (uint32 i = 0; i < n; i++)
	{
		char *number = number_text(x[i], whole);

		appendStringInfo(&text, "%c%s", i == 0 ? '{' : ',', number);
		pfree(number);
	}
	appendStringInfoChar(&text, '}');
	return text.data;
}

/* Return a row type of n texts. */
static TupleDesc
texts_of_parts(int n)
{
	TupleDesc desc = CreateTemplateTupleDesc(n);

	for (int i = 0; i < n; i++)
		TupleDescInitEntry(desc, i + 1, NULL, TEXTOID, -1, 0);
	return BlessTupleDesc(desc);
}

/* Return the texts of the parts of a point. */
static char **
point_texts(const RaceFitted *fitted, uint64 point)
{
	int n = race_params_parts(fitted->view.params);
	char **texts = palloc(n * sizeof(char *));
	Size length;
	const char *stored = race_model_text(fitted->view.model, fitted->view.params, point, &length);
	TupleDesc desc;
	HeapTupleData tuple;
	Datum values[RACE_MAX_PARTS];
	bool nulls[RACE_MAX_PARTS];

	texts[0] = pnstrdup(stored, length);
	if (n == 1)
		return texts;
	desc = texts_of_parts(n);
	tuple.t_data = DatumGetHeapTupleHeader(OidFunctionCall3(F_RECORD_IN, CStringGetDatum(texts[0]),
															ObjectIdGetDatum(RECORDOID),
															Int32GetDatum(desc->tdtypmod)));
	tuple.t_len = HeapTupleHeaderGetDatumLength(tuple.t_data);
	heap_deform_tuple(&tuple, desc, values, nulls);
	for (int i = 0; i < n; i++)
		texts[i] = nulls[i] ? pstrdup("") : TextDatumGetCString(values[i]);
	return texts;
}

/* Return the texts of the n values of an array; NULL for those that are missing. */
static char **
array_texts(char *array, uint32 n)
{
	Datum datum = OidInputFunctionCall(F_ARRAY_IN, array, TEXTOID, -1);
	char **values = palloc(n * sizeof(char *));
	Datum *elements;
	bool *nulls;
	int found;

	deconstruct_array(DatumGetArrayTypeP(datum), TEXTOID, -1, false, TYPALIGN_INT, &elements,
					  &nulls, &found);
	if ((uint32) found != n)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("the text of a point of a model does not fit its parameters")));
	for (uint32 i = 0; i < n; i++)
		values[i] = nulls[i] ? NULL : TextDatumGetCString(elements[i]);
	return values;
}

static char *
drawn_text(const RaceFitted *fitted, const Drawn *drawn)
{
	int n = race_params_parts(fitted->view.params);
	char **texts = point_texts(fitted, drawn->point);
	Datum values[RACE_MAX_PARTS];
	bool nulls[RACE_MAX_PARTS] = {false};

	if (n == 1)
		return texts[0];
	for (int k = 0; k < n; k++)
		values[k] = CStringGetTextDatum(
			drawn->vectors[k] == NULL ?
				texts[k] :
				vector_text(drawn->vectors[k], fitted->columns[k].width, false));
	return OidOutputFunctionCall(
		F_RECORD_OUT, HeapTupleGetDatum(heap_form_tuple(texts_of_parts(n), values, nulls)));
}

/* ------------------------------------------------------- drawn records as rows of a table */

/*
 * The values of a record fill the columns in order: a column of an array type takes a whole
 * part of the record, any other column one number of a vector, one category, or a whole set.
 * They go through the input functions of the types; numbers for integers are rounded.
 * Columns that are left keep what they have in a given row, or are NULL.
 */

/* What a column takes of a record: an element of a part, or all of it */
typedef struct Column
{
	int part; /* -1: the column is left */
	uint32 element;
	bool whole;
	bool integers; /* whether the type is of integers, or an array of them */
} Column;

/* The texts of the parts of a point that are no vectors */
typedef struct Texts
{
	char **parts; /* NULL until they are needed */
	char **elements[RACE_MAX_PARTS];
} Texts;

typedef struct Fill
{
	const RaceFitted *fitted;
	MemoryContext context;
	AttInMetadata *input;
	Column *columns; /* [natts] */
	char **values;   /* [natts]; those of columns that are left stay */
	Texts *texts;    /* [points] */
} Fill;

/* Assign to each column its part of the record. */
static void
assign_columns(Fill *fill, const RaceParams *params)
{
	TupleDesc desc = fill->input->tupdesc;
	const RaceParams *part = params;
	uint32 element = 0;
	int k = 0;
	int n = 0;

	for (int i = 0; i < desc->natts; i++)
	{
		Column *column = &fill->columns[i];
		Oid type;
		Oid of_element;
		Oid number;

		column->part = -1;
		if (TupleDescAttr(desc, i)->attisdropped)
			continue;
		n++;
		if (part == NULL)
			continue;
		type = getBaseType(TupleDescAttr(desc, i)->atttypid);
		of_element = get_element_type(type);
		column->part = k;
		column->element = element++;
		number = OidIsValid(of_element) ? getBaseType(of_element) : type;
		column->integers = number == INT2OID || number == INT4OID || number == INT8OID;
		column->whole = (OidIsValid(of_element) && column->element == 0) ||
			race_record_kind(part) == RACE_RECORD_SET;
		if (column->whole || element == race_part_elements(part))
		{
			part = race_params_next(part, params);
			element = 0;
			k++;
		}
	}
	if (part != NULL)
		ereport(
			ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("the row type has too few columns"),
			 errdetail("It has %d, and records have %u values.", n, race_params_columns(params)),
			 errhint(
				 "Values fill the columns in order; a column of an array type takes a whole vector, set or row of categories.")));
}

static Fill *
create_fill(TupleDesc desc, HeapTupleHeader base, const RaceFitted *fitted)
{
	Fill *fill = palloc0(sizeof(Fill));
	Datum *values = palloc(desc->natts * sizeof(Datum));
	bool *nulls = palloc(desc->natts * sizeof(bool));
	HeapTupleData tuple = {.t_data = base};

	fill->fitted = fitted;
	fill->context = CurrentMemoryContext;
	fill->input = TupleDescGetAttInMetadata(desc);
	fill->columns = palloc0(desc->natts * sizeof(Column));
	fill->values = palloc0(desc->natts * sizeof(char *));
	fill->texts = palloc0(fitted->view.model->points * sizeof(Texts));
	assign_columns(fill, fitted->view.params);
	if (base == NULL)
		return fill;
	/* columns that are left get the texts of those of the row */
	tuple.t_len = HeapTupleHeaderGetDatumLength(base);
	heap_deform_tuple(&tuple, desc, values, nulls);
	for (int i = 0; i < desc->natts; i++)
		if (!nulls[i] && fill->columns[i].part < 0)
		{
			Oid output;
			bool is_varlena;

			getTypeOutputInfo(TupleDescAttr(desc, i)->atttypid, &output, &is_varlena);
			fill->values[i] = OidOutputFunctionCall(output, values[i]);
		}
	return fill;
}

/*
 * Return the text of a category, a row of them, or a set, kept for the next record of the point.  A
 * missing category is NULL.
 */
static char *
text_of(Fill *fill, const Column *column, uint64 point)
{
	Texts *texts = &fill->texts[point];
	MemoryContext old = MemoryContextSwitchTo(fill->context);

	if (texts->parts == NULL)
		texts->parts = point_texts(fill->fitted, point);
	if (!column->whole && texts->elements[column->part] == NULL)
		texts->elements[column->part] =
			array_texts(texts->parts[column->part], fill->fitted->columns[column->part].width);
	MemoryContextSwitchTo(old);
	return column->whole ? texts->parts[column->part] :
						   texts->elements[column->part][column->element];
}

static Datum
fill_row(Fill *fill, const Drawn *drawn)
{
	for (int i = 0; i < fill->input->tupdesc->natts; i++)
	{
		const Column *column = &fill->columns[i];
		const double *vector = column->part < 0 ? NULL : drawn->vectors[column->part];

		if (vector != NULL && column->whole)
			fill->values[i] =
				vector_text(vector, fill->fitted->columns[column->part].width, column->integers);
		else if (vector != NULL)
			fill->values[i] = number_text(vector[column->element], column->integers);
		else if (column->part >= 0)
			fill->values[i] = text_of(fill, column, drawn->point);
	}
	return HeapTupleGetDatum(BuildTupleFromCStrings(fill->input, fill->values));
}

/* ------------------------------------------------------------------ race_sample */

PG_FUNCTION_INFO_V1(race_sample);
PG_FUNCTION_INFO_V1(race_sample_base);

typedef struct Sample
{
	RaceFitted fitted;
	Draws *draws;
	RaceResultRow row; /* row (x, record), if `fill` is NULL */
	Fill *fill;        /* filling of rows of a table, or NULL */
} Sample;

/* Prepare to make rows of the type of argument 0. */
static Fill *
start_fill(FunctionCallInfo fcinfo, const RaceFitted *fitted)
{
	TupleDesc desc;

	/* an anonymous row need not have the columns that the query gives it */
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE ||
		(desc->tdtypeid == RECORDOID && !PG_ARGISNULL(0)))
		ereport(
			ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("the first argument of race_sample must be of a row type"),
			 errhint(
				 "For the type of a table, pass a NULL of it, as in race_sample(NULL::patients, sketch, 1000).")));
	return create_fill(BlessTupleDesc(desc),
					   PG_ARGISNULL(0) ? NULL : DatumGetHeapTupleHeaderCopy(PG_GETARG_DATUM(0)),
					   fitted);
}

/*
 * A model that misses so much of an answer, as rows tell that it was not fitted to, draws records
 * no nearer to the truth than columns drawn by themselves.  In 4 and 8 dimensions
 * (test/bench/samples.py 4,8) records of models with a misfit of .107 to .171 were 1.04 to 3.6
 * times as far away as those, and with .031 or less at most .25 times; but one with .047 was as
 * far, and gets no warning.
 */
#define USELESS_MISFIT 0.1

/* Warn where a model is not better than independence, or where this is not known. */
static void
warn_of_model(const RaceView *view)
{
	uint32 columns = race_params_columns(view->params);

	/* of a grid nothing is said: its points follow all nodes */
	if (!race_summary_kind(view->params)->hashed)
		return;
	if (view->model->misfit == RACE_UNTESTED)
		ereport(NOTICE,
				(errmsg("the sketch has too few rows to tell whether its model fits"),
				 errdetail("The records drawn may be far from the truth.")));
	else if (columns > 1 && view->model->misfit >= USELESS_MISFIT)
		ereport(
			WARNING,
			(errmsg("the records drawn are no better than columns that are drawn independently"),
			 errdetail(
				 "The model misses too much of what the rows of the sketch say: there is too much noise for %u columns.",
				 columns),
			 errhint(
				 "Release the columns with race_release and draw by race_synthesize; or take fewer columns or a larger epsilon.")));
}

/* Read the arguments sketch, n and seed, after a row if there are four. */
static void
start_sample(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	int arg = PG_NARGS() - 3;
	Sample *sample;
	int64 seed;
	int32 n;

	if (PG_ARGISNULL(arg) || PG_ARGISNULL(arg + 1))
		return;
	n = PG_GETARG_INT32(arg + 1);
	if (n < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("n must not be negative")));
	sample = palloc0(sizeof(Sample));
	race_fitted_open(PointerGetDatum(PG_GETARG_VARLENA_P(arg)), &sample->fitted);
	warn_of_model(&sample->fitted.view);
	if (PG_ARGISNULL(arg + 2) && !pg_strong_random(&seed, sizeof(seed)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate random values")));
	sample->draws =
		create_draws(&sample->fitted, PG_ARGISNULL(arg + 2) ? seed : PG_GETARG_INT64(arg + 2));
	if (arg == 0)
		race_row_start(&sample->row, fcinfo);
	else
		sample->fill = start_fill(fcinfo, &sample->fitted);
	call->max_calls = n;
	call->user_fctx = sample;
}

static Datum
next_sample(void *state, uint64 i)
{
	Sample *sample = (Sample *) state;
	const RaceParams *params = sample->fitted.view.params;
	Drawn drawn;

	draw_record(sample->draws, (uint32) i, &drawn);
	if (sample->fill != NULL)
		return fill_row(sample->fill, &drawn);
	if (race_model_is_of_vectors(params))
	{
		race_row_add_numbers(&sample->row, drawn.vectors[0], params->dims);
		race_row_add_null(&sample->row);
	}
	else
	{
		race_row_add_null(&sample->row);
		race_row_add_text(&sample->row, drawn_text(&sample->fitted, &drawn));
	}
	return race_row_datum(&sample->row);
}

/*
 * Return the next record; no setting of the session changes how numbers are written, or read by
 * types of columns.
 */
static Datum
sample_results(FunctionCallInfo fcinfo)
{
	int level = race_settings_fix();
	Datum result = race_results(fcinfo, start_sample, next_sample);

	race_settings_restore(level);
	return result;
}

/* Implement race_sample(sketch, n, seed). */
Datum
race_sample(PG_FUNCTION_ARGS)
{
	return sample_results(fcinfo);
}

/* Implement race_sample(base, sketch, n, seed). */
Datum
race_sample_base(PG_FUNCTION_ARGS)
{
	return sample_results(fcinfo);
}

/*
 * race_quantile: quantiles of a column of the records, from the model of a sketch.
 *
 * Of a grid in one dimension the standard error is known, whatever the model is.  Records up to a
 * node are in it and in the nodes before it, and these have none beyond the next node.  Each node
 * has noise of its own, so the number of records in the first k of K nodes has k times its
 * variance; as the number of all records is known apart, k (K - k) / K times.  So where sums of
 * nodes are clearly less, or more, than the share that is asked about, the quantile is beyond, or
 * before.  A model may be as wrong as the nodes between: where records share a value, errors are
 * not normal.
 */

PG_FUNCTION_INFO_V1(race_quantile);

typedef struct Quantiles
{
	RaceFitted fitted;
	Marginal *marginal;
	RaceResultRow row;
	Datum *shares; /* p */
	bool *nulls;
	int n;
} Quantiles;

/* Standard errors on each side of a two-sided interval of 95 % */
#define MARGIN 1.96

/*
 * Return half of the width in which the quantile is, as a standard error.  It is beyond the last
 * node up to which, and up to all before, there are clearly fewer records than the share p; and
 * before the first node with clearly more.
 */
static double
quantile_error(const RaceView *view, const RaceGrid *grid, double p, double value)
{
	RaceRecordCount count = race_record_count(view, NULL);
	double unit = (double) race_record_unit(view->params);
	double node_variance = view->header->noise.counter_variance / (unit * unit);
	double nodes = (double) grid->nodes;
	double all = 0;
	double sum = 0;
	double last = 0;
	double first = 1;
	bool fewer = true;

	for (uint64 i = 0; i < grid->nodes; i++)
		all += race_counters_get(view->counters, view->width, i) / unit;
	for (uint64 i = 0; i < grid->nodes; i++)
	{
		double part = (double) (i + 1) / nodes;
		double beyond;
		double deviation = sqrt(nodes * part * (1 - part) * node_variance +
								(part - p) * (part - p) * count.variance);

		sum += race_counters_get(view->counters, view->width, i) / unit;
		beyond = sum - part * (all - count.n) - p * count.n;
		fewer = fewer && beyond < -MARGIN * deviation;
		if (fewer)
			last = (double) i;
		if (beyond <= MARGIN * deviation)
			first = (double) i + 2;
	}
	first = Min(first, nodes - 1);
	value = (value - grid->lower[0]) / grid->width[0];
	return Max(value - last, first - value) * grid->width[0] / MARGIN;
}

static void
start_quantiles(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	Quantiles *quantiles = palloc0(sizeof(Quantiles));
	RaceColumnPlace place;

	race_row_start(&quantiles->row, fcinfo);
	deconstruct_array(PG_GETARG_ARRAYTYPE_P_COPY(1), FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL,
					  TYPALIGN_DOUBLE, &quantiles->shares, &quantiles->nulls, &quantiles->n);
	for (int i = 0; i < quantiles->n; i++)
	{
		double p = DatumGetFloat8(quantiles->shares[i]);

		if (!quantiles->nulls[i] && !(p >= 0 && p <= 1))
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("percentile value %g is not between 0 and 1", p)));
	}
	race_fitted_open(PointerGetDatum(PG_GETARG_VARLENA_P(0)), &quantiles->fitted);
	place = race_find_column(quantiles->fitted.view.params, PG_GETARG_INT32(2));
	quantiles->marginal = create_marginal(&quantiles->fitted, &place);
	call->max_calls = quantiles->n;
	call->user_fctx = quantiles;
}

static Datum
quantile_datum(void *state, uint64 i)
{
	Quantiles *quantiles = (Quantiles *) state;
	bool known = !quantiles->nulls[i];
	double p = known ? DatumGetFloat8(quantiles->shares[i]) : 0;
	double value = quantile_of(quantiles->marginal, p);
	RaceGrid grid;

	race_row_add_if(&quantiles->row, known, Float8GetDatum(p));
	race_row_add_if(&quantiles->row, known, Float8GetDatum(value));
	known = known && race_grid_of(quantiles->fitted.view.params, &grid) && grid.dims == 1;
	race_row_add_if(
		&quantiles->row, known,
		Float8GetDatum(known ? quantile_error(&quantiles->fitted.view, &grid, p, value) : 0));
	return race_row_datum(&quantiles->row);
}

/* Implement race_quantile(sketch, p, column). */
Datum
race_quantile(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_quantiles, quantile_datum);
}
