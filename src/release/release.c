/*
 * release.c
 *		race_release, race_release_sketch and race_release_next: checked, charged, committed; then
 *		read, given noise, stored, committed
 *
 * A release is one procedure without public steps.  It commits its charge before it
 * reads anything, so that no rollback refunds what was seen.  What it checked stays in
 * memory, and the relations stay locked by the session, across the commit.  After the
 * commit the request is checked again, and it must have come out as the same query over
 * the same objects.  The right to draw noise is that this procedure has come so far.
 */
#include "postgres.h"

#include <math.h>

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "replication/syncrep.h"
#include "replication/walsender.h"
#include "replication/walsender_private.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/queryenvironment.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "hash/kernel.h"
#include "hash/moment_sums.h"
#include "release/columns.h"
#include "release/columns_measured.h"
#include "release/dataset.h"
#include "release/describe.h"
#include "release/excluded.h"
#include "hash/params.h"
#include "sketch/random.h"
#include "sketch/compat.h"
#include "sketch/params_draft.h"
#include "sketch/params_type.h"
#include "sketch/progress.h"
#include "sketch/text.h"
#include "sketch/value_columns.h"
#include "release/ledger.h"
#include "release/models.h"
#include "release/read.h"
#include "release/relations.h"
#include "release/release_plan.h"
#include "release/series_units.h"
#include "release/settings.h"
#include "release/decide.h"
#include "release/decide_columns.h"
#include "hash/kind.h"

PG_FUNCTION_INFO_V1(race_release);
PG_FUNCTION_INFO_V1(race_release_sketch);
PG_FUNCTION_INFO_V1(race_release_next);

/* Bytes of a name */
#define MAX_NAME ((Size) 1000)

/* The charge of a release */
typedef struct RaceCharge
{
	Datum id; /* uuid */
	TimestampTz at;
} RaceCharge;

/* The act of a release: who asks for what, and how far it is */
typedef struct RaceReleaseRun
{
	RaceLedger ledger;
	Oid caller;                 /* role that called the procedure */
	Oid role;                   /* role whose release it is, and whose right to read counts */
	Oid writer;                 /* role that made the first version, with its expressions */
	RaceReleaseRequest request; /* words of the caller, or of the request that the ledger has */
	RaceDataset *dataset;       /* dataset as it was looked up first */
	RaceReleasePlan *plan;      /* plan before the charge, or of a value of a series */
	RaceDescribed
		*described;      /* description that waits for bounds, in place of a release; or NULL */
	int version;         /* version that is made */
	Datum written;       /* jsonb: request as the ledger will keep it; equal requests are equal */
	RaceCharge charge;   /* charge that pays for it */
	Datum provenance;    /* jsonb: public facts of that charge, for race_label */
	char *chosen_notice; /* notice of what was chosen from private data, or NULL */
	char *chosen_detail; /* detail of that notice, or NULL */
	Datum value;         /* value of a release by columns that was stored, or 0 */
} RaceReleaseRun;

static RaceParameter
argument(const RaceReleaseRun *run, RaceArgument i)
{
	return race_argument(&run->ledger, &run->plan->request, i);
}

/* ------------------------------------------------------------ transactions */

/*
 * Raise 25001 where a release cannot commit, 25006 during recovery: a rollback would refund the
 * charge after the answer was seen.
 */
static void
check_context(FunctionCallInfo fcinfo)
{
	bool atomic = fcinfo->context == NULL || !IsA(fcinfo->context, CallContext) ||
		((CallContext *) fcinfo->context)->atomic;

	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("a release cannot be made during recovery"),
				 errhint("Make it on the primary server; it will appear here.")));
	if (atomic || IsTransactionBlock() || IsSubTransaction())
		ereport(
			ERROR,
			(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
			 errmsg(
				 "a release cannot be made inside a transaction block, a function or an exception block"),
			 errdetail(
				 "Its charge must be committed before any data are read, so that no rollback refunds it."),
			 errhint(
				 "CALL it as a statement of its own, with autocommit on: psycopg.connect(..., autocommit=True), or psql -c.")));
}

/*
 * Raise an error unless the last commit is where this level of synchronous_commit wants it.  A
 * cancel or a timeout ends the wait for a standby with a warning alone: rows would be read for a
 * charge that a failover loses.
 */
static void
check_replicated(int level)
{
	int mode = level >= SYNCHRONOUS_COMMIT_REMOTE_APPLY ? SYNC_REP_WAIT_APPLY :
		level >= SYNCHRONOUS_COMMIT_REMOTE_FLUSH        ? SYNC_REP_WAIT_FLUSH :
														  SYNC_REP_WAIT_WRITE;
	XLogRecPtr replicated;

	if (max_wal_senders == 0 || SyncRepStandbyNames == NULL || SyncRepStandbyNames[0] == '\0')
		return;
	LWLockAcquire(SyncRepLock, LW_SHARED);
	replicated = WalSndCtl->lsn[mode];
	LWLockRelease(SyncRepLock);
	if (replicated < XactLastCommitEnd)
		ereport(
			ERROR,
			(errcode(ERRCODE_QUERY_CANCELED),
			 errmsg("a commit of the release may not be on a standby"),
			 errdetail(
				 "The wait for synchronous_standby_names was canceled. No data were read after the commit."),
			 errhint(
				 "Ask for the release again, without a cancel or a timeout. It is charged again unless it was stored.")));
}

/*
 * Commit, and go on in a new transaction.  The commit is on disk, and on standbys that commits wait
 * for, before anything else is done.
 */
static void
commit_and_restart(void)
{
	bool waits =
		TransactionIdIsValid(GetTopTransactionIdIfAny()); /* other commits wait for no standby */
	int level;

	if (synchronous_commit <= SYNCHRONOUS_COMMIT_LOCAL_FLUSH)
		race_set_local("synchronous_commit", "on");
	level = synchronous_commit;
	SPI_commit();
	SPI_start_transaction();
	if (waits)
		check_replicated(level);
}

/*
 * Do the same in a transaction of the release.  At a higher level of isolation those who wait for
 * the budget would fail instead, and others would lose what they were charged.
 */
