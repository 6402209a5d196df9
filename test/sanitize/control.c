/*
 * control.c
 *		Mistakes that the sanitizers must report, or their silence means nothing.
 *
 * Built twice: as a program, `control KIND`, and with CONTROL_IN_SERVER as the function
 * make_mistake(KIND) of a server.
 */
#ifdef CONTROL_IN_SERVER
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"
#else
#include <stdio.h>
#include <stdlib.h>
#endif

#include <limits.h>
#include <string.h>

#define LARGE 10000

static int
make_mistake(const char *kind, char *memory)
{
	/* the compiler cannot see through these */
	volatile char array[10] = {0};
	volatile char *volatile place = array;
	volatile int largest = INT_MAX;
	volatile double large = 1e300;

	if (strcmp(kind, "stack") == 0)
		return place[sizeof(array)];
	if (strcmp(kind, "heap") == 0)
	{
		place = memory;
		return place[LARGE];
	}
	if (strcmp(kind, "overflow") == 0)
		return largest + 1;
	if (strcmp(kind, "cast") == 0)
		return (int) large;
	return 0;
}

#ifdef CONTROL_IN_SERVER

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(control);

Datum
control(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(make_mistake(text_to_cstring(PG_GETARG_TEXT_PP(0)), palloc(LARGE)));
}

#else

int
main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "none";
	char *volatile memory = malloc(LARGE);
	int result;

	if (memory == NULL)
		return 2;
	result = make_mistake(kind, memory);
	if (strcmp(kind, "leak") != 0)
		free(memory);
	memory = NULL;
	printf("no mistake: %d\n", result);
	return 0;
}

#endif
