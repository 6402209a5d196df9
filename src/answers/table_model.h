/*
 * table_model.h
 *		The distribution of records that private contingency tables tell of
 */
#ifndef RACE_TABLE_MODEL_H
#define RACE_TABLE_MODEL_H

#include "postgres.h"

#include "hash/contingency.h"
#include "sketch/sketch.h"
#include "sketch/sketch_format.h"
#include "answers/graphical_model.h"
#include "choice/choose_tables.h"

/* Private tables, and their model, as a session has them */
typedef struct RaceTableModel
{
	RaceDerived derived; /* must be first */
	RaceContingency tables;
	uint32 n;         /* number of tables */
	RaceTable *table; /* [n]: the tables; variances are never 0 */
	double *sums;     /* [n]: noisy records of each table */
	RaceGraph *graph; /* calibrated */
	/* mean of the count and of the sums of tables by precision; noise may bring it below 0 */
	double records;
	double total; /* number of records, at least 1, as a divisor */
	double total_variance;
} RaceTableModel;

/*
 * Return the model of private tables, valid until race_derived_release().  If they come without
 * one, it is fitted, which takes seconds.  Raise 55000 for exact tables, and for too few noise
 * shares.
 */
extern RaceTableModel *race_table_model_acquire(const RaceView *view);

/*
 * Return the number of records of private tables, by the noisy count and the tables of columns, and
 * its variance.  This fits no model.
 */
extern double race_tables_records(const RaceView *view, double *variance);

/*
 * Return the number of records in a cell of a table.  The number of all records is more precise
 * than this table's: each cell has an equal part of the difference.
 */
extern double race_table_records(const RaceView *view, const RaceTableModel *model,
								 const RaceTable *table, Size cell);

/* Return a private value with the fitted model in it. */
extern RaceSketchDatum *race_tables_fit(const RaceView *view);

/* The reference of scores, while tables are measured */
extern const RaceReference race_graphical_reference;

#endif