static void
next_transaction(const RaceReleaseRun *run)
{
	commit_and_restart();
	race_set_local("transaction_isolation", "read committed");
	/* a client that does not listen must not keep a budget locked */
	race_set_local("client_min_messages", "error");
	/* SET LOCAL ROLE ends with its transaction */
	if (GetUserId() != run->caller)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the role has changed during a release"),
				 errhint("SET ROLE for the session, not for the transaction.")));
}

/* Keep the definitions of relations as they are, across commits, until it is done. */
static void
lock_relations(const List *relations, bool lock)
{
	ListCell *cell;

	foreach (cell, relations)
	{
		LockRelId relation = {.relId = lfirst_oid(cell), .dbId = MyDatabaseId};

		if (lock)
			LockRelationIdForSession(&relation, AccessShareLock);
		else
			UnlockRelationIdForSession(&relation, AccessShareLock);
	}
}

/* -------------------------------------------------------------- the steps */

/* Find what a plan takes. */
static void
find_plan(const RaceReleaseRun *run, RaceReleasePlan *plan, RaceDataset *dataset)
{
	PushActiveSnapshot(GetTransactionSnapshot());
	race_release_plan_find(&run->ledger, plan, dataset, run->role);
	PopActiveSnapshot();
}

/* Return the dataset of a release as it is now, with the bound of the release. */
static RaceDataset *
dataset_now(const RaceReleaseRun *run)
{
	const RaceReleaseRequest *request = &run->plan->request;
	RaceDataset *dataset = race_dataset_look_up(&run->ledger, request->dataset);

	if (race_is_given(request, RACE_ARG_MAX_CONTRIBUTIONS))
		race_dataset_bound(dataset, request->max_contributions);
	return dataset;
}

/* Write the request in a form in which equal requests are equal: as the ledger keeps it. */
static void
write_request(RaceReleaseRun *run)
{
	RaceReleaseRequest kept = run->plan->request;
	RaceParameter parameters[RACE_ARGUMENTS];
	StringInfoData text;
	bool isnull;
	int n = 0;

	if (run->plan->domains == 0)
		kept.expression = run->plan->written.expression;
	kept.label = run->plan->written.label;
	kept.weight = run->plan->written.weight;
	kept.where = run->plan->written.where;
	initStringInfo(&text);
	for (int i = 0; i < RACE_ARGUMENTS; i++)
	{
		if (!race_arguments[i].kept)
			continue;
		parameters[n++] = race_argument(&run->ledger, &kept, i);
		appendStringInfo(&text, "%s'%s', $%d%s", n == 1 ? "" : ", ", race_arguments[i].name, n,
						 i == RACE_ARG_PARAMS ? "::text" : "");
	}
	race_ledger_run(&run->ledger,
					psprintf("SELECT jsonb_strip_nulls(jsonb_build_object(%s))", text.data), n,
					parameters);
	run->written = race_ledger_value(1, &isnull);
}

/*
 * What there is of a name: versions of a release, or values of a series; and a series of which
 * there is none so far, as version 0.  Its domains are in its request.
 */
#define OF_NAME \
	"(SELECT r.charge, _racepriv._race_domains(r.sketch) AS domains, r.version, r.part FROM _racepriv.race_releases r WHERE r.name = $1" \
	" UNION ALL SELECT s.charge, s.request->'domains', 0, 0 FROM _racepriv.race_charges s" \
	" WHERE s.act = 'release' AND s.request ? 'series' AND s.request->>'name' = $1) r"

/* Domains without the categories that a release chose */
#define DECLARED(domains) \
	"(SELECT jsonb_agg(CASE WHEN d ? 'chosen' THEN d - '{categories,cells,group,single,persons,persons_error,persons_least,persons_summed}'::text[] ELSE d END ORDER BY n)" \
	" FROM jsonb_array_elements(" domains ") WITH ORDINALITY e (d, n))"

/*
 * Return whether there is a release of that name, request and domains.  Raise 42710 if it has
 * others.
 */
static bool
release_exists(const RaceReleaseRun *run)
{
	RaceParameter parameters[] = {argument(run, RACE_ARG_NAME),
								  {JSONBOID, run->written, false},
								  {JSONBOID, run->plan->domains, run->plan->domains == 0}};
	bool isnull;

	race_ledger_run(
		&run->ledger,
		"SELECT coalesce(jsonb_strip_nulls(c.request - '{name,version,domains,chosen_delta}'::text[]) #- '{series,basis}' = $2 #- '{series,basis}', false)"
		" AND " DECLARED("r.domains") " IS NOT DISTINCT FROM " DECLARED(
			"$3") " FROM " OF_NAME " LEFT JOIN _racepriv.race_charges c ON c.charge = r.charge"
				  " ORDER BY r.version DESC, r.part, c.charged_at LIMIT 1",
		lengthof(parameters), parameters);
	if (SPI_processed == 0)
		return false;
	if (!DatumGetBool(race_ledger_value(1, &isnull)))
		ereport(
			ERROR,
			(errcode(ERRCODE_DUPLICATE_OBJECT),
			 errmsg("release \"%s\" exists, with another request", run->plan->request.name),
			 errhint(
				 "Choose another name, or race_release_next for a new version of the same request.")));
	ereport(NOTICE, (errmsg("release \"%s\" exists: nothing is charged", run->plan->request.name)));
	return true;
}

#if !defined(RACE_VERSION) || !defined(RACE_COMMIT)
#error "the Makefile states the version of the library and its commit"
#endif

/* Look up public facts of the charge, for the label of what it pays for. */
static void
read_provenance(RaceReleaseRun *run)
{
	RaceParameter parameters[] = {{UUIDOID, run->charge.id, false},
								  {JSONBOID, run->plan->sources, run->plan->sources == 0},
								  RaceText(RACE_VERSION " (" RACE_COMMIT ")")};
	bool isnull;

	race_ledger_run(&run->ledger, "SELECT _racepriv._race_provenance($1, $2, $3)",
					lengthof(parameters), parameters);
	run->provenance = race_ledger_value(1, &isnull);
}

