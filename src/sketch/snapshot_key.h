/*
 * snapshot_key.h
 *		Keys of snapshots: two snapshots with equal keys see the same data
 */
#ifndef RACE_SNAPSHOT_KEY_H
#define RACE_SNAPSHOT_KEY_H

#include "postgres.h"

#include "storage/lock.h"

/*
 * Snapshot keys: two snapshots with equal keys see the same data.
 *
 * The key holds the transaction, the commands of its own that it sees, and which other
 * transactions it sees.  Transactions below xmax can only end.  So with equal xmax and
 * equal numbers of running transactions, the same ones run.
 */

typedef struct RaceSnapshotKey
{
	LocalTransactionId transaction;
	CommandId command;
	TransactionId xmin;
	TransactionId xmax;
	uint32 running;
	int32 running_subtransactions;
} RaceSnapshotKey;

/*
 * Set the key of the active snapshot; return false, and set a key that no snapshot has, if there is
 * no such snapshot.
 */
extern bool race_snapshot_key_get(RaceSnapshotKey *key);

extern bool race_snapshot_key_same(const RaceSnapshotKey *a, const RaceSnapshotKey *b);

#endif
