-- Balanced rows of categories: all pairs of columns, and models of maximum entropy

SELECT race_params('match', 4, power => 2, rows => 6, sequence => 'balanced'), race_params('match', 4, rows => 4, sequence => 'balanced');
SELECT p = p::text::race_params AS text, race_params(race_sketch(p)) = p AS kept FROM race_params('match', 4, power => 2, rows => 6, sequence => 'balanced') p;
-- there are no more rows than marginals
SELECT race_params('match', 4, power => 2, rows => 7, sequence => 'balanced');
SELECT race_params('match', 4, power => 1, rows => 5, sequence => 'balanced');
SELECT race_params('match', 4, power => 3, rows => 4, sequence => 'balanced');
SELECT race_params('match', 1, power => 2, rows => 1, sequence => 'balanced');
SELECT race_params('match', power => 2, rows => 1, sequence => 'balanced');
SELECT race_params('l2', 4, rows => 4, sequence => 'balanced');
SELECT race_params('jaccard', rows => 4, sequence => 'balanced');
SELECT race_params('match', 4, power => 2, rows => 4, sequence => 'balanced') * race_params('l2', 1, rows => 4);
SELECT race_params('l2', 1, rows => 4) * race_params('match', 4, power => 2, rows => 4, sequence => 'balanced');
-- what they answer is exact but for collisions: the share of pairs in which records are the same
SELECT race_kernel(p, '{a,b,c,d}'::text[], '{a,b,c,x}'::text[]) AS half, abs(race_kernel_sum(race_add(race_sketch(p), '{a,b,c,d}'::text[]), '{a,b,c,x}'::text[]) - 0.5) < 0.01 AS sum
FROM race_params('match', 4, power => 2, rows => 6, range => 65536, sequence => 'balanced') p;

-- columns 1 and 2 go together, as do 3 and 4; names need quotation marks
CREATE TABLE t AS SELECT ARRAY['a' || a, CASE WHEN i % 10 < 8 THEN 'b,"' || a ELSE NULL END, 'c' || c, 'd ' || (c + (i % 5 = 0)::int) % 3] AS c
FROM generate_series(1, 3000) i, LATERAL (SELECT i % 4 AS a, i % 3 AS c) v;
CREATE TABLE s AS SELECT race_build(race_params('match', 4, power => 2, rows => 6, range => 4096, sequence => 'balanced', nulls => 'category'), c) AS s FROM t;
CREATE TABLE made_up AS SELECT ARRAY['a' || a, b, 'c' || c, 'd ' || d] AS c
FROM generate_series(0, 3) a, unnest(ARRAY['b,"0', 'b,"1', 'b,"2', 'b,"3', NULL, 'none']) b, generate_series(0, 2) c, generate_series(0, 2) d, generate_series(1, 20);
CREATE TYPE four AS (a text, b text, c text, d text);
-- with a candidate for each record that may be, and with more, of which others are made
CREATE TABLE f AS SELECT 'given' AS points, race_fit(s, c) AS s FROM s, (SELECT DISTINCT c FROM made_up) m
UNION ALL SELECT 'made', race_fit(s, c) FROM s, (TABLE made_up UNION ALL SELECT c FROM made_up WHERE c[1] = 'a0' AND c[2] IS NULL) m;
CREATE VIEW marginals AS SELECT points, k, l, coalesce(c[k], 'NULL') AS x, coalesce(c[l], 'NULL') AS y, sum(weight) AS n FROM f, LATERAL (SELECT record::text[] AS c, weight FROM race_points(s)) v,
	(VALUES (1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)) p(k, l) GROUP BY 1, 2, 3, 4, 5;
SELECT points, k, l, max(abs(coalesce(m.n, 0) - coalesce(t.n, 0))) < 15 AS near FROM (SELECT DISTINCT points FROM f) p
CROSS JOIN (SELECT k, l, coalesce(c[k], 'NULL') AS x, coalesce(c[l], 'NULL') AS y, count(*) AS n FROM t, (VALUES (1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)) p(k, l) GROUP BY 1, 2, 3, 4) t
LEFT JOIN marginals m USING (points, k, l, x, y) GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
SELECT points, count(*) > 4096 AS many, bool_and(weight > 0) AS weights, abs(sum(weight) - 3000) < 1 AS records FROM f, race_points(s) GROUP BY 1 ORDER BY 1;
-- samples without a notice
SELECT points, abs(avg((v.a = 'a1' AND v.b = 'b,"1')::int) - 0.2) < 0.02 AS pair, abs(avg((v.b IS NULL)::int) - 0.2) < 0.02 AS nulls, avg((v.b = 'none')::int) < 0.01 AS none
FROM f, race_sample(NULL::four, s, 10000, 1) v GROUP BY 1 ORDER BY 1;
-- the same each time
SELECT race_fit(s.s, c)::text = (SELECT s::text FROM f WHERE points = 'made') AS same FROM s, (TABLE made_up UNION ALL SELECT c FROM made_up WHERE c[1] = 'a0' AND c[2] IS NULL) m GROUP BY s.s::text;
-- a model that nothing tests is not asked
SELECT bool_and(race_kde(f.s, t.c) = race_kde(s.s, t.c)) AS counters FROM f, s, (SELECT c FROM t LIMIT 10) t;

