-- ------------------------------------------------------------------------
-- Questions by name: of the latest version of a release that the caller may see

CREATE FUNCTION race_count(release text)
	RETURNS float8 AS 'MODULE_PATHNAME', 'race_count_named'
	LANGUAGE C STABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION race_count(text) IS
	'race_count of the latest version of a release; errors: 42704 no such release, 22023 one with labels';

CREATE FUNCTION race_kernel_sum(release text, q "any")
	RETURNS float8 AS 'MODULE_PATHNAME', 'race_kernel_sum_named'
	LANGUAGE C STABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION race_kernel_sum(text, "any") IS
	'race_kernel_sum of the latest version of a release; errors: 42704 no such release, 22023 one with labels';

CREATE FUNCTION race_kernel_sum_mom(release text, q "any", failure_probability float8 DEFAULT 0.05)
	RETURNS float8 AS 'MODULE_PATHNAME', 'race_kernel_sum_mom_named'
	LANGUAGE C STABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION race_kernel_sum_mom(text, "any", float8) IS
	'race_kernel_sum_mom of the latest version of a release; errors: 42704 no such release, 22023 one with labels';

CREATE FUNCTION race_kde(release text, q "any")
	RETURNS float8 AS 'MODULE_PATHNAME', 'race_kde_named'
	LANGUAGE C STABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION race_kde(text, "any") IS
	'race_kde of the latest version of a release; errors: 42704 no such release, 22023 one with labels';

CREATE FUNCTION race_estimate(
	release text, q "any", confidence float8 DEFAULT 0.95,
	OUT kernel_sum float8, OUT density float8, OUT stderr float8,
	OUT lower float8, OUT upper float8)
	RETURNS record AS 'MODULE_PATHNAME', 'race_estimate_named'
	LANGUAGE C STABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION race_estimate(text, "any", float8) IS
	'race_estimate of the latest version of a release; errors: 42704 no such release, 22023 one with labels';

CREATE FUNCTION race_kde_grid(
	release text, lower float8[], upper float8[], steps int[],
	OUT x float8[], OUT density float8, OUT stderr float8)
	RETURNS SETOF record AS 'MODULE_PATHNAME', 'race_kde_grid_named'
	LANGUAGE C STABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION race_kde_grid(text, float8[], float8[], int[]) IS
	'race_kde_grid of the latest version of a release; errors: 42704 no such release, 22023 one with labels';

CREATE FUNCTION race_info(
	release text,
	OUT kernel text, OUT dims int, OUT bandwidth float8, OUT power int,
	OUT rows int, OUT range int, OUT seed bigint,
	OUT sequence text, OUT rehash text,
	OUT records bigint, OUT counter_bytes int, OUT storage_bytes bigint,
	OUT status text, OUT mechanism text,
	OUT epsilon float8, OUT delta float8, OUT rho float8,
	OUT max_contributions int, OUT neighbours text, OUT releases int,
	OUT counter_noise_stddev float8, OUT count_noise_stddev float8)
	RETURNS record AS 'MODULE_PATHNAME', 'race_info_named'
	LANGUAGE C STABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION race_info(text) IS
	'race_info of the latest version of a release; errors: 42704 no such release, 22023 one with labels';

CREATE FUNCTION race_classify(release text, q "any")
	RETURNS text AS 'MODULE_PATHNAME', 'race_classify_named'
	LANGUAGE C STABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION race_classify(text, "any") IS
	'label of the class with the highest density at q, of the latest version of a release with labels; for another prior ask the aggregate over race_releases; errors: 42704 no such release, 22023 one without labels';

CREATE FUNCTION race_posterior(release text, q "any")
	RETURNS jsonb AS 'MODULE_PATHNAME', 'race_posterior_named'
	LANGUAGE C STABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION race_posterior(text, "any") IS
	'probability of each label given q, with a uniform prior, of the latest version of a release with labels; errors as race_classify';
