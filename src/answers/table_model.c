/*
 * table_model.c
 *		The model of contingency tables, a graphical one or particles: fitting, storing, caching
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
#include "sketch/value_columns.h"
#include "answers/copula.h"
#include "answers/particles.h"
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

/* What a model is made of, in the current memory context */
typedef struct Description
{
	RaceGraphColumns columns;
	RaceMarginal *marginals; /* [n] */
	uint32 n;
	RaceSignSums *signs; /* NULL: there are none */
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
		if (race_contingency_is_ordered(tables, j))
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

/* Load the sums of signs, in records, and the signs of cells. */
static RaceSignSums *
load_signs(const RaceContingency *tables, RaceCounterArray counters)
{
	RaceSignSums *signs = palloc(sizeof(RaceSignSums));
	uint32 columns[RACE_CONTINGENCY_COLUMNS];
	uint32 n = race_contingency_signs(tables, columns);
	int8 **sign = palloc0(tables->columns * sizeof(int8 *));
	double *sums = palloc(n * (n - 1) / 2 * sizeof(double));

	for (uint32 k = 0; k < n; k++)
	{
		uint32 cells = (uint32) tables->cells[columns[k]];

		sign[columns[k]] = palloc_extended(cells, MCXT_ALLOC_HUGE);
		for (uint32 i = 0; i < cells; i++)
			sign[columns[k]][i] = (int8) race_contingency_sign(tables, columns[k], i);
	}
	for (uint32 k = 0; k < n * (n - 1) / 2; k++)
		sums[k] = (double) race_counters_get(counters.counters, counters.width,
											 race_contingency_signs_at(tables) + k) /
			(double) tables->unit;
	signs->sign = (const int8 *const *) sign;
	signs->sums = sums;
	signs->variance =
		Max(tables->signs[0] / ((double) tables->unit * (double) tables->unit), LEAST_VARIANCE);
	return signs;
}

/* Set the counts of tables, and sums of signs. */
static void
load_counts(Description *description, const RaceContingency *tables, const RaceTable *table,
			RaceCounterArray counters)
{
	for (uint32 i = 0; i < description->n; i++)
	{
		double *counts = palloc_extended(table[i].cells * sizeof(double), MCXT_ALLOC_HUGE);

		race_contingency_records(tables, &table[i], counters, 0, table[i].cells, counts);
		description->marginals[i].counts = counts;
	}
	description->signs = tables->signs == NULL ? NULL : load_signs(tables, counters);
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

/*
 * There are so many particles for each cell of tables of several columns, and so many for all
 * columns together, within limits.  With half as many for a cell, distances of pairs at
 * epsilon = 10 were a sixth larger, and three times as large (`test/bench/run cliffs`: pulsars, and
 * 100,000 records of 8 numbers).
 */
#define PARTICLES_OF_CELL 2
#define PARTICLES_OF_COLUMNS (1 << 18)
#define LEAST_PARTICLES (1 << 15)

static uint32
number_of_particles(uint32 columns, uint64 cells)
{
	uint32 n = LEAST_PARTICLES;

	while (2 * n <= RACE_MODEL_RECORDS &&
		   2 * race_records_words(columns, n) * sizeof(uint64) < RACE_MAX_MODEL_BYTES &&
		   (n < PARTICLES_OF_CELL * cells || n * columns < PARTICLES_OF_COLUMNS))
		n *= 2;
	return n;
}

/* Return the number of cells of all tables of several columns. */
static uint64
cells_of_several(const Description *description)
{
	const uint32 *groups = description->columns.groups;
	uint64 cells = 0;

	for (uint32 i = description->columns.columns; i < description->n; i++)
	{
		const RaceMarginal *table = &description->marginals[i];

		cells += (uint64) groups[table->first] * groups[table->second] *
			(table->third != table->second ? groups[table->third] : 1);
	}
	return cells;
}

/* Create particles near what was measured, in the current memory context. */
static RaceParticles *
create_particles(const Description *description, double total)
{
	return race_particles_create(
		&description->columns, description->n, description->marginals, description->signs, total,
		number_of_particles(description->columns.columns, cells_of_several(description)),
		allocate_in_context, CurrentMemoryContext);
}

/* Fit the model of a description, whose counts are loaded, in the current memory context. */
static void
fit_model(const Description *description, double total, RaceTableModel *model)
{
	if (description->signs == NULL)
	{
		model->graph = fit_first(description, description->n, total);
		return;
	}
	model->particles = create_particles(description, total);
	if (description->n > description->columns.columns)
		race_particles_fit(model->particles);
}

/* Fit a model, and keep nothing but the model of what a fit needs. */
static void
fit_and_keep(Description *description, const RaceView *view, RaceTableModel *model)
{
	RaceCounterArray counters = {(void *) view->counters, view->width};
	MemoryContext fit;
	MemoryContext old;
	RaceTableModel fitted = {0};
	uint64 *words;
	Size n;

	if (model->tables.signs == NULL)
	{
		load_counts(description, &model->tables, model->table, counters);
		fit_model(description, model->total, model);
		return;
	}
	fit = AllocSetContextCreate(CurrentMemoryContext, "fit of particles", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(fit);
	load_counts(description, &model->tables, model->table, counters);
	fit_model(description, model->total, &fitted);
	words = palloc_extended(race_particles_size(fitted.particles, &n) * sizeof(uint64),
							MCXT_ALLOC_HUGE);
	race_particles_store(fitted.particles, words);
	MemoryContextSwitchTo(old);
	model->particles = race_particles_load(&description->columns, (uint32) n, words,
										   allocate_in_context, CurrentMemoryContext);
	MemoryContextDelete(fit);
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
		(model->records - model->sums[table->number]) * race_contingency_with_all(table, cell) /
		race_contingency_table_variance(table);
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

/* Give the component of a column the number of another's. */
static void
connect_columns(RaceTableModel *model, uint32 column, uint32 other)
{
	uint32 from = model->component[column];
	uint32 to = model->component[other];

	for (uint32 j = 0; j < model->tables.columns; j++)
		if (model->component[j] == from)
			model->component[j] = to;
}

/* Find which columns tables of several columns, and signs, connect. */
static void
find_components(RaceTableModel *model)
{
	uint32 signs[RACE_CONTINGENCY_COLUMNS];
	uint32 n = model->tables.signs == NULL ? 0 : race_contingency_signs(&model->tables, signs);

	model->component = palloc(model->tables.columns * sizeof(uint32));
	for (uint32 j = 0; j < model->tables.columns; j++)
		model->component[j] = j;
	for (uint32 i = 0; i < model->n; i++)
	{
		connect_columns(model, model->table[i].second, model->table[i].first);
		connect_columns(model, model->table[i].third, model->table[i].first);
	}
	for (uint32 k = 1; k < n; k++)
		connect_columns(model, signs[k], signs[0]);
}

/* Make the model that is stored, in the current memory context. */
static void
load_model(const Description *description, const RaceModel *stored, RaceTableModel *model)
{
	Size n;

	if (model->tables.signs != NULL)
	{
		model->particles =
			race_particles_load(&description->columns, (uint32) stored->points, stored->words,
								allocate_in_context, CurrentMemoryContext);
		return;
	}
	model->graph = race_graph_create(&description->columns, description->n, description->marginals,
									 allocate_in_context, CurrentMemoryContext);
	memcpy(race_graph_theta(model->graph, &n), stored->words, stored->points * sizeof(double));
	Assert(n == stored->points);
	race_graph_calibrate(model->graph);
}

static void *
create_model(const RaceView *view, void *question, MemoryContext context, Size *size)
{
	MemoryContext old = MemoryContextSwitchTo(context);
	RaceTableModel *model = palloc0(sizeof(RaceTableModel));
	Description *description;
	int n;

	(void) question;
	race_derived_init(&model->derived, view, context);
	race_contingency_of(model->derived.params, &model->tables);
	model->domains = race_columns_read(view, &n);
	model->table = list_tables(&model->tables, view->header->noise.counter_variance, &model->n);
	find_components(model);
	estimate_total(model, view);
	description = describe_tables(&model->tables, model->table, model->n);
	if (view->model != NULL)
		load_model(description, view->model, model);
	else
		fit_and_keep(description, view, model);
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
	Size n = 0;
	double *theta = model->graph != NULL ? race_graph_theta(model->graph, &n) : NULL;
	Size words = n;

	Size size;
	RaceModel *stored;
	RaceSketchDatum *flat;

	if (theta == NULL)
		words = race_particles_size(model->particles, &n);
	size = offsetof(RaceModel, words) + words * sizeof(uint64);
	stored = palloc_extended(size, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	stored->points = n;
	if (theta != NULL)
		memcpy(stored->words, theta, n * sizeof(double));
	else
		race_particles_store(model->particles, stored->words);
	flat = race_flat_create(view, stored, size);
	race_derived_release(model);
	pfree(stored);
	return flat;
}

/* ------------------------------------------------------------------ answers */

void
race_model_pair(const RaceTableModel *model, uint32 first, uint32 second, bool cells, double *table)
{
	if (model->particles != NULL)
	{
		RaceAxis axes[] = {race_particles_axis(model->particles, first, cells),
						   race_particles_axis(model->particles, second, cells)};

		race_particles_table(model->particles, 2, axes, table);
	}
	else
		race_graph_pair(model->graph, first, second, cells, table);
}

double
race_model_event(const RaceTableModel *model, const double *const *weights, uint32 of,
				 double *table)
{
	return model->particles != NULL ? race_particles_event(model->particles, weights, of, table) :
									  race_graph_event(model->graph, weights, of, table);
}

void
race_model_sample(const RaceTableModel *model, double (*uniform)(void *), void *arg, uint32 n,
				  uint32 *rows, uint32 *space)
{
	if (model->particles != NULL)
		race_particles_sample(model->particles, uniform, arg, n, rows, allocate_in_context,
							  CurrentMemoryContext);
	else
		race_graph_sample(model->graph, uniform, arg, n, rows, space);
}

/* --------------------------------------------------------------- reference */

typedef struct Reference
{
	MemoryContext context;
	RaceTableModel model;
} Reference;

static void *
begin_reference(const RaceMeasuring *measuring)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "reference of scores", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	Reference *reference = palloc0(sizeof(Reference));
	Description *description;
	RaceCounterArray counters = {measuring->counters, sizeof(int64)};
	RaceTable *tables;
	uint32 n;

	tables = list_tables(&measuring->tables, 1, &n);
	description = describe_tables(&measuring->tables, tables, n);
	reference->context = context;
	load_counts(description, &measuring->tables, tables, counters);
	fit_model(description, measuring->total, &reference->model);
	MemoryContextSwitchTo(old);
	return reference;
}

static void
table_of_reference(void *state, const RaceTable *table, double *shares)
{
	const uint32_t columns[] = {table->first, table->second, table->third};
	RaceTableModel *model = &((Reference *) state)->model;
	RaceAxis axes[3];

	if (model->particles != NULL)
	{
		for (int k = 0; k < 3; k++)
			axes[k] = race_particles_axis(model->particles, columns[k], false);
		race_particles_table(model->particles, table->third == table->second ? 2 : 3, axes, shares);
	}
	else if (table->third == table->second)
		race_graph_pair(model->graph, table->first, table->second, false, shares);
	else
		race_graph_triple(model->graph, columns, shares);
}

static void
errors_of_reference(void *state, double second, RaceReferenceErrors *errors)
{
	Reference *reference = state;
	const RaceParticles *particles = reference->model.particles;
	MemoryContext old = MemoryContextSwitchTo(reference->context);

	*errors = (RaceReferenceErrors){.explained = race_particles_explained(particles),
									.blur = race_particles_blur(particles),
									.first = race_particles_noise(particles, 1),
									.second = race_particles_noise(particles, second)};
	MemoryContextSwitchTo(old);
}

static void
end_reference(void *reference)
{
	MemoryContextDelete(((Reference *) reference)->context);
}

const RaceReference race_model_reference = {.begin = begin_reference,
											.table = table_of_reference,
											.errors = errors_of_reference,
											.end = end_reference,
											.particles = number_of_particles};
