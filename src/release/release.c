/*
 * release.c
 *		race_release, race_release_sketch and race_release_next: checked, charged, committed; then read,
 * given noise, stored, committed.
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
#include "utils/snapmgr.h"

#include "hash/moment_sums.h"
#include "sketch/params.h"
#include "sketch/server.h"
#include "release/ledger.h"
#include "release/read.h"
#include "release/release.h"
#include "release/request.h"
#include "release/series_units.h"
#include "hash/kind.h"

PG_FUNCTION_INFO_V1(race_release);
PG_FUNCTION_INFO_V1(race_release_columns);
PG_FUNCTION_INFO_V1(race_release_next);

/* Bytes of a name */
#define MAX_NAME	((Size) 1000)

typedef struct Release
{
	RaceLedger	ledger;
	Oid			caller;			/* who called the procedure */
	Oid			role;			/* whose release it is, and whose right to read counts */
	Oid			writer;			/* who made the first version, with its expressions */
	RaceAsked	asked;
	int			version;
	RaceChecked *checked;
	Datum		declared;		/* race_params before the categories of the first version were chosen, or 0 */
	Datum		request;		/* jsonb: equal requests are equal */
	char	   *told;			/* how large a release by columns is, or NULL */
	char	   *told_chosen;	/* what it chose, or NULL */
	const RaceDescribed *described; /* bounds that are wanted, in place of a release; or NULL */
	RaceCharge	charge;
	Datum		provenance;		/* jsonb, public facts for race_label */
} Release;

static RaceParameter
argument(const Release *release, RaceArgument i)
{
	return race_argument(&release->ledger, &release->asked, i);
}

/* ------------------------------------------------------------ transactions */

/*
 * Where it could not commit, a rollback would refund the charge after the answer was
 * seen.
 */
static void
check_context(FunctionCallInfo fcinfo)
{
	bool		atomic = fcinfo->context == NULL || !IsA(fcinfo->context, CallContext) ||
		((CallContext *) fcinfo->context)->atomic;

	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("a release cannot be made during recovery"),
				 errhint("Make it on the primary server; it will appear here.")));
	if (atomic || IsTransactionBlock() || IsSubTransaction())
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("a release cannot be made inside a transaction block, a function or an exception block"),
				 errdetail("Its charge must be committed before any data are read, so that no rollback refunds it."),
				 errhint("CALL it as a statement of its own, with autocommit on: psycopg.connect(..., autocommit=True), or psql with a -c for each statement.")));
}

/*
 * Raise an error unless the last commit is where this level of synchronous_commit wants it.  A cancel or a timeout ends the
 * wait for a standby with a warning alone: rows would be read for a charge that a failover loses.
 */
static void
check_replicated(int level)
{
	int			mode = level >= SYNCHRONOUS_COMMIT_REMOTE_APPLY ? SYNC_REP_WAIT_APPLY :
		level >= SYNCHRONOUS_COMMIT_REMOTE_FLUSH ? SYNC_REP_WAIT_FLUSH : SYNC_REP_WAIT_WRITE;
	XLogRecPtr	replicated;

	if (max_wal_senders == 0 || SyncRepStandbyNames == NULL || SyncRepStandbyNames[0] == '\0')
		return;
	LWLockAcquire(SyncRepLock, LW_SHARED);
	replicated = WalSndCtl->lsn[mode];
	LWLockRelease(SyncRepLock);
	if (replicated < XactLastCommitEnd)
		ereport(ERROR,
				(errcode(ERRCODE_QUERY_CANCELED),
				 errmsg("a commit of the release may not be on a standby"),
				 errdetail("The wait for synchronous_standby_names was canceled. What was committed is on this server, and no data were read after it."),
				 errhint("Ask for the release again, without a cancel or a timeout. It is charged again unless it was stored.")));
}

/*
 * Commit, and go on in a new transaction.  The commit is on disk, and on standbys that commits wait for, before anything else is done.
 */
static void
commit(void)
{
	bool		waits = TransactionIdIsValid(GetTopTransactionIdIfAny());	/* other commits wait for no standby */
	int			level;

	if (synchronous_commit <= SYNCHRONOUS_COMMIT_LOCAL_FLUSH)
		race_set_local("synchronous_commit", "on");
	level = synchronous_commit;
	SPI_commit();
	SPI_start_transaction();
	if (waits)
		check_replicated(level);
}

/*
 * The same, in a transaction of the release.  At a higher level of isolation those who
 * wait for the budget would fail instead, and others would lose what they were charged.
 */
static void
next_transaction(const Release *release)
{
	commit();
	race_set_local("transaction_isolation", "read committed");
	/* a client that does not listen must not keep a budget locked */
	race_set_local("client_min_messages", "error");
	/* SET LOCAL ROLE ends with its transaction */
	if (GetUserId() != release->caller)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the role has changed during a release"),
				 errhint("SET ROLE for the session, not for the transaction.")));
}

/* Keep the definitions of relations as they are, across commits, until it is done. */
static void
lock_relations(const List *relations, bool lock)
{
	ListCell   *cell;

	foreach(cell, relations)
	{
		LockRelId	relation = {.relId = lfirst_oid(cell),.dbId = MyDatabaseId};

		if (lock)
			LockRelationIdForSession(&relation, AccessShareLock);
		else
			UnlockRelationIdForSession(&relation, AccessShareLock);
	}
}

/* -------------------------------------------------------------- the steps */

static RaceChecked *
check(const Release *release)
{
	RaceChecked *checked;

	PushActiveSnapshot(GetTransactionSnapshot());
	checked = race_request_check(&release->ledger, &release->asked, release->role);
	PopActiveSnapshot();
	return checked;
}

/* Write the request in a form in which equal requests are equal: as the ledger keeps it. */
static void
write_request(Release *release)
{
	Release		written = *release;
	RaceParameter parameters[RACE_ARGUMENTS];
	StringInfoData text;
	bool		isnull;
	int			n = 0;

	if (written.asked.domains == 0)
		written.asked.expression = release->checked->expression;
	if (written.declared != 0)
		written.asked.params_datum = written.declared;
	written.asked.label = release->checked->label;
	written.asked.value = release->checked->value;
	written.asked.weight = release->checked->weight;
	initStringInfo(&text);
	for (int i = 0; i < RACE_ARGUMENTS; i++)
	{
		if (!race_arguments[i].kept)
			continue;
		parameters[n++] = argument(&written, i);
		appendStringInfo(&text, "%s'%s', $%d%s", n == 1 ? "" : ", ", race_arguments[i].name, n,
						 i == RACE_ARG_PARAMS ? "::text" : "");
	}
	race_ledger_run(&release->ledger,
					psprintf("SELECT jsonb_strip_nulls(jsonb_build_object(%s))", text.data),
					n, parameters);
	release->request = race_ledger_value(1, &isnull);
}

