-- ------------------------------------------------------------------------
-- race_params: the parameters that all who want to merge must share

CREATE TYPE race_params;

CREATE FUNCTION _racepriv._race_params_in(cstring) RETURNS race_params
	AS 'MODULE_PATHNAME', 'race_params_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _racepriv._race_params_out(race_params) RETURNS cstring
	AS 'MODULE_PATHNAME', 'race_params_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _racepriv._race_params_recv(internal) RETURNS race_params
	AS 'MODULE_PATHNAME', 'race_params_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _racepriv._race_params_send(race_params) RETURNS bytea
	AS 'MODULE_PATHNAME', 'race_params_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE race_params (
	INPUT = _racepriv._race_params_in, OUTPUT = _racepriv._race_params_out,
	RECEIVE = _racepriv._race_params_recv, SEND = _racepriv._race_params_send,
	INTERNALLENGTH = VARIABLE, ALIGNMENT = double, STORAGE = extended
);
COMMENT ON TYPE race_params IS
	'the parameters of a RACE sketch: kernel, row functions and shape. The text form is l2(dims=3, bandwidth=5, power=1, rows=1024, range=1024, seed=0), and for a product of kernels l2(dims=2) * match(dims=3)';
COMMENT ON FUNCTION _racepriv._race_params_in(cstring) IS 'I/O';
COMMENT ON FUNCTION _racepriv._race_params_out(race_params) IS 'I/O';
COMMENT ON FUNCTION _racepriv._race_params_recv(internal) IS 'I/O';
COMMENT ON FUNCTION _racepriv._race_params_send(race_params) IS 'I/O';

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
	nulls text DEFAULT NULL,
	radius float8 DEFAULT NULL, query_radius float8 DEFAULT NULL)
	RETURNS race_params AS 'MODULE_PATHNAME', 'race_params_new'
	LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION race_params(text, int, float8, int, int, int, bigint, text, text, float8[], float8[], float8[], race_transform, float8[], text, float8, float8) IS
	'the parameters of a sketch. kernel: l2, l1 or angular for vectors, jaccard for sets, match for rows of categories, least_squares or margin for a loss. dims: the length of a vector or row; sets have none. bandwidth: in units of the data (l2, l1). power: the kernel is taken to this power. rows: R, at least 1. range: W counters a row, at least 2. seed: of the row functions. sequence: sobol (rows that balance each other, up to 21 numbers a row), structured (projections at right angles by fast Hadamard transforms, for more numbers; l2 and angular; Andoni et al. 2015, Choromanski et al. 2017), grouped (jaccard: eight rows share a random order of elements, twice to three times as fast for sets of ten elements and more), balanced (match, by itself, power 1 or 2: each row has another column, or another pair of columns, and all rows have all; the kernel is the share of columns or pairs in which records are the same), independent, or auto: the first that can be. rehash: fold (l2 with power 1: code mod range, which adds less than 7.5e-4 of the kernel up to range / 4 bandwidths away, for ranges from 16 on, and more beyond; angular with 2^power <= range: exact), multilinear (collisions are corrected in estimates), or auto. bandwidths: a factor of bandwidth for each column (l2, l1). lower, upper: public bounds that vectors are clipped to first. transform: compare M (x - o), from public data (l2, angular). sequence grid: one row whose counters are the nodes of a grid between the bounds, over which each record is split linearly (l2 and l1 by themselves, up to 3 dims, with finite bounds and without a transform); rows and range follow from it. cells: of a grid, how many along each axis, else small parts of a bandwidth. nulls: what a NULL in a row of categories is (match): category, one more category, which a NULL in a query asks for; different, one that equals nothing, neither a NULL in a query nor any other; without it a NULL is an error. radius, query_radius: of the surrogate losses least_squares, of records {x ..., y}, and margin, of records {x ..., label} with a label above 0 or not (section 4). Records are clipped to the public radius; theta, for least_squares {theta ..., -1}, must be shorter than query_radius (default: the root of dims, enough for coefficients between -1 and 1); their range is 2^power, and the power up to 16, of least_squares at least 2. race_loss asks them; other questions take the records for vectors of the unit sphere, compared by their angle. NULL if an argument before bandwidths is NULL, but for dims. Error 22023 outside the limits';

CREATE FUNCTION _racepriv._race_params_counters(race_params) RETURNS bigint
	AS 'MODULE_PATHNAME', 'race_params_counters' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION _racepriv._race_params_counters(race_params) IS
	'how many counters a sketch with these parameters has; error 22023 if they do not state dims';

CREATE FUNCTION _racepriv._race_params_multiply(race_params, race_params) RETURNS race_params
	AS 'MODULE_PATHNAME', 'race_params_multiply' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION _racepriv._race_params_multiply(race_params, race_params) IS 'implementation of * operator';
CREATE OPERATOR * (
	LEFTARG = race_params, RIGHTARG = race_params, FUNCTION = _racepriv._race_params_multiply
);
COMMENT ON OPERATOR * (race_params, race_params) IS
	'the product of kernels (up to 4), for records ROW(x, c) with a value for each kernel. Both sides must have the same rows, range and seed (22023). Multiply from left to right, as the text form is read: with parentheses the right side may have chosen other sequences, and then sketches differ';

