-- race_fit and race_points: a fitted model, what it answers, and what drops it

\set p '''l2(dims=1, bandwidth=1, rows=256, range=512, lower={0}, upper={10})'''

-- two hills, of 300 and of 100 records
CREATE TABLE t AS SELECT ARRAY[CASE WHEN i % 4 = 0 THEN 7 ELSE 3 END + (i % 21 - 10) / 20.0]::float8[] AS x
FROM generate_series(1, 400) i;
CREATE TABLE s AS SELECT race_build(:p, x) AS s FROM t;
CREATE TABLE f AS SELECT race_fit(s) AS f FROM s;
CREATE FUNCTION same(a race_sketch, b race_sketch) RETURNS bool
LANGUAGE sql AS 'SELECT _race_sketch_send(a) = _race_sketch_send(b)';
CREATE FUNCTION fitted(a race_sketch) RETURNS bool LANGUAGE sql AS 'SELECT points IS NOT NULL FROM race_info(a)';

-- ------------------------------------------------------------------ points
-- weights are above 0 and add up to the count, points lie within bounds
CREATE FUNCTION is_model(f race_sketch, lower float8[], upper float8[]) RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws(' ', CASE WHEN min(weight) > 0 THEN 'positive' END,
		CASE WHEN abs(sum(weight) / greatest(race_count(f), 1) - 1) < 1e-9 THEN 'complete' END,
		CASE WHEN count(*) = (race_info(f)).points THEN 'counted' END,
		CASE WHEN count(DISTINCT x) = count(*) THEN 'distinct' END,
		CASE WHEN bool_and(array_length(x, 1) = array_length(lower, 1)
			AND (SELECT bool_and(x[i] BETWEEN lower[i] AND upper[i])
			FROM generate_subscripts(x, 1) i)) THEN 'inside' END)
	FROM race_points(f)
$$;
SELECT is_model(f, '{0}', '{10}') FROM f;
SELECT is_model(race_fit(s, lower => '{1}', upper => '{9}'), '{1}', '{9}') AS given,
	is_model(race_fit(s, lower => '{-3}'), '{-3}', '{10}') AS lower,
	is_model(race_fit(s, upper => '{20}'), '{0}', '{20}') AS upper,
	is_model(race_fit(s, lower => '{3}', upper => '{3}'), '{3}', '{3}') AS point
FROM s \gx
-- bounds whose difference is rounded
SELECT is_model(race_fit(s, lower => ARRAY[l], upper => ARRAY[u]), ARRAY[l], ARRAY[u]),
	is_model(race_fit(s, lower => ARRAY[l], upper => ARRAY[u], points => 10), ARRAY[l], ARRAY[u])
FROM s, (VALUES (-0.1::float8, 0.2::float8), (0.1, 0.7), (1e-300, 0.3)) v (l, u);
SELECT is_model(race_fit(s, lower => '{-1e16}', upper => '{3}', points => 50), '{-1e16}',
	'{3}') ~ 'complete .*inside' AS inside
FROM s;
-- bounds of all types of numbers, and a vector of a type of its own
SELECT bool_and(same(race_fit(s, lower => '{1}', upper => '{9}'), g))
FROM s,
	LATERAL (VALUES (race_fit(s, lower => ARRAY[1], upper => ARRAY[9])),
		(race_fit(s, lower => ARRAY[1.0], upper => ARRAY[9.0])),
		(race_fit(s, lower => ARRAY[1::real], upper => ARRAY[9::real])),
		(race_fit(s, lower => '{1}', upper => '{9}', seed => 0))) v (g);
SELECT n, (race_info(f)).points <= n AS at_most, is_model(f, '{0}', '{10}')
FROM s, unnest('{1,2,3,7,64,4096}'::int[]) n, LATERAL (SELECT race_fit(s, points => n) AS f OFFSET 0) v ORDER BY n;
-- where the weights are
SELECT abs(sum(weight) FILTER (WHERE x[1] BETWEEN 2.3 AND 3.7) - 300) < 20 AS "three",
	abs(sum(weight) FILTER (WHERE x[1] BETWEEN 6.3 AND 7.7) - 100) < 20 AS "seven",
	sum(weight) FILTER (WHERE x[1] < 1.5 OR x[1] BETWEEN 4.5 AND 5.5 OR x[1] > 8.5) < 8 AS nowhere,
	bool_and(record IS NULL) AS "no texts"
FROM f, race_points(f) \gx
-- the order is the same each time, and a LIMIT does not matter
SELECT (SELECT array_agg(p) FROM race_points(f) p) = (SELECT array_agg(p) FROM race_points(f) p) AS same,
	(SELECT count(*) FROM (SELECT race_points(f) LIMIT 3) v),
	(SELECT count(*) FROM (SELECT race_points(f) FROM generate_series(1, 0)) v) AS none
FROM f \gx
-- in a select list, several at a time, and of rows of a table
SELECT count(*) = 2 * min((race_info(f)).points) AS twice, bool_and(a = b) AS same
FROM f, LATERAL (SELECT race_points(f) AS a, race_points(f) AS b FROM generate_series(1, 2)) v;
SELECT count(*) = 3 * min((race_info(f)).points) AS rows FROM generate_series(1, 3), f, race_points(f);

