/*
 * table_distribution.c
 *		The distribution of a column from private contingency tables: histograms, curves,
 *		quantiles, and the values that a record may have
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"

#include "sketch/domain.h"
#include "sketch/result.h"
#include "answers/table_answers.h"

PG_FUNCTION_INFO_V1(race_histogram_column);
PG_FUNCTION_INFO_V1(race_curve_column);
PG_FUNCTION_INFO_V1(race_quantiles_column);
PG_FUNCTION_INFO_V1(race_classify_query);

/* A column, whose ranges are counted */
typedef struct Distribution
{
	RaceOpenTables open;
	int column;
	const RaceDomain *domain;
	const double **where;
	RaceRangesRequest request;
	RaceRanges *ranges;
	uint64 n;
	RaceRange *all; /* [n], or NULL where they are computed one by one */
	double records; /* number of records, as a divisor; NaN where too little is known */
	RaceResultRow row;
} Distribution;

/* Open the column in argument 1, of records that the jsonb `where` chooses. */
static Distribution *
open_column(FunctionCallInfo fcinfo, Datum where, bool record, double confidence)
{
	Distribution *distribution = palloc0(sizeof(Distribution));

	race_row_start(&distribution->row, fcinfo);
	distribution->request.confidence = confidence;
	race_tables_open(PG_GETARG_DATUM(0), &distribution->open);
	distribution->column =
		race_tables_column(&distribution->open, text_to_cstring(PG_GETARG_TEXT_PP(1)));
	distribution->domain = &distribution->open.domains[distribution->column];
	distribution->where = race_tables_where(&distribution->open, where, record);
	return distribution;
}

/* Choose the ranges. */
static void
choose_ranges(Distribution *distribution)
{
	distribution->ranges =
		race_ranges_open(&distribution->open, distribution->column, distribution->where,
						 &distribution->request, &distribution->n);
}

/* Count the records of which densities are shares: those chosen, without NULL in a column of numbers. */
static void
count_records(Distribution *distribution)
{
	const RaceDomain *domain = distribution->domain;
	const double **weights = palloc(distribution->open.columns * sizeof(double *));
	double *numbers = palloc0(RaceDomainCells(domain) * sizeof(double));
	RaceTableAnswer answer;

	memcpy(weights, distribution->where, distribution->open.columns * sizeof(double *));
	for (uint32 i = 0; i < domain->n; i++)
		numbers[i] = 1;
	if (!domain->category && weights[distribution->column] == NULL)
		weights[distribution->column] = numbers;
	race_tables_ask(&distribution->open, weights, distribution->request.confidence, &answer);
	distribution->records =
		(answer.lower > 0 || !answer.measured) && !answer.independent && answer.count > 0 ?
		answer.count :
		NAN;
}

/* Add a density: NULL where it is not known, or no double is so large or so small. */
static void
add_density(Distribution *distribution, const RaceRange *range, bool known, double count,
			double records)
{
	/* one after the other: a share may be too small for a double */
	double density = count / records / (range->line == NULL ? range->high - range->low : 1);

	race_row_add_if(&distribution->row, known && isfinite(density) && (density != 0 || count == 0),
					Float8GetDatum(density));
}

/* ---------------------------------------------------------------- histograms */

/* Return edges, as text, in an argument of any type: an array, or *bins as one number. */
static ArrayType *
edges_arg(FunctionCallInfo fcinfo, int arg, RaceRangesRequest *request)
{
	Oid output;
	bool varlena;
	char *written;
	Oid input;
	Oid parameter;
	Datum one;

	if (PG_ARGISNULL(arg))
		return NULL;
	getTypeOutputInfo(get_fn_expr_argtype(fcinfo->flinfo, arg), &output, &varlena);
	written = OidOutputFunctionCall(output, PG_GETARG_DATUM(arg));
	if (strspn(written, " 0123456789") == strlen(written) && strlen(written) <= 5)
	{
		request->has_bins = true;
		request->bins = atoi(written);
		return NULL;
	}
	if (written[strlen(written) - 1] == '}' && (written[0] == '{' || written[0] == '['))
	{
		getTypeInputInfo(TEXTARRAYOID, &input, &parameter);
		return DatumGetArrayTypeP(OidInputFunctionCall(input, written, parameter, -1));
	}
	one = CStringGetTextDatum(written);
	return construct_array(&one, 1, TEXTOID, -1, false, TYPALIGN_INT);
}

