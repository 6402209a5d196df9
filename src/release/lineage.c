/*
 * lineage.c
 *		Which private tables a query reads: functions, views, foreign tables and shards
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "catalog/catalog.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "release/names.h"
#include "release/lineage.h"

/*
 * Which tables a relation is made of, and whether each of its rows belongs to
 * one unit.
 *
 * A view is followed to its base tables, through views and subqueries.  Each
 * table in a FROM clause is an occurrence.  Where there is more than one thing in
 * FROM, one row of a table can make many rows, so there must be a unit whose
 * rows are bounded.  Every private table must say that unit: one column of it, the same
 * wherever the table occurs, is equal to the unit column, by equalities that hold for every
 * row of the view.  Then all that a row is made of belongs to one unit.
 *
 * Columns are numbered; those that are equal form a class (union-find).
 */

#define NO_COLUMN (-1)

/* Tables, and queries, that a relation may read, each as often as it is read */
#define MAX_OCCURRENCES 1000

/* A base relation, function or list of values in some FROM clause */
typedef struct Occurrence
{
	Oid table; /* table, or invalid if it is none */
	bool private;
	int first_column;
	int columns;
} Occurrence;

typedef struct Lineage
{
	Oid relid;           /* relation that is being looked at */
	List *public_tables; /* OIDs of public tables */
	RaceLineage *result;
	List *occurrences; /* Occurrence: the uses of tables */
	int queries;       /* queries that were looked at */
	int columns;
	int capacity;
	int *same_as; /* [columns]: a column nearer to the root of its class */
} Lineage;

/* What something in FROM gives: the columns, as numbers */
typedef struct Source
{
	int n;
	int *columns; /* columns; NO_COLUMN for an expression */
} Source;

/* A query that is being looked at, with what was found in its FROM */
typedef struct Level
{
	Query *query;
	struct Level *parent;
	Source **sources; /* sources by position in the range table, from 1 */
} Level;

static void check_view_query(Oid relid, Query *query, RaceCalls *calls);
static Source *source_of_query(Lineage *lineage, Query *query, Level *parent, bool nullable);

/* ----------------------------------------------------- classes of columns */

static int
new_columns(Lineage *lineage, int n)
{
	int first = lineage->columns;

	/* bound: twice the capacity each time */
	while (lineage->columns + n > lineage->capacity)
	{
		lineage->capacity *= 2;
		lineage->same_as = repalloc(lineage->same_as, lineage->capacity * sizeof(int));
	}
	for (; n > 0; n--)
	{
		lineage->same_as[lineage->columns] = lineage->columns;
		lineage->columns++;
	}
	return first;
}

static int
class_of(const Lineage *lineage, int column)
{
	/* bound: the columns: a class is joined to another one that has no way back */
	while (lineage->same_as[column] != column)
		column = lineage->same_as[column];
	return column;
}

/* ------------------------------------------------------------ occurrences */

static Source *
new_source(int n)
{
	Source *source = palloc(sizeof(Source));

	source->n = n;
	source->columns = palloc(Max(n, 1) * sizeof(int));
	return source;
}

/*
 * Raise 54000 for a definition that reads too many tables or queries.  Views and WITH queries that
 * join themselves double at each level.
 */
static void
check_size(const Lineage *lineage, int n)
{
	if (n > MAX_OCCURRENCES)
		ereport(
			ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("relation \"%s\" cannot be protected", get_rel_name(lineage->relid)),
			 errdetail("Its definition reads more than %d tables or queries.", MAX_OCCURRENCES)));
}

static Source *
add_occurrence(Lineage *lineage, Oid table, bool private, int columns)
{
	Occurrence *occurrence = palloc(sizeof(Occurrence));
	Source *source = new_source(columns);

	check_size(lineage, list_length(lineage->occurrences) + 1);

	occurrence->table = table;
	occurrence->private = private;
	occurrence->columns = columns;
	occurrence->first_column = new_columns(lineage, columns);
	lineage->occurrences = lappend(lineage->occurrences, occurrence);
	for (int i = 0; i < columns; i++)
		source->columns[i] = occurrence->first_column + i;
	return source;
}

