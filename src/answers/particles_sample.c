/*
 * particles_sample.c
 *		Rows that stand for particles: as many as are wanted, balanced in tables of two columns
 */
#include <math.h>
#include <string.h>

#include "privacy/interrupt.h"
#include "answers/particles_state.h"

/* Where rows are fewer than this multiple of particles, they are balanced. */
#define BALANCED 2
/* how often a row is tried to be exchanged, and the most that tables are looked at for it */
#define TRIALS 40
#define MOST_LOOKS ((uint64_t) 1 << 25)
#define MOST_CELLS ((size_t) 1 << 22) /* cells of all tables that are balanced: 32 MB */

/* A table of one or two columns, in groups: how many rows it has, and should have */
typedef struct Balance
{
	uint32_t first;
	uint32_t second; /* first: the table is of one column, in cells */
	uint32_t width;
	double *over; /* [cells]: rows above their expectation */
} Balance;

typedef struct Sample
{
	const RaceParticles *particles;
	double (*uniform)(void *);
	void *arg;
	RaceAllocate allocate;
	void *memory;
	uint32_t n;
	uint32_t *number; /* [n]: the particle of each row */
	uint32_t **group; /* [columns][particles] */
	Balance *balance;
	uint32_t balances;
} Sample;

static uint32_t
draw_below(const Sample *sample, uint32_t n)
{
	uint32_t drawn = (uint32_t) (sample->uniform(sample->arg) * n);

	return drawn < n ? drawn : n - 1;
}

/* Draw each particle as often as its weight says, rounded up or down. */
static void
draw_numbers(Sample *sample)
{
	const RaceParticles *particles = sample->particles;
	double start = sample->uniform(sample->arg);
	double reached = 0;
	uint32_t drawn = 0;

	for (uint32_t i = 0; i < particles->n; i++)
	{
		reached += particles->weight[i] * sample->n;
		for (; drawn < sample->n && (drawn + start < reached || i + 1 == particles->n); drawn++)
		{
			/* in random order: a row takes the place of one that was drawn */
			uint32_t place = draw_below(sample, drawn + 1);

			sample->number[drawn] = sample->number[place];
			sample->number[place] = i;
		}
	}
}

static size_t
place_in(const Sample *sample, const Balance *balance, uint32_t particle)
{
	if (balance->first == balance->second)
		return sample->particles->cell[balance->first][particle];
	return (size_t) sample->group[balance->first][particle] * balance->width +
		sample->group[balance->second][particle];
}

/* Set a table, and by how much rows are above their expectation. */
static void
set_balance(const Sample *sample, Balance *balance, uint32_t first, uint32_t second)
{
	const RaceParticles *particles = sample->particles;
	const RaceGraphColumns *columns = particles->columns;
	size_t cells = first == second ? columns->cells[first] :
									 (size_t) columns->groups[first] * columns->groups[second];

	balance->first = first;
	balance->second = second;
	balance->width = columns->groups[second];
	balance->over = sample->allocate(sample->memory, cells * sizeof(double));
	memset(balance->over, 0, cells * sizeof(double));
	for (uint32_t i = 0; i < particles->n; i++)
		balance->over[place_in(sample, balance, i)] -= particles->weight[i] * sample->n;
	for (uint32_t i = 0; i < sample->n; i++)
		balance->over[place_in(sample, balance, sample->number[i])]++;
}

/* Set the tables of all columns and pairs. */
static void
set_balances(Sample *sample)
{
	const RaceParticles *particles = sample->particles;
	uint32_t d = particles->columns->columns;
	size_t left = MOST_CELLS;

	sample->group = sample->allocate(sample->memory, d * sizeof(uint32_t *));
	sample->balance = sample->allocate(sample->memory, (size_t) d * (d + 1) / 2 * sizeof(Balance));
	for (uint32_t j = 0; j < d; j++)
	{
		sample->group[j] = sample->allocate(sample->memory, particles->n * sizeof(uint32_t));
		for (uint32_t i = 0; i < particles->n; i++)
			sample->group[j][i] = race_particle_group(particles, j, particles->cell[j][i]);
	}
	for (uint32_t i = 0; i < d; i++)
		for (uint32_t j = i; j < d; j++)
		{
			size_t cells = (size_t) particles->columns->groups[i] * particles->columns->groups[j];

			race_look_for_interrupts();
			if (i != j && cells > left)
				continue;
			left -= i != j ? cells : 0;
			set_balance(sample, &sample->balance[sample->balances++], i, j);
		}
}

/* Return by how much distances of tables from their expectation grow, in L1, by an exchange. */
static double
change_of_exchange(const Sample *sample, uint32_t from, uint32_t to)
{
	double change = 0;

	for (uint32_t k = 0; k < sample->balances; k++)
	{
		const Balance *balance = &sample->balance[k];
		double less = balance->over[place_in(sample, balance, from)];
		double more = balance->over[place_in(sample, balance, to)];

		if (place_in(sample, balance, from) != place_in(sample, balance, to))
			change += fabs(less - 1) - fabs(less) + fabs(more + 1) - fabs(more);
	}
	return change;
}

/* Exchange particles of rows for others, wherever that brings tables nearer. */
static void
balance_rows(Sample *sample)
{
	uint64_t trials = (uint64_t) sample->n * TRIALS;

	set_balances(sample);
	if (trials > MOST_LOOKS / sample->balances)
		trials = MOST_LOOKS / sample->balances;
	for (uint64_t k = 0; k < trials; k++)
	{
		uint32_t row = draw_below(sample, sample->n);
		uint32_t from = sample->number[row];
		uint32_t to = draw_below(sample, sample->particles->n);

		if (k % 1024 == 0)
			race_look_for_interrupts();
		/* a particle without weight has no rows */
		if (sample->particles->weight[to] == 0 || change_of_exchange(sample, from, to) >= 0)
			continue;
		for (uint32_t i = 0; i < sample->balances; i++)
		{
			sample->balance[i].over[place_in(sample, &sample->balance[i], from)]--;
			sample->balance[i].over[place_in(sample, &sample->balance[i], to)]++;
		}
		sample->number[row] = to;
	}
}

void
race_particles_sample(const RaceParticles *particles, double (*uniform)(void *), void *arg,
					  uint32_t n, uint32_t *rows, RaceAllocate allocate, void *memory)
{
	uint32_t d = particles->columns->columns;
	Sample sample = {.particles = particles,
					 .uniform = uniform,
					 .arg = arg,
					 .allocate = allocate,
					 .memory = memory,
					 .n = n};

	sample.number = allocate(memory, n * sizeof(uint32_t));
	draw_numbers(&sample);
	if (d > 1 && n < BALANCED * particles->n)
		balance_rows(&sample);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < d; j++)
			rows[(size_t) i * d + j] = particles->cell[j][sample.number[i]];
}
