/*
 * settings.h
 *		Settings that a release changes, until a level of settings or the transaction ends
 */
#ifndef RACE_SETTINGS_H
#define RACE_SETTINGS_H

#include "postgres.h"

#include "utils/guc.h"

/* The search_path under which the extension's own statements are analyzed */
#define RACE_SAFE_PATH "pg_catalog, pg_temp"

/* Set it until the level ends, whatever the caller's rights: we take it back. */
static inline void
race_set(const char *name, const char *value)
{
	(void) set_config_option(name, value, PGC_SUSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
							 false);
}

/* Set it until the transaction ends, whatever the caller's rights. */
static inline void
race_set_local(const char *name, const char *value)
{
	(void) set_config_option(name, value, PGC_SUSET, PGC_S_SESSION, GUC_ACTION_LOCAL, true, 0,
							 false);
}

static inline void
race_set_path(const char *path)
{
	race_set("search_path", path);
}

/*
 * Fix the settings that the text of an expression depends on, so that every session writes it
 * alike.
 */
static inline void
race_set_plain(void)
{
	race_set("quote_all_identifiers", "off");
	race_set("standard_conforming_strings", "on");
	race_set("extra_float_digits", "1");
	race_set("datestyle", "ISO, YMD");
	race_set("intervalstyle", "postgres");
	race_set("bytea_output", "hex");
}

/* Count no rows, functions and statements, and let no policy of rows change a query. */
extern void race_set_uncounted(void);

/*
 * Set that nothing is logged, told or counted, while exact numbers are at hand.  The caller makes a
 * level of settings.
 */
extern void race_set_quiet(void);

#endif
