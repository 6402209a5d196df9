/*
 * rows_cache.h
 *		Row functions, made once a backend for each parameter value in use
 */
#ifndef RACE_ROWS_CACHE_H
#define RACE_ROWS_CACHE_H

#include "postgres.h"

#include "hash/params.h"
#include "hash/rows.h"

typedef struct RaceRowsEntry RaceRowsEntry;

/*
 * Return the row functions of these parameters.  There may be more rows than asked for.  They stay
 * valid until release.  The cache keeps some of them longer, for the next statement.
 */
extern RaceRowsEntry *race_rows_acquire(const RaceParams *params);
extern const RaceRows *race_rows_of(const RaceRowsEntry *entry);
extern void race_rows_release(RaceRowsEntry *entry);

#endif
