/*
 * params.c
 *		The type race_params: values, checks, construction, text and binary form, SQL functions
 */
#include "postgres.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>

#include "common/hashfn.h"
#include "common/shortest_dec.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "libpq/pqformat.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "sketch/bytes.h"
#include "hash/contingency.h"
#include "sketch/params.h"
#include "sketch/server.h"
#include "hash/table.h"
#include "hash/kind.h"

/*
 * Values of the type race_params: checks and comparisons.
 */

RaceParamsDatum *
race_params_datum(const RaceParams *params)
{
	Size		size = offsetof(RaceParamsDatum, params) + race_params_size(params);
	RaceParamsDatum *datum = palloc0(size);

	SET_VARSIZE(datum, size);
	datum->version = RACE_FORMAT_VERSION;
	memcpy(&datum->params, params, race_params_size(params));
	return datum;
}

RaceParams *
race_params_copy(const RaceParams *params, MemoryContext context)
{
	Size		size = race_params_size(params);

	return memcpy(MemoryContextAlloc(context, size), params, size);
}

/* Does the table have the kernels of all parts? In a damaged value it may not. */
static bool
has_kernels(const RaceParams *params)
{
	/* this is called for every record, so the usual case is short */
	if (params->more == 0)
		return race_kernel_type(params->kernel) != NULL;
	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
		if (race_kernel_type(part->kernel) == NULL)
			return false;
	return true;
}

const RaceParams *
race_params_arg(Datum value)
{
	RaceParamsDatum *datum = (RaceParamsDatum *) PG_DETOAST_DATUM(value);

	if (VARSIZE(datum) < sizeof(RaceParamsDatum) ||
		datum->version != RACE_FORMAT_VERSION ||
		VARSIZE(datum) != offsetof(RaceParamsDatum, params) +
		race_params_size(&datum->params) ||
		!has_kernels(&datum->params))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("race_params value of unknown format")));
	return &datum->params;
}

/* Raise 22023 (softly, where there is a context) unless params are good. */
static bool
check(const RaceParams *params, Node *escontext)
{
	char		message[256];

	if (race_params_problem(params, race_params_size(params), message,
							sizeof(message)) != NULL)
		ereturn(escontext, false,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid race_params: %s", message)));
	return true;
}

void
race_params_check_complete(const RaceParams *params)
{
	const RaceParams *part = params;

	if (race_params_complete(params))
		return;
	/* in a product: the first part without dims */
	/* bound: the parts, one of which lacks dims */
	while (part->dims != 0 || race_record_kind(part) == RACE_RECORD_SET)
		part = race_params_next(part, params);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("race_params do not state the number of dimensions"),
			 errdetail("The parameters are %s.", race_params_brief(params)),
			 errhint("Give dims, as in race_params('%s', dims => 3).",
					 race_kernel_name(part->kernel))));
}

void
race_params_check_kernel(const RaceParams *params)
{
	const RaceSummaryKind *kind = race_summary_kind(params);

	if (!kind->densities)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("expected parameters of a kernel, found those of %s", kind->name)));
}

void
race_params_check_exact(const RaceParams *params)
{
	if (race_summary_kind(params)->matrix && params->coarser != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("these parameters are of noise shares of moments"),
				 errhint("Make those of exact ones by race_moment_params.")));
	if (race_params_are_measured(params))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("these parameters are of private tables"),
				 errhint("Exact tables are of all pairs: leave measured and joined out.")));
}

bool
race_params_same(const RaceParams *a, const RaceParams *b)
{
	return a->more == b->more && memcmp(a, b, race_params_size(a)) == 0;
}

bool
race_params_same_rows(const RaceParams *a, const RaceParams *b)
{
	const Size	before = offsetof(RaceParams, rows);
	const Size	after = before + sizeof(a->rows);

	return a->more == b->more && memcmp(a, b, before) == 0 &&
		memcmp((const char *) a + after, (const char *) b + after,
			   race_params_size(a) - after) == 0;
}

/* How often the cells of `fine` are halved to be those of `coarse`; 0 if they never are */
static int
halvings_between(const RaceParams *fine, const RaceParams *coarse)
{
	double		ratio = race_array(fine, RACE_ARRAY_CELLS)[0] / race_array(coarse, RACE_ARRAY_CELLS)[0];
	int			halvings = 0;

	/* bound: the exponent of a double; numbers of cells are finite */
	for (; ratio > 1; ratio /= 2)
		halvings++;
	return ratio == 1 ? halvings : 0;
}

/* A copy with cells after so many halvings, in one level */
static RaceParams *
coarsened(const RaceParams *params, int halvings)
{
	RaceParams *copy = race_params_copy(params, CurrentMemoryContext);
	RaceGridChoice choice = {halvings, 1};

	race_summary_kind(copy)->coarsen(copy, choice);
	return copy;
}

bool
race_params_common_cells(const RaceParams *a, const RaceParams *b, int halvings[2])
{
	RaceParams *coarse[2];
	bool		same;

	if (race_summary_kind(a)->coarsen == NULL || race_summary_kind(b)->coarsen == NULL ||
		a->dims != b->dims)
		return false;
	halvings[0] = halvings_between(a, b);
	halvings[1] = halvings_between(b, a);
	coarse[0] = coarsened(a, halvings[0]);
	coarse[1] = coarsened(b, halvings[1]);
	same = race_params_same(coarse[0], coarse[1]);
	pfree(coarse[0]);
	pfree(coarse[1]);
	return same;
}

