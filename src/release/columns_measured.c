/*
 * columns_measured.c
 *		What a release by columns measures: domains of columns, and the tables of them that are
 *		counted
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/jsonb.h"

#include "hash/contingency.h"
#include "privacy/noise.h"
#include "sketch/domain.h"
#include "release/columns.h"
#include "release/columns_measured.h"
#include "release/dataset.h"
#include "release/ledger.h"
#include "release/shown.h"
#include "choice/select_tables.h"
#include "sketch/text.h"

/* --------------------------------------------------------------- domains */

#define MOST_COLUMNS 99   /* columns of a release, with a measure */
#define MOST_NUMBERS 1023 /* numbers of moments */
#define MOST_BOUND 1e100  /* bounds of these numbers, in absolute value */
/*
 * columns beyond which groups of numbers are twice as wide, where there are more than so many of them:
 * a quarter of the counters
 */
#define MOST_FINE 50
#define COARSE_GROUPS 32

/* Names, units and bounds of the numbers of a record, as they are looked up */
typedef struct Numbers
{
	List *names;
	List *units;          /* char *: units, or NULL */
	StringInfoData lower; /* lower bounds of moments: numbers as text */
	StringInfoData upper;
} Numbers;

/* Raise what is wrong with a list of names of columns; return it. */
static List *
read_names(Datum columns, const char *measure)
{
	ArrayType *array = DatumGetArrayTypeP(columns);
	List *names = race_texts_list(columns);

	if (ARR_NDIM(array) != 1 || !race_texts_differ(names))
		race_refuse_arguments(
			"columns must be a list of different names",
			"For example columns => '{age,town}'; race_columns shows which there are.");
	if (list_length(names) < ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("the name of a column must not be NULL")));
	if (list_length(names) + (measure != NULL) > MOST_COLUMNS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a release can have at most %d columns, with a measure", MOST_COLUMNS)));
	return names;
}

/* Return what gives a column a domain: a statement, or in its place advice. */
static char *
statement_for_column(const RaceKnownColumn *column)
{
	if (column->hint == NULL)
		return psprintf("Leave \"%s\" out, or protect a view in which it is of another type.",
						column->schema.name);
	if (column->domain.chosen)
		return psprintf("%s; or let the release choose them: delta => 1e-6", column->hint);
	if (strstr(column->hint, "upper") != NULL)
		return psprintf("%s; or bounds => 'private', epsilon => 0.05", column->hint);
	return column->hint;
}

/* Raise 22023: columns have no public domain.  Each is named, with what to do. */
static void
refuse_columns(const RaceDataset *dataset, const List *columns)
{
	const RaceKnownColumn *first = linitial(columns);
	StringInfoData reasons;
	StringInfoData statements;
	ListCell *cell;

	initStringInfo(&reasons);
	initStringInfo(&statements);
	foreach (cell, columns)
	{
		const RaceKnownColumn *column = lfirst(cell);

		if (list_length(columns) > 1)
			appendStringInfo(&reasons, "\"%s\": %s.\n", column->schema.name, column->reason);
		appendStringInfo(&statements, "%s%s", statements.len == 0 ? "" : "\n",
						 statement_for_column(column));
	}
	if (list_length(columns) == 1)
		appendStringInfo(&reasons, "%c%s. ", pg_toupper((unsigned char) first->reason[0]),
						 first->reason + 1);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 list_length(columns) == 1 ?
				 errmsg("column \"%s\" of dataset \"%s\" has no public domain", first->schema.name,
						dataset->name) :
				 errmsg("%d columns of dataset \"%s\" have no public domain", list_length(columns),
						dataset->name),
			 errdetail("%sNothing was read and nothing charged.", reasons.data),
			 errhint("%s", statements.data)));
}

/* Return the column of a name. */
static const RaceKnownColumn *
find_measured(const RaceDataset *dataset, const List *columns, const char *name)
{
	const RaceKnownColumn *column = race_columns_find(columns, name);

	if (column == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("dataset \"%s\" has no column \"%s\"", dataset->name, race_cut(name)),
				 errhint("race_columns shows which there are.")));
	return column;
}

/* Check that columns have a domain, or are free to choose one. */
static void
check_domains(const RaceDataset *dataset, const List *known, const List *names, bool may_choose)
{
	List *without = NIL;
	ListCell *cell;

	foreach (cell, names)
	{
		const RaceKnownColumn *column = find_measured(dataset, known, lfirst(cell));

		if (column->reason != NULL && !(may_choose && column->domain.chosen))
			without = lappend(without, unconstify(RaceKnownColumn *, column));
	}
	if (without != NIL)
		refuse_columns(dataset, without);
}

