/*
 * read.c
 *		race_read_sketches: the read phase of a release.
 *
 * The query that collects the records is understood and planned under a search_path of
 * pg_catalog alone: nothing of the caller's stands in for what we mean.  It runs
 * under the caller's path and rights, as the caller's functions expect.  While it
 * runs, neither the client nor the log is told anything that does not end the session,
 * since a warning could show a record; errors are for our caller to catch.  Row-level
 * security would make a row depend on what its policies look at, so a query that
 * it would change is an error, too.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "../sketch/sketch.h"
#include "settings.h"

PG_FUNCTION_INFO_V1(race_read_sketches);

/* The sketches that are collected: one for each declared label, or one */
typedef struct Parts
{
	Oid			type;			/* race_sketch */
	int			n;
	Datum	   *labels;			/* or NULL */
	Datum	   *sketches;
	bool	   *found;
	MemoryContext context;		/* of the sketches */
} Parts;

static void
read_parts(Parts *parts, FunctionCallInfo fcinfo)
{
	ArrayType  *labels;

	parts->type = get_element_type(get_func_rettype(fcinfo->flinfo->fn_oid));
	parts->n = 1;
	parts->labels = NULL;
	parts->context = CurrentMemoryContext;
	if (!PG_ARGISNULL(2))
	{
		labels = PG_GETARG_ARRAYTYPE_P(2);
		if (array_contains_nulls(labels))
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("a label must not be NULL")));
		deconstruct_array(labels, TEXTOID, -1, false, TYPALIGN_INT,
						  &parts->labels, NULL, &parts->n);
	}
	parts->sketches = palloc0(Max(parts->n, 1) * sizeof(Datum));
	parts->found = palloc0(Max(parts->n, 1) * sizeof(bool));
}

/* The settings of the read phase; what is changed lasts as long as the GUC level. */
static void
set_quiet(void)
{
	race_set("row_security", "off");
	race_set("max_parallel_workers_per_gather", "0");
	race_set("client_min_messages", "error");
	/* an error is caught before it is logged; LOG is below FATAL */
	if (log_min_messages < FATAL)
		race_set("log_min_messages", "fatal");
}

static int
find_part(const Parts *parts, Datum label)
{
	text	   *wanted = DatumGetTextPP(label);
	int			i;

	for (i = 0; parts->labels != NULL && i < parts->n; i++)
	{
		text	   *other = DatumGetTextPP(parts->labels[i]);

		if (VARSIZE_ANY_EXHDR(other) == VARSIZE_ANY_EXHDR(wanted) &&
			memcmp(VARDATA_ANY(other), VARDATA_ANY(wanted),
				   VARSIZE_ANY_EXHDR(other)) == 0)
			return i;
	}
	elog(ERROR, "a label came back that was not asked for");
	return 0;					/* not reached */
}

/* A row (label, sketch) of the query */
static void
take_row(Parts *parts, HeapTuple row, TupleDesc desc)
{
	bool		is_null;
	Datum		label = SPI_getbinval(row, desc, 1, &is_null);
	int			i = is_null ? 0 : find_part(parts, label);
	Datum		sketch = SPI_getbinval(row, desc, 2, &is_null);
	MemoryContext old;

	if (is_null || i >= parts->n)
		return;
	old = MemoryContextSwitchTo(parts->context);
	parts->sketches[i] = PointerGetDatum(PG_DETOAST_DATUM_COPY(sketch));
	parts->found[i] = true;
	MemoryContextSwitchTo(old);
}

static void
fetch_all(Parts *parts, Portal portal)
{
	for (;;)
	{
		SPI_cursor_fetch(portal, true, 1);
		if (SPI_processed == 0)
			return;
		take_row(parts, SPI_tuptable->vals[0], SPI_tuptable->tupdesc);
		SPI_freetuptable(SPI_tuptable);
	}
}

/*
 * Plan the query, check rights, and if it is to run, fetch what it gives.  Planning
 * and running are apart so that the path can change between them.
 */
static void
run_query(Parts *parts, const char *query, const char *path, bool run,
		  FunctionCallInfo fcinfo)
{
	Oid			types[2] = {get_fn_expr_argtype(fcinfo->flinfo, 1), TEXTARRAYOID};
	Datum		values[2] = {PG_GETARG_DATUM(1), PG_ARGISNULL(2) ? (Datum) 0 : PG_GETARG_DATUM(2)};
	char		nulls[2] = {' ', PG_ARGISNULL(2) ? 'n' : ' '};
	int			level = NewGUCNestLevel();
	SPIPlanPtr	plan;
	Portal		portal;

	set_quiet();
	race_set_plain();
	race_set_path("pg_catalog, pg_temp");
	SPI_connect();
	plan = SPI_prepare(query, 2, types);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
	portal = SPI_cursor_open(NULL, plan, values, nulls, false);
	if (portal->tupDesc == NULL || portal->tupDesc->natts != 2 ||
		SPI_gettypeid(portal->tupDesc, 1) != TEXTOID ||
		SPI_gettypeid(portal->tupDesc, 2) != parts->type)
		elog(ERROR, "the query of a release must give labels and sketches");
	race_set_path(path);
	if (run)
		fetch_all(parts, portal);
	SPI_cursor_close(portal);
	SPI_finish();
	AtEOXact_GUC(true, level);
}

/* What no record was found for is an empty sketch, to get noise like any other. */
static void
fill_parts(Parts *parts, const RaceParams *params)
{
	RaceSketch *empty = race_sketch_create(params, params->rows, 1, CurrentMemoryContext);
	int			i;

	for (i = 0; i < parts->n; i++)
		if (!parts->found[i])
			parts->sketches[i] = RaceSketchGetDatum(empty);
}

/*
 * race_read_sketches(query, params, labels, path, run): exact sketches in the order
 * of the labels, or one if there are none.  The query gives (label, sketch), with
 * params and labels as its parameters.  If not `run`, it is checked only, and
 * the result is NULL.
 */
Datum
race_read_sketches(PG_FUNCTION_ARGS)
{
	Parts		parts;
	bool		run;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(3) || PG_ARGISNULL(4))
		PG_RETURN_NULL();
	run = PG_GETARG_BOOL(4);
	read_parts(&parts, fcinfo);
	run_query(&parts, text_to_cstring(PG_GETARG_TEXT_PP(0)),
			  text_to_cstring(PG_GETARG_TEXT_PP(3)), run, fcinfo);
	if (!run)
		PG_RETURN_NULL();
	fill_parts(&parts, race_params_arg(PG_GETARG_DATUM(1)));
	PG_RETURN_ARRAYTYPE_P(construct_array(parts.sketches, parts.n, parts.type,
										  -1, false, TYPALIGN_DOUBLE));
}
