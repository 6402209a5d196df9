/*
 * settings.h
 *		Settings for the rest of a function, between NewGUCNestLevel() and
 *		AtEOXact_GUC().
 */
#ifndef RACE_SETTINGS_H
#define RACE_SETTINGS_H

#include "postgres.h"

#include "utils/guc.h"

/* Set it whatever the caller's rights: it is we who set it, and take it back. */
static inline void
race_set(const char *name, const char *value)
{
	(void) set_config_option(name, value, PGC_SUSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
}

static inline void
race_set_path(const char *path)
{
	race_set("search_path", path);
}

/*
 * What the text of an expression depends on, so that it means the same in every
 * session
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

#endif							/* RACE_SETTINGS_H */
