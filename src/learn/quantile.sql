-- ------------------------------------------------------------------------
-- Quantiles of a column, from the model of a sketch.

CREATE TYPE race_quantile_result AS (p float8, value float8, standard_error float8);
COMMENT ON TYPE race_quantile_result IS 'a row of the result of race_quantile';
COMMENT ON COLUMN race_quantile_result.p IS 'the share of records that are below the value';
COMMENT ON COLUMN race_quantile_result.value IS 'the quantile; NULL if p is NULL';
COMMENT ON COLUMN race_quantile_result.standard_error IS 'of the value, for a grid in one dimension: how far it is at most from nodes that have clearly fewer or more records before them, beyond their noise, as a part of the 1.96 standard errors of a 95 % interval; else NULL, because theory gives none';

CREATE FUNCTION race_quantile(sketch race_sketch, p float8[], "column" int DEFAULT 1)
	RETURNS SETOF race_quantile_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000 ROWS 10;
COMMENT ON FUNCTION race_quantile(race_sketch, float8[], int) IS
	'quantiles of a column of the records, which is counted from 1 on, from the fitted model, in the order of p. Errors: 22003 p outside of 0 to 1, 22023 a column that is no number, 55000 no model';