static Source *
source_of_table(Lineage *lineage, Relation table, bool nullable)
{
	Oid relid = RelationGetRelid(table);
	bool private = !list_member_oid(lineage->public_tables, relid);

	if (private && nullable)
		race_refuse_relation(
			lineage->relid,
			psprintf(
				"Its definition has private table \"%s\" on a side of an outer join where rows may be missing: only public tables may be there.",
				RelationGetRelationName(table)));
	if (private && table->rd_rel->relpersistence == RELPERSISTENCE_TEMP)
		race_refuse_relation(lineage->relid,
							 "Its definition has a temporary table: a budget lasts.");
	if (private && IsCatalogNamespace(RelationGetNamespace(table)))
		race_refuse_relation(
			lineage->relid, "Its definition has a table of pg_catalog, which is the server's own.");
	return add_occurrence(lineage, relid, private, RelationGetNumberOfAttributes(table));
}

static Source *
source_of_relation(Lineage *lineage, Oid relid, bool nullable)
{
	Relation relation = race_relation_open(relid);
	Source *source = NULL;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	lineage->result->relations = list_append_unique_oid(lineage->result->relations, relid);
	switch (relation->rd_rel->relkind)
	{
		case RELKIND_RELATION:
		case RELKIND_PARTITIONED_TABLE:
		case RELKIND_FOREIGN_TABLE:
			source = source_of_table(lineage, relation, nullable);
			break;
		case RELKIND_MATVIEW:
			race_refuse_relation(
				lineage->relid,
				psprintf(
					"It reads materialized view \"%s\", whose rows were made by definitions and policies of the past, which nobody can check now.",
					RelationGetRelationName(relation)));
			break;
		case RELKIND_VIEW:
			source = source_of_query(lineage, race_view_query(relation), NULL, nullable);
			break;
		default:
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("\"%s\" is neither a table nor a view",
							RelationGetRelationName(relation))));
	}
	relation_close(relation, NoLock);
	return source;
}

static Source *
source_of_cte(Lineage *lineage, RangeTblEntry *rte, Level *level, bool nullable)
{
	ListCell *cell;

	for (Index up = rte->ctelevelsup; up > 0 && level != NULL; up--)
		level = level->parent;
	foreach (cell, level == NULL ? NIL : level->query->cteList)
	{
		CommonTableExpr *cte = lfirst_node(CommonTableExpr, cell);

		if (strcmp(cte->ctename, rte->ctename) == 0)
			return source_of_query(lineage, castNode(Query, cte->ctequery), level, nullable);
	}
	elog(ERROR, "WITH query \"%s\" was not found", rte->ctename);
	return NULL; /* not reached */
}

static Source *
source_of_entry(Lineage *lineage, RangeTblEntry *rte, Level *level, bool nullable)
{
	switch (rte->rtekind)
	{
		case RTE_RELATION:
			if (rte->tablesample != NULL)
				race_refuse_relation(lineage->relid, "Its definition has TABLESAMPLE.");
			return source_of_relation(lineage, rte->relid, nullable);
		case RTE_SUBQUERY:
			return source_of_query(lineage, rte->subquery, level, nullable);
		case RTE_CTE:
			return source_of_cte(lineage, rte, level, nullable);
		case RTE_FUNCTION:
		case RTE_VALUES:
			return add_occurrence(lineage, InvalidOid, false, list_length(rte->eref->colnames));
		default:
			race_refuse_relation(lineage->relid, "Its definition has something unknown in FROM.");
	}
	return NULL; /* not reached */
}

/* ---------------------------------------------------------------- queries */

/*
 * Return an expression without casts that change nothing, not even what is equal (as text to citext
 * does).
 */
static Node *
strip_labels(Node *node)
{
	/* bound: the depth of the expression */
	while (node != NULL && IsA(node, RelabelType))
	{
		Node *inner = (Node *) ((RelabelType *) node)->arg;

		if (lookup_type_cache(exprType(node), TYPECACHE_EQ_OPR)->eq_opr !=
			lookup_type_cache(exprType(inner), TYPECACHE_EQ_OPR)->eq_opr)
			break;
		node = inner;
	}
	return node;
}

