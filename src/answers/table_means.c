/*
 * table_means.c
 *		Means, sums and distributions of a column from private contingency tables
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "privacy/counters.h"
#include "hash/contingency.h"
#include "hash/quantiles.h"
#include "sketch/domain.h"
#include "sketch/result.h"
#include "answers/distributions.h"
#include "answers/heaps.h"
#include "answers/table_answers.h"

PG_FUNCTION_INFO_V1(race_mean);
PG_FUNCTION_INFO_V1(race_sum);
PG_FUNCTION_INFO_V1(race_trend);
PG_FUNCTION_INFO_V1(race_tables_histogram);
PG_FUNCTION_INFO_V1(race_normal_quantile);
PG_FUNCTION_INFO_V1(race_sum_p_value);

/* ranges of a histogram, or values that means are computed for: seconds */
#define MOST_RANGES 10000

/* Implement _race_normal_quantile(confidence): return the standard errors to each side of an interval. */
Datum
race_normal_quantile(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(race_inverse_normal((1 + race_confidence_arg(fcinfo, 0)) / 2));
}

/*
 * Implement _race_sum_p_value(sum, mean, deviation): return P(S >= sum) of a sum of squares, by the
 * gamma variable with its moments.
 */
Datum
race_sum_p_value(PG_FUNCTION_ARGS)
{
	double mean = PG_GETARG_FLOAT8(1);
	double scale = PG_GETARG_FLOAT8(2) * PG_GETARG_FLOAT8(2) / mean;

	PG_RETURN_FLOAT8(race_gamma_tail(mean / scale, PG_GETARG_FLOAT8(0) / scale));
}

/* Replace the weights of a column by their product with others, which may be NULL. */
static void
multiply_weights(const double **weights, int column, uint32 cells, const double *others)
{
	double *product;

	if (weights[column] != NULL && others != NULL)
	{
		product = palloc_extended(cells * sizeof(double), MCXT_ALLOC_HUGE);
		for (uint32 i = 0; i < cells; i++)
			product[i] = weights[column][i] * others[i];
		weights[column] = product;
	}
	else if (others != NULL)
		weights[column] = others;
}

static const double **
copy_weights(const RaceOpenTables *open, const double *const *weights)
{
	return memcpy(palloc(open->columns * sizeof(double *)), weights,
				  open->columns * sizeof(double *));
}

/* ------------------------------------------------------------------- means */

typedef struct Means
{
	RaceOpenTables open;
	const RaceDomain *domain; /* domain of the column whose mean is returned */
	bool along;               /* whether this is a trend: by the ranges of a column of numbers */
	bool is_measure;          /* whether the mean is that of the measure */
	bool sums;                /* whether sums are returned in place of means */
	int column;               /* number of the column; -1: the measure is not among the columns */
	const double **where;
	const double **weights; /* weights of the current group */
	int by[2];              /* columns, by_n of them */
	int by_n;
	RaceTableLine *lines[2];
	uint32 n[2];
	double *value; /* [cells]: values of the column */
	double
		*below; /* [cells]: how far heaps move the mean of a cell's records down from its value */
	uint32 *order; /* [ordinary cells]: cells by value */
	double *share; /* [cells]: share of the records */
	double half;   /* most that a record differs from the value of its cell */
	int exponent;  /* power of 2 that value and half are divided by */
	double confidence;
	RaceResultRow row;
} Means;

static int
compare_values(const void *a, const void *b, void *values)
{
	double x = ((const double *) values)[*(const uint32 *) a];
	double y = ((const double *) values)[*(const uint32 *) b];

	return x < y ? -1 : x > y;
}

bool
race_tables_values(const RaceDomain *domain, double *value, double *half, int *exponent)
{
	double largest = 0;

	*half = 0;
	for (uint32 i = 0; i < domain->n; i++)
		if (strcmp(domain->type, "boolean") == 0)
			value[i] = i; /* false and true */
		else if (domain->category)
		{
			char *end;

			value[i] = strtod(domain->categories[i], &end);
			if (end == domain->categories[i] || *end != '\0' || !isfinite(value[i]))
				return false;
		}
		else
		{
			double low = race_tables_edge(domain, i);
			double high = race_tables_last(domain, low, race_tables_edge(domain, i + 1));

			*half = Max(*half, (high - low) / 2);
			value[i] = race_tables_middle(low, high);
		}
	for (uint32 i = 0; i < domain->n; i++)
		largest = Max(largest, fabs(value[i]) + *half);
	(void) frexp(largest, exponent);
	for (uint32 i = 0; i < domain->n; i++)
		value[i] = ldexp(value[i], -*exponent);
	*half = ldexp(*half, -*exponent);
	return true;
}

/*
 * Set the values of the cells of a column, and how far those of records may be.  Heaps move
 * estimates alone: intervals hold wherever in their cells records are.
 */
static void
set_values(Means *means)
{
	const RaceDomain *domain = means->domain;
	uint32 cells = RaceDomainCells(domain);
	const double **none = palloc0(means->open.columns * sizeof(double *));
	RaceHeaps heaps;

	means->value = palloc0(cells * sizeof(double));
	means->below = palloc0(cells * sizeof(double));
	means->share = palloc0(cells * sizeof(double));
	means->order = palloc(cells * sizeof(uint32));
	if (!race_tables_values(domain, means->value, &means->half, &means->exponent))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column \"%s\" of the release has categories, no numbers", domain->name),
				 errhint("race_crosstab counts its values.")));
	race_model_event(means->open.model, none, means->column, means->share);
	race_heaps_find(domain, means->share, &heaps);
	for (uint32 i = 0; i < domain->n && heaps.every > 0; i++)
		means->below[i] = race_heaps_share(domain, &heaps, i) *
			(means->value[i] - ldexp(race_tables_edge(domain, i), -means->exponent));
	for (uint32 i = 0; i < domain->n; i++)
		means->order[i] = i;
	qsort_arg(means->order, domain->n, sizeof(uint32), compare_values, means->value);
}

