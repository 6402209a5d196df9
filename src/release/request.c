/*
 * request.c
 *		The request of a release: its arguments, and the query that they stand for
 */
#include "postgres.h"

#include <math.h>
#include <stddef.h>

#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/analyze.h"
#include "parser/parse_coerce.h"
#include "parser/parse_node.h"
#include "parser/parse_type.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"
#include "utils/uuid.h"

#include "sketch/authority.h"
#include "sketch/domain.h"
#include "hash/moment_sums.h"
#include "privacy/noise.h"
#include "sketch/params.h"
#include "release/privatize.h"
#include "sketch/record.h"
#include "privacy/series.h"
#include "sketch/sketch_format.h"
#include "release/column_source.h"
#include "release/ledger.h"
#include "release/read.h"
#include "release/release.h"
#include "release/remote.h"
#include "release/request.h"
#include "privacy/wishart.h"
#include "choice/plan.h"
#include "hash/kind.h"
#include "hash/table.h"
#include "privacy/release_request.h"

/*
 * A release as it is asked for, and as it was checked and analyzed.
 *
 * The query that collects the records is a template of ours, analyzed under a
 * search_path of pg_catalog.  Its parameters are not values: when the parser meets
 * one, it gets the node that the parameter stands for, and for $3 to $5 that is an
 * expression of the caller's, analyzed under her own search_path at that place.  So
 * names are looked up once, each under the path that it was written for, and what
 * was checked is what is planned.
 *
 * Bad records and NULL units are left out first, then each unit keeps as many as it
 * may.  The choice is by strong random numbers: with a generator that someone can
 * seed, one person's rows would decide which rows of others are chosen.
 */

bool		(*race_release_can_fit) (const RaceParams *params);
Datum		(*race_release_fit) (Datum sketch);

/* Parameters of the template: nodes that the parser gets in their place */
enum
{
	GIVE_PARAMS = 1, GIVE_LABELS, GIVE_RECORD, GIVE_LABEL, GIVE_VALUE,
	GIVE_LOWER_BOUND, GIVE_UPPER_BOUND, GIVE_SCORES_PARAMS, GIVE_SCORED_BY, GIVE_UNIT_KEY,
	GIVE_WEIGHT, GIVE_WEIGHT_MAX, GIVE_WEIGHT_BITS, GIVE_SCORES_WEIGHT_BITS, GIVE_SPREAD
};

typedef struct Template
{
	const RaceLedger *ledger;
	const RaceAsked *asked;
	RaceChecked *checked;
	bool		in_expression;	/* of the caller's, which has no parameters but RACE_GIVE_DOMAINS */
} Template;

/* ------------------------------------------------------------- the record */

/* Raise 42804 if the expression cannot give records, as far as its type says. */
static Node *
give_record(Template *template, ParseState *pstate)
{
	const RaceAsked *asked = template->asked;
	RaceChecked *checked = template->checked;
	Node	   *record = race_analyze_expression(pstate, checked->dataset->relation, asked->expression, asked->path,
												 RACE_AS_RECORD, &checked->expression, &checked->calls);
	TupleDesc	row = get_expr_result_tupdesc(record, true);
	RaceRecordReader reader;

	race_record_prepare(&reader, exprType(record), CurrentMemoryContext);
	if (row != NULL && race_params_parts(asked->params) > 1)
		race_record_use_row(&reader, row);
	race_record_check_types(&reader, asked->params);
	return record;
}

static Node *
give_label(Template *template, ParseState *pstate)
{
	RaceChecked *checked = template->checked;

	if (template->asked->label == NULL)
		return (Node *) makeNullConst(TEXTOID, -1, DEFAULT_COLLATION_OID);
	return race_analyze_expression(pstate, checked->dataset->relation,
								   template->asked->label, template->asked->path,
								   RACE_AS_LABEL, &checked->label, &checked->calls);
}

/* Give the values of which a unit keeps different ones first; as a column they are a part of the record. */
static Node *
give_spread(Template *template, ParseState *pstate)
{
	RaceChecked *checked = template->checked;
	char	   *written;

	return race_analyze_expression(pstate, checked->dataset->relation, template->asked->spread, template->asked->path,
								   RACE_AS_LABEL, &written, &checked->calls);
}

static Node *
give_value(Template *template, ParseState *pstate)
{
	RaceChecked *checked = template->checked;

	bool		described = template->asked->described != NULL;

	return race_analyze_expression(pstate, checked->dataset->relation,
								   described ? template->asked->described : template->asked->value, template->asked->path,
								   described ? RACE_AS_RECORD : RACE_AS_VALUE, &checked->value, &checked->calls);
}

/* Raise 42804 if the weight is no number, as far as its type says. */
static Node *
give_weight(Template *template, ParseState *pstate)
{
	RaceChecked *checked = template->checked;
	Node	   *weight = race_analyze_expression(pstate, checked->dataset->relation, template->asked->weight,
												 template->asked->path, RACE_AS_RECORD, &checked->weight, &checked->calls);
	Oid			type = getBaseType(exprType(weight));

	if (TypeCategory(type) != TYPCATEGORY_NUMERIC || !race_type_is_number(type))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("weight must be a number, found %s", format_type_be(exprType(weight))),
				 errhint("Cast it, if the cast works for every row that there could be.")));
	/* a domain as its numbers; these are not cast, because a numeric can be beyond a double */
	return coerce_to_target_type(pstate, weight, exprType(weight), type, -1, COERCION_IMPLICIT, COERCE_IMPLICIT_CAST, -1);
}

static Node *
give_integer(int value)
{
	return (Node *) makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(value), false, true);
}

static Node *
give_bound(const RaceAsked *asked, int half)
{
	return (Node *) makeConst(FLOAT8OID, -1, InvalidOid, sizeof(float8),
							  Float8GetDatum(asked->bounds[half]), false, FLOAT8PASSBYVAL);
}

static Node *
give_params(const RaceLedger *ledger, Datum params)
{
	return (Node *) makeConst(ledger->params_type, -1, InvalidOid, -1, params, false, false);
}

/*
 * Give an array that is put in its place later: private sketches, when there are any.
 * Analysis may copy the node, as it does from PostgreSQL 18 on where rows are grouped.  So the location, which no text
 * has, tells it apart in the query.
 */
#define LATER_LOCATION(parameter)	(-1000 - (parameter))

static Node *
give_later(int parameter, Oid type, Oid collation)
{
	Const	   *later = makeConst(type, -1, collation, -1, (Datum) 0, true, false);

	later->location = LATER_LOCATION(parameter);
	return (Node *) later;
}

/* Find the array in a query that is put in its place later. */
static bool
find_later(Node *node, void *checked_arg)
{
	RaceChecked *checked = checked_arg;

	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, find_later, checked_arg, 0);
	if (IsA(node, Const) && ((Const *) node)->location == LATER_LOCATION(GIVE_SCORED_BY))
		checked->scored_by = (Const *) node;
	return expression_tree_walker(node, find_later, checked_arg);
}

/* Give what units of a series are hashed with: its charge, or before there is one another uuid. */
static Node *
give_unit_key(const RaceAsked *asked)
{
	static pg_uuid_t none;

	return (Node *) makeConst(UUIDOID, -1, InvalidOid, UUID_LEN,
							  asked->unit_key == 0 ? UUIDPGetDatum(&none) : asked->unit_key, false, false);
}

/* ----------------------------------------------------------- the template */