/* Return the column that an expression is, if it is nothing but a column. */
static int
column_of(Level *level, Node *node)
{
	Var *var;
	RangeTblEntry *rte;
	Source *source;

	check_stack_depth();
	node = strip_labels(node);
	if (node == NULL || !IsA(node, Var))
		return NO_COLUMN;
	var = (Var *) node;
	if (var->varlevelsup != 0 || var->varattno <= 0)
		return NO_COLUMN;
	rte = rt_fetch(var->varno, level->query->rtable);
	if (rte->rtekind == RTE_JOIN)
		return column_of(level, list_nth(rte->joinaliasvars, var->varattno - 1));
	source = level->sources[var->varno];
	return source != NULL && var->varattno <= source->n ? source->columns[var->varattno - 1] :
														  NO_COLUMN;
}

/* Learn which columns are equal in each row for which a condition is true. */
static void
learn_equalities(Lineage *lineage, Level *level, Node *condition)
{
	ListCell *cell;
	List *arguments;
	Oid collation;
	int a;
	int b;

	check_stack_depth();
	if (condition == NULL)
		return;
	if (IsA(condition, List) || is_andclause(condition))
	{
		foreach (cell, IsA(condition, List) ? (List *) condition : ((BoolExpr *) condition)->args)
			learn_equalities(lineage, level, lfirst(cell));
		return;
	}
	if (!IsA(condition, OpExpr))
		return;
	/* some collations call different texts equal */
	collation = ((OpExpr *) condition)->inputcollid;
	arguments = ((OpExpr *) condition)->args;
	if (list_length(arguments) != 2 ||
		get_mergejoin_opfamilies(((OpExpr *) condition)->opno) == NIL ||
		(OidIsValid(collation) && !get_collation_isdeterministic(collation)))
		return;
	a = column_of(level, linitial(arguments));
	b = column_of(level, lsecond(arguments));
	if (a != NO_COLUMN && b != NO_COLUMN)
		lineage->same_as[class_of(lineage, a)] = class_of(lineage, b);
}

/*
 * Look at a part of FROM.  `nullable`: its rows may be missing, so that what holds
 * among them need not hold for a row of the view.
 */
static void
look_at_from(Lineage *lineage, Level *level, Node *node, bool nullable)
{
	ListCell *cell;

	check_stack_depth();
	if (IsA(node, RangeTblRef))
	{
		int i = ((RangeTblRef *) node)->rtindex;

		level->sources[i] =
			source_of_entry(lineage, rt_fetch(i, level->query->rtable), level, nullable);
	}
	else if (IsA(node, FromExpr))
	{
		foreach (cell, ((FromExpr *) node)->fromlist)
			look_at_from(lineage, level, lfirst(cell), nullable);
		if (!nullable)
			learn_equalities(lineage, level, ((FromExpr *) node)->quals);
	}
	else
	{
		JoinExpr *join = castNode(JoinExpr, node);
		JoinType type = join->jointype;

		look_at_from(lineage, level, join->larg,
					 nullable || type == JOIN_RIGHT || type == JOIN_FULL);
		look_at_from(lineage, level, join->rarg,
					 nullable || type == JOIN_LEFT || type == JOIN_FULL);
		if (type == JOIN_INNER && !nullable)
			learn_equalities(lineage, level, join->quals);
	}
}

static Source *
source_of_query(Lineage *lineage, Query *query, Level *parent, bool nullable)
{
	Level level;
	Source *source = new_source(list_length(query->targetList));
	ListCell *cell;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	check_size(lineage, ++lineage->queries);
	check_view_query(lineage->relid, query, &lineage->result->calls);
	level.query = query;
	level.parent = parent;
	level.sources = palloc0((list_length(query->rtable) + 1) * sizeof(Source *));
	look_at_from(lineage, &level, (Node *) query->jointree, nullable);

	source->n = 0;
	foreach (cell, query->targetList)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, cell);

		if (!entry->resjunk)
			source->columns[source->n++] = column_of(&level, (Node *) entry->expr);
	}
	return source;
}

/* --------------------------------------------------------------- the unit */

/*
 * Return whether one column of a table says the unit, equal to it in every row of the relation,
 * wherever the table occurs.  With another column in each place, one person's rows could make
 * records of others.
 */
