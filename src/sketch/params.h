/*
 * params.h
 *		The type race_params: values, checks, construction, text and binary form
 *
 * A value of the type holds a RaceParams (lsh.h): one kernel, or several that are multiplied.
 * kernels.c has the table of their fields.
 */
#ifndef RACE_PARAMS_H
#define RACE_PARAMS_H

#include "postgres.h"

#include "fmgr.h"
#include "lib/stringinfo.h"

#include "hash/contingency.h"
#include "hash/lsh.h"
#include "sketch/server.h"

#define RACE_FORMAT_VERSION		1

typedef struct RaceParamsDatum
{
	int32		vl_len_;		/* varlena header, do not touch directly */
	uint8		version;		/* RACE_FORMAT_VERSION */
	uint8		reserved[3];	/* 0 */
	RaceParams	params;
} RaceParamsDatum;

/* ---------------------------------------------------------- values: params.c */

/* A datum with these parameters; and a copy of parameters in a memory context */
extern RaceParamsDatum *race_params_datum(const RaceParams *params);
extern RaceParams *race_params_copy(const RaceParams *params,
									MemoryContext context);

/* The parameters in a datum; valid as long as the datum, detoasted, is. */
extern const RaceParams *race_params_arg(Datum datum);

/* Raise 22023 unless the parameters are good enough to make a sketch. */
extern void race_params_check_complete(const RaceParams *params);

/* Raise 22023 unless the parameters are of a kernel; and those of noise shares. */
extern void race_params_check_kernel(const RaceParams *params);
extern void race_params_check_exact(const RaceParams *params);

/* Are these the same row functions and the same shape? */
extern bool race_params_same(const RaceParams *a, const RaceParams *b);

/*
 * Are they the same except for the number of rows? Each row is drawn by itself, so
 * the rows of the one are the first rows of the other.
 */
extern bool race_params_same_rows(const RaceParams *a, const RaceParams *b);

/*
 * How often the cells of each of two grids must be halved to be the same; false if they are
 * not grids, if there is no such number, or if they differ otherwise.
 */
extern bool race_params_common_cells(const RaceParams *a, const RaceParams *b, int halvings[2]);

/* Do they have the same kernel and measure distances alike, whatever their rows? */
extern bool race_params_same_kernel(const RaceParams *a, const RaceParams *b);

/* Raise 22023, naming both, unless they are the same. */
extern void race_params_check_same(const RaceParams *a, const RaceParams *b);

/* ------------------------------------------------------------ construction */

/*
 * The same kernel as a grid (table.h), palloc'd; NULL if there cannot be one, because of
 * the kernel, the dims, a transform or missing bounds
 */
extern RaceParams *race_params_as_grid(const RaceParams *params);

/* Those of contingency tables with other cells and groups, palloc'd */
extern RaceParams *race_params_with_cells(const RaceParams *params, const double *cells, const double *groups);

/* Those of what was measured of contingency tables, palloc'd */
extern RaceParams *race_params_measured(const RaceParams *params, const RaceContingency *tables);

/* ----------------------------------------- text and binary form */

/* Return the text form for messages, palloc'd, with the lengths of long arrays in place of them. */
extern char *race_params_brief(const RaceParams *params);

/* The parameters in a text; NULL after a soft error */
extern RaceParams *race_params_parse(const char *text, Node *escontext);

/* Bytes of one part of the kernel on the wire, but for its arrays */
#define RACE_PART_WIRE_SIZE		64

/* Write parameters; they take as many bytes as in memory. */
extern void race_params_write(StringInfo out, const RaceParams *params);

/*
 * How many bytes the parameters take that begin here. At least one part without its
 * arrays must be there.
 */
extern Size race_params_wire_size(const unsigned char *bytes);

/*
 * Read parameters.  Raises 22P03 for what is no value at all and 22023 for parameters
 * out of their limits; returns NULL after a soft error.
 */
extern RaceParamsDatum *race_params_read(const char *bytes, Size size,
										 Node *escontext);

#endif
