-- ------------------------------------------------------------------------
-- Covariances, correlations and principal components from moments

CREATE TYPE race_measured_result AS (value float8, standard_error float8, lower float8, upper float8);
COMMENT ON TYPE race_measured_result IS 'the result of race_covariance and race_correlation';
COMMENT ON COLUMN race_measured_result.value IS 'the estimate, which is not shrunken; NULL where noise hides it';
COMMENT ON COLUMN race_measured_result.standard_error IS 'of the noise, and of the records as a sample of a normal population';
COMMENT ON COLUMN race_measured_result.lower IS 'the lower end of the confidence interval: -1 of a correlation, or -Infinity, if nothing can be said';
COMMENT ON COLUMN race_measured_result.upper IS 'the upper end of the confidence interval';

CREATE FUNCTION race_covariance(moments race_sketch, "column" int, other int, confidence float8 DEFAULT 0.95)
	RETURNS race_measured_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION race_covariance(race_sketch, int, int, float8) IS
	'the covariance of two columns, or the variance of one, over records as they were clipped to bounds and norm; with an interval of the normal distribution. Errors: 22023 for columns that do not exist, or a confidence that is not between 0 and 1; 55000 for noise shares of which there are too few';

CREATE FUNCTION race_correlation(moments race_sketch, "column" int, other int, confidence float8 DEFAULT 0.95)
	RETURNS race_measured_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION race_correlation(race_sketch, int, int, float8) IS
	'the correlation of two columns, as race_covariance. Where the variance of a column is within its noise, the value is NULL and the interval goes from -1 to 1. With noise the value itself may lie beyond 1; the interval does not';

CREATE TYPE race_pca_result AS (component int, variance float8, standard_error float8, share float8, vector float8[]);
COMMENT ON TYPE race_pca_result IS 'a row of the result of race_pca';
COMMENT ON COLUMN race_pca_result.component IS 'from 1 on, the largest variance first';
COMMENT ON COLUMN race_pca_result.variance IS 'of the records along the vector';
COMMENT ON COLUMN race_pca_result.standard_error IS 'of the variance along this vector: of the noise, and of the records as a sample';
COMMENT ON COLUMN race_pca_result.share IS 'of the variance of all components';
COMMENT ON COLUMN race_pca_result.vector IS 'of length 1, a number for each column; the largest is positive';

CREATE FUNCTION race_pca(moments race_sketch, standardize boolean DEFAULT false)
	RETURNS SETOF race_pca_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000 ROWS 10;
COMMENT ON FUNCTION race_pca(race_sketch, boolean) IS
	'principal components of the columns: directions in which records vary most, at right angles to each other; in the units of the columns, or with standardize in their standard deviations. They come from the sums and products that the noisy ones most likely come from. Components whose variance is within a few standard errors are those of noise. Errors: 22023 for moments with features; 55000 for noise shares of which there are too few';
