/*
 * known.h
 *		The cache of derived objects: what is computed of a sketch once for a session.
 *
 * One cache holds objects of all kinds: unpacked counters, evaluators, fitted models and others.
 * A kind is a static RaceDerivedKind, in the file that uses it.  The identity of a sketch and the
 * kind are the key.
 */
#ifndef RACE_KNOWN_H
#define RACE_KNOWN_H

#include "postgres.h"

#include "../cache/cache.h"
#include "sketch.h"

/* What every object begins with */
typedef struct RaceKnown
{
	RaceCacheEntry base;		/* must be first */
	const struct RaceDerivedKind *kind;
	uint64		identity;		/* these three identify the sketch */
	RaceHeader	header;
	RaceParams *params;
} RaceKnown;

typedef struct RaceDerivedKind
{
	const char *name;			/* of memory contexts */

	/*
	 * Compute an object in a memory context of its own, which is not the current one, and begin
	 * with race_known_init().  Returns it, and its size in bytes.
	 */
	void	   *(*create) (const RaceView *view, void *question, MemoryContext context, Size *size);

	/* Is an object of this sketch right for a question?  NULL: always */
	bool		(*fits) (const void *object, const void *question);
} RaceDerivedKind;

/* Say which sketch an object is of.  The parameters are copied to the context. */
extern void race_known_init(RaceKnown *known, const RaceView *view, MemoryContext context);

extern bool race_known_is_of(const RaceKnown *known, const RaceView *view);

/*
 * The object of a kind for a sketch, which is computed if the session does not have it.
 * `question` is handed to the functions of the kind.  With a user more; or valid until the next
 * call with this site and kind.
 */
extern void *race_derived_acquire(const RaceDerivedKind *kind, const RaceView *view, void *question);
extern void race_derived_release(void *object);
extern void *race_derived_at(RaceCallSite *site, const RaceDerivedKind *kind, const RaceView *view,
							 void *question);

#endif							/* RACE_KNOWN_H */
