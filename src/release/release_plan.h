/*
 * release_plan.h
 *		The plan of a release: what it measures, what it will read, with which rights and noise,
 *		and what that costs; all of it is public
 */
#ifndef RACE_RELEASE_PLAN_H
#define RACE_RELEASE_PLAN_H

#include "postgres.h"

#include "nodes/parsenodes.h"

#include "choice/choose_categories.h"
#include "release/dataset.h"
#include "release/lineage.h"
#include "release/series_units.h"
#include "release/request.h"
#include "release/series.h"
#include "privacy/release_request.h"

/* The label of all rows whose label was not chosen */
#define RACE_OTHER "other"

/* The parameter that the expression of a release by columns has in place of its domains */
#define RACE_GIVE_DOMAINS 1

/* Expressions as PostgreSQL writes them, all names qualified; NULL for those that there are not */
typedef struct RaceWritten
{
	char *expression;
	char *label;
	char *weight;
	char *where;
} RaceWritten;

/*
 * A plan is decided from a request first (decide.h), then what it takes is found out.  That depends
 * on the database: it is found again, of the same decisions, after a charge was committed and for
 * each value of a series.
 */
typedef struct RaceReleasePlan
{
	/* what is decided */
	RaceReleaseRequest request; /* request as the ledger keeps it, with all that it left open */
	Datum params_datum;         /* race_params of the sketches, with chosen categories */
	const RaceParams *params;   /* race_params of the sketches, opened */
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
	char *size_detail; /* detail of that notice, or NULL */
	bool taken_over;   /* did another role write the expressions than that whose release it is? */
	char *path;        /* search_path that the expressions are written for */
	char *run_path;    /* search_path that the functions they call run under */

	/* what is found, from here on: rights and tables */
	RaceDataset *dataset; /* dataset as it was looked up for this plan */
	RaceLineage *lineage; /* tables of its relation */
	Oid role;             /* role with whose rights queries are analyzed, planned and run */
	RaceWritten written;  /* expressions as the ledger keeps them */

	/* noise and cost */
	RaceRequest noise;        /* noise of the sketches, or of bounds by noisy counts */
	RaceRequest scores_noise; /* noise of the scores of a release that is calibrated */
	Datum scores_params;      /* race_params of the sketches of scores */
	RaceChoicePlan choice;    /* noise and threshold of each choice */
	uint64
		/* numbers of persons of a chosen category that add up to that of its records; 0: none do */
		summed;

	/* queries */
	Query *query; /* query that gives (label, exact sketch), with a value a pair of sketches */
	Query *rows;  /* subquery of query: (unit, record, label, value) of each row */
	Query *parts_query;  /* query that builds where the rows are (remote.h), or NULL */
	bool of_partitions;  /* does parts_query read partitions, by the right to the whole? */
	Query *scores_query; /* query that gives (label, exact sketch of scores), or NULL */
	/* race_sketch[] in scores_query that scores records, NULL until there are private sketches */
	Const *scored_by;
	List *choice_queries; /* query of each choice, which gives (value, persons, further records) */
	RaceUnits *units;     /* units of a series with a unit column, or NULL */
	RaceCalls calls;      /* functions that the expressions call */
	List *parts;          /* OIDs of the relations of the lineage, with their partitions */
	List *probes;         /* probes of what is read on other servers (remote.h) */
} RaceReleasePlan;

/* Does a noisy count choose how many rows are kept? */
#define RaceRowsAreChosen(plan) (!race_is_given(&(plan)->request, RACE_ARG_ROWS))

/* Does the first version choose its labels, and count the rest as RACE_OTHER? */
#define RaceLabelsArePrivate(plan) \
	(race_is_given(&(plan)->request, RACE_ARG_LABEL) && \
	 !race_is_given(&(plan)->request, RACE_ARG_LABELS))

/* Return a plan of the same decisions, of which nothing is found. */
extern RaceReleasePlan *race_release_plan_again(const RaceReleasePlan *plan);

/*
 * Find what a plan takes that was decided, as far as can be without reading data: check the rights
 * of the role whose release it is, the lineage of the dataset, the expressions, and that the
 * queries can be run.  Relations stay locked until the transaction ends.
 */
extern void race_release_plan_find(const RaceLedger *ledger, RaceReleasePlan *plan,
								   RaceDataset *dataset, Oid reader);

/* Return the largest rho that all sketches of a plan can have together. */
extern double race_release_plan_rho(const RaceReleasePlan *plan);

/*
 * Return whether both plans are the same queries over the same objects; and whether they are of the
 * same objects at least.
 */
extern bool race_release_plan_same(const RaceReleasePlan *a, const RaceReleasePlan *b);
extern bool race_release_plan_same_objects(const RaceReleasePlan *a, const RaceReleasePlan *b);

/* Return whether no function that the queries call was defined anew since they were planned. */
extern bool race_release_plan_is_current(const RaceReleasePlan *plan);

/* Raise 42501 unless a role may read something of a relation. */
extern void race_check_may_read(Oid relation, Oid role);

/*
 * Return how many noisy numbers of persons add up to one of records, which is then measured by
 * them, too (race_threshold_records()); 0: none do.  It is one if a unit has one record of each
 * value of a column that is chosen, as a unique index says, or one altogether.  Of a column that is
 * counted alone it is as many as a unit may have records.
 */
extern uint64 race_choice_measures(const RaceDataset *dataset, const List *columns, bool alone);

#endif
