/*
 * counters.c
 *		Counters of varying width, packed storage, and counting: plain C
 */
#include <math.h>
#include <string.h>

#include "counters.h"
#include "integers.h"
#include "lsh.h"

/*
 * Arrays of integers, 64 bits in meaning and as narrow as they fit.
 */

/* Expands `action` with `type` bound to the integer type of `width` bytes. */
#define FOR_WIDTH(width, action) \
	switch (width) \
	{ \
		case 1: { typedef int8_t type; action } break; \
		case 2: { typedef int16_t type; action } break; \
		case 4: { typedef int32_t type; action } break; \
		default: { typedef int64_t type; action } break; \
	}

bool
race_counters_width_valid(int width)
{
	return width == 1 || width == 2 || width == 4 || width == 8;
}

int
race_counters_width_for(int64_t min, int64_t max)
{
	if (min >= INT8_MIN && max <= INT8_MAX)
		return 1;
	if (min >= INT16_MIN && max <= INT16_MAX)
		return 2;
	if (min >= INT32_MIN && max <= INT32_MAX)
		return 4;
	return 8;
}

void
race_counters_bounds(const void *counters, int width, size_t n,
					 int64_t *min, int64_t *max)
{
	size_t		i;

	FOR_WIDTH(width,
			  const type *c = counters;
			  type low = c[0];
			  type high = c[0];

			  for (i = 1; i < n; i++)
			  {
				  low = c[i] < low ? c[i] : low;
				  high = c[i] > high ? c[i] : high;
			  }
			  *min = low;
			  *max = high;
		)
}

void
race_counters_load(const void *counters, int width, size_t from, size_t n,
				   int64_t *out)
{
	size_t		i;

	FOR_WIDTH(width,
			  const type *c = (const type *) counters + from;

			  for (i = 0; i < n; i++)
				  out[i] = c[i];
		)
}

void
race_counters_store(void *counters, int width, size_t from, size_t n,
					const int64_t *in)
{
	size_t		i;

	FOR_WIDTH(width,
			  type *c = (type *) counters + from;

			  for (i = 0; i < n; i++)
				  c[i] = (type) in[i];
		)
}

/* Counters that are looked at together, whether all of them are zero */
#define ZEROS_TOGETHER	16

size_t
race_counters_nonzero(const void *counters, int width, size_t from, size_t n,
					  uint32_t *positions, int64_t *values)
{
	size_t		found = 0;
	size_t		i;
	size_t		j;

	FOR_WIDTH(width,
			  const type *c = (const type *) counters + from;

			  for (i = 0; i < n; i += ZEROS_TOGETHER)
			  {
				  size_t end = n - i < ZEROS_TOGETHER ? n : i + ZEROS_TOGETHER;
				  type any = 0;

				  for (j = i; j < end; j++)
					  any |= c[j];
				  for (j = any == 0 ? end : i; j < end; j++)
				  {
					  positions[found] = (uint32_t) (from + j);
					  values[found] = c[j];
					  found += c[j] != 0;
				  }
			  }
		)
	return found;
}

void
race_counters_gather(const void *counters, int width, const uint32_t *positions,
					 size_t n, int64_t *out)
{
	size_t		i;

	FOR_WIDTH(width,
			  const type *c = counters;

			  for (i = 0; i < n; i++)
				  out[i] = c[positions[i]];
		)
}

void
race_counters_scatter(void *counters, int width, const uint32_t *positions,
					  size_t n, const int64_t *in)
{
	size_t		i;

	FOR_WIDTH(width,
			  type *c = counters;

			  for (i = 0; i < n; i++)
				  c[positions[i]] = (type) in[i];
		)
}

