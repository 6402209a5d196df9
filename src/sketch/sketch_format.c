/*
 * sketch_format.c
 *		The stored format of race_sketch: validation, text and binary forms
 */
#include "postgres.h"

#include <float.h>

#include "common/base64.h"
#include "fmgr.h"
#include "libpq/pqformat.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "port/pg_crc32c.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "hash/column.h"
#include "hash/contingency.h"
#include "hash/kernel.h"
#include "hash/moment_sums.h"
#include "hash/params.h"
#include "sketch/bytes.h"
#include "sketch/compat.h"
#include "sketch/params_type.h"
#include "sketch/params_wire.h"
#include "sketch/sketch.h"
#include "sketch/sketch_format.h"
#include "hash/kind.h"
#include "hash/model_rows.h"
#include "sketch/text.h"
#include "sketch/value_columns.h"

/*
 * The wire format of race_sketch, and its validator.
 *
 * All fields are little-endian; reserved ones are zero, and checked.
 *
 * 0	u8	version = 3				40	f64 rho
 * 1	u8	width of a counter		48	f64 variance of a counter's noise
 * 2	u8	status					56	f64 variance of the count's noise
 * 3	u8	mechanism				64	u32 parties with noise shares
 * 4	u8	neighbors				68	u32 colluders
 * 5	1 byte reserved				72	u32 dropouts
 * 6	u8	1 with columns, or 0	76	u32 bytes of the model
 * 7	1 byte reserved
 * 8	u32 max_contributions		80	params (params_wire.c)
 * 12	u32 releases					u32 bytes of the columns, and these, if there are any
 * 16	i64 count						u64 ids of shares, as many as releases
 * 24	f64 epsilon						rows * range counters, row by row
 * 32	f64 delta
 * the model (sketch_format.h), in words of 8 bytes
 * end	u32 CRC-32C of all bytes before it
 *
 * The width is 1, 2, 4 or 8, the narrowest that holds all counters.  So equal sketches are equal
 * bytes.
 */

StaticAssertDecl(sizeof(RaceNoise) == 64, "no padding: compared as bytes");
StaticAssertDecl(offsetof(RaceSketchDatum, params) % 8 == 0, "parameters and counters are aligned");

#define SKETCH_WIRE_HEADER 80
#define COLUMNS_WIRE_SIZE(n) ((n) > 0 ? sizeof(uint32) + (Size) (n) : 0)
#define SKETCH_WIRE_SIZE(params_size, n) (SKETCH_WIRE_HEADER + (params_size) + (n) + 4)

/* Copy counters from native to little-endian order, or back. */
static void
copy_counters(char *to, const char *from, Size n, int width)
{
#ifdef WORDS_BIGENDIAN

	for (Size i = 0; i < n; i++)
		for (int b = 0; b < width; b++)
			to[i * width + b] = from[i * width + width - 1 - b];
#else
	memcpy(to, from, n * width);
#endif
}

static uint32
compute_checksum(const char *bytes, Size size)
{
	pg_crc32c crc;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, bytes, size);
	FIN_CRC32C(crc);
	return crc;
}

/* ---------------------------------------------------------------- writing */

/* Copy n counters to a narrower width. */
static void
put_counters(StringInfo out, const void *counters, int from_width, int to_width, Size n)
{
	int64 block[RACE_COUNTER_BLOCK];
	int64 narrow[RACE_COUNTER_BLOCK];

	enlargeStringInfo(out, n * to_width);
	for (Size i = 0; i < n; i += RACE_COUNTER_BLOCK)
	{
		Size m = Min(n - i, RACE_COUNTER_BLOCK);

		CHECK_FOR_INTERRUPTS();
		race_counters_load(counters, from_width, i, m, block);
		race_counters_store(narrow, to_width, 0, m, block);
		copy_counters(out->data + out->len, (const char *) narrow, m, to_width);
		out->len += m * to_width;
	}
}

/* Copy a model from native to little-endian order, or back.  Texts at its end are bytes. */
static void
copy_model(char *to, const char *from, Size size, uint64 text_size)
{
	Size words = (size - TYPEALIGN64(sizeof(uint64), text_size)) / sizeof(uint64);

	copy_counters(to, from, words, sizeof(uint64));
	memcpy(to + words * sizeof(uint64), from + words * sizeof(uint64),
		   size - words * sizeof(uint64));
}

