-- ------------------------------------------------------------------------
-- A fitted model: the distribution over points that explains a whole sketch best.  It is
-- computed from the sketch alone, so that of a private one it costs nothing.

CREATE FUNCTION race_fit(
	sketch race_sketch, points int DEFAULT NULL, seed bigint DEFAULT 0,
	lower float8[] DEFAULT NULL, upper float8[] DEFAULT NULL)
	RETURNS race_sketch AS 'MODULE_PATHNAME', 'race_fit'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000000;
COMMENT ON FUNCTION race_fit(race_sketch, int, bigint, float8[], float8[]) IS
	'the sketch with a fitted model: points within public bounds (NULL: those of the parameters) whose weights explain all counters best. Questions answer more accurately, at no privacy cost. Kernels of vectors by themselves';

CREATE FUNCTION _race_fit_step(internal, race_sketch, "any") RETURNS internal
	AS 'MODULE_PATHNAME', 'race_fit_step' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
CREATE FUNCTION _race_fit_final(internal) RETURNS race_sketch
	AS 'MODULE_PATHNAME', 'race_fit_final' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000000;
COMMENT ON FUNCTION _race_fit_step(internal, race_sketch, "any") IS 'aggregate transition function';
COMMENT ON FUNCTION _race_fit_final(internal) IS 'aggregate final function';

CREATE AGGREGATE race_fit(sketch race_sketch, x "any") (
	SFUNC = _race_fit_step, STYPE = internal, FINALFUNC = _race_fit_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_fit(race_sketch, "any") IS
	'the sketch with a fitted model whose points are some of the records x, which must be public or made up: at most 65536, and the same sketch in all rows. For every kernel and product';

CREATE TYPE race_points_result AS (x float8[], record text, weight float8);
COMMENT ON TYPE race_points_result IS 'a row of the result of race_points';
COMMENT ON COLUMN race_points_result.x IS 'the point, of a kernel of vectors by itself; else NULL';
COMMENT ON COLUMN race_points_result.record IS 'the point as text, of other kernels, as PostgreSQL writes the record that race_fit was given; else NULL';
COMMENT ON COLUMN race_points_result.weight IS 'how many records the point stands for, above 0; all weights add up to the number of records';

CREATE FUNCTION race_points(sketch race_sketch) RETURNS SETOF race_points_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 1000;
COMMENT ON FUNCTION race_points(race_sketch) IS
	'the points of a fitted model and their weights. They are not records: they lie where the records are dense';
