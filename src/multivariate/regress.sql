-- ------------------------------------------------------------------------
-- Linear regression from moments

CREATE TYPE race_regress_result AS ("column" int, feature int, coefficient float8, standard_error float8);
COMMENT ON TYPE race_regress_result IS 'a row of the result of race_regress';
COMMENT ON COLUMN race_regress_result."column" IS 'the column of the record, from 1 on; 0 for the intercept; NULL for a feature';
COMMENT ON COLUMN race_regress_result.feature IS 'the random Fourier feature, from 1 on; NULL for a column';
COMMENT ON COLUMN race_regress_result.coefficient IS 'in units of the target a unit of the column';
COMMENT ON COLUMN race_regress_result.standard_error IS 'of the coefficient: of the noise, of the records as a sample, and what shrinking moved it by';

CREATE FUNCTION race_regress(moments race_sketch, target int, predictors int[] DEFAULT NULL)
	RETURNS SETOF race_regress_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100000 ROWS 10;
COMMENT ON FUNCTION race_regress(race_sketch, int, int[]) IS
	'the linear regression of column target on the columns of predictors and all features, or on all other columns (NULL): the intercept first. It comes from the sums and products that the noisy ones most likely come from, so that what noise hides is shrunk, as in ridge regression, with a penalty that follows from the known noise (Wigner 1955 for its size). From exact moments it is least squares. Standard errors take errors of the regression to be of equal variance. They do not include the effect of weights, which records beyond the norm have: where coefficients matter more than predictions, choose a norm that few records exceed. NULL moments or target give no rows. Errors: 22023 for columns that do not exist, or that come twice; 55000 for exact moments without records, and for noise shares of which there are too few';

CREATE FUNCTION race_predict(moments race_sketch, target int, x float8[], predictors int[] DEFAULT NULL)
	RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;
COMMENT ON FUNCTION race_predict(race_sketch, int, float8[], int[]) IS
	'what the regression of column target (race_regress) says of a record: x has all its columns but the target, in their order, in the units of the table. Numbers beyond their bounds are clipped, and so is the result. The fit is kept for further calls of the same place in a statement. NULL for a NULL argument, but NULL predictors stand for all columns. Errors: 22023 for another number of elements, a NULL element, a NaN or an infinity; others as in race_regress';
