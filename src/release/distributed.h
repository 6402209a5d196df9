/*
 * distributed.h
 *		Tables that Citus has distributed, and queries over them.
 */
#ifndef RACE_DISTRIBUTED_H
#define RACE_DISTRIBUTED_H

#include "postgres.h"

/* Has Citus distributed a table?  Of a reference table each server has all rows: it is not. */
extern bool race_is_distributed(Oid relid);

/*
 * Have the planner see queries over distributed tables in a form that Citus can split, from now
 * on: race_build(params, x) as race_build_records(params, race_record(params, x)), and
 * race_released(name) as (SELECT race_released(name)), which is looked up once, before the
 * query goes to the servers.
 */
extern void race_distributed_init(void);

#endif							/* RACE_DISTRIBUTED_H */
