\echo Use "CREATE EXTENSION racepriv" to load this file. \quit
-- ------------------------------------------------------------------------
-- race_params: the parameters that all who want to merge must share

CREATE TYPE race_params;

CREATE FUNCTION _race_params_in(cstring) RETURNS race_params
	AS 'MODULE_PATHNAME', 'race_params_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _race_params_out(race_params) RETURNS cstring
	AS 'MODULE_PATHNAME', 'race_params_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _race_params_recv(internal) RETURNS race_params
	AS 'MODULE_PATHNAME', 'race_params_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _race_params_send(race_params) RETURNS bytea
	AS 'MODULE_PATHNAME', 'race_params_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE race_params (
	INPUT = _race_params_in, OUTPUT = _race_params_out,
	RECEIVE = _race_params_recv, SEND = _race_params_send,
	INTERNALLENGTH = VARIABLE, ALIGNMENT = double, STORAGE = extended
);
COMMENT ON TYPE race_params IS
	'the parameters of a RACE sketch: kernel, row functions and shape. The text form is l2(dims=3, bandwidth=5, power=1, rows=1024, range=1024, seed=0), and for a product of kernels l2(dims=2) * match(dims=3)';
COMMENT ON FUNCTION _race_params_in(cstring) IS 'I/O';
COMMENT ON FUNCTION _race_params_out(race_params) IS 'I/O';
COMMENT ON FUNCTION _race_params_recv(internal) IS 'I/O';
COMMENT ON FUNCTION _race_params_send(race_params) IS 'I/O';

CREATE TYPE race_transform AS (matrix float8[], "offset" float8[]);
COMMENT ON TYPE race_transform IS
	'a linear map of vectors for race_params, g(x) = M (x - o): vectors are compared by g(x) instead of x (Coleman & Shrivastava 2021, sections 7.1 and 7.2)';
COMMENT ON COLUMN race_transform.matrix IS 'M: an array of its rows, each of dims numbers; NULL is the identity';
COMMENT ON COLUMN race_transform."offset" IS 'o: dims numbers that are subtracted first; NULL is zero';

CREATE FUNCTION race_transform(matrix float8[], "offset" float8[] DEFAULT NULL)
	RETURNS race_transform LANGUAGE sql IMMUTABLE PARALLEL SAFE
	AS 'SELECT $1, $2';
COMMENT ON FUNCTION race_transform(float8[], float8[]) IS
	'a transform for race_params: M is an array of its rows (m rows of dims numbers each), o has dims numbers. It must come from public data, because it is part of the parameters and shown to all. race_whiten computes one';

CREATE FUNCTION race_params(
	kernel text, dims int DEFAULT NULL, bandwidth float8 DEFAULT 1,
	power int DEFAULT 1, rows int DEFAULT 1024, range int DEFAULT 1024,
	seed bigint DEFAULT 0, sequence text DEFAULT 'auto',
	rehash text DEFAULT 'auto', bandwidths float8[] DEFAULT NULL,
	lower float8[] DEFAULT NULL, upper float8[] DEFAULT NULL,
	transform race_transform DEFAULT NULL, cells float8[] DEFAULT NULL,
	nulls text DEFAULT NULL, mixture float8[] DEFAULT NULL)
	RETURNS race_params AS 'MODULE_PATHNAME', 'race_params_make'
	LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION race_params(text, int, float8, int, int, int, bigint, text, text, float8[], float8[], float8[], race_transform, float8[], text, float8[]) IS
	'the parameters of a sketch. kernel: l2, l1 or angular for vectors, jaccard for sets, match for rows of categories. dims: the length of a vector or row; sets have none. bandwidth: in units of the data (l2, l1). power: the kernel is taken to this power. rows: R, at least 1. range: W counters a row, at least 2. seed: of the row functions. sequence: sobol (rows that balance each other, up to 21 numbers a row), orthogonal (projections at right angles, for more numbers; l2 and angular), independent, or auto. rehash: fold (l2 with power 1: code mod range, which adds less than 7.5e-4 of the kernel up to range / 4 bandwidths away, for ranges from 16 on, and more beyond; angular with 2^power <= range: exact), multilinear (collisions are corrected in estimates), or auto. bandwidths: a factor of bandwidth for each column (l2, l1). lower, upper: public bounds that vectors are clipped to first. transform: compare M (x - o), from public data (l2, angular). sequence grid: one row whose counters are the nodes of a grid between the bounds, over which each record is split linearly (l2 and l1 by themselves, up to 3 dims, with finite bounds and without a transform); rows and range follow from it. cells: of a grid, how many along each axis, else small parts of a bandwidth. nulls: what a NULL in a row of categories is (match): category, one more category, which a NULL in a query asks for; different, one that equals nothing, neither a NULL in a query nor any other; without it a NULL is an error. mixture: rows {factor, weight}, up to 16; each row of the sketch has one of the bandwidths factor * bandwidth, as often as the weight says, so that the kernel is the weighted mean of the kernels with these bandwidths, each taken to the power (l2, l1; Coleman & Shrivastava 2021, section 7.1). NULL if an argument before bandwidths is NULL, but for dims. Error 22023 outside the limits';

CREATE FUNCTION _race_params_multiply(race_params, race_params) RETURNS race_params
	AS 'MODULE_PATHNAME', 'race_params_multiply' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION _race_params_multiply(race_params, race_params) IS 'implementation of * operator';
CREATE OPERATOR * (
	LEFTARG = race_params, RIGHTARG = race_params, FUNCTION = _race_params_multiply
);
COMMENT ON OPERATOR * (race_params, race_params) IS
	'the product of kernels (up to 4), for records ROW(x, c) with a value for each kernel. Both sides must have the same rows, range and seed (22023). Multiply from left to right, as the text form is read: with parentheses the right side may have chosen other sequences, and then sketches differ';

CREATE FUNCTION _race_params_eq(race_params, race_params) RETURNS boolean
	AS 'MODULE_PATHNAME', 'race_params_eq' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _race_params_ne(race_params, race_params) RETURNS boolean
	AS 'MODULE_PATHNAME', 'race_params_ne' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _race_params_lt(race_params, race_params) RETURNS boolean
	AS 'MODULE_PATHNAME', 'race_params_lt' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _race_params_le(race_params, race_params) RETURNS boolean
	AS 'MODULE_PATHNAME', 'race_params_le' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _race_params_gt(race_params, race_params) RETURNS boolean
	AS 'MODULE_PATHNAME', 'race_params_gt' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _race_params_ge(race_params, race_params) RETURNS boolean
	AS 'MODULE_PATHNAME', 'race_params_ge' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _race_params_cmp(race_params, race_params) RETURNS int
	AS 'MODULE_PATHNAME', 'race_params_cmp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _race_params_hash(race_params) RETURNS int
	AS 'MODULE_PATHNAME', 'race_params_hash' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _race_params_hash_extended(race_params, bigint) RETURNS bigint
	AS 'MODULE_PATHNAME', 'race_params_hash_extended' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION _race_params_eq(race_params, race_params) IS 'implementation of = operator';
COMMENT ON FUNCTION _race_params_ne(race_params, race_params) IS 'implementation of <> operator';
COMMENT ON FUNCTION _race_params_lt(race_params, race_params) IS 'implementation of < operator';
COMMENT ON FUNCTION _race_params_le(race_params, race_params) IS 'implementation of <= operator';
COMMENT ON FUNCTION _race_params_gt(race_params, race_params) IS 'implementation of > operator';
COMMENT ON FUNCTION _race_params_ge(race_params, race_params) IS 'implementation of >= operator';
COMMENT ON FUNCTION _race_params_cmp(race_params, race_params) IS 'less-equal-greater';
COMMENT ON FUNCTION _race_params_hash(race_params) IS 'hash';
COMMENT ON FUNCTION _race_params_hash_extended(race_params, bigint) IS 'hash';

