/*
 * column_facts.c
 *		What the schema says of a column: constraints, types, domains of SQL
 */
#include "postgres.h"

#include <math.h>

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/indexing.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/primnodes.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "sketch/domain.h"
#include "release/column_facts.h"
#include "release/lineage.h"

/*
 * What a condition says of a column.
 *
 * Conditions of CHECK constraints belong to owners of tables and types.  They are read and never
 * evaluated: only constants in them count, compared by operators of PostgreSQL's own.
 *
 * A fact is an upper bound of what can be in the column.  A value that it excludes by mistake would
 * have no cell that is true of it, so what is not read exactly is no fact.
 */

static RaceFacts facts_of(const RaceSubject *subject, Node *condition);

/*
 * Types of which operators compare values as those of one type: by the order and equality of their
 * numbers, or by their bytes
 */
typedef enum Family
{
	NO_FAMILY,
	NUMBERS,
	DAYS,
	INSTANTS,
	INTERVALS,
	TEXTS,
	PADDED_TEXTS,
	BOOLEANS,
	UUIDS,
	ENUMS
} Family;

static Family
family_of(Oid type)
{
	switch (type)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case NUMERICOID:
		case FLOAT4OID:
		case FLOAT8OID:
			return NUMBERS;
		case DATEOID:
		case TIMESTAMPOID:
			return DAYS;
		case TIMESTAMPTZOID:
			return INSTANTS;
		case INTERVALOID:
			return INTERVALS;
		case TEXTOID:
		case VARCHAROID:
			return TEXTS;
		case BPCHAROID:
			return PADDED_TEXTS;
		case BOOLOID:
			return BOOLEANS;
		case UUIDOID:
			return UUIDS;
		case ANYENUMOID:
			return ENUMS;
		default:
			return get_typtype(type) == TYPTYPE_ENUM ? ENUMS : NO_FAMILY;
	}
}

/*
 * Return whether a cast from one type to another keeps values in order, as race_number_of() gives
 * them.  A cast to real rounds, but of smallint.
 */
static bool
is_widening(Oid from, Oid to)
{
	static const Oid ladder[] = {INT2OID, INT4OID, INT8OID, NUMERICOID, FLOAT8OID};
	int place[2] = {-1, -1};

	for (size_t i = 0; i < lengthof(ladder); i++)
	{
		if (ladder[i] == from)
			place[0] = (int) i;
		if (ladder[i] == to)
			place[1] = (int) i;
	}
	return (place[0] >= 0 && place[0] < place[1]) || (from == INT2OID && to == FLOAT4OID) ||
		(from == FLOAT4OID && to == FLOAT8OID) || (from == DATEOID && to == TIMESTAMPOID);
}

/*
 * Return an expression without casts that keep values as they are, but perhaps not which of them
 * are equal.
 */
static Node *
strip_casts(Node *node)
{
	check_stack_depth();
	/* bound: the depth of the expression */
	for (;;)
	{
		if (IsA(node, RelabelType))
			node = (Node *) ((RelabelType *) node)->arg;
		else if (IsA(node, CollateExpr))
			node = (Node *) ((CollateExpr *) node)->arg;
		else if (IsA(node, ArrayCoerceExpr) &&
				 IsA(strip_casts((Node *) ((ArrayCoerceExpr *) node)->elemexpr), CaseTestExpr))
			node = (Node *) ((ArrayCoerceExpr *) node)->arg;
		else if (IsA(node, FuncExpr) && ((FuncExpr *) node)->funcid < FirstGenbkiObjectId &&
				 ((FuncExpr *) node)->funcformat != COERCE_EXPLICIT_CALL &&
				 list_length(((FuncExpr *) node)->args) == 1 &&
				 is_widening(exprType(linitial(((FuncExpr *) node)->args)),
							 ((FuncExpr *) node)->funcresulttype))
			node = linitial(((FuncExpr *) node)->args);
		else
			return node;
	}
}

static bool
is_subject(const RaceSubject *subject, Node *node)
{
	node = strip_casts(node);
	if (subject->column == 0)
		return IsA(node, CoerceToDomainValue);
	return IsA(node, Var) && ((Var *) node)->varlevelsup == 0 &&
		((Var *) node)->varattno == subject->column;
}

