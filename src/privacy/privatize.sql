-- ------------------------------------------------------------------------
-- Privacy: noise, once, for everything that is asked later

CREATE FUNCTION race_privatize(
	sketch race_sketch, epsilon float8, delta float8 DEFAULT 0,
	rows int DEFAULT NULL, max_contributions int DEFAULT 1,
	neighbours text DEFAULT 'add_remove')
	RETURNS race_sketch AS 'MODULE_PATHNAME'
	LANGUAGE C VOLATILE PARALLEL SAFE COST 100000;
REVOKE EXECUTE ON FUNCTION
	race_privatize(race_sketch, float8, float8, int, int, text) FROM PUBLIC;
COMMENT ON FUNCTION race_privatize(race_sketch, float8, float8, int, int, text) IS
	'a differentially private sketch of the first rows of an exact one: integer noise in every counter, and in the record count, which gets 5 % of the budget. delta 0: discrete Laplace, epsilon-differential privacy; above: discrete Gaussian, (epsilon, delta) (Coleman & Shrivastava 2021, theorem 3.2; Canonne, Kamath & Steinke 2020). rows: a power of two, or all; NULL: as many as promise the least error, chosen from public values and the noisy count (corollary 3.5), with delta > 0 all. max_contributions: records a person may have; neighbours: add_remove or substitute. Every call draws new noise and costs its budget again. NULL if an argument other than rows is; errors: 22023 out of limits, 55000 already private';
