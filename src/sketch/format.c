/*
 * format.c
 *		The wire format of race_params and race_sketch, and its validator.
 *
 * All fields are little-endian; reserved ones are zero, and checked.
 *
 *	params, 64 bytes or more	sketch, 80 bytes and what follows
 *	 0	u8	version = 1			 0	u8	version = 1
 *	 1	u8	kernel				 1	u8	width of a counter: 1, 2, 4, 8
 *	 2	u8	sequence			 2	u8	status
 *	 3	u8	rehash				 3	u8	mechanism
 *	 4	u32 dims				 4	u8	neighbours
 *	 8	u32 power				 5	3 bytes reserved
 *	12	u32 rows				 8	u32 max_contributions
 *	16	u32 range				12	u32 releases
 *	20	u32 rows of a matrix	16	i64 count
 *	24	i64 seed				24	f64 epsilon
 *	32	f64 bandwidth			32	f64 delta
 *	40	u32 bytes from 64 on	40	f64 rho
 *	44	u8	which arrays		48	f64 variance of a counter's noise
 *	45	19 bytes reserved		56	f64 variance of the count's noise
 *	64	f64 arrays, and			64	u32 parties with noise shares
 *		more parts of a product	68	u32 colluders
 *		like this one			72	u32 dropouts
 *								76	4 bytes reserved
 *								80	params
 *									u64 ids of shares, as many as releases
 *									rows * range counters, row by row
 *							   end	u32 CRC-32C of all bytes before it
 *
 * A part of a product after the first has 0 where the first speaks for all.
 *
 * The width is the narrowest that holds all counters, so that equal sketches
 * are equal bytes.
 */
#include "postgres.h"

#include <math.h>

#include "port/pg_crc32c.h"

#include "format.h"
#include "share.h"

StaticAssertDecl(sizeof(RaceParams) == 64, "no padding: compared as bytes");
StaticAssertDecl(sizeof(RaceNoise) == 72, "no padding: compared as bytes");
StaticAssertDecl(offsetof(RaceSketchDatum, params) % 8 == 0,
				 "parameters and counters are aligned");

#define PART_WIRE_SIZE		64	/* of a part of the kernel, without arrays */
#define SKETCH_WIRE_HEADER	80
#define MORE_POSITION		40	/* in the first part */
#define SKETCH_WIRE_SIZE(params_size, n) \
	(SKETCH_WIRE_HEADER + (params_size) + (n) + 4)

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

/* An integer of 4 bytes, which stays to be taken */
static uint32
peek_uint32(const unsigned char *bytes)
{
	return take(&bytes, 4);
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
	const char *params = (const char *) &flat->params;
	pg_crc32c	crc;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, &flat->version, offsetof(RaceSketchDatum, content_hash) -
				offsetof(RaceSketchDatum, version));
	COMP_CRC32C(crc, params, VARSIZE(flat) - offsetof(RaceSketchDatum, params));
	FIN_CRC32C(crc);
	flat->content_hash = crc;
}

/* --------------------------------------------------------------- params */

static void
put_part(StringInfo out, const RaceParams *part)
{
	const double *numbers = (const double *) (part + 1);
	Size		n = race_arrays_size(part) / sizeof(double);
	Size		i;

	put(out, RACE_FORMAT_VERSION, 1);
	put(out, part->kernel, 1);
	put(out, part->sequence, 1);
	put(out, part->rehash, 1);
	put(out, part->dims, 4);
	put(out, part->power, 4);
	put(out, part->rows, 4);
	put(out, part->range, 4);
	put(out, part->outputs, 4);
	put(out, (uint64) part->seed, 8);
	put_double(out, part->bandwidth);
	put(out, part->more, 4);
	put(out, part->arrays, 1);
	put_zeros(out, 19);
	for (i = 0; i < n; i++)
		put_double(out, numbers[i]);
}

void
race_params_write(StringInfo out, const RaceParams *params)
{
	const RaceParams *part;

	for (part = params; part != NULL; part = race_params_next(part, params))
		put_part(out, part);
}

