/*
 * graphical_model.c
 *		The distribution of maximum entropy over rows of categories, some tables of which were
 *		measured with noise
 *
 * Beliefs of cliques are computed by Hugin propagation.  Potentials and messages to parents are
 * multiplied, or their logarithms added where products would be too small; messages from parents
 * are quotients.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "privacy/interrupt.h"
#include "answers/graphical_state.h"

size_t
race_graph_cells(const RaceGraph *graph, RaceColumnSet set)
{
	size_t cells = 1;

	for (uint32_t i = 0; i < graph->columns->columns; i++)
		if (set & RACE_COLUMN(i))
			cells *= graph->columns->groups[i];
	return cells;
}

/* ------------------------------------------------------- products of factors */

typedef enum Operation
{
	ADD,      /* out[x] += a[x] */
	MULTIPLY, /* out[x] *= a[x] */
	SUM,      /* out[x] += sum of a */
	MAXIMUM,  /* out[x] = max(out[x], most of a) */
	CONTRACT  /* out[x] += sum of a b */
} Operation;

#define OPERANDS 3

typedef struct Operand
{
	double *factor; /* only the first one is written */
	RaceColumnSet set;
} Operand;

/* Loops over the cells of a set of columns, some of which are one loop for all operands */
typedef struct Loops
{
	uint32_t n;
	size_t size[RACE_GRAPH_COLUMNS];
	size_t step[RACE_GRAPH_COLUMNS][OPERANDS];
} Loops;

/* Plan loops, the innermost first. */
static void
plan_loops(const RaceGraph *graph, RaceColumnSet all, const Operand *operands, Loops *loops)
{
	size_t steps[OPERANDS] = {1, 1, 1};

	loops->n = 0;
	for (uint32_t k = graph->columns->columns; k-- > 0;)
	{
		uint32_t column = graph->order[k];
		size_t size = graph->columns->groups[column];
		uint32_t n = loops->n;
		bool joined = n > 0;

		if (!(all & RACE_COLUMN(column)))
			continue;
		for (int i = 0; i < OPERANDS; i++)
		{
			bool has = (operands[i].set & RACE_COLUMN(column)) != 0;

			loops->step[n][i] = has ? steps[i] : 0;
			if (has)
				steps[i] *= size;
			joined = joined && loops->step[n][i] == loops->step[n - 1][i] * loops->size[n - 1];
		}
		loops->size[n] = size;
		if (joined)
			loops->size[n - 1] *= size;
		else
			loops->n++;
	}
	if (loops->n == 0)
	{
		loops->n = 1;
		loops->size[0] = 1;
		memset(loops->step[0], 0, sizeof(loops->step[0]));
	}
}

