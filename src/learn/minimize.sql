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
	'the point between lower and upper where a question (NULL: race_loss) has its least answer, or with maximize the greatest (Hooke & Jeeves 1961). Errors: 22023 for bounds, question or evaluations, 42501 a function without EXECUTE, others as the question';
