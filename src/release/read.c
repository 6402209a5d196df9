/*
 * read.c
 *		The read phase of a release: the query runs, and noise is drawn.
 *
 * Exact sketches exist in the executor's memory only: as a sketch arrives, a private
 * one is made of it.  While the query runs, neither the client nor the log is told
 * anything, since a warning could show a record, and nothing is counted, since counts of
 * rows are exact.  The query has no identifier, so that extensions that collect
 * statistics do not see it.
 * Row-level security would make a row depend on what its policies look at, so a
 * query that it would change is an error, too.
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "nodes/plannodes.h"
#include "optimizer/optimizer.h"
#include "optimizer/plancat.h"
#include "optimizer/planner.h"
#include "rewrite/rewriteHandler.h"
#include "tcop/tcopprot.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "../privacy/privatize.h"
#include "../sketch/sketch.h"
#include "parts.h"
#include "read.h"
#include "settings.h"
#include "view.h"

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
	int			half;

	Assert(parts->sketches[i * parts->halves] == (Datum) 0);
	for (half = 0; half < parts->halves; half++)
	{
		race_check_exact(exact[half].header, "made private again");
		race_params_check_same(parts->params, exact[half].params);
	}
	race_private_sketches(exact, parts->halves, parts->noise, parts->context, sketches);
	for (half = 0; half < parts->halves; half++)
		parts->sketches[i * parts->halves + half] = RaceSketchGetDatum(sketches[half]);
}

/* The exact sketches in a column of the query */
static void
view_sketches(const Parts *parts, Datum column, RaceView *exact)
{
	HeapTupleHeader pair;
	bool		isnull;
	int			half;

	if (parts->halves == 1)
	{
		race_sketch_view_any(column, &exact[0]);
		return;
	}
	pair = DatumGetHeapTupleHeader(column);
	for (half = 0; half < parts->halves; half++)
		race_sketch_view(GetAttributeByNum(pair, half + 1, &isnull), &exact[half]);
}

/* A row (label, exact sketch or pair) of the query */
static bool
receive_row(TupleTableSlot *slot, DestReceiver *self)
{
	Parts	   *parts = (Parts *) self;
	RaceView	exact[RACE_HALVES];

	slot_getallattrs(slot);
	if (!slot->tts_isnull[1])
	{
		view_sketches(parts, slot->tts_values[1], exact);
		take_sketches(parts, slot->tts_isnull[0] ? 0 :
					  find_part(parts, slot->tts_values[0]), exact);
	}
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

/* What no record was found for is an empty sketch, to get noise like any other. */
static void
fill_parts(Parts *parts)
{
	MemoryContext context = AllocSetContextCreate(parts->context, "empty sketch",
												  ALLOCSET_START_SMALL_SIZES);
	RaceSketch *sketches[RACE_HALVES];
	RaceView	empty[RACE_HALVES];
	int			i;

	for (i = 0; i < parts->halves; i++)
		sketches[i] = race_sketch_create(parts->params, parts->params->rows, 1, context);
	if (parts->halves > 1)
	{
		race_sketch_make_halves(sketches[RACE_LOWER], sketches[RACE_UPPER]);
		race_mark_pair(sketches);
	}
	for (i = 0; i < parts->halves; i++)
		race_sketch_view_any(RaceSketchGetDatum(sketches[i]), &empty[i]);
	for (i = 0; i < parts->n; i++)
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
static void
set_quiet(void)
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
start_query(Query *query, bool of_partitions, DestReceiver *receiver, int flags)
{
	QueryDesc  *run;

	PushActiveSnapshot(GetTransactionSnapshot());
	run = CreateQueryDesc(plan_query(query, of_partitions), QUERY_NAME, GetActiveSnapshot(),
						  InvalidSnapshot, receiver, NULL, NULL, 0);
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
run_query(Query *query, bool of_partitions, DestReceiver *receiver)
{
	QueryDesc  *run = start_query(query, of_partitions, receiver, 0);
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

/* Relations with their partitions, and the tables that inherit from them */
static List *
with_parts(const List *relations)
{
	List	   *parts = NIL;
	ListCell   *cell;

	foreach(cell, relations)
		parts = list_concat_unique_oid(parts, find_all_inheritors(lfirst_oid(cell), NoLock, NULL));
	return parts;
}

void
race_read_check(RaceChecked *checked, Query *query, bool of_partitions)
{
	int			level = NewGUCNestLevel();
	QueryDesc  *run;
	List	   *others;

	set_uncounted();
	run = start_query(query, of_partitions, None_Receiver, EXEC_FLAG_EXPLAIN_ONLY);
	checked->parts = with_parts(checked->lineage->relations);
	checked->probes = race_parts_probes(run->planstate, checked->lineage->relations);
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

static void
run_probe(const RaceProbe *probe)
{
	ErrorContextCallback callback = {error_context_stack, add_place, probe->place};

	error_context_stack = &callback;
	(void) run_query(probe->query, true, None_Receiver);
	error_context_stack = callback.previous;
}

void
race_read_probe(const List *probes)
{
	int			level = NewGUCNestLevel();
	static bool hooked = false;
	ListCell   *cell;

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
		foreach(cell, probes)
			run_probe((const RaceProbe *) lfirst(cell));
	}
	PG_FINALLY();
	{
		probing = false;
	}
	PG_END_TRY();
	AtEOXact_GUC(true, level);
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

/* Run the query, and make what it gives private; *tables gets the tables that it reads. */
static Datum *
read_parts(Parts *parts, Query *query, bool of_partitions, const char *path, List **tables)
{
	MemoryContext context = CurrentMemoryContext;
	CommandDest client = whereToSendOutput;
	int			level = NewGUCNestLevel();

	PG_TRY();
	{
		set_quiet();
		race_set_path(path);
		/* INFO has no setting */
		whereToSendOutput = DestNone;
		*tables = list_concat_unique_oid(*tables, tables_of(run_query(query, of_partitions,
																	  &parts->receiver)));
		fill_parts(parts);
		whereToSendOutput = client;
	}
	PG_CATCH();
	{
		whereToSendOutput = client;
		hide_error(level, context);
	}
	PG_END_TRY();
	/* not committed: what functions have set while rows were read is undone, too */
	AtEOXact_GUC(false, level);
	return parts->sketches;
}

Datum *
race_read_private(const RaceAsked *asked, RaceChecked *checked, int n, Datum *labels)
{
	bool		apart = checked->parts_query != NULL;
	Parts		parts;

	start_parts(&parts, &checked->noise, asked->params, n, RaceHalvesOf(asked), labels);
	return read_parts(&parts, apart ? checked->parts_query : checked->query,
					  checked->of_partitions, asked->run_path, &checked->tables);
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
	return read_parts(&parts, checked->scores_query, false, asked->run_path, &checked->tables);
}
