/*
 * table_synthesis.c
 *		Synthetic rows from the model of contingency tables, and how unusual a record is among them
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/transam.h"
#include "access/tupdesc.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "hash/philox.h"
#include "hash/quantiles.h"
#include "sketch/authority.h"
#include "sketch/domain.h"
#include "sketch/result.h"
#include "answers/domain_check.h"
#include "answers/heaps.h"
#include "answers/table_answers.h"

PG_FUNCTION_INFO_V1(race_synthesize);
PG_FUNCTION_INFO_V1(race_outliers_records);

#define ROWS_AT_ONCE 65536 /* rows drawn together, whose frequencies are near those of the model */
#define MOST_ROWS 1000000000
#define MOST_DRAWS 1000 /* draws of a value or a row until the constraints of its type hold */

/* How a column of the result is filled */
typedef struct Target
{
	int column;   /* column of the release; -1: none has this name, and the value is NULL */
	Oid type;     /* type of values, without SQL domains */
	Oid declared; /* the declared type, which may be a SQL domain */
	FmgrInfo input;
	Oid parameter;
	int32 typmod;
	Datum *categories; /* [n]: categories as values of the type */
	/* [cells]: shares of records, -1 where the type has no such value; NULL if it has all */
	double *shares;
	RaceHeaps heaps;
	bool not_null;
	RaceDomainCheck *check; /* constraints of its type, or NULL */
	Oid role;               /* role of an input function that may call others; else invalid */
} Target;

typedef struct Synthesis
{
	RaceOpenTables open;
	TupleDesc desc;
	Oid type;               /* type of rows */
	RaceDomainCheck *check; /* constraints of the row type, or NULL */
	Target *targets;        /* [natts] */
	Datum *values;
	bool *nulls;
	int64 seed;
	uint64 draws;
	uint64 rows;    /* rows to return */
	uint32 n;       /* rows that were drawn and are left */
	uint32 at_once; /* rows that are drawn together */
	uint32 *cells;  /* [at_once][columns] */
	uint32 *space;
} Synthesis;

/* Return a number in [0, 1) from the seed. */
static double
draw_uniform(void *state)
{
	Synthesis *synthesis = state;
	uint64 draw = synthesis->draws++;
	uint32 counter[4] = {(uint32) draw, (uint32) (draw >> 32), 0, 0};
	uint64 bits[2];

	race_philox((uint64) synthesis->seed, counter, bits);
	return ldexp((double) (bits[0] >> 11), -53);
}

/* Return the value of a text in the type of a column.  Raise what its input function raises. */
static Datum
typed_value(Target *target, char *text)
{
	RaceAuthority before;
	Datum value;

	if (!OidIsValid(target->role))
		return InputFunctionCall(&target->input, text, target->parameter, target->typmod);
	race_authority_begin(&before, target->role);
	value = InputFunctionCall(&target->input, text, target->parameter, target->typmod);
	race_authority_end(&before);
	return value;
}

static void
refuse_values(const char *what, const char *name, Oid type)
{
	ereport(
		ERROR,
		(errcode(ERRCODE_CHECK_VIOLATION),
		 errmsg("no %s%s%s%s was found that the constraints of type %s allow", what,
				name == NULL ? "" : " \"", name == NULL ? "" : name, name == NULL ? "" : "\"",
				format_type_be(type)),
		 errdetail("It was drawn %d times.", MOST_DRAWS),
		 errhint(
			 "Use a type that allows the values of the release: race_catalog shows which these are.")));
}

static bool
is_of_type(const RaceDomain *domain, Oid type)
{
	return strcmp(domain->type, format_type_be(type)) == 0;
}

/* Return the cast of a double to a type of numbers that raises an error; NULL of other types. */
static PGFunction
cast_to(Oid type)
{
	switch (type)
	{
		case INT2OID:
			return dtoi2;
		case INT4OID:
			return dtoi4;
		case INT8OID:
			return dtoi8;
		case FLOAT4OID:
			return dtof;
		default:
			return NULL;
	}
}

/*
 * Raise 22003 if numbers of a domain are too large for a type.  Days and seconds are no numbers of
 * other types: these are read as texts.
 */
