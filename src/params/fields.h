/*
 * fields.h
 *		The table of the parameters of a sketch.
 *
 * Every field of RaceParams has one line in the table.  The line says how the field
 * is called, what type it has, where it lies in memory and on the wire, what it is
 * by default, and which kernels it applies to.  The text form, the constructor
 * race_params(...), the wire format and the order of race_params follow the table.
 * To add a parameter: add the field to RaceParams (in place of reserved bytes, or in the
 * union of what only some kernels have), a line to the table, an argument to the
 * constructor (params.sql), and its limits (lsh/limits.c).
 */
#ifndef RACE_FIELDS_H
#define RACE_FIELDS_H

#include "postgres.h"

#include "../lsh/lsh.h"

typedef enum RaceFieldType
{
	RACE_FIELD_CHOICE,			/* uint8: one of some names; 0 is "auto", or not stated */
	RACE_FIELD_COUNT,			/* uint32 or less, from an integer */
	RACE_FIELD_INTEGER,			/* int64 */
	RACE_FIELD_REAL,			/* double */
	RACE_FIELD_VECTOR,			/* an array of dims numbers, after the fields */
	RACE_FIELD_MATRIX,			/* an array of rows of numbers, after the fields */
	RACE_FIELD_DERIVED			/* follows from the arrays; only on the wire */
} RaceFieldType;

/* The fields in the order of the text form and of the constructor's arguments */
typedef enum RaceFieldNumber
{
	RACE_KEY_KERNEL,
	RACE_KEY_DIMS,
	RACE_KEY_BANDWIDTH,
	RACE_KEY_POWER,
	RACE_KEY_ROWS,
	RACE_KEY_RANGE,
	RACE_KEY_SEED,
	RACE_KEY_SEQUENCE,
	RACE_KEY_REHASH,
	RACE_KEY_BANDWIDTHS,
	RACE_KEY_LOWER,
	RACE_KEY_UPPER,
	RACE_KEY_MATRIX,			/* this and the next come in a race_transform */
	RACE_KEY_OFFSET,
	RACE_KEY_CELLS,
	RACE_KEY_NULLS,
	RACE_KEY_RADIUS,
	RACE_KEY_QUERY_RADIUS,		/* the last of the constructor of kernels */
	RACE_KEY_NORM,
	RACE_KEY_FEATURES,
	RACE_KEY_TARGETS,
	RACE_KEY_CLIP,
	RACE_KEY_COARSER,
	RACE_KEYS,					/* fields from here on are derived */
	RACE_FIELD_OUTPUTS = RACE_KEYS,
	RACE_FIELD_MORE,
	RACE_FIELD_ARRAYS,
	RACE_FIELDS
} RaceFieldNumber;

typedef struct RaceField
{
	const char *name;			/* in the text form and in messages */
	RaceFieldType type;
	bool		optional;		/* NULL in the constructor means: not stated */
	bool		shared;			/* only the first kernel of a product states it */
	uint8		offset;			/* in RaceParams, and */
	uint8		size;			/* how many bytes; 0 for an array */
	uint8		wire;			/* position in the wire format of a part */
	double		fallback;		/* the default; the SQL default must be the same */
	RaceArray	array;			/* which array it is, or 0 */
	uint32		takes;			/* the RaceTakes of kernels that it applies to, or 0 */
	bool		own;			/* other kernels may keep something else in its place */
	/* names of a choice: what it is called in messages, and the names themselves */
	const char *what;
	const char *(*name_of) (int value);
	int			(*value_of) (const char *name);
	const char *hint;			/* that names them, or NULL */
} RaceField;

extern const RaceField race_fields[RACE_FIELDS];

/* Is the field an array of numbers? */
extern bool race_field_is_array(const RaceField *field);

/* Does a part with this kernel keep the field in its place? */
extern bool race_field_is_stored(const RaceField *field, int kernel);

/* Does a part of the kernel state this field?  `first`: is it the first part? */
extern bool race_field_applies(const RaceField *field, const RaceParams *part,
							   bool first);

/* The bytes of a field that is no array, as an integer, and back */
extern uint64 race_field_bits(const RaceField *field, const RaceParams *part);
extern void race_field_set_bits(const RaceField *field, RaceParams *part,
								uint64 bits);

/* Set a field that is no array to its default. */
extern void race_field_set_default(const RaceField *field, RaceParams *part);

/* The order of two values of a field that is no array: < 0, 0 or > 0 */
extern int	race_field_compare(const RaceField *field, const RaceParams *a,
							   const RaceParams *b);

#endif							/* RACE_FIELDS_H */
