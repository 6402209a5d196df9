/*
 * release.c
 *		race_release and race_release_next: checked, charged, committed; then read,
 *		given noise, stored, committed.
 *
 * A release is one procedure without public steps.  It commits its charge before it
 * reads anything, so that no rollback refunds what was seen.  What it checked stays in
 * memory, and the relations stay locked by the session, across the commit.  After the
 * commit the request is checked again, and it must have come out as the same query over
 * the same objects.  The right to draw noise is that this procedure has come so far.
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "../fit/fit.h"
#include "../lsh/grid.h"
#include "../lsh/moments.h"
#include "../params/params.h"
#include "../server/compat.h"
#include "../server/progress.h"
#include "../server/text.h"
#include "excluded.h"
#include "ledger.h"
#include "oids.h"
#include "read.h"
#include "request.h"
#include "settings.h"

PG_FUNCTION_INFO_V1(race_release);
PG_FUNCTION_INFO_V1(race_release_next);

/* Bytes of a name */
#define MAX_NAME	((Size) 1000)

typedef struct Release
{
	RaceLedger	ledger;
	Oid			caller;			/* who called the procedure, */
	int			context;		/* and its security context */
	int			level;			/* of settings, while it acts as another role */
	Oid			role;			/* whose release it is, and with whose rights it is made */
	RaceAsked	asked;
	int			version;
	RaceChecked *checked;
	Datum		request;		/* jsonb: equal requests are equal */
	RaceCharge	charge;
} Release;

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
 * Act as the role whose release it is.  A role that refreshes the release of another must not run
 * functions of hers with its own rights: views, domains, operators, casts and indexes can call
 * them while an expression is parsed, planned or executed.
 */
static void
act_as_maker(Release *release)
{
	if (release->role == release->caller)
		return;
	SetUserIdAndSecContext(release->role, release->context |
						   SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION);
	release->level = NewGUCNestLevel();
}

/*
 * Commit, and go on in a new transaction, as the caller: settings that functions of another role
 * have made are undone.  The commit is on disk before anything else is done.
 */
static void
commit(Release *release)
{
	if (release->level > 0)
		AtEOXact_GUC(false, release->level);
	release->level = 0;
	SetUserIdAndSecContext(release->caller, release->context);
	if (synchronous_commit <= SYNCHRONOUS_COMMIT_LOCAL_FLUSH)
		race_set_local("synchronous_commit", "on");
	SPI_commit();
	SPI_start_transaction();
}

/*
 * The same, in a transaction of the release.  At a higher level of isolation those who
 * wait for the budget would fail instead, and others would lose what they were charged.
 */
static void
next_transaction(Release *release)
{
	commit(release);
	race_set_local("transaction_isolation", "read committed");
	/* a client that does not listen must not keep a budget locked */
	race_set_local("client_min_messages", "error");
	/* SET LOCAL ROLE ends with its transaction */
	if (GetUserId() != release->caller)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the role has changed during a release"),
				 errhint("SET ROLE for the session, not for the transaction.")));
	act_as_maker(release);
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
	checked = race_request_check(&release->ledger, &release->asked);
	PopActiveSnapshot();
	return checked;
}

/* The request in a form in which equal requests are equal */
static void
write_request(Release *release)
{
	const RaceAsked *asked = &release->asked;
	RaceParameter parameters[] = {
		RaceText(asked->dataset),
		{release->ledger.params_type, asked->params_datum, false},
		RaceText(release->checked->expression),
		{FLOAT8OID, Float8GetDatum(asked->epsilon), false},
		{FLOAT8OID, Float8GetDatum(asked->delta), false},
		{INT4OID, Int32GetDatum(asked->rows), asked->choose_rows},
		RaceText(release->checked->label),
		RaceTexts(asked->labels),
		{BOOLOID, BoolGetDatum(asked->fit), false},
		RaceText(release->checked->value),
		{FLOAT8OID, Float8GetDatum(asked->bounds[RACE_LOWER]), asked->value == NULL},
		{FLOAT8OID, Float8GetDatum(asked->bounds[RACE_UPPER]), asked->value == NULL},
		RaceText(asked->description),
		RaceTexts(asked->columns),
		RaceTexts(asked->units),
		{FLOAT8OID, Float8GetDatum(asked->calibrate), asked->calibrate == 0}
	};
	bool		isnull;

	race_ledger_run(&release->ledger, "SELECT _racepriv._race_request($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)",
					lengthof(parameters), parameters);
	release->request = race_ledger_value(1, &isnull);
}

