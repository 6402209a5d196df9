-- ------------------------------------------------------------------------
-- Sketches into sketches

CREATE FUNCTION _racepriv._race_plus_disjoint(race_sketch, race_sketch) RETURNS race_sketch
	AS 'MODULE_PATHNAME', 'race_plus_disjoint' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION _racepriv._race_plus_disjoint(race_sketch, race_sketch) IS
	'aggregate transition function';

CREATE FUNCTION _racepriv._race_minus(race_sketch, race_sketch) RETURNS race_sketch
	AS 'MODULE_PATHNAME', 'race_minus' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION _racepriv._race_minus(race_sketch, race_sketch) IS 'implementation of - operator';

CREATE OPERATOR + (
	LEFTARG = race_sketch, RIGHTARG = race_sketch, FUNCTION = _racepriv._race_plus,
	COMMUTATOR = +
);
COMMENT ON OPERATOR + (race_sketch, race_sketch) IS
	'the sketch of the records of both. Private sketches add noise and costs, and keep the fewer rows or cells. Errors: 22023 for different parameters, and for halves of different calls; 55000 for an exact and a private one';

CREATE OPERATOR - (
	LEFTARG = race_sketch, RIGHTARG = race_sketch, FUNCTION = _racepriv._race_minus
);
COMMENT ON OPERATOR - (race_sketch, race_sketch) IS
	'an exact sketch without the records of another one, which must be among its own. Errors: 22023 for different parameters, 55000 for private sketches and halves of race_build_value';

CREATE AGGREGATE race_merge(sketch race_sketch) (
	SFUNC = _racepriv._race_plus, STYPE = race_sketch, SSPACE = 1048576,
	COMBINEFUNC = _racepriv._race_plus,
	MSFUNC = _racepriv._race_plus, MINVFUNC = _racepriv._race_minus,
	MSTYPE = race_sketch, MSSPACE = 1048576,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_merge(race_sketch) IS
	'the sum of all sketches, which are all exact or all private. Private ones add their privacy costs (basic composition). NULLs are ignored. Errors as in +';

CREATE AGGREGATE race_merge_disjoint(sketch race_sketch) (
	SFUNC = _racepriv._race_plus_disjoint, STYPE = race_sketch, SSPACE = 1048576,
	COMBINEFUNC = _racepriv._race_plus_disjoint,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_merge_disjoint(race_sketch) IS
	'as race_merge, for private sketches when no person has records in more than one of them: the privacy cost is then the largest of theirs (parallel composition). Errors as in +, and 22023 for sketches with Laplace and with Gaussian noise when neighbors is substitute, because a record that moves from one to the other costs more';