/* A comparison that keeps the equality and order of the subject's values */
typedef struct Comparison
{
	const char *operator; /* name of the operator */
	bool in_floats; /* are both sides compared as floats, of which several integers may be one? */
} Comparison;

/*
 * Set how an operator of PostgreSQL's own compares values of the subject; false if it does not as
 * their type does.
 */
static bool
read_operator(const RaceSubject *subject, Oid operator, Oid collation, Comparison *comparison)
{
	Oid left;
	Oid right;

	/* some collations call different texts equal */
	if (operator>=
		FirstGenbkiObjectId ||(OidIsValid(collation) && !get_collation_isdeterministic(collation)))
		return false;
	op_input_types(operator, & left, &right);
	comparison->operator= get_opname(operator);
	comparison->in_floats = left == FLOAT4OID || left == FLOAT8OID;
	return family_of(subject->type) != NO_FAMILY && family_of(left) == family_of(subject->type) &&
		family_of(right) == family_of(subject->type);
}

typedef struct Constant
{
	Oid type;
	Datum value;
	bool isnull;
} Constant;

#define EXACT_INTEGERS 0x1p53 /* below this, each integer is a double of its own */

/* Return a cast of a number to real, which rounds; NULL if an expression is none. */
static FuncExpr *
cast_to_real(Node *node)
{
	FuncExpr *cast = (FuncExpr *) node;

	return IsA(node, FuncExpr) && cast->funcid < FirstGenbkiObjectId &&
			cast->funcresulttype == FLOAT4OID && cast->funcformat != COERCE_EXPLICIT_CALL &&
			list_length(cast->args) == 1 && family_of(exprType(linitial(cast->args))) == NUMBERS ?
		cast :
		NULL;
}

/* Set the constant that an expression is, but for casts; false if it is none. */
static bool
read_constant(Node *node, Constant *constant)
{
	FuncExpr *cast;
	double x;
	bool decimal;

	check_stack_depth();
	node = strip_casts(node);
	if (IsA(node, Const))
	{
		*constant = (Constant){((Const *) node)->consttype, ((Const *) node)->constvalue,
							   ((Const *) node)->constisnull};
		return true;
	}
	cast = cast_to_real(node);
	if (cast == NULL || !read_constant(linitial(cast->args), constant))
		return false;
	if (constant->isnull || family_of(constant->type) != NUMBERS)
		return constant->isnull;
	/* each cast rounds once, as PostgreSQL does it */
	x = race_number_of(constant->type, constant->value);
	if (constant->type == INT8OID && fabs(x) >= EXACT_INTEGERS)
		return false;
	decimal = constant->type == NUMERICOID && exprType(linitial(cast->args)) == NUMERICOID;
	*constant = (Constant){
		FLOAT4OID,
		Float4GetDatum(
			!decimal ?
				(float4) x :
				strtof(DatumGetCString(DirectFunctionCall1(numeric_out, constant->value)), NULL)),
		false};
	return true;
}

/* Turn a constant into one of a type that values of the subject are compared with. */
static void
use_constant(const RaceSubject *subject, bool in_floats, Constant *constant)
{
	Timestamp time;
	double days;

	if (constant->isnull)
		return;
	if (in_floats && family_of(constant->type) == NUMBERS && constant->type != FLOAT4OID)
		*constant = (Constant){
			FLOAT8OID, Float8GetDatum(race_number_of(constant->type, constant->value)), false};
	else if (subject->type == TIMESTAMPOID && constant->type == DATEOID)
	{
		/* there are dates after all timestamps */
		days = race_number_of(DATEOID, constant->value);
		if (fabs(days) < (double) (END_TIMESTAMP / USECS_PER_DAY))
			time = (Timestamp) days * USECS_PER_DAY;
		else if (days > 0)
			TIMESTAMP_NOEND(time);
		else
			TIMESTAMP_NOBEGIN(time);
		*constant = (Constant){TIMESTAMPOID, TimestampGetDatum(time), false};
	}
}

/* What is known of a constant in a list */
typedef enum Reading
{
	READ,
	NEVER_EQUAL,
	UNREAD
} Reading;

