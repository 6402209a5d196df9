/*
 * params.h
 *		RaceParams: what fixes the row functions and the shape of a sketch, and its layout
 */
#ifndef RACE_PARAMS_H
#define RACE_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The numbers below are stored in sketches: never reuse one. */

/* What a summary is: which linear map of the records */
typedef enum RaceKind
{
	RACE_KIND_ROWS = 0,   /* a kernel: a hash function for each row */
	RACE_KIND_GRID = 1,   /* a kernel: the nodes of a grid, table.h */
	RACE_KIND_TABLES = 2, /* counts of cells, contingency.h */
	RACE_KIND_MOMENTS = 3 /* sums and products of columns, moment_sums.h */
} RaceKind;

/*
 * How the randomness of the row functions is drawn across rows.  3, 6 and 8 are no longer in use.
 */
typedef enum RaceSequence
{
	RACE_SEQUENCE_INDEPENDENT = 1, /* rows independent of each other */
	RACE_SEQUENCE_SOBOL = 2,       /* scrambled Sobol': smaller error, sobol.h */
	RACE_SEQUENCE_GRID = 4,        /* no row functions: what makes a kernel a grid */
	RACE_SEQUENCE_STRUCTURED = 5,  /* rows at right angles, by fast transforms: structured.h */
	/* sets: groups of 8 rows share an order of elements, hash_path.h */
	RACE_SEQUENCE_GROUPED = 7
} RaceSequence;

/* How a row's code becomes one of `range` buckets */
typedef enum RaceRehash
{
	RACE_REHASH_FOLD = 1,       /* code mod range; of signs, all of them */
	RACE_REHASH_MULTILINEAR = 2 /* strongly universal, keyed per row */
} RaceRehash;

/*
 * What a NULL in a row of categories is; 0: it is refused.  A sketch takes the NULLs of all
 * its records for one category.  The two differ in the NULL of a query: under "different" it
 * is another category, which no record has.  So a NULL in a record and one in a query are two
 * different categories, and estimates are as exact as for any others.  Both are in codes that
 * depend on the value alone: a record changes one counter in each row as ever.  Where records
 * are compared with each other (sums of squares of counters), NULLs are equal.
 */
typedef enum RaceNulls
{
	RACE_NULLS_DIFFERENT = 1, /* equal to nothing, not to a NULL either */
	RACE_NULLS_CATEGORY = 2   /* a category of its own */
} RaceNulls;

/*
 * The norm that records of moments are scaled down to (moment_sums.h): that of L2, or one that fits
 * pure noise.  0: not stated; L2.
 */
typedef enum RaceClip
{
	RACE_CLIP_NORM = 1,
	RACE_CLIP_ABSOLUTE = 2 /* the norm that counts absolute values, too */
} RaceClip;

/*
 * Numbers that follow the parameters, in this order; d is dims, m outputs.
 * Bandwidths are factors of `bandwidth`; bounds may be infinite.
 */
typedef enum RaceArray
{
	RACE_ARRAY_BANDWIDTHS = 1,  /* [d]: one a column, l2 and l1 */
	RACE_ARRAY_LOWER = 2,       /* [d]: vectors are first clipped to these lower bounds */
	RACE_ARRAY_UPPER = 4,       /* [d]: vectors are first clipped to these upper bounds */
	RACE_ARRAY_MATRIX = 8,      /* [m][d]: M of M (x - o), which is hashed, l2 and angular */
	RACE_ARRAY_OFFSET = 16,     /* [d]: o of M (x - o) */
	RACE_ARRAY_WORKLOAD = 32,   /* [workload][3]: workload of contingency tables (contingency.h) */
	RACE_ARRAY_JOINED = 64,     /* [joined]: joined groups of contingency tables */
	RACE_ARRAY_CELLS = 128,     /* [d]: cells of each axis of a grid or contingency table */
	RACE_ARRAY_GROUPS = 256,    /* [4][d]: groups of the columns of contingency tables */
	RACE_ARRAY_MEASURED = 512,  /* [measured][3]: measured contingency tables */
	RACE_ARRAY_SIGNS = 1024,    /* [signs]: measured signs of the columns of contingency tables */
	RACE_ARRAY_SEARCHED = 2048, /* [d]: columns whose sets of three are counted (contingency.h) */
	RACE_ARRAY_ENDS = 4096      /* [d]: ends of the columns of contingency tables */
} RaceArray;

#define RACE_GROUP_NUMBERS 4 /* cells a group, single cells, weight, whether in order */
#define RACE_TABLE_NUMBERS 3 /* two for the columns, and a variance or weight */