/*
 * What there is of a name: versions of a release, or values of a series; and a series of which there is none so far, as
 * version 0.  Its domains are in its request.
 */
#define OF_NAME	"(SELECT r.charge, r.domains, r.version, r.part FROM _racepriv.race_releases r WHERE r.name = $1" \
	" UNION ALL SELECT s.charge, s.request->'domains', 0, 0 FROM _racepriv.race_charges s" \
	" WHERE s.act = 'release' AND s.request ? 'series' AND s.request->>'name' = $1) r"

/* Domains without the categories that a release chose */
#define DECLARED(domains)	"(SELECT jsonb_agg(CASE WHEN d ? 'chosen' THEN d - '{categories,cells,group,single,persons,persons_error,persons_least,persons_summed}'::text[] ELSE d END ORDER BY n)" \
	" FROM jsonb_array_elements(" domains ") WITH ORDINALITY e (d, n))"

/* Is there a release of that name, request and domains?  Error 42710 if of others. */
static bool
exists(const Release *release)
{
	RaceParameter parameters[] = {
		argument(release, RACE_ARG_NAME), {JSONBOID, release->request, false},
		{JSONBOID, release->asked.domains, release->asked.domains == 0}
	};
	bool		isnull;

	race_ledger_run(&release->ledger, "SELECT coalesce(jsonb_strip_nulls(c.request - '{name,version,domains,chosen_delta}'::text[]) #- '{series,basis}' = $2 #- '{series,basis}', false)"
					" AND " DECLARED("r.domains") " IS NOT DISTINCT FROM " DECLARED("$3")
					" FROM " OF_NAME " LEFT JOIN _racepriv.race_charges c ON c.charge = r.charge"
					" ORDER BY r.version DESC, r.part, c.charged_at LIMIT 1",
					lengthof(parameters), parameters);
	if (SPI_processed == 0)
		return false;
	if (!DatumGetBool(race_ledger_value(1, &isnull)))
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("release \"%s\" exists, with another request", release->asked.name),
				 errhint("Choose another name, or race_release_next for a new version of the same request.")));
	ereport(NOTICE,
			(errmsg("release \"%s\" exists: nothing is charged", release->asked.name)));
	return true;
}

#if !defined(RACE_VERSION) || !defined(RACE_COMMIT)
#error "the Makefile states the version of the library and its commit"
#endif

/* Look up public facts of the charge, for the label of what it pays for. */
static void
read_provenance(Release *release)
{
	RaceParameter parameters[] = {
		{UUIDOID, release->charge.id, false},
		{JSONBOID, release->asked.domains, release->asked.domains == 0},
		RaceText(RACE_VERSION " (" RACE_COMMIT ")")
	};
	bool		isnull;

	race_ledger_run(&release->ledger, "SELECT _racepriv._race_provenance($1, $2, $3)", lengthof(parameters), parameters);
	release->provenance = race_ledger_value(1, &isnull);
}

/* Charge the budget, in a transaction that is committed before anything is read. */
static void
enter_charge(Release *release)
{
	const RaceChecked *checked = release->checked;
	double		rho = race_checked_rho(&release->asked, checked);
	RaceParameter parameters[] = {
		argument(release, RACE_ARG_DATASET),
		argument(release, RACE_ARG_NAME),
		{INT4OID, Int32GetDatum(release->version), false},
		{JSONBOID, release->request, false},
		{FLOAT8OID, Float8GetDatum(rho), false},
		RaceText(checked->dataset->budget),
		{get_array_type(REGCLASSOID), PointerGetDatum(race_oids_array(checked->lineage->private_tables)), false},
		race_ledger_role(release->role),
		{JSONBOID, release->asked.domains, release->asked.domains == 0 || release->asked.series == 0},
		{FLOAT8OID, Float8GetDatum(checked->choice.delta * list_length(checked->choices)), checked->choices == NIL}
	};
	bool		isnull;

	race_ledger_run(&release->ledger, "SELECT charge, charged_at FROM _racepriv._race_charge($1, $2, $3,"
					" $4 || jsonb_strip_nulls(jsonb_build_object('domains', $9, 'chosen_delta', $10)), $5, $6, $7, $8)",
					lengthof(parameters), parameters);
	release->charge.id = race_ledger_value(1, &isnull);
	release->charge.at = DatumGetTimestampTz(race_ledger_value(2, &isnull));
}

static void
refuse_changed(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("what the release is made of was changed while it was made"),
			 errdetail("A function, a type, a partition or a right is not what was checked before the charge. The charge stands."),
			 errhint("CALL it again when nobody changes definitions.")));
}

/*
 * Store sketch number i, or moments: of a label, and with a value of one of its bounds.  With
 * it a sketch of scores, or 0.
 */
static void
store_part(const Release *release, int i, Datum label, Datum sketch, Datum scores)
{
	const RaceAsked *asked = &release->asked;
	RaceParameter parameters[] = {
		argument(release, RACE_ARG_NAME),
		{INT4OID, Int32GetDatum(release->version), false},
		{INT4OID, Int32GetDatum(i + 1), false},
		{TEXTOID, label, label == 0},
		{release->ledger.sketch_type, sketch, false},
		argument(release, RACE_ARG_DATASET),
		{UUIDOID, release->charge.id, false},
		{TIMESTAMPTZOID, TimestampTzGetDatum(release->charge.at), false},
		argument(release, i % RACE_HALVES == RACE_LOWER ? RACE_ARG_VALUE_LOWER : RACE_ARG_VALUE_UPPER),
		argument(release, RACE_ARG_DESCRIPTION),
		argument(release, RACE_ARG_COLUMNS),
		argument(release, RACE_ARG_COLUMN_UNITS),
		{release->ledger.sketch_type, scores, scores == 0},
		{JSONBOID, asked->domains, asked->domains == 0},
		{TSRANGEOID, asked->during, asked->during == 0},
		{JSONBOID, release->provenance, i > 0}
	};

	race_ledger_run(&release->ledger, "INSERT INTO _racepriv.race_releases"
					" (name, version, part, label, sketch, dataset, charge, released_at, value_bound, description, columns, units, scores, domains, during,"
					" provenance) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) ON CONFLICT DO NOTHING",
					lengthof(parameters), parameters);
	if (SPI_processed != 1)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("another session has stored release \"%s\" meanwhile", asked->name),
				 errdetail("The budget was charged and is not refunded.")));
}