double
race_graph_sum(const double *x, size_t n)
{
	double sums[4] = {0, 0, 0, 0};
	size_t i;

	for (i = 0; i + 4 <= n; i += 4)
	{
		sums[0] += x[i];
		sums[1] += x[i + 1];
		sums[2] += x[i + 2];
		sums[3] += x[i + 3];
	}
	for (; i < n; i++)
		sums[0] += x[i];
	return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/* Run the innermost loop; steps are 0 or 1. */
static void
inner_loop(Operation operation, size_t n, const size_t *step, double *restrict out,
		   const double *restrict a, const double *restrict b)
{
	if (operation == CONTRACT)
		for (size_t i = 0; i < n; i++)
			out[i * step[0]] += a[i * step[1]] * b[i * step[2]];
	else if (operation == MAXIMUM)
		for (size_t i = 0; i < n; i++)
			out[i * step[0]] = a[i] > out[i * step[0]] ? a[i] : out[i * step[0]];
	else if (operation == SUM && step[0] == 0)
		*out += race_graph_sum(a, n);
	else if (operation == MULTIPLY && step[1] == 0)
		for (size_t i = 0; i < n; i++)
			out[i] *= *a;
	else if (operation == MULTIPLY)
		for (size_t i = 0; i < n; i++)
			out[i] *= a[i];
	else if (step[1] == 0)
		for (size_t i = 0; i < n; i++)
			out[i] += *a;
	else
		for (size_t i = 0; i < n; i++)
			out[i] += a[i];
}

/* Apply an operation to all cells of a set of columns; `a`, or `out` of sums, may have fewer. */
static void
combine_factors(const RaceGraph *graph, Operation operation, RaceColumnSet all, Operand out,
				Operand a, Operand b)
{
	Operand operands[OPERANDS] = {out, a, b};
	size_t counter[RACE_GRAPH_COLUMNS] = {0};
	Loops loops;
	size_t done = 0;
	uint32_t k;

	plan_loops(graph, all, operands, &loops);
	do
	{
		inner_loop(operation, loops.size[0], loops.step[0], operands[0].factor, operands[1].factor,
				   operands[2].factor);
		done += loops.size[0];
		if (done >= RACE_STEP)
		{
			race_look_for_interrupts();
			done = 0;
		}
		for (k = 1; k < loops.n; k++)
		{
			bool again = ++counter[k] < loops.size[k];

			for (int i = 0; i < OPERANDS; i++)
				if (again)
					operands[i].factor += loops.step[k][i];
				else
					operands[i].factor -= loops.step[k][i] * (loops.size[k] - 1);
			if (again)
				break;
			counter[k] = 0;
		}
	} while (k < loops.n);
}

static void
add_to(const RaceGraph *graph, double *out, RaceColumnSet all, double *a, RaceColumnSet set)
{
	combine_factors(graph, ADD, all, (Operand){out, all}, (Operand){a, set}, (Operand){a, set});
}

static void
multiply_by(const RaceGraph *graph, double *out, RaceColumnSet all, double *a, RaceColumnSet set)
{
	combine_factors(graph, MULTIPLY, all, (Operand){out, all}, (Operand){a, set},
					(Operand){a, set});
}

/* Sum a factor to its marginal. */
static void
sum_to_marginal(const RaceGraph *graph, double *out, RaceColumnSet set, const double *a,
				RaceColumnSet all)
{
	memset(out, 0, race_graph_cells(graph, set) * sizeof(double));
	combine_factors(graph, SUM, all, (Operand){out, set}, (Operand){(double *) a, all},
					(Operand){out, set});
}

double *
race_graph_scratch(RaceGraph *graph, size_t n)
{
	double *space;

	if (graph->scratch_size - graph->scratch_used < n)
	{
		graph->scratch_size = 2 * graph->scratch_size + n;
		graph->scratch = graph->allocate(graph->arg, graph->scratch_size * sizeof(double));
		graph->scratch_used = 0;
	}
	space = graph->scratch + graph->scratch_used;
	graph->scratch_used += n;
	return space;
}

double *
race_graph_marginal(RaceGraph *graph, RaceColumnSet set, const double *a, RaceColumnSet all)
{
	double *out = race_graph_scratch(graph, race_graph_cells(graph, set));

	sum_to_marginal(graph, out, set, a, all);
	return out;
}

/* ------------------------------------------------------------------ creation */

static bool
comes_before(const RaceGraph *graph, uint32_t a, uint32_t b)
{
	const uint32_t *groups = graph->columns->groups;

	return groups[a] != groups[b] ? groups[a] < groups[b] : a < b;
}

static void
create_cliques(RaceGraph *graph)
{
	RaceColumnSet neighbors[RACE_GRAPH_COLUMNS] = {0};
	RaceJunctionTree tree;

	for (uint32_t t = 0; t < graph->tables; t++)
	{
		const RaceMarginal *marginal = &graph->marginals[t];
		RaceColumnSet set = RACE_COLUMN(marginal->first) | RACE_COLUMN(marginal->second) |
			RACE_COLUMN(marginal->third);

		neighbors[marginal->first] |= set & ~RACE_COLUMN(marginal->first);
		neighbors[marginal->second] |= set & ~RACE_COLUMN(marginal->second);
		neighbors[marginal->third] |= set & ~RACE_COLUMN(marginal->third);
	}
	race_junction_tree(graph->columns->columns, graph->columns->groups, neighbors, &tree);
	graph->cliques = tree.cliques;
	graph->clique = graph->allocate(graph->arg, tree.cliques * sizeof(Clique));
	for (uint32_t k = 0; k < tree.cliques; k++)
	{
		Clique *clique = &graph->clique[k];

		clique->set = tree.clique[k];
		clique->separator = tree.separator[k];
		clique->parent = tree.parent[k];
		clique->cells = race_graph_cells(graph, clique->set);
		clique->separator_cells = race_graph_cells(graph, clique->separator);
		clique->belief = graph->allocate(graph->arg, clique->cells * sizeof(double));
		clique->message = graph->allocate(graph->arg, clique->separator_cells * sizeof(double));
	}
}

/* Return the smallest clique that contains a set. */
static uint32_t
clique_with(const RaceGraph *graph, RaceColumnSet set)
{
	uint32_t best = graph->cliques;

	for (uint32_t k = 0; k < graph->cliques; k++)
		if ((set & ~graph->clique[k].set) == 0 &&
			(best == graph->cliques || graph->clique[k].cells < graph->clique[best].cells))
			best = k;
	return best;
}

static void
set_columns(const RaceGraph *graph, const RaceMarginal *marginal, Table *table)
{
	const uint32_t columns[TABLE_COLUMNS] = {marginal->first, marginal->second, marginal->third};

	table->columns =
		1 + (marginal->second != marginal->first) + (marginal->third != marginal->second);
	table->set = 0;
	table->cells = 1;
	for (uint32_t k = 0; k < TABLE_COLUMNS; k++)
	{
		table->column[k] = columns[k];
		table->size[k] = k < table->columns ? graph->columns->groups[columns[k]] : 1;
		table->step[k] = 1;
		table->set |= RACE_COLUMN(columns[k]);
		table->cells *= table->size[k];
	}
	for (uint32_t k = 0; k < table->columns; k++)
		for (uint32_t other = 0; other < table->columns; other++)
			if (comes_before(graph, columns[k], columns[other]))
				table->step[k] *= table->size[other];
	if (table->columns == 1)
		table->cells = graph->columns->cells[columns[0]];
}

/* Move tables without a column before others, in their order.  Return their number. */
static uint32_t
move_without(RaceColumnSet column, const Table **tables, uint32_t n)
{
	uint32_t found = 0;

	for (uint32_t t = 0; t < n; t++)
	{
		const Table *table = tables[t];

		if (table->set & column)
			continue;
		memmove(tables + found + 1, tables + found, (t - found) * sizeof(*tables));
		tables[found++] = table;
	}
	return found;
}

/*
 * Plan how tables within a set are added up: those that lack the largest column first, and so on.
 * So a set of two columns or more is added to, and summed, three times, not once for each of its
 * tables.
 */
static void
plan_sums(RaceGraph *graph, const Table **tables, uint32_t n)
{
	for (uint32_t together; n > 0; tables += together, n -= together)
	{
		uint32_t number = graph->sums++;
		RaceColumnSet set = 0;

		together = 0;
		for (uint32_t k = graph->columns->columns; together == 0 && k-- > 0;)
			if ((together = move_without(RACE_COLUMN(graph->order[k]), tables, n)) == n)
				together = 0;
		together = together > 0 ? together : 1;
		for (uint32_t t = 0; t < together; t++)
			set |= tables[t]->set;
		graph->sum[number].set = set;
		graph->sum[number].table = together == 1 ? tables[0] : NULL;
		if (together > 1)
			plan_sums(graph, tables, together);
		graph->sum[number].next = graph->sums;
	}
}

static void
plan_cliques(RaceGraph *graph)
{
	const Table **tables = graph->allocate(graph->arg, graph->tables * sizeof(Table *));

	graph->sum = graph->allocate(graph->arg, 2 * graph->tables * sizeof(Sum));
	for (uint32_t k = 0; k < graph->cliques; k++)
	{
		uint32_t n = 0;

		for (uint32_t t = 0; t < graph->tables; t++)
			if (graph->table[t].clique == k)
				tables[n++] = &graph->table[t];
		graph->clique[k].first_sum = graph->sums;
		plan_sums(graph, tables, n);
		graph->clique[k].last_sum = graph->sums;
	}
}

static void
create_tables(RaceGraph *graph)
{
	size_t most = 1;
	double *theta;

	graph->table = graph->allocate(graph->arg, graph->tables * sizeof(Table));
	for (uint32_t t = 0; t < graph->tables; t++)
	{
		Table *table = &graph->table[t];

		set_columns(graph, &graph->marginals[t], table);
		table->clique = clique_with(graph, table->set);
		graph->parameters += table->cells;
		if (table->columns == 1)
			most = table->size[0] > most ? table->size[0] : most;
	}
	theta = graph->theta = graph->allocate(graph->arg, graph->parameters * sizeof(double));
	memset(theta, 0, graph->parameters * sizeof(double));
	for (uint32_t t = 0; t < graph->tables; t++)
	{
		graph->table[t].theta = theta;
		theta += graph->table[t].cells;
	}
	graph->work = graph->allocate(graph->arg, most * sizeof(double));
	plan_cliques(graph);
}

RaceGraph *
race_graph_create(const RaceGraphColumns *columns, uint32_t n, const RaceMarginal *tables,
				  RaceAllocate allocate, void *arg)
{
	RaceGraph *graph = allocate(arg, sizeof(RaceGraph));
	uint32_t d = columns->columns;

	memset(graph, 0, sizeof(RaceGraph));
	graph->columns = columns;
	graph->marginals = tables;
	graph->tables = n;
	graph->allocate = allocate;
	graph->arg = arg;
	graph->order = allocate(arg, d * sizeof(uint32_t));
	graph->home = allocate(arg, d * sizeof(uint32_t));
	graph->within = allocate(arg, d * sizeof(double *));
	graph->group_log = allocate(arg, d * sizeof(double *));
	for (uint32_t i = 0; i < d; i++)
	{
		uint32_t j = i;

		for (; j > 0 && comes_before(graph, i, graph->order[j - 1]); j--)
			graph->order[j] = graph->order[j - 1];
		graph->order[j] = i;
	}
	create_cliques(graph);
	for (uint32_t i = 0; i < d; i++)
	{
		graph->home[i] = clique_with(graph, RACE_COLUMN(i));
		graph->within[i] = allocate(arg, columns->cells[i] * sizeof(double));
		graph->group_log[i] = allocate(arg, columns->groups[i] * sizeof(double));
	}
	create_tables(graph);
	race_graph_calibrate(graph);
	return graph;
}

double *
race_graph_theta(RaceGraph *graph, size_t *n)
{
	*n = graph->parameters;
	return graph->theta;
}

/* --------------------------------------------------------------- calibration */

#define LEAST_LOG -700.0

/*
 * Of factors that are multiplied: what is smaller is this, so that products do not underflow; and a
 * clique whose products have a smaller sum is computed from sums of logarithms
 */
#define LEAST_LOG_OF_FACTOR -100.0
#define LEAST_SUM 1e-20

static double
largest_number(const double *x, size_t n)
{
	double most[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
	size_t i;

	for (i = 0; i + 4 <= n; i += 4)
		for (int j = 0; j < 4; j++)
			most[j] = x[i + j] > most[j] ? x[i + j] : most[j];
	for (; i < n; i++)
		most[0] = x[i] > most[0] ? x[i] : most[0];
	return fmax(fmax(most[0], most[1]), fmax(most[2], most[3]));
}

/* Compute exp(x) of x <= 0, at least exp(least), vectorized by compilers.  Relative error 3e-13. */
static void
compute_exponentials(double *restrict x, size_t n, double most, double least)
{
	const double magic = 0x1.8p52;

	for (size_t i = 0; i < n; i++)
	{
		double y = x[i] - most;
		double shifted;
		double r;
		double p;
		double power;
		uint64_t bits;

		y = y < least ? least : y;
		shifted = y * 1.4426950408889634 + magic;
		r = y - (shifted - magic) * 0.693147180369123816490;
		r -= (shifted - magic) * 1.90821492927058770002e-10;
		p = 1.0 / 3628800;
		p = p * r + 1.0 / 362880;
		p = p * r + 1.0 / 40320;
		p = p * r + 1.0 / 5040;
		p = p * r + 1.0 / 720;
		p = p * r + 1.0 / 120;
		p = p * r + 1.0 / 24;
		p = p * r + 1.0 / 6;
		p = p * r + 0.5;
		p = p * r + 1;
		p = p * r + 1;
		memcpy(&bits, &shifted, sizeof(bits));
		bits = (bits + 1023) << 52;
		memcpy(&power, &bits, sizeof(power));
		x[i] = p * power;
	}
}

/* Compute probabilities of cells in groups, and logarithms of potentials of groups, from theta. */
static void
calibrate_column(RaceGraph *graph, const Table *table)
{
	uint32_t column = table->column[0];
	uint32_t groups = graph->columns->groups[column];
	uint32_t cells = graph->columns->cells[column];
	double *within = graph->within[column];
	double *logs = graph->group_log[column];
	double *most = graph->work;

	for (uint32_t i = 0; i < groups; i++)
	{
		most[i] = -INFINITY;
		logs[i] = 0;
	}
	for (uint32_t i = 0; i < cells; i++)
		most[race_graph_group(graph, column, i)] =
			fmax(most[race_graph_group(graph, column, i)], table->theta[i]);
	for (uint32_t i = 0; i < cells; i++)
	{
		within[i] =
			exp(fmax(table->theta[i] - most[race_graph_group(graph, column, i)], LEAST_LOG));
		logs[race_graph_group(graph, column, i)] += within[i];
	}
	for (uint32_t i = 0; i < cells; i++)
		within[i] /= logs[race_graph_group(graph, column, i)];
	for (uint32_t i = 0; i < groups; i++)
		logs[i] = log(logs[i]) + most[i];
}

/* Copy from the layout of a table of several columns to that of a factor, or back. */
static void
transpose_table(const Table *table, const double *from, double *to, bool back)
{
	size_t cell = 0;

	for (size_t i = 0; i < table->size[0]; i++)
		for (size_t j = 0; j < table->size[1]; j++)
			for (size_t k = 0; k < table->size[2]; k++, cell++)
			{
				size_t place = i * table->step[0] + j * table->step[1] + k * table->step[2];

				to[back ? cell : place] = from[back ? place : cell];
			}
}

/* Add the potentials of tables to a factor. */
static void
add_potentials(RaceGraph *graph, RaceColumnSet all, double *out, uint32_t from, uint32_t to)
{
	for (uint32_t k = from; k < to; k = graph->sum[k].next)
	{
		const Sum *sum = &graph->sum[k];
		const Table *table = sum->table;
		size_t used = graph->scratch_used;
		size_t cells = race_graph_cells(graph, sum->set);
		double *factor = race_graph_scratch(graph, cells);

		if (table == NULL)
		{
			memset(factor, 0, cells * sizeof(double));
			add_potentials(graph, sum->set, factor, k + 1, sum->next);
		}
		else if (table->columns > 1)
			transpose_table(table, table->theta, factor, false);
		else
		{
			calibrate_column(graph, table);
			factor = graph->group_log[table->column[0]];
		}
		add_to(graph, out, all, factor, sum->set);
		graph->scratch_used = used;
	}
}

/*
 * Take a factor of logarithms into a clique; where these are not to be added, its exponentials are
 * multiplied.
 */
static void
take_factor(RaceGraph *graph, Clique *clique, double *logs, RaceColumnSet set, bool added)
{
	size_t cells = race_graph_cells(graph, set);
	double most;

	if (added)
	{
		add_to(graph, clique->belief, clique->set, logs, set);
		return;
	}
	most = largest_number(logs, cells);
	compute_exponentials(logs, cells, most, LEAST_LOG_OF_FACTOR);
	graph->log_partition += most;
	multiply_by(graph, clique->belief, clique->set, logs, set);
}

static void
take_potentials(RaceGraph *graph, Clique *clique, bool added)
{
	uint32_t next;

	for (size_t i = 0; i < clique->cells; i++)
		clique->belief[i] = added ? 0 : 1;
	for (uint32_t k = clique->first_sum; k < clique->last_sum; k = next)
	{
		RaceColumnSet set = graph->sum[k].set;
		size_t cells = race_graph_cells(graph, set);
		double *logs;

		graph->scratch_used = 0;
		logs = race_graph_scratch(graph, cells);
		memset(logs, 0, cells * sizeof(double));
		next = graph->sum[k].next;
		add_potentials(graph, set, logs, k, next);
		take_factor(graph, clique, logs, set, added);
	}
}

/*
 * Replace a clique's logarithms by their exponentials, for each cell of the separator over the
 * largest of them, whose logarithm is added to `logs`: so neither is too small, however large
 * parameters are.
 */
static void
exponentials_given(RaceGraph *graph, Clique *clique, double *logs)
{
	double *most = race_graph_scratch(graph, clique->separator_cells);

	for (size_t i = 0; i < clique->separator_cells; i++)
		most[i] = -INFINITY;
	combine_factors(graph, MAXIMUM, clique->set, (Operand){most, clique->separator},
					(Operand){clique->belief, clique->set}, (Operand){most, clique->separator});
	for (size_t i = 0; i < clique->separator_cells; i++)
	{
		logs[i] = most[i];
		most[i] = -most[i];
	}
	add_to(graph, clique->belief, clique->set, most, clique->separator);
	compute_exponentials(clique->belief, clique->cells, 0, LEAST_LOG);
}

/* Collect beliefs and messages to parents, leaves first; return false if products are too small. */
static bool
collect_messages(RaceGraph *graph, bool added)
{
	graph->log_partition = 0;
	for (uint32_t k = 0; k < graph->cliques; k++)
		take_potentials(graph, &graph->clique[k], added);
	for (uint32_t k = graph->cliques; k-- > 0;)
	{
		Clique *clique = &graph->clique[k];
		size_t cells = clique->separator_cells;
		double *logs;

		graph->scratch_used = 0;
		logs = race_graph_scratch(graph, cells);
		memset(logs, 0, cells * sizeof(double));
		if (added)
			exponentials_given(graph, clique, logs);
		sum_to_marginal(graph, clique->message, clique->separator, clique->belief, clique->set);
		if (!added && !(race_graph_sum(clique->message, cells) > LEAST_SUM))
			return false;
		for (size_t i = 0; i < cells; i++)
		{
			clique->message[i] = fmax(clique->message[i], DBL_MIN);
			logs[i] += log(clique->message[i]);
		}
		if (k > 0)
			take_factor(graph, &graph->clique[clique->parent], logs, clique->separator, added);
		else
			graph->log_partition += logs[0];
	}
	return true;
}

void
race_graph_calibrate(RaceGraph *graph)
{
	double sum;

	if (!collect_messages(graph, false))
		collect_messages(graph, true);
	/* the separator of the first clique has no columns */
	sum = graph->clique[0].message[0];
	for (size_t i = 0; i < graph->clique[0].cells; i++)
		graph->clique[0].belief[i] /= sum;
	for (uint32_t k = 1; k < graph->cliques; k++)
	{
		Clique *clique = &graph->clique[k];
		Clique *parent = &graph->clique[clique->parent];
		double *quotients;

		graph->scratch_used = 0;
		quotients = race_graph_marginal(graph, clique->separator, parent->belief, parent->set);
		for (size_t i = 0; i < clique->separator_cells; i++)
		{
			double belief = quotients[i];

			quotients[i] /= clique->message[i];
			clique->message[i] = belief;
		}
		multiply_by(graph, clique->belief, clique->set, quotients, clique->separator);
	}
	graph->scratch_used = 0;
}

/* Sum a factor over the cells of tables. */
static void
read_tables(RaceGraph *graph, RaceColumnSet all, const double *factor, uint32_t from, uint32_t to,
			double *out)
{
	for (uint32_t k = from; k < to; k = graph->sum[k].next)
	{
		const Sum *sum = &graph->sum[k];
		const Table *table = sum->table;
		size_t used = graph->scratch_used;
		double *marginal = race_graph_marginal(graph, sum->set, factor, all);
		double *cell = table == NULL ? NULL : out + (table->theta - graph->theta);

		if (table == NULL)
			read_tables(graph, sum->set, marginal, k + 1, sum->next, out);
		else if (table->columns > 1)
			transpose_table(table, marginal, cell, true);
		else
			for (uint32_t i = 0; i < table->cells; i++)
				cell[i] = marginal[race_graph_group(graph, table->column[0], i)] *
					graph->within[table->column[0]][i];
		graph->scratch_used = used;
	}
}

void
race_graph_tables(RaceGraph *graph, double *out)
{
	graph->scratch_used = 0;
	for (uint32_t k = 0; k < graph->cliques; k++)
		read_tables(graph, graph->clique[k].set, graph->clique[k].belief,
					graph->clique[k].first_sum, graph->clique[k].last_sum, out);
}

/* ------------------------------------------------------------------- answers */

/* Find the cliques on the path between two, both included.  Return their number. */
static uint32_t
find_path(const RaceGraph *graph, uint32_t from, uint32_t to, uint32_t *path)
{
	uint32_t up[RACE_GRAPH_COLUMNS];
	uint32_t n = 0;
	uint32_t m = 0;

	/* a clique has a smaller number than those below it */
	while (from != to)
		if (from > to)
		{
			path[n++] = from;
			from = graph->clique[from].parent;
		}
		else
		{
			up[m++] = to;
			to = graph->clique[to].parent;
		}
	path[n++] = from;
	while (m > 0)
		path[n++] = up[--m];
	return n;
}

/* Return P(columns of `set`, without those of the separator | separator), as a factor over both. */
static double *
conditional_factor(RaceGraph *graph, const Clique *clique, RaceColumnSet separator,
				   RaceColumnSet set)
{
	RaceColumnSet all = set | separator;
	double *factor = race_graph_marginal(graph, all, clique->belief, clique->set);
	double *sum = race_graph_marginal(graph, separator, factor, all);

	for (size_t i = 0; i < race_graph_cells(graph, separator); i++)
		sum[i] = sum[i] > 0 ? 1 / sum[i] : 0;
	multiply_by(graph, factor, all, sum, separator);
	return factor;
}

/* Return the table of two columns, in groups, as a factor: along the path between their cliques. */
static double *
pair_factor(RaceGraph *graph, uint32_t first, uint32_t second)
{
	RaceColumnSet a = RACE_COLUMN(first);
	RaceColumnSet b = RACE_COLUMN(second);
	uint32_t both = clique_with(graph, a | b);
	uint32_t path[2 * RACE_GRAPH_COLUMNS];
	uint32_t n;
	uint32_t k = 0;
	RaceColumnSet known;
	double *factor;

	graph->scratch_used = 0;
	if (both < graph->cliques)
		return race_graph_marginal(graph, a | b, graph->clique[both].belief,
								   graph->clique[both].set);
	n = find_path(graph, graph->home[first], graph->home[second], path);
	while (n > 1 && (graph->clique[path[n - 2]].set & b) != 0)
		n--;
	while (k + 1 < n && (graph->clique[path[k + 1]].set & a) != 0)
		k++;
	known = a;
	factor =
		race_graph_marginal(graph, a, graph->clique[path[k]].belief, graph->clique[path[k]].set);
	for (; k < n; k++)
	{
		Clique *clique = &graph->clique[path[k]];
		RaceColumnSet separator = known & ~a;
		RaceColumnSet next = k + 1 == n ? b : clique->set & graph->clique[path[k + 1]].set;
		double *given;
		double *product;

		if (known == a && (clique->set & a) != 0)
		{
			factor = race_graph_marginal(graph, a | next, clique->belief, clique->set);
			known = a | next;
			continue;
		}
		given = conditional_factor(graph, clique, separator, next);
		product = race_graph_scratch(graph, race_graph_cells(graph, a | next));
		memset(product, 0, race_graph_cells(graph, a | next) * sizeof(double));
		combine_factors(graph, CONTRACT, known | next, (Operand){product, a | next},
						(Operand){factor, known}, (Operand){given, separator | next});
		factor = product;
		known = a | next;
	}
	return factor;
}

void
race_graph_pair(RaceGraph *graph, uint32_t first, uint32_t second, bool cells, double *table)
{
	double *factor = pair_factor(graph, first, second);
	bool swapped = comes_before(graph, second, first);
	size_t rows = graph->columns->groups[first];
	size_t columns = graph->columns->groups[second];
	size_t n = cells ? graph->columns->cells[first] : rows;
	size_t m = cells ? graph->columns->cells[second] : columns;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < m; j++)
		{
			size_t g = cells ? race_graph_group(graph, first, (uint32_t) i) : i;
			size_t h = cells ? race_graph_group(graph, second, (uint32_t) j) : j;

			table[i * m + j] = factor[swapped ? h * rows + g : g * columns + h];
			if (cells)
				table[i * m + j] *= graph->within[first][i] * graph->within[second][j];
		}
}

/* Times that each pair is fitted: then tables of pairs are right to a thousandth of all records */
#define PROPORTIONAL_FITS 10

/* Sum a table of three columns to the pair without column p, or multiply it by that. */
static void
combine_pair(const size_t *size, int p, Operation operation, double *table, double *pair)
{
	for (size_t i = 0; i < size[0]; i++)
		for (size_t j = 0; j < size[1]; j++)
			for (size_t k = 0; k < size[2]; k++, table++)
			{
				double *cell =
					&pair[p == 0 ? j * size[2] + k : i * size[p == 1 ? 2 : 1] + (p == 1 ? k : j)];

				if (operation == SUM)
					*cell += *table;
				else
					*table *= *cell;
			}
}

void
race_graph_triple(RaceGraph *graph, const uint32_t *columns, double *table)
{
	static const int others[3][2] = {{1, 2}, {0, 2}, {0, 1}};
	const uint32_t *groups = graph->columns->groups;
	const size_t size[3] = {groups[columns[0]], groups[columns[1]], groups[columns[2]]};
	size_t cells = size[0] * size[1] * size[2];
	double *ratio = graph->allocate(graph->arg, cells * sizeof(double));
	double *pair[3];

	for (int p = 0; p < 3; p++)
	{
		pair[p] = graph->allocate(graph->arg, cells / size[p] * sizeof(double));
		race_graph_pair(graph, columns[others[p][0]], columns[others[p][1]], false, pair[p]);
	}
	for (size_t i = 0; i < cells; i++)
		table[i] = 1;
	for (int step = 0; step < 3 * PROPORTIONAL_FITS; step++)
	{
		int p = step % 3;

		race_look_for_interrupts();
		memset(ratio, 0, cells / size[p] * sizeof(double));
		combine_pair(size, p, SUM, table, ratio);
		for (size_t i = 0; i < cells / size[p]; i++)
			ratio[i] = ratio[i] > 0 ? pair[p][i] / ratio[i] : 0;
		combine_pair(size, p, MULTIPLY, table, ratio);
	}
}

/* An event while it is summed over the tree */
typedef struct Event
{
	RaceColumnSet columns; /* columns with weights */
	double **weights;      /* [column][group] */
} Event;

static double *event_message(RaceGraph *graph, const Event *event, uint32_t k, uint32_t from);

/*
 * Return the expectation of the weights in a clique and behind it, for each cell of `kept` columns
 * of the clique.  Weights of columns in `taken` are not counted.
 */
static double *
event_factor(RaceGraph *graph, const Event *event, uint32_t k, uint32_t from, RaceColumnSet kept,
			 RaceColumnSet taken)
{
	Clique *clique = &graph->clique[k];
	double *messages[RACE_GRAPH_COLUMNS];
	RaceColumnSet sets[RACE_GRAPH_COLUMNS];
	RaceColumnSet weighted = clique->set & event->columns & ~taken;
	RaceColumnSet all = kept | weighted;
	uint32_t n = 0;
	double *factor;

	for (uint32_t i = 0; i < graph->cliques; i++)
	{
		bool child = i != k && graph->clique[i].parent == k && i != 0;

		if (i == from || !(child || (k != 0 && i == clique->parent)))
			continue;
		messages[n] = event_message(graph, event, i, k);
		sets[n] = child ? graph->clique[i].separator : clique->separator;
		if (messages[n] != NULL)
			all |= sets[n++];
	}
	if (n == 0 && weighted == 0 && from != k)
		return NULL;
	factor = race_graph_marginal(graph, all, clique->belief, clique->set);
	for (uint32_t i = 0; i < n; i++)
		multiply_by(graph, factor, all, messages[i], sets[i]);
	for (uint32_t i = 0; i < graph->columns->columns; i++)
		if (weighted & RACE_COLUMN(i))
			multiply_by(graph, factor, all, event->weights[i], RACE_COLUMN(i));
	return race_graph_marginal(graph, kept, factor, all);
}

/* Return the expectation of weights beyond a separator, given its cell; NULL without weights. */
static double *
event_message(RaceGraph *graph, const Event *event, uint32_t k, uint32_t from)
{
	Clique *clique = &graph->clique[k];
	RaceColumnSet separator =
		clique->parent == from && k != 0 ? clique->separator : graph->clique[from].separator;
	double *factor = event_factor(graph, event, k, from, separator, separator);
	double *sum;

	if (factor == NULL)
		return NULL;
	sum = race_graph_marginal(graph, separator, clique->belief, clique->set);
	for (size_t i = 0; i < race_graph_cells(graph, separator); i++)
		factor[i] = sum[i] > 0 ? factor[i] / sum[i] : 0;
	return factor;
}

double
race_graph_event(RaceGraph *graph, const double *const *weights, uint32_t of, double *table)
{
	uint32_t columns = graph->columns->columns;
	double *by_group[RACE_GRAPH_COLUMNS];
	Event event = {0, by_group};
	double *factor;
	double sum = 0;

	graph->scratch_used = 0;
	for (uint32_t i = 0; i < columns; i++)
	{
		if (i == of || weights[i] == NULL)
			continue;
		event.columns |= RACE_COLUMN(i);
		by_group[i] = race_graph_scratch(graph, graph->columns->groups[i]);
		memset(by_group[i], 0, graph->columns->groups[i] * sizeof(double));
		for (uint32_t c = 0; c < graph->columns->cells[i]; c++)
			by_group[i][race_graph_group(graph, i, c)] += graph->within[i][c] * weights[i][c];
	}
	factor = event_factor(graph, &event, graph->home[of], graph->home[of], RACE_COLUMN(of), 0);
	for (uint32_t c = 0; c < graph->columns->cells[of]; c++)
	{
		double p = factor[race_graph_group(graph, of, c)] * graph->within[of][c];

		if (weights[of] != NULL)
			p *= weights[of][c];
		if (table != NULL)
			table[c] = p;
		sum += p;
	}
	return sum;
}
