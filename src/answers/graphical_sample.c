/*
 * graphical_sample.c
 *		Stratified samples of a graphical model
 */
#include <string.h>

#include "privacy/interrupt.h"
#include "answers/graphical_state.h"

/*
 * Return number k of van der Corput's sequence, scrambled by a seed.  Columns are drawn one after
 * the other, given the columns of a clique that were drawn before.  Rows are sorted by these, and
 * then by the column drawn last, and the one before, and so on.  Row k in that order takes number k
 * of van der Corput's sequence in base 2, with random nested digits (Owen 1995) by a hash (Laine &
 * Karras 2011): each number is uniform, and numbers of rows side by side are evenly spread.  The
 * order of a column's groups is rotated by a hash of the columns before it.  Else a column that
 * repeats at regular distances would take the same numbers at each of its groups, and come out
 * dependent.
 */
static double
scrambled_number(uint32_t k, uint32_t seed)
{
	uint32_t reversed = 0;

	k ^= k * UINT32_C(0x3D20ADEA);
	k += seed;
	k *= seed >> 16 | 1;
	k ^= k * UINT32_C(0x05526C56);
	k ^= k * UINT32_C(0x53A22864);
	for (int i = 0; i < 32; i++)
		reversed |= (k >> i & 1) << (31 - i);
	return (reversed + 0.5) * 0x1p-32;
}

typedef struct Sample
{
	uint32_t n;
	uint32_t *rows;   /* [n][columns]: cells */
	uint32_t *groups; /* [n][columns]: groups */
	uint32_t *order;  /* order of rows */
	uint32_t *sorted;
	uint32_t *codes; /* codes of rows */
	uint32_t *keys;  /* sort keys of rows */
} Sample;

/* Sort rows by keys below `limit`, keeping the order of those that are equal. */
static void
sort_rows(RaceGraph *graph, Sample *sample, size_t limit)
{
	size_t used = graph->scratch_used;
	uint32_t *starts = (uint32_t *) race_graph_scratch(graph, limit / 2 + 1);
	uint32_t at = 0;
	uint32_t *order = sample->order;

	memset(starts, 0, (limit + 1) * sizeof(uint32_t));
	for (uint32_t i = 0; i < sample->n; i++)
		starts[sample->keys[i]]++;
	for (size_t i = 0; i < limit; i++)
	{
		uint32_t count = starts[i];

		starts[i] = at;
		at += count;
	}
	for (uint32_t i = 0; i < sample->n; i++)
		sample->sorted[starts[sample->keys[order[i]]]++] = order[i];
	sample->order = sample->sorted;
	sample->sorted = order;
	graph->scratch_used = used;
}

/*
 * Turn the cells of a column, of a group each, to cumulative probabilities of cells in groups; and
 * list them by group.
 */
typedef struct Within
{
	uint32_t *start;    /* [groups + 1] */
	uint32_t *cell;     /* [cells]: cells by group */
	double *cumulative; /* cumulative probabilities in the group */
} Within;

static void
prepare_within(RaceGraph *graph, uint32_t column, Within *within)
{
	uint32_t groups = graph->columns->groups[column];
	uint32_t cells = graph->columns->cells[column];

	within->start = (uint32_t *) race_graph_scratch(graph, groups / 2 + 2);
	within->cell = (uint32_t *) race_graph_scratch(graph, cells / 2 + 1);
	within->cumulative = race_graph_scratch(graph, cells);
	memset(within->start, 0, (groups + 1) * sizeof(uint32_t));
	for (uint32_t c = 0; c < cells; c++)
		within->start[race_graph_group(graph, column, c) + 1]++;
	for (uint32_t g = 0; g < groups; g++)
		within->start[g + 1] += within->start[g];
	for (uint32_t c = 0; c < cells; c++)
		within->cell[within->start[race_graph_group(graph, column, c)]++] = c;
	for (uint32_t g = groups; g > 0; g--)
		within->start[g] = within->start[g - 1];
	within->start[0] = 0;
	for (uint32_t g = 0; g < groups; g++)
	{
		double sum = 0;

		for (uint32_t i = within->start[g]; i < within->start[g + 1]; i++)
			within->cumulative[i] = sum += graph->within[column][within->cell[i]];
	}
}

/* Return the first of n cumulative numbers that is above x, or the last one. */
static uint32_t
search_cumulative(const double *cumulative, uint32_t n, double x)
{
	uint32_t low = 0;

	while (n > 1)
	{
		uint32_t half = n / 2;

		if (cumulative[low + half - 1] <= x)
		{
			low += half;
			n -= half;
		}
		else
			n = half;
	}
	return low;
}

