/*
 * params.c
 *		race_params: the table of fields, construction and SQL functions
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "libpq/pqformat.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "contingency.h"
#include "loss_rows.h"
#include "moment_sums.h"
#include "params.h"
#include "server.h"
#include "summary.h"
#include "table.h"
#include "table_density.h"

/*
 * The table of the parameters of a sketch.
 */

/* A field of RaceParams, at this position on the wire */
#define AT(field, position) \
	.offset = offsetof(RaceParams, field), \
	.size = sizeof(((RaceParams *) NULL)->field), .wire = position

/* A choice among names; messages call it `title` */
#define NAMES(title, choice) \
	.what = title, .name_of = race_ ## choice ## _name

const RaceField race_fields[RACE_FIELDS] = {
	[RACE_KEY_KERNEL] = {
		.name = "kernel", .type = RACE_FIELD_CHOICE, AT(kernel, 1),
		NAMES("kernel", kernel)
	},
	[RACE_KEY_DIMS] = {
		.name = "dims", .type = RACE_FIELD_COUNT, AT(dims, 4),
		.optional = true, .takes = RACE_TAKES_DIMS
	},
	[RACE_KEY_BANDWIDTH] = {
		.name = "bandwidth", .type = RACE_FIELD_REAL, AT(bandwidth, 32),
		.fallback = 1, .takes = RACE_TAKES_BANDWIDTH | RACE_TAKES_COLUMNS
	},
	[RACE_KEY_POWER] = {
		.name = "power", .type = RACE_FIELD_COUNT, AT(power, 8), .fallback = 1,
		.takes = RACE_TAKES_FUNCTIONS
	},
	[RACE_KEY_ROWS] = {
		.name = "rows", .type = RACE_FIELD_COUNT, AT(rows, 12),
		.fallback = 1024, .shared = true, .takes = RACE_TAKES_FUNCTIONS
	},
	[RACE_KEY_RANGE] = {
		.name = "range", .type = RACE_FIELD_COUNT, AT(range, 16),
		.fallback = 1024, .shared = true, .takes = RACE_TAKES_FUNCTIONS
	},
	[RACE_KEY_SEED] = {
		.name = "seed", .type = RACE_FIELD_INTEGER, AT(seed, 24), .shared = true
	},
	[RACE_KEY_SEQUENCE] = {
		.name = "sequence", .type = RACE_FIELD_CHOICE, AT(sequence, 2),
		NAMES("row sequence", sequence)
	},
	[RACE_KEY_REHASH] = {
		.name = "rehash", .type = RACE_FIELD_CHOICE, AT(rehash, 3),
		.shared = true, .takes = RACE_TAKES_FUNCTIONS, NAMES("rehash", rehash)
	},
	[RACE_KEY_BANDWIDTHS] = {
		.name = "bandwidths", .type = RACE_FIELD_VECTOR, .array = RACE_ARRAY_BANDWIDTHS,
		.optional = true, .takes = RACE_TAKES_BANDWIDTH
	},
	[RACE_KEY_LOWER] = {
		.name = "lower", .type = RACE_FIELD_VECTOR, .array = RACE_ARRAY_LOWER,
		.optional = true, .takes = RACE_TAKES_BOUNDS
	},
	[RACE_KEY_UPPER] = {
		.name = "upper", .type = RACE_FIELD_VECTOR, .array = RACE_ARRAY_UPPER,
		.optional = true, .takes = RACE_TAKES_BOUNDS
	},
	[RACE_KEY_MATRIX] = {
		.name = "matrix", .type = RACE_FIELD_MATRIX, .array = RACE_ARRAY_MATRIX,
		.optional = true, .takes = RACE_TAKES_TRANSFORM
	},
	[RACE_KEY_OFFSET] = {
		.name = "offset", .type = RACE_FIELD_VECTOR, .array = RACE_ARRAY_OFFSET,
		.optional = true, .takes = RACE_TAKES_TRANSFORM
	},
	[RACE_KEY_CELLS] = {
		.name = "cells", .type = RACE_FIELD_VECTOR, .array = RACE_ARRAY_CELLS,
		.optional = true, .takes = RACE_TAKES_BANDWIDTH | RACE_TAKES_CELLS
	},
	[RACE_KEY_NULLS] = {
		.name = "nulls", .type = RACE_FIELD_CHOICE, AT(nulls, 45),
		.optional = true, .takes = RACE_TAKES_NULLS, NAMES("meaning of nulls", nulls),
		.hint = "Use different or category."
	},
	[RACE_KEY_RADIUS] = {
		.name = "radius", .type = RACE_FIELD_REAL, AT(radius, 48), .own = true,
		.optional = true, .takes = RACE_TAKES_RADIUS
	},
	[RACE_KEY_QUERY_RADIUS] = {
		.name = "query_radius", .type = RACE_FIELD_REAL, AT(query_radius, 56), .own = true,
		.optional = true, .takes = RACE_TAKES_RADIUS
	},
	[RACE_KEY_NORM] = {
		.name = "norm", .type = RACE_FIELD_REAL, AT(norm, 48), .own = true, .takes = RACE_TAKES_COLUMNS
	},
	[RACE_KEY_FEATURES] = {
		.name = "features", .type = RACE_FIELD_COUNT, AT(features, 56), .own = true,
		.optional = true, .takes = RACE_TAKES_COLUMNS
	},
	[RACE_KEY_TARGETS] = {
		.name = "targets", .type = RACE_FIELD_COUNT, AT(targets, 58), .own = true,
		.optional = true, .takes = RACE_TAKES_COLUMNS
	},
	[RACE_KEY_CLIP] = {
		.name = "clip", .type = RACE_FIELD_CHOICE, AT(clip, 61), .own = true,
		.optional = true, .takes = RACE_TAKES_COLUMNS, NAMES("clip", clip),
		.hint = "Use norm or absolute."
	},
	[RACE_KEY_COARSER] = {
		.name = "coarser", .type = RACE_FIELD_COUNT, AT(coarser, 60), .own = true,
		.optional = true, .takes = RACE_TAKES_COLUMNS
	},
	[RACE_KEY_GROUPS] = {
		.name = "groups", .type = RACE_FIELD_MATRIX, .array = RACE_ARRAY_GROUPS,
		.optional = true, .takes = RACE_TAKES_CELLS
	},
	[RACE_KEY_WORKLOAD] = {
		.name = "workload", .type = RACE_FIELD_MATRIX, .array = RACE_ARRAY_WORKLOAD,
		.optional = true, .takes = RACE_TAKES_CELLS
	},
	[RACE_KEY_JOINED] = {
		.name = "joined", .type = RACE_FIELD_MATRIX, .array = RACE_ARRAY_JOINED,
		.optional = true, .takes = RACE_TAKES_CELLS
	},
	[RACE_KEY_MEASURED] = {
		.name = "measured", .type = RACE_FIELD_MATRIX, .array = RACE_ARRAY_MEASURED,
		.optional = true, .takes = RACE_TAKES_CELLS
	},
	[RACE_FIELD_OUTPUTS] = {
		.name = "outputs", .type = RACE_FIELD_DERIVED, AT(outputs, 20)
	},
	[RACE_FIELD_MORE] = {
		.name = "more", .type = RACE_FIELD_DERIVED, AT(more, 40)
	},
	[RACE_FIELD_ARRAYS] = {
		.name = "arrays", .type = RACE_FIELD_DERIVED, AT(arrays, 44)
	},
	[RACE_FIELD_JOINED] = {
		.name = "joined", .type = RACE_FIELD_DERIVED, AT(joined, 48), .own = true,
		.takes = RACE_TAKES_CELLS
	},
	[RACE_FIELD_WORKLOAD] = {
		.name = "workload", .type = RACE_FIELD_DERIVED, AT(workload, 52), .own = true,
		.takes = RACE_TAKES_CELLS
	},
};

