-- race_distance, and the similarity that it tells

\set p '''l2(dims=1, bandwidth=1, rows=256, range=512)'''
\set g '''l2(dims=1, bandwidth=1, sequence=grid, lower={0}, upper={20})'''

-- 100 records around 5, another 60 there, and 80 around 8
CREATE TABLE t AS
SELECT 'a' AS name, ARRAY[5 + sin(i) * 2]::float8[] AS x FROM generate_series(1, 100) i UNION ALL
SELECT 'b', ARRAY[5 + sin(i + 0.5) * 2] FROM generate_series(1, 60) i UNION ALL
SELECT 'c', ARRAY[8 + cos(i) * 2] FROM generate_series(1, 80) i;
CREATE TABLE s AS SELECT name, race_build(:p, x) AS rows, race_build(:g, x) AS grid,
	race_build('l2(dims=1, bandwidth=1, rows=2048, range=16, rehash=multilinear)', x) AS rehashed FROM t GROUP BY name;
-- the exact kernel means: of all pairs, and of two different records
CREATE TABLE truth AS SELECT a, b, avg(k) AS v, avg(k) FILTER (WHERE a <> b OR i <> j) AS u
FROM (
	SELECT p.name AS a, q.name AS b, p.i, q.i AS j, race_kernel('l2(bandwidth=1)', p.x, q.x) AS k
	FROM (SELECT *, row_number() OVER () AS i FROM t) p, (SELECT *, row_number() OVER () AS i FROM t) q
) w GROUP BY a, b;

-- ---------------------------------------------------------------- similarity
SELECT a,
	b,
	abs((race_distance(p.rows, q.rows)).similarity - v) < 0.01 AS rows,
	abs((race_distance(p.grid, q.grid)).similarity - v) < 0.001 AS grid,
	abs((race_distance(p.rehashed, q.rehashed)).similarity - v) < 0.02 AS rehashed,
	(race_distance(p.rows, q.rows)).similarity = (race_distance(q.rows, p.rows)).similarity AS symmetric
FROM truth, s p, s q WHERE p.name = a AND q.name = b ORDER BY a, b;
SELECT (race_distance(NULL, rows)).similarity IS NULL AS a,
	(race_distance(rows, NULL)).similarity IS NULL AS b,
	race_distance(NULL, rows) IS NULL AS c
FROM s WHERE name = 'a';

-- ------------------------------------------------------------------ distance
CREATE VIEW distances AS
SELECT p.name AS a, q.name AS b, kind, d.* FROM s p, s q, LATERAL (VALUES ('rows', race_distance(p.rows, q.rows)),
	('grid', race_distance(p.grid, q.grid)), ('rehashed', race_distance(p.rehashed, q.rehashed))) v (kind, r),
	LATERAL (SELECT (r).*) d;
SELECT kind,
	d.a,
	d.b,
	abs(squared - (aa.u + bb.u - 2 * ab.u)) < CASE kind WHEN 'grid' THEN 0.001 ELSE 0.02 END AS right,
	abs(distance - sqrt(greatest(squared, 0))) < 1e-12 AS root,
	standard_error BETWEEN 1e-4 AND 0.2 AS error,
	p_value < 0.001 AS different
