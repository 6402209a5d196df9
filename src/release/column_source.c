/*
 * column_source.c
 *		How a column of a relation is computed from columns of tables
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

#include "release/column_source.h"
#include "release/lineage.h"
#include "release/settings.h"

/*
 * Expressions of views are put into each other, until there are columns of tables alone.  So what a
 * view selects besides, and how many views there are on the way, changes nothing.
 */

#define MAX_NODES 10000 /* most nodes of the expression: views double them at each level */

/* A column of a table, or of something else in FROM */
typedef struct Origin
{
	Oid relation;      /* table of the column, else invalid */
	AttrNumber number; /* 0: the whole row */
	char *other;       /* description of what is no column of a table */
} Origin;

typedef struct Trace
{
	List *origins; /* Origin: those of $1, $2, ... */
	RaceCalls calls;
	int nodes;
} Trace;

/* A query whose expressions are followed */
typedef struct Scope
{
	Trace *trace;
	Query *query;
	struct Scope *parent;
} Scope;

static Node *follow_columns(Node *node, void *context);

/* ------------------------------------------------------------------- follow */

/* Return the parameter that stands for a column of a table, or of something else. */
static Node *
parameter_of_origin(Trace *trace, const Var *column, Oid relation, char *other)
{
	Param *param = makeNode(Param);
	Origin *new_one = palloc(sizeof(Origin));
	ListCell *cell;

	param->paramkind = PARAM_EXTERN;
	param->paramtype = column->vartype;
	param->paramtypmod = column->vartypmod;
	param->paramcollid = column->varcollid;
	param->location = -1;
	foreach (cell, trace->origins)
	{
		const Origin *known = lfirst(cell);

		param->paramid++;
		if (OidIsValid(relation) && known->relation == relation &&
			known->number == column->varattno)
			return (Node *) param;
	}
	new_one->relation = relation;
	new_one->number = column->varattno;
	new_one->other = other;
	trace->origins = lappend(trace->origins, new_one);
	param->paramid++;
	return (Node *) param;
}

/* Return the expression of a column of a query. */
static Node *
follow_query(Trace *trace, Query *query, Scope *parent, AttrNumber number)
{
	Scope scope = {trace, query, parent};

	check_stack_depth();
	return follow_columns((Node *) get_tle_by_resno(query->targetList, number)->expr, &scope);
}

static Node *
follow_relation(Trace *trace, Oid relid, const Var *column)
{
	Relation relation = race_relation_open(relid);
	Node *result;

	result = relation->rd_rel->relkind == RELKIND_VIEW && column->varattno > 0 ?
		follow_query(trace, race_view_query(relation), NULL, column->varattno) :
		parameter_of_origin(trace, column, relid, NULL);
	relation_close(relation, NoLock);
	return result;
}

static Node *
follow_cte(Scope *scope, const RangeTblEntry *entry, const Var *column)
{
	ListCell *cell;

	for (Index up = entry->ctelevelsup; up > 0 && scope->parent != NULL; up--)
		scope = scope->parent;
	foreach (cell, scope->query->cteList)
	{
		CommonTableExpr *cte = lfirst_node(CommonTableExpr, cell);

		if (strcmp(cte->ctename, entry->ctename) == 0)
			return follow_query(scope->trace, castNode(Query, cte->ctequery), scope,
								column->varattno);
	}
	elog(ERROR, "WITH query \"%s\" was not found", entry->ctename);
	return NULL; /* not reached */
}

/*
 * Return a column of something in FROM that is no relation, as text: of functions with their
 * arguments.
 */
static Node *
follow_other(Scope *scope, const RangeTblEntry *entry, const Var *column)
{
	List *followed = (List *) follow_columns(
		(Node *) (entry->rtekind == RTE_FUNCTION ? entry->functions : entry->values_lists), scope);
	StringInfoData text;
	ListCell *cell;

	initStringInfo(&text);
	appendStringInfo(&text, "column %d of", column->varattno);
	foreach (cell, followed)
		appendStringInfo(&text, " %s",
						 deparse_expression(IsA(lfirst(cell), RangeTblFunction) ?
												((RangeTblFunction *) lfirst(cell))->funcexpr :
												lfirst(cell),
											NIL, false, false));
	race_calls_add(&scope->trace->calls, (Node *) followed);
	return parameter_of_origin(scope->trace, column, InvalidOid, text.data);
}

static Node *
follow_column(Scope *scope, const Var *column)
{
	const RangeTblEntry *entry;

	for (Index up = column->varlevelsup; up > 0 && scope->parent != NULL; up--)
		scope = scope->parent;
	entry = rt_fetch(column->varno, scope->query->rtable);
	if (entry->rtekind == RTE_RELATION)
		return follow_relation(scope->trace, entry->relid, column);
	if (column->varattno > 0)
		switch (entry->rtekind)
		{
			case RTE_SUBQUERY:
				return follow_query(scope->trace, entry->subquery, scope, column->varattno);
			case RTE_JOIN:
				return follow_columns(list_nth(entry->joinaliasvars, column->varattno - 1), scope);
			case RTE_CTE:
				return follow_cte(scope, entry, column);
			case RTE_FUNCTION:
			case RTE_VALUES:
				return follow_other(scope, entry, column);
			default:
				break;
		}
	return parameter_of_origin(scope->trace, column, InvalidOid, pstrdup(entry->eref->aliasname));
}