/* Is there a release of that name and request?  Error 42710 if of another request. */
static bool
exists(const Release *release)
{
	RaceParameter parameters[] = {
		RaceText(release->asked.name), {JSONBOID, release->request, false}
	};
	bool		isnull;

	race_ledger_run(&release->ledger, "SELECT _racepriv._race_release_exists($1, $2)",
					lengthof(parameters), parameters);
	return DatumGetBool(race_ledger_value(1, &isnull));
}

/* Charge the budget, in a transaction that is committed before anything is read. */
static void
enter_charge(Release *release)
{
	const RaceChecked *checked = release->checked;
	double		rho = race_checked_rho(&release->asked, checked);
	RaceParameter parameters[] = {
		RaceText(release->asked.dataset),
		RaceText(release->asked.name),
		{INT4OID, Int32GetDatum(release->version), false},
		{JSONBOID, release->request, false},
		{FLOAT8OID, Float8GetDatum(rho), false},
		RaceText(checked->dataset->budget),
		{get_array_type(REGCLASSOID), PointerGetDatum(race_oids_array(checked->lineage->private_tables)), false},
		race_ledger_role(release->role)
	};
	bool		isnull;

	race_ledger_run(&release->ledger, "SELECT charge, charged_at FROM _racepriv._race_charge($1, $2, $3, $4, $5, $6, $7, $8)",
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
		RaceText(asked->name),
		{INT4OID, Int32GetDatum(release->version), false},
		{INT4OID, Int32GetDatum(i + 1), false},
		{TEXTOID, label, label == 0},
		{release->ledger.sketch_type, sketch, false},
		RaceText(asked->dataset),
		{UUIDOID, release->charge.id, false},
		{TIMESTAMPTZOID, TimestampTzGetDatum(release->charge.at), false},
		{FLOAT8OID, Float8GetDatum(asked->bounds[i % RACE_HALVES]), asked->value == NULL},
		RaceText(asked->description),
		RaceTexts(asked->columns),
		RaceTexts(asked->units),
		{release->ledger.sketch_type, scores, scores == 0}
	};

	race_ledger_run(&release->ledger, "INSERT INTO _racepriv.race_releases"
					" (name, version, part, label, sketch, dataset, charge, released_at, value_bound, description, columns, units, scores)"
					" VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT DO NOTHING",
					lengthof(parameters), parameters);
	if (SPI_processed != 1)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("another session has stored release \"%s\" meanwhile", asked->name),
				 errdetail("This charge is lost.")));
}

/* The private sketch with a model, which is computed of it alone */
static Datum
fit_model(Datum sketch)
{
	RaceView	view;
	RaceFitRequest request = {0};

	race_sketch_view(sketch, &view);
	race_fit_bounds(view.params, NULL, NULL, &request);
	return PointerGetDatum(race_fit_box(&view, &request));
}

/*
 * Do all tables that were read, but for the public ones, belong to the budget that was charged?  A
 * table can become a part of another until the query is planned.  One that was a part before the
 * charge may have no entry yet: another session enters it now (_race_enter_new_tables).
 */
static bool
was_charged(const Release *release, const RaceChecked *checked)
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

	race_ledger_run(&release->ledger, "SELECT count(*) FILTER (WHERE budget <> $3) = 0"
					" AND count(DISTINCT relation) FILTER (WHERE relation = ANY ($2)) = cardinality($2)"
					" FROM _racepriv._race_entries_of($1)",
					lengthof(parameters), parameters);
	return DatumGetBool(race_ledger_value(1, &isnull));
}

/* Raise 55000 if the release read other tables, or something was defined anew meanwhile. */
static void
check_current(const Release *release, const RaceChecked *checked)
{
	AcceptInvalidationMessages();
	if (!race_request_current(checked) || !was_charged(release, checked))
		refuse_changed();
}

