/*
 * rows_hash.c
 *		From a record to its buckets
 */
#include <string.h>

#include "privacy/interrupt.h"
#include "hash/column.h"
#include "hash/hash_path.h"
#include "hash/kernel.h"
#include "hash/loss_rows.h"
#include "hash/params.h"
#include "hash/rows.h"
#include "hash/structured.h"

/*
 * The codes of a row's functions go to one of `range` buckets, by one of two ways.
 *
 * fold: code mod range.  Neighboring codes stay apart, so nothing needs
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

/* Return what the vector code needs to know about a part, in a block of rows. */
static RaceHashBlock
block_of(const RaceRows *rows, const RaceRowsPart *part, size_t block, bool interruptible)
{
	const RaceParams *params = part->params;
	uint32_t first = block * RACE_LANES;
	uint32_t range = rows->params->range;
	bool fold = rows->params->rehash == RACE_REHASH_FOLD;
	bool signs = race_kernel_type(params->kernel)->signs;
	RaceHashBlock result;

	if (!fold)
		result.mode = signs ? RACE_HASH_SUM_SIGNS : RACE_HASH_SUM_FLOORS;
	else if (signs)
		result.mode = RACE_HASH_SIGNS;
	else
		result.mode = (range & (range - 1)) == 0 ? RACE_HASH_MASK : RACE_HASH_FOLD;
	result.width =
		race_record_kind(params) == RACE_RECORD_VECTOR ? race_hashed_width(params) : params->dims;
	result.power = params->power;
	result.range = range;
	result.coefficients = race_rows_coefficient(rows, first, part->function, 0);
	result.keys = fold ? NULL : race_rows_key(rows, first, 1 + 2 * part->function);
	result.interruptible = interruptible;
	result.sequence = params->sequence;
	return result;
}

/* Add the codes of a part, multiplied by their keys, to the sums of n records. */
static void
sum_part(const RaceRows *rows, const RaceRowsPart *part, size_t block, const RaceColumn *column,
		 size_t n, bool interruptible, uint64_t *sums)
{
	const RaceHashPath *path = race_hash_path();
	RaceHashBlock b = block_of(rows, part, block, interruptible);

	switch (race_record_kind(part->params))
	{
		case RACE_RECORD_VECTOR:
			path->vectors(&b, column, n, sums);
			break;
		case RACE_RECORD_SET:
			path->sum_sets(&b, column, n, sums);
			break;
		case RACE_RECORD_ROW:
			path->sum_categories(&b, column, n, sums);
			break;
	}
}

/*
 * Project a record by all functions of a structured part, and hash it in so many blocks.
 * `out` is what RaceHashPath.projection computes, of `size` bytes a row.
 */
static void
hash_structured(const RaceRows *rows, const RaceRowsPart *part, size_t first, size_t blocks,
				const double *x, bool interruptible, size_t size, void *out)
{
	uint32_t length = race_structured_length(part->params);
	double *z = rows->workspace;

	for (uint32_t j = part->function; j < part->function + part->params->power; j++)
		for (size_t block = first; block < first + blocks; block++)
		{
			size_t row = block * RACE_LANES;
			RaceHashBlock b = block_of(rows, part, block, interruptible);

			b.coefficients = race_rows_coefficient(rows, row, j, 0);
			if (b.keys != NULL)
				b.keys = race_rows_key(rows, row, 1 + 2 * j);
			if (block == first || row % length == 0)
			{
				if (interruptible)
					race_look_for_interrupts();
				race_structured_project(part->params, race_rows_signs(rows, j, row), x, z);
			}
			race_hash_path()->projection(&b, z + row % length,
										 (char *) out + (block - first) * RACE_LANES * size);
		}
}

/*
 * Hash one record in blocks that share transforms: none of them crosses a multiple of
 * rows->together.
 */
static void
hash_together(const RaceRows *rows, size_t first, size_t blocks, const RaceColumn *columns,
			  bool interruptible, uint32_t *buckets)
{
	bool fold = rows->params->rehash == RACE_REHASH_FOLD;
	uint64_t *sums = (uint64_t *) (rows->workspace + rows->together);
	size_t size = fold && !race_kernel_type(rows->params->kernel)->signs ? sizeof(uint32_t) :
																		   sizeof(uint64_t);

	if (fold)
		memset(sums, 0, blocks * RACE_LANES * sizeof(uint64_t));
	for (size_t i = 0; i < blocks && !fold; i++)
		memcpy(sums + i * RACE_LANES, race_rows_key(rows, (first + i) * RACE_LANES, 0),
			   RACE_LANES * sizeof(uint64_t));
	for (int p = 0; p < rows->parts; p++)
		if (race_is_structured(rows->part[p].params))
			hash_structured(rows, &rows->part[p], first, blocks, columns[p].numbers, interruptible,
							size, size == sizeof(uint32_t) ? (void *) buckets : (void *) sums);
		else
			for (size_t i = 0; i < blocks; i++)
				sum_part(rows, &rows->part[p], first + i, &columns[p], 1, interruptible,
						 sums + i * RACE_LANES);
	if (!fold)
		race_hash_path()->reduce(rows->params->range, sums, blocks, buckets);
	for (size_t i = 0; fold && size == sizeof(uint64_t) && i < blocks * RACE_LANES; i++)
		buckets[i] = (uint32_t) sums[i];
}