/*
 * Raise 55000 if something was defined anew meanwhile, or if the release read other tables: all but the public ones must
 * belong to the budget that was charged.  A table can become a part of another until the query is planned.  One that was
 * a part before the charge may have no entry yet: another session enters it now (_race_charge).
 */
static void
check_current(const Release *release, const RaceChecked *checked)
{
	const RaceDataset *dataset = checked->dataset;
	Oid			type = get_array_type(REGCLASSOID);
	List	   *tables = list_difference_oid(checked->tables, dataset->public_tables);
	List	   *new_tables = list_difference_oid(tables, release->checked->parts);
	RaceParameter parameters[] = {
		{type, PointerGetDatum(race_oids_array(tables)), false},
		{type, PointerGetDatum(race_oids_array(new_tables)), false},
		RaceText(dataset->budget)
	};
	bool		isnull;

	AcceptInvalidationMessages();
	if (!race_request_current(checked))
		refuse_changed();
	race_ledger_run(&release->ledger, "SELECT count(*) FILTER (WHERE budget <> $3) = 0"
					" AND count(DISTINCT relation) FILTER (WHERE relation = ANY ($2)) = cardinality($2)"
					" FROM _racepriv._race_entries_of($1)",
					lengthof(parameters), parameters);
	if (!DatumGetBool(race_ledger_value(1, &isnull)))
		refuse_changed();
}

/*
 * Let units keep different values first of a column that is counted alone, and whose categories a release chose or will choose: so
 * more of them are found, and later versions count the same rows.
 */
static void
spread_chosen(RaceAsked *asked, const RaceDomain *domains, int n)
{
	asked->spread = n == 1 && domains[0].chosen ? pstrdup(quote_identifier(domains[0].name)) : NULL;
}

/* Set the cells of columns whose categories were chosen, of the parameters that were made without these. */
static void
use_chosen_cells(Release *release)
{
	const RaceParams *params = race_params_arg(release->asked.params_datum);
	uint32		d = params->dims;
	double	   *cells = palloc(d * sizeof(double));
	double	   *groups = palloc(RACE_GROUP_NUMBERS * d * sizeof(double));
	int			n;
	RaceDomain *domains = race_domains_read(DatumGetJsonbP(release->asked.domains), &n, true);

	memcpy(cells, race_array(params, RACE_ARRAY_CELLS), d * sizeof(double));
	memcpy(groups, race_array(params, RACE_ARRAY_GROUPS), RACE_GROUP_NUMBERS * d * sizeof(double));
	for (int i = 0; i < n; i++)
		if (domains[i].chosen)
		{
			cells[i] = RaceDomainCells(&domains[i]);
			groups[i] = domains[i].group;
		}
	spread_chosen(&release->asked, domains, n);
	release->declared = release->asked.params_datum;
	release->asked.params_datum = PointerGetDatum(race_params_datum(race_params_with_cells(params, cells, groups)));
	release->asked.params = race_params_arg(release->asked.params_datum);
}