/* Sums over the groups of the column: of records, of values, and what their noise needs */
typedef struct Sums
{
	double count;
	double sum;
	double below;    /* how far heaps move the sum down */
	double flat;     /* sum, if values within groups were those of all records */
	double variance; /* variance of the count */
	double sum_variance;
	double covariance;
	double within; /* sum of squared errors that values within groups may cause */
	/* where each cell is a group: what the variances above are computed from */
	RaceSumsNoise counts;
	RaceSumsNoise values;
	RaceSumsNoise both;
} Sums;

/*
 * Standard deviations of its values by which, in an event, the mean of a group differs from what is
 * supposed
 */
#define WITHIN 0.25

/*
 * Return for each ordinary cell the next one upwards that is in another group, or n; then the next
 * one downwards, or the first cell.
 */
static uint32 *
neighbours_of_cells(const uint32 *group_of, uint32 n)
{
	uint32 *next = palloc_extended(2 * n * sizeof(uint32), MCXT_ALLOC_HUGE);

	for (uint32 i = n; i-- > 0;)
		next[i] = i + 1 < n && group_of[i + 1] == group_of[i] ? next[i + 1] : i + 1;
	for (uint32 i = 0; i < n; i++)
		next[n + i] = i > 0 && group_of[i - 1] == group_of[i] ? next[n + i - 1] : i - (i > 0);
	return next;
}

/*
 * Return the share of the event among the records of a cell: that of its group, in between linear
 * along a number.  NULL and what is next to no other group has that of its group.
 */
static double
share_between(const Means *means, const uint32 *group_of, const double *ratio, const double *center,
			  const uint32 *next_cells, uint32 cell)
{
	uint32 own = group_of[cell];
	bool up = means->value[cell] > center[own];
	uint32 next = next_cells[up ? cell : means->domain->n + cell];
	double part;

	if (next >= means->domain->n || group_of[next] == own || center[group_of[next]] == center[own])
		return ratio[own];
	part = (means->value[cell] - center[own]) / (center[group_of[next]] - center[own]);
	return ratio[own] + (ratio[group_of[next]] - ratio[own]) * Min(Max(part, 0), 1);
}

/* Replace variances of independent groups by those of the cells of a table. */
static void
use_noise_of_cells(const RaceTableModel *model, const RaceTable *table, Sums *sums)
{
	sums->variance = Max(race_contingency_noise(table, &sums->counts, model->total_variance), 0);
	sums->sum_variance =
		Max(race_contingency_noise(table, &sums->values, model->total_variance), 0);
	sums->covariance = race_contingency_noise(table, &sums->both, model->total_variance);
}

/* Sum over groups, from noisy counts of each; of one column, over the cells of its table. */
static void
sum_groups(const Means *means, const uint32 *group_of, uint32 groups, const double *counts,
		   double variance, const RaceTable *of_cells, Sums *sums)
{
	const RaceDomain *domain = means->domain;
	const double *weights = means->weights[means->column];
	double *totals = palloc0(groups * sizeof(double));
	double *center = palloc0(groups * sizeof(double));
	double *ratio = palloc0(groups * sizeof(double));
	double *all = palloc0(groups * sizeof(double)); /* cells by their share of the event */
	double *inside = palloc0(groups * sizeof(double));
	double *values = palloc0(groups * sizeof(double));
	double *below = palloc0(groups * sizeof(double));
	double *flat = palloc0(groups * sizeof(double));
	double *squares = palloc0(groups * sizeof(double));
	double *even = palloc0(3 * groups * sizeof(double));
	uint32 *next_cells = neighbours_of_cells(group_of, domain->n);

	CHECK_FOR_INTERRUPTS();
	for (uint32 i = 0; i < RaceDomainCells(domain); i++)
	{
		totals[group_of[i]] += means->share[i];
		center[group_of[i]] += means->share[i] * means->value[i];
		squares[group_of[i]] += means->share[i] * means->value[i] * means->value[i];
	}
	for (uint32 i = 0; i < groups; i++)
	{
		totals[i] = Max(totals[i], 1e-300);
		center[i] /= totals[i];
		ratio[i] = (Max(counts[i], 0) + sqrt(variance)) / (totals[i] * means->open.model->total);
	}
	for (uint32 i = 0; i < RaceDomainCells(domain); i++)
	{
		uint32 group = group_of[i];
		double own = domain->category || i >= domain->n ?
			ratio[group] :
			share_between(means, group_of, ratio, center, next_cells, i);
		double weight = i >= domain->n ? 0 : weights == NULL ? 1 : weights[i];

		all[group] += means->share[i] * own;
		inside[group] += means->share[i] * own * weight;
		values[group] += means->share[i] * own * weight * means->value[i];
		below[group] += means->share[i] * own * weight * means->below[i];
		flat[group] += means->share[i] * weight * means->value[i] / totals[group];
		even[3 * group]++;
		even[3 * group + 1] += weight;
		even[3 * group + 2] += weight * means->value[i];
	}
	memset(sums, 0, sizeof(Sums));
	for (uint32 i = 0; i < groups; i++)
	{
		/* the model has no records where noise is negative: without those, sums would be too large */
		bool known = all[i] > 0;
		double part = known ? inside[i] / all[i] : even[3 * i + 1] / Max(even[3 * i], 1);
		double value = known ? values[i] / all[i] : even[3 * i + 2] / Max(even[3 * i], 1);

		sums->count += counts[i] * part;
		sums->sum += counts[i] * value;
		sums->below += known ? counts[i] * below[i] / all[i] : 0;
		sums->flat += counts[i] * (known ? flat[i] : value);
		sums->variance += variance * part * part;
		sums->sum_variance += variance * value * value;
		sums->covariance += variance * part * value;
		sums->within +=
			counts[i] * counts[i] * Max(squares[i] / totals[i] - center[i] * center[i], 0);
		if (of_cells == NULL)
			continue;
		race_contingency_add_noise(of_cells, i, part, part, &sums->counts);
		race_contingency_add_noise(of_cells, i, value, value, &sums->values);
		race_contingency_add_noise(of_cells, i, part, value, &sums->both);
	}
	if (of_cells != NULL)
		use_noise_of_cells(means->open.model, of_cells, sums);
}

