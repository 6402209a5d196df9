/*
 * columns.c
 *		Public domains of columns: what the schema says of them, what their owner does, and the
 *		cells that follow
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "release/columns.h"
#include "sketch/argument.h"
#include "sketch/authority.h"
#include "sketch/domain.h"
#include "sketch/result.h"
#include "release/ledger.h"
#include "release/lineage.h"
#include "release/relations.h"
#include "release/settings.h"
#include "release/shown.h"

/*
 * From what is known to cells.
 */

#define MOST_VALUES \
	1024 /* cells of whole numbers, days and longer times: more values share cells */
#define NUMBER_CELLS 256 /* cells of other numbers, without a step */
#define NUMBER_GROUPS 64 /* groups of numbers in tables of two columns (test/bench/TABLES.md) */

/* Why a column has no domain, and what the owner can say of it */
typedef struct Reason
{
	const char *why;
	const char *arguments; /* arguments of race_describe() */
} Reason;

/* Return how many cells there may be of a step that is not asked for. */
static uint32
most_cells(RaceUnit unit, const RaceStep *step)
{
	bool values = unit == RACE_UNIT_WHOLE || unit == RACE_UNIT_DAY ||
		(unit == RACE_UNIT_INSTANT && (step->months > 0 || step->width >= RACE_SECONDS_OF_DAY));

	return values ? MOST_VALUES : NUMBER_CELLS;
}

/* Set where the cells of a step begin, and how many there are. */
static void
set_step(RaceDomain *domain, RaceUnit unit, const RaceStep *step)
{
	domain->step = *step;
	domain->start = race_step_start(unit, step, domain->lower);
	domain->n = race_number_cells_count(domain->upper, domain->start, step, domain->finest > 0);
}

/*
 * Set the finest round step that makes no more cells than a table can have without losing more to
 * noise than it gains.  Edges that people ask for are round, and what lies between edges is no
 * measured count: cells of a part of the range, which no such edge meets, leave an error in each
 * bin that no epsilon removes.  Values heap at round numbers, too.
 */
static void
set_round_step(RaceDomain *domain, RaceUnit unit, double finest)
{
	double span = domain->upper - domain->lower;
	RaceStep step;

	step = race_round_step(unit, Max(span > 0 ? span / MOST_VALUES : 1, finest), false);
	set_step(domain, unit, &step);
	/* bound: steps up to 1,024 / 256 times as long, and one more, since cells begin below lower */
	while (domain->n > most_cells(unit, &domain->step))
	{
		step = race_next_step(unit, &domain->step, false);
		set_step(domain, unit, &step);
	}
}

/* Return whether numbers near both bounds are much more precise than cells are wide. */
static bool
is_precise(const RaceDomain *domain)
{
	double width = domain->step.width;

	return domain->step.months > 0 || domain->lower == domain->upper ||
		(domain->lower + width != domain->lower && domain->upper - width != domain->upper);
}

static void
set_cells_of_number(RaceDomain *domain, const RaceSubject *subject, const RaceStep *step,
					Reason *reason)
{
	RaceUnit unit = race_domain_unit(domain);

	RaceStep months = race_months_step(unit, step->months);

	if (step->width > 0 || step->months > 0)
		set_step(domain, unit, step->months > 0 ? &months : step);
	else
		set_round_step(domain, unit, subject->finest);
	if (!is_precise(domain))
	{
		reason->why = "its cells would be narrower than its numbers are precise";
		reason->arguments = "lower => ..., upper => ..., step => ...";
	}
	domain->group = race_round_group(unit, &domain->step, domain->n, NUMBER_GROUPS);
}

/* Order the places of texts by the texts; equal ones stay in their order. */
static int
compare_texts(const void *a, const void *b, void *texts)
{
	uint32 i = *(const uint32 *) a;
	uint32 j = *(const uint32 *) b;
	int order = strcmp(((char **) texts)[i], ((char **) texts)[j]);

	return order != 0 ? order : i < j ? -1 : 1;
}

