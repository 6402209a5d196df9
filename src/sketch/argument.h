/*
 * argument.h
 *		Arguments of SQL functions
 */
#ifndef RACE_ARGUMENT_H
#define RACE_ARGUMENT_H

#include "postgres.h"

#include "fmgr.h"

/*
 * Return the type of an argument.  Raise 42804 if the caller gave no expression that says it, as
 * Citus does where it calls the functions of an aggregate on a worker.
 */
extern Oid race_argument_type(const FmgrInfo *flinfo, int arg);

/*
 * Return the memory context of the state of an aggregate.  Raise 0A000 if no aggregate calls the
 * function; the hint names those that do.
 */
extern MemoryContext race_aggregate_context(FunctionCallInfo fcinfo, const char *aggregates);

#endif
