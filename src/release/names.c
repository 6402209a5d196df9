/*
 * names.c
 *		Names of releases, tables and columns: looked up, remembered, or refused with the one that
 *		is most like it
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/varlena.h"

#include "release/names.h"
#include "sketch/snapshot_key.h"
#include "sketch/text.h"

bool
race_named_is(const RaceNamed *named, const char *name)
{
	RaceSnapshotKey key = {0};

	return named->name != NULL && strcmp(named->name, name) == 0 && named->role == GetUserId() &&
		race_snapshot_key_get(&key) && race_snapshot_key_same(&named->key, &key);
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
	int length = (int) strlen(name);
	int least = Min(length / 3 + 1, 5);
	const char *found = NULL;

	for (uint64 i = 0; i < n && length > 0 && length <= NAMEDATALEN * 2; i++)
	{
		int distance = pg_strcasecmp(names[i], name) == 0 ?
			0 :
			varstr_levenshtein_less_equal(names[i], (int) strlen(names[i]), name, length, 1, 1, 1,
										  least, true);

		if (distance < least || (distance == least && found == NULL))
		{
			least = distance;
			found = names[i];
		}
	}
	return found;
}

/*
 * Return the name that is most like this one among those that a query lists; NULL if none is like
 * it.  An error ends the connection.
 */
static const char *
nearest_listed(const char *name, const char *query)
{
	const char **names;

	SPI_connect();
	if (SPI_execute(query, true, 0) != SPI_OK_SELECT)
		return NULL;
	names = palloc(SPI_processed * sizeof(char *));
	for (uint64 i = 0; i < SPI_processed; i++)
		names[i] = SPI_getvalue(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 1);
	return race_nearest_name(name, names, SPI_processed);
}

/* Skip blanks and characters beyond ASCII. */
static const char *
skip_unseen(const char *name)
{
	/* bound: the name */
	while (*name != '\0' && (*name == ' ' || IS_HIGHBIT_SET(*name)))
		name++;
	return name;
}

/* Return whether two names are the same, apart from blanks and characters beyond ASCII. */
static bool
looks_alike(const char *a, const char *b)
{
	a = skip_unseen(a);
	b = skip_unseen(b);
	/* bound: the lengths of both names */
	while (*a == *b && *a != '\0')
	{
		a = skip_unseen(a + 1);
		b = skip_unseen(b + 1);
	}
	return *a == *b;
}

void
race_named_refuse(const char *name)
{
	const char *nearest = nearest_listed(
		name,
		"SELECT DISTINCT name FROM " RACE_SCHEMA ".race_releases "
		"WHERE pg_catalog.octet_length(name) OPERATOR(pg_catalog.<) 200 ORDER BY name");

	ereport(
		ERROR,
		(errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("there is no release \"%s\"", race_cut(name)),
		 nearest != NULL && looks_alike(name, nearest) ?
			 errdetail(
				 "It differs from the name of a release in blanks, or in characters that may not be shown.") :
			 0,
		 nearest != NULL ?
			 errhint("Perhaps you meant \"%s\".", race_cut(nearest)) :
			 SPI_processed > 0 ?
			 errhint("race_catalog lists the releases.") :
			 errhint("There is none that you may see in this database. " RACE_NAMED_HINT)));
}

Oid
race_table_named(const text *name)
{
	Oid table = RangeVarGetRelid(makeRangeVarFromNameList(textToQualifiedNameList((text *) name)),
								 NoLock, true);
	const char *nearest;

	if (OidIsValid(table))
		return table;
	nearest = nearest_listed(
		text_to_cstring(name),
		"SELECT oid::pg_catalog.regclass FROM pg_catalog.pg_class WHERE relkind::pg_catalog.text OPERATOR(pg_catalog.~) '[rpvmf]' "
		"AND pg_catalog.pg_table_is_visible(oid) AND relnamespace OPERATOR(pg_catalog.<>) 'pg_catalog'::pg_catalog.regnamespace ORDER BY 1");
	ereport(
		ERROR,
		(errcode(ERRCODE_UNDEFINED_TABLE),
		 errmsg("relation \"%s\" does not exist", race_cut(text_to_cstring(name))),
		 nearest != NULL ?
			 errhint("Perhaps you meant \"%s\".", race_cut(nearest)) :
			 errhint(
				 "A dataset is called like its table; or give both: race_protect('a name', 'the table', ...).")));
	return InvalidOid; /* not reached */
}

AttrNumber
race_column_number(Oid relation, const char *name)
{
	AttrNumber number = get_attnum(relation, name);
	const char *nearest;

	if (number > 0)
		return number;
	nearest = nearest_listed(
		name,
		psprintf(
			"SELECT attname FROM pg_catalog.pg_attribute WHERE attrelid OPERATOR(pg_catalog.=) %u"
			" AND attnum OPERATOR(pg_catalog.>) 0 AND NOT attisdropped",
			relation));
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("column \"%s\" of relation \"%s\" does not exist", race_cut(name),
					get_rel_name(relation)),
			 nearest != NULL ? errhint("Perhaps you meant \"%s\".", race_cut(nearest)) :
							   errhint("Name a column of the table.")));
	return 0; /* not reached */
}

/* ------------------------------------------------------------ lists of texts */

List *
race_texts_list(Datum array)
{
	Datum *values;
	bool *nulls;
	int n;
	List *texts = NIL;

	deconstruct_array(DatumGetArrayTypeP(array), TEXTOID, -1, false, TYPALIGN_INT, &values, &nulls,
					  &n);
	for (int i = 0; i < n; i++)
		if (!nulls[i])
			texts = lappend(texts, TextDatumGetCString(values[i]));
	return texts;
}

Datum
race_texts_array(const List *texts)
{
	Datum *values = palloc(Max(list_length(texts), 1) * sizeof(Datum));
	bool *nulls = palloc(Max(list_length(texts), 1) * sizeof(bool));
	int n = 0;
	int lower = 1;
	ListCell *cell;

	foreach (cell, texts)
	{
		nulls[n] = lfirst(cell) == NULL;
		values[n++] = lfirst(cell) == NULL ? (Datum) 0 : CStringGetTextDatum(lfirst(cell));
	}
	if (n == 0)
		return PointerGetDatum(construct_empty_array(TEXTOID));
	return PointerGetDatum(
		construct_md_array(values, nulls, 1, &n, &lower, TEXTOID, -1, false, TYPALIGN_INT));
}

int
race_texts_compare(const ListCell *a, const ListCell *b)
{
	return strcmp(lfirst(a), lfirst(b));
}

bool
race_texts_differ(const List *texts)
{
	List *sorted = list_copy(texts);
	const char *before = NULL;
	ListCell *cell;

	list_sort(sorted, race_texts_compare);
	foreach (cell, sorted)
	{
		if (before != NULL && strcmp(before, lfirst(cell)) == 0)
			return false;
		before = lfirst(cell);
	}
	return true;
}
