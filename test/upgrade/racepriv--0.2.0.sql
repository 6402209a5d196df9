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
-- Parameters of moments

CREATE FUNCTION race_moment_params(
	lower float8[], upper float8[], norm float8 DEFAULT 0, features int DEFAULT 0,
	targets int DEFAULT 1, bandwidth float8 DEFAULT 1, seed bigint DEFAULT 0,
	sequence text DEFAULT 'auto', clip text DEFAULT 'auto')
	RETURNS race_params AS 'MODULE_PATHNAME'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION race_moment_params(float8[], float8[], float8, int, int, float8, bigint, text, text) IS
	'parameters for race_moments: records are arrays of as many numbers as there are bounds. lower, upper: public bounds of each column, which values are clipped to, and which are scaled to -1 and 1. norm: a record, which is 1 and its scaled columns, is multiplied by a factor so that its norm is at most this: it weighs less, and there is less noise; 0 stands for 1, the norm of the 1 alone, so that all records have the same norm, which is best for regressions; with the root of columns + 1, and targets 0, no record changes, so that means and covariances are those of the table. features: that many random Fourier features of all columns but the targets, beside the columns, for regressions that are not linear (Rahimi & Recht 2007); bandwidth: that of their Gaussian kernel, in scaled columns; seed and sequence (independent, sobol, orthogonal, auto): how they are drawn. These three are for features only. targets: that many last columns are scaled to 2 2/3 times as much, because regressions that explain them have less noise then; to find its factor, a record counts as if its targets were 0.35 of that at least. clip: norm, the Euclidean one, or absolute, the root of half of the sum of squares and the square of the sum of absolute values of a record, for Laplace noise: with more than 255 columns it halves pure noise (delta 0), and makes other noise larger; auto is norm, but absolute in race_release where there is Laplace noise. Error 22023 outside the limits';
-- ------------------------------------------------------------------------
-- Records that have been read, for aggregates that run on several servers

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

-- A category with race_moments, of which a NULL without a type is a sketch.
-- Storage external: exact sketches are packed, and noisy ones cannot be compressed.
CREATE TYPE race_sketch (
	INPUT = _race_sketch_in, OUTPUT = _race_sketch_out,
	RECEIVE = _race_sketch_recv, SEND = _race_sketch_send,
	INTERNALLENGTH = VARIABLE, ALIGNMENT = double, STORAGE = external,
	CATEGORY = 'r', PREFERRED = true
);
COMMENT ON TYPE race_sketch IS
	'a RACE sketch of a table of records (Coleman & Shrivastava, CCS 2021). It is exact while it is built, and private after race_privatize. An exact one is stored, sent and printed in room that is proportional to its counters other than 0, a private one in that of all counters. The text form is base64; \x and hexadecimal digits, which older versions wrote, are read';
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

CREATE FUNCTION race_record(params race_params, x "any") RETURNS race_record
	AS 'MODULE_PATHNAME', 'race_record_make' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION race_record(race_params, "any") IS
	'x as it is hashed, for race_build_records: so that engines that split aggregates over servers, such as Citus, push it down. It is as private as x. Errors as in race_add, and 54000 beyond 256 MB';

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

CREATE FUNCTION _race_build_step(race_sketch, race_params, race_record) RETURNS race_sketch
	AS 'MODULE_PATHNAME', 'race_build_record_step' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 50;
COMMENT ON FUNCTION _race_build_step(race_sketch, race_params, race_record) IS
	'aggregate transition function';

CREATE FUNCTION _race_build_undo(race_sketch, race_params, race_record) RETURNS race_sketch
	AS 'MODULE_PATHNAME', 'race_build_record_undo' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 50;
COMMENT ON FUNCTION _race_build_undo(race_sketch, race_params, race_record) IS
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