static Datum
numbers_datum(const int64 *numbers, int n)
{
	Datum	   *values = palloc(n * sizeof(Datum));

	for (int i = 0; i < n; i++)
		values[i] = Int64GetDatum(numbers[i]);
	return PointerGetDatum(construct_array(values, n, INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

/*
 * Choose what nobody has listed, labels or categories of columns, and check the request that states them.  Private data
 * decide through noisy numbers of persons alone, so all that follows is post-processing.  These numbers are published with
 * the categories.
 */
static RaceChecked *
choose(Release *release, RaceChecked *checked)
{
	RaceAsked  *asked = &release->asked;
	RaceChecked *stated;
	StringInfoData told;
	List	   *measured = NIL;
	bool		isnull;

	initStringInfo(&told);
	appendStringInfo(&told, "release \"%s\" chose values that " INT64_FORMAT " or more persons have, but for noise:",
					 asked->name, checked->choice.threshold.least);
	for (int i = 0; i < list_length(asked->chosen); i++)
	{
		RaceColumnNumbers *numbers = palloc(sizeof(RaceColumnNumbers));
		int64	   *persons;
		Datum		values = race_read_chosen(asked, checked, i, &persons, numbers);
		RaceParameter parameters[] = {
			{TEXTARRAYOID, values, false},
			{JSONBOID, asked->domains, asked->domains == 0},
			RaceText(RACE_OTHER),
			{get_array_type(INT8OID), numbers_datum(persons, numbers->n), false},
			{FLOAT8OID, Float8GetDatum(sqrt(race_threshold_variance(&checked->choice.threshold))), false},
			{INT8OID, Int64GetDatum(checked->choice.threshold.least), false},
			{INT8OID, Int64GetDatum((int64) checked->summed), checked->summed == 0}
		};

		if (asked->domains == 0)
			race_ledger_run(&release->ledger, "SELECT ARRAY(SELECT c COLLATE \"C\" FROM unnest($1 || $3) c ORDER BY 1), cardinality($1)",
							lengthof(parameters), parameters);
		else
			race_ledger_run(&release->ledger, "SELECT s.stated, cardinality($1), s.place - 1 FROM _racepriv._race_state_categories($2, $1, $4, $5, $6, $7) s",
							lengthof(parameters), parameters);
		*(asked->domains == 0 ? &asked->labels : &asked->domains) = race_ledger_value(1, &isnull);
		if (checked->summed > 0)
		{
			numbers->column = DatumGetInt32(race_ledger_value(3, &isnull));
			measured = lappend(measured, numbers);
		}
		appendStringInfo(&told, "%s %d of %s", i == 0 ? "" : ",", DatumGetInt32(race_ledger_value(2, &isnull)),
						 (char *) list_nth(asked->chosen, i));
	}
	check_current(release, checked);
	release->told_chosen = told.data;
	if (asked->domains != 0)
		use_chosen_cells(release);
	stated = check(release);
	stated->chosen_numbers = measured;
	if (!race_request_same_objects(checked, stated) || !race_request_current(checked))
		refuse_changed();
	return stated;
}

/* Read what the bounds of a column follow from, and describe it so. */
static void
describe_bounds(Release *release, RaceChecked *checked)
{
	const RaceDescribed *described = release->described;
	RaceBounds *bounds = &checked->bounds;
	RaceParameter *parameters = described->parameters;

	bounds->whole = described->whole;
	bounds->lower = described->lower;
	bounds->upper = described->upper;
	race_read_bounds(&release->asked, checked, described->type);
	check_current(release, checked);
	if (!bounds->found)
	{
		release->told_chosen = psprintf("%s: none were found, of so few values at this epsilon; nothing was described, and the charge stands", release->asked.name);
		return;
	}
	parameters[RACE_DESCRIBED_LOWER] = (RaceParameter) {FLOAT8OID, Float8GetDatum(bounds->lower), false};
	parameters[RACE_DESCRIBED_UPPER] = (RaceParameter) {FLOAT8OID, Float8GetDatum(bounds->upper), false};
	race_ledger_run(&release->ledger, described->statement, described->n, parameters);
	release->told_chosen = psprintf("%s: %s to %s; %.1f %% of all values are beyond them, give or take %.1f %%, and count as the bound",
									release->asked.name, race_typed_text(described->type, bounds->lower),
									race_typed_text(described->type, bounds->upper), 100 * bounds->beyond, 100 * bounds->beyond_error);
}

/*
 * Series: releases of intervals of time for one charge.
 *
 * The values of a series are releases of 1, 8, 64, ... intervals of time (src/privacy/series.h).  Those of one length have no
 * row in common: like labels, they cost together what one of them costs, if a unit has no more records in all of them
 * than in one.  Without a unit column that is the owner's promise.  With one, the ledger counts the records of each unit in
 * the values of each length, in the transaction that stores the value, and the next one takes only what is left.  So the
 * bound holds whatever is inserted, changed or deleted meanwhile.
 */

/* Return the number of the next value, which nobody else makes until the transaction ends. */
static int
next_value(const Release *release)
{
	RaceParameter parameter = {UUIDOID, release->charge.id, false};
	bool		isnull;

	race_ledger_run(&release->ledger, "SELECT b.identity = _racepriv._race_identity() FROM _racepriv.race_charges c"
					" JOIN _racepriv.race_budgets b ON b.budget = c.budget WHERE c.charge = $1 FOR UPDATE OF c",
					1, &parameter);
	if (SPI_processed != 1 || !DatumGetBool(race_ledger_value(1, &isnull)))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the budget of the series was last spent in another copy of this database"),
				 errhint("If this copy is to go on with it, and no other, CALL race_budget_adopt(dataset).")));
	/* a new statement sees what was stored while this session waited */
	race_ledger_run(&release->ledger, "SELECT coalesce(max(r.version), 0) + 1 FROM _racepriv.race_releases r WHERE r.charge = $1",
					1, &parameter);
	return DatumGetInt32(race_ledger_value(1, &isnull));
}

/* The row of race_series_units that counts the values of a series has this length and unit. */
#define VALUES_MADE		"0, '00000000-0000-0000-0000-000000000000'::uuid"

/* Count a value of a series: without its units, or after it was lost, no further one is made (_race_check_invariants). */
static void
count_value(const Release *release)
{
	RaceParameter name = RaceText(release->asked.name);

	race_ledger_run(&release->ledger, "INSERT INTO _racepriv.race_series_units AS s (name, length, unit, records) VALUES ($1, " VALUES_MADE ", 1)"
					" ON CONFLICT (name, length, unit) DO UPDATE SET records = s.records + 1",
					1, &name);
}

/* Read, draw noise, and store. */
static void
make_private(Release *release)
{
	RaceChecked *checked = check(release);
	int			halves = RaceHalvesOf(&release->asked);
	Datum	   *labels = NULL;
	Datum	   *sketches;
	Datum	   *scores = NULL;
	int			n = 1;

	if (!race_request_same(release->checked, checked))
		refuse_changed();
	if (release->described != NULL)
	{
		describe_bounds(release, checked);
		return;
	}
	if (checked->choices != NIL)
		checked = choose(release, checked);
	if (release->asked.labels != 0)
		deconstruct_array(DatumGetArrayTypeP(release->asked.labels), TEXTOID, -1, false,
						  TYPALIGN_INT, &labels, NULL, &n);
	if (checked->units != NULL)
		race_units_load(checked->units, &release->ledger, release->asked.name, release->asked.length);
	race_tell("release \"%s\": charged; reading, and drawing noise", release->asked.name);
	sketches = race_read_private(&release->asked, checked, n, labels);
	check_current(release, checked);
	for (int i = 0; i < n * halves && release->asked.fit; i++)
	{
		race_tell("release \"%s\": fitting model %d of %d", release->asked.name, i + 1, n * halves);
		sketches[i] = race_release_fit(sketches[i]);
	}
	if (checked->scores_query != NULL)
	{
		race_tell("release \"%s\": scoring records", release->asked.name);
		scores = race_read_scores(&release->asked, checked, n, labels, sketches);
		check_current(release, checked);
	}
	for (int i = 0; i < n * halves; i++)
		store_part(release, i, labels == NULL ? (Datum) 0 : labels[i / halves], sketches[i],
				   scores == NULL ? (Datum) 0 : scores[i]);
	if (checked->units != NULL)
		race_units_store(checked->units, &release->ledger, release->asked.name, release->asked.length);
}

/* Refuse bounds and bandwidths that nobody can mean, and tell what charts a release will not have, by its parameters alone. */
static void
check_limits(const RaceAsked *asked)
{
	bool		charted = true;

	for (const RaceParams *part = asked->params; part != NULL; part = race_params_next(part, asked->params))
	{
		const double *lower = race_array(part, RACE_ARRAY_LOWER);
		const double *upper = race_array(part, RACE_ARRAY_UPPER);
		const double *scales = race_array(part, RACE_ARRAY_BANDWIDTHS);

		if (part->kernel != RACE_KERNEL_L2 && part->kernel != RACE_KERNEL_L1)
			continue;
		if ((lower == NULL) != (upper == NULL))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("the parameters of release \"%s\" have lower without upper, or the reverse", asked->name),
					 errdetail("Nothing was read and nothing charged."),
					 errhint("Give both, as in lower={0}, upper={120} for ages; or lower={0}, upper={Infinity}, if there is none.")));
		/* a matrix gives numbers another scale than the bounds have */
		for (uint32 i = 0; i < part->dims && lower != NULL && race_array(part, RACE_ARRAY_MATRIX) == NULL; i++)
			if (part->bandwidth * (scales == NULL ? 1 : scales[i]) > upper[i] - lower[i])
				ereport(ERROR,
						(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						 errmsg("release \"%s\" would not tell records apart: the bandwidth is wider than the bounds of number %u", asked->name, i + 1),
						 errdetail("Nothing was read and nothing charged."),
						 errhint("Give a bandwidth of a tenth of the bounds or less.")));
		for (uint32 i = 0; i < part->dims; i++)
			charted = charted && lower != NULL && isfinite(lower[i]) && isfinite(upper[i]);
	}
	if (!charted && race_params_parts(asked->params) == 1)
		ereport(NOTICE,
				(errmsg("release \"%s\" will tell densities, but no curves, quantiles or modes: its parameters do not have both bounds", asked->name),
				 errhint("A release of another name, with lower and upper, has them; it is charged, too.")));
}