/* Read a constant that integers are compared with. */
static Reading
read_integer(const Constant *constant, int64 *integer)
{
	double x;
	char *text;
	char *end;

	switch (constant->type)
	{
		case INT2OID:
			*integer = DatumGetInt16(constant->value);
			return READ;
		case INT4OID:
			*integer = DatumGetInt32(constant->value);
			return READ;
		case INT8OID:
			*integer = DatumGetInt64(constant->value);
			return READ;
		case NUMERICOID:
			text = DatumGetCString(DirectFunctionCall1(numeric_out, constant->value));
			errno = 0;
			*integer = strtoll(text, &end, 10);
			end += *end == '.' ? 1 + strspn(end + 1, "0") : 0;
			return end == text || *end != '\0' || errno != 0 ? NEVER_EQUAL : READ;
		case FLOAT4OID:
		case FLOAT8OID:
			x = race_number_of(constant->type, constant->value);
			if (x != rint(x) || isinf(x))
				return NEVER_EQUAL;
			*integer = fabs(x) < EXACT_INTEGERS ? (int64) x : 0;
			return fabs(x) < EXACT_INTEGERS ? READ : UNREAD;
		default:
			return UNREAD;
	}
}

/* Read a constant as a category of the subject. */
static Reading
read_category(const RaceSubject *subject, const Constant *constant, char **category)
{
	Family family = family_of(constant->type);
	Reading reading;
	int64 integer;

	switch (family_of(subject->type))
	{
		case NUMBERS:
			reading = read_integer(constant, &integer);
			if (reading == READ)
				*category = psprintf(INT64_FORMAT, integer);
			return reading;
		case TEXTS:
			if (family != TEXTS)
				return UNREAD;
			*category = TextDatumGetCString(constant->value);
			return READ;
		case PADDED_TEXTS:
			if (family != TEXTS && family != PADDED_TEXTS)
				return UNREAD;
			*category = TextDatumGetCString(DirectFunctionCall1(rtrim1, constant->value));
			return READ;
		case BOOLEANS:
			*category = DatumGetBool(constant->value) ? "true" : "false";
			return family == BOOLEANS ? READ : UNREAD;
		case UUIDS:
			if (family != UUIDS)
				return UNREAD;
			*category = DatumGetCString(DirectFunctionCall1(uuid_out, constant->value));
			return READ;
		case ENUMS:
			if (constant->type != subject->type)
				return UNREAD;
			*category = OidOutputFunctionCall(F_ENUM_OUT, constant->value);
			return READ;
		default:
			return UNREAD;
	}
}

static int
compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *) a, *(char *const *) b);
}

/* Return the categories of a list that are in another one, too. */
static List *
common_categories(const List *list, const List *other)
{
	char **sorted = palloc(list_length(other) * sizeof(char *));
	List *common = NIL;
	size_t n = 0;
	ListCell *cell;

	foreach (cell, other)
		sorted[n++] = lfirst(cell);
	qsort(sorted, n, sizeof(char *), compare_names);
	foreach (cell, list)
		if (bsearch(&lfirst(cell), sorted, n, sizeof(char *), compare_names) != NULL)
			common = lappend(common, lfirst(cell));
	return common;
}

void
race_facts_set_bound(const RaceSubject *subject, RaceFacts *facts, bool upper, double x)
{
	if (subject->whole)
		x = upper ? floor(x) : ceil(x);
	if (upper)
	{
		facts->has_upper = true;
		facts->upper = x;
	}
	else
	{
		facts->has_lower = true;
		facts->lower = x;
	}
}

/*
 * Return the largest whole number that is not above a constant, as values of the subject have it.
 * Set whether it is the constant itself.
 */
static double
floor_of(const RaceSubject *subject, const Constant *constant, bool *is_whole)
{
	double x = race_number_of(constant->type, constant->value);
	Datum whole;
	Timestamp time;

	if (constant->type == NUMERICOID)
	{
		whole = DirectFunctionCall1(numeric_floor, constant->value);
		*is_whole = DatumGetBool(DirectFunctionCall2(numeric_eq, whole, constant->value));
		return race_number_of(NUMERICOID, whole);
	}
	if (subject->type == DATEOID && constant->type == TIMESTAMPOID)
	{
		time = DatumGetTimestamp(constant->value);
		*is_whole = time % USECS_PER_DAY == 0;
		return (double) (time / USECS_PER_DAY - (time % USECS_PER_DAY < 0));
	}
	*is_whole = x == floor(x);
	return floor(x);
}

