/*
 * params.h
 *		race_params: the table of fields and its construction
 */
#ifndef RACE_PARAMS_H
#define RACE_PARAMS_H

#include "postgres.h"

#include "fmgr.h"
#include "lib/stringinfo.h"

#include "contingency.h"
#include "lsh.h"
#include "server.h"

/*
 * The type race_params: what all sketches that are to be merged must share.
 *
 * A value of the type holds a RaceParams (lsh.h): one kernel, or several that are
 * multiplied.  The table of their fields is in params.c.  It reads parameters from
 * text, from the wire and from arguments, checks them, and writes them.
 */

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

/* Raise 22023 (softly, where there is a context) unless params are good. */
extern bool race_params_check(const RaceParams *params, Node *escontext);

/*
 * The same kernel as a grid (table.h), palloc'd; NULL if there cannot be one, because of
 * the kernel, the dims, a transform or missing bounds
 */
extern RaceParams *race_params_as_grid(const RaceParams *params);

/* Those of contingency tables with other cells and groups, palloc'd */
extern RaceParams *race_params_with_cells(const RaceParams *params, const double *cells, const double *groups);

/* Those of what was measured of contingency tables, palloc'd */
extern RaceParams *race_params_measured(const RaceParams *params, const RaceContingency *tables);

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

/* ----------------------------------------------- text: params_io.c and params_io.c */

/*
 * Text form, palloc'd: "l2(dims=3, bandwidth=5, …)", or several with * between.  It
 * names every parameter, so that a dump never depends on the defaults of the version
 * that reads it.
 */
extern char *race_params_text(const RaceParams *params);

/* The same for messages: long arrays are left out. */
extern char *race_params_brief(const RaceParams *params);

/* The parameters in a text; NULL after a soft error */
extern RaceParams *race_params_parse(const char *text, Node *escontext);

/* --------------------------------------------------------- the wire: params_io.c */

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

/*
 * The table of the parameters of a sketch.
 *
 * Every field of RaceParams has one line in the table.  The line says how the field
 * is called, what type it has, where it lies in memory and on the wire, what it is
 * by default, and which kernels it applies to.  The text form, the constructor
 * race_params(...), the wire format and the order of race_params follow the table.
 * To add a parameter: add the field to RaceParams (in place of reserved bytes, or in the
 * union of what only some kernels have), a line to the table, an argument to the
 * constructor (params.sql), and its limits (row_params.c).
 */

typedef enum RaceFieldType
{
	RACE_FIELD_CHOICE,			/* uint8: one of some names; 0 is "auto", or not stated */
	RACE_FIELD_COUNT,			/* uint32 or less, from an integer */
	RACE_FIELD_INTEGER,			/* int64 */
	RACE_FIELD_REAL,			/* double */
	RACE_FIELD_VECTOR,			/* an array of dims numbers, after the fields */
	RACE_FIELD_MATRIX,			/* an array of rows of numbers (race_array_columns), after the fields */
	RACE_FIELD_DERIVED			/* follows from the arrays; only on the wire */
} RaceFieldType;

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

/*
 * Parameters while they are put together, from text or from arguments.
 */

/*
 * A part of the kernel: its fields, and pointers to its arrays, by field number, of as
 * many numbers as the fields say.  A sequence or rehash of 0 is "auto".
 */
typedef struct RaceDraft
{
	RaceParams	part;
	const double *arrays[RACE_KEYS];
} RaceDraft;

/* A draft with the defaults, and a draft of an existing part */
extern void race_draft_default(RaceDraft *draft);

/*
 * Turn it into a later part of a product: remove what only the first part states.
 */
extern void race_draft_next(RaceDraft *draft);

/* Raise 22023 for a field that only other kernels have; false after a soft error. */
extern bool race_draft_takes(const RaceDraft *draft, const RaceField *field, Node *escontext);

/* Set a field from a value from outside; false after a soft error. */
extern bool race_draft_set_integer(RaceDraft *draft, const RaceField *field,
								   int64 value, Node *escontext);
extern bool race_draft_set_name(RaceDraft *draft, const RaceField *field,
								const char *name, Node *escontext);
extern void race_draft_set_real(RaceDraft *draft, const RaceField *field,
								double value);

/* Set a field that is an array of rows, or joined as one row. */
extern void race_draft_set_matrix(RaceDraft *draft, int key, const double *numbers, uint32 rows);

/*
 * Parameters from drafts of all their parts, palloc'd and checked; "auto" is replaced by
 * what it stands for.  The first draft states what all share.  NULL after a soft
 * error.
 */
extern RaceParams *race_params_assemble(RaceDraft *drafts, int n, Node *escontext);

#endif
