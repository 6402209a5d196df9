/*
 * columns.c
 *		Public domains of columns: what the schema says of them, and what their owner does
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
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/primnodes.h"
#include "parser/parsetree.h"
#include "optimizer/tlist.h"
#include "storage/lmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "sketch/argument.h"
#include "sketch/authority.h"
#include "sketch/domain.h"
#include "sketch/result.h"
#include "release/ledger.h"
#include "release/lineage.h"
#include "release/release.h"
#include "release/request.h"

/*
 * What a condition says of a column.
 *
 * Conditions of CHECK constraints belong to owners of tables and types.  They are read and never
 * evaluated: only constants in them count, compared by operators of PostgreSQL's own.
 *
 * A fact is an upper bound of what can be in the column.  A value that it excludes by mistake would have no cell that is true
 * of it, so what is not read exactly is no fact.
 */

typedef struct Facts
{
	bool		not_null;
	bool		not_nan;
	bool		has_lower;
	bool		has_upper;
	bool		has_categories;
	double		lower;			/* included, as upper */
	double		upper;
	List	   *categories;		/* of char * */
	const char *unread;			/* why a list of values is no fact, or NULL */
} Facts;

/* What conditions are about: a column, or a value of a SQL domain */
typedef struct Subject
{
	AttrNumber	column;			/* 0: the value of a SQL domain */
	Oid			type;			/* without SQL domains */
	bool		whole;
} Subject;

static Facts facts_of(const Subject *subject, Node *condition);

/* Types of which operators compare values as those of one type: by the order and equality of their numbers, or by their bytes */
typedef enum Family
{
	NO_FAMILY, NUMBERS, DAYS, INSTANTS, INTERVALS, TEXTS, PADDED_TEXTS, BOOLEANS, UUIDS, ENUMS
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
 * Does a cast from one type to another keep values in order, as race_number_of() gives them?  A cast to real rounds, but of
 * smallint.
 */
static bool
is_widening(Oid from, Oid to)
{
	static const Oid ladder[] = {INT2OID, INT4OID, INT8OID, NUMERICOID, FLOAT8OID};
	int			place[2] = {-1, -1};

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

/* Return an expression without casts that keep values as they are, but perhaps not which of them are equal. */
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
		else if (IsA(node, ArrayCoerceExpr) && IsA(strip_casts((Node *) ((ArrayCoerceExpr *) node)->elemexpr), CaseTestExpr))
			node = (Node *) ((ArrayCoerceExpr *) node)->arg;
		else if (IsA(node, FuncExpr) && ((FuncExpr *) node)->funcid < FirstGenbkiObjectId &&
				 ((FuncExpr *) node)->funcformat != COERCE_EXPLICIT_CALL &&
				 list_length(((FuncExpr *) node)->args) == 1 &&
				 is_widening(exprType(linitial(((FuncExpr *) node)->args)), ((FuncExpr *) node)->funcresulttype))
			node = linitial(((FuncExpr *) node)->args);
		else
			return node;
	}
}

static bool
is_subject(const Subject *subject, Node *node)
{
	node = strip_casts(node);
	if (subject->column == 0)
		return IsA(node, CoerceToDomainValue);
	return IsA(node, Var) && ((Var *) node)->varlevelsup == 0 && ((Var *) node)->varattno == subject->column;
}

/* A comparison that keeps the equality and order of the subject's values */
typedef struct Comparison
{
	const char *operator;		/* its name */
	bool		in_floats;		/* are both sides compared as floats, of which several integers may be one? */
} Comparison;

/* Set how an operator of PostgreSQL's own compares values of the subject; false if it does not as their type does. */
static bool
read_operator(const Subject *subject, Oid operator, Oid collation, Comparison *comparison)
{
	Oid			left;
	Oid			right;

	/* some collations call different texts equal */
	if (operator >= FirstGenbkiObjectId || (OidIsValid(collation) && !get_collation_isdeterministic(collation)))
		return false;
	op_input_types(operator, &left, &right);
	comparison->operator = get_opname(operator);
	comparison->in_floats = left == FLOAT4OID || left == FLOAT8OID;
	return family_of(subject->type) != NO_FAMILY && family_of(left) == family_of(subject->type) &&
		family_of(right) == family_of(subject->type);
}

typedef struct Constant
{
	Oid			type;
	Datum		value;
	bool		isnull;
} Constant;

#define EXACT_INTEGERS	0x1p53	/* below this, each integer is a double of its own */

/* Return a cast of a number to real, which rounds; NULL if an expression is none. */
static FuncExpr *
cast_to_real(Node *node)
{
	FuncExpr   *cast = (FuncExpr *) node;

	return IsA(node, FuncExpr) && cast->funcid < FirstGenbkiObjectId && cast->funcresulttype == FLOAT4OID &&
		cast->funcformat != COERCE_EXPLICIT_CALL && list_length(cast->args) == 1 &&
		family_of(exprType(linitial(cast->args))) == NUMBERS ? cast : NULL;
}

/* Set the constant that an expression is, but for casts; false if it is none. */
static bool
read_constant(Node *node, Constant *constant)
{
	FuncExpr   *cast;
	double		x;
	bool		decimal;

	check_stack_depth();
	node = strip_casts(node);
	if (IsA(node, Const))
	{
		*constant = (Constant) {((Const *) node)->consttype, ((Const *) node)->constvalue, ((Const *) node)->constisnull};
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
	*constant = (Constant) {FLOAT4OID, Float4GetDatum(!decimal ? (float4) x :
													  strtof(DatumGetCString(DirectFunctionCall1(numeric_out, constant->value)), NULL)), false};
	return true;
}

/* Turn a constant into one of a type that values of the subject are compared with. */
static void
use_constant(const Subject *subject, bool in_floats, Constant *constant)
{
	Timestamp	time;
	double		days;

	if (constant->isnull)
		return;
	if (in_floats && family_of(constant->type) == NUMBERS && constant->type != FLOAT4OID)
		*constant = (Constant) {FLOAT8OID, Float8GetDatum(race_number_of(constant->type, constant->value)), false};
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
		*constant = (Constant) {TIMESTAMPOID, TimestampGetDatum(time), false};
	}
}

