-- surrogate losses: kernels least_squares and margin, race_loss, race_minimize

\set p '''least_squares(dims=3, power=3, radius=2, rows=256)'''
\set m '''margin(dims=3, power=4, radius=1, rows=256)'''

-- ------------------------------------------------------------- parameters
-- the range is 2^power; the radius of queries allows coefficients between -1 and 1
\pset format unaligned
SELECT race_params('least_squares', 4, power => 3, radius => 2, rows => 64);
SELECT race_params('margin', 3, power => 1, radius => 1, query_radius => 0.5, rows => 64);
\pset format aligned
SELECT :p::race_params::text::race_params = :p,
	race_params('least_squares', 3, power => 3, radius => 2, rows => 256) = :p AS made,
	:p::race_params = 'least_squares(dims=3, power=3, radius=2, rows=256, range=77)' AS range,
	:p::race_params <> 'least_squares(dims=3, power=3, radius=2.5, rows=256)' AS radius \gx
SELECT 'least_squares'::race_params;
SELECT 'margin(dims=3, power=4)'::race_params;
SELECT 'margin(dims=3, power=17, radius=1)'::race_params;
SELECT 'least_squares(dims=3, power=1, radius=1)'::race_params;
SELECT 'least_squares(dims=1, power=3, radius=1)'::race_params;
SELECT 'least_squares(dims=3, power=3, radius=-1)'::race_params;
SELECT 'least_squares(dims=3, power=3, radius=NaN)'::race_params;
SELECT 'least_squares(dims=3, power=3, radius=1, query_radius=1)'::race_params;
SELECT 'least_squares(dims=3, power=3, radius=1, rehash=multilinear)'::race_params;
SELECT 'l2(radius=1)'::race_params;
SELECT 'angular(query_radius=1)'::race_params;
SELECT 'least_squares(dims=3, power=3, radius=1, bandwidth=2)'::race_params;
SELECT 'margin(dims=3, power=4, radius=1, range=16) * match(dims=1)'::race_params;
SELECT race_params('least_squares', 3, power => 3, radius => 1, transform => ROW('{{1,0,0}}', NULL)::race_transform);

-- ------------------------------------------------------------------ losses
CREATE FUNCTION made(n int) RETURNS TABLE (i int, x float8[], label float8) LANGUAGE sql AS $$
	SELECT i, ARRAY[a, b, 0.5 * a - 0.25 * b + 0.3 * e], CASE WHEN 0.8 * a - 0.6 * b + 0.3 * e > 0 THEN 1 ELSE -1 END
	FROM generate_series(1, n) i, LATERAL (SELECT sin(i * 1.7) AS a, cos(i * 0.37 + 1) AS b, sin(i * i * 0.013) AS e) v
$$;
CREATE TABLE t AS SELECT * FROM made(20000);
CREATE TABLE s AS SELECT race_build(:p, x) AS s, race_build(:m, ARRAY[x[1], x[2], label]) AS m FROM t;
-- what rows estimate is near the mean of the exact losses: of both signs of the residual over radius and
-- query_radius, or of one of the margin
CREATE FUNCTION least_squares(theta float8[], x float8[]) RETURNS float8 LANGUAGE sql AS $$
	SELECT pow(0.5 + a, 3) + pow(0.5 - a, 3)
	FROM (SELECT asin((theta[1] * x[1] + theta[2] * x[2] - x[3]) / 2 / sqrt(3)) / pi() AS a) v
$$;
CREATE FUNCTION margin(theta float8[], x float8[]) RETURNS float8 LANGUAGE sql AS $$
	SELECT pow(0.5 - a, 4)
	FROM (
		SELECT asin(x[3] * (theta[1] * x[1] + theta[2] * x[2]) / greatest(1, sqrt(x[1] * x[1] + x[2] * x[2]))
			/ sqrt(3)) / pi() AS a
	) v
$$;
SELECT abs(race_loss(s, theta) - (SELECT avg(least_squares(theta, x)) FROM t)) < 0.05 AS least_squares,
       abs(race_loss(m, theta) - (SELECT avg(margin(theta, ARRAY[x[1], x[2], label])) FROM t)) < 0.05 AS margin
FROM s, (VALUES ('{0,0}'::float8[]), ('{1,-1}'), ('{0.3,0.9}')) v (theta);
-- records are clipped to the radius, of any size; and a label counts by its sign alone
SELECT race_build(:p, '{3,0,4}'::float8[])::text = race_build(:p, '{1.2,0,1.6}'::float8[])::text AS clipped,
       race_loss(race_build(:p, '{1e308,1e308,-1e308}'::float8[]), '{0.5,0.5}') BETWEEN 0 AND 2 AS huge,
       race_build(:m, '{1,0,7}'::float8[])::text = race_build(:m, '{1,0,1e-9}'::float8[])::text AS label,
       race_count(race_sketch(:p::race_params) + race_build(:p, '{3,0,4}'::float8[])) AS built;