/* Are they the same in an array, which one of them or both may not have? */
static bool
same_array(const RaceParams *a, const RaceParams *b, RaceArray array)
{
	uint64		n = race_array_length(a, array);

	return n == race_array_length(b, array) &&
		(n == 0 || memcmp(race_array(a, array), race_array(b, array), n * sizeof(double)) == 0);
}

bool
race_params_same_kernel(const RaceParams *a, const RaceParams *b)
{
	const RaceParams *x = a;
	const RaceParams *y = b;

	for (; x != NULL && y != NULL; x = race_params_next(x, a), y = race_params_next(y, b))
		if (x->kernel != y->kernel || x->dims != y->dims || x->power != y->power ||
			x->bandwidth != y->bandwidth || x->own.bits[0] != y->own.bits[0] ||
			x->own.bits[1] != y->own.bits[1] || !same_array(x, y, RACE_ARRAY_BANDWIDTHS) ||
			!same_array(x, y, RACE_ARRAY_MATRIX) || !same_array(x, y, RACE_ARRAY_OFFSET))
			return false;
	return x == NULL && y == NULL;
}

void
race_params_check_same(const RaceParams *a, const RaceParams *b)
{
	if (!race_params_same(a, b))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("sketches with different parameters cannot be combined"),
				 errdetail("One side has %s, the other has %s.",
						   race_params_brief(a), race_params_brief(b))));
}

/*
 * A part of the kernel while it is put together: its fields, and its arrays by field number.
 * A sequence or rehash of 0 is "auto".
 */
typedef struct RaceDraft
{
	RaceParams	part;
	const double *arrays[RACE_KEYS];
	uint32		rows[RACE_KEYS];	/* of an array, 1 of a vector, */
	uint32		columns[RACE_KEYS]; /* and the numbers in each */
} RaceDraft;

/* Set an array, or remove it with NULL. */
static void
draft_set_array(RaceDraft *draft, int key, const double *numbers, uint32 rows, uint32 columns)
{
	draft->arrays[key] = numbers;
	draft->rows[key] = rows;
	draft->columns[key] = columns;
}

static void
draft_of(RaceDraft *draft, const RaceParams *part)
{
	memset(draft, 0, sizeof(RaceDraft));
	draft->part = *part;
	for (int key = 0; key < RACE_KEYS; key++)
	{
		RaceArray	array = race_fields[key].array;

		if (race_field_applies(&race_fields[key], part->kernel))
			draft_set_array(draft, key, race_array(part, array),
							race_array_rows(part, array), race_array_columns(part, array));
	}
}

/* Raise 22023 if another kernel has the field and this one something else; false after a soft error. */
static bool
draft_check_field(const RaceDraft *draft, int key, Node *escontext)
{
	if (race_fields[key].own && !race_field_applies(&race_fields[key], draft->part.kernel))
		ereturn(escontext, false,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid race_params: kernel %s has no %s",
						race_kernel_name(draft->part.kernel), race_fields[key].name)));
	return true;
}

/* Set a field from a value from outside; false after a soft error. */
static bool
draft_set_integer(RaceDraft *draft, int key, int64 value, Node *escontext)
{
	const RaceField *field = &race_fields[key];

	if (field->most > 0 && !(value >= field->least && value <= field->most))
		ereturn(escontext, false,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid race_params: %s must be between %.0f and %.0f",
						field->name, field->least, field->most)));
	/* a number that is truncated here is outside its limits before and after */
	if (field->type == RACE_FIELD_COUNT)
		value = Max(0, Min(value, field->size == 1 ? PG_UINT8_MAX :
						   field->size == 2 ? PG_UINT16_MAX : PG_INT32_MAX));
	race_field_set_bits(field, &draft->part, (uint64) value);
	return true;
}

static bool
draft_set_name(RaceDraft *draft, int key, const char *name, Node *escontext)
{
	const RaceField *field = &race_fields[key];
	int			value = 0;
	char		list[128];

	for (int i = 1; value == 0 && i <= PG_UINT8_MAX; i++)
		if (race_choice_name(key, i) != NULL && strcmp(race_choice_name(key, i), name) == 0)
			value = i;
	if (value == 0 && (key == RACE_KEY_KERNEL || field->optional || strcmp(name, "auto") != 0))
		ereturn(escontext, false,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unknown %s \"%s\"", field->what, race_cut(name)),
				 key == RACE_KEY_KERNEL ?
				 errhint("The kernels are %s.",
						 race_kernel_list(RACE_TAKES_FUNCTIONS, list, sizeof(list))) :
				 field->hint != NULL ? errhint("%s", field->hint) : 0));
	race_field_set_bits(field, &draft->part, value);
	return true;
}

static void
draft_set_real(RaceDraft *draft, int key, double value)
{
	uint64		bits;

	memcpy(&bits, &value, sizeof(bits));
	race_field_set_bits(&race_fields[key], &draft->part, bits);
}

/* ------------------------------------------------------------- assembling */

