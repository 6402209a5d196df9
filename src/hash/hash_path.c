/*
 * hash_path.c
 *		The best vector code that the machine has
 */
#include <string.h>

#include "hash/hash_path.h"
#include "hash/philox.h"

static const RaceHashPath *const paths[] = {
	&race_hash_portable,
#ifdef RACE_HAVE_X86
	&race_hash_avx2,
	&race_hash_avx512,
#endif
};

#define PATHS (sizeof(paths) / sizeof(paths[0]))

static const RaceHashPath *chosen = NULL;

/*
 * Return the path with this name; for "auto" the best one.  NULL if the machine does not have it.
 */
static const RaceHashPath *
find_path(const char *name)
{
	bool any = strcmp(name, "auto") == 0;

	for (size_t i = PATHS; i-- > 0;)
		if ((any || strcmp(name, paths[i]->name) == 0) && paths[i]->available())
			return paths[i];
	return NULL;
}

const char *
race_hash_path_name(int i)
{
	return (size_t) i < PATHS ? paths[i]->name : NULL;
}

bool
race_hash_has(const char *name)
{
	return find_path(name) != NULL;
}

void
race_hash_force(const char *name)
{
	chosen = find_path(name);
}

const RaceHashPath *
race_hash_path(void)
{
	if (chosen == NULL)
		chosen = find_path("auto");
	return chosen;
}

void
race_philox_lanes(int64_t seed, RaceStream stream, const uint64_t *rows, uint32_t function,
				  uint32_t element, uint64_t *bits)
{
	race_hash_path()->philox((uint64_t) seed, stream, rows, function, element, bits);
}
