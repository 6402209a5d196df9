/*
 * value_columns.c
 *		The columns of a value: their names, types and domains
 */
#include "postgres.h"

#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/memutils.h"

#include "hash/contingency.h"
#include "hash/kind.h"
#include "hash/params.h"
#include "sketch/value_columns.h"
#include "sketch/domain.h"
#include "sketch/sketch.h"
#include "sketch/sketch_format.h"
#include "sketch/text.h"

PG_FUNCTION_INFO_V1(race_domains);

/* Return the text as jsonb. */
static Datum
parse_text(const char *text, Size size)
{
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(pnstrdup(text, size)));
}

/*
 * Return whether these are the columns that are counted: those of tables with their cells, in their
 * order, and of other values numbers of a vector.
 */
static bool
fit_params(const RaceDomain *domains, int n, const RaceParams *params)
{
	uint64 numbers = 0;
	RaceContingency tables;

	if (params->kind != RACE_KIND_TABLES)
	{
		for (int i = 0; i < n; i++)
		{
			if (!domains[i].vector || domains[i].measure)
				return false;
			numbers += RaceDomainNumbers(&domains[i]);
		}
		return numbers == params->dims && race_params_next(params, params) == NULL;
	}
	race_contingency_of(params, &tables);
	if ((uint32) n != tables.dims)
		return false;
	for (uint32 i = 0; i < tables.dims; i++)
		if (RaceDomainCells(&domains[i]) != (uint64) tables.cells[i] || domains[i].vector ||
			domains[i].measure != (i >= tables.columns))
			return false;
	return true;
}

/* Return what is wrong with columns that are the text of a JSON array of domains. */
static const char *
domains_problem(const char *text, Size size, const RaceParams *params)
{
	StringInfoData again;
	int n;
	RaceDomain *domains = race_domains_read(DatumGetJsonbP(parse_text(text, size)), &n, false);

	initStringInfo(&again);
	race_domains_write(&again, domains, n);
	if ((Size) again.len != size || memcmp(again.data, text, size) != 0)
		return "The columns are not written as a release writes them.";
	return fit_params(domains, n, params) ? NULL : "The columns are not those of the counters.";
}

/*
 * Reading JSON and domains raises errors.  It allocates memory and nothing else, so that those of
 * what is read can be caught here.
 */
const char *
race_columns_problem(const char *text, Size size, const RaceParams *params)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext context;
	const char *volatile problem = NULL;

	if (memchr(text, 0, size) != NULL || !pg_verifymbstr(text, size, true))
		return "The text of the columns is not valid in the encoding of the database.";
	context = AllocSetContextCreate(caller, "columns of a value", ALLOCSET_DEFAULT_SIZES);
	PG_TRY();
	{
		MemoryContextSwitchTo(context);
		problem = domains_problem(text, size, params);
	}
	PG_CATCH();
	{
		if (ERRCODE_TO_CATEGORY(geterrcode()) != ERRCODE_DATA_EXCEPTION)
			PG_RE_THROW();
		FlushErrorState();
		problem = "The columns are not domains.";
	}
	PG_END_TRY();
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
	return problem;
}

RaceDomain *
race_columns_read(const RaceView *view, int *n)
{
	*n = 0;
	return view->columns_size == 0 ?
		NULL :
		race_domains_read(DatumGetJsonbP(parse_text(view->columns, view->columns_size)), n, false);
}

/* Return the names of columns, as a sentence has them. */
static char *
list_names(const RaceDomain *domains, int n)
{
	StringInfoData names;

	initStringInfo(&names);
	for (int i = 0; i < n; i++)
		appendStringInfo(&names, "%s%s", i == 0 ? "" : ", ", race_cut(domains[i].name));
	return n == 0 ? pstrdup("no columns") : names.data;
}

/* Return how the columns of two values differ. */
static char *
describe_difference(const RaceView *a, const RaceView *b)
{
	int n;
	int m;
	const RaceDomain *x = race_columns_read(a, &n);
	const RaceDomain *y = race_columns_read(b, &m);

	for (int i = 0; i < n && n == m; i++)
	{
		StringInfoData one;
		StringInfoData other;

		initStringInfo(&one);
		initStringInfo(&other);
		race_domain_write(&one, &x[i]);
		race_domain_write(&other, &y[i]);
		if (strcmp(x[i].name, y[i].name) == 0 && strcmp(one.data, other.data) != 0)
			return psprintf("Column \"%s\" does not have the same type and values in both.",
							race_cut(x[i].name));
	}
	return psprintf("One side has %s, the other %s.", list_names(x, n), list_names(y, m));
}

void
race_columns_check_same(const RaceView *a, const RaceView *b)
{
	if (a->columns_size != b->columns_size ||
		(a->columns_size > 0 && memcmp(a->columns, b->columns, a->columns_size) != 0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("values with different columns cannot be combined"),
				 errdetail("%s", describe_difference(a, b))));
}

Datum
race_columns_set(Datum value, Datum domains)
{
	StringInfoData text;
	RaceView view;
	int n;
	RaceDomain *read = race_domains_read(DatumGetJsonbP(domains), &n, false);

	initStringInfo(&text);
	race_domains_write(&text, read, n);
	if ((Size) text.len > RACE_MAX_COLUMNS_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the columns of a release take more than %d MB",
						(int) (RACE_MAX_COLUMNS_BYTES / (1024 * 1024)))));
	race_sketch_view_any(value, &view);
	if (!fit_params(read, n, view.params))
		elog(ERROR, "the columns of a release are not those of its counters");
	view.columns = text.data;
	view.columns_size = text.len;
	return PointerGetDatum(race_flat_create(&view, view.model, view.model_size));
}

/* Return the domains of the columns of a value, or NULL: race_domains(race_sketch). */
Datum
race_domains(PG_FUNCTION_ARGS)
{
	RaceView view;

	race_sketch_view_columns(PG_GETARG_DATUM(0), &view);
	if (view.columns_size == 0)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(parse_text(view.columns, view.columns_size));
}
