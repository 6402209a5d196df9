/*
 * table_answers.c
 *		Counts, histograms and cross tables from private contingency tables
 */
#include "postgres.h"

#include <ctype.h>
#include <math.h>

#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"

#include "privacy/noise.h"
#include "hash/contingency.h"
#include "hash/kernel.h"
#include "hash/params.h"
#include "hash/quantiles.h"
#include "sketch/domain.h"
#include "sketch/result.h"
#include "sketch/sketch.h"
#include "sketch/sketch_format.h"
#include "sketch/text.h"
#include "answers/table_answers.h"

/* ---------------------------------------------------------- opened releases */

void
race_tables_open(Datum value, RaceOpenTables *open)
{
	MemoryContextCallback *callback = palloc(sizeof(MemoryContextCallback));

	race_sketch_view_kind(value, RACE_KIND_TABLES, "Release columns of a dataset by race_release.",
						  &open->view);
	if (open->view.columns_size == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("these tables do not state their columns"),
				 errhint("Release columns of a dataset by race_release.")));
	open->model = race_table_model_acquire(&open->view);
	callback->func = race_derived_release;
	callback->arg = open->model;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, callback);
	open->domains = open->model->domains;
	open->columns = (int) open->model->tables.columns;
	open->measure = open->model->tables.parts > 1 ? &open->domains[open->columns] : NULL;
}

int
race_tables_column_or_none(const RaceOpenTables *open, const char *name)
{
	int i;

	for (i = open->columns - 1; i >= 0 && strcmp(open->domains[i].name, name) != 0; i--)
		;
	return i;
}

void
race_tables_check_numbers(const RaceDomain *domain)
{
	if (domain->category)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column \"%s\" of the release has categories, no numbers", domain->name),
				 errhint("race_crosstab counts its values, race_mean has means by them.")));
}

int
race_tables_column(const RaceOpenTables *open, const char *name)
{
	StringInfoData names;
	int column = race_tables_column_or_none(open, name);

	if (column < 0 && name[0] != '\0' && strlen(name) <= 2 &&
		strspn(name, "0123456789") == strlen(name))
		column = atoi(name) <= open->columns ? atoi(name) - 1 : -1; /* a number */
	if (column >= 0)
		return column;
	initStringInfo(&names);
	for (int i = 0; i < open->columns; i++)
		appendStringInfo(&names, "%s%s", i == 0 ? "" : ", ", open->domains[i].name);
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("the release has no column \"%s\"", race_cut(name)),
			 errhint("Its columns are %s.", names.data)));
	return 0; /* not reached */
}

double
race_tables_edge(const RaceDomain *domain, uint32 cell)
{
	RaceNumberCells cells;

	race_domain_cells(domain, &cells);
	return Min(Max(race_cell_edge(&cells, cell), domain->lower), race_domain_end(domain));
}

double
race_tables_last(const RaceDomain *domain, double low, double high)
{
	double step = domain->finest;

	return step > 0 ? Max(race_multiple_below(step, high - step / 2), low) : high;
}

double
race_tables_middle(double low, double high)
{
	return low + (high - low) / 2;
}

/* ------------------------------------------------------------------- where */

/* Return the cell of a category; n if there is none of this text. */
static uint32
find_category(const RaceDomain *domain, const char *text)
{
	uint32 i = 0;

	while (i < domain->n && strcmp(domain->categories[i], text) != 0)
		i++;
	return i;
}

/* Return the label of the cell of all values that are no category.  No category has this label. */
static char *
other_label(const RaceDomain *domain)
{
	char *label = pstrdup("other");

	while (find_category(domain, label) < domain->n)
		label = psprintf("(%s)", label);
	return label;
}

/* Return whether a column is of dates, or of dates with times. */
static bool
is_dated(const RaceDomain *domain)
{
	return strncmp(domain->type, "date", 4) == 0 || strncmp(domain->type, "time", 4) == 0;
}

static void
refuse_value(const RaceDomain *domain, const char *found)
{
	StringInfoData list;

	initStringInfo(&list);
	for (uint32 i = 0; domain->category && i < Min(domain->n, 10); i++)
		appendStringInfo(&list, "%s\"%s\"", i == 0 ? "" : ", ", domain->categories[i]);
	ereport(
		ERROR,
		(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
		 errmsg("column \"%s\" of the release cannot be %s", domain->name, found),
		 domain->category ?
			 errhint("Its values are %s%s%s%s.", list.data, domain->n > 10 ? ", ..." : "",
					 domain->has_other ?
						 psprintf("%s\"%s\"", domain->n > 0 ? ", " : "", other_label(domain)) :
						 "",
					 domain->vector ? "" : ": write one of them, or an array of some") :
			 domain->vector ?
			 errhint("Its numbers are from %s to %s.",
					 race_domain_number_text(domain, domain->lower),
					 race_domain_number_text(domain, domain->upper)) :
			 errhint(
				 "Write a range as text, as in {\"%s\": \"[%s,%s]\"}; a bound that is left out is none.",
				 domain->name, race_domain_number_text(domain, domain->lower),
				 race_domain_number_text(domain, domain->upper))));
}

/* Return the text of a scalar of jsonb, as types of PostgreSQL read it. */
static char *
scalar_text(const JsonbValue *value)
{
	if (value->type == jbvString)
		return pnstrdup(value->val.string.val, value->val.string.len);
	if (value->type == jbvNumeric)
		return DatumGetCString(
			DirectFunctionCall1(numeric_out, NumericGetDatum(value->val.numeric)));
	if (value->type == jbvBool)
		return pstrdup(value->val.boolean ? "true" : "false");
	return pstrdup("null");
}