/* Raise 22023 for a category or a type that readers would not see. */
static void
check_shown(const RaceKnownColumn *column)
{
	char *what = psprintf("a category or the type of column \"%s\"", column->schema.name);

	for (uint32 i = 0; column->domain.categories != NULL && i < column->domain.n; i++)
		race_check_text_shown(what, column->domain.categories[i], false);
	race_check_text_shown(what, column->type, false);
}

static void
add_number(Numbers *numbers, char *name, char *unit, double lower, double upper)
{
	const char *comma = numbers->names == NIL ? "" : ",";

	numbers->names = lappend(numbers->names, name);
	numbers->units = lappend(numbers->units, unit);
	appendStringInfo(&numbers->lower, "%s%.17g", comma, lower);
	appendStringInfo(&numbers->upper, "%s%.17g", comma, upper);
}

/* Let the parts of cells (contingency.h) be counted of a measure, which must be a number. */
static void
use_measure(const RaceDataset *dataset, const RaceKnownColumn *column, RaceDomain *domain)
{
	if (column->domain.category)
		ereport(
			ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("measure \"%s\" of dataset \"%s\" is no number", column->schema.name,
					dataset->name),
			 errdetail(
				 "A measure is a number whose mean is wanted, for the values of columns. Nothing was read and nothing charged."),
			 errhint("race_columns shows the kind of each column.")));
	domain->measure = true;
	domain->n = 2;
	domain->group = 0;
}

/*
 * Add the numbers of a column of a vector: itself, or 0 or 1 for each category; and 0 or 1 for what
 * is missing.
 */
static void
add_vector(Numbers *numbers, const RaceDataset *dataset, const RaceKnownColumn *column)
{
	const RaceDomain *domain = &column->domain;
	Oid type = column->schema.subject.type;

	if (!domain->category &&
		(domain->lower == domain->upper ||
		 Max(fabs(domain->lower), fabs(domain->upper)) > MOST_BOUND))
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("moments cannot have column \"%s\" of dataset \"%s\", which is from %s to %s",
					column->schema.name, dataset->name, race_typed_text(type, domain->lower),
					race_typed_text(type, domain->upper)),
			 errdetail(
				 "Its bounds must differ, and lie between -%g and %g. Nothing was read and nothing charged.",
				 MOST_BOUND, MOST_BOUND),
			 errhint("Leave it out, or describe it by other bounds (race_describe).")));
	if (!domain->category)
		add_number(numbers, column->schema.name, column->unit, domain->lower, domain->upper);
	/* 0 and 1 from -1 to 1: a record has few numbers that are not 0, and less noise beside them */
	for (uint32 i = 0; domain->category && i < domain->n; i++)
		add_number(numbers, psprintf("%s = %s", column->schema.name, domain->categories[i]), NULL,
				   -1, 1);
	if (domain->has_null)
		add_number(numbers, psprintf("%s is null", column->schema.name), NULL, -1, 1);
}

/* Return where the domains of columns come from, as jsonb; 0 if none has a source. */
static Datum
sources_of(const List *columns)
{
	StringInfoData json;
	ListCell *cell;

	initStringInfo(&json);
	foreach (cell, columns)
	{
		const RaceKnownColumn *column = lfirst(cell);

		if (column->source == NULL)
			continue;
		appendStringInfoString(&json, json.len == 0 ? "{" : ", ");
		escape_json(&json, column->schema.name);
		appendStringInfoString(&json, ": ");
		escape_json(&json, column->source);
	}
	if (json.len == 0)
		return (Datum) 0;
	appendStringInfoChar(&json, '}');
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data));
}

static void
start_numbers(Numbers *numbers)
{
	memset(numbers, 0, sizeof(Numbers));
	initStringInfo(&numbers->lower);
	initStringInfo(&numbers->upper);
}

/* Set what is known of the numbers of a record. */
static void
use_numbers(RaceColumnsMeasured *measured, const Numbers *numbers)
{
	bool units = false;
	ListCell *cell;

	foreach (cell, numbers->units)
		units |= lfirst(cell) != NULL;
	measured->names = race_texts_array(numbers->names);
	measured->units = units ? race_texts_array(numbers->units) : (Datum) 0;
}

