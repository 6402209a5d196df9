-- race_sample: records drawn from a fitted model

-- two hills, of 300 and of 100 records
CREATE TABLE t AS SELECT ARRAY[CASE WHEN i % 4 = 0 THEN 7 ELSE 3 END + (i % 21 - 10) / 20.0]::float8[] AS x
FROM generate_series(1, 400) i;
CREATE TABLE s AS SELECT race_build('l2(dims=1, bandwidth=1, rows=256, range=512, lower={0}, upper={10})', x) AS s
FROM t;
CREATE TABLE f AS SELECT race_fit(s) AS f FROM s;

-- as many as wanted, in the bounds, by weight
SELECT count(*),
	count(DISTINCT x) > 9900 AS different,
	bool_and(array_length(x, 1) = 1 AND record IS NULL) AS vectors,
	bool_and(x[1] BETWEEN 0 AND 10) AS inside,
	abs(avg((x[1] BETWEEN 2 AND 4)::int) - 0.75) < 0.05 AS three,
	abs(avg((x[1] BETWEEN 6 AND 8)::int) - 0.25) < 0.05 AS seven
FROM f, race_sample(f, 10000, 1) \gx
-- a seed gives the same records, one by one; without a seed they are others
SELECT (SELECT array_agg(r) FROM race_sample(f, 50, 7) r) = (SELECT array_agg(r) FROM race_sample(f, 50, 7) r) AS same,
	(SELECT array_agg(r) FROM race_sample(f, 50, 7) r)
		= (SELECT (array_agg(r))[1:50] FROM race_sample(f, 90, 7) r) AS begun,
	(SELECT array_agg(r) FROM race_sample(f, 50, 7) r) <> (SELECT array_agg(r) FROM race_sample(f, 50, 8) r) AS seeds,
	(SELECT array_agg(r) FROM race_sample(f, 50) r) <> (SELECT array_agg(r) FROM race_sample(f, 50) r) AS others
FROM f \gx
SELECT count(*) FROM (SELECT race_sample(f, 1000, 1) FROM f LIMIT 3) v;
-- a point alone is not moved
SELECT DISTINCT x FROM s, race_sample(race_fit(s, lower => '{3}', upper => '{3}'), 10);
-- in more dimensions: along the data, within the bounds
CREATE TABLE f2 AS SELECT race_fit(race_build('l2(dims=2, bandwidth=1, rows=256, range=256, lower={0,0}, upper={10,10})'
	,
	ARRAY[i % 100 / 10.0, i % 100 / 10.0])) AS f FROM generate_series(1, 500) i;
SELECT corr(x[1], x[2]) > 0.97 AS line,
	min(x[1]) >= 0 AND min(x[2]) >= 0 AND max(x[1]) <= 10 AND max(x[2]) <= 10 AS inside,
	count(DISTINCT x) > 4900 AS different,
	stddev(x[1]) BETWEEN 2.7 AND 3.1 AS spread
FROM f2, race_sample(f, 5000, 1) \gx
-- at a bound: reflected, not heaped up
SELECT count(*) FILTER (WHERE x[1] IN (0, 10) OR x[2] IN (0, 10)) < 50 AS few FROM f2, race_sample(f, 5000, 2);
CREATE TABLE f4 AS SELECT race_fit(race_build('l2(dims=4, bandwidth=1, rows=128, range=256, lower={-1,-1,-1,-1}, '
	'upper={1,1,1,1})',
		ARRAY[sin(i), cos(i), sin(i), 0.5]), points => 200) AS f FROM generate_series(1, 300) i;
SELECT corr(x[1], x[3]) > 0.7 AS alike,
	abs(corr(x[1], x[2])) < 0.4 AS circle,
	bool_and(-1 <= ALL (x) AND 1 >= ALL (x)) AS inside
FROM f4, race_sample(f, 2000, 1) \gx
-- a grid without a model; and other kernels of vectors
CREATE TABLE g AS SELECT race_build(race_params('l2', 1, 1, sequence => 'grid', lower => '{0}', upper => '{10}'),
	x) AS s FROM t;
SELECT abs(avg((x[1] < 5)::int) - 0.75) < 0.05 AS three FROM g, race_sample(s, 5000, 1);
SELECT abs(avg(atan2(x[2], x[1])) - 0.1) < 0.1 AS angular
FROM race_sample((
		SELECT race_fit(race_build('angular(dims=2, power=4, rows=128, range=128)', ARRAY[1, 0.1]), lower => '{0,0}',
			upper => '{1,1}', points => 300)
		FROM t
	), 100, 1);
