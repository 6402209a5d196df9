/*
 * format.c
 *		The wire format of race_params and race_sketch, and its validator.
 *
 * All fields are little-endian; reserved ones are zero, and checked.
 *
 *	params, 64 bytes			sketch, 80 bytes and what follows
 *	 0	u8	version = 1			 0	u8	version = 1
 *	 1	u8	kernel				 1	u8	width of a counter: 1, 2, 4, 8
 *	 2	u8	sequence			 2	u8	status
 *	 3	u8	rehash				 3	u8	mechanism
 *	 4	u32 dims				 4	u8	neighbours
 *	 8	u32 power				 5	3 bytes reserved
 *	12	u32 rows				 8	u32 max_contributions
 *	16	u32 range				12	u32 releases
 *	20	u32 reserved			16	i64 count
 *	24	i64 seed				24	f64 epsilon
 *	32	f64 bandwidth			32	f64 delta
 *	40	24 bytes reserved		40	f64 rho
 *								48	f64 variance of a counter's noise
 *								56	f64 variance of the count's noise
 *								64	16 bytes reserved
 *								80	params, 64 bytes
 *							   144	rows * range counters, row by row
 *							   end	u32 CRC-32C of all bytes before it
 *
 * The width is the narrowest that holds all counters, so that equal sketches
 * are equal bytes.
 */
#include "postgres.h"

#include <math.h>

#include "port/pg_crc32c.h"

#include "format.h"

StaticAssertDecl(sizeof(RaceParams) == 64, "no padding: compared as bytes");
StaticAssertDecl(sizeof(RaceNoise) == 56, "no padding: compared as bytes");
StaticAssertDecl(offsetof(RaceSketchDatum, counters) % 8 == 0,
				 "counters are aligned");

#define PARAMS_WIRE_SIZE	64
#define SKETCH_WIRE_HEADER	80
#define SKETCH_WIRE_SIZE(n) (SKETCH_WIRE_HEADER + PARAMS_WIRE_SIZE + (n) + 4)

/* ---------------------------------------------------------------- bytes */

/* An integer of n bytes, the lowest first */
static void
put(StringInfo out, uint64 value, int n)
{
	while (n-- > 0)
	{
		appendStringInfoCharMacro(out, (char) (value & 0xFF));
		value >>= 8;
	}
}

static void
put_double(StringInfo out, double value)
{
	uint64		bits;

	memcpy(&bits, &value, sizeof(bits));
	put(out, bits, 8);
}

static void
put_zeros(StringInfo out, int n)
{
	while (n-- > 0)
		put(out, 0, 1);
}

/* The next n bytes; the caller has checked that they are there. */
static uint64
take(const unsigned char **bytes, int n)
{
	uint64		value = 0;
	int			i;

	for (i = n - 1; i >= 0; i--)
		value = value << 8 | (*bytes)[i];
	*bytes += n;
	return value;
}

static double
take_double(const unsigned char **bytes)
{
	uint64		bits = take(bytes, 8);
	double		value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static bool
take_zeros(const unsigned char **bytes, int n)
{
	bool		zero = true;

	while (n-- > 0)
		zero &= take(bytes, 1) == 0;
	return zero;
}

/* Counters between native and little-endian order: the same bytes, mostly */
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
	const char *counters = flat->counters;
	pg_crc32c	crc;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, &flat->version, offsetof(RaceSketchDatum, content_hash) -
				offsetof(RaceSketchDatum, version));
	COMP_CRC32C(crc, counters, VARSIZE(flat) - offsetof(RaceSketchDatum, counters));
	FIN_CRC32C(crc);
	flat->content_hash = crc;
}

/* --------------------------------------------------------------- params */

void
race_params_write(StringInfo out, const RaceParams *params)
{
	put(out, RACE_FORMAT_VERSION, 1);
	put(out, params->kernel, 1);
	put(out, params->sequence, 1);
	put(out, params->rehash, 1);
	put(out, params->dims, 4);
	put(out, params->power, 4);
	put(out, params->rows, 4);
	put(out, params->range, 4);
	put_zeros(out, 4);
	put(out, (uint64) params->seed, 8);
	put_double(out, params->bandwidth);
	put_zeros(out, 24);
}