bool
race_field_is_array(const RaceField *field)
{
	return field->type == RACE_FIELD_VECTOR || field->type == RACE_FIELD_MATRIX;
}

bool
race_field_is_stored(const RaceField *field, int kernel)
{
	const RaceKernelType *type = race_kernel_type(kernel);

	return field->size > 0 &&
		(!field->own || (type != NULL && (type->takes & field->takes) != 0));
}

bool
race_field_applies(const RaceField *field, const RaceParams *part, bool first)
{
	uint32		takes = race_kernel_type(part->kernel)->takes;

	if (field->shared && !first)
		return false;
	if (field->takes != 0 && (takes & field->takes) == 0)
		return false;
	if (race_field_is_array(field))
		return race_array(part, field->array) != NULL;
	return !field->optional || race_field_bits(field, part) != 0;
}

uint64
race_field_bits(const RaceField *field, const RaceParams *part)
{
	const char *place = (const char *) part + field->offset;

	switch (field->size)
	{
		case sizeof(uint8):
			return *(const uint8 *) place;
		case sizeof(uint16):
			return *(const uint16 *) place;
		case sizeof(uint32):
			return *(const uint32 *) place;
		default:
			return *(const uint64 *) place;
	}
}

void
race_field_set_bits(const RaceField *field, RaceParams *part, uint64 bits)
{
	char	   *place = (char *) part + field->offset;

	switch (field->size)
	{
		case sizeof(uint8):
			*(uint8 *) place = (uint8) bits;
			break;
		case sizeof(uint16):
			*(uint16 *) place = (uint16) bits;
			break;
		case sizeof(uint32):
			*(uint32 *) place = (uint32) bits;
			break;
		default:
			memcpy(place, &bits, sizeof(bits));
			break;
	}
}

