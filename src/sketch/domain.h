/*
 * domain.h
 *		Public domains of columns, and the cells of their values
 *
 * A domain says which values a column is counted by: equal cells between two bounds, or
 * categories.  The ordinary cells come first, then those of what is missing and of all other
 * values, where there are such.  What is missing is NULL, and of numbers NaN.  As jsonb, domains
 * are stored with a release, and are an argument of _race_cells().
 */
#ifndef RACE_DOMAIN_H
#define RACE_DOMAIN_H

#include "postgres.h"

#include "lib/stringinfo.h"
#include "utils/jsonb.h"

#include "hash/contingency.h"
#include "hash/round_steps.h"

typedef struct RaceDomain
{
	char *name;     /* name of the column */
	char *type;     /* name of its type, without SQL domains */
	bool category;  /* has it categories, or else numbers? */
	bool whole;     /* have its numbers no fractions? */
	bool has_null;  /* has what is missing a cell: NULL, and of numbers NaN? */
	bool has_other; /* have values that are no category a cell? */
	/* are its categories chosen by the release?  Then those it may have are not listed. */
	bool chosen;
	double lower; /* lower bound of a number */
	double upper;
	double
		finest; /* step of its values: 1 of whole numbers, .01 of numeric(p, 2); 0: none is known */
	double start;  /* start of the first cell */
	RaceStep step; /* from each cell to the next one */
	/*
	 * are the bounds those of constraints that no server enforces?  Then what is beyond them is
	 * missing.
	 */
	bool unenforced;
	/*
	 * is it a part of a vector: a number, or 0 or 1 for each category; and 0 or 1 for what is
	 * missing?
	 */
	bool vector;
	bool measure;      /* is it a measure, whose "cells" are the parts of others (contingency.h)? */
	uint32 n;          /* number of ordinary cells; 2 of a measure */
	char **categories; /* [n]; NULL while they are to be chosen */
	uint32 group;      /* number of ordinary cells of a group */
	double persons_least;  /* noisy number of persons that a chosen category has at least */
	double persons_error;  /* standard deviation of the noise in numbers of persons */
	double persons_summed; /* how many numbers of persons add up to one of records */
	double *persons;       /* [n]: noisy numbers of persons of chosen categories; else NULL */
} RaceDomain;

/* Cells of a column, and those at the end that are groups of their own */
#define RaceDomainSingle(domain) ((uint32) (domain)->has_null + (uint32) (domain)->has_other)
#define RaceDomainCells(domain) ((domain)->n + RaceDomainSingle(domain))

/* Groups of a column */
#define RaceDomainGroups(domain) \
	(((domain)->n + (domain)->group - 1) / (domain)->group + RaceDomainSingle(domain))

/*
 * Numbers of a column in a record: one, or those of a vector, where values that are no category are
 * zeros
 */
#define RaceDomainNumbers(domain) \
	(!(domain)->vector ? 1 : ((domain)->category ? (domain)->n : 1) + (uint32) (domain)->has_null)

/* Return what the numbers of a base type count; and those of a domain. */
extern RaceUnit race_type_unit(Oid type);
extern RaceUnit race_domain_unit(const RaceDomain *domain);

/* Return a step of calendar months, of dates or times. */
extern RaceStep race_months_step(RaceUnit unit, uint32 months);

/* Return the end of the last cell: the upper bound, or the next value after it. */
extern double race_domain_end(const RaceDomain *domain);

/* Set the cells of a domain of numbers. */
extern void race_domain_cells(const RaceDomain *domain, RaceNumberCells *cells);

/* Return whether a column has numbers that add up: dates begin where they do by convention. */
extern bool race_domain_has_sum(const RaceDomain *domain);

/* Most columns of a release: arguments of a function, but for one */
#define RACE_DOMAINS (FUNC_MAX_ARGS - 1)

/* Return whether values of a base type have numbers, or names as categories. */
extern bool race_type_is_number(Oid type);
extern bool race_type_is_category(Oid type);

/* Return whether its numbers are whole; and whether NaN is among them. */
extern bool race_type_is_whole(Oid type);
extern bool race_type_has_nan(Oid type);

/*
 * Return the number of a value: dates are days and timestamps seconds since 2000-01-01, in UTC;
 * intervals seconds, with months of 30 days.  No value raises an error; what is too large is
 * infinite.
 */
extern double race_number_of(Oid type, Datum value);

/*
 * Return a number as a text of its type, whatever the session's settings are.  What is beyond the
 * dates and times that there are is written as infinite.
 */
extern char *race_typed_text(Oid type, double number);

/* Return the same for a domain that was read, whose type goes by its name. */
extern char *race_domain_number_text(const RaceDomain *domain, double number);

/* Read such a text; raise what the input function of the type raises.  Return false for a NaN. */
extern bool race_domain_number_read(const RaceDomain *domain, char *text, double *number);

/*
 * Most categories that a release chooses for a column: as many cells go into tables of other
 * columns
 */
#define RACE_MOST_CHOSEN 1024

/* Return a record of columns with these domains, of zeros; *numbers becomes where they are. */
extern Datum race_domains_record(int n, const RaceDomain *domains, float8 **numbers);

/*
 * Set the numbers of a column in a vector, which are zeros: of the cell of a category, or of a
 * number or what is missing.
 */
extern void race_domain_set_cell(const RaceDomain *domain, uint32 cell, float8 *numbers);
extern void race_domain_set_number(const RaceDomain *domain, double x, bool missing,
								   float8 *numbers);

/* Set the categories of a column, n of them, and how they are grouped. */
extern void race_domain_set_categories(RaceDomain *domain, char **categories, uint32 n);

/* Append a domain as JSON; or several as an array. */
extern void race_domain_write(StringInfo text, const RaceDomain *domain);
extern void race_domains_write(StringInfo text, const RaceDomain *domains, int n);

/*
 * Return the domains in a jsonb array, *n of them; raise 22023 if it is none.  Only a release knows
 * what to do with categories that are still to be chosen.
 */
extern RaceDomain *race_domains_read(Jsonb *domains, int *n, bool to_choose);

#endif
