/*
 * dataset.h
 *		What was protected: a relation, its units, its tables and their budget
 */
#ifndef RACE_DATASET_H
#define RACE_DATASET_H

#include "postgres.h"

#include "nodes/pg_list.h"

#include "release/ledger.h"

/* What race_protect registered, as it is now; what has changed is set when tables are checked */
typedef struct RaceDataset
{
	char *name;
	Oid relation;
	char *unit_column;     /* NULL: each row is a unit */
	int max_contributions; /* records of a unit in a release */
	char *neighbors;       /* what a release hides: add_remove or substitute */
	List *public_tables;   /* OIDs, with their partitions */
	char *budget;
	bool in_zcdp;      /* does the budget add up rho? */
	bool unit_changed; /* is the unit column another column than the one that was protected? */
	/* public table that is another table than the one that was protected, or NULL */
	char *public_changed;
	char *public_remade; /* public table that may have been made anew, or NULL */
} RaceDataset;

/*
 * Return a dataset; raise 42704 if there is none of this name, and 42P01 if its relation is not
 * there.
 */
extern RaceDataset *race_dataset_look_up(const RaceLedger *ledger, const char *name);

/*
 * Let a release count at most so many records of a unit; raise 22023 if the dataset allows fewer, or
 * has no unit whose records could be left out.
 */
extern void race_dataset_bound(RaceDataset *dataset, int max_contributions);

/*
 * Raise 55000 unless all private tables belong to the budget of the dataset, 22023 if they belong
 * to several budgets, or a public one to any.  Set what has changed since the dataset was
 * protected.
 */
extern void race_dataset_check_tables(const RaceLedger *ledger, RaceDataset *dataset,
									  const List *private_tables);

/*
 * Raise 55000 if its unit column or a public table has changed, as was found when its tables were
 * checked.
 */
extern void race_dataset_check_meant(const RaceDataset *dataset);

/*
 * Return whether no table belongs to another budget than that of a dataset, and each of the new
 * ones among them to that.
 */
extern bool race_dataset_has_tables(const RaceLedger *ledger, const RaceDataset *dataset,
									const List *tables, const List *new_tables);

#endif