CREATE AGGREGATE race_build_records(params race_params, record race_record) (
	SFUNC = _race_build_step, STYPE = race_sketch, SSPACE = 1048576,
	COMBINEFUNC = _race_plus,
	MSFUNC = _race_build_step, MINVFUNC = _race_build_undo,
	MSTYPE = race_sketch, MSSPACE = 1048576,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_build_records(race_params, race_record) IS
	'the same sketch, of records that race_record has read with the same parameters: race_build_records(params, race_record(params, x)) is race_build(params, x). All types are exact, so that Citus builds where the rows are. Errors: 22004 for NULL params; 22023 for other parameters, as far as records show them';
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
	'the sketch of the records of both. Two private sketches add their noise and their privacy costs. Errors: 22023 for different parameters (private sketches may differ in rows, and private grids in cells that are halves of each other: the sum has the fewer of both), 55000 for an exact and a private one';

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
-- race_moments: sums and products of columns, exact or private.  It is kept as a sketch is,
-- and shares its formats, its sums, its noise and its history of privacy; a type of its own,
-- since no question about densities can be asked.

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

-- SSPACE: counters of 50 columns and a batch of records
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
-- ------------------------------------------------------------------------
-- Plan before you spend, and add up what was spent

CREATE TYPE race_privacy_cost_result AS (
	mechanism text, rows int, pure_epsilon float8, epsilon float8, delta float8, rho float8,
	counter_noise_stddev float8, count_noise_stddev float8,
	kernel_sum_noise_stddev float8, density_stddev float8);
COMMENT ON TYPE race_privacy_cost_result IS 'the result of race_privacy_cost';
COMMENT ON COLUMN race_privacy_cost_result.mechanism IS 'the noise: discrete Laplace or discrete Gaussian; or Wishart, of moments';
COMMENT ON COLUMN race_privacy_cost_result.rows IS 'how many rows the release would have';
COMMENT ON COLUMN race_privacy_cost_result.pure_epsilon IS 'the true epsilon of Laplace or Wishart noise; NULL for Gaussian noise';
COMMENT ON COLUMN race_privacy_cost_result.epsilon IS 'the true epsilon at delta, rounded up';
COMMENT ON COLUMN race_privacy_cost_result.delta IS 'the delta';
COMMENT ON COLUMN race_privacy_cost_result.rho IS 'the cost in zero-concentrated differential privacy (zCDP)';
COMMENT ON COLUMN race_privacy_cost_result.counter_noise_stddev IS 'the standard deviation of the noise in each counter, in records; of moments, in each sum or product of scaled columns (race_info)';
COMMENT ON COLUMN race_privacy_cost_result.count_noise_stddev IS 'the standard deviation of the noise in the count';
COMMENT ON COLUMN race_privacy_cost_result.kernel_sum_noise_stddev IS 'the standard deviation of the noise in a kernel sum; NULL for moments, as what follows';
COMMENT ON COLUMN race_privacy_cost_result.density_stddev IS 'the standard deviation to expect of a density, if the number of records is given';

CREATE FUNCTION race_privacy_cost(
	params race_params, epsilon float8, delta float8 DEFAULT 0,
	rows int DEFAULT NULL, max_contributions int DEFAULT 1,
	neighbors text DEFAULT 'add_remove', records float8 DEFAULT NULL,
	fit boolean DEFAULT false)
	RETURNS race_privacy_cost_result AS 'MODULE_PATHNAME'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION race_privacy_cost(race_params, float8, float8, int, int, text, float8, boolean) IS
	'what race_privatize with these arguments would cost, without looking at data: the true cost, the noise in records, and for a public number of records the standard deviation to expect of a density (but for the noise of its count), by the prior that rows are chosen by. Of a surrogate loss a WARNING tells when records and epsilon are too few for it. Errors: 22023 when rows are to be chosen (rows NULL, delta 0) and records are not given; others as in race_privatize';

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
-- Moments made private

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
	'a differentially private sketch of the first rows of an exact one. Every counter gets integer noise, and so does the record count, which takes 5 % of the budget. delta 0: discrete Laplace noise, epsilon-differential privacy. Above: discrete Gaussian noise, (epsilon, delta)-differential privacy (Coleman & Shrivastava 2021, theorem 3.2; Canonne, Kamath & Steinke 2020). rows: a power of two, or all. NULL chooses the rows that promise the least error (corollary 3.5), from public values, the noisy count, and a noisy sum of the norms of rows, which takes 2 % of epsilon; with delta > 0 it takes all. Of a grid, NULL chooses the size of its cells, and whether it has coarse cells besides, with delta 0 by a noisy look at what coarser cells lose, which takes 2 % of epsilon in one dimension and else 5 %, and 1 keeps the finest. fit: says that race_fit will follow, so that with delta 0 fewer rows are best in one or two dimensions, but enough to test the model; above, the count of rows then takes 12.5 % of rho. max_contributions: how many records one person may have. neighbors: add_remove or substitute. Every call draws new noise and costs its budget again. NULL if an argument other than rows is NULL. Errors: 22023 outside the limits, 55000 for a private sketch';

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
	'the sketch with a fitted model: points with weights of at least 0 that explain all of its counters best. All questions answer from the model and from what the counters say beyond it, and are more accurate; it costs no privacy, as it is computed from the sketch alone. For a kernel of vectors by itself. The points lie within lower and upper, which must be public (NULL: the bounds of the parameters, or of a surrogate loss its radius); points is how many there are at most (NULL: up to 2000, or 4000 where points are moved, half of them for each half of the rows), and the same seed gives the same model. The points of a surrogate loss are those of the normal distribution that explains the counters best; of least_squares all weigh the same. Merging and changing a sketch drop the model. NULL if the sketch or the seed is NULL. Errors: 22023 without bounds, for other kernels, or outside the limits; 55000 for shares of which there are not enough';

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
	'the sketch with a fitted model whose points are some of the records x, at most 65536, whose texts are at most 64 MB: all that there may be, or a sample that is public or made up. Of more than 4096 it chooses 2000 in rounds: those to which the sketch gives weight. Of sequence balanced, up to 4096 are taken as they are, and of more it makes 16384 records, each column of which has values as often as the sketch says; weights are those of maximum entropy, nearest to equal ones by the noise of counters, and are for race_sample and race_points: other questions ask the counters alone. Never take them from private data. For every kernel and product. All rows must have the same sketch; rows with a NULL are left out; no rows give NULL. Errors: 22023 for another sketch in a row, 54000 for too many records, longer texts, or a model of more than 64 MB, others as in race_add and race_fit';

-- generic plans: as a constant of a plan, an array of texts is walked through for each element
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

CREATE TYPE race_points_result AS (x float8[], record text, weight float8);
COMMENT ON TYPE race_points_result IS 'a row of the result of race_points';
COMMENT ON COLUMN race_points_result.x IS 'the point, of a kernel of vectors by itself; else NULL';
COMMENT ON COLUMN race_points_result.record IS 'the point as text, of other kernels, as PostgreSQL writes the record that race_fit was given; else NULL';
COMMENT ON COLUMN race_points_result.weight IS 'how many records the point stands for, above 0; all weights add up to the number of records';

CREATE FUNCTION race_points(sketch race_sketch) RETURNS SETOF race_points_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 1000;
COMMENT ON FUNCTION race_points(race_sketch) IS
	'the points of a fitted model and their weights. They are not records: they lie where the records are dense. Error 55000 for a sketch without a model';
CREATE FUNCTION _race_model(sketch race_sketch) RETURNS race_sketch
	AS 'MODULE_PATHNAME', 'race_model' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION _race_model(race_sketch) IS
	'a sketch that has a model, or no bounds, as it is; any other fitted within the bounds of its parameters. A session keeps such fits';
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
	'the kernel sum and the density at q, with a standard error and a confidence interval of the density. They come from the variance between rows (Student''s t) and the noise of the count (Fieller). The interval is unbounded for one row, but for one that is all balanced rows there are, and where the noisy count is within its noise of zero. With a NULL part in the query, of a product, a share of the answer that is what the model misses elsewhere is added. Fewer than 128 rows of a sequence cannot show their own variance: in a private sketch the prior that rows are chosen by is added, and a warning says when the noise does not prevail. All rows of sequence balanced are no sample: their errors are noise and categories that share a bucket, which other counters show; of fewer rows it is also what the left out ones may say, by the finite population and the prior';

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
COMMENT ON COLUMN race_info_result.sequence IS 'how rows share the work: sobol, orthogonal, structured, partition, grouped, balanced, independent or grid; NULL for products';
COMMENT ON COLUMN race_info_result.rehash IS 'how codes become buckets: fold or multilinear';
COMMENT ON COLUMN race_info_result.count IS 'the number of records, as race_count; noisy in a private sketch, NULL in a share';
COMMENT ON COLUMN race_info_result.counter_bytes IS 'bytes of a counter: 1, 2, 4 or 8; where counters are packed, those of one that is not';
COMMENT ON COLUMN race_info_result.storage_bytes IS 'bytes of the whole value, stored';
COMMENT ON COLUMN race_info_result.status IS 'exact, private, or share (noise shares of which there are not enough yet)';
COMMENT ON COLUMN race_info_result.mechanism IS 'the noise: discrete Laplace, discrete Gaussian, Wishart (of moments), or several; this and all further columns are NULL in an exact sketch';
COMMENT ON COLUMN race_info_result.epsilon IS 'the true epsilon, rounded up';
COMMENT ON COLUMN race_info_result.delta IS 'the delta; 0 for pure differential privacy';
COMMENT ON COLUMN race_info_result.rho IS 'the cost in zero-concentrated differential privacy (zCDP)';
COMMENT ON COLUMN race_info_result.max_contributions IS 'how many records of one person it protects';
COMMENT ON COLUMN race_info_result.neighbors IS 'what it hides: add_remove or substitute';
COMMENT ON COLUMN race_info_result.merged IS 'how many private sketches or shares were merged into it';
COMMENT ON COLUMN race_info_result.counter_noise_stddev IS 'the standard deviation of the noise in each counter, in records';
COMMENT ON COLUMN race_info_result.count_noise_stddev IS 'the standard deviation of the noise in count';
COMMENT ON COLUMN race_info_result.points IS 'how many points the fitted model has; NULL without a model';
COMMENT ON COLUMN race_info_result.misfit IS 'what share of an answer the model misses, root mean square, as half of the rows tells of a model from the other half; what it misses is answered from the rows. 1000000 says that nobody can tell, and that the model is not asked at all: of a grid in more than one dimension, and of vectors with fewer than 2 (dims + 1) rows, or 4 (dims + 1) in three dimensions and more. NULL without a model';

CREATE FUNCTION race_info(sketch race_sketch)
	RETURNS race_info_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION race_info(race_sketch) IS
	'what a sketch is: its parameters, the count of records, bytes, status, and of a private sketch its noise and true cost. race_params(sketch) has the arrays and the parts of a product. Of a share, the cost is that of the sum that it is made for: seen by itself it costs more';
-- ------------------------------------------------------------------------
-- What moments are, and what is in them

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
-- ------------------------------------------------------------------------
-- What charts draw of a sketch.  src/release/chart.sql has it by the name of a release.

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
CREATE FUNCTION _race_score_final(internal, anyelement, race_sketch, "any", text) RETURNS float8
	AS 'MODULE_PATHNAME', 'race_score_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION _race_score_final(internal, anyelement, race_sketch, "any", text) IS 'aggregate final function';
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
	'race_classify with a prior: uniform (maximum likelihood), or counts (maximum a posteriori, with the noisy counts as the prior). Flat kernels would let large classes win everywhere. So with counts, fitted sketches of vectors are asked for their model alone, with the kernel to a power of 8 at least, and other densities of l2 alone are taken to a power, which follows from how high they are at their own records (race_typicality); where noise hides that of all classes, to the highest power that may be, which leaves the prior little to say. Sketches with race_score_params, which say how frequent scores are, are asked as they are';

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
	'race_posterior with a prior: uniform, or counts (the noisy counts, with densities as race_classify takes them)';

CREATE AGGREGATE race_score(label anyelement, sketch race_sketch, q "any") (
	SFUNC = _race_classify_step, STYPE = internal,
	FINALFUNC = _race_score_final, FINALFUNC_EXTRA, PARALLEL = SAFE
);
COMMENT ON AGGREGATE race_score(anyelement, race_sketch, "any") IS
	'what race_classify says and how sure it is, as one number to calibrate by, over one row for each of K classes: 2 i + lead, where i = 0 ... K - 1 is the place of the best label in the order of labels, and lead, from 0 to 1, is L / (L + 1/4) for the logarithm L of best over second best density. Sketches of this number, one for each class, say how many records of each class have it; so race_posterior of them is calibrated. Sketches of private records cost epsilon again. No class gives NULL';

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
-- ------------------------------------------------------------------------
-- The mean of a bounded value near a query

CREATE TYPE race_conditional_mean_result AS (
	mean float8, stderr float8, lower float8, upper float8);
COMMENT ON TYPE race_conditional_mean_result IS 'the result of race_conditional_mean';
COMMENT ON COLUMN race_conditional_mean_result.mean IS 'the mean, between the bounds of the value. Without a trend it is NULL where the number of records near q is within two standard deviations of its noise of zero';
COMMENT ON COLUMN race_conditional_mean_result.stderr IS 'its standard error: of the row functions, of splitting, of the noise, and of the trend; NULL with the mean';
COMMENT ON COLUMN race_conditional_mean_result.lower IS 'the lower end of the confidence interval; value_lower if nothing can be said';
COMMENT ON COLUMN race_conditional_mean_result.upper IS 'the upper end; value_upper if nothing can be said';

CREATE FUNCTION race_conditional_mean(
	lower_sketch race_sketch, upper_sketch race_sketch, q "any",
	value_lower float8 DEFAULT 0, value_upper float8 DEFAULT 1, confidence float8 DEFAULT 0.95)
	RETURNS race_conditional_mean_result
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION race_conditional_mean(race_sketch, race_sketch, "any", float8, float8, float8) IS
	'the mean of a value at q: over all records, weighted by the kernel (Nadaraya 1964, Watson 1964), with a standard error and a confidence interval. Grids, and fitted sketches of vectors in up to 8 dimensions, with noise, have a trend: how the mean depends on the place, fitted to both sketches as a Gaussian process (Solin & Sarkka 2020), once in a session. There the answer is the trend, and what the sketches say beyond it so far as it stands out from the noise; the interval covers the mean with this confidence on average over places and noise. Elsewhere, and outside of what the trend covers, it is the ratio of both, with Fieller''s interval. The sketches are both halves of race_build_value with these bounds, exact or private, fitted or not, or two sketches of whole records, of values at the one bound and at the other: value_lower + (value_upper - value_lower) u / (l + u), with the kernel sums l and u of both. Near q means within the bandwidth; of a high power there is less weight on what is far. Errors: 22023 for sketches with different parameters, rows or cells, for halves in the wrong order, bounds that are not finite and in order, or a confidence that is not between 0 and 1; others as in race_estimate';
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
COMMENT ON COLUMN race_distance_result.p_value IS 'the probability of such a distance or more if both are drawn from one population; of rows with noise, of a distance in which buckets with hardly any records count for little; 1 where a count is within its noise, or below 2';

CREATE FUNCTION race_distance(a race_sketch, b race_sketch) RETURNS race_distance_result
	AS 'MODULE_PATHNAME', 'race_distance_sql' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION race_distance(race_sketch, race_sketch) IS
	'the maximum mean discrepancy between the records of two sketches (Gretton et al. 2012), with a test of whether both are drawn from one population. Rows whose buckets are in order (rehash = fold) are tested where records are: most buckets are empty, and have nothing but noise. It assumes that a and b have noise of their own, and no records in common; of a sketch with itself the distance is 0. Both must have the same parameters, but for the rows, or the cells of a grid, that race_privatize kept. p_value is conservative where noise is small, of rows, and most of all of kernels other than l2 and of rehashed rows. Where Laplace noise is much larger than what chance makes of records, the test looks at scores of differences, the locally most powerful for such noise, in place of their squares. Errors: 22023 for different parameters, 55000 for an exact and a private sketch';
-- ------------------------------------------------------------------------
-- Surrogate losses

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
COMMENT ON COLUMN race_quantile_result.standard_error IS 'of the value, for a grid in one dimension: how far it is at most from nodes that have clearly fewer or more records before them, beyond their noise, as a part of the 1.96 standard errors of a 95 % interval; else NULL, because theory gives none';

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
	'n records drawn from the fitted model of a sketch, evenly: each point about as often as its weight says (so they vary less than independent draws would), and vectors then moved at random, by half the distance to the nearest points and at most half a bandwidth, and within the bounds of the parameters. Of a private sketch they cost no privacy. The same seed gives the same records; NULL draws others each time. A grid without a model is fitted first. A notice says when the sketch has too few rows to tell whether its model fits. No rows for a NULL sketch or n. Errors: 55000 for a sketch without a model, and for shares of which there are not enough; 22023 for a negative n';

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

CREATE FUNCTION _race_scatter_combine(bytea, bytea) RETURNS bytea
	AS 'MODULE_PATHNAME', 'race_scatter_combine_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION _race_scatter_combine(bytea, bytea) IS 'aggregate combine function';
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
-- ------------------------------------------------------------------------
-- What a release would look like, before any budget is spent

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
-- ------------------------------------------------------------------------
-- Columns replaced by their places among public quantiles

CREATE FUNCTION race_warp(x float8[], knots float8[]) RETURNS float8[]
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5;
COMMENT ON FUNCTION race_warp(float8[], float8[]) IS
	'each number of x replaced by its place among the knots of its column, from 0 at the first knot and below to n - 1 at the last of n and above: linear between two, the middle of equal ones. knots, {{column 1}, {column 2}, ...}, are 2 to 64 public numbers for each column, in ascending order; race_suggest proposes them. Records and queries must be warped alike. What is not finite remains. NULL for a vector of another length or with a NULL, so that a release leaves it out. Error 22023 for bad knots';
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
-- ------------------------------------------------------------------------
-- Linear discriminant analysis from moments of classes

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
-- ------------------------------------------------------------------------
-- Covariances, correlations and principal components from moments

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
-- ------------------------------------------------------------------------
-- Linear regression from moments

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
-- ------------------------------------------------------------------------
-- Transforms from moments

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
-- ------------------------------------------------------------------------
-- The ledger: what may be spent, what was, and what for.  Rows are added by the
-- procedures below alone.  No foreign key leads from a release to its charge:
-- releases are copied to databases of analysts, charges are not.
--
-- The schema may belong to someone else than the ledger, who may make functions and
-- operators in it.  So what is called here, and what functions call by @extschema@, is called
-- with arguments of exactly the declared types: nothing else can be preferred then.

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
	epsilon_limit numeric NOT NULL CHECK (epsilon_limit > 0.0 AND epsilon_limit <= 1e15),
	delta_limit numeric NOT NULL CHECK (delta_limit >= 0.0 AND delta_limit < 1.0),
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
	epsilon numeric NOT NULL DEFAULT 0 CHECK (epsilon >= 0.0),
	delta numeric NOT NULL DEFAULT 0 CHECK (delta >= 0.0),
	rho numeric NOT NULL DEFAULT 0 CHECK (rho >= 0.0),
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
	sketch race_sketch,
	dataset text NOT NULL,
	charge uuid NOT NULL,
	released_at timestamptz NOT NULL,
	value_bound float8,
	moments race_moments,
	description text,
	columns text[],
	units text[],
	scores race_sketch,
	CHECK ((sketch IS NULL) <> (moments IS NULL)),
	PRIMARY KEY (name, version, part),
	UNIQUE (charge, part)
);
COMMENT ON TABLE race_releases IS
	'the releases, immutable: private sketches, or moments, by name, version (of a refresh), and part (1, or one for each label; of a release with a value two: of its lower bound, then of its upper). released_at is when the release was charged, before its data were read';
