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