FROM distances d, truth aa, truth ab, truth bb
WHERE d.a < d.b AND aa.a = d.a AND aa.b = d.a AND ab.a = d.a AND ab.b = d.b AND bb.a = d.b AND bb.b = d.b
ORDER BY 1, 2, 3;
-- a sketch and itself, also fitted, and in memory
SELECT kind, count(*)
FROM distances WHERE a = b AND (distance, p_value) = (0, 1) AND squared <= 0 GROUP BY kind ORDER BY kind;
SELECT (race_distance(rows, race_fit(rows, lower => '{0}', upper => '{20}'))).p_value AS fitted FROM s WHERE name = 'a';
SELECT (race_distance(rows, race_remove(race_add(rows, '{1}'), '{1}'))).p_value AS changed_and_back
FROM s WHERE name = 'a';
-- the model does not matter
SELECT race_distance(race_fit(p.rows, lower => '{0}', upper => '{20}'), q.rows) = race_distance(p.rows, q.rows) AS same
FROM s p, s q WHERE p.name = 'a' AND q.name = 'c';
-- rows that only one has, and cells: what both have is compared
CREATE TABLE private AS SELECT name, n, race_privatize(rows, 1e9, rows => n) AS rows
FROM s, unnest('{64,256}'::int[]) n;
SELECT abs((race_distance(p.rows, q.rows)).squared / (race_distance(r.rows, q.rows)).squared - 1) < 1e-6 AS first_rows
FROM private p, private q, private r
WHERE p.name = 'a' AND p.n = 256 AND q.name = 'c' AND q.n = 64 AND r.name = 'a' AND r.n = 64;
CREATE TABLE grids AS SELECT name, cells,
	race_privatize(race_build(race_params('l2', 1, 1, sequence => 'grid', lower => '{0}', upper => '{20}',
				cells => ARRAY[cells]), x), 1e9, fit => true) AS grid FROM t, unnest('{64,256}'::int[]) cells
GROUP BY name, cells;
SELECT p.cells, q.cells, abs((race_distance(p.grid, q.grid)).squared - (aa.u + bb.u - 2 * ab.u)) < 0.005 AS right
FROM grids p, grids q, truth aa, truth ab, truth bb
WHERE p.name = 'a' AND q.name = 'c' AND aa.a = 'a' AND aa.b = 'a' AND ab.a = 'a' AND ab.b = 'c' AND bb.a = 'c'
	AND bb.b = 'c' ORDER BY 1, 2;

-- other kernels, and grids in two and three dimensions, of l2 and of l1
CREATE TABLE r AS SELECT i, i % 3 = 0 AS part,
	ARRAY[sin(i) + (i % 3), cos(i * 0.7) + (i % 3), sin(i * 0.3)]::float8[] AS x FROM generate_series(1, 300) i;
CREATE TABLE kinds (params race_params, dims int);
INSERT INTO kinds
VALUES ('l2(dims=3, rows=2048, range=128)', 3), ('l2(dims=3, power=2, rows=2048, range=64)', 3),
	('l1(dims=3, rows=2048, range=128)', 3),
	('angular(dims=3, power=3, rows=2048, range=8)', 3), ('l2(dims=2, sequence=grid, lower={-2,-2}, upper={4,4})', 2),
	('l2(dims=3, sequence=grid, lower={-2,-2,-2}, upper={4,4,4})', 3),
	('l1(dims=2, sequence=grid, lower={-2,-2}, upper={4,4})', 2),
	('l2(dims=2, power=2, sequence=grid, lower={-2,-2}, upper={4,4})', 2);
CREATE TABLE built AS SELECT params, dims, part, race_build(params, x[1:dims]) AS s FROM kinds, r GROUP BY 1, 2, 3;
\pset format unaligned
SELECT split_part(params::text, ', seed', 1) AS params,
	abs((race_distance(a.s, b.s)).similarity / k.v - 1) < 0.05 AS similarity,
	abs(d.squared / (k.aa + k.bb - 2 * k.v) - 1) < 0.1 AS squared,
	d.p_value < 1e-3 AS different
FROM built a
	JOIN built b USING (params, dims), LATERAL race_distance(a.s, b.s) d,
		LATERAL (
			SELECT avg(k) FILTER (WHERE p.part AND NOT q.part) AS v,
				avg(k) FILTER (WHERE p.part AND q.part AND p.i <> q.i) AS aa,
				avg(k) FILTER (WHERE NOT p.part AND NOT q.part AND p.i <> q.i) AS bb
			FROM r p, r q, LATERAL (SELECT race_kernel(params, p.x[1:dims], q.x[1:dims]) AS k) w
		) k WHERE a.part AND NOT b.part ORDER BY a.params::text COLLATE "C";
