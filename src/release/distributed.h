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
 * Where Citus is loaded, rewrite queries over distributed tables into a form that it can split,
 * from now on: race_build(params, x) as race_build_records(params, race_record(params, x)), and
 * race_released(name) as (SELECT race_released(name)), which is looked up once, before the
 * query goes to the servers.
 */
extern void race_distributed_init(void);

#endif							/* RACE_DISTRIBUTED_H */
