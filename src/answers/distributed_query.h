/*
 * distributed_query.h
 *		Queries over tables that Citus has distributed
 */
#ifndef RACE_DISTRIBUTED_QUERY_H
#define RACE_DISTRIBUTED_QUERY_H

/*
 * Where Citus is loaded, rewrite queries over distributed tables into a form that it can split,
 * from now on: race_build(params, x) as race_build_records(params, race_record(params, x)), and
 * race_released(name) as (SELECT race_released(name)), which is looked up once, before the
 * query goes to the servers.
 */
extern void race_distributed_init(void);

#endif
