/*
 * domain.c
 *		Public domains of columns, and the cells of their values
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "common/shortest_dec.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/json.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/numeric.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "hash/contingency.h"
#include "sketch/argument.h"
#include "sketch/domain.h"
#include "sketch/settings.h"

/*
 * Types.
 */

/* Their names, as format_type writes them when quote_all_identifiers is off */
static const struct
{
	Oid type;
	const char *name;
} number_types[] = {
	{INT2OID, "smallint"},
	{INT4OID, "integer"},
	{INT8OID, "bigint"},
	{NUMERICOID, "numeric"},
	{FLOAT4OID, "real"},
	{FLOAT8OID, "double precision"},
	{DATEOID, "date"},
	{TIMESTAMPOID, "timestamp without time zone"},
	{TIMESTAMPTZOID, "timestamp with time zone"},
	{INTERVALOID, "interval"},
};

bool
race_type_is_number(Oid type)
{
	for (size_t i = 0; i < lengthof(number_types); i++)
		if (number_types[i].type == type)
			return true;
	return false;
}

/*
 * Return the type of a domain's numbers by its name; double precision if it is no type of numbers.
 */
static Oid
domain_number_type(const RaceDomain *domain)
{
	for (size_t i = 0; i < lengthof(number_types); i++)
		if (strcmp(domain->type, number_types[i].name) == 0)
			return number_types[i].type;
	return FLOAT8OID;
}

bool
race_type_is_whole(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID || type == DATEOID;
}

RaceUnit
race_type_unit(Oid type)
{
	switch (type)
	{
		case DATEOID:
			return RACE_UNIT_DAY;
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return RACE_UNIT_INSTANT;
		case INTERVALOID:
			return RACE_UNIT_DURATION;
		default:
			return race_type_is_whole(type) ? RACE_UNIT_WHOLE : RACE_UNIT_NUMBER;
	}
}

RaceUnit
race_domain_unit(const RaceDomain *domain)
{
	RaceUnit unit = race_type_unit(domain_number_type(domain));

	return domain->whole && unit == RACE_UNIT_NUMBER ? RACE_UNIT_WHOLE : unit;
}

RaceStep
race_months_step(RaceUnit unit, uint32 months)
{
	return (RaceStep){.months = months, .day = unit == RACE_UNIT_DAY ? 1 : RACE_SECONDS_OF_DAY};
}

double
race_domain_end(const RaceDomain *domain)
{
	return domain->finest > 0 ? race_multiple_above(domain->finest, domain->upper) : domain->upper;
}

void
race_domain_cells(const RaceDomain *domain, RaceNumberCells *cells)
{
	race_number_cells_set(cells, domain->lower, domain->upper, domain->start, &domain->step,
						  domain->n);
}

bool
race_type_has_nan(Oid type)
{
	return type == FLOAT4OID || type == FLOAT8OID || type == NUMERICOID;
}

bool
race_type_is_category(Oid type)
{
	switch (type)
	{
		case BOOLOID:
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
		case UUIDOID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
			return true;
		default:
			return get_typtype(type) == TYPTYPE_ENUM;
	}
}

double
race_number_of(Oid type, Datum value)
{
	const Interval *interval;

	switch (type)
	{
		case INT2OID:
			return DatumGetInt16(value);
		case INT4OID:
			return DatumGetInt32(value);
		case INT8OID:
			return (double) DatumGetInt64(value);
		case FLOAT4OID:
			return DatumGetFloat4(value);
		case FLOAT8OID:
			return DatumGetFloat8(value);
		case NUMERICOID:
			return DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, value));
		case DATEOID:
			if (DATE_NOT_FINITE(DatumGetDateADT(value)))
				return DATE_IS_NOEND(DatumGetDateADT(value)) ? INFINITY : -INFINITY;
			return DatumGetDateADT(value);
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			if (TIMESTAMP_NOT_FINITE(DatumGetTimestamp(value)))
				return TIMESTAMP_IS_NOEND(DatumGetTimestamp(value)) ? INFINITY : -INFINITY;
			return (double) DatumGetTimestamp(value) / USECS_PER_SEC;
		case INTERVALOID:
			interval = DatumGetIntervalP(value);
