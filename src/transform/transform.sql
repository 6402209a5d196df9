-- ------------------------------------------------------------------------
-- Transforms learned from public data.  Their aggregates have a state in common.

CREATE FUNCTION _racepriv._race_scatter_combine(internal, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'race_scatter_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION _racepriv._race_scatter_serialize(internal) RETURNS bytea
	AS 'MODULE_PATHNAME', 'race_scatter_serialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _racepriv._race_scatter_deserialize(bytea, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'race_scatter_deserialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION _racepriv._race_scatter_combine(internal, internal) IS 'aggregate combine function';
COMMENT ON FUNCTION _racepriv._race_scatter_serialize(internal) IS 'aggregate serialization function';
COMMENT ON FUNCTION _racepriv._race_scatter_deserialize(bytea, internal) IS 'aggregate deserialization function';