/* Set a field that is no array to its default. */
static void
race_field_set_default(const RaceField *field, RaceParams *part)
{
	uint64		bits = (uint64) (int64) field->fallback;

	if (field->type == RACE_FIELD_REAL)
		memcpy(&bits, &field->fallback, sizeof(bits));
	race_field_set_bits(field, part, bits);
}

/* The order of two values of a field that is no array: < 0, 0 or > 0 */
static int
race_field_compare(const RaceField *field, const RaceParams *a, const RaceParams *b)
{
	uint64		x = race_field_bits(field, a);
	uint64		y = race_field_bits(field, b);
	double		real_x;
	double		real_y;

	if (field->type == RACE_FIELD_INTEGER)
		return ((int64) x > (int64) y) - ((int64) x < (int64) y);
	if (field->type != RACE_FIELD_REAL)
		return (x > y) - (x < y);
	memcpy(&real_x, &x, sizeof(x));
	memcpy(&real_y, &y, sizeof(y));
	return (real_x > real_y) - (real_x < real_y);
}

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
all_known(const RaceParams *params)
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
		!all_known(&datum->params))
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
	/* in a product: the first part without dims */
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
 * Parameters while they are put together.
 */

void
race_draft_default(RaceDraft *draft)
{
	memset(draft, 0, sizeof(RaceDraft));
	for (int i = 0; i < RACE_FIELDS; i++)
		if (!race_field_is_array(&race_fields[i]))
			race_field_set_default(&race_fields[i], &draft->part);
}

static void
race_draft_of(RaceDraft *draft, const RaceParams *part)
{
	draft->part = *part;
	for (int key = 0; key < RACE_KEYS; key++)
		draft->arrays[key] = race_field_is_array(&race_fields[key]) ?
			race_array(part, race_fields[key].array) : NULL;
}

void
race_draft_next(RaceDraft *draft)
{
	for (int key = 0; key < RACE_KEYS; key++)
		if (race_fields[key].shared)
			race_field_set_bits(&race_fields[key], &draft->part, 0);
}

bool
race_draft_takes(const RaceDraft *draft, const RaceField *field, Node *escontext)
{
	/* one array is in the place of another one */
	bool		other = field->array == RACE_ARRAY_WORKLOAD &&
		(draft->part.kernel == RACE_KERNEL_TABLES) != (field == &race_fields[RACE_KEY_WORKLOAD]);

	if (other || (field->own && !race_field_is_stored(field, draft->part.kernel)))
		ereturn(escontext, false,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid race_params: kernel %s has no %s",
						race_kernel_type(draft->part.kernel)->name, field->name)));
	return true;
}

bool
race_draft_set_integer(RaceDraft *draft, const RaceField *field, int64 value,
					   Node *escontext)
{
	/* 0 dims would mean that they are not stated */
	if (field == &race_fields[RACE_KEY_DIMS] && (value < 1 || value > RACE_MAX_DIMS))
		ereturn(escontext, false,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid race_params: dims must be between 1 and %d",
						RACE_MAX_DIMS)));
	/* a number that is truncated here is outside its limits before and after */
	if (field->type == RACE_FIELD_COUNT)
		value = Max(0, Min(value, field->size == 1 ? PG_UINT8_MAX :
						   field->size == 2 ? PG_UINT16_MAX : PG_INT32_MAX));
	race_field_set_bits(field, &draft->part, (uint64) value);
	return true;
}

