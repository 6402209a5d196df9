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
