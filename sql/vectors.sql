-- Long vectors: structured rows, and the types of pgvector

CREATE FUNCTION embedding(i int, dims int) RETURNS float8[] LANGUAGE sql IMMUTABLE AS $$
	SELECT array_agg(round(8 * sin(i * 0.37 * j + i % 7))::float8 / 4 ORDER BY j) FROM generate_series(1, dims) j $$;
CREATE TABLE embedded AS SELECT i, embedding(i, 300) AS x FROM generate_series(1, 200) i;

-- what auto is, and what structured rows can be
SELECT kernel, dims, substring(race_params(kernel, dims)::text FROM 'sequence=(\w+)') AS sequence
FROM (VALUES ('l2', 20), ('l2', 21), ('l1', 256), ('angular', 256), ('angular', 16000),
	('match', 256)) v (kernel, dims);
SELECT substring(race_params('l2', 300,
		transform => ROW(ARRAY(SELECT embedding(i, 300) FROM generate_series(1, 30) i)::float8[],
			NULL)::race_transform)::text FROM 'sequence=(\w+)') AS transformed,
	substring(race_params('l2', 300,
		transform => ROW(NULL, embedding(1, 300))::race_transform)::text FROM 'sequence=(\w+)') AS moved;
SELECT race_params('angular', 20, power => 3, sequence => 'structured', rows => 100000, range => 8);
SELECT race_params('l1', 300, sequence => 'structured');
SELECT race_params('jaccard', sequence => 'structured');
SELECT race_params('l2', 2, sequence => 'structured', transform => ROW('{{1,2}}', NULL)::race_transform);

-- built in any way they are the same, in groups of rows and parts of groups; and answers are near the truth
CREATE TABLE ways (p race_params);
INSERT INTO ways
VALUES ('angular(dims=300, power=4, rows=1500, range=16, sequence=structured)'),
	('l2(dims=300, bandwidth=30, rows=100, range=64, sequence=structured)'),
	('l2(dims=300, bandwidth=40, power=2, rows=300, range=100, sequence=structured)');
CREATE FUNCTION one_by_one(p race_params) RETURNS race_sketch LANGUAGE plpgsql AS $$
DECLARE
	s race_sketch := race_sketch(p);
	r record;
BEGIN
	FOR r IN SELECT x FROM embedded LOOP
		s := race_add(s, r.x);
	END LOOP;
	RETURN s;
END $$;
CREATE TABLE built AS SELECT p, (SELECT race_build(p, x) FROM embedded) AS s FROM ways;
SELECT substring(p::text FROM '^\w+') AS kernel,
	s::text = one_by_one(p)::text AS one_by_one,
	s::text = (
		SELECT race_merge(b) FROM (SELECT race_build(p, x) AS b FROM embedded GROUP BY i % 3) parts
	)::text AS merged,
	(
		SELECT max(abs(race_kde(s, q.x) - (SELECT avg(race_kernel(p, e.x, q.x)) FROM embedded e))) < 0.05
		FROM embedded q WHERE i <= 20
	) AS near
FROM built;
BEGIN;
SET LOCAL racepriv.vector_code = 'portable';
SELECT bool_and(s::text = (SELECT race_build(p, x) FROM embedded)::text) AS portable FROM built;
COMMIT;
\pset format unaligned
WITH product AS (
	SELECT race_build('angular(dims=300, rows=1100, range=64) * match(dims=1, sequence=independent)',
		ROW(x, ARRAY[i % 2])) AS s
	FROM embedded
)
SELECT split_part(race_params(s)::text, ' * ', 1) AS params,
	split_part(race_params(s)::text, ' * ', 2) AS second,
	abs(race_kernel_sum(s, ROW(x, ARRAY[1])) - (
		SELECT sum(race_kernel('angular(dims=300)', e.x, q.x)) FROM embedded e WHERE e.i % 2 = 1
	)) < 10 AS near
FROM product, embedded q WHERE i = 1 \gx
\pset format aligned

-- row functions that the cache does not hold
SET racepriv.cache_size = '1MB';
SELECT race_count(race_build('l2(dims=300, sequence=independent)', x)) FROM embedded;
SELECT race_count(race_build('l2(dims=300, sequence=independent)', x)) FROM embedded;
SELECT race_count(race_build('l2(dims=300, sequence=independent)', x)) FROM embedded;
RESET racepriv.cache_size;

