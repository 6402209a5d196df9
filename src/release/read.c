/*
 * read.c
 *		Reading the records of a release
 */
#include "postgres.h"

#include <math.h>

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
#include "rewrite/rewriteHandler.h"
#include "tcop/tcopprot.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"
#include "utils/syscache.h"

#include "hash/column.h"
#include "hash/kernel.h"
#include "hash/params.h"
#include "sketch/array_reader.h"
#include "sketch/authority.h"
#include "sketch/domain.h"
#include "release/privatize.h"
#include "sketch/params_type.h"
#include "sketch/random.h"
#include "sketch/record.h"
#include "sketch/sketch.h"
#include "sketch/text.h"
#include "release/lineage.h"
#include "release/read.h"
#include "release/settings.h"
#include "release/remote.h"
#include "privacy/account.h"
#include "privacy/count.h"
#include "privacy/exact.h"

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
#define QUERY_NAME "the records of a release"

/* The parts of a release: one for each declared label, or one */
typedef struct Parts
{
	DestReceiver receiver; /* first, so that it is the whole */
	const RaceRequest *noise;
	const RaceParams *params; /* parameters, which sketches of other servers must have, too */
	int n;                    /* labels, or 1 */
	Datum *labels;            /* labels, or NULL */
	Datum *sketches;          /* [n]: private, or 0 while none has arrived */
	const List *chosen;    /* RaceColumnNumbers * of columns whose numbers were measured already */
	MemoryContext context; /* memory context of the private sketches */
} Parts;

/* ------------------------------------------------------------------ parts */

/* Order labels as the collation "C" does. */
static int
compare_labels(const void *a, const void *b)
{
	return DatumGetInt32(DirectFunctionCall2Coll(bttextcmp, C_COLLATION_OID, *(const Datum *) a,
												 *(const Datum *) b));
}

static int
find_part(const Parts *parts, Datum label)
{
	Datum *found = parts->labels == NULL ?
		NULL :
		bsearch(&label, parts->labels, parts->n, sizeof(Datum), compare_labels);

	if (found == NULL)
		elog(ERROR, "a label came back that was not asked for");
	return found - parts->labels;
}

/* Make the sketch of a label private. */
static void
take_sketch(Parts *parts, int i, const RaceView *exact)
{
	RaceSketch *sketch;
	ListCell *cell;

	Assert(parts->sketches[i] == (Datum) 0);
	race_check_exact(exact->header, "made private again");
	race_params_check_same(parts->params, exact->params);
	sketch = race_private_sketch(exact, parts->noise, parts->context);
	foreach (cell, parts->chosen)
		race_combine_column(sketch, lfirst(cell));
	parts->sketches[i] = RaceSketchGetDatum(sketch);
}

/* Receive a row (label, exact sketch) of the query. */
static bool
receive_row(TupleTableSlot *slot, DestReceiver *self)
{
	Parts *parts = (Parts *) self;
	RaceView exact;

	slot_getallattrs(slot);
	if (slot->tts_isnull[1])
		return true;
	race_sketch_view_any(slot->tts_values[1], &exact);
	take_sketch(parts, slot->tts_isnull[0] ? 0 : find_part(parts, slot->tts_values[0]), &exact);
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

/* Give a label without records an empty sketch, with noise like any other. */
static void
fill_parts(Parts *parts)
{
	MemoryContext context =
		AllocSetContextCreate(parts->context, "empty sketch", ALLOCSET_START_SMALL_SIZES);
	RaceSketch *sketch = race_sketch_create(parts->params, parts->params->rows, 1, context);
	RaceView empty;

	sketch->header.noise.max_contributions = race_largest_weight(parts->noise);
	race_sketch_view_any(RaceSketchGetDatum(sketch), &empty);
	for (int i = 0; i < parts->n; i++)
		if (parts->sketches[i] == (Datum) 0)
			take_sketch(parts, i, &empty);
}

static void
start_parts(Parts *parts, const RaceRequest *noise, const RaceParams *params, int n, Datum *labels)
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
	parts->labels = labels;
	parts->sketches = palloc0(n * sizeof(Datum));
	parts->context = CurrentMemoryContext;
}