static void
check_number_type(Target *target, const RaceDomain *domain)
{
	Oid type = target->type;
	PGFunction cast = cast_to(type);
	bool has_seconds = is_of_type(domain, TIMESTAMPOID) || is_of_type(domain, TIMESTAMPTZOID) ||
		is_of_type(domain, INTERVALOID);

	if (has_seconds || is_of_type(domain, DATEOID) != (type == DATEOID))
		target->type = InvalidOid;
	else if (cast != NULL)
	{
		(void) DirectFunctionCall1(cast, Float8GetDatum(domain->lower));
		(void) DirectFunctionCall1(cast, Float8GetDatum(domain->upper));
	}
}

static void
find_heaps(Synthesis *synthesis, Target *target)
{
	const RaceDomain *domain = &synthesis->open.domains[target->column];
	const double **all = palloc0(synthesis->open.columns * sizeof(double *));
	double *share = palloc_extended(RaceDomainCells(domain) * sizeof(double), MCXT_ALLOC_HUGE);

	race_model_event(synthesis->open.model, all, target->column, share);
	race_heaps_find(domain, share, &target->heaps);
	pfree(share);
}

static void
prepare_target(Synthesis *synthesis, int i, bool not_null)
{
	Form_pg_attribute attribute = TupleDescAttr(synthesis->desc, i);
	Target *target = &synthesis->targets[i];
	const RaceDomain *domain;
	Oid input;

	target->column = attribute->attisdropped ?
		-1 :
		race_tables_column_or_none(&synthesis->open, NameStr(attribute->attname));
	if (target->column < 0)
		return;
	domain = &synthesis->open.domains[target->column];
	target->typmod = attribute->atttypmod;
	target->declared = attribute->atttypid;
	target->type = getBaseTypeAndTypmod(attribute->atttypid, &target->typmod);
	getTypeInputInfo(target->type, &input, &target->parameter);
	fmgr_info(input, &target->input);
	/* that of a row type, an array or a range checks SQL domains in it */
	target->role = target->type < FirstNormalObjectId ?
		InvalidOid :
		race_authority_of(GetUserId(), race_owner_of_type(target->type));
	target->check = race_domain_check_prepare(attribute->atttypid);
	target->not_null =
		not_null || (target->check != NULL && !race_domain_check(target->check, (Datum) 0, true));
	if (target->check != NULL || (target->not_null && RaceDomainCells(domain) > domain->n))
	{
		const double **all = palloc0(synthesis->open.columns * sizeof(double *));

		target->shares = palloc_extended(RaceDomainCells(domain) * sizeof(double), MCXT_ALLOC_HUGE);
		race_model_event(synthesis->open.model, all, target->column, target->shares);
	}
	if (!domain->category)
	{
		check_number_type(target, domain);
		find_heaps(synthesis, target);
		return;
	}
	target->categories = palloc_extended(domain->n * sizeof(Datum), MCXT_ALLOC_HUGE);
	for (uint32 k = 0; k < domain->n; k++)
	{
		target->categories[k] = typed_value(target, domain->categories[k]);
		if (target->check != NULL &&
			!race_domain_check(target->check, target->categories[k], false))
			target->shares[k] = -1;
	}
}

/* Return a number within a cell: its lower edge where that is a heap, or each as likely as others. */
static double
number_in_cell(Synthesis *synthesis, const RaceDomain *domain, const RaceHeaps *heaps, uint32 cell)
{
	double low = Max(race_tables_edge(domain, cell), domain->lower);
	double high = race_tables_edge(domain, cell + 1);
	double heap = race_heaps_share(domain, heaps, cell);
	double u = draw_uniform(synthesis);
	double x = u < heap ? low : low + (u - heap) / (1 - heap) * (high - low);

	return domain->finest > 0 ?
		Min(Max(race_multiple_below(domain->finest, x), low), domain->upper) :
		x;
}

/* Draw a cell with a value that the column can have, by its share of records, or return n. */
static uint32
draw_value(Synthesis *synthesis, const Target *target, uint32 n)
{
	double left = 0;
	uint32 last = n;

	for (uint32 i = 0; i < n; i++)
		left += Max(target->shares[i], 0);
	left *= draw_uniform(synthesis);
	for (uint32 i = 0; i < n; i++)
	{
		if (target->shares[i] < 0)
			continue;
		last = i;
		if (left < target->shares[i])
			break;
		left -= target->shares[i];
	}
	return last;
}

