/*
 * params_draft.c
 *		Parameters while they are put together
 */
#include "postgres.h"

#include <math.h>

#include "hash/contingency.h"
#include "hash/defaults.h"
#include "hash/fields.h"
#include "hash/kernel.h"
#include "hash/kind.h"
#include "hash/params.h"
#include "hash/sobol.h"
#include "hash/table.h"
#include "sketch/compat.h"
#include "sketch/params_draft.h"
#include "sketch/params_type.h"
#include "sketch/text.h"

void
race_draft_start(RaceDraft *draft)
{
	memset(draft, 0, sizeof(RaceDraft));
	draft->part = race_params_default;
}

void
race_draft_set_array(RaceDraft *draft, int key, const double *numbers, uint32 rows, uint32 columns)
{
	draft->arrays[key] = numbers;
	draft->rows[key] = rows;
	draft->columns[key] = columns;
}

void
race_draft_of(RaceDraft *draft, const RaceParams *part)
{
	memset(draft, 0, sizeof(RaceDraft));
	draft->part = *part;
	for (int key = 0; key < RACE_KEYS; key++)
	{
		RaceArray array = race_fields[key].array;

		if (race_field_applies(&race_fields[key], part))
			race_draft_set_array(draft, key, race_array(part, array), race_array_rows(part, array),
								 race_array_columns(part, array));
	}
}

bool
race_draft_check_field(const RaceDraft *draft, int key, Node *escontext)
{
	if (race_fields[key].own && !race_field_applies(&race_fields[key], &draft->part))
		ereturn(escontext, false,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg(draft->part.kernel != 0 ? "invalid race_params: kernel %s has no %s" :
												  "invalid race_params: %s have no %s",
						race_part_name(&draft->part), race_fields[key].name)));
	return true;
}

bool
race_draft_set_integer(RaceDraft *draft, int key, int64 value, Node *escontext)
{
	const RaceField *field = &race_fields[key];
	int64 most = field->size == 1 ? PG_UINT8_MAX : PG_UINT16_MAX;

	if (field->most > 0 && !(value >= field->least && value <= field->most))
		ereturn(escontext, false,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid race_params: %s must be between %.0f and %.0f", field->name,
						field->least, field->most)));
	/* a number that is truncated here is outside its limits before and after */
	if (field->type == RACE_FIELD_COUNT)
		value = Max(0, Min(value, field->size > 2 ? PG_INT32_MAX : most));
	race_field_set_bits(field, &draft->part, (uint64) value);
	return true;
}

bool
race_draft_set_name(RaceDraft *draft, int key, const char *name, Node *escontext)
{
	const RaceField *field = &race_fields[key];
	int value = 0;
	char list[128];

	if (key == RACE_KEY_KERNEL && race_kind_named(name) >= 0)
	{
		draft->part.kind = (uint8) race_kind_named(name);
		return true;
	}
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
					 field->hint != NULL ? errhint("%s", field->hint) :
										   0));
	race_field_set_bits(field, &draft->part, value);
	return true;
}

void
race_draft_set_real(RaceDraft *draft, int key, double value)
{
	uint64 bits;

	memcpy(&bits, &value, sizeof(bits));
	race_field_set_bits(&race_fields[key], &draft->part, bits);
}

/*
 * Set the fields that follow from arrays, and check that arrays have the rows and columns of the
 * part.
 */
