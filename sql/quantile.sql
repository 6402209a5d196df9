-- race_quantile: quantiles of a column, from a fitted model
CREATE TABLE t AS SELECT ARRAY[i, 100 - i / 2.0]::float8[] AS x, ARRAY['c' || i % 3] AS c
FROM generate_series(0, 100) i;
CREATE TABLE f AS SELECT race_fit(race_build('l2(dims=1, bandwidth=5, rows=256, range=512, lower={0}, upper={100})',
	x[1:1])) AS f FROM t;
CREATE TABLE g AS SELECT race_build(race_params('l2', 1, 5, sequence => 'grid', lower => '{0}', upper => '{100}'),
	x[1:1]) AS s FROM t;
CREATE TABLE f2 AS SELECT race_fit(race_build('l2(dims=2, bandwidth=5, rows=256, range=512, lower={0,0}, '
	'upper={100,100})',
	x)) AS f FROM t;

-- in the order of p, and near the truth
SELECT p, abs(value - 100 * p) < 2.5 AS near, standard_error FROM f, race_quantile(f, '{0.5,0.1,NULL,0.9,0.25,0.5}');
SELECT p, abs(value - 100 * p) < 1.5 AS near, standard_error BETWEEN 0.05 AND 2 AS error
FROM g, race_quantile(race_fit(s), '{0.1,0.5,0.9}');
SELECT bool_and(a = b) AS same
FROM g, ROWS
FROM (race_quantile(s, '{0.1,0.5,0.9}'), race_quantile(race_fit(s), '{0.1,0.5,0.9}')) v (a1, a, a3, b1, b, b3);
-- both ends, continuous and never falling
SELECT min(value) FILTER (WHERE p = 0) >= 0 AND max(value) FILTER (WHERE p = 1) <= 100 AS inside,
	bool_and(rise >= 0) AS rises,
	max(rise) < 1 AS continuous
FROM (
	SELECT p, value, value - lag(value) OVER (ORDER BY p) AS rise
	FROM g,
		race_quantile(race_fit(s), (SELECT array_agg(i / 1000.0 ORDER BY i) FROM generate_series(0, 1000) i)::float8[])
) v \gx
-- columns
SELECT abs(value - 75) < 4 AS second FROM f2, race_quantile(f, '{0.5}', 2);
SELECT abs(value - 75) < 4 AS second, standard_error FROM f2, race_quantile(f, '{0.5}', "column" => 2);
SELECT race_quantile(f, '{0.5}', 3) FROM f2;
SELECT race_quantile(f, '{0.5}', 0) FROM f2;
SELECT race_quantile(f, '{0.5}', -2147483648) FROM f2;
-- products: as race_sample fills columns
CREATE TABLE p AS SELECT race_fit(s, ROW(c, x)) AS f
FROM (SELECT race_build('match(dims=1, rows=128, range=256) * l2(dims=2, bandwidth=10)', ROW(c, x)) AS s FROM t) v, t;
SELECT abs(value - 50) < 6 AS near FROM p, race_quantile(f, '{0.5}', 2);
SELECT abs(value - 75) < 6 AS near FROM p, race_quantile(f, '{0.5}', 3);
SELECT race_quantile(f, '{0.5}') FROM p;
SELECT race_quantile(f, '{0.5}', 4) FROM p;
-- as samples are spread
SELECT abs(percentile_cont(0.3) WITHIN GROUP (ORDER BY x[1])
	- (SELECT value FROM f, race_quantile(f, '{0.3}'))) < 1.5 AS same
FROM f, race_sample(f, 10000, 1);
-- the error grows with the noise
SELECT bool_and(private.standard_error > exact.standard_error) AS grows
FROM g, LATERAL (SELECT race_privatize(s, 1, rows => 1) AS r OFFSET 0) v, LATERAL race_quantile(r, '{0.5}') private,
	race_quantile(s, '{0.5}') exact;
-- one point, in a box of one place
SELECT value
FROM race_quantile((
		SELECT race_fit(race_build('l2(dims=1, rows=64, range=64)', '{5}'::float8[]), lower => '{5}', upper => '{5}')
	), '{0,0.5,1}');

-- NULLs and errors
SELECT count(*) FROM race_quantile(NULL, '{0.5}');
SELECT count(*) FROM f, race_quantile(f, NULL);
SELECT count(*) FROM f, race_quantile(f, '{}');
SELECT count(*) FROM f, race_quantile(f, '{{0.5,0.1},{0.2,0.3}}');
SELECT race_quantile(f, '{1.01}') FROM f;
SELECT race_quantile(f, '{0.5,-0.1}') FROM f;
SELECT race_quantile(f, '{NaN}') FROM f;
SELECT race_quantile(race_build('l2(dims=1)', '{5}'::float8[]), '{0.5}');
SELECT race_quantile(race_share(s, 1, 1e-6, 3), '{0.5}') FROM g;
DROP TABLE t, f, g, f2, p;