#ifdef INTERVAL_NOT_FINITE
			/* from PostgreSQL 17 on */
			if (INTERVAL_NOT_FINITE(interval))
				return INTERVAL_IS_NOEND(interval) ? INFINITY : -INFINITY;
#endif
			/*
			 * as one integer: intervals that are equal have one number, however they are divided
			 * into months and days
			 */
			return (double) (((__int128) interval->month * DAYS_PER_MONTH + interval->day) *
								 USECS_PER_DAY +
							 interval->time) /
				USECS_PER_SEC;
		default:
			elog(ERROR, "type %u has no numbers", type);
	}
}

/* Return a time of day, and what comes before it, with as many digits as there are. */
static char *
time_text(const char *before, int64 microseconds, const char *after)
{
	int64 fraction = microseconds % USECS_PER_SEC;
	int64 seconds = microseconds / USECS_PER_SEC;
	char *text = psprintf("%s%02d:%02d:%02d", before, (int) (seconds / SECS_PER_HOUR),
						  (int) (seconds / SECS_PER_MINUTE % 60), (int) (seconds % 60));

	if (fraction == 0)
		return psprintf("%s%s", text, after);
	text = psprintf("%s.%06d", text, (int) fraction);
	/* bound: the text, which has a digit that is not 0, since the fraction is not */
	for (char *end = text + strlen(text) - 1; *end == '0'; end--)
		*end = '\0';
	return psprintf("%s%s", text, after);
}

char *
race_typed_text(Oid type, double number)
{
	char buffer[Max(DOUBLE_SHORTEST_DECIMAL_LEN, MAXDATELEN + 1)];
	bool dated = type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID;
	double unit = type == DATEOID ? 1 : SECS_PER_DAY;
	double days = floor(number / unit);
	int64 rest = (int64) rint((number - days * unit) * USECS_PER_SEC);
	double first = type == DATEOID ? DATETIME_MIN_JULIAN - POSTGRES_EPOCH_JDATE :
									 (double) MIN_TIMESTAMP / USECS_PER_DAY;
	double end = type == DATEOID ? DATE_END_JULIAN - POSTGRES_EPOCH_JDATE :
								   (double) END_TIMESTAMP / USECS_PER_DAY;
	double months = 0;
	bool before_christ;
	struct pg_tm date = {0};

	/* rounding up reaches midnight */
	if (type != DATEOID && rest >= USECS_PER_DAY)
	{
		days++;
		rest = 0;
	}
	if (dated && days >= first && days < end)
	{
		j2date((int) days + POSTGRES_EPOCH_JDATE, &date.tm_year, &date.tm_mon, &date.tm_mday);
		if (type == DATEOID)
		{
			EncodeDateOnly(&date, USE_ISO_DATES, buffer);
			return pstrdup(buffer);
		}
		before_christ = date.tm_year <= 0;
		snprintf(buffer, sizeof(buffer), "%04d-%02d-%02d ",
				 before_christ ? 1 - date.tm_year : date.tm_year, date.tm_mon, date.tm_mday);
		return time_text(
			buffer, rest,
			psprintf("%s%s", type == TIMESTAMPTZOID ? "+00" : "", before_christ ? " BC" : ""));
	}
	if (dated)
		return pstrdup(days < 0 ? "-infinity" : "infinity");
	if (type == INTERVALOID)
	{
		/* what is no number of days that an integer can be has months of 30 days */
		if (fabs(days) >= PG_INT32_MAX)
			months = Min(Max(trunc(days / DAYS_PER_MONTH), -PG_INT32_MAX), PG_INT32_MAX);
		days = Min(Max(days - months * DAYS_PER_MONTH, -PG_INT32_MAX), PG_INT32_MAX);
		return time_text(psprintf("%s%d days %s",
								  months == 0 ? "" : psprintf("%d mons ", (int) months), (int) days,
								  days < 0 ? "+" : ""),
						 rest, "");
	}
	double_to_shortest_decimal_buf(number, buffer);
	return pstrdup(buffer);
}

