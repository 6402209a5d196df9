/*
 * point_masses_test.c
 *		Heaps that are taken out of the nodes of a grid.
 */
#include "../../src/answers/point_masses.h"
#include "helpers.h"
#include "tap.h"

#define NODES	101

/* Split records at a place, in cells, over the two nodes around it. */
static void
put(double *nodes, double place, double records)
{
	size_t		k = (size_t) place;

	nodes[k] += (1 - (place - k)) * records;
	if (place > k)
		nodes[k + 1] += (place - k) * records;
}

static size_t
take(double *nodes, double noise, RacePointMass *masses)
{
	double		space[NODES];

	return race_point_masses_take(nodes, NODES, noise, masses, space);
}

static void
test_one_mass(double place, double ground)
{
	RacePointMass	masses[NODES / 3 + 1];
	double		nodes[NODES];
	size_t		found;
	double		off = 0;

	for (size_t k = 0; k < NODES; k++)
		nodes[k] = ground;
	put(nodes, place, 1e6);
	found = take(nodes, 1, masses);
	for (size_t k = 0; k < NODES; k++)
		off = fmax(off, fabs(nodes[k] - ground));
	ok(found == 1 && fabs(masses[0].place - place) < 1e-9 && fabs(masses[0].records - 1e6) < 1e-3 &&
	   off < 1e-3, "a point mass at %g on %g a node is found where it is, and the rest stays", place, ground);
}

/* Records of a normal distribution that is so many cells wide */
static void
test_no_mass(double width, const char *what)
{
	RacePointMass	masses[NODES / 3 + 1];
	double		nodes[NODES] = {0};

	for (int i = -4000; i <= 4000; i++)
		put(nodes, 50.3 + i / 1000.0 * width, 1e3 * exp(-i / 1000.0 * (i / 1000.0) / 2));
	ok(take(nodes, 1, masses) == 0, "%s is no point mass", what);
}

/* In the noise of a release; the control is the same noise with masses of 100 deviations. */
static void
test_noise(void)
{
	RacePointMass	masses[NODES / 3 + 1];
	double		nodes[NODES];
	double		with_masses[NODES];
	size_t		of_noise;

	for (size_t k = 0; k < NODES; k++)
	{
		double		u = ((double) (mix(k + 1) >> 11) + 0.5) / 9007199254740992.0 - 0.5;

		nodes[k] = (u < 0 ? 1 : -1) * log(1 - 2 * fabs(u)) / sqrt(2);
		with_masses[k] = nodes[k];
	}
	for (size_t k = 5; k + 6 < NODES; k += 10)
		put(with_masses, k + 0.5, 100);
	of_noise = take(nodes, 1, masses);
	ok(of_noise == 0, "no masses in noise: %zu", of_noise);
	ok(take(with_masses, 1, masses) == 9, "and all 9 that stand out of it");
}

/* Nothing is lost or moved: sums and centers stay. */
static void
test_nothing_is_lost(void)
{
	RacePointMass	masses[NODES / 3 + 1];
	double		nodes[NODES];
	double		sum = 0;
	double		center = 0;
	size_t		found;

	for (size_t k = 0; k < NODES; k++)
	{
		nodes[k] = (double) (mix(k) % 7) * (mix(k + NODES) % 5 == 0 ? 1000 : 1);
		sum += nodes[k];
		center += k * nodes[k];
	}
	found = take(nodes, 0.01, masses);
	for (size_t k = 0; k < NODES; k++)
	{
		sum -= nodes[k];
		center -= k * nodes[k];
	}
	for (size_t k = 0; k < found; k++)
	{
		sum -= masses[k].records;
		center -= masses[k].place * masses[k].records;
	}
	ok(found > 3 && fabs(sum) < 1e-6 && fabs(center) < 1e-4,
	   "%zu masses and what is left add up to what there was", found);
}

int
main(void)
{
	double		two[2] = {1000, 500};
	double		space[2];
	RacePointMass	mass[1];

	test_one_mass(50, 0);
	test_one_mass(50, 40);
	test_one_mass(20.25, 0);
	test_one_mass(20.5, 40);
	test_one_mass(0, 0);
	test_one_mass(NODES - 1, 0);
	test_one_mass(NODES - 1.5, 0);
	test_no_mass(1, "a cluster as wide as a cell");
	test_no_mass(3, "a wider one");
	test_no_mass(12, "a smooth table");
	test_noise();
	test_nothing_is_lost();
	ok(race_point_masses_take(two, 2, 1, mass, space) == 1 && fabs(mass[0].place - 1 / 3.0) < 1e-9,
	   "two nodes are enough");
	return done_testing();
}
