/*
 * snapshot_key.c
 *		Snapshot keys.
 */
#include "postgres.h"

#include "storage/proc.h"
#include "utils/snapmgr.h"

#include "../server/compat.h"
#include "snapshot_key.h"

bool
race_snapshot_key_get(RaceSnapshotKey *key)
{
	Snapshot	snapshot;

	if (!ActiveSnapshotSet())
		return false;
	snapshot = GetActiveSnapshot();
	if (snapshot->snapshot_type != SNAPSHOT_MVCC)
		return false;
	memset(key, 0, sizeof(RaceSnapshotKey));
	key->transaction = race_local_transaction();
	key->command = snapshot->curcid;
	key->xmin = snapshot->xmin;
	key->xmax = snapshot->xmax;
	key->running = snapshot->xcnt;
	key->running_subtransactions = snapshot->subxcnt;
	return true;
}

bool
race_snapshot_key_same(const RaceSnapshotKey *a, const RaceSnapshotKey *b)
{
	return memcmp(a, b, sizeof(RaceSnapshotKey)) == 0;
}