bool
race_domain_has_sum(const RaceDomain *domain)
{
	return !domain->category && strncmp(domain->type, "date", 4) != 0 &&
		strncmp(domain->type, "timestamp", 9) != 0;
}

char *
race_domain_number_text(const RaceDomain *domain, double number)
{
	return race_typed_text(domain_number_type(domain), number);
}

bool
race_domain_number_read(const RaceDomain *domain, char *text, double *number)
{
	Oid type = domain_number_type(domain);
	Oid input;
	Oid parameter;
	int level;

	/* an integer may be compared with a number that has fractions */
	if (type != DATEOID && race_type_is_whole(type))
		type = NUMERICOID;
	getTypeInputInfo(type, &input, &parameter);
	level = race_settings_fix();
	*number = race_number_of(type, OidInputFunctionCall(input, text, parameter, -1));
	race_settings_restore(level);
	return !isnan(*number);
}

/*
 * Domains as jsonb.
 */

static void
write_number(StringInfo text, const char *key, double number)
{
	char buffer[DOUBLE_SHORTEST_DECIMAL_LEN];

	double_to_shortest_decimal_buf(number, buffer);
	appendStringInfo(text, ", \"%s\": %s", key, buffer);
}

/* Write the categories of a column, with the numbers of persons of those that were chosen. */
static void
write_categories(StringInfo text, const RaceDomain *domain)
{
	appendStringInfoString(text, ", \"categories\": [");
	for (uint32 i = 0; i < domain->n; i++)
	{
		if (i > 0)
			appendStringInfoString(text, ", ");
		escape_json(text, domain->categories[i]);
	}
	appendStringInfoChar(text, ']');
	if (domain->persons == NULL)
		return;
	appendStringInfoString(text, ", \"persons\": [");
	for (uint32 i = 0; i < domain->n; i++)
		appendStringInfo(text, "%s%.0f", i > 0 ? ", " : "", domain->persons[i]);
	appendStringInfoChar(text, ']');
	write_number(text, "persons_error", domain->persons_error);
	write_number(text, "persons_least", domain->persons_least);
	if (domain->persons_summed > 0)
		write_number(text, "persons_summed", domain->persons_summed);
}

/* Groups of the categories of a column, in tables of two columns (test/bench/TABLES.md) */
#define CATEGORY_GROUPS 128

void
race_domain_set_categories(RaceDomain *domain, char **categories, uint32 n)
{
	domain->categories = categories;
	domain->n = n;
	domain->group = Max((n + CATEGORY_GROUPS - 1) / CATEGORY_GROUPS, 1);
}

void
race_domain_write(StringInfo text, const RaceDomain *domain)
{
	appendStringInfoString(text, "{\"name\": ");
	escape_json(text, domain->name);
	appendStringInfoString(text, ", \"type\": ");
	escape_json(text, domain->type);
	appendStringInfo(text, ", \"kind\": \"%s\"", domain->category ? "category" : "number");
	if (domain->chosen)
		appendStringInfoString(text, ", \"chosen\": true");
	if (domain->category && domain->categories != NULL)
		write_categories(text, domain);
	else if (!domain->category)
	{
		appendStringInfo(text, ", \"whole\": %s", domain->whole ? "true" : "false");
		write_number(text, "lower", domain->lower);
		write_number(text, "upper", domain->upper);
		write_number(text, "start", domain->start);
		if (domain->step.months > 0)
			write_number(text, "months", domain->step.months);
		else
			write_number(text, "width", domain->step.width);
		if (domain->finest > 0 && !domain->whole)
			write_number(text, "finest", domain->finest);
		if (domain->unenforced)
			appendStringInfoString(text, ", \"unenforced\": true");
	}
	if (domain->measure)
		appendStringInfoString(text, ", \"measure\": true");
	if (domain->vector)
		appendStringInfoString(text, ", \"vector\": true");
	appendStringInfo(
		text, ", \"null\": %s, \"other\": %s, \"cells\": %u, \"group\": %u, \"single\": %u}",
		domain->has_null ? "true" : "false", domain->has_other ? "true" : "false",
		RaceDomainCells(domain), domain->group, domain->measure ? 0 : RaceDomainSingle(domain));
}

