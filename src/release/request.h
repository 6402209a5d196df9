/*
 * request.h
 *		The request of a release: the words of whoever asked for it, as arguments of a procedure
 *		or as the ledger keeps them
 */
#ifndef RACE_REQUEST_H
#define RACE_REQUEST_H

#include "postgres.h"

#include "sketch/sketch.h"
#include "release/ledger.h"
#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"
#include "privacy/release_request.h"
#include "sketch/domain.h"
#include "release/lineage.h"
#include "release/privatize.h"
#include "release/series_units.h"

/*
 * The arguments of race_release_sketch, in the order of its signature, then those of race_release
 * alone
 */
typedef enum RaceArgument
{
	RACE_ARG_NAME,
	RACE_ARG_DATASET,
	RACE_ARG_PARAMS,
	RACE_ARG_EXPRESSION,
	RACE_ARG_EPSILON,
	RACE_ARG_DELTA,
	RACE_ARG_ROWS,
	RACE_ARG_LABEL,
	RACE_ARG_LABELS,
	RACE_ARG_GRID,
	RACE_ARG_FIT,
	RACE_ARG_DESCRIPTION,
	RACE_ARG_COLUMNS,
	RACE_ARG_COLUMN_UNITS,
	RACE_ARG_CALIBRATE,
	RACE_ARG_SERIES,
	RACE_ARG_WEIGHT,
	RACE_ARG_WEIGHT_MAX,
	RACE_ARG_WHERE,
	RACE_ARG_MAX_CONTRIBUTIONS,
	RACE_ARG_MEASURE,
	RACE_ARGUMENTS
} RaceArgument;

/* An argument that is NULL is 0 */
typedef struct RaceReleaseRequest
{
	uint32 given;          /* a bit for each argument that is not NULL */
	char *name;            /* name of the release */
	char *dataset;         /* name of the dataset */
	Datum params;          /* race_params of the sketches */
	char *expression;      /* expression of a record */
	double epsilon;        /* cost of the release */
	double delta;          /* delta of the release */
	int rows;              /* rows that are kept */
	char *label;           /* expression of a record's label */
	Datum labels;          /* text[]: list of the labels */
	bool grid;             /* is a grid made of the kernel? */
	bool fit;              /* is a model fitted to the release? */
	char *description;     /* meaning of the release, for readers */
	Datum columns;         /* text[]: names of the columns of a record */
	Datum units;           /* text[]: units of the columns of a record, for readers */
	double calibrate;      /* share of epsilon for scores */
	Datum series;          /* jsonb: description of a series */
	char *weight;          /* expression of a record's weight */
	int weight_max;        /* largest weight */
	char *where;           /* public condition of the rows that are read */
	int max_contributions; /* records of a unit, where they are fewer than the dataset allows */
	char *measure;         /* column whose means are wanted */
} RaceReleaseRequest;

/*
 * Their names, types (race_params has another OID in each database), and fields of a request.
 * The ledger stores those that are kept, and race_release_next reads them again.
 */
extern const struct RaceArgumentFacts
{
	const char *name;
	const char *type_name;
	Oid type;
	bool kept;
	size_t field;
} race_arguments[RACE_ARGUMENTS];

static inline bool
race_is_given(const RaceReleaseRequest *request, RaceArgument i)
{
	return (request->given >> i & 1) != 0;
}

/* Set an argument; one that is NULL stays 0.  What is stored elsewhere is fetched now. */
extern void race_argument_set(RaceReleaseRequest *request, RaceArgument i, Datum value,
							  bool isnull);

/* Return an argument as a parameter of a statement. */
extern RaceParameter race_argument(const RaceLedger *ledger, const RaceReleaseRequest *request,
								   RaceArgument i);

#endif
