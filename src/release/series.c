/*
 * series.c
 *		Series: releases of intervals of time for one charge
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"

#include "privacy/series.h"
#include "release/column_source.h"
#include "release/names.h"
#include "release/privatize.h"
#include "release/series.h"

/*
 * The values of a series are releases of 1, 8, 64, ... intervals of time (privacy/series.h).
 * Those of one length have no row in common: like labels, they cost together what one of them
 * costs, if a unit has no more records in all of them than in one.  Without a unit column that is
 * the owner's promise.  With one, the ledger counts the records of each unit in the values of each
 * length, in the transaction that stores the value, and the next one takes only what is left.  So
 * the bound holds whatever is inserted, changed or deleted meanwhile.
 */

double
race_part_of_series(double epsilon, double delta, uint32 levels)
{
	/* delta alone allows some noise, and a part of that may suffice for no epsilon */
	double part = levels == 0 ?
		epsilon :
		race_series_epsilon(race_checked_epsilon(epsilon), race_checked_delta(delta), levels);

	if (levels > 0 && part == 0)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("epsilon is too small for the values of a series"),
			 errdetail(
				 "Epsilon is %g, delta %g, and values have %u lengths. Nothing was read and nothing charged.",
				 epsilon, delta, levels),
			 delta > 0 ?
				 errhint(
					 "Use a larger epsilon, or a delta that is far below epsilon. Were epsilon and delta swapped?") :
				 errhint("Use a larger epsilon.")));
	return part;
}

/* --------------------------------------------------------- its description */

/* Return the value of a key of a series; NULL if it has none. */
static JsonbValue *
value_of(Datum series, const char *key)
{
	JsonbValue name = {.type = jbvString};

	name.val.string.val = unconstify(char *, key);
	name.val.string.len = strlen(key);
	return findJsonbValueFromContainer(&DatumGetJsonbP(series)->root, JB_FOBJECT, &name);
}

/* Return the column that says when a row was made; NULL if the series names none. */
static char *
time_column(Datum series)
{
	const JsonbValue *by = value_of(series, "by");

	return by == NULL || by->type != jbvString ? NULL :
												 pnstrdup(by->val.string.val, by->val.string.len);
}

/* Return how many intervals of a kind a complete series has; 0 if it does not say. */
static uint32
number_of(Datum series, const char *key)
{
	const JsonbValue *number = value_of(series, key);

	return number == NULL || number->type != jbvNumeric ?
		0 :
		(uint32) DatumGetInt32(
			DirectFunctionCall1(numeric_int4, NumericGetDatum(number->val.numeric)));
}

/* Return the type of the column with the time of a row, as a parameter of a statement. */
static RaceParameter
time_type(const RaceDataset *dataset, Datum series)
{
	char *column = time_column(series);
	AttrNumber number = column == NULL ? InvalidAttrNumber : get_attnum(dataset->relation, column);
	Oid type = number > 0 ? get_atttype(dataset->relation, number) : InvalidOid;

	return (RaceParameter){REGTYPEOID, ObjectIdGetDatum(type), !OidIsValid(type)};
}

/* Return whether units can be counted by their texts: equal units must have equal texts. */
static RaceParameter
units_have_texts(const RaceDataset *dataset)
{
	bool good = true;

	if (dataset->unit_column != NULL)
	{
		Oid type;
		int32 typmod;
		Oid collation;

		get_atttypetypmodcoll(dataset->relation,
							  race_column_number(dataset->relation, dataset->unit_column), &type,
							  &typmod, &collation);
		good = (type == INT2OID || type == INT4OID || type == INT8OID || type == UUIDOID ||
				type == TEXTOID || type == VARCHAROID) &&
			(!OidIsValid(collation) || get_collation_isdeterministic(collation));
	}
	return (RaceParameter){BOOLOID, BoolGetDatum(good), false};
}

/* ----------------------------------------------------------------- its basis */

/*
 * Return how the column is computed that says the unit of a row, or without one the time, as
 * jsonb.
 */
static RaceParameter
source_of(const RaceDataset *dataset, const char *column)
{
	char *source =
		race_column_source(dataset->relation, race_column_number(dataset->relation, column));

	return (RaceParameter){JSONBOID, DirectFunctionCall1(jsonb_in, CStringGetDatum(source)), false};
}

