/*
 * read.c
 *		Reading the records of a release
 */
#include "postgres.h"

#include <math.h>

#include "access/transam.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/plannodes.h"
#include "optimizer/optimizer.h"
#include "optimizer/plancat.h"
#include "parser/parse_coerce.h"
#include "parser/parse_expr.h"
#include "parser/parse_func.h"
#include "parser/parser.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteHandler.h"
#include "tcop/tcopprot.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/ruleutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "sketch/authority.h"
#include "sketch/domain.h"
#include "release/privatize.h"
#include "sketch/record.h"
#include "sketch/server.h"
#include "sketch/sketch.h"
#include "release/lineage.h"
#include "release/read.h"
#include "release/release.h"
#include "release/remote.h"
#include "privacy/release_request.h"

/*
 * The read phase of a release: the query runs, and noise is drawn.
 *
 * Exact sketches exist in the executor's memory only: as a sketch arrives, a private
 * one is made of it.  While the query runs, neither the client nor the log is told
 * anything, since a warning could show a record, and nothing is counted, since counts of
 * rows are exact.  The query has no identifier, so that extensions that collect
 * statistics do not see it.
 * Row-level security would make a row depend on what its policies look at, so a
 * query that it would change is an error, too.
 */

/* What the query is called where the server names queries */
#define QUERY_NAME	"the records of a release"

/*
 * The parts of a release: one for each declared label, or one; with a value there are two
 * in each place, a pair.
 */
typedef struct Parts
{
	DestReceiver receiver;		/* first, so that it is the whole */
	const RaceRequest *noise;
	const RaceParams *params;	/* which sketches of other servers must have, too */
	int			n;				/* labels, or 1 */
	int			halves;			/* of each: 1, or 2 with a value */
	Datum	   *labels;			/* or NULL */
	Datum	   *sketches;		/* [n][halves], private, or 0 while none has arrived */
	const List *chosen;			/* RaceColumnNumbers * of columns whose numbers were measured already */
	MemoryContext context;		/* of the private sketches */
} Parts;

/* ------------------------------------------------------------------ parts */

/* Labels are in the order of the collation "C". */
static int
compare_labels(const void *a, const void *b)
{
	return DatumGetInt32(DirectFunctionCall2Coll(bttextcmp, C_COLLATION_OID,
												 *(const Datum *) a, *(const Datum *) b));
}

static int
find_part(const Parts *parts, Datum label)
{
	Datum	   *found = parts->labels == NULL ? NULL :
		bsearch(&label, parts->labels, parts->n, sizeof(Datum), compare_labels);

	if (found == NULL)
		elog(ERROR, "a label came back that was not asked for");
	return found - parts->labels;
}

/* Make the sketches of a label private. */
static void
take_sketches(Parts *parts, int i, const RaceView *exact)
{
	RaceSketch *sketches[RACE_HALVES];
	ListCell   *cell;

	Assert(parts->sketches[i * parts->halves] == (Datum) 0);
	for (int half = 0; half < parts->halves; half++)
	{
		race_check_exact(exact[half].header, "made private again");
		race_params_check_same(parts->params, exact[half].params);
	}
	race_private_sketches(exact, parts->halves, parts->noise, parts->context, sketches);
	foreach(cell, parts->chosen)
		race_combine_column(sketches[0], lfirst(cell));
	for (int half = 0; half < parts->halves; half++)
		parts->sketches[i * parts->halves + half] = RaceSketchGetDatum(sketches[half]);
}

/* Receive a row (label, exact sketch or pair) of the query. */
static bool
receive_row(TupleTableSlot *slot, DestReceiver *self)
{
	Parts	   *parts = (Parts *) self;
	RaceView	exact[RACE_HALVES];
	bool		isnull;

	slot_getallattrs(slot);
	if (slot->tts_isnull[1])
		return true;
	if (parts->halves == 1)
		race_sketch_view_any(slot->tts_values[1], &exact[0]);
	else
	{
		HeapTupleHeader pair = DatumGetHeapTupleHeader(slot->tts_values[1]);

		for (int half = 0; half < parts->halves; half++)
			race_sketch_view(GetAttributeByNum(pair, half + 1, &isnull), &exact[half]);
	}
	take_sketches(parts, slot->tts_isnull[0] ? 0 : find_part(parts, slot->tts_values[0]), exact);
	return true;
}

static void
start_rows(DestReceiver *self, int operation, TupleDesc row)
{
	(void) self;
	(void) operation;
	(void) row;
}

static void
end_rows(DestReceiver *self)
{
	(void) self;
}

/* A label without records gets an empty sketch, with noise like any other. */
static void
fill_parts(Parts *parts)
{
	MemoryContext context = AllocSetContextCreate(parts->context, "empty sketch",
												  ALLOCSET_START_SMALL_SIZES);
	RaceSketch *sketches[RACE_HALVES];
	RaceView	empty[RACE_HALVES];

	for (int i = 0; i < parts->halves; i++)
	{
		sketches[i] = race_sketch_create(parts->params, parts->params->rows, 1, context);
		sketches[i]->header.noise.max_contributions = race_largest_weight(parts->noise);
	}
	if (parts->halves > 1)
	{
		race_sketch_make_halves(sketches[RACE_LOWER], sketches[RACE_UPPER]);
		race_mark_pair(sketches);
	}
	for (int i = 0; i < parts->halves; i++)
		race_sketch_view_any(RaceSketchGetDatum(sketches[i]), &empty[i]);
	for (int i = 0; i < parts->n; i++)
		if (parts->sketches[i * parts->halves] == (Datum) 0)
			take_sketches(parts, i, empty);
}