static bool
measure_arrays(RaceDraft *draft, Node *escontext)
{
	RaceParams *part = &draft->part;

	for (int key = 0; key < RACE_KEYS; key++)
	{
		if (draft->arrays[key] == NULL)
			continue;
		if (key == RACE_KEY_MATRIX)
			part->outputs = draft->rows[key];
		if (key == RACE_KEY_MEASURED)
			part->tables.measured = draft->rows[key];
		if (key == RACE_KEY_WORKLOAD)
			part->tables.workload = draft->rows[key];
		if (key == RACE_KEY_JOINED)
			part->tables.joined = draft->columns[key];
		if (key == RACE_KEY_SIGNS)
			part->tables.signs = draft->columns[key];
	}
	for (int key = 0; key < RACE_KEYS; key++)
	{
		const RaceField *field = &race_fields[key];
		uint32 rows = race_array_rows(part, field->array);
		uint32 columns = race_array_columns(part, field->array);

		if (draft->arrays[key] != NULL &&
			(draft->rows[key] != rows || draft->columns[key] != columns))
			ereturn(
				escontext, false,
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

/* Write a part and its arrays; return where the next one belongs. */
static char *
write_part(char *next, const RaceDraft *draft)
{
	RaceParams *part = (RaceParams *) next;

	*part = draft->part;
	part->more = 0;
	next += sizeof(RaceParams);
	for (int key = 0; key < RACE_KEYS; key++)
	{
		double *to = (double *) race_array(part, race_fields[key].array);
		Size n = draft->arrays[key] != NULL ? race_array_length(part, race_fields[key].array) : 0;

		/* remove the sign of zero: equal parameters are equal bytes */
		for (Size i = 0; i < n; i++)
			to[i] = draft->arrays[key][i] + 0.0;
	}
	return next + race_arrays_size(part);
}

RaceParams *
race_draft_assemble(RaceDraft *drafts, int n, Node *escontext)
{
	RaceParams *params;
	uint64 more = 0;
	uint32 sobol = 0; /* dimensions that are taken */
	char *next;

	for (int i = 0; i < n; i++)
	{
		RaceParams *part = &drafts[i].part;

		for (int key = 0; key < RACE_KEYS && i > 0; key++)
			if (race_fields[key].shared)
				race_field_set_bits(&race_fields[key], part, 0);
		if (!measure_arrays(&drafts[i], escontext))
			return NULL;
		if (part->kernel != 0)
			part->kind = part->sequence == RACE_SEQUENCE_GRID ? RACE_KIND_GRID : RACE_KIND_ROWS;
		if (part->sequence == 0)
			part->sequence = race_default_sequence(part, sobol);
		if (part->sequence == RACE_SEQUENCE_SOBOL)
			sobol = Min((uint64) sobol + race_sobol_dimensions(part), PG_UINT32_MAX);
	}
	race_summary_kind(&drafts[0].part)
		->complete(&drafts[0].part, drafts[0].arrays, palloc(RACE_GRID_DIMS * sizeof(double)));
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
		ereturn(
			escontext, NULL,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg(
				 "invalid race_params: bandwidths, bounds and transforms must be at most %d numbers",
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
	RaceDraft draft;

	race_draft_of(&draft, params);
	race_draft_set_array(&draft, RACE_KEY_JOINED, tables->joined, 1, tables->n_joined);
	race_draft_set_array(&draft, RACE_KEY_MEASURED, tables->measured, tables->n_measured,
						 RACE_TABLE_NUMBERS);
	race_draft_set_array(&draft, RACE_KEY_SIGNS, tables->signs, 1, tables->n_signs);
	race_draft_set_array(&draft, RACE_KEY_ENDS, tables->ends, 1, params->dims);
	return race_draft_assemble(&draft, 1, NULL);
}

RaceParams *
race_params_with_cells(const RaceParams *params, const double *cells, const double *groups)
{
	RaceDraft draft;

	race_draft_of(&draft, params);
	race_draft_set_array(&draft, RACE_KEY_CELLS, cells, 1, params->dims);
	race_draft_set_array(&draft, RACE_KEY_GROUPS, groups, RACE_GROUP_NUMBERS, params->dims);
	return race_draft_assemble(&draft, 1, NULL);
}

RaceParams *
race_params_as_grid(const RaceParams *params)
{
	const double *lower = race_array(params, RACE_ARRAY_LOWER);
	const double *upper = race_array(params, RACE_ARRAY_UPPER);
	RaceDraft draft;

	if (race_summary_kind(params)->coarsen != NULL)
		return race_params_copy(params, CurrentMemoryContext);
	if (params->dims < 1 || params->dims > RACE_GRID_DIMS || lower == NULL || upper == NULL ||
		!race_radial_can(params) || (params->arrays & (RACE_ARRAY_MATRIX | RACE_ARRAY_OFFSET)) != 0)
		return NULL;
	for (uint32 i = 0; i < params->dims; i++)
		if (!isfinite(lower[i]) || !isfinite(upper[i]) || !(lower[i] < upper[i]) ||
			!isfinite(upper[i] - lower[i]))
			return NULL;
	race_draft_of(&draft, params);
	draft.part.sequence = RACE_SEQUENCE_GRID;
	draft.part.rehash = 0; /* "auto" */
	return race_draft_assemble(&draft, 1, NULL);
}