/* Drop texts that there are twice; return how many are left. */
static uint32
drop_equal(char **texts, uint32 n)
{
	uint32 *places = palloc(n * sizeof(uint32));
	bool *equal = palloc0(n * sizeof(bool));
	uint32 left = 0;

	for (uint32 i = 0; i < n; i++)
		places[i] = i;
	qsort_arg(places, n, sizeof(uint32), compare_texts, texts);
	for (uint32 i = 1; i < n; i++)
		equal[places[i]] = strcmp(texts[places[i]], texts[places[i - 1]]) == 0;
	for (uint32 i = 0; i < n; i++)
		if (!equal[i])
			texts[left++] = texts[i];
	return left;
}

/* Make the domain of a column; or say why there is none. */
static void
plan_domain(const RaceSchemaColumn *column, bool described, const RaceStep *step,
			RaceDomain *domain, Reason *reason)
{
	const RaceFacts *facts = &column->facts;
	bool number = race_type_is_number(column->subject.type);
	char **categories;
	ListCell *cell;

	memset(domain, 0, sizeof(RaceDomain));
	memset(reason, 0, sizeof(Reason));
	domain->name = column->name;
	domain->type = format_type_be(column->subject.type);
	domain->has_null =
		!facts->not_null || (race_type_has_nan(column->subject.type) && !facts->not_nan);
	if (!number && !race_type_is_category(column->subject.type))
		reason->why = "a column of this type cannot be counted";
	else if (facts->has_categories && facts->categories == NIL)
		reason->why = "its CHECK constraints allow no value";
	else if (facts->has_categories)
	{
		domain->category = true;
		categories = palloc(list_length(facts->categories) * sizeof(char *));
		foreach (cell, facts->categories)
			categories[domain->n++] = lfirst(cell);
		race_domain_set_categories(domain, categories, drop_equal(categories, domain->n));
		domain->has_other = described || !column->enforced;
		if (step->width > 0 || step->months > 0)
			reason->why = "a step is for numbers, and it has categories";
	}
	else if (!number)
	{
		reason->why = "its categories are not known";
		reason->arguments = "categories => '{...}'";
		domain->category = domain->chosen = domain->has_other = true;
		race_domain_set_categories(domain, NULL, RACE_MOST_CHOSEN);
	}
	else if (!facts->has_lower || !facts->has_upper)
	{
		if (facts->has_lower || facts->has_upper)
			reason->why =
				facts->has_lower ? "its upper bound is not known" : "its lower bound is not known";
		else
			reason->why = "its bounds are not known";
		reason->arguments = "lower => ..., upper => ...";
	}
	else if (facts->lower > facts->upper)
		reason->why = "its bounds allow no value";
	else if (!isfinite(facts->upper - facts->lower))
	{
		reason->why = "its bounds are too far apart";
		reason->arguments = "lower => ..., upper => ...";
	}
	else if (column->subject.whole && Max(fabs(facts->lower), fabs(facts->upper)) > 0x1p53)
	{
		reason->why = "its bounds are larger than 2^53";
		reason->arguments = "lower => ..., upper => ...";
	}
	else if (column->subject.whole && step->width != rint(step->width))
		reason->why = "its values are whole numbers, and the step is not";
	else
	{
		domain->whole = column->subject.whole;
		domain->finest = domain->whole ? 1 : column->subject.finest;
		domain->lower = facts->lower;
		domain->upper = facts->upper;
		set_cells_of_number(domain, &column->subject, step, reason);
	}
	if (facts->unread != NULL && reason->arguments != NULL)
		reason->why = psprintf("%s, as %s", reason->why, facts->unread);
	if (reason->why == NULL && RaceDomainCells(domain) > RACE_COLUMN_CELLS)
	{
		reason->why = psprintf("it would have more than %d cells", RACE_COLUMN_CELLS);
		reason->arguments = domain->category ? "categories => ..." : "step => ...";
	}
}

