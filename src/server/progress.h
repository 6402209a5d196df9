/*
 * progress.h
 *		How far long work is, told to the client that asked for it.
 */
#ifndef RACE_PROGRESS_H
#define RACE_PROGRESS_H

#include "postgres.h"

/* The setting racepriv.progress */
extern bool race_progress;

/*
 * Say it, if the setting is on: to the client alone, whatever client_min_messages is, and
 * never to the log, where others would see how long each step took.  What is said must not
 * depend on private data.  Do not call it with a lock that others wait for: the client may
 * not listen.
 */
extern void race_tell(const char *format,...) pg_attribute_printf(1, 2);

#endif							/* RACE_PROGRESS_H */
