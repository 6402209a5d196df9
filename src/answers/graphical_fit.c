/*
 * graphical_fit.c
 *		Fitting a graphical model to noisy tables
 */
#include <math.h>
#include <string.h>

#include "privacy/interrupt.h"
#include "answers/graphical_state.h"

/*
 * The fit minimizes
 *
 *		log Z(theta) - sum of m theta + sum of r theta^2 / 2
 *
 * where m are measured frequencies, whose sum in each table is made 1.  This is the dual of maximum
 * entropy with quadratic penalties (m - mu)^2 / (2 r).
 */
/*
 * The prior standard deviation of a parameter: r is the square of the noise, over that of this and
 * the expected share of the cell.  So cells with fewer records than noise stay near what other
 * tables say of them.  Of .3, .5, 1, 2 and 5, 1 had the least error on Adult, pulsars and four made
 * tables at epsilon = .1 and 1.
 */
#define DEVIATION_OF_THETA 1.0

/* The fit ends when no table is farther from what it should be, in total variation. */
#define TOLERANCE 3e-4

typedef struct Fit
{
	RaceGraph *graph;
	size_t n;
	double *target; /* m */
	double *ridge;  /* r */
	double *scale;  /* scale of each parameter: 1 / root of the curvature */
	double *best;   /* theta with the least distance of a table */
	double least;   /* that distance */
} Fit;

/* Return the variance of the noise of a cell. */
static double
cell_variance(const RaceMarginal *marginal, size_t cell)
{
	return marginal->variance *
		(cell >= marginal->ordinary && marginal->single > 0 ? marginal->single : 1);
}

/* Sum a measured table over groups of one of its columns.  Set the variances of their noise. */
static void
table_margin(const RaceGraph *graph, const Table *table, const RaceMarginal *marginal,
			 const double *target, uint32_t place, double *margin, double *variance)
{
	memset(margin, 0, table->size[place] * sizeof(double));
	memset(variance, 0, table->size[place] * sizeof(double));
	for (size_t i = 0; i < table->cells; i++)
	{
		size_t group = race_graph_group_in(graph, table, place, i);

		margin[group] += target[i];
		variance[group] += cell_variance(marginal, i);
	}
}

/*
 * Make the tables of one column agree, as their mean in proportion to precision.  Else theta would
 * grow along directions in which the distribution stays as it is.
 */
static void
make_consistent(Fit *fit, uint32_t column)
{
	RaceGraph *graph = fit->graph;
	uint32_t groups = graph->columns->groups[column];
	double *mean;
	double *precision;
	double *margin;
	double *variance;

	graph->scratch_used = 0;
	mean = race_graph_scratch(graph, 4 * (size_t) groups);
	precision = mean + groups;
	margin = precision + groups;
	variance = margin + groups;
	memset(mean, 0, 2 * groups * sizeof(double));
	for (int adjust = 0; adjust < 2; adjust++)
	{
		double sum = 0;

		for (uint32_t t = 0; t < graph->tables; t++)
		{
			const Table *table = &graph->table[t];
			const RaceMarginal *marginal = &graph->marginals[t];
			double *target = fit->target + (table->theta - graph->theta);
			uint32_t place = race_graph_place(table, column);

			if (place == TABLE_COLUMNS)
				continue;
			table_margin(graph, table, marginal, target, place, margin, variance);
			for (uint32_t g = 0; g < groups; g++)
				if (adjust == 0)
				{
					mean[g] += margin[g] / variance[g];
					precision[g] += 1 / variance[g];
				}
				else
					margin[g] = (mean[g] - margin[g]) / variance[g];
			for (size_t i = 0; adjust != 0 && i < table->cells; i++)
				target[i] += margin[race_graph_group_in(graph, table, place, i)] *
					cell_variance(marginal, i);
		}
		for (uint32_t g = 0; adjust == 0 && g < groups; g++)
			sum += mean[g] /= precision[g];
		for (uint32_t g = 0; adjust == 0 && g < groups; g++)
			mean[g] += (1 - sum) / groups;
	}
}

/* Return the mean of targets within h cells of cell i of n, by the running sums of targets. */
static double
window_mean(const double *sums, uint32_t n, uint32_t i, uint32_t h, uint32_t *from, uint32_t *to)
{
	*from = i > h ? i - h : 0;
	*to = i + h < n ? i + h + 1 : n;
	return (sums[*to] - sums[*from]) / (*to - *from);
}

/*
 * Return an unbiased estimate of the squared error of means over windows, less that of the noise
 * (Stein 1981).  The noise of cells has this variance, and is the same for all cells of a block.
 */
static double
window_risk(const double *targets, const double *sums, uint32_t n, uint32_t h, uint32_t block,
			double variance)
{
	double risk = 0;
	uint32_t from;
	uint32_t to;

	for (uint32_t i = 0; i < n; i++)
	{
		double off = targets[i] - window_mean(sums, n, i, h, &from, &to);
		uint32_t begin = i - i % block;
		uint32_t end = begin + block;
		double same = (end < to ? end : to) - (begin > from ? begin : from);

		risk += off * off + 2 * variance * same / (to - from);
	}
	return risk;
}

/*
 * Smooth the table of a column of numbers by means over windows: those with the least risk, which
 * are single cells if noise is small.  Return the approximate number of cells that have the same
 * noise then.
 */