/*
 * Let the values be at least, or at most, a constant; with an open bound, above or below it.  For
 * whole numbers, that is the next one.  What is below anything else than NaN is not NaN, which is
 * above all numbers.
 */
static void
set_bound_of_constant(const RaceSubject *subject, RaceFacts *facts, bool upper,
					  const Constant *constant, bool open)
{
	bool is_whole;
	double x;

	if (!race_type_is_number(constant->type) ||
		family_of(constant->type) != family_of(subject->type))
		return;
	x = race_number_of(constant->type, constant->value);
	facts->not_nan |= upper && (open || !isnan(x));
	if (!isfinite(x))
		return;
	if (subject->whole)
	{
		x = floor_of(subject, constant, &is_whole);
		/* a whole number that is no double was rounded */
		if (fabs(x) >= EXACT_INTEGERS)
			x = nextafter(x, upper ? INFINITY : -INFINITY);
		else if (upper ? open && is_whole : open || !is_whole)
			x += upper ? -1 : 1;
	}
	race_facts_set_bound(subject, facts, upper, x);
}

/* Add a value that the subject may have; false if it cannot be read exactly. */
static bool
add_value(const RaceSubject *subject, RaceFacts *facts, const Constant *constant)
{
	RaceFacts one = {0};
	char *category;
	Reading reading;

	if (race_type_is_category(subject->type))
	{
		reading = read_category(subject, constant, &category);
		if (reading == READ)
			facts->categories = lappend(facts->categories, category);
		return reading != UNREAD;
	}
	set_bound_of_constant(subject, &one, false, constant, false);
	set_bound_of_constant(subject, &one, true, constant, false);
	if (!one.has_lower || !one.has_upper)
		return false;
	facts->lower = facts->has_lower ? Min(facts->lower, one.lower) : one.lower;
	facts->upper = facts->has_upper ? Max(facts->upper, one.upper) : one.upper;
	facts->has_lower = facts->has_upper = facts->not_nan = true;
	return true;
}

/* Let the values be some constants: all of them, or nothing is known. */
static void
set_values(const RaceSubject *subject, RaceFacts *facts, bool in_floats, Constant *constants, int n)
{
	RaceFacts values = {.has_categories = n > 0 && race_type_is_category(subject->type)};

	for (int i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		use_constant(subject, in_floats, &constants[i]);
		if (constants[i].isnull)
			values.unread = "a CHECK with NULL allows every value";
		else if (!add_value(subject, &values, &constants[i]))
			values.unread = "a CHECK has a value that is not read exactly";
		if (values.unread != NULL)
		{
			facts->unread = values.unread;
			return;
		}
	}
	*facts = values;
}

/* Return what a comparison says: x < 5, 5 > x, x = 5, x <> 'NaN'. */
static RaceFacts
facts_of_comparison(const RaceSubject *subject, OpExpr *expression)
{
	RaceFacts facts = {0};
	Comparison comparison;
	Constant constant;
	const char *operator;
	bool turned;

	if (list_length(expression->args) != 2 ||
		!read_operator(subject, expression->opno, expression->inputcollid, &comparison))
		return facts;
	turned = is_subject(subject, lsecond(expression->args));
	if (!turned && !is_subject(subject, linitial(expression->args)))
		return facts;
	if (!read_constant(turned ? linitial(expression->args) : lsecond(expression->args), &constant))
		return facts;
	operator= comparison.operator;
	use_constant(subject, comparison.in_floats, &constant);
	if (strcmp(operator, "=") == 0)
		set_values(subject, &facts, comparison.in_floats, &constant, 1);
	else if (constant.isnull)
		facts.unread = "a CHECK with NULL allows every value";
	else if (strcmp(operator, "<>") == 0)
		facts.not_nan = race_type_is_number(constant.type) &&
			isnan(race_number_of(constant.type, constant.value));
	else if ((operator[0] == '<' || operator[0] == '>') &&
			 (operator[1] == '\0' || strcmp(operator+ 1, "=") == 0))
		set_bound_of_constant(subject, &facts, (operator[0] == '<') != turned,
							  &constant, operator[1] == '\0');
	return facts;
}