/*
 * Put what the owner says in place of what the schema says.  She may have said it of another type,
 * which the column had then.
 */
static void
add_described(RaceSchemaColumn *column, const RaceDescription *described, Reason *reason)
{
	RaceFacts *facts = &column->facts;
	char *type = format_type_be(column->subject.type);

	if (described->type != NULL && strcmp(described->type, type) != 0)
	{
		reason->why = psprintf("it was described as %s, and is %s now", described->type, type);
		reason->arguments = "...";
	}
	else if (described->has_bounds &&
			 ((facts->has_lower && described->upper < facts->lower) ||
			  (facts->has_upper && described->lower > facts->upper)))
	{
		reason->why = "its CHECK constraints allow no value between these bounds";
		reason->arguments = "lower => ..., upper => ...";
	}
	else if (described->has_bounds)
	{
		facts->has_categories = false;
		race_facts_set_bound(&column->subject, facts, false, described->lower);
		race_facts_set_bound(&column->subject, facts, true, described->upper);
		column->source = "described";
	}
	else if (described->has_categories)
	{
		facts->has_categories = true;
		facts->categories = list_copy(described->categories);
		column->source = "described";
	}
}

/* Return the statement that gives a column a domain. */
static char *
hint_of(const RaceColumnsOf *of, const RaceSchemaColumn *column, const char *arguments)
{
	Oid table = strncmp(arguments, "categories", strlen("categories")) == 0 ?
		race_schema_reference(of->relation, column->number, of->public_tables, NULL) :
		InvalidOid;

	return psprintf("CALL race_describe(%s, %s, %s)", quote_literal_cstr(of->dataset),
					quote_literal_cstr(column->name),
					OidIsValid(table) ?
						psprintf("public_table => %s", quote_literal_cstr(race_full_name(table))) :
						arguments);
}

/* Return where the domain of a column comes from. */
static char *
source_of(const RaceSchemaColumn *column, const RaceDescription *described)
{
	if (column->source == NULL)
		return NULL;
	if (strcmp(column->source, "described") == 0 && described->public_table != NULL)
		return psprintf("public table %s", described->public_table);
	return pstrdup(strcmp(column->source, "described") == 0 && described->epsilon > 0 ?
					   "noisy counts" :
					   column->source);
}

/* Set what is known of a column, and its owner said (NULL: nothing). */
static void
set_column(RaceKnownColumn *column, const RaceColumnsOf *of, AttrNumber number,
		   const RaceDescription *description)
{
	static const RaceDescription nothing = {0};
	const RaceDescription *described = description == NULL ? &nothing : description;
	RaceSchemaColumn *schema = &column->schema;
	Reason reason = {0};
	int level = NewGUCNestLevel();

	/* names of types are the same in every session */
	race_set_path(RACE_SAFE_PATH);
	race_set_plain();
	memset(column, 0, sizeof(RaceKnownColumn));
	race_schema_read(schema, of->relation, number);
	column->type = format_type_be(schema->subject.type);
	add_described(schema, described, &reason);
	if (reason.why == NULL)
		plan_domain(schema, described->has_categories, &described->step, &column->domain, &reason);
	column->domain.unenforced =
		!column->domain.category && !schema->enforced && !described->has_bounds;
	column->reason = reason.why;
	if (reason.arguments != NULL)
		column->hint = hint_of(of, schema, reason.arguments);
	if (reason.why == NULL)
		column->source = source_of(schema, described);
	column->unit = described->unit;
	column->description = described->text;
	AtEOXact_GUC(true, level);
}

/* --------------------------------------------------------------- descriptions */

/* Set a number at column i of a row, from 1 on; false for a NULL. */
static bool
number_at(HeapTuple tuple, TupleDesc row, int i, double *number)
{
	bool isnull;
	Datum value = SPI_getbinval(tuple, row, i, &isnull);

	*number = isnull ? 0 : DatumGetFloat8(value);
	return !isnull;
}

