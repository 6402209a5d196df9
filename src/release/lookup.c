/*
 * lookup.c
 *		Look up a released value by its name
 */
#include "postgres.h"

#include "miscadmin.h"

#include "../core/server.h"
#include "lookup.h"

bool
race_named_is(const RaceNamed *named, const char *name)
{
	RaceSnapshotKey key = {0};

	return named->name != NULL && strcmp(named->name, name) == 0 &&
		named->role == GetUserId() && race_snapshot_key_get(&key) &&
		race_snapshot_key_same(&named->key, &key);
}

void
race_named_set(RaceNamed *named, const char *name, MemoryContext context)
{
	RaceSnapshotKey key = {0};

	/* without a key it will not be found again */
	named->name = race_snapshot_key_get(&key) ? MemoryContextStrdup(context, name) : NULL;
	named->role = GetUserId();
	named->key = key;
}

void
race_named_refuse(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("there is no release \"%s\"", race_cut(name)),
			 errhint(RACE_NAMED_HINT)));
}