void
race_counters_convert(const void *from, int from_width,
					  void *to, int to_width, size_t n)
{
	int64_t		block[RACE_COUNTER_BLOCK];
	size_t		i;

	if (from_width == to_width)
	{
		memcpy(to, from, n * from_width);
		return;
	}
	for (i = 0; i < n; i += RACE_COUNTER_BLOCK)
	{
		size_t		m = n - i < RACE_COUNTER_BLOCK ? n - i : RACE_COUNTER_BLOCK;

		race_counters_load(from, from_width, i, m, block);
		race_counters_store(to, to_width, i, m, block);
	}
}

int64_t
race_counters_get(const void *counters, int width, size_t i)
{
	FOR_WIDTH(width, return ((const type *) counters)[i];)
	return 0;					/* not reached */
}

double
race_counters_sum(const void *counters, int width, const uint32_t *buckets,
				  uint32_t from, uint32_t to, uint32_t range)
{
	double		total = 0;
	int64_t		sum = 0;
	uint32_t	r;

	FOR_WIDTH(width,
			  const type *c = (const type *) counters + (size_t) from * range;

			  for (r = from; r < to; r++, c += range)
			  {
				  /* up to 2^25 counters of 32 bits stay below 2^56 */
				  if (sizeof(type) < sizeof(int64_t))
					  sum += c[buckets[r]];
				  else
					  total += (double) c[buckets[r]];
			  }
		)
	return total + (double) sum;
}

/* Counters beyond this count as this: so sums stay within 64 bits, of roots, and 128. */
#define MOST_IN_NORM	(INT64_C(1) << 36)

uint64_t
race_counters_norms(const void *counters, int width, uint32_t rows, uint32_t range)
{
	uint64_t	total = 0;
	uint32_t	r;
	uint32_t	b;

	FOR_WIDTH(width,
			  const type *c = counters;

			  for (r = 0; r < rows; r++, c += range)
			  {
				  unsigned __int128 sum = 0;

				  for (b = 0; b < range; b++)
				  {
					  int64_t		value = c[b];

					  if (sizeof(type) == sizeof(int64_t))
						  value = value > MOST_IN_NORM ? MOST_IN_NORM :
							  value < -MOST_IN_NORM ? -MOST_IN_NORM : value;
					  sum += (unsigned __int128) ((__int128) value * value);
				  }
				  total += race_integer_root(sum);
			  }
		)
	return total;
}

int64_t
race_counters_limit(int width)
{
	if (width == sizeof(int64_t))
		return RACE_MAX_COUNT;
	return (INT64_C(1) << (8 * width - 1)) - 1;
}

/*
 * Count in a few rows at a time. Their counters stay in the nearest cache, and
 * successive records that fall into the same bucket do not wait for each other.
 */
#define ROWS_TOGETHER	8

#define INLINE	static inline __attribute__((always_inline))

#define DEFINE_BUMP_ROWS(type) \
INLINE void \
bump_rows_##type(type *c, const uint32_t *buckets, size_t n, int rows, \
				 size_t range, type delta) \
{ \
	size_t		i; \
	int			k; \
\
	for (i = 0; i < n; i++, buckets += RACE_LANES) \
		_Pragma("GCC unroll 8") for (k = 0; k < rows; k++) \
			c[k * range + buckets[k]] += delta; \
}

DEFINE_BUMP_ROWS(int8_t)
DEFINE_BUMP_ROWS(int16_t)
DEFINE_BUMP_ROWS(int32_t)
DEFINE_BUMP_ROWS(int64_t)

INLINE void
bump_rows(void *counters, int width, size_t from, const uint32_t *buckets,
		  size_t n, int rows, size_t range, int64_t delta)
{
	switch (width)
	{
		case 1:
			bump_rows_int8_t((int8_t *) counters + from, buckets, n, rows, range, delta);
			break;
		case 2:
			bump_rows_int16_t((int16_t *) counters + from, buckets, n, rows, range, delta);
			break;
		case 4:
			bump_rows_int32_t((int32_t *) counters + from, buckets, n, rows, range, delta);
			break;
		default:
			bump_rows_int64_t((int64_t *) counters + from, buckets, n, rows, range, delta);
			break;
	}
}

