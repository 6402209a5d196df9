/*
 * params_type.c
 *		Values of the type race_params: checks and comparisons
 */
#include "postgres.h"

#include "fmgr.h"

#include "hash/column.h"
#include "hash/contingency.h"
#include "hash/fields.h"
#include "hash/kernel.h"
#include "hash/kind.h"
#include "hash/params.h"
#include "hash/params_check.h"
#include "hash/table.h"
#include "sketch/compat.h"
#include "sketch/params_text.h"
#include "sketch/params_type.h"

RaceParamsDatum *
race_params_datum(const RaceParams *params)
{
	Size size = offsetof(RaceParamsDatum, params) + race_params_size(params);
	RaceParamsDatum *datum = palloc0(size);

	SET_VARSIZE(datum, size);
	datum->version = RACE_FORMAT_VERSION;
	memcpy(&datum->params, params, race_params_size(params));
	return datum;
}

RaceParams *
race_params_copy(const RaceParams *params, MemoryContext context)
{
	Size size = race_params_size(params);

	return memcpy(MemoryContextAlloc(context, size), params, size);
}

/* Return whether there are the kind and the kernel of a part. */
static bool
is_known(const RaceParams *part)
{
	const RaceSummaryKind *kind = race_summary_kind(part);

	return kind != NULL && kind->densities == (race_kernel_name(part->kernel) != NULL);
}

/*
 * Return whether the tables have the kinds and kernels of all parts.  In a damaged value they may
 * not.
 */
static bool
are_known(const RaceParams *params)
{
	/* this is called for every record, so the usual case is short */
	if (params->more == 0)
		return is_known(params);
	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
		if (!is_known(part))
			return false;
	return true;
}

const RaceParams *
race_params_arg(Datum value)
{
	RaceParamsDatum *datum = (RaceParamsDatum *) PG_DETOAST_DATUM(value);

	if (VARSIZE(datum) < sizeof(RaceParamsDatum) || datum->version != RACE_FORMAT_VERSION ||
		VARSIZE(datum) != offsetof(RaceParamsDatum, params) + race_params_size(&datum->params) ||
		!are_known(&datum->params))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED), errmsg("race_params value of unknown format")));
	return &datum->params;
}

bool
race_params_check(const RaceParams *params, Node *escontext)
{
	char message[256];

	if (race_params_problem(params, race_params_size(params), message, sizeof(message)) != NULL)
		ereturn(
			escontext, false,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("invalid race_params: %s", message)));
	return true;
}

void
race_params_check_complete(const RaceParams *params)
{
	const RaceParams *part = params;

	if (race_params_complete(params))
		return;
	/* in a product: the first part without dims */
	/* bound: the parts, one of which lacks dims */
	while (part->dims != 0 || race_record_kind(part) == RACE_RECORD_SET)
		part = race_params_next(part, params);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("race_params do not state the number of dimensions"),
			 errdetail("The parameters are %s.", race_params_brief(params)),
			 errhint("Give dims, as in race_params('%s', dims => 3).", race_part_name(part))));
}

void
race_params_check_kernel(const RaceParams *params)
{
	const RaceSummaryKind *kind = race_summary_kind(params);

	if (!kind->densities)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("expected parameters of a kernel, found those of %s", kind->name)));
}

void
race_params_check_exact(const RaceParams *params)
{
	if (race_summary_kind(params)->matrix && params->moments.coarser != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("these parameters are of noise shares of moments"),
				 errhint("Make those of exact ones by race_moment_params.")));
	if (race_params_are_measured(params))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("these parameters are of private tables"),
				 errhint("Exact tables are of all pairs: leave measured, joined and signs out.")));
}

bool
race_params_same(const RaceParams *a, const RaceParams *b)
{
	return a->more == b->more && memcmp(a, b, race_params_size(a)) == 0;
}

bool
race_params_same_rows(const RaceParams *a, const RaceParams *b)
{
	const Size before = offsetof(RaceParams, rows);
	const Size after = before + sizeof(a->rows);

	return a->more == b->more && memcmp(a, b, before) == 0 &&
		memcmp((const char *) a + after, (const char *) b + after, race_params_size(a) - after) ==
		0;
}

/* Return how often the cells of `fine` are halved to be those of `coarse`; 0 if they never are. */
static int
halvings_between(const RaceParams *fine, const RaceParams *coarse)
{
	double ratio = race_array(fine, RACE_ARRAY_CELLS)[0] / race_array(coarse, RACE_ARRAY_CELLS)[0];
	int halvings = 0;

	/* bound: the exponent of a double; numbers of cells are finite */
	for (; ratio > 1; ratio /= 2)
		halvings++;
	return ratio == 1 ? halvings : 0;
}

/* Return a copy with cells after so many halvings, in one level. */
static RaceParams *
coarsen_params(const RaceParams *params, int halvings)
{
	RaceParams *copy = race_params_copy(params, CurrentMemoryContext);
	RaceGridChoice choice = {halvings, 1};

	race_summary_kind(copy)->coarsen(copy, choice);
	return copy;
}

bool
race_params_common_cells(const RaceParams *a, const RaceParams *b, int halvings[2])
{
	RaceParams *coarse[2];
	bool same;

	if (race_summary_kind(a)->coarsen == NULL || race_summary_kind(b)->coarsen == NULL ||
		a->dims != b->dims)
		return false;
	halvings[0] = halvings_between(a, b);
	halvings[1] = halvings_between(b, a);
	coarse[0] = coarsen_params(a, halvings[0]);
	coarse[1] = coarsen_params(b, halvings[1]);
	same = race_params_same(coarse[0], coarse[1]);
	pfree(coarse[0]);
	pfree(coarse[1]);
	return same;
}

bool
race_params_same_array(const RaceParams *a, const RaceParams *b, RaceArray array)
{
	uint64 n = race_array_length(a, array);

	return n == race_array_length(b, array) &&
		(n == 0 || memcmp(race_array(a, array), race_array(b, array), n * sizeof(double)) == 0);
}

bool
race_params_same_kernel(const RaceParams *a, const RaceParams *b)
{
	const RaceParams *x = a;
	const RaceParams *y = b;

	for (; x != NULL && y != NULL; x = race_params_next(x, a), y = race_params_next(y, b))
		if (x->kind != y->kind || x->kernel != y->kernel || x->dims != y->dims ||
			x->power != y->power || x->bandwidth != y->bandwidth ||
			x->own.bits[0] != y->own.bits[0] || x->own.bits[1] != y->own.bits[1] ||
			!race_params_same_array(x, y, RACE_ARRAY_BANDWIDTHS) ||
			!race_params_same_array(x, y, RACE_ARRAY_MATRIX) ||
			!race_params_same_array(x, y, RACE_ARRAY_OFFSET))
			return false;
	return x == NULL && y == NULL;
}

void
race_params_check_same(const RaceParams *a, const RaceParams *b)
{
	if (!race_params_same(a, b))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("sketches with different parameters cannot be combined"),
				 errdetail_internal("%s", race_params_difference(a, b, RACE_FIELDS_ALL))));
}
