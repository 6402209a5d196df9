/*
 * table_modes.c
 *		Modes of the columns of private contingency tables, which neither noise nor chance explains
 *
 * Counts up to each cell are known up to a radius.  Of all functions within it, the taut string
 * (Davies & Kovac 2001) has the fewest modes: it is the shortest path from the first count to the
 * last.  Where its slope is largest are modes.
 */
#include "postgres.h"

#include <math.h>

#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "hash/contingency.h"
#include "sketch/domain.h"
#include "sketch/result.h"
#include "answers/table_answers.h"

PG_FUNCTION_INFO_V1(race_modes_column);

#define MOST_MODES 100
#define CONFIDENCE 0.95 /* that a mode is none of noise and chance */

/* Cells of the string that have the same density */
typedef struct Piece
{
	uint32 first;
	uint32 last;
	double count;      /* records of a cell of usual width */
	double prominence; /* records of such a cell, above the higher saddle */
} Piece;

/* A mode of a column; NULL of a column in which none stands out */
typedef struct ColumnMode
{
	const RaceDomain *domain;
	double records; /* records of the column */
	int number;     /* number of the column's modes */
	Piece piece;
	bool known;
} ColumnMode;

typedef struct ColumnModes
{
	RaceOpenTables open;
	int32 most;
	List *modes;
	RaceResultRow row;
} ColumnModes;

/*
 * Find the straight part of the string that begins before a cell, at a height of records before it.
 * Return the next cell.  The string bends where it touches the bound that lets it go no further.
 */
static uint32
find_stretch(const double *before, const double *at, uint32 n, double radius, uint32 from,
			 double *height, double *slope)
{
	double least = -INFINITY;
	double most = INFINITY;
	uint32 least_at = n;
	uint32 most_at = n;
	uint32 to = n;

	*slope = (before[n] - *height) / (at[n] - at[from]);
	for (uint32 i = from + 1; i <= n; i++)
	{
		double allowed = i == n ? 0 : radius;
		double low = (before[i] - allowed - *height) / (at[i] - at[from]);
		double high = (before[i] + allowed - *height) / (at[i] - at[from]);

		if (low > most || high < least)
		{
			to = low > most ? most_at : least_at;
			*slope = low > most ? most : least;
			break;
		}
		if (low >= least)
		{
			least = low;
			least_at = i;
		}
		if (high <= most)
		{
			most = high;
			most_at = i;
		}
	}
	*height += *slope * (at[to] - at[from]);
	return to;
}

/* Find the pieces of the taut string of the counts of n cells between edges.  Return their number. */
static uint32
pull_string(const double *counts, const double *at, uint32 n, double radius, Piece *pieces)
{
	double *before = palloc_extended((n + 1) * sizeof(double), MCXT_ALLOC_HUGE);
	uint32 found = 0;
	uint32 from = 0;
	double height = 0;

	before[0] = 0;
	for (uint32 i = 0; i < n; i++)
		before[i + 1] = before[i] + counts[i];
	while (from < n)
	{
		Piece *piece = &pieces[found++];

		CHECK_FOR_INTERRUPTS();
		piece->first = from;
		from = find_stretch(before, at, n, radius, from, &height, &piece->count);
		piece->last = from - 1;
	}
	pfree(before);
	return found;
}

/* Return the highest of the lowest densities on the way to a denser piece; 0 if there is none. */
static double
highest_saddle(const Piece *pieces, uint32 n, uint32 from, int step)
{
	double least = pieces[from].count;

	for (uint32 i = from + step; i < n; i += step)
	{
		if (pieces[i].count > pieces[from].count)
			return Max(least, 0);
		least = Min(least, pieces[i].count);
	}
	return 0;
}

static int
compare_prominences(const void *a, const void *b)
{
	double x = ((const Piece *) a)->prominence;
	double y = ((const Piece *) b)->prominence;

	return (x < y) - (x > y);
}

/* Keep the pieces that are modes, the most prominent first.  Return their number. */
static uint32
keep_modes(Piece *pieces, uint32 n)
{
	Piece *all = palloc_extended(n * sizeof(Piece), MCXT_ALLOC_HUGE);
	uint32 found = 0;

	memcpy(all, pieces, n * sizeof(Piece));
	for (uint32 i = 0; i < n; i++)
		if (all[i].count > (i > 0 ? all[i - 1].count : 0) &&
			all[i].count > (i + 1 < n ? all[i + 1].count : 0))
		{
			pieces[found] = all[i];
			/* past the first piece, an unsigned number is above n */
			pieces[found++].prominence =
				all[i].count - Max(highest_saddle(all, n, i, 1), highest_saddle(all, n, i, -1));
		}
	pfree(all);
	qsort(pieces, found, sizeof(Piece), compare_prominences);
	return found;
}

