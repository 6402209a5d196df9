/*
 * release_plan.c
 *		The plan of a release: what it will read, with which rights and noise, and what that
 *		costs; all of it is public
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_type.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/syscache.h"

#include "sketch/authority.h"
#include "privacy/noise.h"
#include "release/privatize.h"
#include "release/expression.h"
#include "release/ledger.h"
#include "release/read.h"
#include "release/relations.h"
#include "release/release_plan.h"
#include "release/settings.h"
#include "release/template.h"
#include "sketch/params_parse.h"
#include "sketch/params_type.h"
#include "sketch/text.h"

/*
 * Raise 42501 unless a role may read something of a relation: who may not learns nothing of it
 * here.
 */
void
race_check_may_read(Oid relation, Oid role)
{
	if (pg_class_aclcheck(relation, role, ACL_SELECT) != ACLCHECK_OK &&
		pg_attribute_aclcheck_all(relation, role, ACL_SELECT, ACLMASK_ANY) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV, get_relkind_objtype(get_rel_relkind(relation)),
					   get_rel_name(relation));
}

#define MOST_CLASSES 100 /* that are calibrated */

/*
 * Return the parameters of a grid of scores: numbers from 0 to 2 pairs - 1, of pairs of classes
 * (calibration.c).  Each node has noise of its own, and many pairs have few records each: so they
 * have wider cells.
 */
static Datum
params_of_scores(const RaceReleasePlan *plan)
{
	ArrayType *labels = DatumGetArrayTypeP(plan->labels);
	int n = ArrayGetNItems(ARR_NDIM(labels), ARR_DIMS(labels));
	int cells = n == 2 ? 16 : 8;
	int upper = n * (n - 1) - 1;

	if (n < 2 || n > MOST_CLASSES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("scores are of 2 to %d classes", MOST_CLASSES)));
	return PointerGetDatum(race_params_datum(race_params_parse(
		psprintf(
			"l2(dims=1, bandwidth=0.2, power=4, sequence=grid, lower={0}, upper={%d}, cells={%d})",
			upper, cells * upper),
		NULL)));
}

/* Let a request count weights, if that was asked for; raise 22023 if they are too large. */
static void
use_weights(const RaceReleasePlan *plan, const RaceParams *params, RaceRequest *request)
{
	if (plan->request.weight != NULL &&
		!race_request_weights(request, params, plan->request.weight_max))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("weight_max is too large for counters with this noise"),
				 errdetail("weight_max is %d, epsilon %g, delta %g.", plan->request.weight_max,
						   plan->request.epsilon, plan->request.delta),
				 errhint("Divide the weights by a public number, and multiply answers by it.")));
}

/*
 * Set the noise of the sketches and of the scores, which cost together no more than what was asked:
 * the first epsilon is rounded down.  Scores are few counters, which pure noise suits.
 */
static void
plan_noise(RaceReleasePlan *plan)
{
	const RaceDataset *dataset = plan->dataset;
	int choices = list_length(plan->choices);
	double scores = plan->request.epsilon * plan->request.calibrate;
	int all = 1; /* the row of a grid, with all of its cells */
	double left = plan->request.calibrate == 0 ?
		race_part_of_series(plan->request.epsilon, plan->request.delta, plan->interval.levels) :
		nextafter(plan->request.epsilon - scores, 0);

	if (choices > 0)
		left = plan->choice.rest_epsilon;
	plan->noise = race_make_request(
		plan->params, left, choices > 0 ? plan->choice.rest_delta : plan->request.delta,
		RaceRowsAreChosen(plan) ? NULL : &plan->request.rows, dataset->max_contributions,
		dataset->neighbors, plan->request.fit);
	plan->noise.levels = plan->interval.levels;
	plan->noise.chosen_squared = plan->choice.joint_squared;
	plan->noise.chosen_variance = plan->choice.joint_variance;
	plan->noise.zcdp = dataset->in_zcdp;
	use_weights(plan, plan->params, &plan->noise);
	if (plan->request.calibrate == 0)
		return;
	plan->scores_params = params_of_scores(plan);
	plan->scores_noise = race_make_request(race_params_arg(plan->scores_params), scores, 0, &all,
										   dataset->max_contributions, dataset->neighbors, false);
	use_weights(plan, race_params_arg(plan->scores_params), &plan->scores_noise);
}

/* Return how many numbers of persons differ by one between neighbors. */
static uint64
numbers_changed(int max_contributions, bool substitute)
{
	return (uint64) max_contributions * (substitute ? 2 : 1);
}

/*
 * Return the column of a relation that an expression names; InvalidAttrNumber for other
 * expressions.
 */
static AttrNumber
find_named_column(Relation relation, const char *expression)
{
	for (int i = 0; i < RelationGetNumberOfAttributes(relation); i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(relation), i);

		if (!attribute->attisdropped &&
			strcmp(quote_identifier(NameStr(attribute->attname)), expression) == 0)
			return i + 1;
	}
	return InvalidAttrNumber;
}

