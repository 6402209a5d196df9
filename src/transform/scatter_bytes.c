/*
 * scatter_bytes.c
 *		What transforms are learned from, as bytes: the state of aggregates of race_record.
 *
 * Engines of several servers send states by the input and output functions of their type, which
 * `internal` has not.  The bytes are changed where they lie, and made anew when there are more
 * classes than they have space for.  SQL can make such bytes, so that each use checks them.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/memutils.h"

#include "../record/prepared.h"
#include "../record/vector.h"
#include "../server/argument.h"
#include "../server/compat.h"
#include "scatter.h"

PG_FUNCTION_INFO_V1(race_scatter_combine_bytes);

/* The state; classes, means and products follow as in RaceScatter. */
typedef struct Bytes
{
	int32		vl_len_;		/* varlena header, do not touch directly */
	uint32		dims;
	uint32		n_classes;
	uint32		capacity;
} Bytes;

static Size
size_of(uint32 dims, uint32 capacity)
{
	return sizeof(Bytes) + capacity * (sizeof(RaceScatterClass) + dims * sizeof(double)) +
		RaceScatterProducts(dims) * sizeof(double);
}

/* The arrays in bytes */
static RaceScatter
open_bytes(Bytes *bytes)
{
	RaceScatter scatter = {.dims = bytes->dims,.n_classes = bytes->n_classes,.capacity = bytes->capacity};

	scatter.classes = (RaceScatterClass *) (bytes + 1);
	scatter.means = (double *) (scatter.classes + bytes->capacity);
	scatter.products = scatter.means + (Size) bytes->capacity * bytes->dims;
	return scatter;
}

/* Bytes with the content of a state, or without vectors, and space for so many classes */
static Bytes *
make_bytes(uint32 dims, uint32 capacity, const RaceScatter *content, MemoryContext context)
{
	Size		size = size_of(dims, capacity);
	Bytes	   *bytes = MemoryContextAllocZero(context, size);
	RaceScatter scatter;

	SET_VARSIZE(bytes, size);
	bytes->dims = dims;
	bytes->capacity = capacity;
	if (content == NULL)
		return bytes;
	bytes->n_classes = content->n_classes;
	scatter = open_bytes(bytes);
	memcpy(scatter.classes, content->classes, content->n_classes * sizeof(RaceScatterClass));
	memcpy(scatter.means, content->means, (Size) content->n_classes * dims * sizeof(double));
	memcpy(scatter.products, content->products, RaceScatterProducts(dims) * sizeof(double));
	return bytes;
}

/* An argument that is not NULL, checked, and aligned for doubles */
static Bytes *
bytes_arg(FunctionCallInfo fcinfo, int arg)
{
	Bytes	   *bytes = (Bytes *) PG_GETARG_BYTEA_P(arg);
	Bytes		head;

	if (VARSIZE(bytes) >= sizeof(Bytes))
	{
		memcpy(&head, bytes, sizeof(Bytes));
		if (head.dims >= 1 && head.dims <= RACE_SCATTER_DIMS && head.n_classes >= 1 &&
			head.n_classes <= Min(head.capacity, RACE_SCATTER_CLASSES) &&
			head.capacity <= 2 * RACE_SCATTER_CLASSES &&
			VARSIZE(bytes) == size_of(head.dims, head.capacity))
			return (uintptr_t) bytes % MAXIMUM_ALIGNOF == 0 ? bytes :
				memcpy(palloc(VARSIZE(bytes)), bytes, VARSIZE(bytes));
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
			 errmsg("invalid state of an aggregate that learns a transform")));
	return NULL;				/* not reached */
}

/* Add n vectors with this mean; the result may be other bytes. */
static Bytes *
add(Bytes *bytes, uint64 key, double n, const double *mean, MemoryContext context)
{
	RaceScatter scatter = open_bytes(bytes);

	if (scatter.n_classes == scatter.capacity && scatter.n_classes < RACE_SCATTER_CLASSES &&
		race_scatter_class(&scatter, key) == scatter.n_classes)
	{
		bytes = make_bytes(scatter.dims, 2 * scatter.capacity, &scatter, context);
		scatter = open_bytes(bytes);
	}
	race_scatter_add(&scatter, key, n, mean);
	bytes->n_classes = scatter.n_classes;
	return bytes;
}

Datum
race_scatter_record_step(FunctionCallInfo fcinfo, int x, int label)
{
	MemoryContext context = race_aggregate_context(fcinfo, RACE_SCATTER_AGGREGATES);
	Bytes	   *bytes = PG_ARGISNULL(0) ? NULL : bytes_arg(fcinfo, 0);
	uint64		key = 0;
	const double *numbers;
	uint32		n;

	if (PG_ARGISNULL(x) || (label != 0 && PG_ARGISNULL(label)))
	{
		if (bytes == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(bytes);
	}
	numbers = race_prepared_vector(PG_GETARG_DATUM(x), &n);
	race_check_length(n, bytes == NULL ? 0 : bytes->dims, false);
	race_scatter_check_dims(n);
	if (bytes == NULL)
		bytes = make_bytes(n, 2, NULL, context);
	if (label != 0)
	{
		char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(label));

		key = race_element_of_bytes(0, name, strlen(name));
	}
	PG_RETURN_POINTER(add(bytes, key, 1, numbers, context));
}

/* Add the second state to the first one. */
Datum
race_scatter_combine_bytes(PG_FUNCTION_ARGS)
{
	MemoryContext context = race_aggregate_context(fcinfo, RACE_SCATTER_AGGREGATES);
	Bytes	   *bytes = bytes_arg(fcinfo, 0);
	Bytes	   *more = bytes_arg(fcinfo, 1);
	RaceScatter other = open_bytes(more);
	double	   *products;
	Size		j;
	uint32		i;

	race_check_length(more->dims, bytes->dims, false);
	for (i = 0; i < other.n_classes; i++)
		bytes = add(bytes, other.classes[i].key, other.classes[i].n,
					race_scatter_class_mean(&other, i), context);
	products = open_bytes(bytes).products;
	for (j = 0; j < RaceScatterProducts(bytes->dims); j++)
		products[j] += other.products[j];
	PG_RETURN_POINTER(bytes);
}

const RaceScatter *
race_scatter_bytes_arg(FunctionCallInfo fcinfo)
{
	RaceScatter *scatter;

	if (PG_ARGISNULL(0))
		return NULL;
	scatter = palloc(sizeof(RaceScatter));
	*scatter = open_bytes(bytes_arg(fcinfo, 0));
	return scatter;
}
