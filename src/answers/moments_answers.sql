-- ------------------------------------------------------------------------
-- Covariances, correlations and principal components from moments

CREATE TYPE race_measured_result AS (value float8, standard_error float8, lower float8, upper float8);
COMMENT ON TYPE race_measured_result IS 'the result of race_covariance';
COMMENT ON COLUMN race_measured_result.value IS 'the estimate, which is not shrunken; NULL where noise hides it';
COMMENT ON COLUMN race_measured_result.standard_error IS 'of the noise, and of the records as a sample of a normal population';
COMMENT ON COLUMN race_measured_result.lower IS 'the lower end of the confidence interval: -1 of a correlation, or -Infinity, if nothing can be said';
COMMENT ON COLUMN race_measured_result.upper IS 'the upper end of the confidence interval';

CREATE FUNCTION race_covariance(
	moments race_sketch, "column" int, other int, confidence float8 DEFAULT 0.95, standardize boolean DEFAULT false)
	RETURNS race_measured_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION race_covariance(race_sketch, int, int, float8, boolean) IS
	'the covariance of two columns of moments, or the variance of one, or with standardize their correlation, with an interval. Records count as clipped. NULL where noise hides it. Errors: 22023, 55000 for too few noise shares';

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
	'principal components of the columns of moments, with standardize in units of standard deviations. Components within a few standard errors are those of noise. Errors: 22023 for features, 55000 for too few noise shares';

-- ------------------------------------------------------------------------
-- Linear regression from moments

CREATE TYPE race_regress_result AS ("column" int, feature int, coefficient float8, standard_error float8);
COMMENT ON TYPE race_regress_result IS 'a row of the result of race_regress';
COMMENT ON COLUMN race_regress_result."column" IS 'the column of the record, from 1 on; 0 for the intercept; NULL for a feature';
COMMENT ON COLUMN race_regress_result.feature IS 'the random Fourier feature, from 1 on; NULL for a column';
COMMENT ON COLUMN race_regress_result.coefficient IS 'in units of the target a unit of the column';
COMMENT ON COLUMN race_regress_result.standard_error IS 'of the coefficient: of the noise, of the records as a sample, and what shrinking moved it by';

CREATE FUNCTION race_regress(moments race_sketch, target int, predictors int[] DEFAULT NULL)
	RETURNS SETOF race_regress_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100000 ROWS 10;
COMMENT ON FUNCTION race_regress(race_sketch, int, int[]) IS
	'the linear regression of column target on predictors, or on all other columns (NULL), from moments: the intercept first, with standard errors. Errors: 22023 for other columns, 55000 for too few noise shares';

CREATE FUNCTION race_predict(moments race_sketch, target int, x float8[], predictors int[] DEFAULT NULL)
	RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;
COMMENT ON FUNCTION race_predict(race_sketch, int, float8[], int[]) IS
	'what race_regress says of a record x, which has all columns but the target, in their order. Clipped to the bounds. Errors: 22023 for another number of elements or NULL ones';

-- ------------------------------------------------------------------------
-- Transforms from moments

CREATE FUNCTION race_transform(moments race_sketch, components int DEFAULT NULL, standardize boolean DEFAULT false)
	RETURNS race_transform
	AS 'MODULE_PATHNAME', 'race_transform' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION race_transform(race_sketch, int, boolean) IS
	'the transform for race_params that gives columns of moments mean 0 and covariance 1; or that to their first principal components (race_pca). Private if the moments are. Errors: 22023, 55000 if no column varies';
