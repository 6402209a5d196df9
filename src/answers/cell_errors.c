/*
 * cell_errors.c
 *		What the cells of a grid change of a kernel sum
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "hash/quantiles.h"
#include "hash/table.h"
#include "answers/cell_errors.h"
#include "answers/grid_kernels.h"
#include "answers/radial.h"

#define REACH 6     /* cells beyond which an error is small */
#define BINS 4      /* bins of distances, for each cell */
#define QUESTIONS 8 /* places of a question in its cell */
#define RECORDS 64  /* records around a node at each distance and place of a question */
#define SIDE (2 * (REACH + 4) + 1) /* nodes along a side of the box that is projected */

/* Cells within which planes are seen, by dims */
static const int plane_reach[RACE_GRID_DIMS + 1] = {0, 40, 16, 8};

#define MOST_REACH 40

/* All distances are in cells, by the mean step. */
struct RaceCellErrors
{
	double squares[REACH * BINS + 1]; /* mean squared errors of a record */
	/* first and second differences of the kernel, in the direction of the distance, and across it */
	double slope[MOST_REACH * BINS + 2];
	double along[MOST_REACH * BINS + 2];
	double across[MOST_REACH * BINS + 2];
};

/* ------------------------------------------------------- errors by distance */

/* Set the place of record i in a box of cells around a question, spread as its node's spline is. */
static void
place_in_box(int dims, const double *question, double cells, uint32 i, double *place)
{
	double length = 0;
	double direction[RACE_GRID_DIMS];

	for (int axis = 0; axis < dims; axis++)
	{
		double u = (i + 0.5) * race_irrational[axis];

		direction[axis] = race_inverse_normal(Max(u - floor(u), 1e-9));
		length += direction[axis] * direction[axis];
	}
	for (int axis = 0; axis < dims; axis++)
	{
		double u = (i + 0.5) * race_irrational[axis] * sqrt(2);

		u -= floor(u);
		u = u < 0.5 ? sqrt(2 * u) - 1 : 1 - sqrt(2 * (1 - u));
		place[axis] = question[axis] + cells * direction[axis] / sqrt(length) + u;
	}
}

/* Return the kernel at a distance in cells along each axis. */
static double
kernel_at(const RaceGrid *grid, const RaceRadial *kernel, const double *cells)
{
	double distance = 0;

	for (uint32 axis = 0; axis < grid->dims; axis++)
		distance += kernel->euclidean ? pow(cells[axis] * grid->step[axis], 2) :
										fabs(cells[axis] * grid->step[axis]);
	return race_radial_value(kernel, kernel->euclidean ? sqrt(distance) : distance);
}

static Size
nodes_of_box(int dims)
{
	Size n = 1;

	for (int axis = 0; axis < dims; axis++)
		n *= SIDE;
	return n;
}

/* Set the coefficients of the projection of a convolved kernel around a question in a box. */
static void
project_kernel(const RaceGridKernel *level, const double *question, double *coefficients)
{
	int dims = (int) level->grid.dims;
	Size n = nodes_of_box(dims);
	Size stride = n;

	for (Size k = 0; k < n; k++)
	{
		double away[RACE_GRID_DIMS];
		Size rest = k;

		for (int axis = dims; axis-- > 0; rest /= SIDE)
			away[axis] = (double) (rest % SIDE) - question[axis];
		coefficients[k] = kernel_at(&level->grid, level->kernel, away);
	}
	for (int axis = 0; axis < dims; axis++)
	{
		Size block = stride;

		stride /= SIDE;
		for (Size from = 0; from < n; from += block)
			for (Size i = 0; i < stride; i++)
				race_project_line(coefficients + from + i, stride, SIDE);
	}
}

/* Return a function that is linear between the nodes of a box. */
static double
between_nodes(int dims, const double *coefficients, const double *place)
{
	double sum = 0;

	for (int corner = 0; corner < 1 << dims; corner++)
	{
		double weight = 1;
		Size node = 0;

		for (int axis = 0; axis < dims; axis++)
		{
			double right = place[axis] - floor(place[axis]);
			bool up = (corner >> axis & 1) != 0;

			weight *= up ? right : 1 - right;
			node = node * SIDE + (Size) floor(place[axis]) + up;
		}
		sum += weight * coefficients[node];
	}
	return sum;
}

