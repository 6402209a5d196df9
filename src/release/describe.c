/*
 * describe.c
 *		race_describe: what the owner says of a column
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "sketch/authority.h"
#include "sketch/domain.h"
#include "release/columns.h"
#include "release/dataset.h"
#include "release/describe.h"
#include "release/ledger.h"
#include "release/relations.h"
#include "release/settings.h"
#include "sketch/argument.h"

PG_FUNCTION_INFO_V1(race_describe);

/* The arguments of race_describe() */
enum
{
	DESCRIBED_DATASET,
	DESCRIBED_COLUMN,
	DESCRIBED_LOWER,
	DESCRIBED_UPPER,
	DESCRIBED_CATEGORIES,
	DESCRIBED_UNIT,
	DESCRIBED_STEP,
	DESCRIBED_DESCRIPTION,
	DESCRIBED_TABLE,
	DESCRIBED_BOUNDS,
	DESCRIBED_EPSILON
};

/* Return an argument of any type as text, whatever the settings are. */
static char *
argument_text(FunctionCallInfo fcinfo, int i)
{
	Oid type = race_argument_type(fcinfo->flinfo, i);
	Oid output;
	bool variable;
	char *text;
	int level;

	if (type == UNKNOWNOID)
		return DatumGetCString(PG_GETARG_DATUM(i));
	getTypeOutputInfo(type, &output, &variable);
	level = NewGUCNestLevel();
	race_set_plain();
	text = OidOutputFunctionCall(output, PG_GETARG_DATUM(i));
	AtEOXact_GUC(true, level);
	return text;
}

/* What may be done with a column of a type that has neither numbers nor categories */
#define NOT_COUNTED \
	"Leave the column out, or protect a view in which it is a number, a date, an interval or a text."

static void
refuse_bounds(Oid type)
{
	race_refuse_arguments(psprintf("a column of type %s has no bounds", format_type_be(type)),
						  race_type_is_category(type) ? "Give its categories." : NOT_COUNTED);
}

/* Return a bound of a column of a type. */
static double
read_bound(char *text, Oid type)
{
	Oid input;
	Oid parameter;
	double x;

	if (!race_type_is_number(type))
		refuse_bounds(type);
	getTypeInputInfo(type, &input, &parameter);
	x = race_number_of(type, OidInputFunctionCall(input, text, parameter, -1));
	if (!isfinite(x))
		race_refuse_arguments("lower and upper must be finite",
							  "Values beyond them are counted in the outermost cells.");
	return x;
}

static void
refuse_step(Oid type)
{
	bool dated = race_type_unit(type) == RACE_UNIT_DAY || race_type_unit(type) == RACE_UNIT_INSTANT;

	race_refuse_arguments(
		"step must not have months beside other parts",
		dated ? "Give months alone, '1 month', or days or parts of a day, '30 days'." :
				"Months are not equally long: give days, '30 days'.");
}

/* Return the step of an interval, for a column of a type. */
static RaceStep
step_of_interval(const Interval *interval, Oid type)
{
	RaceUnit unit = race_type_unit(type);
	RaceStep step = {.width = race_number_of(INTERVALOID, IntervalPGetDatum(interval))};

	if (interval->month == 0)
	{
		step.width /= unit == RACE_UNIT_DAY ? SECS_PER_DAY : 1;
		return step;
	}
	if (unit == RACE_UNIT_DURATION || interval->day != 0 || interval->time != 0)
		refuse_step(type);
	/* a number that is not positive is refused as a width */
	return interval->month > 0 ? (RaceStep){.months = interval->month} : step;
}

/* Return the step of cells of a column of a type: a number, or of dates and times an interval. */
static RaceStep
read_step(char *text, Oid type)
{
	RaceUnit unit = race_type_unit(type);
	RaceStep step = {0};
	char *end;

	step.width = strtod(text, &end);
	if (end == text || *end != '\0')
	{
		if (unit == RACE_UNIT_NUMBER || unit == RACE_UNIT_WHOLE)
			race_refuse_arguments("step must be a number",
								  "It is the width of the cells that values are counted in.");
		step = step_of_interval(
			DatumGetIntervalP(DirectFunctionCall3(interval_in, CStringGetDatum(text),
												  ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1))),
			type);
	}
	if (step.months == 0 && (!(step.width > 0) || !isfinite(step.width)))
		race_refuse_arguments("step must be positive and finite",
							  "It is the width of the cells that values are counted in.");
	return step;
}

