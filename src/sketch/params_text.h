/*
 * params_text.h
 *		The text form of race_params: output
 */
#ifndef RACE_PARAMS_TEXT_H
#define RACE_PARAMS_TEXT_H

#include "postgres.h"

#include "hash/params.h"

/*
 * Return the text form, palloc'd: "l2(dims=3, bandwidth=5, …)", or several with * between.  It
 * names every parameter, so that a dump never depends on the defaults of the version that reads
 * it.  In the brief one for messages, long arrays are left out.
 */
extern char *race_params_text(const RaceParams *params);
extern char *race_params_brief(const RaceParams *params);

#endif
