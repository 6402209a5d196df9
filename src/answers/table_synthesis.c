/*
 * table_synthesis.c
 *		Synthetic rows from the model of contingency tables
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/tupdesc.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "../core/core.h"
#include "table_answers.h"

PG_FUNCTION_INFO_V1(race_tables_rows);

#define ROWS_AT_ONCE	16384
#define MOST_ROWS		1000000000

/* How a column of the result is filled */
typedef struct Target
{
	int			column;			/* of the release; -1: it has none of this name, and the value is NULL */
	Oid			type;			/* without SQL domains */
	FmgrInfo	input;
	Oid			parameter;
	int32		typmod;
	Datum	   *categories;		/* [n] */
} Target;

typedef struct Synthesis
{
	RaceOpenTables open;
	TupleDesc	desc;
	Target	   *targets;		/* [natts] */
	Datum	   *values;
	bool	   *nulls;
	int64		seed;
	uint64		draws;
	uint64		rows;			/* that are asked for */
	uint32		n;				/* rows that were drawn and are left */
	uint32	   *cells;			/* [ROWS_AT_ONCE][columns] */
	uint32	   *space;
	MemoryContext row_context;
} Synthesis;

/* A number in [0, 1) from the seed */
static double
uniform(void *state)
{
	Synthesis  *synthesis = state;
	uint64		draw = synthesis->draws++;
	uint32		counter[4] = {(uint32) draw, (uint32) (draw >> 32), 0, 0};
	uint64		bits[2];

	race_philox((uint64) synthesis->seed, counter, bits);
	return ldexp((double) (bits[0] >> 11), -53);
}

/* The value of a text in the type of a column; raises what its input function raises */
static Datum
typed_value(Target *target, char *text)
{
	return InputFunctionCall(&target->input, text, target->parameter, target->typmod);
}

static bool
is_of_type(const RaceDomain *domain, Oid type)
{
	return strcmp(domain->type, format_type_be(type)) == 0;
}

/*
 * Raise 22003 if numbers of a domain are too large for a type.  Days and seconds are no numbers of other types:
 * these are read as texts.
 */
static void
check_number_type(Target *target, const RaceDomain *domain)
{
	Oid			type = target->type;
	PGFunction	cast = type == INT2OID ? dtoi2 : type == INT4OID ? dtoi4 : type == INT8OID ? dtoi8 :
		type == FLOAT4OID ? dtof : NULL;

	if (is_of_type(domain, DATEOID) ? type != DATEOID :
		type == DATEOID || is_of_type(domain, TIMESTAMPOID) || is_of_type(domain, TIMESTAMPTZOID) ||
		is_of_type(domain, INTERVALOID))
		target->type = InvalidOid;
	else if (cast != NULL)
	{
		(void) DirectFunctionCall1(cast, Float8GetDatum(domain->lower));
		(void) DirectFunctionCall1(cast, Float8GetDatum(domain->upper));
	}
}

static void
prepare_target(Synthesis *synthesis, int i)
{
	Form_pg_attribute attribute = TupleDescAttr(synthesis->desc, i);
	Target	   *target = &synthesis->targets[i];
	RaceDomain *domain;
	Oid			input;
	uint32		k;

	for (target->column = synthesis->open.columns - 1; target->column >= 0; target->column--)
		if (strcmp(synthesis->open.domains[target->column].name, NameStr(attribute->attname)) == 0)
			break;
	if (attribute->attisdropped || target->column < 0)
	{
		target->column = -1;
		return;
	}
	domain = &synthesis->open.domains[target->column];
	target->type = getBaseType(attribute->atttypid);
	target->typmod = attribute->atttypmod;
	getTypeInputInfo(attribute->atttypid, &input, &target->parameter);
	fmgr_info(input, &target->input);
	if (!domain->category)
	{
		check_number_type(target, domain);
		return;
	}
	target->categories = palloc_extended(domain->n * sizeof(Datum), MCXT_ALLOC_HUGE);
	for (k = 0; k < domain->n; k++)
		target->categories[k] = typed_value(target, domain->categories[k]);
}

/* A number within a cell: each as likely as others */
static double
number_in_cell(Synthesis *synthesis, const RaceDomain *domain, uint32 cell)
{
	double		low = Max(race_tables_edge(domain, cell), domain->lower);
	double		high = Min(race_tables_edge(domain, cell + 1), domain->whole ? domain->upper + 1 : domain->upper);
	double		u = uniform(synthesis);

	if (!domain->whole)
		return low + u * (high - low);
	low = ceil(low);
	return Min(low + floor(u * Max(ceil(high) - low, 1)), domain->upper);
}

