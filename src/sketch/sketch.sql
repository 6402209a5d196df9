-- ------------------------------------------------------------------------
-- race_sketch: rows * range counters, exact or private.  It has no equality
-- operator, so that ANALYZE stores none of its values in pg_statistic.

CREATE TYPE race_sketch;

CREATE FUNCTION _racepriv._race_sketch_in(cstring) RETURNS race_sketch
	AS 'MODULE_PATHNAME', 'race_sketch_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _racepriv._race_sketch_out(race_sketch) RETURNS cstring
	AS 'MODULE_PATHNAME', 'race_sketch_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _racepriv._race_sketch_recv(internal) RETURNS race_sketch
	AS 'MODULE_PATHNAME', 'race_sketch_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _racepriv._race_sketch_send(race_sketch) RETURNS bytea
	AS 'MODULE_PATHNAME', 'race_sketch_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- Storage external: exact sketches are packed, and noisy ones cannot be compressed.
CREATE TYPE race_sketch (
	INPUT = _racepriv._race_sketch_in, OUTPUT = _racepriv._race_sketch_out,
	RECEIVE = _racepriv._race_sketch_recv, SEND = _racepriv._race_sketch_send,
	INTERNALLENGTH = VARIABLE, ALIGNMENT = double, STORAGE = external
);
COMMENT ON TYPE race_sketch IS
	'a RACE sketch of a table of records (Coleman & Shrivastava, CCS 2021). It is exact while it is built, and private after race_privatize. An exact one is stored, sent and printed in room that is proportional to its counters other than 0, a private one in that of all counters. The text form is base64; \x and hexadecimal digits, which older versions wrote, are read';
COMMENT ON FUNCTION _racepriv._race_sketch_in(cstring) IS 'I/O';
COMMENT ON FUNCTION _racepriv._race_sketch_out(race_sketch) IS 'I/O';
COMMENT ON FUNCTION _racepriv._race_sketch_recv(internal) IS 'I/O';
COMMENT ON FUNCTION _racepriv._race_sketch_send(race_sketch) IS 'I/O';

CREATE FUNCTION race_params(sketch race_sketch) RETURNS race_params
	AS 'MODULE_PATHNAME', 'race_sketch_params'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION race_params(race_sketch) IS
	'the parameters of a sketch. rows is the number of rows that race_privatize kept';
