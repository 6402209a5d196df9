/*
 * core.h
 *		What answers see of the core: its only header that they include.
 *
 * Plain C sees the first part.  Sources that include postgres.h first see both.
 */
#ifndef RACE_CORE_H
#define RACE_CORE_H

#include "contingency.h"
#include "counters.h"
#include "loss_rows.h"
#include "measure.h"
#include "lsh.h"
#include "noise_state.h"
#include "sequences.h"
#include "series.h"
#include "table.h"

#ifdef POSTGRES_H
#include "authority.h"
#include "server.h"
#include "domain.h"
#include "moments.h"
#include "params.h"
#include "privatize.h"
#include "record.h"
#include "sketch.h"
#include "sketch_format.h"
#endif

#endif