/*
 * Hash vectors that have a bucket for all their codes.  Those of a surrogate loss are lifted
 * first, a few at a time; its queries come lifted.
 */
static void
hash_by_fold(const RaceRows *rows, size_t block, const RaceColumn *column, size_t n,
			 bool interruptible, uint32_t *buckets)
{
	const RaceParams *params = rows->params;
	RaceHashBlock b = block_of(rows, &rows->part[0], block, interruptible);
	double lifted[RACE_LIFTED_TOGETHER];
	size_t together;

	if (!race_is_surrogate(params) || column->width == b.width)
	{
		race_hash_path()->vectors(&b, column, n, buckets);
		return;
	}
	together = RACE_LIFTED_TOGETHER / b.width;
	for (size_t i = 0; i < n; i += together)
	{
		RaceColumn some = {lifted, NULL, NULL, b.width};
		size_t m = n - i < together ? n - i : together;

		for (size_t k = 0; k < m; k++)
			race_surrogate_lift(params, column->numbers + (i + k) * params->dims,
								lifted + k * b.width);
		race_hash_path()->vectors(&b, &some, m, buckets + i * RACE_LANES);
	}
}

/* A sum takes twice as much space as a bucket. */
#define SUMS_TOGETHER (RACE_RECORDS_TOGETHER / 2)

/*
 * Hash n records with a block of rows: by folding, or by the sums of the codes of all parts, each
 * multiplied by its key.
 */
static void
hash_block(const RaceRows *rows, size_t block, const RaceColumn *columns, size_t n,
		   bool interruptible, uint32_t *buckets)
{
	uint64_t sums[SUMS_TOGETHER * RACE_LANES];

	if (rows->params->rehash == RACE_REHASH_FOLD)
	{
		hash_by_fold(rows, block, columns, n, interruptible, buckets);
		return;
	}
	for (size_t from = 0; from < n; from += SUMS_TOGETHER)
	{
		size_t m = n - from < SUMS_TOGETHER ? n - from : SUMS_TOGETHER;

		for (size_t i = 0; i < m; i++)
			memcpy(sums + i * RACE_LANES, race_rows_key(rows, block * RACE_LANES, 0),
				   RACE_LANES * sizeof(uint64_t));
		for (int p = 0; p < rows->parts; p++)
		{
			RaceColumn some = race_column_from(&columns[p], from);

			sum_part(rows, &rows->part[p], block, &some, m, interruptible, sums);
		}
		race_hash_path()->reduce(rows->params->range, sums, m, buckets + from * RACE_LANES);
	}
}

void
race_rows_hash(const RaceRows *rows, size_t block, const RaceColumn *columns, size_t n,
			   uint32_t *buckets)
{
	RaceColumn one[RACE_MAX_PARTS];

	if (rows->together == 0)
	{
		hash_block(rows, block, columns, n, false, buckets);
		return;
	}
	for (size_t i = 0; i < n; i++)
	{
		for (int p = 0; p < rows->parts; p++)
			one[p] = race_column_from(&columns[p], i);
		hash_together(rows, block, 1, one, false, buckets + i * RACE_LANES);
	}
}

void
race_rows_hash_one(const RaceRows *rows, uint32_t n, const RaceColumn *columns, uint32_t *buckets)
{
	size_t all = ((size_t) n + RACE_LANES - 1) / RACE_LANES;
	size_t blocks = rows->together == 0 ? 1 : rows->together / RACE_LANES;

	for (size_t block = 0; block < all; block += blocks)
	{
		race_look_for_interrupts();
		if (rows->together == 0)
			hash_block(rows, block, columns, 1, true, buckets + block * RACE_LANES);
		else
			hash_together(rows, block, blocks < all - block ? blocks : all - block, columns, true,
						  buckets + block * RACE_LANES);
	}
}

double
race_collision_probability(const RaceParams *params)
{
	return params->rehash == RACE_REHASH_MULTILINEAR ? 1.0 / params->range : 0;
}
