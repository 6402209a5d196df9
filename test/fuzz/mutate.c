/*
 * mutate.c
 *		Sends damaged values of race_sketch and race_params to a server.
 *
 *	mutate SEED COUNT
 *
 * connects as libpq's environment says, takes good values from the table
 * samples(type text, wire bytea, form text), damages them COUNT times, each time
 * sends one over a route: as text or binary, with its checksum left or made to
 * fit again.  What must hold:
 *
 * - the server refuses a value with an error of class 22, data exceptions;
 * - sketch bytes whose checksum was left are refused unless they are undamaged;
 * - what is accepted comes back as exactly the bytes that were sent, but for the
 *   signs of zeros in arrays, and goes in again as text;
 * - it answers questions, or refuses them for a reason of their own;
 * - one and the same backend serves to the end.
 *
 * Output: a line of counts for each route; the reasons for which binary values
 * were refused, up to the first number; and every violation, with the value that
 * led to it.  The exit status is 1 when there was one.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libpq-fe.h>

#define lengthof(array) (sizeof(array) / sizeof((array)[0]))

#define MAX_SIZE		4096	/* of a value; the samples have a tenth of it */
#define MAX_SAMPLES		64
#define MAX_REASONS		128
#define PARAMS_AT		80		/* where a sketch has its params, see format.c, */
#define PART_SIZE		64		/* and of a part of them what all parts have */
#define MAX_PARTS		4

typedef struct Value
{
	size_t		size;
	unsigned char bytes[MAX_SIZE + 1];	/* and a NUL */
} Value;

typedef struct Sample
{
	bool		is_sketch;
	Value		wire;
	Value		text;
} Sample;

/* How a value gets to the server */
typedef struct Route
{
	const char *name;
	bool		is_sketch;
	bool		damages_text;	/* the characters, not the bytes they stand for */
	bool		binary;
	bool		fresh_checksum;
	int			sent;
	int			refused;
	int			unchanged;		/* accepted, and equal to the sample */
	int			changed;		/* accepted, and another value */
	int			asked;			/* of these, small enough to be asked */
} Route;

static Route routes[] = {
	{.name = "sketch: characters of the text", .is_sketch = true, .damages_text = true},
	{.name = "sketch: text, stale checksum", .is_sketch = true},
	{.name = "sketch: binary, stale checksum", .is_sketch = true, .binary = true},
	{.name = "sketch: text, fresh checksum", .is_sketch = true, .fresh_checksum = true},
	{.name = "sketch: binary, fresh checksum", .is_sketch = true, .binary = true, .fresh_checksum = true},
	{.name = "params: characters of the text", .damages_text = true},
	{.name = "params: binary", .binary = true}
};

static PGconn *connection;
static Sample samples[MAX_SAMPLES];
static int	sample_count;
static char *reasons[MAX_REASONS];
static int	reason_count;
static int	violations;

static void
die(const char *message)
{
	fprintf(stderr, "%s: %s\n", message,
			connection ? PQerrorMessage(connection) : "");
	exit(2);
}

/* ----------------------------------------------------------- randomness */

static uint64_t random_state;

