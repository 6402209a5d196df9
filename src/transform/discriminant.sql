-- ------------------------------------------------------------------------
-- Directions that tell labels apart

CREATE FUNCTION _racepriv._race_discriminant_step(internal, "any", "any") RETURNS internal
	AS 'MODULE_PATHNAME', 'race_discriminant_step' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION _racepriv._race_discriminant_final(internal) RETURNS race_transform
	AS 'MODULE_PATHNAME', 'race_discriminant_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION _racepriv._race_discriminant_step(internal, "any", "any") IS 'aggregate transition function';
COMMENT ON FUNCTION _racepriv._race_discriminant_final(internal) IS 'aggregate final function';

CREATE AGGREGATE race_discriminant(label "any", x "any") (
	SFUNC = _racepriv._race_discriminant_step, STYPE = internal, FINALFUNC = _racepriv._race_discriminant_final, PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_discriminant("any", "any") IS
	'the transform for race_params that keeps what tells labels apart: Fisher''s discriminant directions (Fisher 1936, Rao 1948), one for two labels, at most k - 1 for k, those that tell most first. Along each the standard deviation within labels is 1; all directions are uncorrelated within labels. For the kernels of race_classify. Use public data only: the result is as exact as the data, and has no added noise. The covariance within labels is that of race_whiten(x, label): shrunken, and without columns that are constant within each label, of which a NOTICE tells; a column that tells labels apart without any error is among those. Labels are of any type, up to 1000, and told apart by their text. Rows with a NULL are left out, and no rows give NULL. Errors: 22023 for one label alone, when no label has two vectors, or when all labels have the same mean; 54000 for more labels; others as in race_whiten';