/* Set the fields that follow from arrays, and check that arrays have the rows and columns of the part. */
static bool
measure_arrays(RaceDraft *draft, Node *escontext)
{
	RaceParams *part = &draft->part;

	for (int key = 0; key < RACE_KEYS; key++)
	{
		if (draft->arrays[key] == NULL)
			continue;
		if (key == RACE_KEY_MATRIX || key == RACE_KEY_MEASURED)
			part->outputs = draft->rows[key];
		if (key == RACE_KEY_WORKLOAD)
			part->workload = draft->rows[key];
		if (key == RACE_KEY_JOINED)
			part->joined = draft->columns[key];
	}
	for (int key = 0; key < RACE_KEYS; key++)
	{
		const RaceField *field = &race_fields[key];
		uint32		rows = race_array_rows(part, field->array);
		uint32		columns = race_array_columns(part, field->array);

		if (draft->arrays[key] != NULL && (draft->rows[key] != rows || draft->columns[key] != columns))
			ereturn(escontext, false,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 draft->columns[key] == columns ?
					 errmsg("invalid race_params: %s must have %u rows", field->name, rows) :
					 errmsg("invalid race_params: %s must have %s numbers%s", field->name,
							key == RACE_KEY_MEASURED || key == RACE_KEY_WORKLOAD ? "three" : "dims",
							field->type == RACE_FIELD_MATRIX ? " in each row" : ""),
					 draft->columns[key] == columns ?
					 errdetail("Found %u.", draft->rows[key]) :
					 errdetail("dims is %u, found %u.", part->dims, draft->columns[key])));
	}
	return true;
}

/* Write a part and its arrays; returns where the next one belongs. */
static char *
write_part(char *next, const RaceDraft *draft)
{
	RaceParams *part = (RaceParams *) next;

	*part = draft->part;
	part->more = 0;
	next += sizeof(RaceParams);
	for (int key = 0; key < RACE_KEYS; key++)
	{
		double	   *to = (double *) race_array(part, race_fields[key].array);
		Size		n = draft->arrays[key] != NULL ?
			race_array_length(part, race_fields[key].array) : 0;

		/* remove the sign of zero: equal parameters are equal bytes */
		for (Size i = 0; i < n; i++)
			to[i] = draft->arrays[key][i] + 0.0;
	}
	return next + race_arrays_size(part);
}

/*
 * Parameters from drafts of all their parts, palloc'd and checked; "auto" is replaced by
 * what it stands for.  The first draft states what all share.  NULL after a soft
 * error.
 */
static RaceParams *
assemble(RaceDraft *drafts, int n, Node *escontext)
{
	RaceParams *params;
	uint64		more = 0;
	uint32		sobol = 0;		/* dimensions that are taken */
	char	   *next;

	for (int i = 0; i < n; i++)
	{
		RaceParams *part = &drafts[i].part;

		for (int key = 0; key < RACE_KEYS && i > 0; key++)
			if (race_fields[key].shared)
				race_field_set_bits(&race_fields[key], part, 0);
		if (!measure_arrays(&drafts[i], escontext))
			return NULL;
		if (part->sequence == 0)
			part->sequence = race_default_sequence(part, sobol);
		if (part->sequence == RACE_SEQUENCE_SOBOL)
			sobol = Min((uint64) sobol + race_sobol_dimensions(part), PG_UINT32_MAX);
	}
	race_summary_kind(&drafts[0].part)->complete(&drafts[0].part, drafts[0].arrays,
											  palloc(RACE_GRID_DIMS * sizeof(double)));
	for (int i = 0; i < n; i++)
	{
		drafts[i].part.arrays = 0;
		for (int key = 0; key < RACE_KEYS; key++)
			if (drafts[i].arrays[key] != NULL)
				drafts[i].part.arrays |= race_fields[key].array;
		more += race_arrays_size(&drafts[i].part) + sizeof(RaceParams);
	}
	more -= sizeof(RaceParams);
	if (more > RACE_MAX_MORE)
		ereturn(escontext, NULL,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid race_params: bandwidths, bounds and transforms must be at most %d numbers",
						(int) (RACE_MAX_MORE / sizeof(double)))));

	params = palloc0(sizeof(RaceParams) + more);
	next = (char *) params;
	for (int i = 0; i < n; i++)
		next = write_part(next, &drafts[i]);
	params->more = (uint32) more;
	if (params->rehash == 0)
		params->rehash = race_default_rehash(params);
	return check(params, escontext) ? params : NULL;
}

RaceParams *
race_params_measured(const RaceParams *params, const RaceContingency *tables)
{
	RaceDraft	draft;

	draft_of(&draft, params);
	draft_set_array(&draft, RACE_KEY_JOINED, tables->joined, 1, tables->n_joined);
	draft_set_array(&draft, RACE_KEY_MEASURED, tables->measured, tables->n_measured, RACE_TABLE_NUMBERS);
	return assemble(&draft, 1, NULL);
}

RaceParams *
race_params_with_cells(const RaceParams *params, const double *cells, const double *groups)
{
	RaceDraft	draft;

	draft_of(&draft, params);
	draft_set_array(&draft, RACE_KEY_CELLS, cells, 1, params->dims);
	draft_set_array(&draft, RACE_KEY_GROUPS, groups, RACE_GROUP_NUMBERS, params->dims);
	return assemble(&draft, 1, NULL);
}

RaceParams *
race_params_as_grid(const RaceParams *params)
{
	const double *lower = race_array(params, RACE_ARRAY_LOWER);
	const double *upper = race_array(params, RACE_ARRAY_UPPER);
	RaceDraft	draft;

	if (race_summary_kind(params)->coarsen != NULL)
		return race_params_copy(params, CurrentMemoryContext);
	if (params->dims < 1 || params->dims > RACE_GRID_DIMS || lower == NULL || upper == NULL ||
		!race_radial_can(params) ||
		(params->arrays & (RACE_ARRAY_MATRIX | RACE_ARRAY_OFFSET)) != 0)
		return NULL;
	for (uint32 i = 0; i < params->dims; i++)
		if (!isfinite(lower[i]) || !isfinite(upper[i]) || !(lower[i] < upper[i]) ||
			!isfinite(upper[i] - lower[i]))
			return NULL;
	draft_of(&draft, params);
	draft.part.sequence = RACE_SEQUENCE_GRID;
	draft.part.rehash = 0;		/* "auto" */
	return assemble(&draft, 1, NULL);
}