/* Return the cell of a category, of NULL, or of all other values if `any` other text may be one. */
static uint32
cell_of_category(const RaceDomain *domain, const JsonbValue *value, bool any)
{
	char *text = scalar_text(value);
	uint32 cell;

	CHECK_FOR_INTERRUPTS();
	/* to_jsonb keeps the blanks of char(n) */
	if (strcmp(domain->type, "character") == 0)
		text[bpchartruelen(text, strlen(text))] = '\0';
	cell = value->type == jbvNull ? domain->n : find_category(domain, text);
	if (cell == domain->n && value->type == jbvBool)
		cell = find_category(domain, value->val.boolean ? "t" : "f");
	if (cell < domain->n || (value->type == jbvNull && domain->has_null))
		return cell;
	if (!domain->has_other ||
		(any ? value->type == jbvNull :
			   value->type != jbvString || strcmp(text, other_label(domain)) != 0))
		refuse_value(
			domain, value->type == jbvString ? psprintf("\"%s\"", race_cut(text)) : race_cut(text));
	return RaceDomainCells(domain) - 1;
}

/* Return the number that a scalar stands for; dates are strings. */
static double
number_of(const RaceDomain *domain, const JsonbValue *value, double if_null)
{
	if (value->type == jbvNull)
		return if_null;
	if (value->type != jbvNumeric && value->type != jbvString)
		refuse_value(domain, "of another type");
	return race_tables_number(domain, scalar_text(value));
}

double
race_tables_number(const RaceDomain *domain, char *text)
{
	double number = 0;

	/* what begins with a letter is no number, but may be a date, as "today" is */
	if ((isalpha((unsigned char) text[0]) && !is_dated(domain)) ||
		!race_domain_number_read(domain, text, &number))
		refuse_value(domain, psprintf("\"%s\"", race_cut(text)));
	return number;
}

/*
 * The last cell of a number with fractions has the upper bound, too.  How many of its records have
 * this value was not counted: none or all.  So little of the cell makes an estimate of 0, with all
 * of the cell in the interval.
 */
#define OF_UPPER_BOUND 1e-12

/* Return the first value from a number on. */
static double
value_from(const RaceDomain *domain, double x)
{
	double below = isinf(x) ? x : race_multiple_below(domain->finest, x);

	return below < x ? race_multiple_above(domain->finest, x) : below;
}

void
race_tables_range(const RaceDomain *domain, double from, double to, double *weights)
{
	/* values with a step are in a range if they are in that from the next value */
	if (domain->finest > 0)
	{
		from = value_from(domain, from);
		to = value_from(domain, to);
	}
	for (uint32 i = 0; i < domain->n; i++)
	{
		double low = race_tables_edge(domain, i);
		double high = race_tables_edge(domain, i + 1);
		double a = Max(from, low);
		double b = Min(to, high);
		double part = a < b ? (b - a) / (high - low) : 0;

		if (low == high)
			part = from <= low && low < to;
		else if (i + 1 == domain->n && domain->finest == 0 && from == high && high < to)
			part = OF_UPPER_BOUND;
		weights[i] = Max(weights[i], part);
	}
}

/* Weigh the cell of a number. */
static void
weigh_cell(const RaceDomain *domain, const JsonbValue *value, double *weights)
{
	RaceNumberCells cells;

	race_domain_cells(domain, &cells);
	weights[race_cell_of_number(&cells, number_of(domain, value, 0))] = 1;
}

/* Return the end of a range that stands in n bytes, maybe in quotes; nothing is no bound. */
static double
end_of_range(const RaceDomain *domain, const char *text, size_t n, double if_empty)
{
	while (n > 0 && isspace((unsigned char) *text))
		text++, n--;
	while (n > 0 && isspace((unsigned char) text[n - 1]))
		n--;
	if (n == 0)
		return if_empty;
	if (n > 1 && text[0] == '"' && text[n - 1] == '"')
		return race_tables_number(domain, pnstrdup(text + 1, n - 2));
	return race_tables_number(domain, pnstrdup(text, n));
}

/*
 * Weigh a range of numbers, as PostgreSQL writes it: [30,40), [30,40], (,10].  An end in round
 * brackets is outside.  A number with fractions has its ends in neither way: no cell is so narrow.
 */
static void
weigh_range(const RaceDomain *domain, const char *text, double *weights)
{
	size_t n = strlen(text);
	const char *comma = strchr(text, ',');
	double from;
	double to;

	if (n < 3 || comma == NULL || strchr(comma + 1, ',') != NULL ||
		(text[n - 1] != ')' && text[n - 1] != ']'))
		refuse_value(domain, psprintf("\"%s\"", race_cut(text)));
	from = end_of_range(domain, text + 1, comma - text - 1, -INFINITY);
	to = end_of_range(domain, comma + 1, text + n - 1 - (comma + 1), INFINITY);
	if (from > to)
		refuse_value(domain, "a range that ends before it begins");
	if (text[0] == '(' && domain->finest > 0)
		from = nextafter(from, INFINITY);
	if (text[n - 1] == ']' && (domain->finest > 0 || to >= domain->upper))
		to = nextafter(to, INFINITY);
	race_tables_range(domain, from, to, weights);
}

/* Weigh a number: one value, a range, or what is missing.  Of a record, it stands for its cell. */
static void
weigh_number(const RaceDomain *domain, const JsonbValue *value, bool record, double *weights)
{
	const char *text = value->type == jbvString ? scalar_text(value) : "";
	double number;

	if (value->type == jbvNull && domain->has_null)
		weights[domain->n] = 1;
	else if (text[0] == '[' || text[0] == '(')
		weigh_range(domain, text, weights);
	else if (record && !domain->whole && (value->type == jbvNumeric || value->type == jbvString))
		weigh_cell(domain, value, weights);
	else if (value->type == jbvNull || value->type == jbvBinary || domain->finest == 0)
		refuse_value(domain, value->type == jbvBinary ? "an array or an object" : "a single value");
	else
	{
		number = number_of(domain, value, 0);
		/* what is no multiple of their step is none of the values */
		if (number == value_from(domain, number))
			race_tables_range(
				domain, number,
				Max(race_multiple_above(domain->finest, number), nextafter(number, INFINITY)),
				weights);
	}
}

