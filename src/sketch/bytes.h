/*
 * bytes.h
 *		Numbers in wire formats: of a fixed width, the lowest byte first.
 *
 * Writers append to a StringInfo.  Readers take from *bytes, which moves on; the
 * caller has checked before that so many bytes are there.
 */
#ifndef RACE_BYTES_H
#define RACE_BYTES_H

#include "postgres.h"

#include "lib/stringinfo.h"

/* Append an integer of n bytes. */
static inline void
race_put(StringInfo out, uint64 value, int n)
{
	while (n-- > 0)
	{
		appendStringInfoCharMacro(out, (char) (value & 0xFF));
		value >>= 8;
	}
}

static inline void
race_put_double(StringInfo out, double value)
{
	uint64 bits;

	memcpy(&bits, &value, sizeof(bits));
	race_put(out, bits, 8);
}

static inline uint64
race_take(const unsigned char **bytes, int n)
{
	uint64 value = 0;

	for (int i = n - 1; i >= 0; i--)
		value = value << 8 | (*bytes)[i];
	*bytes += n;
	return value;
}

static inline double
race_take_double(const unsigned char **bytes)
{
	uint64 bits = race_take(bytes, 8);
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

#endif