/*
 * The type race_params in SQL: input and output, constructor, product, order.
 */

PG_FUNCTION_INFO_V1(race_params_in);
PG_FUNCTION_INFO_V1(race_params_out);
PG_FUNCTION_INFO_V1(race_params_recv);
PG_FUNCTION_INFO_V1(race_params_send);
PG_FUNCTION_INFO_V1(race_params_new);
PG_FUNCTION_INFO_V1(race_moment_params);
PG_FUNCTION_INFO_V1(race_params_multiply);
PG_FUNCTION_INFO_V1(race_params_cmp);
PG_FUNCTION_INFO_V1(race_params_hash);
PG_FUNCTION_INFO_V1(race_params_hash_extended);

Datum
race_params_in(PG_FUNCTION_ARGS)
{
	RaceParams *params = race_params_parse(PG_GETARG_CSTRING(0),
										   race_escontext(fcinfo));

	if (params == NULL)
		PG_RETURN_NULL();
	PG_RETURN_POINTER(race_params_datum(params));
}

Datum
race_params_recv(PG_FUNCTION_ARGS)
{
	StringInfo	message = (StringInfo) PG_GETARG_POINTER(0);
	int			size = message->len - message->cursor;

	PG_RETURN_POINTER(race_params_read(pq_getmsgbytes(message, size), size,
									   race_escontext(fcinfo)));
}

Datum
race_params_send(PG_FUNCTION_ARGS)
{
	StringInfoData message;

	pq_begintypsend(&message);
	race_params_write(&message, race_params_arg(PG_GETARG_DATUM(0)));
	PG_RETURN_BYTEA_P(pq_endtypsend(&message));
}

/* Set an array of ndim dimensions; its numbers may be infinite. */
static void
set_array(RaceDraft *draft, int key, Datum value, int ndim)
{
	ArrayType  *array = DatumGetArrayTypeP(value);

	if (ARR_NDIM(array) != ndim || ARR_HASNULL(array))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid race_params: %s must be %s without nulls", race_fields[key].name,
						ndim == 1 ? "an array of numbers" : "an array of arrays of numbers")));
	draft_set_array(draft, key, (const double *) ARR_DATA_PTR(array),
						 ndim == 1 ? 1 : ARR_DIMS(array)[0], ARR_DIMS(array)[ndim - 1]);
}

/* Set a field from an argument, which is not NULL. */
static void
set_field(RaceDraft *draft, int key, Datum value)
{
	draft_check_field(draft, key, NULL);
	switch (race_fields[key].type)
	{
		case RACE_FIELD_CHOICE:
			draft_set_name(draft, key, TextDatumGetCString(value), NULL);
			break;
		case RACE_FIELD_COUNT:
			draft_set_integer(draft, key, DatumGetInt32(value), NULL);
			break;
		case RACE_FIELD_INTEGER:
			draft_set_integer(draft, key, DatumGetInt64(value), NULL);
			break;
		case RACE_FIELD_REAL:
			draft_set_real(draft, key, DatumGetFloat8(value));
			break;
		case RACE_FIELD_VECTOR:
			set_array(draft, key, value, 1);
			break;
		default:
			set_array(draft, key, value, 2);
			break;
	}
}

/* Set the matrix and the offset of a race_transform. */
static void
set_transform(RaceDraft *draft, HeapTupleHeader transform)
{
	for (int key = RACE_KEY_MATRIX; key <= RACE_KEY_OFFSET; key++)
	{
		bool		null;
		Datum		value = GetAttributeByNum(transform, key - RACE_KEY_MATRIX + 1, &null);

		if (!null)
			set_field(draft, key, value);
	}
}

/*
 * race_params(kernel, ..., upper, transform, cells, nulls, radii): the fields in the order of the table,
 * and in place of matrix and offset the transform that they make up
 */
Datum
race_params_new(PG_FUNCTION_ARGS)
{
	RaceDraft	draft = {.part = race_params_default};

	Assert(PG_NARGS() < RACE_KEY_NORM);
	for (int arg = 0; arg < RACE_KEY_MATRIX; arg++)
		if (PG_ARGISNULL(arg) && !race_fields[arg].optional)
			PG_RETURN_NULL();

	for (int arg = 0; arg < PG_NARGS(); arg++)
	{
		int			key = arg < RACE_KEY_MATRIX ? arg : arg + 1;

		if (PG_ARGISNULL(arg))
			continue;
		if (arg == RACE_KEY_MATRIX)
			set_transform(&draft, PG_GETARG_HEAPTUPLEHEADER(arg));
		else
			set_field(&draft, key, PG_GETARG_DATUM(arg));
	}
	PG_RETURN_POINTER(race_params_datum(assemble(&draft, 1, NULL)));
}

