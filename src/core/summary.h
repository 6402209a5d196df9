/*
 * summary.h
 *		The table of kinds of summaries; the plan of a private release, and drawing its noise
 *
 * Every summary is a linear map of a table into integer counters.  There are these maps: rows
 * (a hash function for each row says which counter gets 1), tables (a cell of each table gets 1, or a
 * record is split over neighbouring nodes of a grid of one to three columns), and moments (products of
 * columns).  Parameters say which one it is.  What kinds do differently stands in one table: nobody
 * else asks what kind a summary is.
 *
 * A plan is the cost of a release, and how much noise that means.  It depends on what is asked and on
 * public parameters alone.  Plain C99 without PostgreSQL headers.
 */
#ifndef RACE_SUMMARY_H
#define RACE_SUMMARY_H

#include <math.h>

#include "counters.h"
#include "lsh.h"
#include "noise_state.h"
#include "table.h"

/* What a release keeps of a summary: the first rows, cells of a grid, or some tables */
typedef struct RaceSelection
{
	uint32_t	rows;
	RaceGridChoice grid;		/* of a grid, which has 1 row */
	int			coarser;		/* of moments: bits that counters lack while noise is drawn */
	const struct RaceMeasuring *tables;	/* of tables: what was measured (measure.h), or NULL */
} RaceSelection;

/* What the caller asks of a release, checked */
typedef struct RaceRequest
{
	double		epsilon;
	double		delta;
	uint32_t	rows;			/* 0: to be chosen */
	bool		fit;			/* will a model be fitted to the release? */
	uint32_t	max_contributions;	/* of records with weights, times the largest weight */
	RaceNeighbors neighbors;

	/*
	 * Of records with weights: the largest weight, else 0; and how many binary digits weights have after the point.
	 * Exact counters and counts have these digits, too, and what is drawn has them until noise was added.
	 */
	uint32_t	weight_max;
	uint32_t	weight_bits;

	/*
	 * Of a value of a series: in how many of these a record is (series.h); else 0.  Public facts alone then say what is
	 * kept, so that values can be added up, and the value states the cost of the series.
	 */
	uint32_t	levels;
	bool		zcdp;			/* is rho added up with that of other releases? */

	/*
	 * Of tables: what was drawn before, to choose categories, takes its part of the same account of Gaussian noise: numbers
	 * that changed by so much, squared, with this variance; or 0.
	 */
	uint64_t	chosen_squared;
	uint64_t	chosen_variance;
} RaceRequest;

/* Does the exact account (noise.h) cover a request with a delta?  Sums of rho, and substitution, stay in zCDP. */
extern bool race_request_exact(const RaceRequest *request);

typedef struct RacePlan
{
	RaceSelection	selection;
	/*
	 * Scale of discrete Laplace, or variance of discrete Gaussian noise, as noise.h has them.
	 * In moments, Gaussian noise on the diagonal has twice the variance; and of a Wishart matrix it
	 * is the scale, and entry_noise that of the Laplace noise beside it.
	 */
	uint64_t	counter_noise;
	uint64_t	entry_noise;
	uint64_t	count_noise;
	uint64_t	choice_noise;	/* scale of discrete Laplace, or 0 (noise.h): no choice */
	uint32_t	weight_bits;	/* binary digits after the point, of exact numbers and of what is above */
	RaceNoise	noise;			/* what the sketch will say of it */
} RacePlan;

/*
 * Count records with weights from 0 to a whole number, besides what a request says.  Weights get as many binary digits as
 * the noise of these parameters leaves room for.  False if weight_max is too large for counters or noise.
 */
extern bool race_request_weights(RaceRequest *request, const RaceParams *params, uint32_t weight_max);

/* What a record of the largest weight adds, in places of its last digit; 0 without weights */
static inline uint32_t
race_largest_weight(const RaceRequest *request)
{
	return request->weight_max << request->weight_bits;
}

/* The variance of a noisy number whose binary digits after the point were rounded off, in whole numbers */
static inline double
race_weighted_variance(double variance, uint32_t bits)
{
	return bits == 0 ? variance : ldexp(variance, -2 * (int) bits) + 1.0 / 12;
}

