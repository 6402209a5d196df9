/*
 * prepared_record.h
 *		race_record: a bytea of a record that has been read, and can be counted anywhere
 */
#ifndef RACE_PREPARED_RECORD_H
#define RACE_PREPARED_RECORD_H

#include "postgres.h"

#include "hash/params.h"
#include "sketch/records.h"

/*
 * What race_record makes: a bytea of a record that has been read, and can be counted anywhere.
 *
 * It holds what is hashed, numbers and elements, so that whoever counts it need not know the type
 * that it came from.  Aggregates that are split over servers, such as those of Citus, need that:
 * they hand over only arguments whose types are declared exactly, and nothing about others.
 */

/* Return the next record in `records`, which was read for these parameters, as a race_record. */
extern Datum race_prepared_datum(const RaceRecords *records, const RaceParams *params);

/*
 * Write a race_record to the place of the next record in `records`, without completing it.  Raise
 * 22023 for one that was made for other parameters, as far as records differ by them.
 */
extern void race_prepared_read(Datum value, const RaceParams *params, RaceRecords *records);

#endif
