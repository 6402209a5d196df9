/*
 * describe.h
 *		race_describe: what the owner says of a column
 */
#ifndef RACE_DESCRIBE_H
#define RACE_DESCRIBE_H

#include "postgres.h"

#include "fmgr.h"

#include "release/columns.h"

/* A column and its description, which may wait for bounds by noisy counts */
typedef struct RaceDescribed
{
	RaceColumnsOf of;
	RaceSchemaColumn column;
	RaceDescription description;
} RaceDescribed;

/*
 * Check the arguments of race_describe(), and set all of a description but bounds by noisy counts.
 */
typedef void RaceDescribe(FunctionCallInfo fcinfo, const RaceLedger *ledger,
						  RaceDescribed *described);

/* Describe a column by bounds from noisy counts (release.c). */
extern Datum race_describe_privately(FunctionCallInfo fcinfo, RaceDescribe *prepare);

/*
 * Say which values columns of a dataset have: an object (jsonb) of lists, two bounds of a number or
 * date, or categories.
 */
extern void race_describe_columns(const RaceLedger *ledger, const char *name, Datum columns);

#endif
