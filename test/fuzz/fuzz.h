/*
 * fuzz.h
 *		What both fuzzers need: values as bytes, randomness, a server, a judgement.
 */
#ifndef RACE_TEST_FUZZ_H
#define RACE_TEST_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libpq-fe.h>

#define lengthof(array) (sizeof(array) / sizeof((array)[0]))

#define MAX_SIZE 16384 /* of a value */
#define PARAMS_AT 80   /* where a sketch has its params, see sketch_format.c, */
#define PART_SIZE 64   /* and of a part of them what all parts have */
#define MAX_PARTS 4

typedef struct Value
{
	size_t size;
	unsigned char bytes[MAX_SIZE + 1]; /* and a NUL */
} Value;

extern bool same_value(const Value *a, const Value *b);

/* ------------------------------------------------------------ randomness */

extern void seed_random(const char *seed);
extern uint64_t random64(void);

/* 0 to n - 1; 0 when n is 0 */
extern size_t below(size_t n);

/* One number of a list */
#define one_of(list) ((list)[below(lengthof(list))])

/* One of the numbers that may be at the end of something */
extern uint64_t extreme_number(void);

/* --------------------------------------------------------- the wire format */

/* A little-endian number of 4 bytes; set a number of any size */
extern uint64_t number_at(const Value *value, size_t at);
extern void set_number(Value *value, size_t at, size_t size, uint64_t number);

/* Bytes of the arrays of a part, as it says */
extern uint64_t arrays_size(const Value *value, size_t part);

/* Where the parts of parameters begin, as far as they say; returns how many there are */
extern int find_parts(const Value *value, size_t params, size_t *parts);

/* CRC-32C of all but the last 4 bytes into these */
extern void set_checksum(Value *value);

/* Did what was sent arrive, but for the signs of zeros in arrays? */
extern bool arrived_whole(const Value *sent, const Value *arrived, bool is_sketch);

/* Would questions to a sketch with these parameters take long? */
extern bool is_large(const Value *wire, const size_t *parts, int n);

/*
 * A record in SQL: a value for each part, of a positive integer.  It takes up to
 * RECORD_SIZE characters when that is a short expression.
 */
#define RECORD_SIZE (MAX_PARTS * 64)
extern void write_record(const Value *wire, const size_t *parts, int n, const char *integer,
						 char *sql);

/* ------------------------------------------------------------- the server */

extern void connect_to_server(void);

/* Ask for a result in text form; a lost connection is a violation, and the end. */
extern PGresult *send_query(const char *query, int n, const char *const *values, const int *lengths,
							const int *formats);

/* A part of an error message, never NULL; does it have one of the classes or codes? */
extern const char *field_of(const PGresult *result, int field);
extern bool refused_for(const PGresult *result, const char *const *states, size_t n);

/* Bytes of a bytea in text form, and of a value in base64 */
#define TEXT_SIZE ((MAX_SIZE + 2) / 3 * 4 + 1)
extern void decode_bytea(const char *text, Value *value);
extern void encode_base64(const Value *value, char *text);

/* Remember why a value was refused, up to the first number. */
extern void note_reason(const PGresult *result);

/* ------------------------------------------------------------- judgement */

/* The values that a violation is about */
extern void set_suspects(const char *context, const Value *a, const Value *b);
extern void violation(const char *what, const char *detail);

/* The end: is the backend still ours?  Reasons and violations; the exit status. */
extern int finish(void);
extern void die(const char *message);

#endif /* RACE_TEST_FUZZ_H */