static bool
says_unit(const Lineage *lineage, const Occurrence *first, int unit)
{
	for (int i = 0; i < first->columns; i++)
	{
		bool everywhere = true;
		ListCell *cell;

		foreach (cell, lineage->occurrences)
		{
			Occurrence *occurrence = (Occurrence *) lfirst(cell);

			if (occurrence->table == first->table)
				everywhere = everywhere &&
					class_of(lineage, occurrence->first_column + i) == class_of(lineage, unit);
		}
		if (everywhere)
			return true;
	}
	return false;
}

/* Return the tables that a table is a part of, directly or not, and it itself. */
static List *
ancestors_of(Oid table)
{
	Relation inherits = table_open(InheritsRelationId, AccessShareLock);
	List *ancestors = list_make1_oid(table);

	for (int i = 0; i < list_length(ancestors); i++)
	{
		ScanKeyData key;
		SysScanDesc scan;
		HeapTuple tuple;

		ScanKeyInit(&key, Anum_pg_inherits_inhrelid, BTEqualStrategyNumber, F_OIDEQ,
					ObjectIdGetDatum(list_nth_oid(ancestors, i)));
		scan = systable_beginscan(inherits, InheritsRelidSeqnoIndexId, true, NULL, 1, &key);
		while (HeapTupleIsValid(tuple = systable_getnext(scan)))
			ancestors =
				list_append_unique_oid(ancestors, ((Form_pg_inherits) GETSTRUCT(tuple))->inhparent);
		systable_endscan(scan);
	}
	table_close(inherits, AccessShareLock);
	return ancestors;
}

static bool
have_one_in_common(const List *a, const List *b)
{
	ListCell *cell;

	foreach (cell, a)
		if (list_member_oid(b, lfirst_oid(cell)))
			return true;
	return false;
}

/*
 * Refuse two private tables that can have a row in common, or are parts of one table: a row could
 * belong to one unit in one of them, and to another in the other.
 */
static void
refuse_related(const Lineage *lineage)
{
	const List *tables = lineage->result->private_tables;

	for (int i = 0; i < list_length(tables); i++)
		for (int j = 0; j < i; j++)
		{
			Oid a = list_nth_oid(tables, i);
			Oid b = list_nth_oid(tables, j);

			if (have_one_in_common(ancestors_of(a), ancestors_of(b)) ||
				have_one_in_common(find_all_inheritors(a, NoLock, NULL),
								   find_all_inheritors(b, NoLock, NULL)))
				race_refuse_relation(
					lineage->relid,
					psprintf(
						"Its definition reads tables \"%s\" and \"%s\", which have a table in common by partitioning or inheritance.",
						get_rel_name(b), get_rel_name(a)));
		}
}

/* Refuse a relation of several occurrences unless all private ones say one unit. */
static void
check_unit(const Lineage *lineage, const char *unit_column, int unit)
{
	ListCell *cell;

	if (list_length(lineage->occurrences) == 1)
		return;
	if (unit_column == NULL)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("relation \"%s\" needs a unit_column", get_rel_name(lineage->relid)),
			 errdetail(
				 "Its definition joins, so that one row of a private table may make many rows."),
			 errhint("Name the column that says whom a row is about.")));
	refuse_related(lineage);
	foreach (cell, lineage->occurrences)
	{
		Occurrence *occurrence = (Occurrence *) lfirst(cell);

		if (occurrence->private && (unit == NO_COLUMN || !says_unit(lineage, occurrence, unit)))
			race_refuse_relation(
				lineage->relid,
				psprintf(
					"Its definition does not say that unit column \"%s\" equals a column of private table \"%s\", the same wherever the table occurs.",
					unit_column, get_rel_name(occurrence->table)));
	}
}

/* Return the number of the unit column, which can be grouped by. */
static AttrNumber
find_unit(Oid relid, const char *unit_column)
{
	AttrNumber number = race_column_number(relid, unit_column);

	if (!OidIsValid(lookup_type_cache(get_atttype(relid, number), TYPECACHE_LT_OPR)->lt_opr))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("unit column \"%s\" is of a type that has no order", unit_column)));
	return number;
}

