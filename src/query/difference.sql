CREATE TYPE race_difference_result AS (
	difference float8, stderr float8, lower float8, upper float8);
COMMENT ON TYPE race_difference_result IS 'the result of race_difference';
COMMENT ON COLUMN race_difference_result.difference IS 'the density of a at q less that of b, as race_kde';
COMMENT ON COLUMN race_difference_result.stderr IS 'its standard error: of the row functions, and of the noise of both';
COMMENT ON COLUMN race_difference_result.lower IS 'the lower end of the confidence interval; -Infinity if there is none';
COMMENT ON COLUMN race_difference_result.upper IS 'the upper end; Infinity if there is none';

CREATE FUNCTION race_difference(
	a race_sketch, b race_sketch, q "any", confidence float8 DEFAULT 0.95)
	RETURNS race_difference_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION race_difference(race_sketch, race_sketch, "any", float8) IS
	'by how much the densities of two sketches with the same kernel and bandwidths differ at q, with a standard error and a confidence interval. Equal parameters: rows are subtracted one by one. Noises are taken to be independent';
