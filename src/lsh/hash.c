/*
 * hash.c
 *		From vectors to buckets: the choice of vector code.
 *
 * A row's code goes to one of `range` buckets, by one of two ways.
 *
 * fold: code mod range.  Neighbouring codes stay apart, so nothing needs
 * correction as long as vectors within reach of the kernel span fewer than
 * `range` codes: from range 16 on the bias is below 7.5e-4 of k for distances up
 * to range / 4 bandwidths (range 8: 9e-4, 4: 2e-3), and grows beyond, where k
 * itself is near 0.
 *
 * multilinear: the words w1 ... wm of the codes of all `power` functions go to
 * (k0 + sum of ki wi mod 2^64) / 2^32, which is strongly universal (Lemire &
 * Kaser 2014), and from there to bucket floor(that * range / 2^32).  Two
 * different codes meet with probability 1 / range: exactly for a power of
 * two, else within (range / 2^33)^2 of it, relatively.  Estimates correct
 * for that.
 */
#include "hash.h"

#include <string.h>

static const RaceHashPath *const paths[] = {
	&race_hash_portable,
#ifdef RACE_HAVE_X86
	&race_hash_avx2,
	&race_hash_avx512,
#endif
#ifdef RACE_HAVE_NEON
	&race_hash_neon,
#endif
};

#define PATHS	(sizeof(paths) / sizeof(paths[0]))

const char *const race_hash_paths[] = {
	"portable",
#ifdef RACE_HAVE_X86
	"avx2",
	"avx512",
#endif
#ifdef RACE_HAVE_NEON
	"neon",
#endif
	NULL
};

static const RaceHashPath *chosen = NULL;

/* The path of this name, or for "auto" the best; NULL if the machine lacks it */
static const RaceHashPath *
find_path(const char *name)
{
	bool		any = strcmp(name, "auto") == 0;
	size_t		i;

	for (i = PATHS; i-- > 0;)
		if ((any || strcmp(name, race_hash_paths[i]) == 0) &&
			paths[i]->available())
			return paths[i];
	return NULL;
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

static const RaceHashPath *
path(void)
{
	if (chosen == NULL)
		chosen = find_path("auto");
	return chosen;
}

void
race_philox_lanes(int64_t seed, RaceStream stream, const uint64_t *rows,
				  uint32_t function, uint32_t element, uint64_t *bits)
{
	path()->philox((uint64_t) seed, stream, rows, function, element, bits);
}

/* What vector code needs to know of a block of rows */
static RaceHashBlock
block_of(const RaceRows *rows, size_t block)
{
	const RaceParams *params = &rows->params;
	bool		fold = params->rehash == RACE_REHASH_FOLD;
	RaceHashBlock result;

	result.mode = !fold ? RACE_HASH_MULTILINEAR :
		(params->range & (params->range - 1)) == 0 ? RACE_HASH_MASK :
		RACE_HASH_FOLD;
	result.dims = params->dims;
	result.power = params->power;
	result.range = params->range;
	result.coefficients = race_rows_coefficient(rows, block * RACE_LANES, 0, 0);
	result.keys = fold ? NULL : race_rows_key(rows, block * RACE_LANES, 0);
	return result;
}

void
race_rows_hash(const RaceRows *rows, size_t block, const double *x, size_t n,
			   uint32_t *buckets)
{
	RaceHashBlock b = block_of(rows, block);

	path()->hash(&b, x, n, buckets);
}

void
race_rows_hash_one(const RaceRows *rows, uint32_t n, const double *x,
				   uint32_t *buckets)
{
	size_t		block;

	for (block = 0; block * RACE_LANES < n; block++)
		race_rows_hash(rows, block, x, 1, buckets + block * RACE_LANES);
}
