/*
 * mutable.h
 *		What an expression calls besides what it says.
 */
#ifndef RACE_MUTABLE_H
#define RACE_MUTABLE_H

#include "postgres.h"

#include "nodes/nodes.h"

/*
 * Does an expression or a query, parsed but not planned, call a function that is not
 * IMMUTABLE: by itself, as the default of an argument, or in the
 * check of a domain?
 */
extern bool race_calls_mutable(Node *node);

#endif							/* RACE_MUTABLE_H */