/* Charge the budget, in a transaction that is committed before anything is read. */
static void
enter_charge(RaceReleaseRun *run)
{
	const RaceReleasePlan *plan = run->plan;
	double rho = race_release_plan_rho(plan);
	RaceParameter parameters[] = {
		argument(run, RACE_ARG_DATASET),
		argument(run, RACE_ARG_NAME),
		{INT4OID, Int32GetDatum(run->version), false},
		{JSONBOID, run->written, false},
		{FLOAT8OID, Float8GetDatum(rho), false},
		RaceText(plan->dataset->budget),
		{get_array_type(REGCLASSOID),
		 PointerGetDatum(race_oids_array(plan->lineage->private_tables)), false},
		race_ledger_role(run->role),
		{JSONBOID, run->plan->domains, run->plan->domains == 0 || run->plan->request.series == 0},
		{FLOAT8OID, Float8GetDatum(plan->choice.delta * list_length(plan->choice_queries)),
		 plan->choice_queries == NIL}};
	bool isnull;

	race_ledger_run(
		&run->ledger,
		"SELECT charge, charged_at FROM _racepriv._race_charge($1, $2, $3,"
		" $4 || jsonb_strip_nulls(jsonb_build_object('domains', $9, 'chosen_delta', $10)), $5, $6, $7, $8)",
		lengthof(parameters), parameters);
	run->charge.id = race_ledger_value(1, &isnull);
	run->charge.at = DatumGetTimestampTz(race_ledger_value(2, &isnull));
}

static void
refuse_changed(void)
{
	ereport(
		ERROR,
		(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
		 errmsg("what the release is made of was changed while it was made"),
		 errdetail(
			 "A function, a type, a partition or a right is not what was checked before the charge. The charge stands."),
		 errhint("CALL it again when nobody changes definitions.")));
}

/*
 * Return rows (part, label, sketch, scores) of all parts of a release: sketches, or moments, and
 * with them sketches of scores, or NULL.  They are a row store, since together they may be larger
 * than an array can be.
 */
static Tuplestorestate *
gather_parts(const RaceReleasePlan *plan, TupleDesc row, int n, const Datum *labels,
			 const Datum *sketches, const Datum *scores)
{
	Tuplestorestate *parts = tuplestore_begin_heap(false, false, work_mem);

	for (int i = 0; i < n; i++)
	{
		Datum values[] = {Int32GetDatum(i + 1), labels == NULL ? (Datum) 0 : labels[i], sketches[i],
						  scores == NULL ? (Datum) 0 : scores[i]};
		bool nulls[] = {false, labels == NULL, false, scores == NULL};

		CHECK_FOR_INTERRUPTS();
		if (plan->domains != 0)
			values[2] = race_columns_set(sketches[i], plan->domains);
		tuplestore_putvalues(parts, row, values, nulls);
		if (plan->domains != 0)
			pfree(DatumGetPointer(values[2]));
	}
	return parts;
}

/* Return the description of these rows. */
static TupleDesc
describe_parts(const RaceLedger *ledger)
{
	TupleDesc row = CreateTemplateTupleDesc(4);

	TupleDescInitEntry(row, 1, "part", INT4OID, -1, 0);
	TupleDescInitEntry(row, 2, "label", TEXTOID, -1, 0);
	TupleDescInitEntry(row, 3, "sketch", ledger->sketch_type, -1, 0);
	TupleDescInitEntry(row, 4, "scores", ledger->sketch_type, -1, 0);
	return row;
}

/* Store all parts of a release by one statement, to which their rows are a relation. */
static void
store_parts(const RaceReleaseRun *run, const RaceReleasePlan *plan, int n, const Datum *labels,
			const Datum *sketches, const Datum *scores)
{
	RaceParameter parameters[] = {argument(run, RACE_ARG_NAME),
								  {INT4OID, Int32GetDatum(run->version), false},
								  argument(run, RACE_ARG_DATASET),
								  {UUIDOID, run->charge.id, false},
								  {TIMESTAMPTZOID, TimestampTzGetDatum(run->charge.at), false},
								  argument(run, RACE_ARG_DESCRIPTION),
								  argument(run, RACE_ARG_COLUMNS),
								  argument(run, RACE_ARG_COLUMN_UNITS),
								  {TSRANGEOID, plan->interval.during, plan->interval.during == 0},
								  {JSONBOID, run->provenance, false}};
	EphemeralNamedRelationData relation = {.md = {.name = "parts",
												  .tupdesc = describe_parts(&run->ledger),
												  .enrtype = ENR_NAMED_TUPLESTORE,
												  .enrtuples = n}};
	Tuplestorestate *parts = gather_parts(plan, relation.md.tupdesc, n, labels, sketches, scores);

	relation.reldata = parts;
	if (SPI_register_relation(&relation) != SPI_OK_REL_REGISTER)
		elog(ERROR, "the parts of a release are a relation already");
	race_ledger_run(
		&run->ledger,
		"INSERT INTO _racepriv.race_releases"
		" (name, version, part, label, sketch, dataset, charge, released_at, description, columns, units, scores, during,"
		" provenance) SELECT $1, $2, p.part, p.label, p.sketch, $3, $4, $5, $6, $7, $8, p.scores,"
		" $9, CASE p.part WHEN 1 THEN $10 END FROM parts p ORDER BY p.part ON CONFLICT DO NOTHING",
		lengthof(parameters), parameters);
	if (SPI_processed != (uint64) relation.md.enrtuples)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("another session has stored release \"%s\" meanwhile", plan->request.name),
				 errdetail("The budget was charged and is not refunded.")));
	(void) SPI_unregister_relation(relation.md.name);
	tuplestore_end(parts);
}

/*
 * Raise 55000 if something was defined anew meanwhile, or if the release read other tables: all but
 * the public ones must belong to the budget that was charged.  A table can become a part of another
 * until the query is planned.  One that was a part before the charge may have no entry yet: another
 * session enters it now (_race_charge).
 */
static void
check_current(const RaceReleaseRun *run, const RaceReleasePlan *plan, const RaceReading *reading)
{
	List *tables = list_difference_oid(reading->tables, plan->dataset->public_tables);

	AcceptInvalidationMessages();
	if (!race_release_plan_is_current(plan) ||
		!race_dataset_has_tables(&run->ledger, plan->dataset, tables,
								 list_difference_oid(tables, run->plan->parts)))
		refuse_changed();
}

/* Return the labels that were chosen, and that of all others, in the order of the parts. */
static Datum
labels_with_other(Datum chosen)
{
	List *labels = lappend(race_texts_list(chosen), RACE_OTHER);

	list_sort(labels, race_texts_compare);
	return race_texts_array(labels);
}

