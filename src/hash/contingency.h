/*
 * contingency.h
 *		Contingency tables: counts of the cells of columns, of pairs of columns, and of some sets
 *		of three
 *
 * A record is a row of d cell numbers.  It adds 1 to one counter of each table: to that of its cell
 * in the table of each column, and to that of its groups in the table of each pair, or of three
 * columns.  A group is some cells of a column, so that tables of several columns stay small.
 *
 * With a measure, which is the last number of a record, each cell has parts: a counter of the
 * measure's lower bound, one of its upper bound, and one of NULL if that can be.  A record adds
 * RACE_MEASURE_UNIT to a cell, divided between the first two so that the cell tells the mean of the
 * measure, or all to the third.
 *
 * The parameters (kernel "tables") have the arrays
 *	cells		[d]		how many cells each column has; of a measure how many parts
 *	groups		[4][d]	how many neighbouring ordinary cells are a group, 0 of a measure; how many
 *						cells at the end are groups of their own, such as that of NULL; how much
 *						the column matters; whether its ordinary cells are in order, as those of
 *						numbers: 1, or 0
 *	ends		[d]		if there are any: how much the sum of a column of numbers matters, 1 and up to
 *						RACE_COLUMN_WEIGHT; 0 of other columns.  Not with a measure.
 *	workload	[w][3]	if there are any: tables of several columns that matter more, two numbers
 *						for the columns, and how much.  Those of three columns come first; they are
 *						counted.
 *	searched	[d]		1 of columns all sets of three of which are counted, too, since dependence is
 *						looked for in them; else 0
 * and of a private value
 *	joined		[n]		for each group of each column: which group it was joined to, from 0 on
 *	measured	[m][3]	the tables: two numbers for the columns, and the variance of their noise.
 *						First one of each column, then those of several.
 *	signs		[1 + d]	if signs of pairs of columns were measured, too: the variance of the noise
 *						of one; then for each column, without a measure, the first of its groups of
 *						ordinary cells, before any are joined, that has the sign 1: from 1 on.  0:
 *						the column has no signs.
 *	ends		[d]		if ends were measured: the variance of the noise of each of both ends of a
 *						column; 0: they were not.
 * The columns of a table ascend.  Its numbers are the first column, twice; or the first and the
 * second; or the first, and the second plus RACE_CONTINGENCY_COLUMNS times the third.  In a private
 * table of one column, neighbouring ordinary cells may have been counted together, in blocks of so
 * many: then the second number is the column plus RACE_CONTINGENCY_COLUMNS times (block - 1), the
 * counters of a block add up to what was measured, and the variance is that of a block, divided by
 * its cells.  Of a table of one column whose ordinary cells are known better than the last ones,
 * those by themselves, the first number is the column plus RACE_CONTINGENCY_COLUMNS times n: the
 * last ones have 1 + n / RACE_SINGLE_STEPS times the variance.
 *
 * Of n ordinary cells, a record in cell i gives i to the upper end of its column and n - 1 - i to the
 * lower one.  The table of the column is adjusted to noisy ends: they are no counters of their own.
 *
 * Cells of ordinary groups before that one have the sign -1, and those by themselves 0.  A sign of a
 * pair is the sum over records of the products of the signs of both columns.
 *
 * An exact value has the tables of all columns and all pairs, (0, 1), (0, 2), ..., (1, 2), ...,
 * then those of three columns in the order of workload, then of searched columns, (0, 1, 2), (0, 1,
 * 3), ...
 *
 * Counters are those of the tables one after the other: [cells][parts], of several columns [groups
 * of first][groups of second][groups of third][parts]; then those of signs, one a pair of columns
 * that have any, (0, 1), (0, 2), ..., (1, 2), ...
 *
 * Plain C99 without PostgreSQL headers.
 */
#ifndef RACE_CONTINGENCY_H
#define RACE_CONTINGENCY_H

#include "privacy/counters.h"
#include "hash/kernel.h"
#include "hash/params.h"