static Datum
number_value(Target *target, const RaceDomain *domain, double number)
{
	switch (target->type)
	{
		case INT2OID:
			return Int16GetDatum((int16) number);
		case INT4OID:
			return Int32GetDatum((int32) number);
		case INT8OID:
			return Int64GetDatum((int64) number);
		case FLOAT4OID:
			return Float4GetDatum((float4) number);
		case FLOAT8OID:
			return Float8GetDatum(number);
		case DATEOID:
			return DateADTGetDatum((DateADT) number);
		default:
			return typed_value(target, race_domain_number_text(domain, number));
	}
}

/* Draw a value of a cell.  Return false if there is none that the constraints of its type allow. */
static bool
draw_in_cell(Synthesis *synthesis, Target *target, const RaceDomain *domain, uint32 cell,
			 Datum *value)
{
	*value = target->categories != NULL ?
		target->categories[cell] :
		number_value(target, domain, number_in_cell(synthesis, domain, &target->heaps, cell));
	return target->check == NULL ||
		(target->categories != NULL ? target->shares[cell] >= 0 :
									  race_domain_check(target->check, *value, false));
}

/* Fill a column of a row whose record is in a cell.  Draw again what its type does not allow. */
static void
fill_column(Synthesis *synthesis, int i, uint32 cell)
{
	Target *target = &synthesis->targets[i];
	const RaceDomain *domain = &synthesis->open.domains[target->column];

	synthesis->nulls[i] = false;
	for (int draws = 0; draws < MOST_DRAWS; draws++)
	{
		if (cell >= domain->n && target->not_null)
			cell = draw_value(synthesis, target, domain->n);
		/* NULL, and what is no category */
		synthesis->nulls[i] = cell >= domain->n;
		if (synthesis->nulls[i])
			break;
		if (draw_in_cell(synthesis, target, domain, cell, &synthesis->values[i]))
			return;
		/* first in the same cell, as the record has others, too */
		if (target->categories != NULL || draws % 10 == 9)
			cell = draw_value(synthesis, target, domain->n);
	}
	if (!synthesis->nulls[i] || target->not_null)
		refuse_values("value of column", NameStr(TupleDescAttr(synthesis->desc, i)->attname),
					  target->declared);
}

static void
start_rows(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	Synthesis *synthesis = palloc0(sizeof(Synthesis));
	Oid type = get_fn_expr_argtype(fcinfo->flinfo, 0);
	int64 n;
	int named = 0;
	TupleDesc desc;

	if (!type_is_rowtype(type) || type == RECORDOID)
		ereport(
			ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("race_synthesize needs the row type of a table, found %s",
					format_type_be(type)),
			 errhint(
				 "Give a NULL of that type, as in race_synthesize(NULL::visits, 'visits 2026', 1000).")));
	if (PG_ARGISNULL(1) || PG_ARGISNULL(2) || PG_ARGISNULL(2) || PG_ARGISNULL(3))
		return;
	race_tables_open(PG_GETARG_DATUM(1), &synthesis->open);
	n = PG_GETARG_INT64(2);
	if (n < 0 || n > MOST_ROWS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("n must be a number from 0 to %d", MOST_ROWS),
				 errhint("It is how many rows there will be.")));
	desc = lookup_rowtype_tupdesc_domain(type, -1, false);
	synthesis->desc = CreateTupleDescCopy(desc); /* without NOT NULL */
	synthesis->check = race_domain_check_prepare(type);
	synthesis->type = type;
	synthesis->seed = PG_GETARG_INT64(3);
	synthesis->targets = palloc0(synthesis->desc->natts * sizeof(Target));
	synthesis->values = palloc0(synthesis->desc->natts * sizeof(Datum));
	synthesis->nulls = palloc0(synthesis->desc->natts * sizeof(bool));
	synthesis->at_once = (uint32) Min(n, ROWS_AT_ONCE);
	synthesis->cells = palloc(synthesis->at_once * (Size) synthesis->open.columns * sizeof(uint32));
	synthesis->space = palloc(
		synthesis->at_once * ((Size) synthesis->open.columns + RACE_GRAPH_SAMPLE) * sizeof(uint32));
	for (int i = 0; i < synthesis->desc->natts; i++)
	{
		prepare_target(synthesis, i, TupleDescAttr(desc, i)->attnotnull);
		named += synthesis->targets[i].column >= 0;
	}
	ReleaseTupleDesc(desc);
	if (named == 0)
		ereport(
			ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("type %s has no column of the release", format_type_be(type)),
			 errhint(
				 "Columns are found by their names: race_catalog shows those of the release.")));
	call->user_fctx = synthesis;
	call->max_calls = synthesis->rows = n;
}

