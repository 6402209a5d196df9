/*
 * excluded.c
 *		Rows that a release leaves out, as far as types and constants tell
 */
#include "postgres.h"

#include <math.h>

#include "access/transam.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "sketch/authority.h"
#include "sketch/domain.h"
#include "sketch/record.h"
#include "release/column_facts.h"
#include "release/excluded.h"

/*
 * A release leaves out rows that give no record, and does not tell how many, as that depends on the
 * data.  Expressions tell which rows those may be.  If it would be all, there is an error before
 * the charge.
 */

/* Places in the target list of the rows */
enum
{
	UNIT,
	RECORD,
	LABEL
};

typedef struct Excluded
{
	const Query *rows;
	bool one_part; /* is the kernel no product? */
	List *where;   /* conditions, of String */
} Excluded;

static void pg_attribute_printf(2, 3) add_condition(Excluded *excluded, const char *format, ...)
{
	StringInfoData text;
	va_list arguments;

	initStringInfo(&text);
	va_start(arguments, format);
	(void) appendStringInfoVA(&text, format, arguments);
	va_end(arguments);
	excluded->where = list_append_unique(excluded->where, makeString(text.data));
}

/* Add that a value may be NULL, or one that is no number. */
static void
add_values(Excluded *excluded, const char *value, bool nulls, bool nans, const char *nan)
{
	if (nulls && nans)
		add_condition(excluded, strcmp(nan, "NaN") == 0 ? "%s is NULL or %s" : "%s is NULL, %s",
					  value, nan);
	else if (nulls || nans)
		add_condition(excluded, "%s is %s", value, nulls ? "NULL" : nan);
}

static void
refuse_excluded(const char *expected, const char *found)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("expected %s, found %s", expected, found),
			 errdetail("The release would leave out every row.")));
}

/* Return an expression of the target list, with constants computed. */
static Node *
expression_at(const Excluded *excluded, int place)
{
	return eval_const_expressions(
		NULL,
		copyObject((Node *) list_nth_node(TargetEntry, excluded->rows->targetList, place)->expr));
}

/* ----------------------------------------------------------------- values */

/* Return what a cast is of: it has the same number of elements. */
static Node *
strip_array_casts(Node *node)
{
	/* bound: the depth of the expression */
	for (;;)
	{
		if (IsA(node, RelabelType))
			node = (Node *) ((RelabelType *) node)->arg;
		else if (IsA(node, ArrayCoerceExpr))
			node = (Node *) ((ArrayCoerceExpr *) node)->arg;
		else if (IsA(node, CoerceToDomain))
			node = (Node *) ((CoerceToDomain *) node)->arg;
		else if (IsA(node, CollateExpr))
			node = (Node *) ((CollateExpr *) node)->arg;
		else
			return node;
	}
}

/* Do the same for any cast of PostgreSQL's own: it is NULL, or NaN, where its result is. */
static Node *
strip_casts(Node *node)
{
	node = strip_array_casts(node);
	/* bound: the depth of the expression */
	while (IsA(node, FuncExpr) && ((FuncExpr *) node)->funcformat != COERCE_EXPLICIT_CALL &&
		   ((FuncExpr *) node)->funcid < FirstGenbkiObjectId)
		node = strip_array_casts(linitial(((FuncExpr *) node)->args));
	return node;
}

static bool
may_be_null(const Excluded *excluded, Node *node)
{
	ListCell *cell;

	check_stack_depth();
	node = strip_casts(node);
	switch (nodeTag(node))
	{
		case T_Const:
			return ((Const *) node)->constisnull;
		case T_ArrayExpr:
		case T_RowExpr:
			return false;
		case T_Var:
			return !race_column_is_not_null(
				rt_fetch(((Var *) node)->varno, excluded->rows->rtable)->relid,
				((Var *) node)->varattno);
		case T_CoalesceExpr:
			foreach (cell, ((CoalesceExpr *) node)->args)
				if (!may_be_null(excluded, lfirst(cell)))
					return false;
			return true;
		default:
			return true;
	}
}

