/*
 * memory.c
 *		Large memory that is filled at once.
 */
#include "postgres.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

#include "memory.h"

/* Smaller memory is often there already. */
#define LARGE		((Size) 128 * 1024)
#define PAGE		((Size) 4096)	/* where pages are larger, nothing is done */

/* Have the system provide the pages.  Where it cannot, they come one by one. */
static void
provide_pages(char *memory, Size size)
{
#ifdef MADV_POPULATE_WRITE
	char	   *from = (char *) TYPEALIGN(PAGE, memory);
	char	   *to = (char *) TYPEALIGN_DOWN(PAGE, memory + size);
	int			saved = errno;

	madvise(from, to - from, MADV_POPULATE_WRITE);
	errno = saved;
#endif
}

void *
race_alloc_large(MemoryContext context, Size size)
{
	char	   *memory = MemoryContextAllocHuge(context, size);

	if (size >= LARGE)
		provide_pages(memory, size);
	return memory;
}