static uint32_t
smooth_targets(Fit *fit, const RaceMarginal *marginal, double *targets, double total)
{
	RaceGraph *graph = fit->graph;
	uint32_t n = graph->columns->ordered != NULL && marginal->first == marginal->second ?
		graph->columns->ordered[marginal->first] :
		0;
	uint32_t block = marginal->block > 1 ? marginal->block : 1;
	double variance = marginal->variance / block / (total * total);
	double least = INFINITY;
	double *sums;
	uint32_t best = 0;
	uint32_t from;
	uint32_t to;

	graph->scratch_used = 0;
	sums = race_graph_scratch(graph, (size_t) n + 1);
	sums[0] = 0;
	for (uint32_t i = 0; i < n; i++)
		sums[i + 1] = sums[i] + targets[i];
	for (uint32_t h = 0; h < n; h = h == 0 ? 1 : 2 * h)
	{
		double risk = window_risk(targets, sums, n, h, block, variance);

		race_look_for_interrupts();
		if (risk < least)
			best = h;
		least = fmin(risk, least);
	}
	for (uint32_t i = 0; best > 0 && i < n; i++)
		targets[i] = window_mean(sums, n, i, best, &from, &to);
	return 2 * best + 1 > block ? 2 * best + 1 : block;
}

static void
set_targets(Fit *fit, double total)
{
	RaceGraph *graph = fit->graph;
	uint32_t *together = graph->allocate(graph->arg, graph->tables * sizeof(uint32_t));
	size_t at = 0;

	for (uint32_t t = 0; t < graph->tables; t++)
	{
		const RaceMarginal *marginal = &graph->marginals[t];
		size_t cells = graph->table[t].cells;
		double all = 0;
		double shift;

		for (size_t i = 0; i < cells; i++)
			all += cell_variance(marginal, i);
		shift = (1 - race_graph_sum(marginal->counts, cells) / total) / all;
		for (size_t i = 0; i < cells; i++, at++)
			fit->target[at] = marginal->counts[i] / total + shift * cell_variance(marginal, i);
		together[t] = smooth_targets(fit, marginal, fit->target + at - cells, total);
	}
	for (uint32_t i = 0; i < graph->columns->columns; i++)
		make_consistent(fit, i);
	at = 0;
	for (uint32_t t = 0; t < graph->tables; t++)
	{
		const RaceMarginal *marginal = &graph->marginals[t];
		/* cells that are together have the same error */
		for (size_t i = 0; i < graph->table[t].cells; i++, at++)
		{
			double sigma = sqrt(cell_variance(marginal, i) / together[t]) / total;
			double share = fmax(fit->target[at], sigma);

			fit->ridge[at] = sigma * sigma / (DEVIATION_OF_THETA * DEVIATION_OF_THETA * share);
			fit->scale[at] = 1 / sqrt(share + fit->ridge[at]);
		}
	}
}

/* Return the objective, and set its gradient, at the graph's theta; it is calibrated there. */
static double
evaluate_objective(void *state, const double *theta, double *gradient)
{
	Fit *fit = state;
	RaceGraph *graph = fit->graph;
	double value;

	race_graph_calibrate(graph);
	value = graph->log_partition;
	race_graph_tables(graph, gradient);
	for (size_t i = 0; i < fit->n; i++)
	{
		value += theta[i] * (fit->ridge[i] * theta[i] / 2 - fit->target[i]);
		gradient[i] += fit->ridge[i] * theta[i] - fit->target[i];
	}
	return value;
}

/* Return the largest total variation distance between a table of the model and its target. */
static double
largest_distance(const Fit *fit, const double *all)
{
	const RaceGraph *graph = fit->graph;
	double most = 0;

	for (uint32_t t = 0; t < graph->tables; t++)
	{
		const double *gradient = all + (graph->table[t].theta - graph->theta);
		double distance = 0;

		for (size_t i = 0; i < graph->table[t].cells; i++)
			distance += fabs(gradient[i]) / 2;
		most = fmax(most, distance);
	}
	return most;
}

/* Keep theta if it is the nearest so far; go on until it is near enough. */
static bool
keep_best(void *state, const double *theta, const double *gradient)
{
	Fit *fit = state;
	double distance = largest_distance(fit, gradient);

	if (distance < fit->least)
		memcpy(fit->best, theta, fit->n * sizeof(double));
	fit->least = fmin(distance, fit->least);
	return distance >= TOLERANCE;
}

uint32_t
race_graph_fit(RaceGraph *graph, double total, uint32_t most_iterations)
{
	Fit fit = {.graph = graph, .n = graph->parameters, .least = INFINITY};
	double **arrays[] = {&fit.target, &fit.ridge, &fit.scale, &fit.best};
	RaceLbfgs search = {.n = fit.n,
						.most = most_iterations,
						.evaluate = evaluate_objective,
						.go_on = keep_best,
						.state = &fit};
	uint32_t iterations;

	for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
		*arrays[i] = graph->allocate(graph->arg, fit.n * sizeof(double));
	set_targets(&fit, total);
	search.scale = fit.scale;
	iterations = race_lbfgs(&search, graph->theta, graph->allocate, graph->arg);
	memcpy(graph->theta, fit.best, fit.n * sizeof(double));
	race_graph_calibrate(graph);
	return iterations;
}
