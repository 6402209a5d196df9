/*
 * summary.c
 *		The table of kinds of summaries.
 */
#include "contingency.h"
#include "loss_rows.h"
#include "moment_sums.h"
#include "summary.h"
#include "table.h"

/* ------------------------------------------------------------------- rows */

static const char *
rows_problem(const RaceParams *params, char *message, size_t length)
{
	return race_is_surrogate(params) ? race_surrogate_problem(params, message, length) : NULL;
}

static uint64_t
one(const RaceParams *params)
{
	(void) params;
	return 1;
}

/* A record is in one counter of each row. */
static uint64_t
rows_weight(const RaceParams *params, RaceKept kept)
{
	(void) params;
	return kept.rows;
}

/* The norm of each row changes by 1 at most. */
static uint64_t
rows_look(const RaceParams *params)
{
	return params->rows > 1 ? params->rows : 0;
}

/* ----------------------------------------------------------------- tables */

static uint64_t
tables_unit(const RaceParams *params)
{
	RaceContingency tables;

	race_contingency_of(params, &tables);
	return tables.unit;
}

/* A record is in one cell of each table, */
static uint64_t
tables_weight(const RaceParams *params, RaceKept kept)
{
	RaceContingency tables;

	(void) kept;
	race_contingency_of(params, &tables);
	return tables.unit * race_contingency_tables(&tables);
}

/* and adds no less than 0 to each part of the cell. */
static uint64_t
tables_squared(const RaceParams *params, RaceKept kept)
{
	return tables_unit(params) * tables_weight(params, kept);
}

/* ------------------------------------------------------------------ grid */

static uint64_t
grid_weight(const RaceParams *params, RaceKept kept)
{
	return race_grid_unit(params) * kept.grid.levels;
}

/* No weight of a record is negative: in L2 it adds at most the root of so many units. */
static uint64_t
grid_squared(const RaceParams *params, RaceKept kept)
{
	return race_grid_unit(params) * grid_weight(params, kept);
}

static uint64_t
grid_look(const RaceParams *params)
{
	return race_grid_look_weight(params);
}

/* ---------------------------------------------------------------- moments */

/* Refuse sequence grid for moments with the message of grids. */
static const char *
moments_problem(const RaceParams *params, char *message, size_t length)
{
	return race_is_grid(params) ? race_grid_problem(params, message, length) :
		race_moments_problem(params, message, length);
}

/* More than the unit, where targets weigh more */
static uint64_t
moments_largest(const RaceParams *params)
{
	(void) params;
	return RACE_MOMENTS_ONE * RACE_MOMENTS_ONE;
}

static uint64_t
moments_weight(const RaceParams *params, RaceKept kept)
{
	return race_moments_weight(params, kept.coarser);
}

static uint64_t
moments_squared(const RaceParams *params, RaceKept kept)
{
	return race_moments_squares(params, kept.coarser);
}

static uint64_t
nothing(const RaceParams *params)
{
	(void) params;
	return 0;
}

/* ------------------------------------------------------------------ table */

static const RaceSummaryKind kinds[RACE_SUMMARIES] = {
	[RACE_SUMMARY_ROWS] = {
		RACE_SUMMARY_ROWS, .name = "rows", .hashed = true, .densities = true,
		.model = RACE_MODEL_POINTS, .problem = rows_problem, .unit = one, .largest = one,
		.weight = rows_weight, .squared = rows_weight, .look_weight = rows_look
	},
	[RACE_SUMMARY_TABLES] = {
		RACE_SUMMARY_TABLES, .name = "tables",
		.hint = "Tables are asked by the name of their release: race_count, race_crosstab, race_synthesize.",
		.model = RACE_MODEL_LOG_LINEAR, .problem = race_contingency_problem, .unit = tables_unit,
		.largest = tables_unit, .weight = tables_weight, .squared = tables_squared,
		.look_weight = nothing
	},
	[RACE_SUMMARY_GRID] = {
		RACE_SUMMARY_GRID, .name = "grid", .densities = true, .model = RACE_MODEL_POINTS,
		.problem = race_grid_problem, .unit = race_grid_unit, .largest = race_grid_unit,
		.weight = grid_weight, .squared = grid_squared, .look_weight = grid_look,
		.coarsen = race_grid_apply
	},
	[RACE_SUMMARY_MOMENTS] = {
		RACE_SUMMARY_MOMENTS, .name = "moments", .matrix = true,
		.hint = "Moments are asked by race_moments_matrix, race_covariance, race_regress, race_pca and race_discriminate.",
		.problem = moments_problem, .unit = race_moments_unit, .largest = moments_largest,
		.weight = moments_weight, .squared = moments_squared, .look_weight = nothing,
		.functions = race_moments_functions
	},
};

const RaceSummaryKind *
race_summary_kind(const RaceParams *params)
{
	return &kinds[params->kernel == RACE_KERNEL_MOMENTS ? RACE_SUMMARY_MOMENTS :
				  params->kernel == RACE_KERNEL_TABLES ? RACE_SUMMARY_TABLES :
				  params->sequence == RACE_SEQUENCE_GRID ? RACE_SUMMARY_GRID :
				  RACE_SUMMARY_ROWS];
}

/* What is kept of a summary as it is: all of it */
static RaceKept
race_all_kept(const RaceParams *params)
{
	RaceKept	all = {params->rows, {0, 1}, 0, NULL};

	if (race_is_grid(params))
		all.grid.levels = race_grid_levels(params);
	if (race_is_moments(params))
		all.coarser = params->coarser;
	return all;
}

uint64_t
race_record_unit(const RaceParams *params)
{
	return race_summary_kind(params)->unit(params);
}

uint64_t
race_record_weight(const RaceParams *params)
{
	return race_summary_kind(params)->weight(params, race_all_kept(params));
}

uint64_t
race_record_squared(const RaceParams *params)
{
	return race_summary_kind(params)->squared(params, race_all_kept(params));
}
