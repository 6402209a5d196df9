/*
 * settings.c
 *		Settings that answers must not depend on
 */
#include "postgres.h"

#include "utils/guc.h"

#include "sketch/settings.h"

/* Settings that the texts of values, or how texts and statements are read, depend on */
static const struct
{
	const char *name;
	const char *value;
} fixed_settings[] = {
	{"array_nulls", "on"},
	{"bytea_output", "hex"},
	{"DateStyle", "ISO, YMD"},
	{"extra_float_digits", "1"},
	{"IntervalStyle", "postgres"},
	{"quote_all_identifiers", "off"},
	{"standard_conforming_strings", "on"},
	{"TimeZone", "UTC"},
	{"timezone_abbreviations", "Default"},
	{"transform_null_equals", "off"},
	{"xmloption", "content"},
};

int
race_settings_fix(void)
{
	int level = NewGUCNestLevel();

	for (size_t i = 0; i < lengthof(fixed_settings); i++)
	{
		const char *present = GetConfigOption(fixed_settings[i].name, false, false);

		if (strcmp(present, fixed_settings[i].value) != 0)
			(void) set_config_option(fixed_settings[i].name, fixed_settings[i].value, PGC_USERSET,
									 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	}
	return level;
}

void
race_settings_restore(int level)
{
	AtEOXact_GUC(true, level);
}
