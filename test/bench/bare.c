/*
 * bare.c
 *		The same work without PostgreSQL: what the database is measured against.
 *
 *	bare build PARAMS FILE ...	seconds to hash and count all records
 *	bare hash PARAMS FILE ...	seconds to hash them
 *	bare dgemm PARAMS FILE		seconds of OpenBLAS for the projections alone
 *
 * PARAMS has RaceParams as they are in memory.  Each part of the kernel has a FILE,
 * in native order: records of dims doubles, or of dims elements of 64 bits; or of
 * sets their number n, then where they start (n + 1 numbers), then all elements.
 * Seconds are the median of five runs.  Run it with OPENBLAS_NUM_THREADS=1.
 */
#define _ISOC11_SOURCE
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "privacy/count.h"
#include "privacy/counters.h"
#include "hash/column.h"
#include "hash/kernel.h"
#include "hash/params.h"
#include "hash/params_check.h"
#include "hash/rows.h"

#define RUNS 5
#define BATCH 64   /* records hashed together */
#define BATCHES 8  /* hashed for one block of rows, then for the next */
#define SLICE 4096 /* records that dgemm projects together */

/* All records, a column a part */
typedef struct Records
{
	RaceColumn columns[RACE_MAX_PARTS];
	size_t n;
} Records;

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static void *
allocate(size_t size)
{
	void *p = aligned_alloc(64, (size + 63) / 64 * 64);

	if (p == NULL)
		abort();
	memset(p, 0, size);
	return p;
}

static void *
read_file(const char *name, size_t *size)
{
	FILE *file = fopen(name, "rb");
	void *content;
	long length;

	if (file == NULL || fseek(file, 0, SEEK_END) != 0 || (length = ftell(file)) < 0)
	{
		perror(name);
		exit(1);
	}
	rewind(file);
	*size = length;
	content = allocate(length);
	if (fread(content, 1, length, file) != (size_t) length)
		abort();
	fclose(file);
	return content;
}

static const RaceParams *
read_params(const char *name)
{
	size_t size;
	RaceParams *params = read_file(name, &size);
	char message[256];

	if (race_params_problem(params, size, message, sizeof(message)) != NULL)
	{
		fprintf(stderr, "%s: %s\n", name, message);
		exit(1);
	}
	return params;
}

static RaceColumn
read_column(const char *name, const RaceParams *part, size_t *n)
{
	RaceColumn column = {.width = part->dims};
	size_t size;
	void *content = read_file(name, &size);

	if (race_record_kind(part) == RACE_RECORD_SET)
	{
		*n = *(size_t *) content;
		column.starts = (size_t *) content + 1;
		column.elements = column.starts + *n + 1;
		return column;
	}
	*n = size / 8 / part->dims;
	if (race_record_kind(part) == RACE_RECORD_VECTOR)
		column.numbers = content;
	else
		column.elements = content;
	return column;
}

static Records
read_records(const RaceParams *params, char **names)
{
	Records records;
	int i = 0;

	for (const RaceParams *part = params; part != NULL; part = race_params_next(part, params), i++)
		records.columns[i] = read_column(names[i], part, &records.n);
	return records;
}

/* Hash m records from `from` on with a block of rows */
static void
hash_some(const RaceRows *rows, size_t block, const Records *records, size_t from, size_t m,
		  uint32_t *buckets)
{
	RaceColumn some[RACE_MAX_PARTS];

	for (int i = 0; i < rows->parts; i++)
		some[i] = race_column_from(&records->columns[i], from);
	race_rows_hash(rows, block, some, m, buckets);
}

/* Count the records of a block in counters of 32 bits, unless NULL */
static void
count(const RaceParams *params, size_t block, const uint32_t *buckets, size_t m, int32_t *counters)
{
	uint32_t row = block * RACE_LANES;
	uint32_t r = params->rows - row;

	if (counters != NULL)
		race_count_rows(
			(RaceCounterArray){counters + (size_t) row * params->range, sizeof(int32_t)}, buckets,
			m, r < RACE_LANES ? r : RACE_LANES, params->range, 1);
}

/* Hash and count one record after the other, each in all rows */
static void
build_together(const RaceRows *rows, const Records *records, int32_t *counters)
{
	uint32_t *buckets = allocate(rows->blocks * RACE_LANES * sizeof(uint32_t));
	RaceColumn one[RACE_MAX_PARTS];

	for (size_t i = 0; i < records->n; i++)
	{
		for (int p = 0; p < rows->parts; p++)
			one[p] = race_column_from(&records->columns[p], i);
		race_rows_hash_one(rows, rows->params->rows, one, buckets);
		for (size_t block = 0; block < rows->blocks; block++)
			count(rows->params, block, buckets + block * RACE_LANES, 1, counters);
	}
	free(buckets);
}

/* Hash all records, and count them unless `counters` is NULL */
static void
build(const RaceRows *rows, const Records *records, int32_t *counters)
{
	uint32_t buckets[BATCH * RACE_LANES];
	size_t n = records->n;

	for (size_t from = 0; from < n; from += BATCH * BATCHES)
		for (size_t block = 0; block < rows->blocks; block++)
			for (size_t i = from; i < n && i < from + BATCH * BATCHES; i += BATCH)
			{
				size_t m = n - i < BATCH ? n - i : BATCH;

				hash_some(rows, block, records, i, m, buckets);
				count(rows->params, block, buckets, m, counters);
			}
}

/* What the projections are to dgemm: (SLICE x dims) * (dims x rows), over and over */
static void
project(const RaceRows *rows, const Records *records, double *product)
{
	const RaceParams *params = rows->params;

	for (size_t from = 0; from < records->n; from += SLICE)
	{
		size_t m = records->n - from < SLICE ? records->n - from : SLICE;

		cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, params->rows, params->dims, 1,
					records->columns[0].numbers + from * params->dims, params->dims,
					rows->coefficients, params->dims, 0, product, params->rows);
	}
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *) a;
	double y = *(const double *) b;

	return (x > y) - (x < y);
}

static double
median_seconds(const char *work, const RaceRows *rows, const Records *records)
{
	const RaceParams *params = rows->params;
	bool counts = strcmp(work, "build") == 0;
	bool projects = strcmp(work, "dgemm") == 0;
	int32_t *counters =
		counts ? allocate((size_t) params->rows * params->range * sizeof(int32_t)) : NULL;
	double *product = projects ? allocate((size_t) SLICE * params->rows * sizeof(double)) : NULL;
	double seconds[RUNS];

	for (int run = 0; run < RUNS; run++)
	{
		double start = now();

		if (projects)
			project(rows, records, product);
		else if (race_rows_together(params))
			build_together(rows, records, counters);
		else
			build(rows, records, counters);
		seconds[run] = now() - start;
	}
	qsort(seconds, RUNS, sizeof(double), compare);
	return seconds[RUNS / 2];
}

int
main(int argc, char **argv)
{
	const RaceParams *params;
	RaceRows *rows;
	Records records;

	if (argc < 4)
		return 2;
	params = read_params(argv[2]);
	if (argc != 3 + race_params_parts(params))
		return 2;
	rows = allocate(race_rows_size(params));
	race_rows_init(rows, params);
	race_rows_generate_all(rows);
	records = read_records(params, argv + 3);
	printf("%.6f\n", median_seconds(argv[1], rows, &records));
	return 0;
}
