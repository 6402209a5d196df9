/*
 * oids.c
 *		Arrays of relations, regclass[], as lists, and back.
 */
#include "postgres.h"

#include "catalog/pg_type.h"

#include "oids.h"

List *
race_oids_of(ArrayType *array)
{
	Datum	   *values;
	bool	   *nulls;
	int			n;
	int			i;
	List	   *list = NIL;

	deconstruct_array(array, REGCLASSOID, sizeof(Oid), true, TYPALIGN_INT,
					  &values, &nulls, &n);
	for (i = 0; i < n; i++)
		if (!nulls[i])
			list = lappend_oid(list, DatumGetObjectId(values[i]));
	return list;
}

ArrayType *
race_oids_array(const List *oids)
{
	Datum	   *values = palloc(Max(list_length(oids), 1) * sizeof(Datum));
	int			n = 0;
	ListCell   *cell;

	foreach(cell, oids)
		values[n++] = ObjectIdGetDatum(lfirst_oid(cell));
	return construct_array(values, n, REGCLASSOID, sizeof(Oid), true, TYPALIGN_INT);
}