/*
 * Read a description from a row: type, lower, upper, step, categories, unit, description,
 * public_table, epsilon, months of the step.
 */
static RaceDescription *
read_description(HeapTuple tuple, TupleDesc row, int first)
{
	RaceDescription *result = palloc0(sizeof(RaceDescription));
	bool isnull;
	Datum categories;
	Datum months;

	result->type = SPI_getvalue(tuple, row, first);
	result->has_bounds = number_at(tuple, row, first + 1, &result->lower);
	(void) number_at(tuple, row, first + 2, &result->upper);
	(void) number_at(tuple, row, first + 3, &result->step.width);
	categories = SPI_getbinval(tuple, row, first + 4, &isnull);
	result->has_categories = !isnull;
	if (!isnull)
		result->categories = race_texts_list(categories);
	result->unit = SPI_getvalue(tuple, row, first + 5);
	result->text = SPI_getvalue(tuple, row, first + 6);
	result->public_table = SPI_getvalue(tuple, row, first + 7);
	(void) number_at(tuple, row, first + 8, &result->epsilon);
	months = SPI_getbinval(tuple, row, first + 9, &isnull);
	if (!isnull)
		result->step.months = DatumGetInt32(months);
	return result;
}

/*
 * Return the last descriptions of the columns of a dataset, by the numbers of the columns, from 1
 * on; NULL where there is none.
 */
static RaceDescription **
read_descriptions(const RaceLedger *ledger, const RaceColumnsOf *of, int columns)
{
	RaceParameter name = RaceText(of->dataset);
	RaceDescription **descriptions = palloc0((columns + 1) * sizeof(RaceDescription *));

	race_ledger_run(
		ledger,
		"SELECT DISTINCT ON (r.column_name) r.column_name, r.type, r.lower, r.upper, r.step, r.categories,"
		" r.unit, r.description, r.public_table, r.epsilon, r.step_months"
		" FROM _racepriv.race_descriptions r WHERE r.dataset = $1 ORDER BY r.column_name, r.revision DESC",
		1, &name);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		HeapTuple tuple = SPI_tuptable->vals[i];
		AttrNumber number = get_attnum(of->relation, SPI_getvalue(tuple, SPI_tuptable->tupdesc, 1));

		if (number > 0 && number <= columns)
			descriptions[number] = read_description(tuple, SPI_tuptable->tupdesc, 2);
	}
	SPI_freetuptable(SPI_tuptable);
	return descriptions;
}

/* Return how many columns a relation has, with those that were dropped. */
static int
number_of_columns(Oid relation)
{
	HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
	int n;

	if (!HeapTupleIsValid(tuple))
		race_refuse_dropped("a relation");
	n = ((Form_pg_class) GETSTRUCT(tuple))->relnatts;
	ReleaseSysCache(tuple);
	return n;
}

/* Return whether a text is among others. */
static bool
is_among(const List *texts, const char *text)
{
	ListCell *cell;

	foreach (cell, texts)
		if (strcmp(lfirst(cell), text) == 0)
			return true;
	return false;
}

List *
race_columns_look_up(const RaceLedger *ledger, const RaceColumnsOf *of, const List *names)
{
	int n = number_of_columns(of->relation);
	RaceDescription **descriptions = read_descriptions(ledger, of, n);
	List *columns = NIL;

	for (int i = 1; i <= n; i++)
	{
		char *name = get_attname(of->relation, i, true);
		RaceKnownColumn *column;

		CHECK_FOR_INTERRUPTS();
		/* there is no name where a column was dropped */
		if (name == NULL || (names != NIL && !is_among(names, name)))
			continue;
		column = palloc(sizeof(RaceKnownColumn));
		set_column(column, of, i, descriptions[i]);
		columns = lappend(columns, column);
	}
	return columns;
}

