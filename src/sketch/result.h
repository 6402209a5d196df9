/*
 * result.h
 *		Result rows of SQL functions
 */
#ifndef RACE_RESULT_H
#define RACE_RESULT_H

#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "utils/tuplestore.h"

/*
 * A function that returns a row starts one, adds the columns one by one, and returns
 * race_row_datum().  In a set-returning function the row is started at the first call,
 * in the context that lives for all calls, and filled again for each result.
 */

#define RACE_MAX_COLUMNS 32

typedef struct RaceResultRow
{
	TupleDesc desc;
	int n; /* columns that were added */
	Datum values[RACE_MAX_COLUMNS];
	bool nulls[RACE_MAX_COLUMNS];
} RaceResultRow;

/* Start a row of the type that the function is declared to return, without columns yet. */
extern void race_row_start(RaceResultRow *row, FunctionCallInfo fcinfo);

/* Add a column: a value if `is` is true, else NULL; and values of some types. */
extern void race_row_add_if(RaceResultRow *row, bool is, Datum value);
extern void race_row_add(RaceResultRow *row, Datum value);
extern void race_row_add_text(RaceResultRow *row, const char *text);
extern void race_row_add_numbers(RaceResultRow *row, const double *x, uint32 n);
extern void race_row_add_null(RaceResultRow *row);

/* Return the finished row; what is added next begins another one. */
extern Datum race_row_datum(RaceResultRow *row);

/*
 * Return the results of a set-returning function.  `start` is called once, in the context that
 * lives for all calls; it sets max_calls and user_fctx, which stay 0 for no results.  `next` gives
 * result i.
 */
extern Datum race_results(FunctionCallInfo fcinfo,
						  void (*start)(FunctionCallInfo fcinfo, FuncCallContext *call),
						  Datum (*next)(void *state, uint64 i));

/* Begin the rows of a set-returning function that makes all of them at its first call. */
extern Tuplestorestate *race_store_start(FunctionCallInfo fcinfo);

#endif
