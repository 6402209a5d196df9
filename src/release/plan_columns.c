/*
 * plan_columns.c
 *		What a release by columns would measure, and with which error: reads no data
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"

#include "../core/core.h"
#include "ledger.h"
#include "request.h"

PG_FUNCTION_INFO_V1(race_plan);

/* The arguments of race_plan() */
enum
{
	PLAN_DATASET, PLAN_COLUMNS, PLAN_EPSILON, PLAN_DELTA, PLAN_ERROR, PLAN_RECORDS
};

#define CONFIDENCE		0.95
#define DEPENDENCE		0.3		/* a pair of columns is taken to be so far from independent, as a part of all records */
#define MOST_EPSILON	1e6
#define LEAST_EPSILON	1e-6
#define BYTES_A_COUNTER 8

typedef struct Line
{
	char	   *question;
	double		expected;
	const char *unit;
} Line;

typedef struct ColumnsPlan
{
	RaceDomain *domains;
	int			columns;
	double		delta;
	double		records;
	int			max_contributions;
	bool		substitute;
	RaceSelect	select;
	uint64		count_noise;
	double		variance[RACE_GRAPH_COLUMNS];	/* of a counter of each column */
	List	   *lines;
	RaceResultRow row;
} ColumnsPlan;

/* ------------------------------------------------------------- a simulation */

/* The arrays of a selection, which begins */
static void
begin_select(ColumnsPlan *plan, double epsilon)
{
	RaceSelect *select = &plan->select;
	uint32	   *cells = palloc(plan->columns * sizeof(uint32));
	uint32	   *finest = palloc(plan->columns * sizeof(uint32));
	uint32	   *ordered = palloc(plan->columns * sizeof(uint32));
	double	   *weights = palloc(plan->columns * sizeof(double));
	RaceRequest request = {.epsilon = epsilon, .delta = plan->delta};

	memset(select, 0, sizeof(RaceSelect));
	for (int i = 0; i < plan->columns; i++)
	{
		const RaceDomain *domain = &plan->domains[i];

		cells[i] = RaceDomainCells(domain);
		finest[i] = RaceDomainGroups(domain);
		ordered[i] = domain->group > 1 ? finest[i] - RaceDomainSingle(domain) : 0;
		weights[i] = 1;
		select->group_of[i] = palloc(finest[i] * sizeof(uint32));
	}
	select->columns = plan->columns;
	select->cells = cells;
	select->finest = finest;
	select->ordered = ordered;
	select->weights = weights;
	select->parts = 1;
	select->unit = 1;
	select->pure = plan->delta == 0;
	select->budget = race_measure_budget(&request);
	select->max_contributions = plan->max_contributions;
	select->substitute = plan->substitute;
}

/*
 * Choose tables as a release would whose values are all as frequent, and whose columns depend on each other. False if
 * noise would be too large
 */
static bool
simulate(ColumnsPlan *plan, double epsilon)
{
	RaceSelect *select = &plan->select;
	int64	   *counts;
	int64	   *scores = palloc(plan->columns * plan->columns * sizeof(int64));
	uint64		again[RACE_GRAPH_COLUMNS];
	Size		n = 0;
	int			i;

	begin_select(plan, epsilon);
	plan->count_noise = race_select_count(select);
	if (plan->count_noise == 0 || !race_select_one_ways(select, (int64) plan->records))
		return false;
	for (i = 0; i < plan->columns; i++)
	{
		plan->variance[i] = race_select_variance(select, select->one_way[i]);
		n += select->finest[i];
	}
	counts = palloc(n * sizeof(int64));
	for (i = 0, n = 0; i < plan->columns; i++)
		for (uint32 k = 0; k < select->finest[i]; k++)
			counts[n++] = (int64) (plan->records / select->finest[i]);
	race_select_join(select, counts);
	for (i = 0; i < plan->columns * plan->columns; i++)
		scores[i] = (int64) (DEPENDENCE * plan->records);
	race_select_all(select);
	while (plan->columns > 1 && race_select_scores(select) > 0)
		race_select_choose(select, scores);
	if (race_select_rest(select, again))
		for (i = 0; i < plan->columns; i++)
		{
			double		second = race_select_variance(select, again[i]);

			plan->variance[i] = plan->variance[i] * second / (plan->variance[i] + second);
		}
	return true;
}

