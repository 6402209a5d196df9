/*
 * texts.c
 *		Drawn records as text, and the values that are in them.
 */
#include "postgres.h"

#include <ctype.h>
#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/fmgroids.h"

#include "texts.h"

static void
refuse(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("the text of a point of a model does not fit its parameters")));
}

/* ------------------------------------------------------------------- vectors */

char *
race_number_text(double x, bool whole)
{
	return whole ? psprintf("%.0f", rint(x)) : float8out_internal(x);
}

char *
race_vector_text(const double *x, uint32 n, bool whole)
{
	StringInfoData text;
	uint32		i;

	initStringInfo(&text);
	for (i = 0; i < n; i++)
	{
		char	   *number = race_number_text(x[i], whole);

		appendStringInfo(&text, "%c%s", i == 0 ? '{' : ',', number);
		pfree(number);
	}
	appendStringInfoChar(&text, '}');
	return text.data;
}

/* -------------------------------------------------------------------- records */

/*
 * Read a value of a record, as record_out() writes it: in quotation marks where it must be,
 * in which they and backslashes are doubled.  Returns what follows.
 */
static const char *
read_value(const char *text, char **value)
{
	StringInfoData out;
	bool		quoted = false;

	initStringInfo(&out);
	for (; *text != '\0' && (quoted || (*text != ',' && *text != ')')); text++)
	{
		if (*text == '"' && quoted && text[1] == '"')
			appendStringInfoChar(&out, *text++);
		else if (*text == '"')
			quoted = !quoted;
		else
		{
			if (*text == '\\' && text[1] != '\0')
				text++;
			appendStringInfoChar(&out, *text);
		}
	}
	*value = out.data;
	return text;
}

char **
race_point_texts(const RaceFitted *fitted, uint64 point)
{
	int			n = race_params_parts(fitted->view.params);
	char	  **values = palloc(n * sizeof(char *));
	Size		length;
	const char *stored = race_model_text(fitted->view.model, fitted->view.params, point,
										 &length);
	const char *text = pnstrdup(stored, length);
	int			i;

	values[0] = unconstify(char *, text);
	for (i = 0; n > 1 && i < n; i++)
	{
		if (*text != (i == 0 ? '(' : ','))
			refuse();
		text = read_value(text + 1, &values[i]);
	}
	if (n > 1 && strcmp(text, ")") != 0)
		refuse();
	return values;
}

char **
race_array_texts(char *array, uint32 n)
{
	Datum		datum = OidInputFunctionCall(F_ARRAY_IN, array, TEXTOID, -1);
	char	  **values = palloc(n * sizeof(char *));
	Datum	   *elements;
	bool	   *nulls;
	int			found;
	uint32		i;

	deconstruct_array(DatumGetArrayTypeP(datum), TEXTOID, -1, false, TYPALIGN_INT,
					  &elements, &nulls, &found);
	if ((uint32) found != n)
		refuse();
	for (i = 0; i < n; i++)
		values[i] = nulls[i] ? NULL : TextDatumGetCString(elements[i]);
	return values;
}

/* Write a value of a record as record_out() does. */
static void
append_value(StringInfo out, const char *value)
{
	bool		quoted = *value == '\0' || strpbrk(value, "\"\\(), \t\n\r\v\f") != NULL;

	if (quoted)
		appendStringInfoChar(out, '"');
	for (; *value != '\0'; value++)
	{
		if (*value == '"' || *value == '\\')
			appendStringInfoChar(out, *value);
		appendStringInfoChar(out, *value);
	}
	if (quoted)
		appendStringInfoChar(out, '"');
}

char *
race_drawn_text(const RaceFitted *fitted, const RaceDrawn *drawn)
{
	int			n = race_params_parts(fitted->view.params);
	char	  **values = race_point_texts(fitted, drawn->point);
	StringInfoData out;
	int			k;

	if (n == 1)
		return values[0];
	initStringInfo(&out);
	for (k = 0; k < n; k++)
	{
		appendStringInfoChar(&out, k == 0 ? '(' : ',');
		append_value(&out, drawn->vectors[k] == NULL ? values[k] :
					 race_vector_text(drawn->vectors[k], fitted->columns[k].width, false));
	}
	appendStringInfoChar(&out, ')');
	return out.data;
}
