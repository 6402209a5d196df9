/*
 * kernel.h
 *		The table of kernels, and their exact values
 */
#ifndef RACE_KERNEL_H
#define RACE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The table of kernels: everything that tells one kernel from another.
 *
 * A kernel is a similarity of two records between 0 and 1.  Each comes with a family of hash
 * functions h for which P[h(x) = h(y)] is that similarity.  All other code asks the table, and
 * never whether a kernel is this or that one.  doc/extending.md says how to add one.
 */

struct RaceParams;
struct RaceColumn;

/* The numbers are stored in sketches: never reuse one.  6 and 9 were no kernels. */
typedef enum RaceKernel
{
	RACE_KERNEL_L2 = 1,            /* Datar et al. 2004, p-stable with p = 2 */
	RACE_KERNEL_L1 = 2,            /* p-stable with p = 1 */
	RACE_KERNEL_ANGULAR = 3,       /* signed random projections, Charikar 2002 */
	RACE_KERNEL_JACCARD = 4,       /* minimum of a set's hash values, Broder 1997 */
	RACE_KERNEL_MATCH = 5,         /* one of a row's categories */
	RACE_KERNEL_LEAST_SQUARES = 7, /* surrogate losses, loss_rows.h */
	RACE_KERNEL_MARGIN = 8
} RaceKernel;

/* What a record of the kernel is.  This decides how it is read and hashed. */
typedef enum RaceRecordKind
{
	RACE_RECORD_VECTOR, /* numbers; a function is a projection */
	RACE_RECORD_SET,    /* elements in any number; a function is an order */
	RACE_RECORD_ROW     /* categories; a function is a place in the row */
} RaceRecordKind;

/* Which parameters a kernel or a kind has, besides those that all have */
typedef enum RaceTakes
{
	RACE_TAKES_DIMS = 1,         /* all its records have the same length */
	RACE_TAKES_BANDWIDTH = 2,    /* it measures distances: bandwidth, bandwidths */
	RACE_TAKES_BOUNDS = 4,       /* lower and upper bounds of vectors */
	RACE_TAKES_TRANSFORM = 8,    /* matrix and offset */
	RACE_TAKES_NULLS = 32,       /* nulls: what a NULL among categories is */
	RACE_TAKES_FUNCTIONS = 64,   /* power, rows, range and rehash: all kernels */
	RACE_TAKES_COLUMNS = 128,    /* norm, features and targets: moments */
	RACE_TAKES_RADIUS = 256,     /* radius and query_radius: losses */
	RACE_TAKES_STRUCTURED = 512, /* projections by fast transforms (structured.h) */
	RACE_TAKES_CELLS = 1024      /* cells, groups and others: contingency tables */
} RaceTakes;

#define RACE_SQUARE_LAGS 4

typedef struct RaceKernelType
{
	const char *name;
	RaceRecordKind record;
	uint32_t takes; /* RaceTakes, added up */

	/* Whether the code of a projection is its sign.  Else it is a number, rounded down. */
	bool signs;

	/* Return a number of the distribution of a projection's coefficients, from one in (0, 1). */
	double (*quantile)(double p);

	/*
	 * Return whether the bucket may be the code modulo the range, for these parameters of one
	 * kernel.  NULL: never.
	 */
	bool (*can_fold)(uint32_t power, uint32_t range);

	/*
	 * Of a kernel that is a function of the distance in bandwidths: this function, with
	 * power 1, and whether the distance is Euclidean, or else the sum along axes.
	 */
	double (*of_distance)(double c);
	bool euclidean;

	/* Return the exact value of two records, with power 1, of other kernels. */
	double (*value)(const struct RaceParams *part, const struct RaceColumn *x,
					const struct RaceColumn *y);

	/*
	 * Of a kernel that folds numbers: its square, about, as a sum of the probabilities that
	 * two codes are i apart, i = 0 ... RACE_SQUARE_LAGS, times these; or NULL
	 */
	const double *square;

	/* Of a surrogate loss: how many queries it is the sum of; else 0 */
	uint32_t queries;
} RaceKernelType;

/*
 * Return the line of a kernel; NULL if this number has none.  That of 0 is of what has no kernel.
 */
extern const RaceKernelType *race_kernel_type(int kernel);

/* Return the name of a number; NULL if there is none. */
extern const char *race_kernel_name(int kernel);

/*
 * Write the names of all kernels that take one of these parameters into `list`, as in "l2, l1 and
 * angular".
 */
extern const char *race_kernel_list(uint32_t takes, char *list, size_t length);

/*
 * Return the kernels of p-stable hashing, P[h(x) = h(y)] for h(x) = floor(a.x / w + b), with normal
 * and with Cauchy a, at a distance of c >= 0 in bandwidths w (Datar, Immorlica, Indyk & Mirrokni
 * 2004, section 3.2; k(0) = 1):
 *
 *		l2(c) = 1 - 2 Phi(-1/c) - 2c / sqrt(2 pi) (1 - exp(-1 / 2c^2))
 *		l1(c) = 2/pi atan(1/c) - c/pi ln(1 + 1/c^2)
 */
extern double race_l2_kernel(double c);
extern double race_l1_kernel(double c);

/* Return coordinate i of M (x - o), which is x - o, or x, where there is no transform. */
extern double race_transformed(const struct RaceParams *part, const double *x, uint32_t i);

/* Return a kernel that is a function of the distance in bandwidths, taken to its power, there. */
extern double race_kernel_at(const struct RaceParams *part, double distance);

/*
 * Return the exact kernel of two records, which have a column for each part: the product of all
 * parts, each taken to its power.  Estimates are compared with it.  It uses libm, and can be
 * interrupted.  Elements of sets must be sorted and distinct.  Parts of y may be left out
 * (race_column_is_any).
 */
extern double race_kernel_value(const struct RaceParams *params, const struct RaceColumn *x,
								const struct RaceColumn *y);

#define RACE_PI 3.14159265358979323846

#endif
