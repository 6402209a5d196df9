/*
 * fuzz.c
 *		What both fuzzers need: values as bytes, randomness, a server, a judgement.
 */
#include "fuzz.h"
#include "privacy/counters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_REASONS 128
#define MAX_VIOLATIONS 50 /* then it is enough */

static PGconn *connection;
static char *reasons[MAX_REASONS];
static int reason_count;
static int violations;

void
die(const char *message)
{
	fprintf(stderr, "%s: %s\n", message, connection ? PQerrorMessage(connection) : "");
	exit(2);
}

/* ----------------------------------------------------------- randomness */

static uint64_t random_state;

void
seed_random(const char *seed)
{
	random_state = strtoull(seed, NULL, 10);
}

/* splitmix64 (Steele, Lea & Flood 2014) */
uint64_t
random64(void)
{
	uint64_t z = (random_state += UINT64_C(0x9E3779B97F4A7C15));

	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

size_t
below(size_t n)
{
	return n == 0 ? 0 : random64() % n;
}

static const uint64_t extremes[] = {
	0,
	1,
	2,
	3,
	4,
	5,
	8,
	16,
	255,
	UINT64_MAX,
	UINT64_MAX - 1,
	INT64_MAX,
	UINT64_C(1) << 63,
	(UINT64_C(1) << 62) + 1,
	UINT64_C(1) << 62,
	INT32_MAX,
	UINT64_C(1) << 31,
	65536,
	16000,
	1024,
	64,
	UINT64_C(0x7FF0000000000000),
	UINT64_C(0xFFF0000000000000), /* infinities */
	UINT64_C(0x7FF8000000000000),
	UINT64_C(0x7FEFFFFFFFFFFFFF), /* NaN, DBL_MAX */
	UINT64_C(0x54B249AD2594C37D),
	UINT64_C(0x2B2BFF2EE48E0530), /* 1e100, 1e-100 */
	UINT64_C(0x7E37E43C8800759C), /* 1e300 */
	UINT64_C(0x3FF0000000000000),
	UINT64_C(0xBFF0000000000000) /* 1, -1 */
};

uint64_t
extreme_number(void)
{
	return one_of(extremes);
}

/* --------------------------------------------------------- the wire format */

uint64_t
number_at(const Value *value, size_t at)
{
	return value->bytes[at] | value->bytes[at + 1] << 8 | value->bytes[at + 2] << 16 |
		(uint64_t) value->bytes[at + 3] << 24;
}

void
set_number(Value *value, size_t at, size_t size, uint64_t number)
{
	for (size_t i = 0; i < size && at + i < value->size; i++)
		value->bytes[at + i] = number >> (8 * i);
}

uint64_t
arrays_size(const Value *value, size_t part)
{
	uint64_t dims = number_at(value, part + 4);
	int arrays = value->bytes[part + 44] | value->bytes[part + 45] << 8;
	uint64_t n = (arrays & 8 ? number_at(value, part + 20) : 0) + (arrays & 256 ? 3 : 0);
	uint64_t others = (arrays & 32 ? 3 * number_at(value, part + 52) : 0) +
		(arrays & 64 ? number_at(value, part + 48) : 0) +
		(arrays & 512 ? 3 * number_at(value, part + 56) : 0);

	for (arrays &= 1 | 2 | 4 | 16 | 128; arrays != 0; arrays &= arrays - 1)
		n++;
	return 8 * (n * dims + others);
}

int
find_parts(const Value *value, size_t params, size_t *parts)
{
	size_t part = params;
	uint64_t end;
	int n = 0;

	if (params + PART_SIZE > value->size)
		return 0;
	end = params + PART_SIZE + number_at(value, params + 40);
	while (n < MAX_PARTS && part + PART_SIZE <= (end < value->size ? end : value->size))
	{
		parts[n++] = part;
		if (arrays_size(value, part) > MAX_SIZE)
			break;
		part += PART_SIZE + arrays_size(value, part);
	}
	return n;
}

void
set_checksum(Value *value)
{
	uint32_t crc = 0xFFFFFFFF;
	size_t i;

	if (value->size < 4)
		return;
	for (i = 0; i < value->size - 4; i++)
	{
		crc ^= value->bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78 : 0);
	}
	for (; i < value->size; i++, crc >>= 8)
		value->bytes[i] = ~crc;
}

