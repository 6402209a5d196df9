-- ------------------------------------------------------------------------
-- Records with a bounded value, for conditional means

CREATE TYPE race_value_sketches AS (lower race_sketch, upper race_sketch);
COMMENT ON TYPE race_value_sketches IS
	'two halves of a sketch, exact or private: the result of race_build_value, and of race_privatize of it. Each record is in both, with a share that its value decides. Their sum is the sketch of all records';
COMMENT ON COLUMN race_value_sketches.lower IS 'has of each record the share (value_upper - value) / (value_upper - value_lower)';
COMMENT ON COLUMN race_value_sketches.upper IS 'has the rest';

CREATE FUNCTION _racepriv._race_build_value_step(internal, race_params, "any", float8, float8, float8) RETURNS internal
	AS 'MODULE_PATHNAME', 'race_build_value_step' LANGUAGE C VOLATILE PARALLEL SAFE COST 50;
REVOKE EXECUTE ON FUNCTION
	_racepriv._race_build_value_step(internal, race_params, "any", float8, float8, float8) FROM PUBLIC;
CREATE FUNCTION _racepriv._race_build_value_combine(internal, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'race_build_value_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100000;
CREATE FUNCTION _racepriv._race_build_value_serialize(internal) RETURNS bytea
	AS 'MODULE_PATHNAME', 'race_build_value_serialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION _racepriv._race_build_value_deserialize(bytea, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'race_build_value_deserialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION _racepriv._race_build_value_final(internal) RETURNS race_value_sketches
	AS 'MODULE_PATHNAME', 'race_build_value_final' LANGUAGE C VOLATILE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION _racepriv._race_build_value_step(internal, race_params, "any", float8, float8, float8) IS 'aggregate transition function';
COMMENT ON FUNCTION _racepriv._race_build_value_combine(internal, internal) IS 'aggregate combine function';
COMMENT ON FUNCTION _racepriv._race_build_value_serialize(internal) IS 'aggregate serialization function';
COMMENT ON FUNCTION _racepriv._race_build_value_deserialize(bytea, internal) IS 'aggregate deserialization function';
COMMENT ON FUNCTION _racepriv._race_build_value_final(internal) IS 'aggregate final function';

CREATE FUNCTION race_privatize(
	pair race_value_sketches, epsilon float8, delta float8 DEFAULT 0,
	rows int DEFAULT NULL, max_contributions int DEFAULT 1,
	neighbors text DEFAULT 'add_remove', fit boolean DEFAULT false)
	RETURNS race_value_sketches AS 'MODULE_PATHNAME', 'race_privatize_pair'
	LANGUAGE C VOLATILE PARALLEL SAFE COST 200000;
REVOKE EXECUTE ON FUNCTION
	race_privatize(race_value_sketches, float8, float8, int, int, text, boolean) FROM PUBLIC;
COMMENT ON FUNCTION race_privatize(race_value_sketches, float8, float8, int, int, text, boolean) IS
	'both halves of race_build_value made private with the same rows and noise, which costs (epsilon, delta) once. Call it in a subquery with OFFSET 0: (race_privatize(pair, epsilon)).* runs twice, and nothing accepts its halves. Errors as for a sketch';

CREATE AGGREGATE race_build_value(
	params race_params, x "any", value float8, value_lower float8, value_upper float8) (
	SFUNC = _racepriv._race_build_value_step, STYPE = internal, SSPACE = 2097152,
	FINALFUNC = _racepriv._race_build_value_final,
	COMBINEFUNC = _racepriv._race_build_value_combine,
	SERIALFUNC = _racepriv._race_build_value_serialize, DESERIALFUNC = _racepriv._race_build_value_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_build_value(race_params, "any", float8, float8, float8) IS
	'two exact halves of the sketch of all records x, as of race_build, for race_conditional_mean. Each value is cut to value_lower and value_upper, which are public. Its share p = (value - value_lower) / (value_upper - value_lower) of the record goes into the upper half, the rest into the lower one: the record is in one of both in each row, in the upper one in a share p of the rows, and of the first ones, too; of a grid, each of its weights is divided. One of both counts it. Which rows, is drawn for each record by strong random numbers, so that the same data give other halves, whose sum is the same; and a record cannot be removed again. A record that is NULL, and one whose value is NULL or NaN, adds nothing. No rows at all give NULL. Give both halves of one call to race_privatize at once: only then do they cost what one sketch costs. Errors: 22004 for NULL params or bounds, 22023 for bounds that are not finite and in order or not the same in all rows, others as in race_build';