/* The parser's hook for $n */
static Node *
give_node(ParseState *pstate, ParamRef *parameter)
{
	Template   *template = (Template *) pstate->p_ref_hook_state;
	const RaceAsked *asked = template->asked;
	Node	   *node = NULL;

	/* of others, the parser says that there is none */
	if (template->in_expression)
		return asked->domains != 0 && parameter->number == RACE_GIVE_DOMAINS ?
			(Node *) makeConst(JSONBOID, -1, InvalidOid, -1, asked->domains, false, false) : NULL;
	template->in_expression = true;
	switch (parameter->number)
	{
		case GIVE_PARAMS:
			node = give_params(template->ledger, asked->params_datum);
			break;
		case GIVE_LABELS:
			node = (Node *) makeConst(TEXTARRAYOID, -1, DEFAULT_COLLATION_OID, -1,
									  asked->labels, asked->labels == 0, false);
			break;
		case GIVE_RECORD:
			node = give_record(template, pstate);
			break;
		case GIVE_LABEL:
			node = give_label(template, pstate);
			break;
		case GIVE_VALUE:
			node = give_value(template, pstate);
			break;
		case GIVE_LOWER_BOUND:
			node = give_bound(asked, RACE_LOWER);
			break;
		case GIVE_UPPER_BOUND:
			node = give_bound(asked, RACE_UPPER);
			break;
		case GIVE_SCORES_PARAMS:
			node = give_params(template->ledger, template->checked->scores_params);
			break;
		case GIVE_SCORED_BY:
			node = give_later(GIVE_SCORED_BY, get_array_type(template->ledger->sketch_type), InvalidOid);
			break;
		case GIVE_UNIT_KEY:
			node = give_unit_key(asked);
			break;
		case GIVE_WEIGHT:
			node = give_weight(template, pstate);
			break;
		case GIVE_WEIGHT_MAX:
			node = give_integer(asked->weight_max);
			break;
		case GIVE_WEIGHT_BITS:
			node = give_integer(template->checked->noise.weight_bits);
			break;
		case GIVE_SCORES_WEIGHT_BITS:
			node = give_integer(template->checked->scores_noise.weight_bits);
			break;
		case GIVE_SPREAD:
			node = give_spread(template, pstate);
			break;
	}
	template->in_expression = false;
	return node;
}

/* What a release with a value, or with weights, has more in its template, and one without in its place */
typedef struct ValueText
{
	bool		ours;			/* is the aggregate in the schema of internal objects? */
	const char *build;
	const char *records;		/* the aggregate that builds where the rows are, or NULL */
	const char *column;
	const char *condition;
} ValueText;

static const ValueText without_value[] = {
	{false, "race_build($1, kept.x)", "race_build_records", "NULL", "true"},
	{true, "_race_build_weighted($1, kept.x, kept.weight, $12, $13)", NULL, "NULL", "true"}
};
static const ValueText with_value[] = {
	{false, "race_build_value($1, kept.x, kept.value, $6, $7)", NULL, "$5", "good.value <> 'NaN'"},
	{true, "_race_build_value_weighted($1, kept.x, kept.value, $6, $7, kept.weight, $12, $13)", NULL, "$5", "good.value <> 'NaN'"}
};

static const ValueText *
value_text(const RaceAsked *asked)
{
	return &(asked->value == NULL ? without_value : with_value)[asked->weight != NULL];
}

/* The name of a relation as a query has it */
static char *
name_of(Oid relid)
{
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)),
									  get_rel_name(relid));
}

/* The rows of a value of a series */
static char *
condition_of(const RaceAsked *asked)
{
	return asked->series == 0 ? "" : psprintf(" WHERE %s", asked->condition);
}

/*
 * Of a series, the first records of a unit are kept.  Which come first is the same in all values: by time, and at the same
 * time by a hash that is another one for each unit.
 */
#define SERIES_ORDER	"good.unit, row_number() OVER (PARTITION BY good.unit ORDER BY good.at," \
	" hashtextextended(concat(good.unit, ' ', good.label, ' ', good.x::text), 0))"

/* Number the rows of a unit with the same value of a column, so that those with different ones come first. */
static char *
spread_text(const char *good)
{
	return psprintf("(SELECT found.*, row_number() OVER (PARTITION BY found.unit, found.spread) AS copy FROM %s found)", good);
}

/*
 * What each unit keeps: a subquery "kept" of so many of its rows, or of its distinct ones, and its condition; without a unit
 * all rows are kept.  Columns and the condition are of "good", which reads these values of the relation.
 */
static char *
kept_text(const RaceDataset *dataset, const RaceAsked *asked, const char *columns, const char *distinct, const char *values,
		  const char *condition)
{
	bool		by_unit = dataset->unit_column != NULL;
	bool		counted = by_unit && asked->series != 0;
	bool		spread = by_unit && !counted && asked->spread != NULL && asked->weight == NULL && dataset->max_contributions > 1;
	const char *unit = by_unit ? quote_identifier(dataset->unit_column) : "NULL";
	char	   *good = psprintf("(SELECT %s %s AS unit, %s%s%s FROM %s%s OFFSET 0)",
								by_unit ? distinct : "", counted ? psprintf(RACE_SCHEMA "._race_series_unit($10, %s::text)", unit) : unit,
								values, counted ? psprintf(", %s AS at", quote_identifier(asked->by)) : "",
								spread ? ", $15 COLLATE \"C\" AS spread" : "",
								name_of(dataset->relation), condition_of(asked));

	return psprintf("(SELECT %s, %s AS nth FROM %s good WHERE %s AND %s) kept%s"
					" WHERE kept.nth <= %d%s",
					columns,
					counted ? SERIES_ORDER : !by_unit ? "1" :
					psprintf("row_number() OVER (PARTITION BY good.unit ORDER BY %sgen_random_uuid())", spread ? "good.copy, " : ""),
					spread ? spread_text(good) : good,
					by_unit ? "good.unit IS NOT NULL" : "true", condition,
					counted ? " LEFT JOIN " RACE_EARLIER_UNITS " used ON used.unit = kept.unit" : "",
					dataset->max_contributions, counted ? " - coalesce(used.records, 0)" : "");
}

static char *
template_text(const RaceLedger *ledger, const RaceDataset *dataset, const RaceAsked *asked, const ValueText *value)
{
	const char *schema = quote_identifier(get_namespace_name(ledger->public_schema));
	const char *label = asked->choose_labels ? "CASE WHEN good.label = ANY ($2) THEN good.label ELSE '" RACE_OTHER "' END" : "good.label";
	const char *declared = asked->choose_labels ? "good.label IS NOT NULL" : "($2 IS NULL OR good.label = ANY ($2))";
	bool		labels = asked->label != NULL;

	/* cells of columns are a record of every row; without labels nothing is to be grouped, or sorted for that */
	return psprintf("SELECT %s, %s.%s%s FROM %s%s", labels ? "kept.label" : "NULL::text",
					value->ours ? RACE_SCHEMA : schema, value->build,
					dataset->unit_column != NULL && asked->series != 0 ? ", " RACE_SCHEMA "._race_series_take(kept.unit)" : "",
					kept_text(dataset, asked, psprintf("good.x, %s AS label, good.value, good.weight", label), "",
							  psprintf("$3 AS x, $4 COLLATE \"C\" AS label, %s AS value, %s AS weight", value->column,
									   asked->weight == NULL ? "NULL" : "$11"),
							  psprintf("%s AND %s AND %s",
									   asked->domains != 0 ? "good.x IS NOT NULL" : psprintf("%s.race_is_record($1, good.x)", schema),
									   value->condition, declared)),
					labels ? " GROUP BY kept.label" : "");
}

/* Of a value that is chosen, as of a category that is described */
#define MOST_BYTES_OF_VALUE		"200"

/* RACE_OTHER means the rest. */
#define MAY_BE_CHOSEN(label)	label " <> '" RACE_OTHER "' AND octet_length(" label ") <= " MOST_BYTES_OF_VALUE \
	" AND " RACE_SCHEMA "._race_is_shown(" label ", false)"

/*
 * How many persons have each value, and how many records more these have: each counts for as many values as she may have rows.
 * Where numbers of persons add up to those of records, they are of the rows that a unit keeps; else of values, so that more
 * are found.
 */
static char *
choice_text(const RaceDataset *dataset, const RaceAsked *asked, bool measured)
{
	if (measured)
		return psprintf("SELECT kept.label, %s FROM %s AND " MAY_BE_CHOSEN("kept.label") " GROUP BY kept.label",
						dataset->unit_column != NULL ? "count(DISTINCT kept.unit), count(*) - count(DISTINCT kept.unit)" : "count(*), 0::int8",
						kept_text(dataset, asked, "good.unit, good.label", "", "$4 COLLATE \"C\" AS label", "true"));
	return psprintf("SELECT kept.label, count(*), 0::int8 FROM %s GROUP BY kept.label",
					kept_text(dataset, asked, "good.label", "DISTINCT", "$4 COLLATE \"C\" AS label", MAY_BE_CHOSEN("good.label")));
}