static Datum
number_value(Target *target, const RaceDomain *domain, double number)
{
	switch (target->type)
	{
		case INT2OID:
			return Int16GetDatum((int16) number);
		case INT4OID:
			return Int32GetDatum((int32) number);
		case INT8OID:
			return Int64GetDatum((int64) number);
		case FLOAT4OID:
			return Float4GetDatum((float4) number);
		case FLOAT8OID:
			return Float8GetDatum(number);
		case DATEOID:
			return DateADTGetDatum((DateADT) number);
		default:
			return typed_value(target, race_domain_number_text(domain, number));
	}
}

static void
start_rows(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	Synthesis  *synthesis = palloc0(sizeof(Synthesis));
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, 0);
	int64		n;
	int			named = 0;
	TupleDesc	desc;
	int			i;

	if (!type_is_rowtype(type) || type == RECORDOID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("race_synthesize needs the row type of a table, found %s", format_type_be(type)),
				 errhint("Give a NULL of that type, as in race_synthesize(NULL::visits, 'visits 2026', 1000).")));
	race_tables_check_given(fcinfo, 1, -1);
	race_tables_open(PG_GETARG_DATUM(1), PG_GETARG_DATUM(2), &synthesis->open);
	n = PG_GETARG_INT64(3);
	if (n < 0 || n > MOST_ROWS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("n must be a number from 0 to %d", MOST_ROWS)));
	desc = lookup_rowtype_tupdesc_domain(type, -1, false);
	synthesis->desc = CreateTupleDescCopy(desc);
	ReleaseTupleDesc(desc);
	synthesis->seed = PG_GETARG_INT64(4);
	synthesis->targets = palloc0(synthesis->desc->natts * sizeof(Target));
	synthesis->values = palloc0(synthesis->desc->natts * sizeof(Datum));
	synthesis->nulls = palloc0(synthesis->desc->natts * sizeof(bool));
	synthesis->cells = palloc(ROWS_AT_ONCE * (Size) synthesis->open.columns * sizeof(uint32));
	synthesis->space = palloc(ROWS_AT_ONCE * ((Size) synthesis->open.columns + RACE_GRAPH_SAMPLE) * sizeof(uint32));
	synthesis->row_context = AllocSetContextCreate(CurrentMemoryContext, "synthetic row",
												   ALLOCSET_SMALL_SIZES);
	for (i = 0; i < synthesis->desc->natts; i++)
	{
		prepare_target(synthesis, i);
		named += synthesis->targets[i].column >= 0;
	}
	if (named == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("type %s has no column of the release", format_type_be(type)),
				 errhint("Columns are found by their names: race_catalog shows those of the release.")));
	call->user_fctx = synthesis;
	call->max_calls = synthesis->rows = n;
}

static Datum
next_row(void *state, uint64 number)
{
	Synthesis  *synthesis = state;
	const uint32 *cells;
	MemoryContext old;
	int			i;

	if (synthesis->n == 0)
	{
		synthesis->n = (uint32) Min(synthesis->rows - number, ROWS_AT_ONCE);
		race_graph_sample(synthesis->open.model->graph, uniform, synthesis, synthesis->n,
						  synthesis->cells, synthesis->space);
	}
	cells = synthesis->cells + (Size) --synthesis->n * synthesis->open.columns;
	MemoryContextReset(synthesis->row_context);
	old = MemoryContextSwitchTo(synthesis->row_context);
	for (i = 0; i < synthesis->desc->natts; i++)
	{
		Target	   *target = &synthesis->targets[i];
		const RaceDomain *domain = target->column < 0 ? NULL : &synthesis->open.domains[target->column];
		uint32		cell = domain == NULL ? 0 : cells[target->column];

		/* NULL, and what is no category */
		synthesis->nulls[i] = domain == NULL || cell >= domain->n;
		if (!synthesis->nulls[i])
			synthesis->values[i] = target->categories != NULL ? target->categories[cell] :
				number_value(target, domain, number_in_cell(synthesis, domain, cell));
	}
	MemoryContextSwitchTo(old);
	return HeapTupleGetDatum(heap_form_tuple(synthesis->desc, synthesis->values, synthesis->nulls));
}

/* _race_tables_rows(NULL::type, sketch, domains, n, seed) */
Datum
race_tables_rows(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_rows, next_row);
}
