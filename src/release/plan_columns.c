/*
 * plan_columns.c
 *		race_plan: what a release by columns would measure, and with which error; reads no data
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

#include "choice/choose_categories.h"
#include "choice/choose_tables.h"
#include "hash/contingency.h"
#include "privacy/noise.h"
#include "privacy/release_request.h"
#include "privacy/signs.h"
#include "hash/params.h"
#include "hash/quantiles.h"
#include "sketch/domain.h"
#include "release/columns_measured.h"
#include "release/dataset.h"
#include "release/ledger.h"
#include "release/release_plan.h"
#include "release/decide.h"
#include "sketch/params_type.h"
#include "sketch/result.h"
#include "sketch/text.h"
#include "choice/select_search.h"
#include "choice/select_signs.h"
#include "choice/select_tables.h"
#include "release/request.h"

PG_FUNCTION_INFO_V1(race_plan);

/* The arguments of race_plan() */
enum
{
	PLAN_DATASET,
	PLAN_COLUMNS,
	PLAN_EPSILON,
	PLAN_DELTA,
	PLAN_ERROR,
	PLAN_RECORDS,
	PLAN_MEASURE,
	PLAN_LABEL,
	PLAN_WORKLOAD,
	PLAN_WEIGHT_MAX,
	PLAN_MAX_CONTRIBUTIONS
};

#define CONFIDENCE 0.95
/* A pair of columns is taken to be so far from independent, as a part of all records. */
#define DEPENDENCE 0.3
#define MOST_EPSILON 1e6
/* What reading a column, and counting a set of three, takes for each record, in seconds */
#define COLUMN_SECONDS 1e-6
#define SET_SECONDS 2.5e-9
#define LEAST_EPSILON 1e-6

typedef struct Line
{
	char *question;
	double expected;
	const char *unit;
} Line;

typedef struct ColumnsPlan
{
	RaceCounted counted;
	RaceContingency tables;
	RaceRequest request;
	RaceChoiceRequest choice_request; /* request of columns whose categories are chosen */
	RaceChoicePlan choice;
	double records;
	double total_variance; /* variance of the number of all records */
	RaceSelect select;
	RaceSearch search;
	RaceSelectArrays arrays;
	int64 *counts; /* [groups of all columns], before any are joined */
	int64 scores[RACE_SELECT_SCORES];
	RaceCandidate candidates[RACE_SELECT_SCORES + 1];
	uint64 count_noise;
	double variance[RACE_GRAPH_COLUMNS]; /* variance of a cell's records, of each column */
	double ends[RACE_GRAPH_COLUMNS];     /* variance of each end, of each column, or 0 */
	/* variance of a cell that is no category that was measured when it was chosen */
	double others[RACE_GRAPH_COLUMNS];
	List *lines;
	RaceResultRow row;
} ColumnsPlan;

/* ------------------------------------------------------------- a simulation */

/* Return a share of the records, as counters have it. */
static int64
counts_of(const ColumnsPlan *plan, double part)
{
	return (int64) (plan->records * part * (double) plan->tables.unit);
}

/* Return the variance of a cell's number of records. */
static double
variance_of(const ColumnsPlan *plan, uint64 noise)
{
	return race_contingency_variance(&plan->tables, race_select_variance(&plan->select, noise));
}

/*
 * Choose tables as a release would whose values are all as frequent, and whose columns depend on
 * each other.  Return false if noise would be too large.
 */