COMMENT ON COLUMN race_releases.name IS 'the name of the release';
COMMENT ON COLUMN race_releases.version IS '1, and one more for each refresh';
COMMENT ON COLUMN race_releases.part IS '1, or one for each label, in the order of labels; with a value twice as many';
COMMENT ON COLUMN race_releases.label IS 'the label of the part; NULL in a release without labels';
COMMENT ON COLUMN race_releases.sketch IS 'the private sketch; NULL in a release of moments';
COMMENT ON COLUMN race_releases.dataset IS 'the dataset that it was made of';
COMMENT ON COLUMN race_releases.charge IS 'the charge that paid for it, in race_charges';
COMMENT ON COLUMN race_releases.released_at IS 'when it was charged, before its data were read';
COMMENT ON COLUMN race_releases.value_bound IS 'of a release with a value, value_lower for the lower half and value_upper for the upper one (race_build_value); NULL in a release without a value';
COMMENT ON COLUMN race_releases.description IS 'what the publisher says of the release; NULL if nothing. The same in all parts, as the following';
COMMENT ON COLUMN race_releases.columns IS 'names of the columns of a record, and of the value after them; NULL if they have none';
COMMENT ON COLUMN race_releases.units IS 'what the columns are measured in, NULL for what has no unit; NULL if nothing was said';
COMMENT ON COLUMN race_releases.moments IS 'the private moments; NULL in a release of sketches';
COMMENT ON COLUMN race_releases.scores IS 'of a release that is calibrated, a private sketch of the scores (race_score) that the sketches of all labels give the records of this label; NULL in others';

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
	CASE WHEN b.delta_limit > 0.0 THEN _race_rho_epsilon(b.spent_rho::float8, b.delta_limit::float8) END AS spent_zcdp_epsilon,
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

