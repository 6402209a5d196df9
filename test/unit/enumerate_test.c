/*
 * enumerate_test.c
 *		The coin trees of the samplers, walked from end to end.
 *
 * A model of each sampler follows the paper (Canonne, Kamath & Steinke 2020,
 * algorithms 1 to 3) and makes every decision that coins can make.  For each path
 * it writes the bytes that lead there, numbers on the edge between the two
 * outcomes of a coin; the sampler, given those bytes, must end with the same draw
 * at the same byte.  The masses of the paths are known, so they bracket the
 * probability of each draw, by what is left of paths that were cut off.
 *
 * Trees are walked one inside the other: Bernoulli(exp(-u / t)) alone first, and
 * then as one coin of the larger ones, with any bytes that lead to its outcome.
 *
 * No chance takes part.  Pseudorandom numbers fill the bits that samplers should
 * ignore, and choose among ways that should make no difference.
 */
#include "helpers.h"
#include "tap.h"
#include "privacy/sampler.h"

#define MAX_DEPTH 200
#define CUT_MASS 1e-11L /* lighter paths are not divided further */
#define ROUNDING 1e-14L /* of sums of masses */
#define SPAN 80         /* draws are counted from -SPAN to SPAN */

typedef unsigned __int128 uint128;

/* What a wrong sampler might do */
typedef enum Mutant
{
	NO_MUTANT,
	ZERO_TWICE, /* keeps a negative zero */
	FLOOR       /* rounds negative numbers down, not to zero */
} Mutant;

typedef struct Walk
{
	/* decisions up to here are dictated, the later ones first take option 0 */
	int depth;
	int position;
	uint64_t choice[MAX_DEPTH];
	uint64_t options[MAX_DEPTH];

	/* once the mass has found its place, the path ends anywhere */
	bool wandering;
	enum
	{
		WHOLE,
		AGAIN,
		CUT
	} fate;
	long double mass;

	size_t bytes;
	uint8_t tape[8192];
	uint64_t pseudorandom;
	Mutant mutant;
} Walk;

static uint64_t
pseudorandom(Walk *walk)
{
	return mix(++walk->pseudorandom);
}

/* The mass of this path goes to its fate, and what follows is any path */
static void
settle(Walk *walk, int fate)
{
	if (walk->wandering)
		return;
	walk->fate = fate;
	walk->wandering = true;
}

/* One of so many equally likely options */
static uint64_t
choose(Walk *walk, uint64_t options)
{
	if (!walk->wandering && walk->mass < CUT_MASS)
		settle(walk, CUT);
	if (walk->wandering)
		return pseudorandom(walk) % options;
	if (walk->position == walk->depth)
	{
		if (walk->depth == MAX_DEPTH)
			abort();
		walk->choice[walk->depth] = 0;
		walk->options[walk->depth++] = options;
	}
	walk->mass /= options;
	return walk->choice[walk->position++];
}

/* True with probability p */
static bool
decide(Walk *walk, long double p)
{
	bool outcome;

	if (p == 0 || p == 1)
		return p == 1;
	if (!walk->wandering && walk->mass < CUT_MASS)
		settle(walk, CUT);
	if (walk->wandering)
		return (pseudorandom(walk) >> 11) * 0x1p-53 < p;
	outcome = choose(walk, 2) == 1;
	walk->mass *= 2 * (outcome ? p : 1 - p);
	return outcome;
}

/* Bytes that make race_random_below(n) give a value */
static void
put_number(Walk *walk, uint64_t n, uint64_t value)
{
	int bits = 0;
	int bytes;
	uint64_t refused;

	while (bits < 64 && n > (uint64_t) 1 << bits)
		bits++;
	bytes = (bits + 7) / 8;

	/* now and then, a number that is too large */
	refused = pseudorandom(walk);
	if (bits < 64 && n < (uint64_t) 1 << bits && refused % 4 == 0)
		put_number(walk, (uint64_t) 1 << bits, n + refused / 4 % (((uint64_t) 1 << bits) - n));

	/* with ignored bits above it */
	if (bits < 64)
		value |= pseudorandom(walk) << bits;
	if (walk->bytes + bytes > sizeof(walk->tape))
		abort();
	while (bytes-- > 0)
		walk->tape[walk->bytes++] = (uint8_t) (value >> 8 * bytes);
}

/* Bernoulli(u / n), which needs no bytes when it is certain to succeed */
static bool
model_coin(Walk *walk, uint64_t u, uint64_t n)
{
	bool outcome = decide(walk, (long double) u / n);
	bool on_edge = pseudorandom(walk) % 2 == 0;

	if (u == n)
		return true;
	if (outcome)
		put_number(walk, n, on_edge ? u - 1 : 0);
	else
		put_number(walk, n, on_edge ? u : n - 1);
	return outcome;
}

/* Algorithm 1 for u <= t, each of its coins of probability u / (t k) in two */
static bool
model_exp(Walk *walk, uint64_t u, uint64_t t)
{
	uint64_t k = 1;

	while ((k == 1 || model_coin(walk, 1, k)) && model_coin(walk, u, t))
		k++;
	return k % 2 == 1;
}

