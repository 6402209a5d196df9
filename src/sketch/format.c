/*
 * format.c
 *		The wire format of race_sketch, and its validator.
 *
 * All fields are little-endian; reserved ones are zero, and checked.
 *
 *	 0	u8	version = 1				40	f64 rho
 *	 1	u8	width of a counter		48	f64 variance of a counter's noise
 *	 2	u8	status					56	f64 variance of the count's noise
 *	 3	u8	mechanism				64	u32 parties with noise shares
 *	 4	u8	neighbors				68	u32 colluders
 *	 5	u8	half					72	u32 dropouts
 *	 6	2 bytes reserved			76	u32 bytes of the model
 *	 8	u32 max_contributions
 *	12	u32 releases				80	params (params/wire.c)
 *	16	i64 count						u64 ids of shares, as many as releases
 *	24	f64 epsilon						rows * range counters, row by row
 *	32	f64 delta						the model (model.h), in words of 8 bytes
 *								   end	u32 CRC-32C of all bytes before it
 *
 * The width is 1, 2, 4 or 8, the narrowest that holds all counters, so that equal
 * sketches are equal bytes.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_crc32c.h"

#include "../lsh/moments.h"
#include "../server/bytes.h"
#include "format.h"

StaticAssertDecl(sizeof(RaceNoise) == 72, "no padding: compared as bytes");
StaticAssertDecl(offsetof(RaceSketchDatum, params) % 8 == 0,
				 "parameters and counters are aligned");

#define SKETCH_WIRE_HEADER	80
#define SKETCH_WIRE_SIZE(params_size, n) \
	(SKETCH_WIRE_HEADER + (params_size) + (n) + 4)

static bool
take_zeros(const unsigned char **bytes, int n)
{
	bool		zero = true;

	while (n-- > 0)
		zero &= race_take(bytes, 1) == 0;
	return zero;
}

/* Copy counters from native to little-endian order, or back */
static void
copy_counters(char *to, const char *from, Size n, int width)
{
#ifdef WORDS_BIGENDIAN
	Size		i;
	int			b;

	for (i = 0; i < n; i++)
		for (b = 0; b < width; b++)
			to[i * width + b] = from[i * width + width - 1 - b];
#else
	memcpy(to, from, n * width);
#endif
}

static uint32
checksum(const char *bytes, Size size)
{
	pg_crc32c	crc;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, bytes, size);
	FIN_CRC32C(crc);
	return crc;
}

void
race_sketch_seal(RaceSketchDatum *flat)
{
	const char *params = (const char *) &flat->params;
	pg_crc32c	crc;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, &flat->version, offsetof(RaceSketchDatum, content_hash) -
				offsetof(RaceSketchDatum, version));
	COMP_CRC32C(crc, &flat->model_size, sizeof(flat->model_size));
	COMP_CRC32C(crc, params, VARSIZE(flat) - offsetof(RaceSketchDatum, params));
	FIN_CRC32C(crc);
	flat->content_hash = crc;
}

/* Copy n counters to a narrower width. */
static void
put_counters(StringInfo out, const void *counters, int from_width,
			 int to_width, Size n)
{
	int64		block[RACE_COUNTER_BLOCK];
	int64		narrow[RACE_COUNTER_BLOCK];
	Size		i;

	enlargeStringInfo(out, n * to_width);
	for (i = 0; i < n; i += RACE_COUNTER_BLOCK)
	{
		Size		m = Min(n - i, RACE_COUNTER_BLOCK);

		CHECK_FOR_INTERRUPTS();
		race_counters_load(counters, from_width, i, m, block);
		race_counters_store(narrow, to_width, 0, m, block);
		copy_counters(out->data + out->len, (const char *) narrow, m, to_width);
		out->len += m * to_width;
	}
}

/* All but the texts at its end are words. */
static Size
words_of_model(const RaceModel *model, Size size)
{
	return (size - TYPEALIGN64(sizeof(uint64), model->text_size)) / sizeof(uint64);
}

