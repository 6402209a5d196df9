/*
 * info.h
 *		What race_info tells of sketches and of moments alike.
 */
#ifndef RACE_INFO_H
#define RACE_INFO_H

#include "postgres.h"

#include "../core/core.h"

/*
 * The ten columns from "status" on: which noise a value has, and what it cost.  A unit is as
 * much as counters have for one record.
 */
extern void race_info_add_noise(RaceResultRow *row, const RaceNoise *noise, double unit);

#endif
