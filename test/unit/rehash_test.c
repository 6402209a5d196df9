/*
 * rehash_test.c
 *		From codes to buckets: fold, multilinear, and codes that saturate.
 *
 * Keys are fixed by seeds, so there are no false alarms: these tests pass
 * always or never.  Limits are 6.7 standard errors.
 */
#include "kernels.h"
#include "tap.h"

#include "hash/column.h"
#include "hash/fields.h"
#include "hash/params.h"
#include "hash/rows.h"

#define ROWS 100000
#define LIMIT 6.7
#define DIMS 3

/*
 * Make all codes floor(x), for one dimension: an offset of 0 and a projection of
 * 1, for each function of a row; only the keys differ between rows.
 */
static void
make_codes_plain(RaceRows *rows)
{
	for (uint32_t row = 0; row < rows->params->rows; row++)
		for (uint32_t j = 0; j < rows->params->power; j++)
		{
			*race_rows_coefficient(rows, row, j, 0) = 0;
			*race_rows_coefficient(rows, row, j, 1) = 1;
		}
}

/*
 * Fold against integer arithmetic, around multiples of the range: one over the
 * range times a multiple of it, in doubles, may fall short of a whole number.
 */
static void
test_fold(void)
{
	static const uint32_t large[] = {1000, 1024, 65535, 1048583, 33553919, 33553920};
	int wrong = 0;
	int short_of_whole = 0;

	for (int i = 0; i < 1000; i++)
	{
		uint32_t range = i < 6 ? large[i] : (uint32_t) i - 4;
		RaceParams params = l2_params(RACE_SEQUENCE_INDEPENDENT, RACE_REHASH_FOLD, 1, 1, 1, range);
		RaceRows *rows = make_rows(&params);
		uint32_t *buckets = make_buckets(rows);

		make_codes_plain(rows);
		for (int j = 0; j < 600; j++)
		{
			/* multiples of the range from the largest to 0, of both signs */
			int64_t multiple = (((int64_t) 1 << 51) - 1) / range >> j / 12;
			int64_t code = (j & 1 ? -multiple : multiple) * range + j / 2 % 3 - 1;
			double x = (double) code;

			hash_vector(rows, &x, buckets);
			wrong += buckets[0] != (code % range + range) % range;
			short_of_whole += code > 0 && code % range == 0 &&
				floor(x * (1.0 / range)) != (double) (code / range);
		}
		free(buckets);
		free(rows);
	}
	ok(wrong == 0, "fold is the remainder, of negative codes, too");
	ok(short_of_whole > 0, "control: a rounded quotient alone is not");
}

/*
 * Do different codes meet with probability 1 / range, be they neighbors, far
 * apart, alike in their low or in their high words, or saturated?
 */
static bool
universal(const RaceRows *rows)
{
	static const double codes[][2] = {{0, 1},
									  {-1, 0},
									  {5, 1000},
									  {0, 0x1p31},
									  {0, 0x1p32},
									  {7, 7 + 0x1p45},
									  {-3, -3 + 0x1p33},
									  {0x1p32, 0x1p33 + 1},
									  {-RACE_MAX_CODE, RACE_MAX_CODE},
									  {RACE_MAX_CODE - 1, RACE_MAX_CODE},
									  {-0x1p40, 0x1p40},
									  {123456789, 987654321},
									  {0x1p32, 1}};
	const int n = sizeof(codes) / sizeof(codes[0]);
	double probability = 1.0 / rows->params->range;
	double n_rows = rows->params->rows;
	double worst = 0;
	double sum = 0;
	double together;

	for (int i = 0; i < n; i++)
	{
		double rate = share_of_vectors(rows, &codes[i][0], &codes[i][1]);

		worst = fmax(worst, fabs(standard_errors(rate, probability, n_rows)));
		sum += rate;
	}
	together = standard_errors(sum / n, probability, n * n_rows);
	printf("# range %u: off by up to %.2f standard errors, together by %.2f\n", rows->params->range,
		   worst, together);
	return worst < LIMIT && fabs(together) < LIMIT;
}

/* Forget the keys of word `word`, of the two that a code has, in all rows */
static void
forget_keys(RaceRows *rows, int word)
{
	for (uint32_t row = 0; row < rows->params->rows; row++)
		for (uint32_t j = 0; j < rows->params->power; j++)
			*race_rows_key(rows, row, 1 + 2 * j + word) = 0;
}

static void
test_universal(uint32_t range)
{
	uint32_t n_rows = range < 300 ? ROWS : 33000000 / range;
	RaceParams params =
		l2_params(RACE_SEQUENCE_INDEPENDENT, RACE_REHASH_MULTILINEAR, 1, 2, n_rows, range);
	RaceRows *rows = make_rows(&params);
	double near = 0;
	double far = 1e6;

	ok(fabs(standard_errors(share_of_vectors(rows, &near, &far), 1.0 / range, n_rows)) < LIMIT,
	   "range %u: records far apart meet at rate 1 / range", range);
	make_codes_plain(rows);
	ok(universal(rows), "range %u: different codes meet at rate 1 / range", range);
	ok(share_of_vectors(rows, &far, &far) == 1, "and equal codes always");
	for (int word = 0; word < 2; word++)
	{
		forget_keys(rows, word);
		ok(!universal(rows), "control: not without the keys of word %d", word);
		race_rows_generate_all(rows);
		make_codes_plain(rows);
	}
	free(rows);
}

