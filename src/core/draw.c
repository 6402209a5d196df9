/*
 * draw.c
 *		What a release draws: noisy counts, by which, and by a noisy look, it chooses what it
 * keeps, and noisy counters.
 *
 * What depends on data: the noisy counters, the noisy count, noisy norms, and what is computed
 * from that count and these norms.  All else depends on the arguments and public parameters alone.
 */
#include <math.h>
#include <string.h>

#include "counters.h"
#include "moment_sums.h"
#include "plan.h"

/* Numbers that are drawn between two looks at interrupts */
#define DRAWS_A_STEP	4096

static int64_t
noisy(RaceRandom *random, int64_t value, const RacePlan *plan, uint64_t noise)
{
	return race_clamped_sum(race_noisy(random, value, (RaceMechanism) plan->noise.mechanism, noise), 0);
}

int64_t
race_draw_count(RaceRandom *random, const RaceExact *exact, const RacePlan *plan)
{
	return noisy(random, exact->count, plan, plan->count_noise);
}

/* ------------------------------------------------------------------ counters */

/* The exact counters of the levels of a grid that are kept, one after the other; their number */
static size_t
load_levels(const RaceExact *exact, const RaceKept *kept, int64_t *nodes, int64_t *counters)
{
	int64_t    *next = counters;
	int			halvings = kept->grid.halvings;
	RaceGrid	grid;
	int			level;

	race_grid_of(exact->params, &grid);
	race_counters_load(exact->counters, exact->width, 0, grid.nodes, nodes);
	for (level = 0; level < kept->grid.levels; level++, halvings = RACE_GRID_LEVEL_HALVINGS)
	{
		for (; halvings > 0; halvings--)
		{
			race_grid_coarsen(&grid, nodes, nodes);
			race_grid_halve(&grid);
		}
		memcpy(next, nodes, grid.nodes * sizeof(int64_t));
		next += grid.nodes;
	}
	return next - counters;
}

/* Add noise to counters of rows or grids. */
static void
add_noise(RaceRandom *random, const RacePlan *plan, size_t n, int64_t *counters)
{
	size_t		i;

	for (i = 0; i < n; i++)
	{
		if (i % DRAWS_A_STEP == 0)
			race_look_for_interrupts();
		counters[i] = noisy(random, counters[i], plan, plan->counter_noise);
	}
}

/* The difference of two Wishart matrices, as planned: the triangle of as many columns */
static int64_t *
wishart_noise(RaceRandom *random, uint32_t columns, const RacePlan *plan, int64_t *triangle)
{
	int64_t    *work = triangle + race_moments_counters(columns);
	int			sign;

	memset(triangle, 0, race_moments_counters(columns) * sizeof(int64_t));
	for (sign = -1; sign <= 1; sign += 2)
	{
		race_look_for_interrupts();
		race_wishart(random, columns, plan->counter_noise, sign, work, triangle);
	}
	return triangle;
}

/*
 * Add noise to moments, in integers that are as coarse as planned: twice the variance on the
 * diagonal, if it is Gaussian; a Wishart matrix has that by itself.  Private moments have the bits
 * again that their noise does not have, so that they can be added up; noise shares stay as coarse,
 * as their sum must be.
 */
static void
add_noise_to_moments(RaceRandom *random, uint32_t columns, const RacePlan *plan, int64_t *space,
					 int64_t *counter)
{
	bool		share = plan->noise.status == RACE_STATUS_SHARE;
	int			coarser = plan->kept.coarser;
	int64_t		limit = RACE_MAX_COUNT >> coarser;
	RaceMechanism mechanism = (RaceMechanism) plan->noise.mechanism;
	bool		wishart = mechanism == RACE_MECHANISM_WISHART;
	int64_t    *matrix = wishart ? wishart_noise(random, columns, plan, space) : NULL;
	uint64_t	noise = wishart ? plan->entry_noise : plan->counter_noise;
	uint64_t	on_diagonal = mechanism == RACE_MECHANISM_GAUSSIAN ? 2 * noise : noise;
	uint32_t	i;
	uint32_t	j;

	for (i = 0; i < columns; i++)
	{
		race_look_for_interrupts();
		for (j = i; j < columns; j++, counter++)
		{
			int64_t		sum = race_noisy(random, race_moments_coarsen(*counter, coarser), mechanism,
										 i == j ? on_diagonal : noise);

			*counter = race_clamped_sum(sum, wishart ? *matrix++ : 0);
			if (!share)
				*counter = (*counter > limit ? limit : *counter < -limit ? -limit : *counter) *
					((int64_t) 1 << coarser);
		}
	}
}

