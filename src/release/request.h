/*
 * request.h
 *		A release as it is asked for, and as it was checked and analyzed.
 */
#ifndef RACE_REQUEST_H
#define RACE_REQUEST_H

#include "postgres.h"

#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"

#include "sketch/domain.h"
#include "choice/domain_choice.h"
#include "release/privatize.h"
#include "release/ledger.h"
#include "release/lineage.h"
#include "release/series_units.h"
#include "privacy/release_request.h"

/* The arguments of race_release_sketch, in the order of its signature, then those of race_release alone */
typedef enum RaceArgument
{
	RACE_ARG_NAME, RACE_ARG_DATASET, RACE_ARG_PARAMS, RACE_ARG_EXPRESSION, RACE_ARG_EPSILON, RACE_ARG_DELTA, RACE_ARG_ROWS,
	RACE_ARG_LABEL, RACE_ARG_LABELS, RACE_ARG_GRID, RACE_ARG_FIT, RACE_ARG_VALUE, RACE_ARG_VALUE_LOWER, RACE_ARG_VALUE_UPPER,
	RACE_ARG_DESCRIPTION, RACE_ARG_COLUMNS, RACE_ARG_COLUMN_UNITS, RACE_ARG_CALIBRATE, RACE_ARG_SERIES, RACE_ARG_WEIGHT,
	RACE_ARG_WEIGHT_MAX, RACE_ARG_MEASURE, RACE_ARGUMENTS
} RaceArgument;

/* Each of them, 0 where it is NULL, and what follows from them */
typedef struct RaceAsked
{
	uint32		given;			/* a bit for each that is not NULL */
	char	   *name;
	char	   *dataset;
	Datum		params_datum;	/* race_params */
	const RaceParams *params;
	char	   *expression;
	double		epsilon;
	double		delta;
	int			rows;
	bool		choose_rows;	/* rows are NULL */
	bool		grid;			/* make a grid of the kernel */
	bool		fit;			/* fit a model to the release */
	char	   *label;			/* an expression, or NULL */
	Datum		labels;			/* text[] in the order of the parts, or 0 */
	bool		choose_labels;	/* not listed: the first version chooses them, and counts the rest as RACE_OTHER */
	List	   *chosen;			/* expressions whose values this version chooses: the label, or columns */
	int			most_chosen;	/* values of each */
	char	   *spread;			/* the column, if it is counted alone: a unit with more rows keeps different values of it first; or NULL */
	char	   *weight;			/* an expression, or NULL: how many records a row stands for, */
	int			weight_max;		/* at most; else 0 */
	char	   *described;		/* a column whose bounds are wanted, in place of a release; or NULL */
	bool		described_nan;	/* can it be NaN? */
	char	   *measure;		/* of a release by columns: whose means are wanted, or NULL */
	double		calibrate;		/* the share of epsilon that scores get, or 0 */
	char	   *value;			/* an expression, or NULL */
	double		bounds[RACE_HALVES];	/* of the value; else 0 */
	char	   *description;	/* for readers, as the following: text, or NULL */
	Datum		columns;		/* text[], or 0: names of the numbers of a record, */
	Datum		units;			/* and what they are measured in */
	Datum		domains;		/* jsonb, of a release by columns; or 0 */
	Datum		series;			/* jsonb, of a series (series.h); or 0 */
	uint32		levels;			/* of a series: in how many of its values a row is; else 0 */
	uint32		length;			/* and of one value: how many intervals, */
	Datum		during;			/* their time, a tsrange, */
	char	   *condition;		/* which rows are in it, */
	char	   *by;				/* by this column */
	Datum		unit_key;		/* of a series that is charged: a uuid that its units are hashed with; else 0 */
	bool		taken_over;		/* did another role write the expressions than that whose release it is? */
	char	   *path;			/* search_path that the expressions are written for, */
	char	   *run_path;		/* and that the functions they call run under */
} RaceAsked;