/*
 * Return weights of the cells of a column for the value of a key of "where": one value, or an array
 * of some.  Of a record, a number with a fraction stands for its cell.
 */
static double *
choose_cells(const RaceDomain *domain, JsonbValue *value, bool record)
{
	double *weights = palloc0(RaceDomainCells(domain) * sizeof(double));
	bool is_array = value->type == jbvBinary && JsonContainerIsArray(value->val.binary.data);
	uint32 n = is_array ? JsonContainerSize(value->val.binary.data) : 1;

	if (value->type == jbvBinary && !is_array)
		refuse_value(domain, "an object");
	for (uint32 i = 0; i < n; i++)
	{
		const JsonbValue *one =
			is_array ? getIthJsonbValueFromContainer(value->val.binary.data, i) : value;

		CHECK_FOR_INTERRUPTS();
		if (domain->category)
			weights[cell_of_category(domain, one, false)] = 1;
		else
			weigh_number(domain, one, record, weights);
	}
	return weights;
}

const double **
race_tables_where(const RaceOpenTables *open, Datum where, bool record)
{
	const double **weights = palloc0(open->columns * sizeof(double *));
	Jsonb *object = DatumGetJsonbP(where);
	JsonbIterator *iterator = JsonbIteratorInit(&object->root);
	JsonbValue value;
	int column = 0;
	int token;

	if (!JB_ROOT_IS_OBJECT(object))
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("\"where\" must be a JSON object"),
			 errhint(
				 "Write columns and values, as in {\"age\": \"[30,40)\", \"town\": \"Paris\"}.")));
	while ((token = JsonbIteratorNext(&iterator, &value, true)) != WJB_DONE)
	{
		if (token == WJB_KEY)
			column = race_tables_column(open, pnstrdup(value.val.string.val, value.val.string.len));
		else if (token == WJB_VALUE)
		{
			const double *before = weights[column];
			double *chosen = choose_cells(&open->domains[column], &value, record);

			/* a column may be named twice, by its name and its number: then both hold */
			for (uint32 i = 0; before != NULL && i < RaceDomainCells(&open->domains[column]); i++)
				chosen[i] *= before[i];
			weights[column] = chosen;
		}
	}
	return weights;
}

Datum
race_domains_ask(int n, const RaceDomain *domains, Jsonb *object)
{
	float8 *numbers;
	Datum record = race_domains_record(n, domains, &numbers);

	for (int i = 0; i < n; i++)
	{
		const RaceDomain *domain = &domains[i];
		JsonbValue name = {.type = jbvString, .val.string = {strlen(domain->name), domain->name}};
		JsonbValue *value = JB_ROOT_IS_OBJECT(object) ?
			findJsonbValueFromContainer(&object->root, JB_FOBJECT, &name) :
			NULL;

		if (value == NULL)
			ereport(
				ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the record has no column \"%s\"", domain->name),
				 errhint(
					 "Write a JSON object with all columns of the release, as in {\"age\": 57, \"town\": \"Paris\"}.")));
		if (value->type == jbvBinary || (value->type == jbvNull && !domain->has_null))
			refuse_value(domain, value->type == jbvNull ? "null" : "an object or an array");
		if (domain->category)
			race_domain_set_cell(domain, cell_of_category(domain, value, true), numbers);
		else
			race_domain_set_number(domain, number_of(domain, value, 0), value->type == jbvNull,
								   numbers);
		numbers += RaceDomainNumbers(domain);
	}
	return record;
}

/* -------------------------------------------------------------- estimates */

double
race_tables_weight(const RaceTable *table, double *const *of_table, Size cell)
{
	const uint32 columns[RACE_TABLE_COLUMNS] = {table->first, table->second, table->third};
	double weight = 1;

	for (int k = 0; k < RACE_TABLE_COLUMNS; k++)
		if (of_table[k] != NULL)
			weight *= of_table[k][race_contingency_place(table, columns[k], cell)];
	return weight;
}

/*
 * Return the variance of a sum of cells of a table.  The number of all records is more precise than
 * this table's: its noise is that which is left if its cells add up to them.
 */
static double
variance_of_sum(const RaceTableModel *model, const RaceTable *table, const RaceSumsNoise *noise)
{
	return Max(race_contingency_noise(table, noise, model->total_variance), 0);
}

/* Sum the cells of a table with these weights of its columns, or NULL.  Set the variance, too. */
static void
sum_table(const RaceOpenTables *open, const RaceTable *table, double *const *weights,
		  RaceTableAnswer *answer)
{
	const RaceTableModel *model = open->model;
	RaceSumsNoise noise = {0};
	double sum = 0;

	for (Size i = 0; i < table->cells; i++)
	{
		double weight = race_tables_weight(table, weights, i);

		if (weight == 0)
			continue;
		sum += weight * race_table_records(&open->view, model, table, i);
		race_contingency_add_noise(table, i, weight, weight, &noise);
	}
	answer->count = sum;
	answer->variance = variance_of_sum(model, table, &noise);
}

/*
 * Which weights a table is asked with: as they are, or those of the groups that lie within, or of
 * those that are met
 */
typedef enum Rounding
{
	AS_IT_IS,
	WITHIN,
	MET
} Rounding;

/* Return the group of a cell; in a table of one column, the first cell that was counted with it. */
static uint32
counted_together(const RaceContingency *tables, const RaceTable *table, uint32 column, uint32 cell)
{
	return table->first != table->second ? race_contingency_group(tables, column, cell) :
										   race_contingency_block(table, cell);
}