/* What the bound of a series depends on, as jsonb, of the first five parameters of a statement */
#define BASIS "_racepriv._race_series_basis($1, $2, $3, $4, $5)"
#define BASIS_PARAMETERS(dataset, column) \
	source_of(dataset, column), RaceText(column), \
		{BOOLOID, BoolGetDatum((dataset)->unit_column != NULL), false}, \
		{INT4OID, Int32GetDatum((dataset)->max_contributions), false}, \
		RaceText((dataset)->neighbors)

/* Return the column that the bound of a series depends on. */
static const char *
bounded_column(const RaceDataset *dataset, Datum series)
{
	return dataset->unit_column != NULL ? dataset->unit_column : time_column(series);
}

void
race_series_check_again(const RaceLedger *ledger, const RaceDataset *dataset, const char *name,
						Datum series)
{
	const char *column = bounded_column(dataset, series);
	RaceParameter parameters[] = {BASIS_PARAMETERS(dataset, column),
								  RaceText(name),
								  {JSONBOID, series, false},
								  time_type(dataset, series),
								  units_have_texts(dataset)};

	race_ledger_run(ledger, "SELECT _racepriv._race_check_series($6, $7, " BASIS ", $8, $9)",
					lengthof(parameters), parameters);
}

Datum
race_series_complete(const RaceLedger *ledger, const RaceDataset *dataset, Datum series,
					 double delta)
{
	RaceParameter asked[] = {{JSONBOID, series, false},
							 time_type(dataset, series),
							 units_have_texts(dataset)};
	uint32 intervals;
	uint32 lengths;
	bool isnull;

	race_ledger_run(ledger, "SELECT _racepriv._race_series($1, $2, $3)", lengthof(asked), asked);
	series = race_ledger_value(1, &isnull);
	intervals = number_of(series, "intervals");
	lengths = number_of(series, "lengths");
	lengths = lengths == 0 ? race_series_levels(intervals, delta > 0 ? 1 : RACE_SERIES_LEAST) :
							 Min(lengths, race_series_levels(intervals, 1));
	{
		const char *column = bounded_column(dataset, series);
		RaceParameter complete[] = {BASIS_PARAMETERS(dataset, column),
									{JSONBOID, series, false},
									{INT4OID, Int32GetDatum(lengths), false}};

		race_ledger_run(ledger,
						"SELECT $6 || jsonb_build_object('lengths', $7, 'basis', " BASIS ")",
						lengthof(complete), complete);
	}
	return race_ledger_value(1, &isnull);
}

/* ------------------------------------------------------------- its values */

bool
race_series_use(const RaceLedger *ledger, Datum series, int version, RaceSeriesInterval *interval,
				char **closes)
{
	RaceParameter parameters[] = {{JSONBOID, series, false},
								  {INT4OID, (Datum) 0, false},
								  {INT4OID, (Datum) 0, false}};
	uint32 first;
	bool isnull;

	interval->levels = number_of(series, "lengths");
	race_series_value(version, interval->levels, &first, &interval->length);
	parameters[1].value = Int32GetDatum(first);
	parameters[2].value = Int32GetDatum(interval->length);
	/*
	 * its time, which rows are in it, whether it is over, and when; NULL after the end of the
	 * series
	 */
	race_ledger_run(
		ledger,
		"SELECT tsrange(t.low, t.high),"
		" format('%1$I >= %2$L::%4$s AND %1$I < %3$L::%4$s', $1->>'by', t.low || t.zone, t.high || t.zone, $1->>'type'),"
		" t.closes <= statement_timestamp() AT TIME ZONE 'UTC' AND t.there, CASE WHEN t.there THEN t.closes::text END"
		" FROM (SELECT i.low, i.high, i.high + ($1->>'delay')::interval, $2 + $3 <= ($1->>'intervals')::int,"
		" CASE WHEN $1->>'type' LIKE '%with time zone' THEN '+00' ELSE '' END"
		" FROM (SELECT ($1->>'starting')::timestamp + $2 * ($1->>'every')::interval,"
		" ($1->>'starting')::timestamp + ($2 + $3) * ($1->>'every')::interval) i (low, high)) t (low, high, closes, there, zone)",
		lengthof(parameters), parameters);
	interval->during = race_ledger_value(1, &isnull);
	interval->condition = race_ledger_text(2);
	*closes = race_ledger_text(4);
	interval->by = time_column(series);
	return DatumGetBool(race_ledger_value(3, &isnull));
}
