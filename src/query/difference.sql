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
	'by how much the densities of two sketches differ at q, with a standard error and a confidence interval (Student''s t): between labels of a release, or versions of it. Both must have the same kernel and bandwidths (22023). Where all their parameters are the same, rows are subtracted one by one, because both are sampled by the same row functions; else the variances are added. The noise of both is taken to be independent. The interval is unbounded where that of race_estimate is, for one row, and where a noisy count is within its noise of zero. Errors: 55000 for an exact sketch and a private one, and for shares of which there are not enough, others as in race_estimate';