/* Return weights of groups, or of cells; NULL if cells counted together have different ones. */
static double *
round_weights(const RaceContingency *tables, const RaceTable *table, uint32 column,
			  const double *weights, Rounding rounding)
{
	uint32 cells = (uint32) tables->cells[column];
	double *rounded = palloc_extended(cells * sizeof(double), MCXT_ALLOC_HUGE);

	for (uint32 i = 0; i < cells; i++)
		rounded[i] = rounding == WITHIN;
	for (uint32 i = 0; i < cells; i++)
	{
		double *weight = &rounded[counted_together(tables, table, column, i)];

		if (rounding == AS_IT_IS)
			*weight = weights[i];
		else
			*weight = rounding == WITHIN ? Min(*weight, floor(weights[i])) :
										   Max(*weight, ceil(weights[i]));
	}
	for (uint32 i = 0; rounding == AS_IT_IS && i < cells; i++)
		if (rounded[counted_together(tables, table, column, i)] != weights[i])
		{
			pfree(rounded);
			return NULL;
		}
	for (uint32 i = 0; table->block > 1 && i < cells; i++)
		rounded[i] = rounded[race_contingency_block(table, i)];
	return rounded;
}

/* Return how many columns a table has, or how many of these have weights. */
static int
columns_of(const RaceTable *table)
{
	return table->first == table->second ? 1 :
		table->second == table->third    ? 2 :
										   RACE_TABLE_COLUMNS;
}

static int
weighted_columns(const RaceTable *table, const double *const *weights)
{
	return (weights[table->first] != NULL) +
		(table->second != table->first && weights[table->second] != NULL) +
		(table->third != table->second && weights[table->third] != NULL);
}

/*
 * Find the weights of the columns of a measured table.  Return false if it does not apply: all its
 * columns must have weights, of three columns two.
 */
static bool
weigh_table(const RaceOpenTables *open, const RaceTable *table, const double *const *weights,
			Rounding rounding, double **of_table)
{
	const uint32 columns[RACE_TABLE_COLUMNS] = {table->first, table->second, table->third};
	int n = columns_of(table);
	bool found = weighted_columns(table, weights) >= Min(n, 2);

	for (int k = 0; k < RACE_TABLE_COLUMNS; k++)
	{
		of_table[k] = NULL;
		if (!found || k >= n || weights[columns[k]] == NULL)
			continue;
		of_table[k] =
			round_weights(&open->model->tables, table, columns[k], weights[columns[k]], rounding);
		found = of_table[k] != NULL;
	}
	return found;
}

/* Sum a measured table for columns that have weights.  Return false if it does not cover them. */
static bool
ask_table(const RaceOpenTables *open, const RaceTable *table, const double *const *weights,
		  Rounding rounding, RaceTableAnswer *answer)
{
	double *of_table[RACE_TABLE_COLUMNS];
	bool found = weigh_table(open, table, weights, rounding, of_table);

	if (found)
		sum_table(open, table, of_table, answer);
	for (int k = 0; k < RACE_TABLE_COLUMNS; k++)
		if (of_table[k] != NULL)
			pfree(of_table[k]);
	return found;
}

double *
race_tables_ones(const RaceOpenTables *open, uint32 column)
{
	uint32 cells = RaceDomainCells(&open->domains[column]);
	double *ones = palloc_extended(cells * sizeof(double), MCXT_ALLOC_HUGE);

	while (cells > 0)
		ones[--cells] = 1;
	return ones;
}

const RaceTable *
race_tables_covering(const RaceOpenTables *open, const double *const *weights,
					 double *of_table[RACE_TABLE_COLUMNS])
{
	const RaceTableModel *model = open->model;
	int constrained = 0;

	for (uint32 i = 0; i < model->tables.columns; i++)
		constrained += weights[i] != NULL;
	for (int n = constrained; n <= RACE_TABLE_COLUMNS; n++)
		for (uint32 i = 0; i < model->n; i++)
			if (columns_of(&model->table[i]) == n &&
				weighted_columns(&model->table[i], weights) == constrained &&
				weigh_table(open, &model->table[i], weights, AS_IT_IS, of_table))
				return &model->table[i];
	return NULL;
}

/*
 * Set bounds of the number of records in the cells of columns, from measured tables: no more than
 * in some of these columns; no fewer than all records without those that are outside of a column,
 * nor, if a table has all these columns, than in its groups that lie within.
 */
static void
bound_by_tables(const RaceOpenTables *open, const double *const *weights, int constrained, double z,
				RaceTableAnswer *answer)
{
	const RaceTableModel *model = open->model;
	double outside = 0; /* records outside of all columns, at most */
	double within = 0;

	answer->lower = 0;
	answer->upper = Max(model->records, 0) + z * sqrt(model->total_variance);
	for (uint32 i = 0; i < model->n; i++)
	{
		bool several = model->table[i].first != model->table[i].second;
		RaceTableAnswer part;

		if (!ask_table(open, &model->table[i], weights, MET, &part))
			continue;
		answer->upper = Min(answer->upper, Max(part.count, 0) + z * sqrt(part.variance));
		if (several && weighted_columns(&model->table[i], weights) < constrained)
			continue;
		ask_table(open, &model->table[i], weights, WITHIN, &part);
		if (!several)
			outside += Max(
				model->records - part.count + z * sqrt(part.variance + model->total_variance), 0);
		if (several || constrained == 1)
			within = Max(within, part.count - z * sqrt(part.variance));
	}
	answer->lower = Min(Max(Max(model->records - outside, within), 0), answer->upper);
	answer->count = Min(Max(answer->count, answer->lower), answer->upper);
}

