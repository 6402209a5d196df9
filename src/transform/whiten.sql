-- ------------------------------------------------------------------------
-- Transforms learned from public data

CREATE FUNCTION _race_whiten_step(float8[], "any") RETURNS float8[]
	AS 'MODULE_PATHNAME', 'race_whiten_step' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION _race_whiten_combine(float8[], float8[]) RETURNS float8[]
	AS 'MODULE_PATHNAME', 'race_whiten_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION _race_whiten_final(float8[]) RETURNS race_transform
	AS 'MODULE_PATHNAME', 'race_whiten_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION _race_whiten_step(float8[], "any") IS 'aggregate transition function';
COMMENT ON FUNCTION _race_whiten_combine(float8[], float8[]) IS 'aggregate combine function';
COMMENT ON FUNCTION _race_whiten_final(float8[]) IS 'aggregate final function';

CREATE AGGREGATE race_whiten(x "any") (
	SFUNC = _race_whiten_step, STYPE = float8[],
	FINALFUNC = _race_whiten_final, COMBINEFUNC = _race_whiten_combine,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_whiten("any") IS
	'the transform for race_params that gives vectors mean 0 and covariance 1, so that distances are Mahalanobis distances (Coleman & Shrivastava 2021, section 7.1). M is lower triangular. Use public data only: the result is as exact as the data, and has no noise. Vectors have up to 361 dimensions. NULLs are left out, and no vectors give NULL. Errors: 22023 when a column is constant or a sum of others, or when vectors differ in dimensions; 42804 for what is no vector';
