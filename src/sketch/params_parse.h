/*
 * params_parse.h
 *		The text form of race_params: input
 */
#ifndef RACE_PARAMS_PARSE_H
#define RACE_PARAMS_PARSE_H

#include "postgres.h"

#include "nodes/nodes.h"

#include "hash/params.h"

/* Return the parameters in a text; NULL after a soft error. */
extern RaceParams *race_params_parse(const char *text, Node *escontext);

#endif
