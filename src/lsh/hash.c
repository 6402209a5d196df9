/*
 * hash.c
 *		From records to buckets: the choice of vector code.
 *
 * The codes of a row's functions go to one of `range` buckets, by one of two ways.
 *
 * fold: code mod range.  Neighbouring codes stay apart, so nothing needs
 * correction as long as vectors within reach of the kernel span fewer than
 * `range` codes: from range 16 on the bias is below 7.5e-4 of k for distances up
 * to range / 4 bandwidths (range 8: 9e-4, 4: 2e-3), and grows beyond, where k
 * itself is near 0.  Signs are a bit each, and have a bucket for all their values.
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

/* What vector code needs to know of a part in a block of rows */
static RaceHashBlock
block_of(const RaceRows *rows, const RaceRowsPart *part, size_t block)
{
	const RaceParams *params = part->params;
	uint32_t	first = block * RACE_LANES;
	uint32_t	range = rows->params->range;
	bool		fold = rows->params->rehash == RACE_REHASH_FOLD;
	bool		signs = params->kernel == RACE_KERNEL_ANGULAR;
	RaceHashBlock result;

	result.mode = !fold ? signs ? RACE_HASH_SUM_SIGNS : RACE_HASH_SUM_FLOORS :
		signs ? RACE_HASH_SIGNS :
		(range & (range - 1)) == 0 ? RACE_HASH_MASK : RACE_HASH_FOLD;
	result.width = params->dims;
	result.power = params->power;
	result.range = range;
	result.coefficients = race_rows_coefficient(rows, first, part->function, 0);
	result.keys = fold ? NULL :
		race_rows_key(rows, first, 1 + 2 * part->function);
	return result;
}

/* Function by function: large sets take their time, and someone may want a pause. */
static void
sum_sets_slowly(RaceHashBlock b, const RaceColumn *column, size_t n,
				uint64_t *sums, void (*pause) (void))
{
	uint32_t	power = b.power;

	for (b.power = 1; power > 0; power--)
	{
		pause();
		path()->sum_sets(&b, column, n, sums);
		b.coefficients += 2 * RACE_LANES;
		b.keys += 2 * RACE_LANES;
	}
}

/* Records whose sums stay in the nearest cache */
#define RECORDS_TOGETHER	32

/* Add the codes of all parts, times their keys, and take a bucket from the sum. */
static void
hash_by_sums(const RaceRows *rows, size_t block, const RaceColumn *columns,
			 size_t n, uint32_t *buckets, void (*pause) (void))
{
	const uint64_t *first = race_rows_key(rows, block * RACE_LANES, 0);
	uint64_t	sums[RECORDS_TOGETHER * RACE_LANES];
	size_t		i;
	int			p;

	for (i = 0; i < n; i++)
		memcpy(sums + i * RACE_LANES, first, RACE_LANES * sizeof(uint64_t));
	for (p = 0; p < rows->parts; p++)
	{
		const RaceParams *params = rows->part[p].params;
		RaceHashBlock b = block_of(rows, &rows->part[p], block);

		if (race_compares_numbers(params))
			path()->vectors(&b, &columns[p], n, sums);
		else if (!race_compares_sets(params))
			path()->sum_categories(&b, &columns[p], n, sums);
		else if (pause != NULL)
			sum_sets_slowly(b, &columns[p], n, sums, pause);
		else
			path()->sum_sets(&b, &columns[p], n, sums);
	}
	path()->reduce(rows->params->range, sums, n, buckets);
}

RaceColumn
race_column_from(const RaceColumn *column, size_t i)
{
	RaceColumn	result = *column;

	if (column->numbers != NULL)
		result.numbers += i * column->width;
	else if (column->starts != NULL)
		result.starts += i;
	else
		result.elements += i * column->width;
	return result;
}

static void
hash(const RaceRows *rows, size_t block, const RaceColumn *columns, size_t n,
	 uint32_t *buckets, void (*pause) (void))
{
	size_t		i;

	if (rows->params->rehash == RACE_REHASH_FOLD)
	{
		RaceHashBlock b = block_of(rows, &rows->part[0], block);

		path()->vectors(&b, columns, n, buckets);
		return;
	}
	for (i = 0; i < n; i += RECORDS_TOGETHER)
	{
		RaceColumn	some[RACE_MAX_PARTS];
		int			p;

		for (p = 0; p < rows->parts; p++)
			some[p] = race_column_from(&columns[p], i);
		hash_by_sums(rows, block, some,
					 n - i < RECORDS_TOGETHER ? n - i : RECORDS_TOGETHER,
					 buckets + i * RACE_LANES, pause);
	}
}

void
race_rows_hash(const RaceRows *rows, size_t block, const RaceColumn *columns,
			   size_t n, uint32_t *buckets)
{
	hash(rows, block, columns, n, buckets, NULL);
}

void
race_rows_hash_one(const RaceRows *rows, uint32_t n, const RaceColumn *columns,
				   uint32_t *buckets, void (*pause) (void))
{
	size_t		block;

	for (block = 0; block * RACE_LANES < n; block++)
		hash(rows, block, columns, 1, buckets + block * RACE_LANES, pause);
}
