/*
 * oids.h
 *		Arrays of relations, regclass[], as lists, and back.
 */
#ifndef RACE_OIDS_H
#define RACE_OIDS_H

#include "postgres.h"

#include "nodes/pg_list.h"
#include "utils/array.h"

/* The elements that are not NULL */
extern List *race_oids_of(ArrayType *array);

extern ArrayType *race_oids_array(const List *oids);

#endif							/* RACE_OIDS_H */
