-- race_build and race_merge in every kind of query
SET max_parallel_workers_per_gather = 0;

\set p '''l2(dims=2, bandwidth=3, rows=16, range=32)'''
CREATE TABLE t AS
SELECT i AS id, i % 10 AS g, CASE WHEN i % 13 > 0 THEN ARRAY[i % 17, i % 23]::float8[] END AS x
FROM generate_series(1, 2000) i;
ANALYZE t;
CREATE FUNCTION expected(cond text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	s race_sketch := race_sketch('l2(dims=2, bandwidth=3, rows=16, range=32)'::race_params);
	v float8[];
BEGIN
	FOR v IN EXECUTE 'SELECT x FROM t WHERE x IS NOT NULL AND ' || cond LOOP
		s := race_add(s, v);
	END LOOP;
	RETURN s::text;
END $$;

-- plain, grouped by sorting and by hashing, filtered, distinct
SELECT race_build(:p, x)::text = expected('true') AS plain FROM t;
SET enable_hashagg = off;
SELECT bool_and(s::text = expected('g = ' || g)) AS sorted FROM (SELECT g, race_build(:p, x) s FROM t GROUP BY g) v;
SET enable_hashagg = on;
SET enable_sort = off;
SELECT bool_and(s::text = expected('g = ' || g)) AS hashed FROM (SELECT g, race_build(:p, x) s FROM t GROUP BY g) v;
-- with so little memory that most groups wait on disk
SET work_mem = '64kB';
SELECT count(*) AS groups, sum(race_count(s)) AS records, bool_and(race_kernel_sum(s, ARRAY[g % 17, 0]) = 5) AS spilled
FROM (SELECT i % 4000 AS g, race_build(:p, ARRAY[i % 4000 % 17, 0]) s FROM generate_series(1, 20000) i GROUP BY 1) v;
RESET work_mem;
RESET enable_sort;
SELECT bool_and(s::text = expected(CASE WHEN g IS NULL THEN 'true' ELSE 'g = ' || g END)) AS grouping_sets, count(*)
FROM (SELECT g, race_build(:p, x) s FROM t GROUP BY ROLLUP (g)) v;
SELECT race_build(:p, x) FILTER (WHERE g = 3)::text = expected('g = 3') AS filter FROM t;
SELECT race_count(race_build(DISTINCT :p::race_params, x)) = count(DISTINCT x) AS "distinct" FROM t;
-- several in one query share nothing but their parameters
SELECT race_build(:p, x)::text = expected('true') AS a,
	race_build(:p, x) FILTER (WHERE g < 5)::text = expected('g < 5') AS b
FROM t;

-- sorted by another column before it is stored: of each kind of record, and as arguments of others
SELECT format('SELECT bool_and(sorted.s::text = grouped.s::text) AS %I
FROM (SELECT g, %2$s AS s FROM t GROUP BY g ORDER BY count(*)) sorted
JOIN (SELECT g, %2$s AS s FROM t GROUP BY g) grouped USING (g)', name, aggregate)
FROM (VALUES
	('sorted_l2', $$race_build('l2(dims=2, bandwidth=5)', x)$$),
	('sorted_grid', $$race_build('l2(dims=2, sequence=grid, lower={0,0}, upper={20,20})', x)$$),
	('sorted_jaccard', $$race_build('jaccard(rows=64)', x::int[])$$),
	('sorted_product',
		$$race_build('l2(dims=1, rows=64) * match(dims=2)', ROW(ARRAY[g], coalesce(x, '{0,0}')::int[]))$$),
	('sorted_records', $$race_build_records('l2(dims=2)', race_record('l2(dims=2)', x))$$),
	('sorted_moments', $$race_build(race_moment_params('{0,0}', '{20,20}'), x)$$)) v (name, aggregate)
\set ECHO none \gexec
\set ECHO all
-- and of those that draw random numbers
SELECT count(race_count(s)) AS sorted_private
FROM (SELECT race_privatize(race_build(:p, x), 1) AS s FROM t GROUP BY g ORDER BY count(*)) v;

-- no rows: NULL; only NULLs: an empty sketch
SELECT race_build(:p, x) IS NULL AS no_rows FROM t WHERE false;
SELECT race_build(:p, x)::text = race_sketch(:p::race_params)::text AS only_nulls FROM t WHERE x IS NULL;
SELECT race_build(:p, NULL::int[])::text = race_sketch(:p::race_params)::text AS one_null;
SELECT race_build(NULL, x) FROM t;
SELECT race_build(CASE WHEN id > 1000 THEN race_params('l2', 2) ELSE race_params('l2', 2, 2) END, x) FROM t;
SELECT race_build(:p, 'x'::text);
SELECT race_build(:p, ARRAY['x']);
SELECT race_build('l2', x) FROM t;

-- merging parts is building the whole
CREATE TABLE parts AS SELECT g, race_build(:p, x) AS s FROM t GROUP BY g;
SELECT race_merge(s)::text = expected('true') AS merged FROM parts;
SELECT race_merge(s)::text = expected('g >= 5') AS merged
FROM (SELECT s FROM parts WHERE g >= 5 UNION ALL SELECT NULL) v;
SELECT race_merge(s)::text = expected('g = 5') AS one_part FROM parts WHERE g = 5;
SELECT race_merge(s) IS NULL AS none FROM parts WHERE false;
SELECT race_merge(NULL::race_sketch) IS NULL AS only_nulls FROM parts;
SET enable_sort = off;
SELECT bool_and(s::text = expected('g % 3 = ' || m)) AS hashed
FROM (SELECT g % 3 AS m, race_merge(s) s FROM parts GROUP BY 1) v;
RESET enable_sort;
SELECT race_merge(s) FROM (SELECT s FROM parts UNION ALL SELECT race_sketch('l2(dims=2)'::race_params)) v;

-- moving windows: frames that grow, move, begin with NULLs, and run empty
CREATE FUNCTION window_is(first int, last int, s race_sketch) RETURNS bool LANGUAGE sql AS $$
	SELECT CASE WHEN last < first THEN s IS NULL
		ELSE s::text = expected(format('id BETWEEN %s AND %s', first, last)) END
$$;
SELECT bool_and(window_is(greatest(id - 20, 1), id, s)) AS moving
FROM (SELECT id, race_build(:p, x) OVER (ORDER BY id ROWS 20 PRECEDING) s FROM t WHERE id <= 200) v;
SELECT bool_and(window_is(1, id, s)) AS growing
FROM (SELECT id, race_build(:p, x) OVER (ORDER BY id) s FROM t WHERE id <= 100) v;
SELECT bool_and(window_is(id + 1, least(id + 5, 100), s)) AS ahead
FROM (
	SELECT id, race_build(:p, x) OVER (ORDER BY id ROWS BETWEEN 1 FOLLOWING AND 5 FOLLOWING) s FROM t WHERE id <= 100
) v;
SELECT id, race_count(race_build(:p, y) OVER w), race_count(race_build(:p, y) FILTER (WHERE id <> 6) OVER w) AS filtered
FROM (SELECT id, CASE WHEN id BETWEEN 4 AND 7 THEN ARRAY[id, 1] END y FROM t WHERE id <= 10) v
WINDOW w AS (ORDER BY id ROWS 1 PRECEDING) ORDER BY id;
SELECT g, race_count(race_merge(s) OVER w) FROM (SELECT g, CASE WHEN g BETWEEN 3 AND 5 THEN s END s FROM parts) v
WINDOW w AS (ORDER BY g ROWS 1 PRECEDING) ORDER BY g;
SELECT bool_and(s::text = expected(format('g BETWEEN %s AND %s', g - 2, g))) AS moving_merge
FROM (SELECT g, race_merge(s) OVER (ORDER BY g ROWS 2 PRECEDING) s FROM parts) v;

-- in parallel, where a plan has two workers: partial states are flat sketches,
-- some of them NULL
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SELECT race_build(:p, x)::text = expected('true') AS parallel FROM t;
SELECT bool_and(s::text = expected('g = ' || g)) AS parallel_groups
FROM (SELECT g, race_build(:p, x) s FROM t GROUP BY g) v;
SELECT race_count(race_build(:p, x)) AS few_rows FROM t WHERE id = 77;
SELECT race_merge(s)::text = expected('true') AS parallel_merge FROM parts;
-- force_parallel_mode, called debug_parallel_query from 16 on
SELECT name AS force_parallel FROM pg_settings
WHERE name IN ('force_parallel_mode', 'debug_parallel_query') \gset
SET :force_parallel = on;
SELECT race_kde(race_build(:p, x), '{1,2}') = (SELECT race_kde(race_merge(s), '{1,2}') FROM parts) AS worker FROM t;
RESET :force_parallel;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET max_parallel_workers_per_gather;

-- a cursor and a materialized view hold what was built
BEGIN;
DECLARE c CURSOR FOR SELECT g, race_build(:p, x) AS s FROM t GROUP BY g ORDER BY g;
MOVE 5 IN c;
COMMIT;
CREATE MATERIALIZED VIEW m AS SELECT race_build(:p, x) AS s FROM t;
SELECT s::text = expected('true') AS stored FROM m;
ANALYZE m;
SELECT attname, n_distinct, most_common_vals FROM pg_stats WHERE tablename = 'm';

DROP MATERIALIZED VIEW m;
DROP FUNCTION window_is;
DROP FUNCTION expected;
DROP TABLE t, parts;