/* Replace columns by what they are. */
static Node *
follow_columns(Node *node, void *context)
{
	Scope *scope = context;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (++scope->trace->nodes > MAX_NODES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a column is computed by more than %d operations", MAX_NODES)));
	if (node != NULL && IsA(node, Var))
		return follow_column(scope, (Var *) node);
	return expression_tree_mutator(node, follow_columns, context);
}

/* ----------------------------------------------------------------- as text */

static void
add_text(StringInfo json, const char *key, const char *text)
{
	if (text == NULL)
		return;
	appendStringInfo(json, "%s\"%s\": ", json->data[json->len - 1] == '{' ? "" : ", ", key);
	escape_json(json, text);
}

/*
 * Write a type without SQL domains, and a collation.  How long a varchar may be does not change its
 * values.
 */
static void
add_type(StringInfo json, Oid type, int32 typmod, Oid collation)
{
	type = getBaseTypeAndTypmod(type, &typmod);
	add_text(json, "type", format_type_with_typemod(type, type == VARCHAROID ? -1 : typmod));
	if (OidIsValid(collation))
		add_text(
			json, "collation",
			DatumGetCString(DirectFunctionCall1(regcollationout, ObjectIdGetDatum(collation))));
}

/* Return the expression of a generated column; NULL for others. */
static char *
generated_expression(Relation relation, AttrNumber number, RaceCalls *calls)
{
	const TupleConstr *constraints = RelationGetDescr(relation)->constr;

	for (int i = 0; constraints != NULL && i < constraints->num_defval &&
		 TupleDescAttr(RelationGetDescr(relation), number - 1)->attgenerated != '\0';
		 i++)
		if (constraints->defval[i].adnum == number)
		{
			Node *expression = stringToNode(constraints->defval[i].adbin);

			race_calls_add(calls, expression);
			return deparse_expression(
				expression,
				deparse_context_for(RelationGetRelationName(relation), RelationGetRelid(relation)),
				false, false);
		}
	return NULL;
}

/* Write a column of a table; of the whole row, all columns. */
static void
add_columns(StringInfo json, Relation relation, AttrNumber number, RaceCalls *calls)
{
	for (int i = 1; i <= RelationGetNumberOfAttributes(relation); i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(relation), i - 1);

		if (attribute->attisdropped || (number != i && number != InvalidAttrNumber))
			continue;
		appendStringInfo(json, "%s{\"relation\": %u, \"number\": %d",
						 json->data[json->len - 1] == '[' ? "" : ", ", RelationGetRelid(relation),
						 i);
		add_text(json, "table",
				 quote_qualified_identifier(get_namespace_name(RelationGetNamespace(relation)),
											RelationGetRelationName(relation)));
		add_text(json, "column", NameStr(attribute->attname));
		add_type(json, attribute->atttypid, attribute->atttypmod, attribute->attcollation);
		add_text(json, "generated", generated_expression(relation, i, calls));
		appendStringInfoChar(json, '}');
	}
}

/* Write the columns of tables, and what else there is. */
static void
add_origins(StringInfo json, Trace *trace)
{
	ListCell *cell;

	foreach (cell, trace->origins)
	{
		const Origin *one = lfirst(cell);
		Relation relation;

		if (!OidIsValid(one->relation))
		{
			appendStringInfoString(json, json->data[json->len - 1] == '[' ? "{" : ", {");
			add_text(json, "other", one->other);
			appendStringInfoChar(json, '}');
			continue;
		}
		relation = relation_open(one->relation, NoLock);
		add_columns(json, relation, one->number, &trace->calls);
		relation_close(relation, NoLock);
	}
}

/* Write the OIDs of functions outside of pg_catalog. */
static void
add_calls(StringInfo json, const RaceCalls *calls)
{
	List *functions = race_calls_list(calls);
	ListCell *cell;

	list_sort(functions, list_oid_cmp);
	foreach (cell, functions)
		if (get_func_namespace(lfirst_oid(cell)) != PG_CATALOG_NAMESPACE)
			appendStringInfo(json, "%s%u", json->data[json->len - 1] == '[' ? "" : ", ",
							 lfirst_oid(cell));
}

char *
race_column_source(Oid relation, AttrNumber number)
{
	Trace trace = {0};
	Var column = {.xpr.type = T_Var, .varattno = number};
	Node *expression;
	StringInfoData json;
	int level = NewGUCNestLevel();

	race_set_path(RACE_SAFE_PATH);
	race_set_plain();
	get_atttypetypmodcoll(relation, number, &column.vartype, &column.vartypmod, &column.varcollid);
	expression = follow_relation(&trace, relation, &column);
	race_calls_add(&trace.calls, expression);
	initStringInfo(&json);
	appendStringInfoChar(&json, '{');
	add_type(&json, exprType(expression), exprTypmod(expression), exprCollation(expression));
	add_text(&json, "expression", deparse_expression(expression, NIL, false, false));
	appendStringInfoString(&json, ", \"of\": [");
	add_origins(&json, &trace);
	appendStringInfoString(&json, "], \"calls\": [");
	add_calls(&json, &trace.calls);
	appendStringInfoString(&json, "]}");
	AtEOXact_GUC(true, level);
	return json.data;
}