-- ------------------------------------------------------------ the same seed
SELECT same(race_fit(s), f) AS again, same(race_fit(s), f) AS defaults FROM s, f;
CREATE TABLE s3 AS SELECT race_build('l2(dims=3, bandwidth=2, rows=256, range=256)',
	ARRAY[sin(i), cos(i), sin(i * 0.7)]) AS s FROM generate_series(1, 200) i;
CREATE TABLE f3 AS SELECT seed, race_fit(s, lower => '{-1,-1,-1}', upper => '{1,1,1}', points => 60, seed => seed) AS f
FROM s3, unnest('{0,1,-1,9223372036854775807,-9223372036854775808}'::bigint[]) seed;
SELECT bool_and(same(race_fit(s, lower => '{-1,-1,-1}', upper => '{1,1,1}', points => 60, seed => seed), f)) AS again,
	count(DISTINCT f::text) AS different,
	bool_and(is_model(f, '{-1,-1,-1}', '{1,1,1}') ~ 'positive complete counted .*inside') AS models
FROM s3, f3 \gx
-- fitted again, the model before does not matter
SELECT bool_and(same(race_fit(f, lower => '{-1,-1,-1}', upper => '{1,1,1}', points => 60, seed => seed), f)) AS once
FROM f3;
SELECT same(race_fit(race_fit(s, lower => '{1}', upper => '{2}', points => 5, seed => 7)), f) AS replaced FROM s, f;
-- parallel workers and subtransactions
BEGIN;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SET LOCAL max_parallel_workers_per_gather = 2;
CREATE TEMP TABLE local AS SELECT 1;
ALTER TABLE f3 SET (parallel_workers = 2);
SELECT bool_and(md5(race_fit(s, lower => '{-1,-1,-1}', upper => '{1,1,1}', points => 60,
		seed => seed)::text) = md5(f::text)) AS same,
	bool_and(race_kde(f, '{1,0,0}') = race_kde(f::text::race_sketch, '{1,0,0}')) AS answers
FROM f3, s3;
EXPLAIN (COSTS OFF) SELECT race_fit(f, lower => '{-1,-1,-1}', upper => '{1,1,1}'), race_kde(f, '{1,0,0}') FROM f3;
ROLLBACK;

-- ------------------------------------------------------------------- NULLs
SELECT race_fit(NULL::race_sketch) IS NULL AS a,
	race_fit(NULL, lower => '{0}', upper => '{1}') IS NULL AS b,
	race_fit(s, seed => NULL) IS NULL AS c,
	race_fit(s) IS NOT NULL AS d
FROM s \gx
SELECT count(*) FROM race_points(NULL);
SELECT proname, pronargs, proisstrict, provolatile, proparallel
FROM pg_proc WHERE proname IN ('race_fit', 'race_points') ORDER BY 1, 2;

-- ------------------------------------------------------------------ errors
\set VERBOSITY sqlstate
SELECT race_fit(race_sketch('l2(dims=1)'::race_params));
SELECT race_fit(race_sketch('l2(dims=1)'::race_params), lower => '{0}');
SELECT race_fit(race_sketch('l2(dims=1, lower={0}, upper={Infinity})'::race_params));
SELECT race_fit(race_sketch('match(dims=2)'::race_params), lower => '{0,0}', upper => '{1,1}');
SELECT race_fit(race_sketch('jaccard'::race_params));
SELECT race_fit(race_sketch('l2(dims=1) * match(dims=1)'::race_params), lower => '{0}', upper => '{1}');
SELECT race_fit(race_sketch('l2(dims=1) * l2(dims=1)'::race_params), lower => '{0}', upper => '{1}');
SELECT race_fit(s, lower => '{5}', upper => '{4}') FROM s;
SELECT race_fit(s, lower => '{11}') FROM s;
SELECT race_fit(s, lower => '{-1e300}', upper => '{1e300}') FROM s;
SELECT race_fit(s, lower => '{0,0}', upper => '{1,1}') FROM s;
SELECT race_fit(s, lower => '{}', upper => '{1}') FROM s;
SELECT race_fit(s, lower => '{NULL}', upper => '{1}') FROM s;
SELECT race_fit(s, lower => '{NaN}', upper => '{1}') FROM s;
SELECT race_fit(s, lower => '{0}', upper => '{Infinity}') FROM s;
SELECT race_fit(s, lower => '{{0}}', upper => '{{1}}') FROM s;
SELECT race_fit(s, points => 0) FROM s;
SELECT race_fit(s, points => -1) FROM s;
SELECT race_fit(s, points => 4097) FROM s;
SELECT race_fit(s, points => 2147483647) FROM s;
SELECT race_points(s) FROM s;
SELECT race_points(race_sketch('jaccard'::race_params));
\set VERBOSITY default
SELECT race_fit(race_sketch('l2(dims=1)'::race_params));
SELECT race_fit(race_sketch('l2(dims=1) * match(dims=1)'::race_params), lower => '{0}', upper => '{1}');
SELECT race_fit(s, lower => '{5}', upper => '{4}') FROM s;
SELECT race_fit(s, points => 4097) FROM s;
SELECT race_points(s) FROM s;
-- shares of which there are not enough, and enough of them
CREATE TABLE shares AS SELECT race_share(race_add(race_sketch('l2(dims=1, rows=64, range=64)'::race_params), '{5}'), 1,
	1e-6, 3, 1, 0) AS s FROM generate_series(1, 3);
