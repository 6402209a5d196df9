/*
 * template.c
 *		The queries of a release, made of a template of ours and of expressions of the caller's
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/analyze.h"
#include "parser/parse_coerce.h"
#include "parser/parse_node.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/uuid.h"

#include "sketch/domain.h"
#include "sketch/record.h"
#include "release/expression.h"
#include "release/ledger.h"
#include "release/read.h"
#include "release/relations.h"
#include "release/remote.h"
#include "release/settings.h"
#include "release/template.h"

/*
 * The query that collects the records is a template of ours, analyzed under a
 * search_path of pg_catalog.  Its parameters are not values: when the parser meets
 * one, it gets the node that the parameter stands for, and for some that is an
 * expression of the caller's, analyzed under her own search_path at that place.  So
 * names are looked up once, each under the path that it was written for, and what
 * was checked is what is planned.
 *
 * Bad records and NULL units are left out first, then each unit keeps as many as it
 * may.  The choice is by strong random numbers: with a generator that someone can
 * seed, one person's rows would decide which rows of others are chosen.
 */

/* Parameters of the template: nodes that the parser gets in their place */
enum
{
	GIVE_PARAMS = 1,
	GIVE_LABELS,
	GIVE_RECORD,
	GIVE_LABEL,
	GIVE_BOUNDED,
	GIVE_SCORES_PARAMS,
	GIVE_SCORED_BY,
	GIVE_UNIT_KEY,
	GIVE_WEIGHT,
	GIVE_WEIGHT_MAX,
	GIVE_WEIGHT_BITS,
	GIVE_SCORES_WEIGHT_BITS,
	GIVE_SPREAD,
	GIVE_WHERE
};

typedef struct Template
{
	const RaceLedger *ledger;
	RaceReleasePlan *plan;
	const char *label; /* expression of a label, or of what a release chooses; or NULL */
	/* is it in an expression of the caller's, which has no parameters but RACE_GIVE_DOMAINS? */
	bool in_expression;
} Template;

/* ------------------------------------------------------------- the record */

/* Give the record; raise 42804 if the expression cannot give records, as far as its type says. */
static Node *
give_record(Template *template, ParseState *pstate)
{
	RaceReleasePlan *plan = template->plan;
	Node *record = race_analyze_expression(pstate, plan->dataset->relation,
										   plan->request.expression, plan->path, RACE_AS_RECORD,
										   &plan->written.expression, &plan->calls);
	TupleDesc row = get_expr_result_tupdesc(record, true);
	RaceRecordReader reader;

	race_record_prepare(&reader, exprType(record), CurrentMemoryContext);
	if (row != NULL && race_params_parts(plan->params) > 1)
		race_record_use_row(&reader, row);
	race_record_check_types(&reader, plan->params);
	return record;
}

static Node *
give_label(Template *template, ParseState *pstate)
{
	RaceReleasePlan *plan = template->plan;

	if (template->label == NULL)
		return (Node *) makeNullConst(TEXTOID, -1, DEFAULT_COLLATION_OID);
	return race_analyze_expression(pstate, plan->dataset->relation, template->label, plan->path,
								   RACE_AS_LABEL, &plan->written.label, &plan->calls);
}

/*
 * Give the values of which a unit keeps different ones first; as a column they are a part of the
 * record.
 */
static Node *
give_spread(Template *template, ParseState *pstate)
{
	RaceReleasePlan *plan = template->plan;
	char *written;

	return race_analyze_expression(pstate, plan->dataset->relation, plan->spread, plan->path,
								   RACE_AS_LABEL, &written, &plan->calls);
}

/* Give the column whose bounds are wanted. */
static Node *
give_bounded(Template *template, ParseState *pstate)
{
	RaceReleasePlan *plan = template->plan;
	char *written;

	return race_analyze_expression(pstate, plan->dataset->relation, plan->bounds_column, plan->path,
								   RACE_AS_RECORD, &written, &plan->calls);
}