-- Types of the same shape as pgvector's, without their casts
SET client_min_messages = warning;
CREATE TYPE vector;
CREATE FUNCTION vector_in(cstring) RETURNS vector LANGUAGE internal IMMUTABLE STRICT AS 'byteain';
CREATE FUNCTION vector_out(vector) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'byteaout';
CREATE TYPE vector (INPUT = vector_in, OUTPUT = vector_out, STORAGE = external);
CREATE TYPE halfvec;
CREATE FUNCTION halfvec_in(cstring) RETURNS halfvec LANGUAGE internal IMMUTABLE STRICT AS 'byteain';
CREATE FUNCTION halfvec_out(halfvec) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'byteaout';
CREATE TYPE halfvec (INPUT = halfvec_in, OUTPUT = halfvec_out, STORAGE = external);
CREATE TYPE sparsevec;
CREATE FUNCTION sparsevec_in(cstring) RETURNS sparsevec LANGUAGE internal IMMUTABLE STRICT AS 'byteain';
CREATE FUNCTION sparsevec_out(sparsevec) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'byteaout';
CREATE TYPE sparsevec (INPUT = sparsevec_in, OUTPUT = sparsevec_out, STORAGE = external);
CREATE DOMAIN half_domain AS halfvec;
CREATE CAST (bytea AS vector) WITHOUT FUNCTION;
CREATE CAST (bytea AS halfvec) WITHOUT FUNCTION;
CREATE CAST (bytea AS sparsevec) WITHOUT FUNCTION;

-- bytes of integers, of numbers and of halves; those of a server with another order would differ
CREATE FUNCTION le(n bigint, size int) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
	SELECT string_agg(set_byte('\x00', 0, (n >> 8 * i & 255)::int), '' ORDER BY i)
	FROM generate_series(0, size - 1) i $$;
CREATE FUNCTION le(x real) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
	SELECT string_agg(substr(float4send(x), i, 1), '' ORDER BY i DESC) FROM generate_series(1, 4) i $$;
CREATE FUNCTION half(x float8) RETURNS int LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE WHEN x = 0 THEN 0 WHEN abs(x) < 2 ^ -14 THEN (abs(x) * 2 ^ 24)::int
		ELSE (e + 15) * 1024 + ((abs(x) / 2.0 ^ e - 1) * 1024)::int END + CASE WHEN x < 0 THEN 32768 ELSE 0 END
	FROM (SELECT CASE WHEN x <> 0 THEN floor(log(2, abs(x)::numeric) + 1e-12)::int END AS e) w $$;
CREATE FUNCTION vector(x float8[]) RETURNS vector LANGUAGE sql IMMUTABLE AS $$
	SELECT (le(cardinality(x), 2) || '\x0000' || string_agg(le(n::real), '' ORDER BY i))::vector
	FROM unnest(x) WITH ORDINALITY u (n, i) $$;
CREATE FUNCTION halfvec(x float8[]) RETURNS halfvec LANGUAGE sql IMMUTABLE AS $$
	SELECT (le(cardinality(x), 2) || '\x0000' || string_agg(le(half(n), 2), '' ORDER BY i))::halfvec
	FROM unnest(x) WITH ORDINALITY u (n, i) $$;
CREATE FUNCTION sparsevec(x float8[]) RETURNS sparsevec LANGUAGE sql IMMUTABLE AS $$
	SELECT (le(cardinality(x), 4) || le(count(*), 4) || '\x00000000'
		|| coalesce(string_agg(le(i - 1, 4), '' ORDER BY i), '')
		|| coalesce(string_agg(le(n::real), '' ORDER BY i), ''))::sparsevec
	FROM unnest(x) WITH ORDINALITY u (n, i) WHERE n <> 0 $$;
CREATE TABLE vectors AS SELECT i, x, vector(x) AS v, halfvec(x) AS h, sparsevec(x) AS s FROM embedded WHERE i <= 20;
SELECT bool_and(race_kernel('l2', x, v) = 1 AND race_kernel('l2', x, h) = 1 AND race_kernel('l2', x, s) = 1
	AND race_kernel('l2', h, s) = 1) AS equal
FROM vectors;
SELECT p::text ~ 'angular' AS angular,
	race_build(p, v)::text = race_build(p, x)::text AS vector,
	race_build(p, h)::text = race_build(p, x)::text AS halfvec,
	race_build(p, s)::text = race_build(p, x)::text AS sparsevec,
	race_build(p, h::half_domain)::text = race_build(p, x)::text AS domain
