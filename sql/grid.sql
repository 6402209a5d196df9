-- grids: records split over nodes, questions by the exact kernel, and what releases keep
\set VERBOSITY terse

-- parameters
\pset format unaligned
SELECT regexp_split_to_table(race_params('l2', 1, 5, sequence => 'grid', lower => '{0}', upper => '{100}')::text, ', ')
	AS params;
SELECT regexp_split_to_table(race_params('l1', 2, bandwidths => '{5,50}', sequence => 'grid', lower => '{0,0}',
	upper => '{100,1000}')::text, ', ') AS params;
\pset format aligned
SELECT race_params('l2', 1, sequence => 'grid', lower => '{0}', upper => '{1}', cells => '{7}', rows => 99);
SELECT p = p::text::race_params AS text
FROM race_params('l2', 3, 5, sequence => 'grid', lower => '{0,0,0}', upper => '{50,60,70}') p;
SELECT race_params('l2', 1, sequence => 'grid');
SELECT race_params('l2', 1, sequence => 'grid', lower => '{-Infinity}', upper => '{1}');
SELECT race_params('l2', 1, sequence => 'grid', lower => '{1}', upper => '{1}');
SELECT race_params('l2', 4, sequence => 'grid', lower => '{0,0,0,0}', upper => '{1,1,1,1}');
SELECT race_params('angular', 2, sequence => 'grid', lower => '{0,0}', upper => '{1,1}');
SELECT race_params('l2', 1, power => 17, sequence => 'grid', lower => '{0}', upper => '{1}');
SELECT race_params('l2', 1, sequence => 'grid', lower => '{0}', upper => '{1}', cells => '{7.5}');
SELECT race_params('l2', 1, sequence => 'grid', lower => '{0}', upper => '{1}', cells => '{3e6}');
SELECT race_params('l2', 1, sequence => 'grid', lower => '{0}', upper => '{1}',
	transform => ROW('{{2}}', NULL)::race_transform);
SELECT race_params('l2', 1, lower => '{0}', upper => '{1}', cells => '{7}');
SELECT race_sketch('l2(dims=1, sequence=grid, lower={0}, upper={64}, cells={64}, range=82)'::race_params);

-- what exact grids answer: all kernels, all dims, anywhere in the box
CREATE TABLE t AS SELECT i, ARRAY[50 + 30 * sin(i), 40 + 20 * cos(i * 0.7), 60 + 25 * sin(i * 0.3)]::float8[] AS x
FROM generate_series(1, 2000) i;
CREATE TABLE q AS SELECT ARRAY[10 + 8 * i, 90 - 7 * i, 30 + 5 * (i % 7)]::float8[] AS q FROM generate_series(0, 10) i;
CREATE TABLE g AS SELECT kernel, d, power,
	race_params(kernel, d, 20, power, sequence => 'grid', lower => array_fill(0::float8, ARRAY[d]),
		upper => array_fill(100::float8, ARRAY[d])) AS p
FROM unnest('{l2,l1}'::text[]) kernel, generate_series(1, 3) d, unnest('{1,2}'::int[]) power;
CREATE TABLE s AS SELECT kernel, d, power, p, race_build(p, x[1:d]) AS s FROM g, t GROUP BY 1, 2, 3, 4;
SELECT kernel, d, power, max(abs(race_kde(s, q[1:d]) - f)) < 0.005 AS close,
       max(abs(race_kernel_sum(s, q[1:d], 24) - race_kernel_sum(s, q[1:d]))) = 0 AS median
FROM s, q, LATERAL (SELECT avg(race_kernel(p, x[1:d], q[1:d])) AS f FROM t) e GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
SELECT bool_and(lower <= kernel_density AND kernel_density <= upper AND upper - lower < 0.1) AS intervals
FROM s, q, race_estimate(s, q[1:d]);

-- a Gaussian kernel in place of theirs: the density that scikit-learn has, whatever the kernel of the grid is
SELECT kernel, d, max(abs(e.kernel_density - f) * (2.5066 * h) ^ d) < 0.001 AS close
FROM s, q, unnest('{8,20,40}'::float8[]) h, race_estimate(s, q[1:d], bandwidth => h) e,
	LATERAL (
		SELECT avg(exp(-((x[1] - q[1]) ^ 2 + CASE WHEN d > 1 THEN (x[2] - q[2]) ^ 2 ELSE 0 END + CASE
			WHEN d > 2 THEN (x[3] - q[3]) ^ 2 ELSE 0 END) / (2 * h * h))) / (h * sqrt(2 * pi())) ^ d AS f
		FROM t
	) w WHERE power = 1 GROUP BY 1, 2 ORDER BY 1, 2;