/* Return the constants of an array, *n of them; NULL if it has anything else. */
static Constant *
constants_of(Node *list, int *n)
{
	Constant *constants;
	ListCell *cell;

	*n = 0;
	if (IsA(list, Const) && !((Const *) list)->constisnull)
	{
		ArrayType *array = DatumGetArrayTypeP(((Const *) list)->constvalue);
		int16 length;
		bool by_value;
		char align;
		Datum *values;
		bool *nulls;

		get_typlenbyvalalign(ARR_ELEMTYPE(array), &length, &by_value, &align);
		deconstruct_array(array, ARR_ELEMTYPE(array), length, by_value, align, &values, &nulls, n);
		constants = palloc((*n + 1) * sizeof(Constant));
		for (int i = 0; i < *n; i++)
			constants[i] = (Constant){ARR_ELEMTYPE(array), values[i], nulls[i]};
		return constants;
	}
	if (!IsA(list, ArrayExpr))
		return NULL;
	constants = palloc((list_length(((ArrayExpr *) list)->elements) + 1) * sizeof(Constant));
	foreach (cell, ((ArrayExpr *) list)->elements)
		if (!read_constant(lfirst(cell), &constants[(*n)++]))
			return NULL;
	return constants;
}

/* Return what a list of values says: x IN (...), x = ANY (ARRAY[...]). */
static RaceFacts
facts_of_list(const RaceSubject *subject, ScalarArrayOpExpr *expression)
{
	RaceFacts facts = {0};
	Comparison comparison;
	Constant *constants;
	int n;

	if (!expression->useOr ||
		!read_operator(subject, expression->opno, expression->inputcollid, &comparison) ||
		strcmp(comparison.operator, "=") != 0 || !is_subject(subject, linitial(expression->args)))
		return facts;
	constants = constants_of(strip_casts(lsecond(expression->args)), &n);
	if (constants != NULL)
		set_values(subject, &facts, comparison.in_floats, constants, n);
	return facts;
}

/* Combine facts that both hold. */
static void
add_facts(RaceFacts *facts, const RaceFacts *more)
{
	facts->not_null |= more->not_null;
	facts->not_nan |= more->not_nan;
	if (facts->unread == NULL)
		facts->unread = more->unread;
	if (more->has_lower && !(facts->has_lower && facts->lower >= more->lower))
	{
		facts->has_lower = true;
		facts->lower = more->lower;
	}
	if (more->has_upper && !(facts->has_upper && facts->upper <= more->upper))
	{
		facts->has_upper = true;
		facts->upper = more->upper;
	}
	if (more->has_categories && facts->has_categories)
		facts->categories = common_categories(facts->categories, more->categories);
	else if (more->has_categories)
	{
		facts->has_categories = true;
		facts->categories = more->categories;
	}
}

/* Combine facts of which one holds. */
static void
join_facts(RaceFacts *facts, const RaceFacts *other)
{
	facts->not_null &= other->not_null;
	facts->not_nan &= other->not_nan;
	if (facts->unread == NULL)
		facts->unread = other->unread;
	facts->has_lower &= other->has_lower;
	facts->lower = Min(facts->lower, other->lower);
	facts->has_upper &= other->has_upper;
	facts->upper = Max(facts->upper, other->upper);
	facts->has_categories &= other->has_categories;
	facts->categories = list_concat(facts->categories, other->categories);
}

/*
 * Return what holds where one of some conditions does.  A constraint holds for NULL, too: x IS NULL
 * OR x > 0 says no more than x > 0, but of NULL.
 */
static RaceFacts
facts_of_any(const RaceSubject *subject, const List *conditions)
{
	RaceFacts facts = {0};
	bool first = true;
	bool null = false;
	ListCell *cell;

	foreach (cell, conditions)
	{
		NullTest *test = lfirst(cell);

		if (IsA(test, NullTest) && test->nulltesttype == IS_NULL &&
			is_subject(subject, (Node *) test->arg))
			null = true;
		else
		{
			RaceFacts one = facts_of(subject, (Node *) test);

			if (first)
				facts = one;
			else
				join_facts(&facts, &one);
			first = false;
		}
	}
	facts.not_null &= !null;
	return facts;
}

