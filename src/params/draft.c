/*
 * draft.c
 *		Parameters while they are put together.
 */
#include "postgres.h"

#include <math.h>

#include "../lsh/grid.h"
#include "../lsh/moments.h"
#include "../lsh/radial.h"
#include "../lsh/surrogate.h"
#include "../server/text.h"
#include "draft.h"

void
race_draft_default(RaceDraft *draft)
{
	int			i;

	memset(draft, 0, sizeof(RaceDraft));
	for (i = 0; i < RACE_FIELDS; i++)
		if (!race_field_is_array(&race_fields[i]))
			race_field_set_default(&race_fields[i], &draft->part);
}

void
race_draft_of(RaceDraft *draft, const RaceParams *part)
{
	int			key;

	draft->part = *part;
	for (key = 0; key < RACE_KEYS; key++)
		draft->arrays[key] = race_field_is_array(&race_fields[key]) ?
			race_array(part, race_fields[key].array) : NULL;
}

void
race_draft_next(RaceDraft *draft)
{
	int			key;

	for (key = 0; key < RACE_KEYS; key++)
		if (race_fields[key].shared)
			race_field_set_bits(&race_fields[key], &draft->part, 0);
}

bool
race_draft_takes(const RaceDraft *draft, const RaceField *field, Node *escontext)
{
	if (field->own && !race_field_is_stored(field, draft->part.kernel))
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

bool
race_draft_set_name(RaceDraft *draft, const RaceField *field, const char *name,
					Node *escontext)
{
	bool		is_kernel = field == &race_fields[RACE_KEY_KERNEL];
	int			value = field->value_of(name);
	char		list[128];

	if (value == 0 && (is_kernel || field->optional || strcmp(name, "auto") != 0))
		ereturn(escontext, false,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unknown %s \"%s\"", field->what, race_cut(name)),
				 is_kernel ?
				 errhint("The kernels are %s.",
						 race_kernel_list(NULL, "and", list, sizeof(list))) :
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
	draft->part.outputs = rows;
	draft->arrays[key] = numbers;
}

/* ------------------------------------------------------------- assembling */

/* Replace "auto" by a sequence, in each part in turn. */
static void
choose_sequences(RaceDraft *drafts, int n)
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

/*
 * A grid has one row, and as many counters as its cells say.  Cells that are not stated are
 * chosen, if the bounds are such that they can be; what is wrong is found later.
 */
static void
shape_grid(RaceDraft *draft)
{
	RaceParams *part = &draft->part;
	const double *lower = draft->arrays[RACE_KEY_LOWER];
	const double *upper = draft->arrays[RACE_KEY_UPPER];
	uint64		nodes;

	if (part->dims < 1 || part->dims > RACE_GRID_DIMS || lower == NULL || upper == NULL ||
		race_kernel_type(part->kernel)->of_distance == NULL || part->power == 0 ||
		!(part->bandwidth > 0))
		return;
	if (draft->arrays[RACE_KEY_CELLS] == NULL)
	{
		double	   *cells = palloc(part->dims * sizeof(double));

		race_grid_choose_cells(part, draft->arrays[RACE_KEY_BANDWIDTHS], lower,
							   upper, cells);
		draft->arrays[RACE_KEY_CELLS] = cells;
	}
	part->rows = 1;
	nodes = race_grid_nodes(draft->arrays[RACE_KEY_CELLS], part->dims, 1);
	if (nodes > 0 && part->range != race_grid_nodes(draft->arrays[RACE_KEY_CELLS], part->dims,
													RACE_GRID_LEVELS))
		part->range = (uint32) nodes;
}

/*
 * A surrogate loss has a counter for each combination of signs.  Without a radius of queries,
 * theirs is that of coefficients between -1 and 1.
 */
static void
shape_surrogate(RaceParams *part)
{
	if (part->power <= RACE_MAX_SURROGATE_POWER)
		part->range = 1 << part->power;
	if (part->query_radius == 0)
		part->query_radius = sqrt(part->dims);
}

/*
 * Moments are one row of as many counters as their columns have products.  What is wrong is
 * found later.
 */
static void
shape_moments(RaceDraft *draft)
{
	RaceParams *part = &draft->part;

	part->rows = 1;
	part->rehash = RACE_REHASH_FOLD;
	if (race_moments_columns(part) <= RACE_MOMENTS_COLUMNS)
		part->range = (uint32) race_moments_counters(race_moments_columns(part));
	if (part->norm == 0)
		part->norm = race_moments_default_norm(part);
}

/* Write a part and its arrays; returns where the next one belongs. */
static char *
write_part(char *next, const RaceDraft *draft)
{
	RaceParams *part = (RaceParams *) next;
	int			key;

	*part = draft->part;
	part->more = 0;
	next += sizeof(RaceParams);
	for (key = 0; key < RACE_KEYS && part->arrays != 0; key++)
	{
		double	   *to = (double *) next;
		Size		n = race_field_is_array(&race_fields[key]) ?
			race_array_length(part, race_fields[key].array) : 0;
		Size		i;

		/* remove the sign of zero: equal parameters are equal bytes */
		for (i = 0; i < n; i++)
			to[i] = draft->arrays[key][i] + 0.0;
		next += n * sizeof(double);
	}
	return next;
}

RaceParams *
race_params_assemble(RaceDraft *drafts, int n, Node *escontext)
{
	RaceParams *params;
	uint64		more = 0;
	char	   *next;
	int			i;
	int			key;

	choose_sequences(drafts, n);
	if (drafts[0].part.sequence == RACE_SEQUENCE_GRID)
		shape_grid(&drafts[0]);
	if (n == 1 && race_is_surrogate(&drafts[0].part))
		shape_surrogate(&drafts[0].part);
	if (race_is_moments(&drafts[0].part))
		shape_moments(&drafts[0]);
	for (i = 0; i < n; i++)
	{
		for (key = 0; key < RACE_KEYS; key++)
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
	for (i = 0; i < n; i++)
		next = write_part(next, &drafts[i]);
	params->more = (uint32) more;
	if (params->rehash == 0)
		params->rehash = race_default_rehash(params);
	return race_params_check(params, escontext) ? params : NULL;
}

RaceParams *
race_params_as_grid(const RaceParams *params)
{
	const double *lower = race_array(params, RACE_ARRAY_LOWER);
	const double *upper = race_array(params, RACE_ARRAY_UPPER);
	RaceDraft	draft;
	uint32		i;

	if (race_is_grid(params))
		return race_params_copy(params, CurrentMemoryContext);
	if (race_params_parts(params) > 1 || race_kernel_type(params->kernel)->of_distance == NULL ||
		params->dims < 1 || params->dims > RACE_GRID_DIMS || lower == NULL || upper == NULL ||
		!race_radial_can(params) ||
		(params->arrays & (RACE_ARRAY_MATRIX | RACE_ARRAY_OFFSET)) != 0)
		return NULL;
	for (i = 0; i < params->dims; i++)
		if (!isfinite(lower[i]) || !isfinite(upper[i]) || !(lower[i] < upper[i]) ||
			!isfinite(upper[i] - lower[i]))
			return NULL;
	race_draft_of(&draft, params);
	draft.part.sequence = RACE_SEQUENCE_GRID;
	draft.part.rehash = 0;		/* "auto" */
	return race_params_assemble(&draft, 1, NULL);
}
