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

-- ------------------------------------------------------------------------
-- Vectors replaced by what a public linear map makes of them

CREATE FUNCTION race_project(x float8[], matrix float8[], "offset" float8[], radius float8 DEFAULT 'Infinity') RETURNS float8[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION race_project(float8[], float8[], float8[], float8) IS
	'M (x - o), for a matrix M of up to 1024 rows and an offset o, which must be public, as those of a race_transform: for grids, which have no transform of their own, in the few directions that classes differ in. race_suggest proposes them. What is longer than radius is shortened to it: where columns have heavy tails, a few far records would make most of the range. Records and queries must be projected alike. NULL for a vector of another length than the rows of M or with a NULL, so that a release leaves it out. Error 22023 for a bad matrix or offset, or a radius that is not above 0';

-- ------------------------------------------------------------------------
-- Parameters that suit public rows

CREATE TYPE race_suggest_result AS (
	params race_params, rows int, prior text, score float8, score_without_noise float8, statement text, expression text);
COMMENT ON TYPE race_suggest_result IS 'the result of race_suggest';
COMMENT ON COLUMN race_suggest_result.params IS 'the parameters, with bounds a tenth of a range beyond the public rows';
COMMENT ON COLUMN race_suggest_result.rows IS 'the rows of params, for race_privatize and race_release; NULL for a grid, whose cells these choose';
COMMENT ON COLUMN race_suggest_result.prior IS 'the prior that race_classify is best asked with, uniform or counts; NULL without labels';
COMMENT ON COLUMN race_suggest_result.score IS 'what to expect of a release: with labels the share of records that are classified rightly, else the mean logarithm of the probability density';
COMMENT ON COLUMN race_suggest_result.score_without_noise IS 'the same of the exact kernel: what noise and rows cost';
COMMENT ON COLUMN race_suggest_result.statement IS 'the call of race_params that gives params';
COMMENT ON COLUMN race_suggest_result.expression IS 'what the records and the queries must be: x, the vectors as they are; a call of race_warp, where skewed columns are better compared by their places among quantiles; a call of race_project, where a grid in few directions is better than rows, or with a radius where far records are better pulled to a sphere; calls of all of them, where vectors are better replaced by log odds';

CREATE FUNCTION _racepriv._race_suggest_step(internal, "any", float8, float8, bigint) RETURNS internal
	AS 'MODULE_PATHNAME', 'race_suggest_step' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION _racepriv._race_suggest_step(internal, "any", "any", float8, float8, bigint) RETURNS internal
	AS 'MODULE_PATHNAME', 'race_suggest_step' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION _racepriv._race_suggest_final(internal) RETURNS race_suggest_result
	AS 'MODULE_PATHNAME', 'race_suggest_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION _racepriv._race_suggest_step(internal, "any", float8, float8, bigint) IS 'aggregate transition function';
COMMENT ON FUNCTION _racepriv._race_suggest_step(internal, "any", "any", float8, float8, bigint) IS 'aggregate transition function';
COMMENT ON FUNCTION _racepriv._race_suggest_final(internal) IS 'aggregate final function';

CREATE AGGREGATE race_suggest(x "any", epsilon float8, delta float8, records bigint) (
	SFUNC = _racepriv._race_suggest_step, STYPE = internal, FINALFUNC = _racepriv._race_suggest_final, PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_suggest("any", float8, float8, bigint) IS
	'parameters of kernel l2 for a release of vectors that are distributed like the public or made-up vectors x: scales or a whitening transform, bandwidth, power, rows and bounds, by the likelihood of each tenth of the rows given the others, under the noise of a release of so many records with epsilon and delta. Never use private rows: the result is as exact as they are. Of more than 2000 rows a sample is used. Rows with a NULL x are left out. NULL for no rows. Errors: 22023 for fewer than 20 rows, more than 64 dims, numbers beyond 1e50, vectors that differ in dims or are all alike, or epsilon, delta or records that are not the same in all rows; 42804 for what is no vector';

CREATE AGGREGATE race_suggest(x "any", label "any", epsilon float8, delta float8, records bigint) (
	SFUNC = _racepriv._race_suggest_step, STYPE = internal, FINALFUNC = _racepriv._race_suggest_final, PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_suggest("any", "any", float8, float8, bigint) IS
	'the same for a release with a sketch for each label, to classify: by the accuracy with which each tenth of the public rows is classified by the others. Kernels are l2, l1 and angular. Transforms are learned within classes, or keep the directions in which classes differ (Fisher 1936). Where that is better, columns are replaced by their places among their quantiles first (race_warp), or far records are pulled to a sphere (race_project with a radius), or vectors are replaced by log odds: the average of logistic regressions of the columns as they are, of places and of what is pulled (sums of race_project). In 1 to 3 dimensions the release is a grid of what the transform makes of vectors (race_project): then params are those of a grid. See expression. Among choices whose scores differ by luck the one with the likeliest posteriors is taken. The shares of labels must be as in the private table, which has records of all labels together. Rows with a NULL x or label are left out. Further errors: 22023 for one label alone, or more than 32';

-- ------------------------------------------------------------------------
-- Columns replaced by their places among public quantiles

CREATE FUNCTION race_warp(x float8[], knots float8[]) RETURNS float8[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION race_warp(float8[], float8[]) IS
	'each number of x replaced by its place among the knots of its column, from 0 at the first knot and below to n - 1 at the last of n and above: linear between two, the middle of equal ones. knots, {{column 1}, {column 2}, ...}, are 2 to 64 public numbers for each column, in ascending order; race_suggest proposes them. Records and queries must be warped alike. What is not finite remains. NULL for a vector of another length or with a NULL, so that a release leaves it out. Error 22023 for bad knots';

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