static Datum
draw_row(Synthesis *synthesis, uint64 number)
{
	const uint32 *cells;

	if (synthesis->n == 0)
	{
		synthesis->n = (uint32) Min(synthesis->rows - number, synthesis->at_once);
		race_model_sample(synthesis->open.model, draw_uniform, synthesis, synthesis->n,
						  synthesis->cells, synthesis->space);
	}
	cells = synthesis->cells + (Size) --synthesis->n * synthesis->open.columns;
	for (int i = 0; i < synthesis->desc->natts; i++)
	{
		int column = synthesis->targets[i].column;

		synthesis->nulls[i] = true;
		if (column >= 0)
			fill_column(synthesis, i, cells[column]);
	}
	return HeapTupleGetDatum(heap_form_tuple(synthesis->desc, synthesis->values, synthesis->nulls));
}

/* Return a row that the constraints of its type allow. */
static Datum
next_row(void *state, uint64 number)
{
	Synthesis *synthesis = state;

	for (int draws = 0; draws < MOST_DRAWS; draws++)
	{
		Datum row = draw_row(synthesis, number);

		if (synthesis->check == NULL || race_domain_check(synthesis->check, row, false))
			return row;
	}
	refuse_values("row", NULL, synthesis->type);
	return (Datum) 0; /* not reached */
}

/* Implement race_synthesize(base, value, n, seed). */
Datum
race_synthesize(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_rows, next_row);
}

/*
 * How unusual is a record?
 *
 * Numbers count as the groups that tables of two columns have.  Rows drawn from the model tell how
 * many records have values that are less frequent together than those of the record.
 */

#define RANKED_ROWS 4096

/* The lines of a column that a record is asked in, and the one that it is in */
typedef struct RankedColumn
{
	RaceTableLine *lines;
	uint32 *line_of; /* [cells] */
	const RaceTableLine *line;
	double *weights; /* [cells]: 1 in the line, else 0 */
} RankedColumn;

static void
move_to_line(RankedColumn *column, uint32 number)
{
	for (uint32 k = column->line->first; k <= column->line->last; k++)
		column->weights[k] = 0;
	column->line = &column->lines[number];
	for (uint32 k = column->line->first; k <= column->line->last; k++)
		column->weights[k] = 1;
}

/* Find the line of the value of a record.  Raise 22023 if there are several. */
static void
prepare_column(const RaceOpenTables *open, uint32 number, const double *weights,
			   RankedColumn *column)
{
	uint32 cells = RaceDomainCells(&open->domains[number]);
	uint32 n;
	uint32 found = 0;
	int met = 0;

	column->lines = race_tables_lines(open, number, true, &n);
	column->line_of = palloc_extended(cells * sizeof(uint32), MCXT_ALLOC_HUGE);
	column->weights = palloc_extended(cells * sizeof(double), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (uint32 i = 0; i < n; i++)
	{
		bool inside = false;

		for (uint32 k = column->lines[i].first; k <= column->lines[i].last; k++)
		{
			column->line_of[k] = i;
			inside |= weights[k] > 0;
		}
		if (inside)
			found = i;
		met += inside;
	}
	if (met != 1)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("a record has one value of column \"%s\"", open->domains[number].name),
			 errhint("Write the values of a record, as in {\"age\": 30, \"town\": \"Paris\"}.")));
	column->line = column->lines;
	move_to_line(column, found);
}

/* What the probability of a record is computed from, in the columns that it has */
typedef struct Ranking
{
	const RaceOpenTables *open;
	const double *const *weights; /* [columns]: of its lines, or NULL */
	RankedColumn *columns;        /* [columns] */
	uint32 *asked;                /* [n]: the columns that have weights */
	uint32 n;
	double **pair; /* [n (n - 1) / 2]: shares of lines of two columns; NULL: the model is a graph */
} Ranking;

