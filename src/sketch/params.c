/*
 * params.c
 *		The type race_params: constructor, product, checks, order.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "executor/executor.h"
#include "libpq/pqformat.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "format.h"
#include "params.h"
#include "vector.h"

PG_FUNCTION_INFO_V1(race_params_in);
PG_FUNCTION_INFO_V1(race_params_out);
PG_FUNCTION_INFO_V1(race_params_recv);
PG_FUNCTION_INFO_V1(race_params_send);
PG_FUNCTION_INFO_V1(race_params_make);
PG_FUNCTION_INFO_V1(race_params_multiply);
PG_FUNCTION_INFO_V1(race_params_eq);
PG_FUNCTION_INFO_V1(race_params_ne);
PG_FUNCTION_INFO_V1(race_params_lt);
PG_FUNCTION_INFO_V1(race_params_le);
PG_FUNCTION_INFO_V1(race_params_gt);
PG_FUNCTION_INFO_V1(race_params_ge);
PG_FUNCTION_INFO_V1(race_params_cmp);
PG_FUNCTION_INFO_V1(race_params_hash);
PG_FUNCTION_INFO_V1(race_params_hash_extended);

/* ---------------------------------------------------------------- value */

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

const RaceParams *
race_params_arg(Datum value)
{
	RaceParamsDatum *datum = (RaceParamsDatum *) PG_DETOAST_DATUM(value);

	if (VARSIZE(datum) < sizeof(RaceParamsDatum) ||
		datum->version != RACE_FORMAT_VERSION ||
		VARSIZE(datum) != offsetof(RaceParamsDatum, params) +
		race_params_size(&datum->params))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("race_params value of unknown format")));
	return &datum->params;
}

bool
race_params_check(const RaceParams *params, Node *escontext)
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
	/* of a product, the first part that lacks them */
	while (part->dims != 0 || race_compares_sets(part))
		part = race_params_next(part, params);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("race_params do not state the number of dimensions"),
			 errdetail("The parameters are %s.", race_params_brief(params)),
			 errhint("Give dims, as in race_params('%s', dims => 3).",
					 race_kernel_name(part->kernel))));
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

/* --------------------------------------------------------------- drafts */

void
race_draft_default(RacePartDraft *draft)
{
	memset(draft, 0, sizeof(RacePartDraft));
	draft->part.bandwidth = 1;
	draft->part.power = 1;
	draft->part.rows = 1024;
	draft->part.range = 1024;
}

void
race_draft_of(RacePartDraft *draft, const RaceParams *part)
{
	int			i;

	draft->part = *part;
	for (i = 0; i < RACE_ARRAYS; i++)
		draft->arrays[i] = race_array(part, 1 << i);
}

void
race_draft_next(RacePartDraft *draft)
{
	draft->part.rehash = 0;
	draft->part.rows = 0;
	draft->part.range = 0;
	draft->part.seed = 0;
}

/* An integer of the caller's, cut to what the validator can look at */
uint32
race_bounded(int64 value)
{
	return (uint32) Max(0, Min(value, PG_INT32_MAX));
}

bool
race_draft_kernel(RacePartDraft *draft, const char *name, Node *escontext)
{
	int			kernel = race_kernel_by_name(name);

	if (kernel == 0)
		ereturn(escontext, false,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unknown kernel \"%s\"", name),
				 errhint("The kernels are l2, l1, angular, jaccard and match.")));
	draft->part.kernel = (uint8) kernel;
	return true;
}

bool
race_draft_dims(RacePartDraft *draft, int64 dims, Node *escontext)
{
	if (dims < 1 || dims > RACE_MAX_DIMS)
		ereturn(escontext, false,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid race_params: dims must be between 1 and %d",
						RACE_MAX_DIMS)));
	draft->part.dims = (uint32) dims;
	return true;
}

/* A sequence or rehash name to its number; "auto" is 0, resolved later. */
static bool
parse_choice(const char *what, const char *name,
			 int (*by_name) (const char *), uint8 *out, Node *escontext)
{
	int			value = by_name(name);

	if (value == 0 && strcmp(name, "auto") != 0)
		ereturn(escontext, false,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unknown %s \"%s\"", what, name)));
	*out = (uint8) value;
	return true;
}