static void
start_parts(Parts *parts, const RaceRequest *noise, const RaceParams *params, int n,
			int halves, Datum *labels)
{
	memset(parts, 0, sizeof(Parts));
	parts->receiver.receiveSlot = receive_row;
	parts->receiver.rStartup = start_rows;
	parts->receiver.rShutdown = end_rows;
	parts->receiver.rDestroy = end_rows;
	parts->receiver.mydest = DestNone;
	parts->noise = noise;
	parts->params = params;
	parts->n = n;
	parts->halves = halves;
	parts->labels = labels;
	parts->sketches = palloc0(n * parts->halves * sizeof(Datum));
	parts->context = CurrentMemoryContext;
}

/* --------------------------------------------------------------- settings */

/* Set a setting of an extension, if it is loaded. */
static void
set_of_extension(const char *name, const char *value)
{
	if (GetConfigOption(name, true, false) != NULL)
		race_set(name, value);
}

/* How many rows are expected, how often functions and statements in them run: quiet. */
static void
set_uncounted(void)
{
	race_set("row_security", "off");
	race_set("track_functions", "none");
	race_set("track_counts", "off");
	set_of_extension("pg_stat_statements.track", "none");
	set_of_extension("auto_explain.log_min_duration", "-1");
}

/* The settings of the read phase.  An error is caught before it is logged. */
void
race_read_set_quiet(void)
{
	set_uncounted();
	race_set("exit_on_error", "off");
	race_set("client_min_messages", "error");
	race_set("log_min_messages", "panic");
}

/* ------------------------------------------------------------------ query */

/*
 * The query as a plan.  Without pg_plan_query, nothing of the plan is logged, which
 * may hold estimates that are exact counts.
 */
static PlannedStmt *
plan_query(Query *query, bool of_partitions)
{
	/* the rewriter and the planner change what they get */
	List	   *rewritten = QueryRewrite(copyObject(query));
	PlannedStmt *plan = planner(linitial_node(Query, rewritten), QUERY_NAME, 0, NULL);

	if (of_partitions)
		race_parts_need_no_rights(plan);
	return plan;
}

static QueryDesc *
start_query(Query *query, bool of_partitions, QueryEnvironment *environment, DestReceiver *receiver, int flags)
{
	QueryDesc  *run;

	PushActiveSnapshot(GetTransactionSnapshot());
	run = CreateQueryDesc(plan_query(query, of_partitions), QUERY_NAME, GetActiveSnapshot(),
						  InvalidSnapshot, receiver, NULL, environment, 0);
	ExecutorStart(run, flags);
	return run;
}

static void
end_query(QueryDesc *run)
{
	ExecutorEnd(run);
	FreeQueryDesc(run);
	PopActiveSnapshot();
}

/* Run a query; returns its plan. */
static PlannedStmt *
run_query(Query *query, bool of_partitions, QueryEnvironment *environment, DestReceiver *receiver)
{
	QueryDesc  *run = start_query(query, of_partitions, environment, receiver, 0);
	PlannedStmt *plan = run->plannedstmt;

#if PG_VERSION_NUM >= 180000
	ExecutorRun(run, ForwardScanDirection, 0);
#else
	ExecutorRun(run, ForwardScanDirection, 0, true);
#endif
	ExecutorFinish(run);
	end_query(run);
	return plan;
}

/* The tables of a plan, which has views in its range table, too */
static List *
tables_of(const PlannedStmt *plan)
{
	List	   *tables = NIL;
	ListCell   *cell;

	foreach(cell, plan->rtable)
	{
		RangeTblEntry *entry = lfirst_node(RangeTblEntry, cell);

		if (entry->rtekind == RTE_RELATION && entry->relkind != RELKIND_VIEW)
			tables = list_append_unique_oid(tables, entry->relid);
	}
	return tables;
}

/*
 * Casts that fail on a row would come after the charge: from text and jsonb to other types, to numbers that have no room
 * for all values, and to SQL domains with constraints.  What stands in a branch of CASE is guarded by its condition.
 */

/* How many digits a type of numbers has before the point, at most, and keeps after it; false for other types */
static bool
digits_of(Oid type, int32 typmod, int *whole, int *fraction)
{
	bool		limited = type == NUMERICOID && typmod >= (int32) VARHDRSZ;

	*fraction = type == INT2OID || type == INT4OID || type == INT8OID ? 0 :
		limited ? (((typmod - VARHDRSZ) & 0x7ff) ^ 1024) - 1024 : PG_INT16_MAX;
	*whole = type == INT2OID ? 5 : type == INT4OID ? 10 : type == INT8OID ? 19 : type == FLOAT4OID ? 39 : type == FLOAT8OID ? 309 :
		type != NUMERICOID ? 0 : limited ? ((typmod - VARHDRSZ) >> 16 & 0xffff) - *fraction : PG_INT16_MAX;
	return *whole != 0 || type == NUMERICOID;
}