RaceKnownColumn *
race_columns_find(const List *columns, const char *name)
{
	ListCell *cell;

	foreach (cell, columns)
		if (strcmp(((RaceKnownColumn *) lfirst(cell))->schema.name, name) == 0)
			return lfirst(cell);
	return NULL;
}

Datum
race_domains_datum(const RaceDomain *domains, int n)
{
	StringInfoData json;

	initStringInfo(&json);
	race_domains_write(&json, domains, n);
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data));
}

/* Bytes of a unit or a category, and of a description */
#define MOST_BYTES 200
#define MOST_DESCRIPTION 10000

/* Raise what is wrong with the texts of a description, which readers are shown. */
static void
check_texts(const RaceDescription *description)
{
	ListCell *cell;
	bool fit = description->unit == NULL || strlen(description->unit) <= MOST_BYTES;

	foreach (cell, description->categories)
		fit &= strlen(lfirst(cell)) <= MOST_BYTES;
	if (!fit)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a unit or a category can have at most %d bytes", MOST_BYTES)));
	if (description->text != NULL && strlen(description->text) > MOST_DESCRIPTION)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a description can have at most %d bytes", MOST_DESCRIPTION)));
	race_check_text_shown("a unit", description->unit, true);
	foreach (cell, description->categories)
		race_check_text_shown("a category", lfirst(cell), false);
	race_check_lines_shown("a description", description->text);
}

/* Raise 22023 if a column has no domain although values were described. */
static void
check_domain(const RaceKnownColumn *column, const RaceDescription *description)
{
	if (description->type == NULL || column->reason == NULL)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("column \"%s\" has no domain so: %s", column->schema.name, column->reason),
			 column->hint != NULL ? errhint("%s", column->hint) :
				 description->has_bounds && description->lower > description->upper ?
									errhint("The lower bound comes first.") :
									errhint("Describe it otherwise.")));
}

void
race_column_describe(const RaceLedger *ledger, const RaceColumnsOf *of, AttrNumber number,
					 RaceDescription *description)
{
	Oid table = get_relname_relid("race_descriptions", get_namespace_oid(RACE_SCHEMA, false));
	RaceKnownColumn column;
	bool has_step = description->step.width > 0 || description->step.months > 0;

	check_texts(description);
	(void) race_lock_table(table, of->relation, true);
	set_column(&column, of, number, NULL);
	if (description->has_bounds || has_step || description->has_categories)
		description->type = column.type;
	set_column(&column, of, number, description);
	check_domain(&column, description);
	{
		RaceParameter parameters[] = {
			RaceText(of->dataset),
			{NAMEOID, DirectFunctionCall1(namein, CStringGetDatum(column.schema.name)), false},
			RaceText(description->type),
			{FLOAT8OID, Float8GetDatum(description->lower), !description->has_bounds},
			{FLOAT8OID, Float8GetDatum(description->upper), !description->has_bounds},
			{FLOAT8OID, Float8GetDatum(description->step.width), !(description->step.width > 0)},
			{TEXTARRAYOID, race_texts_array(description->categories), !description->has_categories},
			RaceText(description->unit),
			RaceText(description->text),
			RaceText(description->public_table),
			race_ledger_role(GetUserId()),
			{FLOAT8OID, Float8GetDatum(description->epsilon), !(description->epsilon > 0)},
			{INT4OID, Int32GetDatum(description->step.months), description->step.months == 0}};

		race_ledger_run(
			ledger,
			"INSERT INTO _racepriv.race_descriptions SELECT $1, $2, coalesce(max(r.revision), 0) + 1,"
			" $3, $4, $5, $6, $7, $8, $9, $10, $11, clock_timestamp(), $13, $12"
			" FROM _racepriv.race_descriptions r WHERE r.dataset = $1 AND r.column_name = $2",
			lengthof(parameters), parameters);
	}
}

/* ------------------------------------------------------------------ as rows */

PG_FUNCTION_INFO_V1(race_columns_of_dataset);
PG_FUNCTION_INFO_V1(race_columns_seen);