static bool
simulate_release(ColumnsPlan *plan, double epsilon)
{
	RaceSelect *select = &plan->select;
	int64 *counts = plan->counts;
	RacePrice again[RACE_GRAPH_COLUMNS];
	double price;

	plan->request.epsilon = epsilon;
	if (plan->counted.chosen > 0)
	{
		plan->choice_request.epsilon = epsilon;
		if (!race_choice_plan(&plan->choice_request, &plan->choice))
			return false;
		plan->request.epsilon = plan->choice.rest_epsilon;
		plan->request.delta = plan->choice.rest_delta;
		plan->request.chosen_squared = plan->choice.joint_squared;
		plan->request.chosen_variance = plan->choice.joint_variance;
	}
	plan->count_noise =
		race_tables_begin(&plan->request, &plan->tables, plan->tables.unit, &plan->arrays, select);
	if (plan->count_noise == 0 || !race_select_one_ways(select, (int64) plan->records))
		return false;
	for (uint32 i = 0; i < select->columns; i++)
	{
		plan->variance[i] = variance_of(plan, select->one_way[i].noise);
		plan->ends[i] = variance_of(plan, select->ends[i].noise);
		for (uint32 k = 0; k < select->finest[i]; k++)
			*counts++ = counts_of(plan, 1.0 / select->finest[i]);
	}
	(void) race_select_search(select, plan->counts, &plan->search);
	if (!race_select_suppose_signs(select, plan->counts, plan->scores))
	{
		race_select_join(select, plan->counts);
		race_select_all(select);
		/* bound: ROUNDS of select_tables.c */
		while (select->columns > 1 && (price = race_select_round(select)) > 0)
			race_select_suppose(select, price, plan->scores, plan->candidates);
	}
	if (race_select_rest(select, again))
		for (uint32 i = 0; i < select->columns; i++)
		{
			double second = variance_of(plan, again[i].noise);
			double of_ends = variance_of(plan, select->ends[i].noise);

			plan->variance[i] = plan->variance[i] * second / (plan->variance[i] + second);
			plan->ends[i] = plan->ends[i] == 0 || of_ends == 0 ?
				plan->ends[i] + of_ends :
				plan->ends[i] * of_ends / (plan->ends[i] + of_ends);
		}
	memcpy(plan->others, plan->variance, sizeof(plan->others));
	for (uint32 i = 0; i < select->columns; i++)
		if (plan->counted.domains[i].chosen && plan->choice_request.summed > 0)
			plan->variance[i] = 1 /
				(1 / plan->variance[i] +
				 1 /
					 (race_threshold_variance(&plan->choice.threshold) *
					  (double) plan->choice_request.summed));
	return true;
}

/* Return how far a sum of noise with this variance is from 0, at most, with the confidence. */
static double
reach_of_noise(const ColumnsPlan *plan, double variance)
{
	return sqrt(variance) *
		(plan->select.pure ? -log1p(-CONFIDENCE) / sqrt(2) :
							 race_inverse_normal((1 + CONFIDENCE) / 2));
}

/*
 * Return the largest error of the count of a value of a column; infinite if noise would be too
 * large.
 */
static double
error_of_value(ColumnsPlan *plan, double epsilon)
{
	double most = 0;

	if (!simulate_release(plan, epsilon))
		return INFINITY;
	for (int i = 0; i < plan->counted.columns; i++)
		most = Max(most, reach_of_noise(plan, plan->variance[i]));
	return most;
}

