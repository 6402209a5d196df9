/*
 * ticket.c
 *		race_ticket_hold, race_ticket_use: a charge serves once.
 *
 * What a transaction writes, a rollback takes back: someone who calls the steps of a
 * release by hand could store a release, look at it, roll back, and have the noise
 * drawn again for the same charge; or charge, look, and roll back both.  So the
 * right to draw is kept where no rollback reaches, in the memory of the
 * process that charged.  It is gone when it is used, when another charge is
 * made, and with the process.
 */
#include "postgres.h"

#include "access/xlog.h"
#include "fmgr.h"
#include "storage/proc.h"
#include "utils/uuid.h"

#include "../sketch/compat.h"

PG_FUNCTION_INFO_V1(race_ticket_hold);
PG_FUNCTION_INFO_V1(race_ticket_use);

static struct
{
	bool		valid;
	pg_uuid_t	charge;
	LocalTransactionId made_in;
}			ticket;

Datum
race_ticket_hold(PG_FUNCTION_ARGS)
{
	ticket.charge = *PG_GETARG_UUID_P(0);
	ticket.made_in = race_local_transaction();
	ticket.valid = true;
	PG_RETURN_VOID();
}

/*
 * Was this charge made in an earlier transaction of this process, and not used?
 * If so, its commit is on disk when this returns, whatever settings say.
 */
Datum
race_ticket_use(PG_FUNCTION_ARGS)
{
	bool		good = ticket.valid &&
		memcmp(&ticket.charge, PG_GETARG_UUID_P(0), sizeof(pg_uuid_t)) == 0 &&
		ticket.made_in != race_local_transaction();

	ticket.valid = false;
	if (good)
		XLogFlush(XactLastCommitEnd);
	PG_RETURN_BOOL(good);
}
