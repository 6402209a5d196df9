-- race_discriminant: the directions that tell labels apart

CREATE TABLE plants AS
SELECT (ARRAY['a', 'b', 'c'])[1 + i % 3] AS label,
       ARRAY[10 * sin(i) + (i % 3 = 1)::int, 10 * sin(i) + cos(i * 0.7), sin(i * i) + 3 * (i % 3 = 2)::int, 5]::float8[] AS x, i
FROM generate_series(1, 900) i;
CREATE TABLE learned AS SELECT race_discriminant(label, x) AS t FROM plants;
SELECT array_dims((t).matrix), array_length((t)."offset", 1) AS "offset" FROM learned;
CREATE FUNCTION apply(t race_transform, x float8[], i int) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
SELECT sum(t.matrix[i][j] * (x[j] - t."offset"[j])) FROM generate_series(1, 4) j $$;

-- within labels the directions have variance 1 and are uncorrelated; c is told apart first
SELECT o, p, abs(round(avg(c)::numeric, 1)) AS covariance FROM (
	SELECT o, p, covar_samp(apply(t, x, o), apply(t, x, p)) AS c FROM plants, learned, generate_series(1, 2) o, generate_series(1, o) p
	GROUP BY o, p, label) v GROUP BY o, p ORDER BY o, p;
SELECT label, abs(round(avg(apply(t, x, 1))::numeric, 0)) AS first, abs(round(avg(apply(t, x, 2))::numeric, 1)) AS second
FROM plants, learned GROUP BY label ORDER BY label;
-- two labels have one direction; with it their sketches tell them apart, which one bandwidth for all columns cannot
CREATE TABLE two AS SELECT race_discriminant(label, x[1:3]) AS t FROM plants WHERE label < 'c';
SELECT array_dims((t).matrix) AS dims, abs(round((t).matrix[1][1]::numeric, 1)) AS first, round(((t).matrix[1][2] / (t).matrix[1][1])::numeric, 1) AS second, abs(round((t).matrix[1][3]::numeric, 1)) AS third FROM two;
CREATE FUNCTION accuracy(p race_params) RETURNS numeric LANGUAGE sql AS $$
	WITH s AS (SELECT label, race_build(p, x[1:3]) AS s FROM plants WHERE i % 4 <> 0 AND label < 'c' GROUP BY label)
	SELECT avg((label = (SELECT race_classify(s.label, s.s, x[1:3]) FROM s))::int) FROM plants WHERE i % 4 = 0 AND label < 'c' $$;
SELECT accuracy(race_params('l2', 3, 0.5, rows => 256, transform => t)) > 0.7 AS discriminant, accuracy('l2(dims=3, bandwidth=5, rows=256)') > 0.7 AS plain FROM two;
-- no more directions than columns, nor than the means span
SELECT array_dims((race_discriminant(i % 7, ARRAY[i % 7 + sin(i), cos(i * i) + i % 2])).matrix) AS columns,
       array_dims((race_discriminant(i % 3, ARRAY[sin(i / 3) + i % 3, cos(i / 3) + 2 * (i % 3)])).matrix) AS "on a line" FROM generate_series(0, 2099) i;

-- the same in parallel, in windows, in other orders, of other types; NULLs are left out
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
SET parallel_leader_participation = off;
SELECT count(DISTINCT round((t).matrix[1][3]::numeric, 6)) AS same FROM (
	SELECT t FROM learned UNION ALL
	SELECT race_discriminant(label, x) FROM plants UNION ALL
	SELECT race_discriminant(label::varchar, x) FROM (SELECT label, x::numeric[] FROM plants ORDER BY i % 7) p UNION ALL
	SELECT race_discriminant(i % 3, x) FROM plants UNION ALL
	SELECT race_discriminant(label, x) FROM (SELECT label, x FROM plants UNION ALL SELECT NULL, '{1,2,3,4}' UNION ALL SELECT 'd', NULL) p UNION ALL
	(SELECT race_discriminant(label, x) OVER () FROM plants LIMIT 1)) v;
RESET ALL;

-- fewer rows than columns
SELECT array_dims((race_discriminant(i % 2, ARRAY(SELECT sin(i * j) + i % 2 FROM generate_series(1, 30) j))).matrix) FROM generate_series(1, 8) i;
-- nothing, too little, too much
SELECT race_discriminant(1, x) FROM plants WHERE false;
SELECT race_discriminant(NULL::int, x) FROM plants;
SELECT race_discriminant('a', x) FROM plants;
SELECT race_discriminant(i, x) FROM plants WHERE i <= 3;
SELECT race_discriminant(i, ARRAY[i]) FROM generate_series(1, 1001) i;
SELECT race_discriminant(i % 2, ARRAY[i / 2, i / 2 * (i / 2)]) FROM generate_series(0, 99) i;
SELECT race_discriminant(i % 2, ARRAY[sin(i / 2), 1e9 + cos(i / 2)]) FROM (SELECT i FROM generate_series(0, 99) i ORDER BY i % 2 * i, i) v;
SELECT race_discriminant(i % 2, ARRAY[i % 2, 7]) FROM generate_series(1, 10) i;
SELECT race_discriminant(i % 2, ARRAY[i, NULL]) FROM generate_series(1, 10) i;
SELECT race_discriminant(i % 2, ARRAY['NaN', i::float8]) FROM generate_series(1, 10) i;
SELECT race_discriminant(i % 2, ARRAY['Infinity', i::float8]) FROM generate_series(1, 10) i;
SELECT race_discriminant(i % 2, ARRAY[1e200 * i, i]) FROM generate_series(1, 10) i;
SELECT race_discriminant(i % 2, array_fill(i, ARRAY[362])) FROM generate_series(1, 10) i;
SELECT race_discriminant(i % 2, CASE i WHEN 5 THEN ARRAY[1] ELSE ARRAY[i, i * i] END) FROM generate_series(1, 10) i;
SELECT race_discriminant(x, label) FROM plants;
DROP TABLE plants, learned, two;
DROP FUNCTION apply, accuracy;