/* Return the private tables, each once. */
static List *
private_tables(const Lineage *lineage)
{
	List *tables = NIL;
	ListCell *cell;

	foreach (cell, lineage->occurrences)
	{
		Occurrence *occurrence = (Occurrence *) lfirst(cell);

		if (occurrence->private && OidIsValid(occurrence->table))
			tables = list_append_unique_oid(tables, occurrence->table);
	}
	if (tables == NIL)
		race_refuse_relation(lineage->relid, "It has no private table in it.");
	return tables;
}

RaceLineage *
race_lineage(Oid relid, const char *unit_column, List *public_tables)
{
	Lineage lineage = {.relid = relid, .public_tables = public_tables, .capacity = 64};
	int unit = NO_COLUMN;
	Source *source;

	lineage.result = palloc0(sizeof(RaceLineage));
	lineage.same_as = palloc(lineage.capacity * sizeof(int));
	source = source_of_relation(&lineage, relid, false);
	if (get_rel_persistence(relid) == RELPERSISTENCE_TEMP)
		race_refuse_relation(relid, "It is temporary: a budget lasts.");
	if (unit_column != NULL)
		unit = source->columns[find_unit(relid, unit_column) - 1];
	lineage.result->private_tables = private_tables(&lineage);
	check_unit(&lineage, unit_column, unit);
	return lineage.result;
}

bool
race_lineage_same(const RaceLineage *a, const RaceLineage *b)
{
	return equal(a->relations, b->relations) && equal(a->private_tables, b->private_tables) &&
		race_calls_same(&a->calls, &b->calls);
}

/*
 * Which functions an expression or a query calls, seen or unseen.
 *
 * A release promises that each record depends on one row alone, and that what was
 * checked is what runs.  Both are statements about functions.  An analyzed
 * expression does not name all of them: the planner fills in the defaults of
 * arguments, and the executor checks domains.
 */

/* A function, and the transaction that wrote its present definition */
typedef struct RaceFunction
{
	Oid id;
	TransactionId written_by;
} RaceFunction;

/* Functions that a release may call, each as often as it is called */
#define MAX_FUNCTIONS 100000

static bool collect_calls(Node *node, void *context);

/*
 * Return the transaction that wrote the present definition; InvalidTransactionId if there is none.
 */
static TransactionId
definition_of(Oid function)
{
	HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
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
	RaceCalls *calls = (RaceCalls *) context;
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
	return false; /* look on */
}

static void
add_type(RaceCalls *calls, Oid type)
{
	HeapTuple tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));

	if (!HeapTupleIsValid(tuple))
		return;
	if (isAnyTempNamespace(((Form_pg_type) GETSTRUCT(tuple))->typnamespace))
		calls->temporary = true;
	ReleaseSysCache(tuple);
}

/* Add the defaults of arguments that a call leaves out: the planner does so. */
static void
add_defaults(RaceCalls *calls, FuncExpr *call)
{
	HeapTuple function;
	List *arguments;

	if (get_func_nargs(call->funcid) == list_length(call->args))
		return;
	function = SearchSysCache1(PROCOID, ObjectIdGetDatum(call->funcid));
	if (!HeapTupleIsValid(function))
		race_refuse_dropped("a function");
#if PG_VERSION_NUM >= 140000
	arguments = expand_function_arguments(call->args, false, call->funcresulttype, function);
#else
	arguments = expand_function_arguments(call->args, call->funcresulttype, function);
#endif
	ReleaseSysCache(function);
	/* with named arguments, defaults may come first */
	race_calls_add(calls, (Node *) arguments);
}

/* Add the negator of an operator: the planner writes NOT (a < b) with it. */
static void
add_negator(RaceCalls *calls, Oid operator)
{
	Oid negator = get_negator(operator);
	Oid function = OidIsValid(negator) ? get_opcode(negator) : InvalidOid;

	if (!OidIsValid(function))
		return;
	(void) add_function(function, calls);
	if (calls->mutable.name == NULL)
		calls->mutable = race_mutable_function(function);
}

/* Add what the CHECK constraints of one domain call. */
static void
add_checks_of(RaceCalls *calls, Oid domain, Relation constraints)
{
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple tuple;

	ScanKeyInit(&key, Anum_pg_constraint_contypid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(domain));
	scan = systable_beginscan(constraints, ConstraintTypidIndexId, true, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		bool isnull;
		Datum check =
			heap_getattr(tuple, Anum_pg_constraint_conbin, RelationGetDescr(constraints), &isnull);

		if (!isnull)
			race_calls_add(calls, stringToNode(TextDatumGetCString(check)));
	}
	systable_endscan(scan);
}