/* ------------------------------------------------------------------ query */

/*
 * Return the plan of a query.  Without pg_plan_query, nothing of the plan is logged, which may hold
 * estimates that are exact counts.
 */
static PlannedStmt *
plan_query(Query *query, bool of_partitions)
{
	/* the rewriter and the planner change what they get */
	List *rewritten = QueryRewrite(copyObject(query));
	PlannedStmt *plan = planner(linitial_node(Query, rewritten), QUERY_NAME, 0, NULL);

	if (of_partitions)
		race_parts_need_no_rights(plan);
	return plan;
}

static QueryDesc *
start_query(Query *query, bool of_partitions, QueryEnvironment *environment, DestReceiver *receiver,
			int flags)
{
	QueryDesc *run;

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

/* Run a query; return its plan. */
static PlannedStmt *
run_query(Query *query, bool of_partitions, QueryEnvironment *environment, DestReceiver *receiver)
{
	QueryDesc *run = start_query(query, of_partitions, environment, receiver, 0);
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

/* Return the tables of a plan, which has views in its range table, too. */
static List *
tables_of(const PlannedStmt *plan)
{
	List *tables = NIL;
	ListCell *cell;

	foreach (cell, plan->rtable)
	{
		RangeTblEntry *entry = lfirst_node(RangeTblEntry, cell);

		if (entry->rtekind == RTE_RELATION && entry->relkind != RELKIND_VIEW)
			tables = list_append_unique_oid(tables, entry->relid);
	}
	return tables;
}

/*
 * Casts that fail on a row would come after the charge: from text and jsonb to other types, to
 * numbers that have no room for all values, and to SQL domains with constraints.  What stands in a
 * branch of CASE is guarded by its condition.
 */

/*
 * Set how many digits a type of numbers has before the point, at most, and keeps after it; return
 * false for other types.
 */
static bool
digits_of(Oid type, int32 typmod, int *whole, int *fraction)
{
	*fraction = type == INT2OID || type == INT4OID || type == INT8OID ? 0 : PG_INT16_MAX;
	switch (type)
	{
		case INT2OID:
			*whole = 5;
			return true;
		case INT4OID:
			*whole = 10;
			return true;
		case INT8OID:
			*whole = 19;
			return true;
		case FLOAT4OID:
			*whole = 39;
			return true;
		case FLOAT8OID:
			*whole = 309;
			return true;
		case NUMERICOID:
			*whole = PG_INT16_MAX;
			if (typmod >= (int32) VARHDRSZ)
			{
				*fraction = (((typmod - VARHDRSZ) & 0x7ff) ^ 1024) - 1024;
				*whole = ((typmod - VARHDRSZ) >> 16 & 0xffff) - *fraction;
			}
			return true;
		default:
			return false;
	}
}

/*
 * Return whether a cast between types of numbers can overflow.  It is assumed that floats have room
 * for all numbers of a table.
 */
static bool
may_overflow(Node *from, Node *to)
{
	int32 typmod = exprTypmod(from);
	Oid type = getBaseTypeAndTypmod(exprType(from), &typmod);
	int whole;
	int fraction;
	int room;
	int kept;

	if (!digits_of(type, typmod, &whole, &fraction) ||
		!digits_of(exprType(to), exprTypmod(to), &room, &kept) || exprType(to) == FLOAT4OID ||
		exprType(to) == FLOAT8OID || room == PG_INT16_MAX)
		return false;
	/*
	 * rounding may add a digit, and not all numbers with as many digits as integers have are
	 * integers
	 */
	return whole + (fraction > kept) > room - (exprType(to) != NUMERICOID);
}

/* Return whether an expression is a cast by a function. */
static bool
is_cast(Node *node)
{
	return IsA(node, FuncExpr) &&
		(((FuncExpr *) node)->funcformat == COERCE_EXPLICIT_CAST ||
		 ((FuncExpr *) node)->funcformat == COERCE_IMPLICIT_CAST);
}

/* Return the argument of a cast that may fail; NULL for other expressions. */
static Node *
cast_argument(Node *node)
{
	Node *argument;
	Oid from;

	if (IsA(node, CoerceToDomain))
		return DomainHasConstraints(((CoerceToDomain *) node)->resulttype) ?
			(Node *) ((CoerceToDomain *) node)->arg :
			NULL;
	if (IsA(node, CoerceViaIO))
		return TypeCategory(((CoerceViaIO *) node)->resulttype) == TYPCATEGORY_STRING ?
			NULL :
			(Node *) ((CoerceViaIO *) node)->arg;
	if (!is_cast(node))
		return NULL;
	argument = linitial(((FuncExpr *) node)->args);
	from = getBaseType(exprType(argument));
	if ((TypeCategory(from) == TYPCATEGORY_STRING &&
		 TypeCategory(exprType(node)) != TYPCATEGORY_STRING) ||
		from == JSONBOID)
		return argument;
	/* to numeric(5,2), integers go by way of numeric */
	if (is_cast(argument) && exprType(argument) == NUMERICOID && exprTypmod(argument) < 0)
		argument = linitial(((FuncExpr *) argument)->args);
	return may_overflow(argument, node) ? argument : NULL;
}

static bool
refuse_casts(Node *node, void *relation)
{
	Node *argument = node == NULL ? NULL : cast_argument(node);
	ListCell *cell;

	if (node == NULL)
		return false;
	if (argument != NULL)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("a cast from %s to %s can fail while rows of \"%s\" are read",
					format_type_with_typemod(exprType(argument), exprTypmod(argument)),
					format_type_with_typemod(exprType(node), exprTypmod(node)),
					(const char *) relation),
			 errdetail(
				 "The budget would be charged before it fails. Nothing was read and nothing charged."),
			 TypeCategory(getBaseType(exprType(argument))) == TYPCATEGORY_NUMERIC ?
				 errhint(
					 "Leave the cast out, or cast only what fits, for example CASE WHEN x BETWEEN 0 AND 999 THEN x::int END.") :
				 errhint(
					 "Cast only what can be cast, for example CASE WHEN x ~ '^[0-9]{1,9}$' THEN x::int END.")));
	if (!IsA(node, CaseExpr))
		return expression_tree_walker(node, refuse_casts, relation);
	foreach (cell, ((CaseExpr *) node)->args)
		(void) refuse_casts((Node *) lfirst_node(CaseWhen, cell)->expr, relation);
	return refuse_casts((Node *) ((CaseExpr *) node)->arg, relation);
}