-- a model that nobody can test
SELECT count(*)
FROM race_sample((
		SELECT race_fit(race_build('l2(dims=1, rows=1, range=64)', x), lower => '{0}', upper => '{10}') FROM t
	), 3, 1);
SELECT count(*)
FROM race_sample((
		SELECT race_fit(race_build('l2(dims=3, rows=7, range=64)', x || x || x), lower => '{0,0,0}', upper => '{9,9,9}',
			points => 100)
		FROM t
	), 3, 1);

-- ------------------------------------------------------------- other records
CREATE TABLE r AS SELECT i, ARRAY[i % 7, (i * 3) % 11]::float8[] AS x, ARRAY['a ' || i % 2, 'b"\,' || i % 3] AS c,
	ARRAY(SELECT j FROM generate_series(0, i % 4) j) AS set FROM generate_series(1, 200) i;
CREATE TABLE kinds (name text, f race_sketch);
INSERT INTO kinds
SELECT 'match', race_fit(s, c)
FROM (SELECT race_build('match(dims=2, rows=128, range=128)', c) AS s FROM r) v, (SELECT DISTINCT c FROM r) w;
INSERT INTO kinds
SELECT 'jaccard', race_fit(s, set)
FROM (SELECT race_build('jaccard(rows=128, range=128)', set) AS s FROM r) v,
	(SELECT DISTINCT set FROM r UNION SELECT '{}') w;
INSERT INTO kinds
SELECT 'product', race_fit(s, ROW(x, c))
FROM (
	SELECT race_build('l2(dims=2, bandwidth=2, rows=128, range=128, lower={0,0}, upper={6,10}) * match(dims=2)',
		ROW(x, c)) AS s
	FROM r
) v, r;
INSERT INTO kinds
SELECT 'three parts', race_fit(s, ROW(set, x, c))
FROM (
	SELECT race_build('jaccard(rows=128, range=128) * l2(dims=2, bandwidth=2) * match(dims=2)', ROW(set, x, c)) AS s
	FROM r
) v, r;
SELECT name,
	count(*),
	count(x) AS vectors,
	count(DISTINCT s.record) AS different,
	bool_and(s.record IN (SELECT record FROM race_points(f))) AS points
FROM kinds, race_sample(f, 500, 1) s GROUP BY name ORDER BY name;
-- vectors in a product are moved, within bounds; categories are not
CREATE TYPE product AS (x float8[], c text[]);
SELECT bool_and((v).c IN (SELECT c FROM r)) AS categories,
	bool_and((v).x[1] BETWEEN 0 AND 6 AND (v).x[2] BETWEEN 0 AND 10) AS inside,
	count(*) FILTER (WHERE (v).x IN (SELECT x FROM r)) AS unmoved
FROM (SELECT record::product AS v FROM kinds, race_sample(f, 500, 1) WHERE name = 'product') w \gx

-- ---------------------------------------------------------------- as a table
CREATE TABLE whole (a int, b numeric(6,2));
CREATE TABLE synthetic AS SELECT * FROM f2, LATERAL race_sample(NULL::whole, f, 100, 3) v;
SELECT a, b FROM synthetic LIMIT 0;
SELECT count(*), bool_and(v.a = round(x[1]) AND v.b = round(x[2]::numeric, 2)) AS rounded FROM f2,
LATERAL (SELECT * FROM ROWS FROM (race_sample(NULL::whole, f, 100, 3), race_sample(f, 100, 3))) v;
-- columns of array types take whole parts; what is left stays
CREATE TYPE shapes AS (set int[], x smallint[], first text, second varchar(5), n int, note text);
SELECT count(*),
	bool_and(v.note = 'made up' AND v.n IS NULL AND v.first LIKE 'a _' AND length(v.second) = 5
		AND array_length(v.x, 1) = 2) AS filled, count(DISTINCT v.set)
