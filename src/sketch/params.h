/*
 * params.h
 *		The type race_params: what all who want to merge must share.
 */
#ifndef RACE_PARAMS_H
#define RACE_PARAMS_H

#include "postgres.h"

#include "fmgr.h"

#include "../lsh/lsh.h"
#include "compat.h"

#define RACE_FORMAT_VERSION		1

typedef struct RaceParamsDatum
{
	int32		vl_len_;		/* varlena header, do not touch directly */
	uint8		version;		/* RACE_FORMAT_VERSION */
	uint8		reserved[3];	/* 0 */
	RaceParams	params;
} RaceParamsDatum;

/* A datum of these parameters, palloc'd */
extern RaceParamsDatum *race_params_datum(const RaceParams *params);

/* The parameters in a datum; valid as long as the datum, detoasted, is. */
extern const RaceParams *race_params_arg(Datum datum);

/*
 * Text form, palloc'd: "l2(dims=3, bandwidth=5, …)".  It names every
 * parameter, so that a dump never depends on the defaults of the version that
 * reads it.
 */
extern char *race_params_text(const RaceParams *params);

/* Raise 22023 (softly, where there is a context) unless params are good. */
extern bool race_params_check(const RaceParams *params, Node *escontext);

/* Raise 22023 unless the parameters are good enough to make a sketch. */
extern void race_params_check_dims(const RaceParams *params);

/* Are these the same row functions and the same shape? */
extern bool race_params_same(const RaceParams *a, const RaceParams *b);

/*
 * The same but for the number of rows?  Rows are drawn one by one, so those of the
 * one are the first of the other.
 */
extern bool race_params_same_rows(const RaceParams *a, const RaceParams *b);

/* Raise 22023, naming both, unless they are the same. */
extern void race_params_check_same(const RaceParams *a, const RaceParams *b);

#endif							/* RACE_PARAMS_H */