SELECT race_loss(s, '{2,2}') FROM s;
SELECT race_loss(s, '{0,0,0}') FROM s;
SELECT race_loss(s, '{0,NaN}') FROM s;
SELECT race_loss(s, '{0,NULL}') FROM s;
SELECT race_loss(race_build('l2(dims=2, rows=8)', '{1,2}'::float8[]), '{1}');
SELECT race_loss(s, NULL) IS NULL AS "null" FROM s;

-- other questions compare lifted records by their angle
SELECT race_kernel(:p, '{1,0,1}'::float8[], '{1,0,1}'::float8[]) AS same,
	round(race_kernel(:p, '{0,0,2}'::float8[], '{0,2,0}'::float8[])::numeric, 10) AS right_angle,
	abs(race_kde(s, '{0.5,0.5,0}'::float8[]) - (
		SELECT avg(race_kernel(:p, x, '{0.5,0.5,0}'::float8[])) FROM t
	)) < 0.1 AS near
FROM s \gx
-- all that sketches can
SELECT race_count(race_merge(v)) FROM (SELECT race_build(:p, x) AS v FROM t GROUP BY i % 3) v;
SELECT race_count(race_remove(race_add(s, '{1,2,3}'::float8[]), '{1,2,3}'::float8[])),
	s::text::race_sketch::text = s::text AS text,
	race_params(s) = :p AS params
FROM s \gx

-- --------------------------------------------------------------- minimum
CREATE TABLE f AS SELECT race_fit(s, points => 500) AS f, race_fit(m, points => 500) AS m FROM s;
CREATE TABLE ols AS SELECT ARRAY[(xy * bb - by * ab) / d, (by * aa - xy * ab) / d] AS theta
FROM (
	SELECT *, aa * bb - ab * ab AS d
	FROM (
		SELECT sum(x[1] * x[1]) AS aa,
			sum(x[2] * x[2]) AS bb,
			sum(x[1] * x[2]) AS ab,
			sum(x[1] * x[3]) AS xy,
			sum(x[2] * x[3]) AS by
		FROM t
	) v
) v;
CREATE FUNCTION apart(a float8[], b float8[]) RETURNS float8
LANGUAGE sql AS 'SELECT sqrt(sum((x - y) ^ 2) / sum(y ^ 2)) FROM unnest(a, b) v (x, y)';
SELECT (SELECT bool_and(abs(x[1]) <= 2 AND abs(x[3]) <= 2) FROM race_points(f)) AS inside,
	abs((SELECT sum(weight) FROM race_points(f)) - 20000) < 1e-6 AS weights,
	race_fit(f, points => 500)::text = f::text AS again
FROM f \gx
SELECT (SELECT count(*) FROM race_points(race_fit(f, points => 1))) AS one,
	(SELECT count(*) FROM race_points(race_fit(f, points => 6))) AS six
FROM f;
-- the least loss is near least squares, and the same each time
SELECT apart(x, theta) < 0.12 AS near, abs(value - race_loss(f, x)) < 1e-12 AS value,
       r = race_minimize(f) AS again, value < race_loss(f, '{0,0}') AS least FROM f, ols, race_minimize(f) r;
-- a private one
SELECT apart(x, theta) < 0.3 AS near
FROM s, ols, race_minimize(race_fit(race_privatize(s, 5, 1e-6, rows => 256), points => 500)) m;
-- the direction of a margin is that of least squares
SELECT abs(sqrt(x[1] * x[1] + x[2] * x[2]) - sqrt(3)) < 1e-6 AS length,
	(x[1] * 0.8 - x[2] * 0.6) / sqrt(3) > 0.99 AS direction
FROM f, race_minimize(m);
SELECT race_minimize(race_build('l2(dims=2, rows=8)', '{1,2}'::float8[]));
SELECT race_minimize(NULL) IS NULL AS "null";
-- the rows alone
SELECT value IS NOT NULL AS asked FROM s, race_minimize(s);
-- ------------------------------------------------------ before budget is spent
SELECT rows FROM race_privacy_cost(:p, 1, 1e-6, records => 200000);
SELECT rows FROM race_privacy_cost(:p, 1, 1e-6, records => 5000);
SELECT rows FROM race_privacy_cost(:p, 1, 0, rows => 256, records => 20000);
SELECT rows FROM race_privacy_cost(:p, 1, 0, rows => 256, records => 200000);
-- of few records a minimum says nothing, but there is one
SET client_min_messages = error;
SELECT x IS NOT NULL AS found
FROM (
	SELECT race_fit(race_privatize(race_build(:p, x), 0.1, 1e-6, rows => 64)) AS f
	FROM (SELECT * FROM t LIMIT 20) t OFFSET 0
) v, race_minimize(f);
RESET client_min_messages;

DROP TABLE t, s, f, ols;
DROP FUNCTION made, apart;