SELECT race_fit(s, lower => '{0}', upper => '{10}') FROM shares;
SELECT race_fit(s, ARRAY[1.0]) FROM shares;
SELECT (race_info(race_fit(race_merge(s), lower => '{0}', upper => '{10}'))).status,
	(race_info(race_fit(race_merge(s), lower => '{0}', upper => '{10}'))).points > 0 AS fitted
FROM shares;

-- ------------------------------------------------------- what drops a model
SELECT fitted(f) AS fitted,
	fitted(f + s) AS plus,
	fitted(s + f) AS plus_left,
	fitted(f - s) AS minus,
	fitted(race_add(f, '{1}')) AS added,
	fitted(race_remove(f, '{3}')) AS removed
FROM f, s \gx
SELECT fitted(race_merge(f)) AS merged, same(race_merge(f), (SELECT s + s FROM s)) AS "as without"
FROM f, generate_series(1, 2);
SELECT fitted(race_merge_disjoint(f)) AS disjoint
FROM (SELECT race_fit(race_privatize(s, 1)) AS f FROM s) v, generate_series(1, 2);
-- one sketch alone is not changed
SELECT fitted(race_merge(f)) AS merged, fitted(race_merge_disjoint(f)) AS disjoint FROM f;
SELECT same(race_remove(race_add(f, '{1}'), '{1}'), s) AS back FROM f, s;
-- noise is for the counters: the model of an exact sketch does not get out
SELECT fitted(race_privatize(f, 1)) AS privatized,
	fitted(race_privatize(f, 1, rows => 16)) AS fewer_rows,
	fitted(race_share(f, 1, 1e-6, 3, 1, 0)) AS share,
	octet_length(_race_sketch_send(race_privatize(f, 1000, rows => 256)))
		= octet_length(_race_sketch_send(race_privatize(s, 1000, rows => 256))) AS size
FROM f, s \gx
SELECT race_params(f) = race_params(s) AS params, race_count(f) = race_count(s) AS count FROM f, s;

-- ------------------------------------------------------------- round trips
CREATE TABLE kinds (name text PRIMARY KEY, f race_sketch);
INSERT INTO kinds SELECT 'box', f FROM f;
INSERT INTO kinds SELECT 'three dimensions', f FROM f3 WHERE seed = 0;
INSERT INTO kinds SELECT 'private', race_fit(race_privatize(s, 1)) FROM s;
INSERT INTO kinds SELECT 'shares', race_fit(race_merge(s), lower => '{0}', upper => '{10}') FROM shares;

-- the aggregate, for kernels of all kinds
CREATE TABLE r AS SELECT i, ARRAY[sin(i), cos(i)]::float8[] AS x,
	ARRAY[CASE WHEN i % 3 = 0 THEN 'a, "b"' ELSE 'ü' END, 'c' || i % 2] AS c,
	ARRAY['s' || i % 5, 's' || i % 7, 's' || i % 5] AS set FROM generate_series(1, 60) i;
INSERT INTO kinds
SELECT 'l2', race_fit(s, x)
FROM (SELECT race_build('l2(dims=2, rows=128, range=128)', x) AS s FROM r) v, r GROUP BY s::text;
INSERT INTO kinds
SELECT 'match', race_fit(s, c)
FROM (SELECT race_build('match(dims=2, rows=128, range=128)', c) AS s FROM r) v, (SELECT DISTINCT c FROM r) w;
INSERT INTO kinds
SELECT 'jaccard', race_fit(s, set)
FROM (SELECT race_build('jaccard(rows=128, range=128)', set) AS s FROM r) v,
	(SELECT DISTINCT set FROM r UNION SELECT '{}') w;
INSERT INTO kinds
SELECT 'angular', race_fit(s, x)
FROM (SELECT race_build('angular(dims=2, power=2, rows=128, range=128)', x) AS s FROM r) v, r;
INSERT INTO kinds
SELECT 'product', race_fit(s, ROW(x, c))
FROM (SELECT race_build('l2(dims=2, rows=128, range=128) * match(dims=2)', ROW(x, c)) AS s FROM r) v, r;
INSERT INTO kinds
SELECT 'three parts', race_fit(s, ROW(x, c, set))
FROM (
	SELECT race_build('angular(dims=2, rows=128, range=128) * match(dims=2) * jaccard', ROW(x, c, set)) AS s FROM r
) v, r;
INSERT INTO kinds
SELECT 'integers', race_fit(s, ARRAY[i % 4, i % 3])
FROM (SELECT race_build('match(dims=2, rows=64, range=64)', ARRAY[i % 4, i % 3]) AS s FROM r) v,
	generate_series(1, 12) i;
SELECT name, status, kernel, count, points > 0 AS points, misfit >= 0 AND misfit < 1e300 AS misfit,
       abs(storage_bytes - octet_length(_race_sketch_send(f))) < 100 AS bytes
FROM kinds, race_info(f) WHERE name NOT IN ('private', 'shares') ORDER BY name;
-- points are rows of the aggregate, as they would be written
SELECT name,
	min(weight) > 0 AND abs(sum(weight) / min(race_count(f)) - 1) < 1e-9 AS whole,
	count(x) = count(*) AS vectors,
	count(record) = count(*) AS texts
