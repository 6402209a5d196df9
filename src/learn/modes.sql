-- ------------------------------------------------------------------------
-- Where the density is highest.

CREATE TYPE race_modes_result AS (x float8[], record text, density float8, prominence float8);
COMMENT ON TYPE race_modes_result IS 'a row of the result of race_modes';
COMMENT ON COLUMN race_modes_result.x IS 'the mode, of a kernel of vectors by itself; else NULL';
COMMENT ON COLUMN race_modes_result.record IS 'the mode as text, of other kernels, as race_points has it; else NULL';
COMMENT ON COLUMN race_modes_result.density IS 'the density there, as race_kde';
COMMENT ON COLUMN race_modes_result.prominence IS 'the density less that of the highest saddle on the way to a denser mode; of the densest mode its density';

CREATE FUNCTION race_modes(sketch race_sketch, max int DEFAULT 10, lower float8[] DEFAULT NULL, upper float8[] DEFAULT NULL)
	RETURNS SETOF race_modes_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000000 ROWS 10;
COMMENT ON FUNCTION race_modes(race_sketch, int, float8[], float8[]) IS
	'local maxima of the density between lower and upper (NULL: those of the parameters or model), the most prominent first, at most max (1 to 100). Errors: 22023 for bounds or max, 55000 without a model';
