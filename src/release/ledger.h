/*
 * ledger.h
 *		Statements on the tables of the ledger, with the rights of their owner.
 *
 * A release runs with the rights of whoever calls it.  Only these statements run
 * with the rights of the owner of the extension, and under a search_path of
 * pg_catalog.  What they say is fixed; what differs are parameters.  No exact sketch
 * is ever one of them.
 */
#ifndef RACE_LEDGER_H
#define RACE_LEDGER_H

#include "postgres.h"

#include "fmgr.h"
#include "nodes/pg_list.h"
#include "utils/timestamp.h"

typedef struct RaceLedger
{
	Oid			schema_id;		/* of the extension */
	char	   *schema;			/* its name, quoted */
	Oid			extension;
	Oid			owner;			/* of the ledger */
	Oid			params_type;	/* race_params */
	Oid			sketch_type;	/* race_sketch */
	Oid			moments_type;	/* race_moments */
} RaceLedger;

/* What race_protect registered */
typedef struct RaceDataset
{
	Oid			relation;
	char	   *unit_column;	/* or NULL */
	int			max_contributions;
	char	   *neighbors;
	List	   *public_tables;	/* OIDs, with their partitions */
	char	   *budget;
} RaceDataset;

/* The charge of a release */
typedef struct RaceCharge
{
	Datum		id;				/* uuid */
	TimestampTz at;
} RaceCharge;

/* A parameter of a statement */
typedef struct RaceParameter
{
	Oid			type;
	Datum		value;
	bool		isnull;
} RaceParameter;

/* The ledger of the extension that the called function belongs to */
extern void race_ledger_open(RaceLedger *ledger, FunctionCallInfo fcinfo);

/*
 * Run a statement in which $schema stands for the schema of the extension.  The rows
 * it returns, at most one, are in SPI_tuptable until the next one runs or
 * SPI_freetuptable(); SPI_processed says how many rows there are or were written.
 * An SPI connection must be open.
 */
extern void race_ledger_run(const RaceLedger *ledger, const char *statement,
							int n, const RaceParameter *parameters);

/*
 * Column i, from 1 on, of the row that the last statement returned, copied to the
 * current memory context
 */
extern Datum race_ledger_value(int i, bool *isnull);
extern char *race_ledger_text(int i);	/* of text or name; NULL for a NULL */

/* A dataset, or error 42704 */
extern RaceDataset *race_ledger_dataset(const RaceLedger *ledger, const char *dataset);

#define RaceText(string) \
	{TEXTOID, (string) == NULL ? (Datum) 0 : CStringGetTextDatum(string), (string) == NULL}

#endif							/* RACE_LEDGER_H */