typedef struct Mean
{
	bool known;
	double estimate;
	double lower;
	double upper;
} Mean;

/* Multiply by a power of 2. */
static void
scale_mean(Mean *mean, int exponent)
{
	mean->estimate = ldexp(mean->estimate, exponent);
	mean->lower = ldexp(mean->lower, exponent);
	mean->upper = ldexp(mean->upper, exponent);
}

/* Set the range of the values that weights allow. */
static void
bound_values(const Means *means, double *lower, double *upper)
{
	const double *weights = means->weights[means->column];

	*lower = INFINITY;
	*upper = -INFINITY;
	for (uint32 i = 0; i < means->domain->n; i++)
		if (weights == NULL || weights[i] > 0)
		{
			*lower = Min(*lower, means->value[i] - means->half);
			*upper = Max(*upper, means->value[i] + means->half);
		}
	if (!means->domain->category)
	{
		*lower = Max(*lower, ldexp(means->domain->lower, -means->exponent));
		*upper = Min(*upper, ldexp(means->domain->upper, -means->exponent));
	}
}

/* Set the ratio of two noisy sums by Fieller's theorem; unknown if the count may be 0 by noise. */
static void
divide_sums(const Sums *sums, double off, double least, double most, double z, Mean *mean)
{
	double a = sums->count * sums->count - z * z * sums->variance;
	double b = sums->sum * sums->count - z * z * sums->covariance;
	double c = sums->sum * sums->sum - z * z * sums->sum_variance;
	double within = z * WITHIN * sqrt(sums->within) * sums->count;
	double root = sqrt(Max(b * b - a * c, 0) + within * within);

	mean->known = sums->count > 0 && a > 0;
	if (!mean->known)
		return;
	mean->estimate = Min(Max((sums->sum - sums->below) / sums->count, least), most);
	mean->lower = Min(Max((b - root) / a - off, least), mean->estimate);
	mean->upper = Max(Min((b + root) / a + off, most), mean->estimate);
}

/* Set a noisy sum, whose records differ from the values of their cells by `off` in the mean. */
static void
bound_sum(const Sums *sums, double off, double z, Mean *sum)
{
	double error = z * sqrt(sums->sum_variance) + z * WITHIN * sqrt(sums->within) +
		off * (Max(sums->count, 0) + z * sqrt(sums->variance));

	sum->known = true;
	sum->estimate = sums->sum - sums->below;
	sum->lower = sums->sum - error;
	sum->upper = sums->sum + error;
}

/* Make a mean or a sum unknown that is beyond the largest number. */
static void
check_finite(Mean *mean)
{
	mean->known &= isfinite(mean->estimate) && isfinite(mean->lower) && isfinite(mean->upper);
}

/* Set the sum or the mean of records between two values. */
static void
set_answer(const Means *means, const Sums *sums, double off, double least, double most, double z,
		   Mean *answer)
{
	if (means->sums)
		bound_sum(sums, off, z, answer);
	else
		divide_sums(sums, off, least, most, z, answer);
}

/* Turn a mean into a sum, of a number of records. */
static void
multiply_mean(const RaceTableAnswer *records, double count, Mean *mean)
{
	double lower = mean->lower;
	double upper = mean->upper;

	mean->estimate *= count;
	mean->lower = Min(Min(lower * records->lower, lower * records->upper), mean->estimate);
	mean->upper = Max(Max(upper * records->lower, upper * records->upper), mean->estimate);
}

/* Return the mean of the first `records` records by value, or of the last. */
static double
mean_of_first(const Means *means, double records, bool last)
{
	const double *weights = means->weights[means->column];
	double left = records / means->open.model->total;
	double count = 0;
	double sum = 0;
	uint32 n = means->domain->n;

	for (uint32 i = 0; i < n; i++)
	{
		uint32 cell = means->order[last ? n - 1 - i : i];
		double part = means->share[cell] * (weights == NULL ? 1 : weights[cell]);

		part = Min(part, Max(left - count, 0));
		count += part;
		sum += part * means->value[cell];
	}
	return count > 0 ? sum / count : last ? INFINITY : -INFINITY;
}

/*
 * Set the mean of the model.  Its bounds follow from the number of records with a value: those with
 * NULL may be all others.
 */
