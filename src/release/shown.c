/*
 * shown.c
 *		Texts that are shown to all: which characters names, labels, categories, units and
 *		descriptions may have
 *
 * What is said of a release is public, and is shown by tools that others wrote: in terminals, which
 * obey control characters and turn text around, and in pages, which obey markup.  Characters that
 * are not seen make two names look alike.  Names have no other blanks than spaces, and none at
 * their ends; categories and labels are values of a table, which may have them.
 *
 * race_is_shown raises no error: values of private rows are looked at, too.
 */
#include "postgres.h"

#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "release/names.h"
#include "release/shown.h"
#include "sketch/compat.h"

PG_FUNCTION_INFO_V1(race_is_shown);
PG_FUNCTION_INFO_V1(race_check_shown);

typedef struct Range
{
	pg_wchar first;
	pg_wchar last;
} Range;

/*
 * Control characters, marks of direction, ends of lines, and what has no width or is blank without
 * being white space
 */
static const Range hidden[] = {
	{0x0001, 0x001f}, {0x007f, 0x009f}, {0x00ad, 0x00ad}, {0x034f, 0x034f},  {0x061c, 0x061c},
	{0x115f, 0x1160}, {0x17b4, 0x17b5}, {0x180b, 0x180f}, {0x200b, 0x200b},  {0x200e, 0x200f},
	{0x2028, 0x202e}, {0x2060, 0x206f}, {0x2800, 0x2800}, {0x3164, 0x3164},  {0xd800, 0xdfff},
	{0xfeff, 0xfeff}, {0xffa0, 0xffa0}, {0xfff0, 0xfffb}, {0xe0000, 0xe0fff}};

/* White space that looks like a space, or nearly */
static const Range blanks[] = {{0x00a0, 0x00a0}, {0x1680, 0x1680}, {0x2000, 0x200a},
							   {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000}};

/*
 * Joiners and selectors of variants, which change letters of some scripts and emoji: beside ASCII
 * they are not seen
 */
static const Range modifiers[] = {{0x200c, 0x200d}, {0xfe00, 0xfe0f}};

static bool
in_ranges(pg_wchar c, const Range *ranges, int n)
{
	for (int i = 0; i < n; i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	return false;
}

#define IN(c, ranges) in_ranges(c, ranges, lengthof(ranges))

/* Return whether the bytes of a character are continued as UTF-8 has it. */
static bool
is_continued(const unsigned char *s, int length, int left)
{
	if (length > left)
		return false;
	for (int i = 1; i < length; i++)
		if ((s[i] & 0xc0) != 0x80)
			return false;
	return true;
}

/*
 * Return the next character, as Unicode, and its length.  Where bytes have no encoding, those are
 * characters of UTF-8 that can be; other bytes, and what is not ASCII in other encodings, is shown:
 * their blanks and marks differ.  Control characters above ASCII are those of ISO 8859.
 */
static pg_wchar
next_character(const unsigned char *s, int left, int encoding, int *length)
{
	const pg_wchar visible = 0xfffd;
	bool iso = (encoding >= PG_LATIN1 && encoding <= PG_LATIN10) ||
		(encoding >= PG_ISO_8859_5 && encoding <= PG_ISO_8859_8);

	*length = 1;
	if (s[0] < 0x80 || (iso && s[0] < 0xa0))
		return s[0];
	if (encoding == PG_UTF8 || encoding == PG_SQL_ASCII)
	{
		*length = pg_utf_mblen(s);
		if (*length > 1 && is_continued(s, *length, left))
			return utf8_to_unicode(s);
		*length = 1;
	}
	else
		*length = Min(pg_mblen((const char *) s), left);
	return visible;
}

/* Return whether markup of a page begins here. */
static bool
begins_tag(const unsigned char *s, int left)
{
	return left >= 2 && s[0] == '<' &&
		(strchr("/!?", s[1]) != NULL || (s[1] >= 'A' && s[1] <= 'Z') ||
		 (s[1] >= 'a' && s[1] <= 'z'));
}

/* Return whether each character of a text, or of a name, is seen, and none of them obeyed. */
static bool
is_shown(const unsigned char *s, int left, bool name)
{
	int encoding = GetDatabaseEncoding();
	pg_wchar before = ' ';
	int length;

	if (name && left > 0 && (s[0] == ' ' || s[left - 1] == ' '))
		return false;
	/* bound: the text, of which each step takes a byte or more */
	for (; left > 0; s += length, left -= length)
	{
		pg_wchar c = next_character(s, left, encoding, &length);

		CHECK_FOR_INTERRUPTS();
		if (IN(c, hidden) || begins_tag(s, left))
			return false;
		if (name && (IN(c, blanks) || (IN(c, modifiers) && before < 0x80)))
			return false;
		before = c;
	}
	return true;
}

void
race_check_text_shown(const char *what, const char *text, bool name)
{
	const unsigned char *s = (const unsigned char *) text;

	if (text == NULL)
		return;
	if (!is_shown(s, (int) strlen(text), false))
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s must not contain invisible or control characters or markup", what),
			 errhint(
				 "After \"<\" there must be no letter and none of \"/\", \"!\" and \"?\". A description may have several lines.")));
	if (name && !is_shown(s, (int) strlen(text), true))
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s must not begin or end with a blank, or contain a blank that is no space",
					what),
			 errhint("Type it anew: names that look alike would be different ones.")));
}

void
race_check_lines_shown(const char *what, const char *text)
{
	char *line;
	char *to;

	if (text == NULL)
		return;
	line = to = pstrdup(text);
	/* bound: the text */
	for (; *text != '\0'; text++)
		if (*text != '\n' && *text != '\t')
			*to++ = *text;
	*to = '\0';
	race_check_text_shown(what, line, false);
}

/* Return whether a text, or a name, is shown as it is: race_is_shown(text, name). */
Datum
race_is_shown(PG_FUNCTION_ARGS)
{
	text *shown = PG_GETARG_TEXT_PP(0);

	PG_RETURN_BOOL(is_shown((const unsigned char *) VARDATA_ANY(shown), VARSIZE_ANY_EXHDR(shown),
							PG_GETARG_BOOL(1)));
}

/* Raise 22023 for texts that are not shown as they are: _race_check_shown(what, texts, names). */
Datum
race_check_shown(PG_FUNCTION_ARGS)
{
	ListCell *cell;

	foreach (cell, race_texts_list(PG_GETARG_DATUM(1)))
		race_check_text_shown(text_to_cstring(PG_GETARG_TEXT_PP(0)), lfirst(cell),
							  PG_GETARG_BOOL(2));
	PG_RETURN_VOID();
}