/* Tell what is left of the budget, which the ledger shows to those who release. */
static void
tell_left(const Release *release)
{
	RaceParameter budget = RaceText(release->checked->dataset->budget);

	race_ledger_run(&release->ledger,
					"SELECT CASE accounting WHEN 'zcdp' THEN format('rho %s of %s', trim_scale(round(rho_limit - spent_rho, 6)), trim_scale(round(rho_limit, 6)))"
					" ELSE format('epsilon %s of %s', trim_scale(round(epsilon_limit - spent_epsilon, 6)), trim_scale(epsilon_limit)) END"
					" FROM _racepriv.race_budgets WHERE budget = $1", 1, &budget);
	/* a superuser may have taken the budget away since */
	if (SPI_processed == 1)
		ereport(NOTICE,
				(errmsg("release \"%s\" is %s; left of budget \"%s\": %s", release->asked.name,
						release->asked.series != 0 ? "charged as a series" : "stored",
						release->checked->dataset->budget, race_ledger_text(1))));
}

/* Make the next value of a series, in transactions of its own.  Is it made here, and not by another session? */
static bool
make_value(Release *release)
{
	List	   *relations;
	bool		made;

	release->checked = check(release);
	relations = release->checked->lineage->relations;
	race_read_probe(release->checked);
	lock_relations(relations, true);
	next_transaction(release);
	made = next_value(release) == release->version;
	if (made)
	{
		read_provenance(release);
		make_private(release);
		count_value(release);
	}
	next_transaction(release);
	lock_relations(relations, false);
	return made;
}

/*
 * Make all values of a series that are over, each in a transaction of its own: what was stored before an error or a crash is
 * not made again.  The series has paid for them.  Each value has a connection to SPI of its own, whose end frees all that was
 * allocated for it, results of statements included.
 */
static void
make_values(Release *release)
{
	MemoryContext outer = CurrentMemoryContext;
	char	   *closes;
	bool		over;
	int			made = 0;

	release->asked.unit_key = release->charge.id;
	do							/* bound: the values of a series, which are at most 9 times 65,536 */
	{
		CHECK_FOR_INTERRUPTS();
		if (SPI_connect_ext(SPI_OPT_NONATOMIC) != SPI_OK_CONNECT)
			elog(ERROR, "SPI_connect_ext failed");
		over = race_series_use(&release->ledger, &release->asked, release->version, &closes);
		if (over)
			made += make_value(release);
		else if (closes != NULL)
			closes = MemoryContextStrdup(outer, closes);
		SPI_finish();
		release->version++;
	} while (over);
	commit();
	ereport(NOTICE,
			closes != NULL ? errmsg("series \"%s\": new values: %d; the next interval closes at %s UTC", release->asked.name, made, closes) :
			errmsg("series \"%s\": new values: %d; all intervals are closed", release->asked.name, made));
}

static void
charge_and_make(Release *release)
{
	List	   *relations = release->checked->lineage->relations;

	if (release->described == NULL)
	{
		/* an error if no row can give a record; of the first version, which rows may give none is told: no data decide it */
		char	   *excluded = race_excluded(&release->asked, release->checked);

		if (excluded != NULL && release->version == 1)
			ereport(NOTICE,
					(errmsg("release \"%s\" leaves out rows where %s", release->asked.name, excluded)));
		if (release->version == 1 && release->asked.domains == 0)
			check_limits(&release->asked);
	}
	race_read_probe(release->checked);
	lock_relations(relations, true);
	next_transaction(release);
	enter_charge(release);
	if (release->asked.series != 0)
	{
		commit();
		lock_relations(relations, false);
		tell_left(release);
		return;
	}
	next_transaction(release);
	read_provenance(release);
	make_private(release);
	commit();
	lock_relations(relations, false);
	if (release->described == NULL)
		race_tell("release \"%s\": version %d is stored", release->asked.name, release->version);
	if (release->told_chosen != NULL)
		ereport(NOTICE, (errmsg_internal("%s", release->told_chosen)));
	if (release->described == NULL)
		tell_left(release);
}

/* ----------------------------------------------------------------- procedures */

/* Begin a release.  Its memory, which lasts across transactions, is in the context of this connection. */
static void
begin(Release *release, FunctionCallInfo fcinfo)
{
	check_context(fcinfo);
	if (SPI_connect_ext(SPI_OPT_NONATOMIC) != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect_ext failed");
	memset(release, 0, sizeof(Release));
	race_ledger_open(&release->ledger, fcinfo);
	release->role = release->caller = GetUserId();
	release->version = 1;
	race_argument_set(&release->asked, RACE_ARG_NAME, PG_GETARG_DATUM(0), PG_ARGISNULL(0));
	release->asked.run_path = pstrdup(namespace_search_path);
}

/* Raise what is wrong with the name, and 22004 for arguments that are NULL. */
static void
check_given(const RaceAsked *asked, const RaceArgument *needed, size_t n, const char *names)
{
	if (asked->name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("a release needs a name"),
				 errhint("Analysts ask by it, as in 'visits 2026'.")));
	/* what does not fit into the index is known before the charge */
	race_check_text(asked->name, MAX_NAME, "the name of a release", NULL);
	for (size_t i = 0; i < n; i++)
		if (!race_is_given(asked, needed[i]))
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("%s must not be NULL", names),
					 errhint("Give each of them, as in epsilon => 1.")));
}