bool
race_draft_sequence(RacePartDraft *draft, const char *name, Node *escontext)
{
	return parse_choice("row sequence", name, race_sequence_by_name,
						&draft->part.sequence, escontext);
}

bool
race_draft_rehash(RacePartDraft *draft, const char *name, Node *escontext)
{
	return parse_choice("rehash", name, race_rehash_by_name,
						&draft->part.rehash, escontext);
}

/* Choose the sequences that are left to choose, one part after the other. */
static void
choose_sequences(RacePartDraft *drafts, int n)
{
	uint32		taken = 0;
	int			i;

	for (i = 0; i < n; i++)
	{
		RaceParams *part = &drafts[i].part;

		if (part->sequence == 0)
			part->sequence = race_default_sequence(part, taken);
		if (part->sequence == RACE_SEQUENCE_SOBOL)
			taken = Min((uint64) taken + race_sobol_dimensions(part), PG_UINT32_MAX);
	}
}

/* Write a part and its arrays; returns where the next one belongs. */
static char *
write_part(char *next, const RacePartDraft *draft)
{
	RaceParams *part = (RaceParams *) next;
	int			a;

	*part = draft->part;
	part->more = 0;
	next += sizeof(RaceParams);
	for (a = 0; a < RACE_ARRAYS; a++)
	{
		double	   *to = (double *) next;
		Size		n = race_array_length(part, 1 << a);
		Size		i;

		/* a zero has no sign: equal parameters are equal bytes */
		for (i = 0; i < n; i++)
			to[i] = draft->arrays[a][i] + 0.0;
		next += n * sizeof(double);
	}
	return next;
}

RaceParams *
race_params_assemble(RacePartDraft *drafts, int n, Node *escontext)
{
	RaceParams *params;
	uint64		more = 0;
	char	   *next;
	int			i;
	int			a;

	choose_sequences(drafts, n);
	for (i = 0; i < n; i++)
	{
		for (a = 0; a < RACE_ARRAYS; a++)
			if (drafts[i].arrays[a] != NULL)
				drafts[i].part.arrays |= 1 << a;
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
	for (i = 0; i < n; i++)
		next = write_part(next, &drafts[i]);
	params->more = (uint32) more;
	if (params->rehash == 0)
		params->rehash = race_default_rehash(params);
	return race_params_check(params, escontext) ? params : NULL;
}

/* ------------------------------------------------------------------ SQL */

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
race_params_out(PG_FUNCTION_ARGS)
{
	PG_RETURN_CSTRING(race_params_text(race_params_arg(PG_GETARG_DATUM(0))));
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

/* An array of dims numbers that an argument gives, which may be infinite */
static const double *
numbers_arg(ArrayType *array, const char *name, uint32 n)
{
	if (ARR_NDIM(array) != 1 || ARR_DIMS(array)[0] != (int) n ||
		ARR_HASNULL(array))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid race_params: %s must be dims numbers", name),
				 errdetail("dims is %u.", n)));
	return (const double *) ARR_DATA_PTR(array);
}

/* The matrix and the offset of a race_transform */
static void
transform_arg(RacePartDraft *draft, HeapTupleHeader transform)
{
	bool		no_matrix;
	bool		no_offset;
	Datum		matrix = GetAttributeByNum(transform, 1, &no_matrix);
	Datum		offset = GetAttributeByNum(transform, 2, &no_offset);
	uint32		dims = draft->part.dims;

	if (!no_matrix)
	{
		ArrayType  *array = DatumGetArrayTypeP(matrix);

		if (ARR_NDIM(array) != 2 || ARR_DIMS(array)[1] != (int) dims ||
			ARR_HASNULL(array))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("invalid race_params: the matrix of a transform must have dims columns of numbers"),
					 errdetail("dims is %u.", dims)));
		draft->part.outputs = ARR_DIMS(array)[0];
		draft->arrays[3] = (const double *) ARR_DATA_PTR(array);
	}
	if (!no_offset)
		draft->arrays[4] = numbers_arg(DatumGetArrayTypeP(offset),
									   "the offset of a transform", dims);
}

