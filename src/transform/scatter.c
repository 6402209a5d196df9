/*
 * scatter.c
 *		What transforms are learned from.
 *
 * Means and products are updated vector by vector (Welford 1962): nothing large is subtracted.  Products are pooled, because every
 * transform here takes the classes to be spread alike; the scatter of all vectors is that
 * within classes and that of their means.
 *
 * A label is known by 64 bits of its text, so the state has a fixed size for each class.
 */
#include "postgres.h"

#include <math.h>

#include "utils/lsyscache.h"

#include "../record/vector.h"
#include "../server/argument.h"
#include "scatter.h"

/* What a transition keeps between calls */
typedef struct StepSite
{
	RaceArrayReader reader;
	FmgrInfo	label;			/* output of its type */
	double		x[RACE_SCATTER_DIMS];	/* the vector that was read last */
} StepSite;

/* ------------------------------------------------------------------ states */

RaceScatter *
race_scatter_create(uint32 dims, MemoryContext context)
{
	RaceScatter *scatter = MemoryContextAllocZero(context, sizeof(RaceScatter));

	scatter->dims = dims;
	scatter->capacity = 2;
	scatter->classes = MemoryContextAlloc(context, scatter->capacity * sizeof(RaceScatterClass));
	scatter->means = MemoryContextAlloc(context, scatter->capacity * dims * sizeof(double));
	scatter->products = MemoryContextAllocZero(context, RaceScatterProducts(dims) * sizeof(double));
	return scatter;
}

uint32
race_scatter_class(const RaceScatter *scatter, uint64 key)
{
	uint32		i;

	for (i = 0; i < scatter->n_classes; i++)
		if (scatter->classes[i].key == key)
			break;
	return i;
}

/* The number of the class with this key; a new one has no vectors, and mean 0. */
static uint32
find_class(RaceScatter *scatter, uint64 key)
{
	uint32		i = race_scatter_class(scatter, key);

	if (i < scatter->n_classes)
		return i;
	if (i == RACE_SCATTER_CLASSES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a transform is learned from vectors of up to %d labels",
						RACE_SCATTER_CLASSES)));
	if (i == scatter->capacity)
	{
		scatter->capacity *= 2;
		scatter->classes = repalloc(scatter->classes,
									scatter->capacity * sizeof(RaceScatterClass));
		scatter->means = repalloc(scatter->means, (Size) scatter->capacity *
								  scatter->dims * sizeof(double));
	}
	scatter->n_classes++;
	scatter->classes[i].key = key;
	scatter->classes[i].n = 0;
	memset(scatter->means + (Size) i * scatter->dims, 0, scatter->dims * sizeof(double));
	return i;
}

void
race_scatter_add(RaceScatter *scatter, uint64 key, double n, const double *mean)
{
	uint32		c = find_class(scatter, key);
	double		before = scatter->classes[c].n;
	double		all = before + n;
	double		weight = before * (n / all);
	double	   *to = scatter->means + (Size) c * scatter->dims;
	double	   *sum = scatter->products;
	double		deviation[RACE_SCATTER_DIMS];
	uint32		i;
	uint32		j;

	scatter->classes[c].n = all;
	for (i = 0; i < scatter->dims; i++)
	{
		deviation[i] = mean[i] - to[i];
		to[i] += deviation[i] * (n / all);
	}
	if (before == 0)
		return;
	for (i = 0; i < scatter->dims; i++)
		for (j = 0; j <= i; j++)
			*sum++ += weight * deviation[i] * deviation[j];
}

/* -------------------------------------------------------------- transitions */

void
race_scatter_check_dims(uint32 dims)
{
	if (dims > RACE_SCATTER_DIMS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a transform is learned from vectors of up to %d dimensions",
						RACE_SCATTER_DIMS)));
}

