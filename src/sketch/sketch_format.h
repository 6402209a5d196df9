/*
 * sketch_format.h
 *		The stored format of race_sketch, and of models in it
 */
#ifndef RACE_SKETCH_FORMAT_H
#define RACE_SKETCH_FORMAT_H

#include "postgres.h"

#include "lib/stringinfo.h"

#include "privacy/counters.h"
#include "privacy/noise.h"
#include "hash/column.h"
#include "hash/params.h"

/*
 * The fitted model in a sketch: points with weights, and how well they fit.
 *
 * race_fit adds a model to a sketch (src/answers/fit.c).  It follows the counters, in words of
 * eight bytes: this struct, the weights [2][points], the points as the columns that are hashed
 * (a part of the kernel after the other), and for points that are not vectors by
 * themselves their texts.  Only a stored or flat sketch has a model: to change a sketch
 * is to drop it.
 *
 * The model of contingency tables has a number for each counter in place of weights and points: the
 * parameters of the log-linear model (src/answers/graphical_model.h).
 */

/*
 * A point has two weights: one that was found from the first half of the rows, and one
 * from the second.  If each half has moved points of its own, one of them is 0.  What rows
 * say beyond a model is told by the rows that it was not found from (cross-fitting).
 */
typedef enum RaceFold
{
	RACE_FOLD_FIRST,
	RACE_FOLD_SECOND
} RaceFold;

typedef struct RaceModel
{
	uint64 points;    /* number of points, 1 to RACE_MAX_POINTS */
	uint64 text_size; /* bytes of all texts, or 0 */
	/*
	 * Share of an answer that the model misses, root mean square; RACE_UNTESTED if nobody
	 * can tell, and then the model is not asked
	 */
	double misfit;
	/* variance that noise and sampling give a mean residual, in records squared */
	double residual_variance;
	uint64 words[FLEXIBLE_ARRAY_MEMBER];
} RaceModel;

#define RACE_MAX_POINTS 16384
#define RACE_MAX_MODEL_BYTES ((Size) 64 * 1024 * 1024)
#define RACE_MAX_COLUMNS_BYTES ((Size) 128 * 1024 * 1024)
#define RACE_MAX_WEIGHT 1e19 /* above 2^62 */
#define RACE_MAX_RESIDUAL_VARIANCE 1e300
#define RACE_UNTESTED 1e6
/* logarithms of shares in the model of contingency tables, in absolute value */
#define RACE_MAX_THETA 1e6

/* Return the size of a model of n points, whose sets have `elements` elements all together. */
extern uint64 race_model_size(const RaceParams *params, uint64 points, uint64 elements,
							  uint64 text_size);

/*
 * Return where things are: the weights of a fold [points]; the columns of all parts, after which it
 * returns the offsets of texts, one more than points; and the text of a point.  The weight of a
 * point is the mean of both folds.
 */
extern double *race_model_weights(const RaceModel *model, RaceFold half);
extern double race_model_weight(const RaceModel *model, uint64 i);
extern const uint64 *race_model_columns(const RaceModel *model, const RaceParams *params,
										RaceColumn *columns);
extern const char *race_model_text(const RaceModel *model, const RaceParams *params, uint64 i,
								   Size *length);

/* Return where to write: of each part its numbers or elements, and of sets the starts before. */
extern uint64 *race_model_words(const RaceModel *model);

/* Return what is wrong with `size` bytes from outside, or NULL.  Nothing else reads before. */
extern const char *race_model_problem(const RaceModel *model, Size size, const RaceParams *params);

/*
 * The formats of race_sketch, on disk and on the wire.
 *
 * On disk it is a varlena in native byte order, like PostgreSQL's own types.
 * The wire format (COPY BINARY, the binary protocol, and in base64 the
 * text form of race_sketch) is little-endian everywhere, begins with a version
 * and ends, for a sketch, with a checksum.  sketch_format.c describes it.
 */

typedef struct RaceHeader
{
	RaceNoise noise;
	int64 count; /* number of records; noisy in a private sketch */
} RaceHeader;

