-- ------------------------------------------------------------------------
-- race_sketch: rows * range counters, exact or private.  It has no equality
-- operator, so that ANALYZE stores none of its values in pg_statistic.

CREATE TYPE race_sketch;

CREATE FUNCTION _race_sketch_in(cstring) RETURNS race_sketch
	AS 'MODULE_PATHNAME', 'race_sketch_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _race_sketch_out(race_sketch) RETURNS cstring
	AS 'MODULE_PATHNAME', 'race_sketch_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _race_sketch_recv(internal) RETURNS race_sketch
	AS 'MODULE_PATHNAME', 'race_sketch_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _race_sketch_send(race_sketch) RETURNS bytea
	AS 'MODULE_PATHNAME', 'race_sketch_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- Storage external: noisy sketches cannot be compressed.  A column of exact ones can be set to extended.
CREATE TYPE race_sketch (
	INPUT = _race_sketch_in, OUTPUT = _race_sketch_out,
	RECEIVE = _race_sketch_recv, SEND = _race_sketch_send,
	INTERNALLENGTH = VARIABLE, ALIGNMENT = double, STORAGE = external
);
COMMENT ON TYPE race_sketch IS
	'a RACE sketch of records (Coleman & Shrivastava, CCS 2021), or moments of columns; exact while it is built, private after race_privatize. The text form is base64';
COMMENT ON FUNCTION _race_sketch_in(cstring) IS 'I/O';
COMMENT ON FUNCTION _race_sketch_out(race_sketch) IS 'I/O';
COMMENT ON FUNCTION _race_sketch_recv(internal) IS 'I/O';
COMMENT ON FUNCTION _race_sketch_send(race_sketch) IS 'I/O';

CREATE FUNCTION race_params(sketch race_sketch) RETURNS race_params
	AS 'MODULE_PATHNAME', 'race_params_sketch'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION race_params(race_sketch) IS
	'the parameters of a sketch. rows is the number of rows that race_privatize kept';

-- ------------------------------------------------------------------------
-- Records into sketches

CREATE FUNCTION race_sketch(params race_params) RETURNS race_sketch
	AS 'MODULE_PATHNAME', 'race_sketch'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION race_sketch(race_params) IS
	'an exact sketch without records. Error 22023 if the parameters do not state dims';