-- its intervals know the noise: by chance not once in 10^9 runs; the control supposes a fifth of it
WITH r AS MATERIALIZED (
		SELECT race_privatize(s, 1) AS s FROM s, generate_series(1, 40) WHERE kernel = 'l2' AND d = 1 AND power = 1
	),
	e AS (
		SELECT ((e.kernel_density - w.kernel_density) / e.standard_error) ^ 2 AS z
		FROM r, race_estimate(r.s, '{45}', bandwidth => 15) e, s, race_estimate(s.s, '{45}', bandwidth => 15) w
		WHERE kernel = 'l2' AND d = 1 AND power = 1
	)
SELECT sum(z) < 80 AS held, 25 * sum(z) < 80 AS control
FROM e;
SELECT race_estimate(s, '{45}', bandwidth => 0) FROM s WHERE d = 1 LIMIT 1;
SELECT race_estimate(s, '{45}', bandwidth => 'NaN') FROM s WHERE d = 1 LIMIT 1;
SELECT race_estimate(race_build('match(dims=1)', c), c, bandwidth => 1) FROM (SELECT '{a}'::text[] AS c) v GROUP BY c;
SELECT race_estimate(race_build('l2(dims=1)', x), x, bandwidth => 1) FROM (SELECT '{1}'::float8[] AS x) v GROUP BY x;

-- where records lie smoothly, cells of half a bandwidth change little; the sum of the kernel over nodes errs by 2 %
-- in one dimension
SELECT d, sqrt(avg((race_kernel_sum(c, q[1:d]) / race_kernel_sum(s, q[1:d]) - 1) ^ 2)) < 0.002 AS smooth
FROM (
	SELECT d,
		race_build(p, x[1:d]) AS s,
		race_build(race_params('l2', d, 20, sequence => 'grid', lower => array_fill(0::float8, ARRAY[d]),
				upper => array_fill(100::float8, ARRAY[d]), cells => array_fill(10::float8, ARRAY[d])), x[1:d]) AS c
	FROM g,
		(
			SELECT ARRAY[50 + 10 * sqrt(-2 * ln((i + 0.5) / 5000)) * sin(i * 2.3999632),
				50 + 10 * sqrt(-2 * ln((i + 0.5) / 5000)) * cos(i * 2.3999632), i % 100 + 0.5]::float8[] AS x
			FROM generate_series(0, 4999) i
		) t WHERE kernel = 'l2' AND power = 1 GROUP BY d
) v, (SELECT ARRAY[30 + 2 * i, 70 - 2 * (i % 7), 10 * i]::float8[] AS q FROM generate_series(0, 10) i) w GROUP BY d
ORDER BY d;

-- numbers that many records share, on nodes and between them: the projection alone would be off by .002 to .008
SELECT cells, max(abs(race_kde(s, q) - f)) < 1e-4 AS shared
FROM unnest('{40,41,43}'::float8[]) cells,
	LATERAL (
		SELECT race_params('l2', 1, 10, sequence => 'grid', lower => '{0}', upper => '{100}',
			cells => ARRAY[cells]) AS p
	) v, LATERAL (SELECT race_build(p, ARRAY[10 * (i % 8 + 1)]::float8[]) AS s FROM generate_series(1, 4000) i) w,
	generate_series(0, 50) j, LATERAL (SELECT ARRAY[2.0 * j]::float8[] AS q) u,
	LATERAL (SELECT avg(race_kernel(p, ARRAY[10 * i]::float8[], q)) AS f FROM generate_series(1, 8) i) e GROUP BY cells
ORDER BY cells;

-- adding, removing, merging and windows are exact
SELECT bool_and((race_remove(race_add(s, '{1.25,3,99}'::float8[]), '{1.25,3,99}'::float8[]))::text = s::text) AS back
FROM s WHERE d = 3;
SELECT bool_and(m::text = s::text) AS merged
FROM s, LATERAL (SELECT race_merge(part) AS m FROM (SELECT race_build(p, x[1:d]) AS part FROM t GROUP BY i % 3) v) w;
SELECT bool_and(s::text::race_sketch::text = s::text) AS text FROM s;
SELECT count(DISTINCT race_count(s)) = 1 AS counts FROM s;
-- what lies outside the bounds is clipped
SELECT race_build(p, '{-7,200,50}'::float8[])::text = race_build(p, '{0,100,50}'::float8[])::text AS clipped
FROM g WHERE d = 3 AND kernel = 'l2' AND power = 1;

-- releases: noise of one unit in each level, cells chosen, nothing dropped but fine cells
SELECT d,
	i.rows,
	round((i.counter_noise_stddev * 0.95 / sqrt(2))::numeric, 1) AS units,
	i.epsilon BETWEEN 0.99 AND 1 AS cost