static void
write_wire(StringInfo out, const RaceView *view)
{
	const RaceNoise *noise = &view->header->noise;
	int start = out->len;
	int width = race_view_width(view);

	race_put(out, RACE_FORMAT_VERSION, 1);
	race_put(out, width, 1);
	race_put(out, noise->status, 1);
	race_put(out, noise->mechanism, 1);
	race_put(out, noise->neighbors, 1);
	race_put(out, 0, 1);
	race_put(out, view->columns_size > 0, 1);
	race_put(out, 0, 1);
	race_put(out, noise->max_contributions, 4);
	race_put(out, noise->releases, 4);
	race_put(out, (uint64) view->header->count, 8);
	race_put_double(out, noise->epsilon);
	race_put_double(out, noise->delta);
	race_put_double(out, noise->rho);
	race_put_double(out, noise->counter_variance);
	race_put_double(out, noise->count_variance);
	race_put(out, noise->parties, 4);
	race_put(out, noise->colluders, 4);
	race_put(out, noise->dropouts, 4);
	race_put(out, view->model_size, 4);
	race_params_write(out, view->params);
	if (view->columns_size > 0)
	{
		race_put(out, view->columns_size, sizeof(uint32));
		appendBinaryStringInfo(out, view->columns, view->columns_size);
	}
	for (Size i = 0; i < RaceShares(view->header); i++)
		race_put(out, view->shares[i], 8);

	put_counters(out, view->counters, view->width, width, RaceCounters(view->params));
	enlargeStringInfo(out, view->model_size);
	if (view->model_size > 0)
		copy_model(out->data + out->len, (const char *) view->model, view->model_size,
				   view->model->text_size);
	out->len += view->model_size;
	race_put(out, compute_checksum(out->data + start, out->len - start), 4);
}

/* ---------------------------------------------------------------- reading */

/*
 * Read what comes before the parameters; return what is wrong with it, or NULL.  The size of the
 * columns becomes 1 if there are some.
 */
static const char *
take_header(const unsigned char **next, RaceSketchDatum *flat)
{
	RaceNoise *noise = &flat->header.noise;
	bool zeros;

	memset(flat, 0, offsetof(RaceSketchDatum, params));
	flat->version = race_take(next, 1);
	flat->width = race_take(next, 1);
	noise->status = race_take(next, 1);
	noise->mechanism = race_take(next, 1);
	noise->neighbors = race_take(next, 1);
	zeros = race_take(next, 1) == 0;
	flat->columns_size = race_take(next, 1);
	zeros = race_take(next, 1) == 0 && flat->columns_size <= 1 && zeros;
	noise->max_contributions = race_take(next, 4);
	noise->releases = race_take(next, 4);
	flat->header.count = (int64) race_take(next, 8);
	noise->epsilon = race_take_double(next);
	noise->delta = race_take_double(next);
	noise->rho = race_take_double(next);
	noise->counter_variance = race_take_double(next);
	noise->count_variance = race_take_double(next);
	noise->parties = race_take(next, 4);
	noise->colluders = race_take(next, 4);
	noise->dropouts = race_take(next, 4);
	flat->model_size = race_take(next, 4);
	if (!zeros)
		return "Reserved bytes are not zero.";
	if (flat->header.count < -RACE_MAX_COUNT || flat->header.count > RACE_MAX_COUNT)
		return "A counter is out of range.";
	return race_noise_problem(noise);
}

/* Read what follows the parameters: columns, ids, counters, model.  Return what is wrong, or NULL.
 */
static const char *
take_body(const unsigned char *next, RaceSketchDatum *flat)
{
	Size n = RaceCounters(&flat->params);
	uint64 *shares = RaceFlatShares(flat);
	const unsigned char *model;
	const char *problem;
	uint64 text_size;
	int64 min;
	int64 max;

	if (flat->columns_size > 0)
	{
		char *columns = RaceFlatColumnsAt(flat);

		memcpy(columns, next, flat->columns_size);
		next += flat->columns_size;
		problem = race_columns_problem(columns, flat->columns_size, &flat->params);
		if (problem != NULL)
			return problem;
	}
	for (Size i = 0; i < RaceShares(&flat->header); i++)
	{
		shares[i] = race_take(&next, 8);
		if (i > 0 && shares[i] <= shares[i - 1])
			return "Shares are not in order, or there twice.";
	}
	copy_counters(RaceFlatCounters(flat), (const char *) next, n, flat->width);
	race_counters_bounds(RaceFlatCounters(flat), flat->width, n, &min, &max);
	if (min < -RACE_MAX_COUNT || max > RACE_MAX_COUNT)
		return "A counter is out of range.";
	if (flat->width != race_counters_width_for(min, max))
		return "Counters are wider than they need to be, or not wide enough.";
	if (flat->model_size == 0)
		return NULL;
	next += n * flat->width;
	model = next;
	next += offsetof(RaceModel, text_size);
	if (flat->model_size < offsetof(RaceModel, words) || flat->model_size % sizeof(uint64) != 0 ||
		(text_size = race_take(&next, sizeof(uint64))) >
			flat->model_size - offsetof(RaceModel, words))
		return "The size of a model is wrong.";
	copy_model((char *) RaceFlatModel(flat), (const char *) model, flat->model_size, text_size);
	return race_model_problem(RaceFlatModel(flat), flat->model_size, &flat->params);
}

