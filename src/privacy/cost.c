/*
 * cost.c
 *		What a release would cost, and how wrong its answers would be, before there
 *		is one: race_privacy_cost, race_suggest_rows.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"

#include "../lsh/moments.h"
#include "../lsh/surrogate.h"
#include "../server/result.h"
#include "checked_plan.h"

PG_FUNCTION_INFO_V1(race_privacy_cost);
PG_FUNCTION_INFO_V1(race_suggest_rows);

/* Raise 22023 unless x is within these bounds, both included. */
static double
checked_number(const char *name, double x, double low, double high)
{
	if (!(x >= low && x <= high))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be a number between %g and %g", name, low, high)));
	return x;
}

/*
 * What noise may have in a mean surrogate loss.  From coefficients of 0 to the best ones the
 * loss of records that fill their radius falls by .0005 to .002, and where noise is as large,
 * fitted coefficients were wrong by a tenth (test/bench/LEARN-LOSS.md).
 */
#define TOO_NOISY	1e-3

static void
warn_of_loss(const RaceParams *params, double noise, double records)
{
	uint32		queries = race_kernel_type(params->kernel)->queries;
	double		stddev = sqrt(queries * noise) / records;

	if (stddev > TOO_NOISY)
		ereport(WARNING,
				(errmsg("records and epsilon are too few for a surrogate loss"),
				 errdetail("Noise in the mean loss would have a standard deviation of %.2g; above %g, coefficients are likely to be wrong by a tenth or more.",
						   stddev, TOO_NOISY),
				 errhint("Use more records, a larger epsilon, a delta, or without a delta fewer rows.")));
}

#define MAX_RECORDS		4.611686018427388e18	/* 2^62 */

/*
 * race_privacy_cost(params, epsilon, delta, rows, max_contributions, neighbors,
 * records, fit)
 */
Datum
race_privacy_cost(PG_FUNCTION_ARGS)
{
	bool		has_records = !PG_ARGISNULL(6);
	double		records = has_records ?
		checked_number("records", PG_GETARG_FLOAT8(6), 1, MAX_RECORDS) : 0;
	const RaceParams *params;
	RaceRequest request;
	RacePlan	plan;
	RaceResultRow row;
	bool		sums;			/* of a kernel: not of moments */
	double		noise;
	double		unit;
	double		error;

	race_row_start(&row, fcinfo);
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	params = race_params_arg(PG_GETARG_DATUM(0));
	if (!race_read_request(fcinfo, params, 3, 7, &request))
		PG_RETURN_NULL();
	sums = !race_is_moments(params);
	if (request.rows == 0 && !has_records && sums && (request.delta == 0 || race_is_grid(params)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("what a release keeps depends on the number of records"),
				 errhint("Give records, as far as it is public, or rows.")));
	race_check_usual_plan(&request, params, race_usual_mass(records), &plan);

	noise = race_expected_noise(params, &plan);
	unit = (double) race_record_unit(params);
	error = has_records && sums ? sqrt(noise + race_expected_sampling(&request, params, plan.kept,
														race_usual_mass(records))) /
		records : 0;
	if (has_records && race_is_surrogate(params))
		warn_of_loss(params, noise, records);
	race_row_add_text(&row, race_mechanism_name(plan.noise.mechanism));
	race_row_add(&row, Int32GetDatum(plan.kept.rows));
	race_row_add_if(&row, plan.noise.delta == 0,
					Float8GetDatum(plan.noise.epsilon));
	race_row_add(&row, Float8GetDatum(plan.noise.epsilon));
	race_row_add(&row, Float8GetDatum(plan.noise.delta));
	race_row_add(&row, Float8GetDatum(plan.noise.rho));
	race_row_add(&row, Float8GetDatum(sqrt(plan.noise.counter_variance) / unit));
	race_row_add(&row, Float8GetDatum(sqrt(plan.noise.count_variance)));
	race_row_add_if(&row, sums, Float8GetDatum(sqrt(noise)));
	race_row_add_if(&row, has_records && sums, Float8GetDatum(error));
	PG_RETURN_DATUM(race_row_datum(&row));
}

/* race_suggest_rows(records, epsilon, kernel_mass) */
Datum
race_suggest_rows(PG_FUNCTION_ARGS)
{
	double		records = checked_number("records", PG_GETARG_FLOAT8(0), 1, MAX_RECORDS);
	double		epsilon = checked_number("epsilon", PG_GETARG_FLOAT8(1), 0, INFINITY);
	double		mass = checked_number("kernel_mass", PG_GETARG_FLOAT8(2), 0, 1);
	double		rows = mass == 0 ? 1 : ceil(records * mass * epsilon * M_SQRT1_2);

	PG_RETURN_INT32((int32) Min(Max(rows, 1), PG_INT32_MAX));
}
