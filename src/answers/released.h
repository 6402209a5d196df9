/*
 * released.h
 *		The value that the name of a release stands for
 */
#ifndef RACE_RELEASED_H
#define RACE_RELEASED_H

#include "postgres.h"

#include "fmgr.h"

/* Return the value of a release: race_released(name, label). */
extern Datum race_released(PG_FUNCTION_ARGS);

/* Return the value of any label of a release, by its name. */
extern Datum race_released_any(PG_FUNCTION_ARGS);

#endif