void
race_columns_measure(const RaceLedger *ledger, const RaceDataset *dataset, Datum columns,
					 const char *measure, bool may_choose, RaceColumnsMeasured *measured)
{
	RaceColumnsOf of = {dataset->name, dataset->relation, dataset->public_tables};
	List *names = read_names(columns, measure);
	int n = list_length(names);
	List *known;
	Numbers numbers;
	ListCell *cell;

	if (measure != NULL)
		names = lappend(names, unconstify(char *, measure));
	known = race_columns_look_up(ledger, &of, names);
	check_domains(dataset, known, names, may_choose);
	start_numbers(&numbers);
	memset(measured, 0, sizeof(RaceColumnsMeasured));
	measured->domains = palloc0(list_length(names) * sizeof(RaceDomain));
	foreach (cell, names)
	{
		const RaceKnownColumn *column = find_measured(dataset, known, lfirst(cell));
		RaceDomain *domain = &measured->domains[measured->n++];
		bool is_measure = measured->n > n;

		check_shown(column);
		*domain = column->domain;
		if (is_measure)
			use_measure(dataset, column, domain);
		else if (n > MOST_FINE && !domain->category && domain->n > COARSE_GROUPS * domain->group)
			domain->group *= 2;
		add_number(&numbers, is_measure ? psprintf("mean of %s", domain->name) : domain->name,
				   column->unit, domain->lower, domain->upper);
	}
	measured->sources = sources_of(known);
	use_numbers(measured, &numbers);
}

void
race_columns_measure_vector(const RaceLedger *ledger, const RaceDataset *dataset, Datum columns,
							RaceColumnsMeasured *measured)
{
	RaceColumnsOf of = {dataset->name, dataset->relation, dataset->public_tables};
	List *names = read_names(columns, NULL);
	List *known = race_columns_look_up(ledger, &of, names);
	Numbers numbers;
	ListCell *cell;
	int n;

	check_domains(dataset, known, names, false);
	start_numbers(&numbers);
	memset(measured, 0, sizeof(RaceColumnsMeasured));
	measured->domains = palloc0(list_length(names) * sizeof(RaceDomain));
	foreach (cell, names)
	{
		const RaceKnownColumn *column = find_measured(dataset, known, lfirst(cell));
		RaceDomain *domain = &measured->domains[measured->n++];

		check_shown(column);
		*domain = column->domain;
		domain->vector = true;
		add_vector(&numbers, dataset, column);
	}
	n = list_length(numbers.names);
	if (n > MOST_NUMBERS)
		ereport(
			ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("moments can be of at most %d numbers, and these columns have %d", MOST_NUMBERS,
					n),
			 errdetail(
				 "A column has a number for each category, and one for NULL. Nothing was read and nothing charged."),
			 errhint(
				 "Leave out columns of many categories, or release tables of them: CALL race_release.")));
	measured->sources = sources_of(known);
	use_numbers(measured, &numbers);
	measured->params = psprintf("moments(dims=%d, targets=0, lower={%s}, upper={%s})", n,
								numbers.lower.data, numbers.upper.data);
}

/*
 * Write the present domains of columns, or why they have none: [{"name": ..., "domain": ...,
 * "reason": ...}, ...].
 */
static Datum
domains_now(const List *columns)
{
	StringInfoData json;
	ListCell *cell;

	initStringInfo(&json);
	foreach (cell, columns)
	{
		const RaceKnownColumn *column = lfirst(cell);

		appendStringInfoString(&json, json.len == 0 ? "[{\"name\": " : ", {\"name\": ");
		escape_json(&json, column->schema.name);
		if (RaceColumnIsCounted(column))
		{
			appendStringInfoString(&json, ", \"domain\": ");
			race_domain_write(&json, &column->domain);
		}
		if (column->reason != NULL)
		{
			appendStringInfoString(&json, ", \"reason\": ");
			escape_json(&json, column->reason);
		}
		appendStringInfoChar(&json, '}');
	}
	appendStringInfoString(&json, json.len == 0 ? "[]" : "]");
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data));
}

