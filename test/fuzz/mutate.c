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
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SAMPLES 64
#define MODEL_SIZE_AT 76 /* of a sketch, see format.c */

typedef struct Sample
{
	bool is_sketch; /* or moments, which have the same format */
	bool is_moments;
	Value wire;
	Value text;
} Sample;

/* How a value gets to the server */
typedef struct Route
{
	const char *name;
	bool is_sketch; /* or moments, which have the same format */
	bool is_moments;
	bool damages_text; /* the characters, not the bytes they stand for */
	bool binary;
	bool fresh_checksum;
	int sent;
	int refused;
	int unchanged; /* accepted, and equal to the sample */
	int changed;   /* accepted, and another value */
	int asked;     /* of these, small enough to be asked */
} Route;

static Route routes[] = {
	{.name = "sketch: characters of the text", .is_sketch = true, .damages_text = true},
	{.name = "sketch: text, stale checksum", .is_sketch = true},
	{.name = "sketch: binary, stale checksum", .is_sketch = true, .binary = true},
	{.name = "sketch: text, fresh checksum", .is_sketch = true, .fresh_checksum = true},
	{.name = "sketch: binary, fresh checksum",
	 .is_sketch = true,
	 .binary = true,
	 .fresh_checksum = true},
	{.name = "moments: characters of the text",
	 .is_sketch = true,
	 .is_moments = true,
	 .damages_text = true},
	{.name = "moments: binary, fresh checksum",
	 .is_sketch = true,
	 .is_moments = true,
	 .binary = true,
	 .fresh_checksum = true},
	{.name = "params: characters of the text", .damages_text = true},
	{.name = "params: binary", .binary = true}};

static Sample samples[MAX_SAMPLES];
static int sample_count;

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
	size_t n = 1 + below(sizeof(tail));

	for (size_t i = 0; i < n; i++)
		tail[i] = random64();
	insert_bytes(value, value->size, tail, n);
}

/* Exchange two chunks of equal size that do not overlap */
static void
swap_chunks(Value *value)
{
	size_t half = value->size / 2;
	size_t a = below(half);
	size_t b = half + below(half);
	size_t n = 1 + below(value->size - b);

	if (value->size < 2)
		return;
	for (size_t i = 0; i < n && a + i < b; i++)
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
	size_t from = below(value->size);
	size_t n = 1 + below(sizeof(chunk));

	if (from + n > value->size)
		return;
	memcpy(chunk, value->bytes + from, n);
	insert_bytes(value, below(value->size + 1), chunk, n);
}

static void
fill_chunk(Value *value)
{
	size_t from = below(value->size);
	size_t n = 1 + below(16);

	if (from + n <= value->size)
		memset(value->bytes + from, below(2) ? 0xFF : 0, n);
}

static void (*const damages[])(Value *) = {flip_bit,    change_byte,     truncate_value, extend,
										   swap_chunks, duplicate_chunk, fill_chunk};

/* ---- knowing the format: fields with extreme values, words for the parser */

/* Where one of the parts begins; no part if there is none */
static size_t
some_part(const Value *value, size_t params)
{
	size_t parts[MAX_PARTS];
	int n = find_parts(value, params, parts);

	return n > 0 ? parts[below(n)] : value->size;
}

typedef struct Field
{
	size_t at;
	size_t size;
} Field;

static const Field sketch_fields[] = {
	{0, 1},  {1, 1},  {2, 1},
	{3, 1},  {4, 1},  {5, 3},
	{8, 4},  {12, 4}, {16, 8},
	{24, 8}, {32, 8}, {40, 8},
	{48, 8}, {56, 8}, {64, 8},
	{72, 4}, {76, 4}, {PARAMS_AT + PART_SIZE, 8} /* the first counters, or an array */
};

/* kernel, kind and arrays, which say what the others may be, more often */
static const Field part_fields[] = {{0, 1},  {1, 1},  {1, 1},  {47, 1}, {47, 1}, {44, 2}, {44, 2},
									{2, 1},  {3, 1},  {4, 4},  {8, 4},  {12, 4}, {16, 4}, {20, 4},
									{24, 8}, {32, 8}, {40, 4}, {44, 1}, {46, 1}, {48, 8}, {56, 8}};

/* One of the fields of a part, or of the numbers in its arrays */
static Field
some_field(const Value *value, size_t params)
{
	size_t part = some_part(value, params);
	Field field = one_of(part_fields);

	if (part < value->size && arrays_size(value, part) > 0 && below(3) == 0)
	{
		field.at = PART_SIZE + 8 * below(arrays_size(value, part) / 8);
		field.size = 8;
	}
	field.at += part;
	return field;
}