/* Do the same for all expressions of a plan. */
static bool
refuse_casts_of_plan(PlanState *state, void *relation)
{
	Plan *plan = state->plan;

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
race_read_check(RaceReleasePlan *plan, Query *query, bool of_partitions)
{
	int level = NewGUCNestLevel();
	QueryDesc *run;
	List *others;
	ListCell *cell;

	race_set_uncounted();
	run = start_query(query, of_partitions, race_units_environment(plan->units), None_Receiver,
					  EXEC_FLAG_EXPLAIN_ONLY);
	/* with partitions, and the tables that inherit from them */
	plan->parts = NIL;
	foreach (cell, plan->lineage->relations)
		plan->parts = list_concat_unique_oid(plan->parts,
											 find_all_inheritors(lfirst_oid(cell), NoLock, NULL));
	plan->probes = race_parts_probes(run->planstate, plan->lineage->relations);
	(void) refuse_casts_of_plan(run->planstate, get_rel_name(plan->dataset->relation));
	/* the planner replaces a function in FROM by its body, which may read tables */
	others = list_difference_oid(tables_of(run->plannedstmt), plan->parts);
	if (others != NIL)
		race_refuse_relation(
			plan->dataset->relation,
			psprintf("A function that it calls reads table \"%s\", which is not in its FROM.",
					 get_rel_name(linitial_oid(others))));
	end_query(run);
	AtEOXact_GUC(true, level);
}

/* ----------------------------------------------------------------- probes */

static get_relation_info_hook_type next_info = NULL;
static bool probing = false;

/*
 * Let the planner expect many rows: of one row, by estimate, it may limit the number here and not
 * ask the server.
 */
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
race_read_probe(const RaceReleasePlan *plan)
{
	static bool hooked = false;
	RaceAuthority before;
	ListCell *cell;

	race_authority_begin(&before, plan->role);

	race_set_uncounted();
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
		foreach (cell, plan->probes)
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
 * Hide an error of a query that reads records.  What an error says, and where, can depend on the
 * records, so nothing of it is passed on.  That there was one is a bit of the data: the charge pays
 * for it.
 */
static void
hide_error(int level, MemoryContext context)
{
	int code = geterrcode();

	MemoryContextSwitchTo(context);
	FlushErrorState();
	AtEOXact_GUC(false, level);
	/* temporary files are closed when the transaction is */
	race_set_local("log_temp_files", "-1");
	race_set_local("track_counts", "off");
	ereport(
		ERROR,
		(errcode(code == ERRCODE_QUERY_CANCELED ? code : ERRCODE_DATA_EXCEPTION),
		 errmsg("the release failed while its data were read"),
		 errdetail(
			 "What happened may depend on private data, so it is not told. The charge stands."),
		 errhint(
			 "Check that the expression works on every possible row, and that all servers of the relation answer.")));
}

/* Run a query of a request, and make what it gives private.  Parts may be NULL. */
static void
read_quietly(DestReceiver *receiver, Parts *parts, const RaceReleasePlan *plan,
			 RaceReading *reading, Query *query, bool of_partitions)
{
	MemoryContext context = CurrentMemoryContext;
	CommandDest client = whereToSendOutput;
	int level = NewGUCNestLevel();
	RaceAuthority before;

	race_authority_begin(&before, plan->role);
	PG_TRY();
	{
		race_set_quiet();
		race_set_path(plan->run_path);
		/* INFO has no setting */
		whereToSendOutput = DestNone;
		reading->tables = list_concat_unique_oid(
			reading->tables,
			tables_of(
				run_query(query, of_partitions, race_units_environment(plan->units), receiver)));
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
race_read_private(const RaceReleasePlan *plan, RaceReading *reading, int n, Datum *labels)
{
	bool apart = plan->parts_query != NULL;
	Parts parts;

	start_parts(&parts, &plan->noise, plan->params, n, labels);
	parts.chosen = reading->numbers;
	read_quietly(&parts.receiver, &parts, plan, reading, apart ? plan->parts_query : plan->query,
				 plan->of_partitions);
	return parts.sketches;
}

Datum *
race_read_scores(const RaceReleasePlan *plan, RaceReading *reading, int n, Datum *labels,
				 Datum *sketches)
{
	Oid type = get_element_type(plan->scored_by->consttype);
	Parts parts;

	plan->scored_by->constvalue =
		PointerGetDatum(construct_array(sketches, n, type, -1, false, TYPALIGN_DOUBLE));
	plan->scored_by->constisnull = false;
	start_parts(&parts, &plan->scores_noise, race_params_arg(plan->scores_params), n, labels);
	read_quietly(&parts.receiver, &parts, plan, reading, plan->scores_query, false);
	return parts.sketches;
}

/* A value that passes, the noisy number of its persons, and how many records more these have */
typedef struct Chosen
{
	Datum value; /* text */
	int64 noisy;
	int64 further;
} Chosen;

/*
 * The values of a column, or labels, that are chosen as they arrive with their numbers of persons.
 * Of more than `most` those of most persons are kept, so that memory does not depend on how many
 * there are.
 */
typedef struct Choice
{
	DestReceiver receiver; /* first, so that it is the whole */
	RaceChoices *choices;  /* of the release; this one has begun */
	MemoryContext context;
	Chosen *values; /* [2 * most + 1] */
	int n;
	int most;
} Choice;

static int
compare_persons(const void *a, const void *b)
{
	const Chosen *left = a;
	const Chosen *right = b;

	return left->noisy != right->noisy ? (left->noisy < right->noisy ? 1 : -1) :
										 compare_labels(&left->value, &right->value);
}

/* Put the values of most persons first, and drop those that are too many. */
static void
keep_most(Choice *choice)
{
	qsort(choice->values, choice->n, sizeof(Chosen), compare_persons);
	for (; choice->n > choice->most; choice->n--)
		pfree(DatumGetPointer(choice->values[choice->n - 1].value));
}

/* Receive a row (value, persons, further records) of the query. */
static bool
receive_value(TupleTableSlot *slot, DestReceiver *self)
{
	Choice *choice = (Choice *) self;
	Chosen chosen;
	MemoryContext caller;

	slot_getallattrs(slot);
	if (!race_threshold_passes(choice->choices, DatumGetInt64(slot->tts_values[1]), &chosen.noisy))
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
race_read_chosen(const RaceReleasePlan *plan, RaceReading *reading, int i, int64 **persons,
				 RaceColumnNumbers *numbers)
{
	Choice choice = {.receiver = {receive_value, start_rows, end_rows, end_rows, DestNone},
					 .choices = &reading->choices,
					 .context = CurrentMemoryContext,
					 .most = plan->max_categories};
	Datum *values;

	if (!race_choices_begin(&reading->choices))
		elog(ERROR, "a choice is not paid for");
	choice.values = palloc((2 * (Size) choice.most + 1) * sizeof(Chosen));
	read_quietly(&choice.receiver, NULL, plan, reading,
				 list_nth_node(Query, plan->choice_queries, i), false);
	keep_most(&choice);
	qsort(choice.values, choice.n, sizeof(Chosen), compare_chosen);
	values = palloc(choice.n * sizeof(Datum));
	numbers->n = choice.n;
	numbers->variance =
		race_threshold_variance(&plan->choice.threshold) * (double) Max(plan->summed, 1);
	numbers->numbers = palloc(choice.n * sizeof(int64));
	*persons = palloc(choice.n * sizeof(int64));
	for (int k = 0; k < choice.n; k++)
	{
		values[k] = choice.values[k].value;
		CHECK_FOR_INTERRUPTS();
		numbers->numbers[k] = race_threshold_records(
			&reading->choices, plan->summed, choice.values[k].noisy, choice.values[k].further);
		(*persons)[k] = choice.values[k].noisy;
	}
	return PointerGetDatum(construct_array(values, choice.n, TEXTOID, -1, false, TYPALIGN_INT));
}

/* Counts of the values of a column while its bounds are looked for */
typedef struct Histogram
{
	DestReceiver receiver; /* first, so that it is the whole */
	const RaceBounds *bounds;
	Oid type;
	RaceShape shape;
	int64 counters[RACE_BOUNDS_COUNTERS];
} Histogram;

/* Receive a row (value) of the query. */
static bool
receive_number(TupleTableSlot *slot, DestReceiver *self)
{
	Histogram *histogram = (Histogram *) self;
	int i;

	slot_getallattrs(slot);
	i = race_bounds_counter(histogram->bounds,
							race_number_of(histogram->type, slot->tts_values[0]));
	if (i >= 0)
	{
		uint32 counter = (uint32) i;

		race_count_rows((RaceCounterArray){histogram->counters, sizeof(int64)}, &counter, 1, 1,
						histogram->shape.range, 1);
	}
	return true;
}

void
race_read_bounds(const RaceReleasePlan *plan, RaceReading *reading, Oid type)
{
	Histogram *histogram = palloc(sizeof(Histogram));
	int64 noisy[RACE_BOUNDS_COUNTERS];
	RaceExactMemory memory;
	RaceExact *exact;
	RaceAccount account;

	race_account_open(&account, race_strong_random(), &plan->noise, 1);
	/* bound: RACE_BOUNDS_STAGES */
	do
	{
		*histogram =
			(Histogram){.receiver = {receive_number, start_rows, end_rows, end_rows, DestNone},
						.bounds = &reading->bounds,
						.type = type};
		race_bounds_shape(&reading->bounds, &histogram->shape);
		read_quietly(&histogram->receiver, NULL, plan, reading, plan->query, false);
		exact = race_exact_begin(&memory, &histogram->shape);
		race_exact_add(exact, histogram->counters, sizeof(int64), 0, 1);
	} while (race_bounds_read(&reading->bounds, &account, exact, noisy));
	pfree(histogram);
}
