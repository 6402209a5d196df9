-- ------------------------------------------------------------------------
-- The mean of a bounded value near a query

CREATE TYPE race_conditional_mean_result AS (
	mean float8, stderr float8, lower float8, upper float8);
COMMENT ON TYPE race_conditional_mean_result IS 'the result of race_conditional_mean';
COMMENT ON COLUMN race_conditional_mean_result.mean IS 'the mean, between the bounds of the value. Without a trend it is NULL where the number of records near q is within two standard deviations of its noise of zero';
COMMENT ON COLUMN race_conditional_mean_result.stderr IS 'its standard error: of the row functions, of splitting, of the noise, and of the trend; NULL with the mean';
COMMENT ON COLUMN race_conditional_mean_result.lower IS 'the lower end of the confidence interval; value_lower if nothing can be said';
COMMENT ON COLUMN race_conditional_mean_result.upper IS 'the upper end; value_upper if nothing can be said';

CREATE FUNCTION race_conditional_mean(
	lower_sketch race_sketch, upper_sketch race_sketch, q "any",
	value_lower float8 DEFAULT 0, value_upper float8 DEFAULT 1, confidence float8 DEFAULT 0.95)
	RETURNS race_conditional_mean_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION race_conditional_mean(race_sketch, race_sketch, "any", float8, float8, float8) IS
	'the mean of a value at q: over all records, weighted by the kernel (Nadaraya 1964, Watson 1964), with a standard error and a confidence interval. Grids, and fitted sketches of vectors in up to 8 dimensions, with noise, have a trend: how the mean depends on the place, fitted to both sketches as a Gaussian process (Solin & Sarkka 2020), once in a session. There the answer is the trend, and what the sketches say beyond it so far as it stands out from the noise; the interval covers the mean with this confidence on average over places and noise. Elsewhere, and outside of what the trend covers, it is the ratio of both, with Fieller''s interval. The sketches are both halves of race_build_value with these bounds, exact or private, fitted or not, or two sketches of whole records, of values at the one bound and at the other: value_lower + (value_upper - value_lower) u / (l + u), with the kernel sums l and u of both. Near q means within the bandwidth; of a high power there is less weight on what is far. Errors: 22023 for sketches with different parameters, rows or cells, for halves in the wrong order, bounds that are not finite and in order, or a confidence that is not between 0 and 1; others as in race_estimate';
