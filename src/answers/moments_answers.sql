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
	'the label of the class that record x is most likely from, over one row for each class with its moments: linear discriminant analysis (Fisher 1936, Rao 1948). In the directions in which the means lie apart each class is normal with a covariance of its own, moved towards the common one by as much as noise hides it; the counts are the prior. x has all columns. The model is kept for further calls of the same place in a statement. Rows with a NULL are left out; no class gives NULL. Errors: 22023 for moments with different parameters, for classes with different x, and for x that is no array of finite numbers, one a column; 54000 for more than 100 classes; 55000 if no column varies within classes, and for noise shares of which there are too few';

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
	'the linear regression of column target on the columns of predictors and all features, or on all other columns (NULL): the intercept first. It comes from the sums and products that the noisy ones most likely come from, so that what noise hides is shrunk, as in ridge regression, with a penalty that follows from the known noise (Wigner 1955 for its size). From exact moments it is least squares. Standard errors take errors of the regression to be of equal variance. They do not include the effect of weights, which records beyond the norm have: where coefficients matter more than predictions, choose a norm that few records exceed. NULL moments or target give no rows. Errors: 22023 for columns that do not exist, or that come twice; 55000 for exact moments without records, and for noise shares of which there are too few';

CREATE FUNCTION race_predict(moments race_sketch, target int, x float8[], predictors int[] DEFAULT NULL)
	RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;
COMMENT ON FUNCTION race_predict(race_sketch, int, float8[], int[]) IS
	'what the regression of column target (race_regress) says of a record: x has all its columns but the target, in their order, in the units of the table. Numbers beyond their bounds are clipped, and so is the result. The fit is kept for further calls of the same place in a statement. NULL for a NULL argument, but NULL predictors stand for all columns. Errors: 22023 for another number of elements, a NULL element, a NaN or an infinity; others as in race_regress';

-- ------------------------------------------------------------------------
-- Transforms from moments

CREATE FUNCTION race_whiten_moments(moments race_sketch) RETURNS race_transform
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION race_whiten_moments(race_sketch) IS
	'the transform for race_params that gives columns mean 0 and covariance 1, as race_whiten does: from private moments it is private, and needs no public rows. It comes from the sums and products that the noisy ones most likely come from, so columns that vary less than the noise are taken to vary about as much as it. Errors: 22023 for moments with features; 55000 if no column varies, and for noise shares of which there are too few';

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
	'the transform for race_params to the directions in which classes lie apart (Fisher''s discriminant), as race_discriminant, over one row for each class with its moments: from private moments it is private. It has one direction less than there are classes, at most as many as columns; the variance within classes is 1 in each. Rows with a NULL are left out; no class gives NULL. Errors: 22023 for moments with features or with different parameters; 54000 for more than 100 classes; 55000 if the means of classes do not differ, if no column varies within classes, and for noise shares of which there are too few';
