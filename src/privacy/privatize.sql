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
	'a differentially private sketch of the first rows of an exact one. Every counter gets integer noise, and so does the record count, which takes 5 % of the budget. delta 0: discrete Laplace noise, epsilon-differential privacy. Above: discrete Gaussian noise, (epsilon, delta)-differential privacy (Coleman & Shrivastava 2021, theorem 3.2; Canonne, Kamath & Steinke 2020). rows: a power of two, or all. NULL chooses the rows that promise the least error (corollary 3.5), from public values, the noisy count, and a noisy sum of the norms of rows, which takes 2 % of epsilon; with delta > 0 it takes all. Of a grid, NULL chooses the size of its cells, and whether it has coarse cells besides, with delta 0 by a noisy look at what coarser cells lose, which takes 2 % of epsilon in one dimension and else 5 %, and 1 keeps the finest. fit: says that race_fit will follow, so that with delta 0 fewer rows are best in one or two dimensions, but enough to test the model; above, the count of rows then takes 12.5 % of rho. max_contributions: how many records one person may have. neighbors: add_remove or substitute. Every call draws new noise and costs its budget again. NULL if an argument other than rows is NULL. Errors: 22023 outside the limits, 55000 for a private sketch';

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
