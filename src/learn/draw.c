/*
 * draw.c
 *		Records drawn from the model of a sketch.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "../lsh/normal.h"
#include "../lsh/philox.h"
#include "../lsh/radial.h"
#include "../record/vector.h"
#include "draw.h"
#include "marginal.h"

#define NEAREST		4
#define SHARE		0.5			/* of the distance to them, by which a point is moved */

/* The nearest points of a point, found when it is first drawn */
typedef struct Near
{
	bool		known;
	uint32		n;
	uint32		point[NEAREST];
	double		apart[NEAREST];	/* ascending; -ln k */
} Near;

struct RaceDraws
{
	const RaceFitted *fitted;
	int64		seed;
	RaceMarginal *line;			/* of a vector of one number by itself; else NULL, and */
	Near	   *near;			/* [points]: NULL if there are no vectors */
	/* for kernels that are functions of a distance, else NULL */
	RaceRadial *radial;
	double	   *places;			/* [radial->dims][points] */
	double	   *vectors[RACE_MAX_PARTS];	/* that are drawn */
};

/* --------------------------------------------------------------- preparation */

static void
place_points(RaceDraws *draws)
{
	const RaceParams *params = draws->fitted->view.params;
	uint64		n = draws->fitted->view.model->points;
	uint64		i;

	draws->radial = palloc(sizeof(RaceRadial));
	race_radial_init(draws->radial, params);
	draws->places = palloc_extended(n * draws->radial->dims * sizeof(double), MCXT_ALLOC_HUGE);
	for (i = 0; i < n; i++)
		race_radial_place(draws->radial, params, race_fitted_vector(draws->fitted, 0, i),
						  draws->places + i, n);
}

RaceDraws *
race_draws_create(const RaceFitted *fitted, int64 seed)
{
	RaceDraws  *draws = palloc0(sizeof(RaceDraws));
	const RaceParams *params = fitted->view.params;
	const RaceParams *part;
	bool		vectors = false;
	int			k = 0;

	draws->fitted = fitted;
	draws->seed = seed;
	for (part = params; part != NULL; part = race_params_next(part, params), k++)
		if (race_record_kind(part) == RACE_RECORD_VECTOR)
		{
			draws->vectors[k] = palloc(part->dims * sizeof(double));
			vectors = true;
		}
	if (race_model_is_of_vectors(params) && params->dims == 1)
	{
		RaceColumnPlace place = race_find_column(params, 1);

		draws->line = race_marginal_create(fitted, &place);
	}
	else if (vectors)
		draws->near = palloc0(fitted->view.model->points * sizeof(Near));
	if (draws->near != NULL && race_radial_can(params))
		place_points(draws);
	return draws;
}

/* -------------------------------------------------------------- nearest points */

/* Have both points the same vectors? */
static bool
same_vectors(const RaceDraws *draws, uint64 a, uint64 b)
{
	int			k;

	for (k = 0; k < RACE_MAX_PARTS; k++)
		if (draws->vectors[k] != NULL &&
			memcmp(race_fitted_vector(draws->fitted, k, a),
				   race_fitted_vector(draws->fitted, k, b),
				   draws->fitted->columns[k].width * sizeof(double)) != 0)
			return false;
	return true;
}

/* Put a point in its place among the nearest. */
static void
insert(Near *near, uint32 point, double apart)
{
	uint32		i;

	if (near->n == NEAREST && apart >= near->apart[NEAREST - 1])
		return;
	i = near->n < NEAREST ? near->n++ : NEAREST - 1;
	for (; i > 0 && near->apart[i - 1] > apart; i--)
	{
		near->point[i] = near->point[i - 1];
		near->apart[i] = near->apart[i - 1];
	}
	near->point[i] = point;
	near->apart[i] = apart;
}

/* Points with the same vectors lead nowhere, those without any similarity too far. */
static const Near *
find_near(RaceDraws *draws, uint64 point)
{
	Near	   *near = &draws->near[point];
	uint64		n = draws->fitted->view.model->points;
	uint64		i;

	if (near->known)
		return near;
	near->n = 0;				/* an interrupted search may have found some */
	for (i = 0; i < n; i++)
	{
		double		apart;

		if (i % 256 == 0)
			CHECK_FOR_INTERRUPTS();
		apart = draws->radial != NULL ?
			race_radial_apart(draws->radial, draws->places, n, point, i) :
			race_fitted_apart(draws->fitted, point, i);
		if (isfinite(apart) && !(near->n == NEAREST && apart >= near->apart[NEAREST - 1]) &&
			!same_vectors(draws, point, i))
			insert(near, (uint32) i, apart);
	}
	for (i = 0; draws->radial != NULL && i < near->n; i++)
		near->apart[i] = -log(race_radial_value(draws->radial, near->apart[i]));
	near->known = true;
	return near;
}

/* ------------------------------------------------------------------- drawing */

