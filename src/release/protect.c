/*
 * protect.c
 *		What owners do with budgets: race_protect, race_budget_limit, race_budget_adopt,
 *		race_refreshes_left
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "release/privatize.h"
#include "release/describe.h"
#include "release/ledger.h"
#include "release/lineage.h"
#include "release/relations.h"

PG_FUNCTION_INFO_V1(race_protect);
PG_FUNCTION_INFO_V1(race_budget_limit);
PG_FUNCTION_INFO_V1(race_budget_adopt);
PG_FUNCTION_INFO_V1(race_refreshes_left);
PG_FUNCTION_INFO_V1(race_rho_limit);

/* Return the statement _racepriv._NAME($1, $2, ...), with n parameters. */
static char *
statement_for(const char *name, int n)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, "SELECT _racepriv._%s($1", name);
	for (int i = 2; i <= n; i++)
		appendStringInfo(&text, ", $%d", i);
	appendStringInfoChar(&text, ')');
	return text.data;
}

static RaceParameter
argument_parameter(FunctionCallInfo fcinfo, int i)
{
	return (RaceParameter){get_fn_expr_argtype(fcinfo->flinfo, i), PG_GETARG_DATUM(i),
						   PG_ARGISNULL(i)};
}

/* Call the internal function of this name with the arguments of this call. */
static void
call_internal(const RaceLedger *ledger, FunctionCallInfo fcinfo, const char *name,
			  NullableDatum *result)
{
	RaceParameter parameters[FUNC_MAX_ARGS];
	int n = 0;

	parameters[n++] = race_ledger_role(GetUserId());
	for (int i = 0; i < PG_NARGS(); i++)
		parameters[n++] = argument_parameter(fcinfo, i);
	race_ledger_run(ledger, statement_for(name, n), n, parameters);
	result->value = race_ledger_value(1, &result->isnull);
	SPI_finish();
}

/* The arguments of race_protect(), and what the internal function has in place of the last one */
enum
{
	PROTECT_DATASET,
	PROTECT_RELATION,
	PROTECT_UNIT = 4,
	PROTECT_MOST,
	PROTECT_NEIGHBORS,
	PROTECT_PUBLIC = 8,
	PROTECT_ARGUMENTS,
	PROTECT_COLUMNS = PROTECT_ARGUMENTS,
	PROTECT_TABLES = PROTECT_ARGUMENTS,
	PROTECT_ONE_ROW,
	PROTECT_PARAMETERS
};

/*
 * Return the private tables of a relation.  Its definition is looked at by the current user, who
 * must own it: nothing of it is for the owner of the ledger to run.
 */
static RaceParameter
private_tables(const RaceParameter *arguments)
{
	Oid relation = DatumGetObjectId(arguments[PROTECT_RELATION].value);
	const RaceParameter *unit = &arguments[PROTECT_UNIT];
	RaceLineage *lineage;

	if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relation)))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relation)));
	race_act_check_owner(relation);
	lineage = race_lineage(
		relation, unit->isnull ? NULL : NameStr(*DatumGetName(unit->value)),
		race_list_with_parts(race_oids_of(DatumGetArrayTypeP(arguments[PROTECT_PUBLIC].value))));
	return (RaceParameter){get_array_type(REGCLASSOID),
						   PointerGetDatum(race_oids_array(lineage->private_tables)), false};
}

/* Return whether a unique index states that each unit has one row; without a unit, each row is one. */
static bool
has_one_row_each(const RaceParameter *arguments)
{
	const RaceParameter *unit = &arguments[PROTECT_UNIT];
	Relation relation;
	AttrNumber number;
	bool unique;

	if (unit->isnull)
		return true;
	relation = race_relation_open(DatumGetObjectId(arguments[PROTECT_RELATION].value));
	number = get_attnum(RelationGetRelid(relation), NameStr(*DatumGetName(unit->value)));
	unique = number > 0 && race_is_unique_over(relation, number, number);
	relation_close(relation, NoLock);
	return unique;
}

/* Protect a new dataset, which is called like its relation, unless that is given, too. */
static void
protect_dataset(const RaceLedger *ledger, RaceParameter *parameters)
{
	RaceParameter *arguments = parameters + 1;
	RaceParams any = {.rows = 1};
	int rows = 1;
	bool known;

	if (arguments[PROTECT_RELATION].isnull && !arguments[PROTECT_DATASET].isnull)
	{
		arguments[PROTECT_RELATION].isnull = false;
		arguments[PROTECT_RELATION].value =
			ObjectIdGetDatum(race_table_named(DatumGetTextPP(arguments[PROTECT_DATASET].value)));
	}
	/* raise what a release of such units would */
	if (!arguments[PROTECT_NEIGHBORS].isnull)
		(void) race_make_request(
			&any, 1, 0, &rows,
			arguments[PROTECT_MOST].isnull ? 1 : DatumGetInt32(arguments[PROTECT_MOST].value),
			TextDatumGetCString(arguments[PROTECT_NEIGHBORS].value), false);
	/* what is NULL is an error of the internal function */
	known = !arguments[PROTECT_RELATION].isnull && !arguments[PROTECT_PUBLIC].isnull;
	arguments[PROTECT_TABLES] = known ?
		private_tables(arguments) :
		(RaceParameter){get_array_type(REGCLASSOID), (Datum) 0, true};
	arguments[PROTECT_ONE_ROW] =
		(RaceParameter){BOOLOID, BoolGetDatum(known && has_one_row_each(arguments)), false};
	race_ledger_run(ledger, statement_for("race_protect", 1 + PROTECT_PARAMETERS),
					1 + PROTECT_PARAMETERS, parameters);
}