/* Return the least epsilon that has at most this error. */
static double
find_epsilon(ColumnsPlan *plan, double error)
{
	double low = log(LEAST_EPSILON);
	double high = log(MOST_EPSILON);

	/* bound: half of the interval is left each time */
	while (high - low > 1e-3)
	{
		double middle = (low + high) / 2;

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
	Line *line = palloc(sizeof(Line));

	line->question = question;
	line->expected = expected;
	line->unit = unit;
	plan->lines = lappend(plan->lines, line);
}

/* Return the table of a column that would be measured. */
static RaceTable
table_of_column(const ColumnsPlan *plan, int i)
{
	const RaceDomain *domain = &plan->counted.domains[i];
	uint32 block = plan->select.block[i];

	return (RaceTable){.variance = plan->variance[i] / block,
					   .cells = RaceDomainCells(domain),
					   .ordinary = domain->n,
					   .block = block,
					   .single = 1,
					   .ends = plan->ends[i]};
}

/*
 * Return the error of the sum of a column's numbers, which are all as frequent, without a constant
 * that each is less; for each record, times a factor.
 */
static double
error_of_sum(const ColumnsPlan *plan, int i, double constant, double factor)
{
	const RaceDomain *domain = &plan->counted.domains[i];
	RaceTable table = table_of_column(plan, i);
	RaceSumsNoise noise = {0};
	RaceNumberCells cells;
	double half = Max(race_step_length(&domain->step) - domain->finest, 0) / 2;
	double reach;
	int exponent;

	race_domain_cells(domain, &cells);
	/* squares of the largest numbers are none */
	(void) frexp(Max(fabs(domain->lower), fabs(domain->upper)), &exponent);
	for (uint32 k = 0; k < domain->n; k++)
	{
		double low = Max(race_cell_edge(&cells, k), domain->lower);
		double high = Min(race_cell_edge(&cells, k + 1), race_domain_end(domain));
		double value =
			ldexp(low, -exponent) / 2 + ldexp(high, -exponent) / 2 - ldexp(constant, -exponent);

		race_contingency_add_noise(&table, k, value, value, &noise);
	}
	reach =
		reach_of_noise(plan, Max(race_contingency_noise(&table, &noise, plan->total_variance), 0));
	return ldexp(reach / plan->records + ldexp(half, -exponent), exponent) * factor;
}

/* Add the errors of a column: a value's count, the mean, the sum, the median. */
static void
add_column(ColumnsPlan *plan, int i)
{
	const RaceDomain *domain = &plan->counted.domains[i];
	double deviation = reach_of_noise(plan, plan->variance[i]);

	add_line(plan, psprintf("count of one value of \"%s\"", domain->name), deviation, "records");
	if (domain->category)
		return;
	add_line(
		plan, psprintf("mean of \"%s\"", domain->name),
		error_of_sum(plan, i, domain->lower + (race_domain_end(domain) - domain->lower) / 2, 1),
		"its unit");
	if (race_domain_has_sum(domain))
		add_line(plan, psprintf("sum of \"%s\"", domain->name),
				 error_of_sum(plan, i, 0, plan->records), "its unit");
	add_line(plan, psprintf("median of \"%s\"", domain->name),
			 deviation * sqrt(domain->n) / 2 / plan->records * (domain->upper - domain->lower) +
				 race_step_length(&domain->step),
			 "its unit");
}

/* Add the error of a cell of a table of several columns. */
static void
add_table(ColumnsPlan *plan, const RaceSelectTable *table)
{
	const RaceDomain *domains = plan->counted.domains;

	add_line(plan,
			 table->third == table->second ?
				 psprintf("count of one cell of \"%s\" and \"%s\"", domains[table->first].name,
						  domains[table->second].name) :
				 psprintf("count of one cell of \"%s\", \"%s\" and \"%s\"",
						  domains[table->first].name, domains[table->second].name,
						  domains[table->third].name),
			 reach_of_noise(plan, variance_of(plan, table->price.noise)), "records");
}

/* Return the variance of the number of records in the table of a column. */
static double
table_variance_of_column(const ColumnsPlan *plan, int i)
{
	RaceTable table = table_of_column(plan, i);

	return race_contingency_table_variance(&table);
}

static void
add_lines(ColumnsPlan *plan, double epsilon)
{
	const RaceSelect *select = &plan->select;
	const RaceCounted *counted = &plan->counted;
	double precision = 1 / race_select_variance(select, plan->count_noise);
	int triples = 0;

	/*
	 * as the plan of choices has it, of a column whose categories are chosen there are so many, and
	 * two more cells
	 */
	for (int i = 0; i < counted->columns; i++)
		precision += 1 /
			(counted->domains[i].chosen && plan->choice_request.summed > 0 ?
				 plan->variance[i] * RACE_CATEGORIES_READ +
					 plan->others[i] * (RACE_OTHERS_READ - 1) :
				 table_variance_of_column(plan, i));
	plan->total_variance = 1 / precision;
	add_line(plan, "epsilon", epsilon, "the whole release");
	if (counted->chosen > 0)
		add_line(plan, "persons of a category that is chosen as often as not",
				 (double) plan->choice.threshold.least, "persons");
	add_line(plan, "count of all records", reach_of_noise(plan, plan->total_variance), "records");
	for (int i = 0; i < counted->columns; i++)
		add_column(plan, i);
	for (int i = 0; i < counted->columns && counted->n > counted->columns; i++)
	{
		/* if the means are in the middle of the range: the errors of the parts of a cell */
		const RaceDomain *measure = &counted->domains[counted->columns];
		double deviation = reach_of_noise(plan, plan->variance[i] / plan->tables.parts / 2);

		add_line(plan,
				 psprintf("mean of \"%s\" for one value of \"%s\"", measure->name,
						  counted->domains[i].name),
				 deviation * select->cells[i] / plan->records * (measure->upper - measure->lower),
				 "its unit");
	}
	for (uint32 k = 0; k < select->measured; k++)
	{
		add_table(plan, &select->table[k]);
		triples += select->table[k].third != select->table[k].second;
	}
	if (select->n_signs > 0)
		add_line(plan, "pairs of columns whose signs are measured",
				 (double) race_signs_pairs(select->n_signs), "pairs, for correlations");
	add_line(plan, "tables of two columns", (int) select->measured - triples,
			 "tables, if all depend on each other");
	if (counted->searched > 0)
		add_line(
			plan, "sets of three columns that are looked at",
			plan->search.price > 0 ? plan->search.sets : 0,
			psprintf("sets, of which up to %d that depend on each other are measured", RACE_FOUND));
	if (counted->workload_triples > 0)
		add_line(plan, "tables of three columns", triples, "tables, if all depend on each other");
	add_line(plan, "counters", counted->counters, "counters while data are read");
	add_line(plan, "memory", counted->megabytes, "MB, at most");
	add_line(plan, "time to read the data",
			 plan->records * (counted->n * COLUMN_SECONDS + counted->searched * SET_SECONDS),
			 "seconds, about");
}

/* ---------------------------------------------------------------- arguments */

/* Set what the plan of choices depends on, which public facts say. */
static void
plan_choices(const RaceDataset *dataset, ColumnsPlan *plan, bool of_records)
{
	RaceChoiceRequest *request = &plan->choice_request;
	List *columns = NIL;

	for (int i = 0; i < plan->counted.columns; i++)
		if (plan->counted.domains[i].chosen)
			columns = lappend(columns, pstrdup(quote_identifier(plan->counted.domains[i].name)));
	request->delta = plan->request.delta;
	request->choices = plan->counted.chosen;
	request->columns = plan->counted.n;
	request->records = dataset->max_contributions;
	request->substitute = plan->request.neighbors == RACE_NEIGHBORS_SUBSTITUTE;
	request->numbers *= request->substitute ? 2 : 1;
	if (of_records)
		request->summed = race_choice_measures(dataset, columns, plan->counted.n == 1);
	request->tables = true;
}

/*
 * Read what a release of a dataset would count, if the caller may read its relation, and begin to
 * plan it.
 */
static void
read_dataset(FunctionCallInfo fcinfo, double epsilon, ColumnsPlan *plan)
{
	char *name = text_to_cstring(PG_GETARG_TEXT_PP(PLAN_DATASET));
	char *label = PG_ARGISNULL(PLAN_LABEL) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(PLAN_LABEL));
	char *measure =
		PG_ARGISNULL(PLAN_MEASURE) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(PLAN_MEASURE));
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext old;
	RaceLedger ledger;
	RaceDataset *dataset;
	RaceColumnsMeasured measured;
	const RaceParams *params;

	race_act_begin(&ledger, fcinfo, false);
	dataset = race_dataset_look_up(&ledger, name);
	race_check_may_read(dataset->relation, GetUserId());
	if (!PG_ARGISNULL(PLAN_MAX_CONTRIBUTIONS))
		race_dataset_bound(dataset, PG_GETARG_INT32(PLAN_MAX_CONTRIBUTIONS));
	plan->choice_request.numbers = dataset->max_contributions;
	if (!PG_ARGISNULL(PLAN_WEIGHT_MAX))
		dataset->max_contributions = (int) Min(
			(int64) dataset->max_contributions * PG_GETARG_INT32(PLAN_WEIGHT_MAX), INT32_MAX);
	plan->request.max_contributions = dataset->max_contributions;
	plan->request.neighbors =
		strcmp(dataset->neighbors, race_neighbors_name(RACE_NEIGHBORS_SUBSTITUTE)) == 0 ?
		RACE_NEIGHBORS_SUBSTITUTE :
		RACE_NEIGHBORS_ADD_REMOVE;
	old = MemoryContextSwitchTo(caller);
	race_columns_measure(&ledger, dataset, PG_GETARG_DATUM(PLAN_COLUMNS), measure,
						 plan->request.delta > 0, &measured);
	race_columns_count(measured.domains, measured.n, label,
					   PG_ARGISNULL(PLAN_WORKLOAD) ? (Datum) 0 : PG_GETARG_DATUM(PLAN_WORKLOAD),
					   true, &plan->counted);
	params = race_params_arg(race_ledger_params(&ledger, plan->counted.params));
	race_contingency_of(params, &plan->tables);
	MemoryContextSwitchTo(old);
	if (plan->counted.chosen > 0)
		plan_choices(dataset, plan, PG_ARGISNULL(PLAN_MEASURE) && PG_ARGISNULL(PLAN_WEIGHT_MAX));
	else if (race_pure_is_better(dataset, epsilon > 0 ? epsilon : 1, plan->request.delta, 0, params,
								 params))
		plan->request.delta = 0;
	SPI_finish();
}