/*
 * Read a sketch from outside bytes, which nothing else validates: raise 22P03 for what is not a
 * value at all and 22023 for parameters out of their limits; return NULL after a soft error.
 */
static RaceSketchDatum *
read_wire(const char *bytes, Size size, Node *escontext)
{
	const unsigned char *next = (const unsigned char *) bytes;
	const unsigned char *crc;
	RaceSketchDatum head;
	RaceSketchDatum *flat;
	RaceParamsDatum *params;
	Size params_size;
	Size flat_size;
	const char *problem;
	const RaceSummaryKind *kind;

#define MALFORMED(detail) \
	ereturn(escontext, NULL, \
			(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION), \
			 errmsg("invalid binary representation of type race_sketch"), \
			 errdetail_internal("%s", detail)))

	if (size < SKETCH_WIRE_SIZE(RACE_PART_WIRE_SIZE, 0) || *next != RACE_FORMAT_VERSION)
		MALFORMED("Too short, or of an unknown format version.");
	if (size > RACE_MAX_WIRE_BYTES)
		MALFORMED("Too long.");
	crc = (const unsigned char *) bytes + size - 4;
	if (race_take(&crc, 4) != compute_checksum(bytes, size - 4))
		MALFORMED("The checksum does not match.");
	if ((problem = take_header(&next, &head)) != NULL)
		MALFORMED(problem);

	params_size = race_params_wire_size(next);
	if (size < SKETCH_WIRE_SIZE(params_size, 0))
		MALFORMED("The size does not fit the parameters.");
	params = race_params_read((const char *) next, params_size, escontext);
	if (params == NULL)
		return NULL;
	if (!race_params_complete(&params->params))
		MALFORMED("A sketch does not state its dimensions.");
	kind = race_summary_kind(&params->params);
	if (kind->model == RACE_MODEL_NONE && head.model_size > 0)
		MALFORMED("Moments have no models.");
	if (head.header.noise.mechanism == RACE_MECHANISM_WISHART && !kind->matrix)
		MALFORMED("Noise of Wishart matrices is for moments.");
	if (race_params_are_measured(&params->params) &&
		head.header.noise.status != RACE_STATUS_PRIVATE)
		MALFORMED("Only private tables are measured ones.");

	/* params are within their limits, so sizes cannot overflow */
	next += params_size;
	if (head.columns_size > 0)
	{
		if (size < SKETCH_WIRE_SIZE(params_size, sizeof(uint32)))
			MALFORMED("The size does not fit the parameters.");
		head.columns_size = race_take(&next, sizeof(uint32));
		if (head.columns_size == 0 || head.columns_size > RACE_MAX_COLUMNS_BYTES)
			MALFORMED("The size of the columns is out of range.");
	}
	if (!race_counters_width_valid(head.width) ||
		size !=
			SKETCH_WIRE_SIZE(params_size, RaceCounters(&params->params) * head.width) +
				COLUMNS_WIRE_SIZE(head.columns_size) + RaceShares(&head.header) * sizeof(uint64) +
				head.model_size)
		MALFORMED("The size does not fit the parameters.");

	flat_size =
		RaceFlatSize(&head.header, &params->params, head.columns_size, head.width, head.model_size);
	flat = palloc0(flat_size);
	memcpy(flat, &head, offsetof(RaceSketchDatum, params));
	SET_VARSIZE(flat, flat_size);
	memcpy(&flat->params, &params->params, race_params_size(&params->params));
	if ((problem = take_body(next, flat)) != NULL)
		MALFORMED(problem);
	race_flat_seal(flat);
	return flat;