static void
start_histogram(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	Distribution *distribution;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(3) || PG_ARGISNULL(5))
		return;
	distribution = open_column(fcinfo, PG_GETARG_DATUM(3), false, race_confidence_arg(fcinfo, 5));
	distribution->request.has_bins = !PG_ARGISNULL(4);
	distribution->request.bins = PG_ARGISNULL(4) ? 0 : PG_GETARG_INT32(4);
	distribution->request.texts = edges_arg(fcinfo, 2, &distribution->request);
	choose_ranges(distribution);
	count_records(distribution);
	call->user_fctx = distribution;
	call->max_calls = distribution->n;
}

static Datum
next_of_histogram(void *state, uint64 i)
{
	Distribution *distribution = state;
	RaceResultRow *row = &distribution->row;
	RaceRange range;

	race_range_ask(distribution->ranges, i, &range);
	race_range_add_label(row, distribution->domain, &range);
	race_row_add_if(row, range.line == NULL, Float8GetDatum(range.low));
	race_row_add_if(row, range.line == NULL, Float8GetDatum(range.high));
	race_row_add_if(row, !range.answer.independent, Float8GetDatum(range.answer.count));
	race_row_add(row, Float8GetDatum(range.answer.lower));
	race_row_add(row, Float8GetDatum(range.answer.upper));
	add_density(distribution, &range, !range.answer.independent, range.answer.count,
				distribution->records);
	race_row_add_text(row, race_tables_source(range.answer.measured, range.answer.independent));
	return race_row_datum(row);
}

/* Implement race_histogram(value, column, edges, where, bins, confidence). */
Datum
race_histogram_column(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_histogram, next_of_histogram);
}

/* -------------------------------------------------------------------- curves */

/* Return where a range is drawn: in its middle, or at its only number. */
static double
place_of_range(const RaceDomain *domain, const RaceRange *range)
{
	bool single = race_tables_last(domain, range->low, range->high) == range->low;

	return single ? range->low : race_tables_middle(range->low, range->high);
}

static void
start_curve(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	Distribution *distribution;
	double lower = PG_ARGISNULL(3) ? -INFINITY : PG_GETARG_FLOAT8(3);
	double upper = PG_ARGISNULL(4) ? INFINITY : PG_GETARG_FLOAT8(4);
	uint64 kept = 0;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(5) || PG_ARGISNULL(6))
		return;
	distribution = open_column(fcinfo, PG_GETARG_DATUM(5), false, race_confidence_arg(fcinfo, 6));
	race_tables_check_numbers(distribution->domain);
	distribution->request.has_bins = !PG_ARGISNULL(2);
	distribution->request.bins = PG_ARGISNULL(2) ? 0 : PG_GETARG_INT32(2);
	distribution->request.as_measured = true;
	choose_ranges(distribution);
	count_records(distribution);
	distribution->all = race_ranges_all(distribution->ranges, distribution->n);
	for (uint64 i = 0; i < distribution->n; i++)
	{
		double x = place_of_range(distribution->domain, &distribution->all[i]);

		if (x >= lower && x <= upper)
			distribution->all[kept++] = distribution->all[i];
	}
	call->user_fctx = distribution;
	call->max_calls = kept;
}

static Datum
next_of_curve(void *state, uint64 i)
{
	Distribution *distribution = state;
	RaceResultRow *row = &distribution->row;
	const RaceRange *range = &distribution->all[i];
	double x = place_of_range(distribution->domain, range);
	bool known = !range->answer.independent;

	race_row_add(row, Float8GetDatum(x));
	add_density(distribution, range, known, range->answer.count, distribution->records);
	add_density(distribution, range, true, range->answer.lower, distribution->records);
	add_density(distribution, range, true, range->answer.upper, distribution->records);
	add_density(distribution, range, known, range->answer.count, 1);
	race_row_add_text(row, race_domain_number_text(distribution->domain, x));
	return race_row_datum(row);
}

/* Implement race_curve(value, column, steps, lower, upper, where, confidence). */
Datum
race_curve_column(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_curve, next_of_curve);
}

/* ----------------------------------------------------------------- quantiles */

typedef struct Quantiles
{
	Distribution *distribution;
	double *count; /* [n]: records below each upper edge, which ascend */
	Datum *p;
	bool *nulls;
} Quantiles;

/* Take noise out of the order: counts of records below edges ascend. */
static double *
order_counts(const Distribution *distribution)
{
	const RaceRange *all = distribution->all;
	uint64 n = distribution->n;
	double *count = palloc_extended(n * sizeof(double), MCXT_ALLOC_HUGE);
	double most = -INFINITY;
	double least = INFINITY;

	for (uint64 i = 0; i < n; i++)
	{
		if (!all[i].answer.independent)
			most = Max(most, all[i].answer.count);
		count[i] = most;
	}
	for (uint64 i = n; i-- > 0;)
	{
		if (!all[i].answer.independent)
			least = Min(least, all[i].answer.count);
		count[i] = (count[i] + least) / 2;
	}
	return count;
}