/*
 * Everything that fixes the row functions and the shape of a sketch.  The kernel
 * may be a product: then parts follow each other, each with its arrays, and each
 * compares a part of a record.  Only the first states what all share: seed,
 * rehash, rows and range.  Equal parameters are equal bytes: there is no padding
 * and `reserved` is zero.  Tables and moments have no kernel; but they, too, are
 * counters, of one row, and what follows fixes them.
 */
typedef struct RaceParams
{
	uint8_t kind;     /* RaceKind */
	uint8_t kernel;   /* RaceKernel of rows and of a grid; else 0 */
	uint8_t sequence; /* RaceSequence */
	uint8_t rehash;   /* RaceRehash, of all parts */
	uint32_t dims;    /* length of a vector or row; 0 = not stated */
	int64_t seed;     /* seed of all parts */
	double bandwidth; /* w: distances are measured in it */
	uint32_t power;   /* concatenated functions a row; k^power */
	uint32_t rows;    /* R */
	uint32_t range;   /* W, counters a row */
	uint32_t outputs; /* m, rows of the matrix; 0 without */
	uint32_t more;    /* bytes that follow: arrays, and other parts */
	uint16_t arrays;  /* set of the RaceArrays that follow */
	uint8_t nulls;    /* RaceNulls, of categories; 0: none are taken */
	uint8_t reserved8;
	/* parameters of some kinds or kernels; zero for others */
	union
	{
		struct
		{
			double radius;       /* norm that records of a surrogate loss are clipped to */
			double query_radius; /* norm C that queries of a surrogate loss have (loss_rows.h) */
		} loss;
		struct
		{
			double norm;       /* norm that records of moments are clipped to */
			uint16_t features; /* random Fourier features, or 0 */
			uint16_t targets;  /* number of last columns, which weigh more */
			uint8_t coarser;   /* bits that counters of noise shares lack */
			uint8_t clip;      /* RaceClip */
			uint8_t reserved16[2];
		} moments;
		struct
		{
			uint32_t joined;   /* length of array joined of contingency tables */
			uint32_t workload; /* rows of array workload of contingency tables */
			uint32_t measured;
			uint32_t signs; /* length of array signs of contingency tables */
		} tables;
		struct
		{
			uint64_t bits[2];
		} own;
	};
} RaceParams;

#define RACE_MAX_DIMS 16000
#define RACE_LONG_DIMS 256 /* vectors from here on are long */
#define RACE_MAX_POWER 1024
#define RACE_MAX_PARTS 4
#define RACE_MAX_MORE ((uint32_t) 1024 * 1024)

/* rows * range counters of 8 bytes, and what precedes them, stay within 256 MB */
#define RACE_MAX_SKETCH_BYTES ((uint64_t) 256 * 1024 * 1024)
#define RACE_MAX_HEADER_BYTES 4096 /* without arrays and parts */

/* row functions of one parameter value stay within 512 MB (race_rows_size) */
#define RACE_MAX_ROWS_BYTES ((uint64_t) 512 * 1024 * 1024)

/* Beyond these limits, coefficients or distances in bandwidths lose their meaning. */
#define RACE_MIN_BANDWIDTH 1e-100
#define RACE_MAX_BANDWIDTH 1e100
#define RACE_MAX_TRANSFORM 1e100
#define RACE_MAX_BOUND 1e300

/* Codes stay within +- this number.  A double holds integers up to four times as large. */
#define RACE_MAX_CODE 2251799813685248.0 /* 2^51 */

/* Return the size in bytes; the next part, or NULL after the last one; and the number of parts. */
extern size_t race_params_size(const RaceParams *params);
extern const RaceParams *race_params_next(const RaceParams *part, const RaceParams *params);
extern int race_params_parts(const RaceParams *params);

/*
 * Return the size in bytes of the arrays that a part says it has.  Of one array, if the part has
 * it, return its rows, the numbers in each, the number of elements, and its place, or NULL if the
 * part does not have it.
 */
extern uint64_t race_arrays_size(const RaceParams *part);
extern uint32_t race_array_rows(const RaceParams *part, RaceArray array);
extern uint32_t race_array_columns(const RaceParams *part, RaceArray array);
extern uint64_t race_array_length(const RaceParams *part, RaceArray array);
extern const double *race_array(const RaceParams *part, RaceArray array);

/* Return the number of functions in a row, of all parts. */
extern uint32_t race_params_functions(const RaceParams *params);

/*
 * Return the weakest sequence of all parts: RACE_SEQUENCE_INDEPENDENT if one part has it.  A grid
 * has no other parts.
 */
extern int race_params_sequence(const RaceParams *params);

#endif
