/*
 * settings.c
 *		Settings that a release changes, until a level of settings or the transaction ends
 */
#include "postgres.h"

#include "release/settings.h"

/* Set a setting of an extension, if it is loaded. */
static void
set_of_extension(const char *name, const char *value)
{
	if (GetConfigOption(name, true, false) != NULL)
		race_set(name, value);
}

void
race_set_uncounted(void)
{
	race_set("row_security", "off");
	race_set("track_functions", "none");
	race_set("track_counts", "off");
	set_of_extension("pg_stat_statements.track", "none");
	set_of_extension("auto_explain.log_min_duration", "-1");
}

/* Turn off messages and the log: an error is caught before it is logged. */
void
race_set_quiet(void)
{
	race_set_uncounted();
	race_set("exit_on_error", "off");
	race_set("client_min_messages", "error");
	race_set("log_min_messages", "panic");
}