/* race_moment_params(lower, upper, norm, features, targets, bandwidth, seed, sequence, clip, transform): of moments (moment_sums.h) */
Datum
race_moment_params(PG_FUNCTION_ARGS)
{
	static const int keys[] = {
		RACE_KEY_LOWER, RACE_KEY_UPPER, RACE_KEY_NORM, RACE_KEY_FEATURES, RACE_KEY_TARGETS,
		RACE_KEY_BANDWIDTH, RACE_KEY_SEED, RACE_KEY_SEQUENCE, RACE_KEY_CLIP
	};
	RaceDraft	draft = {.part = race_params_default};

	for (int arg = 0; arg < (int) lengthof(keys); arg++)
		if (PG_ARGISNULL(arg))
			PG_RETURN_NULL();
	draft.part.kernel = RACE_KERNEL_MOMENTS;
	for (int arg = 0; arg < (int) lengthof(keys); arg++)
		if (keys[arg] != RACE_KEY_CLIP || strcmp(text_to_cstring(PG_GETARG_TEXT_PP(arg)), "auto") != 0)
			set_field(&draft, keys[arg], PG_GETARG_DATUM(arg));
	if (draft.columns[RACE_KEY_LOWER] != draft.columns[RACE_KEY_UPPER])
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid race_params: lower and upper must be arrays of as many numbers, one for each column")));
	draft_set_integer(&draft, RACE_KEY_DIMS, draft.columns[RACE_KEY_LOWER], NULL);
	if (!PG_ARGISNULL(lengthof(keys)))
	{
		set_transform(&draft, PG_GETARG_HEAPTUPLEHEADER(lengthof(keys)));
		draft.part.targets = 0;	/* all columns have the same unit */
	}
	PG_RETURN_POINTER(race_params_datum(assemble(&draft, 1, NULL)));
}

/* Append the parts of params to n drafts; returns the new number of drafts. */
static int
append_drafts(RaceDraft *drafts, int n, const RaceParams *params)
{
	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
	{
		if (n == RACE_MAX_PARTS)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("a product can have up to %d kernels", RACE_MAX_PARTS)));
		draft_of(&drafts[n++], part);
	}
	return n;
}

/*
 * race_params * race_params: the product of both kernels. If there are not enough
 * Sobol' dimensions for all parts, parts of the right side get another sequence.
 */
Datum
race_params_multiply(PG_FUNCTION_ARGS)
{
	const RaceParams *left = race_params_arg(PG_GETARG_DATUM(0));
	const RaceParams *right = race_params_arg(PG_GETARG_DATUM(1));
	RaceDraft drafts[RACE_MAX_PARTS];
	int			n = append_drafts(drafts, 0, left);
	int			all = append_drafts(drafts, n, right);

	if (left->rows != right->rows || left->range != right->range ||
		left->seed != right->seed)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("kernels of a product must share rows, range and seed"),
				 errdetail("One side has %s, the other has %s.",
						   race_params_brief(left), race_params_brief(right))));
	drafts[0].part.rehash = 0;
	for (; n < all; n++)
		if (drafts[n].part.sequence == RACE_SEQUENCE_SOBOL)
			drafts[n].part.sequence = 0;
	PG_RETURN_POINTER(race_params_datum(assemble(drafts, all, NULL)));
}

/* ---------------------------------------------------------------- order */

static int
compare_args(FunctionCallInfo fcinfo)
{
	const RaceParams *a = race_params_arg(PG_GETARG_DATUM(0));
	const RaceParams *b = race_params_arg(PG_GETARG_DATUM(1));

	for (int key = 0; key < RACE_KEYS; key++)
		if (race_field_is_stored(&race_fields[key], a->kernel))
		{
			RaceFieldType type = race_fields[key].type;
			uint64		x = race_field_bits(&race_fields[key], a);
			uint64		y = race_field_bits(&race_fields[key], b);
			double		real_x = race_double_of_bits(x);
			double		real_y = race_double_of_bits(y);
			bool		less = type == RACE_FIELD_REAL ? real_x < real_y :
				type == RACE_FIELD_INTEGER ? (int64) x < (int64) y : x < y;

			if (type == RACE_FIELD_REAL ? real_x != real_y : x != y)
				return less ? -1 : 1;
		}
	/*
	 * the order of arrays and further parts has no meaning, but it is a total order
	 */
	if (a->more != b->more)
		return a->more < b->more ? -1 : 1;
	return memcmp(a, b, race_params_size(a));
}

#define COMPARISON(name, comparison) \
	PG_FUNCTION_INFO_V1(name); \
	Datum \
	name(PG_FUNCTION_ARGS) \
	{ \
		PG_RETURN_BOOL(compare_args(fcinfo) comparison 0); \
	}

COMPARISON(race_params_eq, ==)
COMPARISON(race_params_ne, !=)
COMPARISON(race_params_lt, <)
COMPARISON(race_params_le, <=)
COMPARISON(race_params_gt, >)
COMPARISON(race_params_ge, >=)

Datum
race_params_cmp(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(compare_args(fcinfo));
}

Datum
race_params_hash(PG_FUNCTION_ARGS)
{
	const RaceParams *params = race_params_arg(PG_GETARG_DATUM(0));

	return hash_any((const unsigned char *) params, race_params_size(params));
}

Datum
race_params_hash_extended(PG_FUNCTION_ARGS)
{
	const RaceParams *params = race_params_arg(PG_GETARG_DATUM(0));

	return hash_any_extended((const unsigned char *) params,
							 race_params_size(params), PG_GETARG_INT64(1));
}


/*
 * The text form of race_params: input.
 *
 * A kernel's name and, in parentheses, what differs from the defaults:
 * l2(dims=3, bandwidth=5); of a product, several of them with * between, where the
 * first states what all share.  Arrays are in braces: lower={0,0}.  A call with one
 * literal, race_params('l2'), is a cast to PostgreSQL, so it comes here as well.
 */

/* A soft error, with what was wrong as detail */
#define MALFORMED(...) \
	ereturn(escontext, false, \
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION), \
			 errmsg("invalid input syntax for type race_params"), \
			 errdetail(__VA_ARGS__)))