static void
ask_model(const Means *means, double z, Mean *mean)
{
	const RaceTableModel *model = means->open.model;
	uint32 cells = RaceDomainCells(means->domain);
	const double **weights = copy_weights(&means->open, means->weights);
	double *table = palloc0(cells * sizeof(double));
	RaceTableAnswer with_value;
	double count = 0;
	double sum = 0;
	double low;
	double high;

	for (uint32 i = 0; i < means->domain->n; i++)
		table[i] = 1;
	multiply_weights(weights, means->column, cells, table);
	race_tables_ask(&means->open, weights, means->confidence, &with_value);
	race_model_event(model, means->weights, means->column, table);
	for (uint32 i = 0; i < means->domain->n; i++)
	{
		count += table[i];
		sum += table[i] * (means->value[i] - means->below[i]);
	}
	mean->known = count * model->total >= 0.5 && model->total > z * sqrt(model->total_variance);
	if (!mean->known)
		return;
	bound_values(means, &low, &high);
	mean->estimate = Min(Max(sum / count, low), high);
	mean->lower =
		Min(Max(mean_of_first(means, with_value.lower, false) - means->half, low), mean->estimate);
	mean->upper =
		Max(Min(mean_of_first(means, with_value.lower, true) + means->half, high), mean->estimate);
	if (means->sums)
		multiply_mean(&with_value, count * model->total, mean);
}

/*
 * Sum over an event from measured tables; false if there are none of it.  Cells that were counted
 * together are groups, unless ends tell how records lie within.
 */
static bool
sum_measured(const Means *means, Sums *sums)
{
	const RaceOpenTables *open = &means->open;
	const RaceTableModel *model = open->model;
	uint32 cells = RaceDomainCells(means->domain);
	uint32 *group_of = palloc(cells * sizeof(uint32));
	double *counts = palloc0(cells * sizeof(double));
	const double **weights = copy_weights(open, means->weights);
	double *of_table[RACE_TABLE_COLUMNS];
	const RaceTable *table;
	bool alone;
	bool cells_alone;
	double squares = 0;

	/* those of the column itself are for its cells, not for groups */
	weights[means->column] = race_tables_ones(open, means->column);
	table = race_tables_covering(open, weights, of_table);
	if (table == NULL)
		return false;
	alone = table->first == table->second;
	cells_alone = alone && (table->block == 1 || race_contingency_known_places(table) > 0);
	for (uint32 i = 0; i < cells; i++)
		group_of[i] = cells_alone ? i :
			alone                 ? race_contingency_block(table, i) :
									race_contingency_group(&model->tables, means->column, i);
	for (Size k = 0; k < table->cells; k++)
	{
		Size place = race_contingency_place(table, means->column, k);
		Size own = alone ? group_of[place] : place;
		double weight = race_tables_weight(table, of_table, k);

		counts[own] += weight * race_table_records(&open->view, model, table, k);
		squares += own == 0 ? weight * weight : 0;
	}
	sum_groups(means, group_of,
			   alone ? cells : race_contingency_groups(&model->tables, means->column), counts,
			   table->variance * squares, cells_alone ? table : NULL, sums);
	return true;
}

/* Return how far records may be from the values of their cells, in the mean. */
static double
off_values(const Means *means, const Sums *sums)
{
	return means->half + fabs(sums->sum - sums->flat) / Max(sums->count, 1);
}

/* Find the mean in an event from measured tables.  Return false if there are none of it. */
static bool
ask_measured(const Means *means, double z, Mean *mean)
{
	Sums sums;
	double low;
	double high;

	if (!sum_measured(means, &sums))
		return false;
	bound_values(means, &low, &high);
	set_answer(means, &sums, off_values(means, &sums), low, high, z, mean);
	return true;
}

/*
 * Find the mean of the measure in an event, from the parts of a table's cells: the lower and upper
 * bound, weighed by the records of both.  Return false if there is no such table.
 */
static bool
ask_measure(const Means *means, double z, Mean *mean)
{
	const RaceOpenTables *open = &means->open;
	const RaceContingency *tables = &open->model->tables;
	RaceCounterArray counters = {unconstify(void *, open->view.counters), open->view.width};
	double low = open->measure->lower;
	double high = open->measure->upper;
	int exponent;
	Sums sums = {0};
	double squares = 0;
	double variance;
	double *of_table[RACE_TABLE_COLUMNS] = {NULL};
	const RaceTable *table = &open->model->table[0];
	bool conditions = false;

	for (uint32 i = 0; i < tables->columns; i++)
	{
		const RaceTable *next = &open->model->table[i];

		conditions |= means->weights[i] != NULL;
		/* of all records, that which has their most precise number */
		if (next->variance * next->cells < table->variance * table->cells)
			table = next;
	}
	if (conditions)
		table = race_tables_covering(open, means->weights, of_table);
	if (table == NULL)
		return false;
	(void) frexp(Max(fabs(low), fabs(high)), &exponent);
	low = ldexp(low, -exponent);
	high = ldexp(high, -exponent);
	for (Size k = 0; k < table->cells; k++)
	{
		double weight = race_tables_weight(table, of_table, k);
		double lower;
		double upper;

		race_contingency_part(tables, table, counters, 0, k, 1, &lower);
		race_contingency_part(tables, table, counters, 1, k, 1, &upper);
		sums.count += weight * (lower + upper);
		sums.sum += weight * (lower * low + upper * high);
		squares += weight * weight;
	}
	variance = table->variance / tables->parts * squares;
	sums.variance = 2 * variance;
	sums.covariance = (low + high) * variance;
	sums.sum_variance = (low * low + high * high) * variance;
	set_answer(means, &sums, (high - low) / (2 * RACE_MEASURE_UNIT), low, high, z, mean);
	scale_mean(mean, exponent);
	return true;
}

