/*
 * params_sql.c
 *		The type race_params in SQL: input and output, constructor, product, order
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "libpq/pqformat.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "hash/fields.h"
#include "hash/kernel.h"
#include "hash/params.h"
#include "sketch/compat.h"
#include "sketch/params_draft.h"
#include "sketch/params_parse.h"
#include "sketch/params_text.h"
#include "sketch/params_type.h"
#include "sketch/params_wire.h"

PG_FUNCTION_INFO_V1(race_params_in);
PG_FUNCTION_INFO_V1(race_params_out);
PG_FUNCTION_INFO_V1(race_params_recv);
PG_FUNCTION_INFO_V1(race_params_send);
PG_FUNCTION_INFO_V1(race_params);
PG_FUNCTION_INFO_V1(race_moment_params);
PG_FUNCTION_INFO_V1(race_params_multiply);
PG_FUNCTION_INFO_V1(race_params_cmp);
PG_FUNCTION_INFO_V1(race_params_hash);
PG_FUNCTION_INFO_V1(race_params_hash_extended);

Datum
race_params_in(PG_FUNCTION_ARGS)
{
	RaceParams *params = race_params_parse(PG_GETARG_CSTRING(0), race_escontext(fcinfo));

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
	StringInfo message = (StringInfo) PG_GETARG_POINTER(0);
	int size = message->len - message->cursor;

	PG_RETURN_POINTER(
		race_params_read(pq_getmsgbytes(message, size), size, race_escontext(fcinfo)));
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
	ArrayType *array = DatumGetArrayTypeP(value);

	if (ARR_NDIM(array) != ndim || ARR_HASNULL(array))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid race_params: %s must be %s without nulls", race_fields[key].name,
						ndim == 1 ? "an array of numbers" : "an array of arrays of numbers")));
	race_draft_set_array(draft, key, (const double *) ARR_DATA_PTR(array),
						 ndim == 1 ? 1 : ARR_DIMS(array)[0], ARR_DIMS(array)[ndim - 1]);
}

/* Set a field from an argument, which is not NULL. */
static void
set_field(RaceDraft *draft, int key, Datum value)
{
	race_draft_check_field(draft, key, NULL);
	switch (race_fields[key].type)
	{
		case RACE_FIELD_CHOICE:
			race_draft_set_name(draft, key, TextDatumGetCString(value), NULL);
			break;
		case RACE_FIELD_COUNT:
			race_draft_set_integer(draft, key, DatumGetInt32(value), NULL);
			break;
		case RACE_FIELD_INTEGER:
			race_draft_set_integer(draft, key, DatumGetInt64(value), NULL);
			break;
		case RACE_FIELD_REAL:
			race_draft_set_real(draft, key, DatumGetFloat8(value));
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
		bool null;
		Datum value = GetAttributeByNum(transform, key - RACE_KEY_MATRIX + 1, &null);

		if (!null)
			set_field(draft, key, value);
	}
}

/*
 * Return parameters: race_params(kernel, ..., upper, transform, cells, nulls, radii), the fields in
 * the order of the table, and in place of matrix and offset the transform that they make up.
 */
Datum
race_params(PG_FUNCTION_ARGS)
{
	RaceDraft draft = {.part = race_params_default};

	Assert(PG_NARGS() < RACE_KEY_NORM);
	for (int arg = 0; arg < RACE_KEY_MATRIX; arg++)
		if (PG_ARGISNULL(arg) && !race_fields[arg].optional)
			PG_RETURN_NULL();

	for (int arg = 0; arg < PG_NARGS(); arg++)
	{
		int key = arg < RACE_KEY_MATRIX ? arg : arg + 1;

		if (PG_ARGISNULL(arg))
			continue;
		if (arg == RACE_KEY_MATRIX)
			set_transform(&draft, PG_GETARG_HEAPTUPLEHEADER(arg));
		else
			set_field(&draft, key, PG_GETARG_DATUM(arg));
	}
	PG_RETURN_POINTER(race_params_datum(race_draft_assemble(&draft, 1, NULL)));
}

/*
 * Return parameters of moments (moment_sums.h): race_moment_params(lower, upper, norm, features,
 * targets, bandwidth, seed, sequence, clip, transform).
 */
