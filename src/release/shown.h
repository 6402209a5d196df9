/*
 * shown.h
 *		Texts that are shown to all: which characters names, labels, categories, units and
 *		descriptions may have
 */
#ifndef RACE_SHOWN_H
#define RACE_SHOWN_H

#include "postgres.h"

/*
 * Raise 22023 for a text, or a name, that is not shown as it is; `what` names it in the message.
 * NULL is no text.
 */
extern void race_check_text_shown(const char *what, const char *text, bool name);

/* Do the same for a text that may have several lines, and tabs. */
extern void race_check_lines_shown(const char *what, const char *text);

#endif
