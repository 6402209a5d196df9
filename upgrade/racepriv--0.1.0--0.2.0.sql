\echo Use "ALTER EXTENSION racepriv UPDATE" to load this file. \quit
-- Made by upgrade/make_upgrade: make upgrade-script

-- Checks of limits and costs compare numeric with numeric, so that no operator that somebody
-- has made in this schema is preferred.
-- covers: TABLE race_budgets epsilon_limit
-- covers: TABLE race_budgets delta_limit
-- covers: TABLE race_charges epsilon
-- covers: TABLE race_charges delta
-- covers: TABLE race_charges rho
ALTER TABLE race_budgets
	DROP CONSTRAINT race_budgets_epsilon_limit_check,
	DROP CONSTRAINT race_budgets_delta_limit_check,
	ADD CONSTRAINT race_budgets_epsilon_limit_check CHECK (epsilon_limit > 0.0 AND epsilon_limit <= 1e15),
	ADD CONSTRAINT race_budgets_delta_limit_check CHECK (delta_limit >= 0.0 AND delta_limit < 1.0);
ALTER TABLE race_charges
	DROP CONSTRAINT race_charges_epsilon_check,
	DROP CONSTRAINT race_charges_delta_check,
	DROP CONSTRAINT race_charges_rho_check,
	ADD CONSTRAINT race_charges_epsilon_check CHECK (epsilon >= 0.0),
	ADD CONSTRAINT race_charges_delta_check CHECK (delta >= 0.0),
	ADD CONSTRAINT race_charges_rho_check CHECK (rho >= 0.0);
-- An untyped value in a question is a sketch, not moments.
-- covers: TYPE race_sketch
UPDATE pg_catalog.pg_type SET typcategory = 'r', typispreferred = true
	WHERE oid OPERATOR(pg_catalog.=) '@extschema@.race_sketch'::pg_catalog.regtype::pg_catalog.oid;
-- A release has sketches or moments.
-- covers: TABLE race_releases sketch
ALTER TABLE race_releases ALTER COLUMN sketch DROP NOT NULL;

-- These are dropped, and made anew with other arguments or results.  What roles may do with
-- them is kept.
DO $$
DECLARE
	path CONSTANT text := pg_catalog.current_setting('search_path');
BEGIN
	PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
	PERFORM set_config('racepriv_upgrade.rights', (
		SELECT coalesce(jsonb_agg(jsonb_build_object('name', p.proname, 'grantee', a.grantee::regrole::text,
			'option', a.is_grantable)), '[]')::text
		FROM pg_proc p, aclexplode(p.proacl) a
		WHERE p.pronamespace = '@extschema@'::regnamespace AND p.proname IN ('_race_last_request', '_race_request', 'race_params', 'race_release')
			AND a.grantee NOT IN (0, p.proowner)), true);
	PERFORM set_config('search_path', path, true);
END $$;
DROP PROCEDURE race_release(name text, dataset text, params race_params, expression text, epsilon float8, delta float8, rows int, label text, labels text[], grid boolean, fit boolean, value text, value_lower float8, value_upper float8);
DROP FUNCTION _race_last_request(name text, OUT version int, OUT dataset text, OUT params race_params, OUT expression text, OUT epsilon float8, OUT delta float8, OUT rows int, OUT label text, OUT labels text[], OUT fit boolean, OUT value text, OUT value_lower float8, OUT value_upper float8);
DROP FUNCTION _race_request(dataset text, params race_params, expression text, epsilon float8, delta float8, rows int, label text, labels text[], fit boolean, value text, value_lower float8, value_upper float8);
DROP FUNCTION race_params(kernel text, dims int, bandwidth float8, power int, rows int, range int, seed bigint, sequence text, rehash text, bandwidths float8[], lower float8[], upper float8[], transform race_transform, cells float8[], nulls text, mixture float8[]);

CREATE FUNCTION race_params(
	kernel text, dims int DEFAULT NULL, bandwidth float8 DEFAULT 1,
	power int DEFAULT 1, rows int DEFAULT 1024, range int DEFAULT 1024,
	seed bigint DEFAULT 0, sequence text DEFAULT 'auto',
	rehash text DEFAULT 'auto', bandwidths float8[] DEFAULT NULL,
	lower float8[] DEFAULT NULL, upper float8[] DEFAULT NULL,
	transform race_transform DEFAULT NULL, cells float8[] DEFAULT NULL,
	nulls text DEFAULT NULL, mixture float8[] DEFAULT NULL,
	radius float8 DEFAULT NULL, query_radius float8 DEFAULT NULL)
	RETURNS race_params AS 'MODULE_PATHNAME', 'race_params_make'
	LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION race_params(text, int, float8, int, int, int, bigint, text, text, float8[], float8[], float8[], race_transform, float8[], text, float8[], float8, float8) IS
	'the parameters of a sketch. kernel: l2, l1 or angular for vectors, jaccard for sets, match for rows of categories, least_squares or margin for a loss. dims: the length of a vector or row; sets have none. bandwidth: in units of the data (l2, l1). power: the kernel is taken to this power. rows: R, at least 1. range: W counters a row, at least 2. seed: of the row functions. sequence: sobol (rows that balance each other, up to 21 numbers a row), orthogonal (projections at right angles, for more numbers; l2 and angular), structured (the same by fast Hadamard transforms, d log d for d rows; Andoni et al. 2015, Choromanski et al. 2017), partition (jaccard: rows share the elements of a set, many times as fast for sets of a hundred elements and more), grouped (jaccard: eight rows share a random order of elements, twice to three times as fast for sets of ten elements and more), balanced (match, by itself, power 1 or 2: each row has another column, or another pair of columns, and all rows have all; the kernel is the share of columns or pairs in which records are the same), independent, or auto: the first that can be, and structured from 256 numbers on. rehash: fold (l2 with power 1: code mod range, which adds less than 7.5e-4 of the kernel up to range / 4 bandwidths away, for ranges from 16 on, and more beyond; angular with 2^power <= range: exact), multilinear (collisions are corrected in estimates), or auto. bandwidths: a factor of bandwidth for each column (l2, l1). lower, upper: public bounds that vectors are clipped to first. transform: compare M (x - o), from public data (l2, angular). sequence grid: one row whose counters are the nodes of a grid between the bounds, over which each record is split linearly (l2 and l1 by themselves, up to 3 dims, with finite bounds and without a transform); rows and range follow from it. cells: of a grid, how many along each axis, else small parts of a bandwidth. nulls: what a NULL in a row of categories is (match): category, one more category, which a NULL in a query asks for; different, one that equals nothing, neither a NULL in a query nor any other; without it a NULL is an error. mixture: rows {factor, weight}, up to 16; each row of the sketch has one of the bandwidths factor * bandwidth, as often as the weight says, so that the kernel is the weighted mean of the kernels with these bandwidths, each taken to the power (l2, l1; Coleman & Shrivastava 2021, section 7.1). radius, query_radius: of the surrogate losses least_squares, of records {x ..., y}, and margin, of records {x ..., label} with a label above 0 or not (section 4). Records are clipped to the public radius; theta, for least_squares {theta ..., -1}, must be shorter than query_radius (default: the root of dims, enough for coefficients between -1 and 1); their range is 2^power, and the power up to 16, of least_squares at least 2. race_loss asks them; other questions take the records for vectors of the unit sphere, compared by their angle. NULL if an argument before bandwidths is NULL, but for dims. Error 22023 outside the limits';

CREATE FUNCTION _race_params_counters(race_params) RETURNS bigint
	AS 'MODULE_PATHNAME', 'race_params_counters' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION _race_params_counters(race_params) IS
	'how many counters a sketch with these parameters has; error 22023 if they do not state dims';

CREATE FUNCTION race_moment_params(
	lower float8[], upper float8[], norm float8 DEFAULT 0, features int DEFAULT 0,
	targets int DEFAULT 1, bandwidth float8 DEFAULT 1, seed bigint DEFAULT 0,
	sequence text DEFAULT 'auto', clip text DEFAULT 'auto')
	RETURNS race_params AS 'MODULE_PATHNAME'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION race_moment_params(float8[], float8[], float8, int, int, float8, bigint, text, text) IS
	'parameters for race_moments: records are arrays of as many numbers as there are bounds. lower, upper: public bounds of each column, which values are clipped to, and which are scaled to -1 and 1. norm: a record, which is 1 and its scaled columns, is multiplied by a factor so that its norm is at most this: it weighs less, and there is less noise; 0 stands for 1, the norm of the 1 alone, so that all records have the same norm, which is best for regressions; with the root of columns + 1, and targets 0, no record changes, so that means and covariances are those of the table. features: that many random Fourier features of all columns but the targets, beside the columns, for regressions that are not linear (Rahimi & Recht 2007); bandwidth: that of their Gaussian kernel, in scaled columns; seed and sequence (independent, sobol, orthogonal, auto): how they are drawn. These three are for features only. targets: that many last columns are scaled to 2 2/3 times as much, because regressions that explain them have less noise then; to find its factor, a record counts as if its targets were 0.35 of that at least. clip: norm, the Euclidean one, or absolute, the root of half of the sum of squares and the square of the sum of absolute values of a record, for Laplace noise: with more than 255 columns it halves pure noise (delta 0), and makes other noise larger; auto is norm, but absolute in race_release where there is Laplace noise. Error 22023 outside the limits';

CREATE TYPE race_record;

CREATE FUNCTION _race_record_in(cstring) RETURNS race_record
	AS 'MODULE_PATHNAME', 'race_record_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION _race_record_out(race_record) RETURNS cstring
	AS 'MODULE_PATHNAME', 'race_record_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION _race_record_recv(internal) RETURNS race_record
	AS 'MODULE_PATHNAME', 'race_record_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION _race_record_send(race_record) RETURNS bytea
	AS 'MODULE_PATHNAME', 'race_record_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE race_record (
	INPUT = _race_record_in, OUTPUT = _race_record_out,
	RECEIVE = _race_record_recv, SEND = _race_record_send,
	INTERNALLENGTH = VARIABLE, ALIGNMENT = double, STORAGE = extended
);

COMMENT ON TYPE race_record IS
	'a record as it is hashed: numbers, and elements as 64 bits each. race_record makes it, race_build_records counts it. It is as private as the record. The text form is \x and hexadecimal digits';

COMMENT ON FUNCTION _race_record_in(cstring) IS 'I/O';

COMMENT ON FUNCTION _race_record_out(race_record) IS 'I/O';

COMMENT ON FUNCTION _race_record_recv(internal) IS 'I/O';

COMMENT ON FUNCTION _race_record_send(race_record) IS 'I/O';

CREATE FUNCTION race_record(x "any") RETURNS race_record
	AS 'MODULE_PATHNAME', 'race_record_of_vector' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION race_record("any") IS
	'a vector as it is hashed, for all aggregates of race_record. It is as private as x. Errors: 42804 for what is not a vector, 22023 for NULL elements, NaN, infinities and an empty array';

COMMENT ON TYPE race_sketch IS
	'a RACE sketch of a table of records (Coleman & Shrivastava, CCS 2021). It is exact while it is built, and private after race_privatize. An exact one is stored, sent and printed in room that is proportional to its counters other than 0, a private one in that of all counters. The text form is base64; \x and hexadecimal digits, which older versions wrote, are read';

COMMENT ON FUNCTION race_params(race_sketch) IS
	'the parameters of a sketch. rows is the number of rows that race_privatize kept';

CREATE FUNCTION race_record(params race_params, x "any") RETURNS race_record
	AS 'MODULE_PATHNAME', 'race_record_make' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;

COMMENT ON FUNCTION race_record(race_params, "any") IS
	'x as it is hashed, for race_build_records: so that engines that split aggregates over servers, such as Citus, push it down. It is as private as x. Errors as in race_add, and 54000 beyond 256 MB';

CREATE FUNCTION _race_build_step(race_sketch, race_params, race_record) RETURNS race_sketch
	AS 'MODULE_PATHNAME', 'race_build_record_step' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 50;

COMMENT ON FUNCTION _race_build_step(race_sketch, race_params, race_record) IS
	'aggregate transition function';

CREATE FUNCTION _race_build_undo(race_sketch, race_params, race_record) RETURNS race_sketch
	AS 'MODULE_PATHNAME', 'race_build_record_undo' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 50;

COMMENT ON FUNCTION _race_build_undo(race_sketch, race_params, race_record) IS
	'aggregate inverse transition function';

CREATE AGGREGATE race_build_records(params race_params, record race_record) (
	SFUNC = _race_build_step, STYPE = race_sketch, SSPACE = 1048576,
	COMBINEFUNC = _race_plus,
	MSFUNC = _race_build_step, MINVFUNC = _race_build_undo,
	MSTYPE = race_sketch, MSSPACE = 1048576,
	PARALLEL = SAFE
);

COMMENT ON AGGREGATE race_build_records(race_params, race_record) IS
	'the same sketch, of records that race_record has read with the same parameters: race_build_records(params, race_record(params, x)) is race_build(params, x). All types are exact, so that Citus builds where the rows are. Errors: 22004 for NULL params; 22023 for other parameters, as far as records show them';

COMMENT ON OPERATOR + (race_sketch, race_sketch) IS
	'the sketch of the records of both. Two private sketches add their noise and their privacy costs. Errors: 22023 for different parameters (private sketches may differ in rows, and private grids in cells that are halves of each other: the sum has the fewer of both), 55000 for an exact and a private one';

CREATE TYPE race_moments;

CREATE FUNCTION _race_moments_in(cstring) RETURNS race_moments
	AS 'MODULE_PATHNAME', 'race_moments_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION _race_moments_out(race_moments) RETURNS cstring
	AS 'MODULE_PATHNAME', 'race_sketch_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION _race_moments_recv(internal) RETURNS race_moments
	AS 'MODULE_PATHNAME', 'race_moments_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION _race_moments_send(race_moments) RETURNS bytea
	AS 'MODULE_PATHNAME', 'race_sketch_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE race_moments (
	INPUT = _race_moments_in, OUTPUT = _race_moments_out,
	RECEIVE = _race_moments_recv, SEND = _race_moments_send,
	INTERNALLENGTH = VARIABLE, ALIGNMENT = double, STORAGE = external,
	CATEGORY = 'r'
);

COMMENT ON TYPE race_moments IS
	'count, sums and products of the columns of a table, within public bounds: what linear regression, covariance, principal components and linear discriminants are computed from. It is exact while it is built, and private after race_privatize. The text form is base64; \x and hexadecimal digits are read, too';

COMMENT ON FUNCTION _race_moments_in(cstring) IS 'I/O';

COMMENT ON FUNCTION _race_moments_out(race_moments) IS 'I/O';

COMMENT ON FUNCTION _race_moments_recv(internal) IS 'I/O';

COMMENT ON FUNCTION _race_moments_send(race_moments) IS 'I/O';

CREATE FUNCTION race_params(moments race_moments) RETURNS race_params
	AS 'MODULE_PATHNAME', 'race_sketch_params'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION race_params(race_moments) IS 'the parameters of moments';

CREATE FUNCTION race_moments(params race_params) RETURNS race_moments
	AS 'MODULE_PATHNAME', 'race_moments_empty'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION race_moments(race_params) IS
	'exact moments without records. Error 22023 if the parameters are not those of moments';

CREATE FUNCTION race_add(moments race_moments, x "any") RETURNS race_moments
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 50
	SUPPORT _race_update_support;