/* Can a cast between types of numbers overflow?  It is assumed that floats have room for all numbers of a table. */
static bool
overflows(Node *from, Node *to)
{
	int32		typmod = exprTypmod(from);
	Oid			type = getBaseTypeAndTypmod(exprType(from), &typmod);
	int			whole;
	int			fraction;
	int			room;
	int			kept;

	if (!digits_of(type, typmod, &whole, &fraction) || !digits_of(exprType(to), exprTypmod(to), &room, &kept) ||
		exprType(to) == FLOAT4OID || exprType(to) == FLOAT8OID || room == PG_INT16_MAX)
		return false;
	/* rounding may add a digit, and not all numbers with as many digits as integers have are integers */
	return whole + (fraction > kept) > room - (exprType(to) != NUMERICOID);
}

/* Is an expression a cast by a function? */
static bool
is_cast(Node *node)
{
	return IsA(node, FuncExpr) && (((FuncExpr *) node)->funcformat == COERCE_EXPLICIT_CAST ||
								   ((FuncExpr *) node)->funcformat == COERCE_IMPLICIT_CAST);
}

/* The argument of a cast that may fail; NULL for other expressions */
static Node *
cast_argument(Node *node)
{
	Node	   *argument;
	Oid			from;

	if (IsA(node, CoerceToDomain))
		return DomainHasConstraints(((CoerceToDomain *) node)->resulttype) ? (Node *) ((CoerceToDomain *) node)->arg : NULL;
	if (IsA(node, CoerceViaIO))
		return TypeCategory(((CoerceViaIO *) node)->resulttype) == TYPCATEGORY_STRING ? NULL : (Node *) ((CoerceViaIO *) node)->arg;
	if (!is_cast(node))
		return NULL;
	argument = linitial(((FuncExpr *) node)->args);
	from = getBaseType(exprType(argument));
	if ((TypeCategory(from) == TYPCATEGORY_STRING && TypeCategory(exprType(node)) != TYPCATEGORY_STRING) || from == JSONBOID)
		return argument;
	/* to numeric(5,2), integers go by way of numeric */
	if (is_cast(argument) && exprType(argument) == NUMERICOID && exprTypmod(argument) < 0)
		argument = linitial(((FuncExpr *) argument)->args);
	return overflows(argument, node) ? argument : NULL;
}

static bool
refuse_casts(Node *node, void *relation)
{
	Node	   *argument = node == NULL ? NULL : cast_argument(node);
	ListCell   *cell;

	if (node == NULL)
		return false;
	if (argument != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a cast from %s to %s can fail while rows of \"%s\" are read",
						format_type_with_typemod(exprType(argument), exprTypmod(argument)),
						format_type_with_typemod(exprType(node), exprTypmod(node)), (const char *) relation),
				 errdetail("The budget would be charged before it fails. Nothing was read and nothing charged."),
				 TypeCategory(getBaseType(exprType(argument))) == TYPCATEGORY_NUMERIC ?
				 errhint("Leave it out, since a column is released in its own type, or cast only what fits, for example CASE WHEN x BETWEEN 0 AND 999 THEN x::int END.") :
				 errhint("Cast only what can be cast, for example CASE WHEN x ~ '^[0-9]{1,9}$' THEN x::int END, which is NULL for other texts.")));
	if (!IsA(node, CaseExpr))
		return expression_tree_walker(node, refuse_casts, relation);
	foreach(cell, ((CaseExpr *) node)->args)
		(void) refuse_casts((Node *) lfirst_node(CaseWhen, cell)->expr, relation);
	return refuse_casts((Node *) ((CaseExpr *) node)->arg, relation);
}

/* The same of all expressions of a plan */
static bool
refuse_casts_of_plan(PlanState *state, void *relation)
{
	Plan	   *plan = state->plan;

	(void) refuse_casts((Node *) plan->targetlist, relation);
	(void) refuse_casts((Node *) plan->qual, relation);
	switch (nodeTag(plan))
	{
		case T_MergeJoin:
			(void) refuse_casts((Node *) ((MergeJoin *) plan)->mergeclauses, relation);
			break;
		case T_HashJoin:
			(void) refuse_casts((Node *) ((HashJoin *) plan)->hashclauses, relation);
			break;
		case T_FunctionScan:
			(void) refuse_casts((Node *) ((FunctionScan *) plan)->functions, relation);
			break;
		case T_IndexScan:
			(void) refuse_casts((Node *) ((IndexScan *) plan)->indexqualorig, relation);
			break;
		case T_BitmapHeapScan:
			(void) refuse_casts((Node *) ((BitmapHeapScan *) plan)->bitmapqualorig, relation);
			break;
		case T_Result:
			(void) refuse_casts(((Result *) plan)->resconstantqual, relation);
			break;
		default:
			break;
	}
	if (IsA(plan, NestLoop) || IsA(plan, MergeJoin) || IsA(plan, HashJoin))
		(void) refuse_casts((Node *) ((Join *) plan)->joinqual, relation);
	return planstate_tree_walker(state, refuse_casts_of_plan, relation);
}

