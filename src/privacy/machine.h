/*
 * machine.h
 *		Which vector code can be compiled
 */
#ifndef RACE_MACHINE_H
#define RACE_MACHINE_H

#if defined(__x86_64__) && defined(__GNUC__)
#define RACE_HAVE_X86
#endif

#endif