FROM kinds, race_points(f) WHERE name NOT IN ('private', 'shares') GROUP BY name ORDER BY name;
SELECT bool_and(x IN (SELECT x FROM r)) AS l2 FROM kinds, race_points(f) WHERE name IN ('l2', 'angular');
SELECT bool_and(record::text[] IN (SELECT c FROM r)) AS match FROM kinds, race_points(f) WHERE name = 'match';
SELECT bool_and(record::text[] IN (SELECT set FROM r UNION SELECT '{}')) AS jaccard
FROM kinds, race_points(f) WHERE name = 'jaccard';
CREATE TYPE product AS (x float8[], c text[]);
SELECT bool_and(record::product IN (SELECT ROW(x, c)::product FROM r)) AS product
FROM kinds, race_points(f) WHERE name = 'product';
SELECT record, abs(weight - 5) < 1 AS about_five FROM kinds, race_points(f) WHERE name = 'integers' ORDER BY 1;

-- text and binary are exact
SELECT name,
	f::text::race_sketch::text = f::text AS text,
	same(f::text::race_sketch, f) AS bytes,
	(SELECT array_agg(p) FROM race_points(f) p) = (
		SELECT array_agg(p) FROM race_points(f::text::race_sketch) p
	) AS points,
	race_info(f)::text = race_info(f::text::race_sketch)::text AS info
FROM kinds ORDER BY name;
SELECT md5(string_agg(name || f::text, '' ORDER BY name)) AS before FROM kinds \gset
CREATE TABLE copied (LIKE kinds);
INSERT INTO copied SELECT name, f::text::race_sketch FROM kinds;
SELECT md5(string_agg(name || f::text, '' ORDER BY name)) = :'before' AS same FROM copied;
SELECT bool_and(race_info(k.f)::text = race_info(c.f)::text) AS info FROM kinds k JOIN copied c USING (name);
DROP TABLE copied;
-- and so is what is stored apart, compressed or not
CREATE TABLE apart (LIKE kinds);
ALTER TABLE apart ALTER f SET STORAGE EXTERNAL;
INSERT INTO apart SELECT * FROM kinds;
SELECT md5(string_agg(name || f::text, '' ORDER BY name)) = :'before' AS same FROM apart;
SELECT bool_and((SELECT array_agg(p) FROM race_points(a.f) p) = (SELECT array_agg(p) FROM race_points(k.f) p)) AS points
FROM apart a JOIN kinds k USING (name);
DROP TABLE apart;
-- wrong texts
SELECT overlay(f::text PLACING 'ff' FROM length(f::text) - 20)::race_sketch FROM kinds WHERE name = 'match';
SELECT left(f::text, -16)::race_sketch FROM kinds WHERE name = 'match';

-- ---------------------------------------------------- the aggregate by itself
SELECT race_fit(s, x) IS NULL AS none FROM s, t WHERE false;
SELECT race_fit(NULL::race_sketch, x) IS NULL AS no_sketch, race_fit(s, NULL::float8[]) IS NULL AS no_record FROM s, t;
CREATE TABLE candidates AS SELECT ARRAY[i / 10.0]::float8[] AS x, i FROM generate_series(0, 100) i;
SELECT (
		SELECT race_fit(CASE WHEN i % 3 > 0 THEN s END, CASE WHEN i % 2 = 0 THEN x END ORDER BY i) FROM s, candidates
	)::text
	= (SELECT race_fit(s, x ORDER BY i) FROM s, candidates WHERE i % 2 = 0 AND i % 3 > 0)::text AS "NULLs are left out";
SELECT abs(race_kde(g, '{3}') - race_kde(f, '{3}')) < 0.02 AS near, is_model(g, '{0}', '{10}')
FROM f, (SELECT race_fit(s, x) AS g FROM s, candidates) v;
-- of many candidates it chooses some, the same ones each time: those near records, where few candidates are
CREATE TABLE mixed AS SELECT ARRAY[0.9 + (i % 7) / 100.0]::float8[] AS x, ARRAY[i % 2, 1] AS c
FROM generate_series(1, 200) i;
CREATE TABLE many AS SELECT ARRAY[i / 6000.0]::float8[] AS x, ARRAY[j, k] AS c
FROM generate_series(0, 5999) i, generate_series(i % 2, i % 2) j, generate_series(i / 2 % 2, i / 2 % 2) k;
SELECT count(DISTINCT race_points::text) < 2001 AS "not all",
	abs(sum(weight) - 200) < 1e-6 AS "complete",
	sum(weight) FILTER (WHERE record LIKE '%,1}%') > 180 AS "found"
