/*
 * unpacked.h
 *		Packed counters, unpacked once: for a statement, and for the next.
 *
 * Unpacking a sketch of a million counters takes a thousand times as long as asking it a
 * question.
 */
#ifndef RACE_UNPACKED_H
#define RACE_UNPACKED_H

#include "sketch.h"

/* Unpack the counters of a view, if it has packed ones only. Damaged ones are an error. */
extern void race_view_unpack(RaceView *view, MemoryContext context);

/* Raise XX001 for a problem of race_unpack(), unless it is NULL. */
extern void race_check_unpacked(const char *problem);

/* The same; the counters stay valid until the next call with this site. */
extern void race_unpack_at(RaceCallSite *site, RaceView *view);

#endif							/* RACE_UNPACKED_H */
