/*
 * choose_ends.c
 *		Ends of a release of tables, to which the tables of columns are adjusted
 *
 * It holds noisy and public numbers alone.
 */
#include <math.h>
#include <string.h>

#include "privacy/counters.h"
#include "privacy/ends.h"
#include "privacy/noise.h"
#include "choice/tables_work.h"

size_t
race_ends_work_size(const RaceContingency *tables)
{
	return (RACE_ENDS * sizeof(int64_t) + sizeof(double)) * tables->dims;
}

void
race_ends_work(RaceTablesWork *work, void *space)
{
	work->ends = space;
	work->ends_variance = (double *) (work->ends + RACE_ENDS * (size_t) work->exact_tables.dims);
	memset(space, 0, race_ends_work_size(&work->exact_tables));
}

/* Return the mean of a number and a second draw, which has this weight. */
static int64_t
mean_of_ends(int64_t first, int64_t second, double weight)
{
	return (int64_t) rint((double) first + ((double) second - (double) first) * weight);
}

void
race_tables_measure_ends(RaceTablesWork *work, uint32_t column)
{
	const RacePrice *price = &work->select.ends[column];
	RaceEnds ends = {.block = column, .length = work->arrays.span[column]};
	int64_t *kept = work->ends + RACE_ENDS * (size_t) column;
	double *variance = &work->ends_variance[column];
	int64_t drawn[RACE_ENDS];
	uint64_t noise = price->noise == 0 ?
		0 :
		race_measure_ends(&work->release->account, work->release->exact, &ends, price->amount,
						  drawn);
	double second = race_select_variance(&work->select, noise);
	double weight = *variance == 0 ? 1 : *variance / (*variance + second);

	if (noise == 0)
		return;
	for (int end = 0; end < RACE_ENDS; end++)
		kept[end] = mean_of_ends(kept[end], drawn[end], weight);
	*variance = *variance == 0 ? second : *variance * second / (*variance + second);
}

void
race_tables_adjust_to_ends(RaceTablesWork *work, uint32_t bits)
{
	RaceContingency *tables = &work->result.tables;
	bool any = false;
	RaceTable table;

	for (uint32_t j = 0; j < tables->columns; j++)
	{
		for (int end = 0; end < RACE_ENDS; end++)
			work->ends[RACE_ENDS * j + end] =
				race_shift_rounded(work->ends[RACE_ENDS * j + end], (int) bits);
		if (work->ends_variance[j] > 0)
			work->ends_variance[j] = race_weighted_variance(work->ends_variance[j], bits);
		any |= work->ends_variance[j] > 0;
	}
	tables->ends = any ? work->ends_variance : NULL;
	race_contingency_first(tables, &table);
	/* bound: the columns */
	do
		if (table.ends > 0)
			race_contingency_adjust(&table, work->ends + RACE_ENDS * table.number,
									work->result.counters + table.at);
	while (race_contingency_next(tables, &table) && table.first == table.second);
}