/* Raise 22023 for a column of dates. */
static void
refuse_sum_of_dates(const RaceDomain *domain)
{
	if (!domain->category && !race_domain_has_sum(domain))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column \"%s\" of the release has dates, which have no sum", domain->name),
				 errhint("race_mean has their mean.")));
}

/* Return the names of columns in an argument of any type: {a,b}, an array of names, or one. */
static List *
names_arg(FunctionCallInfo fcinfo, int arg)
{
	Oid output;
	bool varlena;
	char *written;
	Datum *elements;
	bool *nulls;
	int n;
	ArrayType *list;
	List *names = NIL;

	if (PG_ARGISNULL(arg))
		return NIL;
	getTypeOutputInfo(get_fn_expr_argtype(fcinfo->flinfo, arg), &output, &varlena);
	written = OidOutputFunctionCall(output, PG_GETARG_DATUM(arg));
	if (written[0] != '{' || written[strlen(written) - 1] != '}')
		return list_make1(written);
	list = DatumGetArrayTypeP(OidInputFunctionCall(F_ARRAY_IN, written, TEXTOID, -1));
	deconstruct_array(list, TEXTOID, -1, false, TYPALIGN_INT, &elements, &nulls, &n);
	for (int i = 0; i < n; i++)
		names = lappend(names, nulls[i] ? pstrdup("") : TextDatumGetCString(elements[i]));
	return names;
}

/* Start means, or sums, by columns, or along one of numbers. */
static void
start_means(FunctionCallInfo fcinfo, FuncCallContext *call, bool along, bool sums)
{
	Means *means = palloc0(sizeof(Means));
	List *by;
	char *name;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(3) || PG_ARGISNULL(4))
		return;
	means->along = along;
	means->confidence = race_confidence_arg(fcinfo, 4);
	race_row_start(&means->row, fcinfo);
	race_tables_open(PG_GETARG_DATUM(0), &means->open);
	name = text_to_cstring(PG_GETARG_TEXT_PP(1));
	means->is_measure = means->open.measure != NULL && strcmp(means->open.measure->name, name) == 0;
	means->column = means->is_measure ? race_tables_column_or_none(&means->open, name) :
										race_tables_column(&means->open, name);
	means->where = race_tables_where(&means->open, PG_GETARG_DATUM(3), false);
	means->sums = sums;
	if (sums)
		refuse_sum_of_dates(means->is_measure ? means->open.measure :
												&means->open.domains[means->column]);
	if (means->column >= 0)
	{
		means->domain = &means->open.domains[means->column];
		set_values(means);
	}
	call->max_calls = 1;
	by = along ? list_make1(PG_ARGISNULL(2) ? "" : text_to_cstring(PG_GETARG_TEXT_PP(2))) :
				 names_arg(fcinfo, 2);
	means->by_n = list_length(by);
	if (means->by_n > 2)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("means are by at most two columns"),
				 errhint("Choose values of others by \"where\".")));
	for (int i = 0; i < means->by_n; i++)
	{
		means->by[i] = race_tables_column(&means->open, list_nth(by, i));
		if (along)
			race_tables_check_numbers(&means->open.domains[means->by[i]]);
		means->lines[i] = race_tables_lines(&means->open, means->by[i], true, &means->n[i]);
		call->max_calls *= means->n[i];
		if (means->n[i] > MOST_RANGES)
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("column \"%s\" has %u values, and means are by at most %d",
							means->open.domains[means->by[i]].name, means->n[i], MOST_RANGES),
					 errhint("Choose some by \"where\".")));
	}
	/* a trend ends where ranges do: what follows has no number */
	while (along && call->max_calls > 0 &&
		   means->lines[0][call->max_calls - 1].first >= means->open.domains[means->by[0]].n)
		call->max_calls--;
	call->user_fctx = means;
}

static void
start_mean(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	start_means(fcinfo, call, false, false);
}

static void
start_sum(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	start_means(fcinfo, call, false, true);
}

static void
start_trend(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	start_means(fcinfo, call, true, false);
}

/* Add the labels of a group; of a trend, the number in the middle of the range before its label. */
static void
add_group(Means *means, const RaceTableLine *const *line)
{
	const RaceDomain *domain = &means->open.domains[means->by[0]];

	if (means->along)
	{
		double low = race_tables_edge(domain, line[0]->first);
		double high = race_tables_edge(domain, line[0]->last + 1);

		race_row_add(&means->row,
					 Float8GetDatum(race_tables_middle(low, race_tables_last(domain, low, high))));
	}
	for (int i = 0; i < (means->along ? 1 : 2); i++)
		if (i < means->by_n)
			race_tables_add_label(&means->row, &means->open.domains[means->by[i]], line[i]);
		else
			race_row_add_null(&means->row);
}

