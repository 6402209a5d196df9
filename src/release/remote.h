/*
 * remote.h
 *		Foreign tables and shards
 */
#ifndef RACE_REMOTE_H
#define RACE_REMOTE_H

#include "postgres.h"

#include "nodes/execnodes.h"
#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"

/*
 * Relations whose rows lie on other servers, and how they are read there.
 */

/*
 * Return the tables to build sketches of, one for each server: a foreign table or one that Citus
 * has distributed is its own only part; a partitioned table with foreign partitions has all of its
 * partitions, which stay locked until the transaction ends.  NIL for other relations, and where
 * partitions have other columns than the whole.  With labels only Citus builds there.
 */
extern List *race_parts_of(Oid relid, bool labels);

/*
 * Let a plan that reads partitions alone need no rights of its own.  Rows of partitions are read by
 * the right to read the whole, as where PostgreSQL expands a partitioned table itself.
 */
extern void race_parts_need_no_rights(PlannedStmt *plan);

/* A query that asks a server for a table, but for no row of it */
typedef struct RaceProbe
{
	Query *query;
	char *place; /* table and server, for messages */
} RaceProbe;

/*
 * Return probes (a list of RaceProbe) of all foreign tables that a plan reads, for the users and
 * the columns that it reads, and of those among some relations that Citus has distributed.  They
 * need no rights of their own, either.
 */
extern List *race_parts_probes(PlanState *plan, const List *relations);

#endif