static void
start_quantiles(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	Quantiles *quantiles = palloc0(sizeof(Quantiles));
	Distribution *distribution;
	int n;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2) || PG_ARGISNULL(3) || PG_ARGISNULL(4))
		return;
	distribution = open_column(fcinfo, PG_GETARG_DATUM(3), false, race_confidence_arg(fcinfo, 4));
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(2), FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL,
					  TYPALIGN_DOUBLE, &quantiles->p, &quantiles->nulls, &n);
	for (int i = 0; i < n; i++)
		if (!quantiles->nulls[i] &&
			!(DatumGetFloat8(quantiles->p[i]) >= 0 && DatumGetFloat8(quantiles->p[i]) <= 1))
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("p must be numbers between 0 and 1"), errhint("The median is 0.5.")));
	distribution->request.as_measured = true;
	distribution->request.below = true;
	choose_ranges(distribution);
	distribution->all = race_ranges_all(distribution->ranges, distribution->n);
	quantiles->distribution = distribution;
	quantiles->count = order_counts(distribution);
	call->user_fctx = quantiles;
	call->max_calls = n;
}

/*
 * Return the quantile in the first range in which counts rise, up to the share p; NaN where they do
 * not, as there is nothing to divide.
 */
static double
find_quantile(const Quantiles *quantiles, double p)
{
	const Distribution *distribution = quantiles->distribution;
	const RaceDomain *domain = distribution->domain;
	const RaceRange *last = &distribution->all[distribution->n - 1];
	double wanted = p * quantiles->count[distribution->n - 1];

	for (uint64 i = 0; i < distribution->n && last->answer.lower > 0; i++)
	{
		const RaceRange *range = &distribution->all[i];
		double before = i == 0 ? 0 : quantiles->count[i - 1];
		double part = (wanted - before) / (quantiles->count[i] - before);
		double x;

		if (!(quantiles->count[i] > before && quantiles->count[i] >= wanted))
			continue;
		x = range->low + (range->high - range->low) * Min(Max(part, 0), 1);
		if (domain->finest > 0)
			x = Min(race_multiple_below(domain->finest, x),
					race_tables_last(domain, range->low, range->high));
		return Min(Max(x, domain->lower), domain->upper);
	}
	return NAN;
}

/* Set the interval of a quantile: the ranges that may have it, and the quantile itself. */
static void
bound_quantile(const Quantiles *quantiles, double p, double x, double *lower, double *upper)
{
	const Distribution *distribution = quantiles->distribution;
	const RaceDomain *domain = distribution->domain;
	const RaceRange *all = distribution->all;
	const RaceRange *last = &all[distribution->n - 1];

	*lower = NAN;
	*upper = NAN;
	for (uint64 i = 0; i < distribution->n && isnan(*lower); i++)
		if (all[i].answer.upper >= p * last->answer.lower)
			*lower = all[i].low;
	for (uint64 i = 0; i < distribution->n && isnan(*upper); i++)
		if (all[i].answer.lower >= p * last->answer.upper || all[i].high >= domain->upper)
			*upper = race_tables_last(domain, all[i].low, all[i].high);
	*lower = fmin(*lower, x);
	*upper = fmax(*upper, x);
}

static Datum
next_quantile(void *state, uint64 i)
{
	Quantiles *quantiles = state;
	Distribution *distribution = quantiles->distribution;
	const RaceDomain *domain = distribution->domain;
	RaceResultRow *row = &distribution->row;
	bool given = !quantiles->nulls[i];
	double p = given ? DatumGetFloat8(quantiles->p[i]) : 0;
	double x = NAN;
	double lower = NAN;
	double upper = NAN;

	if (given)
	{
		x = find_quantile(quantiles, p);
		bound_quantile(quantiles, p, x, &lower, &upper);
	}
	race_row_add_if(row, given, Float8GetDatum(p));
	race_row_add_if(row, !isnan(x), Float8GetDatum(x));
	race_row_add_if(row, !isnan(lower), Float8GetDatum(lower));
	race_row_add_if(row, !isnan(upper), Float8GetDatum(upper));
	if (isnan(x))
		race_row_add_null(row);
	else
		race_row_add_text(row, race_domain_number_text(domain, x));
	race_tables_add_dated(row, domain, !isnan(lower), lower);
	race_tables_add_dated(row, domain, !isnan(upper), upper);
	return race_row_datum(row);
}