/* ---------------------------------------------------------------- words */

/*
 * Cut the next word out of *text: letters, digits and the other characters of
 * numbers. NULL if there is none.
 */
static char *
next_word(const char **text)
{
	const char *start;

	/* bound: the text */
	while (isspace((unsigned char) **text))
		(*text)++;
	start = *text;
	/* bound: the text */
	while (isalnum((unsigned char) **text) ||
		   (**text != '\0' && strchr("+-._", **text) != NULL))
		(*text)++;
	return *text == start ? NULL : pnstrdup(start, *text - start);
}

/* If the next character after spaces is this one, step over it. Was it? */
static bool
next_is(const char **text, char c)
{
	/* bound: the text */
	while (isspace((unsigned char) **text))
		(*text)++;
	if (**text != c)
		return false;
	if (c != '\0')
		(*text)++;
	return true;
}

static bool
parse_int64(const char *text, int64 *out)
{
	char	   *end;

	errno = 0;
	*out = strtoll(text, &end, 10);
	return errno == 0 && end != text && *end == '\0';
}

static bool
parse_double(const char *text, double *out)
{
	char	   *end;

	*out = strtod(text, &end);
	return end != text && *end == '\0';
}

/* --------------------------------------------------------------- arrays */

/*
 * Append the doubles of "1, 2, 3}"; the opening brace was read before. Too many numbers are an
 * error.
 */
static bool
parse_numbers(const char **text, StringInfo numbers, Node *escontext)
{
	/* bound: RACE_MAX_MORE */
	do
	{
		char	   *word = next_word(text);
		double		x;

		if (numbers->len == RACE_MAX_MORE)
			MALFORMED("An array is too long.");
		if (word == NULL || !parse_double(word, &x))
			MALFORMED("Expected a number in an array.");
		appendBinaryStringInfo(numbers, (const char *) &x, sizeof(x));
		pfree(word);
	} while (next_is(text, ','));
	if (!next_is(text, '}'))
		MALFORMED("Expected \",\" or \"}\" in an array.");
	return true;
}

/* Read an array in braces. A matrix is an array of arrays of the same length. */
static bool
parse_array(const char **text, int key, RaceDraft *draft, Node *escontext)
{
	bool		is_matrix = race_fields[key].type == RACE_FIELD_MATRIX;
	StringInfoData numbers;
	uint32		rows = 0;
	uint32		columns = 0;

	initStringInfo(&numbers);
	if (!next_is(text, '{'))
		MALFORMED("Expected an array in braces.");
	/* bound: the text, a brace each time */
	do
	{
		if (next_is(text, '{') != is_matrix)
			MALFORMED(rows > 0 ? "Expected a row of a matrix in braces." :
					  is_matrix ? "A matrix is an array of arrays." :
					  "Only a matrix is an array of arrays.");
		if (!parse_numbers(text, &numbers, escontext))
			return false;
		if (rows++ == 0)
			columns = numbers.len / sizeof(double);
		if (numbers.len / sizeof(double) != rows * (uint64) columns)
			MALFORMED("Rows of a matrix must have the same length.");
	} while (is_matrix && next_is(text, ','));
	if (is_matrix && !next_is(text, '}'))
		MALFORMED("Expected \",\" or \"}\" in a matrix.");
	draft_set_array(draft, key, (const double *) numbers.data, rows, columns);
	return true;
}

/* ---------------------------------------------------------------- parts */

static bool
parse_value(const char **text, int key, RaceDraft *draft, Node *escontext)
{
	const RaceField *field = &race_fields[key];
	char	   *value;
	double		x;
	int64		number;

	if (!draft_check_field(draft, key, escontext))
		return false;
	if (field->array != 0)
		return parse_array(text, key, draft, escontext);
	value = next_word(text);
	if (value == NULL)
		MALFORMED("Expected a list of parameters such as dims=3, bandwidth=5.");
	if (field->type == RACE_FIELD_CHOICE)
		return draft_set_name(draft, key, value, escontext);
	if (field->type == RACE_FIELD_REAL && parse_double(value, &x))
	{
		draft_set_real(draft, key, x);
		return true;
	}
	if (field->type != RACE_FIELD_REAL && parse_int64(value, &number))
		return draft_set_integer(draft, key, number, escontext);
	MALFORMED("\"%s\" is not a value for %s.", race_cut(value), field->name);
}

/* Read the rest of "(key = value, …)" into a draft, which has the defaults. */
static bool
parse_list(const char **text, bool first, RaceDraft *draft, Node *escontext)
{
	bool		seen[RACE_KEYS] = {false};

	if (next_is(text, ')'))
		return true;
	/* bound: RACE_KEYS, since no parameter is given twice */
	do
	{
		char	   *name = next_word(text);
		int			key = RACE_KEY_KERNEL + 1;

		if (name == NULL || !next_is(text, '='))
			MALFORMED("Expected a list of parameters such as dims=3, bandwidth=5.");
		/* bound: RACE_KEYS */
		while (key < RACE_KEYS && strcmp(race_fields[key].name, name) != 0)
			key++;
		if (key == RACE_KEYS)
			MALFORMED("There is no parameter \"%s\".", race_cut(name));
		if (seen[key])
			MALFORMED("Parameter \"%s\" is given twice.", name);
		if (!first && race_fields[key].shared)
			MALFORMED("Only the first kernel of a product states \"%s\".", name);
		seen[key] = true;
		if (!parse_value(text, key, draft, escontext))
			return false;
	} while (next_is(text, ','));

	if (!next_is(text, ')'))
		MALFORMED("Expected \",\" or \")\" after a parameter.");
	return true;
}

