/*
 * graphical_model.c
 *		The distribution of maximum entropy over rows of categories, some tables of which were measured with noise
 *
 * A factor is a table over a set of columns, in groups.  Its columns are in the order of graph->order, the last one
 * varies fastest.  Beliefs of cliques are computed by Hugin propagation: logarithms of potentials are added, messages
 * to parents are logarithms, messages from parents are quotients.
 */
#include <math.h>
#include <string.h>

#include "../core/core.h"
#include "graphical_model.h"

typedef struct Clique
{
	RaceColumnSet set;
	RaceColumnSet separator;
	uint32_t	parent;
	size_t		cells;
	size_t		separator_cells;
	double	   *belief;
	double	   *message;		/* to the parent; then the separator's belief */
} Clique;

typedef struct Table
{
	uint32_t	first;
	uint32_t	second;
	uint32_t	clique;			/* that contains it */
	size_t		cells;
	double	   *theta;
	bool		swapped;		/* second comes first in the order of columns */
} Table;

struct RaceGraph
{
	const RaceGraphColumns *columns;
	const RaceMarginal *marginals;
	uint32_t	tables;
	Table	   *table;
	uint32_t	cliques;
	Clique	   *clique;
	uint32_t   *order;			/* columns, fewest groups first */
	uint32_t   *home;			/* a clique of each column */
	double	  **within;			/* [column][cell]: probability of a cell in its group */
	double	  **group_log;		/* [column][group] */
	size_t		parameters;
	double	   *theta;
	double		log_partition;
	double	   *work;			/* a table of two columns, or of one */
	double	   *scratch;		/* grows */
	size_t		scratch_size;
	size_t		scratch_used;
	RaceAllocate allocate;
	void	   *arg;
};

static inline uint32_t
group_of(const RaceGraph *graph, uint32_t column, uint32_t cell)
{
	const uint32_t *map = graph->columns->group_of[column];

	return map == NULL ? cell : map[cell];
}

static size_t
cells_of(const RaceGraph *graph, RaceColumnSet set)
{
	size_t		cells = 1;

	for (uint32_t i = 0; i < graph->columns->columns; i++)
		if (set & RACE_COLUMN(i))
			cells *= graph->columns->groups[i];
	return cells;
}

/* ------------------------------------------------------- products of factors */

typedef enum Operation
{
	ADD,						/* out[x] += a[x] */
	MULTIPLY,					/* out[x] *= a[x] */
	SUM,						/* out[x] += sum of a */
	CONTRACT					/* out[x] += sum of a b */
} Operation;

#define OPERANDS	3

typedef struct Operand
{
	double	   *factor;
	RaceColumnSet set;
} Operand;

/* Loops over the cells of a set of columns, some of which are one loop for all operands */
typedef struct Loops
{
	uint32_t	n;
	size_t		size[RACE_GRAPH_COLUMNS];
	size_t		step[RACE_GRAPH_COLUMNS][OPERANDS];
} Loops;

