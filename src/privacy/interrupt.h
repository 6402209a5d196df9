/*
 * interrupt.h
 *		How plain C lets a user interrupt it
 */
#ifndef RACE_INTERRUPT_H
#define RACE_INTERRUPT_H

#include <stddef.h>

/*
 * What functions that take long call now and then; the extension sets it to a function that
 * looks for interrupts, and may not return.  NULL: nothing interrupts.
 */
extern void (*race_interrupt_hook)(void);

/* Bytes or elements between two calls: some milliseconds at most */
#define RACE_STEP ((size_t) 64 * 1024)

/* Let the user interrupt. */
static inline void
race_look_for_interrupts(void)
{
	if (race_interrupt_hook != NULL)
		race_interrupt_hook();
}

#endif
