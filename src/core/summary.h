/*
 * summary.h
 *		The table of kinds of summaries: what a record adds to counters.
 *
 * Every summary is a linear map of a table into integer counters.  There are these maps: rows
 * (a hash function for each row says which counter gets 1), tables (a cell of each table gets 1),
 * grids (tables of one to three columns in which a record is split over neighbouring nodes), and
 * moments (products of columns).  Parameters say which one it is.  What the map and its sensitivity are stands here; files that need more, such
 * as noise or answers, have a table of functions of their own, by RaceSummary.
 *
 * To add a kind: a number and a line here, and an entry in sketch.c (how a batch is counted),
 * plan.c (how much noise it gets), draw.c (what is chosen and drawn), and in test/unit/greybox_test.c.
 */
#ifndef RACE_SUMMARY_H
#define RACE_SUMMARY_H

#include "lsh.h"
#include "table.h"

typedef enum RaceSummary
{
	RACE_SUMMARY_ROWS,
	RACE_SUMMARY_TABLES,
	RACE_SUMMARY_GRID,
	RACE_SUMMARY_MOMENTS,
	RACE_SUMMARIES
} RaceSummary;

/* What a release keeps of a summary: the first rows, cells of a grid, or some tables */
typedef struct RaceKept
{
	uint32_t	rows;
	RaceGridChoice grid;		/* of a grid, which has 1 row */
	int			coarser;		/* of moments: bits that counters lack while noise is drawn */
	const struct RaceMeasuring *tables;	/* of tables: what was measured (measure.h), or NULL */
} RaceKept;

/* What a fitted model of a summary is */
typedef enum RaceModelForm
{
	RACE_MODEL_NONE,
	RACE_MODEL_POINTS,			/* points with weights */
	RACE_MODEL_LOG_LINEAR		/* a number for each cell of tables */
} RaceModelForm;

typedef struct RaceSummaryKind
{
	RaceSummary number;
	const char *name;
	const char *hint;			/* how it is asked, if it has no densities */

	/*
	 * Do row functions say which counters a record adds to?  Else a question needs no buckets,
	 * and codes are never rehashed.
	 */
	bool		hashed;

	/* Does it answer with kernel sums?  Then it can be divided into halves; else functions of its own ask it. */
	bool		densities;

	/* Are its counters the triangle of a matrix of products?  They have 64 bits, and noise of their own. */
	bool		matrix;

	RaceModelForm model;

	/* What is wrong with parameters of this kind, besides what all kinds have in common; or NULL */
	const char *(*problem) (const RaceParams *params, char *message, size_t length);

	/* How much a counter has for one record; and by how much a record changes one at most */
	uint64_t	(*unit) (const RaceParams *params);
	uint64_t	(*largest) (const RaceParams *params);

	/* What a record adds to the counters that are kept, at most: in L1, and in L2 squared */
	uint64_t	(*weight) (const RaceParams *params, RaceKept kept);
	uint64_t	(*squared) (const RaceParams *params, RaceKept kept);

	/*
	 * What a record changes, in L1, of the norms that a release looks at before it chooses what
	 * it keeps; 0 if there is nothing to choose
	 */
	uint64_t	(*look_weight) (const RaceParams *params);

	/* Make the cells of parameters coarser; NULL: nothing is between cells that could be made so */
	void		(*coarsen) (RaceParams *params, RaceGridChoice choice);

	/* The parameters of the row functions of a record's features; NULL: there are none */
	void		(*functions) (const RaceParams *params, RaceParams *functions);
} RaceSummaryKind;

/* The kind that parameters are of */
extern const RaceSummaryKind *race_summary_kind(const RaceParams *params);

/* The same by parameters: the unit; and what a record adds to all counters, in L1 and in L2 squared */
extern uint64_t race_record_unit(const RaceParams *params);
extern uint64_t race_record_weight(const RaceParams *params);
extern uint64_t race_record_squared(const RaceParams *params);

#endif