FROM kinds, race_sample(jsonb_populate_record(NULL::shapes, '{"note": "made up", "first": "old"}'), f, 2000, 5) v
WHERE name = 'three parts';
CREATE TYPE categories AS (a char(3), b text);
SELECT DISTINCT v.* FROM kinds, race_sample(NULL::categories, f, 500, 1) v WHERE name = 'match' ORDER BY 1, 2;
CREATE TYPE sets AS (set bigint[]);
SELECT count(DISTINCT v.set) FROM kinds, race_sample(NULL::sets, f, 500, 1) v WHERE name = 'jaccard';
-- dropped columns, domains, and columns too many or too few
ALTER TABLE whole ADD c float8, ADD d int;
ALTER TABLE whole DROP a;
SELECT count(v.b), count(v.c), count(v.d) FROM f2, race_sample(NULL::whole, f, 10, 3) v;
CREATE DOMAIN percent AS int CHECK (VALUE BETWEEN 0 AND 100);
CREATE DOMAIN must AS int NOT NULL;
CREATE TYPE with_domain AS (a percent, b float4);
SELECT count(v.a) FROM f2, race_sample(NULL::with_domain, f, 10, 3) v;
CREATE TYPE with_must AS (a int, b int, c must);
SELECT count(*) FROM f2, race_sample(NULL::with_must, f, 10, 3) v;
SELECT v.c, count(*) FROM f2, race_sample(jsonb_populate_record(NULL::with_must, '{"c": 5}'), f, 10, 3) v GROUP BY 1;
CREATE TYPE one AS (a int);
SELECT count(*) FROM f2, race_sample(NULL::one, f, 10, 3) v;
CREATE TYPE small AS (a "char", b bool);
SELECT count(*) FROM f2, race_sample(NULL::small, f, 10, 3) v;
CREATE DOMAIN little AS int CHECK (VALUE < 3);
CREATE TYPE with_little AS (a little, b int);
SELECT count(*) FROM f2, race_sample(NULL::with_little, f, 1000, 3) v;
SELECT count(*) FROM f2, race_sample(1, f, 10, 3) v;
SELECT count(*) FROM f2, race_sample(NULL::record, f, 10, 3) v;
SELECT count(*) FROM f2, race_sample(ROW(1, 2), f, 10, 3) AS v (a int, b text, c float8);
SELECT count(a), count(b), count(c) FROM f2, race_sample(NULL::record, f, 10, 3) AS v (a int, b text, c float8);

-- missing categories
CREATE TABLE missing AS SELECT race_fit(s, c) AS f
FROM (
	SELECT race_build('match(dims=2, rows=64, range=16, nulls=category)',
		ARRAY[CASE WHEN i % 2 = 0 THEN 'a' END, 'b']) AS s
	FROM generate_series(1, 100) i
) v,
	(VALUES (ARRAY['a', 'b']), (ARRAY[NULL, 'b'])) w (c);
CREATE TYPE texts AS (a text, b text);
SELECT v.a, v.b, count(*) > 30 AS many FROM missing, race_sample(NULL::texts, f, 100, 3) v GROUP BY 1, 2 ORDER BY 1;
CREATE TYPE all_texts AS (a text[]);
SELECT v.a, count(*) > 30 AS many FROM missing, race_sample(NULL::all_texts, f, 100, 3) v GROUP BY 1 ORDER BY 1;
CREATE DOMAIN needed AS text NOT NULL;
CREATE TYPE with_needed AS (a needed, b text);
SELECT count(*) FROM missing, race_sample(NULL::with_needed, f, 100, 3) v;

-- ------------------------------- columns of which the bandwidth covers all
CREATE TABLE narrow AS
SELECT ARRAY[0.5 + 0.2 * a, 0.5 + 0.04 * (0.9 * a + 0.44 * b), 0.3 + 0.02 * (b - 0.8 * c), 0.02 * exp(c)] AS x
FROM generate_series(1, 2000) i,
	LATERAL (SELECT sin(i) + sin(i * 1.7) AS a, sin(i * 2.3) + sin(i * 3.1) AS b, sin(i * 4.7) + sin(i * 5.9) AS c) v;
-- points flow from 512 rows on: with 256, correlations are off by .28
CREATE TABLE narrow_made AS SELECT (race_sample(s, 2000, 1)).x
FROM (
	SELECT race_fit(race_build('l2(dims=4, bandwidth=0.2, rows=512, range=64, lower={0,0,0,0}, upper={1,1,1,1})', x),
		points => 400) AS s
	FROM narrow
) v;
-- spreads are right by a fifth, and correlations by .15
CREATE FUNCTION pairs(name regclass, OUT i int, OUT j int, OUT r float8, OUT spread float8) RETURNS SETOF record
LANGUAGE plpgsql AS $$ BEGIN
	RETURN QUERY EXECUTE format('SELECT i, j, corr(x[i], x[j]), stddev(x[i]) FROM %s, generate_series(1, 4) i, '
		'generate_series(1, 4) j GROUP BY i, j',
		name);
END $$;
SELECT max(abs(made.r - of.r)) < 0.15 AS correlations,
	min(made.spread / of.spread) > 0.8 AND max(made.spread / of.spread) < 1.2 AS spreads
