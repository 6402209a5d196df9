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
	'an epsilon-differentially private sketch of the first rows of an exact one: discrete Laplace noise in every counter, and in the record count, which gets 5 % of epsilon (Coleman & Shrivastava 2021, theorem 3.2; sampler of Canonne, Kamath & Steinke 2020). rows: a power of two, or all; max_contributions: records a person may have; neighbours: add_remove or substitute. Every call draws new noise and costs epsilon again. NULL if an argument other than rows is; errors: 22023 out of limits, 55000 already private, 0A000 delta > 0 or rows NULL (not supported yet)';
