-- ------------------------------------------------------------------------
-- Records that have been read, for aggregates that run on several servers

CREATE TYPE race_record;

CREATE FUNCTION _racepriv._race_record_in(cstring) RETURNS race_record
	AS 'MODULE_PATHNAME', 'race_record_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _racepriv._race_record_out(race_record) RETURNS cstring
	AS 'MODULE_PATHNAME', 'race_record_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _racepriv._race_record_recv(internal) RETURNS race_record
	AS 'MODULE_PATHNAME', 'race_record_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _racepriv._race_record_send(race_record) RETURNS bytea
	AS 'MODULE_PATHNAME', 'race_record_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE race_record (
	INPUT = _racepriv._race_record_in, OUTPUT = _racepriv._race_record_out,
	RECEIVE = _racepriv._race_record_recv, SEND = _racepriv._race_record_send,
	INTERNALLENGTH = VARIABLE, ALIGNMENT = double, STORAGE = extended
);
COMMENT ON TYPE race_record IS
	'a record as it is hashed: numbers, and elements as 64 bits each. race_record makes it, race_build_records counts it. It is as private as the record. The text form is \x and hexadecimal digits';
COMMENT ON FUNCTION _racepriv._race_record_in(cstring) IS 'I/O';
COMMENT ON FUNCTION _racepriv._race_record_out(race_record) IS 'I/O';
COMMENT ON FUNCTION _racepriv._race_record_recv(internal) IS 'I/O';
COMMENT ON FUNCTION _racepriv._race_record_send(race_record) IS 'I/O';