static void
draw_rows(RaceRandom *random, const RaceExact *exact, const RacePlan *plan, void *workspace,
		  int64_t *counters)
{
	size_t		n = (size_t) plan->kept.rows * exact->params->range;

	(void) workspace;
	race_counters_load(exact->counters, exact->width, 0, n, counters);
	add_noise(random, plan, n, counters);
}

static void
draw_tables(RaceRandom *random, const RaceExact *exact, const RacePlan *plan, void *workspace,
			int64_t *counters)
{
	add_noise(random, plan, load_levels(exact, &plan->kept, workspace, counters), counters);
}

static void
draw_moments(RaceRandom *random, const RaceExact *exact, const RacePlan *plan, void *workspace,
			 int64_t *counters)
{
	race_counters_load(exact->counters, exact->width, 0, exact->params->range, counters);
	add_noise_to_moments(random, race_moments_columns(exact->params), plan, workspace, counters);
}

/* -------------------------------------------------------------------- choice */

/*
 * How many records a typical kernel sum is: half of the sum at an average record, which the
 * norms of rows tell (their squares, without collisions, over the records).  In 35 of 36 cases
 * this chose rows whose error is at most 1.25 times that of the best (test/bench/ROWS.md).  Where
 * noise drowns the norms, what is usual counts for more.
 */
static double
mass_by_norms(RaceRandom *random, const RaceExact *exact, int n, const RacePlan *plan,
			  double records)
{
	const RaceParams *params = exact->params;
	double		noise = sqrt(race_discrete_laplace_variance(plan->choice_noise)) /
		(n * (double) params->rows);
	int64_t		sum = 0;
	double		norm;
	double		square;
	double		doubt;
	double		trust;
	int			i;

	for (i = 0; i < n; i++)
		sum += race_counters_norms(exact[i].counters, exact[i].width, params->rows,
								   params->range);
	norm = noisy(random, sum, plan, plan->choice_noise) / (n * (double) params->rows);
	square = norm * norm - noise * noise -
		race_collision_probability(params) * records * records;
	/* the standard deviation of its logarithm */
	doubt = norm > noise ? 2 * noise / norm : 2;
	trust = 1 / (1 + doubt * doubt);
	return pow(fmax(square, noise * noise) / (2 * records), trust) *
		pow(race_usual_mass(records), 1 - trust);
}

/*
 * A mean of values is a ratio of sums.  Its error is largest where there are few records, and what
 * cells change is the same in both sums and nearly cancels.  So cells are chosen as for sums of
 * this part of a usual one.  On 6 real and 9 made tables these parts came near the best histogram
 * where others were farther from it: of 1/6 to 1/24 in one dimension, of 1/4 to 1/100 in two, of 1/16
 * to 1/100 in three, where smaller ones serve sharp edges and larger ones what is smooth.
 */
static const double part_of_halves[RACE_GRID_DIMS + 1] = {0, 1.0 / 12, 1.0 / 8, 1.0 / 100};

/*
 * The sum of the exact nodes of n halves, which is that of the whole, or the nodes of one sketch;
 * `space` has as many.
 */
static void
load_nodes(const RaceExact *exact, int n, int64_t *nodes, int64_t *space)
{
	size_t		range = exact->params->range;
	size_t		k;
	int			i;

	race_counters_load(exact->counters, exact->width, 0, range, nodes);
	for (i = 1; i < n; i++)
	{
		race_counters_load(exact[i].counters, exact[i].width, 0, range, space);
		for (k = 0; k < range; k++)
			nodes[k] = race_clamped_sum(nodes[k], space[k]);
	}
}

/* A look at a grid, which costs what the plan says whatever is seen */
static RaceCellsSeen
look_at_grid(RaceRandom *random, const RaceExact *exact, int n, const RacePlan *plan, int halvings,
			 int64_t *nodes)
{
	int64_t    *space = nodes + exact->params->range;
	RaceCellsSeen seen;
	RaceGridLook look;

	load_nodes(exact, n, nodes, space);
	race_grid_look(exact->params, halvings, nodes, space, &look);
	seen.halvings = halvings;
	seen.detail = noisy(random, (int64_t) look.detail, plan, plan->choice_noise);
	seen.spread = noisy(random, (int64_t) look.spread, plan, plan->choice_noise);
	seen.scale = (double) plan->choice_noise / RACE_SCALE_DENOMINATOR;
	return seen;
}

