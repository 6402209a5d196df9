/*
 * tap.h
 *		The few words of the Test Anything Protocol that unit tests need.
 */
#ifndef RACE_TEST_TAP_H
#define RACE_TEST_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static int tap_tests = 0;
static int tap_failures = 0;

/* One test; the rest names it, as for printf. */
__attribute__((format(printf, 2, 3))) static inline void
ok(bool good, const char *format, ...)
{
	va_list args;

	tap_tests++;
	tap_failures += !good;
	printf("%sok %d - ", good ? "" : "not ", tap_tests);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
}

/* The plan, and the exit status */
static inline int
done_testing(void)
{
	printf("1..%d\n", tap_tests);
	return tap_failures > 0;
}

#endif /* RACE_TEST_TAP_H */
