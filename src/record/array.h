/*
 * array.h
 *		Arrays as SQL passes them, of any type.
 */
#ifndef RACE_ARRAY_H
#define RACE_ARRAY_H

#include "postgres.h"

#include "fmgr.h"

/* How a value holds its elements: as an array, or as the types of pgvector.h do */
typedef enum RaceLayout
{
	RACE_LAYOUT_ARRAY,
	RACE_LAYOUT_VECTOR,
	RACE_LAYOUT_HALFVEC,
	RACE_LAYOUT_SPARSEVEC
} RaceLayout;

typedef struct RaceArrayReader
{
	Oid			type;			/* of the argument */
	RaceLayout	layout;
	Oid			element;		/* of its elements, after the cast if any */
	bool		has_cast;
	FmgrInfo	cast;			/* its implicit cast, or text input */
	Oid			cast_ioparam;	/* for text input, else invalid */
	const char *null_hint;		/* what to do with a NULL element */
} RaceArrayReader;

/* Elements of an array, wherever they lie: perhaps not aligned */
typedef struct RaceElements
{
	const char *data;
	uint32		n;				/* NULLs too, which have no data */
	uint32		stored;			/* of a sparsevec: how many have data */
	const bits8 *present;		/* a bit an element, 0 for a NULL; or NULL: all are */
} RaceElements;

/*
 * Prepare to read arguments of an array type with accepted elements, or of a domain
 * over one. Other types are accepted if they have an implicit cast to an array of
 * `otherwise`; a literal is read as the text of such an array. False for any other
 * type.
 */
extern bool race_array_prepare(RaceArrayReader *reader, Oid type,
							   bool (*accepts) (Oid element), Oid otherwise,
							   bool literals, MemoryContext context);

/*
 * What to do with a bad value: raise 22023, or with `soft` return false without an
 * error. Errors name what was expected and found, but never a value, because they
 * must not show a record.
 */
#define race_refuse(soft, ...) \
	do { \
		if (!(soft)) \
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), __VA_ARGS__)); \
		return false; \
	} while (0)

/*
 * Find the elements of an argument: one dimension and, unless `nulls` are allowed, no NULLs.
 * (A literal is text of the query itself; array input may quote it.)
 */
extern bool race_array_open(RaceArrayReader *reader, Datum value,
							RaceElements *elements, bool nulls, bool soft);

/*
 * The bytes of the next element in *data, of a type with a variable length; steps
 * over it
 */
extern const char *race_next_varlena(const char **data);

/* Elements of a type with a fixed length, which may not be aligned, one by one */
#define RACE_FOR_ELEMENTS(type, elements, statement) \
	do { \
		uint32		i; \
		type		element; \
\
		for (i = 0; i < (elements)->n; i++) \
		{ \
			memcpy(&element, (elements)->data + (Size) i * sizeof(type), sizeof(type)); \
			statement; \
		} \
	} while (0)

#endif							/* RACE_ARRAY_H */