void
race_domains_write(StringInfo text, const RaceDomain *domains, int n)
{
	for (int i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		appendStringInfoString(text, i == 0 ? "[" : ", ");
		race_domain_write(text, &domains[i]);
	}
	appendStringInfoString(text, n == 0 ? "[]" : "]");
}

static void
refuse_domains(const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("not the domains of columns"),
			 errdetail("%s", detail)));
}

/* Return the value of a key, of a type of jsonb; NULL if it may be missing and is. */
static JsonbValue *
value_of(JsonbContainer *object, const char *key, enum jbvType type, bool may_be_missing)
{
	JsonbValue name = {.type = jbvString};
	JsonbValue *value;

	name.val.string.val = unconstify(char *, key);
	name.val.string.len = strlen(key);
	value = findJsonbValueFromContainer(object, JB_FOBJECT, &name);
	if (value == NULL && may_be_missing)
		return NULL;
	if (value == NULL || value->type != type)
		refuse_domains(psprintf("A domain needs a key \"%s\" of another kind.", key));
	return value;
}

static char *
text_of(const JsonbValue *value)
{
	return pnstrdup(value->val.string.val, value->val.string.len);
}

static double
number_at(JsonbContainer *object, const char *key)
{
	JsonbValue *value = value_of(object, key, jbvNumeric, false);
	double number = race_number_of(NUMERICOID, NumericGetDatum(value->val.numeric));

	if (!isfinite(number))
		refuse_domains("A number is not finite.");
	return number;
}

static double
number_or_0(JsonbContainer *object, const char *key)
{
	return value_of(object, key, jbvNumeric, true) == NULL ? 0 : number_at(object, key);
}

static uint32
cells_at(JsonbContainer *object, const char *key)
{
	double number = number_at(object, key);

	if (!(number >= 1 && number <= RACE_COLUMN_CELLS) || number != floor(number))
		refuse_domains(psprintf("The number of cells must be from 1 to %d.", RACE_COLUMN_CELLS));
	return (uint32) number;
}

static void
read_categories(RaceDomain *domain, JsonbContainer *object, bool to_choose)
{
	JsonbValue *listed = value_of(object, "categories", jbvBinary, to_choose && domain->chosen);
	JsonbContainer *list;
	JsonbIterator *iterator;
	JsonbValue value;
	uint32 i = 0;
	int token;

	if (listed == NULL)
		return;
	list = listed->val.binary.data;
	iterator = JsonbIteratorInit(list);
	if (!JsonContainerIsArray(list) || JsonContainerIsScalar(list) ||
		JsonContainerSize(list) != domain->n)
		refuse_domains("There must be a category for each cell.");
	domain->categories = palloc(domain->n * sizeof(char *));
	/* bound: the list, in memory */
	while ((token = JsonbIteratorNext(&iterator, &value, true)) != WJB_DONE)
	{
		if (token != WJB_ELEM)
			continue;
		if (value.type != jbvString)
			refuse_domains("A category must be a text.");
		domain->categories[i++] = text_of(&value);
	}
}

/* Read the noisy numbers of persons of the categories. */
static void
read_persons(RaceDomain *domain, JsonbContainer *object)
{
	JsonbContainer *list = value_of(object, "persons", jbvBinary, false)->val.binary.data;

	if (!JsonContainerIsArray(list) || JsonContainerIsScalar(list) ||
		JsonContainerSize(list) != domain->n)
		refuse_domains("The numbers of persons must be as many as there are categories.");
	domain->persons = palloc(domain->n * sizeof(double));
	for (uint32 i = 0; i < domain->n; i++)
	{
		JsonbValue *number = getIthJsonbValueFromContainer(list, i);

		if (number->type != jbvNumeric)
			refuse_domains("A number of persons must be a number.");
		domain->persons[i] = race_number_of(NUMERICOID, NumericGetDatum(number->val.numeric));
	}
}