/* Columns of a row of race_columns, from 0 on */
enum
{
	ROW_DATASET,
	ROW_NAME,
	ROW_TYPE,
	ROW_KIND,
	ROW_LOWER,
	ROW_UPPER,
	ROW_STEP,
	ROW_CATEGORIES,
	ROW_NULLS,
	ROW_OTHERS,
	ROW_CELLS,
	ROW_UNIT,
	ROW_DESCRIPTION,
	ROW_SOURCE,
	ROW_REASON,
	ROW_HINT,
	ROW_DOMAIN,
	ROW_COLUMNS
};

typedef struct ColumnRow
{
	Datum values[ROW_COLUMNS];
	bool nulls[ROW_COLUMNS];
} ColumnRow;

static void
set_value(ColumnRow *row, int i, Datum value)
{
	row->values[i] = value;
	row->nulls[i] = false;
}

static void
set_text(ColumnRow *row, int i, const char *text)
{
	if (text != NULL)
		set_value(row, i, CStringGetTextDatum(text));
}

/* Return the type of the distance between numbers of a type. */
static Oid
type_of_step(Oid type)
{
	switch (type)
	{
		case DATEOID:
			return INT4OID;
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return INTERVALOID;
		default:
			return type;
	}
}

/* Return the step of cells of a column of a type as text. */
static char *
text_of_step(Oid type, const RaceStep *step)
{
	uint32 years = step->months % MONTHS_PER_YEAR == 0 ? step->months / MONTHS_PER_YEAR : 0;
	uint32 n = years > 0 ? years : step->months;

	return step->months == 0 ?
		race_typed_text(type_of_step(type), step->width) :
		psprintf("%u %s%s", n, years > 0 ? "year" : "month", n == 1 ? "" : "s");
}

/* Set what a domain says, of a column that has one. */
static void
set_domain(ColumnRow *row, const RaceKnownColumn *column)
{
	const RaceDomain *domain = &column->domain;
	Oid type = column->schema.subject.type;

	set_text(row, ROW_KIND, domain->category ? "category" : "number");
	if (domain->category)
	{
		Datum *categories = palloc(domain->n * sizeof(Datum));

		for (uint32 i = 0; i < domain->n; i++)
			categories[i] = CStringGetTextDatum(domain->categories[i]);
		set_value(row, ROW_CATEGORIES,
				  PointerGetDatum(
					  construct_array(categories, domain->n, TEXTOID, -1, false, TYPALIGN_INT)));
	}
	else
	{
		set_text(row, ROW_LOWER, race_typed_text(type, domain->lower));
		set_text(row, ROW_UPPER, race_typed_text(type, domain->upper));
		set_text(row, ROW_STEP, text_of_step(type, &domain->step));
	}
	set_value(row, ROW_NULLS, BoolGetDatum(domain->has_null));
	set_value(row, ROW_OTHERS, BoolGetDatum(domain->has_other));
	set_value(row, ROW_CELLS, Int32GetDatum(RaceDomainCells(domain)));
}

static void
set_row(ColumnRow *row, const char *dataset, const RaceKnownColumn *column)
{
	Name name = palloc(sizeof(NameData));

	memset(row->nulls, true, sizeof(row->nulls));
	namestrcpy(name, column->schema.name);
	set_text(row, ROW_DATASET, dataset);
	set_value(row, ROW_NAME, NameGetDatum(name));
	set_text(row, ROW_TYPE, column->type);
	if (column->reason == NULL)
		set_domain(row, column);
	set_text(row, ROW_UNIT, column->unit);
	set_text(row, ROW_DESCRIPTION, column->description);
	set_text(row, ROW_SOURCE, column->source);
	set_text(row, ROW_REASON, column->reason);
	set_text(row, ROW_HINT, column->hint);
	if (RaceColumnIsCounted(column))
	{
		StringInfoData json;

		initStringInfo(&json);
		race_domain_write(&json, &column->domain);
		set_value(row, ROW_DOMAIN, DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data)));
	}
}

