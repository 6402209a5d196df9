/*
 * fit_state.c
 *		What a fit works with, and the model that it writes
 */
#include "postgres.h"

#include "miscadmin.h"

#include "../core/core.h"
#include "fit.h"
#include "evaluator.h"
#include "solver.h"

#define LAST_ITERATIONS	120		/* by the misfit of answers, after those by that of counters */

void
race_fit_state_start(RaceFitState *fit, const RaceView *view, RaceRecords *points, uint32 capacity)
{
	Size		line;

	memset(fit, 0, sizeof(RaceFitState));
	fit->view = view;
	if (!race_summary_kind(view->params)->hashed)
	{
		fit->gridded = race_gridded_create(view, CurrentMemoryContext);
		fit->radial = palloc(sizeof(RaceRadial));
		race_radial_init(fit->radial, view->params);
	}
	fit->site = race_call_site_create(InvalidOid, CurrentMemoryContext);
	race_call_site_hold_rows(fit->site, view->params);
	fit->rows = Min(view->params->rows, RACE_MAX_FITTED_ROWS);
	fit->end = fit->rows;
	fit->records = race_count_divisor(race_record_count(view, fit->gridded));
	fit->points = points;
	line = race_gram_line(fit->rows);
	fit->weights = palloc(capacity * sizeof(double));
	fit->second = palloc(capacity * sizeof(double));
	fit->answers = palloc(capacity * sizeof(double));
	fit->space = palloc(RACE_SOLVE_SPACE(capacity) * sizeof(double));
	if (fit->gridded == NULL)
		fit->codes = palloc_extended(capacity * line * sizeof(uint16), MCXT_ALLOC_HUGE);
}

/* The buckets of some records in the first rows, [n][line] */
void
race_fit_state_hash(const RaceFitState *fit, const RaceRecords *records, uint32 from, uint32 n,
			 uint32 rows, uint32 *buckets)
{
	Size		line = race_gram_line(rows);
	RaceColumn	columns[RACE_MAX_PARTS];
	uint32		of_block[RACE_RECORDS_TOGETHER * RACE_LANES];

	Assert(n <= RACE_RECORDS_TOGETHER);
	if (race_rows_together(fit->view->params))
	{
		for (uint32 i = 0; i < n; i++)
		{
			race_records_columns(records, from + i, columns);
			race_rows_hash_one(race_rows_of(fit->site->rows), rows, columns,
							   buckets + i * line);
		}
		return;
	}
	race_records_columns(records, from, columns);
	for (Size block = 0; block * RACE_LANES < rows; block++)
	{
		CHECK_FOR_INTERRUPTS();
		race_rows_hash(race_rows_of(fit->site->rows), block, columns, n, of_block);
		for (uint32 i = 0; i < n; i++)
			memcpy(buckets + i * line + block * RACE_LANES, of_block + i * RACE_LANES,
				   RACE_LANES * sizeof(uint32));
	}
}

/* Multiply by transforms: the points are a grid over the box. */
void
race_fit_state_use_lattice(RaceFitState *fit, const RaceBox *box, const Size *sides)
{
	const RaceParams *params = fit->view->params;
	Size		all[RACE_FOURIER_DIMS] = {1, sides[0], sides[1]};
	RaceLattice *lattice = palloc(sizeof(RaceLattice));
	double		lower[RACE_FOURIER_DIMS];
	double		upper[RACE_FOURIER_DIMS];
	double		steps[RACE_FOURIER_DIMS] = {0, 0, 0};

	race_radial_place(fit->radial, params, box->lower, lower, 1);
	race_radial_place(fit->radial, params, box->upper, upper, 1);
	for (uint32 axis = 0; axis < box->dims; axis++)
	{
		int			side = RACE_FOURIER_DIMS - box->dims + axis;

		if (all[side] > 1)
			steps[side] = (upper[axis] - lower[axis]) / (all[side] - 1);
	}
	race_lattice_init(lattice, fit->radial, all, steps, false,
					  palloc_extended(race_lattice_space(all) * sizeof(RaceComplex), MCXT_ALLOC_HUGE));
	fit->gram.lattice = lattice;
}

/* Ask rows first ... end - 1 at the points, or a grid; and find the Gram matrix of these rows, or of the exact kernel. */
void
race_fit_state_ask(RaceFitState *fit, uint32 first, uint32 end)
{
	const RaceParams *params = fit->view->params;
	const double *x = fit->points->parts[0].numbers;
	Size		line = race_gram_line(end);
	Size		rows = end - first;
	Size		points = fit->points->n;
	uint32	   *buckets;
	double	   *places;

	fit->gram.m = points;
	for (Size i = 0; i < points && fit->gridded != NULL; i++)
		fit->answers[i] = race_gridded_sum(fit->gridded, x + i * params->dims);
	if (fit->gram.lattice != NULL)
		return;
	/* the number of points stays */
	if (fit->gram.dense == NULL)
		fit->gram.dense = palloc_extended(points * points * sizeof(float), MCXT_ALLOC_HUGE);
	if (fit->gridded != NULL)
	{
		places = palloc_extended(points * params->dims * sizeof(double), MCXT_ALLOC_HUGE);
		for (Size i = 0; i < points; i++)
			race_radial_place(fit->radial, params, x + i * params->dims, places + i, points);
		race_gram_of_places(fit->radial, places, points, fit->gram.dense);
		pfree(places);
		return;
	}
	buckets = palloc_extended(RACE_RECORDS_TOGETHER * line * sizeof(uint32), MCXT_ALLOC_HUGE);
	for (uint32 from = 0; from < points; from += RACE_RECORDS_TOGETHER)
	{
		uint32		n = Min(points - from, RACE_RECORDS_TOGETHER);

		race_fit_state_hash(fit, fit->points, from, n, end, buckets);
		for (Size i = 0; i < n; i++)
		{
			fit->answers[from + i] = race_estimator_mean(fit->view, NULL, buckets + i * line,
														 first, end);
			race_gram_pack(buckets + i * line + first, rows, from + i,
						   fit->codes + (from + i) * race_gram_line(rows));
		}
	}
	pfree(buckets);
	race_gram_of_codes(fit->codes, points, rows, fit->gram.dense);
}

