/*
 * kind.h
 *		The table of kinds of summaries: what a record adds, and how it is counted
 *
 * Every summary is a linear map of a table into integer counters.  There are these maps: rows (a
 * hash function for each row says which counter gets 1), tables (a cell of each table gets 1, or a
 * record is split over neighboring nodes of a grid of one to three columns), and moments (products
 * of columns).  Parameters say which one it is.  What kinds do differently stands in one table:
 * nobody else asks what kind a summary is.  How they are released stands in another one
 * (release_kind.h).
 *
 * Plain C99 without PostgreSQL headers.
 */
#ifndef RACE_KIND_H
#define RACE_KIND_H

#include "hash/column.h"
#include "hash/kernel.h"
#include "hash/params.h"
#include "hash/rows.h"
#include "hash/table.h"
#include "privacy/counters.h"
#include "privacy/exact.h"
#include "privacy/integers.h"

/* What a fitted model of a summary is */
typedef enum RaceModelForm
{
	RACE_MODEL_NONE,
	RACE_MODEL_POINTS,    /* points with weights */
	RACE_MODEL_LOG_LINEAR /* a number for each cell of tables */
} RaceModelForm;

/* Records that are to be counted, each `weight` times */
typedef struct RaceBatch
{
	const RaceRows *functions; /* row functions, or NULL */
	const double *numbers;
	size_t n;
	int64_t weight;
	RaceCounterArray counters;
	void *workspace; /* memory, aligned to 8 */
} RaceBatch;

typedef struct RaceSummaryKind
{
	/* name in messages, and in the text form of parameters that have no kernel */
	const char *name;
	uint32_t takes;   /* RaceTakes, added up: what parameters have besides those of their kernel */
	const char *hint; /* how it is asked, if it has no densities */

	/*
	 * Whether row functions say which counters a record adds to.  Else a question needs no buckets,
	 * and codes are never rehashed.
	 */
	bool hashed;

	/* Whether it answers with kernel sums.  Else functions of its own ask it. */
	bool densities;

	/*
	 * Whether its counters are the triangle of a matrix of products.  They have 64 bits, and noise
	 * of their own.
	 */
	bool matrix;

	/* Whether what is measured is selected, whatever rows are asked for. */
	bool selected;

	RaceModelForm model;

	/*
	 * Complete parameters whose arrays, by RaceFieldNumber, are apart; `space` has a number for
	 * each axis.
	 */
	void (*complete)(RaceParams *part, const double **arrays, double *space);

	/* Return what is wrong with parameters of this kind, besides what all kinds check; or NULL. */
	const char *(*problem)(const RaceParams *params, char *message, size_t length);

	/* Return whether row functions are drawn for these parameters. */
	bool (*draws)(const RaceParams *params);

	/* Set the parameters of the row functions of a record's features.  NULL: there are none. */
	void (*functions)(const RaceParams *params, RaceParams *functions);

	/*
	 * Return the bytes for counting n records, or NULL; and count them.  NULL: in rows (sketch.c).
	 */
	size_t (*count_workspace)(const RaceParams *params, size_t n);
	void (*count)(const RaceParams *params, const RaceBatch *batch);

	/*
	 * Return how much a counter has for one record; and by how much a record changes one at most.
	 */
	uint64_t (*unit)(const RaceParams *params);
	uint64_t (*largest)(const RaceParams *params);

	/* Set the shape of exact counters (exact.h); `ends` has race_shape_ends() numbers. */
	void (*shape)(const RaceParams *params, size_t *ends, RaceShape *shape);

	/* Make the cells of parameters coarser; NULL: nothing is between cells that could be made so */
	void (*coarsen)(RaceParams *params, RaceGridChoice choice);
} RaceSummaryKind;

/* Return the kind that parameters are of; NULL for a number that no kind has. */
extern const RaceSummaryKind *race_summary_kind(const RaceParams *params);

/* Return the number of a kind without kernels by its name; -1 if there is none. */
extern int race_kind_named(const char *name);

/* Return what a counter has for one record. */
extern uint64_t race_record_unit(const RaceParams *params);

/* Return what a record of these parameters adds to all counters, in L2 squared. */
extern uint64_t race_record_squared(const RaceParams *params);

/*
 * Return how many ends of blocks the shape of exact counters has: of tables, which differ in size;
 * else 0.
 */
extern size_t race_shape_ends(const RaceParams *params);

/* Set the shape of exact counters.  `ends` has race_shape_ends() numbers, and lives as long. */
extern void race_shape_of(const RaceParams *params, size_t *ends, RaceShape *shape);

#endif
