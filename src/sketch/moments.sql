-- ------------------------------------------------------------------------
-- race_moments: sums and products of columns, exact or private.  It is kept as a sketch is,
-- and shares its formats, its sums, its noise and its history of privacy; a type of its own,
-- since no question about densities can be asked.

CREATE TYPE race_moments;

CREATE FUNCTION _racepriv._race_moments_in(cstring) RETURNS race_moments
	AS 'MODULE_PATHNAME', 'race_moments_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _racepriv._race_moments_out(race_moments) RETURNS cstring
	AS 'MODULE_PATHNAME', 'race_sketch_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _racepriv._race_moments_recv(internal) RETURNS race_moments
	AS 'MODULE_PATHNAME', 'race_moments_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _racepriv._race_moments_send(race_moments) RETURNS bytea
	AS 'MODULE_PATHNAME', 'race_sketch_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE race_moments (
	INPUT = _racepriv._race_moments_in, OUTPUT = _racepriv._race_moments_out,
	RECEIVE = _racepriv._race_moments_recv, SEND = _racepriv._race_moments_send,
	INTERNALLENGTH = VARIABLE, ALIGNMENT = double, STORAGE = external,
	CATEGORY = 'r'
);
COMMENT ON TYPE race_moments IS
	'count, sums and products of the columns of a table, within public bounds: what linear regression, covariance, principal components and linear discriminants are computed from. It is exact while it is built, and private after race_privatize. The text form is base64; \x and hexadecimal digits are read, too';
COMMENT ON FUNCTION _racepriv._race_moments_in(cstring) IS 'I/O';
COMMENT ON FUNCTION _racepriv._race_moments_out(race_moments) IS 'I/O';
COMMENT ON FUNCTION _racepriv._race_moments_recv(internal) IS 'I/O';
COMMENT ON FUNCTION _racepriv._race_moments_send(race_moments) IS 'I/O';

CREATE FUNCTION race_params(moments race_moments) RETURNS race_params
	AS 'MODULE_PATHNAME', 'race_sketch_params'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION race_params(race_moments) IS 'the parameters of moments';

CREATE FUNCTION race_moments(params race_params) RETURNS race_moments
	AS 'MODULE_PATHNAME', 'race_moments_empty'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION race_moments(race_params) IS
	'exact moments without records. Error 22023 if the parameters are not those of moments';

CREATE FUNCTION race_add(moments race_moments, x "any") RETURNS race_moments
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 50
	SUPPORT _racepriv._race_update_support;
COMMENT ON FUNCTION race_add(race_moments, "any") IS
	'exact moments with one more record, an array of as many finite numbers as the parameters have bounds. Errors: 42804 for another type; 22023 for a wrong number, a NULL element or a NaN; 55000 for private moments';

CREATE FUNCTION race_remove(moments race_moments, x "any") RETURNS race_moments
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 50
	SUPPORT _racepriv._race_update_support;
COMMENT ON FUNCTION race_remove(race_moments, "any") IS
	'exact moments with one record less. The record must have been added before. Errors as in race_add';

CREATE FUNCTION _racepriv._race_plus(race_moments, race_moments) RETURNS race_moments
	AS 'MODULE_PATHNAME', 'race_plus' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION _racepriv._race_plus(race_moments, race_moments) IS 'implementation of + operator';
CREATE FUNCTION _racepriv._race_plus_disjoint(race_moments, race_moments) RETURNS race_moments
	AS 'MODULE_PATHNAME', 'race_plus_disjoint' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION _racepriv._race_plus_disjoint(race_moments, race_moments) IS 'aggregate transition function';
CREATE FUNCTION _racepriv._race_minus(race_moments, race_moments) RETURNS race_moments
	AS 'MODULE_PATHNAME', 'race_minus' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION _racepriv._race_minus(race_moments, race_moments) IS 'implementation of - operator';

CREATE OPERATOR + (
	LEFTARG = race_moments, RIGHTARG = race_moments, FUNCTION = _racepriv._race_plus,
	COMMUTATOR = +
);
COMMENT ON OPERATOR + (race_moments, race_moments) IS
	'the moments of the records of both. Private moments add their noise and their privacy costs. Errors: 22023 for different parameters, 55000 for exact and private ones';