RaceParamsDatum *
race_params_read(const char *bytes, Size size, Node *escontext)
{
	const unsigned char *next = (const unsigned char *) bytes;
	RaceParams	params;
	bool		zeros;

	if (size != PARAMS_WIRE_SIZE || take(&next, 1) != RACE_FORMAT_VERSION)
		ereturn(escontext, NULL,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid binary representation of type race_params"),
				 errdetail("A value of format version %d has %d bytes.",
						   RACE_FORMAT_VERSION, PARAMS_WIRE_SIZE)));

	memset(&params, 0, sizeof(params));
	params.kernel = take(&next, 1);
	params.sequence = take(&next, 1);
	params.rehash = take(&next, 1);
	params.dims = take(&next, 4);
	params.power = take(&next, 4);
	params.rows = take(&next, 4);
	params.range = take(&next, 4);
	zeros = take_zeros(&next, 4);
	params.seed = (int64) take(&next, 8);
	params.bandwidth = take_double(&next);
	zeros &= take_zeros(&next, 24);
	if (!zeros)
		ereturn(escontext, NULL,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid binary representation of type race_params"),
				 errdetail("Reserved bytes are not zero.")));

	if (!race_params_check(&params, escontext))
		return NULL;
	return race_params_datum(&params);
}

/* --------------------------------------------------------------- sketch */

/* n counters, narrowed from one width to another */
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

		race_counters_load(counters, from_width, i, m, block);
		race_counters_store(narrow, to_width, 0, m, block);
		copy_counters(out->data + out->len, (const char *) narrow, m, to_width);
		out->len += m * to_width;
	}
}

void
race_sketch_write(StringInfo out, const RaceHeader *header,
				  const void *counters, int width)
{
	const RaceNoise *noise = &header->noise;
	Size		n = RaceCounters(header);
	int			start = out->len;
	int64		min;
	int64		max;
	int			wire_width;

	race_counters_bounds(counters, width, n, &min, &max);
	wire_width = race_counters_width_for(min, max);

	put(out, RACE_FORMAT_VERSION, 1);
	put(out, wire_width, 1);
	put(out, noise->status, 1);
	put(out, noise->mechanism, 1);
	put(out, noise->neighbours, 1);
	put_zeros(out, 3);
	put(out, noise->max_contributions, 4);
	put(out, noise->releases, 4);
	put(out, (uint64) header->count, 8);
	put_double(out, noise->epsilon);
	put_double(out, noise->delta);
	put_double(out, noise->rho);
	put_double(out, noise->counter_variance);
	put_double(out, noise->count_variance);
	put_zeros(out, 16);
	race_params_write(out, &header->params);

	put_counters(out, counters, width, wire_width, n);
	put(out, checksum(out->data + start, out->len - start), 4);
}

/* Is x a finite number that is not negative? */
static bool
is_cost(double x)
{
	return isfinite(x) && x >= 0;
}

/* What is wrong with the noise that a header claims, or NULL */
static const char *
noise_problem(const RaceNoise *noise)
{
	static const RaceNoise none;

	if (noise->status == RACE_STATUS_EXACT)
		return memcmp(noise, &none, sizeof(none)) == 0 ? NULL :
			"An exact sketch claims to carry noise.";
	if (noise->status != RACE_STATUS_PRIVATE)
		return "Unknown status.";
	if (race_mechanism_name(noise->mechanism) == NULL)
		return "Unknown mechanism.";
	if (noise->neighbours != RACE_NEIGHBOURS_ADD_REMOVE &&
		noise->neighbours != RACE_NEIGHBOURS_SUBSTITUTE)
		return "Unknown kind of neighbours.";
	if (noise->max_contributions < 1 || noise->max_contributions > PG_INT32_MAX ||
		noise->releases < 1 || noise->releases > PG_INT32_MAX)
		return "A count of contributions or releases is out of range.";
	if (!is_cost(noise->epsilon) || noise->epsilon == 0 ||
		!is_cost(noise->delta) || signbit(noise->delta) ||
		(noise->delta == 0) != (noise->mechanism == RACE_MECHANISM_LAPLACE) ||
		!is_cost(noise->rho) ||
		!is_cost(noise->counter_variance) || !is_cost(noise->count_variance))
		return "A privacy cost or variance is out of range.";
	return NULL;
}