/*
 * Set the categories of the first column whose categories are still to be chosen, with what was
 * measured of them.  Return its number.
 */
static int
set_categories(const RaceReleasePlan *plan, RaceDomain *domains, Datum chosen, const int64 *persons)
{
	List *list = race_texts_list(chosen);
	uint32 n = list_length(list);
	char **categories = palloc(n * sizeof(char *));
	int i = 0;

	/* bound: the columns, of which as many have categories to choose as there are choices */
	while (!domains[i].chosen || domains[i].categories != NULL)
		i++;
	domains[i].persons = palloc(n * sizeof(double));
	for (uint32 k = 0; k < n; k++)
	{
		categories[k] = list_nth(list, k);
		domains[i].persons[k] = (double) persons[k];
	}
	race_domain_set_categories(&domains[i], categories, n);
	domains[i].persons_error = sqrt(race_threshold_variance(&plan->choice.threshold));
	domains[i].persons_least = (double) plan->choice.threshold.least;
	domains[i].persons_summed = (double) plan->summed;
	return i;
}

/* Open the choices of a release, which leave of its budget what the plan counts with. */
static void
open_choices(const RaceReleasePlan *plan, RaceReading *reading)
{
	RaceChoicesBudget budget = {.epsilon = plan->request.epsilon,
								.delta = plan->request.delta,
								.rest_epsilon = plan->noise.epsilon,
								.rest_delta = plan->noise.delta};

	if (!race_choices_open(&reading->choices, race_strong_random(), &plan->choice.threshold,
						   (uint32_t) list_length(plan->choices), &budget))
		elog(ERROR, "choices cost more than the release");
}

/*
 * Read what nobody has listed, labels or categories of columns, and state it in another plan.
 * Private data decide through noisy numbers of persons alone, so all that follows is
 * post-processing.  These numbers are published with the categories.
 */
static void
read_choices(RaceReleaseRun *run, const RaceReleasePlan *plan, RaceReading *reading,
			 RaceReleasePlan *stated)
{
	int n = 0;
	RaceDomain *domains =
		plan->domains == 0 ? NULL : race_domains_read(DatumGetJsonbP(plan->domains), &n, true);
	StringInfoData told;

	open_choices(plan, reading);
	initStringInfo(&told);
	appendStringInfo(&told,
					 "release \"%s\" chose values that " INT64_FORMAT
					 " or more persons have, but for noise:",
					 plan->request.name, plan->choice.threshold.least);
	for (int i = 0; i < list_length(plan->choices); i++)
	{
		RaceColumnNumbers *numbers = palloc(sizeof(RaceColumnNumbers));
		int64 *persons;
		Datum values = race_read_chosen(plan, reading, i, &persons, numbers);

		if (domains == NULL)
			stated->labels = labels_with_other(values);
		else
			numbers->column = set_categories(plan, domains, values, persons);
		if (plan->summed > 0)
			reading->numbers = lappend(reading->numbers, numbers);
		appendStringInfo(&told, "%s %d of %s", i == 0 ? "" : ",", numbers->n,
						 (char *) list_nth(plan->choices, i));
	}
	if (domains != NULL)
		stated->domains = race_domains_datum(domains, n);
	run->chosen_notice = told.data;
}

/* Choose what nobody has listed.  Return the plan that states it. */
static RaceReleasePlan *
choose_unlisted(RaceReleaseRun *run, const RaceReleasePlan *plan, RaceReading *reading)
{
	RaceReleasePlan *stated = race_release_plan_again(plan);

	read_choices(run, plan, reading, stated);
	check_current(run, plan, reading);
	if (stated->domains != 0)
		race_plan_use_chosen_cells(stated);
	find_plan(run, stated, plan->dataset);
	if (!race_release_plan_same_objects(plan, stated) || !race_release_plan_is_current(plan))
		refuse_changed();
	return stated;
}

/* Read what the bounds of a column follow from, and describe it so. */
static void
describe_bounds(RaceReleaseRun *run, const RaceReleasePlan *plan, RaceReading *reading)
{
	RaceDescribed *described = run->described;
	RaceDescription *description = &described->description;
	const RaceSchemaColumn *column = &described->column;
	RaceBounds *bounds = &reading->bounds;
	Oid type = column->subject.type;

	(void) race_bounds_start(bounds, &plan->noise);
	bounds->whole = column->subject.whole;
	bounds->lower = column->facts.has_lower ? column->facts.lower : -INFINITY;
	bounds->upper = column->facts.has_upper ? column->facts.upper : INFINITY;
	race_read_bounds(plan, reading, type);
	check_current(run, plan, reading);
	if (!bounds->found)
	{
		run->chosen_notice = psprintf("%s: none were found, of so few values at this epsilon",
									  run->plan->request.name);
		run->chosen_detail = "Nothing was described, and the charge stands.";
		return;
	}
	description->has_bounds = true;
	description->lower = bounds->lower;
	description->upper = bounds->upper;
	race_column_describe(&run->ledger, &described->of, column->number, description);
	run->chosen_notice =
		psprintf("%s: %s to %s", run->plan->request.name, race_typed_text(type, bounds->lower),
				 race_typed_text(type, bounds->upper));
	run->chosen_detail = psprintf(
		"%.1f %% of all values are beyond them, give or take %.1f %%, and count as the bound.",
		100 * bounds->beyond, 100 * bounds->beyond_error);
}

/* Return the number of the next value, which nobody else makes until the transaction ends. */
static int
next_value(const RaceReleaseRun *run)
{
	RaceParameter parameter = {UUIDOID, run->charge.id, false};
	bool isnull;

	race_ledger_run(
		&run->ledger,
		"SELECT b.identity = _racepriv._race_identity() FROM _racepriv.race_charges c"
		" JOIN _racepriv.race_budgets b ON b.budget = c.budget WHERE c.charge = $1 FOR UPDATE OF c",
		1, &parameter);
	if (SPI_processed != 1 || !DatumGetBool(race_ledger_value(1, &isnull)))
		ereport(
			ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the budget of the series was last spent in another copy of this database"),
			 errhint(
				 "If this copy is to go on with it, and no other, CALL race_budget_adopt(dataset).")));
	/* a new statement sees what was stored while this session waited */
	race_ledger_run(
		&run->ledger,
		"SELECT coalesce(max(r.version), 0) + 1 FROM _racepriv.race_releases r WHERE r.charge = $1",
		1, &parameter);
	return DatumGetInt32(race_ledger_value(1, &isnull));
}