void
race_fit_state_improve(const RaceFitState *fit, RaceMisfit misfit, int iterations, double *weights)
{
	race_solve_weights(&fit->gram, fit->answers, fit->records, misfit, iterations, weights,
					   fit->space);
}

/* All points weigh the same. */
void
race_fit_state_spread(const RaceFitState *fit, double *weights)
{
	for (uint32 i = 0; i < fit->points->n; i++)
		weights[i] = fit->records / fit->points->n;
}

void
race_fit_state_solve(RaceFitState *fit, uint32 first, uint32 end, double *weights)
{
	race_fit_state_ask(fit, first, end);
	race_fit_state_spread(fit, weights);
	race_fit_state_improve(fit, RACE_MISFIT_COUNTERS, RACE_FIT_ITERATIONS, weights);
	race_fit_state_improve(fit, RACE_MISFIT_ANSWERS, LAST_ITERATIONS, weights);
}

/* One row has no halves. */
void
race_fit_state_solve_halves(RaceFitState *fit)
{
	uint32		half = race_model_first_rows(fit->view->params);

	race_fit_state_solve(fit, 0, half, fit->weights);
	if (half < fit->rows)
		race_fit_state_solve(fit, half, fit->rows, fit->second);
	else
		memcpy(fit->second, fit->weights, fit->points->n * sizeof(double));
}

/* ------------------------------------------------------------- the model */

static bool
has_weight(const RaceFitState *fit, uint32 i)
{
	return fit->weights[i] > 0 || fit->second[i] > 0;
}

/* Append a part of all points to the words of a model. */
static uint64 *
write_part(uint64 *next, const RaceFitState *fit, const RaceRecordsPart *part)
{
	bool		is_set = part->kind == RACE_RECORD_SET;
	uint64		start = 0;

	if (is_set)
	{
		*next++ = 0;
		for (uint32 i = 0; i < fit->points->n; i++)
			if (has_weight(fit, i))
				*next++ = start += part->starts[i + 1] - part->starts[i];
	}
	for (uint32 i = 0; i < fit->points->n; i++)
	{
		Size		from = is_set ? part->starts[i] : (Size) i * part->width;
		Size		n = is_set ? part->starts[i + 1] - part->starts[i] : part->width;

		if (!has_weight(fit, i) || n == 0)
			continue;
		if (part->kind == RACE_RECORD_VECTOR)
			memcpy(next, part->numbers + from, n * sizeof(uint64));
		else
			memcpy(next, part->elements + from, n * sizeof(uint64));
		next += n;
	}
	return next;
}

void
race_fit_check_size(Size size)
{
	if (size > RACE_MAX_MODEL_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a model can be at most %d MB large",
						(int) (RACE_MAX_MODEL_BYTES / (1024 * 1024))),
				 errhint("Fit fewer points, or points with shorter texts.")));
}

/* A model of the points that have a weight.  Nothing is known of residuals yet. */
RaceModel *
race_fit_model(const RaceFitState *fit, char *const *texts, Size *size)
{
	uint64		elements = 0;
	uint64		text_size = 0;
	uint32		n = 0;
	RaceModel  *model;
	uint64	   *next;
	char	   *bytes;
	uint32		i;

	for (i = 0; i < fit->points->n; i++)
		if (has_weight(fit, i))
		{
			n++;
			elements += race_records_sets_size(fit->points, i, 1) / sizeof(uint64);
			text_size += texts == NULL ? 0 : strlen(texts[i]);
		}
	*size = race_model_size(fit->view->params, n, elements, text_size);
	race_fit_check_size(*size);
	model = palloc_extended(*size, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	model->points = n;
	model->text_size = text_size;
	for (i = 0, n = 0; i < fit->points->n; i++)
		if (has_weight(fit, i))
		{
			race_model_weights(model, RACE_FOLD_FIRST)[n] = fit->weights[i];
			race_model_weights(model, RACE_FOLD_SECOND)[n++] = fit->second[i];
		}
	next = race_model_words(model);
	for (int k = 0; k < fit->points->n_parts; k++)
		next = write_part(next, fit, &fit->points->parts[k]);
	if (texts == NULL)
		return model;
	bytes = (char *) (next + n + 1);
	*next = 0;
	for (i = 0; i < fit->points->n; i++)
		if (has_weight(fit, i))
		{
			memcpy(bytes + *next, texts[i], strlen(texts[i]));
			next[1] = *next + strlen(texts[i]);
			next++;
		}
	return model;
}
