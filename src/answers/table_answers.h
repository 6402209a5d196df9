/*
 * table_answers.h
 *		Counts, histograms and cross tables from private contingency tables
 */
#ifndef RACE_TABLE_ANSWERS_H
#define RACE_TABLE_ANSWERS_H

#include "postgres.h"

#include "fmgr.h"
#include "utils/array.h"
#include "utils/jsonb.h"

#include "hash/contingency.h"
#include "sketch/domain.h"
#include "sketch/result.h"
#include "sketch/sketch_format.h"
#include "answers/table_model.h"

/* Private tables of a release, while they are asked */
typedef struct RaceOpenTables
{
	RaceView view;
	const RaceDomain *domains; /* [columns] */
	int columns;
	const RaceDomain *measure; /* domain of the measure, or NULL */
	RaceTableModel *model;
} RaceOpenTables;

/*
 * Open a private value of tables that states its columns.  Raise 22023 for others.  It stays open
 * as long as the current memory context.
 */
extern void race_tables_open(Datum value, RaceOpenTables *open);

/* Return the number of a column.  Raise 42703 if there is none of this name. */
extern int race_tables_column(const RaceOpenTables *open, const char *name);

/* Return the number of a column; -1 if there is none. */
extern int race_tables_column_or_none(const RaceOpenTables *open, const char *name);

/*
 * Return the lower edge of an ordinary cell of a number, or the end of the last one: no cell has
 * values beyond the bounds.  Where both bounds of a number with fractions are equal, the cell is
 * this one value, and both edges are.
 */
extern double race_tables_edge(const RaceDomain *domain, uint32 cell);

/* Return the last value of a range; where no step of values is known, its upper edge. */
extern double race_tables_last(const RaceDomain *domain, double low, double high);

/* Return the middle of a range; the sum of its ends may be too large for a double. */
extern double race_tables_middle(double low, double high);

/*
 * Return weights of cells, from 0 to 1, for each column that a jsonb object has as a key, else
 * NULL.  Of a record, a number with a fraction stands for its cell.  Raise 22023 for values that a
 * column cannot have.
 */
extern const double **race_tables_where(const RaceOpenTables *open, Datum where, bool record);

/* Return the same for a record, in an argument that is jsonb or the text of some. */
extern Jsonb *race_tables_json_arg(FunctionCallInfo fcinfo, int arg);

/*
 * Return the record of these n domains that a jsonb object describes.  Raise 22023 for values that
 * they cannot have.
 */
extern Datum race_domains_ask(int n, const RaceDomain *domains, Jsonb *object);

/*
 * Set the numbers of the ordinary cells of a column, and how far those of records may be, divided
 * by 2^exponent so that none is above 1: their squares are doubles.  Return false if the column has
 * no numbers.
 */
extern bool race_tables_values(const RaceDomain *domain, double *value, double *half,
							   int *exponent);

/*
 * Raise to 1 in weights, or to the part, what lies in [from, to).  Values beyond the bounds are in
 * the last cells.
 */
extern void race_tables_range(const RaceDomain *domain, double from, double to, double *weights);

/* Return the number that a text stands for.  Raise 22023 if it is none. */
extern double race_tables_number(const RaceDomain *domain, char *text);

/* Most columns of a table */
#define RACE_TABLE_COLUMNS 3

/*
 * Return the measured table that covers cells with these weights: of the columns that have weights,
 * or of two of them and a third.  Set its weights, by its columns, or NULL.  Return NULL if there
 * is none, or if groups have cells of different weights.
 */
extern const RaceTable *race_tables_covering(const RaceOpenTables *open,
											 const double *const *weights,
											 double *of_table[RACE_TABLE_COLUMNS]);

/* Return the weight 1 for all cells of a column. */
extern double *race_tables_ones(const RaceOpenTables *open, uint32 column);

/* Return the weight of a cell of this table. */
extern double race_tables_weight(const RaceTable *table, double *const *of_table, Size cell);

/*
 * Return the records in the groups of two columns, [groups][groups], from the table of both, or
 * else the sum of one of three.  Set the variance of each.  Return NULL if none was measured.
 */
extern double *race_tables_pair(const RaceOpenTables *open, uint32 column, uint32 other,
								double *variance);

typedef struct RaceTableAnswer
{
	double count; /* number of records, not negative */
	double lower;
	double upper;
	double estimate;  /* number of records, with noise; may be below 0 */
	double variance;  /* variance of the noise, if it was measured */
	bool measured;    /* true from a table with known noise, false from the model */
	bool independent; /* the model has columns independent that no measurement connects */
} RaceTableAnswer;

/*
 * Estimate the number of records, by weights of cells.  Noise of measured tables is known.  Of the
 * model, the bounds are what measured tables of fewer columns allow.
 */
extern void race_tables_ask(const RaceOpenTables *open, const double *const *weights,
							double confidence, RaceTableAnswer *answer);