/* Implement race_quantiles(value, column, p, where, confidence). */
Datum
race_quantiles_column(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_quantiles, next_quantile);
}

/* ------------------------------------------------------------------- classes */

/* The ranges of a column given a record, and among all records */
typedef struct Classes
{
	Distribution *given;
	RaceRange *prior;
	int *order;        /* [n]: by probability */
	double sums[2][3]; /* sums of counts, lower and upper ends: given, and prior */
} Classes;

/* Return x / y; NaN if it is no double. */
static double
quotient(double x, double y)
{
	double result = x / y;

	return isfinite(result) ? result : NAN;
}

/* Return the probability of a range among those of a sum; NaN where too little is known. */
static double
probability_of(const Classes *classes, const RaceRange *range, int of)
{
	if (!(classes->sums[1][1] > 0) || range->answer.independent)
		return NAN;
	return quotient(range->answer.count, classes->sums[of][0]);
}

/* Order ranges by probability, those that are not known last. */
static int
compare_probabilities(const void *a, const void *b, void *arg)
{
	const Classes *classes = arg;
	int i = *(const int *) a;
	int j = *(const int *) b;
	double x = probability_of(classes, &classes->given->all[i], 0);
	double y = probability_of(classes, &classes->given->all[j], 0);

	if (isnan(x) != isnan(y))
		return isnan(x) ? 1 : -1;
	if (!isnan(x) && x != y)
		return x < y ? 1 : -1;
	return (i > j) - (i < j);
}

/* Add up the counts and ends of n ranges. */
static void
add_up(const RaceRange *all, uint64 n, double *sums)
{
	for (uint64 i = 0; i < n; i++)
	{
		sums[0] += all[i].answer.independent ? 0 : all[i].answer.count;
		sums[1] += all[i].answer.lower;
		sums[2] += all[i].answer.upper;
	}
}

static void
start_classes(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	Classes *classes = palloc0(sizeof(Classes));
	Distribution *given;
	Distribution prior;
	double *edges;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2) || PG_ARGISNULL(3))
		return;
	given = open_column(fcinfo, PointerGetDatum(race_tables_json_arg(fcinfo, 2)), true,
						race_confidence_arg(fcinfo, 3));
	choose_ranges(given);
	given->all = race_ranges_all(given->ranges, given->n);
	/* the ranges that the condition left; a column whose bounds are equal has one value */
	prior = *given;
	edges = palloc_extended((given->n + 1) * sizeof(double), MCXT_ALLOC_HUGE);
	for (uint64 i = 0; i < given->n; i++)
	{
		edges[i] = given->all[i].low;
		edges[i + 1] = given->all[i].high;
	}
	if (given->n > 0 && given->all[0].line == NULL && edges[0] < edges[given->n])
	{
		prior.request.edges = edges;
		prior.request.n_edges = (int) given->n + 1;
	}
	prior.where = palloc0(given->open.columns * sizeof(double *));
	choose_ranges(&prior);
	classes->given = given;
	classes->prior = race_ranges_all(prior.ranges, prior.n);
	given->n = Min(given->n, prior.n);
	add_up(given->all, given->n, classes->sums[0]);
	add_up(classes->prior, given->n, classes->sums[1]);
	classes->order = palloc(given->n * sizeof(int));
	for (uint64 i = 0; i < given->n; i++)
		classes->order[i] = (int) i;
	qsort_arg(classes->order, given->n, sizeof(int), compare_probabilities, classes);
	call->user_fctx = classes;
	call->max_calls = given->n;
}

static Datum
next_class(void *state, uint64 i)
{
	Classes *classes = state;
	Distribution *given = classes->given;
	RaceResultRow *row = &given->row;
	const RaceRange *range = &given->all[classes->order[i]];
	double probability = probability_of(classes, range, 0);
	double prior = probability_of(classes, &classes->prior[classes->order[i]], 1);
	double low = range->answer.lower;
	double high = range->answer.upper;
	double lower = quotient(low, low + Max(classes->sums[0][2] - high, 0));
	double upper = quotient(high, high + Max(classes->sums[0][1] - low, 0));

	race_range_add_label(row, given->domain, range);
	race_row_add_if(row, !isnan(probability), Float8GetDatum(probability));
	race_row_add(row, Float8GetDatum(isnan(lower) ? 0 : lower));
	race_row_add(row, Float8GetDatum(isnan(upper) ? 1 : upper));
	race_row_add_if(row, !isnan(prior), Float8GetDatum(prior));
	return race_row_datum(row);
}

/* Implement race_classify(value, label, query, confidence). */
Datum
race_classify_query(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_classes, next_class);
}
