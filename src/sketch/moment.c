/*
 * moment.c
 *		In which all visible data are the same.
 */
#include "postgres.h"

#include "storage/proc.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "moment.h"

bool
race_moment_get(RaceMoment *moment)
{
	Snapshot	snapshot;

	if (!ActiveSnapshotSet())
		return false;
	snapshot = GetActiveSnapshot();
	if (snapshot->snapshot_type != SNAPSHOT_MVCC)
		return false;
	memset(moment, 0, sizeof(RaceMoment));
	moment->transaction = race_local_transaction();
	moment->command = snapshot->curcid;
	moment->xmin = snapshot->xmin;
	moment->xmax = snapshot->xmax;
	moment->running = snapshot->xcnt;
	moment->running_subtransactions = snapshot->subxcnt;
	return true;
}

bool
race_moment_same(const RaceMoment *a, const RaceMoment *b)
{
	return memcmp(a, b, sizeof(RaceMoment)) == 0;
}
