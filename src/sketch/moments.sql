-- ------------------------------------------------------------------------
-- What is in moments

CREATE TYPE race_moments_matrix_result AS (
	count float8, means float8[], covariances float8[], scaled float8[],
	count_noise_stddev float8, noise_stddev float8, square_noise_stddev float8);
COMMENT ON TYPE race_moments_matrix_result IS 'the result of race_moments_matrix';
COMMENT ON COLUMN race_moments_matrix_result.count IS 'the number of records, noisy in private moments, whatever they weigh';
COMMENT ON COLUMN race_moments_matrix_result.means IS 'the means of the columns, in their units, over records as they weigh; before them those of features';
COMMENT ON COLUMN race_moments_matrix_result.covariances IS 'the covariances of the same, weighted as the means: as they come from the noisy sums, so that they need not be those of any table';
COMMENT ON COLUMN race_moments_matrix_result.scaled IS 'weight, sums and products of the scaled columns: the sum of v v'' for v = [1, u] times the factor of the record, symmetric';
COMMENT ON COLUMN race_moments_matrix_result.count_noise_stddev IS 'the standard deviation of the noise in the count; 0 in exact moments';
COMMENT ON COLUMN race_moments_matrix_result.noise_stddev IS 'of the noise in scaled, off the diagonal';
COMMENT ON COLUMN race_moments_matrix_result.square_noise_stddev IS 'of the noise in scaled, on the diagonal';

CREATE FUNCTION race_moments_matrix(moments race_sketch) RETURNS race_moments_matrix_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION race_moments_matrix(race_sketch) IS
	'the contents of moments as plain arrays. Records count as they were clipped, to bounds and norm. Error 55000 for noise shares of which there are too few';
