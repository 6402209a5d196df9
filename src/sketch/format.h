/*
 * format.h
 *		What race_params and race_sketch look like, on disk and on the wire.
 *
 * On disk both are varlenas in native byte order, like PostgreSQL's own types.
 * The wire format (COPY BINARY, the binary protocol, and in hexadecimal the
 * text form of race_sketch) is little-endian everywhere, begins with a version
 * and ends, for a sketch, with a checksum.  format.c describes it.
 */
#ifndef RACE_FORMAT_H
#define RACE_FORMAT_H

#include "postgres.h"

#include "lib/stringinfo.h"

#include "counters.h"
#include "params.h"

/* The numbers below are stored in sketches: never reuse one. */

typedef enum RaceStatus
{
	RACE_STATUS_EXACT = 0,		/* no noise: not to be shown */
	RACE_STATUS_SHARE = 1,		/* shares of noise: private when there are enough */
	RACE_STATUS_PRIVATE = 2
} RaceStatus;

typedef enum RaceMechanism
{
	RACE_MECHANISM_NONE = 0,
	RACE_MECHANISM_LAPLACE = 1, /* discrete Laplace: pure privacy */
	RACE_MECHANISM_GAUSSIAN = 2,	/* discrete Gaussian: delta > 0 */
	RACE_MECHANISM_SEVERAL = 3	/* a sum of both */
} RaceMechanism;

typedef enum RaceNeighbours
{
	RACE_NEIGHBOURS_NONE = 0,
	RACE_NEIGHBOURS_ADD_REMOVE = 1,
	RACE_NEIGHBOURS_SUBSTITUTE = 2
} RaceNeighbours;

/*
 * The noise in a sketch and what it cost.  All zero in an exact one.  In a sum of
 * noise shares: what it costs with as many shares as there are, or as there must be.
 */
typedef struct RaceNoise
{
	uint8		status;			/* RaceStatus */
	uint8		mechanism;		/* RaceMechanism */
	uint8		neighbours;		/* RaceNeighbours */
	uint8		reserved[5];	/* 0 */
	uint32		max_contributions;	/* records a person may have */
	uint32		releases;		/* private sketches, or shares, merged into this one */
	double		epsilon;		/* true cost, rounded up */
	double		delta;
	double		rho;			/* the same in zCDP */
	double		counter_variance;	/* of the noise in each counter */
	double		count_variance; /* of the noise in the record count */
	uint32		parties;		/* that have a share each; else 0 */
	uint32		colluders;		/* of them, who may know each other's noise */
	uint32		dropouts;		/* and who may fail to take part */
	uint32		reserved32;		/* 0 */
} RaceNoise;

#define RACE_MAX_PARTIES	10000

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
	uint32		content_hash;	/* CRC-32C of what lies around it */
	uint32		reserved32;		/* 0 */
	uint64		reserved64;		/* 0 */
	RaceParams	params;			/* and what they go on with; then the ids of */
								/* shares, and the counters, [rows][range] */
} RaceSketchDatum;

/* Each share that is in a sketch has its id, random: in ascending order */
#define RaceShares(header) \
	((header)->noise.status == RACE_STATUS_SHARE ? (Size) (header)->noise.releases : 0)

#define RaceCounters(p)			((Size) (p)->rows * (p)->range)
#define RaceFlatHeaderSize(p) \
	(offsetof(RaceSketchDatum, params) + race_params_size(p))
#define RaceFlatSize(header, p, width) \
	(RaceFlatHeaderSize(p) + RaceShares(header) * sizeof(uint64) + \
	 RaceCounters(p) * (width))
#define RaceFlatShares(flat) \
	((uint64 *) ((char *) (flat) + RaceFlatHeaderSize(&(flat)->params)))
#define RaceFlatCounters(flat) \
	((char *) (RaceFlatShares(flat) + RaceShares(&(flat)->header)))

/*
 * Set the hash of the content, when all else is set.  It tells readers who have
 * seen a value before whether a stored one is still the same (sketch_cache.c).
 */
extern void race_sketch_seal(RaceSketchDatum *flat);

extern const char *race_neighbours_name(int neighbours);
extern const char *race_mechanism_name(int mechanism);

/*
 * To and from the wire.  Reading is the one validator of outside bytes: it
 * raises 22P03 for what is not a value at all and 22023 for parameters out of
 * their limits, and returns NULL after a soft error.
 */
extern void race_params_write(StringInfo out, const RaceParams *params);
extern RaceParamsDatum *race_params_read(const char *bytes, Size size,
										 Node *escontext);
extern void race_sketch_write(StringInfo out, const RaceHeader *header,
							  const RaceParams *params, const uint64 *shares,
							  const void *counters, int width);
extern RaceSketchDatum *race_sketch_read(const char *bytes, Size size,
										 Node *escontext);

#endif							/* RACE_FORMAT_H */