void
race_read_check(RaceChecked *checked, Query *query, bool of_partitions)
{
	int			level = NewGUCNestLevel();
	QueryDesc  *run;
	List	   *others;
	ListCell   *cell;

	set_uncounted();
	run = start_query(query, of_partitions, race_units_environment(checked->units), None_Receiver, EXEC_FLAG_EXPLAIN_ONLY);
	/* with partitions, and the tables that inherit from them */
	checked->parts = NIL;
	foreach(cell, checked->lineage->relations)
		checked->parts = list_concat_unique_oid(checked->parts, find_all_inheritors(lfirst_oid(cell), NoLock, NULL));
	checked->probes = race_parts_probes(run->planstate, checked->lineage->relations);
	(void) refuse_casts_of_plan(run->planstate, get_rel_name(checked->dataset->relation));
	/* the planner replaces a function in FROM by its body, which may read tables */
	others = list_difference_oid(tables_of(run->plannedstmt), checked->parts);
	if (others != NIL)
		race_refuse_relation(checked->dataset->relation,
							 psprintf("A function that it calls reads table \"%s\", which is not in its FROM.",
									  get_rel_name(linitial_oid(others))));
	end_query(run);
	AtEOXact_GUC(true, level);
}

/* ----------------------------------------------------------------- probes */

static get_relation_info_hook_type next_info = NULL;
static bool probing = false;

/* Of one row, by estimate, the planner may limit the number here and not ask the server. */
static void
expect_rows(PlannerInfo *root, Oid relid, bool inhparent, RelOptInfo *rel)
{
	if (next_info != NULL)
		next_info(root, relid, inhparent, rel);
	if (probing)
		rel->tuples = 1e6;
}

static void
add_place(void *place)
{
	errcontext("probe of %s before the charge: nothing is charged", (const char *) place);
}

void
race_read_probe(const RaceChecked *checked)
{
	static bool hooked = false;
	RaceAuthority before;
	ListCell   *cell;

	race_authority_begin(&before, checked->role);

	set_uncounted();
	/* it stays: another library may chain its own hook to it meanwhile */
	if (!hooked)
	{
		next_info = get_relation_info_hook;
		get_relation_info_hook = expect_rows;
		hooked = true;
	}
	probing = true;
	PG_TRY();
	{
		foreach(cell, checked->probes)
		{
			const RaceProbe *probe = lfirst(cell);
			ErrorContextCallback callback = {error_context_stack, add_place, probe->place};

			error_context_stack = &callback;
			(void) run_query(probe->query, true, NULL, None_Receiver);
			error_context_stack = callback.previous;
		}
	}
	PG_FINALLY();
	{
		probing = false;
	}
	PG_END_TRY();
	race_authority_end(&before);
}

/* ------------------------------------------------------------- the records */

/*
 * What an error says, and where, can depend on the records, so nothing of it is passed
 * on.  That there was one is a bit of the data: the charge pays for it.
 */
static void
hide_error(int level, MemoryContext context)
{
	int			code = geterrcode();

	MemoryContextSwitchTo(context);
	FlushErrorState();
	AtEOXact_GUC(false, level);
	/* temporary files are closed when the transaction is */
	race_set_local("log_temp_files", "-1");
	race_set_local("track_counts", "off");
	ereport(ERROR,
			(errcode(code == ERRCODE_QUERY_CANCELED ? code : ERRCODE_DATA_EXCEPTION),
			 errmsg("the release failed while its data were read"),
			 errdetail("What happened may depend on private data, so it is not told. The charge stands."),
			 errhint("See that the expression works on every row that there could be, and that all servers that have rows of the relation answer.")));
}

/* Run a query of a request, and make what it gives private.  Parts may be NULL. */
static void
read_quietly(DestReceiver *receiver, Parts *parts, RaceChecked *checked, Query *query, bool of_partitions, const char *path)
{
	MemoryContext context = CurrentMemoryContext;
	CommandDest client = whereToSendOutput;
	int			level = NewGUCNestLevel();
	RaceAuthority before;

	race_authority_begin(&before, checked->role);
	PG_TRY();
	{
		race_read_set_quiet();
		race_set_path(path);
		/* INFO has no setting */
		whereToSendOutput = DestNone;
		checked->tables = list_concat_unique_oid(checked->tables, tables_of(
			run_query(query, of_partitions, race_units_environment(checked->units), receiver)));
		if (parts != NULL)
			fill_parts(parts);
		whereToSendOutput = client;
	}
	PG_CATCH();
	{
		whereToSendOutput = client;
		race_authority_end(&before);
		hide_error(level, context);
	}
	PG_END_TRY();
	/* what functions have set while rows were read is undone, too */
	race_authority_end(&before);
	AtEOXact_GUC(false, level);
}

Datum *
race_read_private(const RaceAsked *asked, RaceChecked *checked, int n, Datum *labels)
{
	bool		apart = checked->parts_query != NULL;
	Parts		parts;

	start_parts(&parts, &checked->noise, asked->params, n, RaceHalvesOf(asked), labels);
	parts.chosen = checked->chosen_numbers;
	read_quietly(&parts.receiver, &parts, checked, apart ? checked->parts_query : checked->query,
				 checked->of_partitions, asked->run_path);
	return parts.sketches;
}

