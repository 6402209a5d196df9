/*
 * dataset.c
 *		What was protected: a relation, its units, its tables and their budget
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "release/dataset.h"
#include "release/relations.h"
#include "sketch/text.h"

RaceDataset *
race_dataset_look_up(const RaceLedger *ledger, const char *name)
{
	RaceDataset *result = palloc0(sizeof(RaceDataset));
	RaceParameter parameter = RaceText(name);
	bool isnull;

	race_ledger_run(
		ledger,
		"SELECT d.relation, d.unit_column, d.max_contributions, d.neighbors,"
		" ARRAY(SELECT to_regclass(t) FROM unnest(d.public_tables) t), d.budget, b.accounting = 'zcdp'"
		" FROM _racepriv._race_dataset($1) d JOIN _racepriv.race_budgets b ON b.budget = d.budget",
		1, &parameter);
	result->name = pstrdup(name);
	result->relation = DatumGetObjectId(race_ledger_value(1, &isnull));
	result->unit_column = race_ledger_text(2);
	result->max_contributions = DatumGetInt32(race_ledger_value(3, &isnull));
	result->neighbors = race_ledger_text(4);
	result->public_tables =
		race_list_with_parts(race_oids_of(DatumGetArrayTypeP(race_ledger_value(5, &isnull))));
	result->budget = race_ledger_text(6);
	result->in_zcdp = DatumGetBool(race_ledger_value(7, &isnull));
	SPI_freetuptable(SPI_tuptable);
	return result;
}

void
race_dataset_bound(RaceDataset *dataset, int max_contributions)
{
	if (max_contributions >= 1 && max_contributions <= dataset->max_contributions &&
		(dataset->unit_column != NULL || max_contributions == dataset->max_contributions))
		dataset->max_contributions = max_contributions;
	else if (dataset->unit_column == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("dataset \"%s\" has no unit_column", race_cut(dataset->name)),
				 errdetail("max_contributions states how many rows of a unit are counted.")));
	else
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("max_contributions must be from 1 to %d", dataset->max_contributions),
			 errdetail("A release of dataset \"%s\" counts at most %d records of a unit.",
					   race_cut(dataset->name), dataset->max_contributions),
			 errhint("Its owner can change that: CALL race_protect(%s, max_contributions => %d).",
					 quote_literal_cstr(race_cut(dataset->name)), Max(max_contributions, 1))));
}

/* Return a list of relations as a parameter of a statement. */
static RaceParameter
relations_parameter(const List *relations)
{
	return (RaceParameter){get_array_type(REGCLASSOID), PointerGetDatum(race_oids_array(relations)),
						   false};
}

/*
 * Raise 55000: the tables of a dataset are not those of its budget any more.  What views are made
 * of can change after they were protected.  A table that was not among it then is not taken into
 * the budget by a release: race_protect asks for its owner.
 */
static void
refuse_tables(const RaceDataset *dataset, bool shares)
{
	ereport(
		ERROR,
		(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
		 errmsg("the tables of dataset \"%s\" are not those of its budget any more", dataset->name),
		 /* with a table of the budget, it shares that under any name */
		 shares ?
			 errhint(
				 "Protect its relation under another name: it shares the budget, with the tables that are new.") :
			 errhint(
				 "Define it as it was; after a restore, give tables their names back, and CALL race_budget_adopt(%s).",
				 quote_literal_cstr(dataset->name))));
}

void
race_dataset_check_meant(const RaceDataset *dataset)
{
	if (dataset->unit_changed)
		ereport(
			ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("unit column \"%s\" of dataset \"%s\" is another column now",
					dataset->unit_column, race_cut(dataset->name)),
			 errdetail(
				 "The column that was protected has another name. Nothing was read and nothing charged."),
			 errhint(
				 "Give the columns their names back, or protect the relation under another name: it shares the budget.")));
	if (dataset->public_changed != NULL)
		ereport(
			ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("public table \"%s\" of dataset \"%s\" is another table now",
					dataset->public_changed, race_cut(dataset->name)),
			 errdetail(
				 "It was renamed or dropped; this one has another owner or other columns. Nothing was read and nothing charged."),
			 errhint(
				 "If this one is public, too, protect the relation under another name: it shares the budget.")));
	if (dataset->public_remade != NULL)
		ereport(
			ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("public table \"%s\" of dataset \"%s\" is another table now",
					dataset->public_remade, race_cut(dataset->name)),
			 errdetail(
				 "It was dropped; this one has the same columns. Nothing was read and nothing charged."),
			 errhint("If this one is public, too, CALL race_budget_adopt(%s).",
					 quote_literal_cstr(dataset->name))));
}

void
race_dataset_check_tables(const RaceLedger *ledger, RaceDataset *dataset,
						  const List *private_tables)
{
	RaceParameter parameters[] = {RaceText(dataset->budget), relations_parameter(private_tables),
								  relations_parameter(dataset->public_tables),
								  RaceText(dataset->name)};
	bool shares;
	bool isnull;

	race_ledger_run(
		ledger,
		"SELECT _racepriv._race_find_budget($2, $3) IS NOT DISTINCT FROM $1, NOT EXISTS ("
		"SELECT FROM unnest(_racepriv._race_topmost($2)) t WHERE NOT EXISTS ("
		"SELECT FROM _racepriv._race_table_entries e WHERE e.relation = t AND e.belongs)), m.unit_changed, m.public_changed, m.public_remade"
		" FROM _racepriv._race_datasets_meant m WHERE m.dataset = $4",
		lengthof(parameters), parameters);
	shares = DatumGetBool(race_ledger_value(1, &isnull));
	if (!shares || !DatumGetBool(race_ledger_value(2, &isnull)))
		refuse_tables(dataset, shares);
	dataset->unit_changed = DatumGetBool(race_ledger_value(3, &isnull));
	dataset->public_changed = race_ledger_text(4);
	dataset->public_remade = race_ledger_text(5);
}

bool
race_dataset_has_tables(const RaceLedger *ledger, const RaceDataset *dataset, const List *tables,
						const List *new_tables)
{
	RaceParameter parameters[] = {relations_parameter(tables), relations_parameter(new_tables),
								  RaceText(dataset->budget)};
	bool isnull;

	race_ledger_run(
		ledger,
		"SELECT count(*) FILTER (WHERE e.budget <> $3) = 0"
		" AND count(DISTINCT e.relation) FILTER (WHERE e.relation = ANY ($2)) = cardinality($2)"
		" FROM _racepriv._race_table_entries e WHERE e.relation = ANY ($1) AND e.belongs",
		lengthof(parameters), parameters);
	return DatumGetBool(race_ledger_value(1, &isnull));
}
