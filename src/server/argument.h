/*
 * argument.h
 *		The types of arguments that are declared "any".
 */
#ifndef RACE_ARGUMENT_H
#define RACE_ARGUMENT_H

#include "postgres.h"

#include "fmgr.h"

/*
 * The type of an argument.  Raises 42804 if the caller gave no expression that says it, as
 * Citus does where it calls the functions of an aggregate on a worker.
 */
extern Oid	race_argument_type(const FmgrInfo *flinfo, int arg);

#endif							/* RACE_ARGUMENT_H */
