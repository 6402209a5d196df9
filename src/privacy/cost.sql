-- ------------------------------------------------------------------------
-- Plan before you spend, and add up what was spent

CREATE TYPE race_privacy_cost_result AS (
	mechanism text, rows int, pure_epsilon float8, epsilon float8, delta float8, rho float8,
	counter_noise_stddev float8, count_noise_stddev float8,
	kernel_sum_noise_stddev float8, density_stddev float8);
COMMENT ON TYPE race_privacy_cost_result IS 'the result of race_privacy_cost';
COMMENT ON COLUMN race_privacy_cost_result.mechanism IS 'the noise: discrete Laplace or discrete Gaussian; or Wishart, of moments';
COMMENT ON COLUMN race_privacy_cost_result.rows IS 'how many rows the release would have';
COMMENT ON COLUMN race_privacy_cost_result.pure_epsilon IS 'the true epsilon of Laplace or Wishart noise; NULL for Gaussian noise';
COMMENT ON COLUMN race_privacy_cost_result.epsilon IS 'the true epsilon at delta, rounded up';
COMMENT ON COLUMN race_privacy_cost_result.delta IS 'the delta';
COMMENT ON COLUMN race_privacy_cost_result.rho IS 'the cost in zero-concentrated differential privacy (zCDP)';
COMMENT ON COLUMN race_privacy_cost_result.counter_noise_stddev IS 'the standard deviation of the noise in each counter, in records; of moments, in each sum or product of scaled columns (race_info)';
COMMENT ON COLUMN race_privacy_cost_result.count_noise_stddev IS 'the standard deviation of the noise in the count';
COMMENT ON COLUMN race_privacy_cost_result.kernel_sum_noise_stddev IS 'the standard deviation of the noise in a kernel sum; NULL for moments, as what follows';
COMMENT ON COLUMN race_privacy_cost_result.density_stddev IS 'the standard deviation to expect of a density, if the number of records is given';

CREATE FUNCTION race_privacy_cost(
	params race_params, epsilon float8, delta float8 DEFAULT 0,
	rows int DEFAULT NULL, max_contributions int DEFAULT 1,
	neighbors text DEFAULT 'add_remove', records float8 DEFAULT NULL,
	fit boolean DEFAULT false)
	RETURNS race_privacy_cost_result AS 'MODULE_PATHNAME'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION race_privacy_cost(race_params, float8, float8, int, int, text, float8, boolean) IS
	'what race_privatize with these arguments would cost, without looking at data: the true cost, the noise in records, and for a public number of records the standard deviation to expect of a density (but for the noise of its count), by the prior that rows are chosen by. Of a surrogate loss a WARNING tells when records and epsilon are too few for it. Errors: 22023 when rows are to be chosen (rows NULL, delta 0) and records are not given; others as in race_privatize';

CREATE FUNCTION race_suggest_rows(records float8, epsilon float8, kernel_mass float8)
	RETURNS int AS 'MODULE_PATHNAME'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION race_suggest_rows(float8, float8, float8) IS
	'the number of rows that makes the error bound of a kernel sum least: ceil(g epsilon / sqrt(2)), with g = records * kernel_mass, where kernel_mass is the mean of sqrt(k(x, q)), between 0 and 1 (Coleman & Shrivastava 2021, corollary 3.5)';

CREATE TYPE race_compose_result AS (
	releases bigint, accounting text, epsilon float8, delta float8, rho float8,
	basic_epsilon float8, zcdp_epsilon float8);
COMMENT ON TYPE race_compose_result IS
	'what several releases cost together';
COMMENT ON COLUMN race_compose_result.releases IS 'how many releases there are';
COMMENT ON COLUMN race_compose_result.accounting IS 'which composition gives the smaller epsilon: basic or zCDP';
COMMENT ON COLUMN race_compose_result.epsilon IS 'the smaller of basic_epsilon and zcdp_epsilon';
COMMENT ON COLUMN race_compose_result.delta IS 'the delta that epsilon holds at';
COMMENT ON COLUMN race_compose_result.rho IS 'the sum of rho';
COMMENT ON COLUMN race_compose_result.basic_epsilon IS 'the sum of epsilons; Infinity if the deltas add up to more than delta';
COMMENT ON COLUMN race_compose_result.zcdp_epsilon IS 'the epsilon that rho implies at delta; Infinity if delta is 0';

CREATE FUNCTION _racepriv._race_compose_step(internal, float8, float8, float8) RETURNS internal
	AS 'MODULE_PATHNAME', 'race_compose_step' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION _racepriv._race_compose_step(internal, float8, float8, float8, float8) RETURNS internal
	AS 'MODULE_PATHNAME', 'race_compose_step' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION _racepriv._race_compose_final(internal) RETURNS race_compose_result
	AS 'MODULE_PATHNAME', 'race_compose_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION _racepriv._race_compose_step(internal, float8, float8, float8) IS 'aggregate transition function';
COMMENT ON FUNCTION _racepriv._race_compose_step(internal, float8, float8, float8, float8) IS 'aggregate transition function';
COMMENT ON FUNCTION _racepriv._race_compose_final(internal) IS 'aggregate final function';

CREATE AGGREGATE race_compose(epsilon float8, delta float8, rho float8) (
	SFUNC = _racepriv._race_compose_step, STYPE = internal, FINALFUNC = _racepriv._race_compose_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_compose(float8, float8, float8) IS
	'what releases cost together, given epsilon, delta and rho of each as race_info tells them: by basic composition (sums) and by zero-concentrated privacy (the sum of rho; Bun & Steinke 2016; Canonne, Kamath & Steinke 2020), at the sum of deltas. Both are upper bounds. Errors: 22004 for NULL (an exact sketch), 22023 for negative or infinite costs';

CREATE AGGREGATE race_compose(epsilon float8, delta float8, rho float8, at_delta float8) (
	SFUNC = _racepriv._race_compose_step, STYPE = internal, FINALFUNC = _racepriv._race_compose_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_compose(float8, float8, float8, float8) IS
	'race_compose at a delta of your choice, which must be the same in all rows. At a small delta, pure releases may cost less than the sum of their epsilons. Basic composition counts if the sum of deltas, rounded up, is at most at_delta. Errors: 22004 for a NULL at_delta, and as in the other race_compose';
