/*
 * params_text.h
 *		The text form of race_params: output
 */
#ifndef RACE_PARAMS_TEXT_H
#define RACE_PARAMS_TEXT_H

#include "postgres.h"

#include "hash/fields.h"
#include "hash/params.h"

/* Sets of fields, by RaceFieldNumber */
#define RaceFieldBit(key) ((uint32) 1 << (key))
#define RACE_FIELDS_ALL PG_UINT32_MAX
#define RACE_FIELDS_OF_SHAPE \
	(RaceFieldBit(RACE_KEY_ROWS) | RaceFieldBit(RACE_KEY_RANGE) | RaceFieldBit(RACE_KEY_REHASH))
#define RACE_FIELDS_OF_PRODUCT \
	(RaceFieldBit(RACE_KEY_ROWS) | RaceFieldBit(RACE_KEY_RANGE) | RaceFieldBit(RACE_KEY_SEED))
#define RACE_FIELDS_OF_KERNEL \
	(RACE_FIELDS_ALL & \
	 ~(RACE_FIELDS_OF_SHAPE | RACE_FIELDS_OF_PRODUCT | RaceFieldBit(RACE_KEY_SEQUENCE) | \
	   RaceFieldBit(RACE_KEY_LOWER) | RaceFieldBit(RACE_KEY_UPPER) | \
	   RaceFieldBit(RACE_KEY_CELLS) | RaceFieldBit(RACE_KEY_NULLS)))

/*
 * Return the text form, palloc'd: "l2(dims=3, bandwidth=5, …)", or several with * between.  It
 * names every parameter, so that a dump never depends on the defaults of the version that reads
 * it.
 */
extern char *race_params_text(const RaceParams *params);

/* Return what a user would write for them, for messages: no defaults, and no long arrays. */
extern char *race_params_brief(const RaceParams *params);

/*
 * Return a sentence, for the detail of a message, that names the fields, of a set, in which
 * parameters differ, with both values; and both parameters, if their kernels differ.
 */
extern char *race_params_difference(const RaceParams *a, const RaceParams *b, uint32 fields);

#endif