/*
 * Their names, types (race_params has another OID in each database), and fields of RaceAsked.
 * What is kept is the request: the ledger stores it, and race_release_next reads it again.
 */
extern const struct RaceArgumentFacts
{
	const char *name;
	const char *type_name;
	Oid			type;
	bool		kept;
	size_t		field;
}			race_arguments[RACE_ARGUMENTS];

static inline bool
race_is_given(const RaceAsked *asked, RaceArgument i)
{
	return (asked->given >> i & 1) != 0;
}

/* Set an argument; one that is NULL stays 0.  What is stored elsewhere is fetched now. */
extern void race_argument_set(RaceAsked *asked, RaceArgument i, Datum value, bool isnull);

/* Return an argument as a parameter of a statement. */
extern RaceParameter race_argument(const RaceLedger *ledger, const RaceAsked *asked, RaceArgument i);

/* Derive what follows from the arguments.  The expressions are written for a search_path. */
extern void race_request_use(RaceAsked *asked, char *path);

/* The same of a new request: derive the rest of its arguments, and raise what is wrong with them. */
extern void race_request_prepare(const RaceLedger *ledger, RaceAsked *asked);

/* The label of all rows whose label was not chosen */
#define RACE_OTHER				"other"

/* The parameter that the expression of a release by columns has in place of its domains */
#define RACE_GIVE_DOMAINS		1

/* What a release by columns counts */
typedef struct RaceCounted
{
	int			chosen;			/* columns whose categories the release chooses */
	RaceDomain *domains;		/* [n]: those of columns, then that of a measure */
	int			n;
	int			columns;
	int			pairs;
	int			triples;		/* tables of three columns, */
	int			asked;			/* and those of them that the workload has */
	int			sets;			/* tables of the workload, and of a label */
	double		counters;		/* of all these */
	double		megabytes;		/* the memory of a release, at most */
	char	   *params;			/* race_params as text */
} RaceCounted;

/*
 * Look up what counts columns with these domains (jsonb), a label or NULL, and a workload (text[] or 0), of which
 * tables are chosen, or all.  42703 if these name no columns, 22023 for another workload, 54000 if the counters do
 * not fit into a value.
 */
extern void race_columns_counted(Datum domains, const char *label, Datum workload, bool chosen, RaceCounted *counted);

/*
 * With a delta: does a pure release with other parameters, or the same, serve better than with these, for densities
 * or not?  Of a series: do its values, of so many lengths (else 0)?  Told from public facts.  A budget in zCDP charges more
 * for it: then not.
 */
extern bool race_pure_is_better(const RaceLedger *ledger, const RaceDataset *dataset, double epsilon, double delta, uint32 levels,
								const RaceParams *params, const RaceParams *pure_params, bool densities);

/* How many sketches each label has: one, or one for each bound of the value */
#define RaceHalvesOf(asked)		((asked)->value == NULL ? 1 : (int) RACE_HALVES)

/* A request that was checked: all that a release will run */
typedef struct RaceChecked
{
	RaceDataset *dataset;
	RaceLineage *lineage;
	RaceRequest noise;			/* of the sketches */
	RaceChoicePlan choice;		/* of each value that is chosen; */
	uint64		summed;			/* numbers of its persons that add up to that of its records, or 0: none do */
	List	   *chosen_numbers; /* then of each column RaceColumnNumbers *, once they were read */
	RaceBounds	bounds;			/* of asked->described */
	List	   *choices;		/* and for each of asked->chosen the Query that gives (value, persons, further records) */
	char	   *expression;		/* as PostgreSQL writes it, all names qualified */
	char	   *label;			/* the same, or NULL */
	char	   *value;			/* the same, or NULL */
	char	   *weight;			/* the same, or NULL */
	Oid			role;			/* with whose rights the queries are analyzed, planned and run */
	Query	   *query;			/* gives (label, exact sketch), or of values a pair of them */
	Query	   *rows;			/* in it: gives (unit, record, label, value) of each row */
	Query	   *parts_query;	/* the same, built where the rows are (remote.h); or NULL */
	bool		of_partitions;	/* does that read partitions, by the right to the whole? */
	RaceRequest scores_noise;	/* of a release that is calibrated: of the scores, */
	Datum		scores_params;	/* race_params of their sketches, */
	Query	   *scores_query;	/* which gives (label, exact sketch of scores), or NULL, */
	Const	   *scored_by;		/* and in it the race_sketch[] that scores, NULL so far */
	RaceUnits  *units;			/* of a series with a unit column (series_units.h), or NULL */
	RaceCalls	calls;			/* what the expressions call */
	List	   *parts;			/* OIDs of the relations of the lineage, with their partitions */
	List	   *probes;			/* of what is read on other servers (remote.h) */
	List	   *tables;			/* OIDs of the tables in the plans that ran */
} RaceChecked;