static RaceFacts
facts_of(const RaceSubject *subject, Node *condition)
{
	RaceFacts facts = {0};
	ListCell *cell;

	check_stack_depth();
	switch (nodeTag(condition))
	{
		case T_OpExpr:
			return facts_of_comparison(subject, (OpExpr *) condition);
		case T_ScalarArrayOpExpr:
			return facts_of_list(subject, (ScalarArrayOpExpr *) condition);
		case T_NullTest:
			facts.not_null = ((NullTest *) condition)->nulltesttype == IS_NOT_NULL &&
				is_subject(subject, (Node *) ((NullTest *) condition)->arg);
			return facts;
		case T_BoolExpr:
			if (((BoolExpr *) condition)->boolop == OR_EXPR)
				return facts_of_any(subject, ((BoolExpr *) condition)->args);
			if (((BoolExpr *) condition)->boolop == AND_EXPR)
				foreach (cell, ((BoolExpr *) condition)->args)
				{
					RaceFacts more = facts_of(subject, lfirst(cell));

					add_facts(&facts, &more);
				}
			return facts;
		default:
			return facts;
	}
}

/*
 * What the schema says of a column.
 */

/*
 * Add what validated CHECK constraints say, of a relation or of a SQL domain.  Those that are not
 * inherited say nothing of rows of children.  A value of a domain may be NULL in spite of its
 * constraints: an outer join or a subquery that returns no row is not checked.
 */
static void
add_constraints(RaceSchemaColumn *column, const RaceSubject *subject, bool domain, Oid object)
{
	Relation constraints = table_open(ConstraintRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple tuple;

	ScanKeyInit(&key, domain ? Anum_pg_constraint_contypid : Anum_pg_constraint_conrelid,
				BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(object));
	scan = systable_beginscan(constraints,
							  domain ? ConstraintTypidIndexId : ConstraintRelidTypidNameIndexId,
							  true, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_constraint constraint = (Form_pg_constraint) GETSTRUCT(tuple);
		bool isnull;
		Datum condition =
			heap_getattr(tuple, Anum_pg_constraint_conbin, RelationGetDescr(constraints), &isnull);
		RaceFacts facts;

		if (isnull || constraint->contype != CONSTRAINT_CHECK || !constraint->convalidated ||
			constraint->connoinherit)
			continue;
#if PG_VERSION_NUM >= 180000
		if (!constraint->conenforced)
			continue;
#endif
		facts = facts_of(subject, stringToNode(TextDatumGetCString(condition)));
		facts.not_null &= !domain;
		add_facts(&column->facts, &facts);
		if (facts.has_lower || facts.has_upper || facts.has_categories)
			column->source = domain ? "domain" : "check";
	}
	systable_endscan(scan);
	table_close(constraints, AccessShareLock);
}

/* Add what SQL domains say, the innermost first; the subject's type becomes that under them. */
static void
add_domains(RaceSchemaColumn *column, Oid type, int32 typmod)
{
	Oid base = getBaseTypeAndTypmod(type, &typmod);
	RaceSubject value = {0, base, race_type_is_whole(base), race_type_is_whole(base) ? 1 : 0};

	/* the scale, as numeric_in() finds it in the modifier */
	if (base == NUMERICOID && typmod >= (int32) VARHDRSZ)
	{
		int scale = (((typmod - VARHDRSZ) & 0x7ff) ^ 1024) - 1024;

		value.whole = scale <= 0;
		value.finest = strtod(psprintf("1e%d", -scale), NULL);
	}
	column->subject = value;
	/* bound: domains over domains: a type is older than those over it */
	while (get_typtype(type) == TYPTYPE_DOMAIN)
	{
		HeapTuple tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));

		if (!HeapTupleIsValid(tuple))
			race_refuse_dropped("a type");
		add_constraints(column, &value, true, type);
		type = ((Form_pg_type) GETSTRUCT(tuple))->typbasetype;
		ReleaseSysCache(tuple);
	}
}

