/*
 * select_signs.h
 *		Which tables a private release measures after signs of columns, and their resolution
 *
 * A sign tells on which side of its column's noisy median a value is.  Products of signs of all
 * pairs cost as much as one table of each pair would, have two or more times less noise, and give
 * the correlations of a Gaussian copula.  Tables are measured besides where they tell more.
 *
 *		race_select_signs()				the price of products of signs, or 0; draw them
 *		race_select_look_groups()		groups for looks at pairs
 *		race_select_depend()			whether the copula explains more than its particles blur; if
 *										not, go on as select_tables.h has it
 *		race_select_look()				the price of a look at each pair, or 0; draw a score of each
 *		race_select_gain()				the pairs whose tables gain more than a second draw of tables
 *										of one column, and their groups; then draw them
 *		race_select_outdo_particles()	whether signs are not kept after all
 *		race_select_rest()
 *
 * Plain C99 without PostgreSQL headers.
 */
#ifndef RACE_SELECT_SIGNS_H
#define RACE_SELECT_SIGNS_H

#include "choice/select_tables.h"

/* Set the columns that have signs, before there is anything to pay. */
extern void race_select_list_signs(RaceSelect *select);

/*
 * Divide what is left of the budget: return the part of tables of one column, and set signs_price.
 */
extern double race_select_divide_signs(RaceSelect *select);

/* Plan the products of signs: return their price, or 0. */
extern double race_select_signs(RaceSelect *select);

/*
 * Set where signs of columns begin to be 1, cut[columns with signs], by the noisy counts of finest
 * groups: nearest to the median of the groups in order.
 */
extern void race_select_cut(const RaceSelect *select, const int64_t *counts, uint32_t *cut);

/*
 * What a reference says of what it is made of; distances are total variations,
 * means over pairs.
 */
typedef struct RaceReferenceErrors
{
	double explained; /* by which columns with signs are not independent in the copula */
	double blur;      /* of as many particles as there are */
	double first;     /* of the noise of tables of one column */
	double second;    /* the same after a second draw */
} RaceReferenceErrors;

/*
 * Decide by these errors whether tables are measured as this file has it.  If not, the copula is
 * not used.
 */
extern bool race_select_depend(RaceSelect *select, const RaceReferenceErrors *errors);

/* Set groups in which pairs are looked at, by noisy counts of finest groups. */
extern void race_select_look_groups(RaceSelect *select, const int64_t *counts);

/* Plan a score of each pair: return its price; 0: noise would hide all. */
extern double race_select_look(RaceSelect *select);

/* What a pair would be off by itself, in records: by sampling of records, and by particles */
typedef struct RacePairErrors
{
	double sampling;
	double blur;
} RacePairErrors;

/*
 * Choose the pairs whose tables gain most, by their noisy scores, in units; set their groups, by
 * noisy counts of finest groups, and their prices: table[], from the number that was `measured`
 * before.
 */
extern void race_select_gain(RaceSelect *select, const int64_t *counts, const int64_t *scores,
							 const RacePairErrors *pairs, const RaceReferenceErrors *errors);

/* Return the number of cells of all tables of several columns that are measured. */
extern uint64_t race_select_cells(const RaceSelect *select);

/*
 * Return whether tables of several columns are known better than so many particles can show, and
 * have a small junction tree: then they are the model, without signs.
 */
extern bool race_select_outdo_particles(const RaceSelect *select, const int64_t *counts,
										double particles);

/*
 * Choose tables by given scores, as a release of columns that depend on each other would: of a
 * plan, they are public.  Return false if no signs are measured.
 */
extern bool race_select_suppose_signs(RaceSelect *select, const int64_t *counts,
									  const int64_t *scores);

/* Return the variance of tables of one column after a second draw, over that of the first. */
extern double race_select_second_variance(const RaceSelect *select);

#endif