typedef struct RaceSketchDatum
{
	int32 vl_len_;     /* varlena header, do not touch directly */
	uint8 version;     /* RACE_FORMAT_VERSION */
	uint8 width;       /* bytes a counter, the narrowest that fits */
	uint8 reserved[2]; /* 0 */
	RaceHeader header;
	/*
	 * CRC-32C of all fields before and after it. Readers use it to see whether a stored
	 * value is the one that they have in memory (stored_cache.h, sketch.h).
	 */
	uint32 content_hash;
	uint32 model_size;   /* bytes of the model; 0 = not fitted */
	uint32 columns_size; /* bytes of the columns; 0 = none are stated */
	uint32 reserved32;   /* 0 */
	/*
	 * Parameters with their arrays and further parts; then the columns (value_columns.h), filled with
	 * zeros to whole words, the ids of shares, the counters, [rows][range], and the model, aligned
	 * to its words
	 */
	RaceParams params;
} RaceSketchDatum;

/* Each share in a sketch has a random id; they are in ascending order. */
#define RaceShares(header) \
	((header)->noise.status == RACE_STATUS_SHARE ? (Size) (header)->noise.releases : 0)

#define RaceCounters(p) ((Size) (p)->rows * (p)->range)
#define RaceFlatHeaderSize(p) (offsetof(RaceSketchDatum, params) + race_params_size(p))

/* Sizes by the bytes of columns and the width of counters */
#define RaceFlatColumnsEnd(p, columns) \
	(RaceFlatHeaderSize(p) + TYPEALIGN(sizeof(uint64), (Size) (columns)))
#define RaceFlatCountersEnd(header, p, columns, width) \
	(RaceFlatColumnsEnd(p, columns) + RaceShares(header) * sizeof(uint64) + \
	 RaceCounters(p) * (width))
#define RaceFlatModelAt(header, p, columns, width) \
	TYPEALIGN(sizeof(uint64), RaceFlatCountersEnd(header, p, columns, width))
#define RaceFlatSize(header, p, columns, width, model_size) \
	((model_size) > 0 ? RaceFlatModelAt(header, p, columns, width) + (model_size) : \
						RaceFlatCountersEnd(header, p, columns, width))

#define RaceFlatColumnsAt(flat) ((char *) (flat) + RaceFlatHeaderSize(&(flat)->params))
#define RaceFlatColumns(flat) ((flat)->columns_size == 0 ? NULL : RaceFlatColumnsAt(flat))
#define RaceFlatShares(flat) \
	((uint64 *) ((char *) (flat) + RaceFlatColumnsEnd(&(flat)->params, (flat)->columns_size)))
#define RaceFlatCounters(flat) ((char *) (RaceFlatShares(flat) + RaceShares(&(flat)->header)))
#define RaceFlatModel(flat) \
	((RaceModel *) ((flat)->model_size == 0 ? NULL : \
											  (char *) (flat) + \
							RaceFlatModelAt(&(flat)->header, &(flat)->params, \
											(flat)->columns_size, (flat)->width)))

/* What a reader needs of a sketch, whether it is stored or in memory */
typedef struct RaceView
{
	const RaceHeader *header;
	const RaceParams *params;
	const char *columns; /* text of the columns (value_columns.h), or NULL */
	Size columns_size;
	const uint64 *shares; /* ids of noise shares */
	const void *counters;
	int width;
	const RaceModel *model; /* model, or NULL */
	Size model_size;
	/*
	 * With the header and the parameters it tells contents apart: the hash of a stored
	 * value, or the number of one in memory.
	 */
	uint64 identity;
} RaceView;

/* Set the hash of the content, after all other fields. */
extern void race_flat_seal(RaceSketchDatum *flat);

/* Return the narrowest width that holds the counters of a view. */
extern int race_view_width(const RaceView *view);

/* Return a stored sketch with a model, which may have no bytes, palloc'd.  It has the columns of
 * the view. */
extern RaceSketchDatum *race_flat_create(const RaceView *view, const RaceModel *model,
										 Size model_size);

/*
 * The longest sketch on the wire: counters, what precedes them, ids of shares, a model, and columns
 */
#define RACE_MAX_WIRE_BYTES \
	((Size) RACE_MAX_SKETCH_BYTES + RACE_MAX_PARTIES * sizeof(uint64) + RACE_MAX_MODEL_BYTES + \
	 RACE_MAX_COLUMNS_BYTES)

#endif
