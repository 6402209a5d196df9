/*
 * functions.c
 *		The type race_params in SQL: input and output, constructor, product, order.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "executor/executor.h"
#include "libpq/pqformat.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "draft.h"
#include "params.h"

PG_FUNCTION_INFO_V1(race_params_in);
PG_FUNCTION_INFO_V1(race_params_out);
PG_FUNCTION_INFO_V1(race_params_recv);
PG_FUNCTION_INFO_V1(race_params_send);
PG_FUNCTION_INFO_V1(race_params_new);
PG_FUNCTION_INFO_V1(race_params_multiply);
PG_FUNCTION_INFO_V1(race_params_counters);
PG_FUNCTION_INFO_V1(race_params_eq);
PG_FUNCTION_INFO_V1(race_params_ne);
PG_FUNCTION_INFO_V1(race_params_lt);
PG_FUNCTION_INFO_V1(race_params_le);
PG_FUNCTION_INFO_V1(race_params_gt);
PG_FUNCTION_INFO_V1(race_params_ge);
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

/* Set a field that is an array of dims numbers; they may be infinite. */
static void
set_vector(RaceDraft *draft, int key, Datum value, const char *name)
{
	ArrayType  *array = DatumGetArrayTypeP(value);
	uint32		dims = draft->part.dims;

	if (ARR_NDIM(array) != 1 || ARR_DIMS(array)[0] != (int) dims ||
		ARR_HASNULL(array))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid race_params: %s must be dims numbers", name),
				 errdetail("dims is %u.", dims)));
	draft->arrays[key] = (const double *) ARR_DATA_PTR(array);
}

/* The matrix and the offset of a race_transform */
static void
set_transform(RaceDraft *draft, HeapTupleHeader transform)
{
	bool		no_matrix;
	bool		no_offset;
	Datum		matrix = GetAttributeByNum(transform, 1, &no_matrix);
	Datum		offset = GetAttributeByNum(transform, 2, &no_offset);

	if (!no_matrix)
	{
		ArrayType  *array = DatumGetArrayTypeP(matrix);

		if (ARR_NDIM(array) != 2 || ARR_DIMS(array)[1] != (int) draft->part.dims ||
			ARR_HASNULL(array))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("invalid race_params: the matrix of a transform must have dims columns of numbers"),
					 errdetail("dims is %u.", draft->part.dims)));
		race_draft_set_matrix(draft, RACE_KEY_MATRIX, (const double *) ARR_DATA_PTR(array),
							  ARR_DIMS(array)[0]);
	}
	if (!no_offset)
		set_vector(draft, RACE_KEY_OFFSET, offset, "the offset of a transform");
}

/* Set a field from an argument, which is not NULL. */
static void
set_field(RaceDraft *draft, int key, Datum value)
{
	const RaceField *field = &race_fields[key];

	race_draft_takes(draft, field, NULL);
	switch (field->type)
	{
		case RACE_FIELD_CHOICE:
			race_draft_set_name(draft, field, TextDatumGetCString(value), NULL);
			break;
		case RACE_FIELD_COUNT:
			race_draft_set_integer(draft, field, DatumGetInt32(value), NULL);
			break;
		case RACE_FIELD_INTEGER:
			race_draft_set_integer(draft, field, DatumGetInt64(value), NULL);
			break;
		case RACE_FIELD_REAL:
			race_draft_set_real(draft, field, DatumGetFloat8(value));
			break;
		default:
			set_vector(draft, key, value, field->name);
			break;
	}
}

/*
 * race_params(kernel, ..., upper, transform, cells, nulls, radii): the fields in the order of the table,
 * and in place of matrix and offset the transform that they make up
 */
Datum
race_params_new(PG_FUNCTION_ARGS)
{
	RaceDraft	draft;
	int			arg;

	Assert(PG_NARGS() < RACE_KEY_NORM);
	for (arg = 0; arg < RACE_KEY_MATRIX; arg++)
		if (PG_ARGISNULL(arg) && !race_fields[arg].optional)
			PG_RETURN_NULL();

	race_draft_default(&draft);
	for (arg = 0; arg < PG_NARGS(); arg++)
	{
		if (PG_ARGISNULL(arg))
			continue;
		if (arg == RACE_KEY_MATRIX)
			set_transform(&draft, PG_GETARG_HEAPTUPLEHEADER(arg));
		else
			set_field(&draft, arg < RACE_KEY_MATRIX ? arg : arg + 1, PG_GETARG_DATUM(arg));
	}
	PG_RETURN_POINTER(race_params_datum(race_params_assemble(&draft, 1, NULL)));
}

/* Append the parts of params to n drafts; returns the new number of drafts. */
static int
append_drafts(RaceDraft *drafts, int n, const RaceParams *params)
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
	PG_RETURN_POINTER(race_params_datum(race_params_assemble(drafts, all, NULL)));
}

/* How many counters a sketch of these parameters has */
Datum
race_params_counters(PG_FUNCTION_ARGS)
{
	const RaceParams *params = race_params_arg(PG_GETARG_DATUM(0));

	race_params_check_complete(params);
	PG_RETURN_INT64((int64) params->rows * params->range);
}

/* ---------------------------------------------------------------- order */

static int
compare(const RaceParams *a, const RaceParams *b)
{
	int			key;

	for (key = 0; key < RACE_KEYS; key++)
		if (race_field_is_stored(&race_fields[key], a->kernel))
		{
			int			order = race_field_compare(&race_fields[key], a, b);

			if (order != 0)
				return order;
		}
	/*
	 * the order of arrays and further parts has no meaning, but it is a total order
	 */
	if (a->more != b->more)
		return a->more < b->more ? -1 : 1;
	return memcmp(a, b, race_params_size(a));
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
