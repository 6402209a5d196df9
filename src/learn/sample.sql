-- ------------------------------------------------------------------------
-- Records like those of a sketch, drawn from its model.

CREATE TYPE race_sample_result AS (x float8[], record text);
COMMENT ON TYPE race_sample_result IS 'a row of the result of race_sample';
COMMENT ON COLUMN race_sample_result.x IS 'the record, of a kernel of vectors by itself; else NULL';
COMMENT ON COLUMN race_sample_result.record IS 'the record as text, of other kernels, as PostgreSQL writes the records that race_fit was given; else NULL';

CREATE FUNCTION race_sample(sketch race_sketch, n int, seed bigint DEFAULT NULL)
	RETURNS SETOF race_sample_result
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL SAFE COST 100000 ROWS 1000;
COMMENT ON FUNCTION race_sample(race_sketch, int, bigint) IS
	'n records drawn from the fitted model of a sketch, moved at random by at most half a bandwidth. The same seed gives the same records; NULL others each time. Errors: 55000 no model, 22023 a negative n';

CREATE FUNCTION race_sample(base anyelement, sketch race_sketch, n int, seed bigint DEFAULT NULL)
	RETURNS SETOF anyelement
	AS 'MODULE_PATHNAME', 'race_sample_rows'
	LANGUAGE C VOLATILE PARALLEL SAFE COST 100000 ROWS 1000;
COMMENT ON FUNCTION race_sample(anyelement, race_sketch, int, bigint) IS
	'race_sample as rows of the type of base, as in race_sample(NULL::patients, sketch, 1000); further columns are those of base. Errors: 42804 no row type or too few columns, others as race_sample and the input functions of the types';