/* Give the weight; raise 42804 if it is no number, as far as its type says. */
static Node *
give_weight(Template *template, ParseState *pstate)
{
	RaceReleasePlan *plan = template->plan;
	Node *weight =
		race_analyze_expression(pstate, plan->dataset->relation, plan->request.weight, plan->path,
								RACE_AS_RECORD, &plan->written.weight, &plan->calls);
	Oid type = getBaseType(exprType(weight));

	if (TypeCategory(type) != TYPCATEGORY_NUMERIC || !race_type_is_number(type))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("weight must be a number, found %s", format_type_be(exprType(weight))),
				 errhint("Cast it, if the cast works for every row that there could be.")));
	/* a domain as its numbers; these are not cast, because a numeric can be beyond a double */
	return coerce_to_target_type(pstate, weight, exprType(weight), type, -1, COERCION_IMPLICIT,
								 COERCE_IMPLICIT_CAST, -1);
}

static Node *
give_where(Template *template, ParseState *pstate)
{
	RaceReleasePlan *plan = template->plan;

	return race_analyze_expression(pstate, plan->dataset->relation, plan->request.where, plan->path,
								   RACE_AS_CONDITION, &plan->written.where, &plan->calls);
}

static Node *
give_integer(int value)
{
	return (Node *) makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(value), false,
							  true);
}

static Node *
give_params(const RaceLedger *ledger, Datum params)
{
	return (Node *) makeConst(ledger->params_type, -1, InvalidOid, -1, params, false, false);
}

/*
 * Give an array that is put in its place later: private sketches, when there are any.  Analysis may
 * copy the node, as it does from PostgreSQL 18 on where rows are grouped.  So the location, which
 * no text has, tells it apart in the query.
 */
#define LATER_LOCATION(parameter) (-1000 - (parameter))

static Node *
give_later(int parameter, Oid type, Oid collation)
{
	Const *later = makeConst(type, -1, collation, -1, (Datum) 0, true, false);

	later->location = LATER_LOCATION(parameter);
	return (Node *) later;
}

/* Find the array in a query that is put in its place later. */
static bool
find_later(Node *node, void *checked_arg)
{
	RaceReleasePlan *plan = checked_arg;

	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, find_later, checked_arg, 0);
	if (IsA(node, Const) && ((Const *) node)->location == LATER_LOCATION(GIVE_SCORED_BY))
		plan->scored_by = (Const *) node;
	return expression_tree_walker(node, find_later, checked_arg);
}

/* Give what units of a series are hashed with: its charge, or before there is one another uuid. */
static Node *
give_unit_key(const RaceReleasePlan *plan)
{
	static pg_uuid_t none;

	return (Node *) makeConst(UUIDOID, -1, InvalidOid, UUID_LEN,
							  plan->interval.unit_key == 0 ? UUIDPGetDatum(&none) :
															 plan->interval.unit_key,
							  false, false);
}

/* ----------------------------------------------------------- the template */

