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

/* A datum of these parameters, or a copy of them in a context */
extern RaceParamsDatum *race_params_datum(const RaceParams *params);
extern RaceParams *race_params_copy(const RaceParams *params,
									MemoryContext context);

/* The parameters in a datum; valid as long as the datum, detoasted, is. */
extern const RaceParams *race_params_arg(Datum datum);

/*
 * A part of the kernel as it is put together: with pointers to its arrays, of as
 * many numbers as the part says; sequence and rehash may be 0, for "auto".
 */
#define RACE_ARRAYS	5

typedef struct RacePartDraft
{
	RaceParams	part;
	const double *arrays[RACE_ARRAYS];	/* bandwidths, lower, upper, matrix, offset */
} RacePartDraft;

/*
 * Parameters from drafts of all their parts, palloc'd and checked: what is left to
 * choose is chosen.  The first draft states what all share.  NULL after a soft error.
 */
extern RaceParams *race_params_assemble(RacePartDraft *drafts, int n,
										Node *escontext);

/* A draft with the defaults; of a part that there is; as a part after the first */
extern void race_draft_default(RacePartDraft *draft);
extern void race_draft_of(RacePartDraft *draft, const RaceParams *part);
extern void race_draft_next(RacePartDraft *draft);

/* Integers and names from outside, as fields of a draft; false after a soft error */
extern uint32 race_bounded(int64 value);
extern bool race_draft_kernel(RacePartDraft *draft, const char *name,
							  Node *escontext);
extern bool race_draft_dims(RacePartDraft *draft, int64 dims, Node *escontext);
extern bool race_draft_sequence(RacePartDraft *draft, const char *name,
								Node *escontext);
extern bool race_draft_rehash(RacePartDraft *draft, const char *name,
							  Node *escontext);

/* The parameters in a text; NULL after a soft error (params_text.c) */
extern RaceParams *race_params_parse(const char *text, Node *escontext);

/*
 * Text form, palloc'd: "l2(dims=3, bandwidth=5, …)", or several with * between.  It names every
 * parameter, so that a dump never depends on the defaults of the version that
 * reads it.
 */
extern char *race_params_text(const RaceParams *params);

/* The same for messages: long arrays are left out. */
extern char *race_params_brief(const RaceParams *params);

/* Raise 22023 (softly, where there is a context) unless params are good. */
extern bool race_params_check(const RaceParams *params, Node *escontext);

/* Raise 22023 unless the parameters are good enough to make a sketch. */
extern void race_params_check_complete(const RaceParams *params);

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