Datum *
race_read_scores(const RaceAsked *asked, RaceChecked *checked, int n, Datum *labels,
				 Datum *sketches)
{
	Oid			type = get_element_type(checked->scored_by->consttype);
	Parts		parts;

	checked->scored_by->constvalue =
		PointerGetDatum(construct_array(sketches, n, type, -1, false, TYPALIGN_DOUBLE));
	checked->scored_by->constisnull = false;
	start_parts(&parts, &checked->scores_noise, race_params_arg(checked->scores_params), n, 1,
				labels);
	read_quietly(&parts.receiver, &parts, checked, checked->scores_query, false, asked->run_path);
	return parts.sketches;
}

/* A value that passes, the noisy number of its persons, and how many records more these have */
typedef struct Chosen
{
	Datum		value;			/* text */
	int64		noisy;
	int64		further;
} Chosen;

/*
 * The values of a column, or labels, that are chosen as they arrive with their numbers of persons.  Of more than `most` those of most
 * persons are kept, so that memory does not depend on how many there are.
 */
typedef struct Choice
{
	DestReceiver receiver;		/* first, so that it is the whole */
	const RaceThreshold *threshold;
	MemoryContext context;
	Chosen	   *values;			/* [2 * most + 1] */
	int			n;
	int			most;
} Choice;

static int
compare_persons(const void *a, const void *b)
{
	const Chosen *left = a;
	const Chosen *right = b;

	return left->noisy != right->noisy ? (left->noisy < right->noisy ? 1 : -1) : compare_labels(&left->value, &right->value);
}

/* Put the values of most persons first, and drop those that are too many. */
static void
keep_most(Choice *choice)
{
	qsort(choice->values, choice->n, sizeof(Chosen), compare_persons);
	for (; choice->n > choice->most; choice->n--)
		pfree(DatumGetPointer(choice->values[choice->n - 1].value));
}

/* A row (value, persons, further records) of the query */
static bool
receive_value(TupleTableSlot *slot, DestReceiver *self)
{
	Choice	   *choice = (Choice *) self;
	Chosen		chosen;
	MemoryContext caller;

	slot_getallattrs(slot);
	if (!race_threshold_passes(race_strong_random(), choice->threshold, DatumGetInt64(slot->tts_values[1]), &chosen.noisy))
		return true;
	chosen.further = DatumGetInt64(slot->tts_values[2]);
	if (choice->n > 2 * choice->most)
		keep_most(choice);
	caller = MemoryContextSwitchTo(choice->context);
	chosen.value = datumCopy(slot->tts_values[0], false, -1);
	choice->values[choice->n++] = chosen;
	MemoryContextSwitchTo(caller);
	return true;
}

static int
compare_chosen(const void *a, const void *b)
{
	return compare_labels(&((const Chosen *) a)->value, &((const Chosen *) b)->value);
}

Datum
race_read_chosen(const RaceAsked *asked, RaceChecked *checked, int i, int64 **persons, RaceColumnNumbers *numbers)
{
	Choice		choice = {
		.receiver = {receive_value, start_rows, end_rows, end_rows, DestNone},
		.threshold = &checked->choice.threshold,
		.context = CurrentMemoryContext,
		.most = asked->most_chosen
	};
	Datum	   *values;

	choice.values = palloc((2 * (Size) choice.most + 1) * sizeof(Chosen));
	read_quietly(&choice.receiver, NULL, checked, list_nth_node(Query, checked->choices, i), false, asked->run_path);
	keep_most(&choice);
	qsort(choice.values, choice.n, sizeof(Chosen), compare_chosen);
	values = palloc(choice.n * sizeof(Datum));
	numbers->n = choice.n;
	numbers->variance = race_threshold_variance(choice.threshold) * (double) Max(checked->summed, 1);
	numbers->numbers = palloc(choice.n * sizeof(int64));
	*persons = palloc(choice.n * sizeof(int64));
	for (int k = 0; k < choice.n; k++)
	{
		values[k] = choice.values[k].value;
		CHECK_FOR_INTERRUPTS();
		numbers->numbers[k] = race_threshold_records(race_strong_random(), choice.threshold, checked->summed, choice.values[k].noisy,
													 choice.values[k].further);
		(*persons)[k] = choice.values[k].noisy;
	}
	return PointerGetDatum(construct_array(values, choice.n, TEXTOID, -1, false, TYPALIGN_INT));
}

/* Counts of the values of a column while its bounds are looked for */
typedef struct Histogram
{
	DestReceiver receiver;		/* first, so that it is the whole */
	const RaceBounds *bounds;
	Oid			type;
	int64		counters[RACE_BOUNDS_COUNTERS];
} Histogram;

/* A row (value) of the query */
static bool
receive_number(TupleTableSlot *slot, DestReceiver *self)
{
	Histogram  *histogram = (Histogram *) self;
	int			i;

	slot_getallattrs(slot);
	i = race_bounds_counter(histogram->bounds, race_number_of(histogram->type, slot->tts_values[0]));
	if (i >= 0)
		histogram->counters[i]++;
	return true;
}

void
race_read_bounds(const RaceAsked *asked, RaceChecked *checked, Oid type)
{
	Histogram  *histogram = palloc(sizeof(Histogram));

	/* bound: RACE_BOUNDS_STAGES */
	do
	{
		*histogram = (Histogram) {
			.receiver = {receive_number, start_rows, end_rows, end_rows, DestNone},
			.bounds = &checked->bounds,
			.type = type
		};
		read_quietly(&histogram->receiver, NULL, checked, checked->query, false, asked->run_path);
	} while (race_bounds_read(race_strong_random(), &checked->bounds, histogram->counters));
	pfree(histogram);
}

