/*
 * progress.h
 *		Interrupts, and messages of how far long work is
 */
#ifndef RACE_PROGRESS_H
#define RACE_PROGRESS_H

#include "postgres.h"

/* Check for interrupts where plain C takes long: race_interrupt_hook (interrupt.h). */
extern void race_check_for_interrupts(void);

/* The setting racepriv.progress */
extern bool race_progress;

/*
 * Tell the client how far long work is, if the setting is on: the client alone, whatever
 * client_min_messages is, and never the log, where others would see how long each step took.
 * What is said must not depend on private data.  Do not call it with a lock that others wait
 * for: the client may not listen.
 */
extern void race_tell(const char *format, ...) pg_attribute_printf(1, 2);

#endif