/* Find mean squared errors, over places of questions and records, by distance. */
static void
find_squares(const RaceGridKernel *level, const RaceRadial *kernel, RaceCellErrors *errors)
{
	int dims = (int) level->grid.dims;
	double *coefficients = palloc(nodes_of_box(dims) * sizeof(double));

	for (int i = 0; i < QUESTIONS; i++)
	{
		double question[RACE_GRID_DIMS];

		CHECK_FOR_INTERRUPTS();
		for (int axis = 0; axis < dims; axis++)
		{
			double u = (i + 0.5) * race_irrational[axis];

			question[axis] = SIDE / 2 + u - floor(u);
		}
		project_kernel(level, question, coefficients);
		for (int k = 0; k < (REACH * BINS + 1) * RECORDS; k++)
		{
			double place[RACE_GRID_DIMS];
			double away[RACE_GRID_DIMS];
			double error;

			place_in_box(dims, question, (double) (k / RECORDS) / BINS, k + i * 7919, place);
			for (int axis = 0; axis < dims; axis++)
				away[axis] = place[axis] - question[axis];
			error =
				kernel_at(&level->grid, kernel, away) - between_nodes(dims, coefficients, place);
			errors->squares[k / RECORDS] += error * error / (QUESTIONS * RECORDS);
		}
	}
	pfree(coefficients);
}

RaceCellErrors *
race_cell_errors_make(const RaceGridKernel *level, const RaceRadial *kernel)
{
	RaceCellErrors *errors = palloc0(sizeof(RaceCellErrors));
	const RaceRadial *convolved = level->kernel;
	double step = level->grid.mean_step;

	find_squares(level, kernel, errors);
	for (int i = 0; i < MOST_REACH * BINS + 2; i++)
	{
		double distance = (double) i / BINS;
		double here = race_radial_value(convolved, distance * step);
		double beside = convolved->euclidean ? sqrt(distance * distance + 1) : distance + 1;

		errors->slope[i] = race_radial_value(convolved, (distance + 0.5) * step) -
			race_radial_value(convolved, fabs(distance - 0.5) * step);
		errors->along[i] = race_radial_value(convolved, (distance + 1) * step) +
			race_radial_value(convolved, fabs(distance - 1) * step) - 2 * here;
		errors->across[i] = 2 * (race_radial_value(convolved, beside * step) - here);
	}
	return errors;
}

/* ------------------------------------------------------ changes at a question */

/*
 * The root mean square of t^2 - t + 1/6 is 1 / sqrt(180); at a node it is sqrt(5) times that, along
 * each axis, which 1.96 standard errors hold.
 */
#define OF_DIFFERENCE (0.5 / 13.416) /* of a second difference */
#define WORST (5 / (1.96 * 1.96))    /* of a mean square */

/* A sum over nodes, weighted by second differences of the kernel */
typedef struct Differences
{
	double next;    /* differences of nodes from the mean of their neighbors, a cell away */
	double second;  /* and of those two cells away */
	double all;     /* nodes themselves */
	double squares; /* of weights */
} Differences;

#define DIFFERENCE_NOISE 1.5 /* variance of a difference, over that of a node */

/* Return the larger of both differences, squared, beyond noise. */
static double
square_of_differences(const Differences *sum, double noise)
{
	return Max(sum->next * sum->next, sum->second * sum->second) -
		DIFFERENCE_NOISE * noise * sum->squares;
}

/* Return the square of the sum of nodes, beyond noise. */
static double
square_of_all(const Differences *sum, double noise)
{
	return sum->all * sum->all - noise * sum->squares;
}

static void
add_differences(Differences *sum, const Differences *differences, double weight)
{
	sum->next += weight * differences->next;
	sum->second += weight * differences->second;
	sum->all += weight * differences->all;
	sum->squares += weight * weight;
}

/* Return a node at an offset along an axis, or 0 beyond the bounds. */
static double
neighbor(const RaceGrid *grid, const double *node, uint32 axis, int at, int offset, Size stride)
{
	if (at + offset < 0 || at + offset > (int) grid->cells[axis])
		return 0;
	return node[offset * (ssize_t) stride];
}

/* A node near a question */
typedef struct NearNode
{
	int at[RACE_GRID_DIMS];
	double away[RACE_GRID_DIMS]; /* cells from the question */
	double distance;             /* in cells of the mean step */
	Size number;
} NearNode;