static bool
may_be_nan(Node *node)
{
	node = strip_casts(node);
	return !IsA(node, Const) && race_type_has_nan(getBaseType(exprType(node)));
}

/* ---------------------------------------------------------------- records */

static void
check_length(const RaceParams *part, uint32 n)
{
	if (race_record_kind(part) != RACE_RECORD_SET)
		(void) race_check_length(race_record_kind(part), n, part->dims, false);
}

static void
check_constant(RaceArrayReader *reader, const RaceParams *part, const Const *value)
{
	RaceElements elements;

	if (value->constisnull)
		refuse_excluded("a record", "a null");
	(void) race_array_open(reader, value->constvalue, &elements, part->nulls != 0, false);
	check_length(part, elements.n);
	if (race_record_kind(part) == RACE_RECORD_VECTOR)
		(void) race_vector_convert(reader, &elements, part, palloc(elements.n * sizeof(double)),
								   false);
}

/* Return whether all numbers are clipped to bounds, so that none is infinite. */
static bool
is_clipped(const RaceParams *part)
{
	const double *lower = race_array(part, RACE_ARRAY_LOWER);
	const double *upper = race_array(part, RACE_ARRAY_UPPER);

	for (uint32 i = 0; lower != NULL && upper != NULL && i < part->dims; i++)
		if (!isfinite(lower[i]) || !isfinite(upper[i]))
			return false;
	return lower != NULL && upper != NULL;
}

/* Add the conditions on which elements of a record do not count. */
static void
add_elements(Excluded *excluded, const RaceParams *part, bool nulls, bool nans)
{
	bool vector = race_record_kind(part) == RACE_RECORD_VECTOR;

	add_values(excluded, vector ? "a number" : "an element", nulls && part->nulls == 0,
			   nans && vector, is_clipped(part) ? "NaN" : "NaN or infinite");
}

/* Add the conditions on which elements of an ARRAY[...] do not count. */
static void
exclude_elements(Excluded *excluded, const RaceParams *part, const ArrayExpr *array)
{
	bool nulls = false;
	bool nans = false;
	ListCell *cell;

	if (array->multidims)
		refuse_excluded("an array of one dimension", "one of several");
	check_length(part, list_length(array->elements));
	foreach (cell, array->elements)
	{
		Node *element = lfirst(cell);

		if (IsA(element, Const) && ((Const *) element)->constisnull && part->nulls == 0)
			refuse_excluded("an array without nulls", "a null element");
		nulls |= may_be_null(excluded, element);
		nans |= may_be_nan(element);
	}
	add_elements(excluded, part, nulls, nans);
}

/*
 * Add the conditions for a value of which the type alone is known; that of a vector may say its
 * length.
 */
static void
exclude_type(Excluded *excluded, const RaceParams *part, const RaceArrayReader *reader, Node *value)
{
	bool array = reader->layout == RACE_LAYOUT_ARRAY;
	int32 typmod = exprTypmod(value);

	add_elements(excluded, part, array, array && race_type_has_nan(reader->element));
	(void) getBaseTypeAndTypmod(exprType(value), &typmod);
	if (!array && typmod > 0)
		check_length(part, typmod);
	else if (race_record_kind(part) != RACE_RECORD_SET)
		add_condition(excluded, "the length is not %u", part->dims);
}

static void
exclude_part(Excluded *excluded, const RaceParams *part, Node *value)
{
	RaceArrayReader reader;
	Node *array = strip_array_casts(value);

	race_array_prepare(&reader, race_record_kind(part), exprType(value), CurrentMemoryContext);
	if (IsA(value, Const))
	{
		check_constant(&reader, part, (Const *) value);
		return;
	}
	if (may_be_null(excluded, value))
		add_condition(excluded,
					  excluded->one_part ? "the record is NULL" : "a part of the record is NULL");
	if (IsA(array, ArrayExpr) && !reader.has_cast)
		exclude_elements(excluded, part, (ArrayExpr *) array);
	else
		exclude_type(excluded, part, &reader, value);
}