/* Fit models to n private sketches. */
static void
fit_models(const Release *release, int n, Datum *sketches)
{
	int			i;

	for (i = 0; i < n; i++)
	{
		race_tell("release \"%s\": fitting model %d of %d", release->asked.name, i + 1, n);
		sketches[i] = fit_model(sketches[i]);
	}
}

/* Read, draw noise, and store. */
static void
make_private(const Release *release)
{
	RaceChecked *checked = check(release);
	int			halves = RaceHalvesOf(&release->asked);
	Datum	   *labels = NULL;
	Datum	   *sketches;
	Datum	   *scores = NULL;
	int			n = 1;
	int			i;

	if (!race_request_same(release->checked, checked))
		refuse_changed();
	if (release->asked.labels != 0)
		deconstruct_array(DatumGetArrayTypeP(release->asked.labels), TEXTOID, -1, false,
						  TYPALIGN_INT, &labels, NULL, &n);
	race_tell("release \"%s\": charged; reading, and drawing noise", release->asked.name);
	sketches = race_read_private(&release->asked, checked, n, labels);
	check_current(release, checked);
	if (release->asked.fit)
		fit_models(release, n * halves, sketches);
	if (checked->scores_query != NULL)
	{
		race_tell("release \"%s\": scoring records", release->asked.name);
		scores = race_read_scores(&release->asked, checked, n, labels, sketches);
		check_current(release, checked);
	}
	for (i = 0; i < n * halves; i++)
		store_part(release, i, labels == NULL ? (Datum) 0 : labels[i / halves], sketches[i],
				   scores == NULL ? (Datum) 0 : scores[i]);
}

/*
 * Raise 22023 if no row can give a record.  Of the first version, tell which rows may give none: that
 * does not depend on the data.
 */
static void
check_rows(const Release *release)
{
	char	   *excluded = race_excluded(&release->asked, release->checked);

	if (excluded != NULL && release->version == 1)
		ereport(NOTICE,
				(errmsg("release \"%s\" leaves out rows where %s", release->asked.name, excluded)));
}

static void
charge_and_make(Release *release)
{
	List	   *relations = release->checked->lineage->relations;

	check_rows(release);
	race_read_probe(release->checked->probes);
	lock_relations(relations, true);
	next_transaction(release);
	enter_charge(release);
	next_transaction(release);
	make_private(release);
	commit(release);
	lock_relations(relations, false);
	race_tell("release \"%s\": version %d is stored", release->asked.name, release->version);
}

/* ----------------------------------------------------------------- procedures */

static char *
text_arg(FunctionCallInfo fcinfo, int i)
{
	return PG_ARGISNULL(i) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(i));
}

/* An array, or 0 for NULL; what is stored elsewhere is fetched while there is a snapshot */
static Datum
copied_arg(FunctionCallInfo fcinfo, int i)
{
	return PG_ARGISNULL(i) ? (Datum) 0 :
		PointerGetDatum(PG_DETOAST_DATUM_COPY(PG_GETARG_DATUM(i)));
}

