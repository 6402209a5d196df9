-- ------------------------------------------------------------------------
-- Plan before you spend, and add up what was spent

CREATE TYPE race_privacy_cost_result AS (
	mechanism text, rows int, pure_epsilon float8, epsilon float8, delta float8, rho float8,
	counter_noise_stddev float8, count_noise_stddev float8,
	kernel_sum_noise_stddev float8, kernel_density_stddev float8);
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
COMMENT ON COLUMN race_privacy_cost_result.kernel_density_stddev IS 'the standard deviation to expect of a kernel density, if the number of records is given';

CREATE FUNCTION race_privacy_cost(
	params race_params, epsilon float8, delta float8 DEFAULT 0,
	rows int DEFAULT NULL, max_contributions int DEFAULT 1,
	neighbors text DEFAULT 'add_remove', records float8 DEFAULT NULL,
	fit boolean DEFAULT false)
	RETURNS race_privacy_cost_result AS 'MODULE_PATHNAME'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION race_privacy_cost(race_params, float8, float8, int, int, text, float8, boolean) IS
	'what race_privatize with these arguments would cost: true cost, noise, and the expected error of a kernel density. It looks at no data. Errors: 22023 where rows would be chosen from data, others as in race_privatize';

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

CREATE FUNCTION _race_compose_step(internal, VARIADIC float8[]) RETURNS internal
	AS 'MODULE_PATHNAME', 'race_compose_step' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION _race_compose_final(internal) RETURNS race_compose_result
	AS 'MODULE_PATHNAME', 'race_compose_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION _race_compose_step(internal, float8[]) IS 'aggregate transition function';
COMMENT ON FUNCTION _race_compose_final(internal) IS 'aggregate final function';

CREATE AGGREGATE race_compose(VARIADIC costs float8[]) (
	SFUNC = _race_compose_step, STYPE = internal, FINALFUNC = _race_compose_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_compose(float8[]) IS
	'upper bounds of what releases cost together, of (epsilon, delta, rho [, at_delta]): by basic composition and by zCDP (Bun & Steinke 2016) at at_delta, or the sum of deltas. Errors: 22004, 22023 for other costs';

-- ------------------------------------------------------------------------
-- Privacy: noise, once, for everything that is asked later

CREATE FUNCTION race_privatize(
	sketch race_sketch, epsilon float8, delta float8 DEFAULT 0,
	rows int DEFAULT NULL, max_contributions int DEFAULT 1,
	neighbors text DEFAULT 'add_remove', fit boolean DEFAULT false)
	RETURNS race_sketch AS 'MODULE_PATHNAME'
	LANGUAGE C VOLATILE PARALLEL SAFE COST 100000;
REVOKE EXECUTE ON FUNCTION
	race_privatize(race_sketch, float8, float8, int, int, text, boolean) FROM PUBLIC;
COMMENT ON FUNCTION race_privatize(race_sketch, float8, float8, int, int, text, boolean) IS
	'an exact race_sketch made private: discrete Laplace noise for delta 0, discrete Gaussian noise above. Arguments: doc/reference.md. Errors: 55000 unless exact, 22023';

CREATE FUNCTION race_share(
	sketch race_sketch, epsilon float8, delta float8, parties int,
	colluders int DEFAULT 1, dropouts int DEFAULT 0, rows int DEFAULT NULL,
	max_contributions int DEFAULT 1, neighbors text DEFAULT 'add_remove')
	RETURNS race_sketch AS 'MODULE_PATHNAME'
	LANGUAGE C VOLATILE PARALLEL SAFE COST 100000;
REVOKE EXECUTE ON FUNCTION
	race_share(race_sketch, float8, float8, int, int, int, int, int, text) FROM PUBLIC;
COMMENT ON FUNCTION race_share(race_sketch, float8, float8, int, int, int, int, int, text) IS
	'the exact sketch of one party with its share of discrete Gaussian noise. Only the race_merge of at least parties - dropouts shares can be asked. max_contributions: of one person, at all parties. rows: NULL keeps all. Errors: 22023, 55000';
