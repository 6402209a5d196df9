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
	'local maxima of the density, the most prominent first, at most max (1 to 100). Of vectors: of what race_kde answers between lower and upper (NULL: the bounds of the parameters, else the box of the points of the model), by a search without derivatives from the points of the model, or without one from places at random (Coleman & Shrivastava 2021, section 4); the same sketch gives the same modes. Noise makes maxima, too, of little prominence: compare it with the standard error of race_estimate. A saddle is the least density found on straight lines from mode to mode. Of other kernels: points of the model that no similar point beats, with a kernel value above exp(-1), or above half of the highest that one of both has with any point; a saddle is the least dense point on a way over similar ones. No rows for a NULL sketch or max. Errors: 22023 for bounds that are missing or wrong, or another max; 55000 for other kernels without a model, and for shares of which there are not enough';
