-- ------------------------------------------------------------------------
-- What moments are, and what is in them

CREATE TYPE race_moments_info_result AS (
	dims int, norm float8, features int, targets int, count bigint, width int, bytes bigint,
	status text, mechanism text, epsilon float8, delta float8, rho float8,
	max_contributions int, neighbors text, releases int, noise_stddev float8,
	count_noise_stddev float8);
COMMENT ON TYPE race_moments_info_result IS 'the result of race_info of moments';
COMMENT ON COLUMN race_moments_info_result.dims IS 'the columns of a record';
COMMENT ON COLUMN race_moments_info_result.norm IS 'what records, with their 1, are scaled down to';
COMMENT ON COLUMN race_moments_info_result.features IS 'the number of random Fourier features, or 0';
COMMENT ON COLUMN race_moments_info_result.targets IS 'the last columns, which are scaled to 2 2/3 times as much, and of which no features are made';
COMMENT ON COLUMN race_moments_info_result.count IS 'the number of records, noisy in private moments; NULL for noise shares';
COMMENT ON COLUMN race_moments_info_result.width IS 'bytes a sum or product';
COMMENT ON COLUMN race_moments_info_result.bytes IS 'the size of the value';
COMMENT ON COLUMN race_moments_info_result.status IS 'exact, share or private';
COMMENT ON COLUMN race_moments_info_result.mechanism IS 'the noise; NULL in exact moments, as what follows';
COMMENT ON COLUMN race_moments_info_result.epsilon IS 'the true epsilon at delta, rounded up';
COMMENT ON COLUMN race_moments_info_result.delta IS 'the delta';
COMMENT ON COLUMN race_moments_info_result.rho IS 'the cost in zero-concentrated differential privacy (zCDP)';
COMMENT ON COLUMN race_moments_info_result.max_contributions IS 'how many records a person may have';
COMMENT ON COLUMN race_moments_info_result.neighbors IS 'add_remove or substitute';
COMMENT ON COLUMN race_moments_info_result.releases IS 'how many private moments, or shares, were merged into this value';
COMMENT ON COLUMN race_moments_info_result.noise_stddev IS 'the standard deviation of the noise in a sum or product of scaled columns; Gaussian noise in a square has sqrt(2) times as much';
COMMENT ON COLUMN race_moments_info_result.count_noise_stddev IS 'the standard deviation of the noise in the count';

CREATE FUNCTION race_info(moments race_moments) RETURNS race_moments_info_result
	AS 'MODULE_PATHNAME', 'race_moments_info' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION race_info(race_moments) IS 'what moments are: parameters, size, noise and privacy';

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

CREATE FUNCTION race_moments_matrix(moments race_moments) RETURNS race_moments_matrix_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION race_moments_matrix(race_moments) IS
	'the contents of moments as plain arrays. Records count as they were clipped, to bounds and norm. Error 55000 for noise shares of which there are too few';
