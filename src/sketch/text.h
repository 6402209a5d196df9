/*
 * text.h
 *		Texts: how long they may be, in input and in messages
 */
#ifndef RACE_TEXT_H
#define RACE_TEXT_H

#include "postgres.h"

#include "nodes/nodes.h"

/*
 * Bytes of a text that is parsed.  The longest parameters that there can be, 1 MB of
 * numbers, have a text of 4 MB.
 */
#define RACE_MAX_TEXT ((Size) 16 * 1024 * 1024)

/*
 * Check that a text is at most this long. Otherwise raise 54000, softly if there is
 * an error context. `what` names the text in the message.
 */
extern bool race_check_text(const char *text, Size most, const char *what, Node *escontext);

/* Return a text for a message: its beginning, and dots, if it is longer than 64 bytes. */
extern const char *race_cut(const char *text);

#endif