/* Make room for what is simulated. */
static void
prepare_simulation(ColumnsPlan *plan)
{
	Size groups = 0;

	for (uint32 i = 0; i < plan->tables.columns; i++)
	{
		uint32 finest = race_contingency_finest(&plan->tables, i);

		plan->select.group_of[i] = palloc(finest * sizeof(uint32));
		groups += finest;
	}
	plan->counts = palloc(groups * sizeof(int64));
	/*
	 * of pairs, and of tables that are asked for: others of three columns are taken to follow from
	 * their pairs
	 */
	for (int i = 0; i < plan->counted.pairs + plan->counted.workload_triples; i++)
		plan->scores[i] = counts_of(plan, DEPENDENCE);
}

static void
start_plan(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	/* sets of columns are aligned to more than what palloc aligns to */
	ColumnsPlan *plan = (ColumnsPlan *) TYPEALIGN(
		sizeof(RaceColumnSet), palloc0(sizeof(ColumnsPlan) + sizeof(RaceColumnSet)));
	double epsilon = PG_ARGISNULL(PLAN_EPSILON) ? 0 : PG_GETARG_FLOAT8(PLAN_EPSILON);
	double error = PG_ARGISNULL(PLAN_ERROR) ? 0 : PG_GETARG_FLOAT8(PLAN_ERROR);

	if (PG_ARGISNULL(PLAN_DATASET) || PG_ARGISNULL(PLAN_COLUMNS) || PG_ARGISNULL(PLAN_DELTA) ||
		PG_ARGISNULL(PLAN_RECORDS))
		return;
	if (PG_ARGISNULL(PLAN_EPSILON) == PG_ARGISNULL(PLAN_ERROR))
		race_refuse_arguments(
			"race_plan needs epsilon, or the error that is wanted",
			"Write epsilon => 1, or error => 20: of the count of one value, with 95 % confidence.");
	if (!PG_ARGISNULL(PLAN_EPSILON) &&
		!(epsilon >= LEAST_EPSILON && epsilon <= MOST_EPSILON * 1000))
		race_refuse_arguments("epsilon must be a number above 0",
							  "1 is usual: less is more private.");
	if (!PG_ARGISNULL(PLAN_ERROR) && !(error > 0 && isfinite(error)))
		race_refuse_arguments("error must be a number above 0",
							  "It is the error of the count of one value, in records.");
	if (!PG_ARGISNULL(PLAN_WEIGHT_MAX) && PG_GETARG_INT32(PLAN_WEIGHT_MAX) < 1)
		race_refuse_arguments("weight_max must be at least 1",
							  "Multiply weights that are all smaller by a public number.");
	plan->request.delta = PG_GETARG_FLOAT8(PLAN_DELTA);
	if (!(plan->request.delta >= 0 && plan->request.delta < 1))
		race_refuse_arguments("delta must be a number from 0 to below 1", "1e-9 is usual, or 0.");
	plan->records = (double) PG_GETARG_INT64(PLAN_RECORDS);
	if (!(plan->records >= 1 && plan->records <= 1e12))
		race_refuse_arguments("records must be a number from 1 to 1e12",
							  "It is a guess, which is not looked up.");
	race_row_start(&plan->row, fcinfo);
	read_dataset(fcinfo, epsilon, plan);
	prepare_simulation(plan);
	if (epsilon == 0)
		epsilon = find_epsilon(plan, error);
	if (!simulate_release(plan, epsilon))
		race_refuse_arguments("the noise would be too large for a counter",
							  "Plan with a larger epsilon.");
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
	/* a sum of the largest numbers may have no finite error */
	race_row_add_if(&plan->row, isfinite(line->expected), Float8GetDatum(line->expected));
	race_row_add_text(&plan->row, line->unit);
	return race_row_datum(&plan->row);
}

/*
 * Return the errors of a release: race_plan(dataset, columns, epsilon, delta, error, records,
 * measure, label, workload, weight_max, max_contributions).
 */
Datum
race_plan(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_plan, next_line);
}