/* How far a sum of noise with this variance is from 0, at most, with the confidence */
static double
reach(const ColumnsPlan *plan, double variance)
{
	return sqrt(variance) * (plan->select.pure ? -log1p(-CONFIDENCE) / sqrt(2) : race_inverse_normal((1 + CONFIDENCE) / 2));
}

/* The largest error of the count of a value of a column; infinite if noise would be too large */
static double
error_of_value(ColumnsPlan *plan, double epsilon)
{
	double		most = 0;

	if (!simulate(plan, epsilon))
		return INFINITY;
	for (int i = 0; i < plan->columns; i++)
		most = Max(most, reach(plan, plan->variance[i]));
	return most;
}

/* The least epsilon that has at most this error */
static double
find_epsilon(ColumnsPlan *plan, double error)
{
	double		low = log(LEAST_EPSILON);
	double		high = log(MOST_EPSILON);

	while (high - low > 1e-3)
	{
		double		middle = (low + high) / 2;

		CHECK_FOR_INTERRUPTS();
		if (error_of_value(plan, exp(middle)) > error)
			low = middle;
		else
			high = middle;
	}
	return exp(high);
}

/* -------------------------------------------------------------------- lines */

static void
add_line(ColumnsPlan *plan, char *question, double expected, const char *unit)
{
	Line	   *line = palloc(sizeof(Line));

	line->question = question;
	line->expected = expected;
	line->unit = unit;
	plan->lines = lappend(plan->lines, line);
}

/* Errors of a column: a value's count, the mean, the median */
static void
add_column(ColumnsPlan *plan, int i)
{
	const RaceDomain *domain = &plan->domains[i];
	double		deviation = reach(plan, plan->variance[i]);
	double		half = domain->category ? 0 : (domain->width - domain->whole) / 2;
	/* values that are all as frequent have this standard deviation */
	double		spread = (domain->upper - domain->lower) / sqrt(12);

	add_line(plan, psprintf("count of one value of \"%s\"", domain->name), deviation, "records");
	if (domain->category)
		return;
	add_line(plan, psprintf("mean of \"%s\"", domain->name),
			 deviation * sqrt(domain->n) * spread / plan->records + Max(half, 0), "its unit");
	add_line(plan, psprintf("median of \"%s\"", domain->name),
			 deviation * sqrt(domain->n) / 2 / plan->records * (domain->upper - domain->lower) + domain->width, "its unit");
}

static void
add_lines(ColumnsPlan *plan, double epsilon)
{
	RaceSelect *select = &plan->select;
	double		precision = 1 / race_select_variance(select, plan->count_noise);
	double		counters = 0;

	for (int i = 0; i < plan->columns; i++)
		precision += 1 / (plan->variance[i] * select->cells[i]);
	add_line(plan, "epsilon", epsilon, "the whole release");
	add_line(plan, "count of all records", reach(plan, 1 / precision), "records");
	for (int i = 0; i < plan->columns; i++)
	{
		add_column(plan, i);
		counters += select->cells[i];
	}
	for (uint32 k = 0; k < select->measured; k++)
	{
		const RaceSelectTable *pair = &select->table[k];

		add_line(plan, psprintf("count of one cell of \"%s\" and \"%s\"", plan->domains[pair->first].name,
								plan->domains[pair->second].name),
				 reach(plan, race_select_variance(select, pair->noise)), "records");
		counters += (double) select->groups[pair->first] * select->groups[pair->second];
	}
	add_line(plan, "tables of two columns", select->measured, "tables, if all depend on each other");
	add_line(plan, "counters", counters, "counters");
	counters = 0;
	for (int i = 0; i < plan->columns; i++)
	{
		counters += select->cells[i];
		for (uint32 k = 0; k < (uint32) i; k++)
			counters += (double) select->finest[i] * select->finest[k];
	}
	add_line(plan, "memory while data are read", counters * BYTES_A_COUNTER / (1024 * 1024), "MB");
	add_line(plan, "time to read the data", plan->records * plan->columns / 1e6, "seconds, about");
}

/* ---------------------------------------------------------------- arguments */

static void
refuse_plan(const char *message, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s", message), errhint("%s", hint)));
}