/* Where the model of a sketch begins, or the end of what precedes the checksum */
static size_t
model_at(const Value *value)
{
	uint64_t size = value->size < PARAMS_AT + 4 ? 0 : number_at(value, MODEL_SIZE_AT);

	return value->size < PARAMS_AT + 4     ? value->size :
		size > value->size - PARAMS_AT - 4 ? value->size - 4 :
											 value->size - 4 - size;
}

/* One of the words of a model, its sizes and its first numbers more often */
static void
set_word_of_model(Value *value)
{
	size_t start = model_at(value);
	size_t words = (value->size - 4 - start) / 8;
	static const double numbers[] = {-1, 1, 1e300, -5e-324, 1 / 0.0, -1 / 0.0, 0.0 / 0.0};
	uint64_t number;

	memcpy(&number, &numbers[below(lengthof(numbers))], 8);
	set_number(value, start + 8 * (below(3) ? below(words) : below(4)), 8,
			   below(3) == 0 ? below(9) :
				   below(2)  ? number :
							   extreme_number());
}

/* Make the model longer or shorter, and say so. */
static void
resize_model(Value *value)
{
	size_t start = model_at(value);
	size_t size = value->size - 4 - start;
	uint64_t bits = random64();
	size_t n = below(size + 1) / 8 * 8;

	if (below(2))
		insert_bytes(value, start + n, &bits, 8);
	else if (size >= 8)
	{
		n = n == size ? n - 8 : n;
		memmove(value->bytes + start + n, value->bytes + start + n + 8,
				value->size - start - n - 8);
		value->size -= 8;
	}
	set_number(value, MODEL_SIZE_AT, 4, value->size - 4 - start);
}

static bool
has_model(const Value *value)
{
	return value->size >= PARAMS_AT + 4 && model_at(value) < value->size - 4;
}

static void
set_field(bool is_sketch, Value *value)
{
	Field field = is_sketch && below(2) ? one_of(sketch_fields) :
										  some_field(value, is_sketch ? PARAMS_AT : 0);

	/* what fits into a byte is a choice of a few */
	set_number(value, field.at, field.size,
			   field.size == 1 && below(4) ? below(9) : extreme_number());
}

