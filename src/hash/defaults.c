/*
 * defaults.c
 *		What "auto" chooses for parameters
 */
#include "hash/defaults.h"
#include "hash/kernel.h"
#include "hash/kind.h"
#include "hash/params.h"
#include "hash/sobol.h"

int
race_default_sequence(const RaceParams *part, uint32_t taken)
{
	if (!race_summary_kind(part)->draws(part))
		return RACE_SEQUENCE_INDEPENDENT;
	if (race_sobol_fits(part, taken))
		return RACE_SEQUENCE_SOBOL;
	return (race_kernel_type(part->kernel)->takes & RACE_TAKES_STRUCTURED) != 0 && part->dims > 0 &&
			part->outputs == 0 ?
		RACE_SEQUENCE_STRUCTURED :
		RACE_SEQUENCE_INDEPENDENT;
}

bool
race_can_fold(const RaceParams *params)
{
	const RaceKernelType *type = race_kernel_type(params->kernel);

	if (!race_summary_kind(params)->hashed)
		return true; /* nothing is rehashed */
	return race_params_next(params, params) == NULL && type->can_fold != NULL &&
		type->can_fold(params->power, params->range);
}

int
race_default_rehash(const RaceParams *params)
{
	return race_can_fold(params) ? RACE_REHASH_FOLD : RACE_REHASH_MULTILINEAR;
}