static void
put_model(StringInfo out, const RaceModel *model, Size size)
{
	Size		words;

	if (size == 0)
		return;
	words = words_of_model(model, size);
	enlargeStringInfo(out, size);
	copy_counters(out->data + out->len, (const char *) model, words, sizeof(uint64));
	memcpy(out->data + out->len + words * sizeof(uint64), (const uint64 *) model + words,
		   size - words * sizeof(uint64));
	out->len += size;
}

/* Read a model; returns what is wrong with it, or NULL. */
static const char *
take_model(const unsigned char *bytes, RaceSketchDatum *flat)
{
	RaceModel  *model = RaceFlatModel(flat);
	uint64		text_size;
	const unsigned char *at = bytes + offsetof(RaceModel, text_size);

	if (flat->model_size < offsetof(RaceModel, words) ||
		flat->model_size % sizeof(uint64) != 0)
		return "The size of a model is wrong.";
	text_size = race_take(&at, sizeof(uint64));
	if (text_size > flat->model_size - offsetof(RaceModel, words))
		return "The size of a model is wrong.";
	memcpy(model, bytes, flat->model_size);
	copy_counters((char *) model, (const char *) bytes,
				  (flat->model_size - TYPEALIGN64(sizeof(uint64), text_size)) / sizeof(uint64),
				  sizeof(uint64));
	return race_model_problem(model, flat->model_size, &flat->params);
}

void
race_sketch_write(StringInfo out, const RaceHeader *header,
				  const RaceParams *params, const uint64 *shares,
				  const void *counters, int width,
				  const RaceModel *model, Size model_size)
{
	const RaceNoise *noise = &header->noise;
	Size		n = RaceCounters(params);
	int			start = out->len;
	int64		min;
	int64		max;
	int			wire_width;
	Size		i;

	race_counters_bounds(counters, width, n, &min, &max);
	wire_width = race_counters_width_for(min, max);

	race_put(out, RACE_FORMAT_VERSION, 1);
	race_put(out, wire_width, 1);
	race_put(out, noise->status, 1);
	race_put(out, noise->mechanism, 1);
	race_put(out, noise->neighbors, 1);
	race_put(out, noise->half, 1);
	race_put(out, 0, 2);
	race_put(out, noise->max_contributions, 4);
	race_put(out, noise->releases, 4);
	race_put(out, (uint64) header->count, 8);
	race_put_double(out, noise->epsilon);
	race_put_double(out, noise->delta);
	race_put_double(out, noise->rho);
	race_put_double(out, noise->counter_variance);
	race_put_double(out, noise->count_variance);
	race_put(out, noise->parties, 4);
	race_put(out, noise->colluders, 4);
	race_put(out, noise->dropouts, 4);
	race_put(out, model_size, 4);
	race_params_write(out, params);
	for (i = 0; i < RaceShares(header); i++)
		race_put(out, shares[i], 8);

	put_counters(out, counters, width, wire_width, n);
	put_model(out, model, model_size);
	race_put(out, checksum(out->data + start, out->len - start), 4);
}

/* What is wrong with the numbers of a sketch, or NULL */
static const char *
counts_problem(const RaceSketchDatum *flat)
{
	int64		min;
	int64		max;

	race_counters_bounds(RaceFlatCounters(flat), flat->width,
						 RaceCounters(&flat->params), &min, &max);
	if (min < -RACE_MAX_COUNT || max > RACE_MAX_COUNT ||
		flat->header.count < -RACE_MAX_COUNT ||
		flat->header.count > RACE_MAX_COUNT)
		return "A counter is out of range.";
	if (flat->width != race_counters_width_for(min, max))
		return "Counters are wider than they need to be.";
	return NULL;
}

/* Read n ids of shares. False if they are not in ascending order. */
static bool
take_shares(const unsigned char **bytes, Size n, uint64 *shares)
{
	Size		i;

	for (i = 0; i < n; i++)
	{
		shares[i] = race_take(bytes, 8);
		if (i > 0 && shares[i] <= shares[i - 1])
			return false;
	}
	return true;
}

