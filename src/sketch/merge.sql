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
	'the sketch of the records of both; two private sketches add their noise and their privacy costs. Errors: 22023 for different parameters (private: other than rows), 55000 for an exact and a private one';

CREATE OPERATOR - (
	LEFTARG = race_sketch, RIGHTARG = race_sketch, FUNCTION = _race_minus
);
COMMENT ON OPERATOR - (race_sketch, race_sketch) IS
	'an exact sketch without the records of another, which must be among its own; errors: 22023 for different parameters, 55000 for private sketches';

CREATE AGGREGATE race_merge(sketch race_sketch) (
	SFUNC = _race_plus, STYPE = race_sketch, SSPACE = 1048576,
	COMBINEFUNC = _race_plus,
	MSFUNC = _race_plus, MINVFUNC = _race_minus,
	MSTYPE = race_sketch, MSSPACE = 1048576,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_merge(race_sketch) IS
	'the sum of all sketches, all exact or all private; private ones add their privacy costs (basic composition). NULLs are ignored; errors as in +';

CREATE AGGREGATE race_merge_disjoint(sketch race_sketch) (
	SFUNC = _race_plus_disjoint, STYPE = race_sketch, SSPACE = 1048576,
	COMBINEFUNC = _race_plus_disjoint,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_merge_disjoint(race_sketch) IS
	'race_merge when no person has records in more than one of the sketches: the privacy cost is then the largest of theirs (parallel composition). Error 22023 too for parts with Laplace and with Gaussian noise when neighbors are substitute: a record that moves between them costs more';