/* The value of a choice that has this name, or 0 */
static int
value_of(const RaceField *field, const char *name)
{
	for (int value = 1; value <= PG_UINT8_MAX; value++)
	{
		const char *known = field->name_of(value);

		if (known != NULL && strcmp(known, name) == 0)
			return value;
	}
	return 0;
}

bool
race_draft_set_name(RaceDraft *draft, const RaceField *field, const char *name,
					Node *escontext)
{
	bool		is_kernel = field == &race_fields[RACE_KEY_KERNEL];
	int			value = value_of(field, name);
	char		list[128];

	if (value == 0 && (is_kernel || field->optional || strcmp(name, "auto") != 0))
		ereturn(escontext, false,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unknown %s \"%s\"", field->what, race_cut(name)),
				 is_kernel ?
				 errhint("The kernels are %s.",
						 race_kernel_list(RACE_TAKES_FUNCTIONS, list, sizeof(list))) :
				 field->hint != NULL ? errhint("%s", field->hint) : 0));
	race_field_set_bits(field, &draft->part, value);
	return true;
}

void
race_draft_set_real(RaceDraft *draft, const RaceField *field, double value)
{
	uint64		bits;

	memcpy(&bits, &value, sizeof(bits));
	race_field_set_bits(field, &draft->part, bits);
}

void
race_draft_set_matrix(RaceDraft *draft, int key, const double *numbers, uint32 rows)
{
	if (key == RACE_KEY_MATRIX || key == RACE_KEY_MEASURED)
		draft->part.outputs = rows;
	if (key == RACE_KEY_WORKLOAD)
		draft->part.workload = rows;
	draft->arrays[key] = numbers;
}

/* ------------------------------------------------------------- assembling */

