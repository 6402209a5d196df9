/*
 * release_request.h
 *		What is asked of a release, checked: public facts
 */
#ifndef RACE_RELEASE_REQUEST_H
#define RACE_RELEASE_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "privacy/noise.h"

typedef struct RaceRequest
{
	double epsilon;
	double delta;
	uint32_t rows;              /* 0: to be chosen */
	bool fit;                   /* whether a model will be fitted to the release */
	uint32_t max_contributions; /* records of a person; with weights, times the largest weight */
	RaceNeighbors neighbors;

	/*
	 * Of records with weights: the largest weight, else 0; and how many binary digits weights have
	 * after the point.  Exact counters and counts have these digits, too, and what is drawn has
	 * them until noise was added.
	 */
	uint32_t weight_max;
	uint32_t weight_bits;

	/*
	 * Of a value of a series: in how many of these a record is (series.h); else 0.  Public facts
	 * alone then say what is kept, so that values can be added up, and the value states the cost of
	 * the series.
	 */
	uint32_t levels;
	bool zcdp; /* whether rho is added up with that of other releases */

	/*
	 * What was drawn before, to choose categories, takes its part of the same account of Gaussian
	 * noise: numbers that changed by so much, squared, with this variance; or 0.
	 */
	uint64_t chosen_squared;
	uint64_t chosen_variance;
} RaceRequest;

/*
 * Return whether the exact account (budget.h) covers a request with a delta.  Sums of rho, and
 * substitution, stay in zCDP.
 */
static inline bool
race_request_exact(const RaceRequest *request)
{
	return request->neighbors == RACE_NEIGHBORS_ADD_REMOVE && !request->zcdp;
}

/*
 * Return the records of a person, with weights in places of their last digit: at most 2^31.  0 if
 * there were more: then nothing can be paid for.
 */
static inline uint32_t
race_person_records(const RaceRequest *request)
{
	uint64_t most = UINT64_C(1) << 31;

	return request->weight_bits > 31 || request->max_contributions > most >> request->weight_bits ?
		0 :
		request->max_contributions << request->weight_bits;
}

/*
 * Return what a record of the largest weight adds, in places of its last digit; 0 without weights.
 */
static inline uint32_t
race_largest_weight(const RaceRequest *request)
{
	return request->weight_max << request->weight_bits;
}

/*
 * Return the largest weight that a record may have been counted with, in these places: without a
 * largest weight, that of 1.  0 beyond the limits.
 */
static inline uint64_t
race_weight_unit(const RaceRequest *request)
{
	return request->weight_bits > 31 ?
		0 :
		(uint64_t) (request->weight_max > 0 ? request->weight_max : 1) << request->weight_bits;
}

#endif
