/*
 * authority.h
 *		With whose rights code of others runs
 *
 * Views, SQL domains, types, operators, casts, indexes and expressions call functions that their
 * owners can replace at any time, while a query is parsed, planned and executed.
 */
#ifndef RACE_AUTHORITY_H
#define RACE_AUTHORITY_H

#include "postgres.h"

/* The user, security context and level of settings before another role acted */
typedef struct RaceAuthority
{
	Oid user;
	int context;
	int level;
} RaceAuthority;

/*
 * Return the role with whose rights the code of an owner runs for a caller: the owner, if the
 * caller may act for her; else the caller, so that nobody gains a right.
 */
extern Oid race_authority_of(Oid caller, Oid owner);

/*
 * Act as a role: run code of others, which can then neither take back the caller's rights nor leave
 * anything in her session.  An error of the transaction ends it, too.
 */
extern void race_authority_begin(RaceAuthority *before, Oid role);

/* Act as a role: run a statement of this extension alone. */
extern void race_authority_begin_own(RaceAuthority *before, Oid role);

/* End either; settings that were made meanwhile are undone. */
extern void race_authority_end(const RaceAuthority *before);

#endif
