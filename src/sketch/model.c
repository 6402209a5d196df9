/*
 * model.c
 *		The fitted model in a sketch: where its parts are, and its validator.
 */
#include "postgres.h"

#include <float.h>

#include "mb/pg_wchar.h"

#include "../lsh/moments.h"
#include "model.h"

/* Words of a part, for so many points.  Sets have starts, and elements besides. */
static uint64
part_words(const RaceParams *part, uint64 points)
{
	return race_record_kind(part) == RACE_RECORD_SET ? points + 1 : points * part->dims;
}

uint64
race_model_size(const RaceParams *params, uint64 points, uint64 elements,
				uint64 text_size)
{
	const RaceParams *part;
	uint64		words = 2 * points + elements;

	for (part = params; part != NULL; part = race_params_next(part, params))
		words += part_words(part, points);
	if (!race_model_is_of_vectors(params))
		words += points + 1;
	return offsetof(RaceModel, words) + words * sizeof(uint64) +
		TYPEALIGN64(sizeof(uint64), text_size);
}

double *
race_model_weights(const RaceModel *model, RaceHalf half)
{
	return (double *) model->words + (half == RACE_HALF_FIRST ? 0 : model->points);
}

double
race_model_weight(const RaceModel *model, uint64 i)
{
	return (race_model_weights(model, RACE_HALF_FIRST)[i] +
			race_model_weights(model, RACE_HALF_SECOND)[i]) / 2;
}

uint64 *
race_model_words(const RaceModel *model)
{
	return (uint64 *) model->words + 2 * model->points;
}

/* The columns of all parts; returns what follows them. */
static const uint64 *
find_columns(const RaceModel *model, const RaceParams *params, RaceColumn *columns)
{
	const uint64 *next = race_model_words(model);
	const RaceParams *part;

	for (part = params; part != NULL; part = race_params_next(part, params), columns++)
	{
		RaceRecordKind kind = race_record_kind(part);

		memset(columns, 0, sizeof(RaceColumn));
		columns->width = part->dims;
		if (kind == RACE_RECORD_VECTOR)
			columns->numbers = (const double *) next;
		else if (kind == RACE_RECORD_ROW)
			columns->elements = next;
		else
			columns->starts = (const size_t *) next;
		next += part_words(part, model->points);
		if (kind == RACE_RECORD_SET)
		{
			columns->elements = next;
			next += columns->starts[model->points];
		}
	}
	return next;
}

void
race_model_columns(const RaceModel *model, const RaceParams *params, RaceColumn *columns)
{
	find_columns(model, params, columns);
}

const char *
race_model_text(const RaceModel *model, const RaceParams *params, uint64 i, Size *length)
{
	RaceColumn	columns[RACE_MAX_PARTS];
	const uint64 *offsets = find_columns(model, params, columns);

	*length = offsets[i + 1] - offsets[i];
	return (const char *) (offsets + model->points + 1) + offsets[i];
}

/* --------------------------------------------------------------- validator */

/* Do n + 1 numbers ascend from 0 to at most `limit`? */
static bool
ascend(const uint64 *starts, uint64 n, uint64 limit)
{
	uint64		i;

	if (starts[0] != 0)
		return false;
	for (i = 0; i < n; i++)
		if (starts[i + 1] < starts[i] || starts[i + 1] > limit)
			return false;
	return true;
}

static bool
are_between(const double *x, uint64 n, double least, double most)
{
	uint64		i;

	for (i = 0; i < n; i++)
		if (!(x[i] >= least && x[i] <= most))
			return false;
	return true;
}

/* The kernel counts the elements that sets share by walking along both. */
static bool
sets_are_sorted(const RaceColumn *column, uint64 n)
{
	uint64		i;
	size_t		j;

	for (i = 0; i < n; i++)
		for (j = column->starts[i] + 1; j < column->starts[i + 1]; j++)
			if (column->elements[j] <= column->elements[j - 1])
				return false;
	return true;
}

/* The number of elements of all sets; sets *bad if starts lead outside of the model. */
static uint64
count_elements(const RaceModel *model, Size size, const RaceParams *params, bool *bad)
{
	const uint64 *next = race_model_words(model);
	const uint64 *end = (const uint64 *) ((const char *) model + size);
	const RaceParams *part;
	uint64		elements = 0;

	for (part = params; part != NULL && !*bad; part = race_params_next(part, params))
	{
		uint64		words = part_words(part, model->points);

		*bad = (uint64) (end - next) < words;
		if (!*bad && race_record_kind(part) == RACE_RECORD_SET)
		{
			*bad = !ascend(next, model->points, (uint64) (end - next) - words);
			if (!*bad)
			{
				elements += next[model->points];
				words += next[model->points];
			}
		}
		next += *bad ? 0 : words;
	}
	return elements;
}

static const char *
texts_problem(const RaceModel *model, const RaceParams *params)
{
	RaceColumn	columns[RACE_MAX_PARTS];
	const uint64 *offsets;
	uint64		i;

	if (race_model_is_of_vectors(params))
		return model->text_size == 0 ? NULL : "Points of a model that are vectors have no texts.";
	offsets = find_columns(model, params, columns);
	if (!ascend(offsets, model->points, model->text_size) ||
		offsets[model->points] != model->text_size)
		return "The texts of a model are cut off.";
	for (i = model->text_size; i < TYPEALIGN64(sizeof(uint64), model->text_size); i++)
		if (((const char *) (offsets + model->points + 1))[i] != 0)
			return "The bytes after the texts of a model are not zero.";
	for (i = 0; i < model->points; i++)
	{
		Size		length;
		const char *text = race_model_text(model, params, i, &length);

		if (memchr(text, 0, length) != NULL || !pg_verifymbstr(text, length, true))
			return "The text of a point is not valid in the encoding of the database.";
	}
	return NULL;
}

const char *
race_model_problem(const RaceModel *model, Size size, const RaceParams *params)
{
	RaceColumn	columns[RACE_MAX_PARTS];
	const RaceParams *part;
	uint64		elements;
	bool		bad = false;
	int			i = 0;

	if (size < offsetof(RaceModel, words) || size > RACE_MAX_MODEL_BYTES ||
		size % sizeof(uint64) != 0 || model->points < 1 ||
		model->points > RACE_MAX_POINTS || model->text_size > size ||
		size < offsetof(RaceModel, words) + 2 * model->points * sizeof(uint64))
		return "The size of a model is wrong.";
	elements = count_elements(model, size, params, &bad);
	if (bad || size != race_model_size(params, model->points, elements, model->text_size))
		return "The size of a model does not fit its points.";
	if (!are_between(&model->residual_variance, 1, 0, RACE_MAX_RESIDUAL_VARIANCE) ||
		!are_between(&model->misfit, 1, 0, RACE_UNTESTED) ||
		!are_between(race_model_weights(model, RACE_HALF_FIRST), 2 * model->points, 0,
					 RACE_MAX_WEIGHT))
		return "A number of a model is out of range.";
	find_columns(model, params, columns);
	for (part = params; part != NULL; part = race_params_next(part, params), i++)
		if ((race_record_kind(part) == RACE_RECORD_VECTOR &&
			 !are_between(columns[i].numbers, model->points * part->dims, -DBL_MAX, DBL_MAX)) ||
			(race_record_kind(part) == RACE_RECORD_SET &&
			 !sets_are_sorted(&columns[i], model->points)))
			return "A point of a model is not a record.";
	return texts_problem(model, params);
}