COMMENT ON FUNCTION race_add(race_moments, "any") IS
	'exact moments with one more record, an array of as many finite numbers as the parameters have bounds. Errors: 42804 for another type; 22023 for a wrong number, a NULL element or a NaN; 55000 for private moments';

CREATE FUNCTION race_remove(moments race_moments, x "any") RETURNS race_moments
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 50
	SUPPORT _race_update_support;

COMMENT ON FUNCTION race_remove(race_moments, "any") IS
	'exact moments with one record less. The record must have been added before. Errors as in race_add';

CREATE FUNCTION _race_plus(race_moments, race_moments) RETURNS race_moments
	AS 'MODULE_PATHNAME', 'race_plus' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;

COMMENT ON FUNCTION _race_plus(race_moments, race_moments) IS 'implementation of + operator';

CREATE FUNCTION _race_plus_disjoint(race_moments, race_moments) RETURNS race_moments
	AS 'MODULE_PATHNAME', 'race_plus_disjoint' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;

COMMENT ON FUNCTION _race_plus_disjoint(race_moments, race_moments) IS 'aggregate transition function';

CREATE FUNCTION _race_minus(race_moments, race_moments) RETURNS race_moments
	AS 'MODULE_PATHNAME', 'race_minus' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;

COMMENT ON FUNCTION _race_minus(race_moments, race_moments) IS 'implementation of - operator';

CREATE OPERATOR + (
	LEFTARG = race_moments, RIGHTARG = race_moments, FUNCTION = _race_plus,
	COMMUTATOR = +
);

COMMENT ON OPERATOR + (race_moments, race_moments) IS
	'the moments of the records of both. Private moments add their noise and their privacy costs. Errors: 22023 for different parameters, 55000 for exact and private ones';

CREATE OPERATOR - (
	LEFTARG = race_moments, RIGHTARG = race_moments, FUNCTION = _race_minus
);

COMMENT ON OPERATOR - (race_moments, race_moments) IS
	'exact moments without the records of others, which must be among their own. Errors: 22023 for different parameters, 55000 for private moments';

CREATE FUNCTION _race_moments_step(race_moments, race_params, "any") RETURNS race_moments
	AS 'MODULE_PATHNAME', 'race_moments_step' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 50;

COMMENT ON FUNCTION _race_moments_step(race_moments, race_params, "any") IS
	'aggregate transition function';

CREATE FUNCTION _race_moments_undo(race_moments, race_params, "any") RETURNS race_moments
	AS 'MODULE_PATHNAME', 'race_build_undo' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 50;

COMMENT ON FUNCTION _race_moments_undo(race_moments, race_params, "any") IS
	'aggregate inverse transition function';

CREATE AGGREGATE race_moments(params race_params, x "any") (
	SFUNC = _race_moments_step, STYPE = race_moments, SSPACE = 65536,
	COMBINEFUNC = _race_plus,
	MSFUNC = _race_moments_step, MINVFUNC = _race_moments_undo,
	MSTYPE = race_moments, MSSPACE = 65536,
	PARALLEL = SAFE
);

COMMENT ON AGGREGATE race_moments(race_params, "any") IS
	'the exact moments of all records x, with parameters of race_moment_params. A NULL x adds nothing, and NULLs alone give empty moments. No rows at all give NULL. Errors: 22004 for NULL params, 22023 for parameters of a kernel, others as in race_add';

CREATE FUNCTION _race_moments_step(race_moments, race_params, race_record) RETURNS race_moments
	AS 'MODULE_PATHNAME', 'race_moments_record_step' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 50;

COMMENT ON FUNCTION _race_moments_step(race_moments, race_params, race_record) IS
	'aggregate transition function';

CREATE FUNCTION _race_moments_undo(race_moments, race_params, race_record) RETURNS race_moments
	AS 'MODULE_PATHNAME', 'race_build_record_undo' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 50;

COMMENT ON FUNCTION _race_moments_undo(race_moments, race_params, race_record) IS
	'aggregate inverse transition function';

CREATE AGGREGATE race_moments_records(params race_params, record race_record) (
	SFUNC = _race_moments_step, STYPE = race_moments, SSPACE = 65536,
	COMBINEFUNC = _race_plus,
	MSFUNC = _race_moments_step, MINVFUNC = _race_moments_undo,
	MSTYPE = race_moments, MSSPACE = 65536,
	PARALLEL = SAFE
);

COMMENT ON AGGREGATE race_moments_records(race_params, race_record) IS
	'the same moments, of records that race_record has read with the same parameters, as race_build_records is race_build. Errors: 22004 for NULL params; 22023 for other parameters, as far as records show them';

CREATE AGGREGATE race_merge(moments race_moments) (
	SFUNC = _race_plus, STYPE = race_moments, SSPACE = 65536,
	COMBINEFUNC = _race_plus,
	MSFUNC = _race_plus, MINVFUNC = _race_minus,
	MSTYPE = race_moments, MSSPACE = 65536,
	PARALLEL = SAFE
);

COMMENT ON AGGREGATE race_merge(race_moments) IS
	'the sum of all moments, which are all exact or all private. Private ones add their privacy costs (basic composition). NULLs are ignored. Errors as in +';

CREATE AGGREGATE race_merge_disjoint(moments race_moments) (
	SFUNC = _race_plus_disjoint, STYPE = race_moments, SSPACE = 65536,
	COMBINEFUNC = _race_plus_disjoint,
	PARALLEL = SAFE
);

COMMENT ON AGGREGATE race_merge_disjoint(race_moments) IS
	'as race_merge, for private moments when no person has records in more than one of them: the privacy cost is then the largest of theirs (parallel composition). Errors as in race_merge_disjoint of sketches';

COMMENT ON COLUMN race_privacy_cost_result.mechanism IS 'the noise: discrete Laplace or discrete Gaussian; or Wishart, of moments';

COMMENT ON COLUMN race_privacy_cost_result.pure_epsilon IS 'the true epsilon of Laplace or Wishart noise; NULL for Gaussian noise';

COMMENT ON COLUMN race_privacy_cost_result.counter_noise_stddev IS 'the standard deviation of the noise in each counter, in records; of moments, in each sum or product of scaled columns (race_info)';

COMMENT ON COLUMN race_privacy_cost_result.kernel_sum_noise_stddev IS 'the standard deviation of the noise in a kernel sum; NULL for moments, as what follows';

COMMENT ON FUNCTION race_privacy_cost(race_params, float8, float8, int, int, text, float8, boolean) IS
	'what race_privatize with these arguments would cost, without looking at data: the true cost, the noise in records, and for a public number of records the standard deviation to expect of a density (but for the noise of its count), by the prior that rows are chosen by. Of a surrogate loss a WARNING tells when records and epsilon are too few for it. Errors: 22023 when rows are to be chosen (rows NULL, delta 0) and records are not given; others as in race_privatize';

CREATE FUNCTION race_privatize(
	moments race_moments, epsilon float8, delta float8 DEFAULT 0,
	max_contributions int DEFAULT 1, neighbors text DEFAULT 'add_remove')
	RETURNS race_moments AS 'MODULE_PATHNAME', 'race_privatize_moments'
	LANGUAGE C VOLATILE STRICT PARALLEL SAFE COST 10000;

REVOKE EXECUTE ON FUNCTION
	race_privatize(race_moments, float8, float8, int, text) FROM PUBLIC;

COMMENT ON FUNCTION race_privatize(race_moments, float8, float8, int, text) IS
	'differentially private moments of exact ones. Every sum and product gets integer noise, and so does the record count, which takes 5 % of the budget. delta 0: the difference of two Wishart matrices, epsilon-differential privacy; or discrete Laplace noise where that is less, with clip absolute, or more than 255 columns. Above: discrete Gaussian noise, (epsilon, delta)-differential privacy (Canonne, Kamath & Steinke 2020). With up to some 15 columns there is less noise without a delta than with one of 1e-6, at epsilon 1. Noise off the diagonal has half of the variance, but for Laplace noise. How large it is, follows from the norm that the parameters clip records to. max_contributions, neighbors and errors are those of race_privatize of a sketch. Every call draws new noise and costs its budget again';

CREATE FUNCTION race_share(
	moments race_moments, epsilon float8, delta float8, parties int,
	colluders int DEFAULT 1, dropouts int DEFAULT 0,
	max_contributions int DEFAULT 1, neighbors text DEFAULT 'add_remove')
	RETURNS race_moments AS 'MODULE_PATHNAME', 'race_share_moments'
	LANGUAGE C VOLATILE STRICT PARALLEL SAFE COST 10000;

REVOKE EXECUTE ON FUNCTION
	race_share(race_moments, float8, float8, int, int, int, int, text) FROM PUBLIC;

COMMENT ON FUNCTION race_share(race_moments, float8, float8, int, int, int, int, text) IS
	'the exact moments of one party with its share of the noise, as race_share of a sketch. Only the race_merge of at least parties - dropouts shares can be asked. Its parameters say how much coarser its integers are (coarser), so that the noise of all parties fits';

COMMENT ON FUNCTION race_privatize(race_sketch, float8, float8, int, int, text, boolean) IS
	'a differentially private sketch of the first rows of an exact one. Every counter gets integer noise, and so does the record count, which takes 5 % of the budget. delta 0: discrete Laplace noise, epsilon-differential privacy. Above: discrete Gaussian noise, (epsilon, delta)-differential privacy (Coleman & Shrivastava 2021, theorem 3.2; Canonne, Kamath & Steinke 2020). rows: a power of two, or all. NULL chooses the rows that promise the least error (corollary 3.5), from public values, the noisy count, and a noisy sum of the norms of rows, which takes 2 % of epsilon; with delta > 0 it takes all. Of a grid, NULL chooses the size of its cells, and whether it has coarse cells besides, with delta 0 by a noisy look at what coarser cells lose, which takes 2 % of epsilon in one dimension and else 5 %, and 1 keeps the finest. fit: says that race_fit will follow, so that with delta 0 fewer rows are best in one or two dimensions, but enough to test the model; above, the count of rows then takes 12.5 % of rho. max_contributions: how many records one person may have. neighbors: add_remove or substitute. Every call draws new noise and costs its budget again. NULL if an argument other than rows is NULL. Errors: 22023 outside the limits, 55000 for a private sketch';

COMMENT ON FUNCTION race_fit(race_sketch, float8[], float8[], int, bigint) IS
	'the sketch with a fitted model: points with weights of at least 0 that explain all of its counters best. All questions answer from the model and from what the counters say beyond it, and are more accurate; it costs no privacy, as it is computed from the sketch alone. For a kernel of vectors by itself. The points lie within lower and upper, which must be public (NULL: the bounds of the parameters, or of a surrogate loss its radius); points is how many there are at most (NULL: up to 2000, or 4000 where points are moved, half of them for each half of the rows), and the same seed gives the same model. The points of a surrogate loss are those of the normal distribution that explains the counters best; of least_squares all weigh the same. Merging and changing a sketch drop the model. NULL if the sketch or the seed is NULL. Errors: 22023 without bounds, for other kernels, or outside the limits; 55000 for shares of which there are not enough';

COMMENT ON AGGREGATE race_fit(race_sketch, "any") IS
	'the sketch with a fitted model whose points are some of the records x, at most 65536, whose texts are at most 64 MB: all that there may be, or a sample that is public or made up. Of more than 4096 it chooses 2000 in rounds: those to which the sketch gives weight. Of sequence balanced, up to 4096 are taken as they are, and of more it makes 16384 records, each column of which has values as often as the sketch says; weights are those of maximum entropy, nearest to equal ones by the noise of counters, and are for race_sample and race_points: other questions ask the counters alone. Never take them from private data. For every kernel and product. All rows must have the same sketch; rows with a NULL are left out; no rows give NULL. Errors: 22023 for another sketch in a row, 54000 for too many records, longer texts, or a model of more than 64 MB, others as in race_add and race_fit';

CREATE FUNCTION race_fit_categories(sketch race_sketch, categories jsonb) RETURNS race_sketch
	LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10000000
	SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan AS $$
DECLARE
	most CONSTANT int := 4096;
	made CONSTANT int := 16384;
	info record;
	twice record;
	names text[];	-- all lists, one after the other
	sizes int[];
	starts int[];
	strides numeric[];
	n numeric := 1;
BEGIN
	IF jsonb_typeof(categories) <> 'array' OR categories = '[]' OR
		jsonb_path_exists(categories, 'strict $[*] ? (@.type() != "array" || @.size() == 0)') OR
		jsonb_path_exists(categories, 'strict $[*][*] ? (@.type() != "string" && @.type() != "null")')
	THEN
		RAISE EXCEPTION 'categories must be a list of lists of texts' USING ERRCODE = 'invalid_parameter_value',
			HINT = 'Give one list for each column, as in [["f", "m"], ["north", "south", null]].';
	END IF;
	SELECT kernel, dims, sequence INTO info FROM @extschema@.race_info(sketch);
	IF info.kernel <> 'match' THEN
		RAISE EXCEPTION 'race_fit_categories is for kernel match by itself' USING ERRCODE = 'invalid_parameter_value',
			DETAIL = format('The kernel is %s.', info.kernel),
			HINT = 'Use the aggregate: SELECT race_fit(sketch, x) over records that there might be.';
	END IF;
	IF jsonb_array_length(categories) <> info.dims THEN
		RAISE EXCEPTION 'expected % % of categories, found %', info.dims, CASE info.dims WHEN 1 THEN 'list' ELSE 'lists' END, jsonb_array_length(categories)
			USING ERRCODE = 'invalid_parameter_value',
			HINT = 'Give one list for each column, as in [["f", "m"], ["north", "south", null]].';
	END IF;
	SELECT j, category INTO twice
	FROM jsonb_array_elements(categories) WITH ORDINALITY c (l, j), jsonb_array_elements_text(l) category
	GROUP BY 1, 2 HAVING count(*) > 1 ORDER BY 1 LIMIT 1;
	IF FOUND THEN
		RAISE EXCEPTION 'list % has a category twice', twice.j USING ERRCODE = 'invalid_parameter_value',
			DETAIL = format('The category is %s.', left(coalesce(to_json(twice.category)::text, 'null'), 100));
	END IF;

	names := ARRAY(
		SELECT category FROM jsonb_array_elements(categories) WITH ORDINALITY c (l, j), jsonb_array_elements_text(l) WITH ORDINALITY e (category, k)
		ORDER BY j, k);
	sizes := ARRAY(SELECT jsonb_array_length(l) FROM jsonb_array_elements(categories) WITH ORDINALITY c (l, j) ORDER BY j);
	starts := ARRAY(SELECT 1 + sum(size) OVER (ORDER BY j) - size FROM unnest(sizes) WITH ORDINALITY s (size, j) ORDER BY j);
	strides := array_fill(n, ARRAY[cardinality(sizes)]);
	FOR j IN REVERSE cardinality(sizes)..1 LOOP
		strides[j] := n;
		n := least(n * sizes[j], 1e18);
	END LOOP;
	-- balanced rows are fitted to others that are made of these
	IF info.sequence = 'balanced' THEN
		n := made;
	ELSIF n > most THEN
		RAISE EXCEPTION 'a model can have at most % candidates', most USING ERRCODE = 'program_limit_exceeded',
			DETAIL = format('The lists make %s rows of categories.', CASE WHEN n < 1e18 THEN n::text ELSE '1e18 or more' END),
			HINT = 'Use the aggregate: SELECT race_fit(sketch, x) over a public sample of them.';
	END IF;
	RETURN (
		SELECT @extschema@.race_fit(sketch, ARRAY(
			SELECT names[starts[j] + CASE info.sequence
				WHEN 'balanced' THEN (hashint8extended(i, j) & 9223372036854775807) % sizes[j]
				ELSE div(i - 1, strides[j]) % sizes[j] END]
			FROM generate_series(1, cardinality(sizes)) j ORDER BY j))
		FROM generate_series(1, n::int) i);
