-- race_whiten: a transform from public data

CREATE TABLE cloud AS
SELECT ARRAY[3 + sin(i), 100 + 40 * sin(i) + 9 * cos(i * 0.7), (i % 17) / 1000.0]::float8[] AS x
FROM generate_series(1, 5000) i;
CREATE TABLE whitened AS SELECT race_whiten(x) AS t FROM cloud;

-- what it maps to has mean 0 and, but for a little shrinkage, covariance 1
CREATE FUNCTION apply(t race_transform, x float8[]) RETURNS float8[] LANGUAGE sql IMMUTABLE AS $$
SELECT array_agg((SELECT sum(t.matrix[i][j] * (x[j] - t."offset"[j])) FROM generate_series(1, 3) j) ORDER BY i)
FROM generate_series(1, 3) i $$;
SELECT i, j, abs(avg(g[i])) < 1e-9 AS mean, abs(covar_samp(g[i], g[j]) - (i = j)::int) < 0.002 AS covariance
FROM (SELECT apply(t, x) g FROM cloud, whitened) v, generate_series(1, 3) i, generate_series(1, i) j
GROUP BY i, j ORDER BY i, j;
-- the same from parts, in parallel, in windows, from other types
SELECT count(DISTINCT round(c::numeric, 6)) AS same FROM (
	SELECT (race_whiten(x)).matrix[3][1] c FROM cloud UNION ALL
	SELECT (race_whiten(x::numeric[])).matrix[3][1] FROM cloud UNION ALL
	SELECT (race_whiten(x) FILTER (WHERE x IS NOT NULL)).matrix[3][1] FROM (SELECT x FROM cloud UNION ALL SELECT NULL) v UNION ALL
	(SELECT (race_whiten(x) OVER ()).matrix[3][1] FROM cloud LIMIT 1)) v;
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
SELECT abs((race_whiten(x)).matrix[3][1] / (SELECT (t).matrix[3][1] FROM whitened) - 1) < 1e-9 AS parallel FROM cloud;
RESET ALL;

-- with it the kernel is the kernel of whitened vectors
SELECT bool_and(abs(race_kernel(race_params('l2', 3, 2, transform => t), x, '{3,100,0.01}')
              - race_kernel('l2(bandwidth=2)', apply(t, x), apply(t, '{3,100,0.01}'))) < 1e-12) AS same,
       bool_and(abs(race_kernel(race_params('angular', 3, transform => t), x, '{3,130,0.01}')
              - race_kernel('angular', apply(t, x), apply(t, '{3,130,0.01}'))) < 1e-12) AS angle
FROM cloud, whitened;
SELECT abs(race_kde(race_build(race_params('l2', 3, 2, rows => 4096, transform => t), x), '{3,100,0.01}')
         - avg(race_kernel(race_params('l2', 3, 2, transform => t), x, '{3,100,0.01}'))) < 0.01 AS near
FROM cloud, whitened GROUP BY t;
SELECT p::text::race_params = p AS text, pg_column_size(p) > 100 AS large
FROM whitened, race_params('l2', 3, 2, transform => t) p;

