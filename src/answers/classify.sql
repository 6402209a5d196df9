-- ------------------------------------------------------------------------
-- Which class is a query from?  The highest score wins, among equals the class
-- with more records, then the smaller label.

CREATE FUNCTION _racepriv._race_classify_step(internal, anyelement, race_sketch, VARIADIC "any") RETURNS internal
	AS 'MODULE_PATHNAME', 'race_classify_step' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION _racepriv._race_classify_step(internal, anyelement, race_sketch, "any") IS 'aggregate transition function';
CREATE FUNCTION _racepriv._race_classify_final(internal, anyelement, race_sketch, VARIADIC "any") RETURNS anyelement
	AS 'MODULE_PATHNAME', 'race_classify_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION _racepriv._race_classify_final(internal, anyelement, race_sketch, "any") IS 'aggregate final function';
CREATE FUNCTION _racepriv._race_posterior_final(internal, anyelement, race_sketch, VARIADIC "any") RETURNS jsonb
	AS 'MODULE_PATHNAME', 'race_posterior_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION _racepriv._race_posterior_final(internal, anyelement, race_sketch, "any") IS 'aggregate final function';
-- The arguments after the sketch are the query and, if it is not "uniform", the prior.

CREATE AGGREGATE race_classify(label anyelement, sketch race_sketch, VARIADIC "any") (
	SFUNC = _racepriv._race_classify_step, STYPE = internal,
	FINALFUNC = _racepriv._race_classify_final, FINALFUNC_EXTRA, PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_classify(anyelement, race_sketch, "any") IS
	'the label of the most likely class at q, over rows (label, sketch, q [, prior]), one for each class. prior: uniform (default) or counts. Exact moments beside private ones of a label are of public rows';

CREATE AGGREGATE race_posterior(label anyelement, sketch race_sketch, VARIADIC "any") (
	SFUNC = _racepriv._race_classify_step, STYPE = internal,
	FINALFUNC = _racepriv._race_posterior_final, FINALFUNC_EXTRA, PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_posterior(anyelement, race_sketch, "any") IS
	'the probability of each class given q as {label: probability}, over rows (label, sketch, q [, prior]), with the priors of race_classify. Where all densities are zero, it is the prior';

CREATE FUNCTION _racepriv._race_score_of(sketches race_sketch[], q "any") RETURNS float8
	AS 'MODULE_PATHNAME', 'race_score_of' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION _racepriv._race_score_of(race_sketch[], "any") IS
	'the score of q by classes in the order of a constant array, with prior counts: 2 times the number of the likeliest pair of classes, and from 0 to 1 how far the second is ahead';