/* What memory keeps across transactions is in the memory context of this connection. */
static void
begin(Release *release, FunctionCallInfo fcinfo)
{
	check_context(fcinfo);
	if (SPI_connect_ext(SPI_OPT_NONATOMIC) != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect_ext failed");
	memset(release, 0, sizeof(Release));
	race_ledger_open(&release->ledger, fcinfo);
	GetUserIdAndSecContext(&release->caller, &release->context);
	release->role = release->caller;
	release->asked.name = text_arg(fcinfo, 0);
	release->asked.run_path = pstrdup(namespace_search_path);
}

/* The labels in the order of the parts; raises what is wrong with them. */
static Datum
order_labels(const Release *release, Datum labels)
{
	RaceParameter parameters[] = {
		{release->ledger.params_type, release->asked.params_datum, false},
		RaceText(release->asked.label),
		RaceTexts(labels),
		{INT4OID, Int32GetDatum(RaceHalvesOf(&release->asked)), false}
	};
	bool		isnull;

	race_ledger_run(&release->ledger, "SELECT _racepriv._race_ordered_labels($1, $2, $3, $4)",
					lengthof(parameters), parameters);
	return race_ledger_value(1, &isnull);
}

/* As many parts are fitted by default: a fit takes up to some seconds. */
#define USUAL_FITS		32

static int
count_parts(const RaceAsked *asked)
{
	return RaceHalvesOf(asked) * (asked->labels == 0 ? 1 :
								  ArrayGetNItems(ARR_NDIM(DatumGetArrayTypeP(asked->labels)),
												 ARR_DIMS(DatumGetArrayTypeP(asked->labels))));
}

static bool
counts_in_zcdp(const RaceLedger *ledger, const char *budget)
{
	RaceParameter name = RaceText(budget);
	bool		isnull;

	race_ledger_run(ledger, "SELECT accounting = 'zcdp' FROM _racepriv.race_budgets WHERE budget = $1",
					1, &name);
	return DatumGetBool(race_ledger_value(1, &isnull));
}

/*
 * With a delta: does a pure release of other parameters, or of the same, serve better than what was
 * asked?  A budget in zCDP charges more for it.
 */
static bool
spares_delta(const Release *release, const RaceParams *params, const RaceParams *pure_params)
{
	const RaceAsked *asked = &release->asked;
	const RaceDataset *dataset;
	RaceRequest request;
	RacePlan	asked_plan;

	if (asked->delta == 0 || !asked->choose_rows)
		return false;
	dataset = race_ledger_dataset(&release->ledger, asked->dataset);
	if (counts_in_zcdp(&release->ledger, dataset->budget))
		return false;
	request = race_make_request(params, asked->epsilon, asked->delta, NULL,
								dataset->max_contributions, dataset->neighbors,
								!race_is_moments(params));
	race_check_plan(&request, params, race_most_kept(&request, params), &asked_plan);
	return race_pure_serves(&request, params, pure_params, asked->value == NULL);
}

/*
 * By default a grid is made where its errors are smaller, unless the request states rows: for pure
 * privacy, and where it may spare the delta.  In three dimensions it depends on the table whether fitted
 * rows or a grid is better.
 */
static bool
usually_grid(const RaceAsked *asked)
{
	return asked->choose_rows && (asked->delta == 0 || asked->value != NULL ||
								  asked->params->dims <= 2 || race_is_grid(asked->params));
}

/* grid, argument 9 */
static void
choose_grid(Release *release, FunctionCallInfo fcinfo)
{
	RaceAsked  *asked = &release->asked;
	bool		wanted = !PG_ARGISNULL(9) && PG_GETARG_BOOL(9);
	RaceParams *grid = wanted || (PG_ARGISNULL(9) && usually_grid(asked)) ?
		race_params_as_grid(asked->params) : NULL;
	bool		pure;

	if (wanted && grid == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a grid needs kernel l2 or l1 by itself, 1 to %d dims and finite bounds, and no transform",
						RACE_GRID_DIMS),
				 errdetail("The parameters are %s.", race_params_brief(asked->params))));
	if (grid == NULL)
		return;
	if (asked->value != NULL && !race_is_grid(asked->params))
		race_grid_round_for_halves(grid);
	pure = spares_delta(release, wanted ? grid : asked->params, grid);
	if (wanted || pure || asked->delta == 0)
	{
		RaceParamsDatum *datum = race_params_datum(grid);

		asked->params_datum = PointerGetDatum(datum);
		asked->params = &datum->params;
	}
	if (pure)
		asked->delta = 0;
}

/*
 * fit, argument 10.  By default a model is fitted where the parameters have bounds.  But of
 * a pair of grids, the nodes give better means than two models, which err each by itself.
 */
static void
choose_fit(RaceAsked *asked, FunctionCallInfo fcinfo)
{
	RaceFitRequest request;
	bool		possible = race_fit_bounds(asked->params, NULL, NULL, &request);
	bool		usual = possible && count_parts(asked) <= USUAL_FITS &&
		!(race_is_grid(asked->params) && asked->value != NULL);

	asked->fit = PG_ARGISNULL(10) ? usual : PG_GETARG_BOOL(10);
	if (asked->fit && !possible)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("only a kernel of vectors by itself, with finite bounds, can be fitted"),
				 errdetail("The parameters are %s.", race_params_brief(asked->params))));
}