bool
same_value(const Value *a, const Value *b)
{
	return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

/*
 * A zero of an array arrives without its sign, and then with
 * another checksum.
 */
bool
arrived_whole(const Value *sent, const Value *arrived, bool is_sketch)
{
	static const unsigned char minus_zero[8] = {0, 0, 0, 0, 0, 0, 0, 0x80};

	for (size_t i = 0; i < sent->size; i++)
		if (sent->bytes[i] != arrived->bytes[i] &&
			(i < PART_SIZE + 7 || arrived->bytes[i] != 0 ||
			 memcmp(sent->bytes + i - 7, minus_zero, 8) != 0) &&
			(!is_sketch || i < sent->size - 4))
			return false;
	return sent->size == arrived->size;
}

/* Would an answer take long?  Limits allow row functions of 512 MB. */
bool
is_large(const Value *wire, const size_t *parts, int n)
{
	uint64_t rows = number_at(wire, parts[0] + 12);
	uint64_t range = number_at(wire, parts[0] + 16);
	uint64_t work = 0;

	for (int i = 0; i < n; i++)
		work += number_at(wire, parts[i] + 8) * (number_at(wire, parts[i] + 4) + 1) *
			(number_at(wire, parts[i] + 20) + 1);
	return rows * range > 4096 || rows * work > 65536;
}

/* Kernels have the numbers of kernel.h. */
void
write_record(const Value *wire, const size_t *parts, int n, const char *integer, char *sql)
{
	sql += sprintf(sql, n > 1 ? "ROW(" : "(");
	for (int i = 0; i < n; i++)
	{
		int kernel = wire->bytes[parts[i] + 1];
		unsigned dims = number_at(wire, parts[i] + 4);

		if (kernel == 4)
			sql += sprintf(sql, "ARRAY[1, 2, 2 + %s]", integer);
		else
			sql += sprintf(sql, "array_fill(%s%s, ARRAY[%u])", integer,
						   kernel == 5 ? "" : " / 2.0::float8", dims);
		sql += sprintf(sql, i < n - 1 ? ", " : ")");
	}
}

/* ------------------------------------------------------------- the server */

void
connect_to_server(void)
{
	connection = PQconnectdb("");
	if (PQstatus(connection) != CONNECTION_OK)
		die("could not connect");
}

PGresult *
send_query(const char *query, int n, const char *const *values, const int *lengths,
		   const int *formats)
{
	PGresult *result = PQexecParams(connection, query, n, NULL, values, lengths, formats, 0);

	if (PQstatus(connection) != CONNECTION_OK)
	{
		violation("the connection is gone", query);
		exit(1);
	}
	return result;
}

const char *
field_of(const PGresult *result, int field)
{
	const char *text = PQresultErrorField(result, field);

	return text ? text : "";
}

bool
refused_for(const PGresult *result, const char *const *states, size_t n)
{
	const char *state = field_of(result, PG_DIAG_SQLSTATE);

	for (size_t i = 0; i < n; i++)
		if (strncmp(state, states[i], strlen(states[i])) == 0)
			return true;
	return false;
}

void
note_reason(const PGresult *result)
{
	const char *reason = field_of(result, PG_DIAG_MESSAGE_DETAIL);
	size_t length;

	if (*reason == '\0')
		reason = field_of(result, PG_DIAG_MESSAGE_PRIMARY);
	length = strcspn(reason, "0123456789");
	for (int i = 0; i < reason_count; i++)
		if (strlen(reasons[i]) == length && strncmp(reasons[i], reason, length) == 0)
			return;
	if (reason_count < MAX_REASONS)
		reasons[reason_count++] = strndup(reason, length);
}

void
decode_bytea(const char *text, Value *value)
{
	size_t n;
	unsigned char *bytes = PQunescapeBytea((const unsigned char *) text, &n);

	if (bytes == NULL || n > MAX_SIZE)
		die("could not read a bytea");
	memcpy(value->bytes, bytes, n);
	value->bytes[n] = '\0';
	value->size = n;
	PQfreemem(bytes);
}

void
encode_base64(const Value *value, char *text)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < value->size; i += 3)
	{
		size_t left = value->size - i;
		unsigned bits = value->bytes[i] << 16 | (left > 1 ? value->bytes[i + 1] << 8 : 0) |
			(left > 2 ? value->bytes[i + 2] : 0);

		*text++ = digits[bits >> 18];
		*text++ = digits[bits >> 12 & 63];
		*text++ = left > 1 ? digits[bits >> 6 & 63] : '=';
		*text++ = left > 2 ? digits[bits & 63] : '=';
	}
	*text = '\0';
}

/* -------------------------------------------------------------- judgement */

static const char *context = "";
static const Value *suspects[2];

void
set_suspects(const char *what, const Value *a, const Value *b)
{
	context = what;
	suspects[0] = a;
	suspects[1] = b;
}

void
violation(const char *what, const char *detail)
{
	char text[TEXT_SIZE];

	printf("VIOLATION %s: %s: %s\n", context, what, detail);
	for (int i = 0; i < 2 && suspects[i] != NULL; i++)
	{
		encode_base64(suspects[i], text);
		printf("\tvalue %s\n", text);
	}
	fflush(stdout);
	if (++violations == MAX_VIOLATIONS)
		exit(1);
}

/* The backend that we began with must still be ours. */
static void
check_backend(void)
{
	PGresult *result = send_query("SELECT pg_backend_pid()", 0, NULL, NULL, NULL);

	set_suspects("the end", NULL, NULL);
	if (PQresultStatus(result) != PGRES_TUPLES_OK ||
		atoi(PQgetvalue(result, 0, 0)) != PQbackendPID(connection))
		violation("the backend is another", "");
	PQclear(result);
}

int
finish(void)
{
	check_backend();
	for (int i = 0; i < reason_count; i++)
		printf("reason: %s\n", reasons[i]);
	printf("violations: %d\n", violations);
	PQfinish(connection);
	return violations > 0;
}