/* Return a category as values of a type are written. */
static char *
category_as_written(Oid type, Datum category)
{
	Oid input;
	Oid output;
	Oid parameter;
	bool variable;

	if (type == TEXTOID || type == VARCHAROID)
		return TextDatumGetCString(category);
	if (type == BPCHAROID)
		return TextDatumGetCString(DirectFunctionCall1(rtrim1, category));
	getTypeInputInfo(type, &input, &parameter);
	getTypeOutputInfo(type, &output, &variable);
	return OidOutputFunctionCall(
		output, OidInputFunctionCall(input, TextDatumGetCString(category), parameter, -1));
}

/* Set the categories of a column of a type, as its values are written. */
static void
set_categories(RaceDescription *description, Datum categories, Oid type)
{
	ArrayType *array = DatumGetArrayTypeP(categories);
	Datum *values;
	bool *nulls;
	int n;

	if (!race_type_is_category(type) || type == BOOLOID)
	{
		const char *hint = type == BOOLOID ? "A boolean needs no description." : NOT_COUNTED;

		race_refuse_arguments(
			psprintf("a column of type %s has no categories that could be described",
					 format_type_be(type)),
			race_type_is_number(type) ? "Give its bounds." : hint);
	}
	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &values, &nulls, &n);
	description->has_categories = true;
	description->categories = NIL;
	for (int i = 0; i < n; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("a category must not be NULL"),
					 errhint("NULL has a cell of its own unless the schema excludes it.")));
		description->categories =
			lappend(description->categories, category_as_written(type, values[i]));
	}
	if (n == 0 || ARR_NDIM(array) != 1 || !race_texts_differ(description->categories))
		race_refuse_arguments("categories must be a list of different texts",
							  "For example categories => '{north,south}'.");
}

/*
 * Read the categories of a foreign key from the table that it refers to, which must have been
 * declared public, with the rights of the owner of the relation: casts and policies may call
 * functions, which must not run with those of a superuser who describes it for her.
 */
static Datum
read_public_table(const RaceDataset *dataset, AttrNumber column, Oid table)
{
	List *tables = list_make1_oid(table);
	AttrNumber key;
	RaceAuthority before;
	Datum categories;
	bool isnull;

	if (!list_member_oid(dataset->public_tables, table))
		race_refuse_arguments("the table is not declared public",
							  "race_protect has public_tables => '{...}'.");
	LockRelationOid(table, AccessShareLock);
	if (!OidIsValid(race_schema_reference(dataset->relation, column, tables, &key)))
		race_refuse_arguments("the column has no foreign key to this table",
							  "Give its categories.");
	race_authority_begin(&before, race_authority_of(GetUserId(), race_owner_of(dataset->relation)));
	race_set_path(RACE_SAFE_PATH);
	race_set_plain();
	if (SPI_execute(psprintf("SELECT array_agg(k ORDER BY k COLLATE \"C\")"
							 " FROM (SELECT DISTINCT %s::text FROM %s) v (k) WHERE k IS NOT NULL",
							 quote_identifier(get_attname(table, key, false)),
							 race_full_name(table)),
					true, 0) != SPI_OK_SELECT)
		elog(ERROR, "the public table could not be read");
	race_authority_end(&before);
	categories = race_ledger_value(1, &isnull);
	if (isnull)
		race_refuse_arguments("the public table has no rows",
							  "Fill it first, or give the categories.");
	return categories;
}

/* Raise what is wrong with bounds that noisy counts are to tell. */
static void
check_private(FunctionCallInfo fcinfo)
{
	if (strcmp(text_to_cstring(PG_GETARG_TEXT_PP(DESCRIBED_BOUNDS)), "private") != 0 ||
		PG_ARGISNULL(DESCRIBED_EPSILON))
		race_refuse_arguments(
			"bounds can be \"private\", with an epsilon",
			"Write bounds => 'private', epsilon => 0.05 for bounds by noisy counts, or lower and upper.");
	if (!PG_ARGISNULL(DESCRIBED_LOWER) || !PG_ARGISNULL(DESCRIBED_STEP) ||
		!PG_ARGISNULL(DESCRIBED_CATEGORIES) || !PG_ARGISNULL(DESCRIBED_TABLE))
		race_refuse_arguments(
			"bounds by noisy counts go without others, a step and categories",
			"Once the bounds are told, CALL race_describe again with these, or with rounder ones, and a step.");
}