/* value, value_lower and value_upper, arguments 11 to 13 */
static void
read_value(RaceAsked *asked, FunctionCallInfo fcinfo)
{
	int			i;

	if (PG_ARGISNULL(11) != PG_ARGISNULL(12) || PG_ARGISNULL(11) != PG_ARGISNULL(13))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("value, value_lower and value_upper go together"),
				 errhint("The bounds are declared, because the least and the largest value are private.")));
	asked->value = text_arg(fcinfo, 11);
	if (asked->value == NULL)
		return;
	for (i = 0; i < RACE_HALVES; i++)
		asked->bounds[i] = PG_GETARG_FLOAT8(12 + i);
	race_check_value_bounds(asked->bounds[RACE_LOWER], asked->bounds[RACE_UPPER]);
}

/* calibrate, argument 17 */
static void
read_calibrate(RaceAsked *asked, FunctionCallInfo fcinfo)
{
	asked->calibrate = PG_ARGISNULL(17) ? 0 : PG_GETARG_FLOAT8(17);
	if (PG_ARGISNULL(17))
		return;
	if (!(asked->calibrate > 0 && asked->calibrate < 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("calibrate must be a share of epsilon, above 0 and below 1")));
	if (asked->labels == 0 || asked->value != NULL || race_is_moments(asked->params))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("only sketches of labels, without a value, can be calibrated")));
}

/* Raise what is wrong with texts that readers are shown. */
static void
check_description(const Release *release)
{
	const RaceAsked *asked = &release->asked;
	RaceParameter parameters[] = {
		{release->ledger.params_type, asked->params_datum, false},
		{BOOLOID, BoolGetDatum(asked->value != NULL), false},
		RaceText(asked->name),
		RaceTexts(asked->labels),
		RaceText(asked->description),
		RaceTexts(asked->columns),
		RaceTexts(asked->units)
	};

	race_ledger_run(&release->ledger, "SELECT _racepriv._race_check_description($1, $2, $3, $4, $5, $6, $7)",
					lengthof(parameters), parameters);
}

/*
 * rows, grid, fit and value mean nothing to moments, which are always all of themselves.  With too
 * many columns for a Wishart matrix, pure noise is Laplace noise: then sums of absolute values are
 * clipped, unless the parameters say how.
 */
static void
prepare_moments(Release *release, FunctionCallInfo fcinfo)
{
	RaceAsked  *asked = &release->asked;

	if (!race_is_moments(asked->params))
		return;
	race_params_check_exact(asked->params);
	if (!asked->choose_rows || !PG_ARGISNULL(9) || !PG_ARGISNULL(10) || !PG_ARGISNULL(11))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("rows, grid, fit and value are for releases of sketches"),
				 errdetail("The parameters are %s.", race_params_brief(asked->params))));
	if (spares_delta(release, asked->params, asked->params))
		asked->delta = 0;
	else if (asked->params->clip == 0 && asked->delta == 0 &&
			 race_moments_columns(asked->params) > RACE_WISHART_COLUMNS)
	{
		/* params_datum is our own copy */
		((RaceParamsDatum *) DatumGetPointer(asked->params_datum))->params.clip = RACE_CLIP_ABSOLUTE;
	}
}

static void
read_arguments(Release *release, FunctionCallInfo fcinfo)
{
	RaceAsked  *asked = &release->asked;

	if (asked->name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("a release needs a name")));
	/* what does not fit into the index is known before the charge */
	race_check_text(asked->name, MAX_NAME, "the name of a release", NULL);
	if (PG_ARGISNULL(1) || PG_ARGISNULL(2) || PG_ARGISNULL(3) || PG_ARGISNULL(4) ||
		PG_ARGISNULL(5))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("dataset, params, expression, epsilon and delta must not be NULL")));
	asked->dataset = text_arg(fcinfo, 1);
	asked->params_datum = PointerGetDatum(PG_DETOAST_DATUM_COPY(PG_GETARG_DATUM(2)));
	asked->params = race_params_arg(asked->params_datum);
	asked->expression = text_arg(fcinfo, 3);
	asked->epsilon = PG_GETARG_FLOAT8(4);
	asked->delta = PG_GETARG_FLOAT8(5);
	asked->choose_rows = PG_ARGISNULL(6);
	asked->rows = asked->choose_rows ? 0 : PG_GETARG_INT32(6);
	prepare_moments(release, fcinfo);
	read_value(asked, fcinfo);
	choose_grid(release, fcinfo);
	asked->label = text_arg(fcinfo, 7);
	asked->labels = order_labels(release, PG_ARGISNULL(8) ? (Datum) 0 : PG_GETARG_DATUM(8));
	read_calibrate(asked, fcinfo);
	choose_fit(asked, fcinfo);
	asked->description = text_arg(fcinfo, 14);
	asked->columns = copied_arg(fcinfo, 15);
	asked->units = copied_arg(fcinfo, 16);
	check_description(release);
	asked->path = asked->run_path;
	release->version = 1;
}