/* Correct a dataset: how many records of a unit are counted, and with its columns what they have. */
static void
correct_dataset(const RaceLedger *ledger, RaceParameter *parameters, bool columns)
{
	RaceParameter *arguments = parameters + 1;
	RaceParams any = {.rows = 1};
	int rows = 1;

	if (!arguments[PROTECT_MOST].isnull)
		(void) race_make_request(&any, 1, 0, &rows, DatumGetInt32(arguments[PROTECT_MOST].value),
								 race_neighbors_name(RACE_NEIGHBORS_ADD_REMOVE), false);
	arguments[PROTECT_TABLES] = (RaceParameter){BOOLOID, BoolGetDatum(columns), false};
	race_ledger_run(ledger, statement_for("race_correct", 1 + PROTECT_ONE_ROW), 1 + PROTECT_ONE_ROW,
					parameters);
}

/* Tell that rows are protected, not persons. */
static void
tell_rows(Oid relation)
{
	ereport(
		NOTICE,
		(errmsg("each row of \"%s\" is protected as a person of its own", get_rel_name(relation)),
		 errhint(
			 "If a person can have several rows, protect the table with unit_column, the column that says whose a row is.")));
}

/* Return whether a dataset has this name. */
static bool
dataset_exists(const RaceLedger *ledger, const RaceParameter *name)
{
	if (name->isnull)
		return false;
	race_ledger_run(ledger, "SELECT FROM _racepriv.race_datasets d WHERE d.dataset = $1", 1, name);
	return SPI_processed > 0;
}

/*
 * Protect a relation, or correct the dataset that it is: race_protect(dataset, relation,
 * epsilon_limit, delta_limit, unit_column, max_contributions, neighbors, accounting, public_tables,
 * columns).
 */
Datum
race_protect(PG_FUNCTION_ARGS)
{
	RaceLedger ledger;
	RaceParameter parameters[1 + PROTECT_PARAMETERS];
	bool columns = !PG_ARGISNULL(PROTECT_COLUMNS);
	bool exists;

	race_check_duty(fcinfo, "owner");
	race_act_begin(&ledger, fcinfo, true);
	parameters[0] = race_ledger_role(GetUserId());
	for (int i = 0; i < PROTECT_ARGUMENTS; i++)
		parameters[1 + i] = argument_parameter(fcinfo, i);
	exists = dataset_exists(&ledger, &parameters[1 + PROTECT_DATASET]);
	if (exists)
		correct_dataset(&ledger, parameters, columns);
	else
		protect_dataset(&ledger, parameters);
	if (columns)
		race_describe_columns(&ledger, text_to_cstring(PG_GETARG_TEXT_PP(PROTECT_DATASET)),
							  PG_GETARG_DATUM(PROTECT_COLUMNS));
	SPI_finish();
	if (!exists && PG_ARGISNULL(PROTECT_UNIT))
		tell_rows(DatumGetObjectId(parameters[1 + PROTECT_RELATION].value));
	PG_RETURN_VOID();
}

Datum
race_budget_limit(PG_FUNCTION_ARGS)
{
	RaceLedger ledger;
	NullableDatum nothing;

	race_check_duty(fcinfo, "owner");
	race_act_begin(&ledger, fcinfo, true);
	call_internal(&ledger, fcinfo, "race_budget_limit", &nothing);
	PG_RETURN_VOID();
}

Datum
race_budget_adopt(PG_FUNCTION_ARGS)
{
	RaceLedger ledger;
	NullableDatum nothing;

	race_check_duty(fcinfo, "owner");
	race_act_begin(&ledger, fcinfo, true);
	call_internal(&ledger, fcinfo, "race_budget_adopt", &nothing);
	PG_RETURN_VOID();
}

/*
 * Return how many versions the budget still pays for, a bigint, passed by value:
 * race_refreshes_left(name).
 */
Datum
race_refreshes_left(PG_FUNCTION_ARGS)
{
	RaceLedger ledger;
	NullableDatum left;

	race_check_duty(fcinfo, "curator");
	race_act_begin(&ledger, fcinfo, false);
	call_internal(&ledger, fcinfo, "race_refreshes_left", &left);
	if (left.isnull)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(left.value);
}

/* Return the largest rho that epsilon and delta allow: race_rho_limit(epsilon, delta). */
Datum
race_rho_limit(PG_FUNCTION_ARGS)
{
	double epsilon = PG_GETARG_FLOAT8(0);
	double delta = PG_GETARG_FLOAT8(1);

	if (!(epsilon >= RACE_MIN_EPSILON && epsilon <= RACE_MAX_EPSILON) ||
		!(delta >= RACE_MIN_DELTA && delta < 1))
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg(
				 "a budget of zCDP needs epsilon between %g and %g, and delta above 0 and below 1",
				 RACE_MIN_EPSILON, RACE_MAX_EPSILON)));
	PG_RETURN_FLOAT8(race_rho_allowed(epsilon, delta));
}