/* The same of a dataset without a unit, from the parts of its relation, where they are */
static char *
parts_text(const RaceLedger *ledger, const RaceDataset *dataset, const RaceAsked *asked, const ValueText *value,
		   List *parts, bool labels)
{
	const char *schema = quote_identifier(get_namespace_name(ledger->public_schema));
	const char *group = labels ? " GROUP BY 1" : "";
	StringInfoData text;
	ListCell   *cell;

	initStringInfo(&text);
	foreach(cell, parts)
		appendStringInfo(&text, "%sSELECT %s AS label, %s.%s($1, %s.race_record($1, good.x)) AS sketch"
						 " FROM (SELECT $3 AS x, %s AS label FROM %s%s AS %s%s) good"
						 " WHERE %s.race_is_record($1, good.x) AND ($2 IS NULL OR good.label = ANY ($2))%s",
						 cell == list_head(parts) ? "" : " UNION ALL ",
						 labels ? "good.label" : "NULL::text", schema, value->records, schema,
						 labels ? "$4 COLLATE \"C\"" : "NULL::text",
						 lfirst_oid(cell) != dataset->relation ? "ONLY " : "", name_of(lfirst_oid(cell)),
						 quote_identifier(get_rel_name(dataset->relation)), condition_of(asked), schema, group);
	if (list_length(parts) == 1)
		return text.data;
	return psprintf("SELECT NULL::text, %s.race_merge(parts.sketch) FROM (%s) parts", schema, text.data);
}

/* The innermost SELECT of the template, which reads the relation */
static Query *
innermost(Query *query)
{
	/* bound: the depth of the template */
	while (linitial_node(RangeTblEntry, query->rtable)->rtekind == RTE_SUBQUERY)
		query = linitial_node(RangeTblEntry, query->rtable)->subquery;
	return query;
}

/*
 * Names of the template are found in the schema that the extension was created in.  Whoever
 * owns it may rename it, and may create functions there whose arguments fit better than those
 * of ours.
 */
static void
check_template(const RaceLedger *ledger, const RaceChecked *checked, Query *query)
{
	RaceCalls	calls = {NIL};
	Oid			other;

	race_calls_add(&calls, (Node *) query);
	other = race_calls_besides(&calls, ledger->extension, ledger->owner, &checked->calls);
	if (OidIsValid(other))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("function %s stands in for one of racepriv", format_procedure(other)),
				 errdetail("PostgreSQL prefers it for this record, or it has the name of one of racepriv."),
				 errhint("Drop it, and revoke CREATE on its schema from other roles.")));
}

static Query *
analyze_template(const RaceLedger *ledger, const RaceAsked *asked, RaceChecked *checked,
				 char *text)
{
	Template	template = {ledger, asked, checked, false};
	ParseState *pstate = make_parsestate(NULL);
	Query	   *query;
	int			level = NewGUCNestLevel();

	pstate->p_sourcetext = text;
	pstate->p_paramref_hook = give_node;
	pstate->p_ref_hook_state = &template;
	pstate->p_queryEnv = race_units_environment(checked->units);
	race_set_path(RACE_SAFE_PATH);
	query = transformTopLevelStmt(pstate, linitial_node(RawStmt, race_parse(text)));
	free_parsestate(pstate);
	AtEOXact_GUC(true, level);
	check_template(ledger, checked, query);
	find_later((Node *) query, checked);
	return query;
}

/* The values of a column whose bounds are wanted, but for missing ones */
static char *
bounds_text(const RaceDataset *dataset, const RaceAsked *asked)
{
	return psprintf("SELECT kept.value FROM %s",
					kept_text(dataset, asked, "good.value", "", "$5 AS value",
							  asked->described_nan ? "good.value <> 'NaN'" : "good.value IS NOT NULL"));
}

/* Analyze the query of the release, or of the values of a column whose bounds are wanted. */
static Query *
analyze_whole(const RaceLedger *ledger, const RaceAsked *asked, RaceChecked *checked)
{
	char	   *text = asked->described == NULL ? template_text(ledger, checked->dataset, asked, value_text(asked)) :
		bounds_text(checked->dataset, asked);
	Query	   *query = analyze_template(ledger, asked, checked, text);

	checked->rows = innermost(query);
	if (linitial_node(RangeTblEntry, checked->rows->rtable)->relid != checked->dataset->relation)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("relation \"%s\" was renamed meanwhile", get_rel_name(checked->dataset->relation)),
				 errdetail("Nothing was read."),
				 errhint("CALL it again when nobody changes definitions.")));
	return query;
}

/*
 * The query that builds where the rows are, if there is one.  Contributions of a unit are
 * bounded over all servers, so its rows must come here.
 */
static void
analyze_parts(const RaceLedger *ledger, const RaceAsked *asked, RaceChecked *checked)
{
	const RaceDataset *dataset = checked->dataset;
	RaceChecked again = *checked;	/* of which the query alone is kept */
	bool		labels = asked->label != NULL;
	List	   *parts;
	Query	   *query;

	if (dataset->unit_column != NULL || value_text(asked)->records == NULL || asked->choose_labels)
		return;
	parts = race_parts_of(dataset->relation, labels);
	if (parts == NIL)
		return;
	again.calls.functions = NIL;
	query = analyze_template(ledger, asked, &again,
							 parts_text(ledger, dataset, asked, value_text(asked), parts, labels));
	/* a row of a partition is of another type, for which there may be another function */
	if (!race_calls_within(&again.calls, &checked->calls))
		return;
	checked->of_partitions = linitial_oid(parts) != dataset->relation;
	checked->parts_query = query;
	race_read_check(checked, checked->parts_query, checked->of_partitions);
}

/* The query of a release that is calibrated: sketches of what the sketches say of each record */
static void
analyze_scores(const RaceLedger *ledger, const RaceAsked *asked, RaceChecked *checked)
{
	RaceChecked again = *checked;	/* the expressions call the same functions again */
	ValueText	scores[] = {
		{false, "race_build($8, ARRAY[" RACE_SCHEMA "._race_score_of($9, kept.x)])", NULL, "NULL", "true"},
		{true, "_race_build_weighted($8, ARRAY[" RACE_SCHEMA "._race_score_of($9, kept.x)], kept.weight, $12, $14)", NULL, "NULL", "true"}
	};
	ArrayType  *labels = DatumGetArrayTypeP(asked->labels);
	uint64		n = ArrayGetNItems(ARR_NDIM(labels), ARR_DIMS(labels));

	/*
	 * All private sketches or moments are in one array while records are scored, and models beside their counters.  After
	 * the charge it would be too late to say that they do not fit.
	 */
	if (RaceCounters(asked->params) * sizeof(int64) > MaxAllocSize / 4 / n)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("sketches of so many labels are too large to be calibrated")));
	again.calls.functions = NIL;
	checked->scores_query = analyze_template(ledger, asked, &again,
											 template_text(ledger, checked->dataset, asked,
														   &scores[asked->weight != NULL]));
	checked->scored_by = again.scored_by;
	race_read_check(checked, checked->scores_query, false);
}

/* The queries of the values that the release chooses */
static void
analyze_choices(const RaceLedger *ledger, const RaceAsked *asked, RaceChecked *checked)
{
	ListCell   *cell;

	foreach(cell, asked->chosen)
	{
		RaceAsked	one = *asked;
		RaceChecked again = *checked;
		Query	   *query;

		one.label = lfirst(cell);
		query = analyze_template(ledger, &one, &again, choice_text(checked->dataset, &one, checked->summed > 0));
		checked->calls = again.calls;
		checked->choices = lappend(checked->choices, query);
		again.probes = checked->probes;
		race_read_check(checked, query, false);
		checked->probes = list_concat(again.probes, checked->probes);
	}
}

/* ------------------------------------------------------------- the checks */

static void check_series_again(const RaceLedger *ledger, const RaceAsked *asked, const RaceDataset *dataset);

