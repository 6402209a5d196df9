-- ------------------------------------------------------------------------
-- How typical is a record among those of the sketch?

CREATE FUNCTION race_typicality_share(sketch race_sketch, q "any") RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION race_typicality_share(race_sketch, "any") IS
	'the share of records whose density is below that at q, from 0 (less typical than all) to 1, by the points of the fitted model. Errors: 55000 no model, others as race_kde';
