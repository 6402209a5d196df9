/*
 * classes.h
 *		Linear discriminant analysis from noisy sums of products, one for each class.
 *
 * Plain C99 without PostgreSQL headers.
 */
#ifndef RACE_CLASSES_H
#define RACE_CLASSES_H

#include "noisy.h"

/* Means and covariances in units of the columns without the constant, which are `dims` */
typedef struct RaceClasses
{
	uint32_t	n;				/* classes */
	uint32_t	dims;
	uint32_t	kept;			/* directions: at most n - 1 */
	double	   *mean;			/* of each class, [n][dims] */
	double	   *all;			/* of all classes, [dims] */
	double	   *direction;		/* [kept][dims]; the variance within classes is 1 in each */
	double	   *center;			/* the mean of each class in these directions, [n][kept] */
	double	   *precision;		/* inverse covariance of each class there, [n][kept][kept] */
	double	   *log_root;		/* half of the logarithm of its determinant, [n] */
	double	   *count;			/* records of each class, [n] */
} RaceClasses;

/* Numbers that the arrays of RaceClasses need together, and those of work space */
#define RACE_CLASSES_SPACE(n, dims) \
	((size_t) (n) * (2 * (size_t) (dims) + (size_t) (n) * (n) + (n) + 2) + (dims))
#define RACE_CLASSES_WORK(n, dims) \
	((size_t) (dims) * (dims) + (size_t) (n) * ((dims) + (size_t) (n) + 2))

/*
 * Fisher's discriminant of classes, whose likely sums are known.  In its directions each class
 * has a covariance of its own, moved towards that within all classes by as much as noise hides
 * it.  The arrays of the result lie in `space`.  False if the covariance within classes has no
 * inverse.
 */
extern bool race_classes_fit(const RaceNoisy *noisy, uint32_t n, double *space, double *work,
							 RaceClasses *classes);

/*
 * The logarithm of the density of each class at x[dims], but for what all classes have in common:
 * normal in the directions.  Where one of two classes is wider, it would win again far beyond
 * the other one: from there on the difference stays.  `z` is space for n numbers.
 */
extern void race_classes_densities(const RaceClasses *classes, const double *x, double *z,
								   double *log_density);

#endif							/* RACE_CLASSES_H */
