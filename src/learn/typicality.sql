-- ------------------------------------------------------------------------
-- Is a query like the records?

CREATE FUNCTION race_typicality(sketch race_sketch, q "any") RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION race_typicality(race_sketch, "any") IS
	'the density at q over the mean density at the records, each without its own share: 1 is as typical as the average record, near 0 an anomaly (Luo & Shrivastava 2018)';
