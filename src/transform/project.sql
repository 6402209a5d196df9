-- ------------------------------------------------------------------------
-- Vectors replaced by what a public linear map makes of them

CREATE FUNCTION race_project(x float8[], matrix float8[], "offset" float8[], radius float8 DEFAULT 'Infinity') RETURNS float8[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION race_project(float8[], float8[], float8[], float8) IS
	'M (x - o), for a matrix M of up to 1024 rows and an offset o, which must be public, as those of a race_transform: for grids, which have no transform of their own, in the few directions that classes differ in. race_suggest proposes them. What is longer than radius is shortened to it: where columns have heavy tails, a few far records would make most of the range. Records and queries must be projected alike. NULL for a vector of another length than the rows of M or with a NULL, so that a release leaves it out. Error 22023 for a bad matrix or offset, or a radius that is not above 0';