/* Set the answer of a measured number of records, with z standard deviations to each side. */
extern void race_tables_bound(double count, double variance, double z, RaceTableAnswer *answer);

/*
 * Return how many standard deviations of noise an interval has to each side: for noise with the
 * tails of a Laplace distribution as many as a single counter needs.
 */
extern double race_tables_z(const RaceOpenTables *open, double confidence);

/* The cells of a column that are one line of a table: a cell, or the ordinary cells of a group */
typedef struct RaceTableLine
{
	uint32 first; /* first cell of a range that ends with `last` */
	uint32 last;
	int group;    /* group of a pair's table that has these cells alone, or -1 */
	double count; /* records in the table of the column */
	double variance;
} RaceTableLine;

/* Return the lines of a column: one for each group of numbers if `groups`, else for each cell. */
extern RaceTableLine *race_tables_lines(const RaceOpenTables *open, uint32 column, bool groups,
										uint32 *n);

/* Add the label of a line: a category, a number or a range; NULL. */
extern void race_tables_add_label(RaceResultRow *row, const RaceDomain *domain,
								  const RaceTableLine *line);

/* Add the label of a range of numbers. */
extern void race_tables_add_range(RaceResultRow *row, const RaceDomain *domain, double low,
								  double high);

/* Add a number as text if it is one of a date, a time or an interval; else NULL. */
extern void race_tables_add_dated(RaceResultRow *row, const RaceDomain *domain, bool known,
								  double number);

/*
 * Return whether measurements connect all columns that have weights, with each other and with
 * `column`, if that is not negative.
 */
extern bool race_tables_connect(const RaceOpenTables *open, const double *const *weights,
								int column);

/* Return the source of an answer: measured, model or not measured. */
extern const char *race_tables_source(bool measured, bool independent);

/*
 * Add count, lower, upper and source.  A count that only repeats that no measurement connects its
 * columns is NULL; its bounds, by tables of fewer columns, hold all the same.
 */
extern void race_tables_add_answer(RaceResultRow *row, const RaceTableAnswer *answer);

/* Ranges of a column whose records are counted */
typedef struct RaceRangesRequest
{
	ArrayType *texts;    /* edges as text, or NULL */
	const double *edges; /* [n_edges]: edges that ascend, or NULL */
	int n_edges;
	bool has_bins;
	int bins;
	bool as_measured; /* keep bins to ranges that were measured */
	bool below;       /* count all records below the upper edge */
	double confidence;
} RaceRangesRequest;

typedef struct RaceRanges RaceRanges;

typedef struct RaceRange
{
	const RaceTableLine *line; /* of categories */
	double low;                /* edges, of numbers */
	double high;
	RaceTableAnswer answer;
} RaceRange;

/* Return the ranges of a column, n of them; compute one of them; add its label. */
extern RaceRanges *race_ranges_open(const RaceOpenTables *open, int column, const double **where,
									const RaceRangesRequest *request, uint64 *n);
extern void race_range_ask(RaceRanges *ranges, uint64 i, RaceRange *range);
extern void race_range_add_label(RaceResultRow *row, const RaceDomain *domain,
								 const RaceRange *range);

/*
 * A cross table of two columns, each with its lines; and the records in line i of the first and
 * line j of the second.
 */
typedef struct RaceCrosstab RaceCrosstab;

extern RaceCrosstab *race_crosstab_open(const RaceOpenTables *open, int column, int other,
										double confidence);
extern const RaceTableLine *race_crosstab_lines(const RaceCrosstab *crosstab, bool other,
												uint32 *n);
extern void race_crosstab_ask(const RaceCrosstab *crosstab, uint32 i, uint32 j,
							  RaceTableAnswer *answer);

/* Compute all n ranges. */
extern RaceRange *race_ranges_all(RaceRanges *ranges, uint64 n);

/* Return the width of the confidence interval of the mean of a column with numbers; NaN without. */
extern double race_tables_mean_width(const RaceOpenTables *open, int column, double confidence);

/* The correlation of two columns, and what follows from it */
typedef struct RaceCorrelation
{
	bool known;
	bool measured;
	bool independent; /* as of RaceTableAnswer */
	double r;
	double lower;
	double upper;
	double mean[2]; /* of both columns */
	double deviation[2];
} RaceCorrelation;

/* Raise 22023 unless a column has numbers. */
extern void race_tables_check_numbers(const RaceDomain *domain);

/* Return whether a column has numbers; compute the correlation of two that have. */
extern bool race_tables_has_numbers(const RaceOpenTables *open, int column);
extern void race_tables_correlate(const RaceOpenTables *open, int column, int other, double z,
								  RaceCorrelation *correlation);

/* Return an argument that is a confidence.  Raise 22023 if it is not between 0 and 1. */
extern double race_confidence_arg(FunctionCallInfo fcinfo, int arg);

#endif