/* Who may read nothing of a relation learns nothing of it here. */
void
race_request_check_rights(Oid relation, Oid role)
{
	if (pg_class_aclcheck(relation, role, ACL_SELECT) != ACLCHECK_OK &&
		pg_attribute_aclcheck_all(relation, role, ACL_SELECT,
								  ACLMASK_ANY) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV, get_relkind_objtype(get_rel_relkind(relation)),
					   get_rel_name(relation));
}

/*
 * Raise 55000 unless all tables belong to the budget of the dataset.  What views are made of can change after they were
 * protected.  A table that was not among it then is not taken into the budget by a release: race_protect asks for its owner.
 */
static void
check_budget(const RaceLedger *ledger, const RaceAsked *asked, const RaceChecked *checked)
{
	Oid			type = get_array_type(REGCLASSOID);
	RaceParameter parameters[] = {
		RaceText(checked->dataset->budget),
		{type, PointerGetDatum(race_oids_array(checked->lineage->private_tables)), false},
		{type, PointerGetDatum(race_oids_array(checked->dataset->public_tables)), false}
	};
	bool		shares;
	bool		isnull;

	race_ledger_run(ledger, "SELECT _racepriv._race_find_budget($2, $3) IS NOT DISTINCT FROM $1, NOT EXISTS ("
					"SELECT FROM unnest(_racepriv._race_topmost($2)) t WHERE NOT EXISTS (SELECT FROM _racepriv._race_entries_of(ARRAY[t])))",
					lengthof(parameters), parameters);
	shares = DatumGetBool(race_ledger_value(1, &isnull));
	if (!shares || !DatumGetBool(race_ledger_value(2, &isnull)))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the tables of dataset \"%s\" are not those of its budget any more", asked->dataset),
				 /* with a table of the budget, it shares that under any name */
				 shares ? errhint("Protect its relation under another name: it shares the budget, with the tables that are new.") :
				 errhint("Define the relation as it was when it was protected. If a table was renamed after a restore, give it its name back, and CALL race_budget_adopt(%s).",
						 quote_literal_cstr(asked->dataset))));
}

/* Raise 55000 if the unit column or a public table is another one than when the dataset was protected. */
static void
check_meant(const RaceLedger *ledger, const RaceAsked *asked, const RaceDataset *dataset)
{
	RaceParameter parameters[] = {RaceText(asked->dataset), {OIDOID, ObjectIdGetDatum(dataset->relation), false}};

	race_ledger_run(ledger, "SELECT _racepriv._race_check_meant($1, $2)", lengthof(parameters), parameters);
}

#define MOST_CLASSES	100		/* that are calibrated */

/*
 * A grid of scores: numbers from 0 to 2 pairs - 1, of pairs of classes (calibration.c).  Each node has noise of its own,
 * and many pairs have few records each: so they have wider cells.
 */
static Datum
params_of_scores(const RaceAsked *asked)
{
	ArrayType  *labels = DatumGetArrayTypeP(asked->labels);
	int			n = ArrayGetNItems(ARR_NDIM(labels), ARR_DIMS(labels));
	int			cells = n == 2 ? 16 : 8;
	int			upper = n * (n - 1) - 1;

	if (n < 2 || n > MOST_CLASSES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("scores are of 2 to %d classes", MOST_CLASSES)));
	return PointerGetDatum(race_params_datum(race_params_parse(
		psprintf("l2(dims=1, bandwidth=0.2, power=4, sequence=grid, lower={0}, upper={%d}, cells={%d})",
				 upper, cells * upper), NULL)));
}

/* Let a request count weights, if that was asked for; raises 22023 if they are too large. */
static void
use_weights(const RaceAsked *asked, const RaceParams *params, RaceRequest *request)
{
	if (asked->weight != NULL && !race_request_weights(request, params, asked->weight_max))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("weight_max is too large for counters with this noise"),
				 errdetail("weight_max is %d, epsilon %g, delta %g.", asked->weight_max, asked->epsilon, asked->delta),
				 errhint("Divide the weights by a public number, and multiply answers by it.")));
}

/*
 * Return the epsilon of each value of a series, or that of a release of no levels.  Raise 22023 where no value can be private at
 * so little: delta alone allows some noise, and a part of that may suffice for no epsilon.
 */
static double
part_of_series(double epsilon, double delta, uint32 levels)
{
	double		part = levels == 0 ? epsilon : race_series_epsilon(race_checked_epsilon(epsilon), race_checked_delta(delta), levels);

	if (levels > 0 && part == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("epsilon is too small for the values of a series"),
				 errdetail("Epsilon is %g, delta %g, and values have %u lengths. Nothing was read and nothing charged.", epsilon, delta, levels),
				 delta > 0 ? errhint("Use a larger epsilon, or a delta that is far below epsilon. Were epsilon and delta swapped?") :
				 errhint("Use a larger epsilon.")));
	return part;
}

/*
 * The noise of the sketches and of the scores, which cost together no more than what was
 * asked: the first epsilon is rounded down.  Scores are few counters, which pure noise suits.
 */
static void
plan_noise(const RaceLedger *ledger, const RaceAsked *asked, RaceChecked *checked)
{
	const RaceDataset *dataset = checked->dataset;
	int			choices = list_length(asked->chosen);
	double		scores = asked->epsilon * asked->calibrate;
	int			all = 1;		/* the row of a grid, with all of its cells */
	double		left = asked->calibrate == 0 ? part_of_series(asked->epsilon, asked->delta, asked->levels) :
		nextafter(asked->epsilon - scores, 0);

	if (choices > 0)
		left = checked->choice.rest_epsilon;
	checked->noise = race_make_request(asked->params, left, choices > 0 ? checked->choice.rest_delta : asked->delta,
									   asked->choose_rows ? NULL : &asked->rows,
									   dataset->max_contributions, dataset->neighbors,
									   asked->fit);
	checked->noise.levels = asked->levels;
	checked->noise.chosen_squared = checked->choice.joint_squared;
	checked->noise.chosen_variance = checked->choice.joint_variance;
	checked->noise.zcdp = race_ledger_in_zcdp(ledger, dataset->budget);
	use_weights(asked, asked->params, &checked->noise);
	if (asked->calibrate == 0)
		return;
	checked->scores_params = params_of_scores(asked);
	checked->scores_noise = race_make_request(race_params_arg(checked->scores_params), scores, 0,
											  &all, dataset->max_contributions,
											  dataset->neighbors, false);
	use_weights(asked, race_params_arg(checked->scores_params), &checked->scores_noise);
}

/* How many numbers of persons, or of values, differ by one between neighbors */
static uint64
numbers_changed(int max_contributions, bool substitute)
{
	return (uint64) max_contributions * (substitute ? 2 : 1);
}

uint64
race_choice_measures(const RaceLedger *ledger, const RaceDataset *dataset, const List *columns, bool alone)
{
	const ListCell *cell;

	if (dataset->max_contributions == 1 || dataset->unit_column == NULL)
		return dataset->max_contributions == 1;
	foreach(cell, columns)
	{
		RaceParameter parameters[] = {
			{OIDOID, ObjectIdGetDatum(dataset->relation), false}, RaceText(dataset->unit_column), RaceText((char *) lfirst(cell))
		};
		bool		isnull;

		/* a unique index of the unit, the column, or both; the relation has no rows that it does not see */
		race_ledger_run(ledger, "SELECT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = $1 AND i.indisunique AND i.indisvalid"
						" AND i.indpred IS NULL AND NOT EXISTS (SELECT FROM unnest((i.indkey::int2[])[0:i.indnkeyatts - 1]) k (key)"
						" LEFT JOIN pg_attribute a ON a.attrelid = $1 AND a.attnum = k.key AND k.key > 0"
						" WHERE (a.attname = $2 OR quote_ident(a.attname) = $3) IS NOT TRUE))"
						" AND NOT EXISTS (SELECT FROM pg_inherits h JOIN pg_class r ON r.oid = $1 WHERE h.inhparent = $1 AND r.relkind <> 'p')",
						lengthof(parameters), parameters);
		if (!DatumGetBool(race_ledger_value(1, &isnull)))
			return alone && dataset->max_contributions <= RACE_MOST_SUMMED ? dataset->max_contributions : 0;
	}
	return 1;
}

