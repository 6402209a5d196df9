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
	'n records drawn from the fitted model of a sketch, evenly: each point about as often as its weight says (so they vary less than independent draws would), and vectors then moved at random, by half the distance to the nearest points and at most half a bandwidth, and within the bounds of the parameters. Of a private sketch they cost no privacy. The same seed gives the same records; NULL draws others each time. A grid without a model is fitted first. A notice says when the sketch has too few rows to tell whether its model fits. No rows for a NULL sketch or n. Errors: 55000 for a sketch without a model, and for shares of which there are not enough; 22023 for a negative n';

CREATE FUNCTION race_sample(base anyelement, sketch race_sketch, n int, seed bigint DEFAULT NULL)
	RETURNS SETOF anyelement
	AS 'MODULE_PATHNAME', 'race_sample_rows'
	LANGUAGE C VOLATILE PARALLEL SAFE COST 100000 ROWS 1000;
COMMENT ON FUNCTION race_sample(anyelement, race_sketch, int, bigint) IS
	'race_sample as rows of the type of base, as in race_sample(NULL::patients, sketch, 1000). The values of a record fill the columns in order: a column of an array type takes a whole vector, set or row of categories, any other column one number or category. They are converted as by the input functions of the types; numbers for integers are rounded. Columns that are left keep what they have in base, or are NULL. Errors: 42804 for a type that is no row type or has too few columns, others as in race_sample and of the types';
