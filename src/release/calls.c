/*
 * calls.c
 *		Which functions an expression or a query calls, seen or unseen.
 *
 * A release promises that each record depends on one row alone, and that what was
 * checked is what runs.  Both are statements about functions.  An analyzed
 * expression does not name all of them: the planner fills in the defaults of
 * arguments, and the executor checks domains.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "calls.h"

/* A function, and the transaction that wrote its present definition */
typedef struct RaceFunction
{
	Oid			id;
	TransactionId written_by;
} RaceFunction;

/* Functions that a release may call, each as often as it is called */
#define MAX_FUNCTIONS	100000

static bool collect(Node *node, void *context);

/* Who wrote the present definition?  InvalidTransactionId if there is none. */
static TransactionId
definition_of(Oid function)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	TransactionId written_by;

	if (!HeapTupleIsValid(tuple))
		return InvalidTransactionId;
	written_by = HeapTupleHeaderGetRawXmin(tuple->t_data);
	ReleaseSysCache(tuple);
	return written_by;
}

static bool
add_function(Oid id, void *context)
{
	RaceCalls  *calls = (RaceCalls *) context;
	RaceFunction *function;

	/* defaults of arguments that call functions with defaults double at each level */
	CHECK_FOR_INTERRUPTS();
	if (list_length(calls->functions) == MAX_FUNCTIONS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("an expression or a view calls more than %d functions", MAX_FUNCTIONS)));
	function = palloc(sizeof(RaceFunction));
	function->id = id;
	function->written_by = definition_of(id);
	calls->functions = lappend(calls->functions, function);
	if (isAnyTempNamespace(get_func_namespace(id)))
		calls->temporary = true;
	return false;				/* look on */
}

/* The type that a domain is over */
static Oid
base_of(Oid domain)
{
	HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(domain));
	Oid			base;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "a type was dropped");
	base = ((Form_pg_type) GETSTRUCT(tuple))->typbasetype;
	ReleaseSysCache(tuple);
	return base;
}

static void
add_type(RaceCalls *calls, Oid type)
{
	HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));

	if (!HeapTupleIsValid(tuple))
		return;
	if (isAnyTempNamespace(((Form_pg_type) GETSTRUCT(tuple))->typnamespace))
		calls->temporary = true;
	ReleaseSysCache(tuple);
}

/* The planner adds the defaults of arguments that a call leaves out. */
static void
add_defaults(RaceCalls *calls, FuncExpr *call)
{
	HeapTuple	function;
	List	   *arguments;

	if (get_func_nargs(call->funcid) == list_length(call->args))
		return;
	function = SearchSysCache1(PROCOID, ObjectIdGetDatum(call->funcid));
	if (!HeapTupleIsValid(function))
		elog(ERROR, "a function was dropped");
#if PG_VERSION_NUM >= 140000
	arguments = expand_function_arguments(call->args, false, call->funcresulttype, function);
#else
	arguments = expand_function_arguments(call->args, call->funcresulttype, function);
#endif
	ReleaseSysCache(function);
	/* with named arguments, defaults may come first */
	race_calls_add(calls, (Node *) arguments);
}

/* The planner writes NOT (a < b) with the negator of the operator. */
static void
add_negator(RaceCalls *calls, Oid operator)
{
	Oid			negator = get_negator(operator);
	Oid			function = OidIsValid(negator) ? get_opcode(negator) : InvalidOid;

	if (!OidIsValid(function))
		return;
	(void) add_function(function, calls);
	if (func_volatile(function) != PROVOLATILE_IMMUTABLE)
		calls->mutable = true;
}

/* What the CHECK constraints of one domain call */
static void
add_checks_of(RaceCalls *calls, Oid domain, Relation constraints)
{
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_constraint_contypid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(domain));
	scan = systable_beginscan(constraints, ConstraintTypidIndexId, true, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		bool		isnull;
		Datum		check = heap_getattr(tuple, Anum_pg_constraint_conbin,
										 RelationGetDescr(constraints), &isnull);

		if (!isnull)
			race_calls_add(calls, stringToNode(TextDatumGetCString(check)));
	}
	systable_endscan(scan);
}

