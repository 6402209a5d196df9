/*
 * interrupt.c
 *		How plain C lets a user interrupt it
 */
#include "privacy/interrupt.h"

void (*race_interrupt_hook)(void) = NULL;
