/*
 * relations.h
 *		Lists of relations: with their parts, as arrays, locked
 */
#ifndef RACE_RELATIONS_H
#define RACE_RELATIONS_H

#include "postgres.h"

#include "nodes/pg_list.h"
#include "utils/array.h"
#include "utils/rel.h"

/* Return relations with their partitions and the tables that inherit from them, each once. */
extern List *race_list_with_parts(const List *relations);

/*
 * Return whether a unique index lets each pair of values of two columns, or each value of one, occur
 * once in all rows of a relation.
 */
extern bool race_is_unique_over(Relation relation, AttrNumber unit, AttrNumber column);

/* Return the elements of an array of relations, regclass[], that are not NULL. */
extern List *race_oids_of(ArrayType *array);

/* Return relations as an array, regclass[]. */
extern ArrayType *race_oids_array(const List *oids);

/*
 * Let this transaction alone enter a table into a table of the ledger until it ends; without
 * waiting, return false if another transaction does.
 */
extern bool race_lock_table(Oid ledger, Oid table, bool wait);

/* Return the name of a relation with its schema, as the ledger has it. */
extern char *race_full_name(Oid relation);

#endif