/* A part without its arrays; false if it is none */
static bool
take_part(const unsigned char **bytes, RaceParams *part)
{
	bool		good = take(bytes, 1) == RACE_FORMAT_VERSION;

	memset(part, 0, sizeof(RaceParams));
	part->kernel = take(bytes, 1);
	part->sequence = take(bytes, 1);
	part->rehash = take(bytes, 1);
	part->dims = take(bytes, 4);
	part->power = take(bytes, 4);
	part->rows = take(bytes, 4);
	part->range = take(bytes, 4);
	part->outputs = take(bytes, 4);
	part->seed = (int64) take(bytes, 8);
	part->bandwidth = take_double(bytes);
	part->more = take(bytes, 4);
	part->arrays = take(bytes, 1);
	return take_zeros(bytes, 19) && good;
}

/*
 * Parts and their arrays, which take as many bytes in memory as on the wire:
 * `left` of them.  False if they do not add up to that.
 */
static bool
take_parts(const unsigned char **bytes, Size left, RaceParams *params)
{
	char	   *next = (char *) params;

	while (left >= PART_WIRE_SIZE)
	{
		RaceParams *part = (RaceParams *) next;
		uint64		arrays;
		Size		i;

		if (!take_part(bytes, part))
			return false;
		left -= PART_WIRE_SIZE;
		next += sizeof(RaceParams);
		arrays = race_arrays_size(part);
		if (arrays > left)
			return false;
		for (i = 0; i < arrays; i += sizeof(double), next += sizeof(double))
			*(double *) next = take_double(bytes) + 0.0;	/* zero has no sign */
		left -= arrays;
	}
	return left == 0;
}

RaceParamsDatum *
race_params_read(const char *bytes, Size size, Node *escontext)
{
	const unsigned char *next = (const unsigned char *) bytes;
	RaceParamsDatum *datum;
	Size		datum_size = offsetof(RaceParamsDatum, params) + size;

	if (size < PART_WIRE_SIZE || size > PART_WIRE_SIZE + RACE_MAX_MORE ||
		*next != RACE_FORMAT_VERSION)
		ereturn(escontext, NULL,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid binary representation of type race_params"),
				 errdetail("A value of format version %d has %d bytes or more.",
						   RACE_FORMAT_VERSION, PART_WIRE_SIZE)));

	datum = palloc0(datum_size);
	SET_VARSIZE(datum, datum_size);
	datum->version = RACE_FORMAT_VERSION;
	if (!take_parts(&next, size, &datum->params) ||
		race_params_size(&datum->params) != size)
		ereturn(escontext, NULL,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid binary representation of type race_params"),
				 errdetail("Its parts do not fit its size, or reserved bytes are not zero.")));
	if (!race_params_check(&datum->params, escontext))
		return NULL;
	return datum;
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
				  const RaceParams *params, const uint64 *shares,
				  const void *counters, int width)
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
	put(out, noise->parties, 4);
	put(out, noise->colluders, 4);
	put(out, noise->dropouts, 4);
	put_zeros(out, 4);
	race_params_write(out, params);
	for (i = 0; i < RaceShares(header); i++)
		put(out, shares[i], 8);

	put_counters(out, counters, width, wire_width, n);
	put(out, checksum(out->data + start, out->len - start), 4);
}

/* Is x a finite number that is not negative? */
static bool
is_cost(double x)
{
	return isfinite(x) && x >= 0;
}

/* Can a sketch have these shares?  They are Gaussian, of integer variance. */
static bool
are_shares(const RaceNoise *noise)
{
	return noise->parties >= 1 && noise->parties <= RACE_MAX_PARTIES &&
		(uint64) noise->colluders + noise->dropouts < noise->parties &&
		noise->releases <= noise->parties &&
		noise->mechanism == RACE_MECHANISM_GAUSSIAN &&
		race_is_share_variance(race_share_variance(noise->counter_variance,
												   noise->releases),
							   noise->parties) &&
		race_is_share_variance(race_share_variance(noise->count_variance,
												   noise->releases),
							   noise->parties);
}

