/*
 * memory.h
 *		Memory for models of src/answers, which is freed all at once
 */
#ifndef RACE_TEST_MEMORY_H
#define RACE_TEST_MEMORY_H

#include <stdlib.h>
#include <string.h>

static struct
{
	void **block;
	size_t n;
	size_t capacity;
} memory_blocks;

/* A RaceAllocate, whose memory is not 0 */
static inline void *
from_memory(void *arg, size_t size)
{
	void *block = malloc(size + 1);

	(void) arg;
	if (memory_blocks.n == memory_blocks.capacity)
	{
		memory_blocks.capacity = 2 * memory_blocks.capacity + 64;
		memory_blocks.block = realloc(memory_blocks.block, memory_blocks.capacity * sizeof(void *));
	}
	if (block == NULL || memory_blocks.block == NULL)
		abort();
	memset(block, 0xa5, size);
	memory_blocks.block[memory_blocks.n++] = block;
	return block;
}

static inline void
free_memory(void)
{
	while (memory_blocks.n > 0)
		free(memory_blocks.block[--memory_blocks.n]);
	free(memory_blocks.block);
	memory_blocks.block = NULL;
	memory_blocks.capacity = 0;
}

#endif