INLINE void
bump(void *counters, int width, const uint32_t *buckets, size_t n,
	 uint32_t rows, size_t range, int64_t delta)
{
	uint32_t	r = 0;

	for (; r + ROWS_TOGETHER <= rows; r += ROWS_TOGETHER)
		bump_rows(counters, width, r * range, buckets + r, n, ROWS_TOGETHER,
				  range, delta);
	for (; r < rows; r++)
		bump_rows(counters, width, r * range, buckets + r, n, 1, range, delta);
}

void
race_counters_bump(void *counters, int width, const uint32_t *buckets, size_t n,
				   uint32_t rows, uint32_t range, int64_t delta)
{
	/* a constant makes the innermost loop one instruction a counter */
	if (delta == 1)
		bump(counters, width, buckets, n, rows, range, 1);
	else
		bump(counters, width, buckets, n, rows, range, delta);
}

void
race_counters_bump_chosen(void *counters, int width, const uint32_t *buckets,
						  const bool *chosen, uint32_t rows, uint32_t range)
{
	uint32_t	r;

	FOR_WIDTH(width,
			  type *c = counters;

			  for (r = 0; r < rows; r++, c += range)
				  c[buckets[r]] += chosen[r];
		)
}

void
race_counters_add(void *counters, int width, size_t i, int64_t delta)
{
	int64_t		value = race_counters_get(counters, width, i) + delta;

	race_counters_store(counters, width, i, 1, &value);
}

int64_t
race_clamped_sum(int64_t a, int64_t b)
{
	int64_t		sum;

	if (__builtin_add_overflow(a, b, &sum))
		return a > 0 ? RACE_MAX_COUNT : -RACE_MAX_COUNT;
	return sum > RACE_MAX_COUNT ? RACE_MAX_COUNT :
		sum < -RACE_MAX_COUNT ? -RACE_MAX_COUNT : sum;
}

/*
 * Counters in bytes in proportion to those that are not zero.
 */

#define HEADER_SIZE		6
#define MAX_ORDER		31
#define SIGNED			128
#define CLASSES			64

/* ------------------------------------------------------------------ orders */

static int
highest_bit(uint64_t x)
{
	return 63 - __builtin_clzll(x);
}

/*
 * How many numbers are in each class, which is the highest bit of the number plus 1.  Bits of
 * Exp-Golomb codes follow from it, but for numbers that adding 2^k takes to the next class.
 */
typedef struct Histogram
{
	uint64_t	numbers[CLASSES];
} Histogram;

/* Bits of all numbers if those in doubt are in the class that is given, or in the next */
static uint64_t
code_bits(const Histogram *histogram, int order, int next)
{
	uint64_t	sum = 0;
	int			class;

	for (class = 0; class < CLASSES; class++)
	{
		int			top = class + next > order ? class + next : order;

		sum += histogram->numbers[class] * (2 * (top - order) + 1 + order);
	}
	return sum;
}

/* In 256ths of a bit, what is expected of numbers that are spread evenly in their class */
static uint64_t
expected_bits(const Histogram *histogram, int order)
{
	uint64_t	sum = code_bits(histogram, order, 0) << 8;
	int			class;

	for (class = order; class < CLASSES; class++)
		sum += histogram->numbers[class] *
			(((((uint64_t) 1 << order) - 1) << 9) >> class);
	return sum;
}

/* The order for which the fewest bits are expected, the lowest if there are several */
static int
choose_order(const Histogram *histogram)
{
	int			best = 0;
	int			order;

	for (order = 1; order <= MAX_ORDER; order++)
		if (expected_bits(histogram, order) < expected_bits(histogram, best))
			best = order;
	return best;
}

static uint64_t
magnitude(int64_t value)
{
	return value < 0 ? -(uint64_t) value : (uint64_t) value;
}

