/*
 * column_source.h
 *		How a column of a relation is computed from columns of tables
 */
#ifndef RACE_COLUMN_SOURCE_H
#define RACE_COLUMN_SOURCE_H

#include "postgres.h"

#include "access/attnum.h"

/*
 * Return how a column is computed, through all views, as JSON: "type" and "collation", the
 * "expression" with $1, $2, ... for columns of tables, these ("of") with their types, OIDs and
 * expressions if they are generated, and the OIDs of the functions outside of pg_catalog that all
 * this calls ("calls").  All names are qualified; those of views and of their columns are not in
 * it.  Raise 54000 if the expression is too large.
 */
extern char *race_column_source(Oid relation, AttrNumber number);

#endif
