/*
 * table_model.h
 *		The distribution of records that private contingency tables and signs tell of
 */
#ifndef RACE_TABLE_MODEL_H
#define RACE_TABLE_MODEL_H

#include "postgres.h"

#include "hash/contingency.h"
#include "sketch/domain.h"
#include "sketch/sketch.h"
#include "sketch/sketch_format.h"
#include "answers/graphical_model.h"
#include "answers/particles.h"
#include "choice/choose_tables.h"

/* Private tables, and their model, as a session has them */
typedef struct RaceTableModel
{
	RaceDerived derived; /* must be first */
	RaceContingency tables;
	RaceDomain *domains; /* domains of the columns, or NULL if the value does not state them */
	uint32 n;            /* number of tables */
	RaceTable *table;    /* [n]: the tables; variances are never 0 */
	double *sums;        /* [n]: noisy records of each table */
	/* [columns]: columns that measurements connect have the same number; others are independent */
	uint32 *component;
	RaceGraph *graph; /* calibrated; NULL: particles are the model */
	RaceParticles *particles;
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

/*
 * What the model says: the table of two columns; the expectation of a product of weights; rows.  As
 * the functions of graphical_model.h with these names.
 */
extern void race_model_pair(const RaceTableModel *model, uint32 first, uint32 second, bool cells,
							double *table);
extern double race_model_event(const RaceTableModel *model, const double *const *weights, uint32 of,
							   double *table);
extern void race_model_sample(const RaceTableModel *model, double (*uniform)(void *), void *arg,
							  uint32 n, uint32 *rows, uint32 *space);

/* Return a private value with the fitted model in it. */
extern RaceSketchDatum *race_tables_fit(const RaceView *view);

/* The reference of scores, while tables are measured */
extern const RaceReference race_model_reference;

#endif
