/*
 * bare.c
 *		The same work without PostgreSQL: what the database is measured against.
 *
 *	bare build DIMS ROWS RANGE FILE		seconds to hash and count all records
 *	bare hash DIMS ROWS RANGE FILE		seconds to hash them
 *	bare dgemm DIMS ROWS RANGE FILE		seconds of OpenBLAS for the projections alone
 *	bare path							the vector code that hashing uses
 *
 * FILE has records of DIMS doubles in native order.  Seconds are the median of
 * five runs.  Run it with OPENBLAS_NUM_THREADS=1.
 */
#define _ISOC11_SOURCE
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../src/lsh/lsh.h"
#include "../../src/sketch/counters.h"

#define RUNS		5
#define BATCH		64			/* records hashed together */
#define BATCHES		8			/* hashed for one block of rows, then for the next */

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static void *
allocate(size_t size)
{
	void	   *p = aligned_alloc(64, (size + 63) / 64 * 64);

	if (p == NULL)
		abort();
	memset(p, 0, size);
	return p;
}

static double *
read_records(const char *name, size_t dims, size_t *n)
{
	FILE	   *file = fopen(name, "rb");
	double	   *x;
	long		size;

	if (file == NULL || fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0)
	{
		perror(name);
		exit(1);
	}
	rewind(file);
	*n = size / (dims * sizeof(double));
	x = allocate(*n * dims * sizeof(double));
	if (fread(x, dims * sizeof(double), *n, file) != *n)
		abort();
	fclose(file);
	return x;
}

/* Hash all records, and count them in counters of 32 bits unless NULL */
static void
build(const RaceRows *rows, const double *x, size_t n, int32_t *counters)
{
	const RaceParams *params = &rows->params;
	uint32_t	buckets[BATCH * RACE_LANES];
	size_t		from;
	size_t		block;
	size_t		i;

	for (from = 0; from < n; from += BATCH * BATCHES)
		for (block = 0; block < rows->blocks; block++)
			for (i = from; i < n && i < from + BATCH * BATCHES; i += BATCH)
			{
				size_t		m = n - i < BATCH ? n - i : BATCH;
				uint32_t	row = block * RACE_LANES;
				uint32_t	r = params->rows - row;

				race_rows_hash(rows, block, x + i * params->dims, m, buckets);
				if (counters != NULL)
					race_counters_bump(counters + (size_t) row * params->range,
									   sizeof(int32_t), buckets, m,
									   r < RACE_LANES ? r : RACE_LANES,
									   params->range, 1);
			}
}

static int
compare(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

/* It uses the last that the machine has. */
static const char *
vector_code(void)
{
	const char *name = "none";
	size_t		i;

	for (i = 0; race_hash_paths[i] != NULL; i++)
		if (race_hash_has(race_hash_paths[i]))
			name = race_hash_paths[i];
	return name;
}

int
main(int argc, char **argv)
{
	RaceParams	params;
	RaceRows   *rows;
	int32_t    *counters = NULL;
	double	   *product = NULL;
	double	   *x;
	double		seconds[RUNS];
	size_t		n;
	size_t		slice;
	int			run;

	if (argc == 2 && strcmp(argv[1], "path") == 0)
		return puts(vector_code()) < 0;
	if (argc != 6)
		return 2;
	memset(&params, 0, sizeof(params));
	params.kernel = RACE_KERNEL_L2;
	params.dims = atoi(argv[2]);
	params.rows = atoi(argv[3]);
	params.range = atoi(argv[4]);
	params.power = 1;
	params.bandwidth = 5;
	params.sequence = race_default_sequence(&params);
	params.rehash = RACE_REHASH_FOLD;
	rows = allocate(race_rows_size(&params));
	race_rows_init(rows, &params);
	race_rows_generate_all(rows);
	x = read_records(argv[5], params.dims, &n);
	slice = n < 4096 ? n : 4096;
	if (strcmp(argv[1], "build") == 0)
		counters = allocate((size_t) params.rows * params.range * sizeof(int32_t));
	if (strcmp(argv[1], "dgemm") == 0)
		product = allocate(slice * params.rows * sizeof(double));

	for (run = 0; run < RUNS; run++)
	{
		double		start = now();
		size_t		i;

		if (product == NULL)
			build(rows, x, n, counters);
		/* what the projections are to dgemm: (slice x dims) * (dims x rows) */
		for (i = 0; product != NULL && i + slice <= n; i += slice)
			cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, slice, params.rows,
						params.dims, 1, x + i * params.dims, params.dims,
						rows->coefficients, params.dims, 0, product, params.rows);
		seconds[run] = now() - start;
		if (product != NULL)
			seconds[run] *= (double) n / (n / slice * slice);
	}
	qsort(seconds, RUNS, sizeof(double), compare);
	printf("%.6f\n", seconds[RUNS / 2]);
	return 0;
}
