/*
 * view.h
 *		What the definition of a view may have in it.
 */
#ifndef RACE_VIEW_H
#define RACE_VIEW_H

#include "postgres.h"

#include "nodes/parsenodes.h"
#include "utils/rel.h"

/* Raise 22023: this relation cannot be protected, and why. */
extern void race_refuse_relation(Oid relid, const char *why);

/* The query that a view, materialized or not, stands for */
extern Query *race_view_query(Relation view);

/*
 * Refuse `relid` because of what is in this level of its definition: each of
 * its rows must come from one row of each relation in FROM, and from nothing else.
 */
extern void race_check_view_query(Oid relid, Query *query);

#endif							/* RACE_VIEW_H */
