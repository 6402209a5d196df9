/*
 * kernel.c
 *		race_kernel: the exact kernel value, ground truth for estimates.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/memutils.h"

#include "../params/params.h"
#include "../record/record.h"
#include "../record/sort.h"
#include "../server/argument.h"

PG_FUNCTION_INFO_V1(race_kernel);

/* How both records are read, and space for them, kept between calls */
typedef struct KernelSite
{
	RaceRecordReader x_reader;
	RaceRecordReader y_reader;
	MemoryContext space;		/* of what follows */
	RaceParams *params;			/* or NULL, before the first use */
	RaceRecords *x;
	RaceRecords *y;
} KernelSite;

static KernelSite *
get_site(FmgrInfo *flinfo)
{
	if (flinfo->fn_extra == NULL)
	{
		KernelSite *site = MemoryContextAllocZero(flinfo->fn_mcxt, sizeof(KernelSite));

		race_record_prepare(&site->x_reader, race_argument_type(flinfo, 1),
							flinfo->fn_mcxt);
		race_record_prepare(&site->y_reader, race_argument_type(flinfo, 2),
							flinfo->fn_mcxt);
		site->y_reader.is_query = true;
		site->space = AllocSetContextCreate(flinfo->fn_mcxt, "race_kernel",
											ALLOCSET_START_SMALL_SIZES);
		flinfo->fn_extra = site;
	}
	return (KernelSite *) flinfo->fn_extra;
}

/*
 * Forget the lengths that were learned from records: the parameters do not state
 * them.
 */
static void
open_lengths(RaceRecords *records, const RaceParams *params)
{
	const RaceParams *part;
	int			i = 0;

	for (part = params; part != NULL; part = race_params_next(part, params))
		records->parts[i++].width = part->dims;
}

/* Make space for records of these parameters. */
static void
use_params(KernelSite *site, const RaceParams *params)
{
	if (site->params != NULL && race_params_same(site->params, params))
	{
		open_lengths(site->x, params);
		open_lengths(site->y, params);
		return;
	}
	site->params = NULL;		/* an error may come from here on */
	MemoryContextReset(site->space);
	site->x = race_records_create(params, site->space);
	site->y = race_records_create(params, site->space);
	site->y->are_queries = true;
	race_records_reserve(site->x, 1);
	race_records_reserve(site->y, 1);
	site->params = race_params_copy(params, site->space);
}

/* Columns with one record, valid until the next call */
static void
read_one(RaceRecordReader *reader, const RaceParams *params, Datum value,
		 RaceRecords *records, RaceColumn *columns)
{
	int			i;

	race_record_read(reader, params, value, records, false);
	for (i = 0; i < records->n_parts; i++)
		if (records->parts[i].kind == RACE_RECORD_SET && (records->any >> i & 1) == 0)
			race_normalize_set(records->parts[i].elements, &records->parts[i].starts[1]);
	race_records_columns(records, 0, columns);
}

/* race_kernel(params, x, y) */
Datum
race_kernel(PG_FUNCTION_ARGS)
{
	const RaceParams *params = race_params_arg(PG_GETARG_DATUM(0));
	KernelSite *site = get_site(fcinfo->flinfo);
	RaceColumn	x[RACE_MAX_PARTS];
	RaceColumn	y[RACE_MAX_PARTS];
	int			i;

	race_params_check_kernel(params);
	use_params(site, params);
	read_one(&site->x_reader, params, PG_GETARG_DATUM(1), site->x, x);
	/* if the parameters do not state dims, y must have as many as x */
	for (i = 0; i < site->x->n_parts; i++)
		if (site->y->parts[i].width == 0)
		{
			site->y->parts[i].width = site->x->parts[i].width;
			race_records_reserve(site->y, 1);
		}
	read_one(&site->y_reader, params, PG_GETARG_DATUM(2), site->y, y);
	PG_RETURN_FLOAT8(race_kernel_value(params, x, y));
}
