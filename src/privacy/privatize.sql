-- ------------------------------------------------------------------------
-- Privacy: noise, once, for everything that is asked later

CREATE FUNCTION race_privatize(
	sketch race_sketch, epsilon float8, delta float8 DEFAULT 0,
	rows int DEFAULT NULL, max_contributions int DEFAULT 1,
	neighbors text DEFAULT 'add_remove')
	RETURNS race_sketch AS 'MODULE_PATHNAME'
	LANGUAGE C VOLATILE PARALLEL SAFE COST 100000;
REVOKE EXECUTE ON FUNCTION
	race_privatize(race_sketch, float8, float8, int, int, text) FROM PUBLIC;
COMMENT ON FUNCTION race_privatize(race_sketch, float8, float8, int, int, text) IS
	'a differentially private sketch of the first rows of an exact one: integer noise in every counter, and in the record count, which gets 5 % of the budget. delta 0: discrete Laplace, epsilon-differential privacy; above: discrete Gaussian, (epsilon, delta) (Coleman & Shrivastava 2021, theorem 3.2; Canonne, Kamath & Steinke 2020). rows: a power of two, or all; NULL: as many as promise the least error, chosen from public values and the noisy count (corollary 3.5), with delta > 0 all. max_contributions: records a person may have; neighbors: add_remove or substitute. Every call draws new noise and costs its budget again. NULL if an argument other than rows is; errors: 22023 out of limits, 55000 already private';

CREATE FUNCTION race_share(
	sketch race_sketch, epsilon float8, delta float8, parties int,
	colluders int DEFAULT 1, dropouts int DEFAULT 0, rows int DEFAULT NULL,
	max_contributions int DEFAULT 1, neighbors text DEFAULT 'add_remove')
	RETURNS race_sketch AS 'MODULE_PATHNAME'
	LANGUAGE C VOLATILE PARALLEL SAFE COST 100000;
REVOKE EXECUTE ON FUNCTION
	race_share(race_sketch, float8, float8, int, int, int, int, int, text) FROM PUBLIC;
COMMENT ON FUNCTION race_share(race_sketch, float8, float8, int, int, int, int, int, text) IS
	'one party''s exact sketch with its share of the noise: discrete Gaussian, so that the shares of parties - colluders - dropouts are (epsilon, delta)-differentially private together (Coleman & Shrivastava 2021, section 7.3; Kairouz, Liu & Steinke 2021). A share cannot be asked; the race_merge of at least parties - dropouts of them can, and all parties must give the same arguments. Whoever sees a single share sees that party at about the cost of all times their number: shares protect from the merger only under secure aggregation. rows: NULL is all. NULL if another argument is; errors: 22023 out of limits or delta 0, 55000 not an exact sketch';