FROM s, LATERAL (SELECT race_privatize(s, 1, rows => 1) AS r OFFSET 0) v, race_info(r) i
WHERE s.kernel = 'l2' AND s.power = 1 ORDER BY d;
SELECT bool_and(i.range <= (race_params(s)::text ~ 'dims=3')::int * 10000000 + 2000000 AND i.status = 'private'
	AND i.rows = 1) AS kept
FROM s, unnest('{0.01,0.1,1,100}'::float8[]) e, unnest('{0,1e-6}'::float8[]) delta,
	LATERAL (SELECT race_privatize(s, e, delta) AS r OFFSET 0) v, race_info(r) i;
SELECT bool_and(race_kde(r, '{50,40,60}'::float8[]) BETWEEN -10 AND 10) AS finite
FROM s, unnest('{0.001,0.1,1,100}'::float8[]) e, LATERAL (SELECT race_privatize(s, e) AS r OFFSET 0) v WHERE d = 3;
SELECT abs(race_kde(race_privatize(s, 1000), '{50}'::float8[]) - race_kde(s, '{50}'::float8[])) < 0.01 AS near
FROM s WHERE d = 1 AND kernel = 'l2' AND power = 1;
SELECT abs(race_count(race_merge(r)) - 2000) < 40 AS shares
FROM s, LATERAL (SELECT race_share(race_build(p, x[1:d]), 1000, 1e-6, 4) AS r FROM t GROUP BY i % 4) v
WHERE kernel = 'l2' AND d = 2 AND power = 1;
SELECT race_privatize(s, 1, rows => 2) FROM s LIMIT 1;
SELECT (c).rows, (c).kernel_density_stddev > 0 AS stddev
FROM (SELECT race_privacy_cost(p, 1, records => 1000) AS c FROM g WHERE d = 2 LIMIT 1) v;
SELECT race_privacy_cost(p, 1) FROM g LIMIT 1;

-- nodes add up to the records, whatever the noise: where the kernel is 1 everywhere, so is the density
SELECT d,
	bool_and(abs(race_kde(r, array_fill(0.3::float8, ARRAY[d])) - 1) < 1e-4) AS one
FROM generate_series(1, 3) d, unnest('{1,10}'::float8[]) e,
	LATERAL (
		SELECT race_privatize(race_build(race_params('l2', d, 1e6, sequence => 'grid',
					lower => array_fill(0::float8, ARRAY[d]), upper => array_fill(1::float8, ARRAY[d])), x[1:d]),
			e) AS r
		FROM t
	) v GROUP BY d ORDER BY d \gx

-- private grids of different cells meet at those that both have, in either order; noise counts for each halving and
-- axis
CREATE FUNCTION gridded(d int, cells float8, epsilon float8) RETURNS race_sketch LANGUAGE sql AS
	$$
	SELECT race_privatize(race_build(race_params('l2', d, 20, sequence => 'grid',
				lower => array_fill(0::float8, ARRAY[d]), upper => array_fill(100::float8, ARRAY[d]),
				cells => array_fill(cells, ARRAY[d])), x[1:d]), epsilon, rows => 1)
	FROM t $$;
SELECT d,
	(a + b)::text = (b + a)::text AS same,
	i.range = j.range AS cells,
	abs(i.counter_noise_stddev / sqrt(j.counter_noise_stddev ^ 2 + 4 ^ d
		* k.counter_noise_stddev ^ 2) - 1) < 1e-6 AS noise,
	abs(i.epsilon / (j.epsilon + k.epsilon) - 1) < 1e-9 AS cost,
	(SELECT max(abs(race_kde(a + b, q[1:d]) - race_kde(b, q[1:d]))) < 1e-3 FROM q) AS close
FROM generate_series(1, 3) d, LATERAL (SELECT gridded(d, 64, 1e5) AS a, gridded(d, 16, 1e5) AS b OFFSET 0) v,
	race_info(a + b) i, race_info(b) j, race_info(a) k ORDER BY d;
SELECT gridded(1, 64, 1) + gridded(1, 30, 1);
-- ... whatever the noise leaves of a grid, in levels, too
CREATE TABLE kept AS SELECT d, e, race_privatize(s, e) AS r FROM s, unnest('{0.01,0.3,10,1000}'::float8[]) e
WHERE kernel = 'l2' AND power = 1 AND d < 3;
SELECT d,
	count(DISTINCT i.range) > 1 AS differ,
	bool_and(j.range = least(i.range, k.range) OR d > 1 AND j.range < greatest(i.range, k.range)) AS met,
	bool_and(abs(race_count(a.r + b.r) - race_count(a.r) - race_count(b.r)) < 1e-6) AS counts
FROM kept a JOIN kept b USING (d), race_info(a.r) i, race_info(b.r) k, race_info(a.r + b.r) j GROUP BY d ORDER BY d;
SELECT d, (race_info(race_merge_disjoint(r))).epsilon = max((race_info(r)).epsilon) AS disjoint
FROM kept GROUP BY d ORDER BY d;
DROP TABLE kept;
DROP FUNCTION gridded;