CREATE FUNCTION race_released_moments(name text, label text DEFAULT NULL) RETURNS race_moments
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION race_released_moments(text, text) IS
	'the moments of the latest version of a release that was made with parameters of race_moment_params. Of a release with labels, the moments of one label. NULL for a NULL name. Errors: 42704 if there is no such release or label, 22023 if the release has labels and none is given, or has a sketch';

CREATE FUNCTION race_released_mean(
	name text, q "any", label text DEFAULT NULL, confidence float8 DEFAULT 0.95)
	RETURNS race_conditional_mean_result
	AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE COST 300;
COMMENT ON FUNCTION race_released_mean(text, "any", text, float8) IS
	'race_conditional_mean of the latest version of a release with a value, and of one label if it has labels. NULL if another argument than the label is NULL. Errors as in race_released, 22023 if the release has no value, and others as in race_conditional_mean';

CREATE VIEW race_latest_releases AS
SELECT r.name, r.version, r.label, r.value_bound, r.sketch, r.dataset,
	coalesce(race_count(r.sketch), m.count) AS count, coalesce(i.epsilon, m.epsilon) AS epsilon,
	coalesce(i.delta, m.delta) AS delta, r.released_at, r.moments, r.scores
FROM race_releases r CROSS JOIN LATERAL race_info(r.sketch) i CROSS JOIN LATERAL race_info(r.moments) m
WHERE r.version = (SELECT pg_catalog.max(n.version) FROM race_releases n WHERE n.name = r.name);
COMMENT ON VIEW race_latest_releases IS
	'the latest version of each release: a row for each label, or one row; of a release with a value twice as many. count is the noisy number of records, epsilon and delta are the true cost of this sketch';
