/*
 * compat.h
 *		Where PostgreSQL 13 to 18 differ
 */
#ifndef RACE_COMPAT_H
#define RACE_COMPAT_H

#include "postgres.h"

#include "nodes/nodes.h"

#if PG_VERSION_NUM >= 160000
#include "nodes/miscnodes.h"
#include "varatt.h"
#endif

#if PG_VERSION_NUM < 180000
#define pg_noreturn pg_attribute_noreturn()
#endif

/*
 * Input functions report bad input softly from 16 on; before, a soft error is
 * an error.  escontext comes from race_escontext(fcinfo).
 */
#if PG_VERSION_NUM >= 160000
#define race_escontext(fcinfo) ((fcinfo)->context)
#else
#define race_escontext(fcinfo) NULL
#define ereturn(escontext, dummy_value, ...) \
	do \
	{ \
		(void) (escontext); \
		ereport(ERROR, __VA_ARGS__); \
		return dummy_value; \
	} while (0)
#endif

/* May the current user execute this function? */
#if PG_VERSION_NUM >= 160000
#define race_function_aclcheck(function) \
	object_aclcheck(ProcedureRelationId, function, GetUserId(), ACL_EXECUTE)
#else
#define race_function_aclcheck(function) pg_proc_aclcheck(function, GetUserId(), ACL_EXECUTE)
#endif

/* May a role act as another? */
#if PG_VERSION_NUM >= 160000
#define race_may_set_role(member, role) member_can_set_role(member, role)
#else
#define race_may_set_role(member, role) is_member_of_role(member, role)
#endif

/* The number of this backend's transaction, of those it has had (proc.h) */
#if PG_VERSION_NUM >= 170000
#define race_local_transaction() (MyProc->vxid.lxid)
#else
#define race_local_transaction() (MyProc->lxid)
#endif

#endif