/* What is wrong with the numbers of a sketch, or NULL */
static const char *
counts_problem(const RaceSketchDatum *flat)
{
	int64		min;
	int64		max;

	race_counters_bounds(flat->counters, flat->width,
						 RaceCounters(&flat->header), &min, &max);
	if (min < -RACE_MAX_COUNT || max > RACE_MAX_COUNT ||
		flat->header.count < -RACE_MAX_COUNT ||
		flat->header.count > RACE_MAX_COUNT)
		return "A counter is out of range.";
	if (flat->width != race_counters_width_for(min, max))
		return "Counters are wider than they need to be.";
	return NULL;
}

RaceSketchDatum *
race_sketch_read(const char *bytes, Size size, Node *escontext)
{
	const unsigned char *next = (const unsigned char *) bytes;
	const unsigned char *crc;
	RaceHeader	header;
	RaceParamsDatum *params;
	RaceSketchDatum *flat;
	int			width;
	bool		zeros;
	const char *problem = NULL;

#define MALFORMED(detail) \
	ereturn(escontext, NULL, \
			(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION), \
			 errmsg("invalid binary representation of type race_sketch"), \
			 errdetail_internal("%s", detail)))

	if (size < SKETCH_WIRE_SIZE(0) || take(&next, 1) != RACE_FORMAT_VERSION)
		MALFORMED("Too short, or of an unknown format version.");
	crc = (const unsigned char *) bytes + size - 4;
	if (take(&crc, 4) != checksum(bytes, size - 4))
		MALFORMED("The checksum does not match.");

	memset(&header, 0, sizeof(header));
	width = take(&next, 1);
	header.noise.status = take(&next, 1);
	header.noise.mechanism = take(&next, 1);
	header.noise.neighbours = take(&next, 1);
	zeros = take_zeros(&next, 3);
	header.noise.max_contributions = take(&next, 4);
	header.noise.releases = take(&next, 4);
	header.count = (int64) take(&next, 8);
	header.noise.epsilon = take_double(&next);
	header.noise.delta = take_double(&next);
	header.noise.rho = take_double(&next);
	header.noise.counter_variance = take_double(&next);
	header.noise.count_variance = take_double(&next);
	zeros &= take_zeros(&next, 16);
	if (!zeros)
		MALFORMED("Reserved bytes are not zero.");
	if ((problem = noise_problem(&header.noise)) != NULL)
		MALFORMED(problem);

	params = race_params_read((const char *) next, PARAMS_WIRE_SIZE, escontext);
	if (params == NULL)
		return NULL;
	next += PARAMS_WIRE_SIZE;
	header.params = params->params;
	if (header.params.dims == 0)
		MALFORMED("A sketch does not state its dimensions.");

	/* params are within their limits, so this cannot overflow */
	if (!race_counters_width_valid(width) ||
		size != SKETCH_WIRE_SIZE(RaceCounters(&header) * width))
		MALFORMED("The size does not fit the parameters.");

	flat = palloc0(RaceFlatSize(&header, width));
	SET_VARSIZE(flat, RaceFlatSize(&header, width));
	flat->version = RACE_FORMAT_VERSION;
	flat->width = width;
	flat->header = header;
	copy_counters(flat->counters, (const char *) next, RaceCounters(&header),
				  width);
	if ((problem = counts_problem(flat)) != NULL)
		MALFORMED(problem);
	race_sketch_seal(flat);
	return flat;
#undef MALFORMED
}

/* ---------------------------------------------------------------- names */

const char *
race_neighbours_name(int neighbours)
{
	return neighbours == RACE_NEIGHBOURS_ADD_REMOVE ? "add_remove" :
		neighbours == RACE_NEIGHBOURS_SUBSTITUTE ? "substitute" : NULL;
}

const char *
race_mechanism_name(int mechanism)
{
	return mechanism == RACE_MECHANISM_LAPLACE ? "discrete Laplace" :
		mechanism == RACE_MECHANISM_GAUSSIAN ? "discrete Gaussian" :
		mechanism == RACE_MECHANISM_SEVERAL ? "several" : NULL;
}