/*
 * race_release(name, dataset, params, expression, epsilon, delta, rows, label, labels,
 * grid, fit, value, value_lower, value_upper, description, columns, units, calibrate)
 */
Datum
race_release(PG_FUNCTION_ARGS)
{
	Release		release;

	begin(&release, fcinfo);
	read_arguments(&release, fcinfo);
	release.checked = check(&release);
	write_request(&release);
	if (!exists(&release))
		charge_and_make(&release);
	SPI_finish();
	PG_RETURN_VOID();
}

/* The arguments that the latest version was asked with, as the ledger has them */
static void
read_last(Release *release)
{
	RaceAsked  *asked = &release->asked;
	RaceParameter name = RaceText(asked->name);
	bool		isnull;
	int			i;

	race_ledger_run(&release->ledger, "SELECT version, dataset, params, expression, epsilon, delta,"
					" rows, label, labels, fit, value, value_lower, value_upper, description, columns, units, calibrate, role FROM _racepriv._race_last_request($1)",
					1, &name);
	release->version = DatumGetInt32(race_ledger_value(1, &isnull)) + 1;
	asked->dataset = race_ledger_text(2);
	asked->params_datum = race_ledger_value(3, &isnull);
	asked->params = race_params_arg(asked->params_datum);
	asked->expression = race_ledger_text(4);
	asked->epsilon = DatumGetFloat8(race_ledger_value(5, &isnull));
	asked->delta = DatumGetFloat8(race_ledger_value(6, &isnull));
	asked->rows = DatumGetInt32(race_ledger_value(7, &asked->choose_rows));
	asked->label = race_ledger_text(8);
	asked->labels = race_ledger_value(9, &isnull);
	asked->fit = DatumGetBool(race_ledger_value(10, &isnull));
	asked->value = race_ledger_text(11);
	for (i = 0; asked->value != NULL && i < RACE_HALVES; i++)
		asked->bounds[i] = DatumGetFloat8(race_ledger_value(12 + i, &isnull));
	asked->description = race_ledger_text(14);
	asked->columns = race_ledger_value(15, &isnull);
	asked->units = race_ledger_value(16, &isnull);
	asked->calibrate = DatumGetFloat8(race_ledger_value(17, &isnull));
	release->role = DatumGetObjectId(race_ledger_value(18, &isnull));
	asked->path = RACE_SAFE_PATH;
}

/*
 * Go on as the role that made the last version, if the caller may act for it, and it may still
 * make releases.
 */
static void
become_maker(Release *release, Oid procedure)
{
	char	   *maker = GetUserNameFromId(release->role, true);

	if (maker == NULL || !race_may_set_role(release->caller, release->role))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to refresh release \"%s\"", race_cut(release->asked.name)),
				 maker == NULL ? errdetail("The role that made its last version is not known in this database.") :
				 errdetail("Its last version was made by role \"%s\", whose release it is.", maker),
				 errhint("A job that refreshes it must belong to that role, to a member of it, or to a superuser; another role makes a release of its own.")));
	act_as_maker(release);
	if (race_function_aclcheck(procedure) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_PROCEDURE, get_func_name(procedure));
}

/* race_release_next(name): with the rights of the role that made the release */
Datum
race_release_next(PG_FUNCTION_ARGS)
{
	Release		release;

	begin(&release, fcinfo);
	read_last(&release);
	become_maker(&release, fcinfo->flinfo->fn_oid);
	release.checked = check(&release);
	write_request(&release);
	charge_and_make(&release);
	SPI_finish();
	PG_RETURN_VOID();
}
