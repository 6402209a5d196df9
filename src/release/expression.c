/*
 * expression.c
 *		An expression of the caller's, checked to depend on one row alone
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_coerce.h"
#include "parser/parse_expr.h"
#include "parser/parse_func.h"
#include "parser/parser.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

#include "release/expression.h"
#include "release/names.h"
#include "release/settings.h"
#include "sketch/text.h"

/*
 * A release may look at each row by itself only: with x / (SELECT max(x) ...) one
 * person could change the records of all others.  So the text is parsed here, alone,
 * and analyzed against the relation alone.  The result is a part of the query that
 * will run: no text of it is analyzed a second time under other names.
 */

/* Bytes of an expression: far more than anybody writes */
#define MAX_EXPRESSION ((Size) 256 * 1024)

static void
refuse_expression(const char *what, const char *instead)
{
	ereport(
		ERROR,
		(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
		 errmsg("an expression of a release must not contain %s", what),
		 errdetail(
			 "Each record must depend on one row of the relation: otherwise a person could change the records of others."),
		 errhint("%s", instead)));
}

/*
 * Add a context to an error, without a position: one within the expression would point into the
 * statement around it.
 */
static void
add_context(void *arg)
{
	errposition(0);
	errcontext("expression of a release \"%s\"", race_cut((const char *) arg));
}

static bool
is_bare(const SelectStmt *select)
{
	return select->op == SETOP_NONE && list_length(select->targetList) == 1 &&
		select->distinctClause == NIL && select->intoClause == NULL && select->fromClause == NIL &&
		select->whereClause == NULL && select->groupClause == NIL && select->havingClause == NULL &&
		select->windowClause == NIL && select->valuesLists == NIL && select->sortClause == NIL &&
		select->limitOffset == NULL && select->limitCount == NULL && select->lockingClause == NIL &&
		select->withClause == NULL;
}

List *
race_parse(const char *text)
{
#if PG_VERSION_NUM >= 140000
	return raw_parser(text, RAW_PARSE_DEFAULT);
#else
	return raw_parser(text);
#endif
}

/* Return the one expression that a text is, not yet looked up anywhere. */
static Node *
parse_alone(const char *text)
{
	List *parsed = race_parse(psprintf("SELECT %s", text));
	Node *select;
	ResTarget *target;

	if (list_length(parsed) == 1)
	{
		select = linitial_node(RawStmt, parsed)->stmt;
		if (IsA(select, SelectStmt) && is_bare((SelectStmt *) select))
		{
			target = linitial_node(ResTarget, ((SelectStmt *) select)->targetList);
			if (target->name == NULL && target->indirection == NIL &&
				!(IsA(target->val, ColumnRef) &&
				  IsA(llast(((ColumnRef *) target->val)->fields), A_Star)))
				return target->val;
		}
	}
	ereport(ERROR,
			(errcode(ERRCODE_SYNTAX_ERROR),
			 errmsg("expected one expression over the columns of the relation")));
	return NULL; /* not reached */
}

static void
check_row_local(const ParseState *pstate, Node *expression, const RaceCalls *calls)
{
	const char *over_columns =
		"Write an expression over the columns of one row, as in ARRAY[age, weight].";

	if (pstate->p_hasSubLinks)
		refuse_expression("a subquery", over_columns);
	if (pstate->p_hasAggs)
		refuse_expression("an aggregate function", over_columns);
	if (pstate->p_hasWindowFuncs)
		refuse_expression("a window function", over_columns);
	if (expression_returns_set(expression))
		refuse_expression("a set-returning function", over_columns);
	/* where a row lies depends on all others */
	if (calls->system_column)
		refuse_expression("a system column", over_columns);
	if (calls->mutable.name != NULL)
		refuse_expression(psprintf("%s, which is not IMMUTABLE", calls->mutable.name),
						  calls->mutable.instead);
	if (calls->temporary)
		refuse_expression("a temporary function or type", over_columns);
}

/* Cast a label to text. */
static Node *
cast_label(ParseState *pstate, Node *label)
{
	Node *result = coerce_to_target_type(pstate, label, exprType(label), TEXTOID, -1,
										 COERCION_EXPLICIT, COERCE_EXPLICIT_CAST, -1);

	if (result == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_CANNOT_COERCE),
				 errmsg("a label must be of a type that can be cast to text")));
	return result;
}

/* Return a condition; raise 42804 if an expression is none. */
static Node *
check_condition(ParseState *pstate, Node *expression)
{
	if (getBaseType(exprType(expression)) != BOOLOID)
		ereport(
			ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("where must be a condition, found %s", format_type_be(exprType(expression))),
			 errhint("Write what is true of the rows to count, as in age >= 18.")));
	return coerce_to_boolean(pstate, expression, "WHERE");
}

/* Analyze the raw expression under the current search_path. */
static Node *
analyze_expression(ParseState *pstate, Node *raw, RaceExpressionUse use)
{
	Node *expression = transformExpr(pstate, raw, EXPR_KIND_OTHER);
	Oid type = exprType(expression);

	/* a literal, as it would be in a subquery */
	if (type == UNKNOWNOID)
		expression = coerce_type(pstate, expression, type, TEXTOID, -1, COERCION_IMPLICIT,
								 COERCE_IMPLICIT_CAST, -1);
	if (use == RACE_AS_CONDITION)
		return check_condition(pstate, expression);
	return use == RACE_AS_RECORD ? expression : cast_label(pstate, expression);
}

/* Return the expression as text, the same in all sessions. */
static char *
write_expression(Node *expression, Oid relation)
{
	List *context = deparse_context_for(get_rel_name(relation), relation);

	race_set_path(RACE_SAFE_PATH);
	race_set_plain();
	return deparse_expression(expression, context, false, false);
}

Node *
race_analyze_expression(ParseState *pstate, Oid relation, const char *text, const char *path,
						RaceExpressionUse use, char **written, RaceCalls *calls)
{
	ErrorContextCallback callback = {error_context_stack, add_context, (void *) text};
	RaceCalls own = {NIL};
	Node *expression;
	int level = NewGUCNestLevel();

	/* the parser does not look at interrupts */
	race_check_text(text, MAX_EXPRESSION, "an expression", NULL);
	error_context_stack = &callback;
	race_set_path(path);
	race_set("standard_conforming_strings", "on");
	/* the scanner quotes long identifiers in full */
	if (client_min_messages < WARNING)
		race_set("client_min_messages", "warning");
	expression = analyze_expression(pstate, parse_alone(text), use);
	/* "people" by itself, a whole row, is written "people.*", which is no expression */
	if (IsA(expression, Var) && ((Var *) expression)->varattno == InvalidAttrNumber)
		expression = analyze_expression(
			pstate, parse_alone(psprintf("ROW(%s)", write_expression(expression, relation))), use);
	race_calls_add(&own, expression);
	check_row_local(pstate, expression, &own);
	*written = write_expression(expression, relation);
	error_context_stack = callback.previous;
	AtEOXact_GUC(true, level);
	calls->functions = list_concat(calls->functions, own.functions);
	return expression;
}