FROM (
	SELECT race_fit(s, ROW(x, c)) AS f
	FROM (
		SELECT race_build(race_params('l2', 1, 0.05, rows => 32, range => 64)
				* race_params('match', 2, power => 2, rows => 32, range => 64), ROW(x, c)) AS s
		FROM mixed
	) b, many
) v, race_points(f) \gx
DROP TABLE mixed, many;
-- points that are the same are only a waste, and one is enough for a model
SELECT points, is_model(f, '{3}', '{3}') FROM (SELECT race_fit(s, '{3}'::float8[]) AS f FROM s) v, race_info(f);
SELECT points BETWEEN 1 AND 5 AS points, (SELECT abs(sum(weight) - 400) < 1e-6 FROM race_points(f)) AS complete
FROM (SELECT race_fit(s, '{3}'::float8[]) AS f FROM s, generate_series(1, 5)) v, race_info(f);
\set VERBOSITY sqlstate
SELECT race_fit(race_sketch('l2(dims=1, rows=4, range=16)'::race_params), ARRAY[i]) FROM generate_series(1, 65537) i;
SELECT race_fit(s, ARRAY[1, 2]) FROM s;
SELECT race_fit(s, ARRAY['NaN'::float8]) FROM s;
SELECT race_fit(s, ARRAY['a']) FROM s;
SELECT race_fit(s, 1.5) FROM s;
SELECT race_fit(v.s, '{1}'::float8[]) FROM (SELECT s FROM s UNION ALL SELECT race_add(s, '{1}') FROM s) v;
SELECT race_fit(v.s, '{1}'::float8[]) FROM (SELECT s FROM s UNION ALL SELECT race_sketch('l2(dims=1)'::race_params)) v;
-- of the same count, but not the same
CREATE TABLE others AS SELECT s FROM s UNION ALL SELECT race_remove(race_add(s, '{1}'), '{3}') FROM s;
SELECT race_fit(s, '{1}'::float8[]) FROM others;
DROP TABLE others;
\set VERBOSITY default
-- groups, and a window, in which the state is used again
SELECT j, is_model(race_fit(s, x), '{0}', '{10}')
FROM s, candidates, generate_series(1, 2) j WHERE i % j = 0 GROUP BY j ORDER BY j;
SELECT count(*), bool_and(points BETWEEN 1 AND i + 1) AS growing
FROM (SELECT i, race_fit(s, x) OVER (ORDER BY i) AS g FROM s, candidates WHERE i < 20) v, race_info(g);

-- ---------------------------------------------------------------- accuracy
-- the true densities, of exact sketches
CREATE FUNCTION truth(p race_params, q float8[]) RETURNS float8
LANGUAGE sql AS 'SELECT avg(race_kernel(p, x, q)) FROM t';
SELECT q,
	abs(race_kde(f, q) - k) < 0.01 AS fitted,
	race_kde(f, q) = race_kernel_sum(f, q) / race_count(f) AS sum,
	(e).kernel_density = race_kde(f, q) AS same,
	(e).lower <= race_kde(f, q) AND race_kde(f, q) <= (e).upper AS inside,
	(e).standard_error >= 0 AND (e).standard_error < 0.01 AS sharp
FROM f, unnest('{0,1.5,2.5,3,4,5,6,7,8.2,10}'::float8[]) v, LATERAL (SELECT ARRAY[v] AS q) w,
	LATERAL (SELECT truth(race_params(f), q) AS k, race_estimate(f, q) AS e) u ORDER BY q;
-- with a Gaussian kernel, too
SELECT h, max(abs(e.kernel_density - k)) * 2.5066 * h < 0.002 AS close, bool_and(e.lower <= k AND k <= e.upper) AS held
FROM f, generate_series(1, 9) v, unnest('{0.5,1,2}'::float8[]) h,
	race_estimate(f, ARRAY[v]::float8[], bandwidth => h) e,
	LATERAL (SELECT avg(exp(-((x[1] - v) ^ 2) / (2 * h * h))) / (h * sqrt(2 * pi())) AS k FROM t) u GROUP BY h
ORDER BY h;
-- together they are better than without a model
SELECT sqrt(avg((race_kde(f, q) - k) ^ 2)) < 0.7 * sqrt(avg((race_kde(s, q) - k) ^ 2)) AS better
FROM s, f, generate_series(0, 10, 0.25) v, LATERAL (SELECT ARRAY[v]::float8[] AS q) w,
	LATERAL (SELECT truth(race_params(s), q) AS k) u;
SELECT max(abs(race_kde(f, q) - (
	SELECT avg(race_kernel(race_params(f), ARRAY[sin(i), cos(i), sin(i * 0.7)], q)) FROM generate_series(1, 200) i
))) < 0.02 AS "three dimensions"
FROM f3, (VALUES ('{0,0,0}'::float8[]), ('{1,0,0}'), ('{0.5,0.5,0.5}'), ('{-1,-1,-1}')) v (q);
SELECT count(*), bool_and(density = race_kde(f, x)) AS grid
FROM f, race_kde_grid(f, '{0}', '{10}', '{11}') g (x, density);
SELECT abs(race_kernel_sum(f, '{3}', 24) - race_kernel_sum(s, '{3}', 24)) = 0 AS "without the model" FROM f, s;
-- of other kernels
SELECT name, max(abs(race_kde(f, q) - k)) < 0.03 AS near
FROM (
	SELECT name, f, x AS q, (SELECT avg(race_kernel(race_params(f), r.x, w.x)) FROM r) AS k
	FROM kinds, (SELECT x FROM r LIMIT 8) w WHERE name IN ('l2', 'angular')
) v GROUP BY name ORDER BY name;
SELECT name, max(abs(race_kde(f, q) - k)) < 0.03 AS near
FROM (
	SELECT name, f, c AS q, (SELECT avg(race_kernel(race_params(f), r.c, w.c)) FROM r) AS k
	FROM kinds, (SELECT c FROM r LIMIT 8) w WHERE name = 'match'
) v GROUP BY name;
SELECT name, max(abs(race_kde(f, q) - k)) < 0.03 AS near
FROM (
	SELECT name, f, set AS q, (SELECT avg(race_kernel(race_params(f), r.set, w.set)) FROM r) AS k
	FROM kinds, (SELECT set FROM r UNION SELECT '{}' UNION SELECT '{s1,s1,other}') w WHERE name = 'jaccard'
) v GROUP BY name;
SELECT name, max(abs(race_kde(f, q) - k)) < 0.03 AS near
FROM (
	SELECT name,
		f,
		ROW(x, c)::product AS q,
		(SELECT avg(race_kernel(race_params(f), ROW(r.x, r.c), ROW(w.x, w.c))) FROM r) AS k
	FROM kinds, (SELECT * FROM r LIMIT 8) w WHERE name = 'product'
) v GROUP BY name;
-- sets in any order, with elements twice
SELECT race_kde(f, '{s1,s2,s3}'::text[]) = race_kde(f, '{s3,s1,s2,s1}'::text[]) AS same
FROM kinds WHERE name = 'jaccard';
-- bandwidths of columns and transforms
\pset format unaligned
SELECT replace(p::text, 'rows=256, range=256, seed=0, ', '') COLLATE "C" AS p,
	abs(race_kde(f, '{0.3,1}') - k) < 0.02 AS near
