/*
 * kernels.h
 *		The table of kernels: everything that tells one kernel from another.
 *
 * A kernel is a similarity of two records between 0 and 1.  Each comes with a family
 * of hash functions h for which P[h(x) = h(y)] is that similarity.  All other code
 * asks the table, and never whether a kernel is this or that one.
 *
 * To add a kernel: give it a number here and a line in the table in kernels.c.  Its
 * exact value and the distribution of its coefficients are functions: small ones stand in
 * kernels.c, others in a file of their own, like l1.c.
 */
#ifndef RACE_KERNELS_H
#define RACE_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct RaceParams;
struct RaceColumn;

/* The numbers below are stored in sketches: never reuse one. */

typedef enum RaceKernel
{
	RACE_KERNEL_L2 = 1,			/* Datar et al. 2004, p-stable with p = 2 */
	RACE_KERNEL_L1 = 2,			/* the same with p = 1 */
	RACE_KERNEL_ANGULAR = 3,	/* signed random projections, Charikar 2002 */
	RACE_KERNEL_JACCARD = 4,	/* minimum of a set's hash values, Broder 1997 */
	RACE_KERNEL_MATCH = 5,		/* one of a row's categories */
	RACE_KERNEL_MOMENTS = 6,		/* no kernel: sums and products of columns, moments.h */
	RACE_KERNEL_LEAST_SQUARES = 7,	/* surrogate losses, surrogate.h */
	RACE_KERNEL_MARGIN = 8
} RaceKernel;

/* What a record of the kernel is.  This decides how it is read and hashed. */
typedef enum RaceRecordKind
{
	RACE_RECORD_VECTOR,			/* numbers; a function is a projection */
	RACE_RECORD_SET,			/* elements in any number; a function is an order */
	RACE_RECORD_ROW				/* categories; a function is a place in the row */
} RaceRecordKind;

/* Which parameters a kernel has, besides those that all kernels have */
typedef enum RaceTakes
{
	RACE_TAKES_DIMS = 1,		/* all its records have the same length */
	RACE_TAKES_BANDWIDTH = 2,	/* it measures distances: bandwidth, bandwidths */
	RACE_TAKES_BOUNDS = 4,		/* lower and upper bounds of vectors */
	RACE_TAKES_TRANSFORM = 8,	/* matrix and offset */
	RACE_TAKES_NULLS = 32,		/* nulls: what a NULL among categories is */
	RACE_TAKES_FUNCTIONS = 64,	/* power, rows, range and rehash: all but moments */
	RACE_TAKES_COLUMNS = 128,	/* norm, features and targets: moments */
	RACE_TAKES_RADIUS = 256,	/* radius and query_radius: losses */
	RACE_TAKES_STRUCTURED = 512 /* projections by fast transforms (structured.h) */
} RaceTakes;

#define RACE_SQUARE_LAGS	4

typedef struct RaceKernelType
{
	const char *name;
	RaceRecordKind record;
	uint32_t	takes;			/* RaceTakes, added up */

	/* Is the code of a projection its sign?  Else it is a number, rounded down. */
	bool		signs;

	/* The distribution of a projection's coefficients: from (0, 1) to a number */
	double		(*quantile) (double p);

	/*
	 * May the bucket be the code modulo the range, for these parameters of one kernel?
	 * NULL: never.
	 */
	bool		(*can_fold) (uint32_t power, uint32_t range);

	/*
	 * Of a kernel that is a function of the distance in bandwidths: this function, with
	 * power 1, and whether the distance is Euclidean, or else the sum along axes.
	 */
	double		(*of_distance) (double c);
	bool		euclidean;

	/* Of other kernels: the exact value of two records, with power 1 */
	double		(*value) (const struct RaceParams *part,
						  const struct RaceColumn *x, const struct RaceColumn *y);

	/*
	 * Of a kernel that folds numbers: its square, about, as a sum of the probabilities that
	 * two codes are i apart, i = 0 ... RACE_SQUARE_LAGS, times these; or NULL
	 */
	const double *square;

	/* Of a surrogate loss: how many queries it is the sum of; else 0 */
	uint32_t	queries;
} RaceKernelType;

/* The line of a kernel; NULL if there is none with this number */
extern const RaceKernelType *race_kernel_type(int kernel);

/* The number of a name, and the name of a number; 0 or NULL if there is none */
extern int	race_kernel_by_name(const char *name);
extern const char *race_kernel_name(int kernel);

/*
 * Write the names of all kernels for which `is` returns true (NULL: all) into
 * `list`, as in "l2, l1 and angular", with `word` before the last one.
 */
extern const char *race_kernel_list(bool (*is) (const RaceKernelType *type),
									const char *word, char *list, size_t length);

/* A kernel that is a function of the distance in bandwidths, taken to its power, there */
extern double race_kernel_at(const struct RaceParams *part, double distance);

/*
 * The exact kernel of two records, which have a column for each part: the product
 * of all parts, each taken to its power. Estimates are compared with it. It uses
 * libm, and can be interrupted. Elements of sets must be sorted and distinct.  Parts of y
 * may be left out (race_column_is_any).
 */
extern double race_kernel_value(const struct RaceParams *params,
								const struct RaceColumn *x,
								const struct RaceColumn *y);

#endif							/* RACE_KERNELS_H */
