/*
 * format.h
 *		The formats of race_sketch, on disk and on the wire.
 *
 * On disk it is a varlena in native byte order, like PostgreSQL's own types.
 * The wire format (COPY BINARY, the binary protocol, and in hexadecimal the
 * text form of race_sketch) is little-endian everywhere, begins with a version
 * and ends, for a sketch, with a checksum.  format.c describes it.
 */
#ifndef RACE_FORMAT_H
#define RACE_FORMAT_H

#include "postgres.h"

#include "lib/stringinfo.h"

#include "../noise/state.h"
#include "../params/params.h"
#include "counters.h"
#include "model.h"

typedef struct RaceHeader
{
	RaceNoise	noise;
	int64		count;			/* records; noisy in a private sketch */
} RaceHeader;

typedef struct RaceSketchDatum
{
	int32		vl_len_;		/* varlena header, do not touch directly */
	uint8		version;		/* RACE_FORMAT_VERSION */
	uint8		width;			/* bytes a counter, the narrowest that fits */
	uint8		reserved[2];	/* 0 */
	RaceHeader	header;
	uint32		content_hash;	/* CRC-32C of all fields before and after it */
	uint32		model_size;		/* bytes; 0 = not fitted */
	uint64		reserved64;		/* 0 */
	/*
	 * with their arrays and further parts; then the ids of shares, the counters,
	 * [rows][range], and the model, aligned to its words
	 */
	RaceParams	params;
} RaceSketchDatum;

/* Each share in a sketch has a random id; they are in ascending order. */
#define RaceShares(header) \
	((header)->noise.status == RACE_STATUS_SHARE ? (Size) (header)->noise.releases : 0)

#define RaceCounters(p)			((Size) (p)->rows * (p)->range)
#define RaceFlatHeaderSize(p) \
	(offsetof(RaceSketchDatum, params) + race_params_size(p))
#define RaceFlatModelAt(header, p, width) \
	TYPEALIGN(sizeof(uint64), RaceFlatHeaderSize(p) + \
			  RaceShares(header) * sizeof(uint64) + RaceCounters(p) * (width))
#define RaceFlatSize(header, p, width, model_size) \
	((model_size) > 0 ? RaceFlatModelAt(header, p, width) + (model_size) : \
	 RaceFlatHeaderSize(p) + RaceShares(header) * sizeof(uint64) + \
	 RaceCounters(p) * (width))
#define RaceFlatShares(flat) \
	((uint64 *) ((char *) (flat) + RaceFlatHeaderSize(&(flat)->params)))
#define RaceFlatCounters(flat) \
	((char *) (RaceFlatShares(flat) + RaceShares(&(flat)->header)))
#define RaceFlatModel(flat) \
	((RaceModel *) ((flat)->model_size == 0 ? NULL : (char *) (flat) + \
					RaceFlatModelAt(&(flat)->header, &(flat)->params, (flat)->width)))

/*
 * Set the hash of the content, after all other fields. Readers use it to see
 * whether a stored value is the one that they have in memory (cache/stored.h).
 */
extern void race_sketch_seal(RaceSketchDatum *flat);

/*
 * The longest sketch on the wire: counters, what precedes them, ids of shares, and a
 * model
 */
#define RACE_MAX_WIRE_BYTES \
	((Size) RACE_MAX_SKETCH_BYTES + RACE_MAX_PARTIES * sizeof(uint64) + \
	 RACE_MAX_MODEL_BYTES)

/*
 * To and from the wire.  Reading is the one validator of outside bytes: it
 * raises 22P03 for what is not a value at all and 22023 for parameters out of
 * their limits, and returns NULL after a soft error.
 */
extern void race_sketch_write(StringInfo out, const RaceHeader *header,
							  const RaceParams *params, const uint64 *shares,
							  const void *counters, int width,
							  const RaceModel *model, Size model_size);
extern RaceSketchDatum *race_sketch_read(const char *bytes, Size size,
										 Node *escontext);

#endif							/* RACE_FORMAT_H */