static void
plan_threshold(const RaceLedger *ledger, const RaceAsked *asked, RaceChecked *checked)
{
	const RaceDataset *dataset = checked->dataset;
	bool		tables = asked->domains != 0;
	bool		substitute = strcmp(dataset->neighbors, "substitute") == 0;
	RaceChoiceRequest request = {
		.epsilon = asked->epsilon,
		.delta = asked->delta,
		.choices = list_length(asked->chosen),
		/* a sketch is as good as tables of its numbers, and the label's */
		.columns = asked->params->dims + !tables,
		.numbers = numbers_changed(dataset->max_contributions, substitute),
		.records = (int64) dataset->max_contributions * Max(asked->weight_max, 1),
		.substitute = substitute,
		.tables = tables
	};
	const char *hint = "Write labels => '{...}', or race_describe with categories => '{...}', if the list is public.";

	if (race_ledger_in_zcdp(ledger, dataset->budget))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a budget in zCDP cannot pay for labels or categories that are not listed"),
				 errdetail("To choose them costs a delta that rho does not cover."),
				 errhint("%s", hint)));
	if (dataset->unit_column == NULL && dataset->max_contributions > 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("labels or categories that are not listed need a dataset with a unit_column"),
				 errdetail("Those are chosen that enough persons have; with max_contributions above 1, a row is no person."),
				 errhint("%s", hint)));
	/* what counts weights or divides records by a measure counts no persons */
	if (tables && asked->weight == NULL && asked->measure == NULL)
		checked->summed = race_choice_measures(ledger, dataset, asked->chosen, asked->spread != NULL);
	request.summed = checked->summed;
	if (!race_choice_plan(&request, &checked->choice))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the noise of numbers of persons would be too large"),
				 errhint("Use a larger epsilon or delta.")));
}

static void
plan_bounds(const RaceAsked *asked, RaceChecked *checked)
{
	const RaceDataset *dataset = checked->dataset;

	if (!(asked->epsilon >= RACE_MIN_EPSILON && asked->epsilon <= RACE_MAX_EPSILON) ||
		!race_bounds_start(&checked->bounds, asked->epsilon,
						   numbers_changed(dataset->max_contributions, strcmp(dataset->neighbors, "substitute") == 0)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("bounds by noisy counts need an epsilon of a usual size"),
				 errhint("Write epsilon => 0.05, for example.")));
}

/* Let a relation stay as it is until the transaction ends; raise 42P01 if it was dropped meanwhile. */
static void
lock_relation(Oid relation)
{
	LockRelationOid(relation, AccessShareLock);
	if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relation)))
		race_refuse_dropped("a relation");
}

/* Whether an expression of another role names a type whose input runs code of a role that may not act for this one */
typedef struct TypeOfOthers
{
	Oid			role;
	Oid			found;
} TypeOfOthers;

static bool
find_type_of_others(Node *node, void *context)
{
	TypeOfOthers *others = context;

	if (node == NULL)
		return false;
	if (IsA(node, TypeName))
	{
		Oid			type = LookupTypeNameOid(NULL, (TypeName *) node, true);
		Oid			element = OidIsValid(get_element_type(type)) ? get_element_type(type) : type;
		HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(element));

		if (HeapTupleIsValid(tuple))
		{
			Form_pg_type facts = (Form_pg_type) GETSTRUCT(tuple);

			/* input of other types is in C, and checks no SQL domain */
			if (facts->typtype != TYPTYPE_BASE && facts->typtype != TYPTYPE_ENUM && !has_privs_of_role(facts->typowner, others->role))
				others->found = element;
			ReleaseSysCache(tuple);
		}
	}
	return OidIsValid(others->found) || raw_expression_tree_walker(node, find_type_of_others, context);
}

/* Raise 42501: an object in the expressions of a release that was taken over is of another role. */
static void
refuse_of_others(const RaceAsked *asked, Oid role, const char *kind, const char *name)
{
	char	   *of_role = GetUserNameFromId(role, false);

	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("release \"%s\" calls %s %s, which would run with the rights of role \"%s\"", race_cut(asked->name), kind, name, of_role),
			 errdetail("Another role wrote its expressions, and the owner of the %s can define it anew. Nothing was read and nothing charged.", kind),
			 errhint("Read its definition; then let it belong to that role: ALTER %s %s OWNER TO %s.",
					 kind[0] == 'f' ? "FUNCTION" : "TYPE", name, quote_identifier(of_role))));
}

/*
 * Where another role wrote the expressions, raise 42501 if they name a SQL domain, a row type or a range, whose input runs code
 * while constants are analyzed, of a role that has not all rights of the one that they run with.
 */
static void
check_types_taken_over(const RaceAsked *asked, const RaceChecked *checked)
{
	const char *texts[] = {asked->domains == 0 ? asked->expression : NULL, asked->label, asked->value, asked->weight};
	TypeOfOthers others = {checked->role, InvalidOid};
	int			level;

	if (!asked->taken_over)
		return;
	level = NewGUCNestLevel();
	race_set_path(asked->path);
	for (size_t i = 0; i < lengthof(texts) && !OidIsValid(others.found); i++)
		if (texts[i] != NULL)
			(void) find_type_of_others(linitial_node(RawStmt, race_parse(psprintf("SELECT %s", texts[i])))->stmt, &others);
	AtEOXact_GUC(true, level);
	if (OidIsValid(others.found))
		refuse_of_others(asked, checked->role, "type", format_type_be_qualified(others.found));
}

/* The same of functions that they call: nobody gains rights of hers by a release that she takes over. */
static void
check_calls_taken_over(const RaceLedger *ledger, const RaceAsked *asked, const RaceChecked *checked)
{
	Oid			function = asked->taken_over ? race_calls_of_others(&checked->calls, ledger->extension, checked->role) : InvalidOid;

	if (OidIsValid(function))
		refuse_of_others(asked, checked->role, "function", format_procedure_qualified(function));
}

RaceChecked *
race_request_check(const RaceLedger *ledger, const RaceAsked *asked, Oid reader)
{
	RaceChecked *checked = palloc0(sizeof(RaceChecked));
	RaceDataset *dataset = race_ledger_dataset(ledger, asked->dataset);
	RaceAuthority before;

	checked->dataset = dataset;
	lock_relation(dataset->relation);
	race_request_check_rights(dataset->relation, reader);
	/* whoever may act for the owner of the relation must not run functions of hers with rights of her own */
	checked->role = race_authority_of(reader, race_owner_of(dataset->relation));
	if (asked->described != NULL)
		plan_bounds(asked, checked);
	else
	{
		race_params_check_complete(asked->params);
		if (asked->chosen != NIL)
			plan_threshold(ledger, asked, checked);
		plan_noise(ledger, asked, checked);
	}
	race_authority_begin(&before, checked->role);
	checked->lineage = race_lineage(dataset->relation, dataset->unit_column,
									dataset->public_tables);
	check_budget(ledger, asked, checked);
	if (asked->series != 0)
		check_series_again(ledger, asked, dataset);
	if (asked->series != 0 && dataset->unit_column != NULL)
		checked->units = race_units_create();
	check_meant(ledger, asked, dataset);
	check_types_taken_over(asked, checked);
	checked->query = analyze_whole(ledger, asked, checked);
	check_calls_taken_over(ledger, asked, checked);
	race_read_check(checked, checked->query, false);
	if (asked->described == NULL)
	{
		analyze_parts(ledger, asked, checked);
		analyze_choices(ledger, asked, checked);
		if (asked->calibrate > 0)
			analyze_scores(ledger, asked, checked);
	}
	race_authority_end(&before);
	return checked;
}

double
race_checked_rho(const RaceAsked *asked, const RaceChecked *checked)
{
	double		rho;

	if (asked->described != NULL)
		return race_rho_of_pure(asked->epsilon);
	rho = race_request_rho(&checked->noise, asked->params);
	if (asked->calibrate > 0)
		rho = nextafter(rho + race_request_rho(&checked->scores_noise,
											   race_params_arg(checked->scores_params)), INFINITY);
	for (int i = 0; i < list_length(asked->chosen); i++)
		rho = race_cost_sum(rho, checked->choice.threshold.rho);
	return rho;
}

