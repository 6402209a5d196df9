/*
 * sketch.h
 *		race_sketch as an expanded object, the cache of objects derived from it, and what functions
 *		that build, merge and view sketches share
 */
#ifndef RACE_SKETCH_H
#define RACE_SKETCH_H

#include "postgres.h"

#include "fmgr.h"
#include "utils/expandeddatum.h"

#include "hash/kernel.h"
#include "hash/params.h"
#include "sketch/cache.h"
#include "sketch/call_site.h"
#include "sketch/record.h"
#include "sketch/records.h"
#include "sketch/sketch_format.h"
#include "hash/table.h"

/*
 * race_sketch in memory: the expanded object, and a view for readers.
 *
 * An expanded sketch is what aggregates carry as their state and what plpgsql variables hold.  Its
 * counters are as narrow as its content has needed so far; their width when it is flattened depends
 * on the content alone.
 *
 * Records that are added wait in a batch, because many at once are hashed and counted several times
 * as fast.  race_sketch_view() counts them first; so view a sketch before you use its counters.
 */

typedef struct RaceSketch
{
	ExpandedObjectHeader hdr; /* standard header, must be first */
	uint32 magic;
	int width;          /* bytes a counter */
	RaceHeader header;  /* noise, and the count, which includes the batch */
	RaceParams *params; /* parameters; in hdr.eoh_context, as is what follows */
	char *columns;      /* text of the columns, or NULL */
	uint32 columns_size;
	uint64 *shares;     /* ids of noise shares, or NULL */
	void *counters;     /* counters, [rows][range] */
	RaceRecords *batch; /* records that are not counted yet, or NULL */
	int64 headroom;     /* every counter can change by this much within its width, or more */
	int64 counted;      /* records that were counted since headroom was computed */
	uint64 generation;  /* number of its content; 0: changed since the last view */
	int flat_width;     /* the narrowest width of its counters; 0: changed since it was computed */
} RaceSketch;

#define RaceSketchGetDatum(sketch) EOHPGetRWDatum(&(sketch)->hdr)

/*
 * View a value: of any kind; one that answers about densities (rows, grids); or one of a kernel
 * (moments, tables).  Raise 22023 with a hint for other kinds.  Nothing is copied except by
 * detoasting.
 */
extern void race_sketch_view_any(Datum value, RaceView *view);
extern void race_sketch_view(Datum value, RaceView *view);
extern void race_sketch_view_kind(Datum value, RaceKind kind, const char *hint, RaceView *view);

/*
 * View a value that answers about densities; a stored sketch is detoasted (call_site.h) once for
 * many calls.
 */
extern void race_sketch_view_at(RaceCallSite *site, Datum value, RaceView *view);

/* View the header and the width of a value: no more of a stored one is read. */
extern void race_sketch_view_header_any(Datum value, RaceView *view);
extern void race_sketch_view_header(Datum value, RaceView *view);

/* View the header and the columns: no more of a stored value is read. */
extern void race_sketch_view_columns(Datum value, RaceView *view);

/* Get the bytes that a counter takes where the sketch is stored, and those of the whole. */
extern void race_sketch_stored_size(Datum value, int *width, Size *size);

/*
 * Make a sketch without records, with the first `rows` rows of the parameters and counters of
 * `width` bytes; or one with the content of another.  It becomes the owner of `context`, or shares
 * it when that is an aggregate's pool.
 */
extern RaceSketch *race_sketch_create(const RaceParams *params, uint32 rows, int width,
									  MemoryContext context);
extern RaceSketch *race_sketch_copy(const RaceView *view, MemoryContext context);

/* Give a sketch without columns those of a view. */
extern void race_sketch_set_columns(RaceSketch *sketch, const RaceView *view);

/* Set the ids of its shares, as many as its header says. */
extern void race_sketch_set_shares(RaceSketch *sketch, const uint64 *shares);

/* Note that the counters or the header have changed. */
extern void race_sketch_touch(RaceSketch *sketch);

