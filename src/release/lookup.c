/*
 * lookup.c
 *		Look up a released value by its name
 */
#include "postgres.h"

#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/varlena.h"

#include "../core/server.h"
#include "ledger.h"
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

const char *
race_nearest_name(const char *name, const char *const *names, uint64 n)
{
	int			length = (int) strlen(name);
	int			least = Min(length / 3 + 1, 5);
	const char *found = NULL;

	for (uint64 i = 0; i < n && length > 0 && length <= NAMEDATALEN * 2; i++)
	{
		int			distance = pg_strcasecmp(names[i], name) == 0 ? 0 :
			varstr_levenshtein_less_equal(names[i], (int) strlen(names[i]), name, length, 1, 1, 1, least, true);

		if (distance < least || (distance == least && found == NULL))
		{
			least = distance;
			found = names[i];
		}
	}
	return found;
}

/* The name of a release that the caller may see and that is most like this one; NULL if none is like it */
static const char *
nearest_release(const char *name)
{
	const char **names;

	if (SPI_execute("SELECT DISTINCT name FROM " RACE_SCHEMA ".race_releases "
					"WHERE pg_catalog.octet_length(name) OPERATOR(pg_catalog.<) 200 ORDER BY name", true, 0) != SPI_OK_SELECT)
		return NULL;
	names = palloc(SPI_processed * sizeof(char *));
	for (uint64 i = 0; i < SPI_processed; i++)
		names[i] = SPI_getvalue(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 1);
	return race_nearest_name(name, names, SPI_processed);
}

void
race_named_refuse(const char *name)
{
	const char *nearest;

	SPI_connect();
	nearest = nearest_release(name);
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("there is no release \"%s\"", race_cut(name)),
			 nearest != NULL ? errhint("Perhaps you meant \"%s\".", race_cut(nearest)) :
			 errhint("race_catalog lists the releases. " RACE_NAMED_HINT)));
}
