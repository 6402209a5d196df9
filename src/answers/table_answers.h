/*
 * table_answers.h
 *		Counts, histograms and cross tables from private contingency tables
 */
#ifndef RACE_TABLE_ANSWERS_H
#define RACE_TABLE_ANSWERS_H

#include "postgres.h"

#include "fmgr.h"

#include "../core/core.h"
#include "table_model.h"

/* Private tables of a release, while they are asked */
typedef struct RaceOpenTables
{
	RaceView	view;
	RaceDomain *domains;		/* [columns] */
	int			columns;
	RaceTableModel *model;
} RaceOpenTables;

/*
 * Open a private sketch of tables, argument i of a function, with the domains (jsonb) of its columns, the
 * next argument; 22023 if there are none, or of others.  22004 if another argument that follows is NULL, but
 * for `optional`.  It stays open as long as the current memory context.
 */
extern void race_tables_open(FunctionCallInfo fcinfo, int i, int optional, RaceOpenTables *open);

/* The number of a column; 42703 if there is none of this name */
extern int	race_tables_column(const RaceOpenTables *open, const char *name);

/* The lower edge of an ordinary cell of a number, which may be beyond its bounds */
extern double race_tables_edge(const RaceDomain *domain, uint32 cell);

/*
 * Weights of cells, from 0 to 1, for each column that a jsonb object has as a key, else NULL.  22023 for
 * values that a column cannot have.
 */
extern const double **race_tables_where(const RaceOpenTables *open, Datum where);

typedef struct RaceTableAnswer
{
	double		count;			/* of records, not negative */
	double		lower;
	double		upper;
	double		variance;		/* of noise, if it was measured */
	bool		measured;		/* from a table with known noise, else from the model */
} RaceTableAnswer;

/*
 * The number of records, by weights of cells.  Noise of measured tables is known.  Of the model, the
 * bounds are what measured tables of fewer columns allow.
 */
extern void race_tables_ask(const RaceOpenTables *open, const double *const *weights, double confidence,
							RaceTableAnswer *answer);

#endif