CREATE FUNCTION _race_update_support(internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'race_update_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION _race_update_support(internal) IS
	'planner support: lets plpgsql update a sketch variable in place';

CREATE FUNCTION race_add(sketch race_sketch, x "any") RETURNS race_sketch
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 50
	SUPPORT _race_update_support;
COMMENT ON FUNCTION race_add(race_sketch, "any") IS
	'an exact sketch with one more record: an array of numbers, a set, a row of categories, or ROW(x, c) for a product. Errors: 42804 for another type, 22023 for another value, 55000 for a private sketch';

CREATE FUNCTION race_remove(sketch race_sketch, x "any") RETURNS race_sketch
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 50
	SUPPORT _race_update_support;
COMMENT ON FUNCTION race_remove(race_sketch, "any") IS
	'an exact sketch with one record less. The record must have been added before. Errors as in race_add';

CREATE FUNCTION race_is_record(params race_params, x "any") RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10;
COMMENT ON FUNCTION race_is_record(race_params, "any") IS
	'whether race_add takes x with these parameters; false for NULL, and for values that raise 22023. Errors: 42804 for a type that has no records, 22023 if parameters do not state dims';

CREATE FUNCTION race_record(params race_params, x "any") RETURNS bytea
	AS 'MODULE_PATHNAME', 'race_record' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION race_record(race_params, "any") IS
	'x as it is hashed, for race_build_records: numbers, and elements as 64 bits each, so that Citus and others push aggregates down. It is as private as x. Errors as in race_add, and 54000 beyond 256 MB';

-- The combine function of race_build: declared with the operators it serves.
CREATE FUNCTION _race_plus(race_sketch, race_sketch) RETURNS race_sketch
	AS 'MODULE_PATHNAME', 'race_plus' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION _race_plus(race_sketch, race_sketch) IS 'implementation of + operator';

CREATE FUNCTION _race_build_step(race_sketch, race_params, "any") RETURNS race_sketch
	AS 'MODULE_PATHNAME', 'race_build_step' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 50;
COMMENT ON FUNCTION _race_build_step(race_sketch, race_params, "any") IS
	'aggregate transition function';

CREATE FUNCTION _race_build_undo(race_sketch, race_params, "any") RETURNS race_sketch
	AS 'MODULE_PATHNAME', 'race_build_undo' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 50;
COMMENT ON FUNCTION _race_build_undo(race_sketch, race_params, "any") IS
	'aggregate inverse transition function';

CREATE FUNCTION _race_build_step(race_sketch, race_params, bytea) RETURNS race_sketch
	AS 'MODULE_PATHNAME', 'race_build_step_bytea' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 50;
COMMENT ON FUNCTION _race_build_step(race_sketch, race_params, bytea) IS
	'aggregate transition function';

-- SSPACE: 1024 * 1024 counters of one byte.  The planner then sorts into groups,
-- which needs one state at a time, unless work_mem has room for them all.
CREATE AGGREGATE race_build(params race_params, x "any") (
	SFUNC = _race_build_step, STYPE = race_sketch, SSPACE = 1048576,
	COMBINEFUNC = _race_plus,
	MSFUNC = _race_build_step, MINVFUNC = _race_build_undo,
	MSTYPE = race_sketch, MSSPACE = 1048576,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_build(race_params, "any") IS
	'the exact sketch of all records x, which are as in race_add. A NULL x adds nothing, and NULLs alone give an empty sketch. No rows at all give NULL. Errors: 22004 for NULL params, others as in race_add';

CREATE AGGREGATE race_build_records(params race_params, record bytea) (
	SFUNC = _race_build_step, STYPE = race_sketch, SSPACE = 1048576,
	COMBINEFUNC = _race_plus,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_build_records(race_params, bytea) IS
	'race_build of records that race_record has read with the same parameters. All types are exact, so that Citus builds where rows are. Errors: 22004 for NULL params, 22023 for other parameters, 22P03 for other bytes';

-- ------------------------------------------------------------------------
-- Columns

CREATE FUNCTION race_domains(sketch race_sketch) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'race_domains' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION race_domains(race_sketch) IS
	'the columns of a value of a release by columns: of each its name, type, bounds or categories, and cells, which are public; NULL if the value does not state columns';

-- ------------------------------------------------------------------------
-- Sketches into sketches

CREATE FUNCTION _race_plus_disjoint(race_sketch, race_sketch) RETURNS race_sketch
	AS 'MODULE_PATHNAME', 'race_plus_disjoint' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION _race_plus_disjoint(race_sketch, race_sketch) IS
	'aggregate transition function';

CREATE FUNCTION _race_minus(race_sketch, race_sketch) RETURNS race_sketch
	AS 'MODULE_PATHNAME', 'race_minus' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION _race_minus(race_sketch, race_sketch) IS 'implementation of - operator';

CREATE OPERATOR + (
	LEFTARG = race_sketch, RIGHTARG = race_sketch, FUNCTION = _race_plus,
	COMMUTATOR = +
);
COMMENT ON OPERATOR + (race_sketch, race_sketch) IS
	'the sketch of the records of both. Private sketches add noise and costs, and keep the fewer rows or cells. Errors: 22023 for different parameters; 55000 for an exact and a private one';

CREATE OPERATOR - (
	LEFTARG = race_sketch, RIGHTARG = race_sketch, FUNCTION = _race_minus
);
COMMENT ON OPERATOR - (race_sketch, race_sketch) IS
	'an exact sketch without the records of another one, which must be among its own. Errors: 22023 for different parameters, 55000 for private sketches';

CREATE AGGREGATE race_merge(sketch race_sketch) (
	SFUNC = _race_plus, STYPE = race_sketch, SSPACE = 1048576,
	COMBINEFUNC = _race_plus,
	MSFUNC = _race_plus, MINVFUNC = _race_minus,
	MSTYPE = race_sketch, MSSPACE = 1048576,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_merge(race_sketch) IS
	'the sum of all sketches, which are all exact or all private. Private ones add their privacy costs (basic composition). NULLs are ignored. Errors as in +';

CREATE AGGREGATE race_merge_disjoint(sketch race_sketch) (
	SFUNC = _race_plus_disjoint, STYPE = race_sketch, SSPACE = 1048576,
	COMBINEFUNC = _race_plus_disjoint,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_merge_disjoint(race_sketch) IS
	'race_merge of private sketches when no person is in more than one: the cost is the largest of theirs. Errors as in +, 22023 for Laplace with Gaussian noise when neighbors is substitute';