END $$;

COMMENT ON FUNCTION race_fit_categories(race_sketch, jsonb) IS
	'the sketch with a fitted model whose points are rows of categories: all that declared lists make, one list of texts a column, as in [["f", "m"], ["north", "south", null]]; null is a missing category. The lists must be public. For the kernel match, of columns of text. Errors: 22023 unless categories is a list of lists of texts, all of a list different, or if the parameters have another number of columns or another kernel; 54000 for more than 4096 rows of categories, unless the sequence is balanced: that takes any number, as the aggregate does with more than 4096; and 54000 for texts of more than 64 MB in all rows, or 16384 of a balanced sequence';

CREATE FUNCTION _race_model(sketch race_sketch) RETURNS race_sketch
	AS 'MODULE_PATHNAME', 'race_model' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000;

COMMENT ON FUNCTION _race_model(race_sketch) IS
	'a sketch that has a model, or no bounds, as it is; any other fitted within the bounds of its parameters. A session keeps such fits';

COMMENT ON FUNCTION race_estimate(race_sketch, "any", float8) IS
	'the kernel sum and the density at q, with a standard error and a confidence interval of the density. They come from the variance between rows (Student''s t) and the noise of the count (Fieller). The interval is unbounded for one row, but for one that is all balanced rows there are, and where the noisy count is within its noise of zero. With a NULL part in the query, of a product, a share of the answer that is what the model misses elsewhere is added. Fewer than 128 rows of a sequence cannot show their own variance: in a private sketch the prior that rows are chosen by is added, and a warning says when the noise does not prevail. All rows of sequence balanced are no sample: their errors are noise and categories that share a bucket, which other counters show; of fewer rows it is also what the left out ones may say, by the finite population and the prior';

CREATE FUNCTION race_bandwidth(distance float8, power int, kernel text DEFAULT 'l2') RETURNS float8
	LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	least float8 := 0;		-- between these, in bandwidths
	most float8 := 1;
	steps CONSTANT int := 60;
	middle float8;
	params @extschema@.race_params;
BEGIN
	IF kernel NOT IN ('l2', 'l1') OR power < 1 OR NOT (distance > 0.0 AND distance < 'infinity') THEN
		RAISE EXCEPTION 'a bandwidth is of kernel l2 or l1, a power of at least 1, and a positive distance'
			USING ERRCODE = 'invalid_parameter_value';
	END IF;
	params := kernel::@extschema@.race_params;
	FOR i IN 1 .. steps LOOP
		middle := (least + most) / 2;
		IF @extschema@.race_kernel(params, '{0}'::float8[], ARRAY[middle]) >
			@extschema@.race_kernel(params, '{0}'::float8[], '{1}'::float8[]) ^ (1.0::float8 / power) THEN
			least := middle;
		ELSE
			most := middle;
		END IF;
	END LOOP;
	RETURN distance / most;
END $$;

COMMENT ON FUNCTION race_bandwidth(float8, int, text) IS
	'the bandwidth for which the kernel l2, or l1, taken to a power, is at a distance what it is at power 1 at the bandwidth: 0.37, or 0.28. Powers make kernels narrower, so it is larger than the distance. Error 22023 for other kernels, powers below 1, and distances that are not positive';

COMMENT ON COLUMN race_info_result.sequence IS 'how rows share the work: sobol, orthogonal, structured, partition, grouped, balanced, independent or grid; NULL for products';

COMMENT ON COLUMN race_info_result.counter_bytes IS 'bytes of a counter: 1, 2, 4 or 8; where counters are packed, those of one that is not';

COMMENT ON COLUMN race_info_result.storage_bytes IS 'bytes of the whole value, stored';

COMMENT ON COLUMN race_info_result.mechanism IS 'the noise: discrete Laplace, discrete Gaussian, Wishart (of moments), or several; this and all further columns are NULL in an exact sketch';

COMMENT ON COLUMN race_info_result.misfit IS 'what share of an answer the model misses, root mean square, as half of the rows tells of a model from the other half; what it misses is answered from the rows. 1000000 says that nobody can tell, and that the model is not asked at all: of a grid in more than one dimension, and of vectors with fewer than 2 (dims + 1) rows, or 4 (dims + 1) in three dimensions and more. NULL without a model';

CREATE TYPE race_moments_info_result AS (
	dims int, norm float8, features int, targets int, count bigint, width int, bytes bigint,
	status text, mechanism text, epsilon float8, delta float8, rho float8,
	max_contributions int, neighbors text, releases int, noise_stddev float8,
	count_noise_stddev float8);

COMMENT ON TYPE race_moments_info_result IS 'the result of race_info of moments';

COMMENT ON COLUMN race_moments_info_result.dims IS 'the columns of a record';

COMMENT ON COLUMN race_moments_info_result.norm IS 'what records, with their 1, are scaled down to';

COMMENT ON COLUMN race_moments_info_result.features IS 'the number of random Fourier features, or 0';

COMMENT ON COLUMN race_moments_info_result.targets IS 'the last columns, which are scaled to 2 2/3 times as much, and of which no features are made';

COMMENT ON COLUMN race_moments_info_result.count IS 'the number of records, noisy in private moments; NULL for noise shares';

COMMENT ON COLUMN race_moments_info_result.width IS 'bytes a sum or product';

COMMENT ON COLUMN race_moments_info_result.bytes IS 'the size of the value';

COMMENT ON COLUMN race_moments_info_result.status IS 'exact, share or private';

COMMENT ON COLUMN race_moments_info_result.mechanism IS 'the noise; NULL in exact moments, as what follows';

COMMENT ON COLUMN race_moments_info_result.epsilon IS 'the true epsilon at delta, rounded up';

COMMENT ON COLUMN race_moments_info_result.delta IS 'the delta';

COMMENT ON COLUMN race_moments_info_result.rho IS 'the cost in zero-concentrated differential privacy (zCDP)';

COMMENT ON COLUMN race_moments_info_result.max_contributions IS 'how many records a person may have';

COMMENT ON COLUMN race_moments_info_result.neighbors IS 'add_remove or substitute';

COMMENT ON COLUMN race_moments_info_result.releases IS 'how many private moments, or shares, were merged into this value';

COMMENT ON COLUMN race_moments_info_result.noise_stddev IS 'the standard deviation of the noise in a sum or product of scaled columns; Gaussian noise in a square has sqrt(2) times as much';

COMMENT ON COLUMN race_moments_info_result.count_noise_stddev IS 'the standard deviation of the noise in the count';

CREATE FUNCTION race_info(moments race_moments) RETURNS race_moments_info_result
	AS 'MODULE_PATHNAME', 'race_moments_info' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;

COMMENT ON FUNCTION race_info(race_moments) IS 'what moments are: parameters, size, noise and privacy';

CREATE TYPE race_moments_matrix_result AS (
	count float8, means float8[], covariances float8[], scaled float8[],
	count_noise_stddev float8, noise_stddev float8, square_noise_stddev float8);

COMMENT ON TYPE race_moments_matrix_result IS 'the result of race_moments_matrix';

COMMENT ON COLUMN race_moments_matrix_result.count IS 'the number of records, noisy in private moments, whatever they weigh';

COMMENT ON COLUMN race_moments_matrix_result.means IS 'the means of the columns, in their units, over records as they weigh; before them those of features';

COMMENT ON COLUMN race_moments_matrix_result.covariances IS 'the covariances of the same, weighted as the means: as they come from the noisy sums, so that they need not be those of any table';

COMMENT ON COLUMN race_moments_matrix_result.scaled IS 'weight, sums and products of the scaled columns: the sum of v v'' for v = [1, u] times the factor of the record, symmetric';

COMMENT ON COLUMN race_moments_matrix_result.count_noise_stddev IS 'the standard deviation of the noise in the count; 0 in exact moments';

COMMENT ON COLUMN race_moments_matrix_result.noise_stddev IS 'of the noise in scaled, off the diagonal';

COMMENT ON COLUMN race_moments_matrix_result.square_noise_stddev IS 'of the noise in scaled, on the diagonal';

CREATE FUNCTION race_moments_matrix(moments race_moments) RETURNS race_moments_matrix_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;

COMMENT ON FUNCTION race_moments_matrix(race_moments) IS
	'the contents of moments as plain arrays. Records count as they were clipped, to bounds and norm. Error 55000 for noise shares of which there are too few';

CREATE FUNCTION _race_columns(params race_params, OUT number int, OUT kind text, OUT lower float8, OUT upper float8)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'race_columns' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10 ROWS 3;

COMMENT ON FUNCTION _race_columns(race_params) IS
	'the columns of a record: their numbers, what they are (number, category or set), and their bounds, NULL without';

CREATE FUNCTION _race_curve(
	sketch race_sketch, "column" int, steps int, lower float8, upper float8, confidence float8, smoothing float8,
	OUT x float8, OUT density float8, OUT low float8, OUT high float8)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'race_curve' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100000 ROWS 100;

COMMENT ON FUNCTION _race_curve(race_sketch, int, int, float8, float8, float8, float8) IS
	'race_curve of a sketch with a model';

CREATE FUNCTION _race_heatmap(
	sketch race_sketch, column1 int, column2 int, steps int, lower float8[], upper float8[], smoothing float8,
	OUT x1 float8, OUT x2 float8, OUT density float8, OUT stderr float8)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'race_heatmap' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100000 ROWS 1600;

COMMENT ON FUNCTION _race_heatmap(race_sketch, int, int, int, float8[], float8[], float8) IS
	'race_heatmap of a sketch with a model';

CREATE FUNCTION _race_histogram(
	sketch race_sketch, "column" int, edges float8[], smoothing float8,
	OUT lower float8, OUT upper float8, OUT count float8, OUT stderr float8)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'race_histogram' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000 ROWS 20;

COMMENT ON FUNCTION _race_histogram(race_sketch, int, float8[], float8) IS
	'race_histogram of a sketch with a model';

CREATE FUNCTION _race_score_final(internal, anyelement, race_sketch, "any", text) RETURNS float8
	AS 'MODULE_PATHNAME', 'race_score_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION _race_score_final(internal, anyelement, race_sketch, "any", text) IS 'aggregate final function';

COMMENT ON AGGREGATE race_classify(anyelement, race_sketch, "any", text) IS
	'race_classify with a prior: uniform (maximum likelihood), or counts (maximum a posteriori, with the noisy counts as the prior). Flat kernels would let large classes win everywhere. So with counts, fitted sketches of vectors are asked for their model alone, with the kernel to a power of 8 at least, and other densities of l2 alone are taken to a power, which follows from how high they are at their own records (race_typicality); where noise hides that of all classes, to the highest power that may be, which leaves the prior little to say. Sketches with race_score_params, which say how frequent scores are, are asked as they are';

COMMENT ON AGGREGATE race_posterior(anyelement, race_sketch, "any", text) IS
	'race_posterior with a prior: uniform, or counts (the noisy counts, with densities as race_classify takes them)';

CREATE AGGREGATE race_score(label anyelement, sketch race_sketch, q "any", prior text) (
	SFUNC = _race_classify_step, STYPE = internal,
	FINALFUNC = _race_score_final, FINALFUNC_EXTRA, PARALLEL = SAFE
);

COMMENT ON AGGREGATE race_score(anyelement, race_sketch, "any", text) IS
	'race_score with a prior: with counts the best class is that of race_classify with this prior, and L is on the scale of the densities. A release that is calibrated has these scores';

CREATE FUNCTION _race_score_of(sketches race_sketch[], q "any") RETURNS float8
	AS 'MODULE_PATHNAME', 'race_score_of' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;

COMMENT ON FUNCTION _race_score_of(race_sketch[], "any") IS
	'race_score with prior counts of classes in the order of a constant array';

CREATE FUNCTION _race_score_params(classes int, cells int) RETURNS race_params
	LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	most CONSTANT int := 100;
BEGIN
	IF classes < 2 OR classes > most THEN
		RAISE EXCEPTION 'scores are of 2 to % classes', most USING ERRCODE = 'invalid_parameter_value';
	END IF;
	RETURN @extschema@.race_params('l2', 1, 0.2, 4, sequence => 'grid', lower => '{0}', upper => ARRAY[2 * classes - 1],
		cells => ARRAY[cells * (2 * classes - 1)]);
END $$;

COMMENT ON FUNCTION _race_score_params(int, int) IS
	'race_score_params with so many cells of a lead';

CREATE FUNCTION race_score_params(classes int) RETURNS race_params
	LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT @extschema@._race_score_params(classes, CASE WHEN classes > 4 THEN 10 ELSE 20 END)
$$;

COMMENT ON FUNCTION race_score_params(int) IS
	'parameters for sketches of race_score of so many classes, 2 to 100: a grid over 0 to 2 classes - 1, with cells for scores without noise, 20 of a lead, and 10 for 5 classes and more; releases that are calibrated have 25 divided by the number of classes, and at least 5, with linear shares between them; error 22023 for other numbers';

COMMENT ON COLUMN race_conditional_mean_result.mean IS 'the mean, between the bounds of the value. Without a trend it is NULL where the number of records near q is within two standard deviations of its noise of zero';

COMMENT ON COLUMN race_conditional_mean_result.stderr IS 'its standard error: of the row functions, of splitting, of the noise, and of the trend; NULL with the mean';

COMMENT ON FUNCTION race_conditional_mean(race_sketch, race_sketch, "any", float8, float8, float8) IS
	'the mean of a value at q: over all records, weighted by the kernel (Nadaraya 1964, Watson 1964), with a standard error and a confidence interval. Grids, and fitted sketches of vectors in up to 8 dimensions, with noise, have a trend: how the mean depends on the place, fitted to both sketches as a Gaussian process (Solin & Sarkka 2020), once in a session. There the answer is the trend, and what the sketches say beyond it so far as it stands out from the noise; the interval covers the mean with this confidence on average over places and noise. Elsewhere, and outside of what the trend covers, it is the ratio of both, with Fieller''s interval. The sketches are both halves of race_build_value with these bounds, exact or private, fitted or not, or two sketches of whole records, of values at the one bound and at the other: value_lower + (value_upper - value_lower) u / (l + u), with the kernel sums l and u of both. Near q means within the bandwidth; of a high power there is less weight on what is far. Errors: 22023 for sketches with different parameters, rows or cells, for halves in the wrong order, bounds that are not finite and in order, or a confidence that is not between 0 and 1; others as in race_estimate';

COMMENT ON COLUMN race_distance_result.p_value IS 'the probability of such a distance or more if both are drawn from one population; of rows with noise, of a distance in which buckets with hardly any records count for little; 1 where a count is within its noise, or below 2';

COMMENT ON FUNCTION race_distance(race_sketch, race_sketch) IS
	'the maximum mean discrepancy between the records of two sketches (Gretton et al. 2012), with a test of whether both are drawn from one population. Rows whose buckets are in order (rehash = fold) are tested where records are: most buckets are empty, and have nothing but noise. It assumes that a and b have noise of their own, and no records in common; of a sketch with itself the distance is 0. Both must have the same parameters, but for the rows, or the cells of a grid, that race_privatize kept. p_value is conservative where noise is small, of rows, and most of all of kernels other than l2 and of rehashed rows. Where Laplace noise is much larger than what chance makes of records, the test looks at scores of differences, the locally most powerful for such noise, in place of their squares. Errors: 22023 for different parameters, 55000 for an exact and a private sketch';

