-- ------------------------------------------------------------------------
-- Which class is a query from?  The highest score wins, among equals the class
-- with more records, then the smaller label.

CREATE FUNCTION _racepriv._race_classify_step(internal, anyelement, race_sketch, "any") RETURNS internal
	AS 'MODULE_PATHNAME', 'race_classify_step' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
CREATE FUNCTION _racepriv._race_classify_step(internal, anyelement, race_sketch, "any", text) RETURNS internal
	AS 'MODULE_PATHNAME', 'race_classify_step' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
CREATE FUNCTION _racepriv._race_classify_final(internal, anyelement, race_sketch, "any") RETURNS anyelement
	AS 'MODULE_PATHNAME', 'race_classify_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION _racepriv._race_classify_final(internal, anyelement, race_sketch, "any", text) RETURNS anyelement
	AS 'MODULE_PATHNAME', 'race_classify_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION _racepriv._race_posterior_final(internal, anyelement, race_sketch, "any") RETURNS jsonb
	AS 'MODULE_PATHNAME', 'race_posterior_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION _racepriv._race_posterior_final(internal, anyelement, race_sketch, "any", text) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'race_posterior_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION _racepriv._race_score_final(internal, anyelement, race_sketch, "any") RETURNS float8
	AS 'MODULE_PATHNAME', 'race_score_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION _racepriv._race_score_final(internal, anyelement, race_sketch, "any", text) RETURNS float8
	AS 'MODULE_PATHNAME', 'race_score_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION _racepriv._race_score_final(internal, anyelement, race_sketch, "any", text) IS 'aggregate final function';
COMMENT ON FUNCTION _racepriv._race_score_final(internal, anyelement, race_sketch, "any") IS 'aggregate final function';
COMMENT ON FUNCTION _racepriv._race_classify_step(internal, anyelement, race_sketch, "any") IS 'aggregate transition function';
COMMENT ON FUNCTION _racepriv._race_classify_step(internal, anyelement, race_sketch, "any", text) IS 'aggregate transition function';
COMMENT ON FUNCTION _racepriv._race_classify_final(internal, anyelement, race_sketch, "any") IS 'aggregate final function';
COMMENT ON FUNCTION _racepriv._race_classify_final(internal, anyelement, race_sketch, "any", text) IS 'aggregate final function';
COMMENT ON FUNCTION _racepriv._race_posterior_final(internal, anyelement, race_sketch, "any") IS 'aggregate final function';
COMMENT ON FUNCTION _racepriv._race_posterior_final(internal, anyelement, race_sketch, "any", text) IS 'aggregate final function';

CREATE AGGREGATE race_classify(label anyelement, sketch race_sketch, q "any") (
	SFUNC = _racepriv._race_classify_step, STYPE = internal,
	FINALFUNC = _racepriv._race_classify_final, FINALFUNC_EXTRA, PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_classify(anyelement, race_sketch, "any") IS
	'the label of the class with the highest density at q (maximum likelihood), over one row for each class. Rows with a NULL are left out. No class gives NULL';

CREATE AGGREGATE race_classify(label anyelement, sketch race_sketch, q "any", prior text) (
	SFUNC = _racepriv._race_classify_step, STYPE = internal,
	FINALFUNC = _racepriv._race_classify_final, FINALFUNC_EXTRA, PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_classify(anyelement, race_sketch, "any", text) IS
	'race_classify with a prior: uniform (maximum likelihood), or counts (maximum a posteriori, with the noisy counts as the prior). Flat kernels would let large classes win everywhere. So with counts, fitted sketches of vectors are asked for their model alone, with the kernel to a power of 8 at least, and other densities of l2 alone are taken to a power, which follows from how high they are at their own records (race_typicality); where noise hides that of all classes, to the highest power that may be, which leaves the prior little to say. Sketches with race_score_params, which say how frequent scores are, are asked as they are';

CREATE AGGREGATE race_posterior(label anyelement, sketch race_sketch, q "any") (
	SFUNC = _racepriv._race_classify_step, STYPE = internal,
	FINALFUNC = _racepriv._race_posterior_final, FINALFUNC_EXTRA, PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_posterior(anyelement, race_sketch, "any") IS
	'the probability of each class given q, as {label: probability}, over one row for each class, with a uniform prior. Where all densities are zero, it is the prior';

CREATE AGGREGATE race_posterior(label anyelement, sketch race_sketch, q "any", prior text) (
	SFUNC = _racepriv._race_classify_step, STYPE = internal,
	FINALFUNC = _racepriv._race_posterior_final, FINALFUNC_EXTRA, PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_posterior(anyelement, race_sketch, "any", text) IS
	'race_posterior with a prior: uniform, or counts (the noisy counts, with densities as race_classify takes them)';

CREATE AGGREGATE race_score(label anyelement, sketch race_sketch, q "any") (
	SFUNC = _racepriv._race_classify_step, STYPE = internal,
	FINALFUNC = _racepriv._race_score_final, FINALFUNC_EXTRA, PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_score(anyelement, race_sketch, "any") IS
	'what race_classify says and how sure it is, as one number to calibrate by, over one row for each of K classes: 2 i + lead, where i = 0 ... K - 1 is the place of the best label in the order of labels, and lead, from 0 to 1, is L / (L + 1/4) for the logarithm L of best over second best density. Sketches of this number, one for each class, say how many records of each class have it; so race_posterior of them is calibrated. Sketches of private records cost epsilon again. No class gives NULL';

CREATE AGGREGATE race_score(label anyelement, sketch race_sketch, q "any", prior text) (
	SFUNC = _racepriv._race_classify_step, STYPE = internal,
	FINALFUNC = _racepriv._race_score_final, FINALFUNC_EXTRA, PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_score(anyelement, race_sketch, "any", text) IS
	'race_score with a prior: with counts the best class is that of race_classify with this prior, and L is on the scale of the densities. A release that is calibrated has these scores';

CREATE FUNCTION _racepriv._race_score_of(sketches race_sketch[], q "any") RETURNS float8
	AS 'MODULE_PATHNAME', 'race_score_of' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION _racepriv._race_score_of(race_sketch[], "any") IS
	'race_score with prior counts of classes in the order of a constant array';

CREATE FUNCTION _racepriv._race_score_params(classes int, cells int) RETURNS race_params
	LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	most CONSTANT int := 100;
BEGIN
	IF classes < 2 OR classes > most THEN
		RAISE EXCEPTION 'scores are of 2 to % classes', most USING ERRCODE = 'invalid_parameter_value';
	END IF;
	RETURN _racepriv._race_params_in(textout(format('l2(dims=1, bandwidth=0.2, power=4, sequence=grid, lower={0}, upper={%s}, cells={%s})',
		2 * classes - 1, cells * (2 * classes - 1))));
END $$;
COMMENT ON FUNCTION _racepriv._race_score_params(int, int) IS
	'race_score_params with so many cells of a lead';

CREATE FUNCTION race_score_params(classes int) RETURNS race_params
	LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT _racepriv._race_score_params(classes, CASE WHEN classes > 4 THEN 10 ELSE 20 END)
$$;
COMMENT ON FUNCTION race_score_params(int) IS
	'parameters for sketches of race_score of so many classes, 2 to 100: a grid over 0 to 2 classes - 1, with cells for scores without noise, 20 of a lead, and 10 for 5 classes and more; releases that are calibrated have 25 divided by the number of classes, and at least 5, with linear shares between them; error 22023 for other numbers';