/* Read the domains of the columns of a dataset whose relation the caller may read. */
static void
read_dataset(FunctionCallInfo fcinfo, ColumnsPlan *plan)
{
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(PLAN_DATASET));
	RaceParameter parameters[] = {RaceText(name), RaceTexts(PG_GETARG_DATUM(PLAN_COLUMNS))};
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext old;
	RaceLedger	ledger;
	RaceDataset *dataset;
	bool		isnull;

	race_act_begin(&ledger, fcinfo, false);
	dataset = race_ledger_dataset(&ledger, name);
	race_request_check_rights(dataset->relation);
	plan->max_contributions = dataset->max_contributions;
	plan->substitute = strcmp(dataset->neighbors, race_neighbors_name(RACE_NEIGHBORS_SUBSTITUTE)) == 0;
	race_ledger_run(&ledger, "SELECT domains FROM " RACE_SCHEMA "._race_release_domains($1, $2, NULL)",
					lengthof(parameters), parameters);
	old = MemoryContextSwitchTo(caller);
	plan->domains = race_domains_read(DatumGetJsonbP(race_ledger_value(1, &isnull)), &plan->columns);
	MemoryContextSwitchTo(old);
	SPI_finish();
}

static void
start_plan(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	/* sets of columns are aligned to more than what palloc aligns to */
	ColumnsPlan *plan = (ColumnsPlan *) TYPEALIGN(sizeof(RaceColumnSet), palloc0(sizeof(ColumnsPlan) + sizeof(RaceColumnSet)));
	double		epsilon = PG_ARGISNULL(PLAN_EPSILON) ? 0 : PG_GETARG_FLOAT8(PLAN_EPSILON);
	double		error = PG_ARGISNULL(PLAN_ERROR) ? 0 : PG_GETARG_FLOAT8(PLAN_ERROR);

	if (PG_ARGISNULL(PLAN_DATASET) || PG_ARGISNULL(PLAN_COLUMNS) || PG_ARGISNULL(PLAN_DELTA) || PG_ARGISNULL(PLAN_RECORDS))
		return;
	if (PG_ARGISNULL(PLAN_EPSILON) == PG_ARGISNULL(PLAN_ERROR))
		refuse_plan("race_plan needs epsilon, or the error that is wanted",
					"Write epsilon => 1, or error => 20: of the count of one value, with 95 % confidence.");
	if (!PG_ARGISNULL(PLAN_EPSILON) && !(epsilon >= LEAST_EPSILON && epsilon <= MOST_EPSILON * 1000))
		refuse_plan("epsilon must be a number above 0", "1 is usual: less is more private.");
	if (!PG_ARGISNULL(PLAN_ERROR) && !(error > 0 && isfinite(error)))
		refuse_plan("error must be a number above 0", "It is the error of the count of one value, in records.");
	plan->delta = PG_GETARG_FLOAT8(PLAN_DELTA);
	if (!(plan->delta >= 0 && plan->delta < 1))
		refuse_plan("delta must be a number from 0 to below 1", "1e-9 is usual, or 0.");
	plan->records = (double) PG_GETARG_INT64(PLAN_RECORDS);
	if (!(plan->records >= 1 && plan->records <= 1e12))
		refuse_plan("records must be a number from 1 to 1e12", "It is a guess, which is not looked up.");
	race_row_start(&plan->row, fcinfo);
	read_dataset(fcinfo, plan);
	if (epsilon == 0)
		epsilon = find_epsilon(plan, error);
	if (!simulate(plan, epsilon))
		refuse_plan("the noise would be too large for a counter", "Plan with a larger epsilon.");
	add_lines(plan, epsilon);
	call->max_calls = list_length(plan->lines);
	call->user_fctx = plan;
}

static Datum
next_line(void *state, uint64 i)
{
	ColumnsPlan *plan = state;
	const Line *line = list_nth(plan->lines, (int) i);

	race_row_add_text(&plan->row, line->question);
	race_row_add(&plan->row, Float8GetDatum(line->expected));
	race_row_add_text(&plan->row, line->unit);
	return race_row_datum(&plan->row);
}

/* race_plan(dataset, columns, epsilon, delta, error, records) */
Datum
race_plan(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_plan, next_line);
}