#define RACE_CONTINGENCY_COLUMNS 128
#define RACE_CONTINGENCY_CELLS 1000000 /* cells of a column */
#define RACE_CONTINGENCY_MEASURED 512  /* tables of several columns */
#define RACE_WORKLOAD 128              /* tables that matter more, or may be chosen */
#define RACE_COLUMN_WEIGHT 100.0       /* largest weight of a column or a table; the least is 1 */
/* fewest blocks of a column; they are as wide as its groups, or 2, 4, ... times as wide */
#define RACE_LEAST_BLOCKS 32
#define RACE_SEARCHED_GROUPS 4   /* most groups of a column whose sets of three are counted */
#define RACE_SEARCHED_SETS 50000 /* most sets of three that are counted: those of 67 columns */
#define RACE_MEASURE_UNIT 4096   /* what a record adds to a cell with parts */
#define RACE_MEASURE_PARTS 3     /* parts of a cell, at most: lower, upper, NULL */
/* steps to 1 of the variance of single cells over that of others */
#define RACE_SINGLE_STEPS 16
#define RACE_SINGLE_MOST 0x1p30 /* largest number of these steps */

/* The arrays of parameters, or of those that are to be made */
typedef struct RaceContingency
{
	uint32_t dims;    /* numbers of a record */
	uint32_t columns; /* number of columns that are cells: a measure is not */
	uint32_t parts;   /* counters of a cell, 1 without a measure */
	uint64_t unit;    /* what a record adds to a cell, 1 without a measure */
	const double *cells;
	const double *groups;
	const double *workload; /* array workload, or NULL */
	uint32_t n_workload;
	uint32_t triples;     /* number of sets of the workload that are of three columns */
	const double *joined; /* array joined; NULL: each group is one by itself */
	uint32_t n_joined;
	const double *measured; /* array measured; NULL: all tables */
	uint32_t n_measured;
	const double *signs; /* array signs; NULL: none were measured */
	uint32_t n_signs;
	const double *searched; /* array searched; NULL: no sets of three are counted */
	uint32_t sets;          /* number of these sets */
	const double *ends;     /* array ends; NULL: none */
} RaceContingency;

typedef struct RaceTable
{
	uint32_t number; /* place in the order of tables */
	uint32_t first;  /* first column; columns ascend, and are the same where a table has fewer */
	uint32_t second;
	uint32_t third;  /* third column, or the second one of a table of two */
	double variance; /* variance of the noise of a cell's number of records, 0 in an exact value */
	size_t at;       /* number of counters that precede it */
	size_t cells;    /* number of cells, each with as many counters as there are parts */
	uint32_t width;  /* groups of the second column; 1 without */
	uint32_t depth;  /* groups of the third column; 1 without */
	uint32_t block;  /* neighbouring cells of one column that were counted together */
	uint32_t ordinary; /* number of first cells of one column in such blocks */
	/* Of one column: the variance of the other cells over that of an ordinary one's block */
	double single;
	double ends; /* of one column: the variance of the noise of each end; 0: not measured */
} RaceTable;

/* Return whether parameters are of what was measured of tables, which is private. */
static inline bool
race_params_are_measured(const RaceParams *params)
{
	return race_array(params, RACE_ARRAY_MEASURED) != NULL;
}

/* Set the arrays of parameters.  They are valid if the parameters are. */
extern void race_contingency_of(const RaceParams *params, RaceContingency *tables);

/* Complete `dims` and the arrays with columns, parts, unit and triples. */
extern void race_contingency_set(RaceContingency *tables);

/* Return what is wrong with the parameters of contingency tables, or NULL. */
extern const char *race_contingency_problem(const RaceParams *params, char *message, size_t length);

/*
 * Return the number of counters; 0 if it is above RACE_MAX_SKETCH_BYTES / 8, or if the arrays are
 * not valid.
 */
extern uint32_t race_contingency_counters(const RaceContingency *tables);

/* Set which columns' sets of three are counted, unless that is NULL; return their number. */
extern uint32_t race_contingency_searched(const RaceContingency *tables, uint32_t *columns);