bool
race_request_same_objects(const RaceChecked *a, const RaceChecked *b)
{
	return a->dataset->relation == b->dataset->relation && a->role == b->role &&
		race_lineage_same(a->lineage, b->lineage) &&
		race_calls_same(&a->calls, &b->calls);
}

bool
race_request_same(const RaceChecked *a, const RaceChecked *b)
{
	return race_request_same_objects(a, b) &&
		equal(a->query, b->query) && equal(a->parts_query, b->parts_query) &&
		equal(a->scores_query, b->scores_query) && equal(a->choices, b->choices);
}

bool
race_request_current(const RaceChecked *checked)
{
	return race_calls_current(&checked->lineage->calls) &&
		race_calls_current(&checked->calls);
}

/*
 * What a budget holds in rho of zero-concentrated privacy, and for which units.
 */

PG_FUNCTION_INFO_V1(race_rho_limit);

/* race_rho_limit(epsilon, delta): the largest rho that they allow */
Datum
race_rho_limit(PG_FUNCTION_ARGS)
{
	double		epsilon = PG_GETARG_FLOAT8(0);
	double		delta = PG_GETARG_FLOAT8(1);

	if (!(epsilon >= RACE_MIN_EPSILON && epsilon <= RACE_MAX_EPSILON) ||
		!(delta >= RACE_MIN_DELTA && delta < 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a budget of zCDP needs epsilon between %g and %g, and delta above 0 and below 1",
						RACE_MIN_EPSILON, RACE_MAX_EPSILON)));
	PG_RETURN_FLOAT8(race_rho_allowed(epsilon, delta));
}

/* -------------------------------------------------------------- arguments */

const struct RaceArgumentFacts race_arguments[RACE_ARGUMENTS] =
{
	[RACE_ARG_NAME] = {"name", "text", TEXTOID, false, offsetof(RaceAsked, name)},
	[RACE_ARG_DATASET] = {"dataset", "text", TEXTOID, true, offsetof(RaceAsked, dataset)},
	[RACE_ARG_PARAMS] = {"params", "text", InvalidOid, true, offsetof(RaceAsked, params_datum)},
	[RACE_ARG_EXPRESSION] = {"expression", "text", TEXTOID, true, offsetof(RaceAsked, expression)},
	[RACE_ARG_EPSILON] = {"epsilon", "float8", FLOAT8OID, true, offsetof(RaceAsked, epsilon)},
	[RACE_ARG_DELTA] = {"delta", "float8", FLOAT8OID, true, offsetof(RaceAsked, delta)},
	[RACE_ARG_ROWS] = {"rows", "int", INT4OID, true, offsetof(RaceAsked, rows)},
	[RACE_ARG_LABEL] = {"label", "text", TEXTOID, true, offsetof(RaceAsked, label)},
	[RACE_ARG_LABELS] = {"labels", "text[]", TEXTARRAYOID, true, offsetof(RaceAsked, labels)},
	[RACE_ARG_GRID] = {"grid", "boolean", BOOLOID, false, offsetof(RaceAsked, grid)},
	[RACE_ARG_FIT] = {"fit", "boolean", BOOLOID, true, offsetof(RaceAsked, fit)},
	[RACE_ARG_VALUE] = {"value", "text", TEXTOID, true, offsetof(RaceAsked, value)},
	[RACE_ARG_VALUE_LOWER] = {"value_lower", "float8", FLOAT8OID, true, offsetof(RaceAsked, bounds[RACE_LOWER])},
	[RACE_ARG_VALUE_UPPER] = {"value_upper", "float8", FLOAT8OID, true, offsetof(RaceAsked, bounds[RACE_UPPER])},
	[RACE_ARG_DESCRIPTION] = {"description", "text", TEXTOID, true, offsetof(RaceAsked, description)},
	[RACE_ARG_COLUMNS] = {"columns", "text[]", TEXTARRAYOID, true, offsetof(RaceAsked, columns)},
	[RACE_ARG_COLUMN_UNITS] = {"units", "text[]", TEXTARRAYOID, true, offsetof(RaceAsked, units)},
	[RACE_ARG_CALIBRATE] = {"calibrate", "float8", FLOAT8OID, true, offsetof(RaceAsked, calibrate)},
	[RACE_ARG_SERIES] = {"series", "jsonb", JSONBOID, true, offsetof(RaceAsked, series)},
	[RACE_ARG_WEIGHT] = {"weight", "text", TEXTOID, true, offsetof(RaceAsked, weight)},
	[RACE_ARG_WEIGHT_MAX] = {"weight_max", "int", INT4OID, true, offsetof(RaceAsked, weight_max)},
	[RACE_ARG_MEASURE] = {"measure", "text", TEXTOID, true, offsetof(RaceAsked, measure)}
};

void
race_argument_set(RaceAsked *asked, RaceArgument i, Datum value, bool isnull)
{
	char	   *field = (char *) asked + race_arguments[i].field;

	if (isnull)
		return;
	asked->given |= (uint32) 1 << i;
	switch (race_arguments[i].type)
	{
		case TEXTOID:
			*(char **) field = TextDatumGetCString(value);
			break;
		case FLOAT8OID:
			*(double *) field = DatumGetFloat8(value);
			break;
		case INT4OID:
			*(int *) field = DatumGetInt32(value);
			break;
		case BOOLOID:
			*(bool *) field = DatumGetBool(value);
			break;
		default:
			*(Datum *) field = PointerGetDatum(PG_DETOAST_DATUM_COPY(value));
			break;
	}
}

RaceParameter
race_argument(const RaceLedger *ledger, const RaceAsked *asked, RaceArgument i)
{
	const char *field = (const char *) asked + race_arguments[i].field;
	RaceParameter parameter = {race_arguments[i].type, (Datum) 0, !race_is_given(asked, i)};

	if (parameter.isnull)
		return parameter;
	switch (race_arguments[i].type)
	{
		case TEXTOID:
			parameter.value = CStringGetTextDatum(*(char *const *) field);
			break;
		case FLOAT8OID:
			parameter.value = Float8GetDatum(*(const double *) field);
			break;
		case INT4OID:
			parameter.value = Int32GetDatum(*(const int *) field);
			break;
		case BOOLOID:
			parameter.value = BoolGetDatum(*(const bool *) field);
			break;
		case InvalidOid:
			parameter.type = ledger->params_type;
			/* FALLTHROUGH */
		default:
			parameter.value = *(const Datum *) field;
			break;
	}
	return parameter;
}

/*
 * Return what the bound of a series depends on, as jsonb: how many records of a unit it counts, and how the column is computed
 * that says the unit, or without one, the time.
 */
static Datum
basis_of_series(const RaceLedger *ledger, const RaceDataset *dataset, Datum series)
{
	RaceParameter parameters[] = {
		{JSONBOID, series, false}, RaceText(dataset->unit_column), {JSONBOID, (Datum) 0, false},
		{INT4OID, Int32GetDatum(dataset->max_contributions), false}, RaceText(dataset->neighbors)
	};
	char	   *column = dataset->unit_column;
	bool		isnull;

	if (column == NULL)
	{
		parameters[1].isnull = true;
		race_ledger_run(ledger, "SELECT $1->>'by'", 1, parameters);
		column = race_ledger_text(1);
	}
	parameters[2].value = DirectFunctionCall1(jsonb_in, CStringGetDatum(race_column_source(dataset->relation,
																						   race_column_number(dataset->relation, column))));
	race_ledger_run(ledger, "SELECT _racepriv._race_series_basis($3, coalesce($2, $1->>'by'), $2 IS NOT NULL, $4, $5)",
					lengthof(parameters), parameters);
	return race_ledger_value(1, &isnull);
}

/*
 * Raise 55000 if what a series was made for has changed since, so that units would be counted again, and whatever its creation
 * would raise now.
 */
static void
check_series_again(const RaceLedger *ledger, const RaceAsked *asked, const RaceDataset *dataset)
{
	RaceParameter parameters[] = {
		RaceText(asked->name),
		{OIDOID, ObjectIdGetDatum(dataset->relation), false},
		{NAMEOID, dataset->unit_column == NULL ? (Datum) 0 :
		DirectFunctionCall1(namein, CStringGetDatum(dataset->unit_column)), dataset->unit_column == NULL},
		{JSONBOID, asked->series, false},
		{JSONBOID, basis_of_series(ledger, dataset, asked->series), false}
	};

	race_ledger_run(ledger, "SELECT _racepriv._race_check_series($1, $2, $3, $4, $5)", lengthof(parameters), parameters);
}

