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
	'a linear map of vectors for race_params, g(x) = M (x - o): vectors are compared by g(x) instead of x. Write ROW(M, o)::race_transform; both are public, because parameters are shown to all';
COMMENT ON COLUMN race_transform.matrix IS 'M: an array of its rows, each of dims numbers; NULL is the identity';
COMMENT ON COLUMN race_transform."offset" IS 'o: dims numbers that are subtracted first; NULL is zero';

CREATE FUNCTION race_params(
	kernel text, dims int DEFAULT NULL, bandwidth float8 DEFAULT 1,
	power int DEFAULT 1, rows int DEFAULT 1024, range int DEFAULT 1024,
	seed bigint DEFAULT 0, sequence text DEFAULT 'auto',
	rehash text DEFAULT 'auto', bandwidths float8[] DEFAULT NULL,
	lower float8[] DEFAULT NULL, upper float8[] DEFAULT NULL,
	transform race_transform DEFAULT NULL, cells float8[] DEFAULT NULL,
	nulls text DEFAULT NULL,
	radius float8 DEFAULT NULL, query_radius float8 DEFAULT NULL)
	RETURNS race_params AS 'MODULE_PATHNAME', 'race_params'
	LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION race_params(text, int, float8, int, int, int, bigint, text, text, float8[], float8[], float8[], race_transform, float8[], text, float8, float8) IS
	'the parameters of a sketch: kernel, length and bandwidth of records, rows and range of counters, public bounds and transforms. Each is described in doc/reference.md. Error 22023 for values that do not go together';

CREATE FUNCTION _race_params_multiply(race_params, race_params) RETURNS race_params
	AS 'MODULE_PATHNAME', 'race_params_multiply' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION _race_params_multiply(race_params, race_params) IS 'implementation of * operator';
CREATE OPERATOR * (
	LEFTARG = race_params, RIGHTARG = race_params, FUNCTION = _race_params_multiply
);
COMMENT ON OPERATOR * (race_params, race_params) IS
	'the product of up to 4 kernels, for records ROW(x, c) with a value for each. Both sides have the same rows, range and seed (22023). Multiply from left to right';

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
	sequence text DEFAULT 'auto', clip text DEFAULT 'auto',
	transform race_transform DEFAULT NULL)
	RETURNS race_params AS 'MODULE_PATHNAME'
	LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION race_moment_params(float8[], float8[], float8, int, int, float8, bigint, text, text, race_transform) IS
	'parameters of moments for race_build, race_sketch and race_release_sketch: public bounds of each column, the largest norm of a record, random features, targets, and a transform from public rows. Each is described in doc/reference.md. Error 22023';