/*
 * Add what the CHECK constraints of a type call, if it is a domain.  The executor checks domains.
 * The type cache would plan their checks, and so run functions of whoever made the domain: the
 * catalog has them as they were written.
 */
static void
add_checks(RaceCalls *calls, Oid type)
{
	Relation constraints = table_open(ConstraintRelationId, AccessShareLock);

	/* bound: domains over domains: a type is older than those over it */
	while (get_typtype(type) == TYPTYPE_DOMAIN)
	{
		HeapTuple tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));

		if (!HeapTupleIsValid(tuple))
			race_refuse_dropped("a type");
		add_checks_of(calls, type, constraints);
		type = ((Form_pg_type) GETSTRUCT(tuple))->typbasetype;
		ReleaseSysCache(tuple);
	}
	table_close(constraints, AccessShareLock);
}

static bool
collect_calls(Node *node, void *context)
{
	RaceCalls *calls = (RaceCalls *) context;

	check_stack_depth();
	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, collect_calls, context, 0);
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
			if (calls->mutable.name == NULL)
				calls->mutable =
					(RaceMutable){"a function of XML or JSON",
								  "Write it by functions that depend on their arguments alone."};
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
	return expression_tree_walker(node, collect_calls, context);
}

void
race_calls_add(RaceCalls *calls, Node *node)
{
	if (calls->mutable.name == NULL)
		calls->mutable = race_mutable_in(node);
	(void) collect_calls(node, calls);
}

bool
race_calls_same(const RaceCalls *a, const RaceCalls *b)
{
	ListCell *x;
	ListCell *y;

	if (list_length(a->functions) != list_length(b->functions))
		return false;
	forboth (x, a->functions, y, b->functions)
	{
		RaceFunction *f = (RaceFunction *) lfirst(x);
		RaceFunction *g = (RaceFunction *) lfirst(y);

		if (f->id != g->id || f->written_by != g->written_by)
			return false;
	}
	return true;
}

static bool
calls_function(const RaceCalls *calls, Oid function)
{
	ListCell *cell;

	foreach (cell, calls->functions)
		if (((RaceFunction *) lfirst(cell))->id == function)
			return true;
	return false;
}

bool
race_calls_within(const RaceCalls *a, const RaceCalls *b)
{
	ListCell *cell;

	foreach (cell, a->functions)
		if (!calls_function(b, ((RaceFunction *) lfirst(cell))->id))
			return false;
	return true;
}

List *
race_calls_list(const RaceCalls *calls)
{
	List *functions = NIL;
	ListCell *cell;

	foreach (cell, calls->functions)
		functions = list_append_unique_oid(functions, ((RaceFunction *) lfirst(cell))->id);
	return functions;
}

bool
race_calls_current(const RaceCalls *calls)
{
	ListCell *cell;

	foreach (cell, calls->functions)
	{
		RaceFunction *function = (RaceFunction *) lfirst(cell);

		if (definition_of(function->id) != function->written_by)
			return false;
	}
	return true;
}

/*
 * Return whether a function belongs to the extension of the ledger, or to its library, and still to
 * the owner of that.
 */
static bool
is_ours(const RaceLedger *ledger, Oid function)
{
	Oid extension = getExtensionOfObject(ProcedureRelationId, function);
	HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Oid owner;

	if (!HeapTupleIsValid(tuple))
		return false;
	owner = ((Form_pg_proc) GETSTRUCT(tuple))->proowner;
	ReleaseSysCache(tuple);
	return (extension == ledger->extension && owner == ledger->owner) ||
		(extension == ledger->library && owner == ledger->library_owner);
}

Oid
race_calls_besides(const RaceCalls *calls_made, const RaceLedger *ledger, const RaceCalls *others)
{
	ListCell *cell;

	foreach (cell, calls_made->functions)
	{
		Oid id = ((RaceFunction *) lfirst(cell))->id;

		if (get_func_namespace(id) != PG_CATALOG_NAMESPACE && !calls_function(others, id) &&
			!is_ours(ledger, id))
			return id;
	}
	return InvalidOid;
}