CREATE OPERATOR - (
	LEFTARG = race_moments, RIGHTARG = race_moments, FUNCTION = _racepriv._race_minus
);
COMMENT ON OPERATOR - (race_moments, race_moments) IS
	'exact moments without the records of others, which must be among their own. Errors: 22023 for different parameters, 55000 for private moments';

CREATE FUNCTION _racepriv._race_moments_step(race_moments, race_params, "any") RETURNS race_moments
	AS 'MODULE_PATHNAME', 'race_moments_step' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 50;
COMMENT ON FUNCTION _racepriv._race_moments_step(race_moments, race_params, "any") IS
	'aggregate transition function';
CREATE FUNCTION _racepriv._race_moments_undo(race_moments, race_params, "any") RETURNS race_moments
	AS 'MODULE_PATHNAME', 'race_build_undo' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 50;
COMMENT ON FUNCTION _racepriv._race_moments_undo(race_moments, race_params, "any") IS
	'aggregate inverse transition function';

-- SSPACE: counters of 50 columns and a batch of records
CREATE AGGREGATE race_moments(params race_params, x "any") (
	SFUNC = _racepriv._race_moments_step, STYPE = race_moments, SSPACE = 65536,
	COMBINEFUNC = _racepriv._race_plus,
	MSFUNC = _racepriv._race_moments_step, MINVFUNC = _racepriv._race_moments_undo,
	MSTYPE = race_moments, MSSPACE = 65536,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_moments(race_params, "any") IS
	'the exact moments of all records x, with parameters of race_moment_params. A NULL x adds nothing, and NULLs alone give empty moments. No rows at all give NULL. Errors: 22004 for NULL params, 22023 for parameters of a kernel, others as in race_add';

CREATE FUNCTION _racepriv._race_moments_step(race_moments, race_params, race_record) RETURNS race_moments
	AS 'MODULE_PATHNAME', 'race_moments_record_step' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 50;
COMMENT ON FUNCTION _racepriv._race_moments_step(race_moments, race_params, race_record) IS
	'aggregate transition function';
CREATE FUNCTION _racepriv._race_moments_undo(race_moments, race_params, race_record) RETURNS race_moments
	AS 'MODULE_PATHNAME', 'race_build_record_undo' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 50;
COMMENT ON FUNCTION _racepriv._race_moments_undo(race_moments, race_params, race_record) IS
	'aggregate inverse transition function';

CREATE AGGREGATE race_moments_records(params race_params, record race_record) (
	SFUNC = _racepriv._race_moments_step, STYPE = race_moments, SSPACE = 65536,
	COMBINEFUNC = _racepriv._race_plus,
	MSFUNC = _racepriv._race_moments_step, MINVFUNC = _racepriv._race_moments_undo,
	MSTYPE = race_moments, MSSPACE = 65536,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_moments_records(race_params, race_record) IS
	'the same moments, of records that race_record has read with the same parameters, as race_build_records is race_build. Errors: 22004 for NULL params; 22023 for other parameters, as far as records show them';

CREATE AGGREGATE race_merge(moments race_moments) (
	SFUNC = _racepriv._race_plus, STYPE = race_moments, SSPACE = 65536,
	COMBINEFUNC = _racepriv._race_plus,
	MSFUNC = _racepriv._race_plus, MINVFUNC = _racepriv._race_minus,
	MSTYPE = race_moments, MSSPACE = 65536,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_merge(race_moments) IS
	'the sum of all moments, which are all exact or all private. Private ones add their privacy costs (basic composition). NULLs are ignored. Errors as in +';

CREATE AGGREGATE race_merge_disjoint(moments race_moments) (
	SFUNC = _racepriv._race_plus_disjoint, STYPE = race_moments, SSPACE = 65536,
	COMBINEFUNC = _racepriv._race_plus_disjoint,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_merge_disjoint(race_moments) IS
	'as race_merge, for private moments when no person has records in more than one of them: the privacy cost is then the largest of theirs (parallel composition). Errors as in race_merge_disjoint of sketches';