CREATE FUNCTION race_loss(sketch race_sketch, theta float8[]) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;

COMMENT ON FUNCTION race_loss(race_sketch, float8[]) IS
	'the mean surrogate loss of the records for a linear model with coefficients theta, one for each column of x; kernels least_squares and margin (Coleman & Shrivastava 2021, section 4). With s = asin(r / (radius query_radius)) / pi it is the mean of (1/2 + s)^p + (1/2 - s)^p for least_squares, where r = theta.x - y, and of (1/2 - s)^p for margin, where r = theta.x times the sign of the label; p is the power. A fitted sketch answers from its model alone, which is smooth in theta; the answers of others change in steps. Errors: 22023 for other kernels, and for a theta that is longer than query_radius allows';

CREATE FUNCTION race_loss(params race_params, theta float8[], record float8[]) RETURNS float8
	AS 'MODULE_PATHNAME', 'race_loss_exact' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;

COMMENT ON FUNCTION race_loss(race_params, float8[], float8[]) IS
	'the exact surrogate loss of one record, whose mean race_loss of a sketch estimates. Errors 22023 as there, and for a record of another length';

CREATE TYPE race_minimize_result AS (x float8[], value float8, evaluations int);

COMMENT ON TYPE race_minimize_result IS 'the result of race_minimize';

COMMENT ON COLUMN race_minimize_result.x IS 'the point; of a loss, the coefficients theta';

COMMENT ON COLUMN race_minimize_result.value IS 'what the question answers there';

COMMENT ON COLUMN race_minimize_result.evaluations IS 'how often the question was asked';

CREATE FUNCTION race_minimize(
	sketch race_sketch, lower float8[] DEFAULT NULL, upper float8[] DEFAULT NULL,
	question regprocedure DEFAULT NULL, maximize boolean DEFAULT false,
	evaluations int DEFAULT 20000)
	RETURNS race_minimize_result
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE COST 10000000;

COMMENT ON FUNCTION race_minimize(race_sketch, float8[], float8[], regprocedure, boolean, int) IS
	'the point between lower and upper at which a question about a sketch has its least answer, or with maximize the greatest; found without derivatives, by places at random and pattern searches from the best of them (Hooke & Jeeves 1961; Coleman & Shrivastava 2021, section 4: Optimization over Sketches). question: a function (race_sketch, float8[]) or (race_sketch, "any") that returns float8, such as ''race_kde(race_sketch,"any")'', called with the privileges of the caller; without it, race_loss, and then the bounds are by default those of all coefficients that query_radius allows. A NULL or NaN is no answer. It asks the question at most so many times (evaluations), at the same places for the same sketch. Asking is free: it costs no privacy. Fit the sketch first (race_fit): the rows alone are rough, and of a loss they say little. A WARNING says so. Another one says when the noise may be larger than what theta gains. NULL if the sketch is NULL. Errors: 22023 for bounds that are missing or wrong, other kernels without a question, another kind of function, or evaluations below 100 or above 100000000; 42501 for a function that the caller may not execute; others as the question';

COMMENT ON COLUMN race_quantile_result.standard_error IS 'of the value, for a grid in one dimension: how far it is at most from nodes that have clearly fewer or more records before them, beyond their noise, as a part of the 1.96 standard errors of a 95 % interval; else NULL, because theory gives none';

COMMENT ON FUNCTION race_sample(race_sketch, int, bigint) IS
	'n records drawn from the fitted model of a sketch, evenly: each point about as often as its weight says (so they vary less than independent draws would), and vectors then moved at random, by half the distance to the nearest points and at most half a bandwidth, and within the bounds of the parameters. Of a private sketch they cost no privacy. The same seed gives the same records; NULL draws others each time. A grid without a model is fitted first. A notice says when the sketch has too few rows to tell whether its model fits. No rows for a NULL sketch or n. Errors: 55000 for a sketch without a model, and for shares of which there are not enough; 22023 for a negative n';

CREATE FUNCTION _race_scatter_combine(bytea, bytea) RETURNS bytea
	AS 'MODULE_PATHNAME', 'race_scatter_combine_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION _race_scatter_combine(bytea, bytea) IS 'aggregate combine function';

CREATE FUNCTION _race_discriminant_step(bytea, text, race_record) RETURNS bytea
	AS 'MODULE_PATHNAME', 'race_discriminant_record_step' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION _race_discriminant_final(bytea) RETURNS race_transform
	AS 'MODULE_PATHNAME', 'race_discriminant_record_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION _race_discriminant_step(bytea, text, race_record) IS 'aggregate transition function';

COMMENT ON FUNCTION _race_discriminant_final(bytea) IS 'aggregate final function';

CREATE AGGREGATE race_discriminant_records(label text, x race_record) (
	SFUNC = _race_discriminant_step, STYPE = bytea, FINALFUNC = _race_discriminant_final,
	COMBINEFUNC = _race_scatter_combine, PARALLEL = SAFE
);

COMMENT ON AGGREGATE race_discriminant_records(text, race_record) IS
	'race_discriminant of records, which are vectors, as race_whiten_records is race_whiten; cast other labels to text';

CREATE TYPE race_preview_result AS (
	label int, x float8, truth float8, density float8, error float8,
	stderr float8, lower float8, upper float8);

COMMENT ON TYPE race_preview_result IS 'a row of the result of race_preview';

COMMENT ON COLUMN race_preview_result.label IS 'the number of the label, from 1 on';

COMMENT ON COLUMN race_preview_result.x IS 'where: the value of the column that axis names';

COMMENT ON COLUMN race_preview_result.truth IS 'the mean kernel value of the made-up records there';

COMMENT ON COLUMN race_preview_result.density IS 'what race_kde would answer';

COMMENT ON COLUMN race_preview_result.error IS 'density - truth';

COMMENT ON COLUMN race_preview_result.stderr IS 'the standard error that race_estimate would give';

COMMENT ON COLUMN race_preview_result.lower IS 'the lower end of its confidence interval';

COMMENT ON COLUMN race_preview_result.upper IS 'the upper end';

CREATE FUNCTION race_preview(
	params race_params, epsilon float8, delta float8 DEFAULT 0, records bigint DEFAULT 10000,
	rows int DEFAULT NULL, mixture float8[] DEFAULT NULL, public_rows float8[] DEFAULT NULL,
	axis int DEFAULT 1, steps int DEFAULT 25, labels int DEFAULT 1,
	max_contributions int DEFAULT 1, neighbors text DEFAULT 'add_remove',
	grid boolean DEFAULT NULL, fit boolean DEFAULT NULL,
	confidence float8 DEFAULT 0.95, seed bigint DEFAULT 0)
	RETURNS SETOF race_preview_result
	AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL SAFE COST 1000000 ROWS 25;

COMMENT ON FUNCTION race_preview(race_params, float8, float8, bigint, int, float8[], float8[], int, int, int, int, text, boolean, boolean, float8, bigint) IS
	'what race_release with these arguments would give, on made-up vectors: a curve of the density beside the truth, with errors and intervals. It reads no table and spends nothing; each call draws new noise. records: how many records to make up, of all labels together. mixture: rows {weight, means, standard deviations} of normals that they are drawn from; or public_rows, vectors that they are drawn from; else three normals between the bounds of the parameters. Neither may be private: the truth is shown. The curve has steps points along column number axis, between its bounds or else the least and the largest made-up value, and goes through the mean of the other columns. labels: so many sketches, among which the records are divided. rows, max_contributions, neighbors, grid and fit as in race_release and race_protect; confidence as in race_estimate; seed of the made-up vectors. No rows if an argument other than rows, mixture, public_rows, grid and fit is NULL. Errors: 22023 for what is outside its limits, for kernels of other records than vectors and for products, and without bounds, mixture or public_rows';