/* Numbers of counters by their sign are twice as large. */
static void
double_classes(Histogram *histogram)
{
	memmove(histogram->numbers + 1, histogram->numbers,
			(CLASSES - 1) * sizeof(histogram->numbers[0]));
	histogram->numbers[0] = 0;
}

void
race_packing_plan(const void *counters, int width, size_t n, RacePacking *packing)
{
	Histogram	gaps = {{0}};
	Histogram	sizes = {{0}};
	uint32_t	positions[RACE_COUNTER_BLOCK];
	int64_t		values[RACE_COUNTER_BLOCK];
	size_t		behind = 0;
	size_t		from;
	size_t		i;

	memset(packing, 0, sizeof(*packing));
	for (from = 0; from < n; from += RACE_COUNTER_BLOCK)
	{
		size_t		m = n - from < RACE_COUNTER_BLOCK ? n - from : RACE_COUNTER_BLOCK;

		m = race_counters_nonzero(counters, width, from, m, positions, values);
		for (i = 0; i < m; i++)
		{
			gaps.numbers[highest_bit(positions[i] - behind + 1)]++;
			sizes.numbers[highest_bit(magnitude(values[i]))]++;
			packing->min = values[i] < packing->min ? values[i] : packing->min;
			packing->max = values[i] > packing->max ? values[i] : packing->max;
			behind = (size_t) positions[i] + 1;
		}
		packing->nonzero += (uint32_t) m;
	}
	if (packing->min < 0)
		double_classes(&sizes);
	packing->gap_order = choose_order(&gaps);
	packing->counter_order = choose_order(&sizes);
	/* of numbers by their sign, half are a class lower */
	packing->most = HEADER_SIZE + (code_bits(&gaps, packing->gap_order, 1) +
								   code_bits(&sizes, packing->counter_order, 1) + 7) / 8;
	packing->least = HEADER_SIZE + (code_bits(&gaps, packing->gap_order, 0) +
									(packing->min < 0 ? packing->nonzero :
									 code_bits(&sizes, packing->counter_order, 0)) + 7) / 8;
}

/* ----------------------------------------------------------------- writing */

typedef struct Writer
{
	unsigned char *next;
	unsigned char *end;
	uint64_t	bits;
	int			have;			/* below 32 */
	bool		full;
} Writer;

static void
write_bytes(Writer *writer, int n)
{
	if (writer->end - writer->next < n)
	{
		writer->full = true;
		return;
	}
	while (n-- > 0)
	{
		*writer->next++ = (unsigned char) writer->bits;
		writer->bits >>= 8;
		writer->have -= 8;
	}
}

/* Write the lowest n <= 32 bits of `bits`, which has no others. */
static inline void
put_bits(Writer *writer, uint64_t bits, int n)
{
	writer->bits |= bits << writer->have;
	writer->have += n;
	if (writer->have >= 32 && !writer->full)
		write_bytes(writer, 4);
	if (writer->full)
		writer->have = 0;		/* what follows is not kept */
}

static void
put_long(Writer *writer, uint64_t bits, int n)
{
	for (; n > 32; n -= 32, bits >>= 32)
		put_bits(writer, bits & 0xffffffff, 32);
	put_bits(writer, bits, n);
}

static inline void
put_number(Writer *writer, uint64_t x, int order)
{
	uint64_t	q = x + ((uint64_t) 1 << order);
	int			top = highest_bit(q);
	int			zeros = top - order;
	uint64_t	rest = q - ((uint64_t) 1 << top);

	if (zeros + 1 + top <= 32)
		put_bits(writer, (rest << 1 | 1) << zeros, zeros + 1 + top);
	else
	{
		put_long(writer, (uint64_t) 1 << zeros, zeros + 1);
		put_long(writer, rest, top);
	}
}

/* The number of a counter, from 0 */
static inline uint64_t
number_of(int64_t value, bool is_signed)
{
	if (!is_signed)
		return (uint64_t) value - 1;
	return value > 0 ? 2 * (uint64_t) value - 2 : 2 * magnitude(value) - 1;
}