/* Give the node of $n: the parser's hook. */
static Node *
give_node(ParseState *pstate, ParamRef *parameter)
{
	Template *template = (Template *) pstate->p_ref_hook_state;
	const RaceReleasePlan *plan = template->plan;
	Node *node = NULL;

	/* of others, the parser says that there is none */
	if (template->in_expression)
		return plan->domains != 0 && parameter->number == RACE_GIVE_DOMAINS ?
			(Node *) makeConst(JSONBOID, -1, InvalidOid, -1, plan->domains, false, false) :
			NULL;
	template->in_expression = true;
	switch (parameter->number)
	{
		case GIVE_PARAMS:
			node = give_params(template->ledger, plan->params_datum);
			break;
		case GIVE_LABELS:
			node = (Node *) makeConst(TEXTARRAYOID, -1, DEFAULT_COLLATION_OID, -1, plan->labels,
									  plan->labels == 0, false);
			break;
		case GIVE_RECORD:
			node = give_record(template, pstate);
			break;
		case GIVE_LABEL:
			node = give_label(template, pstate);
			break;
		case GIVE_BOUNDED:
			node = give_bounded(template, pstate);
			break;
		case GIVE_SCORES_PARAMS:
			node = give_params(template->ledger, plan->scores_params);
			break;
		case GIVE_SCORED_BY:
			node = give_later(GIVE_SCORED_BY, get_array_type(template->ledger->sketch_type),
							  InvalidOid);
			break;
		case GIVE_UNIT_KEY:
			node = give_unit_key(plan);
			break;
		case GIVE_WEIGHT:
			node = give_weight(template, pstate);
			break;
		case GIVE_WEIGHT_MAX:
			node = give_integer(plan->request.weight_max);
			break;
		case GIVE_WEIGHT_BITS:
			node = give_integer(plan->noise.weight_bits);
			break;
		case GIVE_SCORES_WEIGHT_BITS:
			node = give_integer(plan->scores_noise.weight_bits);
			break;
		case GIVE_SPREAD:
			node = give_spread(template, pstate);
			break;
		case GIVE_WHERE:
			node = give_where(template, pstate);
			break;
	}
	template->in_expression = false;
	return node;
}

/* The aggregate of a release without weights, and with them */
typedef struct BuildText
{
	bool ours; /* is the aggregate in the schema of internal objects? */
	const char *call;
} BuildText;

static const BuildText builds[] = {
	{false, "race_build($1, kept.x)"},
	{true, "_race_build_weighted($1, kept.x, kept.weight, $10, $11)"}};

/* Return the name of a relation as a query has it. */
static char *
name_of(Oid relid)
{
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)),
									  get_rel_name(relid));
}

/*
 * Return the condition of the rows that are read: that of the request, and that of a value of a
 * series.  A unit keeps some of these rows.
 */
static char *
condition_of(const RaceReleasePlan *plan)
{
	const char *where = plan->request.where == NULL ? "" : " AND $14";

	if (plan->request.series == 0 && plan->request.where == NULL)
		return "";
	return psprintf(" WHERE %s%s", plan->request.series == 0 ? "true" : plan->interval.condition,
					where);
}

/*
 * Of a series, the first records of a unit are kept.  Which come first is the same in all values:
 * by time, and at the same time by a hash that is another one for each unit.
 */
#define SERIES_ORDER \
	"good.unit, row_number() OVER (PARTITION BY good.unit ORDER BY good.at," \
	" hashtextextended(concat(good.unit, ' ', good.label, ' ', good.x::text), 0))"

/*
 * Number the rows of a unit with the same value of a column, so that those with different ones come
 * first.
 */
static char *
spread_text(const char *good)
{
	return psprintf(
		"(SELECT found.*, row_number() OVER (PARTITION BY found.unit, found.spread) AS copy FROM %s found)",
		good);
}

/*
 * Build the subquery "kept" of so many rows of each unit, or of its distinct ones, and its
 * condition; without a unit all rows are kept.  Columns and the condition are of "good", which
 * reads these values of the relation.
 */
static char *
kept_text(const RaceReleasePlan *plan, const char *columns, const char *distinct,
		  const char *values, const char *condition)
{
	const RaceDataset *dataset = plan->dataset;
	bool by_unit = dataset->unit_column != NULL;
	bool counted = by_unit && plan->request.series != 0;
	bool spread = by_unit && !counted && plan->spread != NULL && plan->request.weight == NULL &&
		dataset->max_contributions > 1;
	const char *unit = by_unit ? quote_identifier(dataset->unit_column) : "NULL";
	char *good =
		psprintf("(SELECT %s %s AS unit, %s%s%s FROM %s%s OFFSET 0)", by_unit ? distinct : "",
				 counted ? psprintf(RACE_SCHEMA "._race_series_unit($8, %s::text)", unit) : unit,
				 values, counted ? psprintf(", %s AS at", quote_identifier(plan->interval.by)) : "",
				 spread ? ", $13 COLLATE \"C\" AS spread" : "", name_of(dataset->relation),
				 condition_of(plan));

	return psprintf(
		"(SELECT %s, %s AS nth FROM %s good WHERE %s AND %s) kept%s"
		" WHERE kept.nth <= %d%s",
		columns,
		counted ?
			SERIES_ORDER :
			!by_unit ?
			"1" :
			psprintf("row_number() OVER (PARTITION BY good.unit ORDER BY %sgen_random_uuid())",
					 spread ? "good.copy, " : ""),
		spread ? spread_text(good) : good, by_unit ? "good.unit IS NOT NULL" : "true", condition,
		counted ? " LEFT JOIN " RACE_EARLIER_UNITS " used ON used.unit = kept.unit" : "",
		dataset->max_contributions, counted ? " - coalesce(used.records, 0)" : "");
}