/* splitmix64 (Steele, Lea & Flood 2014) */
static uint64_t
random64(void)
{
	uint64_t	z = (random_state += UINT64_C(0x9E3779B97F4A7C15));

	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

/* 0 to n - 1; 0 when n is 0 */
static size_t
below(size_t n)
{
	return n == 0 ? 0 : random64() % n;
}

/* --------------------------------------------------------------- damage */

static void
flip_bit(Value *value)
{
	if (value->size > 0)
		value->bytes[below(value->size)] ^= 1 << below(8);
}

static void
change_byte(Value *value)
{
	if (value->size > 0)
		value->bytes[below(value->size)] = random64();
}

static void
truncate_value(Value *value)
{
	value->size = below(value->size);
}

/* Put n bytes in at `at`, as far as there is room */
static void
insert_bytes(Value *value, size_t at, const void *bytes, size_t n)
{
	if (value->size + n > MAX_SIZE)
		return;
	memmove(value->bytes + at + n, value->bytes + at, value->size - at);
	memcpy(value->bytes + at, bytes, n);
	value->size += n;
}

static void
extend(Value *value)
{
	unsigned char tail[64];
	size_t		n = 1 + below(sizeof(tail));
	size_t		i;

	for (i = 0; i < n; i++)
		tail[i] = random64();
	insert_bytes(value, value->size, tail, n);
}

/* Exchange two chunks of equal size that do not overlap */
static void
swap_chunks(Value *value)
{
	size_t		half = value->size / 2;
	size_t		a = below(half);
	size_t		b = half + below(half);
	size_t		n = 1 + below(value->size - b);
	size_t		i;

	if (value->size < 2)
		return;
	for (i = 0; i < n && a + i < b; i++)
	{
		unsigned char byte = value->bytes[a + i];

		value->bytes[a + i] = value->bytes[b + i];
		value->bytes[b + i] = byte;
	}
}

static void
duplicate_chunk(Value *value)
{
	unsigned char chunk[64];
	size_t		from = below(value->size);
	size_t		n = 1 + below(sizeof(chunk));

	if (from + n > value->size)
		return;
	memcpy(chunk, value->bytes + from, n);
	insert_bytes(value, below(value->size + 1), chunk, n);
}

static void
fill_chunk(Value *value)
{
	size_t		from = below(value->size);
	size_t		n = 1 + below(16);

	if (from + n <= value->size)
		memset(value->bytes + from, below(2) ? 0xFF : 0, n);
}

static void (*const damages[]) (Value *) = {
	flip_bit, change_byte, truncate_value, extend,
	swap_chunks, duplicate_chunk, fill_chunk
};

/* ---- knowing the format: fields with extreme values, words for the parser */

static uint64_t
number_at(const Value *value, size_t at)
{
	return value->bytes[at] | value->bytes[at + 1] << 8 |
		value->bytes[at + 2] << 16 | (uint64_t) value->bytes[at + 3] << 24;
}

/* Bytes of the arrays of a part, as it says */
static uint64_t
arrays_size(const Value *value, size_t part)
{
	uint64_t	dims = number_at(value, part + 4);
	int			arrays = value->bytes[part + 44];
	uint64_t	n = arrays & 8 ? number_at(value, part + 20) : 0;

	for (arrays &= ~8 & 31; arrays != 0; arrays &= arrays - 1)
		n++;
	return 8 * n * dims;
}

/* Where the parts of parameters begin, as far as they say; returns how many there are */
static int
find_parts(const Value *value, size_t params, size_t *parts)
{
	size_t		part = params;
	uint64_t	end;
	int			n = 0;

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

/* Where one of the parts begins; no part if there is none */
static size_t
some_part(const Value *value, size_t params)
{
	size_t		parts[MAX_PARTS];
	int			n = find_parts(value, params, parts);

	return n > 0 ? parts[below(n)] : value->size;
}

typedef struct Field
{
	size_t		at;
	size_t		size;
} Field;

static const Field sketch_fields[] = {
	{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 3}, {8, 4}, {12, 4}, {16, 8},
	{24, 8}, {32, 8}, {40, 8}, {48, 8}, {56, 8}, {64, 8}, {72, 8},
	{PARAMS_AT + PART_SIZE, 8}	/* the first counters, or an array */
};

/* kernel and arrays, which say what the others may be, more often */
static const Field part_fields[] = {
	{0, 1}, {1, 1}, {1, 1}, {1, 1}, {44, 1}, {44, 1}, {2, 1}, {3, 1}, {4, 4}, {8, 4}, {12, 4}, {16, 4}, {20, 4},
	{24, 8}, {32, 8}, {40, 4}, {44, 1}, {45, 1}, {48, 8}, {56, 8}
};

static const uint64_t extremes[] = {
	0, 1, 2, 3, 4, 5, 8, 16, 255, UINT64_MAX, UINT64_MAX - 1,
	INT64_MAX, UINT64_C(1) << 63, (UINT64_C(1) << 62) + 1, UINT64_C(1) << 62,
	INT32_MAX, UINT64_C(1) << 31, 65536, 16000, 1024, 64,
	UINT64_C(0x7FF0000000000000), UINT64_C(0xFFF0000000000000), /* infinities */
	UINT64_C(0x7FF8000000000000), UINT64_C(0x7FEFFFFFFFFFFFFF), /* NaN, DBL_MAX */
	UINT64_C(0x54B249AD2594C37D), UINT64_C(0x2B2BFF2EE48E0530), /* 1e100, 1e-100 */
	UINT64_C(0x7E37E43C8800759C),	/* 1e300 */
	UINT64_C(0x3FF0000000000000), UINT64_C(0xBFF0000000000000)	/* 1, -1 */
};

static void
set_number(Value *value, size_t at, size_t size, uint64_t number)
{
	size_t		i;

	for (i = 0; i < size && at + i < value->size; i++)
		value->bytes[at + i] = number >> (8 * i);
}

/* One of the fields of a part, or of the numbers in its arrays */
static Field
some_field(const Value *value, size_t params)
{
	size_t		part = some_part(value, params);
	Field		field = part_fields[below(lengthof(part_fields))];

	if (part < value->size && arrays_size(value, part) > 0 && below(3) == 0)
	{
		field.at = PART_SIZE + 8 * below(arrays_size(value, part) / 8);
		field.size = 8;
	}
	field.at += part;
	return field;
}

static void
set_field(bool is_sketch, Value *value)
{
	Field		field = is_sketch && below(2) ?
		sketch_fields[below(lengthof(sketch_fields))] :
		some_field(value, is_sketch ? PARAMS_AT : 0);

	/* what fits into a byte is a choice of a few */
	set_number(value, field.at, field.size, field.size == 1 && below(4) ?
			   below(9) : extremes[below(lengthof(extremes))]);
}

/* Make parts more, or longer, and say so, so that only what they are is wrong. */
static void
insert_part(bool is_sketch, Value *value)
{
	size_t		params = is_sketch ? PARAMS_AT : 0;
	size_t		part = some_part(value, params);
	size_t		end;
	unsigned char copy[MAX_SIZE];
	size_t		n;

	if (part == value->size || arrays_size(value, part) > value->size - part - PART_SIZE)
		return;
	end = part + PART_SIZE + arrays_size(value, part);
	n = below(2) ? 8 * below(8) : end - part;
	if (value->size + n > MAX_SIZE)
		return;
	memcpy(copy, value->bytes + part, n);
	set_number(value, params + 40, 4, number_at(value, params + 40) + n);
	insert_bytes(value, end, copy, n);
}

static const char *const words[] = {
	"(", ")", ",", "=", "-", "\\x", " ", "nan", "inf", "1e400", "1e-400", "0x10",
	"0", "2", "99999999999999999999", "4294967297", "-1", "l2", "l2(", "dims",
	"rows=4", ", rows=8", ", power=2", "range=", "seed=-9223372036854775808",
	"bandwidth", "sequence=auto", "independent", "multilinear", "fold", "%s%n",
	"{", "}", "{}", "},{", "{1,2}", "{{1,2},{3,4}}", "*", " * match(dims=2)",
	" * jaccard", "l1", "angular", "match", "jaccard", ", lower={0,0}", ", upper=",
	"bandwidths={1,1}", "matrix=", "offset={1e100,-1e101}", "Infinity", "-0"
};

static void
insert_word(Value *value)
{
	const char *word = words[below(lengthof(words))];

	insert_bytes(value, below(value->size + 1), word, strlen(word));
}

static void
replace_digit(Value *value)
{
	size_t		i = below(value->size);

	while (i < value->size && strchr("0123456789abcdef", value->bytes[i]) == NULL)
		i++;
	if (i < value->size)
		value->bytes[i] = "0123456789abcdefABCDEF"[below(22)];
}

/* Mostly one kind of damage, so that no other hides it; sometimes more */
static void
damage(const Route *route, Value *value)
{
	do
	{
		if (below(2))
			damages[below(lengthof(damages))] (value);
		else if (!route->damages_text && below(8) == 0)
			insert_part(route->is_sketch, value);
		else if (!route->damages_text)
			set_field(route->is_sketch, value);
		else if (below(2))
			insert_word(value);
		else
			replace_digit(value);
	} while (below(3) == 0);
}

/* -------------------------------------------------------------- encoding */

/* CRC-32C of all but the last 4 bytes into these */
static void
set_checksum(Value *value)
{
	uint32_t	crc = 0xFFFFFFFF;
	size_t		i;
	int			bit;

	if (value->size < 4)
		return;
	for (i = 0; i < value->size - 4; i++)
	{
		crc ^= value->bytes[i];
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78 : 0);
	}
	for (; i < value->size; i++, crc >>= 8)
		value->bytes[i] = ~crc;
}

static void
encode_hex(const Value *value, char *text)
{
	size_t		i;

	text += sprintf(text, "\\x");
	for (i = 0; i < value->size; i++)
		text += sprintf(text, "%02x", value->bytes[i]);
}

/* -------------------------------------------------------------- judgement */

/* A value on its way to the server */
typedef struct Shipment
{
	Route	   *route;
	const Sample *sample;
	Value		value;			/* damaged: wire bytes, or text */
	char		hex[2 * MAX_SIZE + 3];	/* of wire bytes */
} Shipment;

static void
violation(const Shipment *shipment, const char *what, const char *detail)
{
	char		hex[2 * MAX_SIZE + 3];

	encode_hex(&shipment->value, hex);
	printf("VIOLATION %s: %s: %s\n\tvalue %s\n", shipment->route->name, what,
		   detail, hex);
	violations++;
}

static PGresult *
send_query(const Shipment *shipment, const char *query)
{
	const Route *route = shipment->route;
	bool		as_hex = !route->damages_text && !route->binary;
	const char *value = as_hex ? shipment->hex : (const char *) shipment->value.bytes;
	int			length = shipment->value.size;
	int			format = route->binary;
	PGresult   *result = PQexecParams(connection, query, 1, NULL, &value,
									  &length, &format, 0);

	if (PQstatus(connection) != CONNECTION_OK)
	{
		violation(shipment, "the connection is gone", query);
		exit(1);
	}
	return result;
}

static const char *
field_of(const PGresult *result, int field)
{
	const char *text = PQresultErrorField(result, field);

	return text ? text : "";
}

/* Remember why a value was refused, up to the first number */
static void
note_reason(const PGresult *result)
{
	const char *reason = field_of(result, PG_DIAG_MESSAGE_DETAIL);
	size_t		length;
	int			i;

	if (*reason == '\0')
		reason = field_of(result, PG_DIAG_MESSAGE_PRIMARY);
	length = strcspn(reason, "0123456789");
	for (i = 0; i < reason_count; i++)
		if (strlen(reasons[i]) == length && strncmp(reasons[i], reason, length) == 0)
			return;
	if (reason_count < MAX_REASONS)
		reasons[reason_count++] = strndup(reason, length);
}

/* Was the value accepted?  A refusal must be a proper one. */
static bool
accepted(Shipment *shipment, const PGresult *result)
{
	Route	   *route = shipment->route;

	if (PQresultStatus(result) == PGRES_TUPLES_OK)
		return true;
	route->refused++;
	if (strncmp(field_of(result, PG_DIAG_SQLSTATE), "22", 2) != 0)
		violation(shipment, "refused with another class of error",
				  PQresultErrorMessage(result));
	if (route->binary)
		note_reason(result);
	return false;
}

/*
 * A question is answered by numbers, by a sketch that goes out and in again, or
 * refused for a reason of its own.
 */
static void
ask(const Shipment *shipment, const char *question)
{
	static const char *const refusals[] = {
		"55000",				/* a private sketch takes no more records */
		"22003",				/* more than 2^62 records */
		"22023"					/* no dims, too much noise */
	};
	PGresult   *result = send_query(shipment, question);
	size_t		i;

	if (PQresultStatus(result) == PGRES_TUPLES_OK)
	{
		if (strstr(PQgetvalue(result, 0, 0), "NaN") != NULL)
			violation(shipment, question, PQgetvalue(result, 0, 0));
		if (strcmp(PQgetvalue(result, 0, 1), "t") != 0)
			violation(shipment, question, "the sketch does not round-trip");
	}
	else
	{
		for (i = 0; i < lengthof(refusals); i++)
			if (strcmp(field_of(result, PG_DIAG_SQLSTATE), refusals[i]) == 0)
				break;
		if (i == lengthof(refusals))
			violation(shipment, question, PQresultErrorMessage(result));
	}
	PQclear(result);
}

/*
 * Questions about a sketch s, made by an expression, with the record %s: the answer,
 * and whether a sketch t that goes out comes in again as the same.  OFFSET 0 keeps the
 * planner from evaluating s or t twice.
 */
#define QUESTION(s, t, answer) \
	"SELECT (" answer ")::text, " \
	"race_sketch_send(t) = race_sketch_send(t::text::race_sketch) " \
	"FROM (SELECT " s " AS s OFFSET 0) a, race_info(s) i, " \
	"LATERAL (SELECT %s AS q) b, " \
	"LATERAL (" t " OFFSET 0) c"

#define QUESTIONS(s) { \
	QUESTION(s, "SELECT s AS t", "race_kernel_sum(t, q), race_kde(t, q)"), \
	QUESTION(s, "SELECT s AS t", "race_estimate(t, q)"), \
	QUESTION(s, "SELECT s + s AS t", "race_info(t)"), \
	QUESTION(s, "SELECT race_merge(d.s) AS t FROM (SELECT s FROM generate_series(1, 3)) d", \
			 "race_info(t)"), \
	QUESTION(s, "SELECT race_merge_disjoint(d.s) AS t FROM (VALUES (s), (s)) d(s)", \
			 "race_info(t)"), \
	QUESTION(s, "SELECT race_add(s, q) AS t", "race_info(t)"), \
	QUESTION(s, "SELECT race_privatize(s, 1, rows => i.rows) AS t", "race_info(t)") \
}