/*
 * Return what is known of some columns of a relation, or all; where nothing is, the reason, and the
 * statement that helps: _race_columns_of_dataset(dataset, relation, columns).
 */
Datum
race_columns_of_dataset(PG_FUNCTION_ARGS)
{
	List *names = PG_ARGISNULL(2) ? NIL : race_texts_list(PG_GETARG_DATUM(2));
	Tuplestorestate *rows = race_store_start(fcinfo);
	TupleDesc desc = ((ReturnSetInfo *) fcinfo->resultinfo)->setDesc;
	RaceColumnsOf of = {0};
	RaceLedger ledger;
	ListCell *cell;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		return (Datum) 0;
	of.dataset = text_to_cstring(PG_GETARG_TEXT_PP(0));
	of.relation = PG_GETARG_OID(1);
	race_act_begin(&ledger, fcinfo, false);
	foreach (cell, race_columns_look_up(&ledger, &of, names))
	{
		ColumnRow row;

		set_row(&row, of.dataset, lfirst(cell));
		tuplestore_putvalues(rows, desc, row.values + ROW_NAME, row.nulls + ROW_NAME);
	}
	SPI_finish();
	return (Datum) 0;
}

/* Return whether a role may read something of a relation. */
static bool
may_read(Oid relation, Oid role)
{
	return pg_class_aclcheck(relation, role, ACL_SELECT) == ACLCHECK_OK ||
		pg_attribute_aclcheck_all(relation, role, ACL_SELECT, ACLMASK_ANY) == ACLCHECK_OK;
}

/* Put the columns of a dataset; its reason and hint are one text. */
static void
put_columns(Tuplestorestate *rows, TupleDesc desc, const RaceLedger *ledger,
			const RaceColumnsOf *of)
{
	ListCell *cell;

	foreach (cell, race_columns_look_up(ledger, of, NIL))
	{
		const RaceKnownColumn *column = lfirst(cell);
		ColumnRow row;

		set_row(&row, of->dataset, column);
		set_text(&row, ROW_REASON,
				 column->reason != NULL && column->hint != NULL ?
					 psprintf("%s: %s", column->reason, column->hint) :
					 column->reason == NULL ? "" :
											  column->reason);
		tuplestore_putvalues(rows, desc, row.values, row.nulls);
	}
}

/*
 * Return what is known of the columns of all datasets that the caller may read, as rows:
 * race_columns_seen().
 */
Datum
race_columns_seen(PG_FUNCTION_ARGS)
{
	Tuplestorestate *rows = race_store_start(fcinfo);
	TupleDesc desc = ((ReturnSetInfo *) fcinfo->resultinfo)->setDesc;
	RaceLedger ledger;
	SPITupleTable *datasets;
	uint64 n;
	bool isnull;

	race_act_begin(&ledger, fcinfo, false);
	race_ledger_run(
		&ledger,
		"SELECT d.dataset, d.relation, ARRAY(SELECT to_regclass(t) FROM unnest(d.public_tables) t)"
		" FROM _racepriv._race_datasets_now d WHERE d.relation IS NOT NULL ORDER BY d.dataset COLLATE \"C\"",
		0, NULL);
	datasets = SPI_tuptable;
	n = SPI_processed;
	for (uint64 i = 0; i < n; i++)
	{
		TupleDesc row = datasets->tupdesc;
		RaceColumnsOf of = {
			SPI_getvalue(datasets->vals[i], row, 1),
			DatumGetObjectId(SPI_getbinval(datasets->vals[i], row, 2, &isnull)),
			race_oids_of(DatumGetArrayTypeP(SPI_getbinval(datasets->vals[i], row, 3, &isnull)))};

		CHECK_FOR_INTERRUPTS();
		if (may_read(of.relation, GetUserId()))
			put_columns(rows, desc, &ledger, &of);
	}
	SPI_finish();
	return (Datum) 0;
}