/* Two numbers in (0, 1): number k of record i */
static void
uniforms(const RaceDraws *draws, uint32 i, uint32 k, double u[2])
{
	uint32		counter[4] = {k, i, 0, RACE_STREAM_SAMPLE};
	uint64		bits[2];
	int			j;

	race_philox((uint64) draws->seed, counter, bits);
	for (j = 0; j < 2; j++)
		u[j] = ((double) (bits[j] >> 11) + 0.5) / 9007199254740992.0;	/* 2^53 */
}

#define SHUFFLED_BITS	8		/* records that are shuffled together: 2^this */
#define GOLDEN_RATIO	UINT64CONST(0x9E3779B97F4A7C15)	/* times 2^64, without the 1 */

/* Random bits for record i beside those of uniforms() */
static uint64
bits_of(const RaceDraws *draws, uint32 i, uint32 purpose)
{
	uint32		counter[4] = {i, 0, purpose, RACE_STREAM_SAMPLE};
	uint64		bits[2];

	race_philox((uint64) draws->seed, counter, bits);
	return bits[0];
}

/* Records that follow each other, in a random order */
static uint32
shuffled(const RaceDraws *draws, uint32 i)
{
	const uint32 mask = (1 << SHUFFLED_BITS) - 1;
	uint64		keys = bits_of(draws, i >> SHUFFLED_BITS, 1);
	uint32		x = i & mask;

	/* each round has an inverse: an odd factor, a term, and a shift */
	for (; keys != 0; keys >>= 2 * SHUFFLED_BITS)
	{
		x = (x * ((uint32) keys | 1) + (uint32) (keys >> SHUFFLED_BITS)) & mask;
		x ^= x >> SHUFFLED_BITS / 2;
	}
	return (i & ~mask) | x;
}

/*
 * Which point record i comes from, as a number in (0, 1).  Multiples of the golden ratio, modulo 1,
 * are spread evenly however many there are: so points are drawn as often as their weight says, but for
 * far less than draws at random miss it by.  They are shuffled, so that those of two sketches can
 * be put side by side.
 */
static double
place_of_record(const RaceDraws *draws, uint32 i)
{
	uint64		place = bits_of(draws, 0, 2) + shuffled(draws, i) * GOLDEN_RATIO;

	return ((double) (place >> 11) + 0.5) / 9007199254740992.0;
}

/* Reflect numbers at bounds, which may be missing or infinite. */
static void
reflect(const RaceParams *part, double *x)
{
	const double *lower = race_array(part, RACE_ARRAY_LOWER);
	const double *upper = race_array(part, RACE_ARRAY_UPPER);
	uint32		i;

	for (i = 0; i < part->dims; i++)
		if (lower != NULL && x[i] < lower[i])
			x[i] = 2 * lower[i] - x[i];
		else if (upper != NULL && x[i] > upper[i])
			x[i] = 2 * upper[i] - x[i];
	race_vector_clip(part, x, part->dims);
}

/* By how much of the difference to each of the nearest points a record is moved */
static void
draw_shares(const RaceDraws *draws, uint32 i, const Near *near, double *shares)
{
	uint32		k;

	for (k = 0; k < near->n; k++)
	{
		double		u[2];

		if (k % 2 == 0)
			uniforms(draws, i, k / 2 + 1, u);
		shares[k] = race_inverse_normal(u[k % 2]) * SHARE / sqrt(near->n) /
			Max(near->apart[k], 1);
	}
}

static void
move_vector(const RaceDraws *draws, int k, uint64 point, const Near *near,
			const double *shares)
{
	uint32		width = draws->fitted->columns[k].width;
	const double *from = race_fitted_vector(draws->fitted, k, point);
	double	   *x = draws->vectors[k];
	uint32		i;
	uint32		j;

	memcpy(x, from, width * sizeof(double));
	for (j = 0; j < near->n; j++)
	{
		const double *to = race_fitted_vector(draws->fitted, k, near->point[j]);

		for (i = 0; i < width; i++)
			x[i] += shares[j] * (to[i] - from[i]);
	}
}

void
race_draw(RaceDraws *draws, uint32 i, RaceDrawn *drawn)
{
	const RaceParams *params = draws->fitted->view.params;
	const RaceParams *part;
	double		shares[NEAREST];
	const Near *near;
	double		u = place_of_record(draws, i);
	int			k = 0;

	drawn->point = race_fitted_at(draws->fitted, u);
	memcpy(drawn->vectors, draws->vectors, sizeof(drawn->vectors));
	if (draws->line != NULL)
		draws->vectors[0][0] = race_marginal_quantile(draws->line, u);
	if (draws->near == NULL)
		return;
	near = find_near(draws, drawn->point);
	draw_shares(draws, i, near, shares);
	for (part = params; part != NULL; part = race_params_next(part, params), k++)
		if (draws->vectors[k] != NULL)
		{
			move_vector(draws, k, drawn->point, near, shares);
			reflect(part, draws->vectors[k]);
		}
}
