/*
 * maps.h
 *		Maps of records that public rows suggest
 */
#ifndef RACE_MAPS_H
#define RACE_MAPS_H

#include "postgres.h"

#include "fmgr.h"
#include "utils/array.h"

#include "../core/core.h"

/*
 * What transforms are learned from: counts and means of classes, and the scatter of
 * vectors around the means of their classes.
 *
 * It is the state of aggregates.  Their transition and final functions are in the files of
 * the transforms.  Public rows are few, so no aggregate is computed in parts.  Without labels all
 * vectors are of one class.
 */

/* Matrix and offset must fit into race_params. */
#define RACE_SCATTER_DIMS		361
#define RACE_SCATTER_CLASSES	1000

StaticAssertDecl((RACE_SCATTER_DIMS + 1) * RACE_SCATTER_DIMS * sizeof(double) <= RACE_MAX_MORE,
				 "a transform of so many dimensions fits into race_params");

typedef struct RaceScatterClass
{
	uint64		key;			/* of its label */
	double		n;				/* vectors */
} RaceScatterClass;

typedef struct RaceScatter
{
	uint32		dims;
	uint32		n_classes;
	uint32		capacity;		/* classes that there is space for */
	RaceScatterClass *classes;
	double	   *means;			/* [n_classes][dims] */
	double	   *products;		/* of deviations, row by row up to the diagonal */
	struct RaceClassMoments *moments;	/* in place of all this, if classes have moments; else NULL */
} RaceScatter;

#define RaceScatterProducts(dims)	((Size) (dims) * ((dims) + 1) / 2)

/* A state without vectors yet */
extern RaceScatter *race_scatter_create(uint32 dims, MemoryContext context);

/*
 * Add n vectors with this mean to a class.  Their scatter around it is another's to add.
 * One vector has none.
 */
extern void race_scatter_add(RaceScatter *scatter, uint64 key, double n, const double *mean);

/*
 * Read the arguments of a transition: the vector, which must have `dims` numbers unless that is
 * 0, and 64 bits of its label.  NULL if one of them is NULL.
 */
extern const double *race_scatter_read(FunctionCallInfo fcinfo, int x, int label, uint32 dims,
									   uint32 *found, uint64 *key);

/* The argument that is the label, if one follows the vector in argument x, else 0 */
extern int	race_scatter_label(FunctionCallInfo fcinfo, int x);

/* Degrees of freedom of the scatter; the standard deviation of a column */
extern double race_scatter_freedom(const RaceScatter *scatter);
extern double race_scatter_deviation(const RaceScatter *scatter, uint32 i);

/*
 * The map after which the columns of vectors are alike.
 */

/* M, whose rows are as many as columns that were not left out */
typedef struct RaceWhitening
{
	uint32		dims;
	uint32		outputs;
	double	   *matrix;			/* [outputs][dims] */
} RaceWhitening;

/* What is known of the columns of vectors */
typedef struct RaceColumns
{
	double		deviation[RACE_SCATTER_DIMS];	/* 0 = constant */
	bool		keep[RACE_SCATTER_DIMS];
	uint32		kept[RACE_SCATTER_DIMS];	/* numbers of those kept, */
	uint32		n;				/* and how many they are */
} RaceColumns;

/*
 * Whitening of the columns kept, none of them constant.  `ridge` is added to the diagonal of
 * their correlations; it must not be 0 if there are linear combinations.  False if there is no
 * such transform.
 */
extern bool race_whiten_columns(const RaceScatter *scatter, const RaceColumns *columns,
								double ridge, RaceWhitening *whitening);

/*
 * Whitening by the scatter within classes.  Raises 22023 if there is none.  A NOTICE names
 * columns that are left out; `aggregate` is the name of the function.
 */
extern void race_whitening_of(const RaceScatter *scatter, const char *aggregate, RaceWhitening *whitening);

/* z = M x */
extern void race_whitening_apply(const RaceWhitening *whitening, const double *x, double *z);

/* A race_transform, which the function is declared to return, of a whitening with an offset */
extern Datum race_transform_of(FunctionCallInfo fcinfo, const RaceWhitening *whitening,
							   const double *offset);

/*
 * Replace a whitening by the map to the directions in which the means of classes lie apart, those that tell most
 * first.  Returns how many there are, 0 if all means are the same.
 */
extern uint32 race_discriminant_map(const RaceScatter *scatter, RaceWhitening *map);

#endif
