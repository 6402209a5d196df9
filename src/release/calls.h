/*
 * calls.h
 *		Which functions an expression or a query calls, seen or unseen.
 */
#ifndef RACE_CALLS_H
#define RACE_CALLS_H

#include "postgres.h"

#include "nodes/nodes.h"
#include "nodes/pg_list.h"

/* The functions that some expressions call, with the version of each definition */
typedef struct RaceCalls
{
	List	   *functions;		/* of RaceFunction, in the order of the expressions */
	bool		mutable;		/* is there one that is not IMMUTABLE? */
	bool		temporary;		/* is there a temporary function or type? */
	bool		system_column;	/* is there a system column? */
} RaceCalls;

/*
 * Add what an expression or a query calls.  It has been analyzed, but not planned.
 * This includes the defaults of arguments and the checks of domains.
 */
extern void race_calls_add(RaceCalls *calls, Node *node);

/* Are these the same functions, and has none of them been defined again? */
extern bool race_calls_same(const RaceCalls *a, const RaceCalls *b);

/* Are all functions of the first among those of the second? */
extern bool race_calls_within(const RaceCalls *a, const RaceCalls *b);

/* Has none of the functions been defined again since they were added? */
extern bool race_calls_current(const RaceCalls *calls);

/*
 * Return the first function that is neither in pg_catalog nor of an extension, and of this
 * owner, nor among other calls, or InvalidOid.
 */
extern Oid	race_calls_besides(const RaceCalls *calls, Oid extension, Oid owner,
							   const RaceCalls *others);

#endif							/* RACE_CALLS_H */
