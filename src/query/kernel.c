/*
 * kernel.c
 *		race_kernel: the exact kernel value, ground truth for estimates.
 */
#include "postgres.h"

#include "fmgr.h"

#include "../sketch/params.h"
#include "../sketch/vector.h"

PG_FUNCTION_INFO_V1(race_kernel);

/* race_kernel(params, x, y) */
Datum
race_kernel(PG_FUNCTION_ARGS)
{
	const RaceParams *params = race_params_arg(PG_GETARG_DATUM(0));
	FmgrInfo   *flinfo = fcinfo->flinfo;
	RaceVectorReader *readers = (RaceVectorReader *) flinfo->fn_extra;
	const double *x;
	const double *y;
	uint32		n;

	if (readers == NULL)
	{
		readers = MemoryContextAlloc(flinfo->fn_mcxt,
									 2 * sizeof(RaceVectorReader));
		race_vector_prepare(&readers[0], get_fn_expr_argtype(flinfo, 1),
							flinfo->fn_mcxt);
		race_vector_prepare(&readers[1], get_fn_expr_argtype(flinfo, 2),
							flinfo->fn_mcxt);
		flinfo->fn_extra = readers;
	}

	/* without dims in the parameters, x says how many y must have */
	x = race_vector_read(&readers[0], PG_GETARG_DATUM(1), params->dims, &n);
	y = race_vector_read(&readers[1], PG_GETARG_DATUM(2), n, &n);
	PG_RETURN_FLOAT8(race_kernel_value(params, x, y, n));
}