static char *
template_text(const RaceLedger *ledger, const RaceReleasePlan *plan, const BuildText *build)
{
	const RaceDataset *dataset = plan->dataset;
	const char *schema = quote_identifier(get_namespace_name(ledger->library_schema));
	const char *label = RaceLabelsArePrivate(plan) ?
		"CASE WHEN good.label = ANY ($2) THEN good.label ELSE '" RACE_OTHER "' END" :
		"good.label";
	const char *declared = RaceLabelsArePrivate(plan) ? "good.label IS NOT NULL" :
														"($2 IS NULL OR good.label = ANY ($2))";
	bool labels = plan->request.label != NULL;

	/*
	 * cells of columns are a record of every row; without labels nothing is to be grouped, or
	 * sorted for that
	 */
	return psprintf(
		"SELECT %s, %s.%s%s FROM %s%s", labels ? "kept.label" : "NULL::text",
		build->ours ? RACE_SCHEMA : schema, build->call,
		dataset->unit_column != NULL && plan->request.series != 0 ?
			", " RACE_SCHEMA "._race_series_take(kept.unit)" :
			"",
		kept_text(plan, psprintf("good.x, %s AS label, good.weight", label), "",
				  psprintf("$3 AS x, $4 COLLATE \"C\" AS label, %s AS weight",
						   plan->request.weight == NULL ? "NULL" : "$9"),
				  psprintf("%s AND %s",
						   plan->domains != 0 ? "good.x IS NOT NULL" :
												psprintf("%s.race_is_record($1, good.x)", schema),
						   declared)),
		labels ? " GROUP BY kept.label" : "");
}

/* Of a value that is chosen, as of a category that is described */
#define MOST_BYTES_OF_VALUE "200"

/* RACE_OTHER means the rest. */
#define MAY_BE_CHOSEN(label) \
	label " <> '" RACE_OTHER "' AND octet_length(" label ") <= " MOST_BYTES_OF_VALUE \
		  " AND " RACE_SCHEMA "._race_is_shown(" label ", false)"

/*
 * Build the query of how many persons have each value, and how many records more these have: each
 * counts for as many values as she may have rows.  Where numbers of persons add up to those of
 * records, they are of the rows that a unit keeps; else of values, so that more are found.
 */
static char *
choice_text(const RaceReleasePlan *plan, bool measured)
{
	const RaceDataset *dataset = plan->dataset;
	if (measured)
		return psprintf(
			"SELECT kept.label, %s FROM %s AND " MAY_BE_CHOSEN("kept.label") " GROUP BY kept.label",
			dataset->unit_column != NULL ?
				"count(DISTINCT kept.unit), count(*) - count(DISTINCT kept.unit)" :
				"count(*), 0::int8",
			kept_text(plan, "good.unit, good.label", "", "$4 COLLATE \"C\" AS label", "true"));
	return psprintf("SELECT kept.label, count(*), 0::int8 FROM %s GROUP BY kept.label",
					kept_text(plan, "good.label", "DISTINCT", "$4 COLLATE \"C\" AS label",
							  MAY_BE_CHOSEN("good.label")));
}

