/*
 * moment.h
 *		In which all visible data are the same.
 *
 * A transaction, the commands of its own that it sees, and the others that it
 * sees.  Transactions below xmax can only end, so with equal xmax and numbers of
 * running ones the same ones run.
 */
#ifndef RACE_MOMENT_H
#define RACE_MOMENT_H

#include "postgres.h"

typedef struct RaceMoment
{
	LocalTransactionId transaction;
	CommandId	command;
	TransactionId xmin;
	TransactionId xmax;
	uint32		running;
	int32		running_subtransactions;
} RaceMoment;

/* That of the active snapshot; false where nothing tells one from the next */
extern bool race_moment_get(RaceMoment *moment);

extern bool race_moment_same(const RaceMoment *a, const RaceMoment *b);

#endif							/* RACE_MOMENT_H */
