/*
 * terms_columns.h
 *		The terms of a release by columns: of their tables, or of their moments
 */
#ifndef RACE_TERMS_COLUMNS_H
#define RACE_TERMS_COLUMNS_H

#include "postgres.h"

#include "release/terms.h"

/*
 * Let a release count the cells of its columns; a label, or NULL, and a workload, text[] or 0, say
 * what matters most.
 */
extern void race_terms_use_columns(const RaceLedger *ledger, const RaceDataset *dataset,
								   RaceReleaseTerms *terms, const char *label, Datum workload);

/* Let a release be of moments of its columns: of numbers, and of 0 or 1 for each category. */
extern void race_terms_use_vector(const RaceLedger *ledger, const RaceDataset *dataset,
								  RaceReleaseTerms *terms);

/* Let parameters have the cells of columns whose categories were chosen. */
extern void race_terms_use_chosen_cells(RaceReleaseTerms *terms);

#endif
