/*
 * rowtext.h
 *		Texts of rows of categories that are made of values of others.
 */
#ifndef RACE_ROWTEXT_H
#define RACE_ROWTEXT_H

#include "postgres.h"

/* Are all n texts those of arrays with so many elements?  A type may write itself otherwise. */
extern bool race_row_texts_are_arrays(char *const *texts, uint32 n, uint32 dims);

/*
 * Of n rows, of which column j comes from text number source[i][j]: their texts.  Texts are of
 * arrays with so many elements, as PostgreSQL writes them.  Error 54000 for more than a model can hold.
 */
extern char *const *race_row_texts(char *const *texts, const uint32 *source, uint32 n,
								   uint32 dims);

#endif							/* RACE_ROWTEXT_H */
