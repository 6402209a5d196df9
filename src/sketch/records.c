/*
 * records.c
 *		Records on their way to be hashed: a column for each part of the kernel.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "records.h"

/* Elements of sets that room is kept for */
#define USUAL_ELEMENTS	((Size) 64 * 1024)

RaceRecords *
race_records_create(const RaceParams *params, MemoryContext context)
{
	Size		size = offsetof(RaceRecords, parts) +
		race_params_parts(params) * sizeof(RaceRecordsPart);
	RaceRecords *records = MemoryContextAllocZero(context, size);
	const RaceParams *part;

	records->context = context;
	for (part = params; part != NULL; part = race_params_next(part, params))
	{
		RaceRecordsPart *column = &records->parts[records->n_parts++];

		column->is_vector = race_compares_numbers(part);
		column->is_set = race_compares_sets(part);
		records->has_sets |= column->is_set;
		column->width = part->dims;
	}
	return records;
}

/* An array in the context of the records, made or made longer */
static void *
resize(const RaceRecords *records, void *array, Size size)
{
	return array == NULL ?
		MemoryContextAllocHuge(records->context, size) : repalloc_huge(array, size);
}

void
race_records_reserve(RaceRecords *records, uint32 capacity)
{
	int			i;

	for (i = 0; i < records->n_parts; i++)
	{
		RaceRecordsPart *part = &records->parts[i];
		Size		n = (Size) capacity * part->width;

		if (part->is_set)
		{
			part->starts = resize(records, part->starts,
								  ((Size) capacity + 1) * sizeof(size_t));
			part->starts[0] = 0;
		}
		else if (part->is_vector)
			part->numbers = resize(records, part->numbers, n * sizeof(double));
		else
			part->elements = resize(records, part->elements, n * sizeof(uint64));
	}
	records->capacity = capacity;
}

double *
race_records_vector(RaceRecords *records, int part)
{
	Assert(records->n < records->capacity);
	return records->parts[part].numbers +
		(Size) records->n * records->parts[part].width;
}

uint64 *
race_records_elements(RaceRecords *records, int part, Size n)
{
	RaceRecordsPart *column = &records->parts[part];
	Size		start;

	Assert(records->n < records->capacity);
	if (!column->is_set)
		return column->elements + (Size) records->n * column->width;

	start = column->starts[records->n];
	if (column->elements == NULL || n > column->room - start)
	{
		Size		room = Max(start + n, Min(2 * column->room, USUAL_ELEMENTS));

		column->elements = resize(records, column->elements,
								  Max(room, 16) * sizeof(uint64));
		column->room = Max(room, 16);
	}
	column->starts[records->n + 1] = start + n;
	return column->elements + start;
}

void
race_records_columns(const RaceRecords *records, uint32 from, RaceColumn *columns)
{
	int			i;

	for (i = 0; i < records->n_parts; i++)
	{
		const RaceRecordsPart *part = &records->parts[i];
		RaceColumn	column = {part->numbers, part->elements, part->starts, part->width};

		columns[i] = race_column_from(&column, from);
	}
}

bool
race_records_same(const RaceRecords *a, const RaceRecords *b)
{
	int			i;

	for (i = 0; i < a->n_parts; i++)
	{
		const RaceRecordsPart *x = &a->parts[i];
		const RaceRecordsPart *y = &b->parts[i];
		Size		n = x->width;

		if (x->is_set)
		{
			n = x->starts[a->n + 1] - x->starts[a->n];
			if (n != y->starts[b->n + 1] - y->starts[b->n])
				return false;
		}
		if (memcmp(x->is_vector ? (void *) x->numbers : (void *) x->elements,
				   y->is_vector ? (void *) y->numbers : (void *) y->elements,
				   n * sizeof(uint64)) != 0)
			return false;
	}
	return true;
}

void
race_records_clear(RaceRecords *records)
{
	int			i;

	records->n = 0;
	for (i = 0; i < records->n_parts; i++)
	{
		RaceRecordsPart *part = &records->parts[i];

		if (part->is_set && part->room > USUAL_ELEMENTS)
		{
			pfree(part->elements);
			part->elements = NULL;
			part->room = 0;
		}
	}
}

Size
race_record_size(const RaceParams *params)
{
	const RaceParams *part;
	Size		size = 0;

	/* a set takes where it starts */
	for (part = params; part != NULL; part = race_params_next(part, params))
		size += Max(part->dims, 1) * sizeof(uint64);
	return size;
}

Size
race_records_sets_size(const RaceRecords *records, uint32 from, uint32 n)
{
	Size		elements = 0;
	int			i;

	for (i = 0; n > 0 && i < records->n_parts; i++)
		if (records->parts[i].is_set)
			elements += records->parts[i].starts[from + n] -
				records->parts[i].starts[from];
	return elements * sizeof(uint64);
}
