-- race_difference: by how much two sketches differ at a query

CREATE TABLE people AS SELECT i, i % 2 AS label,
	ARRAY[(i * 37 % 101) / 10.0 + i % 2, (i * 53 % 89) / 10.0]::float8[] AS x FROM generate_series(1, 2000) i;
CREATE FUNCTION builds(p race_params, OUT a race_sketch, OUT b race_sketch) LANGUAGE sql AS
	'SELECT race_build(p, x) FILTER (WHERE label = 0), race_build(p, x) FILTER (WHERE label = 1) FROM people';
CREATE TABLE truth AS SELECT q,
	avg(race_kernel('l2(bandwidth=2)', x, q)) FILTER (WHERE label = 0)
		- avg(race_kernel('l2(bandwidth=2)', x, q)) FILTER (WHERE label = 1) AS d
FROM people, (SELECT ARRAY[a, b]::float8[] AS q FROM generate_series(0, 12, 3) a, generate_series(0, 9, 3) b) v
GROUP BY q;

-- exact: seeds are fixed.  Row by row the standard error is less than by adding the variances of race_estimate.
CREATE TABLE s AS SELECT sequence,
	(builds(race_params('l2', 2, 2, rows => 1024, range => 128, seed => 3, sequence => sequence, lower => '{0,0}',
		upper => '{12,9}'))).*,
	(builds(race_params('l2', 2, 2, rows => 1024, range => 128, seed => 4, sequence => sequence, lower => '{0,0}',
		upper => '{12,9}'))).b AS other FROM unnest('{sobol,independent,grid}'::text[]) sequence;
SELECT sequence,
	bool_and(abs(difference - d) < 0.02) AS near,
	avg((d BETWEEN lower AND upper)::int) > 0.7 AS mostly,
	bool_and(lower < difference AND difference < upper) AS around,
	bool_and(difference = race_kde(a, q) - race_kde(b, q)) AS of_densities,
	sum(standard_error) < 0.7 * sum(sqrt((race_estimate(a, q)).standard_error ^ 2
		+ (race_estimate(b, q)).standard_error ^ 2)) AS paired
FROM s, truth, race_difference(a, b, q) GROUP BY sequence ORDER BY sequence;
-- another seed: variances are added
SELECT bool_and(abs(standard_error / sqrt((race_estimate(a, q)).standard_error ^ 2
		+ (race_estimate(other, q)).standard_error ^ 2) - 1) < 1e-9) AS added,
	bool_and(abs(difference - d) < 0.1) AS near
FROM s, truth, race_difference(a, other, q);
-- signs, itself, and confidence
SELECT bool_and(x.difference = -y.difference AND abs(x.standard_error - y.standard_error) < 1e-9
		AND abs(x.lower + y.upper) < 1e-9) AS mirrored,
	bool_and(z.difference = 0 AND z.standard_error < 1e-6) AS itself,
	bool_and(w.upper - w.lower > 1.2 * (x.upper - x.lower)) AS wider
FROM s, truth, race_difference(a, b, q) x, race_difference(b, a, q) y, race_difference(a, a, q) z,
	race_difference(a, b, q, 0.99) w WHERE sequence <> 'grid';
-- rows that are rehashed, models, and parts of a product
SELECT bool_and(abs(difference - d2) < 0.03) AS near, avg((d2 BETWEEN lower AND upper)::int) > 0.7 AS mostly
FROM builds('l2(dims=2, bandwidth=4, power=2, rows=1024, range=16)'),
	LATERAL (
		SELECT q,
			avg(race_kernel('l2(bandwidth=4, power=2)', x, q)) FILTER (WHERE label = 0)
				- avg(race_kernel('l2(bandwidth=4, power=2)', x, q)) FILTER (WHERE label = 1) AS d2
		FROM people, truth GROUP BY q
	) t, race_difference(a, b, q);
SELECT bool_and(abs(difference - d) < 0.03) AS near, avg((d BETWEEN lower AND upper)::int) > 0.7 AS mostly
FROM (
	SELECT race_fit(a, points => 200) AS a, race_fit(b, points => 200) AS b FROM s WHERE sequence = 'sobol' OFFSET 0
) f, truth, race_difference(f.a, f.b, q);
SELECT abs(difference - 0.5) < 0.1 AS near, 0.5 BETWEEN lower AND upper AS within
FROM (
	SELECT race_fit(a, r) AS a, race_fit(b, r) AS b
	FROM (
		SELECT race_build(p, ROW(ARRAY[i], ARRAY['a'])) AS a,
			race_build(p, ROW(ARRAY[i], ARRAY[CASE WHEN i % 2 = 0 THEN 'a' ELSE 'b' END])) AS b
		FROM (SELECT 'l2(dims=1, bandwidth=3, rows=256, range=64) * match(dims=1)'::race_params AS p) v,
			generate_series(1, 100) i
	) w, (SELECT ROW(ARRAY[i], ARRAY[c]) AS r FROM generate_series(0, 100, 4) i, unnest('{a,b}'::text[]) c) x
) y, race_difference(a, b, ROW(NULL, ARRAY['a']));
-- what comes out of an exact and a private one would not be private
SELECT race_difference(race_sketch('l2(dims=1)'::race_params),
	race_privatize(race_sketch('l2(dims=1)'::race_params), 1), '{1}');
-- private, by the name of a release's parts or not: 10 standard errors never fail by chance
SELECT bool_and(abs(difference - d) < 10 * standard_error AND standard_error < 0.2) AS near
FROM (
	SELECT race_privatize(a, 1, 1e-6) AS a, race_privatize(b, 1, 1e-6) AS b FROM s WHERE sequence = 'sobol' OFFSET 0
) p, truth, race_difference(p.a, p.b, q);
-- nothing can be said: one row, a count within its noise of zero
SELECT lower, upper FROM builds('l2(dims=2, rows=1, range=16)'), race_difference(a, b, '{1,1}');
-- ... as Laplace noise of a count is, but for one in 32: 16 of 40 are not with probability 1e-13
SELECT count(*) FILTER (WHERE lower = '-Infinity' AND upper = 'Infinity') > 24 AS most
FROM (
	SELECT race_privatize(race_sketch('l2(dims=1, rows=512, range=16)'::race_params), 0.001) AS p
	FROM generate_series(1, 40) OFFSET 0
) v, race_difference(p, p, '{1}');

SELECT race_difference(NULL, b, '{1,1}') IS NULL AS a,
	race_difference(a, b, NULL::int[]) IS NULL AS q,
	race_difference(a, b, '{1,1}', NULL) IS NULL AS confidence
FROM s WHERE sequence = 'sobol';
-- errors
SELECT race_difference(a, race_sketch('l2(dims=2, bandwidth=3, rows=10)'::race_params), '{1,1}')
FROM s WHERE sequence = 'sobol';
SELECT race_difference(race_sketch('l2(dims=1)'::race_params), race_sketch('l2(dims=1) * match(dims=1)'::race_params),
	'{1}');
SELECT race_difference(race_sketch('l2(dims=2, bandwidths={1,2})'::race_params),
	race_sketch('l2(dims=2, bandwidths={1,3})'::race_params), '{1,2}');
SELECT race_difference(a, b, '{1}') FROM s WHERE sequence = 'sobol';
SELECT race_difference(a, b, '{1,1}', 1) FROM s WHERE sequence = 'sobol';
SELECT race_difference(a, race_share(b, 1, 1e-6, 3, 1, 0), '{1,1}') FROM s WHERE sequence = 'sobol';
DROP TABLE people, truth, s;
DROP FUNCTION builds;