FROM unnest('{
	"l2(dims=2, rows=256, range=256, bandwidths={1,3})",
	"l1(dims=2, bandwidth=3, rows=256, range=256, bandwidths={1,2})",
	"l2(dims=2, bandwidth=2, rows=256, range=256, matrix={{1,1},{0,2}}, offset={1,-1})",
	"l2(dims=2, bandwidth=3, power=3, rows=256, range=256)",
	"angular(dims=2, rows=256, range=256, offset={-3,-3})",
	"l2(dims=2, rows=256, range=256, sequence=independent, rehash=multilinear)"}'::race_params[]) p,
LATERAL (
	SELECT race_fit(race_build(p, x), lower => '{-1,-1}', upper => '{1,1}', points => 300) AS f,
		avg(race_kernel(p, x, '{0.3,1}')) AS k
	FROM r
) v ORDER BY 1;
\pset format aligned

-- -------------------------------------------------------- classes, variables
CREATE TABLE classes AS SELECT c AS label,
	race_fit(race_build('l2(dims=1, rows=256, range=256)', ARRAY[c * 10 + (i % 10) / 10.0]), lower => '{0}',
		upper => '{40}') AS s FROM generate_series(1, 3) c, generate_series(1, 30 * c) i GROUP BY c;
SELECT q,
	race_classify(label, s, ARRAY[q]),
	race_classify(label, s, ARRAY[q], 'counts') AS counts,
	(race_posterior(label, s, ARRAY[q]) ->> race_classify(label, s, ARRAY[q])::text)::float8 > 0.8 AS certain
FROM classes, unnest('{10,20,31}'::float8[]) q GROUP BY q ORDER BY q;
-- one of them with a model, the others without
SELECT race_classify(label, CASE WHEN label = 2 THEN s ELSE race_merge_one END, '{20}')
FROM (SELECT label, s, s - race_sketch(race_params(s)) AS race_merge_one FROM classes) v;
DO $$
DECLARE
	v race_sketch := (SELECT f FROM f);
	before race_sketch := v;
	answer float8 := race_kde(v, '{3}');
BEGIN
	IF NOT same(v, (SELECT f FROM f)) THEN
		RAISE 'a variable has changed';
	END IF;
	FOR i IN 1 .. 20 LOOP
		IF race_kde(v, '{3}') <> answer OR race_kde(before, '{3}') <> answer THEN
			RAISE 'another answer';
		END IF;
	END LOOP;
	v := race_add(v, '{3}');
	IF fitted(v) OR NOT fitted(before) OR race_kde(before, '{3}') <> answer THEN
		RAISE 'a change has left a model, or has dropped another';
	END IF;
	v := race_fit(v);
	IF NOT fitted(v) OR race_kde(v, '{3}') = answer OR race_count(v) <> 401 THEN
		RAISE 'not fitted anew';
	END IF;
	BEGIN
		v := race_fit(v, lower => '{1}', upper => '{0}');
	EXCEPTION WHEN invalid_parameter_value THEN
		RAISE NOTICE '%', SQLERRM;
	END;
	IF NOT fitted(v) THEN
		RAISE 'an error has changed a variable';
	END IF;
END $$;
PREPARE ask(real[]) AS SELECT abs(race_kde(f, $1) - race_kde(f, $1::float8[])) = 0 AS same FROM f;
EXECUTE ask('{5}');
EXECUTE ask('{200}');
-- caches do not matter
SET racepriv.cache_size = 0;
SELECT race_kde(a.f, '{3}') = race_kde(b.f, '{3}') AS same FROM f a, (SELECT race_fit(s) AS f FROM s) b;
RESET racepriv.cache_size;