/* Return whether each weight is 0 or 1. */
static bool
are_whole(const RaceOpenTables *open, const double *const *weights)
{
	for (int column = 0; column < open->columns; column++)
		for (uint32 i = 0; weights[column] != NULL && i < RaceDomainCells(&open->domains[column]);
			 i++)
			if (weights[column][i] != 0 && weights[column][i] != 1)
				return false;
	return true;
}

void
race_tables_bound(double count, double variance, double z, RaceTableAnswer *answer)
{
	answer->measured = true;
	answer->independent = false;
	answer->estimate = count;
	answer->variance = variance;
	answer->count = Max(count, 0);
	answer->lower = Max(count - z * sqrt(variance), 0);
	answer->upper = Max(count, 0) + z * sqrt(variance);
}

/* Return the density of a normal distribution, or the probability that it is at most x. */
static double
normal_density(double x)
{
	return exp(-x * x / 2) / sqrt(2 * RACE_PI);
}

static double
normal_below(double x)
{
	return erfc(-x / sqrt(2)) / 2;
}

#define CHOSEN_STEPS 200 /* steps of an integral, and of a bisection */
#define CHOSEN_HALVINGS 40
#define CHOSEN_REACH 12 /* standard deviations below a count that are searched */

/*
 * Return the probability that the count of a chosen category is so large, if it has n persons and
 * passed.  The count is the mean of a table and of the sum of the number X that passed and others,
 * weighed by precision: so X is its part of the count, and a part that does not depend on it.
 */
static double
passed_above(const RaceDomain *domain, double n, double count, double variance)
{
	double error = sqrt(variance);
	double part = 1 / domain->persons_summed;
	double passing = pow(domain->persons_error, 2);
	double other = sqrt(Max(passing - variance * part * part, 1e-6 * variance * part * part));
	double peak = n + variance * part / passing * Max(domain->persons_least - n, 0);
	double step = (Max(peak - count, 0) + 8 * error) / CHOSEN_STEPS;
	double sum = 0;

	for (int i = 0; i < CHOSEN_STEPS; i++)
	{
		double y = count + (i + 0.5) * step;

		sum += normal_density((y - n) / error) / error *
			normal_below((n + (y - n) * part - domain->persons_least) / other) * step;
	}
	return sum /
		normal_below((n - domain->persons_least) / sqrt(variance * part * part + other * other));
}

/*
 * Return the same for noise with Laplace tails.  These have no memory: a count near the least
 * number carries little information.
 */
static double
passed_above_laplace(const RaceDomain *domain, double n, double count, double variance)
{
	double scale = sqrt(variance / 2);

	if (n <= domain->persons_least)
		return exp(-Max(count - domain->persons_least, 0) / scale);
	return exp(-Max(count - n, 0) / scale) / (2 - exp(-(n - domain->persons_least) / scale));
}

/*
 * Lower the interval of a chosen category, of which the number that passed is a measurement, too:
 * large noise passes more often, so near the least number that passes the lower end is that of the
 * distribution of counts of what passed (Fithian, Sun & Taylor 2014).  Records beyond the first one
 * of a person are taken to be as many as the numbers say.
 */
static void
bound_if_chosen(const RaceOpenTables *open, uint32 column, uint32 cell, double z,
				RaceTableAnswer *answer)
{
	bool gaussian = open->view.header->noise.mechanism == RACE_MECHANISM_GAUSSIAN;
	double missed =
		gaussian ? normal_below(-z) : exp(-z * sqrt(2)) / 2; /* as race_tables_z has it */
	const RaceDomain *domain = &open->domains[column];
	double further = 0;
	double low;
	double high;

	if (cell >= domain->n || !(domain->persons_summed > 0) || !(answer->variance > 0) ||
		open->model->table[column].single <= 1)
		return;
	if (domain->persons_summed > 1)
		further = Max(answer->estimate - domain->persons[cell], 0);
	low = Max(answer->estimate - further -
				  CHOSEN_REACH * Max(domain->persons_error, sqrt(answer->variance)),
			  1);
	high = answer->lower - further;
	for (int i = 0; i < CHOSEN_HALVINGS && low < high; i++)
	{
		double n = low + (high - low) / 2;

		double above = passed_above(domain, n, answer->estimate - further, answer->variance);

		if (!gaussian)
			above =
				Max(above,
					passed_above_laplace(domain, n, answer->estimate - further, answer->variance));
		if (above > missed)
			high = n;
		else
			low = n;
	}
	answer->lower = Min(answer->lower, high + further);
}

double
race_tables_z(const RaceOpenTables *open, double confidence)
{
	double z = race_inverse_normal((1 + confidence) / 2);

	if (open->view.header->noise.mechanism == RACE_MECHANISM_GAUSSIAN)
		return z;
	return Max(z, -log1p(-confidence) / sqrt(2));
}

/* Lower the interval of an event of one column in the same way, if it is one category. */
static void
bound_where_chosen(const RaceOpenTables *open, const double *const *weights, double z,
				   RaceTableAnswer *answer)
{
	for (int column = 0; column < open->columns; column++)
	{
		uint32 n = 0;
		uint32 cell = 0;

		for (uint32 i = 0; weights[column] != NULL && i < RaceDomainCells(&open->domains[column]);
			 i++)
			if (weights[column][i] != 0)
				n++, cell = i;
		if (n == 1)
			bound_if_chosen(open, column, cell, z, answer);
	}
}

