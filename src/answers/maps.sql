-- ------------------------------------------------------------------------
-- Vectors replaced by what a public linear map makes of them

CREATE FUNCTION race_project(x float8[], matrix float8[], "offset" float8[]) RETURNS float8[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION race_project(float8[], float8[], float8[]) IS
	'M (x - o) for a public matrix M and offset o. NULL for another length of x. Error 22023 for other shapes and NaN';

-- ------------------------------------------------------------------------
-- Parameters that suit public rows

CREATE TYPE race_suggest_result AS (
	params race_params, rows int, prior text, score float8, score_without_noise float8, expression text);
COMMENT ON TYPE race_suggest_result IS 'the result of race_suggest';
COMMENT ON COLUMN race_suggest_result.params IS 'the parameters, with bounds a tenth of a range beyond the public rows';
COMMENT ON COLUMN race_suggest_result.rows IS 'the rows of params, for race_privatize and race_release_sketch; NULL for a grid, whose cells these choose';
COMMENT ON COLUMN race_suggest_result.prior IS 'the prior that race_classify is best asked with, uniform or counts; NULL without labels';
COMMENT ON COLUMN race_suggest_result.score IS 'what to expect of a release: with labels the share of records that are classified rightly, else the mean logarithm of the probability density';
COMMENT ON COLUMN race_suggest_result.score_without_noise IS 'the same of the exact kernel: what noise and rows cost';
COMMENT ON COLUMN race_suggest_result.expression IS 'what records and queries must be: x itself, or a call of race_project';

CREATE FUNCTION _racepriv._race_suggest_step(internal, float8, float8, bigint, VARIADIC "any") RETURNS internal
	AS 'MODULE_PATHNAME', 'race_suggest_step' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION _racepriv._race_suggest_final(internal) RETURNS race_suggest_result
	AS 'MODULE_PATHNAME', 'race_suggest_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION _racepriv._race_suggest_step(internal, float8, float8, bigint, "any") IS 'aggregate transition function';
COMMENT ON FUNCTION _racepriv._race_suggest_final(internal) IS 'aggregate final function';

CREATE AGGREGATE race_suggest(epsilon float8, delta float8, records bigint, VARIADIC "any") (
	SFUNC = _racepriv._race_suggest_step, STYPE = internal, FINALFUNC = _racepriv._race_suggest_final, PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_suggest(float8, float8, bigint, "any") IS
	'parameters for a release of records like public rows (epsilon, delta, records, x [, label]): by cross-validation under the noise of the release, of likelihood, or of classification with a sketch for each label. Never use private rows';

-- ------------------------------------------------------------------------
-- Columns that are alike, and directions that tell labels apart

CREATE FUNCTION _racepriv._race_whiten_step(internal, VARIADIC "any") RETURNS internal
	AS 'MODULE_PATHNAME', 'race_whiten_step' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION _racepriv._race_whiten_final(internal) RETURNS race_transform
	AS 'MODULE_PATHNAME', 'race_whiten_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION _racepriv._race_discriminant_step(internal, "any", "any") RETURNS internal
	AS 'MODULE_PATHNAME', 'race_discriminant_step' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION _racepriv._race_discriminant_final(internal) RETURNS race_transform
	AS 'MODULE_PATHNAME', 'race_discriminant_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION _racepriv._race_whiten_step(internal, "any") IS 'aggregate transition function';
COMMENT ON FUNCTION _racepriv._race_whiten_final(internal) IS 'aggregate final function';
COMMENT ON FUNCTION _racepriv._race_discriminant_step(internal, "any", "any") IS 'aggregate transition function';
COMMENT ON FUNCTION _racepriv._race_discriminant_final(internal) IS 'aggregate final function';

CREATE AGGREGATE race_whiten(VARIADIC "any") (
	SFUNC = _racepriv._race_whiten_step, STYPE = internal, FINALFUNC = _racepriv._race_whiten_final, PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_whiten("any") IS
	'the transform for race_params that gives public vectors mean 0 and covariance 1, or that within labels, with shrunken correlations (Ledoit & Wolf 2022), of rows (x [, label]). Use public data only. Errors: 22023, 42804, 54000';

CREATE AGGREGATE race_discriminant(label "any", x "any") (
	SFUNC = _racepriv._race_discriminant_step, STYPE = internal,
	FINALFUNC = _racepriv._race_discriminant_final, PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_discriminant("any", "any") IS
	'the transform to the directions in which labels differ (Fisher 1936, Rao 1948), the most important first: of public vectors x, or, over one row a label, of moments, private if they are. Errors as in race_whiten';