/* Do the same for a dataset without a unit, from the parts of its relation, where they are. */
static char *
parts_text(const RaceLedger *ledger, const RaceReleasePlan *plan, List *parts, bool labels)
{
	const RaceDataset *dataset = plan->dataset;
	const char *schema = quote_identifier(get_namespace_name(ledger->library_schema));
	const char *group = labels ? " GROUP BY 1" : "";
	StringInfoData text;
	ListCell *cell;

	initStringInfo(&text);
	foreach (cell, parts)
		appendStringInfo(
			&text,
			"%sSELECT %s AS label, %s.race_build_records($1, %s.race_record($1, good.x)) AS sketch"
			" FROM (SELECT $3 AS x, %s AS label FROM %s%s AS %s%s) good"
			" WHERE %s.race_is_record($1, good.x) AND ($2 IS NULL OR good.label = ANY ($2))%s",
			cell == list_head(parts) ? "" : " UNION ALL ", labels ? "good.label" : "NULL::text",
			schema, schema, labels ? "$4 COLLATE \"C\"" : "NULL::text",
			lfirst_oid(cell) != dataset->relation ? "ONLY " : "", name_of(lfirst_oid(cell)),
			quote_identifier(get_rel_name(dataset->relation)), condition_of(plan), schema, group);
	if (list_length(parts) == 1)
		return text.data;
	return psprintf("SELECT NULL::text, %s.race_merge(parts.sketch) FROM (%s) parts", schema,
					text.data);
}

/* Return the innermost SELECT of the template, which reads the relation. */
static Query *
find_innermost(Query *query)
{
	/* bound: the depth of the template */
	while (linitial_node(RangeTblEntry, query->rtable)->rtekind == RTE_SUBQUERY)
		query = linitial_node(RangeTblEntry, query->rtable)->subquery;
	return query;
}

/*
 * Check that a query calls no function that stands in for one of racepriv.  Names of the template
 * are found in the schema of racepriv.  Whoever owns it may rename it, and may create functions
 * there whose arguments fit better than those of ours.
 */
static void
check_template(const RaceLedger *ledger, const RaceReleasePlan *plan, Query *query)
{
	RaceCalls calls = {NIL};
	Oid other;

	race_calls_add(&calls, (Node *) query);
	other = race_calls_besides(&calls, ledger, &plan->calls);
	if (OidIsValid(other))
		ereport(
			ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("function %s stands in for one of racepriv", format_procedure(other)),
			 errdetail(
				 "PostgreSQL prefers it for this record, or it has the name of one of racepriv."),
			 errhint("Drop it, and revoke CREATE on its schema from other roles.")));
}

static Query *
analyze_template(const RaceLedger *ledger, RaceReleasePlan *plan, const char *label, char *text)
{
	Template template = {ledger, plan, label, false};
	ParseState *pstate = make_parsestate(NULL);
	Query *query;
	int level = NewGUCNestLevel();

	pstate->p_sourcetext = text;
	pstate->p_paramref_hook = give_node;
	pstate->p_ref_hook_state = &template;
	pstate->p_queryEnv = race_units_environment(plan->units);
	race_set_path(RACE_SAFE_PATH);
	query = transformTopLevelStmt(pstate, linitial_node(RawStmt, race_parse(text)));
	free_parsestate(pstate);
	AtEOXact_GUC(true, level);
	check_template(ledger, plan, query);
	find_later((Node *) query, plan);
	return query;
}

/* Build the query of the values of a column whose bounds are wanted, but for missing ones. */
static char *
bounds_text(const RaceReleasePlan *plan)
{
	return psprintf("SELECT kept.value FROM %s",
					kept_text(plan, "good.value", "", "$5 AS value",
							  plan->bounds_nan ? "good.value <> 'NaN'" : "good.value IS NOT NULL"));
}