/* Return the number of lines of a column. */
static uint32
number_of_lines(const Ranking *ranking, uint32 column)
{
	uint32 cells = RaceDomainCells(&ranking->open->domains[column]);

	return ranking->columns[column].line_of[cells - 1] + 1;
}

/* Compute the shares of lines of all pairs of columns. */
static void
rank_pairs(Ranking *ranking)
{
	uint32 pairs = 0;

	ranking->pair = palloc(Max(ranking->n * (ranking->n - 1) / 2, 1) * sizeof(double *));
	for (uint32 i = 0; i < ranking->n; i++)
		for (uint32 j = i + 1; j < ranking->n; j++)
		{
			uint32 columns[] = {ranking->asked[i], ranking->asked[j]};
			RaceAxis axes[2];

			CHECK_FOR_INTERRUPTS();
			for (int k = 0; k < 2; k++)
				axes[k] = (RaceAxis){.column = columns[k],
									 .places = number_of_lines(ranking, columns[k]),
									 .place = ranking->columns[columns[k]].line_of};
			ranking->pair[pairs] = palloc_extended(
				(Size) axes[0].places * axes[1].places * sizeof(double), MCXT_ALLOC_HUGE);
			race_particles_table(ranking->open->model->particles, 2, axes, ranking->pair[pairs++]);
		}
}

/*
 * Return the probability of a record in the lines where it is.  Particles are too few for those of
 * many columns together: then it is composed of the shares of pairs (composite likelihood, Varin,
 * Reid & Firth 2011), each to the power that makes it right where columns are independent.
 */
static double
probability_of_record(const Ranking *ranking)
{
	const RaceTableModel *model = ranking->open->model;
	double sum = 0;
	Size particles;
	uint32 pairs = 0;

	if (ranking->pair == NULL || ranking->n < 2)
		return race_model_event(model, ranking->weights, 0, NULL);
	(void) race_particles_size(model->particles, &particles);
	for (uint32 i = 0; i < ranking->n; i++)
		for (uint32 j = i + 1; j < ranking->n; j++)
		{
			const RankedColumn *first = &ranking->columns[ranking->asked[i]];
			const RankedColumn *second = &ranking->columns[ranking->asked[j]];
			Size place =
				(Size) (first->line - first->lines) * number_of_lines(ranking, ranking->asked[j]) +
				(Size) (second->line - second->lines);

			/* where no particle is, half of one might be */
			sum += log(fmax(ranking->pair[pairs++][place], 0.5 / (double) particles));
		}
	return exp(sum / (ranking->n - 1));
}

/* Return the probabilities of drawn rows, in the columns that have weights; these change. */
static double *
rank_rows(const Ranking *ranking)
{
	const RaceOpenTables *open = ranking->open;
	Synthesis synthesis = {0};
	uint32 *rows = palloc(RANKED_ROWS * (Size) open->columns * sizeof(uint32));
	uint32 *space =
		palloc(RANKED_ROWS * ((Size) open->columns + RACE_GRAPH_SAMPLE) * sizeof(uint32));
	double *probabilities = palloc(RANKED_ROWS * sizeof(double));

	race_model_sample(open->model, draw_uniform, &synthesis, RANKED_ROWS, rows, space);
	for (uint32 i = 0; i < RANKED_ROWS; i++)
	{
		CHECK_FOR_INTERRUPTS();
		for (uint32 k = 0; k < ranking->n; k++)
		{
			RankedColumn *column = &ranking->columns[ranking->asked[k]];

			move_to_line(column,
						 column->line_of[rows[(Size) i * open->columns + ranking->asked[k]]]);
		}
		probabilities[i] = probability_of_record(ranking);
	}
	return probabilities;
}

/* Return the share of rows that are less probable. */
static double
share_below(const double *probabilities, double probability)
{
	uint32 below = 0;

	for (uint32 i = 0; i < RANKED_ROWS; i++)
		below += probabilities[i] < probability * (1 - 1e-9);
	return (double) below / RANKED_ROWS;
}

