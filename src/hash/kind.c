/*
 * kind.c
 *		The table of kinds of summaries: what a record adds, and how it is counted
 */
#include <math.h>
#include <string.h>

#include "hash/contingency.h"
#include "hash/fields.h"
#include "hash/kernel.h"
#include "hash/kind.h"
#include "hash/loss_rows.h"
#include "hash/moment_sums.h"

/* ------------------------------------------------------------------ rows */

static const char *
rows_problem(const RaceParams *params, char *message, size_t length)
{
	return race_is_surrogate(params) ? race_surrogate_problem(params, message, length) : NULL;
}

static uint64_t
unit_one(const RaceParams *params)
{
	(void) params;
	return 1;
}

/*
 * Complete parameters of rows.  A surrogate loss has a counter for each combination of signs.
 * Without a radius of queries, theirs is that of coefficients between -1 and 1.
 */
static void
complete_rows(RaceParams *part, const double **arrays, double *space)
{
	(void) arrays;
	(void) space;
	if (!race_is_surrogate(part))
		return;
	if (part->power <= RACE_MAX_SURROGATE_POWER)
		part->range = 1 << part->power;
	if (part->loss.query_radius == 0)
		part->loss.query_radius = sqrt(part->dims);
}

/* Set the shape of rows.  A record is in one counter of each. */
static void
rows_shape(const RaceParams *params, size_t *ends, RaceShape *shape)
{
	(void) ends;
	*shape = (RaceShape){.blocks = params->rows, .unit = 1, .range = params->range};
}

/* -------------------------------------------------- tables of categories */

/*
 * Complete parameters of tables of counts.  They are one row of as many counters as they have
 * cells; none if that is wrong.
 */
static void
complete_tables(RaceParams *part, const double **arrays, double *space)
{
	RaceContingency tables = {.dims = part->dims,
							  .cells = arrays[RACE_KEY_CELLS],
							  .groups = arrays[RACE_KEY_GROUPS],
							  .workload = arrays[RACE_KEY_WORKLOAD],
							  .n_workload = part->tables.workload,
							  .joined = arrays[RACE_KEY_JOINED],
							  .n_joined = part->tables.joined,
							  .measured = arrays[RACE_KEY_MEASURED],
							  .n_measured = part->tables.measured,
							  .signs = arrays[RACE_KEY_SIGNS],
							  .n_signs = part->tables.signs,
							  .searched = arrays[RACE_KEY_SEARCHED],
							  .ends = arrays[RACE_KEY_ENDS]};

	(void) space;
	part->rows = 1;
	part->rehash = RACE_REHASH_FOLD;
	race_contingency_set(&tables);
	part->range = race_contingency_counters(&tables);
}

static uint64_t
tables_unit(const RaceParams *params)
{
	RaceContingency tables;

	race_contingency_of(params, &tables);
	return tables.unit;
}

static void
tables_count(const RaceParams *params, const RaceBatch *batch)
{
	race_contingency_count(params, batch->numbers, batch->n, batch->weight, batch->counters,
						   batch->workspace);
}

/* Set the shape of tables.  A record is in one cell of each. */
static void
tables_shape(const RaceParams *params, size_t *ends, RaceShape *shape)
{
	RaceContingency tables;
	RaceTable table;
	uint32_t n = 0;

	race_contingency_of(params, &tables);
	race_contingency_first(&tables, &table);
	/* bound: the tables */
	do
		ends[n++] = table.at + table.cells * tables.parts;
	while (race_contingency_next(&tables, &table));
	*shape = (RaceShape){.blocks = n,
						 .unit = tables.unit,
						 .ends = ends,
						 .paired = tables.measured == NULL ? tables.columns : 0};
}

/* ------------------------------------------------------- tables of cells */

/*
 * Complete parameters of a grid.  It has one row, and as many counters as its cells say.  Cells
 * that are not stated are chosen, if the bounds are such that they can be; what is wrong is found
 * later.
 */
static void
complete_grid(RaceParams *part, const double **arrays, double *space)
{
	const double *lower = arrays[RACE_KEY_LOWER];
	const double *upper = arrays[RACE_KEY_UPPER];
	uint64_t nodes;

	if (part->dims < 1 || part->dims > RACE_GRID_DIMS || lower == NULL || upper == NULL ||
		race_kernel_type(part->kernel)->of_distance == NULL || part->power == 0 ||
		!(part->bandwidth > 0))
		return;
	if (arrays[RACE_KEY_CELLS] == NULL)
	{
		race_grid_choose_cells(part, arrays[RACE_KEY_BANDWIDTHS], lower, upper, space);
		arrays[RACE_KEY_CELLS] = space;
	}
	part->rows = 1;
	nodes = race_grid_nodes(arrays[RACE_KEY_CELLS], part->dims, 1);
	if (nodes > 0 &&
		part->range != race_grid_nodes(arrays[RACE_KEY_CELLS], part->dims, RACE_GRID_LEVELS))
		part->range = (uint32_t) nodes;
}

static void
grid_count(const RaceParams *params, const RaceBatch *batch)
{
	race_count_in_grid(params, batch->numbers, batch->n, batch->weight, batch->counters);
}

/* Set the shape of a grid.  A record is split over the nodes around it. */
static void
grid_shape(const RaceParams *params, size_t *ends, RaceShape *shape)
{
	(void) ends;
	race_grid_shape(params, shape);
}

/* --------------------------------------------------------------- moments */

/*
 * Complete parameters of moments.  They are one row of as many counters as their columns have
 * products.  What is wrong is found later.
 */
