-- race_params: text form, constructor, limits, order

SELECT race_params('l2', dims => 3, bandwidth => 5);
SELECT race_params('l2', 3, 5, 1, 1024, 1024, 0)
     = 'l2(dims=3, bandwidth=5, power=1, rows=1024, range=1024, seed=0)' AS same;
-- a call with one literal is a cast; lists may be partial, in any order
SELECT race_params('l2');
SELECT race_params('l2(dims=2)');
SELECT ' l2 ( seed = -7 , bandwidth=1e-3,dims=4 ) '::race_params;
SELECT 'l2()'::race_params;
SELECT race_params('l2', 3, power => 2);
SELECT race_params('l2', 30);
SELECT race_params('l2', 3, rehash => 'multilinear', sequence => 'independent');
SELECT race_params('l2', 3, 0.1, seed => 9223372036854775807);
-- what comes out goes in
SELECT p::text::race_params = p AS same, p
FROM (VALUES (race_params('l2', 1, 1.0 / 3)), (race_params('l2', 8, 1e100, 3, 1, 2, -1)),
             (race_params('l2', 16000, rows => 16, range => 100))) v(p);
SELECT race_params(NULL, 3), race_params('l2', 3, NULL), race_params('l2', 3, seed => NULL);

-- limits
SELECT race_params('l3', 3);
SELECT race_params('l2', 0);
SELECT race_params('l2', 16001);
SELECT race_params('l2', 3, 0);
SELECT race_params('l2', 3, -1);
SELECT race_params('l2', 3, 'NaN');
SELECT race_params('l2', 3, 'Infinity');
SELECT race_params('l2', 3, power => 0);
SELECT race_params('l2', 3, rows => 0);
SELECT race_params('l2', 3, rows => -5);
SELECT race_params('l2', 3, range => 1);
SELECT race_params('l2', 3, rows => 65536, range => 512);
SELECT race_params('l2', 3, rows => 65472, range => 512) IS NOT NULL AS "just fits";
SELECT race_params('l2', 3, rows => 2147483647, range => 2147483647);
SELECT race_params('l2', 16000, rows => 100000, range => 2, sequence => 'independent');
SELECT race_params('l2', 3, rehash => 'md5');
SELECT race_params('l2', 3, sequence => 'halton');
SELECT race_params('l2', 3, power => 2, rehash => 'fold');
SELECT race_params('l2', 30, sequence => 'sobol');

-- text that is none
SELECT ''::race_params;
SELECT 'l2('::race_params;
SELECT 'l2(dims)'::race_params;
SELECT 'l2(dims=)'::race_params;
SELECT 'l2(dims=three)'::race_params;
SELECT 'l2(dims=3,)'::race_params;
SELECT 'l2(dims=3, dims=3)'::race_params;
SELECT 'l2(width=3)'::race_params;
SELECT 'l2(dims=3) x'::race_params;
SELECT 'l2(dims=3; rows=4)'::race_params;
SELECT 'l2(dims=99999999999999999999)'::race_params;
SELECT 'l2(dims=4294967297)'::race_params;
SELECT 'l2(rows=4294967297)'::race_params;

-- order and hash, for GROUP BY, DISTINCT and joins
SELECT p
FROM unnest(ARRAY['l2(dims=10)', 'l2(dims=9)', 'l2(dims=9,bandwidth=2)', 'l2(dims=9)']::race_params[]) p ORDER BY p;
SELECT count(DISTINCT p) FROM unnest(ARRAY['l2(dims=10)', 'l2(dims=9)', 'l2(dims=9,bandwidth=1)']::race_params[]) p;
SET enable_sort = off;
SELECT count(*)
FROM (SELECT p FROM unnest(ARRAY['l2(dims=10)', 'l2(dims=9)', 'l2(dims=9,bandwidth=1)']::race_params[]) p GROUP BY p) t;
RESET enable_sort;
SELECT a < b AS lt, a <= b AS le, a = b AS eq, a <> b AS ne, a >= b AS ge, a > b AS gt
FROM (SELECT race_params('l2', 1) AS a, race_params('l2', 2) AS b) t;
SELECT _race_params_hash(a) = _race_params_hash(b) AS hash,
       _race_params_hash_extended(a, 7) = _race_params_hash_extended(b, 7) AS extended
FROM (SELECT race_params('l2', 1) AS a, 'l2(dims=1)'::race_params AS b) t;

-- binary form: version first, then fields in little-endian order
\pset format unaligned
SELECT substr(encode(_race_params_send(race_params('l2', 3, 5, seed => -2)), 'hex'), i, 64) AS send
FROM generate_series(1, 128, 64) i;
\pset format aligned

-- the SQL defaults are those of the table of parameters, which the text form uses
SELECT k, race_params(kernel => k) = k::race_params AS same
FROM unnest(ARRAY['l2', 'l1', 'angular', 'jaccard', 'match']) k
WHERE race_params(kernel => k) IS DISTINCT FROM k::race_params;
-- each parameter of the text form is an argument, or of a transform (065_reference.pl: the reference explains it)
SELECT key,
	key = ANY (proargnames)
		OR key IN (SELECT attname FROM pg_attribute WHERE attrelid = 'race_transform'::regclass) AS argument
FROM regexp_matches(race_params('l2', 1, lower => '{0}', upper => '{1}',
		transform => ROW('{{1}}', '{0}')::race_transform) || race_params('l2', 1, bandwidths => '{1}')::text,
	'([a-z]+)=', 'g') m(k), unnest(k) key, pg_proc WHERE proname = 'race_params' AND pronargs > 1
GROUP BY key, proargnames, oid ORDER BY key;