/* Raise what is wrong with arguments that go with others, or exclude them. */
static void
check_together(FunctionCallInfo fcinfo, Oid type)
{
	bool is_private = !PG_ARGISNULL(DESCRIBED_BOUNDS);

	if (PG_ARGISNULL(DESCRIBED_LOWER) != PG_ARGISNULL(DESCRIBED_UPPER))
		race_refuse_arguments("lower and upper go together", "Give both.");
	if ((int) PG_ARGISNULL(DESCRIBED_LOWER) + PG_ARGISNULL(DESCRIBED_CATEGORIES) +
			PG_ARGISNULL(DESCRIBED_TABLE) <
		2)
		race_refuse_arguments(
			"bounds, categories and public_table exclude each other",
			"A number has bounds; a text has categories, or a public table that lists them.");
	if (is_private && !race_type_is_number(type))
		refuse_bounds(type);
	if (!is_private && !PG_ARGISNULL(DESCRIBED_EPSILON))
		race_refuse_arguments("epsilon is for bounds by noisy counts",
							  "Write bounds => 'private', too.");
}

/* Set the bounds or categories of a description from the arguments of race_describe(). */
static void
set_values(FunctionCallInfo fcinfo, const RaceDataset *dataset, RaceDescribed *described)
{
	RaceDescription *description = &described->description;
	Oid type = described->column.subject.type;

	description->has_bounds = !PG_ARGISNULL(DESCRIBED_LOWER);
	if (description->has_bounds)
	{
		description->lower = read_bound(argument_text(fcinfo, DESCRIBED_LOWER), type);
		description->upper = read_bound(argument_text(fcinfo, DESCRIBED_UPPER), type);
	}
	if (!PG_ARGISNULL(DESCRIBED_STEP))
		description->step = read_step(argument_text(fcinfo, DESCRIBED_STEP), type);
	if (!PG_ARGISNULL(DESCRIBED_CATEGORIES))
		set_categories(description, PG_GETARG_DATUM(DESCRIBED_CATEGORIES), type);
	if (PG_ARGISNULL(DESCRIBED_TABLE))
		return;
	if (!race_type_is_category(type))
		race_refuse_arguments(
			psprintf("a column of type %s has no categories", format_type_be(type)),
			race_type_is_number(type) ? "Give its bounds." : NOT_COUNTED);
	/* a key may be of another type than the column */
	set_categories(
		description,
		read_public_table(dataset, described->column.number, PG_GETARG_OID(DESCRIBED_TABLE)), type);
	description->public_table = race_full_name(PG_GETARG_OID(DESCRIBED_TABLE));
}

/* Return an argument that is a text; NULL for a NULL. */
static char *
text_argument(FunctionCallInfo fcinfo, int i)
{
	return PG_ARGISNULL(i) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(i));
}

/* Check the arguments of race_describe(), and set what it says of a column. */
static void
prepare_description(FunctionCallInfo fcinfo, const RaceLedger *ledger, RaceDescribed *described)
{
	RaceDataset *dataset;

	if (PG_ARGISNULL(DESCRIBED_DATASET) || PG_ARGISNULL(DESCRIBED_COLUMN))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("dataset and column_name must not be NULL")));
	dataset = race_dataset_look_up(ledger, text_to_cstring(PG_GETARG_TEXT_PP(DESCRIBED_DATASET)));
	race_act_check_owner(dataset->relation);
	race_schema_read(
		&described->column, dataset->relation,
		race_column_number(dataset->relation, NameStr(*PG_GETARG_NAME(DESCRIBED_COLUMN))));
	check_together(fcinfo, described->column.subject.type);
	described->of = (RaceColumnsOf){dataset->name, dataset->relation, dataset->public_tables};
	set_values(fcinfo, dataset, described);
	described->description.unit = text_argument(fcinfo, DESCRIBED_UNIT);
	described->description.text = text_argument(fcinfo, DESCRIBED_DESCRIPTION);
	if (!PG_ARGISNULL(DESCRIBED_BOUNDS))
		described->description.epsilon = PG_GETARG_FLOAT8(DESCRIBED_EPSILON);
}

