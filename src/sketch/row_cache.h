/*
 * row_cache.h
 *		Row functions, made once a backend for each parameter value in use.
 */
#ifndef RACE_ROW_CACHE_H
#define RACE_ROW_CACHE_H

#include "postgres.h"

#include "../lsh/lsh.h"

typedef struct RaceRowsEntry RaceRowsEntry;

/*
 * The row functions of these parameters, and perhaps of more rows.  They stay
 * until release; some are kept beyond it, for the next statement.
 */
extern RaceRowsEntry *race_rows_acquire(const RaceParams *params);
extern const RaceRows *race_rows_of(const RaceRowsEntry *entry);
extern void race_rows_release(RaceRowsEntry *entry);

/*
 * The buckets of one record in the first n rows, in whole blocks of RACE_LANES; the
 * user may interrupt, as a set may have millions of elements.
 */
extern void race_rows_hash_record(const RaceRowsEntry *entry, uint32 n,
								  const RaceColumn *columns, uint32 *buckets);

#endif							/* RACE_ROW_CACHE_H */