static void
make_unless_exists(Release *release)
{
	release->checked = check(release);
	write_request(release);
	if (!exists(release))
	{
		if (release->told != NULL)
			ereport(NOTICE, (errmsg_internal("%s", release->told)));
		charge_and_make(release);
	}
	SPI_finish();
}

/* ---------------------------------------------------------- release by columns */

/* Look up the domains and units of the columns that are asked for; return parameters of moments of them, as a vector. */
static char *
look_up_domains(Release *release, bool vector)
{
	RaceAsked  *asked = &release->asked;
	RaceParameter parameters[] = {
		argument(release, RACE_ARG_DATASET), argument(release, RACE_ARG_COLUMNS), argument(release, RACE_ARG_MEASURE),
		argument(release, RACE_ARG_DELTA), {BOOLOID, BoolGetDatum(vector), false}
	};
	Datum		units;
	bool		isnull;

	race_ledger_run(&release->ledger, "SELECT domains, units, names, params FROM _racepriv._race_release_domains($1, $2, $3, CASE WHEN $5 THEN 0 ELSE $4 END, $5)",
					lengthof(parameters), parameters);
	asked->domains = race_ledger_value(1, &isnull);
	units = race_ledger_value(2, &isnull);
	race_argument_set(asked, RACE_ARG_COLUMN_UNITS, units, isnull);
	race_argument_set(asked, RACE_ARG_COLUMNS, race_ledger_value(3, &isnull), false);
	return race_ledger_text(4);
}

/* Set the expression of the values of columns; note those whose categories are to be chosen. */
static void
use_values(RaceAsked *asked, const RaceDomain *domains, int n)
{
	StringInfoData expression;

	initStringInfo(&expression);
	appendStringInfo(&expression, RACE_SCHEMA "._race_cells($%d", RACE_GIVE_DOMAINS);
	for (int i = 0; i < n; i++)
	{
		char	   *column = pstrdup(quote_identifier(domains[i].name));

		appendStringInfo(&expression, ", %s", column);
		if (domains[i].chosen)
			asked->chosen = lappend(asked->chosen, column);
	}
	appendStringInfoChar(&expression, ')');
	spread_chosen(asked, domains, n);
	asked->most_chosen = RACE_MOST_CHOSEN;
	race_argument_set(asked, RACE_ARG_EXPRESSION, CStringGetTextDatum(expression.data), false);
}

/* Set parameters and expression of what counts the cells of the columns; note how large that is, to be told before the charge. */
static void
use_domains(Release *release, const char *label, Datum workload)
{
	RaceAsked  *asked = &release->asked;
	RaceCounted counted;

	race_columns_counted(asked->domains, label, workload, !race_is_given(asked, RACE_ARG_SERIES), &counted);
	release->told = psprintf("release \"%s\" measures columns: %d, pairs of them: %d, %s%scounters: %.0f (at most %.0f MB)",
							 asked->name, counted.columns, counted.pairs,
							 counted.triples > 0 ? psprintf("tables of three columns: %d, ", counted.triples) : "",
							 workload == 0 ? "" : psprintf("workload: %s, ", OidOutputFunctionCall(F_ARRAY_OUT, workload)),
							 counted.counters, counted.megabytes);
	use_values(asked, counted.domains, counted.n);
	race_argument_set(asked, RACE_ARG_PARAMS, race_ledger_params(&release->ledger, counted.params), false);
}

/*
 * Where the label is a column, let it be that column whatever its name is, and list its categories.  A cast of an enum to
 * text is not IMMUTABLE, as its values may be renamed, so these are compared.  Return how many labels there are, or 1 for none.
 */
static int
use_column_as_label(Release *release)
{
	RaceAsked  *asked = &release->asked;
	RaceParameter parameters[] = {argument(release, RACE_ARG_DATASET), argument(release, RACE_ARG_LABEL)};
	bool		isnull;
	int			n = 1;

	race_ledger_run(&release->ledger, "SELECT CASE WHEN (SELECT t.typtype = 'e' FROM pg_type t WHERE t.oid = to_regtype(k.type))"
					" THEN format('CASE %I::%s %s END', k.column_name, k.type, (SELECT string_agg(format('WHEN %L THEN %L', c, c), ' ') FROM unnest(k.categories) c))"
					" ELSE quote_ident(k.column_name) END, CASE WHEN k.reason IS NULL THEN k.categories END"
					" FROM _racepriv._race_dataset($1) d, _racepriv._race_columns_of_dataset($1, d.relation, ARRAY[$2]) k", lengthof(parameters), parameters);
	if (SPI_processed == 1 && !race_is_given(asked, RACE_ARG_LABELS))
	{
		Datum		categories = race_ledger_value(2, &isnull);

		race_argument_set(asked, RACE_ARG_LABELS, categories, isnull);
	}
	if (asked->label != NULL && !race_is_given(asked, RACE_ARG_LABELS))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("label \"%s\" is no column with categories", race_cut(asked->label)),
				 errhint("List them, as in labels => '{north,south}'.")));
	if (SPI_processed == 1)
		asked->label = race_ledger_text(1);
	if (asked->label != NULL)
		n = ArrayGetNItems(ARR_NDIM(DatumGetArrayTypeP(asked->labels)), ARR_DIMS(DatumGetArrayTypeP(asked->labels)));
	if (n > RACE_MOMENTS_CLASSES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("there can be at most %d classes with moments", RACE_MOMENTS_CLASSES),
				 errdetail("Nothing was read and nothing charged."),
				 errhint("List fewer labels, or release tables of the columns: CALL race_release.")));
	return n;
}

/*
 * Without parameters and an expression, let the release be of moments of columns: of numbers, and of 0 or 1 for each category.
 */