/* The row of race_series_units that counts the values of a series has this length and unit. */
#define VALUES_MADE "0, '00000000-0000-0000-0000-000000000000'::uuid"

/*
 * Count a value of a series: without its units, or after it was lost, no further one is made
 * (_race_check_invariants).
 */
static void
count_value(const RaceReleaseRun *run)
{
	RaceParameter name = RaceText(run->plan->request.name);

	race_ledger_run(
		&run->ledger,
		"INSERT INTO _racepriv.race_series_units AS s (name, length, unit, records) VALUES ($1, " VALUES_MADE
		", 1)"
		" ON CONFLICT (name, length, unit) DO UPDATE SET records = s.records + 1",
		1, &name);
}

/* Plan again after the commit of the charge; raise 55000 unless it is the same plan. */
static RaceReleasePlan *
plan_again(const RaceReleaseRun *run)
{
	RaceReleasePlan *plan = race_release_plan_again(run->plan);

	find_plan(run, plan, dataset_now(run));
	if (!race_release_plan_same(run->plan, plan))
		refuse_changed();
	return plan;
}

/* Read, draw noise, and store. */
static void
make_private(RaceReleaseRun *run, RaceReleasePlan *plan)
{
	RaceReading reading = {0};
	Datum *labels = NULL;
	Datum *sketches;
	Datum *scores = NULL;
	int n = 1;

	if (run->described != NULL)
	{
		describe_bounds(run, plan, &reading);
		return;
	}
	if (plan->choice_queries != NIL)
		plan = choose_unlisted(run, plan, &reading);
	if (plan->labels != 0)
		deconstruct_array(DatumGetArrayTypeP(plan->labels), TEXTOID, -1, false, TYPALIGN_INT,
						  &labels, NULL, &n);
	if (plan->units != NULL)
		race_units_load(plan->units, &run->ledger, plan->request.name, plan->interval.length);
	race_tell("release \"%s\": charged; reading, and drawing noise", plan->request.name);
	sketches = race_read_private(plan, &reading, n, labels);
	check_current(run, plan, &reading);
	for (int i = 0; i < n && plan->request.fit; i++)
	{
		race_tell("release \"%s\": fitting model %d of %d", plan->request.name, i + 1, n);
		sketches[i] = race_models->fit(sketches[i]);
	}
	if (plan->scores_query != NULL)
	{
		race_tell("release \"%s\": scoring records", plan->request.name);
		scores = race_read_scores(plan, &reading, n, labels, sketches);
		check_current(run, plan, &reading);
	}
	store_parts(run, plan, n, labels, sketches, scores);
	if (plan->domains != 0 && race_summary_kind(plan->params)->selected)
		run->value = race_columns_set(sketches[0], plan->domains);
	if (plan->units != NULL)
		race_units_store(plan->units, &run->ledger, plan->request.name, plan->interval.length);
}

/*
 * Refuse bounds and bandwidths that nobody can mean, and tell what charts a release will not have,
 * by its parameters alone.
 */
static void
check_limits(const RaceReleasePlan *plan)
{
	bool charted = true;

	for (const RaceParams *part = plan->params; part != NULL;
		 part = race_params_next(part, plan->params))
	{
		const double *lower = race_array(part, RACE_ARRAY_LOWER);
		const double *upper = race_array(part, RACE_ARRAY_UPPER);
		const double *scales = race_array(part, RACE_ARRAY_BANDWIDTHS);

		if ((race_kernel_type(part->kernel)->takes & RACE_TAKES_BANDWIDTH) == 0)
			continue;
		if ((lower == NULL) != (upper == NULL))
			ereport(
				ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the parameters of release \"%s\" have lower without upper, or the reverse",
						plan->request.name),
				 errdetail("Nothing was read and nothing charged."),
				 errhint(
					 "Give both, as in lower={0}, upper={120} for ages; or lower={0}, upper={Infinity}, if there is none.")));
		/* a matrix gives numbers another scale than the bounds have */
		for (uint32 i = 0;
			 i < part->dims && lower != NULL && race_array(part, RACE_ARRAY_MATRIX) == NULL; i++)
			if (part->bandwidth * (scales == NULL ? 1 : scales[i]) > upper[i] - lower[i])
				ereport(
					ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg(
						 "release \"%s\" would not tell records apart: the bandwidth is wider than the bounds of number %u",
						 plan->request.name, i + 1),
					 errdetail("Nothing was read and nothing charged."),
					 errhint("Give a bandwidth of a tenth of the bounds or less.")));
		for (uint32 i = 0; i < part->dims; i++)
			charted = charted && lower != NULL && isfinite(lower[i]) && isfinite(upper[i]);
	}
	if (!charted && race_params_parts(plan->params) == 1)
		ereport(
			NOTICE,
			(errmsg(
				 "release \"%s\" has densities, but no curves, quantiles or modes: its parameters lack bounds",
				 plan->request.name),
			 errhint(
				 "A release of another name, with lower and upper, has them; it is charged, too.")));
}

/* Tell what is left of the budget, which the ledger shows to those who release. */
static void
tell_left(const RaceReleaseRun *run)
{
	RaceParameter budget = RaceText(run->plan->dataset->budget);

	race_ledger_run(
		&run->ledger,
		"SELECT CASE accounting WHEN 'zcdp' THEN format('rho %s of %s', trim_scale(round(rho_limit - spent_rho, 6)), trim_scale(round(rho_limit, 6)))"
		" ELSE format('epsilon %s of %s', trim_scale(round(epsilon_limit - spent_epsilon, 6)), trim_scale(epsilon_limit)) END"
		" FROM _racepriv.race_budgets WHERE budget = $1",
		1, &budget);
	/* a superuser may have taken the budget away since */
	if (SPI_processed == 1)
		ereport(NOTICE,
				(errmsg("release \"%s\" is %s; left of budget \"%s\": %s", run->plan->request.name,
						run->plan->request.series != 0 ? "charged as a series" : "stored",
						run->plan->dataset->budget, race_ledger_text(1))));
}

