CREATE TYPE race_minimize_result AS (x float8[], value float8, evaluations int);
COMMENT ON TYPE race_minimize_result IS 'the result of race_minimize';
COMMENT ON COLUMN race_minimize_result.x IS 'the point; of a loss, the coefficients theta';
COMMENT ON COLUMN race_minimize_result.value IS 'what the question answers there';
COMMENT ON COLUMN race_minimize_result.evaluations IS 'how often the question was asked';

CREATE FUNCTION race_minimize(
	sketch race_sketch, lower float8[] DEFAULT NULL, upper float8[] DEFAULT NULL,
	question regprocedure DEFAULT NULL, maximize boolean DEFAULT false,
	evaluations int DEFAULT 20000)
	RETURNS race_minimize_result
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE COST 10000000;
COMMENT ON FUNCTION race_minimize(race_sketch, float8[], float8[], regprocedure, boolean, int) IS
	'the point between lower and upper at which a question about a sketch has its least answer, or with maximize the greatest; found without derivatives, by places at random and pattern searches from the best of them (Hooke & Jeeves 1961; Coleman & Shrivastava 2021, section 4: Optimization over Sketches). question: a function (race_sketch, float8[]) or (race_sketch, "any") that returns float8, such as ''race_kde(race_sketch,"any")'', called with the privileges of the caller; without it, race_loss, and then the bounds are by default those of all coefficients that query_radius allows. A NULL or NaN is no answer. It asks the question at most so many times (evaluations), at the same places for the same sketch. Asking is free: it costs no privacy. Fit the sketch first (race_fit): the rows alone are rough, and of a loss they say little. A WARNING says so. Another one says when the noise may be larger than what theta gains. NULL if the sketch is NULL. Errors: 22023 for bounds that are missing or wrong, other kernels without a question, another kind of function, or evaluations below 100 or above 100000000; 42501 for a function that the caller may not execute; others as the question';
