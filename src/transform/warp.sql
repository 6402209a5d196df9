-- ------------------------------------------------------------------------
-- Columns replaced by their places among public quantiles

CREATE FUNCTION race_warp(x float8[], knots float8[]) RETURNS float8[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION race_warp(float8[], float8[]) IS
	'each number of x replaced by its place among the knots of its column, from 0 at the first knot and below to n - 1 at the last of n and above: linear between two, the middle of equal ones. knots, {{column 1}, {column 2}, ...}, are 2 to 64 public numbers for each column, in ascending order; race_suggest proposes them. Records and queries must be warped alike. What is not finite remains. NULL for a vector of another length or with a NULL, so that a release leaves it out. Error 22023 for bad knots';