/* Check what is asked of a series, and complete it. */
static void
check_series(const RaceLedger *ledger, RaceAsked *asked)
{
	RaceDataset *dataset = race_ledger_dataset(ledger, asked->dataset);
	RaceParameter parameters[] = {
		{OIDOID, ObjectIdGetDatum(dataset->relation), false},
		{NAMEOID, dataset->unit_column == NULL ? (Datum) 0 :
		DirectFunctionCall1(namein, CStringGetDatum(dataset->unit_column)), dataset->unit_column == NULL},
		{JSONBOID, asked->series, false}
	};
	RaceParameter complete[] = {{JSONBOID, (Datum) 0, false}, {INT4OID, (Datum) 0, false}, {JSONBOID, (Datum) 0, false}};
	uint32		intervals;
	uint32		lengths;
	bool		isnull;

	race_ledger_run(ledger, "SELECT s, (s->>'intervals')::int, (s->>'lengths')::int FROM _racepriv._race_series($1, $2, $3) s",
					lengthof(parameters), parameters);
	complete[0].value = race_ledger_value(1, &isnull);
	intervals = DatumGetInt32(race_ledger_value(2, &isnull));
	lengths = DatumGetInt32(race_ledger_value(3, &isnull));
	lengths = isnull ? race_series_levels(intervals, asked->delta > 0 ? 1 : RACE_SERIES_LEAST) :
		Min(lengths, race_series_levels(intervals, 1));
	complete[1].value = Int32GetDatum(lengths);
	complete[2].value = basis_of_series(ledger, dataset, complete[0].value);
	race_ledger_run(ledger, "SELECT $1 || jsonb_build_object('lengths', $2, 'basis', $3)", lengthof(complete), complete);
	asked->series = race_ledger_value(1, &isnull);
}

bool
race_series_use(const RaceLedger *ledger, RaceAsked *asked, int version, char **closes)
{
	RaceParameter parameters[] = {
		{JSONBOID, asked->series, false}, {INT4OID, (Datum) 0, false}, {INT4OID, (Datum) 0, false}
	};
	uint32		first;
	bool		isnull;

	race_ledger_run(ledger, "SELECT ($1->>'lengths')::int", 1, parameters);
	asked->levels = DatumGetInt32(race_ledger_value(1, &isnull));
	race_series_value(version, asked->levels, &first, &asked->length);
	parameters[1].value = Int32GetDatum(first);
	parameters[2].value = Int32GetDatum(asked->length);
	/* its time, which rows are in it, whether it is over, and when; NULL after the end of the series */
	race_ledger_run(ledger, "SELECT tsrange(t.low, t.high),"
					" format('%1$I >= %2$L::%4$s AND %1$I < %3$L::%4$s', $1->>'by', t.low || t.zone, t.high || t.zone, $1->>'type'),"
					" t.closes <= statement_timestamp() AT TIME ZONE 'UTC' AND t.there, CASE WHEN t.there THEN t.closes::text END, $1->>'by'"
					" FROM (SELECT i.low, i.high, i.high + ($1->>'delay')::interval, $2 + $3 <= ($1->>'intervals')::int,"
					" CASE WHEN $1->>'type' LIKE '%with time zone' THEN '+00' ELSE '' END"
					" FROM (SELECT ($1->>'starting')::timestamp + $2 * ($1->>'every')::interval,"
					" ($1->>'starting')::timestamp + ($2 + $3) * ($1->>'every')::interval) i (low, high)) t (low, high, closes, there, zone)",
					lengthof(parameters), parameters);
	asked->during = race_ledger_value(1, &isnull);
	asked->condition = race_ledger_text(2);
	*closes = race_ledger_text(4);
	asked->by = race_ledger_text(5);
	return DatumGetBool(race_ledger_value(3, &isnull));
}

/* All private sketches of a release are in memory at once. */
#define MOST_BYTES		INT64CONST(1000000000)

/* Put the labels into the order of the parts; raises what is wrong with them. */
static void
order_labels(const RaceLedger *ledger, RaceAsked *asked)
{
	int64		bytes = (int64) (RaceCounters(asked->params) * sizeof(int64)) * RaceHalvesOf(asked);
	RaceParameter parameters[] = {
		race_argument(ledger, asked, RACE_ARG_LABEL), race_argument(ledger, asked, RACE_ARG_LABELS),
		{INT8OID, Int64GetDatum(bytes), false}, race_argument(ledger, asked, RACE_ARG_DELTA)
	};
	bool		isnull;

	race_ledger_run(ledger, "SELECT _racepriv._race_ordered_labels($1, $2, $3, $4)",
					lengthof(parameters), parameters);
	asked->labels = race_ledger_value(1, &isnull);
	if (!asked->choose_labels)
		return;
	asked->chosen = list_make1(asked->label);
	asked->most_chosen = (int) Min(RACE_MOST_CHOSEN, MOST_BYTES / bytes - 1);
}

/* As many parts are fitted by default: a fit takes up to some seconds. */
#define USUAL_FITS		32

bool
race_pure_is_better(const RaceLedger *ledger, const RaceDataset *dataset, double epsilon, double delta, uint32 levels,
					const RaceParams *params, const RaceParams *pure_params, bool densities)
{
	RaceRequest request;
	RacePlan	asked_plan;

	if (delta == 0 || race_ledger_in_zcdp(ledger, dataset->budget))
		return false;
	request = race_make_request(params, part_of_series(epsilon, delta, levels), delta, NULL,
								dataset->max_contributions, dataset->neighbors, true);
	race_check_plan(&request, params, race_largest_selection(&request, params), &asked_plan);
	return race_pure_serves(&request, params, part_of_series(epsilon, 0, levels), pure_params, densities);
}

/* With a delta: does a pure release of other parameters, or of the same, serve better than what was asked? */
static bool
pure_is_better(const RaceLedger *ledger, const RaceAsked *asked, const RaceParams *params, const RaceParams *pure_params)
{
	RaceDataset *dataset = race_ledger_dataset(ledger, asked->dataset);

	if (asked->weight != NULL)
		dataset->max_contributions = (int) Min((int64) dataset->max_contributions * asked->weight_max, INT32_MAX);
	/* to choose labels takes a delta; of a series it is told when its lengths are */
	return asked->choose_rows && (asked->series == 0) == (asked->levels == 0) && !asked->choose_labels && asked->chosen == NIL &&
		race_pure_is_better(ledger, dataset, asked->epsilon, asked->delta, asked->levels, params, pure_params,
							asked->value == NULL);
}

/*
 * Make a grid of the kernel where that is asked for, or usual: where its errors are smaller, unless the request states
 * rows, for pure privacy, and where it may spare the delta.  In three dimensions it depends on the table whether fitted
 * rows or a grid is better.
 */
static void
choose_grid(const RaceLedger *ledger, RaceAsked *asked)
{
	bool		wanted = asked->grid;
	bool		usual = asked->choose_rows && (asked->delta == 0 || asked->value != NULL ||
											   asked->params->dims <= 2 || !race_summary_kind(asked->params)->hashed);
	RaceParams *grid = wanted || (!race_is_given(asked, RACE_ARG_GRID) && usual) ? race_params_as_grid(asked->params) : NULL;
	bool		pure;

	if (wanted && grid == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a grid needs kernel l2 or l1 by itself, 1 to %d dims and finite bounds, and no transform",
						RACE_GRID_DIMS),
				 errdetail("The parameters are %s.", race_params_brief(asked->params))));
	if (grid == NULL)
		return;
	if (asked->value != NULL && race_summary_kind(asked->params)->hashed)
		race_grid_round_for_halves(grid);
	pure = pure_is_better(ledger, asked, wanted ? grid : asked->params, grid);
	if (wanted || pure || asked->delta == 0)
	{
		RaceParamsDatum *datum = race_params_datum(grid);

		asked->params_datum = PointerGetDatum(datum);
		asked->params = &datum->params;
	}
	if (pure)
		asked->delta = 0;
}