/* What race_outliers() returns rows of */
typedef struct Outliers
{
	RaceOpenTables open;
	Jsonb *records;
	bool is_array;
	double confidence;
	RaceResultRow row;
} Outliers;

/* Add how typical a record with these weights is: typicality, share, frequency, lower, upper. */
static void
add_rank(Outliers *outliers, const double **weights)
{
	const RaceOpenTables *open = &outliers->open;
	RaceResultRow *row = &outliers->row;
	RaceTableAnswer answer;
	double *probabilities;
	Ranking ranking;
	double of_record;
	double mean = 0;
	double probability;
	double share;
	double bound;
	double noise;
	double z;
	bool known;

	z = race_inverse_normal((1 + outliers->confidence) / 2);
	ranking = (Ranking){.open = open,
						.weights = weights,
						.columns = palloc(open->columns * sizeof(RankedColumn)),
						.asked = palloc(open->columns * sizeof(uint32))};
	for (int i = 0; i < open->columns; i++)
		if (weights[i] != NULL)
		{
			prepare_column(open, i, weights[i], &ranking.columns[i]);
			weights[i] = ranking.columns[i].weights;
			ranking.asked[ranking.n++] = i;
		}
	if (open->model->particles != NULL)
		rank_pairs(&ranking);
	race_tables_ask(open, weights, outliers->confidence, &answer);
	of_record = probability_of_record(&ranking);
	probabilities = rank_rows(&ranking);
	for (int i = 0; i < RANKED_ROWS; i++)
		mean += probabilities[i] / RANKED_ROWS;
	probability =
		answer.measured || ranking.pair == NULL ? answer.count / open->model->total : of_record;
	known = open->model->total > z * sqrt(open->model->total_variance);
	race_row_add_if(row, known, Float8GetDatum(probability / mean));
	/*
	 * the rows are drawn from the model, so that it says which of them are as probable as the
	 * record
	 */
	share = share_below(probabilities, of_record);
	race_row_add_if(row, known, Float8GetDatum(share));
	race_row_add_if(row, known, Float8GetDatum(probability));
	/*
	 * The records below are a count, too, with noise as that of the record's own.  The model may be
	 * farther from what was measured than noise is.
	 */
	noise = z * sqrt(answer.variance) / open->model->total;
	bound = share_below(probabilities, Min(answer.lower / open->model->total, of_record));
	bound -= z * sqrt(bound * (1 - bound) / RANKED_ROWS) + noise;
	race_row_add_if(row, known, Float8GetDatum(Max(Min(bound, share), 0)));
	bound = share_below(probabilities, Max(answer.upper / open->model->total, of_record));
	bound += z * (z + sqrt(bound * (1 - bound) * RANKED_ROWS)) / RANKED_ROWS + noise;
	race_row_add_if(row, known, Float8GetDatum(Min(Max(bound, share), 1)));
}

static void
start_outliers(FunctionCallInfo fcinfo, FuncCallContext *call)
{
	Outliers *outliers = palloc0(sizeof(Outliers));

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2))
		return;
	race_row_start(&outliers->row, fcinfo);
	race_tables_open(PG_GETARG_DATUM(0), &outliers->open);
	outliers->confidence = race_confidence_arg(fcinfo, 2);
	outliers->records = race_tables_json_arg(fcinfo, 1);
	outliers->is_array =
		JB_ROOT_IS_ARRAY(outliers->records) && !JB_ROOT_IS_SCALAR(outliers->records);
	call->user_fctx = outliers;
	call->max_calls = outliers->is_array ? JB_ROOT_COUNT(outliers->records) : 1;
}

static Datum
next_outlier(void *state, uint64 i)
{
	Outliers *outliers = state;
	Jsonb *record = outliers->records;

	CHECK_FOR_INTERRUPTS();
	if (outliers->is_array)
		record = JsonbValueToJsonb(getIthJsonbValueFromContainer(&record->root, (uint32) i));
	race_row_add(&outliers->row, Int32GetDatum((int32) i + 1));
	add_rank(outliers, race_tables_where(&outliers->open, JsonbPGetDatum(record), true));
	return race_row_datum(&outliers->row);
}

/* Implement race_outliers(value, records, confidence). */
Datum
race_outliers_records(PG_FUNCTION_ARGS)
{
	return race_results(fcinfo, start_outliers, next_outlier);
}