void
race_template_analyze(const RaceLedger *ledger, RaceReleasePlan *plan)
{
	char *text = plan->bounds_column == NULL ?
		template_text(ledger, plan, &builds[plan->request.weight != NULL]) :
		bounds_text(plan);

	plan->query = analyze_template(ledger, plan, plan->request.label, text);
	plan->rows = find_innermost(plan->query);
	if (linitial_node(RangeTblEntry, plan->rows->rtable)->relid != plan->dataset->relation)
		ereport(
			ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("relation \"%s\" was renamed meanwhile", get_rel_name(plan->dataset->relation)),
			 errdetail("Nothing was read."),
			 errhint("CALL it again when nobody changes definitions.")));
}

/*
 * Analyze the query that builds where the rows are, if there is one.  Contributions of a unit are
 * bounded over all servers, so its rows must come here.
 */
static void
analyze_parts(const RaceLedger *ledger, RaceReleasePlan *plan)
{
	const RaceDataset *dataset = plan->dataset;
	RaceReleasePlan again = *plan; /* of which the query alone is kept */
	bool labels = plan->request.label != NULL;
	List *parts;
	Query *query;

	if (dataset->unit_column != NULL || plan->request.weight != NULL || RaceLabelsArePrivate(plan))
		return;
	parts = race_parts_of(dataset->relation, labels);
	if (parts == NIL)
		return;
	again.calls.functions = NIL;
	query = analyze_template(ledger, &again, plan->request.label,
							 parts_text(ledger, plan, parts, labels));
	/* a row of a partition is of another type, for which there may be another function */
	if (!race_calls_within(&again.calls, &plan->calls))
		return;
	plan->of_partitions = linitial_oid(parts) != dataset->relation;
	plan->parts_query = query;
	race_read_check(plan, plan->parts_query, plan->of_partitions);
}

/*
 * Analyze the query of a release that is calibrated: sketches of what the sketches say of each
 * record.
 */
static void
analyze_scores(const RaceLedger *ledger, RaceReleasePlan *plan)
{
	RaceReleasePlan again = *plan; /* the expressions call the same functions again */
	static const BuildText scores[] = {
		{false, "race_build($6, ARRAY[" RACE_SCHEMA "._race_score_of($7, kept.x)])"},
		{true,
		 "_race_build_weighted($6, ARRAY[" RACE_SCHEMA
		 "._race_score_of($7, kept.x)], kept.weight, $10, $12)"}};
	ArrayType *labels = DatumGetArrayTypeP(plan->labels);
	uint64 n = ArrayGetNItems(ARR_NDIM(labels), ARR_DIMS(labels));

	/*
	 * All private sketches or moments are in one array while records are scored, and models beside
	 * their counters.  After the charge it would be too late to say that they do not fit.
	 */
	if (RaceCounters(plan->params) * sizeof(int64) > MaxAllocSize / 4 / n)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("sketches of so many labels are too large to be calibrated")));
	again.calls.functions = NIL;
	plan->scores_query =
		analyze_template(ledger, &again, plan->request.label,
						 template_text(ledger, plan, &scores[plan->request.weight != NULL]));
	plan->scored_by = again.scored_by;
	race_read_check(plan, plan->scores_query, false);
}

/* Analyze the queries of the values that the release chooses. */
static void
analyze_choices(const RaceLedger *ledger, RaceReleasePlan *plan)
{
	ListCell *cell;

	foreach (cell, plan->choices)
	{
		RaceReleasePlan again = *plan;
		Query *query =
			analyze_template(ledger, &again, lfirst(cell), choice_text(plan, plan->summed > 0));

		plan->calls = again.calls;
		plan->choice_queries = lappend(plan->choice_queries, query);
		again.probes = plan->probes;
		race_read_check(plan, query, false);
		plan->probes = list_concat(again.probes, plan->probes);
	}
}

void
race_template_analyze_others(const RaceLedger *ledger, RaceReleasePlan *plan)
{
	if (plan->bounds_column != NULL)
		return;
	analyze_parts(ledger, plan);
	analyze_choices(ledger, plan);
	if (plan->request.calibrate > 0)
		analyze_scores(ledger, plan);
}
