/*
 * sketch.h
 *		race_sketch in memory: the expanded object, and a view for readers.
 *
 * An expanded sketch is what aggregates carry as their state and what plpgsql
 * variables hold.  Its counters are as narrow as its content has needed so
 * far; how narrow they are when flattened depends on the content alone.
 *
 * Records that are added wait in a batch, because many at once are hashed and
 * counted several times as fast.  race_sketch_view() counts them first; so view a
 * sketch before you use its counters.
 */
#ifndef RACE_SKETCH_H
#define RACE_SKETCH_H

#include "postgres.h"

#include "fmgr.h"
#include "utils/expandeddatum.h"

#include "../cache/call_site.h"
#include "../lsh/summary.h"
#include "../record/records.h"
#include "format.h"

/* Of a lower half: where parts of its records go, and which, of each record of the batch */
typedef struct RaceSplit
{
	struct RaceSketch *upper;
	RacePortion *portions;
} RaceSplit;

typedef struct RaceSketch
{
	ExpandedObjectHeader hdr;	/* standard header, must be first */
	uint32		magic;
	int			width;			/* bytes a counter */
	RaceHeader	header;			/* its count includes the batch */
	RaceParams *params;			/* in hdr.eoh_context, as is what follows */
	uint64	   *shares;			/* ids of noise shares, or NULL */
	void	   *counters;		/* [rows][range] */
	RaceRecords *batch;			/* or NULL */
	RaceSplit  *split;			/* or NULL */
	/* every counter can change by at least this much within its width */
	int64		headroom;
	int64		counted;		/* records that were counted since that was computed */
	uint64		generation;		/* number of its content; 0 = not known since a change */
	Size		flat_size;		/* 0 = not known since the last change */
	RaceStorage storage;		/* that flat_size was computed for */
} RaceSketch;

#define RaceSketchGetDatum(sketch)	EOHPGetRWDatum(&(sketch)->hdr)

/*
 * A view of a value of any kind; nothing is copied except by detoasting.  Packed counters
 * remain so: the view may be without counters.
 */
extern void race_sketch_view_packed(Datum value, RaceView *view);

/* The same, with counters, which are unpacked in the present context */
extern void race_sketch_view_any(Datum value, RaceView *view);

/* A view of the header and the width; no more of a stored value is read. */
extern void race_sketch_view_header_any(Datum value, RaceView *view);

/*
 * The same of a value that answers about densities (rows, tables), and of moments; error 22023
 * for the other kind.
 */
extern void race_sketch_view(Datum value, RaceView *view);
extern void race_moments_view(Datum value, RaceView *view);

/*
 * The same as race_sketch_view(), but a stored sketch is detoasted (call_site.h) and unpacked
 * (unpacked.h) once for many calls.
 */
extern void race_sketch_view_at(RaceCallSite *site, Datum value, RaceView *view);

/* The header and the width of a value that answers about densities */
extern void race_sketch_view_header(Datum value, RaceView *view);

/*
 * Bytes that a counter takes where the sketch is stored, or takes unpacked, and those of the
 * whole
 */
extern void race_sketch_stored_size(Datum value, int *width, Size *size);

/*
 * A new sketch without records, with the first `rows` rows of the parameters and
 * counters of `width` bytes.  It becomes the owner of `context`, or shares it when
 * that is an aggregate's pool.
 */
extern RaceSketch *race_sketch_create(const RaceParams *params, uint32 rows,
									  int width, MemoryContext context);

/*
 * A new sketch with the content of another, under the same rules; its counters may be
 * packed only.
 */
extern RaceSketch *race_sketch_copy(const RaceView *view, MemoryContext context);

/* Set the ids of its shares, as many as its header says. */
extern void race_sketch_set_shares(RaceSketch *sketch, const uint64 *shares);

/* Call this after the counters or the header have changed. */
extern void race_sketch_touch(RaceSketch *sketch);

/* Widen the counters to at least this width. */
extern void race_sketch_widen(RaceSketch *sketch, int width);

/*
 * Add a record in two steps: race_sketch_next() gives space for it, and
 * race_sketch_add() takes the record that was written there. Between both calls the
 * record is read, and nothing else happens; an error there leaves the sketch as it
 * was. The record counts `weight` times: 1 adds it, -1 removes it. Error 22003
 * beyond RACE_MAX_COUNT records.
 */
extern RaceRecords *race_sketch_next(RaceSketch *sketch);
extern void race_sketch_add(RaceSketch *sketch, int64 weight);

/*
 * Make halves of two sketches without records, or of copies of halves, which live equally
 * long.  race_sketch_add_split() is race_sketch_add() to both of them, after
 * race_sketch_next() of the lower one: in a share of the rows the record goes into the
 * upper one, and in the others into the lower one; of a grid each of its weights is
 * divided; and one of both counts it.  Their sum is the sketch of whole records.  View the lower one first.
 */
extern void race_sketch_make_halves(RaceSketch *lower, RaceSketch *upper);
extern void race_sketch_add_split(RaceSketch *lower, RacePortion portion);

/*
 * a + b within +-RACE_MAX_COUNT.  Beyond, an exact sketch is an error, 22003; a
 * private one is clamped, because an error would tell of its counters.
 */
extern int64 race_bounded_sum(int64 a, int64 b, bool exact);

/* Raise 55000 unless a sketch is exact; `action` is what it cannot be. */
extern void race_check_exact(const RaceHeader *header, const char *action);

/* Raise 55000 for a half, which cannot be `action`; `hint` says what to do. */
extern void race_check_whole(const RaceHeader *header, const char *action, const char *hint);

/* Raise 55000 for a sum of noise shares that has too few of them to be asked. */
extern void race_check_askable(const RaceNoise *noise);

/*
 * Raise 22023 unless two halves are of one pair, or are sums of halves of the same pairs; of
 * whole sketches nothing is known.  Their ids alone decide: records never do.
 */
extern void race_check_belong(const RaceHeader *a, const RaceHeader *b);

/* The functions of + and of race_merge_disjoint: a sum of two sketches */
extern Datum race_plus(PG_FUNCTION_ARGS);
extern Datum race_plus_disjoint(PG_FUNCTION_ARGS);

#endif							/* RACE_SKETCH_H */