/*
 * Check a request as far as can be without reading data: arguments, the rights of the role
 * whose release it is, the lineage of the dataset, the expressions, and that the query can be
 * run.  Relations stay locked until the transaction ends.
 */
extern RaceChecked *race_request_check(const RaceLedger *ledger, const RaceAsked *asked, Oid reader);

/* Raise 42501 unless a role may read something of a relation. */
extern void race_request_check_rights(Oid relation, Oid role);

/*
 * Is a column NOT NULL in a relation, and in all whose rows are read with it?  Of views and foreign tables nothing is known.
 */
extern bool race_column_is_not_null(Oid relation, AttrNumber number);

/* A description of a column that waits for its bounds */
#define RACE_DESCRIBED_LOWER	3	/* where they are among the parameters */
#define RACE_DESCRIBED_UPPER	4

typedef struct RaceDescribed
{
	char	   *column;
	Oid			type;			/* without SQL domains */
	double		epsilon;
	bool		whole;
	double		lower;			/* what the schema says of them, or infinite */
	double		upper;
	const char *statement;		/* that describes it, */
	int			n;				/* and its parameters, which live as long as the call */
	RaceParameter *parameters;
} RaceDescribed;

/* Check the arguments of race_describe(), and set all of a description but the bounds. */
typedef void RaceDescribe(FunctionCallInfo fcinfo, const RaceLedger *ledger, RaceDescribed *described);

extern Datum race_describe_privately(FunctionCallInfo fcinfo, RaceDescribe *prepare);

/*
 * Return how many noisy numbers of persons add up to one of records, which is then measured by them, too (race_threshold_records());
 * 0: none do.  It is one if a unit has one record of each value of a column that is chosen, as a unique index says, or one
 * altogether.  Of a column that is counted alone it is as many as a unit may have records.
 */
extern uint64 race_choice_measures(const RaceLedger *ledger, const RaceDataset *dataset, const List *columns, bool alone);

/* The largest rho that all sketches of a request can have together */
extern double race_checked_rho(const RaceAsked *asked, const RaceChecked *checked);

/* Do both checks of a request stand for the same query over the same objects?  And for the same objects at least? */
extern bool race_request_same(const RaceChecked *a, const RaceChecked *b);
extern bool race_request_same_objects(const RaceChecked *a, const RaceChecked *b);

/* Is no function that the query calls defined anew since it was checked? */
extern bool race_request_current(const RaceChecked *checked);

/*
 * Can sketches with these parameters have a model, and a private sketch with one.  Models are
 * answers, which releases do not refer to: _PG_init() sets these.
 */
extern bool (*race_release_can_fit) (const RaceParams *params);
extern Datum (*race_release_fit) (Datum sketch);

/*
 * Set which rows a value of a series has, whose number is its version.  Is it over?  If not, *closes is when it will be,
 * NULL if there is no such value.
 */
extern bool race_series_use(const RaceLedger *ledger, RaceAsked *asked, int version, char **closes);

#endif