/* Return the number of groups of a column before any are joined, and after; the group of a cell. */
extern uint32_t race_contingency_finest(const RaceContingency *tables, uint32_t column);
extern uint32_t race_contingency_groups(const RaceContingency *tables, uint32_t column);

/* Return whether the ordinary cells of a column are in order. */
extern bool race_contingency_is_ordered(const RaceContingency *tables, uint32_t column);
extern uint32_t race_contingency_group(const RaceContingency *tables, uint32_t column,
									   uint32_t cell);

/*
 * Set which columns have signs, and return their number; return the sign of a cell: -1, 0 or 1, 0 of
 * a column without signs; and the number of counters that precede those of signs.
 */
extern uint32_t race_contingency_signs(const RaceContingency *tables, uint32_t *columns);
extern int race_contingency_sign(const RaceContingency *tables, uint32_t column, uint32_t cell);
extern size_t race_contingency_signs_at(const RaceContingency *tables);

/* Set the columns of a table by its row in workload or measured. */
extern void race_contingency_columns(const double *row, RaceTable *table);

/* Return where a cell is in a column of its table: the group; of a table of one column the cell. */
static inline size_t
race_contingency_place(const RaceTable *table, uint32_t column, size_t cell)
{
	return column == table->first ? cell / table->depth / table->width :
		column == table->second   ? cell / table->depth % table->width :
									cell % table->depth;
}

/* Return the first cell of the block of a cell, in a table of one column. */
static inline uint32_t
race_contingency_block(const RaceTable *table, uint32_t cell)
{
	return cell < table->ordinary ? cell - cell % table->block : cell;
}

/*
 * Return the variance of a cell's number of records: of cells in a block, so that that of the block
 * is right.
 */
static inline double
race_contingency_cell_variance(const RaceTable *table, size_t cell)
{
	return table->variance * (cell < table->ordinary ? 1 : table->block * table->single);
}

/* Return twice the place of an ordinary cell of one column, from the middle of all. */
static inline double
race_contingency_place_of(const RaceTable *table, size_t cell)
{
	return 2 * (double) cell - ((double) table->ordinary - 1);
}

/*
 * Return how much ends take of the variance of two sums over the ordinary cells of a table: of their
 * records, and of these times twice their places about the middle.  0 to 1; 0 without ends.
 */
extern double race_contingency_known_records(const RaceTable *table);
extern double race_contingency_known_places(const RaceTable *table);

/* Return the covariance of a cell's number of records with that of all cells of a table. */
static inline double
race_contingency_with_all(const RaceTable *table, size_t cell)
{
	return race_contingency_cell_variance(table, cell) *
		(cell < table->ordinary ? 1 - race_contingency_known_records(table) : 1);
}

/* Return the variance of the number of records in all cells of a table. */
extern double race_contingency_table_variance(const RaceTable *table);

/* Sums of the cells of a table with two weights each, for the covariance of both weighted sums */
typedef struct RaceSumsNoise
{
	double products; /* of the weights of cells, times variances */
	double flat[2];  /* sums of weights of ordinary cells; and times places */
	double places[2];
	double all[2]; /* covariances with the number of records in all cells */
} RaceSumsNoise;

/* Add a cell to both sums. */
static inline void
race_contingency_add_noise(const RaceTable *table, size_t cell, double first, double second,
						   RaceSumsNoise *noise)
{
	double with_all = race_contingency_with_all(table, cell);

	noise->products += first * second * race_contingency_cell_variance(table, cell);
	noise->all[0] += first * with_all;
	noise->all[1] += second * with_all;
	if (cell >= table->ordinary)
		return;
	noise->flat[0] += first;
	noise->flat[1] += second;
	noise->places[0] += first * race_contingency_place_of(table, cell);
	noise->places[1] += second * race_contingency_place_of(table, cell);
}

/*
 * Return the covariance of both sums, if the cells of a table are adjusted to the number of all
 * records, which has this variance.
 */
extern double race_contingency_noise(const RaceTable *table, const RaceSumsNoise *noise,
									 double total_variance);

/*
 * Adjust the ordinary cells of a table of one column, which are integers, to noisy ends, by least
 * squares.
 */
