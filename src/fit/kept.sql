CREATE FUNCTION _racepriv._race_model(sketch race_sketch) RETURNS race_sketch
	AS 'MODULE_PATHNAME', 'race_model' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION _racepriv._race_model(race_sketch) IS
	'a sketch that has a model, or no bounds, as it is; any other fitted within the bounds of its parameters. A session keeps such fits';