/*
 * The executor checks domains.  The type cache would plan their checks, and so run
 * functions of whoever made the domain: the catalog has them as they were written.
 */
static void
add_checks(RaceCalls *calls, Oid type)
{
	Relation	constraints = table_open(ConstraintRelationId, AccessShareLock);

	for (; get_typtype(type) == TYPTYPE_DOMAIN; type = base_of(type))
		add_checks_of(calls, type, constraints);
	table_close(constraints, AccessShareLock);
}

static bool
collect(Node *node, void *context)
{
	RaceCalls  *calls = (RaceCalls *) context;

	check_stack_depth();
	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, collect, context, 0);
	(void) check_functions_in_node(node, add_function, context);
	switch (nodeTag(node))
	{
		case T_Var:
			if (((Var *) node)->varattno < 0)
				calls->system_column = true;
			break;
		case T_FuncExpr:
			add_defaults(calls, (FuncExpr *) node);
			add_type(calls, exprType(node));
			break;
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
			add_negator(calls, ((OpExpr *) node)->opno);
			break;
		case T_ScalarArrayOpExpr:
			add_negator(calls, ((ScalarArrayOpExpr *) node)->opno);
			break;
		case T_CoerceToDomain:
			add_checks(calls, exprType(node));
			add_type(calls, exprType(node));
			break;
		case T_XmlExpr:
#if PG_VERSION_NUM >= 160000
		case T_JsonConstructorExpr:
#endif
#if PG_VERSION_NUM >= 170000
		case T_JsonExpr:
#endif
			/* they convert values by functions and types that the node does not show */
			calls->mutable = true;
			break;
		case T_Const:
		case T_RelabelType:
		case T_CoerceViaIO:
		case T_ArrayCoerceExpr:
		case T_ConvertRowtypeExpr:
		case T_RowExpr:
			add_type(calls, exprType(node));
			break;
		default:
			break;
	}
	return expression_tree_walker(node, collect, context);
}

void
race_calls_add(RaceCalls *calls, Node *node)
{
	if (contain_mutable_functions(node))
		calls->mutable = true;
	(void) collect(node, calls);
}

bool
race_calls_same(const RaceCalls *a, const RaceCalls *b)
{
	ListCell   *x;
	ListCell   *y;

	if (list_length(a->functions) != list_length(b->functions))
		return false;
	forboth(x, a->functions, y, b->functions)
	{
		RaceFunction *f = (RaceFunction *) lfirst(x);
		RaceFunction *g = (RaceFunction *) lfirst(y);

		if (f->id != g->id || f->written_by != g->written_by)
			return false;
	}
	return true;
}

static bool
calls(const RaceCalls *calls, Oid function)
{
	ListCell   *cell;

	foreach(cell, calls->functions)
		if (((RaceFunction *) lfirst(cell))->id == function)
			return true;
	return false;
}

bool
race_calls_within(const RaceCalls *a, const RaceCalls *b)
{
	ListCell   *cell;

	foreach(cell, a->functions)
		if (!calls(b, ((RaceFunction *) lfirst(cell))->id))
			return false;
	return true;
}

bool
race_calls_current(const RaceCalls *calls)
{
	ListCell   *cell;

	foreach(cell, calls->functions)
	{
		RaceFunction *function = (RaceFunction *) lfirst(cell);

		if (definition_of(function->id) != function->written_by)
			return false;
	}
	return true;
}

static Oid
owner_of(Oid function)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		return InvalidOid;
	owner = ((Form_pg_proc) GETSTRUCT(tuple))->proowner;
	ReleaseSysCache(tuple);
	return owner;
}

Oid
race_calls_besides(const RaceCalls *calls_made, Oid extension, Oid owner,
				   const RaceCalls *others)
{
	ListCell   *cell;

	foreach(cell, calls_made->functions)
	{
		Oid			id = ((RaceFunction *) lfirst(cell))->id;

		if (get_func_namespace(id) != PG_CATALOG_NAMESPACE && !calls(others, id) &&
			(getExtensionOfObject(ProcedureRelationId, id) != extension || owner_of(id) != owner))
			return id;
	}
	return InvalidOid;
}
