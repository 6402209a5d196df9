-- ------------------------------------------------------------------------
-- Columns that are alike

CREATE FUNCTION _racepriv._race_whiten_step(internal, "any") RETURNS internal
	AS 'MODULE_PATHNAME', 'race_whiten_step' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION _racepriv._race_whiten_step(internal, "any", "any") RETURNS internal
	AS 'MODULE_PATHNAME', 'race_whiten_step' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION _racepriv._race_whiten_final(internal) RETURNS race_transform
	AS 'MODULE_PATHNAME', 'race_whiten_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION _racepriv._race_whiten_step(internal, "any") IS 'aggregate transition function';
COMMENT ON FUNCTION _racepriv._race_whiten_step(internal, "any", "any") IS 'aggregate transition function';
COMMENT ON FUNCTION _racepriv._race_whiten_final(internal) IS 'aggregate final function';

CREATE AGGREGATE race_whiten(x "any") (
	SFUNC = _racepriv._race_whiten_step, STYPE = internal, FINALFUNC = _racepriv._race_whiten_final, PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_whiten("any") IS
	'the transform for race_params that gives vectors mean 0 and covariance 1, so that distances are Mahalanobis distances (Coleman & Shrivastava 2021, section 7.1). M is lower triangular. Use public data only: the result is as exact as the data, and has no added noise. Few vectors are enough: the correlations are shrunken (Ledoit & Wolf 2022, quadratic-inverse shrinkage), by a share that falls with the number of vectors. A column that is constant, or a linear combination of columns before it, is left out, and a NOTICE says so: M has no row for it. Vectors have up to 361 dimensions. NULLs are left out, and no vectors give NULL. Errors: 22023 when there are fewer than two vectors, when all columns are constant, or when vectors differ in dimensions; 42804 for what is no vector';

CREATE AGGREGATE race_whiten(x "any", label "any") (
	SFUNC = _racepriv._race_whiten_step, STYPE = internal, FINALFUNC = _racepriv._race_whiten_final, PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_whiten("any", "any") IS
	'race_whiten within labels: the covariance is that of vectors around the mean of their label, the same for all labels. Where labels lie apart, distances are then in units of what varies within them. Labels, of any type, are told apart by their text; there may be 1000. Rows with a NULL are left out. Errors: 22023 when no label has two vectors, 54000 for more labels, others as without labels';