#undef MALFORMED
}

/*
 * Text and binary form of race_sketch.
 *
 * The text form is the wire format in base64 on one line.
 */

PG_FUNCTION_INFO_V1(race_sketch_in);
PG_FUNCTION_INFO_V1(race_sketch_out);
PG_FUNCTION_INFO_V1(race_sketch_recv);
PG_FUNCTION_INFO_V1(race_sketch_send);
PG_FUNCTION_INFO_V1(race_params_sketch);

/*
 * Bytes that go to or from text between two looks at interrupts.  They are whole groups of
 * base64, 3 bytes in 4 digits.
 */
#define BYTES_A_STEP ((Size) 48 * 1024)
#define DIGITS_A_STEP (BYTES_A_STEP / 3 * 4)

/* Version 1 in base64 begins with this. */
#define FIRST_DIGIT 'A'

/*
 * Convert n digits of base64 to bytes.  Return false if there is another character, or if they are
 * not what these bytes are written as: PostgreSQL ignores bits of the last digit.
 */
static bool
decode_base64(const char *text, Size n, char *bytes, Size *size)
{
	char last[8];
	int got = 0;

	*size = 0;
	if (n == 0 || n % 4 != 0 || text[0] != FIRST_DIGIT)
		return false;
	for (Size i = 0; i < n; i += DIGITS_A_STEP)
	{
		int digits = Min(n - i, DIGITS_A_STEP);

		CHECK_FOR_INTERRUPTS();
		got = pg_b64_decode(text + i, digits, (void *) (bytes + *size), digits / 4 * 3);
		if (got < 0 || (i + digits < n && got != digits / 4 * 3))
			return false;
		*size += got;
	}
	got = (*size - 1) % 3 + 1;
	return pg_b64_encode((void *) (bytes + *size - got), got, last, sizeof(last)) == 4 &&
		memcmp(last, text + n - 4, 4) == 0;
}

static char *
encode_base64(const char *bytes, Size n)
{
	Size size = (n + 2) / 3 * 4;
	char *text = palloc(size + 1);
	char *to = text;

	for (Size i = 0; i < n; i += BYTES_A_STEP)
	{
		CHECK_FOR_INTERRUPTS();
		to += pg_b64_encode((const void *) (bytes + i), Min(n - i, BYTES_A_STEP), to,
							text + size - to);
	}
	*to = '\0';
	return text;
}

/* Bytes: every sketch is longer, since its header is */
#define RACE_SHORTEST_TEXT 64

Datum
race_sketch_in(PG_FUNCTION_ARGS)
{
	const char *text = PG_GETARG_CSTRING(0);
	Node *escontext = race_escontext(fcinfo);
	Size n;
	char *bytes;

	if (!race_check_text(text, (RACE_MAX_WIRE_BYTES + 2) / 3 * 4, "race_sketch", escontext))
		return (Datum) 0;
	n = strlen(text);
	bytes = palloc(n / 4 * 3 + 3);
	if (!decode_base64(text, n, bytes, &n))
	{
		/* the name of a release more likely than a value */
		if (strlen(text) < RACE_SHORTEST_TEXT)
			ereturn(
				escontext, (Datum) 0,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("\"%s\" is no sketch", race_cut(text)),
				 errhint(
					 "For a release write race_released('%s'), for an empty sketch race_sketch('%s'::race_params).",
					 race_cut(text), race_cut(text))));
		ereturn(
			escontext, (Datum) 0,
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
			 errmsg("invalid input syntax for type %s", "race_sketch"),
			 errdetail("The text of a sketch is base64."),
			 errhint(
				 "The sketch of a release is race_released('name'); an empty one is race_sketch('…'::race_params).")));
	}
	PG_RETURN_POINTER(read_wire(bytes, n, escontext));
}

Datum
race_sketch_out(PG_FUNCTION_ARGS)
{
	StringInfoData wire;
	RaceView view;
	char *text;

	initStringInfo(&wire);
	race_sketch_view_any(PG_GETARG_DATUM(0), &view);
	write_wire(&wire, &view);
	text = encode_base64(wire.data, wire.len);
	pfree(wire.data);
	PG_RETURN_CSTRING(text);
}

Datum
race_sketch_recv(PG_FUNCTION_ARGS)
{
	StringInfo message = (StringInfo) PG_GETARG_POINTER(0);
	int size = message->len - message->cursor;

	PG_RETURN_POINTER(read_wire(pq_getmsgbytes(message, size), size, race_escontext(fcinfo)));
}