/*
 * Decide whether models are fitted.  By default a model is fitted where the parameters have bounds.  But of
 * a pair of grids, the nodes give better means than two models, which err each by itself.
 */
static void
choose_fit(RaceAsked *asked)
{
	bool		possible = race_release_can_fit(asked->params);
	int			labels = asked->chosen != NIL ? asked->most_chosen + 1 : asked->labels == 0 ? 1 :
		ArrayGetNItems(ARR_NDIM(DatumGetArrayTypeP(asked->labels)), ARR_DIMS(DatumGetArrayTypeP(asked->labels)));
	bool		usual = possible && labels * RaceHalvesOf(asked) <= USUAL_FITS && asked->series == 0 &&
		(race_summary_kind(asked->params)->hashed || asked->value == NULL);

	if (!race_is_given(asked, RACE_ARG_FIT))
		race_argument_set(asked, RACE_ARG_FIT, BoolGetDatum(usual), false);
	if (asked->fit && !possible)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("only a kernel of vectors by itself, with finite bounds, can be fitted"),
				 errdetail("The parameters are %s.", race_params_brief(asked->params))));
}

static void
check_value(const RaceAsked *asked)
{
	if (race_is_given(asked, RACE_ARG_VALUE) != race_is_given(asked, RACE_ARG_VALUE_LOWER) ||
		race_is_given(asked, RACE_ARG_VALUE) != race_is_given(asked, RACE_ARG_VALUE_UPPER))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("value, value_lower and value_upper go together"),
				 errhint("The bounds are declared, because the least and the largest value are private.")));
	if (asked->value != NULL)
		race_check_value_bounds(asked->bounds[RACE_LOWER], asked->bounds[RACE_UPPER]);
}

static void
check_weight(const RaceAsked *asked)
{
	if (race_is_given(asked, RACE_ARG_WEIGHT) != race_is_given(asked, RACE_ARG_WEIGHT_MAX))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("weight and weight_max go together"),
				 errdetail("Noise hides the largest weight, which is declared, because that of the data is private."),
				 errhint("Write weight => 'w', weight_max => 20, for example.")));
	if (race_is_given(asked, RACE_ARG_WEIGHT_MAX) && asked->weight_max < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("weight_max must be at least 1"),
				 errhint("Multiply weights that are all smaller by a public number.")));
}

static void
check_calibrate(const RaceAsked *asked)
{
	if (!race_is_given(asked, RACE_ARG_CALIBRATE))
		return;
	if (!(asked->calibrate > 0 && asked->calibrate < 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("calibrate must be a share of epsilon, above 0 and below 1")));
	if (asked->labels == 0 || asked->value != NULL ||
		!(race_summary_kind(asked->params)->densities || race_summary_kind(asked->params)->matrix))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("only sketches or moments of labels, without a value, can be calibrated")));
}

/* Raise what is wrong with texts that readers are shown. */
static void
check_description(const RaceLedger *ledger, const RaceAsked *asked)
{
	RaceParameter parameters[] = {
		{INT4OID, Int32GetDatum(race_params_columns(asked->params) +
								race_is_given(asked, RACE_ARG_VALUE)), false},
		race_argument(ledger, asked, RACE_ARG_NAME), race_argument(ledger, asked, RACE_ARG_LABELS),
		race_argument(ledger, asked, RACE_ARG_DESCRIPTION),
		race_argument(ledger, asked, RACE_ARG_COLUMNS), race_argument(ledger, asked, RACE_ARG_COLUMN_UNITS)
	};

	race_ledger_run(ledger, "SELECT _racepriv._race_check_description($1, $2, $3, $4, $5, $6)",
					lengthof(parameters), parameters);
}

/*
 * rows, grid, fit and value mean nothing to moments, which are always all of themselves.  With too
 * many columns for a Wishart matrix, pure noise is Laplace noise: then sums of absolute values are
 * clipped, unless the parameters say how.
 */
static void
prepare_moments(const RaceLedger *ledger, RaceAsked *asked)
{
	if (!race_summary_kind(asked->params)->matrix)
		return;
	race_params_check_exact(asked->params);
	if (race_is_given(asked, RACE_ARG_ROWS) || race_is_given(asked, RACE_ARG_GRID) ||
		race_is_given(asked, RACE_ARG_FIT) || race_is_given(asked, RACE_ARG_VALUE))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("rows, grid, fit and value are for releases of sketches"),
				 errdetail("The parameters are %s.", race_params_brief(asked->params))));
	if (pure_is_better(ledger, asked, asked->params, asked->params))
		asked->delta = 0;
	else if (asked->params->clip == 0 && asked->delta == 0 &&
			 race_moments_columns(asked->params) > RACE_WISHART_COLUMNS)
	{
		/* params_datum is our own copy */
		((RaceParamsDatum *) DatumGetPointer(asked->params_datum))->params.clip = RACE_CLIP_ABSOLUTE;
	}
}

void
race_request_use(RaceAsked *asked, char *path)
{
	asked->params = race_params_arg(asked->params_datum);
	asked->choose_rows = !race_is_given(asked, RACE_ARG_ROWS);
	asked->choose_labels = race_is_given(asked, RACE_ARG_LABEL) && !race_is_given(asked, RACE_ARG_LABELS);
	asked->path = path;
}

/*
 * Values of a series are added up, so public facts alone say what they keep: the cells that the parameters state, or the rows
 * that are asked for.  Sums are fitted when they are asked.
 */
static void
prepare_series(const RaceLedger *ledger, RaceAsked *asked)
{
	Datum		declared;
	char	   *closes;

	if (asked->series == 0)
		return;
	if (asked->fit || race_is_given(asked, RACE_ARG_CALIBRATE))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a series can be neither fitted nor calibrated")));
	if (asked->choose_labels || asked->chosen != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a series cannot choose labels or categories"),
				 errhint("State labels, or CALL race_describe(%s, column, categories => ...).", quote_literal_cstr(asked->dataset))));
	if (asked->choose_rows && race_summary_kind(asked->params)->hashed && asked->delta == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a series of sketches without a delta needs rows"),
				 errdetail("Its values are added up, so they must have the same rows, which noisy counts must not choose."),
				 errhint("race_privacy_cost shows how many rows are good, of epsilon / 3 for a year of days.")));
	declared = asked->series;
	check_series(ledger, asked);
	(void) race_series_use(ledger, asked, 1, &closes);
	if (!race_summary_kind(asked->params)->hashed && pure_is_better(ledger, asked, asked->params, asked->params))
	{
		/* fewer lengths may be better, too */
		asked->delta = 0;
		asked->series = declared;
		check_series(ledger, asked);
		(void) race_series_use(ledger, asked, 1, &closes);
	}
	if (asked->choose_rows && race_summary_kind(asked->params)->densities)
		race_argument_set(asked, RACE_ARG_ROWS, Int32GetDatum(asked->params->rows), false);
	asked->choose_rows = !race_is_given(asked, RACE_ARG_ROWS);
}

/* Tell where epsilon and delta look swapped: legal, since delta alone allows some noise, but seldom meant. */
static void
check_order_of_costs(const RaceAsked *asked)
{
	if (asked->delta >= asked->epsilon && asked->epsilon >= RACE_MIN_EPSILON && asked->delta < 1)
		ereport(NOTICE,
				(errmsg("epsilon %g is not above delta %g", asked->epsilon, asked->delta),
				 errdetail("Delta is the probability that epsilon does not hold."),
				 errhint("They may be swapped: a usual epsilon is 1, a usual delta 1e-6.")));
}

void
race_request_prepare(const RaceLedger *ledger, RaceAsked *asked)
{
	race_request_use(asked, asked->run_path);
	check_order_of_costs(asked);
	check_weight(asked);
	prepare_moments(ledger, asked);
	if (race_summary_kind(asked->params)->selected && pure_is_better(ledger, asked, asked->params, asked->params))
		asked->delta = 0;
	check_value(asked);
	choose_grid(ledger, asked);
	order_labels(ledger, asked);
	check_calibrate(asked);
	choose_fit(asked);
	check_description(ledger, asked);
	prepare_series(ledger, asked);
}