extern void race_contingency_adjust(const RaceTable *table, const int64_t *ends, int64_t *cells);

/* Return the variance of a cell's number of records, given that of a counter. */
extern double race_contingency_variance(const RaceContingency *tables, double of_counter);

/* Load one part of n cells of a table, in records; and all parts of them together. */
extern void race_contingency_part(const RaceContingency *tables, const RaceTable *table,
								  RaceCounterArray counters, uint32_t part, size_t from, size_t n,
								  double *records);
extern void race_contingency_records(const RaceContingency *tables, const RaceTable *table,
									 RaceCounterArray counters, size_t from, size_t n,
									 double *records);

/*
 * Return the number of tables: a record adds the unit to one cell of each.  Set the first table; or
 * the next one, and return false after the last.
 */
extern uint32_t race_contingency_tables(const RaceContingency *tables);
extern void race_contingency_first(const RaceContingency *tables, RaceTable *table);
extern bool race_contingency_next(const RaceContingency *tables, RaceTable *table);

/*
 * Other noisy numbers of records in the ordinary cells of a column, with the variance of their
 * noise
 */
typedef struct RaceColumnNumbers
{
	uint32_t column;
	uint32_t n;
	int64_t *numbers;
	double variance;
} RaceColumnNumbers;

/*
 * Replace the ordinary cells of the table of a column, which was measured without blocks and parts,
 * by means of both numbers, weighed by precision.  The arrays of the parameters change, and
 * counters of 8 bytes.
 */
extern void race_contingency_combine(RaceParams *params, int64_t *counters,
									 const RaceColumnNumbers *numbers);

/*
 * Count n records of d numbers, `weight` times.  Numbers are rounded down and clipped to the cells
 * of their column.  A measure is in units, from 0 for its lower bound to RACE_MEASURE_UNIT; above
 * that it is NULL, or clipped.  The workspace has race_contingency_workspace() bytes, aligned to 8.
 */
extern size_t race_contingency_workspace(const RaceParams *params, size_t n);
extern void race_contingency_count(const RaceParams *params, const double *records, size_t n,
								   int64_t weight, RaceCounterArray counters, void *workspace);

/*
 * Records with weights, as a fitted model is stored: n weights, and then the cells of all records in
 * the first column, in the second one and so on, two in a word of 64 bits, the first in its low half
 */
#define RACE_MODEL_RECORDS (1 << 17) /* most records of a model */

static inline size_t
race_records_words(uint32_t columns, size_t n)
{
	return n + (n * columns + 1) / 2;
}

/* Return a cell, by its place among those of all columns. */
static inline uint32_t
race_records_cell(const uint64_t *cells, size_t at)
{
	return (uint32_t) (cells[at / 2] >> (at % 2 * 32));
}

/*
 * Junction trees of graphs of columns
 *
 * Columns are nodes, and pairs of columns whose table is measured are edges.  Min-fill elimination
 * makes the graph chordal; its maximal cliques are the nodes of the junction tree.
 */

/* A set of columns, one bit each */
typedef unsigned __int128 RaceColumnSet;

#define RACE_GRAPH_COLUMNS 128
#define RACE_COLUMN(i) ((RaceColumnSet) 1 << (i))

/*
 * The parent of a clique comes before it.  The first clique, and each that shares no column with
 * its parent, is a root.
 */
typedef struct RaceJunctionTree
{
	uint32_t cliques;
	RaceColumnSet clique[RACE_GRAPH_COLUMNS];
	RaceColumnSet separator[RACE_GRAPH_COLUMNS]; /* columns shared with the parent */
	uint32_t parent[RACE_GRAPH_COLUMNS]; /* number of the parent clique; 0 for the first one */
} RaceJunctionTree;

/*
 * Find a junction tree, and return the number of cells of all its cliques.  neighbors[i] are the
 * columns that share a pair with column i; sizes are at least 1.  tree may be NULL.
 */
extern double race_junction_tree(uint32_t columns, const uint32_t *sizes,
								 const RaceColumnSet *neighbors, RaceJunctionTree *tree);

#endif