Datum
race_sketch_send(PG_FUNCTION_ARGS)
{
	StringInfoData message;
	RaceView view;

	pq_begintypsend(&message);
	race_sketch_view_any(PG_GETARG_DATUM(0), &view);
	write_wire(&message, &view);
	PG_RETURN_BYTEA_P(pq_endtypsend(&message));
}

/* Return the parameters of a sketch: race_params(race_sketch). */
Datum
race_params_sketch(PG_FUNCTION_ARGS)
{
	RaceView view;

	race_sketch_view_header_any(PG_GETARG_DATUM(0), &view);
	PG_RETURN_POINTER(race_params_datum(view.params));
}

/*
 * The fitted model in a sketch: where its parts are, and its validator.
 */

/* Return the words of a part, for so many points.  Sets have starts, and elements besides. */
static uint64
part_words(const RaceParams *part, uint64 points)
{
	return race_record_kind(part) == RACE_RECORD_SET ? points + 1 : points * part->dims;
}

uint64
race_model_size(const RaceParams *params, uint64 points, uint64 elements, uint64 text_size)
{
	uint64 words = 2 * points + elements;

	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params))
		words += part_words(part, points);
	if (!race_model_is_of_vectors(params))
		words += points + 1;
	return offsetof(RaceModel, words) + words * sizeof(uint64) +
		TYPEALIGN64(sizeof(uint64), text_size);
}

double *
race_model_weights(const RaceModel *model, RaceFold half)
{
	return (double *) model->words + (half == RACE_FOLD_FIRST ? 0 : model->points);
}

double
race_model_weight(const RaceModel *model, uint64 i)
{
	return (race_model_weights(model, RACE_FOLD_FIRST)[i] +
			race_model_weights(model, RACE_FOLD_SECOND)[i]) /
		2;
}

uint64 *
race_model_words(const RaceModel *model)
{
	return (uint64 *) model->words + 2 * model->points;
}

