/*
 * mutable.c
 *		Functions that are not IMMUTABLE, by name, and what to write instead
 */
#include "postgres.h"

#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
#include "nodes/primnodes.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"

#include "release/mutable.h"

#define A_CONSTANT "Write a constant, as in date '2026-01-01'."
#define TIME_ZONE \
	"It depends on the time zone of the session: fix that, as in (x AT TIME ZONE 'UTC')::date."
#define PARTS \
	"It depends on settings of the session: take parts instead, as in extract(year FROM x)."

/* Return whether a type is among the arguments or the result of a function. */
static bool
involves_type(Oid function, Oid type)
{
	Oid *arguments;
	int n;
	Oid result = get_func_signature(function, &arguments, &n);

	for (int i = 0; i < n; i++)
		if (arguments[i] == type)
			return true;
	return result == type;
}

/* Return what to write instead of a function of PostgreSQL's own. */
static const char *
instead_of(Oid function)
{
	static const struct
	{
		const char *name;
		const char *instead;
	} known[] = {
		{"now", A_CONSTANT},
		{"statement_timestamp", A_CONSTANT},
		{"transaction_timestamp", A_CONSTANT},
		{"clock_timestamp", A_CONSTANT},
		{"timeofday", A_CONSTANT},
		{"concat", "Write ||, as in a || coalesce(b, '')."},
		{"concat_ws", "Write ||, as in a || ' ' || coalesce(b, '')."},
		{"format", "Write ||, as in a || ' ' || coalesce(b, '')."},
		{"enum_out", "Values of an enum can be renamed: write CASE x WHEN 'a' THEN 'a' END."},
		{"date_out", PARTS},
		{"timestamp_out", PARTS},
		{"interval_out", PARTS},
		{"to_char", PARTS},
		{"random", "Each record must follow from its row alone, without random numbers."},
		{"gen_random_uuid", "Each record must follow from its row alone, without random numbers."}};
	char *name = get_func_name(function);

	for (size_t i = 0; i < lengthof(known) && name != NULL; i++)
		if (strcmp(name, known[i].name) == 0)
			return known[i].instead;
	if (involves_type(function, TIMESTAMPTZOID) || involves_type(function, TIMETZOID))
		return TIME_ZONE;
	return "Write it by functions that depend on their arguments alone.";
}

RaceMutable
race_mutable_function(Oid function)
{
	RaceMutable found = {0};

	if (func_volatile(function) == PROVOLATILE_IMMUTABLE)
		return found;
	found.name = format_procedure(function);
	found.instead = get_func_namespace(function) == PG_CATALOG_NAMESPACE ?
		instead_of(function) :
		psprintf(
			"If it depends on its arguments alone, its owner can say so: ALTER FUNCTION %s IMMUTABLE.",
			format_procedure_qualified(function));
	return found;
}

static bool
check_function(Oid function, void *context)
{
	RaceMutable *found = context;

	*found = race_mutable_function(function);
	return found->name != NULL;
}

static bool
find_mutable(Node *node, void *context)
{
	RaceMutable *found = context;

	if (node == NULL)
		return false;
	if (check_functions_in_node(node, check_function, context))
		return true;
	switch (nodeTag(node))
	{
		case T_SQLValueFunction:
			*found = (RaceMutable){"CURRENT_DATE, CURRENT_USER or another value of the session",
								   A_CONSTANT};
			return true;
		case T_NextValueExpr:
			*found = (RaceMutable){"the next value of a sequence", "Leave it out."};
			return true;
		case T_Query:
			return query_tree_walker((Query *) node, find_mutable, context, 0);
		default:
			return expression_tree_walker(node, find_mutable, context);
	}
}

RaceMutable
race_mutable_in(Node *node)
{
	RaceMutable found = {0};

	/* of XML and JSON, functions are called that no node shows */
	if (contain_mutable_functions(node) && !find_mutable(node, &found))
		found = (RaceMutable){"a function of XML or JSON",
							  "Write it by functions that depend on their arguments alone."};
	return found;
}
