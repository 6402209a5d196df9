/*
 * table_model.c
 *		The graphical model of contingency tables: fitting, storing, caching
 */
#include "postgres.h"

#include <float.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "hash/contingency.h"
#include "privacy/counters.h"
#include "privacy/noise.h"
#include "sketch/sketch.h"
#include "sketch/sketch_format.h"
#include "answers/table_model.h"
#include "choice/choose_tables.h"

/* most steps of a fit: more bring 1 % on Adult (`test/bench/run tables`) */
#define ITERATIONS 100
/* least variance in a fit: less would make it converge slowly, and for nothing */
#define LEAST_VARIANCE 1.0
/* factor of cells: a fit begins where one ended whose cliques have fewer cells by this */
#define FEWER_CELLS 10

/* Sets of columns are aligned to more than what palloc aligns to. */
#define ALIGNMENT sizeof(RaceColumnSet)

static void *
allocate_in_context(void *context, size_t size)
{
	char *chunk =
		MemoryContextAllocExtended(context, size + ALIGNMENT, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);

	return (void *) TYPEALIGN(ALIGNMENT, chunk);
}

/* What a graph is made of, in the current memory context */
typedef struct Description
{
	RaceGraphColumns columns;
	RaceMarginal *marginals; /* [n] */
	uint32 n;
} Description;

static Description *
describe_tables(const RaceContingency *tables, const RaceTable *table, uint32 n)
{
	Description *description = palloc(sizeof(Description));
	uint32 *cells = palloc(tables->columns * sizeof(uint32));
	uint32 *groups = palloc(tables->columns * sizeof(uint32));
	uint32 *ordered = palloc0(tables->columns * sizeof(uint32));
	uint32 **group_of = palloc(tables->columns * sizeof(uint32 *));

	for (uint32 j = 0; j < tables->columns; j++)
	{
		cells[j] = (uint32) tables->cells[j];
		groups[j] = race_contingency_groups(tables, j);
		if (tables->groups[j] > 1)
			ordered[j] = cells[j] - (uint32) tables->groups[tables->dims + j];
		group_of[j] = palloc_extended(cells[j] * sizeof(uint32), MCXT_ALLOC_HUGE);
		for (uint32 i = 0; i < cells[j]; i++)
			group_of[j][i] = race_contingency_group(tables, j, i);
	}
	description->columns.columns = tables->columns;
	description->columns.cells = cells;
	description->columns.groups = groups;
	description->columns.ordered = ordered;
	description->columns.group_of = (const uint32 *const *) group_of;
	description->marginals = palloc0(n * sizeof(RaceMarginal));
	description->n = n;
	for (uint32 i = 0; i < n; i++)
	{
		description->marginals[i].first = table[i].first;
		description->marginals[i].second = table[i].second;
		description->marginals[i].third = table[i].third;
		description->marginals[i].variance = Max(table[i].variance, LEAST_VARIANCE);
		description->marginals[i].block = table[i].block;
		description->marginals[i].ordinary = table[i].ordinary;
		description->marginals[i].single = table[i].single;
	}
	return description;
}

/* Return the number of cells of the cliques of the first n tables. */
static double
cells_of_cliques(const Description *description, uint32 n)
{
	RaceColumnSet neighbors[RACE_GRAPH_COLUMNS] = {0};

	for (uint32 i = 0; i < n; i++)
	{
		const RaceMarginal *marginal = &description->marginals[i];
		const uint32 columns[] = {marginal->first, marginal->second, marginal->third};

		for (int k = 0; k < 3; k++)
			neighbors[columns[k]] |=
				(RACE_COLUMN(columns[0]) | RACE_COLUMN(columns[1]) | RACE_COLUMN(columns[2])) &
				~RACE_COLUMN(columns[k]);
	}
	return race_junction_tree(description->columns.columns, description->columns.groups, neighbors,
							  NULL);
}

