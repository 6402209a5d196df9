/*
 * records.c
 *		Records on their way to be hashed: a column for each part of the kernel
 */
#include "postgres.h"

#include "hash/column.h"
#include "hash/kernel.h"
#include "hash/params.h"
#include "sketch/records.h"

/*
 * Records on their way to be hashed: a column for each part of the kernel.
 */

/* Elements of sets for which space is kept when records are cleared */
#define USUAL_ELEMENTS ((Size) 64 * 1024)

RaceRecords *
race_records_create(const RaceParams *params, MemoryContext context)
{
	Size size = offsetof(RaceRecords, parts) + race_params_parts(params) * sizeof(RaceRecordsPart);
	RaceRecords *records = MemoryContextAllocZero(context, size);

	records->context = context;
	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
	{
		RaceRecordsPart *column = &records->parts[records->n_parts++];

		column->kind = race_record_kind(part);
		records->has_sets |= column->kind == RACE_RECORD_SET;
		column->width = part->dims;
	}
	return records;
}

/* Make an array in the memory context of the records, or make it longer. */
static void *
resize_array(const RaceRecords *records, void *array, Size size)
{
	return array == NULL ? MemoryContextAllocHuge(records->context, size) :
						   repalloc_huge(array, size);
}

void
race_records_reserve(RaceRecords *records, uint32 capacity)
{
	for (int i = 0; i < records->n_parts; i++)
	{
		RaceRecordsPart *part = &records->parts[i];
		Size n = (Size) capacity * part->width;

		switch (part->kind)
		{
			case RACE_RECORD_VECTOR:
				part->numbers = resize_array(records, part->numbers, n * sizeof(double));
				break;
			case RACE_RECORD_SET:
				part->starts =
					resize_array(records, part->starts, ((Size) capacity + 1) * sizeof(size_t));
				part->starts[0] = 0;
				break;
			case RACE_RECORD_ROW:
				part->elements = resize_array(records, part->elements, n * sizeof(uint64));
				break;
		}
	}
	records->capacity = capacity;
}

double *
race_records_vector(RaceRecords *records, int part)
{
	Assert(records->n < records->capacity);
	return records->parts[part].numbers + (Size) records->n * records->parts[part].width;
}

uint64 *
race_records_elements(RaceRecords *records, int part, Size n)
{
	RaceRecordsPart *column = &records->parts[part];
	Size start;

	Assert(records->n < records->capacity);
	if (column->kind != RACE_RECORD_SET)
		return column->elements + (Size) records->n * column->width;

	start = column->starts[records->n];
	if (column->elements == NULL || n > column->capacity - start)
	{
		Size capacity = Max(start + n, Min(2 * column->capacity, USUAL_ELEMENTS));

		capacity = Max(capacity, 16);
		column->elements = resize_array(records, column->elements, capacity * sizeof(uint64));
		column->capacity = capacity;
	}
	column->starts[records->n + 1] = start + n;
	return column->elements + start;
}

void
race_records_copy(RaceRecords *records, const RaceColumn *columns)
{
	for (int i = 0; i < records->n_parts; i++, columns++)
	{
		Size n = columns->width;

		size_t start = 0;

		if (records->parts[i].kind == RACE_RECORD_VECTOR)
		{
			memcpy(race_records_vector(records, i), columns->numbers, n * sizeof(double));
			continue;
		}
		if (records->parts[i].kind == RACE_RECORD_SET)
		{
			start = columns->starts[0];
			n = columns->starts[1] - start;
		}
		memcpy(race_records_elements(records, i, n), columns->elements + start, n * sizeof(uint64));
	}
}

void
race_records_columns(const RaceRecords *records, uint32 from, RaceColumn *columns)
{
	for (int i = 0; i < records->n_parts; i++)
	{
		const RaceRecordsPart *part = &records->parts[i];
		RaceColumn column = {part->numbers, part->elements, part->starts, part->width};
		const RaceColumn any = {NULL, NULL, NULL, 0};

		columns[i] = (records->any >> i & 1) != 0 ? any : race_column_from(&column, from);
	}
}

bool
race_records_same(const RaceRecords *a, const RaceRecords *b)
{
	for (int i = 0; i < a->n_parts; i++)
	{
		const RaceRecordsPart *x = &a->parts[i];
		const RaceRecordsPart *y = &b->parts[i];
		Size n = x->width;

		if (x->kind == RACE_RECORD_SET)
		{
			n = x->starts[a->n + 1] - x->starts[a->n];
			if (n != y->starts[b->n + 1] - y->starts[b->n])
				return false;
		}
		if (x->kind == RACE_RECORD_VECTOR ?
				memcmp(x->numbers, y->numbers, n * sizeof(double)) != 0 :
				memcmp(x->elements, y->elements, n * sizeof(uint64)) != 0)
			return false;
	}
	return true;
}

void
race_records_clear(RaceRecords *records)
{
	records->n = 0;
	for (int i = 0; i < records->n_parts; i++)
	{
		RaceRecordsPart *part = &records->parts[i];

		if (part->kind == RACE_RECORD_SET && part->capacity > USUAL_ELEMENTS)
		{
			pfree(part->elements);
			part->elements = NULL;
			part->capacity = 0;
		}
	}
}

Size
race_record_size(const RaceParams *params)
{
	Size size = 0;

	/* a set also takes a word for its start */
	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
		size += Max(part->dims, 1) * sizeof(uint64);
	return size;
}

Size
race_records_sets_size(const RaceRecords *records, uint32 from, uint32 n)
{
	Size elements = 0;

	for (int i = 0; n > 0 && i < records->n_parts; i++)
		if (records->parts[i].kind == RACE_RECORD_SET)
			elements += records->parts[i].starts[from + n] - records->parts[i].starts[from];
	return elements * sizeof(uint64);
}