-- -------------------------------------------------------------- hard cases
-- finite, and within what densities can be
CREATE FUNCTION is_sound(f race_sketch, q float8[]) RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws(' ',
		CASE WHEN (
			SELECT bool_and(weight >= 0 AND weight < 'Infinity') AND count(*) > 0 FROM race_points(f)
		) THEN 'weights' END,
		CASE WHEN race_kde(f, q) BETWEEN -1 AND 2 THEN 'density' END,
		CASE
			WHEN (e).lower <= (e).kernel_density AND (e).kernel_density <= (e).upper
				AND (e).standard_error >= 0 THEN 'interval' END,
		CASE WHEN same(f::text::race_sketch, f) THEN 'text' END,
		CASE WHEN misfit >= 0 AND misfit < 'Infinity' THEN 'misfit' END)
	FROM race_info(f), LATERAL (SELECT race_estimate(f, q) AS e OFFSET 0) v
$$;
SELECT 'noise alone' AS case,
	is_sound(race_fit(race_privatize(s, 1e-3, rows => 256)), '{5}') ~ '^weights .*text misfit$' AS sound
FROM (SELECT race_build(:p, ARRAY[i]) AS s FROM generate_series(1, 10) i) v;
SELECT 'all equal' AS case,
	is_sound(f, '{5}') AS there,
	is_sound(f, '{0}') AS away,
	race_kde(f, '{5}') > 0.95 AS one
FROM (SELECT race_fit(race_build(:p, ARRAY[5])) AS f FROM generate_series(1, 100)) v \gx
SELECT 'on a bound' AS case,
	is_sound(f, '{0}') AS there,
	is_sound(f, '{10}') AS away,
	race_kde(f, '{0}') > 0.95 AS one
FROM (SELECT race_fit(race_build(:p, ARRAY[0])) AS f FROM generate_series(1, 100)) v \gx
SELECT 'beyond a bound' AS case,
	is_sound(f, '{99}') AS there,
	race_kde(f, '{99}') > 0.95 AS one
FROM (SELECT race_fit(race_build(:p, ARRAY[77])) AS f FROM generate_series(1, 100)) v \gx
SELECT 'on both' AS case,
	is_sound(f, '{0}') AS there,
	race_kde(f, '{0}') BETWEEN 0.45 AND 0.6 AS half
FROM (SELECT race_fit(race_build(:p, ARRAY[i % 2 * 10])) AS f FROM generate_series(1, 100) i) v \gx
SELECT 'outside' AS case, is_sound(f, '{1}') AS there
FROM (
	SELECT race_fit(race_build('l2(dims=1, rows=256, range=256)', ARRAY[5]), lower => '{100}', upper => '{101}') AS f
	FROM generate_series(1, 100)
) v;
SELECT 'empty' AS case,
	is_sound(race_fit(race_sketch(:p::race_params)), '{5}'),
	abs(race_kde(race_fit(race_sketch(:p::race_params)), '{5}')) < 0.01 AS zero \gx
SELECT 'one row' AS case,
	is_sound(race_fit(race_build('l2(dims=1, rows=1, range=16, sequence=independent)', ARRAY[5]), lower => '{0}',
			upper => '{10}'), '{5}')
FROM generate_series(1, 3);
SELECT 'few rows' AS case, rows, is_sound(race_fit(s, lower => '{0}', upper => '{10}'), '{5}')
FROM unnest('{2,3,5,63,65,129}'::int[]) rows,
	LATERAL (
		SELECT race_build(race_params('l2', 1, rows => rows, range => 16, sequence => 'independent'), ARRAY[i]) AS s
		FROM generate_series(1, 10) i
	) v ORDER BY rows;
SELECT 'less than none' AS case,
	is_sound(race_fit(race_remove(race_sketch(:p::race_params), '{5}')), '{1}') ~ 'weights .*text misfit' AS sound;
-- counters that are large, and count nothing together
CREATE FUNCTION doubled(x float8[], n int) RETURNS race_sketch LANGUAGE sql AS $$
	WITH RECURSIVE r (i, s) AS (
		SELECT 0, race_add(race_sketch('l2(dims=1, rows=128, range=64)'::race_params), x)
		UNION ALL SELECT i + 1, s + s FROM r WHERE i < n
	)
	SELECT s FROM r WHERE i = n
$$;
SELECT n,
	race_count(s) = 0 AS count,
	(SELECT abs(sum(weight) - 1) < 1e-9 FROM race_points(f)) AS one,
	same(f::text::race_sketch, f) AS text,
	race_kde(f, '{0}')::text !~ 'NaN|Inf' AS finite
FROM unnest('{20,50,60}'::int[]) n, LATERAL (SELECT doubled('{0}', n) - doubled('{40}', n) AS s) v,
	LATERAL (SELECT race_fit(s, lower => '{-1}', upper => '{1}') AS f OFFSET 0) w;
SELECT n,
	points > 0 AS points,
	(SELECT abs(sum(weight) - 1) < 1e-9 FROM race_points(f)) AS one,
	same(f::text::race_sketch, f) AS text,
	race_kde(f, '{0}')::text !~ 'NaN|Inf' AS finite
FROM unnest('{20,50,60}'::int[]) n,
	LATERAL (SELECT race_sketch(race_params(doubled('{0}', 0))) - doubled('{0}', n) AS s) v,
	LATERAL (SELECT race_fit(s, lower => '{-1}', upper => '{1}') AS f OFFSET 0) w, race_info(f);