/* What is known of a constant in a list */
typedef enum Reading
{
	READ, NEVER_EQUAL, UNREAD
} Reading;

/* Read a constant that integers are compared with. */
static Reading
read_integer(const Constant *constant, int64 *integer)
{
	double		x;
	char	   *text;
	char	   *end;

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
read_category(const Subject *subject, const Constant *constant, char **category)
{
	Family		family = family_of(constant->type);
	Reading		reading;
	int64		integer;

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

/* The categories of a list that are in another one, too */
static List *
common_categories(const List *list, const List *other)
{
	char	  **sorted = palloc(list_length(other) * sizeof(char *));
	List	   *common = NIL;
	size_t		n = 0;
	ListCell   *cell;

	foreach(cell, other)
		sorted[n++] = lfirst(cell);
	qsort(sorted, n, sizeof(char *), compare_names);
	foreach(cell, list)
		if (bsearch(&lfirst(cell), sorted, n, sizeof(char *), compare_names) != NULL)
			common = lappend(common, lfirst(cell));
	return common;
}

/* The values are at least, or at most, x. */
static void
set_bound(const Subject *subject, Facts *facts, bool upper, double x)
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

/* Return the largest whole number that is not above a constant, as values of the subject have it.  Is it the constant? */
static double
floor_of(const Subject *subject, const Constant *constant, bool *is_whole)
{
	double		x = race_number_of(constant->type, constant->value);
	Datum		whole;
	Timestamp	time;

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
 * The values are at least, or at most, a constant, or with an open bound above or below it; of whole numbers that is the next
 * one.  What is below anything else than NaN is not NaN, which is above all numbers.
 */
static void
set_bound_of_constant(const Subject *subject, Facts *facts, bool upper, const Constant *constant, bool open)
{
	bool		is_whole;
	double		x;

	if (!race_type_is_number(constant->type) || family_of(constant->type) != family_of(subject->type))
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
	set_bound(subject, facts, upper, x);
}

/* Add a value that the subject may have; false if it cannot be read exactly. */
static bool
add_value(const Subject *subject, Facts *facts, const Constant *constant)
{
	Facts		one = {0};
	char	   *category;
	Reading		reading;

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

/* The values are some constants: all of them, or nothing is known. */
static void
set_values(const Subject *subject, Facts *facts, bool in_floats, Constant *constants, int n)
{
	Facts		values = {.has_categories = n > 0 && race_type_is_category(subject->type)};

	for (int i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		use_constant(subject, in_floats, &constants[i]);
		if (constants[i].isnull)
			values.unread = "a CHECK constraint compares it with NULL, which allows every value";
		else if (!add_value(subject, &values, &constants[i]))
			values.unread = "a CHECK constraint compares it with a value that is not read exactly";
		if (values.unread != NULL)
		{
			facts->unread = values.unread;
			return;
		}
	}
	*facts = values;
}

/* x < 5, 5 > x, x = 5, x <> 'NaN' */
static Facts
facts_of_comparison(const Subject *subject, OpExpr *expression)
{
	Facts		facts = {0};
	Comparison	comparison;
	Constant	constant;
	const char *operator;
	bool		turned;

	if (list_length(expression->args) != 2 ||
		!read_operator(subject, expression->opno, expression->inputcollid, &comparison))
		return facts;
	turned = is_subject(subject, lsecond(expression->args));
	if (!turned && !is_subject(subject, linitial(expression->args)))
		return facts;
	if (!read_constant(turned ? linitial(expression->args) : lsecond(expression->args), &constant))
		return facts;
	operator = comparison.operator;
	use_constant(subject, comparison.in_floats, &constant);
	if (strcmp(operator, "=") == 0)
		set_values(subject, &facts, comparison.in_floats, &constant, 1);
	else if (constant.isnull)
		facts.unread = "a CHECK constraint compares it with NULL, which allows every value";
	else if (strcmp(operator, "<>") == 0)
		facts.not_nan = race_type_is_number(constant.type) && isnan(race_number_of(constant.type, constant.value));
	else if ((operator[0] == '<' || operator[0] == '>') && (operator[1] == '\0' || strcmp(operator + 1, "=") == 0))
		set_bound_of_constant(subject, &facts, (operator[0] == '<') != turned, &constant, operator[1] == '\0');
	return facts;
}

/* Return the constants of an array, *n of them; NULL if it has anything else. */
static Constant *
constants_of(Node *list, int *n)
{
	Constant   *constants;
	ListCell   *cell;

	*n = 0;
	if (IsA(list, Const) && !((Const *) list)->constisnull)
	{
		ArrayType  *array = DatumGetArrayTypeP(((Const *) list)->constvalue);
		int16		length;
		bool		by_value;
		char		align;
		Datum	   *values;
		bool	   *nulls;

		get_typlenbyvalalign(ARR_ELEMTYPE(array), &length, &by_value, &align);
		deconstruct_array(array, ARR_ELEMTYPE(array), length, by_value, align, &values, &nulls, n);
		constants = palloc((*n + 1) * sizeof(Constant));
		for (int i = 0; i < *n; i++)
			constants[i] = (Constant) {ARR_ELEMTYPE(array), values[i], nulls[i]};
		return constants;
	}
	if (!IsA(list, ArrayExpr))
		return NULL;
	constants = palloc((list_length(((ArrayExpr *) list)->elements) + 1) * sizeof(Constant));
	foreach(cell, ((ArrayExpr *) list)->elements)
		if (!read_constant(lfirst(cell), &constants[(*n)++]))
			return NULL;
	return constants;
}

/* x IN (...), x = ANY (ARRAY[...]) */
static Facts
facts_of_list(const Subject *subject, ScalarArrayOpExpr *expression)
{
	Facts		facts = {0};
	Comparison	comparison;
	Constant   *constants;
	int			n;

	if (!expression->useOr || !read_operator(subject, expression->opno, expression->inputcollid, &comparison) ||
		strcmp(comparison.operator, "=") != 0 || !is_subject(subject, linitial(expression->args)))
		return facts;
	constants = constants_of(strip_casts(lsecond(expression->args)), &n);
	if (constants != NULL)
		set_values(subject, &facts, comparison.in_floats, constants, n);
	return facts;
}

/* Both hold. */
static void
add_facts(Facts *facts, const Facts *more)
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

/* One of both holds. */
static void
join_facts(Facts *facts, const Facts *other)
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

/* A constraint holds for NULL, too: x IS NULL OR x > 0 says no more than x > 0, but of NULL. */
static Facts
facts_of_any(const Subject *subject, const List *conditions)
{
	Facts		facts = {0};
	bool		first = true;
	bool		null = false;
	ListCell   *cell;

	foreach(cell, conditions)
	{
		NullTest   *test = lfirst(cell);

		if (IsA(test, NullTest) && test->nulltesttype == IS_NULL && is_subject(subject, (Node *) test->arg))
			null = true;
		else
		{
			Facts		one = facts_of(subject, (Node *) test);

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

static Facts
facts_of(const Subject *subject, Node *condition)
{
	Facts		facts = {0};
	ListCell   *cell;

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
				foreach(cell, ((BoolExpr *) condition)->args)
				{
					Facts		more = facts_of(subject, lfirst(cell));

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

typedef struct Column
{
	Oid			relation;
	AttrNumber	number;
	char	   *name;
	Subject		subject;
	Facts		facts;
	bool		enforced;		/* does the server hold them? */
	const char *source;			/* of what is known, or NULL */
} Column;

/*
 * Add what validated CHECK constraints say, of a relation or of a SQL domain.  Those that are not
 * inherited say nothing of rows of children.  A value of a domain may be NULL in spite of its constraints: an outer join or a
 * subquery that returns no row is not checked.
 */
static void
add_constraints(Column *column, const Subject *subject, bool domain, Oid object)
{
	Relation	constraints = table_open(ConstraintRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, domain ? Anum_pg_constraint_contypid : Anum_pg_constraint_conrelid,
				BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(object));
	scan = systable_beginscan(constraints, domain ? ConstraintTypidIndexId : ConstraintRelidTypidNameIndexId,
							  true, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_constraint constraint = (Form_pg_constraint) GETSTRUCT(tuple);
		bool		isnull;
		Datum		condition = heap_getattr(tuple, Anum_pg_constraint_conbin,
											 RelationGetDescr(constraints), &isnull);
		Facts		facts;

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
add_domains(Column *column, Oid type, int32 typmod)
{
	Oid			base = getBaseTypeAndTypmod(type, &typmod);
	Subject		value = {0, base, race_type_is_whole(base)};

	/* a scale of 0, as numeric_in() finds it in the modifier */
	if (base == NUMERICOID && typmod >= (int32) VARHDRSZ)
		value.whole = (((typmod - VARHDRSZ) & 0x7ff) ^ 1024) - 1024 <= 0;
	column->subject = value;
	/* bound: domains over domains: a type is older than those over it */
	while (get_typtype(type) == TYPTYPE_DOMAIN)
	{
		HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));

		if (!HeapTupleIsValid(tuple))
			race_refuse_dropped("a type");
		add_constraints(column, &value, true, type);
		type = ((Form_pg_type) GETSTRUCT(tuple))->typbasetype;
		ReleaseSysCache(tuple);
	}
}

/* Does a constraint hold that one column of a relation is NOT NULL?  From PostgreSQL 18 on it may be NOT VALID. */
static bool
is_not_null(Oid relation, AttrNumber number)
{
	HeapTuple	tuple = SearchSysCacheAttNum(relation, number);
	bool		result;

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
 * Does this server hold the constraints of all rows that are read with a relation?  Not of rows on other servers, nor of
 * columns that are computed when they are read.
 */
static bool
is_enforced(Oid relation, AttrNumber number)
{
	ListCell   *cell;

#if PG_VERSION_NUM >= 180000
	if (get_attgenerated(relation, number) == ATTRIBUTE_GENERATED_VIRTUAL)
		return false;
#endif
	(void) number;
	foreach(cell, find_all_inheritors(relation, NoLock, NULL))
		if (get_rel_relkind(lfirst_oid(cell)) == RELKIND_FOREIGN_TABLE)
			return false;
	return true;
}

bool
race_column_is_not_null(Oid relation, AttrNumber number)
{
	char	   *name = get_attname(relation, number, true);
	ListCell   *cell;

	if (name == NULL || !is_enforced(relation, number))
		return false;
	/* a child may have dropped it, or never have had it */
	foreach(cell, find_all_inheritors(relation, NoLock, NULL))
		if (!is_not_null(lfirst_oid(cell), get_attnum(lfirst_oid(cell), name)))
			return false;
	return true;
}

/* Which column of a relation is a column of a query?  False if it is none. */
static bool
trace_query(Query *query, AttrNumber number, Oid *relation, AttrNumber *column)
{
	Node	   *node = (Node *) get_tle_by_resno(query->targetList, number)->expr;

	check_stack_depth();
	/* bound: the depth of the query */
	while (query->setOperations == NULL)
	{
		RangeTblEntry *entry;
		Var		   *var = (Var *) strip_casts(node);

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
 * Add what is known of a column of a table, or of the table's column that a column of a view is.  An outer
 * join makes NULLs.
 */
static void
add_table(Column *column)
{
	Oid			relation = column->relation;
	Subject		subject = column->subject;
	List	   *views = NIL;
	bool		nulls = false;

	subject.column = column->number;
	/* bound: the views, each once */
	while (get_rel_relkind(relation) == RELKIND_VIEW)
	{
		Relation	view = race_relation_open(relation);
		bool		found;

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
enum_labels(Oid type, const Facts *facts)
{
	Relation	labels = table_open(EnumRelationId, AccessShareLock);
	List	   *result = NIL;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_enum_enumtypid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(type));
	scan = systable_beginscan(labels, EnumTypIdSortOrderIndexId, true, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
		result = lappend(result, pstrdup(NameStr(((Form_pg_enum) GETSTRUCT(tuple))->enumlabel)));
	systable_endscan(scan);
	table_close(labels, AccessShareLock);
	return facts->has_categories ? common_categories(result, facts->categories) : result;
}

/* Of some types the values are few, and integers may have bounds beside their list. */
static void
add_values_of_type(Column *column)
{
	Oid			type = column->subject.type;
	Facts	   *facts = &column->facts;

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
		List	   *within = NIL;
		ListCell   *cell;

		foreach(cell, facts->categories)
		{
			double		x = strtod(lfirst(cell), NULL);

			if (!(facts->has_lower && x < facts->lower) && !(facts->has_upper && x > facts->upper))
				within = lappend(within, lfirst(cell));
		}
		facts->categories = within;
	}
}

static void
read_schema(Column *column, Oid relation, AttrNumber number)
{
	HeapTuple	tuple = SearchSysCacheAttNum(relation, number);
	Form_pg_attribute attribute;

	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column number %d does not exist", number)));
	memset(column, 0, sizeof(Column));
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

/*
 * From what is known to cells.
 */

#define MOST_VALUES			1024	/* cells of whole numbers: more values share cells */
#define NUMBER_CELLS		256		/* of others, without a step */
#define NUMBER_GROUPS		64		/* in tables of two columns (test/bench/TABLES.md), */
#define SINGLE_NUMBERS		32		/* where so few are single; groups of two cells and more are known to be in order */
#define CATEGORY_GROUPS		128

/* Why a column has no domain, and what the owner can say of it */
typedef struct Reason
{
	const char *why;
	const char *arguments;		/* of race_describe() */
} Reason;

static void
set_cells_of_number(RaceDomain *domain, bool aligned, Reason *reason)
{
	double		span = domain->upper - domain->lower;
	double		n;

	domain->start = domain->lower;
	if (domain->step > 0)
		domain->width = domain->step;
	else if (domain->whole)
	{
		domain->width = span < MOST_VALUES ? 1 : race_round_width(ceil((span + 1) / MOST_VALUES));
		if (aligned)
			domain->start = floor(domain->lower / domain->width) * domain->width;
	}
	else
		domain->width = span > 0 ? span / NUMBER_CELLS : 1;
	if (domain->whole)
		n = floor((domain->upper - domain->start) / domain->width) + 1;
	else
		n = domain->step > 0 ? floor(span / domain->step) : span > 0 ? NUMBER_CELLS : 1;
	if (!(n <= RACE_COLUMN_CELLS) || !(domain->width > 0))
	{
		domain->n = RACE_COLUMN_CELLS + 1;
		return;
	}
	/* a number would be in many cells */
	if (span > 0 && (domain->lower + domain->width == domain->lower || domain->upper - domain->width == domain->upper))
	{
		reason->why = "its cells would be narrower than its numbers are precise";
		reason->arguments = "lower => ..., upper => ..., step => ...";
		return;
	}
	domain->n = (uint32) Max(n, 1);
	if (!domain->whole && domain->step > 0)
	{
		RaceNumberCells cells;

		/* the upper bound is the end of the last cell, or in it */
		race_number_cells_set(&cells, domain->lower, domain->upper, domain->start, domain->width, domain->n);
		/* bound: RACE_COLUMN_CELLS; rounding loses one or two */
		while (domain->n <= RACE_COLUMN_CELLS && race_cell_edge(&cells, domain->n) < domain->upper)
			domain->n++;
	}
	if (domain->n <= SINGLE_NUMBERS)
		domain->group = 1;
	else if (!domain->whole && domain->step == 0 && domain->n == NUMBER_CELLS)
		domain->group = NUMBER_CELLS / NUMBER_GROUPS;
	else
		domain->group = (uint32) Max(race_round_width(ceil((double) domain->n / NUMBER_GROUPS)), 2);
}

/* Order the places of texts by the texts; equal ones stay in their order. */
static int
compare_texts(const void *a, const void *b, void *texts)
{
	uint32		i = *(const uint32 *) a;
	uint32		j = *(const uint32 *) b;
	int			order = strcmp(((char **) texts)[i], ((char **) texts)[j]);

	return order != 0 ? order : i < j ? -1 : 1;
}

/* Drop texts that there are twice; return how many are left. */
static uint32
drop_equal(char **texts, uint32 n)
{
	uint32	   *places = palloc(n * sizeof(uint32));
	bool	   *equal = palloc0(n * sizeof(bool));
	uint32		left = 0;

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
plan_domain(const Column *column, bool described, double step, RaceDomain *domain, Reason *reason)
{
	const Facts *facts = &column->facts;
	bool		number = race_type_is_number(column->subject.type);
	ListCell   *cell;

	memset(domain, 0, sizeof(RaceDomain));
	memset(reason, 0, sizeof(Reason));
	domain->name = column->name;
	domain->type = format_type_be(column->subject.type);
	domain->has_null = !facts->not_null || (race_type_has_nan(column->subject.type) && !facts->not_nan);
	if (!number && !race_type_is_category(column->subject.type))
		reason->why = "a column of this type cannot be counted";
	else if (facts->has_categories && facts->categories == NIL)
		reason->why = "its CHECK constraints allow no value";
	else if (facts->has_categories)
	{
		domain->category = true;
		domain->categories = palloc(list_length(facts->categories) * sizeof(char *));
		foreach(cell, facts->categories)
			domain->categories[domain->n++] = lfirst(cell);
		domain->n = drop_equal(domain->categories, domain->n);
		domain->group = (domain->n + CATEGORY_GROUPS - 1) / CATEGORY_GROUPS;
		domain->has_other = described || !column->enforced;
		if (step > 0)
			reason->why = "a step is for numbers, and it has categories";
	}
	else if (!number)
	{
		reason->why = "its categories are not known";
		reason->arguments = "categories => '{...}'";
		domain->category = domain->chosen = domain->has_other = true;
		domain->n = RACE_MOST_CHOSEN;
		domain->group = RACE_MOST_CHOSEN / CATEGORY_GROUPS;
	}
	else if (!facts->has_lower || !facts->has_upper)
	{
		reason->why = facts->has_lower ? "its upper bound is not known" :
			facts->has_upper ? "its lower bound is not known" : "its bounds are not known";
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
	else if (column->subject.whole && step != rint(step))
		reason->why = "its values are whole numbers, and the step is not";
	else
	{
		domain->whole = column->subject.whole;
		domain->lower = facts->lower;
		domain->upper = facts->upper;
		domain->step = step;
		set_cells_of_number(domain, column->subject.type != DATEOID, reason);
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
 * What the owner says goes before the schema.  She may have said it of another type, which the column had then.
 */
static void
add_described(Column *column, FunctionCallInfo fcinfo, Reason *reason)
{
	Facts	   *facts = &column->facts;

	if (!PG_ARGISNULL(2) && strcmp(text_to_cstring(PG_GETARG_TEXT_PP(2)), format_type_be(column->subject.type)) != 0)
	{
		reason->why = psprintf("it was described as %s, and is %s now", text_to_cstring(PG_GETARG_TEXT_PP(2)),
							   format_type_be(column->subject.type));
		reason->arguments = "...";
	}
	else if (!PG_ARGISNULL(3) && ((facts->has_lower && PG_GETARG_FLOAT8(4) < facts->lower) ||
								  (facts->has_upper && PG_GETARG_FLOAT8(3) > facts->upper)))
	{
		reason->why = "its CHECK constraints allow no value between these bounds";
		reason->arguments = "lower => ..., upper => ...";
	}
	else if (!PG_ARGISNULL(3))
	{
		facts->has_categories = false;
		set_bound(&column->subject, facts, false, PG_GETARG_FLOAT8(3));
		set_bound(&column->subject, facts, true, PG_GETARG_FLOAT8(4));
		column->source = "described";
	}
	else if (!PG_ARGISNULL(6))
	{
		Datum	   *values;
		int			n;

		deconstruct_array(PG_GETARG_ARRAYTYPE_P(6), TEXTOID, -1, false, TYPALIGN_INT, &values, NULL, &n);
		facts->has_categories = true;
		facts->categories = NIL;
		for (int i = 0; i < n; i++)
			facts->categories = lappend(facts->categories, TextDatumGetCString(values[i]));
		column->source = "described";
	}
}

static void
add_number(RaceResultRow *row, const Column *column, const RaceDomain *domain, double number)
{
	if (domain->category)
		race_row_add_null(row);
	else
		race_row_add_text(row, race_typed_text(column->subject.type, number));
}

PG_FUNCTION_INFO_V1(race_domain);

/*
 * race_domain(relation, column, type, lower, upper, step, categories): the domain of a column by its
 * schema and what its owner says, in a row; with a reason if it has none
 */
Datum
race_domain(PG_FUNCTION_ARGS)
{
	Column		column;
	RaceDomain	domain = {0};
	Reason		reason = {0};
	RaceResultRow row;
	StringInfoData json;
	Oid			type;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	read_schema(&column, PG_GETARG_OID(0), PG_GETARG_INT16(1));
	type = column.subject.type;
	add_described(&column, fcinfo, &reason);
	if (reason.why == NULL)
		plan_domain(&column, !PG_ARGISNULL(6), PG_ARGISNULL(5) ? 0 : PG_GETARG_FLOAT8(5), &domain, &reason);
	domain.unenforced = !domain.category && !column.enforced && PG_ARGISNULL(3);
	race_row_start(&row, fcinfo);
	race_row_add_text(&row, format_type_be(type));
	initStringInfo(&json);
	if (reason.why == NULL || domain.chosen)
		race_domain_write(&json, &domain);
	if (reason.why != NULL)
	{
		/* a release may choose its categories */
		race_row_add_if(&row, domain.chosen, domain.chosen ? DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data)) : (Datum) 0);
		/* bound: the columns of the result */
		while (row.n < 9)
			race_row_add_null(&row);
		race_row_add_text(&row, reason.why);
		if (reason.arguments != NULL)
			race_row_add_text(&row, reason.arguments);
		else
			race_row_add_null(&row);
		PG_RETURN_DATUM(race_row_datum(&row));
	}
	race_row_add(&row, DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data)));
	race_row_add_text(&row, domain.category ? "category" : "number");
	add_number(&row, &column, &domain, domain.lower);
	add_number(&row, &column, &domain, domain.upper);
	if (domain.category)
		race_row_add_null(&row);
	else
		race_row_add_text(&row, race_typed_text(type == DATEOID ? INT4OID :
												type == TIMESTAMPOID || type == TIMESTAMPTZOID ? INTERVALOID : type,
												domain.width));
	if (domain.category)
	{
		Datum	   *values = palloc(domain.n * sizeof(Datum));

		for (uint32 i = 0; i < domain.n; i++)
			values[i] = CStringGetTextDatum(domain.categories[i]);
		race_row_add(&row, PointerGetDatum(construct_array(values, domain.n, TEXTOID, -1, false, TYPALIGN_INT)));
	}
	else
		race_row_add_null(&row);
	race_row_add(&row, Int32GetDatum(RaceDomainCells(&domain)));
	race_row_add_text(&row, column.source);
	race_row_add_null(&row);
	race_row_add_null(&row);
	PG_RETURN_DATUM(race_row_datum(&row));
}

/*
 * race_describe: what the owner says of a column.
 */

PG_FUNCTION_INFO_V1(race_describe);
PG_FUNCTION_INFO_V1(race_columns_seen);

/* The arguments of race_describe() */
enum
{
	DESCRIBED_DATASET, DESCRIBED_COLUMN, DESCRIBED_LOWER, DESCRIBED_UPPER, DESCRIBED_CATEGORIES, DESCRIBED_UNIT,
	DESCRIBED_STEP, DESCRIBED_DESCRIPTION, DESCRIBED_TABLE, DESCRIBED_BOUNDS, DESCRIBED_EPSILON
};

/* Return an argument of any type as text, whatever the settings are. */
static char *
argument_text(FunctionCallInfo fcinfo, int i)
{
	Oid			type = race_argument_type(fcinfo->flinfo, i);
	Oid			output;
	bool		variable;
	char	   *text;
	int			level;

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
#define NOT_COUNTED		"Values of this type cannot be counted. Leave the column out, or protect a view in which it is a number, a date, an interval or a text."

static void
refuse_bounds(Oid type)
{
	race_refuse_arguments(psprintf("a column of type %s has no bounds", format_type_be(type)),
						  race_type_is_category(type) ? "Give its categories." : NOT_COUNTED);
}

/* Return a bound of a column of a type. */
static RaceParameter
bound_of(char *text, Oid type)
{
	RaceParameter bound = {FLOAT8OID, (Datum) 0, text == NULL};
	Oid			input;
	Oid			parameter;
	double		x;

	if (bound.isnull)
		return bound;
	if (!race_type_is_number(type))
		refuse_bounds(type);
	getTypeInputInfo(type, &input, &parameter);
	x = race_number_of(type, OidInputFunctionCall(input, text, parameter, -1));
	if (!isfinite(x))
		race_refuse_arguments("lower and upper must be finite", "Values beyond them are counted in the outermost cells.");
	bound.value = Float8GetDatum(x);
	return bound;
}

/* Return the width of cells of a column of a type: a number, or of times an interval. */
static RaceParameter
step_argument(FunctionCallInfo fcinfo, Oid type)
{
	RaceParameter step = {FLOAT8OID, (Datum) 0, PG_ARGISNULL(DESCRIBED_STEP)};
	bool		dated = type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID || type == INTERVALOID;
	char	   *text;
	char	   *end;
	double		x;

	if (step.isnull)
		return step;
	text = argument_text(fcinfo, DESCRIBED_STEP);
	x = strtod(text, &end);
	if (end == text || *end != '\0')
	{
		Interval   *interval;

		if (!dated)
			race_refuse_arguments("step must be a number", "It is the width of the cells that values are counted in.");
		interval = DatumGetIntervalP(DirectFunctionCall3(interval_in, CStringGetDatum(text),
														 ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1)));
		if (interval->month != 0)
			race_refuse_arguments("step must not have months, which are not equally long",
								  "Give days or parts of a day: '30 days'.");
		x = race_number_of(INTERVALOID, IntervalPGetDatum(interval)) / (type == DATEOID ? SECS_PER_DAY : 1);
	}
	if (!(x > 0) || !isfinite(x))
		race_refuse_arguments("step must be positive and finite", "It is the width of the cells that values are counted in.");
	step.value = Float8GetDatum(x);
	return step;
}

/* Return a category as values of a type are written. */
static Datum
category_as_written(Oid type, Datum category)
{
	Oid			input;
	Oid			output;
	Oid			parameter;
	bool		variable;

	if (type == TEXTOID || type == VARCHAROID)
		return category;
	if (type == BPCHAROID)
		return DirectFunctionCall1(rtrim1, category);
	getTypeInputInfo(type, &input, &parameter);
	getTypeOutputInfo(type, &output, &variable);
	return CStringGetTextDatum(OidOutputFunctionCall(output, OidInputFunctionCall(input, TextDatumGetCString(category),
																				  parameter, -1)));
}

static RaceParameter
categories_of(RaceParameter categories, Oid type)
{
	Datum	   *values;
	bool	   *nulls;
	int			n;

	if (categories.isnull)
		return categories;
	if (!race_type_is_category(type) || type == BOOLOID)
		race_refuse_arguments(psprintf("a column of type %s has no categories that could be described", format_type_be(type)),
							  race_type_is_number(type) ? "Give its bounds." : type == BOOLOID ? "A boolean needs no description." : NOT_COUNTED);
	deconstruct_array(DatumGetArrayTypeP(categories.value), TEXTOID, -1, false, TYPALIGN_INT, &values, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("a category must not be NULL"),
					 errhint("NULL has a cell of its own unless the schema excludes it.")));
		values[i] = category_as_written(type, values[i]);
	}
	categories.value = PointerGetDatum(construct_array(values, n, TEXTOID, -1, false, TYPALIGN_INT));
	return categories;
}

/*
 * Read the categories of a foreign key from the table that it refers to, which must have been declared
 * public, with the rights of the owner of the relation: casts and policies may call functions, which must not run
 * with those of a superuser who describes it for her.
 */
static void
read_public_table(const RaceLedger *ledger, const RaceDataset *dataset, AttrNumber column, Oid table,
				  RaceParameter *categories)
{
	RaceParameter parameters[] = {
		{OIDOID, ObjectIdGetDatum(dataset->relation), false},
		{INT2OID, Int16GetDatum(column), false},
		{OIDOID, ObjectIdGetDatum(table), false}
	};
	char	   *key;
	RaceAuthority before;
	bool		isnull;

	if (!list_member_oid(dataset->public_tables, table))
		race_refuse_arguments("the table is not declared public", "race_protect has public_tables => '{...}'.");
	LockRelationOid(table, AccessShareLock);
	race_ledger_run(ledger, "SELECT quote_ident(a.attname) FROM pg_constraint c"
					" JOIN pg_attribute a ON a.attrelid = c.confrelid AND a.attnum = c.confkey[1]"
					" WHERE c.contype = 'f' AND c.conrelid = $1 AND c.conkey = ARRAY[$2] AND c.confrelid = $3 LIMIT 1",
					lengthof(parameters), parameters);
	if (SPI_processed == 0)
		race_refuse_arguments("the column has no foreign key to this table", "Give its categories.");
	key = race_ledger_text(1);
	race_authority_begin(&before, race_authority_of(GetUserId(), race_owner_of(dataset->relation)));
	race_set_path(RACE_SAFE_PATH);
	race_set_plain();
	if (SPI_execute(psprintf("SELECT array_agg(k ORDER BY k COLLATE \"C\")"
							 " FROM (SELECT DISTINCT %s::text FROM %s) v (k) WHERE k IS NOT NULL", key,
							 quote_qualified_identifier(get_namespace_name(get_rel_namespace(table)), get_rel_name(table))),
					true, 0) != SPI_OK_SELECT)
		elog(ERROR, "the public table could not be read");
	race_authority_end(&before);
	categories->value = race_ledger_value(1, &isnull);
	if (isnull)
		race_refuse_arguments("the public table has no rows", "Fill it first, or give the categories.");
	categories->isnull = false;
}

/* An argument that is a text, as a parameter that outlives transactions */
static RaceParameter
text_argument(FunctionCallInfo fcinfo, int i)
{
	return (RaceParameter) {TEXTOID, PG_ARGISNULL(i) ? (Datum) 0 : PointerGetDatum(PG_GETARG_TEXT_P_COPY(i)), PG_ARGISNULL(i)};
}

/* Raise what is wrong with bounds that noisy counts are to tell. */
static void
check_private(FunctionCallInfo fcinfo)
{
	if (strcmp(text_to_cstring(PG_GETARG_TEXT_PP(DESCRIBED_BOUNDS)), "private") != 0 || PG_ARGISNULL(DESCRIBED_EPSILON))
		race_refuse_arguments("bounds can be \"private\", with an epsilon",
							  "Write bounds => 'private', epsilon => 0.05 for bounds by noisy counts, or lower and upper.");
	if (!PG_ARGISNULL(DESCRIBED_LOWER) || !PG_ARGISNULL(DESCRIBED_STEP) || !PG_ARGISNULL(DESCRIBED_CATEGORIES) ||
		!PG_ARGISNULL(DESCRIBED_TABLE))
		race_refuse_arguments("bounds by noisy counts go without others, a step and categories",
							  "Once the bounds are told, CALL race_describe again with these, or with rounder ones, and a step.");
}

/* Check the arguments of race_describe(), and set what it says of a column. */
static void
prepare_description(FunctionCallInfo fcinfo, const RaceLedger *ledger, RaceDescribed *described)
{
	bool		is_private = !PG_ARGISNULL(DESCRIBED_BOUNDS);
	RaceDataset *dataset;
	AttrNumber	number;
	RaceParameter categories;
	RaceParameter *parameter;
	Column		column;

	if (PG_ARGISNULL(DESCRIBED_DATASET) || PG_ARGISNULL(DESCRIBED_COLUMN))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("dataset and column_name must not be NULL")));
	dataset = race_ledger_dataset(ledger, text_to_cstring(PG_GETARG_TEXT_PP(DESCRIBED_DATASET)));
	race_act_check_owner(ledger, dataset->relation);
	number = race_column_number(dataset->relation, NameStr(*PG_GETARG_NAME(DESCRIBED_COLUMN)));
	read_schema(&column, dataset->relation, number);
	described->column = column.name;
	described->type = column.subject.type;
	if (PG_ARGISNULL(DESCRIBED_LOWER) != PG_ARGISNULL(DESCRIBED_UPPER))
		race_refuse_arguments("lower and upper go together", "Give both.");
	if ((int) PG_ARGISNULL(DESCRIBED_LOWER) + PG_ARGISNULL(DESCRIBED_CATEGORIES) + PG_ARGISNULL(DESCRIBED_TABLE) < 2)
		race_refuse_arguments("bounds, categories and public_table exclude each other",
							  "A number has bounds; a text has categories, or a public table that lists them.");
	if (is_private && !race_type_is_number(described->type))
		refuse_bounds(described->type);
	if (!is_private && !PG_ARGISNULL(DESCRIBED_EPSILON))
		race_refuse_arguments("epsilon is for bounds by noisy counts", "Write bounds => 'private', too.");
	described->epsilon = is_private ? PG_GETARG_FLOAT8(DESCRIBED_EPSILON) : 0;
	described->whole = column.subject.whole;
	described->lower = column.facts.has_lower ? column.facts.lower : -INFINITY;
	described->upper = column.facts.has_upper ? column.facts.upper : INFINITY;
	categories = categories_of((RaceParameter) {TEXTARRAYOID, PG_GETARG_DATUM(DESCRIBED_CATEGORIES), PG_ARGISNULL(DESCRIBED_CATEGORIES)},
							   described->type);
	if (!PG_ARGISNULL(DESCRIBED_TABLE))
	{
		if (!race_type_is_category(described->type))
			race_refuse_arguments(psprintf("a column of type %s has no categories", format_type_be(described->type)),
								  race_type_is_number(described->type) ? "Give its bounds." : NOT_COUNTED);
		read_public_table(ledger, dataset, number, PG_GETARG_OID(DESCRIBED_TABLE), &categories);
		/* a key may be of another type than the column */
		categories = categories_of(categories, described->type);
	}
	described->statement = "SELECT _racepriv._race_describe($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
	described->parameters = parameter = palloc(FUNC_MAX_ARGS * sizeof(RaceParameter));
	*parameter++ = race_ledger_role(GetUserId());
	*parameter++ = text_argument(fcinfo, DESCRIBED_DATASET);
	*parameter++ = (RaceParameter) {NAMEOID, DirectFunctionCall1(namein, CStringGetDatum(column.name)), false};
	Assert(parameter - described->parameters == RACE_DESCRIBED_LOWER);
	*parameter++ = bound_of(PG_ARGISNULL(DESCRIBED_LOWER) ? NULL : argument_text(fcinfo, DESCRIBED_LOWER), described->type);
	*parameter++ = bound_of(PG_ARGISNULL(DESCRIBED_UPPER) ? NULL : argument_text(fcinfo, DESCRIBED_UPPER), described->type);
	*parameter++ = step_argument(fcinfo, described->type);
	*parameter++ = categories;
	*parameter++ = text_argument(fcinfo, DESCRIBED_UNIT);
	*parameter++ = text_argument(fcinfo, DESCRIBED_DESCRIPTION);
	*parameter++ = (RaceParameter) {REGCLASSOID, PG_GETARG_DATUM(DESCRIBED_TABLE), PG_ARGISNULL(DESCRIBED_TABLE)};
	*parameter++ = (RaceParameter) {FLOAT8OID, Float8GetDatum(described->epsilon), !is_private};
	described->n = parameter - described->parameters;
}

/* race_describe(dataset, column_name, lower, upper, categories, unit, step, description, public_table, bounds, epsilon) */
Datum
race_describe(PG_FUNCTION_ARGS)
{
	RaceLedger	ledger;
	RaceDescribed described = {0};

	race_check_duty(fcinfo, "owner");
	if (!PG_ARGISNULL(DESCRIBED_BOUNDS))
	{
		check_private(fcinfo);
		return race_describe_privately(fcinfo, prepare_description);
	}
	race_act_begin(&ledger, fcinfo, true);
	prepare_description(fcinfo, &ledger, &described);
	race_ledger_run(&ledger, described.statement, described.n, described.parameters);
	SPI_finish();
	PG_RETURN_VOID();
}

/* Describe a column by a list: two bounds of a number or date, or categories. */
static void
describe_by_list(const RaceLedger *ledger, char *name, Oid relation, char *column_name, Datum list)
{
	AttrNumber	column = race_column_number(relation, column_name);
	RaceParameter none = {TEXTOID, (Datum) 0, true};
	RaceParameter categories = {TEXTARRAYOID, list, false};
	char	   *bounds[2] = {NULL, NULL};
	Datum	   *values;
	bool	   *nulls;
	Oid			type;
	int			n;

	type = getBaseType(get_atttype(relation, column));
	deconstruct_array(DatumGetArrayTypeP(list), TEXTOID, -1, false, TYPALIGN_INT, &values, &nulls, &n);
	categories.isnull = race_type_is_number(type) && n == 2 && !nulls[0] && !nulls[1];
	for (int i = 0; i < 2 && categories.isnull; i++)
		bounds[i] = TextDatumGetCString(values[i]);
	{
		RaceParameter parameters[] = {
			race_ledger_role(GetUserId()), {TEXTOID, CStringGetTextDatum(name), false},
			{NAMEOID, DirectFunctionCall1(namein, CStringGetDatum(column_name)), false},
			bound_of(bounds[0], type), bound_of(bounds[1], type), {FLOAT8OID, (Datum) 0, true},
			categories_of(categories, type), none, none, {REGCLASSOID, (Datum) 0, true}, {FLOAT8OID, (Datum) 0, true}
		};

		race_ledger_run(ledger, "SELECT _racepriv._race_describe($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
						lengthof(parameters), parameters);
	}
}

void
race_describe_columns(const RaceLedger *ledger, char *name, Oid relation, Datum columns)
{
	RaceParameter parameter = {JSONBOID, columns, false};
	SPITupleTable *rows;
	uint64		n;
	bool		isnull;

	race_ledger_run(ledger, "SELECT c.key, ARRAY(SELECT jsonb_array_elements_text(c.value))"
					" FROM (SELECT CASE jsonb_typeof($1) WHEN 'object' THEN $1 END) j (j), jsonb_each(j) c"
					" WHERE NOT EXISTS (SELECT FROM jsonb_each(j) o WHERE jsonb_typeof(o.value) <> 'array') ORDER BY 1", 1, &parameter);
	rows = SPI_tuptable;
	n = SPI_processed;
	if (n == 0)
		race_refuse_arguments("columns must be an object of lists", "For example columns => '{\"age\": [0, 120], \"town\": [\"Paris\", \"Rome\"]}'.");
	for (uint64 i = 0; i < n; i++)
		describe_by_list(ledger, name, relation, SPI_getvalue(rows->vals[i], rows->tupdesc, 1),
						 SPI_getbinval(rows->vals[i], rows->tupdesc, 2, &isnull));
}

/* race_columns_seen(): what is known of the columns of all datasets that the caller may read, as rows */
Datum
race_columns_seen(PG_FUNCTION_ARGS)
{
	Tuplestorestate *rows = race_store_start(fcinfo);
	RaceLedger	ledger;
	RaceParameter actor;

	race_act_begin(&ledger, fcinfo, false);
	actor = race_ledger_role(GetUserId());
	race_ledger_run(&ledger,
					"SELECT d.dataset, c.column_name, c.type, c.kind, c.lower, c.upper, c.step, c.categories, c.nulls, c.others, c.cells, c.unit,"
					" c.description, c.source, concat_ws(': ', c.reason, c.hint)"
					" FROM _racepriv.race_datasets d CROSS JOIN LATERAL _racepriv._race_relation_of(d, false) r (relation)"
					" CROSS JOIN LATERAL _racepriv._race_columns_of_dataset(d.dataset, r.relation, NULL::text[]) WITH ORDINALITY c"
					" WHERE has_any_column_privilege($1, r.relation, 'SELECT')"
					" ORDER BY d.dataset COLLATE \"C\", c.ordinality", 1, &actor);
	for (uint64 i = 0; i < SPI_processed; i++)
		tuplestore_puttuple(rows, SPI_tuptable->vals[i]);
	SPI_finish();
	return (Datum) 0;
}
