/*
 * write.c
 *		The model that a fit ends with, as a sketch has it.
 */
#include "postgres.h"

#include "work.h"

/* Does a point have a weight? */
static bool
is_heavy(const RaceFitWork *fit, uint32 i)
{
	return fit->weights[i] > 0 || fit->second[i] > 0;
}

static uint32
count_heavy(const RaceFitWork *fit)
{
	uint32		n = 0;
	uint32		i;

	for (i = 0; i < fit->points->n; i++)
		n += is_heavy(fit, i);
	return n;
}

/* Append a value of a part of point i to the words of a model. */
static uint64 *
write_value(uint64 *next, const RaceRecordsPart *part, uint32 i)
{
	const void *from = part->kind == RACE_RECORD_VECTOR ?
		(const void *) (part->numbers + (Size) i * part->width) :
		(const void *) (part->elements + (part->kind == RACE_RECORD_SET ?
										  part->starts[i] : (Size) i * part->width));
	Size		n = part->kind == RACE_RECORD_SET ?
		part->starts[i + 1] - part->starts[i] : part->width;

	if (n > 0)
		memcpy(next, from, n * sizeof(uint64));
	return next + n;
}

static uint64 *
write_part(uint64 *next, const RaceFitWork *fit, const RaceRecordsPart *part)
{
	uint64		start = 0;
	uint32		i;

	if (part->kind == RACE_RECORD_SET)
	{
		*next++ = 0;
		for (i = 0; i < fit->points->n; i++)
			if (is_heavy(fit, i))
				*next++ = start += part->starts[i + 1] - part->starts[i];
	}
	for (i = 0; i < fit->points->n; i++)
		if (is_heavy(fit, i))
			next = write_value(next, part, i);
	return next;
}

static void
write_texts(uint64 *offsets, const RaceFitWork *fit, char *const *texts, uint32 heavy)
{
	char	   *bytes = (char *) (offsets + heavy + 1);
	uint64		at = 0;
	uint32		i;

	*offsets++ = 0;
	for (i = 0; i < fit->points->n; i++)
		if (is_heavy(fit, i))
		{
			memcpy(bytes + at, texts[i], strlen(texts[i]));
			*offsets++ = at += strlen(texts[i]);
		}
}

void
race_fit_check_size(Size size)
{
	if (size > RACE_MAX_MODEL_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a model can be at most %d MB large",
						(int) (RACE_MAX_MODEL_BYTES / (1024 * 1024))),
				 errhint("Fit fewer points, or points with shorter texts.")));
}

/* A model of the points that have a weight.  Nothing is known of residuals yet. */
RaceModel *
race_fit_model(const RaceFitWork *fit, char *const *texts, Size *size)
{
	uint64		elements = 0;
	uint64		text_size = 0;
	uint32		heavy = count_heavy(fit);
	RaceModel  *model;
	uint64	   *next;
	uint32		i;
	int			k;

	for (i = 0; i < fit->points->n; i++)
		if (is_heavy(fit, i))
		{
			elements += race_records_sets_size(fit->points, i, 1) / sizeof(uint64);
			text_size += texts == NULL ? 0 : strlen(texts[i]);
		}
	*size = race_model_size(fit->view->params, heavy, elements, text_size);
	race_fit_check_size(*size);
	model = palloc_extended(*size, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	model->points = heavy;
	model->text_size = text_size;
	for (i = 0, heavy = 0; i < fit->points->n; i++)
		if (is_heavy(fit, i))
		{
			race_model_weights(model, RACE_HALF_FIRST)[heavy] = fit->weights[i];
			race_model_weights(model, RACE_HALF_SECOND)[heavy++] = fit->second[i];
		}
	next = race_model_words(model);
	for (k = 0; k < fit->points->n_parts; k++)
		next = write_part(next, fit, &fit->points->parts[k]);
	if (texts != NULL)
		write_texts(next, fit, texts, heavy);
	return model;
}