/* Read the step of cells: a width, or of dates and times a number of months. */
static void
read_step(RaceDomain *domain, JsonbContainer *object)
{
	RaceUnit unit = race_domain_unit(domain);
	double months = number_or_0(object, "months");

	if (months == 0)
	{
		domain->step = (RaceStep){.width = number_at(object, "width")};
		return;
	}
	if ((unit != RACE_UNIT_DAY && unit != RACE_UNIT_INSTANT) ||
		!(months >= 1 && months * domain->n <= RACE_MOST_MONTHS) || months != floor(months))
		refuse_domains("Dates and times have cells of a whole number of months.");
	domain->step = race_months_step(unit, (uint32) months);
}

static void
read_number(RaceDomain *domain, JsonbContainer *object)
{
	RaceNumberCells cells;

	domain->whole = value_of(object, "whole", jbvBool, false)->val.boolean;
	domain->finest = domain->whole ? 1 : number_or_0(object, "finest");
	domain->lower = number_at(object, "lower");
	domain->upper = number_at(object, "upper");
	domain->start = number_at(object, "start");
	read_step(domain, object);
	domain->unenforced = value_of(object, "unenforced", jbvBool, true) != NULL;
	if (!(domain->finest >= 0) || !isfinite(race_domain_end(domain)))
		refuse_domains("The step of values is positive, and there is a next value.");
	if (!(domain->start <= domain->lower && domain->lower <= domain->upper &&
		  (domain->step.width > 0 || domain->step.months > 0)))
		refuse_domains("The bounds and cells of a number must be in order.");
	race_domain_cells(domain, &cells);
	if (domain->step.months > 0 && race_cell_edge(&cells, 0) != domain->start)
		refuse_domains("Cells of months begin with a month.");
	if (!isfinite(race_cell_edge(&cells, domain->n)))
		refuse_domains("A number is not finite.");
}

static void
read_domain(RaceDomain *domain, JsonbContainer *object, bool to_choose)
{
	char *kind = text_of(value_of(object, "kind", jbvString, false));
	uint32 cells = cells_at(object, "cells");
	JsonbValue *measure = value_of(object, "measure", jbvBool, true);
	JsonbValue *chosen = value_of(object, "chosen", jbvBool, true);
	JsonbValue *vector = value_of(object, "vector", jbvBool, true);

	domain->name = text_of(value_of(object, "name", jbvString, false));
	domain->type = text_of(value_of(object, "type", jbvString, false));
	domain->category = strcmp(kind, "category") == 0;
	domain->has_null = value_of(object, "null", jbvBool, false)->val.boolean;
	domain->has_other = value_of(object, "other", jbvBool, false)->val.boolean;
	domain->measure = measure != NULL && measure->val.boolean;
	domain->chosen = chosen != NULL && chosen->val.boolean;
	domain->persons_least = number_or_0(object, "persons_least");
	domain->persons_error = number_or_0(object, "persons_error");
	domain->persons_summed = number_or_0(object, "persons_summed");
	domain->vector = vector != NULL && vector->val.boolean;
	domain->group = domain->measure ? 0 : cells_at(object, "group");
	if (domain->measure && (domain->category || cells != 2 + RaceDomainSingle(domain)))
		refuse_domains("A measure is a number, of two parts and that of NULL.");
	/* a release may have chosen no category */
	if ((!domain->category && strcmp(kind, "number") != 0) ||
		cells + (domain->category && domain->chosen) <= RaceDomainSingle(domain))
		refuse_domains("A domain is of kind number or category, and has ordinary cells.");
	domain->n = cells - RaceDomainSingle(domain);
	if (domain->group > Max(domain->n, 1))
		refuse_domains("A group has no more cells than there are.");
	if (domain->category)
		read_categories(domain, object, to_choose);
	else
		read_number(domain, object);
	if (domain->categories != NULL &&
		(domain->persons_summed > 0 || value_of(object, "persons", jbvBinary, true) != NULL))
		read_persons(domain, object);
}