-- nothing, too little, too much
SELECT race_whiten(x) FROM cloud WHERE false;
SELECT race_whiten(NULL::float8[]);
SELECT race_whiten(ARRAY[1, 2]);
SELECT race_whiten(ARRAY[i, i * i]) FROM (VALUES (1), (NULL)) v(i) WHERE i IS NOT NULL;
SELECT race_whiten(ARRAY[0.1, 5]) FROM generate_series(1, 10) i;
SELECT race_whiten(ARRAY[i, NULL]) FROM generate_series(1, 10) i;
SELECT race_whiten(ARRAY[1e300 * i, i]) FROM generate_series(1, 10) i;
SELECT race_whiten(ARRAY[i, CASE i WHEN 5 THEN 1.7e308 WHEN 6 THEN -1.7e308 ELSE i END]) FROM generate_series(1, 10) i;
SELECT race_whiten(CASE i WHEN 5 THEN ARRAY[1] ELSE ARRAY[i, i * i] END) FROM generate_series(1, 10) i;
SELECT race_whiten(CASE i WHEN 5 THEN ARRAY['NaN'::float8, 1] ELSE ARRAY[i, i * i] END) FROM generate_series(1, 10) i;
SELECT race_whiten(array_fill(i, ARRAY[362])) FROM generate_series(1, 10) i;
SELECT race_whiten('x'::text);
SELECT i % 2 AS g, array_length((race_whiten(CASE i % 2 WHEN 0 THEN ARRAY[i] ELSE ARRAY[i, i * i] END)).matrix, 1) AS dims
FROM generate_series(1, 10) i GROUP BY i % 2 ORDER BY 1;
-- groups of other lengths, in turn: each vector has its place
SELECT g, array_length((race_whiten(CASE g WHEN 0 THEN ARRAY[i] ELSE (SELECT array_agg(sin(i * j)) FROM generate_series(1, 20) j) END)).matrix, 1) AS dims
FROM (SELECT i, (i + 1) % 2 AS g FROM generate_series(1, 200) i OFFSET 0) v GROUP BY g ORDER BY 1;
-- columns that are left out: constant, though not to the last bit, or linear combinations
CREATE TABLE wide AS SELECT ARRAY[sin(i), 5, 0.1 + (i % 2) * 1e-17, 1e6 * sin(i) + 7, cos(i * 0.7), sin(i) - cos(i * 0.7), 1e-6 * cos(i * 3)] AS x, i FROM generate_series(1, 1000) i;
SELECT array_dims(m), (SELECT string_agg(j::text, ' ' ORDER BY j) FROM generate_series(1, 7) j WHERE m[1][j] <> 0 OR m[2][j] <> 0 OR m[3][j] <> 0) AS used
FROM (SELECT (race_whiten(x)).matrix AS m FROM wide OFFSET 0) w;
-- the other columns are as they are alone, and params take the transform
SELECT bool_and(abs(w.m[i][(ARRAY[1, 5, 7])[j]] - a.m[i][j]) <= 1e-6 * abs(a.m[i][j])) AS same
FROM (SELECT (race_whiten(x)).matrix AS m FROM wide) w, (SELECT (race_whiten(ARRAY[x[1], x[5], x[7]])).matrix AS m FROM wide) a, generate_series(1, 3) i, generate_series(1, 3) j;
SELECT race_kernel(race_params('l2', 7, transform => t), x, x) AS itself, round(race_kernel(race_params('l2', 7, transform => t), x, y)::numeric, 2) AS other
FROM (SELECT race_whiten(x) AS t FROM wide) w, (SELECT a.x, b.x AS y FROM wide a, wide b WHERE a.i = 1 AND b.i = 2) v;

-- few rows: more columns than vectors are no reason to leave any out
SELECT n, array_length((t).matrix, 1) AS outputs FROM (
	SELECT n, race_whiten(ARRAY(SELECT sin(i * j) FROM generate_series(1, 20) j)) AS t
	FROM unnest(ARRAY[2, 3, 10, 21, 22, 100]) n, generate_series(1, 100) i WHERE i <= n GROUP BY n OFFSET 0) v ORDER BY n;
-- and nothing is blown up: of columns without correlation, the standard deviations of other vectors stay near 1
CREATE FUNCTION deviations(n int) RETURNS SETOF float8 LANGUAGE sql AS $$
	SELECT stddev(g) FROM (
		SELECT o, (SELECT sum(m[o][j] * sin(i * i * j)) FROM generate_series(1, 8) j) AS g
		FROM (SELECT (race_whiten(ARRAY(SELECT sin(i * i * j) FROM generate_series(1, 8) j))).matrix AS m FROM generate_series(1, n) i OFFSET 0) w,
			generate_series(1, 8) o, generate_series(1000, 1400) i OFFSET 0) g GROUP BY o $$;