CREATE FUNCTION _racepriv._race_params_eq(race_params, race_params) RETURNS boolean
	AS 'MODULE_PATHNAME', 'race_params_eq' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _racepriv._race_params_ne(race_params, race_params) RETURNS boolean
	AS 'MODULE_PATHNAME', 'race_params_ne' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _racepriv._race_params_lt(race_params, race_params) RETURNS boolean
	AS 'MODULE_PATHNAME', 'race_params_lt' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _racepriv._race_params_le(race_params, race_params) RETURNS boolean
	AS 'MODULE_PATHNAME', 'race_params_le' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _racepriv._race_params_gt(race_params, race_params) RETURNS boolean
	AS 'MODULE_PATHNAME', 'race_params_gt' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _racepriv._race_params_ge(race_params, race_params) RETURNS boolean
	AS 'MODULE_PATHNAME', 'race_params_ge' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _racepriv._race_params_cmp(race_params, race_params) RETURNS int
	AS 'MODULE_PATHNAME', 'race_params_cmp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _racepriv._race_params_hash(race_params) RETURNS int
	AS 'MODULE_PATHNAME', 'race_params_hash' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _racepriv._race_params_hash_extended(race_params, bigint) RETURNS bigint
	AS 'MODULE_PATHNAME', 'race_params_hash_extended' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION _racepriv._race_params_eq(race_params, race_params) IS 'implementation of = operator';
COMMENT ON FUNCTION _racepriv._race_params_ne(race_params, race_params) IS 'implementation of <> operator';
COMMENT ON FUNCTION _racepriv._race_params_lt(race_params, race_params) IS 'implementation of < operator';
COMMENT ON FUNCTION _racepriv._race_params_le(race_params, race_params) IS 'implementation of <= operator';
COMMENT ON FUNCTION _racepriv._race_params_gt(race_params, race_params) IS 'implementation of > operator';
COMMENT ON FUNCTION _racepriv._race_params_ge(race_params, race_params) IS 'implementation of >= operator';
COMMENT ON FUNCTION _racepriv._race_params_cmp(race_params, race_params) IS 'less-equal-greater';
COMMENT ON FUNCTION _racepriv._race_params_hash(race_params) IS 'hash';
COMMENT ON FUNCTION _racepriv._race_params_hash_extended(race_params, bigint) IS 'hash';

CREATE OPERATOR = (
	LEFTARG = race_params, RIGHTARG = race_params, FUNCTION = _racepriv._race_params_eq,
	COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel,
	HASHES, MERGES
);
CREATE OPERATOR <> (
	LEFTARG = race_params, RIGHTARG = race_params, FUNCTION = _racepriv._race_params_ne,
	COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel
);
CREATE OPERATOR < (
	LEFTARG = race_params, RIGHTARG = race_params, FUNCTION = _racepriv._race_params_lt,
	COMMUTATOR = >, NEGATOR = >=, RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR <= (
	LEFTARG = race_params, RIGHTARG = race_params, FUNCTION = _racepriv._race_params_le,
	COMMUTATOR = >=, NEGATOR = >, RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
CREATE OPERATOR > (
	LEFTARG = race_params, RIGHTARG = race_params, FUNCTION = _racepriv._race_params_gt,
	COMMUTATOR = <, NEGATOR = <=, RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR >= (
	LEFTARG = race_params, RIGHTARG = race_params, FUNCTION = _racepriv._race_params_ge,
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
	FUNCTION 1 _racepriv._race_params_cmp(race_params, race_params);
CREATE OPERATOR CLASS race_params_ops DEFAULT FOR TYPE race_params USING hash AS
	OPERATOR 1 =,
	FUNCTION 1 _racepriv._race_params_hash(race_params),
	FUNCTION 2 _racepriv._race_params_hash_extended(race_params, bigint);
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
	'parameters of moments, for race_build, race_sketch and race_release. Records are arrays of as many numbers as there are bounds. lower, upper: public bounds of each column, which values are clipped to, and which are scaled to -1 and 1. norm: a record, which is 1 and its scaled columns, is multiplied by a factor so that its norm is at most this: it weighs less, and there is less noise; 0 stands for 1, the norm of the 1 alone, so that all records have the same norm, which is best for regressions; with the root of columns + 1, and targets 0, no record changes, so that means and covariances are those of the table. features: that many random Fourier features of all columns but the targets, beside the columns, for regressions that are not linear (Rahimi & Recht 2007); bandwidth: that of their Gaussian kernel, in scaled columns; seed and sequence (independent, sobol, auto): how they are drawn. These three are for features only. targets: that many last columns are scaled to 2 2/3 times as much, because regressions that explain them have less noise then; to find its factor, a record counts as if its targets were 0.35 of that at least. clip: norm, the Euclidean one, or absolute, the root of half of the sum of squares and the square of the sum of absolute values of a record, for Laplace noise: with more than 255 columns it halves pure noise (delta 0), and makes other noise larger; auto is norm, but absolute in race_release where there is Laplace noise. Error 22023 outside the limits';