RaceDomain *
race_domains_read(Jsonb *domains, int *n, bool to_choose)
{
	JsonbContainer *list = &domains->root;
	RaceDomain *result;

	if (!JsonContainerIsArray(list) || JsonContainerIsScalar(list) || JsonContainerSize(list) < 1 ||
		JsonContainerSize(list) > RACE_DOMAINS)
		refuse_domains(psprintf("They are an array of 1 to %d objects.", RACE_DOMAINS));
	*n = JsonContainerSize(list);
	result = palloc0(*n * sizeof(RaceDomain));
	for (int i = 0; i < *n; i++)
	{
		JsonbValue *value = getIthJsonbValueFromContainer(list, i);

		CHECK_FOR_INTERRUPTS();
		if (value->type != jbvBinary || !JsonContainerIsObject(value->val.binary.data))
			refuse_domains("They are an array of objects.");
		read_domain(&result[i], value->val.binary.data, to_choose);
		if (result[i].measure && (i == 0 || i + 1 < *n))
			refuse_domains("A measure follows all columns.");
	}
	return result;
}

/*
 * _race_cells(domains, VARIADIC values): the cells of a row, or its numbers as a vector; NULL if a
 * value has none.
 *
 * It runs after the charge of a release: no value may raise an error.
 */

PG_FUNCTION_INFO_V1(race_cells);

/* The bytes by which a category is found */
typedef struct Key
{
	const char *bytes;
	int length;
	union
	{
		int64 integer;
		Oid oid;
		bool boolean;
	} space; /* memory of values that are no texts */
} Key;

typedef struct CellColumn
{
	Oid type;
	const RaceDomain *domain;
	RaceNumberCells number;
	Key *keys;     /* keys of the categories, [n] */
	uint32 *slots; /* category numbers, from 1, in a hash table; 0 where free */
	uint32 mask;   /* the size of the table, a power of 2, less 1 */
} CellColumn;

typedef struct CellState
{
	MemoryContext context;
	int n;
	const RaceDomain *domains;
	CellColumn *columns;
} CellState;

/* Set the key of a value.  It may refer to the value. */
static inline void
set_key(Key *key, Oid type, Datum value)
{
	switch (type)
	{
		case BOOLOID:
			key->space.boolean = DatumGetBool(value);
			key->length = sizeof(bool);
			break;
		case INT2OID:
			key->space.integer = DatumGetInt16(value);
			key->length = sizeof(int64);
			break;
		case INT4OID:
			key->space.integer = DatumGetInt32(value);
			key->length = sizeof(int64);
			break;
		case INT8OID:
			key->space.integer = DatumGetInt64(value);
			key->length = sizeof(int64);
			break;
		case UUIDOID:
			key->bytes = (const char *) DatumGetUUIDP(value)->data;
			key->length = UUID_LEN;
			return;
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
		{
			struct varlena *text = PG_DETOAST_DATUM_PACKED(value);

			key->bytes = VARDATA_ANY(text);
			key->length = VARSIZE_ANY_EXHDR(text);
			if (type == BPCHAROID)
				key->length = bpchartruelen(unconstify(char *, key->bytes), key->length);
			return;
		}
		default: /* an enum */
			key->space.oid = DatumGetObjectId(value);
			key->length = sizeof(Oid);
			break;
	}
	key->bytes = (const char *) &key->space;
}

/* Return the slot of a key: its own, or the free one where it belongs. */
static inline uint32
find_slot(const CellColumn *column, const Key *key)
{
	uint32 slot = hash_bytes((const unsigned char *) key->bytes, key->length) & column->mask;

	/* bound: the slots, half of which are free */
	for (;; slot = (slot + 1) & column->mask)
	{
		const Key *other;

		if (column->slots[slot] == 0)
			return slot;
		other = &column->keys[column->slots[slot] - 1];
		if (other->length == key->length && memcmp(other->bytes, key->bytes, key->length) == 0)
			return slot;
	}
}