/*
 * Describe a column: race_describe(dataset, column_name, lower, upper, categories, unit, step,
 * description, public_table, bounds, epsilon).
 */
Datum
race_describe(PG_FUNCTION_ARGS)
{
	RaceLedger ledger;
	RaceDescribed described = {0};

	race_check_duty(fcinfo, "owner");
	if (!PG_ARGISNULL(DESCRIBED_BOUNDS))
	{
		check_private(fcinfo);
		return race_describe_privately(fcinfo, prepare_description);
	}
	race_act_begin(&ledger, fcinfo, true);
	prepare_description(fcinfo, &ledger, &described);
	race_column_describe(&ledger, &described.of, described.column.number, &described.description);
	SPI_finish();
	PG_RETURN_VOID();
}

/* Describe a column by a list, two bounds of a number or date, or categories; and by a step. */
static void
describe_by_list(const RaceLedger *ledger, const RaceColumnsOf *of, char *column_name, Datum list,
				 char *step)
{
	AttrNumber column = race_column_number(of->relation, column_name);
	Oid type = getBaseType(get_atttype(of->relation, column));
	RaceDescription description = {0};
	Datum *values;
	bool *nulls;
	int n;

	deconstruct_array(DatumGetArrayTypeP(list), TEXTOID, -1, false, TYPALIGN_INT, &values, &nulls,
					  &n);
	description.has_bounds = race_type_is_number(type) && n == 2 && !nulls[0] && !nulls[1];
	if (description.has_bounds)
	{
		description.lower = read_bound(TextDatumGetCString(values[0]), type);
		description.upper = read_bound(TextDatumGetCString(values[1]), type);
	}
	else
		set_categories(&description, list, type);
	if (step != NULL)
		description.step = read_step(step, type);
	race_column_describe(ledger, of, column, &description);
}

void
race_describe_columns(const RaceLedger *ledger, const char *name, Datum columns)
{
	RaceDataset *dataset = race_dataset_look_up(ledger, name);
	RaceColumnsOf of = {dataset->name, dataset->relation, dataset->public_tables};
	RaceParameter parameter = {JSONBOID, columns, false};
	SPITupleTable *rows;
	uint64 n;
	bool isnull;

	race_ledger_run(
		ledger,
		"WITH given AS (SELECT o.key, o.value->>'step' AS step, CASE jsonb_typeof(o.value)"
		" WHEN 'array' THEN o.value WHEN 'object' THEN CASE WHEN o.value ?& '{lower,upper}'"
		" AND o.value - '{lower,upper,step}'::text[] = '{}' THEN"
		" jsonb_build_array(o.value->'lower', o.value->'upper') END END AS list"
		" FROM jsonb_each(CASE jsonb_typeof($1) WHEN 'object' THEN $1 END) o)"
		" SELECT g.key, ARRAY(SELECT jsonb_array_elements_text(g.list)), g.step FROM given g"
		" WHERE NOT EXISTS (SELECT FROM given n WHERE n.list IS NULL) ORDER BY 1",
		1, &parameter);
	rows = SPI_tuptable;
	n = SPI_processed;
	if (n == 0)
		race_refuse_arguments(
			"columns must be an object of lists, or of objects with lower, upper and perhaps step",
			"For example columns => '{\"town\": [\"Paris\", \"Rome\"],"
			" \"age\": {\"lower\": 0, \"upper\": 120, \"step\": 10}}'.");
	for (uint64 i = 0; i < n; i++)
		describe_by_list(ledger, &of, SPI_getvalue(rows->vals[i], rows->tupdesc, 1),
						 SPI_getbinval(rows->vals[i], rows->tupdesc, 2, &isnull),
						 SPI_getvalue(rows->vals[i], rows->tupdesc, 3));
}