/*
 * Make the next value of a series, in a transaction of its own.  The series has paid for it, so
 * nothing is committed between its plan and its reading: what was checked stays locked.  Return
 * whether it is made here, and not by another session.
 */
static bool
make_value(RaceReleaseRun *run)
{
	bool made;

	next_transaction(run);
	made = next_value(run) == run->version;
	if (made)
	{
		find_plan(run, run->plan, dataset_now(run));
		race_read_probe(run->plan);
		read_provenance(run);
		make_private(run, run->plan);
		count_value(run);
	}
	next_transaction(run);
	return made;
}

/*
 * Make all values of a series that are over, each in a transaction of its own: what was stored
 * before an error or a crash is not made again.  The series has paid for them.  Each value has a
 * connection to SPI of its own, whose end frees all that was allocated for it, results of
 * statements included.
 */
static void
make_values(RaceReleaseRun *run)
{
	MemoryContext outer = CurrentMemoryContext;
	RaceReleasePlan *series = run->plan;
	char *closes;
	bool over;
	int made = 0;

	series->interval.unit_key = run->charge.id;
	do /* bound: the values of a series, which are at most 9 times 65,536 */
	{
		CHECK_FOR_INTERRUPTS();
		if (SPI_connect_ext(SPI_OPT_NONATOMIC) != SPI_OK_CONNECT)
			elog(ERROR, "SPI_connect_ext failed");
		run->plan = race_release_plan_again(series);
		over = race_series_use(&run->ledger, run->plan->request.series, run->version,
							   &run->plan->interval, &closes);
		if (over)
			made += make_value(run);
		else if (closes != NULL)
			closes = MemoryContextStrdup(outer, closes);
		SPI_finish();
		run->version++;
	} while (over);
	run->plan = series;
	commit_and_restart();
	ereport(NOTICE,
			closes != NULL ?
				errmsg("series \"%s\": new values: %d; the next interval closes at %s UTC",
					   run->plan->request.name, made, closes) :
				errmsg("series \"%s\": new values: %d; all intervals are closed",
					   run->plan->request.name, made));
}

/* Tell what the stored value shows of its columns, at no cost: it is private. */
static void
tell_report(const RaceReleaseRun *run)
{
	char *summary = run->value == 0 ? NULL : race_models->summarize(run->value);

	if (summary != NULL)
		ereport(
			NOTICE,
			(errmsg(
				 "columns of release \"%s\" have values outside their lists, or heaped at bounds",
				 run->plan->request.name),
			 errdetail_internal("%s", summary),
			 errhint("SELECT * FROM race_report(%s) returns what to change.",
					 quote_literal_cstr(run->plan->request.name))));
}

static void
charge_and_make(RaceReleaseRun *run)
{
	List *relations = run->plan->lineage->relations;

	if (run->described == NULL)
	{
		/*
		 * an error if no row can give a record; of the first version, which rows may give none is
		 * told: no data decide it
		 */
		char *excluded = race_excluded(run->plan);

		if (excluded != NULL && run->version == 1)
			ereport(NOTICE,
					(errmsg("release \"%s\" leaves out rows on any of these conditions",
							run->plan->request.name),
					 errdetail_internal("%s", excluded)));
		if (run->version == 1 && run->plan->domains == 0)
			check_limits(run->plan);
	}
	race_read_probe(run->plan);
	lock_relations(relations, true);
	next_transaction(run);
	enter_charge(run);
	if (run->plan->request.series != 0)
	{
		commit_and_restart();
		lock_relations(relations, false);
		tell_left(run);
		return;
	}
	next_transaction(run);
	read_provenance(run);
	make_private(run, plan_again(run));
	commit_and_restart();
	lock_relations(relations, false);
	if (run->described == NULL)
		race_tell("release \"%s\": version %d is stored", run->plan->request.name, run->version);
	if (run->chosen_notice != NULL)
		ereport(NOTICE,
				(errmsg_internal("%s", run->chosen_notice),
				 run->chosen_detail != NULL ? errdetail_internal("%s", run->chosen_detail) : 0));
	tell_report(run);
	if (run->described == NULL)
		tell_left(run);
}

/* ----------------------------------------------------------------- procedures */

/*
 * Begin a release.  Its memory, which lasts across transactions, is in the context of this
 * connection.
 */
static void
begin_release(RaceReleaseRun *run, FunctionCallInfo fcinfo)
{
	check_context(fcinfo);
	if (SPI_connect_ext(SPI_OPT_NONATOMIC) != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect_ext failed");
	memset(run, 0, sizeof(RaceReleaseRun));
	race_ledger_open(&run->ledger, fcinfo);
	run->role = run->caller = GetUserId();
	run->version = 1;
	race_argument_set(&run->request, RACE_ARG_NAME, PG_GETARG_DATUM(0), PG_ARGISNULL(0));
	run->plan = palloc0(sizeof(RaceReleasePlan));
	run->plan->run_path = pstrdup(namespace_search_path);
}

/* Raise what is wrong with the name, and 22004 for arguments that are NULL. */
static void
check_given(const RaceReleaseRequest *request, const RaceArgument *needed, size_t n,
			const char *names)
{
	if (request->name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("a release needs a name"),
				 errhint("Analysts ask by it, as in 'visits 2026'.")));
	/* what does not fit into the index is known before the charge */
	race_check_text(request->name, MAX_NAME, "the name of a release", NULL);
	for (size_t i = 0; i < n; i++)
		if (!race_is_given(request, needed[i]))
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("%s must not be NULL", names),
					 errhint("Give each of them, as in epsilon => 1.")));
}

static void
make_unless_exists(RaceReleaseRun *run)
{
	find_plan(run, run->plan, run->dataset);
	write_request(run);
	if (!release_exists(run))
	{
		if (run->plan->size_notice != NULL)
			ereport(NOTICE,
					(errmsg_internal("%s", run->plan->size_notice),
					 run->plan->size_detail != NULL ?
						 errdetail_internal("%s", run->plan->size_detail) :
						 0));
		charge_and_make(run);
	}
	SPI_finish();
}

