/*
 * tables_work.h
 *		What a release of tables works in, and what its files share
 */
#ifndef RACE_TABLES_WORK_H
#define RACE_TABLES_WORK_H

#include "choice/choose_tables.h"
#include "choice/release_kind.h"
#include "choice/select_signs.h"
#include "choice/select_tables.h"
#include "privacy/select.h"

/* Everything that the workspace holds; arrays follow */
typedef struct RaceTablesWork
{
	RaceMeasuring result;
	RaceSelect select;
	RaceRelease *release;
	RaceContingency exact_tables; /* tables of the exact counters */
	RaceSelectArrays arrays;
	double *joined;     /* [finest of all columns] */
	int64_t *sums;      /* as many: noisy counts of groups before any are joined */
	double *measured;   /* [columns + RACE_SELECT_TABLES][RACE_TABLE_NUMBERS] */
	int64_t *scores;    /* [tables] */
	int64_t *space;     /* [counters of the largest table]: noisy ones */
	RaceSpace *exact;   /* as many */
	double *shares;     /* [cells of the largest table]: what the reference says */
	int64_t *expected;  /* [cells of the largest table]: the same in units */
	double *marginal;   /* [finest of the largest column] */
	uint32_t *block_of; /* [cells of the largest column] */
	size_t counters;    /* number of counters that were measured */
	double price;       /* of a score, or of a selection, of this round */
	RaceSpace *scores_space;
	RaceScores *exact_scores;  /* of selections, in that space */
	RaceCandidate *candidates; /* [tables + 1] */
	int64_t *ends;             /* [columns][RACE_ENDS]: noisy ones */
	double *ends_variance;     /* [columns]: of each end of a column; 0: not measured */
	double *signs;             /* [1 + columns]: array signs of the parameters */
	int8_t *sign;              /* [finest of all columns] */
	int64_t *sign_sums;        /* [pairs]: noisy ones */
	RacePairErrors *pairs;     /* [pairs] */
	RaceSpace *sign_space;
} RaceTablesWork;

/*
 * Return which counters of a table are added up: of one column none, of several in groups as they
 * are joined by now.
 */
extern RaceGrouping race_tables_grouping(const RaceTablesWork *work, const RaceTable *table);

/* Number joined groups in the order in which they begin, and set them in the result. */
extern void race_tables_number_groups(RaceTablesWork *work);

/* Set what the reference expects in each cell of a table, in units, by its shares. */
extern void race_tables_expect(const RaceTablesWork *work, size_t cells);

/* Measure the tables that were chosen after those that are measured. */
extern void race_tables_measure_chosen(RaceTablesWork *work, RaceTable first, uint32_t from);

/*
 * Look for sets of three columns that depend on each other beyond their pairs, and hold back what
 * their tables cost.
 */
extern void race_tables_search(RaceTablesWork *work);

/* Lay out what ends need: return the bytes, a multiple of 8. */
extern size_t race_ends_work_size(const RaceContingency *tables);
extern void race_ends_work(RaceTablesWork *work, void *space);

/* Measure the ends of a column at their price, or once more: then the mean is kept. */
extern void race_tables_measure_ends(RaceTablesWork *work, uint32_t column);

/* Round off the digits of weights of ends, and adjust the tables of columns to them. */
extern void race_tables_adjust_to_ends(RaceTablesWork *work, uint32_t bits);

/* Lay out what signs need: return the bytes, a multiple of 8. */
extern size_t race_signs_work_size(const RaceContingency *tables);
extern void race_signs_work(RaceTablesWork *work, void *space);

/*
 * Measure signs, and the tables of pairs that gain most beside them.  Return false if the copula
 * explains too little: then nothing but signs was paid, and they are not kept.
 */
extern bool race_measure_by_signs(RaceTablesWork *work, RaceTable pair);

/* Set signs behind the tables that are measured by now. */
extern void race_tables_place_signs(RaceTablesWork *work);

#endif