/* Widen the counters to at least this width. */
extern void race_sketch_widen(RaceSketch *sketch, int width);

/*
 * Add a record in two steps: race_sketch_next() gives space for it, and race_sketch_add() takes the
 * record that was written there.  Between both calls the record is read, and nothing else happens;
 * an error there leaves the sketch as it was.  The record counts `weight` times: 1 adds it, -1
 * removes it.  Raise 22003 beyond RACE_MAX_COUNT records.
 */
extern RaceRecords *race_sketch_next(RaceSketch *sketch);
extern void race_sketch_add(RaceSketch *sketch, int64 weight);

/*
 * Return a + b within +-RACE_MAX_COUNT.  Beyond, raise 22003 for an exact sketch; a private one is
 * clamped, because an error would tell of its counters.
 */
extern int64 race_bounded_sum(int64 a, int64 b, bool exact);

/* Raise 55000 unless a sketch is exact; `action` is what it cannot be. */
extern void race_check_exact(const RaceHeader *header, const char *action);

/* Raise 55000 for a sum of noise shares that has too few of them to be asked. */
extern void race_check_askable(const RaceNoise *noise);

/*
 * Return the sketch that a function may change, made from argument 0: argument 0 itself if it is
 * writable, else a copy.  In an aggregate the copy is in the pool, and all later calls get it
 * again.  `view` is the view of argument 0, or NULL.
 */
extern RaceSketch *race_writable_arg(FunctionCallInfo fcinfo, const RaceView *view);

/* Return the memory context for a new sketch: the pool of an aggregate, or one of its own. */
extern MemoryContext race_result_context(FunctionCallInfo fcinfo);

/*
 * The cache of derived objects: what is computed of a sketch once for a session.
 *
 * One cache holds objects of all kinds: evaluators, fitted models and others.  A kind is a static
 * RaceDerivedKind, in the file that uses it.  The identity of a sketch and the kind are the key.
 */

/* What every object begins with */
typedef struct RaceDerived
{
	RaceCacheEntry base; /* must be first */
	const struct RaceDerivedKind *kind;
	uint64 identity; /* these three identify the sketch */
	RaceHeader header;
	RaceParams *params;
} RaceDerived;

typedef struct RaceDerivedKind
{
	const char *name; /* name of memory contexts */

	/*
	 * Compute an object in a memory context of its own, which is not the current one, and begin
	 * with race_derived_init().  Return it, and set its size in bytes.
	 */
	void *(*create)(const RaceView *view, void *question, MemoryContext context, Size *size);

	/* Return whether an object of this sketch is right for a question.  NULL: always */
	bool (*fits)(const void *object, const void *question);
} RaceDerivedKind;

/* State which sketch an object is of.  The parameters are copied to the context. */
extern void race_derived_init(RaceDerived *object, const RaceView *view, MemoryContext context);

/*
 * Return the object of a kind for a sketch, which is computed if the session does not have it.
 * `question` is handed to the functions of the kind.  The first adds a user, until release; the
 * last one keeps the object until the next call with this site and kind.
 */
extern void *race_derived_acquire(const RaceDerivedKind *kind, const RaceView *view,
								  void *question);
extern void race_derived_release(void *object);
extern void *race_derived_at(RaceCallSite *site, const RaceDerivedKind *kind, const RaceView *view,
							 void *question);

/*
 * Return what each of two private grids must keep so that both have the same cells and levels: the
 * finest ones that can be.  False if there are none, or other parameters differ.  Noise and counts
 * decided how many cells each grid has (table.c).
 */
extern bool race_grids_meet(const RaceParams *a, const RaceParams *b, RaceGridChoice choices[2]);

/*
 * Make a private grid coarser; linear weights nest, so that this can be done with noise, too.  The
 * noise of neighbouring nodes is correlated afterwards.  Its counter_variance becomes the largest
 * eigenvalue of its covariance, which is the variance that smooth sums of nodes have for each node;
 * no sum has more.
 */
extern void race_sketch_coarsen(RaceSketch *sketch, RaceGridChoice choice);

#endif