static Datum
next_mean(void *state, uint64 number)
{
	Means *means = state;
	const RaceTableLine *line[2] = {NULL, NULL};
	RaceTableAnswer answer;
	Mean mean = {0};
	bool measured;
	bool independent = false;
	double z = race_tables_z(&means->open, means->confidence);
	const RaceDomain *domain =
		means->column >= 0 ? means->domain : means->open.measure; /* one of both */

	CHECK_FOR_INTERRUPTS();
	means->weights = copy_weights(&means->open, means->where);
	for (int i = means->by_n - 1; i >= 0; i--)
	{
		uint32 cells = RaceDomainCells(&means->open.domains[means->by[i]]);
		double *inside = palloc0(cells * sizeof(double));

		line[i] = &means->lines[i][number % means->n[i]];
		number /= means->n[i];
		for (uint32 k = line[i]->first; k <= line[i]->last; k++)
			inside[k] = 1;
		multiply_weights(means->weights, means->by[i], cells, inside);
	}
	race_tables_ask(&means->open, means->weights, means->confidence, &answer);
	measured = means->is_measure && ask_measure(means, z, &mean);
	if (!measured && means->column >= 0)
	{
		measured = ask_measured(means, z, &mean);
		independent =
			!measured && !race_tables_connect(&means->open, means->weights, means->column);
		if (!measured && !independent)
			ask_model(means, z, &mean);
		scale_mean(&mean, means->exponent);
	}
	check_finite(&mean);
	add_group(means, line);
	race_row_add_if(&means->row, mean.known, Float8GetDatum(mean.estimate));
	race_row_add_if(&means->row, mean.known, Float8GetDatum(mean.lower));
	race_row_add_if(&means->row, mean.known, Float8GetDatum(mean.upper));
	race_row_add_if(&means->row, !answer.independent, Float8GetDatum(answer.count));
	race_row_add_text(&means->row, race_tables_source(measured, independent));
	for (int i = 0; !means->sums && i < 3; i++)
		race_tables_add_dated(&means->row, domain, mean.known,
							  i == 0     ? mean.estimate :
								  i == 1 ? mean.lower :
										   mean.upper);
	return race_row_datum(&means->row);
}

/* Implement race_mean(value, column, by, where, confidence). */
Datum
race_mean(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_mean, next_mean);
}

/* Implement race_sum(value, column, by, where, confidence). */
Datum
race_sum(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_sum, next_mean);
}

/* Implement race_trend(value, column, by, where, confidence). */
Datum
race_trend(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_trend, next_mean);
}

double
race_tables_mean_width(const RaceOpenTables *open, int column, double confidence)
{
	Means means = {.open = *open,
				   .column = column,
				   .domain = &open->domains[column],
				   .confidence = confidence,
				   .weights = palloc0(open->columns * sizeof(double *))};
	Mean mean = {0};
	double z = race_tables_z(open, confidence);

	set_values(&means);
	if (!ask_measured(&means, z, &mean))
		ask_model(&means, z, &mean);
	scale_mean(&mean, means.exponent);
	return mean.known ? mean.upper - mean.lower : NAN;
}

/* --------------------------------------------------------------- histograms */

struct RaceRanges
{
	RaceOpenTables open;
	RaceRangesRequest request;
	const RaceDomain *domain;
	int column;
	const double **where;
	bool conditions;      /* whether there are any */
	RaceTableLine *lines; /* lines of categories; NULL if there are edges */
	double *edges;
	uint64 n;        /* number of ranges */
	bool to_the_end; /* whether the last range includes records beyond its edge */
};

#define RANGES 20 /* about the largest number of them if nothing is asked for */

static void
refuse_edges(const char *problem)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s", problem),
			 errhint("Give edges that ascend, as in {0,10,20}, or the number of bins.")));
}

/*
 * Return an edge from its text.  The day after the last date has no text but infinity, which is the
 * end of such a column.
 */
static double
read_edge(const RaceDomain *domain, char *text)
{
	double edge = race_tables_number(domain, text);
	double end = race_domain_end(domain);

	if (isinf(edge) && strcmp(text, race_domain_number_text(domain, end)) == 0)
		edge = end;
	if (!isfinite(edge))
		refuse_edges("edges must be finite");
	return edge;
}

/* Read the given edges.  Return how many ranges they make. */
static uint32
read_edges(RaceRanges *ranges, ArrayType *array)
{
	Datum *texts;
	bool *nulls;
	int n;

	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &texts, &nulls, &n);
	if (ARR_NDIM(array) != 1 || n < 2 || n > MOST_RANGES + 1)
		refuse_edges(psprintf("edges must be 2 to %d numbers", MOST_RANGES + 1));
	ranges->edges = palloc(n * sizeof(double));
	for (int i = 0; i < n; i++)
	{
		if (nulls[i])
			refuse_edges("an edge must not be NULL");
		ranges->edges[i] = read_edge(ranges->domain, TextDatumGetCString(texts[i]));
		if (i > 0 && !(ranges->edges[i] > ranges->edges[i - 1]))
			refuse_edges("edges must ascend");
	}
	return n - 1;
}

/* Return the end of ranges: whole numbers have one after them, of others the last has the bound. */
static double
end_of_ranges(const RaceDomain *domain)
{
	return domain->whole ? race_domain_end(domain) : domain->upper;
}

/*
 * Set edges of ranges of a step, at most so many, which begin at start; those beyond the bounds are
 * the bounds.
 */
static uint32
space_edges(RaceRanges *ranges, double start, const RaceStep *step, uint32 most)
{
	const RaceDomain *domain = ranges->domain;
	double end = race_domain_end(domain);
	uint32 n = Min(race_number_cells_count(end_of_ranges(domain), start, step, false), most);
	RaceNumberCells cells;

	race_number_cells_set(&cells, domain->lower, end, start, step, n);
	ranges->edges = palloc((n + 1) * sizeof(double));
	for (uint32 i = 0; i < n; i++)
		ranges->edges[i] = Min(Max(race_cell_edge(&cells, i), domain->lower), end);
	ranges->edges[n] = end;
	ranges->to_the_end = true;
	return n;
}