static const char *const sketch_questions[] = QUESTIONS("$1::race_sketch");
static const char *const params_questions[] = QUESTIONS("race_sketch($1::race_params)");

/* Would an answer take long?  Limits allow row functions of 512 MB. */
static bool
is_large(const Value *wire, const size_t *parts, int n)
{
	uint64_t	rows = number_at(wire, parts[0] + 12);
	uint64_t	range = number_at(wire, parts[0] + 16);
	uint64_t	work = 0;
	int			i;

	for (i = 0; i < n; i++)
		work += number_at(wire, parts[i] + 8) * (number_at(wire, parts[i] + 4) + 1) *
			(number_at(wire, parts[i] + 20) + 1);
	return rows * range > 4096 || rows * work > 65536;
}

/* A record in SQL: a value for each part, whose kernels have the numbers of lsh.h */
static void
write_record(const Value *wire, const size_t *parts, int n, char *sql)
{
	int			i;

	sql += sprintf(sql, n > 1 ? "ROW(" : "(");
	for (i = 0; i < n; i++)
	{
		int			kernel = wire->bytes[parts[i] + 1];
		unsigned	dims = number_at(wire, parts[i] + 4);

		if (kernel == 4)
			sql += sprintf(sql, "ARRAY[1, 2, 3]");
		else
			sql += sprintf(sql, "array_fill(%s, ARRAY[%u])",
						   kernel == 5 ? "1" : "0.5::float8", dims);
		sql += sprintf(sql, i < n - 1 ? ", " : ")");
	}
}

