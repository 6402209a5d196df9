/*
 * suggest_state.h
 *		What all aggregates of race_suggest read: labels, and the release that is planned.
 */
#ifndef RACE_SUGGEST_STATE_H
#define RACE_SUGGEST_STATE_H

#include "fmgr.h"

#include "../params/params.h"
#include "suggest.h"

typedef struct RaceSuggestState
{
	FmgrInfo	label_output;
	double		epsilon;
	double		delta;
	int64		records;
	uint64		seen;			/* rows, of which the examples are a sample */
	uint64		random;
	int			classes;		/* with a name each */
	char	   *names[RACE_SUGGEST_CLASSES];
} RaceSuggestState;

/* Labels are argument `arg`. */
extern void race_suggest_prepare_labels(RaceSuggestState *state, FunctionCallInfo fcinfo,
										int arg, MemoryContext context);

/* Read epsilon, delta and records, the last arguments; raise what is wrong with them. */
extern void race_suggest_read_request(RaceSuggestState *state, FunctionCallInfo fcinfo);

/* The number of a label, which may be a new one */
extern int	race_suggest_class(RaceSuggestState *state, Datum label, MemoryContext context);

/* Where to put the next row among n, of at most `most`; or -1 */
extern int	race_suggest_place(RaceSuggestState *state, int *n, int most);

/* What a release of the records with each number of rows has for noise */
extern void race_suggest_expect(const RaceSuggestState *state, RaceExpected *expected);

/* Raise 22023 for a number that is too large. */
extern void race_suggest_check_number(double x);

/* Raise 22023 for too few examples or classes. */
extern void race_suggest_check_examples(int n, int classes);

/*
 * The row that is returned; rows are NULL for a grid, and the prior without labels.  `statement` makes the parameters,
 * and `expression` the records.
 */
extern Datum race_suggest_row(FunctionCallInfo fcinfo, const RaceParams *params,
							  const RaceSuggestion *best, bool labelled,
							  const char *statement, const char *expression);

#endif							/* RACE_SUGGEST_STATE_H */
