/*
 * columns.h
 *		Columns of a dataset: what the schema and their owner say of them, and the cells that follow
 */
#ifndef RACE_COLUMNS_H
#define RACE_COLUMNS_H

#include "postgres.h"

#include "sketch/domain.h"
#include "release/column_facts.h"
#include "release/ledger.h"

/* What the owner said of a column last (race_describe) */
typedef struct RaceDescription
{
	char *type; /* type of the column when it was described; NULL: its values were not */
	bool has_bounds;
	double lower;
	double upper;
	RaceStep step; /* step of cells; of width and months 0 if it follows from the bounds */
	bool has_categories;
	List *categories;   /* char *: the categories */
	char *unit;         /* what values are measured in, or NULL */
	char *text;         /* what values mean, or NULL */
	char *public_table; /* the table that the categories were read from, or NULL */
	double epsilon;     /* what bounds by noisy counts cost, or 0 */
} RaceDescription;

/* A column, and what is known of it */
typedef struct RaceKnownColumn
{
	RaceSchemaColumn schema;
	char *type; /* the name of its type, without SQL domains */
	/* domain by which it is counted, if it has one or may have its categories chosen */
	RaceDomain domain;
	const char *reason; /* why it has no public domain; NULL if it has one */
	char *hint;         /* the statement that gives it one, or NULL */
	char *source;       /* source of the domain, or NULL */
	char *unit;
	char *description;
} RaceKnownColumn;

/* Does a column have a domain, or one whose categories a release can choose? */
#define RaceColumnIsCounted(column) ((column)->reason == NULL || (column)->domain.chosen)

/* A dataset's relation, and what its columns may depend on */
typedef struct RaceColumnsOf
{
	const char *dataset;
	Oid relation;
	const List *public_tables; /* OIDs of public tables */
} RaceColumnsOf;

/*
 * Return the columns (RaceKnownColumn *) of a relation in its order: those with some names (char
 * *), or all, if the list is NIL.
 */
extern List *race_columns_look_up(const RaceLedger *ledger, const RaceColumnsOf *of,
								  const List *names);

/*
 * Store what the owner says of a column, and set the type that she says it of.  Raise what is wrong
 * with it: 54000 or 22023 for its texts, 22023 if the column has no domain so.
 */
extern void race_column_describe(const RaceLedger *ledger, const RaceColumnsOf *of,
								 AttrNumber number, RaceDescription *description);

/* Return the one of some columns that has a name; NULL if there is none. */
extern RaceKnownColumn *race_columns_find(const List *columns, const char *name);

/* Return domains as jsonb. */
extern Datum race_domains_datum(const RaceDomain *domains, int n);

#endif