/* An exact sketch as a release reads it, or a half of a pair */
typedef struct RaceExact
{
	const RaceParams *params;
	const void *counters;		/* of `width` bytes each */
	int			width;
	bool		is_half;
	int64_t		count;
} RaceExact;

/* What a fitted model of a summary is */
typedef enum RaceModelForm
{
	RACE_MODEL_NONE,
	RACE_MODEL_POINTS,			/* points with weights */
	RACE_MODEL_LOG_LINEAR		/* a number for each cell of tables */
} RaceModelForm;

/* Records that are to be counted, each `weight` times; with portions, parts of them in the upper half */
typedef struct RaceBatch
{
	const RaceRows *functions;	/* or NULL */
	const double *numbers;
	size_t		n;
	int64_t		weight;
	const RacePortion *portions;	/* or NULL */
	RaceCounterArray counters;
	RaceCounterArray upper;
	void	   *workspace;		/* aligned to 8 */
} RaceBatch;

typedef struct RaceSummaryKind
{
	const char *name;
	const char *hint;			/* how it is asked, if it has no densities */

	/*
	 * Do row functions say which counters a record adds to?  Else a question needs no buckets,
	 * and codes are never rehashed.
	 */
	bool		hashed;

	/* Does it answer with kernel sums?  Then it can be divided into halves; else functions of its own ask it. */
	bool		densities;

	/* Are its counters the triangle of a matrix of products?  They have 64 bits, and noise of their own. */
	bool		matrix;

	/* Is what is measured selected, whatever rows are asked for? */
	bool		selected;

	RaceModelForm model;

	/* Of a pure release, 1 / look_share[dims > 1] of epsilon is for the look at what to keep. */
	uint32_t	look_share[2];

	/* Complete parameters whose arrays, by RaceFieldNumber, are apart; `space` has a number for each axis. */
	void		(*shape) (RaceParams *part, const double **arrays, double *space);

	/* What is wrong with parameters of this kind, besides what all kinds have in common; or NULL */
	const char *(*problem) (const RaceParams *params, char *message, size_t length);

	/* The parameters of the row functions of a record's features; NULL: there are none */
	void		(*functions) (const RaceParams *params, RaceParams *functions);

	/* How many bytes it takes to count n records, or NULL; count them.  NULL: in rows (sketch.c) */
	size_t		(*count_workspace) (const RaceParams *params, size_t n);
	void		(*count) (const RaceParams *params, const RaceBatch *batch);

	/* How much a counter has for one record; and by how much a record changes one at most */
	uint64_t	(*unit) (const RaceParams *params);
	uint64_t	(*largest) (const RaceParams *params);

	/* What a record adds to the counters that are kept, at most: in L1, and in L2 squared */
	uint64_t	(*weight) (const RaceParams *params, RaceSelection selection);
	uint64_t	(*squared) (const RaceParams *params, RaceSelection selection);

	/*
	 * What a record changes, in L1, of the norms that a release looks at before it chooses what
	 * it keeps; 0, or NULL, if there is nothing to choose
	 */
	uint64_t	(*look_weight) (const RaceParams *params);

	/*
	 * The fewest bits that integers must lack so that all of this can be computed.  If noise is too large
	 * for them, they may lack more.  NULL: they lack none.
	 */
	int			(*least_coarse) (const RaceParams *params);

	/* Find the noise of what is kept; false if it would be too large. */
	bool		(*plan) (const RaceRequest *request, const RaceParams *params, RacePlan *plan);

	/* The variance of a kernel sum, by the noise of counters and by sampling or cells */
	double		(*noise) (const RaceParams *params, const RacePlan *plan);
	double		(*sampling) (const RaceRequest *request, const RaceParams *params, RaceSelection selection, double mass);

	/* What to keep, by public numbers and noisy ones: where a typical kernel sum is `mass`.  NULL: all */
	RaceSelection	(*choose) (const RaceRequest *request, const RaceParams *params, double mass);

	/* The bytes that the next two work in, or NULL.  Select what to keep by a noisy look; NULL: choose it. */
	size_t		(*workspace) (const RaceParams *params);
	RaceSelection	(*select) (RaceRandom *random, const RaceExact *exact, int n, const RaceRequest *request,
						   const RacePlan *plan, double records, int64_t *workspace);

	/* Draw the noisy counters. */
	void		(*draw) (RaceRandom *random, const RaceExact *exact, const RacePlan *plan, void *workspace,
						 int64_t *counters);

	/* Make the cells of parameters coarser; NULL: nothing is between cells that could be made so */
	void		(*coarsen) (RaceParams *params, RaceGridChoice choice);
} RaceSummaryKind;