uint64
race_choice_measures(const RaceDataset *dataset, const List *columns, bool alone)
{
	Relation relation;
	AttrNumber unit;
	bool measures = true;
	const ListCell *cell;

	if (dataset->max_contributions == 1 || dataset->unit_column == NULL)
		return dataset->max_contributions == 1 ? 1 : 0;
	relation = race_relation_open(dataset->relation);
	unit = get_attnum(dataset->relation, dataset->unit_column);
	foreach (cell, columns)
		measures = measures &&
			race_is_unique_over(relation, unit, find_named_column(relation, lfirst(cell)));
	relation_close(relation, NoLock);
	if (measures)
		return 1;
	return alone && dataset->max_contributions <= RACE_MOST_SUMMED ? dataset->max_contributions : 0;
}

static void
plan_threshold(RaceReleasePlan *plan)
{
	const RaceDataset *dataset = plan->dataset;
	bool tables = plan->domains != 0;
	bool substitute = strcmp(dataset->neighbors, "substitute") == 0;
	RaceChoiceRequest request = {.epsilon = plan->request.epsilon,
								 .delta = plan->request.delta,
								 .choices = list_length(plan->choices),
								 /* a sketch is as good as tables of its numbers, and the label's */
								 .columns = plan->params->dims + !tables,
								 .numbers = numbers_changed(dataset->max_contributions, substitute),
								 .records = (uint32) Min((int64) dataset->max_contributions *
															 Max(plan->request.weight_max, 1),
														 INT32_MAX),
								 .substitute = substitute,
								 .tables = tables};
	const char *hint =
		"Write labels => '{...}', or race_describe with categories => '{...}', if the list is public.";

	if (dataset->in_zcdp)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a budget in zCDP cannot pay for labels or categories that are not listed"),
				 errdetail("To choose them costs a delta that rho does not cover."),
				 errhint("%s", hint)));
	if (dataset->unit_column == NULL && dataset->max_contributions > 1)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("labels or categories that are not listed need a dataset with a unit_column"),
			 errdetail(
				 "Those are chosen that enough persons have; with max_contributions above 1, a row is no person."),
			 errhint("%s", hint)));
	/* what counts weights or divides records by a measure counts no persons */
	if (tables && plan->request.weight == NULL && plan->request.measure == NULL)
		plan->summed = race_choice_measures(dataset, plan->choices, plan->spread != NULL);
	request.summed = plan->summed;
	if (!race_choice_plan(&request, &plan->choice))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the noise of numbers of persons would be too large"),
				 errhint("Use a larger epsilon or delta.")));
}

static void
plan_bounds(RaceReleasePlan *plan)
{
	RaceBounds bounds;

	plan->noise.epsilon = plan->request.epsilon;
	plan->noise.max_contributions = plan->dataset->max_contributions;
	plan->noise.neighbors = strcmp(plan->dataset->neighbors, "substitute") == 0 ?
		RACE_NEIGHBORS_SUBSTITUTE :
		RACE_NEIGHBORS_ADD_REMOVE;
	if (!(plan->request.epsilon >= RACE_MIN_EPSILON && plan->request.epsilon <= RACE_MAX_EPSILON) ||
		!race_bounds_start(&bounds, &plan->noise))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("bounds by noisy counts need an epsilon of a usual size"),
				 errhint("Write epsilon => 0.05, for example.")));
}

/*
 * Let a relation stay as it is until the transaction ends; raise 42P01 if it was dropped meanwhile.
 */
static void
lock_relation(Oid relation)
{
	LockRelationOid(relation, AccessShareLock);
	if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relation)))
		race_refuse_dropped("a relation");
}

/*
 * Whether an expression of another role names a type whose input runs code of a role that may not
 * act for this one
 */
typedef struct TypeOfOthers
{
	Oid role;
	Oid found;
} TypeOfOthers;

static bool
find_type_of_others(Node *node, void *context)
{
	TypeOfOthers *others = context;

	if (node == NULL)
		return false;
	if (IsA(node, TypeName))
	{
		Oid type = LookupTypeNameOid(NULL, (TypeName *) node, true);
		Oid element = OidIsValid(get_element_type(type)) ? get_element_type(type) : type;
		HeapTuple tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(element));

		if (HeapTupleIsValid(tuple))
		{
			Form_pg_type facts = (Form_pg_type) GETSTRUCT(tuple);

			/* input of other types is in C, and checks no SQL domain */
			if (facts->typtype != TYPTYPE_BASE && facts->typtype != TYPTYPE_ENUM &&
				!has_privs_of_role(facts->typowner, others->role))
				others->found = element;
			ReleaseSysCache(tuple);
		}
	}
	return OidIsValid(others->found) ||
		raw_expression_tree_walker(node, find_type_of_others, context);
}