FROM pairs('narrow_made') made JOIN pairs('narrow') of USING (i, j) \gx
-- bounds hold, and the same comes again: of power 2, of a transform that turns axes, of columns that are constant,
-- with one point
CREATE TABLE narrow_kinds AS
SELECT k, race_build(k::race_params, x) AS s FROM narrow, unnest('{
	"l2(dims=4, bandwidth=0.2, power=2, rows=512, range=64, lower={0,0.4,0,0.01}, upper={1,1,0.3,0.02})",
	"l2(dims=4, rows=518, range=64, lower={0,0.4,0,0}, upper={1,1,0.3,1}, matrix={{5,0,0,0},{-30,30,0,0}})",
	"l1(dims=4, bandwidth=0.2, bandwidths={1,0.5,0.1,2}, rows=512, range=64, lower={0,0.4,0.3,0}, upper={1,1,0.3,1})"
}'::text[]) k
GROUP BY k;
SELECT left(k, 2) AS kernel,
	n,
	bool_and(x[1] BETWEEN 0 AND 1 AND x[2] BETWEEN 0.4 AND 1 AND x[3] BETWEEN 0 AND 0.3
		AND x[4] BETWEEN 0 AND 1) AS inside,
	bool_and(again) AS again
FROM narrow_kinds, unnest('{1,2,60}'::int[]) n,
	LATERAL (
		SELECT f, race_fit(s, points => n)::text = f::text AS again
		FROM (SELECT race_fit(s, points => n) AS f OFFSET 0) u OFFSET 0
	) v, LATERAL race_points(f) GROUP BY k, n ORDER BY k, n;
DROP TABLE narrow, narrow_made, narrow_kinds;
DROP FUNCTION pairs;

-- -------------------------------------------------------- NULLs and errors
SELECT count(*) FROM f, race_sample(NULL, 5);
SELECT count(*) FROM f, race_sample(f, NULL);
SELECT count(*) FROM f, race_sample(f, 0);
SELECT count(*) FROM f, race_sample(NULL::one, NULL, 5);
SELECT race_sample(f, -1) FROM f;
SELECT race_sample(s, 1) FROM s;
SELECT race_sample(race_share(s, 1, 1e-6, 3), 1) FROM s;
-- parallel plans, transactions, PREPARE and plpgsql
BEGIN;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
ALTER TABLE f SET (parallel_workers = 2);
SELECT count(DISTINCT a)
FROM (SELECT (SELECT array_agg(x) FROM race_sample(f, 10, 1)) AS a FROM f, generate_series(1, 5)) v;
ROLLBACK;
PREPARE q AS SELECT sum(x[1]) > 0 FROM f, race_sample(f, $1, $2);
EXECUTE q(5, 1);
EXECUTE q(5, NULL);
DO $$ DECLARE s race_sketch;
n int;
BEGIN SELECT f INTO s FROM f;
s := race_fit(race_add(s, '{3}'));
SELECT count(*) INTO n FROM race_sample(s, 3);
RAISE NOTICE '%', n;
END $$;

DROP TABLE t, s, f, f2, f4, g, r, kinds, whole, missing, synthetic CASCADE;
DROP TYPE product, shapes, categories, sets, with_domain, with_must, one, small, with_little, texts, all_texts,
	with_needed;
-- a model that is no better than independence says so: in 32 dimensions and at a small epsilon; not in two with
-- little noise
SET client_min_messages = warning;
CREATE TABLE wide AS SELECT k, d,
	race_fit(race_privatize((SELECT race_build(race_params('l2', d, 0.25 * sqrt(d), rows => 256, range => 64,
		lower => array_fill(0::float8, ARRAY[d]), upper => array_fill(1::float8, ARRAY[d])),
		(SELECT array_agg((i % 2 + j * 7 % 5 / 5.0) / 2) FROM generate_series(1, d) j))
	FROM generate_series(1, 1000) i), e, 1e-6, fit => true), points => 200) AS f
FROM (VALUES (1, 2, 100), (2, 32, 0.03), (3, 4, 0.01)) v (k, d, e);
SELECT k, count(*) FROM wide, race_sample(f, 5, 1) WHERE k = 1 GROUP BY k;
SELECT k, count(*) FROM wide, race_sample(f, 5, 1) WHERE k = 2 GROUP BY k;
SELECT k, count(*) FROM wide, race_sample(f, 5, 1) WHERE k = 3 GROUP BY k;
DROP TABLE wide;
RESET client_min_messages;
DROP DOMAIN percent, must, little, needed;
