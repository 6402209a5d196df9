/*
 * ledger.h
 *		The ledger: its statements, who may change it, and acts on it
 */
#ifndef RACE_LEDGER_H
#define RACE_LEDGER_H

#include "postgres.h"

#include "fmgr.h"

#include "release/names.h"
#include "sketch/snapshot_key.h"

/*
 * Statements on the tables of the ledger, with the rights of their owner.
 *
 * A release runs with the rights of whoever calls it.  Only these statements run
 * with the rights of the owner of the ledger, and under a search_path of
 * pg_catalog.  They name nothing outside of pg_catalog and of a schema that the install
 * script makes, which belongs to the superuser who ran it: whoever owns another schema can
 * rename it and put objects of his own in its place.  What the statements say is fixed; what
 * differs are parameters.  No exact sketch is ever one of them.
 */

typedef struct RaceLedger
{
	Oid extension;      /* extension that the called function belongs to */
	Oid owner;          /* owner of the ledger */
	Oid library;        /* extension racepriv, which has the types and functions of sketches */
	Oid library_schema; /* schema of racepriv: anybody may own it */
	Oid library_owner;  /* owner of type race_sketch */
	Oid params_type;    /* type race_params */
	Oid sketch_type;    /* type race_sketch */
} RaceLedger;

/* A parameter of a statement */
typedef struct RaceParameter
{
	Oid type;
	Datum value;
	bool isnull;
} RaceParameter;

/*
 * Return the OID of RACE_SCHEMA.  Raise 55000, with a hint to update the extension, unless it
 * belongs to the extension that the function belongs to.
 */
extern Oid race_schema_of(Oid function);

/*
 * Return the OIDs of the functions of racepriv with this name, and that of race_sketch.  `schema` is
 * that of the ledger.
 */
extern List *race_library_functions(Oid schema, const char *name, Oid *sketch_type);

/*
 * Open the ledger of the extension that the called function belongs to.  Raise 55000 if
 * another role than the owner of the ledger may change it, or if its tables contradict each other.
 */
extern void race_ledger_open(RaceLedger *ledger, FunctionCallInfo fcinfo);

/*
 * In PG_CATCH(): raise the error again in this memory context, without the statements of this
 * extension that it came from.
 */
extern void race_rethrow_without_context(MemoryContext caller);

/*
 * Run a statement, which names its tables and functions with RACE_SCHEMA.  The rows
 * it returns are in SPI_tuptable until the next one runs or
 * SPI_freetuptable(); SPI_processed says how many rows there are or were written.
 * An SPI connection must be open.
 */
extern void race_ledger_run(const RaceLedger *ledger, const char *statement, int n,
							const RaceParameter *parameters);

/*
 * Return column i, from 1 on, of the row that the last statement returned, copied to the current
 * memory context.
 */
extern Datum race_ledger_value(int i, bool *isnull);
extern char *race_ledger_text(int i); /* text or name; NULL for a NULL */

/*
 * Begin an act on the ledger for whoever calls it: connect to SPI, and open the ledger.  Raise
 * 42501 where the server acts for the owner of a table; a change also raises 25001 unless it sees
 * what other sessions commit.
 */
extern void race_act_begin(RaceLedger *ledger, FunctionCallInfo fcinfo, bool change);

/*
 * Return whether a role may call a routine by a right of its own, or of a role whose rights it
 * has.  Procedures of duties are granted to PUBLIC so that they can say what is missing: that right
 * counts for nothing.
 */
extern bool race_has_duty(Oid function, Oid role);

/*
 * Raise 42501, with the statement that helps, unless the current user has a duty: the right to the
 * called routine.
 */
extern void race_check_duty(FunctionCallInfo fcinfo, const char *duty);

/* Raise 22023: what is wrong with arguments, and what to write. */
extern void race_refuse_arguments(const char *message, const char *hint);

/* Return parameters (race_params) that are written as text. */
extern Datum race_ledger_params(const RaceLedger *ledger, char *written);

/* Return the owner of a relation. */
extern Oid race_owner_of(Oid relation);

/* Raise 42501 unless the current user owns a relation. */
extern void race_act_check_owner(Oid relation);

#define RaceText(string) \
	{ \
		TEXTOID, (string) == NULL ? (Datum) 0 : CStringGetTextDatum(string), (string) == NULL \
	}

/*
 * Return the name of a role, of type name: the ledger's functions are called with their very types.
 */
extern RaceParameter race_ledger_role(Oid role);

#endif
