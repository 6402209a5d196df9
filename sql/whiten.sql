-- race_whiten: a transform from public data

CREATE TABLE cloud AS
SELECT ARRAY[3 + sin(i), 100 + 40 * sin(i) + 9 * cos(i * 0.7), (i % 17) / 1000.0]::float8[] AS x
FROM generate_series(1, 5000) i;
CREATE TABLE whitened AS SELECT race_whiten(x) AS t FROM cloud;

-- what it maps to has mean 0 and covariance 1
CREATE FUNCTION apply(t race_transform, x float8[]) RETURNS float8[] LANGUAGE sql IMMUTABLE AS $$
SELECT array_agg((SELECT sum(t.matrix[i][j] * (x[j] - t."offset"[j])) FROM generate_series(1, 3) j) ORDER BY i)
FROM generate_series(1, 3) i $$;
SELECT i, j, abs(avg(g[i])) < 1e-9 AS mean, abs(covar_samp(g[i], g[j]) - (i = j)::int) < 1e-9 AS covariance
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
SELECT race_whiten(ARRAY[i, 2 * i]) FROM generate_series(1, 10) i;
SELECT race_whiten(ARRAY[i, 5]) FROM generate_series(1, 10) i;
SELECT race_whiten(CASE i WHEN 5 THEN ARRAY[1] ELSE ARRAY[i, i * i] END) FROM generate_series(1, 10) i;
SELECT race_whiten(CASE i WHEN 5 THEN ARRAY['NaN'::float8, 1] ELSE ARRAY[i, i * i] END) FROM generate_series(1, 10) i;
SELECT race_whiten(array_fill(i, ARRAY[362])) FROM generate_series(1, 10) i;
SELECT race_whiten('x'::text);
SELECT i % 2 AS g, array_length((race_whiten(CASE i % 2 WHEN 0 THEN ARRAY[i] ELSE ARRAY[i, i * i] END)).matrix, 1) AS dims
FROM generate_series(1, 10) i GROUP BY i % 2 ORDER BY 1;
-- groups of other lengths, in turn: each vector has its place
SELECT g, array_length((race_whiten(CASE g WHEN 0 THEN ARRAY[i] ELSE (SELECT array_agg(sin(i * j)) FROM generate_series(1, 20) j) END)).matrix, 1) AS dims
FROM (SELECT i, (i + 1) % 2 AS g FROM generate_series(1, 200) i OFFSET 0) v GROUP BY g ORDER BY 1;
-- aggregates of others' with its functions and states
CREATE AGGREGATE whiten_from_5("any") (SFUNC = _race_whiten_step, STYPE = float8[], INITCOND = '{1,2,3,4,5}');
CREATE AGGREGATE whiten_from_none("any") (SFUNC = _race_whiten_step, STYPE = float8[], INITCOND = '{}');
CREATE AGGREGATE whiten_from_null("any") (SFUNC = _race_whiten_step, STYPE = float8[], INITCOND = '{1,2,NULL}');
CREATE AGGREGATE whiten_of_any(float8[]) (SFUNC = _race_whiten_combine, STYPE = float8[], FINALFUNC = _race_whiten_final);
SELECT whiten_from_5(ARRAY[1, 2]);
SELECT whiten_from_none(ARRAY[1, 2]);
SELECT whiten_from_null(ARRAY[1]);
SELECT whiten_of_any(x) FROM (VALUES (array_fill(1::float8, ARRAY[100000])), ('{{1}}')) v(x);
SELECT whiten_of_any(x) FROM (VALUES ('{3,1,2}'::float8[]), ('{3,1,1,1,1,1}')) v(x);
-- small states from tuples, as workers send them, all count
CREATE TABLE states AS SELECT i, ARRAY[1, i, i * i, 0, 0, 0]::float8[] AS state FROM generate_series(1, 5) i;
SELECT abs((t)."offset"[2] - 11) < 1e-9 AS all FROM (SELECT whiten_of_any(state) AS t FROM states) v;
DROP TABLE states;
DROP AGGREGATE whiten_from_5("any"), whiten_from_none("any"), whiten_from_null("any"), whiten_of_any(float8[]);

-- transforms by hand
SELECT race_params('l2', 2, transform => race_transform('{{1,2},{3,4},{5,6}}'));
SELECT race_params('angular', 2, transform => race_transform(NULL, '{1,-0}'));
SELECT race_params('l2', 2, transform => race_transform('{{1,2,3}}'));
SELECT race_params('l2', 2, transform => race_transform('{1,2}'));
SELECT race_params('l2', 2, transform => race_transform('{{1,NaN}}'));
SELECT race_params('l2', 2, transform => race_transform('{{1,NULL}}'));
SELECT race_params('l2', 2, transform => race_transform(NULL, '{1}'));
SELECT race_params('l2', transform => race_transform('{{1,2}}'));
SELECT race_params('l1', 2, transform => race_transform('{{1,2}}'));
SELECT race_params('l2', 2, bandwidths => '{1,2}', transform => race_transform('{{1,2}}'));
DROP TABLE cloud, whitened;
DROP FUNCTION apply;