/* The kind that parameters are of */
extern const RaceSummaryKind *race_summary_kind(const RaceParams *params);

/* The same by parameters: the unit; and what a record adds to all counters, in L2 squared */
extern uint64_t race_record_unit(const RaceParams *params);
extern uint64_t race_record_squared(const RaceParams *params);

/* Who adds up noise shares (noise.c) */
typedef struct RaceFederation
{
	uint32_t	parties;
	uint32_t	colluders;
	uint32_t	dropouts;
} RaceFederation;

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
							  RaceSelection selection, RacePlan *plan);

/* What a request keeps that has the most noise: what it asks for, or all rows or levels */
extern RaceSelection race_largest_selection(const RaceRequest *request, const RaceParams *params);

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
extern RaceSelection race_choose_selection(const RaceRequest *request,
								 const RaceParams *params, double mass);

/* The variance of a kernel sum by noise; INFINITY if it would be too large for a counter */
extern double race_selection_noise(const RaceRequest *request, const RaceParams *params, RaceSelection selection);

/*
 * A pure release is (epsilon, delta) private, too.  Does it serve better, with this epsilon, than what is asked for with a
 * delta: the same moments or grid, or a grid in place of rows, for densities or for means of values?
 * This is told from public facts.
 */
extern bool race_pure_serves(const RaceRequest *request, const RaceParams *params, double pure_epsilon,
							 const RaceParams *pure_params, bool densities);

/* The same number by what is usual: where nothing is known of a table but its size */
extern double race_usual_mass(double records);

/*
 * Which cells of a grid a release keeps (table.c): those that are best of usual tables, or, after a noisy look,
 * those whose error is then expected to be least.  `mass` is how many records a typical kernel sum is.
 */
extern RaceSelection race_grid_choose(const RaceRequest *request, const RaceParams *params, double mass);
extern RaceSelection race_grid_select(RaceRandom *random, const RaceExact *exact, int n, const RaceRequest *request,
									  const RacePlan *plan, double records, int64_t *workspace);

/*
 * What a release draws: noisy counts, by which, and by a noisy look, it chooses what it
 * keeps, and noisy counters.
 *
 * Plain C99 without PostgreSQL headers, so that unit tests can follow each exact number to its
 * noise.
 */

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

/*
 * How many rows of a sketch a fitted model needs.
 */

#define RACE_MAX_FITTED_ROWS	16384	/* rows that weights are found from: the first */

/* Does the kernel compare vectors by themselves, so that points need no texts? */
extern bool race_model_is_of_vectors(const RaceParams *params);

/* How many rows are the first half.  Of one row both halves are the same. */
extern uint32_t race_model_first_rows(const RaceParams *params);

/* Are points of vectors moved to suit rows?  In more dimensions than a grid of points covers. */
#define RACE_MODEL_GRID_DIMS	2

extern bool race_model_moves(const RaceParams *params);

/*
 * How many rows can test a model that race_fit() makes.  A row function of vectors has one
 * number more than there are dimensions: points that were moved to suit fewer than four times as
 * many rows suit them by chance.  In 8 dimensions models of 32 rows were up to twice as far off as
 * the rows, and of 64 nearer.  Of others, products too, each half of the rows should have seen all
 * columns: else samples know nothing of some of them together.
 */
extern uint32_t race_model_least_rows(const RaceParams *params);

/* Has each half of the rows enough for points of its own, where points are moved? */
extern bool race_model_halves_move(const RaceParams *params);

#endif