/* Return whether n ranges between the edges are unions of so many cells. */
static bool
edges_meet_cells(const RaceRanges *ranges, uint32 n, uint32 block)
{
	RaceNumberCells cells;

	race_domain_cells(ranges->domain, &cells);
	for (uint32 i = 1; i < n; i++)
	{
		uint32 cell = race_cell_of_number(&cells, ranges->edges[i]);

		if (cell % block != 0 || race_cell_edge(&cells, cell) != ranges->edges[i])
			return false;
	}
	return true;
}

/* Ranges may be so much longer than wanted if they are round then. */
#define MOST_LONGER 5

/* Set edges of ranges of a round step that are unions of blocks of cells; 0 if no such step is. */
static uint32
try_edges(RaceRanges *ranges, uint32 block)
{
	const RaceDomain *domain = ranges->domain;
	RaceUnit unit = race_domain_unit(domain);
	double range = end_of_ranges(domain) - domain->lower;
	double least = Max(range / RANGES, block * race_step_length(&domain->step));
	RaceStep step = race_round_step(unit, least, true);

	/* bound: the round steps from 1 to MOST_LONGER times as long; the first one may be longer */
	do
	{
		uint32 n =
			space_edges(ranges, race_step_start(unit, &step, domain->lower), &step, MOST_RANGES);

		if (edges_meet_cells(ranges, n, block))
			return n;
		pfree(ranges->edges);
		step = race_next_step(unit, &step, true);
	} while (race_step_length(&step) <= MOST_LONGER * least);
	return 0;
}

/*
 * Set edges of round ranges: unions of blocks that were measured.  Dates and times have ranges of the
 * calendar in any case: people ask for months, which are no unions of weeks.  Return how many there
 * are.
 */
static uint32
round_edges(RaceRanges *ranges)
{
	const RaceDomain *domain = ranges->domain;
	uint32 block = ranges->open.model->table[ranges->column].block;
	RaceStep step = domain->step;
	bool numbers =
		race_domain_unit(domain) == RACE_UNIT_NUMBER || race_domain_unit(domain) == RACE_UNIT_WHOLE;
	uint32 n = try_edges(ranges, block);

	if (n == 0 && block > 1 && !numbers)
		n = try_edges(ranges, 1);
	if (n > 0)
		return n;
	n = block *
		(uint32) race_round_step(RACE_UNIT_WHOLE, ceil(domain->n / (double) block / RANGES), false)
			.width;
	step.width *= n;
	step.months *= n;
	return space_edges(ranges, domain->start, &step, MOST_RANGES);
}

/* Set edges from the lines of a table, some of them together if there are more than `most`. */
static uint32
edges_of_lines(RaceRanges *ranges, bool groups, uint32 most)
{
	const RaceDomain *domain = ranges->domain;
	uint32 cells = groups ? domain->group : ranges->open.model->table[ranges->column].block;
	uint32 lines = (domain->n + cells - 1) / cells;
	uint32 step = (lines + most - 1) / most * cells;
	uint32 widest = domain->group;
	uint32 n = 0;

	/*
	 * wide ranges are the same of a release that counted cells and of one that counted blocks,
	 * which may be compared
	 */
	while (2 * RACE_LEAST_BLOCKS * (uint64) widest <= RaceDomainCells(domain))
		widest *= 2;
	if (2 * step > widest)
		step = (step + widest - 1) / widest * widest;
	ranges->edges = palloc_extended((lines + 1) * sizeof(double), MCXT_ALLOC_HUGE);
	ranges->edges[0] = race_tables_edge(domain, 0);
	while (n * step < domain->n)
	{
		n++;
		ranges->edges[n] = race_tables_edge(domain, Min(n * step, domain->n));
	}
	ranges->to_the_end = true;
	return n;
}

/* Return whether other columns have conditions. */
static bool
has_others(const RaceRanges *ranges)
{
	for (int i = 0; i < ranges->open.columns; i++)
		if (i != ranges->column && ranges->where[i] != NULL)
			return true;
	return false;
}

/* Choose the ranges: edges, bins, or at most that many measured cells. */
static uint32
choose_ranges(RaceRanges *ranges)
{
	const RaceDomain *domain = ranges->domain;
	const RaceRangesRequest *request = &ranges->request;
	bool edges = request->texts != NULL || request->edges != NULL;
	int bins = request->has_bins ? request->bins : 0;
	double range = end_of_ranges(domain) - domain->lower;
	RaceStep step = {0};
	uint32 n;

	if (edges && request->has_bins)
		refuse_edges("edges and bins cannot be given both");
	if (domain->category && (edges || request->has_bins || request->as_measured))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column \"%s\" of the release has categories, no numbers", domain->name),
				 errhint("race_crosstab counts its values.")));
	if (domain->category)
	{
		ranges->lines = race_tables_lines(&ranges->open, ranges->column, false, &n);
		if (n > MOST_RANGES && ranges->conditions)
			ereport(
				ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("column \"%s\" has %u values, and at most %d are counted in a condition",
						domain->name, n, MOST_RANGES),
				 errhint(
					 "race_count counts records with some of them, race_crosstab all values without a condition.")));
		return n;
	}
	if (request->edges != NULL)
	{
		ranges->edges = unconstify(double *, request->edges);
		return request->n_edges - 1;
	}
	if (request->texts != NULL)
		return read_edges(ranges, request->texts);
	if (request->has_bins && (bins < 1 || bins > MOST_RANGES))
		refuse_edges(psprintf("bins must be a number from 1 to %d", MOST_RANGES));
	if (request->as_measured || (bins == 0 && has_others(ranges)))
		return edges_of_lines(ranges, has_others(ranges), bins > 0 ? bins : MOST_RANGES);
	if (bins == 0 || range == 0)
		return round_edges(ranges);
	step.width = domain->whole ? ceil(range / bins) : range / bins;
	return space_edges(ranges, domain->lower, &step, (uint32) bins);
}