COMMENT ON COLUMN race_latest_releases.name IS 'the name of the release';
COMMENT ON COLUMN race_latest_releases.version IS 'its latest version';
COMMENT ON COLUMN race_latest_releases.label IS 'the label; NULL in a release without labels';
COMMENT ON COLUMN race_latest_releases.value_bound IS 'of a release with a value, value_lower for the lower half and value_upper for the upper one (race_build_value); NULL in a release without a value. With a value, a sketch has a part of each record: race_released adds both up';
COMMENT ON COLUMN race_latest_releases.sketch IS 'the private sketch: a large value, so name the columns that you want to see; NULL in a release of moments';
COMMENT ON COLUMN race_latest_releases.moments IS 'the private moments; NULL in a release of sketches';
COMMENT ON COLUMN race_latest_releases.scores IS 'of a release that is calibrated, the private sketch of the scores of this label, which costs epsilon of its own; NULL in others';
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
-- Which label of a release is a query from?

CREATE FUNCTION race_classify(name text, q "any") RETURNS text
	AS 'MODULE_PATHNAME', 'race_classify_released' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION race_classify(text, "any") IS
	'the label that q is most likely from, by the latest version of a release with labels. Of a release that is calibrated, the label with most records of this score; of others, the label with the highest density (maximum likelihood). Errors: 42704 if there is no such release, 22023 unless it has a sketch for each label, and others as in race_kde';

