-- ------------------------------------------------------------------------
-- How alike are the records of two sketches?

CREATE FUNCTION race_similarity(a race_sketch, b race_sketch) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION race_similarity(race_sketch, race_sketch) IS
	'the mean of the kernel over all pairs of a record of a and a record of b, unbiased under noise; of a sketch with itself, pairs of a record with itself included. It assumes that a and b have noise of their own, or are the same sketch. Both must have the same parameters, but for the rows, or the cells of a grid, that race_privatize kept: what both have is compared. Errors: 22023 for different parameters, 55000 for an exact and a private sketch';

CREATE TYPE race_distance_result AS (
	distance float8, squared float8, standard_error float8, p_value float8);
COMMENT ON TYPE race_distance_result IS 'the result of race_distance';
COMMENT ON COLUMN race_distance_result.distance IS 'the root of squared, or 0 where that is negative';
COMMENT ON COLUMN race_distance_result.squared IS 'the squared distance, an unbiased estimate, which may be negative: the mean kernel of two records of a, plus that of two of b, less twice that of one of each';
COMMENT ON COLUMN race_distance_result.standard_error IS 'the standard error of squared; Infinity where a count is within its noise, or below 2';
COMMENT ON COLUMN race_distance_result.p_value IS 'the probability of such a distance or more if both are drawn from one population; of rows with noise, of a distance in which buckets with hardly any records count for little; 1 where a count is within its noise, or below 2';

CREATE FUNCTION race_distance(a race_sketch, b race_sketch) RETURNS race_distance_result
	AS 'MODULE_PATHNAME', 'race_distance_sql' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION race_distance(race_sketch, race_sketch) IS
	'the maximum mean discrepancy between the records of two sketches (Gretton et al. 2012), with a test of whether both are drawn from one population. Rows whose buckets are in order (rehash = fold) are tested where records are: most buckets are empty, and have nothing but noise. It assumes that a and b have noise of their own, and no records in common; of a sketch with itself the distance is 0. Both must have the same parameters, but for the rows, or the cells of a grid, that race_privatize kept. p_value is conservative where noise is small, of rows, and most of all of kernels other than l2 and of rehashed rows. Where Laplace noise is much larger than what chance makes of records, the test looks at scores of differences, the locally most powerful for such noise, in place of their squares. Errors: 22023 for different parameters, 55000 for an exact and a private sketch';