FROM vectors, ways GROUP BY p ORDER BY p::text;
SELECT bool_and(race_kde(b.s, h) = race_kde(b.s, x) AND race_kde(b.s, e.s) = race_kde(b.s, x)) AS queries
FROM vectors e, built b WHERE i < 10;
SELECT race_build('angular(dims=300) * match(dims=1)', ROW(h, ARRAY[i]))::text
	= race_build('angular(dims=300) * match(dims=1)', ROW(x, ARRAY[i]))::text AS product
FROM vectors;
-- halves of all sizes, and vectors so short that headers are, too
CREATE TABLE halves AS SELECT x, halfvec(ARRAY[x]) AS h
FROM unnest('{0,1,-1,0.5,65504,-65504,0.00006103515625,0.000060975551605224609375,5.9604644775390625e-8,'
	'-1.1920928955078125e-7,2049.0,0.333251953125}'::float8[]) x;
SELECT bool_and(race_kernel('l2(bandwidth=1e-12)', h, ARRAY[x]) = 1) AS same,
	bool_or(race_kernel('l2(bandwidth=1e-12)', h, ARRAY[x + 1e-8]) = 1) AS near
FROM halves WHERE x <> 2049;
SELECT race_kernel('l2', sparsevec('{0,0,0}'::float8[]), '{0,0,0}'::float8[]) AS no_numbers;

-- damaged values, and those of other types with these names
\set VERBOSITY terse
CREATE FUNCTION try(p race_params, type text, bytes bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result race_sketch;
BEGIN
	EXECUTE format('SELECT race_build($1, $2::%I)', type) INTO result USING p, bytes;
	RETURN 'count ' || race_count(result);
EXCEPTION WHEN data_exception OR invalid_parameter_value OR datatype_mismatch THEN
	RETURN sqlstate || ' ' || sqlerrm;
END $$;
\pset format unaligned
SELECT type, left(bytes::text, 34) AS bytes, try('l2(dims=2, rows=4, range=8)', type, bytes) FROM (VALUES
	('vector', '\x02000000000000000000803f'::bytea), ('vector', ''), ('vector', '\x0200'), ('vector', '\x02000000'),
	('vector', '\x020000000000000000'), ('vector', '\x020000000000000000000000ff'),
	('vector', '\x02000100000000000000803f'), ('vector', '\x00000000'), ('vector', '\xfeff0000'),
	('vector', '\xff7f0000'), ('vector', '\x020000000000c07f00000000'), ('vector', '\x020000000000807f00000000'),
	('halfvec', '\x020000000000003c'), ('halfvec', '\x0200000000'), ('halfvec', '\x02000000003c003c00'),
	('halfvec', '\x02000000007c003c'), ('halfvec', '\x0200000000fc003c'), ('halfvec', '\x02000000017c003c'),
	('halfvec', '\x0300000000000000003c'),
	('sparsevec', '\x02000000000000000000000000'::bytea), ('sparsevec', '\x020000000000000000000000'),
	('sparsevec', '\x020000000100000000000000010000000000803f'),
	('sparsevec', '\x020000000200000000000000010000000000000000000000803f0000'),
	('sparsevec', '\x0200000002000000000000000100000000000000000000000000803f'),
	('sparsevec', '\x0200000002000000000000000100000001000000000000000000803f'),
	('sparsevec', '\x020000000100000000000000020000000000803f'),
	('sparsevec', '\x020000000100000000000000ffffffff0000803f'),
	('sparsevec', '\x02000000ffffffff00000000'),
	('sparsevec', '\x020000000300000000000000000000000100000002000000000000000000000000000000'),
	('sparsevec', '\xffffffff0000000000000000'), ('sparsevec', '\xffffff7f0000000000000000'),
	('sparsevec', '\x020000000000000001000000'), ('sparsevec', '\x020000000100000000000000000000000000c07f'),
	('sparsevec', '\xffffff7fffffff7f00000000')) v (type, bytes);
\pset format aligned
SELECT try('l2', 'sparsevec', '\xffffff7f0000000000000000'), try('l2', 'halfvec', '\x00000000');
-- and what only has the name
CREATE SCHEMA other;
CREATE TYPE other.halfvec AS (a int);
SELECT race_kernel('l2', ROW(1)::other.halfvec, ARRAY[1]);
SELECT race_kernel('match', h, ARRAY['a']) FROM halves;
SELECT race_kernel('l2', ARRAY[h], ARRAY[1]) FROM halves;
DROP SCHEMA other CASCADE;
DROP TABLE vectors, halves, built, embedded, ways;
DROP FUNCTION try, one_by_one, embedding, le(bigint, int), le(real), half, vector(float8[]), halfvec(float8[]),
	sparsevec(float8[]);
DROP TYPE vector, halfvec, sparsevec CASCADE;
