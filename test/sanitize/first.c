/*
 * first.c
 *		Allocates before any other library does.
 *
 * AddressSanitizer sets itself up at the first call of malloc, and asks for the text of
 * an error while it does.  PostgreSQL is linked with a library whose constructor calls
 * malloc while gettext holds its lock, and waits for itself then.  This library is
 * preloaded too, and linked so that its constructor runs first.
 */
#include <stdlib.h>

__attribute__((constructor)) static void
allocate_first(void)
{
	void *volatile memory = malloc(1);

	free(memory);
}