/*
 * The same for elements, which are codes of 64 bits as they are: how far, in standard
 * errors, those that differ in their low word, in their high one, or in a bit
 */
static double
elements_meet(const RaceRows *rows)
{
	static const uint64_t elements[][2] = {{0, 1},
										   {0, UINT64_C(1) << 32},
										   {0, UINT64_C(1) << 63},
										   {5, UINT64_MAX},
										   {UINT64_C(0xFFFFFFFF), UINT64_C(0xFFFFFFFF) << 32},
										   {UINT64_MAX - 1, UINT64_MAX}};
	double worst = 0;

	for (size_t i = 0; i < sizeof(elements) / sizeof(elements[0]); i++)
	{
		RaceColumn x = {.elements = &elements[i][0], .width = 1};
		RaceColumn y = {.elements = &elements[i][1], .width = 1};

		worst = fmax(worst,
					 fabs(standard_errors(share(rows, &x, &y), 1.0 / rows->params->range,
										  rows->params->rows)));
	}
	return worst;
}

static void
test_elements(uint32_t range)
{
	Recipe recipe = {MULTI, range, {PART(MATCH, IND, 1, 1)}};
	RaceParams *params = make_params(&recipe, range < 300 ? ROWS : 33000000 / range, 0);
	RaceRows *rows = make_rows(params);

	ok(elements_meet(rows) < LIMIT, "range %u: different elements meet at rate 1 / range", range);
	for (int word = 0; word < 2; word++)
	{
		forget_keys(rows, word);
		ok(elements_meet(rows) > LIMIT, "control: not without the keys of word %d", word);
		race_rows_generate_all(rows);
	}
	free(rows);
	free(params);
}

/* Over rows, the bucket of one record is uniform */
static void
test_uniform(uint32_t range)
{
	uint32_t n_rows = range < 300 ? ROWS : 33000000 / range;
	RaceParams params =
		l2_params(RACE_SEQUENCE_INDEPENDENT, RACE_REHASH_MULTILINEAR, 1, 1, n_rows, range);
	RaceRows *rows = make_rows(&params);
	uint32_t *buckets = make_buckets(rows);
	uint64_t *observed = calloc(range, sizeof(uint64_t));
	double *expected = calloc(range, sizeof(double));
	double x = 17;
	int beyond = 0;
	double deviation;

	make_codes_plain(rows);
	hash_vector(rows, &x, buckets);
	for (uint32_t i = 0; i < range; i++)
		expected[i] = (double) n_rows / range;
	for (uint32_t i = 0; i < n_rows; i++)
	{
		beyond += buckets[i] >= range;
		observed[buckets[i] % range]++;
	}
	deviation = (chi_square(observed, expected, range) - (range - 1)) / sqrt(2.0 * (range - 1));
	printf("# range %u: chi-square off by %.2f standard deviations\n", range, deviation);
	ok(beyond == 0 && fabs(deviation) < LIMIT, "range %u: buckets are uniform", range);
	free(expected);
	free(observed);
	free(buckets);
	free(rows);
}

/*
 * The largest doubles with the smallest bandwidth: products are infinite, and
 * where infinities meet, no number.  Codes saturate.
 */
static void
test_saturation(RaceSequence sequence, RaceRehash rehash, uint32_t range)
{
	static const double records[][DIMS] = {{1e308, 1e308, 1e308},
										   {-1e308, -1e308, -1e308},
										   {1e308, -1e308, 1e308},
										   {1.7976931348623157e308, 0, -1.7976931348623157e308},
										   {1e200, 1e300, -1e308}};
	RaceParams params = l2_params(sequence, rehash, DIMS, 1, 1000, range);
	RaceRows *rows;
	uint32_t *buckets;
	int beyond = 0;
	double ends[2] = {-RACE_MAX_CODE, RACE_MAX_CODE};
	double extremes[3] = {-1e300, 1e300, NAN};

	params.bandwidth = RACE_MIN_BANDWIDTH;
	rows = make_rows(&params);
	buckets = make_buckets(rows);
	for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++)
	{
		hash_vector(rows, records[i], buckets);
		for (uint32_t row = 0; row < params.rows; row++)
			beyond += buckets[row] >= range;
	}
	ok(beyond == 0, "%s, %s: infinite products give buckets within range",
	   race_choice_name(RACE_KEY_SEQUENCE, sequence), race_choice_name(RACE_KEY_REHASH, rehash));
	free(buckets);
	free(rows);

	params.dims = 1;
	rows = make_rows(&params);
	make_codes_plain(rows);
	ok(share_of_vectors(rows, &ends[0], &extremes[0]) == 1 &&
		   share_of_vectors(rows, &ends[1], &extremes[1]) == 1 &&
		   share_of_vectors(rows, &ends[0], &extremes[2]) == 1,
	   "and saturate where the largest codes are");
	ok(share_of_vectors(rows, &ends[0], &ends[1]) < 1, "which are two");
	free(rows);
}

int
main(void)
{
	static const uint32_t ranges[] = {2, 3, 1000, 1024};

	test_fold();
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
	{
		test_universal(ranges[i]);
		test_elements(ranges[i]);
		test_uniform(ranges[i]);
	}
	test_saturation(RACE_SEQUENCE_INDEPENDENT, RACE_REHASH_FOLD, 1000);
	test_saturation(RACE_SEQUENCE_SOBOL, RACE_REHASH_MULTILINEAR, 1000);
	return done_testing();
}
