-- ------------------------------------------------------------------------
-- Records with a bounded value, for conditional means

CREATE TYPE race_value_sketches AS (lower race_sketch, upper race_sketch);
COMMENT ON TYPE race_value_sketches IS
	'two halves of a sketch, exact or private: the result of race_build_value, and of race_privatize of it. Each record is in both, with a share that its value decides. Their sum is the sketch of all records';
COMMENT ON COLUMN race_value_sketches.lower IS 'has of each record the share (value_upper - value) / (value_upper - value_lower)';
COMMENT ON COLUMN race_value_sketches.upper IS 'has the rest';

CREATE FUNCTION _race_build_value_step(internal, race_params, "any", float8, float8, float8) RETURNS internal
	AS 'MODULE_PATHNAME', 'race_build_value_step' LANGUAGE C VOLATILE PARALLEL SAFE COST 50;
REVOKE EXECUTE ON FUNCTION
	_race_build_value_step(internal, race_params, "any", float8, float8, float8) FROM PUBLIC;
CREATE FUNCTION _race_build_value_combine(internal, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'race_build_value_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100000;
CREATE FUNCTION _race_build_value_serialize(internal) RETURNS bytea
	AS 'MODULE_PATHNAME', 'race_build_value_serialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION _race_build_value_deserialize(bytea, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'race_build_value_deserialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION _race_build_value_final(internal) RETURNS race_value_sketches
	AS 'MODULE_PATHNAME', 'race_build_value_final' LANGUAGE C VOLATILE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION _race_build_value_step(internal, race_params, "any", float8, float8, float8) IS 'aggregate transition function';
COMMENT ON FUNCTION _race_build_value_combine(internal, internal) IS 'aggregate combine function';
COMMENT ON FUNCTION _race_build_value_serialize(internal) IS 'aggregate serialization function';
COMMENT ON FUNCTION _race_build_value_deserialize(bytea, internal) IS 'aggregate deserialization function';
COMMENT ON FUNCTION _race_build_value_final(internal) IS 'aggregate final function';

CREATE AGGREGATE race_build_value(
	params race_params, x "any", value float8, value_lower float8, value_upper float8) (
	SFUNC = _race_build_value_step, STYPE = internal, SSPACE = 2097152,
	FINALFUNC = _race_build_value_final,
	COMBINEFUNC = _race_build_value_combine,
	SERIALFUNC = _race_build_value_serialize, DESERIALFUNC = _race_build_value_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_build_value(race_params, "any", float8, float8, float8) IS
	'two exact halves of the sketch of all records, for race_conditional_mean: a value within public bounds divides each record among them at random. Errors as in race_build, 22023 for other bounds';
