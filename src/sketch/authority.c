/*
 * authority.c
 *		With whose rights code of others runs.  Nothing else changes the current user.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/guc.h"

#include "sketch/authority.h"
#include "sketch/compat.h"

Oid
race_authority_of(Oid caller, Oid owner)
{
	return has_privs_of_role(caller, owner) || race_may_set_role(caller, owner) ? owner : caller;
}

static void
begin_authority(RaceAuthority *before, Oid role, int restrictions)
{
	GetUserIdAndSecContext(&before->user, &before->context);
	SetUserIdAndSecContext(role, before->context | restrictions);
	before->level = NewGUCNestLevel();
}

void
race_authority_begin(RaceAuthority *before, Oid role)
{
	begin_authority(before, role, SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION);
}

void
race_authority_begin_own(RaceAuthority *before, Oid role)
{
	begin_authority(before, role, SECURITY_LOCAL_USERID_CHANGE);
}

void
race_authority_end(const RaceAuthority *before)
{
	AtEOXact_GUC(false, before->level);
	SetUserIdAndSecContext(before->user, before->context);
}
