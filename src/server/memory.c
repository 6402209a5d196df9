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

void *
race_alloc_large(MemoryContext context, Size size)
{
	char	   *memory = MemoryContextAllocHuge(context, size);

#ifdef MADV_POPULATE_WRITE
	if (size >= LARGE)
	{
		char	   *from = (char *) TYPEALIGN(PAGE, memory);
		char	   *to = (char *) TYPEALIGN_DOWN(PAGE, memory + size);
		int			saved = errno;

		/* where the system cannot, pages come one by one */
		madvise(from, to - from, MADV_POPULATE_WRITE);
		errno = saved;
	}
#endif
	return memory;
}
