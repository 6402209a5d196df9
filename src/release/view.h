/*
 * view.h
 *		What the definition of a view may have in it.
 */
#ifndef RACE_VIEW_H
#define RACE_VIEW_H

#include "postgres.h"

#include "nodes/parsenodes.h"
#include "utils/rel.h"

#include "calls.h"

/* Raise 22023: this relation cannot be protected, and why. */
extern void race_refuse_relation(Oid relid, const char *why);

/* The query that a view stands for */
extern Query *race_view_query(Relation view);

/*
 * Check one level of the definition of `relid`, and add the functions that it calls.
 * Each row must come from one row of each relation in FROM, and from nothing else:
 * neither from other rows, nor from where or when a row was written.
 */
extern void race_check_view_query(Oid relid, Query *query, RaceCalls *calls);

#endif							/* RACE_VIEW_H */