/* Set node k of the box around a place; return false if it is out of bounds or of reach. */
static bool
find_node(const RaceGridKernel *level, const double *at, int reach, int k, NearNode *node)
{
	const RaceGrid *grid = &level->grid;
	bool euclidean = level->kernel->euclidean;

	node->distance = 0;
	node->number = 0;
	for (uint32 axis = grid->dims; axis-- > 0; k /= 2 * reach)
		node->at[axis] = (int) floor(at[axis]) - reach + 1 + k % (2 * reach);
	for (uint32 axis = 0; axis < grid->dims; axis++)
	{
		double step = grid->step[axis] / grid->mean_step;

		if (node->at[axis] < 0 || node->at[axis] > (int) grid->cells[axis])
			return false;
		node->away[axis] = node->at[axis] - at[axis];
		node->distance +=
			euclidean ? pow(node->away[axis] * step, 2) : fabs(node->away[axis] * step);
		node->number = node->number * (grid->cells[axis] + 1) + node->at[axis];
	}
	if (euclidean)
		node->distance = sqrt(node->distance);
	return node->distance < reach;
}

/* Return what a table by distance has at a node. */
static double
at_distance(const double *table, const NearNode *node)
{
	double place = node->distance * BINS;
	int bin = (int) place;

	return table[bin] + (place - bin) * (table[bin + 1] - table[bin]);
}

/* Return the first difference of the kernel along an axis at a node, over a cell. */
static double
first_difference(const RaceGridKernel *level, const NearNode *node, uint32 axis)
{
	double step = level->grid.step[axis] / level->grid.mean_step;
	double part = level->kernel->euclidean ? node->away[axis] * step / Max(node->distance, 1e-9) :
											 Min(Max(node->away[axis], -1), 1);

	return step * part * at_distance(level->errors->slope, node);
}

/* Return the second difference of the kernel along an axis at a node. */
static double
second_difference(const RaceGridKernel *level, const NearNode *node, uint32 axis)
{
	double step = level->grid.step[axis] / level->grid.mean_step;
	double along = at_distance(level->errors->along, node);
	double across = at_distance(level->errors->across, node);
	double part = level->kernel->euclidean ?
		pow(node->away[axis] * step / Max(node->distance, 1e-9), 2) :
		Min(fabs(node->away[axis]), 1);

	return step * step * (across + part * (along - across));
}

/* What is summed over the nodes near a question */
typedef struct NearSums
{
	Differences planes[RACE_GRID_DIMS][2 * MOST_REACH]; /* by second differences of the kernel */
	Differences counts[RACE_GRID_DIMS][2 * MOST_REACH]; /* the same planes, not weighted */
	Differences moves[RACE_GRID_DIMS][2 * MOST_REACH];  /* by first differences */
	Differences whole[RACE_GRID_DIMS]; /* by second differences along each axis, over all planes */
	Differences all_moves[RACE_GRID_DIMS]; /* by first differences, over all planes */
	double cells;                          /* squares of errors of differences of nodes */
	double heaps;                          /* and of all records of nodes around the question */
	Differences peak;                      /* nodes around the question, by their errors */
	double records;                        /* sum of nodes */
} NearSums;

/* Return the differences of node i along an axis. */
static Differences
find_differences(const RaceGrid *grid, const double *node, uint32 axis, int i, Size stride)
{
	return (Differences){
		.all = *node,
		.next = *node -
			(neighbor(grid, node, axis, i, -1, stride) + neighbor(grid, node, axis, i, 1, stride)) /
				2,
		.second = *node -
			(neighbor(grid, node, axis, i, -2, stride) + neighbor(grid, node, axis, i, 2, stride)) /
				2};
}

