/*
 * expression.c
 *		race_row_expression: an expression of the caller's, made safe to run.
 *
 * A release may look at each row by itself only: with x / (SELECT max(x) ...) one
 * person could change the records of all others.  So the text is parsed here,
 * alone, against the relation alone, and what is run later is not that text but
 * PostgreSQL's own rendering of what it was understood to mean, all names
 * qualified.  Nothing can be smuggled in, and no search_path changes its meaning.
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/sysattr.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_coerce.h"
#include "parser/parse_collate.h"
#include "parser/parse_expr.h"
#include "parser/parse_relation.h"
#include "parser/parser.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

#include "mutable.h"
#include "settings.h"

PG_FUNCTION_INFO_V1(race_row_expression);

static void
refuse(const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("an expression of a release must not contain %s", what),
			 errdetail("Each record must depend on one row of the relation alone: otherwise one person could change the records of others, and noise would not hide that.")));
}

/* A position within the expression would point into the statement around it. */
static void
add_context(void *arg)
{
	errposition(0);
	errcontext("expression of a release \"%s\"", (const char *) arg);
}

static bool
is_bare(const SelectStmt *select)
{
	return select->op == SETOP_NONE && list_length(select->targetList) == 1 &&
		select->distinctClause == NIL && select->intoClause == NULL &&
		select->fromClause == NIL && select->whereClause == NULL &&
		select->groupClause == NIL && select->havingClause == NULL &&
		select->windowClause == NIL && select->valuesLists == NIL &&
		select->sortClause == NIL && select->limitOffset == NULL &&
		select->limitCount == NULL && select->lockingClause == NIL &&
		select->withClause == NULL;
}

static bool
is_star(Node *node)
{
	return IsA(node, ColumnRef) &&
		IsA(llast(((ColumnRef *) node)->fields), A_Star);
}

/* The one expression that a text is, not yet looked up anywhere */
static Node *
parse_alone(const char *text)
{
	char	   *statement = psprintf("SELECT %s", text);
#if PG_VERSION_NUM >= 140000
	List	   *parsed = raw_parser(statement, RAW_PARSE_DEFAULT);
#else
	List	   *parsed = raw_parser(statement);
#endif
	Node	   *select;
	ResTarget  *target;

	if (list_length(parsed) == 1)
	{
		select = linitial_node(RawStmt, parsed)->stmt;
		if (IsA(select, SelectStmt) && is_bare((SelectStmt *) select))
		{
			target = linitial_node(ResTarget, ((SelectStmt *) select)->targetList);
			if (target->name == NULL && target->indirection == NIL &&
				!is_star(target->val))
				return target->val;
		}
	}
	ereport(ERROR,
			(errcode(ERRCODE_SYNTAX_ERROR),
			 errmsg("expected one expression over the columns of the relation")));
	return NULL;				/* not reached */
}

/* System columns say where a row lies, which depends on all others. */
static bool
has_system_column(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return ((Var *) node)->varattno < 0;
	return expression_tree_walker(node, has_system_column, context);
}

static void
check_row_local(ParseState *state, Node *expression)
{
	/* first, as what follows does not look into them */
	if (state->p_hasSubLinks)
		refuse("a subquery");
	if (state->p_hasAggs)
		refuse("an aggregate function");
	if (state->p_hasWindowFuncs)
		refuse("a window function");
	if (expression_returns_set(expression))
		refuse("a set-returning function");
	if (has_system_column(expression, NULL))
		refuse("a system column");
	if (race_calls_mutable(expression))
		refuse("a function that is not IMMUTABLE");
}

/* The expression over a relation, understood under the current search_path */
static Node *
understand(Relation relation, const char *text, bool as_text)
{
	ParseState *state = make_parsestate(NULL);
	ParseNamespaceItem *item = addRangeTableEntryForRelation(state, relation,
															 AccessShareLock, NULL,
															 true, true);
	Node	   *expression;
	Oid			type;

	addNSItemToQuery(state, item, false, true, true);
	expression = transformExpr(state, parse_alone(text), EXPR_KIND_OTHER);
	type = exprType(expression);
	/* a literal, as it would be in a subquery */
	if (type == UNKNOWNOID)
		expression = coerce_type(state, expression, type, TEXTOID, -1,
								 COERCION_IMPLICIT, COERCE_IMPLICIT_CAST, -1);
	if (as_text)
		expression = coerce_to_target_type(state, expression, exprType(expression),
										   TEXTOID, -1, COERCION_EXPLICIT,
										   COERCE_EXPLICIT_CAST, -1);
	if (expression == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_CANNOT_COERCE),
				 errmsg("a label must be of a type that can be cast to text")));
	assign_expr_collations(state, expression);
	check_row_local(state, expression);
	return expression;
}

/*
 * race_row_expression(relation, expression, path, as_text): the expression as
 * text to run, which means the same under every search_path but for what it
 * calls; it is understood under `path`.
 */
Datum
race_row_expression(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	char	   *source = text_to_cstring(PG_GETARG_TEXT_PP(1));
	char	   *path = text_to_cstring(PG_GETARG_TEXT_PP(2));
	bool		as_text = PG_GETARG_BOOL(3);
	ErrorContextCallback callback;
	Relation	relation;
	Node	   *expression;
	List	   *context;
	char	   *result;
	int			level = NewGUCNestLevel();

	callback.callback = add_context;
	callback.arg = source;
	callback.previous = error_context_stack;
	error_context_stack = &callback;

	relation = relation_open(relid, AccessShareLock);
	race_set_path(path);
	race_set("standard_conforming_strings", "on");
	expression = understand(relation, source, as_text);
	race_set_path("");
	race_set_plain();
	context = deparse_context_for(RelationGetRelationName(relation), relid);
	result = deparse_expression(expression, context, false, false);
	/* "people.*" by itself would be a list of columns */
	if (IsA(expression, Var) && ((Var *) expression)->varattno == InvalidAttrNumber)
		result = psprintf("ROW(%s)", result);
	relation_close(relation, NoLock);

	error_context_stack = callback.previous;
	AtEOXact_GUC(true, level);
	PG_RETURN_TEXT_P(cstring_to_text(result));
}