/* Replace "auto" by a sequence, in each part in turn. */
static void
choose_sequences(RaceDraft *drafts, int n)
{
	uint32		taken = 0;

	for (int i = 0; i < n; i++)
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
write_part(char *next, const RaceDraft *draft)
{
	RaceParams *part = (RaceParams *) next;

	*part = draft->part;
	part->more = 0;
	next += sizeof(RaceParams);
	for (int key = 0; key < RACE_KEYS && part->arrays != 0; key++)
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

RaceParams *
race_params_assemble(RaceDraft *drafts, int n, Node *escontext)
{
	RaceParams *params;
	uint64		more = 0;
	char	   *next;

	choose_sequences(drafts, n);
	race_summary_kind(&drafts[0].part)->shape(&drafts[0].part, drafts[0].arrays,
											  palloc(RACE_GRID_DIMS * sizeof(double)));
	for (int i = 0; i < n; i++)
	{
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
	return race_params_check(params, escontext) ? params : NULL;
}

RaceParams *
race_params_measured(const RaceParams *params, const RaceContingency *tables)
{
	RaceDraft	draft;

	race_draft_of(&draft, params);
	draft.arrays[RACE_KEY_JOINED] = tables->joined;
	draft.part.joined = tables->n_joined;
	race_draft_set_matrix(&draft, RACE_KEY_MEASURED, tables->measured, tables->n_measured);
	return race_params_assemble(&draft, 1, NULL);
}

RaceParams *
race_params_with_cells(const RaceParams *params, const double *cells, const double *groups)
{
	RaceDraft	draft;

	race_draft_of(&draft, params);
	draft.arrays[RACE_KEY_CELLS] = cells;
	draft.arrays[RACE_KEY_GROUPS] = groups;
	return race_params_assemble(&draft, 1, NULL);
}

RaceParams *
race_params_as_grid(const RaceParams *params)
{
	const double *lower = race_array(params, RACE_ARRAY_LOWER);
	const double *upper = race_array(params, RACE_ARRAY_UPPER);
	RaceDraft	draft;

	if (race_summary_kind(params)->coarsen != NULL)
		return race_params_copy(params, CurrentMemoryContext);
	if (race_params_parts(params) > 1 || race_kernel_type(params->kernel)->of_distance == NULL ||
		params->dims < 1 || params->dims > RACE_GRID_DIMS || lower == NULL || upper == NULL ||
		!race_radial_can(params) ||
		(params->arrays & (RACE_ARRAY_MATRIX | RACE_ARRAY_OFFSET)) != 0)
		return NULL;
	for (uint32 i = 0; i < params->dims; i++)
		if (!isfinite(lower[i]) || !isfinite(upper[i]) || !(lower[i] < upper[i]) ||
			!isfinite(upper[i] - lower[i]))
			return NULL;
	race_draft_of(&draft, params);
	draft.part.sequence = RACE_SEQUENCE_GRID;
	draft.part.rehash = 0;		/* "auto" */
	return race_params_assemble(&draft, 1, NULL);
}

/*
 * The type race_params in SQL: input and output, constructor, product, order.
 */

PG_FUNCTION_INFO_V1(race_params_in);
PG_FUNCTION_INFO_V1(race_params_out);
PG_FUNCTION_INFO_V1(race_params_recv);
PG_FUNCTION_INFO_V1(race_params_send);
PG_FUNCTION_INFO_V1(race_params_new);
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

	Assert(PG_NARGS() < RACE_KEY_NORM);
	for (int arg = 0; arg < RACE_KEY_MATRIX; arg++)
		if (PG_ARGISNULL(arg) && !race_fields[arg].optional)
			PG_RETURN_NULL();

	race_draft_default(&draft);
	for (int arg = 0; arg < PG_NARGS(); arg++)
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
	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
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

/* ---------------------------------------------------------------- order */

static int
compare(const RaceParams *a, const RaceParams *b)
{
	for (int key = 0; key < RACE_KEYS; key++)
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

/*
 * race_moment_params: the parameters of moments (moment_sums.h).
 */

PG_FUNCTION_INFO_V1(race_moment_params);

/* An array of bounds, of as many numbers as the draft has dims */
static void
set_bounds(RaceDraft *draft, int key, Datum value)
{
	ArrayType  *array = DatumGetArrayTypeP(value);

	if (ARR_NDIM(array) != 1 || ARR_HASNULL(array) ||
		(key == RACE_KEY_UPPER && ARR_DIMS(array)[0] != (int) draft->part.dims))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid race_params: lower and upper must be arrays of as many numbers, one for each column")));
	race_draft_set_integer(draft, &race_fields[RACE_KEY_DIMS], ARR_DIMS(array)[0], NULL);
	draft->arrays[key] = (const double *) ARR_DATA_PTR(array);
}

/* race_moment_params(lower, upper, norm, features, targets, bandwidth, seed, sequence, clip) */
Datum
race_moment_params(PG_FUNCTION_ARGS)
{
	RaceDraft	draft;

	race_draft_default(&draft);
	race_draft_set_name(&draft, &race_fields[RACE_KEY_KERNEL], "moments", NULL);
	set_bounds(&draft, RACE_KEY_LOWER, PG_GETARG_DATUM(0));
	set_bounds(&draft, RACE_KEY_UPPER, PG_GETARG_DATUM(1));
	race_draft_set_real(&draft, &race_fields[RACE_KEY_NORM], PG_GETARG_FLOAT8(2));
	race_draft_set_integer(&draft, &race_fields[RACE_KEY_FEATURES], PG_GETARG_INT32(3), NULL);
	race_draft_set_integer(&draft, &race_fields[RACE_KEY_TARGETS], PG_GETARG_INT32(4), NULL);
	race_draft_set_real(&draft, &race_fields[RACE_KEY_BANDWIDTH], PG_GETARG_FLOAT8(5));
	race_draft_set_integer(&draft, &race_fields[RACE_KEY_SEED], PG_GETARG_INT64(6), NULL);
	race_draft_set_name(&draft, &race_fields[RACE_KEY_SEQUENCE],
						text_to_cstring(PG_GETARG_TEXT_PP(7)), NULL);
	if (strcmp(text_to_cstring(PG_GETARG_TEXT_PP(8)), "auto") != 0)
		race_draft_set_name(&draft, &race_fields[RACE_KEY_CLIP],
							text_to_cstring(PG_GETARG_TEXT_PP(8)), NULL);
	PG_RETURN_POINTER(race_params_datum(race_params_assemble(&draft, 1, NULL)));
}