static void
put_header(const RacePacking *packing, unsigned char *packed)
{
	int			i;

	packed[0] = (unsigned char) packing->gap_order;
	packed[1] = (unsigned char) (packing->counter_order | (packing->min < 0 ? SIGNED : 0));
	for (i = 0; i < 4; i++)
		packed[2 + i] = (unsigned char) (packing->nonzero >> (8 * i));
}

size_t
race_pack(const RacePacking *packing, const void *counters, int width, size_t n,
		  unsigned char *packed, size_t size)
{
	Writer		writer = {.next = packed + HEADER_SIZE, .end = packed + size};
	bool		is_signed = packing->min < 0;
	uint32_t	positions[RACE_COUNTER_BLOCK];
	int64_t		values[RACE_COUNTER_BLOCK];
	size_t		behind = 0;
	size_t		from;
	size_t		i;

	if (size < HEADER_SIZE)
		return 0;
	put_header(packing, packed);
	for (from = 0; from < n && !writer.full; from += RACE_COUNTER_BLOCK)
	{
		size_t		m = n - from < RACE_COUNTER_BLOCK ? n - from : RACE_COUNTER_BLOCK;

		m = race_counters_nonzero(counters, width, from, m, positions, values);
		for (i = 0; i < m; i++)
		{
			put_number(&writer, positions[i] - behind, packing->gap_order);
			put_number(&writer, number_of(values[i], is_signed), packing->counter_order);
			behind = (size_t) positions[i] + 1;
		}
	}
	if (!writer.full)
		write_bytes(&writer, (writer.have + 7) / 8);
	return writer.full ? 0 : (size_t) (writer.next - packed);
}

/* ----------------------------------------------------------------- reading */

void
race_unpack_start(RaceUnpacker *unpacker, const unsigned char *packed, size_t size,
				  size_t n)
{
	int			i;

	memset(unpacker, 0, sizeof(*unpacker));
	unpacker->n = n;
	if (size < HEADER_SIZE)
	{
		unpacker->in.problem = "Packed counters are cut off.";
		return;
	}
	unpacker->gap_order = packed[0];
	unpacker->counter_order = packed[1] & ~SIGNED;
	unpacker->is_signed = (packed[1] & SIGNED) != 0;
	for (i = 0; i < 4; i++)
		unpacker->left |= (size_t) packed[2 + i] << (8 * i);
	unpacker->in.next = packed + HEADER_SIZE;
	unpacker->in.end = packed + size;
	if (unpacker->gap_order > MAX_ORDER || unpacker->counter_order > MAX_ORDER)
		unpacker->in.problem = "Packed counters have an unknown order.";
	else if (unpacker->left > n)
		unpacker->in.problem = "There are more packed counters than counters.";
}

/* Have at least 56 bits, or all that there are. */
static inline void
refill(RaceBits *in)
{
	if (in->end - in->next >= 8)
	{
		const unsigned char *p = in->next;
		uint64_t	word = (uint64_t) p[0] | (uint64_t) p[1] << 8 | (uint64_t) p[2] << 16 |
			(uint64_t) p[3] << 24 | (uint64_t) p[4] << 32 | (uint64_t) p[5] << 40 |
			(uint64_t) p[6] << 48 | (uint64_t) p[7] << 56;
		int			bytes = (63 - in->have) >> 3;

		/* bits beyond those that count are the same when they are read again */
		in->bits |= word << in->have;
		in->next += bytes;
		in->have += 8 * bytes;
		return;
	}
	while (in->have < 56 && in->next < in->end)
	{
		in->bits |= (uint64_t) *in->next++ << in->have;
		in->have += 8;
	}
}

static inline uint64_t
take_bits(RaceBits *in, int n)
{
	uint64_t	bits = in->bits & (((uint64_t) 1 << n) - 1);

	in->bits >>= n;
	in->have -= n;
	return bits;
}

