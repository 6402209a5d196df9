/*
 * names.h
 *		Names of releases, tables and columns
 */
#ifndef RACE_NAMES_H
#define RACE_NAMES_H

#include "postgres.h"

#include "access/attnum.h"
#include "nodes/pg_list.h"

#include "sketch/snapshot_key.h"

/* The schema of the ledger, and of all routines that users do not call */
#define RACE_SCHEMA "_racepriv"

/* A name that was looked up */
typedef struct RaceNamed
{
	char *name;          /* name, or NULL before the first one */
	Oid role;            /* role that looked it up */
	RaceSnapshotKey key; /* snapshot that it was looked up in */
} RaceNamed;

/* Return whether a look at this name would find now what was found last. */
extern bool race_named_is(const RaceNamed *named, const char *name);

/* Remember what was found now; the name is copied. */
extern void race_named_set(RaceNamed *named, const char *name, MemoryContext context);

/* Return the one of n names that is most like another one; NULL if none is like it. */
extern const char *race_nearest_name(const char *name, const char *const *names, uint64 n);

/* Return the table that a text names; raise 42P01 if there is none. */
extern Oid race_table_named(const text *name);

/* Return the number of a column of a relation; raise 42703 if there is none of this name. */
extern AttrNumber race_column_number(Oid relation, const char *name);

/* A query over tables of other servers may look names up there, in vain. */
#define RACE_NAMED_HINT \
	"In a query that runs on other servers write (SELECT race_released(...)): it is looked up once, here."

/* Raise 42704: there is no release of this name. */
extern void race_named_refuse(const char *name);

/*
 * Lists of texts (char *)
 */

/* Return the elements of a text[] that are not NULL. */
extern List *race_texts_list(Datum array);

/* Return a text[]; an element that is NULL is a NULL. */
extern Datum race_texts_array(const List *texts);

/* Order texts by their bytes, as the collation "C" does: for list_sort(). */
extern int race_texts_compare(const ListCell *a, const ListCell *b);

/* Return whether no text in a list is there twice. */
extern bool race_texts_differ(const List *texts);

#endif
