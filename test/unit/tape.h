/*
 * tape.h
 *		race_noisy() and race_noisy_best() of grey-box audits: they note each number of a table that
 *		is to get noise, or each quality of a selection, with the answer, and give the same answers
 *		to another table.
 */
#ifndef RACE_TEST_TAPE_H
#define RACE_TEST_TAPE_H

#include "choice/plan.h"
#include "privacy/counters.h"
#include "privacy/noise.h"
#include "privacy/sampler.h"
#include "helpers.h"

static inline void *
allocate(size_t size)
{
	void *memory = calloc(1, size + 1);

	if (memory == NULL)
		abort();
	return memory;
}

/*
 * A selection costs twice what a quality differs by, over the scale: as if that were a number with
 * Laplace noise, which is 0 in one table.
 */
typedef struct Draw
{
	RaceMechanism mechanism;
	uint64_t noise;
	int64_t value[2]; /* of both tables */
	int64_t answer;
	uint32_t n;        /* qualities of a selection, else 0 */
	__int128 *quality; /* [n], of the first table */
} Draw;

static struct
{
	Draw *draws;
	size_t capacity;
	size_t n;
	size_t next; /* of the second table */
	int table;   /* 0 or 1 */
	bool same;   /* so far */
	uint64_t random;
} tape;

static void
start_table(int table)
{
	tape.table = table;
	tape.next = 0;
	if (table == 0)
	{
		for (size_t i = 0; i < tape.n; i++)
			free(tape.draws[i].quality);
		tape.n = 0;
		tape.same = true;
	}
}

/* Are two plans the same, whatever is between their fields? */
static inline bool
same_plans(const RacePlan *a, const RacePlan *b)
{
	return a->selection.rows == b->selection.rows &&
		a->selection.grid.halvings == b->selection.grid.halvings &&
		a->selection.grid.levels == b->selection.grid.levels &&
		a->selection.tables == b->selection.tables && a->count_price == b->count_price &&
		a->look_price == b->look_price && a->count_noise == b->count_noise &&
		a->look_noise == b->look_noise && a->counter_noise == b->counter_noise &&
		a->products.mechanism == b->products.mechanism && a->products.noise == b->products.noise &&
		a->products.entry_noise == b->products.entry_noise &&
		a->products.coarser == b->products.coarser &&
		a->products.variance == b->products.variance &&
		memcmp(&a->noise, &b->noise, sizeof(RaceNoise)) == 0;
}

/* What a mechanism could have answered: a few deviations off */
static int64_t
answer(int64_t value, RaceMechanism mechanism, uint64_t noise)
{
	double deviation = mechanism == RACE_MECHANISM_GAUSSIAN ?
		sqrt((double) noise) :
		(double) noise / RACE_SCALE_DENOMINATOR;

	return race_clamped_sum(value, (int64_t) (3 * deviation * signed_unit(mix(++tape.random))));
}

/* The linker calls it in place of race_noisy() (Makefile). */
int64_t __wrap_race_noisy(RaceRandom *random, int64_t value, RaceMechanism mechanism,
						  uint64_t noise);

/* Note a draw of the first table. */
static Draw *
add_draw(RaceMechanism mechanism, uint64_t noise, int64_t value)
{
	Draw *draw;

	if (tape.n == tape.capacity)
	{
		tape.capacity = 2 * tape.capacity + 1024;
		tape.draws = realloc(tape.draws, tape.capacity * sizeof(Draw));
		if (tape.draws == NULL)
			abort();
	}
	draw = &tape.draws[tape.n++];
	*draw = (Draw){.mechanism = mechanism, .noise = noise, .value = {value, value}};
	return draw;
}

int64_t
__wrap_race_noisy(RaceRandom *random, int64_t value, RaceMechanism mechanism, uint64_t noise)
{
	Draw *draw;

	(void) random;
	if (tape.table == 0)
	{
		draw = add_draw(mechanism, noise, value);
		draw->answer = answer(value, mechanism, noise);
		return draw->answer;
	}
	if (tape.next == tape.n)
	{
		tape.same = false;
		return value;
	}
	draw = &tape.draws[tape.next++];
	tape.same &= draw->mechanism == mechanism && draw->noise == noise && draw->n == 0;
	draw->value[1] = value;
	return draw->answer;
}

uint32_t __wrap_race_noisy_best(RaceRandom *random, const __int128 *quality, uint32_t n,
								uint64_t scale, uint32_t *order);

uint32_t
__wrap_race_noisy_best(RaceRandom *random, const __int128 *quality, uint32_t n, uint64_t scale,
					   uint32_t *order)
{
	Draw *draw;
	__int128 most = 0;

	(void) random;
	(void) order;
	if (tape.table == 0)
	{
		draw = add_draw(RACE_MECHANISM_LAPLACE, scale, 0);
		draw->n = n;
		draw->quality = allocate(n * sizeof(__int128));
		memcpy(draw->quality, quality, n * sizeof(__int128));
		draw->answer = (int64_t) (mix(++tape.random) % n);
		return (uint32_t) draw->answer;
	}
	draw = tape.next < tape.n ? &tape.draws[tape.next++] : NULL;
	if (draw == NULL || draw->n != n || draw->noise != scale)
	{
		tape.same = false;
		return 0;
	}
	for (uint32_t i = 0; i < n; i++)
	{
		__int128 off = quality[i] - draw->quality[i];

		off = off < 0 ? -off : off;
		most = off > most ? off : most;
	}
	draw->value[1] = most < RACE_MAX_COUNT / 2 ? 2 * (int64_t) most : RACE_MAX_COUNT;
	return (uint32_t) draw->answer;
}

#endif