SELECT n, bool_and(d BETWEEN 1 / most AND most) AS good FROM (VALUES (6, 3), (10, 3), (1000, 1.1)) v(n, most), deviations(n) d GROUP BY n ORDER BY n;
DROP FUNCTION deviations;

-- within labels, of any type
CREATE TABLE labelled AS
SELECT ARRAY[i % 3 * 100 + sin(i), cos(i * 0.7) + i % 3 * 10 + 0.9 * sin(i)]::float8[] AS x, i % 3 AS label, i FROM generate_series(1, 3000) i;
SELECT round((t).matrix[1][1]::numeric, 2) AS m11, (t).matrix[1][2] AS m12, round((t).matrix[2][1]::numeric, 2) AS m21, round((t).matrix[2][2]::numeric, 2) AS m22
FROM (SELECT race_whiten(x, label) AS t FROM labelled) w;
SELECT count(DISTINCT round((t).matrix[2][1]::numeric, 9)) AS same FROM (
	SELECT race_whiten(x, label) AS t FROM labelled UNION ALL
	SELECT race_whiten(x, label::text) FROM labelled UNION ALL
	SELECT race_whiten(x, ROW(label, 'a')) FROM labelled UNION ALL
	SELECT race_whiten(x, label) FROM (SELECT * FROM labelled UNION ALL SELECT '{1e9,1}', NULL, 0 UNION ALL SELECT NULL, 7, 0) l UNION ALL
	SELECT race_whiten(x, label) FROM (SELECT * FROM labelled ORDER BY i DESC) l UNION ALL
	(SELECT race_whiten(x, label) OVER () FROM labelled LIMIT 1)) v;
-- one label is as none
SELECT (race_whiten(x, 'a')).matrix = (race_whiten(x)).matrix AS same FROM labelled;
-- each label by itself has nothing within it
SELECT race_whiten(x, i) FROM labelled WHERE i <= 1000;
SELECT race_whiten(x, i) FROM labelled;
SELECT race_whiten(x, 1) FROM labelled WHERE false;
SELECT race_whiten(ARRAY[label, sin(i)], label) IS NOT NULL AS notice FROM labelled;
SELECT race_whiten(ARRAY[label, 2], label) FROM labelled;
-- in parallel
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
SET parallel_leader_participation = off; SET max_parallel_workers_per_gather = 2;
SELECT bool_and(abs((p.t).matrix[i][j] - (s.t).matrix[i][j]) < 1e-9) AS parallel
FROM (SELECT race_whiten(x, label) AS t FROM labelled) p, (SELECT race_whiten(x, label) OVER () AS t FROM labelled LIMIT 1) s, generate_series(1, 2) i, generate_series(1, 2) j;
RESET ALL;
DROP TABLE wide, labelled;

-- transforms by hand
SELECT race_params('l2', 2, transform => ROW('{{1,2},{3,4},{5,6}}', NULL)::race_transform);
SELECT race_params('angular', 2, transform => ROW(NULL, '{1,-0}')::race_transform);
SELECT race_params('l2', 2, transform => ROW('{{1,2,3}}', NULL)::race_transform);
SELECT race_params('l2', 2, transform => ROW('{1,2}', NULL)::race_transform);
SELECT race_params('l2', 2, transform => ROW('{{1,NaN}}', NULL)::race_transform);
SELECT race_params('l2', 2, transform => ROW('{{1,NULL}}', NULL)::race_transform);
SELECT race_params('l2', 2, transform => ROW(NULL, '{1}')::race_transform);
SELECT race_params('l2', transform => ROW('{{1,2}}', NULL)::race_transform);
SELECT race_params('l1', 2, transform => ROW('{{1,2}}', NULL)::race_transform);
SELECT race_params('l2', 2, bandwidths => '{1,2}', transform => ROW('{{1,2}}', NULL)::race_transform);
DROP TABLE cloud, whitened;
DROP FUNCTION apply;
