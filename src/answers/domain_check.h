/*
 * domain_check.h
 *		Whether the constraints of a SQL domain hold for a value
 */
#ifndef RACE_DOMAIN_CHECK_H
#define RACE_DOMAIN_CHECK_H

#include "postgres.h"

typedef struct RaceDomainCheck RaceDomainCheck;

/* Return the owner of a type. */
extern Oid race_owner_of_type(Oid type);

/*
 * Prepare the constraints of a type, and of the domains under it, in the current memory context.
 * Return NULL if it has none.  Their functions run with the rights of the owner of the type, if the
 * caller may act for her.
 */
extern RaceDomainCheck *race_domain_check_prepare(Oid type);

/* Return whether the constraints hold.  Raise what their functions raise. */
extern bool race_domain_check(RaceDomainCheck *check, Datum value, bool isnull);

#endif