CREATE OPERATOR = (
	LEFTARG = race_params, RIGHTARG = race_params, FUNCTION = _race_params_eq,
	COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel,
	HASHES, MERGES
);
CREATE OPERATOR <> (
	LEFTARG = race_params, RIGHTARG = race_params, FUNCTION = _race_params_ne,
	COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel
);
CREATE OPERATOR < (
	LEFTARG = race_params, RIGHTARG = race_params, FUNCTION = _race_params_lt,
	COMMUTATOR = >, NEGATOR = >=, RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR <= (
	LEFTARG = race_params, RIGHTARG = race_params, FUNCTION = _race_params_le,
	COMMUTATOR = >=, NEGATOR = >, RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
CREATE OPERATOR > (
	LEFTARG = race_params, RIGHTARG = race_params, FUNCTION = _race_params_gt,
	COMMUTATOR = <, NEGATOR = <=, RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR >= (
	LEFTARG = race_params, RIGHTARG = race_params, FUNCTION = _race_params_ge,
	COMMUTATOR = <=, NEGATOR = <, RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR = (race_params, race_params) IS 'equal: sketches with these parameters can be merged';
COMMENT ON OPERATOR <> (race_params, race_params) IS 'not equal';
COMMENT ON OPERATOR < (race_params, race_params) IS 'less than';
COMMENT ON OPERATOR <= (race_params, race_params) IS 'less than or equal';
COMMENT ON OPERATOR > (race_params, race_params) IS 'greater than';
COMMENT ON OPERATOR >= (race_params, race_params) IS 'greater than or equal';

CREATE OPERATOR CLASS race_params_ops DEFAULT FOR TYPE race_params USING btree AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
	FUNCTION 1 _race_params_cmp(race_params, race_params);
CREATE OPERATOR CLASS race_params_ops DEFAULT FOR TYPE race_params USING hash AS
	OPERATOR 1 =,
	FUNCTION 1 _race_params_hash(race_params),
	FUNCTION 2 _race_params_hash_extended(race_params, bigint);
COMMENT ON OPERATOR CLASS race_params_ops USING btree IS 'order of race_params: kernel, dims, bandwidth, power, rows, range, seed, sequence, rehash, then what else differs';
COMMENT ON OPERATOR FAMILY race_params_ops USING btree IS 'order of race_params';
COMMENT ON OPERATOR CLASS race_params_ops USING hash IS 'hashing of race_params';
COMMENT ON OPERATOR FAMILY race_params_ops USING hash IS 'hashing of race_params';
-- ------------------------------------------------------------------------
-- race_sketch: rows * range counters, exact or private.  It has no equality
-- operator, so that ANALYZE stores none of its values in pg_statistic.

CREATE TYPE race_sketch;

CREATE FUNCTION _race_sketch_in(cstring) RETURNS race_sketch
	AS 'MODULE_PATHNAME', 'race_sketch_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _race_sketch_out(race_sketch) RETURNS cstring
	AS 'MODULE_PATHNAME', 'race_sketch_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _race_sketch_recv(internal) RETURNS race_sketch
	AS 'MODULE_PATHNAME', 'race_sketch_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _race_sketch_send(race_sketch) RETURNS bytea
	AS 'MODULE_PATHNAME', 'race_sketch_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- Storage external: compressing a noisy sketch costs time and saves nothing.
CREATE TYPE race_sketch (
	INPUT = _race_sketch_in, OUTPUT = _race_sketch_out,
	RECEIVE = _race_sketch_recv, SEND = _race_sketch_send,
	INTERNALLENGTH = VARIABLE, ALIGNMENT = double, STORAGE = external
);
COMMENT ON TYPE race_sketch IS
	'a RACE sketch of a table of records (Coleman & Shrivastava, CCS 2021). It is exact while it is built, and private after race_privatize. The text form is \x and hexadecimal digits';
COMMENT ON FUNCTION _race_sketch_in(cstring) IS 'I/O';
COMMENT ON FUNCTION _race_sketch_out(race_sketch) IS 'I/O';
COMMENT ON FUNCTION _race_sketch_recv(internal) IS 'I/O';
COMMENT ON FUNCTION _race_sketch_send(race_sketch) IS 'I/O';

CREATE FUNCTION race_params(sketch race_sketch) RETURNS race_params
	AS 'MODULE_PATHNAME', 'race_sketch_params'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION race_params(race_sketch) IS
	'the parameters of a sketch. rows is the number of rows that race_privatize kept';
-- ------------------------------------------------------------------------
-- Records into sketches

CREATE FUNCTION race_sketch(params race_params) RETURNS race_sketch
	AS 'MODULE_PATHNAME', 'race_sketch_empty'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION race_sketch(race_params) IS
	'an exact sketch without records. Error 22023 if the parameters do not state dims';

CREATE FUNCTION _race_update_support(internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'race_update_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION _race_update_support(internal) IS
	'planner support: lets plpgsql update a sketch variable in place';

CREATE FUNCTION race_add(sketch race_sketch, x "any") RETURNS race_sketch
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 50
	SUPPORT _race_update_support;
COMMENT ON FUNCTION race_add(race_sketch, "any") IS
	'an exact sketch with one more record. x is what the kernel compares: an array of dims finite numbers (l2, l1, angular), a set of integers, texts or uuids (jaccard), a row of dims of them (match), or ROW(x, c) for a product. Errors: 42804 for another type; 22023 for a wrong dimension, a NULL element (but of a row of categories, if the parameter nulls says what it is), NaN or infinity; 55000 for a private sketch';

CREATE FUNCTION race_remove(sketch race_sketch, x "any") RETURNS race_sketch
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 50
	SUPPORT _race_update_support;
COMMENT ON FUNCTION race_remove(race_sketch, "any") IS
	'an exact sketch with one record less. The record must have been added before. Errors as in race_add';

CREATE FUNCTION race_is_record(params race_params, x "any") RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10;
COMMENT ON FUNCTION race_is_record(race_params, "any") IS
	'whether x can be added to a sketch with these parameters. True for what race_add takes; false for NULL, and where race_add would raise 22023 because of the value. Errors: 42804 for a type that has no records, 22023 if the parameters do not state dims';

-- The combine function of race_build: declared with the operators it serves.
CREATE FUNCTION _race_plus(race_sketch, race_sketch) RETURNS race_sketch
	AS 'MODULE_PATHNAME', 'race_plus' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION _race_plus(race_sketch, race_sketch) IS 'implementation of + operator';

CREATE FUNCTION _race_build_step(race_sketch, race_params, "any") RETURNS race_sketch
	AS 'MODULE_PATHNAME', 'race_build_step' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 50;
COMMENT ON FUNCTION _race_build_step(race_sketch, race_params, "any") IS
	'aggregate transition function';

CREATE FUNCTION _race_build_undo(race_sketch, race_params, "any") RETURNS race_sketch
	AS 'MODULE_PATHNAME', 'race_build_undo' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 50;
COMMENT ON FUNCTION _race_build_undo(race_sketch, race_params, "any") IS
	'aggregate inverse transition function';

-- SSPACE: 1024 * 1024 counters of one byte.  The planner then sorts into groups,
-- which needs one state at a time, unless work_mem has room for them all.
CREATE AGGREGATE race_build(params race_params, x "any") (
	SFUNC = _race_build_step, STYPE = race_sketch, SSPACE = 1048576,
	COMBINEFUNC = _race_plus,
	MSFUNC = _race_build_step, MINVFUNC = _race_build_undo,
	MSTYPE = race_sketch, MSSPACE = 1048576,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_build(race_params, "any") IS
	'the exact sketch of all records x, which are as in race_add. A NULL x adds nothing, and NULLs alone give an empty sketch. No rows at all give NULL. Errors: 22004 for NULL params, others as in race_add';
-- ------------------------------------------------------------------------
-- Sketches into sketches

CREATE FUNCTION _race_plus_disjoint(race_sketch, race_sketch) RETURNS race_sketch
	AS 'MODULE_PATHNAME', 'race_plus_disjoint' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION _race_plus_disjoint(race_sketch, race_sketch) IS
	'aggregate transition function';

CREATE FUNCTION _race_minus(race_sketch, race_sketch) RETURNS race_sketch
	AS 'MODULE_PATHNAME', 'race_minus' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION _race_minus(race_sketch, race_sketch) IS 'implementation of - operator';

CREATE OPERATOR + (
	LEFTARG = race_sketch, RIGHTARG = race_sketch, FUNCTION = _race_plus,
	COMMUTATOR = +
);
COMMENT ON OPERATOR + (race_sketch, race_sketch) IS
	'the sketch of the records of both. Two private sketches add their noise and their privacy costs. Errors: 22023 for different parameters (private sketches may differ in rows), 55000 for an exact and a private one';

CREATE OPERATOR - (
	LEFTARG = race_sketch, RIGHTARG = race_sketch, FUNCTION = _race_minus
);
COMMENT ON OPERATOR - (race_sketch, race_sketch) IS
	'an exact sketch without the records of another one, which must be among its own. Errors: 22023 for different parameters, 55000 for private sketches';

CREATE AGGREGATE race_merge(sketch race_sketch) (
	SFUNC = _race_plus, STYPE = race_sketch, SSPACE = 1048576,
	COMBINEFUNC = _race_plus,
	MSFUNC = _race_plus, MINVFUNC = _race_minus,
	MSTYPE = race_sketch, MSSPACE = 1048576,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_merge(race_sketch) IS
	'the sum of all sketches, which are all exact or all private. Private ones add their privacy costs (basic composition). NULLs are ignored. Errors as in +';

CREATE AGGREGATE race_merge_disjoint(sketch race_sketch) (
	SFUNC = _race_plus_disjoint, STYPE = race_sketch, SSPACE = 1048576,
	COMBINEFUNC = _race_plus_disjoint,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_merge_disjoint(race_sketch) IS
	'as race_merge, for private sketches when no person has records in more than one of them: the privacy cost is then the largest of theirs (parallel composition). Errors as in +, and 22023 for sketches with Laplace and with Gaussian noise when neighbors is substitute, because a record that moves from one to the other costs more';
-- ------------------------------------------------------------------------
-- Plan before you spend, and add up what was spent

CREATE TYPE race_privacy_cost_result AS (
	mechanism text, rows int, pure_epsilon float8, epsilon float8, delta float8, rho float8,
	counter_noise_stddev float8, count_noise_stddev float8,
	kernel_sum_noise_stddev float8, density_stddev float8);
COMMENT ON TYPE race_privacy_cost_result IS 'the result of race_privacy_cost';
COMMENT ON COLUMN race_privacy_cost_result.mechanism IS 'the noise: discrete Laplace or discrete Gaussian';
COMMENT ON COLUMN race_privacy_cost_result.rows IS 'how many rows the release would have';
COMMENT ON COLUMN race_privacy_cost_result.pure_epsilon IS 'the true epsilon of Laplace noise; NULL for Gaussian noise';
COMMENT ON COLUMN race_privacy_cost_result.epsilon IS 'the true epsilon at delta, rounded up';
COMMENT ON COLUMN race_privacy_cost_result.delta IS 'the delta';
COMMENT ON COLUMN race_privacy_cost_result.rho IS 'the cost in zero-concentrated differential privacy (zCDP)';
COMMENT ON COLUMN race_privacy_cost_result.counter_noise_stddev IS 'the standard deviation of the noise in each counter, in records';
COMMENT ON COLUMN race_privacy_cost_result.count_noise_stddev IS 'the standard deviation of the noise in the count';
COMMENT ON COLUMN race_privacy_cost_result.kernel_sum_noise_stddev IS 'the standard deviation of the noise in a kernel sum';
COMMENT ON COLUMN race_privacy_cost_result.density_stddev IS 'the standard deviation to expect of a density, if the number of records is given';

CREATE FUNCTION race_privacy_cost(
	params race_params, epsilon float8, delta float8 DEFAULT 0,
	rows int DEFAULT NULL, max_contributions int DEFAULT 1,
	neighbors text DEFAULT 'add_remove', records float8 DEFAULT NULL,
	fit boolean DEFAULT false)
	RETURNS race_privacy_cost_result AS 'MODULE_PATHNAME'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION race_privacy_cost(race_params, float8, float8, int, int, text, float8, boolean) IS
	'what race_privatize with these arguments would cost, without looking at data: the true cost, the noise in records, and for a public number of records the standard deviation to expect of a density (but for the noise of its count), by the prior that rows are chosen by. Errors: 22023 when rows are to be chosen (rows NULL, delta 0) and records are not given; others as in race_privatize';

CREATE FUNCTION race_error_bound(
	rows int, epsilon float8, records float8, kernel_mass float8, failure_probability float8)
	RETURNS float8 AS 'MODULE_PATHNAME'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION race_error_bound(int, float8, float8, float8, float8) IS
	'the bound of the error of race_kernel_sum_mom, which holds except with failure_probability: sqrt(g^2 / R + 2 R / epsilon^2) sqrt(32 log(1 / failure_probability)). Here g = records * kernel_mass, and kernel_mass is the mean over records of sqrt(k(x, q)), between 0 and 1 (Coleman & Shrivastava 2021, theorem 3.4; for independent rows, with all of epsilon on the counters). An epsilon of Infinity means no noise';

CREATE FUNCTION race_suggest_rows(records float8, epsilon float8, kernel_mass float8)
	RETURNS int AS 'MODULE_PATHNAME'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION race_suggest_rows(float8, float8, float8) IS
	'the number of rows for which race_error_bound is least: ceil(g epsilon / sqrt(2)), with g as in race_error_bound (Coleman & Shrivastava 2021, corollary 3.5)';

CREATE TYPE race_compose_result AS (
	releases bigint, accounting text, epsilon float8, delta float8, rho float8,
	basic_epsilon float8, zcdp_epsilon float8);
COMMENT ON TYPE race_compose_result IS
	'what several releases cost together';
COMMENT ON COLUMN race_compose_result.releases IS 'how many releases there are';
COMMENT ON COLUMN race_compose_result.accounting IS 'which composition gives the smaller epsilon: basic or zCDP';
COMMENT ON COLUMN race_compose_result.epsilon IS 'the smaller of basic_epsilon and zcdp_epsilon';
COMMENT ON COLUMN race_compose_result.delta IS 'the delta that epsilon holds at';
COMMENT ON COLUMN race_compose_result.rho IS 'the sum of rho';
COMMENT ON COLUMN race_compose_result.basic_epsilon IS 'the sum of epsilons; Infinity if the deltas add up to more than delta';
COMMENT ON COLUMN race_compose_result.zcdp_epsilon IS 'the epsilon that rho implies at delta; Infinity if delta is 0';

CREATE FUNCTION _race_compose_step(internal, float8, float8, float8) RETURNS internal
	AS 'MODULE_PATHNAME', 'race_compose_step' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION _race_compose_step(internal, float8, float8, float8, float8) RETURNS internal
	AS 'MODULE_PATHNAME', 'race_compose_step' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION _race_compose_final(internal) RETURNS race_compose_result
	AS 'MODULE_PATHNAME', 'race_compose_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION _race_compose_step(internal, float8, float8, float8) IS 'aggregate transition function';
COMMENT ON FUNCTION _race_compose_step(internal, float8, float8, float8, float8) IS 'aggregate transition function';
COMMENT ON FUNCTION _race_compose_final(internal) IS 'aggregate final function';

CREATE AGGREGATE race_compose(epsilon float8, delta float8, rho float8) (
	SFUNC = _race_compose_step, STYPE = internal, FINALFUNC = _race_compose_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_compose(float8, float8, float8) IS
	'what releases cost together, given epsilon, delta and rho of each as race_info tells them: by basic composition (sums) and by zero-concentrated privacy (the sum of rho; Bun & Steinke 2016; Canonne, Kamath & Steinke 2020), at the sum of deltas. Both are upper bounds. Errors: 22004 for NULL (an exact sketch), 22023 for negative or infinite costs';

CREATE AGGREGATE race_compose(epsilon float8, delta float8, rho float8, at_delta float8) (
	SFUNC = _race_compose_step, STYPE = internal, FINALFUNC = _race_compose_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_compose(float8, float8, float8, float8) IS
	'race_compose at a delta of your choice, which must be the same in all rows. At a small delta, pure releases may cost less than the sum of their epsilons. Basic composition counts if the sum of deltas, rounded up, is at most at_delta. Errors: 22004 for a NULL at_delta, and as in the other race_compose';
-- ------------------------------------------------------------------------
-- Privacy: noise, once, for everything that is asked later

CREATE FUNCTION race_privatize(
	sketch race_sketch, epsilon float8, delta float8 DEFAULT 0,
	rows int DEFAULT NULL, max_contributions int DEFAULT 1,
	neighbors text DEFAULT 'add_remove', fit boolean DEFAULT false)
	RETURNS race_sketch AS 'MODULE_PATHNAME'
	LANGUAGE C VOLATILE PARALLEL SAFE COST 100000;
REVOKE EXECUTE ON FUNCTION
	race_privatize(race_sketch, float8, float8, int, int, text, boolean) FROM PUBLIC;
COMMENT ON FUNCTION race_privatize(race_sketch, float8, float8, int, int, text, boolean) IS
	'a differentially private sketch of the first rows of an exact one. Every counter gets integer noise, and so does the record count, which takes 5 % of the budget. delta 0: discrete Laplace noise, epsilon-differential privacy. Above: discrete Gaussian noise, (epsilon, delta)-differential privacy (Coleman & Shrivastava 2021, theorem 3.2; Canonne, Kamath & Steinke 2020). rows: a power of two, or all. NULL chooses the rows that promise the least error, from public values and the noisy count (corollary 3.5); with delta > 0 it takes all. Of a grid, NULL chooses the size of its cells, and whether it has coarse cells besides, and 1 keeps the finest. fit: says that race_fit will follow, so that fewer rows are best. max_contributions: how many records one person may have. neighbors: add_remove or substitute. Every call draws new noise and costs its budget again. NULL if an argument other than rows is NULL. Errors: 22023 outside the limits, 55000 for a private sketch';

CREATE FUNCTION race_share(
	sketch race_sketch, epsilon float8, delta float8, parties int,
	colluders int DEFAULT 1, dropouts int DEFAULT 0, rows int DEFAULT NULL,
	max_contributions int DEFAULT 1, neighbors text DEFAULT 'add_remove')
	RETURNS race_sketch AS 'MODULE_PATHNAME'
	LANGUAGE C VOLATILE PARALLEL SAFE COST 100000;
REVOKE EXECUTE ON FUNCTION
	race_share(race_sketch, float8, float8, int, int, int, int, int, text) FROM PUBLIC;
COMMENT ON FUNCTION race_share(race_sketch, float8, float8, int, int, int, int, int, text) IS
	'the exact sketch of one party with its share of the noise. The noise is discrete Gaussian, so that the shares of parties - colluders - dropouts are (epsilon, delta)-differentially private together (Coleman & Shrivastava 2021, section 7.3; Kairouz, Liu & Steinke 2021). A share cannot be asked. The race_merge of at least parties - dropouts shares can, and all parties must give the same arguments. Whoever sees a single share sees that party at about the cost of all times their number: only secure aggregation hides shares from the merger. rows: NULL keeps all. NULL if another argument is NULL. Errors: 22023 outside the limits or for delta 0, 55000 for a sketch that is not exact';
-- ------------------------------------------------------------------------
-- Records with a bounded value, for conditional means

CREATE TYPE race_value_sketches AS (lower race_sketch, upper race_sketch);
COMMENT ON TYPE race_value_sketches IS
	'two halves of a sketch, exact or private: the result of race_build_value, and of race_privatize of it. Each record is in both, with a share that its value decides. Their sum is the sketch of all records';
COMMENT ON COLUMN race_value_sketches.lower IS 'has of each record the share (value_upper - value) / (value_upper - value_lower)';
COMMENT ON COLUMN race_value_sketches.upper IS 'has the rest';

CREATE FUNCTION _race_build_value_step(internal, race_params, "any", float8, float8, float8) RETURNS internal
	AS 'MODULE_PATHNAME', 'race_build_value_step' LANGUAGE C VOLATILE PARALLEL SAFE COST 50;
REVOKE EXECUTE ON FUNCTION
	_race_build_value_step(internal, race_params, "any", float8, float8, float8) FROM PUBLIC;
CREATE FUNCTION _race_build_value_combine(internal, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'race_build_value_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100000;
CREATE FUNCTION _race_build_value_serialize(internal) RETURNS bytea
	AS 'MODULE_PATHNAME', 'race_build_value_serialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION _race_build_value_deserialize(bytea, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'race_build_value_deserialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION _race_build_value_final(internal) RETURNS race_value_sketches
	AS 'MODULE_PATHNAME', 'race_build_value_final' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION _race_build_value_step(internal, race_params, "any", float8, float8, float8) IS 'aggregate transition function';
COMMENT ON FUNCTION _race_build_value_combine(internal, internal) IS 'aggregate combine function';
COMMENT ON FUNCTION _race_build_value_serialize(internal) IS 'aggregate serialization function';
COMMENT ON FUNCTION _race_build_value_deserialize(bytea, internal) IS 'aggregate deserialization function';
COMMENT ON FUNCTION _race_build_value_final(internal) IS 'aggregate final function';

CREATE FUNCTION race_privatize(
	pair race_value_sketches, epsilon float8, delta float8 DEFAULT 0,
	rows int DEFAULT NULL, max_contributions int DEFAULT 1,
	neighbors text DEFAULT 'add_remove', fit boolean DEFAULT false)
	RETURNS race_value_sketches AS 'MODULE_PATHNAME', 'race_privatize_pair'
	LANGUAGE C VOLATILE PARALLEL SAFE COST 200000;
REVOKE EXECUTE ON FUNCTION
	race_privatize(race_value_sketches, float8, float8, int, int, text, boolean) FROM PUBLIC;
COMMENT ON FUNCTION race_privatize(race_value_sketches, float8, float8, int, int, text, boolean) IS
	'both halves of race_build_value made private, with the same rows or cells and the same noise, at the cost of one sketch: (epsilon, delta) is what both together cost, and what each of them says. Arguments and their errors are those of race_privatize of a sketch, which refuses a half by itself: with other rows in each half, the cost could be twice epsilon. Every call draws new noise and costs its budget again. NULL if an argument other than rows, or a half, is NULL. Errors: 22023 for halves that do not belong together, 55000 for private ones';

CREATE AGGREGATE race_build_value(
	params race_params, x "any", value float8, value_lower float8, value_upper float8) (
	SFUNC = _race_build_value_step, STYPE = internal, SSPACE = 2097152,
	FINALFUNC = _race_build_value_final,
	COMBINEFUNC = _race_build_value_combine,
	SERIALFUNC = _race_build_value_serialize, DESERIALFUNC = _race_build_value_deserialize,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_build_value(race_params, "any", float8, float8, float8) IS
	'two exact halves of the sketch of all records x, as of race_build, for race_conditional_mean. Each value is cut to value_lower and value_upper, which are public. Its share p = (value - value_lower) / (value_upper - value_lower) of the record goes into the upper half, the rest into the lower one: the record is in one of both in each row, in the upper one in a share p of the rows, and of the first ones, too; of a grid, each of its weights is divided. One of both counts it. Which rows, is drawn for each record by strong random numbers, so that the same data give other halves, whose sum is the same; and a record cannot be removed again. A record that is NULL, and one whose value is NULL or NaN, adds nothing. No rows at all give NULL. Give both halves of one call to race_privatize at once: only then do they cost what one sketch costs. Errors: 22004 for NULL params or bounds, 22023 for bounds that are not finite and in order or not the same in all rows, others as in race_build';
-- ------------------------------------------------------------------------
-- A fitted model: the distribution over points that explains a whole sketch best.  It is
-- computed from the sketch alone, so that of a private one it costs nothing.

CREATE FUNCTION race_fit(sketch race_sketch) RETURNS race_sketch
	AS 'MODULE_PATHNAME', 'race_fit_box_sql'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000000;
COMMENT ON FUNCTION race_fit(race_sketch) IS
	'the sketch with a fitted model whose points lie within the bounds of its parameters; as race_fit(sketch, NULL, NULL)';

CREATE FUNCTION race_fit(
	sketch race_sketch, lower float8[], upper float8[],
	points int DEFAULT NULL, seed bigint DEFAULT 0)
	RETURNS race_sketch AS 'MODULE_PATHNAME', 'race_fit_box_sql'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000000;
COMMENT ON FUNCTION race_fit(race_sketch, float8[], float8[], int, bigint) IS
	'the sketch with a fitted model: points with weights of at least 0 that explain all of its counters best. All questions answer from the model and from what the counters say beyond it, and are more accurate; it costs no privacy, as it is computed from the sketch alone. For a kernel of vectors by itself. The points lie within lower and upper, which must be public (NULL: the bounds of the parameters); points is how many there are at most (NULL: up to 2000), and the same seed gives the same model. Merging and changing a sketch drop the model. NULL if the sketch or the seed is NULL. Errors: 22023 without bounds, for other kernels, or outside the limits; 55000 for shares of which there are not enough';

CREATE FUNCTION _race_fit_step(internal, race_sketch, "any") RETURNS internal
	AS 'MODULE_PATHNAME', 'race_fit_step' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
CREATE FUNCTION _race_fit_final(internal) RETURNS race_sketch
	AS 'MODULE_PATHNAME', 'race_fit_final' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000000;
COMMENT ON FUNCTION _race_fit_step(internal, race_sketch, "any") IS 'aggregate transition function';
COMMENT ON FUNCTION _race_fit_final(internal) IS 'aggregate final function';

CREATE AGGREGATE race_fit(sketch race_sketch, x "any") (
	SFUNC = _race_fit_step, STYPE = internal, FINALFUNC = _race_fit_final,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_fit(race_sketch, "any") IS
	'the sketch with a fitted model whose points are some of the records x, at most 4096: all that there may be, or a sample that is public or made up. Never take them from private data. For every kernel and product. All rows must have the same sketch; rows with a NULL are left out; no rows give NULL. Errors: 22023 for another sketch in a row, 54000 for too many records, others as in race_add and race_fit';

CREATE TYPE race_points_result AS (x float8[], record text, weight float8);
COMMENT ON TYPE race_points_result IS 'a row of the result of race_points';
COMMENT ON COLUMN race_points_result.x IS 'the point, of a kernel of vectors by itself; else NULL';
COMMENT ON COLUMN race_points_result.record IS 'the point as text, of other kernels, as PostgreSQL writes the record that race_fit was given; else NULL';
COMMENT ON COLUMN race_points_result.weight IS 'how many records the point stands for, above 0; all weights add up to the number of records';

CREATE FUNCTION race_points(sketch race_sketch) RETURNS SETOF race_points_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 1000;
COMMENT ON FUNCTION race_points(race_sketch) IS
	'the points of a fitted model and their weights. They are not records: they lie where the records are dense. Error 55000 for a sketch without a model';
CREATE FUNCTION race_probability_density(
	sketch race_sketch, q "any", smoothing float8 DEFAULT 0.25)
	RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION race_probability_density(race_sketch, "any", float8) IS
	'the probability density at q of a fitted sketch, per unit of the columns: it integrates to one, as race_kde, a mean kernel value, does not. Each point of the model stands for a normal distribution around it, whose standard deviation is smoothing times the bandwidth. Kernels l2 and l1 by themselves, without a transform. Errors: 22023 for others, 55000 for a sketch without a model';
CREATE TYPE race_difference_result AS (
	difference float8, stderr float8, lower float8, upper float8);
COMMENT ON TYPE race_difference_result IS 'the result of race_difference';
COMMENT ON COLUMN race_difference_result.difference IS 'the density of a at q less that of b, as race_kde';
COMMENT ON COLUMN race_difference_result.stderr IS 'its standard error: of the row functions, and of the noise of both';
COMMENT ON COLUMN race_difference_result.lower IS 'the lower end of the confidence interval; -Infinity if there is none';
COMMENT ON COLUMN race_difference_result.upper IS 'the upper end; Infinity if there is none';

CREATE FUNCTION race_difference(
	a race_sketch, b race_sketch, q "any", confidence float8 DEFAULT 0.95)
	RETURNS race_difference_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION race_difference(race_sketch, race_sketch, "any", float8) IS
	'by how much the densities of two sketches differ at q, with a standard error and a confidence interval (Student''s t): between labels of a release, or versions of it. Both must have the same kernel and bandwidths (22023). Where all their parameters are the same, rows are subtracted one by one, because both are sampled by the same row functions; else the variances are added. The noise of both is taken to be independent. The interval is unbounded where that of race_estimate is, for one row, and where a noisy count is within its noise of zero. Errors: 55000 for an exact sketch and a private one, and for shares of which there are not enough, others as in race_estimate';
-- ------------------------------------------------------------------------
-- Questions about sums and densities.  They work on exact and private sketches
-- alike; of a private one they may be asked without limit.

CREATE FUNCTION race_count(sketch race_sketch) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION race_count(race_sketch) IS
	'the number of records. Of a private sketch it is the noisy estimate, which may be negative';

CREATE FUNCTION race_kernel_sum(sketch race_sketch, q "any") RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION race_kernel_sum(race_sketch, "any") IS
	'the estimate of f(q), the sum over all records x of race_kernel(params, x, q) (Coleman & Shrivastava 2021, algorithm 2). It is unbiased over seeds and noise, but for what folding adds (see race_params), so it may be negative. Of a fitted product, a NULL part of the query, as in ROW(ARRAY[5], NULL), may be anything: its kernel is 1. This and all questions then ask the model, and the rows at records that the query and the model make up together (a ratio estimator, Cochran 1977, chapter 6). Error 55000 for such a query without a model';

CREATE FUNCTION race_kernel_sum_mom(
	sketch race_sketch, q "any", failure_probability float8 DEFAULT 0.05)
	RETURNS float8 AS 'MODULE_PATHNAME'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION race_kernel_sum_mom(race_sketch, "any", float8) IS
	'the kernel sum by the median of means over ceil(8 log(1 / failure_probability)) groups of rows, of at least one row each. It is less precise than race_kernel_sum, but its error is below race_error_bound except with that probability, whatever the data (Coleman & Shrivastava 2021, lemma 3.3 and theorem 3.4, for independent rows)';

CREATE FUNCTION race_kde(sketch race_sketch, q "any") RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION race_kde(race_sketch, "any") IS
	'the density at q: race_kernel_sum over the number of records (at least 1), which estimates the mean of the kernel. It is not clamped to [0, 1]. Of no records it is 0';

CREATE TYPE race_estimate_result AS (
	kernel_sum float8, density float8, stderr float8, lower float8, upper float8);
COMMENT ON TYPE race_estimate_result IS 'the result of race_estimate';
COMMENT ON COLUMN race_estimate_result.kernel_sum IS 'the estimate of the sum over all records x of k(x, q), as race_kernel_sum';
COMMENT ON COLUMN race_estimate_result.density IS 'kernel_sum over the number of records, as race_kde';
COMMENT ON COLUMN race_estimate_result.stderr IS 'the standard error of the density: of the row functions, and of the noise';
COMMENT ON COLUMN race_estimate_result.lower IS 'the lower end of the confidence interval of the density; -Infinity if there is none';
COMMENT ON COLUMN race_estimate_result.upper IS 'the upper end; Infinity if there is none';

CREATE FUNCTION race_estimate(
	sketch race_sketch, q "any", confidence float8 DEFAULT 0.95)
	RETURNS race_estimate_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION race_estimate(race_sketch, "any", float8) IS
	'the kernel sum and the density at q, with a standard error and a confidence interval of the density. They come from the variance between rows (Student''s t) and the noise of the count (Fieller). The interval is unbounded for one row, and where the noisy count is within its noise of zero. With a NULL part in the query, of a product, a share of the answer that is what the model misses elsewhere is added. Fewer than 128 rows of a sequence cannot show their own variance: in a private sketch the prior that rows are chosen by is added, and a warning says when the noise does not prevail';

CREATE TYPE race_kde_grid_result AS (x float8[], density float8, stderr float8);
COMMENT ON TYPE race_kde_grid_result IS 'a row of the result of race_kde_grid';
COMMENT ON COLUMN race_kde_grid_result.x IS 'the point of the grid';
COMMENT ON COLUMN race_kde_grid_result.density IS 'the density there, as race_kde';
COMMENT ON COLUMN race_kde_grid_result.stderr IS 'its standard error, as race_estimate';

CREATE FUNCTION race_kde_grid(
	sketch race_sketch, lower float8[], upper float8[], steps int[])
	RETURNS SETOF race_kde_grid_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION race_kde_grid(race_sketch, float8[], float8[], int[]) IS
	'the density and its standard error at the points of a grid: steps[i] points along axis i from lower[i] to upper[i], both included (one point is the middle). The last axis runs fastest. Error 22023 for bounds or steps that do not fit the dimensions';

CREATE FUNCTION race_kernel(params race_params, x "any", y "any") RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION race_kernel(race_params, "any", "any") IS
	'the exact kernel value k(x, y) in [0, 1], taken to the power: what estimates are estimates of. l2, l1: Datar et al. 2004, with c = distance / bandwidth. angular: 1 - angle / pi (Charikar 2002). jaccard: shared elements over all elements (Broder 1997). match: the share of equal categories. A product: the product of its kernels; where a part of y is NULL, its kernel is 1';

CREATE TYPE race_info_result AS (
	kernel text, dims int, bandwidth float8, power int,
	rows int, range int, seed bigint, sequence text, rehash text,
	count bigint, counter_bytes int, storage_bytes bigint,
	status text, mechanism text,
	epsilon float8, delta float8, rho float8,
	max_contributions int, neighbors text, merged int,
	counter_noise_stddev float8, count_noise_stddev float8,
	points int, misfit float8);
COMMENT ON TYPE race_info_result IS 'the result of race_info';
COMMENT ON COLUMN race_info_result.kernel IS 'the kernel; of a product the kernels, with * between them';
COMMENT ON COLUMN race_info_result.dims IS 'the length of a record; NULL for sets and products';
COMMENT ON COLUMN race_info_result.bandwidth IS 'the bandwidth; NULL for kernels without one and for products';
COMMENT ON COLUMN race_info_result.power IS 'the power of the kernel; NULL for products';
COMMENT ON COLUMN race_info_result.rows IS 'R: how many rows it has';
COMMENT ON COLUMN race_info_result.range IS 'W: how many counters a row has';
COMMENT ON COLUMN race_info_result.seed IS 'the seed of the row functions';
COMMENT ON COLUMN race_info_result.sequence IS 'how rows share the work: sobol, orthogonal or independent; NULL for products';
COMMENT ON COLUMN race_info_result.rehash IS 'how codes become buckets: fold or multilinear';
COMMENT ON COLUMN race_info_result.count IS 'the number of records, as race_count; noisy in a private sketch, NULL in a share';
COMMENT ON COLUMN race_info_result.counter_bytes IS 'bytes of a counter as it is stored: 1, 2, 4 or 8';
COMMENT ON COLUMN race_info_result.storage_bytes IS 'bytes of the whole value';
COMMENT ON COLUMN race_info_result.status IS 'exact, private, or share (noise shares of which there are not enough yet)';
COMMENT ON COLUMN race_info_result.mechanism IS 'the noise: discrete Laplace, discrete Gaussian, or several; this and all further columns are NULL in an exact sketch';
COMMENT ON COLUMN race_info_result.epsilon IS 'the true epsilon, rounded up';
COMMENT ON COLUMN race_info_result.delta IS 'the delta; 0 for pure differential privacy';
COMMENT ON COLUMN race_info_result.rho IS 'the cost in zero-concentrated differential privacy (zCDP)';
COMMENT ON COLUMN race_info_result.max_contributions IS 'how many records of one person it protects';
COMMENT ON COLUMN race_info_result.neighbors IS 'what it hides: add_remove or substitute';
COMMENT ON COLUMN race_info_result.merged IS 'how many private sketches or shares were merged into it';
COMMENT ON COLUMN race_info_result.counter_noise_stddev IS 'the standard deviation of the noise in each counter, in records';
COMMENT ON COLUMN race_info_result.count_noise_stddev IS 'the standard deviation of the noise in count';
COMMENT ON COLUMN race_info_result.points IS 'how many points the fitted model has; NULL without a model';
COMMENT ON COLUMN race_info_result.misfit IS 'what share of an answer the model misses, root mean square, as half of the rows tells of a model from the other half; what it misses is answered from the rows. 1000000 says that nobody can tell, and that the model is not asked at all: of a grid in more than one dimension, and of vectors with fewer than 2 (dims + 1) rows. NULL without a model';

CREATE FUNCTION race_info(sketch race_sketch)
	RETURNS race_info_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION race_info(race_sketch) IS
	'what a sketch is: its parameters, the count of records, bytes, status, and of a private sketch its noise and true cost. race_params(sketch) has the arrays and the parts of a product. Of a share, the cost is that of the sum that it is made for: seen by itself it costs more';
-- ------------------------------------------------------------------------
-- Which class is a query from?  The highest score wins, among equals the class
-- with more records, then the smaller label.

CREATE FUNCTION _race_classify_step(internal, anyelement, race_sketch, "any") RETURNS internal
	AS 'MODULE_PATHNAME', 'race_classify_step' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
CREATE FUNCTION _race_classify_step(internal, anyelement, race_sketch, "any", text) RETURNS internal
	AS 'MODULE_PATHNAME', 'race_classify_step' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
CREATE FUNCTION _race_classify_final(internal, anyelement, race_sketch, "any") RETURNS anyelement
	AS 'MODULE_PATHNAME', 'race_classify_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION _race_classify_final(internal, anyelement, race_sketch, "any", text) RETURNS anyelement
	AS 'MODULE_PATHNAME', 'race_classify_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION _race_posterior_final(internal, anyelement, race_sketch, "any") RETURNS jsonb
	AS 'MODULE_PATHNAME', 'race_posterior_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION _race_posterior_final(internal, anyelement, race_sketch, "any", text) RETURNS jsonb
	AS 'MODULE_PATHNAME', 'race_posterior_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION _race_score_final(internal, anyelement, race_sketch, "any") RETURNS float8
	AS 'MODULE_PATHNAME', 'race_score_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION _race_score_final(internal, anyelement, race_sketch, "any") IS 'aggregate final function';
COMMENT ON FUNCTION _race_classify_step(internal, anyelement, race_sketch, "any") IS 'aggregate transition function';
COMMENT ON FUNCTION _race_classify_step(internal, anyelement, race_sketch, "any", text) IS 'aggregate transition function';
COMMENT ON FUNCTION _race_classify_final(internal, anyelement, race_sketch, "any") IS 'aggregate final function';
COMMENT ON FUNCTION _race_classify_final(internal, anyelement, race_sketch, "any", text) IS 'aggregate final function';
COMMENT ON FUNCTION _race_posterior_final(internal, anyelement, race_sketch, "any") IS 'aggregate final function';
COMMENT ON FUNCTION _race_posterior_final(internal, anyelement, race_sketch, "any", text) IS 'aggregate final function';

CREATE AGGREGATE race_classify(label anyelement, sketch race_sketch, q "any") (
	SFUNC = _race_classify_step, STYPE = internal,
	FINALFUNC = _race_classify_final, FINALFUNC_EXTRA, PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_classify(anyelement, race_sketch, "any") IS
	'the label of the class with the highest density at q (maximum likelihood), over one row for each class. Rows with a NULL are left out. No class gives NULL';

CREATE AGGREGATE race_classify(label anyelement, sketch race_sketch, q "any", prior text) (
	SFUNC = _race_classify_step, STYPE = internal,
	FINALFUNC = _race_classify_final, FINALFUNC_EXTRA, PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_classify(anyelement, race_sketch, "any", text) IS
	'race_classify with a prior: uniform (maximum likelihood), or counts (maximum a posteriori, with the noisy counts as the prior). With counts, fitted sketches of vectors are asked for their model alone, with the kernel to a power of 8 at least: flat kernels would let large classes win everywhere';

CREATE AGGREGATE race_posterior(label anyelement, sketch race_sketch, q "any") (
	SFUNC = _race_classify_step, STYPE = internal,
	FINALFUNC = _race_posterior_final, FINALFUNC_EXTRA, PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_posterior(anyelement, race_sketch, "any") IS
	'the probability of each class given q, as {label: probability}, over one row for each class, with a uniform prior. Where all densities are zero, it is the prior';

CREATE AGGREGATE race_posterior(label anyelement, sketch race_sketch, q "any", prior text) (
	SFUNC = _race_classify_step, STYPE = internal,
	FINALFUNC = _race_posterior_final, FINALFUNC_EXTRA, PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_posterior(anyelement, race_sketch, "any", text) IS
	'race_posterior with a prior: uniform, or counts (the noisy counts)';

CREATE AGGREGATE race_score(label anyelement, sketch race_sketch, q "any") (
	SFUNC = _race_classify_step, STYPE = internal,
	FINALFUNC = _race_score_final, FINALFUNC_EXTRA, PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_score(anyelement, race_sketch, "any") IS
	'what race_classify says and how sure it is, as one number to calibrate by, over one row for each of K classes: 2 i + lead, where i = 0 ... K - 1 is the place of the best label in the order of labels, and lead, from 0 to 1, is L / (L + 1/4) for the logarithm L of best over second best density. Sketches of this number, one for each class, say how many records of each class have it; so race_posterior of them is calibrated. Sketches of private records cost epsilon again. No class gives NULL';
-- ------------------------------------------------------------------------
-- The mean of a bounded value near a query

CREATE TYPE race_conditional_mean_result AS (
	mean float8, stderr float8, lower float8, upper float8);
COMMENT ON TYPE race_conditional_mean_result IS 'the result of race_conditional_mean';
COMMENT ON COLUMN race_conditional_mean_result.mean IS 'the mean, between the bounds of the value; NULL where the number of records near q is within two standard deviations of its noise of zero';
COMMENT ON COLUMN race_conditional_mean_result.stderr IS 'its standard error: of the row functions, of splitting, and of the noise; NULL with the mean';
COMMENT ON COLUMN race_conditional_mean_result.lower IS 'the lower end of the confidence interval; value_lower if nothing can be said';
COMMENT ON COLUMN race_conditional_mean_result.upper IS 'the upper end; value_upper if nothing can be said';

CREATE FUNCTION race_conditional_mean(
	lower_sketch race_sketch, upper_sketch race_sketch, q "any",
	value_lower float8 DEFAULT 0, value_upper float8 DEFAULT 1, confidence float8 DEFAULT 0.95)
	RETURNS race_conditional_mean_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION race_conditional_mean(race_sketch, race_sketch, "any", float8, float8, float8) IS
	'the mean of a value at q: over all records, weighted by the kernel (Nadaraya 1964, Watson 1964), with a standard error and a confidence interval (Fieller). The sketches are both halves of race_build_value with these bounds, exact or private, fitted or not, or two sketches of whole records, of values at the one bound and at the other: value_lower + (value_upper - value_lower) u / (l + u), with the kernel sums l and u of both. Near q means within the bandwidth; of a high power there is less weight on what is far. Errors: 22023 for sketches with different parameters, rows or cells, for halves in the wrong order, bounds that are not finite and in order, or a confidence that is not between 0 and 1; others as in race_estimate';
-- ------------------------------------------------------------------------
-- How alike are the records of two sketches?

CREATE FUNCTION race_similarity(a race_sketch, b race_sketch) RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION race_similarity(race_sketch, race_sketch) IS
	'the mean of the kernel over all pairs of a record of a and a record of b, unbiased under noise; of a sketch with itself, pairs of a record with itself included. It assumes that a and b have noise of their own, or are the same sketch. Both must have the same parameters, but for the rows, or the cells of a grid, that race_privatize kept: what both have is compared. Errors: 22023 for different parameters, 55000 for an exact and a private sketch';

CREATE TYPE race_distance_result AS (
	distance float8, squared float8, standard_error float8, p_value float8);
COMMENT ON TYPE race_distance_result IS 'the result of race_distance';
COMMENT ON COLUMN race_distance_result.distance IS 'the root of squared, or 0 where that is negative';
COMMENT ON COLUMN race_distance_result.squared IS 'the squared distance, an unbiased estimate, which may be negative: the mean kernel of two records of a, plus that of two of b, less twice that of one of each';
COMMENT ON COLUMN race_distance_result.standard_error IS 'the standard error of squared; Infinity where a count is within its noise, or below 2';
COMMENT ON COLUMN race_distance_result.p_value IS 'the probability of a squared distance of this size or more if both are drawn from one population; 1 where a count is within its noise, or below 2';

CREATE FUNCTION race_distance(a race_sketch, b race_sketch) RETURNS race_distance_result
	AS 'MODULE_PATHNAME', 'race_distance_sql' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION race_distance(race_sketch, race_sketch) IS
	'the maximum mean discrepancy between the records of two sketches (Gretton et al. 2012), with a test of whether both are drawn from one population. It assumes that a and b have noise of their own, and no records in common; of a sketch with itself the distance is 0. Both must have the same parameters, but for the rows, or the cells of a grid, that race_privatize kept. p_value is conservative where noise is small, of rows, and most of all of kernels other than l2 and of rehashed rows. Errors: 22023 for different parameters, 55000 for an exact and a private sketch';
-- ------------------------------------------------------------------------
-- Where the density is highest.

CREATE TYPE race_modes_result AS (x float8[], record text, density float8, prominence float8);
COMMENT ON TYPE race_modes_result IS 'a row of the result of race_modes';
COMMENT ON COLUMN race_modes_result.x IS 'the mode, of a kernel of vectors by itself; else NULL';
COMMENT ON COLUMN race_modes_result.record IS 'the mode as text, of other kernels, as race_points has it; else NULL';
COMMENT ON COLUMN race_modes_result.density IS 'the density there, as race_kde';
COMMENT ON COLUMN race_modes_result.prominence IS 'the density less that of the highest saddle on the way to a denser mode; of the densest mode its density';

CREATE FUNCTION race_modes(sketch race_sketch, max int DEFAULT 10, lower float8[] DEFAULT NULL, upper float8[] DEFAULT NULL)
	RETURNS SETOF race_modes_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000000 ROWS 10;
COMMENT ON FUNCTION race_modes(race_sketch, int, float8[], float8[]) IS
	'local maxima of the density, the most prominent first, at most max (1 to 100). Of vectors: of what race_kde answers between lower and upper (NULL: the bounds of the parameters, else the box of the points of the model), by a search without derivatives from the points of the model, or without one from places at random (Coleman & Shrivastava 2021, section 4); the same sketch gives the same modes. Noise makes maxima, too, of little prominence: compare it with the standard error of race_estimate. A saddle is the least density found on straight lines from mode to mode. Of other kernels: points of the model that no similar point beats, with a kernel value above exp(-1), or above half of the highest that one of both has with any point; a saddle is the least dense point on a way over similar ones. No rows for a NULL sketch or max. Errors: 22023 for bounds that are missing or wrong, or another max; 55000 for other kernels without a model, and for shares of which there are not enough';
-- ------------------------------------------------------------------------
-- Quantiles of a column, from the model of a sketch.

CREATE TYPE race_quantile_result AS (p float8, value float8, standard_error float8);
COMMENT ON TYPE race_quantile_result IS 'a row of the result of race_quantile';
COMMENT ON COLUMN race_quantile_result.p IS 'the share of records that are below the value';
COMMENT ON COLUMN race_quantile_result.value IS 'the quantile; NULL if p is NULL';
COMMENT ON COLUMN race_quantile_result.standard_error IS 'of the value, for a grid in one dimension: what the noise of its nodes makes at most, and the width of a cell; else NULL, because theory gives none';

CREATE FUNCTION race_quantile(sketch race_sketch, p float8[], "column" int DEFAULT 1)
	RETURNS SETOF race_quantile_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000 ROWS 10;
COMMENT ON FUNCTION race_quantile(race_sketch, float8[], int) IS
	'quantiles of a column of the records, from the fitted model, in the order of p. column counts numbers and categories of a record from 1 on, as they fill the columns of race_sample. Weights of points are spread evenly to the middle between values, at most half a bandwidth, so that quantiles are continuous. A grid without a model is fitted first. Errors: 22003 for p outside of 0 to 1, 22023 for a column that is no number, 55000 for a sketch without a model, and for shares of which there are not enough';
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
	'n records drawn from the fitted model of a sketch, independently of each other: a point by its weight, and vectors then moved at random, by half the distance to the nearest points and at most half a bandwidth, and within the bounds of the parameters. Of a private sketch they cost no privacy. The same seed gives the same records; NULL draws others each time. A grid without a model is fitted first. A notice says when the sketch has too few rows to tell whether its model fits. No rows for a NULL sketch or n. Errors: 55000 for a sketch without a model, and for shares of which there are not enough; 22023 for a negative n';

CREATE FUNCTION race_sample(base anyelement, sketch race_sketch, n int, seed bigint DEFAULT NULL)
	RETURNS SETOF anyelement
	AS 'MODULE_PATHNAME', 'race_sample_rows'
	LANGUAGE C VOLATILE PARALLEL SAFE COST 100000 ROWS 1000;
COMMENT ON FUNCTION race_sample(anyelement, race_sketch, int, bigint) IS
	'race_sample as rows of the type of base, as in race_sample(NULL::patients, sketch, 1000). The values of a record fill the columns in order: a column of an array type takes a whole vector, set or row of categories, any other column one number or category. They are converted as by the input functions of the types; numbers for integers are rounded. Columns that are left keep what they have in base, or are NULL. Errors: 42804 for a type that is no row type or has too few columns, others as in race_sample and of the types';
-- ------------------------------------------------------------------------
-- How typical is a record among those of the sketch?

CREATE FUNCTION race_typicality_share(sketch race_sketch, q "any") RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION race_typicality_share(race_sketch, "any") IS
	'the share of records whose density is less than that at q, from 0 (q is less typical than all) to 1. Records are the points of the fitted model by their weights, densities those of race_kde. Densities of the points are found at the first question, and kept for the sketches that a session asked last. Errors: 55000 for a sketch without a model, others as in race_kde';
-- ------------------------------------------------------------------------
-- Is a query like the records?

CREATE FUNCTION race_typicality(sketch race_sketch, q "any") RETURNS float8
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION race_typicality(race_sketch, "any") IS
	'the density at q over the mean density at the records themselves, each without its own share: 1 is as typical as the average record, near 0 an anomaly. The mean density comes from the squared counters (Luo & Shrivastava 2018), without the share of noise. It is taken to be at least twice its standard error, and at least what a single record gives, so that no answer is divided by noise';
-- ------------------------------------------------------------------------
-- Transforms learned from public data.  Their aggregates have a state in common.

CREATE FUNCTION _race_scatter_combine(internal, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'race_scatter_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION _race_scatter_serialize(internal) RETURNS bytea
	AS 'MODULE_PATHNAME', 'race_scatter_serialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _race_scatter_deserialize(bytea, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'race_scatter_deserialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION _race_scatter_combine(internal, internal) IS 'aggregate combine function';
COMMENT ON FUNCTION _race_scatter_serialize(internal) IS 'aggregate serialization function';
COMMENT ON FUNCTION _race_scatter_deserialize(bytea, internal) IS 'aggregate deserialization function';
-- ------------------------------------------------------------------------
-- Directions that tell labels apart

CREATE FUNCTION _race_discriminant_step(internal, "any", "any") RETURNS internal
	AS 'MODULE_PATHNAME', 'race_discriminant_step' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION _race_discriminant_final(internal) RETURNS race_transform
	AS 'MODULE_PATHNAME', 'race_discriminant_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION _race_discriminant_step(internal, "any", "any") IS 'aggregate transition function';
COMMENT ON FUNCTION _race_discriminant_final(internal) IS 'aggregate final function';

CREATE AGGREGATE race_discriminant(label "any", x "any") (
	SFUNC = _race_discriminant_step, STYPE = internal, FINALFUNC = _race_discriminant_final,
	COMBINEFUNC = _race_scatter_combine, SERIALFUNC = _race_scatter_serialize,
	DESERIALFUNC = _race_scatter_deserialize, PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_discriminant("any", "any") IS
	'the transform for race_params that keeps what tells labels apart: Fisher''s discriminant directions (Fisher 1936, Rao 1948), one for two labels, at most k - 1 for k, those that tell most first. Along each the standard deviation within labels is 1; all directions are uncorrelated within labels. For the kernels of race_classify. Use public data only: the result is as exact as the data, and has no added noise. The covariance within labels is that of race_whiten(x, label): shrunken, and without columns that are constant within each label, of which a NOTICE tells; a column that tells labels apart without any error is among those. Labels are of any type, up to 1000, and told apart by their text. Rows with a NULL are left out, and no rows give NULL. Errors: 22023 for one label alone, when no label has two vectors, or when all labels have the same mean; 54000 for more labels; others as in race_whiten';
-- ------------------------------------------------------------------------
-- Parameters that suit public rows

CREATE TYPE race_suggest_result AS (
	params race_params, rows int, prior text, score float8, score_without_noise float8, statement text);
COMMENT ON TYPE race_suggest_result IS 'the result of race_suggest';
COMMENT ON COLUMN race_suggest_result.params IS 'the parameters, with bounds a tenth of a range beyond the public rows';
COMMENT ON COLUMN race_suggest_result.rows IS 'the rows of params, for race_privatize and race_release';
COMMENT ON COLUMN race_suggest_result.prior IS 'the prior that race_classify is best asked with, uniform or counts; NULL without labels';
COMMENT ON COLUMN race_suggest_result.score IS 'what to expect of a release: with labels the share of records that are classified rightly, else the mean logarithm of the probability density';
COMMENT ON COLUMN race_suggest_result.score_without_noise IS 'the same of the exact kernel: what noise and rows cost';
COMMENT ON COLUMN race_suggest_result.statement IS 'the call of race_params that gives params';

CREATE FUNCTION _race_suggest_step(internal, "any", float8, float8, bigint) RETURNS internal
	AS 'MODULE_PATHNAME', 'race_suggest_step' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION _race_suggest_step(internal, "any", "any", float8, float8, bigint) RETURNS internal
	AS 'MODULE_PATHNAME', 'race_suggest_step' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION _race_suggest_final(internal) RETURNS race_suggest_result
	AS 'MODULE_PATHNAME', 'race_suggest_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION _race_suggest_step(internal, "any", float8, float8, bigint) IS 'aggregate transition function';
COMMENT ON FUNCTION _race_suggest_step(internal, "any", "any", float8, float8, bigint) IS 'aggregate transition function';
COMMENT ON FUNCTION _race_suggest_final(internal) IS 'aggregate final function';

CREATE AGGREGATE race_suggest(x "any", epsilon float8, delta float8, records bigint) (
	SFUNC = _race_suggest_step, STYPE = internal, FINALFUNC = _race_suggest_final, PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_suggest("any", float8, float8, bigint) IS
	'parameters of kernel l2 for a release of vectors that are distributed like the public or made-up vectors x: scales or a whitening transform, bandwidth, power, rows and bounds, by the likelihood of each tenth of the rows given the others, under the noise of a release of so many records with epsilon and delta. Never use private rows: the result is as exact as they are. Of more than 2000 rows a sample is used. Rows with a NULL x are left out. NULL for no rows. Errors: 22023 for fewer than 20 rows, more than 64 dims, numbers beyond 1e50, vectors that differ in dims or are all alike, or epsilon, delta or records that are not the same in all rows; 42804 for what is no vector';

CREATE AGGREGATE race_suggest(x "any", label "any", epsilon float8, delta float8, records bigint) (
	SFUNC = _race_suggest_step, STYPE = internal, FINALFUNC = _race_suggest_final, PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_suggest("any", "any", float8, float8, bigint) IS
	'the same for a release with a sketch for each label, to classify: by the accuracy with which each tenth of the public rows is classified by the others. Transforms are learned within classes, or keep the directions in which classes differ (Fisher 1936, or a logistic regression). The shares of labels must be as in the private table, which has records of all labels together. Rows with a NULL x or label are left out. Further errors: 22023 for one label alone, or more than 32';
-- ------------------------------------------------------------------------
-- Columns that are alike

CREATE FUNCTION _race_whiten_step(internal, "any") RETURNS internal
	AS 'MODULE_PATHNAME', 'race_whiten_step' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION _race_whiten_step(internal, "any", "any") RETURNS internal
	AS 'MODULE_PATHNAME', 'race_whiten_step' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION _race_whiten_final(internal) RETURNS race_transform
	AS 'MODULE_PATHNAME', 'race_whiten_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION _race_whiten_step(internal, "any") IS 'aggregate transition function';
COMMENT ON FUNCTION _race_whiten_step(internal, "any", "any") IS 'aggregate transition function';
COMMENT ON FUNCTION _race_whiten_final(internal) IS 'aggregate final function';

CREATE AGGREGATE race_whiten(x "any") (
	SFUNC = _race_whiten_step, STYPE = internal, FINALFUNC = _race_whiten_final,
	COMBINEFUNC = _race_scatter_combine, SERIALFUNC = _race_scatter_serialize,
	DESERIALFUNC = _race_scatter_deserialize, PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_whiten("any") IS
	'the transform for race_params that gives vectors mean 0 and covariance 1, so that distances are Mahalanobis distances (Coleman & Shrivastava 2021, section 7.1). M is lower triangular. Use public data only: the result is as exact as the data, and has no added noise. Few vectors are enough: the correlations are shrunken (Ledoit & Wolf 2022, quadratic-inverse shrinkage), by a share that falls with the number of vectors. A column that is constant, or a linear combination of columns before it, is left out, and a NOTICE says so: M has no row for it. Vectors have up to 361 dimensions. NULLs are left out, and no vectors give NULL. Errors: 22023 when there are fewer than two vectors, when all columns are constant, or when vectors differ in dimensions; 42804 for what is no vector';

CREATE AGGREGATE race_whiten(x "any", label "any") (
	SFUNC = _race_whiten_step, STYPE = internal, FINALFUNC = _race_whiten_final,
	COMBINEFUNC = _race_scatter_combine, SERIALFUNC = _race_scatter_serialize,
	DESERIALFUNC = _race_scatter_deserialize, PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_whiten("any", "any") IS
	'race_whiten within labels: the covariance is that of vectors around the mean of their label, the same for all labels. Where labels lie apart, distances are then in units of what varies within them. Labels, of any type, are told apart by their text; there may be 1000. Rows with a NULL are left out. Errors: 22023 when no label has two vectors, 54000 for more labels, others as without labels';
-- ------------------------------------------------------------------------
-- The ledger: what may be spent, what was, and what for.  Rows are added by the
-- procedures below alone.  No foreign key leads from a release to its charge:
-- releases are copied to databases of analysts, charges are not.

CREATE TYPE race_identity AS (system_identifier bigint, database oid, timeline int, ledger oid);
COMMENT ON TYPE race_identity IS
	'which of the copies that a database may have: the system identifier of the cluster, the OID of the database, the timeline, which a promotion changes, and the OID of the ledger, which a restore changes';
COMMENT ON COLUMN race_identity.system_identifier IS 'of the cluster';
COMMENT ON COLUMN race_identity.database IS 'the OID of the database';
COMMENT ON COLUMN race_identity.timeline IS 'a promotion makes a new one';
COMMENT ON COLUMN race_identity.ledger IS 'the OID of race_charges; a restore makes a new one';

CREATE FUNCTION _race_identity() RETURNS @extschema@.race_identity
	LANGUAGE sql STABLE PARALLEL RESTRICTED COST 100
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT ROW(c.system_identifier, d.oid,
		('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int,
		to_regclass('@extschema@.race_charges')::oid)::@extschema@.race_identity
	FROM pg_control_system() c, pg_database d WHERE d.datname = current_database()
$$;
REVOKE EXECUTE ON FUNCTION _race_identity() FROM PUBLIC;
COMMENT ON FUNCTION _race_identity() IS
	'which copy of the database this is; error 55000 during recovery';

CREATE TABLE race_budgets (
	budget text PRIMARY KEY,
	accounting text NOT NULL CHECK (accounting IN ('basic', 'zcdp')),
	epsilon_limit numeric NOT NULL CHECK (epsilon_limit > 0 AND epsilon_limit <= 1e15),
	delta_limit numeric NOT NULL CHECK (delta_limit >= 0 AND delta_limit < 1),
	rho_limit numeric CHECK ((rho_limit IS NULL) = (accounting = 'basic')),
	spent_epsilon numeric NOT NULL DEFAULT 0,
	spent_delta numeric NOT NULL DEFAULT 0,
	spent_rho numeric NOT NULL DEFAULT 0,
	identity race_identity NOT NULL,
	CHECK (CASE accounting
		WHEN 'basic' THEN spent_epsilon <= epsilon_limit AND spent_delta <= delta_limit
		ELSE spent_rho <= rho_limit END)
);
COMMENT ON TABLE race_budgets IS
	'one row a budget, named after the dataset that it was made for: its limits, the accounting that charges are held to (rho_limit: what the limits allow in zCDP), the sums of what was charged, and the copy of the database it was last used in';
COMMENT ON COLUMN race_budgets.budget IS 'its name: that of the first dataset';
COMMENT ON COLUMN race_budgets.accounting IS 'what charges are held to: basic (sums of epsilon and delta) or zcdp (the sum of rho)';
COMMENT ON COLUMN race_budgets.epsilon_limit IS 'what all releases together may cost in epsilon';
COMMENT ON COLUMN race_budgets.delta_limit IS 'and in delta';
COMMENT ON COLUMN race_budgets.rho_limit IS 'the rho that both limits allow; NULL with basic accounting';
COMMENT ON COLUMN race_budgets.spent_epsilon IS 'the sum of the epsilons that were charged';
COMMENT ON COLUMN race_budgets.spent_delta IS 'the sum of the deltas';
COMMENT ON COLUMN race_budgets.spent_rho IS 'the sum of rho; a pure release counts as epsilon^2 / 2';
COMMENT ON COLUMN race_budgets.identity IS 'the copy of the database that it was last spent in';

CREATE TABLE race_datasets (
	dataset text PRIMARY KEY,
	relation oid NOT NULL,
	relation_name text NOT NULL,
	owner name NOT NULL,
	unit_column name,
	max_contributions int NOT NULL CHECK (max_contributions >= 1),
	neighbors text NOT NULL,
	public_tables text[] NOT NULL,
	budget text NOT NULL REFERENCES race_budgets
);
COMMENT ON TABLE race_datasets IS
	'what race_protect registered: a table or view and its owner, whom a row is about, and the budget that its releases are charged to';
COMMENT ON COLUMN race_datasets.dataset IS 'its name';
COMMENT ON COLUMN race_datasets.relation IS 'the table or view that releases are made of: its OID, in the copy of the database where it was protected';
COMMENT ON COLUMN race_datasets.relation_name IS 'the name of the relation when it was protected, with its schema';
COMMENT ON COLUMN race_datasets.owner IS 'the owner of the relation when it was protected';
COMMENT ON COLUMN race_datasets.unit_column IS 'the column that says whom a row is about; NULL if each row is a unit';
COMMENT ON COLUMN race_datasets.max_contributions IS 'how many records of a unit enter a release';
COMMENT ON COLUMN race_datasets.neighbors IS 'what a release hides: add_remove or substitute';
COMMENT ON COLUMN race_datasets.public_tables IS 'tables without private data';
COMMENT ON COLUMN race_datasets.budget IS 'the budget that its releases are charged to';

CREATE TABLE race_budget_tables (
	table_name text NOT NULL,
	relation oid NOT NULL,
	owner name NOT NULL,
	budget text NOT NULL REFERENCES race_budgets,
	identity race_identity NOT NULL,
	PRIMARY KEY (table_name, relation, owner)
);
CREATE INDEX race_budget_tables_relation ON race_budget_tables (relation);
COMMENT ON TABLE race_budget_tables IS
	'the private tables of datasets: name, OID and owner when a budget was given or charged, and in which copy of the database. A table belongs to a budget by its OID, and by its name together with its owner: to rename it or to make it anew gives it no other budget, and a table that someone else makes under its name does not belong to it';
COMMENT ON COLUMN race_budget_tables.table_name IS 'its name, with its schema';
COMMENT ON COLUMN race_budget_tables.relation IS 'its OID, in the copy of the database that identity names';
COMMENT ON COLUMN race_budget_tables.owner IS 'its owner';
COMMENT ON COLUMN race_budget_tables.budget IS 'the budget that it belongs to';
COMMENT ON COLUMN race_budget_tables.identity IS 'the copy of the database in which it was entered';

CREATE TABLE race_charges (
	charge uuid PRIMARY KEY DEFAULT gen_random_uuid(),
	budget text NOT NULL REFERENCES race_budgets,
	dataset text NOT NULL,
	act text NOT NULL CHECK (act IN ('protect', 'limit', 'adopt', 'release')),
	request jsonb NOT NULL,
	epsilon numeric NOT NULL DEFAULT 0 CHECK (epsilon >= 0),
	delta numeric NOT NULL DEFAULT 0 CHECK (delta >= 0),
	rho numeric NOT NULL DEFAULT 0 CHECK (rho >= 0),
	charged_by name NOT NULL,
	charged_at timestamptz NOT NULL,
	identity race_identity NOT NULL
);
CREATE INDEX race_charges_budget ON race_charges (budget);
CREATE INDEX race_charges_dataset ON race_charges (dataset);
COMMENT ON TABLE race_charges IS
	'the ledger, append-only: every charge with its request and cost, and every other act on a budget; who, when, and in which copy of the database. A charge of a release is spent whether or not the release was stored';
COMMENT ON COLUMN race_charges.charge IS 'its identifier';
COMMENT ON COLUMN race_charges.budget IS 'the budget that was acted on';
COMMENT ON COLUMN race_charges.dataset IS 'the dataset that was named';
COMMENT ON COLUMN race_charges.act IS 'protect, limit, adopt or release';
COMMENT ON COLUMN race_charges.request IS 'what was asked for; of limits and copies also what was before';
COMMENT ON COLUMN race_charges.epsilon IS 'what was charged in epsilon; 0 for acts other than a release';
COMMENT ON COLUMN race_charges.delta IS 'and in delta';
COMMENT ON COLUMN race_charges.rho IS 'and in rho';
COMMENT ON COLUMN race_charges.charged_by IS 'the role that did it';
COMMENT ON COLUMN race_charges.charged_at IS 'when it was asked for';
COMMENT ON COLUMN race_charges.identity IS 'the copy of the database that it was done in';

CREATE TABLE race_releases (
	name text NOT NULL,
	version int NOT NULL CHECK (version >= 1),
	part int NOT NULL CHECK (part >= 1),
	label text,
	sketch race_sketch NOT NULL,
	dataset text NOT NULL,
	charge uuid NOT NULL,
	released_at timestamptz NOT NULL,
	value_bound float8,
	PRIMARY KEY (name, version, part),
	UNIQUE (charge, part)
);
COMMENT ON TABLE race_releases IS
	'the releases, immutable: private sketches by name, version (of a refresh), and part (1, or one for each label; of a release with a value two: of its lower bound, then of its upper). released_at is when the release was charged, before its data were read';
COMMENT ON COLUMN race_releases.name IS 'the name of the release';
COMMENT ON COLUMN race_releases.version IS '1, and one more for each refresh';
COMMENT ON COLUMN race_releases.part IS '1, or one for each label, in the order of labels; with a value twice as many';
COMMENT ON COLUMN race_releases.label IS 'the label of the part; NULL in a release without labels';
COMMENT ON COLUMN race_releases.sketch IS 'the private sketch';
COMMENT ON COLUMN race_releases.dataset IS 'the dataset that it was made of';
COMMENT ON COLUMN race_releases.charge IS 'the charge that paid for it, in race_charges';
COMMENT ON COLUMN race_releases.released_at IS 'when it was charged, before its data were read';
COMMENT ON COLUMN race_releases.value_bound IS 'of a release with a value, value_lower for the lower half and value_upper for the upper one (race_build_value); NULL in a release without a value';

CREATE FUNCTION _race_refuse_change() RETURNS trigger
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	RAISE EXCEPTION '% of % is refused: the ledger only grows', TG_OP, TG_TABLE_NAME
		USING ERRCODE = 'object_not_in_prerequisite_state',
			HINT = 'What has been spent stays spent.';
END $$;
COMMENT ON FUNCTION _race_refuse_change() IS
	'trigger that refuses changes: a guard against accidents, since the owner of a table can disable its triggers';
CREATE TRIGGER race_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON race_charges
	FOR EACH STATEMENT EXECUTE FUNCTION _race_refuse_change();
CREATE TRIGGER race_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON race_releases
	FOR EACH STATEMENT EXECUTE FUNCTION _race_refuse_change();
CREATE TRIGGER race_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON race_datasets
	FOR EACH STATEMENT EXECUTE FUNCTION _race_refuse_change();
CREATE TRIGGER race_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON race_budget_tables
	FOR EACH STATEMENT EXECUTE FUNCTION _race_refuse_change();
CREATE TRIGGER race_no_removal BEFORE DELETE OR TRUNCATE ON race_budgets
	FOR EACH STATEMENT EXECUTE FUNCTION _race_refuse_change();
CREATE TRIGGER race_no_refund BEFORE UPDATE ON race_budgets
	FOR EACH ROW WHEN (new.budget <> old.budget OR new.spent_epsilon < old.spent_epsilon
		OR new.spent_delta < old.spent_delta OR new.spent_rho < old.spent_rho)
	EXECUTE FUNCTION _race_refuse_change();

SELECT pg_catalog.pg_extension_config_dump('race_budgets', '');
SELECT pg_catalog.pg_extension_config_dump('race_datasets', '');
SELECT pg_catalog.pg_extension_config_dump('race_budget_tables', '');
SELECT pg_catalog.pg_extension_config_dump('race_charges', '');
SELECT pg_catalog.pg_extension_config_dump('race_releases', '');

CREATE FUNCTION _race_rho_limit(epsilon float8, delta float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'race_rho_limit' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION _race_rho_limit(float8, float8) IS
	'the largest rho of zCDP that is (epsilon, delta)-differentially private, rounded down (Canonne, Kamath & Steinke 2020, proposition 7); error 22023 for a delta of 0';

CREATE FUNCTION _race_rho_epsilon(rho float8, delta float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'race_rho_epsilon' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION _race_rho_epsilon(float8, float8) IS
	'the smallest epsilon that rho of zCDP implies at delta, rounded up; error 22023 for a delta of 0';

CREATE VIEW race_budget_status AS
SELECT b.budget,
	(SELECT pg_catalog.array_agg(d.dataset ORDER BY d.dataset) FROM race_datasets d WHERE d.budget = b.budget) AS datasets,
	(SELECT pg_catalog.array_agg(DISTINCT t.table_name ORDER BY t.table_name) FROM race_budget_tables t WHERE t.budget = b.budget) AS tables,
	b.accounting, b.epsilon_limit, b.delta_limit, b.rho_limit,
	b.spent_epsilon, b.spent_delta, b.spent_rho,
	CASE WHEN b.delta_limit > 0 THEN _race_rho_epsilon(b.spent_rho::float8, b.delta_limit::float8) END AS spent_zcdp_epsilon,
	CASE b.accounting WHEN 'basic' THEN b.epsilon_limit - b.spent_epsilon END AS epsilon_left,
	CASE b.accounting WHEN 'basic' THEN b.delta_limit - b.spent_delta END AS delta_left,
	b.rho_limit - b.spent_rho AS rho_left,
	c.charges, c.charged_by AS last_charged_by, c.charged_at AS last_charged_at
FROM race_budgets b LEFT JOIN LATERAL (
	SELECT count(*) AS charges, max(charged_at) AS charged_at,
		(pg_catalog.array_agg(charged_by ORDER BY charged_at DESC))[1] AS charged_by
	FROM race_charges WHERE budget = b.budget AND act = 'release') c ON true;
COMMENT ON VIEW race_budget_status IS
	'each budget: limits, what was spent by basic composition (sums of epsilon and delta) and by zCDP (the sum of rho, and the epsilon that it implies at delta_limit; pure releases count as epsilon^2 / 2), what is left by the accounting that charges are held to, and who charged it last';
COMMENT ON COLUMN race_budget_status.budget IS 'the name of the budget';
COMMENT ON COLUMN race_budget_status.datasets IS 'the datasets that share it';
COMMENT ON COLUMN race_budget_status.tables IS 'the private tables that belong to it, by all names that they have had';
COMMENT ON COLUMN race_budget_status.accounting IS 'what charges are held to: basic or zcdp';
COMMENT ON COLUMN race_budget_status.epsilon_limit IS 'what all releases together may cost in epsilon';
COMMENT ON COLUMN race_budget_status.delta_limit IS 'and in delta';
COMMENT ON COLUMN race_budget_status.rho_limit IS 'the rho that both limits allow; NULL with basic accounting';
COMMENT ON COLUMN race_budget_status.spent_epsilon IS 'the sum of the epsilons that were charged';
COMMENT ON COLUMN race_budget_status.spent_delta IS 'the sum of the deltas';
COMMENT ON COLUMN race_budget_status.spent_rho IS 'the sum of rho';
COMMENT ON COLUMN race_budget_status.spent_zcdp_epsilon IS 'the epsilon that spent_rho implies at delta_limit; NULL if delta_limit is 0';
COMMENT ON COLUMN race_budget_status.epsilon_left IS 'what is left of epsilon; NULL with zcdp accounting';
COMMENT ON COLUMN race_budget_status.delta_left IS 'what is left of delta; NULL with zcdp accounting';
COMMENT ON COLUMN race_budget_status.rho_left IS 'what is left of rho; NULL with basic accounting';
COMMENT ON COLUMN race_budget_status.charges IS 'how many releases were charged';
COMMENT ON COLUMN race_budget_status.last_charged_by IS 'the role that charged it last';
COMMENT ON COLUMN race_budget_status.last_charged_at IS 'and when';
-- ------------------------------------------------------------------------
-- Releases by name: the latest version that the caller may see

CREATE FUNCTION race_released(name text, label text DEFAULT NULL, bound text DEFAULT NULL) RETURNS race_sketch
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION race_released(text, text, text) IS
	'the sketch of the latest version of a release, for all functions that take a sketch. Of a release with labels, the sketch of one label. Of a release with a value, the sketch of all records: the sum of both sketches, with the noise of both and without a model, added up for each statement; bound, lower or upper, gives the sketch of that bound. NULL for a NULL name. Errors: 42704 if there is no such release or label, 22023 if the release has labels and none is given, or has no value and a bound is given';

CREATE FUNCTION race_released_mean(
	name text, q "any", label text DEFAULT NULL, confidence float8 DEFAULT 0.95)
	RETURNS race_conditional_mean_result
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE COST 300;
COMMENT ON FUNCTION race_released_mean(text, "any", text, float8) IS
	'race_conditional_mean of the latest version of a release with a value, and of one label if it has labels. NULL if another argument than the label is NULL. Errors as in race_released, 22023 if the release has no value, and others as in race_conditional_mean';

CREATE VIEW race_latest_releases AS
SELECT r.name, r.version, r.label, r.value_bound, r.sketch, r.dataset,
	race_count(r.sketch) AS count, i.epsilon, i.delta, r.released_at
FROM race_releases r CROSS JOIN LATERAL race_info(r.sketch) i
WHERE r.version = (SELECT pg_catalog.max(n.version) FROM race_releases n WHERE n.name = r.name);
COMMENT ON VIEW race_latest_releases IS
	'the latest version of each release: a row for each label, or one row; of a release with a value twice as many. count is the noisy number of records, epsilon and delta are the true cost of this sketch';
COMMENT ON COLUMN race_latest_releases.name IS 'the name of the release';
COMMENT ON COLUMN race_latest_releases.version IS 'its latest version';
COMMENT ON COLUMN race_latest_releases.label IS 'the label; NULL in a release without labels';
COMMENT ON COLUMN race_latest_releases.value_bound IS 'of a release with a value, value_lower for the lower half and value_upper for the upper one (race_build_value); NULL in a release without a value. With a value, a sketch has a part of each record: race_released adds both up';
COMMENT ON COLUMN race_latest_releases.sketch IS 'the private sketch: a large value, so name the columns that you want to see';
COMMENT ON COLUMN race_latest_releases.dataset IS 'the dataset that it was made of';
COMMENT ON COLUMN race_latest_releases.count IS 'the noisy number of records, as race_count';
COMMENT ON COLUMN race_latest_releases.epsilon IS 'the true epsilon of the sketch';
COMMENT ON COLUMN race_latest_releases.delta IS 'its delta';
COMMENT ON COLUMN race_latest_releases.released_at IS 'when it was charged, before its data were read';

-- The view shows what its user may see, where PostgreSQL can say so: from 15 on.
DO $$
BEGIN
	IF current_setting('server_version_num')::int >= 150000 THEN
		ALTER VIEW race_latest_releases SET (security_invoker = true);
	END IF;
END $$;
-- ------------------------------------------------------------------------
-- What is protected: datasets, and the budget that those of the same tables share

CREATE FUNCTION _race_private_tables(relation regclass, unit_column name, public_tables regclass[])
	RETURNS regclass[] AS 'MODULE_PATHNAME', 'race_private_tables'
	LANGUAGE C STABLE PARALLEL RESTRICTED COST 10000;
REVOKE EXECUTE ON FUNCTION _race_private_tables(regclass, name, regclass[]) FROM PUBLIC;
COMMENT ON FUNCTION _race_private_tables(regclass, name, regclass[]) IS
	'the base tables of a table or view that are not among the public ones. Error 22023 if its rows do not depend on one row of each table alone, or on where or when rows were written, and, where there is more than one thing in FROM, if they are not tied to the unit column by equalities of inner joins';

CREATE FUNCTION _race_check_unit(max_contributions int, neighbors text) RETURNS void
	AS 'MODULE_PATHNAME', 'race_check_unit' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _race_check_unit(int, text) IS
	'raises what race_privatize says of these arguments: 22023 out of limits';

CREATE FUNCTION _race_lock_tables(ledger regclass, tables regclass[], wait boolean) RETURNS regclass[]
	AS 'MODULE_PATHNAME', 'race_lock_tables' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100;
REVOKE EXECUTE ON FUNCTION _race_lock_tables(regclass, regclass[], boolean) FROM PUBLIC;
COMMENT ON FUNCTION _race_lock_tables(regclass, regclass[], boolean) IS
	'lets this transaction alone enter these tables into the ledger; if not to wait, returns those that no other transaction enters now';

CREATE FUNCTION _race_exact_decimal(value float8) RETURNS numeric
	LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 10
	SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 AS $$
	SELECT value::text::numeric
$$;
COMMENT ON FUNCTION _race_exact_decimal(float8) IS
	'the shortest decimal that stands for a number: what was written, so that ten times 0.1 is 1';

CREATE FUNCTION _race_relation_name(relation regclass) RETURNS text
	LANGUAGE sql STABLE STRICT PARALLEL SAFE COST 10
	SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
	SELECT format('%I.%I', n.nspname, c.relname)
	FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = relation
$$;
COMMENT ON FUNCTION _race_relation_name(regclass) IS
	'the name of a relation with its schema, the same under all settings';

CREATE FUNCTION _race_with_parts(tables regclass[]) RETURNS regclass[]
	LANGUAGE sql STABLE STRICT PARALLEL SAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
	WITH RECURSIVE parts AS (
		SELECT unnest(tables)::oid AS part
		UNION SELECT i.inhrelid FROM parts JOIN pg_inherits i ON i.inhparent = part)
	SELECT coalesce(array_agg(part::regclass), '{}') FROM parts
$$;
COMMENT ON FUNCTION _race_with_parts(regclass[]) IS
	'tables with their partitions and the tables that inherit from them';

CREATE FUNCTION _race_topmost(tables regclass[]) RETURNS regclass[]
	LANGUAGE sql STABLE STRICT PARALLEL SAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
	WITH RECURSIVE wholes AS (
		SELECT unnest(tables)::oid AS whole
		UNION SELECT i.inhparent FROM wholes JOIN pg_inherits i ON i.inhrelid = whole)
	SELECT coalesce(array_agg(whole::regclass), '{}') FROM wholes
	WHERE NOT EXISTS (SELECT FROM pg_inherits i WHERE i.inhrelid = whole)
$$;
COMMENT ON FUNCTION _race_topmost(regclass[]) IS
	'the tables that these are partitions of, or inherit from; or themselves';

-- A name alone proves nothing: anyone who may create tables in a schema can take a name
-- that has become free.  Nor does it with its owner, if the table was given to another role.
-- An OID means nothing in another copy of the database.
CREATE FUNCTION _race_entries_of(tables regclass[])
	RETURNS TABLE (relation regclass, budget text)
	LANGUAGE sql STABLE STRICT PARALLEL SAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT c.oid::regclass, b.budget
	FROM pg_class c CROSS JOIN LATERAL @extschema@._race_relation_name(c.oid) n (name)
		CROSS JOIN @extschema@._race_identity() i
		JOIN @extschema@.race_budget_tables b ON b.relation = c.oid OR b.table_name = n.name
		CROSS JOIN LATERAL (SELECT (b.identity).system_identifier = i.system_identifier
			AND (b.identity).database = i.database) h (here)
	WHERE c.oid = ANY (tables) AND (b.relation = c.oid AND h.here
		OR b.table_name = n.name AND b.owner = pg_get_userbyid(c.relowner) AND NOT (h.here AND EXISTS (
			SELECT FROM pg_class o WHERE o.oid = b.relation AND pg_get_userbyid(o.relowner) <> b.owner)))
$$;
REVOKE EXECUTE ON FUNCTION _race_entries_of(regclass[]) FROM PUBLIC;
COMMENT ON FUNCTION _race_entries_of(regclass[]) IS
	'the budgets that tables belong to: by OID, in the copy of the database where it was entered; or by name and owner, unless the table that was entered has another owner now';

-- A view alone does not make one answer for the tables under it.
CREATE FUNCTION _race_check_owner(actor name, relations regclass[]) RETURNS void
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 100
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	foreign_one text;
BEGIN
	SELECT @extschema@._race_relation_name(c.oid::regclass) INTO foreign_one FROM pg_class c
	WHERE c.oid = ANY (relations) AND NOT pg_has_role(actor, c.relowner, 'USAGE')
	ORDER BY 1 LIMIT 1;
	IF FOUND THEN
		RAISE EXCEPTION 'must be owner of relation "%"', foreign_one USING ERRCODE = 'insufficient_privilege';
	END IF;
END $$;
COMMENT ON FUNCTION _race_check_owner(name, regclass[]) IS
	'raises 42501 unless a role owns the relations, as far as they exist';

-- Two owners share a budget only if one role may act for both.
CREATE FUNCTION _race_check_budget_owner(actor name, budget text) RETURNS void
	LANGUAGE sql VOLATILE PARALLEL UNSAFE COST 10000
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT @extschema@._race_check_owner(actor, @extschema@._race_topmost(array_agg(e.relation)))
	FROM @extschema@._race_entries_of(ARRAY(
		SELECT c.oid::regclass FROM pg_class c, @extschema@.race_budget_tables b
		WHERE b.budget = _race_check_budget_owner.budget
			AND (c.oid = b.relation OR c.oid = to_regclass(b.table_name)))) e
	WHERE e.budget = _race_check_budget_owner.budget
$$;
REVOKE EXECUTE ON FUNCTION _race_check_budget_owner(name, text) FROM PUBLIC;
COMMENT ON FUNCTION _race_check_budget_owner(name, text) IS
	'raises 42501 unless a role owns all tables of a budget, as far as they exist';

CREATE FUNCTION _race_find_budget(tables regclass[], public_tables regclass[]) RETURNS text
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 10000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	budgets text[];
BEGIN
	IF EXISTS (SELECT FROM pg_class WHERE oid = ANY (public_tables) AND relkind NOT IN ('r', 'p', 'f')) THEN
		RAISE EXCEPTION 'public_tables must be tables' USING ERRCODE = 'wrong_object_type',
			HINT = 'Name the tables that a view is made of.';
	END IF;
	IF EXISTS (SELECT FROM @extschema@._race_entries_of(
			@extschema@._race_with_parts(@extschema@._race_topmost(public_tables)))) THEN
		RAISE EXCEPTION 'a table that has a budget cannot be public' USING ERRCODE = 'invalid_parameter_value';
	END IF;
	budgets := ARRAY(SELECT DISTINCT e.budget FROM @extschema@._race_entries_of(
		@extschema@._race_with_parts(@extschema@._race_topmost(tables))) e ORDER BY 1);
	IF cardinality(budgets) > 1 THEN
		RAISE EXCEPTION 'the tables of this relation belong to different budgets'
			USING ERRCODE = 'invalid_parameter_value',
				DETAIL = format('They belong to "%s".', array_to_string(budgets, '", "')),
				HINT = 'Protect a relation over all of them first; what is protected then shares its budget.';
	END IF;
	RETURN budgets[1];
END $$;
REVOKE EXECUTE ON FUNCTION _race_find_budget(regclass[], regclass[]) FROM PUBLIC;
COMMENT ON FUNCTION _race_find_budget(regclass[], regclass[]) IS
	'the one budget that private tables belong to, or NULL; error 22023 if there are several, or if a public table has one';

-- A name that a table had before stays with its budget, and so does a partition
-- that is detached.
CREATE FUNCTION _race_enter_tables(tables regclass[], budget text) RETURNS void
	LANGUAGE sql VOLATILE PARALLEL UNSAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
	INSERT INTO @extschema@.race_budget_tables (table_name, relation, owner, budget, identity)
	SELECT @extschema@._race_relation_name(c.oid), c.oid, pg_get_userbyid(c.relowner), budget, @extschema@._race_identity()
	FROM pg_class c WHERE c.oid = ANY (tables)
	ON CONFLICT DO NOTHING
$$;
REVOKE EXECUTE ON FUNCTION _race_enter_tables(regclass[], text) FROM PUBLIC;
COMMENT ON FUNCTION _race_enter_tables(regclass[], text) IS
	'gives tables, by the names and owners that they have now, to a budget; their locks must be held';

-- A charge does not wait for others: whoever enters these tables now gives them to the
-- same budget, which their lineage leads to.
CREATE FUNCTION _race_enter_new_tables(tables regclass[], budget text) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 10000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	new_ones regclass[] := ARRAY(
		SELECT c.oid FROM pg_class c
		WHERE c.oid = ANY (@extschema@._race_with_parts(@extschema@._race_topmost(tables)))
			AND NOT EXISTS (SELECT FROM @extschema@.race_budget_tables b
				WHERE b.table_name = @extschema@._race_relation_name(c.oid) AND b.relation = c.oid
					AND b.owner = pg_get_userbyid(c.relowner)));
BEGIN
	PERFORM @extschema@._race_enter_tables(
		@extschema@._race_lock_tables('@extschema@.race_budget_tables', new_ones, false), budget);
END $$;
REVOKE EXECUTE ON FUNCTION _race_enter_new_tables(regclass[], text) FROM PUBLIC;
COMMENT ON FUNCTION _race_enter_new_tables(regclass[], text) IS
	'gives to a budget what has become of its tables: new partitions, names and owners';

-- In a copy of the database a table goes by its name.  One that was renamed there looks new.
CREATE FUNCTION _race_check_missing(tables regclass[]) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 10000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	missing record;
BEGIN
	SELECT t.table_name, b.budget INTO missing
	FROM @extschema@.race_budget_tables t JOIN @extschema@.race_budgets b USING (budget), @extschema@._race_identity() i
	WHERE ((b.identity).system_identifier <> i.system_identifier OR (b.identity).database <> i.database)
		AND to_regclass(t.table_name) IS NULL
		AND t.owner IN (SELECT pg_get_userbyid(c.relowner) FROM pg_class c WHERE c.oid = ANY (tables))
	ORDER BY 1, 2 LIMIT 1;
	IF FOUND THEN
		RAISE EXCEPTION 'a table of the same owner is missing in this copy of the database'
			USING ERRCODE = 'object_not_in_prerequisite_state',
				DETAIL = format('Table %s has budget "%s".', missing.table_name, missing.budget),
				HINT = 'If the table was renamed here, give it its name back. CALL race_budget_adopt for the budget first.';
	END IF;
END $$;
REVOKE EXECUTE ON FUNCTION _race_check_missing(regclass[]) FROM PUBLIC;
COMMENT ON FUNCTION _race_check_missing(regclass[]) IS
	'raises 55000 in a copy of the database where a budget waits to be adopted, and a table of it is missing that has the owner of one of these';

CREATE FUNCTION _race_enter_act(actor name, budget text, dataset text, act text, request jsonb) RETURNS void
	LANGUAGE sql VOLATILE PARALLEL UNSAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
	INSERT INTO @extschema@.race_charges (budget, dataset, act, request, charged_by, charged_at, identity)
	VALUES (budget, dataset, act, request, actor, statement_timestamp(), @extschema@._race_identity())
$$;
REVOKE EXECUTE ON FUNCTION _race_enter_act(name, text, text, text, jsonb) FROM PUBLIC;
COMMENT ON FUNCTION _race_enter_act(name, text, text, text, jsonb) IS
	'records an act on a budget that costs nothing';

CREATE FUNCTION _race_check_limits(
	epsilon_limit float8, delta_limit float8, accounting text,
	OUT epsilon numeric, OUT delta numeric, OUT rho numeric)
	RETURNS record LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	IF accounting IS NULL OR accounting NOT IN ('basic', 'zcdp') THEN
		RAISE EXCEPTION 'unknown accounting "%"', left(accounting, 64) USING ERRCODE = 'invalid_parameter_value',
			HINT = 'Use basic (sums of epsilon and delta) or zcdp (the sum of rho).';
	END IF;
	IF NOT coalesce(epsilon_limit > 0 AND epsilon_limit <= 1e15 AND delta_limit >= 0 AND delta_limit < 1, false) THEN
		RAISE EXCEPTION 'epsilon_limit must be above 0 and at most 1e15, delta_limit at least 0 and below 1'
			USING ERRCODE = 'invalid_parameter_value';
	END IF;
	epsilon := @extschema@._race_exact_decimal(epsilon_limit);
	delta := @extschema@._race_exact_decimal(delta_limit);
	IF accounting = 'zcdp' THEN
		rho := @extschema@._race_exact_decimal(@extschema@._race_rho_limit(epsilon_limit, delta_limit));
	END IF;
END $$;
COMMENT ON FUNCTION _race_check_limits(float8, float8, text) IS
	'limits of a budget as exact decimals, and the rho that they allow if it is held to zCDP; error 22023 if they are none';

-- Whoever joins a budget must know what it is.
CREATE FUNCTION _race_check_shared(budget text, epsilon_limit numeric, delta_limit numeric, accounting text)
	RETURNS void LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 100
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	b @extschema@.race_budgets;
BEGIN
	SELECT * INTO b FROM @extschema@.race_budgets s WHERE s.budget = _race_check_shared.budget;
	IF (b.accounting, b.epsilon_limit, b.delta_limit) IS DISTINCT FROM (accounting, epsilon_limit, delta_limit) THEN
		RAISE EXCEPTION 'the tables of this relation have a budget already' USING ERRCODE = 'invalid_parameter_value',
			DETAIL = format('Budget "%s" has epsilon_limit %s, delta_limit %s, accounting %s.',
				b.budget, b.epsilon_limit, b.delta_limit, b.accounting),
			HINT = 'Give the same limits to share it; race_budget_limit changes them.';
	END IF;
END $$;
REVOKE EXECUTE ON FUNCTION _race_check_shared(text, numeric, numeric, text) FROM PUBLIC;
COMMENT ON FUNCTION _race_check_shared(text, numeric, numeric, text) IS
	'raises 22023 unless the budget has these limits and this accounting';

CREATE FUNCTION _race_protect(
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
	parts := @extschema@._race_lock_tables('@extschema@.race_budget_tables', @extschema@._race_with_parts(tables), true);
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
REVOKE EXECUTE ON FUNCTION _race_protect(name, text, regclass, float8, float8, name, int, text, text, regclass[], regclass[]) FROM PUBLIC;
COMMENT ON FUNCTION _race_protect(name, text, regclass, float8, float8, name, int, text, text, regclass[], regclass[]) IS
	'race_protect for a role that owns the relation; tables are the private tables that it is made of';

CREATE PROCEDURE race_protect(
	dataset text, relation regclass, epsilon_limit float8, delta_limit float8 DEFAULT 0,
	unit_column name DEFAULT NULL, max_contributions int DEFAULT 1,
	neighbors text DEFAULT 'add_remove', accounting text DEFAULT 'basic',
	public_tables regclass[] DEFAULT '{}')
	AS 'MODULE_PATHNAME' LANGUAGE C;
REVOKE EXECUTE ON PROCEDURE race_protect(text, regclass, float8, float8, name, int, text, text, regclass[]) FROM PUBLIC;
COMMENT ON PROCEDURE race_protect(text, regclass, float8, float8, name, int, text, text, regclass[]) IS
	'registers a table or view that releases may be made of, and the budget that they are charged to: limits of epsilon and delta, and the accounting, basic (their sums) or zcdp (the sum of rho), that charges are held to. With a unit_column, at most max_contributions records of each of its values enter a release, chosen at random; without one each row is a unit, and that nobody has more than max_contributions rows is your promise. public_tables hold no private data. Datasets over the same tables share one budget. Errors: 42501 unless you own the relation and its private tables; 42710 a dataset of that name; 22023 limits that there cannot be, other limits than those of the budget that is shared, or a view whose rows may depend on more than one unit';

-- The budget of a dataset that its caller owns, locked
CREATE FUNCTION _race_own_budget(actor name, dataset text) RETURNS @extschema@.race_budgets
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	d @extschema@.race_datasets := @extschema@._race_dataset(dataset);
	b @extschema@.race_budgets;
BEGIN
	PERFORM @extschema@._race_check_owner(actor, ARRAY[d.relation::regclass]);
	PERFORM @extschema@._race_check_budget_owner(actor, d.budget);
	SELECT * INTO b FROM @extschema@.race_budgets WHERE budget = d.budget FOR UPDATE;
	RETURN b;
END $$;
REVOKE EXECUTE ON FUNCTION _race_own_budget(name, text) FROM PUBLIC;
COMMENT ON FUNCTION _race_own_budget(name, text) IS
	'the budget of a dataset, locked; errors: 42704 no such dataset, 42501 unless the role owns its relation and the tables of the budget';

CREATE FUNCTION _race_budget_limit(
	actor name, dataset text, epsilon_limit float8, delta_limit float8) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 100000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	b @extschema@.race_budgets := @extschema@._race_own_budget(actor, dataset);
	limits record := @extschema@._race_check_limits(epsilon_limit, delta_limit, b.accounting);
BEGIN
	IF b.spent_rho > limits.rho OR b.accounting = 'basic' AND
		(b.spent_epsilon > limits.epsilon OR b.spent_delta > limits.delta)
	THEN
		RAISE EXCEPTION 'a budget cannot be limited to less than what is spent' USING ERRCODE = 'invalid_parameter_value',
			DETAIL = format('Spent: epsilon %s, delta %s, rho %s.', b.spent_epsilon, b.spent_delta, b.spent_rho);
	END IF;
	UPDATE @extschema@.race_budgets
	SET epsilon_limit = limits.epsilon, delta_limit = limits.delta, rho_limit = limits.rho WHERE budget = b.budget;
	PERFORM @extschema@._race_enter_act(actor, b.budget, dataset, 'limit', jsonb_build_object(
		'epsilon_limit', limits.epsilon, 'delta_limit', limits.delta,
		'epsilon_limit_before', b.epsilon_limit, 'delta_limit_before', b.delta_limit));
END $$;
REVOKE EXECUTE ON FUNCTION _race_budget_limit(name, text, float8, float8) FROM PUBLIC;
COMMENT ON FUNCTION _race_budget_limit(name, text, float8, float8) IS
	'race_budget_limit for a role';

CREATE PROCEDURE race_budget_limit(dataset text, epsilon_limit float8, delta_limit float8)
	AS 'MODULE_PATHNAME' LANGUAGE C;
REVOKE EXECUTE ON PROCEDURE race_budget_limit(text, float8, float8) FROM PUBLIC;
COMMENT ON PROCEDURE race_budget_limit(text, float8, float8) IS
	'changes the limits of the budget of a dataset, which is recorded in race_charges; errors: 22023 below what is spent, 42501 unless you own the relation and the tables of the budget';

CREATE FUNCTION _race_budget_adopt(
	actor name, dataset text) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 100000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	b @extschema@.race_budgets := @extschema@._race_own_budget(actor, dataset);
BEGIN
	UPDATE @extschema@.race_budgets SET identity = @extschema@._race_identity() WHERE budget = b.budget;
	PERFORM @extschema@._race_enter_act(actor, b.budget, dataset, 'adopt',
		jsonb_build_object('identity_before', to_jsonb(b.identity)));
END $$;
REVOKE EXECUTE ON FUNCTION _race_budget_adopt(name, text) FROM PUBLIC;
COMMENT ON FUNCTION _race_budget_adopt(name, text) IS
	'race_budget_adopt for a role';

CREATE PROCEDURE race_budget_adopt(dataset text)
	AS 'MODULE_PATHNAME' LANGUAGE C;
REVOKE EXECUTE ON PROCEDURE race_budget_adopt(text) FROM PUBLIC;
COMMENT ON PROCEDURE race_budget_adopt(text) IS
	'declares that this copy of the database is the one that the budget of a dataset is spent in from now on, after a restore, a copy, pg_upgrade or a promotion; recorded in race_charges. See to it that no other copy goes on spending it. Error 42501 unless you own the relation and the tables of the budget';

CREATE PROCEDURE race_grant(grantee regrole, duty text)
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	owner_may CONSTANT text[] := '{race_protect,race_budget_limit,race_budget_adopt,race_refreshes_left}';
	curator_may CONSTANT text[] := '{race_release,race_release_next,race_refreshes_left}';
	analyst_sees CONSTANT text[] := '{race_releases,race_latest_releases}';
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
REVOKE EXECUTE ON PROCEDURE race_grant(regrole, text) FROM PUBLIC;
COMMENT ON PROCEDURE race_grant(regrole, text) IS
	'lets a role be an owner (protect tables and answer for budgets), a curator (make releases of relations that it may read) or an analyst (see releases); to be called by the owner of the extension';
-- ------------------------------------------------------------------------
-- A release: checked, charged, committed; then read, given noise, stored, committed.
-- The procedures do all of it in C (release.c).  The functions here say what is entered
-- into the ledger; they run with the rights of its owner.

CREATE FUNCTION _race_dataset(dataset text) RETURNS @extschema@.race_datasets
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	d @extschema@.race_datasets;
BEGIN
	SELECT * INTO d FROM @extschema@.race_datasets s WHERE s.dataset = _race_dataset.dataset;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'there is no dataset "%"', left(dataset, 64) USING ERRCODE = 'undefined_object',
			HINT = 'race_protect makes one.';
	END IF;
	-- A relation that was made anew goes by its old name, if its owner is the same: others
	-- may have taken the name.  In another copy of the database an OID may have come to
	-- mean something else.
	IF NOT EXISTS (SELECT FROM pg_class WHERE oid = d.relation) OR NOT EXISTS (
		SELECT FROM @extschema@.race_charges c, @extschema@._race_identity() i
		WHERE c.dataset = d.dataset AND c.act = 'protect'
			AND (c.identity).system_identifier = i.system_identifier AND (c.identity).database = i.database)
	THEN
		d.relation := (SELECT c.oid FROM pg_class c
			WHERE c.oid = to_regclass(d.relation_name) AND pg_get_userbyid(c.relowner) = d.owner);
	END IF;
	IF d.relation IS NULL THEN
		RAISE EXCEPTION 'relation "%" of dataset "%" does not exist', d.relation_name, dataset
			USING ERRCODE = 'undefined_table';
	END IF;
	RETURN d;
END $$;
REVOKE EXECUTE ON FUNCTION _race_dataset(text) FROM PUBLIC;
COMMENT ON FUNCTION _race_dataset(text) IS
	'what is registered of a dataset, and its relation as it is now; errors: 42704 no such dataset, 42P01 no such relation';

-- What views are made of can change after they were protected.  A table that was not among
-- it then is not taken into the budget by a release: race_protect asks for its owner.
CREATE FUNCTION _race_check_budget(dataset text, budget text, tables regclass[], public_tables regclass[]) RETURNS void
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 10000
	SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	IF @extschema@._race_find_budget(tables, public_tables) IS DISTINCT FROM budget OR EXISTS (
		SELECT FROM unnest(@extschema@._race_topmost(tables)) t
		WHERE NOT EXISTS (SELECT FROM @extschema@._race_entries_of(ARRAY[t])))
	THEN
		RAISE EXCEPTION 'the tables of dataset "%" are not those of its budget any more', dataset
			USING ERRCODE = 'object_not_in_prerequisite_state',
				HINT = 'Protect its relation under another name: what has a budget keeps it.';
	END IF;
END $$;
REVOKE EXECUTE ON FUNCTION _race_check_budget(text, text, regclass[], regclass[]) FROM PUBLIC;
COMMENT ON FUNCTION _race_check_budget(text, text, regclass[], regclass[]) IS
	'raises 55000 unless all tables belong to a budget, and as _race_find_budget';

CREATE FUNCTION _race_ordered_labels(params race_params, label text, labels text[], sketches int) RETURNS text[]
	LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 100
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	-- all private sketches of a release are in memory at once
	most CONSTANT bigint := 1000000000;
	most_labels CONSTANT int := 100000;
	i record;
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
	SELECT * INTO i FROM @extschema@.race_info(@extschema@.race_sketch(params));
	IF i.rows::bigint * i.range * 8 > most / cardinality(labels) / sketches THEN
		RAISE EXCEPTION 'sketches of so many labels could be larger than 1 GB together' USING ERRCODE = 'program_limit_exceeded';
	END IF;
	RETURN ARRAY(SELECT l COLLATE "C" FROM unnest(labels) l ORDER BY 1);
END $$;
COMMENT ON FUNCTION _race_ordered_labels(race_params, text, text[], int) IS
	'the declared labels, which have so many sketches each, in the order of the parts; errors: 22023 or 22004 unless they are a list of different labels, or there is neither label nor labels; 54000 if there are too many';

CREATE FUNCTION _race_request(
	dataset text, params race_params, expression text, epsilon float8, delta float8,
	rows int, label text, labels text[], fit boolean,
	value text, value_lower float8, value_upper float8)
	RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
	SELECT jsonb_build_object('dataset', dataset, 'params', params::text, 'expression', expression,
		'epsilon', @extschema@._race_exact_decimal(epsilon), 'delta', @extschema@._race_exact_decimal(delta),
		'rows', rows, 'label', label, 'labels', to_jsonb(labels), 'fit', fit) ||
		CASE WHEN value IS NULL THEN '{}' ELSE
			jsonb_build_object('value', value, 'value_lower', value_lower, 'value_upper', value_upper) END
$$;
COMMENT ON FUNCTION _race_request(text, race_params, text, float8, float8, int, text, text[], boolean, text, float8, float8) IS
	'what a release is asked for, in a form in which equal requests are equal; expressions are as PostgreSQL writes them, labels in the order of the parts';

CREATE FUNCTION _race_release_exists(name text, request jsonb) RETURNS boolean
	LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	last record;
BEGIN
	SELECT c.request - '{name,version}'::text[] AS request INTO last
	FROM @extschema@.race_releases r LEFT JOIN @extschema@.race_charges c ON c.charge = r.charge
	WHERE r.name = _race_release_exists.name ORDER BY r.version DESC, r.part LIMIT 1;
	IF NOT FOUND THEN
		RETURN false;
	ELSIF last.request IS DISTINCT FROM _race_release_exists.request THEN
		RAISE EXCEPTION 'release "%" exists, with another request', name USING ERRCODE = 'duplicate_object',
			HINT = 'Choose another name, or race_release_next for a new version of the same request.';
	END IF;
	RAISE NOTICE 'release "%" exists: nothing is charged', name;
	RETURN true;
END $$;
REVOKE EXECUTE ON FUNCTION _race_release_exists(text, jsonb) FROM PUBLIC;
COMMENT ON FUNCTION _race_release_exists(text, jsonb) IS
	'whether there is a release of that name and request; error 42710 if it has another request';

CREATE FUNCTION _race_last_request(
	name text, OUT version int, OUT dataset text, OUT params race_params, OUT expression text,
	OUT epsilon float8, OUT delta float8, OUT rows int, OUT label text, OUT labels text[], OUT fit boolean,
	OUT value text, OUT value_lower float8, OUT value_upper float8)
	RETURNS record LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	SELECT r.version, q.dataset, q.params, q.expression, q.epsilon, q.delta, q.rows, q.label, q.labels, q.fit,
		q.value, q.value_lower, q.value_upper
	INTO version, dataset, params, expression, epsilon, delta, rows, label, labels, fit,
		value, value_lower, value_upper
	FROM @extschema@.race_releases r JOIN @extschema@.race_charges c ON c.charge = r.charge,
		jsonb_to_record(c.request) q (dataset text, params text, expression text,
			epsilon float8, delta float8, rows int, label text, labels text[], fit boolean,
			value text, value_lower float8, value_upper float8)
	WHERE r.name = _race_last_request.name ORDER BY r.version DESC, r.part LIMIT 1;
	IF version IS NULL THEN
		RAISE EXCEPTION 'there is no release "%"', left(name, 64) USING ERRCODE = 'undefined_object';
	END IF;
END $$;
REVOKE EXECUTE ON FUNCTION _race_last_request(text) FROM PUBLIC;
COMMENT ON FUNCTION _race_last_request(text) IS
	'the latest version of a release, and the request that all versions share; error 42704 if there is none';

CREATE FUNCTION _race_check_identity(budget race_budgets) RETURNS void
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 100
	SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	IF budget.identity IS DISTINCT FROM @extschema@._race_identity() THEN
		RAISE EXCEPTION 'budget "%" was last spent in another copy of this database', budget.budget
			USING ERRCODE = 'object_not_in_prerequisite_state',
				DETAIL = format('It was %s, this is %s (system identifier, database, timeline, ledger).',
					budget.identity, @extschema@._race_identity()),
				HINT = 'If this copy is to go on with it, and no other, CALL race_budget_adopt(dataset).';
	END IF;
END $$;
REVOKE EXECUTE ON FUNCTION _race_check_identity(race_budgets) FROM PUBLIC;
COMMENT ON FUNCTION _race_check_identity(race_budgets) IS
	'raises 55000 unless the budget was last spent in this copy of the database';

CREATE FUNCTION _race_refuse_charge(dataset text, b race_budgets, epsilon numeric, delta numeric, rho numeric) RETURNS void
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 100
	SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	RAISE EXCEPTION 'the budget of dataset "%" does not allow this release', dataset
		USING ERRCODE = 'configuration_limit_exceeded',
			DETAIL = CASE b.accounting
				WHEN 'basic' THEN format('Asked: epsilon %s, delta %s. Left: epsilon %s, delta %s.', epsilon, delta,
					b.epsilon_limit - b.spent_epsilon, b.delta_limit - b.spent_delta)
				ELSE format('Asked: rho %s. Left: rho %s.', rho, b.rho_limit - b.spent_rho) END,
			HINT = 'Nothing was read and nothing charged.';
END $$;
REVOKE EXECUTE ON FUNCTION _race_refuse_charge(text, race_budgets, numeric, numeric, numeric) FROM PUBLIC;
COMMENT ON FUNCTION _race_refuse_charge(text, race_budgets, numeric, numeric, numeric) IS
	'raises 53400 with what was asked and what is left';

-- One UPDATE checks and charges, so that two sessions cannot both have the last of
-- a budget.
CREATE FUNCTION _race_charge(
	dataset text, name text, version int, request jsonb, rho float8, budget text, tables regclass[],
	charged_by name, OUT charge uuid, OUT charged_at timestamptz)
	RETURNS record LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 100000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	asked_epsilon numeric := (request->>'epsilon')::numeric;
	asked_delta numeric := (request->>'delta')::numeric;
	asked_rho numeric := @extschema@._race_exact_decimal(rho);
	b @extschema@.race_budgets;
BEGIN
	UPDATE @extschema@.race_budgets u
	SET spent_epsilon = spent_epsilon + asked_epsilon, spent_delta = spent_delta + asked_delta, spent_rho = spent_rho + asked_rho
	WHERE u.budget = _race_charge.budget AND CASE accounting
		WHEN 'basic' THEN spent_epsilon + asked_epsilon <= epsilon_limit AND spent_delta + asked_delta <= delta_limit
		ELSE spent_rho + asked_rho <= rho_limit END
	RETURNING u.* INTO b;
	IF FOUND THEN
		PERFORM @extschema@._race_check_identity(b);
	ELSE
		SELECT * INTO b FROM @extschema@.race_budgets u WHERE u.budget = _race_charge.budget;
		PERFORM @extschema@._race_check_identity(b);
		PERFORM @extschema@._race_refuse_charge(dataset, b, asked_epsilon, asked_delta, asked_rho);
	END IF;
	PERFORM @extschema@._race_enter_new_tables(tables, budget);

	INSERT INTO @extschema@.race_charges AS c
		(budget, dataset, act, request, epsilon, delta, rho, charged_by, charged_at, identity)
	VALUES (budget, dataset, 'release', request || jsonb_build_object('name', name, 'version', version),
		asked_epsilon, asked_delta, asked_rho, charged_by, statement_timestamp(), b.identity)
	RETURNING c.charge, c.charged_at INTO charge, charged_at;
END $$;
REVOKE EXECUTE ON FUNCTION _race_charge(text, text, int, jsonb, float8, text, regclass[], name) FROM PUBLIC;
COMMENT ON FUNCTION _race_charge(text, text, int, jsonb, float8, text, regclass[], name) IS
	'charges a request that was checked to a budget. Errors: 53400 what does not fit, 55000 a budget that belongs to another copy of the database';

CREATE PROCEDURE race_release(
	name text, dataset text, params race_params, expression text,
	epsilon float8, delta float8 DEFAULT 0, rows int DEFAULT NULL,
	label text DEFAULT NULL, labels text[] DEFAULT NULL,
	grid boolean DEFAULT NULL, fit boolean DEFAULT NULL,
	value text DEFAULT NULL, value_lower float8 DEFAULT NULL, value_upper float8 DEFAULT NULL)
	AS 'MODULE_PATHNAME' LANGUAGE C;
REVOKE EXECUTE ON PROCEDURE race_release(text, text, race_params, text, float8, float8, int, text, text[], boolean, boolean, text, float8, float8) FROM PUBLIC;
COMMENT ON PROCEDURE race_release(text, text, race_params, text, float8, float8, int, text, text[], boolean, boolean, text, float8, float8) IS
	'charges the budget of a dataset, and then stores a private sketch of it in race_releases. expression, over the columns of the relation, gives the records; what is no record (race_is_record: a NULL, a NULL element that the parameters do not declare, a NaN, a wrong length) is left out, and how many are is not told, as that depends on the data. label, another expression, and labels, the list of all that there may be, make a release for each label, at the cost of one. grid: make a grid of the kernel (sequence "grid"); NULL does so where its errors are smaller: for delta 0, rows NULL, kernels l2 and l1 in up to 3 dims with finite bounds. fit: fit a model to the release (race_fit), within the bounds of the parameters; NULL does so where there are such bounds, for up to 32 sketches, but not of a grid with a value. value, another expression, and its public bounds value_lower and value_upper make a release for race_released_mean: two halves of a sketch, which share each record by its value (race_build_value), at the cost of one; a record whose value is NULL or NaN is left out. The same request under the same name charges nothing. It commits, so it must be a statement of its own. Errors before anything is read: 25001 inside a transaction block or function, 53400 over budget, 42710 another request of that name, 54000 a name, an expression or a list of labels that is too long, 55000 a copy of the database, 22023, 42601 and others for arguments; 42501 unless the caller may SELECT what it reads; after the charge 22000, with no more said, and 55000 if definitions were changed meanwhile';

CREATE PROCEDURE race_release_next(name text)
	AS 'MODULE_PATHNAME' LANGUAGE C;
REVOKE EXECUTE ON PROCEDURE race_release_next(text) FROM PUBLIC;
COMMENT ON PROCEDURE race_release_next(text) IS
	'releases a new version of a release, of its data as they are now, with the same request and at the same cost; errors as race_release, and 42704 if there is no such release';

CREATE FUNCTION _race_refreshes_left(actor name, name text) RETURNS bigint
	LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 1000
	SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	last record;
	d @extschema@.race_datasets;
BEGIN
	SELECT c.dataset, c.epsilon, c.delta, c.rho, c.budget INTO last
	FROM @extschema@.race_releases r JOIN @extschema@.race_charges c ON c.charge = r.charge
	WHERE r.name = _race_refreshes_left.name ORDER BY r.version DESC, r.part LIMIT 1;
	IF NOT FOUND THEN
		RETURN NULL;
	END IF;
	d := @extschema@._race_dataset(last.dataset);
	IF NOT has_any_column_privilege(actor, d.relation, 'SELECT') THEN
		RAISE EXCEPTION 'permission denied for dataset "%"', d.dataset USING ERRCODE = 'insufficient_privilege';
	END IF;
	RETURN (SELECT least(9223372036854775807, floor(CASE b.accounting
		WHEN 'zcdp' THEN (b.rho_limit - b.spent_rho) / last.rho
		ELSE least((b.epsilon_limit - b.spent_epsilon) / last.epsilon, (b.delta_limit - b.spent_delta) / nullif(last.delta, 0)) END))::bigint
	FROM @extschema@.race_budgets b WHERE b.budget = last.budget);
END $$;
REVOKE EXECUTE ON FUNCTION _race_refreshes_left(name, text) FROM PUBLIC;
COMMENT ON FUNCTION _race_refreshes_left(name, text) IS
	'race_refreshes_left for a role';

CREATE FUNCTION race_refreshes_left(name text) RETURNS bigint
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL UNSAFE COST 10000;
REVOKE EXECUTE ON FUNCTION race_refreshes_left(text) FROM PUBLIC;
COMMENT ON FUNCTION race_refreshes_left(text) IS
	'how many times race_release_next of this release fits what is left of the budget; NULL if there is no such release; error 42501 unless the caller may SELECT from the relation of its dataset';
