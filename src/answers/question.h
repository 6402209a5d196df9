/*
 * question.h
 *		The entry for all questions to a sketch.
 *
 * A question is a function that tells something of the counters or the count.  Every
 * question begins here: the functions below look into the sketch, and raise 55000 if it
 * is a sum of noise shares that has too few of them.  What estimates a sum or a density
 * takes a RaceQuestion, which nobody else makes.
 *
 * To add a question: a C file in src/answers, its SQL beside it, and a test.
 */
#ifndef RACE_QUESTION_H
#define RACE_QUESTION_H

#include "postgres.h"

#include "fmgr.h"

#include "../core/core.h"

typedef struct RaceQuestion
{
	RaceView	view;			/* of the sketch */
	RaceCallSite *site;
	/* the bucket of the query in each row; NULL without one, and of a partial query */
	const uint32 *buckets;
	/*
	 * Does the query leave out parts of a product?  Rows hash all parts together, so that
	 * only a model can answer.
	 */
	bool		partial;
	/* what is asked about instead of the last record of the site; or NULL */
	const RaceColumn *lifted;
} RaceQuestion;

/* Ask the sketch in argument `sketch` about the query in argument `sketch` + 1. */
extern void race_ask(FunctionCallInfo fcinfo, int sketch, RaceQuestion *question);

/*
 * Ask a sketch, at a call site of the caller's; and then about a query, which may be partial
 * if the sketch has a model (55000).
 */
extern void race_ask_sketch(RaceCallSite *site, Datum sketch,
							RaceQuestion *question);
extern void race_ask_about(RaceQuestion *question, Datum query);
extern void race_ask_about_vector(RaceQuestion *question, const double *x);
extern void race_ask_about_columns(RaceQuestion *question, const RaceColumn *columns);

/* The query of a surrogate loss, lifted as race_surrogate_query() does; it must stay. */
extern void race_ask_about_lifted(RaceQuestion *question, const RaceColumn *query);

/* The record that is asked about, as columns */
extern void race_question_record(const RaceQuestion *question, RaceColumn *columns);

/*
 * Ask the sketches in the first two arguments, each at a call site of its own, which stays
 * between calls.  Queries are of this type, if there are any.  Raise 55000 if one of them is
 * exact and the other one is not: what comes out would not be private.
 */
extern void race_ask_pair(FunctionCallInfo fcinfo, Oid query, RaceQuestion *a,
						  RaceQuestion *b);

#endif