Datum
race_columns_check_again(const RaceLedger *ledger, const RaceDataset *dataset, const char *release,
						 Datum domains)
{
	RaceColumnsOf of = {dataset->name, dataset->relation, dataset->public_tables};
	int n;
	RaceDomain *before = race_domains_read(DatumGetJsonbP(domains), &n, true);
	List *names = NIL;
	List *columns;

	for (int i = 0; i < n; i++)
		names = lappend(names, before[i].name);
	columns = race_columns_look_up(ledger, &of, names);
	{
		RaceParameter parameters[] = {RaceText(release),
									  {JSONBOID, domains, false},
									  {JSONBOID, domains_now(columns), false}};

		race_ledger_run(ledger, "SELECT _racepriv._race_check_domains($1, $2, $3)",
						lengthof(parameters), parameters);
	}
	return sources_of(columns);
}

/* ---------------------------------------------------------------- tables */

/*
 * The memory of a release by columns, at most.  A counter is an exact, a noisy and a copied
 * number.  A fit keeps so many for each cell that was measured (HISTORY in graphical_fit.c), and
 * for each cell of a clique
 */
#define MAX_MEGABYTES 1000
#define NUMBERS_COUNTER 3
#define NUMBERS_FIT 25
#define NUMBERS_CLIQUE 5

/*
 * How much more errors of the label's tables, and of those in the workload, matter than those of
 * others
 */
#define LABEL_WEIGHT 4

#define MOST_OF_SET 3 /* columns in a set of the workload */

/*
 * Tables of the label with two other columns are counted, and may be chosen, if they have at most
 * this number of cells: 100 MB
 */
#define LABEL_CELLS 4000000

/* Return the number of a column; raise 42703 if there is none of this name. */
static int
find_column(const char *what, const char *name, const RaceDomain *domains, int n)
{
	const char **names = palloc(n * sizeof(char *));
	const char *nearest;
	int i;

	for (i = 0; i < n && strcmp(domains[i].name, name) != 0; i++)
		names[i] = domains[i].name;
	if (i < n)
		return i;
	nearest = race_nearest_name(name, names, n);
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("%s \"%s\" is not among the columns", what, race_cut(name)),
			 nearest != NULL ?
				 errhint("Perhaps you meant \"%s\".", race_cut(nearest)) :
				 errhint("It says which columns matter most; name them in columns, too.")));
	return 0; /* not reached */
}

/*
 * Set the columns of a set of the workload, like "age*town", ascending; return how many there are.
 */
static int
read_set(char *set, const RaceDomain *domains, int n, int *columns)
{
	int found = 0;
	char *name;

	/* bound: MOST_OF_SET, then it returns */
	while ((name = strsep(&set, "*")) != NULL)
	{
		int column;
		int i;

		/* bound: the text */
		while (*name == ' ')
			name++;
		for (i = (int) strlen(name); i > 0 && name[i - 1] == ' '; i--)
			name[i - 1] = '\0';
		column = find_column("workload column", name, domains, n);
		for (i = found; i > 0 && columns[i - 1] > column; i--)
			columns[i] = columns[i - 1];
		columns[i] = column;
		if (++found > MOST_OF_SET || (i > 0 && columns[i - 1] == column))
			return 0;
	}
	return found;
}

/*
 * Add a table of several columns to rows of parameters, unless it is there; of three columns, count
 * its cells.
 */
static void
add_set(RaceCounted *counted, StringInfo rows, const int *columns, int found, int weight)
{
	const RaceDomain *domains = counted->domains;
	char *table = psprintf(",{%d,%d,", columns[0],
						   columns[1] + (found == 2 ? 0 : RACE_CONTINGENCY_COLUMNS * columns[2]));

	if (strstr(rows->data, table) != NULL)
		return;
	appendStringInfo(rows, "%s%d}", table, weight);
	counted->sets++;
	if (found == 2)
		return;
	counted->triples++;
	counted->counters += (double) RaceDomainGroups(&domains[columns[0]]) *
		RaceDomainGroups(&domains[columns[1]]) * RaceDomainGroups(&domains[columns[2]]);
}

/* Does a release tell the sum of a column by its ends, and not by its cells alone? */
static bool
has_ends(const RaceCounted *counted, int column)
{
	const RaceDomain *domain = &counted->domains[column];

	return counted->n == counted->columns && !domain->category && domain->n > 1;
}

/*
 * Read a sum of the workload, like "sum(price)": set how much it matters.  Return false if the text
 * is no sum.
 */
