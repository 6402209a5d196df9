/*
 * actor.c
 *		race_acting_role: who answers for an act on a budget.
 *
 * A SECURITY DEFINER function cannot tell who called it: the session's role is
 * as near as it comes.  But the server runs code of others under the session's
 * name: ANALYZE, VACUUM, REINDEX and REFRESH, of a superuser or by themselves, call functions
 * in the indexes and views of any owner, and a foreign key fires the triggers of whoever
 * refers to a table.  Such code must not act as the one who set it off.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(race_acting_role);

Datum
race_acting_role(PG_FUNCTION_ARGS)
{
	Name		role = palloc0(sizeof(NameData));

	(void) fcinfo;
	if (InSecurityRestrictedOperation() || InNoForceRLSOperation())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("budgets cannot be used while the server acts for the owner of a table"),
				 errdetail("Functions of indexes and views, and triggers behind a foreign key, run in sessions of others.")));
	namestrcpy(role, GetUserNameFromId(GetOuterUserId(), false));
	PG_RETURN_NAME(role);
}
