/*
 * likely.h
 *		Moments as answers ask them: with the likely exact sums, and by columns of the record.
 *
 * Every answer of this room begins here.  Places count the numbers of v; place 0 is the constant
 * (moments/moments.h).  Columns count those of the record, from 1 on.
 */
#ifndef RACE_LIKELY_H
#define RACE_LIKELY_H

#include "postgres.h"

#include "../moments/moments.h"
#include "noisy.h"

typedef struct RaceLikely
{
	RaceMoments moments;
	RaceNoisy	noisy;			/* of v */
} RaceLikely;

/*
 * Look into moments.  `noisy` is palloc'd; the rest stays valid as long as the datum, which is
 * detoasted, is.  Raises 55000 for shares of which there are too few.
 */
extern void race_likely_open(Datum value, RaceLikely *likely);

/* The same without the likely sums, which take a decomposition of the matrix */
extern void race_noisy_open(Datum value, RaceLikely *likely);

/* The same for answers about columns alone: 22023 if there are features. */
extern void race_likely_open_columns(Datum value, RaceLikely *likely);

/* The place of a column; 22023 if there is none */
extern uint32 race_likely_place(const RaceLikely *likely, int column);

/* The number in v at a place is slope * x + shift; of features it is x itself. */
extern double race_likely_slope(const RaceLikely *likely, uint32 place);
extern double race_likely_shift(const RaceLikely *likely, uint32 place);

/* The column at a place, or 0 of the constant and of features */
extern int	race_likely_column(const RaceLikely *likely, uint32 place);

/*
 * A vector of finite numbers, one for each column, without NULLs: 22023.  `what` is for messages.
 */
extern const double *race_likely_vector(Datum array, uint32 n, const char *what);

#endif							/* RACE_LIKELY_H */