static bool
read_sum(char *set, RaceCounted *counted, int *sums)
{
	Size length = strlen(set);
	int column;

	if (strncmp(set, "sum(", 4) != 0 || set[length - 1] != ')')
		return false;
	set[length - 1] = '\0';
	column = find_column("workload column", set + 4, counted->domains, counted->columns);
	if (sums == NULL || !has_ends(counted, column))
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("the sum of \"%s\" cannot be measured by itself", race_cut(set + 4)),
			 errhint(
				 "Sums are of numbers, in a release without a measure and no series; others follow from counts.")));
	sums[column] = LABEL_WEIGHT;
	return true;
}

/*
 * Write the sets of the workload as rows of parameters, those of three columns and of two, and set
 * which sums it has.
 */
static void
read_workload(Datum workload, RaceCounted *counted, StringInfo rows, int *sums)
{
	Datum *sets;
	bool *nulls;
	int length;

	deconstruct_array(DatumGetArrayTypeP(workload), TEXTOID, -1, false, TYPALIGN_INT, &sets, &nulls,
					  &length);
	for (int i = 0; i < length; i++)
	{
		int columns[MOST_OF_SET + 1];
		char *set = nulls[i] ? NULL : TextDatumGetCString(sets[i]);
		int found = 0;

		if (set != NULL && read_sum(set, counted, sums))
			continue;
		if (set != NULL)
			found = read_set(set, counted->domains, counted->columns, columns);
		if (found < 2)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("workload must have sets of 2 or 3 columns, or sums"),
					 errhint("For example workload => '{age*income,age*town*sex,sum(income)}'.")));
		add_set(counted, &rows[found == 2], columns, found, LABEL_WEIGHT);
	}
}

/* Add the tables of a label with each two other columns, which may be chosen. */
static void
add_label_tables(RaceCounted *counted, int label, StringInfo rows)
{
	int others = counted->columns - 1;
	double cells = 0;

	for (int i = 0; i < counted->columns; i++)
		for (int j = i + 1; j < counted->columns; j++)
			if (i != label && j != label)
				cells += (double) RaceDomainGroups(&counted->domains[i]) *
					RaceDomainGroups(&counted->domains[j]);
	if (cells * RaceDomainGroups(&counted->domains[label]) > LABEL_CELLS ||
		counted->sets + others * (others - 1) / 2 > RACE_WORKLOAD)
		return;
	for (int i = 0; i < counted->columns; i++)
		for (int j = i + 1; j < counted->columns; j++)
		{
			int columns[] = {Min(label, i), label < i ? i : Min(label, j), Max(label, j)};

			if (i != label && j != label)
				add_set(counted, rows, columns, MOST_OF_SET, 1);
		}
}

/*
 * All sets of three columns of few groups are counted, to look for dependence among them, if they
 * have at most this number of counters: 100 MB
 */
#define SEARCHED_COUNTERS 4000000

/* Return whether the sets of three of a column are counted, if there are not too many. */
static bool
may_be_searched(const RaceDomain *domain)
{
	return !domain->measure && !domain->chosen && RaceDomainGroups(domain) > 1 &&
		RaceDomainGroups(domain) <= RACE_SEARCHED_GROUPS;
}

/* Count the sets of three columns that are searched, and their counters. */
static void
count_searched(RaceCounted *counted)
{
	double sets[4] = {1, 0, 0, 0};     /* sets of so many columns, */
	double counters[4] = {1, 0, 0, 0}; /* and what they have in all */

	for (int i = 0; i < counted->columns && counted->n == counted->columns; i++)
		for (int k = may_be_searched(&counted->domains[i]) ? 3 : 0; k > 0; k--)
		{
			sets[k] += sets[k - 1];
			counters[k] += counters[k - 1] * RaceDomainGroups(&counted->domains[i]);
		}
	if (sets[3] > RACE_SEARCHED_SETS || counters[3] > SEARCHED_COUNTERS)
		return;
	counted->searched = (uint32) sets[3];
	counted->counters += counters[3];
}

