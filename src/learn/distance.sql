-- ------------------------------------------------------------------------
-- How alike are the records of two sketches?

CREATE FUNCTION race_similarity(a race_sketch, b race_sketch) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION race_similarity(race_sketch, race_sketch) IS
	'the mean of the kernel over all pairs of a record of a and one of b, unbiased under noise. Parameters and errors as race_distance';

CREATE TYPE race_distance_result AS (
	distance float8, squared float8, standard_error float8, p_value float8);
COMMENT ON TYPE race_distance_result IS 'the result of race_distance';
COMMENT ON COLUMN race_distance_result.distance IS 'the root of squared, or 0 where that is negative';
COMMENT ON COLUMN race_distance_result.squared IS 'the squared distance, an unbiased estimate, which may be negative: the mean kernel of two records of a, plus that of two of b, less twice that of one of each';
COMMENT ON COLUMN race_distance_result.standard_error IS 'the standard error of squared; Infinity where a count is within its noise, or below 2';
COMMENT ON COLUMN race_distance_result.p_value IS 'the probability of such a distance or more if both are drawn from one population; 1 where a count is within its noise, or below 2';

CREATE FUNCTION race_distance(a race_sketch, b race_sketch) RETURNS race_distance_result
	AS 'MODULE_PATHNAME', 'race_distance_sql' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION race_distance(race_sketch, race_sketch) IS
	'the maximum mean discrepancy of two sketches with noise of their own, and a test of whether both are drawn from one population (Gretton et al. 2012). Errors: 22023 different parameters, 55000 an exact and a private sketch';
