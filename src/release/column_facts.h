/*
 * column_facts.h
 *		What the schema says of a column: constraints, types, domains of SQL
 */
#ifndef RACE_COLUMN_FACTS_H
#define RACE_COLUMN_FACTS_H

#include "postgres.h"

#include "access/attnum.h"
#include "nodes/pg_list.h"

/* What is known of the values of a column: each fact is an upper bound of what can be in it */
typedef struct RaceFacts
{
	bool not_null;
	bool not_nan;
	bool has_lower;
	bool has_upper;
	bool has_categories;
	double lower; /* lower bound; bounds are included */
	double upper;
	List *categories;   /* char *: the categories */
	const char *unread; /* why a list of values is no fact, or NULL */
} RaceFacts;

/* What conditions are about: a column, or a value of a SQL domain */
typedef struct RaceSubject
{
	AttrNumber column; /* 0: the value of a SQL domain */
	Oid type;          /* type of the column, without SQL domains */
	bool whole;
	double finest; /* step of values of the type, where there is one; else 0 */
} RaceSubject;

/* A column of a relation, and what its schema says */
typedef struct RaceSchemaColumn
{
	Oid relation;
	AttrNumber number;
	char *name;
	RaceSubject subject;
	RaceFacts facts;
	bool enforced;      /* does the server enforce the facts? */
	const char *source; /* source of the facts, or NULL */
} RaceSchemaColumn;

/* Read what the schema says of a column; raise 42703 if there is none of this number. */
extern void race_schema_read(RaceSchemaColumn *column, Oid relation, AttrNumber number);

/* Let the values be at least, or at most, x. */
extern void race_facts_set_bound(const RaceSubject *subject, RaceFacts *facts, bool upper,
								 double x);

/*
 * Return the one of some tables that a column refers to by a foreign key of its own, or InvalidOid;
 * unless key is NULL, *key becomes the column there.
 */
extern Oid race_schema_reference(Oid relation, AttrNumber number, const List *tables,
								 AttrNumber *key);

/*
 * Return whether a column is NOT NULL in a relation, and in all whose rows are read with it.  Of
 * views and foreign tables nothing is known.
 */
extern bool race_column_is_not_null(Oid relation, AttrNumber number);

#endif