/* Complete the counters, and raise 54000 unless they fit into a value. */
static void
check_counters(RaceCounted *counted)
{
	uint32 parts =
		counted->n == counted->columns ? 1 : RaceDomainCells(&counted->domains[counted->columns]);
	double cells = 0;
	double records = 1; /* different ones, as groups */
	double numbers;

	for (int i = 0; i < counted->columns; i++)
	{
		cells += RaceDomainCells(&counted->domains[i]);
		records = Min(records * RaceDomainGroups(&counted->domains[i]), RACE_SELECT_CLIQUES);
		for (int j = 0; j < i; j++)
			counted->counters += (double) RaceDomainGroups(&counted->domains[i]) *
				RaceDomainGroups(&counted->domains[j]);
	}
	numbers = NUMBERS_FIT * (cells + Min(counted->counters, RACE_SELECT_CLIQUES)) +
		NUMBERS_CLIQUE * records;
	counted->pairs = counted->columns * (counted->columns - 1) / 2;
	counted->counters = (counted->counters + cells) * parts;
	numbers += NUMBERS_COUNTER * counted->counters;
	counted->megabytes = ceil(numbers * sizeof(int64) / (1024 * 1024));
	if (counted->megabytes > MAX_MEGABYTES)
		ereport(
			ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("the release would take %.0f MB, and at most %d are possible",
					counted->megabytes, MAX_MEGABYTES),
			 errdetail(
				 "Columns: %d, pairs: %d, triples: %d, counters: %.0f. Nothing was read and nothing charged.",
				 counted->columns, counted->pairs, counted->triples, counted->counters),
			 errhint(
				 "Name fewer columns; race_columns shows how many cells each has, and race_describe gives numbers a larger step.")));
}

/* Write how much sums matter as an array of parameters; nothing if there are none. */
static char *
write_sums(const int *sums, int n)
{
	StringInfoData text;
	bool any = false;

	initStringInfo(&text);
	for (int i = 0; i < n; i++)
	{
		appendStringInfo(&text, "%s%d", i == 0 ? ", ends={" : ",", sums[i]);
		any |= sums[i] > 0;
	}
	appendStringInfoChar(&text, '}');
	return any ? text.data : "";
}

void
race_columns_count(RaceDomain *domains, int n, const char *label, Datum workload, bool chosen,
				   RaceCounted *counted)
{
	StringInfoData cells;
	StringInfoData groups;
	StringInfoData single;
	StringInfoData weights;
	StringInfoData ordered;
	StringInfoData searched;
	StringInfoData tables[2]; /* workloads of three columns, and of two */
	int *sums = palloc0(n * sizeof(int));
	int label_column = -1;

	memset(counted, 0, sizeof(RaceCounted));
	counted->domains = domains;
	counted->n = n;
	counted->columns = counted->n - counted->domains[counted->n - 1].measure;
	if (label != NULL)
		label_column = find_column("label", label, counted->domains, counted->columns);
	initStringInfo(&tables[0]);
	initStringInfo(&tables[1]);
	for (int i = 0; chosen && i < counted->columns; i++)
		sums[i] = has_ends(counted, i);
	if (workload != 0)
		read_workload(workload, counted, tables, chosen ? sums : NULL);
	counted->workload_triples = counted->triples;
	if (label_column >= 0 && chosen)
		add_label_tables(counted, label_column, &tables[0]);
	appendStringInfoString(&tables[0], tables[1].data);
	if (chosen)
		count_searched(counted);
	check_counters(counted);
	initStringInfo(&searched);
	initStringInfo(&cells);
	initStringInfo(&groups);
	initStringInfo(&single);
	initStringInfo(&weights);
	initStringInfo(&ordered);
	for (int i = 0; i < counted->n; i++)
	{
		const RaceDomain *domain = &counted->domains[i];
		const char *comma = i == 0 ? "" : ",";

		counted->chosen += domain->chosen;
		appendStringInfo(&cells, "%s%u", comma, RaceDomainCells(domain));
		appendStringInfo(&groups, "%s%u", comma, domain->group);
		appendStringInfo(&single, "%s%u", comma,
						 i == counted->columns ? 0 : RaceDomainSingle(domain));
		appendStringInfo(&weights, "%s%d", comma, i == label_column ? LABEL_WEIGHT : 1);
		appendStringInfo(&ordered, "%s%d", comma, i < counted->columns && !domain->category);
		appendStringInfo(&searched, "%s%d", comma, may_be_searched(domain));
	}
	counted->params =
		psprintf("tables(dims=%d, cells={%s}, groups={{%s},{%s},{%s},{%s}}%s%s%s)", counted->n,
				 cells.data, groups.data, single.data, weights.data, ordered.data,
				 tables[0].len == 0 ? "" : psprintf(", workload={%s}", tables[0].data + 1),
				 counted->searched == 0 ? "" : psprintf(", searched={%s}", searched.data),
				 write_sums(sums, counted->columns));
}