/*
 * Fit the first n tables, in the current memory context: fewer of them first, which takes a tenth
 * of the time, since far from the end most of the way is the same.
 */
static RaceGraph *
fit_first(const Description *description, uint32 n, double total)
{
	double cells = cells_of_cliques(description, n);
	uint32 fewer = n;
	RaceGraph *graph = race_graph_create(&description->columns, n, description->marginals,
										 allocate_in_context, CurrentMemoryContext);

	while (fewer > description->columns.columns &&
		   cells_of_cliques(description, fewer) > cells / FEWER_CELLS)
		fewer--;
	if (fewer > description->columns.columns)
	{
		MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "fit of fewer tables",
													  ALLOCSET_DEFAULT_SIZES);
		MemoryContext old = MemoryContextSwitchTo(context);
		Size parameters;
		Size all;
		double *theta = race_graph_theta(fit_first(description, fewer, total), &parameters);

		memcpy(race_graph_theta(graph, &all), theta, parameters * sizeof(double));
		MemoryContextSwitchTo(old);
		MemoryContextDelete(context);
	}
	race_graph_fit(graph, total, ITERATIONS);
	return graph;
}

/* Fit a graph to counters, in the current memory context. */
static RaceGraph *
fit_graph(Description *description, const RaceContingency *tables, const RaceTable *table,
		  RaceCounterArray counters, double total)
{
	for (uint32 i = 0; i < description->n; i++)
	{
		double *counts = palloc_extended(table[i].cells * sizeof(double), MCXT_ALLOC_HUGE);

		race_contingency_records(tables, &table[i], counters, 0, table[i].cells, counts);
		description->marginals[i].counts = counts;
	}
	return fit_first(description, description->n, total);
}

/* List all tables, those without noise of their own with that of the value; *n is their number. */
static RaceTable *
list_tables(const RaceContingency *tables, double variance, uint32 *n)
{
	RaceTable *list = palloc(race_contingency_tables(tables) * sizeof(RaceTable));
	RaceTable next;

	*n = 0;
	race_contingency_first(tables, &next);
	do
	{
		list[*n] = next;
		if (next.variance == 0)
			list[*n].variance = race_contingency_variance(tables, variance);
		(*n)++;
	} while (race_contingency_next(tables, &next));
	return list;
}

/* -------------------------------------------------------------- evaluators */

double
race_table_records(const RaceView *view, const RaceTableModel *model, const RaceTable *table,
				   Size cell)
{
	RaceCounterArray counters = {(void *) view->counters, view->width};
	double records;

	race_contingency_records(&model->tables, table, counters, cell, 1, &records);
	return records +
		(model->records - model->sums[table->number]) *
		race_contingency_cell_variance(table, cell) / race_contingency_table_variance(table);
}

/* Set the sums of tables, and the number of records by the count and the tables of columns. */
static void
estimate_total(RaceTableModel *model, const RaceView *view)
{
	double precision = 1 / Max(view->header->noise.count_variance, DBL_MIN);
	double count = (double) view->header->count;
	double beyond = 0; /* the count, weighed: where all agree, nothing is rounded */
	RaceCounterArray counters = {(void *) view->counters, view->width};

	model->sums = palloc0(model->n * sizeof(double));
	for (uint32 j = 0; j < model->n; j++)
	{
		const RaceTable *table = &model->table[j];
		double weight = 1 / race_contingency_table_variance(table);
		double *records = palloc_extended(table->cells * sizeof(double), MCXT_ALLOC_HUGE);

		race_contingency_records(&model->tables, table, counters, 0, table->cells, records);
		for (Size k = 0; k < table->cells; k++)
			model->sums[j] += records[k];
		pfree(records);
		if (j >= model->tables.columns)
			continue;
		beyond += weight * (model->sums[j] - count);
		precision += weight;
	}
	model->records = count + beyond / precision;
	model->total = Max(model->records, 1);
	model->total_variance = 1 / precision;
}

