/*
 * server.h
 *		Arguments, result rows, progress and texts of SQL functions; differences between PostgreSQL versions
 */
#ifndef RACE_SERVER_H
#define RACE_SERVER_H

#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "nodes/nodes.h"
#include "utils/tuplestore.h"

/*
 * Where PostgreSQL 13 to 18 differ.
 */

#if PG_VERSION_NUM >= 160000
#include "nodes/miscnodes.h"
#include "varatt.h"
#endif

/*
 * Input functions report bad input softly from 16 on; before, a soft error is
 * an error.  escontext comes from race_escontext(fcinfo).
 */
#if PG_VERSION_NUM >= 160000
#define race_escontext(fcinfo)	((fcinfo)->context)
#else
#define race_escontext(fcinfo)	NULL
#define ereturn(escontext, dummy_value, ...) \
	do { \
		(void) (escontext); \
		ereport(ERROR, __VA_ARGS__); \
		return dummy_value; \
	} while (0)
#endif

/* May the current user execute this function? */
#if PG_VERSION_NUM >= 160000
#define race_function_aclcheck(function) \
	object_aclcheck(ProcedureRelationId, function, GetUserId(), ACL_EXECUTE)
#else
#define race_function_aclcheck(function) \
	pg_proc_aclcheck(function, GetUserId(), ACL_EXECUTE)
#endif

/* May a role act as another? */
#if PG_VERSION_NUM >= 160000
#define race_may_set_role(member, role)	member_can_set_role(member, role)
#else
#define race_may_set_role(member, role)	is_member_of_role(member, role)
#endif

/* The number of this backend's transaction, of those it has had (proc.h) */
#if PG_VERSION_NUM >= 170000
#define race_local_transaction()	(MyProc->vxid.lxid)
#else
#define race_local_transaction()	(MyProc->lxid)
#endif

/* ------------------------------------------------------------- arguments */

/*
 * The type of an argument.  Raises 42804 if the caller gave no expression that says it, as
 * Citus does where it calls the functions of an aggregate on a worker.
 */
extern Oid	race_argument_type(const FmgrInfo *flinfo, int arg);

/*
 * The memory context of the state of an aggregate.  Raises 0A000 if no aggregate calls the
 * function; the hint names those that do.
 */
extern MemoryContext race_aggregate_context(FunctionCallInfo fcinfo, const char *aggregates);

/*
 * Bytes of a text that is parsed.  The longest parameters that there can be, 1 MB of
 * numbers, have a text of 4 MB.
 */
#define RACE_MAX_TEXT	((Size) 16 * 1024 * 1024)

/*
 * Check that a text is at most this long. Otherwise raise 54000, softly if there is
 * an error context. `what` names the text in the message.
 */
extern bool race_check_text(const char *text, Size most, const char *what,
							Node *escontext);

/* A text for a message: its beginning, and dots, if it is longer than 64 bytes */
extern const char *race_cut(const char *text);

/* -------------------------------------------------------------- progress */

/* What plain C calls where it takes long: race_interrupt_hook (lsh.h) */
extern void race_check_for_interrupts(void);

/* The setting racepriv.progress */
extern bool race_progress;

/*
 * Tell the client how far long work is, if the setting is on: the client alone, whatever
 * client_min_messages is, and never the log, where others would see how long each step took.
 * What is said must not depend on private data.  Do not call it with a lock that others wait
 * for: the client may not listen.
 */
extern void race_tell(const char *format,...) pg_attribute_printf(1, 2);

/* ------------------------------------------------------------------ rows */

/*
 * A function that returns a row starts one, adds the columns one by one, and returns
 * race_row_datum().  In a set-returning function the row is started at the first call,
 * in the context that lives for all calls, and filled again for each result.
 */

#define RACE_MAX_COLUMNS	32

typedef struct RaceResultRow
{
	TupleDesc	desc;
	int			n;				/* columns that were added */
	Datum		values[RACE_MAX_COLUMNS];
	bool		nulls[RACE_MAX_COLUMNS];
} RaceResultRow;

/* A row of the type that the function is declared to return, without columns yet */
extern void race_row_start(RaceResultRow *row, FunctionCallInfo fcinfo);

/* Add a column: a value if `is` is true, else NULL; and values of some types. */
extern void race_row_add_if(RaceResultRow *row, bool is, Datum value);
extern void race_row_add(RaceResultRow *row, Datum value);
extern void race_row_add_text(RaceResultRow *row, const char *text);
extern void race_row_add_numbers(RaceResultRow *row, const double *x, uint32 n);
extern void race_row_add_null(RaceResultRow *row);

/* The finished row; what is added next begins another one. */
extern Datum race_row_datum(RaceResultRow *row);

/*
 * A set-returning function.  `start` is called once, in the context that lives for all calls;
 * it sets max_calls and user_fctx, which stay 0 for no results.  `next` gives result i.
 */
extern Datum race_results(FunctionCallInfo fcinfo,
						  void (*start) (FunctionCallInfo fcinfo, FuncCallContext *call),
						  Datum (*next) (void *state, uint64 i));

/* Begin the rows of a set-returning function that makes all of them at its first call. */
extern Tuplestorestate *race_store_start(FunctionCallInfo fcinfo);

#endif