/*
 * race_params(kernel, dims, bandwidth, power, rows, range, seed, sequence,
 * rehash, bandwidths, lower, upper, transform)
 */
Datum
race_params_make(PG_FUNCTION_ARGS)
{
	static const char *const names[] = {"bandwidths", "lower", "upper"};
	RacePartDraft draft;
	int			i;

	for (i = 0; i < 9; i++)
		if (i != 1 && PG_ARGISNULL(i))
			PG_RETURN_NULL();

	race_draft_default(&draft);
	race_draft_kernel(&draft, text_to_cstring(PG_GETARG_TEXT_PP(0)), NULL);
	if (!PG_ARGISNULL(1))
		race_draft_dims(&draft, PG_GETARG_INT32(1), NULL);
	draft.part.bandwidth = PG_GETARG_FLOAT8(2);
	draft.part.power = race_bounded(PG_GETARG_INT32(3));
	draft.part.rows = race_bounded(PG_GETARG_INT32(4));
	draft.part.range = race_bounded(PG_GETARG_INT32(5));
	draft.part.seed = PG_GETARG_INT64(6);
	race_draft_sequence(&draft, text_to_cstring(PG_GETARG_TEXT_PP(7)), NULL);
	race_draft_rehash(&draft, text_to_cstring(PG_GETARG_TEXT_PP(8)), NULL);
	for (i = 0; i < 3; i++)
		if (!PG_ARGISNULL(9 + i))
			draft.arrays[i] = numbers_arg(PG_GETARG_ARRAYTYPE_P(9 + i), names[i],
										  draft.part.dims);
	if (!PG_ARGISNULL(12))
		transform_arg(&draft, PG_GETARG_HEAPTUPLEHEADER(12));
	PG_RETURN_POINTER(race_params_datum(race_params_assemble(&draft, 1, NULL)));
}

/* The parts of params as drafts, after n others; returns how many there are then */
static int
append_drafts(RacePartDraft *drafts, int n, const RaceParams *params)
{
	const RaceParams *part;

	for (part = params; part != NULL; part = race_params_next(part, params))
	{
		if (n == RACE_MAX_PARTS)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("a product can have up to %d kernels", RACE_MAX_PARTS)));
		race_draft_of(&drafts[n], part);
		if (n > 0)
			race_draft_next(&drafts[n]);
		n++;
	}
	return n;
}

/*
 * race_params * race_params: the product of both kernels.  Sobol's dimensions may
 * not suffice for the parts of both; then those of the right side do without.
 */
Datum
race_params_multiply(PG_FUNCTION_ARGS)
{
	const RaceParams *left = race_params_arg(PG_GETARG_DATUM(0));
	const RaceParams *right = race_params_arg(PG_GETARG_DATUM(1));
	RacePartDraft drafts[RACE_MAX_PARTS];
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
	PG_RETURN_POINTER(race_params_datum(race_params_assemble(drafts, all, NULL)));
}

/* ---------------------------------------------------------------- order */

static int
compare(const RaceParams *a, const RaceParams *b)
{
#define COMPARE(field) \
	if (a->field != b->field) \
		return a->field < b->field ? -1 : 1

	COMPARE(kernel);
	COMPARE(dims);
	COMPARE(bandwidth);
	COMPARE(power);
	COMPARE(rows);
	COMPARE(range);
	COMPARE(seed);
	COMPARE(sequence);
	COMPARE(rehash);
	COMPARE(more);
	/* the order of arrays and further parts has no meaning, but is one */
	return memcmp(a, b, race_params_size(a));
#undef COMPARE
}

static int
compare_args(FunctionCallInfo fcinfo)
{
	return compare(race_params_arg(PG_GETARG_DATUM(0)),
				   race_params_arg(PG_GETARG_DATUM(1)));
}

Datum
race_params_eq(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_args(fcinfo) == 0);
}

Datum
race_params_ne(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_args(fcinfo) != 0);
}

Datum
race_params_lt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_args(fcinfo) < 0);
}

Datum
race_params_le(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_args(fcinfo) <= 0);
}

Datum
race_params_gt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_args(fcinfo) > 0);
}

Datum
race_params_ge(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_args(fcinfo) >= 0);
}

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