RaceRanges *
race_ranges_open(const RaceOpenTables *open, int column, const double **where,
				 const RaceRangesRequest *request, uint64 *n)
{
	RaceRanges *ranges = palloc0(sizeof(RaceRanges));

	ranges->open = *open;
	ranges->request = *request;
	ranges->column = column;
	ranges->domain = &open->domains[column];
	ranges->where = where;
	for (int i = 0; i < open->columns; i++)
		ranges->conditions |= where[i] != NULL;
	*n = ranges->n = choose_ranges(ranges);
	return ranges;
}

void
race_range_ask(RaceRanges *ranges, uint64 i, RaceRange *range)
{
	const RaceOpenTables *open = &ranges->open;
	const RaceDomain *domain = ranges->domain;
	double confidence = ranges->request.confidence;
	uint32 cells = RaceDomainCells(domain);
	bool last = ranges->to_the_end && i + 1 == ranges->n;
	const double **weights;
	double *inside;

	CHECK_FOR_INTERRUPTS();
	*range = (RaceRange){.line = ranges->lines == NULL ? NULL : &ranges->lines[i]};
	if (ranges->edges != NULL)
	{
		range->low = ranges->edges[i];
		range->high = ranges->edges[i + 1];
	}
	if (range->line != NULL && !ranges->conditions)
	{
		race_tables_bound(range->line->count, range->line->variance,
						  race_tables_z(open, confidence), &range->answer);
		return;
	}
	weights = copy_weights(open, ranges->where);
	inside = palloc_extended(cells * sizeof(double), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	if (range->line != NULL)
		inside[range->line->first] = 1;
	else
		race_tables_range(domain, ranges->request.below ? -INFINITY : range->low,
						  last ? INFINITY : range->high, inside);
	multiply_weights(weights, ranges->column, cells, inside);
	race_tables_ask(open, weights, confidence, &range->answer);
	pfree(inside);
}

RaceRange *
race_ranges_all(RaceRanges *ranges, uint64 n)
{
	RaceRange *all = palloc_extended(n * sizeof(RaceRange), MCXT_ALLOC_HUGE);
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "range", ALLOCSET_DEFAULT_SIZES);

	for (uint64 i = 0; i < n; i++)
	{
		MemoryContext old = MemoryContextSwitchTo(context);

		race_range_ask(ranges, i, &all[i]);
		MemoryContextSwitchTo(old);
		MemoryContextReset(context);
	}
	MemoryContextDelete(context);
	return all;
}

void
race_range_add_label(RaceResultRow *row, const RaceDomain *domain, const RaceRange *range)
{
	if (range->line != NULL)
		race_tables_add_label(row, domain, range->line);
	else
		race_tables_add_range(row, domain, range->low, range->high);
}

/* What _race_tables_histogram() returns rows of */
typedef struct Histogram
{
	RaceOpenTables open;
	const RaceDomain *domain;
	RaceRanges *ranges;
	RaceResultRow row;
} Histogram;

static void
start_histogram(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	Histogram *histogram = palloc0(sizeof(Histogram));
	RaceRangesRequest request = {0};
	int column;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(4) || PG_ARGISNULL(5) ||
		PG_ARGISNULL(6) || PG_ARGISNULL(7))
		return;
	request.texts = PG_ARGISNULL(2) ? NULL : PG_GETARG_ARRAYTYPE_P(2);
	request.has_bins = !PG_ARGISNULL(3);
	request.bins = PG_ARGISNULL(3) ? 0 : PG_GETARG_INT32(3);
	request.as_measured = PG_GETARG_BOOL(5);
	request.below = PG_GETARG_BOOL(6);
	request.confidence = race_confidence_arg(fcinfo, 7);
	race_row_start(&histogram->row, fcinfo);
	race_tables_open(PG_GETARG_DATUM(0), &histogram->open);
	column = race_tables_column(&histogram->open, text_to_cstring(PG_GETARG_TEXT_PP(1)));
	histogram->domain = &histogram->open.domains[column];
	histogram->ranges = race_ranges_open(
		&histogram->open, column, race_tables_where(&histogram->open, PG_GETARG_DATUM(4), false),
		&request, &call->max_calls);
	call->user_fctx = histogram;
}

static Datum
next_range(void *state, uint64 number)
{
	Histogram *histogram = state;
	RaceRange range;

	race_range_ask(histogram->ranges, number, &range);
	race_range_add_label(&histogram->row, histogram->domain, &range);
	race_row_add_if(&histogram->row, range.line == NULL, Float8GetDatum(range.low));
	race_row_add_if(&histogram->row, range.line == NULL, Float8GetDatum(range.high));
	race_tables_add_answer(&histogram->row, &range.answer);
	return race_row_datum(&histogram->row);
}

/*
 * Implement _race_tables_histogram(sketch, column, edges, bins, where, as_measured, below, confidence).
 */
Datum
race_tables_histogram(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_histogram, next_range);
}
