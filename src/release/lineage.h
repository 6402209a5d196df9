/*
 * lineage.h
 *		Which tables a relation is made of, and whether each of its rows belongs to
 *		one unit.
 */
#ifndef RACE_LINEAGE_H
#define RACE_LINEAGE_H

#include "postgres.h"

#include "calls.h"

typedef struct RaceLineage
{
	List	   *relations;		/* OIDs of all relations that were looked at, */
	List	   *private_tables; /* and of the base tables that are not public */
	RaceCalls	calls;			/* what the definitions of views call */
} RaceLineage;

/*
 * Follow a table or view to its base tables; unit_column may be NULL, public_tables
 * are OIDs.  All relations stay locked until the transaction ends.  Raises 22023 if
 * a row of the relation may depend on more than one row of a private table, or, where
 * FROM has more than one thing, if private tables are not tied to the unit column;
 * 42703 and 42804 for a unit column that there is not, or that has no order; 42809 for
 * what is neither a table nor a view.
 */
extern RaceLineage *race_lineage(Oid relid, const char *unit_column,
								 List *public_tables);

/* Are these the same relations and the same definitions? */
extern bool race_lineage_same(const RaceLineage *a, const RaceLineage *b);

#endif							/* RACE_LINEAGE_H */
