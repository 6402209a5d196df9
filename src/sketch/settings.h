/*
 * settings.h
 *		Settings that answers must not depend on
 */
#ifndef RACE_SETTINGS_H
#define RACE_SETTINGS_H

#include "postgres.h"

/*
 * Set all settings that the texts of values, or how texts and statements are read, depend on, so
 * that an answer is the same in every session: dates are ISO 8601, times in UTC.  Return the level
 * to restore them from; an error restores them, too.
 */
extern int race_settings_fix(void);
extern void race_settings_restore(int level);

#endif
