/*
 * params_type.h
 *		Values of the type race_params: checks and comparisons
 */
#ifndef RACE_PARAMS_TYPE_H
#define RACE_PARAMS_TYPE_H

#include "postgres.h"

#include "nodes/nodes.h"

#include "hash/params.h"

#define RACE_FORMAT_VERSION 3

typedef struct RaceParamsDatum
{
	int32 vl_len_;     /* varlena header, do not touch directly */
	uint8 version;     /* RACE_FORMAT_VERSION */
	uint8 reserved[3]; /* 0 */
	RaceParams params;
} RaceParamsDatum;

/* Return a datum with these parameters; and a copy of parameters in a memory context. */
extern RaceParamsDatum *race_params_datum(const RaceParams *params);
extern RaceParams *race_params_copy(const RaceParams *params, MemoryContext context);

/* Return the parameters in a datum; valid as long as the datum, detoasted, is. */
extern const RaceParams *race_params_arg(Datum datum);

/* Raise 22023 unless the parameters are good enough to make a sketch. */
extern void race_params_check_complete(const RaceParams *params);

/* Raise 22023 (softly, where there is a context) unless parameters are within their limits. */
extern bool race_params_check(const RaceParams *params, Node *escontext);

/* Raise 22023 unless the parameters are of a kernel; and those of noise shares. */
extern void race_params_check_kernel(const RaceParams *params);
extern void race_params_check_exact(const RaceParams *params);

/* Return whether these are the same row functions and the same shape. */
extern bool race_params_same(const RaceParams *a, const RaceParams *b);

/*
 * Return whether they are the same except for the number of rows.  Each row is drawn by itself, so
 * the rows of the one are the first rows of the other.
 */
extern bool race_params_same_rows(const RaceParams *a, const RaceParams *b);

/*
 * Set how often the cells of each of two grids must be halved to be the same.  Return false if they
 * are not grids, if there is no such number, or if they differ otherwise.
 */
extern bool race_params_common_cells(const RaceParams *a, const RaceParams *b, int halvings[2]);

/* Return whether both have the same numbers in an array, which one of them or both may not have. */
extern bool race_params_same_array(const RaceParams *a, const RaceParams *b, RaceArray array);

/* Return whether they have the same kernel and measure distances alike, whatever their rows. */
extern bool race_params_same_kernel(const RaceParams *a, const RaceParams *b);

/* Raise 22023, naming what differs, unless they are the same. */
extern void race_params_check_same(const RaceParams *a, const RaceParams *b);

#endif