/* The same as one coin, with any bytes that lead to the outcome */
static bool
model_exp_at_once(Walk *walk, uint64_t u, uint64_t t)
{
	bool outcome = decide(walk, expl(-(long double) u / t));
	bool was_wandering = walk->wandering;
	size_t bytes = walk->bytes;

	if (walk->mutant != NO_MUTANT)
		return outcome; /* no sampler follows it */
	walk->wandering = true;
	do
		walk->bytes = bytes;
	while (model_exp(walk, u, t) != outcome);
	walk->wandering = was_wandering;
	return outcome;
}

/* Algorithm 2 */
static int64_t
model_laplace(Walk *walk, uint64_t scale)
{
	for (;; settle(walk, AGAIN))
	{
		uint64_t u = choose(walk, scale);
		uint64_t v = 0;
		int64_t magnitude;
		bool negative;

		put_number(walk, scale, u);
		if (!model_exp_at_once(walk, u, scale))
			continue;
		while (model_exp_at_once(walk, 1, 1))
			v++;
		magnitude = (int64_t) ((scale * v + u) / RACE_SCALE_DENOMINATOR);
		negative = decide(walk, 0.5L);
		put_number(walk, 2, negative);
		if (negative && walk->mutant == FLOOR)
			return -magnitude - 1;
		if (negative && magnitude == 0 && walk->mutant != ZERO_TWICE)
			continue;
		return negative ? -magnitude : magnitude;
	}
}

/* Algorithm 3 */
static int64_t
model_gaussian(Walk *walk, uint64_t variance)
{
	uint64_t t = 1;

	while (t * t <= variance)
		t++; /* floor of the root, plus 1 */
	for (;; settle(walk, AGAIN))
	{
		int64_t y = model_laplace(walk, t * RACE_SCALE_DENOMINATOR);
		int64_t distance = llabs(y) * (int64_t) t - (int64_t) variance;
		uint64_t u = (uint64_t) (distance * distance);
		uint64_t n = 2 * variance * t * t;

		while (u > n && model_exp_at_once(walk, 1, 1))
			u -= n;
		if (u <= n && model_exp_at_once(walk, u, n))
			return y;
	}
}

/* -------------------------------------------------------------- walking */

/* A sampler and its parameters */
typedef struct Subject
{
	enum
	{
		EXP,
		LAPLACE,
		GAUSSIAN
	} sampler;
	uint64_t a; /* u, a scale or a variance */
	uint64_t t; /* of exp(-u / t) */
} Subject;

static int64_t
draw(const Subject *subject, RaceRandom *random)
{
	return subject->sampler == EXP  ? race_bernoulli_exp(random, subject->a, subject->t) :
		subject->sampler == LAPLACE ? race_discrete_laplace(random, subject->a) :
									  race_discrete_gaussian(random, subject->a);
}

static int64_t
draw_by_model(const Subject *subject, Walk *walk)
{
	return subject->sampler == EXP  ? model_exp(walk, subject->a, subject->t) :
		subject->sampler == LAPLACE ? model_laplace(walk, subject->a) :
									  model_gaussian(walk, subject->a);
}

/* Bytes after the end of the tape, which must not be needed */
static void
fill_after_end(void *arg, uint8_t *bytes, size_t size)
{
	int *fills = arg;

	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t) mix(i + ++*fills);
}

/* Does the sampler, on the tape of this path, do what the model does? */
static bool
follows(const Subject *subject, const Walk *walk, int64_t outcome)
{
	static RaceRandom random; /* large: not made anew for each path */
	int fills = 0;

	random.fill = fill_after_end;
	random.arg = &fills;
	random.left = walk->bytes;
	memcpy(random.buffer + sizeof(random.buffer) - walk->bytes, walk->tape, walk->bytes);
	return draw(subject, &random) == outcome && random.left == 0 && fills == 0;
}

typedef struct Tree
{
	long double whole; /* mass of the paths that end with a draw */
	long double cut;   /* of those that were cut off */
	long double again; /* of those that start again */
	long double mass[2 * SPAN + 1];
	uint64_t paths;
	uint64_t astray; /* where the sampler does something else */
} Tree;

static void
walk_tree(const Subject *subject, Mutant mutant, Tree *tree)
{
	static Walk walk;

	memset(tree, 0, sizeof(Tree));
	walk.depth = 0;
	walk.pseudorandom = 0;
	walk.mutant = mutant;
	do
	{
		int64_t outcome;

		walk.position = 0;
		walk.bytes = 0;
		walk.mass = 1;
		walk.wandering = false;
		walk.fate = WHOLE;
		outcome = draw_by_model(subject, &walk);

		tree->paths++;
		if (mutant == NO_MUTANT)
			tree->astray += !follows(subject, &walk, outcome);
		if (walk.fate == AGAIN)
			tree->again += walk.mass;
		else if (walk.fate == CUT || llabs(outcome) > SPAN)
			tree->cut += walk.mass;
		else
		{
			tree->whole += walk.mass;
			tree->mass[outcome + SPAN] += walk.mass;
		}

		/* the next path: another choice at the last fork that has one left */
		walk.depth = walk.position;
		while (walk.depth > 0 && walk.choice[walk.depth - 1] + 1 == walk.options[walk.depth - 1])
			walk.depth--;
		if (walk.depth > 0)
			walk.choice[walk.depth - 1]++;
	} while (walk.depth > 0);
}