/* Look up the dataset of a release, whose relation the role may read. */
static void
look_up_dataset(RaceReleaseRun *run)
{
	run->dataset = dataset_now(run);
	race_check_may_read(run->dataset->relation, run->role);
}

/*
 * Release a sketch: race_release_sketch(name, dataset, params, expression, epsilon, ...).  Without
 * params and expression, release moments of columns.
 */
Datum
race_release_sketch(PG_FUNCTION_ARGS)
{
	static const RaceArgument needed[] = {RACE_ARG_DATASET, RACE_ARG_PARAMS, RACE_ARG_EXPRESSION,
										  RACE_ARG_EPSILON, RACE_ARG_DELTA};
	RaceReleaseRun run;
	RaceReleaseRequest *request = &run.request;
	bool vector;

	race_check_duty(fcinfo, "curator");
	begin_release(&run, fcinfo);
	for (int i = RACE_ARG_DATASET; i < PG_NARGS(); i++)
		race_argument_set(request, i, PG_GETARG_DATUM(i), PG_ARGISNULL(i));
	vector = request->name != NULL && race_is_given(request, RACE_ARG_DATASET) &&
		race_is_given(request, RACE_ARG_COLUMNS) && !race_is_given(request, RACE_ARG_PARAMS) &&
		!race_is_given(request, RACE_ARG_EXPRESSION);
	run.plan->request = *request;
	if (vector)
	{
		look_up_dataset(&run);
		race_plan_use_vector(&run.ledger, run.dataset, run.plan);
	}
	check_given(&run.plan->request, needed, lengthof(needed),
				vector ? "epsilon and delta" : "dataset, params, expression, epsilon and delta");
	if (!vector)
		look_up_dataset(&run);
	race_plan_decide(&run.ledger, run.dataset, run.plan);
	make_unless_exists(&run);
	PG_RETURN_VOID();
}

/*
 * Release columns of a dataset: race_release(name, dataset, columns, epsilon, delta, description,
 * measure, label, workload, series, weight, weight_max, where, max_contributions).
 */
Datum
race_release(PG_FUNCTION_ARGS)
{
	static const RaceArgument signature[] = {
		RACE_ARG_NAME,  RACE_ARG_DATASET,     RACE_ARG_COLUMNS, RACE_ARG_EPSILON,
		RACE_ARG_DELTA, RACE_ARG_DESCRIPTION, RACE_ARG_MEASURE};
	const int label = lengthof(signature);
	const int workload = lengthof(signature) + 1;
	static const RaceArgument others[] = {RACE_ARG_SERIES, RACE_ARG_WEIGHT, RACE_ARG_WEIGHT_MAX,
										  RACE_ARG_WHERE,
										  RACE_ARG_MAX_CONTRIBUTIONS}; /* after these two */
	RaceReleaseRun run;

	race_check_duty(fcinfo, "curator");
	begin_release(&run, fcinfo);
	for (int i = 1; i < (int) lengthof(signature); i++)
		race_argument_set(&run.request, signature[i], PG_GETARG_DATUM(i), PG_ARGISNULL(i));
	for (int i = workload + 1; i < PG_NARGS(); i++)
		race_argument_set(&run.request, others[i - workload - 1], PG_GETARG_DATUM(i),
						  PG_ARGISNULL(i));
	check_given(&run.request, signature, 5, "dataset, columns, epsilon and delta");
	run.plan->request = run.request;
	look_up_dataset(&run);
	race_plan_use_columns(&run.ledger, run.dataset, run.plan,
						  PG_ARGISNULL(label) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(label)),
						  PG_ARGISNULL(workload) ? (Datum) 0 : PG_GETARG_DATUM(workload));
	race_plan_decide(&run.ledger, run.dataset, run.plan);
	make_unless_exists(&run);
	PG_RETURN_VOID();
}

/* -------------------------------------------------------------------- bounds */

/*
 * Describe a column by bounds from noisy counts: charged, committed, then read, as a release.  A
 * column that has such bounds keeps them, and nothing is charged.
 */
Datum
race_describe_privately(FunctionCallInfo fcinfo, RaceDescribe *prepare)
{
	RaceReleaseRun run;
	RaceDescribed described = {0};
	RaceParameter request[3];
	bool isnull;

	begin_release(&run, fcinfo);
	prepare(fcinfo, &run.ledger, &described);
	run.described = &described;
	run.plan->request = run.request;
	run.plan->request.dataset = run.request.name;
	run.plan->request.given |= (uint32) 1 << RACE_ARG_DATASET;
	run.plan->bounds_column = pstrdup(quote_identifier(described.column.name));
	run.plan->bounds_nan = race_type_has_nan(described.column.subject.type);
	run.plan->request.epsilon = described.description.epsilon;
	run.plan->path = run.plan->run_path;
	run.plan->request.name = psprintf("bounds of column \"%s\"", described.column.name);
	request[0] = argument(&run, RACE_ARG_DATASET);
	request[1] = (RaceParameter) RaceText(described.column.name);
	request[2] = (RaceParameter){FLOAT8OID, Float8GetDatum(described.description.epsilon), false};
	race_ledger_run(
		&run.ledger,
		"SELECT (SELECT d.epsilon FROM _racepriv.race_descriptions d WHERE d.dataset = $1 AND d.column_name = $2"
		" ORDER BY d.revision DESC LIMIT 1) IS NOT NULL,"
		" jsonb_build_object('dataset', $1, 'bounds', $2, 'epsilon', $3, 'delta', 0)",
		lengthof(request), request);
	run.written = race_ledger_value(2, &isnull);
	if (DatumGetBool(race_ledger_value(1, &isnull)))
		ereport(NOTICE,
				(errmsg("column \"%s\" has bounds by noisy counts: nothing is charged",
						described.column.name),
				 errhint("To look for them again, CALL race_describe(%s, %s) first.",
						 quote_literal_cstr(run.plan->request.dataset),
						 quote_literal_cstr(described.column.name))));
	else
	{
		find_plan(&run, run.plan, dataset_now(&run));
		charge_and_make(&run);
	}
	SPI_finish();
	PG_RETURN_VOID();
}

/* -------------------------------------------------------------------- refresh */

/*
 * Raise 55000 for a release that was copied here without its charge, as to a database of analysts;
 * 42704 if there is none.
 */