SELECT n,
	(SELECT abs(sum(weight) / 2 ^ n - 1) < 1e-9 FROM race_points(f)) AS complete,
	same(f::text::race_sketch, f) AS text,
	abs(race_kde(f, '{0}') - 1) < 0.05 AS density
FROM unnest('{20,50,61}'::int[]) n,
	LATERAL (SELECT race_fit(doubled('{0}', n), lower => '{-1}', upper => '{1}') AS f OFFSET 0) w;
-- bandwidths and boxes at their ends
SELECT bandwidth,
	upper,
	is_sound(f, ARRAY[upper / 2, 0]) ~ 'weights .*text misfit' AS sound,
	is_model(f, '{0,0}', ARRAY[upper, 1]) ~ 'inside' AS inside
FROM (VALUES (1e-100::float8, 1::float8), (1e-100, 1e60), (1e-100, 1e299), (1e100, 1), (1e100, 1e299), (1, 1e299),
	(1, 1e-300), (1, 0)) v (bandwidth, upper),
LATERAL (
SELECT race_fit(race_add(race_add(race_sketch(race_params('l2', 2, bandwidth, rows => 128, range => 64)),
			ARRAY[upper / 2, 0.5]), ARRAY[upper, 0]), lower => '{0,0}', upper => ARRAY[upper, 1],
	points => 50) AS f OFFSET 0
) w ORDER BY 1, 2;

DROP TABLE t, s, f, s3, f3, shares, kinds, r, candidates, classes;
DROP FUNCTION same, fitted, is_model, truth, is_sound, doubled;
DROP TYPE product;

-- the error of one row is infinite, however little it weighs
SELECT round(kernel_density), standard_error
FROM race_estimate('AwIAAAAAAAAAAAAAAAAAAFIDAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
	'AAOAAAAADAQECCgAAAAEAAAABAAAAEAAAAAAAAAD/AAAAAAAAAAAAAAAAAPA/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAED/f9NhAIAQANr/YGomA'
	'CwA/39GaPf/AIAPANDK9P8CAAAAAAAAAAAAAAAAAAAAexSuR+F6hD8AAAAAAABZQAAAAAAAAPA/AAA0JvVrDEMAADQm9WsMQwAAAAAAAAAAAQAAAAA'
	'AAAAAAAAAAAAAgAAAAAAAAPA/AAAAAAAAAAB9w5QlrUmyVAAAAAAAAPA/AAAAAAAA8L8AAAAAAADwPwEAAAAAAAAAAAAAAAAAAIAAAAAAAAAAgAAAA'
	'AAAAOA/AAAAAAAA8L8AAAAAAAAAAAAAAAAAAOA/AAAAAAAA8D8AAAAAAAAAgH3DlCWtSbJUfcOUJa1JslQAAAAAAADwP14ogYU='::race_sketch,
	array_fill(0, ARRAY[10]));

-- rows of categories that public lists make
\set SHOW_CONTEXT never
CREATE TEMP TABLE declared AS SELECT race_build(race_params('match', 2, rows => 64, nulls => 'category'), x) AS s
FROM (
	SELECT ARRAY[CASE i % 3 WHEN 0 THEN 'f' ELSE 'm' END, CASE WHEN i % 4 > 0 THEN 'town ' || i % 4 END] AS x
	FROM generate_series(1, 1200) i
) v;
SELECT p.record, round(p.weight / 10) * 10 AS weight
FROM (
	SELECT race_fit(s, ARRAY[sex, town]) AS f
	FROM declared, unnest('{f,m}'::text[]) sex, unnest('{town 1,town 2,town 3,null,town 9}'::text[]) town
) v, race_points(f) p WHERE p.weight > 20 ORDER BY p.record;
SELECT race_fit(s, ARRAY['a']) FROM declared;
-- candidates longer than a model
\set VERBOSITY terse
SELECT race_fit(s, ARRAY[repeat('s', 1000000), i::text])
FROM race_sketch('jaccard(rows=16)'::race_params) s, generate_series(1, 100) i;
\set VERBOSITY default
DROP TABLE declared;
\set SHOW_CONTEXT errors

-- Intervals hold what they should where points are moved: 2 of 3 of them if points suit all rows
CREATE TABLE fit_cube AS SELECT i,
	(
		SELECT array_agg(h - floor(h) ORDER BY j)
		FROM (SELECT j, 0.5 + i * (sqrt(4 * j + 1.0) + j * 0.618)::float8 AS h FROM generate_series(1, 6) j) s
	) AS x FROM generate_series(1, 2060) i;
SELECT avg((truth BETWEEN lower AND upper)::int) > 0.9 AS covered
FROM (
	SELECT race_fit(race_build(race_params('l2', 6, 0.5, rows => 512, range => 64), x),
		lower => array_fill(0::float8, ARRAY[6]), upper => array_fill(1::float8, ARRAY[6]), points => 1000) AS s
	FROM fit_cube WHERE i <= 2000
) f,
	(
		SELECT q.x, avg(race_kernel('l2(bandwidth=0.5)', r.x, q.x)) AS truth
		FROM fit_cube q, fit_cube r WHERE q.i > 2000 AND r.i <= 2000 GROUP BY q.i, q.x
	) q, LATERAL race_estimate(f.s, q.x);
DROP TABLE fit_cube;
