-- ------------------------------------------------------------------------
-- Transforms from moments

CREATE FUNCTION race_whiten_moments(moments race_sketch) RETURNS race_transform
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION race_whiten_moments(race_sketch) IS
	'the transform for race_params that gives columns mean 0 and covariance 1, as race_whiten does: from private moments it is private, and needs no public rows. It comes from the sums and products that the noisy ones most likely come from, so columns that vary less than the noise are taken to vary about as much as it. Errors: 22023 for moments with features; 55000 if no column varies, and for noise shares of which there are too few';

CREATE FUNCTION race_pca_transform(moments race_sketch, components int, standardize boolean DEFAULT false)
	RETURNS race_transform
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION race_pca_transform(race_sketch, int, boolean) IS
	'the transform for race_params to the first principal components (race_pca): distances are those along them. Errors: 22023 for another number of components than there are columns at most; others as in race_pca';

CREATE FUNCTION _racepriv._race_discriminant_moments_step(internal, anyelement, race_sketch) RETURNS internal
	AS 'MODULE_PATHNAME', 'race_discriminant_moments_step' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10;
CREATE FUNCTION _racepriv._race_discriminant_moments_final(internal) RETURNS race_transform
	AS 'MODULE_PATHNAME', 'race_discriminant_moments_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION _racepriv._race_discriminant_moments_step(internal, anyelement, race_sketch) IS 'aggregate transition function';
COMMENT ON FUNCTION _racepriv._race_discriminant_moments_final(internal) IS 'aggregate final function';

CREATE AGGREGATE race_discriminant_moments(label anyelement, moments race_sketch) (
	SFUNC = _racepriv._race_discriminant_moments_step, STYPE = internal,
	FINALFUNC = _racepriv._race_discriminant_moments_final, PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_discriminant_moments(anyelement, race_sketch) IS
	'the transform for race_params to the directions in which classes lie apart (Fisher''s discriminant), as race_discriminant, over one row for each class with its moments: from private moments it is private. It has one direction less than there are classes, at most as many as columns; the variance within classes is 1 in each. Rows with a NULL are left out; no class gives NULL. Errors: 22023 for moments with features or with different parameters; 54000 for more than 100 classes; 55000 if the means of classes do not differ, if no column varies within classes, and for noise shares of which there are too few';
