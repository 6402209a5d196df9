/*
 * fill.c
 *		Drawn records as rows of a table.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "columns.h"
#include "fill.h"
#include "texts.h"

/* What a column takes of a record: an element of a part, or all of it */
typedef struct Column
{
	int			part;			/* -1: it is left */
	uint32		element;
	bool		whole;
	bool		integers;		/* is the type one of integers, or an array of them? */
	Oid			type;
	FmgrInfo	input;
	Oid			ioparam;
} Column;

/* The texts of the parts of a point that are no vectors */
typedef struct Texts
{
	char	  **parts;			/* NULL until they are needed */
	char	  **elements[RACE_MAX_PARTS];
} Texts;

struct RaceFill
{
	const RaceFitted *fitted;
	MemoryContext context;
	TupleDesc	desc;
	Column	   *columns;		/* [desc->natts] */
	Datum	   *values;
	bool	   *nulls;
	Texts	   *texts;			/* [points] */
};

/* --------------------------------------------------------------- preparation */

static bool
is_integer(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

static void
refuse_columns(int found, uint64 expected)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("the row type has too few columns"),
			 errdetail("It has %d, and records have " UINT64_FORMAT " values.", found, expected),
			 errhint("The values of a record fill the columns in order; a column of an array type takes a whole vector, set or row of categories.")));
}

static uint64
count_elements(const RaceParams *params)
{
	const RaceParams *part;
	uint64		n = 0;

	for (part = params; part != NULL; part = race_params_next(part, params))
		n += race_part_elements(part);
	return n;
}

static void
prepare_column(Column *column, Form_pg_attribute attribute)
{
	Oid			type = getBaseType(attribute->atttypid);
	Oid			element = get_element_type(type);
	Oid			input;

	column->part = -1;
	column->type = attribute->atttypid;
	column->whole = OidIsValid(element);
	column->integers = is_integer(column->whole ? getBaseType(element) : type);
	getTypeInputInfo(attribute->atttypid, &input, &column->ioparam);
	fmgr_info(input, &column->input);
}

/* Say which column takes what. */
static void
assign_columns(RaceFill *fill, const RaceParams *params)
{
	const RaceParams *part = params;
	uint32		element = 0;
	int			k = 0;
	int			n = 0;
	int			i;

	for (i = 0; i < fill->desc->natts; i++)
	{
		Column	   *column = &fill->columns[i];

		if (TupleDescAttr(fill->desc, i)->attisdropped)
			continue;
		n++;
		prepare_column(column, TupleDescAttr(fill->desc, i));
		if (part == NULL)
			continue;
		column->part = k;
		column->element = element++;
		column->whole = (column->whole && column->element == 0) ||
			race_record_kind(part) == RACE_RECORD_SET;
		if (column->whole || element == race_part_elements(part))
		{
			part = race_params_next(part, params);
			element = 0;
			k++;
		}
	}
	if (part != NULL)
		refuse_columns(n, count_elements(params));
}

static void
set_base(RaceFill *fill, HeapTupleHeader base)
{
	HeapTupleData tuple;
	int			i;

	memset(fill->nulls, true, fill->desc->natts * sizeof(bool));
	if (base != NULL)
	{
		tuple.t_len = HeapTupleHeaderGetDatumLength(base);
		ItemPointerSetInvalid(&tuple.t_self);
		tuple.t_tableOid = InvalidOid;
		tuple.t_data = base;
		heap_deform_tuple(&tuple, fill->desc, fill->values, fill->nulls);
		return;
	}
	/* may a column be NULL?  A domain says so. */
	for (i = 0; i < fill->desc->natts; i++)
		if (!TupleDescAttr(fill->desc, i)->attisdropped && fill->columns[i].part < 0)
			(void) InputFunctionCall(&fill->columns[i].input, NULL, fill->columns[i].ioparam,
									 TupleDescAttr(fill->desc, i)->atttypmod);
}

RaceFill *
race_fill_create(TupleDesc desc, HeapTupleHeader base, const RaceFitted *fitted)
{
	RaceFill   *fill = palloc0(sizeof(RaceFill));

	fill->fitted = fitted;
	fill->context = CurrentMemoryContext;
	fill->desc = desc;
	fill->columns = palloc0(desc->natts * sizeof(Column));
	fill->values = palloc0(desc->natts * sizeof(Datum));
	fill->nulls = palloc0(desc->natts * sizeof(bool));
	fill->texts = palloc0(fitted->view.model->points * sizeof(Texts));
	assign_columns(fill, fitted->view.params);
	set_base(fill, base);
	return fill;
}

/* --------------------------------------------------------------------- rows */

/*
 * The text of a category, a row of them, or a set, kept for the next record of the point.
 * A missing category is NULL.
 */
static char *
text_of(RaceFill *fill, const Column *column, uint64 point)
{
	Texts	   *texts = &fill->texts[point];
	MemoryContext old = MemoryContextSwitchTo(fill->context);

	if (texts->parts == NULL)
		texts->parts = race_point_texts(fill->fitted, point);
	if (!column->whole && texts->elements[column->part] == NULL)
		texts->elements[column->part] =
			race_array_texts(texts->parts[column->part],
							 fill->fitted->columns[column->part].width);
	MemoryContextSwitchTo(old);
	return column->whole ? texts->parts[column->part] :
		texts->elements[column->part][column->element];
}

static Datum
column_value(RaceFill *fill, Column *column, int32 typmod, const RaceDrawn *drawn, bool *null)
{
	const double *vector = drawn->vectors[column->part];
	char	   *text;

	*null = false;
	if (vector != NULL && !column->whole && column->type == FLOAT8OID)
		return Float8GetDatum(vector[column->element]);
	if (vector == NULL)
		text = text_of(fill, column, drawn->point);
	else if (column->whole)
		text = race_vector_text(vector, fill->fitted->columns[column->part].width,
								column->integers);
	else
		text = race_number_text(vector[column->element], column->integers);
	*null = text == NULL;
	return InputFunctionCall(&column->input, text, column->ioparam, typmod);
}

Datum
race_fill_row(RaceFill *fill, const RaceDrawn *drawn)
{
	int			i;

	for (i = 0; i < fill->desc->natts; i++)
		if (fill->columns[i].part >= 0 && !TupleDescAttr(fill->desc, i)->attisdropped)
			fill->values[i] = column_value(fill, &fill->columns[i],
										   TupleDescAttr(fill->desc, i)->atttypmod, drawn,
										   &fill->nulls[i]);
	return HeapTupleGetDatum(heap_form_tuple(fill->desc, fill->values, fill->nulls));
}