/*
 * An expression of the caller's, checked to depend on one row alone.
 *
 * A release may look at each row by itself only: with x / (SELECT max(x) ...) one
 * person could change the records of all others.  So the text is parsed here, alone,
 * and analyzed against the relation alone.  The result is a part of the query that
 * will run: no text of it is analyzed a second time under other names.
 */

/* Bytes of an expression: far more than anybody writes */
#define MAX_EXPRESSION	((Size) 256 * 1024)

static void
refuse(const char *what, const char *instead)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("an expression of a release must not contain %s", what),
			 errdetail("Each record must depend on one row of the relation alone: otherwise one person could change the records of others, and noise would not hide that."),
			 errhint("%s", instead)));
}

/* A position within the expression would point into the statement around it. */
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
		select->distinctClause == NIL && select->intoClause == NULL &&
		select->fromClause == NIL && select->whereClause == NULL &&
		select->groupClause == NIL && select->havingClause == NULL &&
		select->windowClause == NIL && select->valuesLists == NIL &&
		select->sortClause == NIL && select->limitOffset == NULL &&
		select->limitCount == NULL && select->lockingClause == NIL &&
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

/* The one expression that a text is, not yet looked up anywhere */
static Node *
parse_alone(const char *text)
{
	List	   *parsed = race_parse(psprintf("SELECT %s", text));
	Node	   *select;
	ResTarget  *target;

	if (list_length(parsed) == 1)
	{
		select = linitial_node(RawStmt, parsed)->stmt;
		if (IsA(select, SelectStmt) && is_bare((SelectStmt *) select))
		{
			target = linitial_node(ResTarget, ((SelectStmt *) select)->targetList);
			if (target->name == NULL && target->indirection == NIL &&
				!(IsA(target->val, ColumnRef) && IsA(llast(((ColumnRef *) target->val)->fields), A_Star)))
				return target->val;
		}
	}
	ereport(ERROR,
			(errcode(ERRCODE_SYNTAX_ERROR),
			 errmsg("expected one expression over the columns of the relation")));
	return NULL;				/* not reached */
}

static void
check_row_local(const ParseState *pstate, Node *expression, const RaceCalls *calls)
{
	const char *over_columns = "Write an expression over the columns of one row, as in ARRAY[age, weight].";

	if (pstate->p_hasSubLinks)
		refuse("a subquery", over_columns);
	if (pstate->p_hasAggs)
		refuse("an aggregate function", over_columns);
	if (pstate->p_hasWindowFuncs)
		refuse("a window function", over_columns);
	if (expression_returns_set(expression))
		refuse("a set-returning function", over_columns);
	/* where a row lies depends on all others */
	if (calls->system_column)
		refuse("a system column", over_columns);
	if (calls->mutable.name != NULL)
		refuse(psprintf("a function that is not IMMUTABLE: %s", calls->mutable.name), calls->mutable.instead);
	if (calls->temporary)
		refuse("a temporary function or type", over_columns);
}

/* The expression as a label or a value: any type has a text, and numbers are values. */
static Node *
cast(ParseState *pstate, Node *expression, RaceExpressionUse use)
{
	bool		label = use == RACE_AS_LABEL;
	Node	   *result;

	/* the cast of numeric to float8 fails on a number that a double has no room for */
	if (!label && getBaseType(exprType(expression)) == NUMERICOID)
		result = ParseFuncOrColumn(pstate, list_make2(makeString(RACE_SCHEMA), makeString("_race_number")),
								   list_make1(expression), NULL, NULL, false, -1);
	else
		result = coerce_to_target_type(pstate, expression, exprType(expression), label ? TEXTOID : FLOAT8OID, -1,
									   label ? COERCION_EXPLICIT : COERCION_ASSIGNMENT, COERCE_EXPLICIT_CAST, -1);
	if (result != NULL)
		return result;
	if (label)
		ereport(ERROR,
				(errcode(ERRCODE_CANNOT_COERCE),
				 errmsg("a label must be of a type that can be cast to text")));
	ereport(ERROR,
			(errcode(ERRCODE_CANNOT_COERCE),
			 errmsg("a value must be a number, found %s", format_type_be(exprType(expression))),
			 errhint("Cast it, if the cast works for every row that there could be.")));
	return NULL;				/* not reached */
}

/* The raw expression, analyzed under the current search_path */
static Node *
analyze(ParseState *pstate, Node *raw, RaceExpressionUse use)
{
	Node	   *expression = transformExpr(pstate, raw, EXPR_KIND_OTHER);
	Oid			type = exprType(expression);

	/* a literal, as it would be in a subquery */
	if (type == UNKNOWNOID)
		expression = coerce_type(pstate, expression, type, TEXTOID, -1,
								 COERCION_IMPLICIT, COERCE_IMPLICIT_CAST, -1);
	return use == RACE_AS_RECORD ? expression : cast(pstate, expression, use);
}

/* The expression as text, the same in all sessions */
static char *
write_expression(Node *expression, Oid relation)
{
	List	   *context = deparse_context_for(get_rel_name(relation), relation);

	race_set_path(RACE_SAFE_PATH);
	race_set_plain();
	return deparse_expression(expression, context, false, false);
}