void
race_tables_ask(const RaceOpenTables *open, const double *const *weights, double confidence,
				RaceTableAnswer *answer)
{
	const RaceTableModel *model = open->model;
	double z = race_tables_z(open, confidence);
	double *of_table[RACE_TABLE_COLUMNS];
	const RaceTable *table = race_tables_covering(open, weights, of_table);
	int constrained = 0;
	bool found = table != NULL;

	for (uint32 i = 0; i < model->tables.columns; i++)
		constrained += weights[i] != NULL;
	if (found)
		sum_table(open, table, of_table, answer);
	else if (constrained == 0)
	{
		answer->count = model->records;
		answer->variance = model->total_variance;
		found = true;
	}
	answer->measured = found && are_whole(open, weights);
	answer->independent = !found && !race_tables_connect(open, weights, -1);
	if (answer->measured)
	{
		race_tables_bound(answer->count, answer->variance, z, answer);
		if (constrained == 1)
			bound_where_chosen(open, weights, z, answer);
		return;
	}
	if (!found)
		answer->count = Max(model->records, 0) * race_model_event(model, weights, 0, NULL);
	bound_by_tables(open, weights, constrained, z, answer);
}

void
race_tables_add_dated(RaceResultRow *row, const RaceDomain *domain, bool known, double number)
{
	if (known && (is_dated(domain) || strcmp(domain->type, "interval") == 0))
		race_row_add_text(row, race_domain_number_text(domain, number));
	else
		race_row_add_null(row);
}

bool
race_tables_connect(const RaceOpenTables *open, const double *const *weights, int column)
{
	for (int j = 0; j < open->columns; j++)
		if (weights[j] != NULL)
		{
			if (column < 0)
				column = j;
			if (open->model->component[j] != open->model->component[column])
				return false;
		}
	return true;
}

const char *
race_tables_source(bool measured, bool independent)
{
	return measured ? "measured" : independent ? "not measured" : "model";
}

void
race_tables_add_answer(RaceResultRow *row, const RaceTableAnswer *answer)
{
	race_row_add_if(row, !answer->independent, Float8GetDatum(answer->count));
	race_row_add(row, Float8GetDatum(answer->lower));
	race_row_add(row, Float8GetDatum(answer->upper));
	race_row_add_text(row, race_tables_source(answer->measured, answer->independent));
}

double
race_confidence_arg(FunctionCallInfo fcinfo, int arg)
{
	double confidence = PG_GETARG_FLOAT8(arg);

	if (!(confidence > 0 && confidence < 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("confidence must be a number between 0 and 1"), errhint("0.95 is usual.")));
	return confidence;
}

PG_FUNCTION_INFO_V1(race_count_where);
PG_FUNCTION_INFO_V1(race_cross_table);
PG_FUNCTION_INFO_V1(race_records);
PG_FUNCTION_INFO_V1(race_density);
PG_FUNCTION_INFO_V1(race_number_text);

/* Implement race_count(value, where, confidence), and _race_tables_count(). */
Datum
race_count_where(PG_FUNCTION_ARGS)
{
	RaceOpenTables open;
	RaceTableAnswer answer;
	RaceResultRow row;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2))
		PG_RETURN_NULL();
	race_row_start(&row, fcinfo);
	race_tables_open(PG_GETARG_DATUM(0), &open);
	race_tables_ask(&open, race_tables_where(&open, PG_GETARG_DATUM(1), false),
					race_confidence_arg(fcinfo, 2), &answer);
	race_tables_add_answer(&row, &answer);
	PG_RETURN_DATUM(race_row_datum(&row));
}

Jsonb *
race_tables_json_arg(FunctionCallInfo fcinfo, int arg)
{
	Oid type = get_fn_expr_argtype(fcinfo->flinfo, arg);
	Oid output;
	bool varlena;

	if (type == JSONBOID)
		return PG_GETARG_JSONB_P(arg);
	getTypeOutputInfo(type, &output, &varlena);
	return DatumGetJsonbP(DirectFunctionCall1(
		jsonb_in, CStringGetDatum(OidOutputFunctionCall(output, PG_GETARG_DATUM(arg)))));
}

/* ----------------------------------------------------------- cross tables */

struct RaceCrosstab
{
	RaceOpenTables open;
	int column[2]; /* the lower one first; of a histogram both are the same */
	bool swapped;  /* whether the first argument is the higher column */
	RaceTableLine *lines[2];
	uint32 n[2];
	double z;
	double *records; /* [groups][groups], measured, or NULL */
	double variance; /* variance of each measured count */
	double *shares;  /* [cells][cells]: shares by the model, if some lines need it */
	RaceResultRow row;
};

/* Set the group of each line that has the cells of one and no others. */
static void
set_groups(const RaceContingency *tables, uint32 column, RaceTableLine *lines, uint32 n)
{
	uint32 *cells = palloc0(race_contingency_groups(tables, column) * sizeof(uint32));
	uint32 *group_of =
		palloc_extended((Size) tables->cells[column] * sizeof(uint32), MCXT_ALLOC_HUGE);

	for (uint32 i = 0; i < (uint32) tables->cells[column]; i++)
		cells[group_of[i] = race_contingency_group(tables, column, i)]++;
	for (uint32 i = 0; i < n; i++)
	{
		uint32 group = group_of[lines[i].first];
		bool alone = cells[group] == lines[i].last - lines[i].first + 1;

		for (uint32 k = lines[i].first; k <= lines[i].last; k++)
			alone &= group_of[k] == group;
		lines[i].group = alone ? (int) group : -1;
	}
	pfree(group_of);
	pfree(cells);
}

RaceTableLine *
race_tables_lines(const RaceOpenTables *open, uint32 column, bool groups, uint32 *n)
{
	const RaceDomain *domain = &open->domains[column];
	const RaceTable *table = &open->model->table[column];
	uint32 step = domain->category ? 1 : Max(groups ? domain->group : 1, table->block);
	uint32 cells = RaceDomainCells(domain);
	RaceTableLine *lines =
		palloc_extended(cells * sizeof(RaceTableLine), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);

	*n = 0;
	for (uint32 i = 0; i < cells; i = lines[(*n)++].last + 1)
	{
		RaceTableLine *line = &lines[*n];
		RaceSumsNoise noise = {0};

		CHECK_FOR_INTERRUPTS();
		line->first = i;
		line->last = i < domain->n ? Min(i + step, domain->n) - 1 : i;
		for (uint32 k = line->first; k <= line->last; k++)
		{
			line->count += race_table_records(&open->view, open->model, table, k);
			race_contingency_add_noise(table, k, 1, 1, &noise);
		}
		line->variance = variance_of_sum(open->model, table, &noise);
	}
	if (groups)
		set_groups(&open->model->tables, column, lines, *n);
	return lines;
}