/* Add a node: its differences along each axis, and on average. */
static void
add_node(NearSums *sums, const RaceGridKernel *level, const double *nodes, double noise,
		 const NearNode *near, const int *first)
{
	const RaceGrid *grid = &level->grid;
	int dims = (int) grid->dims;
	const double *node = nodes + near->number;
	Differences mean = {0};
	Size stride = 1;
	bool beside = true;

	for (int axis = dims; axis-- > 0; stride *= grid->cells[axis] + 1)
	{
		int i = near->at[axis];
		Differences differs = find_differences(grid, node, axis, i, stride);
		double weight = OF_DIFFERENCE * second_difference(level, near, axis);
		double slope = first_difference(level, near, axis);

		add_differences(&sums->moves[axis][i - first[axis]], &differs, slope);
		add_differences(&sums->all_moves[axis], &differs, slope);
		add_differences(&sums->planes[axis][i - first[axis]], &differs, weight);
		add_differences(&sums->whole[axis], &differs, weight);
		if (i > 1 && i < (int) grid->cells[axis] - 1)
			add_differences(&sums->counts[axis][i - first[axis]], &differs, 1);
		add_differences(&mean, &differs, 1.0 / dims);
		beside &= fabs(near->away[axis]) < 1;
	}
	sums->records += *node;
	if (near->distance < REACH)
	{
		double square = level->errors->squares[(int) (near->distance * BINS + 0.5)];

		sums->cells += square *
			(Max(mean.next * mean.next, mean.second * mean.second) -
			 noise * (1 + 1.0 / (2 * dims)));
		if (beside)
		{
			sums->heaps += square * (*node * *node - noise);
			add_differences(&sums->peak, &mean, sqrt(square));
		}
	}
}

/* Set the sums of squares of differences, and of nodes, over planes. */
static void
add_planes(const Differences planes[RACE_GRID_DIMS][2 * MOST_REACH], double noise,
		   double *of_differences, double *of_all)
{
	*of_differences = *of_all = 0;
	for (int axis = 0; axis < RACE_GRID_DIMS; axis++)
		for (int i = 0; i < 2 * MOST_REACH; i++)
		{
			*of_differences += square_of_differences(&planes[axis][i], noise);
			*of_all += square_of_all(&planes[axis][i], noise);
		}
}

/* Add records beyond reach, of whose places nothing is known: as if they were one heap at its end. */
static void
add_far_records(RaceCellChange *change, const RaceGridKernel *level, double records)
{
	const RaceCellErrors *errors = level->errors;
	int end = plane_reach[level->grid.dims] * BINS;
	double bend = OF_DIFFERENCE * Max(fabs(errors->along[end]), fabs(errors->across[end]));

	if (records <= 0)
		return;
	change->planes += WORST * level->grid.dims * pow(records * bend, 2);
	change->moves += pow(records * errors->slope[end], 2);
}

RaceCellChange
race_cell_change(const RaceGridKernel *level, const double *nodes, double records, double noise,
				 const double *at, double *uneven)
{
	int dims = (int) level->grid.dims;
	int reach = plane_reach[dims];
	int all = 1;
	int first[RACE_GRID_DIMS];
	RaceCellChange change;
	NearSums sums = {0};
	double of_differences;
	double of_all;

	for (int axis = 0; axis < dims; axis++)
	{
		first[axis] = (int) floor(at[axis]) - reach + 1;
		all *= 2 * reach;
	}
	for (int k = 0; k < all; k++)
	{
		NearNode near;

		if (find_node(level, at, reach, k, &near))
			add_node(&sums, level, nodes, noise, &near, first);
	}
	add_planes(sums.counts, noise, &of_differences, &of_all);
	if (of_differences > 0 && of_all > 0)
		*uneven = Max(*uneven, Min(of_differences / of_all, 1));
	add_planes(sums.moves, noise, &of_differences, &of_all);
	change.moves = Max(of_all, 0);
	for (int axis = 0; axis < RACE_GRID_DIMS; axis++)
		change.whole_move[axis] = sums.all_moves[axis].all;
	add_planes(sums.planes, noise, &of_differences, &of_all);
	change.planes = WORST * Max(Max(of_differences, *uneven * of_all), 0);
	change.whole = 0;
	for (int axis = 0; axis < dims; axis++)
		change.whole += Max(Max(square_of_differences(&sums.whole[axis], noise),
								*uneven * square_of_all(&sums.whole[axis], noise)),
							0);
	change.whole = sqrt(WORST * change.whole);
	add_far_records(&change, level, records - sums.records);
	/* the worst place along three axes; in fewer dimensions neighbors often have alike ones */
	change.cells = WORST * RACE_GRID_DIMS * Max(sums.cells, 0);
	/* all nodes around a question may have one heap; on an axis alone it is a point mass */
	change.cells += Max(dims == 1 ? sums.heaps : square_of_all(&sums.peak, noise), 0);
	return change;
}