Oid
race_calls_of_others(const RaceCalls *calls_made, const RaceLedger *ledger, Oid role)
{
	ListCell *cell;

	foreach (cell, calls_made->functions)
	{
		Oid id = ((RaceFunction *) lfirst(cell))->id;
		HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(id));
		Oid owner;

		if (!HeapTupleIsValid(tuple))
			race_refuse_dropped("a function");
		owner = ((Form_pg_proc) GETSTRUCT(tuple))->proowner;
		ReleaseSysCache(tuple);
		if (get_func_namespace(id) != PG_CATALOG_NAMESPACE && !is_ours(ledger, id) &&
			!has_privs_of_role(owner, role))
			return id;
	}
	return InvalidOid;
}

/*
 * What the definition of a view may have in it.
 */

void
race_refuse_relation(Oid relid, const char *why)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("relation \"%s\" cannot be protected", get_rel_name(relid)),
			 errdetail("%s", why)));
}

void
race_refuse_dropped(const char *kind)
{
	ereport(ERROR,
			(errcode(strcmp(kind, "a relation") == 0 ? ERRCODE_UNDEFINED_TABLE :
													   ERRCODE_UNDEFINED_OBJECT),
			 errmsg("%s was dropped by another session", kind),
			 errhint("Try again when nobody changes definitions.")));
}

Relation
race_relation_open(Oid relid)
{
	Relation relation = try_relation_open(relid, AccessShareLock);

	if (relation == NULL)
		race_refuse_dropped("a relation");
	return relation;
}

Query *
race_view_query(Relation view)
{
	for (int i = 0; view->rd_rules != NULL && i < view->rd_rules->numLocks; i++)
		if (view->rd_rules->rules[i]->event == CMD_SELECT)
			return linitial_node(Query, view->rd_rules->rules[i]->actions);
	elog(ERROR, "view \"%s\" has no query", RelationGetRelationName(view));
	return NULL; /* not reached */
}

/* Return what a row may not depend on, because it ties rows to each other. */
static const char *
what_ties_rows(const Query *query)
{
	if (query->commandType != CMD_SELECT || query->hasModifyingCTE)
		return "a statement that changes data";
	if (query->distinctClause != NIL)
		return "DISTINCT";
	if (query->hasAggs || query->groupClause != NIL || query->groupingSets != NIL ||
		query->havingQual != NULL)
		return "aggregates, GROUP BY or HAVING";
	if (query->limitCount != NULL || query->limitOffset != NULL)
		return "LIMIT or OFFSET";
	if (query->hasWindowFuncs)
		return "window functions";
	if (query->setOperations != NULL)
		return "UNION, INTERSECT or EXCEPT";
	if (query->hasSubLinks)
		return "a subquery outside FROM";
	if (query->hasTargetSRFs)
		return "set-returning functions in its SELECT list";
	if (query->hasRecursive)
		return "WITH RECURSIVE";
	if (query->rowMarks != NIL)
		return "FOR UPDATE or FOR SHARE";
	return NULL;
}

/*
 * Check one level of the definition of `relid`, and add the functions that it calls.
 * Each row must come from one row of each relation in FROM, and from nothing else:
 * neither from other rows, nor from where or when a row was written.
 */
static void
check_view_query(Oid relid, Query *query, RaceCalls *calls)
{
	const char *what = what_ties_rows(query);

	if (what != NULL)
		race_refuse_relation(
			relid,
			psprintf(
				"Its definition has %s: each of its rows must depend on one person, and on public tables, only.",
				what));
	race_calls_add(calls, (Node *) query);
	if (calls->mutable.name != NULL)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("relation \"%s\" cannot be protected", get_rel_name(relid)),
			 errdetail(
				 "It calls %s, which is not IMMUTABLE: it may look at other rows, or return something else each time.",
				 calls->mutable.name),
			 errhint("%s", calls->mutable.instead)));
	if (calls->system_column)
		race_refuse_relation(
			relid,
			"Its definition has a system column: where and when a row was written depends on other rows.");
	if (calls->temporary)
		race_refuse_relation(relid,
							 "Its definition has a temporary function or type: a budget lasts.");
}