Node *
race_analyze_expression(ParseState *pstate, Oid relation, const char *text,
						const char *path, RaceExpressionUse use, char **written,
						RaceCalls *calls)
{
	ErrorContextCallback callback = {error_context_stack, add_context, (void *) text};
	RaceCalls	own = {NIL};
	Node	   *expression;
	int			level = NewGUCNestLevel();

	/* the parser does not look at interrupts */
	race_check_text(text, MAX_EXPRESSION, "an expression", NULL);
	error_context_stack = &callback;
	race_set_path(path);
	race_set("standard_conforming_strings", "on");
	/* the scanner quotes long identifiers in full */
	if (client_min_messages < WARNING)
		race_set("client_min_messages", "warning");
	expression = analyze(pstate, parse_alone(text), use);
	/* "people" by itself, a whole row, is written "people.*", which is no expression */
	if (IsA(expression, Var) && ((Var *) expression)->varattno == InvalidAttrNumber)
		expression = analyze(pstate,
							 parse_alone(psprintf("ROW(%s)", write_expression(expression, relation))),
							 use);
	race_calls_add(&own, expression);
	check_row_local(pstate, expression, &own);
	*written = write_expression(expression, relation);
	error_context_stack = callback.previous;
	AtEOXact_GUC(true, level);
	calls->functions = list_concat(calls->functions, own.functions);
	return expression;
}

/*
 * Rows that a release leaves out, as far as types and constants tell.
 *
 * A release leaves out rows that give no record, and does not tell how many, as that depends on the
 * data.  Expressions tell which rows those may be.  If it would be all, there is an error before the
 * charge.
 */

/* Places in the target list of the rows */
enum
{
	UNIT, RECORD, LABEL, VALUE
};

typedef struct Excluded
{
	const Query *rows;
	bool		one_part;		/* is the kernel no product? */
	List	   *where;			/* conditions, of String */
} Excluded;

static void pg_attribute_printf(2, 3)
add(Excluded *excluded, const char *format,...)
{
	StringInfoData text;
	va_list		arguments;

	initStringInfo(&text);
	va_start(arguments, format);
	(void) appendStringInfoVA(&text, format, arguments);
	va_end(arguments);
	excluded->where = list_append_unique(excluded->where, makeString(text.data));
}

/* A value may be NULL, or one that is no number. */
static void
add_values(Excluded *excluded, const char *value, bool nulls, bool nans, const char *nan)
{
	if (nulls && nans)
		add(excluded, strcmp(nan, "NaN") == 0 ? "%s is NULL or %s" : "%s is NULL, %s", value, nan);
	else if (nulls || nans)
		add(excluded, "%s is %s", value, nulls ? "NULL" : nan);
}

static void
refuse_excluded(const char *expected, const char *found)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("expected %s, found %s", expected, found),
			 errdetail("The release would leave out every row.")));
}

/* An expression of the target list, with constants computed */
static Node *
expression_at(const Excluded *excluded, int place)
{
	return eval_const_expressions(NULL, copyObject((Node *) list_nth_node(TargetEntry, excluded->rows->targetList,
																		 place)->expr));
}

/* ----------------------------------------------------------------- values */

/* What a cast is of: it has the same number of elements */
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

/* The same of any cast of PostgreSQL's own: it is NULL, or NaN, where its result is */
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
	ListCell   *cell;

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
			return !race_column_is_not_null(rt_fetch(((Var *) node)->varno, excluded->rows->rtable)->relid, ((Var *) node)->varattno);
		case T_CoalesceExpr:
			foreach(cell, ((CoalesceExpr *) node)->args)
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
		(void) race_vector_convert(reader, &elements, part,
								   palloc(elements.n * sizeof(double)), false);
}

/* Are all numbers clipped to bounds, so that none is infinite? */
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

/* What elements of a record are that do not count */
static void
add_elements(Excluded *excluded, const RaceParams *part, bool nulls, bool nans)
{
	bool		vector = race_record_kind(part) == RACE_RECORD_VECTOR;

	add_values(excluded, vector ? "a number" : "an element", nulls && part->nulls == 0,
			   nans && vector, is_clipped(part) ? "NaN" : "NaN or infinite");
}

/* ARRAY[...] */
static void
exclude_elements(Excluded *excluded, const RaceParams *part, const ArrayExpr *array)
{
	bool		nulls = false;
	bool		nans = false;
	ListCell   *cell;

	if (array->multidims)
		refuse_excluded("an array of one dimension", "one of several");
	check_length(part, list_length(array->elements));
	foreach(cell, array->elements)
	{
		Node	   *element = lfirst(cell);

		if (IsA(element, Const) && ((Const *) element)->constisnull && part->nulls == 0)
			refuse_excluded("an array without nulls", "a null element");
		nulls |= may_be_null(excluded, element);
		nans |= may_be_nan(element);
	}
	add_elements(excluded, part, nulls, nans);
}

/* A value of which the type alone is known; that of a vector may say its length */
static void
exclude_type(Excluded *excluded, const RaceParams *part, const RaceArrayReader *reader, Node *value)
{
	bool		array = reader->layout == RACE_LAYOUT_ARRAY;
	int32		typmod = exprTypmod(value);

	add_elements(excluded, part, array, array && race_type_has_nan(reader->element));
	(void) getBaseTypeAndTypmod(exprType(value), &typmod);
	if (!array && typmod > 0)
		check_length(part, typmod);
	else if (race_record_kind(part) != RACE_RECORD_SET)
		add(excluded, "the length is not %u", part->dims);
}