CREATE FUNCTION race_project(x float8[], matrix float8[], "offset" float8[], radius float8 DEFAULT 'Infinity') RETURNS float8[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;

COMMENT ON FUNCTION race_project(float8[], float8[], float8[], float8) IS
	'M (x - o), for a matrix M of up to 1024 rows and an offset o, which must be public, as those of a race_transform: for grids, which have no transform of their own, in the few directions that classes differ in. race_suggest proposes them. What is longer than radius is shortened to it: where columns have heavy tails, a few far records would make most of the range. Records and queries must be projected alike. NULL for a vector of another length than the rows of M or with a NULL, so that a release leaves it out. Error 22023 for a bad matrix or offset, or a radius that is not above 0';

ALTER TYPE race_suggest_result ADD ATTRIBUTE expression text;

COMMENT ON COLUMN race_suggest_result.rows IS 'the rows of params, for race_privatize and race_release; NULL for a grid, whose cells these choose';

COMMENT ON COLUMN race_suggest_result.expression IS 'what the records and the queries must be: x, the vectors as they are; a call of race_warp, where skewed columns are better compared by their places among quantiles; a call of race_project, where a grid in few directions is better than rows, or with a radius where far records are better pulled to a sphere; calls of all of them, where vectors are better replaced by log odds';

COMMENT ON AGGREGATE race_suggest("any", "any", float8, float8, bigint) IS
	'the same for a release with a sketch for each label, to classify: by the accuracy with which each tenth of the public rows is classified by the others. Kernels are l2, l1 and angular. Transforms are learned within classes, or keep the directions in which classes differ (Fisher 1936). Where that is better, columns are replaced by their places among their quantiles first (race_warp), or far records are pulled to a sphere (race_project with a radius), or vectors are replaced by log odds: the average of logistic regressions of the columns as they are, of places and of what is pulled (sums of race_project). In 1 to 3 dimensions the release is a grid of what the transform makes of vectors (race_project): then params are those of a grid. See expression. Among choices whose scores differ by luck the one with the likeliest posteriors is taken. The shares of labels must be as in the private table, which has records of all labels together. Rows with a NULL x or label are left out. Further errors: 22023 for one label alone, or more than 32';

CREATE FUNCTION _race_suggest_kernel_step(internal, race_params, "any", "any", float8, float8, bigint) RETURNS internal
	AS 'MODULE_PATHNAME', 'race_suggest_kernel_step' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION _race_suggest_kernel_step(internal, "any", "any", float8, float8, bigint) RETURNS internal
	AS 'MODULE_PATHNAME', 'race_suggest_kernel_step' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION _race_suggest_kernel_final(internal) RETURNS race_suggest_result
	AS 'MODULE_PATHNAME', 'race_suggest_kernel_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION _race_suggest_kernel_step(internal, race_params, "any", "any", float8, float8, bigint) IS 'aggregate transition function';

COMMENT ON FUNCTION _race_suggest_kernel_step(internal, "any", "any", float8, float8, bigint) IS 'aggregate transition function';

COMMENT ON FUNCTION _race_suggest_kernel_final(internal) IS 'aggregate final function';

CREATE AGGREGATE race_suggest_kernel(params race_params, x "any", label "any", epsilon float8, delta float8, records bigint) (
	SFUNC = _race_suggest_kernel_step, STYPE = internal, FINALFUNC = _race_suggest_kernel_final, PARALLEL = SAFE
);

COMMENT ON AGGREGATE race_suggest_kernel(race_params, "any", "any", float8, float8, bigint) IS
	'race_suggest with labels for records of any kind, and for the kernel of params: a set, a row of categories, a vector, or a row for a product. It chooses a factor of all bandwidths, from 1/8 to 8, a factor of all powers, from 1 to 16, rows, and the prior, by the accuracy with which each public record is classified by all others, under the noise of a release of so many records with epsilon and delta; everything else stays as in params. Compare the scores of several kernels. Of more than 500 rows a sample is used. Never use private rows. Rows with a NULL x or label are left out. NULL for no rows. Errors: 22004 for NULL params, 22023 for fewer than 20 rows, one label alone or more than 32, parameters or a request that is not the same in all rows, and as in race_build';

CREATE AGGREGATE race_suggest_kernel(x "any", label "any", epsilon float8, delta float8, records bigint) (
	SFUNC = _race_suggest_kernel_step, STYPE = internal, FINALFUNC = _race_suggest_kernel_final, PARALLEL = SAFE
);

COMMENT ON AGGREGATE race_suggest_kernel("any", "any", float8, float8, bigint) IS
	'the same for the best kernel of those that fit all records: l2, l1 and angular for vectors; match and jaccard for arrays of anything else, match while all have the same length; and for a row the products of those that fit its columns, of which the first 16 are tried. Vectors get a scale for each column and bounds a tenth of a range beyond the public rows. Among kernels whose scores differ by luck the one with the likeliest posteriors is taken. For vectors alone, race_suggest tries transforms as well, and angles from their center. Errors as above; 42804 for what is no record';

CREATE FUNCTION race_warp(x float8[], knots float8[]) RETURNS float8[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;

COMMENT ON FUNCTION race_warp(float8[], float8[]) IS
	'each number of x replaced by its place among the knots of its column, from 0 at the first knot and below to n - 1 at the last of n and above: linear between two, the middle of equal ones. knots, {{column 1}, {column 2}, ...}, are 2 to 64 public numbers for each column, in ascending order; race_suggest proposes them. Records and queries must be warped alike. What is not finite remains. NULL for a vector of another length or with a NULL, so that a release leaves it out. Error 22023 for bad knots';

CREATE FUNCTION _race_whiten_step(bytea, race_record) RETURNS bytea
	AS 'MODULE_PATHNAME', 'race_whiten_record_step' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION _race_whiten_step(bytea, race_record, text) RETURNS bytea
	AS 'MODULE_PATHNAME', 'race_whiten_record_step' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION _race_whiten_final(bytea) RETURNS race_transform
	AS 'MODULE_PATHNAME', 'race_whiten_record_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION _race_whiten_step(bytea, race_record) IS 'aggregate transition function';

COMMENT ON FUNCTION _race_whiten_step(bytea, race_record, text) IS 'aggregate transition function';

COMMENT ON FUNCTION _race_whiten_final(bytea) IS 'aggregate final function';

CREATE AGGREGATE race_whiten_records(x race_record) (
	SFUNC = _race_whiten_step, STYPE = bytea, FINALFUNC = _race_whiten_final,
	COMBINEFUNC = _race_scatter_combine, PARALLEL = SAFE
);

COMMENT ON AGGREGATE race_whiten_records(race_record) IS
	'race_whiten of records, which are vectors: race_whiten_records(race_record(x)) is race_whiten(x), but for rounding where parts of it run on several servers. All types are exact, so that Citus runs it where the rows are';

CREATE AGGREGATE race_whiten_records(x race_record, label text) (
	SFUNC = _race_whiten_step, STYPE = bytea, FINALFUNC = _race_whiten_final,
	COMBINEFUNC = _race_scatter_combine, PARALLEL = SAFE
);

COMMENT ON AGGREGATE race_whiten_records(race_record, text) IS
	'the same within labels, as race_whiten(x, label); cast other labels to text';

CREATE FUNCTION _race_lda_step(internal, anyelement, race_moments, float8[]) RETURNS internal
	AS 'MODULE_PATHNAME', 'race_lda_step' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10;

CREATE FUNCTION _race_lda_step(internal, anyelement, race_moments, float8[], text) RETURNS internal
	AS 'MODULE_PATHNAME', 'race_lda_step' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10;

CREATE FUNCTION _race_lda_final(internal, anyelement, race_moments, float8[]) RETURNS anyelement
	AS 'MODULE_PATHNAME', 'race_lda_final' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;

CREATE FUNCTION _race_lda_final(internal, anyelement, race_moments, float8[], text) RETURNS anyelement
	AS 'MODULE_PATHNAME', 'race_lda_final' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;

CREATE FUNCTION _race_lda_posterior_final(internal, anyelement, race_moments, float8[]) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'race_lda_posterior_final' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;

CREATE FUNCTION _race_lda_posterior_final(internal, anyelement, race_moments, float8[], text) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'race_lda_posterior_final' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;

COMMENT ON FUNCTION _race_lda_step(internal, anyelement, race_moments, float8[]) IS 'aggregate transition function';

COMMENT ON FUNCTION _race_lda_step(internal, anyelement, race_moments, float8[], text) IS 'aggregate transition function';

COMMENT ON FUNCTION _race_lda_final(internal, anyelement, race_moments, float8[]) IS 'aggregate final function';

COMMENT ON FUNCTION _race_lda_final(internal, anyelement, race_moments, float8[], text) IS 'aggregate final function';

COMMENT ON FUNCTION _race_lda_posterior_final(internal, anyelement, race_moments, float8[]) IS 'aggregate final function';

COMMENT ON FUNCTION _race_lda_posterior_final(internal, anyelement, race_moments, float8[], text) IS 'aggregate final function';

CREATE AGGREGATE race_lda(label anyelement, moments race_moments, x float8[]) (
	SFUNC = _race_lda_step, STYPE = internal,
	FINALFUNC = _race_lda_final, FINALFUNC_EXTRA, PARALLEL = SAFE
);

COMMENT ON AGGREGATE race_lda(anyelement, race_moments, float8[]) IS
	'the label of the class that record x is most likely from, over one row for each class with its moments: linear discriminant analysis (Fisher 1936, Rao 1948). In the directions in which the means lie apart each class is normal with a covariance of its own, moved towards the common one by as much as noise hides it; the counts are the prior. x has all columns. The model is kept for further calls of the same place in a statement. Rows with a NULL are left out; no class gives NULL. Errors: 22023 for moments with different parameters, for classes with different x, and for x that is no array of finite numbers, one a column; 54000 for more than 100 classes; 55000 if no column varies within classes, and for noise shares of which there are too few';

CREATE AGGREGATE race_lda(label anyelement, moments race_moments, x float8[], prior text) (
	SFUNC = _race_lda_step, STYPE = internal,
	FINALFUNC = _race_lda_final, FINALFUNC_EXTRA, PARALLEL = SAFE
);

COMMENT ON AGGREGATE race_lda(anyelement, race_moments, float8[], text) IS
	'race_lda with a prior: uniform, or counts (the noisy counts)';

CREATE AGGREGATE race_lda_posterior(label anyelement, moments race_moments, x float8[]) (
	SFUNC = _race_lda_step, STYPE = internal,
	FINALFUNC = _race_lda_posterior_final, FINALFUNC_EXTRA, PARALLEL = SAFE
);

COMMENT ON AGGREGATE race_lda_posterior(anyelement, race_moments, float8[]) IS
	'the probability of each class given record x, as {label: probability}, by the model of race_lda';

CREATE AGGREGATE race_lda_posterior(label anyelement, moments race_moments, x float8[], prior text) (
	SFUNC = _race_lda_step, STYPE = internal,
	FINALFUNC = _race_lda_posterior_final, FINALFUNC_EXTRA, PARALLEL = SAFE
);

COMMENT ON AGGREGATE race_lda_posterior(anyelement, race_moments, float8[], text) IS
	'race_lda_posterior with a prior: uniform, or counts (the noisy counts)';

CREATE TYPE race_measured_result AS (value float8, standard_error float8, lower float8, upper float8);

COMMENT ON TYPE race_measured_result IS 'the result of race_covariance and race_correlation';

COMMENT ON COLUMN race_measured_result.value IS 'the estimate, which is not shrunken; NULL where noise hides it';

COMMENT ON COLUMN race_measured_result.standard_error IS 'of the noise, and of the records as a sample of a normal population';

COMMENT ON COLUMN race_measured_result.lower IS 'the lower end of the confidence interval: -1 of a correlation, or -Infinity, if nothing can be said';

COMMENT ON COLUMN race_measured_result.upper IS 'the upper end of the confidence interval';

CREATE FUNCTION race_covariance(moments race_moments, "column" int, other int, confidence float8 DEFAULT 0.95)
	RETURNS race_measured_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;

COMMENT ON FUNCTION race_covariance(race_moments, int, int, float8) IS
	'the covariance of two columns, or the variance of one, over records as they were clipped to bounds and norm; with an interval of the normal distribution. Errors: 22023 for columns that do not exist, or a confidence that is not between 0 and 1; 55000 for noise shares of which there are too few';

CREATE FUNCTION race_correlation(moments race_moments, "column" int, other int, confidence float8 DEFAULT 0.95)
	RETURNS race_measured_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;

COMMENT ON FUNCTION race_correlation(race_moments, int, int, float8) IS
	'the correlation of two columns, as race_covariance. Where the variance of a column is within its noise, the value is NULL and the interval goes from -1 to 1. With noise the value itself may lie beyond 1; the interval does not';

CREATE TYPE race_pca_result AS (component int, variance float8, standard_error float8, share float8, vector float8[]);

COMMENT ON TYPE race_pca_result IS 'a row of the result of race_pca';

COMMENT ON COLUMN race_pca_result.component IS 'from 1 on, the largest variance first';

COMMENT ON COLUMN race_pca_result.variance IS 'of the records along the vector';

COMMENT ON COLUMN race_pca_result.standard_error IS 'of the variance along this vector: of the noise, and of the records as a sample';

COMMENT ON COLUMN race_pca_result.share IS 'of the variance of all components';

COMMENT ON COLUMN race_pca_result.vector IS 'of length 1, a number for each column; the largest is positive';

CREATE FUNCTION race_pca(moments race_moments, standardize boolean DEFAULT false)
	RETURNS SETOF race_pca_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000 ROWS 10;

COMMENT ON FUNCTION race_pca(race_moments, boolean) IS
	'principal components of the columns: directions in which records vary most, at right angles to each other; in the units of the columns, or with standardize in their standard deviations. They come from the sums and products that the noisy ones most likely come from. Components whose variance is within a few standard errors are those of noise. Errors: 22023 for moments with features; 55000 for noise shares of which there are too few';

CREATE TYPE race_regress_result AS ("column" int, feature int, coefficient float8, standard_error float8);

COMMENT ON TYPE race_regress_result IS 'a row of the result of race_regress';

COMMENT ON COLUMN race_regress_result."column" IS 'the column of the record, from 1 on; 0 for the intercept; NULL for a feature';

COMMENT ON COLUMN race_regress_result.feature IS 'the random Fourier feature, from 1 on; NULL for a column';

COMMENT ON COLUMN race_regress_result.coefficient IS 'in units of the target a unit of the column';

COMMENT ON COLUMN race_regress_result.standard_error IS 'of the coefficient: of the noise, of the records as a sample, and what shrinking moved it by';

CREATE FUNCTION race_regress(moments race_moments, target int, predictors int[] DEFAULT NULL)
	RETURNS SETOF race_regress_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100000 ROWS 10;

COMMENT ON FUNCTION race_regress(race_moments, int, int[]) IS
	'the linear regression of column target on the columns of predictors and all features, or on all other columns (NULL): the intercept first. It comes from the sums and products that the noisy ones most likely come from, so that what noise hides is shrunk, as in ridge regression, with a penalty that follows from the known noise (Wigner 1955 for its size). From exact moments it is least squares. Standard errors take errors of the regression to be of equal variance. They do not include the effect of weights, which records beyond the norm have: where coefficients matter more than predictions, choose a norm that few records exceed. NULL moments or target give no rows. Errors: 22023 for columns that do not exist, or that come twice; 55000 for exact moments without records, and for noise shares of which there are too few';

CREATE FUNCTION race_predict(moments race_moments, target int, x float8[], predictors int[] DEFAULT NULL)
	RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;

COMMENT ON FUNCTION race_predict(race_moments, int, float8[], int[]) IS
	'what the regression of column target (race_regress) says of a record: x has all its columns but the target, in their order, in the units of the table. Numbers beyond their bounds are clipped, and so is the result. The fit is kept for further calls of the same place in a statement. NULL for a NULL argument, but NULL predictors stand for all columns. Errors: 22023 for another number of elements, a NULL element, a NaN or an infinity; others as in race_regress';

CREATE FUNCTION race_whiten_moments(moments race_moments) RETURNS race_transform
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000;

COMMENT ON FUNCTION race_whiten_moments(race_moments) IS
	'the transform for race_params that gives columns mean 0 and covariance 1, as race_whiten does: from private moments it is private, and needs no public rows. It comes from the sums and products that the noisy ones most likely come from, so columns that vary less than the noise are taken to vary about as much as it. Errors: 22023 for moments with features; 55000 if no column varies, and for noise shares of which there are too few';

CREATE FUNCTION race_pca_transform(moments race_moments, components int, standardize boolean DEFAULT false)
	RETURNS race_transform
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000;

COMMENT ON FUNCTION race_pca_transform(race_moments, int, boolean) IS
	'the transform for race_params to the first principal components (race_pca): distances are those along them. Errors: 22023 for another number of components than there are columns at most; others as in race_pca';

CREATE FUNCTION _race_discriminant_moments_step(internal, anyelement, race_moments) RETURNS internal
	AS 'MODULE_PATHNAME', 'race_discriminant_moments_step' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10;

CREATE FUNCTION _race_discriminant_moments_final(internal) RETURNS race_transform
	AS 'MODULE_PATHNAME', 'race_discriminant_moments_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION _race_discriminant_moments_step(internal, anyelement, race_moments) IS 'aggregate transition function';

COMMENT ON FUNCTION _race_discriminant_moments_final(internal) IS 'aggregate final function';

CREATE AGGREGATE race_discriminant_moments(label anyelement, moments race_moments) (
	SFUNC = _race_discriminant_moments_step, STYPE = internal,
	FINALFUNC = _race_discriminant_moments_final, PARALLEL = SAFE
);

COMMENT ON AGGREGATE race_discriminant_moments(anyelement, race_moments) IS
	'the transform for race_params to the directions in which classes lie apart (Fisher''s discriminant), as race_discriminant, over one row for each class with its moments: from private moments it is private. It has one direction less than there are classes, at most as many as columns; the variance within classes is 1 in each. Rows with a NULL are left out; no class gives NULL. Errors: 22023 for moments with features or with different parameters; 54000 for more than 100 classes; 55000 if the means of classes do not differ, if no column varies within classes, and for noise shares of which there are too few';

ALTER TABLE race_releases ADD COLUMN moments race_moments;

ALTER TABLE race_releases ADD COLUMN description text;

ALTER TABLE race_releases ADD COLUMN columns text[];

ALTER TABLE race_releases ADD COLUMN units text[];

ALTER TABLE race_releases ADD COLUMN scores race_sketch;

ALTER TABLE race_releases ADD CHECK ((sketch IS NULL) <> (moments IS NULL));

COMMENT ON TABLE race_releases IS
	'the releases, immutable: private sketches, or moments, by name, version (of a refresh), and part (1, or one for each label; of a release with a value two: of its lower bound, then of its upper). released_at is when the release was charged, before its data were read';

COMMENT ON COLUMN race_releases.sketch IS 'the private sketch; NULL in a release of moments';

COMMENT ON COLUMN race_releases.description IS 'what the publisher says of the release; NULL if nothing. The same in all parts, as the following';

COMMENT ON COLUMN race_releases.columns IS 'names of the columns of a record, and of the value after them; NULL if they have none';

COMMENT ON COLUMN race_releases.units IS 'what the columns are measured in, NULL for what has no unit; NULL if nothing was said';

COMMENT ON COLUMN race_releases.moments IS 'the private moments; NULL in a release of sketches';

COMMENT ON COLUMN race_releases.scores IS 'of a release that is calibrated, a private sketch of the scores (race_score) that the sketches of all labels give the records of this label; NULL in others';

CREATE OR REPLACE VIEW race_budget_status AS
SELECT b.budget,
	(SELECT pg_catalog.array_agg(d.dataset ORDER BY d.dataset) FROM race_datasets d WHERE d.budget = b.budget) AS datasets,
	(SELECT pg_catalog.array_agg(DISTINCT t.table_name ORDER BY t.table_name) FROM race_budget_tables t WHERE t.budget = b.budget) AS tables,
	b.accounting, b.epsilon_limit, b.delta_limit, b.rho_limit,
	b.spent_epsilon, b.spent_delta, b.spent_rho,
	CASE WHEN b.delta_limit > 0.0 THEN _race_rho_epsilon(b.spent_rho::float8, b.delta_limit::float8) END AS spent_zcdp_epsilon,
	CASE b.accounting WHEN 'basic' THEN b.epsilon_limit - b.spent_epsilon END AS epsilon_left,
	CASE b.accounting WHEN 'basic' THEN b.delta_limit - b.spent_delta END AS delta_left,
	b.rho_limit - b.spent_rho AS rho_left,
	c.charges, c.charged_by AS last_charged_by, c.charged_at AS last_charged_at
FROM race_budgets b LEFT JOIN LATERAL (
	SELECT count(*) AS charges, max(charged_at) AS charged_at,
		(pg_catalog.array_agg(charged_by ORDER BY charged_at DESC))[1] AS charged_by
	FROM race_charges WHERE budget = b.budget AND act = 'release') c ON true;

CREATE FUNCTION race_released_moments(name text, label text DEFAULT NULL) RETURNS race_moments
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE COST 100;

COMMENT ON FUNCTION race_released_moments(text, text) IS
	'the moments of the latest version of a release that was made with parameters of race_moment_params. Of a release with labels, the moments of one label. NULL for a NULL name. Errors: 42704 if there is no such release or label, 22023 if the release has labels and none is given, or has a sketch';

CREATE OR REPLACE VIEW race_latest_releases AS
SELECT r.name, r.version, r.label, r.value_bound, r.sketch, r.dataset,
	coalesce(race_count(r.sketch), m.count) AS count, coalesce(i.epsilon, m.epsilon) AS epsilon,
	coalesce(i.delta, m.delta) AS delta, r.released_at, r.moments, r.scores
FROM race_releases r CROSS JOIN LATERAL race_info(r.sketch) i CROSS JOIN LATERAL race_info(r.moments) m
WHERE r.version = (SELECT pg_catalog.max(n.version) FROM race_releases n WHERE n.name = r.name);

COMMENT ON COLUMN race_latest_releases.sketch IS 'the private sketch: a large value, so name the columns that you want to see; NULL in a release of moments';

COMMENT ON COLUMN race_latest_releases.moments IS 'the private moments; NULL in a release of sketches';

COMMENT ON COLUMN race_latest_releases.scores IS 'of a release that is calibrated, the private sketch of the scores of this label, which costs epsilon of its own; NULL in others';

DO $$
BEGIN
	IF current_setting('server_version_num')::int >= 150000 THEN
		ALTER VIEW race_latest_releases SET (security_invoker = true);
	END IF;
END $$;

CREATE FUNCTION race_classify(name text, q "any") RETURNS text
	AS 'MODULE_PATHNAME', 'race_classify_released' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 1000;

COMMENT ON FUNCTION race_classify(text, "any") IS
	'the label that q is most likely from, by the latest version of a release with labels. Of a release that is calibrated, the label with most records of this score; of others, the label with the highest density (maximum likelihood). Errors: 42704 if there is no such release, 22023 unless it has a sketch for each label, and others as in race_kde';

CREATE FUNCTION race_posterior(name text, q "any") RETURNS jsonb
	AS 'MODULE_PATHNAME', 'race_posterior_released' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 1000;

COMMENT ON FUNCTION race_posterior(text, "any") IS
	'the probability of each label given q, as {label: probability}, by the latest version of a release with labels. Of a release that is calibrated, the shares of labels among the records of this score; of others, densities over their sum. Errors as in race_classify';

CREATE OR REPLACE FUNCTION _race_entries_of(tables regclass[])
	RETURNS TABLE (relation regclass, budget text)
	LANGUAGE sql STABLE STRICT PARALLEL SAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT c.oid::regclass, b.budget
	FROM pg_class c CROSS JOIN LATERAL @extschema@._race_relation_name(c.oid::regclass) n (name)
		CROSS JOIN @extschema@._race_identity() i
		JOIN @extschema@.race_budget_tables b ON b.relation = c.oid OR b.table_name = n.name
		CROSS JOIN LATERAL (SELECT (b.identity).system_identifier = i.system_identifier
			AND (b.identity).database = i.database) h (here)
	WHERE c.oid = ANY (tables) AND (b.relation = c.oid AND h.here
		OR b.table_name = n.name AND b.owner = pg_get_userbyid(c.relowner) AND NOT (h.here AND EXISTS (
			SELECT FROM pg_class o WHERE o.oid = b.relation AND pg_get_userbyid(o.relowner) <> b.owner)))
$$;

CREATE OR REPLACE FUNCTION _race_enter_tables(tables regclass[], budget text) RETURNS void
	LANGUAGE sql VOLATILE PARALLEL UNSAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
	INSERT INTO @extschema@.race_budget_tables (table_name, relation, owner, budget, identity)
	SELECT @extschema@._race_relation_name(c.oid::regclass), c.oid, pg_get_userbyid(c.relowner), budget, @extschema@._race_identity()
	FROM pg_class c WHERE c.oid = ANY (tables)
	ON CONFLICT DO NOTHING
$$;

CREATE OR REPLACE FUNCTION _race_enter_new_tables(tables regclass[], budget text) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 10000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	new_ones regclass[] := ARRAY(
		SELECT c.oid FROM pg_class c
		WHERE c.oid = ANY (@extschema@._race_with_parts(@extschema@._race_topmost(tables)))
			AND NOT EXISTS (SELECT FROM @extschema@.race_budget_tables b
				WHERE b.table_name = @extschema@._race_relation_name(c.oid::regclass) AND b.relation = c.oid
					AND b.owner = pg_get_userbyid(c.relowner)));
BEGIN
	PERFORM @extschema@._race_enter_tables(
		@extschema@._race_lock_tables('@extschema@.race_budget_tables'::regclass, new_ones, false), budget);
END $$;

CREATE OR REPLACE FUNCTION _race_protect(
	actor name,
	dataset text, relation regclass, epsilon_limit float8, delta_limit float8,
	unit_column name, max_contributions int,
	neighbors text, accounting text,
	public_tables regclass[], tables regclass[]) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 100000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	limits record := @extschema@._race_check_limits(epsilon_limit, delta_limit, accounting);
	parts regclass[];
	shared text;
BEGIN
	IF dataset IS NULL OR relation IS NULL OR max_contributions IS NULL OR neighbors IS NULL
		OR public_tables IS NULL OR array_position(public_tables, NULL) IS NOT NULL
	THEN
		RAISE EXCEPTION 'dataset, relation, max_contributions, neighbors and public_tables must not be NULL'
			USING ERRCODE = 'null_value_not_allowed';
	END IF;
	IF octet_length(dataset) > 1000 THEN
		RAISE EXCEPTION 'the name of a dataset can have at most 1000 bytes' USING ERRCODE = 'program_limit_exceeded';
	END IF;
	PERFORM @extschema@._race_check_unit(max_contributions, neighbors);
	tables := @extschema@._race_topmost(tables);
	PERFORM @extschema@._race_check_owner(actor, tables);
	parts := @extschema@._race_lock_tables('@extschema@.race_budget_tables'::regclass, @extschema@._race_with_parts(tables), true);
	IF EXISTS (SELECT FROM @extschema@.race_datasets d WHERE d.dataset = _race_protect.dataset) THEN
		RAISE EXCEPTION 'dataset "%" is protected already', dataset USING ERRCODE = 'duplicate_object',
			HINT = 'race_budget_limit changes the limits of its budget.';
	END IF;

	shared := @extschema@._race_find_budget(tables, public_tables);
	IF shared IS NULL THEN
		PERFORM @extschema@._race_check_missing(tables);
		INSERT INTO @extschema@.race_budgets (budget, accounting, epsilon_limit, delta_limit, rho_limit, identity)
		VALUES (dataset, accounting, limits.epsilon, limits.delta, limits.rho, @extschema@._race_identity());
	ELSE
		PERFORM @extschema@._race_check_budget_owner(actor, shared);
		PERFORM @extschema@._race_check_shared(shared, limits.epsilon, limits.delta, accounting);
	END IF;
	PERFORM @extschema@._race_enter_tables(parts, coalesce(shared, dataset));
	INSERT INTO @extschema@.race_datasets
	SELECT dataset, relation, @extschema@._race_relation_name(relation), pg_get_userbyid(c.relowner),
		unit_column, max_contributions, neighbors,
		ARRAY(SELECT @extschema@._race_relation_name(t) FROM unnest(public_tables) t), coalesce(shared, dataset)
	FROM pg_class c WHERE c.oid = relation;
	PERFORM @extschema@._race_enter_act(actor, coalesce(shared, dataset), dataset, 'protect', jsonb_build_object(
		'relation', @extschema@._race_relation_name(relation), 'unit_column', unit_column, 'max_contributions', max_contributions,
		'neighbors', neighbors, 'public_tables', public_tables::text[], 'accounting', accounting,
		'epsilon_limit', limits.epsilon, 'delta_limit', limits.delta));
END $$;

CREATE OR REPLACE PROCEDURE race_grant(grantee regrole, duty text)
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	owner_may CONSTANT text[] := '{race_protect,race_budget_limit,race_budget_adopt,race_refreshes_left}';
	curator_may CONSTANT text[] := '{race_release,race_release_next,race_refreshes_left}';
	analyst_sees CONSTANT text[] := '{race_releases,race_latest_releases,race_catalog}';
	curator_sees CONSTANT text[] := analyst_sees || '{race_budget_status}';
	owner_sees CONSTANT text[] := curator_sees || '{race_budgets,race_datasets,race_budget_tables,race_charges}';
	f regprocedure;
	t regclass;
BEGIN
	IF grantee IS NULL THEN
		RAISE EXCEPTION 'grantee must not be NULL' USING ERRCODE = 'null_value_not_allowed';
	END IF;
	IF duty IS NULL OR duty NOT IN ('owner', 'curator', 'analyst') THEN
		RAISE EXCEPTION 'unknown duty "%"', left(duty, 64) USING ERRCODE = 'invalid_parameter_value',
			HINT = 'A role is an owner, a curator or an analyst.';
	END IF;
	FOR f IN SELECT oid FROM pg_proc WHERE pronamespace = '@extschema@'::regnamespace
		AND proname = ANY (CASE duty WHEN 'owner' THEN owner_may WHEN 'curator' THEN curator_may END)
	LOOP
		EXECUTE format('GRANT EXECUTE ON ROUTINE %s TO %s', f, grantee);
	END LOOP;
	FOR t IN SELECT oid FROM pg_class WHERE relnamespace = '@extschema@'::regnamespace
		AND relname = ANY (CASE duty WHEN 'owner' THEN owner_sees WHEN 'curator' THEN curator_sees ELSE analyst_sees END)
	LOOP
		EXECUTE format('GRANT SELECT ON %s TO %s', t, grantee);
	END LOOP;
END $$;

CREATE OR REPLACE FUNCTION _race_ordered_labels(params race_params, label text, labels text[], sketches int) RETURNS text[]
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 100
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	-- all private sketches of a release are in memory at once
	most CONSTANT bigint := 1000000000;
	most_labels CONSTANT int := 100000;
BEGIN
	IF (label IS NULL) <> (labels IS NULL) THEN
		RAISE EXCEPTION 'label and labels go together' USING ERRCODE = 'invalid_parameter_value',
			HINT = 'The list of labels is declared, because which labels occur is private.';
	END IF;
	IF labels IS NULL THEN
		RETURN NULL;
	END IF;
	IF cardinality(labels) > most_labels THEN
		RAISE EXCEPTION 'a release can have at most % labels', most_labels USING ERRCODE = 'program_limit_exceeded';
	END IF;
	IF array_position(labels, NULL) IS NOT NULL THEN
		RAISE EXCEPTION 'a label must not be NULL' USING ERRCODE = 'null_value_not_allowed';
	END IF;
	IF cardinality(labels) = 0 OR array_ndims(labels) <> 1 OR
		cardinality(labels) <> (SELECT count(DISTINCT l COLLATE "C") FROM unnest(labels) l)
	THEN
		RAISE EXCEPTION 'labels must be a list of different labels' USING ERRCODE = 'invalid_parameter_value';
	END IF;
	IF @extschema@._race_params_counters(params) * 8 > most / cardinality(labels) / sketches THEN
		RAISE EXCEPTION 'sketches of so many labels could be larger than 1 GB together' USING ERRCODE = 'program_limit_exceeded';
	END IF;
	RETURN ARRAY(SELECT l COLLATE "C" FROM unnest(labels) l ORDER BY 1);
END $$;

CREATE FUNCTION _race_check_description(
	params race_params, has_value boolean, description text, columns text[], units text[]) RETURNS void
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 100
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	most_bytes CONSTANT int := 200;		-- of a name or a unit
	most_description CONSTANT int := 10000;
	n CONSTANT int := (SELECT count(*) FROM @extschema@._race_columns(params)) + has_value::int;
BEGIN
	IF octet_length(description) > most_description THEN
		RAISE EXCEPTION 'a description can have at most % bytes', most_description USING ERRCODE = 'program_limit_exceeded';
	END IF;
	IF units IS NOT NULL AND columns IS NULL THEN
		RAISE EXCEPTION 'units need columns' USING ERRCODE = 'invalid_parameter_value';
	END IF;
	IF array_ndims(columns) <> 1 OR array_lower(columns, 1) <> 1 OR cardinality(columns) <> n
		OR array_ndims(units) <> 1 OR array_lower(units, 1) <> 1 OR cardinality(units) <> n
	THEN
		RAISE EXCEPTION 'columns and units must be lists of % texts', n USING ERRCODE = 'invalid_parameter_value',
			HINT = 'There is one for each column of a record, and one more for the value if there is one.';
	END IF;
	IF EXISTS (SELECT FROM unnest(columns || units) t WHERE octet_length(t) > most_bytes) THEN
		RAISE EXCEPTION 'the name or the unit of a column can have at most % bytes', most_bytes USING ERRCODE = 'program_limit_exceeded';
	END IF;
	IF EXISTS (SELECT FROM unnest(columns || units) t WHERE t ~ '[[:cntrl:]]')
		OR EXISTS (SELECT FROM unnest(columns) t WHERE t IS NULL OR t ~ '^ *-?[0-9]* *$')
		OR cardinality(columns) <> (SELECT count(DISTINCT t COLLATE "C") FROM unnest(columns) t)
	THEN
		RAISE EXCEPTION 'the names of columns must be different texts, no numbers, and without control characters'
			USING ERRCODE = 'invalid_parameter_value';
	END IF;
END $$;

COMMENT ON FUNCTION _race_check_description(race_params, boolean, text, text[], text[]) IS
	'raises 54000 or 22023 unless there is one name and one unit, or none at all, for each column of a record and for the value';

CREATE FUNCTION _race_request(
	dataset text, params race_params, expression text, epsilon float8, delta float8,
	rows int, label text, labels text[], fit boolean,
	value text, value_lower float8, value_upper float8,
	description text, columns text[], units text[], calibrate float8)
	RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT jsonb_build_object('dataset', dataset, 'params', params::text, 'expression', expression,
		'epsilon', @extschema@._race_exact_decimal(epsilon), 'delta', @extschema@._race_exact_decimal(delta),
		'rows', rows, 'label', label, 'labels', to_jsonb(labels), 'fit', fit) ||
		CASE WHEN value IS NULL THEN '{}' ELSE
			jsonb_build_object('value', value, 'value_lower', value_lower, 'value_upper', value_upper) END ||
		jsonb_strip_nulls(jsonb_build_object('description', description)) ||
		CASE WHEN columns IS NULL THEN '{}' ELSE jsonb_build_object('columns', columns, 'units', units) END ||
		jsonb_strip_nulls(jsonb_build_object('calibrate', calibrate))
$$;

COMMENT ON FUNCTION _race_request(text, race_params, text, float8, float8, int, text, text[], boolean, text, float8, float8, text, text[], text[], float8) IS
	'what a release is asked for, in a form in which equal requests are equal; expressions are as PostgreSQL writes them, labels in the order of the parts';

CREATE FUNCTION _race_last_request(
	name text, OUT version int, OUT dataset text, OUT params race_params, OUT expression text,
	OUT epsilon float8, OUT delta float8, OUT rows int, OUT label text, OUT labels text[], OUT fit boolean,
	OUT value text, OUT value_lower float8, OUT value_upper float8,
	OUT description text, OUT columns text[], OUT units text[], OUT calibrate float8)
	RETURNS record LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	SELECT r.version, q.dataset, q.params, q.expression, q.epsilon, q.delta, q.rows, q.label, q.labels, q.fit,
		q.value, q.value_lower, q.value_upper, q.description, q.columns, q.units, q.calibrate
	INTO version, dataset, params, expression, epsilon, delta, rows, label, labels, fit,
		value, value_lower, value_upper, description, columns, units, calibrate
	FROM @extschema@.race_releases r JOIN @extschema@.race_charges c ON c.charge = r.charge,
		jsonb_to_record(c.request) q (dataset text, params text, expression text,
			epsilon float8, delta float8, rows int, label text, labels text[], fit boolean,
			value text, value_lower float8, value_upper float8,
			description text, columns text[], units text[], calibrate float8)
	WHERE r.name = _race_last_request.name ORDER BY r.version DESC, r.part LIMIT 1;
	IF version IS NULL THEN
		RAISE EXCEPTION 'there is no release "%"', left(name, 64) USING ERRCODE = 'undefined_object';
	END IF;
END $$;

REVOKE EXECUTE ON FUNCTION _race_last_request(text) FROM PUBLIC;

COMMENT ON FUNCTION _race_last_request(text) IS
	'the latest version of a release, and the request that all versions share; error 42704 if there is none';

CREATE PROCEDURE race_release(
	name text, dataset text, params race_params, expression text,
	epsilon float8, delta float8 DEFAULT 0, rows int DEFAULT NULL,
	label text DEFAULT NULL, labels text[] DEFAULT NULL,
	grid boolean DEFAULT NULL, fit boolean DEFAULT NULL,
	value text DEFAULT NULL, value_lower float8 DEFAULT NULL, value_upper float8 DEFAULT NULL,
	description text DEFAULT NULL, columns text[] DEFAULT NULL, units text[] DEFAULT NULL,
	calibrate float8 DEFAULT NULL)
	AS 'MODULE_PATHNAME' LANGUAGE C;

REVOKE EXECUTE ON PROCEDURE race_release(text, text, race_params, text, float8, float8, int, text, text[], boolean, boolean, text, float8, float8, text, text[], text[], float8) FROM PUBLIC;

COMMENT ON PROCEDURE race_release(text, text, race_params, text, float8, float8, int, text, text[], boolean, boolean, text, float8, float8, text, text[], text[], float8) IS
	'charges the budget of a dataset, and then stores a private sketch of it in race_releases. expression, over the columns of the relation, gives the records; what is no record (race_is_record: a NULL, a NULL element that the parameters do not declare, a NaN, a wrong length) is left out, and how many are is not told, as that depends on the data. label, another expression, and labels, the list of all that there may be, make a release for each label, at the cost of one. grid: make a grid of the kernel (sequence "grid"); NULL does so where its errors are smaller, with rows NULL, for kernels l2 and l1 in up to 3 dims with finite bounds: for delta 0; and for a delta above 0 in two dimensions, and in one or with a value where a grid with pure noise errs less than rows with delta. A pure release is (epsilon, delta) private for every delta: where pure noise serves better, of such a grid, of one that you ask for, or of moments, no delta is spent, unless the budget counts in zCDP. fit: fit a model to the release (race_fit), within the bounds of the parameters; NULL does so where there are such bounds, for up to 32 sketches, but not of a grid with a value. value, another expression, and its public bounds value_lower and value_upper make a release for race_released_mean: two halves of a sketch, which share each record by its value (race_build_value), at the cost of one; a record whose value is NULL or NaN is left out. description, columns (a name for each column of a record, and one more for the value) and units (as many; NULL for none) are published with the release, in race_catalog: write nothing there that was learned from the data. calibrate, a share of epsilon above 0 and below 1, makes a release of 2 to 100 labels for race_classify(name, q) and race_posterior(name, q): the sketches get the rest of epsilon (and delta), and for this share the private records are scored by them, and a private sketch of the scores of each label is stored beside each sketch; 0.1 served all tables that were tried. With parameters of race_moment_params the release has moments (race_released_moments): then rows, grid, fit and value are errors. The same request under the same name charges nothing. It commits, so it must be a statement of its own. Errors before anything is read: 25001 inside a transaction block or function, 53400 over budget, 42710 another request of that name, 54000 a name, an expression or a list of labels that is too long, 55000 a copy of the database, 22023, 42601 and others for arguments; 42501 unless the caller may SELECT what it reads; after the charge 22000, with no more said, and 55000 if definitions were changed meanwhile';

CREATE VIEW race_catalog AS
SELECT f.name, f.version, p.labels, f.description,
	coalesce(f.columns, CASE WHEN f.value_bound IS NULL THEN c.numbers ELSE pg_catalog.array_append(c.numbers, 'value'::text) END) AS columns,
	f.units,
	CASE WHEN f.value_bound IS NULL THEN c.lower ELSE pg_catalog.array_append(c.lower, p.value_lower) END AS lower,
	CASE WHEN f.value_bound IS NULL THEN c.upper ELSE pg_catalog.array_append(c.upper, p.value_upper) END AS upper,
	p.count, p.epsilon, p.delta, f.released_at, f.dataset
FROM race_releases f
CROSS JOIN LATERAL (
	SELECT pg_catalog.array_agg(c.number::text ORDER BY c.number), pg_catalog.array_agg(c.lower ORDER BY c.number),
		pg_catalog.array_agg(c.upper ORDER BY c.number)
	FROM _race_columns(coalesce(race_params(f.sketch), race_params(f.moments))) c) c (numbers, lower, upper)
CROSS JOIN LATERAL (
	SELECT pg_catalog.array_agg(r.label ORDER BY r.part) FILTER (WHERE r.label IS NOT NULL AND r.value_bound IS NOT DISTINCT FROM f.value_bound),
		pg_catalog.min(r.value_bound), pg_catalog.max(r.value_bound),
		pg_catalog.sum(coalesce(race_count(r.sketch), m.count)),
		pg_catalog.max(coalesce(i.epsilon, m.epsilon) + coalesce(s.epsilon, 0)), pg_catalog.max(coalesce(i.delta, m.delta))
	FROM race_releases r CROSS JOIN LATERAL race_info(r.sketch) i CROSS JOIN LATERAL race_info(r.moments) m
		CROSS JOIN LATERAL race_info(r.scores) s
	WHERE r.name = f.name AND r.version = f.version) p (labels, value_lower, value_upper, count, epsilon, delta)
WHERE f.part = 1 AND f.version = (SELECT pg_catalog.max(n.version) FROM race_releases n WHERE n.name = f.name);

COMMENT ON VIEW race_catalog IS
	'a row for each release: what its publisher says of it, and what its latest version is, without the sketch. Tools that read whole rows read this one, not race_releases';

COMMENT ON COLUMN race_catalog.name IS 'the name of the release';

COMMENT ON COLUMN race_catalog.version IS 'its latest version';

COMMENT ON COLUMN race_catalog.labels IS 'its labels; NULL in a release without labels';

COMMENT ON COLUMN race_catalog.description IS 'what the publisher says of it; NULL if nothing';

COMMENT ON COLUMN race_catalog.columns IS 'the names of the columns of a record, and of the value after them; their numbers, and value, if the publisher gave no names';

COMMENT ON COLUMN race_catalog.units IS 'what the columns are measured in, NULL for what has no unit; NULL if the publisher did not say';

COMMENT ON COLUMN race_catalog.lower IS 'the lower bounds of the columns, NULL where there is none; of a value value_lower';

COMMENT ON COLUMN race_catalog.upper IS 'the upper bounds, in the same way';

COMMENT ON COLUMN race_catalog.count IS 'the noisy number of records, of all labels together';

COMMENT ON COLUMN race_catalog.epsilon IS 'the true epsilon of this version';

COMMENT ON COLUMN race_catalog.delta IS 'its delta';

COMMENT ON COLUMN race_catalog.released_at IS 'when it was charged, before its data were read';

COMMENT ON COLUMN race_catalog.dataset IS 'the dataset that it was made of';

DO $$
BEGIN
	IF current_setting('server_version_num')::int >= 150000 THEN
		ALTER VIEW race_catalog SET (security_invoker = true);
	END IF;
END $$;

CREATE FUNCTION _race_labels(release text, label text) RETURNS TABLE (label text)
	LANGUAGE sql STABLE PARALLEL SAFE COST 100 ROWS 2
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT coalesce(_race_labels.label, l.label)
	FROM (VALUES (1)) one LEFT JOIN LATERAL (
		SELECT r.label, min(r.part) AS part FROM @extschema@.race_releases r
		WHERE r.name = release AND _race_labels.label IS NULL
			AND r.version = (SELECT max(n.version) FROM @extschema@.race_releases n WHERE n.name = release)
		GROUP BY r.label) l ON true
	WHERE release IS NOT NULL ORDER BY l.part
$$;

COMMENT ON FUNCTION _race_labels(text, text) IS
	'the labels of a release in their order, or the one that is given; one NULL if there are none, or no such release, so that race_released tells which';

CREATE FUNCTION _race_column(release text, "column" text) RETURNS int
	LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	names text[];
	n int;
BEGIN
	SELECT r.columns, (SELECT count(*) FROM @extschema@._race_columns(
		coalesce(@extschema@.race_params(r.sketch), @extschema@.race_params(r.moments))))
	INTO names, n
	FROM @extschema@.race_releases r WHERE r.name = release ORDER BY r.version DESC, r.part LIMIT 1;
	IF NOT FOUND THEN
		PERFORM @extschema@.race_released(release);		-- says that there is none
		RETURN NULL;
	END IF;
	IF array_position(names[:n], "column") IS NOT NULL THEN
		RETURN array_position(names[:n], "column");
	ELSIF "column" ~ '^ *0*[1-9][0-9]{0,8} *$' AND "column"::int <= n OR "column" IS NULL THEN
		RETURN "column"::int;
	END IF;
	RAISE EXCEPTION 'release "%" has no column "%"', left(release, 64), left("column", 64)
		USING ERRCODE = 'undefined_column',
			HINT = format('Its columns are %s.', coalesce(array_to_string(names[:n], ', '), '1 to ' || n));
END $$;

COMMENT ON FUNCTION _race_column(text, text) IS
	'the number of a column of a release that is given by its name or number; errors: 42703 no such column, 42704 no such release';

CREATE TYPE race_curve_result AS (
	x float8, density float8, lower float8, upper float8, count_per_unit float8, label text);

COMMENT ON TYPE race_curve_result IS 'a row of the result of race_curve';

COMMENT ON COLUMN race_curve_result.x IS 'a place of the column, from the lower bound to the upper one';

COMMENT ON COLUMN race_curve_result.density IS 'the probability density there, per unit of the column: from bound to bound it integrates to one';

COMMENT ON COLUMN race_curve_result.lower IS 'the lower end of the confidence interval; NULL where theory gives none';

COMMENT ON COLUMN race_curve_result.upper IS 'the upper end';

COMMENT ON COLUMN race_curve_result.count_per_unit IS 'how many records there are per unit of the column: the density times the noisy number of records';

COMMENT ON COLUMN race_curve_result.label IS 'the label; NULL in a release without labels';

CREATE FUNCTION race_curve(
	release text, "column" text DEFAULT '1', steps int DEFAULT 100,
	lower float8 DEFAULT NULL, upper float8 DEFAULT NULL, label text DEFAULT NULL,
	confidence float8 DEFAULT 0.95, smoothing float8 DEFAULT NULL)
	RETURNS SETOF race_curve_result
	LANGUAGE sql STABLE PARALLEL SAFE COST 100000 ROWS 100
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT c.x, c.density, c.low, c.high, c.density * greatest(@extschema@.race_count(s.sketch), 0), l.label
	FROM @extschema@._race_labels(release, label) l
		CROSS JOIN LATERAL @extschema@._race_model(@extschema@.race_released(release, l.label)) s (sketch)
		CROSS JOIN LATERAL @extschema@._race_curve(s.sketch, @extschema@._race_column(release, "column"), steps,
			lower, upper, confidence, smoothing) c
$$;

COMMENT ON FUNCTION race_curve(text, text, int, float8, float8, text, float8, float8) IS
	'the probability density of one column of a release, at steps places (2 to 10000) from lower to upper; NULL stands for the bounds of the column. column is a name in race_catalog, or a number. Other columns are left out: it is the marginal of the model. Each point of the model stands for a normal distribution around it, whose standard deviation is smoothing times the bandwidth (NULL: 0.25, or 0.5 or 1 where else the standard error would be more than 5 % of the highest density), and which is mirrored at the bounds. The interval is about noise and rows, not about what smoothing blurs. For a grid it comes from the noise of the nodes, and is wider than needed. For rows it comes from how much both halves of them differ; in several dimensions it holds the truth less often than it should. For one row that is not a grid there is none. All labels, or one. A release without a model is fitted first, and the session keeps that. Errors: 42704 no such release or label, 42703 no such column, 22023 a column that is not a number, a kernel other than l2 and l1, a transform, or arguments out of limits; 55000 without a model and without bounds';

CREATE TYPE race_heatmap_result AS (x1 float8, x2 float8, density float8, stderr float8, label text);

COMMENT ON TYPE race_heatmap_result IS 'a row of the result of race_heatmap';

COMMENT ON COLUMN race_heatmap_result.x1 IS 'the middle of a cell, in the first column';

COMMENT ON COLUMN race_heatmap_result.x2 IS 'and in the second';

COMMENT ON COLUMN race_heatmap_result.density IS 'the probability density there, per unit of both columns';

COMMENT ON COLUMN race_heatmap_result.stderr IS 'its standard error, as race_curve; NULL where theory gives none';

COMMENT ON COLUMN race_heatmap_result.label IS 'the label; NULL in a release without labels';

CREATE FUNCTION race_heatmap(
	release text, column1 text DEFAULT '1', column2 text DEFAULT '2', steps int DEFAULT 40,
	lower float8[] DEFAULT NULL, upper float8[] DEFAULT NULL, label text DEFAULT NULL,
	smoothing float8 DEFAULT NULL)
	RETURNS SETOF race_heatmap_result
	LANGUAGE sql STABLE PARALLEL SAFE COST 100000 ROWS 1600
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT c.x1, c.x2, c.density, c.stderr, l.label
	FROM @extschema@._race_labels(release, label) l
		CROSS JOIN LATERAL @extschema@._race_heatmap(@extschema@._race_model(@extschema@.race_released(release, l.label)),
			@extschema@._race_column(release, column1), @extschema@._race_column(release, column2), steps,
			lower, upper, smoothing) c
$$;

COMMENT ON FUNCTION race_heatmap(text, text, text, int, float8[], float8[], text, float8) IS
	'the probability density of two columns of a release, in steps by steps cells (2 to 500) from lower to upper: two bounds each, NULL for those of the columns. Columns, labels, smoothing and errors as race_curve';

CREATE TYPE race_histogram_result AS (lower float8, upper float8, count float8, stderr float8, label text);

COMMENT ON TYPE race_histogram_result IS 'a row of the result of race_histogram';

COMMENT ON COLUMN race_histogram_result.lower IS 'the lower edge';

COMMENT ON COLUMN race_histogram_result.upper IS 'the upper edge';

COMMENT ON COLUMN race_histogram_result.count IS 'how many records lie between them';

COMMENT ON COLUMN race_histogram_result.stderr IS 'its standard error, as race_curve; NULL where theory gives none';

COMMENT ON COLUMN race_histogram_result.label IS 'the label; NULL in a release without labels';

CREATE FUNCTION race_histogram(
	release text, "column" text, edges float8[], label text DEFAULT NULL, smoothing float8 DEFAULT 0.1)
	RETURNS SETOF race_histogram_result
	LANGUAGE sql STABLE PARALLEL SAFE COST 100000 ROWS 20
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT c.lower, c.upper, c.count, c.stderr, l.label
	FROM @extschema@._race_labels(release, label) l
		CROSS JOIN LATERAL @extschema@._race_histogram(@extschema@._race_model(@extschema@.race_released(release, l.label)),
			@extschema@._race_column(release, "column"), edges, smoothing) c
$$;

COMMENT ON FUNCTION race_histogram(text, text, float8[], text, float8) IS
	'how many records of a release lie between edges of a column, which ascend: what race_curve has between them, with less smoothing. The error counts noise, rows, and records so near an edge that they may be on either side. Columns, labels, smoothing and errors as race_curve';

CREATE TYPE race_quantiles_result AS (p float8, value float8, stderr float8, label text);

COMMENT ON TYPE race_quantiles_result IS 'a row of the result of race_quantiles';

COMMENT ON COLUMN race_quantiles_result.p IS 'the share of records that are below the value';

COMMENT ON COLUMN race_quantiles_result.value IS 'the quantile';

COMMENT ON COLUMN race_quantiles_result.stderr IS 'its standard error, for a grid in one dimension; else NULL, because theory gives none';

COMMENT ON COLUMN race_quantiles_result.label IS 'the label; NULL in a release without labels';

CREATE FUNCTION race_quantiles(
	release text, "column" text DEFAULT '1', p float8[] DEFAULT '{0.05,0.25,0.5,0.75,0.95}', label text DEFAULT NULL)
	RETURNS SETOF race_quantiles_result
	LANGUAGE sql STABLE PARALLEL SAFE COST 100000 ROWS 10
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT q.p, q.value, q.standard_error, l.label
	FROM @extschema@._race_labels(release, label) l
		CROSS JOIN LATERAL @extschema@.race_quantile(@extschema@._race_model(@extschema@.race_released(release, l.label)),
			race_quantiles.p, @extschema@._race_column(release, "column")) q
$$;

COMMENT ON FUNCTION race_quantiles(text, text, float8[], text) IS
	'race_quantile by the name of a release, of all labels or one. Columns and errors as race_curve, 22003 for p below 0 or above 1';

CREATE TYPE race_release_modes_result AS (
	mode int, "column" text, x float8, record text, density float8, prominence float8, label text);

COMMENT ON TYPE race_release_modes_result IS 'a row of the result of race_modes by the name of a release';

COMMENT ON COLUMN race_release_modes_result.mode IS 'the number of the mode: 1 is the most prominent';

COMMENT ON COLUMN race_release_modes_result."column" IS 'a column, by its name in race_catalog; NULL for records that are no vectors';

COMMENT ON COLUMN race_release_modes_result.x IS 'where the mode is in this column';

COMMENT ON COLUMN race_release_modes_result.record IS 'the mode as text, of records that are no vectors; else NULL';

COMMENT ON COLUMN race_release_modes_result.density IS 'the density there, as race_kde';

COMMENT ON COLUMN race_release_modes_result.prominence IS 'as race_modes of a sketch';

COMMENT ON COLUMN race_release_modes_result.label IS 'the label; NULL in a release without labels';

CREATE FUNCTION race_modes(release text, max int DEFAULT 10, label text DEFAULT NULL)
	RETURNS SETOF race_release_modes_result
	LANGUAGE sql STABLE PARALLEL SAFE COST 10000000 ROWS 10
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT m.mode::int, coalesce(c.columns[x.i], x.i::text), x.x, m.record, m.density, m.prominence, l.label
	FROM (SELECT r.columns FROM @extschema@.race_releases r
			WHERE r.name = release ORDER BY r.version DESC, r.part LIMIT 1) c
		RIGHT JOIN @extschema@._race_labels(release, label) l ON true
		CROSS JOIN LATERAL @extschema@.race_modes(@extschema@._race_model(@extschema@.race_released(release, l.label)), max)
			WITH ORDINALITY m (at, record, density, prominence, mode)
		LEFT JOIN LATERAL unnest(m.at) WITH ORDINALITY x (x, i) ON true
$$;

COMMENT ON FUNCTION race_modes(text, int, text) IS
	'race_modes by the name of a release, of all labels or one: a row for each column of each mode';

CREATE TYPE race_outliers_result AS (point int, typicality float8, share float8, density float8, label text);

COMMENT ON TYPE race_outliers_result IS 'a row of the result of race_outliers';

COMMENT ON COLUMN race_outliers_result.point IS 'the number of the point, from 1 on';

COMMENT ON COLUMN race_outliers_result.typicality IS 'the density over that of the average record, as race_typicality: near 0 is an anomaly';

COMMENT ON COLUMN race_outliers_result.share IS 'the share of records that are less typical, as race_typicality_share: compare it with a threshold such as 0.01. NULL without a model';

COMMENT ON COLUMN race_outliers_result.density IS 'the density, as race_kde';

COMMENT ON COLUMN race_outliers_result.label IS 'the label; NULL in a release without labels';

CREATE FUNCTION _race_points(params race_params, points float8[]) RETURNS TABLE (point int, x float8[])
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 1000 ROWS 100
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	dims int := (SELECT count(*) FROM @extschema@._race_columns(params));
BEGIN
	IF cardinality(points) % dims <> 0 OR array_ndims(points) > 2
		OR array_ndims(points) = 2 AND array_length(points, 2) <> dims
	THEN
		RAISE EXCEPTION 'points must be an array of % numbers for each point', dims
			USING ERRCODE = 'invalid_parameter_value';
	END IF;
	RETURN QUERY SELECT ((n.n - 1) / dims + 1)::int, array_agg(n.x ORDER BY n.n)
	FROM unnest(points) WITH ORDINALITY n (x, n) GROUP BY 1 ORDER BY 1;
END $$;

COMMENT ON FUNCTION _race_points(race_params, float8[]) IS
	'points from an array that has a row for each, or all their numbers one after the other; error 22023 if they do not have as many columns as records of these parameters';

CREATE FUNCTION race_outliers(release text, points float8[], label text DEFAULT NULL)
	RETURNS SETOF race_outliers_result
	LANGUAGE sql STABLE PARALLEL SAFE COST 100000 ROWS 100
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT p.point, @extschema@.race_typicality(s.sketch, p.x),
		CASE WHEN s.fitted THEN @extschema@.race_typicality_share(s.sketch, p.x) END,
		@extschema@.race_kde(s.sketch, p.x), l.label
	FROM @extschema@._race_labels(release, label) l
		CROSS JOIN LATERAL (
			SELECT m.sketch, (@extschema@.race_info(m.sketch)).points IS NOT NULL
			FROM @extschema@._race_model(@extschema@.race_released(release, l.label)) m (sketch) OFFSET 0) s (sketch, fitted)
		CROSS JOIN LATERAL @extschema@._race_points(@extschema@.race_params(s.sketch), points) p
	ORDER BY p.point, l.label COLLATE "C"
$$;

COMMENT ON FUNCTION race_outliers(text, float8[], text) IS
	'how typical points are among the records of a release, of all labels or one, in the order of the points. points has a row of numbers for each, {{1,2},{3,4}}, or all numbers one after the other. Error 22023 for points of another length, others as race_curve and race_typicality';

CREATE TYPE race_mean_curve_result AS (
	x float8, mean float8, stderr float8, lower float8, upper float8, label text);

COMMENT ON TYPE race_mean_curve_result IS 'a row of the result of race_mean_curve';

COMMENT ON COLUMN race_mean_curve_result.x IS 'a place of the column';

COMMENT ON COLUMN race_mean_curve_result.mean IS 'the mean of the value there, as race_released_mean; without a trend NULL where too few records are near';

COMMENT ON COLUMN race_mean_curve_result.stderr IS 'its standard error; NULL with the mean';

COMMENT ON COLUMN race_mean_curve_result.lower IS 'the lower end of the confidence interval';

COMMENT ON COLUMN race_mean_curve_result.upper IS 'the upper end';

COMMENT ON COLUMN race_mean_curve_result.label IS 'the label; NULL in a release without labels';

CREATE FUNCTION _race_line(release text, "column" text, steps int, lower float8, upper float8, at float8[])
	RETURNS TABLE (x float8, q float8[])
	LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1000 ROWS 100
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	n int := @extschema@._race_column(release, "column");
	dims int;
	first float8;
	last float8;
BEGIN
	SELECT count(*), max(c.lower) FILTER (WHERE c.number = n), max(c.upper) FILTER (WHERE c.number = n)
	INTO dims, first, last
	FROM @extschema@._race_columns((
		SELECT coalesce(@extschema@.race_params(r.sketch), @extschema@.race_params(r.moments)) FROM @extschema@.race_releases r
		WHERE r.name = release ORDER BY r.version DESC, r.part LIMIT 1)) c;
	first := coalesce(_race_line.lower, first);
	last := coalesce(_race_line.upper, last);
	IF coalesce(cardinality(at), CASE dims WHEN 1 THEN 1 ELSE 0 END) <> dims OR array_ndims(at) <> 1 THEN
		RAISE EXCEPTION 'at must be % numbers', dims USING ERRCODE = 'invalid_parameter_value',
			HINT = 'They say where the other columns are.';
	END IF;
	IF steps IS NULL OR steps NOT BETWEEN 2 AND 10000 THEN
		RAISE EXCEPTION 'steps must be between 2 and 10000' USING ERRCODE = 'invalid_parameter_value';
	END IF;
	IF NOT coalesce(first < last AND last - first < 'Infinity' AND first > '-Infinity', false) THEN
		RAISE EXCEPTION 'the lower bound of a chart must be below the upper one' USING ERRCODE = 'invalid_parameter_value',
			HINT = 'Give lower and upper where the column has no bounds.';
	END IF;
	RETURN QUERY SELECT v.v, coalesce(at[:n - 1], '{}') || v.v || coalesce(at[n + 1:], '{}')
	FROM generate_series(0, steps - 1) i, LATERAL (SELECT CASE i WHEN steps - 1 THEN last
		ELSE first + (last - first) * i / (steps - 1) END) v (v);
END $$;

COMMENT ON FUNCTION _race_line(text, text, int, float8, float8, float8[]) IS
	'places along a column of a release, and the records there whose other columns are those of at';

CREATE FUNCTION race_mean_curve(
	release text, "column" text DEFAULT '1', steps int DEFAULT 100,
	lower float8 DEFAULT NULL, upper float8 DEFAULT NULL, at float8[] DEFAULT NULL,
	label text DEFAULT NULL, confidence float8 DEFAULT 0.95)
	RETURNS SETOF race_mean_curve_result
	LANGUAGE sql STABLE PARALLEL SAFE COST 100000 ROWS 100
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT p.x, m.mean, m.stderr, m.lower, m.upper, l.label
	FROM @extschema@._race_labels(release, label) l
		CROSS JOIN LATERAL @extschema@._race_line(release, "column", steps, lower, upper, at) p
		CROSS JOIN LATERAL @extschema@.race_released_mean(release, p.q, l.label, confidence) m
$$;

COMMENT ON FUNCTION race_mean_curve(text, text, int, float8, float8, float8[], text, float8) IS
	'the mean of the value of a release along a column, as race_released_mean, at steps places (2 to 10000) from lower to upper; NULL stands for the bounds of the column. A release of several columns needs at: a record that says where the others are. Columns, labels and errors as race_curve, 22023 for a release without a value';

CREATE TYPE race_trend_result AS (
	"time" timestamptz, version int, count float8, epsilon float8,
	distance float8, squared float8, stderr float8, p_value float8, label text);

COMMENT ON TYPE race_trend_result IS 'a row of the result of race_trend';

COMMENT ON COLUMN race_trend_result."time" IS 'when the version was charged, before its data were read';

COMMENT ON COLUMN race_trend_result.version IS 'the version';

COMMENT ON COLUMN race_trend_result.count IS 'its noisy number of records';

COMMENT ON COLUMN race_trend_result.epsilon IS 'its true epsilon';

COMMENT ON COLUMN race_trend_result.distance IS 'the distance to the version before, as race_distance; NULL for the first';

COMMENT ON COLUMN race_trend_result.squared IS 'the squared distance, an unbiased estimate, which may be negative';

COMMENT ON COLUMN race_trend_result.stderr IS 'the standard error of squared';

COMMENT ON COLUMN race_trend_result.p_value IS 'the probability of such a distance or more if nothing has changed. Versions with records in common differ less than it supposes: then it is too high';

COMMENT ON COLUMN race_trend_result.label IS 'the label; NULL in a release without labels';

CREATE FUNCTION race_trend(release text, label text DEFAULT NULL)
	RETURNS SETOF race_trend_result
	LANGUAGE sql STABLE PARALLEL SAFE COST 1000000 ROWS 10
	SET search_path = pg_catalog, pg_temp AS $$
	WITH versions AS (
		SELECT r.version, r.label, r.released_at,
			@extschema@.race_merge_disjoint(r.sketch) AS sketch,
			@extschema@.race_info(@extschema@.race_merge_disjoint(r.moments)) AS moments
		FROM @extschema@.race_releases r
		WHERE r.name = release AND (race_trend.label IS NULL OR r.label = race_trend.label)
		GROUP BY r.version, r.label, r.released_at)
	SELECT v.released_at, v.version, coalesce(@extschema@.race_count(v.sketch), (v.moments).count),
		coalesce((@extschema@.race_info(v.sketch)).epsilon, (v.moments).epsilon),
		d.distance, d.squared, d.standard_error, d.p_value, v.label
	FROM versions v LEFT JOIN versions before
		ON before.version = v.version - 1 AND before.label IS NOT DISTINCT FROM v.label
		LEFT JOIN LATERAL @extschema@.race_distance(v.sketch, before.sketch) d ON true
	ORDER BY v.label COLLATE "C", v.version
$$;

COMMENT ON FUNCTION race_trend(text, text) IS
	'a row for each version of a release, and of each label or one: the number of records, and the distance to the version before. Moments have counts, and no distance. No rows if there is no such release';

DO $$
DECLARE
	path CONSTANT text := pg_catalog.current_setting('search_path');
	grantee text;
	routine regprocedure;
	relation regclass;
BEGIN
	PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
	grantee := CASE WHEN EXISTS (SELECT FROM pg_roles WHERE rolname = 'pg_database_owner') THEN 'pg_database_owner'
		ELSE (SELECT extowner::regrole::text FROM pg_extension WHERE extname = 'racepriv') END;
	FOR routine IN SELECT p.oid FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
		WHERE d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'racepriv')
			AND p.proname !~ '^_' AND NOT has_function_privilege('public', p.oid, 'EXECUTE')
		ORDER BY p.oid
	LOOP
		EXECUTE format('GRANT EXECUTE ON ROUTINE %s TO %s WITH GRANT OPTION', routine, grantee);
	END LOOP;
	FOR relation IN SELECT c.oid FROM pg_class c JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e'
		WHERE d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'racepriv') AND c.relkind IN ('r', 'v')
		ORDER BY c.oid
	LOOP
		EXECUTE format('GRANT SELECT ON %s TO %s WITH GRANT OPTION', relation, grantee);
	END LOOP;
	PERFORM set_config('search_path', path, true);