/* Set each row's cell in a factor of given columns, and its key, in which groups are rotated. */
static void
set_codes(const RaceGraph *graph, RaceColumnSet given, uint32_t seed, Sample *sample)
{
	uint32_t columns = graph->columns->columns;

	for (uint32_t row = 0; row < sample->n; row++)
	{
		uint32_t code = 0;
		uint32_t key = 0;
		uint32_t hash = seed;

		for (uint32_t k = 0; k < columns; k++)
		{
			uint32_t column = graph->order[k];
			uint32_t groups = graph->columns->groups[column];
			uint32_t group = sample->groups[(size_t) row * columns + column];

			if (!(given & RACE_COLUMN(column)))
				continue;
			code = code * groups + group;
			key = key * groups + (group + (uint32_t) ((uint64_t) hash * groups >> 32)) % groups;
			hash = (hash ^ (group + 1)) * UINT32_C(0x9E3779B1);
			hash = (hash ^ hash >> 15) * UINT32_C(0x85EBCA77);
			hash ^= hash >> 13;
		}
		sample->codes[row] = code;
		sample->keys[row] = key;
	}
}

/* Draw a column of all rows, given columns of the same clique that were drawn before. */
static void
sample_column(RaceGraph *graph, const Clique *clique, RaceColumnSet given, uint32_t column,
			  uint32_t seed, Sample *sample)
{
	uint32_t columns = graph->columns->columns;
	uint32_t groups = graph->columns->groups[column];
	size_t limit = race_graph_cells(graph, given);
	double *factor;
	double *cumulative;
	Within within;
	size_t own_step = 1;
	uint32_t last = UINT32_MAX;

	graph->scratch_used = 0;
	factor = race_graph_marginal(graph, given | RACE_COLUMN(column), clique->belief, clique->set);
	cumulative = race_graph_scratch(graph, groups);
	prepare_within(graph, column, &within);
	for (uint32_t k = columns; graph->order[--k] != column;)
		if (given & RACE_COLUMN(graph->order[k]))
			own_step *= graph->columns->groups[graph->order[k]];
	set_codes(graph, given, seed, sample);
	sort_rows(graph, sample, limit);
	for (uint32_t k = 0; k < sample->n; k++)
	{
		uint32_t row = sample->order[k];
		uint32_t code = sample->codes[row];
		uint32_t *group = &sample->groups[(size_t) row * columns + column];
		double u;
		double below;
		uint32_t first;

		if (code != last)
		{
			double sum = 0;

			for (uint32_t g = 0; g < groups; g++)
				cumulative[g] = sum +=
					factor[code / own_step * own_step * groups + code % own_step + g * own_step];
			last = code;
		}
		u = scrambled_number(k, seed) * cumulative[groups - 1];
		*group = search_cumulative(cumulative, groups, u);
		below = *group == 0 ? 0 : cumulative[*group - 1];
		first = within.start[*group];
		u = (u - below) / (cumulative[*group] - below);
		sample->rows[(size_t) row * columns + column] =
			within.cell[first +
						search_cumulative(within.cumulative + first,
										  within.start[*group + 1] - first, u)];
	}
	for (uint32_t k = 0; k < sample->n; k++)
		sample->keys[k] = sample->rows[(size_t) k * columns + column];
	sort_rows(graph, sample, graph->columns->cells[column]);
	race_look_for_interrupts();
}

/* Exchange rows, so that their order carries no information. */
static void
shuffle_rows(uint32_t *rows, uint32_t n, uint32_t columns, double (*uniform)(void *), void *arg)
{
	for (uint32_t i = n; i > 1; i--)
	{
		uint32_t *a = rows + (size_t) (i - 1) * columns;
		uint32_t *b = rows + (size_t) (uniform(arg) * i) * columns;

		for (uint32_t j = 0; j < columns; j++)
		{
			uint32_t cell = a[j];

			a[j] = b[j];
			b[j] = cell;
		}
	}
}

void
race_graph_sample(RaceGraph *graph, double (*uniform)(void *), void *arg, uint32_t n,
				  uint32_t *rows, uint32_t *space)
{
	uint32_t columns = graph->columns->columns;
	RaceColumnSet drawn = 0;
	Sample sample = {.n = n, .rows = rows};

	sample.groups = space;
	sample.order = space + (size_t) n * columns;
	sample.sorted = sample.order + n;
	sample.codes = sample.sorted + n;
	sample.keys = sample.codes + n;
	memset(sample.groups, 0, (size_t) n * columns * sizeof(uint32_t));
	for (uint32_t i = 0; i < n; i++)
		sample.order[i] = i;
	for (uint32_t k = 0; k < graph->cliques; k++)
	{
		const Clique *clique = &graph->clique[k];

		for (uint32_t j = 0; j < columns; j++)
		{
			uint32_t column = graph->order[j];

			if (!(clique->set & ~drawn & RACE_COLUMN(column)))
				continue;
			sample_column(graph, clique, clique->set & drawn, column,
						  (uint32_t) (uniform(arg) * 0x1p32), &sample);
			drawn |= RACE_COLUMN(column);
		}
	}
	shuffle_rows(rows, n, columns, uniform, arg);
}
