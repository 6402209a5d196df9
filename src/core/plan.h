/*
 * plan.h
 *		The plan of a private release, and drawing its noise: plain C
 */
#ifndef RACE_PLAN_H
#define RACE_PLAN_H

#include "noise_state.h"
#include "summary.h"

/*
 * The cost of a release, and how much noise that means.
 *
 * A plan depends on what is asked and on public parameters alone.  Plain C99 without PostgreSQL
 * headers.
 */

/* What the caller asks of a release, checked */
typedef struct RaceRequest
{
	double		epsilon;
	double		delta;
	uint32_t	rows;			/* 0: to be chosen */
	bool		fit;			/* will a model be fitted to the release? */
	uint32_t	max_contributions;
	RaceNeighbors neighbors;
} RaceRequest;

/* Who adds up noise shares (noise/sum.c) */
typedef struct RaceFederation
{
	uint32_t	parties;
	uint32_t	colluders;
	uint32_t	dropouts;
} RaceFederation;

typedef struct RacePlan
{
	RaceKept	kept;
	/*
	 * Scale of discrete Laplace, or variance of discrete Gaussian noise, as noise.h has them.
	 * In moments, Gaussian noise on the diagonal has twice the variance; and of a Wishart matrix it
	 * is the scale, and entry_noise that of the Laplace noise beside it.
	 */
	uint64_t	counter_noise;
	uint64_t	entry_noise;
	uint64_t	count_noise;
	uint64_t	choice_noise;	/* scale of discrete Laplace, or 0 (noise.h): no choice */
	RaceNoise	noise;			/* what the sketch will say of it */
} RacePlan;

/*
 * What a record changes, in L1, of what a release looks at before it chooses what it keeps; 0 if
 * it does not look
 */
extern uint64_t race_look_weight(const RaceRequest *request, const RaceParams *params);

/*
 * The noise for a release that keeps so much.  That of the count does not depend on
 * what is kept.  False when it would be too large for a counter.
 */
extern bool race_plan_release(const RaceRequest *request, const RaceParams *params,
							  RaceKept kept, RacePlan *plan);

/* What a request keeps that has the most noise: what it asks for, or all rows or levels */
extern RaceKept race_most_kept(const RaceRequest *request, const RaceParams *params);

/*
 * The noise of one share, for one of several parties. If rows are to be chosen, all
 * are kept. False as above.
 */
extern bool race_plan_share(const RaceRequest *request, const RaceParams *params,
							const RaceFederation *federation, RacePlan *plan);

/*
 * What to keep, if the request leaves it open: the power of two of rows (or all), or the
 * cells and levels of a grid, for which the expected error of a kernel sum is least, where
 * a typical kernel sum is so many records
 */
extern RaceKept race_choose_kept(const RaceRequest *request,
								 const RaceParams *params, double mass);

/* The expected variance of a kernel sum that noise and sampling give a release */
extern double race_expected_noise(const RaceParams *params, const RacePlan *plan);
extern double race_expected_sampling(const RaceRequest *request, const RaceParams *params,
									 RaceKept kept, double mass);

/*
 * A pure release is (epsilon, delta) private, too.  Does it serve better than what is asked for with a
 * delta: the same moments or grid, or a grid in place of rows, for densities or for means of values?
 * This is told from public facts.
 */
extern bool race_pure_serves(const RaceRequest *request, const RaceParams *params,
							 const RaceParams *pure_params, bool densities);

/* The same number by what is usual: where nothing is known of a table but its size */
extern double race_usual_mass(double records);

/*
 * Which cells of a grid a release keeps.
 *
 * Fine cells have more noise in a kernel sum, and coarse ones lose more of the table.  How much
 * that is depends on the table: a flat one loses nothing for cells that a line cannot do with.  So a
 * pure release looks at what cells a little coarser than usual would lose, with noise, and takes
 * those whose error is then expected to be least.
 */

#define RACE_MOST_CELLS		32	/* more than there are choices of halvings and levels */

/* All that a release may keep of a grid, and the variance of noise in a kernel sum then */
typedef struct RaceCells
{
	int			n;
	RaceKept	kept[RACE_MOST_CELLS];
	double		noise[RACE_MOST_CELLS];
	RaceKept	usual;			/* the best of tables as they usually are; */
	int			halvings;		/* the best of one level, */
	double		loss;			/* and what these tables are expected to lose then */
} RaceCells;

/* `mass` is how many records a typical kernel sum is. */
extern void race_cells_list(const RaceRequest *request, const RaceParams *params, double mass,
							RaceCells *cells);

/* After how many halvings to look at what the last one loses; 0: there is nothing to see */
extern int	race_cells_look_at(const RaceParams *params, const RaceCells *cells);

/* What was seen there, with discrete Laplace noise of a scale, which is given as a real number */
typedef struct RaceCellsSeen
{
	int			halvings;
	double		detail;			/* as in RaceGridLook */
	double		spread;
	double		scale;
} RaceCellsSeen;

/* The best, where sums are asked of `part` of a table with so many records */
extern RaceKept race_cells_choose(const RaceParams *params, const RaceCells *cells,
								  const RaceCellsSeen *seen, double records, double part);

/*
 * What a release draws: noisy counts, by which, and by a noisy look, it chooses what it
 * keeps, and noisy counters.
 *
 * Plain C99 without PostgreSQL headers, so that unit tests can follow each exact number to its
 * noise.
 */

/* An exact sketch as a release reads it, or a half of a pair */
typedef struct RaceExact
{
	const RaceParams *params;
	const void *counters;		/* of so many bytes each */
	int			width;
	bool		is_half;
	int64_t		count;
} RaceExact;

/* The bytes of the workspace of what follows, which is aligned to 8 */
extern size_t race_draw_workspace(const RaceParams *params);

/*
 * Draw the noisy counts of n exact sketches, which have the same parameters: one sketch, or both
 * halves.  If the request leaves open what is kept, choose it, the same for all.  False if the
 * noise would be too large, whatever the sketches hold: then nothing was drawn.
 */
extern bool race_draw_plan(RaceRandom *random, const RaceExact *exact, int n,
						   const RaceRequest *request, void *workspace, int64_t *counts,
						   RacePlan *plan);

/* Draw the noisy count alone, of a noise share. */
extern int64_t race_draw_count(RaceRandom *random, const RaceExact *exact, const RacePlan *plan);

/* Draw the counters that are kept: rows, the levels of a grid one after the other, or moments. */
extern void race_draw_counters(RaceRandom *random, const RaceExact *exact, const RacePlan *plan,
							   void *workspace, int64_t *counters);

/*
 * The one place where an exact number gets noise.
 *
 * Plain C99 without PostgreSQL headers.  test/unit/greybox_test.c has another race_noisy() in
 * place of this one, which notes what it is given.
 */

/*
 * A number plus noise of this scale or variance (noise.h), cut where it does not fit.  It is clamped to
 * +-RACE_MAX_COUNT by who calls this, after all noise was added: to clamp a number that lacks some of
 * its noise is not post-processing.
 */
extern int64_t race_noisy(RaceRandom *random, int64_t value, RaceMechanism mechanism,
						  uint64_t noise);

#endif