-- all rows are all pairs: intervals have what else is in buckets, fitted or not; of fewer rows they are wider
CREATE TABLE e AS SELECT k.rows, k.range, k.seed, race_build(race_params('match', 4, power => 2, rows => k.rows, range => k.range, seed => k.seed, sequence => 'balanced', nulls => 'category'), c) AS s
FROM t, (SELECT * FROM unnest('{6,4}'::int[]) rows, unnest('{32,4096}'::int[]) range, generate_series(1, 20) seed) k GROUP BY 1, 2, 3;
CREATE TABLE q AS SELECT c, avg(race_kernel(p, x, c)) AS truth
FROM (SELECT DISTINCT c FROM t) q, (SELECT c AS x FROM t) t, race_params('match', 4, power => 2, rows => 6, sequence => 'balanced', nulls => 'category') p GROUP BY 1;
SELECT rows, range, avg((truth BETWEEN lower AND upper)::int) > 0.93 AS covered, avg(upper - lower) < CASE WHEN rows < 6 THEN 0.5 WHEN range = 32 THEN 0.2 ELSE 0.015 END AS narrow
FROM e, q, race_estimate(s, c) GROUP BY 1, 2 ORDER BY 1, 2;
SELECT bool_and(a = b) AS same FROM (SELECT s FROM e WHERE seed = 1) e, LATERAL (SELECT race_fit(s, c) AS f FROM q) f, q, race_estimate(s, c) a, race_estimate(f, c) b;
-- two columns have one pair
SELECT upper - lower BETWEEN 0.001 AND 0.2 AS narrow, 0.25 BETWEEN lower AND upper AS covered
FROM (SELECT race_build(race_params('match', 2, power => 2, rows => 1, sequence => 'balanced'), ARRAY[i % 2, i / 2 % 2]) AS s FROM generate_series(1, 400) i) v, race_estimate(s, ARRAY[0, 1]);
-- the difference of two sketches
SELECT difference, lower < upper AND upper - lower < 0.02 AS narrow FROM (SELECT s FROM e WHERE rows = 6 AND range = 4096 AND seed = 1) e, race_difference(s, s, (SELECT min(c) FROM q));
DROP TABLE e, q;

-- much noise: columns become independent, not wild
CREATE TABLE p AS SELECT race_privatize(s, 0.01, 0, 6) AS s FROM s;
SELECT max(weight) / min(weight) < 100 AS even FROM (SELECT race_fit(s, c) AS s FROM p, (SELECT DISTINCT c FROM made_up) m) f, race_points(s);
-- pure noise keeps all pairs, or as many as budget allows
SELECT (race_info(race_privatize(s, 1, 0, fit => true))).rows AS usual, (race_info(race_privatize(s, 0.001, 0, fit => true))).rows IN (2, 4, 6) AS fewer FROM s;
-- declared lists, of any size
SELECT n > 4096 AS many, abs(pair - 600) < 15 AS pair, none < 15 AS none FROM (
	SELECT count(*) AS n, sum(weight) FILTER (WHERE (record::text[])[1] = 'a1' AND (record::text[])[2] = 'b,"1') AS pair, sum(weight) FILTER (WHERE (record::text[])[2] = 'none') AS none
	FROM s, race_fit_categories(s, '[["a0","a1","a2","a3"],["b,\"0","b,\"1","b,\"2","b,\"3",null,"none"],["c0","c1","c2"],["d 0","d 1","d 2"]]') f, race_points(f)) v;
\set VERBOSITY terse
SELECT race_fit_categories(s, '[["a0"],["b"]]') FROM s;
-- a long text may be in many points
SELECT race_fit_categories(s, jsonb_build_array('["a0"]'::jsonb, jsonb_build_array(repeat('b', 5000)), '["c0"]'::jsonb, '["d 0"]'::jsonb)) FROM s;
-- nor are candidates longer than a model, in which any may be
SELECT race_fit(s, ARRAY['a0', repeat('b', 1000000), 'c0', 'd ' || i]) FROM s, generate_series(1, 100) i;
SELECT race_fit(s, ARRAY[repeat('s', 1000000), i::text]) FROM race_sketch('jaccard(rows=16)'::race_params) s, generate_series(1, 100) i;
SELECT race_fit_categories(s, jsonb_build_array(jsonb_build_array(repeat('b', 1000000)), l)) FROM race_sketch('match(dims=2, rows=16)'::race_params) s, (SELECT jsonb_agg(i::text) AS l FROM generate_series(1, 100) i) v;
\set VERBOSITY default
-- an array that begins elsewhere
SELECT count(*) > 4096 AS many, bool_and(record ~ '^{[12],[34]}$') AS written FROM (SELECT race_fit(b, ('[0:1]={' || 1 + i % 2 || ',' || 3 + i / 2 % 2 || '}')::int[]) AS s
FROM (SELECT race_build(race_params('match', 2, power => 2, rows => 1, sequence => 'balanced'), ARRAY[1 + i % 2, 3]) AS b FROM generate_series(1, 100) i) b, generate_series(1, 5000) i) f, race_points(s);
DROP VIEW marginals; DROP TABLE t, s, f, p, made_up; DROP TYPE four;
