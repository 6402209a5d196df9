-- ------------------------------------------------------------------------
-- Records with weights, which releases alone have: an exact sketch has weights with binary digits after the point, and gets
-- noise in the release alone

CREATE FUNCTION _racepriv._race_build_step(race_sketch, race_params, "any", "any", int, int) RETURNS race_sketch
	AS 'MODULE_PATHNAME', 'race_build_step' LANGUAGE C VOLATILE PARALLEL SAFE COST 100;
REVOKE EXECUTE ON FUNCTION _racepriv._race_build_step(race_sketch, race_params, "any", "any", int, int) FROM PUBLIC;
COMMENT ON FUNCTION _racepriv._race_build_step(race_sketch, race_params, "any", "any", int, int) IS
	'aggregate transition function';

CREATE AGGREGATE _racepriv._race_build_weighted(params race_params, x "any", weight "any", weight_max int, weight_bits int) (
	SFUNC = _racepriv._race_build_step, STYPE = race_sketch, SSPACE = 1048576,
	COMBINEFUNC = _race_plus,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE _racepriv._race_build_weighted(race_params, "any", "any", int, int) IS
	'race_build of a release with weights: each record counts as often as its weight says, from 0 to weight_max';
