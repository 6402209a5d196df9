-- ------------------------------------------------------------------------
-- Moments made private

CREATE FUNCTION race_privatize(
	moments race_moments, epsilon float8, delta float8 DEFAULT 0,
	max_contributions int DEFAULT 1, neighbors text DEFAULT 'add_remove')
	RETURNS race_moments AS 'MODULE_PATHNAME', 'race_privatize_moments'
	LANGUAGE C VOLATILE STRICT PARALLEL SAFE COST 10000;
REVOKE EXECUTE ON FUNCTION
	race_privatize(race_moments, float8, float8, int, text) FROM PUBLIC;
COMMENT ON FUNCTION race_privatize(race_moments, float8, float8, int, text) IS
	'differentially private moments of exact ones. Every sum and product gets integer noise, and so does the record count, which takes 5 % of the budget. delta 0: the difference of two Wishart matrices, epsilon-differential privacy; or discrete Laplace noise where that is less, with clip absolute, or more than 255 columns. Above: discrete Gaussian noise, (epsilon, delta)-differential privacy (Canonne, Kamath & Steinke 2020). With up to some 15 columns there is less noise without a delta than with one of 1e-6, at epsilon 1. Noise off the diagonal has half of the variance, but for Laplace noise. How large it is, follows from the norm that the parameters clip records to. max_contributions, neighbors and errors are those of race_privatize of a sketch. Every call draws new noise and costs its budget again';

CREATE FUNCTION race_share(
	moments race_moments, epsilon float8, delta float8, parties int,
	colluders int DEFAULT 1, dropouts int DEFAULT 0,
	max_contributions int DEFAULT 1, neighbors text DEFAULT 'add_remove')
	RETURNS race_moments AS 'MODULE_PATHNAME', 'race_share_moments'
	LANGUAGE C VOLATILE STRICT PARALLEL SAFE COST 10000;
REVOKE EXECUTE ON FUNCTION
	race_share(race_moments, float8, float8, int, int, int, int, text) FROM PUBLIC;
COMMENT ON FUNCTION race_share(race_moments, float8, float8, int, int, int, int, text) IS
	'the exact moments of one party with its share of the noise, as race_share of a sketch. Only the race_merge of at least parties - dropouts shares can be asked. Its parameters say how much coarser its integers are (coarser), so that the noise of all parties fits';