void
race_tables_add_range(RaceResultRow *row, const RaceDomain *domain, double low, double high)
{
	if (race_tables_last(domain, low, high) == low)
		race_row_add_text(row, race_domain_number_text(domain, low));
	else
		race_row_add_text(row,
						  psprintf("[%s,%s)", race_domain_number_text(domain, low),
								   race_domain_number_text(domain, high)));
}

void
race_tables_add_label(RaceResultRow *row, const RaceDomain *domain, const RaceTableLine *line)
{
	if (line->first >= domain->n && domain->has_null && line->first == domain->n)
		race_row_add_null(row);
	else if (line->first >= domain->n)
		race_row_add_text(row, other_label(domain));
	else if (domain->category)
		race_row_add_text(row, domain->categories[line->first]);
	else
		race_tables_add_range(row, domain, race_tables_edge(domain, line->first),
							  race_tables_edge(domain, line->last + 1));
}

/* Count the records in the lines of two columns. */
static void
ask_lines(const RaceCrosstab *crosstab, const RaceTableLine *first, const RaceTableLine *second,
		  RaceTableAnswer *answer)
{
	const RaceTableModel *model = crosstab->open.model;
	Size cells = (Size) model->tables.cells[crosstab->column[1]];
	double share = 0;
	double z = crosstab->z;

	if (crosstab->records != NULL && first->group >= 0 && second->group >= 0)
	{
		Size width = race_contingency_groups(&model->tables, crosstab->column[1]);

		race_tables_bound(crosstab->records[first->group * width + second->group],
						  crosstab->variance, z, answer);
		return;
	}
	answer->measured = false;
	answer->independent =
		model->component[crosstab->column[0]] != model->component[crosstab->column[1]];
	answer->upper = Max(
		Min(first->count + z * sqrt(first->variance), second->count + z * sqrt(second->variance)),
		0);
	answer->lower = first->count + second->count - model->records -
		z * sqrt(first->variance + second->variance + model->total_variance);
	answer->lower = Min(Max(answer->lower, 0), answer->upper);
	for (uint32 i = first->first; i <= first->last; i++)
		for (uint32 j = second->first; j <= second->last; j++)
			share += crosstab->shares[i * cells + j];
	answer->count = Min(Max(model->records * share, answer->lower), answer->upper);
}

double *
race_tables_pair(const RaceOpenTables *open, uint32 column, uint32 other, double *variance)
{
	const RaceTableModel *model = open->model;
	uint32 width = race_contingency_groups(&model->tables, other);
	Size groups = (Size) race_contingency_groups(&model->tables, column) * width;
	const double **weights = palloc0(open->columns * sizeof(double *));
	double *of_table[RACE_TABLE_COLUMNS];
	const RaceTable *table;
	double *records;

	weights[column] = race_tables_ones(open, column);
	weights[other] = race_tables_ones(open, other);
	table = race_tables_covering(open, weights, of_table);
	if (table == NULL)
		return NULL;
	records = palloc_extended(groups * sizeof(double), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (Size i = 0; i < table->cells; i++)
		records[race_contingency_place(table, column, i) * width +
				race_contingency_place(table, other, i)] +=
			race_table_records(&open->view, model, table, i);
	*variance = table->variance * (double) (table->cells / groups);
	return records;
}

RaceCrosstab *
race_crosstab_open(const RaceOpenTables *open, int column, int other, double confidence)
{
	RaceCrosstab *crosstab = palloc0(sizeof(RaceCrosstab));
	bool same = column == other;
	Size cells = 1;

	crosstab->open = *open;
	crosstab->z = race_tables_z(open, confidence);
	crosstab->swapped = column > other;
	crosstab->column[0] = Min(column, other);
	crosstab->column[1] = Max(column, other);
	crosstab->n[1] = 1;
	for (int side = 0; side < (same ? 1 : 2); side++)
	{
		crosstab->lines[side] =
			race_tables_lines(&crosstab->open, crosstab->column[side], !same, &crosstab->n[side]);
		cells *= RaceDomainCells(&crosstab->open.domains[crosstab->column[side]]);
	}
	if (cells * sizeof(double) > RACE_MAX_SKETCH_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the cross table would have more than %llu cells",
						(unsigned long long) (RACE_MAX_SKETCH_BYTES / sizeof(double)))));
	if (!same)
	{
		/* what was measured, and what the model says where a table was not */
		crosstab->records = race_tables_pair(&crosstab->open, crosstab->column[0],
											 crosstab->column[1], &crosstab->variance);
		crosstab->shares = palloc_extended(cells * sizeof(double), MCXT_ALLOC_HUGE);
		race_model_pair(crosstab->open.model, crosstab->column[0], crosstab->column[1], true,
						crosstab->shares);
	}
	return crosstab;
}

const RaceTableLine *
race_crosstab_lines(const RaceCrosstab *crosstab, bool other, uint32 *n)
{
	int side = other != crosstab->swapped;

	*n = crosstab->n[side];
	return crosstab->lines[side];
}

void
race_crosstab_ask(const RaceCrosstab *crosstab, uint32 i, uint32 j, RaceTableAnswer *answer)
{
	ask_lines(crosstab, &crosstab->lines[0][crosstab->swapped ? j : i],
			  &crosstab->lines[1][crosstab->swapped ? i : j], answer);
}