/*
 * Return whether a constraint holds that one column of a relation is NOT NULL.  From PostgreSQL 18
 * on it may be NOT VALID.
 */
static bool
is_not_null(Oid relation, AttrNumber number)
{
	HeapTuple tuple = SearchSysCacheAttNum(relation, number);
	bool result;

	if (!HeapTupleIsValid(tuple))
		return false;
	result = ((Form_pg_attribute) GETSTRUCT(tuple))->attnotnull;
	ReleaseSysCache(tuple);
#if PG_VERSION_NUM >= 180000
	if (result && (tuple = findNotNullConstraintAttnum(relation, number)) != NULL)
	{
		result = ((Form_pg_constraint) GETSTRUCT(tuple))->convalidated;
		heap_freetuple(tuple);
	}
#endif
	return result;
}

/*
 * Return whether this server enforces the constraints of all rows that are read with a relation.
 * It does not for rows on other servers, nor for columns that are computed when they are read.
 */
static bool
is_enforced(Oid relation, AttrNumber number)
{
	ListCell *cell;

#if PG_VERSION_NUM >= 180000
	if (get_attgenerated(relation, number) == ATTRIBUTE_GENERATED_VIRTUAL)
		return false;
#endif
	(void) number;
	foreach (cell, find_all_inheritors(relation, NoLock, NULL))
		if (get_rel_relkind(lfirst_oid(cell)) == RELKIND_FOREIGN_TABLE)
			return false;
	return true;
}

bool
race_column_is_not_null(Oid relation, AttrNumber number)
{
	char *name = get_attname(relation, number, true);
	ListCell *cell;

	if (name == NULL || !is_enforced(relation, number))
		return false;
	/* a child may have dropped it, or never have had it */
	foreach (cell, find_all_inheritors(relation, NoLock, NULL))
		if (!is_not_null(lfirst_oid(cell), get_attnum(lfirst_oid(cell), name)))
			return false;
	return true;
}

/* Set the column of a relation that a column of a query is; return false if it is none. */
static bool
trace_query(Query *query, AttrNumber number, Oid *relation, AttrNumber *column)
{
	Node *node = (Node *) get_tle_by_resno(query->targetList, number)->expr;

	check_stack_depth();
	/* bound: the depth of the query */
	while (query->setOperations == NULL)
	{
		RangeTblEntry *entry;
		Var *var = (Var *) strip_casts(node);

		if (!IsA(var, Var) || var->varlevelsup > 0 || var->varattno <= 0)
			return false;
		entry = rt_fetch(var->varno, query->rtable);
		switch (entry->rtekind)
		{
			case RTE_RELATION:
				*relation = entry->relid;
				*column = var->varattno;
				return true;
			case RTE_SUBQUERY:
				return trace_query(entry->subquery, var->varattno, relation, column);
			case RTE_JOIN:
				node = list_nth(entry->joinaliasvars, var->varattno - 1);
				break;
			default:
				return false;
		}
	}
	return false;
}

/*
 * Add what is known of a column of a table, or of the table's column that a column of a view is.
 * An outer join makes NULLs.
 */
static void
add_table(RaceSchemaColumn *column)
{
	Oid relation = column->relation;
	RaceSubject subject = column->subject;
	List *views = NIL;
	bool nulls = false;

	subject.column = column->number;
	/* bound: the views, each once */
	while (get_rel_relkind(relation) == RELKIND_VIEW)
	{
		Relation view = race_relation_open(relation);
		bool found;

		/* views that were replaced may read each other */
		views = lappend_oid(views, relation);
		found = trace_query(race_view_query(view), subject.column, &relation, &subject.column) &&
			!list_member_oid(views, relation);
		relation_close(view, AccessShareLock);
		nulls = true;
		if (!found)
			return;
	}
	/* another type has other bounds: those of a cast */
	if (getBaseType(get_atttype(relation, subject.column)) == subject.type)
	{
		column->enforced = is_enforced(relation, subject.column);
		column->facts.not_null |= race_column_is_not_null(relation, subject.column);
		add_constraints(column, &subject, false, relation);
	}
	column->facts.not_null &= !nulls && column->enforced;
}