/* ------------------------------------------------------------- verdicts */

/* Can draws of this tree have the weights of a distribution, up to a factor? */
static bool
bracket(const Tree *tree, long double (*log_weight)(int64_t k, double parameter), double parameter)
{
	long double total = 0;
	bool good = true;

	for (int64_t k = -100 * SPAN; k <= 100 * SPAN; k++)
		total += expl(log_weight(k, parameter));
	for (int64_t k = -SPAN; k <= SPAN; k++)
	{
		/* what was cut off may end at k, elsewhere, or start again */
		long double p = expl(log_weight(k, parameter)) / total;
		long double mass = tree->mass[k + SPAN];
		long double all = tree->whole + tree->cut;

		good = good && p >= mass / all - ROUNDING && p <= (mass + tree->cut) / all + ROUNDING;
	}
	return good;
}

static long double
log_laplace(int64_t k, double scale)
{
	return -(long double) llabs(k) * RACE_SCALE_DENOMINATOR / scale;
}

static long double
log_gaussian(int64_t k, double variance)
{
	return -(long double) k * k / (2 * (long double) variance);
}

static bool
complete(const Tree *tree)
{
	return tree->cut < 1e-6L && fabsl(tree->whole + tree->again + tree->cut - 1) < ROUNDING;
}

/* Bernoulli(exp(-u / t)) for all u from 0 to t */
static void
test_exp(uint64_t t)
{
	static Tree tree;
	uint64_t astray = 0;
	bool exact = true;
	bool distinct = true;

	for (uint64_t u = 0; u <= t; u++)
	{
		Subject subject = {EXP, u, t};
		long double p = expl(-(long double) u / t);
		long double mass;

		walk_tree(&subject, NO_MUTANT, &tree);
		mass = tree.mass[SPAN + 1];
		astray += tree.astray;
		exact = exact && tree.cut < 1e-10L && p >= mass - 1e-18L && p <= mass + tree.cut + 1e-18L;
		p = expl(-((long double) u + 1e-6L) / t);
		distinct = distinct && (p < mass - ROUNDING || p > mass + tree.cut + ROUNDING);
	}
	ok(astray == 0 && exact && distinct,
	   "exp(-u / %llu): every path, and the probability between close bounds",
	   (unsigned long long) t);
}

static void
test_noise(int sampler, uint64_t parameter)
{
	static Tree tree;
	Subject subject = {sampler, parameter, 0};
	long double (*log_weight)(int64_t k, double parameter) =
		sampler == LAPLACE ? log_laplace : log_gaussian;
	const char *name = sampler == LAPLACE ? "scale" : "variance";
	unsigned long long of = parameter;

	walk_tree(&subject, NO_MUTANT, &tree);
	printf("# %s %llu: %llu paths; %.3Lg of the mass starts again, %.2Lg is cut off\n", name, of,
		   (unsigned long long) tree.paths, tree.again, tree.cut);
	ok(tree.astray == 0 && tree.paths > (sampler == LAPLACE ? 1000 : 10000),
	   "%s %llu: on every path, the draw of the model", name, of);
	ok(complete(&tree) && bracket(&tree, log_weight, parameter),
	   "%s %llu: draws have their probabilities", name, of);
	ok(!bracket(&tree, log_weight, parameter + 1e-4) &&
		   !bracket(&tree, log_weight, parameter - 1e-4),
	   "control: those of another %s are not theirs", name);

	walk_tree(&subject, ZERO_TWICE, &tree);
	ok(complete(&tree) && !bracket(&tree, log_weight, parameter),
	   "mutant: a negative zero kept is caught");
	walk_tree(&subject, FLOOR, &tree);
	ok(complete(&tree) && !bracket(&tree, log_weight, parameter),
	   "mutant: floor of a continuous variable is caught");
}

int
main(void)
{
	static const uint64_t exps[] = {
		1, 2, 3, 5, 100, 256, 300, 768, 8, 16, 24, 72 /* 2 variance t^2 for variances 1 to 4 */
	};

	for (size_t i = 0; i < CASES(sizeof(exps) / sizeof(exps[0]), 5); i++)
		test_exp(exps[i]);
	test_noise(LAPLACE, 100);
	test_noise(GAUSSIAN, 1);
	if (SANITIZED)
		return done_testing();
	test_exp(512);
	test_noise(LAPLACE, 256);
	test_noise(LAPLACE, 300);
	test_noise(GAUSSIAN, 2);
	test_noise(GAUSSIAN, 3);
	test_noise(GAUSSIAN, 4);
	return done_testing();
}