static void
complete_moments(RaceParams *part, const double **arrays, double *space)
{
	(void) arrays;
	(void) space;
	part->rows = 1;
	part->rehash = RACE_REHASH_FOLD;
	if (race_moments_columns(part) <= RACE_MOMENTS_COLUMNS)
		part->range = (uint32_t) race_products_counters(race_moments_columns(part));
	if (part->moments.norm == 0)
		part->moments.norm = RACE_MOMENTS_NORM;
}

static bool
moments_draw_functions(const RaceParams *params)
{
	return params->moments.features > 0;
}

/* Return by how much a record changes a counter: more than the unit, where targets weigh more. */
static uint64_t
moments_largest(const RaceParams *params)
{
	(void) params;
	return RACE_MOMENTS_ONE * RACE_MOMENTS_ONE;
}

static size_t
moments_count_workspace(const RaceParams *params, size_t n)
{
	(void) n;
	return race_moments_workspace(params);
}

static void
moments_count(const RaceParams *params, const RaceBatch *batch)
{
	race_moments_count(params, batch->functions, batch->numbers, batch->n, (int) batch->weight,
					   batch->counters.counters, batch->workspace);
}

/* Set the shape of moments.  A record adds the products of its columns. */
static void
moments_shape(const RaceParams *params, size_t *ends, RaceShape *shape)
{
	(void) ends;
	race_moments_shape(params, shape);
}

/* ------------------------------------------------------------- the table */

static bool
always_true(const RaceParams *params)
{
	(void) params;
	return true;
}

static bool
never_true(const RaceParams *params)
{
	(void) params;
	return false;
}

static const RaceSummaryKind rows = {.name = "rows",
									 .hashed = true,
									 .densities = true,
									 .model = RACE_MODEL_POINTS,
									 .complete = complete_rows,
									 .problem = rows_problem,
									 .draws = always_true,
									 .unit = unit_one,
									 .largest = unit_one,
									 .shape = rows_shape};

static const RaceSummaryKind tables_of_categories = {
	.name = "tables",
	.takes = RACE_TAKES_DIMS | RACE_TAKES_CELLS,
	.hint =
		"Tables are asked by the name of their release: race_count, race_crosstab, race_synthesize.",
	.selected = true,
	.model = RACE_MODEL_LOG_LINEAR,
	.complete = complete_tables,
	.problem = race_contingency_problem,
	.draws = never_true,
	.count_workspace = race_contingency_workspace,
	.count = tables_count,
	.unit = tables_unit,
	.largest = tables_unit,
	.shape = tables_shape};

static const RaceSummaryKind tables_of_cells = {.name = "grid",
												.densities = true,
												.model = RACE_MODEL_POINTS,
												.complete = complete_grid,
												.problem = race_grid_problem,
												.draws = never_true,
												.count = grid_count,
												.unit = race_grid_unit,
												.largest = race_grid_unit,
												.shape = grid_shape,
												.coarsen = race_grid_apply};

static const RaceSummaryKind moments = {
	.name = "moments",
	.takes = RACE_TAKES_DIMS | RACE_TAKES_BOUNDS | RACE_TAKES_TRANSFORM | RACE_TAKES_COLUMNS,
	.hint =
		"Moments are asked by race_moments_matrix, race_covariance, race_regress, race_pca and race_classify.",
	.matrix = true,
	.complete = complete_moments,
	.problem = race_moments_problem,
	.draws = moments_draw_functions,
	.functions = race_moments_functions,
	.count_workspace = moments_count_workspace,
	.count = moments_count,
	.unit = race_moments_unit,
	.largest = moments_largest,
	.shape = moments_shape};

static const RaceSummaryKind *const kinds[] = {[RACE_KIND_ROWS] = &rows,
											   [RACE_KIND_GRID] = &tables_of_cells,
											   [RACE_KIND_TABLES] = &tables_of_categories,
											   [RACE_KIND_MOMENTS] = &moments};

#define KINDS ((int) (sizeof(kinds) / sizeof(kinds[0])))

const RaceSummaryKind *
race_summary_kind(const RaceParams *params)
{
	return params->kind < KINDS ? kinds[params->kind] : NULL;
}

int
race_kind_named(const char *name)
{
	for (int kind = 0; kind < KINDS; kind++)
		if (!kinds[kind]->densities && strcmp(kinds[kind]->name, name) == 0)
			return kind;
	return -1;
}

uint64_t
race_record_unit(const RaceParams *params)
{
	return race_summary_kind(params)->unit(params);
}

/* Return the number of blocks that a record adds a unit to: rows, tables or levels. */
static uint32_t
count_blocks(const RaceParams *params)
{
	RaceContingency tables;

	if (race_summary_kind(params)->coarsen != NULL)
		return (uint32_t) race_grid_levels(params);
	if (!race_summary_kind(params)->selected)
		return params->rows;
	race_contingency_of(params, &tables);
	return race_contingency_tables(&tables);
}

uint64_t
race_record_squared(const RaceParams *params)
{
	uint64_t unit = race_record_unit(params);
	RaceShape shape;

	if (!race_summary_kind(params)->matrix)
		return unit * unit * count_blocks(params);
	race_moments_shape(params, &shape);
	return race_products_squared(&shape, params->moments.coarser);
}

size_t
race_shape_ends(const RaceParams *params)
{
	return race_summary_kind(params)->selected ? count_blocks(params) : 0;
}

void
race_shape_of(const RaceParams *params, size_t *ends, RaceShape *shape)
{
	race_summary_kind(params)->shape(params, ends, shape);
}
