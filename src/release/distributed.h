/*
 * distributed.h
 *		Tables that Citus has distributed
 */
#ifndef RACE_DISTRIBUTED_H
#define RACE_DISTRIBUTED_H

#include "postgres.h"

/* Return whether Citus is in this database. */
extern bool race_citus_is_here(void);

/*
 * Return whether Citus has distributed a table.  Of a reference table each server has all rows: it
 * is not.
 */
extern bool race_is_distributed(Oid relid);

#endif
