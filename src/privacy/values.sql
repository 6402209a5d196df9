-- ------------------------------------------------------------------------
-- Records with a bounded value, for conditional means

CREATE TYPE race_value_sketches AS (lower race_sketch, upper race_sketch);
COMMENT ON TYPE race_value_sketches IS
	'the result of race_build_value: two sketches, which no record is in both of';
COMMENT ON COLUMN race_value_sketches.lower IS 'of the records whose value was rounded to value_lower';
COMMENT ON COLUMN race_value_sketches.upper IS 'of those whose value was rounded to value_upper';

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
	AS 'MODULE_PATHNAME', 'race_build_value_final' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION _race_build_value_step(internal, race_params, "any", float8, float8, float8) IS 'aggregate transition function';
COMMENT ON FUNCTION _race_build_value_combine(internal, internal) IS 'aggregate combine function';
COMMENT ON FUNCTION _race_build_value_serialize(internal) IS 'aggregate serialization function';
COMMENT ON FUNCTION _race_build_value_deserialize(bytea, internal) IS 'aggregate deserialization function';
COMMENT ON FUNCTION _race_build_value_final(internal) IS 'aggregate final function';

CREATE FUNCTION race_privatize(
	pair race_value_sketches, epsilon float8, delta float8 DEFAULT 0,
	rows int DEFAULT NULL, max_contributions int DEFAULT 1,
	neighbors text DEFAULT 'add_remove', fit boolean DEFAULT false)
	RETURNS race_value_sketches AS 'MODULE_PATHNAME', 'race_privatize_pair'
	LANGUAGE C VOLATILE PARALLEL SAFE COST 200000;
REVOKE EXECUTE ON FUNCTION
	race_privatize(race_value_sketches, float8, float8, int, int, text, boolean) FROM PUBLIC;

CREATE AGGREGATE race_build_value(
	params race_params, x "any", value float8, value_lower float8, value_upper float8) (
	SFUNC = _race_build_value_step, STYPE = internal, SSPACE = 2097152,
	FINALFUNC = _race_build_value_final,
	COMBINEFUNC = _race_build_value_combine,
	SERIALFUNC = _race_build_value_serialize, DESERIALFUNC = _race_build_value_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_build_value(race_params, "any", float8, float8, float8) IS
	'two exact sketches of all records x, as of race_build, for race_conditional_mean. Each value is cut to value_lower and value_upper, which are public, and then rounded at random to one of them: up with probability (value - value_lower) / (value_upper - value_lower). The record is in the sketch of that bound. A record is in one of both, so race_privatize of each, with the same arguments, costs what one of them costs. Every call rounds anew, by strong random numbers, so that the same data give other sketches; and a record cannot be removed again, since nobody knows where it is. A record that is NULL, and one whose value is NULL or NaN, adds nothing. No rows at all give NULL. Take both sketches of one call: put it into a subquery, and take (r).lower and (r).upper outside. Errors: 22004 for NULL params or bounds, 22023 for bounds that are not finite and in order or not the same in all rows, others as in race_build';
