/*
 * choose_signs.c
 *		Signs of a release of tables, and the tables that are chosen beside them
 *
 * It holds noisy and public numbers alone.
 */
#include <math.h>
#include <string.h>

#include "privacy/counters.h"
#include "privacy/interrupt.h"
#include "privacy/noise.h"
#include "privacy/score.h"
#include "privacy/signs.h"
#include "choice/tables_work.h"

/* ------------------------------------------------------------------ memory */

/* Return how many numbers of 8 bytes signs of each kind need. */
static size_t
words_of_signs(const RaceContingency *tables)
{
	size_t n = 0;

	for (uint32_t j = 0; j < tables->columns; j++)
		n += race_contingency_finest(tables, j);
	return (n + sizeof(int64_t) - 1) / sizeof(int64_t);
}

size_t
race_signs_work_size(const RaceContingency *tables)
{
	size_t pairs = race_signs_pairs(tables->columns);

	return (words_of_signs(tables) + tables->columns + 1 + pairs +
			race_signs_space(tables->columns)) *
		sizeof(int64_t) +
		pairs * sizeof(RacePairErrors);
}

void
race_signs_work(RaceTablesWork *work, void *space)
{
	const RaceContingency *tables = &work->exact_tables;
	size_t pairs = race_signs_pairs(tables->columns);
	int64_t *words = space;

	work->sign = (int8_t *) words;
	work->signs = (double *) (words + words_of_signs(tables));
	work->sign_sums = words + words_of_signs(tables) + tables->columns + 1;
	work->sign_space = (RaceSpace *) (work->sign_sums + pairs);
	work->pairs = (RacePairErrors *) (work->sign_sums + pairs + race_signs_space(tables->columns));
}

/* ------------------------------------------------------------------- signs */

/* Set the signs of finest groups, and where they begin to be 1. */
static void
set_signs(RaceTablesWork *work, uint32_t *length, const int8_t **sign)
{
	const RaceSelect *select = &work->select;
	uint32_t cut[RACE_GRAPH_COLUMNS];
	int8_t *next = work->sign;

	race_select_cut(select, work->sums, cut);
	memset(work->signs, 0, (select->columns + 1) * sizeof(double));
	for (uint32_t k = 0; k < select->n_signs; k++)
	{
		uint32_t column = select->sign_column[k];

		work->signs[1 + column] = cut[k];
		length[k] = select->finest[column];
		sign[k] = next;
		for (uint32_t g = 0; g < length[k]; g++)
			*next++ = (int8_t) (g >= select->ordered[column] ? 0 : g < cut[k] ? -1 : 1);
	}
}

/* Measure products of signs.  Return false if there are none, or if they cannot be paid. */
static bool
measure_signs(RaceTablesWork *work)
{
	RaceSelect *select = &work->select;
	double price = race_select_signs(select);
	uint32_t length[RACE_GRAPH_COLUMNS];
	const int8_t *sign[RACE_GRAPH_COLUMNS];
	RaceSigns signs = {.columns = select->n_signs,
					   .column = select->sign_column,
					   .length = length,
					   .sign = sign,
					   .parts = work->exact_tables.parts};

	if (price == 0)
		return false;
	set_signs(work, length, sign);
	if (!race_measure_signs(&work->release->account, work->release->exact, &signs, price,
							work->sign_space, work->sign_sums, &work->signs[0]))
		return false;
	work->result.tables.signs = work->signs;
	work->result.tables.n_signs = select->columns + 1;
	return true;
}

void
race_tables_place_signs(RaceTablesWork *work)
{
	size_t pairs = race_signs_pairs(work->select.n_signs);

	if (work->result.tables.signs == NULL)
		return;
	memcpy(work->result.counters + work->counters, work->sign_sums, pairs * sizeof(int64_t));
}

/* ------------------------------------------------------------------- looks */

/* Begin the reference of what is measured by now. */
static void *
begin_reference(RaceTablesWork *work)
{
	race_tables_number_groups(work);
	race_tables_place_signs(work);
	work->result.total = work->select.total;
	return race_reference->begin(&work->result);
}

/* Return by how much records, or particles, of a pair's table are off its shares, together. */
static RacePairErrors
errors_of_pair(const RaceTablesWork *work, size_t cells)
{
	double records = work->select.total;
	double particles = race_reference->particles(work->select.columns, 0);
	double roots = 0;
	double sampling;

	for (size_t i = 0; i < cells; i++)
		roots += sqrt(fmax(work->shares[i], 0));
	/* the mean of the absolute value of a normal number is the root of 2 / pi */
	sampling = sqrt(2 / RACE_PI * records) * roots;
	return (RacePairErrors){.sampling = sampling,
							.blur = sampling * (sqrt(1 + records / particles) - 1)};
}

/* Look how far pairs are from the reference, for this price each. */
static void
look_at_pairs(RaceTablesWork *work, RaceTable table, void *reference, double price)
{
	uint32_t n = race_signs_pairs(work->select.columns);

	for (uint32_t k = 0; k < n; k++)
	{
		RaceGrouping grouping = race_tables_grouping(work, &table);
		size_t cells = race_grouping_sums(&grouping) / grouping.parts;

		race_look_for_interrupts();
		race_reference->table(reference, &table, work->shares);
		race_tables_expect(work, cells);
		work->pairs[k] = errors_of_pair(work, cells);
		(void) race_score_distance(&work->release->account, work->release->exact, &grouping,
								   work->expected, price, work->exact, &work->scores[k]);
		race_contingency_next(&work->exact_tables, &table);
	}
}

/* Measure the tables of pairs that gain more than a second draw of tables of one column. */
static void
measure_pairs(RaceTablesWork *work, RaceTable pair, void *reference,
			  const RaceReferenceErrors *errors)
{
	RaceSelect *select = &work->select;
	uint32_t before = select->measured;
	double price = race_select_look(select);

	if (price == 0)
		return;
	look_at_pairs(work, pair, reference, price);
	race_select_gain(select, work->sums, work->scores, work->pairs, errors);
	race_tables_number_groups(work);
	race_tables_measure_chosen(work, pair, before);
	if (race_select_outdo_particles(
			select, work->sums,
			race_reference->particles(select->columns, race_select_cells(select))))
		work->result.tables.signs = NULL;
}

bool
race_measure_by_signs(RaceTablesWork *work, RaceTable pair)
{
	RaceSelect *select = &work->select;
	RaceReferenceErrors errors;
	void *reference;
	bool depend;

	if (race_reference == NULL || !measure_signs(work))
		return false;
	race_select_look_groups(select, work->sums);
	reference = begin_reference(work);
	race_reference->errors(reference, race_select_second_variance(select), &errors);
	depend = race_select_depend(select, &errors);
	if (depend)
		measure_pairs(work, pair, reference, &errors);
	else
		work->result.tables.signs = NULL;
	race_reference->end(reference);
	return depend;
}