RaceSketchDatum *
race_sketch_read(const char *bytes, Size size, Node *escontext)
{
	const unsigned char *next = (const unsigned char *) bytes;
	const unsigned char *crc;
	RaceHeader	header;
	RaceParamsDatum *params;
	RaceSketchDatum *flat;
	Size		params_size;
	Size		model_size;
	int			width;
	bool		zeros;
	const char *problem = NULL;

#define MALFORMED(detail) \
	ereturn(escontext, NULL, \
			(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION), \
			 errmsg("invalid binary representation of type race_sketch"), \
			 errdetail_internal("%s", detail)))

	if (size < SKETCH_WIRE_SIZE(RACE_PART_WIRE_SIZE, 0) || race_take(&next, 1) != RACE_FORMAT_VERSION)
		MALFORMED("Too short, or of an unknown format version.");
	if (size > RACE_MAX_WIRE_BYTES)
		MALFORMED("Too long.");
	crc = (const unsigned char *) bytes + size - 4;
	if (race_take(&crc, 4) != checksum(bytes, size - 4))
		MALFORMED("The checksum does not match.");

	memset(&header, 0, sizeof(header));
	width = race_take(&next, 1);
	header.noise.status = race_take(&next, 1);
	header.noise.mechanism = race_take(&next, 1);
	header.noise.neighbors = race_take(&next, 1);
	header.noise.half = race_take(&next, 1);
	zeros = take_zeros(&next, 2);
	header.noise.max_contributions = race_take(&next, 4);
	header.noise.releases = race_take(&next, 4);
	header.count = (int64) race_take(&next, 8);
	header.noise.epsilon = race_take_double(&next);
	header.noise.delta = race_take_double(&next);
	header.noise.rho = race_take_double(&next);
	header.noise.counter_variance = race_take_double(&next);
	header.noise.count_variance = race_take_double(&next);
	header.noise.parties = race_take(&next, 4);
	header.noise.colluders = race_take(&next, 4);
	header.noise.dropouts = race_take(&next, 4);
	model_size = race_take(&next, 4);
	if (!zeros)
		MALFORMED("Reserved bytes are not zero.");
	if ((problem = race_noise_problem(&header.noise)) != NULL)
		MALFORMED(problem);

	params_size = race_params_wire_size(next);
	if (size < SKETCH_WIRE_SIZE(params_size, 0))
		MALFORMED("The size does not fit the parameters.");
	params = race_params_read((const char *) next, params_size, escontext);
	if (params == NULL)
		return NULL;
	next += params_size;
	if (!race_params_complete(&params->params))
		MALFORMED("A sketch does not state its dimensions.");
	if (race_is_moments(&params->params) && (header.noise.half != RACE_WHOLE || model_size > 0))
		MALFORMED("Moments have neither halves nor models.");

	/* params are within their limits, so this cannot overflow */
	if (!race_counters_width_valid(width) ||
		size != SKETCH_WIRE_SIZE(params_size, RaceShares(&header) * sizeof(uint64) +
								 RaceCounters(&params->params) * width + model_size))
		MALFORMED("The size does not fit the parameters.");

	flat = palloc0(RaceFlatSize(&header, &params->params, width, model_size));
	SET_VARSIZE(flat, RaceFlatSize(&header, &params->params, width, model_size));
	flat->version = RACE_FORMAT_VERSION;
	flat->width = width;
	flat->header = header;
	flat->model_size = model_size;
	memcpy(&flat->params, &params->params, params_size);
	if (!take_shares(&next, RaceShares(&header), RaceFlatShares(flat)))
		MALFORMED("Shares are not in order, or there twice.");
	copy_counters(RaceFlatCounters(flat), (const char *) next,
				  RaceCounters(&flat->params), width);
	if ((problem = counts_problem(flat)) != NULL)
		MALFORMED(problem);
	if (model_size > 0 &&
		(problem = take_model(next + RaceCounters(&flat->params) * width, flat)) != NULL)
		MALFORMED(problem);
	race_sketch_seal(flat);
	return flat;
#undef MALFORMED
}
