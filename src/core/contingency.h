/*
 * contingency.h
 *		Contingency tables: counts of the cells of columns, and of the cells of pairs of columns
 *
 * A record is a row of d cell numbers.  It adds 1 to one counter of each table: to that of its cell
 * in the table of each column, and to that of its two groups in the table of each pair.  A group is
 * some cells of a column, so that tables of pairs stay small.
 *
 * The parameters (kernel "tables") have the arrays
 *	cells		[d]		how many cells each column has
 *	groups		[2][d]	how many neighbouring ordinary cells are a group; how many cells at the end are
 *						groups of their own, such as that of NULL
 * and of a private value
 *	joined		[n]		for each group of each column: which group it was joined to, from 0 on
 *	measured	[m][3]	the tables: both columns, and the variance of their noise.  First one of each
 *						column, as (j, j, variance); then of pairs, the lower column first.
 * An exact value has the tables of all columns and all pairs, (0, 1), (0, 2), ..., (1, 2), ...
 *
 * Counters are those of the tables one after the other; of a pair, [groups of first][groups of second].
 *
 * Plain C99 without PostgreSQL headers.
 */
#ifndef RACE_CONTINGENCY_H
#define RACE_CONTINGENCY_H

#include "count.h"
#include "lsh.h"

#define RACE_CONTINGENCY_COLUMNS	128
#define RACE_CONTINGENCY_CELLS		1000000 /* of a column */
#define RACE_CONTINGENCY_PAIRS		512 /* that are measured */
#define RACE_GROUP_NUMBERS			2	/* cells a group, single cells */
#define RACE_MEASURED_NUMBERS		3	/* first, second, variance */

/* The arrays of parameters, or of those that are to be made */
typedef struct RaceContingency
{
	uint32_t	columns;
	const double *cells;
	const double *groups;
	const double *joined;		/* or NULL: each group is one by itself */
	uint32_t	n_joined;
	const double *measured;		/* or NULL: all tables */
	uint32_t	n_measured;
} RaceContingency;

typedef struct RaceTable
{
	uint32_t	number;			/* in the order of tables */
	uint32_t	first;			/* columns, the same for a table of one column */
	uint32_t	second;
	double		variance;		/* of the noise of a counter, 0 in an exact value */
	size_t		at;				/* how many counters precede it, */
	size_t		counters;		/* and its own */
} RaceTable;

extern bool race_is_contingency(const RaceParams *params);

/* Are they of what was measured of tables, which is private? */
extern bool race_params_are_measured(const RaceParams *params);

/* The arrays of parameters.  Valid ones if the parameters are. */
extern void race_contingency_of(const RaceParams *params, RaceContingency *tables);

/* What is wrong with the parameters of contingency tables, or NULL */
extern const char *race_contingency_problem(const RaceParams *params, char *message, size_t length);

/* The number of counters; 0 if it is above RACE_MAX_SKETCH_BYTES / 8, or if the arrays are not valid */
extern uint32_t race_contingency_counters(const RaceContingency *tables);

/* Groups of a column before any are joined, and after; the group of a cell */
extern uint32_t race_contingency_finest(const RaceContingency *tables, uint32_t column);
extern uint32_t race_contingency_groups(const RaceContingency *tables, uint32_t column);
extern uint32_t race_contingency_group(const RaceContingency *tables, uint32_t column, uint32_t cell);

/* The number of tables: what a record adds in L1.  The first table; the next one, false after the last. */
extern uint32_t race_contingency_tables(const RaceContingency *tables);
extern void race_contingency_first(const RaceContingency *tables, RaceTable *table);
extern bool race_contingency_next(const RaceContingency *tables, RaceTable *table);

/*
 * Count n records of d numbers, `weight` times.  Numbers are rounded down and clipped to the cells
 * of their column.  The workspace has race_contingency_workspace() bytes, aligned to 8.
 */
extern size_t race_contingency_workspace(const RaceParams *params, size_t n);
extern void race_contingency_count(const RaceParams *params, const double *records, size_t n,
								   int64_t weight, RaceCounterArray counters, void *workspace);

#endif