/*
 * Set the key of a category that is written as a text; false if there is no such value.  The label
 * of an enum may have been renamed meanwhile.
 */
static bool
set_category_key(Key *key, Oid type, const char *category)
{
	HeapTuple tuple;

	if (race_type_is_whole(type))
		set_key(key, INT8OID, DirectFunctionCall1(int8in, CStringGetDatum(category)));
	else if (type == BOOLOID)
		set_key(key, type, DirectFunctionCall1(boolin, CStringGetDatum(category)));
	else if (type == UUIDOID)
		set_key(key, type, DirectFunctionCall1(uuid_in, CStringGetDatum(category)));
	else if (get_typtype(type) != TYPTYPE_ENUM)
		set_key(key, type, CStringGetTextDatum(category));
	else
	{
		tuple = strlen(category) >= NAMEDATALEN ?
			NULL :
			SearchSysCache2(ENUMTYPOIDNAME, ObjectIdGetDatum(type), CStringGetDatum(category));
		if (!HeapTupleIsValid(tuple))
			return false;
		set_key(key, type, ObjectIdGetDatum(((Form_pg_enum) GETSTRUCT(tuple))->oid));
		ReleaseSysCache(tuple);
	}
	return true;
}

static void
prepare_categories(CellColumn *column)
{
	const RaceDomain *domain = column->domain;
	uint32 size = 4;

	/* bound: twice as many each time; there are at most RACE_COLUMN_CELLS categories */
	while (size < 2 * domain->n)
		size *= 2;
	column->mask = size - 1;
	column->slots = palloc0(size * sizeof(uint32));
	column->keys = palloc(domain->n * sizeof(Key));
	for (uint32 i = 0; i < domain->n; i++)
	{
		uint32 slot;

		if (!set_category_key(&column->keys[i], column->type, domain->categories[i]))
			continue;
		slot = find_slot(column, &column->keys[i]);
		if (column->slots[slot] == 0)
			column->slots[slot] = i + 1;
	}
}

static void
prepare_column(CellColumn *column, const RaceDomain *domain, Oid type)
{
	column->type = OidIsValid(type) ? getBaseType(type) : InvalidOid;
	column->domain = domain;
	if (domain->category ? !race_type_is_category(column->type) :
						   !race_type_is_number(column->type))
		ereport(
			ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("column \"%s\" has a type that does not go with its domain", domain->name)));
	if (domain->category)
		prepare_categories(column);
	else
		race_domain_cells(domain, &column->number);
}

static CellState *
prepare_cells(FunctionCallInfo fcinfo)
{
	CellState *state;
	RaceDomain *domains;
	MemoryContext context;
	MemoryContext caller;

	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("domains must not be NULL")));
	context = AllocSetContextCreate(fcinfo->flinfo->fn_mcxt, "race cells", ALLOCSET_DEFAULT_SIZES);
	caller = MemoryContextSwitchTo(context);
	state = palloc0(sizeof(CellState));
	state->context = context;
	domains = race_domains_read(PG_GETARG_JSONB_P_COPY(0), &state->n, false);
	state->domains = domains;
	if (PG_NARGS() != state->n + 1 || get_fn_expr_variadic(fcinfo->flinfo))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("expected one value for each of %d domains", state->n)));
	state->columns = palloc0(state->n * sizeof(CellColumn));
	for (int i = 0; i < state->n; i++)
		prepare_column(&state->columns[i], &domains[i], race_argument_type(fcinfo->flinfo, i + 1));
	MemoryContextSwitchTo(caller);
	return state;
}

/* Return a measure in units above its lower bound; what is missing is beyond the upper one. */
static inline float8
units_of(const RaceDomain *domain, double x, bool missing)
{
	double span = domain->upper - domain->lower;

	if (missing)
		return 2 * RACE_MEASURE_UNIT;
	if (x >= domain->upper)
		return span > 0 ? RACE_MEASURE_UNIT : 0;
	return x > domain->lower ? rint((x - domain->lower) / span * RACE_MEASURE_UNIT) : 0;
}

/* A value has no cell: the schema excludes it */
#define NO_CELL UINT32_MAX