static bool
parse_part(const char **text, bool first, RaceDraft *draft, Node *escontext)
{
	char	   *kernel = next_word(text);

	memset(draft, 0, sizeof(RaceDraft));
	draft->part = race_params_default;
	if (kernel == NULL)
		MALFORMED("Expected the name of a kernel, as in l2(dims=3, bandwidth=5).");
	return draft_set_name(draft, RACE_KEY_KERNEL, kernel, escontext) &&
		(!next_is(text, '(') || parse_list(text, first, draft, escontext));
}

static bool
parse_parts(const char *text, RaceDraft *drafts, int *n, Node *escontext)
{
	*n = 0;
	/* bound: RACE_MAX_PARTS */
	do
	{
		if (*n == RACE_MAX_PARTS)
			MALFORMED("A product can have up to %d kernels.", RACE_MAX_PARTS);
		if (!parse_part(&text, *n == 0, &drafts[*n], escontext))
			return false;
		++*n;
	} while (next_is(&text, '*'));
	if (!next_is(&text, '\0'))
		MALFORMED("There is something after the parameters.");
	return true;
}

RaceParams *
race_params_parse(const char *text, Node *escontext)
{
	RaceDraft drafts[RACE_MAX_PARTS];
	int			n;

	if (!race_check_text(text, RACE_MAX_TEXT, "race_params", escontext) ||
		!parse_parts(text, drafts, &n, escontext))
		return NULL;
	return assemble(drafts, n, escontext);
}

/*
 * The text form of race_params: output.
 */

static void
append_double(StringInfo text, double x)
{
	char		digits[DOUBLE_SHORTEST_DECIMAL_LEN];

	double_to_shortest_decimal_buf(x, digits);
	appendStringInfoString(text, digits);
}

static void
append_numbers(StringInfo text, const double *x, uint32 n, uint32 most)
{
	if (n > most)
	{
		appendStringInfo(text, "{%u numbers}", n);
		return;
	}
	for (uint32 i = 0; i < n; i++)
	{
		appendStringInfoChar(text, i == 0 ? '{' : ',');
		append_double(text, x[i]);
	}
	appendStringInfoChar(text, '}');
}

static void
append_matrix(StringInfo text, const RaceParams *part, RaceArray array, uint32 most)
{
	const double *x = race_array(part, array);
	uint32		rows = race_array_rows(part, array);
	uint32		columns = race_array_columns(part, array);

	if (rows > most)
		appendStringInfo(text, "{%u rows", rows);
	for (uint32 i = 0; i < rows && rows <= most; i++)
	{
		appendStringInfoChar(text, i == 0 ? '{' : ',');
		append_numbers(text, x + (Size) i * columns, columns, most);
	}
	appendStringInfoChar(text, '}');
}

static void
append_value(StringInfo text, int key, const RaceParams *part, uint32 most)
{
	const RaceField *field = &race_fields[key];
	const char *name;
	uint64		bits = field->size > 0 ? race_field_bits(field, part) : 0;

	switch (field->type)
	{
		case RACE_FIELD_CHOICE:
			/* a damaged value may have no name */
			name = race_choice_name(key, (int) bits);
			appendStringInfoString(text, name != NULL ? name : "?");
			break;
		case RACE_FIELD_REAL:
			append_double(text, race_double_of_bits(bits));
			break;
		case RACE_FIELD_VECTOR:
			append_numbers(text, race_array(part, field->array), part->dims, most);
			break;
		case RACE_FIELD_MATRIX:
			append_matrix(text, part, field->array, most);
			break;
		default:
			appendStringInfo(text, INT64_FORMAT, (int64) bits);
			break;
	}
}

/* Write a part: the fields that its kernel takes and that are stated. */
static void
append_part(StringInfo text, const RaceParams *part, bool first, uint32 most)
{
	const char *separator = "";

	appendStringInfoString(text, race_kernel_name(part->kernel));
	appendStringInfoChar(text, '(');
	for (int key = RACE_KEY_KERNEL + 1; key < RACE_KEYS; key++)
	{
		const RaceField *field = &race_fields[key];

		if ((field->shared && !first) || !race_field_applies(field, part->kernel) ||
			(field->optional && (field->array != 0 ? race_array(part, field->array) == NULL :
								 race_field_bits(field, part) == 0)))
			continue;
		appendStringInfo(text, "%s%s=", separator, field->name);
		append_value(text, key, part, most);
		separator = ", ";
	}
	appendStringInfoChar(text, ')');
}

/*
 * Return the text form, palloc'd: "l2(dims=3, bandwidth=5, …)", or several with * between.  It
 * names every parameter, so that a dump never depends on the defaults of the version that reads
 * it.  Of an array of more than `most` numbers or rows it has the length alone.
 */
static char *
text_of(const RaceParams *params, uint32 most)
{
	StringInfoData text;

	initStringInfo(&text);
	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
	{
		if (part != params)
			appendStringInfoString(&text, " * ");
		append_part(&text, part, part == params, most);
	}
	return text.data;
}

Datum
race_params_out(PG_FUNCTION_ARGS)
{
	PG_RETURN_CSTRING(text_of(race_params_arg(PG_GETARG_DATUM(0)), PG_UINT32_MAX));
}

char *
race_params_brief(const RaceParams *params)
{
	return text_of(params, 8);
}

