-- race_modes: where the density is highest

-- two hills and a small one
CREATE TABLE t AS SELECT ARRAY[CASE i % 8 WHEN 0 THEN 7 WHEN 1 THEN 7 WHEN 2 THEN 9.5
	ELSE 2.5 END + (i % 21 - 10) / 20.0]::float8[] AS x FROM generate_series(1, 840) i;
CREATE TABLE s AS SELECT race_build('l2(dims=1, bandwidth=0.5, rows=512, range=512, power=2, lower={0}, upper={10})',
	x) AS s FROM t;
CREATE TABLE f AS SELECT race_fit(s) AS f FROM s;
CREATE TABLE g AS SELECT race_build(race_params('l2', 1, 0.5, 2, sequence => 'grid', lower => '{0}', upper => '{10}'),
	x) AS s FROM t;

-- fitted, raw, and grids
CREATE FUNCTION hills(s race_sketch) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(CASE WHEN abs(x[1] - 2.5) < 0.4 THEN 'A' WHEN abs(x[1] - 7) < 0.4 THEN 'B'
			WHEN abs(x[1] - 9.5) < 0.5 THEN 'C' ELSE '?' END, '')
	FROM race_modes(s, 3)
$$;
SELECT hills(f) FROM f;
SELECT hills(s) FROM s;
SELECT hills(s) AS grid, hills(race_fit(s)) AS fitted FROM g;
-- densities are those of race_kde, the best has its own for prominence, and the order is that of prominence
SELECT bool_and(kernel_density = race_kde(f, x)) AS density,
	max(kernel_density) = max(prominence) AS first,
	bool_and(prominence > 0 AND prominence <= kernel_density) AS prominent,
	bool_and(falls) AS ordered
FROM (
	SELECT f, m.*, lag(prominence) OVER (ORDER BY ordinality) >= prominence IS NOT FALSE AS falls
	FROM f, race_modes(f, 10) WITH ORDINALITY m
) v \gx
-- no place nearby is denser
SELECT bool_and(race_kde(f, ARRAY[x[1] + d / 100.0]) <= kernel_density + 1e-9) AS maxima
FROM f, race_modes(f, 3), generate_series(-10, 10) d WHERE x[1] + d / 100.0 BETWEEN 0 AND 10;
-- prominence: the depth of the valley between
SELECT abs(m.prominence - (m.kernel_density - valley)) < 0.02 AS valley
FROM f, LATERAL (SELECT * FROM race_modes(f, 2) OFFSET 1) m,
	LATERAL (SELECT min(race_kde(f, ARRAY[i / 20.0])) AS valley FROM generate_series(50, 140) i) v;
-- the same again, and fewer
SELECT (SELECT array_agg(m) FROM race_modes(s) m) = (SELECT array_agg(m) FROM race_modes(s) m) AS same,
	(SELECT count(*) FROM race_modes(s, 1)) AS one
FROM s;
-- within other bounds
SELECT count(*) > 0 AND bool_and(x[1] BETWEEN 5 AND 8) AS inside FROM f, race_modes(f, 3, '{5}', '{8}');
SELECT count(*) > 0 AND bool_and(x[1] BETWEEN 5 AND 8) AS inside
FROM s, race_modes(s, 3, lower => ARRAY[5], upper => ARRAY[8]);
SELECT x FROM s, race_modes(s, 3, '{3}', '{3}');
-- a ring in the plane, a kernel with a transform, and directions, of few points
SELECT abs(sqrt(x[1] ^ 2 + x[2] ^ 2) - 5) < 1 AS ring
FROM race_modes((
		SELECT race_fit(race_build('l2(dims=2, rows=64, range=256)', ARRAY[5 * sin(i), 5 * cos(i)]), points => 500,
			lower => '{-9,-9}', upper => '{9,9}')
		FROM generate_series(1, 200) i
	), 1, '{-9,-9}', '{9,9}');
SELECT abs(x[1] - 3) < 0.5 AND abs(x[2] - 4) < 0.5 AS near
FROM race_modes((
		SELECT race_fit(race_build(race_params('l2', 2, rows => 64,
					transform => ROW('{{2,1},{0,1}}', NULL)::race_transform), ARRAY[3 + sin(i) / 9, 4 + cos(i) / 9]),
			points => 500, lower => '{0,0}', upper => '{9,9}')
		FROM generate_series(1, 50) i
	), 1, '{0,0}', '{9,9}');
SELECT abs(atan2(x[2], x[1]) - 0.6) < 0.1 AS direction
FROM race_modes((
		SELECT race_fit(race_build('angular(dims=2, power=8, rows=64, range=256)', ARRAY[cos(0.6), sin(0.6)]),
			points => 500, lower => '{0.1,0.1}', upper => '{1,1}')
		FROM t
	), 1, '{0.1,0.1}', '{1,1}');
-- an empty sketch
SELECT count(*) < 10 AS few
FROM race_modes(race_sketch('l2(dims=1, rows=16, range=16, lower={0}, upper={1})'::race_params));

-- NULLs and errors
SELECT count(*) FROM race_modes(NULL);
SELECT count(*) FROM s, race_modes(s, NULL);
SELECT race_modes(s, 0) FROM s;
SELECT race_modes(s, 101) FROM s;
SELECT race_modes(s, 1, '{5}', '{4}') FROM s;
SELECT race_modes(s, 1, '{0,0}', '{1,1}') FROM s;
SELECT race_modes(s, 1, '{-Infinity}', '{1}') FROM s;
SELECT race_modes(race_build('l2(dims=1)', '{5}'::float8[]));
SELECT race_modes(race_build('match(dims=1)', ARRAY['a']));
SELECT race_modes(race_share(s, 1, 1e-6, 3)) FROM s;
DROP TABLE t, s, f, g;
DROP FUNCTION hills;
