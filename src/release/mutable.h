/*
 * mutable.h
 *		Functions that are not IMMUTABLE, by name, and what to write instead
 */
#ifndef RACE_MUTABLE_H
#define RACE_MUTABLE_H

#include "postgres.h"

#include "nodes/nodes.h"

/* What an expression calls that may answer differently each time */
typedef struct RaceMutable
{
	const char *name;    /* name of what is mutable; NULL: nothing is */
	const char *instead; /* hint: what to write in its place */
} RaceMutable;

/* Return the first such function of an expression or a query. */
extern RaceMutable race_mutable_in(Node *node);

/* Return the same of a function; nothing if it is IMMUTABLE. */
extern RaceMutable race_mutable_function(Oid function);

#endif