/* Loops, the innermost first */
static void
plan_loops(const RaceGraph *graph, RaceColumnSet all, const Operand *operands, Loops *loops)
{
	size_t		steps[OPERANDS] = {1, 1, 1};

	loops->n = 0;
	for (uint32_t k = graph->columns->columns; k-- > 0;)
	{
		uint32_t	column = graph->order[k];
		size_t		size = graph->columns->groups[column];
		uint32_t	n = loops->n;
		bool		joined = n > 0;

		if (!(all & RACE_COLUMN(column)))
			continue;
		for (int i = 0; i < OPERANDS; i++)
		{
			bool		has = (operands[i].set & RACE_COLUMN(column)) != 0;

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

static double
sum_of(const double *x, size_t n)
{
	double		sums[4] = {0, 0, 0, 0};
	size_t		i;

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

/* The innermost loop; steps are 0 or 1 */
static void
inner_loop(Operation operation, size_t n, const size_t *step, double *restrict out,
		   const double *restrict a, const double *restrict b)
{
	size_t		i;

	switch (operation)
	{
		case ADD:
			for (i = 0; step[1] == 0 && i < n; i++)
				out[i] += *a;
			for (i = 0; step[1] != 0 && i < n; i++)
				out[i] += a[i];
			break;
		case MULTIPLY:
			for (i = 0; step[1] == 0 && i < n; i++)
				out[i] *= *a;
			for (i = 0; step[1] != 0 && i < n; i++)
				out[i] *= a[i];
			break;
		case SUM:
			if (step[0] == 0)
				*out += sum_of(a, n);
			for (i = 0; step[0] != 0 && i < n; i++)
				out[i] += a[i];
			break;
		case CONTRACT:
			for (i = 0; i < n; i++)
				out[i * step[0]] += a[i * step[1]] * b[i * step[2]];
			break;
	}
}

/* For all cells of a set of columns; a, or for sums out, may have fewer columns */
static void
combine(const RaceGraph *graph, Operation operation, RaceColumnSet all, Operand out, Operand a, Operand b)
{
	Operand		operands[OPERANDS] = {out, a, b};
	size_t		counter[RACE_GRAPH_COLUMNS] = {0};
	Loops		loops;
	size_t		done = 0;
	uint32_t	k;

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
			bool		again = ++counter[k] < loops.size[k];

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
	combine(graph, ADD, all, (Operand) {out, all}, (Operand) {a, set}, (Operand) {a, set});
}

static void
multiply_by(const RaceGraph *graph, double *out, RaceColumnSet all, double *a, RaceColumnSet set)
{
	combine(graph, MULTIPLY, all, (Operand) {out, all}, (Operand) {a, set}, (Operand) {a, set});
}

/* The marginal of a factor */
static void
project(const RaceGraph *graph, double *out, RaceColumnSet set, double *a, RaceColumnSet all)
{
	memset(out, 0, cells_of(graph, set) * sizeof(double));
	combine(graph, SUM, all, (Operand) {out, set}, (Operand) {a, all}, (Operand) {out, set});
}

/* Space for n numbers until scratch_used is set back.  What was given out before stays where it is. */
static double *
scratch(RaceGraph *graph, size_t n)
{
	double	   *space;

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

static double *
marginal(RaceGraph *graph, RaceColumnSet set, double *a, RaceColumnSet all)
{
	double	   *out = scratch(graph, cells_of(graph, set));

	project(graph, out, set, a, all);
	return out;
}

/* ------------------------------------------------------------------ creation */

static void
sort_columns(RaceGraph *graph)
{
	for (uint32_t i = 0; i < graph->columns->columns; i++)
	{
		uint32_t	j = i;

		for (; j > 0 && graph->columns->groups[graph->order[j - 1]] > graph->columns->groups[i]; j--)
			graph->order[j] = graph->order[j - 1];
		graph->order[j] = i;
	}
}

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

		if (marginal->first == marginal->second)
			continue;
		neighbors[marginal->first] |= RACE_COLUMN(marginal->second);
		neighbors[marginal->second] |= RACE_COLUMN(marginal->first);
	}
	race_junction_tree(graph->columns->columns, graph->columns->groups, neighbors, &tree);
	graph->cliques = tree.cliques;
	graph->clique = graph->allocate(graph->arg, tree.cliques * sizeof(Clique));
	for (uint32_t k = 0; k < tree.cliques; k++)
	{
		Clique	   *clique = &graph->clique[k];

		clique->set = tree.clique[k];
		clique->separator = tree.separator[k];
		clique->parent = tree.parent[k];
		clique->cells = cells_of(graph, clique->set);
		clique->separator_cells = cells_of(graph, clique->separator);
		clique->belief = graph->allocate(graph->arg, clique->cells * sizeof(double));
		clique->message = graph->allocate(graph->arg, clique->separator_cells * sizeof(double));
	}
}

/* The smallest clique that contains a set */
static uint32_t
clique_with(const RaceGraph *graph, RaceColumnSet set)
{
	uint32_t	best = graph->cliques;

	for (uint32_t k = 0; k < graph->cliques; k++)
		if ((set & ~graph->clique[k].set) == 0 &&
			(best == graph->cliques || graph->clique[k].cells < graph->clique[best].cells))
			best = k;
	return best;
}

static void
create_tables(RaceGraph *graph)
{
	const uint32_t *groups = graph->columns->groups;
	size_t		most = 1;
	double	   *theta;

	graph->table = graph->allocate(graph->arg, graph->tables * sizeof(Table));
	for (uint32_t t = 0; t < graph->tables; t++)
	{
		const RaceMarginal *marginal = &graph->marginals[t];
		Table	   *table = &graph->table[t];

		table->first = marginal->first;
		table->second = marginal->second;
		table->clique = clique_with(graph, RACE_COLUMN(table->first) | RACE_COLUMN(table->second));
		table->cells = table->first == table->second ? graph->columns->cells[table->first] :
			(size_t) groups[table->first] * groups[table->second];
		table->swapped = comes_before(graph, table->second, table->first);
		graph->parameters += table->cells;
		most = table->cells > most ? table->cells : most;
	}
	theta = graph->theta = graph->allocate(graph->arg, graph->parameters * sizeof(double));
	memset(theta, 0, graph->parameters * sizeof(double));
	for (uint32_t t = 0; t < graph->tables; t++)
	{
		graph->table[t].theta = theta;
		theta += graph->table[t].cells;
	}
	graph->work = graph->allocate(graph->arg, most * sizeof(double));
}

RaceGraph *
race_graph_create(const RaceGraphColumns *columns, uint32_t n, const RaceMarginal *tables,
				  RaceAllocate allocate, void *arg)
{
	RaceGraph  *graph = allocate(arg, sizeof(RaceGraph));
	uint32_t	d = columns->columns;

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
	sort_columns(graph);
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

/* exp(x) of x <= 0, in a loop that compilers vectorize; below LEAST_LOG it is exp(LEAST_LOG). Relative error 3e-13 */
#define LEAST_LOG	-700.0

static void
exponentials(double *restrict x, size_t n, double most)
{
	const double magic = 0x1.8p52;

	for (size_t i = 0; i < n; i++)
	{
		double		y = x[i] - most;
		double		shifted;
		double		r;
		double		p;
		double		power;
		uint64_t	bits;

		y = y < LEAST_LOG ? LEAST_LOG : y;
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

static double
largest(const double *x, size_t n)
{
	double		most = x[0];

	for (size_t i = 1; i < n; i++)
		most = x[i] > most ? x[i] : most;
	return most;
}

/* The theta of a column: probabilities of cells in groups, and logarithms of the potentials of groups */
static void
calibrate_column(RaceGraph *graph, const Table *table)
{
	uint32_t	column = table->first;
	uint32_t	groups = graph->columns->groups[column];
	uint32_t	cells = graph->columns->cells[column];
	double	   *within = graph->within[column];
	double	   *logs = graph->group_log[column];
	double	   *most = graph->work;
	uint32_t	i;

	for (i = 0; i < groups; i++)
	{
		most[i] = -INFINITY;
		logs[i] = 0;
	}
	for (i = 0; i < cells; i++)
		most[group_of(graph, column, i)] = fmax(most[group_of(graph, column, i)], table->theta[i]);
	for (i = 0; i < cells; i++)
	{
		within[i] = exp(fmax(table->theta[i] - most[group_of(graph, column, i)], LEAST_LOG));
		logs[group_of(graph, column, i)] += within[i];
	}
	for (i = 0; i < cells; i++)
		within[i] /= logs[group_of(graph, column, i)];
	for (i = 0; i < groups; i++)
		logs[i] = log(logs[i]) + most[i];
}

/* From the layout of a table of two columns to that of a factor, or back */
static void
transpose(const RaceGraph *graph, const Table *table, const double *from, double *to, bool back)
{
	size_t		rows = graph->columns->groups[back ? table->second : table->first];
	size_t		columns = graph->columns->groups[back ? table->first : table->second];

	if (!table->swapped)
		memcpy(to, from, table->cells * sizeof(double));
	else
		for (size_t i = 0; i < rows; i++)
			for (size_t j = 0; j < columns; j++)
				to[j * rows + i] = from[i * columns + j];
}

static void
add_potentials(RaceGraph *graph)
{
	for (uint32_t k = 0; k < graph->cliques; k++)
		memset(graph->clique[k].belief, 0, graph->clique[k].cells * sizeof(double));
	for (uint32_t t = 0; t < graph->tables; t++)
	{
		const Table *table = &graph->table[t];
		Clique	   *clique = &graph->clique[table->clique];
		RaceColumnSet set = RACE_COLUMN(table->first) | RACE_COLUMN(table->second);

		if (table->first == table->second)
		{
			calibrate_column(graph, table);
			add_to(graph, clique->belief, clique->set, graph->group_log[table->first], set);
			continue;
		}
		transpose(graph, table, table->theta, graph->work, false);
		add_to(graph, clique->belief, clique->set, graph->work, set);
	}
}

void
race_graph_calibrate(RaceGraph *graph)
{
	double		sum;

	add_potentials(graph);
	graph->log_partition = 0;
	for (uint32_t k = graph->cliques; k-- > 0;)
	{
		Clique	   *clique = &graph->clique[k];
		Clique	   *parent = &graph->clique[clique->parent];
		double		most = largest(clique->belief, clique->cells);
		double	   *logs;

		exponentials(clique->belief, clique->cells, most);
		graph->log_partition += most;
		if (k == 0)
			break;
		project(graph, clique->message, clique->separator, clique->belief, clique->set);
		graph->scratch_used = 0;
		logs = scratch(graph, clique->separator_cells);
		for (size_t i = 0; i < clique->separator_cells; i++)
			logs[i] = log(clique->message[i]);
		add_to(graph, parent->belief, parent->set, logs, clique->separator);
	}
	sum = sum_of(graph->clique[0].belief, graph->clique[0].cells);
	graph->log_partition += log(sum);
	for (size_t i = 0; i < graph->clique[0].cells; i++)
		graph->clique[0].belief[i] /= sum;
	for (uint32_t k = 1; k < graph->cliques; k++)
	{
		Clique	   *clique = &graph->clique[k];
		Clique	   *parent = &graph->clique[clique->parent];
		double	   *quotients;

		graph->scratch_used = 0;
		quotients = marginal(graph, clique->separator, parent->belief, parent->set);
		for (size_t i = 0; i < clique->separator_cells; i++)
		{
			double		belief = quotients[i];

			quotients[i] /= clique->message[i];
			clique->message[i] = belief;
		}
		multiply_by(graph, clique->belief, clique->set, quotients, clique->separator);
	}
	graph->scratch_used = 0;
}

/* The probabilities of the cells of a measured table, in its layout */
static void
table_probabilities(RaceGraph *graph, const Table *table, double *out)
{
	Clique	   *clique = &graph->clique[table->clique];
	uint32_t	column = table->first;

	project(graph, graph->work, RACE_COLUMN(table->first) | RACE_COLUMN(table->second), clique->belief,
			clique->set);
	if (table->first != table->second)
		transpose(graph, table, graph->work, out, true);
	else
		for (size_t i = 0; i < table->cells; i++)
			out[i] = graph->work[group_of(graph, column, (uint32_t) i)] * graph->within[column][i];
}

/* ----------------------------------------------------------------------- fit */

/*
 * The fit minimizes
 *
 *		log Z(theta) - sum of m theta + sum of r theta^2 / 2
 *
 * where m are measured frequencies, whose sum in each table is made 1.  This is the dual of maximum entropy with
 * quadratic penalties (m - mu)^2 / (2 r).
 */
#define HISTORY		8

typedef struct Fit
{
	RaceGraph  *graph;
	size_t		n;
	double	   *target;			/* m */
	double	   *ridge;			/* r */
	double	   *scale;			/* of a parameter: 1 / root of the curvature */
	double	   *gradient;
	double	   *direction;
	double	   *trial;			/* theta */
	double	   *steps[HISTORY];
	double	   *changes[HISTORY];
	double		products[HISTORY];
	uint32_t	history;
} Fit;

double		race_graph_tau_pair = 1;
double		race_graph_tau_one = 5;

static void
set_targets(Fit *fit, double total)
{
	RaceGraph  *graph = fit->graph;
	size_t		at = 0;

	for (uint32_t t = 0; t < graph->tables; t++)
	{
		const RaceMarginal *marginal = &graph->marginals[t];
		size_t		cells = graph->table[t].cells;
		double		shift = (1 - sum_of(marginal->counts, cells) / total) / (double) cells;
		double		sigma = sqrt(marginal->variance);
		double		tau = marginal->first == marginal->second ? race_graph_tau_one : race_graph_tau_pair;

		for (size_t i = 0; i < cells; i++, at++)
		{
			double		count = fmax(marginal->counts[i], sigma);

			fit->target[at] = marginal->counts[i] / total + shift;
			fit->ridge[at] = marginal->variance / (tau * tau * total * count);
			fit->scale[at] = 1 / sqrt(count / total + fit->ridge[at]);
		}
	}
}

/* The objective and its gradient at theta; the model is calibrated there. */
static double
evaluate(Fit *fit, double *gradient)
{
	RaceGraph  *graph = fit->graph;
	const double *theta = graph->theta;
	double		value;

	race_graph_calibrate(graph);
	value = graph->log_partition;
	for (uint32_t t = 0; t < graph->tables; t++)
		table_probabilities(graph, &graph->table[t], gradient + (graph->table[t].theta - theta));
	for (size_t i = 0; i < fit->n; i++)
	{
		value += theta[i] * (fit->ridge[i] * theta[i] / 2 - fit->target[i]);
		gradient[i] += fit->ridge[i] * theta[i] - fit->target[i];
	}
	return value;
}

static double
dot(const double *x, const double *y, size_t n)
{
	double		sums[4] = {0, 0, 0, 0};
	size_t		i;

	for (i = 0; i + 4 <= n; i += 4)
		for (int j = 0; j < 4; j++)
			sums[j] += x[i + j] * y[i + j];
	for (; i < n; i++)
		sums[0] += x[i] * y[i];
	return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/* The direction of the limited-memory BFGS method, in scaled parameters */
static void
set_direction(Fit *fit)
{
	double	   *d = fit->direction;
	uint32_t	used = fit->history < HISTORY ? fit->history : HISTORY;
	double		alpha[HISTORY];

	for (size_t i = 0; i < fit->n; i++)
		d[i] = -fit->gradient[i] * fit->scale[i];
	for (uint32_t k = 1; k <= used; k++)
	{
		uint32_t	j = (fit->history - k) % HISTORY;

		alpha[j] = dot(fit->steps[j], d, fit->n) / fit->products[j];
		for (size_t i = 0; i < fit->n; i++)
			d[i] -= alpha[j] * fit->changes[j][i];
	}
	if (used > 0)
	{
		uint32_t	j = (fit->history - 1) % HISTORY;
		double		gamma = fit->products[j] / dot(fit->changes[j], fit->changes[j], fit->n);

		for (size_t i = 0; i < fit->n; i++)
			d[i] *= gamma;
	}
	for (uint32_t k = used; k >= 1; k--)
	{
		uint32_t	j = (fit->history - k) % HISTORY;
		double		beta = dot(fit->changes[j], d, fit->n) / fit->products[j];

		for (size_t i = 0; i < fit->n; i++)
			d[i] += (alpha[j] - beta) * fit->steps[j][i];
	}
	for (size_t i = 0; i < fit->n; i++)
		d[i] *= fit->scale[i];
}

/* Remember a step, in scaled parameters; `gradient` is that of the new place. */
static void
remember(Fit *fit, const double *gradient, double length)
{
	uint32_t	j = fit->history % HISTORY;

	for (size_t i = 0; i < fit->n; i++)
	{
		fit->steps[j][i] = length * fit->direction[i] / fit->scale[i];
		fit->changes[j][i] = (gradient[i] - fit->gradient[i]) * fit->scale[i];
	}
	fit->products[j] = dot(fit->steps[j], fit->changes[j], fit->n);
	if (fit->products[j] > 0)
		fit->history++;
}

/* The largest total variation distance between a table of the model and what it should be */
static double
largest_distance(const Fit *fit)
{
	const RaceGraph *graph = fit->graph;
	double		most = 0;

	for (uint32_t t = 0; t < graph->tables; t++)
	{
		const double *gradient = fit->gradient + (graph->table[t].theta - graph->theta);
		double		distance = 0;

		for (size_t i = 0; i < graph->table[t].cells; i++)
			distance += fabs(gradient[i]) / 2;
		most = fmax(most, distance);
	}
	return most;
}

double		race_graph_tolerance = 1e-3;

static void
prepare_fit(Fit *fit, double total)
{
	RaceGraph  *graph = fit->graph;
	double	  **arrays[] = {&fit->target, &fit->ridge, &fit->scale, &fit->gradient, &fit->direction, &fit->trial};

	fit->n = graph->parameters;
	for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
		*arrays[i] = graph->allocate(graph->arg, fit->n * sizeof(double));
	for (uint32_t i = 0; i < HISTORY; i++)
	{
		fit->steps[i] = graph->allocate(graph->arg, fit->n * sizeof(double));
		fit->changes[i] = graph->allocate(graph->arg, fit->n * sizeof(double));
	}
	set_targets(fit, total);
}

uint32_t
race_graph_fit(RaceGraph *graph, double total, uint32_t most_iterations)
{
	Fit			fit = {.graph = graph};
	double		value;
	uint32_t	iteration;

	prepare_fit(&fit, total);
	value = evaluate(&fit, fit.gradient);
	for (iteration = 0; iteration < most_iterations; iteration++)
	{
		double		length = 1;
		double		slope;
		double		next;

		if (largest_distance(&fit) < race_graph_tolerance)
			break;
		set_direction(&fit);
		slope = dot(fit.direction, fit.gradient, fit.n);
		for (size_t i = 0; i < fit.n; i++)
			fit.trial[i] = graph->theta[i];
		for (;; length /= 2)
		{
			double	   *gradient = fit.changes[fit.history % HISTORY];

			for (size_t i = 0; i < fit.n; i++)
				graph->theta[i] = fit.trial[i] + length * fit.direction[i];
			next = evaluate(&fit, gradient);
			if (next <= value + 1e-4 * length * slope || length < 1e-6)
				break;
		}
		memcpy(fit.trial, fit.changes[fit.history % HISTORY], fit.n * sizeof(double));
		remember(&fit, fit.trial, length);
		memcpy(fit.gradient, fit.trial, fit.n * sizeof(double));
		value = next;
	}
	return iteration;
}

/* ------------------------------------------------------------------- answers */

/* The cliques on the path between two, from which to whom; returns how many */
static uint32_t
find_path(const RaceGraph *graph, uint32_t from, uint32_t to, uint32_t *path)
{
	uint32_t	up[RACE_GRAPH_COLUMNS];
	uint32_t	n = 0;
	uint32_t	m = 0;

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

/* P(columns of `set`, without those of the separator | separator), as a factor over both */
static double *
conditional(RaceGraph *graph, const Clique *clique, RaceColumnSet separator, RaceColumnSet set)
{
	RaceColumnSet all = set | separator;
	double	   *factor = marginal(graph, all, clique->belief, clique->set);
	double	   *sum = marginal(graph, separator, factor, all);

	for (size_t i = 0; i < cells_of(graph, separator); i++)
		sum[i] = sum[i] > 0 ? 1 / sum[i] : 0;
	multiply_by(graph, factor, all, sum, separator);
	return factor;
}

/* The table of two columns, in groups, as a factor: along the path between their cliques */
static double *
pair_factor(RaceGraph *graph, uint32_t first, uint32_t second)
{
	RaceColumnSet a = RACE_COLUMN(first);
	RaceColumnSet b = RACE_COLUMN(second);
	uint32_t	both = clique_with(graph, a | b);
	uint32_t	path[2 * RACE_GRAPH_COLUMNS];
	uint32_t	n;
	uint32_t	k = 0;
	RaceColumnSet known;
	double	   *factor;

	graph->scratch_used = 0;
	if (both < graph->cliques)
		return marginal(graph, a | b, graph->clique[both].belief, graph->clique[both].set);
	n = find_path(graph, graph->home[first], graph->home[second], path);
	while (n > 1 && (graph->clique[path[n - 2]].set & b) != 0)
		n--;
	while (k + 1 < n && (graph->clique[path[k + 1]].set & a) != 0)
		k++;
	known = a;
	factor = marginal(graph, a, graph->clique[path[k]].belief, graph->clique[path[k]].set);
	for (; k < n; k++)
	{
		Clique	   *clique = &graph->clique[path[k]];
		RaceColumnSet separator = known & ~a;
		RaceColumnSet next = k + 1 == n ? b : clique->set & graph->clique[path[k + 1]].set;
		double	   *given;
		double	   *product;

		if (known == a && (clique->set & a) != 0)
		{
			factor = marginal(graph, a | next, clique->belief, clique->set);
			known = a | next;
			continue;
		}
		given = conditional(graph, clique, separator, next);
		product = scratch(graph, cells_of(graph, a | next));
		memset(product, 0, cells_of(graph, a | next) * sizeof(double));
		combine(graph, CONTRACT, known | next, (Operand) {product, a | next},
				(Operand) {factor, known}, (Operand) {given, separator | next});
		factor = product;
		known = a | next;
	}
	return factor;
}

void
race_graph_pair(RaceGraph *graph, uint32_t first, uint32_t second, bool cells, double *table)
{
	double	   *factor = pair_factor(graph, first, second);
	bool		swapped = comes_before(graph, second, first);
	size_t		rows = graph->columns->groups[first];
	size_t		columns = graph->columns->groups[second];
	size_t		n = cells ? graph->columns->cells[first] : rows;
	size_t		m = cells ? graph->columns->cells[second] : columns;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < m; j++)
		{
			size_t		g = cells ? group_of(graph, first, (uint32_t) i) : i;
			size_t		h = cells ? group_of(graph, second, (uint32_t) j) : j;

			table[i * m + j] = factor[swapped ? h * rows + g : g * columns + h];
			if (cells)
				table[i * m + j] *= graph->within[first][i] * graph->within[second][j];
		}
}

/* An event while it is summed over the tree */
typedef struct Event
{
	RaceColumnSet columns;		/* that have weights */
	double	  **weights;		/* [column][group] */
} Event;

static double *event_message(RaceGraph *graph, const Event *event, uint32_t k, uint32_t from);

/*
 * The expectation of the weights in a clique and behind it, for each cell of `kept` columns of the clique.  Weights of
 * columns in `taken` are not counted.
 */
static double *
event_factor(RaceGraph *graph, const Event *event, uint32_t k, uint32_t from, RaceColumnSet kept,
			 RaceColumnSet taken)
{
	Clique	   *clique = &graph->clique[k];
	double	   *messages[RACE_GRAPH_COLUMNS];
	RaceColumnSet sets[RACE_GRAPH_COLUMNS];
	RaceColumnSet weighted = clique->set & event->columns & ~taken;
	RaceColumnSet all = kept | weighted;
	uint32_t	n = 0;
	double	   *factor;

	for (uint32_t i = 0; i < graph->cliques; i++)
	{
		bool		child = i != k && graph->clique[i].parent == k && i != 0;

		if (i == from || !(child || (k != 0 && i == clique->parent)))
			continue;
		messages[n] = event_message(graph, event, i, k);
		sets[n] = child ? graph->clique[i].separator : clique->separator;
		if (messages[n] != NULL)
			all |= sets[n++];
	}
	if (n == 0 && weighted == 0 && from != k)
		return NULL;
	factor = marginal(graph, all, clique->belief, clique->set);
	for (uint32_t i = 0; i < n; i++)
		multiply_by(graph, factor, all, messages[i], sets[i]);
	for (uint32_t i = 0; i < graph->columns->columns; i++)
		if (weighted & RACE_COLUMN(i))
			multiply_by(graph, factor, all, event->weights[i], RACE_COLUMN(i));
	return marginal(graph, kept, factor, all);
}

/* The expectation of weights on the far side of a separator, given its cell; NULL: there are none */
static double *
event_message(RaceGraph *graph, const Event *event, uint32_t k, uint32_t from)
{
	Clique	   *clique = &graph->clique[k];
	RaceColumnSet separator = clique->parent == from && k != 0 ? clique->separator :
		graph->clique[from].separator;
	double	   *factor = event_factor(graph, event, k, from, separator, separator);
	double	   *sum;

	if (factor == NULL)
		return NULL;
	sum = marginal(graph, separator, clique->belief, clique->set);
	for (size_t i = 0; i < cells_of(graph, separator); i++)
		factor[i] = sum[i] > 0 ? factor[i] / sum[i] : 0;
	return factor;
}

double
race_graph_event(RaceGraph *graph, const double *const *weights, uint32_t of, double *table)
{
	uint32_t	columns = graph->columns->columns;
	double	   *by_group[RACE_GRAPH_COLUMNS];
	Event		event = {0, by_group};
	double	   *factor;
	double		sum = 0;

	graph->scratch_used = 0;
	for (uint32_t i = 0; i < columns; i++)
	{
		if (i == of || weights[i] == NULL)
			continue;
		event.columns |= RACE_COLUMN(i);
		by_group[i] = scratch(graph, graph->columns->groups[i]);
		memset(by_group[i], 0, graph->columns->groups[i] * sizeof(double));
		for (uint32_t c = 0; c < graph->columns->cells[i]; c++)
			by_group[i][group_of(graph, i, c)] += graph->within[i][c] * weights[i][c];
	}
	factor = event_factor(graph, &event, graph->home[of], graph->home[of], RACE_COLUMN(of), 0);
	for (uint32_t c = 0; c < graph->columns->cells[of]; c++)
	{
		double		p = factor[group_of(graph, of, c)] * graph->within[of][c];

		if (weights[of] != NULL)
			p *= weights[of][c];
		if (table != NULL)
			table[c] = p;
		sum += p;
	}
	return sum;
}

/* ------------------------------------------------------------------- samples */

/*
 * Columns are drawn one after the other, given the columns of a clique that were drawn before.  Rows are sorted by
 * these, and then by the column drawn last, and the one before, and so on.  Row k in that order takes the number
 * frac(start + k golden) for its cell: it is uniform, and numbers of rows side by side are evenly spread.
 */
#define GOLDEN	0.6180339887498949

typedef struct Sample
{
	uint32_t	n;
	uint32_t   *rows;			/* [n][columns], of cells */
	uint32_t   *groups;			/* the same of groups */
	uint32_t   *order;			/* of rows */
	uint32_t   *sorted;
	uint32_t   *codes;			/* of rows */
} Sample;

/* Sort rows by codes below `limit`, keeping the order of those that are equal. */
static void
sort_rows(RaceGraph *graph, Sample *sample, size_t limit)
{
	size_t		used = graph->scratch_used;
	uint32_t   *starts = (uint32_t *) scratch(graph, limit / 2 + 1);
	uint32_t	at = 0;
	uint32_t   *order = sample->order;

	memset(starts, 0, (limit + 1) * sizeof(uint32_t));
	for (uint32_t i = 0; i < sample->n; i++)
		starts[sample->codes[i]]++;
	for (size_t i = 0; i < limit; i++)
	{
		uint32_t	count = starts[i];

		starts[i] = at;
		at += count;
	}
	for (uint32_t i = 0; i < sample->n; i++)
		sample->sorted[starts[sample->codes[order[i]]]++] = order[i];
	sample->order = sample->sorted;
	sample->sorted = order;
	graph->scratch_used = used;
}

/* Turn the cells of a column, of a group each, to cumulative probabilities of cells in groups; and list them by group. */
typedef struct Within
{
	uint32_t   *start;			/* [groups + 1] */
	uint32_t   *cell;			/* [cells], by group */
	double	   *cumulative;		/* in the group */
} Within;

static void
prepare_within(RaceGraph *graph, uint32_t column, Within *within)
{
	uint32_t	groups = graph->columns->groups[column];
	uint32_t	cells = graph->columns->cells[column];

	within->start = (uint32_t *) scratch(graph, groups / 2 + 2);
	within->cell = (uint32_t *) scratch(graph, cells / 2 + 1);
	within->cumulative = scratch(graph, cells);
	memset(within->start, 0, (groups + 1) * sizeof(uint32_t));
	for (uint32_t c = 0; c < cells; c++)
		within->start[group_of(graph, column, c) + 1]++;
	for (uint32_t g = 0; g < groups; g++)
		within->start[g + 1] += within->start[g];
	for (uint32_t c = 0; c < cells; c++)
		within->cell[within->start[group_of(graph, column, c)]++] = c;
	for (uint32_t g = groups; g > 0; g--)
		within->start[g] = within->start[g - 1];
	within->start[0] = 0;
	for (uint32_t g = 0; g < groups; g++)
	{
		double		sum = 0;

		for (uint32_t i = within->start[g]; i < within->start[g + 1]; i++)
			within->cumulative[i] = sum += graph->within[column][within->cell[i]];
	}
}

/* The first of n cumulative numbers that is above x, or the last one */
static uint32_t
search(const double *cumulative, uint32_t n, double x)
{
	uint32_t	low = 0;

	while (n > 1)
	{
		uint32_t	half = n / 2;

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

/* Draw a column of all rows, given columns of the same clique that were drawn before. */
static void
sample_column(RaceGraph *graph, const Clique *clique, RaceColumnSet given, uint32_t column,
			  double start, Sample *sample)
{
	uint32_t	columns = graph->columns->columns;
	uint32_t	groups = graph->columns->groups[column];
	size_t		limit = cells_of(graph, given);
	double	   *factor;
	double	   *cumulative;
	Within		within;
	size_t		steps[RACE_GRAPH_COLUMNS];
	size_t		step = 1;
	size_t		own_step = 0;
	uint32_t	last = UINT32_MAX;

	graph->scratch_used = 0;
	factor = marginal(graph, given | RACE_COLUMN(column), clique->belief, clique->set);
	cumulative = scratch(graph, groups);
	prepare_within(graph, column, &within);
	/* rows by the columns given; where these are in the factor is another number */
	for (uint32_t k = columns; k-- > 0;)
	{
		uint32_t	i = graph->order[k];

		steps[i] = 0;
		if (i == column)
			own_step = step;
		else if (given & RACE_COLUMN(i))
			steps[i] = step;
		else
			continue;
		step *= graph->columns->groups[i];
	}
	memset(sample->codes, 0, sample->n * sizeof(uint32_t));
	for (uint32_t i = 0; i < columns; i++)
		if (steps[i] > 0)
			for (uint32_t k = 0; k < sample->n; k++)
				sample->codes[k] += sample->groups[(size_t) k * columns + i] * (uint32_t) steps[i];
	/* the column itself has code 0: leave it out */
	for (uint32_t k = 0; k < sample->n; k++)
		sample->codes[k] = (uint32_t) (sample->codes[k] / (own_step * groups) * own_step +
									   sample->codes[k] % own_step);
	sort_rows(graph, sample, limit);
	for (uint32_t k = 0; k < sample->n; k++)
	{
		uint32_t	row = sample->order[k];
		uint32_t	code = sample->codes[row];
		uint32_t   *group = &sample->groups[(size_t) row * columns + column];
		double		u;
		double		below;
		uint32_t	first;

		if (code != last)
		{
			double		sum = 0;

			for (uint32_t g = 0; g < groups; g++)
				cumulative[g] = sum += factor[code / own_step * own_step * groups + code % own_step + g * own_step];
			last = code;
		}
		u = start + (double) k * GOLDEN;
		u = (u - floor(u)) * cumulative[groups - 1];
		*group = search(cumulative, groups, u);
		below = *group == 0 ? 0 : cumulative[*group - 1];
		first = within.start[*group];
		u = (u - below) / (cumulative[*group] - below);
		sample->rows[(size_t) row * columns + column] =
			within.cell[first + search(within.cumulative + first, within.start[*group + 1] - first, u)];
	}
	for (uint32_t k = 0; k < sample->n; k++)
		sample->codes[k] = sample->groups[(size_t) k * columns + column];
	sort_rows(graph, sample, groups);
	race_look_for_interrupts();
}

/* Exchange rows, so that their order says nothing. */
static void
shuffle(uint32_t *rows, uint32_t n, uint32_t columns, double (*uniform) (void *), void *arg)
{
	for (uint32_t i = n; i > 1; i--)
	{
		uint32_t   *a = rows + (size_t) (i - 1) * columns;
		uint32_t   *b = rows + (size_t) (uniform(arg) * i) * columns;

		for (uint32_t j = 0; j < columns; j++)
		{
			uint32_t	cell = a[j];

			a[j] = b[j];
			b[j] = cell;
		}
	}
}

void
race_graph_sample(RaceGraph *graph, double (*uniform) (void *), void *arg, uint32_t n, uint32_t *rows)
{
	uint32_t	columns = graph->columns->columns;
	RaceColumnSet drawn = 0;
	Sample		sample = {.n = n, .rows = rows};

	sample.groups = graph->allocate(graph->arg, (size_t) n * columns * sizeof(uint32_t));
	sample.order = graph->allocate(graph->arg, n * sizeof(uint32_t));
	sample.sorted = graph->allocate(graph->arg, n * sizeof(uint32_t));
	sample.codes = graph->allocate(graph->arg, n * sizeof(uint32_t));
	memset(sample.groups, 0, (size_t) n * columns * sizeof(uint32_t));
	for (uint32_t i = 0; i < n; i++)
		sample.order[i] = i;
	for (uint32_t k = 0; k < graph->cliques; k++)
	{
		const Clique *clique = &graph->clique[k];

		for (uint32_t j = 0; j < columns; j++)
		{
			uint32_t	column = graph->order[j];

			if (!(clique->set & ~drawn & RACE_COLUMN(column)))
				continue;
			sample_column(graph, clique, clique->set & drawn, column, uniform(arg), &sample);
			drawn |= RACE_COLUMN(column);
		}
	}
	shuffle(rows, n, columns, uniform, arg);
}