CREATE FUNCTION race_posterior(name text, q "any") RETURNS jsonb
	AS 'MODULE_PATHNAME', 'race_posterior_released' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION race_posterior(text, "any") IS
	'the probability of each label given q, as {label: probability}, by the latest version of a release with labels. Of a release that is calibrated, the shares of labels among the records of this score; of others, densities over their sum. Errors as in race_classify';
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
	FROM pg_class c CROSS JOIN LATERAL @extschema@._race_relation_name(c.oid::regclass) n (name)
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
	SELECT @extschema@._race_relation_name(c.oid::regclass), c.oid, pg_get_userbyid(c.relowner), budget, @extschema@._race_identity()
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
				WHERE b.table_name = @extschema@._race_relation_name(c.oid::regclass) AND b.relation = c.oid
					AND b.owner = pg_get_userbyid(c.relowner)));
BEGIN
	PERFORM @extschema@._race_enter_tables(
		@extschema@._race_lock_tables('@extschema@.race_budget_tables'::regclass, new_ones, false), budget);
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
COMMENT ON FUNCTION _race_ordered_labels(race_params, text, text[], int) IS
	'the declared labels, which have so many sketches each, in the order of the parts; errors: 22023 or 22004 unless they are a list of different labels, or there is neither label nor labels; 54000 if there are too many';

