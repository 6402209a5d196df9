-- ------------------------------------------------------------------------
-- Which class is a query from?  The highest score wins, among equals the class
-- with more records, then the smaller label.

CREATE FUNCTION _race_classify_step(internal, anyelement, race_sketch, VARIADIC "any") RETURNS internal
	AS 'MODULE_PATHNAME', 'race_classify_step' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION _race_classify_step(internal, anyelement, race_sketch, "any") IS 'aggregate transition function';
CREATE FUNCTION _race_classify_final(internal, anyelement, race_sketch, VARIADIC "any") RETURNS anyelement
	AS 'MODULE_PATHNAME', 'race_classify_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION _race_classify_final(internal, anyelement, race_sketch, "any") IS 'aggregate final function';
CREATE FUNCTION _race_posterior_final(internal, anyelement, race_sketch, VARIADIC "any") RETURNS jsonb
	AS 'MODULE_PATHNAME', 'race_posterior_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION _race_posterior_final(internal, anyelement, race_sketch, "any") IS 'aggregate final function';
-- The arguments after the sketch are the query and, if it is not "uniform", the prior.

CREATE AGGREGATE race_classify(label anyelement, sketch race_sketch, VARIADIC "any") (
	SFUNC = _race_classify_step, STYPE = internal,
	FINALFUNC = _race_classify_final, FINALFUNC_EXTRA, PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_classify(anyelement, race_sketch, "any") IS
	'the label of the most likely class at q, over rows (label, sketch, q [, prior]), one for each class. prior: uniform (default) or counts. Exact moments beside private ones of a label are of public rows';

CREATE AGGREGATE race_posterior(label anyelement, sketch race_sketch, VARIADIC "any") (
	SFUNC = _race_classify_step, STYPE = internal,
	FINALFUNC = _race_posterior_final, FINALFUNC_EXTRA, PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_posterior(anyelement, race_sketch, "any") IS
	'the probability of each class given q as {label: probability}, over rows (label, sketch, q [, prior]), with the priors of race_classify. Where all densities are zero, it is the prior';