-- models of grids are not asked: the grid itself is
SELECT d,
	bool_and(i.points > 0) AS points,
	bool_and(i.misfit = 1000000) AS untested,
	bool_and(race_kde(f, q) BETWEEN 0 AND 1) AS sound
FROM s,
	LATERAL (
		SELECT race_fit(race_privatize(s, 1), points => 300) AS f,
			(SELECT array_agg(50.0) FROM generate_series(1, d))::float8[] AS q OFFSET 0
	) v, race_info(f) i WHERE s.power = 1 GROUP BY d ORDER BY d;

-- all records share a place
CREATE TEMP TABLE place AS SELECT d,
	race_privatize(race_build(race_params('l2', d, 0.1, sequence => 'grid', lower => array_fill(0::float8, ARRAY[d]),
				upper => array_fill(1::float8, ARRAY[d]), cells => array_fill(32::float8, ARRAY[d])),
			array_fill(0.27::float8, ARRAY[d])), 1e5) AS r
FROM generate_series(1, 3) d, generate_series(1, 1000) GROUP BY d;
-- a fit of round numbers is not asked where the grid knows better
SELECT abs(race_kde(race_fit(r), '{0.27}') - race_kde(r, '{0.27}')) < 0.01 AS kept FROM place WHERE d = 1;

-- the release procedure makes grids where they are better
CALL race_protect('points', 't', epsilon_limit => 100, delta_limit => 1e-3, unit_column => 'i', max_contributions => 1);
SET client_min_messages = warning;
CALL race_release_sketch('pure', 'points', race_params('l2', 2, 20, lower => '{0,0}', upper => '{100,100}'), 'x[1:2]',
	1);
CALL race_release_sketch('pure', 'points', race_params('l2', 2, 20, lower => '{0,0}', upper => '{100,100}'), 'x[1:2]',
	1);
CALL race_release_next('pure');
CALL race_release_sketch('rows', 'points', race_params('l2', 2, 20, rows => 64, lower => '{0,0}', upper => '{100,100}'),
	'x[1:2]', 1, grid => false, fit => false);
CALL race_release_sketch('delta', 'points',
	race_params('l2', 2, 20, rows => 64, lower => '{0,0}', upper => '{100,100}'), 'x[1:2]', 1, 1e-6);
CALL race_release_sketch('delta in three dimensions', 'points',
	race_params('l2', 3, 20, rows => 64, lower => '{0,0,0}', upper => '{100,100,100}'), 'x', 1, 1e-6, fit => false);
CALL race_release_sketch('delta in one dimension', 'points',
	race_params('l2', 1, 20, rows => 64, lower => '{0}', upper => '{100}'), 'x[1:1]', 1, 1e-6);
CALL race_release_sketch('delta asked', 'points',
	race_params('l2', 1, 20, rows => 64, lower => '{0}', upper => '{100}'), 'x[1:1]', 1, 1e-6, rows => 64);
CALL race_release_sketch('delta of a grid', 'points',
	race_params('l2', 2, 20, lower => '{0,0}', upper => '{100,100}', sequence => 'grid'), 'x[1:2]', 1, 1e-6);
CALL race_release_sketch('unbounded', 'points', race_params('l2', 2, 20, rows => 64), 'x[1:2]', 1);
CALL race_release_sketch('no grid', 'points', race_params('l2', 2, 20), 'x[1:2]', 1, grid => true);
CALL race_release_sketch('no fit', 'points', race_params('l2', 2, 20), 'x[1:2]', 1, fit => true);
CALL race_release_sketch('halves', 'points', race_params('l2', 2, 20, lower => '{0,0}', upper => '{100,100}'), 'x[1:2]',
	1, label => '(i % 2)::text', labels => '{0,1}');
RESET client_min_messages;
SELECT spent_epsilon, charges FROM race_budget_status WHERE budget = 'points';
SELECT name, version, label, sequence, points IS NOT NULL AS fitted, i.delta
FROM _racepriv.race_releases, race_info(sketch) i WHERE dataset = 'points' ORDER BY 1, 2, 3;
SELECT bool_and(race_kde(sketch, '{50,40}') > 0) AS density
FROM _racepriv.race_releases WHERE name IN ('pure', 'delta', 'halves');

DROP TABLE s, g, q, t CASCADE;

-- cells of any size give numbers
SELECT k, b,
	race_kde(race_build(race_params(k, 1, b, lower => '{-1e300}', upper => '{1e300}', sequence => 'grid',
				cells => '{100}'), '{1}'), '{1}') BETWEEN 0 AND 1 AS ok
FROM unnest('{l1,l2}'::text[]) k, unnest('{1e-100,1,1e100}'::float8[]) b GROUP BY 1, 2 ORDER BY 1, 2;