static uint64_t
damaged(RaceBits *in, const char *problem)
{
	in->problem = problem;
	return 0;
}

/* A number that is not in the bits at hand, bit by bit */
static uint64_t
take_long(RaceBits *in, int order)
{
	uint64_t	q = 1;
	int			top = order;
	int			i;

	for (;; top++)
	{
		refill(in);
		if (in->have == 0)
			return damaged(in, "Packed counters are cut off.");
		if (take_bits(in, 1) == 1)
			break;
		if (top == 63)
			return damaged(in, "A packed number is too large.");
	}
	q <<= top;
	for (i = 0; i < top; i++)
	{
		refill(in);
		if (in->have == 0)
			return damaged(in, "Packed counters are cut off.");
		q |= take_bits(in, 1) << i;
	}
	return q - ((uint64_t) 1 << order);
}

/* A number; after refill() there are bits for two of a usual size */
static inline uint64_t
take_number(RaceBits *in, int order)
{
	int			zeros = in->bits == 0 ? 63 : __builtin_ctzll(in->bits);
	int			top = zeros + order;
	uint64_t	q;

	if (zeros + 1 + top > in->have)
	{
		RaceBits	copy = *in;	/* registers are for those that nobody points to */

		q = take_long(&copy, order);
		*in = copy;
		return q;
	}
	/* one shift: the next number waits for it */
	q = ((uint64_t) 1 << top) |
		(in->bits >> (zeros + 1) & (((uint64_t) 1 << top) - 1));
	in->bits >>= zeros + 1 + top;
	in->have -= zeros + 1 + top;
	return q - ((uint64_t) 1 << order);
}

/* The counter with a number; 0 if there is none */
static inline int64_t
value_of(uint64_t number, bool is_signed)
{
	uint64_t	size = is_signed ? number / 2 + 1 : number + 1;

	if (size == 0 || size > RACE_MAX_COUNT)
		return 0;
	return is_signed && (number & 1) ? -(int64_t) size : (int64_t) size;
}

size_t
race_unpack_next(RaceUnpacker *unpacker, uint32_t *positions, int64_t *values)
{
	RaceBits	in = unpacker->in;
	size_t		position = unpacker->position;
	size_t		m = unpacker->left < RACE_COUNTER_BLOCK ? unpacker->left : RACE_COUNTER_BLOCK;
	size_t		i;

	for (i = 0; i < m && in.problem == NULL; i++)
	{
		uint64_t	gap;

		refill(&in);
		gap = take_number(&in, unpacker->gap_order);
		values[i] = value_of(take_number(&in, unpacker->counter_order), unpacker->is_signed);
		if (in.problem == NULL && gap >= unpacker->n - position)
			in.problem = "A packed counter is beyond the last one.";
		if (in.problem == NULL && values[i] == 0)
			in.problem = "A counter is out of range.";
		position += gap;
		positions[i] = (uint32_t) position++;
	}
	unpacker->in = in;
	unpacker->position = position;
	unpacker->left -= m;
	return in.problem == NULL ? m : 0;
}

const char *
race_unpack(const unsigned char *packed, size_t size, void *counters, int width, size_t n)
{
	uint32_t	positions[RACE_COUNTER_BLOCK];
	int64_t		values[RACE_COUNTER_BLOCK];
	RaceUnpacker unpacker;
	int64_t		limit = race_counters_limit(width);
	size_t		m;
	size_t		i;

	race_unpack_start(&unpacker, packed, size, n);
	while ((m = race_unpack_next(&unpacker, positions, values)) > 0)
	{
		for (i = 0; i < m; i++)
			if (values[i] > limit || values[i] < -limit - 1)
				return "A counter is too large for its width.";
		race_counters_scatter(counters, width, positions, m, values);
	}
	return unpacker.in.problem;
}
