/*
 * snapshot_key.c
 *		Keys of snapshots: two snapshots with equal keys see the same data
 */
#include "postgres.h"

#include "storage/proc.h"
#include "utils/snapmgr.h"

#include "sketch/compat.h"
#include "sketch/snapshot_key.h"

bool
race_snapshot_key_get(RaceSnapshotKey *key)
{
	Snapshot snapshot = ActiveSnapshotSet() ? GetActiveSnapshot() : NULL;

	memset(key, 0, sizeof(RaceSnapshotKey));
	if (snapshot == NULL || snapshot->snapshot_type != SNAPSHOT_MVCC)
		return false;
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
