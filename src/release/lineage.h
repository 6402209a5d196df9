/*
 * lineage.h
 *		Which private tables a query reads
 */
#ifndef RACE_LINEAGE_H
#define RACE_LINEAGE_H

#include "postgres.h"

#include "nodes/nodes.h"
#include "nodes/parsenodes.h"
#include "nodes/pg_list.h"
#include "utils/rel.h"

#include "release/ledger.h"
#include "release/mutable.h"

/*
 * Which functions an expression or a query calls, seen or unseen.
 */

/* The functions that some expressions call, with the version of each definition */
typedef struct RaceCalls
{
	List *functions;     /* RaceFunction: functions in the order of the expressions */
	RaceMutable mutable; /* first function that is not IMMUTABLE */
	bool temporary;      /* is there a temporary function or type? */
	bool system_column;  /* is there a system column? */
} RaceCalls;

/*
 * Add what an expression or a query calls.  It has been analyzed, but not planned.
 * This includes the defaults of arguments and the checks of domains.
 */
extern void race_calls_add(RaceCalls *calls, Node *node);

/* Return whether these are the same functions, and none of them has been defined again. */
extern bool race_calls_same(const RaceCalls *a, const RaceCalls *b);

/* Return whether all functions of the first are among those of the second. */
extern bool race_calls_within(const RaceCalls *a, const RaceCalls *b);

/* Return the OIDs of the functions, each once. */
extern List *race_calls_list(const RaceCalls *calls);

/* Return whether none of the functions has been defined again since they were added. */
extern bool race_calls_current(const RaceCalls *calls);

/*
 * Return the first function that is neither in pg_catalog nor of the extension of the ledger or its
 * library, and of their owner, nor among other calls, or InvalidOid.
 */
extern Oid race_calls_besides(const RaceCalls *calls, const RaceLedger *ledger,
							  const RaceCalls *others);

/*
 * Return the first function whose owner may not act for a role, or InvalidOid; of pg_catalog and of
 * ours no function is looked at.
 */
extern Oid race_calls_of_others(const RaceCalls *calls, const RaceLedger *ledger, Oid role);

/*
 * Which tables a relation is made of, and whether each of its rows belongs to
 * one unit.
 */

typedef struct RaceLineage
{
	List *relations;      /* OIDs of all relations that were looked at */
	List *private_tables; /* OIDs of the base tables that are not public */
	RaceCalls calls;      /* what the definitions of views call */
} RaceLineage;

/*
 * Follow a table or view to its base tables; unit_column may be NULL, public_tables are OIDs.  All
 * relations stay locked until the transaction ends.  Raise 22023 if a row of the relation may
 * depend on more than one row of a private table, or, where FROM has more than one thing, if
 * private tables are not tied to the unit column; 42703 and 42804 for a unit column that there is
 * not, or that has no order; 42809 for what is neither a table nor a view.
 */
extern RaceLineage *race_lineage(Oid relid, const char *unit_column, List *public_tables);

/* Return whether these are the same relations and the same definitions. */
extern bool race_lineage_same(const RaceLineage *a, const RaceLineage *b);

/*
 * What the definition of a view may have in it.
 */

/* Raise 22023: this relation cannot be protected, and why. */
extern void race_refuse_relation(Oid relid, const char *why);

/* Raise 42P01 or 42704: an object of this kind was dropped by another session. */
extern void race_refuse_dropped(const char *kind) pg_attribute_noreturn();

/* Open and lock a relation; raise 42P01 if another session has dropped it. */
extern Relation race_relation_open(Oid relid);

/* Return the query that a view stands for. */
extern Query *race_view_query(Relation view);

#endif
