/*
 * progress.c
 *		Interrupts, and messages of how far long work is
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/guc.h"

#include "sketch/progress.h"

void
race_check_for_interrupts(void)
{
	CHECK_FOR_INTERRUPTS();
}

bool race_progress = false;

void
race_tell(const char *format, ...)
{
	char text[1024];
	va_list arguments;
	int level;

	if (!race_progress)
		return;
	va_start(arguments, format);
	(void) vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	text[pg_mbcliplen(text, strlen(text), sizeof(text) - 1)] = '\0';

	level = NewGUCNestLevel();
	(void) set_config_option("log_min_messages", "panic", PGC_SUSET, PGC_S_SESSION, GUC_ACTION_SAVE,
							 true, 0, false);
	ereport(INFO, (errmsg_internal("%s", text)));
	AtEOXact_GUC(false, level);
}
