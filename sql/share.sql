-- race_typicality: how many records are less typical?
CREATE TABLE t AS SELECT ARRAY[CASE WHEN i % 4 = 0 THEN 7 ELSE 3 END + (i % 21 - 10) / 20.0]::float8[] AS x
FROM generate_series(1, 400) i;
CREATE TABLE f AS SELECT race_fit(race_build('l2(dims=1, bandwidth=1, rows=256, range=512, lower={0}, upper={10})',
	x)) AS f FROM t;
-- the small hill is less typical than the large one, and nothing less so than a place far from both
SELECT (race_typicality(f, '{0}')).share AS far,
	(race_typicality(f, '{7}')).share BETWEEN 0.1 AND 0.3 AS small,
	(race_typicality(f, '{3}')).share > 0.9 AS large
FROM f \gx
SELECT abs(avg((race_typicality(f, x)).share) - 0.5) < 0.1 AS half FROM f, t;
-- the share rises with the density
SELECT bool_and(rise >= 0) AS rises
FROM (
	SELECT (race_typicality(f, ARRAY[i / 10.0])).share
		- lag((race_typicality(f, ARRAY[i / 10.0])).share) OVER (ORDER BY race_kde(f, ARRAY[i / 10.0])) AS rise
	FROM f, generate_series(0, 100) i
) v;
-- several sketches by turns, at one place
CREATE TABLE two AS SELECT 1 AS id, f FROM f
UNION ALL SELECT 2,
	race_fit(race_build('l2(dims=1, bandwidth=1, rows=256, range=512, lower={0}, upper={10})', ARRAY[10 - x[1]]))
FROM t;
SELECT id, bool_and((race_typicality(f, ARRAY[CASE id WHEN 1 THEN 3 ELSE 7 END])).share > 0.9) AS large
FROM generate_series(1, 3), two GROUP BY id ORDER BY id;
SET racepriv.cache_size = 0;
SELECT id, bool_and((race_typicality(f, ARRAY[CASE id WHEN 1 THEN 3 ELSE 7 END])).share > 0.9) AS large
FROM generate_series(1, 3), two GROUP BY id ORDER BY id;
RESET racepriv.cache_size;
-- grids, and other kernels
SELECT (race_typicality(race_fit(s), '{3}')).share > (race_typicality(race_fit(s), '{7}')).share AS grid
FROM (SELECT race_build(race_params('l2', 1, 1, sequence => 'grid', lower => '{0}', upper => '{10}'), x) AS s FROM t) v;
SELECT (race_typicality(f, ARRAY['a', 'b'])).share BETWEEN 0.1 AND 0.4 AS usual,
	(race_typicality(f, ARRAY['x', 'y'])).share AS unknown
FROM (
	SELECT race_fit(s, ARRAY[a, b]) AS f
	FROM (
		SELECT race_build('match(dims=2, power=2, rows=128, range=128)',
			CASE WHEN x[1] < 5 THEN ARRAY['a', 'b'] ELSE ARRAY['c', 'd'] END) AS s
		FROM t
	) v, unnest('{a,c}'::text[]) a, unnest('{b,d}'::text[]) b
) w;
SELECT (race_typicality(f, ROW('{3}'::float8[], '{1,2}'::int[]))).share
	> (race_typicality(f, ROW('{7}'::float8[], '{1,2}'::int[]))).share AS product
FROM (
	SELECT race_fit(s, ROW(ARRAY[a::float8], set)) AS f
	FROM (SELECT race_build('l2(dims=1, rows=128, range=128) * jaccard', ROW(x, ARRAY[1, 2])) AS s FROM t) v,
		generate_series(0, 10) a, (VALUES ('{1,2}'::int[]), ('{}')) w (set)
) u;

-- NULLs and errors
SELECT (race_typicality(NULL, '{1}'::float8[])).share IS NULL AS a,
	(race_typicality(f, NULL::float8[])).share IS NULL AS b
FROM f;
SELECT (race_typicality(race_build('l2(dims=1)', '{5}'::float8[]), '{5}')).share;
SELECT (race_typicality(f, '{1,2}'::float8[])).share FROM f;
SELECT (race_typicality(f, '{NaN}')).share FROM f;
SELECT (race_typicality(race_share(race_build('l2(dims=1)', '{5}'::float8[]), 1, 1e-6, 3), '{5}')).share;
DROP TABLE t, f, two;