Datum
race_moment_params(PG_FUNCTION_ARGS)
{
	static const int keys[] = {RACE_KEY_LOWER,    RACE_KEY_UPPER,    RACE_KEY_NORM,
							   RACE_KEY_FEATURES, RACE_KEY_TARGETS,  RACE_KEY_BANDWIDTH,
							   RACE_KEY_SEED,     RACE_KEY_SEQUENCE, RACE_KEY_CLIP};
	RaceDraft draft = {.part = race_params_default};

	for (int arg = 0; arg < (int) lengthof(keys); arg++)
		if (PG_ARGISNULL(arg))
			PG_RETURN_NULL();
	draft.part.kind = RACE_KIND_MOMENTS;
	for (int arg = 0; arg < (int) lengthof(keys); arg++)
		if (keys[arg] != RACE_KEY_CLIP ||
			strcmp(text_to_cstring(PG_GETARG_TEXT_PP(arg)), "auto") != 0)
			set_field(&draft, keys[arg], PG_GETARG_DATUM(arg));
	if (draft.columns[RACE_KEY_LOWER] != draft.columns[RACE_KEY_UPPER])
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg(
				 "invalid race_params: lower and upper must be arrays of as many numbers, one for each column")));
	race_draft_set_integer(&draft, RACE_KEY_DIMS, draft.columns[RACE_KEY_LOWER], NULL);
	if (!PG_ARGISNULL(lengthof(keys)))
	{
		set_transform(&draft, PG_GETARG_HEAPTUPLEHEADER(lengthof(keys)));
		draft.part.moments.targets = 0; /* all columns have the same unit */
	}
	PG_RETURN_POINTER(race_params_datum(race_draft_assemble(&draft, 1, NULL)));
}

/* Append the parts of params to n drafts; return the new number of drafts. */
static int
append_drafts(RaceDraft *drafts, int n, const RaceParams *params)
{
	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
	{
		if (n == RACE_MAX_PARTS)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("a product can have up to %d kernels", RACE_MAX_PARTS)));
		race_draft_of(&drafts[n++], part);
	}
	return n;
}

/*
 * Return the product of both kernels: race_params * race_params.  If there are not enough Sobol'
 * dimensions for all parts, parts of the right side get another sequence.
 */
Datum
race_params_multiply(PG_FUNCTION_ARGS)
{
	const RaceParams *left = race_params_arg(PG_GETARG_DATUM(0));
	const RaceParams *right = race_params_arg(PG_GETARG_DATUM(1));
	RaceDraft drafts[RACE_MAX_PARTS];
	int n = append_drafts(drafts, 0, left);
	int all = append_drafts(drafts, n, right);

	if (left->rows != right->rows || left->range != right->range || left->seed != right->seed)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("kernels of a product must share rows, range and seed"),
				 errdetail_internal("%s",
									race_params_difference(left, right, RACE_FIELDS_OF_PRODUCT))));
	drafts[0].part.rehash = 0;
	for (; n < all; n++)
		if (drafts[n].part.sequence == RACE_SEQUENCE_SOBOL)
			drafts[n].part.sequence = 0;
	PG_RETURN_POINTER(race_params_datum(race_draft_assemble(drafts, all, NULL)));
}

/* ---------------------------------------------------------------- order */

static int
compare_args(FunctionCallInfo fcinfo)
{
	const RaceParams *a = race_params_arg(PG_GETARG_DATUM(0));
	const RaceParams *b = race_params_arg(PG_GETARG_DATUM(1));

	for (int key = 0; key < RACE_KEYS; key++)
		if (race_field_is_stored(&race_fields[key], a))
		{
			RaceFieldType type = race_fields[key].type;
			uint64 x = race_field_bits(&race_fields[key], a);
			uint64 y = race_field_bits(&race_fields[key], b);
			double real_x = race_double_of_bits(x);
			double real_y = race_double_of_bits(y);

			if (type == RACE_FIELD_REAL && real_x != real_y)
				return real_x < real_y ? -1 : 1;
			if (type == RACE_FIELD_INTEGER && x != y)
				return (int64) x < (int64) y ? -1 : 1;
			if (type != RACE_FIELD_REAL && x != y)
				return x < y ? -1 : 1;
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
	Datum name(PG_FUNCTION_ARGS) \
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

	return hash_any_extended((const unsigned char *) params, race_params_size(params),
							 PG_GETARG_INT64(1));
}