/*
 * The wire format of race_params, and its validator.
 *
 * A part of the kernel takes 64 bytes, little-endian: the version first, then the
 * fields where race_fields (kernels.c) says; all other bytes are zero, and checked.  The
 * arrays of the part follow as float8, in the order of the table, and then the next
 * part.  A part after the first has 0 where the first speaks for all.  So:
 *
 * 0	u8	version = 1				24	i64 seed
 * 1	u8	kernel					32	f64 bandwidth
 * 2	u8	sequence				40	u32 more: bytes from 64 on, of all parts
 * 3	u8	rehash					44	u8	arrays: which there are (RaceArray)
 * 4	u32 dims					45	u8	nulls: of categories; 0, none are taken
 * 8	u32 power					46	2 bytes reserved
 * 12	u32 rows
 * 16	u32 range					48	16 bytes that kernels have for themselves
 * 20	u32 outputs: rows of the	64	f64 arrays, and more parts like this one
 * matrix or of measured
 *
 * Those of moments: f64 norm, u16 features, u16 targets, u8 coarser, u8 clip, 2 reserved;
 * those of a surrogate loss: f64 radius, f64 query_radius; of tables: u32 numbers in joined, u32
 * rows of workload; of others they are zero.
 */

StaticAssertDecl(sizeof(RaceParams) == RACE_PART_WIRE_SIZE,
				 "a part takes as many bytes in memory as on the wire, without padding");

/* The 64 bytes of a part, without its arrays */
static void
encode_part(const RaceParams *part, unsigned char *bytes)
{
	memset(bytes, 0, RACE_PART_WIRE_SIZE);
	bytes[0] = RACE_FORMAT_VERSION;
	for (int f = 0; f < RACE_FIELDS; f++)
	{
		const RaceField *field = &race_fields[f];
		uint64		bits;

		if (!race_field_is_stored(field, part->kernel))
			continue;
		bits = race_field_bits(field, part);
		for (int i = 0; i < field->size; i++)
			bytes[field->wire + i] = (unsigned char) (bits >> 8 * i);
	}
}

/*
 * Read a part from its 64 bytes. False unless writing the part would give the same
 * bytes.
 */
static bool
decode_part(const unsigned char *bytes, RaceParams *part)
{
	unsigned char again[RACE_PART_WIRE_SIZE];

	memset(part, 0, sizeof(RaceParams));
	for (int f = 0; f < RACE_FIELDS; f++)
	{
		const RaceField *field = &race_fields[f];
		const unsigned char *place = bytes + field->wire;

		/* the kernel comes first */
		if (race_field_is_stored(field, part->kernel))
			race_field_set_bits(field, part, race_take(&place, field->size));
	}
	encode_part(part, again);
	return memcmp(bytes, again, RACE_PART_WIRE_SIZE) == 0;
}

void
race_params_write(StringInfo out, const RaceParams *params)
{
	unsigned char bytes[RACE_PART_WIRE_SIZE];

	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
	{
		const double *numbers = (const double *) (part + 1);

		encode_part(part, bytes);
		appendBinaryStringInfo(out, (const char *) bytes, RACE_PART_WIRE_SIZE);
		for (Size i = 0; i < race_arrays_size(part) / sizeof(double); i++)
			race_put_double(out, numbers[i]);
	}
}

Size
race_params_wire_size(const unsigned char *bytes)
{
	bytes += race_fields[RACE_FIELD_MORE].wire;
	return RACE_PART_WIRE_SIZE + race_take(&bytes, sizeof(uint32));
}

/*
 * Read parts and their arrays from `left` bytes. False if they do not have exactly
 * that size.
 */
static bool
take_parts(const unsigned char *bytes, Size left, RaceParams *params)
{
	char	   *next = (char *) params;

	/* bound: a part of the bytes less each time */
	while (left >= RACE_PART_WIRE_SIZE)
	{
		RaceParams *part = (RaceParams *) next;
		uint64		arrays;

		if (!decode_part(bytes, part))
			return false;
		bytes += RACE_PART_WIRE_SIZE;
		left -= RACE_PART_WIRE_SIZE;
		next += sizeof(RaceParams);
		arrays = race_arrays_size(part);
		if (arrays > left)
			return false;
		for (Size i = 0; i < arrays; i += sizeof(double), next += sizeof(double))
			*(double *) next = race_take_double(&bytes) + 0.0;	/* zero has no sign */
		left -= arrays;
	}
	return left == 0;
}

RaceParamsDatum *
race_params_read(const char *bytes, Size size, Node *escontext)
{
	RaceParamsDatum *datum;
	Size		datum_size = offsetof(RaceParamsDatum, params) + size;

	if (size < RACE_PART_WIRE_SIZE || size > RACE_PART_WIRE_SIZE + RACE_MAX_MORE ||
		*bytes != RACE_FORMAT_VERSION)
		ereturn(escontext, NULL,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid binary representation of type race_params"),
				 errdetail("A value of format version %d has %d bytes or more.",
						   RACE_FORMAT_VERSION, RACE_PART_WIRE_SIZE)));

	datum = palloc0(datum_size);
	SET_VARSIZE(datum, datum_size);
	datum->version = RACE_FORMAT_VERSION;
	if (!take_parts((const unsigned char *) bytes, size, &datum->params) ||
		race_params_size(&datum->params) != size)
		ereturn(escontext, NULL,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid binary representation of type race_params"),
				 errdetail("Its parts do not fit its size, or reserved bytes are not zero.")));
	if (!check(&datum->params, escontext))
		return NULL;
	return datum;
}
