CREATE FUNCTION _race_model(sketch race_sketch) RETURNS race_sketch
	AS 'MODULE_PATHNAME', 'race_model' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION _race_model(race_sketch) IS
	'a sketch with a model as it is; another one fitted within the bounds of its parameters, or as it is if it has none. A session keeps such fits';
