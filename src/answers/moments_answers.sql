-- ------------------------------------------------------------------------
-- Linear discriminant analysis from moments of classes

CREATE FUNCTION _racepriv._race_lda_step(internal, anyelement, race_sketch, float8[]) RETURNS internal
	AS 'MODULE_PATHNAME', 'race_lda_step' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10;
CREATE FUNCTION _racepriv._race_lda_step(internal, anyelement, race_sketch, float8[], text) RETURNS internal
	AS 'MODULE_PATHNAME', 'race_lda_step' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10;
CREATE FUNCTION _racepriv._race_lda_final(internal, anyelement, race_sketch, float8[]) RETURNS anyelement
	AS 'MODULE_PATHNAME', 'race_lda_final' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
CREATE FUNCTION _racepriv._race_lda_final(internal, anyelement, race_sketch, float8[], text) RETURNS anyelement
	AS 'MODULE_PATHNAME', 'race_lda_final' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
CREATE FUNCTION _racepriv._race_lda_posterior_final(internal, anyelement, race_sketch, float8[]) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'race_lda_posterior_final' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
CREATE FUNCTION _racepriv._race_lda_posterior_final(internal, anyelement, race_sketch, float8[], text) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'race_lda_posterior_final' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION _racepriv._race_lda_step(internal, anyelement, race_sketch, float8[]) IS 'aggregate transition function';
COMMENT ON FUNCTION _racepriv._race_lda_step(internal, anyelement, race_sketch, float8[], text) IS 'aggregate transition function';
COMMENT ON FUNCTION _racepriv._race_lda_final(internal, anyelement, race_sketch, float8[]) IS 'aggregate final function';
COMMENT ON FUNCTION _racepriv._race_lda_final(internal, anyelement, race_sketch, float8[], text) IS 'aggregate final function';
COMMENT ON FUNCTION _racepriv._race_lda_posterior_final(internal, anyelement, race_sketch, float8[]) IS 'aggregate final function';
COMMENT ON FUNCTION _racepriv._race_lda_posterior_final(internal, anyelement, race_sketch, float8[], text) IS 'aggregate final function';

CREATE AGGREGATE race_lda(label anyelement, moments race_sketch, x float8[]) (
	SFUNC = _racepriv._race_lda_step, STYPE = internal,
	FINALFUNC = _racepriv._race_lda_final, FINALFUNC_EXTRA, PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_lda(anyelement, race_sketch, float8[]) IS
	'the label of the class that record x is most likely from, over one row for each class with its moments: discriminant analysis with the counts as prior. Errors as in race_discriminant_moments';

CREATE AGGREGATE race_lda(label anyelement, moments race_sketch, x float8[], prior text) (
	SFUNC = _racepriv._race_lda_step, STYPE = internal,
	FINALFUNC = _racepriv._race_lda_final, FINALFUNC_EXTRA, PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_lda(anyelement, race_sketch, float8[], text) IS
	'race_lda with a prior: uniform, or counts (the noisy counts)';

CREATE AGGREGATE race_lda_posterior(label anyelement, moments race_sketch, x float8[]) (
	SFUNC = _racepriv._race_lda_step, STYPE = internal,
	FINALFUNC = _racepriv._race_lda_posterior_final, FINALFUNC_EXTRA, PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_lda_posterior(anyelement, race_sketch, float8[]) IS
	'the probability of each class given record x, as {label: probability}, by the model of race_lda';

CREATE AGGREGATE race_lda_posterior(label anyelement, moments race_sketch, x float8[], prior text) (
	SFUNC = _racepriv._race_lda_step, STYPE = internal,
	FINALFUNC = _racepriv._race_lda_posterior_final, FINALFUNC_EXTRA, PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_lda_posterior(anyelement, race_sketch, float8[], text) IS
	'race_lda_posterior with a prior: uniform, or counts (the noisy counts)';

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
	'the covariance of two columns of moments, or the variance of one, with an interval. Records count as clipped. Errors: 22023 for other columns or confidence, 55000 for too few noise shares';

CREATE FUNCTION race_correlation(moments race_sketch, "column" int, other int, confidence float8 DEFAULT 0.95)
	RETURNS race_measured_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION race_correlation(race_sketch, int, int, float8) IS
	'the correlation of two columns of moments, as race_covariance. NULL, with the interval from -1 to 1, where a variance is within its noise';

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

CREATE FUNCTION race_whiten_moments(moments race_sketch) RETURNS race_transform
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION race_whiten_moments(race_sketch) IS
	'the transform for race_params that gives columns mean 0 and covariance 1: private if the moments are. Errors: 22023 for features, 55000 if no column varies or for too few noise shares';

CREATE FUNCTION race_pca_transform(moments race_sketch, components int, standardize boolean DEFAULT false)
	RETURNS race_transform
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION race_pca_transform(race_sketch, int, boolean) IS
	'the transform for race_params to the first principal components (race_pca): distances are those along them. Errors: 22023 for another number of components than there are columns at most; others as in race_pca';

CREATE FUNCTION _racepriv._race_discriminant_moments_step(internal, anyelement, race_sketch) RETURNS internal
	AS 'MODULE_PATHNAME', 'race_discriminant_moments_step' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10;
CREATE FUNCTION _racepriv._race_discriminant_moments_final(internal) RETURNS race_transform
	AS 'MODULE_PATHNAME', 'race_discriminant_moments_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION _racepriv._race_discriminant_moments_step(internal, anyelement, race_sketch) IS 'aggregate transition function';
COMMENT ON FUNCTION _racepriv._race_discriminant_moments_final(internal) IS 'aggregate final function';

CREATE AGGREGATE race_discriminant_moments(label anyelement, moments race_sketch) (
	SFUNC = _racepriv._race_discriminant_moments_step, STYPE = internal,
	FINALFUNC = _racepriv._race_discriminant_moments_final, PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_discriminant_moments(anyelement, race_sketch) IS
	'the transform to the directions in which classes differ, over one row for each class with its moments: private if they are. Errors: 22023 for features or different parameters, 55000 for too few noise shares';