/* Return the labels of an enum in their order, those that are among the facts' categories. */
static List *
enum_labels(Oid type, const RaceFacts *facts)
{
	Relation labels = table_open(EnumRelationId, AccessShareLock);
	List *result = NIL;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple tuple;

	ScanKeyInit(&key, Anum_pg_enum_enumtypid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(type));
	scan = systable_beginscan(labels, EnumTypIdSortOrderIndexId, true, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
		result = lappend(result, pstrdup(NameStr(((Form_pg_enum) GETSTRUCT(tuple))->enumlabel)));
	systable_endscan(scan);
	table_close(labels, AccessShareLock);
	return facts->has_categories ? common_categories(result, facts->categories) : result;
}

/* Add the values of types that have few.  Integers may have bounds beside their list. */
static void
add_values_of_type(RaceSchemaColumn *column)
{
	Oid type = column->subject.type;
	RaceFacts *facts = &column->facts;

	if (type == BOOLOID && !facts->has_categories)
	{
		facts->categories = list_make2("false", "true");
		facts->has_categories = true;
		column->source = "boolean";
	}
	else if (get_typtype(type) == TYPTYPE_ENUM)
	{
		facts->categories = enum_labels(type, facts);
		if (!facts->has_categories)
			column->source = "enum";
		facts->has_categories = true;
	}
	else if (race_type_is_whole(type) && facts->has_categories)
	{
		List *within = NIL;
		ListCell *cell;

		foreach (cell, facts->categories)
		{
			double x = strtod(lfirst(cell), NULL);

			if (!(facts->has_lower && x < facts->lower) && !(facts->has_upper && x > facts->upper))
				within = lappend(within, lfirst(cell));
		}
		facts->categories = within;
	}
}

void
race_schema_read(RaceSchemaColumn *column, Oid relation, AttrNumber number)
{
	HeapTuple tuple = SearchSysCacheAttNum(relation, number);
	Form_pg_attribute attribute;

	if (!HeapTupleIsValid(tuple))
		ereport(
			ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN), errmsg("column number %d does not exist", number)));
	memset(column, 0, sizeof(RaceSchemaColumn));
	attribute = (Form_pg_attribute) GETSTRUCT(tuple);
	column->relation = relation;
	column->number = number;
	column->name = pstrdup(NameStr(attribute->attname));
	column->enforced = true;
	add_domains(column, attribute->atttypid, attribute->atttypmod);
	ReleaseSysCache(tuple);
	add_table(column);
	add_values_of_type(column);
}

/* Return whether an array of numbers of columns is one column alone. */
static bool
is_column(HeapTuple tuple, TupleDesc row, AttrNumber place, AttrNumber *column)
{
	bool isnull;
	Datum value = heap_getattr(tuple, place, row, &isnull);
	ArrayType *array = isnull ? NULL : DatumGetArrayTypeP(value);

	if (array == NULL || ARR_NDIM(array) != 1 || ARR_DIMS(array)[0] != 1)
		return false;
	*column = *(int16 *) ARR_DATA_PTR(array);
	return true;
}

Oid
race_schema_reference(Oid relation, AttrNumber number, const List *tables, AttrNumber *key)
{
	Relation constraints = table_open(ConstraintRelationId, AccessShareLock);
	Oid found = InvalidOid;
	ScanKeyData by_relation;
	SysScanDesc scan;
	HeapTuple tuple;

	ScanKeyInit(&by_relation, Anum_pg_constraint_conrelid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(relation));
	scan = systable_beginscan(constraints, ConstraintRelidTypidNameIndexId, true, NULL, 1,
							  &by_relation);
	while (!OidIsValid(found) && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_constraint constraint = (Form_pg_constraint) GETSTRUCT(tuple);
		AttrNumber from;
		AttrNumber to;

		if (constraint->contype == CONSTRAINT_FOREIGN &&
			list_member_oid(tables, constraint->confrelid) &&
			is_column(tuple, RelationGetDescr(constraints), Anum_pg_constraint_conkey, &from) &&
			from == number &&
			is_column(tuple, RelationGetDescr(constraints), Anum_pg_constraint_confkey, &to))
		{
			found = constraint->confrelid;
			if (key != NULL)
				*key = to;
		}
	}
	systable_endscan(scan);
	table_close(constraints, AccessShareLock);
	return found;
}
