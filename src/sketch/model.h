/*
 * model.h
 *		The fitted model in a sketch: points with weights, and how well they fit.
 *
 * race_fit adds a model to a sketch (room fit).  It follows the counters, in words of
 * eight bytes: this struct, the weights [2][points], the points as the columns that are hashed
 * (a part of the kernel after the other), and for points that are not vectors by
 * themselves their texts.  Only a stored or flat sketch has a model: to change a sketch
 * is to drop it.
 */
#ifndef RACE_MODEL_H
#define RACE_MODEL_H

#include "postgres.h"

#include "../params/params.h"
#include "model_rows.h"

/*
 * A point has two weights: one that was found from the first half of the rows, and one
 * from the second.  If each half has moved points of its own, one of them is 0.  What rows
 * say beyond a model is told by the rows that it was not found from (cross-fitting).
 */
typedef enum RaceHalf
{
	RACE_HALF_FIRST,
	RACE_HALF_SECOND
} RaceHalf;

typedef struct RaceModel
{
	uint64		points;			/* how many, 1 to RACE_MAX_POINTS */
	uint64		text_size;		/* bytes of all texts, or 0 */
	/*
	 * What share of an answer the model misses, root mean square; RACE_UNTESTED if nobody
	 * can tell, and then the model is not asked.  And the variance that noise and sampling
	 * give a mean residual, in records squared.
	 */
	double		misfit;
	double		residual_variance;
	uint64		words[FLEXIBLE_ARRAY_MEMBER];
} RaceModel;

#define RACE_MAX_POINTS			16384
#define RACE_MAX_MODEL_BYTES	((Size) 64 * 1024 * 1024)
#define RACE_MAX_WEIGHT			1e19	/* above 2^62 */
#define RACE_MAX_RESIDUAL_VARIANCE	1e300
#define RACE_UNTESTED			1e6

/* The size of a model of n points, whose sets have so many elements all together */
extern uint64 race_model_size(const RaceParams *params, uint64 points, uint64 elements,
							  uint64 text_size);

/*
 * Where things are: the weights of a half [points], the columns of all parts, and the text
 * of a point.  Texts begin at offsets[i]; there is one offset more than points.  The
 * weight of a point is the mean of both.
 */
extern double *race_model_weights(const RaceModel *model, RaceHalf half);
extern double race_model_weight(const RaceModel *model, uint64 i);
extern void race_model_columns(const RaceModel *model, const RaceParams *params,
							   RaceColumn *columns);
extern const char *race_model_text(const RaceModel *model, const RaceParams *params,
								   uint64 i, Size *length);

/* Where to write: of each part its numbers or elements, and of sets the starts before */
extern uint64 *race_model_words(const RaceModel *model);

/* What is wrong with `size` bytes from outside, or NULL.  Nothing else reads before. */
extern const char *race_model_problem(const RaceModel *model, Size size,
									  const RaceParams *params);

#endif							/* RACE_MODEL_H */