\pset format aligned
SELECT (race_distance(a, b)).similarity BETWEEN 0.3 AND 0.4 AS jaccard
FROM (
	SELECT race_build('jaccard(rows=1024, range=64)', '{1,2}'::int[]) AS a,
		race_build('jaccard(rows=1024, range=64)', '{2,3}'::int[]) AS b
) v;

-- ------------------------------------------------------- few and no records
CREATE TABLE few AS SELECT n, (SELECT race_build(:p, ARRAY[5 + i * 0]::float8[]) FROM generate_series(1, n) i) AS s
FROM generate_series(1, 3) n;
INSERT INTO few VALUES (0, race_sketch(:p::race_params));
SELECT a.n,
	b.n,
	(race_distance(a.s, b.s)).standard_error AS error,
	(race_distance(a.s, b.s)).p_value,
	round((race_distance(a.s, b.s)).similarity::numeric, 6) AS similarity
FROM few a, few b WHERE a.n < b.n ORDER BY 1, 2;
-- a count within its noise says nothing
SELECT bool_and(((race_distance(a, b)).standard_error, (race_distance(a, b)).p_value) = ('Infinity', 1)) AS nothing,
	bool_and((race_distance(a, b)).similarity < 'Infinity') AS finite
FROM (
	SELECT race_privatize(race_build('l2(dims=1, rows=4, range=16)', ARRAY[i]), 0.01) AS a,
		race_privatize(race_build('l2(dims=1, rows=4, range=16)', ARRAY[i]), 0.01) AS b
	FROM generate_series(1, 100) i GROUP BY i
) v WHERE race_count(a) < 2 * (race_info(a)).count_noise_stddev;

-- -------------------------------------------------------------------- errors
SELECT race_distance(rows, race_privatize(rows, 1)) FROM s WHERE name = 'a';
SELECT (race_distance(race_privatize(rows, 1), rows)).similarity FROM s WHERE name = 'a';
SELECT race_distance(rows, race_sketch('l2(dims=1, bandwidth=2, rows=256, range=512)'::race_params))
FROM s WHERE name = 'a';
\set VERBOSITY sqlstate
SELECT (race_distance(rows, race_sketch('l2(dims=1, bandwidth=1, rows=256, range=256)'::race_params))).similarity
FROM s WHERE name = 'a';
SELECT race_distance(rows, race_sketch('l2(dims=1, bandwidth=1, rows=256, range=512, seed=1)'::race_params))
FROM s WHERE name = 'a';
SELECT race_distance(rows, grid) FROM s WHERE name = 'a';
SELECT race_distance(rows, race_sketch('jaccard'::race_params)) FROM s WHERE name = 'a';
SELECT race_distance(grid, race_sketch('l2(dims=1, bandwidth=1, sequence=grid, lower={0}, upper={21})'::race_params))
FROM s WHERE name = 'a';
SELECT race_distance(grid,
	race_sketch('l2(dims=1, bandwidth=1, sequence=grid, lower={0}, upper={20}, cells={96})'::race_params))
FROM s WHERE name = 'a';
SELECT race_distance(grid,
	race_sketch('l2(dims=2, bandwidth=1, sequence=grid, lower={0,0}, upper={20,20})'::race_params))
FROM s WHERE name = 'a';
SELECT race_distance(x, x) FROM (SELECT race_share(rows, 1, 1e-6, 3, 1, 0) AS x FROM s WHERE name = 'a') v;
\set VERBOSITY default

-- ------------------------------------------------- parallel plans, rollback
SELECT md5(string_agg(d::text, ' ' ORDER BY a, b, kind)) AS serial FROM distances d \gset
BEGIN;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SET LOCAL max_parallel_workers_per_gather = 2;
ALTER TABLE s SET (parallel_workers = 2);
SELECT md5(string_agg(d::text, ' ' ORDER BY a, b, kind)) = :'serial' AS same FROM distances d;
ROLLBACK;
DROP VIEW distances;
DROP TABLE t, s, truth, private, grids, r, kinds, built, few;
