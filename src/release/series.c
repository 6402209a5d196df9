/*
 * series.c
 *		Series: releases of intervals of time for one charge
 *
 * The values of a series are releases of 1, 8, 64, ... intervals of time (src/core/series.h).  Those of one length have no
 * row in common: like labels, they cost together what one of them costs, if a unit has no more records in all of them
 * than in one.  Without a unit column that is the owner's promise.  With one, the ledger counts the records of each unit in
 * the values of each length, in the transaction that stores the value, and the next one takes only what is left.  So the
 * bound holds whatever is inserted, changed or deleted meanwhile.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "utils/builtins.h"

#include "../core/series.h"
#include "read.h"
#include "release.h"
#include "series.h"

void
race_series_check(const RaceLedger *ledger, RaceAsked *asked)
{
	RaceDataset *dataset = race_ledger_dataset(ledger, asked->dataset);
	RaceParameter parameters[] = {
		{OIDOID, ObjectIdGetDatum(dataset->relation), false},
		{NAMEOID, dataset->unit_column == NULL ? (Datum) 0 :
		DirectFunctionCall1(namein, CStringGetDatum(dataset->unit_column)), dataset->unit_column == NULL},
		{JSONBOID, asked->series, false}
	};
	RaceParameter complete[] = {{JSONBOID, (Datum) 0, false}, {INT4OID, (Datum) 0, false}};
	uint32		intervals;
	uint32		lengths;
	bool		isnull;

	race_ledger_run(ledger, "SELECT s, (s->>'intervals')::int, (s->>'lengths')::int FROM _racepriv._race_series($1, $2, $3) s",
					lengthof(parameters), parameters);
	complete[0].value = race_ledger_value(1, &isnull);
	intervals = DatumGetInt32(race_ledger_value(2, &isnull));
	lengths = DatumGetInt32(race_ledger_value(3, &isnull));
	lengths = isnull ? race_series_levels(intervals, asked->delta > 0 ? 1 : RACE_SERIES_LEAST) :
		Min(lengths, race_series_levels(intervals, 1));
	complete[1].value = Int32GetDatum(lengths);
	race_ledger_run(ledger, "SELECT $1 || jsonb_build_object('lengths', $2)", lengthof(complete), complete);
	asked->series = race_ledger_value(1, &isnull);
}

bool
race_series_use(const RaceLedger *ledger, RaceAsked *asked, int version, char **closes)
{
	RaceParameter parameters[] = {
		{JSONBOID, asked->series, false}, {INT4OID, (Datum) 0, false}, {INT4OID, (Datum) 0, false}
	};
	uint32		first;
	bool		isnull;

	race_ledger_run(ledger, "SELECT ($1->>'lengths')::int", 1, parameters);
	asked->levels = DatumGetInt32(race_ledger_value(1, &isnull));
	race_series_value(version, asked->levels, &first, &asked->length);
	parameters[1].value = Int32GetDatum(first);
	parameters[2].value = Int32GetDatum(asked->length);
	/* its time, which rows are in it, whether it is over, and when; NULL after the end of the series */
	race_ledger_run(ledger, "SELECT tsrange(t.low, t.high),"
					" format('%1$I >= %2$L::%4$s AND %1$I < %3$L::%4$s', $1->>'by', t.low || t.zone, t.high || t.zone, $1->>'type'),"
					" t.closes <= statement_timestamp() AT TIME ZONE 'UTC' AND t.there, CASE WHEN t.there THEN t.closes::text END, $1->>'by'"
					" FROM (SELECT i.low, i.high, i.high + ($1->>'delay')::interval, $2 + $3 <= ($1->>'intervals')::int,"
					" CASE WHEN $1->>'type' LIKE '%with time zone' THEN '+00' ELSE '' END"
					" FROM (SELECT ($1->>'starting')::timestamp + $2 * ($1->>'every')::interval,"
					" ($1->>'starting')::timestamp + ($2 + $3) * ($1->>'every')::interval) i (low, high)) t (low, high, closes, there, zone)",
					lengthof(parameters), parameters);
	asked->during = race_ledger_value(1, &isnull);
	asked->condition = race_ledger_text(2);
	*closes = race_ledger_text(4);
	asked->by = race_ledger_text(5);
	return DatumGetBool(race_ledger_value(3, &isnull));
}

int
race_series_next(const RaceLedger *ledger, Datum charge)
{
	RaceParameter parameter = {UUIDOID, charge, false};
	bool		isnull;

	race_ledger_run(ledger, "SELECT b.identity = _racepriv._race_identity() FROM _racepriv.race_charges c"
					" JOIN _racepriv.race_budgets b ON b.budget = c.budget WHERE c.charge = $1 FOR UPDATE OF c",
					1, &parameter);
	if (SPI_processed != 1 || !DatumGetBool(race_ledger_value(1, &isnull)))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the budget of the series was last spent in another copy of this database"),
				 errhint("If this copy is to go on with it, and no other, CALL race_budget_adopt(dataset).")));
	/* a new statement sees what was stored while this session waited */
	race_ledger_run(ledger, "SELECT coalesce(max(r.version), 0) + 1 FROM _racepriv.race_releases r WHERE r.charge = $1",
					1, &parameter);
	return DatumGetInt32(race_ledger_value(1, &isnull));
}

void
race_series_load_units(const RaceLedger *ledger, const RaceAsked *asked, const RaceChecked *checked)
{
	RaceParameter parameters[] = {
		RaceText(asked->name), {INT4OID, Int32GetDatum(asked->length), false}
	};

	if (checked->series_units == NULL)
		return;
	race_ledger_run(ledger, "SELECT array_agg(s.unit), array_agg(s.records) FROM _racepriv.race_series_units s"
					" WHERE s.name = $1 AND s.length = $2",
					lengthof(parameters), parameters);
	checked->series_units->constvalue = race_ledger_value(1, &checked->series_units->constisnull);
	checked->series_records->constvalue = race_ledger_value(2, &checked->series_records->constisnull);
}

/* Nothing is logged or counted while exact numbers are parameters. */
void
race_series_store_units(const RaceLedger *ledger, const RaceAsked *asked, const RaceChecked *checked)
{
	ListCell   *cell;
	int			level = NewGUCNestLevel();

	race_read_set_quiet();
	foreach(cell, checked->units)
	{
		RaceParameter parameters[] = {
			RaceText(asked->name), {INT4OID, Int32GetDatum(asked->length), false},
			{TEXTARRAYOID, PointerGetDatum(lfirst(cell)), false}
		};

		race_ledger_run(ledger, "INSERT INTO _racepriv.race_series_units AS s (name, length, unit, records)"
						" SELECT $1, $2, u, count(*) FROM unnest($3) u GROUP BY u"
						" ON CONFLICT (name, length, unit) DO UPDATE SET records = s.records + excluded.records",
						lengthof(parameters), parameters);
	}
	AtEOXact_GUC(false, level);
}
