/*
 * tape.h
 *		race_noisy() of grey-box audits: it notes each number of a table that is to get noise,
 *		with its answer, and gives the same answers to another table.
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

typedef struct Draw
{
	RaceMechanism mechanism;
	uint64_t noise;
	int64_t value[2]; /* of both tables */
	int64_t answer;
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

int64_t
__wrap_race_noisy(RaceRandom *random, int64_t value, RaceMechanism mechanism, uint64_t noise)
{
	Draw *draw;

	(void) random;
	if (tape.table == 0)
	{
		if (tape.n == tape.capacity)
		{
			tape.capacity = 2 * tape.capacity + 1024;
			tape.draws = realloc(tape.draws, tape.capacity * sizeof(Draw));
			if (tape.draws == NULL)
				abort();
		}
		draw = &tape.draws[tape.n++];
		draw->mechanism = mechanism;
		draw->noise = noise;
		draw->value[0] = draw->value[1] = value;
		draw->answer = answer(value, mechanism, noise);
		return draw->answer;
	}
	if (tape.next == tape.n)
	{
		tape.same = false;
		return value;
	}
	draw = &tape.draws[tape.next++];
	tape.same &= draw->mechanism == mechanism && draw->noise == noise;
	draw->value[1] = value;
	return draw->answer;
}

#endif
