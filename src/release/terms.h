/*
 * terms.h
 *		The terms of a release: its request, with all that was left open decided from public facts
 */
#ifndef RACE_TERMS_H
#define RACE_TERMS_H

#include "postgres.h"

#include "sketch/domain.h"
#include "release/dataset.h"
#include "release/request.h"
#include "release/series.h"

/* The label of all rows whose label was not chosen */
#define RACE_OTHER "other"

/* The parameter that the expression of a release by columns has in place of its domains */
#define RACE_GIVE_DOMAINS 1

typedef struct RaceReleaseTerms
{
	RaceReleaseRequest kept;  /* request as the ledger keeps it */
	Datum params_datum;       /* race_params of the sketches, with chosen categories */
	const RaceParams *params; /* race_params of the sketches, opened */
	Datum
		/* text[] in the order of the parts; 0 without labels, and while they are to be chosen */
		labels;
	Datum domains;      /* jsonb: domains of a release by columns, with chosen categories; or 0 */
	List *choices;      /* expressions whose values the release chooses: its label, or columns */
	int max_categories; /* most values of each choice */
	char *spread; /* column of which a unit with more rows keeps different values first, or NULL */
	char *bounds_column; /* column whose bounds are wanted, in place of a release; or NULL */
	bool bounds_nan;     /* can the column whose bounds are wanted be NaN? */
	RaceSeriesInterval interval; /* interval of a value of a series */
	Datum sources;     /* jsonb: where domains of columns come from; 0 if none has a source */
	char *size_notice; /* notice of how large a release by columns is, or NULL */
	bool taken_over;   /* did another role write the expressions than that whose release it is? */
	char *path;        /* search_path that the expressions are written for */
	char *run_path;    /* search_path that the functions they call run under */
} RaceReleaseTerms;

/* Does a noisy count choose how many rows are kept? */
#define RaceRowsAreChosen(terms) (!race_is_given(&(terms)->kept, RACE_ARG_ROWS))

/* Does the first version choose its labels, and count the rest as RACE_OTHER? */
#define RaceLabelsArePrivate(terms) \
	(race_is_given(&(terms)->kept, RACE_ARG_LABEL) && \
	 !race_is_given(&(terms)->kept, RACE_ARG_LABELS))

/* How many sketches each label has: one, or one for each bound of the value */
#define RaceHalvesOf(terms) ((terms)->kept.value == NULL ? 1 : (int) RACE_HALVES)

/*
 * Let parameters and labels be those of the request, whose expressions are written for a
 * search_path.
 */
extern void race_release_terms_use(RaceReleaseTerms *terms, char *path);

/* Decide what a new request leaves open, and raise what is wrong with it. */
extern void race_release_terms_decide(const RaceLedger *ledger, const RaceDataset *dataset,
									  RaceReleaseTerms *terms);

/*
 * Return whether, with a delta, a pure release with other parameters, or the same, serves better
 * than these, for densities or not; for a series, whether its values do, of so many lengths (else
 * 0).  A budget in zCDP charges more for it: then not.
 */
extern bool race_pure_is_better(const RaceDataset *dataset, double epsilon, double delta,
								uint32 levels, const RaceParams *params,
								const RaceParams *pure_params, bool densities);

#endif
