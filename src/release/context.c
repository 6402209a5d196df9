/*
 * context.c
 *		race_check_context: where a release may be made.
 *
 * A release commits its charge before it reads anything.  Where it could not
 * commit, a rollback would refund the charge after the answer was seen.
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "executor/spi.h"
#include "fmgr.h"

PG_FUNCTION_INFO_V1(race_check_context);

/* Called by the procedure that will commit, whose SPI connection is the current one */
Datum
race_check_context(PG_FUNCTION_ARGS)
{
	(void) fcinfo;
	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("a release cannot be made during recovery"),
				 errhint("Make it on the primary server; it will appear here.")));
	if (!SPI_inside_nonatomic_context() || IsTransactionBlock())
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("a release cannot be made inside a transaction block, a function or an exception block"),
				 errdetail("Its charge must be committed before any data are read, so that no rollback refunds it."),
				 errhint("CALL it as a statement of its own.")));
	PG_RETURN_VOID();
}