/* Halves of a grid are exact in fewer halvings. */
static RaceKept
choose_cells(RaceRandom *random, const RaceExact *exact, int n, const RaceRequest *request,
			 const RacePlan *plan, double records, int64_t *workspace)
{
	const RaceParams *params = exact->params;
	double		part = exact->is_half ? part_of_halves[params->dims] : 1;
	RaceKept	kept;
	RaceCells	cells;
	RaceGrid	grid;
	int			halvings;
	int			most;

	race_cells_list(request, params, race_usual_mass(records) * part, &cells);
	halvings = plan->choice_noise > 0 ? race_cells_look_at(params, &cells) : 0;
	kept = cells.usual;
	if (halvings > 0)
	{
		RaceCellsSeen seen = look_at_grid(random, exact, n, plan, halvings, workspace);

		kept = race_cells_choose(params, &cells, &seen, records, part);
	}
	if (exact->is_half)
	{
		race_grid_of(params, &grid);
		most = race_grid_split_halvings(&grid) -
			RACE_GRID_LEVEL_HALVINGS * (kept.grid.levels - 1);
		if (kept.grid.halvings > most)
			kept.grid.halvings = most;
	}
	return kept;
}

static RaceKept
choose_rows(RaceRandom *random, const RaceExact *exact, int n, const RaceRequest *request,
			const RacePlan *plan, double records, int64_t *workspace)
{
	(void) workspace;
	return race_choose_kept(request, exact->params, plan->choice_noise > 0 ?
							mass_by_norms(random, exact, n, plan, records) :
							race_usual_mass(records));
}

/* Of moments all is kept. */
static RaceKept
choose_all(RaceRandom *random, const RaceExact *exact, int n, const RaceRequest *request,
		   const RacePlan *plan, double records, int64_t *workspace)
{
	(void) random;
	(void) n;
	(void) plan;
	(void) workspace;
	return race_choose_kept(request, exact->params, records);
}

/* ---------------------------------------------------------------- the kinds */

static size_t
no_words(const RaceParams *params)
{
	(void) params;
	return 0;
}

static size_t
words_of_tables(const RaceParams *params)
{
	return 2 * (size_t) params->range;
}

static size_t
words_of_moments(const RaceParams *params)
{
	size_t		columns = race_moments_columns(params);

	return race_moments_counters(columns) + columns * (columns + 1);
}

static const struct
{
	/* the workspace in words; what to keep, if the request leaves it open; the noisy counters */
	size_t		(*words) (const RaceParams *params);
	RaceKept	(*choose) (RaceRandom *random, const RaceExact *exact, int n,
						   const RaceRequest *request, const RacePlan *plan, double records,
						   int64_t *workspace);
	void		(*draw) (RaceRandom *random, const RaceExact *exact, const RacePlan *plan,
						 void *workspace, int64_t *counters);
}			by_kind[RACE_SUMMARIES] = {
	[RACE_SUMMARY_ROWS] = {no_words, choose_rows, draw_rows},
	[RACE_SUMMARY_TABLES] = {words_of_tables, choose_cells, draw_tables},
	[RACE_SUMMARY_MOMENTS] = {words_of_moments, choose_all, draw_moments}
};

size_t
race_draw_workspace(const RaceParams *params)
{
	return by_kind[race_summary_kind(params)->number].words(params) * sizeof(int64_t);
}

void
race_draw_counters(RaceRandom *random, const RaceExact *exact, const RacePlan *plan,
				   void *workspace, int64_t *counters)
{
	by_kind[race_summary_kind(exact->params)->number].draw(random, exact, plan, workspace, counters);
}

bool
race_draw_plan(RaceRandom *random, const RaceExact *exact, int n, const RaceRequest *request,
			   void *workspace, int64_t *counts, RacePlan *plan)
{
	const RaceParams *params = exact->params;
	double		mean = 0;
	int			i;

	/*
	 * the noise is largest for all rows or levels: if it is too large, the error comes
	 * before any draw
	 */
	if (!race_plan_release(request, params, race_most_kept(request, params), plan))
		return false;
	for (i = 0; i < n; i++)
	{
		counts[i] = race_draw_count(random, &exact[i], plan);
		mean += (double) counts[i] / n;
	}
	return request->rows > 0 ||
		race_plan_release(request, params,
						  by_kind[race_summary_kind(params)->number].choose(random, exact, n, request, plan,
																	fmax(mean, 1), workspace),
						  plan);
}
