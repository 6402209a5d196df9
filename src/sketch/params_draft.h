/*
 * params_draft.h
 *		Parameters while they are put together
 */
#ifndef RACE_PARAMS_DRAFT_H
#define RACE_PARAMS_DRAFT_H

#include "postgres.h"

#include "nodes/nodes.h"

#include "hash/contingency.h"
#include "hash/fields.h"
#include "hash/params.h"

/*
 * A part of the kernel while it is put together: its fields, and its arrays by field number.
 * A sequence or rehash of 0 is "auto".
 */
typedef struct RaceDraft
{
	RaceParams part;
	const double *arrays[RACE_KEYS];
	uint32 rows[RACE_KEYS];    /* number of rows of each array; 1 of a vector */
	uint32 columns[RACE_KEYS]; /* number of columns of each array */
} RaceDraft;

/* Begin with the defaults, or with a part of other parameters. */
extern void race_draft_start(RaceDraft *draft);
extern void race_draft_of(RaceDraft *draft, const RaceParams *part);

/* Set an array, or remove it with NULL. */
extern void race_draft_set_array(RaceDraft *draft, int key, const double *numbers, uint32 rows,
								 uint32 columns);

/*
 * Raise 22023 if another kernel has the field and this one something else; false after a soft
 * error.
 */
extern bool race_draft_check_field(const RaceDraft *draft, int key, Node *escontext);

/* Set a field from a value from outside; false after a soft error. */
extern bool race_draft_set_integer(RaceDraft *draft, int key, int64 value, Node *escontext);
extern bool race_draft_set_name(RaceDraft *draft, int key, const char *name, Node *escontext);
extern void race_draft_set_real(RaceDraft *draft, int key, double value);

/*
 * Return parameters from drafts of all their parts, palloc'd and checked; "auto" is replaced by
 * what it stands for.  The first draft states what all share.  NULL after a soft error.
 */
extern RaceParams *race_draft_assemble(RaceDraft *drafts, int n, Node *escontext);

/*
 * Return the same kernel as a grid (table.h), palloc'd; NULL if there cannot be one, because of the
 * kernel, the dims, a transform or missing bounds.
 */
extern RaceParams *race_params_as_grid(const RaceParams *params);

/* Return those of contingency tables with other cells and groups, palloc'd. */
extern RaceParams *race_params_with_cells(const RaceParams *params, const double *cells,
										  const double *groups);

/* Return those of what was measured of contingency tables, palloc'd. */
extern RaceParams *race_params_measured(const RaceParams *params, const RaceContingency *tables);

#endif
