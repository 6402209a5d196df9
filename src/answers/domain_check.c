/*
 * domain_check.c
 *		Whether the constraints of a SQL domain hold for a value
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/expandeddatum.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "sketch/authority.h"
#include "answers/domain_check.h"

struct RaceDomainCheck
{
	DomainConstraintRef constraints;
	ExprContext *context;
	int16 length; /* typlen of values */
	Oid role;     /* role whose rights functions run with */
};

Oid
race_owner_of_type(Oid type)
{
	HeapTuple tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
	Oid owner;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for type %u", type);
	owner = ((Form_pg_type) GETSTRUCT(tuple))->typowner;
	ReleaseSysCache(tuple);
	return owner;
}

RaceDomainCheck *
race_domain_check_prepare(Oid type)
{
	RaceDomainCheck *check;
	RaceAuthority before;

	if (get_typtype(type) != TYPTYPE_DOMAIN)
		return NULL;
	check = palloc0(sizeof(RaceDomainCheck));
	check->length = get_typlen(type);
	check->role = race_authority_of(GetUserId(), race_owner_of_type(type));
	check->context = CreateStandaloneExprContext();
	/* expressions are planned, so that functions of constants are called */
	race_authority_begin(&before, check->role);
	InitDomainConstraintRef(type, &check->constraints, CurrentMemoryContext, true);
	race_authority_end(&before);
	return check->constraints.constraints == NIL ? NULL : check;
}

bool
race_domain_check(RaceDomainCheck *check, Datum value, bool isnull)
{
	RaceAuthority before;
	bool holds = true;
	ListCell *cell;

	CHECK_FOR_INTERRUPTS();
	race_authority_begin(&before, check->role);
	UpdateDomainConstraintRef(&check->constraints);
	foreach (cell, check->constraints.constraints)
	{
		DomainConstraintState *constraint = lfirst(cell);

		if (!holds)
			break;
		if (constraint->constrainttype == DOM_CONSTRAINT_NOTNULL)
		{
			holds = !isnull;
			continue;
		}
		check->context->domainValue_datum =
			MakeExpandedObjectReadOnly(value, isnull, check->length);
		check->context->domainValue_isNull = isnull;
		holds = ExecCheck(constraint->check_exprstate, check->context);
	}
	ResetExprContext(check->context);
	race_authority_end(&before);
	return holds;
}