static void
refuse_uncharged(const RaceReleaseRun *run)
{
	RaceParameter name = RaceText(run->request.name);

	race_ledger_run(&run->ledger, "SELECT FROM _racepriv.race_releases r WHERE r.name = $1 LIMIT 1",
					1, &name);
	if (SPI_processed == 0)
		race_named_refuse(run->request.name);
	ereport(
		ERROR,
		(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
		 errmsg("the charge of release \"%s\" is not in this database",
				race_cut(run->request.name)),
		 errdetail(
			 "Releases can be copied without the ledger. Their next versions are charged where it is."),
		 errhint("CALL race_release_next where the release was made.")));
}

/*
 * Read the latest version of a release, the role that made it (in another copy of the database by
 * its name; InvalidOid if a version without OIDs of roles made it), and the arguments of its
 * request.  Raise 42704 if there is none.
 */
static void
read_last(RaceReleaseRun *run)
{
	RaceParameter name = RaceText(run->request.name);
	StringInfoData columns;
	Datum writer;
	Datum chosen;
	bool isnull;
	int column = 7;

	initStringInfo(&columns);
	for (int i = 0; i < RACE_ARGUMENTS; i++)
		if (race_arguments[i].kept)
			appendStringInfo(&columns, "%s%s %s", columns.len == 0 ? "" : ", ",
							 quote_identifier(race_arguments[i].name), race_arguments[i].type_name);

	race_ledger_run(
		&run->ledger,
		psprintf(
			"SELECT r.version, CASE WHEN _racepriv._race_is_here(c.identity) THEN c.charged_by_id"
			" ELSE to_regrole(quote_ident(c.charged_by)) END, r.domains, c.charge,"
			" (SELECT coalesce(CASE WHEN _racepriv._race_is_here(w.identity) THEN w.charged_by_id ELSE to_regrole(quote_ident(w.charged_by)) END, 0::oid)"
			" FROM _racepriv.race_releases f JOIN _racepriv.race_charges w ON w.charge = f.charge WHERE f.name = $1 AND f.version = 1 AND f.part = 1),"
			" CASE WHEN c.request ? 'label' AND NOT c.request ? 'labels' THEN ARRAY(SELECT DISTINCT l.label COLLATE \"C\""
			" FROM _racepriv.race_releases l WHERE l.name = $1 AND l.version = r.version ORDER BY 1) END, q.*"
			" FROM " OF_NAME " JOIN _racepriv.race_charges c ON c.charge = r.charge,"
			" jsonb_to_record(c.request) q (%s)"
			" ORDER BY r.version DESC, r.part, c.charged_at LIMIT 1",
			columns.data),
		1, &name);
	if (SPI_processed == 0)
		refuse_uncharged(run);
	run->version = DatumGetInt32(race_ledger_value(1, &isnull)) + 1;
	run->role = DatumGetObjectId(race_ledger_value(2, &isnull));
	run->plan->domains = race_ledger_value(3, &isnull);
	run->charge.id = race_ledger_value(4, &isnull);
	/* that of the CALL, which tells nothing of how long reading takes */
	run->charge.at = GetCurrentStatementStartTimestamp();
	writer = race_ledger_value(5, &isnull);
	run->writer = isnull ? run->role : DatumGetObjectId(writer);
	chosen = race_ledger_value(6, &isnull);
	for (int i = 0; i < RACE_ARGUMENTS; i++)
	{
		Datum value;

		if (!race_arguments[i].kept)
			continue;
		value = race_ledger_value(column++, &isnull);
		race_argument_set(&run->request, i,
						  i == RACE_ARG_PARAMS ?
							  race_ledger_params(&run->ledger, TextDatumGetCString(value)) :
							  value,
						  isnull);
	}
	run->plan->request = run->request;
	race_plan_use_request(run->plan, RACE_SAFE_PATH);
	/* this version counts what the first one chose */
	if (RaceLabelsArePrivate(run->plan))
		run->plan->labels = chosen;
	if (run->plan->domains != 0 && race_summary_kind(run->plan->params)->selected)
		race_plan_use_chosen_cells(run->plan);
}

/*
 * Go on as the role that made the last version, if the caller may act for it, and it may still make
 * releases.  A release belongs to its dataset: the owner of the relation, and whoever may act for
 * her, can take it over.
 */
static void
become_maker(RaceReleaseRun *run, Oid procedure)
{
	char *maker = GetUserNameFromId(run->role, true);
	Oid owner;

	if (maker != NULL && race_may_set_role(run->caller, run->role))
	{
		if (!race_has_duty(procedure, run->role))
			aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_PROCEDURE, get_func_name(procedure));
		return;
	}
	owner = race_owner_of(run->dataset->relation);
	if (!race_may_set_role(run->caller, owner))
		ereport(
			ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied to refresh release \"%s\"",
					race_cut(run->plan->request.name)),
			 maker == NULL ?
				 errdetail("The role that made its last version does not exist in this database.") :
				 errdetail("Its last version was made by role \"%s\", whose release it is.", maker),
			 errhint(
				 "Role %s, the relation's owner or a superuser can CALL race_release_next(%s); others make their own release.",
				 quote_identifier(GetUserNameFromId(owner, false)),
				 quote_literal_cstr(race_cut(run->plan->request.name)))));
	run->role = owner;
}

/*
 * Make the next version of a release, for the role that made it, or the owner of the relation:
 * race_release_next(name).
 */
Datum
race_release_next(PG_FUNCTION_ARGS)
{
	RaceReleaseRun run;

	race_check_duty(fcinfo, "curator");
	begin_release(&run, fcinfo);
	check_given(&run.request, NULL, 0, NULL);
	read_last(&run);
	run.dataset = dataset_now(&run);
	become_maker(&run, fcinfo->flinfo->fn_oid);
	run.plan->taken_over = run.role != run.writer;
	if (run.plan->domains != 0)
		run.plan->sources = race_columns_check_again(&run.ledger, run.dataset,
													 run.plan->request.name, run.plan->domains);
	if (run.plan->request.series != 0)
		make_values(&run);
	else
	{
		find_plan(&run, run.plan, run.dataset);
		write_request(&run);
		charge_and_make(&run);
	}
	SPI_finish();
	PG_RETURN_VOID();
}