double
race_tables_records(const RaceView *view, double *variance)
{
	RaceTableModel model = {0};

	race_contingency_of(view->params, &model.tables);
	model.table = list_tables(&model.tables, view->header->noise.counter_variance, &model.n);
	model.n = model.tables.columns; /* their tables come first */
	estimate_total(&model, view);
	*variance = model.total_variance;
	return model.records;
}

static void *
create_model(const RaceView *view, void *question, MemoryContext context, Size *size)
{
	MemoryContext old = MemoryContextSwitchTo(context);
	RaceTableModel *model = palloc0(sizeof(RaceTableModel));
	Description *description;

	(void) question;
	race_derived_init(&model->derived, view, context);
	race_contingency_of(model->derived.params, &model->tables);
	model->table = list_tables(&model->tables, view->header->noise.counter_variance, &model->n);
	estimate_total(model, view);
	description = describe_tables(&model->tables, model->table, model->n);
	if (view->model != NULL)
	{
		Size n;

		model->graph = race_graph_create(&description->columns, description->n,
										 description->marginals, allocate_in_context, context);
		memcpy(race_graph_theta(model->graph, &n), view->model->words,
			   view->model->points * sizeof(double));
		Assert(n == view->model->points);
		race_graph_calibrate(model->graph);
	}
	else
	{
		RaceCounterArray counters = {(void *) view->counters, view->width};

		model->graph = fit_graph(description, &model->tables, model->table, counters, model->total);
	}
	MemoryContextSwitchTo(old);
	*size = MemoryContextMemAllocated(context, true);
	return model;
}

static const RaceDerivedKind table_model = {"model of tables", create_model, NULL};

RaceTableModel *
race_table_model_acquire(const RaceView *view)
{
	if (view->header->noise.status == RACE_STATUS_EXACT)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("tables without noise are not asked"),
				 errhint("Release them, or make them private by race_privatize.")));
	race_check_askable(&view->header->noise);
	return race_derived_acquire(&table_model, view, NULL);
}

RaceSketchDatum *
race_tables_fit(const RaceView *view)
{
	RaceTableModel *model = race_table_model_acquire(view);
	Size n;
	double *theta = race_graph_theta(model->graph, &n);
	Size size = offsetof(RaceModel, words) + n * sizeof(double);
	RaceModel *stored = palloc0(size);
	RaceSketchDatum *flat;

	stored->points = n;
	memcpy(stored->words, theta, n * sizeof(double));
	flat = race_flat_create(view, stored, size);
	race_derived_release(model);
	pfree(stored);
	return flat;
}

/* --------------------------------------------------------------- reference */

typedef struct Reference
{
	MemoryContext context;
	RaceGraph *graph;
} Reference;

static void *
begin_reference(const RaceMeasuring *measuring)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "reference of scores", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	Reference *reference = palloc(sizeof(Reference));
	Description *description;
	RaceCounterArray counters = {measuring->counters, sizeof(int64)};
	RaceTable *tables;
	uint32 n;

	tables = list_tables(&measuring->tables, 1, &n);
	description = describe_tables(&measuring->tables, tables, n);
	reference->context = context;
	reference->graph =
		fit_graph(description, &measuring->tables, tables, counters, measuring->total);
	MemoryContextSwitchTo(old);
	return reference;
}

static void
table_of_reference(void *reference, const RaceTable *table, double *shares)
{
	const uint32 columns[] = {table->first, table->second, table->third};
	RaceGraph *graph = ((Reference *) reference)->graph;

	if (table->third == table->second)
		race_graph_pair(graph, table->first, table->second, false, shares);
	else
		race_graph_triple(graph, columns, shares);
}

static void
end_reference(void *reference)
{
	MemoryContextDelete(((Reference *) reference)->context);
}

const RaceReference race_graphical_reference = {begin_reference, table_of_reference, end_reference};