/* Make parts more, or longer, and say so, so that only what they are is wrong. */
static void
insert_part(bool is_sketch, Value *value)
{
	size_t params = is_sketch ? PARAMS_AT : 0;
	size_t part = some_part(value, params);
	size_t end;
	unsigned char copy[MAX_SIZE];
	size_t n;

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

static const char *const words[] = {"(",
									")",
									",",
									"=",
									"-",
									"\\x",
									" ",
									"nan",
									"inf",
									"1e400",
									"1e-400",
									"0x10",
									"0",
									"2",
									"99999999999999999999",
									"4294967297",
									"-1",
									"l2",
									"l2(",
									"dims",
									"rows=4",
									", rows=8",
									", power=2",
									"range=",
									"seed=-9223372036854775808",
									"bandwidth",
									"sequence=auto",
									"independent",
									"multilinear",
									"fold",
									"%s%n",
									"{",
									"}",
									"{}",
									"},{",
									"{1,2}",
									"{{1,2},{3,4}}",
									"*",
									" * match(dims=2)",
									" * jaccard",
									"l1",
									"angular",
									"match",
									"jaccard",
									", lower={0,0}",
									", upper=",
									"bandwidths={1,1}",
									"matrix=",
									"offset={1e100,-1e101}",
									"Infinity",
									"-0"};

static void
insert_word(Value *value)
{
	const char *word = one_of(words);

	insert_bytes(value, below(value->size + 1), word, strlen(word));
}

static void
replace_digit(Value *value)
{
	size_t i = below(value->size);

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
			one_of(damages)(value);
		else if (!route->damages_text && route->is_sketch && has_model(value) && below(3) == 0)
			(below(4) ? set_word_of_model : resize_model)(value);
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

/* -------------------------------------------------------------- judgement */

/* A value on its way to the server */
typedef struct Shipment
{
	Route *route;
	const Sample *sample;
	Value value;          /* damaged: wire bytes, or text */
	char text[TEXT_SIZE]; /* of wire bytes */
} Shipment;

static PGresult *
send_value(const Shipment *shipment, const char *query)
{
	const Route *route = shipment->route;
	bool as_text = !route->damages_text && !route->binary;
	const char *value = as_text ? shipment->text : (const char *) shipment->value.bytes;
	int length = shipment->value.size;
	int format = route->binary;

	return send_query(query, 1, &value, &length, &format);
}

/* Was the value accepted?  A refusal must be a proper one. */
static bool
accepted(Shipment *shipment, const PGresult *result)
{
	static const char *const data_exceptions[] = {"22"};
	Route *route = shipment->route;

	if (PQresultStatus(result) == PGRES_TUPLES_OK)
		return true;
	route->refused++;
	if (!refused_for(result, data_exceptions, lengthof(data_exceptions)))
		violation("refused with another class of error", PQresultErrorMessage(result));
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
		"55000", /* a private sketch takes no more records */
		"22003", /* more than 2^62 records */
		"22023"  /* no dims, too much noise */
	};
	PGresult *result = send_value(shipment, question);

	if (PQresultStatus(result) == PGRES_TUPLES_OK)
	{
		if (strstr(PQgetvalue(result, 0, 0), "NaN") != NULL)
			violation(question, PQgetvalue(result, 0, 0));
		if (strcmp(PQgetvalue(result, 0, 1), "t") != 0)
			violation(question, "the sketch does not round-trip");
	}
	else if (!refused_for(result, refusals, lengthof(refusals)))
		violation(question, PQresultErrorMessage(result));
	PQclear(result);
}

/*
 * Questions about a sketch s, made by an expression, with the record %s: the answer,
 * and whether a sketch t that goes out comes in again as the same.  OFFSET 0 keeps the
 * planner from evaluating s or t twice.
 */
#define QUESTION(s, t, answer) \
	"SELECT (" answer ")::text, " \
	"_race_sketch_send(t) = _race_sketch_send(t::text::race_sketch) " \
	"FROM (SELECT " s " AS s OFFSET 0) a, race_info(s) i, " \
	"LATERAL (SELECT %s AS q) b, " \
	"LATERAL (" t " OFFSET 0) c"

#define QUESTIONS(s) \
	{ \
		QUESTION(s, "SELECT s AS t", "race_kernel_sum(t, q), race_kde(t, q)"), \
			QUESTION(s, "SELECT s AS t", "race_estimate(t, q)"), \
			QUESTION(s, "SELECT s AS t", "race_typicality(t, q), race_difference(t, t, q)"), \
			QUESTION(s, "SELECT s AS t", "(race_distance(t, t)).similarity, race_distance(t, t)"), \
			QUESTION(s, "SELECT s AS t", "(race_typicality(t, q)).share"), \
			QUESTION(s, "SELECT s + s AS t", "race_info(t)"), \
			QUESTION(s, \
					 "SELECT race_merge(d.s) AS t FROM (SELECT s FROM generate_series(1, 3)) d", \
					 "race_info(t)"), \
			QUESTION(s, "SELECT race_merge_disjoint(d.s) AS t FROM (VALUES (s), (s)) d(s)", \
					 "race_info(t)"), \
			QUESTION(s, "SELECT race_add(s, q) AS t", "race_info(t)"), \
			QUESTION( \
				s, "SELECT s AS t", \
				"SELECT row(count(*), sum(weight), min(x), min(record)) FROM race_points(t)"), \
			QUESTION(s, "SELECT race_fit(d.s, d.q) AS t FROM (VALUES (s, q)) d(s, q)", \
					 "race_estimate(t, q)"), \
			QUESTION(s, "SELECT race_privatize(s, 1, rows => i.rows) AS t", "race_info(t)") \
	}

static const char *const sketch_questions[] = QUESTIONS("$1::race_sketch");
static const char *const params_questions[] = QUESTIONS("race_sketch($1::race_params)");

#define MOMENTS_QUESTION(t, answer) \
	"SELECT (" answer ")::text, _race_sketch_send(t) = _race_sketch_send(t::text::race_sketch) " \
	"FROM (SELECT $1::race_sketch AS s OFFSET 0) a, LATERAL (SELECT %s AS q) b, " \
	"LATERAL (SELECT " t " AS t OFFSET 0) c"

static const char *const moments_questions[] = {
	MOMENTS_QUESTION("s", "race_info(t), race_moments_matrix(t)"),
	MOMENTS_QUESTION("s + s", "race_moments_matrix(t)"),
	MOMENTS_QUESTION("race_add(s, q)", "race_moments_matrix(t)"),
	MOMENTS_QUESTION("race_privatize(s, 1, 1e-6)", "race_moments_matrix(t)"),
	MOMENTS_QUESTION("race_sketch(race_params(s))", "race_info(t)")};

static void
ask_all(Shipment *shipment, const Value *wire)
{
	bool is_sketch = shipment->route->is_sketch;
	bool is_moments = shipment->route->is_moments;
	const char *const *questions = is_moments ? moments_questions :
		is_sketch                             ? sketch_questions :
												params_questions;
	size_t parts[MAX_PARTS];
	int n = find_parts(wire, is_sketch ? PARAMS_AT : 0, parts);
	char record[RECORD_SIZE];
	char query[2048];

	if (is_large(wire, parts, n))
		return;
	shipment->route->asked++;
	write_record(wire, parts, n, "1", record);
	for (size_t i = 0; i < (is_moments ? lengthof(moments_questions) : lengthof(sketch_questions));
		 i++)
	{
		snprintf(query, sizeof(query), questions[i], record);
		ask(shipment, query);
	}
}

/* An accepted value is what was sent.  `result` says what arrived, twice. */
static void
check_accepted(Shipment *shipment, const PGresult *result)
{
	Route *route = shipment->route;
	Value arrived;
	bool unchanged;

	decode_bytea(PQgetvalue(result, 0, 0), &arrived);
	unchanged = same_value(&arrived, &shipment->sample->wire);
	if (unchanged)
		route->unchanged++;
	else
		route->changed++;

	if (strcmp(PQgetvalue(result, 0, 0), PQgetvalue(result, 0, 1)) != 0)
		violation("the text form is another value", PQgetvalue(result, 0, 1));
	if (!route->damages_text && !arrived_whole(&shipment->value, &arrived, route->is_sketch))
		violation("other bytes came back", PQgetvalue(result, 0, 0));
	if (route->is_sketch && !route->fresh_checksum && !unchanged)
		violation("accepted with a stale checksum", PQgetvalue(result, 0, 0));
	ask_all(shipment, &arrived);
}

static void
prepare(Shipment *shipment, Route *route)
{
	do
		shipment->sample = &samples[below(sample_count)];
	while (shipment->sample->is_sketch != route->is_sketch ||
		   shipment->sample->is_moments != route->is_moments);

	shipment->route = route;
	shipment->value = route->damages_text ? shipment->sample->text : shipment->sample->wire;
	damage(route, &shipment->value);
	shipment->value.bytes[shipment->value.size] = '\0';
	if (route->fresh_checksum)
		set_checksum(&shipment->value);
	if (!route->damages_text)
		encode_base64(&shipment->value, shipment->text);
	route->sent++;
	set_suspects(route->name, &shipment->value, NULL);
}

static void
try_route(Route *route)
{
	static Shipment shipment;
	PGresult *result;

	prepare(&shipment, route);
	result = send_value(
		&shipment,
		route->is_moments    ? "SELECT _race_sketch_send($1::race_sketch), "
							   "_race_sketch_send(($1::race_sketch)::text::race_sketch), "
							   "race_info($1::race_sketch)" :
			route->is_sketch ? "SELECT _race_sketch_send($1::race_sketch), "
							   "_race_sketch_send(($1::race_sketch)::text::race_sketch), "
							   "race_info($1::race_sketch), race_count($1::race_sketch)" :
							   "SELECT _race_params_send($1::race_params), "
							   "_race_params_send(($1::race_params)::text::race_params), "
							   "_race_params_hash($1::race_params)");
	if (accepted(&shipment, result))
		check_accepted(&shipment, result);
	PQclear(result);
}

/* ------------------------------------------------------------------ main */

static void
read_samples(void)
{
	PGresult *result = send_query("SELECT type, wire, form FROM samples", 0, NULL, NULL, NULL);

	if (PQresultStatus(result) != PGRES_TUPLES_OK)
		die("could not read the samples");
	sample_count = PQntuples(result);
	if (sample_count == 0 || sample_count > MAX_SAMPLES)
		die("the samples are none or too many");
	for (int i = 0; i < sample_count; i++)
	{
		Sample *sample = &samples[i];

		sample->is_moments = strcmp(PQgetvalue(result, i, 0), "race_moments") == 0;
		sample->is_sketch =
			sample->is_moments || strcmp(PQgetvalue(result, i, 0), "race_sketch") == 0;
		decode_bytea(PQgetvalue(result, i, 1), &sample->wire);
		if (PQgetlength(result, i, 2) > MAX_SIZE)
			die("a sample is too long");
		sample->text.size = PQgetlength(result, i, 2);
		memcpy(sample->text.bytes, PQgetvalue(result, i, 2), sample->text.size);
	}
	PQclear(result);
}

static void
report(void)
{
	for (size_t i = 0; i < lengthof(routes); i++)
		printf("%s: sent %d refused %d unchanged %d changed %d asked %d\n", routes[i].name,
			   routes[i].sent, routes[i].refused, routes[i].unchanged, routes[i].changed,
			   routes[i].asked);
}

int
main(int argc, char **argv)
{
	int count;

	if (argc != 3)
	{
		fprintf(stderr, "usage: mutate SEED COUNT\n");
		return 2;
	}
	seed_random(argv[1]);
	count = atoi(argv[2]);

	connect_to_server();
	read_samples();
	for (int i = 0; i < count; i++)
		try_route(&routes[i % lengthof(routes)]);
	report();
	return finish();
}