const uint64 *
race_model_columns(const RaceModel *model, const RaceParams *params, RaceColumn *columns)
{
	const uint64 *next = race_model_words(model);

	for (const RaceParams *part = params; part != NULL;
		 part = race_params_next(part, params), columns++)
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

const char *
race_model_text(const RaceModel *model, const RaceParams *params, uint64 i, Size *length)
{
	RaceColumn columns[RACE_MAX_PARTS];
	const uint64 *offsets = race_model_columns(model, params, columns);

	*length = offsets[i + 1] - offsets[i];
	return (const char *) (offsets + model->points + 1) + offsets[i];
}

/* --------------------------------------------------------------- validator */

/* Return whether n + 1 numbers ascend from 0 to at most `limit`. */
static bool
are_ascending(const uint64 *starts, uint64 n, uint64 limit)
{
	if (starts[0] != 0)
		return false;
	for (uint64 i = 0; i < n; i++)
		if (starts[i + 1] < starts[i] || starts[i + 1] > limit)
			return false;
	return true;
}

static bool
are_between(const double *x, uint64 n, double least, double most)
{
	for (uint64 i = 0; i < n; i++)
		if (!(x[i] >= least && x[i] <= most))
			return false;
	return true;
}

/*
 * Return whether the elements of each set ascend: the kernel counts those that sets share by
 * walking along both.
 */
static bool
sets_are_sorted(const RaceColumn *column, uint64 n)
{
	for (uint64 i = 0; i < n; i++)
		for (size_t j = column->starts[i] + 1; j < column->starts[i + 1]; j++)
			if (column->elements[j] <= column->elements[j - 1])
				return false;
	return true;
}

/* Return the number of elements of all sets; set *bad if starts lead outside of the model. */
static uint64
count_elements(const RaceModel *model, Size size, const RaceParams *params, bool *bad)
{
	const uint64 *next = race_model_words(model);
	const uint64 *end = (const uint64 *) ((const char *) model + size);
	uint64 elements = 0;

	for (const RaceParams *part = params; part != NULL && !*bad;
		 part = race_params_next(part, params))
	{
		uint64 words = part_words(part, model->points);

		*bad = (uint64) (end - next) < words;
		if (!*bad && race_record_kind(part) == RACE_RECORD_SET)
		{
			*bad = !are_ascending(next, model->points, (uint64) (end - next) - words);
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
	RaceColumn columns[RACE_MAX_PARTS];
	const uint64 *offsets;

	if (race_model_is_of_vectors(params))
		return model->text_size == 0 ? NULL : "Points of a model that are vectors have no texts.";
	offsets = race_model_columns(model, params, columns);
	if (!are_ascending(offsets, model->points, model->text_size) ||
		offsets[model->points] != model->text_size)
		return "The texts of a model are cut off.";
	for (uint64 i = model->text_size; i < TYPEALIGN64(sizeof(uint64), model->text_size); i++)
		if (((const char *) (offsets + model->points + 1))[i] != 0)
			return "The bytes after the texts of a model are not zero.";
	for (uint64 i = 0; i < model->points; i++)
	{
		Size length;
		const char *text = race_model_text(model, params, i, &length);

		if (memchr(text, 0, length) != NULL || !pg_verifymbstr(text, length, true))
			return "The text of a point is not valid in the encoding of the database.";
	}
	return NULL;
}

/* Return the same for contingency tables with signs: records with weights. */
static const char *
records_problem(const RaceModel *model, Size size, const RaceContingency *tables)
{
	const uint64 *cells = model->words + model->points;
	Size at = 0;

	if (model->points < 1 || model->points > RACE_MODEL_RECORDS ||
		size !=
			offsetof(RaceModel, words) +
				race_records_words(tables->columns, model->points) * sizeof(uint64) ||
		model->text_size != 0 || model->misfit != 0 || model->residual_variance != 0)
		return "The size of a model does not fit its columns.";
	if (!are_between((const double *) model->words, model->points, 0, 1))
		return "A weight of a model is not from 0 to 1.";
	for (uint32 j = 0; j < tables->columns; j++)
		for (uint64 i = 0; i < model->points; i++, at++)
			if (race_records_cell(cells, at) >= tables->cells[j])
				return "A record of a model has no cell of its column.";
	return NULL;
}

/* Return the same for contingency tables without signs: a number for each cell. */
static const char *
log_linear_problem(const RaceModel *model, Size size, const RaceContingency *tables,
				   uint32 counters)
{
	if (model->points != counters / tables->parts ||
		size != offsetof(RaceModel, words) + model->points * sizeof(double) ||
		model->text_size != 0 || model->misfit != 0 || model->residual_variance != 0)
		return "The size of a model does not fit its tables.";
	return are_between((const double *) model->words, model->points, -RACE_MAX_THETA,
					   RACE_MAX_THETA) ?
		NULL :
		"A number of a model is out of range.";
}

const char *
race_model_problem(const RaceModel *model, Size size, const RaceParams *params)
{
	RaceColumn columns[RACE_MAX_PARTS];
	uint64 elements;
	bool bad = false;
	int i = 0;

	if (race_summary_kind(params)->model == RACE_MODEL_LOG_LINEAR)
	{
		RaceContingency tables;

		race_contingency_of(params, &tables);
		return tables.signs != NULL ? records_problem(model, size, &tables) :
									  log_linear_problem(model, size, &tables, params->range);
	}
	if (size < offsetof(RaceModel, words) || size > RACE_MAX_MODEL_BYTES ||
		size % sizeof(uint64) != 0 || model->points < 1 || model->points > RACE_MAX_POINTS ||
		model->text_size > size ||
		size < offsetof(RaceModel, words) + 2 * model->points * sizeof(uint64))
		return "The size of a model is wrong.";
	elements = count_elements(model, size, params, &bad);
	if (bad || size != race_model_size(params, model->points, elements, model->text_size))
		return "The size of a model does not fit its points.";
	if (!are_between(&model->residual_variance, 1, 0, RACE_MAX_RESIDUAL_VARIANCE) ||
		!are_between(&model->misfit, 1, 0, RACE_UNTESTED) ||
		!are_between(race_model_weights(model, RACE_FOLD_FIRST), 2 * model->points, 0,
					 RACE_MAX_WEIGHT))
		return "A number of a model is out of range.";
	race_model_columns(model, params, columns);
	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params), i++)
		if ((race_record_kind(part) == RACE_RECORD_VECTOR &&
			 !are_between(columns[i].numbers, model->points * part->dims, -DBL_MAX, DBL_MAX)) ||
			(race_record_kind(part) == RACE_RECORD_SET &&
			 !sets_are_sorted(&columns[i], model->points)))
			return "A point of a model is not a record.";
	return texts_problem(model, params);
}