static void
use_vector(Release *release)
{
	RaceAsked  *asked = &release->asked;
	RaceDomain *domains;
	char	   *params;
	double		counters;
	int			labels;
	int			n;

	if (race_is_given(asked, RACE_ARG_COLUMN_UNITS))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("units of columns are those that race_columns shows"),
				 errhint("Their owner says them: CALL race_describe(%s, column, unit => ...).", quote_literal_cstr(asked->dataset))));
	race_request_check_rights(race_ledger_dataset(&release->ledger, asked->dataset)->relation, release->role);
	params = look_up_domains(release, true);
	domains = race_domains_read(DatumGetJsonbP(asked->domains), &n, false);
	for (int i = 0; i < n && asked->label != NULL; i++)
		if (strcmp(domains[i].name, asked->label) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("label \"%s\" is among the columns", race_cut(asked->label)),
					 errhint("Columns are those that the label is told from.")));
	labels = use_column_as_label(release);
	use_values(asked, domains, n);
	race_argument_set(asked, RACE_ARG_PARAMS, race_ledger_params(&release->ledger, params), false);
	counters = (double) labels * RaceCounters(race_params_arg(asked->params_datum));
	release->told = psprintf("release \"%s\" measures columns: %d, numbers of a record: %u, %scounters: %.0f (at most %.0f MB)", asked->name,
							 n, race_params_arg(asked->params_datum)->dims, labels > 1 ? psprintf("labels: %d, ", labels) : "", counters,
							 ceil(counters * sizeof(int64) / 1e6));
}

/* race_release_sketch(name, dataset, params, expression, epsilon, ...) */
Datum
race_release(PG_FUNCTION_ARGS)
{
	static const RaceArgument needed[] = {RACE_ARG_DATASET, RACE_ARG_PARAMS, RACE_ARG_EXPRESSION, RACE_ARG_EPSILON, RACE_ARG_DELTA};
	Release		release;
	RaceAsked  *asked = &release.asked;

	race_check_duty(fcinfo, "curator");
	begin(&release, fcinfo);
	for (int i = RACE_ARG_DATASET; i < PG_NARGS(); i++)
		race_argument_set(asked, i, PG_GETARG_DATUM(i), PG_ARGISNULL(i));
	if (asked->name != NULL && race_is_given(asked, RACE_ARG_DATASET) && race_is_given(asked, RACE_ARG_COLUMNS) &&
		!race_is_given(asked, RACE_ARG_PARAMS) && !race_is_given(asked, RACE_ARG_EXPRESSION))
		use_vector(&release);
	check_given(asked, needed, lengthof(needed), asked->domains != 0 ? "epsilon and delta" : "dataset, params, expression, epsilon and delta");
	race_request_prepare(&release.ledger, &release.asked);
	make_unless_exists(&release);
	PG_RETURN_VOID();
}

/* race_release(name, dataset, columns, epsilon, delta, description, measure, label, workload, series, weight, weight_max) */
Datum
race_release_columns(PG_FUNCTION_ARGS)
{
	static const RaceArgument signature[] = {RACE_ARG_NAME, RACE_ARG_DATASET, RACE_ARG_COLUMNS, RACE_ARG_EPSILON, RACE_ARG_DELTA,
	RACE_ARG_DESCRIPTION, RACE_ARG_MEASURE};
	const int	label = lengthof(signature);
	const int	workload = lengthof(signature) + 1;
	static const RaceArgument others[] = {RACE_ARG_SERIES, RACE_ARG_WEIGHT, RACE_ARG_WEIGHT_MAX};	/* after these two */
	Release		release;

	race_check_duty(fcinfo, "curator");
	begin(&release, fcinfo);
	for (int i = 1; i < (int) lengthof(signature); i++)
		race_argument_set(&release.asked, signature[i], PG_GETARG_DATUM(i), PG_ARGISNULL(i));
	for (int i = workload + 1; i < PG_NARGS(); i++)
		race_argument_set(&release.asked, others[i - workload - 1], PG_GETARG_DATUM(i), PG_ARGISNULL(i));
	check_given(&release.asked, signature, 5, "dataset, columns, epsilon and delta");
	race_request_check_rights(race_ledger_dataset(&release.ledger, release.asked.dataset)->relation, release.role);
	(void) look_up_domains(&release, false);
	use_domains(&release, PG_ARGISNULL(label) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(label)),
				PG_ARGISNULL(workload) ? (Datum) 0 : PG_GETARG_DATUM(workload));
	race_request_prepare(&release.ledger, &release.asked);
	make_unless_exists(&release);
	PG_RETURN_VOID();
}

/* -------------------------------------------------------------------- bounds */

/*
 * Describe a column by bounds from noisy counts: charged, committed, then read, as a release.  A column that has such
 * bounds keeps them, and nothing is charged.
 */
Datum
race_describe_privately(FunctionCallInfo fcinfo, RaceDescribe *prepare)
{
	Release		release;
	RaceDescribed described = {0};
	RaceParameter request[3];
	bool		isnull;

	begin(&release, fcinfo);
	prepare(fcinfo, &release.ledger, &described);
	release.described = &described;
	release.asked.dataset = release.asked.name;
	release.asked.given |= (uint32) 1 << RACE_ARG_DATASET;
	release.asked.described = pstrdup(quote_identifier(described.column));
	release.asked.described_nan = race_type_has_nan(described.type);
	release.asked.epsilon = described.epsilon;
	release.asked.path = release.asked.run_path;
	release.asked.name = psprintf("bounds of column \"%s\"", described.column);
	request[0] = argument(&release, RACE_ARG_DATASET);
	request[1] = (RaceParameter) RaceText(described.column);
	request[2] = (RaceParameter) {FLOAT8OID, Float8GetDatum(described.epsilon), false};
	race_ledger_run(&release.ledger, "SELECT (SELECT d.epsilon FROM _racepriv.race_descriptions d WHERE d.dataset = $1 AND d.column_name = $2"
					" ORDER BY d.revision DESC LIMIT 1) IS NOT NULL,"
					" jsonb_build_object('dataset', $1, 'bounds', $2, 'epsilon', $3, 'delta', 0)", lengthof(request), request);
	release.request = race_ledger_value(2, &isnull);
	if (DatumGetBool(race_ledger_value(1, &isnull)))
		ereport(NOTICE,
				(errmsg("column \"%s\" has bounds by noisy counts: nothing is charged", described.column),
				 errhint("To look for them again, CALL race_describe(%s, %s) first.",
						 quote_literal_cstr(release.asked.dataset), quote_literal_cstr(described.column))));
	else
	{
		release.checked = check(&release);
		charge_and_make(&release);
	}
	SPI_finish();
	PG_RETURN_VOID();
}

