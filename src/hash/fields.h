/*
 * fields.h
 *		The table of the fields of RaceParams
 */
#ifndef RACE_FIELDS_H
#define RACE_FIELDS_H

#include "hash/params.h"

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
	RACE_KEY_MATRIX, /* this and the next come in a race_transform */
	RACE_KEY_OFFSET,
	RACE_KEY_CELLS,
	RACE_KEY_NULLS,
	RACE_KEY_RADIUS,
	RACE_KEY_QUERY_RADIUS, /* the last of the constructor of kernels */
	RACE_KEY_NORM,
	RACE_KEY_FEATURES,
	RACE_KEY_TARGETS,
	RACE_KEY_CLIP,
	RACE_KEY_COARSER,
	RACE_KEY_GROUPS,
	RACE_KEY_WORKLOAD,
	RACE_KEY_JOINED,
	RACE_KEY_MEASURED,
	RACE_KEY_SIGNS,
	RACE_KEY_SEARCHED,
	RACE_KEY_ENDS,
	RACE_KEYS, /* fields from here on are derived */
	RACE_FIELD_KIND = RACE_KEYS,
	RACE_FIELD_OUTPUTS,
	RACE_FIELD_MORE,
	RACE_FIELD_ARRAYS,
	RACE_FIELD_JOINED,
	RACE_FIELD_WORKLOAD,
	RACE_FIELD_MEASURED,
	RACE_FIELD_SIGNS,
	RACE_FIELDS
} RaceFieldNumber;

typedef enum RaceFieldType
{
	RACE_FIELD_CHOICE,  /* uint8: one of some names; 0 is "auto", or not stated */
	RACE_FIELD_COUNT,   /* uint32 or less, from an integer */
	RACE_FIELD_INTEGER, /* int64 */
	RACE_FIELD_REAL,    /* double */
	RACE_FIELD_VECTOR,  /* an array of numbers, after the fields */
	RACE_FIELD_MATRIX,  /* an array of rows of numbers, after the fields */
	RACE_FIELD_DERIVED  /* follows from others; only on the wire */
} RaceFieldType;

#define RACE_CHOICES 8 /* numbers of a choice that are in use, and one more */

/*
 * A field of RaceParams, or an array that follows it
 *
 * The table of fields drives the text form, the constructor, the wire format, the limits of
 * each field, and the order of race_params.  To add a parameter: add the field to RaceParams
 * (in place of reserved bytes, or in the union of what only some kernels have), a line to the
 * table (fields.c), and an argument to the constructor (params.sql).
 */
typedef struct RaceField
{
	const char *name; /* name in the text form and in messages */
	RaceFieldType type;
	bool optional;    /* NULL in the constructor means: not stated, 0 */
	bool shared;      /* only the first kernel of a product states it */
	bool own;         /* others may keep something else in its place, or in that of its length */
	uint32_t takes;   /* the RaceTakes of what it applies to, or 0 for all */
	uint8_t offset;   /* offset in RaceParams */
	uint8_t size;     /* size in bytes; 0 for an array */
	uint8_t wire;     /* position in the wire format of a part */
	RaceArray array;  /* array that it is, or 0 */
	double least;     /* least value of a number, or of the numbers of an array */
	double most;      /* largest of these values; 0: there are no limits here */
	const char *what; /* noun of messages about a choice */
	const char *names[RACE_CHOICES]; /* names of a choice, without those of kernels */
	const char *hint;                /* hint that lists the names of a choice, or NULL */
} RaceField;

extern const RaceField race_fields[RACE_FIELDS];

/* The defaults, with which those of the constructor in SQL agree */
extern const RaceParams race_params_default;

/*
 * Return the name that the text form of a part begins with: of its kernel, or of its kind if that
 * has none.
 */
extern const char *race_part_name(const RaceParams *part);

/* Return whether a part has this field.  Its kind and its kernel tell. */
extern bool race_field_applies(const RaceField *field, const RaceParams *part);

/* Return whether a part keeps the field in its place. */
extern bool race_field_is_stored(const RaceField *field, const RaceParams *part);

/*
 * Return the bytes of a field that is no array, as an integer; set the field by them; and return a
 * double with such bytes.
 */
extern uint64_t race_field_bits(const RaceField *field, const RaceParams *part);
extern void race_field_set_bits(const RaceField *field, RaceParams *part, uint64_t bits);
extern double race_double_of_bits(uint64_t bits);

/* Return the name of a number of a choice; NULL if there is none. */
extern const char *race_choice_name(RaceFieldNumber key, int number);

#endif
