/*
 * draft.h
 *		Parameters while they are put together, from text or from arguments.
 */
#ifndef RACE_DRAFT_H
#define RACE_DRAFT_H

#include "postgres.h"

#include "fields.h"
#include "params.h"

/*
 * A part of the kernel: its fields, and pointers to its arrays, by field number, of as
 * many numbers as the fields say.  A sequence or rehash of 0 is "auto".
 */
typedef struct RaceDraft
{
	RaceParams	part;
	const double *arrays[RACE_KEYS];
} RaceDraft;

/* A draft with the defaults, and a draft of an existing part */
extern void race_draft_default(RaceDraft *draft);
extern void race_draft_of(RaceDraft *draft, const RaceParams *part);

/*
 * Turn it into a later part of a product: remove what only the first part states.
 */
extern void race_draft_next(RaceDraft *draft);

/* Raise 22023 for a field that only other kernels have; false after a soft error. */
extern bool race_draft_takes(const RaceDraft *draft, const RaceField *field, Node *escontext);

/* Set a field from a value from outside; false after a soft error. */
extern bool race_draft_set_integer(RaceDraft *draft, const RaceField *field,
								   int64 value, Node *escontext);
extern bool race_draft_set_name(RaceDraft *draft, const RaceField *field,
								const char *name, Node *escontext);
extern void race_draft_set_real(RaceDraft *draft, const RaceField *field,
								double value);

/* Set a field that is an array of rows. */
extern void race_draft_set_matrix(RaceDraft *draft, int key, const double *numbers, uint32 rows);

/*
 * Parameters from drafts of all their parts, palloc'd and checked; "auto" is replaced by
 * what it stands for.  The first draft states what all share.  NULL after a soft
 * error.
 */
extern RaceParams *race_params_assemble(RaceDraft *drafts, int n, Node *escontext);

#endif							/* RACE_DRAFT_H */
