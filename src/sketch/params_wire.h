/*
 * params_wire.h
 *		The wire format of race_params
 */
#ifndef RACE_PARAMS_WIRE_H
#define RACE_PARAMS_WIRE_H

#include "postgres.h"

#include "lib/stringinfo.h"
#include "nodes/nodes.h"

#include "hash/params.h"
#include "sketch/params_type.h"

/* Bytes of one part of the kernel on the wire, but for its arrays */
#define RACE_PART_WIRE_SIZE 64

/* Write parameters; they take as many bytes as in memory. */
extern void race_params_write(StringInfo out, const RaceParams *params);

/*
 * Return how many bytes the parameters take that begin here.  At least one part without its arrays
 * must be there.
 */
extern Size race_params_wire_size(const unsigned char *bytes);

/*
 * Read parameters.  Raise 22P03 for what is no value at all and 22023 for parameters out of their
 * limits; return NULL after a soft error.
 */
extern RaceParamsDatum *race_params_read(const char *bytes, Size size, Node *escontext);

#endif
