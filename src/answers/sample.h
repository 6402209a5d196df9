/*
 * sample.h
 *		Synthetic records
 */
#ifndef RACE_SAMPLE_H
#define RACE_SAMPLE_H

#include "postgres.h"

#include "access/htup.h"
#include "access/tupdesc.h"

#include "../core/core.h"
#include "classify.h"

/*
 * The model of a sketch, as a distribution.
 *
 * A point of a model stands for as many records as it weighs.  What is asked of the records
 * themselves (samples, quantiles, shares) is asked of the points, by weight.
 */

typedef struct RaceFitted
{
	RaceView	view;			/* of a sketch that has a model, which was checked */
	RaceColumn	columns[RACE_MAX_PARTS];	/* of its points */
	double	   *passed;			/* [points]: what points up to this one weigh together */
	double		total;			/* what all weigh, above 0 */
} RaceFitted;

/*
 * Of a sketch, in the current memory context.  A grid without a model is fitted first, as
 * it has bounds; of other sketches this raises 55000.
 */
extern void race_fitted_open(Datum sketch, RaceFitted *fitted);

/* The weight of a point */
extern double race_fitted_weight(const RaceFitted *fitted, uint64 point);

/* The point at a share p of all weights, 0 <= p < 1 */
extern uint64 race_fitted_at(const RaceFitted *fitted, double p);

/* The numbers of a point in a part that is a vector */
extern const double *race_fitted_vector(const RaceFitted *fitted, int part, uint64 point);

/*
 * As kernels end slowly, how near is near?  The distance between two points where kernel
 * and power are e^-1, about a bandwidth, is 1; it is -ln k.
 */
extern double race_fitted_apart(const RaceFitted *fitted, uint64 a, uint64 b);

/*
 * Records drawn from the model of a sketch.
 *
 * A point is drawn by weight, evenly: by multiples of the golden ratio, shuffled.  Then its
 * vectors are moved, because points are a discretization: on average by half the distance to
 * its nearest points, but not by more than half a bandwidth.  A move is a random mix of the
 * differences to these points, so that it goes along the data, whatever the scales of columns,
 * and keeps correlations.  A vector of one number is drawn from the distribution that
 * race_quantile has (sample.h).  Bounds of the parameters reflect.  Sets and categories stay.
 *
 * The same seed and number give the same record.
 */

typedef struct RaceDraws RaceDraws;

typedef struct RaceDrawn
{
	uint64		point;			/* that it comes from */
	const double *vectors[RACE_MAX_PARTS];	/* of parts that are vectors, else NULL */
} RaceDrawn;

/* In the current memory context; `fitted` must live as long. */
extern RaceDraws *race_draws_create(const RaceFitted *fitted, int64 seed);

/* Record number i, valid until the next call */
extern void race_draw(RaceDraws *draws, uint32 i, RaceDrawn *drawn);

/*
 * Drawn records as rows of a table.
 *
 * The values of a record fill the columns in order: a column of an array type takes a whole
 * part of the record, any other column one number of a vector, one category, or a whole set.
 * They go through the input functions of the types; numbers for integers are rounded.
 * Columns that are left keep what they have in a given row, or are NULL.
 */

typedef struct RaceFill RaceFill;

/*
 * Of this row type; `base` gives the columns that are left, or is NULL.  In the current
 * memory context.  Raises 42804 if the type has too few columns.
 */
extern RaceFill *race_fill_create(TupleDesc desc, HeapTupleHeader base,
								  const RaceFitted *fitted);

/* The row of a record */
extern Datum race_fill_row(RaceFill *fill, const RaceDrawn *drawn);

/*
 * Drawn records as text, and the values that are in them.
 *
 * A model keeps points that are not vectors by themselves as PostgreSQL wrote them.
 */

/* A number as text; `whole` rounds it, for types of integers. */
extern char *race_number_text(double x, bool whole);

/* A vector as the text of an array */
extern char *race_vector_text(const double *x, uint32 n, bool whole);

/*
 * The parts of a point as texts: an array of one for each part of the kernel.  XX001 if
 * the text of the point is no record.
 */
extern char **race_point_texts(const RaceFitted *fitted, uint64 point);

/* The elements of the text of an array, which must be `n`, else XX001; a NULL is NULL. */
extern char **race_array_texts(char *array, uint32 n);

/* A drawn record as the text of its point, with the vectors that were drawn */
extern char *race_drawn_text(const RaceFitted *fitted, const RaceDrawn *drawn);

/*
 * The distribution of one number of the records, from the model of a sketch.
 *
 * The points have values of this number.  Half of the weight of a value is spread evenly up
 * to the middle between it and the next value above, the other half to the next below; but
 * not farther than half a bandwidth, and at both ends as far as on the other side, within the
 * bounds.  So the distribution function is continuous.
 */

typedef struct RaceMarginal RaceMarginal;

/* Of a column; in the current memory context */
extern RaceMarginal *race_marginal_create(const RaceFitted *fitted,
										  const RaceColumnPlace *place);

/* The value below which a share p of all records lies, 0 <= p <= 1 */
extern double race_marginal_quantile(const RaceMarginal *marginal, double p);

#endif