static void
ask_all(Shipment *shipment, const Value *wire)
{
	bool		is_sketch = shipment->route->is_sketch;
	const char *const *questions = is_sketch ? sketch_questions : params_questions;
	size_t		parts[MAX_PARTS];
	int			n = find_parts(wire, is_sketch ? PARAMS_AT : 0, parts);
	char		record[MAX_PARTS * 64];
	char		query[2048];
	size_t		i;

	if (is_large(wire, parts, n))
		return;
	shipment->route->asked++;
	write_record(wire, parts, n, record);
	for (i = 0; i < lengthof(sketch_questions); i++)
	{
		snprintf(query, sizeof(query), questions[i], record);
		ask(shipment, query);
	}
}

/* Bytes of a bytea in text form */
static void
decode_bytea(const char *text, Value *value)
{
	size_t		n;
	unsigned char *bytes = PQunescapeBytea((const unsigned char *) text, &n);

	if (bytes == NULL || n > MAX_SIZE)
		die("could not read a bytea");
	memcpy(value->bytes, bytes, n);
	value->bytes[n] = '\0';
	value->size = n;
	PQfreemem(bytes);
}

static bool
same(const Value *a, const Value *b)
{
	return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

/*
 * Did what was sent arrive?  A zero of an array arrives without its sign, and then with
 * another checksum.
 */
static bool
arrived_whole(const Value *sent, const Value *arrived, bool is_sketch)
{
	static const unsigned char minus_zero[8] = {0, 0, 0, 0, 0, 0, 0, 0x80};
	size_t		i;

	for (i = 0; i < sent->size; i++)
		if (sent->bytes[i] != arrived->bytes[i] &&
			(i < PART_SIZE + 7 || arrived->bytes[i] != 0 ||
			 memcmp(sent->bytes + i - 7, minus_zero, 8) != 0) &&
			(!is_sketch || i < sent->size - 4))
			return false;
	return sent->size == arrived->size;
}

/* An accepted value is what was sent.  `result` says what arrived, twice. */
static void
check_accepted(Shipment *shipment, const PGresult *result)
{
	Route	   *route = shipment->route;
	Value		arrived;
	bool		unchanged;

	decode_bytea(PQgetvalue(result, 0, 0), &arrived);
	unchanged = same(&arrived, &shipment->sample->wire);
	if (unchanged)
		route->unchanged++;
	else
		route->changed++;

	if (strcmp(PQgetvalue(result, 0, 0), PQgetvalue(result, 0, 1)) != 0)
		violation(shipment, "the text form is another value", PQgetvalue(result, 0, 1));
	if (!route->damages_text && 
		!arrived_whole(&shipment->value, &arrived, route->is_sketch))
		violation(shipment, "other bytes came back", PQgetvalue(result, 0, 0));
	if (route->is_sketch && !route->fresh_checksum && !unchanged)
		violation(shipment, "accepted with a stale checksum", PQgetvalue(result, 0, 0));
	ask_all(shipment, &arrived);
}

static void
prepare(Shipment *shipment, Route *route)
{
	do
		shipment->sample = &samples[below(sample_count)];
	while (shipment->sample->is_sketch != route->is_sketch);

	shipment->route = route;
	shipment->value = route->damages_text ? shipment->sample->text :
		shipment->sample->wire;
	damage(route, &shipment->value);
	shipment->value.bytes[shipment->value.size] = '\0';
	if (route->fresh_checksum)
		set_checksum(&shipment->value);
	if (!route->damages_text)
		encode_hex(&shipment->value, shipment->hex);
	route->sent++;
}

static void
try_route(Route *route)
{
	static Shipment shipment;
	PGresult   *result;

	prepare(&shipment, route);
	result = send_query(&shipment, route->is_sketch ?
						"SELECT race_sketch_send($1::race_sketch), "
						"race_sketch_send(($1::race_sketch)::text::race_sketch), "
						"race_info($1::race_sketch), race_count($1::race_sketch)" :
						"SELECT race_params_send($1::race_params), "
						"race_params_send(($1::race_params)::text::race_params), "
						"race_params_hash($1::race_params)");
	if (accepted(&shipment, result))
		check_accepted(&shipment, result);
	PQclear(result);
}

/* ------------------------------------------------------------------ main */

static void
read_samples(void)
{
	PGresult   *result = PQexec(connection, "SELECT type, wire, form FROM samples");
	int			i;

	if (PQresultStatus(result) != PGRES_TUPLES_OK)
		die("could not read the samples");
	sample_count = PQntuples(result);
	if (sample_count == 0 || sample_count > MAX_SAMPLES)
		die("the samples are none or too many");
	for (i = 0; i < sample_count; i++)
	{
		Sample	   *sample = &samples[i];

		sample->is_sketch = strcmp(PQgetvalue(result, i, 0), "race_sketch") == 0;
		decode_bytea(PQgetvalue(result, i, 1), &sample->wire);
		if (PQgetlength(result, i, 2) > MAX_SIZE)
			die("a sample is too long");
		sample->text.size = PQgetlength(result, i, 2);
		memcpy(sample->text.bytes, PQgetvalue(result, i, 2), sample->text.size);
	}
	PQclear(result);
}

static void
connect_to_server(void)
{
	connection = PQconnectdb("");
	if (PQstatus(connection) != CONNECTION_OK)
		die("could not connect");
}

/* The backend that we began with must still be ours. */
static void
check_backend(void)
{
	PGresult   *result = PQexec(connection, "SELECT pg_backend_pid()");

	if (PQresultStatus(result) != PGRES_TUPLES_OK ||
		atoi(PQgetvalue(result, 0, 0)) != PQbackendPID(connection))
	{
		printf("VIOLATION the backend is another\n");
		violations++;
	}
	PQclear(result);
}

static void
report(void)
{
	size_t		i;

	for (i = 0; i < lengthof(routes); i++)
		printf("%s: sent %d refused %d unchanged %d changed %d asked %d\n",
			   routes[i].name, routes[i].sent, routes[i].refused,
			   routes[i].unchanged, routes[i].changed, routes[i].asked);
	for (i = 0; i < (size_t) reason_count; i++)
		printf("reason: %s\n", reasons[i]);
	printf("violations: %d\n", violations);
}

int
main(int argc, char **argv)
{
	int			count;
	int			i;

	if (argc != 3)
	{
		fprintf(stderr, "usage: mutate SEED COUNT\n");
		return 2;
	}
	random_state = strtoull(argv[1], NULL, 10);
	count = atoi(argv[2]);

	connect_to_server();
	read_samples();
	for (i = 0; i < count; i++)
		try_route(&routes[i % lengthof(routes)]);
	check_backend();
	report();
	PQfinish(connection);
	return violations > 0;
}