/* What is wrong with the noise that a header claims, or NULL */
static const char *
noise_problem(const RaceNoise *noise)
{
	static const RaceNoise none;

	if (noise->status == RACE_STATUS_EXACT)
		return memcmp(noise, &none, sizeof(none)) == 0 ? NULL :
			"An exact sketch claims to carry noise.";
	if (noise->status == RACE_STATUS_SHARE ?
		!are_shares(noise) : noise->parties != 0 || noise->colluders != 0 ||
		noise->dropouts != 0)
		return "Numbers of parties are out of range.";
	if (noise->status != RACE_STATUS_SHARE && noise->status != RACE_STATUS_PRIVATE)
		return "Unknown status.";
	if (race_mechanism_name(noise->mechanism) == NULL)
		return "Unknown mechanism.";
	if (noise->neighbours != RACE_NEIGHBOURS_ADD_REMOVE &&
		noise->neighbours != RACE_NEIGHBOURS_SUBSTITUTE)
		return "Unknown kind of neighbours.";
	if (noise->max_contributions < 1 || noise->max_contributions > PG_INT32_MAX ||
		noise->releases < 1 || noise->releases > PG_INT32_MAX)
		return "A count of contributions or releases is out of range.";
	/* a large delta may pay for all of the noise */
	if (!is_cost(noise->epsilon) || signbit(noise->epsilon) ||
		(noise->epsilon == 0 && noise->delta == 0) ||
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

/* n ids of shares, in ascending order; false if they are not */
static bool
take_shares(const unsigned char **bytes, Size n, uint64 *shares)
{
	Size		i;

	for (i = 0; i < n; i++)
	{
		shares[i] = take(bytes, 8);
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
	int			width;
	bool		zeros;
	const char *problem = NULL;

#define MALFORMED(detail) \
	ereturn(escontext, NULL, \
			(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION), \
			 errmsg("invalid binary representation of type race_sketch"), \
			 errdetail_internal("%s", detail)))

	if (size < SKETCH_WIRE_SIZE(PART_WIRE_SIZE, 0) || take(&next, 1) != RACE_FORMAT_VERSION)
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
	header.noise.parties = take(&next, 4);
	header.noise.colluders = take(&next, 4);
	header.noise.dropouts = take(&next, 4);
	zeros &= take_zeros(&next, 4);
	if (!zeros)
		MALFORMED("Reserved bytes are not zero.");
	if ((problem = noise_problem(&header.noise)) != NULL)
		MALFORMED(problem);

	params_size = PART_WIRE_SIZE + peek_uint32(next + MORE_POSITION);
	if (size < SKETCH_WIRE_SIZE(params_size, 0))
		MALFORMED("The size does not fit the parameters.");
	params = race_params_read((const char *) next, params_size, escontext);
	if (params == NULL)
		return NULL;
	next += params_size;
	if (!race_params_complete(&params->params))
		MALFORMED("A sketch does not state its dimensions.");

	/* params are within their limits, so this cannot overflow */
	if (!race_counters_width_valid(width) ||
		size != SKETCH_WIRE_SIZE(params_size, RaceShares(&header) * sizeof(uint64) +
								 RaceCounters(&params->params) * width))
		MALFORMED("The size does not fit the parameters.");

	flat = palloc0(RaceFlatSize(&header, &params->params, width));
	SET_VARSIZE(flat, RaceFlatSize(&header, &params->params, width));
	flat->version = RACE_FORMAT_VERSION;
	flat->width = width;
	flat->header = header;
	memcpy(&flat->params, &params->params, params_size);
	if (!take_shares(&next, RaceShares(&header), RaceFlatShares(flat)))
		MALFORMED("Shares are not in order, or there twice.");
	copy_counters(RaceFlatCounters(flat), (const char *) next,
				  RaceCounters(&flat->params), width);
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