/*
 * Return the edges of the cells of a column, in cells of usual width: bounds cut the first and the
 * last one, and months are not equally long.
 */
static double *
edges_in_cells(const RaceDomain *domain)
{
	double *at = palloc_extended((domain->n + 1) * sizeof(double), MCXT_ALLOC_HUGE);
	double length = race_step_length(&domain->step);
	bool months = domain->step.months > 0;

	for (uint32 i = 0; i <= domain->n; i++)
		at[i] = months ? race_tables_edge(domain, i) / length : i;
	if (!months && domain->lower < race_tables_edge(domain, domain->n))
	{
		at[0] = (domain->lower - domain->start) / length;
		at[domain->n] = domain->n == 1 ? 1 :
										 domain->n - 1 +
				(race_tables_edge(domain, domain->n) - race_tables_edge(domain, domain->n - 1)) /
					length;
	}
	return at;
}

static void
add_modes(ColumnModes *modes, uint32 column)
{
	const RaceTableModel *model = modes->open.model;
	const RaceDomain *domain = &modes->open.domains[column];
	const RaceTable *table = &model->table[column];
	double *counts = palloc_extended(domain->n * sizeof(double), MCXT_ALLOC_HUGE);
	Piece *pieces = palloc_extended(domain->n * sizeof(Piece), MCXT_ALLOC_HUGE);
	double records = 0;
	double radius;
	uint32 n;

	for (uint32 i = 0; i < domain->n; i++)
		records += counts[i] = race_table_records(&modes->open.view, model, table, i);
	/*
	 * the largest distance of a sample, and of a sum of noise, has the same distribution
	 * (Kolmogorov)
	 */
	radius = sqrt(log(2 / (1 - CONFIDENCE)) / 2 * (Max(records, 0) + domain->n * table->variance));
	n = pull_string(counts, edges_in_cells(domain), domain->n, radius, pieces);
	n = n == 1 || records <= 0 ? 0 : keep_modes(pieces, n);
	for (uint32 i = 0; i == 0 || i < Min(n, (uint32) modes->most); i++)
	{
		ColumnMode *mode = palloc(sizeof(ColumnMode));

		*mode = (ColumnMode){domain, records, i + 1, {0, domain->n - 1, 0, 0}, n > 0};
		if (n > 0)
			mode->piece = pieces[i];
		modes->modes = lappend(modes->modes, mode);
	}
	pfree(counts);
	pfree(pieces);
}

static void
start_modes(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	ColumnModes *modes = palloc0(sizeof(ColumnModes));

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		return;
	modes->most = PG_GETARG_INT32(1);
	if (modes->most < 1 || modes->most > MOST_MODES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("max must be between 1 and %d", MOST_MODES)));
	race_row_start(&modes->row, fcinfo);
	race_tables_open(PG_GETARG_DATUM(0), &modes->open);
	for (int i = 0; PG_ARGISNULL(2) && i < modes->open.columns; i++)
		if (!modes->open.domains[i].category)
			add_modes(modes, i);
	if (!PG_ARGISNULL(2))
	{
		int column = race_tables_column(&modes->open, text_to_cstring(PG_GETARG_TEXT_PP(2)));

		race_tables_check_numbers(&modes->open.domains[column]);
		add_modes(modes, column);
	}
	call->user_fctx = modes;
	call->max_calls = list_length(modes->modes);
}

static Datum
next_mode(void *state, uint64 i)
{
	ColumnModes *modes = state;
	const ColumnMode *mode = list_nth(modes->modes, (int) i);
	const RaceDomain *domain = mode->domain;
	double low = race_tables_edge(domain, mode->piece.first);
	double high = race_tables_last(domain, low, race_tables_edge(domain, mode->piece.last + 1));
	double x = race_tables_middle(low, high);

	if (domain->finest > 0)
		x = race_multiple_below(domain->finest, x);
	race_row_add(&modes->row, Int32GetDatum(mode->number));
	race_row_add_text(&modes->row, domain->name);
	race_row_add_if(&modes->row, mode->known, Float8GetDatum(x));
	race_row_add_if(
		&modes->row, mode->known,
		Float8GetDatum(mode->piece.count / mode->records / race_step_length(&domain->step)));
	race_row_add_if(
		&modes->row, mode->known,
		Float8GetDatum(mode->piece.prominence / mode->records / race_step_length(&domain->step)));
	race_row_add(&modes->row, Float8GetDatum(low));
	race_row_add(&modes->row, Float8GetDatum(high));
	if (mode->known)
		race_row_add_text(&modes->row, race_domain_number_text(domain, x));
	else
		race_row_add_null(&modes->row);
	race_tables_add_dated(&modes->row, domain, true, low);
	race_tables_add_dated(&modes->row, domain, true, high);
	return race_row_datum(&modes->row);
}

/* Implement race_modes(value, max, column). */
Datum
race_modes_column(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_modes, next_mode);
}