static StepSite *
step_site(FunctionCallInfo fcinfo, int x, int label)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;

	if (flinfo->fn_extra == NULL)
	{
		StepSite   *site = MemoryContextAllocZero(flinfo->fn_mcxt, sizeof(StepSite));
		Oid			output;
		bool		is_varlena;

		race_vector_prepare(&site->reader, race_argument_type(flinfo, x), flinfo->fn_mcxt);
		if (label != 0)
		{
			getTypeOutputInfo(race_argument_type(flinfo, label), &output, &is_varlena);
			fmgr_info_cxt(output, &site->label, flinfo->fn_mcxt);
		}
		flinfo->fn_extra = site;
	}
	return (StepSite *) flinfo->fn_extra;
}

/*
 * Read a vector.  It must have `dims` dimensions, or any number if that is 0.  Returns how
 * many it has.
 */
static uint32
read_vector(StepSite *site, Datum value, uint32 dims)
{
	RaceElements elements;

	race_array_open(&site->reader, value, &elements, false, false);
	race_check_length(elements.n, dims, false);
	race_scatter_check_dims(elements.n);
	race_vector_convert(&site->reader, &elements, NULL, site->x, false);
	return elements.n;
}

static uint64
label_key(FunctionCallInfo fcinfo, StepSite *site, int label)
{
	char	   *text;

	if (label == 0)
		return 0;
	text = OutputFunctionCall(&site->label, PG_GETARG_DATUM(label));
	return race_element_of_bytes(0, text, strlen(text));
}

Datum
race_scatter_step(FunctionCallInfo fcinfo, int x, int label)
{
	RaceScatter *scatter = PG_ARGISNULL(0) ? NULL : (RaceScatter *) PG_GETARG_POINTER(0);
	MemoryContext context = race_aggregate_context(fcinfo, RACE_SCATTER_AGGREGATES);
	StepSite   *site;
	uint32		dims;

	site = step_site(fcinfo, x, label);
	if (PG_ARGISNULL(x) || (label != 0 && PG_ARGISNULL(label)))
	{
		if (scatter == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(scatter);
	}
	dims = read_vector(site, PG_GETARG_DATUM(x), scatter == NULL ? 0 : scatter->dims);
	if (scatter == NULL)
		scatter = race_scatter_create(dims, context);
	race_scatter_add(scatter, label_key(fcinfo, site, label), 1, site->x);
	PG_RETURN_POINTER(scatter);
}

/* ----------------------------------------------------------------- answers */

const RaceScatter *
race_scatter_arg(FunctionCallInfo fcinfo)
{
	return PG_ARGISNULL(0) ? NULL : (const RaceScatter *) PG_GETARG_POINTER(0);
}

double
race_scatter_n(const RaceScatter *scatter)
{
	double		n = 0;
	uint32		i;

	for (i = 0; i < scatter->n_classes; i++)
		n += scatter->classes[i].n;
	return n;
}

const double *
race_scatter_class_mean(const RaceScatter *scatter, uint32 i)
{
	return scatter->means + (Size) i * scatter->dims;
}

void
race_scatter_mean(const RaceScatter *scatter, double *mean)
{
	double		n = race_scatter_n(scatter);
	uint32		c;
	uint32		i;

	memset(mean, 0, scatter->dims * sizeof(double));
	for (c = 0; c < scatter->n_classes; c++)
		for (i = 0; i < scatter->dims; i++)
			mean[i] += race_scatter_class_mean(scatter, c)[i] * (scatter->classes[c].n / n);
}

double
race_scatter_freedom(const RaceScatter *scatter)
{
	return race_scatter_n(scatter) - scatter->n_classes;
}

double
race_scatter_deviation(const RaceScatter *scatter, uint32 i)
{
	return sqrt(race_scatter_product(scatter, i, i) / race_scatter_freedom(scatter));
}

double
race_scatter_product(const RaceScatter *scatter, uint32 i, uint32 j)
{
	return scatter->products[(Size) Max(i, j) * (Max(i, j) + 1) / 2 + Min(i, j)];
}