static void
exclude_records(Excluded *excluded, const RaceParams *params)
{
	Node *record = expression_at(excluded, RECORD);
	const RaceParams *part = params;
	ListCell *cell;

	excluded->one_part = race_params_parts(params) == 1;
	if (excluded->one_part)
		exclude_part(excluded, params, record);
	else if (IsA(record, RowExpr) && ((RowExpr *) record)->row_typeid == RECORDOID)
		foreach (cell, ((RowExpr *) record)->args)
		{
			exclude_part(excluded, part, lfirst(cell));
			part = race_params_next(part, params);
		}
	else
		add_condition(excluded, "the record is NULL, or a part of it is NULL or not as declared");
}

/* ----------------------------------------------------- labels and the rest */

static bool
is_declared(Datum labels, Datum label)
{
	Datum *declared;
	int n;

	deconstruct_array(DatumGetArrayTypeP(labels), TEXTOID, -1, false, TYPALIGN_INT, &declared, NULL,
					  &n);
	for (int i = 0; i < n; i++)
		if (DatumGetBool(DirectFunctionCall2Coll(texteq, C_COLLATION_OID, declared[i], label)))
			return true;
	return false;
}

static void
exclude_labels(Excluded *excluded, Datum labels)
{
	Node *label = strip_casts(expression_at(excluded, LABEL));

	if (IsA(label, Const) && exprType(label) == TEXTOID)
	{
		if (((Const *) label)->constisnull || !is_declared(labels, ((Const *) label)->constvalue))
			refuse_excluded("a declared label", "another constant");
		return;
	}
	if (exprType(label) == BOOLOID && !is_declared(labels, CStringGetTextDatum("true")) &&
		!is_declared(labels, CStringGetTextDatum("false")))
		refuse_excluded("labels true and false, as a boolean is written", "others");
	add_condition(excluded, "the label is not declared");
}

/* Return the unit of a row, of which a series has a hash of its text. */
static Node *
unit_of_row(const Excluded *excluded, const RaceReleasePlan *plan)
{
	Node *unit = expression_at(excluded, UNIT);

	if (plan->request.series == 0 || !IsA(unit, FuncExpr))
		return unit;
	unit = llast(((FuncExpr *) unit)->args);
	return IsA(unit, CoerceViaIO) ? (Node *) ((CoerceViaIO *) unit)->arg : unit;
}

/* Return the conditions, one a line. */
static char *
join_conditions(const List *conditions)
{
	StringInfoData text;
	ListCell *cell;

	if (conditions == NIL)
		return NULL;
	initStringInfo(&text);
	foreach (cell, conditions)
	{
		if (cell != list_head(conditions))
			appendStringInfoChar(&text, '\n');
		appendStringInfoString(&text, strVal(lfirst(cell)));
	}
	return text.data;
}

char *
race_excluded(const RaceReleasePlan *plan)
{
	Excluded excluded = {.rows = plan->rows};
	RaceAuthority before;

	/* to compute constants, functions are called */
	race_authority_begin(&before, plan->role);
	/* in a release by columns every row is a record, but for what the schema excludes */
	if (plan->domains == 0)
		exclude_records(&excluded, plan->params);
	if (RaceLabelsArePrivate(plan) && may_be_null(&excluded, expression_at(&excluded, LABEL)))
		add_condition(&excluded, "the label is NULL");
	else if (plan->request.label != NULL && !RaceLabelsArePrivate(plan))
		exclude_labels(&excluded, plan->labels);
	if (plan->dataset->unit_column != NULL && may_be_null(&excluded, unit_of_row(&excluded, plan)))
		add_condition(&excluded, "unit column \"%s\" is NULL", plan->dataset->unit_column);
	if (plan->request.where != NULL)
		add_condition(&excluded, "the condition %s is not true", plan->written.where);
	if (plan->request.series != 0)
		add_condition(&excluded, "column \"%s\" is NULL or not in the time of the series",
					  plan->interval.by);
	race_authority_end(&before);
	return join_conditions(excluded.where);
}
