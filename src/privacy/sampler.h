/*
 * sampler.h
 *		Exact samplers of discrete Laplace and discrete Gaussian noise
 *
 * Random bytes come from a callback, so that the extension can use the system's generator and
 * tests a tape.  No floating point takes part in a draw: a textbook floating-point Laplace leaks
 * through the gaps between doubles (Mironov 2012).  Plain C99.
 */
#ifndef RACE_SAMPLER_H
#define RACE_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef __SIZEOF_INT128__
#error "racepriv needs a compiler with 128-bit integers: a 64-bit machine"
#endif

/*
 * A source of random bytes.  `fill` never fails to fill: it throws or exits
 * when it cannot.  Bytes are wiped from the buffer as they are used.
 */
typedef struct RaceRandom
{
	void (*fill)(void *arg, uint8_t *bytes, size_t size);
	void *arg;
	size_t left; /* unused bytes, at the end of the buffer */
	uint8_t buffer[8192];
} RaceRandom;

/* Return one of the integers from 0 to n - 1 with equal probability, n >= 1. */
extern uint64_t race_random_below(RaceRandom *random, uint64_t n);

/*
 * The scale of a discrete Laplace distribution, pmf proportional to
 * exp(-|k| / b), as the rational b = numerator / RACE_SCALE_DENOMINATOR.
 */
#define RACE_SCALE_DENOMINATOR 256
#define RACE_MAX_SCALE ((uint64_t) 1 << 56)

/*
 * Draw one number exactly (Canonne, Kamath & Steinke 2020, algorithm 2); scale from 1 to
 * RACE_MAX_SCALE.  Draws beyond 64 bits, which a probability of e^-100 does not reach, come out as
 * INT64_MAX or -INT64_MAX.
 */
extern int64_t race_discrete_laplace(RaceRandom *random, uint64_t scale);

/* Return true with probability exp(-u / t), for any u and 1 <= t <= 2^127 (algorithm 1). */
extern bool race_bernoulli_exp(RaceRandom *random, unsigned __int128 u, unsigned __int128 t);

/* Return the variance of discrete Laplace noise: 2 e^(-1/b) / (1 - e^(-1/b))^2, rounded. */
extern double race_discrete_laplace_variance(uint64_t scale);

#define RACE_MAX_VARIANCE ((uint64_t) 1 << 56)

/*
 * Draw one number of a discrete Gaussian exactly, pmf proportional to exp(-k^2 / (2 variance))
 * (Canonne, Kamath & Steinke 2020, algorithm 3); `variance` from 1 to RACE_MAX_VARIANCE.  The
 * variance of what is drawn is at most that.
 */
extern int64_t race_discrete_gaussian(RaceRandom *random, uint64_t variance);

#endif
