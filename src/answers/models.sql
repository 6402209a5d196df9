-- ------------------------------------------------------------------------
-- How alike are the records of two sketches?

CREATE TYPE race_distance_result AS (
	distance float8, squared float8, standard_error float8, p_value float8, similarity float8);
COMMENT ON TYPE race_distance_result IS 'the result of race_distance';
COMMENT ON COLUMN race_distance_result.distance IS 'the root of squared, or 0 where that is negative';
COMMENT ON COLUMN race_distance_result.squared IS 'the squared distance, an unbiased estimate, which may be negative: the mean kernel of two records of a, plus that of two of b, less twice that of one of each';
COMMENT ON COLUMN race_distance_result.standard_error IS 'the standard error of squared; Infinity where a count is within its noise, or below 2';
COMMENT ON COLUMN race_distance_result.p_value IS 'the probability of such a distance or more if both are drawn from one population; 1 where a count is within its noise, or below 2';
COMMENT ON COLUMN race_distance_result.similarity IS 'the mean kernel of a record of a and one of b, over all pairs';

CREATE FUNCTION race_distance(a race_sketch, b race_sketch) RETURNS race_distance_result
	AS 'MODULE_PATHNAME', 'race_distance' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION race_distance(race_sketch, race_sketch) IS
	'the maximum mean discrepancy of two sketches with noise of their own, and a test of whether both are drawn from one population (Gretton et al. 2012). Errors: 22023 different parameters, 55000 an exact and a private sketch';

-- ------------------------------------------------------------------------
-- Surrogate losses

CREATE FUNCTION race_loss(sketch race_sketch, theta float8[]) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION race_loss(race_sketch, float8[]) IS
	'the mean surrogate loss of the records for a linear model with coefficients theta (Coleman & Shrivastava 2021, section 4). Errors: 22023 kernels other than least_squares and margin, or a theta that is longer than query_radius allows';

CREATE TYPE race_minimize_result AS (x float8[], value float8);
COMMENT ON TYPE race_minimize_result IS 'the result of race_minimize';
COMMENT ON COLUMN race_minimize_result.x IS 'the coefficients theta';
COMMENT ON COLUMN race_minimize_result.value IS 'race_loss there';

CREATE FUNCTION race_minimize(sketch race_sketch) RETURNS race_minimize_result
	AS 'MODULE_PATHNAME', 'race_minimize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000000;
COMMENT ON FUNCTION race_minimize(race_sketch) IS
	'the coefficients theta of the least race_loss, by a search without derivatives (Hooke & Jeeves 1961) within query_radius. Ask a fitted sketch. Error 22023 for kernels other than least_squares and margin';

-- ------------------------------------------------------------------------
-- Where the kernel density is highest.

CREATE TYPE race_modes_result AS (x float8[], kernel_density float8, prominence float8);
COMMENT ON TYPE race_modes_result IS 'a row of the result of race_modes';
COMMENT ON COLUMN race_modes_result.x IS 'the mode, of a kernel of vectors by itself; else NULL';
COMMENT ON COLUMN race_modes_result.kernel_density IS 'the kernel density there, as race_kde';
COMMENT ON COLUMN race_modes_result.prominence IS 'the kernel density less that of the highest saddle on the way to a denser mode; of the densest mode its kernel density';

CREATE FUNCTION race_modes(sketch race_sketch, max int DEFAULT 10, lower float8[] DEFAULT NULL, upper float8[] DEFAULT NULL)
	RETURNS SETOF race_modes_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000000 ROWS 10;
COMMENT ON FUNCTION race_modes(race_sketch, int, float8[], float8[]) IS
	'local maxima of the kernel density between lower and upper (NULL: those of the parameters or model), the most prominent first, at most max (1 to 100). Errors: 22023 for bounds or max, 55000 without a model';

-- ------------------------------------------------------------------------
-- Quantiles of a column, from the model of a sketch.

CREATE TYPE race_quantile_result AS (p float8, value float8, standard_error float8);
COMMENT ON TYPE race_quantile_result IS 'a row of the result of race_quantile';
COMMENT ON COLUMN race_quantile_result.p IS 'the share of records that are below the value';
COMMENT ON COLUMN race_quantile_result.value IS 'the quantile; NULL if p is NULL';
COMMENT ON COLUMN race_quantile_result.standard_error IS 'of the value, for a grid in one dimension, from the noise of the counts of records before nodes; NULL for others';

CREATE FUNCTION race_quantile(sketch race_sketch, p float8[], "column" int DEFAULT 1)
	RETURNS SETOF race_quantile_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000 ROWS 10;
COMMENT ON FUNCTION race_quantile(race_sketch, float8[], int) IS
	'quantiles of a column of the records, which is counted from 1 on, from the fitted model, in the order of p. Errors: 22003 p outside of 0 to 1, 22023 a column that is no number, 55000 no model';

-- ------------------------------------------------------------------------
-- Records like those of a sketch, drawn from its model.

CREATE TYPE race_sample_result AS (x float8[], record text);
COMMENT ON TYPE race_sample_result IS 'a row of the result of race_sample';
COMMENT ON COLUMN race_sample_result.x IS 'the record, of a kernel of vectors by itself; else NULL';
COMMENT ON COLUMN race_sample_result.record IS 'the record as text, of other kernels, as PostgreSQL writes the records that race_fit was given; else NULL';

CREATE FUNCTION race_sample(sketch race_sketch, n int, seed bigint DEFAULT NULL)
	RETURNS SETOF race_sample_result
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL SAFE COST 100000 ROWS 1000;
COMMENT ON FUNCTION race_sample(race_sketch, int, bigint) IS
	'n records drawn from the fitted model of a sketch, moved at random by at most half a bandwidth. The same seed gives the same records; NULL others each time. Errors: 55000 no model, 22023 a negative n';

CREATE FUNCTION race_sample(base anyelement, sketch race_sketch, n int, seed bigint DEFAULT NULL)
	RETURNS SETOF anyelement
	AS 'MODULE_PATHNAME', 'race_sample_base'
	LANGUAGE C VOLATILE PARALLEL SAFE COST 100000 ROWS 1000;
COMMENT ON FUNCTION race_sample(anyelement, race_sketch, int, bigint) IS
	'race_sample as rows of the type of base, as in race_sample(NULL::patients, sketch, 1000); further columns are those of base. Errors: 42804 no row type or too few columns, others as race_sample and the input functions of the types';

-- ------------------------------------------------------------------------
-- How typical is a record among those of the sketch?

CREATE TYPE race_typicality_result AS (typicality float8, share float8, kernel_density float8);
COMMENT ON TYPE race_typicality_result IS 'the result of race_typicality';
COMMENT ON COLUMN race_typicality_result.typicality IS 'the kernel density at q over its mean at the records, each without its own share: 1 is as typical as the average record, near 0 an anomaly (Luo & Shrivastava 2018)';
COMMENT ON COLUMN race_typicality_result.share IS 'the share of records whose kernel density is below that at q, from 0 (less typical than all) to 1, by the points of the fitted model; NULL without a model';
COMMENT ON COLUMN race_typicality_result.kernel_density IS 'the kernel density at q, as race_kde';

CREATE FUNCTION race_typicality(sketch race_sketch, q "any") RETURNS race_typicality_result
	AS 'MODULE_PATHNAME', 'race_typicality' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION race_typicality(race_sketch, "any") IS
	'how typical a record q is among those of the sketch: an anomaly has a small share or typicality. Errors as in race_kde';
