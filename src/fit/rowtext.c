/*
 * rowtext.c
 *		Texts of rows of categories that are made of values of others.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "miscadmin.h"

#include "rowtext.h"
#include "work.h"

/* Where an element of the text of an array ends: at a comma or bracket that is not quoted */
static const char *
end_of_element(const char *text)
{
	bool		quoted = false;

	for (; *text != '\0' && (quoted || (*text != ',' && *text != '}')); text++)
		if (*text == '"')
			quoted = !quoted;
		else if (*text == '\\' && text[1] != '\0')
			text++;
	return text;
}

bool
race_row_texts_are_arrays(char *const *texts, uint32 n, uint32 dims)
{
	uint32		i;
	uint32		j;

	for (i = 0; i < n; i++)
	{
		const char *text = strchr(texts[i], '{');

		CHECK_FOR_INTERRUPTS();
		for (j = 0; text != NULL && j < dims; j++)
			text = *text == '\0' || *text == '}' ? NULL : end_of_element(text + 1);
		if (text == NULL || strcmp(text, "}") != 0)
			return false;
	}
	return true;
}

/* Append element j of the text of an array.  Bounds, as in [0:1]={a,b}, stand before. */
static void
append_element(StringInfo out, const char *text, uint32 j)
{
	const char *start = strchr(text, '{') + 1;
	const char *end = end_of_element(start);

	while (j-- > 0)
	{
		start = end + 1;
		end = end_of_element(start);
	}
	appendBinaryStringInfo(out, start, end - start);
}

char *const *
race_row_texts(char *const *texts, const uint32 *source, uint32 n, uint32 dims)
{
	char	  **made = palloc(n * sizeof(char *));
	Size		size = 0;		/* a long text may be in many rows */
	StringInfoData text;
	uint32		i;
	uint32		j;

	initStringInfo(&text);
	for (i = 0; i < n; i++)
	{
		resetStringInfo(&text);
		for (j = 0; j < dims; j++)
		{
			CHECK_FOR_INTERRUPTS();
			appendStringInfoChar(&text, j == 0 ? '{' : ',');
			append_element(&text, texts[source[(Size) i * dims + j]], j);
		}
		appendStringInfoChar(&text, '}');
		size += text.len;
		race_fit_check_size(size);
		made[i] = pstrdup(text.data);
	}
	pfree(text.data);
	return made;
}