/*
 * Return the cell of a category.  What the schema excludes may be there nevertheless, as
 * constraints do not hold everywhere: it counts where readers see that it is none of the
 * categories, or not at all.
 */
static inline uint32
cell_of_category(const CellColumn *column, Datum value, bool isnull)
{
	const RaceDomain *domain = column->domain;
	Key key;
	uint32 found;

	if (!isnull)
	{
		set_key(&key, column->type, value);
		found = column->slots[find_slot(column, &key)];
		if (found > 0)
			return found - 1;
	}
	if (domain->has_null && (isnull || !domain->has_other))
		return domain->n;
	return domain->has_other ? domain->n + (uint32) domain->has_null : NO_CELL;
}

/*
 * Set the numbers of a value in a record; false if it has no cell.  NaN is missing, as NULL is, and
 * so is what constraints exclude that are not enforced.
 */
static inline bool
set_numbers(const CellColumn *column, Datum value, bool isnull, float8 *numbers)
{
	const RaceDomain *domain = column->domain;
	uint32 cell;
	double x;

	if (domain->category)
	{
		cell = cell_of_category(column, value, isnull);
		if (domain->vector)
			race_domain_set_cell(domain, cell, numbers);
		else
			*numbers = cell;
		return cell != NO_CELL;
	}
	x = isnull ? NAN : race_number_of(column->type, value);
	isnull = isnan(x) || (domain->unenforced && (x < domain->lower || x > domain->upper));
	if (domain->measure)
		*numbers = units_of(domain, x, isnull);
	else if (domain->vector)
		race_domain_set_number(domain, x, isnull, numbers);
	else
		*numbers = isnull ? domain->n : race_cell_of_number(&column->number, x);
	return domain->has_null || !isnull;
}

Datum
race_domains_record(int n, const RaceDomain *domains, float8 **numbers)
{
	ArrayType *record;
	int length = 0;
	Size size;

	for (int i = 0; i < n; i++)
		length += RaceDomainNumbers(&domains[i]);
	size = ARR_OVERHEAD_NONULLS(1) + length * sizeof(float8);
	record = palloc0(size);
	SET_VARSIZE(record, size);
	record->ndim = 1;
	record->elemtype = FLOAT8OID;
	ARR_DIMS(record)[0] = length;
	ARR_LBOUND(record)[0] = 1;
	*numbers = (float8 *) ARR_DATA_PTR(record);
	return PointerGetDatum(record);
}

void
race_domain_set_cell(const RaceDomain *domain, uint32 cell, float8 *numbers)
{
	if (cell < RaceDomainNumbers(domain))
		numbers[cell] = 1;
}

/* Set the numbers of x.  What is missing is in the middle, and has a number of its own. */
void
race_domain_set_number(const RaceDomain *domain, double x, bool missing, float8 *numbers)
{
	if (missing)
		x = domain->lower + (domain->upper - domain->lower) / 2;
	numbers[0] = Min(Max(x, domain->lower), domain->upper);
	if (missing && RaceDomainNumbers(domain) > 1)
		numbers[1] = 1;
}

Datum
race_cells(PG_FUNCTION_ARGS)
{
	CellState *state = fcinfo->flinfo->fn_extra;
	Datum record;
	float8 *numbers;

	if (state != NULL && !get_fn_expr_arg_stable(fcinfo->flinfo, 0))
	{
		fcinfo->flinfo->fn_extra = NULL;
		MemoryContextDelete(state->context);
		state = NULL;
	}
	if (state == NULL)
		fcinfo->flinfo->fn_extra = state = prepare_cells(fcinfo);
	record = race_domains_record(state->n, state->domains, &numbers);
	for (int i = 0; i < state->n; i++)
	{
		/* a record with a value that has no cell is left out */
		if (!set_numbers(&state->columns[i], PG_GETARG_DATUM(i + 1), PG_ARGISNULL(i + 1), numbers))
			PG_RETURN_NULL();
		numbers += RaceDomainNumbers(&state->domains[i]);
	}
	return record;
}