-- What is said of a release is public, and is shown by tools that others wrote.
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
	value text DEFAULT NULL, value_lower float8 DEFAULT NULL, value_upper float8 DEFAULT NULL,
	description text DEFAULT NULL, columns text[] DEFAULT NULL, units text[] DEFAULT NULL,
	calibrate float8 DEFAULT NULL)
	AS 'MODULE_PATHNAME' LANGUAGE C;
REVOKE EXECUTE ON PROCEDURE race_release(text, text, race_params, text, float8, float8, int, text, text[], boolean, boolean, text, float8, float8, text, text[], text[], float8) FROM PUBLIC;
COMMENT ON PROCEDURE race_release(text, text, race_params, text, float8, float8, int, text, text[], boolean, boolean, text, float8, float8, text, text[], text[], float8) IS
	'charges the budget of a dataset, and then stores a private sketch of it in race_releases. expression, over the columns of the relation, gives the records; what is no record (race_is_record: a NULL, a NULL element that the parameters do not declare, a NaN, a wrong length) is left out, and how many are is not told, as that depends on the data. label, another expression, and labels, the list of all that there may be, make a release for each label, at the cost of one. grid: make a grid of the kernel (sequence "grid"); NULL does so where its errors are smaller, with rows NULL, for kernels l2 and l1 in up to 3 dims with finite bounds: for delta 0; and for a delta above 0 in two dimensions, and in one or with a value where a grid with pure noise errs less than rows with delta. A pure release is (epsilon, delta) private for every delta: where pure noise serves better, of such a grid, of one that you ask for, or of moments, no delta is spent, unless the budget counts in zCDP. fit: fit a model to the release (race_fit), within the bounds of the parameters; NULL does so where there are such bounds, for up to 32 sketches, but not of a grid with a value. value, another expression, and its public bounds value_lower and value_upper make a release for race_released_mean: two halves of a sketch, which share each record by its value (race_build_value), at the cost of one; a record whose value is NULL or NaN is left out. description, columns (a name for each column of a record, and one more for the value) and units (as many; NULL for none) are published with the release, in race_catalog: write nothing there that was learned from the data. calibrate, a share of epsilon above 0 and below 1, makes a release of 2 to 100 labels for race_classify(name, q) and race_posterior(name, q): the sketches get the rest of epsilon (and delta), and for this share the private records are scored by them, and a private sketch of the scores of each label is stored beside each sketch; 0.1 served all tables that were tried. With parameters of race_moment_params the release has moments (race_released_moments): then rows, grid, fit and value are errors. The same request under the same name charges nothing. It commits, so it must be a statement of its own. Errors before anything is read: 25001 inside a transaction block or function, 53400 over budget, 42710 another request of that name, 54000 a name, an expression or a list of labels that is too long, 55000 a copy of the database, 22023, 42601 and others for arguments; 42501 unless the caller may SELECT what it reads; after the charge 22000, with no more said, and 55000 if definitions were changed meanwhile';

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
-- ------------------------------------------------------------------------
-- What releases there are, for tools that show all of whatever they may read: without
-- sketches

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
-- ------------------------------------------------------------------------
-- What a chart draws, by the name of a release: rows of scalars, and plain types of
-- parameters, so that any client can prepare them.  They read race_releases with the
-- rights of whoever calls them.

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
-- ------------------------------------------------------------------------
-- The owner of the database may do and grant whatever is granted to anyone: the extension is
-- trusted, so that he can create it, but its objects belong to a superuser.  The tables of
-- the ledger he may only read.  Before PostgreSQL 14, which has no role for it, the one who
-- creates the extension is meant.
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