/* Raise 42501: an object in the expressions of a release that was taken over is of another role. */
static void
refuse_of_others(const RaceReleasePlan *plan, const char *kind, const char *name)
{
	char *of_role = GetUserNameFromId(plan->role, false);

	ereport(
		ERROR,
		(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
		 errmsg("release \"%s\" calls %s %s, which would run with the rights of role \"%s\"",
				race_cut(plan->request.name), kind, name, of_role),
		 errdetail(
			 "Another role wrote its expressions; the owner of the %s can redefine it. Nothing was read and nothing charged.",
			 kind),
		 errhint("Read its definition; then let it belong to that role: ALTER %s %s OWNER TO %s.",
				 kind[0] == 'f' ? "FUNCTION" : "TYPE", name, quote_identifier(of_role))));
}

/*
 * Where another role wrote the expressions, raise 42501 if they name a SQL domain, a row type or a
 * range, whose input runs code while constants are analyzed, of a role that has not all rights of
 * the one that they run with.
 */
static void
check_types_taken_over(const RaceReleasePlan *plan)
{
	const char *texts[] = {plan->domains == 0 ? plan->request.expression : NULL,
						   plan->request.label, plan->request.weight, plan->request.where};
	TypeOfOthers others = {plan->role, InvalidOid};
	int level;

	if (!plan->taken_over)
		return;
	level = NewGUCNestLevel();
	race_set_path(plan->path);
	for (size_t i = 0; i < lengthof(texts) && !OidIsValid(others.found); i++)
		if (texts[i] != NULL)
			(void) find_type_of_others(
				linitial_node(RawStmt, race_parse(psprintf("SELECT %s", texts[i])))->stmt, &others);
	AtEOXact_GUC(true, level);
	if (OidIsValid(others.found))
		refuse_of_others(plan, "type", format_type_be_qualified(others.found));
}

/*
 * Do the same for functions that they call: nobody gains rights of hers by a release that she takes
 * over.
 */
static void
check_calls_taken_over(const RaceLedger *ledger, const RaceReleasePlan *plan)
{
	Oid function =
		plan->taken_over ? race_calls_of_others(&plan->calls, ledger, plan->role) : InvalidOid;

	if (OidIsValid(function))
		refuse_of_others(plan, "function", format_procedure_qualified(function));
}

RaceReleasePlan *
race_release_plan_again(const RaceReleasePlan *plan)
{
	return memcpy(palloc0(sizeof(RaceReleasePlan)), plan, offsetof(RaceReleasePlan, dataset));
}

void
race_release_plan_find(const RaceLedger *ledger, RaceReleasePlan *plan, RaceDataset *dataset,
					   Oid reader)
{
	RaceAuthority before;

	plan->dataset = dataset;
	lock_relation(dataset->relation);
	race_check_may_read(dataset->relation, reader);
	/*
	 * whoever may act for the owner of the relation must not run functions of hers with rights of
	 * her own
	 */
	plan->role = race_authority_of(reader, race_owner_of(dataset->relation));
	if (plan->bounds_column != NULL)
		plan_bounds(plan);
	else
	{
		race_params_check_complete(plan->params);
		if (plan->choices != NIL)
			plan_threshold(plan);
		plan_noise(plan);
	}
	race_authority_begin(&before, plan->role);
	plan->lineage = race_lineage(dataset->relation, dataset->unit_column, dataset->public_tables);
	race_dataset_check_tables(ledger, dataset, plan->lineage->private_tables);
	if (plan->request.series != 0)
		race_series_check_again(ledger, dataset, plan->request.name, plan->request.series);
	if (plan->request.series != 0 && dataset->unit_column != NULL)
		plan->units = race_units_create();
	race_dataset_check_meant(dataset);
	check_types_taken_over(plan);
	race_template_analyze(ledger, plan);
	check_calls_taken_over(ledger, plan);
	race_read_check(plan, plan->query, false);
	race_template_analyze_others(ledger, plan);
	race_authority_end(&before);
}

double
race_release_plan_rho(const RaceReleasePlan *plan)
{
	double rho;

	if (plan->bounds_column != NULL)
		return race_rho_of_pure(plan->request.epsilon);
	rho = race_request_rho(&plan->noise, plan->params);
	if (plan->request.calibrate > 0)
		rho = nextafter(
			rho + race_request_rho(&plan->scores_noise, race_params_arg(plan->scores_params)),
			INFINITY);
	for (int i = 0; i < list_length(plan->choices); i++)
		rho = race_cost_sum(rho, plan->choice.threshold.rho);
	return rho;
}

bool
race_release_plan_same_objects(const RaceReleasePlan *a, const RaceReleasePlan *b)
{
	return a->dataset->relation == b->dataset->relation && a->role == b->role &&
		race_lineage_same(a->lineage, b->lineage) && race_calls_same(&a->calls, &b->calls);
}

bool
race_release_plan_same(const RaceReleasePlan *a, const RaceReleasePlan *b)
{
	return race_release_plan_same_objects(a, b) && equal(a->query, b->query) &&
		equal(a->parts_query, b->parts_query) && equal(a->scores_query, b->scores_query) &&
		equal(a->choice_queries, b->choice_queries);
}

bool
race_release_plan_is_current(const RaceReleasePlan *plan)
{
	return race_calls_current(&plan->lineage->calls) && race_calls_current(&plan->calls);
}