/* -------------------------------------------------------------------- refresh */

/* Raise 55000 for a release that was copied here without its charge, as to a database of analysts; 42704 if there is none. */
static void
refuse_uncharged(const Release *release)
{
	RaceParameter name = argument(release, RACE_ARG_NAME);

	race_ledger_run(&release->ledger, "SELECT FROM _racepriv.race_releases r WHERE r.name = $1 LIMIT 1", 1, &name);
	if (SPI_processed == 0)
		race_named_refuse(release->asked.name);
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the charge of release \"%s\" is not in this database", race_cut(release->asked.name)),
			 errdetail("Releases can be copied without the ledger. Their next versions are charged where it is."),
			 errhint("CALL race_release_next where the release was made.")));
}

/*
 * Read the latest version of a release, the role that made it (in another copy of the database
 * by its name; InvalidOid if a version without OIDs of roles made it), and the arguments of its
 * request; error 42704 if there is none.
 */
static void
read_last(Release *release)
{
	RaceParameter name = argument(release, RACE_ARG_NAME);
	StringInfoData columns;
	Datum		writer;
	Datum		chosen;
	bool		isnull;
	int			column = 7;

	initStringInfo(&columns);
	for (int i = 0; i < RACE_ARGUMENTS; i++)
		if (race_arguments[i].kept)
			appendStringInfo(&columns, "%s%s %s", columns.len == 0 ? "" : ", ", race_arguments[i].name, race_arguments[i].type_name);

	race_ledger_run(&release->ledger,
					psprintf("SELECT r.version, CASE WHEN _racepriv._race_is_here(c.identity) THEN c.charged_by_id"
							 " ELSE to_regrole(quote_ident(c.charged_by)) END, r.domains, c.charge,"
							 " (SELECT coalesce(CASE WHEN _racepriv._race_is_here(w.identity) THEN w.charged_by_id ELSE to_regrole(quote_ident(w.charged_by)) END, 0::oid)"
							 " FROM _racepriv.race_releases f JOIN _racepriv.race_charges w ON w.charge = f.charge WHERE f.name = $1 AND f.version = 1 AND f.part = 1),"
							 " CASE WHEN c.request ? 'label' AND NOT c.request ? 'labels' THEN ARRAY(SELECT DISTINCT l.label COLLATE \"C\""
							 " FROM _racepriv.race_releases l WHERE l.name = $1 AND l.version = r.version ORDER BY 1) END, q.*"
							 " FROM " OF_NAME " JOIN _racepriv.race_charges c ON c.charge = r.charge,"
							 " jsonb_to_record(c.request) q (%s)"
							 " ORDER BY r.version DESC, r.part, c.charged_at LIMIT 1", columns.data),
					1, &name);
	if (SPI_processed == 0)
		refuse_uncharged(release);
	release->version = DatumGetInt32(race_ledger_value(1, &isnull)) + 1;
	release->role = DatumGetObjectId(race_ledger_value(2, &isnull));
	release->asked.domains = race_ledger_value(3, &isnull);
	release->charge.id = race_ledger_value(4, &isnull);
	/* that of the CALL, which tells nothing of how long reading takes */
	release->charge.at = GetCurrentStatementStartTimestamp();
	writer = race_ledger_value(5, &isnull);
	release->writer = isnull ? release->role : DatumGetObjectId(writer);
	chosen = race_ledger_value(6, &isnull);
	for (int i = 0; i < RACE_ARGUMENTS; i++)
	{
		Datum		value;

		if (!race_arguments[i].kept)
			continue;
		value = race_ledger_value(column++, &isnull);
		race_argument_set(&release->asked, i,
					 i == RACE_ARG_PARAMS ? race_ledger_params(&release->ledger, TextDatumGetCString(value)) : value, isnull);
	}
	race_request_use(&release->asked, RACE_SAFE_PATH);
	/* this version counts what the first one chose */
	if (release->asked.choose_labels)
		release->asked.labels = chosen;
	if (release->asked.domains != 0 && race_summary_kind(release->asked.params)->selected)
		use_chosen_cells(release);
}

/*
 * Go on as the role that made the last version, if the caller may act for it, and it may still make releases.  A release
 * belongs to its dataset: the owner of the relation, and whoever may act for her, can take it over.
 */
static void
become_maker(Release *release, Oid procedure)
{
	char	   *maker = GetUserNameFromId(release->role, true);
	Oid			owner;

	if (maker != NULL && race_may_set_role(release->caller, release->role))
	{
		if (!race_has_duty(procedure, release->role))
			aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_PROCEDURE, get_func_name(procedure));
		return;
	}
	owner = race_owner_of(race_ledger_dataset(&release->ledger, release->asked.dataset)->relation);
	if (!race_may_set_role(release->caller, owner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to refresh release \"%s\"", race_cut(release->asked.name)),
				 maker == NULL ? errdetail("The role that made its last version does not exist in this database.") :
				 errdetail("Its last version was made by role \"%s\", whose release it is.", maker),
				 errhint("Role %s, the owner of its relation, or a superuser can CALL race_release_next(%s); another role makes a release of its own.",
						 quote_identifier(GetUserNameFromId(owner, false)), quote_literal_cstr(race_cut(release->asked.name)))));
	release->role = owner;
}

/* race_release_next(name): for the role that made the release, or the owner of the relation */
Datum
race_release_next(PG_FUNCTION_ARGS)
{
	Release		release;

	race_check_duty(fcinfo, "curator");
	begin(&release, fcinfo);
	check_given(&release.asked, NULL, 0, NULL);
	read_last(&release);
	become_maker(&release, fcinfo->flinfo->fn_oid);
	release.asked.taken_over = release.role != release.writer;
	if (release.asked.domains != 0)
	{
		RaceParameter parameters[] = {
			argument(&release, RACE_ARG_NAME), argument(&release, RACE_ARG_DATASET), {JSONBOID, release.asked.domains, false}
		};

		race_ledger_run(&release.ledger, "SELECT _racepriv._race_check_domains($1, $2, $3)", lengthof(parameters), parameters);
	}
	if (release.asked.series != 0)
		make_values(&release);
	else
	{
		release.checked = check(&release);
		write_request(&release);
		charge_and_make(&release);
	}
	SPI_finish();
	PG_RETURN_VOID();
}