static void
start_crosstab(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	RaceCrosstab *crosstab;
	RaceOpenTables open;
	double confidence;
	int column;
	int other;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(3))
		return;
	race_tables_open(PG_GETARG_DATUM(0), &open);
	confidence = race_confidence_arg(fcinfo, 3);
	column = race_tables_column(&open, text_to_cstring(PG_GETARG_TEXT_PP(1)));
	other =
		PG_ARGISNULL(2) ? column : race_tables_column(&open, text_to_cstring(PG_GETARG_TEXT_PP(2)));
	crosstab = race_crosstab_open(&open, column, other, confidence);
	race_row_start(&crosstab->row, fcinfo);
	call->user_fctx = crosstab;
	call->max_calls = (uint64) crosstab->n[0] * crosstab->n[1];
}

/* Add the edges of a line of numbers, or NULL. */
static void
add_edges(RaceResultRow *row, const RaceDomain *domain, const RaceTableLine *line)
{
	bool is_range = line != NULL && !domain->category && line->first < domain->n;

	race_row_add_if(row, is_range,
					Float8GetDatum(is_range ? race_tables_edge(domain, line->first) : 0));
	race_row_add_if(row, is_range,
					Float8GetDatum(is_range ? race_tables_edge(domain, line->last + 1) : 0));
}

/* Return the next row of a cross table.  Rows are in the order of the first argument's column. */
static Datum
next_of_crosstab(void *state, uint64 i)
{
	RaceCrosstab *crosstab = state;
	const RaceDomain *domains = crosstab->open.domains;
	uint32 n = crosstab->swapped ? crosstab->n[0] : crosstab->n[1];
	uint32 place[2] = {i / n, i % n};
	int side = crosstab->swapped ? 1 : 0;
	const RaceTableLine *first = &crosstab->lines[side][place[0]];
	const RaceTableLine *second = NULL;
	RaceTableAnswer answer;

	race_tables_add_label(&crosstab->row, &domains[crosstab->column[side]], first);
	if (crosstab->column[0] == crosstab->column[1])
	{
		race_row_add_null(&crosstab->row);
		race_tables_bound(first->count, first->variance, crosstab->z, &answer);
		if (first->first == first->last)
			bound_if_chosen(&crosstab->open, crosstab->column[0], first->first, crosstab->z,
							&answer);
	}
	else
	{
		second = &crosstab->lines[1 - side][place[1]];
		race_tables_add_label(&crosstab->row, &domains[crosstab->column[1 - side]], second);
		ask_lines(crosstab, side == 0 ? first : second, side == 0 ? second : first, &answer);
	}
	race_tables_add_answer(&crosstab->row, &answer);
	if (crosstab->row.n == crosstab->row.desc->natts)
		return race_row_datum(&crosstab->row); /* of race_crosstab */
	add_edges(&crosstab->row, &domains[crosstab->column[side]], first);
	add_edges(&crosstab->row, &domains[crosstab->column[1 - side]], second);
	race_row_add_if(&crosstab->row, !answer.independent,
					Float8GetDatum(answer.measured ? answer.estimate : answer.count));
	race_row_add_if(&crosstab->row, answer.measured,
					Float8GetDatum(answer.measured ? sqrt(answer.variance) : 0));
	return race_row_datum(&crosstab->row);
}

/*
 * Implement race_crosstab(value, column1, column2, confidence), and _race_tables_crosstab() with
 * more columns.
 */
Datum
race_cross_table(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_crosstab, next_of_crosstab);
}

/* Implement _race_number_text(type, number, dated). */
Datum
race_number_text(PG_FUNCTION_ARGS)
{
	RaceDomain domain = {.type = text_to_cstring(PG_GETARG_TEXT_PP(0))};

	if (PG_GETARG_BOOL(2) && !is_dated(&domain) && strcmp(domain.type, "interval") != 0)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(race_domain_number_text(&domain, PG_GETARG_FLOAT8(1))));
}

/*
 * Implement _race_records(sketch): return the records and their standard error.  Of tables, each
 * column's table counts all records, too.
 */
Datum
race_records(PG_FUNCTION_ARGS)
{
	RaceView view;
	RaceResultRow row;
	double records;
	double variance;

	race_row_start(&row, fcinfo);
	race_sketch_view_header_any(PG_GETARG_DATUM(0), &view);
	records = (double) view.header->count;
	variance = view.header->noise.count_variance;
	if (race_params_are_measured(view.params) && view.header->noise.status == RACE_STATUS_PRIVATE)
	{
		race_sketch_view_any(PG_GETARG_DATUM(0), &view);
		records = race_tables_records(&view, &variance);
	}
	race_row_add(&row, Float8GetDatum(records));
	race_row_add(&row, Float8GetDatum(sqrt(variance)));
	PG_RETURN_DATUM(race_row_datum(&row));
}

/*
 * Implement _race_density(count, records, low, high, low2, high2).  Arithmetic of SQL raises errors
 * for what is too large or too small for a double, which bounds of columns and shares of a model may
 * be: then this returns NULL.
 */
Datum
race_density(PG_FUNCTION_ARGS)
{
	double width = PG_GETARG_FLOAT8(3) - PG_GETARG_FLOAT8(2);
	double width2 = PG_GETARG_FLOAT8(5) - PG_GETARG_FLOAT8(4);

	/* one after the other, since the area of a cell need not be a double */
	double density = PG_GETARG_FLOAT8(0) / PG_GETARG_FLOAT8(1) / width / width2;

	/* no double is so small: where there are records, 0 would be wrong */
	if (!isfinite(density) || (density == 0 && PG_GETARG_FLOAT8(0) > 0))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(density);
}