static void
exclude_part(Excluded *excluded, const RaceParams *part, Node *value)
{
	RaceArrayReader reader;
	Node	   *array = strip_array_casts(value);

	race_array_prepare(&reader, race_record_kind(part), exprType(value), CurrentMemoryContext);
	if (IsA(value, Const))
	{
		check_constant(&reader, part, (Const *) value);
		return;
	}
	if (may_be_null(excluded, value))
		add(excluded, excluded->one_part ? "the record is NULL" : "a part of the record is NULL");
	if (IsA(array, ArrayExpr) && !reader.has_cast)
		exclude_elements(excluded, part, (ArrayExpr *) array);
	else
		exclude_type(excluded, part, &reader, value);
}

static void
exclude_records(Excluded *excluded, const RaceParams *params)
{
	Node	   *record = expression_at(excluded, RECORD);
	const RaceParams *part = params;
	ListCell   *cell;

	excluded->one_part = race_params_parts(params) == 1;
	if (excluded->one_part)
		exclude_part(excluded, params, record);
	else if (IsA(record, RowExpr) && ((RowExpr *) record)->row_typeid == RECORDOID)
		foreach(cell, ((RowExpr *) record)->args)
		{
			exclude_part(excluded, part, lfirst(cell));
			part = race_params_next(part, params);
		}
	else
		add(excluded, "the record is NULL, or a part of it is NULL or not as declared");
}

/* ----------------------------------------------------- labels and the rest */

static bool
is_declared(Datum labels, Datum label)
{
	Datum	   *declared;
	int			n;

	deconstruct_array(DatumGetArrayTypeP(labels), TEXTOID, -1, false, TYPALIGN_INT, &declared,
					  NULL, &n);
	for (int i = 0; i < n; i++)
		if (DatumGetBool(DirectFunctionCall2Coll(texteq, C_COLLATION_OID, declared[i], label)))
			return true;
	return false;
}

static void
exclude_labels(Excluded *excluded, Datum labels)
{
	Node	   *label = strip_casts(expression_at(excluded, LABEL));

	if (IsA(label, Const) && exprType(label) == TEXTOID)
	{
		if (((Const *) label)->constisnull || !is_declared(labels, ((Const *) label)->constvalue))
			refuse_excluded("a declared label", "another constant");
		return;
	}
	if (exprType(label) == BOOLOID && !is_declared(labels, CStringGetTextDatum("true")) &&
		!is_declared(labels, CStringGetTextDatum("false")))
		refuse_excluded("labels true and false, as a boolean is written", "others");
	add(excluded, "the label is not declared");
}

static void
exclude_values(Excluded *excluded)
{
	Node	   *value = expression_at(excluded, VALUE);

	if (IsA(value, Const))
	{
		if (((Const *) value)->constisnull || isnan(DatumGetFloat8(((Const *) value)->constvalue)))
			refuse_excluded("a value", "NULL or NaN");
		return;
	}
	add_values(excluded, "the value", may_be_null(excluded, value), may_be_nan(value), "NaN");
}

/* The unit of a row, of which a series has a hash of its text */
static Node *
unit_of_row(const Excluded *excluded, const RaceAsked *asked)
{
	Node	   *unit = expression_at(excluded, UNIT);

	if (asked->series == 0 || !IsA(unit, FuncExpr))
		return unit;
	unit = llast(((FuncExpr *) unit)->args);
	return IsA(unit, CoerceViaIO) ? (Node *) ((CoerceViaIO *) unit)->arg : unit;
}

/* A, B, or C: conditions have "or" in them, too */
static char *
join(const List *conditions)
{
	StringInfoData text;
	ListCell   *cell;

	if (conditions == NIL)
		return NULL;
	initStringInfo(&text);
	foreach(cell, conditions)
		appendStringInfo(&text, "%s%s", cell == list_head(conditions) ? "" :
						 lnext(conditions, cell) == NULL ? ", or " : ", ", strVal(lfirst(cell)));
	return text.data;
}

char *
race_excluded(const RaceAsked *asked, const RaceChecked *checked)
{
	Excluded	excluded = {.rows = checked->rows};
	RaceAuthority before;

	/* to compute constants, functions are called */
	race_authority_begin(&before, checked->role);
	/* in a release by columns every row is a record, but for what the schema excludes */
	if (asked->domains == 0)
		exclude_records(&excluded, asked->params);
	if (asked->choose_labels && may_be_null(&excluded, expression_at(&excluded, LABEL)))
		add(&excluded, "the label is NULL");
	else if (asked->label != NULL && !asked->choose_labels)
		exclude_labels(&excluded, asked->labels);
	if (asked->value != NULL)
		exclude_values(&excluded);
	if (checked->dataset->unit_column != NULL && may_be_null(&excluded, unit_of_row(&excluded, asked)))
		add(&excluded, "unit column \"%s\" is NULL", checked->dataset->unit_column);
	if (asked->series != 0)
		add(&excluded, "column \"%s\" is NULL or not in the time of the series", asked->by);
	race_authority_end(&before);
	return join(excluded.where);
}
