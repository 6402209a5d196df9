-- ------------------------------------------------------------------------
-- How typical is a record among those of the sketch?

CREATE FUNCTION race_typicality_share(sketch race_sketch, q "any") RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION race_typicality_share(race_sketch, "any") IS
	'the share of records whose density is less than that at q, from 0 (q is less typical than all) to 1. Records are the points of the fitted model by their weights, densities those of race_kde. Densities of the points are found at the first question, and kept for the sketches that a session asked last. Errors: 55000 for a sketch without a model, others as in race_kde';
