-- ------------------------------------------------------------------------
-- What is asked of a sketch by the name of its release, for bodies of functions

CREATE FUNCTION _racepriv._race_model(sketch race_sketch) RETURNS race_sketch
	AS 'MODULE_PATHNAME', 'race_model' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION _racepriv._race_model(race_sketch) IS
	'a sketch that has a model, or no bounds, as it is; any other fitted within the bounds of its parameters. A session keeps such fits';

CREATE FUNCTION _racepriv._race_columns(sketch race_sketch, OUT number int, OUT kind text, OUT lower float8, OUT upper float8)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'race_columns' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10 ROWS 3;
COMMENT ON FUNCTION _racepriv._race_columns(race_sketch) IS
	'the columns of a record of a sketch: their numbers, what they are (number, category or set), and their bounds, NULL without';

CREATE FUNCTION _racepriv._race_curve(
	sketch race_sketch, "column" int, steps int, lower float8, upper float8, confidence float8, smoothing float8,
	OUT x float8, OUT density float8, OUT low float8, OUT high float8)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'race_curve' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100000 ROWS 100;
COMMENT ON FUNCTION _racepriv._race_curve(race_sketch, int, int, float8, float8, float8, float8) IS
	'race_curve of a sketch with a model';

CREATE FUNCTION _racepriv._race_heatmap(
	sketch race_sketch, column1 int, column2 int, steps int, lower float8[], upper float8[], smoothing float8,
	OUT x1 float8, OUT x2 float8, OUT density float8, OUT standard_error float8)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'race_heatmap' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100000 ROWS 1600;
COMMENT ON FUNCTION _racepriv._race_heatmap(race_sketch, int, int, int, float8[], float8[], float8) IS
	'race_heatmap of a sketch with a model';

CREATE FUNCTION _racepriv._race_histogram(
	sketch race_sketch, "column" int, edges float8[], smoothing float8,
	OUT lower float8, OUT upper float8, OUT count float8, OUT standard_error float8, OUT share float8)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'race_histogram' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000 ROWS 20;
COMMENT ON FUNCTION _racepriv._race_histogram(race_sketch, int, float8[], float8) IS
	'race_histogram of a sketch with a model';

CREATE FUNCTION _racepriv._race_regress(moments race_sketch, target int, predictors int[]) RETURNS SETOF race_regress_result
	AS 'MODULE_PATHNAME', 'race_regress' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100000 ROWS 10;
COMMENT ON FUNCTION _racepriv._race_regress(race_sketch, int, int[]) IS 'race_regress of moments, for the one by the name of a release';

-- What users call, too, by names that no owner of another schema can take

CREATE FUNCTION _racepriv._race_info(sketch race_sketch) RETURNS race_info_result
	AS 'MODULE_PATHNAME', 'race_info' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _racepriv._race_info(race_sketch) IS 'race_info of a sketch';

CREATE FUNCTION _racepriv._race_quantile(sketch race_sketch, p float8[], "column" int) RETURNS SETOF race_quantile_result
	AS 'MODULE_PATHNAME', 'race_quantile' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000 ROWS 10;
COMMENT ON FUNCTION _racepriv._race_quantile(race_sketch, float8[], int) IS 'race_quantile of a sketch';

CREATE FUNCTION _racepriv._race_modes(sketch race_sketch, max int, lower float8[] DEFAULT NULL, upper float8[] DEFAULT NULL)
	RETURNS SETOF race_modes_result
	AS 'MODULE_PATHNAME', 'race_modes' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000000 ROWS 10;
COMMENT ON FUNCTION _racepriv._race_modes(race_sketch, int, float8[], float8[]) IS 'race_modes of a sketch';

CREATE FUNCTION _racepriv._race_points(sketch race_sketch) RETURNS SETOF race_points_result
	AS 'MODULE_PATHNAME', 'race_points' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 1000;
COMMENT ON FUNCTION _racepriv._race_points(race_sketch) IS 'race_points of a sketch';

CREATE FUNCTION _racepriv._race_typicality(sketch race_sketch, q "any") RETURNS race_typicality_result
	AS 'MODULE_PATHNAME', 'race_typicality' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION _racepriv._race_typicality(race_sketch, "any") IS 'race_typicality of a sketch';


CREATE FUNCTION _racepriv._race_distance(a race_sketch, b race_sketch) RETURNS race_distance_result
	AS 'MODULE_PATHNAME', 'race_distance' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION _racepriv._race_distance(race_sketch, race_sketch) IS 'race_distance of two sketches';
