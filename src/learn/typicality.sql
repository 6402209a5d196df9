-- ------------------------------------------------------------------------
-- Is a query like the records?

CREATE FUNCTION race_typicality(sketch race_sketch, q "any") RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION race_typicality(race_sketch, "any") IS
	'the density at q over the mean density at the records themselves, each without its own share: 1 is as typical as the average record, near 0 an anomaly. The mean density comes from the squared counters (Luo & Shrivastava 2018), without the share of noise. It is taken to be at least twice its standard error, and at least what a single record gives, so that no answer is divided by noise';