END $$;

DO $$
DECLARE
	path CONSTANT text := pg_catalog.current_setting('search_path');
	held record;
	routine regprocedure;
BEGIN
	PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
	FOR held IN SELECT * FROM jsonb_to_recordset(current_setting('racepriv_upgrade.rights')::jsonb)
			h (name name, grantee text, option boolean)
	LOOP
		FOR routine IN SELECT p.oid FROM pg_proc p
			WHERE p.pronamespace = '@extschema@'::regnamespace AND p.proname = held.name
		LOOP
			EXECUTE format('GRANT EXECUTE ON ROUTINE %s TO %s%s', routine, held.grantee,
				CASE WHEN held.option THEN ' WITH GRANT OPTION' END);
		END LOOP;
	END LOOP;
	PERFORM set_config('search_path', path, true);
END $$;

-- A GRANT in the script of an extension takes all rights on its object for initial ones, which
-- pg_dump leaves out.  Those that were granted to other roles are not.
DO $$
DECLARE
	path CONSTANT text := pg_catalog.current_setting('search_path');
	ours oid[];
	keepers oid[];
BEGIN
	PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
	ours := ARRAY(SELECT objid FROM pg_depend WHERE deptype = 'e'
		AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'racepriv'));
	keepers := ARRAY(SELECT 0::oid UNION SELECT relowner FROM pg_class WHERE oid = '@extschema@.race_charges'::regclass
		UNION SELECT oid FROM pg_roles WHERE rolname = 'pg_database_owner'
		UNION SELECT extowner FROM pg_extension WHERE extname = 'racepriv');
	UPDATE pg_init_privs i SET initprivs = ARRAY(SELECT item FROM unnest(i.initprivs) item
			WHERE NOT EXISTS (SELECT FROM aclexplode(ARRAY[item]) a WHERE a.grantee <> ALL (keepers)))
		WHERE i.classoid IN ('pg_class'::regclass, 'pg_proc'::regclass) AND i.objoid = ANY (ours);
	-- from PostgreSQL 17 on, what they are depends on these roles
	DELETE FROM pg_shdepend WHERE deptype = 'i' AND objid = ANY (ours) AND refobjid <> ALL (keepers)
		AND classid IN ('pg_class'::regclass, 'pg_proc'::regclass)
		AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database());
	PERFORM set_config('search_path', path, true);
END $$;
