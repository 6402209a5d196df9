-- ------------------------------------------------------------------------
-- What charts draw of a sketch.  src/release/chart.sql has it by the name of a release.

CREATE FUNCTION _racepriv._race_columns(params race_params, OUT number int, OUT kind text, OUT lower float8, OUT upper float8)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'race_columns' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10 ROWS 3;
COMMENT ON FUNCTION _racepriv._race_columns(race_params) IS
	'the columns of a record: their numbers, what they are (number, category or set), and their bounds, NULL without';

CREATE FUNCTION _racepriv._race_curve(
	sketch race_sketch, "column" int, steps int, lower float8, upper float8, confidence float8, smoothing float8,
	OUT x float8, OUT density float8, OUT low float8, OUT high float8)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'race_curve' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100000 ROWS 100;
COMMENT ON FUNCTION _racepriv._race_curve(race_sketch, int, int, float8, float8, float8, float8) IS
	'race_curve of a sketch with a model';

CREATE FUNCTION _racepriv._race_heatmap(
	sketch race_sketch, column1 int, column2 int, steps int, lower float8[], upper float8[], smoothing float8,
	OUT x1 float8, OUT x2 float8, OUT density float8, OUT stderr float8)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'race_heatmap' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100000 ROWS 1600;
COMMENT ON FUNCTION _racepriv._race_heatmap(race_sketch, int, int, int, float8[], float8[], float8) IS
	'race_heatmap of a sketch with a model';

CREATE FUNCTION _racepriv._race_histogram(
	sketch race_sketch, "column" int, edges float8[], smoothing float8,
	OUT lower float8, OUT upper float8, OUT count float8, OUT stderr float8)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'race_histogram' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000 ROWS 20;
COMMENT ON FUNCTION _racepriv._race_histogram(race_sketch, int, float8[], float8) IS
	'race_histogram of a sketch with a model';
