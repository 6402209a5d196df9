/*
 * text.c
 *		Texts: how long they may be, in input and in messages
 */
#include "postgres.h"

#include "mb/pg_wchar.h"

#include "sketch/compat.h"
#include "sketch/text.h"

#define MAX_QUOTED 64

bool
race_check_text(const char *text, Size most, const char *what, Node *escontext)
{
	if (strnlen(text, most + 1) > most)
		ereturn(escontext, false,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the text of %s is too long", what),
				 errdetail("It can have at most %zu bytes.", most)));
	return true;
}

const char *
race_cut(const char *text)
{
	/* enough bytes to find the end of the last character */
	int n = (int) strnlen(text, 2 * MAX_QUOTED);

	if (n <= MAX_QUOTED)
		return text;
	return psprintf("%.*s...", pg_mbcliplen(text, n, MAX_QUOTED), text);
}
